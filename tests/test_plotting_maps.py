"""Maps and spectra: what is drawn where, of which cells, in which colours."""

import sys
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from label_maps import (
    apart,
    cell_colors,
    drawn,
    hex_of,
    is_grey,
    legend_texts,
    map_of_labels,
)

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")

import matplotlib
import xarray as xr
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import SymLogNorm, to_hex
from matplotlib.transforms import Affine2D

from lincfa import LinCFA, LinCFACV
from lincfa._data._columns import Columns
from lincfa._data._targets import Targets
from lincfa.datasets import make_spectra
from lincfa.plotting import (
    draw_effects,
    draw_groups,
    draw_spectrum,
    draw_stability,
    effects_on,
    figure_size,
    new_figure,
    plot_coefficients,
    plot_effect_map,
    plot_map,
    plot_spectrum,
    plot_stability_map,
)
from lincfa.plotting._cells import (
    color_groups,
    corners,
    distinct_colors,
    grid_neighbors,
    point_neighbors,
    sequence_neighbors,
)
from lincfa.plotting._maps import degrees
from lincfa.report._inputs import title_of_target
from lincfa.report._maps import Places, make_map
from lincfa.report._scores import Coefficients, name_of_prediction
from lincfa.report._spectra import Spectrum
from reference import QUICK, assert_raises

LABELS = np.array([[0, 0, 1, 1], [0, 2, 1, np.nan], [3, 3, -1, np.nan]])
LAT, LON = np.array([50.0, 48.0, 46.0]), np.array([5.0, 8.0, 11.0, 14.0])


def field_of(values, dims=("lat", "lon"), lat=LAT, lon=LON):
    return xr.DataArray(values, {"lat": lat, "lon": lon}, ("lat", "lon")).transpose(*dims)


def draw_own_weights(map, ax, **kwargs):
    """Draw weights on a scale of their own."""
    draw_effects(map, ax, effects=effects_on(map), changed="prediction", per="cell", **kwargs)


def tick_labels(axis):
    axis.figure.draw_without_rendering()
    return [label.get_text() for label in axis.get_ticklabels()]


def meshes(ax):
    return [each for each in ax.collections if isinstance(each, QuadMesh)]


def draw_own_effects(map, ax, **kwargs):
    """Draw effects on a scale of their own."""
    draw_effects(map, ax, effects=effects_on(map), changed="prediction", **kwargs)


def value_at(ax, x, y):
    """What the mesh shows at a place."""
    (mesh, *_) = (each for each in ax.collections if isinstance(each, QuadMesh))
    where = mesh.get_coordinates()
    column = np.searchsorted(where[0, :, 0], x) - 1
    row = np.searchsorted(where[:, 0, 1], y) - 1
    return mesh.get_array()[row, column]


@pytest.mark.parametrize("dims", [("lat", "lon"), ("lon", "lat")])
@pytest.mark.parametrize("turn", [1, -1])
def test_each_cell_is_where_its_coordinates_are(dims, turn):
    """North is up and east is right, whatever the order of dimensions and coordinates."""
    values = np.arange(12.0).reshape(3, 4)
    there = field_of(LABELS, dims).isel(lat=slice(None, None, turn), lon=slice(None, None, turn))
    weights = field_of(values, dims).isel(lat=slice(None, None, turn), lon=slice(None, None, turn))
    ax = drawn(draw_own_weights, map_of_labels(there, weights))
    for i, lat in enumerate(LAT):
        for j, lon in enumerate(LON):
            shown = value_at(ax, lon, lat)
            assert shown is np.ma.masked if not LABELS[i, j] >= 0 else shown == values[i, j]
    assert ax.get_xlim() == (3.5, 15.5)  # half a cell beyond the centres
    assert ax.get_ylim() == (45, 51)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("", "")  # the ticks say so
    assert tick_labels(ax.xaxis)[:2] == ["4°E", "6°E"]
    assert tick_labels(ax.yaxis)[:2] == ["45°N", "46°N"]
    assert ax.get_aspect() == pytest.approx(1 / np.cos(np.radians(48)))


def test_colours_of_groups_and_the_legend():
    ax = drawn(draw_groups, map_of_labels(field_of(LABELS)))
    south, middle, north = cell_colors(ax)
    assert north[0] == north[1] == middle[0]
    assert north[2] == north[3] == middle[2]
    assert south[0] == south[1]
    assert is_grey(middle[1])
    assert not is_grey(north[0])
    assert len({north[0], north[2], south[0], middle[1]}) == 4
    assert [south[2], south[3], middle[3]] == [None] * 3
    assert legend_texts(ax) == ["1 single cell", "1 constant cell", "2 cells left out"]
    (hatched,) = (each for each in ax.collections if isinstance(each, PolyCollection))
    assert hatched.get_hatch()
    (path,) = hatched.get_paths()
    np.testing.assert_allclose(path.get_extents().extents, [9.5, 45, 12.5, 47])


def test_outlines_are_between_groups():
    ax = drawn(draw_groups, map_of_labels(field_of(np.zeros((3, 4)))))
    assert ax.get_legend() is None
    assert len(ax.collections) == 2  # the mesh, and outlines, of which there are none
    assert not ax.collections[1].get_segments()
    ax = drawn(draw_groups, map_of_labels(field_of(LABELS)))
    (lines,) = (each for each in ax.collections if isinstance(each, LineCollection))
    segments = {tuple(map(tuple, segment.tolist())) for segment in lines.get_segments()}
    assert segments == {
        ((9.5, 49.0), (9.5, 51.0)),  # 0 and 1
        ((6.5, 47.0), (6.5, 49.0)),  # 0 and 2
        ((9.5, 47.0), (9.5, 49.0)),  # 2 and 1
        ((6.5, 49.0), (9.5, 49.0)),  # 0 above 2
        ((3.5, 47.0), (6.5, 47.0)),  # 0 above 3
        ((6.5, 47.0), (9.5, 47.0)),  # 2 above 3
    }


def test_weights_are_white_at_zero():
    values = np.arange(12.0).reshape(3, 4) - 3
    ax = drawn(draw_own_weights, map_of_labels(field_of(LABELS), field_of(values)))
    mesh = ax.collections[0]
    assert mesh.get_clim() == (-6, 6)  # the largest of a group; constant cells do not count
    red, blue = ([int(hex_of(mesh, v)[k : k + 2], 16) for k in (1, 3, 5)] for v in (6, -6))
    assert red[0] > red[2]
    assert blue[2] > blue[0]
    bar = ax.figure.axes[1]
    label = "change in the prediction per standard deviation of the cell"
    assert bar.get_xlabel().replace("\n", " ") == label
    assert legend_texts(ax) == ["1 constant cell", "2 cells left out"]


