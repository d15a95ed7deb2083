"""Fits of many data sets against one at a time, and intervals that cover what they say.

Coverage is counted in 1000 seeded runs: a share that is 0.95 falls outside 0.95 ± 4·0.0069, four
binomial standard deviations, with probability 6e-5.
"""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score

from experiments import simulation as sim


@pytest.fixture
def stack(rng):
    """Seven data sets of 60 samples and four correlated features, far from zero."""
    X = rng.normal(size=(7, 60, 1)) + rng.normal(size=(7, 60, 4)) + [3.0, -2.0, 0.0, 10.0]
    return X, X @ [1.0, -0.5, 0.2, 0.0] + 5 + rng.normal(size=(7, 60))


@pytest.fixture
def tests(rng):
    X = rng.normal(size=(5, 40, 4)) + 1
    return X, X.sum(axis=2) + rng.normal(size=(5, 40))


@pytest.mark.parametrize("dependent", [False, True])
def test_fits_are_those_of_least_squares_with_intercept(stack, dependent):
    """Of minimum norm, where features are linearly dependent."""
    X, y = stack
    if dependent:
        X = np.concatenate([X, X[:, :, :2].mean(axis=2, keepdims=True), X[:, :, :1]], axis=2)
    fits = sim.least_squares(X, y)
    for k in range(len(X)):
        mean = X[k].mean(axis=0)
        weights, _, rank, _ = np.linalg.lstsq(X[k] - mean, y[k] - y[k].mean(), rcond=None)
        assert rank == 4
        predicted = y[k].mean() + (X[k] - mean) @ weights
        np.testing.assert_allclose(fits.weights[k], weights, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(fits.predict(X[k])[k], predicted, rtol=1e-9)
        np.testing.assert_allclose(fits.rss[k], ((y[k] - predicted) ** 2).sum(), rtol=1e-9)


def test_scores_are_those_of_scikit_learn(stack, tests):
    scores = sim.score(sim.least_squares(*stack), *tests)
    models = [LinearRegression().fit(X, y) for X, y in zip(*stack, strict=True)]
    for k, (X, y) in enumerate(zip(*tests, strict=True)):
        predicted = np.array([model.predict(X) for model in models])
        np.testing.assert_allclose(scores.r2[k], [r2_score(y, p) for p in predicted])
        np.testing.assert_allclose(scores.mse[k], [mean_squared_error(y, p) for p in predicted])
        squares = ((predicted - predicted.mean(axis=0)) ** 2).mean(axis=1)
        np.testing.assert_allclose(scores.variance[k], squares)
        np.testing.assert_allclose(scores.bias[k], [mean_squared_error(y, predicted.mean(axis=0))])


def test_correlations_are_those_of_numpy(stack):
    expected = [np.corrcoef(part, rowvar=False) for part in stack[0]]
    np.testing.assert_allclose(sim.correlations(stack[0]), expected, rtol=1e-12)


@pytest.mark.parametrize("by_text", [False, True])
def test_merging_is_scored_on_the_features_that_the_fits_know(stack, tests, by_text):
    """The full model of the tables knows two features of three, the merged one their mean."""
    (X, y), (X_test, y_test) = stack, tests
    X, X_test = X[:, :, :3], X_test[:, :, :3]

    def reduce(X):
        mean = (X[:, :, :1] + X[:, :, 1:2]) / 2
        return np.concatenate([mean, X[:, :, 2:]], axis=2) if by_text else mean

    full = slice(0, 3) if by_text else slice(0, 2)
    fits = sim.least_squares(X[:, :, full], y), sim.least_squares(reduce(X), y)
    found = sim.score_merging(*fits, X_test, y_test)
    both = sim.score(fits[0], X_test[:, :, full], y_test)
    one = sim.score(fits[1], reduce(X_test), y_test)
    for name, scores in (("full", both), ("merged", one)):
        assert found[f"R² {name}"] == sim.mean_of_scores(scores.r2)
        assert found[f"MSE {name}"] == sim.mean_of_scores(scores.mse)
        assert found[f"Variance {name}"] == sim.mean_of_scores(scores.variance)
        assert found[f"Bias {name}"] == sim.mean_of_draws(scores.bias)
    assert found[sim.DIFFERENCE] == sim.mean_of_scores(one.mse - both.mse)
    assert len(found) == 9


# Random streams ----------------------------------------------------------------------------------


KEYS = [(0,), (1,), (0, "a"), (0, "b"), (1, "a"), (0, "a", 0), (0, "a", 1), (0, "a", True, 500)]


def test_each_key_has_a_stream_of_its_own():
    streams = np.array([sim.random_state(*key).normal(size=2000) for key in KEYS])
    others = np.corrcoef(streams)[np.triu_indices(len(KEYS), 1)]
    assert np.abs(others).max() < 5 / np.sqrt(2000)  # five standard deviations of none


def test_a_stream_depends_on_its_key_alone():
    """Not on the process, whose string hashes are salted, nor on what was drawn before."""
    for _ in range(2):
        drawn = sim.random_state(0, "bivariate", 0.7, (1.0, 0.5)).randint(2**31, size=3)
        assert drawn.tolist() == [213379828, 1361224150, 1200768239]


@pytest.mark.parametrize(
    ("repetitions", "draws", "per_draw", "comparisons_per_draw", "comparisons"),
    [(10, 4, 3, 2, 5), (40, 4, 10, 2, 5), (99, 9, 11, 2, 9), (500, 20, 25, 5, 40)],
)
def test_sizes_of_a_run(repetitions, draws, per_draw, comparisons_per_draw, comparisons):
    settings = sim.Settings(repetitions)
    assert (settings.draws, settings.repetitions_per_draw) == (draws, per_draw)
    assert settings.comparisons_per_draw == comparisons_per_draw
    assert settings.comparisons == comparisons


# Estimates ---------------------------------------------------------------------------------------

RUNS = 1000
BOUND = 4 * math.sqrt(0.95 * 0.05 / RUNS)


def test_error_adds_our_own_uncertainty_to_the_spread_unless_the_expectation_is_known():
    estimate = sim.Estimate(1.0, 1.96 * 0.3, 0.4)
    assert (estimate.expected, estimate.error) == (1.0, pytest.approx(0.5, abs=1e-5))
    estimate = sim.Estimate(1.0, 1.96 * 0.3, 0.4, 3.0)
    assert (estimate.expected, estimate.error) == (3.0, 0.4)
    assert sim.Estimate(1.0, math.nan, 0.4).error == 0.4
    assert sim.Estimate(1.0).error == 0


def normal(*shape):
    return lambda rng: rng.normal(7.0, 3.0, size=shape)


def two_levels(draws, repetitions):
    return lambda rng: rng.normal(7.0, 1.0, (draws, 1)) + rng.normal(0, 4.0, (draws, repetitions))


def shared(between, within):
    """Ten test sets, and forty repetitions that are scored on all of them."""
    return lambda rng: 7 + between * rng.normal(size=(10, 1)) + within * rng.normal(size=(1, 40))


def merges(rng, probability):
    return rng.random(400) < probability


@pytest.mark.parametrize(
    ("estimate", "values", "least", "most"),
    [
        # Exact for normal values, however few; 1.96 would cover 85 % with four.
        (sim.mean_of_repetitions, normal(4), 0.95, 0.95),
        (sim.mean_of_repetitions, normal(40), 0.95, 0.95),
        (sim.mean_of_draws, two_levels(4, 2), 0.95, 0.95),
        (sim.mean_of_draws, two_levels(20, 25), 0.95, 0.95),
        (sim.mean_of_draws, two_levels(100, 1), 0.95, 0.95),
        # It takes the fewer degrees of freedom, which is exact where one part dominates.
        (sim.mean_of_scores, shared(1.0, 0.0), 0.95, 0.95),
        (sim.mean_of_scores, shared(0.0, 1.0), 0.95, 0.99),
        (sim.mean_of_scores, shared(1.0, 1.0), 0.95, 0.99),
        (sim.mean_of_scores, shared(0.1, 2.0), 0.95, 0.99),
        # The steps of a binomial distribution make 2 % at these n, and 1 % at 400.
        (sim.median, normal(40), 0.93, 0.97),
        (sim.median, lambda rng: 7 + rng.standard_cauchy(size=101), 0.93, 0.97),
        *(
            (partial(sim.merge_count, probability=p), partial(merges, probability=p), 0.94, 0.96)
            for p in (0.045, 0.664)
        ),
    ],
)
def test_intervals_cover(estimate, values, least, most):
    rng = np.random.default_rng(0)
    found = [estimate(values(rng)) for _ in range(RUNS)]
    truth = 7.0 if math.isnan(found[0].expectation) else found[0].expectation
    share = np.mean([abs(e.value - truth) <= e.margin for e in found])
    assert least - BOUND <= share <= most + BOUND


def test_counts_are_per_500_repetitions():
    merged = np.arange(40) < 10
    found = sim.merge_count(merged, 0.3)
    assert (found.value, found.expectation) == (125, 150)
    assert sim.certain_count(merged) == sim.Estimate(125.0, 0.0, 0.0)


# Spread of runs of the paper's size, by 3000 such runs, which give a standard deviation to 1.3 %:
# 6 % allow for four of its standard errors and a little for the estimate itself.
@pytest.mark.parametrize(
    ("one_run", "ours", "estimate", "bounds"),
    [
        (
            lambda rng: rng.exponential(3.0, size=500).mean(),
            lambda rng: rng.exponential(3.0, size=40_000),
            sim.mean_of_repetitions,
            (0.06, 0.06),
        ),
        (
            lambda rng: np.median(rng.normal(size=500)),
            lambda rng: rng.normal(size=40_000),
            sim.median,
            (0.16, 0.16),  # its margin is a random gap of order statistics
        ),
        (
            lambda rng: (rng.random(500) < 0.66).sum(),
            lambda rng: rng.random(300) < 0.66,
            lambda merged: sim.merge_count(merged, 0.66),
            (0.06, 0.06),
        ),
        (  # parts of the test set, of the repetitions, and of both together, all of a similar size
            lambda rng: (0.3 * rng.normal() + rng.normal(0, 37**0.5, size=500)).mean(),
            lambda rng: (
                0.3 * rng.normal(size=(3000, 1))
                + rng.normal(0, 6, size=(1, 1000))
                + rng.normal(size=(3000, 1000))
            ),
            sim.mean_of_scores,
            (0.06, 0.06),
        ),
        (
            lambda rng: rng.normal() + rng.normal(0, 15, size=500).mean(),
            lambda rng: rng.normal(size=(3000, 1)) + rng.normal(0, 15, (3000, 2000)),
            sim.mean_of_draws,
            (0.06, 0.10),  # the repetitions of our own draws add 4 %
        ),
    ],
    ids=["repetitions", "median", "count", "scores", "draws"],
)
def test_spread_is_that_of_runs_of_the_papers_size(one_run, ours, estimate, bounds):
    rng = np.random.default_rng(1)
    simulated = np.std([one_run(rng) for _ in range(3000)], ddof=1)
    assert -bounds[0] <= estimate(ours(rng)).spread / simulated - 1 <= bounds[1]


@pytest.mark.parametrize("estimate", [sim.mean_of_repetitions, sim.median])
def test_empty_intervals_are_left_out(estimate, rng):
    values = rng.normal(size=30)
    assert estimate(np.insert(values, [0, 4, 20], np.nan)) == estimate(values)


def test_a_draw_of_one_repetition_is_a_single_run(rng):
    values = rng.normal(size=(12, 1))
    found = sim.mean_of_draws(values)
    assert found.spread == pytest.approx(values.std(ddof=1))
    assert found.margin == pytest.approx(sim.mean_of_repetitions(values[:, 0]).margin)
