"""LinCFACV: against a plain loop over folds, as an estimator, and on bad input."""

import itertools
import pickle
import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.metrics import get_scorer, r2_score
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV, load
from lincfa._model._regression import RidgeRegression
from lincfa._statistics import ArrayStatistics
from lincfa.datasets import make_correlated, make_field, make_spectra
from lincfa.structure import chain_connectivity, grid_connectivity
from reference import QUICK, assert_raises

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")
WAYS = ("strategies", "min_correlations", "tolerances")


# The plain loop


class PlainRidge(RegressorMixin, BaseEstimator):
    """Ridge regression by normal equations, its penalty a share of the variance; least squares."""

    def __init__(self, penalty):
        self.penalty = penalty

    def fit(self, X, y):
        rounding = np.finfo(X.dtype).eps * max(X.shape)
        X = X.astype(float)
        self.means_ = X.mean(axis=0), y.mean()
        centered = X - self.means_[0]
        if self.penalty == 0:
            self.coef_ = np.linalg.lstsq(centered, y - self.means_[1], rcond=rounding)[0]
            return self
        matrix = centered.T @ centered
        matrix += self.penalty * np.trace(matrix) * np.eye(X.shape[1])
        self.coef_ = np.linalg.solve(matrix, centered.T @ (y - self.means_[1]))
        return self

    def predict(self, X):
        return self.means_[1] + (X.astype(float) - self.means_[0]) @ self.coef_


def truncated_errors(scale):
    """R² with errors of at most three standard deviations."""

    def score(model, X, y):
        return 1 - np.mean([min(abs(error) / scale, 3) ** 2 for error in model.predict(X) - y])

    return score


def plain_scores(X, y, combinations, folds, scoring, estimators, **parameters):
    """Scores and numbers of groups, one row per fold, by whole pipelines."""
    if scoring is None:
        scoring = truncated_errors(y.std(ddof=1))
    scorer = scoring if callable(scoring) else get_scorer(scoring)
    scores, sizes, trained = [], [], []
    for train, test in folds:
        row = []
        for strategy, least, tolerance in combinations:
            reducer = LinCFA(
                strategy=strategy, tolerance=tolerance, min_correlation=least, **parameters
            )
            for estimator in estimators:
                model = make_pipeline(reducer, clone(estimator)).fit(X[train], y[train])
                row.append((scorer(model, X[test], y[test]), model[0].n_groups_))
        scores.append([score for score, _ in row])
        sizes.append([size for _, size in row])
        trained.append((len(train), len(test)))
    return np.array(scores), np.array(sizes), np.array(trained)


def plain_choice(scores, sizes, trained, penalties, rule, max_groups, near):
    """Row chosen, and which rows may be, by the words of the documentation."""
    mean, groups = np.average(scores, axis=0, weights=trained[:, 1]), sizes.mean(axis=0)
    rows = range(len(mean))
    limit = np.inf if max_groups is None else max_groups * trained[:, 0].mean()
    allowed = [i for i in rows if groups[i] <= limit or penalties[i % len(penalties)] > 0]
    best = max(allowed or rows, key=lambda i: mean[i])
    tried, slack = allowed or list(rows), 0.0
    if rule == "one_standard_error":
        slack = scores[:, best].std(ddof=1) / np.sqrt(len(scores))
    if rule == "near_best":
        least = max(tried, key=lambda i: (groups[i], mean[i]))
        repeats = trained[:, 1].sum() / trained[0].sum()
        kept = []
        for i in tried:
            difference = scores[:, i] - scores[:, least]
            variance = np.cov(difference, aweights=trained[:, 1], ddof=0)
            error = np.sqrt(variance / max(len(scores) / repeats - 1, 1))
            if mean[i] - mean[least] - 0.7 * error >= -near(mean[least]):
                kept.append(i)
        tried = kept
        slack = near(max(mean[i] for i in tried))
    best = max(mean[i] for i in tried)
    good = [i for i in tried if mean[i] >= best - slack]
    return min(good, key=lambda i: (groups[i], -mean[i])), allowed


def test_more_groups_than_allowed_everywhere(tree):
    """Then the best of all is taken, with a warning, and the results do not hide it."""
    search = LinCFACV(**QUICK | {"penalties": [0.0]}, max_groups=1e-6, rule="best")
    with pytest.warns(UserWarning, match="more groups than max_groups allows") as caught:
        model = search.fit(*tree)
    assert [warning.filename for warning in caught] == [__file__]
    assert not model.cv_results_["eligible"].any()
    assert model.best_index_ == model.cv_results_["mean_test_score"].argmax()


