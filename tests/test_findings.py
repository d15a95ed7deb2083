"""Findings of a report: each figure against a plain computation of it."""

import json
import re

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, PoissonRegressor, Ridge, RidgeCV
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

from lincfa import LinCFA, LinCFACV, explain_pair
from lincfa._model._regression import precision_of
from lincfa._search._folds import default_folds
from lincfa.baselines import RIDGES, ridge
from lincfa.diagnostics._compare import METHODS, TrainingPart
from lincfa.report import _groups
from lincfa.report._findings import collect_findings, plain, settings_of
from lincfa.report._groups import collect_pairs, correlate_by_group
from lincfa.report._inputs import open_training
from lincfa.report._names import display_names_of_groups
from lincfa.report._page import render
from lincfa.report._scores import score_path
from lincfa.structure import grid_connectivity
from lincfa.timeseries import BlockKFold
from reference import assert_raises
from report_pages import row_of
from series import autoregression

pd = pytest.importorskip("pandas")


def pairs_of(model, data):
    return collect_pairs(model, open_training(model, data["X"], data["y"]))


def explain(data, first, second, noise):
    return explain_pair(data["X"], data["y"], int(first[1:]), int(second[1:]), noise=noise)


def test_groups_hold_every_feature_once(model, halves):
    found = collect_findings(model, **halves)
    effects = [abs(group.weight) for group in found.groups]
    assert effects == sorted(effects, reverse=True)
    sizes = [group.size for group in collect_findings(model).groups]  # without a regression
    assert sizes == sorted(sizes, reverse=True)
    members = [member.name for group in found.groups for member in group.members]
    assert sorted(members) == sorted(f"x{i}" for i in range(30))
    for group in found.groups:
        assert group.size == len(group.members)
        assert (group.others, group.n_unnamed) == ((), 0)
        reasons = [member.words for member in group.members]
        assert reasons[0] in ("first member of the group", "not merged")
        assert all(words.startswith("with ") for words in reasons[1:])
        for member in group.members:
            r = np.corrcoef(halves["X"][:, int(member.name[1:])], halves["y"])[0, 1]
            assert member.target_correlation == pytest.approx(r)


def test_long_lists_are_cut_and_counted(monkeypatch, sequential):
    monkeypatch.setattr(_groups, "GROUPS_SHOWN", 2)
    monkeypatch.setattr(_groups, "MEMBERS_SHOWN", 3)
    monkeypatch.setattr(_groups, "NAMED", 4)
    groups = collect_findings(sequential).groups
    assert len(groups) == 2
    largest = groups[0]
    assert (len(largest.members), len(largest.others)) == (3, 4)
    assert largest.n_unnamed == largest.size - 7


def test_weights_are_effects_of_one_standard_deviation(model, halves):
    found = collect_findings(model, X=halves["X"], y=halves["y"])
    reduced = model.transform(halves["X"])
    coef = LinearRegression().fit(reduced, halves["y"]).coef_
    for group in found.groups:
        effect = coef[group.number] * reduced[:, group.number].std(ddof=1)
        assert group.weight == pytest.approx(effect)
    np.testing.assert_allclose(found.coefficients.values, coef * reduced.std(axis=0, ddof=1))
    assert found.coefficients.n_groups == len(found.coefficients.names) == model.n_groups_
    assert found.coefficients.names == tuple(display_names_of_groups(model))


def test_weights_that_nearly_cancel_are_marked(rng):
    """The difference of two features that nearly coincide: each changes it by some 35 of it."""
    X = rng.normal(size=(100, 1)) + 0.02 * rng.normal(size=(100, 2))
    y = 50 * (X[:, 0] - X[:, 1]) + 0.1 * rng.normal(size=100)
    found = collect_findings(LinCFA().fit(X, y), X=X, y=y)
    assert [group.cancels for group in found.groups] == [True, True]
    assert found.n_cancelling == 2
    page = render(found)
    assert "2 of 2 effects are too large to interpret, beyond 3 standard deviations" in page
    assert page.count("effect too large to interpret: others nearly cancel it") == 2
    plain = collect_findings(LinCFA().fit(X, X[:, 0]), X=X, y=X[:, 0])
    assert plain.n_cancelling == 0
    assert "nearly cancel" not in render(plain)


