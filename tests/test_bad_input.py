"""Bad input is refused with a message that names what is wrong and where."""

import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError

from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV, compare, explain_pair, load
from reference import assert_raises


@pytest.fixture
def table(data):
    X, y = data
    return pd.DataFrame(X).add_prefix("t"), y


def refuse(X, y, message, error=ValueError):
    with pytest.raises(error, match=message):
        LinCFA().fit(X, y)


# Features


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            np.nan,
            r"Input X contains NaN in {} \(row 41\)\. Drop or impute missing values first; .*"
            'accept them with missing="pairwise"',
        ),
        (np.inf, r"Input X contains infinity in {} \(row 41\)\. Replace infinite values first\."),
        (-np.inf, r"Input X contains infinity in {} \(row 41\)"),
    ],
)
def test_nan_and_infinity_name_column_and_row(table, value, message):
    X, y = table
    X.iloc[41, 7] = value
    refuse(X, y, message.format("column 't7'"))
    refuse(X.to_numpy(), y, message.format("column 7"))
    wavelengths = X.set_axis(np.linspace(400, 950, 12), axis=1)
    refuse(wavelengths, y, message.format(r"column 750\.0"))
    model = LinCFA().fit(X.fillna(0).replace([np.inf, -np.inf], 0), y)
    assert_raises(message.format("column 't7'"), model.transform, X)


def test_nan_is_found_in_any_block_of_rows(monkeypatch, table):
    X, y = table
    monkeypatch.setattr("lincfa._data._checks._BLOCK_BYTES", 10 * X.shape[1] * 8)
    X.iloc[95, 3] = np.nan
    refuse(X, y, r"column 't3' \(row 95\)")


@pytest.mark.parametrize("missing", [None, pd.NA, np.nan])
def test_missing_values_of_any_kind_are_named(table, missing):
    X, y = table
    X["t5"] = X["t5"].astype("Float64" if missing is pd.NA else object)
    X.loc[8, "t5"] = missing
    refuse(X, y, r"NaN in column 't5' \(row 8\)")
    refuse(
        pl.DataFrame({"a": [None, *range(99)], "b": range(100)}), y, r"NaN in column 'a' \(row 0"
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_of_text_are_named(table, frame):
    X, y = table
    X["place"] = "Rome"
    X["code"] = "12"  # text that looks like a number is still text
    message = r"must be numeric, but columns 'place', 'code' are not"
    refuse(frame(X.to_dict("list")), y, message)


def test_columns_of_text_not_unique_or_too_large(table):
    X, y = table
    dates = X.assign(day=pd.Timestamp("2001-01-01"))
    refuse(dates, y, r"but column 'day' is not \(type datetime64")
    mixed = X.astype({"t2": object})
    mixed.loc[3, "t2"] = "missing"
    refuse(mixed, y, r"but column 't2' is not \(type object\)")
    repeated = X.set_axis(["a", "b", "a", *X.columns[3:]], axis=1)
    refuse(repeated, y, r"must be unique, but X repeats 'a' \(2 times\)")
    refuse(X.set_axis([0, *X.columns[1:]], axis=1), y, "must be all strings or all of", TypeError)
    X["t4"] *= 1e300  # large, but its sum is not too large
    X["t5"] = 1e308
    refuse(X, y, "too large for float64 in column 't5'")
    refuse(X.drop(columns="t5"), 1e308 + 1e306 * y, "too large for float64 in the target y")


def test_arrays_of_text_with_masked_values_or_no_columns(data):
    X, y = data
    for text in (np.full(X.shape, "a"), X.astype(str), X.astype(str).tolist()):
        refuse(text, y, "must be numeric, but X is of type")
    objects = X.astype(object)
    objects[5, 3] = "12"
    refuse(objects, y, "must be numeric, but column 3 contains text")
    dates = np.full(X.shape, np.datetime64("2001-01-01T00:00:00"))
    refuse(dates, y, r"X is of type datetime64\[s\]")
    refuse(pl.DataFrame(X).lazy(), y, r"call its collect\(\) first", TypeError)
    masked = np.ma.masked_array(X, mask=np.zeros_like(X, dtype=bool))
    np.testing.assert_array_equal(LinCFA().fit(masked, y).labels_, LinCFA().fit(X, y).labels_)
    masked[3, 4] = np.ma.masked
    refuse(masked, y, "masked values in column 4")
    refuse(X, np.ma.masked_array(y, mask=y > 2), "target y has masked values")
    refuse(X[:, :0], y, r"0 feature\(s\).* minimum of 1 is required")
    refuse(pd.DataFrame(index=range(100)), y, r"no columns: 0 feature\(s\)")


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_fewer_than_four_samples(data, n):
    X, y = data
    refuse(X[:n], y[:n], rf"{n} sample\(s\).* minimum of 4 is required by LinCFA")
    assert LinCFA().fit(X[:4], y[:4]).transform(X[:1]).shape[0] == 1


def test_constant_columns(data):
    X, y = data
    refuse(np.ones((10, 3)), np.arange(10), "Every column of X is constant")
    many = pd.DataFrame(np.hstack([X, np.ones((100, 25))])).add_prefix("c")
    with pytest.warns(UserWarning, match=r"columns 'c12', 'c13', .*'c21' and 15 more\."):
        LinCFA().fit(many, y)


# Target


def test_targets(data):
    X, y = data
    for value in (0.0, 0.1, 1e9):
        message = re.escape(f"y is constant (all values are {value:g})")
        refuse(X, np.full(100, value), message)
    refuse(X, y[:-1], "X and y have inconsistent numbers of samples: 100 and 99")
    refuse(X, y.reshape(100, 1, 1), "a column for each target; it has 3 dimensions")
    refuse(X, np.empty((100, 0)), "target y has no columns")
    refuse(X, None, "requires y to be passed")
    for wrong in (y.astype(str), pd.Series(["12"] * 100), pd.Series([pd.Timestamp(0)] * 100)):
        refuse(X, wrong, "target y is not numeric")
    for value, what in ((np.nan, "NaN: values are missing"), (np.inf, "infinity")):
        refuse(X, np.where(np.arange(100) == 3, value, y), rf"y contains {what} \(row 3\)")
    model = LinCFA().fit(X, y[:, None])
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(X, y).labels_)


