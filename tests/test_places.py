"""Places: extents, centres, areas and names of the groups of a field."""

from itertools import combinations

import numpy as np
import pytest

import lincfa
from lincfa import LinCFA, LinCFACV
from lincfa._data._places import cell_areas, find_places, place_names
from lincfa._model._display import square_kilometres
from lincfa.structure import EARTH_RADIUS_KM

xr = pytest.importorskip("xarray")

from field_data import N, dataset, field, signals, times
from lincfa._data._field import describe_field

GLOBE = 4 * np.pi * EARTH_RADIUS_KM**2
EVERY_10 = {"lat": np.arange(-85.0, 90, 10), "lon": np.arange(0.0, 360, 10)}


def described(name="t2m", **coords):
    """A field of these coordinates, and a grid of the numbers of its columns."""
    shape = [len(values) for values in coords.values()]
    array = xr.DataArray(np.zeros((2, *shape)), dims=("time", *coords), coords=coords, name=name)
    return describe_field(array, "time"), xr.DataArray(
        np.arange(np.prod(shape)).reshape(shape), coords
    )


def group_of(numbers, **where):
    """The columns at some coordinates, in order."""
    return np.sort(numbers.sel(where).values.ravel())


def names_of(field, groups, flipped=()):
    signs = np.ones(len(field.names), dtype=np.int8)
    signs[list(flipped)] = -1
    return place_names(field, groups, signs)


# Extents


def shortest_arc(longitudes):
    """Ends of the shortest arc that holds all longitudes, by trying each as its western end."""
    arcs = [(max((lon - west) % 360 for lon in longitudes), west) for west in longitudes]
    return min(length for length, _ in arcs), arcs


@pytest.mark.parametrize("start", [0.0, -180.0, 100.5])
def test_extents_are_those_of_brute_force(start):
    rng = np.random.default_rng(0)
    found, numbers = described(lat=np.linspace(80, -80, 9), lon=start + np.arange(0, 360, 7.5))
    lat, lon = (grid.ravel() for grid in np.meshgrid(numbers.lat, numbers.lon, indexing="ij"))
    size = 200
    columns = rng.permutation(numbers.size)
    groups = [
        np.sort(part) for part in np.split(columns, np.sort(rng.choice(432, size - 1, False)))
    ]
    groups = [group for group in groups if group.size]
    places = find_places(found, groups)
    for k, group in enumerate(groups):
        assert (places.south[k], places.north[k]) == (lat[group].min(), lat[group].max())
        length, arcs = shortest_arc(lon[group].tolist())
        west, east = places.west[k], places.east[k]
        assert -180 < west <= 180
        assert -180 < east <= 180
        assert (east - west) % 360 == length
        assert (length, west % 360) in [(arc, start % 360) for arc, start in arcs]


@pytest.mark.parametrize(
    ("rows", "columns", "expected"),
    [
        ((-5, 5), (190, 240), "5°S–5°N 170–120°W"),
        ((25, 35), (0, 30), "25–35°N 0–30°E"),
        ((-35, -25), (330, 360), "35–25°S 30°W–0°"),
        ((45, 45), (170, 200), "45°N 170°E–160°W"),
        ((45, 55), (150, 180), "45–55°N 150–180°E"),
        ((45, 55), (180, 200), "45–55°N 180–160°W"),
        ((45, 45), (180, 180), "45°N 180°"),
        ((-85, -85), (0, 0), "85°S 0°"),
        ((65, 85), (0, 350), "65–85°N all longitudes"),
        ((5, 5), (30, 370), "5°N 30°E east to 10°E"),  # the long way round
        ((5, 5), (-10, 10), "5°N 10°W–10°E"),
    ],
)
@pytest.mark.parametrize("west", [False, True], ids=["0 to 360", "-180 to 180"])
@pytest.mark.parametrize("down", [False, True], ids=["northwards", "southwards"])
def test_names_of_places(rows, columns, expected, west, down):
    coords = dict(EVERY_10)
    if west:
        coords["lon"] = np.sort(-((180 - coords["lon"]) % 360 - 180))
    if down:
        coords["lat"] = coords["lat"][::-1]
    found, numbers = described(**coords)
    inside = (numbers.lon - columns[0]) % 360 <= columns[1] - columns[0]
    inside = inside & (numbers.lat >= rows[0]) & (numbers.lat <= rows[1])
    group = numbers.values[inside.transpose("lat", "lon").values]
    assert names_of(found, [group]) == [f"t2m {expected}"]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_names_are_the_same_for_longitudes_below_0(kind):
    """Sevenths of the globe are rounded; four cells of them leave gaps of the same width."""
    lon = np.arange(7) * 360 / 7
    west = np.where(lon > 180, lon - 360, lon)
    groups = [np.array(cells) for cells in combinations(range(7), 4)]
    names = [
        names_of(described(lat=[5.0], lon=degrees.astype(kind))[0], groups)
        for degrees in (lon, west)
    ]
    assert names[0] == names[1]


