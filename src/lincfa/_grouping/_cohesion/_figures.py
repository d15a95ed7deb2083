"""The figures of a group: what they are, and one that all ways of computing them share."""

import numpy as np
import numpy.typing as npt

from ..._statistics import RESOLUTION
from ...theory._arrays import FloatArray

COHESION = np.dtype(
    [
        ("mean_correlation", np.float64),
        ("min_correlation", np.float64),
        ("target_correlation", np.float64),
        ("min_is_exact", np.bool_),
    ]
)
"""Of each group: mean and minimum of the correlations of its pairs (NaN for a single feature), the
correlation of its mean with the target, and whether the minimum is that of all pairs or only an
upper bound of it."""

COMPARED = 64
"""Members of a group of which all pairs are compared. The cost grows with the square of the size,
and a group may be all of a million features."""


def correlation_of_sum(covariance: npt.ArrayLike, variance: npt.ArrayLike) -> FloatArray:
    """Correlation of sums with the target; 0 for a sum that does not vary."""
    variance = np.asarray(variance)
    varies = variance > RESOLUTION
    ratio = np.where(varies, covariance, 0.0) / np.sqrt(np.where(varies, variance, 1.0))
    return np.asarray(np.clip(ratio, -1, 1))
