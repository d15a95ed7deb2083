"""LinCFA against other methods by repeated cross-validation."""

import json
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import (
    ClassComparison,
    Comparison,
    LinCFA,
    LinCFAClassifierCV,
    LinCFACV,
    baselines,
    compare,
)
from lincfa._data._checks import ConstantFeaturesWarning
from lincfa._model._regression import RidgeRegression
from lincfa._search._folds import default_folds, stratified_folds
from lincfa.datasets import make_correlated
from lincfa.diagnostics import _compare, _progress
from lincfa.diagnostics._compare import CLASSIFIERS, METHODS, TrainingPart
from lincfa.structure import chain_connectivity, grid_connectivity
from lincfa.timeseries import BlockKFold
from reference import assert_raises, draw

QUICK = ["LinCFA", "all features", "PCA"]
SCALES = np.logspace(-2, 2, 12)
PATHS = {
    "PCA": "pca_regression",
    "FeatureAgglomeration": "agglomeration",
    "elastic net": "elastic_net",
    "SLOPE": "slope",
}


def literal(name, X, y):
    """Each method as its documentation reads, fitted; and its number of features."""
    n = len(y)
    options = {"cv": default_folds(n), "scoring": "neg_mean_squared_error"}
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X)
    if name == "LinCFACV":
        model = LinCFACV(strategies=["centroid"]).fit(X, y)
        return model.predict, model.n_groups_
    if name.startswith("LinCFA"):
        step = LinCFA(strategy=[*name.split(), "sequential"][1]).fit(X, y)
        model = LinearRegression().fit(step.transform(X), y)
        return lambda T: model.predict(step.transform(T)), step.n_groups_
    if name == "PLS":
        most = min(20, X.shape[1], n - -(-n // 5) - 1)
        grid = {"n_components": range(1, most + 1)}
        search = GridSearchCV(PLSRegression(scale=False), grid, **options)
        search.fit(Z, y)
        return lambda T: search.predict(scaler.transform(T)), search.best_params_["n_components"]
    if name in ("all features", "ridge"):
        model = RidgeCV(baselines.RIDGES, **options) if name == "ridge" else LinearRegression()
        model.fit(Z, y)
        return lambda T: model.predict(scaler.transform(T)), X.shape[1]
    # Those of lincfa.baselines, whose tests compare them with scikit-learn's.
    model = getattr(baselines, PATHS[name])(cv=default_folds(n)).fit(Z, y)
    return lambda T: model.predict(scaler.transform(T)), model.n_features_


def drifting(seed=0):
    """Features of different scales whose means and scales change with the samples.

    With 200 of 300 samples to learn from, methods choose by five folds, which are not repeated.
    """
    X, y = draw(seed, 300)
    X = X[:, :12] * SCALES * np.linspace(1, 4, len(y))[:, None]
    return X + np.linspace(0, 3, len(y))[:, None] * SCALES, y


@pytest.mark.parametrize("name", METHODS)
def test_figures_by_a_loop_over_scikit_learns_folds(name):
    if name == "SLOPE":
        pytest.importorskip("sortedl1")
    X, y = drifting()
    options = {"cv": 3, "n_repeats": 2, "random_state": 5, "strategies": ["centroid"]}
    found = compare(X, y, methods=[name], **options)
    folds = list(RepeatedKFold(n_splits=3, n_repeats=2, random_state=5).split(X))
    for k, (train, test) in enumerate(folds):
        predict, number = literal(name, X[train], y[train])
        predicted = np.ravel(predict(X[test]))
        assert found.fold_n_features[0, k] == number
        assert found.fold_r2[0, k] == pytest.approx(r2_score(y[test], predicted), rel=1e-9)
        error = np.sqrt(np.mean((y[test] - predicted) ** 2))
        assert found.fold_rmse[0, k] == pytest.approx(error, rel=1e-9)
    assert found.n_train.tolist() == [len(train) for train, _ in folds]
    assert found.n_test.tolist() == [len(test) for _, test in folds]
    assert found.methods == (name,)
    assert found.failures == ("",)
    assert (found.fold_seconds > 0).all()


def test_means_and_corrected_standard_errors():
    X, y = draw(0)
    found = compare(X, y, methods=QUICK, cv=5, n_repeats=2)
    for means, errors, scores in (
        (found.r2, found.r2_se, found.fold_r2),
        (found.rmse, found.rmse_se, found.fold_rmse),
        (found.difference, found.difference_se, found.fold_r2 - found.fold_r2[1]),
    ):
        for k, values in enumerate(scores):
            mean = sum(values) / 10
            variance = sum((value - mean) ** 2 for value in values) / 9
            assert means[k] == pytest.approx(mean, abs=1e-12)
            # Of five folds the held-out part is a quarter of the training part.
            assert errors[k] == pytest.approx((variance * (1 / 10 + 1 / 4)) ** 0.5, abs=1e-12)
    np.testing.assert_allclose(found.n_features, found.fold_n_features.mean(axis=1))
    np.testing.assert_allclose(found.seconds, found.fold_seconds.mean(axis=1))
    assert found.difference[1] == found.difference_se[1] == 0


def test_ordered_folds_are_contiguous(planned):
    X, y = draw(0)
    found = compare(X, y, cv=4, ordered=True, methods=["LinCFA"])
    assert found.ordered
    assert len(planned) == 4  # not repeated
    np.testing.assert_array_equal(np.concatenate([task.test for task in planned]), range(len(y)))
    for task in planned:
        assert len(task.folds) == 10  # of few samples, twice
        for train, test in task.folds:
            assert (np.diff(test) > 1).sum() <= 1  # the ends of the rows may be one block
            both = np.sort(np.concatenate([train, test]))
            np.testing.assert_array_equal(both, range(len(task.train)))
        both = np.sort(np.concatenate([task.train, task.test]))
        np.testing.assert_array_equal(both, range(len(y)))
    compare(X, y, cv=4, methods=["LinCFA"])
    assert len(planned) == 4 + 12
    assert planned[-1].folds is None
    assert (np.diff(planned[-1].test) > 1).any()


def test_shuffled_samples_need_no_dates():
    X, y = make_correlated(n_samples=60, n_features=8, random_state=0)
    dates = pd.date_range("2001", periods=60, freq="MS").where(np.arange(60) != 3)
    dated = pd.DataFrame(X, dates)
    assert_raises("lacks the date of 1 sample", compare, dated, y, methods=["LinCFA"])
    found = compare(dated, y, methods=["LinCFA"], ordered=False)
    np.testing.assert_array_equal(found.r2, compare(X, y, methods=["LinCFA"]).r2)


def test_ordered_methods_choose_by_contiguous_folds():
    blocks = list(BlockKFold(5).split(range(53)))
    part = TrainingPart(53, 10, blocks)
    tuned = ["PLS", "ridge", "PCA", "FeatureAgglomeration", "elastic net"]
    for chosen in (METHODS["LinCFACV"](part), *(METHODS[k](part)[-1] for k in tuned)):
        assert chosen.cv is blocks
    assert METHODS["LinCFACV"](TrainingPart(53, 10)).cv is None  # its own, the same
    for name in tuned:
        assert repr(METHODS[name](TrainingPart(53, 10))[-1].cv) == repr(default_folds(53))
    X, y = draw(0, 200)
    found = compare(X, y, ordered=True, cv=3, strategies=["sequential"])
    assert np.isfinite(found.fold_r2).all()


def test_own_splitters_order_of_methods_and_precision():
    X, y = draw(0)
    found = compare(X, y, cv=TimeSeriesSplit(3), methods=QUICK)
    train, test = next(iter(TimeSeriesSplit(3).split(X)))
    assert (found.n_train[0], found.n_test[0]) == (len(train), len(test))
    share = found.n_test.sum() / found.n_train.sum()
    expected = found.fold_r2.std(axis=1, ddof=1) * np.sqrt(1 / 3 + share)
    np.testing.assert_allclose(found.r2_se, expected)
    assert compare(X, y, cv=np.int64(3), methods="PCA").fold_r2.shape == (1, 9)
    found = compare(X, y, methods=["PCA", "LinCFA", "PCA"], cv=2, n_repeats=1)
    assert found.methods == ("PCA", "LinCFA")
    assert np.isnan([found.difference, found.difference_se]).all()
    single = X.astype(np.float32)
    one = compare(single, y, methods=QUICK, n_repeats=1)
    two = compare(single.astype(np.float64), y, methods=QUICK, n_repeats=1)
    np.testing.assert_array_equal(one.fold_r2, two.fold_r2)


def test_the_same_seed_gives_the_same():
    X, y = draw(1)
    one = compare(X, y, methods=QUICK)
    for other in (
        compare(X, y, methods=QUICK, n_jobs=2),
        compare(pd.DataFrame(X), pd.Series(y), methods=QUICK),
        compare(X, y, methods=QUICK, random_state=np.random.RandomState(0)),
    ):
        # Workers may share out the sums of products in another way.
        np.testing.assert_allclose(one.fold_r2, other.fold_r2, rtol=1e-9)
        np.testing.assert_array_equal(one.fold_n_features, other.fold_n_features)
    other = compare(X, y, methods=QUICK, random_state=1)
    assert (one.fold_r2 != other.fold_r2).all()


def test_progress(capsys, monkeypatch):
    X, y = draw(0)
    steps = []
    arguments = {"methods": QUICK, "cv": 2, "n_repeats": 1}
    monkeypatch.setattr(_progress, "_SILENCE", np.inf)
    compare(X, y, **arguments, progress=lambda *step: steps.append(step))
    assert steps == [(k, 6) for k in range(1, 7)]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_progress, "_SILENCE", 0.0)
    monkeypatch.setattr(_progress, "_PAUSE", 0.0)
    compare(X, y, **arguments)
    assert capsys.readouterr().err.startswith("compare: 1 of 6\n")
    compare(X, y, **arguments, verbose=False)
    assert capsys.readouterr().err == ""


def test_ways_to_read_it():
    X, y = draw(0)
    found = compare(X, y, methods=["all features", "LinCFA"], cv=2, n_repeats=1)
    frame = found.frame()
    assert frame["method"].tolist() == ["all features", "LinCFA"]
    np.testing.assert_array_equal(frame["r2"], found.r2)
    np.testing.assert_array_equal(frame["difference_se"], found.difference_se)
    assert isinstance(found.frame("polars"), pl.DataFrame)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["methods"][1]["r2"] == found.r2[1]
    assert plain["methods"][1]["folds"]["rmse"] == found.fold_rmse[1].tolist()
    assert plain["methods"][1]["failure"] is None
    alone = compare(X, y, methods=["LinCFA"], cv=[(np.arange(20), np.arange(20, 30))])
    plain = json.loads(json.dumps(alone.to_dict(), allow_nan=False))
    assert plain["methods"][0]["r2_se"] is plain["methods"][0]["difference"] is None
    table = str(found).splitlines()
    assert table[0] == f"{len(y)} samples, {X.shape[1]} features; means over 2 folds"
    assert table[3].startswith("LinCFA ")
    assert f"{found.r2[1]:.3f}" in table[3]
    assert len(table[2].split()) == 8  # "all features" in two words, and no difference to itself
    assert "<td" in found._repr_html_()
    assert isinstance(found, Comparison)


# What is refused, fails or is left out


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"methods": ["LinCFA", "lasso"]}, r"methods must be among \['LinCFA', .*'PLS'.*'lasso'"),
        ({"methods": []}, "methods must be among"),
        ({"methods": 3}, "methods must be among"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"cv": 2.5}, "cv must be an integer of at least 2"),
        ({"cv": True}, "cv must be an integer of at least 2"),
        ({"cv": None}, "cv must be an integer of at least 2"),
        ({"cv": []}, "no folds"),
        ({"cv": 40}, "A fold has .* training and 1 held-out samples"),
        ({"cv": ShuffleSplit(2, train_size=3, random_state=0)}, "3 training and"),
        ({"n_repeats": 0}, "n_repeats must be a positive integer"),
        ({"strategies": ["best"]}, "strategy must be one of"),
        ({"strategies": "joint"}, "strategies must be a list"),
    ],
    ids=str,
)
def test_bad_parameters(arguments, match, planned):
    X, y = draw(0)
    assert_raises(match, compare, X, y, **arguments)
    assert planned == []