def test_the_best_that_is_allowed_is_chosen(tree):
    """Of several that differ by rounding only, one with the fewest groups."""
    search = LinCFACV(**QUICK, rule="best", max_groups=0.2)
    model = search.set_params(penalties=[0.0], scoring=lambda model, X, y: X.shape[1]).fit(*tree)
    mean, eligible = (model.cv_results_[name] for name in ("mean_test_score", "eligible"))
    assert not eligible[mean.argmax()]
    assert model.best_index_ == np.where(eligible, mean, -np.inf).argmax()
    better = itertools.count(1, 1e-12)
    model = clone(search).set_params(max_groups=None, scoring=lambda *_: next(better)).fit(*tree)
    results = model.cv_results_
    assert results["mean_n_groups"][model.best_index_] == results["mean_n_groups"].min()
    assert model.best_index_ != results["mean_test_score"].argmax()


def negative_worst_error(model, X, y):
    return -np.abs(model.predict(X) - y).max()


SPLITS = [(np.arange(10, 50), np.arange(10)), (np.arange(35), np.arange(40, 50))]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"cv": 4, "scoring": "r2"},
        {"cv": KFold(3, shuffle=True, random_state=1), "scoring": "neg_mean_absolute_error"},
        {"cv": SPLITS, "scoring": negative_worst_error},
        {"cv": ShuffleSplit(3, test_size=0.3, random_state=0), "estimator": Ridge(5.0)},
        {"estimator": Ridge(5.0), "scoring": "neg_mean_squared_error"},
        {"scoring": "neg_mean_squared_error"},
        {"units": "original"},
        {"noise": "full", "max_groups": None},
        {"noise": 4.0},
        {"min_correlations": [0.8, -0.5], "max_groups": 1.0},
        {"rule": "best", "penalties": [0.3, 0.0, 1e-4, 5]},
        {"rule": "one_standard_error", "cv": 5},
        {"rule": "one_standard_error", "max_groups": 0.1, "scoring": "r2"},
        {"tolerances": ("unbiased", 1.0, 100.0), "strategies": ("joint", "centroid")},
        {"tolerances": [4.0, 0.2], "strategies": ["agglomerative"], "max_groups": None},
    ],
    ids=lambda changes: ",".join(changes) or "defaults",
)
def test_the_plain_loop_gives_the_same(tree, changes):
    X, y = tree
    several = {"strategies": STRATEGIES, "tolerances": (0.3, 3.0), "penalties": (0.0, 1e-3, 0.1)}
    if "estimator" in changes:
        del several["penalties"]
    model = LinCFACV(**{"cv": 3, "min_correlations": (None, 0.7)} | several | changes).fit(X, y)
    asked = model.get_params(deep=False)
    combinations = [
        (strategy, least, tolerance)
        for strategy in asked["strategies"]
        for least in asked["min_correlations"]
        for tolerance in asked["tolerances"]
    ]
    folds = asked["cv"]
    if not isinstance(folds, list):
        folds = list((KFold(folds) if isinstance(folds, int) else folds).split(X))
    parameters = {name: asked[name] for name in ("noise", "units")}
    penalties = asked["penalties"] or [0.0]
    estimators = (
        [asked["estimator"]]
        if asked["estimator"]
        else [PlainRidge(penalty) for penalty in penalties]
    )
    scores, sizes, trained = plain_scores(
        X, y, combinations, folds, asked["scoring"], estimators, **parameters
    )
    best, allowed = plain_choice(
        *(scores, sizes, trained, penalties, asked["rule"], asked["max_groups"]),
        near=lambda score: 0.005 if asked["scoring"] in (None, "r2") else 0.01 * abs(score),
    )

    results = model.cv_results_
    # The normal equations lose twice the digits that singular values lose.
    close = {"rtol": 1e-7, "atol": 1e-10}
    for k, row in enumerate(scores):
        np.testing.assert_allclose(results[f"split{k}_test_score"], row, **close)
    assert f"split{len(scores)}_test_score" not in results
    mean = results["mean_test_score"]
    np.testing.assert_allclose(mean, np.average(scores, axis=0, weights=trained[:, 1]), **close)
    np.testing.assert_allclose(results["std_test_score"], scores.std(axis=0), **close)
    np.testing.assert_allclose(results["mean_n_groups"], sizes.mean(axis=0))
    assert np.flatnonzero(results["eligible"]).tolist() == allowed
    rows = [(*way, penalty) for way in combinations for penalty in penalties]
    values = [2.0 if row[2] == "unbiased" else row[2] for row in rows]
    assert results["tolerance"].tolist() == values
    assert results["strategy"].tolist() == [row[0] for row in rows]
    assert results["min_correlation"].tolist() == [-1 if row[1] is None else row[1] for row in rows]
    assert ("penalty" in results) == (asked["estimator"] is None)
    if "penalty" in results:
        assert results["penalty"].tolist() == [row[3] for row in rows]
    assert results["rank_test_score"].tolist() == [1 + sum(mean > value) for value in mean]
    assert model.best_index_ == best
    assert model.best_score_ == mean[best]
    strategy, least, tolerance, penalty = rows[best]
    assert (model.strategy_, model.min_correlation_, model.tolerance_) == rows[best][:3]
    assert model.penalty_ == (None if asked["estimator"] else penalty)

    # What is left is the plain estimator with the choice, fitted to everything.
    chosen = {"strategy": strategy, "tolerance": tolerance, "min_correlation": least}
    final = LinCFA(**chosen, **parameters).fit(X, y)
    assert model.reducer_.get_params() == final.get_params()
    for name in ("labels_", "mean_", "scale_", "target_correlation_", "n_groups_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(final, name))
    for name in final.evidence_.dtype.names:  # one by one: no threshold, NaN, is equal to none
        np.testing.assert_array_equal(model.evidence_[name], final.evidence_[name])
    for group, expected in zip(model.groups_, final.groups_, strict=True):
        np.testing.assert_array_equal(group, expected)
    reduced = final.transform(X)
    np.testing.assert_array_equal(model.transform(X), reduced)
    estimator = asked["estimator"] or PlainRidge(penalty)
    expected = clone(estimator).fit(reduced, y).predict(reduced)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-7)
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict(X), rtol=1e-9)
    if asked["estimator"]:
        assert type(model.estimator_) is type(estimator)


