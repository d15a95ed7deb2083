"""The folds of a cross-validation: all combinations of a fold on the same statistics."""

import numbers
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedGroupKFold,
    check_cv,
)
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from .._data._checks import MIN_SAMPLES, check_total_weight, check_weights, is_integer
from .._data._dates import Dates, are_dates
from .._data._samples import group_labels
from .._data._targets import Targets
from .._data._training import Training
from .._grouping import PATHS, MergePath, Partition, partition_in_order
from .._grouping._constraint import Constraint
from .._grouping._joint import TooManyGroupsError
from .._model._logistic import PenalizedLogistic, logistic_path
from .._model._regression import Decomposition, RidgeRegression, scale_of_areas
from .._rule import Rule
from .._statistics import (
    ArrayStatistics,
    IndexArray,
    Statistics,
    cached,
    statistics_of,
)
from .._statistics._means import centers_of_means, group_means
from ..theory._arrays import FloatArray
from ..timeseries import BlockKFold

if TYPE_CHECKING:
    from .._data._dask import ChunkedTraining
    from .._statistics._dask._chunks import Chunks

_SPLITS, _PREDICTIONS = 5, 200
_WHOLE = (BlockKFold, GroupKFold, StratifiedGroupKFold)
"""Folds whose samples were given as belonging together."""
_LEAST_LOG = float(np.log(np.finfo(np.float64).eps))
"""Logarithm of the smallest probability: no sample counts for more in the log loss."""


class Grouping(NamedTuple):
    """Groups of features, as far as their means need them."""

    labels: IndexArray
    factors: FloatArray  # weight of each feature in the mean, negative where it is flipped
    n_groups: int


Reduced: TypeAlias = Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]
"""Reduced features of the samples to learn from and of those to score, for each grouping."""

_LEFT_OUT = -1

_MOST_CACHED = 4096
"""Features up to which all correlations of a fold are computed once and kept: 128 MiB."""

_ONE_THREAD = 2**22
"""Values up to which a fold is computed in one thread."""

_LARGEST_REDUCED = 2**26
"""Values of reduced features that come back from one pass over chunks, at most: 512 MiB."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Targets and weights of samples, in memory."""

    y: FloatArray  # of shape (n, K)
    targets: Targets
    weights: FloatArray | None

    @property
    def n_samples(self) -> float:
        return len(self.y) if self.weights is None else float(self.weights.sum())

    def take(self, rows: IndexArray) -> "Outcomes":
        weights = None if self.weights is None else self.weights[rows]
        return Outcomes(self.y[rows], self.targets, weights)


Scored: TypeAlias = Outcomes | Training
"""Anything with the targets and the weights of samples."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples to be divided into folds, given as rows that all have weight."""

    outcomes: Outcomes
    data: "Training | Chunks"

    def statistics(self) -> Statistics:
        """Return statistics of all samples."""
        if isinstance(self.data, Training):
            return ArrayFold(self.data.with_weight(), self.data).statistics()
        rows = np.arange(len(self.outcomes.y))
        return ChunkFold(self.outcomes, self.outcomes, self.data, rows, rows).statistics()

    def fold(self, train: IndexArray, test: IndexArray) -> "ArrayFold | ChunkFold":
        """Take rows to learn from and rows to score, without those that have no weight."""
        weights = self.outcomes.weights
        if weights is not None:
            train, test = (rows[weights[rows] > 0] for rows in (train, test))
        if isinstance(self.data, Training):
            return ArrayFold(self.data.take(train), self.data.take(test))
        outcomes = self.outcomes.take(train), self.outcomes.take(test)
        return ChunkFold(*outcomes, self.data, train, test)


@dataclass(frozen=True, eq=False)
class ArrayFold:
    """Samples to learn from and samples to score, in memory."""

    train: Training
    test: Training

    def statistics(self) -> Statistics:
        """Return statistics of the samples to learn from; few features keep all correlations."""
        statistics = ArrayStatistics.of(self.train.with_present_classes())
        return cached(statistics) if statistics.varying.size <= _MOST_CACHED else statistics

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Reduced:
        for labels, factors, size in groupings:
            train, test = (
                group_means(
                    part.values,
                    labels,
                    size,
                    factors=factors,
                    mean=mean,
                    scale=scale,
                    gaps=part.gaps,
                )
                for part in (self.train, self.test)
            )
            yield train, test


