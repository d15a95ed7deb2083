"""Fields, targets and weights that are refused; where the samples are; lazy fields."""

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV
from reference import assert_raises

xr = pytest.importorskip("xarray")
pd = pytest.importorskip("pandas")

from field_data import MISSING, UNITS, N, dataset, field, refuse, table, times

ESTIMATORS = [LinCFA(), LinCFACV(strategies=["sequential"], tolerances=[1.0], cv=3)]


def fitted(**parameters):
    return LinCFA(**parameters).fit(*field())


def holed(*places):
    """A field with some values missing."""
    X, y = field()
    for place in places:
        X[place] = np.nan
    return X, y


def chunked(X, lazy):
    if lazy:
        pytest.importorskip("dask")
    return X.chunk(time=50, lat=2) if lazy else X


# Values that are missing or infinite


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("places", "cells", "first", "day"),
    [
        ([(0, 0, 3)], "A cell", "lat=40.0, lon=8.0", "01-01"),
        ([(0, 0, 3), (9, 0, 3)], "A cell", "lat=40.0, lon=8.0", "01-01"),
        ([(7, 0, 3)], "A cell", "lat=40.0, lon=8.0", "01-08"),
        ([(7, 3, 3), (9, 0, 5), (4, 0, 5)], "2 cells", "lat=40.0, lon=10.0", "01-05"),
        ([(0, 3, 3), (9, 0, 5)], "2 cells", "lat=40.0, lon=10.0", "01-10"),
        ([(slice(1, None), 2, 2)], "A cell", "lat=44.0, lon=7.0", "01-02"),
    ],
)
def test_cells_that_are_missing_in_parts(model, places, cells, first, day, lazy):
    X, y = holed(*places)
    with pytest.raises(ValueError, match=rf"t2m\[{first}\], at time=2001-{day}\.") as caught:
        model.fit(chunked(X, lazy), y)
    assert str(caught.value).startswith(f"{cells} of the field")
    assert "missing at some samples but not at all" in str(caught.value)


def test_names_of_cells_and_samples_in_messages():
    X, y = dataset()
    X.rain[0, 5] = X["index"][0] = np.nan
    with pytest.raises(ValueError, match=r"2 cells .* first rain\[station=f\], at time=2001-01-01"):
        LinCFA(sample_dim="time").fit(X, y)
    X, y = holed((7, 0, 3))
    assert_raises(r"lon=8.0\], at time=7\.", LinCFA().fit, X.drop_vars("time"), y)


def test_infinity_and_cells_missing_in_a_transform():
    X, y = field()
    X[5, 0, 1] = np.inf
    message = r"A cell of the field is infinite: t2m\[lat=40.0, lon=6.0\], at time=2001-01-06"
    for call in (
        lambda: LinCFA().fit(X, y),
        lambda: LinCFA().fit(X.chunk(time=50), y),
        lambda: fitted().transform(X),
    ):
        assert_raises(message, call)
    X, _ = holed((3, 2, 2), (8, 0, 0))
    message = r"2 cells of the field are missing but had values in the fit: first t2m\[lat=40.0, "
    assert_raises(message + r"lon=5.0\], at time=2001-01-09", fitted().transform, X)
    filled = field()[0].fillna(np.inf)  # cells that are missing in the fit may hold anything
    xr.testing.assert_identical(fitted().transform(filled), fitted().transform(field()[0]))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("rows", "samples"),
    [
        ([0], "1 sample, first time=2001-01-01"),
        ([7], "1 sample, first time=2001-01-08"),
        ([0, 9, 5], "3 samples, first time=2001-01-01"),
        ([9, 5], "2 samples, first time=2001-01-06"),
    ],
)
def test_samples_at_which_all_cells_are_missing(rows, samples, lazy):
    X, y = holed(*rows, (3, 0, 0))
    X = chunked(X, lazy)
    message = f"^All cells are missing at {samples}: drop such samples first\\.$"
    for model in ESTIMATORS:
        assert_raises(message, model.fit, X, y)
    both = xr.Dataset({"one": X, "other": X[:, 0]})
    assert_raises(message, LinCFA().fit, both, y)
    elsewhere = field()[0][:, 0].where(both.time != X.time[20])
    for other in (X[:, 0].fillna(0), elsewhere):
        with pytest.raises(ValueError, match="cells of the field are missing at some samples"):
            LinCFA().fit(both.assign(other=other), y)
    if not lazy:
        assert_raises(message, fitted().transform, X)
    with pytest.raises(ValueError, match="A cell of the field is missing at some samples"):
        LinCFA(sample_dim="time").fit(X[:, 0, :1], y)  # of the only cell no more is said


