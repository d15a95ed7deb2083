"""A readable table of the groups of a fitted model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._data._frames import frame_of
from .._data._names import shown
from ..theory._arrays import FloatArray
from ._display import Table, count, decimals, digits, square_kilometres

if TYPE_CHECKING:  # a model of a table loads nothing of fields
    from .._data._places import Places

_TITLES = ("reduced feature", "size", "mean r", "min r", "r with target", "weight")

LARGEST_WEIGHT = 3.0
"""Weight, in standard deviations of the target per standard deviation of the mean, beyond which it
says nothing by itself. A prediction varies no more than the target, so that other weights must
cancel such a one: with opposite weights for two means, these are correlated by more than 0.94.
"""

RELATED = 0.3
"""Correlation from which two features are said to be related: they share a tenth of their variance.
A group is flagged if its members are less correlated than this on average, or if two of them are
opposite: beyond −0.3, so that they cancel in the mean. A wide group with a few unrelated pairs, as
of places far apart, is not.
"""

WIDE = 20.0
"""Degrees of latitude from which cells differ in area so much that a reader is told: by 6 % at the
equator, and by a third around 45°."""

_UNCORRELATED = 1e-6  # with the target, of a mean: what follows from it has few digits

HARDLY_RELATED, OPPOSITE = "hardly related", "opposite"


def scale_of_means(
    labels: npt.NDArray[np.intp],
    scales: FloatArray,
    weights: FloatArray,
    mean_correlation: FloatArray,
    target_correlation: FloatArray,
    correlation_of_means: FloatArray,
) -> FloatArray:
    """Standard deviation of the weighted mean of each group.

    ``scales`` are the standard deviations of the features, negative where a feature is flipped.
    Correlations are the mean within each group, and those of features and means with each target.
    """
    grouped = labels >= 0
    labels, weights = labels[grouped], weights[grouped]
    factors = weights * scales[grouped]
    total = np.bincount(labels, weights)
    # A mean varies by its covariance with a target over its correlation with it. Of several targets
    # the one that it is most correlated with loses the fewest digits.
    covariance = np.array([np.bincount(labels, factors * r[grouped]) for r in target_correlation])
    most = np.abs(correlation_of_means).argmax(axis=0), np.arange(total.size)
    r = correlation_of_means[most]
    known = np.abs(r) > _UNCORRELATED
    # Without such a correlation, as if the correlations within a group were all the same.
    rho = np.nan_to_num(mean_correlation)  # of a single feature it is NaN
    sizes = np.abs(factors)
    sums, squares = np.bincount(labels, sizes), np.bincount(labels, sizes**2)
    alike = np.sqrt(np.maximum(rho * sums**2 + (1 - rho) * squares, 0))
    return np.asarray(np.where(known, covariance[most] / np.where(known, r, 1.0), alike) / total)


def opposite_signs(r: FloatArray, weight: FloatArray, n_samples: float) -> npt.NDArray[np.bool_]:
    """Return which weights, in standard deviations, have not the sign of r with the target."""
    # Where both are within two standard errors of 0, signs say nothing, nor do those of weights
    # that cancel.
    clear = np.maximum(np.abs(r), np.abs(weight)) > 2 / np.sqrt(n_samples)
    return np.asarray((r * weight < 0) & clear & (np.abs(weight) <= LARGEST_WEIGHT))


@dataclass(frozen=True)
class Summary:
    """What a model reduced, to which groups.

    Attributes
    ----------
    n_samples : float
        Samples of the fit; with weights, their sum.
    n_features, n_constant, n_groups : int
        Features of the fit; constant ones, which belong to no group; groups.
    n_components : int
        Parts of the features that connectivity and blocks keep apart; 1 without these.
    names : tuple of str
        Name of each reduced feature.
    members : tuple of tuple of str
        Names of the features of each group.
    sizes : array of shape (n_groups,)
        Number of features of each group.
    mean_correlation, min_correlation : array of shape (n_groups,)
        Mean and smallest correlation of two features of the group; NaN for a single feature.
    min_is_exact : array of shape (n_groups,)
        Whether the smallest is that of all pairs, or only an upper bound, printed as "≤ 0.5".
    target_correlation : array of shape (n_groups,) or (n_groups, n_targets)
        Correlation of the group's mean with the target, or with each of several.
    weight : array of shape (n_groups,) or (n_groups, n_targets), or None
        Change of the prediction per standard deviation of the group's mean, in standard deviations
        of the target. Beyond 3, weights of opposite sign nearly cancel, and none of them can be
        interpreted by itself; the table marks these with "!", and with "±" those of a clear sign
        opposite to that of the correlation with the target. None without a linear ``estimator_``.
    signed, connected, searched : bool
        Whether members could be flipped; whether ``connectivity`` or ``blocks`` restricted the
        merges; whether a :class:`LinCFACV` chose them.
    required_correlation : float or None
        The ``min_correlation`` of the model.
    requested : bool
        Whether the number of groups was given.
    targets : tuple of str
        Names of the targets. Of several, the table shows for each group the largest correlation and
        the largest weight, with the target they belong to.
    classes : bool
        Whether the targets are classes. Then weights are changes of the log odds, and large ones
        are not marked.
    choice : tuple of str
        What a search chose and by which score, as far as that is known of a loaded model; and how
        few groups another rule would leave, where these are more than half of the samples.
    places : Places or None
        Where the groups of a field are, if its cells have latitudes and longitudes: arrays
        ``centre_lat``, ``centre_lon``, ``south``, ``north``, ``west``, ``east`` and ``area_km2``.
    weighted : bool
        Whether means are weighted by ``feature_weights``.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=8, random_state=0)
    >>> summary = LinCFA().fit(X, y).summary()
    >>> summary.n_groups, summary.sizes.tolist()
    (3, [5, 2, 1])
    >>> summary.members[0]
    ('x0', 'x1', 'x2', 'x3', 'x7')
    """

    n_samples: float
    n_features: int
    n_constant: int
    n_groups: int
    n_components: int
    names: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    sizes: npt.NDArray[np.intp]
    mean_correlation: FloatArray
    min_correlation: FloatArray
    min_is_exact: npt.NDArray[np.bool_]
    target_correlation: FloatArray
    weight: FloatArray | None = None
    signed: bool = False
    connected: bool = False
    searched: bool = False
    required_correlation: float | None = None
    requested: bool = False
    targets: tuple[str, ...] = ("y",)
    classes: bool = False
    choice: tuple[str, ...] = ()
    places: "Places | None" = None
    weighted: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """Of each group ``"opposite"``, ``"hardly related"``, or nothing where members go together.

        Two members of the former have a correlation below −0.3; those of the latter have one below
        0.3 on average. For a signed model, these are correlations after the flips.
        """
        opposite, unrelated = self.min_correlation < -RELATED, self.mean_correlation < RELATED
        words = np.where(opposite, OPPOSITE, np.where(unrelated, HARDLY_RELATED, ""))
        return tuple(words.tolist())

    def flag_words(self, options: bool = False) -> tuple[str, ...]:
        """How many groups are flagged, which is worst, and what would avoid it, in sentences.

        Parameters
        ----------
        options : bool, default=False
            Whether to name options of the command line instead of parameters.
        """
        flags = self.flags
        flagged = [number for number, flag in enumerate(flags) if flag]
        if not flagged:
            return ()
        what, figures = "mean r", self.mean_correlation
        if OPPOSITE in flags:
            what, figures = "min r", self.min_correlation
        worst = min(flagged, key=lambda number: float(figures[number]))
        bound = "" if what == "mean r" or self.min_is_exact[worst] else "≤ "
        merged = int((self.sizes > 1).sum())
        which = f"{len(flagged)} of the {merged} groups" if merged > 1 else "the only group"
        return (
            f"In {which} of several features, the members hardly belong together: mean r below "
            f"{RELATED:g}, or min r below −{RELATED:g}.",
            f"The worst is {shown(self.names[worst])}, with {what} {bound}"
            f"{decimals(float(figures[worst]))}. The rule alone merges whatever has the same "
            "effect on the target.",
            self._advice(OPPOSITE in flags and not self.signed, options),
        )

    def _advice(self, flip: bool, options: bool) -> str:
        if self.requested:  # fewer groups than min_correlation allows would be an error
            return f"To avoid it, ask for more groups ({'--n-groups' if options else 'n_groups'})."
        name = "min_correlations" if self.searched else "min_correlation"
        least = f"{name}=[{RELATED:g}]" if self.searched else f"{name}={RELATED:g}"
        if options:
            name, least = "--min-correlation", f"--min-correlation {RELATED:g}"
        if self.required_correlation is not None:
            least = f"{name} above {self.required_correlation:g}"
        remedy = f"{least} keeps such members apart"
        if flip:  # alone, signs merge more of them
            signs = "--signed" if options else "signed=True"
            remedy += f", and with {signs} opposite ones merge, flipped"
        if not self.connected:
            remedy += f"; {'--' * options}connectivity merges only neighbours"
        return f"To avoid it: {remedy}. There will be more groups, often many."

    def area_words(self, options: bool = False) -> str:
        """Say that means are not area means, where cells differ in area; else nothing.

        Parameters
        ----------
        options : bool, default=False
            Whether to name options of the command line instead of parameters.
        """
        plain = not self.weighted and bool((self.sizes > 1).any())
        if self.places is None or not plain or self.places.latitude_range <= WIDE:
            return ""
        remedy = "--area-weights" if options else 'feature_weights="area"'
        return (
            f"Means are of cells, not of areas, over {self.places.latitude_range:.0f}° of "
            f"latitude: {remedy} weights cells by area."
        )

    @property
    def n_cancelling(self) -> int:
        """How many weights are too large to be interpreted."""
        if self.weight is None or self.classes:
            return 0
        return int((np.abs(self.weight) > LARGEST_WEIGHT).sum())

    @property
    def opposes(self) -> npt.NDArray[np.bool_]:
        """Which weights have a sign opposite to that of the correlation with the target."""
        if self.weight is None:
            return np.zeros_like(self.target_correlation, dtype=np.bool_)
        return opposite_signs(self.target_correlation, self.weight, self.n_samples)

    def _largest(self, values: FloatArray, group: int) -> tuple[Any, str]:
        """Index of a group's number for the target, or of the largest of several and its name."""
        if values.ndim == 1:
            return group, ""
        target = int(np.abs(values[group]).argmax())
        return (group, target), f" ({shown(self.targets[target], 20)})"

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return the groups as a data frame, one row each.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        columns = {
            "name": list(self.names),
            "size": self.sizes,
            "mean_correlation": self.mean_correlation,
            "min_correlation": self.min_correlation,
            "min_is_exact": self.min_is_exact,
            **self._by_target("target_correlation", self.target_correlation),
            **({} if self.weight is None else self._by_target("weight", self.weight)),
            **({} if self.places is None else self.places.columns()),
            "flag": list(self.flags),
            "members": [list(members) for members in self.members],
        }
        return frame_of(columns, library)

    def _by_target(self, name: str, values: FloatArray) -> dict[str, FloatArray]:
        if values.ndim == 1:
            return {name: values}
        return {f"{name}[{t}]": each for t, each in zip(self.targets, values.T, strict=True)}

    @property
    def headline(self) -> str:
        """The reduction in one line."""
        constant = f", {self.n_constant} constant left out" if self.n_constant else ""
        apart = f", in {self.n_components} parts that stay apart" if self.n_components > 1 else ""
        reduced = f"{count(self.n_features, 'feature')} → {count(self.n_groups, 'group')}"
        return f"{reduced}{apart}{constant}"

    def table(self, limit: int = 20, *, options: bool = False) -> Table:
        """Return the largest groups as a table, with notes; ``options`` as in flag_words."""
        order = np.argsort(-self.sizes, kind="stable")[:limit]
        bound, opposes = np.where(self.min_is_exact, "", "≤ "), self.opposes
        of_places: dict[str, Sequence[str]] = {}
        if self.places is not None:
            areas = [square_kilometres(area) for area in self.places.area_km2.tolist()]
            of_places = {"centre": self.places.centres} | ({"km²": areas} if any(areas) else {})
        rows = []
        for number in order.tolist():
            index, target = self._largest(self.target_correlation, number)
            row = [
                shown(self.names[number]),
                *(column[number] for column in of_places.values()),
                str(self.sizes[number]),
                _decimals(self.mean_correlation[number], RELATED),
                bound[number] + _decimals(self.min_correlation[number], -RELATED),
                _decimals(self.target_correlation[index]) + target,
            ]
            if self.weight is not None:
                index, target = self._largest(self.weight, number)
                weight = float(self.weight[index])
                large = abs(weight) > LARGEST_WEIGHT and not self.classes
                mark = " !" if large else " ±" if opposes[index] else ""
                row.append(f"{digits(weight)}{mark}{target}")
            rows.append(row)
        more = self.n_groups - limit
        notes = []
        if more > 0:
            notes.append(f"… and {count(more, 'more group')}, none of them larger")
        notes += filter(None, [self.area_words(options)])
        notes += [f"{'' if k else '? '}{words}" for k, words in enumerate(self.flag_words(options))]
        if self.n_cancelling:
            part = f"{self.n_cancelling} of {opposes.size}"
            notes.append(
                f"! weights of opposite sign that nearly cancel ({part}): do not interpret them"
            )
        if opposes.any():
            part = f"{opposes.sum()} of {opposes.size}"
            notes.append(
                f"± weights whose sign is opposite to that of r with target ({part}): effects "
                "given all other groups"
            )
        several = len(self.targets) > 1
        noun = "class" if self.classes else "target"
        titles: tuple[str, ...] = _TITLES
        if several:
            titles = (*_TITLES[:4], f"largest r with a {noun}", "largest weight")
            every = "classes" if self.classes else "targets"
            if not options:
                notes.append(f"summary().frame() has the figures of all {every}")
        if self.weight is not None:
            unit = "log odds" if self.classes else f"standard deviations of the {noun}"
            notes.append(f"weight: change in {unit} per standard deviation of the mean")
        if not options:  # which the command line says itself
            notes += self.choice
        titles = titles[: None if self.weight is not None else -1]
        titles = (titles[0], *of_places, *titles[1:])
        return Table(self.headline, titles, rows, "\n".join(notes))

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def _decimals(value: float, least: float = -np.inf) -> str:
    if np.isnan(value):
        return ""
    written = f"{round(value, 3) + 0.0:.3f}".replace("-", "−")  # no sign for −0.0
    return f"{written}{' ?' if value < least else ''}"
