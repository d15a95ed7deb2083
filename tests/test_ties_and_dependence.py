"""Ties, copies, mirror images and dependent columns: where rounding must not decide."""

import numpy as np
import pytest
from scipy.linalg import hadamard

import literal_strategies as literal
from lincfa import LinCFA
from lincfa.theory._arrays import inverse
from literal_strategies import assert_same_path
from reference import duplicates, field, make, tree

PATHS = ["agglomerative", "joint"]
STRATEGIES = ["sequential", "centroid", *PATHS]


# The order of the columns


def small_integers(rng, n, D):
    return rng.integers(0, 4, size=(n, D)).astype(float), rng.integers(0, 3, size=n).astype(float)


def binary(rng, n, D):
    return rng.integers(0, 2, size=(n, D)).astype(float), rng.integers(0, 2, size=n).astype(float)


@pytest.mark.parametrize("strategy", PATHS)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("family", [tree, duplicates, small_integers, binary])
def test_order_of_the_columns_does_not_matter(family, seed, strategy):
    rng = np.random.default_rng([20, seed])
    X, y = family(rng, 101, 18)
    X = np.hstack([X, X[:, ::3]])  # exact copies: ties in every step before they merge
    # Any order is as good among copies; from here on it is not.
    distinct = 6 if family is duplicates else 18
    partitions = []
    for order in [np.arange(X.shape[1]), *(rng.permutation(X.shape[1]) for _ in range(4))]:
        model = LinCFA(strategy=strategy).fit(X[:, order], y)
        cuts = [model.cut(n_groups=k) for k in range(1, distinct + 1)]
        partitions.append([{frozenset(order[g].tolist()) for g in cut.groups_} for cut in cuts])
    for other in partitions[1:]:
        assert other == partitions[0]


def test_ties_go_to_the_larger_correlation():
    """Three features with the same correlation with the target: F of every pair is 0."""
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(40, 4))
    base = np.linalg.qr(noise - noise.mean(axis=0))[0]
    angles = np.array([0.0, 1.5, 2.0])
    X = 0.5 * base[:, :1] + np.outer(base[:, 1], np.cos(angles))
    X += np.outer(base[:, 2], np.sin(angles))
    y = base[:, 0] + base[:, 3]
    for order in [[0, 1, 2], [1, 0, 2], [2, 1, 0]]:
        path = LinCFA(strategy="agglomerative").fit(X[:, order], y).merge_path_
        assert {order[path["first"][0]], order[path["second"][0]]} == {1, 2}
        assert path["f"][0] < 1e-12


def test_then_to_fewer_features_and_to_the_first():
    """Orthogonal columns, also to the target: every F and every correlation is 0."""
    columns = hadamard(8)[:, 1:].astype(float)
    path = LinCFA(strategy="agglomerative").fit(columns[:, :4], columns[:, 4]).merge_path_
    assert path[["first", "second"]].tolist() == [(0, 1), (2, 3), (0, 2)]


# Dependent columns


@pytest.mark.parametrize("step", [0.0, 1e-9, 1e-8])
@pytest.mark.parametrize("size", [6, 10, 40])
def test_joint_with_dependent_columns(size, step):
    """The weights of x₁, x₂ and x₁ + x₂ have no values of their own.

    To give one of them that of any other feature costs nothing, and after that all weights have
    values: from there on the path is that of refits.
    """
    rng = np.random.default_rng([size, 5])
    X = rng.normal(size=(5 * size, size))
    X[:, 4] = X[:, 1] + X[:, 2] + step * rng.normal(size=5 * size)
    y = X @ rng.normal(size=size) + rng.normal(size=5 * size)
    path = LinCFA(strategy="joint", tolerance=0.5).fit(X, y).merge_path_
    assert path.size == size - 1
    assert np.isfinite(path["f"]).all()
    assert {int(path["first"][0]), int(path["second"][0])} & {1, 2, 4}
    assert 0 <= path["f"][0] < 1e-4
    start = literal.groups_after(X, [literal.Merge(*path[0].tolist()[:6])]).values()
    steps = 2 if size == 40 else size - 2  # refits of many groups take long
    expected = literal.joint(X, y, start=start, n_groups=size - 1 - steps)
    assert_same_path(path[1 : 1 + steps], expected, rtol=1e-4)


