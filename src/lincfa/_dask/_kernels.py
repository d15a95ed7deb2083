"""What is computed from one chunk, with nothing but NumPy; sums of it are what a fit needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce, wraps
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._blocks import column_squares, row_slices, take_columns, tiles
from .._means import group_means
from .._names import Names
from .._statistics import IndexArray, Moments
from ..theory._arrays import FloatArray

Chunk: TypeAlias = npt.NDArray[Any]

Columns: TypeAlias = tuple[IndexArray, FloatArray, FloatArray]
"""Columns of a chunk, with the mean and the scale of each."""

Labelled: TypeAlias = tuple[IndexArray, FloatArray | None, FloatArray | None]
"""The group of each column of a chunk, with the mean and the scale of each if it has to be
standardised."""

_SOME_VALUES = 2**20
"""Values that are converted, or multiplied, together: 8 MiB."""

_WIDTH = 4096


def _quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """Ignore overflow: values that are too large are refused when all have been seen."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore", invalid="ignore"):
            return function(*arguments)

    return call


@dataclass(frozen=True)
class Fault:
    """A value that a fit refuses, the first of its kind in the rows seen.

    Attributes
    ----------
    what : {"y", "sample_weight", "X"}
    row, column : int
    value : float
    """

    what: str
    row: int
    column: int
    value: float


@dataclass(frozen=True)
class ColumnMoments:
    """Moments of single columns, the target last, and their comoments with the target."""

    count: float
    mean: FloatArray
    square: FloatArray
    product: FloatArray
    low: FloatArray
    high: FloatArray
    fault: Fault | None = None

    def merge(self, other: "ColumnMoments") -> "ColumnMoments":
        """Moments of both sets of rows."""
        if not (self.count and other.count):
            return replace(
                self if self.count else other, fault=first_fault([self.fault, other.fault])
            )
        count = self.count + other.count
        distance = other.mean - self.mean
        between = distance * (self.count * other.count / count)
        return ColumnMoments(
            count,
            self.mean + distance * (other.count / count),
            self.square + other.square + between * distance,
            self.product + other.product + between * distance[-1],
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            first_fault([self.fault, other.fault]),
        )


@dataclass(frozen=True)
class AllMoments:
    """Comoments of all pairs of columns, the target last."""

    moments: Moments
    fault: Fault | None = None

    def merge(self, other: "AllMoments") -> "AllMoments":
        """Moments of both sets of rows, in a place of their own."""
        moments = Moments(self.moments.mean.size - 1, 0.0)
        moments.precision = self.moments.precision
        moments.merge(self.moments)
        moments.merge(other.moments)
        return AllMoments(moments, first_fault([self.fault, other.fault]))


def first_fault(faults: Sequence[Fault | None]) -> Fault | None:
    """The one to tell of: of the target before the weights before X, then the first row."""
    order = ("y", "sample_weight", "X")
    found = [fault for fault in faults if fault is not None]
    return min(found, key=lambda f: (order.index(f.what), f.row, f.column), default=None)


@_quiet
def column_moments(
    chunk: Chunk, y: FloatArray, weights: FloatArray | None, first_row: int, first_column: int
) -> ColumnMoments:
    """Moments of the columns of a chunk that lies at some place of the data."""
    y, weights, fault = _vectors(chunk, y, weights, first_row)
    X, y, weights, rows = _counted(chunk, y, weights)
    width = X.shape[1] + 1
    sums, squares, products = np.zeros((3, width))
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    count = float(weights.sum())
    if fault is not None or not count:
        return ColumnMoments(0.0, sums, squares, products, low, high, fault)
    centred, center = _centred(y, weights)
    weighted = weights * centred
    shift = _means(X, weights)
    for part, columns, tile in tiles(X):
        values = X[part, columns]
        low[columns] = np.minimum(low[columns], values.min(axis=0))
        high[columns] = np.maximum(high[columns], values.max(axis=0))
        np.subtract(values, shift[columns], out=tile)
        sums[columns] += weights[part] @ tile
        products[columns] += weighted[part] @ tile
        tile *= np.sqrt(weights[part])[:, None]
        squares[columns] += column_squares(tile)
    offset = sums / count
    squares -= sums * offset
    if not (np.isfinite(low[:-1]) & np.isfinite(high[:-1])).all():
        fault = _not_finite(X, rows, first_row, first_column)
    mean = np.append(shift, center) + offset
    squares[-1] = products[-1] = weighted @ centred
    low[-1], high[-1] = y.min(), y.max()
    return ColumnMoments(count, mean, squares, products, low, high, fault)


