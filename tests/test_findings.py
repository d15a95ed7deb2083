"""What a report tells: each figure against a plain computation of it."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score

from lincfa import LinCFA, LinCFACV, explain_pair
from lincfa.report._findings import (
    Samples,
    _groups,
    correlate_by_group,
    decide_pairs,
    find,
    score_path,
)

pd = pytest.importorskip("pandas")

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")


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
    matrix = correlate_by_group(model, Samples.of_fit(model, halves["X"], halves["y"]))
    places = [int(name[1:]) for name in matrix.names]
    assert sorted(places) == list(range(30))
    np.testing.assert_array_equal(matrix.groups, model.labels_[places])
    assert np.count_nonzero(np.diff(matrix.groups)) == model.n_groups_ - 1
    np.testing.assert_allclose(matrix.values, np.corrcoef(halves["X"][:, places].T), atol=1e-12)


def test_matrix_of_many_features_shows_every_few(sequential, halves):
    matrix = correlate_by_group(
        sequential, Samples.of_fit(sequential, halves["X"], halves["y"]), 10
    )
    assert len(matrix.names) == len(set(matrix.names)) == 10
    assert matrix.n_features == 30
    assert np.count_nonzero(np.diff(matrix.groups)) < 10


@pytest.mark.parametrize("noise", ["pair", "full", 50.0])
def test_nearly_merged_pairs_are_those_that_the_rule_keeps_apart(halves, noise):
    model = LinCFA(noise=noise).fit(halves["X"], halves["y"])
    train = Samples.of_fit(model, halves["X"], halves["y"])
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


@pytest.mark.parametrize("strategy", ["centroid", "agglomerative"])
def test_nearly_merged_means_are_of_standardised_features(strategy):
    """By those it was decided, whatever the unit of the reduced features."""
    rng = np.random.default_rng(6)
    z = rng.normal(size=(200, 3))
    X = np.repeat(z, 4, axis=1) + 0.5 * rng.normal(size=(200, 12))
    X *= rng.uniform(0.2, 5, size=12)
    y = z @ [1, 0.8, 0.6] + rng.normal(size=200)
    near = []
    for units in ("standardized", "original"):
        model = LinCFA(strategy=strategy, tolerance=3.0, units=units).fit(X, y)
        near.append(decide_pairs(model, Samples.of_fit(model, X, y)).near)
    np.testing.assert_allclose(near[1].f, near[0].f)
    if strategy == "agglomerative":
        assert (near[1].f > 3).all()


def test_pairs_below_the_smallest_correlation_stay_apart(halves):
    model = LinCFA(min_correlation=0.95).fit(halves["X"], halves["y"])
    near = decide_pairs(model, Samples.of_fit(model, halves["X"], halves["y"])).near
    blocked = near.f <= 1
    assert blocked.any()
    assert (near.correlation[blocked] < 0.95).all()
    assert (near.threshold >= 0.95).all()
    assert near.total == model.n_groups_ * (model.n_groups_ - 1) / 2


def test_merged_pairs_are_those_of_the_evidence(model, halves):
    train = Samples.of_fit(model, halves["X"], halves["y"])
    pairs = decide_pairs(model, train)
    if model.strategy == "joint":
        assert pairs.near is None
        assert "not pair by pair" in pairs.note
        return
    assert pairs.merged.total == model.evidence_.size == 30 - model.n_groups_
    np.testing.assert_array_equal(pairs.merged.f, np.sort(model.evidence_["f"]))
    assert (pairs.merged.f <= pairs.tolerance).all()
    assert pairs.near.total == model.n_groups_ * (model.n_groups_ - 1) / 2
    assert ("single features" in pairs.note) == (model.strategy == "centroid")
    if model.strategy != "centroid":  # which tests single features against means
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


@pytest.mark.parametrize("kind", ["plain", "weighted", "search", "without data"])
def test_recipe_is_python_that_repeats_the_report(halves, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    known = halves | {"sample_weight": np.tile([1.0, 2.0], 60)}
    model = LinCFA(tolerance=2.5, units="original")
    if kind == "search":
        model = LinCFACV(cv=3, strategies=["sequential"], estimator=Ridge(5.0))
    if kind != "weighted":
        known["sample_weight"] = None
    model.fit(known["X"], known["y"], sample_weight=known["sample_weight"])
    options = {} if kind == "without data" else {**known, "ordered": True, "title": "It's"}
    found = find(model, **options)
    report = {}
    monkeypatch.setattr(LinCFA, "report", lambda self, path, **given: report.update(given))
    monkeypatch.setattr(LinCFACV, "report", lambda self, path, **given: report.update(given))
    names = dict(known)
    exec(found.recipe, names)
    np.testing.assert_array_equal(names["model"].labels_, model.labels_)
    assert set(report) == {name for name, value in options.items() if value is not None}
    assert find(names["model"], **report).scores == found.scores


def test_constant_features_are_named(halves):
    frame = pd.DataFrame(halves["X"]).add_prefix("c").assign(still=1.0)
    with pytest.warns(UserWarning, match="still"):
        model = LinCFA().fit(frame, halves["y"])
    found = find(model, X=frame, y=halves["y"], X_test=frame, y_test=halves["y"])
    assert found.constant == ("still",)
    assert found.n_constant == 1
    assert found.scores.rows[0].n_features == 30


def test_noise_of_the_full_regression_without_any_merge(halves):
    model = LinCFA(noise="full", tolerance=1e-9).fit(halves["X"], halves["y"])
    assert model.n_groups_ == 30
    near = decide_pairs(model, Samples.of_fit(model, halves["X"], halves["y"])).near
    first, second = (int(name[0][1:]) for name in (near.first, near.second))
    told = explain_pair(halves["X"], halves["y"], first, second, noise="full")
    assert near.f[0] == pytest.approx(told.f)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "X is given without y"),
        ({"X": None}, "y is given without X"),
        ({"y_test": None}, "X_test is given without y_test"),
        ({"y_test": np.full(120, 2.0)}, "y_test needs at least 2 different values"),
        ({"X": np.ones((7, 30)), "y": range(7)}, "X has 7 samples, but .* fitted to 120"),
        ({"X": np.ones((120, 30))}, "not the data of the fit: the mean of column 'x0'"),
        ({"sample_weight": np.full(120, 2.0)}, "X has 240 samples, but .* fitted to 120"),
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