def test_cells_left_out_look_the_same_on_all_maps():
    """Neither as weights of zero nor as single cells."""
    labels, zeros = field_of(LABELS), field_of(np.zeros((3, 4)))
    for draw in (draw_groups, draw_own_weights, draw_own_effects, draw_stability):
        ax = drawn(draw, map_of_labels(labels, zeros))
        outside = meshes(ax)[-1]
        assert (~outside.get_array().mask)[::-1].tolist() == np.isnan(LABELS).tolist()
        assert hex_of(outside, 1) == "#a8a8a8"
        assert to_hex(ax.get_legend().get_patches()[-1].get_facecolor()) == "#a8a8a8"
        others = [cell for row in cell_colors(ax) for cell in row if cell and is_grey(cell)]
        assert all(int(cell[1:3], 16) > 0xA8 + 30 for cell in others)
    coords = {"lat": ("place", [45.0, 46, 47]), "lon": ("place", [5.0, 6, 7])}
    places = xr.DataArray([0.0, 0, np.nan], dims="place", coords=coords)
    ax = drawn(draw_own_weights, map_of_labels(places, xr.zeros_like(places)))
    assert ax.lines[0].get_markerfacecolor() == "#a8a8a8"


def test_few_large_weights_do_not_hide_the_others():
    values = np.full((3, 4), 0.01)
    values[1, 1] = -2.0
    ax = drawn(draw_own_weights, map_of_labels(field_of(LABELS), field_of(values)))
    norm = ax.collections[0].norm
    assert isinstance(norm, SymLogNorm)
    assert (norm.vmin, norm.vmax, norm(0)) == (-2, 2, 0.5)
    assert norm(0.01) > 0.55
    bar = ax.figure.axes[1]
    assert "logarithmic" in bar.get_xlabel()
    ticks = [label.get_text() for label in bar.get_xticklabels()]
    assert ticks == ["−1", "−0.1", "0", "0.1", "1"]  # linear up to 0.02
    map = map_of_labels(field_of(LABELS), field_of(values))
    plain = drawn(draw_own_weights, map, vmin=-1, vmax=1)
    assert not isinstance(plain.collections[0].norm, SymLogNorm)
    assert "logarithmic" not in plain.figure.axes[1].get_xlabel()


def test_stability_goes_from_0_to_1_and_single_cells_are_grey():
    values = np.where(LABELS >= 0, 0.25, np.nan)
    values[1, 1] = np.nan
    ax = drawn(draw_stability, map_of_labels(field_of(LABELS), field_of(values)))
    single, mesh, _ = meshes(ax)
    assert mesh.get_clim() == (0, 1)
    assert mesh.get_array()[2, 0] == 0.25
    assert mesh.get_array().mask.sum() == 4
    assert is_grey(hex_of(single, single.get_array()[1, 1]))
    assert single.get_array().count() == 1
    assert legend_texts(ax) == ["1 single cell", "1 constant cell", "2 cells left out"]


def test_longitudes_that_jump_go_on_in_one_piece():
    lon = np.array([170.0, 175.0, -180.0, -175.0])
    ax = drawn(draw_groups, map_of_labels(field_of(LABELS, lon=lon)))
    assert ax.get_xlim() == (167.5, 187.5)
    assert cell_colors(ax)[2][0] != cell_colors(ax)[2][3]


def test_edges_are_midway_and_cells_end_at_the_poles():
    lon, lat = np.arange(0, 360, 90.0), np.array([-90, 0, 90.0])
    _, y = corners(Places("grid", lon, lat, "", "", True, True))
    assert y[:, 0].tolist() == [-90, -45, 45, 90]
    places = Places("grid", np.array([0, 1, 3.0]), np.array([5.0]), "", "", False, True)
    x, y = corners(places)
    assert x[0].tolist() == [-0.5, 0.5, 2, 4]
    assert y[:, 0].tolist() == [4.25, 5.75]  # one row: as high as columns are wide


def slanted(ny=6, nx=8):
    """A grid that is turned, and its corners."""
    j, i = np.mgrid[: ny + 1, : nx + 1] - 0.5
    x, y = 10 + i - 0.5 * j, 40 + 0.3 * i + 0.8 * j
    centre = (slice(1, None), slice(1, None))
    return x[centre] - 0.25, y[centre] - 0.55, x, y


def curved(labels, lon, lat):
    coords = {"lat": (("y", "x"), lat), "lon": (("y", "x"), lon)}
    return xr.DataArray(labels, dims=("y", "x"), coords=coords)


def test_a_curved_grid_with_gaps():
    """Cells left out may have no coordinates; the others keep their corners."""
    lon, lat, x, y = slanted()
    labels = np.arange(48.0).reshape(6, 8) // 4
    gaps = np.zeros((6, 8), dtype=bool)
    gaps[:3, :2] = gaps[3, 4] = gaps[5] = True
    lon[gaps] = lat[gaps] = labels[gaps] = np.nan
    labels[~gaps] = np.unique(labels[~gaps], return_inverse=True)[1]
    ax = drawn(draw_groups, map_of_labels(curved(labels, lon, lat)))
    mesh = ax.collections[0]
    np.testing.assert_array_equal(mesh.get_array().mask, gaps)
    np.testing.assert_allclose(mesh.get_coordinates(), np.stack([x, y], axis=-1))
    assert f"{gaps.sum()} cells left out" in legend_texts(ax)

    # A cell without coordinates is not drawn, whatever it holds.
    lon, lat, *_ = slanted()
    lon[2, 3] = np.nan
    map = map_of_labels(curved(np.zeros((6, 8)), lon, lat))
    assert map.groups[2, 3] == -2
    assert (map.groups == 0).sum() == 47


def test_a_curved_grid_across_the_date_line():
    """No cell goes around the globe, and gaps do not mislead."""
    lon, lat, x, _ = slanted()
    lon[1, :4] = np.nan
    labels = np.where(np.isnan(lon), np.nan, 0)
    jumping = (lon + 167 + 180) % 360 - 180
    assert (jumping[0] > 170).any()
    assert (jumping[0] < -170).any()
    drawn_x = corners(map_of_labels(curved(labels, jumping, lat)).places)[0]
    np.testing.assert_allclose((drawn_x - x - 167 + 180) % 360 - 180, 0, atol=1e-9)
    assert np.ptp(drawn_x) < 20


def test_a_curved_grid_around_the_globe_wraps():
    lon, lat = np.meshgrid(np.arange(0, 360, 30.0), np.linspace(-60, 60, 5))
    lon += np.arange(5)[:, None]
    assert map_of_labels(curved(np.zeros(lon.shape), lon, lat)).places.wraps
    assert not map_of_labels(curved(np.zeros(lon.shape), lon / 2, lat)).places.wraps


def test_cells_of_a_curved_grid_in_one_line_are_dots():
    lon, lat, *_ = slanted()
    for cells in (np.s_[:1, :], np.s_[:, :1]):
        row = curved(np.zeros(lon[cells].shape), lon[cells], lat[cells])
        (dots,) = drawn(draw_groups, map_of_labels(row)).collections
        expected = np.column_stack([lon[cells].ravel(), lat[cells].ravel()])
        np.testing.assert_array_equal(dots.get_offsets(), expected)


