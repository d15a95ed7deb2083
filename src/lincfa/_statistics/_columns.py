"""What concerns single columns: means, scales and correlations with the target, in one pass."""

from typing import NoReturn

import numpy as np
import numpy.typing as npt

from .._data._columns import Columns
from .._data._training import Training
from ..theory._arrays import FloatArray
from ._pairs import ROUNDING
from ._standardize import standardize
from ._tiles import column_squares, take_columns, tiles

_SHIFT_ROWS = 8
_MODERATE_OFFSET = 8.0
"""Distance of shift and mean, in scales, up to which the shifted sums keep their digits."""
_TINY_VARIANCE = 1e-280
"""Variance below which squares may have lost digits to underflow."""
_LARGEST_UNIT = 1e304
"""Beyond this, and below its inverse, sums of products would leave the range of float64."""
_DELICATE_VALUES = 2**19


def standardize_target(
    y: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, float]:
    """Standardise the target; refuse a constant one."""
    target, _, scale, varies = standardize(y.reshape(-1, 1), np.finfo(np.float64).eps, weights)
    if not np.isfinite(scale[0]):
        raise ValueError("Values too large for float64 in the target y; rescale it first.")
    if not varies[0]:
        refuse_constant_target(y[0] if weights is None else y[weights > 0][0])
    return target[:, 0], float(scale[0])


def refuse_constant_target(value: float) -> NoReturn:
    """Say that the target is constant, and what that means."""
    raise ValueError(
        f"The target y is constant (all values are {value:g}): nothing supervises the reduction."
    )


def column_moments(
    training: Training, target: FloatArray
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_], FloatArray]:
    """Means, scales, which columns vary, and correlations with the target, in one pass.

    Sums are taken of the distance to a shift, the mean of a few rows: then they keep their digits
    also where the mean is much larger than the scale. The few columns that this does not suit (the
    shift is far off, the unit extreme, the values constant or not finite) are done once more, with
    care.
    """
    X, weights = training.values, training.weights
    rows_of_x, D = X.shape
    counts = np.ones(rows_of_x) if weights is None else weights
    roots = None if weights is None else np.sqrt(weights)[:, None]
    weighted_target = counts * target
    n = counts.sum()
    degrees = n - 1
    sums, squares, products = np.zeros((3, D))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        some_rows = np.asarray(
            X[:: max(1, rows_of_x // _SHIFT_ROWS)][:_SHIFT_ROWS], dtype=np.float64
        )
        shift: FloatArray = some_rows.mean(axis=0)
        for rows, columns, tile in tiles(X):
            np.subtract(X[rows, columns], shift[columns], out=tile)
            sums[columns] += counts[rows] @ tile
            products[columns] += weighted_target[rows] @ tile
            if roots is not None:
                tile *= roots[rows]
            squares[columns] += column_squares(tile)
        offset = sums / n
        mean = shift + offset
        variance = (squares - sums * offset) / degrees
        scale = np.sqrt(variance)
        correlation = (products - offset * weighted_target.sum()) / (degrees * scale)
        precision = float(np.finfo(X.dtype).eps)
        sound = (
            np.isfinite(variance)
            & (variance > _TINY_VARIANCE)
            & (np.abs(offset) <= _MODERATE_OFFSET * scale)
            & (scale > 2 * ROUNDING * precision * np.abs(mean))
        )
    varying = np.ones(D, dtype=np.bool_)
    delicate = np.flatnonzero(~sound)
    if not np.isfinite(squares[delicate]).all():
        training.check_finite()
    step = max(1, _DELICATE_VALUES // rows_of_x)
    for start in range(0, delicate.size, step):
        part = delicate[start : start + step]
        values = take_columns(X, slice(None), part)
        standard, mean[part], scale[part], varying[part] = standardize(values, precision, weights)
        correlation[part] = standard.T @ weighted_target / degrees
    _check_scales(mean, scale, training.columns)
    return mean, scale, varying, correlation


def _check_scales(mean: FloatArray, scale: FloatArray, columns: Columns) -> None:
    """Refuse columns whose unit float64 cannot hold."""
    for kind, wrong in (
        ("large", ~(np.abs(mean) + scale < _LARGEST_UNIT)),
        ("small", scale < 1 / _LARGEST_UNIT),
    ):
        if wrong.any():
            raise ValueError(
                f"Values too {kind} for float64 in "
                f"{columns.describe(np.flatnonzero(wrong).tolist())}; rescale first."
            )
