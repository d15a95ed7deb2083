"""Weights of samples: a row of weight w counts as w rows, and one of weight 0 as none."""

import pickle
from dataclasses import asdict
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from lincfa import LinCFA, LinCFACV, explain_pair, theory
from lincfa._statistics import _array, _means, _moments, _tiles
from reference import (
    assert_raises,
    draw,
    duplicates,
    explained,
    field,
    make,
    mirrored,
    noise_only,
    tree,
)

SPLITS = [(np.arange(20, 60), np.arange(20)), (np.arange(35), np.arange(35, 60))]
COUNTS = np.random.default_rng(0).integers(0, 4, size=60)
FRACTIONS = np.random.default_rng(60).uniform(0.2, 3.0, size=60)
STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


# What is compared


def repeated(X, y, weights):
    return np.repeat(X, weights, axis=0), np.repeat(y, weights)


def assert_same_records(one, two, rtol):
    """The error of a gain, a difference, is that of the drop of variance; that of F is of 1."""
    for name in two.dtype.names:
        values, expected, bound = one[name], two[name], rtol
        if values.dtype.kind in "ib":
            bound = 0
        elif name.endswith("correlation"):
            bound = 1e-9
        elif name == "threshold":  # 1 − c(1−ρ)/F, which says nothing where F is rounding
            sizeable = two["f"] > 1e-3
            values, expected, bound = 1 - values[sizeable], 1 - expected[sizeable], 1e3 * rtol
        elif name not in ("f", "height", "tolerance"):
            drop = two["variance_drop_share" if name.endswith("share") else "variance_drop"]
            values, expected = values / drop, expected / drop
        np.testing.assert_allclose(values, expected, rtol=bound, atol=bound, err_msg=name)


def assert_equal_fits(model, other, rtol=1e-9):
    """Same groups and figures: correlations to 1e-14 or so, and F where 1 − ρ is 1e-5 to 1e-9."""
    np.testing.assert_array_equal(model.labels_, other.labels_)
    shift = np.abs(model.mean_ - other.mean_)
    assert (shift <= 1e-13 * (other.scale_ + np.abs(other.mean_))).all()
    np.testing.assert_allclose(model.scale_, other.scale_, rtol=1e-12)
    np.testing.assert_allclose(model.target_correlation_, other.target_correlation_, atol=1e-12)
    assert model.target_scale_ == pytest.approx(other.target_scale_, rel=1e-12)
    assert model.n_samples_ == pytest.approx(other.n_samples_, rel=1e-14)
    for name in ("evidence_", "cohesion_", "merge_path_"):
        assert hasattr(model, name) == hasattr(other, name)
        if hasattr(other, name):
            assert_same_records(getattr(model, name), getattr(other, name), rtol)


def state(model):
    return {name: pickle.dumps(value) for name, value in vars(model).items()}


# Rows that count several times


@pytest.mark.parametrize("family", [noise_only, tree, field, duplicates, mirrored, explained])
@every_strategy
def test_counts_are_repeated_rows(family, strategy):
    """Where the regression on all features is ill-conditioned (1e14), its F keeps two digits."""
    if (family, strategy) == (mirrored, "joint"):
        return  # the regression on mirror images is singular: rounding decides
    forms = [("C", np.float64, "standardized"), ("F", np.float64, "original")]
    if family is not duplicates:  # copies in another unit, in float32, differ by some 1e-14
        forms += [("F", np.float32, "original")]
    for seed, (order, dtype, units) in enumerate(forms):
        X, y = make(family, 60, 15, seed)
        X = np.asarray(X, dtype=dtype, order=order)
        rows = repeated(X, y, COUNTS)
        for noise in ("pair", "full", 0.5 * y.var()):
            parameters = {"strategy": strategy, "noise": noise, "units": units}
            model, other = (LinCFA(**parameters).fit(*data) for data in ((X, y, COUNTS), rows))
            delicate = (noise == "full" or strategy == "joint") and family not in (noise_only, tree)
            assert_equal_fits(model, other, rtol=1e-2 if delicate else 1e-9)
            for tolerance in (1 - 1e-6, 1 + 1e-6):  # rounding decides nothing here
                near = LinCFA(tolerance=tolerance, **parameters).fit(*rows)
                np.testing.assert_array_equal(near.labels_, other.labels_)