@pytest.mark.parametrize("kind", ["spectra", "field", "copies", "float32", "wide"])
def test_kept_correlations_change_nothing(monkeypatch, kind):
    """Whether the correlations of a fold are kept or computed when asked for, and as LinCFA."""
    if kind == "field":  # kelvin: means a hundred times the scale
        X, y, _ = make_field(n_samples=50, shape=(5, 6), random_state=1)
    elif kind == "wide":
        X, y = make_spectra(n_samples=30, n_features=90, random_state=1)
    else:
        X, y = make_spectra(n_samples=45, n_features=30, noise=0.05, random_state=1)
    if kind == "copies":
        X = np.hstack([X, X[:, ::3], 1.8 * X[:, ::4] + 32])
    if kind == "float32":
        X = X.astype(np.float32)
    model = LinCFACV(**QUICK).fit(X, y)
    monkeypatch.setattr("lincfa._search._folds._MOST_CACHED", 0)
    monkeypatch.setattr("lincfa._search._folds.cached", None)  # not used any more
    uncached = LinCFACV(**QUICK).fit(X, y)
    combinations = list(product(*(QUICK[name] for name in WAYS)))
    estimators = [PlainRidge(penalty) for penalty in QUICK["penalties"]]
    scores, sizes, rows = plain_scores(
        X, y, combinations, KFold(3).split(X), model.scoring, estimators
    )
    scores = np.average(scores, axis=0, weights=rows[:, 1])
    for one in (model, uncached):
        np.testing.assert_allclose(one.cv_results_["mean_n_groups"], sizes.mean(axis=0))
        rtol = 1e-4 if kind == "float32" else 1e-7
        # Least squares are no test where there are nearly as many groups as samples.
        sound = one.cv_results_["eligible"]
        np.testing.assert_allclose(
            one.cv_results_["mean_test_score"][sound], scores[sound], rtol=rtol
        )
    assert model.transform(X).dtype == X.dtype
    np.testing.assert_array_equal(uncached.predict(X), model.predict(X))


CANDIDATES = {
    "strategy": ["sequential"],
    "min_correlation": [-1, 0.7, 0.9, 0.98],
    "tolerance": [0.1, 1, 10, 100],
    "penalty": [0, *np.logspace(-9, 1, 21)],
}
"""What is tried by default."""