# Where the samples are


def test_where_the_samples_are_and_nothing_but_missing_cells():
    X, y = field()
    for empty in (X * np.nan, xr.DataArray(np.full(N, np.nan), dims="time")):
        assert_raises("Every cell of the field is missing", LinCFA().fit, empty, y)
    assert_raises(r"0 feature|Every cell", LinCFA().fit, X[:, :0], y)
    assert LinCFA().fit(X, y).field_.sample_dim == "time"
    assert LinCFA().fit(X, y.tolist()).field_.sample_dim == "time"
    square = X[:6]
    assert LinCFA().fit(square, xr.DataArray(y[:6], dims="time")).field_.sample_dim == "time"
    along = LinCFA(sample_dim="lon").fit(X[:, 0].fillna(0), np.arange(6.0))
    assert along.label_map().dims == ("time",)
    assert_raises(r"set sample_dim.*time \(6\), lat \(4\), lon \(6\)", LinCFA().fit, square, y[:6])
    with pytest.raises(ValueError, match=r"no dimension 'day'.*time \(120\), lat \(4\)"):
        LinCFA(sample_dim="day").fit(X, y)
    for model in (LinCFA(sample_dim=["time"]), LinCFACV(sample_dim=["time"])):
        assert_raises("sample_dim must be None or the name of a dimension", model.fit, X, y)
    assert_raises("the target y is None", LinCFA().fit, X, None)
    assert_raises(r"called 'group'.*rename", LinCFA().fit, X.rename(time="group"), y)


@pytest.mark.parametrize("calendar", [None, "noleap"])
def test_no_guess_against_the_dates(calendar):
    X, y = field(missing=False)
    if calendar is not None:
        pytest.importorskip("cftime")
        X = X.assign_coords(time=xr.date_range("2001", periods=N, calendar=calendar))
    message = r"set sample_dim.* 4 samples, as many as 'lat', but the dates are along 'time'"
    assert_raises(message, LinCFA().fit, X, y[:4])
    assert LinCFA().fit(X, y).field_.sample_dim == "time"
    assert LinCFA(sample_dim="lat").fit(X, y[:4]).field_.sample_dim == "lat"
    for undated in (X.drop_vars("time"), X.assign_coords(time=range(N))):
        assert LinCFA().fit(undated, y[:4]).field_.sample_dim == "lat"


# Targets and weights


def series(values, dates=None):
    return pd.Series(values, index=pd.DatetimeIndex(times() if dates is None else dates))


OTHER_DATES = {
    "reversed": (times()[::-1], 0, "2001-01-01", "2001-04-30"),
    "last": (np.r_[times()[:-1], times()[-1:] + np.timedelta64(1, "D")], 119, "", "2001-05-01"),
    "seconds": (times().astype("M8[s]") + np.timedelta64(365, "D"), 0, "2001-01-01", "2002-01-01"),
}


@pytest.mark.parametrize("dates", OTHER_DATES)
def test_targets_and_weights_of_other_samples(dates):
    X, y = field()
    index, row, ours, theirs = OTHER_DATES[dates]
    message = "^The samples of {} are not those of the field, or in another order: "
    message += f"sample {row} is time={ours}.* and time={theirs} in "
    array = xr.DataArray(y, {"time": index})
    target = message.format("the target y") + "the target y"
    for other, remedy in (
        (series(y, index), "reindex"),
        (series(y, index).to_frame(), "reindex"),
        (array, "xarray.align"),
    ):
        assert_raises(f"{target}.*{remedy}", LinCFA().fit, X, other)
    search = ESTIMATORS[1]
    for counts in (series(np.ones(N), index), xr.ones_like(array)):
        with pytest.raises(ValueError, match=message.format("sample_weight") + "sample_weight"):
            search.fit(X, y, sample_weight=counts)
    search.fit(X, series(y))
    assert_raises(target, search.score, X, series(y, index))


def test_targets_of_the_same_samples_or_without_any_names():
    X, y = field()
    expected = LinCFA().fit(X, y).labels_
    for index in (
        times(),
        times().astype("M8[s]"),
        range(N),
        range(N, 0, -1),
        [f"day {k}" for k in range(N)],
        pd.period_range("1990-01", periods=N, freq="M"),
        pd.DatetimeIndex(times()).tz_localize("Europe/Rome"),
    ):
        target = pd.Series(y, index=index)
        np.testing.assert_array_equal(LinCFA().fit(X, target, target * 0 + 1).labels_, expected)
    elsewhere = series(y, times() + np.timedelta64(1, "D"))
    for plain in (X.drop_vars("time"), X.assign_coords(time=range(N))):
        np.testing.assert_array_equal(LinCFA().fit(plain, elsewhere).labels_, expected)
    array = xr.DataArray(y, {"time": times()})
    weighted = LinCFA().fit(X, array, xr.full_like(array, 2.0))
    assert weighted.n_samples_ == 2 * N
    for given, target in ((X, array), (X, array.drop_vars("time")), (X.drop_vars("time"), array)):
        np.testing.assert_array_equal(LinCFA().fit(given, target).labels_, expected)


