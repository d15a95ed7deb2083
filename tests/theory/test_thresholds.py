"""Thresholds on the correlation: printed formulas, printed numbers, edge cases."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from lincfa import theory
from theory_data import design, fits


def test_printed_thresholds():
    wide = theory.threshold_asymptotic(500, 0.2, 0.8, [0.25, 1.0, 100.0])
    narrow = theory.threshold_asymptotic(500, 0.47, 0.52, [0.25, 1.0, 100.0])
    assert_allclose(wide, [0.997217, 0.988867, -0.113338], atol=5e-7)
    # The paper prints −25.675559 for the last one.
    assert_allclose(narrow, [0.599198, -0.603206, -159.320641], atol=5e-7)


def test_thresholds_in_many_digits(rng):
    for _ in range(50):
        n, sigma2, var_x = (
            int(rng.integers(2, 10**7)),
            10 ** rng.uniform(-9, 9),
            rng.uniform(0.1, 3),
        )
        w1 = rng.normal()
        w2 = w1 + 10 ** rng.uniform(-8, 2)
        with mpmath.workdps(40):
            gap = mpmath.mpf(w1) - mpmath.mpf(w2)
            exact = 1 - 2 * mpmath.mpf(sigma2) / ((n - 1) * mpmath.mpf(var_x) * gap**2)
        given = theory.threshold_finite(n, w1, w2, sigma2, var_x)
        assert_allclose(given, float(exact), rtol=1e-12, atol=1e-14)


def test_threshold_is_where_drop_meets_growth(rng):
    size = 2000
    n, sigma2 = rng.integers(3, 1000, size=size), rng.uniform(0.1, 4, size=size)
    w1, w2 = rng.normal(size=(2, size))
    rho, rho_hat = rng.uniform(-0.99, 0.99, size=(2, size))
    var_x, var_x_hat = rng.uniform(0.2, 3, size=(2, size))
    drop = theory.variance_drop_finite(n, sigma2, rho, rho_hat, var_x, var_x_hat)
    growth = theory.bias_growth_finite(w1, w2, rho, var_x)
    threshold = theory.threshold_finite(n, w1, w2, sigma2, var_x_hat)
    assert_array_equal(rho_hat >= threshold, drop >= growth)
    drop = theory.variance_drop_asymptotic(n, sigma2)
    growth = theory.bias_growth_asymptotic(w1, w2, rho)
    assert_array_equal(rho >= theory.threshold_asymptotic(n, w1, w2, sigma2), drop >= growth)
    growth = theory.bias_growth_asymptotic(w1, w2, rho, var_x, var_x_hat)
    cov = rho * np.sqrt(var_x * var_x_hat)
    squared = theory.threshold_asymptotic_general(n, w1, w2, sigma2, var_x, var_x_hat, cov)
    assert_array_equal(rho**2 >= squared, drop >= growth)
    # With unit variances both asymptotic forms decide alike.
    squared = theory.threshold_asymptotic_general(n, w1, w2, sigma2, 1.0, 1.0, rho)
    reduced = theory.threshold_asymptotic(n, w1, w2, sigma2)
    assert_array_equal(rho**2 >= squared, rho >= reduced)


def test_general_threshold_as_printed(rng):
    n, w1, w2, sigma2, v1, v2 = 40, 0.3, 1.2, 0.7, 1.5, 0.6
    cov = rng.uniform(-0.9, 0.9, size=50)
    printed = 1 - sigma2 * (v1 + v2 + 2 * cov) / ((n - 1) * v1 * v2 * (w1 - w2) ** 2)
    assert_allclose(theory.threshold_asymptotic_general(n, w1, w2, sigma2, v1, v2, cov), printed)


def test_the_general_threshold_with_estimates_is_the_empirical_rule(rng):
    """eq:asympBound2Demp before scaling: the same decision on raw features."""
    for _ in range(200):
        n = int(rng.integers(5, 50))
        x = rng.normal(size=(n, 1)) + rng.normal(size=(n, 2))
        # Equal sample variances other than one, where the general form still applies.
        x = 2.5 * (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
        y = x @ rng.normal(size=2) + rng.normal(scale=4, size=n)
        y = y - y.mean()
        w, rss = np.linalg.lstsq(x, y, rcond=None)[:2]
        v, c = np.cov(x, rowvar=False)[0]
        rho, r1, r2 = np.corrcoef(np.column_stack([x, y]), rowvar=False)[[0, 0, 1], [1, 2, 2]]
        bound = theory.threshold_asymptotic_general(n, *w, rss[0] / (n - 3), v, v, c)
        f = theory.f_statistic(n, rho, r1, r2)
        if abs(f - 1) > 1e-6:
            assert (rho**2 >= bound) == (f <= 1)


def test_equal_weights_always_merge_and_no_noise_never_does():
    for sigma2 in (0.0, 1.0):
        assert theory.threshold_asymptotic(500, 0.3, 0.3, sigma2) == -np.inf
        assert theory.threshold_finite(500, 0.3, 0.3, sigma2, 2.0) == -np.inf
        general = theory.threshold_asymptotic_general(500, 0.3, 0.3, sigma2, 1.0, 2.0, 0.5)
        assert general == -np.inf
        assert theory.threshold_distribution_free(500, 0.3, 0.3, sigma2, 0.05, 0.1) == -np.inf
    assert theory.threshold_asymptotic(500, 0.2, 0.8, 0.0) == 1
    assert theory.threshold_finite(500, 0.2, 0.8, 0.0, 3.0) == 1
    assert theory.threshold_asymptotic_general(500, 0.2, 0.8, 0.0, 1.0, 2.0, 0.5) == 1


def fitted(rng, n):
    x = rng.normal(size=(n, 1)) * rng.choice([0.0, 3.0]) + rng.normal(size=(n, 2))
    x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    y = x @ rng.normal(size=2) * rng.choice([0.0, 1.0]) + rng.normal(size=n)
    y = y - y.mean()
    w, rss = np.linalg.lstsq(x, y, rcond=None)[:2]
    s2 = rss[0] / (n - 3)
    errors = s2 * np.diag(np.linalg.inv(x.T @ x))
    return np.corrcoef(x, rowvar=False)[0, 1], w, s2, errors


def test_confidence_threshold_as_printed_is_above_the_correlation_of_any_data(rng):
    for _ in range(400):
        n, delta = int(rng.integers(4, 300)), 1 - rng.random()
        rho, w, s2, errors = fitted(rng, n)
        chi2, fisher = stats.chi2.ppf(1 - delta / 2, n - 3), stats.f.ppf(1 - delta / 2, 3, n - 3)
        width = np.sqrt(3 * fisher) * (np.sqrt(errors[0]) + np.sqrt(errors[1]))
        printed = 1 - 2 * (n - 3) * s2 / ((n - 1) * chi2) / (abs(w[0] - w[1]) + width) ** 2
        given = theory.threshold_confidence(n, *w, s2, *errors, delta)
        assert_allclose(given, printed, rtol=1e-8)
        assert given > rho
        # The rewritten condition is the printed one: it is the same ratio.
        f = (w[0] - w[1]) ** 2 * (n - 1) * (1 - rho) / (2 * s2)
        left = (np.sqrt(f) + np.sqrt(6 * fisher / (1 + rho))) ** 2
        right = (n - 3) / chi2
        assert_allclose((1 - printed) / (1 - rho), right / left, rtol=1e-6)


def test_confidence_threshold_scales_with_the_sample_variance(rng):
    _, w, s2, errors = fitted(rng, 30)
    unit = theory.threshold_confidence(30, *w, s2, *errors, 0.1)
    # Features times k: weights and their errors over k, sample variance times k².
    scaled = theory.threshold_confidence(30, *(w / 3), s2, *(errors / 9), 0.1, 9.0)
    assert_allclose(scaled, unit)


def test_confidence_threshold_cannot_be_met_even_in_the_best_case():
    n = np.unique(np.r_[np.arange(4, 200), np.geomspace(200, 1e6, 150).round()])[:, None]
    delta = np.geomspace(1e-6, 1, 150)[None, :]
    # Best case: equal fitted weights (F = 0) and rho → 1. Right side over left side.
    ratio = (n - 3) / stats.chi2.isf(delta / 2, n - 3) / (3 * stats.f.isf(delta / 2, 3, n - 3))
    best = np.unravel_index(ratio.argmax(), ratio.shape)
    assert (n[best[0], 0], delta[0, best[1]]) == (4, 1)
    assert_allclose(ratio.max(), 0.428675, atol=1e-6)
    # From n = 6 on, the large-sample limit at δ = 1 bounds it: 1 / (median of χ² with 3 degrees).
    limit = 1 / stats.chi2.median(3)
    assert ratio[n[:, 0] >= 6].max() <= limit + 1e-9
    assert_allclose(limit, 0.422659, atol=1e-6)
    # The function itself at nearly coinciding features: (1 − threshold)/(1 − rho) is that ratio.
    rho = 1 - 1e-9
    error = 1 / ((n - 1) * (1 - rho) * (1 + rho))
    threshold = theory.threshold_confidence(n, 0.5, 0.5, 1.0, error, error, delta)
    assert np.all(threshold > rho)
    assert_allclose((1 - threshold) / (1 - rho), ratio, atol=1e-6)


@pytest.mark.parametrize("delta", [0.02, 0.3])
def test_confidence_threshold_lies_above_the_true_one(rng, delta):
    """The theorem's content: it exceeds eq:2DfinBound with probability at least 1 − δ."""
    n, w, sigma2, size = 15, np.array([0.2, 0.8]), 0.5, 40_000
    X = design(rng, n, [[2.0, 1.2], [1.2, 2.0]])
    targets = X @ w + np.sqrt(sigma2) * rng.normal(size=(size, n))
    targets -= targets.mean(axis=1, keepdims=True)
    weights = fits(X, targets)
    s2 = np.sum((targets - weights @ X.T) ** 2, axis=1) / (n - 3)
    errors = s2[:, None] * np.diag(np.linalg.inv(X.T @ X))
    given = theory.threshold_confidence(n, *weights.T, s2, *errors.T, delta, 2.0)
    covered = np.mean(given >= theory.threshold_finite(n, *w, sigma2, 2.0))
    # Five binomial standard errors below 1 − δ; met with room, since the bound is loose.
    assert covered >= 1 - delta - 5 * np.sqrt(delta * (1 - delta) / size)
