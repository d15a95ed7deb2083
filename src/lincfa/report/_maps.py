"""Findings on where the cells of a field are: maps of groups and of their effects."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._data._field import Field, Variable, axis_of, texts
from .._data._names import shown
from .._data._write_field import put
from .._model._observations import field_of
from ..theory._arrays import FloatArray
from ._groups import LONGEST_NAME
from ._inputs import title_of_target
from ._spectra import is_scale

if TYPE_CHECKING:
    import xarray as xr

CONSTANT, LEFT_OUT = -1, -2
_MAPS = 4
_PANELS = 12
_CELLS = 40_000  # on all maps of a report together
_DIGITS = 5
_LISTED = 10
_MAP_DIMS = 2
_TURN = 360.0
_X_NAMES = {"x", "rlon", "projection_x_coordinate", "grid_longitude"}
LABELS = {"lat": "latitude (°N)", "lon": "longitude (°E)"}


# Where cells are


@dataclass(frozen=True)
class Places:
    """Centres of the cells of a map.

    On a "grid", x and y are the coordinates of its columns and rows, both ascending, with shapes
    (nx,) and (ny,). On a "curved" grid both have shape (ny, nx); "points", such as stations, (n,).
    """

    kind: Literal["grid", "curved", "points"]
    x: FloatArray
    y: FloatArray
    x_label: str
    y_label: str
    degrees: bool  # longitudes and latitudes
    alike: bool  # both in the same unit, so that steps are equally long in x and y

    @property
    def wraps(self) -> bool:
        """Whether the last column is next to the first, around the globe."""
        if not self.degrees or self.kind == "points" or self.x.shape[-1] <= _MAP_DIMS:
            return False
        rows = np.atleast_2d(self.x)
        with np.errstate(invalid="ignore"):
            step = np.abs((np.diff(rows, axis=1) + _TURN / 2) % _TURN - _TURN / 2)
            gap = np.abs((rows[:, 0] - rows[:, -1] + _TURN / 2) % _TURN - _TURN / 2)
        gaps, steps = gap[np.isfinite(gap)], step[np.isfinite(step)]
        if gaps.size == 0 or steps.size == 0:
            return False
        return bool(np.median(gaps) < 1.5 * np.median(steps))


def locate_cells(array: "xr.DataArray") -> tuple[Places, npt.NDArray[Any]]:
    """Return the places of the cells of an array, by ascending coordinates, and its values."""
    lat, lon = (_coordinate(array, kind) for kind in ("lat", "lon"))
    if array.ndim == 1:
        if lat is None or lon is None:
            raise ValueError(
                f"The cells are in a sequence along {str(array.dims[0])!r}, without latitudes and "
                "longitudes; plot_spectrum draws them. For a map, add coordinates lat and lon to "
                "the field."
            )
        return _on_earth("points", lon.values, lat.values), array.values
    if array.ndim != _MAP_DIMS:
        dims = _sizes_of(array) or "none"
        raise ValueError(f"A map has two dimensions, or points along one; got {dims}.")
    across = _x_dimension(array)
    (down,) = (name for name in array.dims if name != across)
    values = array.transpose(down, across).values
    if lat is not None and lon is not None:
        x, y = (each.transpose(down, across).values for each in (lon, lat))
        if min(array.shape) == 1:  # cells in a line have no known corners
            return _on_earth("points", x.ravel(), y.ravel()), values.ravel()
        return _on_earth("curved", x, y), values
    x, x_label, x_kind, x_unit = _along(array, across)
    y, y_label, y_kind, y_unit = _along(array, down)
    if x_kind == "lon":
        unwrapped = np.unwrap(x, period=_TURN)
        x = unwrapped if (np.diff(unwrapped) > 0).all() else x
    columns, rows = np.argsort(x, kind="stable"), np.argsort(y, kind="stable")
    degrees = (x_kind, y_kind) == ("lon", "lat")
    places = Places("grid", x[columns], y[rows], x_label, y_label, degrees, x_unit == y_unit)
    return places, values[np.ix_(rows, columns)]


def _on_earth(kind: Literal["curved", "points"], x: Any, y: Any) -> Places:
    lon, lat = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    return Places(kind, lon, lat, LABELS["lon"], LABELS["lat"], degrees=True, alike=True)


def _sizes_of(array: "xr.DataArray") -> str:
    return ", ".join(f"{name} ({size})" for name, size in array.sizes.items())


def _has_map(array: "xr.DataArray") -> bool:
    if array.ndim == 1:
        return all(_coordinate(array, kind) is not None for kind in ("lat", "lon"))
    return array.ndim == _MAP_DIMS


def _extra_dimension(array: "xr.DataArray") -> Hashable:
    """Return the first dimension that is not a latitude, a longitude, x or y."""
    known = {name for name in array.dims if _kind(array, name) or str(name).lower() in ("x", "y")}
    return next((name for name in array.dims if name not in known), array.dims[0])


def _x_dimension(array: "xr.DataArray") -> Hashable:
    """Return the dimension that is drawn along x: the longitudes, or else the last one."""
    first, second = array.dims
    attrs = array.coords[first].attrs if first in array.coords else {}
    names = {str(first).lower(), str(attrs.get("standard_name", "")).lower()}
    is_x = _kind(array, first) == "lon" or bool(names & _X_NAMES) or attrs.get("axis") == "X"
    return first if is_x and _kind(array, second) != "lon" else second


def _kind(array: "xr.DataArray", name: Hashable) -> str | None:
    """Return "lat" or "lon" for a coordinate of latitudes or longitudes, else None."""
    return axis_of(name, array.coords[name].attrs) if name in array.coords else None


def _coordinate(array: "xr.DataArray", kind: str) -> "xr.DataArray | None":
    """Return the latitudes or longitudes if there is one for each cell."""
    for name, coordinate in array.coords.items():
        if coordinate.ndim == array.ndim and _kind(array, name) == kind:
            found: xr.DataArray = coordinate
            return found
    return None


def _along(array: "xr.DataArray", name: Hashable) -> tuple[FloatArray, str, str | None, str]:
    """Return a dimension's coordinate, label, kind and unit; positions if it has no numbers."""
    if name in array.coords:
        coordinate = array.coords[name]
        if is_scale(coordinate.values):
            kind, unit = _kind(array, name), str(coordinate.attrs.get("units", ""))
            label = LABELS[kind] if kind else f"{name} ({unit})" if unit else str(name)
            values = np.asarray(coordinate.values, dtype=np.float64)
            return values, label, kind, unit.lower() if kind is None else "degrees"
    return np.arange(array.sizes[name], dtype=np.float64), str(name), None, ""


