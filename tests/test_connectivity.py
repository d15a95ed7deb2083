"""Groups that are connected in a graph, against the literal strategies and the free ones."""

import tracemalloc
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import literal_strategies as literal
from graphs import assert_connected, complete, n_parts, neighbouring, random_graph
from lincfa import LinCFA
from lincfa._grouping import _sequential
from lincfa._statistics import ArrayStatistics, Statistics, _array, _cache
from lincfa.datasets import make_field
from lincfa.structure import chain_connectivity, grid_connectivity
from literal_strategies import assert_same_path, assert_same_walk
from reference import duplicates, many_factors, noise_only, tree

IN_ORDER = {"sequential": literal.sequential, "centroid": literal.centroid}
PATHS = {"agglomerative": literal.agglomerative, "joint": literal.joint}
STRATEGIES = [*IN_ORDER, *PATHS]
SHAPES = [(60, 14, 25), (60, 14, 12), (30, 24, 60), (80, 10, 40)]
"""Samples, features and edges; one with more features than a quarter of the samples."""


def make(family, n, D, seed=0):
    """Data and a graph, of the same seed."""
    rng = np.random.default_rng([n, D, seed])
    return *family(rng, n, D), rng


@pytest.mark.parametrize("family", [tree, many_factors, noise_only])
@pytest.mark.parametrize(("n", "D", "n_edges"), SHAPES)
@pytest.mark.parametrize("strategy", IN_ORDER)
@pytest.mark.parametrize("tolerance", [0.5, 4.0])
def test_in_order_as_literally(strategy, tolerance, family, n, D, n_edges):
    X, y, rng = make(family, n, D)
    graph = random_graph(rng, D, n_edges)
    model = LinCFA(strategy=strategy, tolerance=tolerance, connectivity=graph).fit(X, y)
    expected = IN_ORDER[strategy](X, y, tolerance, allowed=neighbouring(graph))
    assert_same_walk(model, expected)


@pytest.mark.parametrize("family", [tree, many_factors, noise_only])
@pytest.mark.parametrize(("n", "D", "n_edges"), SHAPES)
@pytest.mark.parametrize("strategy", PATHS)
def test_paths_as_literally(strategy, family, n, D, n_edges):
    X, y, rng = make(family, n, D)
    graph = random_graph(rng, D, n_edges)
    model = LinCFA(strategy=strategy, connectivity=graph).fit(X, y)
    expected = PATHS[strategy](X, y, allowed=neighbouring(graph))
    assert_same_path(model.merge_path_, expected)
    assert D - len(model.merge_path_) == n_parts(graph, np.arange(D))


