"""Real data: the table's figures, the reasons where they differ, and what happens without files."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from experiments import real
from experiments.estimates import Estimate
from experiments.outcomes import Outcome
from experiments.real import SOURCES, blocks, intervals, jobs, minimum_norm, prepare, tables
from experiments.simulation import Settings, random_state
from experiments.tables import BEYOND, NOT_RUN, UNEXPLAINED

SETTINGS = Settings(10)
TITLES = ["Life Exp", "Financial", "Climatological I", "Climatological II"]


@pytest.fixture(scope="module")
def outcomes(load_or_skip, few_methods):
    """All data sets, with few draws of directions of eigenvalue zero."""
    for source in SOURCES[:3]:
        load_or_skip(source.load)
    with few_methods(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(real, "SOLVERS", 15)
        return [real.run(k, SETTINGS) for k in range(len(SOURCES))]


@pytest.fixture(scope="module")
def table(outcomes):
    (table,) = tables(SETTINGS, outcomes)
    return table


@pytest.fixture(scope="module")
def rows(table):
    return {(row.quantity, row.column): row for row in table.rows}


def figures(rows, method, title, form):
    return [getattr(rows[f"{name} {method}", title], form).value for name in ("d", "R²", "MSE")]


@pytest.mark.parametrize(
    ("title", "form", "expected"),
    [
        ("Life Exp", "ours", [14, 0.835, 0.179]),
        ("Life Exp", "as_printed", [14, 0.835, 0.179]),
        ("Financial", "ours", [12, 0.885, 0.174]),
        ("Financial", "as_printed", [12, 0.885, 0.174]),
        ("Climatological I", "ours", [38, 0.604, 0.162]),
        ("Climatological I", "as_printed", [38, 0.620, 0.155]),
    ],
)
def test_lincfa_with_overlapping_and_with_disjoint_groups(rows, title, form, expected):
    """Overlapping groups are the setting behind the table, disjoint ones what the text says."""
    assert np.round(figures(rows, "LinCFA", title, form), 3).tolist() == expected


@pytest.mark.parametrize(
    ("method", "title", "expected"),
    [
        ("PCA", "Life Exp", [13, 0.833, 0.181]),
        ("PCA", "Financial", [29, 0.846, 0.234]),
        ("PCA", "Climatological I", [13, 0.486, 0.210]),
        ("full", "Life Exp", [18, 0.834, 0.180]),
        ("full", "Financial", [75, -1.441, 3.702]),
    ],
)
def test_pca_and_all_features(rows, method, title, expected):
    for form in ("ours", "as_printed"):
        assert np.round(figures(rows, method, title, form), 3).tolist() == expected


def test_all_features_of_financial_depend_on_what_counts_as_zero(load_or_skip):
    """Rank 73 of 75, and two more singular values below 1e-6 of the largest.

    Minimum-norm least squares has the paper's R²; without these two, as in scikit-learn 1.9, it
    is 0.900.
    """
    X, y, X_test, y_test = prepare(*load_or_skip(SOURCES[1].load), True)
    scores = {}
    for cutoff in (1e-12, 1e-6):
        weights, _, rank, _ = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=cutoff)
        predicted = y.mean() + (X_test - X.mean(axis=0)) @ weights
        scores[int(rank)] = round(r2_score(y_test, predicted), 3)
    assert scores == {73: -1.441, 71: 0.900}
    predicted = minimum_norm(X, y, X_test)
    assert round(r2_score(y_test, predicted), 3) == -1.441


def test_disjoint_groups_are_lincfa_itself(rows):
    for title in TITLES[:3]:
        beyond = figures(rows, "LinCFA, disjoint groups", title, "ours")
        assert figures(rows, "LinCFA", title, "as_printed") == pytest.approx(beyond, rel=1e-9)


def test_every_difference_is_explained(table):
    assert [row for row in table.rows if row.reason == UNEXPLAINED] == []
    differing = {(row.quantity, row.column) for row in table.rows if row.verdict == "differs"}
    assert differing <= set(real._REASONS)
    assert ("MSE LinCFA", "Financial") in differing
    for name, title in (("d", "Life Exp"), ("R²", "Financial"), ("R²", "Climatological I")):
        assert (f"{name} LinCFA", title) not in differing


def test_climatological_ii_was_not_run(table, rows):
    for (_, column), row in rows.items():
        if row.verdict != BEYOND:
            assert (row.verdict == NOT_RUN) == (column == "Climatological II")
    assert sum(row.verdict == NOT_RUN for row in table.rows) == 13
    (note,) = table.missing
    assert note.startswith("Climatological II was not run.")
    assert "climatological_ii.csv" in note
    assert "authors" in note


def test_supervised_pca_counts_true_components_as_printed(rows):
    """One to three directions have an eigenvalue that is not zero; the paper has up to 43."""
    for title in TITLES[:3]:
        d, r2, mse = figures(rows, "supervised PCA", title, "as_printed")
        assert 1 <= d <= 3
        test_variance = mse / (1 - r2)
        full = figures(rows, "full", title, "ours")
        assert test_variance == pytest.approx(full[2] / (1 - full[1]))
        assert rows["R² supervised PCA", title].ours.margin > 0


def test_missing_data_are_named_with_where_to_get_them(tmp_path):
    settings = Settings(10, folder=str(tmp_path))
    outcomes = [function(*args) for function, args, _ in jobs(settings)]
    (table,) = tables(settings, outcomes)
    assert table.columns() == TITLES
    assert len(table.rows) == 4 * 13
    assert {row.verdict for row in table.rows} == {NOT_RUN}
    assert table.claims == []
    for title, note in zip(TITLES, table.missing, strict=True):
        assert note.startswith(f"{title} was not run.")
        assert str(tmp_path) in note
        assert "Get it from" in note


def test_split_is_standardised_by_the_training_part(rng):
    table, target = rng.normal(3, 2, size=(100, 4)), rng.normal(-1, 5, size=100)
    X, y, X_test, y_test = prepare(table, target, shuffle=False)
    assert (len(X), len(X_test)) == (67, 33)
    np.testing.assert_allclose(X, (table[:67] - table[:67].mean(0)) / table[:67].std(0))
    np.testing.assert_allclose(X_test, (table[67:] - table[:67].mean(0)) / table[:67].std(0))
    np.testing.assert_allclose(y, (target[:67] - target[:67].mean()) / target[:67].std())
    np.testing.assert_allclose(y_test, (target[67:] - target[:67].mean()) / target[:67].std())
    shuffled = prepare(table, target, shuffle=True)
    again = prepare(table, target, shuffle=True)
    assert not np.allclose(shuffled[0], X)
    for one, other in zip(shuffled, again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("n", "block"), [(50, 1), (50, 7), (343, 26), (20, 26)])
def test_resampled_parts_are_circular_pieces(n, block):
    found = blocks(n, block, random_state(0, "a"))
    assert found.shape == (real.RESAMPLES, n)
    assert (found.min(), found.max()) == (0, n - 1)
    follows = (found[:, 1:] - found[:, :-1]) % n == 1
    inside = np.arange(1, n) % block != 0
    assert follows[:, inside].all()
    if not inside.all():  # a new piece starts anywhere: it follows by chance, once in n times
        assert follows[:, ~inside].mean() < 5 / n
    frequency = np.bincount(found.ravel(), minlength=n) / found.size
    assert np.abs(frequency * n - 1).max() < 0.12  # five standard deviations of 2000 hits


def test_bootstrap_interval_of_independent_errors(rng):
    """Close to the normal interval of a mean, within the 10 % that 2000 resamples leave open."""
    y = rng.normal(size=400)
    predicted = y + rng.normal(0, 0.5, size=400)
    squared = (y - predicted) ** 2
    r2, mse = intervals(y, predicted, blocks(400, 1, random_state(0, "b")))
    assert mse.value == pytest.approx(squared.mean())
    assert r2.value == pytest.approx(1 - squared.mean() / y.var())
    assert mse.margin == pytest.approx(1.96 * squared.std() / np.sqrt(400), rel=0.1)
    # By the delta method for the ratio of two means.
    ratio = squared.mean() / y.var()
    part = squared / y.var() - ratio * (y - y.mean()) ** 2 / y.var()
    assert r2.margin == pytest.approx(1.96 * part.std() / np.sqrt(400), rel=0.1)


def test_pieces_widen_the_interval_of_errors_that_last(rng):
    steady = np.repeat(rng.normal(size=20), 20) + 0.1 * rng.normal(size=400)
    y = rng.normal(size=400)
    single, pieces = (
        intervals(y, y + steady, blocks(400, block, random_state(0, "c")))[1].margin
        for block in (1, 26)
    )
    assert pieces > 2 * single


def test_solvers_differ_in_what_they_choose(monkeypatch, rng):
    """Means of draws; another run is one more draw."""
    choices = iter([(k, np.full(10, float(k))) for k in range(1, 22)])
    monkeypatch.setattr(real, "SOLVERS", 21)
    monkeypatch.setattr(real, "complete", lambda part, random: part)

    class Best:
        def __init__(self):
            self.d, self.predicted = next(choices)

    monkeypatch.setattr(real, "best_on_test", lambda *args: Best())
    y_test = np.tile([-1.0, 1.0], 5)
    found = real.solver_dependent(None, None, None, y_test, {"linear": None}, 0)
    assert found["d supervised PCA"].value == 11
    assert found["d supervised PCA"].spread == pytest.approx(np.std(range(1, 22), ddof=1))
    assert found["MSE supervised PCA"].value == pytest.approx(1 + np.mean(np.arange(1, 22) ** 2))
    assert found["R² supervised PCA"].value == pytest.approx(-np.mean(np.arange(1, 22) ** 2))


def outcome(full, pca, r2=(0.9, 0.8, 0.7), margin=0.1):
    return Outcome(
        {
            **{
                f"Error of LinCFA − that of {name}": Estimate(value, margin)
                for name, value in (("full", full), ("PCA", pca))
            },
            **{
                f"R² {name}": Estimate(value)
                for name, value in zip(("LinCFA", "PCA", "supervised PCA"), r2, strict=True)
            },
        }
    )


@pytest.mark.parametrize(
    ("changed", "held"),
    [
        (outcome(0.1, 0.1), [True, True, True]),
        (outcome(0.11, 0.1), [False, True, True]),
        (outcome(0.1, 0.11), [True, False, True]),
        (outcome(0.1, 0.1, (0.9, 0.91, 0.7)), [True, True, False]),
        (outcome(0.1, 0.1, (0.9, 0.8, 0.91)), [True, True, False]),
    ],
)
def test_each_statement_can_fail_alone(changed, held):
    fine = outcome(-0.2, -0.2)
    found = {"Life Exp": (fine, fine), "Financial": (changed, fine)}
    assert [claim.ours for claim in real.claims(found)] == held
    assert [claim.as_printed for claim in real.claims(found)] == [True] * 3
    found = {"Life Exp": (changed, fine)}  # the last is about the larger data
    assert [claim.ours for claim in real.claims(found)] == held[:2]


def test_lincfa_worsens_the_error_of_all_features_only_where_tiny_singular_values_are_left_out(
    table, rows
):
    assert [(claim.ours, claim.as_printed) for claim in table.claims[:2]] == [(True, True)] * 2
    grown = {title: rows[f"{real.GROWTH} {real.MOST}", title].ours for title in TITLES[:3]}
    assert [e.value > e.margin for e in grown.values()] == [False, True, False]
    assert rows[f"R² {real.MOST}", "Financial"].ours.value == pytest.approx(0.900, abs=5e-4)
    for title in TITLES[:3]:
        assert title in table.claims[0].detail


def test_difference_of_errors_is_paired(rows):
    """The error of LinCFA less that of PCA, with a smaller margin than either has."""
    for title in TITLES[:3]:
        paired = rows["Error of LinCFA − that of PCA", title].ours
        ours, pca = (rows[f"MSE {name}", title].ours for name in ("LinCFA", "PCA"))
        assert paired.value == pytest.approx(ours.value - pca.value)
        assert 0 < paired.margin < ours.margin + pca.margin


def test_a_file_that_is_not_the_papers_is_not_run(tmp_path):
    pytest.importorskip("pandas")
    (tmp_path / "life_expectancy.csv").write_text("a,b\n1,2\n")
    outcome = real.run(0, Settings(10, 0, str(tmp_path)))
    assert isinstance(outcome, str)
    assert "life_expectancy.csv" in outcome
    assert "SHA-256" in outcome
