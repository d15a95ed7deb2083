"""Reading tables and fields in which values are missing."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pytest

from field_data import dataset, field, refuse
from lincfa import LinCFA, LinCFACV, explain_pair
from lincfa._data._training import read_in_memory, read_training
from reference import QUICK, assert_raises, draw

N = 9
NUMBERS = [1, None, 3, 4, 5, 7, 7, 8, None]
FLAGS = [True, None, False, True, True, False, True, False, None]
EXPECTED = np.array([[np.nan if v is None else float(v) for v in c] for c in (NUMBERS, FLAGS)]).T
TABLES = {
    "list": [list(row) for row in zip(NUMBERS, FLAGS, strict=True)],
    "array": EXPECTED,
    "float32": EXPECTED.astype(np.float32),
    "columns": np.asfortranarray(EXPECTED),
    "objects": np.array([NUMBERS, FLAGS], dtype=object).T,
    "masked": np.ma.masked_array(np.nan_to_num(EXPECTED, nan=-99.0), np.isnan(EXPECTED)),
    "masked integers": np.ma.masked_array(np.nan_to_num(EXPECTED).astype(int), np.isnan(EXPECTED)),
    "pandas": pd.DataFrame(EXPECTED, columns=["a", "b"]),
    "pandas None": pd.DataFrame({"a": NUMBERS, "b": FLAGS}, dtype=object),
    "pandas nullable": pd.DataFrame(
        {"a": pd.array(NUMBERS, dtype="Int64"), "b": pd.array(FLAGS, dtype="boolean")}
    ),
    "polars": pl.DataFrame({"a": NUMBERS, "b": FLAGS}),
    "polars NaN": pl.DataFrame({"a": EXPECTED[:, 0], "b": EXPECTED[:, 1]}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables(kind):
    X, y = TABLES[kind], np.arange(float(N))
    training = read_in_memory(X, y, missing="pairwise")
    np.testing.assert_array_equal(training.values, EXPECTED)
    assert type(training.values) is np.ndarray
    assert training.values.dtype == (np.float32 if kind == "float32" else np.float64)
    training.check_finite()
    assert training.take(np.arange(3)).missing == training.counted().missing == "pairwise"

    def read(**options):
        read_in_memory(X, y, **options).check_finite()

    said = "masked values" if "masked" in kind else r"contains NaN in column ('a'|0) \(row 1\)"
    assert_raises(f'{said}.*LinCFA and LinCFACV accept them with missing="pairwise"', read)


TARGETS = {
    "array": np.array,
    "list": lambda y: [None if value != value else value for value in y],
    "pandas": pd.Series,
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
    "polars": lambda y: pl.Series(y).fill_nan(None),
}


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("kind", TARGETS)
def test_the_target_must_be_complete(kind, missing):
    X, y = draw(0)
    y = np.round(y, 3)
    for rows, said in (
        ([3], r"\(row 3\)"),
        ([3, 7], r"\(rows 3 and 7\)"),
        ([3, 7, 9, 11, 13], r"\(rows 3, 7, 9, 11 and 13\)"),
        (range(20, 40), r"\(rows 20, 21, 22, 23, 24 and 15 more\)"),
    ):
        y[rows] = np.nan
        given, said = TARGETS[kind](y), f"y contains NaN: values are missing {said}"
        for model in (LinCFA(missing=missing), LinCFACV(**QUICK, missing=missing)):
            assert_raises(said, model.fit, X, given)
        assert_raises(said, explain_pair, X, given, 0, 1, missing=missing)
        y[rows] = 1.0
    y[[2, 5]] = np.inf
    assert_raises(r"y contains infinity \(rows 2 and 5\)", read_training, X, y)


def holes(array, share=0.2):
    """A field with gaps, in which one more cell has a single value."""
    gaps = np.random.default_rng(0).random(array.shape) < share
    gaps[:, 0, 0] = True
    gaps[5, 0, 0] = False
    return array.where(~gaps)


@pytest.mark.parametrize("lazy", [False, True])
def test_fields(lazy):
    """Cells with some values are features; those that are missing at every sample are not."""
    X, y = field()
    X = holes(X)
    given = X.chunk(time=50, lon=3) if lazy else X
    training = read_training(given, y, sample_dim="time", missing="pairwise")
    assert training.missing == "pairwise"
    stacked = X.stack(cell=("lat", "lon")).transpose("time", "cell").dropna("cell", how="all")
    assert training.columns.size == 21
    np.testing.assert_array_equal(dask.compute(training.values)[0], stacked.values)
    if lazy:
        assert_raises(
            "cells of the field are infinite: first",
            _raise,
            lambda: read_training(
                (given.where(given.time != given.time[7], np.inf)), y, missing="pairwise"
            ).bad_value("X", np.inf, 7, 0),
        )
        return
    training.check_finite()
    complete = read_training(X, y, sample_dim="time")
    assert_raises('21 cells .* missing at some samples .*missing="pairwise"', complete.check_finite)
    X[4, 2, 3] = np.inf
    training = read_training(X, y, sample_dim="time", missing="pairwise")
    assert_raises(r"A cell of the field is infinite: .*time=2001-01-05", training.check_finite)


def _raise(error):
    raise error()


def test_datasets_with_gaps():
    X, y = dataset()
    X["rain"][3:50, 0] = np.nan
    X["index"][7] = np.nan
    training = read_training(X, y, sample_dim="time", missing="pairwise")
    assert training.columns.size == 21 + 5 + 1
    assert np.isnan(training.values).sum(axis=0)[[21, -1]].tolist() == [47, 1]
    training.check_finite()


def test_dask_collections():
    y = np.arange(float(N))
    masked = da.from_array(TABLES["masked"], chunks=(4, 1))
    frame = dd.from_pandas(TABLES["pandas nullable"], npartitions=2)
    for X in (da.from_array(EXPECTED, chunks=(4, 1)), masked, frame):
        with dask.config.set(scheduler=None if X is frame else refuse):
            training = read_training(X, y, missing="pairwise")
        assert training.missing == "pairwise"
        blocks = [dask.compute(list(row))[0] for row in training.blocks]
        np.testing.assert_array_equal(np.block(blocks), EXPECTED)


def test_new_samples_in_every_container():
    X, y = draw(0)
    model = LinCFA(tolerance=5.0, missing="pairwise").fit(X, y)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    expected = model.transform(X)
    frame = pd.DataFrame(X)
    objects = frame.astype(object).where(frame.notna(), None)
    for given in (
        np.ma.masked_invalid(X),
        frame,
        frame.convert_dtypes(),
        objects,
        objects.to_numpy(),
        X.tolist(),
    ):
        np.testing.assert_array_equal(model.transform(given), expected)
    reduced = model.inverse_transform(expected)
    np.testing.assert_array_equal(model.inverse_transform(np.ma.masked_invalid(expected)), reduced)
    model.set_params(missing="error")
    expected[2, 1] = np.nan
    assert_raises(r"NaN in column 1 \(row 2\)", model.inverse_transform, expected)
