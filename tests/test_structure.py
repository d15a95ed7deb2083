"""Connectivity of grids, places and rows of features, against a look at every pair."""

from itertools import product

import numpy as np
import pytest
import xarray as xr
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import FeatureAgglomeration

import lincfa
from lincfa.structure import (
    _coordinates,
    chain_connectivity,
    coordinate_connectivity,
    grid_connectivity,
)

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
    wrap = draw(
        st.booleans() | st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)),
    )
    return shape, draw(st.sampled_from([4, 8])), np.reshape(cells, shape), wrap


@CALM
@given(case=grids())
@example(case=((2, 2), 8, np.ones((2, 2), bool), [True, True]))
@example(case=((3, 3, 3), 8, np.ones((3, 3, 3), bool), [True, True, True]))
def test_grid_is_what_differences_of_indices_say(case):
    shape, neighbors, mask, wrap = case
    circles = wrap if isinstance(wrap, list) else [False] * (len(shape) - 1) + [wrap]
    found = grid_connectivity(shape, neighbors=neighbors, mask=mask, wrap=wrap)
    np.testing.assert_array_equal(dense(found), grid_by_pairs(shape, neighbors, mask, circles))


@pytest.mark.parametrize(
    ("shape", "four", "eight"), [((5,), 2, 2), ((5, 5), 4, 8), ((5, 5, 5), 6, 26)]
)
def test_numbers_of_neighbours_in_any_dimension(shape, four, eight):
    middle = int(np.prod(shape)) // 2
    for neighbors, count in ((4, four), (8, eight)):
        assert dense(grid_connectivity(shape, neighbors=neighbors))[middle].sum() == count
        everywhere = grid_connectivity(shape, neighbors=neighbors, wrap=[True] * len(shape))
        assert set(dense(everywhere).sum(axis=1)) == {count}


@pytest.mark.parametrize("length", [1, 2])
@pytest.mark.parametrize("neighbors", [4, 8])
def test_circles_of_one_and_two_cells(length, neighbors):
    """Going round does not make a cell its own neighbour, nor a neighbour twice."""
    for shape in ((length,), (3, length), (length, 3)):
        every = [True] * len(shape)
        mask = np.ones(shape, dtype=bool)
        found = dense(grid_connectivity(shape, neighbors=neighbors, wrap=every))
        np.testing.assert_array_equal(found, grid_by_pairs(shape, neighbors, mask, every))
    assert grid_connectivity((length,), wrap=True).nnz == length * (length - 1)


def test_true_wraps_the_last_axis_alone():
    found = dense(grid_connectivity((3, 4), wrap=True))
    assert found[0, 3]  # first and last longitude
    assert not found[0, 8]  # first and last latitude
    np.testing.assert_array_equal(found, dense(grid_connectivity((3, 4), wrap=[False, True])))
    np.testing.assert_array_equal(found, dense(grid_connectivity((3, 4), wrap=np.True_)))


def test_shape_may_be_a_number():
    np.testing.assert_array_equal(dense(grid_connectivity(6)), dense(chain_connectivity(6)))
    np.testing.assert_array_equal(
        dense(grid_connectivity(np.array([6]))), dense(grid_connectivity(6))
    )


def test_masked_grid_is_a_part_of_the_whole():
    """Cells left out also cut the ways through them; an island has an empty row."""
    mask = np.array([[1, 0, 1, 1], [1, 0, 0, 0], [0, 0, 0, 1]], dtype=bool)
    whole = dense(grid_connectivity(mask.shape, neighbors=8))
    found = dense(grid_connectivity(mask.shape, neighbors=8, mask=mask))
    np.testing.assert_array_equal(found, whole[np.ix_(mask.ravel(), mask.ravel())])
    assert found.sum(axis=1).tolist() == [1, 1, 1, 1, 0]
    field = xr.DataArray(mask, dims=("lat", "lon"))
    np.testing.assert_array_equal(
        dense(grid_connectivity(field.shape, neighbors=8, mask=field)), found
    )
    hidden = np.ma.masked_array(np.ones(mask.shape, dtype=bool), ~mask)
    np.testing.assert_array_equal(
        dense(grid_connectivity(mask.shape, neighbors=8, mask=hidden)), found
    )


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


@pytest.mark.parametrize("k", [1, 3, 29])
def test_nearest_without_ties_are_exact(k):
    rng = np.random.default_rng(5)
    lat, lon = rng.uniform(-90, 90, 30), rng.uniform(-180, 180, 30)
    distance = haversine(lat, lon)
    np.fill_diagonal(distance, np.inf)
    expected = np.zeros((30, 30), dtype=bool)
    np.put_along_axis(expected, np.argsort(distance, axis=1)[:, :k], True, axis=1)
    found = dense(coordinate_connectivity(lat, lon, k=k))
    np.testing.assert_array_equal(found, expected | expected.T)
    if k < 29:
        assert (found.sum(axis=1) > k).any()  # the union adds to some


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


@pytest.mark.parametrize("turns", [-1, 1, 3])
def test_longitudes_of_any_convention(turns):
    rng = np.random.default_rng(2)
    lat, lon = rng.uniform(-90, 90, 40), rng.uniform(0, 360, 40)
    lat[20:], lon[20:] = lat[:20], lon[:20]  # twenty places that are there twice
    moved = np.where(np.arange(40) < 20, lon, lon + 360 * turns)
    for how in ({"radius_km": 1e-6}, {"radius_km": 3000}, {"k": 1}):
        np.testing.assert_array_equal(
            dense(coordinate_connectivity(lat, moved, **how)),
            dense(coordinate_connectivity(lat, lon, **how)),
        )


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


def test_one_place_has_no_neighbours():
    assert dense(coordinate_connectivity(45.0, 7.0, radius_km=10)).tolist() == [[False]]


def test_too_many_pairs_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(_coordinates, "_MOST_LINKS", 10)
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


def test_module_is_found_by_its_name():
    assert lincfa.structure.chain_connectivity is chain_connectivity
    assert "structure" in dir(lincfa)
