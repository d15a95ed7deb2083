"""The sampling distribution of F: how often a pair merges, and what a tolerance means.

Given the training features, F has a noncentral F(1, n−3) distribution whose noncentrality λ is the
growth in bias over the drop in variance. Merging lowers the expected error exactly when λ ≤ 1.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ._arrays import FloatArray, divide, floats


def noncentrality(
    n: ArrayLike, rho: ArrayLike, w1: ArrayLike, w2: ArrayLike, sigma2: ArrayLike
) -> FloatArray:
    """Growth in bias over drop in variance, ``λ = (n−1)(1−ρ)(w₁−w₂)²/(2σ²)``.

    For unit sample variances and Gaussian noise; λ ≤ 1 is ``eq:2DfinBuondRed``.

    Examples
    --------
    >>> round(float(noncentrality(500, 0.9, 0.2, 0.8, 1.0)), 3)
    8.982
    """
    n, rho, w1, w2, sigma2 = floats(n, rho, w1, w2, sigma2)
    growth = (n - 1) * np.maximum(1 - rho, 0) * (w1 - w2) ** 2
    return divide(growth, 2 * sigma2, zero_by_zero=0.0)


def merge_probability(
    n: ArrayLike,
    rho: ArrayLike,
    w1: ArrayLike,
    w2: ArrayLike,
    sigma2: ArrayLike,
    tolerance: ArrayLike = 1.0,
) -> FloatArray:
    """Probability that a pair merges, ``P(F ≤ tolerance)``, over training sets.

    1 for exact duplicates (ρ = 1), which always merge; 0 for different weights without noise.

    Parameters
    ----------
    n : array
        Number of samples, at least 4.
    rho : array
        Sample correlation of the two features.
    w1, w2, sigma2 : array
        True weights, for features of unit sample variance, and variance of the Gaussian noise.
    tolerance : array, default=1.0
        c in F ≤ c; 1 is the paper's rule.

    Examples
    --------
    >>> round(500 * float(merge_probability(500, 0.9191, 0.2, 0.8, 1.0)), 1)
    22.5
    """
    n, tolerance = floats(n, tolerance)
    lam = noncentrality(n, rho, w1, w2, sigma2)
    never = np.isinf(lam)
    probability = stats.ncf.cdf(tolerance, 1, n - 3, np.where(never, 1.0, lam))
    return np.where(np.asarray(rho) >= 1, 1.0, np.where(never, 0.0, probability))[()]


def tolerance_at_level(alpha: ArrayLike, n: ArrayLike) -> FloatArray:
    """Tolerance that keeps two features apart only if the data reject λ ≤ 1 at level α.

    The 1 − α quantile of the noncentral F(1, n−3) with λ = 1: a pair that is just worth merging
    stays apart with probability α, a more worthwhile one less often. Domain: 0 < α < 1, n ≥ 4.

    Examples
    --------
    >>> tolerance_at_level([0.5, 0.05], 1_000_000).round(3)
    array([1.104, 7.002])
    """
    alpha, n = floats(alpha, n)
    return np.asarray(stats.ncf.isf(alpha, 1, n - 3, 1.0))[()]
