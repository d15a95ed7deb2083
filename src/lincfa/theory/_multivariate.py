"""Three and D features: merging x₁ and x₂ while other features drive the target too.

Section 5 and Appendix D, asymptotic. x₁ and x₂ have unit variance; the third feature, or the
weighted sum of all the others, has standard deviation ``sigma_x3``.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import FloatArray, contrast_square, divide, floats


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
    ``b = σ₃(ρ₂₃ − ρ₁₂ρ₁₃)/(1−ρ₁₂²)``, for |ρ₁₂| < 1.

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