def test_bad_data_are_refused_at_once(planned):
    X, y = draw(0)
    frame = pd.DataFrame(X).add_prefix("t")
    broken = frame.copy()
    broken.loc[7, "t3"] = np.nan
    for data, target, match in (
        (broken, y, "NaN in column 't3'.*row 7"),
        (frame.assign(t3="a"), y, "column 't3'"),
        (frame.rename(columns={"t1": "t0"}), y, "unique"),
        (frame, np.ones_like(y), "constant"),
        (frame * 0 + 1, y, "Every column"),
        (frame[:3], y[:3], "minimum of 4"),
        (frame[:4], y[:4], "cv=5 folds are more than there are samples, 4"),
        (frame, np.r_[1.0, np.zeros(len(y) - 1)], "constant in the (training|held-out) part"),
    ):
        assert_raises(match, compare, data, target)
    assert planned == []


def test_failures_are_listed_and_constant_features_warned_of_once():
    X, y = draw(0)
    found = compare(X[:10], y[:10], cv=2, n_repeats=1, methods=["LinCFACV", *QUICK])
    assert found.failures[0].startswith("in 2 of 2 folds: Cross-validation needs at least 6 sam")
    assert found.failures[1:] == ("", "", "")
    assert np.isnan(found.r2[0])
    assert np.isfinite(found.r2[1:]).all()
    lines = str(found).splitlines()
    assert lines[2].split() == ["LinCFACV", "failed"]
    assert "LinCFACV failed in 2 of 2 folds: Cross-validation" in str(found)
    assert found.to_dict()["methods"][0]["failure"] == found.failures[0]
    alone = compare(X[:, :1], y, cv=2, n_repeats=1)  # one feature is enough for all
    assert alone.failures == ("",) * len(alone.methods)
    # One warning about constant features, none about those constant in some fold alone.
    X[:, 3] = 7.0
    X[:, 5] = 0.0
    X[11, 5] = 1.0
    with pytest.warns(UserWarning, match="column 3") as warned:
        found = compare(X, y, n_repeats=1, methods=QUICK)
    assert len(warned) == 1
    assert found.notes == ("1 constant feature was left out.",)
    assert found.n_features_in == X.shape[1] - 1
    assert found.n_features[1] == X.shape[1] - 1


