"""The bivariate regression from three correlations, against actual regressions."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lincfa import theory
from theory_data import random_correlations


def sample(rng):
    """A training set with features standardised (n − 1), a centred target, and correlations."""
    n = int(rng.integers(4, 60))
    x = rng.normal(size=(n, 1)) + rng.normal(size=(n, 2)) * rng.choice([0.1, 1.0, 5.0])
    y = x @ rng.normal(size=2) + rng.normal(size=n) * rng.choice([0.1, 1.0, 10.0])
    x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    y = y - y.mean()
    rho, r1, r2 = np.corrcoef(np.column_stack([x, y]), rowvar=False)[[0, 0, 1], [1, 2, 2]]
    return n, x, y, (rho, r1, r2)


def test_everything_equals_an_actual_regression(rng):
    for _ in range(300):
        n, x, y, (rho, r1, r2) = sample(rng)
        weights = np.linalg.lstsq(x, y, rcond=None)[0]
        rss, total = np.sum((y - x @ weights) ** 2), np.sum(y**2)
        s2 = rss / (n - 3)
        gap = weights[0] - weights[1]
        assert_allclose(theory.r_squared(rho, r1, r2), 1 - rss / total, rtol=1e-7)
        assert_allclose(theory.residual_variance(n, rho, r1, r2, y.var(ddof=1)), s2, rtol=1e-6)
        assert_allclose(
            theory.weight_difference(rho, r1, r2, y.std(ddof=1)), gap, rtol=1e-6, atol=1e-9
        )
        # t² of the contrast w1 − w2, and the F test of the model with both against the mean.
        contrast = np.array([1.0, -1.0])
        t = gap / np.sqrt(s2 * contrast @ np.linalg.inv(x.T @ x) @ contrast)
        mean = x.mean(axis=1, keepdims=True)
        rss_mean = np.sum((y - mean @ np.linalg.lstsq(mean, y, rcond=None)[0]) ** 2)
        statistic = theory.f_statistic(n, rho, r1, r2)
        assert_allclose(statistic, t**2, rtol=1e-5, atol=1e-9)
        assert_allclose(statistic, (rss_mean - rss) / s2, rtol=1e-5, atol=1e-8)
        # The printed threshold, from the fit.
        printed = 1 - 2 * s2 / ((n - 1) * gap**2)
        assert_allclose(theory.threshold_empirical(n, rho, r1, r2), printed, rtol=1e-5, atol=1e-5)
        # The rule in three forms.
        if abs(statistic - 1) > 1e-6:
            adjusted = 1 - (n - 1) / (n - 3) * rss / total
            adjusted_mean = 1 - (n - 1) / (n - 2) * rss_mean / total
            assert (statistic <= 1) == (rho >= printed) == (adjusted_mean >= adjusted)
            assert (statistic <= 1) == (rho >= theory.threshold_empirical(n, rho, r1, r2))


def test_shares_are_the_r_squared_of_the_mean_and_of_the_difference(rng):
    for _ in range(100):
        n, x, y, (rho, r1, r2) = sample(rng)
        mean, difference = theory.contrast_shares(1 - rho, 1 + rho, r1 - r2, r1 + r2)
        for share, direction in ((mean, x[:, 0] + x[:, 1]), (difference, x[:, 0] - x[:, 1])):
            squared = np.corrcoef(direction, y)[0, 1] ** 2
            assert_allclose(share, squared, rtol=1e-7, atol=1e-12)
        assert_allclose(
            theory.f_from_shares(n, difference, 1 - mean - difference),
            theory.f_statistic(n, rho, r1, r2),
        )


def test_f_is_the_ratio_of_the_two_sides_of_the_rule(rng):
    rho, r1, r2 = random_correlations(rng, 20_000)
    n = rng.integers(4, 2000, size=20_000)
    left = (n - 3) * (r1 - r2) ** 2 * (1 + rho)
    right = 2 * (1 - rho**2 - r1**2 - r2**2 + 2 * rho * r1 * r2)
    sound = right > 1e-8  # the printed right side cancels near the border
    f = theory.f_statistic(n, rho, r1, r2)
    assert_allclose(f[sound], (left / right)[sound], rtol=1e-5)
    apart = sound & (np.abs(left - right) > 1e-9)
    assert_array_equal((f <= 1)[apart], (left <= right)[apart])
    # R² by the textbook formula of two regressors.
    textbook = (r1**2 + r2**2 - 2 * rho * r1 * r2) / (1 - rho**2)
    assert_allclose(theory.r_squared(rho, r1, r2), textbook, rtol=1e-6, atol=1e-10)


def test_near_duplicates_keep_their_digits():
    # Features that differ by 1e-9: 1 − rho = 5e-19 does not exist in double precision, but the
    # shares taken directly do.
    with mpmath.workdps(50):
        below, gap, total = mpmath.mpf("5e-19"), mpmath.mpf("3e-10"), mpmath.mpf("1.2")
        mean, difference = total**2 / (2 * (2 - below)), gap**2 / (2 * below)
        exact = float(97 * difference / (1 - mean - difference))
    mean, difference = theory.contrast_shares(5e-19, 2.0, 3e-10, 1.2)
    f = theory.f_from_shares(100, difference, 1 - mean - difference)
    assert_allclose(f, exact, rtol=1e-12)


def test_a_pair_that_passes_lies_within_the_bound_on_correlations(rng):
    rho, r1, r2 = random_correlations(rng, 200_000)
    for n in (4, 10, 500):
        for tolerance in (0.3, 1.0, 7.0):
            passes = theory.f_statistic(n, rho, r1, r2) <= tolerance
            bound = 2 * np.sqrt(tolerance * (1 - r1**2) / (n - 3))
            assert np.all(np.abs(r1 - r2)[passes] <= bound[passes] * (1 + 1e-9))
            assert 0 < passes.mean() < 1
    # The bound is attained at rho → −1 with r1 = −r2, so no smaller constant would do.
    r = np.sqrt(1 / (1 + 97))
    assert_allclose(theory.f_statistic(100, -1 + 1e-12, r, -r), 1.0, rtol=1e-6)
    assert_allclose(2 * r, 2 * np.sqrt((1 - r**2) / 97))


@pytest.mark.parametrize("past", [0.0, 2.3e-16, 1e-12])
def test_duplicates_and_opposites(past):
    for r in (-1.0, -0.3, 0.0, 0.7, 1.0):
        assert theory.f_statistic(50, 1 + past, r, r) == 0
        assert theory.threshold_empirical(50, 1 + past, r, r) == -np.inf
        assert theory.weight_difference(1 + past, r, r) == 0
        # A rounded r2 does not separate exact duplicates.
        assert theory.f_statistic(50, 1 + past, r, r - 3e-16) == 0
        assert theory.weight_difference(1 + past, r, r - 3e-16) == 0
        # x2 = −x1: the mean is constant and R² is that of one feature.
        assert_allclose(theory.r_squared(-1 - past, r, -r), r**2, atol=1e-11)
    # A pair that explains the target fully stays apart, unless the difference explains nothing.
    assert theory.f_statistic(50, 0.0, 1.0, 0.0) == np.inf
    assert theory.threshold_empirical(50, 0.0, 1.0, 0.0) == 1
    assert theory.f_statistic(50, 0.0, 0.5**0.5 + past, 0.5**0.5 + past) == 0
    assert theory.f_from_shares(50, 0.0, 0.0) == 0
    assert theory.f_from_shares(50, 0.5 + past, 0.0) == np.inf


def test_equal_correlations_with_the_target_always_merge():
    rho = np.linspace(-0.99, 0.99, 41)
    assert np.all(theory.f_statistic(10, rho, 0.05, 0.05) == 0)
    assert np.all(theory.threshold_empirical(10, rho, 0.05, 0.05) == -np.inf)
    assert np.all(theory.weight_difference(rho, 0.05, 0.05) == 0)


# Corners, and values past ±1 by rounding. Fifteen decimals keep differences above 1e-30.
EPS = np.finfo(float).eps
CORNERS = st.sampled_from([-1.0, 1.0, 0.0, 1 - EPS, EPS - 1, 1 + EPS, -1 - EPS])
ONE_SIDED = CORNERS | st.floats(-1, 1).map(lambda value: round(value, 15))


@given(n=st.integers(4, 10**7), rho=ONE_SIDED, r1=ONE_SIDED, partial=ONE_SIDED)
@settings(max_examples=1500, deadline=None, derandomize=True)
def test_nothing_is_ever_nan(n, rho, r1, partial):
    r2 = rho * r1 + partial * np.sqrt(max(1 - rho**2, 0) * max(1 - r1**2, 0))
    f = theory.f_statistic(n, rho, r1, r2)
    assert f >= 0
    threshold = theory.threshold_empirical(n, rho, r1, r2)
    assert not np.isnan(threshold)
    assert threshold <= 1
    # Within rounding of 1 the threshold has no digits left to differ from rho; F still decides.
    if 1 - rho > 1e-6 and not 1 - 1e-6 < f < 1 + 1e-6:
        assert (f <= 1) == (rho >= threshold)
    for function in (theory.r_squared, theory.weight_difference):
        assert not np.isnan(function(rho, r1, r2))
    assert not np.isnan(theory.residual_variance(n, rho, r1, r2))
    if rho >= 1:
        assert f == 0


@given(
    st.integers(4, 10**6),
    st.floats(0, 2, allow_subnormal=False),
    st.floats(0, 2, allow_subnormal=False),
)
@settings(max_examples=500, deadline=None, derandomize=True)
def test_f_from_any_shares_is_never_nan(n, difference, unexplained):
    for statistic in (theory.f_from_shares, theory.f_known_noise):
        f = statistic(n, difference, unexplained)
        assert f >= 0
        assert (f == 0) == (difference == 0)
        if difference > 0 and unexplained == 0:
            assert f == np.inf


def test_f_with_known_noise_is_growth_of_bias_over_drop_of_variance(rng):
    for _ in range(50):
        n, x, y, (rho, r1, r2) = sample(rng)
        sigma2 = rng.uniform(0.1, 10)
        cov1, cov2 = (np.cov(x[:, k], y)[0, 1] for k in (0, 1))
        growth = theory.delta_bias_marginal(cov1, cov2, rho)
        _, difference = theory.contrast_shares(1 - rho, 1 + rho, r1 - r2, r1 + r2)
        f = theory.f_known_noise(n, difference, sigma2 / y.var(ddof=1))
        expected = growth / theory.variance_drop_asymptotic(n, sigma2)
        assert_allclose(f, expected, rtol=1e-6, atol=1e-10)


def test_tiny_differences_overflow_without_a_warning():
    assert theory.threshold_asymptotic(500, 1e-160, 0.0, 1.0) == -np.inf
    assert theory.threshold_empirical(500, 0.0, 1e-160, 0.0) == -np.inf


def test_residual_variance_of_a_full_explanation_is_not_negative(rng):
    """R² of correlations on the border of the valid set can round to more than 1."""
    angles = rng.uniform(0, np.pi, size=(2, 1000))
    rho, r1, r2 = np.cos(angles[0] - angles[1]), np.cos(angles[0]), np.cos(angles[1])
    assert (theory.r_squared(rho, r1, r2) > 1).any()
    assert (theory.residual_variance(50, rho, r1, r2) >= 0).all()