def test_matrix_is_in_the_order_of_the_groups(model, halves):
    matrix = correlate_by_group(model, open_training(model, halves["X"], halves["y"]))
    places = [int(name[1:]) for name in matrix.names]
    assert sorted(places) == list(range(30))
    np.testing.assert_array_equal(matrix.groups, model.labels_[places])
    assert np.count_nonzero(np.diff(matrix.groups)) == model.n_groups_ - 1
    np.testing.assert_allclose(matrix.values, np.corrcoef(halves["X"][:, places].T), atol=1e-12)


def test_matrix_of_many_features_shows_every_few(sequential, halves):
    matrix = correlate_by_group(sequential, open_training(sequential, halves["X"], halves["y"]), 10)
    assert len(matrix.names) == len(set(matrix.names)) == 10
    assert matrix.n_features == 30
    assert np.count_nonzero(np.diff(matrix.groups)) < 10


@pytest.mark.parametrize("noise", ["pair", "full", 50.0])
def test_nearly_merged_pairs_are_those_that_the_rule_keeps_apart(halves, noise):
    model = LinCFA(noise=noise).fit(halves["X"], halves["y"])
    near = pairs_of(model, halves).near
    seeds = [group[0] for group in model.groups_]
    assert near.total == len(seeds) * (len(seeds) - 1) / 2  # every two of them were tried
    assert (np.diff(near.f) >= 0).all()
    for k in range(5):
        told = explain(halves, near.first[k], near.second[k], noise)
        assert not told.merges
        assert near.correlation[k] == pytest.approx(told.correlation)
        assert near.threshold[k] == pytest.approx(told.threshold)
        assert near.f[k] == pytest.approx(told.f)


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
        near.append(pairs_of(model, {"X": X, "y": y}).near)
    np.testing.assert_allclose(near[1].f, near[0].f)
    if strategy == "agglomerative":
        assert (near[1].f > 3).all()


def test_pairs_below_the_smallest_correlation_stay_apart(halves):
    model = LinCFA(min_correlation=0.95).fit(halves["X"], halves["y"])
    near = pairs_of(model, halves).near
    blocked = near.f <= 1
    assert blocked.any()
    assert (near.correlation[blocked] < 0.95).all()
    assert (near.threshold >= 0.95).all()
    assert (np.diff(near.threshold - near.correlation) >= 0).all()  # the closest first
    assert near.total == model.n_groups_ * (model.n_groups_ - 1) / 2


def test_merged_pairs_are_those_of_the_evidence(model, halves):
    pairs = pairs_of(model, halves)
    if model.strategy == "joint":
        assert pairs.near is None
        assert "not pair by pair" in pairs.note
        return
    assert pairs.merged.total == model.evidence_.size == 30 - model.n_groups_
    np.testing.assert_array_equal(pairs.merged.f, np.sort(model.evidence_["f"]))
    assert (pairs.merged.f <= pairs.tolerance).all()
    assert pairs.near.total == model.n_groups_ * (model.n_groups_ - 1) / 2
    assert ("one by one" in pairs.note) == (model.strategy == "centroid")
    if model.strategy != "centroid":  # which tests single features against means
        assert (pairs.near.f > pairs.tolerance).all()


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_path_scores_are_those_of_fits_with_so_many_groups(halves, strategy):
    model = LinCFA(strategy=strategy).fit(halves["X"], halves["y"])
    found = collect_findings(model, **halves)
    path = found.path
    (curve,) = path.curves
    assert curve.n_groups[0] == 1
    assert curve.n_groups[-1] == 30
    for number, score in zip(curve.n_groups, curve.score, strict=True):
        other = LinCFA(strategy=strategy, n_groups=int(number)).fit(halves["X"], halves["y"])
        X, X_test = other.transform(halves["X"]), other.transform(halves["X_test"])
        predicted = LinearRegression().fit(X, halves["y"]).predict(X_test)
        assert score == pytest.approx(r2_score(halves["y_test"], predicted))
    assert path.chosen[0] == model.n_groups_
    assert path.chosen[1] == pytest.approx(found.scores.rows[-1].r2.value)


def test_path_of_a_search_is_its_own(fitted):
    path = score_path(fitted, fitted.reducer_, None, None)
    assert {curve.strategy for curve in path.curves} == set(fitted.cv_results_["strategy"])
    assert path.chosen[1] == fitted.best_score_
    mean = f"{path.chosen[0]:.3g}"
    assert path.chosen_name == f"chosen: {mean} groups on average"  # the number that is marked
    assert f"{fitted.n_groups_} groups when fitted to all training data, and {mean} on" in path.how
    ways = len(fitted.cv_results_["strategy"]) / 2  # each with the better of two penalties
    assert sum(len(curve.score) for curve in path.curves) == ways