def test_stations_are_dots():
    lat, lon = [45, 46, 47, 48, 49, np.nan], [5, 6, 7, 8, 9, 10]
    labels = [0, 0, 1, -1, np.nan, 0]
    coords = {
        "height": ("station", range(6)),
        "phi": ("station", lat, {"units": "degrees_north"}),
        "lambda": ("station", lon, {"standard_name": "longitude"}),
    }
    stations = xr.DataArray(labels, dims="station", coords=coords)
    ax = drawn(draw_groups, map_of_labels(stations), marker="s")
    (dots,) = ax.collections
    assert isinstance(dots, PathCollection)
    assert dots.get_offsets().tolist() == [[5, 45], [6, 46], [7, 47]]
    colors = [hex_of(dots, value) for value in dots.get_array()]
    assert colors[0] == colors[1]
    assert is_grey(colors[2])
    assert not is_grey(colors[0])
    assert len(dots.get_paths()[0].vertices) == 5  # squares, as asked for
    constant, left_out = ax.lines
    assert constant.get_xydata().tolist() == [[8, 48]]
    assert left_out.get_xydata()[0].tolist() == [9, 49]
    assert legend_texts(ax) == ["1 single point", "1 constant point", "2 points left out"]


def test_any_two_dimensions_are_a_map():
    """Positions where there are no coordinates, or none that are numbers, or not different."""
    for coords in ({}, {"row": list("abc")}, {"row": [1, 1, 2]}, {"row": [1, np.nan, 2]}):
        table = xr.DataArray(LABELS, dims=("row", "x"), coords=coords)
        ax = drawn(draw_groups, map_of_labels(table))
        assert ax.get_ylim() == (-0.5, 2.5)
        assert ax.get_xlim() == (-0.5, 3.5)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "row")
        assert ax.get_aspect() == 1
    section = table.assign_coords(row=("row", [1, 2, 4], {"units": "hPa"}))
    ax = drawn(draw_groups, map_of_labels(section.transpose("x", "row")))  # x goes across
    assert ax.get_ylabel() == "row (hPa)"
    assert ax.get_aspect() == "auto"


def test_labels_are_no_formulas_and_not_too_long():
    names = "$\\frac$", "row\u202e" * 40
    ax = drawn(draw_groups, map_of_labels(xr.DataArray(LABELS, dims=names[::-1])))
    assert ax.get_xlabel() == names[0]
    assert ax.get_ylabel().startswith("'row\\u202e")
    assert len(ax.get_ylabel()) == 50
    assert not ax.xaxis.label.get_parse_math()
    assert not ax.yaxis.label.get_parse_math()


def test_what_is_given_is_passed_on():
    values = field_of(np.arange(12.0).reshape(3, 4))
    map = map_of_labels(field_of(LABELS), values)
    for draw in (draw_groups, draw_own_weights, draw_stability):
        ax = new_figure(5, 4).subplots()
        draw(map, ax, zorder=7, alpha=0.5, transform=ax.transData, rasterized=False)
        meshes = [each for each in ax.collections if isinstance(each, QuadMesh)]
        own = meshes[1 if draw is draw_stability else 0]  # besides single cells, or those left out
        assert own.get_alpha() == 0.5
        assert not own.get_rasterized()
        assert {each.get_zorder() for each in ax.collections} == {7}


class PlateCarree(Affine2D):
    """Stands in for that of cartopy: shifts what is drawn, so that it can be told."""

    def __init__(self):
        super().__init__()
        self.translate(1000, 0)


@pytest.mark.parametrize("given", [False, True])
def test_on_axes_of_cartopy_longitudes_are_where_they_belong(monkeypatch, given):
    """The transform is set unless given, and the axes are left alone."""
    crs = SimpleNamespace(PlateCarree=PlateCarree)
    monkeypatch.setitem(sys.modules, "cartopy", SimpleNamespace(crs=crs))
    own = Affine2D().translate(7, 0)
    map = map_of_labels(field_of(LABELS), field_of(np.ones((3, 4))))
    for draw in (draw_groups, draw_own_effects, draw_stability):
        ax = new_figure(5, 4).subplots()
        ax.projection = "of cartopy"
        draw(map, ax, **({"transform": own} if given else {}))
        shifts = {each.get_transform().transform((0, 0))[0] for each in ax.collections}
        assert shifts == {7 if given else 1000}
        assert ax.get_xlabel() == ax.get_ylabel() == ""
        assert ax.get_aspect() == "auto"
        assert ax.spines["left"].get_visible()
        assert legend_texts(ax)


def test_other_coordinates_on_axes_of_a_projection():
    """Metres of a projection are not longitudes: cartopy is not asked for."""
    ax = new_figure(5, 4).subplots()
    ax.projection = "of cartopy"
    draw_groups(map_of_labels(xr.DataArray(LABELS, dims=("y", "x"))), ax)
    assert meshes(ax)[0].get_transform().contains_branch(ax.transData)


def test_a_map_has_two_dimensions():
    row = xr.DataArray([0.0, 0.0], dims="wavelength")
    assert_raises("plot_spectrum draws them", map_of_labels, row)
    cube = xr.DataArray(np.zeros((1, 2, 3)), dims=("a", "b", "c"))
    assert_raises(r"got a \(1\), b \(2\), c \(3\)", map_of_labels, cube)


# Colours

SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 9))
LABELLINGS = SHAPES.flatmap(
    lambda shape: st.integers(0, shape[0] * shape[1]).flatmap(
        lambda top: arrays(np.intp, shape, elements=st.integers(-2, top))
    )
)


def touching(shape, wraps):
    """All pairs of cells that touch by a side or a corner, found one by one."""
    rows, columns = shape
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
                other = (row + down, column + right)
                if wraps:
                    other = (other[0], other[1] % columns)
                if other[0] < rows and 0 <= other[1] < columns:
                    yield (row, column), other


@settings(max_examples=200, deadline=None)
@given(LABELLINGS, st.booleans())
def test_neighbours_never_share_a_colour(labels, wraps):
    numbers, sizes = np.unique(labels[labels >= 0], return_counts=True)
    places, colors = distinct_colors(labels, numbers[sizes == 1], grid_neighbors(labels, wraps))
    assert len(set(colors)) == len(colors)
    for one, other in touching(labels.shape, wraps):
        if labels[one] != labels[other] and min(labels[one], labels[other]) >= 0:
            assert places[one] != places[other]
    for label, size in zip(numbers, sizes, strict=True):
        (color,) = set(places[labels == label])
        assert is_grey(colors[color]) == (size == 1)
    assert (places[labels < 0] == -1).all()
    again, _ = distinct_colors(labels, numbers[sizes == 1], grid_neighbors(labels, wraps))
    np.testing.assert_array_equal(again, places)


@settings(max_examples=100, deadline=None)
@given(LABELLINGS, st.booleans())
def test_neighbours_are_all_that_touch(labels, wraps):
    expected = {
        tuple(sorted((int(labels[one]), int(labels[other]))))
        for one, other in touching(labels.shape, wraps)
        if labels[one] != labels[other] and min(labels[one], labels[other]) >= 0
    }
    assert set(map(tuple, grid_neighbors(labels, wraps).tolist())) == expected


