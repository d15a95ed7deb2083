"""The sampling law of the rule, by simulation of training sets and in many digits."""

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from lincfa import theory
from theory_data import design

# The bivariate settings of the paper's tables: weights and variance of the noise.
PAPER = [
    (0.2, 0.8, 0.25),
    (0.2, 0.8, 1.0),
    (0.2, 0.8, 100.0),
    (0.47, 0.52, 0.25),
    (0.47, 0.52, 1.0),
    (0.47, 0.52, 100.0),
]


def simulated_f(rng, n, rho, w, sigma2, size):
    """F of many training sets, the features given, computed from sample correlations."""
    X = design(rng, n, [[1, rho], [rho, 1]])
    y = X @ w + np.sqrt(sigma2) * rng.normal(size=(size, n))
    y -= y.mean(axis=1, keepdims=True)
    r1, r2 = (y @ X / np.sqrt(n - 1) / np.linalg.norm(y, axis=1, keepdims=True)).T
    return theory.f_statistic(n, rho, r1, r2)


def test_noncentrality_is_growth_over_drop(rng):
    size = 500
    n, sigma2 = rng.integers(4, 1000, size=size), rng.uniform(0.1, 5, size=size)
    rho, (w1, w2) = rng.uniform(-0.99, 0.99, size=size), rng.normal(size=(2, size))
    lam = theory.noncentrality(n, rho, w1, w2, sigma2)
    growth = theory.bias_growth_finite(w1, w2, rho)
    assert_allclose(lam, growth / theory.variance_drop_asymptotic(n, sigma2))
    # Textbook form: squared true contrast over its variance.
    for k in range(0, size, 10):
        matrix = np.linalg.inv((n[k] - 1) * np.array([[1, rho[k]], [rho[k], 1]]))
        variance = sigma2[k] * (matrix[0, 0] + matrix[1, 1] - 2 * matrix[0, 1])
        assert_allclose(lam[k], (w1[k] - w2[k]) ** 2 / variance, rtol=1e-8)
    threshold = theory.threshold_finite(n, w1, w2, sigma2)
    assert_array_equal(lam <= 1, rho >= threshold)


def test_edge_cases():
    assert theory.noncentrality(500, 0.9, 0.3, 0.3, 0.0) == 0
    assert theory.noncentrality(500, 1.0, 0.2, 0.8, 0.0) == 0
    assert theory.noncentrality(500, 1 + 1e-15, 0.2, 0.8, 1.0) == 0
    assert theory.noncentrality(500, 0.9, 0.2, 0.8, 0.0) == np.inf
    # Exact duplicates always merge; without noise, different weights never do.
    assert theory.merge_probability(500, 1.0, 0.2, 0.8, [0.0, 1.0]).tolist() == [1, 1]
    probability = theory.merge_probability(500, 0.9, 0.2, [0.8, 0.2], [0.0, 1.0])
    assert_allclose(probability, [0, stats.f.cdf(1, 1, 497)], rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "rho", "w", "sigma2"),
    [(4, 0.5, (0.2, 0.8), 1.0), (9, -0.3, (0.5, 0.5), 2.0), (40, 0.9, (-0.3, 0.8), 0.5)],
)
def test_f_follows_the_noncentral_law(rng, n, rho, w, sigma2):
    size = 20_000
    f = simulated_f(rng, n, rho, w, sigma2, size)
    lam = theory.noncentrality(n, rho, *w, sigma2)
    distance = stats.kstest(f, lambda c: stats.ncf.cdf(c, 1, n - 3, lam)).statistic
    # Kolmogorov: P(√N·D > 2.7) ≤ 2 exp(−2·2.7²) = 9e-7.
    assert np.sqrt(size) * distance < 2.7
    for tolerance in (0.1, 1.0, 2.0, 7.0):
        stated = theory.merge_probability(n, rho, *w, sigma2, tolerance)
        error = np.sqrt(stated * (1 - stated) / size)
        assert abs(np.mean(f <= tolerance) - stated) <= 5 * error


@pytest.mark.parametrize(("w1", "w2", "sigma2"), PAPER)
def test_merge_probability_at_the_papers_settings(rng, w1, w2, sigma2):
    size = 8_000
    f = simulated_f(rng, 500, 0.9191, (w1, w2), sigma2, size)
    stated = theory.merge_probability(500, 0.9191, w1, w2, sigma2)
    # 5 binomial standard errors; the first setting merges with probability 1e-9, hence 1/size.
    error = np.sqrt(stated * (1 - stated) / size)
    assert abs(np.mean(f <= 1) - stated) <= 5 * error + 1 / size


