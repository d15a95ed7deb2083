"""Prediction intervals from the errors of held-out samples."""

from math import ceil

import numpy as np
import pytest
from scipy import stats

import lincfa
from lincfa import LinCFACV
from lincfa._model._conformal import MOST_ERRORS, keep_errors, rank_of_level
from reference import QUICK


def test_the_rank_is_that_of_the_definition():
    """The smallest k with k / (m + 1) ≥ level, in whole numbers."""
    for m in (19, 20, 39, 99, 100, 999):
        for percent in (50, 80, 90, 95):
            k = next(k for k in range(1, m + 2) if 100 * k >= percent * (m + 1))
            assert rank_of_level(m, percent / 100) == k


@pytest.mark.parametrize(("m", "level", "needed"), [(18, 0.95, 19), (8, 0.9, 9), (98, 0.99, 99)])
def test_too_few_errors_for_a_level(m, level, needed):
    with pytest.raises(ValueError, match=rf"at least {needed} held-out samples, .* of {m}"):
        rank_of_level(m, level)
    assert rank_of_level(needed, level) == needed


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, np.nan, "a", None])
def test_levels_that_are_no_probabilities(level):
    with pytest.raises(ValueError, match="between 0 and 1"):
        rank_of_level(100, level)


def test_a_thousand_errors_stand_for_many():
    """No kept error is smaller than the exact one of its level, nor much larger."""
    n = 12_345
    errors = np.random.default_rng(0).permutation(np.arange(1.0, n + 1))
    kept = keep_errors(np.stack([errors, -3 * errors]))
    assert kept.shape == (2, MOST_ERRORS)
    np.testing.assert_array_equal(kept[1], 3 * kept[0])
    for level in (0.5, 0.9, 0.95, 0.999):
        exact = ceil(round((n + 1) * level, 6))  # the errors are their own ranks
        found = kept[0, rank_of_level(MOST_ERRORS, level) - 1]
        assert exact <= found <= exact + 2 * n / MOST_ERRORS
    few = np.array([3.0, -1.0, 2.0])
    np.testing.assert_array_equal(keep_errors(few), [1, 2, 3])


def skewed(n, seed):
    """Few groups, and noise that is skewed and differs from sample to sample."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 2))
    X = np.repeat(factors, 4, axis=1) + 0.3 * rng.normal(size=(n, 8))
    noise = rng.exponential(size=n) * (1 + np.abs(factors[:, 1]))
    return X, factors @ [1.0, -2.0] + noise


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_intervals_cover_as_often_as_promised(level):
    """The coverage of one model is Beta distributed (Vovk 2012); the bound is its 0.0001 quantile.

    For m errors and the k-th of them it is Beta(k, m + 1 − k), to which the error of counting
    5000 samples adds a binomial variance.
    """
    m, n_new = 200, 5000
    X, y = skewed(60 + m + n_new, seed=1)
    fitted, held = slice(0, 60), slice(60, 60 + m)
    model = LinCFACV(**QUICK).fit(X[fitted], y[fitted]).calibrate(X[held], y[held])
    low, high = model.predict_interval(X[60 + m :], level)
    covered = ((low <= y[60 + m :]) & (y[60 + m :] <= high)).mean()
    k = rank_of_level(m, level)
    law = stats.betabinom(n_new, k, m + 1 - k)
    assert law.ppf(1e-4) / n_new <= covered <= law.ppf(1 - 1e-4) / n_new


def test_several_targets_have_intervals_of_their_own(tmp_path):
    X, y = skewed(200, seed=2)
    Y = np.column_stack([y, 100 * y[::-1]])
    model = LinCFACV(**QUICK).fit(X[:80], Y[:80]).calibrate(X[80:], Y[80:])
    low, high = model.predict_interval(X, 0.9)
    assert low.shape == Y.shape
    errors = np.sort(np.abs(Y[80:] - model.predict(X[80:])), axis=0)
    np.testing.assert_allclose((high - low) / 2, np.tile(errors[108], (200, 1)))  # ⌈0.9 · 121⌉
    model.save(tmp_path / "model.json")
    again = lincfa.load(tmp_path / "model.json").predict_interval(X, 0.9)
    np.testing.assert_array_equal(again, (low, high))


def test_a_field_gets_fields():
    xr = pytest.importorskip("xarray")
    X, y = skewed(120, seed=3)
    field = xr.DataArray(
        X.reshape(120, 2, 4),
        {"time": range(120), "lat": [0, 1], "lon": range(4)},
        ("time", "lat", "lon"),
    )
    model = LinCFACV(**QUICK, sample_dim="time").fit(field[:60], y[:60])
    low, high = model.calibrate(field[60:], y[60:]).predict_interval(field, 0.9)
    assert low.dims == ("time",)
    np.testing.assert_allclose((low + high) / 2, model.predict(field), atol=1e-12)


def test_rows_of_the_fit_are_refused():
    X, y = skewed(100, seed=4)
    model = LinCFACV(**QUICK).fit(X[:60], y[:60])
    with pytest.raises(ValueError, match="About 60 of the 100 rows were used in the fit"):
        model.calibrate(X, y)
    assert not hasattr(model, "errors_")


def test_without_calibration_there_are_no_intervals():
    X, y = skewed(60, seed=5)
    model = LinCFACV(**QUICK).fit(X[:30], y[:30])
    with pytest.raises(ValueError, match=r"call calibrate\(X, y\)"):
        model.predict_interval(X)
    model.calibrate(X[30:], y[30:]).fit(X[30:], y[30:])
    assert not hasattr(model, "errors_")  # they belonged to another fit
