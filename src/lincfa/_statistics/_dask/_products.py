"""Sums of products of columns of a chunk, and sums of its columns by groups."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ...theory._arrays import FloatArray
from .. import IndexArray
from .._means import group_means
from .._tiles import row_slices, take_columns
from ._moments import Chunk, float64

Columns: TypeAlias = tuple[IndexArray, FloatArray, FloatArray]
"""Columns of a chunk, with the mean and the scale of each."""

Labelled: TypeAlias = tuple[IndexArray, FloatArray | None, FloatArray | None]
"""The group of each column of a chunk, with the mean and the scale of each if it has to be
standardised."""

_SOME_VALUES = 2**20
"""Values that are converted, or multiplied, together: 8 MiB."""

_WIDTH = 4096


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


def side_by_side(pieces: Sequence[FloatArray]) -> FloatArray:
    """What chunks beside each other give together."""
    return pieces[0] if len(pieces) == 1 else np.hstack(pieces)


def products(
    left: FloatArray | Columns,
    summed: bool,
    chunk: Chunk,
    spec: Columns,
    weights: FloatArray | None,
) -> FloatArray:
    """Sums of products of some columns, or of their sum, with standardised columns of the chunk.

    The former are columns of the chunk too; or they are given standardised, of the rows that count.
    """
    chunk, weights = _with_weight(chunk, weights)
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
        columns = side_by_side(parts)
        if weights is not None:
            columns = columns * np.sqrt(weights[rows])[:, None]
        for group, matrix in zip(groups, matrices, strict=True):
            members = columns[:, group]
            matrix += members.T @ members
    return np.concatenate([matrix.ravel() for matrix in matrices])


def group_sums(
    chunk: Chunk, spec: Labelled, n_groups: int, check: Callable[[], None] | None = None
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
            check=check,
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


def _with_weight(chunk: Chunk, weights: Any) -> tuple[Chunk, FloatArray | None]:
    """Rows with a weight, and their weights."""
    if weights is None:
        return chunk, None
    weights = float64(weights)
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
    return counted, None if weights is None else _with_weight(float64(weights), weights)[1]
