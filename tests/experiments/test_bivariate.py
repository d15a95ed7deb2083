"""Two features: thresholds to all digits, counts by their closed form, scores one by one."""

import math
from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from experiments import bivariate
from experiments import simulation as sim
from experiments.bivariate import CASES, CLAIMS, SHARE_OF_TABLES, WEIGHTS
from experiments.tables import BEYOND, DIFFERS, REPRODUCED, check_claims
from lincfa import LinCFA, theory
from lincfa.datasets import make_bivariate

SETTINGS = sim.Settings(300)


@pytest.fixture(scope="module")
def results(only_methods):
    with only_methods():
        return [bivariate.simulate(*case, SETTINGS) for case in CASES]


# Thresholds and expected counts of merges; the last threshold is printed −25.675559.
EXPECTED = {
    ("2dimSyn", 0.5): (0.997217, 0.0),
    ("2dimSyn", 1.0): (0.988867, 22.5),
    ("2dimSyn", 10.0): (-0.113338, 332.4),
    ("2dimSynSmall", 0.5): (0.599198, 317.5),
    ("2dimSynSmall", 1.0): (-0.603206, 335.1),
    ("2dimSynSmall", 10.0): (-159.320641, 341.0),
}


def test_thresholds_and_counts(results):
    """Thresholds to six digits; counts within four standard deviations of their expectation."""
    assert len(CASES) == 12
    for (table, noise, share), estimates in zip(CASES, results, strict=True):
        threshold, merges = EXPECTED[table, noise]
        found = estimates["Theoretical ρ̄"]
        assert round(found.value, 6) == threshold
        assert math.isnan(found.margin)
        if share == SHARE_OF_TABLES:
            assert round(estimates["Merges (empirical)"].expectation, 1) == merges
        rho = share / math.sqrt(share**2 + (1 - share) ** 2)
        for name, tolerance in (("Merges (empirical)", 1.0), ("Merges at tolerance 2", 2.0)):
            p = theory.merge_probability(500, rho, *WEIGHTS[table], noise**2, tolerance=tolerance)
            assert estimates[name].expectation == pytest.approx(500 * p)
            sd = 500 * math.sqrt(p * (1 - p) / SETTINGS.repetitions)
            assert abs(estimates[name].value - 500 * p) <= 4 * sd + 1e-9


@pytest.mark.parametrize("case", [("2dimSyn", 1.0, 0.7), ("2dimSynSmall", 10.0, 0.8)])
def test_estimates_are_those_of_one_regression_at_a_time(only_methods, case):
    table, noise, share = case
    with only_methods():
        found = bivariate.simulate(*case, sim.Settings(5, seed=5))
    weights = WEIGHTS[table]
    make = partial(make_bivariate, 500, weights=weights, noise=noise, share=share)
    random = sim.random_state(5, "bivariate", *case)
    X, y = sim.draw(make, 5, random)
    tests = sim.draw(make, 100, random)
    means = X.mean(axis=2, keepdims=True)
    full, merged = ([LinearRegression().fit(Z[k], y[k]) for k in range(5)] for Z in (X, means))
    rho = np.array([np.corrcoef(part.T)[0, 1] for part in X])
    s2 = np.array([((y[k] - full[k].predict(X[k])) ** 2).sum() / 497 for k in range(5)])
    w1, w2 = np.array([model.coef_ for model in full]).T
    empirical = 1 - 2 * s2 / (499 * (w1 - w2) ** 2)
    theoretical = 1 - 2 * noise**2 / (499 * (weights[0] - weights[1]) ** 2)
    expected = {
        "Theoretical ρ̄": sim.Estimate(theoretical),
        "Empirical ρ̄ (median)": sim.median(empirical),
        "ρ̂ of x₁, x₂": sim.mean_of_repetitions(rho),
        "σ̂²": sim.mean_of_repetitions(s2),
        "ŵ₁": sim.mean_of_repetitions(w1),
        "ŵ₂": sim.mean_of_repetitions(w2),
        "ŵ": sim.mean_of_repetitions(np.array([model.coef_[0] for model in merged])),
        "Merges (theoretical)": sim.certain_count(rho >= theoretical),
        **sim.score_merging(sim.least_squares(X, y), sim.least_squares(means, y), *tests),
    }
    for name, estimate in expected.items():
        for part in ("value", "margin", "spread"):
            known = pytest.approx(getattr(estimate, part), rel=1e-7, nan_ok=True)
            assert getattr(found[name], part) == known, name
    counts = {"Merges (empirical)": 1.0, "Merges at tolerance 2": 2.0}
    for name, tolerance in counts.items():
        model = LinCFA(tolerance=tolerance)
        merges = [model.fit(X[k], y[k]).n_groups_ == 1 for k in range(5)]
        assert found[name].value == 100 * sum(merges)
    assert set(found) == {*expected, *counts}


def test_only_the_sixth_threshold_differs(results):
    """18 numbers in each column of the long tables, with the difference of errors; 7 in short."""
    tables = {table.name: table for table in bivariate.tables(SETTINGS, results)}
    assert list(tables) == ["bidimSmall", "2dimSyn", "2dimSynSmall"]
    for name, rows in (("2dimSyn", 3 * 18), ("2dimSynSmall", 3 * 18), ("bidimSmall", 6 * 7)):
        table = tables[name]
        assert len([row for row in table.rows if row.verdict != BEYOND]) == rows
        derived = len(table.columns())  # differences of errors, which the paper does not print
        assert table.counts()[REPRODUCED] == rows - derived - (name == "2dimSynSmall")
    (row,) = [row for row in tables["2dimSynSmall"].rows if row.verdict == DIFFERS]
    assert (row.quantity, row.column) == ("Theoretical ρ̄", "σ = 10")
    assert "−159.320641" in row.reason
    assert tables["bidimSmall"].columns()[::2] == [
        "w = 0.2, 0.8; σ = 0.5",
        "w = 0.2, 0.8; σ = 10",
        "w = 0.47, 0.52; σ = 1",
    ]
    claims = tables["bidimSmall"].claims
    assert [claims[k].ours for k in (0, 1, 3)] == [True] * 3  # the third depends on the seed
    assert claims[0].detail.startswith("merges: 0, 0, 500, 500, 500, 500")
    counts = [
        f"{estimates['Merges (empirical)'].value:.0f}"
        for case, estimates in zip(CASES, results, strict=True)
        if case[-1] == SHARE_OF_TABLES
    ]
    assert claims[1].detail.startswith(f"merges: {', '.join(counts)}; settings of the text: ")


def case(known, estimated, growth):
    return {
        "Merges (theoretical)": sim.Estimate(known),
        "Merges (empirical)": sim.Estimate(estimated),
        "MSE merged − full": sim.Estimate(growth, 0.1),
    }


@pytest.mark.parametrize(
    ("cases", "held"),
    [
        ([case(500, 300, 0.1), case(0, 200, 0.11)], [True] * 4),
        ([case(499, 300, 0.1), case(0, 200, 0.11)], [False, True, True, True]),
        ([case(500, 240, 0.1), case(0, 200, 0.11)], [True, False, True, True]),
        ([case(500, 300, 0.1), case(0, 260, 0.11)], [True, False, True, True]),
        ([case(500, 300, 0.11), case(0, 200, 0.11)], [True, True, False, True]),
        ([case(500, 300, 0.1), case(0, 200, 0.1)], [True, True, True, False]),
    ],
)
def test_each_claim_can_fail_alone(cases, held):
    assert [claim.ours for claim in check_claims(CLAIMS, cases, cases)] == held
