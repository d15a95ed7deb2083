"""Supervised PCA: many regressions by one factorisation, and directions of eigenvalue zero."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold

from experiments.supervised import (
    KERNELS,
    MOST,
    best_by_folds,
    best_on_test,
    complete,
    components,
    errors,
    predictions,
)
from lincfa.baselines import SupervisedPCA


@pytest.fixture
def part(rng):
    """Training and test part of ten correlated features whose mean is not zero."""
    X = rng.normal(size=(150, 1)) + rng.normal(size=(150, 10)) + 2
    y = X[:, :3].sum(axis=1) + 2 * rng.normal(size=150) + 4
    return X[:90], y[:90], X[90:], y[90:]


def by_regression(X, y, X_test, directions):
    return LinearRegression().fit(X @ directions.T, y).predict(X_test @ directions.T)


def test_predictions_are_those_of_regressions_on_the_first_directions(part, rng):
    X, y, X_test, _ = part
    directions = rng.normal(size=(6, 10))
    found = predictions(X, y, X_test, directions)
    assert found.shape == (6, 60)
    for k in range(6):
        expected = by_regression(X, y, X_test, directions[: k + 1])
        np.testing.assert_allclose(found[k], expected, rtol=1e-9)


def test_errors_are_mean_squares(part, rng):
    y = part[3]
    predicted = rng.normal(size=(4, 60))
    np.testing.assert_allclose(errors(predicted, y), [mean_squared_error(y, p) for p in predicted])


@pytest.mark.parametrize("kernel", KERNELS)
def test_components_are_those_of_the_library(part, kernel):
    X, y, *_ = part
    found = components(X, y, kernel)
    np.testing.assert_array_equal(found, SupervisedPCA(kernel=kernel).fit(X, y).components_[:MOST])
    assert len(found) == {"linear": 1, "poly": 3}.get(kernel, len(found))


@pytest.mark.parametrize(("rank", "D"), [(1, 10), (3, 136), (10, 10), (50, 80)])
def test_completed_directions_are_orthonormal_and_begin_with_the_true_ones(rng, rank, D):
    found = np.linalg.qr(rng.normal(size=(D, rank)))[0].T
    random = np.random.RandomState(0)
    sizes = set()
    for _ in range(20):
        whole = complete(found, random)
        np.testing.assert_array_equal(whole[:rank], found)
        np.testing.assert_allclose(whole @ whole.T, np.eye(len(whole)), atol=1e-10)
        assert len(whole) <= min(D, MOST)
        sizes.add(len(whole))
    if rank == 1:  # about half of the others have a rounding error above zero
        assert 3 <= np.mean(list(sizes)) <= 8
        assert len(sizes) > 2
    if rank == 3:
        assert sizes == {MOST}  # the paper looks no further, and half of 133 are more
    if rank in (D, MOST):
        assert sizes == {rank}


def test_added_directions_differ_from_draw_to_draw():
    found = np.eye(20)[:2]
    random = np.random.RandomState(1)
    one, other = (complete(found, random)[2] for _ in range(2))
    assert abs(one @ other) < 0.9


def test_best_on_the_test_set_is_the_smallest_error_of_all(part):
    X, y, X_test, y_test = part
    found = {kernel: components(X, y, kernel) for kernel in KERNELS}
    best = best_on_test(X, y, X_test, y_test, found)
    tried = {
        (kernel, k): mean_squared_error(y_test, by_regression(X, y, X_test, directions[:k]))
        for kernel, directions in found.items()
        for k in range(1, len(directions) + 1)
    }
    assert (best.kernel, best.d) == min(tried, key=tried.get)
    assert mean_squared_error(y_test, best.predicted) == pytest.approx(min(tried.values()))


@pytest.mark.parametrize("ordered", [False, True])
def test_choice_by_folds_never_sees_the_test_part(part, ordered):
    X, y, X_test, _ = part
    folds = KFold(5) if ordered else KFold(5, shuffle=True, random_state=0)
    tried = {}
    for kernel in KERNELS:
        for train, test in folds.split(X):
            directions = components(X[train], y[train], kernel)
            for k in range(1, len(directions) + 1):
                predicted = by_regression(X[train], y[train], X[test], directions[:k])
                tried.setdefault((kernel, k), []).append(mean_squared_error(y[test], predicted))
    means = {key: np.mean(values) for key, values in tried.items() if len(values) == 5}
    best = best_by_folds(X, y, X_test, ordered)
    assert (best.kernel, best.d) == min(means, key=means.get)
    expected = by_regression(X, y, X_test, components(X, y, best.kernel)[: best.d])
    np.testing.assert_allclose(best.predicted, expected, rtol=1e-8)
