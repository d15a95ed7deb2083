"""Weights of features: equal ones are none, their unit is nothing, and means are weighted."""

from functools import partial

import numpy as np
import pandas as pd
import pytest

from lincfa import LinCFA, LinCFACV, explain_pair, load
from reference import QUICK, assert_raises, noise_only, stream, table
from signs_gaps_weights import (
    assert_identical,
    assert_same_groups,
    copies,
    dependent_target,
    every_strategy,
    factors,
    make,
    reduced_by_definition,
)

every_sign = pytest.mark.parametrize("signed", [False, True])


@every_sign
@pytest.mark.parametrize("family", [factors, noise_only, dependent_target, copies])
@every_strategy
def test_equal_weights_are_none(strategy, family, signed):
    X, y, _ = make(family)
    build = partial(LinCFA, strategy=strategy, tolerance=2.0, signed=signed)
    plain = build().fit(X, y)
    assert (plain.feature_weights_ == 1).all()
    for weights in (np.ones(12), np.full(12, 0.3), [7] * 12, pd.Series([2.5] * 12)):
        model = build(feature_weights=weights).fit(X, y)
        assert_identical(model, plain)
        np.testing.assert_array_equal(model.transform(X), plain.transform(X))


@every_sign
@every_strategy
def test_the_unit_of_weights_does_not_matter(strategy, signed):
    X, y, weights = make(factors)
    build = partial(LinCFA, strategy=strategy, tolerance=2.0, signed=signed)
    model = build(feature_weights=weights).fit(X, y)
    for factor in (3.0, 1e-6, 1e6):
        scaled = build(feature_weights=factor * weights).fit(X, y)
        assert_same_groups(scaled, model)
        np.testing.assert_allclose(scaled.transform(X), model.transform(X), rtol=1e-9, atol=1e-12)


@every_strategy
def test_weights_matter(strategy):
    """And so much that groups are others, on data where nothing is nearly the same."""
    X, y, _ = make(noise_only)
    weights = np.where(np.arange(12) % 2, 0.01, 1.0)
    plain, model = (
        LinCFA(strategy=strategy, feature_weights=given).fit(X, y) for given in (None, weights)
    )
    np.testing.assert_array_equal(model.feature_weights_, weights)
    assert model.labels_.tolist() != plain.labels_.tolist()


@pytest.mark.parametrize("units", ["standardized", "original"])
@every_sign
@every_strategy
def test_reduced_features_are_weighted_means(strategy, signed, units):
    X, y, weights = make(factors)
    options = {"strategy": strategy, "signed": signed, "units": units, "tolerance": 4.0}
    model = LinCFA(**options, feature_weights=weights).fit(X, y)
    assert model.n_groups_ < 12
    expected = reduced_by_definition(model, X)
    np.testing.assert_allclose(model.transform(X), expected, rtol=1e-12, atol=1e-12)


@every_strategy
def test_a_heavy_feature_is_the_mean(strategy):
    """With next to all of the weight on one of three copies with noise, the mean is this one."""
    X, y, _ = make(factors)
    weights = np.where(np.arange(12) == 5, 1e9, 1.0)
    model = LinCFA(strategy=strategy, tolerance=1e9, signed=True, feature_weights=weights)
    reduced = model.fit(X, y).transform(X)[:, model.labels_[5]]
    Z = (X[:, 5] - X[:, 5].mean()) / X[:, 5].std(ddof=1)
    np.testing.assert_allclose(reduced * model.signs_[5], Z, atol=1e-6)


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_order_of_the_columns(strategy):
    X, y, weights = make(factors)
    order = np.random.default_rng(3).permutation(12)
    build = partial(LinCFA, strategy=strategy, signed=True, n_groups=5)
    model = build(feature_weights=weights).fit(X, y)
    other = build(feature_weights=weights[order]).fit(X[:, order], y)
    found = {frozenset(order[group].tolist()) for group in other.groups_}
    assert found == {frozenset(group.tolist()) for group in model.groups_}


@every_sign
@every_strategy
def test_in_pieces(strategy, signed):
    X, y, weights = make(factors)
    build = partial(LinCFA, strategy=strategy, signed=signed, feature_weights=weights)
    whole = build().fit(X, y)
    for bounds in ((20,), (1, 5, 40)):
        assert_same_groups(stream(X, y, bounds, build()), whole)


@pytest.mark.parametrize("chunks", [(60, 12), (25, 5)])
@every_sign
@every_strategy
@pytest.mark.usefixtures("one_thread")
def test_chunks_of_dask(strategy, signed, chunks):
    da = pytest.importorskip("dask.array")
    X, y, weights = make(factors)
    build = partial(LinCFA, strategy=strategy, signed=signed, feature_weights=weights)
    whole, lazy = build().fit(X, y), da.from_array(X, chunks=chunks)
    model = build().fit(lazy, y)
    assert_same_groups(model, whole)
    np.testing.assert_allclose(model.transform(lazy).compute(), whole.transform(X), atol=1e-11)


