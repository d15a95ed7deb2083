"""What a task computes from one chunk: moments of its rows, products and sums of its columns."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...theory._arrays import FloatArray
from .. import IndexArray, Moments
from .._means import group_means
from .._tiles import column_squares, row_slices, take_columns, tiles

Chunk: TypeAlias = npt.NDArray[Any]

Columns: TypeAlias = tuple[IndexArray, FloatArray, FloatArray]
"""Columns of a chunk, with the mean and the scale of each."""

Labelled: TypeAlias = tuple[IndexArray, FloatArray | None, FloatArray | None]
"""The group of each column of a chunk, with the mean and the scale of each if it has to be
standardised."""

_SOME_VALUES = 2**20
"""Values that are converted, or multiplied, together: 8 MiB."""

_WIDTH = 4096

_quiet = np.errstate(over="ignore", invalid="ignore")
"""Values that are too large are reported when all have been seen."""


def float64(values: Any) -> FloatArray:
    """Convert to float64; masked values become NaN."""
    filled: FloatArray = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
    return filled


def _counted(weights: Any) -> tuple[IndexArray | slice, FloatArray | None]:
    """Rows with a weight, and their weights."""
    if weights is None:
        return slice(None), None
    weights = float64(weights)
    rows = slice(None) if weights.all() else np.flatnonzero(weights)
    return rows, weights[rows]


# Moments


@dataclass(frozen=True)
class Fault:
    """The first invalid value of some rows, of ``what``: "y", "sample_weight" or "X"."""

    what: str
    row: int
    column: int
    value: float


def first_fault(faults: Sequence[Fault | None]) -> Fault | None:
    """The one to report: of the target before the weights before X, then the first row."""
    order = ("y", "sample_weight", "X")
    found = [fault for fault in faults if fault is not None]
    return min(found, key=lambda f: (order.index(f.what), f.row, f.column), default=None)


class ColumnMoments:
    """Moments of single columns, the target last, and their comoments with the target."""

    def __init__(self, size: int) -> None:
        self.n_samples = 0.0
        self.mean, self.square, self.product = np.zeros((3, size))
        self.low, self.high = np.full(size, np.inf), np.full(size, -np.inf)

    def merge(self, other: "ColumnMoments") -> None:
        """Add the rows of other moments."""
        if not other.n_samples:
            return
        total = self.n_samples + other.n_samples
        distance = other.mean - self.mean
        between = distance * (self.n_samples * other.n_samples / total)
        self.mean = self.mean + distance * (other.n_samples / total)
        self.square = self.square + other.square + between * distance
        self.product = self.product + other.product + between * distance[-1]
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.n_samples = total


@dataclass(frozen=True)
class Checked:
    """Moments of some rows, or the first value for which these are invalid."""

    moments: Any
    fault: Fault | None


@_quiet
def merged(parts: Sequence[Any]) -> Any:
    """What several sets of rows give together. What a task returned must not be changed."""
    if isinstance(parts[0], np.ndarray):
        total = parts[0].copy()
        for part in parts[1:]:
            total += part
        return total
    moments = deepcopy(parts[0].moments)
    for part in parts[1:]:
        moments.merge(part.moments)
    return Checked(moments, first_fault([part.fault for part in parts]))


@_quiet
def column_moments(chunk: Chunk, y: Any, weights: Any, top: int, left: int) -> Checked:
    """Moments of the columns of a chunk whose first row and column are given."""
    result = ColumnMoments(chunk.shape[1] + 1)
    X, y, weights, numbers, fault = _rows_that_count(chunk, y, weights, top)
    if fault is not None or not y.size:
        return Checked(result, fault)
    count = result.n_samples = float(weights.sum())
    center = float(weights @ y / count)
    centred = y - center
    correction = float(weights @ centred / count)
    centred, center = centred - correction, center + correction
    weighted = weights * centred
    # As a shift: what these means are off is corrected by the sums that follow.
    shift = np.zeros(X.shape[1])
    for rows in row_slices(y.size, shift.size, _SOME_VALUES):
        shift += weights[rows] @ X[rows].astype(np.float64, copy=False)
    shift /= count
    sums = np.zeros(shift.size + 1)
    low, high, square, product = result.low, result.high, result.square, result.product
    for rows, columns, tile in tiles(X):
        values = X[rows, columns]
        low[columns] = np.minimum(low[columns], values.min(axis=0))
        high[columns] = np.maximum(high[columns], values.max(axis=0))
        np.subtract(values, shift[columns], out=tile)
        sums[columns] += weights[rows] @ tile
        product[columns] += weighted[rows] @ tile
        tile *= np.sqrt(weights[rows])[:, None]
        square[columns] += column_squares(tile)
    offset = sums / count
    square -= sums * offset
    square[-1] = product[-1] = weighted @ centred
    low[-1], high[-1] = y.min(), y.max()
    result.mean = np.append(shift, center) + offset
    return Checked(result, _not_finite(X, low, high, numbers, left))


@_quiet
def all_moments(chunks: Sequence[Chunk], y: Any, weights: Any, top: int, precision: float) -> Any:
    """Comoments of all columns of the chunks that lie side by side."""
    chunk = side_by_side(chunks)
    moments = Moments(chunk.shape[1], precision)
    X, y, weights, numbers, fault = _rows_that_count(chunk, y, weights, top)
    if fault is None and y.size:
        moments.low = np.append(X.min(axis=0), y.min())
        moments.high = np.append(X.max(axis=0), y.max())
        fault = _not_finite(X, moments.low, moments.high, numbers, 0)
        if fault is None:
            moments.add(X, y, weights)
    return Checked(moments, fault)


def _rows_that_count(
    chunk: Chunk, y: Any, weights: Any, top: int
) -> tuple[Chunk, FloatArray, FloatArray, IndexArray, Fault | None]:
    """Rows with a weight: values, target and weights as float64, row numbers; or a fault."""
    y = float64(y)
    weights = np.ones(y.size) if weights is None else float64(weights)
    numbers = top + np.arange(y.size)
    fault = None
    # Rows that do not count may lack a target.
    for what, values, wrong in (
        ("sample_weight", weights, ~(np.isfinite(weights) & (weights >= 0))),
        ("y", y, ~np.isfinite(y) & (weights != 0)),
    ):
        if wrong.any():
            fault = Fault(what, int(numbers[wrong][0]), 0, float(values[wrong][0]))
    rows, _ = _counted(weights)
    return chunk[rows], y[rows], weights[rows], numbers[rows], fault


def _not_finite(
    X: Chunk, low: FloatArray, high: FloatArray, numbers: IndexArray, left: int
) -> Fault | None:
    """The first value of the rows that is not finite; the ranges of the columns show if any is."""
    if (np.isfinite(low) & np.isfinite(high)).all():
        return None
    row = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
    column = int(np.flatnonzero(~np.isfinite(X[row]))[0])
    return Fault("X", int(numbers[row]), left + column, float(X[row, column]))


# Products and sums of columns


def side_by_side(pieces: Sequence[Any]) -> Any:
    """What chunks beside each other give together."""
    return pieces[0] if len(pieces) == 1 else np.hstack(pieces)


def standardized(chunk: Chunk, spec: Columns, summed: bool, weights: Any = None) -> FloatArray:
    """Some columns, standardised, of the rows with a weight; or only their sum."""
    chunk = chunk[_counted(weights)[0]]
    columns, mean, scale = spec
    result = np.empty((chunk.shape[0], 1 if summed else columns.size))
    for rows in row_slices(chunk.shape[0], columns.size, _SOME_VALUES):
        values = take_columns(chunk, rows, columns)
        values -= mean
        values /= scale
        result[rows] = values.sum(axis=1, keepdims=True) if summed else values
    return result


def group_sums(
    chunk: Chunk,
    spec: Labelled,
    n_groups: int,
    check: Callable[[], None] | None = None,
    weights: Any = None,
) -> FloatArray:
    """Sum of the standardised columns of each group, of the rows with a weight."""
    labels, mean, scale = spec
    chunk = chunk[_counted(weights)[0]]
    result = np.zeros((chunk.shape[0], n_groups))
    if chunk.shape[0]:
        # A chunk of some columns may lack groups.
        present, sizes = np.unique(labels[labels >= 0], return_counts=True)
        own = np.where(labels >= 0, np.searchsorted(present, labels), -1)
        means = group_means(
            chunk, own, present.size, mean=mean, scale=scale, check=check, dtype=np.float64
        )
        result[:, present] = means * sizes
    return result


def many_sums(chunk: Chunk, groupings: Sequence[tuple[Labelled, int]]) -> FloatArray:
    """Sums of groups as of :func:`group_sums`, of several groupings side by side."""
    return np.hstack([group_sums(chunk, spec, n_groups) for spec, n_groups in groupings])


def products(
    left: FloatArray | Columns, summed: bool, chunk: Chunk, spec: Columns, weights: Any
) -> FloatArray:
    """Sums of products of some columns, or of their sum, with standardised columns of the chunk."""
    # The former are columns of the chunk too, or given standardised, of the rows that count.
    counted, weights = _counted(weights)
    chunk = chunk[counted]
    columns, mean, scale = spec
    count = left[0].size if isinstance(left, tuple) else left.shape[1]
    result = np.zeros((1 if summed else count, columns.size))
    for rows in row_slices(chunk.shape[0], max(count, min(_WIDTH, columns.size)), _SOME_VALUES):
        some = standardized(chunk[rows], left, summed) if isinstance(left, tuple) else left[rows]
        if weights is not None:
            some = some * weights[rows, None]
        for start in range(0, columns.size, _WIDTH):
            part = slice(start, start + _WIDTH)
            values = take_columns(chunk, rows, columns[part])
            values -= mean[part]
            result[:, part] += some.T @ values
    result /= scale
    return result


def products_within(
    chunks: Sequence[Chunk], spec: Columns | None, groups: Sequence[IndexArray], weights: Any
) -> FloatArray:
    """Sums of products of the columns of each group with each other, one matrix after the other."""
    # ``groups`` are places in the columns of the specification; without one, the chunks hold
    # standardised columns already, of the rows that count.
    counted, weights = _counted(weights)
    matrices = [np.zeros((group.size, group.size)) for group in groups]
    chunks = chunks if spec is None else [chunks[0][counted]]
    width = sum(group.size for group in groups)
    for rows in row_slices(len(chunks[0]), width, _SOME_VALUES):
        some = [chunk[rows] for chunk in chunks]
        columns = side_by_side(some) if spec is None else standardized(some[0], spec, summed=False)
        if weights is not None:
            columns = columns * np.sqrt(weights[rows])[:, None]
        for group, matrix in zip(groups, matrices, strict=True):
            members = columns[:, group]
            matrix += members.T @ members
    return np.concatenate([matrix.ravel() for matrix in matrices])


def squares_of_sums(
    chunks: Sequence[Chunk], spec: Labelled | None, n_groups: int, weights: Any
) -> FloatArray:
    """Sum of the squares of each group's sum."""
    # Without a specification the only chunk holds the sums already, of the rows that count.
    counted, weights = _counted(weights)
    chunk = chunks[0] if spec is None else chunks[0][counted]
    result = np.zeros(n_groups)
    for rows in row_slices(len(chunk), max(n_groups, chunk.shape[1]), _SOME_VALUES):
        total = chunk[rows] if spec is None else group_sums(chunk[rows], spec, n_groups)
        counts = np.ones(len(total)) if weights is None else weights[rows]
        result += np.einsum("i,ij,ij->j", counts, total, total)
    return result
