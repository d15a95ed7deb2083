"""Memory: what a fit and a transform take, and that they leave the data alone."""

import gc
import pickle
import tracemalloc
import weakref

import numpy as np
import pytest

from lincfa import LinCFA
from lincfa._statistics._means import group_means
from reference import make, noise_only, tree


@pytest.fixture(scope="module")
def large():
    """Forty factors in 20 000 columns: 64 MB in float64."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(400, 40))
    X = np.repeat(factors, 500, axis=1)
    X += 0.5 * rng.normal(size=X.shape)
    y = factors @ rng.normal(size=40) + rng.normal(size=400)
    LinCFA().fit(X, y).transform(X)  # what is imported and compiled once is not the fit's
    return X, y


def peak(function):
    """The result, and the most memory in use at any time while it was computed."""
    gc.collect()
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e5])
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_fit_and_transform(large, order, offset, dtype, monkeypatch):
    """No copy of X: 15 % of it in float64, which is what the arithmetic is in."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # each further thread has blocks of its own
    X, y = large
    X = np.asarray(X + offset, dtype=dtype, order=order)
    allowed = 0.15 * 8 * X.size
    model, used = peak(lambda: LinCFA().fit(X, y))
    assert used < allowed
    reduced, used = peak(lambda: model.transform(X))
    assert used - reduced.nbytes < allowed


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_the_means_of_many_groups(order):
    """Nothing of features times groups, which would be 100 MB even as bits and bytes."""
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(40, 20_000)), order=order)
    labels = rng.integers(5_000, size=20_000)
    means, used = peak(lambda: group_means(X, labels, 5_000))
    # Three times X and the result: blocks may be as large as X where X is small.
    assert used < 3 * (X.nbytes + means.nbytes)
    some = np.flatnonzero(labels == 7)
    np.testing.assert_allclose(means[:, 7], X[:, some].mean(axis=1), rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_data_are_left_alone(order, dtype, offset):
    """Not even for a moment: the memory cannot be written to."""
    X, y = make(tree, 60, 75)
    X = np.asarray(X + offset, dtype=dtype, order=order)
    before = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    LinCFA().fit(X, y).transform(X)
    LinCFA().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).transform(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_nothing_holds_on_to_the_data(method):
    X, y = noise_only(np.random.default_rng(0), 2000, 30)
    model = LinCFA()
    getattr(model, method)(X, y)
    size = X.nbytes
    alive = weakref.ref(X), weakref.ref(y)
    del X, y
    gc.collect()
    assert alive[0]() is None
    assert alive[1]() is None
    # Labels, groups, evidence, means: some numbers per column; with chunks also their square.
    assert len(pickle.dumps(model)) < size / 10