@pytest.mark.parametrize("span", [360, 300])
def test_neighbours_across_the_date_line(span):
    """On the globe the first and the last column touch; on a part of it they do not."""
    labels = np.repeat(np.arange(10.0), 2)[None].repeat(4, axis=0)
    lon = -180 + np.arange(20) * span / 20
    field = xr.DataArray(labels, dims=("lat", "lon"), coords={"lat": range(4), "lon": lon})
    map = map_of_labels(field)
    assert map.places.wraps == (span == 360)
    colors = cell_colors(drawn(draw_groups, map))[0]
    assert len(set(colors)) == 9  # of ten groups two share one
    assert (colors[0] != colors[-1]) == (span == 360)


def test_as_many_colours_as_it_takes():
    """Few groups have colours of their own, and so have thirty that all touch each other."""
    chosen = color_groups(np.arange(9), np.empty((0, 2), dtype=int), 9)
    assert sorted(chosen.values()) == list(range(9))
    pairs = np.array([(a, b) for a in range(30) for b in range(a)])
    labels = np.arange(30).repeat(2)
    places, colors = distinct_colors(labels, np.empty(0, dtype=int), pairs)
    assert len(set(places.tolist())) == 30 == len(set(colors))

    # Stripes take two colours; the palette is used up, but nothing beyond it.
    labels = np.arange(200).repeat(2)
    _, colors = distinct_colors(labels, np.empty(0, dtype=int), sequence_neighbors(labels))
    assert len(colors) == 9


def test_neighbours_among_places():
    """Two clouds far apart, each of two groups; one lies on both sides of the date line."""
    rng = np.random.default_rng(0)
    lat = rng.uniform(-2, 2, size=40)
    lon = np.concatenate([rng.uniform(178, 182, size=20), rng.uniform(18, 22, size=20)])
    lon = (lon + 180) % 360 - 180
    groups = np.concatenate([(lon[:20] > 0).astype(int), 2 + (lon[20:] > 20)])
    lat[5], lon[5] = np.nan, np.nan
    groups[6] = -1
    places = Places("points", lon, lat, "", "", True, True)
    assert point_neighbors(groups, places).tolist() == [[0, 1], [2, 3]]

    # Places of no group do not come between.
    places = Places("points", np.arange(30.0), np.zeros(30), "", "", True, True)
    groups = np.full(30, -1)
    groups[[0, 1, 28, 29]] = 0, 0, 1, 1
    assert point_neighbors(groups, places).tolist() == [[0, 1]]

    for count in range(3):
        places = Places("points", np.arange(count) * 1.0, np.zeros(count), "", "", True, True)
        assert len(point_neighbors(np.arange(count), places)) == (count == 2)


def test_neighbours_in_a_row():
    assert sequence_neighbors(np.array([0, 0, 1, -1, 2, 1, 1, 0])).tolist() == [[0, 1], [1, 2]]


# Numbers of groups

# A broad group with a tail, a band, two pieces of one group, and a single cell.
PATCHES = np.array(
    [
        [0, 0, 0, 0, 0, 0, 0, 3],
        [0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 2, 2, 2, 4, 2],
        [np.nan, -1, -1, 2, 2, 2, 4, 2],
        [np.nan, -1, -1, 2, 2, 2, -1, 2],
    ]
)


def patches():
    return field_of(PATCHES, lat=np.arange(50.0, 45.0, -1), lon=np.arange(10.0, 18.0))


def numbers_on(map, count, **kwargs):
    ax = drawn(draw_groups, map, numbers=count, **kwargs)
    return {int(text.get_text()): text.get_position() for text in ax.texts}


@pytest.mark.parametrize("turn", [1, -1])
def test_numbers_are_deepest_inside(turn):
    map = map_of_labels(patches().isel(lat=slice(None, None, turn)))
    found = numbers_on(map, 9)
    assert found[0] == (11, 49)  # and not in the tail
    assert found[1] == (15, 49)  # the middle of a band
    assert found[2] == (14, 47)  # in the larger piece
    assert found[4] in {(16, 48), (16, 47)}


def test_the_largest_have_numbers_and_single_cells_have_none():
    map = map_of_labels(patches())
    assert numbers_on(map, 0) == {}
    assert list(numbers_on(map, 1)) == [0]
    assert list(numbers_on(map, 2)) == [0, 2]
    assert list(numbers_on(map, 99)) == [0, 2, 1, 4]


def test_a_group_with_one_cell_here_and_others_elsewhere_is_not_single():
    """Sizes are those of the model, not of the map."""
    map = make_map(patches(), sizes=[13, 5, 12, 2, 2])
    assert numbers_on(map, 99)[3] == (17, 50)
    assert map.single.size == 0
    assert not is_grey(cell_colors(drawn(draw_groups, map))[4][7])


def test_numbers_of_a_curved_grid_and_of_places():
    lon, lat = np.meshgrid(np.arange(10.0, 18.0), np.arange(50.0, 45.0, -1))
    coords = {"lat": (("y", "x"), lat + 0.1 * lon), "lon": (("y", "x"), lon)}
    curved = xr.DataArray(PATCHES, dims=("y", "x"), coords=coords)
    x, y = numbers_on(map_of_labels(curved), 1)[0]
    assert (x, y) == (11, pytest.approx(49 + 1.1))
    coords = {"lat": ("station", [45, 46, 52, 40, 41.0]), "lon": ("station", [5, 6, 7, 8, 9.0])}
    stations = xr.DataArray([0.0, 0, 0, 1, np.nan], dims="station", coords=coords)
    assert numbers_on(map_of_labels(stations), 9) == {0: (6, 46)}


def test_numbers_can_be_read_on_any_page():
    """Black would become the colour of the page's text, which is white on dark pages."""
    (text,) = drawn(draw_groups, map_of_labels(patches()), numbers=1, zorder=7).texts
    assert text.get_color() not in ("black", "#000000")
    assert text.get_bbox_patch().get_facecolor() == (1, 1, 1, 1)
    assert text.get_zorder() == 7


def test_numbers_are_those_of_the_model():
    rng = np.random.default_rng(0)
    halves = rng.normal(size=(80, 2))
    values = halves[:, [0, 0, 0, 1, 1]][:, None] + 0.1 * rng.normal(size=(80, 3, 5))
    field = xr.DataArray(values, dims=("time", "lat", "lon"))
    model = LinCFA(sample_dim="time", tolerance=20.0).fit(field, halves @ [2.0, -1.0])
    labels = model.label_map().values
    texts = plot_map(model, numbers=np.int64(2)).texts
    assert len(texts) == 2
    for text in texts:
        x, y = (int(place) for place in text.get_position())
        assert labels[y, x] == int(text.get_text())
    for wrong in (-1, 1.5, True, "all", None):
        assert_raises("numbers must be a non-negative integer, got", plot_map, model, numbers=wrong)


# Maps of fitted models

N = 80


