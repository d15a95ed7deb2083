"""Logistic regression with a penalty: against scikit-learn, whatever the classes and the rank."""

import warnings

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import estimator_checks_generator

from lincfa._model._logistic import PenalizedLogistic, logistic_path

# The solvers of scikit-learn stop at a slope of the loss; weights in flat directions differ most.
# Probabilities are what counts, and agree to more digits than the weights.
WEIGHTS, PROBABILITIES = 1e-5, 1e-6


@pytest.mark.parametrize(
    ("estimator", "check"), [*estimator_checks_generator(PenalizedLogistic(0.1))]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def draw(n, D, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) + 5 * rng.normal(size=D)
    logits = (X - X.mean(axis=0)) @ rng.normal(size=(D, n_classes))
    return X, (2 * logits / logits.std() + rng.gumbel(size=(n, n_classes))).argmax(axis=1)


def peer_of(X, y, penalty, weights=None):
    """The same regression of scikit-learn; its C divides by the sum, not the mean, of losses."""
    counts = np.ones(len(y)) if weights is None else weights
    total = (counts[:, None] * (X - np.average(X, axis=0, weights=counts)) ** 2).sum()
    # Two classes have one vector of weights there: the difference, with half the squares.
    C = (2 if np.unique(y).size == 2 else 1) / (penalty * total)
    model = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000)
    center = np.average(X, axis=0, weights=counts)
    model.fit(X - center, y, sample_weight=weights)
    model.intercept_ = model.intercept_ - model.coef_ @ center
    return model


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n", "D"), [(80, 5), (30, 60), (40, 1)])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("penalty", [1e-5, 1e-3, 1.0])
def test_the_penalty_is_a_share_of_the_total_variance(n, D, n_classes, penalty, weighted):
    X, y = draw(n, D, n_classes)
    weights = np.random.default_rng(1).uniform(0.1, 3, n) if weighted else None
    model = PenalizedLogistic(penalty).fit(X, y, weights)
    peer = peer_of(X, y, penalty, weights)
    assert model.coef_.shape == peer.coef_.shape
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=WEIGHTS * np.abs(peer.coef_).max())
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=PROBABILITIES)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))


@pytest.mark.parametrize("penalty", [1e-9, 1e-6, 1e-2])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_are_apart(penalty, n_classes):
    rng = np.random.default_rng(0)
    y = np.arange(60) % n_classes
    X = 20 * np.eye(n_classes)[y] + rng.normal(size=(60, n_classes))
    model = PenalizedLogistic(penalty).fit(X, y)
    peer = peer_of(X, y, penalty)
    assert model.score(X, y) == 1
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-3, atol=1e-3)


def test_a_path_is_the_single_fits():
    X, y = load_wine(return_X_y=True)
    penalties = [1e-3, 1.0, 1e-6]
    coef, intercept = logistic_path(X, y, 3, penalties, slope=1e-8)
    assert coef.shape == (3, 13, 3)
    for penalty, weights, constants in zip(penalties, coef, intercept, strict=True):
        alone = PenalizedLogistic(penalty).fit(X, y)
        known = PenalizedLogistic.of(penalty, alone.classes_, weights, constants)
        np.testing.assert_allclose(known.predict_proba(X), alone.predict_proba(X), atol=1e-5)
        assert known.n_features_in_ == 13


def test_what_is_fast_is_near_enough():
    """The loss of the coarse search is that of the fine one to two digits, or within 1e-4."""
    X, y = load_digits(return_X_y=True)
    X, y = X[::4], y[::4]
    losses = []
    for slope in (1e-4, 1e-7):
        coef, intercept = logistic_path(X, y, 10, [1e-6, 1e-4, 1e-2], slope=slope)
        p = softmax(X @ coef + intercept[:, None], axis=2)
        losses.append(-np.log(p[:, np.arange(len(y)), y]).mean(axis=1))
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-2, atol=1e-4)


def test_classes_without_samples():
    X, y = draw(50, 4, 2)
    codes = np.where(y == 0, 1, 3)
    coef, intercept = logistic_path(X, codes, 5, [1e-6])
    far = np.vstack([X, 1e6 * X])
    p = softmax(far @ coef[0] + intercept[0], axis=1)
    assert p[:, [0, 2, 4]].max() < 1e-15
    np.testing.assert_allclose(p.sum(axis=1), 1)
    coef, intercept = logistic_path(X, np.full(50, 2), 5, [1e-6])
    assert not coef.any()
    assert softmax(intercept[0])[2] == pytest.approx(1)


@pytest.mark.parametrize("unit", [1e-150, 1e-20, 1e20, 1e150])
def test_the_unit_does_not_matter(unit):
    X, y = draw(50, 4, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = PenalizedLogistic(1e-3).fit(X * unit, y).predict_proba(X * unit)
    np.testing.assert_allclose(ours, PenalizedLogistic(1e-3).fit(X, y).predict_proba(X), atol=1e-7)


def test_constant_features_leave_the_shares_of_the_classes():
    X, y = np.ones((40, 3)), np.arange(40) % 4 // 2 + (np.arange(40) % 4 == 3)
    model = PenalizedLogistic().fit(X, y)
    assert not model.coef_.any()
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], np.bincount(y) / 40)


def test_weights_are_counts():
    X, y = draw(40, 5, 3)
    counts = np.random.default_rng(1).integers(0, 4, 40)
    weighted = PenalizedLogistic(1e-3).fit(X, y, counts)
    repeated = PenalizedLogistic(1e-3).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_no_penalty_is_refused():
    X, y = draw(20, 2, 2)
    with pytest.raises(ValueError, match="above 0"):
        PenalizedLogistic(0).fit(X, y)