def test_without_data_there_is_what_the_model_knows(model):
    found = collect_findings(model)
    assert found.scores is found.matrix is found.path is found.coefficients is None
    assert found.pairs.near is None
    assert found.n_groups == len(found.groups) == model.n_groups_
    assert all(np.isnan(group.weight) for group in found.groups)


def test_findings_are_plain_json(model, halves):
    found = collect_findings(model, **halves, title="<b>", data={"file": "a.csv"}, notes=["one"])
    told = json.loads(found.to_json(), parse_constant=pytest.fail)
    assert told == found.to_dict()
    assert told["title"] == "<b>"
    assert told["data"]["file"] == "a.csv"
    assert told["notes"] == ["one"]
    assert told["scores"]["rows"][-1]["r2"]["value"] == found.scores.rows[-1].r2.value
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
    options |= {"block_length": 3} if kind == "plain" else {}
    found = collect_findings(model, **options)
    report = {}
    monkeypatch.setattr(LinCFA, "report", lambda self, path, **given: report.update(given))
    monkeypatch.setattr(LinCFACV, "report", lambda self, path, **given: report.update(given))
    names = dict(known)
    exec(found.recipe, names)
    np.testing.assert_array_equal(names["model"].labels_, model.labels_)
    assert set(report) == {name for name, value in options.items() if value is not None}
    assert plain(collect_findings(names["model"], **report).scores) == plain(found.scores)


def test_constant_features_are_named(halves):
    frame = pd.DataFrame(halves["X"]).add_prefix("c").assign(still=1.0)
    with pytest.warns(UserWarning, match="still"):
        model = LinCFA().fit(frame, halves["y"])
    found = collect_findings(model, X=frame, y=halves["y"], X_test=frame, y_test=halves["y"])
    assert found.constant == ("still",)
    assert found.n_constant == 1
    assert found.scores.rows[0].n_features == 30


def test_noise_of_the_full_regression_without_any_merge(halves):
    model = LinCFA(noise="full", tolerance=1e-9).fit(halves["X"], halves["y"])
    assert model.n_groups_ == 30
    near = pairs_of(model, halves).near
    told = explain(halves, near.first[0], near.second[0], "full")
    assert near.f[0] == pytest.approx(told.f)


def test_known_noise_of_a_tiny_target(halves):
    """Its ratio to the target's variance is infinite, so that any pair would pass."""
    y = halves["y"] * 1e-170
    model = LinCFA(noise=1.0, min_correlation=0.9).fit(halves["X"], y)
    near = pairs_of(model, halves | {"y": y}).near
    assert (near.f == 0).all()
    assert (near.threshold == 0.9).all()
    assert (near.correlation < 0.9).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "X was given without y"),
        ({"X": None}, "y was given without X"),
        ({"y_test": None}, "X_test was given without y_test"),
        ({"y_test": np.full(120, 2.0)}, "y_test must have at least 2 distinct values"),
        ({"X": np.ones((7, 30)), "y": range(7)}, "X has 7 samples, but .* fitted to 120"),
        ({"X": np.ones((120, 30))}, "not the training data: the mean of column 'x0' differs"),
        ({"sample_weight": np.full(120, 2.0)}, "X has 240 samples, but .* fitted to 120"),
        ({"y_test": np.arange(119.0)}, "inconsistent numbers of samples"),
        ({"y_test": np.full(120, np.nan)}, "y_test contains NaN"),
        ({"X_test": np.full((120, 30), np.nan)}, "contains NaN in column 0"),
        ({"X_test": np.ones((120, 4))}, "4 features"),
        ({"X": None, "y": None, "X_test": np.eye(30)[:9], "y_test": range(9)}, "9 samples"),
    ],
)
def test_bad_samples_are_refused(sequential, halves, change, message):
    with pytest.raises(ValueError, match=message):
        collect_findings(sequential, **(halves | change))


# Scores


