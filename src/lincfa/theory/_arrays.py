"""Arithmetic shared by the theory: conversion to float arrays, and division with a given 0/0."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray: TypeAlias = NDArray[np.float64]


def floats(*values: ArrayLike) -> tuple[FloatArray, ...]:
    """Convert every argument to a float64 array."""
    return tuple(np.asarray(value, dtype=np.float64) for value in values)


def divide(numerator: ArrayLike, denominator: ArrayLike, *, zero_by_zero: float) -> FloatArray:
    """Divide without warnings: x/0 is ±inf and 0/0 is ``zero_by_zero``, never NaN."""
    numerator, denominator = floats(numerator, denominator)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        quotient = numerator / denominator
    undefined = (numerator == 0) & (denominator == 0)
    return np.where(undefined, zero_by_zero, quotient)[()]


def contrast_square(contrast: FloatArray, gap: FloatArray) -> FloatArray:
    """Return contrast²/(2·gap), and 0 for a gap of 0, where the contrast is 0 up to rounding.

    With 1 − ρ as gap this is what the difference between two features explains, or the bias that
    merging them costs; with 1 + ρ it is what their mean explains.
    """
    quotient = divide(contrast**2, 2 * gap, zero_by_zero=0.0)
    return np.where(gap > 0, quotient, 0.0)[()]
