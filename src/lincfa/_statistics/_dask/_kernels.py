"""What a task computes from one chunk: moments of its rows, products and sums of its columns."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ...theory._arrays import FloatArray
from .. import IndexArray, Moments
from .._gaps import (
    n_prepared,
    n_sums,
    pair_products,
    present_sums,
    seeds_for_sums,
    shared_sums,
)
from .._means import partial_sums
from .._tiles import column_squares, row_slices, take_columns, tiles

Chunk: TypeAlias = npt.NDArray[Any]

Columns: TypeAlias = tuple[IndexArray, FloatArray, FloatArray]
"""Columns of a chunk, with the mean and the scale of each."""

Labelled: TypeAlias = tuple[IndexArray, FloatArray, FloatArray, FloatArray]
"""The group of each column of a chunk, its factor in the sum, its mean and its scale."""

Standards: TypeAlias = tuple[FloatArray, FloatArray]
"""Means and scales of the targets."""

_SOME_VALUES = 2**20
"""Values that are converted, or multiplied, together: 8 MiB."""

_WIDTH = 4096

_SMALLEST = float(np.finfo(np.float64).tiny)
"""To divide by where there are no samples."""

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


# The same values in every pass


Fingerprint: TypeAlias = tuple[float, float]
"""Two sums over a chunk: of the scales of its columns, and of the values in these scales."""

_ROUNDING = 16
"""Units in the last place by which values may differ between passes."""

_LEAST_ROUNDING = 1e-10
"""The same for exact types and float64, relative: more than the errors of the sums."""

_LARGEST = 1e150
"""Above this a sum of squares may overflow."""

_SOME_ROWS = 16
"""Rows, evenly spaced, by which the scales of columns are known well enough to compare by."""

_ROWS_TOGETHER = {"f": 2**6, "d": 2**10}
"""Rows of float32 and of float64 that are added up in their own precision."""


@_quiet
def fingerprint(chunk: Any) -> Fingerprint:
    """Return sums by which a chunk is known again, in about the time that it takes to read it.

    Random factors tell places from each other. Columns are divided by their scales, so that no unit
    hides what changes in another. Rounding, by other processors say, changes the sums by about as
    many units in the last place as the values.
    """
    X = float64(chunk) if isinstance(chunk, np.ma.MaskedArray) else chunk
    X = X.reshape(len(X), -1 if X.size else 0)
    n, size = X.shape
    some = X[:: -(-n // _SOME_ROWS) or 1].astype(np.float64)
    sums = _weighted_sums(X)
    # Values may be missing, or of rows that do not count, and then as large as they like.
    if not (np.abs(some) < _LARGEST).all() or not (np.abs(sums) < _LARGEST).all():
        sums, some = _weighted_sums(X, finite=True), _without_large(some)
    scale = np.hypot(np.sqrt(column_squares(some) / max(len(some), 1)), sums)
    scale[scale == 0] = 1.0
    of_columns = _directions(size, 1)
    return float(of_columns @ np.log(scale)), float(of_columns @ (sums / scale))


def _weighted_sums(X: Any, *, finite: bool = False) -> FloatArray:
    """Sum of each column with random factors; ``finite`` without what might overflow."""
    kind = X.dtype if X.dtype in (np.float64, np.float32) and not finite else np.float64
    factors, total = _directions(len(X), 0).astype(kind), np.zeros(X.shape[1])
    for rows in row_slices(len(X), 1, _ROWS_TOGETHER[factors.dtype.char]):
        part = X[rows].astype(kind, copy=False)
        total += factors[rows] @ (_without_large(part) if finite else part)
    return total


def _without_large(values: FloatArray) -> FloatArray:
    return np.where(np.abs(values) < _LARGEST, values, 0.0)


@lru_cache(maxsize=8)
def _directions(size: int, seed: int) -> FloatArray:
    """Random factors whose squares add up to about one, none of them near 0; always the same."""
    rng = np.random.default_rng(seed)
    return np.asarray(
        rng.choice([-1, 1], size) * rng.uniform(0.5, 1.5, size) / np.sqrt(max(size, 1))
    )


def same_again(chunk: Any, known: Fingerprint, name: str) -> Any:
    """Return a chunk unchanged, if it has the values that it had before."""
    kind = np.result_type(chunk)
    unit = float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
    if not np.allclose(fingerprint(chunk), known, 0, max(_LEAST_ROUNDING, _ROUNDING * unit)):
        raise ValueError(
            f"{name} gave other values when it was computed again, and a fit computes its data "
            "several times: persist() or store what is computed at random or may change meanwhile."
        )
    return chunk


# Moments


@dataclass(frozen=True)
class Fault:
    """The first invalid value of some rows, of ``what``: "y", "sample_weight" or "X"."""

    what: str
    row: int
    column: int
    value: float


def first_fault(faults: Sequence[Fault | None]) -> Fault | None:
    """The one to report: of the targets before the weights before X, then the first row."""
    order = ("y", "sample_weight", "X")
    found = [fault for fault in faults if fault is not None]
    return min(found, key=lambda f: (order.index(f.what), f.row, f.column), default=None)


class ColumnMoments:
    """Moments of single columns, the targets last, and their comoments with the targets.

    Where values are missing, each column has a number of samples of its own, and its own mean and
    squares of each target on these samples; elsewhere these three are the same for all columns.
    """

    def __init__(self, n_features: int, n_targets: int) -> None:
        size = n_features + n_targets
        self.count: FloatArray | float = 0.0
        # Means come with what rounding takes from them: where they are much larger than scales,
        # squares and products would be off by as much.
        self.target, self.target_rest, self.target_square = np.zeros((3, n_targets, 1))
        self.mean, self.rest, self.square = np.zeros((3, size))
        self.product = np.zeros((n_targets, size))  # that of targets with each other is left out
        self.low, self.high = np.full(size, np.inf), np.full(size, -np.inf)

    @property
    def gaps(self) -> bool:
        """Whether values are missing."""
        return np.ndim(self.count) > 0

    def merge(self, other: "ColumnMoments") -> None:
        """Add the rows of other moments."""
        total = np.maximum(self.count + other.count, _SMALLEST)
        share, empty = other.count / total, np.equal(self.count, 0)
        distance, self.mean, self.rest = _moved(
            (self.mean, self.rest), (other.mean, other.rest), share, empty
        )
        of_target, self.target, self.target_rest = _moved(
            (self.target, self.target_rest), (other.target, other.target_rest), share, empty
        )
        between = self.count * other.count / total
        self.square = self.square + other.square + between * distance * distance
        self.product = self.product + other.product + between * distance * of_target
        self.target_square = (
            self.target_square + other.target_square + between * of_target * of_target
        )
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)
        self.count = self.count + other.count


def _moved(
    mean: tuple[FloatArray, FloatArray],
    other: tuple[FloatArray, FloatArray],
    share: Any,
    empty: Any,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How far apart two means are, and the mean, with its rest, a share of the way to the other."""
    distance = (other[0] - mean[0]) + (other[1] - mean[1])
    step = distance * share + mean[1]
    moved = mean[0] + step
    rest = step - (moved - mean[0])
    return distance, np.where(empty, other[0], moved), np.where(empty, other[1], rest)


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
            if part.shape != total.shape:
                raise ValueError(
                    f"Chunks beside each other came with {total.shape[-2]} and {part.shape[-2]} "
                    "rows: correct the function that makes them."
                )
            total += part
        return total
    moments = deepcopy(parts[0].moments)
    for part in parts[1:]:
        moments.merge(part.moments)
    return Checked(moments, first_fault([part.fault for part in parts]))


