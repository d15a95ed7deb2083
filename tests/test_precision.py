"""Precision of the sources: units, large means, columns that nearly coincide; to fifty digits."""

import dask.array as da
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

from fifty_digits import exact_moments, exact_pair
from lincfa import LinCFA
from lincfa._grouping import group_sequential
from lincfa._rule import Rule
from lincfa._statistics import _array
from reference import (
    array_statistics,
    assert_same,
    make,
    mirrored,
    noise_only,
    reference,
    statistics_of,
    tree,
    with_costs,
)


def far_columns(rng, n):
    """Columns with means up to a million scales, and with outliers in the rows of the shift."""
    x = rng.normal(size=(n, 1))
    values = x + rng.normal(size=(n, 8))
    values[:, 1] += 1e3
    values[:, 2] -= 1e6
    values[:, 3] = 1e-30 * (values[:, 3] + 1e6)
    first = slice(0, None, max(1, n // 8))
    values[first, 4] += 1e3
    values[first, 5] = 1e6 + values[first, 5] * 1e-3
    values[:, 6] += 1e6
    values[first, 6] *= -1
    values[: n // 8, 7] += 1e4
    return values, 1e5 + x[:, 0] + rng.normal(size=n)


@pytest.mark.parametrize("n", [5, 60, 1000])
@pytest.mark.parametrize("kind", ["C", "F", "chunks"])
def test_moments_of_columns_against_fifty_digits(n, kind):
    """Also where the rows that give the shift are outliers: 8 of 1000 are many scales off."""
    X, y = far_columns(np.random.default_rng(n), n)
    if kind == "chunks":
        model = LinCFA().partial_fit(X[: n // 3], y[: n // 3]).partial_fit(X[n // 3 :], y[n // 3 :])
    else:
        model = LinCFA().fit(np.asarray(X, order=kind), y)
    means, scales, correlation = exact_moments([*X.T, y])
    for j in range(X.shape[1]):
        mean, scale = float(means[j]), float(scales[j])
        # The mean is rounded to float64 itself; sums of n values of some scales add a little.
        assert model.mean_[j] == pytest.approx(mean, rel=4e-16, abs=1e-14 * scale)
        # Offsets from the shift of 8 scales at most cost two digits, the mean none. The distance of
        # the means of two chunks is one of rounded numbers, as the data themselves are.
        bound = 1e-13
        if kind == "chunks":
            bound += 2.2e-16 * (abs(mean) / scale + float(abs(means[8]) / scales[8]))
        assert model.scale_[j] == pytest.approx(scale, rel=bound)
        assert model.target_correlation_[j] == pytest.approx(float(correlation(j, 8)), abs=bound)


@pytest.mark.parametrize("kind", ["C", "F", "moments"])
@pytest.mark.parametrize("ratio", [900, 1e4, 1e6])
@pytest.mark.parametrize("family", [tree, noise_only, mirrored])
def test_groups_do_not_depend_on_the_mean(monkeypatch, family, ratio, kind):
    """Values of 20 binary digits, which a shift by a million leaves exact."""
    monkeypatch.setattr(_array, "_SMALLEST_BLOCK", 20)
    X, y = make(family, 60, 75)
    X = np.round(X * 2.0**20) / 2.0**20
    shift = np.round(ratio * np.random.default_rng(0).choice([-1, 0.5, 1], size=X.shape[1]))
    for tolerance in (0.1, 1):
        labels, *_ = reference(X, y, tolerance)
        parts = [
            group_sequential(statistics, Rule(60, tolerance))
            for statistics in (statistics_of(kind, values, y) for values in (X, X + shift))
        ]
        assert parts[0].labels.tolist() == parts[1].labels.tolist() == labels
        # The means of chunks are rounded to 1e-16 of a million.
        rtol = 1e-7 if kind == "moments" else 1e-8
        assert_same(parts[0].evidence, parts[1].evidence, tolerance, rtol)


GAPS = [10.0**-k for k in range(2, 13)]
GAPS32 = [1e-2, 1e-5, 1e-8, 1e-10, 1e-11, 1e-13, 1e-15]
ROUNDING32 = 7e-15  # both columns come with errors of half of 1.2e-7: half the square of their sum
RESOLUTION = 1e-13  # of sums


def near_duplicate(gap, sign, dtype=np.float64, n=80):
    """A column, itself (or its mirror image) at 1 − |ρ| of about the gap, and a target."""
    rng = np.random.default_rng(20240229)
    x1, noise = rng.normal(size=(2, n))
    X = np.column_stack([x1, sign * x1 + np.sqrt(2 * gap) * noise]).astype(dtype)
    return X, x1 + 0.1 * noise + rng.normal(size=n)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("gap", GAPS)
def test_near_duplicates_in_memory(gap, sign):
    """Through the whole fit, both orders, and behind the head as well as in it."""
    X, y = near_duplicate(gap, sign)
    f, below_one, _ = exact_pair(*X.T, y)
    # The columns carry errors of 1e-16, their difference is of the size of √(2·gap); correlations,
    # which are used down to 1e-5, carry some 1e-16 too.
    bound = 1e-14 / np.sqrt(2 * gap) + 1e-10
    for order in "CF":
        evidence = LinCFA(tolerance=1e9).fit(np.asarray(X, order=order), y).evidence_
        assert evidence["f"] == pytest.approx([f], rel=bound)
        assert 1 - evidence["correlation"] == pytest.approx([below_one], abs=1e-15)
        # 1 − threshold is c(1 − ρ)/F.
        expected = 1 - 1e9 * below_one / f
        assert evidence["threshold"] == pytest.approx([expected], rel=2 * bound)
        statistics = statistics_of(order, X, y)
        partition = group_sequential(with_costs(statistics, 1), Rule(80, 1e9))
        assert partition.evidence["f"] == pytest.approx([f], rel=bound)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("gap", GAPS32)
def test_near_duplicates_in_float32(gap, sign, order):
    """The very numbers, converted, as precisely; only differences of their rounding are none."""
    X, y = near_duplicate(gap, sign, np.float32)
    f, below_one, _ = exact_pair(*X.T, y)
    model = LinCFA(tolerance=1e9).fit(np.asarray(X, order=order), y)
    if gap > ROUNDING32:
        assert model.evidence_["f"] == pytest.approx([f], rel=1e-14 / np.sqrt(2 * gap) + 1e-10)
        assert 1 - model.evidence_["correlation"] == pytest.approx([below_one], abs=1e-15)
    else:
        assert model.evidence_["correlation"] == sign
        if sign > 0:
            assert model.evidence_["f"] == 0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    ("gap", "dtype"),
    [(g, np.float64) for g in GAPS] + [(g, np.float32) for g in GAPS32 if g != RESOLUTION],
)
def test_near_duplicates_in_chunks(gap, sign, dtype):
    """Comoments know 1 − ρ to 1e-15 or so, whatever its size, and r₁ − r₂ too."""
    X, y = near_duplicate(gap, sign, dtype)
    f, below_one, difference = exact_pair(*X.T, y)
    model = LinCFA(tolerance=1e9)
    for rows in (slice(0, 33), slice(33, 34), slice(34, None)):
        model.partial_fit(X[rows], y[rows])
    if gap < RESOLUTION:
        assert model.evidence_["correlation"] == sign
        return
    bound = 2e-15 / gap + 4e-15 / difference
    assert model.evidence_["f"] == pytest.approx([f], rel=bound)
    assert 1 - model.evidence_["correlation"] == pytest.approx([below_one], abs=2e-15)


# Pairs and columns


def pairs_of(statistics, seed, candidates):
    """Complete correlations of one feature with some others, as the grouping gets them."""
    candidates = np.asarray(candidates)
    (known,) = statistics.between(np.array([seed]), [(slice(0, 1), candidates)])
    return statistics.pairs(np.full(candidates.size, seed), candidates, known.at(0, slice(None)))


@pytest.mark.parametrize("exponent", [-300, -200, -20, 0, 20, 200, 300])
def test_standardize_any_unit(rng, exponent):
    columns, mean, scale, varying = _array.standardize(
        rng.normal(size=(50, 3)) * 10.0**exponent, 2e-16
    )
    assert varying.all()
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(columns.std(axis=0, ddof=1), 1, rtol=1e-14)
    np.testing.assert_allclose(np.log10(scale), exponent, atol=0.5)
    assert np.isfinite(mean).all()


def test_mean_much_larger_than_the_scale(rng):
    """Kelvin and pascal: the rounding of the data is the only loss."""
    values = np.round(rng.normal(size=(400, 4)) * 2**10) / 2**10  # exact also after the shift
    shifted, mean, scale, _ = _array.standardize(values + 2.0**30, np.finfo(float).eps)
    plain, plain_mean, plain_scale, _ = _array.standardize(values, np.finfo(float).eps)
    np.testing.assert_allclose(mean - 2.0**30, plain_mean, atol=2e-7)
    np.testing.assert_allclose(scale, plain_scale, rtol=1e-9)
    np.testing.assert_allclose(shifted, plain, atol=1e-7)


@pytest.mark.parametrize("noise", [1e-4, 1e-5, 1e-6])
def test_targets_that_two_features_nearly_explain(noise):
    """Weights as equal as noise allows, up to 1 − R² = 5e-13: sums decide as values do."""
    kept = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(60, 2))
        z = (z - z.mean(axis=0)) / z.std(axis=0)
        X = np.column_stack([z, z + 1e-3 * rng.normal(size=(60, 2))])
        y = z.sum(axis=1) + noise * rng.normal(size=60)
        labels = LinCFA().fit(X, y).labels_
        kept += labels[0] != labels[1]
        stream = LinCFA().partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
        np.testing.assert_array_equal(stream.labels_, labels)
        if seed < 10:
            lazy = LinCFA().fit(da.from_array(X, chunks=(20, 3)), da.from_array(y, chunks=20))
            np.testing.assert_array_equal(lazy.labels_, labels)
    assert 10 < kept < 30  # equal weights have F > 1 in 32 % of the draws: 19 ± 3.6 of 60


@pytest.mark.parametrize(
    ("dtype", "mean"), [(np.float16, 10), (np.float16, 100), (np.float32, 1e5)]
)
def test_coarse_features_that_nearly_explain_a_target(dtype, mean):
    """What features of a coarse type explain is known exactly: they decide as in float64."""
    kept = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = (rng.normal(size=(60, 2)) + mean).astype(dtype)
        y = X.astype(float).sum(axis=1) + 1e-6 * rng.normal(size=60)
        labels = LinCFA().fit(X.astype(float), y).labels_
        kept += labels[0] != labels[1]
        np.testing.assert_array_equal(LinCFA().fit(X, y).labels_, labels)
        stream = LinCFA().partial_fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
        np.testing.assert_array_equal(stream.labels_, labels)
    assert kept > 10  # F > 1 in 32 % of the draws with equal weights, and sooner with others


def test_copies_in_another_unit_merge_in_either_precision(rng):
    """The rounding that counts is that of the type the data come in."""
    x = (rng.normal(size=200) + 280).astype(np.float32)
    X = np.column_stack([x, np.float32(1.8) * x - np.float32(459.67)])
    assert X.dtype == np.float32
    y = (X[:, 0] - X[:, 1].mean()).astype(np.float64)
    assert pairs_of(array_statistics(X, y), 0, np.array([1])).below_one[0] == 0
    assert pairs_of(array_statistics(X.astype(float), y), 0, np.array([1])).below_one[0] > 0


STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]
PLAIN_FRAME = ["pandas", "polars"]
HALF = np.float16
CONVERTED = [  # containers whose values are judged in another type than they came in
    *((kind, np.float32) for kind in ("big-endian", "Dataset", "stream", "dask", *PLAIN_FRAME)),
    *((kind, HALF) for kind in ("array", "pandas")),
]


def in_container(kind, X, y):
    """Two columns, and one of float64 where the container knows a type for each."""
    beside = np.random.default_rng(3).normal(size=len(y))
    columns = {"a": X[:, 0], "b": X[:, 1], "c": beside}
    if kind == "big-endian":
        return X.astype(X.dtype.newbyteorder(">"))
    if kind == "pandas":
        return pd.DataFrame(columns)
    if kind == "polars":
        return pl.DataFrame(columns)
    if kind == "dask":
        return da.from_array(X, chunks=(50, 1))
    if kind == "Dataset":
        return xr.Dataset({"pair": (("time", "cell"), X), "c": ("time", beside)})
    return X


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("kind", "dtype"), CONVERTED)
def test_copies_in_another_unit_merge_whatever_they_are_converted_to(kind, dtype, strategy):
    """The rounding that counts is that of the type in which the columns came."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        x = (rng.normal(size=100) + rng.uniform(-1, 1)).astype(dtype)
        a, b = dtype(rng.uniform(0.1, 3)), dtype(rng.uniform(-1, 1))
        X = np.column_stack([x, a * x + b])
        # What rounding made is all that the target depends on.
        exact = a * x.astype(float) + b
        y = exact - X[:, 1] + (np.abs(exact) > 0) * 1e-9 * rng.normal(size=100)
        model = LinCFA(strategy=strategy)
        if kind == "stream":
            if strategy == "joint":
                continue  # which has no streams
            model.partial_fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
        else:
            data = in_container(kind, X, y)
            model.fit(data, da.from_array(y, chunks=50) if kind == "dask" else y)
        assert model.labels_[0] == model.labels_[1] >= 0


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("dtype", "mean"), [(HALF, 20), (HALF, 80), (np.float32, 1e5)])
def test_copies_merge_also_where_rounding_is_large(dtype, mean, strategy):
    """It may make 1 − ρ larger than differences that other digits tell apart."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = (rng.normal(size=60) + mean).astype(dtype)
        X = np.column_stack([x, dtype(1.8) * x])
        # What rounding made is all that the target depends on.
        y = X[:, 1] - 1.8 * x.astype(float) + 1e-9 * rng.normal(size=60)
        evidence = LinCFA(strategy=strategy).fit(X, y).evidence_
        assert evidence["f"] == [0]


@pytest.mark.parametrize("units", [0, 1, 2, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_units_in_the_last_place_that_make_a_difference(dtype, units):
    """Two values that stand for the same are rounded to neighbours at most: one unit apart."""
    rng = np.random.default_rng(6)
    # Below a power of two, so that a unit is hardly more than half of what a type may round.
    x = 1.6e4 + rng.normal(size=60)
    x = x.astype(np.float32).astype(dtype)
    step = rng.choice([-1, 1], size=60).astype(dtype)
    X = np.column_stack([x, x + units * np.spacing(x) * step])
    assert X.dtype == dtype
    y = rng.normal(size=60) + (X[:, 1].astype(float) - X[:, 0]) / np.spacing(x[0])
    for order in "CF":
        evidence = LinCFA(tolerance=1e12).fit(np.asarray(X, order=order), y).evidence_
        if units <= 1:
            assert evidence["f"] == 0
            assert evidence["correlation"] == 1
        elif dtype == np.float32:  # of float64 the difference has no more digits
            f, *_ = exact_pair(*X.T, y)
            assert evidence["f"] == pytest.approx([f], rel=1e-6)
    model = LinCFA().fit(X, y)
    assert model.n_groups_ == (1 if units <= 1 else 2)


def test_centring_leaves_no_mean(rng):
    columns, *_ = _array.standardize(rng.normal(size=(1000, 5)) + 1e9, np.finfo(float).eps)
    np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-15)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("distance", [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6])
def test_near_duplicates_against_fifty_digits(rng, distance, sign):
    """A column and itself (or its mirror image) plus noise of the given size."""
    x1 = rng.normal(size=80)
    noise = distance * rng.normal(size=80)
    X = np.column_stack([x1, sign * x1 + noise])
    y = x1 + 0.1 * noise / distance + rng.normal(size=80)
    statistics = array_statistics(X, y)
    pairs = pairs_of(statistics, 0, np.array([1]))
    f, below_one, _ = exact_pair(X[:, 0], X[:, 1], y)
    # The columns carry errors of 1e-16, their difference is of the size of the distance.
    assert Rule(80).decide(pairs).f[0] == pytest.approx(f, rel=1e-14 / distance + 1e-11)
    assert pairs.below_one[0] == pytest.approx(below_one, rel=1e-14 / distance + 1e-11)


@pytest.mark.parametrize("rho", [0.5, 0.99, 1 - 1e-6])
@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6, 1e-7])
def test_nearly_explained_targets_against_fifty_digits(rng, noise, rho):
    """A target that the pair explains but for noise of the given size, with equal weights."""
    x1, u = rng.normal(size=(2, 60))
    X = np.column_stack([x1, rho * x1 + np.sqrt(1 - rho**2) * u])
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    y = Z.sum(axis=1) + noise * rng.normal(size=60)
    f, *_ = exact_pair(X[:, 0], X[:, 1], y)
    pairs = pairs_of(array_statistics(X, y), 0, np.array([1]))
    # F compares shares of the size of noise², of which the smaller is that of the difference: its
    # covariance of the size noise·√(1−ρ) comes with an absolute error of some 1e-16. The other is
    # known to 1e-16 too, as 1 − R² down to 1e-6 and from the residual below.
    bound = 1e-15 / (noise * np.sqrt(1 - rho)) + 1e-15 / 1e-6
    assert Rule(60).decide(pairs).f[0] == pytest.approx(f, rel=bound)


