"""Blocks and partitions that are not what was declared, or not the same in every pass."""

import threading
from secrets import token_hex

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from reference import assert_raises, table

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask_data import STRATEGIES, assert_equal_models, data, fit
from lincfa._statistics._dask._kernels import fingerprint, same_again

pytestmark = pytest.mark.usefixtures("one_thread")


def altered(values, chunks, change, place=(1, 0), after=0):
    """A lazy array one of whose blocks is changed, from some time on that it is computed."""
    lazy = da.from_array(values, chunks=chunks)
    times, lock = [], threading.Lock()

    def block(part, block_info=None):
        if tuple(block_info[None]["chunk-location"]) != place[: values.ndim]:
            return part
        with lock:
            times.append(1)
            return change(part) if len(times) > after else part

    return lazy.map_blocks(block, dtype=values.dtype, meta=np.empty((0,) * values.ndim))


QUICK_SEARCH = {
    "strategies": ["sequential"],
    "tolerances": [1.0],
    "min_correlations": [None],
    "cv": 3,
}

LIES = {
    "rows": (lambda part: part[:12], r"shape \(12, 14\), but was declared .* \(20, 14\)"),
    "one row": (lambda part: part[:1], r"shape \(1, 14\)"),
    "columns": (lambda part: part[:, :5], r"shape \(20, 5\)"),
    "dimensions": (lambda part: part[0], r"shape \(14,\)"),
    "precision": (
        lambda part: part.astype(np.longdouble),
        "type float128, .* float64, which",
    ),
    "text": (lambda part: part.astype(str), "type <U"),
    "objects": (lambda part: part.astype(object), "type object"),
    "frame": (pd.DataFrame, "type DataFrame, .* NumPy arrays"),
}


@pytest.fixture(scope="module")
def models():
    X, y = data()
    return (
        LinCFA().fit(X, y),
        LinCFACV(**QUICK_SEARCH).fit(X, y),
        LinCFAClassifierCV(**QUICK_SEARCH).fit(X, y > np.median(y)),
    )


@pytest.mark.parametrize("name", LIES)
def test_blocks_of_features_that_are_not_as_declared(name, route, models):
    X, y = data()
    change, said = LIES[name]
    lazy = altered(X, (20, 14), change)
    said = rf"Block \(1, 0\) of X \(rows 20 to 39, columns 0 to 13\) came with {said}"
    with pytest.raises(ValueError, match=said):
        fit(lazy, y, route=route)
    reducer, search, classifier = models
    for computed in (
        reducer.transform(lazy),
        search.predict(lazy),
        classifier.predict_proba(lazy),
    ):
        with pytest.raises(ValueError, match=said):
            computed.compute()
    reduced = altered(reducer.transform(X), (20, reducer.n_groups_), change)
    with pytest.raises(ValueError, match=r"Block \(1, 0\) of X .* was declared with"):
        reducer.inverse_transform(reduced).compute()
    for model, target in ((search, y), (classifier, y > np.median(y))):
        with pytest.raises(ValueError, match=said):
            clone(model).fit(lazy, target)
        with pytest.raises(ValueError, match=said):
            model.score(lazy, target)


@pytest.mark.parametrize("what", ["the target y", "sample_weight"])
def test_blocks_of_targets_and_weights_that_are_not_as_declared(what, route):
    X, y = data()
    options = {"y": y, "sample_weight": np.ones(60)}
    for change, came in ((lambda p: p[:12], r"shape \(12,\)"), (lambda p: p + 1j, "complex")):
        name = what.split()[-1]
        lazy = options | {name: altered(options[name], 20, change)}
        said = rf"Block 1 of {what} \(rows 20 to 39\) came with (type )?{came}"
        assert_raises(said, fit, da.from_array(X, chunks=(30, 14)), route=route, **lazy)


