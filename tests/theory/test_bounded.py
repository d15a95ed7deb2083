"""Covariance margins and the distribution-free threshold, on bounded features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lincfa import theory


def bounded_pairs(rng, kind, size, n):
    """Samples of pairs in [0, 1] with covariance and (equal) variance of their population."""
    if kind == "coins":  # the largest variance a feature in [0, 1] can have, correlation 0.6
        x1 = rng.integers(0, 2, size=(size, n)).astype(float)
        x2 = np.where(rng.random((size, n)) < 0.8, x1, 1 - x1)
        return x1, x2, 0.15, 0.25
    if kind == "uniform":  # one feature is the other or independent of it
        x1 = rng.random((size, n))
        x2 = np.where(rng.random((size, n)) < 0.5, x1, rng.random((size, n)))
        return x1, x2, 0.5 / 12, 1 / 12
    x1 = rng.random((size, n))  # opposite: equal sample variances in every sample
    return x1, 1 - x1, -1 / 12, 1 / 12


def sample_covariance(x1, x2):
    n = x1.shape[1]
    centred = x1 - x1.mean(axis=1, keepdims=True)
    return (centred * (x2 - x2.mean(axis=1, keepdims=True))).sum(axis=1) / (n - 1)


def test_margins_as_printed():
    n, delta = np.array([[2], [50], [10**6]]), np.array([1e-9, 0.05, 1.0])
    root = np.sqrt(np.log(4 / delta) / (n - 1))
    assert_allclose(theory.covariance_margin_upper(n, delta), 3 * root)
    assert_allclose(theory.covariance_margin_lower(n, delta), 4 * root)


@pytest.mark.parametrize("kind", ["coins", "uniform", "opposite"])
@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_margins_cover(rng, kind, n):
    x1, x2, covariance, _ = bounded_pairs(rng, kind, 20_000, n)
    deviation = sample_covariance(x1, x2) - covariance
    for delta in (0.05, 0.5, 1.0):
        # At most δ, five binomial standard errors allowed.
        slack = delta + 5 * np.sqrt(delta * (1 - delta) / len(deviation))
        assert np.mean(deviation > theory.covariance_margin_upper(n, delta)) <= slack
        assert np.mean(-deviation > theory.covariance_margin_lower(n, delta)) <= slack
    # The simulation itself can miss a margin: a hundredth of it does not cover at δ = 0.05.
    assert np.mean(deviation > theory.covariance_margin_upper(n, 0.05) / 100) > 0.05


@pytest.mark.parametrize("n", [2, 3, 4, 9, 100, 10**6])
@pytest.mark.parametrize("delta", [1e-6, 0.05, 0.5, 1.0])
def test_margins_exceed_the_one_that_follows_from_a_u_statistic(n, delta):
    # The sample covariance averages (x−x')(y−y')/2 over pairs of samples, a kernel of range 1, so
    # Hoeffding's inequality for U-statistics gives P(deviation ≥ t) ≤ exp(−2⌊n/2⌋t²), either way.
    sharp = np.sqrt(np.log(1 / delta) / (2 * (n // 2)))
    assert sharp <= np.sqrt(np.log(1 / delta) / (n - 1)) * (1 + 1e-12)
    assert theory.covariance_margin_upper(n, delta) >= 3 * sharp
    assert theory.covariance_margin_lower(n, delta) >= 4 * sharp


def test_distribution_free_threshold_as_printed(rng):
    size = 200
    n, delta = rng.integers(2, 5000, size=size), 1 - rng.random(size)
    w1, w2 = rng.normal(size=(2, size))
    sigma2, var_x = rng.uniform(0.1, 5, size=size), rng.uniform(0.01, 0.25, size=size)
    printed = (
        1
        - 2 * sigma2 / ((n - 1) * var_x * (w1 - w2) ** 2)
        + (
            2 * np.log(2 / delta) / (n - 1)
            + 2 * np.sqrt(var_x) * np.sqrt(2 * np.log(2 / delta) / (n - 1))
            + 4 * np.sqrt(np.log(8 / delta) / (n - 1))
        )
        / var_x
    )
    given = theory.threshold_distribution_free(n, w1, w2, sigma2, delta, var_x)
    assert_allclose(given, printed, rtol=1e-10)
    unit = theory.threshold_distribution_free(n, w1, w2, sigma2, delta)
    explicit = theory.threshold_distribution_free(n, w1, w2, sigma2, delta, 1.0)
    assert_array_equal(unit, explicit)


@pytest.mark.parametrize("kind", ["coins", "uniform", "opposite"])
@pytest.mark.parametrize("n", [5, 200])
@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_distribution_free_threshold_covers(rng, kind, n, delta):
    """A pair exactly at the threshold: eq:2DfinBound holds for at least 1 − δ of the samples."""
    x1, x2, covariance, var_x = bounded_pairs(rng, kind, 20_000, n)
    rho = covariance / var_x

    def gap_at(margin):
        """Weight difference that puts the pair's correlation at 1 − noise term + margin."""
        return np.sqrt(2.0 / ((n - 1) * var_x * (1 - rho + margin)))

    margin = theory.threshold_distribution_free(n, 0.0, 1e9, 1.0, delta, var_x) - 1
    gap = gap_at(margin)
    assert_allclose(
        theory.threshold_distribution_free(n, 0.0, gap, 1.0, delta, var_x), rho, atol=1e-9
    )
    # eq:2DfinBound times the sample variance: σ̂² − cov̂ ≤ 2σ²/((n−1)(w1−w2)²).
    left = sample_covariance(x1, x1) - sample_covariance(x1, x2)
    pays = left <= 2.0 / ((n - 1) * gap**2)
    assert np.mean(~pays) <= delta + 5 * np.sqrt(delta * (1 - delta) / len(pays))
    # Without the margin the same simulation fails often, so the check has teeth.
    assert np.mean(left > 2.0 / ((n - 1) * gap_at(0.0) ** 2)) > 0.05


def test_margins_say_something_only_from_many_samples_on():
    # Covariances of features in [0, 1] lie within ±1/4, sample covariances within ±n/(4(n−1)).
    n = np.arange(2, 2000)
    possible = 0.25 + n / (4 * (n - 1))
    informative = theory.covariance_margin_upper(n, 0.05) < possible
    assert n[informative].min() > 100
