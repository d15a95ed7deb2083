"""Merging through neighbours in compiled loops gives what it gives in Python."""

import numpy as np
import pytest

from graphs import random_graph
from lincfa import LinCFA
from lincfa._grouping import _agglomerative, _cohesion
from lincfa._rule import Rule, pair_contrasts
from lincfa.structure import chain_connectivity, grid_connectivity

pytest.importorskip("numba")

THRESHOLD = "lincfa._statistics._speed._WORTH_COMPILING"
KINDS = {
    "smooth": {},
    "several targets": {"n_targets": 3},
    "signed": {"signed": True, "flipped": True},
    "signed, several targets": {"signed": True, "flipped": True, "n_targets": 2},
    "limited": {"min_correlation": 0.3},
    "signed, limited": {"signed": True, "flipped": True, "min_correlation": 0.3},
    "known noise": {"noise": 0.5},
    "weights": {"weights": True},
    "signed, weights": {"signed": True, "flipped": True, "weights": True, "n_targets": 2},
    "effective samples": {"effective_samples": 9},
    "integers": {"rounded": True},
    "signed integers": {"rounded": True, "signed": True, "flipped": True},
    "copies": {"copies": True},
    "signed copies": {"copies": True, "signed": True, "flipped": True},
    "all the same": {"same": True},
}


def make(
    seed,
    n_targets=1,
    flipped=False,
    rounded=False,
    copies=False,
    same=False,
    weights=False,
    **options,
):
    """Wide data, a graph and the parameters of a fit."""
    rng = np.random.default_rng(seed)
    height, width = rng.integers(3, 9, size=2)
    D, n = height * width, rng.integers(12, 20)
    factors = rng.normal(size=(n, 4))
    X = factors @ rng.normal(size=(4, D)) + rng.choice([0.1, 1.0]) * rng.normal(size=(n, D))
    Y = factors @ rng.normal(size=(4, n_targets)) + 0.5 * rng.normal(size=(n, n_targets))
    if rounded:
        X, Y = np.round(X), np.round(Y)
    if copies:
        X[:, rng.integers(D, size=D // 2)] = X[:, rng.integers(D, size=D // 2)]
        X[:, 1 : D // 3] = X[:, [0]]
    if same:
        X[:] = X[:, [0]] * rng.uniform(1, 2, size=D)
    if flipped:
        X[:, rng.permutation(D)[: D // 3]] *= -1
    if weights:
        options["feature_weights"] = rng.uniform(0.2, 2, size=D)
    graph = (
        grid_connectivity((height, width)),
        chain_connectivity(D),
        random_graph(rng, D, rng.integers(3 * D)),
    )[seed % 3]
    return X, Y[:, 0] if n_targets == 1 else Y, {"connectivity": graph, **options}


def fit_both_ways(monkeypatch, X, y, **options):
    """Fit in Python and in compiled loops."""
    fits = []
    for threshold in (2**60, 0):
        monkeypatch.setattr(THRESHOLD, threshold)
        fits.append(LinCFA(**options).fit(X, y))
    return fits


def assert_same(records, expected):
    assert records.dtype == expected.dtype
    for name in expected.dtype.names:
        one, other = records[name], expected[name]
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", KINDS)
def test_paths_are_the_same(monkeypatch, kind, seed):
    X, y, options = make([*KINDS].index(kind) * 6 + seed, **KINDS[kind])
    plain, compiled = fit_both_ways(monkeypatch, X, y, strategy="agglomerative", **options)
    assert len(plain.merge_path_)
    assert_same(compiled.merge_path_, plain.merge_path_)
    assert_same(compiled.evidence_, plain.evidence_)
    assert_same(compiled.cohesion_, plain.cohesion_)
    np.testing.assert_array_equal(compiled.labels_, plain.labels_)
    np.testing.assert_array_equal(compiled.signs_, plain.signs_)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 6, 7])  # grids and chains
@pytest.mark.parametrize("kind", ["smooth", "signed, several targets", "copies"])
def test_paths_of_joint_are_the_same(monkeypatch, kind, seed):
    X, y, options = make(seed, **KINDS[kind])
    plain, compiled = fit_both_ways(monkeypatch, X, y, strategy="joint", **options)
    assert (plain.merge_path_["height"] == 0).any()
    assert_same(compiled.merge_path_, plain.merge_path_)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("compared", [2, 5])
def test_outlying_members_are_the_same(monkeypatch, compared, seed):
    monkeypatch.setattr(_cohesion, "COMPARED", compared)
    X, y, options = make(seed, weights=seed % 2 == 1)
    units = ("standardized", "original")[seed % 4 // 2]
    X *= np.random.default_rng(seed).uniform(1, 9, size=X.shape[1])
    plain, compiled = fit_both_ways(
        monkeypatch, X, y, strategy="agglomerative", units=units, **options
    )
    assert plain.merge_path_["size"].max() > 2
    assert_same(compiled.merge_path_, plain.merge_path_)


def test_constant_columns_and_parts_without_edges(monkeypatch):
    X, y, _ = make(0)
    D = X.shape[1]
    X[:, [3, D - 1]] = 1.0
    graph = random_graph(np.random.default_rng(0), D, D // 3)
    monkeypatch.setattr(THRESHOLD, 0)
    for edges in (graph, np.zeros((D, D), dtype=bool)):
        options = {"strategy": "agglomerative", "connectivity": edges}
        with pytest.warns(UserWarning, match="constant"):
            plain, compiled = fit_both_ways(monkeypatch, X, y, **options)
        assert_same(compiled.merge_path_, plain.merge_path_)
        np.testing.assert_array_equal(compiled.labels_, plain.labels_)


def test_the_loops_are_used(monkeypatch):
    """Otherwise the tests above would compare Python with itself."""
    used = []
    merge = _agglomerative._NeighbourPairs._merge_compiled
    monkeypatch.setattr(
        _agglomerative._NeighbourPairs,
        "_merge_compiled",
        lambda self, *arguments: used.append(merge(self, *arguments)),
    )
    X, y, options = make(0)
    fit_both_ways(monkeypatch, X, y, strategy="agglomerative", **options)
    assert used


@pytest.mark.parametrize("noise_ratio", [None, 0.3, 1e-300])
@pytest.mark.parametrize("lowest", [-1.0, 0.2])
def test_f_is_that_of_the_rule(noise_ratio, lowest):
    from lincfa._grouping._loops import PairRule, f_of_pair

    rng = np.random.default_rng(7)
    rule = Rule(50.0, noise_ratio=noise_ratio, min_correlation=lowest, share=0.7)
    for rho in (*rng.uniform(-1, 1, size=60), -1.0, 1.0, 1 - 1e-14, lowest):
        contrasts = pair_contrasts(rng.uniform(-0.6, 0.6, size=3), rng.uniform(-0.6, 0.6, size=3))
        for imbalance in (0.0, 0.4, -0.9):
            expected = rule.f_of_pair(rho, contrasts, rule.n_samples, imbalance)
            actual = f_of_pair(rho, *contrasts, imbalance, PairRule.of(rule))
            assert actual == pytest.approx(expected, rel=1e-12, abs=1e-13)