# The model


def test_groups_alone_do_not_predict(table, tmp_path):
    model = LinCFA().fit(*table)
    model.save(tmp_path / "model.json")
    for each in (model, load(tmp_path / "model.json")):
        assert not hasattr(each, "predict")
        with pytest.raises(AttributeError, match="does not predict; LinCFACV and"):
            each.predict(table[0])


@pytest.mark.parametrize("text", [b"a,b\n1,2\n", b"<!doctype html>", b"", b"\xff\xd8\x00"])
def test_files_that_are_no_models(tmp_path, text):
    (tmp_path / "other").write_bytes(text)
    assert_raises(r"other is not a saved model \(not JSON\)\.", load, tmp_path / "other")


def test_transform_with_other_columns_or_without_a_fit(table):
    X, y = table
    with pytest.raises(ValueError, match="X has 11 features, but LinCFA is expecting 12"):
        LinCFA().fit(X.to_numpy(), y).transform(X.to_numpy()[:, :-1])
    message = "^X must have the columns of the fit, in the same order: X has 11 features"
    assert_raises(message, LinCFACV().fit(X.to_numpy(), y).predict, X.to_numpy()[:, :-1])
    model = LinCFA().fit(X, y)
    lacks = "X lacks column 't3' and has column 'other' instead."
    assert_raises(lacks, model.transform, X.rename(columns={"t3": "other"}))
    renamed = "has column 'T3 ' instead; did you mean 't3' by 'T3 '?"
    assert_raises(re.escape(renamed), model.transform, X.rename(columns={"t3": "T3 "}))
    order = "in the same order, but column 0 is t11 and was t0; X[list(model.feature_names_in_)]"
    assert_raises(re.escape(order), model.transform, X[X.columns[::-1]])
    assert_raises("has column 'more' besides", model.transform, X.assign(more=1.0))
    with pytest.warns(UserWarning, match="no column names, .* taken as columns 't0', .* 9 more"):
        model.transform(X.to_numpy())
    with pytest.warns(UserWarning, match="X has column names, but LinCFA was fitted to a table"):
        LinCFA().fit(X.to_numpy(), y).transform(X)
    # Nothing of an earlier fit is left to be mixed with the columns of the failed one.
    failed = LinCFA().fit(X, y)
    assert_raises("constant", failed.fit, X.iloc[:, :3], np.ones(100))
    for model in (LinCFA(), failed):
        with pytest.raises(NotFittedError):
            model.transform(X.iloc[:, :3])
        with pytest.raises(NotFittedError):
            model.get_feature_names_out()


TOLERANCE = "tolerance must be a positive number or 'unbiased'"
NOISE = "noise must be 'pair', 'full' or a positive number"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strategy": "greedy"}, r"strategy must be one of \['sequential', .*\], got 'greedy'"),
        ({"strategy": ["sequential"]}, "strategy must be one of"),
        *(({"tolerance": c}, f"{TOLERANCE}, got {c!r}") for c in (0, np.inf, np.nan, "much", True)),
        ({"noise": np.ones(2)}, NOISE),
        *(({"noise": s}, f"{NOISE}, got {s!r}") for s in (-1.0, "none")),
        ({"units": "kelvin"}, r"units must be one of \['standardized', 'original'\], got 'kelvin'"),
    ],
)
def test_parameters(data, parameters, message):
    assert_raises(message, LinCFA(**parameters).fit, *data)


