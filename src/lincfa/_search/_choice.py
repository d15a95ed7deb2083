"""The scores of a cross-validation, and the combination they favour."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._checks import stack_level

_ROUNDING = 1e-9


def tabulate(
    chosen: list[tuple[str, Any]],
    tolerances: Sequence[float],
    folds: list[Any],
    max_groups: float | None,
) -> dict[str, npt.NDArray[Any]]:
    scores = np.array([fold[0] for fold in folds])
    mean = scores.mean(axis=0)
    sizes = np.mean([fold[1] for fold in folds], axis=0)
    limit = np.inf if max_groups is None else max_groups * np.mean([fold[2] for fold in folds])
    eligible = sizes <= limit
    results: dict[str, npt.NDArray[Any]] = {
        "strategy": np.array([strategy for strategy, _ in chosen], dtype=object),
        "tolerance": np.tile(np.array(tolerances), len(chosen) // len(tolerances)),
        "mean_n_groups": sizes,
        "eligible": eligible,
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": 1 + (mean[:, None] < mean).sum(axis=1),
    }
    return results | {f"split{k}_test_score": row for k, row in enumerate(scores)}


def choose(results: dict[str, npt.NDArray[Any]], rule: str) -> int:
    """Return the row of the best score, or of the fewest groups within one standard error."""
    mean, eligible = results["mean_test_score"], results["eligible"]
    if not eligible.any():
        warnings.warn(
            "LinCFACV: every combination leaves more groups than max_groups allows; the best was "
            "chosen anyway. Try larger tolerances or more strategies.",
            UserWarning,
            stacklevel=stack_level(),
        )
        eligible = np.ones_like(eligible)
    if not np.isfinite(mean[eligible]).all():
        raise ValueError("Some scores are not finite; use another scoring or fewer folds.")
    # Scores that differ by rounding only, as those of perfect fits, count as equal: the first wins.
    rounding = _ROUNDING * np.abs(mean[eligible]).max()
    best = int(np.flatnonzero(eligible & (mean >= mean[eligible].max() - rounding))[0])
    if rule == "best":
        return best
    good = np.flatnonzero(eligible & (mean >= mean[best] - standard_errors(results)[best]))
    return int(good[np.lexsort((-mean[good], results["mean_n_groups"][good]))[0]])


def standard_errors(results: dict[str, npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Return standard errors of the mean scores, as if the folds were independent."""
    splits = sum(name.startswith("split") for name in results)
    return np.asarray(results["std_test_score"] / np.sqrt(max(splits - 1, 1)))