@dataclass(frozen=True, eq=False)
class ChunkFold:
    """Samples to learn from and samples to score, as rows of chunks."""

    train: Outcomes
    test: Outcomes
    chunks: "Chunks"
    train_rows: IndexArray
    test_rows: IndexArray

    def statistics(self) -> Statistics:
        """Return statistics of the samples to learn from, by giving the others no weight."""
        weights = np.zeros(sum(self.chunks.lengths))
        # A row may be drawn several times.
        counts = 1.0 if self.train.weights is None else self.train.weights
        np.add.at(weights, self.train_rows, counts)
        chunks = self.chunks
        targets, there = self.train.targets.present(self.train.y)
        if not there.all():
            y = np.zeros((weights.size, targets.size))
            y[self.train_rows] = self.train.y[:, there]
            chunks = chunks.with_targets(y, targets)
        return statistics_of(chunks.weighted(weights), often=True)

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Reduced:
        """Average the groups of each grouping, of as many per pass as fit."""
        room = _LARGEST_REDUCED // sum(self.chunks.lengths)
        batch: list[Grouping] = []
        for grouping in groupings:
            if batch and sum(each.n_groups for each in batch) + grouping.n_groups > room:
                yield from self._reduce(batch, mean, scale)
                batch = []
            batch.append(grouping)
        if batch:
            yield from self._reduce(batch, mean, scale)

    def _reduce(
        self, batch: list[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Reduced:
        for reduced in self.chunks.reduced(batch, mean, scale):
            yield reduced[self.train_rows], reduced[self.test_rows]


def samples_of(training: "Training | ChunkedTraining") -> Samples:
    """Check that all values are finite, and prepare the samples for folds."""
    if isinstance(training, Training):
        training.check_finite()
        return Samples(Outcomes(training.y, training.targets, training.weights), training)
    from .._statistics._dask._chunks import Chunks

    # Rows without weight are checked too, as in memory.
    _, chunks = Chunks.of(training).weighted(None).column_moments()
    y, weights = replace(chunks, weights=training.weights).outcomes()
    weights = check_weights(weights, len(y))
    return Samples(Outcomes(y, training.targets, weights), chunks.weighted(weights))


@dataclass(frozen=True)
class Candidates:
    """The ways of merging to try, and what they share."""

    ways: Sequence[tuple[str, float | None]]  # strategies with smallest correlations
    tolerances: Sequence[float]
    noise: Any
    constraint: Constraint
    signed: bool
    weights: FloatArray  # of the features in means
    units: str
    # Up to which a path is followed at least; and which combinations are left out.
    most_groups: int | None = None
    left_out: frozenset[int] = frozenset()

    def groups_of(self, path: MergePath, tolerance: float) -> int:
        """Number of groups at which a path is cut."""
        found = path.n_groups(tolerance)
        return (
            found
            if self.most_groups is None
            else max(min(found, self.most_groups), path.fewest_groups)
        )

    def limited(self, statistics: Statistics, most_groups: int) -> "Candidates":
        """Follow paths to so many groups at least, and leave out what still has more of them."""
        followed = replace(self, most_groups=most_groups)
        groupings = _groupings(followed, statistics)
        sizes = [np.inf if grouping is None else grouping.n_groups for grouping in groupings]
        left_out = frozenset(k for k, size in enumerate(sizes) if size > most_groups)
        return followed if len(left_out) == len(sizes) else replace(followed, left_out=left_out)


_LARGEST_ERROR = 3.0
"""Standard deviations of the target for which an error counts at most."""

_NEAR, _NEAR_OTHERS = 0.005, 0.01
"""By how much a score may be below another to count as near it: in R², and as a share of any other
score."""

_NEAR_LOG_LOSS, _NEAR_LOG_LOSS_SHARE = 0.01, 0.1
"""The same in log loss, and as a share of it, whichever is less."""


@dataclass(frozen=True)
class Scoring:
    """A score of scikit-learn, averaged over the held-out samples; larger is better."""

    scorer: Any = None

    def near(self, score: float) -> float:
        """Return by how much another score may be below this one to count as near it."""
        return _NEAR_OTHERS * abs(score)

    def of_model(self, fitted: Any, X: npt.NDArray[Any], test: Scored) -> float:
        y = test.targets.as_given(test.y)
        if test.weights is None:
            return float(self.scorer(fitted, X, y))
        try:
            return float(self.scorer(fitted, X, y, sample_weight=test.weights))
        except TypeError as error:
            if "sample_weight" not in str(error):
                raise
            raise ValueError(f"The scoring {self.scorer!r} does not take sample_weight.") from error


@dataclass(frozen=True)
class R2(Scoring):
    """R², by a scorer of scikit-learn."""

    def near(self, score: float) -> float:
        return _NEAR


@dataclass(frozen=True)
class TruncatedR2(R2):
    """Mean R² of the targets, where no error counts for more than some standard deviations."""

    target_scale: FloatArray = field(kw_only=True)

    def of_errors(self, errors: FloatArray, weights: FloatArray | None) -> FloatArray:
        """R² of errors; the last axis is that of the targets, the first that of the samples."""
        errors = np.clip(errors / self.target_scale, -_LARGEST_ERROR, _LARGEST_ERROR)
        squares = np.average(errors**2, axis=0, weights=weights)
        return np.asarray(1 - squares.mean(axis=-1))

    def of_model(self, fitted: Any, X: npt.NDArray[Any], test: Scored) -> float:
        errors = np.reshape(fitted.predict(X), test.y.shape) - test.y
        return float(self.of_errors(errors, test.weights))


@dataclass(frozen=True)
class LogLoss(Scoring):
    """The log loss, with a minus sign."""

    def near(self, score: float) -> float:
        return min(_NEAR_LOG_LOSS, _NEAR_LOG_LOSS_SHARE * abs(score))

    def of_model(self, fitted: Any, X: npt.NDArray[Any], test: Scored) -> float:
        own = test.targets.codes(test.y)[:, None]
        logs = np.take_along_axis(fitted.predict_log_proba(X), own, axis=1)[:, 0]
        return float(np.average(np.maximum(logs, _LEAST_LOG), weights=test.weights))


class Shrinkage(NamedTuple):
    """How the weights of a regression are shrunk."""

    penalty: float | None  # None of a model without one
    rescaled: bool = False


class Scorer(Protocol):
    """Scores models on the reduced features of a fold."""

    @property
    def scoring(self) -> Scoring:
        """What is averaged."""

    @property
    def shrinkages(self) -> Sequence[Shrinkage]:
        """Ways to shrink the weights that are compared."""

    @property
    def model(self) -> Any:
        """The kind of model."""

    def __call__(
        self, train: Scored, test: Scored, X: npt.NDArray[Any], X_test: npt.NDArray[Any]
    ) -> FloatArray:
        """Fit to some samples and score others: one score per shrinkage."""


@dataclass(frozen=True)
class RidgeScorer:
    """Scores of ridge regressions on the reduced features, one per shrinkage."""

    penalties: Sequence[float]
    scoring: Scoring
    areas: bool  # which are penalised as their cells, and tried with rescaled weights too
    model: Any = field(default_factory=RidgeRegression)

    @property
    def shrinkages(self) -> list[Shrinkage]:
        again = [Shrinkage(penalty, True) for penalty in self.penalties if self.areas and penalty]
        return [*map(Shrinkage, self.penalties), *again]

    def __call__(
        self, train: Scored, test: Scored, X: npt.NDArray[Any], X_test: npt.NDArray[Any]
    ) -> FloatArray:
        fitted = Decomposition.of(X, train.y, train.weights)
        coef = fitted.coefficients(*zip(*self.shrinkages, strict=True))
        intercepts = fitted.target_center - np.tensordot(fitted.center, coef, 1)
        if isinstance(self.scoring, TruncatedR2):
            predicted = np.tensordot(X_test.astype(np.float64, copy=False), coef, 1) + intercepts
            return self.scoring.of_errors(predicted - test.y[:, None], test.weights)
        scores = []
        for number, (penalty, _) in enumerate(self.shrinkages):
            weights = coef[:, number].T, intercepts[number]
            if test.targets.size == 1:
                weights = weights[0][0], float(weights[1][0])
            model = RidgeRegression.of(penalty or 0.0, *weights)
            scores.append(self.scoring.of_model(model, X_test, test))
        return np.array(scores)


@dataclass(frozen=True)
class EstimatorScorer:
    """The score of an estimator on the reduced features."""

    model: Any
    scoring: Scoring
    shrinkages: Sequence[Shrinkage] = (Shrinkage(None),)

    def __call__(
        self, train: Scored, test: Scored, X: npt.NDArray[Any], X_test: npt.NDArray[Any]
    ) -> FloatArray:
        fitted = fit_weighted(self.model, X, train)
        return np.array([self.scoring.of_model(fitted, X_test, test)])


@dataclass(frozen=True)
class LogisticScorer:
    """Scores of logistic regressions on the reduced features, one per penalty."""

    penalties: Sequence[float]
    scoring: Scoring
    model: Any = field(default_factory=PenalizedLogistic)

    @property
    def shrinkages(self) -> list[Shrinkage]:
        return [*map(Shrinkage, self.penalties)]

    def __call__(
        self, train: Scored, test: Scored, X: npt.NDArray[Any], X_test: npt.NDArray[Any]
    ) -> FloatArray:
        classes = train.targets.classes
        assert classes is not None
        codes = train.targets.codes(train.y)
        fitted = logistic_path(X, codes, len(classes), self.penalties, train.weights)
        models = [
            PenalizedLogistic.of(penalty, classes, coef, intercept)
            for penalty, coef, intercept in zip(self.penalties, *fitted, strict=True)
        ]
        return np.array([self.scoring.of_model(model, X_test, test) for model in models])


@dataclass(frozen=True)
class FoldScores:
    """What one fold says of all combinations."""

    scores: FloatArray  # of shape (ways of merging, shrinkages)
    n_groups: FloatArray  # NaN of what was left out
    n_train: float
    n_test: float


Parts: TypeAlias = Iterator[tuple[IndexArray, IndexArray]]
"""Rows to learn from and rows to score, of each fold."""


def splits(
    cv: Any, X: Any, outcomes: Outcomes, groups: Any, dates: Dates | None
) -> tuple[Any, Parts]:
    """Return what divides the samples into folds, and the parts of each fold.

    Whole ``groups`` are held out if these are given, or blocks of them if they are dates; else
    blocks of consecutive dates.
    """
    n, targets = len(outcomes.y), outcomes.targets
    classes, weights = targets.classes is not None, outcomes.weights
    samples = np.arange(n) if weights is None else np.flatnonzero(weights > 0)
    labels = None if groups is None else group_labels(groups, n)
    number: Any = cv if isinstance(cv, numbers.Integral) else None
    if labels is None and dates is not None and (cv is None or isinstance(cv, BlockKFold)):
        labels = dates.ranks
    in_time = dates is not None if groups is None else labels is not None and are_dates(labels)
    if cv is None and n < MIN_SAMPLES + 2:
        raise ValueError(f"Cross-validation needs at least {MIN_SAMPLES + 2} samples, got {n}.")
    if cv is not None and (groups is None or number is None):
        splitter = read_cv(cv, targets.as_given(outcomes.y), classes)
    elif number is not None:
        assert labels is not None
        splitter = BlockKFold(number) if in_time else group_folds(labels[samples], classes, number)
    else:
        own = None if labels is None else labels[samples]
        times, together = (own, None) if in_time else (None, own)
        codes = targets.codes(outcomes.y[samples]) if classes else None
        splitter = default_splitter(n, codes, dates=times, groups=together)
    if not isinstance(splitter, _WHOLE) and (cv is not None or not classes):
        samples = np.arange(n)  # those without weight are divided too
    return splitter, _parts(splitter, X, outcomes, labels, samples)


def _parts(splitter: Any, X: Any, outcomes: Outcomes, groups: Any, samples: IndexArray) -> Parts:
    """Divide samples, and check that each part to learn from is enough."""
    targets = outcomes.targets
    if samples.size < len(outcomes.y):
        X = samples  # of which such folds need no more than the number
        groups = None if groups is None else groups[samples]
    for split in divide(splitter, X, targets.as_given(outcomes.y[samples]), groups):
        train, test = (samples[part] for part in split)
        if targets.classes is not None:
            codes = targets.codes(outcomes.y)
            check_classes_to_learn(codes, targets.classes, train, test, splitter)
        if outcomes.weights is None and len(train) < MIN_SAMPLES:
            raise ValueError(
                f"A fold has {len(train)} training samples, but the groups need at least "
                f"{MIN_SAMPLES}; use fewer folds."
            )
        yield train, test


def divide(
    splitter: Any, X: Any, y: npt.NDArray[Any], groups: Any
) -> list[tuple[IndexArray, IndexArray]]:
    """Divide samples into parts to learn from and parts to score."""
    if groups is None and "Group" in type(splitter).__name__:
        raise ValueError(f"cv={splitter!r} needs groups: which samples belong together.")
    if isinstance(splitter, GroupKFold | StratifiedGroupKFold):
        _check_groups(groups, splitter.n_splits)
    try:
        with warnings.catch_warnings():
            # A class with one sample is missing from the training part of a fold.
            warnings.filterwarnings("ignore", message="The least populated class in y")
            found = list(splitter.split(X, y, groups))
    except ValueError as error:
        if isinstance(splitter, BlockKFold):
            raise
        raise ValueError(f"cv={splitter!r} cannot divide {len(y)} samples: {error}") from error
    last = max((int(np.max(part, initial=-1)) for split in found for part in split), default=-1)
    if last >= len(y):
        raise ValueError(f"cv names row {last}, and there are {len(y)} samples, counted from 0.")
    return found


def read_cv(cv: Any, y: npt.NDArray[Any], classes: bool) -> Any:
    """Return what divides samples into folds, given as in scikit-learn."""
    number = isinstance(cv, numbers.Number)
    if isinstance(cv, str) or (number and not is_integer(cv, 2)):
        raise ValueError(
            "cv must be a number of folds of at least 2, a splitter of scikit-learn or a list of "
            f"rows to learn from and to score, got {cv!r}"
        )
    if number and cv > len(y):
        raise ValueError(f"cv={cv} folds are more than there are samples, {len(y)}.")
    return check_cv(cv, y, classifier=classes)


def check_classes_to_learn(
    codes: IndexArray,
    classes: npt.NDArray[Any],
    train: IndexArray,
    test: IndexArray,
    splitter: Any,
) -> None:
    """Raise if a class is nowhere but in the block or groups held out, or in a gap beside them."""
    lacking = np.setdiff1d(codes, codes[train])
    if not lacking.size or not isinstance(splitter, _WHOLE):
        return
    what = f"whole groups of {len(test)} samples are held out: leave this class or the groups out."
    if isinstance(splitter, BlockKFold):
        what = (
            f"a block of {len(test)} samples, consecutive in time, is held out: use shuffled "
            "folds instead, cv=StratifiedKFold(5, shuffle=True) or --folds shuffled."
        )
    label = classes.tolist()[lacking[0]]
    raise ValueError(f"No sample of the class {label!r} is left to learn from when {what}")


def _check_groups(labels: npt.NDArray[Any], n_folds: int) -> int:
    """Count groups of samples; raise if there are fewer than folds."""
    found = np.unique(labels).size
    if found < n_folds:
        raise ValueError(
            f"The samples belong to {found} {'group' if found == 1 else 'groups'}, too few for "
            f"{n_folds} folds of whole groups."
        )
    return found


def default_splitter(
    n: int, codes: IndexArray | None = None, *, dates: Any = None, groups: Any = None, gap: int = 0
) -> Any:
    """Folds by which to choose: of whole groups, blocks in time, or shuffled, alike in classes."""
    if groups is not None:
        return group_folds(groups, codes is not None)
    if dates is not None:
        return ordered_folds(np.unique(dates).size, gap)
    return default_folds(n) if codes is None else stratified_folds(codes)


def group_folds(
    labels: npt.NDArray[Any], classes: bool, n_splits: int | None = None, random_state: Any = 0
) -> GroupKFold | StratifiedGroupKFold:
    """Shuffled folds of whole groups, five or as many as there are; alike in shares of classes."""
    found = _check_groups(labels, 2 if n_splits is None else n_splits)
    kind = StratifiedGroupKFold if classes else GroupKFold
    n_splits = min(_SPLITS, found) if n_splits is None else n_splits
    return kind(n_splits, shuffle=True, random_state=random_state)


def ordered_folds(n_dates: int, gap: int = 0) -> BlockKFold:
    """Five blocks of consecutive dates; few dates are divided twice."""
    repeats = min(2, _repeats(n_dates))
    return BlockKFold(max(2, min(_SPLITS, n_dates)), gap=gap, n_repeats=repeats)


def folds_in_words(splitter: Any) -> str:
    """Say which samples are held out together, in time or in groups; nothing if none are."""
    if not isinstance(splitter, _WHOLE):
        return ""
    if not isinstance(splitter, BlockKFold):
        return f"{splitter.n_splits} parts of samples that belong together, held out in turn"
    gap = f", with a gap of {splitter.gap} on either side" if splitter.gap else ""
    times = {1: "", 2: ", twice"}.get(splitter.n_repeats, f", {splitter.n_repeats} times")
    return (
        f"{splitter.n_splits} blocks of samples consecutive in time, held out in turn{times}{gap}"
    )


def default_folds(n: int) -> RepeatedKFold:
    """Five shuffled folds, repeated until there are enough held-out predictions."""
    return RepeatedKFold(n_splits=min(_SPLITS, n), n_repeats=_repeats(n), random_state=0)


def stratified_folds(codes: IndexArray) -> RepeatedStratifiedKFold:
    """Five such folds with the same share of each class, or fewer if a class has fewer samples."""
    counts = np.bincount(codes)
    n_splits = min(_SPLITS, max(2, int(counts[counts > 0].min())))
    return RepeatedStratifiedKFold(
        n_splits=n_splits, n_repeats=_repeats(codes.size), random_state=0
    )


def _repeats(n: int) -> int:
    return min(10, max(1, -(-_PREDICTIONS // n)))


def fit_weighted(estimator: Any, X: npt.NDArray[Any], outcomes: Scored) -> Any:
    y = outcomes.targets.as_given(outcomes.y)
    if outcomes.weights is None:
        return clone(estimator).fit(X, y)
    return clone(estimator).fit(X, y, sample_weight=outcomes.weights)


def score_folds(
    candidates: Candidates,
    score: Scorer,
    samples: Samples,
    parts: Parts,
    n_jobs: int | None,
    verbose: int,
) -> list[FoldScores]:
    """Score all combinations on every fold, some folds at a time."""
    data = samples.data
    in_memory = isinstance(data, Training)
    # Folds of chunks share what is computed of them; their work is done elsewhere.
    threads = {} if in_memory else {"require": "sharedmem"}
    # Regressions on few groups take longer in several threads than in one.
    small = isinstance(data, Training) and data.values.size <= _ONE_THREAD
    with threadpool_limits(1 if small else None, "blas"):
        folds: list[FoldScores] = Parallel(n_jobs=n_jobs, verbose=verbose, **threads)(
            delayed(_score_fold)(candidates, score, samples, train, test) for train, test in parts
        )
    return folds


def _score_fold(
    candidates: Candidates,
    score: Scorer,
    samples: Samples,
    train: IndexArray,
    test: IndexArray,
) -> FoldScores:
    """Score all combinations on one fold; error messages mention the fold."""
    try:
        return _score_combinations(candidates, score, samples.fold(train, test))
    except ValueError as error:
        raise ValueError(f"In a fold with {len(train)} training samples: {error}") from error


def _score_combinations(
    candidates: Candidates, score: Scorer, fold: ArrayFold | ChunkFold
) -> FoldScores:
    check_total_weight(fold.train.n_samples)
    if fold.test.n_samples == 0:
        raise ValueError("the held-out samples have no weight.")
    statistics = fold.statistics()
    if not statistics.varying.any():
        raise ValueError("every column of X is constant; use fewer folds.")
    standard = candidates.units == "standardized"
    mean, scale = (statistics.mean, statistics.scale) if standard else (None, None)
    as_cells = isinstance(score, RidgeScorer) and score.areas
    places: dict[bytes, int] = {}
    which, counts, centers, scales = [], [], [], []

    def distinct() -> Iterator[Grouping]:
        """Neighbouring tolerances often give the same groups."""
        for grouping in _groupings(candidates, statistics):
            if grouping is None:
                which.append(_LEFT_OUT)
                counts.append(np.nan)
                continue
            key = grouping.labels.tobytes() + np.sign(grouping.factors).tobytes()
            new = key not in places
            which.append(places.setdefault(key, len(places)))
            counts.append(grouping.n_groups)
            if new:
                center = np.zeros_like(statistics.mean) if standard else statistics.mean
                centers.append(centers_of_means(center, *grouping))
                own = grouping.labels, candidates.weights, scale, candidates.constraint.blocks
                scales.append(scale_of_areas(*own) if as_cells else None)
                yield grouping

    scores = np.array(
        [
            score(
                fold.train,
                fold.test,
                *(_prepared(part, centers[number], scales[number]) for part in parts),
            )
            for number, parts in enumerate(fold.reduced(distinct(), mean, scale))
        ]
    )
    scores = np.concatenate([scores, np.full_like(scores[:1], np.nan)])  # for what is left out
    return FoldScores(
        scores[which], np.array(counts), float(fold.train.n_samples), float(fold.test.n_samples)
    )


def _prepared(
    reduced: npt.NDArray[Any], center: FloatArray, scale: FloatArray | None
) -> npt.NDArray[Any]:
    """Replace missing means, as the chosen model will, and scale all, in the same precision."""
    missing = np.isnan(reduced)
    if missing.any():
        reduced = np.where(missing, center.astype(reduced.dtype), reduced)
    return reduced if scale is None else reduced * scale.astype(reduced.dtype)


def _groupings(candidates: Candidates, statistics: Statistics) -> Iterator[Grouping | None]:
    """Yield the groups of each way of merging, from the same statistics; None if left out.

    So are those that leave too many groups for their strategy, unless all do.
    """
    failures: list[TooManyGroupsError] = []
    is_any_left = False
    weights, tolerances = candidates.weights, candidates.tolerances

    def grouping(partition: Partition) -> Grouping:
        return Grouping(partition.labels, partition.signs * weights, len(partition.groups))

    # Once: the noise may need a regression on all features.
    first = Rule.of(
        statistics, noise=candidates.noise, signed=candidates.signed, weights=candidates.weights
    )
    for number, (strategy, correlation) in enumerate(candidates.ways):
        places = range(number * len(tolerances), (number + 1) * len(tolerances))
        if candidates.left_out.issuperset(places):
            yield from [None] * len(tolerances)
            continue
        lowest = -1.0 if correlation is None else float(correlation)
        rule = replace(first, min_correlation=lowest)
        path = None
        if strategy in PATHS:
            try:
                path = PATHS[strategy](statistics, rule, candidates.constraint)
            except TooManyGroupsError as error:
                failures.append(error)
                yield from [None] * len(tolerances)
                continue
        is_any_left = True
        for place, tolerance in zip(places, tolerances, strict=True):
            if place in candidates.left_out:
                yield None
            elif path is not None:
                yield grouping(path.partition(candidates.groups_of(path, tolerance)))
            else:
                partition = partition_in_order(
                    strategy, statistics, replace(rule, tolerance=tolerance), candidates.constraint
                )
                yield grouping(partition)
    if failures and not is_any_left:
        raise failures[0]