# Maps


@dataclass(frozen=True)
class Map:
    """Groups and values of the cells of a variable."""

    title: str  # of the variable, and where it is cut
    places: Places
    groups: npt.NDArray[np.intp]  # (ny, nx) or (n,); −1: constant cell, −2: cell left out
    single: npt.NDArray[np.intp]  # groups of one cell
    values: FloatArray | None  # one per cell, such as effects; NaN if unknown
    flipped: npt.NDArray[np.bool_]  # cells that enter the mean of their group with the sign flipped
    every: int = 1  # one in so many rows and columns, or points, is kept
    target: str = ""  # the one that the values are of, with its unit, if it has a name
    again: bool = False  # whether the groups are those of a map before, of another target


def make_map(
    labels: "xr.DataArray",
    values: "xr.DataArray | None" = None,
    *,
    signs: "xr.DataArray | None" = None,
    sizes: Any,
    title: str = "",
) -> Map:
    """Lay out a map from the labels of its cells (NaN if left out) and the sizes of all groups."""
    places, ordered = locate_cells(labels)
    ordered = np.asarray(ordered, dtype=np.float64)
    left_out = np.isnan(ordered)
    if places.kind != "grid":
        left_out |= ~(np.isfinite(places.x) & np.isfinite(places.y))
    groups = np.where(left_out, LEFT_OUT, ordered).astype(np.intp)
    present = np.unique(groups[groups >= 0])
    return Map(
        title,
        places,
        groups,
        present[np.asarray(sizes)[present] == 1],
        None if values is None else np.asarray(locate_cells(values)[1], dtype=np.float64),
        np.zeros(groups.shape, np.bool_) if signs is None else locate_cells(signs)[1] < 0,
    )


