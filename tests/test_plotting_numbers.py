"""Numbers on maps: of which groups, and where."""

import numpy as np
import pytest

from label_maps import map_of_labels

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")

import xarray as xr

from lincfa import LinCFA
from lincfa.plotting import draw_groups, new_figure, plot_map
from lincfa.report._findings import map_of

# A broad group with a tail, a band, two pieces of one group, and a single cell.
LABELS = np.array(
    [
        [0, 0, 0, 0, 0, 0, 0, 3],
        [0, 0, 0, 1, 1, 1, 1, 1],
        [0, 0, 0, 2, 2, 2, 4, 2],
        [np.nan, -1, -1, 2, 2, 2, 4, 2],
        [np.nan, -1, -1, 2, 2, 2, -1, 2],
    ]
)
LAT, LON = np.arange(50.0, 45.0, -1), np.arange(10.0, 18.0)


def field_of(labels=LABELS):
    return xr.DataArray(labels, dims=("lat", "lon"), coords={"lat": LAT, "lon": LON})


def numbers_on(map, count, **kwargs):
    ax = new_figure(5, 4).subplots()
    draw_groups(map, ax, numbers=count, **kwargs)
    return {int(text.get_text()): text.get_position() for text in ax.texts}


@pytest.mark.parametrize("turn", [1, -1])
def test_numbers_are_deepest_inside(turn):
    map = map_of_labels(field_of().isel(lat=slice(None, None, turn)))
    found = numbers_on(map, 9)
    assert found[0] == (11, 49)  # and not in the tail
    assert found[1] == (15, 49)  # the middle of a band
    assert found[2] == (14, 47)  # in the larger piece
    assert found[4] in {(16, 48), (16, 47)}


def test_the_largest_have_numbers_and_single_cells_have_none():
    map = map_of_labels(field_of())
    assert numbers_on(map, 0) == {}
    assert list(numbers_on(map, 1)) == [0]
    assert list(numbers_on(map, 2)) == [0, 2]
    assert list(numbers_on(map, 99)) == [0, 2, 1, 4]


def test_a_group_with_one_cell_here_and_others_elsewhere_has_a_number():
    map = map_of(field_of(), sizes=[13, 5, 12, 2, 2])
    assert numbers_on(map, 99)[3] == (17, 50)


def test_numbers_of_a_curved_grid_and_of_places():
    lon, lat = np.meshgrid(LON, LAT)
    coords = {"lat": (("y", "x"), lat + 0.1 * lon), "lon": (("y", "x"), lon)}
    curved = xr.DataArray(LABELS, dims=("y", "x"), coords=coords)
    x, y = numbers_on(map_of_labels(curved), 1)[0]
    assert (x, y) == (11, pytest.approx(49 + 1.1))
    coords = {"lat": ("station", [45, 46, 52, 40, 41.0]), "lon": ("station", [5, 6, 7, 8, 9.0])}
    stations = xr.DataArray([0.0, 0, 0, 1, np.nan], dims="station", coords=coords)
    assert numbers_on(map_of_labels(stations), 9) == {0: (6, 46)}


def test_numbers_can_be_read_on_any_page():
    """Black would become the colour of the page's text, which is white on dark pages."""
    ax = new_figure(5, 4).subplots()
    draw_groups(map_of_labels(field_of()), ax, numbers=1, zorder=7)
    (text,) = ax.texts
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
        with pytest.raises(ValueError, match="numbers must be an integer from 0 on, got"):
            plot_map(model, numbers=wrong)