class Scene:
    """A field of two halves, west and east, with a cell left out and a constant one."""

    def __init__(self):
        rng = np.random.default_rng(1)
        halves = rng.normal(size=(N, 2))
        values = halves[:, [0, 0, 1, 1]][:, None] + 0.1 * rng.normal(size=(N, 3, 4))
        values[:, 0, 0] = np.nan
        values[:, 2, 3] = 5
        coords = {"time": range(N), "lat": [47.0, 46.0, 45.0], "lon": [7.0, 8.0, 9.0, 10.0]}
        self.array = xr.DataArray(values, coords, name="t2m")
        self.target = halves @ [2.0, -1.0] + rng.normal(size=N)

    def fit(self, X=None, **options):
        X = self.array if X is None else X
        with pytest.warns(UserWarning, match="constant"):
            return LinCFA(sample_dim="time", tolerance=20.0, **options).fit(X, self.target)


@pytest.fixture(scope="module")
def scene():
    return Scene()


def test_maps_of_groups_and_of_stability(scene):
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
    features = np.linspace(0, 1, 11)
    found = SimpleNamespace(field=model.field_, labels=model.labels_, features=features)
    mesh = meshes(plot_stability_map(found))[1]  # after single cells
    expected = model.to_map(features).values[::-1]
    np.testing.assert_array_equal(mesh.get_array().filled(np.nan), expected)


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_effects_per_cell(scene, units):
    model = scene.fit(units=units)
    coef = np.array([3.0, -2.0])
    ax = plot_effect_map(model, coef, per="cell", cmap="PuOr")
    mesh = ax.collections[0]
    shown = mesh.get_array()[::-1]  # from the north, as the field is
    expected = model.to_map(model.expand_coefficients(coef)[0] * model.scale_).values
    np.testing.assert_allclose(shown[~shown.mask], expected[~shown.mask])
    assert shown.mask.sum() == 2
    assert mesh.cmap.name == "PuOr"
    if units == "standardized":
        west = model.groups_[0].size
        assert shown[1, 0] == pytest.approx(3 / west)


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_effects_are_those_on_the_prediction(scene, units):
    """Raise the mean of an area by one standard deviation: the prediction changes by its colour."""
    rng = np.random.default_rng(2)
    field = scene.array * xr.DataArray(rng.uniform(0.1, 9, size=(3, 4)), dims=("lat", "lon"))
    field[:, :, 3] *= -1
    options = {"units": units, "signed": True, "feature_weights": "area", "sample_dim": "time"}
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFACV(tolerances=[20.0], cv=3, **options).fit(field, scene.target)
    assert 1 < model.n_groups_ < 5
    ax = plot_effect_map(model)
    shown = meshes(ax)[0].get_array()[::-1]
    steps = np.asarray(model.transform(field)).std(axis=0, ddof=1)
    labels, signs = model.label_map(), model.to_map(model.signs_.astype(float))
    scale = model.to_map(model.scale_) if units == "standardized" else 1.0
    for group, step in enumerate(steps):
        inside = labels == group
        raised = field + xr.where(inside, step * signs * scale, 0.0)
        change = model.predict(raised) - model.predict(field)
        np.testing.assert_allclose(change, np.unique(shown[inside.values])[0])
    assert shown.mask.tolist() == (~(labels >= 0)).values.tolist()
    assert np.unique(shown.compressed()).size == model.n_groups_
    top = np.abs(shown).max()
    assert meshes(ax)[0].get_clim() == (-top, top)
    assert "with the sign flipped" in " ".join(legend_texts(ax))


def test_the_largest_effect_has_the_strongest_colour():
    """A large area has small weights per cell, however large its effect."""
    rng = np.random.default_rng(0)
    signals = rng.normal(size=(200, 2))
    values = signals[:, [0] * 11 + [1]].reshape(200, 3, 4) + 0.01 * rng.normal(size=(200, 3, 4))
    field = xr.DataArray(values, {"time": range(200), "lat": LAT, "lon": LON})
    y = signals @ [2.0, 1.0] + 0.1 * rng.normal(size=200)
    model = LinCFACV(tolerances=[100.0], min_correlations=[0.9], cv=3).fit(field, y)
    assert [group.size for group in model.groups_] == [11, 1]
    effects, weights = (
        meshes(plot_effect_map(model, per=per))[0].get_array() for per in ("area", "cell")
    )
    assert effects[2, 0] == pytest.approx(2, abs=0.2)
    assert effects[0, 3] == pytest.approx(1, abs=0.2)
    assert weights[2, 0] < weights[0, 3]


def test_target_in_the_label_of_the_bar(scene):
    Y = xr.Dataset({"rain": ("time", scene.target), "snow": ("time", scene.target[::-1])})
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFACV(tolerances=[20.0], cv=3, sample_dim="time").fit(scene.array, Y)
    ax = plot_effect_map(model, target="snow")
    label = ax.figure.axes[1].get_ylabel().replace("\n", " ")
    assert label == "change in the prediction of snow per standard deviation of the area's mean"
    assert_raises("choose one with target=", plot_effect_map, model)
    coef = np.ones(model.n_groups_)  # of one of them, which only the user knows
    for target, named in (("snow", "prediction of snow"), (None, "prediction")):
        bar = plot_effect_map(model, coef, target=target).figure.axes[1]
        assert bar.get_ylabel().replace("\n", " ").startswith(f"change in the {named} per")
    assert_raises("coef is required", plot_effect_map, scene.fit())
    small = new_figure(2, 1.2).subplots()
    plot_effect_map(scene.fit(), [3.0, -2.0], ax=small, colorbar={"label": "rain\n(mm)"})
    assert small.figure.axes[1].get_ylabel() == "rain\n(mm)"


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, ""),
        ({"title": "rain"}, "rain"),
        ({"title": "rain", "attrs": {"units": "mm"}}, "rain (mm)"),
        ({"attrs": {"units": "K"}}, "target (K)"),
        ({"title": "rain", "classes": np.array(["dry", "wet"])}, ""),  # log odds have no other name
        ({"size": 2, "names": ["rain", "snow"]}, "snow"),
    ],
)
def test_names_of_targets_with_units(known, expected):
    number = known.get("size", 1) - 1
    assert title_of_target(Targets(**known), number) == expected


def test_long_names_of_targets_keep_their_units():
    known = Targets(title="rain " * 20, attrs={"units": "mm"})
    name = title_of_target(known, 0)
    assert name_of_prediction(name, log_odds=False).endswith("… (mm)")


# Panels


@pytest.fixture(scope="module")
def layered(scene):
    """Two variables, one of them at two levels, on grids of different shapes."""
    levels = xr.concat([scene.array, 2 * scene.array], dim="level").assign_coords(level=[500, 850])
    flat = scene.array.isel(lat=[0, 1]).rename(lat="north", lon="east")
    flat = flat.assign_coords(north=[10.0, 9.0])
    flat["north"].attrs["units"], flat["east"].attrs["units"] = "degrees_north", "degrees_east"
    return scene.fit(xr.Dataset({"z": levels, "sst": flat}))


