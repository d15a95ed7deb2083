"""Tiles of a matrix: small enough for the cache, long in the direction in which memory runs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg.blas import dsyrk

from ..theory._arrays import FloatArray
from ._speed import worth_compiling

TILE_VALUES = 2**18
"""Values in a tile: 2 MiB of float64, so that several steps on it stay in the cache."""

_ROW_WIDTH = 2**13
_COLUMN_LENGTH = 2**15
_FEW_FACTORS = 4


def runs_along_rows(X: npt.NDArray[Any]) -> bool:
    """Whether neighbours in a row are nearer in memory than neighbours in a column."""
    return abs(X.strides[1]) <= abs(X.strides[0])


def suits_loops(X: npt.NDArray[Any]) -> bool:
    """Whether compiled loops are worth it for a matrix, which is to be contiguous for them."""
    contiguous = X.flags.c_contiguous or X.flags.f_contiguous
    return contiguous and X.dtype in (np.float64, np.float32) and worth_compiling(X.size)


def tiles(
    X: npt.NDArray[Any], part: slice | None = None
) -> Iterator[tuple[slice, slice, FloatArray]]:
    """Cut a matrix into tiles: their rows, their columns, and a place to compute a tile in.

    ``part`` are the columns to cut, by default all.
    """
    # The place is the same memory for all tiles, in the order of X and for float64.
    start, stop = (0, X.shape[1]) if part is None else (part.start, part.stop)
    n, D = X.shape[0], stop - start
    if runs_along_rows(X):
        width = min(D, _ROW_WIDTH)
        length = min(n, max(1, TILE_VALUES // width))
        place = np.empty((length, width))
    else:
        length = min(n, _COLUMN_LENGTH)
        width = min(D, max(1, TILE_VALUES // length))
        place = np.empty((length, width), order="F")
    for left in range(start, stop, width):
        for top in range(0, n, length):
            rows, columns = slice(top, min(top + length, n)), slice(left, min(left + width, stop))
            yield rows, columns, place[: rows.stop - top, : columns.stop - left]


def row_slices(n: int, width: int, values: int = TILE_VALUES) -> Iterator[slice]:
    """Cut n rows into slices that hold about ``values`` values at the given width."""
    length = max(1, values // max(1, width))
    for top in range(0, n, length):
        yield slice(top, min(top + length, n))


def take_columns(
    X: npt.NDArray[Any], rows: slice, columns: npt.NDArray[np.intp], shift: FloatArray | None = None
) -> FloatArray:
    """Copy some columns of some rows as float64, less a shift of each column if given."""
    # The other columns are not copied on the way.
    shift = np.zeros(columns.size) if shift is None else shift[columns]
    span = columns.size and columns[-1] - columns[0] + 1
    if columns.size == span > 0 and (np.diff(columns) == 1).all():  # much faster than one by one
        near = X[rows, columns[0] : columns[-1] + 1]
        return np.asarray(np.subtract(near, shift, dtype=np.float64))
    values = X[rows][:, columns] if runs_along_rows(X) else X.T[:, rows][columns].T
    values = np.asarray(values, dtype=np.float64)
    values -= shift
    return values


def add_products(factors: FloatArray, tile: FloatArray, total: FloatArray) -> None:
    """Add ``factors @ tile``, where the factors are few rows."""
    if len(factors) > _FEW_FACTORS:
        total += factors @ tile
        return
    # One by one: the product of matrices would copy the tile first.
    for factor, sums in zip(factors, total, strict=True):
        sums += factor @ tile


def column_squares(tile: FloatArray) -> FloatArray:
    """Sum of squares of each column, by the faster way for the memory order."""
    if tile.flags.c_contiguous:
        return np.asarray(np.einsum("ij,ij->j", tile, tile))
    return np.asarray(np.matmul(tile.T[:, None, :], tile.T[:, :, None])[:, 0, 0])


def add_symmetric(total: FloatArray, rows: FloatArray) -> None:
    """Add ``rows.T @ rows`` to the lower triangle of a column-major matrix, without a temporary."""
    if rows.flags.c_contiguous:
        updated = dsyrk(1.0, rows.T, beta=1.0, c=total, lower=1, overwrite_c=1)
    else:
        columns = np.asfortranarray(rows)
        updated = dsyrk(1.0, columns, beta=1.0, c=total, trans=1, lower=1, overwrite_c=1)
    if updated is not total and not np.shares_memory(updated, total):
        raise AssertionError("the matrix to update must be column-major float64")
