"""Groups and weights of the cells of a field, laid out as a map."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._places import FLAT, Places, beyond_a_map, places_of

if TYPE_CHECKING:
    import xarray as xr

CONSTANT, LEFT_OUT = -1, -2


@dataclass(frozen=True)
class Map:
    """What is known of the cells of a variable.

    Attributes
    ----------
    title : str
        Name of the variable, and where it is cut.
    places : Places
        Where the cells are.
    groups : array of shape (ny, nx), or (n,) for single places
        Group of each cell; −1 for a constant one, −2 for one that was left out.
    single : array
        The groups that have one cell alone.
    values : array of the shape of ``groups``, or None
        A number for each cell, such as its weight; NaN where there is none.
    """

    title: str
    places: Places
    groups: npt.NDArray[np.intp]
    single: npt.NDArray[np.intp]
    values: FloatArray | None


def map_of(
    labels: "xr.DataArray", sizes: Any, values: "xr.DataArray | None" = None, title: str = ""
) -> Map:
    """Lay out a map.

    Parameters
    ----------
    labels : DataArray
        Group of each cell; −1 for a constant one, NaN for one left out.
    sizes : array of shape (n_groups,)
        How many features each group has, on this map or not.
    values : DataArray, default=None
        A number for each cell.
    title : str, default=""
    """
    places, told = places_of(labels)
    told = np.asarray(told, dtype=np.float64)
    nowhere = np.isnan(told)
    if places.kind != "grid":
        nowhere |= ~(np.isfinite(places.x) & np.isfinite(places.y))
    groups = np.where(nowhere, LEFT_OUT, told).astype(np.intp)
    shown = np.unique(groups[groups >= 0])
    return Map(
        title,
        places,
        groups,
        shown[np.asarray(sizes)[shown] == 1],
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
    for dimension, place in (select or {}).items():
        if dimension not in array.dims:
            listed = ", ".join(repr(name) for name in array.dims)
            raise ValueError(f"select names {dimension!r}; the dimensions of cells are {listed}.")
        try:
            array = array.sel({dimension: place})
        except (KeyError, IndexError):
            raise ValueError(
                f"There is no {dimension} {place!r}; there are {_places_along(array, dimension)}."
            ) from None
        if dimension in array.dims:
            raise ValueError(f"select takes one {dimension}, got {place!r}.")
    if array.ndim > FLAT:
        dims = ", ".join(f"{name} ({size})" for name, size in array.sizes.items())
        extra = beyond_a_map(array)
        first = _places_along(array, extra, 1)
        raise ValueError(
            f"A map has two dimensions, and the cells have {array.ndim}: {dims}. Select one, as "
            f"with select={{{extra!r}: {first}}}; there are {_places_along(array, extra)}."
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


def _places_along(array: Any, dimension: Hashable, limit: int = 10) -> str:
    """List the first coordinates of a dimension, or its positions."""
    known = dimension in array.coords
    values = array.coords[dimension].values if known else np.arange(array.sizes[dimension])
    listed = ", ".join(repr(value) for value in values[:limit].tolist())
    return f"{listed} and more" if 1 < limit < len(values) else listed