def test_cross_validation_with_weights():
    X, y, weights = make(factors, 120)
    plain = LinCFACV(**QUICK).fit(X, y)
    equal = LinCFACV(**QUICK, feature_weights=np.full(12, 3.0)).fit(X, y)
    np.testing.assert_array_equal(equal.predict(X), plain.predict(X))
    model = LinCFACV(**QUICK, feature_weights=weights).fit(X, y)
    np.testing.assert_array_equal(model.feature_weights_, weights)
    scaled = LinCFACV(**QUICK, feature_weights=3 * weights).fit(X, y)
    np.testing.assert_allclose(scaled.predict(X), model.predict(X), rtol=1e-8, atol=1e-8)


# Refused


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w[:-1], r"one weight per feature, 12, got an array of shape \(11,\)"),
        (lambda w: w[:, None], r"one weight per feature, 12, got an array of shape \(12, 1\)"),
        (lambda w: 2.0, r"one weight per feature, 12, got an array of shape \(\)"),
        (lambda w: np.where(np.arange(12) == 4, np.nan, w), "finite and positive.* 't4' is nan"),
        (lambda w: np.where(np.arange(12) == 4, np.inf, w), "finite and positive.* 't4' is inf"),
        (lambda w: np.where(np.arange(12) == 4, 0, w), "finite and positive.* 't4' is 0"),
        (lambda w: np.where(np.arange(12) == 4, -1.5, w), "finite and positive.* 't4' is -1.5"),
        (lambda w: w.astype(str), "feature_weights must be real numbers"),
        (lambda w: "mass", "must be None, \"area\" or one weight per feature, got 'mass'"),
        (lambda w: "area", 'feature_weights="area" needs an xarray field with latitudes'),
    ],
)
def test_weights_that_are_none(change, message):
    X, y, weights = make(factors)
    wrong = change(weights)
    for build in (LinCFA, partial(LinCFACV, **QUICK)):
        assert_raises(message, build(feature_weights=wrong).fit, table(X), y)
    assert_raises(message, LinCFA(feature_weights=wrong).partial_fit, table(X), y)
    assert_raises(message, explain_pair, table(X), y, "t0", "t4", feature_weights=wrong)


def test_explain_pair_takes_the_weights_of_all_features():
    X, y, weights = make(factors)
    pair = explain_pair(X, y, 3, 8, feature_weights=weights)
    alone = explain_pair(X[:, [3, 8]], y, 0, 1, feature_weights=weights[[3, 8]])
    assert pair.f == pytest.approx(alone.f, rel=1e-12)
    assert pair.f != pytest.approx(explain_pair(X, y, 3, 8).f, rel=1e-3)


# What opposite features, copies and extreme weights do


@every_strategy
def test_copies_with_unequal_weights_merge_and_are_saved(strategy, tmp_path):
    """Whatever rounding leaves of their difference, and of a target that they explain."""
    t = np.random.default_rng(5000).normal(size=5000)
    X = np.column_stack([t, 3 * t + 7, 0.3 * t + 0.1])
    for values in (X, np.where(np.eye(5000, 3), np.nan, X)):
        if np.isnan(values).any() and strategy == "joint":
            continue  # their correlations are not positive definite
        model = LinCFA(strategy=strategy, missing="pairwise", feature_weights=[1, 50, 3])
        model.fit(values, 2 * t + 1)
        assert model.labels_.tolist() == [0, 0, 0]
        model.save(tmp_path / "model.json")
        np.testing.assert_array_equal(load(tmp_path / "model.json").labels_, model.labels_)


def test_no_threshold_where_opposite_features_merge():
    rng = np.random.default_rng(0)
    a = rng.normal(size=50)
    X = np.column_stack([a, -0.9 * a + 0.4 * rng.normal(size=50)])
    y = X @ rng.normal(size=2) + 3 * rng.normal(size=50)
    model = LinCFA(feature_weights=[4, 1.0]).fit(X, y)
    (row,) = model.evidence_
    assert row["correlation"] < -0.8
    assert row["f"] <= 1
    assert np.isnan(row["threshold"])
    found = explain_pair(X, y, 0, 1, feature_weights=[4, 1.0])
    assert "mean is the one with the larger weight" in str(found)
    assert "<td" in found._repr_html_()


@pytest.mark.filterwarnings("error")
@every_strategy
@pytest.mark.parametrize("weights", [[1e-12, 1e12], [1, 1e17], [1e-40, 1e40]])
def test_extreme_weights(strategy, weights):
    t = np.random.default_rng(0).normal(size=60)
    y = t + np.random.default_rng(1).normal(size=60)
    model = LinCFA(strategy=strategy, feature_weights=weights).fit(np.c_[t, 2 * t], y)
    assert model.n_groups_ == 1
    with pytest.raises(ValueError, match="columns 0, 1 are 1 and 1e\\+300"):
        LinCFA(strategy=strategy, feature_weights=[1, 1e300]).fit(np.c_[t, 2 * t], y)


def test_a_series_in_another_order_is_refused():
    X, y, weights = make(factors)
    series = pd.Series(weights, index=table(X).columns)
    expected = LinCFA(feature_weights=weights).fit(table(X), y)
    assert_identical(LinCFA(feature_weights=series).fit(table(X), y), expected)
    with pytest.raises(ValueError, match="Series whose index is not the columns of X"):
        LinCFA(feature_weights=series[::-1]).fit(table(X), y)