@_quiet
def all_moments(
    chunks: Sequence[Chunk],
    y: FloatArray,
    weights: FloatArray | None,
    first_row: int,
    precision: float,
) -> AllMoments:
    """Comoments of all columns of the chunks that lie side by side."""
    chunk = chunks[0] if len(chunks) == 1 else np.hstack(chunks)
    moments = Moments(chunk.shape[1], precision)
    y, weights, fault = _vectors(chunk, y, weights, first_row)
    X, y, weights, rows = _counted(chunk, y, weights)
    if fault is None and y.size:
        moments.low = np.append(X.min(axis=0), y.min())
        moments.high = np.append(X.max(axis=0), y.max())
        if not (np.isfinite(moments.low) & np.isfinite(moments.high)).all():
            fault = _not_finite(X, rows, first_row, 0)
        else:
            moments.add(X, y, weights)
    return AllMoments(moments, fault)


def of_counted(
    prepare: Callable[..., FloatArray], chunk: Chunk, spec: Any, option: Any, weights: Any
) -> FloatArray:
    """What the rows of a chunk that count contribute; the others may hold anything."""
    return prepare(_with_weight(chunk, weights)[0], spec, option)


def standardized(chunk: Chunk, spec: Columns, summed: bool) -> FloatArray:
    """Some columns, standardised; or only their sum."""
    columns, mean, scale = spec
    result = np.empty((chunk.shape[0], 1 if summed else columns.size))
    for rows in row_slices(chunk.shape[0], columns.size, _SOME_VALUES):
        values = take_columns(chunk, rows, columns)
        values -= mean
        values /= scale
        result[rows] = values.sum(axis=1, keepdims=True) if summed else values
    return result


def products(
    left: Sequence[FloatArray],
    summed: bool,
    chunk: Chunk,
    spec: Columns,
    weights: FloatArray | None,
) -> FloatArray:
    """Sums of products of the columns on the left, or of their sum, with standardised columns.

    What is on the left has only the rows that count.
    """
    chunk, weights = _with_weight(chunk, weights)
    own = sum(left[1:], left[0]) if summed else left[0] if len(left) == 1 else np.hstack(left)
    if weights is not None:
        own = own * weights[:, None]
    columns, mean, scale = spec
    result = np.zeros((own.shape[1], columns.size))
    for start in range(0, columns.size, _WIDTH):
        part = slice(start, start + _WIDTH)
        for rows in row_slices(chunk.shape[0], columns[part].size, _SOME_VALUES):
            values = take_columns(chunk, rows, columns[part])
            values -= mean[part]
            result[:, part] += own[rows].T @ values
    result /= scale
    return result


def products_within(
    chunks: Sequence[Chunk],
    specs: Sequence[Columns | None],
    groups: Sequence[IndexArray],
    weights: FloatArray | None,
) -> FloatArray:
    """Sums of products of the columns of each group with each other, one matrix behind the other.

    ``groups`` are places in the columns that the chunks give together; a chunk without a
    specification holds standardised columns already, of the rows that count.
    """
    chunks, weights = _rows_with_weight(chunks, specs, weights)
    matrices = [np.zeros((group.size, group.size)) for group in groups]
    width = sum(group.size for group in groups)
    for rows in row_slices(len(chunks[0]), width, _SOME_VALUES):
        parts = [
            chunk[rows] if spec is None else standardized(chunk[rows], spec, summed=False)
            for chunk, spec in zip(chunks, specs, strict=True)
        ]
        columns = parts[0] if len(parts) == 1 else np.hstack(parts)
        if weights is not None:
            columns = columns * np.sqrt(weights[rows])[:, None]
        for group, matrix in zip(groups, matrices, strict=True):
            members = columns[:, group]
            matrix += members.T @ members
    return np.concatenate([matrix.ravel() for matrix in matrices])


def group_sums(
    chunk: Chunk, spec: Labelled, n_groups: int, names: Names | None = None
) -> FloatArray:
    """Sum of the standardised columns of each group; label −1 belongs to none."""
    labels, mean, scale = spec
    sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
    result = np.zeros((chunk.shape[0], n_groups))
    if chunk.shape[0]:
        present = np.flatnonzero(sizes)  # a chunk of some columns may lack groups
        place = np.full(n_groups + 1, -1)
        place[present] = np.arange(present.size)
        means = group_means(
            chunk,
            place[labels],
            present.size,
            mean=mean,
            scale=scale,
            names=names,
            dtype=np.float64,
        )
        result[:, present] = means * sizes[present]
    return result


