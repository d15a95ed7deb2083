"""The sieve and the reach: what they leave out cannot merge."""

from itertools import product

import numpy as np
import pytest

from lincfa._grouping import _sequential, group_sequential
from lincfa._rule import Rule
from lincfa._statistics import ArrayStatistics
from reference import (
    FAMILIES,
    TOLERANCES,
    field,
    make,
    noise_only,
    statistics_of,
    tree,
    with_costs,
)


def judged(family, n, tolerance, known, seed=0):
    """All pairs of some data: correlations, what the rule says and what the sieve says."""
    X, y = make(family, n, 48, seed)
    statistics = ArrayStatistics.from_data(X, y)
    rule = Rule.of(statistics, tolerance, 0.3 * y.var(ddof=1) if known else "pair")
    first, second = np.triu_indices(X.shape[1], 1)
    rho = statistics.square(np.arange(X.shape[1]))
    r = statistics.target_correlation
    pairs = statistics.pairs(first, second, rho[first, second])
    passed = rule.passes(pairs)
    certain, doubtful = (sifted[first, second] for sifted in rule.certain_and_doubtful(rho, r, r))
    assert not (certain & doubtful).any()
    assert passed[certain].all()
    return rule, rule.f(pairs), r[first], r[second], passed, certain, doubtful


@pytest.mark.parametrize("n", [4, 9, 60, 500])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_passes_is_possible_and_in_reach(family, n):
    for tolerance, known in product(TOLERANCES, (False, True)):
        rule, _, r1, r2, passed, certain, doubtful = judged(family, n, tolerance, known)
        assert (certain | doubtful)[passed].all()
        # Up to the rounding of the correlations, as for copies that explain the target fully.
        assert (np.abs(r1 - r2) <= rule.largest_difference(r1) + 1e-14)[passed].all()
        assert (np.abs(r1 - r2) <= rule.largest_difference(r2) + 1e-14)[passed].all()


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("n", [9, 60, 500])
@pytest.mark.parametrize("family", [noise_only, tree, field])
def test_the_sieve_rejects_what_fails(family, n, known):
    """All that fails by a percent; the margin of 1e-9 is n·1e-7 of F where shares are > 0.01.

    And it leaves in doubt nothing of what passes by as much.
    """
    rejected = accepted = 0
    for tolerance in TOLERANCES:
        _, f, *_, certain, doubtful = judged(family, n, tolerance, known)
        far = f > 1.01 * tolerance + 1e-7 * n
        assert not (certain | doubtful)[far].any()
        rejected += far.sum()
        near = f < 0.99 * tolerance - 1e-7 * n
        assert certain[near].all()
        accepted += near.sum()
    assert rejected > 1000  # of the 6 · 1128 pairs
    assert accepted > 100


def test_reach_is_tight():
    """Mirror images at the tolerance are exactly at the reach; a smaller one would miss them."""
    X, y = make(noise_only, 50, 30)
    statistics = ArrayStatistics.from_data(np.hstack([X, -X]), y)
    first, second = np.arange(30), np.arange(30, 60)
    pairs = statistics.pairs(first, second, np.full(30, -1.0))
    r = statistics.target_correlation
    for ratio in (None, 0.3):
        f = Rule(50, 1.0, ratio).f(pairs)
        reach = [Rule(50, c, ratio).largest_difference(r[i : i + 1])[0] for i, c in enumerate(f)]
        # The reach may have a margin for the rounding of correlations, as the sieve has.
        np.testing.assert_allclose(np.abs(r[first] - r[second]), reach, rtol=1e-6)


@pytest.mark.parametrize("kind", ["C", "F", "moments"])
@pytest.mark.parametrize("tolerance", [1.0, 50.0, 1e4])
def test_pruning_where_the_seed_explains_the_target(monkeypatch, tolerance, kind):
    """There 1 − r² is no more than rounding, and so must not decide what is in reach."""
    monkeypatch.setattr(_sequential, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(_sequential, "_SCREEN_VALUES", 1)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, size = int(rng.integers(4, 30)), 10.0 ** -rng.uniform(6, 9)
        x = rng.normal(size=(n, 1))
        near = x + size * 10.0 ** rng.uniform(-2, 3, size=6) * rng.normal(size=(n, 6))
        X, y = np.hstack([x, near]), x[:, 0] + size * rng.normal(size=n)
        statistics = statistics_of(kind, X, y)
        labels = [
            group_sequential(
                with_costs(statistics, 1, max_seeds=1, scattered=cost), Rule(n, tolerance)
            ).labels.tolist()
            for cost in (np.inf, -np.inf)
        ]
        assert labels[0] == labels[1], f"seed {seed}"
