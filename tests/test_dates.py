"""Dates of samples, in whatever container they come."""

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV
from lincfa._data._training import read_training
from lincfa.timeseries import lagged

pd = pytest.importorskip("pandas")
xr = pytest.importorskip("xarray")

VALUES = np.random.default_rng(0).normal(size=(6, 3))
Y = VALUES[:, 0]
MONTHS = pd.date_range("2000-01-01", periods=6, freq="MS")


def field(times, name="time", **coords):
    return xr.DataArray(VALUES, {name: times, **coords}, (name, "x"))


def frame(index):
    return pd.DataFrame(VALUES, index=index)


@pytest.mark.parametrize(
    "X",
    [
        frame(MONTHS),
        frame(MONTHS.tz_localize("UTC")),
        frame(MONTHS.to_period("M")),
        frame(MONTHS.astype(object)),
        frame(MONTHS.date),
        frame(pd.MultiIndex.from_arrays([list("abcabc"), MONTHS])),
        frame(pd.Index(range(2000, 2006), name="year")),
        field(MONTHS),
        field(
            xr.date_range("2000-01-01", periods=6, freq="MS", calendar="360_day", use_cftime=True)
        ),
        field(np.arange(2000, 2006), "year"),
        field(("step", np.arange(6), {"axis": "T"}), "step"),
        field(("step", np.arange(6), {"standard_name": "time"}), "step"),
        xr.DataArray(VALUES, {"start": ("sample", MONTHS)}, ("sample", "x")),
        field(MONTHS).expand_dims(run=[1]).stack(sample=("time", "run")).transpose("sample", "x"),
    ],
    ids=[
        "index",
        "zone",
        "periods",
        "objects",
        "days",
        "level",
        "numbered years",
        "field",
        "calendar",
        "years",
        "axis",
        "standard name",
        "beside",
        "stacked",
    ],
)
def test_dates_are_read_and_ordered(X):
    shuffled = [3, 0, 5, 1, 4, 2]
    rows = X.iloc[shuffled] if isinstance(X, pd.DataFrame) else X[shuffled]
    found = read_training(rows, Y[shuffled]).dates
    assert found.ranks.tolist() == shuffled
    assert found.order.tolist() == [1, 3, 5, 0, 4, 2]


def test_dates_of_the_target_count_where_the_features_have_none():
    assert read_training(VALUES, pd.Series(Y, MONTHS)).dates.ranks.tolist() == list(range(6))


@pytest.mark.parametrize("X", [VALUES, pd.DataFrame(VALUES), field(np.arange(6), "sample")])
def test_samples_without_dates(X):
    assert read_training(X, Y).dates is None


def test_samples_of_the_same_date_share_their_place():
    index = MONTHS[[0, 0, 1, 1, 2, 2]]
    assert read_training(frame(index), Y).dates.ranks.tolist() == [0, 0, 1, 1, 2, 2]


def test_a_missing_date_is_an_error_where_dates_are_used():
    X = frame(MONTHS.where(np.arange(6) != 2))
    LinCFA().fit(X, Y)
    LinCFACV(tolerances=[1.0], cv=3).fit(X, Y)
    message = "The index lacks the date of 1 sample, first at row 2: drop such samples first"
    for use in (lambda: LinCFACV(tolerances=[1.0]).fit(X, Y), lambda: lagged(X, 1)):
        with pytest.raises(ValueError, match=message):
            use()


def test_dates_of_two_calendars_have_no_order():
    times = [
        *xr.date_range("2000", periods=3, freq="MS", calendar="360_day", use_cftime=True),
        *xr.date_range("2001", periods=3, freq="MS", calendar="noleap", use_cftime=True),
    ]
    with pytest.raises(ValueError, match=r"dates of 'start' have no order: .* one calendar"):
        lagged(xr.DataArray(VALUES, {"start": ("time", times)}, ("time", "x")), 1)


def test_rows_without_weight_take_their_dates_along():
    training = read_training(frame(MONTHS), Y, [1, 0, 1, 1, 1, 1])
    assert (training.with_weight().dates.values == MONTHS[[0, 2, 3, 4, 5]]).all()
