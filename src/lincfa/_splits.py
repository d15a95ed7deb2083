"""Which samples each fold of a cross-validation learns from, and which it scores."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedKFold, check_cv

from ._dask import compute
from ._input import MIN_SAMPLES, is_dask
from ._statistics import IndexArray
from .theory._arrays import FloatArray

_SPLITS, _PREDICTIONS = 5, 200


def splits(
    cv: Any, X: Any, y: FloatArray, groups: Any, weighted: bool
) -> Iterator[tuple[IndexArray, IndexArray]]:
    """Give the samples of each fold: to learn from, and to score."""
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
                f"A fold has {len(train)} samples to learn the groups from, which takes at "
                f"least {MIN_SAMPLES}; use fewer or larger folds."
            )
        yield train, test


def default_folds(n: int) -> RepeatedKFold:
    """Five shuffled folds, repeated until enough held-out predictions are scored."""
    repeats = min(10, max(1, -(-_PREDICTIONS // n)))
    return RepeatedKFold(n_splits=min(_SPLITS, n), n_repeats=repeats, random_state=0)