def test_warnings_of_methods_become_notes(monkeypatch):
    X, y = draw(0)

    def warn(part):
        np.float64(1) / np.float64(0)  # a RuntimeWarning of numpy
        return LinearRegression()

    monkeypatch.setitem(METHODS, "PCA", warn)
    found = compare(X, y, cv=2, n_repeats=1, methods=["PCA"])
    assert len(found.notes) == 1
    assert found.notes[0].startswith("PCA warned in 2 of 2 folds: divide by zero")


def test_large_data_leave_out_what_would_not_fit(monkeypatch):
    monkeypatch.setattr(_compare, "find_spec", lambda name: name == "sortedl1")
    assert _compare.chosen_methods(None, 160, 4000) == (list(METHODS), [])
    names, notes = _compare.chosen_methods(None, 160, 20_000)
    assert set(METHODS) - set(names) == {*_compare._SQUARE, "elastic net", "SLOPE"}
    assert all(name in notes[0] for name in set(METHODS) - set(names))
    names, notes = _compare.chosen_methods(None, 4000, 3000)
    assert set(METHODS) - set(names) == set(_compare._WORK)
    assert {"all features", "ridge", "PCA"} < set(_compare._WORK)
    assert "4000 training samples of 3000 features" in notes[0]
    assert _compare.chosen_methods(["LinCFA joint"], 160, 20_000) == (["LinCFA joint"], [])


