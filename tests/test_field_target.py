"""Targets and weights of fields: of the same samples, and none of the features."""

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")

from field_data import N, dataset, field, refuse, times


def series(values, dates=None):
    return pd.Series(values, index=pd.DatetimeIndex(times() if dates is None else dates))


OTHER_DATES = {
    "reversed": (times()[::-1], 0, "2001-01-01", "2001-04-30"),
    "last": (np.r_[times()[:-1], times()[-1:] + np.timedelta64(1, "D")], 119, "", "2001-05-01"),
    "seconds": (times().astype("M8[s]") + np.timedelta64(365, "D"), 0, "2001-01-01", "2002-01-01"),
}


@pytest.mark.parametrize("dates", OTHER_DATES)
def test_a_series_of_other_dates(dates):
    X, y = field()
    index, row, ours, theirs = OTHER_DATES[dates]
    message = f"is not of the samples .*: sample {row} is time={ours}.* and time={theirs} in"
    for other in (series(y, index), series(y, index).to_frame()):
        with pytest.raises(ValueError, match=f"^The target y {message} the target y.*reindex"):
            LinCFA().fit(X, other)
    search = LinCFACV(strategies=["sequential"], tolerances=[1.0], cv=3)
    with pytest.raises(ValueError, match=f"^sample_weight {message} sample_weight"):
        search.fit(X, y, sample_weight=series(np.ones(N), index))
    search.fit(X, series(y))
    with pytest.raises(ValueError, match=f"^The target y {message}"):
        search.score(X, series(y, index))


def test_a_series_of_the_same_dates_or_of_none():
    X, y = field()
    expected = LinCFA().fit(X, y).labels_
    local = pd.DatetimeIndex(times()).tz_localize("Europe/Rome")
    for index in (
        times(),
        times().astype("M8[s]"),
        range(N),
        range(N, 0, -1),
        [f"day {k}" for k in range(N)],
        pd.period_range("1990-01", periods=N, freq="M"),
        local,
    ):
        target = pd.Series(y, index=index)
        np.testing.assert_array_equal(LinCFA().fit(X, target, target * 0 + 1).labels_, expected)
    elsewhere = series(y, times() + 1)
    for plain in (X.drop_vars("time"), X.assign_coords(time=range(N))):
        np.testing.assert_array_equal(LinCFA().fit(plain, elsewhere).labels_, expected)


def test_a_series_of_another_length():
    X, y = field()
    with pytest.raises(ValueError, match="has 120 samples along 'time', and the target y has 119"):
        LinCFA(sample_dim="time").fit(X, series(y)[1:])


def test_a_target_that_is_a_variable():
    X, y = dataset()
    message = (
        r"^The target y is the variable 'index' of X: leave it out of X, as with "
        r"X\.drop_vars\('index'\)\.$"
    )
    for target in (X["index"], X["index"].copy(), X["index"].to_series()):
        for model in (LinCFA(), LinCFA(sample_dim="time"), LinCFACV()):
            with pytest.raises(ValueError, match=message):
                model.fit(X, target)
        LinCFA().fit(X.drop_vars("index"), target)
    holed = X.copy(deep=True)
    holed["index"][3] = np.nan
    with pytest.raises(ValueError, match=message):
        LinCFA().fit(holed, holed["index"])
    for other in (X["index"] + 1, X["index"].rename("other"), xr.DataArray(y, dims="time")):
        LinCFA().fit(X, other)
    LinCFA().fit(X, pd.Series(y, name=("index", 1)))
    with pytest.raises(ValueError, match=r"along nothing else.* time \(120\), station \(6\)"):
        LinCFA(sample_dim="time").fit(X, X.rain)


def test_a_lazy_target_that_is_a_variable():
    dask = pytest.importorskip("dask")
    X, _ = dataset()
    lazy = X.chunk(time=50)
    with (
        dask.config.set(scheduler=refuse),
        pytest.raises(ValueError, match="The target y is the variable 'index' of X"),
    ):
        LinCFA().fit(lazy, lazy["index"])
    LinCFA().fit(lazy, lazy["index"] + 1)


@pytest.mark.parametrize("calendar", [None, "noleap"])
def test_no_guess_against_the_dates(calendar):
    X, y = field(missing=False)
    message = r"Give sample_dim.* 4 samples, as many as 'lat', but the dates are along 'time'"
    if calendar is not None:
        pytest.importorskip("cftime")
        X = X.assign_coords(time=xr.date_range("2001", periods=N, calendar=calendar))
    with pytest.raises(ValueError, match=message):
        LinCFA().fit(X, y[:4])
    assert LinCFA().fit(X, y).field_.sample_dim == "time"
    assert LinCFA(sample_dim="lat").fit(X, y[:4]).field_.sample_dim == "lat"
    for undated in (X.drop_vars("time"), X.assign_coords(time=range(N))):
        assert LinCFA().fit(undated, y[:4]).field_.sample_dim == "lat"


def test_targets_of_other_lengths_and_kinds():
    X, y = field()
    message = r"^No dimension .* as long as the target, 100: time \(120\), lat \(4\), lon \(6\)\."
    for short in (y[:100], xr.DataArray(y[:100], dims="day")):
        with pytest.raises(ValueError, match=message):
            LinCFA().fit(X, short)
    wide = xr.DataArray(np.c_[y, y], dims=("time", "two"))
    for model in (LinCFA(), LinCFA(sample_dim="time")):
        with pytest.raises(ValueError, match=r"its dimensions are: time \(120\), two \(2\)\.$"):
            model.fit(X, wide)
        with pytest.raises(ValueError, match=r"its dimensions are: none\.$"):
            model.fit(X, wide[0, 0])


@pytest.mark.parametrize("model", [LinCFA(), LinCFA(sample_dim="time")], ids=["guess", "given"])
def test_a_target_by_its_name(model):
    X, y = dataset()
    message = (
        r"y is a text, 'index': give the variable, X\['index'\], .* X\.drop_vars\('index'\)\.$"
    )
    with pytest.raises(ValueError, match=message):
        model.fit(X, "index")
    with pytest.raises(ValueError, match=r"y is a text, 'season': give the variable, X\['season'"):
        model.fit(X.t2m, "season")
    with pytest.raises(ValueError, match=r"y is a text, 'index': give its values\.$"):
        model.fit(X.t2m, "index")
    with pytest.raises(ValueError, match=r"^sample_weight is a text, 'rain'"):
        model.fit(X, y, "rain")
