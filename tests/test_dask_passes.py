"""How often chunks are read, how large the graphs are, and what comes back."""

import pickle
from collections import Counter
from math import ceil

import numpy as np
import pytest

from lincfa import LinCFA
from reference import make, noise_only

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask_data import (
    BATCH,
    ROUTES,
    STRATEGIES,
    Watch,
    answers,
    answers_to_counts,
    assert_equal_models,
    counted_chunks,
    data,
    fit,
    odd_chunks,
    on_route,
    products,
    small_groups,
    small_parts,
)

pytestmark = pytest.mark.usefixtures("one_thread")


def times_read(X, y, chunks=None, **options):
    """How often chunks are read at least and at most by a fit, and its model."""
    lazy, reads = counted_chunks(X, (20, X.shape[1]) if chunks is None else chunks)
    model = fit(lazy, y, **options)
    counts = Counter(reads)
    assert len(counts) == lazy.npartitions
    return min(counts.values()), max(counts.values()), model


# Passes


@pytest.mark.parametrize("chunks", [(20, 28), (20, 10)])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_one_pass_where_all_comoments_fit(strategy, chunks):
    assert times_read(*data(), chunks, strategy=strategy)[:2] == (1, 1)


def test_numbers_of_features_in_a_batch():
    """The target is among them; with one feature more they do not fit."""
    X, y = data()
    assert times_read(X, y, route="many passes", batch=29**2)[1] == 1
    assert times_read(X, y, route="many passes", batch=29**2 - 1)[1] > 1
    # Of several column chunks whole rows are put together: they have to fit too.
    assert times_read(X, y, (30, 14), route="many passes", batch=30 * 28)[1] > 1
    assert times_read(X, y, (29, 14), route="many passes", batch=30 * 28 + 1)[1] == 1
    # Where the others are more than a batch, some features are asked for all the same.
    with on_route("many passes", batch=20):
        model = LinCFA().fit(odd_chunks(X), y)
    assert_equal_models(model, LinCFA().fit(X, y))


