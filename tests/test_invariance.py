"""What must not change the groups, and what reordering the columns may change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa import LinCFA, theory
from reference import clear_of_the_threshold, draw


def labels(X, y):
    return LinCFA().fit(X, y).labels_.tolist()


seeds = st.integers(0, 10_000)
exponents = st.integers(-200, 200)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=seeds, exponent=exponents, shift=st.floats(-1e6, 1e6))
def test_units_of_columns(seed, exponent, shift):
    X, y = draw(seed)
    if clear_of_the_threshold(X, y):
        # A shift by a million times the scale costs six of sixteen digits, no more.
        other = (X + shift) * 10.0**exponent
        assert labels(other, y) == labels(X, y)
        other = X * np.random.default_rng(seed).uniform(1e-3, 1e3, size=X.shape[1])
        assert labels(other, y) == labels(X, y)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=seeds, exponent=exponents, shift=st.floats(-1e6, 1e6), sign=st.sampled_from([-1, 1]))
def test_unit_of_the_target(seed, exponent, shift, sign):
    X, y = draw(seed)
    if clear_of_the_threshold(X, y):
        assert labels(X, sign * 10.0**exponent * (y + shift)) == labels(X, y)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=seeds)
def test_mirrored_columns_and_order_of_the_rows(seed):
    X, y = draw(seed)
    if clear_of_the_threshold(X, y):
        assert labels(-X, y) == labels(X, y)
    order = np.random.default_rng(seed).permutation(len(y))
    if clear_of_the_threshold(X, y):
        assert labels(X[order], y[order]) == labels(X, y)


@pytest.mark.parametrize("seed", range(20))
def test_memory_order_and_float32(seed):
    """It changes the order of sums, and with it the last digits of the figures."""
    X, y = draw(seed)
    rows = LinCFA().fit(np.ascontiguousarray(X), y)
    columns = LinCFA().fit(np.asfortranarray(X), y)
    strided = LinCFA().fit(np.repeat(X, 2, axis=1)[:, ::2], y)
    backwards = LinCFA().fit(X[::-1, ::-1].copy()[::-1, ::-1], y)
    for other in (columns, strided, backwards):
        for name in ("group", "feature", "partner"):
            np.testing.assert_array_equal(rows.evidence_[name], other.evidence_[name])
        for name in ("correlation", "threshold", "f"):
            np.testing.assert_allclose(rows.evidence_[name], other.evidence_[name], rtol=1e-9)
        np.testing.assert_allclose(rows.transform(X), other.transform(X), rtol=0, atol=1e-14)
    # The fit runs in float64; rounding the input to float32 moves F by far less than 1e-4.
    X32 = X.astype(np.float32)
    assert clear_of_the_threshold(X, y, margin=1e-4)
    assert labels(X32, y) == labels(X, y)
    model = LinCFA().fit(X32, y)
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(X32.astype(np.float64), y).labels_)
    assert model.transform(X32).dtype == np.float32
    assert model.mean_.dtype == model.scale_.dtype == np.float64


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=seeds)
def test_reordering_the_columns(seed):
    """The order decides which feature seeds a group, and nothing else.

    Whatever the order: the first column seeds the first group, which holds all the features that
    pass against it; and two features are in one group only if both pass against its seed.
    """
    X, y = draw(seed)
    if not clear_of_the_threshold(X, y):
        return
    order = np.random.default_rng(seed).permutation(X.shape[1])
    correlation = np.corrcoef(np.column_stack([X, y]).T)
    r = correlation[-1, :-1]
    passes = theory.f_statistic(len(y), correlation[:-1, :-1], r[:, None], r[None, :]) <= 1
    np.testing.assert_array_equal(passes, passes.T)

    groups = [order[group] for group in LinCFA().fit(X[:, order], y).groups_]
    taken: set[int] = set()
    for group in groups:
        seed_feature = group[0]
        free = [j for j in order if j not in taken and passes[seed_feature, j]]
        assert group.tolist() == free
        taken.update(group.tolist())


def test_keeping_the_seeds_first_keeps_the_groups():
    """Moving a feature without letting it overtake a seed changes nothing."""
    X, y = draw(5)
    model = LinCFA().fit(X, y)
    group_seeds = [group[0] for group in model.groups_]
    order = np.array(group_seeds + [j for j in range(X.shape[1])[::-1] if j not in group_seeds])
    reordered = LinCFA().fit(X[:, order], y)
    moved = {frozenset(order[group].tolist()) for group in reordered.groups_}
    assert moved == {frozenset(group.tolist()) for group in model.groups_}
