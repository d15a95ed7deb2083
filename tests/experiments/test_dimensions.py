"""A hundred features: the order of dimensions and errors in every draw, and the figure."""

import numpy as np
import pytest

from experiments import dimensions
from experiments.dimensions import CLAIMS_ON_SIZES, SIZES, D, simulate, summarize
from experiments.simulation import Estimate, Settings, random_state
from experiments.tables import BEYOND, REPRODUCED, check_claims
from lincfa.datasets import make_correlated
from pseudocode import lincfa

REPETITIONS = 25
KINDS = ("theoretical", "empirical")


def draws(by_text, seeds):
    """Two draws of weights and test set for each seed."""
    return [
        simulate(draw, by_text, Settings(seed=seed), repetitions=REPETITIONS)
        for seed in range(seeds)
        for draw in range(2)
    ]


@pytest.fixture(scope="module")
def ours():
    return draws(by_text=False, seeds=4)


@pytest.fixture(scope="module")
def by_text():
    return draws(by_text=True, seeds=3)


def test_dimensions_and_errors_with_the_settings_of_the_tables(ours):
    """The two errors differ by more than their standard deviation over repetitions in any draw.

    The mean over 25 repetitions is then five standard errors away from the wrong order.
    """
    for part in ours:
        assert 3 <= part["d (theoretical)"].mean() <= 4.5
        assert part["d (theoretical)"].mean() < part["d (empirical)"].mean() < 25
        full, known, estimated = (
            part[f"MSE {name}"] for name in ("full", "merged (theoretical)", "merged (empirical)")
        )
        for smaller, larger in ((known, estimated), (estimated, full)):
            difference = larger - smaller
            assert difference.mean() > 2 * difference.std() / np.sqrt(REPETITIONS)


def test_dimensions_and_errors_with_the_settings_of_the_text(ours, by_text):
    """With σ² in the formula both errors come close: only dimensions and the full error differ."""
    for part in by_text:
        assert 1 <= part["d (theoretical)"].mean() <= 2
        assert part["d (theoretical)"].mean() < part["d (empirical)"].mean() < 25
        merged = [part[f"MSE merged ({kind})"].mean() for kind in KINDS]
        assert max(merged) < part["MSE full"].mean()
    for parts in (ours, by_text):
        assert np.mean([part["d (empirical)"] for part in parts]) == pytest.approx(15, abs=1)


@pytest.mark.parametrize(
    ("means", "holds"),
    [
        ((4, 15, 108, 108, 157), True),
        ((15, 15, 100, 108, 157), False),
        ((4, 50, 100, 108, 157), False),  # not far below D
        ((4, 15, 109, 108, 157), False),
        ((4, 15, 100, 108, 108), False),
    ],
)
def test_any_wrong_order_is_seen(means, holds):
    names = (*(f"d ({kind})" for kind in KINDS), *(f"MSE merged ({kind})" for kind in KINDS))
    fine, part = (
        dict(zip((*names, "MSE full"), np.array(values)[:, None], strict=True))
        for values in ((4, 15, 100, 108, 157), means)
    )
    assert dimensions._ordered([fine, part]) == (holds, f"in {1 + holds} of 2 draws")


@pytest.mark.parametrize("by_text", [False, True])
def test_one_repetition_is_that_of_the_literal_pseudocode(by_text):
    """Overlapping groups and new trees for the tables, a partition and one tree for the text."""
    part = simulate(2, by_text, Settings(seed=9), repetitions=1)
    random = random_state(9, "dimensions", 2, by_text, 500)
    weights = random.uniform(size=D)
    tree = np.array([-1, *(random.randint(i) for i in range(1, D))]) if by_text else None
    (X_test, y_test), (X, y) = (
        make_correlated(500, D, noise=10.0, weights=weights, tree=tree, random_state=random)
        for _ in range(2)
    )
    groups = lincfa(X, y, overlapping=not by_text)
    assert (sum(map(len, groups)) == D) == by_text
    assert part["d (empirical)"].tolist() == [len(groups)]
    means, tests = (
        np.column_stack([Z[:, group].mean(axis=1) for group in groups]) for Z in (X, X_test)
    )
    mse = {}
    for name, Z, Z_test in (("full", X, X_test), ("merged (empirical)", means, tests)):
        columns, columns_test = (np.column_stack([np.ones(500), part]) for part in (Z, Z_test))
        residual = y_test - columns_test @ np.linalg.lstsq(columns, y, rcond=None)[0]
        mse[name] = np.mean(residual**2)
        assert part[f"MSE {name}"] == pytest.approx([mse[name]])
        assert part[f"R² {name}"] == pytest.approx([1 - mse[name] / y_test.var()])
    ratio = mse["merged (empirical)"] / mse["full"]
    assert part["MSE merged / full (empirical)"] == pytest.approx([ratio])


def test_methods_are_compared_in_the_first_repetitions_only(only_methods):
    with only_methods("ridge"):
        part = simulate(0, False, Settings(), repetitions=3, comparisons=2)
    assert len(part["MSE full"]) == 3
    assert len(part["MSE ridge"]) == 2
    assert part["d ridge"].tolist() == [D, D]
    assert summarize([part, part])["MSE ridge"].value == part["MSE ridge"].mean()


def test_table_has_both_settings(ours, by_text):
    (table,) = dimensions.tables(Settings(40), ours[:4] + by_text[:4])
    rows = {row.quantity: row for row in table.rows}
    row = rows["d (theoretical)"]
    assert row.paper.value == 4
    means = [np.mean([part["d (theoretical)"] for part in parts[:4]]) for parts in (ours, by_text)]
    assert [row.ours.value, row.by_text.value] == pytest.approx(means)
    assert table.counts()[REPRODUCED] == 8
    assert rows["MSE merged / full (empirical)"].verdict == BEYOND
    (claim,) = table.claims
    assert claim.ours
    assert claim.detail.startswith("in 4 of 4 draws")
    assert table.notes[0].startswith("4 draws of weights and test set with 10 repetitions")