def test_scores_are_those_of_plain_regressions(model, halves):
    scores = collect_findings(model, **halves).scores
    full, reduced = row_of(scores, "least squares"), scores.rows[-1]
    for row, reduce in ((full, np.asarray), (reduced, model.transform)):
        X, X_test = reduce(halves["X"]), reduce(halves["X_test"])
        predicted = LinearRegression().fit(X, halves["y"]).predict(X_test)
        assert row.n_features == X.shape[1]
        assert row.r2.value == pytest.approx(r2_score(halves["y_test"], predicted), abs=1e-10)
        rmse = root_mean_squared_error(halves["y_test"], predicted)
        assert row.rmse.value == pytest.approx(rmse, rel=1e-10)
        assert row.r2.low < row.r2.value < row.r2.high
        assert row.rmse.low < row.rmse.value < row.rmse.high
    assert full.difference.value == pytest.approx(reduced.r2.value - full.r2.value)
    assert (scores.n_train, scores.n_test) == (120, 120)


def test_rivals_are_tuned_as_in_a_comparison(sequential, halves):
    """On the same folds of the training samples, by the methods of lincfa.compare."""
    scores = collect_findings(sequential, **halves).scores
    assert [row.method for row in scores.rows] == [
        *("least squares", "ridge regression", "PLS"),
        "least squares",
    ]
    X, X_test = ((halves[n] - sequential.mean_) / sequential.scale_ for n in ("X", "X_test"))
    part = TrainingPart(120, 30)
    for method, name in (("ridge regression", "ridge"), ("PLS", "PLS")):
        fitted = METHODS[name](part)[-1].fit(X, halves["y"])  # of features that are scaled
        row, predicted = row_of(scores, method), fitted.predict(X_test)
        assert row.r2.value == pytest.approx(r2_score(halves["y_test"], predicted))
        gain = scores.rows[-1].r2.value - row.r2.value
        assert row.difference.value == pytest.approx(gain)
        assert row.difference.low < row.difference.value < row.difference.high
    best = max(scores.rows[:-1], key=lambda row: row.r2.value)
    assert scores.best_rival is best
    assert "Ridge regression and PLS were tuned by cross-validation" in scores.how


def test_rivals_that_would_take_long_are_left_out(monkeypatch, sequential, halves):
    monkeypatch.setattr("lincfa.report._rivals._LONGEST", 0)
    scores = collect_findings(sequential, **halves).scores
    assert len(scores.rows) == 1
    assert scores.best_rival is None
    assert "Ridge regression would take long on 120 samples of 30 features." in scores.how
    assert "PLS would take long" in scores.how
    assert "Least squares would take long" in scores.how


def test_rivals_with_sample_weights(halves):
    """A ridge regression with weights, and no PLS, which takes none."""
    weights = np.linspace(0.5, 2, 120)
    model = LinCFA().fit(halves["X"], halves["y"], weights)
    scores = collect_findings(model, **halves, sample_weight=weights).scores
    scaled = [(halves[name] - model.mean_) / model.scale_ for name in ("X", "X_test")]
    folds = list(default_folds(120).split(scaled[0]))
    expected = RidgeCV(RIDGES, cv=folds, scoring="neg_mean_squared_error")
    expected.fit(scaled[0], halves["y"], sample_weight=weights)
    r2 = expected.score(scaled[1], halves["y_test"])
    assert row_of(scores, "ridge regression").r2.value == pytest.approx(r2)
    assert "PLS takes no sample weights." in scores.how


def test_effects_are_checked_on_held_out_samples(model, halves):
    found = collect_findings(model, **halves)
    told = model.inference(halves["X_test"], halves["y_test"]).per_standard_deviation()
    assert found.inference.n_samples == 120
    for group in found.groups:
        check, k = group.check, group.number
        for name in ("estimate", "low", "high", "adjusted_p_value"):
            assert getattr(check, name) == pytest.approx(getattr(told, name)[k])
        clear = check.adjusted_p_value < 0.05
        same = check.estimate * group.weight > 0
        expected = ("confirmed" if same else "opposite sign") if clear else "unclear"
        assert check.verdict == expected
    assert found.inference_note == told.how


def test_new_samples_confirm_effects_or_contradict_them(rng):
    """Effects of 1, −1 and 0, known to 0.05 from 400 samples; then of signs that have turned."""
    signal = rng.normal(size=(800, 3))
    X = np.repeat(signal, 3, axis=1) + 0.3 * rng.normal(size=(800, 9))
    y = signal @ [1.0, -1.0, 0.0] + rng.normal(size=800)
    model = LinCFA(strategy="agglomerative", n_groups=3).fit(X[:400], y[:400])
    for sign, verdict in ((1, "confirmed"), (-1, "opposite sign")):
        given = {"X_test": X[400:], "y_test": sign * y[400:]}
        found = collect_findings(model, X=X[:400], y=y[:400], **given)
        told = {group.name: group.check.verdict for group in found.groups}
        assert list(told.values()) == [verdict, verdict, "unclear"]
        page = render(found)
        assert page.count(f">{verdict}</span>") == 2
        assert page.count(">unclear</span>") == 1


