"""Stacks of least squares fits against one fit at a time, and streams of random numbers."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score

from experiments.estimates import crossed, over_draws
from experiments.simulation import (
    DIFFERENCE,
    Settings,
    correlations,
    draw,
    least_squares,
    random_state,
    score,
    score_pair,
)
from lincfa.datasets import make_bivariate


@pytest.fixture
def stack(rng):
    """Seven data sets of 60 samples and four correlated features, far from zero."""
    X = rng.normal(size=(7, 60, 1)) + rng.normal(size=(7, 60, 4)) + [3.0, -2.0, 0.0, 10.0]
    return X, X @ [1.0, -0.5, 0.2, 0.0] + 5 + rng.normal(size=(7, 60))


@pytest.fixture
def tests(rng):
    X = rng.normal(size=(5, 40, 4)) + 1
    return X, X.sum(axis=2) + rng.normal(size=(5, 40))


def test_fits_are_those_of_least_squares_with_intercept(stack):
    fits = least_squares(*stack)
    for k, (X, y) in enumerate(zip(*stack, strict=True)):
        columns = np.column_stack([np.ones(len(y)), X])
        solution, rss, *_ = np.linalg.lstsq(columns, y, rcond=None)
        np.testing.assert_allclose(fits.intercept[k], solution[0], rtol=1e-9)
        np.testing.assert_allclose(fits.weights[k], solution[1:], rtol=1e-9)
        np.testing.assert_allclose(fits.rss[k], rss[0], rtol=1e-9)


def test_dependent_features_get_the_weights_of_minimum_norm(stack):
    X, y = stack
    X = np.concatenate([X, X[:, :, :2].mean(axis=2, keepdims=True), X[:, :, :1]], axis=2)
    fits = least_squares(X, y)
    for k in range(len(X)):
        centred = X[k] - X[k].mean(axis=0)
        solution, _, rank, _ = np.linalg.lstsq(centred, y[k] - y[k].mean(), rcond=None)
        assert rank == 4
        np.testing.assert_allclose(fits.weights[k], solution, rtol=1e-8, atol=1e-10)
    plain = least_squares(*stack)
    np.testing.assert_allclose(fits.rss, plain.rss, rtol=1e-9)
    np.testing.assert_allclose(fits.predict(X[0]), plain.predict(stack[0][0]), rtol=1e-9)


def test_scores_are_those_of_scikit_learn(stack, tests):
    scores = score(least_squares(*stack), *tests)
    models = [LinearRegression().fit(X, y) for X, y in zip(*stack, strict=True)]
    for k, (X, y) in enumerate(zip(*tests, strict=True)):
        predicted = np.array([model.predict(X) for model in models])
        np.testing.assert_allclose(scores.r2[k], [r2_score(y, p) for p in predicted])
        np.testing.assert_allclose(scores.mse[k], [mean_squared_error(y, p) for p in predicted])
        np.testing.assert_allclose(scores.variance[k].mean(), predicted.var(axis=0).mean())
        np.testing.assert_allclose(scores.bias[k], mean_squared_error(y, predicted.mean(axis=0)))


def test_error_is_variance_and_bias(stack, tests):
    scores = score(least_squares(*stack), *tests)
    assert scores.bias.shape == (5, 1)
    assert scores.variance.shape == scores.mse.shape == (5, 7)
    np.testing.assert_allclose(
        scores.mse.mean(axis=1), scores.variance.mean(axis=1) + scores.bias[:, 0]
    )


def test_correlations_are_those_of_numpy(stack):
    X, _ = stack
    expected = [np.corrcoef(part, rowvar=False) for part in X]
    np.testing.assert_allclose(correlations(X), expected, rtol=1e-12)


@pytest.mark.parametrize("model", ["theorem", "text"])
def test_pair_is_scored_on_the_features_it_knows(stack, tests, model):
    """The theorem's full model knows two features of three; the text's models know the third."""
    (X, y), (X_test, y_test) = stack, tests
    X, X_test = X[:, :, :3], X_test[:, :, :3]

    def reduce(X):
        mean = (X[:, :, :1] + X[:, :, 1:2]) / 2
        return mean if model == "theorem" else np.concatenate([mean, X[:, :, 2:]], axis=2)

    full = slice(0, 2) if model == "theorem" else slice(0, 3)
    fits = least_squares(X[:, :, full], y), least_squares(reduce(X), y)
    found = score_pair(*fits, X_test, y_test)
    both = score(fits[0], X_test[:, :, full], y_test)
    one = score(fits[1], reduce(X_test), y_test)
    for name, scores in (("full", both), ("merged", one)):
        assert found[f"R² {name}"] == crossed(scores.r2)
        assert found[f"MSE {name}"] == crossed(scores.mse)
        assert found[f"Variance {name}"] == crossed(scores.variance)
        assert found[f"Bias {name}"] == over_draws(scores.bias)
    assert found[DIFFERENCE] == crossed(one.mse - both.mse)
    assert len(found) == 9


def test_draws_are_stacked_in_order():
    make = partial(make_bivariate, 30)
    X, y = draw(make, 4, random_state(0, "a"))
    assert X.shape == (4, 30, 2)
    assert y.shape == (4, 30)
    random = random_state(0, "a")
    for k in range(4):
        expected = make(random_state=random)
        np.testing.assert_array_equal(X[k], expected[0])
        np.testing.assert_array_equal(y[k], expected[1])


KEYS = [(0,), (1,), (0, "a"), (0, "b"), (1, "a"), (0, "a", 0), (0, "a", 1), (0, "a", True, 500)]


def test_each_key_has_a_stream_of_its_own():
    starts = {tuple(random_state(*key).randint(2**31, size=4)) for key in KEYS}
    assert len(starts) == len(KEYS)
    streams = np.array([random_state(*key).normal(size=2000) for key in KEYS])
    others = np.corrcoef(streams)[np.triu_indices(len(KEYS), 1)]
    assert np.abs(others).max() < 5 / np.sqrt(2000)  # five standard deviations of none


def test_a_stream_depends_on_its_key_alone():
    """Not on the process, whose string hashes are salted, nor on what was drawn before."""
    random_state(3, "x").normal()
    for _ in range(2):
        drawn = random_state(0, "bivariate", 0.7, (1.0, 0.5)).randint(2**31, size=3)
        assert drawn.tolist() == [213379828, 1361224150, 1200768239]


@pytest.mark.parametrize(
    ("repetitions", "draws", "per_draw", "compared", "compared_small"),
    [(10, 4, 3, 2, 5), (40, 4, 10, 2, 5), (99, 9, 11, 2, 9), (500, 20, 25, 5, 40)],
)
def test_amounts(repetitions, draws, per_draw, compared, compared_small):
    settings = Settings(repetitions)
    assert (settings.draws, settings.per_draw) == (draws, per_draw)
    assert (settings.compared, settings.compared_small) == (compared, compared_small)
    assert settings.draws * settings.per_draw >= repetitions