def test_no_weight_rests_on_the_rounding_of_float32():
    """Anomalies from the monthly means of the training years: the rank falls by 12."""
    rng = np.random.default_rng(0)
    n, D, split = 120, 600, 84
    month = np.arange(n) % 12
    X = (rng.normal(size=(n, n)) @ rng.normal(size=(n, D)) + 280).astype(np.float32)
    X -= np.stack([X[:split][month[:split] == k].mean(axis=0) for k in range(12)])[month]
    y = X[:, :5].mean(axis=1).astype(float) + rng.normal(size=n)
    fold = [(np.arange(split), np.arange(split, n))]
    found = compare(X, y, methods=["all features"], cv=fold)
    scaler = StandardScaler().fit(X[:split].astype(float))
    train, test = (scaler.transform(X[part].astype(float)) for part in fold[0])
    single = float(np.finfo(np.float32).eps)
    exact = RidgeRegression(precision=single).fit(train, y[:split]).score(test, y[split:])
    assert found.r2[0] == pytest.approx(exact)
    # Where rounding passes for data, it is minus millions.
    assert RidgeRegression().fit(train, y[:split]).score(test, y[split:]) < -1e4 < found.r2[0]


def test_slope_is_compared_where_installed(monkeypatch, planned):
    X, y = draw(0)
    monkeypatch.setattr(_compare, "find_spec", lambda name: None)
    assert compare(X, y, cv=2).methods == tuple(name for name in METHODS if name != "SLOPE")
    planned.clear()
    monkeypatch.setitem(sys.modules, "sortedl1", None)
    with pytest.raises(ImportError, match="SLOPE needs sortedl1: pip install sortedl1"):
        compare(X, y, methods=["LinCFA", "SLOPE"])
    assert planned == []


