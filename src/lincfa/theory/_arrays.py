"""Arithmetic with stated limits: float arrays, division with a chosen 0/0, inverse matrices."""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]

_RIDGES = (0.0, 1e-10, 1e-8, 1e-6, 1e-3)
"""Shares added to the diagonal, in turn, until the inverse can be trusted."""

_LARGEST_INFLATION = 1e11
"""Variance inflation (diagonal of the inverse, at unit diagonal) up to which it can be."""

_SMALLEST_VARIANCE = 1e-13
"""Sums that cancel, of mirror images, vary by rounding only."""


def floats(*values: npt.ArrayLike) -> tuple[FloatArray, ...]:
    """Convert every argument to a float64 array; they broadcast against each other as usual."""
    return tuple(np.asarray(value, dtype=np.float64) for value in values)


def divide(
    numerator: npt.ArrayLike, denominator: npt.ArrayLike, *, zero_by_zero: float
) -> FloatArray:
    """Divide without warnings: x/0 is ±inf and 0/0 is ``zero_by_zero``, never NaN."""
    numerator, denominator = floats(numerator, denominator)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = numerator / denominator
    zero = denominator == 0
    if not zero.any():
        return np.asarray(quotient)[()]
    return np.where(zero & (numerator == 0), zero_by_zero, quotient)[()]


def contrast_square(contrast: FloatArray, gap: FloatArray) -> FloatArray:
    """Return contrast²/(2·gap), and 0 where the gap is 0: there the contrast is only rounding.

    With 1 − ρ as gap this is what the difference of two features explains, or what merging them
    costs in bias; with 1 + ρ, what their mean explains.
    """
    known = gap > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = contrast**2 / (2 * gap)
    return quotient[()] if known.all() else np.where(known, quotient, 0.0)[()]


def inverse(gram: FloatArray) -> tuple[FloatArray, bool]:
    """Invert a symmetric matrix with a positive diagonal.

    Where columns are dependent, or so nearly that the inverse would be rounding, a tiny share of
    the diagonal is added: a direction in which the columns hardly vary then has a huge but finite
    variance, and the others keep some six digits.

    Returns
    -------
    inverse : array
    singular : bool
        Whether something was added.
    """
    scale = 1 / np.sqrt(np.maximum(np.diagonal(gram), _SMALLEST_VARIANCE))
    unit = gram * scale
    unit *= scale[:, None]
    for ridge in _RIDGES:
        unit[np.diag_indices_from(unit)] = 1 + ridge
        try:
            np.linalg.cholesky(unit)  # the inverse of a matrix that is not positive means nothing
            full = np.asarray(np.linalg.inv(unit), dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
        # Of either sign: that of rounding may be negative.
        if ridge or np.abs(np.diagonal(full)).max() <= _LARGEST_INFLATION:
            break
    full = (full + full.T) / 2
    full *= scale
    full *= scale[:, None]
    return full, bool(ridge)