@_quiet
def column_moments(
    chunk: Chunk, y: Any, weights: Any, top: int, left: int, gaps: bool = False
) -> Checked:
    """Moments of the columns of a chunk whose first row and column are given."""
    X, y, weights, numbers, fault = _rows_that_count(chunk, y, weights, top)
    size, n_targets = X.shape[1], y.shape[1]
    result = ColumnMoments(size, n_targets)
    if fault is not None or not y.size:
        return Checked(result, fault)
    count = result.count = float(weights.sum())
    near = weights @ y / count
    centred = y - near
    correction = weights @ centred / count
    centred, center = centred - correction, near + correction
    weighted = weights * centred.T
    # As a shift: what these means are off is corrected by the sums that follow.
    shift = np.zeros(size)
    for rows in row_slices(len(y), size, _SOME_VALUES):
        shift += weights[rows] @ X[rows].astype(np.float64, copy=False)
    shift /= count
    sums = np.zeros(size + n_targets)
    low, high, square, product = result.low, result.high, result.square, result.product
    for rows, columns, tile in tiles(X):
        values = X[rows, columns]
        low[columns] = np.minimum(low[columns], values.min(axis=0))
        high[columns] = np.maximum(high[columns], values.max(axis=0))
        np.subtract(values, shift[columns], out=tile)
        sums[columns] += weights[rows] @ tile
        product[:, columns] += weighted[:, rows] @ tile
        tile *= np.sqrt(weights[rows])[:, None]
        square[columns] += column_squares(tile)
    offset = sums / count
    square -= sums * offset
    square[size:] = (weighted * centred.T).sum(axis=1)
    low[size:], high[size:] = y.min(axis=0), y.max(axis=0)
    shift, offset[size:] = np.append(shift, near), correction
    result.mean = shift + offset
    result.rest = offset - (result.mean - shift)
    result.target, result.target_rest = center[:, None], result.rest[size:, None]
    result.target_square = square[size:, None]
    fault = _not_finite(X, low, high, numbers, left)
    if fault is not None and gaps:
        _keep_present(result, X, centred, weights)
        return Checked(result, _not_finite(X, result.low, result.high, numbers, left, gaps))
    return Checked(result, fault)