def strips(D, batch, rows=1):
    """Passes for the correlations of all pairs: above the diagonal, whole features at a time.

    Of several column chunks so many rows of the features are put together, and have to fit too.
    """
    number = 0
    while D > 0:
        D -= max(4, batch // max(D, rows))
        number += 1
    return number


@pytest.mark.parametrize("batch", [150, 400])
def test_passes_for_all_pairs(batch):
    """They are half of all correlations; a strip holds whole features, and its own triangle."""
    X, y = make(noise_only, 60, 48)
    needed = strips(48, batch)
    assert needed <= 1.5 * 48**2 / 2 / batch + 1
    options = {"route": "many passes", "batch": batch}
    assert times_read(X, y, strategy="centroid", **options)[1] == 1 + needed
    for strategy in ("agglomerative", "joint"):  # once to group, once for the cohesion of the path
        assert times_read(X, y, strategy=strategy, **options)[1] == 1 + 2 * needed


@pytest.mark.parametrize("tolerance", [1e-9, 0.02, 1.0, 1e4])
@pytest.mark.parametrize("units", ["standardized", "original"])
def test_passes_of_the_sequential_strategy(tolerance, units):
    """Columns first, then rounds: at most as many as have the correlations of all pairs, and for
    each head that is larger than a batch one for the rows of its seeds.

    At last come the cohesion within groups, and the variances of large ones: in original units
    both those of standardised features and those of the features as they are.
    """
    X, y = make(noise_only, 60, 48)
    options = {"route": "many passes", "tolerance": tolerance, "units": units}
    with small_groups(4):
        least, most, model = times_read(X, y, **options)
    assert least == most
    heads = ceil(48 / 8)
    last = 3 if units == "original" else 2
    assert most <= 1 + strips(48, BATCH) + heads + last
    if model.n_groups_ == 1:  # the first head takes all: its square, and the rows of its seed
        assert most <= 1 + 2 * 2 + last
    if model.n_groups_ == 48:
        assert most <= 1 + strips(48, BATCH) + heads  # nothing has a cohesion


def test_correlations_that_come_back_and_chunks_read():
    """About half of all, also where every feature is a seed; far fewer where one takes all."""
    X, y = make(noise_only, 60, 48)
    with products() as asked:
        for tolerance, share in ((0.02, 0.75), (1e4, 0.35)):
            asked.clear()
            fit(da.from_array(X, chunks=(30, 48)), y, route="many passes", tolerance=tolerance)
            assert max(asked) <= BATCH * 1.3  # no fewer than four features, however many others
            assert 0 < sum(asked) <= share * 48**2
    # What a chunk needs of its neighbours is read again, or all would have to stay in memory.
    lazy, reads = counted_chunks(X, (20, 16))
    with answers() as passes:
        fit(lazy, y, route="many passes", strategy="agglomerative")
    assert len(passes) < max(Counter(reads).values()) <= 2 * len(passes)
    assert len(passes) == 1 + 2 * strips(48, BATCH, rows=20)


def test_no_candidate_in_reach():
    """Two features are left behind the first head, and no seed of it could take them."""
    X, y = make(noise_only, 60, 9)
    options = {"route": "many passes", "batch": 60, "tolerance": 1e-9}
    _, most, model = times_read(X, y, **options)
    assert model.n_groups_ == 9
    assert most <= 1 + strips(9, 60) + 2


def test_rows_are_counted_by_one_column_and_come_back_in_parts():
    """Of a dataframe with unknown numbers of rows, one more look, at its first column."""
    X, y = data()
    lazy, reads = counted_chunks(X, (20, 28))
    frame = dd.from_dask_array(lazy, columns=[f"t{i}" for i in range(28)])
    fit(frame, y)
    assert set(Counter(reads).values()) == {2}
    reads.clear()
    fit(frame.to_dask_array(lengths=(20, 20, 20)), y)
    assert set(Counter(reads).values()) == {1}
    # A row of chunks of all features may be much larger than a chunk of the reduced ones.
    model = LinCFA().fit(X, y)
    reduced = model.transform(X)
    for lazy in (da.from_array(reduced, chunks=((0, 1, 29, 30), -1)), da.from_array(reduced)):
        whole = model.inverse_transform(lazy)
        with small_parts(200):
            parts = model.inverse_transform(lazy)
        assert parts.chunks[0] == lazy.chunks[0]
        assert len(whole.chunks[1]) == 1
        assert max(parts.chunks[0]) * max(parts.chunks[1]) <= 200
        np.testing.assert_array_equal(parts.compute(), model.inverse_transform(reduced))


# Graphs


def tasks(D, rows, columns, tolerance=1.0, weights=None, **options):
    """Tasks of the largest graph of a fit, and the number of its groups."""
    X, y = data(D=D)
    with Watch() as watch, small_groups(4):
        lazy = da.from_array(X, chunks=(60 // rows, D // columns))
        model = fit(lazy, y, weights, tolerance=tolerance, **options)
    return max(watch.tasks), model.n_groups_


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("route", ROUTES)
def test_graphs_grow_with_chunks_alone(route, columns):
    """For each chunk it is read and checked, both twice beside others, and multiplied; then what is
    put together."""
    base, _ = tasks(24, 4, columns, route=route)
    assert base <= 10 * 4 * columns
    more, _ = tasks(24, 12, columns, route=route)
    assert base < more <= 3 * base + 1
    for strategy in ("sequential", "agglomerative"):
        assert tasks(36, 4, columns, route=route, strategy=strategy)[0] == base
    groups = []
    for tolerance in (1e-9, 1e4):
        found, number = tasks(24, 4, columns, tolerance, route=route)
        assert found <= base
        groups.append(number)
    assert groups == [24, 1]
    weighted, _ = tasks(24, 4, columns, weights=np.full(60, 2.0), route=route)
    assert weighted <= base + 2 * 4


# Nothing is gathered


@pytest.mark.parametrize("chunks", [(50, 48), (50, 16)])
@pytest.mark.parametrize("strategy", ["sequential", "centroid", "agglomerative"])
def test_no_task_and_no_answer_is_larger_than_a_batch_or_a_chunk(strategy, chunks):
    """The data are 20 times as large as what comes back, and more than all that any task gives."""
    X, y = make(noise_only, 240, 48)
    # Of six moments of each column, and two numbers for each chunk; and its wrapping.
    limit = 8 * max(BATCH * 1.3, 6 * 49 + 2 * 5 * (48 // chunks[1] + 1)) + 1600
    chunk = 8 * chunks[0] * chunks[1] + 1500
    with answers() as found, Watch() as watch, small_groups(4):
        fit(
            da.from_array(X, chunks=chunks),
            y,
            route="many passes",
            strategy=strategy,
            units="original",
        )
    assert len(found) > 3
    assert max(len(pickle.dumps(answer)) for answer in found) <= limit
    assert watch.largest <= max(limit, chunk)
    assert 20 * limit < X.nbytes


def test_counting_rows_brings_back_numbers_only():
    frame = dd.from_array(da.from_array(data()[0], chunks=(15, 28))).clear_divisions()
    with answers_to_counts() as found:
        fit(frame, data()[1])
    assert found == [[[15, 15, 15, 15]]]
