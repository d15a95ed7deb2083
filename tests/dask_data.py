"""Chunks to fit on, ways in which they are fitted, and what is counted meanwhile.

Constants of the engine that tests make small are patched here and nowhere else.
"""

import pickle
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.callbacks import Callback

from lincfa import LinCFA
from lincfa._data import _dask
from lincfa._grouping import _cohesion
from lincfa._model import _lazy
from lincfa._statistics._dask import _chunks, _kernels
from reference import assert_same_fit, field, make

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")
ROUTES = ("one pass", "many passes")
BATCH = 150


@contextmanager
def on_route(route, batch=BATCH, block=8):
    """Batches so small that few features take as many passes as very many do."""
    with ExitStack() as stack:
        if route == "many passes":
            sizes = {"LARGEST_BATCH": batch, "_FEWEST": 4, "_SMALLEST_BLOCK": block}
            stack.enter_context(patch.multiple(_chunks, _OPERATIONS=1, **sizes))
            stack.enter_context(patch.multiple(_kernels, _SOME_VALUES=50, _WIDTH=7))
        yield


def small_groups(most):
    """Groups above so many members count as large: not all of their pairs are compared."""
    return patch.object(_cohesion, "COMPARED", most)


def small_matrices(most):
    """Of more features than these, the correlations of all pairs do not fit into memory."""
    return patch.object(_chunks, "most_features", lambda n=1: int(most / n**0.5))


def no_matrix():
    """The correlations of all pairs must not be computed."""
    return patch.object(_chunks, "cached", side_effect=AssertionError)


def small_parts(values):
    """Chunks of features that come back from reduced ones hold so many values at most."""
    return patch.object(_lazy, "LARGEST_BATCH", values)


@contextmanager
def answers(module=_chunks):
    """What comes back from each graph that the statistics compute, or others do."""
    seen = []
    plain = module.compute

    def compute(graph):
        seen.append(plain(graph))
        return seen[-1]

    with patch.object(module, "compute", compute):
        yield seen


def answers_to_counts():
    """What comes back where rows are counted."""
    return answers(_dask)


@contextmanager
def products():
    """How many correlations each pass is asked for."""
    asked = []
    plain = _chunks.Chunks.products

    def counted(self, left, right, *rest, **options):
        asked.append(left.size * right.size)
        return plain(self, left, right, *rest, **options)

    with patch.object(_chunks.Chunks, "products", counted):
        yield asked


def lazy_series(values, npartitions=4):
    return dd.from_pandas(pd.Series(values), npartitions=npartitions)


def data(family=field, n=60, D=28, seed=0):
    """Values with means of some hundred scales, if nothing else is asked for."""
    return make(family, n, D, seed)


def odd_chunks(X):
    """Chunks of different sizes: of no rows, of one row, of more."""
    n, D = X.shape
    return da.from_array(X, chunks=X.shape).rechunk(((0, 1, 25, n - 26), (7, D - 7)))


def fit(X, y, sample_weight=None, *, batch=BATCH, route="one pass", **parameters):
    """Fit by some route."""
    with on_route(route, batch):
        return LinCFA(**parameters).fit(X, y, sample_weight)


def assert_equal_models(model, other):
    """Same groups, figures as near as sums of the same values in another order give them.

    Correlations carry errors of 1e-13 or so; F has them over 1 − ρ and 1 − R², down to 1e-5.
    """
    assert_same_fit(model, other)
    assert model.n_samples_ == other.n_samples_
    np.testing.assert_allclose(model.target_scale_, other.target_scale_, rtol=1e-10)
    for name in model.cohesion_.dtype.names:
        one, two = (each.cohesion_[name].astype(float) for each in (model, other))
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-9)


def counted_chunks(X, chunks):
    """A lazy array, and a list in which the reading of each chunk leaves its place."""
    reads = []
    chunks = da.core.normalize_chunks(chunks, X.shape)

    def read(block_info=None):
        (top, bottom), (left, right) = block_info[None]["array-location"]
        reads.append((top, left))
        return X[top:bottom, left:right]

    meta = np.empty((0, 0), X.dtype)
    return da.map_blocks(read, chunks=chunks, dtype=X.dtype, meta=meta), reads


class Watch(Callback):
    """Sees the graphs and the results of tasks of dask's own schedulers."""

    def __init__(self):
        super().__init__(start=self.see_graph, posttask=self.see_result)
        self.tasks, self.largest = [], 0

    def see_graph(self, graph):
        self.tasks.append(len(graph))

    def see_result(self, key, result, graph, state, worker):
        self.largest = max(self.largest, len(pickle.dumps(result)))
