"""What dask collections may hold: types, names, targets and weights; and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from lincfa import LinCFA, LinCFACV
from reference import assert_raises, table

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
bag = pytest.importorskip("dask.bag")

from dask_data import (
    STRATEGIES,
    assert_equal_models,
    counted_chunks,
    data,
    fit,
    lazy_series,
    odd_chunks,
    small_groups,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def assert_as_in_memory(X, lazy, y, route, **parameters):
    """The fit, and what the model makes of both, also back."""
    model, chunked = LinCFA(**parameters).fit(X, y), fit(lazy, y, route=route, **parameters)
    assert_equal_models(chunked, model)
    assert chunked.n_features_in_ == model.n_features_in_
    assert chunked.groups_by_name() == model.groups_by_name()
    values, reduced = model.transform(X), chunked.transform(lazy)
    computed = np.asarray(reduced.compute())
    assert computed.dtype == np.asarray(reduced._meta).dtype == np.asarray(values).dtype
    # Sums in another order, of values some hundred times their scale.
    bound = 1e-11 if computed.dtype == np.float64 else 1e-5
    np.testing.assert_allclose(computed, values, rtol=bound, atol=bound)
    restored = np.asarray(chunked.inverse_transform(reduced).compute())
    assert restored.dtype == computed.dtype
    np.testing.assert_allclose(restored, model.inverse_transform(values), rtol=bound, atol=bound)
    return chunked


# Types


def integers():
    return np.round(10 * data()[0]).astype(int)


ARRAYS = {
    "float64": lambda: data()[0],
    "float32": lambda: data()[0].astype(np.float32),
    "float16": lambda: (data()[0] - 256).astype(np.float16),
    "int64": integers,
    "int8": lambda: (integers() % 100).astype(np.int8),
    "uint8": lambda: (integers() % 100).astype(np.uint8),
    "bool": lambda: integers() % 2 == 0,
    "big-endian": lambda: data()[0].astype(">f8"),
    "by columns": lambda: np.asfortranarray(data()[0]),
    "long": lambda: data()[0].astype(np.longdouble),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_types_of_arrays(name, route):
    X = ARRAYS[name]()
    assert_as_in_memory(X, da.from_array(X, chunks=(30, 20)), data()[1], route)


def test_masked_arrays(route):
    X, y = data()
    masked = np.ma.array(X, mask=False)
    assert_as_in_memory(X, da.from_array(masked, chunks=(30, 20)), y, route)
    target = da.from_array(np.ma.array(y, mask=False), chunks=17)
    assert_equal_models(fit(odd_chunks(X), target, route=route), LinCFA().fit(X, y))
    masked[33, 17] = np.ma.masked
    with pytest.raises(ValueError, match=r"NaN in column 17 \(row 33\)"):
        fit(da.from_array(masked, chunks=(30, 20)), y, route=route)
    target = da.from_array(np.ma.array(y, mask=np.arange(60) == 33), chunks=17)
    assert_raises(
        r"Input y contains NaN: values are missing \(row 33\)",
        fit,
        odd_chunks(X),
        target,
        route=route,
    )
    integer = np.ma.array(integers(), mask=False)
    integer[2, 3] = np.ma.masked
    with pytest.raises(ValueError, match=r"NaN in column 3 \(row 2\)"):
        fit(da.from_array(integer, chunks=(30, 20)), y, route=route)


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "float32", "int32", "mixed"])
def test_types_of_frames(dtype, route):
    frame = table(integers() % 2 if dtype == "boolean" else integers())
    mixed = {"t3": "Float64", "t4": "int16", "t5": "bool", "t6": "float32"}
    if dtype == "mixed":
        frame["t5"] %= 2
    frame = frame.astype(mixed if dtype == "mixed" else dtype)
    lazy = dd.from_pandas(frame, npartitions=3)
    assert_as_in_memory(frame, lazy, data()[1], route)


@pytest.mark.parametrize("values", ["text", "category", "dates"])
def test_columns_that_are_no_numbers(values):
    frame = table(data()[0])
    frame["t3"] = {
        "text": ["a"] * 60,
        "category": pd.Categorical(["a", "b"] * 30),
        "dates": pd.date_range("2020", periods=60),
    }[values]
    with pytest.raises(ValueError, match="Features must be numeric, but column 't3' is not"):
        LinCFA().fit(dd.from_pandas(frame, npartitions=3), data()[1])


def test_other_collections():
    X, y = data()
    lazy = odd_chunks(X)
    columns = da.from_array(np.arange(28) < 10, chunks=10)
    for wrong, target, error, message in (
        (dask.delayed(X), y, TypeError, "X must be a dask array or dataframe, got"),
        (bag.from_sequence([1, 2]), y, TypeError, "X must be a dask array or dataframe, got"),
        (lazy, dask.delayed(y), TypeError, "The target y must be a dask array, got"),
        (lazy.map_blocks(csr_array), y, TypeError, "chunks that are NumPy arrays, not csr_array"),
        (lazy + 1j, y, ValueError, "real numbers, but its type is complex128"),
        (lazy[:, 0], y, ValueError, "X must be a 2D array, got a 1D array"),
        (lazy[None], y, ValueError, "X must be a 2D array, got a 3D array; flatten"),
        (lazy[:, :0], y, ValueError, r"0 feature\(s\)"),
        (lazy[:3], y[:3], ValueError, r"3 sample\(s\), while a minimum of 4"),
        (lazy[:, columns], y, ValueError, r"unknown; call X.compute_chunk_sizes\(\)"),
    ):
        with pytest.raises(error, match=message):
            LinCFA().fit(wrong, target)
    lazy, reads = counted_chunks(X, (20, 15))
    for wrong in ({"y": y[:-1]}, {"y": y, "sample_weight": da.ones(59)}):
        assert_raises("inconsistent numbers of samples", LinCFA().fit, lazy, **wrong)
    assert reads == []


def test_xarray(route):
    xr = pytest.importorskip("xarray")
    X, y = data()
    lazy = xr.DataArray(odd_chunks(X), dims=("time", "place"))
    target = xr.DataArray(da.from_array(y, chunks=17), dims="time")
    model = LinCFA().fit(X, y)
    assert_equal_models(fit(lazy, target, route=route), model)
    assert isinstance(model.transform(lazy), da.Array)
    np.testing.assert_allclose(model.transform(lazy), model.transform(X), rtol=1e-11, atol=1e-11)
    with pytest.raises(ValueError, match="fitted to a table, and this is an xarray field"):
        model.transform(lazy.to_dataset(name="field"))


# Names and numbers of rows


NAMES = {
    "strings": [f"t{i}" for i in range(28)],
    "wavelengths": [400 + 2 * i for i in range(28)],
    "heights": [i / 7 for i in range(28)],
    "pairs": [("sea" if i % 2 else "land", i) for i in range(28)],
    "dates": list(pd.date_range("2020", periods=28)),
    "numbers": list(range(28)),
    "attributes": ["chunks", "dims", "data", "blocks", *(f"t{i}" for i in range(24))],
}


@pytest.mark.parametrize("names", NAMES)
def test_names(names, route):
    X, y = data()
    frame = pd.DataFrame(X, columns=NAMES[names])
    lazy = dd.from_pandas(frame, npartitions=3)
    model = assert_as_in_memory(frame, lazy, y, route)
    assert list(model.transform(lazy).columns) == list(model.get_feature_names_out())
    if names != "numbers":  # which are no names
        assert_raises(r"in the same order", model.transform, lazy[list(frame.columns[::-1])])


def test_new_data_have_the_columns_of_the_fit():
    X, y = data()
    frame = table(X)
    model, lazy = LinCFA().fit(frame, y), dd.from_pandas(frame, npartitions=3)
    twice = dd.from_pandas(frame.rename(columns={"t1": "t0"}), npartitions=2)
    assert_raises(r"unique, but X repeats 't0' \(2 times\)", LinCFA().fit, twice, y)
    assert_raises(
        "X lacks column 't3' and has column 'other' instead",
        model.transform,
        lazy.rename(columns={"t3": "other"}),
    )
    with pytest.raises(ValueError, match="X has 5 features, but LinCFA is expecting 28"):
        LinCFA().fit(X, y).transform(odd_chunks(X)[:, :5])
    with pytest.warns(UserWarning, match="X has no column names, but LinCFA was fitted"):
        model.transform(odd_chunks(X))
    reduced = model.transform(lazy)
    with pytest.raises(ValueError, match="Column 'other' is not a reduced feature"):
        model.inverse_transform(reduced.rename(columns={reduced.columns[0]: "other"}))
    assert_raises("X has 28 columns, but there are", model.inverse_transform, odd_chunks(X))


def test_unknown_numbers_of_rows(route):
    """Filtered rows: they are counted first, of a frame by its first column."""
    X, y = data()
    frame = table(X).assign(y=y)
    kept = frame[frame.t0 > frame.t0.median()]
    lazy = dd.from_pandas(frame, npartitions=3)
    lazy = lazy[lazy.t0 > frame.t0.median()]
    features = list(frame.columns[:-1])
    model = LinCFA().fit(kept[features].to_numpy(), kept.y)
    values, target = lazy[features].values, lazy.y.values
    assert np.isnan(values.shape[0])
    for found in (lazy.y, target, kept.y):
        assert_equal_models(fit(values, found, route=route), model)
    assert_raises("inconsistent numbers of samples: 30 and 60", fit, values, frame.y, route=route)
    known = da.from_array(kept[features].to_numpy(), chunks=(20, 9))
    assert_equal_models(fit(known, target, route=route), model)
    assert fit(lazy[features], lazy.y, route=route).n_samples_ == 30


# Values that are refused


@pytest.mark.parametrize("chunks", [((15, 25, 20), 28), ((15, 25, 20), 15)])
@pytest.mark.parametrize(("value", "said"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_values_that_are_not_finite(route, chunks, value, said):
    X, y = data()
    model = LinCFA().fit(X, y)
    X[33, 17] = X[45, 2] = value
    X[50, 17] = -value
    lazy = da.from_array(X, chunks=chunks)
    assert_raises(rf"X contains {said} in column 17 \(row 33\)", fit, lazy, y, route=route)
    with pytest.raises(ValueError, match=rf"a chunk of 25 rows: .*{said} in column 17.*row 18"):
        model.transform(lazy[:40]).compute()
    frame = dd.from_pandas(table(X), npartitions=3)
    assert_raises(rf"X contains {said} in column 't17' \(row 33\)", fit, frame, y, route=route)
    nullable = table(data()[0]).astype({"t3": "Float64"})
    nullable.loc[33, "t3"] = pd.NA
    with pytest.raises(ValueError, match=r"NaN in column 't3' \(row 33\)"):
        fit(dd.from_pandas(nullable, npartitions=3), y, route=route)
    named = LinCFA().fit(table(data()[0]), y)
    with pytest.raises(ValueError, match=rf"{said} in column 't17' \(row 13\)"):
        named.transform(frame.partitions[:2]).compute()
    reduced = da.full((60, model.n_groups_), value)
    with pytest.raises(ValueError, match="The reduced features contain NaN or infinity"):
        model.inverse_transform(reduced).compute()


@pytest.mark.parametrize("factor", [1e200, 1e307])
def test_values_too_large(route, factor):
    """In every chunk, so that sums of chunks overflow too: no warning tells of it before."""
    X, y = data()
    X[:, 5] *= factor / 300 * np.where(np.arange(60) % 2, 1, -1)
    with pytest.raises(ValueError, match="too large for sums of squares in column 5"):
        fit(da.from_array(X, chunks=(7, 15)), y, route=route)
    with pytest.raises(ValueError, match="too large for sums of squares in the target y"):
        fit(odd_chunks(data()[0]), y * 1e300, route=route)


def test_columns_of_a_folder_of_files(tmp_path):
    """Of few columns dask reads several files as one: partitions have other rows than they had."""
    X, y = data()
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    table["y"], table["word"] = y, "a"
    for place, part in enumerate((table[:10], table[10:43], table[43:])):
        part.to_parquet(tmp_path / f"{place}.parquet")
    lazy = dd.read_parquet(tmp_path)
    features = [name for name in table if name not in ("y", "word")]
    for names in (features, features[:5]):
        model = LinCFA().fit(lazy[names], lazy["y"])
        np.testing.assert_array_equal(model.labels_, LinCFA().fit(table[names], y).labels_)
        reduced = model.transform(lazy[names]).compute()
        np.testing.assert_allclose(reduced, model.transform(table[names]), rtol=1e-12, atol=1e-12)
    search = LinCFACV(tolerances=(1.0,), cv=3).fit(lazy[features], lazy["y"])
    expected = LinCFACV(tolerances=(1.0,), cv=3).fit(table[features], y).predict(table[features])
    np.testing.assert_allclose(search.predict(lazy[features]).compute(), expected, rtol=1e-9)


# Targets and weights


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
    "whole": lambda y: da.from_array(y.astype(int), chunks=17),
    "boolean": lambda y: da.from_array(y > 0, chunks=17),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_targets(kind):
    X, y = data()
    y = y.astype(np.float32).astype(float)
    if kind in ("whole", "boolean"):
        y = np.sign(y).clip(0)
    model = LinCFA().fit(X, y)
    for lazy in (odd_chunks(X), dd.from_pandas(pd.DataFrame(X), npartitions=3)):
        assert_equal_models(fit(lazy, TARGETS[kind](y)), model)


WRONG_TARGETS = {
    "short": (lambda y: y[:-1], "inconsistent numbers of samples: 60 and 59"),
    "short and lazy": (lambda y: lazy_series(y[:-1]), "inconsistent numbers of samples: 60 and 59"),
    "constant": (np.ones_like, "The target y is constant .all values are 1."),
    "constant and lazy": (lambda y: da.full(60, 3.5, chunks=17), "constant .all values are 3.5."),
    "text": (lambda y: ["a"] * 60, "The target y is not numeric"),
    "lazy text": (lambda y: lazy_series(["a"] * 60), "The target y is not numeric"),
    "chunks of text": (lambda y: da.full(60, "a", chunks=17), "y must be real numbers"),
    "complex": (lambda y: da.from_array(y + 1j, chunks=17), "y must be real numbers"),
    "stack": (
        lambda y: da.from_array(y[:, None, None], chunks=17),
        "y must be a 2D array, got a 3D array",
    ),
    "no columns": (lambda y: da.from_array(y[:, None][:, :0]), "The target y has no columns"),
    "frame": (
        lambda y: lazy_series(["a"] * 60).to_frame("name"),
        "The target 'name' is not numeric",
    ),
    "nothing": (lambda y: None, "the target y is None"),
    "number": (lambda y: 3.0, "y must be one column, or a table"),
}


@pytest.mark.parametrize("name", WRONG_TARGETS)
def test_targets_that_are_refused(name, route):
    change, said = WRONG_TARGETS[name]
    X, y = data()
    assert_raises(said, fit, odd_chunks(X), change(y), route=route, target="numbers")


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("value", "said"), [(np.nan, "NaN: values are missing"), (-np.inf, "infinity")]
)
def test_targets_that_are_not_finite(route, lazy, value, said):
    X, y = data()
    y[[33, 50]] = value
    y, where = (da.from_array(y, chunks=17), "row 33") if lazy else (y, "rows 33 and 50")
    assert_raises(rf"Input y contains {said} \({where}\)", fit, odd_chunks(X), y, route=route)


@pytest.mark.parametrize(("chunks", "lazy"), [((20, 28), False), (((0, 1, 29, 30), (7, 21)), True)])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_weights(route, strategy, chunks, lazy):
    """Rows of weight 0 do not count: they may hold anything, and a lazy target nothing."""
    X, y = data()
    weights = np.arange(60) % 3 * 0.5
    weights[:25] = 1.0
    weights[:3] = 0.0  # all of a chunk
    parameters = {"strategy": strategy, "units": "original"}
    with small_groups(3):
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
    assert_raises(said, fit, odd_chunks(X), y, weights, route=route)
