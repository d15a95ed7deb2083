"""Xarray fields: the same groups as those of their tables, and results back on the grid."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import lincfa
from lincfa import LinCFA, LinCFACV, compare, explain_pair, order_sensitivity, stability
from lincfa._data._field import axis_of, goes_around
from lincfa._data._places import SUMMARISED
from lincfa._data._training import read_training
from reference import assert_raises

xr = pytest.importorskip("xarray")

from field_data import (
    CONSTANT,
    MISSING,
    STRATEGIES,
    UNITS,
    N,
    dataset,
    field,
    refuse,
    signals,
    table,
    times,
)

ORDERS = [("time", "lat", "lon"), ("lat", "lon", "time"), ("lon", "time", "lat")]
SEARCH = {"strategies": ["sequential", "agglomerative"], "tolerances": [0.5, 2.0], "cv": KFold(3)}
FIRST = "t2m[lat=40.0, lon=5.0]"


def flat(array):
    """The values of cells that are not missing, in the order of the columns."""
    values = array.values.ravel()
    return values[~np.isnan(values)]


def weights():
    return xr.DataArray(np.arange(N) % 3 + 0.5, {"time": times()})


# Reduced features, and back


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_field_and_its_table_give_the_same(strategy, units):
    X, y = field()
    model = LinCFA(strategy=strategy, units=units, tolerance=3.0)
    other = clone(model).fit(table(X), y)
    model.fit(X, y)
    assert 1 < model.n_groups_ < 21
    np.testing.assert_array_equal(model.labels_, other.labels_)
    reduced = model.transform(X)
    assert reduced.dims == ("time", "group")
    np.testing.assert_array_equal(reduced.values, other.transform(table(X)))
    np.testing.assert_array_equal(model.transform(table(X)), reduced.values)
    np.testing.assert_array_equal(
        table(model.inverse_transform(reduced)), other.inverse_transform(reduced.values)
    )


@pytest.mark.parametrize("dims", ORDERS, ids="-".join)
def test_dimensions_in_any_order(dims):
    X, y = field()
    turned = X.transpose(*dims)
    model = LinCFA().fit(turned, y)
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(table(turned), y).labels_)
    for order in ORDERS:  # a transform takes any, too
        xr.testing.assert_identical(model.transform(X.transpose(*order)), model.transform(turned))
    assert model.inverse_transform(model.transform(X)).dims == dims
    assert model.label_map().dims == tuple(dim for dim in dims if dim != "time")


def test_memory_is_not_copied_and_types_stay():
    X, y = field(missing=False)
    for dims in ORDERS[:2]:
        ordered = X.transpose(*dims).copy()
        training = read_training(ordered, y, sample_dim="time")
        assert np.shares_memory(training.values, ordered.values)
    single = X.astype("f4").to_dataset()
    training = read_training(single, y, sample_dim="time")
    assert training.values.dtype == np.float32
    assert np.shares_memory(training.values, single.t2m.values)
    for dtype in ("f4", ">f4"):
        single = X.astype(dtype)
        assert LinCFA().fit(single, y).transform(single).dtype == np.float32
    whole = (X * 100).round().astype("i4")
    model = LinCFA().fit(whole, y)
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(table(whole), y).labels_)
    assert model.transform(whole).dtype == np.float64


def test_reduced_features_and_back_to_the_field():
    X, y = field()
    model = LinCFA(units="original").fit(X, y)
    reduced = model.transform(X[10:20])
    assert (reduced.name, reduced.attrs) == ("reduced", X.attrs)
    own = {"group", "name", "size", *SUMMARISED}
    assert set(reduced.coords) == {"time", "season", "height"} | own
    for name in ("time", "season", "height"):
        xr.testing.assert_identical(reduced[name].variable, X[10:20][name].variable)
    assert reduced["group"].values.tolist() == list(range(model.n_groups_))
    assert reduced["name"].values.tolist() == list(model.get_feature_names_out())
    assert reduced["size"].values.tolist() == [len(group) for group in model.groups_]
    for number in range(model.n_groups_):
        cells = X[10:20].where(model.label_map() == number)
        np.testing.assert_allclose(
            reduced.sel(group=number), cells.mean(["lat", "lon"]), rtol=1e-12
        )
    scaled = LinCFA().fit(X, y).transform(X)
    assert scaled.attrs == {"units": "1", "long_name": "temperature"}
    both, y = dataset()
    both["index"].attrs = {"units": "mm", "source": "models"}
    both = both[["rain", "index"]]
    model = LinCFA(sample_dim="time", units="original").fit(both, y)
    assert model.transform(both).attrs == {"units": "mm"}  # in which the variables agree
    X, y = field()
    model = LinCFA().fit(X, y)
    reduced = model.transform(X)
    back = model.inverse_transform(reduced)
    assert (back.name, back.attrs) == ("t2m", X.attrs)
    xr.testing.assert_identical(back.isnull(), X.isnull())  # with all coordinates
    np.testing.assert_allclose(model.transform(back), reduced, atol=1e-12)
    np.testing.assert_array_equal(model.inverse_transform(reduced.values), table(back))
    without = reduced.drop_vars(["group", "name", "size"]).transpose("group", "time")
    np.testing.assert_array_equal(model.inverse_transform(without), back)
    higher = model.transform(X.assign_coords(height=10.0))
    assert model.inverse_transform(higher).height == 10.0
    renamed = model.inverse_transform(reduced.rename(time="day"))
    assert renamed.dims == ("day", "lat", "lon")
    plain = LinCFA().fit(table(X), y)  # a model of a table takes such an array as a table
    found = plain.inverse_transform(xr.DataArray(reduced.values, dims=("time", "group")))
    np.testing.assert_array_equal(found, plain.inverse_transform(reduced.values))
    assert isinstance(found, np.ndarray)


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("make", [field, dataset])
def test_one_sample_comes_back_as_a_map(make, units):
    X, y = make()
    model = LinCFA(sample_dim="time", units=units).fit(X, y)
    reduced = model.transform(X)
    back = model.inverse_transform(reduced)
    for number in (0, 7):
        xr.testing.assert_allclose(
            model.inverse_transform(reduced[number]), back.isel(time=number), rtol=1e-14
        )
    found = model.inverse_transform(reduced.mean("time"))
    assert found.attrs == X.attrs
    xr.testing.assert_allclose(found, X.mean("time").drop_vars("season", errors="ignore"))
    for name in X if make is dataset else ():
        assert found[name].dims == tuple(dim for dim in X[name].dims if dim != "time")
        assert found[name].attrs == X[name].attrs


# Maps and names


@pytest.mark.parametrize("units", UNITS)
def test_labels_on_the_map(units):
    X, y = field(constant=True)
    with pytest.warns(UserWarning, match=r"constant features.*lat=44.0, lon=10.0"):
        model = LinCFA(units=units).fit(X, y)
    back = model.inverse_transform(model.transform(X))
    assert (back.values[:, *CONSTANT] == 273).all()
    np.testing.assert_array_equal(back.isnull(), X.isnull())
    found = model.label_map()
    assert (found.name, found.dtype, found.dims) == ("group", np.float64, ("lat", "lon"))
    np.testing.assert_array_equal(flat(found), model.labels_)
    assert np.isnan(found.values[tuple(np.transpose(MISSING))]).all()
    assert found.values[CONSTANT] == -1
    for number, group in enumerate(model.groups_):
        for name in model.feature_names_in_[group]:
            lat, lon = (float(part.split("=")[1]) for part in name[4:-1].split(", "))
            assert found.sel(lat=lat, lon=lon) == number
    assert set(found.coords) == {"lat", "lon", "height"}
    assert found.lat.attrs == {"units": "degrees_north"}
    xr.testing.assert_equal(model.to_map(model.labels_), found)


def test_numbers_on_the_map_and_names_of_cells():
    X, y = field()
    model = LinCFA().fit(X, y)
    means = model.to_map(model.mean_, name="climate")
    assert means.name == "climate"
    np.testing.assert_allclose(means.values, X.mean("time").values, rtol=1e-12)
    assert model.to_map(np.zeros(21)).name is None
    for wrong in (np.zeros(24), np.zeros((21, 1)), 3.0):
        assert_raises(r"one number per feature, shape \(21,\)", model.to_map, wrong)
    names = model.feature_names_in_
    assert (names[0], len(names)) == (FIRST, 21)
    assert "t2m[lat=42.0, lon=7.0]" not in names
    assert model.groups_by_name().keys() == set(model.transform(X)["name"].values)
    assert model.evidence_frame()["feature"].isin(names).all()
    assert "t2m 40–42°N 5–6°E  " in str(model.summary())
    unnamed = X.rename(None).drop_vars(["lat", "lon"])
    assert LinCFA().fit(unnamed, y).feature_names_in_[6] == "cell[lat=1, lon=0]"
    taken = xr.Dataset({"t2m": X, "t2m[lat=40.0, lon=6.0]": X[:, 0, 3].drop_vars(["lat", "lon"])})
    names = LinCFA(sample_dim="time").fit(taken, y).feature_names_in_.tolist()
    assert (names[1], names[-1]) == ("t2m[lat=40.0, lon=6.0]'", "t2m[lat=40.0, lon=6.0]")


# Fields of all kinds


def test_datasets_of_different_grids():
    X, y = dataset()
    model = LinCFA(sample_dim="time").fit(X, y)
    parts = [X.t2m.transpose("time", "lat", "lon"), X.rain, X["index"]]
    values = np.hstack([part.values.reshape(N, -1) for part in parts])
    values = values[:, ~np.isnan(values[0])]
    names = ["rain[station=d]", "rain[station=f]", "index"]
    assert model.feature_names_in_[-3:].tolist() == names
    reduced = model.transform(X)
    np.testing.assert_array_equal(reduced.values, model.transform(values))
    assert reduced.attrs == {"units": "1"}
    of = np.array(["t2m"] * 21 + ["rain"] * 5 + ["index"])
    for group, named in zip(model.groups_, reduced["variable"].values, strict=True):
        assert {named} == set(of[group])
    maps = model.label_map()
    assert list(maps) == ["t2m", "rain", "index"]
    assert maps.attrs == X.attrs
    assert (maps.t2m.dims, maps.rain.dims, maps["index"].dims) == (("lat", "lon"), ("station",), ())
    np.testing.assert_array_equal(
        np.concatenate([flat(maps[name]) for name in maps]), model.labels_
    )
    assert maps.rain.elevation.values[2] == 200
    back = model.inverse_transform(reduced)
    assert back.attrs == X.attrs
    for name in X:
        assert back[name].dims == X[name].dims
        assert back[name].attrs == X[name].attrs
        xr.testing.assert_identical(back[name].isnull(), X[name].isnull())
    assert set(back.coords) == set(X.coords)
    assert model.to_map(np.ones(27), name="one").rain.attrs == {"long_name": "one"}
    xr.testing.assert_identical(model.transform(X[["index", "rain", "t2m"]]), reduced)


@pytest.mark.parametrize("connectivity", [None, "grid"])
@pytest.mark.parametrize("name", ["t2m", "rain", "index"])
def test_a_variable_that_is_missing_throughout(tmp_path, name, connectivity):
    """It has no columns, and no neighbours; the others are as they are without it."""
    X, y = dataset()
    model = LinCFA(sample_dim="time", tolerance=3.0, connectivity=connectivity)
    names = model.fit(X.drop_vars(name), y).feature_names_in_
    expected = model.labels_
    X[name] = X[name] * np.nan
    model.fit(X, y)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.feature_names_in_, names)
    model.save(tmp_path / "model.json")
    for one in (model, lincfa.load(tmp_path / "model.json")):
        assert one.label_map()[name].isnull().all()
        back = one.inverse_transform(one.transform(X))
        xr.testing.assert_identical(back.isnull(), X.isnull())


def test_coordinates_of_two_dimensions():
    X, y = field()
    lat, lon = np.meshgrid(X.lat + 0.1, X.lon, indexing="ij")
    curved = X.drop_vars(["lat", "lon"]).rename(lat="y", lon="x")
    curved = curved.assign_coords(lat=(("y", "x"), lat), lon=(("y", "x"), lon))
    model = LinCFA().fit(curved, y)
    assert model.feature_names_in_[1] == "t2m[y=0, x=1]"
    for found in (model.label_map(), model.inverse_transform(model.transform(curved))):
        xr.testing.assert_identical(found.lat.variable, curved.lat.variable)
    assert "lat" not in model.transform(curved).coords
    moved = curved.assign_coords(lat=curved.lat + 0.01 * (curved.x == 3) * (curved.y == 1))
    assert_raises(r"'lat' is not that of the fit.*\(position 1, 3\)", model.transform, moved)
    model.transform(curved.assign_coords(lat=curved.lat.astype("f4")))  # rounded, but the same
    model.transform(curved.assign_coords(lat=curved.lat.transpose()))


def test_stations_and_tables():
    base, y, rng = signals()
    values = np.repeat(base[:, 0], 3, axis=1) + 0.3 * rng.normal(size=(N, 6))
    X = xr.DataArray(values, {"time": times(), "station": list("abcdef")})
    model = LinCFA().fit(X, y)
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(values, y).labels_)
    np.testing.assert_array_equal(model.label_map().sel(station="d"), model.labels_[3])
    assert model.feature_names_in_[0] == "cell[station=a]"
    plain = LinCFA().fit(values, y)  # of a table; a DataArray of two dimensions is one, too
    assert isinstance(plain.transform(X), np.ndarray)


@pytest.mark.parametrize("search", [False, True])
def test_models_of_tables_take_no_fields(search):
    X, y = field()
    model = (LinCFACV(**SEARCH) if search else LinCFA()).fit(table(X), y)
    wrong = [X, X.to_dataset(), xr.Dataset({"t2m": (("time", "cell"), table(X))})]
    for given in wrong:
        for call in [model.transform, *([model.predict] if search else [])]:
            assert_raises("fitted to a table, and this is an xarray field", call, given)


def test_stacked_cells_and_samples():
    X, y = field()
    stacked = X.stack(cell=("lat", "lon"))
    model = LinCFA().fit(stacked, y)
    assert model.feature_names_in_[0] == FIRST
    expected = LinCFA().fit(X, y).label_map()
    xr.testing.assert_identical(model.label_map().unstack("cell"), expected)
    repeated = xr.concat([stacked, stacked[:, :1] + y[:, None]], "cell")
    assert LinCFA().fit(repeated, y).feature_names_in_[-1] == "t2m[cell=24]"
    dates = X.assign_coords(year=("time", np.arange(N) // 12), month=("time", np.arange(N) % 12))
    dates = dates.set_index(time=["year", "month"])
    model = LinCFA().fit(dates, y)
    reduced = model.transform(dates)
    np.testing.assert_array_equal(reduced.sel(year=3, month=2), reduced.values[38])
    assert model.inverse_transform(reduced).unstack("time").sizes["month"] == 12


def test_dates_of_other_calendars():
    pytest.importorskip("cftime")
    X, y = field()
    dates = xr.date_range("2001-01-01", periods=N, calendar="360_day", use_cftime=True)
    X = X.assign_coords(time=dates)
    model = LinCFA().fit(X, xr.DataArray(y, {"time": dates}))
    np.testing.assert_array_equal(model.transform(X).time.values, dates.values)
    X[64, 0, 0] = np.nan
    assert_raises(r"lon=5.0\], at time=2001-03-05 00:00:00", model.transform, X)


# The model as an estimator


def test_copies_pipelines_and_containers():
    X, y = field()
    model = LinCFA(sample_dim="time", strategy="agglomerative").fit(X, y)
    copies = pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model.cut(tolerance=1.0)
    for other in copies:
        xr.testing.assert_identical(other.label_map(), model.label_map())
        xr.testing.assert_identical(other.transform(X), model.transform(X))
    assert clone(model).sample_dim == "time"
    assert not hasattr(clone(model), "field_")
    pipe = make_pipeline(LinCFA(), LinearRegression()).fit(X, y)
    plain = make_pipeline(LinCFA(), LinearRegression()).fit(table(X), y)
    np.testing.assert_array_equal(pipe.predict(X), plain.predict(table(X)))
    assert pipe.score(X, y) == plain.score(table(X), y)
    model = LinCFA().set_output(transform="pandas")
    found = model.fit_transform(X, y, sample_weight=weights())
    assert model.n_samples_ == weights().sum()
    xr.testing.assert_identical(found, LinCFA().fit(X, y, weights()).transform(X))
    assert isinstance(model.transform(X), xr.DataArray)
    assert list(model.transform(table(X)).columns) == list(model.get_feature_names_out())


def test_chunk_by_chunk():
    X, y = field()
    model = LinCFA(sample_dim="time", noise="full")
    for rows in (slice(0, 3), slice(3, 10), slice(10, 60), slice(60, N)):
        model.partial_fit(X[rows], y[rows])
        if rows.stop == 10:
            with pytest.raises(Exception, match="full"):  # too few rows, but the field is known
                model.label_map()
    expected = LinCFA(noise="full").fit(X, y)
    xr.testing.assert_identical(model.label_map(), expected.label_map())
    with pytest.raises(ValueError, match="'lat' is not that of the fit"):
        model.partial_fit(X.assign_coords(lat=X.lat + 1), y)
    with pytest.raises(ValueError, match="A cell of the field is missing but had values"):
        model.partial_fit(X.where(X.lat + X.lon > 45), y)
    assert model.n_samples_ == N
    model.partial_fit(X.fillna(0.0)[:10], y[:10])  # what was missing may hold anything
    assert model.n_samples_ == N + 10


@pytest.mark.parametrize("call", [LinCFA.fit, LinCFA.partial_fit, LinCFACV.fit])
def test_a_later_table_forgets_the_field(call):
    X, y = field()
    model = LinCFACV(**SEARCH) if call is LinCFACV.fit else LinCFA()
    model.fit(X, y)
    call(model, table(X), y)
    for one in (model, getattr(model, "reducer_", model)):
        assert not hasattr(one, "field_")
        assert not hasattr(one, "feature_names_in_")
        assert isinstance(one.transform(table(X)), np.ndarray)
        assert_raises("fitted to a table", one.label_map)


# The search, and what judges or explains groups


def test_a_search():
    X, y = field()
    model = LinCFACV(sample_dim="time", **SEARCH).fit(X, y, sample_weight=weights())
    plain = LinCFACV(**SEARCH).fit(table(X), y, sample_weight=weights().values)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    predicted = model.predict(X)
    assert (predicted.name, predicted.dims, predicted.attrs) == ("prediction", ("time",), {})
    assert set(predicted.coords) == {"time", "season", "height"}
    np.testing.assert_array_equal(predicted.values, plain.predict(table(X)))
    np.testing.assert_array_equal(model.predict(table(X)), predicted.values)
    target = xr.DataArray(y, {"time": times()})
    assert model.score(X, y) == model.score(X, target) == plain.score(table(X), y)
    assert model.score(X, y, weights()) == plain.score(table(X), y, weights().values)
    with pytest.raises(ValueError, match="The samples of the target y are not those of the field"):
        model.score(X, target[::-1])
    assert model.reducer_.sample_dim == "time"
    xr.testing.assert_identical(model.label_map(), model.reducer_.label_map())
    xr.testing.assert_identical(model.transform(X), model.reducer_.transform(X))
    back = model.inverse_transform(model.transform(X))
    xr.testing.assert_identical(back.isnull(), X.isnull())
    # scikit-learn takes samples along the first dimension, which must be theirs.
    scores = (cross_val_score(model, given, y, cv=KFold(3)) for given in (X, table(X)))
    np.testing.assert_allclose(*scores, rtol=1e-12)


def test_a_lazy_search():
    dask = pytest.importorskip("dask")
    X, y = dataset()
    lazy = X.chunk(time=50).assign_coords(elevation=X.elevation)
    model = LinCFACV(sample_dim="time", **SEARCH).fit(lazy, y)
    plain = LinCFACV(sample_dim="time", **SEARCH).fit(X, y)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    with dask.config.set(scheduler=refuse):
        predicted = model.predict(lazy)
    assert dask.is_dask_collection(predicted.data)
    xr.testing.assert_allclose(predicted.compute(), plain.predict(X))
    target = xr.DataArray(y, {"time": times()}).chunk(time=11)
    assert model.score(lazy, target) == pytest.approx(plain.score(X, y))


def test_stability_order_pairs_and_comparison():
    X, y = field()
    model = LinCFA(sample_dim="time", tolerance=2.0)
    options = {"model": model, "block_length": 2, "random_state": 0}  # the field has dates
    found, plain = (stability(given, y, 8, **options) for given in (X, table(X)))
    np.testing.assert_array_equal(found.resampled, plain.resampled)
    on_map = found.to_map()
    assert (on_map.name, on_map.attrs["units"]) == ("stability", "1")
    np.testing.assert_array_equal(on_map.values[~np.isnan(X.values[0])], found.features)
    assert np.isnan(on_map.values[np.isnan(X.values[0])]).all()
    assert found.feature_names[0] == FIRST
    assert_raises("a map needs an xarray field", plain.to_map)
    whole, y = dataset()
    maps = stability(whole, xr.DataArray(y, {"time": times()}), 2, random_state=0).to_map()
    assert list(maps) == list(whole)
    X, y = field()
    name = "t2m[lat=40.0, lon=6.0]"
    found, plain = (order_sensitivity(given, y, 3, random_state=0) for given in (X, table(X)))
    np.testing.assert_array_equal(found.agreement, plain.agreement)
    options = {"methods": ["all features", "LinCFA"], "ordered": True, "verbose": False}
    found, plain = (compare(given, y, **options) for given in (X, table(X)))
    np.testing.assert_array_equal(found.fold_r2, plain.fold_r2)
    pair = explain_pair(X, y, name, 8)
    assert pair.names == (name, "t2m[lat=42.0, lon=8.0]")  # one cell before it is missing
    assert pair.f == explain_pair(table(X), y, 1, 8).f
    assert explain_pair(X, y, name, 8, noise="full").f != pair.f
    square = X[:6]
    assert_raises("sample_dim", explain_pair, square, y[:6], 0, 1)
    assert explain_pair(square, y[:6], 0, 1, sample_dim="time").n_samples == 6
    with pytest.raises(ValueError, match=r"no column 't2m\[lat=40.0, lon=6.5\]'; did you mean"):
        explain_pair(X, y, "t2m[lat=40.0, lon=6.5]", 0)
    X[5, 0, 1] = np.nan
    assert_raises(r"NaN in column 't2m\[lat=40.0, lon=6.0\]'", explain_pair, X, y, name, 0)


@pytest.mark.parametrize("make", [field, dataset])
def test_reports(tmp_path, make):
    X, y = make()
    halves = {"X": X.isel(time=slice(60)), "y": y[:60]}
    halves |= {"X_test": X.isel(time=slice(60, None)), "y_test": y[60:]}
    for model in (LinCFA(sample_dim="time"), LinCFACV(sample_dim="time", **SEARCH)):
        model.fit(halves["X"], halves["y"])
        model.report(tmp_path / "field.json", **halves)
        assert FIRST in (tmp_path / "field.json").read_text()
        wrong = halves | {"X": halves["X"].isel(lat=slice(2))}
        with pytest.raises(ValueError, match="cells of the fit, 4 along 'lat', but has 2"):
            model.report(tmp_path / "field.json", **wrong)


def test_samples_that_a_report_refuses(tmp_path):
    X, y = field()
    target = xr.DataArray(y, {"time": times()})
    model = LinCFA().fit(X[:60], target[:60])
    path = tmp_path / "field.json"
    test = {"X_test": X[60:], "y_test": target[60:]}
    model.report(path, X=X[:60], y=target[:60], **test)
    path.unlink()
    with pytest.raises(ValueError, match="sample 0 is time=2001-01-01 in the field and time=2001-"):
        model.report(path, X=X[:60], y=target[59::-1])
    with pytest.raises(ValueError, match="sample 0 is time=2001-03-02 in the field"):
        model.report(path, **test | {"y_test": target[:59:-1]})
    gap = X[60:].where(X.lat + X.lon > 45)
    with pytest.raises(ValueError, match=r"missing but had values in the fit: t2m\[lat=40.0, "):
        model.report(path, **test | {"X_test": gap})
    X[70, 0, 0] = np.inf
    with pytest.raises(ValueError, match=r"is infinite: .*at time=2001-03-12"):
        model.report(path, **test | {"X_test": X[60:]})
    assert not path.exists()


def test_correlations_of_a_field():
    plotting = pytest.importorskip("lincfa.plotting")
    pytest.importorskip("matplotlib")
    X, y = field()
    model = LinCFA().fit(X, y)
    shown, other = (
        plotting.plot_correlation(model, given).get_images()[0].get_array()
        for given in (X, table(X))
    )
    np.testing.assert_array_equal(shown, other)


def test_longitudes_are_recognised():
    assert axis_of("nav_lon", {}) == "lon"
    assert axis_of("x", {"units": "degrees_north"}) == "lat"
    assert axis_of("x", {}) is None
    assert goes_around(np.array([180.0, 240, 300, 0, 60, 120]))
    assert not goes_around(np.array([0.0, 60, 120]))
