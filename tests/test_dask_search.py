"""LinCFACV on chunks of dask: the choice of memory, predictions that stay lazy."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from lincfa import LinCFACV
from reference import QUICK, table, tree

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask_data import counted_chunks, data, on_route

pytestmark = pytest.mark.usefixtures("one_thread")

SEARCH = {**QUICK, "strategies": ("sequential", "agglomerative")}


def samples():
    return data(tree, 60, 12)


def search(X, y, route="one pass", sample_weight=None, **parameters):
    with on_route(route, batch=60):
        return LinCFACV(**{**SEARCH, **parameters}).fit(X, y, sample_weight=sample_weight)


def assert_same_search(chunked, model, X):
    """Scores are means of residuals, of some units, of regressions of few reduced features."""
    for name, values in model.cv_results_.items():
        if np.asarray(values).dtype.kind == "f":
            found = chunked.cv_results_[name]
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(chunked.labels_, model.labels_)
    np.testing.assert_allclose(chunked.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_choice_is_that_of_memory(route, units):
    X, y = samples()
    model = LinCFACV(**SEARCH, units=units).fit(X, y)
    lazy, target = da.from_array(X, chunks=(25, 7)), da.from_array(y, chunks=17)
    assert_same_search(search(lazy, target, route, units=units), model, X)


@pytest.mark.parametrize("lazy", [False, True])
def test_weights(route, lazy):
    X, y = samples()
    weights = np.arange(60) % 3 * 0.75
    model = LinCFACV(**SEARCH).fit(X, y, sample_weight=weights)
    given = da.from_array(weights, chunks=11) if lazy else weights
    chunked = search(da.from_array(X, chunks=(25, 12)), y, route, given)
    assert_same_search(chunked, model, X)


def test_frames_and_estimators():
    X, y = samples()
    model = LinCFACV(**SEARCH, estimator=Ridge()).fit(table(X), y)
    frame = dd.from_pandas(table(X), npartitions=3)
    target = dd.from_pandas(pd.Series(y), npartitions=2)
    chunked = search(frame, target, estimator=Ridge(), n_jobs=2)
    assert_same_search(chunked, model, table(X))
    assert list(chunked.feature_names_in_) == list(model.feature_names_in_)
    assert isinstance(chunked.transform(frame), dd.DataFrame)
    np.testing.assert_allclose(chunked.predict(frame).compute(), model.predict(table(X)))
    for given in (y, target):
        np.testing.assert_allclose(chunked.score(frame, given), model.score(table(X), y))


def test_predictions_are_lazy():
    X, y = samples()
    model = LinCFACV(**SEARCH).fit(X, y)
    lazy, reads = counted_chunks(X, ((0, 20, 40), (5, 7)))
    predicted = model.predict(lazy)
    model.transform(lazy)
    assert reads == []
    assert predicted.chunks == ((0, 20, 40),)
    np.testing.assert_allclose(predicted.compute(), model.predict(X), rtol=1e-11)
    assert len(reads) == lazy.npartitions
    target = da.from_array(y, chunks=7)
    weights = da.from_array(np.arange(60.0), chunks=9)
    expected = model.score(X, y, np.arange(60.0))
    np.testing.assert_allclose(model.score(lazy, target, weights), expected)


def test_column_constant_in_a_fold(route):
    X, y = samples()
    X[20:, 4] = 1.0
    parameters = {"cv": [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]}
    model = LinCFACV(**{**SEARCH, **parameters}).fit(X, y)
    chunked = search(da.from_array(X, chunks=(20, 7)), y, route, **parameters)
    assert_same_search(chunked, model, X)


WRONG = {
    "X": (r"X contains NaN in column 9 \(row 33\)", {"X": (33, 9)}),
    "X without weight": (r"X contains NaN in column 9 \(row 0\)", {"X": (0, 9)}),
    "y": (r"y contains NaN \(row 33\)", {"y": 33}),
    "y without weight": (r"y contains NaN \(row 0\)", {"y": 0}),
    "weights": ("but is nan in row 33", {"weights": 33}),
}


@pytest.mark.parametrize("name", WRONG)
def test_values_that_are_refused(name):
    """As in memory also in rows that do not count."""
    said, places = WRONG[name]
    X, y = samples()
    arrays = {"X": X, "y": y, "weights": np.arange(60) % 2 * 1.0}
    for what, place in places.items():
        arrays[what][place] = np.nan
    lazy = {what: da.from_array(values, chunks=7) for what, values in arrays.items()}
    with pytest.raises(ValueError, match=said):
        search(lazy["X"], lazy["y"], sample_weight=lazy["weights"])


def test_weights_too_large_and_targets_too_constant():
    X, y = samples()
    lazy = da.from_array(X, chunks=(25, 12))
    with pytest.raises(ValueError, match="more than float64 can hold"):
        search(lazy, y, sample_weight=da.full(60, 1e307, chunks=7))
    with pytest.raises(ValueError, match="The target y is constant"):
        search(lazy, da.ones(60, chunks=7))
