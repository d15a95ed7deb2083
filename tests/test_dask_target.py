"""Targets and weights beside chunks of dask: of any kind, lazy or not, in chunks of their own."""

from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from lincfa import LinCFA
from lincfa._grouping import _cohesion

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask_data import (
    STRATEGIES,
    assert_equal_models,
    counted_chunks,
    data,
    fit,
    odd_chunks,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def lazy_series(values, npartitions=4):
    return dd.from_pandas(pd.Series(values), npartitions=npartitions)


TARGETS = {
    "list": list,
    "array": np.asarray,
    "series": pd.Series,
    "chunks": lambda y: da.from_array(y, chunks=17),
    "chunks of one": lambda y: da.from_array(y, chunks=1),
    "one chunk": lambda y: da.from_array(y, chunks=60),
    "lazy series": lazy_series,
    "nullable": lambda y: lazy_series(pd.array(y, dtype="Float64")),
    "of unknown length": lambda y: lazy_series(y).values,
    "float32": lambda y: da.from_array(y.astype(np.float32), chunks=11),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_targets(kind):
    X, y = data()
    y = y.astype(np.float32).astype(float)
    model = LinCFA().fit(X, y)
    for lazy in (odd_chunks(X), dd.from_pandas(pd.DataFrame(X), npartitions=3)):
        assert_equal_models(fit(lazy, TARGETS[kind](y)), model)


@pytest.mark.parametrize("dtype", [int, bool])
def test_targets_that_are_whole(dtype, route):
    X, y = data()
    y = (y > 0).astype(dtype)
    chunked = fit(odd_chunks(X), da.from_array(y, chunks=17), route=route)
    assert_equal_models(chunked, LinCFA().fit(X, y))


WRONG_TARGETS = {
    "short": (lambda y: y[:-1], "inconsistent numbers of samples: 60 and 59"),
    "short and lazy": (lambda y: lazy_series(y[:-1]), "inconsistent numbers of samples: 60 and 59"),
    "constant": (np.ones_like, "The target y is constant .all values are 1."),
    "constant and lazy": (lambda y: da.full(60, 3.5, chunks=17), "constant .all values are 3.5."),
    "text": (lambda y: ["a"] * 60, "The target y is not numeric"),
    "lazy text": (lambda y: lazy_series(["a"] * 60), "The target y is not numeric"),
    "chunks of text": (lambda y: da.full(60, "a", chunks=17), "y must be real numbers"),
    "complex": (lambda y: da.from_array(y + 1j, chunks=17), "y must be real numbers"),
    "table": (
        lambda y: da.from_array(y[:, None], chunks=17),
        "y should be a 1D array, got a 2D array",
    ),
    "frame": (lambda y: lazy_series(y).to_frame(), "should be a series, got a dataframe"),
    "nothing": (lambda y: None, "the target y is None"),
    "number": (lambda y: 3.0, "y should be a 1d array"),
}


@pytest.mark.parametrize("name", WRONG_TARGETS)
def test_targets_that_are_refused(name, route):
    change, said = WRONG_TARGETS[name]
    X, y = data()
    with pytest.raises(ValueError, match=said):
        fit(odd_chunks(X), change(y), route=route)


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("value", "said"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_targets_that_are_not_finite(route, lazy, value, said):
    X, y = data()
    y[[33, 50]] = value
    y = da.from_array(y, chunks=17) if lazy else y
    with pytest.raises(ValueError, match=rf"Input y contains {said} \(row 33\)"):
        fit(odd_chunks(X), y, route=route)


@pytest.mark.parametrize(("chunks", "lazy"), [((20, 28), False), (((0, 1, 29, 30), (7, 21)), True)])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights(route, strategy, chunks, lazy):
    """Rows of weight 0 do not count: they may hold anything, and a lazy target nothing."""
    X, y = data()
    weights = np.arange(60) % 3 * 0.5
    weights[:25] = 1.0
    weights[:3] = 0.0  # all of a chunk
    parameters = {"strategy": strategy, "units": "original"}
    with patch.object(_cohesion, "COMPARED", 3):
        model = LinCFA(**parameters).fit(X, y, weights)
        gone = np.flatnonzero(weights == 0)
        X[gone] = np.array([np.nan, np.inf, -np.inf, 1e308])[gone % 4][:, None]
        chunked = da.from_array(X, chunks=X.shape).rechunk(chunks)
        if lazy:
            y[gone] = np.nan
            y, weights = da.from_array(y, chunks=11), lazy_series(weights)
        assert_equal_models(fit(chunked, y, weights, route=route, **parameters), model)


def test_whole_weights_repeat_rows(route):
    X, y = data()
    counts = np.arange(60) % 3
    model = LinCFA().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    for weights in (counts.tolist(), da.from_array(counts, chunks=13)):
        assert_equal_models(fit(odd_chunks(X), y, weights, route=route), model)
    doubled = fit(odd_chunks(X), y, 2.0, route=route)
    assert_equal_models(doubled, LinCFA().fit(X, y, np.full(60, 2.0)))


WRONG_WEIGHTS = {
    "negative": (lambda w: np.where(np.arange(60) == 33, -1.0, w), "but is -1.0 in row 33"),
    "missing": (lambda w: np.where(np.arange(60) == 33, np.nan, w), "but is nan in row 33"),
    "infinite": (lambda w: np.where(np.arange(60) == 33, np.inf, w), "but is inf in row 33"),
    "zero": (np.zeros_like, "All of sample_weight is zero"),
    "small": (lambda w: w / 100, "adds up to 0.6 of them"),
    "huge": (lambda w: w * 1e307, "more than float64 can hold"),
    "short": (lambda w: w[:-1], r"got \(59,\)|60 and 59"),
    "text": (lambda w: np.full(60, "a"), "must be real numbers"),
}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", WRONG_WEIGHTS)
def test_weights_that_are_refused(name, lazy, route):
    change, said = WRONG_WEIGHTS[name]
    X, y = data()
    weights = change(np.ones(60))
    weights = da.from_array(weights, chunks=17) if lazy else weights
    with pytest.raises(ValueError, match=said):
        fit(odd_chunks(X), y, weights, route=route)


def test_lengths_are_compared_before_anything_is_read():
    X, y = data()
    lazy, reads = counted_chunks(X, (20, 15))
    for wrong in ({"y": y[:-1]}, {"y": y, "sample_weight": da.ones(59)}):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            LinCFA().fit(lazy, **wrong)
    assert reads == []