def test_what_was_left_out_is_said(monkeypatch, planned):
    X, y = draw(0)
    monkeypatch.setattr(_compare, "MOST_SQUARE", 5)
    found = compare(X, y)
    assert "Left out above 5 features" in str(found)
    assert "Left out above 5 features" in found._repr_html_()
    assert len(compare(X, y, methods=QUICK).notes) == 0


# Several targets

SEVERAL = ["LinCFACV", "ridge", "PLS", "elastic net"]
ONCE = {"cv": 3, "n_repeats": 1}


def several(seed=0):
    X, y = draw(seed, 120)
    rng = np.random.default_rng(seed)
    Y = np.column_stack([y, 1000 * X[:, 2] + rng.normal(size=len(y)), y - 3 * X[:, 5]])
    return X[:, :12], pd.DataFrame(Y, columns=["heat", "rain", "wind"])


def test_targets_for_which_a_method_has_no_common_choice_are_those_alone():
    X, Y = several()
    methods = ["all features", "ridge", "PCA", "FeatureAgglomeration", "elastic net"]
    found = compare(X, Y, methods=methods, **ONCE)
    for k, name in enumerate(Y):
        alone = compare(X, Y[name], methods=methods, **ONCE)
        np.testing.assert_allclose(found.fold_target_r2[:, :, k], alone.fold_r2, rtol=1e-8)
        np.testing.assert_allclose(found.fold_target_rmse[:, :, k], alone.fold_rmse, rtol=1e-8)
        np.testing.assert_allclose(found.target_r2_se[:, k], alone.r2_se, rtol=1e-6)
        np.testing.assert_allclose(found.target_rmse_se[:, k], alone.rmse_se, rtol=1e-6)
    np.testing.assert_allclose(found.fold_r2, found.fold_target_r2.mean(axis=2))
    shares = found.fold_target_rmse / Y.to_numpy().std(axis=0)
    np.testing.assert_allclose(found.fold_rmse, shares.mean(axis=2))


MERGING = [*(name for name in METHODS if name.startswith("LinCFA")), "FeatureAgglomeration"]