def test_expected_merges_out_of_500():
    w1, w2, sigma2 = np.array(PAPER).T
    merges = 500 * theory.merge_probability(500, 0.9191, w1, w2, sigma2)
    assert_array_equal(merges.round(1), [0.0, 22.5, 332.4, 317.5, 335.1, 341.0])
    # The counts the paper prints lie within 2 binomial standard deviations.
    counted = np.array([0, 24, 332, 314, 339, 346])
    assert np.all(np.abs(counted - merges) <= 2 * np.sqrt(merges * (1 - merges / 500)))


def test_meaning_of_the_named_tolerances():
    # Equal weights, many samples: F is χ² with one degree of freedom.
    n = 10**7
    for tolerance, share in ((1.0, 0.6827), (2.0, 0.8427)):
        given = theory.merge_probability(n, 0.5, 0.3, 0.3, 1.0, tolerance)
        assert_allclose(given, share, atol=1e-4)
        assert_allclose(given, stats.chi2.cdf(tolerance, 1), atol=1e-6)


def poisson_mixture(n, lam, tolerance):
    """The noncentral law as a Poisson mixture of beta laws, summed with 40 digits."""
    with mpmath.workdps(40):
        half, nu = mpmath.mpf(lam) / 2, mpmath.mpf(n - 3)
        x = mpmath.mpf(tolerance) / (tolerance + nu)
        return float(
            sum(
                mpmath.exp(-half)
                * half**k
                / mpmath.factorial(k)
                * mpmath.betainc(k + mpmath.mpf(0.5), nu / 2, 0, x, regularized=True)
                for k in range(200)
            )
        )


@pytest.mark.parametrize(
    ("n", "lam", "tolerance"), [(4, 0.3, 1.0), (20, 5.0, 2.0), (500, 40.0, 1.0), (500, 1.0, 7.0)]
)
def test_merge_probability_in_many_digits(n, lam, tolerance):
    gap = np.sqrt(2 * lam / (n - 1))
    given = theory.merge_probability(n, 0.0, 0.0, gap, 1.0, tolerance)
    assert_allclose(given, poisson_mixture(n, lam, tolerance), rtol=1e-8)


def test_merge_probability_is_monotone(rng):
    tolerance = np.linspace(0, 20, 50)
    grows = theory.merge_probability(30, 0.5, 0.2, 0.8, 1.0, tolerance)
    assert grows[0] == 0
    assert np.all(np.diff(grows) > 0)
    falls = theory.merge_probability(30, 0.5, 0.2, np.linspace(0.2, 2, 50), 1.0)
    assert np.all(np.diff(falls) < 0)


@pytest.mark.parametrize("n", [4, 12, 300])
@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_tolerance_keeps_apart_a_just_worthwhile_pair_with_probability_alpha(rng, n, alpha):
    tolerance = theory.tolerance_at_level(alpha, n)
    rho = 0.3
    gap = np.sqrt(2 / ((n - 1) * (1 - rho)))  # λ = 1 at σ² = 1
    assert_allclose(theory.noncentrality(n, rho, 0.0, gap, 1.0), 1.0)
    assert_allclose(
        theory.merge_probability(n, rho, 0.0, gap, 1.0, tolerance), 1 - alpha, rtol=1e-9
    )
    size = 20_000
    f = simulated_f(rng, n, rho, (0.0, gap), 1.0, size)
    assert abs(np.mean(f > tolerance) - alpha) <= 5 * np.sqrt(alpha * (1 - alpha) / size)
    # A pair better worth merging is kept apart more rarely.
    better = theory.merge_probability(n, rho, 0.0, 0.9 * gap, 1.0, tolerance)
    assert 1 - better < alpha


def test_tolerance_against_the_folded_normal_limit():
    # For many samples √F is |N(1, 1)|: P(√F ≤ t) = Φ(t − 1) − Φ(−t − 1).
    for alpha in (1e-9, 0.01, 0.05, 0.5, 0.99):
        t = np.sqrt(theory.tolerance_at_level(alpha, 10**9))
        upper = stats.norm.sf(t - 1) + stats.norm.cdf(-t - 1)
        assert_allclose(upper, alpha, rtol=1e-5)
    falling = theory.tolerance_at_level(np.linspace(0.01, 0.99, 50), 30)
    assert np.all(np.diff(falling) < 0)
