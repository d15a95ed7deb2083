"""Standardised columns, with care for extreme units and for means much larger than the scale."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._pairs import ROUNDING


def standardize(
    values: npt.NDArray[Any], precision: float
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Centre and scale columns to unit sample variance.

    The mean is corrected by the mean of what it leaves, and squares are taken of values of at most
    1, so that neither a mean much larger than the scale nor an extreme unit costs digits.

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
    with np.errstate(over="ignore", invalid="ignore"):
        mean = columns.mean(axis=0)
        columns -= mean
        correction = columns.mean(axis=0)
        columns -= correction
        mean += correction
        peak = np.abs(columns).max(axis=0)
        varying = ~is_constant(peak, mean, precision)
        peak[~varying] = 1.0
        columns /= peak
        columns[:, ~varying] = 0.0
        relative = np.sqrt(np.einsum("ij,ij->j", columns, columns) / (columns.shape[0] - 1))
        relative[~varying] = 1.0
        columns /= relative
    return columns, mean, peak * relative, varying


def is_constant(
    peak: FloatArray, mean: FloatArray, precision: float | FloatArray
) -> npt.NDArray[np.bool_]:
    """Whether a column differs from its mean by no more than ``peak`` because of rounding."""
    return np.asarray(peak <= ROUNDING * precision * np.abs(mean))
