"""Variance and squared bias of the model on the pair and of the model on the mean.

Sections 4.2.2 and 4.3 and Appendix A. Features are centred. ``_hat`` marks a sample quantity of the
training set; without it, a quantity is that of the population to which the model is applied.
"""

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import FloatArray, floats


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
