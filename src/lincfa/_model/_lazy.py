"""Reduced features of dask collections, and back: lazy, chunk by chunk, with the same rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._data._checks import (
    check_finite,
    check_no_overflow,
    check_reduced_columns,
    first_not_finite,
    float_type,
)
from .._data._dask import frame_values, is_dask_frame, lazy_array
from .._data._declared import partition_values
from .._data._names import Names
from .._data._training import FeatureTable
from .._statistics import IndexArray
from .._statistics._dask._chunks import LARGEST_BATCH, add_in_tree
from .._statistics._means import divided, partial_sums, spread_means
from ..theory._arrays import FloatArray

_UNKNOWN_LENGTH = 2**12
"""Rows that a chunk is assumed to have if their number is unknown."""


class _Averaging(NamedTuple):
    """How a task averages the groups, as far as they are among its columns."""

    labels: IndexArray  # of these columns, as the next three
    factors: FloatArray
    standard: dict[str, FloatArray]  # mean and scale, if columns are standardised
    columns: Names | range
    weights: FloatArray  # of all groups, as the names
    names: Names
    dtype: npt.DTypeLike
    missing: str


class _Expanding(NamedTuple):
    """How a task makes columns of the groups' means."""

    columns: Names
    labels: IndexArray
    mean: FloatArray
    scale: FloatArray
    center: FloatArray
    missing: str


def average_lazily(model: Any, X: Any, table: FeatureTable) -> Any:
    """Average each group, with the same chunks of rows, or the same index of a dataframe."""
    array, labels, (mean, scale) = table.values, model.labels_, model._standardization
    names = model.get_feature_names_out()
    dtype = float_type([array.dtype])
    factors, weights = model._factors, model._group_weights()
    specs, left = [], 0
    for width in array.chunks[1]:
        own = slice(left, left + width)
        left = own.stop
        standard = {}
        if mean is not None and scale is not None:
            standard = {"mean": mean[own], "scale": scale[own]}
        known = table.columns.names
        columns = range(own.start, own.stop) if known is None else known[own]
        of_columns = labels[own], factors[own], standard, columns
        specs.append(_Averaging(*of_columns, weights, names, dtype, table.missing))
    if is_dask_frame(X):
        return _map_frame(X, _averages, specs[0], names, dtype)
    if len(specs) == 1:
        return _map_blocks(array, _averages, specs[0], len(names), dtype)
    from dask import delayed

    # What the column chunks contribute is added up in tasks of their own: sums of arrays would be
    # fused with all that they are sums of, and a whole row of chunks would have to be in memory.
    task, divide, given = delayed(_sums), delayed(_divided), [_once(spec) for spec in specs]
    rows = [
        [divide(add_in_tree([task(*pair) for pair in zip(row, given, strict=True)]), given[0])]
        for row in array.to_delayed()
    ]
    chunks = (array.chunks[0], (len(names),))
    return _assemble(rows, chunks, dtype)


def expand_lazily(
    X: Any,
    reduced_names: Names,
    names: Names,
    missing: str,
    labels: IndexArray,
    mean: FloatArray,
    scale: FloatArray,
    center: FloatArray,
) -> Any:
    """Approximate the features by the means of their groups, as the same kind of collection."""
    spec = _Expanding(names, labels, mean, scale, center, missing)
    if is_dask_frame(X):
        check_reduced_columns(list(X.columns), len(X.columns), reduced_names)
        return _map_frame(X, _expanded, spec, names, float_type([frame_values(X).dtype]))
    array = lazy_array(X, "X", 2)
    check_reduced_columns(None, array.shape[1], reduced_names)
    array = array.rechunk({1: -1})
    dtype = float_type([array.dtype])
    parts = _column_parts(mean.size, array.chunks[0])
    if len(parts) == 1:
        return _map_blocks(array, _expanded, spec, mean.size, dtype)
    from dask import delayed

    task = delayed(_expanded)
    given = [
        _once(_Expanding(names[part], labels[part], mean[part], scale[part], center, missing))
        for part in parts
    ]
    rows = [[task(row[0], some) for some in given] for row in array.to_delayed()]
    widths = tuple(part.stop - part.start for part in parts)
    return _assemble(rows, (array.chunks[0], widths), dtype)


def apply_lazily(estimator: Any, method: str, reduced: Any) -> Any:
    """Apply a method of a model to each chunk of rows."""
    # How many columns it returns, and of which type, a row of zeros shows.
    some = _applied(np.zeros((1, reduced.shape[1])), (estimator, method))
    meta = np.empty((0,) * some.ndim, dtype=some.dtype)
    if some.ndim == 1:
        shape: dict[str, Any] = {"drop_axis": 1}
    else:
        shape = {"chunks": (reduced.chunks[0], (some.shape[1],))}
    spec = _once((estimator, method))
    return reduced.map_blocks(_applied, spec, dtype=some.dtype, meta=meta, **shape)