def _keep_present(moments: ColumnMoments, X: Chunk, y: FloatArray, weights: FloatArray) -> None:
    """Replace moments of columns by those of the values that are not missing.

    ``y`` are the targets less their means.
    """
    n, size = X.shape
    counts = np.full(moments.mean.size, moments.count)
    means, rests, squares = moments.mean.copy(), moments.rest.copy(), moments.square.copy()
    means[:size] = 0.0
    products, targets, target_squares = np.zeros((3, *moments.product.shape))
    low, high = moments.low, moments.high
    step = max(1, _SOME_VALUES // n)
    for start in range(0, size, step):
        part = slice(start, min(start + step, size))
        values = X[:, part].astype(np.float64)
        low[part], high[part] = np.fmin.reduce(values), np.fmax.reduce(values)
        there = ~np.isnan(values)
        own = there * weights[:, None]
        total = own.sum(axis=0)
        known = np.maximum(total, _SMALLEST)
        counts[part] = total
        # The mean is corrected by the mean of what it leaves.
        values[~there] = 0.0
        for _ in range(2):
            mean, before = np.einsum("ij,ij->j", own, values) / known, means[part].copy()
            means[part] += mean
            rests[part] = mean - (means[part] - before)
            values -= mean
            values[~there] = 0.0
        targets[:, part] = y.T @ own / known
        squares[part] = np.einsum("ij,ij,ij->j", own, values, values)
        products[:, part] = y.T @ (own * values)
        off = targets[:, part] ** 2 * total
        target_squares[:, part] = np.maximum((y**2).T @ own - off, 0.0)
    moved = moments.target + targets
    moments.target_rest = targets - (moved - moments.target) + moments.target_rest
    moments.count, moments.mean, moments.rest = counts, means, rests
    moments.square, moments.product = squares, products
    moments.target, moments.target_square = moved, target_squares
    # Columns without values have no range.
    low[counts == 0], high[counts == 0] = np.inf, -np.inf


@_quiet
def all_moments(
    chunks: Sequence[Chunk], y: Any, weights: Any, top: int, precision: FloatArray
) -> Any:
    """Comoments of all columns of the chunks that lie side by side."""
    chunk = side_by_side(chunks)
    X, y, weights, numbers, fault = _rows_that_count(chunk, y, weights, top)
    moments = Moments(precision, y.shape[1])
    if fault is None and y.size:
        moments.low = np.append(X.min(axis=0), y.min(axis=0))
        moments.high = np.append(X.max(axis=0), y.max(axis=0))
        fault = _not_finite(X, moments.low, moments.high, numbers, 0)
        if fault is None:
            moments.add(X, y, weights)
    return Checked(moments, fault)


def _rows_that_count(
    chunk: Chunk, y: Any, weights: Any, top: int
) -> tuple[Chunk, FloatArray, FloatArray, IndexArray, Fault | None]:
    """Rows with a weight: values, targets and weights as float64, row numbers; or a fault."""
    y = float64(y)
    weights = np.ones(len(y)) if weights is None else float64(weights)
    numbers = top + np.arange(len(y))
    fault = None
    # Rows that do not count may lack a target.
    each = weights[:, None]
    for what, values, wrong in (
        ("sample_weight", each, ~(np.isfinite(each) & (each >= 0))),
        ("y", y, ~np.isfinite(y) & (each != 0)),
    ):
        if wrong.any():
            row, column = np.argwhere(wrong)[0].tolist()
            fault = Fault(what, top + row, column, float(values[row, column]))
    rows, _ = _counted(weights)
    return chunk[rows], y[rows], weights[rows], numbers[rows], fault


def _not_finite(
    X: Chunk,
    low: FloatArray,
    high: FloatArray,
    numbers: IndexArray,
    left: int,
    gaps: bool = False,
) -> Fault | None:
    """The first value of the rows that is not finite; the ranges of the columns show if any is.

    With ``gaps`` NaN is no fault.
    """
    if (np.isfinite(low) & np.isfinite(high)).all():
        return None
    wrong = np.isinf(X) if gaps else ~np.isfinite(X)
    if not wrong.any():
        return None
    row = int(np.flatnonzero(wrong.any(axis=1))[0])
    column = int(np.flatnonzero(wrong[row])[0])
    return Fault("X", int(numbers[row]), left + column, float(X[row, column]))


# Products and sums of columns


def side_by_side(pieces: Sequence[Any]) -> Any:
    """What chunks beside each other give together."""
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces, axis=-1)


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
    chunk: Chunk, spec: Labelled, option: tuple[int, bool], weights: Any = None
) -> FloatArray:
    """Sums of the standardised columns of each group, of the rows with a weight.

    ``option`` is the number of groups, and whether values are missing: then all that
    :func:`present_sums` returns.
    """
    labels, factors, mean, scale = spec
    n_groups, gaps = option
    chunk = chunk[_counted(weights)[0]]
    if not gaps:
        return partial_sums(chunk, labels, n_groups, factors, mean=mean, scale=scale)
    result = np.empty((4, chunk.shape[0], n_groups))
    grouped = np.flatnonzero(labels >= 0)
    for rows in row_slices(chunk.shape[0], grouped.size, _SOME_VALUES):
        values = take_columns(chunk, rows, grouped, mean)
        values /= scale[grouped]
        result[:, rows] = present_sums(values, labels[grouped], n_groups, factors[grouped])
    return result


