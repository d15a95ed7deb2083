"""Groups and weights of the cells of a field, laid out as a map."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._data._cells import texts
from ..._data._field._build import put
from ..._data._field._describe import Field, Variable
from ..._data._names import shown
from ...theory._arrays import FloatArray
from ._coefficients import effect_of_features
from ._groups import LONGEST_NAME
from ._places import FLAT, Places, beyond_a_map, is_map, places_of

if TYPE_CHECKING:
    import xarray as xr

CONSTANT, LEFT_OUT = -1, -2
_MAPS = 4
_CELLS = 40_000  # of all maps of a report together
_DIGITS = 5
_LISTED = 10


@dataclass(frozen=True)
class Map:
    """What is known of the cells of a variable.

    Attributes
    ----------
    title : str
        Name of the variable, the long one first if there is one, and where it is cut.
    places : Places
        Where the cells are.
    groups : array of shape (ny, nx), or (n,) for single places
        Group of each cell; −1 for a constant one, −2 for one that was left out.
    single : array
        The groups that have one cell alone.
    values : array of the shape of ``groups``, or None
        A number for each cell, such as its weight; NaN where there is none.
    every : int
        Of how many rows and columns, or places, one is kept; 1 for all.
    """

    title: str
    places: Places
    groups: npt.NDArray[np.intp]
    single: npt.NDArray[np.intp]
    values: FloatArray | None
    every: int = 1


def map_on(
    field: Field,
    labels: npt.NDArray[np.intp],
    values: FloatArray | None = None,
    *,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
) -> Map:
    """Lay out the groups of the cells of a field, and a number for each; see :func:`cut`."""
    on_grid = [_on_grid(field, each) for each in (labels, values) if each is not None]
    told = [cut(each, variable, select) for each in on_grid]
    return map_of(*told, sizes=_sizes(labels))


def maps_of(reducer: Any, coef: FloatArray | None) -> tuple[tuple[Map, ...], int]:
    """Give the maps of a model for a report, with weights if there are coefficients."""
    field: Field | None = getattr(reducer, "field_", None)
    # A model that was read from a file can be reported on without xarray.
    if field is None or find_spec("xarray") is None:
        return (), 0
    effects = None if coef is None else effect_of_features(reducer, coef)
    return maps_on(field, reducer.labels_, effects)


def maps_on(
    field: Field, labels: npt.NDArray[np.intp], values: FloatArray | None = None
) -> tuple[tuple[Map, ...], int]:
    """Give the first maps of a field, thinned out where they are large, and how many there are.

    One for each variable, or for each place along the dimensions beyond two. Variables whose cells
    are not on a map have none.
    """
    on_grid = [_on_grid(field, each) for each in (labels, values) if each is not None]
    wanted = [
        (variable.name, places)
        for variable in field.variables
        for places in _maps_within(_variable(on_grid[0], variable.name))
    ]
    called = {variable.name: _called(variable) for variable in field.variables}
    first = wanted[:_MAPS]
    maps = []
    for name, places in first:
        told = [_variable(each, name).isel(places) for each in on_grid]
        title = _title(_variable(on_grid[0], name), called[name], places)
        maps.append(_thinned(map_of(*told, sizes=_sizes(labels), title=title), len(first)))
    return tuple(maps), len(wanted)


def _on_grid(field: Field, values: npt.NDArray[Any]) -> Any:
    return put(field, values.astype(np.float64), field.variables[0].name, {})


def _sizes(labels: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return np.bincount(labels[labels >= 0])


def _maps_within(array: "xr.DataArray") -> list[dict[Hashable, int]]:
    """Give the positions along dimensions beyond two, one for each map; nothing without maps."""
    found: list[dict[Hashable, int]] = [{}]
    while array.ndim > FLAT:
        extra = beyond_a_map(array)
        found = [each | {extra: place} for each in found for place in range(array.sizes[extra])]
        array = array.isel({extra: 0})
    return found if is_map(array) else []


def _called(variable: Variable) -> str:
    """Give the long name of a variable, if it has one, and its short one."""
    long = variable.attrs.get("long_name")
    if not isinstance(long, str) or not long.strip() or long == variable.name:
        return "" if variable.name is None else str(variable.name)
    return long if variable.name is None else f"{long} ({variable.name})"


def _title(array: "xr.DataArray", name: str, places: Mapping[Hashable, int]) -> str:
    parts = [name] if name else []
    parts += [f"{dim}={_texts_along(array, dim)[place]}" for dim, place in places.items()]
    return shown(", ".join(parts), LONGEST_NAME) if parts else ""


def _thinned(map: Map, maps: int) -> Map:
    """Keep every few-th row and column where so many maps have too many cells, and few digits."""
    points = map.places.kind == "points"
    ratio = map.groups.size / (_CELLS / maps)
    every = max(1, ceil(ratio if points else np.sqrt(ratio)))
    few = (slice(None, None, every),) * map.groups.ndim
    x, y = map.places.x, map.places.y
    values = map.values
    if values is not None:
        kept = values[few]
        values = np.array([float(f"{v:.{_DIGITS}g}") for v in kept.ravel()]).reshape(kept.shape)
    return replace(
        map,
        places=replace(map.places, x=x[few[: x.ndim]], y=y[few[: y.ndim]]),
        groups=map.groups[few],
        values=values,
        every=every,
    )


def map_of(
    labels: "xr.DataArray", values: "xr.DataArray | None" = None, *, sizes: Any, title: str = ""
) -> Map:
    """Lay out a map.

    Parameters
    ----------
    labels : DataArray
        Group of each cell; −1 for a constant one, NaN for one left out.
    values : DataArray, default=None
        A number for each cell.
    sizes : array of shape (n_groups,)
        How many features each group has, on this map or not.
    title : str, default=""
    """
    places, told = places_of(labels)
    told = np.asarray(told, dtype=np.float64)
    nowhere = np.isnan(told)
    if places.kind != "grid":
        nowhere |= ~(np.isfinite(places.x) & np.isfinite(places.y))
    groups = np.where(nowhere, LEFT_OUT, told).astype(np.intp)
    present = np.unique(groups[groups >= 0])
    return Map(
        title,
        places,
        groups,
        present[np.asarray(sizes)[present] == 1],
        None if values is None else np.asarray(places_of(values)[1], dtype=np.float64),
    )


def cut(field: Any, variable: Any = None, select: Mapping[Any, Any] | None = None) -> Any:
    """Give one variable of what is on the grid of a field, where some dimensions are selected.

    Parameters
    ----------
    field : DataArray or Dataset
    variable : hashable, default=None
        Needed where there are several.
    select : mapping, default=None
        From names of dimensions to one of their coordinates, or to a position where there are none.

    Raises
    ------
    ValueError
        Where there is no such variable or place, or more than two dimensions are left.
    """
    array = _variable(field, variable)
    if not (select is None or isinstance(select, Mapping)):
        raise ValueError(f'select must be as {{"level": 500}}, got {select!r}.')
    for dimension, place in (select or {}).items():
        if dimension not in array.dims:
            listed = ", ".join(repr(name) for name in array.dims)
            raise ValueError(f"select names {dimension!r}; the dimensions of cells are {listed}.")
        there = f"there are {_listed(array, dimension)}"
        try:
            array = array.sel({dimension: place})
        except (KeyError, IndexError, TypeError, ValueError):
            raise ValueError(f"There is no {dimension} {place!r}; {there}.") from None
        if dimension in array.dims:
            raise ValueError(f"select takes one {dimension}, got {place!r}; {there}.")
    if array.ndim > FLAT:
        dims = ", ".join(f"{name} ({size})" for name, size in array.sizes.items())
        extra = beyond_a_map(array)
        raise ValueError(
            f"A map has two dimensions, and the cells have {array.ndim}: {dims}. Select one, as "
            f"with select={{{extra!r}: …}}; there are {_listed(array, extra)}."
        )
    return array


def _variable(field: Any, variable: Any) -> Any:
    if hasattr(field, "data_vars"):
        names = list(field.data_vars)
        listed = ", ".join(map(repr, names))
        if variable is None and len(names) > 1:
            raise ValueError(f"variable is needed, to say which of {listed} to draw.")
        if variable is not None and variable not in names:
            raise ValueError(f"There is no variable {variable!r}; there are {listed}.")
        return field[names[0] if variable is None else variable]
    if variable is not None and variable != field.name:
        raise ValueError(f"There is no variable {variable!r}; the field is one, {field.name!r}.")
    return field


def _listed(array: Any, dimension: Hashable) -> str:
    """List the first coordinates of a dimension, or its positions."""
    named = _texts_along(array, dimension)
    return ", ".join(named[:_LISTED]) + (" and more" if len(named) > _LISTED else "")


def _texts_along(array: Any, dimension: Hashable) -> list[str]:
    if dimension in array.coords:
        return texts(array.coords[dimension].values)
    return [str(place) for place in range(array.sizes[dimension])]
