"""Connectivity of grids, places and rows of features, against a look at every pair; bad input."""

from itertools import product

import numpy as np
import pytest
import xarray as xr
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import FeatureAgglomeration

from lincfa.structure import chain_connectivity, coordinate_connectivity, grid_connectivity
from reference import assert_raises

CALM = settings(max_examples=200, deadline=None, derandomize=True)
EARTH = 6371.0088
DEGREE = EARTH * np.pi / 180  # km along a great circle
HALF_WAY = EARTH * np.pi


def dense(matrix):
    """The matrix as an array, once it is seen to be well formed."""
    assert isinstance(matrix, sparse.csr_array)
    assert matrix.dtype == bool
    assert matrix.indices.dtype == matrix.indptr.dtype == np.int32  # csgraph takes no other
    for start, stop in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        assert (np.diff(matrix.indices[start:stop]) > 0).all()  # in order, and none twice
    assert matrix.data.all()
    full = matrix.toarray()
    assert (full == full.T).all()
    assert not full.diagonal().any()
    return full


def grid_by_pairs(shape, neighbors, mask, circles):
    """Neighbours by the difference of indices, for every pair of cells."""
    cells = [cell for cell in product(*map(range, shape)) if mask[cell]]
    result = np.zeros((len(cells), len(cells)), dtype=bool)
    for (i, one), (j, other) in product(enumerate(cells), repeat=2):
        steps = [abs(a - b) for a, b in zip(one, other, strict=True)]
        steps = [
            min(step, length - step) if circle else step
            for step, length, circle in zip(steps, shape, circles, strict=True)
        ]
        result[i, j] = (sum(steps) if neighbors == 4 else max(steps)) == 1
    return result


def haversine(lat, lon):
    """Distances in km of every pair of places."""
    lat, lon = np.radians(np.ravel(lat)), np.radians(np.ravel(lon))
    h = np.sin((lat[:, None] - lat) / 2) ** 2
    h = h + np.cos(lat[:, None]) * np.cos(lat) * np.sin((lon[:, None] - lon) / 2) ** 2
    return 2 * EARTH * np.arcsin(np.sqrt(np.clip(h, 0, 1)))