def test_decimals_are_as_many_as_needed():
    quarter, numbers = described(lat=[45.0, 47.5, 50.0], lon=[5.125, 5.375, 5.625])
    assert names_of(quarter, [numbers.values[0], numbers.values[:, 0], numbers.values[1, 1:2]]) == [
        "t2m 45°N 5.125–5.625°E",
        "t2m 45–50°N 5.125°E",
        "t2m 47.5°N 5.375°E",
    ]
    gaussian = np.array([87.8638, 85.0965, 82.3129])
    found, numbers = described(lat=gaussian, lon=np.float32([0.1, 0.2, 0.3]))
    assert names_of(found, [numbers.values.ravel()]) == ["t2m 82.31–87.86°N 0.1–0.3°E"]


# Areas and centres


GAUSSIAN = np.rad2deg(np.arcsin(np.polynomial.legendre.leggauss(32)[0]))


@pytest.mark.parametrize(
    "lat",
    [np.arange(-85.0, 90, 10), np.arange(90.0, -91, -2.5), np.linspace(-89.5, 89.5, 180), GAUSSIAN],
    ids=["edges at the poles", "cells at the poles", "fine", "Gaussian"],
)
@pytest.mark.parametrize(
    "lon",
    [np.arange(0, 360, 2.5), np.arange(179, -181, -2.0), np.arange(0, 361, 10.0)],
    ids=["from 0", "westwards", "with both ends"],
)
def test_the_areas_of_a_globe_add_up(lat, lon):
    assert cell_areas(lat, lon).sum() == pytest.approx(GLOBE, rel=1e-12)


def test_the_area_of_a_region():
    """In the middle of a cell the height times the width, up to the curvature within half a degree;
    at an end as wide as its neighbours are apart."""
    areas = cell_areas(np.array([40.0, 41, 42]), np.array([359.0, 0, 1]))
    degree = np.pi * EARTH_RADIUS_KM / 180
    expected = degree**2 * np.cos(np.deg2rad([40.0, 41, 42]))
    np.testing.assert_allclose(areas, np.repeat(expected, 3).reshape(3, 3), rtol=2e-5)
    for single in (
        cell_areas(np.array([40.0]), np.array([1.0, 2])),
        cell_areas(np.array([40.0, 50, 45]), np.array([1.0, 2])),
    ):
        assert np.isnan(single).all()


def test_centres():
    found, numbers = described(**EVERY_10)
    groups = {
        "across the date line": group_of(numbers, lat=[5, -5], lon=[170, 180, 190]),
        "across the meridian": group_of(numbers, lat=[45], lon=[350, 0]),
        "two sides of a pole": group_of(numbers, lat=[85], lon=[40, 220]),
        "around": group_of(numbers, lat=[25, 35]),
        "single": group_of(numbers, lat=[25], lon=[350]),
    }
    places = find_places(found, list(groups.values()))
    centres = dict(zip(groups, zip(places.centre_lat, places.centre_lon, strict=True), strict=True))
    np.testing.assert_allclose(centres["across the date line"], (0, 180), atol=1e-9)
    np.testing.assert_allclose(centres["across the meridian"], (45, -5))
    np.testing.assert_allclose(centres["two sides of a pole"], (85, np.nan))
    lat, lon = centres["around"]
    assert lat == pytest.approx(np.average([25, 35], weights=np.cos(np.deg2rad([25, 35]))))
    assert np.isnan(lon)
    assert centres["single"] == (25, -10)
    assert places.centres[-2:] == ("29.7°N", "25°N 10°W")
    everything = find_places(found, [numbers.values.ravel()])
    assert everything.area_km2 == pytest.approx(GLOBE)
    assert everything.latitude_range == 170


@pytest.mark.parametrize(
    ("area", "written"),
    [(np.nan, ""), (12.3456, "12.3"), (45_312.0, "45300"), (999_600, "1.00 M"), (5.1e8, "510 M")],
)
def test_areas_in_words(area, written):
    assert square_kilometres(area) == written


# Other dimensions, and fields of all kinds


