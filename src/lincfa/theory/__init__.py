"""The equations of the paper as functions, vectorised over NumPy arrays.

*Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis* (Bonetti, Metelli,
Restelli). Docstrings give the label of the equation in the paper's source; ``docs/theory.md`` lists
them all. Features are centred. ``_hat`` marks a sample quantity of the training set (variances with
n − 1); without it, a quantity is that of the population to which a model is applied. Nothing here
imports the rest of the library.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ._arrays import FloatArray, contrast_square, divide, floats

__all__ = [
    "bias_growth_asymptotic",
    "bias_growth_finite",
    "bias_growth_unit",
    "bias_mean_3d",
    "bias_pair_3d",
    "ceiling_marginal",
    "contrast_shares",
    "covariance_margin_lower",
    "covariance_margin_upper",
    "delta_bias_3d",
    "delta_bias_d",
    "delta_bias_marginal",
    "effective_samples",
    "estimator_covariance",
    "estimator_covariance_pair",
    "estimator_expectation",
    "estimator_expectation_mean",
    "estimator_expectation_pair",
    "estimator_variance_mean",
    "f_from_shares",
    "f_known_noise",
    "f_several_targets",
    "f_statistic",
    "interval_3d",
    "interval_d",
    "merge_condition_unit",
    "merge_probability",
    "model_bias",
    "model_bias_mean",
    "model_bias_pair",
    "model_variance",
    "model_variance_mean",
    "model_variance_pair",
    "noncentrality",
    "r_squared",
    "residual_variance",
    "threshold_asymptotic",
    "threshold_asymptotic_general",
    "threshold_confidence",
    "threshold_distribution_free",
    "threshold_empirical",
    "threshold_finite",
    "tolerance_at_level",
    "tolerance_of_loss",
    "variance_drop_asymptotic",
    "variance_drop_finite",
    "variance_drop_unit",
    "variance_of_mean",
    "weight_difference",
]


# Moments of the least squares weights over training sets with fixed features (Section 4.2.1 and
# Appendix A.2.1)


def estimator_covariance(X: ArrayLike, sigma2: ArrayLike) -> FloatArray:
    """Covariance of the least squares weights, ``(XᵀX)⁻¹ σ²``.

    Paper: ``eq:VarEst``, and with other columns ``eq:var3D1`` and ``eq:var3D2``: X holds the
    features of the fitted model, whatever else drives the target.

    Parameters
    ----------
    X : array of shape (..., n, D)
        Centred training features of full column rank.
    sigma2 : array of shape (...)
        Variance of the noise.

    Returns
    -------
    array of shape (..., D, D)

    Examples
    --------
    >>> estimator_covariance([[1.0], [-1.0], [1.0], [-1.0]], sigma2=2.0)
    array([[0.5]])
    """
    X, sigma2 = floats(X, sigma2)
    # XᵀX = RᵀR: using R avoids squaring the condition number.
    r_inverse = np.linalg.inv(np.linalg.qr(X, mode="r"))
    gram_inverse: FloatArray = r_inverse @ np.swapaxes(r_inverse, -1, -2)
    return gram_inverse * sigma2[..., None, None]


def estimator_variance_mean(n: ArrayLike, var_mean_hat: ArrayLike, sigma2: ArrayLike) -> FloatArray:
    """Variance of the weight of the model on the mean, ``σ² / ((n−1) σ̂²_x̄)``.

    Paper: ``eq:varEst1d`` (Lemma ``varianceEstimator``); ``var_mean_hat`` > 0 is the sample
    variance of x̄ = (x₁ + x₂)/2.

    Examples
    --------
    >>> float(estimator_variance_mean(11, var_mean_hat=0.5, sigma2=1.0))
    0.2
    """
    n, var_mean_hat, sigma2 = floats(n, var_mean_hat, sigma2)
    return sigma2 / ((n - 1) * var_mean_hat)


def estimator_covariance_pair(
    n: ArrayLike, var1_hat: ArrayLike, var2_hat: ArrayLike, cov_hat: ArrayLike, sigma2: ArrayLike
) -> FloatArray:
    """Covariance of the two weights of the model on both features.

    Paper: ``eq:varEst2d`` (Lemma ``varianceEstimator``),
    ``σ² / ((n−1)(σ̂₁²σ̂₂² − cov̂²)) · [[σ̂₂², −cov̂], [−cov̂, σ̂₁²]]``, for cov̂² < σ̂₁²σ̂₂².

    Returns
    -------
    array of shape (..., 2, 2)

    Examples
    --------
    >>> estimator_covariance_pair(11, 1.0, 1.0, 0.0, sigma2=1.0)
    array([[ 0.1, -0. ],
           [-0. ,  0.1]])
    """
    n, v1, v2, c, sigma2 = np.broadcast_arrays(*floats(n, var1_hat, var2_hat, cov_hat, sigma2))
    adjugate: FloatArray = np.stack(
        [np.stack([v2, -c], axis=-1), np.stack([-c, v1], axis=-1)], axis=-2
    )
    scale: FloatArray = np.asarray(sigma2 / ((n - 1) * (v1 * v2 - c**2)))
    return adjugate * scale[..., None, None]


def estimator_expectation(X: ArrayLike, f: ArrayLike) -> FloatArray:
    """Expectation of the least squares weights when the target is ``f(X) + noise``.

    Paper: ``eq:ExpvalEst``, ``(XᵀX)⁻¹ Xᵀ f(X)``, for X of full column rank.

    Parameters
    ----------
    X : array of shape (..., n, D)
        Centred training features.
    f : array of shape (..., n)
        The noise-free target on the training samples.

    Returns
    -------
    array of shape (..., D)

    Examples
    --------
    >>> estimator_expectation([[1.0], [-1.0]], [3.0, -3.0]).round(12)
    array([3.])
    """
    X, f = floats(X, f)
    q, r = np.linalg.qr(X)
    projected = np.swapaxes(q, -1, -2) @ f[..., None]
    return np.linalg.solve(r, projected)[..., 0]


def estimator_expectation_mean(
    w1: ArrayLike, w2: ArrayLike, var1_hat: ArrayLike, var2_hat: ArrayLike, cov_hat: ArrayLike
) -> FloatArray:
    """Expected weight of the model on the mean.

    Paper: ``eq:expvalEst1d`` (Lemma ``expvalEstimator``),
    ``2(w₁σ̂₁² + w₂σ̂₂² + (w₁+w₂)cov̂) / (σ̂₁² + σ̂₂² + 2cov̂)``, if x₁ + x₂ is not constant.

    Examples
    --------
    >>> float(estimator_expectation_mean(0.2, 0.8, 1.0, 1.0, 0.5))
    1.0
    """
    w1, w2, v1, v2, c = floats(w1, w2, var1_hat, var2_hat, cov_hat)
    return 2 * (w1 * v1 + w2 * v2 + (w1 + w2) * c) / (v1 + v2 + 2 * c)


def estimator_expectation_pair(w1: ArrayLike, w2: ArrayLike) -> FloatArray:
    """Expected weights of the model on both features: they are unbiased, ``(w₁, w₂)``.

    Paper: ``eq:expvalEst2d`` (Lemma ``expvalEstimator``).

    Returns
    -------
    array of shape (..., 2)

    Examples
    --------
    >>> estimator_expectation_pair(0.2, 0.8)
    array([0.2, 0.8])
    """
    return np.stack(np.broadcast_arrays(*floats(w1, w2)), axis=-1)


# Variance and squared bias of the model on the pair and of the model on the mean (Sections 4.2.2
# and 4.3 and Appendix A)


def variance_of_mean(k: ArrayLike, rho: ArrayLike) -> FloatArray:
    """Variance of the mean of k standardised features with average correlation ``rho``.

    Paper: Introduction, ``1/k + (k−1)/k · ρ``, for k ≥ 1 and −1/(k−1) ≤ ρ ≤ 1.

    Examples
    --------
    >>> float(variance_of_mean(4, 0.5))
    0.625
    """
    k, rho = floats(k, rho)
    return 1 / k + (k - 1) / k * rho


def model_variance(covariance: ArrayLike, weight_covariance: ArrayLike) -> FloatArray:
    """Variance of a linear model over training sets and samples, ``tr(Σ · Cov(ŵ))``.

    Paper: ``eq:modelVar``, for centred features with population covariance Σ.

    Parameters
    ----------
    covariance, weight_covariance : arrays of shape (..., D, D)

    Examples
    --------
    >>> float(model_variance([[1.0, 0.5], [0.5, 1.0]], [[0.25, 0.0], [0.0, 0.5]]))
    0.75
    """
    covariance, weight_covariance = floats(covariance, weight_covariance)
    trace: FloatArray = np.einsum("...ij,...ji->...", covariance, weight_covariance)
    return trace


def model_variance_mean(
    n: ArrayLike, var_sum: ArrayLike, var_sum_hat: ArrayLike, sigma2: ArrayLike
) -> FloatArray:
    """Variance of the model on the mean, ``σ²_{x₁+x₂} σ² / ((n−1) σ̂²_{x₁+x₂})``.

    Paper: ``eq:variance1D`` (Theorem ``variance2D``), for σ̂²_{x₁+x₂} > 0.

    Examples
    --------
    >>> float(model_variance_mean(101, var_sum=3.0, var_sum_hat=3.0, sigma2=2.0))
    0.02
    """
    n, var_sum, var_sum_hat, sigma2 = floats(n, var_sum, var_sum_hat, sigma2)
    return var_sum * sigma2 / ((n - 1) * var_sum_hat)


def model_variance_pair(
    n: ArrayLike,
    var1: ArrayLike,
    var2: ArrayLike,
    cov: ArrayLike,
    var1_hat: ArrayLike,
    var2_hat: ArrayLike,
    cov_hat: ArrayLike,
    sigma2: ArrayLike,
) -> FloatArray:
    """Variance of the model on both features.

    Paper: ``eq:variance2D`` (Theorem ``variance2D``),
    ``σ²(σ₁²σ̂₂² + σ₂²σ̂₁² − 2 cov cov̂) / ((n−1)(σ̂₁²σ̂₂² − cov̂²))``, for cov̂² < σ̂₁²σ̂₂².

    Examples
    --------
    >>> float(model_variance_pair(101, 1.0, 1.0, 0.5, 1.0, 1.0, 0.5, sigma2=2.0))
    0.04
    """
    n, v1, v2, c, sigma2 = floats(n, var1, var2, cov, sigma2)
    h1, h2, hc = floats(var1_hat, var2_hat, cov_hat)
    return sigma2 * (v1 * h2 + v2 * h1 - 2 * c * hc) / ((n - 1) * (h1 * h2 - hc**2))


def model_bias(covariance: ArrayLike, w: ArrayLike, expected_w: ArrayLike) -> FloatArray:
    """Squared bias of a linear model, ``(E[ŵ] − w)ᵀ Σ (E[ŵ] − w)``.

    Paper: ``eq:modelBias`` (again as ``eq:modelBias2``). A model on the mean has
    E[ŵ]/2 for both features.

    Parameters
    ----------
    covariance : array of shape (..., D, D)
    w, expected_w : arrays of shape (..., D)

    Examples
    --------
    >>> float(model_bias([[1.0, 0.5], [0.5, 1.0]], [0.25, 0.75], [0.5, 0.5]))
    0.0625
    """
    covariance, w, expected_w = floats(covariance, w, expected_w)
    off = expected_w - w
    squared: FloatArray = np.einsum("...i,...ij,...j->...", off, covariance, off)
    return squared


def model_bias_mean(
    w1: ArrayLike,
    w2: ArrayLike,
    var1: ArrayLike,
    var2: ArrayLike,
    cov: ArrayLike,
    var1_hat: ArrayLike,
    var2_hat: ArrayLike,
    cov_hat: ArrayLike,
) -> FloatArray:
    """Squared bias of the model on the mean, as printed in the paper.

    Paper: ``eq:bias1D`` (Theorem ``bias2D``). With Ŝ = σ̂²_{x₁+x₂}, S = σ²_{x₁+x₂},
    Â = w₁σ̂₁² + w₂σ̂₂² + (w₁+w₂)cov̂ and A its population counterpart,
    ``S Â²/Ŝ² + w₁²σ₁² + w₂²σ₂² + 2w₁w₂cov − 2AÂ/Ŝ``, for Ŝ > 0.

    Examples
    --------
    >>> float(model_bias_mean(0.25, 0.75, 1.0, 1.0, 0.5, 1.0, 1.0, 0.5))
    0.0625
    """
    w1, w2, v1, v2, c = floats(w1, w2, var1, var2, cov)
    h1, h2, hc = floats(var1_hat, var2_hat, cov_hat)
    sum_hat = h1 + h2 + 2 * hc
    a_hat = w1 * h1 + w2 * h2 + (w1 + w2) * hc
    a = w1 * v1 + w2 * v2 + (w1 + w2) * c
    return (
        (v1 + v2 + 2 * c) * (a_hat / sum_hat) ** 2
        + w1**2 * v1
        + w2**2 * v2
        + 2 * w1 * w2 * c
        - 2 * a * a_hat / sum_hat
    )


def model_bias_pair(w1: ArrayLike, w2: ArrayLike) -> FloatArray:
    """Squared bias of the model on both features, which is always 0.

    Paper: ``eq:bias2D`` (Theorem ``bias2D``).

    Examples
    --------
    >>> float(model_bias_pair(0.2, 0.8))
    0.0
    """
    return np.zeros(np.broadcast(*floats(w1, w2)).shape)[()]


# The effect of merging a pair: the drop in variance and the growth in squared bias. Sections
# 4.2.3 and 4.3 (asymptotic; finite with equal variances) and Appendix B (finite with unit
# variances). Merging pays if the drop is at least the growth.


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
    for ρ̂ between −1 and 1.

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


# Correlations from which on merging a pair pays (Section 4.4 and Appendix C)


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


# The bivariate regression from three correlations, without a regression.
#
# With unit sample variances the mean and the difference of two features are uncorrelated, so R² is
# the share of the mean plus the share of the difference:
#
#     R² = (r₁+r₂)² / (2(1+ρ)) + (r₁−r₂)² / (2(1−ρ))
#
# and all quantities in the paper's rule follow from the two shares. ``rho`` is the sample
# correlation of the features; ``r1`` and ``r2`` are their sample correlations with the target.


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


def f_several_targets(n: ArrayLike, rho: ArrayLike, r1: ArrayLike, r2: ArrayLike) -> FloatArray:
    """F for equal weights in the regressions of several standardised targets on the same pair.

    ``(n−3) ΣΔₖ / Σ(1−R²ₖ)`` over the targets k, with ``Δₖ = (r₁ₖ−r₂ₖ)²/(2(1−ρ))``: the growth of
    squared bias over the drop of variance, both summed over the targets. Of one target it is
    :func:`f_statistic`.

    Parameters
    ----------
    n : array
        Number of samples, at least 4.
    rho : array
        Sample correlation between the features.
    r1, r2 : array of shape (n_targets, ...)
        Sample correlations of each feature with each target.

    Examples
    --------
    >>> round(float(f_several_targets(500, 0.9, [0.50, 0.1], [0.53, 0.1])), 4)
    1.3111
    """
    rho, r1, r2 = floats(rho, r1, r2)
    share_mean, share_difference = _shares(rho, r1, r2)
    unexplained = np.maximum(1 - share_mean - share_difference, 0)
    return f_from_shares(n, share_difference.sum(axis=0), unexplained.sum(axis=0))


def tolerance_of_loss(loss: ArrayLike, n: ArrayLike, r2: ArrayLike) -> FloatArray:
    """Tolerance at which a pair merges exactly if its mean explains at most this share less.

    ``c = ε(n−3)/(1−R²)``, with R² that of the regression on both: F ≤ c is then ΔR² ≤ ε, the
    in-sample rule of NonLinCFA.

    Parameters
    ----------
    loss : array
        ε, as a share of the target's variance.
    n : array
        Number of samples.
    r2 : array
        R² of the regression on both features.

    Examples
    --------
    >>> round(float(tolerance_of_loss(0.001, 103, 0.5)), 12)
    0.2
    """
    loss, n, r2 = floats(loss, n, r2)
    return divide(loss * (n - 3), 1 - r2, zero_by_zero=np.inf)


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


# The sampling distribution of F: how often a pair merges, and what a tolerance means. Given the
# training features, F has a noncentral F(1, n−3) distribution whose noncentrality λ is the growth
# in bias over the drop in variance. Merging lowers the expected error exactly when λ ≤ 1.


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


def effective_samples(
    n: ArrayLike, feature_autocorrelation: ArrayLike, target_autocorrelation: ArrayLike
) -> FloatArray:
    """Return the number of independent samples that n samples in time are worth.

    ``n (1 − φₓφ_y) / (1 + φₓφ_y)`` with the lag-one autocorrelations of a feature and of the
    target: the correlation of two independent first-order autoregressions varies as much as that of
    so many independent samples (Bretherton and others 1999, *The effective number of spatial
    degrees of freedom of a time-varying field*, J. Climate 12). It is used between 4 and n: a
    negative product does not raise it above n.

    Examples
    --------
    >>> effective_samples(200, 0.7, [0.0, 0.5, 0.9]).round(1)
    array([200. ,  96.3,  45.4])
    """
    n, of_feature, of_target = floats(n, feature_autocorrelation, target_autocorrelation)
    product = np.clip(of_feature * of_target, 0.0, 1.0)
    return np.asarray(np.clip(n * (1 - product) / (1 + product), np.minimum(4.0, n), n))[()]


# Three and D features: merging x₁ and x₂ while other features drive the target too (Section 5 and
# Appendix D, asymptotic). x₁ and x₂ have unit variance; the third feature, or the weighted sum of
# all the others, has standard deviation ``sigma_x3``.


def _signal_variance(
    w1: FloatArray,
    w2: FloatArray,
    w3: FloatArray,
    rho12: FloatArray,
    cov13: FloatArray,
    cov23: FloatArray,
    sigma_x3: FloatArray,
) -> FloatArray:
    """E[(w₁x₁ + w₂x₂ + w₃x₃)²], the last term of both biases."""
    squares = w1**2 + w2**2 + (w3 * sigma_x3) ** 2
    return squares + 2 * (w1 * w2 * rho12 + w1 * w3 * cov13 + w2 * w3 * cov23)


def bias_mean_3d(
    w1: ArrayLike,
    w2: ArrayLike,
    w3: ArrayLike,
    rho12: ArrayLike,
    rho13: ArrayLike,
    rho23: ArrayLike,
    sigma_x3: ArrayLike = 1.0,
) -> FloatArray:
    """Squared bias 𝓕 of the regression on (x₁+x₂)/2 alone.

    Paper: Appendix D, ``−((w₁+w₂)(1+ρ₁₂) + w₃σ₃(ρ₁₃+ρ₂₃))² / (2(1+ρ₁₂)) + E[(w₁x₁+w₂x₂+w₃x₃)²]``,
    for ρ₁₂ > −1.

    Examples
    --------
    >>> float(bias_mean_3d(0.25, 0.75, 0.0, 0.5, 0.0, 0.0))
    0.0625
    """
    w1, w2, w3, rho12, rho13, rho23, s3 = floats(w1, w2, w3, rho12, rho13, rho23, sigma_x3)
    covariance_sum = (w1 + w2) * (1 + rho12) + w3 * s3 * (rho13 + rho23)
    signal = _signal_variance(w1, w2, w3, rho12, s3 * rho13, s3 * rho23, s3)
    return signal - covariance_sum**2 / (2 * (1 + rho12))


def bias_pair_3d(
    w1: ArrayLike,
    w2: ArrayLike,
    w3: ArrayLike,
    rho12: ArrayLike,
    rho13: ArrayLike,
    rho23: ArrayLike,
    sigma_x3: ArrayLike = 1.0,
) -> FloatArray:
    """Squared bias 𝒢 of the regression on x₁ and x₂ without x₃.

    Paper: Appendix D. With v₁ = w₁ + aw₃ and v₂ = w₂ + bw₃ the expected weights,
    ``v₁² + v₂² + 2ρ₁₂v₁v₂ − 2v₁(w₁ + w₂ρ₁₂ + w₃σ₃ρ₁₃) − 2v₂(w₁ρ₁₂ + w₂ + w₃σ₃ρ₂₃) +
    E[(w₁x₁+w₂x₂+w₃x₃)²]``, where ``a = σ₃(ρ₁₃ − ρ₁₂ρ₂₃)/(1−ρ₁₂²)`` and
    ``b = σ₃(ρ₂₃ − ρ₁₂ρ₁₃)/(1−ρ₁₂²)``, for ρ₁₂ between −1 and 1.

    Examples
    --------
    >>> float(bias_pair_3d(0.25, 0.75, 0.0, 0.5, 0.0, 0.0))
    0.0
    """
    w1, w2, w3, rho12, rho13, rho23, s3 = floats(w1, w2, w3, rho12, rho13, rho23, sigma_x3)
    cov13, cov23 = s3 * rho13, s3 * rho23
    v1 = w1 + w3 * (cov13 - rho12 * cov23) / (1 - rho12**2)
    v2 = w2 + w3 * (cov23 - rho12 * cov13) / (1 - rho12**2)
    return (
        v1**2
        + v2**2
        + 2 * rho12 * v1 * v2
        - 2 * v1 * (w1 + w2 * rho12 + w3 * cov13)
        - 2 * v2 * (w1 * rho12 + w2 + w3 * cov23)
        + _signal_variance(w1, w2, w3, rho12, cov13, cov23, s3)
    )


def delta_bias_3d(
    w1: ArrayLike,
    w2: ArrayLike,
    w3: ArrayLike,
    rho12: ArrayLike,
    rho13: ArrayLike,
    rho23: ArrayLike,
    sigma_x3: ArrayLike = 1.0,
) -> FloatArray:
    """Growth in squared bias from merging x₁ and x₂, 𝓕 − 𝒢.

    Paper: Theorem ``bias3dDiff`` and the remark after it for general σ₃,
    ``½(1−ρ₁₂)(w₁−w₂)² + σ₃w₃(w₁−w₂)(ρ₁₃−ρ₂₃) + w₃²σ₃²(ρ₁₃−ρ₂₃)²/(2(1−ρ₁₂))``. This is the perfect
    square ``((1−ρ₁₂)(w₁−w₂) + σ₃w₃(ρ₁₃−ρ₂₃))² / (2(1−ρ₁₂))``, which is what is computed; at
    ρ₁₂ = 1, where ρ₁₃ = ρ₂₃, it is 0.

    Examples
    --------
    >>> round(float(delta_bias_3d(0.4, 0.6, 0.5, 0.88, 0.9, 0.8)), 6)
    0.002817
    """
    w1, w2, w3, rho12, rho13, rho23, s3 = floats(w1, w2, w3, rho12, rho13, rho23, sigma_x3)
    below_one = 1 - rho12
    contrast = below_one * (w1 - w2) + s3 * w3 * (rho13 - rho23)
    return contrast_square(contrast, below_one)


def _merge_interval(
    alpha: FloatArray, beta: FloatArray, gap: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the correlations with (uΔ + β)²/(2u) ≤ α, for u = 1 − ρ and Δ the gap of the weights.

    The quadratic Δ²u² − 2(α − βΔ)u + β² ≤ 0 has the discriminant α(α − 2βΔ). Its smaller root is
    computed as β²/(the larger numerator): no cancellation, and no division by Δ = 0.
    """
    discriminant = alpha * (alpha - 2 * beta * gap)
    larger = alpha - beta * gap + np.sqrt(np.maximum(discriminant, 0))
    lower = 1 - divide(larger, gap**2, zero_by_zero=np.inf)
    upper = 1 - divide(beta**2, larger, zero_by_zero=0.0)
    # Without noise only a contrast of exactly 0 qualifies: at u = −β/Δ unless that is negative, or,
    # for equal weights (larger == 0), if β = 0.
    empty = (discriminant < 0) | (larger < 0) | (upper == -np.inf)
    return np.where(empty, np.nan, lower)[()], np.where(empty, np.nan, upper)[()]


