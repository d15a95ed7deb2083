"""One fold of a cross-validation: all strategies and tolerances on the same statistics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt
from sklearn.base import clone

from ._criterion import Criterion
from ._grouping import PARTITIONS, PATHS
from ._means import group_means
from ._statistics import ArrayStatistics, CachedStatistics, IndexArray, Statistics
from ._weights import check_total_weight
from .theory._arrays import FloatArray

_MOST_CACHED = 4096
"""Features up to which all correlations of a fold are computed once and kept: 128 MiB."""


@dataclass(frozen=True)
class Task:
    """What one fold has to try."""

    strategies: Sequence[str]
    tolerances: Sequence[float]
    noise: Any
    min_correlation: float | None
    units: str
    estimator: Any
    scorer: Any


@dataclass(frozen=True)
class Samples:
    """Samples to learn from or to score, which may have weights."""

    X: npt.NDArray[Any]
    y: FloatArray
    weights: FloatArray | None

    def take(self, rows: IndexArray) -> "Samples":
        """Take some of the samples, without those that have no weight."""
        if self.weights is not None:
            rows = rows[self.weights[rows] > 0]
        weights = None if self.weights is None else self.weights[rows]
        return Samples(self.X[rows], self.y[rows], weights)

    @property
    def count(self) -> float:
        """Number of samples; with weights, their sum."""
        return len(self.y) if self.weights is None else float(self.weights.sum())


def fit_weighted(estimator: Any, X: npt.NDArray[Any], samples: Samples) -> Any:
    """Fit a clone of an estimator to reduced features, with the weights if there are any."""
    if samples.weights is None:
        return clone(estimator).fit(X, samples.y)
    return clone(estimator).fit(X, samples.y, sample_weight=samples.weights)


def try_fold(
    task: Task, samples: Samples, train: IndexArray, test: IndexArray
) -> tuple[list[float], list[int], float]:
    """Try all combinations on one fold; errors say that it is a fold."""
    try:
        return _score_fold(task, samples.take(train), samples.take(test))
    except ValueError as error:
        raise ValueError(f"In a fold with {len(train)} training samples: {error}") from error


def _score_fold(task: Task, train: Samples, test: Samples) -> tuple[list[float], list[int], float]:
    """Scores and numbers of groups of all combinations on one fold, and its training samples."""
    check_total_weight(train.count)
    if test.count == 0:
        raise ValueError("the held-out samples have no weight.")
    statistics: Statistics = ArrayStatistics.from_data(train.X, train.y, weights=train.weights)
    if not statistics.varying.any():
        raise ValueError("Every column of X is constant: use fewer or larger folds.")
    if statistics.varying.size <= _MOST_CACHED:
        statistics = CachedStatistics.of(statistics)
    standard = task.units == "standardized"
    mean, scale = (statistics.mean, statistics.scale) if standard else (None, None)
    known: dict[bytes, float] = {}
    scores, sizes = [], []
    for labels, size in _groupings(task, statistics):
        key = labels.tobytes()
        if key not in known:  # neighbouring tolerances often give the same groups
            reduced = [
                group_means(part.X, labels, size, mean=mean, scale=scale) for part in (train, test)
            ]
            fitted = fit_weighted(task.estimator, reduced[0], train)
            known[key] = _score(task.scorer, fitted, reduced[1], test)
        scores.append(known[key])
        sizes.append(size)
    return scores, sizes, train.count


def _score(scorer: Any, fitted: Any, X: npt.NDArray[Any], test: Samples) -> float:
    if test.weights is None:
        return float(scorer(fitted, X, test.y))
    try:
        return float(scorer(fitted, X, test.y, sample_weight=test.weights))
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise
        raise ValueError(f"The scoring {scorer!r} does not take sample_weight.") from error


def _groupings(task: Task, statistics: Statistics) -> Iterator[tuple[IndexArray, int]]:
    """Labels and number of groups of each combination, from the same statistics."""
    # Once: the noise may take a regression on all features.
    first = Criterion.of(statistics, noise=task.noise, min_correlation=task.min_correlation)
    criteria = [replace(first, tolerance=tolerance) for tolerance in task.tolerances]
    for strategy in task.strategies:
        if strategy in PATHS:
            path = PATHS[strategy](statistics, first)
            for criterion in criteria:
                size = path.n_groups(criterion.tolerance)
                yield path.partition(size).labels, size
        else:
            for criterion in criteria:
                partition = PARTITIONS[strategy](statistics, criterion)
                yield partition.labels, len(partition.groups)
