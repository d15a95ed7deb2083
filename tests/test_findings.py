"""What a report tells: each figure against a plain computation of it."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, cross_val_predict

from lincfa import LinCFA, LinCFACV, explain_pair
from lincfa._findings import _groups, correlate_by_group, decide_pairs, find, score_path
from lincfa._findings._samples import Samples
from lincfa.datasets import make_correlated

pd = pytest.importorskip("pandas")

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")


@pytest.fixture(scope="module")
def halves():
    X, y = make_correlated(n_samples=240, n_features=30, random_state=5)
    return {"X": X[:120], "y": y[:120], "X_test": X[120:], "y_test": y[120:]}


@pytest.fixture(scope="module", params=STRATEGIES)
def model(request, halves):
    return LinCFA(strategy=request.param).fit(halves["X"], halves["y"])


@pytest.fixture(scope="module")
def sequential(halves):
    return LinCFA().fit(halves["X"], halves["y"])


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
    monkeypatch.setattr("lincfa._findings._scores._LARGEST_PROBLEM", 0)
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
    from sklearn.linear_model import Ridge

    model = LinCFACV(cv=3, strategies=["sequential"], estimator=Ridge(5.0))
    model.fit(halves["X"], halves["y"])
    found = find(model, **halves)
    expected = r2_score(halves["y_test"], model.predict(halves["X_test"]))
    assert found.scores.rows[1].r2.value == pytest.approx(expected)
    assert "Ridge" in found.scores.how
    assert found.settings["chosen tolerance"] == repr(model.tolerance_)


def test_groups_hold_every_feature_once(model, halves):
    found = find(model, **halves)
    sizes = [group.size for group in found.groups]
    assert sizes == sorted(sizes, reverse=True)
    members = [member.name for group in found.groups for member in group.members]
    assert sorted(members) == sorted(f"x{i}" for i in range(30))
    for group in found.groups:
        assert group.size == len(group.members)
        assert (group.others, group.n_unnamed) == ((), 0)
        reasons = [member.words for member in group.members]
        assert reasons[0] in ("first of the group", "merges with no other")
        assert all(words.startswith("with ") for words in reasons[1:])
        for member in group.members:
            r = np.corrcoef(halves["X"][:, int(member.name[1:])], halves["y"])[0, 1]
            assert member.target_correlation == pytest.approx(r)


def test_long_lists_are_cut_and_counted(monkeypatch, sequential):
    monkeypatch.setattr(_groups, "GROUPS_SHOWN", 2)
    monkeypatch.setattr(_groups, "MEMBERS_SHOWN", 3)
    monkeypatch.setattr(_groups, "NAMED", 4)
    groups = find(sequential).groups
    assert len(groups) == 2
    largest = groups[0]
    assert (len(largest.members), len(largest.others)) == (3, 4)
    assert largest.n_unnamed == largest.size - 7


def test_weights_are_effects_of_one_standard_deviation(model, halves):
    found = find(model, X=halves["X"], y=halves["y"])
    reduced = model.transform(halves["X"])
    coef = LinearRegression().fit(reduced, halves["y"]).coef_
    for group in found.groups:
        effect = coef[group.number] * reduced[:, group.number].std(ddof=1)
        assert group.weight == pytest.approx(effect)
    expected = model.expand_coefficients(coef)[0] * halves["X"].std(axis=0, ddof=1)
    np.testing.assert_allclose(found.coefficients.values, expected)
    np.testing.assert_array_equal(found.coefficients.groups, model.labels_)


def test_matrix_is_in_the_order_of_the_groups(model, halves):
    matrix = correlate_by_group(model, halves["X"])
    places = [int(name[1:]) for name in matrix.names]
    assert sorted(places) == list(range(30))
    np.testing.assert_array_equal(matrix.groups, model.labels_[places])
    assert np.count_nonzero(np.diff(matrix.groups)) == model.n_groups_ - 1
    np.testing.assert_allclose(matrix.values, np.corrcoef(halves["X"][:, places].T), atol=1e-12)


def test_matrix_of_many_features_shows_every_few(sequential, halves):
    matrix = correlate_by_group(sequential, halves["X"], limit=10)
    assert len(matrix.names) == len(set(matrix.names)) == 10
    assert matrix.n_features == 30
    assert np.count_nonzero(np.diff(matrix.groups)) < 10


@pytest.mark.parametrize("noise", ["pair", "full", 50.0])
def test_nearly_merged_pairs_are_those_that_the_rule_keeps_apart(halves, noise):
    model = LinCFA(noise=noise).fit(halves["X"], halves["y"])
    train = Samples.of(model, halves["X"], halves["y"], "training")
    near = decide_pairs(model, train).near
    seeds = [group[0] for group in model.groups_]
    assert near.total == len(seeds) * (len(seeds) - 1) / 2  # every two of them were tried
    assert (np.diff(near.f) >= 0).all()
    for first, second, rho, threshold, f in list(
        zip(near.first, near.second, near.correlation, near.threshold, near.f, strict=True)
    )[:5]:
        told = explain_pair(halves["X"], halves["y"], int(first[1:]), int(second[1:]), noise=noise)
        assert not told.merges
        assert (rho, f) == (pytest.approx(told.correlation), pytest.approx(told.f))
        assert threshold == pytest.approx(told.threshold)


def test_pairs_below_the_smallest_correlation_stay_apart(halves):
    model = LinCFA(min_correlation=0.95).fit(halves["X"], halves["y"])
    near = decide_pairs(model, Samples.of(model, halves["X"], halves["y"], "training")).near
    blocked = near.f <= 1
    assert blocked.any()
    assert (near.correlation[blocked] < 0.95).all()
    assert (near.threshold >= 0.95).all()
    assert near.total == model.n_groups_ * (model.n_groups_ - 1) / 2


def test_merged_pairs_are_those_of_the_evidence(model, halves):
    train = Samples.of(model, halves["X"], halves["y"], "training")
    pairs = decide_pairs(model, train)
    if model.strategy == "joint":
        assert pairs.near is None
        assert "not pair by pair" in pairs.note
        return
    assert pairs.merged.total == model.evidence_.size == 30 - model.n_groups_
    np.testing.assert_array_equal(pairs.merged.f, np.sort(model.evidence_["f"]))
    assert (pairs.merged.f <= pairs.tolerance).all()
    assert (pairs.near.f > pairs.tolerance).all()


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_path_scores_are_those_of_fits_with_so_many_groups(halves, strategy):
    model = LinCFA(strategy=strategy).fit(halves["X"], halves["y"])
    path = find(model, **halves).path
    (curve,) = path.curves
    assert curve.n_groups[0] == 1
    assert curve.n_groups[-1] == 30
    for number, score in zip(curve.n_groups, curve.score, strict=True):
        other = LinCFA(strategy=strategy, n_groups=int(number)).fit(halves["X"], halves["y"])
        X, X_test = other.transform(halves["X"]), other.transform(halves["X_test"])
        predicted = LinearRegression().fit(X, halves["y"]).predict(X_test)
        assert score == pytest.approx(r2_score(halves["y_test"], predicted))
    assert path.chosen[0] == model.n_groups_
    assert path.chosen[1] == pytest.approx(find(model, **halves).scores.rows[1].r2.value)


def test_path_of_a_search_is_its_own(fitted):
    path = score_path(fitted, fitted.reducer_, None, None)
    assert {curve.strategy for curve in path.curves} == set(fitted.cv_results_["strategy"])
    assert path.chosen[1] == fitted.best_score_
    assert sum(len(curve.score) for curve in path.curves) == len(fitted.cv_results_["strategy"])


def test_without_data_there_is_what_the_model_knows(model):
    found = find(model)
    assert found.scores is found.matrix is found.path is found.coefficients is None
    assert found.pairs.near is None
    assert found.n_groups == len(found.groups) == model.n_groups_
    assert all(np.isnan(group.weight) for group in found.groups)


def test_findings_are_plain_json(model, halves):
    found = find(model, **halves, title="<b>", data={"file": "a.csv"}, notes=["one"])
    told = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert told == found.to_dict()
    assert told["title"] == "<b>"
    assert told["data"]["file"] == "a.csv"
    assert told["notes"] == ["one"]
    assert told["scores"]["rows"][1]["r2"]["value"] == found.scores.rows[1].r2.value
    singles = [group for group in told["groups"] if group["size"] == 1]
    assert all(group["mean_correlation"] is None for group in singles)


def test_recipe_is_python_that_fits_the_model(halves, monkeypatch, tmp_path):
    model = LinCFA(tolerance=2.5, units="original").fit(halves["X"], halves["y"])
    names = dict(halves)
    exec(find(model).recipe.splitlines()[0], names)
    exec(find(model).recipe.splitlines()[2], names)
    np.testing.assert_array_equal(names["model"].labels_, model.labels_)


def test_constant_features_are_named(halves):
    frame = pd.DataFrame(halves["X"]).add_prefix("c").assign(still=1.0)
    with pytest.warns(UserWarning, match="still"):
        model = LinCFA().fit(frame, halves["y"])
    found = find(model, X=frame, y=halves["y"], X_test=frame, y_test=halves["y"])
    assert found.constant == ("still",)
    assert found.n_constant == 1
    assert found.scores.rows[0].n_features == 30


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "X is given without y"),
        ({"X": None}, "y is given without X"),
        ({"y_test": None}, "X_test is given without y_test"),
        ({"y_test": np.full(120, 2.0)}, "y_test needs at least 2 different values"),
        ({"y_test": np.arange(119.0)}, "inconsistent numbers of samples"),
        ({"y_test": np.full(120, np.nan)}, "y_test holds NaN"),
        ({"X_test": np.full((120, 30), np.nan)}, "contains NaN in column 0"),
        ({"X_test": np.ones((120, 4))}, "4 features"),
        ({"X": None, "y": None, "X_test": np.eye(30)[:9], "y_test": range(9)}, "9 samples"),
    ],
)
def test_bad_samples_are_refused(sequential, halves, change, message):
    with pytest.raises(ValueError, match=message):
        find(sequential, **(halves | change))
