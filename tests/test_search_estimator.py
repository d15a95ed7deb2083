"""LinCFACV as a scikit-learn estimator: containers, pipelines, and scikit-learn's own checks."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFACV
from reference import QUICK


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
    with pytest.raises(ValueError, match="order"):
        model.predict(table[names[::-1]])


def test_target_as_one_column_warns_once(tree, fitted):
    X, y = tree
    with pytest.warns(DataConversionWarning, match="column-vector y") as caught:
        model = LinCFACV(**QUICK).fit(X, y[:, None])
    assert len(caught) == 1
    np.testing.assert_array_equal(model.predict(X), fitted.predict(X))


def test_regressor_and_transformer(tree, fitted):
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


def test_grid_search_over_the_search(tree):
    X, y = tree
    grid = {"max_groups": [0.9, None], "rule": ["best", "one_standard_error"]}
    search = GridSearchCV(LinCFACV(strategies=["sequential"], **QUICK), grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_.predict(X).shape == (50,)


def test_results_make_a_table(fitted):
    table = pd.DataFrame(fitted.cv_results_)
    assert table.shape == (8, 10)
    assert table["eligible"].dtype == bool
    assert table.loc[table["eligible"], "mean_test_score"].max() == fitted.best_score_
    assert table.loc[fitted.best_index_, "strategy"] == fitted.strategy_
