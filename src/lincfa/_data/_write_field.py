"""From tables back to xarray fields."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import is_dask, is_dataset, real_numbers
from ._field import GROUP, Field, Variable
from ._names import Names
from ._places import SUMMARISED, find_places

PREDICTION = "prediction"
"""Name of what is predicted, where the target has none."""

_MISSING = np.int32(-9999)  # in files; constant cells are -1

_OF_UNITS = ("standard_name", "valid_min", "valid_max", "valid_range", "actual_range")
"""Attributes that hold for values in the original units and with their own sign only."""


def xarray() -> Any:
    try:
        import xarray as xr
    except ImportError as error:
        raise ImportError("A field needs xarray: pip install 'lincfa[xarray]'") from error
    return xr


def put(field: Field, values: npt.NDArray[Any], name: Hashable, attrs: Mapping[str, Any]) -> Any:
    """Put one number per column on the grid, NaN in cells that were left out."""
    coords, maps = _coordinates(field), {}
    for variable, columns in field.parts:
        grid = np.full(variable.present.size, np.nan)
        grid[variable.present] = values[columns]
        maps[variable.name] = _array(
            grid.reshape(variable.shape), field.cell_dims(variable), coords, attrs
        )
    return _gathered(field, maps, name)


def label_map(field: Field, labels: npt.NDArray[np.intp], names: Names) -> Any:
    """Put the group of each column on the grid, with the attributes that CF has for flags."""
    maps = put(field, labels.astype(np.float64), GROUP, {})
    for variable, columns in field.parts:
        array = maps[variable.name] if field.is_dataset else maps
        own = np.unique(labels[columns]).astype(np.int32)
        words = ["constant" if k < 0 else _word(str(names[k])) for k in own.tolist()]
        array.attrs = {"long_name": "group of the cell, or -1 for a constant one"}
        if words:
            array.attrs |= {"flag_values": own, "flag_meanings": " ".join(words)}
        array.encoding = {"dtype": "int32", "_FillValue": _MISSING}
    return maps


def _word(name: str) -> str:
    """Write a name with the characters that CF allows in a meaning: ``t2m_5S-5N_170-120W``."""
    plain = name.replace("°", "").replace("–", "-").replace("\N{MINUS SIGN}", "-")
    return re.sub(r"[^A-Za-z0-9_.+@-]+", "_", plain).strip("_") or "_"


def put_samples(field: Field, expand: Callable[[Variable, slice], Any], reduced: Any) -> Any:
    """Make a field from what ``expand`` returns for each variable: (samples, all cells)."""
    # ``reduced`` are the reduced features, along groups and perhaps another dimension, whose
    # position and coordinates the field takes over.
    others = reduced.coords.to_dataset().drop_dims(GROUP, errors="ignore")
    coords = _coordinates(field).assign_coords(others.coords)
    arrays = {}
    for variable, columns in field.parts:
        values = expand(variable, columns)
        samples = tuple(name for name in reduced.dims if name != GROUP)
        shape = values.shape[:1] if samples else ()
        values = values.reshape((*shape, *variable.shape))
        array = _array(values, (*samples, *field.cell_dims(variable)), coords, variable.attrs)
        order = [name for name in variable.dims if name != field.sample_dim]
        if samples:
            order.insert(variable.dims.index(field.sample_dim), samples[0])
        arrays[variable.name] = array.transpose(*order)
    return _gathered(field, arrays, field.variables[0].name)


def _gathered(field: Field, arrays: dict[Hashable, Any], name: Hashable) -> Any:
    """Return a Dataset, or the only array under this name."""
    if field.is_dataset:
        return xarray().Dataset(arrays, attrs=dict(field.attrs))
    (array,) = arrays.values()
    return array.rename(name)


def reduced_array(
    field: Field,
    X: Any,
    values: Any,
    names: Names,
    groups: Sequence[npt.NDArray[np.intp]],
    units: str,
    flipped: bool,
) -> Any:
    """Make an array (samples, groups) of reduced features, with the coordinates of the samples."""
    own = {
        GROUP: (GROUP, np.arange(len(groups)), {"long_name": "group of cells"}),
        # Strings as objects: Zarr has no standard for strings of fixed length.
        "name": (GROUP, np.array(names, dtype=object), {"long_name": "reduced feature"}),
        "size": (GROUP, np.array([len(group) for group in groups]), {"long_name": "cells"}),
    }
    if field.is_dataset:  # groups do not cross variables
        of = field.variable_of_column
        variables = [str(field.variables[of[group[0]]].name) for group in groups]
        own["variable"] = (GROUP, np.array(variables, dtype=object), {"long_name": "variable"})
    coords = _sample_coordinates(field, X)
    places = find_places(field, groups)
    if places is not None:
        for name, figures in places.columns().items():
            meaning, unit = SUMMARISED[name]
            own[name] = (GROUP, figures, {"long_name": meaning, "units": unit})
    for name in own:
        if name in coords.coords:
            raise ValueError(
                f"The field has a coordinate {name!r} along its samples; the reduced features need "
                "that name: rename or drop it first."
            )
    return xarray().DataArray(
        values,
        dims=(field.sample_dim, GROUP),
        coords=coords.assign_coords(own).coords,
        name="reduced",
        attrs=reduced_attributes(field, units, flipped),
    )


def along(
    field: Field,
    X: Any,
    values: Any,
    name: str,
    columns: tuple[str, list[Any]],
    attrs: Mapping[str, Any],
) -> Any:
    """Return values along the samples; if they have columns, also along a dimension of these."""
    coords = _sample_coordinates(field, X)
    dims: tuple[Hashable, ...] = (field.sample_dim,)
    if values.ndim == 2:
        name_of_columns = columns[0]
        while name_of_columns in coords.variables or name_of_columns in dims:
            name_of_columns += "_"
        dims = (*dims, name_of_columns)
        coords = coords.assign_coords({name_of_columns: columns[1]})
    name = PREDICTION if name in coords.variables else name
    return xarray().DataArray(values, dims=dims, coords=coords.coords, name=name, attrs=dict(attrs))


def _sample_coordinates(field: Field, X: Any) -> Any:
    cells = [name for name in X.dims if name != field.sample_dim]
    return X.coords.to_dataset().drop_dims(cells, errors="ignore")


def _coordinates(field: Field) -> Any:
    coords = xarray().Dataset(
        coords={c.name: (c.dims, c.values, dict(c.attrs)) for c in field.coordinates}
    )
    return coords.set_index({name: list(levels) for name, levels in field.levels.items()})


def _array(values: Any, dims: tuple[Hashable, ...], coords: Any, attrs: Mapping[Any, Any]) -> Any:
    others = [name for name in coords.dims if name not in dims]
    return xarray().DataArray(
        values, dims=dims, coords=coords.drop_dims(others).coords, attrs=dict(attrs)
    )


def reduced_attributes(field: Field, units: str, flipped: bool) -> dict[Any, Any]:
    """Return the attributes that all variables share, as far as they hold for (±) means."""
    first, *others = [variable.attrs for variable in field.variables]
    agreed = {
        key: value
        for key, value in first.items()
        if all(key in attrs and np.array_equal(attrs[key], value) for attrs in others)
    }
    if units == "original" and not flipped:
        return agreed
    kept = {key: value for key, value in agreed.items() if key not in _OF_UNITS}
    return kept if units == "original" else {**kept, "units": "1"}


def map_values(field: Field, values: Any, name: Hashable) -> Any:
    array = real_numbers(values, "values")
    if array.shape != (len(field.names),):
        raise ValueError(
            f"values must have one number per feature, shape ({len(field.names)},), got "
            f"{array.shape}."
        )
    return put(field, array, name, {} if name is None else {"long_name": str(name)})


def check_reduced_field(X: Any, n_groups: int) -> Any:
    """Return the values of reduced features along groups, as an array of two dimensions."""
    if is_dataset(X) or GROUP not in X.dims or X.ndim > 2:
        raise ValueError(
            f"Reduced features must be a DataArray along {GROUP!r} and, at most, another "
            f"dimension; the dimensions are: {', '.join(map(str, X.dims)) or 'none'}."
        )
    numbers = X.coords[GROUP].values if GROUP in X.coords else np.arange(X.sizes[GROUP])
    if not np.array_equal(numbers, np.arange(n_groups)):
        raise ValueError(
            f"The groups must be those of the model in their order, 0 to {n_groups - 1} along "
            f"{GROUP!r}."
        )
    data = X.transpose(..., GROUP).data
    return np.atleast_2d(data if is_dask(data) else np.asarray(data))
