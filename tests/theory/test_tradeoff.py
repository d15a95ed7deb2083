"""Drop of variance and growth of bias, against the models' own formulas and simulation."""

import numpy as np
import pytest

from lincfa import theory


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


def test_finite_forms_equal_quadratic_forms(rng):
    for _ in range(300):
        n, sigma2 = int(rng.integers(3, 400)), rng.uniform(0, 4)
        rho, rho_hat = rng.uniform(-0.98, 0.98, size=2)
        var_x, var_x_hat = rng.uniform(0.1, 3, size=2)
        w = rng.normal(size=2)
        population, sample = equal(var_x, rho), equal(var_x_hat, rho_hat)
        np.testing.assert_allclose(
            theory.variance_drop_finite(n, sigma2, rho, rho_hat, var_x, var_x_hat),
            quadratic_drop(n, sigma2, population, sample),
            rtol=1e-8,
        )
        np.testing.assert_allclose(
            theory.bias_growth_finite(*w, rho, var_x),
            quadratic_growth(w, population, sample),
            rtol=1e-8,
        )


def test_asymptotic_forms_equal_quadratic_forms(rng):
    for _ in range(300):
        n, sigma2 = int(rng.integers(3, 400)), rng.uniform(0, 4)
        v1, v2 = rng.uniform(0.1, 3, size=2)
        rho = rng.uniform(-0.98, 0.98)
        c = rho * np.sqrt(v1 * v2)
        population, w = np.array([[v1, c], [c, v2]]), rng.normal(size=2)
        np.testing.assert_allclose(
            theory.variance_drop_asymptotic(n, sigma2),
            quadratic_drop(n, sigma2, population, population),
            rtol=1e-8,
            atol=1e-15,
        )
        np.testing.assert_allclose(
            theory.bias_growth_asymptotic(*w, rho, v1, v2),
            quadratic_growth(w, population, population),
            rtol=1e-8,
            atol=1e-15,
        )
        np.testing.assert_allclose(
            theory.bias_growth_asymptotic(*w, rho), (1 - rho) * (w[0] - w[1]) ** 2 / 2, rtol=1e-12
        )


def test_unit_forms_equal_quadratic_forms_and_the_condition_their_sign(rng, random_covariance):
    population = random_covariance(rng, 2, 400, unit=2)
    sample = random_covariance(rng, 2, 400)
    for matrix, hat in zip(population, sample, strict=True):
        n, sigma2, w = int(rng.integers(3, 400)), rng.uniform(0, 4), rng.normal(size=2)
        rho, hats = matrix[0, 1], (hat[0, 0], hat[1, 1], hat[0, 1])
        drop = theory.variance_drop_unit(n, sigma2, rho, *hats)
        growth = theory.bias_growth_unit(*w, rho, *hats)
        np.testing.assert_allclose(drop, quadratic_drop(n, sigma2, matrix, hat), rtol=1e-6)
        np.testing.assert_allclose(growth, quadratic_growth(w, matrix, hat), rtol=1e-6, atol=1e-12)
        factor = (n - 1) * np.linalg.det(hat) * hat.sum() ** 2
        condition = theory.merge_condition_unit(n, *w, sigma2, rho, *hats)
        np.testing.assert_allclose(
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
    np.testing.assert_allclose(
        theory.variance_drop_unit(30, 2.0, rho, *equal_hats),
        theory.variance_drop_finite(30, 2.0, rho, rho_hat, 1.0, var_hat),
    )
    np.testing.assert_allclose(
        theory.bias_growth_unit(w1, w2, rho, *equal_hats),
        theory.bias_growth_finite(w1, w2, rho),
        rtol=1e-9,
    )
    at_population = (1.0, 1.0, rho)
    np.testing.assert_allclose(
        theory.variance_drop_unit(30, 2.0, rho, *at_population),
        theory.variance_drop_asymptotic(30, 2.0),
    )
    np.testing.assert_allclose(
        theory.bias_growth_unit(w1, w2, rho, *at_population),
        theory.bias_growth_asymptotic(w1, w2, rho),
        rtol=1e-9,
    )
    np.testing.assert_allclose(
        theory.variance_drop_finite(30, 2.0, rho, rho), theory.variance_drop_asymptotic(30, 2.0)
    )


SETTINGS = {
    # name: population covariance, sample covariance
    "equal variances": (equal(1.5, 0.7), equal(0.8, 0.4)),
    "unit variances": (equal(1.0, 0.6), np.array([[1.6, 0.5], [0.5, 0.7]])),
    "sample at population": (np.array([[1.6, 0.5], [0.5, 0.7]]),) * 2,
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_drop_and_growth_by_simulation(rng, fits, agrees, design, setting):
    """Training sets given X; the same noise for both models, so that the difference is sharp."""
    population, sample = SETTINGS[setting]
    n, sigma2, w, size = 12, 0.8, np.array([0.2, 0.9]), 60_000
    h1, h2, hc = sample[0, 0], sample[1, 1], sample[0, 1]
    rho = population[0, 1] / np.sqrt(population[0, 0] * population[1, 1])
    if setting == "equal variances":
        drop = theory.variance_drop_finite(n, sigma2, rho, hc / h1, population[0, 0], h1)
        growth = theory.bias_growth_finite(*w, rho, population[0, 0])
    elif setting == "unit variances":
        drop = theory.variance_drop_unit(n, sigma2, rho, h1, h2, hc)
        growth = theory.bias_growth_unit(*w, rho, h1, h2, hc)
    else:
        drop = theory.variance_drop_asymptotic(n, sigma2)
        growth = theory.bias_growth_asymptotic(*w, rho, population[0, 0], population[1, 1])

    X = design(rng, n, sample)
    targets = X @ w + np.sqrt(sigma2) * rng.normal(size=(size, n))
    pair = fits(X, targets) - w
    mean = fits(X.mean(axis=1, keepdims=True), targets)[:, [0, 0]] / 2 - w
    expected_mean = mean.mean(axis=0)

    def error(off):
        return np.einsum("ki,ij,kj->k", off, population, off)

    agrees(error(pair) - error(mean - expected_mean), drop)
    agrees(error(mean) - error(mean - expected_mean), growth)
    agrees(error(pair) - error(mean), drop - growth)
    if setting == "unit variances":
        condition = theory.merge_condition_unit(n, *w, sigma2, rho, h1, h2, hc)
        assert np.sign(condition) == np.sign(np.mean(error(pair) - error(mean)))
