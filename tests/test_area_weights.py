"""Weights of features: arrays, fields of weights, and the areas of cells."""

import dask
import numpy as np
import pytest
import xarray as xr

from field_data import CONSTANT, dataset, field, refuse
from lincfa import LinCFA
from lincfa._data._feature_weights import read_feature_weights
from lincfa._data._training import read_training
from reference import assert_raises


def weights_of(X, y, weights):
    return read_feature_weights(weights, read_training(X, y, sample_dim="time").columns)


def cosines(degrees):
    return np.cos(np.deg2rad(degrees))


def test_area_along_a_latitude():
    X, y = field()
    present = X.notnull().any("time").values
    expected = np.broadcast_to(cosines(X.lat.values)[:, None], present.shape)[present]
    np.testing.assert_array_equal(weights_of(X, y, "area"), expected)
    for ordered in (X.transpose("lon", "time", "lat"), X.rename(lat="y")):
        found = weights_of(ordered, y, "area")
        np.testing.assert_array_equal(np.sort(found), np.sort(expected))
    np.testing.assert_array_equal(weights_of(X.isel(lat=1), y, "area"), np.ones(5))
    radians = X.assign_coords(lat=("lat", np.deg2rad(X.lat.values), {"units": "radians"}))
    np.testing.assert_allclose(weights_of(radians, y, "area"), expected, rtol=1e-14)


def test_area_of_curvilinear_grids_stations_and_stacked_cells():
    X, y = field()
    present = X.notnull().any("time").values
    grid = X.lat.values[:, None] + np.linspace(0, 3, 6)
    renamed = X.rename(lat="y", lon="x").drop_vars(["y", "x"])
    for dims, degrees in ((("y", "x"), grid), (("x", "y"), grid.T)):
        curved = renamed.assign_coords(nav_lat=(dims, degrees), y=("y", np.arange(4.0)))
        np.testing.assert_array_equal(weights_of(curved, y, "area"), cosines(grid)[present])
    # Indices along an axis that is called lat are not the latitudes of its cells.
    curved = X.assign_coords(lat=np.arange(4), latitude=(("lat", "lon"), grid))
    np.testing.assert_array_equal(weights_of(curved, y, "area"), cosines(grid)[present])
    stacked = X.stack(station=("lat", "lon"))
    expected = cosines(np.repeat(X.lat.values, 6))[present.ravel()]
    np.testing.assert_array_equal(weights_of(stacked, y, "area"), expected)
    stations = stacked.reset_index("station")
    np.testing.assert_array_equal(weights_of(stations, y, "area"), expected)


def test_area_of_several_variables():
    X, y = dataset()
    X = X.assign_coords(latitude=("station", np.linspace(-60, 60, 6)))
    expected = [weights_of(X.t2m, y, "area"), cosines(np.linspace(-60, 60, 6))[[0, 1, 2, 3, 5]]]
    np.testing.assert_array_equal(weights_of(X, y, "area"), [*np.concatenate(expected), 1.0])
    without = X.drop_vars("latitude")
    assert_raises("variable 'rain' has no coordinate .*latitude", weights_of, without, y, "area")


def area_means(X, model):
    """What xarray makes of each group of cells, on a map of its own."""
    labels = model.label_map()
    weights = np.cos(np.deg2rad(X.lat))
    means = [
        X.where(labels == k).weighted(weights).mean(("lat", "lon")) for k in range(model.n_groups_)
    ]
    return np.transpose([mean.values for mean in means])


def test_poles_count_as_in_a_mean_weighted_by_the_cosine():
    X, y = field(missing=False)
    X = X.assign_coords(lat=[-90.0, -45.0, 45.0, np.float32(90)])
    weights = np.cos(np.deg2rad(X.lat))
    found = weights_of(X, y, "area").reshape(4, 6)
    np.testing.assert_array_equal(found[:, 0], weights)
    assert (found > 0).all()
    for strategy in ("sequential", "centroid", "agglomerative", "joint"):
        options = {"strategy": strategy, "tolerance": 50.0, "units": "original"}
        model = LinCFA(feature_weights="area", **options).fit(X, y)
        np.testing.assert_allclose(model.transform(X), area_means(X, model), rtol=1e-12)


