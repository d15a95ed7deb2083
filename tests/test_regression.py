"""Ridge regression: against scikit-learn, whatever the type and rank of the data."""

import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import estimator_checks_generator

from lincfa._model import _regression
from lincfa._model._regression import (
    Decomposition,
    RidgeRegression,
    linear_coefficients,
    scale_of_areas,
)


@pytest.mark.parametrize(
    ("estimator", "check"), [*estimator_checks_generator(RidgeRegression(0.1))]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def draw(n, D, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) + 5 * rng.normal(size=D)
    return X, X @ rng.normal(size=D) + 3 * rng.normal(size=n) + 7


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "D"), [(60, 5), (12, 30), (20, 20), (40, 1)])
@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 1.0, 50.0])
def test_the_penalty_is_a_share_of_the_total_variance(n, D, penalty, weighted):
    X, y = draw(n, D)
    weights = np.random.default_rng(1).uniform(0.1, 3, n) if weighted else None
    model = RidgeRegression(penalty).fit(X, y, weights)
    counts = np.ones(n) if weights is None else weights
    total = (counts[:, None] * (X - np.average(X, axis=0, weights=counts)) ** 2).sum()
    peer = Ridge(penalty * total, solver="svd").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-8)


@pytest.mark.parametrize("n", [60, 6])  # more features than samples, and fewer
def test_a_feature_scaled_by_its_copies_is_penalised_as_all_of_them(n):
    X, y = draw(n, 8)
    copies = np.array([1, 4, 2, 7, 3, 1, 1, 5])
    apart = RidgeRegression(0.01).fit(np.repeat(X, copies, axis=1), y)
    model = RidgeRegression(0.01, scale=np.sqrt(copies)).fit(X, y)
    first = np.cumsum(copies) - copies
    np.testing.assert_allclose(model.coef_, copies * apart.coef_[first], rtol=1e-8)
    assert model.intercept_ == pytest.approx(apart.intercept_)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "D"), [(60, 8), (12, 30)])
def test_rescaled_weights_fit_each_target_best(n, D, weighted):
    X, y = draw(n, D)
    weights = np.linspace(0.5, 2, n) if weighted else np.ones(n)
    Y = np.column_stack([y, 3 * X[:, 0] - y**2])
    shrunk = RidgeRegression(0.3).fit(X, Y, sample_weight=weights)
    model = RidgeRegression(0.3, rescaled=True).fit(X, Y, sample_weight=weights)
    for k, predicted in enumerate(shrunk.predict(X).T):
        factor, _ = np.polyfit(predicted, Y[:, k], 1, w=np.sqrt(weights))
        assert factor > 1.05
        np.testing.assert_allclose(model.coef_[k], factor * shrunk.coef_[k], rtol=1e-9)
    center = np.average(Y, axis=0, weights=weights)
    np.testing.assert_allclose(np.average(model.predict(X), axis=0, weights=weights), center)


def test_rescaled_weights_at_both_ends():
    """Least squares without a penalty, and the first component of PLS with a very large one."""
    X, y = draw(60, 8)
    plain = RidgeRegression(0.0).fit(X, y)
    np.testing.assert_allclose(RidgeRegression(0.0, rescaled=True).fit(X, y).coef_, plain.coef_)
    component = PLSRegression(1, scale=False).fit(X, y)
    for penalty in (1e9, 1e200):
        model = RidgeRegression(penalty, rescaled=True).fit(X, y)
        np.testing.assert_allclose(model.predict(X), component.predict(X).ravel(), rtol=1e-6)
    constant = RidgeRegression(0.1, rescaled=True).fit(X, np.full(60, 2.0))
    np.testing.assert_allclose(constant.predict(X), 2.0)


@pytest.mark.parametrize("blocks", [None, np.array([0, 0, 0, 2, 2, 2, 2, 2])])
def test_standardised_cells_are_penalised_as_in_their_units(blocks):
    """In those of their block, if there are several: relative to its mean variance."""
    X, y = draw(60, 8)
    X = X * np.array([1.0, 5, 2, 1e100, 3e100, 1e100, 4e100, 1e99] if blocks is not None else 3)
    X = X * np.linspace(1, 4, 8)
    scale = X.std(axis=0)
    own = np.zeros(8, int) if blocks is None else blocks
    units = np.array([np.sqrt(np.mean((scale[own == b] / scale.max()) ** 2)) for b in own])
    peer = RidgeRegression(0.05).fit(X / (units * scale.max()), y)
    found = scale_of_areas(np.arange(8), np.ones(8), scale, blocks)
    model = RidgeRegression(0.05, scale=found).fit(X / scale, y)
    np.testing.assert_allclose(
        model.predict(X / scale), peer.predict(X / (units * scale.max())), rtol=1e-9
    )
    alone = scale_of_areas(np.array([0, 1, 0, -1]), np.array([1.0, 2, 3, 9]), None, None)
    np.testing.assert_allclose(alone, np.sqrt([4, 2]))


