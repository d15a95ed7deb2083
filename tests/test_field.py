"""Fields of xarray in and out: the same groups as of their tables, and back on the grid."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from lincfa import LinCFA

xr = pytest.importorskip("xarray")

from field_data import CONSTANT, MISSING, N, dataset, field, signals, table, times

STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]
ORDERS = [("time", "lat", "lon"), ("lat", "lon", "time"), ("lon", "time", "lat")]


def flat(array):
    """The values of cells that are not missing, in the order of the columns."""
    values = array.values.ravel()
    return values[~np.isnan(values)]


@pytest.mark.parametrize("units", ["standardized", "original"])
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
    back = model.inverse_transform(model.transform(X))
    assert back.dims == dims
    assert model.label_map().dims == tuple(dim for dim in dims if dim != "time")


def test_memory_is_not_copied():
    X, y = field(missing=False)
    model = LinCFA(sample_dim="time")
    for dims in (("time", "lat", "lon"), ("lat", "lon", "time")):
        ordered = X.transpose(*dims).copy()
        with model._opened(ordered, y, None) as (values, *_):
            assert np.shares_memory(values, ordered.values)
    single = X.astype("f4").to_dataset()
    with model._opened(single, y, None) as (values, *_):
        assert values.dtype == np.float32
        assert np.shares_memory(values, single.t2m.values)


def test_labels_on_the_map():
    X, y = field(constant=True)
    with pytest.warns(UserWarning, match=r"constant features.*lat=44.0, lon=10.0"):
        model = LinCFA().fit(X, y)
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


def test_numbers_on_the_map():
    X, y = field()
    model = LinCFA().fit(X, y)
    means = model.to_map(model.mean_, name="climate")
    assert means.name == "climate"
    expected = X.mean("time", keep_attrs=False)
    np.testing.assert_allclose(means.values, expected.values, rtol=1e-12)
    assert model.to_map(np.zeros(21)).name is None
    for wrong in (np.zeros(24), np.zeros((21, 1)), 3.0):
        with pytest.raises(ValueError, match=r"one number per feature, shape \(21,\)"):
            model.to_map(wrong)


def test_names_of_cells():
    X, y = field()
    names = LinCFA().fit(X, y).feature_names_in_
    assert names[0] == "t2m[lat=40.0, lon=5.0]"
    assert len(names) == 21
    assert "t2m[lat=42.0, lon=7.0]" not in names
    unnamed = X.rename(None).drop_vars(["lat", "lon"])
    assert LinCFA().fit(unnamed, y).feature_names_in_[6] == "cell[lat=1, lon=0]"
    taken = xr.Dataset({"t2m": X, "t2m[lat=40.0, lon=6.0]": X[:, 0, 3].drop_vars(["lat", "lon"])})
    names = LinCFA(sample_dim="time").fit(taken, y).feature_names_in_.tolist()
    assert (names[1], names[-1]) == ("t2m[lat=40.0, lon=6.0]'", "t2m[lat=40.0, lon=6.0]")
    model = LinCFA().fit(X, y)
    names = model.feature_names_in_
    assert model.groups_by_name().keys() == set(model.transform(X)["name"].values)
    assert model.evidence_frame()["feature"].isin(names).all()
    assert "t2m[lat=40.0" in str(model.summary())


def test_coordinates_and_attributes_of_reduced_features():
    X, y = field()
    model = LinCFA(units="original").fit(X, y)
    reduced = model.transform(X[10:20])
    assert reduced.name == "reduced"
    assert reduced.attrs == X.attrs
    assert set(reduced.coords) == {"time", "season", "height", "group", "name", "size"}
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


def test_back_to_the_field():
    X, y = field()
    model = LinCFA().fit(X, y)
    back = model.inverse_transform(model.transform(X))
    assert (back.name, back.attrs) == ("t2m", X.attrs)
    xr.testing.assert_identical(back.isnull(), X.isnull())  # with all coordinates
    np.testing.assert_allclose(model.transform(back), model.transform(X), atol=1e-12)
    average = model.inverse_transform(model.transform(X).mean("time"))
    assert average.dims == ("lat", "lon")
    np.testing.assert_allclose(average, X.mean("time"), atol=1e-10)
    plain = model.inverse_transform(model.transform(X).values)
    np.testing.assert_array_equal(plain, table(back))
    without = model.transform(X).drop_vars(["group", "name", "size"]).transpose("group", "time")
    np.testing.assert_array_equal(model.inverse_transform(without), back)
    higher = model.transform(X.assign_coords(height=10.0))
    assert model.inverse_transform(higher).height == 10.0
    renamed = model.inverse_transform(model.transform(X).rename(time="day"))
    assert renamed.dims == ("day", "lat", "lon")


def test_wrong_reduced_features():
    X, y = field()
    model = LinCFA().fit(X, y)
    reduced = model.transform(X)
    for wrong in (reduced[:, ::-1], reduced[:, 1:], reduced.drop_vars("group")[:, 1:]):
        with pytest.raises(ValueError, match="groups should be those of the model"):
            model.inverse_transform(wrong)
    for wrong in (X, reduced.to_dataset(), reduced[0, 0], reduced.expand_dims("member")):
        with pytest.raises(ValueError, match="must be a DataArray along 'group'"):
            model.inverse_transform(wrong)
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(reduced.where(reduced.group > 0))


def test_datasets_of_different_grids():
    X, y = dataset()
    model = LinCFA(sample_dim="time").fit(X, y)
    parts = [X.t2m.transpose("time", "lat", "lon"), X.rain, X["index"]]
    values = np.hstack([part.values.reshape(N, -1) for part in parts])
    values = values[:, ~np.isnan(values[0])]
    np.testing.assert_array_equal(model.field_.variable_of_column, [0] * 21 + [1] * 5 + [2])
    assert model.feature_names_in_[21:].tolist()[-3:] == [
        "rain[station=d]", "rain[station=f]", "index",
    ]  # fmt: skip
    reduced = model.transform(X)
    np.testing.assert_array_equal(reduced.values, model.transform(values))
    assert reduced.attrs == {"units": "1"}
    of = np.array(["t2m"] * 21 + ["rain"] * 5 + ["index"])
    for group, named in zip(model.groups_, reduced["variable"].values, strict=True):
        assert set(named.split(", ")) == set(of[group])
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


def test_attributes_in_which_variables_agree():
    X, y = dataset()
    X["index"].attrs = {"units": "mm", "source": "models"}
    X = X[["rain", "index"]]
    model = LinCFA(sample_dim="time", units="original").fit(X, y)
    assert model.transform(X).attrs == {"units": "mm"}


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
    with pytest.raises(ValueError, match=r"'lat' is not that of the fit.*\(place 1, 3\)"):
        model.transform(moved)
    model.transform(curved.assign_coords(lat=curved.lat.astype("f4")))  # rounded, but the same
    model.transform(curved.assign_coords(lat=curved.lat.transpose()))


def test_stations_and_tables():
    base, y, rng = signals()
    values = np.repeat(base[:, 0], 3, axis=1) + 0.3 * rng.normal(size=(N, 6))
    X = xr.DataArray(values, {"time": times(), "station": list("abcdef")})
    model = LinCFA().fit(X, y)
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(values, y).labels_)
    np.testing.assert_array_equal(model.label_map().sel(station="d"), model.labels_[3])
    assert list(model.feature_names_in_[:1]) == ["cell[station=a]"]
    plain = LinCFA().fit(values, y)  # of a table; a DataArray of two dimensions is one, too
    assert isinstance(plain.transform(X), np.ndarray)
    assert not hasattr(plain, "field_")
    with pytest.raises(ValueError, match="fitted to a table"):
        plain.label_map()
    with pytest.raises(ValueError, match="fitted to a table"):
        plain.transform(field()[0])
    assert not hasattr(model.fit(values, y), "field_")


def test_stacked_cells_and_samples():
    X, y = field()
    stacked = X.stack(cell=("lat", "lon"))
    model = LinCFA().fit(stacked, y)
    flat_map = LinCFA().fit(X, y).label_map()
    assert model.feature_names_in_[0] == "t2m[lat=40.0, lon=5.0]"
    xr.testing.assert_identical(model.label_map().unstack("cell"), flat_map)
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
    with pytest.raises(ValueError, match=r"lon=5.0\], at time=2001-03-05 00:00:00"):
        model.transform(X)


def test_types_of_numbers():
    X, y = field(missing=False)
    assert LinCFA().fit(X.astype("f4"), y).transform(X.astype("f4")).dtype == np.float32
    swapped = X.astype(">f4")
    assert LinCFA().fit(swapped, y).transform(swapped).dtype == np.float32
    whole = (X * 100).round().astype("i4")
    model = LinCFA().fit(whole, y)
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(table(whole), y).labels_)
    assert model.transform(whole).dtype == np.float64


def test_output_containers_are_for_tables():
    X, y = field()
    model = LinCFA().set_output(transform="pandas")
    assert isinstance(model.fit_transform(X, y), xr.DataArray)
    assert isinstance(model.transform(X), xr.DataArray)
    assert list(model.transform(table(X)).columns) == list(model.get_feature_names_out())


def test_copies_of_a_model():
    X, y = field()
    model = LinCFA(sample_dim="time", strategy="agglomerative").fit(X, y)
    for other in (
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        model.cut(tolerance=1.0),
    ):
        xr.testing.assert_identical(other.label_map(), model.label_map())
        xr.testing.assert_identical(other.transform(X), model.transform(X))
    assert clone(model).sample_dim == "time"
    assert not hasattr(clone(model), "field_")


def test_pipelines():
    X, y = field()
    pipe = make_pipeline(LinCFA(), LinearRegression()).fit(X, y)
    plain = make_pipeline(LinCFA(), LinearRegression()).fit(table(X), y)
    np.testing.assert_array_equal(pipe.predict(X), plain.predict(table(X)))
    assert pipe.score(X, y) == plain.score(table(X), y)


def test_chunk_by_chunk():
    X, y = field()
    model = LinCFA(sample_dim="time")
    for start in (0, 3, 60):
        model.partial_fit(
            X[start : {0: 3, 3: 60, 60: N}[start]], y[start : {0: 3, 3: 60, 60: N}[start]]
        )
    xr.testing.assert_identical(model.label_map(), LinCFA().fit(X, y).label_map())
    with pytest.raises(ValueError, match="'lat' is not that of the fit"):
        model.partial_fit(X.assign_coords(lat=X.lat + 1), y)
    with pytest.raises(ValueError, match="A cell of the field is missing that held values"):
        model.partial_fit(X.where(X.lat + X.lon > 45), y)
    assert model.n_samples_ == N
    model.partial_fit(X.fillna(0.0)[:10], y[:10])  # what was missing may hold anything
    assert model.n_samples_ == N + 10