@pytest.mark.parametrize(
    ("n", "repeats"), [(6, 10), (19, 10), (40, 5), (67, 3), (200, 1), (450, 1)]
)
def test_default_folds_and_candidates(n, repeats):
    """Five shuffled folds, repeated until 200 held-out predictions, at most ten times."""
    X, y = make_correlated(n_samples=n, n_features=4, random_state=0)
    model = LinCFACV().fit(X, y)
    tried = {name: np.unique(model.cv_results_[name]).tolist() for name in CANDIDATES}
    assert tried == CANDIDATES
    assert len(model.cv_results_["strategy"]) == np.prod([len(values) for values in tried.values()])
    folds = RepeatedKFold(n_splits=5, n_repeats=repeats, random_state=0)
    explicit = clone(model).set_params(cv=folds).fit(X, y)
    assert len([name for name in model.cv_results_ if name.startswith("split")]) == 5 * repeats
    np.testing.assert_array_equal(
        list(model.cv_results_.values())[1:], list(explicit.cv_results_.values())[1:]
    )


# What the folds see


def test_statistics_are_computed_once_per_fold_and_of_its_training_rows(monkeypatch, tree):
    X, y = tree
    seen = []
    compute = ArrayStatistics.of.__func__

    def spy(cls, training):
        seen.append((training.values.copy(), training.y.copy()))
        return compute(cls, training)

    monkeypatch.setattr(ArrayStatistics, "of", classmethod(spy))
    LinCFACV(tolerances=(0.5, 1.0, 4.0), cv=3).fit(X, y)
    training = [train for train, _ in KFold(3).split(X)] + [np.arange(50)]  # the last: the refit
    assert len(seen) == len(training)
    for (rows, target), train in zip(seen, training, strict=True):
        np.testing.assert_array_equal(rows, X[train])
        np.testing.assert_array_equal(target, y[train, None])


def test_processes_change_nothing_and_data_are_left_alone(tree, fitted):
    X, y = tree
    estimator, before = Ridge(), (X.copy(), y.copy())
    LinCFACV(**QUICK | {"penalties": None}, estimator=estimator).fit(X, y)
    assert not hasattr(estimator, "coef_")
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    parallel = LinCFACV(**QUICK, n_jobs=2).fit(*tree)
    assert parallel.cv_results_.keys() == fitted.cv_results_.keys()
    for name, values in fitted.cv_results_.items():
        np.testing.assert_array_equal(parallel.cv_results_[name], values)
    np.testing.assert_array_equal(parallel.predict(tree[0]), fitted.predict(tree[0]))


def test_constant_columns_warn_once(tree):
    X, y = tree
    X = np.insert(X, [4, 9], 7.0, axis=1)
    X[:, -1] = np.arange(50) < 16  # constant in the training part of the first fold
    with pytest.warns(UserWarning, match=r"constant features.*columns 4, 10\.") as caught:
        model = LinCFACV(**QUICK).fit(X, y)
    assert [warning.filename for warning in caught] == [__file__]
    assert np.flatnonzero(model.labels_ < 0).tolist() == [4, 10]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, _, _ = plain_scores(
            *(X, y, [("joint", 0.8, 4.0)], KFold(3).split(X), model.scoring, [PlainRidge(0.01)])
        )
    weights = [len(test) for _, test in KFold(3).split(X)]
    expected = np.average(scores[:, 0], weights=weights)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"][-1], expected, rtol=1e-9)


# As an estimator


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames(tree, fitted, output, frame):
    X, y = tree
    names = [f"cell {i}" for i in range(20)]
    table = frame(dict(zip(names, X.T, strict=True)))
    model = LinCFACV(**QUICK).set_output(transform=output).fit(table, pd.Series(y))
    assert model.feature_names_in_.tolist() == model.reducer_.feature_names_in_.tolist() == names
    reduced = model.transform(table)
    assert isinstance(reduced, frame)
    expected = model.reducer_.get_feature_names_out().tolist()
    assert list(reduced.columns) == model.get_feature_names_out().tolist() == expected
    firsts = [f"cell {group[0]}" for group in model.groups_]
    assert all(first in name for first, name in zip(firsts, expected, strict=True))
    np.testing.assert_allclose(reduced.to_numpy(), fitted.transform(X), rtol=0, atol=1e-13)
    np.testing.assert_allclose(model.predict(table), fitted.predict(X))
    assert_raises("order", model.predict, table[names[::-1]])