def test_panels_align_and_share_a_scale(layered):
    coef = np.arange(layered.n_groups_) + 1.0
    found = SimpleNamespace(
        field=layered.field_, labels=layered.labels_, features=np.ones(layered.n_features_in_)
    )
    for plot, arguments in (
        (plot_map, [layered]),
        (plot_effect_map, [layered, coef]),
        (partial(plot_effect_map, per="cell"), [layered, coef]),
        (plot_stability_map, [found]),
    ):
        axes = plot(*arguments)
        figure = axes[0].figure
        figure.draw_without_rendering()
        titles = [ax.get_title(loc="left") for ax in axes]
        assert titles == ["z, level=500", "z, level=850", "sst"]
        boxes = [ax.get_window_extent() for ax in axes]
        np.testing.assert_allclose([box.x0 for box in boxes], boxes[0].x0, atol=1)
        np.testing.assert_allclose([box.width for box in boxes], boxes[0].width, atol=1)
        assert boxes[0].y0 > boxes[1].y1 > boxes[2].y1
        bars = [ax for ax in figure.axes if ax not in list(axes)]
        assert len(bars) == (plot is not plot_map)
        if bars:
            drawn = [meshes(ax)[1 if plot is plot_stability_map else 0] for ax in axes]
            assert len({mesh.get_clim() for mesh in drawn}) == 1
        legends = [legend_texts(ax) for ax in axes]
        assert legends[1:] == [[], []]
        assert "2 cells left out" in legends[0]  # of the levels, and of another grid
        top = axes[0].get_legend().get_window_extent()
        title = axes[0]._left_title.get_window_extent()
        assert top.y0 >= title.y1


def test_axes_of_a_subfigure(layered):
    coef = np.arange(layered.n_groups_) + 1.0
    for plot, arguments in (
        (plot_map, []),
        (plot_effect_map, [coef]),
        (partial(plot_effect_map, per="cell"), [coef]),
    ):
        left, _ = matplotlib.figure.Figure(layout="constrained").subfigures(1, 2)
        axes = left.subplots(3)
        plot(layered, *arguments, ax=axes)
        left.figure.draw_without_rendering()
        assert all(ax.get_window_extent().x1 <= left.bbox.x1 for ax in axes)


def test_flat_maps_have_no_blanks_around():
    coords = {"lat": np.arange(-12.5, 15, 5), "lon": np.arange(120, 280, 4.0)}
    labels = map_of_labels(xr.DataArray(np.zeros((6, 40)), coords))
    figure = new_figure(*figure_size(labels), square=True)
    draw_groups(labels, ax := figure.subplots())
    figure.draw_without_rendering()
    assert ax.get_window_extent().height > 0.6 * figure.bbox.height


@pytest.mark.parametrize("largest", [1e4, 1e300])
def test_longitudes_that_are_none_have_few_ticks(largest):
    coords = {"lat": [45.0, 46.0], "lon": [7.5, 8.5, largest]}
    labels = map_of_labels(xr.DataArray(np.zeros((2, 3)), coords))
    figure = new_figure(*figure_size(labels), square=True)
    draw_groups(labels, ax := figure.subplots())
    figure.set_layout_engine("none")  # their labels are longer than the figure is wide
    figure.draw_without_rendering()
    assert 1 <= len(ax.get_xticks()) <= 9


@pytest.mark.parametrize("largest", [0.0048, 0.19, 0.45, 0.95, 7.0, 35.0])
def test_ticks_of_narrow_maps_are_apart(scene, largest):
    model = scene.fit()
    field = xr.DataArray(np.zeros((2, 18)), {"lat": [-45.0, 45.0], "lon": np.arange(0, 360, 20)})
    labels = map_of_labels(field, field + largest)
    ax = new_figure(3.35, 2.5, square=True).subplots()
    draw_effects(labels, ax, effects=np.array([largest]), changed="prediction")
    ax.figure.draw_without_rendering()
    bar = ax.figure.axes[1]
    assert apart(bar.xaxis)
    assert apart(ax.xaxis)
    for width, expected in ((8.0, 8.33), (2.5, 5.0)):
        ax = new_figure(width, 5).subplots()
        plot_map(model, numbers=1, ax=ax)
        assert ax.texts[0].get_fontsize() == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_coefficients_are_finite(layered, value):
    coef = np.append(np.ones(layered.n_groups_ - 1), value)
    assert_raises("coef must be finite", plot_effect_map, layered, coef)


def test_panels_on_axes_of_ones_own(layered):
    figure = new_figure(4, 9)
    axes = figure.subplots(3)
    assert plot_map(layered, ax=axes).tolist() == axes.tolist()
    assert_raises("ax must be 3 axes, one for each panel, got 2", plot_map, layered, ax=axes[:2])
    (one,) = (plot_map(layered, variable="sst", ax=axes[2]),)
    assert one is axes[2]
    levels = plot_map(layered, variable="z")
    assert levels.size == 2


@pytest.mark.parametrize("width", [3.35, 6.85])  # inches: a column and a page of a journal
@pytest.mark.parametrize("size", [8, 10])
def test_labels_do_not_overlap_at_the_width_of_a_column(width, size):
    values = np.arange(36.0 * 18).reshape(18, 36)
    lat, lon = np.arange(-85, 95, 10.0), np.arange(0, 360, 10.0)
    labels = field_of(np.where(values < 50, np.nan, values % 5), lat=lat, lon=lon)
    with matplotlib.rc_context({"font.size": size}):
        figure = new_figure(width, width * 0.7)
        ax = figure.subplots()
        draw_own_effects(map_of_labels(labels, field_of(values, lat=lat, lon=lon)), ax)
        figure.draw_without_rendering()
    bar = figure.axes[1]
    for axis in (ax.xaxis, ax.yaxis, bar.xaxis):
        boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
        assert len(boxes) >= 2
        for one, other in pairwise(boxes):
            assert not one.overlaps(other)
    whole = figure.bbox
    for text in (*ax.get_xticklabels(), bar.xaxis.label, *ax.get_legend().get_texts()[:1]):
        box = text.get_window_extent()
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1


# Colour bars, legends and ticks


def test_colour_bars_are_placed_shared_or_left_out(scene):
    model, coef = scene.fit(), [3.0, -2.0]
    figure = new_figure(8, 4)
    left, middle, right = figure.subplots(1, 3)
    plot_effect_map(model, coef, ax=left, colorbar=False)
    assert figure.axes == [left, middle, right]
    plot_effect_map(model, coef, ax=middle, colorbar={"cax": right})
    assert figure.axes == [left, middle, right]
    assert "change in the prediction" in right.get_ylabel().replace("\n", " ")
    ax = plot_effect_map(model, coef, colorbar={"location": "left", "shrink": 0.5})
    _, bar = ax.figure.axes
    ax.figure.draw_without_rendering()
    assert bar.get_window_extent().x1 < ax.get_window_extent().x0
    figure = new_figure(8, 4)
    axes = figure.subplots(1, 2)
    plot_effect_map(model, coef, ax=axes[0], colorbar=False)
    plot_effect_map(model, coef, ax=axes[1], colorbar={"ax": axes, "location": "bottom"})
    figure.draw_without_rendering()
    bar = figure.axes[2].get_window_extent()
    assert bar.x0 < axes[0].get_window_extent().x1 < axes[1].get_window_extent().x0 < bar.x1
    for wrong in ("bottom", None, 1):
        assert_raises(
            "colorbar must be True, False or a map", plot_effect_map, model, coef, colorbar=wrong
        )