def choose_maps(
    field: Field,
    labels: npt.NDArray[np.intp],
    values: FloatArray | None = None,
    *,
    signs: npt.NDArray[np.int8] | None = None,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
) -> list[Map]:
    """Lay out the maps that are chosen; raises if there are none, or more than fit on a page."""
    found = _find_maps(field, labels, variable, select)
    count = sum(len(positions) for *_, positions in found)
    first = found[0][1]
    if count == 0:
        locate_cells(first)  # says why
    if count > _PANELS:
        ways = ["variable=…"] if len(found) > 1 else []
        if first.ndim > _MAP_DIMS:
            extra = _extra_dimension(first)
            ways.append(f"select={{{extra!r}: …}}; available: {_listed(first, extra)}")
        raise ValueError(
            f"There are {count} maps, and at most {_PANELS} are drawn. Choose with "
            f"{' or '.join(ways)}."
        )
    return list(_lay_out(found, field, values, signs, _group_sizes(labels), select))


_Found = list[tuple[Variable, "xr.DataArray", list[dict[Hashable, int]]]]
"""Variables, their labels, and the positions beyond two dimensions where each has maps."""


def _find_maps(
    field: Field,
    labels: npt.NDArray[np.intp],
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
) -> _Found:
    on_grid = _on_grid(field, labels)
    if variable is not None:
        _variable(on_grid, variable)  # raises if there is none of that name
    found = []
    for own in field.variables:
        if variable is None or own.name == variable:
            cells = _select_cells(_variable(on_grid, own.name), select)
            found.append((own, cells, _map_positions(cells)))
    return found


def _lay_out(
    found: _Found,
    field: Field,
    values: FloatArray | None,
    signs: npt.NDArray[np.int8] | None,
    sizes: npt.NDArray[np.intp],
    select: Mapping[Any, Any] | None = None,
) -> Iterator[Map]:
    """Lay out the maps found, one by one."""
    others = [None if each is None else _on_grid(field, each) for each in (values, signs)]
    for own, labels, positions in found:
        chosen: list[Any] = [
            None if each is None else _select_cells(_variable(each, own.name), select)
            for each in others
        ]
        for place in positions:
            numbers, flips = (None if each is None else each.isel(place) for each in chosen)
            title = _title(labels, own, place)
            yield make_map(labels.isel(place), numbers, signs=flips, sizes=sizes, title=title)


def report_maps(reducer: Any, effects: FloatArray | None) -> tuple[tuple[Map, ...], int]:
    """Return the first maps of a model, thinned if they are large, and how many there are.

    ``effects`` are those of the reduced features, of several targets one row for each.
    """
    field = field_of(reducer)
    # A model that was loaded from a file can be reported on without xarray.
    if field is None or find_spec("xarray") is None:
        return (), 0
    rows: list[Any] = [None] if effects is None else list(np.atleast_2d(effects))
    found = _find_maps(field, reducer.labels_)
    total = len(rows) * sum(len(positions) for *_, positions in found)
    maps: list[Map] = []
    for k, row in enumerate(rows):
        values = None if row is None else effect_of_cells(reducer, row)
        drawn = _lay_out(found, field, values, reducer.signs_, _group_sizes(reducer.labels_))
        for whole in islice(drawn, _MAPS - len(maps)):
            thinned = _thinned(whole, min(total, _MAPS))
            maps.append(replace(thinned, target=title_of_target(reducer._targets, k), again=k > 0))
    return tuple(maps), total


def effect_of_cells(reducer: Any, effects: FloatArray) -> FloatArray:
    """Return the effect of each cell's group; NaN of a constant cell."""
    return np.asarray(np.append(effects, np.nan)[reducer.labels_])