@every_strategy
def test_many_features(strategy):
    """For rows of seeds, groups too large to see all of their pairs, and joint after clustering."""
    X, y = make(tree, 60, 300 if strategy == "sequential" else 30, 1)
    for order, dtype in (("C", np.float32), ("C", np.float64), ("F", np.float64)):
        values = np.asarray(X, dtype=dtype, order=order)
        model = LinCFA(strategy=strategy, tolerance=7.0).fit(values, y, COUNTS)
        other = LinCFA(strategy=strategy, tolerance=7.0).fit(*repeated(values, y, COUNTS))
        assert_equal_fits(model, other, rtol=1e-4 if strategy == "joint" else 1e-7)
    assert strategy != "sequential" or max(group.size for group in model.groups_) > 128


@pytest.mark.parametrize("noise", ["pair", 1e-8])
@pytest.mark.parametrize("sign", [1, -1])
def test_explained_pairs_of_near_copies(sign, noise):
    """1 ∓ ρ of 1e-8 and 1 − R² of 1e-9, from the columns: of their 16 digits half are left."""
    rng = np.random.default_rng(5)
    X = np.repeat(rng.normal(size=(60, 2)), 2, axis=1) + 1e-4 * rng.normal(size=(60, 4))
    X[:, 1::2] *= sign
    y = X @ [1.0, 0.5 * sign, 0.0, 0.0] + 3e-5 * rng.normal(size=60)
    for a, b in ((0, 1), (2, 3), (0, 2)):
        one = explain_pair(X, y, a, b, noise=noise, sample_weight=COUNTS)
        two = explain_pair(*repeated(X, y, COUNTS), a, b, noise=noise)
        assert (one.names, one.merges) == (two.names, two.merges)
        for name, value in list(asdict(two).items())[2:]:
            close = value if name in ("noise", "targets") else pytest.approx(value, rel=1e-7)
            assert getattr(one, name) == close, name


@every_strategy
def test_every_tile_has_its_own_weights(monkeypatch, strategy):
    X, y = make(tree, 60, 18, 1)
    rows, columns = np.ascontiguousarray(X), np.asfortranarray(X)
    fits = [(LinCFA.fit, rows), (LinCFA.fit, columns), (LinCFA.partial_fit, rows)]
    whole = [fit(LinCFA(strategy=strategy), values, y, FRACTIONS) for fit, values in fits]
    monkeypatch.setattr(_tiles, "TILE_VALUES", 40)
    monkeypatch.setattr(_tiles, "_COLUMN_LENGTH", 40)
    monkeypatch.setattr(_array, "_SQUARE_VALUES", 40)
    monkeypatch.setattr(_means, "_ROW_VALUES", 40)
    monkeypatch.setattr(_moments, "_CHUNK_VALUES", 40)
    for (fit, values), expected in zip(fits, whole, strict=True):
        assert_equal_fits(fit(LinCFA(strategy=strategy), values, y, FRACTIONS), expected)


# Rows that do not count


@pytest.mark.parametrize("outlier", [0.0, -1e9, 1e200, 1e307, np.nan, np.inf])
@every_strategy
def test_rows_without_weight_are_dropped_rows(strategy, outlier):
    """Whatever they hold, also where they are among the first: zero times infinity is no zero."""
    X, y = draw(1)
    weights = np.where(np.isin(np.arange(60), [0, 7, 8, 30, 59]), 0, FRACTIONS)
    counted = weights > 0
    other = LinCFA(strategy=strategy).fit(X[counted], y[counted], weights[counted])
    pair = explain_pair(X[counted], y[counted], 0, 1, sample_weight=weights[counted])
    X[~counted] = outlier
    if np.isfinite(outlier):
        y[~counted] = -outlier
    fits = [(LinCFA.fit, "C"), (LinCFA.fit, "F")]
    if np.abs(outlier) <= 1e200:
        fits.append((LinCFA.partial_fit, "C"))
    for fit, order in fits:
        model = fit(LinCFA(strategy=strategy), np.asarray(X, order=order), y, weights)
        assert_equal_fits(model, other)
    found = explain_pair(X, y, 0, 1, sample_weight=weights)
    assert found.f == pytest.approx(pair.f, rel=1e-9)


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
    assert_raises("minimum of 4 is required", LinCFA().fit, X[rows], y[rows])
    for ones in (1, [1, 1, 1]):
        assert_raises("adds up to 3 of them", LinCFA().fit, X[rows], y[rows], ones)

    # Weights that add up to four but for rounding.
    weights = np.full(6, 4 / 6)
    assert weights.sum() < 4
    model = LinCFA()
    for row in range(6):
        model.partial_fit(X[[row]], y[[row]], weights[[row]])
    np.testing.assert_array_equal(model.labels_, LinCFA().fit(X[:6], y[:6], weights).labels_)


