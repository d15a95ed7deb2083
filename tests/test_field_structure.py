"""Neighbours and blocks of the cells of fields, against tables with the same graph."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import lincfa
from graphs import assert_connected
from lincfa import LinCFA, LinCFACV, order_sensitivity, stability
from lincfa.structure import chain_connectivity, grid_connectivity

xr = pytest.importorskip("xarray")

from field_data import LAT, LON, MISSING, STRATEGIES, N, dataset, field, table

ANY = 1e9
"""A tolerance at which all merge that may."""


def grid(wrap=False):
    """Neighbours among the cells of ``field``."""
    mask = np.ones((LAT, LON), dtype=bool)
    mask[tuple(np.transpose(MISSING))] = False
    return grid_connectivity((LAT, LON), mask=mask, wrap=wrap)


def labels(X, y, **parameters):
    """The map of labels where all neighbours merge."""
    model = LinCFA(sample_dim="time", tolerance=ANY, connectivity="grid", **parameters)
    return model.fit(X, y).label_map()


def row(lon, name="lon", alike=False, **attrs):
    """Cells along a parallel: unlike each other but for the first and last, or all alike."""
    rng = np.random.default_rng(len(lon))
    values = rng.normal(size=(200, len(lon)))
    target = values[:, 0] + rng.normal(size=200)
    values[:, -1] = values[:, 0] + 0.01 * values[:, -1]
    if alike:
        values = values[:, :1] + 0.01 * values
    dims = ("time", name)
    return xr.DataArray(values, dims=dims, coords={name: (name, lon, attrs)}), target


def is_joined(lon, strategy="agglomerative", **about):
    """Whether the first and last cell of a parallel merge; no other two pass."""
    X, y = row(lon, **about)
    found = labels(X, y, strategy=strategy, min_correlation=0.9).values
    assert len(set(found[:-1])) == len(lon) - 1
    assert found[-1] in (found[0], len(lon) - 1)
    return found[-1] == found[0]


def assert_equal_fits(model, other):
    """The same groups, and the same evidence, which depends on the graph."""
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.evidence_["f"], other.evidence_["f"])
    assert model.n_connected_components_ == other.n_connected_components_


# Neighbours


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("circle", [False, True], ids=["region", "globe"])
@pytest.mark.parametrize("dims", [("time", "lat", "lon"), ("lon", "time", "lat")], ids="-".join)
def test_a_field_and_its_table_give_the_same(strategy, dims, circle):
    """Only longitudes, and only those all around the globe, are a circle."""
    X, y = field()
    if circle:
        X = X.assign_coords(lon=np.arange(0.0, 360, 60))
    X = X.transpose(*dims)
    mask = ~np.isnan(X.isel(time=0).values)
    wrap = [circle and dim == "lon" for dim in dims if dim != "time"]
    graph = grid_connectivity(mask.shape, mask=mask, wrap=wrap)
    model, other, free = (
        LinCFA(strategy=strategy, tolerance=3.0, connectivity=how).fit(given, y)
        for how, given in (("grid", X), (graph, table(X)), (None, X))
    )
    assert_equal_fits(model, other)
    assert_connected(model, graph)
    assert 1 < model.n_groups_ < len(model.labels_)
    assert not np.array_equal(model.evidence_["f"], free.evidence_["f"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_first_longitude_is_next_to_the_last(strategy):
    assert is_joined(np.arange(0.0, 360, 10), strategy)
    assert not is_joined(np.arange(0.0, 180, 10), strategy)


CIRCLES = {
    "descending": (np.arange(350.0, -1, -10), {}),
    "from the date line": (np.arange(-180.0, 180, 30), {}),
    "whole numbers": (np.arange(0, 360, 45), {}),
    "single precision": (np.linspace(0, 360, 49, endpoint=False, dtype="f4"), {}),
    "by its name": (np.arange(0.0, 360, 60), {"name": "Longitude"}),
    "by the name of a model": (np.arange(0.0, 360, 60), {"name": "nav_lon"}),
    "from the middle": (np.array([180.0, 240, 300, 0, 60, 120]), {}),
    "by its units": (np.arange(0.0, 360, 60), {"name": "x", "units": "degrees_east"}),
    "by its standard": (np.arange(0.0, 360, 60), {"name": "x", "standard_name": "longitude"}),
    "in radians": (np.arange(6) * np.pi / 3, {"units": "radians"}),
}
LINES = {
    "one is lacking": (np.arange(0.0, 350, 10), {}),
    "uneven": (np.array([0.0, 30, 90, 120, 180, 240, 270, 315]), {}),
    "back and forth": (np.array([0.0, 60, 0, 60, 0, 60]), {}),
    "both ends": (np.arange(-180.0, 181, 30), {}),
    "more than once around": (np.arange(0.0, 720, 30), {}),
    "no longitude": (np.arange(0.0, 360, 60), {"name": "x", "units": "degrees"}),
    "text": (np.array([f"{place}E" for place in range(0, 360, 60)]), {}),
    "unknown": (np.array([0.0, 90, np.nan, 270]), {}),
}


@pytest.mark.parametrize("case", [*CIRCLES, *LINES])
def test_longitudes_all_around(case):
    lon, about = (CIRCLES | LINES)[case]
    assert is_joined(lon, **about) == (case in CIRCLES)


def test_missing_cells_are_no_bridges():
    X, y = row(np.arange(8.0), alike=True)
    assert labels(X, y).values.tolist() == [0] * 8
    X[:, [3, 5]] = np.nan
    found = LinCFA(connectivity="grid", tolerance=ANY).fit(X, y)
    np.testing.assert_array_equal(found.label_map(), [0, 0, 0, np.nan, 1, np.nan, 2, 2])
    assert found.n_connected_components_ == 3
    around = X.assign_coords(lon=np.arange(0.0, 360, 45))
    np.testing.assert_array_equal(labels(around, y), [0, 0, 0, np.nan, 1, np.nan, 0, 0])
    around[:, 0] = np.nan
    np.testing.assert_array_equal(labels(around, y), [np.nan, 0, 0, np.nan, 1, np.nan, 2, 2])
    # Cells that touch at a corner are no neighbours, nor those at the ends without coordinates.
    X, y = row(np.arange(0.0, 360, 30))
    found = labels(X.drop_vars("lon"), y, min_correlation=0.9)
    assert found[0] != found[-1]
    X, y = row(np.arange(4.0), alike=True)
    X = xr.DataArray(X.values.reshape(-1, 2, 2), dims=("time", "lat", "lon"))
    X[:, 0, 1] = X[:, 1, 0] = np.nan
    np.testing.assert_array_equal(labels(X, y), [[0, np.nan], [np.nan, 1]])


def test_cells_side_by_side():
    X, y = row(np.arange(6.0), alike=True)
    X[:, 2] = np.nan
    model = LinCFA(connectivity="chain", tolerance=ANY).fit(X, y)
    other = LinCFA(connectivity=chain_connectivity(5), tolerance=ANY).fit(table(X), y)
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert model.n_connected_components_ == 1  # of columns, among which the missing one is none
    whole, y = dataset()
    rest = whole.drop_vars("t2m")
    found = LinCFA(connectivity="chain", tolerance=ANY, sample_dim="time").fit(rest, y)
    assert found.labels_.tolist() == [0] * 5 + [1]
    for wrong in (whole, whole.t2m):
        with pytest.raises(ValueError, match=r'"chain" is for features in a row.*use "grid"'):
            LinCFA(connectivity="chain", sample_dim="time").fit(wrong, y)


# Matrices


FORMS = [sparse.csr_array, sparse.coo_matrix, np.asarray, lambda matrix: matrix.tolist()]


@pytest.mark.parametrize("form", FORMS, ids=["csr", "coo", "array", "list"])
def test_matrices_over_all_cells_or_those_present(form):
    X, y = field()
    expected = LinCFA(connectivity="grid", tolerance=3.0).fit(X, y)
    for matrix in (grid(), grid_connectivity((LAT, LON))):
        model = LinCFA(connectivity=form(matrix.toarray()), tolerance=3.0).fit(X, y)
        assert_equal_fits(model, expected)
    for size in (LAT * LON - 1, LAT * LON + 1):
        with pytest.raises(ValueError, match=rf"shape \({size}, {size}\), but there are 21"):
            LinCFA(connectivity=form(np.zeros((size, size)))).fit(X, y)


def test_matrices_over_the_cells_of_a_dataset():
    X, y = dataset()
    present = np.concatenate([~np.isnan(X[name].isel(time=0).values.ravel()) for name in X])
    rng = np.random.default_rng(0)
    whole = rng.random((31, 31)) < 0.05
    whole |= whole.T
    part = whole[present][:, present]
    block = np.repeat([0, 1, 2], [21, 5, 1])
    within = part & (block[:, None] == block) & ~np.eye(27, dtype=bool)
    for matrix in (whole, part):
        model = LinCFA(sample_dim="time", tolerance=ANY, connectivity=matrix).fit(X, y)
        count, components = connected_components(within)
        assert model.n_groups_ == model.n_connected_components_ == count > 3
        np.testing.assert_array_equal(model.labels_, components)
    for connectivity, expected in ((None, [0] * 21 + [1] * 5 + [2]), ("grid", None)):
        model = LinCFA(sample_dim="time", tolerance=ANY, connectivity=connectivity).fit(X, y)
        # Of the stations one is missing, so that the last is alone.
        expected = expected or [0] * 21 + [1] * 4 + [2, 3]
        assert model.labels_.tolist() == expected
        assert model.n_connected_components_ == max(expected) + 1


# Blocks


def twice():
    """The same variable twice, of which all cells would merge."""
    X, y = row(np.arange(6.0), alike=True)
    return xr.Dataset({"a": X, "b": X.copy()}), y


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "connectivity", [None, "grid", np.ones((12, 12))], ids=["no", "grid", "all"]
)
def test_variables_never_mix(strategy, connectivity):
    X, y = twice()
    parameters = {"strategy": strategy, "tolerance": ANY, "connectivity": connectivity}
    model = LinCFA(sample_dim="time", **parameters).fit(X, y)
    assert model.labels_.tolist() == [0] * 6 + [1] * 6
    assert model.transform(X)["variable"].values.tolist() == ["a", "b"]
    assert model.n_connected_components_ == 2


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_blocks_within_variables(strategy):
    X, y = twice()
    model = LinCFA(strategy=strategy, sample_dim="time", tolerance=ANY, blocks=list("uv" * 6))
    assert model.fit(X, y).labels_.tolist() == [0, 1] * 3 + [2, 3] * 3
    model.set_params(blocks=list("uuuvvv" * 2), connectivity="grid")
    assert model.fit(X, y).labels_.tolist() == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    # A block of cells of both variables is two; others are as they were.
    model.set_params(blocks=list("uuuuvvvvwwww"))
    assert model.fit(X, y).labels_.tolist() == [0] * 4 + [1] * 2 + [2] * 2 + [3] * 4


def test_blocks_as_a_map(tmp_path):
    """A label for every cell, missing or not, as a map in any order of dimensions, or in a row."""
    X, y = field()
    whole = np.arange(LAT * LON).reshape(LAT, LON) % 3
    present = whole.ravel()[X.isel(time=0).transpose("lat", "lon").notnull().values.ravel()]
    expected = LinCFA(tolerance=ANY, blocks=present).fit(X, y).labels_
    on_map = xr.DataArray(whole, dims=("lat", "lon"))
    for blocks in (whole, whole.ravel(), on_map, on_map.T):
        model = LinCFA(tolerance=ANY, blocks=blocks).fit(X, y)
        np.testing.assert_array_equal(model.labels_, expected)
        model.save(tmp_path / "model.json")
        loaded = lincfa.load(tmp_path / "model.json")
        np.testing.assert_array_equal(loaded.fit(X, y).labels_, expected)
    with pytest.raises(ValueError, match="one label per feature, 21, got an array of shape"):
        LinCFA(blocks=np.zeros(23)).fit(X, y)
    with pytest.raises(TypeError, match=r"cannot directly convert an xarray\.Dataset"):
        LinCFA(blocks=on_map.to_dataset(name="region")).fit(X, y)
    assert {tuple(np.unique(present[group])) for group in model.groups_} == {(0,), (1,), (2,)}


# With the rest of the library


@pytest.mark.parametrize("connectivity", ["grid", grid_connectivity((LAT, LON), wrap=True)])
def test_a_saved_model_knows_its_neighbours(tmp_path, connectivity):
    X, y = field()
    X = X.assign_coords(lon=np.arange(0.0, 360, 60))
    model = LinCFA(strategy="agglomerative", tolerance=3.0, connectivity=connectivity).fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = lincfa.load(tmp_path / "model.json")
    assert_equal_fits(loaded, model)
    assert_equal_fits(loaded.fit(X, y), model)
    model.set_params(connectivity=grid(wrap=True)).fit(X, y)
    assert_equal_fits(loaded, model)


def test_searches_and_chunks_obey():
    X, y = field()
    settings = {"tolerances": [0.5, 9.0], "cv": 3}
    model = LinCFACV(connectivity="grid", **settings).fit(X, y)
    plain = LinCFACV(connectivity=grid(), **settings).fit(table(X), y)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    for name in ("mean_test_score", "mean_n_groups"):
        np.testing.assert_array_equal(model.cv_results_[name], plain.cv_results_[name])
    assert model.n_connected_components_ == plain.n_connected_components_
    assert_connected(model, grid())
    expected = LinCFA(tolerance=3.0, connectivity="grid").fit(X, y)
    model = LinCFA(tolerance=3.0, connectivity="grid", sample_dim="time")
    for start in range(0, N, 40):
        model.partial_fit(X[start : start + 40], y[start : start + 40])
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    pytest.importorskip("dask")
    lazy = LinCFA(tolerance=3.0, connectivity="grid").fit(X.chunk(time=50, lat=2), y)
    np.testing.assert_array_equal(lazy.labels_, expected.labels_)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_resamples_and_permutations_obey(strategy):
    X, y = field()
    model = LinCFA(strategy=strategy, tolerance=9.0, connectivity="grid")
    plain = LinCFA(strategy=strategy, tolerance=9.0, connectivity=grid())
    found, other = (
        stability(given, y, 4, model=one, random_state=0)
        for given, one in ((X, model), (table(X), plain))
    )
    np.testing.assert_array_equal(found.resampled, other.resampled)
    orders, others = (
        order_sensitivity(given, y, 3, model=one, random_state=0)
        for given, one in ((X, model), (table(X), plain))
    )
    np.testing.assert_array_equal(orders.agreement, others.agreement)


def test_places_in_a_list_are_no_grid():
    rng = np.random.default_rng(0)
    about = {"lat": ("station", [60, -34, 60.4, -32]), "lon": ("station", [10.7, 151, 5.3, 116])}
    X = xr.DataArray(rng.normal(size=(50, 4)), dims=("time", "station"), coords=about)
    y = rng.normal(size=50)
    with pytest.raises(ValueError, match=r"along 'station', whatever their .*coordinate_connect"):
        LinCFA(connectivity="grid").fit(X, y)
    chained = LinCFA(connectivity="chain", tolerance=ANY).fit(X, y)
    assert chained.n_groups_ == 1
