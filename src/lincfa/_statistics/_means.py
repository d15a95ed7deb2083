"""The reduced features: means of groups of columns."""

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..theory._arrays import FloatArray
from ._protocol import IndexArray
from ._speed import in_threads, split_evenly
from ._tiles import row_slices, runs_along_rows, suits_loops

_ROW_VALUES, _COLUMN_VALUES, _COPIED_VALUES = 2**18, 2**22, 2**18
_MOST_COPIES = 8
_SHARE_FOR_SUMS = 64
_MODERATE_OFFSET = 1e3
"""Mean over scale up to which the mean may be subtracted from sums instead of from values."""


def group_means(
    X: npt.NDArray[Any],
    labels: IndexArray,
    n_groups: int,
    *,
    factors: FloatArray | None = None,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
    check: Callable[[], None] | None = None,
    gaps: bool = False,
    dtype: npt.DTypeLike | None = None,
) -> npt.NDArray[Any]:
    """Average the columns of each group, standardised by ``mean`` and ``scale`` if given.

    One pass over X in blocks, in the direction of its memory; sums are in float64, the result has
    the dtype of X by default. Columns with label −1 are left out.

    ``factors`` are the weights of the columns, negative for those whose sign is to be flipped; a
    mean is the sum of factors times columns over the sum of weights. Without them all are 1.

    If a mean is not finite, ``check`` is called, to raise and name the value. With ``gaps`` the
    means that are not finite are then those of the columns present in the row, without NaN; where
    there are none, they are NaN.
    """
    # Columns without a group are added up too, in a last column, so that bad values in them show.
    grouped = labels >= 0
    labels = np.where(grouped, labels, n_groups)
    sizes = np.bincount(labels, minlength=n_groups)
    if factors is None:
        factors = np.ones(labels.size)
    share = np.abs(factors)
    share = share / np.bincount(labels, weights=share)[labels]
    factor = np.copysign(share, factors)
    # Subtracting means costs a step over all values. Where they are moderate, it can be done on
    # the sums instead; that loses no more digits than the values themselves have lost.
    offset: FloatArray | None = None
    rest: npt.NDArray[Any] = np.zeros(sizes.size)
    if mean is not None and scale is not None:
        factor /= scale
        if (np.abs(mean) > _MODERATE_OFFSET * scale)[grouped].any():
            offset = mean
        else:
            rest = np.bincount(labels, weights=mean * factor)
    add_up = _along_rows if runs_along_rows(X) else _along_columns
    if suits_loops(X):
        result = _in_loops(X, labels, sizes.size, offset, factor)
    else:
        result = add_up(X, labels, sizes, offset, factor)
    result -= rest
    if (check is not None or gaps) and not np.isfinite(result).all():
        if check is not None:
            check()
        for rows in row_slices(X.shape[0], X.shape[1], _COLUMN_VALUES) if gaps else ():
            finite = np.isfinite(result[rows])
            if not finite[:, :n_groups].all():
                present = add_up(X[rows], labels, sizes, mean, factor, share)
                np.copyto(result[rows], present, where=~finite)
    with np.errstate(over="ignore"):
        result = result.astype(X.dtype if dtype is None else dtype, copy=False)
    return result[:, :n_groups]


def partial_sums(
    X: npt.NDArray[Any],
    labels: IndexArray,
    n_groups: int,
    factors: FloatArray,
    *,
    gaps: bool = False,
    **options: Any,
) -> FloatArray:
    """Return what some of the columns add to the sums of groups, and to the weights present.

    Of shape (1, n, n_groups), or (2, n, n_groups) with ``gaps``: the weights are the second. What
    several sets of columns add up to has to be divided by the weights of the groups.
    """
    result = np.zeros((1 + gaps, X.shape[0], n_groups))
    if not X.shape[0]:
        return result
    # Some of the columns may lack groups.
    own, place = np.unique(labels[labels >= 0], return_inverse=True)
    labels = labels.copy()
    labels[labels >= 0] = place
    weights = np.abs(factors)
    averaged = partial(
        group_means, X, labels, own.size, factors=factors, dtype=np.float64, **options
    )
    means, present = averaged(), np.bincount(place, weights[labels >= 0], own.size)
    if gaps and np.isnan(means).any():
        shares = group_means(~np.isnan(X), labels, own.size, factors=weights, dtype=np.float64)
        means = np.where(shares > 0, averaged(gaps=True), 0.0)
        present = shares * present
    result[0][:, own] = means * present
    result[1:, :, own] = present
    return result


