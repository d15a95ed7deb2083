"""From dask collections to chunks of a table, read where they are and never gathered."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._checks import (
    MIN_SAMPLES,
    bad_weight,
    check_length,
    check_named,
    check_numeric,
    check_unique,
    check_weights,
    column_precision,
    float_type,
    is_dask,
    is_dataset,
    is_field,
    not_finite_feature,
    not_finite_target,
    too_few_samples,
)
from ._columns import Columns
from ._compute import compute, computed
from ._dates import Dates
from ._declared import REMEDY, as_declared, numpy_type, partition_values
from ._targets import Kind, Targets, names_of_targets, not_numeric, read_targets

if TYPE_CHECKING:
    from ._field import Coordinate


@dataclass(frozen=True, eq=False)
class ChunkedTraining:
    """Features of samples in chunks, with their targets and weights, none of them computed yet."""

    values: Any
    blocks: npt.NDArray[np.object_]  # its chunks, delayed: (row chunks, column chunks)
    # The same, read a second time: what a row of chunks needs of its neighbours comes from here,
    # or each of them would have to stay in memory until all have been read.
    again: npt.NDArray[np.object_]
    lengths: Sequence[int]  # rows of the row chunks
    widths: Sequence[int]  # columns of the column chunks
    y: Sequence[Any]  # delayed, as the row chunks, of shape (rows, K)
    targets: Targets
    weights: Sequence[Any] | None
    precision: npt.NDArray[np.float64]  # relative, of the types in which the features came
    columns: Columns
    samples: "Coordinate | None" = None  # of a field
    dates: Dates | None = None  # of the samples, where they have any
    missing: str = "error"  # or "pairwise", where values may be NaN

    @property
    def gaps(self) -> bool:
        """Whether values may be missing."""
        return self.missing == "pairwise"

    def bad_value(self, what: str, value: float, row: int, column: int) -> ValueError:
        """Return the error for a value of ``"X"``, ``"y"`` or ``"sample_weight"``."""
        if what == "sample_weight":
            return bad_weight(value, row)
        if what == "y":
            where = "" if self.targets.size == 1 else self.targets.describe(column)
            return not_finite_target(value, [row], where)
        if self.columns.field is None:
            return not_finite_feature(value, self.columns.describe([column]), row)
        from ._read_field import not_finite_cells

        return not_finite_cells(
            self.values, self.columns.field, self.samples, self.missing, new=False
        )


def read_chunks(
    X: Any,
    y: Any,
    sample_weight: Any,
    columns: Columns | None,
    samples: "Coordinate | None",
    dates: Dates | None,
    precision: npt.NDArray[np.float64] | None,
    min_samples: int,
    estimator: str,
    missing: str,
    kind: Kind,
) -> ChunkedTraining:
    """Check X, y and weights without reading the data, except to count rows of unknown number."""
    array, opened = open_columns(X)
    outcomes, targets = _open_targets(y, kind)
    weights = _lazy_weights(sample_weight) if is_dask(sample_weight) else None
    # Of a frame one column: it is all that has to be read then.
    countable = X[[X.columns[0]]] if is_dask_frame(X) else array
    try:
        lengths, *others = _count([countable, *(v for v in (outcomes, weights) if is_dask(v))])
    except (KeyError, IndexError, TypeError) as error:
        if countable is array:
            raise
        raise ValueError(
            f"A partition of X has no column {X.columns[0]!r}, by which its rows were to be "
            f"counted: {REMEDY}"
        ) from error
    n = sum(lengths)
    if n < min_samples:
        raise too_few_samples(n, MIN_SAMPLES, estimator)
    if is_dask(outcomes):
        rows = _align(outcomes, others.pop(0), lengths, "y")
    else:
        check_length(len(outcomes), n, "y")
        rows = cut_rows(outcomes, lengths)
    counted: Sequence[Any] | None = None
    if weights is not None:
        counted = _align(weights, others.pop(0), lengths, "sample_weight")
    else:
        in_memory = check_weights(sample_weight, n)
        counted = None if in_memory is None else cut_rows(in_memory, lengths)
    blocks, again = _blocks(X, array, lengths)
    return ChunkedTraining(
        values=array,
        blocks=blocks,
        again=again,
        lengths=lengths,
        widths=array.chunks[1],
        y=rows,
        targets=targets,
        weights=counted,
        precision=column_precision(X) if precision is None else precision,
        columns=opened if columns is None else columns,
        samples=samples,
        dates=dates,
        missing=missing,
    )


def cut_rows(values: npt.NDArray[Any], lengths: Sequence[int]) -> list[Any]:
    from dask import delayed

    parts = np.split(values, np.cumsum(lengths)[:-1])
    return [delayed(part, pure=False, traverse=False) for part in parts]


def _blocks(X: Any, array: Any, lengths: Sequence[int]) -> tuple[Any, Any]:
    if not is_dask_frame(X):
        array = _with_rows(array, lengths, "X")
        return array.to_delayed(), array.map_blocks(_unchanged, meta=array._meta).to_delayed()
    from dask import delayed

    # Partitions as they were counted: for an array, dask may read several files as one.
    partitions = X.to_delayed()
    convert = delayed(partition_values, pure=False)
    blocks = np.empty((len(partitions), 1), dtype=object)
    for place, partition in enumerate(partitions):
        known = place, lengths[place]
        blocks[place, 0] = convert(partition, array.dtype, X._meta, "X", known)
    return blocks, blocks


def is_dask_frame(X: Any) -> bool:
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(X, frames.DataFrame)


def _is_numeric(dtype: Any) -> bool:
    """Whether a type is numeric; Python objects may be anything, and are not inspected."""
    kind = getattr(numpy_type(dtype), "kind", "O")
    return kind in "biuf"


def _unchanged(chunk: Any) -> Any:
    return chunk


def _open_targets(y: Any, kind: Kind) -> tuple[Any, Targets]:
    """Open targets as an array of shape (n, K), of dask if they are lazy; labels are computed."""
    if not is_dask(y) or kind == "classes" or (kind is None and _may_be_labels(y)):
        return read_targets(computed(y, "the target y"), kind)
    from dask.array import Array

    names = names_of_targets(y) if is_field(y) or is_dask_frame(y) else None
    check_unique([str(name) for name in names or ()], "Names of targets", "y")
    what, array = "The target y", y
    if is_field(y):
        array = _stacked(y) if is_dataset(y) else y.data
    elif _is_series(y) or is_dask_frame(y):
        array = _frame_of_targets(y)
    several = isinstance(array, Array) and array.ndim > 1
    array = lazy_array(array, what, 2) if several else lazy_array(array, what, 1)[:, None]
    return array.rechunk({1: -1}), Targets(array.shape[1], names)


def _may_be_labels(y: Any) -> bool:
    """Whether one column holds something else than numbers."""
    from dask.array import Array

    if is_dask_frame(y) and len(y.columns) == 1:
        y = y[y.columns[0]]
    array = y.data if is_field(y) and not is_dataset(y) else y
    if not (_is_series(array) or isinstance(array, Array)):
        return False
    return getattr(numpy_type(array.dtype), "kind", "O") not in "iufc"


def _stacked(dataset: Any) -> Any:
    import dask.array as da

    return da.stack(
        [
            lazy_array(da.asarray(variable.data), f"The target {name!r}", 1)
            for name, variable in dataset.data_vars.items()
        ],
        axis=1,
    )


def _frame_of_targets(y: Any) -> Any:
    if _is_series(y):
        if not _is_numeric(y.dtype):
            raise ValueError(f"The target y is not numeric (type {y.dtype}).")
        y = y.to_frame()
    for name, dtype in y.dtypes.items():
        if not _is_numeric(dtype):
            raise not_numeric(name)
    return _values(y, "the target y", np.dtype(np.float64))


def _is_series(values: Any) -> bool:
    frames = sys.modules.get("dask.dataframe")
    return frames is not None and isinstance(values, frames.Series | frames.Index)


def _lazy_weights(values: Any) -> Any:
    what = "sample_weight"
    if is_dask_frame(values):
        raise ValueError(f"{what} must be a series, got a dataframe: pass frame[name].")
    if not _is_series(values):
        return lazy_array(values, what, 1)
    if not _is_numeric(values.dtype):
        raise ValueError(f"{what} is not numeric (type {values.dtype}).")
    return _values(values, what, np.dtype(np.float64))


def _count(collections: list[Any]) -> list[list[int]]:
    """Count the rows of the chunks of each collection, by one graph where they are not known."""
    from dask import delayed

    def lengths(collection: Any) -> Any:
        known = [np.nan] if is_dask_frame(collection) else collection.chunks[0]
        if not np.isnan(known).any():
            return list(known)
        blocks = collection.to_delayed()
        first = blocks if np.ndim(blocks) <= 1 else blocks[:, 0]
        return [delayed(len, pure=False)(block) for block in first]

    counted: list[list[int]] = compute([lengths(collection) for collection in collections])
    return [[int(length) for length in part] for part in counted]


def _align(values: Any, found: Sequence[int], lengths: Sequence[int], what: str) -> Sequence[Any]:
    """Return a lazy array in parts as long as the row chunks."""
    check_length(sum(found), sum(lengths), what)
    name = "the target y" if what == "y" else what
    counted = _with_rows(values, found, name)
    return list(counted.rechunk({0: tuple(lengths)}).to_delayed().ravel())


def _with_rows(array: Any, lengths: Sequence[int], what: str) -> Any:
    """Return a lazy array with the numbers of rows that its chunks had when they were counted."""
    from dask.array import Array

    if not np.isnan(array.chunks[0]).any():
        return array
    chunks = (tuple(lengths), *array.chunks[1:])
    return as_declared(Array(array.dask, array.name, chunks=chunks, meta=array._meta), what)


def open_columns(X: Any) -> tuple[Any, Columns]:
    """Return a two-dimensional dask array of numbers, and its columns; nothing is computed."""
    if is_dask_frame(X):
        names, dtypes = list(X.columns), list(X.dtypes)
        check_named(names)
        check_numeric(names, dtypes, [_is_numeric(dtype) for dtype in dtypes])
        return frame_values(X), Columns(len(names), names)
    array = lazy_array(X, "X", 2)
    widths = array.chunks[1]
    if not all(widths):
        array = array.blocks[:, np.flatnonzero(widths).tolist()]
    return array, Columns(array.shape[1])


def frame_values(frame: Any) -> Any:
    return _values(frame, "X", float_type([numpy_type(dtype) for dtype in frame.dtypes]))


def _values(frame: Any, what: str, dtype: Any) -> Any:
    """Return the numbers of a lazy dataframe or series as an array with unknown rows."""
    known = frame._meta
    meta = np.empty((0, *known.shape[1:]), dtype=dtype)
    # Its own ``meta`` is an argument of map_partitions.
    convert = partial(partition_values, dtype=dtype, meta=known, what=what)
    return frame.map_partitions(convert, meta=meta)


def lazy_array(X: Any, what: str, dimensions: int) -> Any:
    """Return a dask array of plain real numbers; masked ones become NaN."""
    from dask.array import Array

    array = X if isinstance(X, Array) else getattr(X, "data", X)  # that of xarray
    if not isinstance(array, Array):
        table = " or dataframe" if dimensions == 2 else ""
        raise TypeError(f"{what} must be a dask array{table}, got {type(X).__name__}.")
    if array.ndim != dimensions:
        flat = "; flatten the features first, by X.reshape(len(X), -1)"
        raise ValueError(
            f"{what} must be a {dimensions}D array, got a {array.ndim}D array"
            f"{flat if what == 'X' and array.ndim > 2 else ''}."
        )
    if dimensions == 2 and np.isnan(array.shape[1]):
        name = what.split()[-1]
        raise ValueError(
            f"The number of columns of {name} is unknown; call {name}.compute_chunk_sizes()."
        )
    if dimensions == 2 and not array.shape[1]:
        least = ": 0 feature(s), while a minimum of 1 is required" if what == "X" else ""
        raise ValueError(f"{what} has no columns{least}.")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} must be real numbers, but its type is {array.dtype}.")
    if type(array._meta) not in (np.ndarray, np.ma.MaskedArray):
        kind = type(array._meta).__name__
        raise TypeError(f"{what} must have chunks that are NumPy arrays, not {kind}.")
    return as_declared(array, what.replace("The target", "the target"))
