"""The bivariate regression from three correlations, without a regression.

With unit sample variances the mean and the difference of two features are uncorrelated, so R² is
the share of the mean plus the share of the difference:

    R² = (r₁+r₂)² / (2(1+ρ)) + (r₁−r₂)² / (2(1−ρ))

and all quantities in the paper's rule follow from the two shares. ``rho`` is the sample correlation
of the features; ``r1`` and ``r2`` are their sample correlations with the target.
"""

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import FloatArray, contrast_square, divide, floats


def contrast_shares(
    below_one: ArrayLike, above_minus_one: ArrayLike, difference: ArrayLike, total: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Shares of the target's variance explained by the mean and by the difference of a pair.

    The four arguments are used as they are: for nearly identical features they can be computed more
    precisely than by subtracting rounded correlations. A direction without variance (ρ = 1 or
    ρ = −1) has share 0.

    Parameters
    ----------
    below_one, above_minus_one : array
        1 − ρ and 1 + ρ.
    difference, total : array
        r₁ − r₂ and r₁ + r₂.

    Returns
    -------
    share_mean, share_difference : array
        ``(r₁+r₂)²/(2(1+ρ))`` and ``(r₁−r₂)²/(2(1−ρ))``.

    Examples
    --------
    >>> mean, difference = contrast_shares(0.5, 1.5, 0.1, 0.9)
    >>> round(float(mean), 12), round(float(difference), 12)
    (0.27, 0.01)
    """
    below_one, above_minus_one, difference, total = floats(
        below_one, above_minus_one, difference, total
    )
    return contrast_square(total, above_minus_one), contrast_square(difference, below_one)


def f_from_shares(n: ArrayLike, share_difference: ArrayLike, unexplained: ArrayLike) -> FloatArray:
    """F from the share of the difference and the share 1 − R² that the pair leaves unexplained.

    ``(n−3) · share_difference / unexplained``; 0 if the difference explains nothing, otherwise
    infinite if the pair explains the target fully.

    Examples
    --------
    >>> round(float(f_from_shares(103, 0.2, 0.5)), 12)
    40.0
    """
    n, share_difference, unexplained = floats(n, share_difference, unexplained)
    return divide((n - 3) * share_difference, unexplained, zero_by_zero=0.0)


def f_known_noise(n: ArrayLike, share_difference: ArrayLike, noise_ratio: ArrayLike) -> FloatArray:
    """F for a known noise variance: growth in bias over ``σ²/(n−1)``.

    ``(n−1) · share_difference / (σ²/σ̂_y²)``. The share of the difference is the growth in bias in
    units of the target's variance (:func:`delta_bias_marginal`).

    Examples
    --------
    >>> round(float(f_known_noise(101, 0.01, 0.5)), 12)
    2.0
    """
    n, share_difference, noise_ratio = floats(n, share_difference, noise_ratio)
    return divide((n - 1) * share_difference, noise_ratio, zero_by_zero=0.0)


def _shares(rho: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> tuple[FloatArray, ...]:
    rho, r1, r2 = floats(rho, r1, r2)
    return contrast_shares(1 - rho, 1 + rho, r1 - r2, r1 + r2)


def f_statistic(n: ArrayLike, rho: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> FloatArray:
    """F statistic for equal weights in the bivariate regression; the paper's rule is F ≤ 1.

    The ratio of the two sides of
    ``(n−3)(r₁−r₂)²(1+ρ) ≤ 2(1 − ρ² − r₁² − r₂² + 2ρr₁r₂)``,
    which is ``eq:asympBound2Demp`` for unit sample variances without its divisions.

    Parameters
    ----------
    n : array
        Number of samples, at least 4.
    rho, r1, r2 : array
        Sample correlations: between the features, and of each with the target.

    Returns
    -------
    array
        F ≥ 0, never NaN: 0 for exact duplicates (ρ = 1), infinite if two distinct features explain
        the target fully. For mirror images (ρ = −1), where the ratio is 0/0, it is the limit
        ``(n−3)r₁²/(1−r₁²)``.

    Examples
    --------
    >>> float(f_statistic(500, 0.9, 0.5, 0.5))
    0.0
    >>> round(float(f_statistic(500, 0.9, 0.50, 0.53)), 4)
    3.1222
    """
    share_mean, share_difference = _shares(rho, r1, r2)
    unexplained = np.maximum(1 - share_mean - share_difference, 0)
    return f_from_shares(n, share_difference, unexplained)


def r_squared(rho: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> FloatArray:
    """R² of the bivariate regression: the share of the mean plus the share of the difference.

    Examples
    --------
    >>> round(float(r_squared(0.5, 0.5, 0.4)), 12)
    0.28
    """
    share_mean, share_difference = _shares(rho, r1, r2)
    return share_mean + share_difference


def residual_variance(
    n: ArrayLike, rho: ArrayLike, r1: ArrayLike, r2: ArrayLike, var_y: ArrayLike = 1.0
) -> FloatArray:
    """Unbiased residual variance of the bivariate regression, ``s² = σ̂_y² (n−1)/(n−3) (1−R²)``.

    Paper: the s² of Theorem ``asymptTeoEmp``, for n ≥ 4.

    Examples
    --------
    >>> round(float(residual_variance(103, 0.5, 0.5, 0.4)), 12)
    0.7344
    """
    n, var_y = floats(n, var_y)
    return var_y * (n - 1) / (n - 3) * np.maximum(1 - r_squared(rho, r1, r2), 0)


def weight_difference(
    rho: ArrayLike, r1: ArrayLike, r2: ArrayLike, sd_y: ArrayLike = 1.0
) -> FloatArray:
    """Difference between the two fitted weights, ``σ̂_y (r₁−r₂)/(1−ρ)``; 0 for exact duplicates.

    Examples
    --------
    >>> float(weight_difference(0.5, 0.5, 0.25))
    0.5
    """
    rho, r1, r2, sd_y = floats(rho, r1, r2, sd_y)
    return sd_y * divide(np.where(rho < 1, r1 - r2, 0.0), 1 - rho, zero_by_zero=0.0)


def threshold_empirical(n: ArrayLike, rho: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> FloatArray:
    """Correlation from which on merging pays, with all quantities estimated from the data.

    Paper: ``eq:asympBound2Demp`` (Theorem ``asymptTeoEmp``) for unit sample variances,
    ``1 − 2s²/((n−1)(ŵ₁−ŵ₂)²)``; the general form is :func:`threshold_asymptotic_general` with
    estimates plugged in. −inf if ŵ₁ = ŵ₂. It equals ``1 − (1−ρ)/F``, so ρ ≥ threshold is
    equivalent to F ≤ 1.

    Examples
    --------
    >>> round(float(threshold_empirical(500, 0.9, 0.50, 0.53)), 4)
    0.968
    >>> float(threshold_empirical(500, 0.9, 0.5, 0.5))
    -inf
    """
    (rho,) = floats(rho)
    below_one = np.maximum(1 - rho, 0)
    return 1 - divide(below_one, f_statistic(n, rho, r1, r2), zero_by_zero=np.inf)