@pytest.mark.parametrize(
    ("rows", "why"),
    [(slice(0), "no held-out samples were given"), (slice(13), "13 samples are too few")],
)
def test_effects_that_cannot_be_checked(sequential, halves, rows, why):
    given = {name: halves[name] for name in ("X", "y")}
    if rows.stop:
        given |= {name: halves[name][rows] for name in ("X_test", "y_test")}
    found = collect_findings(sequential, **given)
    assert found.inference is None
    assert why in found.inference_note
    assert all(group.check is None for group in found.groups)
    assert why in render(found)


@pytest.mark.parametrize("ordered", [False, True])
def test_without_data_of_the_fit_scores_are_cross_validated(sequential, halves, ordered):
    test = {name: halves[name] for name in ("X_test", "y_test")}
    scores = collect_findings(sequential, **test, ordered=ordered).scores
    folds = KFold(5) if ordered else KFold(5, shuffle=True, random_state=0)
    rows = row_of(scores, "least squares"), scores.rows[-1]
    for row, reduce in zip(rows, (np.asarray, sequential.transform), strict=True):
        X = reduce(halves["X_test"])
        predicted = cross_val_predict(LinearRegression(), X, halves["y_test"], cv=folds)
        assert row.r2.value == pytest.approx(r2_score(halves["y_test"], predicted), abs=1e-9)
    assert "cross-validated" in scores.how
    assert scores.n_train == 96
    inner = (lambda n: BlockKFold(5, n_repeats=2)) if ordered else default_folds
    X, y = (halves["X_test"] - sequential.mean_) / sequential.scale_, halves["y_test"]
    predicted = np.empty(120)
    for train, test in folds.split(X):
        fitted = ridge(inner(96)).fit(X[train], y[train])
        predicted[test] = fitted.predict(X[test])
    found = row_of(scores, "ridge regression").r2.value
    assert found == pytest.approx(r2_score(y, predicted), abs=1e-9)


def test_samples_of_one_date_are_held_out_together(sequential, halves):
    """Each sample twice: the other one of its date would give the answer away."""
    X, y = np.repeat(halves["X_test"], 2, axis=0)[:-2], np.repeat(halves["y_test"], 2)[:-2]
    dates = np.repeat(pd.date_range("2001", periods=119), 2)
    found = collect_findings(sequential, X_test=X, y_test=pd.Series(y, index=dates)).scores
    folds = list(GroupKFold(5).split(X, groups=np.repeat(np.arange(5), [48, 48, 48, 48, 46])))
    predicted = cross_val_predict(LinearRegression(), X, y, cv=folds)
    assert found.rows[0].r2.value == pytest.approx(r2_score(y, predicted), abs=1e-9)
    few = pd.Series(y, index=np.repeat(dates[:4:2], 119))
    wrong = "X_test has 2 different dates, but cross-validation needs at least 5"
    assert_raises(wrong, collect_findings, sequential, X_test=X, y_test=few)


def test_intervals_have_the_width_of_the_normal_law(sequential, halves, rng):
    """Squared errors of 4000 samples: their mean is normal, its deviation known.

    Ten percent for the chance of 1000 draws: a quantile at 2.5 % of so many is known to about 3 %
    of the width, four deviations to be sure.
    """
    X = rng.normal(size=(4000, 30))
    y = X @ rng.normal(size=30) + rng.normal(size=4000)
    given = halves | {"X_test": X, "y_test": y}
    row = collect_findings(sequential, **given).scores.rows[0]
    scale = halves["X"].std(axis=0, ddof=1)
    fitted = LinearRegression().fit(halves["X"] / scale, halves["y"])
    squared = (y - fitted.predict(X / scale)) ** 2
    deviation = squared.std() / np.sqrt(4000) / (2 * np.sqrt(squared.mean()))
    assert row.rmse.high - row.rmse.low == pytest.approx(2 * 1.96 * deviation, rel=0.1)


