"""Correlations from which on merging a pair pays (Section 4.4 and Appendix C)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from ._arrays import FloatArray, divide, floats


def threshold_asymptotic_general(
    n: ArrayLike,
    w1: ArrayLike,
    w2: ArrayLike,
    sigma2: ArrayLike,
    var1: ArrayLike,
    var2: ArrayLike,
    cov: ArrayLike,
) -> FloatArray:
    """Bound on the *squared* correlation, for any variances.

    Paper: ``eq:2DasymBound`` (Theorem ``asympBound2D``; ``eq:asympBound2Dteo``, and with
    estimates plugged in ``eq:asympBound2Demp``),
    ``ρ² ≥ 1 − σ²σ²_{x₁+x₂} / ((n−1)σ₁²σ₂²(w₁−w₂)²)``. −inf if w₁ = w₂.

    Examples
    --------
    >>> round(float(threshold_asymptotic_general(500, 0.2, 0.8, 1.0, 1.0, 1.0, 0.9)), 6)
    0.978847
    """
    n, w1, w2, sigma2 = floats(n, w1, w2, sigma2)
    var1, var2, cov = floats(var1, var2, cov)
    gain = sigma2 * (var1 + var2 + 2 * cov)
    return 1 - divide(gain, (n - 1) * var1 * var2 * (w1 - w2) ** 2, zero_by_zero=np.inf)


def threshold_asymptotic(
    n: ArrayLike, w1: ArrayLike, w2: ArrayLike, sigma2: ArrayLike
) -> FloatArray:
    """Correlation from which on merging two features of unit variance pays.

    Paper: ``eq:2DasymBuondRed`` (Theorem ``asympBound2D``), ``1 − 2σ²/((n−1)(w₁−w₂)²)``; the rule
    of Algorithm 1. −inf if w₁ = w₂. Can be below −1: then every pair with these weights merges.

    Examples
    --------
    >>> threshold_asymptotic(500, 0.2, 0.8, [0.25, 1.0, 100.0]).round(6)
    array([ 0.997217,  0.988867, -0.113338])
    """
    return threshold_finite(n, w1, w2, sigma2)


def threshold_finite(
    n: ArrayLike, w1: ArrayLike, w2: ArrayLike, sigma2: ArrayLike, var_x_hat: ArrayLike = 1.0
) -> FloatArray:
    """Sample correlation from which on merging pays, for equal variances and sample variances.

    Paper: ``eq:2DfinBound`` (Theorem ``finiteBound2D``), ``1 − 2σ²/((n−1)σ̂_x²(w₁−w₂)²)``, and
    ``eq:2DfinBuondRed`` for ``var_x_hat`` = 1, where it equals the asymptotic one. −inf if w₁ = w₂.

    Examples
    --------
    >>> round(float(threshold_finite(500, 0.47, 0.52, 0.25)), 6)
    0.599198
    """
    n, w1, w2, sigma2, var_x_hat = floats(n, w1, w2, sigma2, var_x_hat)
    return 1 - divide(2 * sigma2, (n - 1) * var_x_hat * (w1 - w2) ** 2, zero_by_zero=np.inf)


def threshold_confidence(
    n: ArrayLike,
    w1_hat: ArrayLike,
    w2_hat: ArrayLike,
    s2: ArrayLike,
    var_w1_hat: ArrayLike,
    var_w2_hat: ArrayLike,
    delta: ArrayLike,
    var_x_hat: ArrayLike = 1.0,
) -> FloatArray:
    """Sample correlation from which on merging pays with probability 1 − δ. No data can reach it.

    Paper: ``eq:finBound2Demp`` (Theorem ``finBound2Demp``),
    ``1 − 2(n−3)s² / ((n−1) χ²_{n−3}(δ/2) σ̂_x² (|ŵ₁−ŵ₂| + √(3F_{3,n−3}(δ/2)) (se₁+se₂))²)``, with
    upper percentiles. Domain: n ≥ 4, 0 < δ ≤ 1.

    For unit sample variances se₁ = se₂ = s/√((n−1)(1−ρ²)), and ρ̂ ≥ threshold reads
    ``(√F + √(6F_{3,n−3}(δ/2)/(1+ρ)))² ≤ (n−3)/χ²_{n−3}(δ/2)``. This is **never satisfied**, for any
    data, n ≥ 4 and δ ≤ 1: even at F = 0 and ρ = 1 the right side is at most 0.43 of the left. Use
    :func:`tolerance_at_level` instead.

    Examples
    --------
    >>> standard_error2 = 1.0 / (499 * (1 - 0.9**2))
    >>> float(threshold_confidence(500, 0.5, 0.5, 1.0, standard_error2, standard_error2, 0.5)) > 0.9
    True
    """
    n, w1, w2, s2, delta, var_x_hat = floats(n, w1_hat, w2_hat, s2, delta, var_x_hat)
    var_w1, var_w2 = floats(var_w1_hat, var_w2_hat)
    noise = 2 * (n - 3) * s2 / ((n - 1) * stats.chi2.isf(delta / 2, n - 3) * var_x_hat)
    half_width = np.sqrt(3 * stats.f.isf(delta / 2, 3, n - 3)) * (np.sqrt(var_w1) + np.sqrt(var_w2))
    return 1 - divide(noise, (np.abs(w1 - w2) + half_width) ** 2, zero_by_zero=np.inf)


def covariance_margin_upper(n: ArrayLike, delta: ArrayLike) -> FloatArray:
    """Margin by which the sample covariance exceeds the covariance with probability at most δ.

    Paper: ``eq:covUpper`` (Proposition ``covIneq``), ``3√(log(4/δ)/(n−1))``. Domain: variables with
    values in [0, 1] (needed by the proof, missing in the statement), n ≥ 2, 0 < δ ≤ 1.

    Examples
    --------
    >>> round(float(covariance_margin_upper(1001, 0.05)), 4)
    0.1986
    """
    n, delta = floats(n, delta)
    return 3 * np.sqrt(np.log(4 / delta) / (n - 1))


def covariance_margin_lower(n: ArrayLike, delta: ArrayLike) -> FloatArray:
    """Margin by which the sample covariance falls below with probability at most δ.

    Paper: ``eq:covLower`` (Proposition ``covIneq``), ``4√(log(4/δ)/(n−1))``; domain as in
    :func:`covariance_margin_upper`.

    Examples
    --------
    >>> round(float(covariance_margin_lower(1001, 0.05)), 4)
    0.2648
    """
    n, delta = floats(n, delta)
    return 4 * np.sqrt(np.log(4 / delta) / (n - 1))


def threshold_distribution_free(
    n: ArrayLike,
    w1: ArrayLike,
    w2: ArrayLike,
    sigma2: ArrayLike,
    delta: ArrayLike,
    var_x: ArrayLike = 1.0,
) -> FloatArray:
    """Population correlation above which merging pays with probability 1 − δ over training sets.

    Paper: ``eq:finBound2Dteo`` (Theorem ``finBound2Dteo``), ``1 − 2σ²/((n−1)σ_x²(w₁−w₂)²) +
    (2log(2/δ)/(n−1) + 2σ_x√(2log(2/δ)/(n−1)) + 4√(log(8/δ)/(n−1))) / σ_x²``. −inf if w₁ = w₂.

    Domain: equal variances σ_x² ≤ 1/4 and equal sample variances, features with values in [0, 1]
    (needed by both inequalities in the proof, missing in the paper), n ≥ 2, 0 < δ ≤ 1. A value
    above 1 guarantees nothing.

    Examples
    --------
    >>> round(float(threshold_distribution_free(500, 0.47, 0.52, 1.0, 0.05, var_x=1 / 12)), 4)
    -12.3778
    """
    n, w1, w2, sigma2, delta, var_x = floats(n, w1, w2, sigma2, delta, var_x)
    sd_margin = np.sqrt(2 * np.log(2 / delta) / (n - 1))
    margin: FloatArray = (
        sd_margin**2 + 2 * np.sqrt(var_x) * sd_margin + covariance_margin_lower(n, delta / 2)
    )
    return threshold_finite(n, w1, w2, sigma2, var_x) + margin / var_x