def divided(sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Divide such sums by the weights of the groups, or by those present where they are given."""
    with np.errstate(invalid="ignore"):
        return np.asarray(sums[0] / (sums[1] if len(sums) > 1 else weights))


def centers_of_means(
    mean: FloatArray, labels: IndexArray, factors: FloatArray, n_groups: int
) -> FloatArray:
    """Mean of each group where its features are at their own means."""
    grouped = labels >= 0
    own, weights = labels[grouped], factors[grouped]
    sums = np.bincount(own, weights * mean[grouped], n_groups)
    return np.asarray(sums / np.bincount(own, np.abs(weights), n_groups))


def spread_means(
    reduced: npt.NDArray[Any],
    labels: IndexArray,
    mean: FloatArray,
    scale: FloatArray,
    center: FloatArray,
) -> npt.NDArray[Any]:
    """Each feature's mean, plus its scale times its group's deviation from the center."""
    grouped = np.flatnonzero(labels >= 0)
    result = np.empty((reduced.shape[0], labels.size), dtype=reduced.dtype)
    with np.errstate(over="ignore"):  # infinity is for the caller to find
        result[:] = mean
        deviations = (reduced - center)[:, labels[grouped]]
        result[:, grouped] = mean[grouped] + scale[grouped] * deviations
    return result


def group_variances(
    X: npt.NDArray[Any],
    labels: IndexArray,
    n_groups: int,
    mean: FloatArray,
    scale: FloatArray,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Variance (n − 1) of the sum of the columns of each group, less ``mean`` and over ``scale``.

    One pass over X; the sums of all groups are kept for some rows at a time, or those of some
    groups for all rows, so that they need little memory.
    """
    n = X.shape[0]
    counts = np.ones(n) if weights is None else weights
    sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
    total = np.zeros(n_groups)
    room = max(_ROW_VALUES, X.size // _SHARE_FOR_SUMS)
    by_rows = runs_along_rows(X)
    step = n_groups if by_rows else max(1, room // n)
    for first in range(0, n_groups, step):
        groups = slice(first, min(first + step, n_groups))
        width = groups.stop - first
        own = (labels >= first) & (labels < groups.stop)
        for rows in row_slices(n, width, room) if by_rows else [slice(None)]:
            means = group_means(
                X[rows],
                np.where(own, labels - first, -1),
                width,
                mean=mean,
                scale=scale,
                dtype=np.float64,
            )
            total[groups] += np.einsum("i,ij,ij->j", counts[rows], means, means)
    return np.asarray(total * sizes**2 / (counts.sum() - 1))


def _in_loops(
    X: npt.NDArray[Any],
    labels: IndexArray,
    n_groups: int,
    offset: FloatArray | None,
    factor: FloatArray,
) -> FloatArray:
    """Add the columns up in compiled loops; see the next two for the same in NumPy and SciPy."""
    from . import _loops

    n, width = X.shape
    zero = np.zeros(width) if offset is None else offset
    by_rows = runs_along_rows(X)
    total = np.zeros((n, n_groups) if by_rows else (n_groups, n))

    def add_up(rows: slice) -> None:
        some = labels, zero, factor, rows.start, rows.stop, total
        if by_rows:
            _loops.add_groups_along_rows(X, *some)
        else:
            _loops.add_groups_along_columns(X.T, *some)

    in_threads(add_up, split_evenly(np.ones(n), X.size))
    return total if by_rows else total.T


def _along_rows(
    X: npt.NDArray[Any],
    labels: IndexArray,
    sizes: IndexArray,
    offset: FloatArray | None,
    factor: FloatArray,
    share: FloatArray | None = None,
) -> FloatArray:
    """Read row after row, adding each value to the sum of its group.

    Given shares, NaN is left out, and sums are divided by the sum of the shares of the others.
    """
    # A row is given to SciPy as a sparse matrix whose column indices are the labels, to be made
    # dense: entries at the same place add up. Every group has several sums for columns in turn, or
    # each addition would have to wait for the one before.
    n, width = X.shape
    copies = min(_MOST_COPIES, max(1, width // (2 * sizes.size)))
    length = min(n, max(1, _ROW_VALUES // width))
    places = (labels * copies + np.arange(width) % copies).astype(np.int32)
    places = np.tile(places, length)
    pointers = np.arange(length + 1, dtype=np.int32) * np.int32(width)
    result = np.empty((n, sizes.size))

    def add_up(part: slice) -> None:
        values = np.zeros((length, width))
        shape = (length, sizes.size * copies)
        matrix = sparse.csr_array((values.ravel(), places, pointers), shape=shape)
        sums = np.empty(shape)
        by_group = sums.reshape(length, sizes.size, copies)
        for top in range(part.start, part.stop, length):
            rows = slice(top, min(top + length, part.stop))
            filled = values[: rows.stop - top]
            if offset is None:
                np.multiply(X[rows], factor, out=filled)
            else:
                np.subtract(X[rows], offset, out=filled)
                filled *= factor
            if share is not None:
                missing = np.isnan(filled)
                np.copyto(filled, 0.0, where=missing)
            matrix.toarray(out=sums)
            result[rows] = by_group[: rows.stop - top].sum(axis=2)
            if share is not None:
                np.multiply(~missing, share, out=filled)
                matrix.toarray(out=sums)
                result[rows] /= by_group[: rows.stop - top].sum(axis=2)

    in_threads(add_up, split_evenly(np.ones(n), X.size))
    return result


def _along_columns(
    X: npt.NDArray[Any],
    labels: IndexArray,
    sizes: IndexArray,
    offset: FloatArray | None,
    factor: FloatArray,
    share: FloatArray | None = None,
) -> FloatArray:
    """Read column after column, adding each to the sum of its group; see ``_along_rows``."""
    n, width = X.shape
    in_place = offset is None and X.dtype == np.float64 and X.T.flags.c_contiguous
    step = max(1, (_COLUMN_VALUES if in_place else _COPIED_VALUES) // max(1, n))
    total = np.zeros((sizes.size, n))
    present = None if share is None else np.zeros_like(total)
    # Each thread adds up its own columns, if it may have sums of its own, else its own groups,
    # which may be of very different sizes.
    by_columns = share is None and sizes.size * _SHARE_FOR_SUMS <= width
    lock = Lock()

    def add_up(part: slice) -> None:
        columns_read = part if by_columns else slice(0, width)
        sums = np.zeros_like(total) if by_columns else total
        for left in range(columns_read.start, columns_read.stop, step):
            block = slice(left, min(left + step, columns_read.stop))
            own = np.arange(block.stop - left)
            if not by_columns:
                own = own[(labels[block] >= part.start) & (labels[block] < part.stop)]
            if own.size == 0:
                continue
            groups, group = np.unique(labels[block][own], return_inverse=True)
            columns = X.T[block]
            if offset is not None:
                columns = columns - offset[block, None]
            columns = np.ascontiguousarray(columns, dtype=np.float64)
            shape = (groups.size, columns.shape[0])
            if share is not None and present is not None:
                missing = np.isnan(columns)
                columns = np.where(missing, 0.0, columns)
                weights = sparse.csc_array((share[block][own], (group, own)), shape)
                present[groups] += weights @ (~missing).astype(np.float64)
            # Column after column, as they lie in memory.
            weights = sparse.csc_array((factor[block][own], (group, own)), shape)
            sums[groups] += weights @ columns
        if by_columns:
            with lock:
                np.add(total, sums, out=total)

    in_threads(add_up, split_evenly(np.ones(width) if by_columns else sizes, X.size))
    if present is not None:
        with np.errstate(invalid="ignore"):
            total /= present
    return total.T
