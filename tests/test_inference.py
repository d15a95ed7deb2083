"""Weights of groups on new samples: arithmetic, coverage by simulation, rows of the fit refused."""

import math
import struct
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from scipy import stats
from scipy.signal import lfilter
from sklearn.linear_model import LinearRegression

import lincfa
from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from lincfa._model._inference import LeastSquares, holm
from lincfa._model._rows import ROWS_KEPT, kept_fingerprints, rows_of_fit
from lincfa.plotting import plot_inference

api = pytest.importorskip("statsmodels.api")

D, SIZE = 5, 3  # groups and their members in most tests
FIGURES = ("estimate", "standard_error", "low", "high", "p_value", "adjusted_p_value")


def autoregressive(rng, n, phi, size):
    """Draw series of unit variance with lag-one autocorrelation ``phi``."""
    noise = rng.normal(size=(n + 100, size))
    return lfilter([math.sqrt(1 - phi**2)], [1, -phi], noise, axis=0)[100:]


def members(signal, rng):
    """Draw SIZE features for each signal."""
    return np.repeat(signal, SIZE, axis=1) + 0.3 * rng.normal(size=(len(signal), SIZE * D))


def fitted(seed=0, n=300, **options):
    """Fit a model whose groups are the features of each signal."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(n, D))
    X, y = members(signal, rng), signal @ np.arange(1.0, D + 1) + rng.normal(size=n)
    blocks = np.repeat(np.arange(D), SIZE)
    model = LinCFA(strategy="agglomerative", n_groups=D, blocks=blocks, **options).fit(X, y)
    return model, X, y


def new(seed, n=200, K=1):
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(n, D))
    X = members(signal, rng)
    error = rng.normal(size=(n, K)) * np.sqrt(0.2 + signal[:, :1] ** 2)
    y = signal @ np.linspace(-1, 1, D * K).reshape(D, K) + error
    return X, y[:, 0] if K == 1 else y


def assert_same(one, other, rtol=0.0):
    for name in FIGURES:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol)


# Arithmetic


@pytest.mark.parametrize("units", ["standardized", "original"])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_independent_samples_as_in_statsmodels(units, level):
    model, *_ = fitted(units=units)
    X, y = new(1)
    found = model.inference(X, y, level=level)
    design = api.add_constant(model.transform(X))
    expected = api.OLS(y, design).fit(cov_type="HC3", use_t=True)
    np.testing.assert_allclose(found.estimate, expected.params[1:], rtol=1e-9)
    np.testing.assert_allclose(found.standard_error, expected.bse[1:], rtol=1e-9)
    np.testing.assert_allclose(found.p_value, expected.pvalues[1:], rtol=1e-7, atol=1e-300)
    ends = expected.conf_int(1 - level)[1:]
    np.testing.assert_allclose(np.column_stack([found.low, found.high]), ends, rtol=1e-9)
    assert (found.n_samples, found.level) == (200, level)
    assert found.names == tuple(model.get_feature_names_out())
    np.testing.assert_array_equal(found.scale, model._scale_of_means())


def cosine_errors(Z, y, dates):
    """Equal-weighted cosines, date by date, each with a fit of its own to all the others."""
    design = np.column_stack([np.ones(len(y)), Z])
    inverse = np.linalg.inv(design.T @ design)
    sums = []
    for date in np.unique(dates):
        own = dates == date
        others = np.linalg.lstsq(design[~own], y[~own], rcond=None)[0]
        sums.append(inverse @ design[own].T @ (y[own] - design[own] @ others))
    T = len(sums)
    nu = max(2, math.floor(0.4 * T ** (2 / 3)))
    squares = 0
    for k in range(1, nu + 1):
        cosines = (a * math.cos(math.pi * k * (t + 0.5) / T) for t, a in enumerate(sums))
        squares = squares + 2 / T * sum(cosines) ** 2
    return np.sqrt(T * squares / nu)[1:], nu


@pytest.mark.parametrize("per_date", [1, 3])
def test_dependent_samples_as_in_a_loop(per_date):
    model, *_ = fitted()
    X, y = new(2, n=120)
    rng = np.random.default_rng(2)
    days = pd.date_range("2000-01-01", periods=120 // per_date)
    dates = rng.permutation(np.repeat(days, per_date))
    frame = pd.DataFrame(X, index=dates)
    found = model.inference(frame.to_numpy(), pd.Series(y, index=dates))
    error, nu = cosine_errors(model.transform(X), y, dates)
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-9)
    half = stats.t.ppf(0.975, nu) * error
    np.testing.assert_allclose(found.high - found.estimate, half, rtol=1e-9)
    assert f"{nu} cosines over {120 // per_date} dates" in found.how


def test_samples_in_groups_as_in_a_jackknife():
    """Errors are those of weights that change as each group is left out in turn."""
    model, *_ = fitted()
    X, y = new(2, n=120)
    labels = np.random.default_rng(3).integers(30, size=120)
    found = model.inference(X, y, groups=[f"batch {k}" for k in labels])
    design = np.column_stack([np.ones(120), model.transform(X)])

    def weights(rows):
        return np.linalg.lstsq(design[rows], y[rows], rcond=None)[0][1:]

    changes = [weights(labels != k) - weights(labels >= 0) for k in np.unique(labels)]
    np.testing.assert_allclose(found.standard_error, np.sqrt(np.square(changes).sum(axis=0)))
    half = stats.t.ppf(0.975, len(changes) - 1) * found.standard_error
    np.testing.assert_allclose(found.high - found.estimate, half)
    assert f"depend on each other within {len(changes)} groups of samples" in found.how
    alone = model.inference(X, y, groups=np.arange(120)[::-1])
    assert_same(alone, model.inference(X, y), rtol=1e-9)
    with pytest.raises(ValueError, match="give groups or ordered"):
        model.inference(X, y, groups=labels, ordered=True)
    with pytest.raises(ValueError, match=r"2 groups of samples are too few"):
        model.inference(X, y, groups=labels > 10)


def test_coverage_of_samples_in_groups():
    """Batches share half the variance of features and errors; D weights in 120 draws.

    The jackknife over groups is conservative, so that 0.95 less three standard errors of 600
    dependent intervals is a lower bound; independent rows would cover some 0.6.
    """
    model, *_ = fitted()
    covered, ignored = [], []
    for seed in range(120):
        rng = np.random.default_rng([7, seed])
        labels = np.repeat(np.arange(30), 10)
        shared = members(rng.normal(size=(30, D)), rng)[labels]
        X = shared + members(rng.normal(size=(300, D)), rng)
        Z = model.transform(X)
        beta = np.ones(model.n_groups_)
        y = Z @ beta + rng.normal(size=30)[labels] + rng.normal(size=300)
        for groups, kept in ((labels, covered), (None, ignored)):
            found = model.inference(X, y, groups=groups)
            kept += list((found.low <= beta) & (beta <= found.high))
    assert np.mean(covered) > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 120)
    assert np.mean(ignored) < 0.85


def test_order_without_dates_and_dates_without_order():
    model, *_ = fitted()
    X, y = new(3)
    dates = pd.Series(y, index=pd.date_range("2000-01-01", periods=len(y)))
    assert_same(model.inference(X, y, ordered=True), model.inference(X, dates))
    assert_same(model.inference(X, dates, ordered=False), model.inference(X, y))
    assert "nearby samples" in model.inference(X, y, ordered=True).how


def test_holm_as_closed_testing():
    """A weight is rejected if every set of hypotheses with it is, by Bonferroni's test."""
    p = np.random.default_rng(0).uniform(size=(2, 4)) ** 3
    flat = p.ravel()
    expected = np.zeros(flat.size)
    for chosen in range(1, 2**flat.size):
        inside = np.array([bool(chosen >> k & 1) for k in range(flat.size)])
        level = min(1.0, inside.sum() * flat[inside].min())
        expected[inside] = np.maximum(expected[inside], level)
    np.testing.assert_allclose(holm(p).ravel(), expected, rtol=1e-12)
    with_gap = np.insert(p[0], 1, np.nan)
    np.testing.assert_allclose(holm(with_gap), np.insert(holm(p[0]), 1, np.nan))