def test_levels_and_lags():
    level = xr.Variable("level", [850, 500, 200], {"units": "hPa"})
    grid = {"lat": [5.0, 15, 25], "lon": [0.0, 10]}
    found, numbers = described("z", lag=[0, 1, 2], level=level, **grid)
    everywhere = group_of(numbers, lag=1)
    groups = [
        group_of(numbers, lag=2, level=500, lat=5, lon=[0, 10]),
        everywhere,
        group_of(numbers, level=[200, 500], lat=5, lon=10),
    ]
    assert names_of(found, groups) == [
        "z lag 2 500 hPa 5°N 0–10°E",
        "z lag 1 200–850 hPa 5–25°N 0–10°E",
        "z lag 0–2 200–500 hPa 5°N 10°E",
    ]
    # A place counts once, whatever the number of levels.
    areas = cell_areas(np.array(grid["lat"]), np.array(grid["lon"]))
    one, whole, cell = find_places(found, groups).area_km2
    np.testing.assert_allclose([one, whole, cell], [areas[0].sum(), areas.sum(), areas[0, 1]])


@pytest.mark.parametrize(
    ("coordinate", "expected"),
    [
        (["dry", "wet", "odd"], ("state dry", "state dry–odd")),
        (
            xr.Variable("state", [0.5, 24.0, 48.0], {"units": "hours"}),
            ("state 0.5 hours", "state 0.5–48 hours"),
        ),
        (
            np.array(["2001-01", "2001-02", "2001-03"], "M8[ns]"),
            ("state 2001-01-01", "state 2001-01-01–2001-03-01"),
        ),
    ],
)
def test_other_dimensions(coordinate, expected):
    for unnamed in (None, ""):
        found, numbers = described(unnamed, state=coordinate, lat=[5.0, 15], lon=[0.0, 10])
        groups = [numbers.values[0, :1, 0], numbers.values[:, 0, 0]]
        assert names_of(found, groups) == [f"{words} 5°N 0°" for words in expected]


def stations(**coords):
    base, y, rng = signals()
    values = np.repeat(base[:, 0], 3, axis=1) + 0.3 * rng.normal(size=(N, 6))
    places = {
        "lat": ("station", [59.91, 60.39, 63.43, 69.65, 58.97, 67.28]),
        "lon": ("station", [10.75, 5.32, 10.4, 18.96, 5.73, 14.4]),
    }
    coords = {"time": times(), **places, **coords}
    return xr.DataArray(values, coords, ("time", "station"), "rain"), y


NAMES = ["Oslo", "Bergen", "Trondheim", "Tromsø", "Stavanger", "Bodø"]


@pytest.mark.parametrize("coords", [{"station": NAMES}, {"place": ("station", NAMES)}])
def test_stations_go_by_their_names(coords):
    X, y = stations(**coords)
    model = LinCFA(n_groups=2, strategy="agglomerative").fit(X, y)
    first, second = model.get_feature_names_out()
    assert first == "rain mean(Oslo, Bergen, Trondheim)"
    assert second == "rain mean(Tromsø, Stavanger, Bodø)"
    reduced = model.transform(X)
    assert reduced["south"].values.tolist() == [59.91, 58.97]
    assert reduced["east"].values.tolist() == [10.75, 18.96]
    assert reduced["area_km2"].isnull().all()
    model.set_params(n_groups=6).fit(X, y)
    assert model.get_feature_names_out()[0] == "rain Oslo"
    signs = np.array([1, 1, 1, 1, -1, 1], dtype=np.int8)
    groups = [np.arange(5), np.array([5])]
    assert place_names(model.field_, groups, signs)[0] == "rain mean(Oslo, Bergen, … 5 stations)"
    assert "−Stavanger" in place_names(model.field_, [np.array([3, 4])], signs)[0]


@pytest.mark.parametrize("coords", [{}, {"station": range(6)}, {"place": ("station", ["a"] * 6)}])
def test_stations_without_names_go_by_their_coordinates(coords):
    X, y = stations(**coords)
    model = LinCFA(n_groups=2, strategy="agglomerative").fit(X, y)
    assert model.get_feature_names_out()[0] == "rain 59.91–63.43°N 5.32–10.75°E"


