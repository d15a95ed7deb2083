"""A readable table of the groups of a fitted model."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .._data._frames import frame_of
from .._data._names import shown
from ..theory._arrays import FloatArray
from ._display import Table, decimals

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

HARDLY_RELATED, OPPOSITE = "hardly related", "opposite"


def scale_of_means(
    labels: npt.NDArray[np.intp],
    mean_correlation: FloatArray,
    factors: FloatArray,
    weights: FloatArray,
) -> FloatArray:
    """Standard deviation of each group's weighted mean, of members with standard deviations.

    Exact where weights times these ``factors`` are equal, or all correlations.
    """
    rho = np.nan_to_num(mean_correlation)  # of a single feature it is NaN
    grouped = labels >= 0
    labels, weights = labels[grouped], weights[grouped]
    factors = weights * factors[grouped]
    sums, squares = np.bincount(labels, factors), np.bincount(labels, factors**2)
    variance = np.maximum(rho * sums**2 + (1 - rho) * squares, 0)
    return np.asarray(np.sqrt(variance) / np.bincount(labels, weights))


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
    target_correlation : array of shape (n_groups,)
        Correlation of the group's mean with the target.
    weight : array of shape (n_groups,) or None
        Change of the prediction per standard deviation of the group's mean, in standard deviations
        of the target. Beyond 3, weights of opposite sign nearly cancel, and none of them can be
        interpreted by itself; the table marks these with "!". None without a linear ``estimator_``.
    signed, connected, searched : bool
        Whether members could be flipped; whether ``connectivity`` or ``blocks`` restricted the
        merges; whether a :class:`LinCFACV` chose them.
    required_correlation : float or None
        The ``min_correlation`` of the model.
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

    @property
    def flags(self) -> tuple[str, ...]:
        """Of each group ``"opposite"``, ``"hardly related"``, or nothing where members go together.

        Two members of the former have a correlation below −0.3; those of the latter have one below
        0.3 on average. For a signed model, these are correlations after the flips.
        """
        opposite, unrelated = self.min_correlation < -RELATED, self.mean_correlation < RELATED
        words = np.where(opposite, OPPOSITE, np.where(unrelated, HARDLY_RELATED, ""))
        return tuple(words.tolist())

    @property
    def flag_words(self) -> tuple[str, ...]:
        """How many groups are flagged, which is worst, and what would avoid it, in sentences."""
        flags = self.flags
        flagged = [number for number, flag in enumerate(flags) if flag]
        if not flagged:
            return ()
        worst = min(flagged, key=lambda number: float(self.min_correlation[number]))
        merged = int((self.sizes > 1).sum())
        name = "min_correlations" if self.searched else "min_correlation"
        least = f"of {RELATED:g}"
        if self.required_correlation is not None:
            least = f"above {self.required_correlation:g}"
        remedies = [f"{name} {least} keeps such members apart"]
        if OPPOSITE in flags and not self.signed:  # alone, signed=True merges more of them
            remedies[0] += ", and with signed=True opposite ones merge, flipped"
        if not self.connected:
            remedies.append("connectivity merges only neighbours")
        bound = "" if self.min_is_exact[worst] else "≤ "
        lowest = decimals(float(self.min_correlation[worst]))
        return (
            f"Members of {len(flagged)} of {merged} group{'s' * (merged > 1)} hardly belong "
            f"together: mean r below {RELATED:g}, or min r below −{RELATED:g}.",
            f"The lowest is {bound}{lowest}, in {shown(self.names[worst])}. The rule alone merges "
            "whatever has the same effect on the target.",
            f"To avoid it: {'; '.join(remedies)}.",
        )

    @property
    def n_cancelling(self) -> int:
        """How many weights are too large to be interpreted."""
        return 0 if self.weight is None else int((np.abs(self.weight) > LARGEST_WEIGHT).sum())

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
            "target_correlation": self.target_correlation,
            **({} if self.weight is None else {"weight": self.weight}),
            "flag": list(self.flags),
            "members": [list(members) for members in self.members],
        }
        return frame_of(columns, library)

    @property
    def headline(self) -> str:
        """The reduction in one line."""
        constant = f", {self.n_constant} constant left out" if self.n_constant else ""
        features = "feature" if self.n_features == 1 else "features"
        groups = "group" if self.n_groups == 1 else "groups"
        apart = f", in {self.n_components} parts that stay apart" if self.n_components > 1 else ""
        return f"{self.n_features} {features} → {self.n_groups} {groups}{apart}{constant}"

    def table(self, limit: int = 20) -> Table:
        """Return the largest groups as a table, with a note on the others."""
        order = np.argsort(-self.sizes, kind="stable")[:limit]
        bound = np.where(self.min_is_exact, "", "≤ ")
        rows = [
            [
                shown(self.names[number]),
                str(self.sizes[number]),
                _decimals(self.mean_correlation[number], RELATED),
                bound[number] + _decimals(self.min_correlation[number], -RELATED),
                _decimals(self.target_correlation[number]),
                *([] if self.weight is None else [_weight(self.weight[number])]),
            ]
            for number in order.tolist()
        ]
        more = self.n_groups - limit
        notes = []
        if more > 0:
            groups = "group" if more == 1 else "groups"
            notes.append(f"… and {more} more {groups}, none of them larger")
        notes += [f"{'' if k else '? '}{words}" for k, words in enumerate(self.flag_words)]
        if self.n_cancelling:
            part = f"{self.n_cancelling} of {self.n_groups}"
            notes.append(
                f"! weights of opposite sign that nearly cancel ({part}): do not interpret them"
            )
        titles = _TITLES[: None if self.weight is not None else -1]
        return Table(self.headline, titles, rows, "\n".join(notes))

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def _weight(value: float) -> str:
    return f"{value:.3g}{' !' if abs(value) > LARGEST_WEIGHT else ''}"


def _decimals(value: float, least: float = -np.inf) -> str:
    return "" if np.isnan(value) else f"{value:.3f}{' ?' if value < least else ''}"
