"""The engine against a plain reference: batches, tiles, memory and types change no group."""

import gc
import os
import pickle
import subprocess
import sys
import tracemalloc
import weakref
from itertools import product
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa import LinCFA, _blocks, _grouping, theory
from lincfa._criterion import Criterion
from lincfa._grouping import group_sequential
from lincfa._means import group_means
from lincfa._statistics import (
    ArrayStatistics,
    Moments,
    MomentStatistics,
    _array,
    _columns,
    _moments,
)
from lincfa.datasets import make_correlated, make_field

MARGIN = 1e-6  # relative distance of F from the tolerance below which rounding may decide
COINCIDE = 1e-13  # 1 − ρ of copies, as np.corrcoef sees them; those always merge
TOLERANCES = [1e-6, 0.1, 1, 2, 7, 50]


# The reference


def plain_correlations(X, y):
    correlation = np.corrcoef(np.column_stack([X, y]).T)
    return correlation[:-1, :-1], correlation[-1, :-1]


def plain_f(X, y, noise):
    """F and ρ of all pairs from np.corrcoef, and the relative error that F may have."""
    n = len(y)
    rho, r = plain_correlations(X, y)
    below_one = 1 - rho
    left = np.maximum(1 - theory.r_squared(rho, r[:, None], r), 1e-15)
    if noise == "pair":
        f = theory.f_statistic(n, rho, r[:, None], r)
    else:
        share = (r[:, None] - r) ** 2 / (2 * np.maximum(below_one, 1e-16))
        f = (n - 1) * share * y.var(ddof=1) / noise
    f[below_one < COINCIDE] = 0
    # Correlations come with errors of 1e-15 or so, which weigh more where 1 − ρ or 1 − R² is small.
    return f, rho, MARGIN + 1e-14 / np.maximum(below_one, 1e-15) + 1e-14 / left


def reference(X, y, tolerance=1.0, noise="pair"):
    """Labels, F and ρ, feature by feature; refuses data where rounding may decide a pair."""
    f, rho, error = plain_f(X, y, noise)
    doubtful = np.triu((np.abs(f - tolerance) <= error * tolerance) & (1 - rho >= COINCIDE), 1)
    assert not doubtful.any(), "a pair too near to the tolerance to be judged: take another seed"
    passes = (f <= tolerance).tolist()
    labels = [-1] * X.shape[1]
    for seed in range(len(labels)):
        if labels[seed] < 0:
            labels[seed] = max(labels) + 1
            for later in range(seed + 1, len(labels)):
                if labels[later] < 0 and passes[seed][later]:
                    labels[later] = labels[seed]
    return labels, f, rho


def is_clear(X, y, tolerance, noise="pair"):
    try:
        reference(X, y, tolerance, noise)
    except AssertionError:
        return False
    return True


# The data


def noise_only(rng, n, D):
    return rng.normal(size=(n, D)), rng.normal(size=n)


def tree(rng, n, D):
    """The paper's data, strongly correlated."""
    return make_correlated(n, D, noise=3.0, random_state=int(rng.integers(2**31)))