@pytest.mark.parametrize("container", ["field", "table"])
def test_neighbours_and_blocks(container, planned):
    """Those that merge know the neighbours of what varies; lags and blocks never mix."""
    X, y = make_correlated(n_samples=60, n_features=12, random_state=0)
    X[:, 4] = 1.0
    connectivity, blocks, graph = "chain", [0] * 6 + [1] * 6, chain_connectivity(6).toarray()
    if container == "field":
        xr = pytest.importorskip("xarray")
        X = xr.DataArray(X.reshape(60, 2, 2, 3), dims=("time", "lag", "lat", "lon"))
        connectivity, blocks, graph = "grid", None, grid_connectivity((2, 3)).toarray()
    with pytest.warns(ConstantFeaturesWarning):
        found = compare(X, y, connectivity=connectivity, blocks=blocks, methods=[*MERGING, "ridge"])
    assert f"Only neighbours merged in: {', '.join(MERGING)}." in found.notes
    varying = np.arange(12) != 4
    for task in planned:
        expected = np.kron(np.eye(2), graph)[varying][:, varying]
        np.testing.assert_array_equal(task.connectivity.toarray() != 0, expected != 0)
        np.testing.assert_array_equal(task.feature_blocks, np.repeat([0, 1], [5, 6]))
    part = TrainingPart(60, 11, connectivity=task.connectivity, feature_blocks=task.feature_blocks)
    for models, names in ((METHODS, MERGING[:-1]), (CLASSIFIERS, list(CLASSIFIERS)[:2])):
        for name in names:
            model = models[name](part)
            model = model[0] if isinstance(model, Pipeline) else model
            assert model.connectivity is part.connectivity
            assert model.blocks is part.feature_blocks


def test_lags_stay_apart_without_neighbours():
    xr = pytest.importorskip("xarray")
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(60, 1)), 4, axis=1)  # the same feature, which would all merge
    y = X[:, 0] + rng.normal(size=60)
    field = xr.DataArray(X.reshape(60, 2, 2), dims=("time", "lag", "x"))
    found = [compare(each, y, methods=["LinCFA"], n_repeats=1) for each in (field, X)]
    assert [each.n_features.tolist() for each in found] == [[2.0], [1.0]]
    assert "Cells merged wherever they are" in str(found[0])
    assert "merged" not in str(found[1])


@pytest.mark.parametrize("name", ["LinCFA", "LinCFACV", "PLS"])
def test_methods_with_a_common_choice_by_a_loop(name):
    X, Y = several()
    found = compare(X, Y, methods=[name], random_state=5, **ONCE)
    Y = Y.to_numpy()
    folds = RepeatedKFold(n_splits=3, n_repeats=1, random_state=5).split(X)
    for k, (train, test) in enumerate(folds):
        n = len(train)
        scaler, targets = StandardScaler().fit(X[train]), StandardScaler().fit(Y[train])
        if name == "PLS":
            options = {"cv": default_folds(n), "scoring": "neg_mean_squared_error"}
            grid = {"n_components": range(1, 13)}
            model = GridSearchCV(PLSRegression(scale=False), grid, **options)
            model.fit(scaler.transform(X[train]), targets.transform(Y[train]))
            predicted = targets.inverse_transform(model.predict(scaler.transform(X[test])))
            number = model.best_params_["n_components"]
        elif name == "LinCFACV":
            model = LinCFACV().fit(X[train], Y[train])
            predicted, number = model.predict(X[test]), model.n_groups_
        else:
            step = LinCFA().fit(X[train], Y[train])
            model = LinearRegression().fit(step.transform(X[train]), Y[train])
            predicted, number = model.predict(step.transform(X[test])), step.n_groups_
        assert found.fold_n_features[0, k] == number
        expected = r2_score(Y[test], predicted, multioutput="raw_values")
        np.testing.assert_allclose(found.fold_target_r2[0, k], expected, rtol=1e-8)


def test_units_of_targets_do_not_matter():
    X, Y = several()
    one = compare(X, Y, methods=SEVERAL, **ONCE)
    other = compare(X, Y * [1e-6, 1.0, 1e6], methods=SEVERAL, **ONCE)
    np.testing.assert_allclose(one.fold_target_r2, other.fold_target_r2, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.rmse, other.rmse, rtol=1e-6)


