"""Maps of fitted models: of which field, which variable, which place."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from label_maps import cell_colors, legend_texts

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")

import xarray as xr

from lincfa import LinCFA
from lincfa.plotting import (
    new_figure,
    plot_coefficient_map,
    plot_map,
    plot_spectrum,
    plot_stability_map,
)

LAT, LON = [47.0, 46.0, 45.0], [7.0, 8.0, 9.0, 10.0]
N = 80


class Scene:
    """A field of two halves, west and east, with a cell left out and a constant one."""

    def __init__(self):
        rng = np.random.default_rng(1)
        halves = rng.normal(size=(N, 2))
        values = halves[:, [0, 0, 1, 1]][:, None] + 0.1 * rng.normal(size=(N, 3, 4))
        values[:, 0, 0] = np.nan
        values[:, 2, 3] = 5
        coords = {"time": range(N), "lat": LAT, "lon": LON}
        self.array = xr.DataArray(values, coords, name="t2m")
        self.target = halves @ [2.0, -1.0] + rng.normal(size=N)

    def fit(self, X=None, **options):
        X = self.array if X is None else X
        with pytest.warns(UserWarning, match="constant"):
            return LinCFA(sample_dim="time", tolerance=20.0, **options).fit(X, self.target)


@pytest.fixture(scope="module")
def scene():
    return Scene()


def test_map_of_groups(scene):
    model = scene.fit()
    ax = plot_map(model)
    south, middle, north = cell_colors(ax)
    assert north[0] is south[3] is None
    west, east = middle[0], middle[3]
    assert west != east
    assert south[:3] == [west, west, east]
    assert north[1:] == [west, east, east]
    assert legend_texts(ax) == ["1 constant cell", "1 cell left out"]
    given = new_figure(4, 4).subplots()
    assert plot_map(model, variable="t2m", ax=given, alpha=0.5) is given
    assert given.collections[0].get_alpha() == 0.5


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_map_of_coefficients(scene, units):
    model = scene.fit(units=units)
    coef = np.array([3.0, -2.0])
    ax = plot_coefficient_map(model, coef, cmap="PuOr")
    mesh = ax.collections[0]
    shown = mesh.get_array()[::-1]  # from the north, as the field is
    expected = model.to_map(model.expand_coefficients(coef)[0] * model.scale_).values
    np.testing.assert_allclose(shown[~shown.mask], expected[~shown.mask])
    assert shown.mask.sum() == 2
    assert mesh.cmap.name == "PuOr"
    if units == "standardized":
        west = model.groups_[0].size
        assert shown[1, 0] == pytest.approx(3 / west)


def test_map_of_stability(scene):
    model = scene.fit()
    features = np.linspace(0, 1, 11)
    found = SimpleNamespace(field=model.field_, labels=model.labels_, features=features)
    mesh = plot_stability_map(found).collections[-2]  # the last is the hatching
    expected = model.to_map(features).values[::-1]
    np.testing.assert_array_equal(mesh.get_array().filled(np.nan), expected)


def test_a_variable_of_a_dataset(scene):
    data = xr.Dataset({"t2m": scene.array, "psl": -scene.array.transpose("time", "lon", "lat")})
    model = scene.fit(data)
    maps = model.label_map()
    for name in ("t2m", "psl"):
        ax = plot_map(model, variable=name)
        known = maps[name].transpose("lat", "lon").values[::-1] >= 0
        np.testing.assert_array_equal(~ax.collections[0].get_array().mask, known)
    with pytest.raises(ValueError, match="which of 't2m', 'psl' to draw"):
        plot_map(model)
    with pytest.raises(ValueError, match="no variable 'z'; there are 't2m', 'psl'"):
        plot_map(model, variable="z")
    assert plot_map(scene.fit(data[["psl"]])).collections  # there is but one


def test_a_place_along_a_third_dimension(scene):
    levels = xr.concat([scene.array, scene.array], dim="level").assign_coords(level=[500, 850])
    levels[1, :, 1, 1] = np.nan
    model = scene.fit(levels)
    blank = [
        plot_map(model, select={"level": level}).collections[0].get_array().mask[1, 1]
        for level in (500, 850)
    ]
    assert blank == [False, True]
    with pytest.raises(ValueError, match=r"select={'level': …}; there are 500, 850"):
        plot_map(model)
    with pytest.raises(ValueError, match="no level 700; there are 500, 850"):
        plot_map(model, select={"level": 700})
    with pytest.raises(ValueError, match=r"select names 'height'; .* are 'level', 'lat', 'lon'"):
        plot_map(model, select={"height": 2})
    with pytest.raises(ValueError, match=r"one level, got \[500, 850\]"):
        plot_map(model, select={"level": [500, 850]})
    with pytest.raises(ValueError, match=r'as {"level": 500}, got 500'):
        plot_map(model, select=500)
    values = np.arange(float(model.n_features_in_))
    found = SimpleNamespace(field=model.field_, labels=model.labels_, features=values)
    coef = np.arange(model.n_groups_) + 1.0
    weights = model.to_map(model.expand_coefficients(coef)[0] * model.scale_)
    for level in (500, 850):
        place = {"level": level}
        mesh = plot_coefficient_map(model, coef, variable="t2m", select=place).collections[0]
        shown = mesh.get_array()[::-1]
        np.testing.assert_allclose(shown[2, :3], weights.sel(level=level)[2, :3])
        assert mesh.get_clim()[1] == pytest.approx(float(abs(weights).max()))  # of both levels
        mesh = plot_stability_map(found, variable="t2m", select=place).collections[-2]
        shown = mesh.get_array()[::-1]
        np.testing.assert_array_equal(shown[2, :3], model.to_map(values).sel(level=level)[2, :3])
    for place in ("a", None, [1, 2, 3]):
        with pytest.raises(ValueError, match="there are 500, 850"):
            plot_map(model, select={"level": place})
    section = plot_map(model, select={"lat": 45.0})
    assert section.get_ylabel() == "level"


def test_a_day_is_named_as_one_writes_it(scene):
    days = xr.concat([scene.array] * 12, dim="day")
    days = days.assign_coords(
        day=np.arange("2001-01-01", "2001-01-13", dtype="M8[D]").astype("M8[ns]")
    )
    model = scene.fit(days)
    with pytest.raises(ValueError, match=r"there are 2001-01-01, .*, 2001-01-10 and more\."):
        plot_map(model)
    assert plot_map(model, select={"day": "2001-01-02"}).get_xlabel() == "longitude, degrees east"


def test_positions_where_there_are_no_coordinates(scene):
    bare = scene.array.drop_vars(["lat", "lon", "time"]).expand_dims(member=2)
    with pytest.raises(ValueError, match=r"select={'member': …}; there are 0, 1"):
        plot_map(scene.fit(bare))
    with pytest.raises(ValueError, match="no member 2; there are 0, 1"):
        plot_map(scene.fit(bare), select={"member": 2})
    assert plot_map(scene.fit(bare), select={"member": 1}).get_xlabel() == "lon"


def test_cells_in_a_row(scene):
    row = scene.array.isel(lat=1, drop=True).rename(lon="wavelength")
    row["wavelength"].attrs["units"] = "nm"
    row = row.where(row["wavelength"] != 8.0)
    model = LinCFA(sample_dim="time", tolerance=20.0).fit(row, scene.target)
    with pytest.raises(ValueError, match=r"in a row along 'wavelength', .* plot_spectrum"):
        plot_map(model)
    ax = plot_spectrum(model)
    assert ax.lines[0].get_xdata().tolist() == [7, 9, 10]
    assert ax.get_xlabel() == "wavelength, nm"


def test_a_map_is_no_spectrum(scene):
    for field in (scene.array, xr.Dataset({"t2m": scene.array})):
        with pytest.raises(ValueError, match=r"lat \(3\), lon \(4\)\. plot_map draws them"):
            plot_spectrum(scene.fit(field))
    row = scene.array.isel(lat=[1])  # one dimension has but one place
    model = LinCFA(sample_dim="time", tolerance=20.0).fit(row, scene.target)
    assert plot_spectrum(model).lines[0].get_xdata().size == 4


def test_what_has_no_map(scene):
    table = LinCFA().fit(np.random.default_rng(0).normal(size=(N, 3)), scene.target)
    with pytest.raises(ValueError, match=r"plot_map draws .* fitted to a table"):
        plot_map(table)
    with pytest.raises(ValueError, match=r"plot_coefficient_map draws .* fitted to a table"):
        plot_coefficient_map(table, np.zeros(table.n_groups_))
    with pytest.raises(ValueError, match=r"plot_stability_map draws .* fitted to a table"):
        plot_stability_map(SimpleNamespace(field=None, features=None))
    model = scene.fit()
    for other in (model, model.label_map(), None):
        with pytest.raises(
            TypeError, match=r"what lincfa\.stability\(field, y, model=model\) gave"
        ):
            plot_stability_map(other)
    with pytest.raises(ValueError, match=r"shape \(2,\), got \(3,\)"):
        plot_coefficient_map(model, np.zeros(3))
    with pytest.raises(ValueError, match="coef is needed"):
        plot_coefficient_map(model)
    with pytest.raises(ValueError, match="no variable 'z'; the field is one, 't2m'"):
        plot_map(model, variable="z")
    with pytest.raises(NotFittedError):
        plot_map(LinCFA())
    alone = xr.Dataset({"t2m": scene.array, "index": scene.array[:, 1, 1]})
    with pytest.raises(ValueError, match="got none"):
        plot_map(scene.fit(alone.drop_vars(["lat", "lon"])), variable="index")
