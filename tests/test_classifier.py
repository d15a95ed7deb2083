"""LinCFAClassifierCV: judged by a plain loop, and by scikit-learn on the reduced features."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline

import lincfa
from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from lincfa._model._logistic import PenalizedLogistic
from reference import assert_raises

QUICK = {"tolerances": (1.0, 20.0), "min_correlations": (None, 0.7), "penalties": (1e-3, 0.05)}


def blobs(n=90, n_features=12, n_classes=3, seed=0):
    """Classes that differ in three sources, each measured by several features."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    sources = rng.normal(size=(n_classes, 3))[codes] * 1.2 + rng.normal(size=(n, 3))
    X = np.repeat(sources, n_features // 3, axis=1) + 0.4 * rng.normal(size=(n, n_features))
    return X, np.array(["low", "mid", "top", "peak"])[codes]


@pytest.mark.parametrize("scoring", [None, "accuracy"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_plain_loop_chooses_the_same(n_classes, scoring):
    """Every combination fitted in every fold by the public estimators, and the best one taken."""
    X, y = blobs(n_classes=n_classes)
    folds = list(StratifiedKFold(3).split(X, y))
    options = {"strategies": ["sequential"], "rule": "best", "cv": folds, "scoring": scoring}
    model = LinCFAClassifierCV(**QUICK, **options, max_share=None).fit(X, y)
    scores = []
    for correlation in QUICK["min_correlations"]:
        for tolerance in QUICK["tolerances"]:
            for penalty in QUICK["penalties"]:
                reducer = LinCFA(tolerance=tolerance, min_correlation=correlation)
                total = 0.0
                for train, test in folds:
                    last = PenalizedLogistic(penalty)
                    fitted = make_pipeline(reducer, last).fit(X[train], y[train])
                    if scoring is None:
                        each = -log_loss(y[test], fitted.predict_proba(X[test]))
                    else:
                        each = accuracy_score(y[test], fitted.predict(X[test]))
                    total += each * len(test) / len(X)
                scores.append(total)
    # In the search regressions stop at a slope of 1e-4, which moves a log loss by less than this.
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], scores, atol=5e-3)
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()


def test_what_was_chosen_is_fitted_to_all_samples():
    X, y = blobs()
    model = LinCFAClassifierCV(**QUICK).fit(X, y)
    reduced = model.reducer_.transform(X)
    np.testing.assert_array_equal(model.transform(X), reduced)
    same = PenalizedLogistic(model.penalty_).fit(reduced, y)
    np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(reduced))
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[same.predict_proba(reduced).argmax(1)]
    )
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.decision_function(X))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))
    assert model.score(X, y) == accuracy_score(y, model.predict(X))
    assert model.classes_.tolist() == ["low", "mid", "top"] == model.target_names_
    assert model.target_correlation_.shape == (3, 12)
    assert is_classifier(model)


def test_two_classes_have_one_vector_of_weights():
    X, y = blobs(n_classes=2)
    model = LinCFAClassifierCV(**QUICK).fit(X, y)
    assert model.coef_.shape == (1, 12)
    assert model.intercept_.shape == (1,)
    odds = model.decision_function(X)
    np.testing.assert_allclose(odds, (X @ model.coef_.T + model.intercept_)[:, 0])
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)))
    assert model.target_correlation_.shape == (12,)
    # The groups are those of the regression on 0 and 1.
    numbers = LinCFA(tolerance=2.0).fit(X, (y == model.classes_[1]).astype(float))
    np.testing.assert_array_equal(LinCFA(tolerance=2.0).fit(X, y).labels_, numbers.labels_)


def test_labels_of_any_kind_and_order():
    X, y = blobs()
    codes = pd.Categorical(y).codes
    named = LinCFAClassifierCV(**QUICK).fit(X, y)
    for labels in (codes.astype(int), codes.astype(float), pd.Series(pd.Categorical(y)), list(y)):
        other = LinCFAClassifierCV(**QUICK).fit(X, labels)
        np.testing.assert_array_equal(other.labels_, named.labels_)
        np.testing.assert_array_equal(other.predict_proba(X), named.predict_proba(X))
    # Other names, in another order: the columns of the probabilities change places.
    renamed = LinCFAClassifierCV(**QUICK).fit(X, np.array(["c", "a", "b"])[codes])
    np.testing.assert_array_equal(renamed.labels_, named.labels_)
    proba = renamed.predict_proba(X)[:, [2, 0, 1]]
    np.testing.assert_allclose(proba, named.predict_proba(X), atol=1e-9)


def test_never_more_than_the_share_of_the_features():
    """Combinations with more groups are not tried, and paths are followed further."""
    X, y = blobs(n=60, n_features=15)
    for share in (0.5, 0.2):
        model = LinCFAClassifierCV(max_share=share).fit(X, y)
        assert model.n_groups_ <= max(2, int(15 * share))
        tried = np.isfinite(model.cv_results_["mean_test_score"])
        np.testing.assert_array_equal(tried, model.cv_results_["eligible"])
        assert tried.any()
    followed = LinCFAClassifierCV(strategies=["joint"], tolerances=[1e-9], max_share=0.2).fit(X, y)
    assert followed.n_groups_ == followed.reducer_.n_groups == 3
    free = LinCFAClassifierCV(strategies=["joint"], tolerances=[1e-9], max_share=None).fit(X, y)
    assert free.n_groups_ > 3


