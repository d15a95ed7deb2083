"""The rule: F from correlations, its screen and its bound, and a smallest correlation."""

from itertools import product

import numpy as np
import pytest

from lincfa import LinCFA, theory
from lincfa._grouping import _sequential, group_sequential
from lincfa._rule import Rule, pair_contrasts
from lincfa._statistics import RESOLUTION
from reference import (
    FAMILIES,
    TOLERANCES,
    array_statistics,
    field,
    make,
    noise_only,
    plain_f,
    statistics_of,
    tree,
    with_costs,
)


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
    # The same by rows of few seeds against blocks of few candidates, with pruning in use.
    monkeypatch.setattr(_sequential, "_SMALLEST_BLOCK", 4)
    monkeypatch.setattr(_sequential, "_SCREEN_VALUES", 4)
    forced = with_costs(statistics, block=5, max_seeds=2, scattered=0.0)
    np.testing.assert_array_equal(group_sequential(forced, rule).labels, expected)


def test_a_smallest_correlation_lowers_the_largest_difference():
    """Exactly: at a correlation of m the difference explains (r₁−r₂)²/(2(1−m))."""
    r = np.array([[-0.3, 0.0, 0.6]])
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
def test_f_of_means(family, noise, lowest):
    """That of the theory, the very same for one pair, and infinite below the smallest ρ."""
    X, y = make(family, 50, 30)
    statistics = array_statistics(X, y)
    rule = Rule(50, 1.0, noise, lowest)
    rho = np.clip(statistics.square(np.arange(X.shape[1])), -1, 1)
    first, second = np.triu_indices(X.shape[1], 1)
    rho, (r,) = rho[first, second], statistics.target_correlation
    known = statistics.with_target(rho, first, second)
    found, _ = rule.f_of_means(known)
    one_by_one = [
        rule.f_of_pair(each, pair_contrasts([r_first], [r_second]), 50)
        for each, r_first, r_second in np.array([rho, r[first], r[second]]).T.tolist()
    ]
    np.testing.assert_array_equal(one_by_one, found)
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


# The screen and the bound: what they leave out cannot merge


def judged(family, n, tolerance, known, seed=0, **parameters):
    """All pairs of some data: correlations, what the rule says and what the screen says."""
    X, y = make(family, n, 48, seed)
    statistics = array_statistics(X, y)
    noise = 0.3 * y.var(ddof=1) if known else "pair"
    rule = Rule.of(statistics, tolerance, noise, **parameters)
    every = np.arange(X.shape[1])
    first, second = np.triu_indices(X.shape[1], 1)
    correlations = statistics.within(every)
    pairs = statistics.pairs(first, second, correlations.at(first, second))
    decision = rule.decide(pairs, rule.imbalance(first, second))
    screened = rule.certain_and_doubtful(correlations, rule.imbalance(every[:, None], every))
    certain, doubtful = (kind[first, second] for kind in screened)
    assert not (certain & doubtful).any()
    assert decision.merges[certain].all()
    r = rule.comparable(statistics.target_correlation)[None]
    return rule, decision.f, r[:, first], r[:, second], decision.merges, certain, doubtful


WEIGHTS = np.random.default_rng(3).uniform(0.1, 3.0, size=48)
EXTENSIONS = [
    {},
    {"signed": True},
    {"weights": WEIGHTS},
    {"signed": True, "weights": WEIGHTS, "min_correlation": 0.2},
]


@pytest.mark.parametrize("extension", EXTENSIONS, ids=["plain", "signed", "weights", "all"])
@pytest.mark.parametrize("n", [4, 9, 60, 500])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_passes_is_not_screened_out(family, n, extension):
    for tolerance, known in product(TOLERANCES, (False, True)):
        rule, _, r1, r2, passed, certain, doubtful = judged(
            family, n, tolerance, known, **extension
        )
        assert (certain | doubtful)[passed].all()
        # Up to the rounding of the correlations, as for copies that explain the target fully.
        assert (np.abs(r1 - r2)[0] <= rule.largest_difference(r1) + 1e-14)[passed].all()
        assert (np.abs(r1 - r2)[0] <= rule.largest_difference(r2) + 1e-14)[passed].all()


@pytest.mark.parametrize("extension", EXTENSIONS[:3], ids=["plain", "signed", "weights"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("n", [9, 60, 500])
@pytest.mark.parametrize("family", [noise_only, tree, field])
def test_the_screen_rejects_what_fails(family, n, known, extension):
    """All that fails by a percent; the margin of 1e-9 is n·1e-7 of F where shares are > 0.01.

    And it leaves in doubt nothing of what passes by as much.
    """
    rejected = accepted = 0
    for tolerance in TOLERANCES:
        _, f, *_, certain, doubtful = judged(family, n, tolerance, known, **extension)
        far = f > 1.01 * tolerance + 1e-7 * n
        assert not (certain | doubtful)[far].any()
        rejected += far.sum()
        near = f < 0.99 * tolerance - 1e-7 * n
        assert certain[near].all()
        accepted += near.sum()
    assert rejected > 1000  # of the 6 · 1128 pairs
    assert accepted > 100


def test_the_largest_difference_is_tight():
    """Mirror images at the tolerance are exactly at it; a smaller one would miss them."""
    X, y = make(noise_only, 50, 30)
    statistics = array_statistics(np.hstack([X, -X]), y)
    first, second = np.arange(30), np.arange(30, 60)
    pairs = statistics.pairs(first, second, statistics.with_target(-np.ones(30), first, second))
    (r,) = statistics.target_correlation
    for ratio in (None, 0.3):
        f = Rule(50, 1.0, ratio).decide(pairs).f
        largest = [
            Rule(50, c, ratio).largest_difference(r[None, i : i + 1])[0] for i, c in enumerate(f)
        ]
        # It may have a margin for the rounding of correlations, as the screen has.
        np.testing.assert_allclose(np.abs(r[first] - r[second]), largest, rtol=1e-6)


@pytest.mark.parametrize("kind", ["C", "F", "moments"])
@pytest.mark.parametrize("tolerance", [1.0, 50.0, 1e4])
def test_pruning_where_the_seed_explains_the_target(monkeypatch, tolerance, kind):
    """There 1 − r² is no more than rounding, and so must not decide what can merge."""
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
