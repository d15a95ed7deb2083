"""Corners, colours and label positions of cells: what maps and spectra need to be drawn."""

import colorsys

import numpy as np
import numpy.typing as npt
from scipy.interpolate import make_interp_spline
from scipy.spatial import KDTree

from ..report._maps import Map, Places
from ..theory._arrays import FloatArray

_Indices = npt.NDArray[np.intp]

# Paul Tol's muted colours, distinct to the colour-blind; two of them lightened.
_PALETTE = ["#88ccee", "#cc6677", "#117733", "#ddcc77", "#4a3d96"]
_PALETTE += ["#44aa99", "#aa4499", "#999933", "#93406a"]
_LIGHT, _DARK, _TONES = 0.92, 0.8, 5  # of the greys
_NEAREST = 8  # neighbours of a point: as many as a cell of a grid has
_GOLDEN = 0.61803398875  # of the colour wheel, after which hues repeat as late as possible
_POLE, _TURN = 90.0, 360.0
_FEWEST = 2  # centres that define a distance


# Corners


def corners(places: Places) -> tuple[FloatArray, FloatArray]:
    """Return the corners of all cells of a grid: x and y, both of shape (ny + 1, nx + 1)."""
    if places.kind == "grid":
        x, y = edges(places.x, _step(places.y)), edges(places.y, _step(places.x))
        y = np.clip(y, -_POLE, _POLE) if places.degrees else y
        grid = np.meshgrid(x, y)
        return grid[0], grid[1]
    lon, lat = _filled(_unwrapped(places.x)), _filled(places.y)
    return _between(lon), np.clip(_between(lat), -_POLE, _POLE)


def edges(centres: FloatArray, width: float) -> FloatArray:
    """Return the edges midway between centres, in their order; for a single one, its width."""
    if centres.size == 1:
        return np.array([centres[0] - width / 2, centres[0] + width / 2])
    middle = (centres[1:] + centres[:-1]) / 2
    ends = 2 * centres[[0, -1]] - middle[[0, -1]]
    return np.concatenate([ends[:1], middle, ends[1:]])


def _step(centres: FloatArray) -> float:
    return float(np.median(np.diff(centres))) if centres.size > 1 else 1.0


def _between(centres: FloatArray) -> FloatArray:
    """Return the means of each four centres, extrapolated by a row or column on every side."""
    for _ in range(2):  # rows, then columns
        first, last = 2 * centres[:1] - centres[1:2], 2 * centres[-1:] - centres[-2:-1]
        centres = np.concatenate([first, centres, last]).T
    return (centres[1:, 1:] + centres[1:, :-1] + centres[:-1, 1:] + centres[:-1, :-1]) / 4


def _unwrapped(lon: FloatArray) -> FloatArray:
    """Remove jumps by whole turns between the longitudes of adjacent cells."""
    known = np.isfinite(lon)
    # A missing longitude takes the one before it, so that it makes no jump.
    last = np.maximum.accumulate(np.where(known, np.arange(lon.shape[1]), 0), axis=1)
    carried = np.take_along_axis(lon, last, axis=1)
    result = lon.copy()
    before = np.nan
    for row in np.flatnonzero(np.isfinite(carried).any(axis=1)):
        there = np.flatnonzero(np.isfinite(carried[row]))
        line = np.unwrap(carried[row, there], period=_TURN)
        if np.isfinite(before):
            line -= _TURN * round((float(np.median(line)) - before) / _TURN)
        before = float(np.median(line))
        result[row, there] = np.where(known[row, there], line, np.nan)
    return result


def _filled(values: FloatArray) -> FloatArray:
    """Fill gaps of a curved grid linearly, along its rows, then along its columns."""
    result = values.copy()
    for lines in (result, result.T):
        for line in lines:
            known = np.flatnonzero(np.isfinite(line))
            if _FEWEST <= known.size < line.size:
                line[:] = make_interp_spline(known, line[known], k=1)(np.arange(line.size))
    # What no line reaches is not drawn, but must be a number.
    finite = np.isfinite(result)
    return np.where(finite, result, float(result[finite].mean()) if finite.any() else 0.0)


# Colours


def grid_neighbors(groups: _Indices, wraps: bool) -> _Indices:
    """Return pairs of groups that touch on a grid, by a side or a corner; shape (n, 2)."""
    if wraps:
        groups = np.concatenate([groups, groups[:, :1]], axis=1)
    touching = (
        (groups[:, :-1], groups[:, 1:]),
        (groups[:-1], groups[1:]),
        (groups[:-1, :-1], groups[1:, 1:]),
        (groups[:-1, 1:], groups[1:, :-1]),
    )
    pairs = [np.column_stack([one.ravel(), other.ravel()]) for one, other in touching]
    return _distinct(np.concatenate(pairs))


