"""How much the groups depend on the samples and on the order of the columns."""

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from .._data._frames import frame_of
from .._data._names import shown
from .._data._training import Training, read_in_memory
from .._grouping._constraint import Constraint
from .._lincfa import LinCFA
from .._model._display import Table, count
from .._model._parameters import check_block_length, is_count
from .._search._estimator import GroupSearch
from .._statistics import ArrayStatistics, IndexArray, standardize_targets
from .._statistics._series import autocorrelation_pair, choose_block_length, circular_block_rows
from ..theory._arrays import FloatArray
from ._progress import with_progress

if TYPE_CHECKING:
    from .._data._field import Field

_ATTEMPTS = 100
_TITLES = ("group", "size", "pairs together", "intact")


@dataclass(frozen=True)
class Stability:
    """How the groups change when the samples are drawn again.

    Attributes
    ----------
    names : tuple of str
        Names of the reduced features of all samples.
    feature_names : tuple of str
        Names of the features.
    labels : array of shape (n_features,)
        Groups of a fit to all samples.
    resampled : array of shape (n_resamples, n_features), int32
        Groups of each resample; −1 for a feature that is constant in it.
    groups : array of shape (n_groups,)
        How often two members of a group stay together: the share of pairs of its members, averaged
        over the resamples. NaN for a single feature.
    features : array of shape (n_features,)
        The same for each feature: the share of the other members of its group with which it stays
        together. NaN for a feature that is alone or constant.
    intact : array of shape (n_groups,)
        Share of the resamples in which all members of the group are together, perhaps with others.
        1 for a single feature.
    n_groups : array of shape (n_resamples,)
        Number of groups of each resample.
    agreement : array of shape (n_resamples,)
        Adjusted Rand index of each with the groups of all samples: 1 for the same groups.
    block_length : int
        How many consecutive samples were drawn together; 1 where each was drawn by itself.
    field : Field or None
        The cells of the field, if X was one.

    Examples
    --------
    >>> from lincfa import stability
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> found = stability(X, y, 10, random_state=0)
    >>> found.n_groups.tolist()
    [6, 5, 5, 4, 5, 5, 4, 6, 5, 5]
    >>> found.groups.round(2).tolist()
    [0.4, 0.34, 0.47]
    """

    names: tuple[str, ...]
    feature_names: tuple[str, ...]
    labels: IndexArray
    resampled: npt.NDArray[np.int32]
    groups: FloatArray
    features: FloatArray
    intact: FloatArray
    n_groups: npt.NDArray[np.intp]
    agreement: FloatArray
    block_length: int = 1
    field: "Field | None" = None

    def to_map(self) -> Any:
        """Put ``features`` on the grid of the field: how often each cell stays with its group.

        Returns
        -------
        DataArray or Dataset
            As the field was; NaN also for cells that are missing at every sample.
        """
        if self.field is None:
            raise ValueError(
                "X was a table, whose columns are not cells of a grid; a map needs an xarray field."
            )
        attrs = {"long_name": "share of its group that the cell stays together with", "units": "1"}
        from .._data._write_field import put

        return put(self.field, self.features, "stability", attrs)

    def co_membership(self, features: Any) -> FloatArray:
        """Return how often each pair of some features is together, as a share of the resamples.

        Parameters
        ----------
        features : sequence of int or str, or mask of shape (n_features,)
            Positions or names of features, for instance the members of a group and of its
            neighbour.

        Returns
        -------
        array of shape (len(features), len(features))
            A feature that is constant in a resample is together with no other.
        """
        chosen = self.resampled[:, self._positions(features)]
        result = np.zeros((chosen.shape[1], chosen.shape[1]))
        for labels in chosen:
            result += (labels[:, None] == labels) & (labels >= 0)
        result /= len(chosen)
        np.fill_diagonal(result, 1.0)
        return result

    def _positions(self, features: Any) -> IndexArray:
        wanted = np.asarray(features)
        if wanted.dtype == np.bool_ and wanted.shape == self.labels.shape:
            return np.flatnonzero(wanted)
        if wanted.ndim == 1 and wanted.dtype.kind in "UO":
            known = {name: place for place, name in enumerate(self.feature_names)}
            missing = [name for name in wanted.tolist() if name not in known]
            if missing:
                raise ValueError(f"There is no feature {missing[0]!r}.")
            return np.array([known[name] for name in wanted.tolist()], dtype=np.intp)
        if wanted.ndim != 1 or wanted.dtype.kind not in "iu":
            raise ValueError("features must be a list of positions or names, or a mask.")
        if wanted.size and not (wanted.min() >= 0 and wanted.max() < self.labels.size):
            raise ValueError(f"Positions of features are 0 to {self.labels.size - 1}.")
        return wanted.astype(np.intp)

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """Return the figures of the groups as a data frame, one row each.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
        """
        columns = {
            "name": list(self.names),
            "size": np.bincount(self.labels[self.labels >= 0]),
            "together": self.groups,
            "intact": self.intact,
        }
        return frame_of(columns, library)

    def table(self, limit: int = 20) -> Table:
        """Return the figures of the largest groups as a table, with a note on the others."""
        low, high = self.n_groups.min(), self.n_groups.max()
        sizes = np.bincount(self.labels[self.labels >= 0])
        order = np.argsort(-sizes, kind="stable")
        rows = [
            [shown(self.names[k]), str(sizes[k]), f"{self.groups[k]:.2f}", f"{self.intact[k]:.2f}"]
            for k in order[:limit].tolist()
            if sizes[k] > 1
        ]
        more = int((sizes > 1).sum()) - len(rows)
        single = int((sizes == 1).sum())
        notes = [count(more, "more group")] if more else []
        notes += [count(single, "single feature")] if single else []
        blocks = f" of blocks of {self.block_length} samples" if self.block_length > 1 else ""
        return Table(
            f"{count(len(self.names), 'group')}; {low} to {high} in "
            f"{count(len(self.n_groups), 'resample')}{blocks}, "
            f"agreement {self.agreement.mean():.2f}",
            _TITLES,
            rows,
            f"and {' and '.join(notes)}" if notes else "",
        )

    def __str__(self) -> str:
        """Return the headline and the figures of the largest groups."""
        return str(self.table())

    def _repr_html_(self) -> str:
        return self.table().html()