def test_least_squares_and_the_smallest_of_several_solutions():
    for n, D in ((60, 5), (12, 30), (20, 20)):
        X, y = draw(n, D)
        model = RidgeRegression().fit(X, y)
        expected = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-10)
        assert model.intercept_ == pytest.approx(y.mean() - X.mean(axis=0) @ expected)


@pytest.mark.parametrize("kind", ["anomalies", "copies", "constant"])
def test_no_weight_rests_on_the_rounding_of_float32(kind):
    """The same values in float64 with the same rank; the type alone would give any weights."""
    rng = np.random.default_rng(3)
    n, D = 48, 300
    X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, D)) + 280 + 0.5 * rng.normal(size=(n, D))
    y = X[:, :4].mean(axis=1) + 0.1 * rng.normal(size=n)
    X = X.astype(np.float32)
    if kind == "anomalies":  # without the mean of each calendar month: the rank falls by 12
        X = X - np.stack([X[month::12].mean(axis=0) for month in range(12)])[np.arange(n) % 12]
        rank = n - 12
    elif kind == "copies":
        X = np.hstack([X[:, :20], X[:, :20] * np.float32(1.1)])
        rank = 20
    else:
        X = np.hstack([X[:, :9], np.full((n, 1), np.float32(0.1))])
        rank = 9
    assert X.dtype == np.float32
    fitted = Decomposition.of(X, y)
    assert fitted.singular.size == rank
    centered = X.astype(float) - X.astype(float).mean(axis=0)
    U, s, Vt = (part[..., :rank] if part.ndim < 2 else part for part in np.linalg.svd(centered))
    expected = Vt[:rank].T @ ((U[:, :rank].T @ (y - y.mean())) / s)
    np.testing.assert_allclose(RidgeRegression().fit(X, y).coef_, expected, rtol=1e-6, atol=1e-9)
    # In float64 the rounding of float32 passes for data.
    assert kind == "constant" or Decomposition.of(X.astype(float), y).singular.size > rank


def test_products_give_what_singular_values_give(monkeypatch):
    X, y = draw(80, 6)
    quick = Decomposition.of(X, y)
    monkeypatch.setattr(_regression, "_WELL_CONDITIONED", np.inf)
    slow = Decomposition.of(X, y)
    assert quick.directions is not slow.directions
    np.testing.assert_allclose(quick.singular, slow.singular)  # in the same order
    penalties = [0.0, 1e-5, 0.1]
    np.testing.assert_allclose(quick.coefficients(penalties), slow.coefficients(penalties))


def test_what_is_not_linear_has_no_coefficients():
    class Exponential(RidgeRegression):
        def predict(self, X):
            return np.exp(super().predict(X))

    X, y = draw(30, 3)
    coef, intercept = linear_coefficients(RidgeRegression().fit(X, y), 3)
    np.testing.assert_allclose(X @ coef + intercept, RidgeRegression().fit(X, y).predict(X))
    assert linear_coefficients(Exponential().fit(X, y / 100), 3) is None
    assert linear_coefficients(RidgeRegression().fit(X, y), 4) is None
    assert linear_coefficients(None, 3) is None


@pytest.mark.parametrize("unit", [1e-160, 1e-30, 1e150])
def test_any_unit_will_do(unit):
    for n, D in ((40, 4), (6, 12)):
        X, y = draw(n, D)
        model = RidgeRegression(0.01).fit(X, y)
        np.testing.assert_allclose(
            RidgeRegression(0.01).fit(X * unit, y).predict(X * unit), model.predict(X)
        )
        scaled = RidgeRegression(0.01).fit(X, y * unit)
        np.testing.assert_allclose(scaled.predict(X), model.predict(X) * unit)


def test_many_rows_of_float32_keep_small_differences():
    """Rounding relative to the largest direction does not grow with the rows."""
    rng = np.random.default_rng(0)
    n = 60_000
    before = 100 + rng.normal(size=n).cumsum() / 10
    today = before + 0.01 * rng.normal(size=n)
    X = np.column_stack([before, today, before + today]).astype(np.float32)
    assert RidgeRegression().fit(X, X[:, 1] - X[:, 0]).score(X, X[:, 1] - X[:, 0]) > 0.99


@pytest.mark.parametrize("penalty", [-1, np.nan, np.inf, "much", None, True])
def test_bad_penalties(penalty):
    with pytest.raises(ValueError, match="penalty must be a number of at least 0"):
        RidgeRegression(penalty).fit(*draw(10, 2))
