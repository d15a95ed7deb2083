"""Data sets of NetCDF and Zarr read as tables: a row for each sample, a column for each cell."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..._data._cells import cell_names, place_names
from ._form import Form
from ._table import Grid, Gridded, TableFile

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

_BLOCK = 256  # cells turned to columns at once
_NUMBERS, TEXT = "iufbmM", "OUST"  # kinds of types


def read_grid(path: str, form: Form, samples: str | None) -> TableFile:
    """Read a data set along one of its dimensions.

    A numeric variable with other dimensions gives a column for each of their cells, named
    ``t2m[lat=45.0, lon=7.5]``. A variable along the samples alone keeps its name.
    """
    import polars as pl

    with open_grid(path, form) as file:
        samples = sample_dimension(file, samples, path)
        gridded = gridded_variables(file, samples)
        try:
            others = file.drop_vars(gridded).load()
            columns = list(_plain_columns(others, samples))
            plain = [column.name for column in columns]
            taken = set(plain)
            variables = []
            for name in gridded:
                variable, cells = _cells(file[name], samples, taken)
                variables.append(variable)
                columns.extend(cells)
        except (OSError, RuntimeError, KeyError):
            raise damaged(path, form) from None
    grid = Grid(
        samples=samples,
        others=others,
        variables=variables,
        coordinates=[name for name in plain if name in others.coords],
        apart=[str(name) for name in others.variables if name not in {*plain, *others.dims}],
    )
    return TableFile(path, pl.DataFrame(columns), form, grid=grid)


def open_grid(path: str, form: Form) -> xr.Dataset:
    """Open a data set, of which nothing but coordinates is read."""
    import xarray as xr

    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    engine: Any = {"netcdf": "netcdf4", "zarr": "zarr"}[form.kind]
    # Metadata gathered in one place help over a network only, and their lack would be warned of.
    options: Any = {"consolidated": False} if engine == "zarr" else {}
    try:
        file = xr.open_dataset(path, engine=engine, cache=False, decode_timedelta=False, **options)
    except Exception:
        raise damaged(path, form) from None
    if engine == "zarr":  # a folder, which has no order of its own
        file = file[sorted(file.data_vars, key=str)]
    return file


def gridded_variables(data: xr.Dataset, samples: str) -> list[str]:
    """Name the numeric variables along the samples and other dimensions."""
    return [
        str(name)
        for name, variable in data.data_vars.items()
        if _is_numeric(variable) and samples in variable.dims and variable.ndim > 1
    ]


def sample_dimension(data: xr.Dataset, samples: str | None, path: str) -> str:
    listed = ", ".join(f"{name} ({size})" for name, size in data.sizes.items()) or "none"
    if samples is not None:
        if samples not in data.dims:
            raise ValueError(f"{path} has no dimension {samples!r}; its dimensions are: {listed}.")
        return samples
    if "time" in data.dims:
        return "time"
    along = [set(v.dims) for v in data.data_vars.values() if _is_numeric(v) and v.ndim]
    shared = set.intersection(*along) if along else set()
    if len(shared) != 1:
        raise ValueError(
            f"{path}: along which dimension are the samples? Give it; its dimensions are: {listed}."
        )
    return str(shared.pop())


def _plain_columns(data: xr.Dataset, samples: str) -> Iterator[pl.Series]:
    """Give the variables along the samples alone, the coordinates first."""
    import polars as pl

    for name in plain_variables(data, samples):
        values = data[name].values
        if values.dtype.kind in _NUMBERS:
            yield pl.Series(name, native(values))
        else:
            yield pl.Series(name, [as_text(value) for value in values.tolist()], dtype=pl.String)


def plain_variables(data: xr.Dataset, samples: str) -> list[str]:
    """Name the variables along the samples alone that can be columns, the coordinates first."""
    names = dict.fromkeys([samples, *map(str, data.coords), *map(str, data.data_vars)])
    return [
        name
        for name in names
        if name in data.variables
        and data[name].dims == (samples,)
        and data[name].dtype.kind in _NUMBERS + TEXT
    ]


def _cells(
    variable: xr.DataArray, samples: str, taken: set[str]
) -> tuple[Gridded, list[pl.Series]]:
    """Give each cell of a gridded variable as a column; its name is entered as taken."""
    import polars as pl

    ordered = variable.transpose(samples, ...)
    values = native(ordered.values.reshape(ordered.shape[0], -1))
    known = describe_cells(variable, samples, taken, values.dtype)
    names = known.columns
    columns: list[pl.Series] = []
    for start in range(0, len(names), _BLOCK):
        block = np.ascontiguousarray(values[:, start : start + _BLOCK].T)
        columns.extend(
            pl.Series(name, cell)
            for name, cell in zip(names[start : start + _BLOCK], block, strict=True)
        )
    return known, columns


def describe_cells(
    variable: xr.DataArray, samples: str, taken: set[str], dtype: np.dtype[Any]
) -> Gridded:
    """Name the cells of a gridded variable, which has this type in a table."""
    others = [str(name) for name in variable.dims if name != samples]
    places = [
        place_names(
            name,
            variable.sizes[name],
            variable.coords[name].values if name in variable.coords else None,
        )
        for name in others
    ]
    return Gridded(
        name=str(variable.name),
        dims=tuple(str(name) for name in variable.dims),
        shape=tuple(variable.sizes[name] for name in others),
        columns=cell_names(variable.name, places, taken),
        dtype=dtype,
        attrs=dict(variable.attrs),
        encoding=dict(variable.encoding),
    )


def _is_numeric(variable: xr.DataArray) -> bool:
    return variable.dtype.kind in "iuf"


def native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Give values in the byte order of the machine, and in a precision that tables have."""
    if values.dtype.kind == "f":
        return values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64, copy=False)
    if values.dtype.kind == "m":
        return values.astype("m8[ns]", copy=False)
    if values.dtype.kind == "M":
        return values.astype("M8[ns]", copy=False)
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def as_text(value: Any) -> str | None:
    """Give a value as text; dates of the calendars of climate models in ISO form."""
    if value is None or isinstance(value, float):
        return None
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def damaged(path: str, form: Form) -> ValueError:
    """Give the error for a data set that cannot be read."""
    what = {"netcdf": "NetCDF file", "zarr": "Zarr store"}[form.kind]
    return ValueError(f"{path} is not a {what}, or a damaged one.")