def stability(
    X: Any,
    y: Any,
    n_resamples: int = 50,
    *,
    model: LinCFA | GroupSearch | None = None,
    block_length: int | Literal["auto"] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool = True,
) -> Stability:
    """Measure how often the members of each group stay together when the samples are resampled.

    Each resample draws as many samples as there are, with replacement, and groups again; it costs a
    fit, but no copy of X. A resample contains about 63 % of the distinct samples, so that groups
    look somewhat less stable than they are. Where samples have dates, blocks of consecutive
    samples are drawn, as neighbours in time resemble each other: drawn one by one, they would make
    groups look more stable than they are.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        As for :meth:`LinCFA.fit`, in memory.
    y : array of shape (n_samples,)
    n_resamples : int, default=50
    model : LinCFA, or fitted LinCFACV or LinCFAClassifierCV, default=None
        Its parameters are used, or those that it has chosen. None for ``LinCFA()``. Its
        ``effective_samples`` are those of all samples in every resample.
    block_length : int or "auto", default=None
        How many consecutive samples are drawn together, in the order of their dates, or of the rows
        where they have none; after the last comes the first again. ``"auto"`` chooses the length
        from the lag-one autocorrelations of features and target, between 1 and a third of the
        samples. None for ``"auto"`` where the samples have dates, and else for 1.
    random_state : int, RandomState instance or None, default=None
    n_jobs : int, default=None
        Number of resamples to process in parallel, as in joblib.
    verbose : bool, default=True
        Whether to report progress on standard error when it takes longer than a few seconds.

    Returns
    -------
    Stability
        It takes 4 bytes per feature and resample.

    Examples
    --------
    >>> from lincfa import LinCFA, stability
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> found = stability(X, y, 20, random_state=0)
    >>> print(found)  # doctest: +ELLIPSIS
    8 groups; 5 to 8 in 20 resamples, agreement 0...
    group                        size  pairs together  intact
    ...
    and 2 single features
    """
    if not is_count(n_resamples):
        raise ValueError(f"n_resamples must be a positive integer, got {n_resamples!r}")
    check_block_length(block_length)
    given = _unfitted(model)
    training = read_in_memory(
        X, y, sample_dim=given.sample_dim, kind=given.target, missing=given.missing
    )
    start = time.monotonic()
    given._fit(training)
    each = time.monotonic() - start
    varying = given.labels_ >= 0
    length = choose_block_length(
        block_length,
        len(training.y),
        lambda: float(np.prod(autocorrelation_pair(training, varying))),
        training.dates is not None,
    )
    random = check_random_state(random_state)
    constraint = given._constraint()
    drawn = [_draw(random, training, length) for _ in range(n_resamples)]
    jobs = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(_labels)(given, constraint, replace(training, weights=counts)) for counts in drawn
    )
    resampled = np.empty((n_resamples, varying.size), dtype=np.int32)
    for number, labels in enumerate(with_progress(jobs, n_resamples, "stability", verbose, each)):
        resampled[number] = labels
    features, groups, intact = _together(given, resampled)
    return Stability(
        names=tuple(given.get_feature_names_out()),
        feature_names=tuple(map(str, training.columns.labels)),
        labels=given.labels_,
        resampled=resampled,
        groups=groups,
        features=features,
        intact=intact,
        n_groups=resampled.max(axis=1).astype(np.intp) + 1,
        agreement=np.array(
            [adjusted_rand_score(given.labels_[varying], row[varying]) for row in resampled]
        ),
        block_length=length,
        field=training.columns.field,
    )