def test_intervals_of_dependent_errors_are_wider_in_order(sequential, halves, rng):
    """Errors in runs of ten: runs drawn together show that there are fewer independent ones."""
    X = np.repeat(rng.normal(size=(60, 30)), 10, axis=0)
    y = np.repeat(rng.normal(size=60), 10)
    given = halves | {"X_test": X, "y_test": y}
    width = {}
    for ordered in (False, True):
        found = collect_findings(sequential, **given, ordered=ordered).scores
        interval = found.rows[-1].rmse
        width[ordered] = interval.high - interval.low
        assert ("consecutive" in found.how) == ordered
    assert width[True] > 1.5 * width[False]


def test_intervals_of_persistent_errors_are_those_of_blocks(sequential, halves, rng):
    """Errors that are a first-order autoregression, of samples with dates in any order.

    The mean of b squares in a row, whose autocorrelations are φ²ᵏ, varies by 1 + 2Σ(1 − k/b)φ²ᵏ
    times as much as that of independent ones. Autocorrelations of 4000 samples are known to 0.03,
    the sum to about 10 %, its root to 5 %, and each width of 1000 draws to 3 %.
    """
    phi, n = 0.7, 4000
    X = rng.normal(size=(n, 30))
    fitted = LinearRegression().fit(halves["X"], halves["y"])
    y = fitted.predict(X) + 1e3 * autoregression(rng, phi, n)
    dates, order = pd.date_range("1901", periods=n, freq="W"), rng.permutation(n)
    dated = halves | {"X_test": X[order], "y_test": pd.Series(y[order], index=dates[order])}
    plain = halves | {"X_test": X, "y_test": y}
    scores = {
        "blocks": collect_findings(sequential, **dated).scores,
        "ordered": collect_findings(sequential, **plain, ordered=True).scores,
        "alone": collect_findings(sequential, **plain).scores,
    }
    length = round((6 * n * phi**4 / (1 - phi**4) ** 2) ** (1 / 3))
    said = re.search(r"blocks of (\d+) consecutive", scores["blocks"].how)
    assert int(said[1]) == pytest.approx(length, abs=2)
    assert "consecutive" not in scores["alone"].how
    assert scores["blocks"].rows == scores["ordered"].rows
    width = {
        key: np.ptp([each.rows[0].rmse.low, each.rows[0].rmse.high]) for key, each in scores.items()
    }
    k = np.arange(1, length)
    wider = np.sqrt(1 + 2 * np.sum((1 - k / length) * phi ** (2 * k)))
    assert width["blocks"] / width["alone"] == pytest.approx(wider, rel=0.15)
    long = collect_findings(sequential, **plain, block_length=60).scores
    assert "blocks of 60 consecutive" in long.how
    asked = {"block_length": n + 1}
    assert_raises("block_length=4001 is more than", collect_findings, sequential, **plain, **asked)


def monthly_anomalies(rng, cells=2000):
    """Ten years, less the means of the months of the first eight: of rank 84 in these 96 months."""
    series = rng.normal(size=(120, 20)) * 0.8 ** np.arange(20)
    field = series @ rng.normal(size=(20, cells)) + 0.1 * rng.normal(size=(120, cells))
    field -= np.tile(field[:96].reshape(8, 12, cells).mean(axis=0), (10, 1))
    return field, series[:, 0] + series[:, 1] + 0.5 * rng.normal(size=120)


@pytest.mark.parametrize("as_stored", ["float32", "float32 in float64", "seven digits"])
def test_anomalies_in_single_precision_are_scored_as_in_double(rng, as_stored):
    """In float32, or with the rank of float64, R² on all features would be −9926 or worse."""
    field, y = monthly_anomalies(rng)
    single = field.astype(np.float32)
    stored = {"float32": single, "float32 in float64": single.astype(np.float64)}
    stored["seven digits"] = np.array([float(f"{x:.7g}") for x in field.flat]).reshape(field.shape)
    found = []
    for X in (field, stored[as_stored]):
        model = LinCFA(strategy="agglomerative", n_groups=40).fit(X[:96], y[:96])
        given = {"X": X[:96], "y": y[:96], "X_test": X[96:], "y_test": y[96:]}
        found.append(collect_findings(model, **given))
    exact, rounded = found
    for one, other in zip(exact.scores.rows, rounded.scores.rows, strict=True):
        assert one.r2.value > 0.5
        assert other.r2.value == pytest.approx(one.r2.value, abs=1e-3)
    few = exact.path.curves[0].n_groups <= 60  # near 84 any rounding counts
    curves = [each.path.curves[0].score[few] for each in found]
    np.testing.assert_allclose(curves[1], curves[0], atol=1e-2)


