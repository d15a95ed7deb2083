"""The scores of a cross-validation, and the combination they favour."""

import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._data._checks import stack_level
from .._rule import tolerance_value
from ..theory._arrays import FloatArray
from ._folds import FoldScores, Shrinkage

Combination: TypeAlias = tuple[str, Any, float | None, Shrinkage]
"""Strategy, tolerance, smallest correlation, and how weights are shrunk."""

_ROUNDING = 1e-9
_SPARE = 0.7
"""Standard errors by which a combination may be below what merges least, and not count as worse."""


def tabulate(
    combinations: Sequence[Combination], folds: Sequence[FoldScores], max_groups: float | None
) -> dict[str, npt.NDArray[Any]]:
    """Put the scores of all combinations into one table, shrinkages running fastest."""
    scores = np.array([fold.scores.ravel() for fold in folds])
    # Each held-out sample counts the same, in whichever fold it is.
    mean = np.average(scores, axis=0, weights=[fold.n_test for fold in folds])
    n_shrinkages = folds[0].scores.shape[1]
    sizes = np.repeat(np.mean([fold.n_groups for fold in folds], axis=0), n_shrinkages)
    strategies, tolerances, least, shrinkages = zip(*combinations, strict=True)
    penalties, rescaled = zip(*shrinkages, strict=True)
    columns = {
        "strategy": np.array(strategies, dtype=object),
        "tolerance": np.array([tolerance_value(tolerance) for tolerance in tolerances]),
        "min_correlation": np.array([-1.0 if value is None else value for value in least]),
    }
    if penalties[0] is not None:
        columns["penalty"] = np.array(penalties, dtype=np.float64)
    if any(rescaled):
        columns["rescaled"] = np.array(rescaled)
    # A penalty takes care of any number of groups.
    limit = np.inf if max_groups is None else max_groups * np.mean([f.n_train for f in folds])
    eligible = (sizes <= limit) | np.array([bool(penalty) for penalty in penalties])
    eligible &= np.isfinite(sizes)  # of what was left out
    ranked = np.where(np.isfinite(mean), mean, -np.inf)  # what was not tried comes last
    results: dict[str, npt.NDArray[Any]] = columns | {
        "mean_n_groups": sizes,
        "eligible": eligible,
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": 1 + (ranked[:, None] < ranked).sum(axis=1),
    }
    return results | {f"split{k}_test_score": row for k, row in enumerate(scores)}


def choose(
    results: dict[str, npt.NDArray[Any]],
    folds: Sequence[FoldScores],
    rule: str,
    near: Callable[[float], float] = lambda score: 0.0,
) -> int:
    """Return the row with the fewest groups among those that the rule takes for the best.

    Only "near_best" needs folds, and what is near.
    """
    mean, eligible = results["mean_test_score"], results["eligible"]
    if not eligible.any():
        warnings.warn(
            "Every combination leaves more groups than max_groups allows; the best was chosen "
            "anyway. Try larger tolerances, or a ridge regression with penalties above 0.",
            UserWarning,
            stacklevel=stack_level(),
        )
        eligible = np.isfinite(results["mean_n_groups"])  # all but what was left out
    if not np.isfinite(mean[eligible]).all():
        raise ValueError("Some scores are not finite; use another scoring or fewer folds.")
    rows = np.flatnonzero(eligible)
    # Scores that differ by rounding only, as those of perfect fits, count as equal.
    slack = _ROUNDING * np.abs(mean[rows]).max()
    if rule == "near_best":
        rows = rows[_not_worse(results, folds, rows, near)]
        slack = max(slack, near(float(mean[rows].max())))
    elif rule == "one_standard_error":
        slack = max(slack, standard_errors(results)[rows[mean[rows].argmax()]])
    good = rows[mean[rows] >= mean[rows].max() - slack]
    return int(good[np.lexsort((-mean[good], results["mean_n_groups"][good]))[0]])


def _not_worse(
    results: dict[str, npt.NDArray[Any]],
    folds: Sequence[FoldScores],
    rows: npt.NDArray[np.intp],
    near: Callable[[float], float],
) -> npt.NDArray[np.bool_]:
    """Which rows are not worse than what merges least, as far as the held-out samples can tell."""
    # With few samples the best of many is best by chance, and what merges much varies most. So it
    # has to prove itself: with some of its standard error to spare, against hardly merging at all.
    mean, sizes = results["mean_test_score"][rows], results["mean_n_groups"][rows]
    least = np.flatnonzero(sizes == sizes.max())
    reference = least[mean[least].argmax()]
    scores = np.array([fold.scores.ravel()[rows] for fold in folds])
    weights = np.array([fold.n_test for fold in folds])
    difference = scores - scores[:, [reference]]
    above = np.average(difference, axis=0, weights=weights)
    variance = np.average((difference - above) ** 2, axis=0, weights=weights)
    # Repeated folds hold out the same samples again.
    independent = len(folds) * (folds[0].n_train + folds[0].n_test) / weights.sum()
    error = np.sqrt(variance / max(independent - 1, 1))
    return np.asarray(above - _SPARE * error >= -near(float(mean[reference])))


def standard_errors(results: dict[str, npt.NDArray[Any]]) -> FloatArray:
    """Return standard errors of the mean scores, as if the folds were independent."""
    splits = sum(name.startswith("split") for name in results)
    return np.asarray(results["std_test_score"] / np.sqrt(max(splits - 1, 1)))


def ways_of_merging(results: dict[str, npt.NDArray[Any]]) -> list[tuple[Any, ...]]:
    """Return what identifies the way of merging of each row: all but the shrinkage."""
    names = ("strategy", "tolerance", "min_correlation")
    return list(zip(*(results[name] for name in names), strict=True))


def best_penalties(results: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.intp]:
    """Return the row of the best penalty for each way of merging, of those that may be chosen."""
    ways = ways_of_merging(results)
    starts = [k for k in range(len(ways)) if k == 0 or ways[k] != ways[k - 1]]
    score = np.where(results["eligible"], results["mean_test_score"], -np.inf)
    bounds = pairwise([*starts, len(ways)])
    return np.array([start + int(score[start:stop].argmax()) for start, stop in bounds])


# How long a choice takes, before it is made


_PER_FOLD, _PER_VALUE, _PER_PRODUCT, _PER_PAIR = 0.05, 1.5e-7, 6e-10, 3e-8
"""Seconds on one core, measured on tables of 60 to 20 000 samples and 100 to 10 000 features."""


def estimated_seconds(n_samples: int, n_features: int, n_folds: int) -> float:
    """Estimate the time of ``LinCFACV`` on a table in memory, to a factor of about two."""
    values = n_samples * n_features
    products = values * min(n_samples, n_features)  # of the regressions
    each = _PER_VALUE * values + _PER_PRODUCT * products + _PER_PAIR * n_features**2
    return n_folds * (_PER_FOLD + each)
