"""Drop in variance and growth in bias, against explicit matrices."""

import numpy as np
from numpy.testing import assert_allclose

from lincfa import theory
from theory_data import random_covariance


def quadratic_drop(n, sigma2, population, sample):
    """Variance of the pair minus variance of the mean, from explicit matrices."""
    pair = sigma2 / (n - 1) * np.trace(population @ np.linalg.inv(sample))
    return pair - sigma2 / (n - 1) * population.sum() / sample.sum()


def quadratic_growth(w, population, sample):
    """Squared bias of the mean: both features get half the projected weight."""
    off = sample.sum(axis=0) @ w / sample.sum() - w
    return off @ population @ off


def equal(variance, rho):
    return variance * np.array([[1, rho], [rho, 1]])


def test_finite_and_asymptotic_forms_equal_quadratic_forms(rng):
    for _ in range(300):
        n, sigma2 = int(rng.integers(3, 400)), rng.uniform(0, 4)
        rho, rho_hat = rng.uniform(-0.98, 0.98, size=2)
        v1, v2 = rng.uniform(0.1, 3, size=2)
        w = rng.normal(size=2)
        population, sample = equal(v1, rho), equal(v2, rho_hat)
        drop = theory.variance_drop_finite(n, sigma2, rho, rho_hat, v1, v2)
        assert_allclose(drop, quadratic_drop(n, sigma2, population, sample), rtol=1e-8)
        growth = theory.bias_growth_finite(*w, rho, v1)
        assert_allclose(growth, quadratic_growth(w, population, sample), rtol=1e-8)

        c = rho * np.sqrt(v1 * v2)
        population = np.array([[v1, c], [c, v2]])
        drop = theory.variance_drop_asymptotic(n, sigma2)
        assert_allclose(drop, quadratic_drop(n, sigma2, population, population), 1e-8, 1e-15)
        growth = theory.bias_growth_asymptotic(*w, rho, v1, v2)
        assert_allclose(growth, quadratic_growth(w, population, population), 1e-8, 1e-15)
        growth = theory.bias_growth_asymptotic(*w, rho)
        assert_allclose(growth, (1 - rho) * (w[0] - w[1]) ** 2 / 2, rtol=1e-12)


def test_unit_forms_equal_quadratic_forms_and_the_condition_their_sign(rng):
    population = random_covariance(rng, 2, 400, unit=2)
    sample = random_covariance(rng, 2, 400)
    for matrix, hat in zip(population, sample, strict=True):
        n, sigma2, w = int(rng.integers(3, 400)), rng.uniform(0, 4), rng.normal(size=2)
        rho, hats = matrix[0, 1], (hat[0, 0], hat[1, 1], hat[0, 1])
        drop = theory.variance_drop_unit(n, sigma2, rho, *hats)
        growth = theory.bias_growth_unit(*w, rho, *hats)
        assert_allclose(drop, quadratic_drop(n, sigma2, matrix, hat), rtol=1e-6)
        assert_allclose(growth, quadratic_growth(w, matrix, hat), rtol=1e-6, atol=1e-12)
        factor = (n - 1) * np.linalg.det(hat) * hat.sum() ** 2
        condition = theory.merge_condition_unit(n, *w, sigma2, rho, *hats)
        assert_allclose(
            condition, factor * (drop - growth), rtol=1e-9, atol=1e-9 * factor * (drop + growth)
        )
        assert np.sign(condition) == np.sign(drop - growth)


def test_drop_of_variance_is_never_negative(rng):
    size = 200_000
    rho = rng.uniform(-1, 1, size=size)
    h1, h2 = np.exp(rng.normal(size=(2, size)))
    # Covariances with one factor of the second term negative, where it is not evident.
    hc = np.sqrt(h1 * h2) * np.where(
        rng.random(size) < 0.5, rng.uniform(-0.999, 0.999, size), -0.999
    )
    assert np.any((h1 + hc) * (h2 + hc) < 0)
    assert np.all(theory.variance_drop_unit(20, 1.0, rho, h1, h2, hc) >= 0)
    # The lemma's own lower bound: (1 + rho)(h1 − h2)²/2 for the bracket.
    bracket = theory.variance_drop_unit(2, 1.0, rho, h1, h2, hc)
    bracket = bracket * (h1 * h2 - hc**2) * (h1 + h2 + 2 * hc)
    assert np.all(bracket >= (1 + rho) * (h1 - h2) ** 2 / 2 - 1e-9 * (h1 + h2) ** 2)


def test_unit_forms_reduce_to_the_finite_and_asymptotic_ones(rng):
    rho, rho_hat = rng.uniform(-0.95, 0.95, size=(2, 200))
    var_hat, w1, w2 = rng.uniform(0.2, 3, size=200), *rng.normal(size=(2, 200))
    equal_hats = (var_hat, var_hat, rho_hat * var_hat)
    assert_allclose(
        theory.variance_drop_unit(30, 2.0, rho, *equal_hats),
        theory.variance_drop_finite(30, 2.0, rho, rho_hat, 1.0, var_hat),
    )
    assert_allclose(
        theory.bias_growth_unit(w1, w2, rho, *equal_hats),
        theory.bias_growth_finite(w1, w2, rho),
        rtol=1e-9,
    )
    at_population = (1.0, 1.0, rho)
    assert_allclose(
        theory.variance_drop_unit(30, 2.0, rho, *at_population),
        theory.variance_drop_asymptotic(30, 2.0),
    )
    assert_allclose(
        theory.bias_growth_unit(w1, w2, rho, *at_population),
        theory.bias_growth_asymptotic(w1, w2, rho),
        rtol=1e-9,
    )
    assert_allclose(
        theory.variance_drop_finite(30, 2.0, rho, rho), theory.variance_drop_asymptotic(30, 2.0)
    )