def test_regressor_transformer_and_a_target_as_one_column(tree, fitted):
    X, y = tree
    assert is_regressor(fitted)
    assert fitted.__sklearn_tags__().transformer_tags is not None
    reduced = fitted.transform(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.estimator_.predict(reduced))
    assert fitted.score(X, y) == pytest.approx(r2_score(y, fitted.predict(X)))
    np.testing.assert_array_equal(clone(fitted).fit_transform(X, y), reduced)

    last = make_pipeline(StandardScaler(), LinCFACV(**QUICK)).fit(X, y)
    np.testing.assert_allclose(last.predict(X), fitted.predict(X))  # the scale of X is no matter
    assert last.score(X, y) == pytest.approx(fitted.score(X, y))
    middle = make_pipeline(LinCFACV(**QUICK), Ridge(3.0)).fit(X, y)
    np.testing.assert_allclose(middle.predict(X), Ridge(3.0).fit(reduced, y).predict(reduced))
    model = LinCFACV(**QUICK).fit(X, y[:, None])
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))


def test_clone_parameters_and_pickle(tree, fitted):
    assert clone(fitted).get_params() == fitted.get_params()
    changed = clone(fitted).set_params(rule="one_standard_error", max_groups=None)
    assert changed.get_params()["rule"] == "one_standard_error"
    nested = LinCFACV(estimator=Ridge(2.0)).set_params(estimator__alpha=5.0)
    assert nested.estimator.alpha == 5.0
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(tree[0]), fitted.predict(tree[0]))
    # Rows are not kept: what is pickled does not grow with them.
    X, y = (np.concatenate([part] * 40) for part in tree)
    assert len(pickle.dumps(LinCFACV(**QUICK).fit(X, y))) < X.nbytes / 4


def test_results_make_a_table(fitted):
    table = pd.DataFrame(fitted.cv_results_)
    assert table.shape == (16, 12)
    assert table["eligible"].dtype == bool
    assert fitted.rule == "near_best"
    assert fitted.best_score_ <= table.loc[table["eligible"], "mean_test_score"].max()
    assert table.loc[fitted.best_index_, "strategy"] == fitted.strategy_


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tolerances": []}, r"tolerances must be a list with at least one entry, got \[\]"),
        ({"tolerances": 1.0}, "tolerances must be a list with at least one entry, got 1.0"),
        ({"tolerances": "unbiased"}, "tolerances must be a list .*, got 'unbiased'"),
        ({"tolerances": [1.0, -2.0]}, "each of tolerances must be a positive number .* got -2.0"),
        ({"tolerances": [None]}, "each of tolerances must be a positive number .* got None"),
        ({"strategies": ()}, r"strategies must be a list with at least one entry, got \(\)"),
        ({"strategies": "joint"}, "strategies must be a list .*, got 'joint'"),
        ({"strategies": ["joint", "greedy"]}, "strategy must be one of .*, got 'greedy'"),
        ({"max_groups": 0}, "max_groups must be None or a share of the samples, .* got 0"),
        ({"max_groups": "few"}, "max_groups must be None or a share of the samples, .* got 'few'"),
        ({"max_groups": 5}, "max_groups must be None or a share of the samples, .* got 5"),
        ({"rule": "1se"}, r"rule must be one of \['best', 'near_best', .*\], got '1se'"),
        ({"units": "kelvin"}, "units must be one of .*, got 'kelvin'"),
        ({"noise": 0.0}, "noise must be 'pair', 'full' or a positive number, got 0.0"),
        ({"min_correlations": [None, 2]}, "each of min_correlations must be None or a .*, got 2"),
        ({"min_correlations": 0.5}, "min_correlations must be a list .*, got 0.5"),
        ({"penalties": [-1]}, "each of penalties must be a number of at least 0, got -1"),
        ({"penalties": [np.inf]}, "each of penalties must be a number of at least 0, got inf"),
        ({"penalties": ["some"]}, "each of penalties must be a number .*, got 'some'"),
        ({"penalties": [1.0], "estimator": Ridge()}, "either penalties, .*, or an estimator"),
        ({"scoring": "accuraccy"}, "scoring"),
        ({"cv": 1}, "cv must be a number of folds of at least 2, .* got 1"),
        ({"cv": [(np.arange(3), np.arange(3, 50))]}, "A fold has 3 training samples.* at least 4"),
        # The same fold as masks, which scikit-learn's own searches understand too.
        (
            {"cv": [(np.arange(50) < 3, np.arange(50) >= 3)]},
            "A fold has 3 training samples.* at least 4",
        ),
        ({"cv": []}, "fold"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_bad_parameters(tree, parameters, message):
    assert_raises(message, LinCFACV(**QUICK | parameters).fit, *tree)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series], ids=lambda make: make.__name__)