def test_blocks_of_labels_and_of_new_targets_that_are_not_as_declared():
    """Each has as many rows as it should in all, and all would be read."""
    X, y = data()
    lies = {}
    for name, values in {"labels": y > 0, "groups": np.arange(60) // 10, "y": y}.items():
        parts = values[:10], values[10:40], values[40:]
        lies[name] = da.concatenate(
            [da.from_delayed(dask.delayed(part), (20,), part.dtype) for part in parts]
        )
    lazy, search = da.from_array(X, chunks=(20, 14)), LinCFACV(**QUICK_SEARCH)
    said = r"Block . of {} \(rows .*\) came with shape \([13]0,\), but was declared with"
    of_target = said.format("the target y")
    assert_raises(of_target, LinCFA().fit, lazy, lies["labels"])
    assert_raises(of_target, LinCFAClassifierCV(**QUICK_SEARCH).fit, lazy, lies["labels"])
    assert_raises(of_target, search.fit(X, y).score, lazy, lies["y"])
    assert_raises(said.format("groups"), search.fit, lazy, y, groups=lies["groups"])
    for labels in (y > 0, (y > 0).astype(str), (y > 0).astype(object)):
        model = LinCFA().fit(lazy, da.from_array(labels, chunks=20))
        assert_equal_models(model, LinCFA().fit(X, labels))


def test_types_that_hold_what_was_declared_are_no_fault(route):
    """What comes as another type and means the same: values are those of memory."""
    X, y = np.round(10 * data()[0]), data()[1]
    model = LinCFA().fit(X, y)
    for kind in (np.int64, np.float32, np.dtype(">f8")):
        lazy = altered(X, (20, 14), lambda part, kind=kind: part.astype(kind))
        assert_equal_models(fit(lazy, y, route=route), model)
    masked = altered(X, (20, 14), lambda part: np.ma.array(part, mask=part == part[3, 4]))
    assert_raises(r"X contains NaN in column 4 \(row 23\)", fit, masked, y, route=route)


def test_blocks_whose_rows_are_not_known(route):
    """They are counted by the first columns; what lies beside them must have as many."""
    X, y = data()
    lazy = altered(X, (20, 14), lambda part: part[:1], place=(1, 1))
    lazy = da.Array(lazy.dask, lazy.name, ((np.nan,) * 3, (14, 14)), lazy.dtype)
    said = r"Block \(1, 1\) of X \(rows 20 to 39, .* with shape \(1, 14\)"
    assert_raises(said, fit, lazy, y, route=route)
    with pytest.raises(ValueError, match="Chunks beside each other came with 20 and 1 rows"):
        LinCFA().fit(X, y).transform(lazy).compute()


def test_fields(route):
    xr = pytest.importorskip("xarray")
    X, y = data()
    cube = X.reshape(60, 4, 7).transpose(1, 0, 2)
    lazy = altered(cube, (2, 20, 7), lambda part: part[:, :12], place=(1, 2, 0))
    field = xr.DataArray(lazy, dims=("lat", "time", "lon"), name="t2m")
    block = r"Block \(1, 2, 0\) of {} \(lat 2 to 3, time 40 to 59, lon 0 to 6\) came with shape "
    of_array, of_dataset = block.format("X"), block.format("the variable 't2m'")
    assert_raises(of_array, fit, field, y, route=route)
    assert_raises(of_dataset, fit, field.to_dataset(), y, route=route)
    with pytest.raises(ValueError, match=of_array):
        LinCFA().fit(field.copy(data=cube), y).transform(field).compute()


def partitions(change, frame=None):
    """A lazy dataframe of three partitions, the second of which is changed."""
    frame = table(data()[0]) if frame is None else frame
    divisions = (0, 20, 40, 59)

    def read(place):
        part = frame[divisions[place] : divisions[place] + 20]
        return change(part) if place == 1 else part

    # dask would take a living collection of the same name, with what its function remembers.
    options = {"label": token_hex(8), "enforce_metadata": False}
    return dd.from_map(read, range(3), meta=frame[:0], divisions=divisions, **options)


FRAMES = {
    "columns": (lambda part: part.iloc[:, :5], "5 columns, but was declared with 28"),
    "order": (lambda part: part[part.columns[::-1]], "'t27' as column 0, .* with 't0'"),
    "type": (lambda part: part.astype({"t3": str}), "type (string|str|object) in column 't3'"),
    "precision": (lambda part: part.astype(np.longdouble), "type float128 in column 't0'"),
    "array": (lambda part: part.to_numpy(), "type ndarray"),
    "nothing": (lambda part: None, "type NoneType"),
    "name": (lambda part: part.rename(columns={"t0": "u"}), "'u' as column 0"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_partitions_that_are_not_as_declared(name, route, models):
    X, y = table(data()[0]), data()[1]
    change, said = FRAMES[name]
    lazy = partitions(change)
    by_rows = "A partition of X has no column 't0', by which its rows were to be counted"
    assert_raises(f"Partition 1 of X came with {said}|{by_rows}", fit, lazy, y, route=route)
    model = LinCFA().fit(X, y)
    for computed in (model.transform(lazy), LinCFACV(**QUICK_SEARCH).fit(X, y).predict(lazy)):
        with pytest.raises(ValueError, match=f"A partition of X came with {said}"):
            computed.compute()
    target = partitions(lambda part: part.astype(str), pd.DataFrame({"a": y}))["a"]
    assert_raises("A partition of the target y came with type", fit, lazy, target, route=route)


def test_rows_of_partitions_that_are_lost_after_they_were_counted(route):
    frame = table(data()[0])
    times = []

    def shorter(part):
        times.append(1)
        return part if len(times) == 1 else part[:12]

    said = "Partition 1 of X came with 12 rows, but was declared with 20, or had so many when"
    assert_raises(said, fit, partitions(shorter), data()[1], route=route)
    values = LinCFA().fit(frame, data()[1]).transform(partitions(lambda part: part[:12]))
    assert len(values) == 52  # the index says which rows are there


# The same in every pass


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("chunks", [(20, 28), (20, 14)])
def test_features_that_change_between_passes(strategy, chunks):
    X, y = data()
    lazy = altered(X, chunks, lambda part: part + np.eye(*part.shape), after=1)
    said = r"Block \(1, 0\) of X \(rows 20 to 39, .*gave other values when it was computed again"
    assert_raises(said, fit, lazy, y, route="many passes", strategy=strategy)
    lazy = altered(X, chunks, lambda part: part[::-1], after=1)
    assert_raises(said, fit, lazy, y, route="many passes", strategy=strategy)


def test_weights_that_change_between_passes():
    X, y = data()
    weights = altered(np.arange(60) % 3 + 1.0, 20, lambda part: part[::-1], after=1)
    said = r"Block 1 of sample_weight \(rows 20 to 39\) gave other values"
    assert_raises(said, fit, da.from_array(X, chunks=(20, 28)), y, weights, route="many passes")


def test_searches_compare_too(route):
    """From the pass before the folds to the last one; also targets."""
    X, y = data()
    search = LinCFACV(**QUICK_SEARCH)
    plain = da.from_array(X, chunks=(20, 28))
    seen = []
    search.fit(altered(X, (20, 28), lambda part: seen.append(1) or part), y)
    for after in range(1, len(seen)):
        lazy = altered(X, (20, 28), lambda part: part * 2, after=after)
        assert_raises("of X .* gave other values", search.fit, lazy, y)
    target = altered(y, 20, lambda part: part[::-1], after=1)
    assert_raises("of the target y .* gave other values", search.fit, plain, target)


def test_frames_and_missing_values_that_change():
    frame = table(data()[0])
    times = []

    def changing(part):
        times.append(1)
        return part * (1 + len(times) // 3)

    lazy = partitions(changing)
    assert_raises(r"Block \(1, 0\) of X", fit, lazy, data()[1], route="many passes")
    X = frame.to_numpy(copy=True)
    X[::7, ::3] = np.nan
    options = {"route": "many passes", "missing": "pairwise"}
    lazy = da.from_array(X, chunks=(20, 14))
    assert_equal_models(
        fit(lazy, data()[1], **options), LinCFA(missing="pairwise").fit(X, data()[1])
    )
    lazy = altered(X, (20, 14), lambda part: np.where(part == part[3, 4], np.nan, part), after=2)
    assert_raises(r"Block \(1, 0\) of X", fit, lazy, data()[1], **options)


CHANGES = {
    "one value": lambda X: X + 0.1 * (np.arange(X.size).reshape(X.shape) == 77),
    "signs": lambda X: -X,
    "unit": lambda X: 2 * X,
    "unit of one small column": lambda X: X * np.where(np.arange(X.shape[1]) == 3, 1.01, 1),
    "order of rows": lambda X: X[::-1],
    "two rows": lambda X: np.r_[X[1:2], X[:1], X[2:]],
    "order of columns": lambda X: X[:, ::-1],
    "a gap": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 77, np.nan, X),
    "infinity": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 77, np.inf, X),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("shape", [(50, 30), (1, 30), (200, 1)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_a_fingerprint_tells_apart(name, shape, dtype):
    X = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    X[:, 3:4] *= 1e-20  # other units beside it
    other = CHANGES[name](X).astype(dtype)
    for layout in (np.ascontiguousarray, np.asfortranarray):
        assert same_again(layout(X), fingerprint(X), "Block 0 of X") is not None
        if not np.array_equal(X, other):
            assert_raises("gave other values", same_again, layout(other), fingerprint(X), "Block 0")


@pytest.mark.parametrize("large", [1e140, 1e160, 1.7e308, np.inf, np.nan])
def test_values_that_do_not_count_are_no_change(large):
    X, y = data()
    X, weights = X.copy(), np.ones(60)
    X[0], weights[0] = large, 0.0
    lazy = da.from_array(X, chunks=(20, 14))
    model = fit(lazy, y, weights, route="many passes")
    assert_equal_models(model, LinCFA().fit(X, y, weights))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("mean", [0, 30])
def test_one_column_of_many_is_not_overlooked(dtype, mean):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((16, 5000)) + mean).astype(dtype)
    other = X.copy()
    other[:, 77] = rng.permutation(X[:, 77])
    assert_raises("gave other values", same_again, other, fingerprint(X), "Block 0")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_rounding_is_no_change(dtype):
    """Another processor may add in another order, and then round otherwise."""
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((200, 40)) + 3).astype(dtype)
    nearby = np.nextafter(X, rng.choice([-10, 10], X.shape).astype(dtype))
    assert not np.array_equal(X, nearby)
    assert same_again(nearby, fingerprint(X), "Block 0") is nearby