@pytest.mark.parametrize("fit", [LinCFA.fit, LinCFA.partial_fit])
def test_what_varies_only_in_rows_without_weight_is_constant(fit):
    X, y = draw(2)
    X[10:, 4] = 3.7
    weights = np.where(np.arange(60) < 10, 0.0, 1.5)
    with pytest.warns(UserWarning, match=r"constant features.*column 4\."):
        model = fit(LinCFA(), X, y, weights)
    assert np.flatnonzero(model.labels_ == -1).tolist() == [4]
    assert (model.scale_[4], model.target_correlation_[4]) == (1, 0)
    with pytest.warns(UserWarning, match="constant"):
        assert_equal_fits(model, LinCFA().fit(X[10:], y[10:], 1.5))
    assert_raises("'x4' is constant", explain_pair, X, y, 0, 4, sample_weight=weights)
    y[10:] = 2.5
    assert_raises(r"target y is constant \(all values are 2\.5\)", LinCFA().fit, X, y, weights)


# Fractions


@pytest.mark.parametrize("fit", [LinCFA.fit, LinCFA.partial_fit])
@pytest.mark.parametrize("family", [noise_only, tree, field, explained])
def test_fractions_by_plain_sums(family, fit):
    """Sums over Σw − 1; F to the six digits and more that plain correlations leave."""
    X, y = make(family, 60, 12, 2)
    n, columns = FRACTIONS.sum(), np.column_stack([X, y])
    mean = np.average(columns, 0, FRACTIONS)
    covariance = (columns - mean).T * FRACTIONS @ (columns - mean) / (n - 1)
    scale = np.sqrt(np.diagonal(covariance))
    correlation = covariance / scale / scale[:, None]
    model = fit(LinCFA(), X, y, FRACTIONS)
    np.testing.assert_allclose(model.mean_, mean[:-1], rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose([*model.scale_, model.target_scale_], scale, rtol=1e-12)
    np.testing.assert_allclose(model.target_correlation_, correlation[-1, :-1], atol=1e-12)
    assert model.n_samples_ == pytest.approx(n, rel=1e-14)
    assert model.evidence_.size
    seed, other = model.evidence_["partner"], model.evidence_["feature"]
    rho, r = correlation[seed, other], correlation[-1]
    np.testing.assert_allclose(model.evidence_["correlation"], rho, atol=1e-12)
    f = theory.f_statistic(n, rho, r[seed], r[other])
    np.testing.assert_allclose(model.evidence_["f"], f, rtol=1e-6, atol=1e-9)
    left = 1 - theory.r_squared(rho, r[seed], r[other])
    np.testing.assert_allclose(model.evidence_["variance_drop_share"], left / (n - 3), rtol=1e-6)


@every_strategy
def test_weights_of_one_change_no_bit_and_of_two_count_twice(strategy):
    X, y = draw(4)
    twice = LinCFA(strategy=strategy).fit(np.vstack([X, X]), np.append(y, y))
    for fit in (LinCFA.fit, LinCFA.partial_fit):
        plain = state(fit(LinCFA(strategy=strategy), X, y))
        for ones in (None, 1, 1.0, np.ones(60), [1] * 60, np.ones(60, dtype=bool)):
            assert state(fit(LinCFA(strategy=strategy), X, y, ones)) == plain
        for twos in (2, np.full(60, 2.0)):
            assert_equal_fits(fit(LinCFA(strategy=strategy), X, y, twos), twice)


# Chunks


@pytest.mark.parametrize("noise", ["pair", "full", 0.7])
@every_strategy
def test_chunks_with_weights(strategy, noise):
    """Also of rows that all weigh nothing, whatever they hold, or the same, and of a single row."""
    X, y = draw(6)
    weights = FRACTIONS.copy()
    weights[10:20], weights[[0, 41]], weights[30:40] = 0, 0, 1
    X[10:20], y[10:20] = 1e200, -1e200
    model = LinCFA(strategy=strategy, noise=noise)
    for rows in np.split(np.arange(60), (2, 20, 30, 40, 41)):
        model.partial_fit(X[rows], y[rows], weights[rows])
    assert_equal_fits(model, LinCFA(strategy=strategy, noise=noise).fit(X, y, weights))
    before = state(model)
    assert state(model.partial_fit(X[10:20], y[10:20], 0)) == before


def test_chunks_of_less_than_four_samples():
    X, y = draw(8)
    model = LinCFA().partial_fit(X[:30], y[:30], 0.1)
    with pytest.raises(NotFittedError, match="has seen 3 rows"):
        model.transform(X)
    assert_equal_fits(model.partial_fit(X[30:], y[30:], 0.1), LinCFA().fit(X, y, 0.1))


# The search


@pytest.mark.parametrize("changes", [{}, {"noise": "full", "units": "original"}])
def test_search_with_counts_is_a_search_in_repeated_rows(changes):
    """A limit of 0.12 leaves out other combinations for 60 rows than for the samples they are."""
    X, y = draw(9)
    rows = np.repeat(np.arange(60), COUNTS)
    splits = [[np.flatnonzero(np.isin(rows, part)) for part in split] for split in SPLITS]
    parameters = {"tolerances": (0.3, 1.0, 4.0, 15.0), "max_groups": 0.12} | changes
    model = LinCFACV(cv=SPLITS, **parameters).fit(X, y, sample_weight=COUNTS)
    other = LinCFACV(cv=splits, **parameters).fit(X[rows], y[rows])
    for name, expected in other.cv_results_.items():
        if name != "strategy":
            np.testing.assert_allclose(model.cv_results_[name], expected, rtol=1e-9)
    assert model.best_index_ == other.best_index_
    assert_equal_fits(model, other)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-9)
    by_rows = model.cv_results_["mean_n_groups"] <= 0.12 * np.mean([len(t) for t, _ in SPLITS])
    assert not np.array_equal(model.cv_results_["eligible"], by_rows)