@pytest.mark.parametrize("length", [1, 2])
def test_any_sequence_will_do(tree, make, length):
    """Also an array with a single entry, as ``np.logspace`` of one or a filtered table gives."""
    strategies, tolerances = ["joint", "centroid"][:length], [1.0, 4.0][:length]
    penalties = [0.1, 0.01][:length]
    model = LinCFACV(
        strategies=make(strategies),
        tolerances=make(tolerances),
        min_correlations=[None],
        penalties=make(penalties),
        cv=2,
    ).fit(*tree)
    assert model.cv_results_["strategy"].tolist() == np.repeat(strategies, length**2).tolist()
    expected = np.repeat(tolerances, length).tolist() * length
    assert model.cv_results_["tolerance"].tolist() == expected
    assert model.cv_results_["penalty"].tolist() == penalties * length**2


def test_samples_folds_and_scores_that_are_refused(tree):
    X, y = tree
    assert_raises(r"3 sample.* minimum of 4 is required by LinCFACV", LinCFACV().fit, X[:3], y[:3])
    assert_raises("Cross-validation needs at least 6 samples, got 5", LinCFACV().fit, X[:5], y[:5])
    with pytest.raises(ValueError, match=r"A fold has 3 training samples.*; use fewer folds"):
        LinCFACV(cv=2).fit(X[:6], y[:6])
    # A generator of splits is empty at the second fit.
    model = LinCFACV(tolerances=(1.0,), cv=KFold(3).split(X)).fit(X, y)
    assert_raises("fold", model.fit, X, y)
    # Messages speak of folds where the data as a whole do vary.
    model = LinCFACV(**QUICK)
    first = np.arange(50) < 5
    rare = np.where(first[:, None], X[:, :2], 0.0)
    for values, target, message in (
        (X, np.full(50, 2.0), r"^The target y is constant \(all values are 2\)"),
        (X, np.where(first, 3.0, 0.0), "In a fold with 33 .*: The target y is constant"),
        (rare, y, r"In a fold with 33 .*: every column of X is constant"),
    ):
        assert_raises(message, model.fit, values, target)
    with pytest.raises(ValueError, match="scores are not finite; use another scoring or fewer"):
        LinCFACV(**QUICK, scoring=lambda model, X, y: np.nan).fit(*tree)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_columns_that_are_not_finite_are_named(tree, value):
    X, y = tree
    table = pd.DataFrame(X).add_prefix("t")
    table.iloc[41, 7] = value
    assert_raises(r"column 't7' \(row 41\)", LinCFACV(**QUICK).fit, table, y)
    model = LinCFACV(**QUICK).fit(table.replace([value], 0.0), y)
    assert_raises("column 't7'", model.predict, table)


def test_before_fit_and_with_other_columns(tree, fitted):
    X, y = tree
    model = LinCFACV()
    for use in (model.predict, model.transform, lambda X: model.score(X, y)):
        with pytest.raises(NotFittedError):
            use(X)
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()
    for use in (fitted.predict, fitted.transform):
        assert_raises("X has 19 features, but LinCFACV is expecting 20", use, X[:, :-1])


@pytest.mark.parametrize("scoring", ["r2", lambda model, X, y: np.nan], ids=["target", "scores"])
def test_after_a_fit_that_failed(tree, scoring):
    """Nothing of an earlier fit is left to be mixed with the columns of the failed one."""
    X, y = tree
    model = LinCFACV(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"constant|finite"):
        model.set_params(scoring=scoring).fit(X[:, :3], np.ones(50) if scoring == "r2" else y)
    for use in (model.transform, model.predict):
        with pytest.raises(NotFittedError):
            use(X[:, :3])


# Several targets


def several(tree):
    X, y = tree
    rng = np.random.default_rng(3)
    return X, np.column_stack([y, 5 * X[:, 3] + 2 + 0.3 * y.std() * rng.normal(size=len(y)), -y])


def test_several_targets_share_groups_and_have_weights_of_their_own(tree):
    X, Y = several(tree)
    model = LinCFACV(**QUICK).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert model.coef_.shape == (3, X.shape[1])
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(X))
    reduced = model.reducer_.transform(X)
    np.testing.assert_array_equal(model.reducer_.labels_, model.labels_)
    for k in range(3):
        alone = RidgeRegression(model.penalty_).fit(reduced, Y[:, k]).predict(reduced)
        np.testing.assert_allclose(model.predict(X)[:, k], alone)
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))