def test_legends_are_moved_or_left_out(scene):
    model = scene.fit()
    above = plot_map(model)
    inside = plot_map(model, legend={"loc": "lower left", "title": "cells"})
    assert plot_map(model, legend=False).get_legend() is None
    for ax in (above, inside):
        ax.figure.draw_without_rendering()
    assert above.get_legend().get_window_extent().y0 >= above.get_window_extent().y1
    box, axes = inside.get_legend().get_window_extent(), inside.get_window_extent()
    assert axes.contains(*box.min)
    assert axes.contains(*box.max)
    assert inside.get_legend().get_title().get_text() == "cells"
    assert_raises("legend must be True, False or a mapping", plot_map, model, legend="upper left")


@pytest.mark.parametrize(
    ("value", "sides", "expected"),
    [
        (-80, "WE", "80°W"),
        (280, "WE", "80°W"),
        (360, "WE", "0°"),
        (180, "WE", "180°"),
        (-180, "WE", "180°"),
        (12.5, "WE", "12.5°E"),
        (-5, "SN", "5°S"),
        (0, "SN", "0°"),
        (90, "SN", "90°N"),
    ],
)
def test_degrees_have_directions(value, sides, expected):
    assert degrees(np.float64(value), sides) == expected


def test_a_variable_of_a_dataset(scene):
    data = xr.Dataset({"t2m": scene.array, "psl": -scene.array.transpose("time", "lon", "lat")})
    model = scene.fit(data)
    maps = model.label_map()
    for name in ("t2m", "psl"):
        ax = plot_map(model, variable=name)
        known = maps[name].transpose("lat", "lon").values[::-1] >= 0
        np.testing.assert_array_equal(~ax.collections[0].get_array().mask, known)
    assert_raises("no variable 'z'; available: 't2m', 'psl'", plot_map, model, variable="z")
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
    assert_raises("no level 700; available: 500, 850", plot_map, model, select={"level": 700})
    message = "no dimension 'height'; the cells have 'level', 'lat'"
    assert_raises(message, plot_map, model, select={"height": 2})
    assert_raises(r"single level, got \[500, 850\]", plot_map, model, select={"level": [500, 850]})
    assert_raises(r'such as {"level": 500}, got 500', plot_map, model, select=500)
    values = np.arange(float(model.n_features_in_))
    found = SimpleNamespace(field=model.field_, labels=model.labels_, features=values)
    coef = np.arange(model.n_groups_) + 1.0
    weights = model.to_map(model.expand_coefficients(coef)[0] * model.scale_)
    for level in (500, 850):
        place = {"level": level}
        ax = plot_effect_map(model, coef, per="cell", variable="t2m", select=place)
        mesh = ax.collections[0]
        shown = mesh.get_array()[::-1]
        np.testing.assert_allclose(shown[2, :3], weights.sel(level=level)[2, :3])
        assert mesh.get_clim()[1] == pytest.approx(float(abs(weights).max()))  # of both levels
        mesh = meshes(plot_stability_map(found, variable="t2m", select=place))[1]
        shown = mesh.get_array()[::-1]
        np.testing.assert_array_equal(shown[2, :3], model.to_map(values).sel(level=level)[2, :3])
    for place in ("a", None, [1, 2, 3]):
        assert_raises("available: 500, 850", plot_map, model, select={"level": place})
    section = plot_map(model, select={"lat": 45.0})
    assert section.get_ylabel() == "level"


def test_a_day_is_named_as_one_writes_it(scene):
    days = pd.date_range("2001-01-01", periods=13, name="day")
    model = scene.fit(xr.concat([scene.array] * 13, dim=days))
    message = r"There are 13 maps.* select={'day': …}; available: 2001-01-01, .*, 2001-01-10, …\."
    assert_raises(message, plot_map, model)
    assert plot_map(model, select={"day": "2001-01-02"}).get_title() == ""


def test_positions_where_there_are_no_coordinates(scene):
    bare = scene.array.drop_vars(["lat", "lon", "time"]).expand_dims(member=2)
    titles = [ax.get_title(loc="left") for ax in plot_map(scene.fit(bare))]
    assert titles == ["t2m, member=0", "t2m, member=1"]
    assert_raises("no member 2; available: 0, 1", plot_map, scene.fit(bare), select={"member": 2})
    assert plot_map(scene.fit(bare), select={"member": 1}).get_xlabel() == "lon"


def test_cells_in_a_row(scene):
    row = scene.array.isel(lat=1, drop=True).rename(lon="wavelength")
    row["wavelength"].attrs["units"] = "nm"
    row = row.where(row["wavelength"] != 8.0)
    model = LinCFA(sample_dim="time", tolerance=20.0).fit(row, scene.target)
    assert_raises(r"in a sequence along 'wavelength', .* plot_spectrum", plot_map, model)
    ax = plot_spectrum(model)
    assert ax.lines[0].get_xdata().tolist() == [7, 9, 10]
    assert ax.get_xlabel() == "wavelength (nm)"


def test_a_map_is_no_spectrum(scene):
    for field in (scene.array, xr.Dataset({"t2m": scene.array})):
        model = scene.fit(field)
        assert_raises(r"lat \(3\), lon \(4\)\. plot_map draws them", plot_spectrum, model)
    row = scene.array.isel(lat=[1])  # one dimension has but one place
    model = LinCFA(sample_dim="time", tolerance=20.0).fit(row, scene.target)
    assert plot_spectrum(model).lines[0].get_xdata().size == 4


def test_what_has_no_map(scene):
    table = LinCFA().fit(np.random.default_rng(0).normal(size=(N, 3)), scene.target)
    found = SimpleNamespace(field=None, features=None)
    for plot, *arguments in (
        (plot_map, table),
        (plot_effect_map, table, np.zeros(table.n_groups_)),
        (plot_stability_map, found),
    ):
        assert_raises(f"{plot.__name__} needs .* fitted to a table", plot, *arguments)
    model = scene.fit()
    for other in (model, model.label_map(), None):
        with pytest.raises(TypeError, match=r"result of lincfa\.stability\(field, y, model=model"):
            plot_stability_map(other)
    assert_raises(r"shape \(2,\), got \(3,\)", plot_effect_map, model, np.zeros(3))
    wrong = r"per must be one of \['area', 'cell'\], got 'group'"
    assert_raises(wrong, plot_effect_map, model, [3.0, -2.0], per="group")
    assert_raises("no variable 'z'; the field is 't2m'", plot_map, model, variable="z")
    alone = xr.Dataset({"t2m": scene.array, "index": scene.array[:, 1, 1]})
    model = scene.fit(alone.drop_vars(["lat", "lon"]))
    assert_raises("got none", plot_map, model, variable="index")
    assert plot_map(model).get_title() == ""  # the only variable with a map


