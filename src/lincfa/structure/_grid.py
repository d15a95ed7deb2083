"""Neighbours by position: grid cells, features in a row."""

from collections.abc import Sequence
from itertools import product
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Connectivity: TypeAlias = sparse.csr_array
Mask: TypeAlias = npt.NDArray[np.bool_]
Integers: TypeAlias = npt.NDArray[np.signedinteger[Any]]


def grid_connectivity(
    shape: int | Sequence[int],
    *,
    neighbors: int = 4,
    mask: npt.ArrayLike | None = None,
    wrap: bool | Sequence[bool] = False,
) -> Connectivity:
    """Neighbouring cells of a regular grid with any number of dimensions.

    Parameters
    ----------
    shape : int or sequence of int
        Cells along each axis. Cells are numbered in C order: the last axis varies fastest.
    neighbors : {4, 8}, default=4
        4: cells that share a side. 8: also cells that touch at a corner. The numbers are those in
        two dimensions; in n dimensions they mean 2 n and 3ⁿ − 1 neighbours (6 and 26 in three).
    mask : array of bool of this shape, default=None
        True for cells to include, such as land; masked entries are excluded. The matrix then has
        one row per included cell, in order. None: all cells.
    wrap : bool or one bool per axis, default=False
        Whether the last cell along an axis is a neighbour of the first. True: the last axis only,
        as for the longitudes of a global grid.

    Returns
    -------
    scipy.sparse.csr_array of bool
        Symmetric, with an empty diagonal. Cells without neighbours have empty rows.

    Examples
    --------
    >>> grid_connectivity((2, 3)).astype(int).toarray()
    array([[0, 1, 0, 1, 0, 0],
           [1, 0, 1, 0, 1, 0],
           [0, 1, 0, 0, 0, 1],
           [1, 0, 0, 0, 1, 0],
           [0, 1, 0, 1, 0, 1],
           [0, 0, 1, 0, 1, 0]])

    A global grid with longitude as last axis, without the sea:

    >>> land = np.array([[True, False, True], [True, True, False]])
    >>> grid_connectivity((2, 3), mask=land, wrap=True).astype(int).toarray()
    array([[0, 1, 1, 0],
           [1, 0, 0, 0],
           [1, 0, 0, 1],
           [0, 0, 1, 0]])
    """
    lengths, circles = np.asarray(shape), np.asarray(wrap)
    if lengths.dtype.kind not in "iu" or lengths.ndim > 1 or not lengths.size or lengths.min() < 1:
        raise ValueError(f"shape must be positive integers, one per axis, got {shape!r}")
    shape = tuple(np.atleast_1d(lengths).tolist())
    n_axes = len(shape)
    if circles.dtype != bool or circles.shape not in ((), (n_axes,)):
        raise ValueError(
            f"wrap must be True, False or {n_axes} of these, one per axis, got {wrap!r}"
        )
    if not circles.ndim:
        circles = np.array([False] * (n_axes - 1) + [bool(circles)])
    if neighbors not in (4, 8):
        raise ValueError(
            "neighbors must be 4 (cells that share a side) or 8 (also corners), in any number of "
            f"dimensions, got {neighbors!r}"
        )
    included = checked_mask(mask, shape)
    numbers: Integers = np.full(shape, -1, dtype=_index_type(included.size))
    numbers[included] = np.arange(np.count_nonzero(included))
    around = _with_border(numbers, circles)
    steps = [
        step
        for step in product((-1, 0, 1), repeat=n_axes)
        if any(step) and (neighbors == 8 or np.count_nonzero(step) == 1)
    ]
    found = np.empty((np.count_nonzero(included), len(steps)), dtype=numbers.dtype)
    for column, step in enumerate(steps):
        window = zip(step, shape, strict=True)
        found[:, column] = around[tuple(slice(1 + s, 1 + s + n) for s, n in window)][included]
    found.sort(axis=1)  # across the edge of a circle the numbers restart
    return _from_rows(found)


def chain_connectivity(n: int, *, reach: int = 1) -> Connectivity:
    """Neighbours among features in a row, such as wavelengths or time lags.

    Parameters
    ----------
    n : int
        Number of features.
    reach : int, default=1
        Features at most this many positions apart are neighbours.

    Returns
    -------
    scipy.sparse.csr_array of bool
        Symmetric, with an empty diagonal.

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
    """Return the smallest index type that can count the cells, as SciPy does."""
    return np.dtype(np.int32 if size <= np.iinfo(np.int32).max else np.int64)


def _with_border(numbers: Integers, circles: Mask) -> Integers:
    """Pad each axis with one cell on either side: −1, or the opposite end if the axis wraps."""
    for axis, circle in enumerate(circles):
        width = [(int(axis == other),) * 2 for other in range(numbers.ndim)]
        # With one or two cells all are neighbours already, and must not count twice.
        if circle and numbers.shape[axis] > 2:
            numbers = np.pad(numbers, width, mode="wrap")
        else:
            numbers = np.pad(numbers, width, constant_values=-1)
    return numbers


def _from_rows(found: Integers) -> Connectivity:
    """Return the matrix, given the sorted neighbours of each feature; −1 stands for none."""
    exists = found >= 0
    links = np.count_nonzero(exists, axis=1)
    dtype = _index_type(max(len(found), int(links.sum())))
    pointers = np.zeros(len(found) + 1, dtype=dtype)
    np.cumsum(links, out=pointers[1:])
    neighbours = found[exists].astype(dtype, copy=False)
    ones = np.ones(neighbours.size, dtype=bool)
    return sparse.csr_array((ones, neighbours, pointers), shape=(len(found), len(found)))


def checked_count(name: str, value: Any, most: int | None = None) -> int:
    """Return a positive integer, at most ``most``."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        count = int(value)
        if 1 <= count <= (most or count):
            return count
    allowed = f"an integer from 1 to {most}" if most else "a positive integer"
    raise ValueError(f"{name} must be {allowed}, got {value!r}")


def checked_mask(mask: npt.ArrayLike | None, shape: tuple[int, ...]) -> Mask:
    """Return which cells or places are included; masked entries are not."""
    if mask is None:
        return np.ones(shape, dtype=bool)
    given: np.ma.MaskedArray[Any, Any] = np.ma.asarray(mask)
    if given.dtype != bool:
        raise ValueError(
            f"mask must be of type bool, True for what to include, got {given.dtype}; use a "
            "comparison such as mask=land > 0.5."
        )
    if given.shape != shape:
        raise ValueError(f"mask must have the shape {shape}, got {given.shape}")
    included: Mask = np.ma.filled(given, False)
    if not included.any():
        raise ValueError("mask includes nothing: all values are False.")
    return included