def _column_parts(n_features: int, lengths: tuple[float, ...]) -> list[slice]:
    """Cut all features into parts that make chunks of moderate size; one if possible."""
    longest = _UNKNOWN_LENGTH if np.isnan(lengths).any() else int(max(lengths))
    width = max(1, LARGEST_BATCH // max(longest, 1))
    count = -(-n_features // width)
    bounds = np.linspace(0, n_features, count + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds)]


def _map_blocks(
    array: Any, function: Callable[..., Any], spec: Any, width: int, dtype: npt.DTypeLike
) -> Any:
    return array.map_blocks(
        function,
        _once(spec),
        dtype=dtype,
        chunks=(array.chunks[0], (width,)),
        meta=np.empty((0, 0), dtype=dtype),
    )


def _assemble(rows: list[list[Any]], chunks: Any, dtype: Any) -> Any:
    """Make a dask array from delayed chunks, some of which may be empty."""
    import dask.array as da
    from dask.base import tokenize
    from dask.highlevelgraph import HighLevelGraph

    keys = {(i, j): block for i, row in enumerate(rows) for j, block in enumerate(row)}
    name = f"lincfa-{tokenize(*(block.key for block in keys.values()))}"
    graph = {(name, *place): block.key for place, block in keys.items()}
    layers = HighLevelGraph.from_collections(name, graph, dependencies=list(keys.values()))
    return da.Array(layers, name, chunks=chunks, dtype=dtype)


def _map_frame(
    frame: Any, function: Callable[..., Any], spec: Any, names: Names, dtype: Any
) -> Any:
    import pandas as pd

    meta = pd.DataFrame(np.empty((0, len(names)), dtype), columns=list(names))
    meta.index = frame._meta.index
    # The specification goes with each partition: dask sometimes fails to fuse delayed values.
    known = frame._meta
    return frame.map_partitions(_partition, function, spec, list(names), dtype, known, meta=meta)


def _partition(
    part: Any, function: Callable[..., Any], spec: Any, names: list[Any], dtype: Any, known: Any
) -> Any:
    import pandas as pd

    values = function(partition_values(part, dtype, known), spec).astype(dtype, copy=False)
    return pd.DataFrame(values, index=part.index, columns=names)


def _once(value: Any) -> Any:
    """Put a value into the graph once, however many chunks there are."""
    from dask import delayed

    return delayed(value, pure=True, traverse=False)


def _averages(chunk: npt.NDArray[Any], spec: _Averaging) -> npt.NDArray[Any]:
    """Average the groups of a chunk that has all columns."""
    return _divided(_sums(chunk, spec), spec)


def _divided(sums: FloatArray, spec: _Averaging) -> npt.NDArray[Any]:
    """Divide sums by the weights, as of :func:`divided`, in the type of the result."""
    with np.errstate(over="ignore"):
        averages = divided(sums, spec.weights).astype(spec.dtype, copy=False)
    with _naming(averages):
        check_no_overflow(averages, lambda: spec.names, spec.missing)
    return averages


@contextmanager
def _naming(chunk: npt.NDArray[Any]) -> Iterator[None]:
    """Say that the row in an error is one of a chunk."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"In a chunk of {chunk.shape[0]} rows: {error}") from None


def _sums(chunk: npt.NDArray[Any], spec: _Averaging) -> FloatArray:
    """Return what the columns of a chunk contribute to each group, as of partial_sums."""
    with _naming(chunk):
        return partial_sums(
            chunk,
            spec.labels,
            spec.weights.size,
            spec.factors,
            gaps=spec.missing == "pairwise",
            check=lambda: check_finite(chunk, spec.columns, spec.missing),
            **spec.standard,
        )


def _expanded(chunk: npt.NDArray[Any], spec: _Expanding) -> npt.NDArray[Any]:
    values = chunk.astype(float_type([chunk.dtype]), copy=False)
    if first_not_finite(values, spec.missing) is not None:
        what = "infinity" if spec.missing == "pairwise" else "NaN or infinity"
        raise ValueError(f"The reduced features contain {what}.")
    features = spread_means(values, spec.labels, spec.mean, spec.scale, spec.center)
    with _naming(features):
        check_no_overflow(features, lambda: spec.columns, "pairwise")
    return features


def _applied(chunk: npt.NDArray[Any], spec: tuple[Any, str]) -> npt.NDArray[Any]:
    estimator, method = spec
    # Models want at least one row.
    rows = chunk if chunk.shape[0] else np.zeros((1, chunk.shape[1]))
    return np.asarray(getattr(estimator, method)(rows))[: chunk.shape[0]]