def test_scores_of_several_targets_are_their_means(tree):
    """What chooses is the mean over the targets."""
    X, Y = several(tree)
    folds = list(KFold(3).split(X))
    options = {"tolerances": [1.0], "min_correlations": [None], "cv": folds, "rule": "best"}
    penalties = [0.0, 1e-4, 1e-2]
    model = LinCFACV(**options, penalties=penalties, max_groups=None).fit(X, Y)
    scores = np.zeros((3, 3))
    for train, test in folds:
        reducer = LinCFA().fit(X[train], Y[train])
        for p, penalty in enumerate(penalties):
            fitted = RidgeRegression(penalty).fit(reducer.transform(X[train]), Y[train])
            errors = (fitted.predict(reducer.transform(X[test])) - Y[test]) / Y.std(axis=0, ddof=1)
            scores[p] += (1 - np.clip(errors, -3, 3) ** 2).sum(axis=0) / len(X)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], scores.mean(axis=1))
    assert model.penalty_ == penalties[scores.mean(axis=1).argmax()]


def test_order_and_unit_of_targets_do_not_matter(tree):
    X, Y = several(tree)
    model = LinCFACV(**QUICK).fit(X, Y)
    other = LinCFACV(**QUICK).fit(X, 100 * Y[:, ::-1] + 7)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    assert other.penalty_ == model.penalty_
    np.testing.assert_allclose(other.predict(X)[:, ::-1], 100 * model.predict(X) + 7)


def test_named_targets_and_an_estimator_of_ones_own(tree):
    X, Y = several(tree)
    frame = pd.DataFrame(Y, columns=["fat", "water", "rest"])
    model = LinCFACV(**QUICK).fit(X, frame)
    assert model.target_names_ == ["fat", "water", "rest"]
    assert "largest r with a target" in str(model.summary())
    assert {"target_correlation[fat]", "weight[water]"} <= set(model.summary().frame().columns)
    own = LinCFACV(tolerances=[1.0], cv=3, estimator=Ridge(1.0)).fit(X, frame)
    np.testing.assert_allclose(X @ own.coef_.T + own.intercept_, own.predict(X))


# Areas


@pytest.mark.parametrize("feature_weights", [None, [1.0] * 6 + [3.0] * 6])
def test_merging_equal_cells_changes_no_prediction(feature_weights):
    """Each of six cells twice: areas of two cells are penalised as the cells would be.

    All are neighbours, and equal ones alone correlate; or only different ones are neighbours.
    """
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(40, 6))
    X, y = np.hstack([cells, cells]), cells @ rng.normal(size=6) + rng.normal(size=40)
    options = {"feature_weights": feature_weights, "penalties": [0.1], "cv": 4}
    options["min_correlations"] = [0.99]
    merged = LinCFACV(connectivity=np.ones((12, 12)), **options).fit(X, y)
    assert merged.n_groups_ == 6
    apart = LinCFACV(connectivity=np.kron(np.eye(2), np.ones((6, 6))), **options).fit(X, y)
    assert apart.n_groups_ == 12
    np.testing.assert_allclose(merged.predict(X), apart.predict(X), rtol=1e-9)
    np.testing.assert_allclose(merged.best_score_, apart.best_score_, rtol=1e-9)


def test_areas_try_fewer_tolerances_and_bands_do_not():
    X, y, _ = make_field(n_samples=40, shape=(4, 5), random_state=0)
    for connectivity, tolerances in (
        (grid_connectivity((4, 5)), {10.0, 100.0}),
        ("chain", {0.1, 1.0, 10.0, 100.0}),
        (None, {0.1, 1.0, 10.0, 100.0}),
    ):
        model = LinCFACV(connectivity=connectivity, cv=2).fit(X, y)
        assert set(model.cv_results_["tolerance"]) == tolerances
        assert (model.estimator_.scale is None) == (len(tolerances) == 4)


