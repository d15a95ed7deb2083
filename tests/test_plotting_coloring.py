"""Colours by which neighbours can be told apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from label_maps import cell_colors, is_grey, map_of_labels

pytest.importorskip("matplotlib")
pytest.importorskip("xarray")

import xarray as xr

from lincfa.plotting import draw_groups, new_figure
from lincfa.plotting._coloring import (
    color_groups,
    distinct_colors,
    grid_neighbors,
    point_neighbors,
    row_neighbors,
)
from lincfa.report._findings import Places

SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 9))
LABELS = SHAPES.flatmap(
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
@given(LABELS, st.booleans())
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
@given(LABELS, st.booleans())
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
    places = map_of_labels(field).places
    assert places.wraps == (span == 360)
    ax = new_figure(4, 3).subplots()
    draw_groups(map_of_labels(field), ax)
    colors = cell_colors(ax)[0]
    assert len(set(colors)) == 9  # of ten groups two share one
    assert (colors[0] != colors[-1]) == (span == 360)


def test_few_groups_have_colours_of_their_own():
    chosen = color_groups(np.arange(9), np.empty((0, 2), dtype=int), 9)
    assert sorted(chosen.values()) == list(range(9))


def test_as_many_colours_as_it_takes():
    """Thirty groups, each a neighbour of all others."""
    pairs = np.array([(a, b) for a in range(30) for b in range(a)])
    labels = np.arange(30).repeat(2)
    places, colors = distinct_colors(labels, np.empty(0, dtype=int), pairs)
    assert len(set(places.tolist())) == 30 == len(set(colors))


def test_colours_are_not_many_where_few_do():
    """Stripes take two colours; the palette is used up, but nothing beyond it."""
    labels = np.arange(200).repeat(2)
    _, colors = distinct_colors(labels, np.empty(0, dtype=int), row_neighbors(labels))
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


def test_places_of_no_group_do_not_come_between():
    places = Places("points", np.arange(30.0), np.zeros(30), "", "", True, True)
    groups = np.full(30, -1)
    groups[[0, 1, 28, 29]] = 0, 0, 1, 1
    assert point_neighbors(groups, places).tolist() == [[0, 1]]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_places(count):
    places = Places("points", np.arange(count) * 1.0, np.zeros(count), "", "", True, True)
    assert len(point_neighbors(np.arange(count), places)) == (count == 2)


def test_neighbours_in_a_row():
    assert row_neighbors(np.array([0, 0, 1, -1, 2, 1, 1, 0])).tolist() == [[0, 1], [1, 2]]