@pytest.mark.parametrize("lowest", [None, 0.3])
@pytest.mark.parametrize("family", [tree, many_factors, noise_only])
@pytest.mark.parametrize(("n", "D"), [(60, 14), (30, 24)])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_complete_graph_changes_nothing(strategy, family, n, D, lowest):
    X, y, _ = make(family, n, D, seed=1)
    options = {"strategy": strategy, "tolerance": 2.0, "min_correlation": lowest}
    free = LinCFA(**options).fit(X, y)
    bound = LinCFA(**options, connectivity=complete(D)).fit(X, y)
    np.testing.assert_array_equal(bound.labels_, free.labels_)
    for name in ("feature", "partner"):
        np.testing.assert_array_equal(bound.evidence_[name], free.evidence_[name])
    for name in ("correlation", "f"):
        # The same sums in another order.
        np.testing.assert_allclose(
            bound.evidence_[name], free.evidence_[name], rtol=1e-7, atol=1e-9
        )
    for name in free.cohesion_.dtype.names:
        np.testing.assert_allclose(bound.cohesion_[name], free.cohesion_[name], atol=1e-9)
    assert bound.n_connected_components_ == free.n_connected_components_ == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(
    seed=st.integers(0, 10**6),
    D=st.integers(1, 16),
    n_edges=st.integers(0, 40),
    tolerance=st.sampled_from([0.3, 2.0, 1e6]),
    n_constant=st.integers(0, 2),
)
@settings(max_examples=40, deadline=None)
def test_groups_are_connected(strategy, seed, D, n_edges, tolerance, n_constant):
    """Several parts, features without a neighbour, constant ones: those are no bridges."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, D, n_edges)
    factors = rng.normal(size=(40, 3))
    X = factors[:, rng.integers(3, size=D)] + 0.3 * rng.normal(size=(40, D))
    constant = rng.permutation(D)[: min(n_constant, D - 1)]
    X[:, constant] = 1.0
    y = factors.sum(axis=1) + rng.normal(size=40)
    model = LinCFA(strategy=strategy, tolerance=tolerance, connectivity=graph)
    with pytest.warns(UserWarning, match="constant") if constant.size else nullcontext():
        model.fit(X, y)
    assert_connected(model, graph)
    varying = np.setdiff1d(np.arange(D), constant)
    np.testing.assert_array_equal(np.sort(np.concatenate(model.groups_)), varying)
    parts = n_parts(graph, varying)
    assert model.n_connected_components_ == parts <= model.n_groups_
    if tolerance == 1e6:  # which every pair passes
        assert model.n_groups_ == parts


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_group_ends_where_its_neighbours_do_not_pass(strategy):
    """Two copies of a feature at the ends of a chain, with others between them, stay apart."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    X[:, 4] = X[:, 0]
    y = X @ [3.0, -3.0, 3.0, -3.0, 0.0] + 0.1 * rng.normal(size=200)
    free = LinCFA(strategy=strategy, tolerance=0.1).fit(X, y)
    assert free.labels_[0] == free.labels_[4]
    chained = LinCFA(strategy=strategy, tolerance=0.1, connectivity="chain").fit(X, y)
    assert chained.labels_[0] != chained.labels_[4]
    assert chained.n_connected_components_ == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_copies_merge_first_and_only_with_neighbours(strategy):
    X, y, _ = make(duplicates, 60, 12)
    graph = chain_connectivity(12).toarray()
    model = LinCFA(strategy=strategy, connectivity=graph).fit(X, y)
    if strategy in IN_ORDER:
        expected = IN_ORDER[strategy](X, y, 1.0, allowed=neighbouring(graph)).groups
        assert [group.tolist() for group in model.groups_] == expected
    else:
        same = graph & (np.corrcoef(X.T) > 1 - 1e-12)
        model = model.cut(tolerance=1e-12)
        assert (model.labels_[np.argwhere(same)] == model.labels_[np.argwhere(same)[:, :1]]).all()
        if strategy == "agglomerative":  # copies that stay apart leave others of no weight
            assert model.n_groups_ == n_parts(same, np.arange(12)) < 12
            assert_connected(model, same)


# Ways of computing


@pytest.fixture(scope="module")
def scene():
    """A field of more cells than samples: the engine then works on columns."""
    X, y, _ = make_field(80, (9, 16), smoothness=2.0, random_state=3)
    return X, y, grid_connectivity((9, 16), wrap=True)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_sources_agree_and_weights_count_as_copies(scene, strategy):
    """Array of both orders, weights of one, chunks of rows: the same groups."""
    X, y, graph = scene
    model = LinCFA(strategy=strategy, connectivity=graph)
    expected = model.fit(X, y).labels_
    assert_connected(model, graph)
    np.testing.assert_array_equal(model.fit(np.asfortranarray(X), y).labels_, expected)
    np.testing.assert_array_equal(model.fit(X, y, np.ones(len(y))).labels_, expected)
    for part in np.array_split(np.arange(len(y)), 3):
        model.partial_fit(X[part], y[part])
    np.testing.assert_array_equal(model.labels_, expected)
    counts = np.random.default_rng(0).integers(0, 3, size=len(y))
    weighted = LinCFA(strategy=strategy, connectivity=graph).fit(X, y, counts)
    copied = LinCFA(strategy=strategy, connectivity=graph)
    copied.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_array_equal(weighted.labels_, copied.labels_)
    # The regression on all groups of a smooth field is nearly singular.
    np.testing.assert_allclose(weighted.evidence_["f"], copied.evidence_["f"], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("strategy", ["sequential", "centroid"])
@pytest.mark.parametrize("together", [1, 3, 50])
def test_room_for_few_columns_does_not_matter(scene, strategy, together, monkeypatch):
    """Columns are kept in blocks, of which large data have many more than there is room for."""
    X, y, graph = scene
    expected = LinCFA(strategy=strategy, connectivity=graph).fit(X, y)
    monkeypatch.setattr(_array, "_COLUMNS", together)
    monkeypatch.setattr(_cache, "_FEWEST_VALUES", 1)
    monkeypatch.setattr(_cache, "_KEPT_SHARE", 0.0)  # two blocks
    model = LinCFA(strategy=strategy, connectivity=graph).fit(X, y)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.evidence_["f"], expected.evidence_["f"], rtol=1e-9)