def test_areas_try_rescaled_weights_too(tmp_path):
    X, y, _ = make_field(n_samples=60, shape=(4, 5), random_state=0)
    X = X * np.linspace(1, 5, 20)
    near, folds = grid_connectivity((4, 5)), list(KFold(3).split(X))
    model = LinCFACV(
        connectivity=near,
        min_correlations=[0.7],
        tolerances=[10.0],
        penalties=[0.0, 0.3],
        scoring="r2",
        rule="best",
        cv=folds,
    ).fit(X, y)
    results = model.cv_results_
    assert results["rescaled"].tolist() == [False, False, True]
    assert results["penalty"].tolist() == [0.0, 0.3, 0.3]
    expected = []
    for train, test in folds:
        reducer = LinCFA(tolerance=10.0, min_correlation=0.7, connectivity=near)
        reducer.fit(X[train], y[train])
        Z, Z_test = reducer.transform(X[train]), reducer.transform(X[test])
        # Each area stands for its cells, these for their variance relative to the mean.
        variances = X[train].var(axis=0)
        scale = [np.sqrt(variances[g].sum() / variances.mean()) for g in reducer.groups_]
        for penalty, rescaled in ((0.0, False), (0.3, False), (0.3, True)):
            ridge = RidgeRegression(penalty, scale=np.array(scale), rescaled=rescaled)
            expected.append(r2_score(y[test], ridge.fit(Z, y[train]).predict(Z_test)))
    splits = [results[f"split{k}_test_score"] for k in range(3)]
    np.testing.assert_allclose(np.ravel(splits), expected, rtol=1e-7)
    chosen = model.set_params(penalties=[1.0, 10.0]).fit(X, y)
    assert chosen.rescaled_
    assert chosen.estimator_.rescaled
    assert ", rescaled (" in str(chosen.summary())
    chosen.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert loaded.rescaled_
    np.testing.assert_allclose(loaded.predict(X), chosen.predict(X), rtol=1e-9)
    assert "rescaled" not in LinCFACV(cv=folds).fit(X, y).cv_results_


def test_a_word_and_its_matrix_are_the_same():
    X, y = make_spectra(random_state=0)
    X = X[:, ::20]
    word = LinCFACV(connectivity="chain", cv=2).fit(X, y)
    matrix = LinCFACV(connectivity=chain_connectivity(X.shape[1]), cv=2).fit(X, y)
    assert len(matrix.cv_results_["tolerance"]) == len(word.cv_results_["tolerance"])
    np.testing.assert_array_equal(matrix.predict(X), word.predict(X))


def test_the_summary_says_what_was_chosen_and_of_many_groups_how_to_have_fewer():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 60))
    y = X[:, 0] + rng.normal(size=30)
    scores = {"tolerances": [1e-6, 1e6], "min_correlations": [None], "penalties": [0.1], "cv": 5}
    model = LinCFACV(rule="best", **scores).fit(X, y)
    few = LinCFACV(rule="one_standard_error", **scores).fit(X, y)
    assert model.n_groups_ > 30 / 2
    score = f"(R² {model.best_score_:.3f})".replace("-", "−")
    chosen, *more = model.summary().choice
    tolerance = f"tolerance {model.tolerance_:.3g}"
    assert chosen == f"chosen by cross-validation: sequential, {tolerance}, penalty 0.1 {score}"
    assert few.n_groups_ < model.n_groups_ / 2
    about = round(few.cv_results_["mean_n_groups"][few.best_index_])
    assert len(more) == 1
    assert more[0].startswith(f'for fewer groups: rule="one_standard_error" leaves about {about} g')
    assert len(few.summary().choice) == 1
    assert str(model.summary()).endswith("\n".join([chosen, *more]))
    assert chosen not in str(model.summary().table(options=True))


def test_correlations_that_leave_joint_too_many_groups_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 60))
    y = X[:, :10].sum(axis=1)
    model = LinCFACV(strategies=["joint"], cv=3).fit(X, y)
    results = model.cv_results_
    assert model.min_correlation_ is None
    assert (results["eligible"] == (results["min_correlation"] == -1)).all()
    assert np.isnan(results["mean_test_score"][~results["eligible"]]).all()
    with pytest.raises(ValueError, match=r"min_correlation=0\.9 leaves 60"):
        LinCFACV(strategies=["joint"], min_correlations=[0.9], cv=3).fit(X, y)


def test_what_joint_cannot_start_with_is_not_chosen_for_want_of_others():
    X, y = make_correlated(n_samples=60, n_features=80, random_state=0)
    few = {"max_groups": 0.001, "penalties": [0.0], "tolerances": [1e-9, 1e-8]}
    model = LinCFACV(strategies=["joint"], min_correlations=[None, 0.99], cv=3, **few)
    with pytest.warns(UserWarning, match="Every combination leaves more groups"):
        model.fit(X, y)
    assert model.min_correlation_ is None
