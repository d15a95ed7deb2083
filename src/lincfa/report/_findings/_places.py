"""Where the cells of a field lie: on a grid, on a curved grid, or at single places."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..._data._field._axes import axis_of
from ...theory._arrays import FloatArray

if TYPE_CHECKING:
    import xarray as xr

_ACROSS = {"x", "rlon", "projection_x_coordinate", "grid_longitude"}
_LABELS = {"lat": "latitude, degrees north", "lon": "longitude, degrees east"}
FLAT = 2  # dimensions of a map
_TURN = 360.0


@dataclass(frozen=True)
class Places:
    """Centres of the cells of a map.

    Attributes
    ----------
    kind : {"grid", "curved", "points"}
        Rows and columns that are straight, or not, or single places.
    x, y : array
        Of a grid the coordinates of its columns and of its rows, both ascending, shapes (nx,) and
        (ny,). Of a curved grid those of each cell, shape (ny, nx); of points, shape (n,).
    x_label, y_label : str
        What they are.
    degrees : bool
        Whether they are longitudes and latitudes.
    alike : bool
        Whether both are lengths of one unit, so that a step has the same length in both.
    """

    kind: Literal["grid", "curved", "points"]
    x: FloatArray
    y: FloatArray
    x_label: str
    y_label: str
    degrees: bool
    alike: bool

    @property
    def wraps(self) -> bool:
        """Whether the last column lies beside the first, around the globe."""
        if not self.degrees or self.kind == "points" or self.x.shape[-1] <= FLAT:
            return False
        rows = np.atleast_2d(self.x)
        with np.errstate(invalid="ignore"):
            step = np.abs((np.diff(rows, axis=1) + _TURN / 2) % _TURN - _TURN / 2)
            gap = np.abs((rows[:, 0] - rows[:, -1] + _TURN / 2) % _TURN - _TURN / 2)
        known = np.isfinite(gap)
        steps = step[np.isfinite(step)]
        if not known.any() or steps.size == 0:
            return False
        return bool(np.median(gap[known]) < 1.5 * np.median(steps))


def places_of(array: "xr.DataArray") -> tuple[Places, npt.NDArray[Any]]:
    """Give the places of the cells of an array, and its values in their order.

    Values of a grid come with rows from the south to the north and columns from the west to the
    east, or by ascending coordinates of whatever kind.
    """
    if array.ndim == 1:
        return _points(array)
    if array.ndim != FLAT:
        dims = ", ".join(f"{name} ({size})" for name, size in array.sizes.items())
        raise ValueError(f"A map has two dimensions, or places along one; got {dims or 'none'}.")
    lat, lon = (_coordinate(array, kind, ndim=FLAT) for kind in ("lat", "lon"))
    across = _across(array)
    (down,) = (name for name in array.dims if name != across)
    values = array.transpose(down, across).values
    if lat is not None and lon is not None:
        x, y = (_numbers(each.transpose(down, across).values) for each in (lon, lat))
        if min(array.shape) == 1:  # of cells in a line the corners are not known
            return _on_earth("points", x.ravel(), y.ravel()), values.ravel()
        return _on_earth("curved", x, y), values
    x, x_label, x_kind, x_unit = _along(array, across)
    y, y_label, y_kind, y_unit = _along(array, down)
    if x_kind == "lon":
        turned = np.unwrap(x, period=_TURN)
        x = turned if (np.diff(turned) > 0).all() else x
    columns, rows = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    places = Places(
        "grid",
        x[columns],
        y[rows],
        x_label,
        y_label,
        (x_kind, y_kind) == ("lon", "lat"),
        x_unit == y_unit,
    )
    return places, values[np.ix_(rows, columns)]


def is_map(array: "xr.DataArray") -> bool:
    """Whether the cells of an array have places on a map."""
    if array.ndim == 1:
        return all(_coordinate(array, kind, ndim=1) is not None for kind in ("lat", "lon"))
    return array.ndim == FLAT


def beyond_a_map(array: "xr.DataArray") -> Hashable:
    """Name the first dimension that is no latitude, no longitude and no x or y."""
    known = {name for name in array.dims if _kind(array, name) or str(name).lower() in ("x", "y")}
    return next((name for name in array.dims if name not in known), array.dims[0])


def _points(array: "xr.DataArray") -> tuple[Places, npt.NDArray[Any]]:
    lat, lon = (_coordinate(array, kind, ndim=1) for kind in ("lat", "lon"))
    if lat is None or lon is None:
        (dimension,) = array.dims
        raise ValueError(
            f"The cells lie in a row along {str(dimension)!r}, without coordinates of latitude and "
            "longitude: plot_spectrum draws them. For a map, give the field such coordinates, "
            "named lat and lon."
        )
    return _on_earth("points", _numbers(lon.values), _numbers(lat.values)), array.values


def _on_earth(kind: Literal["curved", "points"], x: FloatArray, y: FloatArray) -> Places:
    return Places(kind, x, y, _LABELS["lon"], _LABELS["lat"], degrees=True, alike=True)


def _across(array: "xr.DataArray") -> Hashable:
    """Name the dimension that goes to the right: the longitudes, or the last one."""
    first, second = array.dims
    goes_right = _kind(array, first) == "lon" or _is_x(array, first)
    return first if goes_right and _kind(array, second) != "lon" else second


def _is_x(array: "xr.DataArray", name: Hashable) -> bool:
    attrs = array.coords[name].attrs if name in array.coords else {}
    told = {str(name).lower(), str(attrs.get("standard_name", "")).lower()}
    return bool(told & _ACROSS) or attrs.get("axis") == "X"


def _kind(array: "xr.DataArray", name: Hashable) -> str | None:
    """Tell whether a coordinate holds latitudes ("lat") or longitudes ("lon"), or neither."""
    return axis_of(name, array.coords[name].attrs) if name in array.coords else None


def _coordinate(array: "xr.DataArray", kind: str, ndim: int) -> "xr.DataArray | None":
    """Find the latitudes or longitudes along so many dimensions."""
    for name, coordinate in array.coords.items():
        if coordinate.ndim == ndim and _kind(array, name) == kind:
            found: xr.DataArray = coordinate
            return found
    return None


def _along(array: "xr.DataArray", name: Hashable) -> tuple[FloatArray, str, str | None, str]:
    """Give the coordinate of a dimension, its label, its kind and its unit; else positions."""
    if name in array.coords:
        coordinate = array.coords[name]
        values = coordinate.values
        if is_scale(values):
            kind, unit = _kind(array, name), str(coordinate.attrs.get("units", ""))
            label = _LABELS[kind] if kind else f"{name}, {unit}" if unit else str(name)
            return _numbers(values), label, kind, unit.lower() if kind is None else "degrees"
    return np.arange(array.sizes[name], dtype=np.float64), str(name), None, ""


def is_scale(values: npt.NDArray[Any]) -> bool:
    """Whether these are finite numbers, each different."""
    if values.dtype.kind not in "iuf":
        return False
    return bool(np.isfinite(values).all() and np.unique(values).size == values.size)


def _numbers(values: npt.NDArray[Any]) -> FloatArray:
    return np.asarray(values, dtype=np.float64)