def interval_3d(
    n: ArrayLike,
    w1: ArrayLike,
    w2: ArrayLike,
    w3: ArrayLike,
    sigma2: ArrayLike,
    rho13: ArrayLike,
    rho23: ArrayLike,
    sigma_x3: ArrayLike = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Interval of correlations of x₁ and x₂ in which merging them pays.

    Paper: ``eq:bound3D`` (Theorem ``3Dbound``; ``eq:general3D`` for general σ₃),
    ``1 − (a−b) ∓ √(a(a−2b))`` with ``a = σ²/((n−1)(w₁−w₂)²)`` and
    ``b = σ₃(ρ₁₃−ρ₂₃)w₃/(w₁−w₂)``. Not clipped to [−1, 1].

    Returns
    -------
    lower, upper : array
        Both NaN if no correlation qualifies. If w₁ = w₂, lower is −inf and upper is the limit
        ``1 − (n−1)σ₃²w₃²(ρ₁₃−ρ₂₃)²/(2σ²)``.

    Examples
    --------
    >>> lower, upper = interval_3d(500, 0.4, 0.6, 0.2, 0.25, 0.9, 0.8)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.8359, 0.9391)
    """
    n, w1, w2, w3, sigma2 = floats(n, w1, w2, w3, sigma2)
    rho13, rho23, s3 = floats(rho13, rho23, sigma_x3)
    return _merge_interval(sigma2 / (n - 1), s3 * w3 * (rho13 - rho23), w1 - w2)


def _rest_contrast(
    w: FloatArray, covariance: FloatArray, i: NDArray[np.intp], j: NDArray[np.intp]
) -> FloatArray:
    """Return cov(x_i, x) − cov(x_j, x) for x the weighted sum of all other features."""
    with_signal = covariance @ w
    cov_ij = covariance[i, j]
    rest_i = with_signal[i] - covariance[i, i] * w[i] - cov_ij * w[j]
    rest_j = with_signal[j] - covariance[j, j] * w[j] - cov_ij * w[i]
    return rest_i - rest_j


def delta_bias_d(
    w: ArrayLike, covariance: ArrayLike, i: ArrayLike = 0, j: ArrayLike = 1
) -> FloatArray:
    """Growth in squared bias from merging features i and j of D.

    Paper: Section 5.2, the three-feature growth with x = Σ_{k≠i,j} w_k x_k as third feature.

    Parameters
    ----------
    w : array of shape (D,)
        Weights of all features.
    covariance : array of shape (D, D)
        Population covariance; features i and j have unit variance.
    i, j : int or array of int
        The pair, or pairs.

    Examples
    --------
    >>> covariance = [[1.0, 0.88, 0.9], [0.88, 1.0, 0.8], [0.9, 0.8, 1.0]]
    >>> round(float(delta_bias_d([0.4, 0.6, 0.5], covariance)), 6)
    0.002817
    """
    w, covariance = floats(w, covariance)
    i, j = np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp)
    below_one = 1 - covariance[i, j]
    return contrast_square(
        below_one * (w[i] - w[j]) + _rest_contrast(w, covariance, i, j), below_one
    )


def interval_d(
    n: ArrayLike,
    w: ArrayLike,
    sigma2: ArrayLike,
    covariance: ArrayLike,
    i: ArrayLike = 0,
    j: ArrayLike = 1,
) -> tuple[FloatArray, FloatArray]:
    """Interval of correlations of features i and j in which merging them pays, among D features.

    Paper: the lemma of Section 5.2, ``eq:bound3D`` with ``b = σ_x(ρ_{ix}−ρ_{jx})/(w_i−w_j)``, where
    x is the weighted sum of the other features. Arguments as in :func:`delta_bias_d`, result as in
    :func:`interval_3d`.

    Examples
    --------
    >>> covariance = [[1.0, 0.88, 0.9], [0.88, 1.0, 0.8], [0.9, 0.8, 1.0]]
    >>> lower, upper = interval_d(500, [0.4, 0.6, 0.2], 0.25, covariance)
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.8359, 0.9391)
    """
    n, w, sigma2, covariance = floats(n, w, sigma2, covariance)
    i, j = np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp)
    return _merge_interval(sigma2 / (n - 1), _rest_contrast(w, covariance, i, j), w[i] - w[j])


def delta_bias_marginal(cov1: ArrayLike, cov2: ArrayLike, rho: ArrayLike) -> FloatArray:
    """Growth in squared bias, from the covariances of the two features with the target.

    ``(cov(x₁,y) − cov(x₂,y))² / (2(1−ρ))`` equals :func:`delta_bias_d` for any number of features,
    because the covariances contain all weights. At ρ = 1, where they are equal, it is 0.

    Examples
    --------
    >>> round(float(delta_bias_marginal(1.378, 1.352, 0.88)), 6)
    0.002817
    """
    cov1, cov2, rho = floats(cov1, cov2, rho)
    return contrast_square(cov1 - cov2, 1 - rho)


def ceiling_marginal(
    n: ArrayLike, cov1: ArrayLike, cov2: ArrayLike, sigma2: ArrayLike
) -> FloatArray:
    """Correlation *below* which merging pays, for given covariances with the target.

    The marginal form of ``eq:bound3D``: ``ρ ≤ 1 − (n−1)(cov(x₁,y) − cov(x₂,y))²/(2σ²)``. An upper
    bound, because for given covariances a higher correlation means that the weights differ more. 1
    if the covariances are equal; −inf if they differ and there is no noise.

    Examples
    --------
    >>> round(float(ceiling_marginal(500, 1.108, 1.112, 0.25)), 6)
    0.984032
    """
    n, cov1, cov2, sigma2 = floats(n, cov1, cov2, sigma2)
    return 1 - divide((n - 1) * (cov1 - cov2) ** 2, 2 * sigma2, zero_by_zero=0.0)
