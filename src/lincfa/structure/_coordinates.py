"""Neighbours by distance on Earth."""

from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from ._grid import Connectivity, Mask, checked_count, checked_mask

Floats: TypeAlias = npt.NDArray[np.float64]

_EARTH_RADIUS_KM = 6371.0088  # mean radius of WGS 84, (2 a + b) / 3
# Rounding moves a place on the unit sphere by about 1e-15. With this slack, about 25 nanometres (a
# metre for antipodes), places exactly at the radius are included everywhere.
_SLACK = 4e-15
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
    chord = 2 * np.sin(min(radius_km / _EARTH_RADIUS_KM, np.pi) / 2) + _SLACK
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
    k = checked_count("k", k, n - 1)
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
    included = checked_mask(mask, lat.shape)
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
