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


def try_fold(
    task: Task, X: npt.NDArray[Any], y: npt.NDArray[Any], train: IndexArray, test: IndexArray
) -> tuple[list[float], list[int], int]:
    """Try all combinations on one fold; errors say that it is a fold."""
    try:
        return _score_fold(task, X[train], y[train], X[test], y[test])
    except ValueError as error:
        raise ValueError(f"In a fold with {len(train)} training samples: {error}") from error


def _score_fold(
    task: Task,
    X_train: npt.NDArray[Any],
    y_train: npt.NDArray[Any],
    X_test: npt.NDArray[Any],
    y_test: npt.NDArray[Any],
) -> tuple[list[float], list[int], int]:
    """Scores and numbers of groups of all combinations on one fold, and its training samples."""
    statistics: Statistics = ArrayStatistics.from_data(X_train, y_train)
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
                group_means(part, labels, size, mean=mean, scale=scale)
                for part in (X_train, X_test)
            ]
            fitted = clone(task.estimator).fit(reduced[0], y_train)
            known[key] = float(task.scorer(fitted, reduced[1], y_test))
        scores.append(known[key])
        sizes.append(size)
    return scores, sizes, len(y_train)


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