def test_search_refuses_what_takes_no_weights_and_folds_that_weigh_too_little():
    X, y = draw(11)
    model = LinCFACV(estimator=KNeighborsRegressor(), cv=SPLITS).fit(X, y, sample_weight=1)
    with pytest.raises(ValueError, match=r"KNeighborsRegressor\(\) does not take sample_weight"):
        model.fit(X, y, sample_weight=FRACTIONS)
    for parts, message in (
        ([0.1, 2.0], r"In a fold with 35 .* adds up to 3\.5 of them"),
        ([0.0, 1.0], "sample_weight is zero"),
        ([1.0, 0.0], "the held-out samples have no weight"),
    ):
        with pytest.raises(ValueError, match=message):
            LinCFACV(cv=SPLITS[1:]).fit(X, y, sample_weight=np.repeat(parts, [35, 25]))

    def fails(model, X, y, sample_weight):
        raise TypeError("not today")

    with pytest.raises(TypeError, match="not today"):
        LinCFACV(cv=SPLITS, scoring=fails).fit(X, y, sample_weight=FRACTIONS)
    for scoring in ("neg_max_error", lambda model, X, y: 0.0):
        search = LinCFACV(tolerances=(0.5, 4.0), cv=SPLITS, scoring=scoring).fit(X, y)
        with pytest.raises(ValueError, match=r"The scoring .* does not take sample_weight"):
            search.fit(X, y, sample_weight=FRACTIONS)


# What is refused, and what passes weights on


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(19), r"one weight per sample, shape \(20,\), got \(19,\)"),
        (np.ones((20, 1)), r"shape \(20,\), got \(20, 1\)"),
        ([1.0] * 7 + [-0.5] * 13, r"not negative, but is -0\.5 in row 7"),
        ([1.0] * 7 + [np.nan] * 13, "finite .* but is nan in row 7"),
        ([1.0] * 7 + [np.inf] * 13, "finite .* but is inf in row 7"),
        (["2"] * 20, "sample_weight must be real numbers, got"),
        (np.array(["2"] * 20, dtype=object), "must be real numbers, got"),
        (np.full(20, 1 + 0j), "must be real numbers, got"),
        (np.full(20, np.datetime64("2020-01-01")), "must be real numbers, got"),
        (np.ma.masked_array(np.ones(20), [True] + [False] * 19), "masked values"),
        (np.full(20, 1e308), "adds up to more than float64 can hold"),
        (np.zeros(20), "All of sample_weight is zero"),
        (np.full(20, 0.19), r"adds up to 3\.8 of them; a minimum of 4 .* multiply them by len"),
    ],
)
def test_bad_weights(weights, message):
    X, y = draw(13)
    model = LinCFA().partial_fit(X[20:], y[20:], 0.5)
    before = state(model)
    calls = [LinCFA().fit, LinCFACV().fit, partial(explain_pair, a=0, b=1), model.partial_fit]
    for refused in calls[:3] if "zero" in message or "adds up" in message else calls:
        assert_raises(message, refused, X[:20], y[:20], sample_weight=weights)
    assert state(model) == before


def test_pipeline_passes_weights_on():
    X, y = draw(14)
    model = make_pipeline(LinCFA(), LinearRegression()).fit(X, y, lincfa__sample_weight=COUNTS)
    assert_equal_fits(model[0], LinCFA().fit(*repeated(X, y, COUNTS)))
    objects = np.array([2] * 60, dtype=object)  # which are numbers
    assert LinCFA().fit(X, y, objects).n_samples_ == 120