def point_neighbors(groups: _Indices, places: Places) -> _Indices:
    """Return pairs of groups with members among each other's nearest points on the globe."""
    known = np.isfinite(places.x) & np.isfinite(places.y) & (groups >= 0)
    lon, lat = np.radians(places.x[known]), np.radians(places.y[known])
    where = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    if len(where) <= 1:
        return np.empty((0, 2), dtype=np.intp)
    # Each is its own nearest.
    _, nearest = KDTree(where).query(where, k=min(_NEAREST + 1, len(where)))
    ours = groups[known]
    return _distinct(np.column_stack([np.repeat(ours, nearest.shape[1]), ours[nearest.ravel()]]))


def sequence_neighbors(groups: _Indices) -> _Indices:
    """Return pairs of groups that touch in a sequence."""
    return _distinct(np.column_stack([groups[:-1], groups[1:]]))


def _distinct(pairs: _Indices) -> _Indices:
    pairs = pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
    return np.unique(np.sort(pairs, axis=1), axis=0)


def color_groups(order: _Indices, pairs: _Indices, colors: int) -> dict[int, int]:
    """Assign each group a colour that no neighbour has, out of so many, or more if necessary."""
    # Greedy, with the least used colour each time: few groups all have colours of their own.
    neighbors: dict[int, list[int]] = {int(group): [] for group in order}
    for one, other in pairs.tolist():
        if one in neighbors and other in neighbors:
            neighbors[one].append(other)
            neighbors[other].append(one)
    used = [0] * colors
    chosen: dict[int, int] = {}
    for group, others in neighbors.items():
        taken = {chosen[other] for other in others if other in chosen}
        free = [color for color in range(len(used)) if color not in taken]
        if not free:
            free = [len(used)]
            used.append(0)
        color = min(free, key=used.__getitem__)
        used[color] += 1
        chosen[group] = color
    return chosen


def distinct_colors(
    groups: _Indices, single: _Indices, pairs: _Indices
) -> tuple[_Indices, list[str]]:
    """Return the index of each cell's colour, −1 without a group, and the list of colours."""
    numbers, sizes = np.unique(groups[groups >= 0], return_counts=True)
    order = numbers[np.argsort(-sizes, kind="stable")]
    alone = np.isin(order, single)
    colored = color_groups(order[~alone], pairs, len(_PALETTE))
    grey = color_groups(order[alone], pairs, _TONES)
    n_hues, n_greys = (1 + max(each.values(), default=-1) for each in (colored, grey))
    index = np.full(1 + numbers.max(initial=-1), -1, dtype=np.intp)
    for group, color in colored.items():
        index[group] = color
    for group, tone in grey.items():
        index[group] = n_hues + tone
    result = np.full(groups.shape, -1, dtype=np.intp)
    result[groups >= 0] = index[groups[groups >= 0]]
    return result, _colors(n_hues, n_greys)


def _colors(hues: int, greys: int) -> list[str]:
    """Return hues, those of the palette first, then others around the colour wheel, and greys."""
    from matplotlib.colors import to_hex

    more = (
        colorsys.hls_to_rgb(k * _GOLDEN % 1, (0.4, 0.55, 0.7)[k % 3], 0.45)
        for k in range(hues - len(_PALETTE))
    )
    tones = np.linspace(_LIGHT, _DARK, max(greys, _TONES))[:greys].tolist()
    return [*_PALETTE[:hues], *map(to_hex, more), *(to_hex((tone,) * 3) for tone in tones)]


# Labels


def largest_groups(map: Map, most: int) -> list[int]:
    """Return the groups with the most cells on a map, largest first, without single cells."""
    numbers, sizes = np.unique(map.groups[map.groups >= 0], return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    return [int(numbers[k]) for k in order if numbers[k] not in map.single][:most]


def label_position(map: Map, group: int) -> tuple[float, float]:
    """Return the centre of a group's innermost cell; of points, the one nearest to their mean."""
    places = map.places
    inside = map.groups == group
    if places.kind == "points":
        x, y = _nearest_to_mean(np.column_stack([places.x[inside], places.y[inside]]))
        return float(x), float(y)
    row, column = _innermost(inside)
    if places.x.ndim == 1:
        return float(places.x[column]), float(places.y[row])
    return float(places.x[row, column]), float(places.y[row, column])


def _innermost(inside: npt.NDArray[np.bool_]) -> _Indices:
    """Return the row and column of the cell furthest from the outside; of several, the middle."""
    from scipy.ndimage import distance_transform_edt

    cells = np.argwhere(inside)
    first, last = cells.min(axis=0), cells.max(axis=0) + 1
    part = inside[first[0] : last[0], first[1] : last[1]]
    depth = distance_transform_edt(np.pad(part, 1))[1:-1, 1:-1]  # the edge of a map is an end
    return np.asarray(first + _nearest_to_mean(np.argwhere(depth == depth.max())), dtype=np.intp)


def _nearest_to_mean(points: npt.NDArray[np.generic]) -> FloatArray:
    values = np.asarray(points, dtype=np.float64)
    distance = ((values - values.mean(axis=0)) ** 2).sum(axis=1)
    return np.asarray(values[distance.argmin()])
