"""Which features are neighbours: grid cells, places on Earth, features in a row.

Each function returns a symmetric sparse matrix with one row and column per feature, True where two
features are neighbours. As ``connectivity`` it restricts which features may merge, so that groups
are connected. scikit-learn's clustering takes the same matrices.
"""

from collections.abc import Sequence
from itertools import product
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

__all__ = ["chain_connectivity", "coordinate_connectivity", "grid_connectivity"]

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
    included = _checked_mask(mask, shape)
    longer = np.array(shape) > 1  # along the others there are no neighbours
    if np.count_nonzero(longer) > _MOST_AXES:
        raise ValueError(
            f"shape may have at most {_MOST_AXES} axes with more than one cell, got {shape!r}"
        )
    if not longer.all():
        shape, circles = tuple(np.array(shape)[longer].tolist()) or (1,), circles[longer]
        circles = circles if circles.size else np.array([False])
        included, n_axes = included.reshape(shape), len(shape)
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
    n = _checked_count("n", n)
    reach = min(_checked_count("reach", reach), n - 1)
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


def _checked_count(name: str, value: Any, most: int | None = None) -> int:
    """Return a positive integer, at most ``most``."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        count = int(value)
        if 1 <= count <= (most or count):
            return count
    allowed = f"an integer from 1 to {most}" if most else "a positive integer"
    raise ValueError(f"{name} must be {allowed}, got {value!r}")


def _checked_mask(mask: npt.ArrayLike | None, shape: tuple[int, ...]) -> Mask:
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


# By distance on Earth

Floats: TypeAlias = npt.NDArray[np.float64]

EARTH_RADIUS_KM = 6371.0088  # mean radius of WGS 84, (2 a + b) / 3
# Rounding moves a place on the unit sphere by about 1e-15. With this slack, about 25 nanometres (a
# metre for antipodes), places exactly at the radius are included everywhere.
_SLACK = 4e-15
_MOST_AXES = 8  # numbers of neighbours grow with a power of it
_MOST_LINKS = 2**31 - 1  # limit of the 32-bit indices of sparse matrices


def coordinate_connectivity(
    lat: npt.ArrayLike,
    lon: npt.ArrayLike,
    *,
    radius_km: float | None = None,
    k: int | None = None,
    mask: npt.ArrayLike | None = None,
) -> Connectivity:
    """Neighbouring places on Earth, by great-circle distance.

    Pass either ``radius_km`` or ``k``. The Earth is a sphere of radius 6371.0088 km, so distances
    are accurate to about half a percent. The date line and the poles are no special cases.

    Parameters
    ----------
    lat, lon : arrays of equal shape
        Degrees north and east of each place, in any longitude convention. Places in arrays with
        several dimensions, as for curvilinear grids, are numbered in C order.
    radius_km : float, default=None
        Places at most this far apart are neighbours.
    k : int, default=None
        Each place is a neighbour of its ``k`` nearest places. Because this is mutual, places may
        have more than ``k`` neighbours. Places at the same coordinates have distance 0 and count.
        Ties are broken arbitrarily; on a regular grid prefer a radius.
    mask : array of bool of the same shape, default=None
        True for places to include. The matrix then has one row per included place, in order. The
        coordinates of other places may be missing. None: all places.

    Returns
    -------
    scipy.sparse.csr_array of bool
        Symmetric, with an empty diagonal. Places without neighbours have empty rows.

    Examples
    --------
    Suva and Apia are on either side of the date line; Quito is far from both:

    >>> lat, lon = [-18.1, -13.8, -0.2], [178.4, -171.8, -78.5]
    >>> coordinate_connectivity(lat, lon, radius_km=1500).astype(int).toarray()
    array([[0, 1, 0],
           [1, 0, 0],
           [0, 0, 0]])
    >>> coordinate_connectivity(lat, lon, k=1).astype(int).toarray()
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    """
    if (radius_km is None) == (k is None):
        raise ValueError("Pass either radius_km or k.")
    places = _unit_vectors(*_checked_coordinates(lat, lon, mask))
    if k is not None:
        return _nearest(places, k)
    if isinstance(radius_km, bool) or not isinstance(radius_km, Real) or not radius_km > 0:
        raise ValueError(f"radius_km must be a positive number of kilometres, got {radius_km!r}")
    return _within(places, float(radius_km))


def _unit_vectors(lat: Floats, lon: Floats) -> Floats:
    """Return points on the unit sphere, where close places are close without exception."""
    # Full turns are removed in degrees, where this is exact: 370° is 10° to the last digit.
    lat, lon = np.deg2rad(lat), np.deg2rad(np.remainder(lon, 360))
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def _within(places: Floats, radius_km: float) -> Connectivity:
    """Connect places within a radius; the chord grows with the arc."""
    chord = 2 * np.sin(min(radius_km / EARTH_RADIUS_KM, np.pi) / 2) + _SLACK
    tree, n = cKDTree(places), len(places)
    if n * (n - 1) > _MOST_LINKS and (links := tree.count_neighbors(tree, chord) - n) > _MOST_LINKS:
        raise ValueError(
            f"radius_km={radius_km:g} makes {links // 2} pairs of neighbours among {n} places, too "
            "many for a sparse matrix: use a smaller radius, or k."
        )
    pairs = tree.query_pairs(chord, output_type="ndarray")
    return _from_pairs(pairs[:, 0], pairs[:, 1], n)


def _nearest(places: Floats, k: int) -> Connectivity:
    """Connect places if one is among the k nearest of the other."""
    n = len(places)
    if n == 1:
        raise ValueError("k needs at least two places, got one.")
    k = _checked_count("k", k, n - 1)
    found = np.asarray(cKDTree(places).query(places, k + 1)[1])
    others = found != np.arange(n)[:, None]
    # With many places at the same coordinates, a place may be missing from its own list.
    others[others.all(axis=1), -1] = False
    return _from_pairs(np.repeat(np.arange(n), k), found[others], n)


def _from_pairs(one: npt.NDArray[np.intp], other: npt.NDArray[np.intp], n: int) -> Connectivity:
    """Return the matrix for pairs of neighbours, in either order or both."""
    ones = np.ones(one.size, dtype=bool)
    # 32-bit indices: half the memory, and the only ones that SciPy's graph routines accept.
    ends = one.astype(np.int32), other.astype(np.int32)
    half = sparse.coo_array((ones, ends), shape=(n, n)).tocsr()
    both: Connectivity = half + half.T
    return both


def _checked_coordinates(lat: Any, lon: Any, mask: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """Return the coordinates of the included places, in order."""
    lat, lon = _degrees("lat", lat), _degrees("lon", lon)
    if lat.shape != lon.shape:
        raise ValueError(
            f"lat and lon must have the same shape, got {lat.shape} and {lon.shape}; for the axes "
            "of a grid use np.meshgrid(lat, lon, indexing='ij')."
        )
    if not lat.size:
        raise ValueError("lat and lon are empty: at least one place is needed.")
    included = _checked_mask(mask, lat.shape)
    for name, values in (("lat", lat), ("lon", lon)):
        unknown = included & ~np.isfinite(values)
        if unknown.any():
            raise ValueError(
                f"{name} must be finite, but is {values[unknown][0]} at {_first(unknown)}; exclude "
                "such places with mask."
            )
    beyond = included & (np.abs(lat) > 90)
    if beyond.any():
        raise ValueError(
            f"lat must be from -90 to 90, but is {lat[beyond][0]} at {_first(beyond)}; check that "
            "lat and lon are not swapped, or exclude such places with mask."
        )
    return lat[included], lon[included]


def _degrees(name: str, values: Any) -> Floats:
    """Return degrees as an array, with NaN for masked entries."""
    degrees: np.ma.MaskedArray[Any, Any] = np.ma.asarray(values)
    try:
        if degrees.dtype.kind not in "iufO":
            raise TypeError
        return np.atleast_1d(np.ma.filled(degrees.astype(float), np.nan))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numeric, in degrees, got {degrees.dtype}") from None


def _first(where: Mask) -> str:
    """Describe the first place by its position, and count the others."""
    position = np.argwhere(where)[0].tolist()
    more = np.count_nonzero(where) - 1
    name = f"place {position[0] if len(position) == 1 else tuple(position)}"
    return f"{name} (and {more} more)" if more else name