def test_several_targets_each_as_alone():
    rng = np.random.default_rng(4)
    signal = rng.normal(size=(300, D))
    X = members(signal, rng)
    Y = signal @ rng.normal(size=(D, 2)) + rng.normal(size=(300, 2))
    model = LinCFA(strategy="agglomerative", n_groups=D).fit(X, Y)
    X, Y = new(5, K=2)
    found = model.inference(X, Y)
    assert found.estimate.shape == (2, D)
    for k in range(2):
        expected = api.OLS(Y[:, k], api.add_constant(model.transform(X)))
        expected = expected.fit(cov_type="HC3", use_t=True)
        np.testing.assert_allclose(found.standard_error[k], expected.bse[1:], rtol=1e-9)
    np.testing.assert_array_equal(found.adjusted_p_value, holm(found.p_value))  # of all weights
    frame = found.frame()
    assert list(frame.columns[:3]) == ["name", "estimate[y0]", "estimate[y1]"]
    np.testing.assert_array_equal(frame["high[y1]"], found.high[1])
    assert str(found).count(" y1 ") == D


# Coverage: the share of weights whose interval covers them, of which 300 draws have five each. Even
# if the five were one, its standard error would be 0.0126; bounds are three of them away from the
# coverage that is known: 0.95, or less for dependent samples, as in 1500 draws of this function
# with seeds [6, k] in place of [7, k]. Errors that ignore an autocorrelation φ of features and
# errors are too small by √((1 − φ²) / (1 + φ²)), from which the coverage then follows.