def test_a_class_may_be_absent_from_a_fold():
    X, y = blobs(n=60)
    y = y.astype(object)
    y[0] = "rare"
    folds = [(np.arange(1, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
    model = LinCFAClassifierCV(**QUICK, strategies=["sequential"], cv=folds).fit(X, y)
    assert model.classes_.tolist() == ["low", "mid", "rare", "top"]
    assert np.isfinite(model.best_score_)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_weights_are_counts():
    X, y = blobs(n=60)
    counts = np.random.default_rng(0).integers(0, 3, size=60)
    rows = np.repeat(np.arange(60), counts)
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    where = [tuple(np.flatnonzero(np.isin(rows, part)) for part in fold) for fold in folds]
    quick = QUICK | {"strategies": ["sequential"]}
    weighted = LinCFAClassifierCV(**quick, cv=folds).fit(X, y, sample_weight=counts)
    repeated = LinCFAClassifierCV(**quick, cv=where).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.labels_, repeated.labels_)
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_saved_models_predict_the_same(tmp_path, n_classes):
    X, y = blobs(n_classes=n_classes)
    model = LinCFAClassifierCV(**QUICK).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = lincfa.load(tmp_path / "model.json")
    assert isinstance(loaded, LinCFAClassifierCV)
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.penalty_ == model.penalty_
    *table, choice = str(model.summary()).splitlines()
    score = choice[choice.index(" (") : choice.index(")") + 1]  # which is not saved
    assert str(loaded.summary()).splitlines() == [*table, choice.replace(score, "")]
    content = json.loads((tmp_path / "model.json").read_text())["model"]
    assert np.shape(content["regression"]["coef"])[-1] == model.n_groups_


def test_bad_input():
    X, y = blobs()
    assert_raises("one class, 'low'", LinCFAClassifierCV().fit, X[y == "low"], y[y == "low"])
    assert_raises("Unknown label type", LinCFAClassifierCV().fit, X, X[:, 0])
    assert_raises("one column, got 2", LinCFAClassifierCV().fit, X, np.column_stack([y, y]))
    for value in (0.0, 1.5):
        message = "max_share must be None or a share of the features"
        assert_raises(message, LinCFAClassifierCV(max_share=value).fit, X, y)
    assert_raises("above 0 for classes", LinCFAClassifierCV(penalties=[0.0]).fit, X, y)
    message = "is a classifier: for classes use LinCFAClassifierCV"
    assert_raises(message, LinCFACV(estimator=LogisticRegression()).fit, X, X[:, 0])
    assert_raises("not numeric", LinCFACV().fit, X, y)


def test_as_part_of_scikit_learn():
    X, y = blobs()
    model = LinCFAClassifierCV(**QUICK, strategies=["sequential"])
    scores = cross_val_score(model, X, y, scoring="neg_log_loss", cv=3)
    assert (scores > -np.log(3)).all()
    last = make_pipeline(clone(model), LogisticRegression()).fit(X, y)
    assert last.score(X, y) > 0.5


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer, load_digits])
def test_few_groups_predict_as_well_as_logistic_regression(load):
    """On tables that scikit-learn brings, one split each: not worse by more than chance.

    Of the test samples that only one of two equally good models predicts right, each of them has
    half; two standard deviations of that are allowed. ``benchmarks/targets.py`` has the means of
    many splits.
    """
    X, y = load(return_X_y=True)
    X = X[:, np.ptp(X, axis=0) > 1]
    X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    model = LinCFAClassifierCV().fit(X_train, y_train)
    assert model.n_groups_ <= X.shape[1] // 2
    scale = X_train.std(axis=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def score(penalty):
        rival = PenalizedLogistic(penalty)
        return cross_val_score(rival, X_train / scale, y_train, cv=folds).mean()

    rival = PenalizedLogistic(max((1e-5, 1e-4, 1e-3), key=score)).fit(X_train / scale, y_train)
    ours, theirs = model.predict(X_test) == y_test, rival.predict(X_test / scale) == y_test
    assert theirs.sum() - ours.sum() <= 1 + 2 * np.sqrt((ours != theirs).sum())


def test_a_class_may_be_absent_from_a_fold_of_chunks():
    da = pytest.importorskip("dask.array")
    X, y = blobs(n=60)
    y[:2] = "a"
    model = LinCFAClassifierCV(**QUICK, strategies=["sequential"], cv=KFold(5))
    in_memory = clone(model).fit(X, y)
    lazy = clone(model).fit(da.from_array(X, chunks=(20, 12)), da.from_array(y, chunks=20))
    np.testing.assert_array_equal(lazy.labels_, in_memory.labels_)
    np.testing.assert_allclose(lazy.predict_proba(X), in_memory.predict_proba(X), atol=1e-6)


def test_default_folds_are_of_samples_with_weight():
    X, y = blobs(n_classes=2)
    weights = np.ones(90)
    weights[np.flatnonzero(y == "mid")[3:]] = 0
    quick = QUICK | {"strategies": ["sequential"]}
    weighted = LinCFAClassifierCV(**quick).fit(X, y, sample_weight=weights)
    left = weights > 0
    plain = LinCFAClassifierCV(**quick).fit(X[left], y[left])
    np.testing.assert_array_equal(weighted.labels_, plain.labels_)
    assert weighted.best_score_ == pytest.approx(plain.best_score_)


def test_scores_read_labels_as_a_fit_does():
    X, y = blobs()
    model = LinCFAClassifierCV(**QUICK, strategies=["sequential"]).fit(X, y)
    assert_raises("values are missing", model.score, X, [None, *y[1:].tolist()])
    assert_raises("must be one column, got 2", model.score, X, np.column_stack([y, y]))