def test_precision_is_that_of_the_values(rng):
    double, single = np.finfo(np.float64).eps, np.finfo(np.float32).eps
    X = rng.normal(size=(300, 3)) * [1e-30, 1.0, 1e30]
    assert precision_of(X) == double
    assert precision_of(X[:, :2].astype(np.float32)) == single
    assert precision_of(np.column_stack([X, rng.poisson(3, size=300)])) == double
    assert precision_of(np.column_stack([X, X[:, 1].astype(np.float32)])) == single
    assert precision_of(np.column_stack([X, X[:, 1].round(3)])) == single
    assert precision_of(np.zeros((5, 2))) == double


def test_more_features_than_samples_is_said(halves):
    few = {name: values[:25] for name, values in halves.items()}
    model = LinCFA().fit(few["X"], few["y"])
    scores = collect_findings(model, **few).scores
    assert "Least squares needs more samples than features." in scores.how
    assert [row.method for row in scores.rows[:-1]] == ["ridge regression", "PLS"]


def test_a_search_scores_its_own_estimator(halves):
    model = LinCFACV(cv=3, strategies=["sequential"], estimator=Ridge(5.0))
    model.fit(halves["X"], halves["y"])
    found = collect_findings(model, **halves)
    expected = r2_score(halves["y_test"], model.predict(halves["X_test"]))
    assert found.scores.rows[-1].r2.value == pytest.approx(expected)
    assert [row.method for row in found.scores.rows] == [
        *("Ridge", "ridge regression", "PLS"),
        "Ridge",
    ]
    assert "Ridge(alpha=5.0)" in found.scores.how
    assert found.settings["chosen tolerance"] == model.tolerance_


def test_weights_are_repetitions(halves):
    """A row that counts twice is a row given twice, in every figure of the report."""
    weights = np.tile([1.0, 2.0, 3.0], 40)
    again = {name: np.repeat(halves[name], weights.astype(int), axis=0) for name in ("X", "y")}
    for strategy in ("sequential", "agglomerative"):
        weighted = LinCFA(strategy=strategy).fit(halves["X"], halves["y"], weights)
        repeated = LinCFA(strategy=strategy).fit(again["X"], again["y"])
        one = collect_findings(weighted, **halves, sample_weight=weights)
        other = collect_findings(repeated, **(halves | again))
        # Folds of repeated rows are others, so that rivals are tuned otherwise.
        for each in (one, other):
            assert len(each.scores.rows) > 2
        rows = [
            (row_of(each.scores, "least squares"), each.scores.rows[-1]) for each in (one, other)
        ]
        for a, b in zip(*map(leaves, map(list, rows)), strict=True):
            assert a == pytest.approx(b, rel=1e-6, abs=1e-9)
        for part in ("matrix", "coefficients", "pairs", "path"):
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
    one, other = (
        collect_findings(LinCFA().fit(given["X"], given["y"]), **given)
        for given in (halves, scaled)
    )
    np.testing.assert_allclose(other.matrix.values, one.matrix.values, atol=1e-9)
    for a, b in zip(one.scores.rows, other.scores.rows, strict=True):
        assert b.r2.value == pytest.approx(a.r2.value)
        assert b.rmse.low == pytest.approx(a.rmse.low * unit**0.9)


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_a_penalty_meets_both_in_the_same_units(halves, units):
    small = {name: values * 1e-3 for name, values in halves.items() if name[0] == "X"}
    model = LinCFACV(estimator=Ridge(1.0), units=units, strategies=["sequential"], cv=3)
    model.fit(small["X"], halves["y"])
    scores = collect_findings(model, **(halves | small)).scores
    X, X_test = small["X"], small["X_test"]
    if units == "standardized":
        X, X_test = ((each - X.mean(axis=0)) / X.std(axis=0, ddof=1) for each in (X, X_test))
    predicted = Ridge(1.0).fit(X, halves["y"]).predict(X_test)
    assert scores.rows[0].r2.value == pytest.approx(r2_score(halves["y_test"], predicted))