DRAWS = 300
THREE_ERRORS = 3 * math.sqrt(0.95 * 0.05 / DRAWS)


def coverage(error, n, phi=0.0, dates=None, **options):
    """Return how often intervals cover the weights; ``error`` gets signals and a generator."""
    model, *_ = fitted(units="original")
    weights = np.linspace(-1, 1, D)
    covered = []
    for seed in range(DRAWS):
        rng = np.random.default_rng([7, seed])
        signal = autoregressive(rng, n, phi, D)
        if dates is not None:  # the same for all samples of a date, but for noise
            signal = signal[dates.codes] + 0.5 * rng.normal(size=(len(dates), D))
        X = members(signal, rng)
        y = model.transform(X) @ weights + error(signal, rng)
        if dates is not None:
            y = pd.Series(y, index=dates.categories[dates.codes])
        found = model.inference(X, y, **options)
        covered.append((found.low <= weights) & (weights <= found.high))
    return float(np.mean(covered))


def test_coverage_with_equal_variances():
    share = coverage(lambda signal, rng: rng.normal(size=len(signal)), 100)
    assert abs(share - 0.95) < THREE_ERRORS


def test_coverage_with_unequal_variances():
    def error(signal, rng):
        return rng.normal(size=len(signal)) * np.sqrt(0.2 + (signal**2).sum(axis=1))

    assert abs(coverage(error, 100) - 0.95) < THREE_ERRORS


@pytest.mark.parametrize(("phi", "known"), [(0.5, 0.945), (0.8, 0.923)])
def test_coverage_with_autocorrelation(phi, known):
    def error(signal, rng):
        return autoregressive(rng, len(signal), phi, 1)[:, 0]

    share = coverage(error, 400, phi, ordered=True)
    assert known - THREE_ERRORS < share < 0.95 + THREE_ERRORS
    ignored = 2 * stats.norm.cdf(1.96 * math.sqrt((1 - phi**2) / (1 + phi**2))) - 1
    assert abs(coverage(error, 400, phi) - ignored) < 3 * math.sqrt(0.25 / DRAWS)