@st.composite
def grids(draw):
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    n = int(np.prod(shape))
    cells = draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any))
    wrap = draw(st.booleans() | st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    return shape, draw(st.sampled_from([4, 8])), np.reshape(cells, shape), wrap


def test_axes_of_one_cell_and_many_axes():
    plain = grid_connectivity((3, 4), neighbors=8, wrap=[False, True]).toarray()
    wrap = [True, False, *[False] * 20, True]
    wide = grid_connectivity((1, 3, *[1] * 20, 4), neighbors=8, wrap=wrap).toarray()
    np.testing.assert_array_equal(wide, plain)
    assert grid_connectivity((1, 1), wrap=True).toarray().tolist() == [[0]]
    with pytest.raises(ValueError, match="at most 8 axes with more than one cell"):
        grid_connectivity((2,) * 24)


@CALM
@given(case=grids())
@example(case=((2, 2), 8, np.ones((2, 2), bool), [True, True]))
@example(case=((3, 3, 3), 8, np.ones((3, 3, 3), bool), [True, True, True]))
@example(case=((1, 2), 4, np.ones((1, 2), bool), [True, True]))
@example(case=((3, 4), 4, np.ones((3, 4), bool), True))
def test_grid_is_what_differences_of_indices_say(case):
    shape, neighbors, mask, wrap = case
    circles = wrap if isinstance(wrap, list) else [False] * (len(shape) - 1) + [wrap]
    found = grid_connectivity(shape, neighbors=neighbors, mask=mask, wrap=wrap)
    np.testing.assert_array_equal(dense(found), grid_by_pairs(shape, neighbors, mask, circles))


def test_shape_may_be_a_number():
    np.testing.assert_array_equal(dense(grid_connectivity(6)), dense(chain_connectivity(6)))
    np.testing.assert_array_equal(
        dense(grid_connectivity(np.array([6]))), dense(grid_connectivity(6))
    )
    np.testing.assert_array_equal(
        dense(grid_connectivity((3, 4), wrap=np.True_)), dense(grid_connectivity((3, 4), wrap=True))
    )


def test_masked_grid_is_a_part_of_the_whole():
    """Cells left out also cut the ways through them; an island has an empty row."""
    mask = np.array([[1, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=bool)
    whole = dense(grid_connectivity(mask.shape, neighbors=8))
    expected = whole[np.ix_(mask.ravel(), mask.ravel())]
    assert expected.sum(axis=1).tolist() == [1, 1, 1, 1, 0]
    hidden = np.ma.masked_array(np.ones(mask.shape, dtype=bool), ~mask)
    for part in (mask, xr.DataArray(mask, dims=("lat", "lon")), hidden):
        found = dense(grid_connectivity(mask.shape, neighbors=8, mask=part))
        np.testing.assert_array_equal(found, expected)


def test_large_grid_has_the_links_it_should():
    rows, columns = 300, 400
    across = grid_connectivity((rows, columns))
    assert across.nnz == 2 * (rows * (columns - 1) + columns * (rows - 1))
    around = grid_connectivity((rows, columns), neighbors=8, wrap=True)
    assert around.nnz == 2 * (rows * columns + 3 * columns * (rows - 1))


@pytest.mark.parametrize(("n", "reach"), [(1, 1), (2, 5), (7, 1), (7, 3), (7, 6), (7, 10**12)])
def test_chain_reaches_so_far(n, reach):
    distance = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    expected = (distance > 0) & (distance <= reach)
    np.testing.assert_array_equal(dense(chain_connectivity(n, reach=reach)), expected)


SPECIAL_LAT = [-90.0, -89.9999, -45.0, 0.0, 45.0, 89.9999, 90.0]
SPECIAL_LON = [-180.0, -179.999, -10.0, 0.0, 10.0, 179.999, 180.0, 350.0, 360.0, 370.0]
PLACES = st.lists(
    st.tuples(
        st.sampled_from(SPECIAL_LAT) | st.floats(-90, 90),
        st.sampled_from(SPECIAL_LON) | st.floats(-400, 800),
    ),
    min_size=2,
    max_size=12,
)
# Between opposite places the haversine loses half of its digits: 1e-8 radians are 0.1 m.
MARGIN = 1e-3


@CALM
@given(places=PLACES, radius=st.floats(0.01, 25_000))
def test_radius_is_what_the_haversine_says(places, radius):
    lat, lon = np.transpose(places)
    distance = haversine(lat, lon)
    found = dense(coordinate_connectivity(lat, lon, radius_km=radius))
    clear = np.abs(distance - radius) > MARGIN
    np.fill_diagonal(distance, np.inf)
    np.testing.assert_array_equal(found[clear], (distance <= radius)[clear])


@CALM
@given(places=PLACES, data=st.data())
def test_nearest_are_what_the_haversine_says(places, data):
    k = data.draw(st.integers(1, len(places) - 1))
    lat, lon = np.transpose(places)
    distance = haversine(lat, lon)
    np.fill_diagonal(distance, np.inf)
    furthest = np.sort(distance, axis=1)[:, k - 1, None]
    found = dense(coordinate_connectivity(lat, lon, k=k))
    assert (found.sum(axis=1) >= k).all()
    nearer = distance < furthest - MARGIN
    assert found[nearer | nearer.T].all()
    further = distance > furthest + MARGIN
    assert not found[further & further.T].any()


def test_date_line_and_poles():
    lat, lon = [0, 0, 0], [179.5, -179.5, 178.0]
    found = dense(coordinate_connectivity(lat, lon, radius_km=1.1 * DEGREE))
    assert found.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    # Half a degree from the pole, all longitudes are within a degree of each other.
    round_pole = np.full(8, 89.5), np.arange(8) * 45.0
    assert dense(coordinate_connectivity(*round_pole, radius_km=DEGREE)).sum() == 8 * 7
    # At the pole itself all longitudes are one place, within a micrometre.
    assert dense(coordinate_connectivity([-90, -90], [0, 137], radius_km=1e-9)).sum() == 2
    assert dense(coordinate_connectivity([90, -90], [0, 0], radius_km=20_000)).sum() == 0
    assert dense(coordinate_connectivity(45.0, 7.0, radius_km=10)).tolist() == [[False]]


@pytest.mark.parametrize("step", [0.1, 0.25, 1.0])
def test_places_exactly_at_the_radius_are_neighbours(step):
    """Of meridians and of the equator, cut in equal steps, rounding leaves out none."""
    steps = np.arange(-80, 80, step)
    still = np.full(steps.size, 33.3)
    for lat, lon in ((steps, still), (np.zeros(steps.size), steps)):
        found = coordinate_connectivity(lat, lon, radius_km=step * DEGREE)
        np.testing.assert_array_equal(dense(found), dense(chain_connectivity(steps.size)))


@pytest.mark.parametrize("unit", [1e-3, 1e-9])  # a metre, a micrometre
def test_small_distances_are_kept_apart(unit):
    lat = 52 + np.array([0, 1, 3]) * unit / DEGREE
    for radius, links in ((0.9, 0), (1.1, 1), (2.1, 2), (3.1, 3)):
        assert coordinate_connectivity(lat, [5, 5, 5], radius_km=radius * unit).nnz == 2 * links


@pytest.mark.parametrize("radius", [HALF_WAY, 1e6, np.inf, np.float32(30_000)])
def test_half_way_round_connects_all(radius):
    rng = np.random.default_rng(7)
    lat, lon = rng.uniform(-90, 90, 50), rng.uniform(-180, 180, 50)
    lat, lon = np.append(lat, -lat), np.append(lon, lon + 180)  # each with its opposite
    assert coordinate_connectivity(lat, lon, radius_km=radius).nnz == 100 * 99


@pytest.mark.parametrize("k", [1, 2, 5, 40])
def test_places_at_the_same_coordinates_are_neighbours(k):
    """Thirty at one place, thirty at another, one alone: no place takes itself for a neighbour."""
    lat, lon = (
        np.repeat([10.0, 50.0, -30.0], [30, 30, 1]),
        np.repeat([20.0, 70.0, 0.0], [30, 30, 1]),
    )
    same = haversine(lat, lon) == 0
    np.fill_diagonal(same, False)
    found = dense(coordinate_connectivity(lat, lon, k=k))
    assert (found.sum(axis=1) >= k).all()
    if k < 30:
        assert not (found & ~same)[:-1, :-1].any()
        assert found[-1].sum() == k  # the one alone has its k, and is nobody's nearest
    else:
        assert found[same].all()
    np.testing.assert_array_equal(dense(coordinate_connectivity(lat, lon, radius_km=1)), same)


def test_coordinates_of_curvilinear_grids():
    y, x = np.meshgrid(np.arange(4), np.arange(5), indexing="ij")
    lat, lon = 40 + y + 0.2 * x, 5 + x - 0.3 * y
    expected = haversine(lat, lon) <= 130
    np.fill_diagonal(expected, False)
    found = dense(coordinate_connectivity(lat, lon, radius_km=130))
    np.testing.assert_array_equal(found, expected)
    fields = [xr.DataArray(values, dims=("y", "x")) for values in (lat, lon)]
    np.testing.assert_array_equal(dense(coordinate_connectivity(*fields, radius_km=130)), found)
    mask = lon + lat < 48
    unknown = [np.where(mask, values, np.nan) for values in (lat, lon)]
    kept = np.flatnonzero(mask)
    part = dense(coordinate_connectivity(*unknown, radius_km=130, mask=mask))
    np.testing.assert_array_equal(part, expected[np.ix_(kept, kept)])
    assert (
        coordinate_connectivity(*unknown, k=2, mask=fields[0] + fields[1] < 48).shape == part.shape
    )


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr("lincfa.structure._MOST_LINKS", 10)
    lat, lon = np.zeros(5), np.arange(5)
    assert coordinate_connectivity(lat, lon, radius_km=1.5 * DEGREE).nnz == 8
    with pytest.raises(ValueError, match=r"radius_km=20000 makes 10 pairs .* 5 places.* smaller"):
        coordinate_connectivity(lat, lon, radius_km=20_000)


@pytest.mark.parametrize(
    "connectivity",
    [
        grid_connectivity((5, 6), wrap=True),
        chain_connectivity(30, reach=2),
        coordinate_connectivity(np.zeros(30), np.arange(30) * 12, k=2),
    ],
)
@pytest.mark.parametrize("linkage", ["ward", "average"])
def test_scikit_learn_takes_the_matrices(connectivity, linkage):
    X = np.random.default_rng(3).normal(size=(40, 30))
    model = FeatureAgglomeration(6, connectivity=connectivity, linkage=linkage).fit(X)
    for label in range(6):
        members = np.flatnonzero(model.labels_ == label)
        assert connected_components(connectivity[members][:, members])[0] == 1
    # Without the matrix, groups would not hang together.
    free = FeatureAgglomeration(6, linkage=linkage).fit(X).labels_
    assert any(
        connected_components(connectivity[free == label][:, free == label])[0] > 1
        for label in range(6)
    )


# What is refused


LAND = np.ones((2, 3), dtype=bool)
NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((), {}, r"shape must be positive integers, one per axis, got \(\)"),
        ((2, 0), {}, "shape must be positive"),
        ((2, -3), {}, "shape must be positive"),
        ((2.0, 3), {}, "shape must be positive integers"),
        (((2, 3),), {}, "shape must be positive"),
        ("grid", {}, "shape must be .* got 'grid'"),
        ((True, True), {}, "shape must be"),
        ((2, 3), {"neighbors": 6}, "neighbors must be 4 .* or 8 .* got 6"),
        ((2, 3), {"wrap": "lon"}, "wrap must be True, False or 2 of these.* got 'lon'"),
        ((2, 3), {"wrap": [True]}, "wrap must be True, False or 2 of these"),
        ((2, 3), {"wrap": [0, 1]}, "wrap must be"),
        ((2, 3), {"wrap": None}, "wrap must be"),
        ((2, 3), {"mask": LAND.T}, r"mask must have the shape \(2, 3\), got \(3, 2\)"),
        ((2, 3), {"mask": LAND * 1.0}, "mask must be of type bool.* got float64; use a comparison"),
        ((2, 3), {"mask": ~LAND}, "mask includes nothing"),
        ((2, 3), {"mask": np.ma.masked_array(LAND, LAND)}, "mask includes nothing"),
    ],
)
def test_grids_that_are_refused(shape, options, message):
    assert_raises(message, grid_connectivity, shape, **options)


@pytest.mark.parametrize("wrong", [0, -1, 2.0, True, "3", None])
def test_chains_that_are_refused(wrong):
    assert_raises("n must be a positive integer, got", chain_connectivity, wrong)
    assert_raises("reach must be a positive integer, got", chain_connectivity, 5, reach=wrong)


@pytest.mark.parametrize(
    ("lat", "lon", "options", "message"),
    [
        ([1, 2], [3, 4], {}, "Pass either radius_km or k"),
        ([1, 2], [3, 4], {"k": 1, "radius_km": 5}, "Pass either radius_km or k"),
        ([1, 2, 3], [3, 4], {"k": 1}, r"same shape, got \(3,\) and \(2,\).* np.meshgrid"),
        ([], [], {"k": 1}, "lat and lon are empty"),
        ([1, 90.5], [3, 4], {"k": 1}, "lat must be from -90 to 90, but is 90.5 at place 1;"),
        ([1, -91], [3, 4], {"k": 1}, "is -91.0 at place 1; check that lat and lon are not swapped"),
        ([[1, 2], [99, 98]], [[3, 4], [5, 6]], {"k": 1}, r"99.0 at place \(1, 0\) \(and 1 more\);"),
        ([1, NAN], [3, 4], {"k": 1}, "lat must be finite, but is nan at place 1; exclude"),
        ([1, 2], [INF, 4], {"k": 1}, "lon must be finite, but is inf at place 0; exclude"),
        (np.ma.masked_array([1, 2], [0, 1]), [3, 4], {"k": 1}, "lat .* nan at place 1"),
        (99.0, 3.0, {"radius_km": 5}, "is 99.0 at place 0;"),
        (["a", "b"], [3, 4], {"k": 1}, "lat must be numeric, in degrees"),
        ([1, 2], [3, 4 + 1j], {"k": 1}, "lon must be numeric, in degrees"),
        ([1, 2], np.array(["x", 4], object), {"k": 1}, "lon must be numeric, in degrees"),
        ([1, 2], [3, 4], {"k": 0}, "k must be an integer from 1 to 1, got 0"),
        ([1, 2, 3], [3, 4, 5], {"k": 3}, "k must be an integer from 1 to 2, got 3"),
        ([1, 2], [3, 4], {"k": 1.0}, "k must be an integer"),
        ([1], [3], {"k": 1}, "k needs at least two places"),
        ([1, 2], [3, 4], {"radius_km": 0}, "radius_km must be a positive number .* got 0"),
        ([1, 2], [3, 4], {"radius_km": -5.0}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"radius_km": NAN}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"radius_km": True}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"radius_km": "5"}, "radius_km must be a positive number"),
        ([1, 2], [3, 4], {"k": 1, "mask": [True]}, r"mask must have the shape \(2,\), got \(1,\)"),
        ([1, 2], [3, 4], {"k": 1, "mask": [1, 0]}, "mask must be of type bool"),
        ([1, 2, 3], [3, 4, 5], {"k": 2, "mask": [True, False, True]}, "from 1 to 1, got 2"),
    ],
)
def test_coordinates_that_are_refused(lat, lon, options, message):
    assert_raises(message, coordinate_connectivity, lat, lon, **options)


def test_places_left_out_are_not_looked_at():
    found = coordinate_connectivity(
        [1, 999, 2], [3, NAN, 4], radius_km=500, mask=[True, False, True]
    )
    assert found.toarray().tolist() == [[False, True], [True, False]]