def test_ways_to_read_several_targets():
    X, Y = several()
    found = compare(X, Y, methods=QUICK, **ONCE)
    assert found.targets == ("heat", "rain", "wind")
    frame = found.frame()
    assert frame["method"].tolist() == QUICK
    np.testing.assert_array_equal(frame["r2[rain]"], found.target_r2[:, 1])
    np.testing.assert_array_equal(frame["rmse_se[wind]"], found.target_rmse_se[:, 2])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["targets"] == ["heat", "rain", "wind"]
    assert plain["methods"][0]["r2[heat]"] == found.target_r2[0, 0]
    first, second = str(found).split("\n\n")
    assert first.startswith("120 samples, 12 features, 3 targets; means over 3 folds\n")
    assert "means over the targets" in first
    lines = second.splitlines()
    assert lines[0] == "R² of each target"
    assert lines[1].split() == ["method", "heat", "rain", "wind"]
    assert lines[2].split()[1:] == [f"{value:.3f}" for value in found.target_r2[0]]
    assert "R² of each target" in found._repr_html_()
    assert compare(X, Y.to_numpy(), methods=["PCA"], **ONCE).targets == ("y0", "y1", "y2")
    one = compare(X, Y[["heat"]], methods=["PCA"], **ONCE)
    same = compare(X, Y["heat"], methods=["PCA"], **ONCE)
    assert str(one).count("targets") == 0
    np.testing.assert_array_equal(one.fold_r2, same.fold_r2)
    assert same.fold_target_r2.shape == (1, 3, 1)
    assert "targets" not in same.to_dict()


def test_a_constant_target_is_named(planned):
    X, Y = several()
    assert_raises("The target 'rain' is constant", compare, X, Y.assign(rain=3.0))
    rare = Y.assign(wind=np.arange(len(Y)) == 0)
    assert_raises("The target 'wind' is constant in the (training|held-out)", compare, X, rare)
    broken = Y.assign(rain=np.where(np.arange(len(Y)) == 4, np.nan, Y["rain"]))
    assert_raises("NaN", compare, X, broken)
    assert planned == []


# Classes


def kinds(seed=0, n_classes=3):
    X, y = draw(seed, 200)
    codes = np.searchsorted(np.quantile(y, np.arange(1, n_classes) / n_classes), y)
    return X[:, :12] * SCALES, np.array(["wet", "dry", "mild"])[codes]