def test_coverage_is_better_than_that_of_newey_and_west():
    """With the usual number of lags; both are of the same draws, and so is their difference.

    A coverage has a standard error of at most 0.0126, and the difference of two that move together
    less than that.
    """
    weights, covered = np.linspace(-1, 1, D), {"ours": [], "theirs": []}
    lags = math.floor(4 * (400 / 100) ** (2 / 9))
    for seed in range(DRAWS):
        rng = np.random.default_rng([7, seed])
        Z = autoregressive(rng, 400, 0.8, D)
        y = Z @ weights + autoregressive(rng, 400, 0.8, 1)[:, 0]
        fit = LeastSquares.of(Z, y[:, None], 2e-16)
        error, freedom = fit.errors(np.arange(400), True)
        half = stats.t.ppf(0.975, freedom) * error[0]
        covered["ours"].append(np.abs(fit.coef[0] - weights) <= half)
        theirs = api.OLS(y, api.add_constant(Z))
        theirs = theirs.fit(cov_type="HAC", cov_kwds={"maxlags": lags, "use_correction": True})
        low, high = theirs.conf_int()[1:].T
        covered["theirs"].append((low <= weights) & (weights <= high))
    ours, theirs = (np.mean(each) for each in covered.values())
    assert ours > theirs + 2 * 0.0126


def test_coverage_with_repeated_dates():
    """Samples of a date share a part of their errors, which depends on that of the date before."""
    dates = pd.Categorical(np.repeat(pd.date_range("2000-01-01", periods=150), 4))

    def error(signal, rng):
        return autoregressive(rng, 150, 0.5, 1)[dates.codes, 0] + rng.normal(size=len(dates))

    share = coverage(error, 150, 0.5, dates)
    assert 0.942 - THREE_ERRORS < share < 0.95 + THREE_ERRORS
    ignored = coverage(error, 150, 0.5, dates, ordered=False)
    assert abs(ignored - 0.732) < 3 * math.sqrt(0.25 / DRAWS)


def test_many_weights_are_covered_too_often_rather_than_too_seldom():
    """With two samples for each weight errors from fits without each of them are too large."""
    covered = {False: [], True: []}
    for seed in range(40):
        rng = np.random.default_rng([8, seed])
        Z, y = rng.normal(size=(60, 29)), rng.normal(size=(60, 1))
        fit = LeastSquares.of(Z, y, 2e-16)
        for ordered, shares in covered.items():
            error, freedom = fit.errors(np.arange(60), ordered)
            shares.append(np.abs(fit.coef) <= stats.t.ppf(0.975, freedom) * error)
    assert min(map(np.mean, covered.values())) > 0.95


def test_the_rows_of_the_fit_would_be_too_optimistic():
    """Features without any effect: groups gather those with errors of the same sign."""
    same, other = [], []
    for seed in range(40):
        rng = np.random.default_rng([9, seed])
        X, y = rng.normal(size=(160, 20)), rng.normal(size=160)
        model = LinCFA(units="original").fit(X[:80], y[:80])
        for rows, covered in ((slice(80), same), (slice(80, None), other)):
            fit = LeastSquares.of(model.transform(X[rows]), y[rows, None], 2e-16)
            error, freedom = fit.errors(np.arange(80), False)
            covered += list(np.abs(fit.coef[0]) <= stats.t.ppf(0.975, freedom) * error[0])
    assert np.mean(other) > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 40)
    assert np.mean(same) < np.mean(other) - 3 * math.sqrt(0.25 / 40)


# Units, order, containers


def test_units_and_order_do_not_matter():
    rng = np.random.default_rng(10)
    signal = rng.normal(size=(300, D))
    X, y = members(signal, rng), signal @ np.arange(D) + rng.normal(size=300)
    factors, shift = 10.0 ** rng.integers(-6, 6, size=SIZE * D), rng.normal(size=SIZE * D)
    model, other = (
        LinCFA(strategy="agglomerative", n_groups=D).fit(table, target)
        for table, target in ((X, y), (X * factors + shift * factors, 1e5 * y + 3))
    )
    np.testing.assert_array_equal(model.labels_, other.labels_)
    X, y = new(11)
    shuffled = rng.permutation(len(y))
    found, same = (
        model.inference(X, y),
        other.inference((X * factors + shift * factors)[shuffled], (1e5 * y + 3)[shuffled]),
    )
    for name in ("p_value", "adjusted_p_value", "scale"):
        np.testing.assert_allclose(getattr(same, name), getattr(found, name), rtol=1e-7)
    for name in ("estimate", "standard_error", "low", "high"):
        np.testing.assert_allclose(getattr(same, name), 1e5 * getattr(found, name), rtol=1e-7)