@pytest.mark.parametrize("strategy", ["sequential", "centroid"])
def test_long_columns_are_not_all_kept(strategy):
    """32 MiB of columns are kept, which here are half of the data; a block of them is read."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2**18, 32)) + rng.normal(size=(2**18, 1))
    y = X.sum(axis=1)
    model = LinCFA(strategy=strategy, connectivity="chain").fit(X, y)  # loads what it needs
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes


class Counting(list):
    """A list that counts how often it is asked."""

    asked = 0

    def __getitem__(self, place):
        self.asked += 1
        return super().__getitem__(place)


@pytest.mark.parametrize("hub_only", [True, False], ids=["star", "complete"])
def test_features_that_never_pass_are_not_looked_through_again_and_again(hub_only, monkeypatch):
    """As much work as edges, where every seed looks ahead through features with many of them.

    That is, where the neighbours of all features are not compared beforehand.
    """
    monkeypatch.setattr(ArrayStatistics, "along_edges", Statistics.along_edges)
    D = 500 if hub_only else 150
    graph = complete(D)
    if hub_only:
        graph[:-1, :-1] = 0
    X, y, _ = make(noise_only, 60, D)
    lists = []
    original = _sequential._ConnectedGroups.__init__

    def counted(self, *args):
        original(self, *args)
        self.free = Counting(self.free)
        lists.append(self.free)

    monkeypatch.setattr(_sequential._ConnectedGroups, "__init__", counted)
    model = LinCFA(connectivity=graph, min_correlation=0.9, tolerance=10.0).fit(X, y)
    assert model.n_groups_ == D
    # Each edge is followed once by the group and up to 8 times ahead of it; 8 features are looked
    # at ahead of the smallest group. Without a limit it would be several times as many.
    n_edges = np.count_nonzero(graph)
    assert n_edges <= lists[0].asked <= 9 * n_edges + 8 * 9 * D


@pytest.mark.parametrize("units", ["standardized", "original"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_cohesion(scene, strategy, units):
    """As computed from the groups; the minimum of a large group is an upper bound."""
    X, y, graph = scene
    X = X * np.linspace(0.5, 3, X.shape[1])
    model = LinCFA(strategy=strategy, connectivity=graph, units=units, tolerance=10.0).fit(X, y)
    rho = np.corrcoef(X.T)
    reduced = model.transform(X)
    sizes = [group.size for group in model.groups_]
    assert max(sizes) > 64 > min(sizes), "take a tolerance that gives both"
    for k, (group, found) in enumerate(zip(model.groups_, model.cohesion_, strict=True)):
        target = np.corrcoef(reduced[:, k], y)[0, 1]
        assert found["target_correlation"] == pytest.approx(target, abs=1e-9)
        assert found["min_is_exact"] == (group.size <= 64)
        if group.size > 1:
            pairs = rho[np.ix_(group, group)][np.triu_indices(group.size, 1)]
            assert found["mean_correlation"] == pytest.approx(pairs.mean(), abs=1e-9)
            if group.size <= 64:
                assert found["min_correlation"] == pytest.approx(pairs.min(), abs=1e-9)
            else:
                assert pairs.min() - 1e-9 <= found["min_correlation"] <= np.median(pairs)
