"""Corners of the cells of a grid, of which the centres are known."""

import numpy as np
import numpy.typing as npt

from ..report._findings import Places
from ..theory._arrays import FloatArray

_POLE, _TURN = 90.0, 360.0
_FEWEST = 2  # centres that tell a distance


def corners(places: Places) -> tuple[FloatArray, FloatArray]:
    """Give the corners of all cells of a grid: x and y, both of shape (ny + 1, nx + 1)."""
    if places.kind == "grid":
        x, y = edges(places.x, _step(places.y)), edges(places.y, _step(places.x))
        y = np.clip(y, -_POLE, _POLE) if places.degrees else y
        grid = np.meshgrid(x, y)
        return grid[0], grid[1]
    lon = _filled(_unwrapped(places.x))
    return _between(lon), np.clip(_between(_filled(places.y)), -_POLE, _POLE)


def _step(centres: FloatArray) -> float:
    return float(np.median(np.diff(centres))) if centres.size > 1 else 1.0


def edges(centres: FloatArray, otherwise: float) -> FloatArray:
    """Give the edges midway between centres in their order; of a single one, a step about it."""
    if centres.size == 1:
        return np.array([centres[0] - otherwise / 2, centres[0] + otherwise / 2])
    middle = (centres[1:] + centres[:-1]) / 2
    ends = 2 * centres[[0, -1]] - middle[[0, -1]]
    return np.concatenate([ends[:1], middle, ends[1:]])


def _between(centres: FloatArray) -> FloatArray:
    """Give the means of each four centres, with a row or column more on every side."""
    for _ in range(2):  # rows, then columns
        first, last = 2 * centres[:1] - centres[1:2], 2 * centres[-1:] - centres[-2:-1]
        centres = np.concatenate([first, centres, last]).T
    return (centres[1:, 1:] + centres[1:, :-1] + centres[:-1, 1:] + centres[:-1, :-1]) / 4


def _unwrapped(lon: FloatArray) -> FloatArray:
    """Take out the jumps of longitudes from one cell to the next, by whole turns."""
    known = np.isfinite(lon)
    # What is missing takes the longitude before it, so that it makes no jump.
    last = np.maximum.accumulate(np.where(known, np.arange(lon.shape[1]), 0), axis=1)
    carried = np.take_along_axis(lon, last, axis=1)
    rows = np.where(np.isfinite(carried).any(axis=1))[0]
    result = lon.copy()
    before = np.nan
    for row in rows:
        there = np.flatnonzero(np.isfinite(carried[row]))
        line = np.unwrap(carried[row, there], period=_TURN)
        middle = float(np.median(line))
        if np.isfinite(before):
            line -= _TURN * round((middle - before) / _TURN)
        before = float(np.median(line))
        result[row, there] = np.where(known[row, there], line, np.nan)
    return result


def _filled(values: FloatArray) -> FloatArray:
    """Fill gaps of a curved grid along its rows, then along its columns, in straight lines."""
    result = values.copy()
    for lines in (result, result.T):
        for line in lines:
            known = np.flatnonzero(np.isfinite(line))
            if _FEWEST <= known.size < line.size:
                line[:] = _continued(known, line)
    # What no line reaches is not drawn, but has to be a number.
    known_at_all = np.isfinite(result)
    middle = float(result[known_at_all].mean()) if known_at_all.any() else 0.0
    return np.where(known_at_all, result, middle)


def _continued(known: npt.NDArray[np.intp], line: FloatArray) -> FloatArray:
    """Interpolate a line where it is not known, and go on beyond its ends as it ends."""
    at = np.arange(line.size, dtype=np.float64)
    result = np.interp(at, known, line[known])
    for ends, side in ((known[:2], at < known[0]), (known[-2:], at > known[-1])):
        slope = (line[ends[1]] - line[ends[0]]) / (ends[1] - ends[0])
        result[side] = line[ends[0]] + slope * (at[side] - ends[0])
    return result