def containers(X, y):
    names = [f"f{k}" for k in range(X.shape[1])]
    yield pd.DataFrame(X, columns=names), pd.Series(y)
    yield pl.DataFrame(X, schema=names), pl.Series(y)
    yield pd.DataFrame(np.asfortranarray(X), columns=names), list(y)


def test_a_search_and_a_field():
    X, y = new(12, n=400)
    search = LinCFACV(tolerances=[5.0]).fit(X[:200], y[:200])
    found = search.inference(X[200:], y[200:])
    assert_same(found, search.reducer_.inference(X[200:], y[200:]))
    expected = LinearRegression().fit(search.transform(X[200:]), y[200:]).coef_
    np.testing.assert_allclose(found.estimate, expected, rtol=1e-8)
    times = pd.date_range("2000-01-01", periods=400)
    coords = {"time": times, "lat": range(D), "lon": range(SIZE)}
    field = xr.DataArray(X.reshape(400, D, SIZE), coords)
    rain = xr.DataArray(y, {"time": times})
    model = LinCFA(tolerance=5.0).fit(field[:200], rain[:200])
    dated = model.inference(field[200:], rain[200:])
    assert "dates" in dated.how
    np.testing.assert_allclose(dated.estimate, model.inference(X[200:], y[200:]).estimate)
    with pytest.raises(ValueError, match="The 200 rows were used in the fit"):
        model.inference(field[:200].transpose("lon", "time", "lat"), rain[:200])


def test_missing_members():
    """A mean is of the members that are present, and that of the training data without any."""
    model, *_ = fitted(missing="pairwise")
    X, y = new(13)
    X[::7, 1] = np.nan
    X[5, :SIZE] = np.nan
    Z = model.transform(X)
    assert np.isnan(Z[5, 0])
    Z[5, 0] = 0.0  # standardised
    expected = api.OLS(y, api.add_constant(Z)).fit(cov_type="HC3", use_t=True)
    np.testing.assert_allclose(model.inference(X, y).standard_error, expected.bse[1:], rtol=1e-9)


# What cannot be estimated


def test_groups_that_cannot_be_told_apart():
    model, *_ = fitted(units="original")
    X, y = new(14)
    whole = model.inference(X, y)
    X[:, :SIZE] = 2.0  # constant
    X[:, 2 * SIZE : 3 * SIZE] = X[:, SIZE : 2 * SIZE] * 2 - 1  # but for its unit the one before
    found = model.inference(X, y)
    lost = [True, True, True, False, False]
    for name in FIGURES:
        np.testing.assert_array_equal(np.isnan(getattr(found, name)), lost)
    Z = model.transform(X)[:, [1, 3, 4]]
    expected = api.OLS(y, api.add_constant(Z)).fit(cov_type="HC3", use_t=True)
    np.testing.assert_allclose(found.estimate[3:], expected.params[2:], rtol=1e-7)
    np.testing.assert_allclose(found.standard_error[3:], expected.bse[2:], rtol=1e-7)
    assert "3 groups without a weight" in found.how
    assert "without a weight" not in whole.how
    assert str(found).count("unknown") == 3
    assert "of 2 weights" in str(found)


