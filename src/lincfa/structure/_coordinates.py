"""Neighbours by distance on Earth."""

from numbers import Real

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from ._checks import Connectivity, Floats, checked_coordinates, checked_count

_EARTH_RADIUS_KM = 6371.0088  # mean radius of WGS 84, (2 a + b) / 3
# Rounding moves a place on the unit sphere by about 1e-15. With this slack, some 25 nanometres (a
# metre for places opposite each other), places exactly at the radius count, wherever they are.
_SLACK = 4e-15
_MOST_LINKS = 2**31 - 1  # what the 32-bit indices of sparse matrices can number


def coordinate_connectivity(
    lat: npt.ArrayLike,
    lon: npt.ArrayLike,
    *,
    radius_km: float | None = None,
    k: int | None = None,
    mask: npt.ArrayLike | None = None,
) -> Connectivity:
    """Neighbouring places on Earth, by distance along great circles.

    Give either ``radius_km`` or ``k``. The Earth is taken as a sphere of radius 6371.0088 km, so
    distances are right to about half a percent. The date line and the poles need no care.

    Parameters
    ----------
    lat, lon : arrays of equal shape
        Degrees north and east, one for each place; longitudes of any convention. Of arrays with
        several dimensions, as for curvilinear grids, the places are numbered in C order.
    radius_km : float, default=None
        Places at most so far apart are neighbours.
    k : int, default=None
        Each place is a neighbour of the ``k`` others nearest to it. Places may have more than
        ``k`` neighbours, as being neighbours is mutual. Other places at the same coordinates are
        at distance 0 and count among the ``k``. Which of several equally distant places make up
        the number is not defined; on a regular grid prefer a radius.
    mask : array of bool of the same shape, default=None
        True for places that take part. The matrix then has a row for each of these, in order.
        Only their coordinates need be known. None: all places.

    Returns
    -------
    scipy.sparse.csr_array of bool
        Symmetric, True for neighbours, no place being its own. Places without neighbours have
        empty rows.

    Examples
    --------
    Suva and Apia lie on either side of the date line; Quito is far from both:

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
        raise ValueError("Give radius_km or k, one of the two.")
    places = _unit_vectors(*checked_coordinates(lat, lon, mask))
    if k is not None:
        return _nearest(places, k)
    if isinstance(radius_km, bool) or not isinstance(radius_km, Real) or not radius_km > 0:
        raise ValueError(f"radius_km must be a positive number of kilometres, got {radius_km!r}")
    return _within(places, float(radius_km))


def _unit_vectors(lat: Floats, lon: Floats) -> Floats:
    """Points of the unit sphere, on which places near each other are near without exception."""
    # Whole turns are taken off in degrees, where they are exact: 370° is 10° to the last digit.
    lat, lon = np.deg2rad(lat), np.deg2rad(np.remainder(lon, 360))
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def _within(places: Floats, radius_km: float) -> Connectivity:
    """Pairs at most a radius apart; the straight line through the sphere grows with the arc."""
    chord = 2 * np.sin(min(radius_km / _EARTH_RADIUS_KM, np.pi) / 2) + _SLACK
    tree, n = cKDTree(places), len(places)
    if n * (n - 1) > _MOST_LINKS and (links := tree.count_neighbors(tree, chord) - n) > _MOST_LINKS:
        raise ValueError(
            f"radius_km={radius_km:g} makes {links // 2} pairs of neighbours among {n} places, too "
            "many to hold: give a smaller radius, or k."
        )
    pairs = tree.query_pairs(chord, output_type="ndarray")
    return _from_pairs(pairs[:, 0], pairs[:, 1], n)


def _nearest(places: Floats, k: int) -> Connectivity:
    """Pairs of which at least one is among the k nearest of the other."""
    n = len(places)
    if n == 1:
        raise ValueError("k needs at least two places, got one.")
    k = checked_count("k", k, n - 1)
    found = np.asarray(cKDTree(places).query(places, k + 1)[1])
    others = found != np.arange(n)[:, None]
    # Many places at the same coordinates: a place may be absent from its own list.
    others[others.all(axis=1), -1] = False
    return _from_pairs(np.repeat(np.arange(n), k), found[others], n)


def _from_pairs(one: npt.NDArray[np.intp], other: npt.NDArray[np.intp], n: int) -> Connectivity:
    """Matrix from pairs of neighbours, in either order or in both."""
    ones = np.ones(one.size, dtype=bool)
    # Small indices: half the memory, and all that graph routines of SciPy take.
    ends = one.astype(np.int32), other.astype(np.int32)
    half = sparse.coo_array((ones, ends), shape=(n, n)).tocsr()
    both: Connectivity = half + half.T
    return both