def many_sums(chunk: Chunk, groupings: Sequence[tuple[Labelled, int]]) -> FloatArray:
    """Sums of groups as of :func:`group_sums`, of several groupings side by side."""
    return np.hstack([group_sums(chunk, spec, n_groups) for spec, n_groups in groupings])


def squares_of_sums(
    chunks: Sequence[Chunk],
    specs: Sequence[Labelled | None],
    n_groups: int,
    weights: FloatArray | None,
) -> FloatArray:
    """Sum of the squares of each group's sum.

    A chunk without a specification holds the sums of its own columns already, of the rows that
    count.
    """
    chunks, weights = _rows_with_weight(chunks, specs, weights)
    result = np.zeros(n_groups)
    width = max(n_groups, *(chunk.shape[1] for chunk in chunks))
    for rows in row_slices(len(chunks[0]), width, _SOME_VALUES):
        total = np.zeros((rows.stop - rows.start, n_groups))
        for chunk, spec in zip(chunks, specs, strict=True):
            total += chunk[rows] if spec is None else group_sums(chunk[rows], spec, n_groups)
        counts = np.ones(len(total)) if weights is None else weights[rows]
        result += np.einsum("i,ij,ij->j", counts, total, total)
    return result


def _vectors(
    chunk: Chunk, y: Any, weights: Any, first_row: int
) -> tuple[FloatArray, FloatArray, Fault | None]:
    """Give target and weights as float64, and the first of their values that is refused."""
    y = _float64(y)
    weights = np.ones(y.size) if weights is None else _float64(weights)
    # Rows that do not count may lack a target.
    for what, values, wrong in (
        ("y", y, ~np.isfinite(y) & (weights != 0)),
        ("sample_weight", weights, ~(np.isfinite(weights) & (weights >= 0))),
    ):
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            return y, weights, Fault(what, first_row + row, 0, float(values[row]))
    return y, weights, None


def _float64(values: Any) -> FloatArray:
    filled: FloatArray = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
    return filled


def _counted(
    X: Chunk, y: FloatArray, weights: FloatArray
) -> tuple[Chunk, FloatArray, FloatArray, IndexArray]:
    """Leave out rows without weight; tell which rows are left."""
    if weights.all():
        return X, y, weights, np.arange(y.size)
    rows = np.flatnonzero(weights > 0)
    return X[rows], y[rows], weights[rows], rows


def _with_weight(chunk: Chunk, weights: Any) -> tuple[Chunk, FloatArray | None]:
    """Rows with a weight, and their weights."""
    if weights is None:
        return chunk, None
    weights = _float64(weights)
    if weights.all():
        return chunk, weights
    rows = np.flatnonzero(weights)
    return chunk[rows], weights[rows]


def _rows_with_weight(
    chunks: Sequence[Chunk], specs: Sequence[Any], weights: Any
) -> tuple[list[Chunk], FloatArray | None]:
    """The same of chunks side by side; those without a specification have no others."""
    counted = [
        chunk if spec is None else _with_weight(chunk, weights)[0]
        for chunk, spec in zip(chunks, specs, strict=True)
    ]
    return counted, None if weights is None else _with_weight(_float64(weights), weights)[1]


def _centred(y: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
    center = float(weights @ y / weights.sum())
    centred = y - center
    correction = float(weights @ centred / weights.sum())
    return centred - correction, center + correction


def _means(X: Chunk, weights: FloatArray) -> FloatArray:
    """Means of columns, as a shift: what they are off is corrected by the sums that follow."""
    total = np.zeros(X.shape[1])
    for rows in row_slices(X.shape[0], X.shape[1], _SOME_VALUES):
        total += weights[rows] @ X[rows].astype(np.float64, copy=False)
    total /= weights.sum()
    return total


def _not_finite(X: Chunk, rows: IndexArray, first_row: int, first_column: int) -> Fault:
    """Find the first row with a value that is not finite."""
    row = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
    column = int(np.flatnonzero(~np.isfinite(X[row]))[0])
    return Fault("X", first_row + int(rows[row]), first_column + column, float(X[row, column]))


@_quiet
def merged(parts: Sequence[Any]) -> Any:
    """What several sets of rows give together."""
    if isinstance(parts[0], np.ndarray):
        total = parts[0].copy()  # what a task returned is not to be changed
        for part in parts[1:]:
            total += part
        return total
    return reduce(lambda one, other: one.merge(other), parts)
