"""A hundred features: the order of dimensions and errors, in every draw of several seeds."""

import numpy as np
import pytest

from experiments import dimensions
from experiments.dimensions import D, jobs, ordered, simulate, summarize, tables
from experiments.simulation import Settings, random_state
from lincfa.datasets import make_correlated
from pseudocode import lincfa

REPETITIONS = 25


def draws(as_printed, seeds):
    """Two draws of weights and test set for each seed."""
    return [
        simulate(draw, as_printed, Settings(seed=seed), repetitions=REPETITIONS)
        for seed in range(seeds)
        for draw in range(2)
    ]


@pytest.fixture(scope="module")
def behind():
    return draws(as_printed=False, seeds=4)


@pytest.fixture(scope="module")
def printed():
    return draws(as_printed=True, seeds=3)


def test_dimensions_and_errors_are_ordered_in_every_draw(behind):
    """The two errors differ by more than their standard deviation over repetitions in any draw.

    The mean over 25 repetitions is then five standard errors away from the wrong order.
    """
    assert ordered(behind).tolist() == [True] * 8
    for part in behind:
        assert part["d (theoretical)"].mean() < part["d (empirical)"].mean() < 25
        full, known, found = (
            part[f"MSE {name}"] for name in ("full", "merged (theoretical)", "merged (empirical)")
        )
        for smaller, larger in ((known, found), (found, full)):
            difference = larger - smaller
            assert difference.mean() > 2 * difference.std() / np.sqrt(REPETITIONS)


def test_order_as_printed(printed):
    """With σ² in the formula both errors come close: only dimensions and the full error differ."""
    for part in printed:
        assert part["d (theoretical)"].mean() < part["d (empirical)"].mean() < 25
        merged = [part[f"MSE merged ({which})"].mean() for which in ("theoretical", "empirical")]
        assert max(merged) < part["MSE full"].mean()


def test_theoretical_dimension_is_three_to_four_with_sigma(behind):
    for part in behind:
        assert 3 <= part["d (theoretical)"].mean() <= 4.5


def test_theoretical_dimension_is_one_to_two_with_sigma_squared(printed):
    for part in printed:
        assert 1 <= part["d (theoretical)"].mean() <= 2


def test_empirical_dimension_is_about_fifteen(behind, printed):
    for parts in (behind, printed):
        assert np.mean([part["d (empirical)"] for part in parts]) == pytest.approx(15, abs=1)


def in_order(**changes):
    """A draw in the order of the paper, but for the changes."""
    means = {"dt": 4.0, "de": 15.0, "theoretical": 100.0, "empirical": 108.0, "full": 157.0}
    means |= changes
    return {
        "d (theoretical)": np.array([means["dt"]]),
        "d (empirical)": np.array([means["de"]]),
        "MSE merged (theoretical)": np.array([means["theoretical"]]),
        "MSE merged (empirical)": np.array([means["empirical"]]),
        "MSE full": np.array([means["full"]]),
    }


@pytest.mark.parametrize(
    "wrong", [{"dt": 15.0}, {"de": 50.0}, {"theoretical": 109.0}, {"full": 108.0}]
)
def test_any_wrong_order_is_seen(wrong):
    assert ordered([in_order(), in_order(**wrong), in_order()]).tolist() == [True, False, True]
    assert ordered([in_order(theoretical=108.0)]).all()  # ≤


@pytest.mark.parametrize("as_printed", [False, True])
def test_one_repetition_is_that_of_the_literal_pseudocode(as_printed):
    """Overlapping groups and new trees behind the table, a partition and one tree as printed."""
    part = simulate(2, as_printed, Settings(seed=9), repetitions=1)
    random = random_state(9, "dimensions", 2, as_printed, 500)
    weights = random.uniform(size=D)
    tree = np.array([-1, *(random.randint(i) for i in range(1, D))]) if as_printed else None
    (X_test, y_test), (X, y) = (
        make_correlated(500, D, noise=10.0, weights=weights, tree=tree, random_state=random)
        for _ in range(2)
    )
    groups = lincfa(X, y, overlapping=not as_printed)
    assert (sum(map(len, groups)) == D) == as_printed
    assert part["d (empirical)"].tolist() == [len(groups)]
    means, tests = (
        np.column_stack([Z[:, group].mean(axis=1) for group in groups]) for Z in (X, X_test)
    )
    for name, Z, Z_test in (("full", X, X_test), ("merged (empirical)", means, tests)):
        columns, columns_test = (np.column_stack([np.ones(500), part]) for part in (Z, Z_test))
        residual = y_test - columns_test @ np.linalg.lstsq(columns, y, rcond=None)[0]
        assert part[f"MSE {name}"] == pytest.approx([np.mean(residual**2)])
        assert part[f"R² {name}"] == pytest.approx([1 - np.mean(residual**2) / y_test.var()])


def test_tree_is_new_in_every_data_set_behind_the_table(monkeypatch):
    trees = []

    def make(*args, tree, **kwargs):
        trees.append(tree)
        return make_correlated(*args, tree=tree, **kwargs)

    monkeypatch.setattr(dimensions, "make_correlated", make)
    simulate(0, False, Settings(), repetitions=2)
    assert trees == [None] * 3
    trees.clear()
    simulate(0, True, Settings(), repetitions=2)
    assert len(trees) == 3
    assert all(tree is trees[0] for tree in trees)
    assert (trees[0] < np.arange(D)).all()


def test_methods_are_compared_in_the_first_repetitions_only(few_methods):
    with few_methods():
        part = simulate(0, False, Settings(), repetitions=3, compared=2)
    assert len(part["MSE full"]) == 3
    assert len(part["MSE ridge"]) == 2
    assert part["d ridge"].tolist() == [D, D]
    assert summarize([part, part]).estimates["MSE ridge"].value == part["MSE ridge"].mean()


def test_table_sets_both_settings_beside_the_paper(behind, printed):
    settings = Settings(40)
    assert len(jobs(settings)) == 8
    (table,) = tables(settings, behind[:4] + printed[:4])
    rows = {row.quantity: row for row in table.rows}
    row = rows["d (theoretical)"]
    assert row.paper.value == 4
    means = [
        np.mean([part["d (theoretical)"] for part in parts[:4]]) for parts in (behind, printed)
    ]
    assert [row.ours.value, row.as_printed.value] == pytest.approx(means)
    compared = [row.verdict for row in table.rows if row.paper is not None]
    assert compared == ["reproduced"] * 8
    ratio = [part["MSE merged / full (empirical)"] for part in behind[:4]]
    assert rows["MSE merged / full (empirical)"].ours.value == pytest.approx(np.mean(ratio))
    assert rows["MSE merged / full (empirical)"].verdict == "beyond the paper"
    (claim,) = table.claims
    assert claim.ours
    assert claim.detail.startswith("in 4 of 4 draws")
    (note,) = [note for note in table.notes if "4 draws of weights" in note]
    assert "10 repetitions" in note