def literal_classifier(name, X, y):
    """Each classifier as its documentation reads, fitted; and its number of features."""
    codes = np.unique(y, return_inverse=True)[1]
    folds = stratified_folds(codes)
    if name == "LinCFAClassifierCV":
        model = LinCFAClassifierCV().fit(X, y)
        return model, model.n_groups_
    if name == "most frequent class":
        return DummyClassifier(strategy="prior").fit(X, y), 0
    step = LinCFA() if name == "LinCFA" else "passthrough"
    n, D = X.shape
    tuned = {
        "PCA + LDA": lambda: baselines.pca_discriminant(n, D, folds),
        "PLS-DA": lambda: baselines.pls_discriminant(n, D, folds),
    }.get(name, lambda: baselines.logistic_regression(folds))()
    model = make_pipeline(step, StandardScaler(), tuned).fit(X, y)
    if name in ("PCA + LDA", "PLS-DA"):
        (number,) = tuned.best_params_.values()
        return model, number
    return model, D if name != "LinCFA" else step.n_groups_


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_figures_of_classes_by_a_loop(name, n_classes):
    X, y = kinds(n_classes=n_classes)
    found = compare(X, y, methods=[name], cv=2, n_repeats=1, random_state=5)
    assert isinstance(found, ClassComparison)
    assert found.classes.tolist() == sorted(set(y))
    folds = RepeatedStratifiedKFold(n_splits=2, n_repeats=1, random_state=5).split(X, y)
    for k, (train, test) in enumerate(folds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model, number = literal_classifier(name, X[train], y[train])
        assert found.fold_n_features[0, k] == number
        assert found.fold_accuracy[0, k] == pytest.approx(
            np.mean(model.predict(X[test]) == y[test])
        )
        if name == "PLS-DA":
            assert np.isnan(found.fold_log_loss[0, k])
        else:
            loss = log_loss(y[test], model.predict_proba(X[test]))
            assert found.fold_log_loss[0, k] == pytest.approx(loss, rel=1e-6)
    assert found.failures == ("",)
    assert found.notes == ()


FEW = ["PCA + LDA", "PLS-DA", "most frequent class"]


def test_labels_of_any_kind():
    X, y = kinds(n_classes=2)
    second = y == "wet"
    one = compare(X, y, methods=FEW, cv=2, n_repeats=1)
    for labels, target in (
        (second, None),
        (pd.Series(y, dtype="category"), None),
        (pd.DataFrame({"weather": y}), None),
        (second.astype(int) * 3 + 4, "classes"),
    ):
        other = compare(X, labels, methods=FEW, cv=2, n_repeats=1, target=target)
        np.testing.assert_allclose(one.fold_accuracy, other.fold_accuracy)
        np.testing.assert_allclose(one.fold_log_loss, other.fold_log_loss)
    numbers = compare(X, second.astype(int), methods=["LinCFA"], **ONCE)
    assert isinstance(numbers, Comparison)


def test_ways_to_read_classes():
    X, y = kinds()
    found = compare(X, y, methods=["LinCFA", "logistic regression", *FEW[1:]], cv=2, n_repeats=1)
    table = str(found).splitlines()
    assert table[0] == "200 samples, 12 features, 3 classes; means over 2 folds"
    assert "accuracy" in table[1]
    assert "log loss" in table[1]
    assert f"{found.accuracy[1]:.3f}" in table[3]
    assert table[-1] == "Without probabilities, no log loss: PLS-DA."
    assert "log loss" in found._repr_html_()
    frame = found.frame()
    np.testing.assert_array_equal(frame["accuracy"], found.accuracy)
    np.testing.assert_array_equal(frame["log_loss_se"], found.log_loss_se)
    np.testing.assert_allclose(frame["difference"], found.accuracy - found.accuracy[1])
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["classes"] == ["dry", "mild", "wet"]
    assert plain["methods"][2]["log_loss"] is None
    assert plain["methods"][0]["folds"]["accuracy"] == found.fold_accuracy[0].tolist()


def test_time_order_and_classes_that_are_not_there_to_learn():
    X, y = kinds(n_classes=2)
    found = compare(X, y, methods=FEW, ordered=True, cv=4)
    assert found.n_test.tolist() == [50] * 4
    assert (found.accuracy[:2] > found.accuracy[2]).all()
    late = np.where(np.arange(200) < 190, y, "mild")
    fold = [(np.arange(150), np.arange(150, 200))]
    found = compare(X, late, methods=[*FEW, "LinCFAClassifierCV"], cv=fold)
    assert (found.fold_accuracy <= 0.8).all()
    assert (found.log_loss[[0, 2, 3]] > 0.2 * 30).all()  # a probability of 0, up to rounding
    assert found.failures == ("",) * 4


def test_classes_that_cannot_be_compared(planned):
    X, y = kinds()
    assert_raises("All samples are of one class, 'wet'", compare, X, np.full(200, "wet"))
    assert_raises(r"methods must be among \['LinCFA', 'LinCFAC", compare, X, y, methods=["ridge"])
    assert_raises("target must be one of", compare, X, y, target="labels")
    parts = [(np.flatnonzero(y == "dry"), np.flatnonzero(y != "dry"))]
    assert_raises("training samples: All samples are of one class, 'dry'", compare, X, y, cv=parts)
    assert_raises("NaN in column 2", compare, np.where(X[7, 2] == X, np.nan, X), y)
    assert planned == []
    names, notes = _compare.chosen_methods(None, 4000, 3000, classes=True)
    assert set(CLASSIFIERS) - set(names) == {"logistic regression", "PCA + LDA"}
    assert "logistic regression, PCA + LDA" in notes[0]
    assert _compare.chosen_methods(None, 160, 20_000, classes=True) == (list(CLASSIFIERS), [])
