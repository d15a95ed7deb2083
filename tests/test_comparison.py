"""LinCFA against other methods by repeated cross-validation."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lincfa.diagnostics._comparison import METHODS, Part, regressor
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    RepeatedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import Comparison, LinCFA, LinCFACV, compare
from lincfa._search._folds import default_folds
from lincfa.baselines import RIDGES
from lincfa.diagnostics import _progress
from reference import draw

QUICK = ["LinCFA", "all features", "PCA"]
SCALES = np.logspace(-2, 2, 12)


def literal(name, X, y):
    """Each method as its documentation reads, fitted; and its number of features."""
    n = len(y)
    scaler = StandardScaler().fit(X)
    Z = scaler.transform(X)
    if name.startswith("LinCFA "):
        step = LinCFA(strategy=name.split()[1])
    elif name == "PLS":
        most = min(20, X.shape[1], n - -(-n // 5) - 1)
        search = GridSearchCV(
            PLSRegression(scale=False),
            {"n_components": range(1, most + 1)},
            cv=default_folds(n),
            scoring="neg_mean_squared_error",
        ).fit(Z, y)
        return lambda T: search.predict(scaler.transform(T)), search.best_params_["n_components"]
    elif name == "LinCFACV":
        model = LinCFACV(strategies=["centroid"]).fit(X, y)
        return model.predict, model.n_groups_
    elif name in ("all features", "ridge"):
        model = (LinearRegression() if name == "all features" else RidgeCV(RIDGES)).fit(Z, y)
        return lambda T: model.predict(scaler.transform(T)), X.shape[1]
    else:
        groups = LinCFA().fit(X, y).n_groups_
        step = {
            "LinCFA": LinCFA(),
            "PCA": PCA(0.95),
            "FeatureAgglomeration": FeatureAgglomeration(groups),
        }[name]
    if "LinCFA" in name:
        Z, scaler = X, make_pipeline("passthrough").fit(X)
    reduced = step.fit(Z, y).transform(Z)
    last = LinearRegression().fit(reduced, y)
    return lambda T: last.predict(step.transform(scaler.transform(T))), reduced.shape[1]


def drifting(seed=0):
    """Features of different scales whose means and scales change with the samples.

    With 200 of 300 samples to learn from, methods choose by five folds, which are not repeated.
    """
    X, y = draw(seed, 300)
    X = X[:, :12] * SCALES * np.linspace(1, 4, len(y))[:, None]
    return X + np.linspace(0, 3, len(y))[:, None] * SCALES, y


@pytest.mark.parametrize("name", METHODS)
def test_figures_by_a_loop_over_scikit_learns_folds(name):
    X, y = drifting()
    found = compare(
        X, y, methods=[name], cv=3, n_repeats=2, random_state=5, strategies=["centroid"]
    )
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


def test_nothing_to_learn_from_noise():
    """Choosing features or groups by the held-out part would score above 0."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(270, 1)) + 0.5 * rng.normal(size=(270, 250))
    found = compare(X, rng.normal(size=270), n_repeats=1, cv=4, strategies=["sequential"])
    assert found.methods == tuple(METHODS)
    # With 10 methods that resemble each other three standard errors are hardly ever exceeded.
    assert (found.r2 < 3 * found.r2_se).all()


def test_only_the_samples_of_a_fold_matter():
    X, y = draw(0, 400)
    train, test, other = np.split(np.arange(len(y)), [len(y) // 2, 3 * len(y) // 4])
    arguments = {"cv": [(train, test)], "strategies": ["sequential"]}
    one = compare(X, y, **arguments)
    X, y = X.copy(), y.copy()
    X[other] *= 1000
    y[other] -= 50
    two = compare(X, y, **arguments)
    np.testing.assert_array_equal(one.fold_r2, two.fold_r2)
    np.testing.assert_array_equal(one.fold_n_features, two.fold_n_features)
    assert np.isnan(one.r2_se).all()  # of one fold there is none


def test_ordered_folds_are_contiguous(planned):
    X, y = draw(0)
    found = compare(X, y, cv=4, ordered=True, methods=["LinCFA"])
    assert found.ordered
    assert len(planned) == 4  # not repeated
    np.testing.assert_array_equal(np.concatenate([task.test for task in planned]), range(len(y)))
    for task in planned:
        assert task.ordered
        np.testing.assert_array_equal(
            np.sort(np.concatenate([task.train, task.test])), range(len(y))
        )
    compare(X, y, cv=4, methods=["LinCFA"])
    assert len(planned) == 4 + 12
    assert not planned[-1].ordered
    assert (np.diff(planned[-1].test) > 1).any()


def test_ordered_methods_choose_by_contiguous_folds():
    part = Part(53, 10, ordered=True)
    for chosen in (
        regressor("LinCFACV", part),
        regressor("PLS", part)[-1],
        regressor("ridge", part)[-1],
    ):
        assert isinstance(chosen.cv, KFold)
        assert not chosen.cv.shuffle
        assert chosen.cv.n_splits == 5
    assert regressor("ridge", Part(53, 10))[-1].cv is None
    assert regressor("LinCFACV", Part(53, 10)).cv is None  # its own, shuffled
    assert isinstance(regressor("PLS", Part(53, 10))[-1].cv, RepeatedKFold)
    X, y = draw(0, 200)
    found = compare(X, y, ordered=True, cv=3, strategies=["sequential"])
    assert np.isfinite(found.fold_r2).all()


def test_a_splitter_of_ones_own():
    X, y = draw(0)
    found = compare(X, y, cv=TimeSeriesSplit(3), methods=QUICK)
    train, test = next(iter(TimeSeriesSplit(3).split(X)))
    assert (found.n_train[0], found.n_test[0]) == (len(train), len(test))
    share = found.n_test.sum() / found.n_train.sum()
    expected = found.fold_r2.std(axis=1, ddof=1) * np.sqrt(1 / 3 + share)
    np.testing.assert_allclose(found.r2_se, expected)
    assert compare(X, y, cv=np.int64(3), methods="PCA").fold_r2.shape == (1, 9)


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


def test_methods_come_in_the_order_asked_for():
    X, y = draw(0)
    found = compare(X, y, methods=["PCA", "LinCFA", "PCA"], cv=2, n_repeats=1)
    assert found.methods == ("PCA", "LinCFA")
    assert np.isnan(found.difference).all()
    assert np.isnan(found.difference_se).all()


def test_single_precision_is_scored_in_double():
    X, y = draw(0)
    single = X.astype(np.float32)
    one = compare(single, y, methods=QUICK, n_repeats=1)
    two = compare(single.astype(np.float64), y, methods=QUICK, n_repeats=1)
    np.testing.assert_array_equal(one.fold_r2, two.fold_r2)


def test_progress(capsys, monkeypatch):
    X, y = draw(0)
    steps = []
    arguments = {"methods": QUICK, "cv": 2, "n_repeats": 1}
    compare(X, y, **arguments, progress=lambda *step: steps.append(step))
    assert steps == [(k, 6) for k in range(1, 7)]
    assert capsys.readouterr().err == ""  # it is over too soon
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