def test_joint_with_many_dependent_columns():
    """Two columns of three are sums of others; the groups still explain the target."""
    rng = np.random.default_rng(11)
    base = rng.normal(size=(120, 12))
    X = np.hstack([base, base + base[:, rng.permutation(12)], base @ rng.normal(size=(12, 12))])
    y = base[:, :6].sum(axis=1) + 0.1 * rng.normal(size=120)
    model = LinCFA(strategy="joint", tolerance=2.0).fit(X, y)
    assert np.isfinite(model.merge_path_["f"]).all()
    reduced = literal.fitted(model.transform(X).T, y)
    full = literal.fitted(base.T, y)
    # Below 12 groups no dependence is left, and F says what each merge costs.
    assert model.n_groups_ < 13
    assert np.sum((y - reduced) ** 2) < 1.5 * np.sum((y - full) ** 2)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_mirror_images(strategy):
    """The mean of exact mirror images has no variance; no figure may be infinite or missing."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(50, 12))
    X = np.hstack([X, -2 * X + 1, X])
    model = LinCFA(strategy=strategy, tolerance=7.0).fit(X, rng.normal(size=50))
    assert sorted(np.concatenate(model.groups_)) == list(range(36))
    assert np.isfinite(model.evidence_["f"]).all()
    assert (np.abs(model.evidence_["correlation"]) <= 1).all()
    if strategy in PATHS:  # which merge copies first
        np.testing.assert_array_equal(model.labels_[:12], model.labels_[24:])


@pytest.mark.parametrize("connectivity", [None, "chain"])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_mirror_images_up_to_a_coarse_rounding(strategy, signed, connectivity):
    """Their mean is what rounding left, and has correlations as it has them in the data."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 4)).astype(np.float16)
        X[:, 1] = np.float16(-1.8) * X[:, 0] + np.float16(0.3)
        rules = {"strategy": strategy, "signed": signed, "connectivity": connectivity}
        model = LinCFA(tolerance=1e6, **rules).fit(X, rng.normal(size=40))
        if strategy in PATHS:
            assert model.merge_path_.size == 3
            assert np.isfinite(model.merge_path_["f"]).all()
        if signed:
            assert model.labels_[0] == model.labels_[1]
            assert model.signs_[0] == -model.signs_[1]


@pytest.mark.parametrize("n", [15, 40])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_neighbours_equal_up_to_a_coarse_rounding(strategy, n):
    """Of few samples the columns are kept, of many their correlations."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, 20)).astype(np.float16)
        X[:, 1] = np.float16(1.8) * X[:, 0] + np.float16(0.3)
        # What rounding made is what the target depends on.
        y = X[:, 1] - 1.8 * X[:, 0].astype(float) + 1e-6 * rng.normal(size=n)
        model = LinCFA(strategy=strategy, tolerance=1e-3, connectivity="chain").fit(X, y)
        row = model.evidence_[model.evidence_["feature"] == 1]
        assert row["partner"] == [0]
        assert row["f"] == [0]


@pytest.mark.parametrize("seed", range(10))
def test_copies_of_nearly_equal_columns(seed):
    """Between these, F is mostly rounding, and differs with the side from which it is computed."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 20))
    near = x + 1e-6 * rng.normal(size=20)
    model = LinCFA(strategy="agglomerative").fit(np.column_stack([x, x, x, near, near]), y)
    assert model.merge_path_.size == 4


# The inverse


@pytest.mark.parametrize("size", [1, 2, 7, 60])
def test_inverse(size):
    rng = np.random.default_rng(size)
    X = rng.normal(size=(3 * size + 3, size)) * 10.0 ** rng.uniform(-4, 4, size=size)
    gram = X.T @ X
    inverted, singular = inverse(gram)
    assert not singular
    np.testing.assert_allclose(inverted, inverted.T, rtol=1e-14)
    np.testing.assert_allclose(inverted @ gram, np.eye(size), atol=1e-4)
    scale = np.sqrt(np.diagonal(gram))
    exact = np.linalg.inv(gram / scale / scale[:, None])
    np.testing.assert_allclose(inverted * scale * scale[:, None], exact, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("step", [0.0, 1e-9, 1e-8])
def test_inverse_of_dependent_columns(step):
    """Finite, and what can be estimated is estimated to some six digits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    X[:, 5] = X[:, 0] - X[:, 3] + step * rng.normal(size=50)
    y = X[:, :5] @ np.ones(5) + rng.normal(size=50)
    gram = X.T @ X
    before = gram.copy()
    inverted, singular = inverse(gram)
    np.testing.assert_array_equal(gram, before)
    assert singular
    assert np.isfinite(inverted).all()
    assert (np.diagonal(inverted) > 0).all()
    fit = X @ (inverted @ (X.T @ y))
    exact = X[:, :5] @ np.linalg.lstsq(X[:, :5], y, rcond=None)[0]
    np.testing.assert_allclose(fit, exact, atol=1e-4)


def test_inverse_with_a_column_of_rounding():
    """As the sum of mirror images is."""
    gram = np.diag([0.0, 1.0, 4.0])
    inverted, _ = inverse(gram)
    assert np.isfinite(inverted).all()
    np.testing.assert_allclose(np.diagonal(inverted)[1:], [1, 0.25], rtol=1e-6)


def test_inverse_of_rounding_is_not_trusted_whatever_its_sign():
    """Of dependent columns some inverses come out negative: the matrix is positive by rounding."""
    X, _ = make(field, 60, 28)
    gram = np.corrcoef(X.T)
    rng = np.random.default_rng(0)
    for _ in range(200):
        error = np.triu(3e-16 * rng.normal(size=gram.shape), 1)
        inverted, _ = inverse(gram + error + error.T)
        assert np.diagonal(inverted).min() > 0


def test_order_of_the_rows_does_not_matter_where_columns_depend():
    X, y = make(field, 60, 28)
    model = LinCFA(strategy="joint").fit(X, y)
    rng = np.random.default_rng(0)
    for order in (rng.permutation(60) for _ in range(30)):
        np.testing.assert_array_equal(
            LinCFA(strategy="joint").fit(X[order], y[order]).labels_, model.labels_
        )
