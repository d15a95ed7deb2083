"""Colours by which neighbours can be told apart."""

import colorsys

import numpy as np
import numpy.typing as npt
from scipy.spatial import KDTree

from ..report._findings import Places

_Indices = npt.NDArray[np.intp]

# The muted colours of Paul Tol, which the colour-blind can tell apart; two of them lighter.
_PALETTE = (
    "#88ccee",
    "#cc6677",
    "#117733",
    "#ddcc77",
    "#4a3d96",
    "#44aa99",
    "#aa4499",
    "#999933",
    "#93406a",
)
_LIGHT, _DARK, _TONES = 0.92, 0.8, 5  # of the greys
_NEAREST = 8  # places that count as neighbours of one: as many as a cell of a grid has
_TURN = 0.61803398875  # of the circle of hues, after which they come again as late as possible


def grid_neighbors(groups: _Indices, wraps: bool) -> _Indices:
    """Give pairs of groups that touch on a grid, by a side or a corner; shape (n, 2).

    Negative numbers are no groups.
    """
    if wraps:
        groups = np.concatenate([groups, groups[:, :1]], axis=1)
    touching = (
        (groups[:, :-1], groups[:, 1:]),
        (groups[:-1], groups[1:]),
        (groups[:-1, :-1], groups[1:, 1:]),
        (groups[:-1, 1:], groups[1:, :-1]),
    )
    pairs = [np.column_stack([one.ravel(), other.ravel()]) for one, other in touching]
    return _different(np.concatenate(pairs))


def point_neighbors(groups: _Indices, places: Places) -> _Indices:
    """Give pairs of groups of which members are among each other's nearest places."""
    known = np.isfinite(places.x) & np.isfinite(places.y) & (groups >= 0)
    lon, lat = np.radians(places.x[known]), np.radians(places.y[known])
    where = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    if len(where) <= 1:
        return np.empty((0, 2), dtype=np.intp)
    # Each is its own nearest.
    _, nearest = KDTree(where).query(where, k=min(_NEAREST + 1, len(where)))
    ours = groups[known]
    return _different(np.column_stack([np.repeat(ours, nearest.shape[1]), ours[nearest.ravel()]]))


def row_neighbors(groups: _Indices) -> _Indices:
    """Give pairs of groups that touch in a row."""
    return _different(np.column_stack([groups[:-1], groups[1:]]))


def _different(pairs: _Indices) -> _Indices:
    pairs = pairs[(pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])]
    return np.unique(np.sort(pairs, axis=1), axis=0)


def color_groups(order: _Indices, pairs: _Indices, colors: int) -> dict[int, int]:
    """Give each group a colour that no neighbour has: of so many, or more if it takes more.

    Greedily in the given order, each time the colour used least so far, so that few groups all have
    colours of their own.
    """
    near: dict[int, list[int]] = {int(group): [] for group in order}
    for one, other in pairs.tolist():
        if one in near and other in near:
            near[one].append(other)
            near[other].append(one)
    used = [0] * colors
    chosen: dict[int, int] = {}
    for group, others in near.items():
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
    """Give the place of each cell's colour in a list of colours, and the list.

    Parameters
    ----------
    groups : array of any shape
        Group of each cell; negative for none.
    single : array
        Groups of one cell, which become grey.
    pairs : array of shape (n, 2)
        Groups that are neighbours.

    Returns
    -------
    places : array of the shape of ``groups``
        −1 for a cell of no group.
    colors : list of str
    """
    numbers, sizes = np.unique(groups[groups >= 0], return_counts=True)
    order = numbers[np.argsort(-sizes, kind="stable")]
    alone = np.isin(order, single)
    colored = color_groups(order[~alone], pairs, len(_PALETTE))
    grey = color_groups(order[alone], pairs, _TONES)
    colors = _shades(1 + max(colored.values(), default=-1))
    tones = _greys(1 + max(grey.values(), default=-1))
    place = np.full(1 + numbers.max(initial=-1), -1, dtype=np.intp)
    for group, color in colored.items():
        place[group] = color
    for group, tone in grey.items():
        place[group] = len(colors) + tone
    result = np.full(groups.shape, -1, dtype=np.intp)
    result[groups >= 0] = place[groups[groups >= 0]]
    return result, colors + tones


def _shades(count: int) -> list[str]:
    """Give so many colours: those of the palette first, then others around the circle of hues."""
    more = (
        colorsys.hls_to_rgb(k * _TURN % 1, (0.4, 0.55, 0.7)[k % 3], 0.45)
        for k in range(count - len(_PALETTE))
    )
    return [*_PALETTE[:count], *map(_hex, more)]


def _greys(count: int) -> list[str]:
    """Give so many light greys."""
    tones = np.linspace(_LIGHT, _DARK, max(count, _TONES))
    return [_hex((tone, tone, tone)) for tone in tones[:count].tolist()]


def _hex(color: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in color)
