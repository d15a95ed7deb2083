"""Folds of a cross-validation: all strategies and tolerances on the same statistics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold, check_cv

from .._data._dask._compute import compute
from .._data._input import MIN_SAMPLES, is_dask
from .._data._weights import check_total_weight
from .._grouping import PATHS, partition_in_order
from .._grouping._constraint import Constraint
from .._rule import Rule
from .._statistics import IndexArray, Statistics
from ._samples import Fold, Grouping, Outcomes, Samples

_SPLITS, _PREDICTIONS = 5, 200


@dataclass(frozen=True)
class Task:
    """What one fold has to try."""

    strategies: Sequence[str]
    tolerances: Sequence[float]
    noise: Any
    min_correlation: float | None
    constraint: Constraint
    units: str
    estimator: Any
    scorer: Any


def splits(
    cv: Any, X: Any, y: npt.NDArray[Any], groups: Any, weighted: bool
) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Give the training and the held-out samples of each fold."""
    n = len(y)
    if cv is None:
        if n < MIN_SAMPLES + 2:
            raise ValueError(f"Cross-validation needs at least {MIN_SAMPLES + 2} samples, got {n}.")
        cv = default_folds(n)
    if is_dask(X):
        X, groups = np.zeros((n, 1)), compute(groups)  # few splitters look at more
    samples = np.arange(n)
    for split in check_cv(cv).split(X, y, groups):
        train, test = (samples[part] for part in split)
        if not weighted and len(train) < MIN_SAMPLES:
            raise ValueError(
                f"A fold has {len(train)} samples to learn the groups from, which takes at least "
                f"{MIN_SAMPLES}; use fewer or larger folds."
            )
        yield train, test


def default_folds(n: int) -> RepeatedKFold:
    """Five shuffled folds, repeated until enough held-out predictions are scored."""
    repeats = min(10, max(1, -(-_PREDICTIONS // n)))
    return RepeatedKFold(n_splits=min(_SPLITS, n), n_repeats=repeats, random_state=0)


def fit_weighted(estimator: Any, X: npt.NDArray[Any], outcomes: Outcomes) -> Any:
    """Fit a clone of an estimator to reduced features, with the weights if there are any."""
    if outcomes.weights is None:
        return clone(estimator).fit(X, outcomes.y)
    return clone(estimator).fit(X, outcomes.y, sample_weight=outcomes.weights)


def try_fold(
    task: Task, samples: Samples, train: IndexArray, test: IndexArray
) -> tuple[list[float], list[int], float]:
    """Try all combinations on one fold; errors say that it is a fold."""
    try:
        return _score_fold(task, samples.fold(train, test))
    except ValueError as error:
        raise ValueError(f"In a fold with {len(train)} training samples: {error}") from error


def _score_fold(task: Task, fold: Fold) -> tuple[list[float], list[int], float]:
    """Scores and numbers of groups of all combinations on one fold, and its training samples."""
    check_total_weight(fold.train.count)
    if fold.test.count == 0:
        raise ValueError("the held-out samples have no weight.")
    statistics = fold.statistics()
    if not statistics.varying.any():
        raise ValueError("Every column of X is constant: use fewer or larger folds.")
    standard = task.units == "standardized"
    mean, scale = (statistics.mean, statistics.scale) if standard else (None, None)
    places: dict[bytes, int] = {}
    which, sizes = [], []

    def distinct() -> Iterator[Grouping]:
        """Neighbouring tolerances often give the same groups."""
        for labels, size in _groupings(task, statistics):
            key = labels.tobytes()
            new = key not in places
            which.append(places.setdefault(key, len(places)))
            sizes.append(size)
            if new:
                yield labels, size

    scores = [
        _score(task.scorer, fit_weighted(task.estimator, train, fold.train), test, fold.test)
        for train, test in fold.reduced(distinct(), mean, scale)
    ]
    return [scores[place] for place in which], sizes, fold.train.count


def _score(scorer: Any, fitted: Any, X: npt.NDArray[Any], test: Outcomes) -> float:
    if test.weights is None:
        return float(scorer(fitted, X, test.y))
    try:
        return float(scorer(fitted, X, test.y, sample_weight=test.weights))
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise
        raise ValueError(f"The scoring {scorer!r} does not take sample_weight.") from error


def _groupings(task: Task, statistics: Statistics) -> Iterator[Grouping]:
    """Labels and number of groups of each combination, from the same statistics."""
    # Once: the noise may take a regression on all features.
    first = Rule.of(statistics, noise=task.noise, min_correlation=task.min_correlation)
    rules = [replace(first, tolerance=tolerance) for tolerance in task.tolerances]
    for strategy in task.strategies:
        if strategy in PATHS:
            path = PATHS[strategy](statistics, first, task.constraint)
            for rule in rules:
                size = path.n_groups(rule.tolerance)
                yield path.partition(size).labels, size
        else:
            for rule in rules:
                partition = partition_in_order(strategy, statistics, rule, task.constraint)
                yield partition.labels, len(partition.groups)
