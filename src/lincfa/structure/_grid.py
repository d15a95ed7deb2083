"""Neighbours by position: cells of a grid, features in a row."""

from collections.abc import Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ._checks import Connectivity, checked_circles, checked_count, checked_mask, checked_shape

Integers: TypeAlias = npt.NDArray[np.signedinteger[Any]]


def grid_connectivity(
    shape: int | Sequence[int],
    *,
    neighbors: int = 4,
    mask: npt.ArrayLike | None = None,
    wrap: bool | Sequence[bool] = False,
) -> Connectivity:
    """Neighbouring cells of a regular grid of any number of dimensions.

    Parameters
    ----------
    shape : int or sequence of int
        Cells along each axis. Cells are numbered in C order: the last axis runs fastest.
    neighbors : {4, 8}, default=4
        4: cells that share a side. 8: also cells that touch at a corner. The numbers are those of
        two dimensions. In one dimension both mean the two cells beside; in three dimensions 4 means
        the 6 cells across a face and 8 all 26 around; in n dimensions, 2 n and 3ⁿ − 1.
    mask : array of bool of this shape, default=None
        True for cells that take part, such as land. The matrix then has a row for each of these,
        in order. Cells hidden in a masked array take no part. None: all cells.
    wrap : bool or one bool for each axis, default=False
        Whether an axis is a circle, whose last cell is a neighbour of its first. True: the last
        axis alone, as the longitudes of a global grid.

    Returns
    -------
    scipy.sparse.csr_array of bool
        Symmetric, True for neighbours, no cell being its own. Cells without neighbours have empty
        rows.

    Examples
    --------
    >>> grid_connectivity((2, 3)).astype(int).toarray()
    array([[0, 1, 0, 1, 0, 0],
           [1, 0, 1, 0, 1, 0],
           [0, 1, 0, 0, 0, 1],
           [1, 0, 0, 0, 1, 0],
           [0, 1, 0, 1, 0, 1],
           [0, 0, 1, 0, 1, 0]])

    On a globe, with longitude as the last axis, and without the cells of the sea:

    >>> land = np.array([[True, False, True], [True, True, False]])
    >>> grid_connectivity((2, 3), mask=land, wrap=True).astype(int).toarray()
    array([[0, 1, 1, 0],
           [1, 0, 0, 0],
           [1, 0, 0, 1],
           [0, 0, 1, 0]])
    """
    shape = checked_shape(shape)
    circles = checked_circles(wrap, len(shape))
    if neighbors not in (4, 8):
        raise ValueError(
            f"neighbors must be 4 (cells that share a side) or 8 (corners too), in any number of "
            f"dimensions, got {neighbors!r}"
        )
    taken = checked_mask(mask, shape)
    numbers: Integers = np.full(shape, -1, dtype=_index_type(taken.size))
    numbers[taken] = np.arange(np.count_nonzero(taken))
    around = _with_border(numbers, circles)
    steps = [
        step
        for step in product((-1, 0, 1), repeat=len(shape))
        if any(step) and (neighbors == 8 or np.count_nonzero(step) == 1)
    ]
    found = np.empty((np.count_nonzero(taken), len(steps)), dtype=numbers.dtype)
    for column, step in enumerate(steps):
        window = zip(step, shape, strict=True)
        found[:, column] = around[tuple(slice(1 + s, 1 + s + n) for s, n in window)][taken]
    found.sort(axis=1)  # beyond the edge of a circle the numbers start anew
    return _from_rows(found)


def chain_connectivity(n: int, *, reach: int = 1) -> Connectivity:
    """Neighbours among features in a row, such as wavelengths of a spectrum or lags of time.

    Parameters
    ----------
    n : int
        Number of features.
    reach : int, default=1
        Features up to so many places away are neighbours.

    Returns
    -------
    scipy.sparse.csr_array of bool
        Symmetric, True for neighbours, no feature being its own.

    Examples
    --------
    >>> chain_connectivity(4).astype(int).toarray()
    array([[0, 1, 0, 0],
           [1, 0, 1, 0],
           [0, 1, 0, 1],
           [0, 0, 1, 0]])
    >>> chain_connectivity(4, reach=2).astype(int).toarray()
    array([[0, 1, 1, 0],
           [1, 0, 1, 1],
           [1, 1, 0, 1],
           [0, 1, 1, 0]])
    """
    n = checked_count("n", n)
    reach = min(checked_count("reach", reach), n - 1)
    steps = np.delete(np.arange(-reach, reach + 1), reach)
    found = np.arange(n)[:, None] + steps
    found[found >= n] = -1
    return _from_rows(found)


def _index_type(size: int) -> np.dtype[np.signedinteger[Any]]:
    """Give the smaller type of indices as long as it can count the cells, as SciPy does."""
    return np.dtype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)


def _with_border(numbers: Integers, circles: Sequence[bool]) -> Integers:
    """Put a cell before and after each axis: −1, or the other end of a circle."""
    for axis, circle in enumerate(circles):
        width = [(int(axis == other),) * 2 for other in range(numbers.ndim)]
        # In a circle of one or two cells all are neighbours already, once and not twice.
        if circle and numbers.shape[axis] > 2:
            numbers = np.pad(numbers, width, mode="wrap")
        else:
            numbers = np.pad(numbers, width, constant_values=-1)
    return numbers


def _from_rows(found: Integers) -> Connectivity:
    """Matrix from the neighbours of each feature, in order; negative ones do not exist."""
    exists = found >= 0
    links = np.count_nonzero(exists, axis=1)
    dtype = _index_type(max(len(found), int(links.sum())))
    pointers = np.zeros(len(found) + 1, dtype=dtype)
    np.cumsum(links, out=pointers[1:])
    neighbours = found[exists].astype(dtype, copy=False)
    ones = np.ones(neighbours.size, dtype=bool)
    return sparse.csr_array((ones, neighbours, pointers), shape=(len(found), len(found)))