def many_sums(
    chunk: Chunk, groupings: Sequence[tuple[IndexArray, FloatArray, int]], options: dict[str, Any]
) -> FloatArray:
    """Sums of groups as of :func:`partial_sums`, of several groupings side by side."""
    return np.concatenate(
        [partial_sums(chunk, labels, n, factors, **options) for labels, factors, n in groupings],
        axis=-1,
    )


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


def shared_products(
    left: FloatArray | Columns,
    chunk: Chunk,
    spec: Columns,
    weights: Any,
    y: Any,
    standards: Standards,
) -> FloatArray:
    """Sums over shared samples, of pairs of some columns with standardised columns of the chunk."""
    counted, _ = _counted(weights)
    chunk, beside = chunk[counted], _with_weights(y, weights, standards)
    columns, mean, scale = spec
    count = left[0].size if isinstance(left, tuple) else left.shape[1]
    n_targets = standards[0].size
    result = np.zeros((n_sums(n_targets), count, columns.size))
    width = max(n_prepared(n_targets) * count, min(_WIDTH, columns.size))
    for rows in row_slices(chunk.shape[0], width, _SOME_VALUES):
        some = standardized(chunk[rows], left, False) if isinstance(left, tuple) else left[rows]
        seeds = seeds_for_sums(some, beside[rows])
        for start in range(0, columns.size, _WIDTH):
            part = slice(start, start + _WIDTH)
            values = standardized(chunk[rows], (columns[part], mean[part], scale[part]), False)
            result[..., part] += shared_sums(seeds, values, n_targets)
    return result