def _on_grid(field: Field, values: npt.NDArray[Any]) -> Any:
    return put(field, values.astype(np.float64), field.variables[0].name, {})


def _group_sizes(labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return np.bincount(labels[labels >= 0])


def _map_positions(array: "xr.DataArray") -> list[dict[Hashable, int]]:
    """Return the positions along dimensions beyond two, one for each map; none without maps."""
    found: list[dict[Hashable, int]] = [{}]
    while array.ndim > _MAP_DIMS:
        extra = _extra_dimension(array)
        found = [each | {extra: place} for each in found for place in range(array.sizes[extra])]
        array = array.isel({extra: 0})
    return found if _has_map(array) else []


def _title(array: "xr.DataArray", variable: Variable, position: Mapping[Hashable, int]) -> str:
    """Return the long name of a variable, if it has one, its short one, and the position."""
    name = "" if variable.name is None else str(variable.name)
    long = variable.attrs.get("long_name")
    if isinstance(long, str) and long.strip() and long != variable.name:
        name = f"{long} ({name})" if name else long
    parts = [name] if name else []
    parts += [f"{dim}={_texts_along(array, dim)[place]}" for dim, place in position.items()]
    return shown(", ".join(parts), LONGEST_NAME) if parts else ""


def _thinned(map: Map, n_maps: int) -> Map:
    """Keep every k-th row and column if there are too many cells, and values to five digits."""
    ratio = map.groups.size / (_CELLS / n_maps)
    every = max(1, ceil(ratio if map.places.kind == "points" else np.sqrt(ratio)))
    kept = (slice(None, None, every),) * map.groups.ndim
    x, y = map.places.x, map.places.y
    values = None
    if map.values is not None:
        values = map.values[kept]
        rounded = [float(f"{value:.{_DIGITS}g}") for value in values.ravel()]
        values = np.array(rounded).reshape(values.shape)
    return replace(
        map,
        places=replace(map.places, x=x[kept[: x.ndim]], y=y[kept[: y.ndim]]),
        groups=map.groups[kept],
        values=values,
        flipped=map.flipped[kept],
        every=every,
    )


def _select_cells(array: Any, select: Mapping[Any, Any] | None) -> Any:
    """Select along dimensions, by coordinate or else by position."""
    if not (select is None or isinstance(select, Mapping)):
        raise ValueError(f'select must be a mapping such as {{"level": 500}}, got {select!r}.')
    for dimension, place in (select or {}).items():
        if dimension not in array.dims:
            listed = ", ".join(repr(name) for name in array.dims)
            raise ValueError(f"There is no dimension {dimension!r}; the cells have {listed}.")
        available = f"available: {_listed(array, dimension)}"
        try:
            array = array.sel({dimension: place})
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError(f"There is no {dimension} {place!r}; {available}.") from None
        if dimension in array.dims:
            raise ValueError(f"select takes a single {dimension}, got {place!r}; {available}.")
    return array


def _variable(field: Any, variable: Any) -> Any:
    """Return one variable of a Dataset, or the DataArray itself."""
    if hasattr(field, "data_vars"):
        names = list(field.data_vars)
        listed = ", ".join(map(repr, names))
        if variable not in names:
            raise ValueError(f"There is no variable {variable!r}; available: {listed}.")
        return field[variable]
    if variable is not None and variable != field.name:
        raise ValueError(f"There is no variable {variable!r}; the field is {field.name!r}.")
    return field


def _listed(array: Any, dimension: Hashable) -> str:
    """List the first coordinates of a dimension, or its positions."""
    named = _texts_along(array, dimension)
    return ", ".join(named[:_LISTED]) + (", …" if len(named) > _LISTED else "")


def _texts_along(array: Any, dimension: Hashable) -> list[str]:
    if dimension in array.coords:
        return texts(array.coords[dimension].values)
    return [str(place) for place in range(array.sizes[dimension])]
