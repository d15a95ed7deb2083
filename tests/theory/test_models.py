"""Variance and squared bias of the two models, against quadratic forms and simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lincfa import theory
from theory_data import agrees, design, fits, random_covariance

# Population and sample covariance of the pair, unequal on purpose.
POPULATION = np.array([[1.4, 0.5], [0.5, 0.9]])
SAMPLE = np.array([[0.8, 0.45], [0.45, 1.2]])
WEIGHTS = np.array([0.3, 1.1])


def parts(matrix):
    """Variance, variance and covariance of the pair, in the order the functions take them."""
    return matrix[..., 0, 0], matrix[..., 1, 1], matrix[..., 0, 1]


def test_variance_of_mean_is_the_mean_entry_of_the_correlation_matrix(rng):
    for k in (1, 2, 3, 10):
        raw = rng.normal(size=(k, k + 3)) + rng.normal()
        raw /= np.linalg.norm(raw, axis=1, keepdims=True)
        correlation = raw @ raw.T
        off = correlation[~np.eye(k, dtype=bool)]
        average = off.mean() if k > 1 else 0.0
        assert_allclose(theory.variance_of_mean(k, average), correlation.mean(), rtol=1e-10)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_model_variance_and_bias_are_trace_and_quadratic_form(rng, d):
    sigma, other = random_covariance(rng, d, 50), random_covariance(rng, d, 50)
    w, expected = rng.normal(size=(2, 50, d))
    variances, biases = theory.model_variance(sigma, other), theory.model_bias(sigma, w, expected)
    for k in range(50):
        assert_allclose(variances[k], np.trace(sigma[k] @ other[k]))
        off = expected[k] - w[k]
        assert_allclose(biases[k], off @ sigma[k] @ off)
        assert_allclose(theory.model_variance(sigma[k], other[k]), variances[k])
        assert_allclose(theory.model_bias(sigma[k], w[k], expected[k]), biases[k])


def test_closed_forms_equal_the_general_definitions(rng):
    size = 300
    sigma, sample = random_covariance(rng, 2, size), random_covariance(rng, 2, size)
    n, sigma2 = rng.integers(3, 500, size=size), rng.uniform(0, 5, size=size)
    w1, w2 = rng.normal(size=(2, size))
    one = np.ones(2)
    for k in range(size):
        covariance = sigma2[k] * np.linalg.inv((n[k] - 1) * sample[k])
        pair = theory.model_variance_pair(n[k], *parts(sigma[k]), *parts(sample[k]), sigma2[k])
        assert_allclose(pair, np.trace(sigma[k] @ covariance), rtol=1e-7)

        var_sum, var_sum_hat = one @ sigma[k] @ one, one @ sample[k] @ one
        mean = theory.model_variance_mean(n[k], var_sum, var_sum_hat, sigma2[k])
        var_weight = sigma2[k] / ((n[k] - 1) * var_sum_hat / 4)
        assert_allclose(mean, var_sum / 4 * var_weight, rtol=1e-12)

        # The mean's weight by projection on x1 + x2; both features get half of it.
        w = np.array([w1[k], w2[k]])
        weight = 2 * (one @ sample[k] @ w) / var_sum_hat
        off = weight / 2 - w
        assert_allclose(
            theory.model_bias_mean(*w, *parts(sigma[k]), *parts(sample[k])),
            off @ sigma[k] @ off,
            rtol=1e-6,
            atol=1e-12,
        )
    pairs = theory.model_bias_pair(w1, w2)
    assert pairs.shape == (size,)
    assert not pairs.any()


def test_the_decomposition_adds_up(rng):
    """eq:BiasVarDec: error of the simulated models = variance + squared bias + noise."""
    n, sigma2, size = 10, 0.7, 100_000
    X = design(rng, n, SAMPLE)
    targets = X @ WEIGHTS + np.sqrt(sigma2) * rng.normal(size=(size, n))
    x = rng.normal(size=(size, 2)) @ np.linalg.cholesky(POPULATION).T
    y = x @ WEIGHTS + np.sqrt(sigma2) * rng.normal(size=size)
    mean = fits(X.mean(axis=1, keepdims=True), targets)[:, 0] * x.mean(axis=1)
    agrees(
        (mean - y) ** 2,
        theory.model_variance_mean(n, POPULATION.sum(), SAMPLE.sum(), sigma2)
        + theory.model_bias_mean(*WEIGHTS, *parts(POPULATION), *parts(SAMPLE))
        + sigma2,
    )
    pair = np.einsum("ki,ki->k", fits(X, targets), x)
    agrees(
        (pair - y) ** 2,
        theory.model_variance_pair(n, *parts(POPULATION), *parts(SAMPLE), sigma2) + sigma2,
    )
