"""Blocks of features that never merge with each other, and what is refused of blocks and graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

import literal_strategies as literal
from graphs import assert_connected, complete, neighbouring, random_graph
from lincfa import LinCFA, LinCFACV, order_sensitivity, stability
from lincfa.report._groups import collect_pairs
from lincfa.report._inputs import open_training
from lincfa.structure import chain_connectivity, grid_connectivity
from literal_strategies import assert_same_path
from reference import assert_raises, many_factors, tree

STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]


def make(n=60, D=18, n_blocks=3):
    rng = np.random.default_rng([n, D])
    X, y = many_factors(rng, n, D)
    return X, y, rng.integers(n_blocks, size=D)


def assert_within(model, blocks):
    for group in model.groups_:
        assert len(set(np.asarray(blocks)[group].tolist())) == 1


@pytest.mark.parametrize("strategy", ["sequential", "centroid"])
def test_each_block_as_if_it_were_alone(strategy):
    X, y, blocks = make()
    model = LinCFA(strategy=strategy, tolerance=3.0, blocks=blocks).fit(X, y)
    found = {tuple(group) for group in model.groups_}
    expected = set()
    for block in range(3):
        own = np.flatnonzero(blocks == block)
        alone = LinCFA(strategy=strategy, tolerance=3.0).fit(X[:, own], y)
        expected |= {tuple(own[group]) for group in alone.groups_}
        figures = model.evidence_[np.isin(model.evidence_["feature"], own)]
        np.testing.assert_allclose(np.sort(figures["f"]), np.sort(alone.evidence_["f"]), rtol=1e-9)
    assert found == expected
    assert model.n_connected_components_ == 3


@pytest.mark.parametrize(("n", "D"), [(60, 14), (30, 24)])
@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_paths_as_literally(strategy, n, D):
    X, y, blocks = make(n, D)
    model = LinCFA(strategy=strategy, blocks=blocks).fit(X, y)
    same = neighbouring(blocks[:, None] == blocks)
    assert_same_path(model.merge_path_, getattr(literal, strategy)(X, y, allowed=same))
    assert D - len(model.merge_path_) == 3


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(seed=st.integers(0, 10**6), D=st.integers(1, 14), n_blocks=st.integers(1, 6))
@settings(max_examples=30, deadline=None)
def test_never_mixed(strategy, seed, D, n_blocks):
    """Whatever passes: also with a graph, of which the groups are connected parts."""
    rng = np.random.default_rng(seed)
    blocks, graph = rng.integers(n_blocks, size=D), random_graph(rng, D, 30)
    X, y = many_factors(rng, 40, D)
    for connectivity in (None, graph):
        model = LinCFA(
            strategy=strategy, tolerance=1e6, blocks=blocks, connectivity=connectivity
        ).fit(X, y)
        assert_within(model, blocks)
        assert model.n_groups_ == model.n_connected_components_
    assert_connected(model, graph & (blocks[:, None] == blocks))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_block_changes_nothing(strategy):
    X, y, _ = make()
    plain = LinCFA(strategy=strategy).fit(X, y)
    same = LinCFA(strategy=strategy, blocks=["a"] * 18).fit(X, y)
    np.testing.assert_array_equal(same.labels_, plain.labels_)
    np.testing.assert_array_equal(same.evidence_["f"], plain.evidence_["f"])


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_copies_in_different_blocks_stay_apart(strategy):
    rng = np.random.default_rng(0)
    X, y = tree(rng, 60, 5)
    X = np.hstack([X, X])
    model = LinCFA(strategy=strategy, blocks=np.repeat(["t", "p"], 5)).fit(X, y)
    assert_within(model, np.repeat([0, 1], 5))


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a", "b", "a"],
        np.array([2.5, -1, 2.5, -1]),
        np.array(["x", 3, "x", 3], dtype=object),
        [1, "1", 1, "1"],
        (np.int64(1), np.float64(2), 1, 2),
        [True, False, True, False],
        np.array(["2020", "2021", "2020", "2021"], dtype="datetime64[Y]"),
    ],
)
def test_labels_of_any_type(labels):
    X, y = tree(np.random.default_rng(1), 50, 4)
    model = LinCFA(tolerance=1e9, blocks=labels).fit(X, y)
    assert model.labels_.tolist() == [0, 1, 0, 1]


# With the rest of the library


def test_cross_validation_obeys():
    X, y, blocks = make(60, 18)
    graph = chain_connectivity(18, reach=3)
    merging = {"strategies": STRATEGIES, "tolerances": (1.0, 9.0), "min_correlations": [None]}
    search = LinCFACV(**merging, penalties=[0.0], cv=3)
    model = clone(search).set_params(blocks=blocks, connectivity=graph).fit(X, y)
    assert_within(model, blocks)
    assert_connected(model, graph)
    assert model.n_connected_components_ == model.reducer_.n_connected_components_ > 1
    # The scores are those of groups that obey: of each strategy a path or walk of its own.
    scores = model.cv_results_["mean_test_score"]
    free = search.fit(X, y).cv_results_["mean_test_score"]
    assert (scores != free).all()


def test_resamples_and_permutations_obey():
    X, y, blocks = make(60, 12)
    graph = grid_connectivity((3, 4))
    for strategy in STRATEGIES:
        model = LinCFA(strategy=strategy, tolerance=9.0, connectivity=graph, blocks=blocks)
        found = stability(X, y, 5, model=model, random_state=0)
        for row in found.resampled:
            groups = [np.flatnonzero(row == label) for label in range(row.max() + 1)]
            for group in groups:
                assert len(set(blocks[group].tolist())) == 1
    for strategy in ("agglomerative", "joint"):  # which do not depend on the order of columns
        model = LinCFA(strategy=strategy, tolerance=9.0, connectivity=graph, blocks=blocks)
        permuted = order_sensitivity(X, y, 4, model=model, random_state=0)
        np.testing.assert_array_equal(permuted.agreement, 1.0)


def test_variables_and_lags_are_named_among_what_ends_a_path():
    xr = pytest.importorskip("xarray")
    X, y, _ = make()
    fields = {name: (("time", "place"), X + shift) for shift, name in enumerate("ab")}
    model = LinCFA(strategy="agglomerative", min_correlation=-0.99).fit(xr.Dataset(fields), y)
    assert_raises("with min_correlation and 2 variables this one ends at 2", model.to_linkage)
    model = LinCFA(strategy="agglomerative").fit(xr.Dataset(fields), y)
    assert_raises("is not between 2, the fewest with 2 variables, and 36", model.cut, n_groups=1)
    lagged = xr.DataArray(X.reshape(-1, 3, 6), dims=("time", "lag", "place"))
    model = LinCFA(strategy="agglomerative").fit(lagged, y)
    assert_raises("with lags this one ends at 3", model.to_linkage)
    assert_raises("is not between 3, the fewest with lags, and 18", model.cut, n_groups=2)


def test_parts_in_the_summary_and_ends_of_paths():
    X, y, blocks = make()
    model = LinCFA(blocks=blocks, tolerance=1e9).fit(X, y)
    assert "18 features → 3 groups, in 3 parts that stay apart" in str(model.summary())
    assert "parts" not in str(LinCFA(connectivity="chain").fit(X, y).summary())
    model = LinCFA(strategy="agglomerative", blocks=blocks).fit(X, y)
    assert_raises("with blocks this one ends at 3", model.to_linkage)
    assert_raises("is not between 3, the fewest with blocks, and 18", model.cut, n_groups=2)
    assert model.cut(n_groups=3).n_groups_ == 3
    lonely = np.zeros((80, 80))
    X, y = tree(np.random.default_rng(0), 40, 80)
    with pytest.raises(ValueError, match=r"fewer than 38 groups.*but connectivity leaves 80"):
        LinCFA(strategy="joint", connectivity=lonely).fit(X, y)


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_nearly_merged_are_only_groups_that_may_merge(strategy):
    X, y, blocks = make()
    for rule in ({"blocks": blocks}, {"connectivity": "chain"}):
        model = LinCFA(strategy=strategy, **rule).fit(X, y)
        pairs = collect_pairs(model, open_training(model, X, y))
        assert "Only groups that are allowed to merge" in pairs.note
        names = [f"x{group[0]}" for group in model.groups_]
        if strategy == "agglomerative":
            names = model.get_feature_names_out().tolist()
        allowed = model._constraint().between_groups(model.groups_)
        expected = {frozenset((names[i], names[j])) for i, j in np.argwhere(np.triu(allowed, 1))}
        found = {frozenset(pair) for pair in zip(pairs.near.first, pairs.near.second, strict=True)}
        assert found == expected
        assert 0 < len(found) < len(names) * (len(names) - 1) / 2


# What is refused


BAD = [
    ({"connectivity": "lattice"}, r"None, one of \['grid', 'chain'\] or a square matrix"),
    ({"connectivity": 3}, "square matrix over the features"),
    ({"connectivity": np.zeros(6)}, "square matrix over the features"),
    ({"connectivity": np.zeros((5, 5))}, r"shape \(5, 5\), but there are 6 features"),
    ({"connectivity": np.full((6, 6), np.nan)}, "must be finite"),
    ({"connectivity": np.triu(complete(6))}, "symmetric, but it connects columns 0, 1 in one"),
    ({"connectivity": "grid"}, "needs an xarray field.*grid_connectivity"),
    ({"blocks": [1, 2]}, r"one label per feature, 6, got an array of shape \(2,\)"),
    ({"blocks": 7}, "one label per feature"),
    ({"blocks": ["a", None, "a", "a", "b", "b"]}, "no label for feature 1"),
    ({"blocks": [0, 0, 1, np.nan, 1, 1]}, "no label for feature 3"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_bad_parameters(parameters, message):
    X, y = tree(np.random.default_rng(0), 40, 6)
    assert_raises(message, LinCFA(**parameters).fit, X, y)
    assert_raises(message, LinCFA(**parameters).partial_fit, X[:3], y[:3])
    assert_raises(message, LinCFACV(**parameters, cv=2).fit, X, y)


def test_a_chunk_with_bad_parameters_is_not_counted():
    X, y = tree(np.random.default_rng(0), 40, 6)
    model = LinCFA(connectivity="chain").partial_fit(X[:20], y[:20])
    before = model.labels_
    with pytest.raises(ValueError, match="one label per feature"):
        model.set_params(blocks=[1, 2]).partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(model.labels_, before)
    model.set_params(blocks=None).partial_fit(X[20:], y[20:])
    assert model.n_samples_ == 40


@pytest.mark.parametrize(
    "matrix",
    [
        lambda graph: graph.astype(float).toarray() * 7,
        lambda graph: sparse.coo_matrix(graph),
        lambda graph: sparse.csc_array(graph + sparse.eye_array(12)),
        lambda graph: sparse.lil_array(graph),
        lambda graph: graph.toarray().tolist(),
        lambda graph: -graph.astype(float),
    ],
)
def test_matrices_of_any_form(matrix):
    """Sparse or dense, of any type; the diagonal and the size of the entries do not matter."""
    X, y = tree(np.random.default_rng(3), 50, 12)
    graph = grid_connectivity((3, 4))
    expected = LinCFA(tolerance=5.0, connectivity=graph).fit(X, y).labels_
    found = LinCFA(tolerance=5.0, connectivity=matrix(graph)).fit(X, y).labels_
    np.testing.assert_array_equal(found, expected)
    stored = sparse.csr_array(graph, dtype=float)
    stored[0, 1] = stored[1, 0] = 0.0  # stored, and no edge
    without = LinCFA(tolerance=1e9, connectivity=stored).fit(X, y)
    stored.eliminate_zeros()
    np.testing.assert_array_equal(
        without.labels_, LinCFA(tolerance=1e9, connectivity=stored).fit(X, y).labels_
    )