def test_targets_of_other_lengths_and_kinds():
    X, y = field()
    array = xr.DataArray(y, {"time": times()})
    given = LinCFA(sample_dim="time")
    for short in (array[:-1], series(y)[1:]):
        assert_raises("has 120 samples along 'time', but the target y has", given.fit, X, short)
    message = r"^No dimension .* as long as the target, 100: time \(120\), lat \(4\), lon \(6\)\."
    for short in (y[:100], xr.DataArray(y[:100], dims="day")):
        assert_raises(message, LinCFA().fit, X, short)
    wide = xr.DataArray(np.c_[y, y][:, None], dims=("time", "one", "two"))
    for model in (LinCFA(), given):
        assert_raises(r"are: time \(120\), one \(1\), two \(2\)\.$", model.fit, X, wide)
        assert_raises(r"its dimensions are: none\.$", model.fit, X, wide[0, 0, 0])
        with pytest.raises(ValueError, match=r"'time', and no other; .* day \(120\)"):
            model.fit(X, array.rename(time="day"))
        weights = array.to_dataset(name="y")
        assert_raises("sample_weight is a Dataset", model.fit, X, array, weights)


def test_a_target_that_is_a_variable():
    X, y = dataset()
    message = (
        r"^The target y is the variable 'index' of X: drop it from X first, with "
        r"X\.drop_vars\('index'\)\.$"
    )
    for target in (X["index"], X["index"].copy(), X["index"].to_series()):
        for model in (LinCFA(), LinCFA(sample_dim="time"), LinCFACV()):
            assert_raises(message, model.fit, X, target)
        LinCFA().fit(X.drop_vars("index"), target)
    gap = X.copy(deep=True)
    gap["index"][3] = np.nan
    assert_raises(message, LinCFA().fit, gap, gap["index"])
    for other in (X["index"] + 1, X["index"].rename("other"), xr.DataArray(y, dims="time")):
        LinCFA().fit(X, other)
    LinCFA().fit(X, pd.Series(y, name=("index", 1)))
    dask = pytest.importorskip("dask")
    lazy = X.chunk(time=50)
    with dask.config.set(scheduler=refuse), pytest.raises(ValueError, match=message):
        LinCFA().fit(lazy, lazy["index"])
    LinCFA().fit(lazy, lazy["index"] + 1)


@pytest.mark.parametrize("model", [LinCFA(), LinCFA(sample_dim="time")], ids=["guess", "given"])
def test_a_target_by_its_name(model):
    X, y = dataset()
    for given, target, remedy in (
        (X, "index", r"pass the variable, X\['index'\], .* X\.drop_vars\('index'\)\.$"),
        (X.t2m, "season", r"pass the variable, X\['season'\]\.$"),
        (X.t2m, "index", r"pass its values\.$"),
    ):
        assert_raises(f"y is a string, '{target}': {remedy}", model.fit, given, target)
    assert_raises(r"^sample_weight is a string, 'rain'", model.fit, X, y, "rain")


# Variables and cells that are not those of the fit


def test_variables_that_cannot_be_used_in_a_fit_or_a_transform():
    X, y = dataset()
    model = LinCFA(sample_dim="time")
    for wrong, message in (
        (X.assign(height_m=("lat", np.ones(4))), "'height_m' lacks .* 'time'.*drop_vars"),
        (X.assign(word=("time", ["a"] * N)), r"'word' is not numeric.*drop_vars\('word'\)"),
        (X.drop_vars(list(X)), "no data variables"),
        (X.t2m.astype(str), "The field is not numeric"),
    ):
        assert_raises(message, model.fit, wrong, y)
    model = LinCFA(sample_dim="time").fit(X, y)
    for wrong, message in (
        (X.drop_vars("rain"), "lacks the variable 'rain'"),
        (X.assign(snow=X.rain), r"'snow', which was not in the fit.*drop_vars\('snow'\)"),
        (X.t2m, "fitted to a Dataset, and this is a DataArray"),
        (X.isel(station=slice(3)), "'rain' must have the cells of the fit, 6"),
        (X.assign_coords(station=list("bacdef")), r"'station' is not .* is b and was a\..*sortby"),
        (
            X.assign(rain=X.rain.assign_attrs(units="m")),
            "The variable 'rain' has the units 'm' and had 'mm'",
        ),
    ):
        assert_raises(message, model.transform, wrong)
    number = X.assign({"index": X["index"].assign_attrs(units=1)})  # the same as the text
    np.testing.assert_array_equal(model.transform(number), model.transform(X))


