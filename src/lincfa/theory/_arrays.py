"""Arithmetic of the theory: float arrays, division with a given 0/0, inverse matrices."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]

_RIDGES = (0.0, 1e-10, 1e-8, 1e-6, 1e-3)
"""Shares added to the diagonal, one after another, until the inverse is reliable."""

_LARGEST_INFLATION = 1e11
"""Largest variance inflation (diagonal of the inverse, for unit diagonal) of a reliable inverse."""

_SMALLEST_VARIANCE = 1e-13
"""Below this, the variance of a sum that cancels (mirror images) is rounding."""


def floats(*values: ArrayLike) -> tuple[FloatArray, ...]:
    """Convert every argument to a float64 array."""
    return tuple(np.asarray(value, dtype=np.float64) for value in values)


def divide(numerator: ArrayLike, denominator: ArrayLike, *, zero_by_zero: float) -> FloatArray:
    """Divide without warnings: x/0 is ±inf and 0/0 is ``zero_by_zero``, never NaN."""
    numerator, denominator = floats(numerator, denominator)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = numerator / denominator
    zero = denominator == 0
    if not zero.any():
        return np.asarray(quotient)[()]
    return np.where(zero & (numerator == 0), zero_by_zero, quotient)[()]


def contrast_square(contrast: FloatArray, gap: FloatArray) -> FloatArray:
    """Return contrast²/(2·gap), and 0 for a gap of 0, where the contrast is 0 up to rounding."""
    # With 1 − ρ as gap this is what the difference between two features explains, or the bias that
    # merging them costs; with 1 + ρ it is what their mean explains.
    known = gap > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = contrast**2 / (2 * gap)
    return quotient[()] if known.all() else np.where(known, quotient, 0.0)[()]


def inverse(gram: FloatArray) -> tuple[FloatArray, bool]:
    """Invert a symmetric matrix with a positive diagonal."""
    # If columns are linearly dependent, or so nearly that the inverse would be rounding, a tiny
    # share of the diagonal is added: a direction along which the columns hardly vary then has a
    # huge but finite variance, and the others keep about six digits. Also returns whether something
    # was added.
    scale = 1 / np.sqrt(np.maximum(np.diagonal(gram), _SMALLEST_VARIANCE))
    unit = gram * scale
    unit *= scale[:, None]
    for ridge in _RIDGES:
        unit[np.diag_indices_from(unit)] = 1 + ridge
        try:
            np.linalg.cholesky(unit)  # raises unless positive definite
            full = np.asarray(np.linalg.inv(unit), dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
        # The absolute value, because rounding may make it negative.
        if ridge or np.abs(np.diagonal(full)).max() <= _LARGEST_INFLATION:
            break
    full = (full + full.T) / 2
    full *= scale
    full *= scale[:, None]
    return full, bool(ridge)
