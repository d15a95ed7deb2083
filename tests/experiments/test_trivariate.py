"""Three features: correlations, the interval, and counts that have a closed form too."""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from experiments import trivariate
from experiments.simulation import Settings, draw, random_state
from experiments.tables import DIFFERS
from experiments.trivariate import TABLES_THIRD, TEXT_THIRD, WEIGHTS, merge_share, population
from lincfa import theory
from lincfa.datasets import make_trivariate

SETTINGS = Settings(1000)


@pytest.fixture(scope="module")
def outcomes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trivariate, "compare_methods", lambda *args: {})
        return [trivariate.simulate(third, SETTINGS) for third in (TABLES_THIRD, TEXT_THIRD)]


def interval(corr):
    return theory.interval_3d(500, *WEIGHTS, 0.25, corr[0, 2], corr[1, 2])


@pytest.mark.parametrize("third", [TABLES_THIRD, TEXT_THIRD])
def test_population_correlations_are_those_of_a_large_sample(third):
    """Within five standard deviations: (1 − ρ²)/√n for normal data, less for uniform ones."""
    X, _ = make_trivariate(400_000, third=third, random_state=0)
    known = population(third)
    np.testing.assert_allclose(np.diag(known), 1)
    bound = 5 * (1 - known**2) / math.sqrt(400_000) + 1e-12
    assert (np.abs(np.corrcoef(X, rowvar=False) - known) <= bound).all()


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize(
    ("name", "tolerance"), [("Merges (empirical)", 1.0), ("Merges at tolerance 2", 2.0)]
)
def test_counts_lie_within_four_standard_deviations_of_their_closed_form(
    outcomes, k, name, tolerance
):
    p = merge_share(population((TABLES_THIRD, TEXT_THIRD)[k]), tolerance)
    assert outcomes[k].exact[name] == pytest.approx(500 * p)
    sd = 500 * math.sqrt(p * (1 - p) / SETTINGS.repetitions)
    assert sd > 0
    assert abs(outcomes[k].estimates[name].value - 500 * p) <= 4 * sd


def test_merge_share_is_that_of_estimates_in_small_samples(monkeypatch):
    """With six samples, standardised to the same correlations, where degrees of freedom matter."""
    n, repetitions = 6, 4000
    monkeypatch.setattr(trivariate, "SAMPLES", n)
    corr = population(TABLES_THIRD)
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
        p = merge_share(corr, tolerance)
        merged = growth <= tolerance * rss / (n - 4) / (n - 1)
        assert abs(merged.mean() - p) <= 4 * math.sqrt(p * (1 - p) / repetitions)


def test_interval_of_the_table():
    """At the difference of correlations with x₃ that the table has, 0.108."""
    low, high = theory.interval_3d(500, *WEIGHTS, 0.25, 0.894, 0.786)
    assert (round(float(low), 3), round(float(high), 3)) == (0.826, 0.933)


def test_mean_interval_agrees_with_the_printed_one(outcomes):
    for name, printed in (("lower", 0.826063), ("upper", 0.932936)):
        found = outcomes[0].estimates[f"Theoretical ρ̄, {name}"]
        assert 0 < found.error < 0.001
        assert abs(found.value - printed) <= 4 * found.error


def test_generator_of_the_text_excludes_the_printed_correlation(outcomes):
    low, high = interval(population(TEXT_THIRD))
    assert (round(float(low), 3), round(float(high), 3)) == (0.948, 0.995)
    assert not low <= 0.880 <= high
    low, high = interval(population(TABLES_THIRD))
    assert low < 0.880 < high
    counts = [outcome.estimates["Merges (theoretical)"].value for outcome in outcomes]
    assert counts == [500, 0]


def test_full_regression_of_the_table_has_two_features(outcomes):
    """Its variance is 3σ²/n; that of all three features, of the text, 4σ²/n.

    The variance over the samples of the test sets is known to a few per cent.
    """
    for outcome, features in zip(outcomes, (2, 3), strict=True):
        found = outcome.estimates["Variance full"].value
        assert found == pytest.approx((features + 1) * 0.25 / 500, rel=0.1)
        found = outcome.estimates["Variance merged"].value
        assert found == pytest.approx(features * 0.25 / 500, rel=0.1)


@pytest.mark.parametrize("third", [TABLES_THIRD, TEXT_THIRD])
def test_estimates_are_those_of_one_regression_at_a_time(monkeypatch, third):
    monkeypatch.setattr(trivariate, "compare_methods", lambda *args: {})
    found = trivariate.simulate(third, Settings(6, seed=2)).estimates
    random = random_state(2, "trivariate", third)
    make = partial(make_trivariate, 500, weights=WEIGHTS, noise=0.5, third=third)
    X, y = draw(make, 6, random)
    values = {name: [] for name in ("σ̂²", "ŵ₁", "ŵ₂", "ŵ", "lower", "upper")}
    for k in range(6):
        full = LinearRegression().fit(X[k], y[k])
        s2 = ((y[k] - full.predict(X[k])) ** 2).sum() / 496
        mean = X[k, :, :2].mean(axis=1)
        merged = [mean] if third == TABLES_THIRD else [mean, X[k, :, 2]]
        corr = np.corrcoef(X[k], rowvar=False)
        limits = theory.interval_3d(500, *full.coef_, s2, corr[0, 2], corr[1, 2])
        weight = LinearRegression().fit(np.column_stack(merged), y[k]).coef_[0]
        for name, value in zip(
            values, (s2, full.coef_[0], full.coef_[1], weight, *limits), strict=True
        ):
            values[name].append(float(value))
    for name in ("σ̂²", "ŵ₁", "ŵ₂", "ŵ"):
        assert found[name].value == pytest.approx(np.mean(values[name]), rel=1e-9)
    for name in ("lower", "upper"):
        median = np.nanmedian(values[name])
        assert found[f"Empirical ρ̄, {name} (median)"].value == pytest.approx(median, rel=1e-9)


def test_everything_printed_is_reproduced(outcomes):
    short, full = trivariate.tables(SETTINGS, outcomes)
    assert (short.name, full.name) == ("3dimSyn", "3dimSynExtended")
    assert len(short.rows) == 7  # with the difference of the errors
    assert len(short.claims) == 1
    assert short.claims[0].ours
    assert full.columns() == ["σ = 0.5"]
    assert [
        row.quantity for table in (short, full) for row in table.rows if row.verdict == DIFFERS
    ] == []
