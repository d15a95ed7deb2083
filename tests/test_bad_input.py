"""Bad input is refused with a message that names what is wrong and where."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import DataConversionWarning, NotFittedError

from lincfa import LinCFA


@pytest.fixture
def table(data):
    X, y = data
    return pd.DataFrame(X).add_prefix("t"), y


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_nan_and_infinity_name_the_column(table, value, word):
    X, y = table
    X.iloc[41, 7] = value
    with pytest.raises(ValueError, match=rf"{word}.* column 't7' \(row 41\)"):
        LinCFA().fit(X, y)
    with pytest.raises(ValueError, match=rf"{word}.* column 7 \(row 41\)"):
        LinCFA().fit(X.to_numpy(), y)
    model = LinCFA().fit(X.fillna(0).replace([np.inf, -np.inf], 0), y)
    with pytest.raises(ValueError, match=rf"{word}.* column 't7'"):
        model.transform(X)


def test_nan_is_found_in_any_block_of_rows(monkeypatch, table):
    X, y = table
    monkeypatch.setattr("lincfa._data._checks._BLOCK_BYTES", 10 * X.shape[1] * 8)
    X.iloc[95, 3] = np.nan
    with pytest.raises(ValueError, match=r"column 't3' \(row 95\)"):
        LinCFA().fit(X, y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_string_columns_are_named(table, frame):
    X, y = table
    X["place"] = "Rome"
    X["code"] = "12"  # text that looks like a number is still text
    X = frame(X.to_dict("list"))
    with pytest.raises(ValueError, match=r"must be numeric, but columns 'place', 'code' are not"):
        LinCFA().fit(X, y)


def test_dates_and_mixed_columns_are_named(table):
    X, y = table
    dates = X.assign(day=pd.Timestamp("2001-01-01"))
    with pytest.raises(ValueError, match=r"but column 'day' is not \(type datetime64"):
        LinCFA().fit(dates, y)
    mixed = X.astype({"t2": object})
    mixed.loc[3, "t2"] = "missing"
    with pytest.raises(ValueError, match=r"but column 't2' is not \(type object\)"):
        LinCFA().fit(mixed, y)


@pytest.mark.parametrize("missing", [None, pd.NA, np.nan])
def test_missing_values_of_any_kind_are_named(table, missing):
    X, y = table
    X["t5"] = X["t5"].astype("Float64" if missing is pd.NA else object)
    X.loc[8, "t5"] = missing
    with pytest.raises(ValueError, match=r"NaN in column 't5' \(row 8\)"):
        LinCFA().fit(X, y)
    X = pl.DataFrame({"a": [None, *range(99)], "b": range(100)})
    with pytest.raises(ValueError, match=r"NaN in column 'a' \(row 0\)"):
        LinCFA().fit(X, y)


def test_masked_values_are_refused(data):
    X, y = data
    masked = np.ma.masked_array(X, mask=np.zeros_like(X, dtype=bool))
    np.testing.assert_array_equal(LinCFA().fit(masked, y).labels_, LinCFA().fit(X, y).labels_)
    masked[3, 4] = np.ma.masked
    with pytest.raises(ValueError, match="masked values in column 4"):
        LinCFA().fit(masked, y)


def test_masked_target_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="target y has masked values"):
        LinCFA().fit(X, np.ma.masked_array(y, mask=y > 2))


def test_names_that_are_no_strings_are_named_too(data):
    X, y = data
    table = pd.DataFrame(X, columns=np.linspace(400, 950, 12))
    table.iloc[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 450\.0"):
        LinCFA().fit(table, y)


def test_repeated_names_are_named(table):
    X, y = table
    X.columns = ["a", "b", "a", *X.columns[3:]]
    with pytest.raises(ValueError, match=r"must be unique, but X repeats 'a' \(2 times\)"):
        LinCFA().fit(X, y)


def test_array_of_strings(data):
    X, y = data
    for text in (np.full(X.shape, "a"), X.astype(str), X.astype(str).tolist()):
        with pytest.raises(ValueError, match="must be numeric, but X is of type"):
            LinCFA().fit(text, y)
    objects = X.astype(object)
    objects[5, 3] = "12"
    with pytest.raises(ValueError, match="must be numeric, but column 3 contains text"):
        LinCFA().fit(objects, y)
    with pytest.raises(ValueError, match=r"X is of type datetime64\[s\]"):
        LinCFA().fit(np.full(X.shape, np.datetime64("2001-01-01T00:00:00")), y)


def test_constant_target(data):
    X, _ = data
    for value in (0.0, 0.1, 1e9):
        with pytest.raises(
            ValueError, match=re.escape(f"y is constant (all values are {value:g})")
        ):
            LinCFA().fit(X, np.full(100, value))


def test_every_column_constant():
    with pytest.raises(ValueError, match="Every column of X is constant"):
        LinCFA().fit(np.ones((10, 3)), np.arange(10))


def test_many_constant_columns_are_named_briefly(data):
    X, y = data
    table = pd.DataFrame(np.hstack([X, np.ones((100, 25))])).add_prefix("c")
    with pytest.warns(UserWarning, match=r"columns 'c12', 'c13', .*'c21' and 15 more\."):
        LinCFA().fit(table, y)


def test_target_of_the_wrong_length(data):
    X, y = data
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[100, 99\]"):
        LinCFA().fit(X, y[:-1])


def test_target_with_several_columns(data):
    X, y = data
    with pytest.raises(ValueError, match=r"1d array.* \(100, 2\)"):
        LinCFA().fit(X, np.column_stack([y, y]))


def test_target_as_one_column_is_accepted(data):
    X, y = data
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = LinCFA().fit(X, y[:, None])
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(X, y).labels_)


def test_target_missing_or_not_numeric(data):
    X, y = data
    with pytest.raises(ValueError, match="requires y to be passed"):
        LinCFA().fit(X, None)
    for wrong in (y.astype(str), pd.Series(["12"] * 100), pd.Series([pd.Timestamp(0)] * 100)):
        with pytest.raises(ValueError, match="target y is not numeric"):
            LinCFA().fit(X, wrong)
    y = y.copy()
    y[3] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        LinCFA().fit(X, y)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_fewer_than_four_samples(data, n):
    X, y = data
    with pytest.raises(ValueError, match=rf"{n} sample\(s\).* minimum of 4 is required by LinCFA"):
        LinCFA().fit(X[:n], y[:n])


def test_four_samples_are_enough(data):
    X, y = data
    assert LinCFA().fit(X[:4], y[:4]).transform(X[:1]).shape[0] == 1


def test_no_columns(data):
    X, y = data
    with pytest.raises(ValueError, match=r"0 feature\(s\).* minimum of 1 is required"):
        LinCFA().fit(X[:, :0], y)
    with pytest.raises(ValueError, match=r"no columns: 0 feature\(s\)"):
        LinCFA().fit(pd.DataFrame(index=range(100)), y)


def test_lazy_frame(data):
    X, y = data
    with pytest.raises(TypeError, match=r"call its collect\(\) first"):
        LinCFA().fit(pl.DataFrame(X).lazy(), y)


def test_columns_too_large_for_the_arithmetic(table):
    X, y = table
    X["t4"] *= 1e300  # large, but its sum is not too large
    X["t5"] = 1e308
    with pytest.raises(ValueError, match="too large for float64 in column 't5'"):
        LinCFA().fit(X, y)
    with pytest.raises(ValueError, match="too large for float64 in the target y"):
        LinCFA().fit(X.drop(columns="t5"), 1e308 + 1e306 * y)


def test_transform_with_other_columns(table):
    X, y = table
    with pytest.raises(ValueError, match="X has 11 features, but LinCFA is expecting 12"):
        LinCFA().fit(X.to_numpy(), y).transform(X.to_numpy()[:, :-1])
    model = LinCFA().fit(X, y)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- other"):
        model.transform(X.rename(columns={"t3": "other"}))
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.transform(X[X.columns[::-1]])


def test_before_fit(data):
    with pytest.raises(NotFittedError):
        LinCFA().transform(data[0])
    with pytest.raises(NotFittedError):
        LinCFA().get_feature_names_out()


def test_after_a_fit_that_failed(table):
    """Nothing of an earlier fit is left to be mixed with the columns of the failed one."""
    X, y = table
    model = LinCFA().fit(X, y)
    with pytest.raises(ValueError, match="constant"):
        model.fit(X.iloc[:, :3], np.ones(100))
    with pytest.raises(NotFittedError):
        model.transform(X.iloc[:, :3])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"strategy": "greedy"}, r"strategy must be one of \['sequential', .*\], got 'greedy'"),
        ({"tolerance": 0}, "tolerance must be a positive number or 'unbiased', got 0"),
        ({"tolerance": np.inf}, "tolerance must be a positive number or 'unbiased', got inf"),
        ({"strategy": ["sequential"]}, "strategy must be one of"),
        ({"noise": np.ones(2)}, "noise must be 'pair', 'full' or a positive number"),
        ({"tolerance": np.nan}, "tolerance must be a positive number or 'unbiased', got nan"),
        ({"tolerance": "much"}, "tolerance must be a positive number or 'unbiased', got 'much'"),
        ({"tolerance": True}, "tolerance must be a positive number or 'unbiased', got True"),
        ({"noise": -1.0}, "noise must be 'pair', 'full' or a positive number, got -1.0"),
        ({"noise": "none"}, "noise must be 'pair', 'full' or a positive number, got 'none'"),
        ({"units": "kelvin"}, r"units must be one of \['standardized', 'original'\], got 'kelvin'"),
    ],
)
def test_parameters(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        LinCFA(**parameters).fit(*data)
