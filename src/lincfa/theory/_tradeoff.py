"""The effect of merging a pair: the drop in variance and the growth in squared bias.

Sections 4.2.3 and 4.3 (asymptotic; finite with equal variances) and Appendix B (finite with unit
variances). Merging pays if the drop is at least the growth.
"""

from numpy.typing import ArrayLike

from ._arrays import FloatArray, floats


def variance_drop_asymptotic(n: ArrayLike, sigma2: ArrayLike) -> FloatArray:
    """Drop in variance for many samples, ``σ²/(n−1)``.

    Paper: ``eq:asymDiffVar`` (Theorem ``asymVar2D``; Remark ``var3D`` for three and more features).

    Examples
    --------
    >>> float(variance_drop_asymptotic(101, 2.0))
    0.02
    """
    n, sigma2 = floats(n, sigma2)
    return sigma2 / (n - 1)


def variance_drop_finite(
    n: ArrayLike,
    sigma2: ArrayLike,
    rho: ArrayLike,
    rho_hat: ArrayLike,
    var_x: ArrayLike = 1.0,
    var_x_hat: ArrayLike = 1.0,
) -> FloatArray:
    """Drop in variance for equal variances and equal sample variances.

    Paper: ``eq:finDiffVar`` (Theorem ``diffFinite``, under ``eq:sameVar``),
    ``σ²/(n−1) · σ_x²(1−ρ) / (σ̂_x²(1−ρ̂))``, for ρ̂ < 1.

    Examples
    --------
    >>> float(variance_drop_finite(101, 2.0, rho=0.5, rho_hat=0.5))
    0.02
    """
    n, sigma2, rho, rho_hat, var_x, var_x_hat = floats(n, sigma2, rho, rho_hat, var_x, var_x_hat)
    return sigma2 / (n - 1) * var_x * (1 - rho) / (var_x_hat * (1 - rho_hat))


def bias_growth_asymptotic(
    w1: ArrayLike, w2: ArrayLike, rho: ArrayLike, var1: ArrayLike = 1.0, var2: ArrayLike = 1.0
) -> FloatArray:
    """Growth in squared bias for many samples.

    Paper: ``eq:asymDiffBias`` (Theorem ``asym2dBias``), ``σ₁²σ₂²(1−ρ²)(w₁−w₂)² / σ²_{x₁+x₂}``,
    which is ``(1−ρ)(w₁−w₂)²/2`` for unit variances. Domain: x₁ + x₂ not constant.

    Examples
    --------
    >>> float(bias_growth_asymptotic(0.25, 0.75, rho=0.5))
    0.0625
    """
    w1, w2, rho, var1, var2 = floats(w1, w2, rho, var1, var2)
    var_sum = var1 + var2 + 2 * rho * (var1 * var2) ** 0.5
    return var1 * var2 * (1 - rho) * (1 + rho) * (w1 - w2) ** 2 / var_sum


def bias_growth_finite(
    w1: ArrayLike, w2: ArrayLike, rho: ArrayLike, var_x: ArrayLike = 1.0
) -> FloatArray:
    """Growth in squared bias for equal variances and equal sample variances.

    Paper: ``eq:finDiffBias`` (Theorem ``diffFiniteBias``), ``σ_x²(1−ρ)(w₁−w₂)²/2``.

    Examples
    --------
    >>> float(bias_growth_finite(0.25, 0.75, rho=0.5))
    0.0625
    """
    w1, w2, rho, var_x = floats(w1, w2, rho, var_x)
    return var_x * (1 - rho) * (w1 - w2) ** 2 / 2


def _unit_variance_factor(
    rho: FloatArray, var1_hat: FloatArray, var2_hat: FloatArray, cov_hat: FloatArray
) -> FloatArray:
    """Return the bracket of ``eq:general2Dvar``, used in the drop in variance and the condition."""
    return (var1_hat - var2_hat) ** 2 + 2 * (1 - rho) * (var1_hat + cov_hat) * (var2_hat + cov_hat)


