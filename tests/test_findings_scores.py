"""The scores of a report: against plain regressions, and what becomes of them on odd data."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict

from lincfa import LinCFA, LinCFACV
from lincfa.report._findings import find, plain

pd = pytest.importorskip("pandas")

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")


def test_scores_are_those_of_plain_regressions(model, halves):
    scores = find(model, **halves).scores
    for row, reduce in zip(scores.rows, (np.asarray, model.transform), strict=True):
        X, X_test = reduce(halves["X"]), reduce(halves["X_test"])
        predicted = LinearRegression().fit(X, halves["y"]).predict(X_test)
        assert row.n_features == X.shape[1]
        assert row.r2.value == pytest.approx(r2_score(halves["y_test"], predicted), abs=1e-10)
        rmse = root_mean_squared_error(halves["y_test"], predicted)
        assert row.rmse.value == pytest.approx(rmse, rel=1e-10)
        assert row.r2.low < row.r2.value < row.r2.high
        assert row.rmse.low < row.rmse.value < row.rmse.high
    full, reduced = scores.rows
    assert scores.r2_difference.value == pytest.approx(reduced.r2.value - full.r2.value)
    assert (scores.n_train, scores.n_test) == (120, 120)


@pytest.mark.parametrize("ordered", [False, True])
def test_without_data_of_the_fit_scores_are_cross_validated(sequential, halves, ordered):
    test = {name: halves[name] for name in ("X_test", "y_test")}
    scores = find(sequential, **test, ordered=ordered).scores
    folds = KFold(5) if ordered else KFold(5, shuffle=True, random_state=0)
    for row, X in zip(
        scores.rows, (halves["X_test"], sequential.transform(halves["X_test"])), strict=True
    ):
        predicted = cross_val_predict(LinearRegression(), X, halves["y_test"], cv=folds)
        assert row.r2.value == pytest.approx(r2_score(halves["y_test"], predicted), abs=1e-9)
    assert "cross-validated" in scores.how
    assert scores.n_train == 96


def test_intervals_have_the_width_of_the_normal_law(sequential, halves, rng):
    """Squared errors of 4000 samples: their mean is normal, its deviation known.

    Ten percent for the chance of 1000 draws: a quantile at 2.5 % of so many is known to about 3 %
    of the width, four deviations to be sure.
    """
    X = rng.normal(size=(4000, 30))
    y = X @ rng.normal(size=30) + rng.normal(size=4000)
    row = find(sequential, X=halves["X"], y=halves["y"], X_test=X, y_test=y).scores.rows[0]
    scale = halves["X"].std(axis=0, ddof=1)
    fitted = LinearRegression().fit(halves["X"] / scale, halves["y"])
    squared = (y - fitted.predict(X / scale)) ** 2
    deviation = squared.std() / np.sqrt(4000) / (2 * np.sqrt(squared.mean()))
    assert row.rmse.high - row.rmse.low == pytest.approx(2 * 1.96 * deviation, rel=0.1)


def test_intervals_of_dependent_errors_are_wider_in_order(sequential, halves, rng):
    """Errors in runs of ten: runs drawn together show that there are fewer independent ones."""
    X = np.repeat(rng.normal(size=(60, 30)), 10, axis=0)
    y = np.repeat(rng.normal(size=60), 10)
    width = {}
    for ordered in (False, True):
        found = find(
            sequential, X=halves["X"], y=halves["y"], X_test=X, y_test=y, ordered=ordered
        ).scores
        interval = found.rows[1].rmse
        width[ordered] = interval.high - interval.low
        assert ("consecutive" in found.how) == ordered
    assert width[True] > 1.5 * width[False]


def test_large_problems_have_a_vanishing_penalty(monkeypatch, sequential, halves):
    plain = find(sequential, **halves).scores
    monkeypatch.setattr("lincfa.report._findings._regression._LARGEST_PROBLEM", 0)
    penalised = find(sequential, **halves).scores
    for one, other in zip(plain.rows, penalised.rows, strict=True):
        assert other.r2.value == pytest.approx(one.r2.value, abs=1e-6)
        assert other.r2.value != one.r2.value
    assert "vanishing penalty" in penalised.how
    assert "vanishing penalty" not in plain.how


def test_more_features_than_samples_is_said(halves):
    few = {name: values[:25] for name, values in halves.items()}
    model = LinCFA().fit(few["X"], few["y"])
    assert "smallest weights" in find(model, **few).scores.how


def test_a_search_scores_its_own_estimator(halves):
    model = LinCFACV(cv=3, strategies=["sequential"], estimator=Ridge(5.0))
    model.fit(halves["X"], halves["y"])
    found = find(model, **halves)
    expected = r2_score(halves["y_test"], model.predict(halves["X_test"]))
    assert found.scores.rows[1].r2.value == pytest.approx(expected)
    assert "Ridge" in found.scores.how
    assert found.settings["chosen tolerance"] == model.tolerance_


def test_weights_are_repetitions(halves):
    """A row that counts twice is a row given twice, in every figure of the report."""
    weights = np.tile([1.0, 2.0, 3.0], 40)
    again = {name: np.repeat(halves[name], weights.astype(int), axis=0) for name in ("X", "y")}
    test = {name: halves[name] for name in ("X_test", "y_test")}
    for strategy in ("sequential", "agglomerative"):
        weighted = LinCFA(strategy=strategy).fit(halves["X"], halves["y"], weights)
        repeated = LinCFA(strategy=strategy).fit(again["X"], again["y"])
        one = find(weighted, X=halves["X"], y=halves["y"], sample_weight=weights, **test)
        other = find(repeated, **again, **test)
        for part in ("matrix", "coefficients", "pairs", "scores", "path"):
            for a, b in zip(leaves(getattr(one, part)), leaves(getattr(other, part)), strict=True):
                assert a == pytest.approx(b, rel=1e-6, abs=1e-9, nan_ok=True)
        assert [g.weight for g in one.groups] == pytest.approx([g.weight for g in other.groups])


def leaves(part):
    """All numbers of a part of the findings, but for how many samples were given."""
    if isinstance(part, dict):
        for name, value in part.items():
            if name != "n_train":
                yield from leaves(value)
    elif isinstance(part, list):
        for value in part:
            yield from leaves(value)
    elif part is not None and not isinstance(part, str | bool | int | float):
        yield from leaves(plain(part))
    elif isinstance(part, float):
        yield part


@pytest.mark.parametrize("unit", [1e-160, 1.0, 1e160])
def test_extreme_units_change_nothing(halves, unit):
    # Beyond 1e154 squares are infinite, also those of the target that SciPy forms.
    scaled = {n: values * (unit if n[0] == "X" else unit**0.9) for n, values in halves.items()}
    one, other = (find(LinCFA().fit(given["X"], given["y"]), **given) for given in (halves, scaled))
    np.testing.assert_allclose(other.matrix.values, one.matrix.values, atol=1e-9)
    assert other.scores.rows[1].r2.value == pytest.approx(one.scores.rows[1].r2.value)
    assert other.scores.rows[1].rmse.low == pytest.approx(one.scores.rows[1].rmse.low * unit**0.9)


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_a_penalty_meets_both_in_the_same_units(halves, units):
    small = {name: values * 1e-3 for name, values in halves.items() if name[0] == "X"}
    model = LinCFACV(estimator=Ridge(1.0), units=units, strategies=["sequential"], cv=3)
    model.fit(small["X"], halves["y"])
    scores = find(model, **(halves | small)).scores
    X, X_test = small["X"], small["X_test"]
    if units == "standardized":
        X, X_test = ((each - X.mean(axis=0)) / X.std(axis=0, ddof=1) for each in (X, X_test))
    predicted = Ridge(1.0).fit(X, halves["y"]).predict(X_test)
    assert scores.rows[0].r2.value == pytest.approx(r2_score(halves["y_test"], predicted))


def test_few_samples_have_no_intervals(sequential, halves):
    few = {name: halves[name][:9] for name in ("X_test", "y_test")}
    scores = find(sequential, **(halves | few)).scores
    assert np.isfinite(scores.rows[0].r2.value)
    assert np.isnan(scores.rows[0].r2.low)
    assert np.isnan(scores.r2_difference.high)
    assert "too few" in scores.how


def test_coefficients_of_other_scales_are_not_shown(halves):
    model = LinCFACV(estimator=PoissonRegressor(), strategies=["sequential"], cv=3)
    model.fit(halves["X"], np.exp(halves["y"] / 30))
    assert find(model).coefficients is None
