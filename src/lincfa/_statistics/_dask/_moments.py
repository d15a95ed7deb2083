"""Moments of the rows of a chunk, and of several sets of rows together."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import reduce, wraps
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...theory._arrays import FloatArray
from .. import IndexArray, Moments
from .._tiles import column_squares, row_slices, tiles

Chunk: TypeAlias = npt.NDArray[Any]

_SOME_VALUES = 2**20
"""Values that are converted together: 8 MiB."""


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

    def with_all(self, others: Sequence["ColumnMoments"]) -> "ColumnMoments":
        """Moments of all these rows."""
        return reduce(ColumnMoments._with, others, self)

    def _with(self, other: "ColumnMoments") -> "ColumnMoments":
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

    def with_all(self, others: Sequence["AllMoments"]) -> "AllMoments":
        """Moments of all these rows, in a place of their own."""
        moments = deepcopy(self.moments)
        for other in others:
            moments.merge(other.moments)
        return AllMoments(moments, first_fault([part.fault for part in (self, *others)]))


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


@_quiet
def merged(parts: Sequence[Any]) -> Any:
    """What several sets of rows give together."""
    if isinstance(parts[0], np.ndarray):
        total = parts[0].copy()  # what a task returned is not to be changed
        for part in parts[1:]:
            total += part
        return total
    return parts[0].with_all(parts[1:])


def _vectors(
    chunk: Chunk, y: Any, weights: Any, first_row: int
) -> tuple[FloatArray, FloatArray, Fault | None]:
    """Give target and weights as float64, and the first of their values that is refused."""
    y = float64(y)
    weights = np.ones(y.size) if weights is None else float64(weights)
    # Rows that do not count may lack a target.
    for what, values, wrong in (
        ("y", y, ~np.isfinite(y) & (weights != 0)),
        ("sample_weight", weights, ~(np.isfinite(weights) & (weights >= 0))),
    ):
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            return y, weights, Fault(what, first_row + row, 0, float(values[row]))
    return y, weights, None


def float64(values: Any) -> FloatArray:
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