@pytest.mark.parametrize("per_date", [None, 4])
def test_a_weight_that_rests_on_one_sample_or_date_has_no_error(per_date):
    model, *_ = fitted()
    X, y = new(15)
    own = slice(16, 16 + (per_date or 1))
    X[:, :SIZE] = 2.0
    X[own, :SIZE] = 3.0
    dates = pd.date_range("2000-01-01", periods=200 // (per_date or 1))
    y = pd.Series(y, index=np.repeat(dates, per_date or 1))
    found = model.inference(X, y, ordered=per_date is not None)
    assert np.isnan(found.p_value).tolist() == [True, False, False, False, False]
    only = f"at most one {'date' if per_date else 'sample'} tells"
    assert f"1 group without a weight: {only}" in found.how
    if per_date is None:  # it fits this sample, as if it were not there
        X, y = np.delete(X, own, axis=0), np.delete(y.to_numpy(), own)
        without = model.inference(X, y)
        np.testing.assert_allclose(found.estimate[1:], without.estimate[1:], rtol=1e-9)
        np.testing.assert_allclose(found.standard_error[1:], without.standard_error[1:], rtol=1e-9)


def test_a_perfect_fit():
    model, *_ = fitted()
    X, _ = new(16)
    weights = np.array([1.0, -2.0, 0.0, 0.5, 3.0])
    found = model.inference(X, model.transform(X) @ weights + 7)
    np.testing.assert_allclose(found.estimate, weights, atol=1e-12)
    assert (found.standard_error < 1e-12).all()
    assert (found.adjusted_p_value[[0, 1, 3, 4]] < 1e-100).all()


@pytest.mark.parametrize("dated", [False, True])
def test_too_few_samples_for_the_groups(dated):
    model, *_ = fitted()
    X, y = new(17, n=12)
    model.inference(X, y)
    if dated:
        X, y = new(17, n=60)
        y = pd.Series(y, index=np.repeat(pd.date_range("2000-01-01", periods=10), 6))
    else:
        X, y = X[:11], y[:11]
    which = "10 dates" if dated else "11 samples"
    with pytest.raises(
        ValueError, match=rf"{which} are too few .* of 5 groups, which need 12\. Hold out more"
    ):
        model.inference(X, y)


def test_bad_arguments():
    model, *_ = fitted()
    X, y = new(18)
    for level in (0, 1, 95, True, "0.9"):
        with pytest.raises(ValueError, match="level must be between 0 and 1"):
            model.inference(X, y, level=level)
    with pytest.raises(ValueError, match="X was given without y"):
        model.inference(X, None)
    with pytest.raises(ValueError, match="X and y are None"):
        model.inference(None, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.inference(X, y[:-1])
    classes = LinCFAClassifierCV(tolerances=[1.0]).fit(X, np.where(y > 0, "wet", "dry"))
    with pytest.raises(ValueError, match="inference is for numeric targets"):
        classes.inference(X, np.where(y > 0, "wet", "dry"))


# Rows of the fit


def test_rows_of_the_fit_are_recognised_in_any_container():
    X, y = new(20)
    X[3, 0], X[4, 0], y[5] = -0.0, 0.0, -0.0
    given = list(containers(X, y))
    for container in given:
        model = LinCFA().fit(*container)
        for table, target in given:
            with pytest.raises(ValueError, match="The 200 rows were used in the fit"):
                model.inference(table[::-1], target[::-1])
    model = LinCFA().fit(X, y)
    X[3, 0], X[4, 0], y[5] = 0.0, -0.0, 0.0
    assert rows_of_fit(model, X, y) == 200
    assert rows_of_fit(model, X, y + 1e-3) == 0
    for other in (X.astype(np.float32), X * (1 + 1e-15)):  # or from another kind of file
        assert rows_of_fit(model, other, y) == 200
        assert rows_of_fit(LinCFA().fit(other, y.astype(np.float32)), X, y) == 200


@pytest.mark.parametrize("draw", ["binary", "likert", "rounded"])
def test_rows_that_are_the_same_by_chance_are_new(draw):
    """Of twenty draws of discrete data none is refused."""
    for seed in range(20):
        rng = np.random.default_rng([11, seed])
        signal = rng.normal(size=(200, 20))
        levels = {"binary": signal > 0, "likert": np.clip(signal.round(), -2, 2)}
        X = levels.get(draw, signal[:, :3].round(1)).astype(float)
        y = X.sum(axis=1) + rng.integers(3, size=200)
        model = LinCFA(strategy="agglomerative", n_groups=2).fit(X[:100], y[:100])
        model.inference(X[100:], y[100:])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_extreme_units(unit):
    model, *_ = fitted()
    X, y = new(25)
    plain, found = model.inference(X, y), model.inference(X, unit * y)
    for name in ("estimate", "standard_error", "low", "high"):
        expected = unit * getattr(plain, name)
        np.testing.assert_allclose(getattr(found, name), expected, rtol=1e-9)
    np.testing.assert_allclose(found.p_value, plain.p_value, rtol=1e-9)


def test_some_rows_of_the_fit(tmp_path):
    X, y = new(21, n=600)
    path = LinCFA(strategy="agglomerative").fit(X[:300], y[:300])
    search = LinCFACV(tolerances=[5.0]).fit(X[:300], y[:300])
    path.save(tmp_path / "path.json")
    search.save(tmp_path / "search.json")
    loaded = (lincfa.load(tmp_path / name) for name in ("path.json", "search.json"))
    for model in (path, path.cut(n_groups=4), search, *loaded):
        assert rows_of_fit(model, X[200:], y[200:]) == 100
        assert rows_of_fit(model, X[300:], y[300:]) == 0
        with pytest.raises(ValueError, match="About 100 of the 400 rows were used in the fit"):
            model.inference(X[200:], y[200:])
        model.inference(X[297:], y[297:])  # 1 %
    again = lincfa.load(tmp_path / "path.json")
    assert_same(again.inference(X[300:], y[300:]), path.inference(X[300:], y[300:]))


def test_rows_of_a_large_fit_are_estimated():
    rng = np.random.default_rng(22)
    X, y = rng.normal(size=(12_000, 4)), rng.normal(size=12_000)
    model = LinCFA().fit(X[:8000], y[:8000])
    assert model._rows.size == ROWS_KEPT
    # An eighth of 4000 rows is compared, so that a half of them has a standard error of 80 rows.
    assert abs(rows_of_fit(model, X[6000:10_000], y[6000:10_000]) - 2000) < 3 * 80
    assert rows_of_fit(model, X[8000:], y[8000:]) == 0
    assert rows_of_fit(model, X[:8000], y[:8000]) == 8000


def test_rows_without_weight_are_not_of_the_fit():
    X, y = new(23)
    model = LinCFA().fit(X, y, sample_weight=np.repeat([2.0, 0.0], 100))
    assert rows_of_fit(model, X[:100], y[:100]) == 100
    assert rows_of_fit(model, X[100:], y[100:]) == 0


def test_rows_that_repeat_tell_nothing():
    """New rows of a few counts are the same as some of the fit."""
    rng = np.random.default_rng(24)
    X = rng.integers(3, size=(400, 4)).astype(float)
    y = rng.integers(3, size=400).astype(float)
    model = LinCFA().fit(X[:200], y[:200])
    assert not hasattr(model, "_rows")
    model.inference(X[200:], y[200:])
    with pytest.raises(ValueError, match="The 200 rows were used in the fit"):
        model.inference(X[:200], y[:200])  # by their means


def test_a_fit_in_chunks_knows_the_means():
    X, y = new(25, n=400)
    model = LinCFA().partial_fit(X[:100], y[:100]).partial_fit(X[100:200], y[100:200])
    assert not hasattr(model, "_rows")
    with pytest.raises(ValueError, match="The 200 rows were used in the fit"):
        model.inference(X[:200], y[:200])
    model.inference(X[200:], y[200:])
    assert hasattr(model.fit(X, y), "_rows")
    model.partial_fit(X, y)  # which starts over
    assert not hasattr(model, "_rows")


def test_fingerprints_are_those_of_saved_files():
    """They must not change from one version or machine to another."""
    X = np.arange(12.0).reshape(4, 3) / 7
    found = kept_fingerprints(X, np.array([1.0, np.nan, -0.0, 2.5]), np.array([0, -1, 1]))

    def hashed(values):
        """SplitMix64 of the bits of numbers in single precision, with unbounded integers."""
        mixed = 0
        for value in values:
            value = struct.unpack("<f", struct.pack("<f", value))[0]
            (bits,) = struct.unpack("<Q", struct.pack("<d", value))
            mixed = (mixed + bits + 0x9E3779B97F4A7C15) % 2**64
            mixed = ((mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9) % 2**64
            mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) % 2**64
            mixed ^= mixed >> 31
        return mixed

    rows = zip(X, [1.0, math.nan, 0.0, 2.5], strict=True)
    expected = [(hashed([y]) >> 38) << 27 | hashed([x[0], x[2]]) >> 37 for x, y in rows]
    assert found.tolist() == sorted(expected)


# What is shown


def test_table_and_frames():
    model, *_ = fitted()
    X, y = new(26)
    found = model.inference(X, y)
    pandas, polars = found.frame(), found.frame("polars")
    assert list(pandas.columns) == ["name", *FIGURES, "scale"] == polars.columns
    np.testing.assert_array_equal(pandas["low"], found.low)
    lines = str(found).splitlines()
    order = np.argsort(found.p_value)
    clear = int((found.adjusted_p_value < 0.05).sum())
    assert lines[0] == f"200 new samples: {clear} of 5 weights clearly not 0"
    assert [line.split("  ")[0] for line in lines[2:7]] == [found.names[k] for k in order]
    assert "… and 2 more weights" in str(found.table(3))
    assert found._repr_html_().startswith("<div><table>")
    scaled = found.per_standard_deviation()
    np.testing.assert_allclose(scaled.high, found.high * found.scale)
    assert (scaled.scale == 1).all()
    assert str(scaled) == str(found)


# The figure


def intervals(ax):
    """Return the ends of the intervals drawn, by their place from the top."""
    lines = [line for part in ax.collections for line in getattr(part, "get_segments", list)()]
    ends = {float(line[0, 1]): (line[0, 0], line[-1, 0]) for line in lines}
    return [ends[place] for place in sorted(ends)]


def test_figure_of_intervals():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = new(30, n=400)
    blocks = np.repeat(np.arange(D), SIZE)
    model = LinCFACV(strategies=["agglomerative"], tolerances=[1e9], blocks=blocks)
    found = model.fit(X[:200], y[:200]).inference(X[200:], y[200:])
    ax = plot_inference(found, model=model)
    scaled = found.per_standard_deviation()
    order = np.argsort(-np.abs(scaled.estimate))
    np.testing.assert_allclose(intervals(ax), np.column_stack([scaled.low, scaled.high])[order])
    assert [text.get_text() for text in ax.get_yticklabels()] == [found.names[k] for k in order]
    own = ax.collections[-1].get_offsets()[:, 0]
    np.testing.assert_allclose(own, (model.estimator_.coef_ * found.scale)[order])
    bottom, top = ax.get_ylim()
    assert bottom > top  # the largest above
    part = plot_inference(found, limit=2, ax=plt.figure().subplots())
    assert len(intervals(part)) == 2
    assert "3 smaller weights left out" in part.get_xlabel()
    lost = replace(found, **{name: np.where(order == 0, np.nan, found.p_value) for name in FIGURES})
    assert "(1 unknown)" in plot_inference(lost).get_xlabel()
    with pytest.raises(ValueError, match="model has other groups"):
        plot_inference(found, model=LinCFACV(tolerances=[1e-3]).fit(X, y))
    with pytest.raises(ValueError, match="limit must be a positive integer"):
        plot_inference(found, limit=0)
    plt.close("all")


def test_figure_of_one_of_several_targets():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, Y = new(31, n=400, K=2)
    Y = pd.DataFrame(Y, columns=["rain", "wind"])
    model = LinCFA(strategy="agglomerative", n_groups=D).fit(X[:200], Y[:200])
    found = model.inference(X[200:], Y[200:])
    ax = plot_inference(found, target="wind")
    assert ax.get_xlabel().startswith("change in the wind per")
    low, high = zip(*intervals(ax), strict=True)
    np.testing.assert_allclose(sorted(low), sorted((found.low * found.scale)[1]))
    np.testing.assert_allclose(sorted(high), sorted((found.high * found.scale)[1]))
    with pytest.raises(ValueError, match="There are 2 targets: choose one with target="):
        plot_inference(found)
    plt.close("all")