OTHERS = {
    "fewer cells": (lambda X: X[:, 1:], "4 along 'lat', but has 3"),
    "moved": (lambda X: X.assign_coords(lon=X.lon + 0.5), r"'lon' .* 0\) is 5.5 and was 5.0\.$"),
    "reversed": (lambda X: X[:, ::-1], r"\(position 0\) is 46.0 and was 40.0\."),
    "names of dimensions": (lambda X: X.rename(lat="y"), r"dimensions of the fit, time, lat, lon"),
    "one sample": (lambda X: X[0], r"dimensions of the fit, time, lat, lon.*lat \(4\), lon \(6\)"),
    "text": (lambda X: X.astype(str), "not numeric"),
    "dataset": (lambda X: X.to_dataset(), "fitted to a DataArray, and this is a Dataset"),
    "dimension": (lambda X: X.expand_dims("member"), "dimensions of the fit"),
    "table": (lambda X: X.values.reshape(N, -1), "X has 24 features"),
}


@pytest.mark.parametrize("change", OTHERS)
def test_other_cells_in_a_transform(change):
    X, _ = field()
    alter, message = OTHERS[change]
    assert_raises(message, fitted().transform, alter(X))
    assert table(X).shape[1] == 24 - len(MISSING)


def test_small_differences_in_a_transform():
    X, y = field()
    model = LinCFA().fit(X, y)
    expected = model.transform(X).values
    for same in (
        X.rename("warmth"),
        X.drop_vars(["lat", "lon"]),
        X.assign_coords(lon=X.lon.astype("f4") + np.float32(1e-6), height=10.0),
        X.assign_coords(lat=("lat", np.linspace(40, 46, 4).astype("i8"))),
    ):
        np.testing.assert_array_equal(model.transform(same).values, expected)
    X = X.assign_coords(size=("time", np.arange(N)))
    assert_raises(r"coordinate 'size' along its samples.*rename", LinCFA().fit(X, y).transform, X)


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_other_units(model):
    X, y = field()
    plain = X.copy()
    plain.attrs = {}
    model.fit(X, y)
    use = getattr(model, "predict", model.transform)
    message = r"^The field has the units 'degC' and had 'K' in the fit: convert it first"
    assert_raises(message, use, (X - 273.15).assign_attrs(units="degC"))
    same = use(X)
    for other in (X.assign_attrs(units="K "), plain):
        np.testing.assert_array_equal(use(other), same)
    model.fit(plain, y)
    np.testing.assert_array_equal(use(X), same)


@pytest.mark.parametrize(
    ("name", "fitted", "given"),
    [
        ("lon", [0.0, 90, 180, 270], [-180.0, -90, 0, 90]),
        ("longitude", [-180, -90, 0, 90], [0, 90, 180, 270]),
        ("lon", [270.0, 180, 90, 0], [-180.0, -90, 0, 90]),
    ],
)
def test_longitudes_counted_otherwise(name, fitted, given):
    rng = np.random.default_rng(0)
    X = xr.DataArray(rng.normal(size=(30, 4)), {"time": times()[:30], name: fitted}, ("time", name))
    model = LinCFA().fit(X, rng.normal(size=30))
    other = X.assign_coords({name: [(value + 180) % 360 - 180 for value in fitted]})
    if name == "longitude":
        other = X.assign_coords({name: X[name] % 360})
    other = other.sortby(name)
    assert other[name].values.tolist() == given
    with pytest.raises(ValueError, match="The longitudes are the same") as caught:
        model.transform(other)
    remedy = str(caught.value).split(", with ")[1].removesuffix(".")
    xr.testing.assert_identical(model.transform(eval(remedy, {"X": other})), model.transform(X))
    with pytest.raises(ValueError, match=r"and was -?\d+\.?\d*\.$"):
        model.transform(other.assign_coords({name: other[name] + 1}))


