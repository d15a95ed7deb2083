"""Weights of samples: how many samples each row counts for."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._input import MIN_SAMPLES, are_enough, real_numbers, validate_training
from ._names import Names


def validate_weighted(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64], npt.NDArray[np.float64] | None, Names | None]:
    """Check X, y and weights for a fit; rows without weight are left out.

    Returns
    -------
    X, y, names
        As of :func:`validate_training`.
    weights : array of shape (n,) or None
        As of :func:`validate_weights`, all positive.
    """
    fewest = MIN_SAMPLES if sample_weight is None else 1
    X, y, names = validate_training(estimator, X, y, min_samples=fewest)
    weights = validate_weights(sample_weight, len(y))
    check_total_weight(len(y) if weights is None else weights.sum())
    if weights is not None and not weights.all():
        counted = weights > 0
        X, y, weights = X[counted], y[counted], weights[counted]
        weights = None if (weights == 1).all() else weights
    return X, y, weights, names


def validate_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Check the weights of samples; None where each counts once."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked values: give such rows the weight 0.")
    weights = real_numbers(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one weight per sample, shape ({n_rows},), "
            f"got {weights.shape}."
        )
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise ValueError(
            f"sample_weight must be finite and not negative, but is {weights[wrong[0]]} in row "
            f"{wrong[0]}."
        )
    with np.errstate(over="ignore"):
        check_finite_total(weights.sum())
    return None if (weights == 1).all() else weights


def check_finite_total(total: float) -> None:
    """Refuse weights that add up to infinity."""
    if not np.isfinite(total):
        raise ValueError("sample_weight adds up to more than float64 can hold.")


def check_total_weight(total: float) -> None:
    """Refuse weights that amount to fewer samples than a fit needs."""
    check_finite_total(total)
    if total == 0:
        raise ValueError("All of sample_weight is zero: no sample counts.")
    if not are_enough(total):
        raise ValueError(
            f"sample_weight counts samples, and adds up to {total:g} of them; a minimum of "
            f"{MIN_SAMPLES} is required. If only the ratios of the weights mean something, "
            "multiply them by len(y) / sum(sample_weight)."
        )