@pytest.mark.parametrize(
    ("change", "message", "error"),
    [
        (
            lambda X: X[:, 0],
            "table, .* one dimension. Reshape your data: X.reshape",
            ValueError,
        ),
        (lambda X: pd.Series(X[:, 0]), r"Reshape your data: X.to_frame\(\) is one", ValueError),
        (lambda X: X.reshape(100, 3, 4), "table, .* 3 dimensions, 100 × 3 × 4", ValueError),
        (lambda X: None, "X must be a table, .* not None", ValueError),
        (lambda X: {"a": 1}, "X must be a table, .* not {'a': 1}", ValueError),
        (lambda X: [[1, 2], [3]], "rows of X have different numbers of columns", ValueError),
        (lambda X: csr_array(X), r"X is sparse, .* pass X.toarray\(\)", TypeError),
        (lambda X: X + 1j, "Complex data not supported: X is of type complex128", ValueError),
        (
            lambda X: pd.DataFrame(X).add_prefix("t").astype({"t0": complex}),
            "Complex data not supported: column 't0'",
            ValueError,
        ),
    ],
)
def test_what_is_no_table_of_numbers(data, change, message, error):
    X, y = data
    for use in (LinCFA().fit, LinCFACV().fit, partial(explain_pair, a=0, b=1)):
        with pytest.raises(error, match=message):
            use(change(X), y)
    model = LinCFA().fit(X, y)
    with pytest.raises(error, match=message):
        model.transform(change(X))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: LinCFA(strategy="sequental").fit(X, y), "did you mean 'sequential'?"),
        (lambda X, y: LinCFACV(strategies=["jiont"]).fit(X, y), "did you mean 'joint'?"),
        (lambda X, y: LinCFA(units="orginal").fit(X, y), "did you mean 'original'?"),
        (lambda X, y: LinCFA(missing="pairwize").fit(X, y), "did you mean 'pairwise'?"),
        (lambda X, y: LinCFA(noise="Full").fit(X, y), "did you mean 'full'?"),
        (lambda X, y: LinCFA(tolerance="unbiassed").fit(X, y), "did you mean 'unbiased'?"),
        (lambda X, y: LinCFA(target="class").fit(X, y), "did you mean 'classes'?"),
        (lambda X, y: LinCFA(connectivity="chian").fit(X, y), "did you mean 'chain'?"),
        (lambda X, y: LinCFA(feature_weights="aera").fit(X, y), "did you mean 'area'?"),
        (lambda X, y: LinCFA(effective_samples="atuo").fit(X, y), "did you mean 'auto'?"),
        (lambda X, y: LinCFACV(rule="near-best").fit(X, y), "did you mean 'near_best'"),
        (lambda X, y: LinCFACV(scoring="r_2").fit(X, y), "did you mean 'r2'"),
        (lambda X, y: LinCFA().set_params(tolerence=2), "did you mean 'tolerance'?"),
        (lambda X, y: compare(X, y, methods=["ridge", "lincfa"]), "did you mean 'LinCFA'?"),
        (lambda X, y: explain_pair(X, y, "t1", "t01"), "X has no column 't01'; did you mean 't1'"),
    ],
)
def test_mistyped_words(table, call, message):
    assert_raises(re.escape(message), call, *table)


@pytest.mark.parametrize("name", ["feature_weights", "blocks"])
def test_series_by_name(table, name):
    X, y = table
    values = pd.Series(np.arange(1, 13), X.columns)
    LinCFA(**{name: values}).fit(X, y)
    renamed = values.rename({"t3": "T3"})
    message = f"{name} is a Series whose index lacks column 't3' of X; did you mean 'T3'?"
    assert_raises(re.escape(message), LinCFA(**{name: renamed}).fit, X, y)
    message = rf"not the columns of X, in their order; use {name}.loc\[X.columns\]"
    assert_raises(message, LinCFA(**{name: values[::-1]}).fit, X, y)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: LinCFACV(cv="five").fit(X, y), "cv must be a number of folds .* got 'five'"),
        (lambda X, y: LinCFACV(cv=101).fit(X, y), "cv=101 folds are more than .* samples, 100"),
        (lambda X, y: LinCFACV(cv=[(range(9), [100])]).fit(X, y), "cv names row 100, .* 100 samp"),
        (lambda X, y: LinCFACV(estimator="ridge").fit(X, y), "estimator must be a regressor"),
        (lambda X, y: LinCFACV(cv=3).fit(X, y).score(X, y[1:]), "inconsistent .*: 100 and 99"),
        (lambda X, y: LinCFACV(cv=3).fit(X, y).score(X, None), "The target y is None"),
        (lambda X, y: LinCFACV(cv=3).fit(X, y).score(X, y, -y), "finite and not negative"),
        (lambda X, y: LinCFA().fit(X, "y"), "given by its values, and is the word 'y'"),
        (lambda X, y: LinCFA().fit(X, csr_array(y[:, None])), r"pass y.toarray\(\)"),
        (lambda X, y: LinCFAClassifierCV().fit(X, y), r"fractions \(row 0: .* LinCFACV predicts"),
        (lambda X, y: LinCFAClassifierCV().fit(X, y + 1j), "the target y is complex"),
        (lambda X, y: LinCFAClassifierCV().fit(X * 0, y > 0), "Every column of X is constant"),
        (lambda X, y: LinCFA().transform(X), r"This LinCFA is not fitted yet: call fit\(X, y\)"),
    ],
)
def test_what_cannot_be_fitted_or_scored(data, call, message):
    assert_raises(message, call, *data)