def test_weights_on_the_grid():
    X, y = field()
    present = X.notnull().any("time").values
    given = xr.DataArray(np.random.default_rng(0).uniform(1, 2, (4, 6)), dims=("lat", "lon"))
    for weights in (given, given.T, given.values, given.values.ravel(), given.values[present]):
        found = weights_of(X, y, weights)
        np.testing.assert_array_equal(found, given.values[present])
    along = np.cos(np.deg2rad(X.lat))
    np.testing.assert_array_equal(weights_of(X, y, along), weights_of(X, y, "area"))
    turned = np.cos(np.deg2rad(X.lat))[::-1]
    assert_raises("other coordinates along 'lat' than the field", weights_of, X, y, turned)
    for wrong in (given[:3], given.rename(lon="x"), X.isel(time=slice(4))):
        assert_raises("feature_weights have . values along '", weights_of, X, y, wrong)
    given[0, 1] = np.nan
    assert_raises(r"weight of column 't2m\[lat=40.0, lon=6.0\]' is nan", weights_of, X, y, given)


def test_latitudes_that_are_refused():
    X, y = field()
    plain = X.rename(lat="y").drop_vars("y")
    assert_raises('no coordinate with standard_name "latitude"', weights_of, plain, y, "area")
    far = X.assign_coords(lat=X.lat + 60)
    assert_raises(r"from -90 to 90 .*lat=100.0, lon=5.0\]' is 100", weights_of, far, y, "area")
    grid = np.where(np.arange(24).reshape(4, 6) == 7, np.nan, 45.0)
    unknown = X.assign_coords(latitude=(("lat", "lon"), grid))
    assert_raises(r"lat=42.0, lon=6.0\]' is nan", weights_of, unknown, y, "area")


@pytest.mark.parametrize("lazy", [False, True])
def test_a_group_in_original_units_is_the_area_mean(lazy):
    X, y = field(constant=True)
    X = X.assign_coords(lat=[20.0, 40.0, 60.0, 80.0])
    model = LinCFA(
        units="original", feature_weights="area", connectivity="grid", tolerance=9.0
    ).set_params(sample_dim="time")
    with pytest.warns(UserWarning, match="constant"):
        model.fit(X, y)
    assert model.label_map().values[CONSTANT] == -1
    assert max(map(len, model.groups_)) > 3
    given = X.chunk(time=50, lat=2) if lazy else X
    with dask.config.set(scheduler=refuse):
        reduced = model.transform(given)
    np.testing.assert_allclose(reduced.values, area_means(X, model), rtol=1e-12)
    back = model.inverse_transform(reduced)
    np.testing.assert_allclose(model.transform(back).values, reduced.values, rtol=1e-12)
    # With gaps: the mean of the cells that have a value.
    gaps = np.random.default_rng(0).random(X.shape) < 0.3
    assert_raises("missing but had values in the fit", model.transform, X.where(~gaps))
    gaps[11] = True
    holes = X.where(~gaps)
    model.missing = "pairwise"
    given = holes.chunk(time=50, lat=2) if lazy else holes
    reduced = model.transform(given)
    assert np.isnan(reduced[11]).all()
    np.testing.assert_allclose(reduced.values, area_means(holes, model), rtol=1e-12)
    back = model.inverse_transform(reduced)
    np.testing.assert_array_equal(back[11].notnull().values.nonzero(), [[2], [5]])  # constant
    given = holes.where(holes.time != holes.time[3], np.inf)
    said = "infinity" if lazy else r"cells of the field are infinite: .*time=2001-01-04"
    given = given.chunk(time=50, lat=2) if lazy else given
    assert_raises(said, lambda: model.transform(given).compute())


def test_maps_of_flipped_cells():
    X, y = field()
    X.attrs["valid_min"] = 0.0
    model = LinCFA(units="original", tolerance=9.0, min_correlation=0.3, sample_dim="time")
    assert model.fit(X, y).transform(X).attrs == X.attrs
    X[:, 1:3, 2:4] *= -1
    reduced = model.set_params(signed=True).fit_transform(X, y)
    assert reduced.attrs == {"units": "K", "long_name": "temperature"}
    assert "t2m 44–46°N 8–10°E (5 of 6 flipped)" in reduced["name"].values
    coef = model.to_map(model.expand_coefficients(np.ones(model.n_groups_))[0])
    np.testing.assert_array_equal(coef < 0, model.to_map(model.signs_) < 0)
    assert (coef < 0).any()
    back = model.transform(model.inverse_transform(reduced))
    np.testing.assert_allclose(back.values, reduced.values, rtol=1e-12)
