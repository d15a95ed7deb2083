"""Inverses of matrices of products of columns, also of nearly dependent ones."""

import numpy as np

from ..theory._arrays import FloatArray

_RIDGES = (0.0, 1e-10, 1e-8, 1e-6, 1e-3)
"""Shares added to the diagonal, in turn, until the inverse can be trusted."""

_LARGEST_INFLATION = 1e11
"""Variance inflation (diagonal of the inverse, at unit diagonal) up to which it can be."""

_SMALLEST_VARIANCE = 1e-13
"""Sums that cancel, of mirror images, vary by rounding only."""


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