def _with_weights(y: Any, weights: Any, standards: Standards) -> FloatArray:
    """Standardised targets and weights of the rows that count, side by side."""
    rows, counts = _counted(weights)
    mean, scale = standards
    y = (float64(y)[rows] - mean) / scale
    return np.column_stack([y, np.ones(len(y)) if counts is None else counts])


def products_within(
    chunks: Sequence[Chunk],
    spec: Columns | None,
    groups: Sequence[IndexArray],
    weights: Any,
    y: Any = None,
    standards: Standards | None = None,
) -> FloatArray:
    """Sums of products of the columns of each group with each other, one matrix after the other.

    With means and scales of the targets they are the sums over shared samples.
    """
    # ``groups`` are places in the columns of the specification; without one, the chunks hold
    # standardised columns already, of the rows that count.
    counted, counts = _counted(weights)
    n_targets = 0 if standards is None else standards[0].size
    beside = None if standards is None else _with_weights(y, weights, standards)
    kinds = () if standards is None else (n_sums(n_targets),)
    matrices = [np.zeros((*kinds, group.size, group.size)) for group in groups]
    chunks = chunks if spec is None else [chunks[0][counted]]
    width = sum(group.size for group in groups)
    for rows in row_slices(len(chunks[0]), width, _SOME_VALUES):
        some = [chunk[rows] for chunk in chunks]
        columns = side_by_side(some) if spec is None else standardized(some[0], spec, summed=False)
        if beside is None and counts is not None:
            columns = columns * np.sqrt(counts[rows])[:, None]
        for group, matrix in zip(groups, matrices, strict=True):
            members = columns[:, group]
            if beside is None:
                matrix += members.T @ members
            else:
                seeds = seeds_for_sums(members, beside[rows])
                matrix += shared_sums(seeds, members, n_targets)
    return np.concatenate([matrix.ravel() for matrix in matrices])


def squares_of_sums(
    chunks: Sequence[Chunk], spec: Labelled | None, option: tuple[int, bool], weights: Any
) -> FloatArray:
    """Sum of the squares of each group's sum, or of the products of different members."""
    # Without a specification the only chunk holds the sums already, of the rows that count.
    counted, weights = _counted(weights)
    chunk = chunks[0] if spec is None else chunks[0][counted]
    n_groups, gaps = option
    result = np.zeros((1 + gaps, n_groups))
    n, width = chunk.shape[-2:]
    for rows in row_slices(n, max(n_groups, width), _SOME_VALUES):
        total = chunk[:, rows] if spec is None else group_sums(chunk[rows], spec, option)
        counts = np.ones(total.shape[1]) if weights is None else weights[rows]
        if gaps:
            result += pair_products(total, counts)
        else:
            result += np.einsum("i,kij,kij->kj", counts, total, total)
    return result
