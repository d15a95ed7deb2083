"""The strategies "centroid", "agglomerative" and "joint" against least squares on columns."""

import numpy as np
import pytest

import literal_strategies as literal
from lincfa import LinCFA
from lincfa._grouping import _agglomerative, _joint
from lincfa._rule import Rule
from lincfa._statistics import _array
from literal_strategies import assert_same_path, assert_same_walk
from reference import (
    array_statistics,
    duplicates,
    explained,
    field,
    many_factors,
    noise_only,
    stream,
    tree,
)


def leaning(rng, n, D):
    """Columns and rough mirror images of them."""
    X, y = tree(rng, n, max(1, D // 2))
    return np.hstack([X, -3 * X + 5 * X.std() * rng.normal(size=X.shape)]), y


def constants(rng, n, D):
    """Constant columns first, last and in between."""
    X, y = tree(rng, n, D)
    X[:, [0, D // 2, D - 1]] = 7.0, 0.1, -3.0
    return X, y


FAMILIES = [noise_only, tree, field, duplicates, leaning, explained, constants, many_factors]
CASES = [
    (noise_only, 40, 12),
    (tree, 60, 15),
    (tree, 200, 8),
    (field, 60, 15),
    (duplicates, 60, 15),
    (leaning, 50, 14),
    (explained, 60, 12),
    (constants, 50, 14),
    (many_factors, 80, 16),
    # More features than samples, and few samples.
    (noise_only, 9, 20),
    (tree, 15, 24),
    (field, 12, 20),
    (many_factors, 20, 26),
    (constants, 5, 9),
    (noise_only, 4, 6),
    # Hardly anything to merge.
    (noise_only, 30, 1),
    (tree, 30, 2),
]
WIDE_ENOUGH = [case for case in CASES if case[1] > case[2] + 1]
ILL_CONDITIONED = {field: 1e-4, duplicates: 1e-5}
"""Families whose regression on all columns is nearly singular, and the digits it leaves in F."""
PATHS = {"agglomerative": literal.agglomerative, "joint": literal.joint}
STRATEGIES = ["sequential", "centroid", *PATHS]


def make(family, n, D, seed=0):
    return family(np.random.default_rng([FAMILIES.index(family), n, D, seed]), n, D)


def fit(X, y, **parameters):
    """Fit, and expect the warning of constant columns where there are any."""
    if len(literal.varying_columns(X)) == X.shape[1]:
        return LinCFA(**parameters).fit(X, y)
    with pytest.warns(UserWarning, match="constant"):
        return LinCFA(**parameters).fit(X, y)


def listed(groups):
    return [group.tolist() for group in groups]


# Against the literal strategies


@pytest.mark.parametrize("tolerance", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(("family", "n", "D"), CASES)
def test_centroid(family, n, D, tolerance):
    X, y = make(family, n, D)
    model = fit(X, y, strategy="centroid", tolerance=tolerance)
    assert_same_walk(model, literal.centroid(X, y, tolerance))


def test_centroid_walks_again():
    """A feature that did not pass joins in a later walk, after others have moved the mean."""
    X, y = make(many_factors, 80, 16)
    joined = np.array([row[0] for row in literal.centroid(X, y, 4.0).joined])
    model = LinCFA(strategy="centroid", tolerance=4.0).fit(X, y)
    same_group = model.labels_[joined[1:]] == model.labels_[joined[:-1]]
    assert ((np.diff(joined) < 0) & same_group).any(), "take data where a second walk matters"
    np.testing.assert_array_equal(model.evidence_["feature"], joined)


@pytest.mark.parametrize(("tolerance", "lowest"), [(1.0, None), (7.0, 0.2)])
def test_centroid_with_many_columns(tolerance, lowest):
    """More than one block of candidates, and groups that move while they grow."""
    X, y = make(many_factors, 40, 160)
    model = LinCFA(strategy="centroid", tolerance=tolerance, min_correlation=lowest).fit(X, y)
    assert_same_walk(model, literal.centroid(X, y, tolerance, lowest))


@pytest.mark.parametrize(("family", "n", "D"), CASES)
def test_size_of_the_pieces_does_not_matter(family, n, D, monkeypatch):
    """The work is done in blocks and strips, of which only large data would have several."""
    X, y = make(family, n, D)
    strategies = ["centroid", *PATHS]
    expected = [fit(X, y, strategy=name, tolerance=3.0) for name in strategies]
    monkeypatch.setattr(_array, "_CANDIDATES", 2)
    monkeypatch.setattr(_agglomerative, "_STRIP_VALUES", 2 * D + 1)
    monkeypatch.setattr(_joint, "_STRIP_VALUES", 2 * D + 1)
    for name, other in zip(strategies, expected, strict=True):
        model = fit(X, y, strategy=name, tolerance=3.0)
        np.testing.assert_array_equal(model.labels_, other.labels_)
        np.testing.assert_array_equal(model.evidence_["feature"], other.evidence_["feature"])
        np.testing.assert_allclose(model.evidence_["f"], other.evidence_["f"], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("strategy", PATHS)
@pytest.mark.parametrize(("family", "n", "D"), CASES)
def test_paths(family, n, D, strategy):
    X, y = make(family, n, D)
    model = fit(X, y, strategy=strategy)
    expected = PATHS[strategy](X, y)
    assert_same_path(model.merge_path_, expected, ILL_CONDITIONED.get(family, 1e-6))
    free = len(literal.start_of_joint(X, y).merges) if strategy == "joint" else 0
    assert (model.merge_path_["height"][:free] == 0).all()
    for tolerance in [0.1, 1.0, 4.0]:
        groups = literal.groups_at(X, expected.merges, tolerance, free)
        assert listed(fit(X, y, strategy=strategy, tolerance=tolerance).groups_) == groups


@pytest.mark.parametrize(("family", "n", "D"), WIDE_ENOUGH)
def test_noise_of_a_full_regression(family, n, D):
    X, y = make(family, n, D)
    sigma2 = literal.full_noise(X, y)
    ratio = Rule.of(array_statistics(X, y), noise="full").noise_ratio
    rtol = ILL_CONDITIONED.get(family, 1e-6)
    np.testing.assert_allclose(ratio * y.var(ddof=1), sigma2, rtol=rtol)
    model = fit(X, y, strategy="centroid", noise="full")
    assert_same_walk(model, literal.centroid(X, y, noise=sigma2), rtol)
    for strategy, expected in PATHS.items():
        model = fit(X, y, strategy=strategy, noise="full")
        assert_same_path(model.merge_path_, expected(X, y, noise=sigma2), rtol)


@pytest.mark.parametrize("family", [noise_only, tree, many_factors])
@pytest.mark.parametrize(("n", "D"), [(60, 12), (12, 18)])
def test_known_noise(family, n, D):
    X, y = make(family, n, D)
    sigma2 = 0.3 * y.var()
    model = LinCFA(strategy="centroid", noise=sigma2).fit(X, y)
    assert_same_walk(model, literal.centroid(X, y, noise=sigma2))
    for strategy, expected in PATHS.items():
        model = LinCFA(strategy=strategy, noise=sigma2).fit(X, y)
        assert_same_path(model.merge_path_, expected(X, y, noise=sigma2))


@pytest.mark.parametrize("lowest", [-0.2, 0.3, 0.9])
@pytest.mark.parametrize("family", [noise_only, leaning, many_factors, duplicates])
def test_smallest_correlation(family, lowest):
    X, y = make(family, 70, 14, seed=1)
    parameters = {"tolerance": 7.0, "min_correlation": lowest}
    model = LinCFA(strategy="centroid", **parameters).fit(X, y)
    assert_same_walk(model, literal.centroid(X, y, 7.0, lowest))
    if lowest == 0.9:  # so strict that it makes a difference
        free = LinCFA(strategy="centroid", tolerance=7.0).fit(X, y)
        assert listed(model.groups_) != listed(free.groups_)
    for strategy, expected in PATHS.items():
        model = LinCFA(strategy=strategy, **parameters).fit(X, y)
        assert_same_path(model.merge_path_, expected(X, y, lowest))
        assert (model.merge_path_["correlation"] >= lowest).all()
        if lowest == 0.9:
            assert model.merge_path_.size < X.shape[1] - 1


def test_full_noise_needs_samples():
    X, y = make(noise_only, 12, 11)
    message = r"more than 12 samples for 11 features, but there are 12.*noise='pair'.*number"
    for strategy in STRATEGIES:
        with pytest.raises(ValueError, match=message):
            LinCFA(strategy=strategy, noise="full").fit(X, y)
        LinCFA(strategy=strategy, noise="full").fit(X[:, :10], y)


def test_full_noise_does_not_count_constants():
    X, y = make(constants, 13, 13)
    assert fit(X, y, strategy="centroid", noise="full").n_groups_ > 0


def test_joint_needs_samples():
    X, y = make(noise_only, 12, 30)
    with pytest.raises(
        ValueError, match=r"fewer than 10 groups .* 12 samples.*min_correlation=0.9"
    ):
        LinCFA(strategy="joint", min_correlation=0.9).fit(X, y)


# The same from every source of data


@pytest.mark.parametrize("noise", ["pair", 2.0])
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("family", "n", "D"), [(tree, 60, 15), (field, 12, 20), (duplicates, 50, 12)]
)
def test_sources_agree(family, n, D, strategy, noise):
    X, y = make(family, n, D)
    model = LinCFA(strategy=strategy, noise=noise).fit(X, y)
    others = [
        LinCFA(strategy=strategy, noise=noise).fit(np.asfortranarray(X), y),
        stream(X, y, (n // 3, n // 2), LinCFA(strategy=strategy, noise=noise)),
    ]
    for other in others:
        np.testing.assert_array_equal(other.labels_, model.labels_)
        if strategy in PATHS:
            for name in ["correlation", "f", "height"]:
                one, two = other.merge_path_[name], model.merge_path_[name]
                np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("family", "n", "D"), [(tree, 60, 15), (noise_only, 12, 20)])
def test_single_precision(family, n, D, order):
    X, y = make(family, n, D)
    single = np.asarray(X, dtype=np.float32, order=order)
    X = single.astype(np.float64)
    model = LinCFA(strategy="centroid").fit(single, y)
    assert_same_walk(model, literal.centroid(X, y))
    for strategy, expected in PATHS.items():
        assert_same_path(LinCFA(strategy=strategy).fit(single, y).merge_path_, expected(X, y))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_chunks_with_the_noise_of_a_full_regression(strategy):
    X, y = make(tree, 60, 15)
    model = stream(X, y, (30, 45), LinCFA(strategy=strategy, noise="full"))
    expected = LinCFA(strategy=strategy, noise="full").fit(X, y)
    np.testing.assert_array_equal(model.labels_, expected.labels_)


@pytest.mark.parametrize(
    "parameters", [{"noise": "full"}, {"strategy": "joint", "min_correlation": 0.9}]
)
def test_a_chunk_too_short_to_group_is_counted_or_refused(parameters):
    """But not both: rows that were refused are given again."""
    X, y = make(noise_only, 60, 15)
    model, counted = LinCFA(**parameters), 0
    try:
        model.partial_fit(X[:12], y[:12])
        counted = 12
    except ValueError as error:
        assert "12" in str(error)  # noqa: PT017 - either is fine
    model.partial_fit(X[counted:], y[counted:])
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=1e-10)


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_copies_merge_before_anything_else(strategy):
    """Three pairs of copies, also with fewer samples than features; more groups need them apart."""
    rng = np.random.default_rng(3)
    for n in (12, 100):
        X = rng.normal(size=(n, 20))
        X[:, [6, 9, 7]] = X[:, [0, 3, 2]]
        y = X[:, :4].sum(axis=1) + rng.normal(size=n)
        for size, together in ((17, 3), (18, 2), (20, 0)):
            labels = LinCFA(strategy=strategy, n_groups=size).fit(X, y).labels_
            assert (labels[[6, 9, 7]] == labels[[0, 3, 2]]).sum() == together
