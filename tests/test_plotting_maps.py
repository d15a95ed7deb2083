"""Maps: what is drawn where."""

import numpy as np
import pytest

from label_maps import cell_colors, hex_of, is_grey, legend_texts, map_of_labels

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")

import xarray as xr
from matplotlib.collections import LineCollection, PathCollection, PolyCollection, QuadMesh
from matplotlib.colors import SymLogNorm, to_hex

from lincfa.plotting import draw_groups, draw_stability, draw_weights, new_figure, weights_on
from lincfa.plotting._corners import corners
from lincfa.report._findings import Places

LABELS = np.array([[0, 0, 1, 1], [0, 2, 1, np.nan], [3, 3, -1, np.nan]])
LAT, LON = np.array([50.0, 48.0, 46.0]), np.array([5.0, 8.0, 11.0, 14.0])


def field_of(values, dims=("lat", "lon"), lat=LAT, lon=LON):
    return xr.DataArray(values, dims=("lat", "lon"), coords={"lat": lat, "lon": lon}).transpose(
        *dims
    )


def drawn(draw, map, **kwargs):
    ax = new_figure(5, 4).subplots()
    draw(map, ax, **kwargs)
    return ax


def draw_own_weights(map, ax, **kwargs):
    """Draw weights on a scale of their own."""
    draw_weights(map, ax, weights=weights_on(map), **kwargs)


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
    assert ax.get_xlabel() == "longitude, degrees east"
    assert ax.get_ylabel() == "latitude, degrees north"
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


def test_no_legend_where_every_cell_has_its_group():
    ax = drawn(draw_groups, map_of_labels(field_of(np.zeros((3, 4)))))
    assert ax.get_legend() is None
    assert len(ax.collections) == 2  # the mesh, and outlines, of which there are none
    assert not ax.collections[1].get_segments()


def test_outlines_are_between_groups():
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


def test_sizes_are_those_of_the_model_not_of_the_map():
    """A group with one cell here and others at another level is not single."""
    from lincfa.report._findings import map_of

    map = map_of(field_of(LABELS), sizes=[3, 3, 5, 2])
    assert map.single.size == 0
    assert not is_grey(cell_colors(drawn(draw_groups, map))[1][1])


def test_weights_are_white_at_zero():
    values = np.arange(12.0).reshape(3, 4) - 3
    ax = drawn(draw_own_weights, map_of_labels(field_of(LABELS), field_of(values)))
    mesh = ax.collections[0]
    assert mesh.get_clim() == (-6, 6)  # the largest of a group; constant cells do not count
    red, blue = ([int(hex_of(mesh, v)[k : k + 2], 16) for k in (1, 3, 5)] for v in (6, -6))
    assert red[0] > red[2]
    assert blue[2] > blue[0]
    assert "standard deviation" in ax.figure.axes[1].get_ylabel()
    assert legend_texts(ax) == ["1 constant cell", "2 cells left out"]


def test_cells_left_out_do_not_look_like_weights_of_zero():
    labels, zeros = field_of(LABELS), field_of(np.zeros((3, 4)))
    ax = drawn(draw_own_weights, map_of_labels(labels, zeros))
    weights, outside = (each for each in ax.collections if isinstance(each, QuadMesh))
    grey = hex_of(outside, 1)
    assert (~outside.get_array().mask)[::-1].tolist() == np.isnan(LABELS).tolist()
    assert is_grey(grey)
    assert int(grey[1:3], 16) < int(hex_of(weights, 0)[1:3], 16) - 30
    patches = ax.get_legend().get_patches()
    assert to_hex(patches[1].get_facecolor()) == grey
    coords = {"lat": ("place", [45.0, 46, 47]), "lon": ("place", [5.0, 6, 7])}
    places = xr.DataArray([0.0, 0, np.nan], dims="place", coords=coords)
    ax = drawn(draw_own_weights, map_of_labels(places, xr.zeros_like(places)))
    assert ax.lines[0].get_markerfacecolor() == grey


def test_few_large_weights_do_not_hide_the_others():
    values = np.full((3, 4), 0.01)
    values[1, 1] = -2.0
    ax = drawn(draw_own_weights, map_of_labels(field_of(LABELS), field_of(values)))
    norm = ax.collections[0].norm
    assert isinstance(norm, SymLogNorm)
    assert (norm.vmin, norm.vmax, norm(0)) == (-2, 2, 0.5)
    assert norm(0.01) > 0.55
    bar = ax.figure.axes[1]
    assert "logarithmic" in bar.get_ylabel()
    ticks = [label.get_text() for label in bar.get_yticklabels()]
    assert ticks == ["−1", "−0.1", "0", "0.1", "1"]  # linear up to 0.02
    plain = drawn(
        draw_own_weights, map_of_labels(field_of(LABELS), field_of(values)), vmin=-1, vmax=1
    )
    assert not isinstance(plain.collections[0].norm, SymLogNorm)
    assert "logarithmic" not in plain.figure.axes[1].get_ylabel()


def test_weights_that_are_all_zero():
    ax = drawn(draw_own_weights, map_of_labels(field_of(LABELS), field_of(np.zeros((3, 4)))))
    assert ax.collections[0].get_clim() == (-1, 1)


def test_stability_goes_from_0_to_1_and_single_cells_are_grey():
    values = np.where(LABELS >= 0, 0.25, np.nan)
    values[1, 1] = np.nan
    ax = drawn(draw_stability, map_of_labels(field_of(LABELS), field_of(values)))
    single, mesh = (each for each in ax.collections if isinstance(each, QuadMesh))
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


def test_cells_end_at_the_poles():
    places = Places(
        "grid", np.arange(0, 360, 90.0), np.array([-90, 0, 90.0]), "", "", True, alike=True
    )
    _, y = corners(places)
    assert y[:, 0].tolist() == [-90, -45, 45, 90]


def test_edges_are_midway():
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


def test_a_cell_without_coordinates_is_not_drawn_whatever_it_holds():
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
    assert legend_texts(ax) == ["1 single place", "1 constant place", "2 places left out"]


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
    assert ax.get_ylabel() == "row, hPa"
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
        shifted = ax.transData
        draw(map, ax, zorder=7, alpha=0.5, transform=shifted, rasterized=False)
        meshes = [each for each in ax.collections if isinstance(each, QuadMesh)]
        own = meshes[1 if draw is draw_stability else 0]  # besides single cells, or those left out
        assert own.get_alpha() == 0.5
        assert not own.get_rasterized()
        assert {each.get_zorder() for each in ax.collections} == {7}


def test_axes_of_a_projection_are_left_alone():
    ax = new_figure(5, 4).subplots()
    ax.projection = "of cartopy"
    draw_groups(map_of_labels(field_of(LABELS)), ax)
    assert ax.get_xlabel() == ax.get_ylabel() == ""
    assert ax.get_aspect() == "auto"
    assert ax.spines["left"].get_visible()
    assert legend_texts(ax)


def test_a_map_has_two_dimensions():
    with pytest.raises(ValueError, match=r"plot_spectrum draws them"):
        map_of_labels(xr.DataArray([0.0, 0.0], dims="wavelength"))
    with pytest.raises(ValueError, match=r"got a \(1\), b \(2\), c \(3\)"):
        map_of_labels(xr.DataArray(np.zeros((1, 2, 3)), dims=("a", "b", "c")))