def test_curvilinear_and_stacked_cells():
    X, y = field()
    stacked = X.stack(cell=("lat", "lon"))
    lat, lon = np.meshgrid(X.lat, X.lon, indexing="ij")
    curved = X.drop_vars(["lat", "lon"]).rename(lat="y", lon="x")
    curved = curved.assign_coords(nav_lat=(("y", "x"), lat), nav_lon=(("y", "x"), lon))
    expected = LinCFA().fit(X, y).get_feature_names_out().tolist()
    for other in (stacked, curved):
        model = LinCFA(sample_dim="time").fit(other, y)
        assert model.get_feature_names_out().tolist() == expected
        assert model.transform(other)["area_km2"].isnull().all()
        assert not model.transform(other)["centre_lat"].isnull().any()


@pytest.mark.parametrize("lat", [[40.0, 50, 60, 95], [40.0, np.nan, 60, 70], list("abcd")])
def test_what_are_no_latitudes(lat):
    X, y = field()
    X = X.assign_coords(lat=lat)
    model = LinCFA().fit(X, y)
    assert model.get_feature_names_out()[0].startswith("mean('t2m[lat=")
    assert "centre_lat" not in model.transform(X).coords
    assert model.summary().places is None


def test_a_single_latitude():
    X, y = field()
    row = X.isel(lat=0)
    model = LinCFA(n_groups=2, strategy="agglomerative", sample_dim="time").fit(row, y)
    assert model.get_feature_names_out().tolist() == ["t2m 40°N 5–7°E", "t2m 40°N 8–10°E"]
    reduced = model.transform(row)
    np.testing.assert_allclose(reduced["centre_lon"], [6, 9])
    assert reduced["lat"] == 40
    assert reduced["area_km2"].isnull().all()


def test_scattered_cells_around_the_globe():
    rng = np.random.default_rng(0)
    lon = np.sort(rng.uniform(0, 360, 400))  # the largest gap of 400 is about 6°
    places = {"lat": ("cell", np.full(400, 70.0)), "lon": ("cell", lon)}
    X = xr.DataArray(np.zeros((2, 400)), places, ("time", "cell"))
    found = describe_field(X, "time")
    assert names_of(found, [np.arange(400)]) == ["70°N all longitudes"]


# What uses them


def test_names_are_different():
    found, numbers = described(**EVERY_10)
    row = group_of(numbers, lat=[5], lon=[0, 10, 20])
    groups = [row[[0, 2]], row[1:2]]
    X = xr.DataArray(np.zeros((2, 18, 36)), EVERY_10, ("time", "lat", "lon"), "t2m")
    assert names_of(describe_field(X, "time"), [row, row[[0, 2]]]) == ["t2m 5°N 0–20°E"] * 2
    assert names_of(found, groups, flipped=[row[2]])[0] == "t2m 5°N 0–20°E (1 of 2 flipped)"
    model = LinCFA()
    model.fit(*field())
    names = model.get_feature_names_out()
    assert len(set(names)) == len(names) == model.n_groups_
    assert any(name.endswith(" #2") for name in names)
    assert names.tolist() == model.get_feature_names_out(model.feature_names_in_).tolist()


@pytest.mark.parametrize("make", [field, dataset])
def test_coordinates_of_reduced_features(tmp_path, make):
    X, y = make()
    model = LinCFA(sample_dim="time").fit(X, y)
    reduced = model.transform(X)
    model.save(tmp_path / "model.json")
    xr.testing.assert_identical(lincfa.load(tmp_path / "model.json").transform(X), reduced)
    assert reduced["west"].attrs == {
        "long_name": "longitude of the western end",
        "units": "degrees_east",
    }
    array = X if make is field else X["t2m"]
    names = model.get_feature_names_out()
    maps = model.label_map() if make is field else model.label_map()["t2m"]
    for number in range(model.n_groups_):
        here = array.isel(time=0).where(maps == number, drop=True)
        at = reduced.sel(group=number)
        if not here.size:  # of a variable without latitudes
            assert np.isnan(at["centre_lat"])
            assert names[number].startswith(("index", "rain", "mean("))
            continue
        assert (at["south"], at["north"]) == (here.lat.min(), here.lat.max())
        assert (at["west"], at["east"]) == (here.lon.min(), here.lon.max())
        assert at["south"] <= at["centre_lat"] <= at["north"]
        assert at["west"] <= at["centre_lon"] <= at["east"]
        assert names[number].startswith("t2m 4")
    # Reduced features go into one file with their field.
    xr.Dataset({"reduced": reduced, "t2m": array}).to_netcdf(tmp_path / "both.nc")


