"""Three features: correlations, the interval, and counts that have a closed form too."""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from experiments import simulation as sim
from experiments import trivariate
from experiments.tables import DIFFERS
from experiments.trivariate import (
    THIRD_OF_TABLES,
    THIRD_OF_TEXT,
    WEIGHTS,
    merge_probability,
    population_correlations,
)
from lincfa import theory
from lincfa.datasets import make_trivariate

SETTINGS = sim.Settings(1000)
THIRDS = (THIRD_OF_TABLES, THIRD_OF_TEXT)


@pytest.fixture(scope="module")
def results(only_methods):
    with only_methods():
        return [trivariate.simulate(third, SETTINGS) for third in THIRDS]


@pytest.mark.parametrize("third", THIRDS)
def test_population_correlations_are_those_of_a_large_sample(third):
    """Within five standard deviations: (1 − ρ²)/√n for normal data, less for uniform ones."""
    X, _ = make_trivariate(400_000, third=third, random_state=0)
    known = population_correlations(third)
    bound = 5 * (1 - known**2) / math.sqrt(400_000) + 1e-12
    assert (np.abs(np.corrcoef(X, rowvar=False) - known) <= bound).all()


def test_counts_lie_within_four_standard_deviations_of_their_expectation(results):
    for third, estimates in zip(THIRDS, results, strict=True):
        for name, tolerance in (("Merges (empirical)", 1.0), ("Merges at tolerance 2", 2.0)):
            p = merge_probability(population_correlations(third), tolerance)
            assert estimates[name].expectation == pytest.approx(500 * p)
            sd = 500 * math.sqrt(p * (1 - p) / SETTINGS.repetitions)
            assert abs(estimates[name].value - 500 * p) <= 4 * sd


def test_merge_probability_in_small_samples(monkeypatch):
    """With six samples, standardised to the same correlations, where degrees of freedom matter."""
    n, repetitions = 6, 4000
    monkeypatch.setattr(trivariate, "SAMPLES", n)
    corr = population_correlations(THIRD_OF_TABLES)
    rng = np.random.default_rng(0)
    raw = rng.normal(size=(n, 3))
    raw -= raw.mean(axis=0)
    X = np.linalg.qr(raw)[0] @ np.linalg.cholesky(corr).T * math.sqrt(n - 1)
    np.testing.assert_allclose(np.corrcoef(X, rowvar=False), corr)
    Y = X @ WEIGHTS + 0.5 * rng.normal(size=(repetitions, n))
    Y -= Y.mean(axis=1, keepdims=True)
    weights, rss, *_ = np.linalg.lstsq(X, Y.T, rcond=None)
    growth = theory.delta_bias_3d(*weights, corr[0, 1], corr[0, 2], corr[1, 2])
    for tolerance in (1.0, 2.0):
        p = merge_probability(corr, tolerance)
        merged = growth <= tolerance * rss / (n - 4) / (n - 1)
        assert abs(merged.mean() - p) <= 4 * math.sqrt(p * (1 - p) / repetitions)


def test_interval_of_the_tables_contains_the_correlation_and_that_of_the_text_does_not(results):
    for third, limits, merges in (
        (THIRD_OF_TABLES, (0.827, 0.934), 500),
        (THIRD_OF_TEXT, (0.948, 0.995), 0),
    ):
        corr = population_correlations(third)
        low, high = theory.interval_3d(500, *WEIGHTS, 0.25, corr[0, 2], corr[1, 2])
        assert (round(float(low), 3), round(float(high), 3)) == limits
        assert (low <= 0.880 <= high) == (merges == 500)
        assert results[THIRDS.index(third)]["Merges (theoretical)"].value == merges
    for name, printed in (("lower", 0.826063), ("upper", 0.932936)):
        found = results[0][f"Theoretical ρ̄, {name}"]
        assert 0 < found.error < 0.001
        assert abs(found.value - printed) <= 4 * found.error


@pytest.mark.parametrize("third", THIRDS)
def test_estimates_are_those_of_one_regression_at_a_time(only_methods, third):
    """The full regression of the tables has two features, that of the text all three."""
    with only_methods():
        found = trivariate.simulate(third, sim.Settings(6, seed=2))
    random = sim.random_state(2, "trivariate", third)
    make = partial(make_trivariate, 500, weights=WEIGHTS, noise=0.5, third=third)
    X, y = sim.draw(make, 6, random)
    features = slice(0, 2) if third == THIRD_OF_TABLES else slice(0, 3)
    means = X[:, :, :2].mean(axis=2, keepdims=True)
    reduced = np.concatenate([means, X[:, :, 2 : features.stop]], axis=2)
    values = []
    for k in range(6):
        full = LinearRegression().fit(X[k], y[k])
        s2 = ((y[k] - full.predict(X[k])) ** 2).sum() / 496
        weight = LinearRegression().fit(reduced[k], y[k]).coef_[0]
        corr = np.corrcoef(X[k], rowvar=False)
        limits = theory.interval_3d(500, *full.coef_, s2, corr[0, 2], corr[1, 2])
        values.append([s2, *full.coef_[:2], weight, corr[0, 1], *map(float, limits)])
    *estimated, lower, upper = np.array(values).T
    for name, part in zip(("σ̂²", "ŵ₁", "ŵ₂", "ŵ", "ρ̂ of x₁, x₂"), estimated, strict=True):
        assert found[name].value == pytest.approx(part.mean(), rel=1e-9)
    for name, part in (("lower", lower), ("upper", upper)):
        expected = pytest.approx(np.nanmedian(part), rel=1e-9)
        assert found[f"Empirical ρ̄, {name} (median)"].value == expected
    fits = sim.least_squares(X[:, :, features], y), sim.least_squares(reduced, y)
    for name, estimate in sim.score_merging(*fits, *sim.draw(make, 100, random)).items():
        assert found[name].value == pytest.approx(estimate.value, rel=1e-9)


def test_everything_printed_is_reproduced(results):
    short, long = trivariate.tables(SETTINGS, results)
    assert (short.name, long.name) == ("3dimSyn", "3dimSynExtended")
    assert len(short.rows) == 7  # with the difference of the errors
    assert [claim.ours for claim in short.claims] == [True]
    assert long.columns() == ["σ = 0.5"]
    assert [
        row.quantity for table in (short, long) for row in table.rows if row.verdict == DIFFERS
    ] == []
