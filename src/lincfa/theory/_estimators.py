"""Moments of the least squares weights over training sets (Section 4.2.1 and Appendix A.2.1).

Features are centred, and the training features are fixed. ``_hat`` marks a sample quantity of the
training set (variances with n − 1); without it, a quantity is that of the population.
"""

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import FloatArray, floats


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
