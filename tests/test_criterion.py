"""The rule: a smallest correlation, and F of means of groups from plain correlations."""

import numpy as np
import pytest

from lincfa import LinCFA, theory
from lincfa._grouping import _sequential, group_sequential
from lincfa._rule import Rule
from lincfa._statistics import RESOLUTION, ArrayStatistics
from reference import FAMILIES, make, plain_f, statistics_of, tree, with_costs


def plain_groups(X, y, tolerance, lowest):
    """Algorithm 1 with a smallest correlation, pair by pair; refuses data that rounding decides."""
    f, rho, error = plain_f(X, y, "pair")
    near = (np.abs(f - tolerance) <= error * tolerance) | (np.abs(rho - lowest) < 1e-8)
    assert not np.triu(near & (rho < 1 - 1e-13), 1).any(), "take another seed"
    passes = (f <= tolerance) & (rho >= lowest)
    labels = np.full(X.shape[1], -1)
    for seed in range(labels.size):
        if labels[seed] < 0:
            joins = np.flatnonzero((labels < 0) & passes[seed] & (np.arange(labels.size) > seed))
            labels[[seed, *joins]] = labels.max() + 1
    return labels


@pytest.mark.parametrize("lowest", [-0.5, 0.0, 0.5, 0.9])
@pytest.mark.parametrize("kind", ["C", "F", "moments"])
@pytest.mark.parametrize("family", FAMILIES)
def test_sequential_with_a_smallest_correlation(monkeypatch, family, kind, lowest):
    X, y = make(family, 40, 60, seed=1)
    statistics = statistics_of(kind, X, y)
    rule = Rule.of(statistics, 7.0, min_correlation=lowest)
    expected = plain_groups(X, y, 7.0, lowest)
    found = group_sequential(statistics, rule)
    np.testing.assert_array_equal(found.labels, expected)
    assert (found.evidence["correlation"] >= lowest).all()
    # The same by rows of few seeds against blocks of few candidates, with the reach in use.
    monkeypatch.setattr(_sequential, "_SMALLEST_BLOCK", 4)
    monkeypatch.setattr(_sequential, "_SCREEN_VALUES", 4)
    forced = with_costs(statistics, block=5, max_seeds=2, scattered=0.0)
    np.testing.assert_array_equal(group_sequential(forced, rule).labels, expected)


def test_a_smallest_correlation_shortens_the_reach():
    """Exactly: at a correlation of m the difference explains (r₁−r₂)²/(2(1−m))."""
    r = np.array([-0.3, 0.0, 0.6])
    far = Rule(100, 2.0).largest_difference(r)
    np.testing.assert_allclose(Rule(100, 2.0, min_correlation=0.5).largest_difference(r), far / 2)
    np.testing.assert_allclose(Rule(100, 2.0, None, 1.0).largest_difference(r), 0)
    known = Rule(100, 2.0, 0.4), Rule(100, 2.0, 0.4, 0.5)
    np.testing.assert_allclose(known[1].largest_difference(r), known[0].largest_difference(r) / 2)


def test_the_smallest_correlation_of_one_leaves_copies_together():
    X, y = tree(np.random.default_rng(0), 30, 5)
    model = LinCFA(min_correlation=1.0, tolerance=50.0).fit(np.hstack([X, X]), y)
    np.testing.assert_array_equal(model.labels_, np.tile(np.arange(5), 2))


@pytest.mark.parametrize("lowest", [-1.0, 0.3])
@pytest.mark.parametrize("noise", [None, 0.4])
@pytest.mark.parametrize("family", FAMILIES)
def test_plain_f(family, noise, lowest):
    """That of the theory, for arrays and for one pair, and infinite below the smallest ρ."""
    X, y = make(family, 50, 30)
    statistics = ArrayStatistics.from_data(X, y)
    rule = Rule(50, 1.0, noise, lowest)
    rho = np.clip(statistics.square(np.arange(X.shape[1])), -1, 1)
    first, second = np.triu_indices(X.shape[1], 1)
    rho, r = rho[first, second], statistics.target_correlation
    found = rule.f_from_correlations(rho, r[first], r[second])
    one_by_one = [
        rule.f_of_pair(*map(float, pair)) for pair in zip(rho, r[first], r[second], strict=True)
    ]
    np.testing.assert_allclose(one_by_one, found, rtol=1e-12)
    assert (found[rho < lowest] == np.inf).all()
    assert (found[1 - rho <= RESOLUTION] == 0).all()
    if noise is None:
        expected = theory.f_statistic(50, rho, r[first], r[second])
    else:
        share = theory.contrast_shares(1 - rho, 1 + rho, r[first] - r[second], r[first] + r[second])
        expected = theory.f_known_noise(50, share[1], noise)
    # Not where rounding makes up most of 1 − |ρ|.
    sound = (rho >= lowest) & (1 - np.abs(rho) > 1e-8)
    np.testing.assert_allclose(found[sound], expected[sound], rtol=1e-6)


def test_unbiased_is_two():
    X, y = tree(np.random.default_rng(2), 60, 20)
    one, other = LinCFA(tolerance="unbiased").fit(X, y), LinCFA(tolerance=2.0).fit(X, y)
    np.testing.assert_array_equal(one.labels_, other.labels_)
