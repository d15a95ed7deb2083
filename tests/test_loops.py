"""Compiled loops against the same in NumPy: they are for speed, and change no result."""

import numpy as np
import pytest

pytest.importorskip("numba")

from lincfa import LinCFA, LinCFACV
from lincfa._data._training import read_training
from lincfa._statistics import ArrayStatistics, _array, _speed
from lincfa._statistics._means import group_means
from lincfa.datasets import make_correlated, make_field

NEVER = 2**62


@pytest.fixture
def both_ways(monkeypatch):
    """Give a function that computes something without and with compiled loops."""

    def compute(function):
        results = []
        for least in (NEVER, 0):
            monkeypatch.setattr(_speed, "_WORTH_COMPILING", least)
            results.append(function())
        return results

    return compute


def draw(n, D, order, dtype, *, seed=0):
    """Correlated features in kelvin, so that they need centring."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) @ rng.normal(size=(5, D)) + rng.normal(size=(n, D)) + 280
    return np.asarray(X, dtype=dtype, order=order), X[:, :3].sum(axis=1) + rng.normal(size=n)


layouts = pytest.mark.parametrize("order", ["C", "F"])
precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@layouts
@precisions
@pytest.mark.parametrize("n", [9, 12, 67])  # which leave over rows of the four and eight at a time
@pytest.mark.parametrize("weighted", [False, True])
def test_moments(both_ways, order, dtype, n, weighted):
    X, y = draw(n, 5000, order, dtype)
    targets = np.column_stack([y, X[:, 7] - y, X[:, 11]])
    weights = np.random.default_rng(1).uniform(0.5, 2, size=n) if weighted else None
    plain, fast = both_ways(lambda: ArrayStatistics.of(read_training(X, targets, weights)))
    np.testing.assert_allclose(fast.mean, plain.mean, rtol=1e-14)
    np.testing.assert_allclose(fast.scale, plain.scale, rtol=1e-13)
    np.testing.assert_allclose(
        fast.target_correlation, plain.target_correlation, rtol=0, atol=1e-14
    )


@layouts
@precisions
@pytest.mark.parametrize("mean", [0.0, 1e5])
def test_means_of_groups(both_ways, order, dtype, mean):
    X, _ = draw(21, 300, order, dtype)
    X += dtype(mean)
    rng = np.random.default_rng(2)
    labels, factors = rng.integers(-1, 7, size=300), rng.uniform(-2, -0.5, size=300)
    moments = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    plain, fast = both_ways(
        lambda: group_means(
            X, labels, 7, factors=factors, mean=moments[0], scale=moments[1], dtype=np.float64
        )
    )
    np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-12 * (1 + mean / 280))
    X[3, labels == 2] = np.nan
    filled, fast = both_ways(lambda: group_means(X, labels, 7, gaps=True, factors=factors))
    np.testing.assert_allclose(fast, filled, rtol=1e-6 if dtype == np.float32 else 1e-12)
    assert np.isnan(fast[3, 2])


@layouts
@precisions
@pytest.mark.parametrize("n_seeds", [1, 3, 9, 30])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("windows", [False, True])
def test_correlations_of_seeds(both_ways, monkeypatch, order, dtype, n_seeds, weighted, windows):
    X, y = draw(30, 2500, order, dtype)
    weights = np.random.default_rng(1).uniform(0.5, 2, size=30) if weighted else None
    monkeypatch.setattr(_array, "_COST_OF_WINDOW", 0.0 if windows else 1e9)
    rng = np.random.default_rng(3)
    seeds = np.sort(rng.choice(2500, n_seeds, replace=False))
    middle = n_seeds // 2
    every = np.arange(2500)
    comparisons = [
        (slice(0, middle + 1), every[::2]),
        (slice(middle, n_seeds), every[1::2]),
        (slice(0, n_seeds), every[100:2000]),
    ]

    def correlations():
        statistics = ArrayStatistics.of(read_training(X, y, weights))
        return [*statistics.rows(seeds, comparisons)]

    for plain, fast in zip(*both_ways(correlations), strict=True):
        np.testing.assert_allclose(fast, plain, rtol=0, atol=1e-13)


@layouts
@precisions
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tolerance": 5.0, "min_correlation": 0.3},
        {"signed": True, "min_correlation": 0.2},
        {"strategy": "centroid"},
        {"missing": "pairwise"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["tree", "field"])
def test_fits(both_ways, order, dtype, parameters, kind):
    if kind == "tree":
        X, y = make_correlated(300, 900, random_state=4)
    else:
        X, y, _ = make_field(300, (30, 30), random_state=4)
    X = np.asarray(X, dtype=dtype, order=order)
    if "missing" in parameters:
        X[np.random.default_rng(5).random(X.shape) < 0.02] = np.nan
    plain, fast = both_ways(lambda: LinCFA(**parameters).fit(X, y))
    np.testing.assert_array_equal(fast.labels_, plain.labels_)
    np.testing.assert_allclose(fast.evidence_["f"], plain.evidence_["f"], rtol=1e-9, atol=1e-12)
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        np.testing.assert_allclose(fast.cohesion_[name], plain.cohesion_[name], atol=1e-11)
    np.testing.assert_allclose(fast.transform(X), plain.transform(X), rtol=1e-5, atol=1e-6)


def test_search(both_ways):
    X, y = make_correlated(80, 300, random_state=6)
    plain, fast = both_ways(lambda: LinCFACV().fit(X, y))
    np.testing.assert_array_equal(fast.labels_, plain.labels_)
    np.testing.assert_allclose(fast.predict(X), plain.predict(X), rtol=1e-9)


@layouts
def test_bad_values_are_named(monkeypatch, order):
    monkeypatch.setattr(_speed, "_WORTH_COMPILING", 0)
    X, y = draw(30, 40, order, np.float64)
    X[4, 17] = np.inf
    with pytest.raises(ValueError, match="17"):
        LinCFA().fit(X, y)


def test_arrays_of_any_layout(both_ways):
    X, y = draw(40, 300, "C", np.float64)
    for view in (X[::2, ::3], X[:, 5:80], X[::-1], np.asfortranarray(X)[3:]):
        plain, fast = both_ways(lambda: LinCFA().fit(view, y[: len(view)]))  # noqa: B023
        np.testing.assert_array_equal(fast.labels_, plain.labels_)


def test_loops_are_for_large_data_where_numba_is_installed(monkeypatch):
    assert not _speed.worth_compiling(1000)
    assert _speed.worth_compiling(10**8)
    monkeypatch.setattr(_speed, "_is_usable", lambda: False)
    assert not _speed.worth_compiling(10**8)
