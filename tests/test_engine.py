"""The engine against a plain reference: batches, tiles, memory order and types change no group."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lincfa import LinCFA
from lincfa._grouping import _sequential, group_sequential
from lincfa._rule import Rule
from lincfa._statistics import ArrayStatistics, _array, _moments
from lincfa._statistics import _tiles as _blocks
from reference import (
    FAMILIES,
    SIZES,
    TOLERANCES,
    array_statistics,
    assert_same,
    duplicates,
    explained,
    field,
    from_chunks,
    is_clear,
    make,
    mirrored,
    noise_only,
    reference,
    statistics_of,
    tree,
    with_costs,
)


@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize(("family", "n", "D"), SIZES)
@pytest.mark.parametrize("known", [False, True])
def test_groups_are_those_of_the_reference(family, n, D, tolerance, known):
    X, y = make(family, n, D)
    noise = 0.5 * y.var(ddof=1) if known else "pair"
    labels, f, rho = reference(X, y, tolerance, noise)
    for kind in ("C", "F", "moments"):
        statistics = statistics_of(kind, X, y)
        rule = Rule.of(statistics, tolerance, noise)
        partition = group_sequential(with_costs(statistics, block=max(1, D // 3)), rule)
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
    monkeypatch.setattr(_array, "_SMALLEST_BLOCK", 20)
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
    monkeypatch.setattr(_array, "_SMALLEST_BLOCK", 20)
    X, y = make(family, 60, 75)
    narrow = np.asarray(X, dtype=np.float32, order=order)
    wide = narrow.astype(np.float64)
    labels, *_ = reference(wide, y, tolerance)
    for kind in (order, "moments"):
        parts = [
            group_sequential(statistics, Rule.of(statistics, tolerance, "pair"))
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
        rule = Rule(40, 0.5)
        plain = group_sequential(statistics, rule)
        for seeds, block, values in BATCHES:
            monkeypatch.setattr(_sequential, "_SMALLEST_BLOCK", block)
            monkeypatch.setattr(_sequential, "_SCREEN_VALUES", values)
            forced = with_costs(statistics, head, max_seeds=seeds, scattered=scatter_cost)
            partition = group_sequential(forced, rule)
            assert partition.labels.tolist() == labels
            assert_same(partition.evidence, plain.evidence, 0.5)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_pruning_leaves_out_what_cannot_merge(monkeypatch, order, known):
    """It must leave out something, or it would be tested nowhere."""
    monkeypatch.setattr(_sequential, "_SMALLEST_BLOCK", 8)
    monkeypatch.setattr(_sequential, "_SCREEN_VALUES", 8)
    X, y = make(noise_only, 100, 300)
    statistics = array_statistics(np.asarray(X, order=order), y)
    rule = Rule.of(statistics, 0.01, y.var() if known else "pair")
    asked = []
    rows = ArrayStatistics.rows

    def counted(self, seeds, comparisons):
        asked.append(sum((part.stop - part.start) * block.size for part, block in comparisons))
        return rows(self, seeds, comparisons)

    monkeypatch.setattr(ArrayStatistics, "rows", counted)

    parts, numbers = [], []
    for cost in (np.inf, 0.0):
        forced = with_costs(statistics, 60, max_seeds=40, scattered=cost)
        parts.append(group_sequential(forced, rule))
        numbers.append(sum(asked))
        asked.clear()
    np.testing.assert_array_equal(parts[0].labels, parts[1].labels)
    # The reach is 0.02 on each side, the correlations with the target spread over some 0.4.
    assert 0 < numbers[1] < numbers[0] / 3


@pytest.mark.parametrize("known", [False, True])
def test_mirror_images_at_the_end_of_the_reach_merge(monkeypatch, known):
    """Mirror images come as far from each other as a pair that passes can."""
    monkeypatch.setattr(_sequential, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(_sequential, "_SCREEN_VALUES", 1)
    rng = np.random.default_rng(5)
    X, y = noise_only(rng, 50, 30)
    X = np.hstack([X, -X[:, rng.permutation(30)]])
    ratio = 0.5 if known else None
    for kind in ("C", "moments"):
        statistics = statistics_of(kind, X, y)
        for seed in range(10):
            mirror = 30 + int(np.argmin(X[:, 30:].T @ X[:, seed]))
            first, second = np.array([seed]), np.array([mirror])
            known = statistics.with_target(np.array([-1.0]), first, second)
            pairs = statistics.pairs(first, second, known)
            # Just above F of this pair: whatever else the seed takes, it takes its mirror image.
            tolerance = 1.000001 * Rule(50, 1.0, ratio).decide(pairs).f[0]
            order = np.r_[seed, np.delete(np.arange(60), seed)]
            reordered = statistics_of(kind, X[:, order], y)
            forced = with_costs(reordered, 1, max_seeds=1, scattered=-np.inf)
            partition = group_sequential(forced, Rule(50, tolerance, ratio))
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
    difference = np.diff(statistics.target_correlation[0, [0, 2]])[0]
    assert difference**2 > 1e-9  # the rule itself would tell them apart
    rule = Rule(100, tolerance, noise_ratio)
    monkeypatch.setattr(_sequential, "_SMALLEST_BLOCK", 1)
    monkeypatch.setattr(_sequential, "_SCREEN_VALUES", 1)
    for head in (1, 3):
        for cost in (-np.inf, np.inf):
            partition = group_sequential(with_costs(statistics, head, scattered=cost), rule)
            assert partition.labels[2] == partition.labels[0] == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("direction", [1, -1])
def test_columns_sorted_by_their_correlation_with_the_target(order, direction):
    """Then sorting candidates by it turns whole ranges of columns around, or leaves them alone."""
    rng = np.random.default_rng(0)
    X, y = noise_only(rng, 50, 6000)
    (r,) = array_statistics(X, y).target_correlation
    X = np.asarray(X[:, np.argsort(direction * r)], order=order)
    model = LinCFA(tolerance=1e-4).fit(X, y)
    statistics = array_statistics(X, y)
    plain = group_sequential(with_costs(statistics, scattered=np.inf), Rule(50, 1e-4))
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
    "small heads": {"_SMALLEST_BLOCK": 1, "_LARGEST_BLOCK": 3},
    "symmetric updates": {"_SMALLEST_BLOCK": 25, "_LARGEST_BLOCK": 3, "_SQUARE_VALUES": 70},
    "single rows": {"_SMALLEST_BLOCK": 9, "_SQUARE_VALUES": 1, "_REFINED_VALUES": 1},
    "the rest at once": {"_SMALLEST_BLOCK": 4, "_LARGEST_BLOCK": 4, "_SQUARE_SHARE": 1e6},
    "few pairs at a time": {"_SMALLEST_BLOCK": 9, "_REFINED_VALUES": 200},
    "columns in place": {"_SMALLEST_BLOCK": 9, "_DENSE": 0.0},
    "columns gathered": {"_SMALLEST_BLOCK": 9, "_DENSE": np.inf},
    "all columns delicate": {"_SMALLEST_BLOCK": 9, "_MODERATE_OFFSET": -1.0},
    "one row for the shift": {"_SMALLEST_BLOCK": 9, "_SHIFT_ROWS": 1},
    "few seeds": {"_SMALLEST_BLOCK": 20, "_FEWEST_SEEDS": 3, "_MOST_SEEDS": 3, "_MULTIPLE": 1},
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
        monkeypatch.setattr(_array, name, value)
    for name, value in TILES[tiles].items():
        monkeypatch.setattr(_blocks, name, value)
    monkeypatch.setattr(_blocks.row_slices, "__defaults__", (TILES[tiles]["TILE_VALUES"],))
    monkeypatch.setattr(_moments, "_CHUNK_VALUES", 3 * TILES[tiles]["TILE_VALUES"])
    monkeypatch.setattr(_moments, "_BLOCK", 9)
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
            forced = with_costs(statistics, head, max_seeds=3, scattered=cost)
            partition = group_sequential(forced, Rule(40, 0.5))
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
    # Copies and mirror images that float32 has rounded count as such, which the reference ignores.
    exact = family in (duplicates, mirrored)
    X = np.asarray(X, order=order).astype(np.float64 if exact else dtype)
    wide = X.astype(np.float64)
    if not is_clear(wide, y, tolerance):
        return
    labels, *_ = reference(wide, y, tolerance)
    head, seeds, block, tile = sizes
    bounds = sorted({cut for cut in cuts if cut < n})
    with (
        patch.multiple(_sequential, _SMALLEST_BLOCK=block, _SCREEN_VALUES=block),
        patch.multiple(_array, _SQUARE_VALUES=100 * tile, _REFINED_VALUES=100 * tile),
        patch.multiple(_blocks, TILE_VALUES=100 * tile),
    ):
        for statistics in (array_statistics(X, y), from_chunks(X, y, *bounds)):
            forced = with_costs(statistics, head, max_seeds=seeds, scattered=scatter_cost)
            partition = group_sequential(forced, Rule(n, tolerance))
            assert partition.labels.tolist() == labels