@pytest.mark.parametrize("weighted", [False, True])
def test_all_features_have_a_penalty_by_the_blocks_of_the_search(rng, weighted):
    """The rows are in no order, so that blocks are those of their dates."""
    X, y = autoregression(rng, 0.95, (200, 40)), autoregression(rng, 0.95, 200)
    dates = pd.date_range("2001", periods=200, freq="MS")
    X, y = pd.DataFrame(X, dates), pd.Series(y, dates)
    rows, weights = rng.permutation(140), rng.uniform(0.5, 2, 140) if weighted else None
    folds = BlockKFold(4, gap=3)
    model = LinCFACV(cv=folds, strategies=["sequential"], tolerances=[1.0])
    model.fit(X.iloc[rows], y.iloc[rows], sample_weight=weights)
    given = {"X": X.iloc[rows], "y": y.iloc[rows], "X_test": X[140:], "y_test": y[140:]}
    found = collect_findings(model, **given, sample_weight=weights).scores
    scaled = (X - model.mean_) / model.scale_
    parts = list(folds.split(given["X"]))
    expected = RidgeCV(RIDGES, cv=parts, scoring="neg_mean_squared_error")
    expected.fit(scaled.iloc[rows], given["y"], sample_weight=weights)
    alone = RidgeCV(RIDGES).fit(scaled.iloc[rows], given["y"], sample_weight=weights)
    assert expected.alpha_ != alone.alpha_
    r2 = expected.score(scaled[140:], y[140:])
    assert row_of(found, "ridge regression").r2.value == pytest.approx(r2, abs=1e-6)
    assert "4 blocks of samples consecutive in time" in found.how


def test_few_samples_have_no_intervals(sequential, halves):
    few = {name: halves[name][:9] for name in ("X_test", "y_test")}
    scores = collect_findings(sequential, **(halves | few)).scores
    assert np.isfinite(scores.rows[0].r2.value)
    assert np.isnan(scores.rows[0].r2.low)
    assert np.isnan(scores.rows[0].difference.high)
    assert "too few" in scores.how


def test_coefficients_of_other_scales_are_not_shown(halves):
    model = LinCFACV(estimator=PoissonRegressor(), strategies=["sequential"], cv=3)
    model.fit(halves["X"], np.exp(halves["y"] / 30))
    assert collect_findings(model).coefficients is None


# Settings


@pytest.fixture(scope="module")
def few_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 20))
    return X, X[:, 0] + rng.normal(size=40)


GRAPH = grid_connectivity((4, 5))  # 4·4 + 3·5 edges
BLOCKS = np.repeat(["low", "high"], 10)


@pytest.mark.parametrize("graph", [GRAPH, GRAPH.toarray(), GRAPH.tocoo()])
@pytest.mark.parametrize("blocks", [BLOCKS, BLOCKS.tolist()])
@pytest.mark.parametrize("kind", [LinCFA, LinCFACV])
def test_matrices_and_labels_are_counted(few_samples, graph, blocks, kind):
    model = kind(connectivity=graph, blocks=blocks).fit(*few_samples)
    told = settings_of(model)
    assert told["connectivity"] == "graph with 31 edges"
    assert told["blocks"] == "2 blocks"
    assert told["connected components"] == 2
    found = collect_findings(model)
    assert f"model = {kind.__name__}(blocks=blocks, connectivity=connectivity).fit" in found.recipe
    assert json.loads(found.to_json())["settings"] == found.settings


def test_words_are_told_as_they_are(few_samples):
    model = LinCFA(connectivity="chain").fit(*few_samples)
    told = settings_of(model)
    assert told["connectivity"] == "chain"
    assert told["blocks"] is None
    assert told["connected components"] == 1
    assert "LinCFA(connectivity='chain')" in collect_findings(model).recipe
    told = settings_of(LinCFA().fit(*few_samples))
    assert told["connectivity"] is told["blocks"] is None
    assert "connected components" not in told


def test_the_page_states_constraints(few_samples, tmp_path):
    pytest.importorskip("jinja2")
    model = LinCFA(connectivity=GRAPH, blocks=BLOCKS).fit(*few_samples)
    model.report(tmp_path / "report.html")
    LinCFA().fit(*few_samples).report(tmp_path / "plain.html")
    page, plain = ((tmp_path / f"{n}.html").read_text("utf-8") for n in ("report", "plain"))
    assert "only neighbours merge" in page
    assert "No group spans several blocks (2 blocks)." in page
    assert "neighbours merge" not in plain
    assert "several blocks" not in plain
