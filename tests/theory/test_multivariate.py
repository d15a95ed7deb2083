"""Three and D features: misspecified regressions by explicit matrices, and the intervals."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lincfa import theory
from theory_data import agrees, random_covariance


def misspecified(w, covariance, columns):
    """Squared bias of the population regression on some linear combinations of the features."""
    columns = np.asarray(columns, dtype=float).T
    gram = columns.T @ covariance @ columns
    beta = columns @ np.linalg.solve(gram, columns.T @ covariance @ w)
    return (beta - w) @ covariance @ (beta - w)


def three(rng, size):
    """Arguments of the 3d functions with the covariance they belong to (x1, x2 of variance 1)."""
    covariance = random_covariance(rng, 3, size, unit=2)
    s3 = np.sqrt(covariance[:, 2, 2])
    w = rng.normal(size=(size, 3))
    rhos = covariance[:, 0, 1], covariance[:, 0, 2] / s3, covariance[:, 1, 2] / s3
    return w, covariance, (*w.T, *rhos, s3)


def test_biases_of_both_models_equal_the_misspecified_regressions(rng):
    w, covariance, arguments = three(rng, 400)
    mean, pair = theory.bias_mean_3d(*arguments), theory.bias_pair_3d(*arguments)
    for k in range(400):
        exact_mean = misspecified(w[k], covariance[k], [[0.5, 0.5, 0]])
        exact_pair = misspecified(w[k], covariance[k], [[1, 0, 0], [0, 1, 0]])
        assert_allclose(mean[k], exact_mean, rtol=1e-6, atol=1e-9)
        assert_allclose(pair[k], exact_pair, rtol=1e-6, atol=1e-9)


def test_growth_of_bias_in_its_four_forms(rng):
    w, covariance, arguments = three(rng, 2000)
    w1, w2, w3, rho12, rho13, rho23, s3 = arguments
    growth = theory.delta_bias_3d(*arguments)
    difference = theory.bias_mean_3d(*arguments) - theory.bias_pair_3d(*arguments)
    assert_allclose(growth, difference, rtol=1e-5, atol=1e-8)
    printed = (
        0.5 * (1 - rho12) * (w1 - w2) ** 2
        + s3 * (w1 * w3 - w2 * w3) * (rho13 - rho23)
        + w3**2 * s3**2 * (rho13 - rho23) ** 2 / (2 * (1 - rho12))
    )
    assert_allclose(growth, printed, rtol=1e-7, atol=1e-9)
    with_target = np.einsum("kij,kj->ki", covariance, w)
    marginal = theory.delta_bias_marginal(with_target[:, 0], with_target[:, 1], rho12)
    assert_allclose(growth, marginal, rtol=1e-7, atol=1e-9)
    assert np.all(growth >= 0)
    # The paper's theorem has σ3 = 1, which is the default.
    one = theory.delta_bias_3d(w1, w2, w3, rho12, rho13, rho23)
    assert_array_equal(one, theory.delta_bias_3d(w1, w2, w3, rho12, rho13, rho23, np.ones_like(s3)))
    for function in (theory.bias_mean_3d, theory.bias_pair_3d):
        assert_array_equal(
            function(w1, w2, w3, rho12, rho13, rho23),
            function(w1, w2, w3, rho12, rho13, rho23, 1.0),
        )


def test_without_a_third_feature_the_bivariate_growth_is_left(rng):
    w1, w2 = rng.normal(size=(2, 100))
    rho = rng.uniform(-0.99, 0.99, size=100)
    expected = theory.bias_growth_asymptotic(w1, w2, rho)
    assert_allclose(theory.delta_bias_3d(w1, w2, 0.0, rho, 0.3, 0.2), expected)
    # Remark sameCorr: equal correlations with the third feature do the same.
    assert_allclose(theory.delta_bias_3d(w1, w2, 5.0, rho, 0.3, 0.3), expected)


@pytest.mark.parametrize("d", [2, 3, 7])
def test_growth_in_d_dimensions_equals_the_two_regressions(rng, d):
    for covariance in random_covariance(rng, d, 100, unit=d):
        w = rng.normal(size=d)
        i, j = rng.permutation(d)[:2]
        unit = np.eye(d)
        mean = misspecified(w, covariance, [(unit[i] + unit[j]) / 2])
        pair = misspecified(w, covariance, [unit[i], unit[j]])
        given = theory.delta_bias_d(w, covariance, i, j)
        assert_allclose(given, mean - pair, rtol=1e-6, atol=1e-9)
        with_target = covariance @ w
        assert_allclose(
            theory.delta_bias_marginal(with_target[i], with_target[j], covariance[i, j]), given
        )
        # Reduction to three features with x = Σ w_k x_k over the rest as the third.
        rest = w.copy()
        rest[[i, j]] = 0
        sd = np.sqrt(rest @ covariance @ rest)
        if d > 2:
            rho_ix, rho_jx = (covariance @ rest)[[i, j]] / sd
            three_features = theory.delta_bias_3d(
                w[i], w[j], 1.0, covariance[i, j], rho_ix, rho_jx, sd
            )
            assert_allclose(given, three_features, rtol=1e-8, atol=1e-12)


def test_many_pairs_at_once_equal_one_by_one(rng):
    (covariance,) = random_covariance(rng, 6, 1, unit=6)
    w = rng.normal(size=6)
    i, j = np.triu_indices(6, 1)
    growth = theory.delta_bias_d(w, covariance, i, j)
    lower, upper = theory.interval_d(100, w, 2.0, covariance, i, j)
    for k, (a, b) in enumerate(zip(i, j, strict=True)):
        assert_allclose(theory.delta_bias_d(w, covariance, a, b), growth[k])
        assert_allclose(theory.delta_bias_d(w, covariance, b, a), growth[k])
        one = theory.interval_d(100, w, 2.0, covariance, a, b)
        assert_allclose(one, (lower[k], upper[k]))
    assert_allclose(theory.delta_bias_d(w, covariance), growth[0])


def test_random_third_feature_adds_to_the_drop_of_variance(rng):
    """What Theorem 3Dbound leaves out, exactly for Gaussian features without intercept.

    Given X the paper's drop is σ²/(n−1). Over training sets, what x1 and x2 leave unexplained of
    w3x3 acts as noise too, and enters at the same order.
    """
    correlation = np.array([[1, 0.8, 0.5], [0.8, 1, 0.4], [0.5, 0.4, 1]])
    w, n, size, sigma2 = np.array([0.4, 0.6, 1.5]), 60, 20_000, 0.25
    X = rng.normal(size=(size, n, 3)) @ np.linalg.cholesky(correlation).T
    y = X @ w + np.sqrt(sigma2) * rng.normal(size=(size, n))
    pair = X[..., :2]
    gram = np.einsum("kni,knj->kij", pair, pair)
    weights = np.linalg.solve(gram, np.einsum("kni,kn->ki", pair, y)[..., None])[..., 0]
    mean = pair.mean(axis=2)
    half = (mean * y).sum(axis=1) / (mean**2).sum(axis=1) / 2
    zero = np.zeros(size)
    off_pair = np.column_stack([weights, zero]) - w
    off_mean = np.column_stack([half, half, zero]) - w
    quadratic = "ki,ij,kj->k"
    gain = np.einsum(quadratic, off_pair, correlation, off_pair)
    gain = gain - np.einsum(quadratic, off_mean, correlation, off_mean)

    arguments = (*w, 0.8, 0.5, 0.4)
    noise_pair = sigma2 + theory.bias_pair_3d(*arguments)
    noise_mean = sigma2 + theory.bias_mean_3d(*arguments)
    growth = theory.delta_bias_3d(*arguments)
    agrees(gain, 2 * noise_pair / (n - 3) - noise_mean / (n - 2) - growth)
    assert theory.variance_drop_asymptotic(n, sigma2) - growth < 0 < gain.mean()


def interval_arguments(rng, size):
    n = rng.integers(3, 1000, size=size)
    w1, w2, w3 = rng.normal(size=(3, size))
    sigma2, s3 = rng.uniform(0.01, 50, size=size), rng.uniform(0.1, 3, size=size)
    rho13, rho23 = rng.uniform(-1, 1, size=(2, size))
    return n, w1, w2, w3, sigma2, rho13, rho23, s3


def test_interval_as_printed(rng):
    arguments = interval_arguments(rng, 2000)
    n, w1, w2, w3, sigma2, rho13, rho23, s3 = arguments
    lower, upper = theory.interval_3d(*arguments)
    a = sigma2 / ((n - 1) * (w1 - w2) ** 2)
    b = s3 * (rho13 - rho23) * w3 / (w1 - w2)
    empty = a * (a - 2 * b) < 0
    assert 100 < empty.sum() < 1900
    assert_array_equal(np.isnan(lower), empty)
    assert_array_equal(np.isnan(upper), empty)
    root = np.sqrt(a * (a - 2 * b), where=~empty, out=np.zeros_like(a))
    scale = (1 + np.abs(a - b))[~empty]
    for given, printed in ((lower, 1 - (a - b) - root), (upper, 1 - (a - b) + root)):
        assert_allclose(given[~empty] / scale, printed[~empty] / scale, atol=1e-9)


def test_inside_the_interval_exactly_when_growth_is_at_most_the_drop(rng):
    size = 100_000
    arguments = interval_arguments(rng, size)
    n, w1, w2, w3, sigma2, rho13, rho23, s3 = arguments
    rho = rng.uniform(-1, 1, size=size)
    growth = theory.delta_bias_3d(w1, w2, w3, rho, rho13, rho23, s3)
    drop = theory.variance_drop_asymptotic(n, sigma2)
    lower, upper = theory.interval_3d(*arguments)
    inside = (lower <= rho) & (rho <= upper)  # False where the interval is empty
    apart = np.abs(growth - drop) > 1e-9 * (growth + drop)
    assert_array_equal(inside[apart], (growth <= drop)[apart])
    assert 1000 < inside.sum() < size - 1000
    assert_array_equal(
        theory.interval_3d(*arguments[:-1]), theory.interval_3d(*arguments[:-1], 1.0)
    )


def test_marginal_ceiling_is_the_same_inequality(rng):
    size = 20_000
    n, sigma2 = rng.integers(3, 1000, size=size), rng.uniform(0, 5, size=size)
    cov1, rho = rng.normal(size=size), rng.uniform(-1, 1, size=size)
    cov2 = cov1 + rng.normal(scale=0.2, size=size)
    ceiling = theory.ceiling_marginal(n, cov1, cov2, sigma2)
    assert_allclose(ceiling, 1 - (n - 1) * (cov1 - cov2) ** 2 / (2 * sigma2))
    growth = theory.delta_bias_marginal(cov1, cov2, rho)
    assert_array_equal(rho <= ceiling, growth <= sigma2 / (n - 1))


@pytest.mark.parametrize("d", [2, 3, 7])
def test_interval_in_d_dimensions(rng, d):
    for covariance in random_covariance(rng, d, 100, unit=d):
        n, sigma2, w = int(rng.integers(3, 200)), rng.uniform(0.1, 20), rng.normal(size=d)
        rest = w.copy()
        rest[:2] = 0
        sd = np.sqrt(rest @ covariance @ rest)
        rho_x = (covariance @ rest)[:2] / sd if d > 2 else np.zeros(2)
        expected = theory.interval_3d(n, w[0], w[1], 1.0, sigma2, *rho_x, sd)
        assert_allclose(theory.interval_d(n, w, sigma2, covariance), expected, rtol=1e-6, atol=1e-8)
        lower, upper = theory.interval_d(n, w, sigma2, covariance)
        growth = theory.delta_bias_d(w, covariance)
        assert (lower <= covariance[0, 1] <= upper) == (growth <= sigma2 / (n - 1))


def test_interval_edge_cases():
    # Equal weights: the limit of nearly equal ones, from both sides.
    lower, upper = theory.interval_3d(500, 0.4, 0.4, 0.2, 0.25, 0.5, 0.4)
    assert lower == -np.inf
    assert_allclose(upper, 1 - 499 * (0.2 * 0.1) ** 2 / (2 * 0.25))
    for gap in (1e-7, -1e-7):
        near = theory.interval_3d(500, 0.4 + gap, 0.4, 0.2, 0.25, 0.5, 0.4)
        assert near[0] < -1e6
        assert_allclose(near[1], upper, rtol=1e-4)
    # Equal weights and equal correlations: every correlation.
    assert theory.interval_3d(500, 0.4, 0.4, 0.2, 0.25, 0.5, 0.5) == (-np.inf, 1)
    # Empty.
    assert np.isnan(theory.interval_3d(500, 0.6, 0.4, 0.2, 0.25, 0.9, 0.2)).all()
    # No noise: a single point, all of them, or none.
    lower, upper = theory.interval_3d(500, 0.4, 0.6, 0.2, 0.0, 0.9, 0.8)
    assert_allclose([lower, upper], 0.9)
    assert_allclose(theory.delta_bias_3d(0.4, 0.6, 0.2, 0.9, 0.9, 0.8), 0, atol=1e-15)
    assert theory.interval_3d(500, 0.4, 0.4, 0.2, 0.0, 0.5, 0.5) == (-np.inf, 1)
    assert theory.interval_3d(500, 0.4, 0.6, 0.2, 0.0, 0.5, 0.5) == (1, 1)
    assert np.isnan(theory.interval_3d(500, 0.4, 0.4, 0.2, 0.0, 0.9, 0.8)).all()
    # Equal correlations with x3 leave the bivariate threshold (Remark sameCorr).
    lower, upper = theory.interval_3d(500, 0.2, 0.8, 3.0, 1.0, 0.5, 0.5)
    assert_allclose(lower, theory.threshold_asymptotic(500, 0.2, 0.8, 1.0))
    assert upper == 1
    # Coinciding features.
    assert theory.delta_bias_3d(0.4, 0.6, 0.2, 1.0, 0.7, 0.7) == 0
    assert theory.delta_bias_marginal(0.7, 0.7, 1.0) == 0
    assert theory.ceiling_marginal(500, 0.7, 0.7, 0.0) == 1
    assert theory.ceiling_marginal(500, 0.7, 0.8, 0.0) == -np.inf


def test_narrow_upper_end_keeps_its_digits():
    # b small against a: 1 − upper ≈ b²/(2a), the difference of two printed terms near a.
    n, w1, w2, w3, sigma2, rho13 = 500, 0.4, 0.6, 4.0, 1e6, 0.5
    _, upper = theory.interval_3d(n, w1, w2, w3, sigma2, rho13, 0.0)
    with mpmath.workdps(60):
        a = mpmath.mpf(sigma2) / ((n - 1) * (mpmath.mpf(w1) - mpmath.mpf(w2)) ** 2)
        b = mpmath.mpf(rho13) * w3 / (mpmath.mpf(w1) - mpmath.mpf(w2))
        exact = 1 - (a - b) + mpmath.sqrt(a * (a - 2 * b))
        naive = 1 - (float(a) - float(b)) + np.sqrt(float(a) * (float(a) - 2 * float(b)))
    assert abs(float(upper) - float(exact)) <= 2e-16
    assert abs(naive - float(exact)) > 1e-13


def test_merging_an_exact_duplicate_costs_no_bias(rng):
    """Feature 3 doubles feature 0: rounding must not turn 0/0 into infinity."""
    correlation = random_covariance(rng, 3, 200, unit=3)
    for matrix in correlation:
        doubled = matrix[np.ix_([0, 1, 2, 0], [0, 1, 2, 0])]
        w = rng.normal(size=4)
        assert theory.delta_bias_d(w, doubled, 0, 3) == 0
        covariance = doubled @ w
        assert theory.delta_bias_marginal(covariance[0], covariance[3] + 1e-17, 1.0) == 0


def test_without_noise_the_one_point_must_be_a_correlation():
    """(1−ρ)(w₁−w₂) + w₃(ρ₁₃−ρ₂₃) = 0 at ρ = 0.5; with the signs reversed only at ρ = 1.5."""
    assert theory.interval_3d(100, 0.4, 0.6, 0.2, 0.0, 0.5, 0.0) == pytest.approx((0.5, 0.5))
    assert np.isnan(theory.interval_3d(100, 0.6, 0.4, 0.2, 0.0, 0.5, 0.0)).all()