# The figure --------------------------------------------------------------------------------------

N = len(SIZES)


def made_curves():
    """Curves for which all seven claims hold."""
    ends = {
        "d (theoretical)": (2, 8, 0.1),
        "d (empirical)": (10, 20, 0.1),
        "R² full": (0.2, 0.9, 0.1),
        "R² merged (theoretical)": (0.88, 0.9, 0.1),
        "R² merged (empirical)": (0.87, 0.9, 0.1),
        "MSE full": (400, 100, 0.1),
        "MSE merged (theoretical)": (101, 101, 0.1),
        "MSE merged (empirical)": (120, 104, 0.1),
        "MSE merged / full (theoretical)": (0.25, 0.95, 0.01),
        "MSE merged / full (empirical)": (0.3, 0.98, 0.01),
    }
    return {
        name: [Estimate(float(value), margin) for value in np.linspace(first, last, N)]
        for name, (first, last, margin) in ends.items()
    }


@pytest.mark.parametrize(
    ("name", "k", "value", "margin", "broken"),
    [
        ("d (theoretical)", 4, 4.0 - 0.15, 0.1, None),  # a step down within its margins
        ("d (theoretical)", 4, 1.0, 0.1, 0),  # beyond its margins
        ("d (theoretical)", -1, 2.1, 0.1, 0),  # the end is not above the start
        ("d (empirical)", 5, 12.0, 0.1, 1),
        ("d (empirical)", 0, 1.9, 0.1, 2),
        ("d (empirical)", -1, 50.0, 0.1, 2),
        ("MSE merged / full (theoretical)", 0, 0.5, 0.1, 3),
        ("MSE merged / full (empirical)", 0, 0.5, 0.1, 3),
        ("MSE merged / full (theoretical)", -1, 0.95, 0.06, 4),  # not surely below 1
        ("MSE merged / full (theoretical)", -1, 0.89, 0.1, 4),
        ("MSE merged / full (empirical)", -1, 1.02, 0.01, 5),
        ("R² merged (theoretical)", 3, 0.83, 0.1, 6),
        ("R² merged (empirical)", 3, 0.97, 0.1, 6),
    ],
)
def test_each_claim_can_fail_alone(name, k, value, margin, broken):
    curves = made_curves()
    curves[name][k] = Estimate(value, margin)
    claims = check_claims(CLAIMS_ON_SIZES, curves, made_curves())
    assert [claim.ours for claim in claims] == [k != broken for k in range(7)]
    assert all(claim.by_text for claim in claims)


def test_claims_state_their_numbers():
    details = [c.detail for c in check_claims(CLAIMS_ON_SIZES, made_curves(), made_curves())]
    assert details[0] == "d = 2.0 … 8.0"
    assert details[2] == "d at most 8.0 and 20.0"
    assert details[3] == "ratio of errors 0.250 and 0.300"
    assert details[5] == "ratio of errors 0.980 ± 0.010 at n = 3000"
    assert details[6] == "R² varies by 0.020, 0.030; full by 0.70"


def test_points_of_the_figure_are_in_the_table_and_drawn():
    """Made-up values of three draws and two repetitions, in the order of the jobs."""
    curves = made_curves()
    values = {
        shift: [
            [{name: np.full(2, curve[k].value + shift) for name, curve in curves.items()}] * 3
            for k in range(N)
        ]
        for shift in (0.0, 0.01)
    }
    (table,) = dimensions.tables_of_sizes(Settings(), values[0.0] + values[0.01])
    assert table.columns() == [f"n = {n}" for n in SIZES]
    assert len(table.rows) == N * 10
    assert len(table.claims) == 7
    for row in table.rows:
        expected = curves[row.quantity][table.columns().index(row.column)].value
        assert row.ours.value == pytest.approx(expected)
        assert row.by_text.value == pytest.approx(expected + 0.01)

    colors = []
    for panel, score in zip(table.figure.axes, ("d", "R²", "MSE"), strict=True):
        drawn = [line for line in panel.get_lines() if len(line.get_xdata()) == N]
        names = [name for name in curves if name.startswith(f"{score} ") and "/" not in name]
        assert all(list(line.get_xdata()) == list(SIZES) for line in drawn)
        for style, shift in (("-", 0.0), ("--", 0.01)):
            found = [line.get_ydata() for line in drawn if line.get_linestyle() == style]
            expected = [[point.value + shift for point in curves[name]] for name in names]
            np.testing.assert_allclose(sorted(map(list, found)), sorted(expected))
        colors.append({line.get_color() for line in drawn})
    assert colors[0] < colors[1] == colors[2]
    assert len(table.figure.axes[1].get_legend().get_texts()) == 5


def test_a_point_has_all_draws_with_few_repetitions():
    """Less than half the error at n = 110, in every draw; the ratio is a fifth and less."""
    draws = dimensions.simulate_size(110, False, Settings(10))
    assert [len(part["MSE full"]) for part in draws] == [2] * 4
    assert len({part["MSE full"][0] for part in draws}) == 4
    for part in draws:
        for kind in KINDS:
            assert part[f"MSE merged ({kind})"].mean() < 0.5 * part["MSE full"].mean()
    again = simulate(3, False, Settings(10), n=110, repetitions=2)
    np.testing.assert_array_equal(again["MSE full"], draws[3]["MSE full"])