def test_cells_in_another_order():
    X, y = field()
    mixed = X.isel(lat=[2, 0, 3, 1])
    up, down, kept = (LinCFA().fit(given, y) for given in (X, X[:, ::-1], mixed))
    both, y = dataset()
    stations = LinCFA(sample_dim="time").fit(both, y)
    backwards = both.isel(station=slice(None, None, -1))
    start = "The values are the same in another order: sort them first, with X."

    def message_of(model, given):
        with pytest.raises(ValueError, match="is not that of the fit") as caught:
            model.transform(given)
        return str(caught.value)

    for model, other, remedy, remedied in (
        (up, X[:, ::-1], "sortby('lat').", X[:, ::-1].sortby("lat")),
        (up, mixed, "sortby('lat').", mixed.sortby("lat")),
        (down, X, "sortby('lat', ascending=False).", X.sortby("lat", ascending=False)),
        (kept, X, "reindex_like(the field of the fit).", X.reindex_like(mixed)),
        (stations, backwards, "sortby('station').", backwards.sortby("station")),
    ):
        assert message_of(model, other).endswith(start + remedy)
        model.transform(remedied)
    single = X[:, ::-1].assign_coords(lat=X.lat[::-1].astype("f4") + np.float32(1e-5))
    assert start in message_of(up, single)
    assert start not in message_of(up, X.assign_coords(lat=X.lat + 1))


def test_wrong_reduced_features_and_no_fit():
    X, _ = field()
    model = fitted()
    reduced = model.transform(X)
    for wrong in (reduced[:, ::-1], reduced[:, 1:], reduced.drop_vars("group")[:, 1:]):
        assert_raises("groups must be those of the model", model.inverse_transform, wrong)
    for wrong in (X, reduced.to_dataset(), reduced[0, 0], reduced.expand_dims("member")):
        assert_raises("must be a DataArray along 'group'", model.inverse_transform, wrong)
    assert_raises("NaN", model.inverse_transform, reduced.where(reduced.group > 0))
    model = LinCFA()
    calls = [(model.transform, X), (model.label_map,), (model.to_map, [1.0])]
    for call, *arguments in [*calls, (LinCFACV().predict, X)]:
        with pytest.raises(Exception, match="not fitted yet"):
            call(*arguments)


# Lazy fields


CHUNKS = [{"time": 50}, {"time": 50, "lat": 3, "lon": 4}, {"time": -1, "lon": 1}, {"lat": 1}]


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("units", UNITS)
def test_lazy_fields(chunks, units):
    dask = pytest.importorskip("dask")
    X, y = field()
    lazy = X.chunk(chunks)
    target = xr.DataArray(y, {"time": times()}).chunk(time=17)
    expected = LinCFA(units=units).fit(X, y)
    model = LinCFA(units=units).fit(lazy, target)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    with dask.config.set(scheduler=refuse):
        reduced = model.transform(lazy)
        back = model.inverse_transform(reduced)
        once = model.inverse_transform(reduced.mean("time"))
    for found in (reduced, back, once):
        assert dask.is_dask_collection(found.data)
    in_memory = expected.transform(X)
    xr.testing.assert_allclose(reduced.compute(), in_memory, rtol=1e-11)
    xr.testing.assert_allclose(back.compute(), expected.inverse_transform(in_memory), rtol=1e-11)
    assert (reduced.attrs, back.attrs) == (in_memory.attrs, X.attrs)
    assert once.dims == ("lat", "lon")
    np.testing.assert_array_equal(LinCFA().fit(X, target).labels_, expected.labels_)
    xr.testing.assert_identical(model.label_map(), expected.label_map())
    late, _ = holed((3, 0, 0))
    with pytest.raises(ValueError, match=r"NaN in column 't2m\[lat=40.0, lon=5.0\]'"):
        model.transform(late.chunk(chunks)).compute()


def test_lazy_datasets():
    dask = pytest.importorskip("dask")
    X, y = dataset()
    lazy = X.copy()
    lazy["t2m"], lazy["rain"] = X.t2m.chunk(time=50, lon=2), X.rain.chunk(time=33)
    expected = LinCFA(sample_dim="time").fit(X, y)
    model = LinCFA(sample_dim="time").fit(lazy, y)  # one variable of which is in memory
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    with dask.config.set(scheduler=refuse):
        reduced = model.transform(lazy)
        back, once = (model.inverse_transform(part) for part in (reduced, reduced[3]))
    assert reduced.chunks[0] == (50, 50, 20)  # those of the first variable
    in_memory = expected.transform(X)
    xr.testing.assert_allclose(reduced.compute(), in_memory, rtol=1e-11)
    assert all(dask.is_dask_collection(part[name].data) for part in (back, once) for name in X)
    xr.testing.assert_allclose(back.compute(), expected.inverse_transform(in_memory))
    xr.testing.assert_allclose(once.compute(), expected.inverse_transform(in_memory[3]))