def test_fully_explained_target_merges_equal_weights_only(rng):
    X = rng.normal(size=(40, 3))
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    pairs = pairs_of(array_statistics(X, Z[:, 0] + Z[:, 1]), 0, np.array([1, 2]))
    assert pairs.unexplained[0, 0] == 0
    assert Rule(40).decide(pairs).f[0] == 0
    pairs = pairs_of(array_statistics(X, Z[:, 0] + 2 * Z[:, 1]), 0, np.array([1, 2]))
    assert Rule(40).decide(pairs).f[0] == np.inf


def test_a_pair_at_the_tolerance_merges(data):
    """The rule is F ≤ c, with equality."""
    X, y = data
    candidates = np.arange(1, 12)
    pairs = pairs_of(array_statistics(X, y), 0, candidates)
    f = Rule(100).decide(pairs).f
    at, below = Rule(100, f[4]), Rule(100, np.nextafter(f[4], 0))
    assert at.decide(pairs).merges[4]
    assert not below.decide(pairs).merges[4]


def test_difference_of_rounding_size_is_no_difference(rng):
    x = rng.normal(size=50) + 300
    X = np.column_stack([x, 1.8 * x - 459.67, -x / 7])
    statistics = array_statistics(X, rng.normal(size=50))
    pairs = pairs_of(statistics, 0, np.array([1, 2]))
    assert pairs.below_one[0] == pairs.share_difference[0, 0] == 0
    assert pairs.below_one[1] == 2
    assert pairs.rho.tolist() == [1, -1]
    close = array_statistics(
        np.column_stack([x, x + 1e-10 * rng.normal(size=50)]), rng.normal(size=50)
    )
    assert pairs_of(close, 0, np.array([1])).below_one[0] > 0


def test_value_that_only_rounding_varies_is_constant():
    X = np.column_stack([np.full(20, 0.1), np.arange(20.0)])
    X[::2, 0] = 0.1 + 1e-17 + 2**-56
    assert (X[:, 0] != X[1, 0]).any()
    assert array_statistics(X, np.arange(20.0)).varying.tolist() == [False, True]


def test_small_variation_around_a_large_value_is_variation(rng):
    small = rng.normal(size=50)
    X = np.column_stack([1e9 + 1e-5 * small, small]).astype(np.float64)
    assert array_statistics(X, small).varying.all()
    # The target comes in its own precision, not in that of the features.
    target = array_statistics(X[:, 1:].astype(np.float32), 1e6 + 1e-3 * small)
    assert target.target_scale == pytest.approx(1e-3 * small.std(ddof=1), rel=1e-6)
