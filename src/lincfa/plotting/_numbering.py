"""Numbers of the largest groups of a map, written where each group is widest."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..report._findings import Map
from ..theory._arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Not quite black: black would become the colour of a page's text, which is white on dark pages.
_INK = "#1b2127"


def largest_groups(map: Map, most: int) -> list[int]:
    """Give the groups with the most cells on a map, the largest first; none of a single cell."""
    numbers, sizes = np.unique(map.groups[map.groups >= 0], return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    several = [int(numbers[k]) for k in order if numbers[k] not in map.single]
    return several[:most]


def place_of_number(map: Map, group: int) -> tuple[float, float]:
    """Give the centre of the cell deepest inside a group; of places, that nearest to their mean."""
    places = map.places
    cells = np.argwhere(map.groups == group)
    if places.kind == "points":
        where = np.column_stack([places.x[cells[:, 0]], places.y[cells[:, 0]]])
        x, y = _nearest_to_mean(where)
        return float(x), float(y)
    row, column = _deepest(map.groups == group, cells)
    if places.x.ndim == 1:
        return float(places.x[column]), float(places.y[row])
    return float(places.x[row, column]), float(places.y[row, column])


def write_numbers(map: Map, ax: "Axes", most: int, style: dict[str, Any]) -> None:
    """Write the numbers of the largest groups, each on a small white ground."""
    ground = {"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none"}
    for group in largest_groups(map, most):
        text = ax.text(
            *place_of_number(map, group),
            str(group),
            color=_INK,
            fontsize="small",
            horizontalalignment="center",
            verticalalignment="center_baseline",
            bbox=ground,
            clip_on=True,
            **style,
        )
        text.set_in_layout(False)


def _deepest(inside: npt.NDArray[np.bool_], cells: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Give the row and column of the cell furthest from any that is not inside.

    Of several as deep, as along a band, that in their middle.
    """
    from scipy.ndimage import distance_transform_edt

    first, last = cells.min(axis=0), cells.max(axis=0) + 1
    part = inside[first[0] : last[0], first[1] : last[1]]
    depth = distance_transform_edt(np.pad(part, 1))[1:-1, 1:-1]  # the end of a map is an end
    deepest = np.argwhere(depth == depth.max())
    return np.asarray(first + _nearest_to_mean(deepest), dtype=np.intp)


def _nearest_to_mean(points: npt.NDArray[Any]) -> FloatArray:
    away = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    return np.asarray(points[away.argmin()], dtype=np.float64)