# Spectra

GROUPS = np.array([0, 0, 1, 1, -1, 2, 0, 3, 3])


def draw_line(groups=GROUPS, x=None, **kwargs):
    groups = np.asarray(groups)
    x = np.arange(groups.size) * 2.0 if x is None else np.asarray(x)
    row = Spectrum(x, "wavelength (nm)", True, groups, np.arange(groups.size) * 3.0 + 7)
    return drawn(draw_spectrum, row, label="reflectance", **kwargs)


@pytest.fixture(scope="module")
def spectra():
    return make_spectra(n_features=60, random_state=0)


def test_bands_and_line():
    ax = draw_line()
    (colors,) = cell_colors(ax)
    assert colors[0] == colors[1] == colors[6]  # one group in two pieces
    assert colors[2] == colors[3]
    assert colors[7] == colors[8]
    assert colors[4] is None
    assert is_grey(colors[5])
    assert len({colors[0], colors[2], colors[5], colors[7]}) == 4
    assert legend_texts(ax) == ["1 single feature", "1 constant feature"]
    edges = ax.collections[0].get_coordinates()[0, :, 0]
    assert edges.tolist() == [-1, 1, 3, 5, 7, 9, 11, 13, 15, 17]
    (line,) = ax.lines
    assert line.get_xdata().tolist() == list(range(0, 18, 2))
    assert line.get_ydata().tolist() == list(range(7, 34, 3))
    assert ax.get_xlim() == (-1, 17)
    low, high = ax.get_ylim()
    assert 4 < low < 7  # by the line alone; the bands fill the height whatever it is
    assert 31 < high < 34
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("wavelength (nm)", "reflectance")


def test_descending_numbers():
    ax = draw_line(x=np.arange(9)[::-1] * 2.0)
    edges = ax.collections[0].get_coordinates()[0, :, 0]
    assert edges.tolist() == [17, 15, 13, 11, 9, 7, 5, 3, 1, -1]
    assert ax.get_xlim() == (-1, 17)


def test_other_lines():
    assert draw_line([0, 0, 1, 1]).get_legend() is None  # every feature has its group
    assert draw_line([0]).get_xlim() == (-0.5, 0.5)
    (line,) = draw_line(color="crimson", linestyle="--").lines
    assert (line.get_color(), line.get_linestyle()) == ("crimson", "--")


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("kind", [float, str])
def test_wavelengths_that_name_the_columns(spectra, turn, kind):
    X, y = spectra
    names = (1100 + 2.5 * np.arange(60))[::turn]
    model = LinCFA().fit(pd.DataFrame(X, columns=[kind(name) for name in names]), y)
    ax = plot_spectrum(model)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), names)
    np.testing.assert_array_equal(line.get_ydata(), model.mean_)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature name", "feature mean")
    (colors,) = cell_colors(ax)
    for place in np.flatnonzero(np.diff(model.labels_)):
        assert colors[place] != colors[place + 1]


@pytest.mark.parametrize(
    "names", [None, [f"nm{k}" for k in range(60)], [*map(str, range(59)), "7"], ["nan", *"1" * 59]]
)
def test_other_names_leave_positions(spectra, names):
    X, y = spectra
    model = LinCFA().fit(X, y)
    model._columns = Columns(60, names)
    ax = plot_spectrum(model)
    assert ax.lines[0].get_xdata().tolist() == list(range(60))
    assert ax.get_xlabel() == "feature index"


def test_spectra_of_ones_own_right_and_wrong(spectra):
    X, y = spectra
    model = LinCFACV(**QUICK).fit(X, y)
    given = new_figure(5, 3).subplots()
    ax = plot_spectrum(model, X[3], ax=given)
    assert ax is given
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), X[3])
    assert ax.get_ylabel() == "feature value"
    model = LinCFA().fit(X, y)
    assert_raises(r"per feature, shape \(60,\), got \(59,\)", plot_spectrum, model, X[0, 1:])
    assert_raises("spectrum", plot_spectrum, model, ["a"] * 60)


def test_effects_below_the_line_where_the_bands_are():
    x = np.arange(9) * 2.0
    row = Spectrum(x, "wavelength (nm)", True, GROUPS, np.ones(9), "nm")
    effects = [
        Coefficients(tuple("abcd"), np.array([1.0, -2, 3, 0.5]), 4, (name,)) for name in "yz"
    ]
    axes = new_figure(5, 6).subplots(3, 1)
    draw_spectrum(row, axes, label="reflectance", effects=effects)
    axes[0].figure.draw_without_rendering()
    top, middle, last = axes
    (colors,) = cell_colors(top)
    for ax in (middle, last):
        (bars,) = [each for each in ax.collections if isinstance(each, PolyCollection)]
        spans = [path.get_extents() for path in bars.get_paths()]
        # Group 0 has two pieces; the constant feature at 8 has none.
        assert [(box.x0, box.x1) for box in spans] == [(-1, 3), (3, 7), (9, 11), (11, 13), (13, 17)]
        assert [box.y0 + box.y1 for box in spans] == [1, -2, 3, 1, 0.5]
        drawn_colors = [matplotlib.colors.to_hex(color) for color in bars.get_facecolors()]
        assert drawn_colors == [colors[k] for k in (0, 2, 5, 6, 7)]
    assert top.get_xlim() == middle.get_xlim() == last.get_xlim()
    assert [ax.get_xlabel() for ax in axes] == ["", "", "wavelength (nm)"]
    labels = [ax.get_ylabel() for ax in axes]
    assert labels[1:] == [f"effect on the\nprediction of {name}" for name in "yz"]


def test_coefficients_of_a_spectrum_are_along_the_wavelengths(spectra):
    X, y = spectra
    table = pd.DataFrame(X, columns=[f"{900 + 5 * k} nm" for k in range(60)])
    model = LinCFACV(**QUICK).fit(table, y)
    ax = plot_coefficients(model)
    assert ax.get_xlabel() == plot_spectrum(model).get_xlabel() == "wavelength (nm)"
    assert ax.get_xlim() == (897.5, 1197.5)
    boxes = [path.get_extents() for path in ax.collections[0].get_paths()]
    heights = {box.y0 + box.y1 for box in boxes}
    weights = model.summary().weight * model.target_scale_
    assert np.abs(sorted(heights) - np.unique(weights[weights != 0])).max() < 1e-9


def test_numbers_on_a_map_cover_no_other():
    labels = np.repeat(np.arange(200.0), 2).reshape(20, 20)
    map = map_of_labels(xr.DataArray(labels, dims=("y", "x")))
    ax = new_figure(2, 2).subplots()
    draw_groups(map, ax, numbers=200)
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert 20 < len(boxes) < 200
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[k + 1 :])
