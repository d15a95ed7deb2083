"""Moments of the least squares weights, against explicit matrices and against simulation."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lincfa import theory
from theory_data import agrees, design, fits

SAMPLE_COVARIANCE = np.array([[1.3, 0.6, 0.3], [0.6, 0.8, -0.2], [0.3, -0.2, 1.1]])


@pytest.mark.parametrize(("n", "d"), [(5, 1), (8, 3), (40, 6)])
def test_estimator_covariance_is_the_inverse_gram_matrix(rng, n, d):
    X = rng.normal(size=(30, n, d))
    sigma2 = rng.uniform(0.1, 4.0, size=30)
    given = theory.estimator_covariance(X, sigma2)
    for x, noise, covariance in zip(X, sigma2, given, strict=True):
        assert_allclose(covariance, noise * np.linalg.inv(x.T @ x), rtol=1e-7)
        assert_array_equal(theory.estimator_covariance(x, noise), covariance)


def test_estimator_covariance_keeps_digits_when_features_nearly_coincide(rng):
    # Condition 1e7: inverting XᵀX itself would lose 14 digits, its triangular factor loses 7.
    x = rng.normal(size=20)
    X = np.column_stack([x, x + 1e-7 * rng.normal(size=20)])
    with mpmath.workdps(60):
        exact = mpmath.matrix(X.tolist())
        exact = (exact.T * exact) ** -1
        exact = np.array([[float(exact[i, j]) for j in range(2)] for i in range(2)])
    assert_allclose(theory.estimator_covariance(X, 1.0), exact, rtol=1e-6)


def test_estimator_covariance_and_expectation_by_simulation(rng):
    """Also without x3 and on the mean, eq:var3D1 and eq:var3D2: the target may be any function."""
    X = design(rng, 12, SAMPLE_COVARIANCE)
    f = np.exp(X[:, 0]) + X[:, 1] * X[:, 2]
    sigma2 = 1.7
    targets = f + np.sqrt(sigma2) * rng.normal(size=(40_000, 12))
    for features in (X, X[:, :2], X[:, :2].mean(axis=1, keepdims=True)):
        weights = fits(features, targets)
        expected = theory.estimator_expectation(features, f)
        covariance = theory.estimator_covariance(features, sigma2)
        off = weights - expected
        for i, j in np.ndindex(covariance.shape):
            agrees(weights[:, i], expected[i])
            agrees(off[:, i] * off[:, j], covariance[i, j])


def test_closed_forms_of_the_pair_and_the_mean_equal_the_matrices(rng):
    for _ in range(40):
        n = int(rng.integers(4, 60))
        v1, v2 = rng.uniform(0.2, 3, size=2)
        c = rng.uniform(-0.95, 0.95) * np.sqrt(v1 * v2)
        X = design(rng, n, [[v1, c], [c, v2]])
        mean = X.mean(axis=1, keepdims=True)
        w, sigma2 = rng.normal(size=2), rng.uniform(0.1, 5)
        signal = X @ w

        assert_allclose(
            theory.estimator_covariance_pair(n, v1, v2, c, sigma2),
            sigma2 * np.linalg.inv(X.T @ X),
            rtol=1e-9,
        )
        assert_allclose(
            theory.estimator_variance_mean(n, mean.var(ddof=1), sigma2), sigma2 / (mean.T @ mean)[0]
        )
        assert_allclose(
            theory.estimator_expectation_mean(*w, v1, v2, c),
            np.linalg.lstsq(mean, signal, rcond=None)[0][0],
            rtol=1e-8,
        )
        assert_allclose(
            theory.estimator_expectation_pair(*w),
            np.linalg.lstsq(X, signal, rcond=None)[0],
            rtol=1e-8,
        )


def test_expectation_broadcasts_over_designs_and_over_signals(rng):
    X, f = rng.normal(size=(4, 7, 2)), rng.normal(size=(4, 7))
    given = theory.estimator_expectation(X, f)
    for k in range(4):
        assert_allclose(given[k], np.linalg.lstsq(X[k], f[k], rcond=None)[0])
        one_design = theory.estimator_expectation(X[0], f)
        assert_allclose(one_design[k], np.linalg.lstsq(X[0], f[k], rcond=None)[0])
    noise = np.array([0.0, 1.0, 2.0])
    stacked = theory.estimator_covariance(X[0], noise)
    assert stacked.shape == (3, 2, 2)
    assert_allclose(stacked[2], 2 * stacked[1])
    assert not stacked[0].any()