def _unit_bias_factor(
    rho: FloatArray, var1_hat: FloatArray, var2_hat: FloatArray, cov_hat: FloatArray
) -> FloatArray:
    """Return the bracket of Appendix B's growth in bias, used in the growth and the condition."""
    return (
        2 * (1 - rho) * (var1_hat + var2_hat + cov_hat) * cov_hat
        + var1_hat**2
        + var2_hat**2
        - 2 * rho * var1_hat * var2_hat
    )


def variance_drop_unit(
    n: ArrayLike,
    sigma2: ArrayLike,
    rho: ArrayLike,
    var1_hat: ArrayLike,
    var2_hat: ArrayLike,
    cov_hat: ArrayLike,
) -> FloatArray:
    """Drop in variance for unit variances and any sample variances; never negative.

    Paper: ``eq:general2Dvar`` (Appendix B, under ``eq:unitVar``),
    ``σ²/(n−1) · [(σ̂₁²−σ̂₂²)² + 2(1−ρ)(σ̂₁²+cov̂)(σ̂₂²+cov̂)] / (σ̂₁²σ̂₂²(1−ρ̂²) σ̂²_{x₁+x₂})``,
    for |ρ̂| < 1.

    Examples
    --------
    >>> float(variance_drop_unit(101, 2.0, 0.5, 1.0, 1.0, 0.5))
    0.02
    """
    n, sigma2, rho, h1, h2, hc = floats(n, sigma2, rho, var1_hat, var2_hat, cov_hat)
    determinant = h1 * h2 - hc**2
    factor = _unit_variance_factor(rho, h1, h2, hc)
    return sigma2 / (n - 1) * factor / (determinant * (h1 + h2 + 2 * hc))


def bias_growth_unit(
    w1: ArrayLike,
    w2: ArrayLike,
    rho: ArrayLike,
    var1_hat: ArrayLike,
    var2_hat: ArrayLike,
    cov_hat: ArrayLike,
) -> FloatArray:
    """Growth in squared bias for unit variances and any sample variances.

    Paper: second theorem of Appendix B (no label), ``[2(1−ρ)(σ̂₁²+σ̂₂²+cov̂)cov̂ + σ̂₁⁴ + σ̂₂⁴ −
    2ρσ̂₁²σ̂₂²] (w₁−w₂)² / (σ̂²_{x₁+x₂})²``, if x₁ + x₂ is not constant.

    Examples
    --------
    >>> float(bias_growth_unit(0.25, 0.75, 0.5, 1.0, 1.0, 0.5))
    0.0625
    """
    w1, w2, rho, h1, h2, hc = floats(w1, w2, rho, var1_hat, var2_hat, cov_hat)
    return _unit_bias_factor(rho, h1, h2, hc) * (w1 - w2) ** 2 / (h1 + h2 + 2 * hc) ** 2


def merge_condition_unit(
    n: ArrayLike,
    w1: ArrayLike,
    w2: ArrayLike,
    sigma2: ArrayLike,
    rho: ArrayLike,
    var1_hat: ArrayLike,
    var2_hat: ArrayLike,
    cov_hat: ArrayLike,
) -> FloatArray:
    """Left side of Appendix B's condition: merging pays if and only if this is ≥ 0.

    Paper: third theorem of Appendix B (no label). It is (drop − growth) times the positive factor
    ``(n−1)(σ̂₁²σ̂₂² − cov̂²)(σ̂²_{x₁+x₂})²``, which avoids divisions.

    Examples
    --------
    >>> bool(merge_condition_unit(500, 0.47, 0.52, 1.0, 0.9, 1.0, 1.0, 0.9) >= 0)
    True
    >>> bool(merge_condition_unit(500, 0.2, 0.8, 1.0, 0.9, 1.0, 1.0, 0.9) >= 0)
    False
    """
    n, w1, w2, sigma2 = floats(n, w1, w2, sigma2)
    rho, h1, h2, hc = floats(rho, var1_hat, var2_hat, cov_hat)
    drop = sigma2 * _unit_variance_factor(rho, h1, h2, hc) * (h1 + h2 + 2 * hc)
    growth = _unit_bias_factor(rho, h1, h2, hc) * (w1 - w2) ** 2 * (n - 1) * (h1 * h2 - hc**2)
    return drop - growth