def field(rng, n, D):
    """A smooth field in kelvin, whose means are some hundred times the scale."""
    seed = int(rng.integers(2**31))
    X, y, _ = make_field(n, (-(-D // 10), 10), smoothness=2.0, random_state=seed)
    return X[:, :D], y


def duplicates(rng, n, D):
    """Exact copies, and copies in another unit, which differ by rounding only."""
    X, y = tree(rng, n, max(1, D // 3))
    return np.hstack([X, 1.8 * X + 32, X])[:, rng.permutation(3 * X.shape[1])], y


def mirrored(rng, n, D):
    """Mirror images, exact and noisy: the pairs for which the reach of a seed is tight."""
    X, y = tree(rng, n, max(1, D // 3))
    noisy = -X + 0.01 * rng.normal(size=X.shape)
    return np.hstack([X, -2 * X + 1, noisy])[:, rng.permutation(3 * X.shape[1])], y


def explained(rng, n, D):
    """Some pairs leave 10⁻³ to 10⁻⁷ of the target, as much as plain correlations can judge."""
    X, _ = tree(rng, n, D)
    i, j = rng.integers(D, size=2)
    return X, X[:, i] + X[:, j] + 10.0 ** -rng.uniform(1.5, 3.5) * rng.normal(size=n)


FAMILIES = [noise_only, tree, field, duplicates, mirrored, explained]
SIZES = [
    *[(family, 60, 75) for family in FAMILIES],
    *[(family, 4 + i, 40) for i, family in enumerate([noise_only, tree, field, mirrored])],
    (duplicates, 8, 30),
    (noise_only, 30, 1),
    (tree, 30, 2),
    (noise_only, 50, 300),
    (tree, 40, 150),
    (field, 40, 200),
]


def make(family, n, D, seed=0):
    rng = np.random.default_rng([FAMILIES.index(family), n, D, seed])
    return family(rng, n, D)


# What is compared


class Forced:
    """Statistics with batches of the test's choosing."""

    def __init__(self, statistics, head=None, **forced):
        self._statistics, self._forced = statistics, forced
        if head is not None:
            forced["head_size"] = lambda remaining, seed_share: min(remaining, head)

    def __getattr__(self, name):
        forced = self._forced
        return forced[name] if name in forced else getattr(self._statistics, name)


def from_chunks(X, y, *bounds):
    moments = Moments(X.shape[1], float(np.finfo(X.dtype).eps))
    for start, stop in zip((0, *bounds), (*bounds, len(y)), strict=True):
        moments.update(X[start:stop], y[start:stop])
    return MomentStatistics.from_moments(moments)


def statistics_of(kind, X, y):
    if kind == "moments":
        return from_chunks(X, y, len(y) // 3)
    return ArrayStatistics.from_data(np.asarray(X, order=kind), y)


def assert_same(one, other, tolerance=1.0, rtol=1e-8):
    """Same evidence. Plain correlations carry 1e-13 and are used down to 1 − ρ and 1 − R² of 1e-5.

    Errors of F that are small compared with the tolerance do not count either: F is a square.
    """
    for name in ("group", "feature", "partner"):
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_allclose(one["correlation"], other["correlation"], rtol=0, atol=1e-3 * rtol)
    np.testing.assert_allclose(one["f"], other["f"], rtol=rtol, atol=rtol * tolerance)
    # The threshold is 1 − c(1−ρ)/F: it has the relative error of F, so tiny ones are left out.
    sizeable = one["f"] > 1e-3 * tolerance
    one, other = one["threshold"][sizeable], other["threshold"][sizeable]
    np.testing.assert_allclose(one, other, rtol=1e3 * rtol, atol=1e3 * rtol)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize(("family", "n", "D"), SIZES)
@pytest.mark.parametrize("known", [False, True])
def test_groups_are_those_of_the_reference(family, n, D, tolerance, known):
    X, y = make(family, n, D)
    noise = 0.5 * y.var(ddof=1) if known else "pair"
    labels, f, rho = reference(X, y, tolerance, noise)
    for kind in ("C", "F", "moments"):
        statistics = statistics_of(kind, X, y)
        criterion = Criterion.of(statistics, tolerance, noise)
        partition = group_sequential(Forced(statistics, head=max(1, D // 3)), criterion)
        assert partition.labels.tolist() == labels
        evidence = partition.evidence
        pair = evidence["partner"], evidence["feature"]
        assert evidence["feature"].size == X.shape[1] - len(partition.groups)
        assert [labels.index(group) for group in evidence["group"]] == pair[0].tolist()
        np.testing.assert_allclose(evidence["correlation"], rho[pair], rtol=0, atol=1e-11)
        # As far as plain correlations know F: 1e-14 over the smallest 1 − ρ and 1 − R² of 1e-7.
        np.testing.assert_allclose(evidence["f"], f[pair], rtol=1e-6, atol=1e-8 * tolerance)
    model = LinCFA(tolerance=tolerance, noise=noise).fit(X, y)
    assert model.labels_.tolist() == labels


# Memory order and type


def layouts(X, folder):
    """The same values, placed in memory in every way."""
    yield "F", np.asfortranarray(X)
    yield "every other column", np.repeat(X, 2, axis=1)[:, ::2]
    yield "every other row", np.repeat(X, 2, axis=0)[::2]
    yield "every third, by columns", np.repeat(np.asfortranarray(X), 3, axis=1)[:, ::3]
    yield "backwards", X[::-1, ::-1].copy()[::-1, ::-1]
    yield "backwards, by columns", X[::-1, ::-1].copy(order="F")[::-1, ::-1]
    for order in "CF":
        place = np.memmap(folder / order, dtype=X.dtype, mode="w+", shape=X.shape, order=order)
        place[:] = X
        place.flush()
        yield (
            f"mapped {order}",
            np.memmap(folder / order, dtype=X.dtype, mode="r", shape=X.shape, order=order),
        )


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("tolerance", [0.1, 1])
@pytest.mark.parametrize("family", FAMILIES)
def test_memory_order(monkeypatch, tmp_path, family, tolerance, dtype):
    """Heads of 20 of the 75 columns, so that every kind of access is made."""
    monkeypatch.setattr(_array, "_SMALLEST_HEAD", 20)
    X, y = make(family, 60, 75)
    X = X.astype(dtype)
    model = LinCFA(tolerance=tolerance).fit(np.ascontiguousarray(X), y)
    reduced = model.transform(X)
    for _, other in layouts(X, tmp_path):
        refitted = LinCFA(tolerance=tolerance).fit(other, y)
        np.testing.assert_array_equal(refitted.labels_, model.labels_)
        assert_same(refitted.evidence_, model.evidence_, tolerance)
        # Values of some units: the last digits of the type, of the mean where it is 300.
        bound = 1e-12 if dtype == np.float64 else 1e-6
        np.testing.assert_allclose(refitted.transform(other), reduced, rtol=0, atol=bound)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("tolerance", [0.1, 1, 7])
@pytest.mark.parametrize("family", [noise_only, tree, field, mirrored, explained])
def test_float32_is_computed_as_float64(monkeypatch, family, tolerance, order):
    """Not so for copies in another unit, which in float32 count as equal more easily."""
    monkeypatch.setattr(_array, "_SMALLEST_HEAD", 20)
    X, y = make(family, 60, 75)
    narrow = np.asarray(X, dtype=np.float32, order=order)
    wide = narrow.astype(np.float64)
    labels, *_ = reference(wide, y, tolerance)
    for kind in (order, "moments"):
        parts = [
            group_sequential(statistics, Criterion.of(statistics, tolerance, "pair"))
            for statistics in (statistics_of(kind, values, y) for values in (narrow, wide))
        ]
        assert parts[0].labels.tolist() == parts[1].labels.tolist() == labels
        assert_same(parts[0].evidence, parts[1].evidence, tolerance)


# Batches and tiles


BATCHES = [(1, 1, 1), (3, 5, 16), (1000, 256, 2**16)]  # seeds, smallest block, values screened


@pytest.mark.parametrize("scatter_cost", [0.0, -np.inf, np.inf])
@pytest.mark.parametrize("head", [1, 2, 7, 1000])
@pytest.mark.parametrize("family", FAMILIES)
def test_batches(monkeypatch, family, head, scatter_cost):
    """Any batch gives the same groups. A cost of −inf takes the sorted plan in any case."""
    X, y = make(family, 40, 36, seed=1)
    labels, *_ = reference(X, y, 0.5)
    for kind in ("C", "moments"):
        statistics = statistics_of(kind, X, y)
        criterion = Criterion(40, 0.5)
        plain = group_sequential(statistics, criterion)
        for seeds, block, values in BATCHES:
            monkeypatch.setattr(_grouping, "_SMALLEST_BLOCK", block)
            monkeypatch.setattr(_grouping, "_SCREEN_VALUES", values)
            forced = Forced(statistics, head, seed_limit=seeds, scatter_cost=scatter_cost)
            partition = group_sequential(forced, criterion)
            assert partition.labels.tolist() == labels
            assert_same(partition.evidence, plain.evidence, 0.5)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_pruning_leaves_out_what_cannot_merge(monkeypatch, order, known):
    """It must leave out something, or it would be tested nowhere."""
    monkeypatch.setattr(_grouping, "_SMALLEST_BLOCK", 8)
    monkeypatch.setattr(_grouping, "_SCREEN_VALUES", 8)
    X, y = make(noise_only, 100, 300)
    statistics = ArrayStatistics.from_data(np.asarray(X, order=order), y)
    criterion = Criterion.of(statistics, 0.01, y.var() if known else "pair")
    asked = []

    def rows(seeds, tasks):
        asked.append(sum((part.stop - part.start) * block.size for part, block in tasks))
        return statistics.rows(seeds, tasks)

    parts, numbers = [], []
    for cost in (np.inf, 0.0):
        forced = Forced(statistics, 60, seed_limit=40, scatter_cost=cost, rows=rows)
        parts.append(group_sequential(forced, criterion))
        numbers.append(sum(asked))
        asked.clear()
    np.testing.assert_array_equal(parts[0].labels, parts[1].labels)
    # The reach is 0.02 on each side, the correlations with the target spread over some 0.4.
    assert 0 < numbers[1] < numbers[0] / 3


@pytest.mark.parametrize("known", [False, True])
def test_mirror_images_at_the_end_of_the_reach_merge(monkeypatch, known):
    """Mirror images come as far from each other as a pair that passes can."""
    monkeypatch.setattr(_grouping, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(_grouping, "_SCREEN_VALUES", 1)
    rng = np.random.default_rng(5)
    X, y = noise_only(rng, 50, 30)
    X = np.hstack([X, -X[:, rng.permutation(30)]])
    ratio = 0.5 if known else None
    for kind in ("C", "moments"):
        statistics = statistics_of(kind, X, y)
        for seed in range(10):
            mirror = 30 + int(np.argmin(X[:, 30:].T @ X[:, seed]))
            first, second = np.array([seed]), np.array([mirror])
            pairs = statistics.pairs(first, second, np.array([-1.0]))
            # Just above F of this pair: whatever else the seed takes, it takes its mirror image.
            tolerance = 1.000001 * Criterion(50, 1.0, ratio).f(pairs)[0]
            order = np.r_[seed, np.delete(np.arange(60), seed)]
            reordered = statistics_of(kind, X[:, order], y)
            forced = Forced(reordered, 1, seed_limit=1, scatter_cost=-np.inf)
            partition = group_sequential(forced, Criterion(50, tolerance, ratio))
            assert partition.labels[np.flatnonzero(order == mirror)[0]] == 0


@pytest.mark.parametrize("kind", ["C", "F", "moments"])
@pytest.mark.parametrize("noise_ratio", [None, 1e-3])
@pytest.mark.parametrize("tolerance", [1.0, 1e-10])
def test_copies_merge_even_where_their_rounding_is_the_target(
    monkeypatch, rng, kind, noise_ratio, tolerance
):
    """No sieve and no bound may drop a pair that only the rounding of its type tells apart."""
    x = (rng.normal(size=100) + 10_000).astype(np.float32)
    X = np.column_stack([x, np.float32(1.8) * x + np.float32(32)])
    X = np.insert(X, 1, rng.normal(size=100), axis=1)
    assert X.dtype == np.float32
    y = X[:, 2].astype(float) - 1.8 * x.astype(float)
    statistics = statistics_of(kind, X, y)
    difference = np.diff(statistics.target_correlation[[0, 2]])[0]
    assert difference**2 > 1e-9  # the rule itself would tell them apart
    criterion = Criterion(100, tolerance, noise_ratio)
    monkeypatch.setattr(_grouping, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(_grouping, "_SCREEN_VALUES", 1)
    for head in (1, 3):
        for cost in (-np.inf, np.inf):
            partition = group_sequential(Forced(statistics, head, scatter_cost=cost), criterion)
            assert partition.labels[2] == partition.labels[0] == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("direction", [1, -1])
def test_columns_sorted_by_their_correlation_with_the_target(order, direction):
    """Then sorting candidates by it turns whole ranges of columns around, or leaves them alone."""
    rng = np.random.default_rng(0)
    X, y = noise_only(rng, 50, 6000)
    r = ArrayStatistics.from_data(X, y).target_correlation
    X = np.asarray(X[:, np.argsort(direction * r)], order=order)
    model = LinCFA(tolerance=1e-4).fit(X, y)
    statistics = ArrayStatistics.from_data(X, y)
    plain = group_sequential(Forced(statistics, scatter_cost=np.inf), Criterion(50, 1e-4))
    np.testing.assert_array_equal(model.labels_, plain.labels)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    first, second = model.evidence_["partner"], model.evidence_["feature"]
    rho = np.einsum("ij,ij->j", Z[:, first], Z[:, second]) / 49
    np.testing.assert_allclose(model.evidence_["correlation"], rho, rtol=0, atol=1e-13)


TILES = {
    "single values": {"TILE_VALUES": 1, "_ROW_WIDTH": 1, "_COLUMN_LENGTH": 1},
    "odd tiles": {"TILE_VALUES": 50, "_ROW_WIDTH": 7, "_COLUMN_LENGTH": 11},
    "rows": {"TILE_VALUES": 150, "_ROW_WIDTH": 1000, "_COLUMN_LENGTH": 1000},
}
ENGINES = {
    "small heads": {"_SMALLEST_HEAD": 1, "_LARGEST_HEAD": 3},
    "symmetric updates": {"_SMALLEST_HEAD": 25, "_LARGEST_HEAD": 3, "_SQUARE_VALUES": 70},
    "single rows": {"_SMALLEST_HEAD": 9, "_SQUARE_VALUES": 1, "_REFINED_VALUES": 1},
    "the rest at once": {"_SMALLEST_HEAD": 4, "_LARGEST_HEAD": 4, "_SQUARE_SHARE": 1e6},
    "few pairs at a time": {"_SMALLEST_HEAD": 9, "_REFINED_VALUES": 200},
    "columns in place": {"_SMALLEST_HEAD": 9, "_DENSE": 0.0},
    "columns gathered": {"_SMALLEST_HEAD": 9, "_DENSE": np.inf},
    "all columns delicate": {"_SMALLEST_HEAD": 9, "_MODERATE_OFFSET": -1.0},
    "one row for the shift": {"_SMALLEST_HEAD": 9, "_SHIFT_ROWS": 1},
    "few seeds": {"_SMALLEST_HEAD": 20, "_SMALLEST_LIMIT": 3, "_LARGEST_LIMIT": 3, "_MULTIPLE": 1},
}


@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("engine", ENGINES)
def test_tiles(monkeypatch, engine, tiles):
    """The constants are for speed alone."""
    cases = []
    for family in (field, duplicates, explained):
        X, y = make(family, 30, 36, seed=2)
        labels, *_ = reference(X, y, 0.5)
        plain = LinCFA(tolerance=0.5).fit(X, y)
        assert plain.labels_.tolist() == labels
        cases.append((X, y, plain))
    for name, value in ENGINES[engine].items():
        monkeypatch.setattr(_array if hasattr(_array, name) else _columns, name, value)
    for name, value in TILES[tiles].items():
        monkeypatch.setattr(_blocks, name, value)
    monkeypatch.setattr(_blocks.row_slices, "__defaults__", (TILES[tiles]["TILE_VALUES"],))
    monkeypatch.setattr(_moments, "_CHUNK_VALUES", 3 * TILES[tiles]["TILE_VALUES"])
    monkeypatch.setattr(_moments, "_HEAD", 9)
    monkeypatch.setattr(_moments, "_SEEDS", 4)
    for X, y, plain in cases:
        for order in "CF":
            model = LinCFA(tolerance=0.5).fit(np.asarray(X, order=order), y)
            assert_same(model.evidence_, plain.evidence_, 0.5)
            # Sums in another order; some hundred values, with means of up to 300 scales.
            np.testing.assert_allclose(model.mean_, plain.mean_, rtol=1e-13, atol=1e-13)
            np.testing.assert_allclose(model.scale_, plain.scale_, rtol=1e-12)
            np.testing.assert_allclose(
                model.target_correlation_, plain.target_correlation_, rtol=0, atol=1e-13
            )
        streamed = LinCFA(tolerance=0.5).partial_fit(X, y)
        assert_same(streamed.evidence_, plain.evidence_, 0.5)


def test_constant_columns_in_any_batch():
    """They belong to no head, no block and no group, wherever they stand."""
    X, y = make(tree, 40, 60)
    labels, *_ = reference(X, y, 0.5)
    places = np.sort(np.random.default_rng(0).permutation(80)[:60])
    wide = np.tile(np.linspace(-3, 1e5, 80), (40, 1))
    wide[:, places] = X
    for kind in ("C", "F", "moments"):
        statistics = statistics_of(kind, wide, y)
        for head, cost in ((1, -np.inf), (7, 0.0), (30, np.inf), (60, 0.0)):
            forced = Forced(statistics, head, seed_limit=3, scatter_cost=cost)
            partition = group_sequential(forced, Criterion(40, 0.5))
            assert partition.labels[places].tolist() == labels
            assert (np.delete(partition.labels, places) == -1).all()
            members = np.concatenate(partition.groups)
            np.testing.assert_array_equal(np.sort(members), places)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    family=st.sampled_from(FAMILIES),
    n=st.integers(4, 60),
    D=st.integers(1, 60),
    seed=st.integers(0, 1000),
    tolerance=st.sampled_from(TOLERANCES),
    order=st.sampled_from("CF"),
    dtype=st.sampled_from([np.float64, np.float32]),
    sizes=st.tuples(*[st.integers(1, 20)] * 4),
    scatter_cost=st.sampled_from([0.0, 2.0, -np.inf, np.inf]),
    cuts=st.lists(st.integers(1, 59), max_size=5),
)
def test_any_way_to_the_same_groups(
    family, n, D, seed, tolerance, order, dtype, sizes, scatter_cost, cuts
):
    """Shapes, orders, types, batches and chunks, against the reference where it can judge."""
    X, y = make(family, n, D, seed)
    X = np.asarray(X, order=order).astype(dtype if family is not duplicates else np.float64)
    wide = X.astype(np.float64)
    if not is_clear(wide, y, tolerance):
        return
    labels, *_ = reference(wide, y, tolerance)
    head, seeds, block, tile = sizes
    bounds = sorted({cut for cut in cuts if cut < n})
    with (
        patch.multiple(_grouping, _SMALLEST_BLOCK=block, _SCREEN_VALUES=block),
        patch.multiple(_array, _SQUARE_VALUES=100 * tile, _REFINED_VALUES=100 * tile),
        patch.multiple(_blocks, TILE_VALUES=100 * tile),
    ):
        for statistics in (ArrayStatistics.from_data(X, y), from_chunks(X, y, *bounds)):
            forced = Forced(statistics, head, seed_limit=seeds, scatter_cost=scatter_cost)
            partition = group_sequential(forced, Criterion(n, tolerance))
            assert partition.labels.tolist() == labels


SAVE = """
import sys
import numpy as np
from lincfa import LinCFA, _means
from lincfa.datasets import make_correlated, make_field
_means._WORTH_THREADS = 0
X, y = make_correlated(200, 600, random_state=0)
field, target, _ = make_field(100, (30, 30), random_state=0)
for number, (A, b, tolerance) in enumerate([(X, y, 0.01), (field, target, 1.0)]):
    for order in "CF":
        A = np.asarray(A, order=order)
        model = LinCFA(tolerance=tolerance).fit(A, b)
        streamed = LinCFA(tolerance=tolerance)
        for rows in (slice(0, 99), slice(99, None)):
            streamed.partial_fit(A[rows], b[rows])
        names = f"{number}{order}"
        np.save(f"{sys.argv[1]}/{names}.npy", model.evidence_)
        np.save(f"{sys.argv[1]}/{names}-streamed.npy", streamed.evidence_)
        np.save(f"{sys.argv[1]}/{names}-reduced.npy", model.transform(A))
"""


def test_number_of_threads(tmp_path):
    """BLAS adds up in another order; enough columns that it and the means use their threads."""
    for threads in "12":
        (tmp_path / threads).mkdir()
        subprocess.run(
            [sys.executable, "-W", "error", "-c", SAVE, str(tmp_path / threads)],
            env=os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), threads),
            check=True,
        )
    for file in sorted((tmp_path / "1").glob("*.npy")):
        one, two = np.load(file), np.load(tmp_path / "2" / file.name)
        if "reduced" in file.name:
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-12)  # values of some units
        else:
            assert len(one) > 300
            assert_same(one, two, 0.01 if file.name.startswith("0") else 1.0)


# The sieve and the reach


def judged(family, n, tolerance, known, seed=0):
    """All pairs of some data: correlations, what the rule says and what the sieve says."""
    X, y = make(family, n, 48, seed)
    statistics = ArrayStatistics.from_data(X, y)
    criterion = Criterion.of(statistics, tolerance, 0.3 * y.var(ddof=1) if known else "pair")
    first, second = np.triu_indices(X.shape[1], 1)
    rho = statistics.square(np.arange(X.shape[1]))
    r = statistics.target_correlation
    pairs = statistics.pairs(first, second, rho[first, second])
    passed = criterion.passes(pairs)
    certain, doubtful = (sifted[first, second] for sifted in criterion.sift(rho, r, r))
    assert not (certain & doubtful).any()
    assert passed[certain].all()
    return criterion, criterion.f(pairs), r[first], r[second], passed, certain, doubtful


@pytest.mark.parametrize("n", [4, 9, 60, 500])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_passes_is_possible_and_in_reach(family, n):
    for tolerance, known in product(TOLERANCES, (False, True)):
        criterion, _, r1, r2, passed, certain, doubtful = judged(family, n, tolerance, known)
        assert (certain | doubtful)[passed].all()
        # Up to the rounding of the correlations, as for copies that explain the target fully.
        assert (np.abs(r1 - r2) <= criterion.reach(r1) + 1e-14)[passed].all()
        assert (np.abs(r1 - r2) <= criterion.reach(r2) + 1e-14)[passed].all()


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("n", [9, 60, 500])
@pytest.mark.parametrize("family", [noise_only, tree, field])
def test_the_sieve_rejects_what_fails(family, n, known):
    """All that fails by a percent; the margin of 1e-9 is n·1e-7 of F where shares are > 0.01.

    And it leaves in doubt nothing of what passes by as much.
    """
    rejected = accepted = 0
    for tolerance in TOLERANCES:
        _, f, *_, certain, doubtful = judged(family, n, tolerance, known)
        far = f > 1.01 * tolerance + 1e-7 * n
        assert not (certain | doubtful)[far].any()
        rejected += far.sum()
        near = f < 0.99 * tolerance - 1e-7 * n
        assert certain[near].all()
        accepted += near.sum()
    assert rejected > 1000  # of the 6 · 1128 pairs
    assert accepted > 100


def test_reach_is_tight():
    """Mirror images at the tolerance are exactly at the reach; a smaller one would miss them."""
    X, y = make(noise_only, 50, 30)
    statistics = ArrayStatistics.from_data(np.hstack([X, -X]), y)
    first, second = np.arange(30), np.arange(30, 60)
    pairs = statistics.pairs(first, second, np.full(30, -1.0))
    r = statistics.target_correlation
    for ratio in (None, 0.3):
        f = Criterion(50, 1.0, ratio).f(pairs)
        reach = [Criterion(50, c, ratio).reach(r[i : i + 1])[0] for i, c in enumerate(f)]
        # The reach may have a margin for the rounding of correlations, as the sieve has.
        np.testing.assert_allclose(np.abs(r[first] - r[second]), reach, rtol=1e-6)


@pytest.mark.parametrize("kind", ["C", "F", "moments"])
@pytest.mark.parametrize("tolerance", [1.0, 50.0, 1e4])
def test_pruning_where_the_seed_explains_the_target(monkeypatch, tolerance, kind):
    """There 1 − r² is no more than rounding, and so must not decide what is in reach."""
    monkeypatch.setattr(_grouping, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(_grouping, "_SCREEN_VALUES", 1)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, size = int(rng.integers(4, 30)), 10.0 ** -rng.uniform(6, 9)
        x = rng.normal(size=(n, 1))
        near = x + size * 10.0 ** rng.uniform(-2, 3, size=6) * rng.normal(size=(n, 6))
        X, y = np.hstack([x, near]), x[:, 0] + size * rng.normal(size=n)
        statistics = statistics_of(kind, X, y)
        labels = [
            group_sequential(
                Forced(statistics, 1, seed_limit=1, scatter_cost=cost), Criterion(n, tolerance)
            ).labels.tolist()
            for cost in (np.inf, -np.inf)
        ]
        assert labels[0] == labels[1], f"seed {seed}"


# Precision


def exact_moments(columns):
    """Means, scales and correlations with 50 digits from the very numbers."""
    with mpmath.workdps(50):
        exact = [[mpmath.mpf(float(value)) for value in column] for column in columns]
        means = [mpmath.fsum(column) / len(column) for column in exact]
        centred = [[v - m for v in column] for column, m in zip(exact, means, strict=True)]
        norms = [mpmath.sqrt(mpmath.fsum(v * v for v in column)) for column in centred]
        scales = [norm / mpmath.sqrt(len(columns[0]) - 1) for norm in norms]

        def correlation(i, j):
            dot = mpmath.fsum(a * b for a, b in zip(centred[i], centred[j], strict=True))
            return dot / (norms[i] * norms[j])

        return means, scales, correlation


def exact_pair(x1, x2, y):
    """F, 1 − ρ and |r₁ − r₂| with 50 digits, by (★) of the closed form."""
    with mpmath.workdps(50):
        _, _, correlation = exact_moments([x1, x2, y])
        rho, r1, r2 = correlation(0, 1), correlation(0, 2), correlation(1, 2)
        left = (len(y) - 3) * (r1 - r2) ** 2 * (1 + rho)
        right = 2 * (1 - rho**2 - r1**2 - r2**2 + 2 * rho * r1 * r2)
        return float(left / right), float(1 - rho), float(abs(r1 - r2))


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
    monkeypatch.setattr(_array, "_SMALLEST_HEAD", 20)
    X, y = make(family, 60, 75)
    X = np.round(X * 2.0**20) / 2.0**20
    shift = np.round(ratio * np.random.default_rng(0).choice([-1, 0.5, 1], size=X.shape[1]))
    for tolerance in (0.1, 1):
        labels, *_ = reference(X, y, tolerance)
        parts = [
            group_sequential(statistics, Criterion(60, tolerance))
            for statistics in (statistics_of(kind, values, y) for values in (X, X + shift))
        ]
        assert parts[0].labels.tolist() == parts[1].labels.tolist() == labels
        # The means of chunks are rounded to 1e-16 of a million.
        rtol = 1e-7 if kind == "moments" else 1e-8
        assert_same(parts[0].evidence, parts[1].evidence, tolerance, rtol)


GAPS = [10.0**-k for k in range(2, 13)]
GAPS32 = [1e-2, 1e-5, 1e-8, 1e-10, 1e-11, 1e-13]
ROUNDING32 = 1e-12  # both columns come with errors of 4 times 1.2e-7, of which this is the square


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
        partition = group_sequential(Forced(statistics, 1), Criterion(80, 1e9))
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
    ("gap", "dtype"), [(g, np.float64) for g in GAPS] + [(g, np.float32) for g in GAPS32]
)
def test_near_duplicates_in_chunks(gap, sign, dtype):
    """Comoments know 1 − ρ to 1e-15 or so, whatever its size, and r₁ − r₂ too."""
    X, y = near_duplicate(gap, sign, dtype)
    f, below_one, difference = exact_pair(*X.T, y)
    model = LinCFA(tolerance=1e9)
    for rows in (slice(0, 33), slice(33, 34), slice(34, None)):
        model.partial_fit(X[rows], y[rows])
    if gap < ROUNDING32 and dtype == np.float32:
        assert model.evidence_["correlation"] == sign
        return
    bound = 2e-15 / gap + 4e-15 / difference
    assert model.evidence_["f"] == pytest.approx([f], rel=bound)
    assert 1 - model.evidence_["correlation"] == pytest.approx([below_one], abs=2e-15)


# Memory


@pytest.fixture(scope="module")
def large():
    """Forty factors in 20 000 columns: 64 MB in float64."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(400, 40))
    X = np.repeat(factors, 500, axis=1)
    X += 0.5 * rng.normal(size=X.shape)
    return X, factors @ rng.normal(size=40) + rng.normal(size=400)


def peak(function):
    """The result, and the most memory in use at any time while it was computed."""
    gc.collect()
    tracemalloc.start()
    try:
        result = function()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e5])
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_fit_and_transform(large, order, offset, dtype):
    """No copy of X: 15 % of it in float64, which is what the arithmetic is in."""
    X, y = large
    X = np.asarray(X + offset, dtype=dtype, order=order)
    allowed = 0.15 * 8 * X.size
    model, used = peak(lambda: LinCFA().fit(X, y))
    assert used < allowed
    reduced, used = peak(lambda: model.transform(X))
    assert used - reduced.nbytes < allowed


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_the_means_of_many_groups(order):
    """Nothing of features times groups, which would be 100 MB even as bits and bytes."""
    rng = np.random.default_rng(0)
    X = np.asarray(rng.normal(size=(40, 20_000)), order=order)
    labels = rng.integers(5_000, size=20_000)
    means, used = peak(lambda: group_means(X, labels, 5_000))
    # Three times X and the result: blocks may be as large as X where X is small.
    assert used < 3 * (X.nbytes + means.nbytes)
    some = np.flatnonzero(labels == 7)
    np.testing.assert_allclose(means[:, 7], X[:, some].mean(axis=1), rtol=0, atol=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_data_are_left_alone(order, dtype, offset):
    """Not even for a moment: the memory cannot be written to."""
    X, y = make(tree, 60, 75)
    X = np.asarray(X + offset, dtype=dtype, order=order)
    before = X.copy(), y.copy()
    X.flags.writeable = y.flags.writeable = False
    LinCFA().fit(X, y).transform(X)
    LinCFA().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:]).transform(X)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_nothing_holds_on_to_the_data(method):
    X, y = noise_only(np.random.default_rng(0), 2000, 30)
    model = LinCFA()
    getattr(model, method)(X, y)
    size = X.nbytes
    alive = weakref.ref(X), weakref.ref(y)
    del X, y
    gc.collect()
    assert alive[0]() is None
    assert alive[1]() is None
    # Labels, groups, evidence, means: some numbers per column; with chunks also their square.
    assert len(pickle.dumps(model)) < size / 10
