"""The folds of a cross-validation: all strategies and tolerances on the same statistics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import RepeatedKFold, check_cv

from .._data._checks import MIN_SAMPLES, check_total_weight, computed
from .._data._training import Training
from .._grouping import PATHS, partition_in_order
from .._grouping._constraint import Constraint
from .._rule import Rule
from .._statistics import IndexArray, Statistics
from ._samples import ArrayFold, ChunkFold, Grouping, Outcomes, Samples

_SPLITS, _PREDICTIONS = 5, 200


@dataclass(frozen=True)
class Candidates:
    """The combinations of strategies and tolerances to try, and what they share."""

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
    n = len(y)
    if cv is None:
        if n < MIN_SAMPLES + 2:
            raise ValueError(f"Cross-validation needs at least {MIN_SAMPLES + 2} samples, got {n}.")
        cv = default_folds(n)
    samples = np.arange(n)
    for split in check_cv(cv).split(X, y, computed(groups)):
        train, test = (samples[part] for part in split)
        if not weighted and len(train) < MIN_SAMPLES:
            raise ValueError(
                f"A fold has {len(train)} training samples, but the groups need at least "
                f"{MIN_SAMPLES}; use fewer folds."
            )
        yield train, test


def default_folds(n: int) -> RepeatedKFold:
    """Five shuffled folds, repeated until there are enough held-out predictions."""
    repeats = min(10, max(1, -(-_PREDICTIONS // n)))
    return RepeatedKFold(n_splits=min(_SPLITS, n), n_repeats=repeats, random_state=0)


def fit_weighted(estimator: Any, X: npt.NDArray[Any], outcomes: Outcomes | Training) -> Any:
    if outcomes.weights is None:
        return clone(estimator).fit(X, outcomes.y)
    return clone(estimator).fit(X, outcomes.y, sample_weight=outcomes.weights)


def score_fold(
    candidates: Candidates,
    samples: Samples,
    train: IndexArray,
    test: IndexArray,
) -> tuple[list[float], list[int], float]:
    """Score all combinations on one fold; error messages mention the fold."""
    try:
        return _score_combinations(candidates, samples.fold(train, test))
    except ValueError as error:
        raise ValueError(f"In a fold with {len(train)} training samples: {error}") from error


def _score_combinations(
    candidates: Candidates, fold: ArrayFold | ChunkFold
) -> tuple[list[float], list[int], float]:
    """Return scores and numbers of groups of all combinations, and the training samples."""
    check_total_weight(fold.train.n_samples)
    if fold.test.n_samples == 0:
        raise ValueError("the held-out samples have no weight.")
    statistics = fold.statistics()
    if not statistics.varying.any():
        raise ValueError("every column of X is constant; use fewer folds.")
    standard = candidates.units == "standardized"
    mean, scale = (statistics.mean, statistics.scale) if standard else (None, None)
    places: dict[bytes, int] = {}
    which, sizes = [], []

    def distinct() -> Iterator[Grouping]:
        """Neighbouring tolerances often give the same groups."""
        for labels, size in _groupings(candidates, statistics):
            key = labels.tobytes()
            new = key not in places
            which.append(places.setdefault(key, len(places)))
            sizes.append(size)
            if new:
                yield labels, size

    scores = [
        _score(
            candidates.scorer,
            fit_weighted(candidates.estimator, train, fold.train),
            test,
            fold.test,
        )
        for train, test in fold.reduced(distinct(), mean, scale)
    ]
    return [scores[place] for place in which], sizes, fold.train.n_samples


def _score(scorer: Any, fitted: Any, X: npt.NDArray[Any], test: Outcomes | Training) -> float:
    if test.weights is None:
        return float(scorer(fitted, X, test.y))
    try:
        return float(scorer(fitted, X, test.y, sample_weight=test.weights))
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise
        raise ValueError(f"The scoring {scorer!r} does not take sample_weight.") from error


def _groupings(candidates: Candidates, statistics: Statistics) -> Iterator[Grouping]:
    """Yield labels and number of groups of each combination, from the same statistics."""
    # Once: the noise may need a regression on all features.
    first = Rule.of(statistics, noise=candidates.noise, min_correlation=candidates.min_correlation)
    rules = [replace(first, tolerance=tolerance) for tolerance in candidates.tolerances]
    for strategy in candidates.strategies:
        if strategy in PATHS:
            path = PATHS[strategy](statistics, first, candidates.constraint)
            for rule in rules:
                size = path.n_groups(rule.tolerance)
                yield path.partition(size).labels, size
        else:
            for rule in rules:
                partition = partition_in_order(strategy, statistics, rule, candidates.constraint)
                yield partition.labels, len(partition.groups)
