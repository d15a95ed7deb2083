"""Standardised columns, with care for extreme units and for means much larger than the scale."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._pairs import ROUNDING


def standardize(
    values: npt.NDArray[Any], precision: float, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Centre and scale columns to unit sample variance.

    The mean is corrected by the mean of what it leaves, and squares are taken of values of at most
    1, so that neither a mean much larger than the scale nor an extreme unit costs digits. With
    weights, a row counts as that many rows; values of rows without weight do not matter.

    Returns
    -------
    columns : array of shape (n, D), float64, column-contiguous
    mean, scale : arrays of shape (D,)
        ``scale`` is 1 where the column is constant.
    varying : array of shape (D,)
        Whether the values differ by more than their rounding.
    """
    # Column by column in memory, whatever the order given: the sums do not depend on it.
    columns = np.array(values, dtype=np.float64, order="F")
    n = columns.shape[0] if weights is None else weights.sum()
    counted = slice(None) if weights is None else weights > 0
    with np.errstate(over="ignore", invalid="ignore"):
        mean = _column_means(columns, weights)
        columns -= mean
        correction = _column_means(columns, weights)
        columns -= correction
        mean += correction
        peak = np.abs(columns[counted]).max(axis=0)
        varying = ~is_constant(peak, mean, precision)
        peak[~varying] = 1.0
        columns /= peak
        columns[:, ~varying] = 0.0
        relative = np.sqrt(_sums_of_squares(columns, weights) / (n - 1))
        relative[~varying] = 1.0
        columns /= relative
    return columns, mean, peak * relative, varying


def _column_means(columns: FloatArray, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        return np.asarray(columns.mean(axis=0))
    return np.asarray(weights @ columns / weights.sum())


def _sums_of_squares(columns: FloatArray, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        return np.asarray(np.einsum("ij,ij->j", columns, columns))
    return np.asarray(np.einsum("i,ij,ij->j", weights, columns, columns))


def is_constant(
    peak: FloatArray, mean: FloatArray, precision: float | FloatArray
) -> npt.NDArray[np.bool_]:
    """Whether a column differs from its mean by no more than ``peak`` because of rounding."""
    return np.asarray(peak <= ROUNDING * precision * np.abs(mean))