def _unfitted(model: Any) -> LinCFA:
    """Return a LinCFA with the parameters of a model, or those that a search has chosen."""
    chosen = LinCFA() if model is None else getattr(model, "reducer_", model)
    if not isinstance(chosen, LinCFA):
        raise TypeError(
            f"model must be a LinCFA or a fitted LinCFACV, got {type(model).__name__}"
            + ", which is not fitted." * isinstance(model, GroupSearch)
        )
    given: LinCFA = clone(chosen)
    given._check_parameters()
    return given


def _draw(random: Any, training: Training, length: int) -> npt.NDArray[np.float64]:
    """Draw blocks with replacement: how often each sample occurs, until all targets vary."""
    n = len(training.y)
    for _ in range(_ATTEMPTS):
        rows = circular_block_rows(random.randint(n, size=-(-n // length)), length, n)
        if training.dates is not None:
            rows = training.dates.order[rows]
        counts = np.bincount(rows, minlength=n).astype(np.float64)
        with suppress(ValueError):
            standardize_targets(training.y, counts, training.targets)
            return counts
    raise ValueError("The target hardly varies: it is constant in every resample.")


def _labels(model: LinCFA, constraint: Constraint, resample: Training) -> npt.NDArray[np.int32]:
    """Group one resample, without a warning about features that are constant in it."""
    statistics = ArrayStatistics.of(resample)
    if not statistics.varying.any():
        return np.full(resample.columns.size, -1, dtype=np.int32)
    share = model.effective_samples_ / model.n_samples_
    partition, _ = model._partition(statistics, constraint, model.feature_weights_, share)
    return partition.labels.astype(np.int32)


def _together(
    model: LinCFA, resampled: npt.NDArray[np.int32]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the co-membership of features and of groups, and the shares of intact groups."""
    labels = model.labels_
    sizes = np.bincount(labels[labels >= 0])
    total = np.zeros(labels.size)
    intact = np.zeros(sizes.size)
    count = len(resampled)
    for row in resampled:
        known = np.flatnonzero((labels >= 0) & (row >= 0))
        # Together are those that share both their label in the fit and in the resample.
        cells = labels[known] * (np.int64(row.max()) + 1) + row[known]
        _, cell, inside = np.unique(cells, return_inverse=True, return_counts=True)
        companions = inside[cell] - 1
        total[known] += companions
        whole = companions == sizes[labels[known]] - 1
        intact[np.unique(labels[known[whole]])] += 1
    with np.errstate(invalid="ignore"):
        features = np.where(labels >= 0, total / (count * (sizes[labels] - 1)), np.nan)
        pairs = np.bincount(labels[labels >= 0], weights=total[labels >= 0])
        groups = pairs / (count * sizes * (sizes - 1))
    return features, groups, np.where(sizes == 1, 1.0, intact / count)


@dataclass(frozen=True)
class OrderSensitivity:
    """How permuting the columns changes the groups.

    Attributes
    ----------
    n_groups_given : int
        Number of groups with the columns in their original order.
    n_groups : array of shape (n_permutations,)
        Number of groups with the columns permuted.
    agreement : array of shape (n_permutations,)
        Adjusted Rand index of each partition with that of the original order: 1 for the same
        groups, about 0 for groups that agree no more than by chance.

    Examples
    --------
    >>> from lincfa import order_sensitivity
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> found = order_sensitivity(X, y, 10, random_state=0)
    >>> found.n_groups_given, found.n_groups.tolist()
    (3, [3, 4, 4, 3, 4, 4, 3, 4, 4, 5])
    """

    n_groups_given: int
    n_groups: npt.NDArray[np.intp]
    agreement: FloatArray


def order_sensitivity(
    X: Any,
    y: Any,
    n_permutations: int = 20,
    *,
    model: LinCFA | GroupSearch | None = None,
    random_state: Any = None,
) -> OrderSensitivity:
    """Measure how much the groups depend on the order of the columns.

    The ``"sequential"`` and ``"centroid"`` strategies go through the columns in their order, so the
    groups depend on it; those of ``"agglomerative"`` and ``"joint"`` do not.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        As for :meth:`LinCFA.fit`, in memory.
    y : array of shape (n_samples,)
    n_permutations : int, default=20
        Number of random orders; each costs a fit and a copy of X.
    model : LinCFA, or fitted LinCFACV or LinCFAClassifierCV, default=None
        Its parameters are used, or those that it has chosen. None for ``LinCFA()``.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from lincfa import LinCFA, order_sensitivity
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> found = order_sensitivity(X, y, 5, random_state=0)
    >>> found.n_groups_given, found.n_groups
    (8, array([8, 8, 7, 8, 8]))
    >>> found = order_sensitivity(X, y, 5, model=LinCFA(strategy="agglomerative"), random_state=0)
    >>> found.agreement
    array([1., 1., 1., 1., 1.])
    """
    if not is_count(n_permutations):
        raise ValueError(f"n_permutations must be a positive integer, got {n_permutations!r}")
    random = check_random_state(random_state)
    given = _unfitted(model)
    training = read_in_memory(
        X, y, sample_dim=given.sample_dim, kind=given.target, missing=given.missing
    )
    given._fit(training)
    constraint = given._constraint()
    sizes, agreement = [], []
    # Without the constant columns, about which the fit above has warned.
    features = np.flatnonzero(given.labels_ >= 0)
    for _ in range(n_permutations):
        order = random.permutation(features)
        permuted = clone(given).set_params(
            **constraint.taken(order), feature_weights=given.feature_weights_[order]
        )
        permuted._fit(training.select(order))
        sizes.append(permuted.n_groups_)
        agreement.append(adjusted_rand_score(given.labels_[order], permuted.labels_))
    return OrderSensitivity(given.n_groups_, np.array(sizes), np.array(agreement))