def test_a_map_has_flags(tmp_path):
    X, y = field(constant=True)
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA().fit(X, y)
    labels = model.label_map()
    words = labels.attrs["flag_meanings"].split(" ")
    assert labels.attrs["flag_values"].tolist() == list(range(-1, model.n_groups_))
    assert words[0] == "constant"
    assert "t2m_40-42N_5-6E" in words
    assert len(words) == model.n_groups_ + 1
    labels.to_netcdf(tmp_path / "map.nc")
    with xr.open_dataset(tmp_path / "map.nc", mask_and_scale=False) as raw:
        assert raw["group"].dtype == raw["group"].attrs["flag_values"].dtype == np.int32
        assert raw["group"].attrs["_FillValue"] == -9999
    with xr.open_dataarray(tmp_path / "map.nc") as again:
        xr.testing.assert_identical(again, labels)


def test_thousands_of_flags_in_a_file(tmp_path):
    rng = np.random.default_rng(0)
    coords = {"lat": np.linspace(-60, 60, 40), "lon": np.linspace(0, 99, 50)}
    X = xr.DataArray(rng.normal(size=(8, 40, 50)), coords, ("time", "lat", "lon"), "noise")
    with pytest.warns(UserWarning, match="left 1954 groups"):
        labels = LinCFA(tolerance=1e-9).fit(X, rng.normal(size=8)).label_map()
    labels.to_netcdf(tmp_path / "map.nc")
    with xr.open_dataarray(tmp_path / "map.nc") as again:
        xr.testing.assert_identical(again, labels)
    assert len(set(labels.attrs["flag_meanings"].split(" "))) == 1954


SEARCH = {"tolerances": [2.0], "min_correlations": [None], "cv": 3}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("kind", ["DataArray", "Dataset", "Series", "frame"])
def test_predictions_are_named_as_the_target(tmp_path, kind, lazy):
    if lazy:
        pytest.importorskip("dask")
    X, y = field()
    attrs = {"units": "mm", "long_name": "rainfall", "source": "gauges"}
    given = target = xr.DataArray(y, {"time": times()}, name="rain", attrs=attrs)
    if kind == "Dataset":
        given = target.to_dataset()
    elif kind != "DataArray":
        pytest.importorskip("pandas")
        given = target.to_series() if kind == "Series" else target.to_dataframe()
    model = LinCFACV(sample_dim="time", **SEARCH).fit(X.chunk(time=40) if lazy else X, given)
    expected = {"units": "mm", "long_name": "rainfall"} if kind.startswith("Data") else {}
    model.save(tmp_path / "model.json")
    for one in (model, lincfa.load(tmp_path / "model.json")):
        predicted = one.predict(X)
        assert (predicted.name, predicted.attrs) == ("rain", expected)
    assert model.target_names_ == (["rain"] if kind in ("Dataset", "frame") else ["y"])


def test_predictions_without_a_name_of_their_own():
    X, y = field()
    several = xr.Dataset({"a": ("time", y), "b": ("time", y**2)})
    predicted = LinCFACV(sample_dim="time", **SEARCH).fit(X, several).predict(X)
    assert (predicted.name, predicted.dims) == ("prediction", ("time", "target"))
    # A name that is taken by a coordinate of the samples.
    taken = xr.DataArray(y, {"time": times()}, name="season")
    assert LinCFACV(sample_dim="time", **SEARCH).fit(X, taken).predict(X).name == "prediction"


def test_summaries():
    pytest.importorskip("pandas")
    X, y = field()
    model = LinCFA().fit(X, y)
    summary = model.summary()
    frame = summary.frame()
    reduced = model.transform(X)
    for name in ("centre_lat", "centre_lon", "south", "north", "west", "east", "area_km2"):
        np.testing.assert_array_equal(frame[name], reduced[name])
    printed = str(summary)
    assert "centre" in printed
    assert all(centre in printed for centre in summary.places.centres)
    assert "of areas" not in printed  # 6° of latitude
    table = str(LinCFA().fit(X.values.reshape(N, -1)[:, :7], y).summary())
    assert "km²" not in table


def test_a_note_where_cells_differ_in_area(tmp_path):
    X, y = field()
    wide = X.assign_coords(lat=[10.0, 20, 30, 40])
    model = LinCFA().fit(wide, y)
    note = 'Means are of cells, not of areas, over 30° of latitude: feature_weights="area" weights'
    assert note in str(model.summary())
    assert "--area-weights" in str(model.summary().table(options=True))
    model.report(tmp_path / "report.json")
    assert note.replace('"', '\\"') in (tmp_path / "report.json").read_text()
    for weights in ("area", np.linspace(1, 2, 21)):
        model.set_params(feature_weights=weights).fit(wide, y)
        assert "of areas" not in str(model.summary())
