"""Weights at their limits: rows that do not count, rows that count for many, what is refused."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from lincfa import LinCFA, LinCFACV, explain_pair
from reference import assert_same_fit, draw

STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]


@pytest.mark.parametrize("value", [1e307, -1e307, np.nan, np.inf])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_without_weight_may_hold_anything(strategy, value):
    """Zero times infinity is no zero: such rows have to be left out, not multiplied."""
    X, y = draw(0)
    X, y = 0.01 * X, 0.01 * y
    weights = np.ones(60)
    weights[[5, 17]] = 0
    kept = weights > 0
    expected = LinCFA(strategy=strategy).fit(X[kept], y[kept])
    X[[5, 17]] = value
    if np.isfinite(value):
        y[5] = value
    model = LinCFA(strategy=strategy).fit(X, y, weights)
    assert_same_fit(model, expected, rtol=0)
    pair = explain_pair(X, y, 0, 1, sample_weight=weights)
    assert pair.f == pytest.approx(explain_pair(X[kept], y[kept], 0, 1).f, rel=1e-9)


def test_few_rows_that_count_for_many():
    """Three different rows, each twice, are six samples."""
    X, y = draw(0)
    rows = [0, 1, 2]
    doubled = LinCFA().fit(np.repeat(X[rows], 2, axis=0), np.repeat(y[rows], 2))
    for model in (
        LinCFA().fit(X[rows], y[rows], [2, 2, 2]),
        LinCFA().fit(X[rows], y[rows], 2),
        LinCFA().partial_fit(X[rows], y[rows], [2, 2, 2]),
    ):
        assert model.n_samples_ == 6
        np.testing.assert_array_equal(model.labels_, doubled.labels_)
    with pytest.raises(ValueError, match="minimum of 4 is required"):
        LinCFA().fit(X[rows], y[rows])
    for ones in (1, [1, 1, 1]):
        with pytest.raises(ValueError, match="adds up to 3 of them"):
            LinCFA().fit(X[rows], y[rows], ones)


def test_weights_that_add_up_to_four_but_for_rounding():
    X, y = draw(0)
    weights = np.full(6, 4 / 6)
    assert weights.sum() < 4
    model = LinCFA()
    for row in range(6):
        model.partial_fit(X[[row]], y[[row]], weights[[row]])
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(X[:6], y[:6], weights).labels_)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["2"] * 60, "must be real numbers, got"),
        (np.array(["2"] * 60, dtype=object), "must be real numbers, got"),
        (np.full(60, 1 + 0j), "must be real numbers, got"),
        (np.full(60, np.datetime64("2020-01-01")), "must be real numbers, got"),
        (np.ma.masked_array(np.ones(60), [True] + [False] * 59), "masked values"),
        (np.full(60, 1e308), "adds up to more than float64 can hold"),
    ],
)
def test_what_is_no_weight(weights, message):
    X, y = draw(0)
    for fit in (LinCFA().fit, LinCFACV().fit, LinCFA().partial_fit):
        with pytest.raises(ValueError, match=message):
            fit(X, y, sample_weight=weights)


def test_objects_that_are_numbers_are_weights():
    X, y = draw(0)
    whole = np.array([2] * 60, dtype=object)
    assert LinCFA().fit(X, y, whole).n_samples_ == 120


# In a search


def search(**parameters):
    return LinCFACV(tolerances=(0.5, 4.0), cv=3, **parameters)


@pytest.mark.parametrize("scoring", ["neg_max_error", lambda model, X, y: 0.0])
def test_a_score_that_takes_no_weights_is_refused(scoring):
    X, y = draw(0)
    with pytest.raises(ValueError, match=r"The scoring .* does not take sample_weight"):
        search(scoring=scoring).fit(X, y, sample_weight=np.full(60, 2.0))
    search(scoring=scoring).fit(X, y)


def test_a_score_that_fails_otherwise_says_so():
    X, y = draw(0)

    def scoring(model, X, y, sample_weight):
        raise TypeError("not today")

    with pytest.raises(TypeError, match="not today"):
        search(scoring=scoring).fit(X, y, sample_weight=np.full(60, 2.0))


def test_a_fold_without_weight_is_named():
    X, y = draw(0)
    weights = np.ones(60)
    weights[:20] = 0
    with pytest.raises(ValueError, match="the held-out samples have no weight"):
        search().fit(X, y, sample_weight=weights)
    weights[:20], weights[20:] = 1, 0
    with pytest.raises(ValueError, match="sample_weight is zero"):
        search().fit(X, y, sample_weight=weights)


def test_folds_leave_out_rows_without_weight():
    """Of the fold's training rows and of its held-out rows."""
    X, y = draw(0)
    weights = np.ones(60)
    weights[[3, 30, 31]] = 0
    seen = []

    class Spy(LinearRegression):
        def fit(self, X, y, sample_weight=None):
            seen.append(len(y))
            return super().fit(X, y, sample_weight)

        def predict(self, X):
            seen.append(len(X))
            return super().predict(X)

    search(strategies=["sequential"], estimator=Spy()).fit(X, y, sample_weight=weights)
    assert set(seen) == {38, 39, 37, 19, 18, 20, 60}
