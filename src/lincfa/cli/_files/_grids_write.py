"""Tables written as data sets of NetCDF and Zarr."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._form import Form
from ._table import Grid, Gridded, TableFile

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

SAMPLE = "sample"
# Settings of a variable that stay valid in another file, and with other samples.
_LASTING = {
    "dtype",
    "_FillValue",
    "missing_value",
    "scale_factor",
    "add_offset",
    "units",
    "calendar",
    "grid_mapping",
}
_LASTING_NETCDF = {"zlib", "complevel", "shuffle", "fletcher32"}


def write_grid(
    path: str,
    form: Form,
    table: TableFile,
    keep: Sequence[str],
    rows: npt.NDArray[np.intp] | None,
    reduced: npt.NDArray[Any],
    names: Sequence[str],
    members: Sequence[Sequence[str]],
    units: str | None,
) -> None:
    """Write a data set: what is kept, the reduced features, and the group of each cell."""
    if table.grid is None:
        samples, data = SAMPLE, _from_columns(table.frame.select(keep), rows)
    else:
        samples, data = table.grid.samples, _from_grid(table, table.grid, keep, rows)
    settle_encoding(data, form.kind == table.form.kind == "netcdf")
    variables = () if table.grid is None else table.grid.variables
    data = with_reduced(data, samples, reduced, names, variables, members, units)
    if form.kind == "netcdf":
        try:
            data.to_netcdf(path, engine="netcdf4")
        except RuntimeError as error:  # which is all that the library says of a full disk
            reason = f"the NetCDF library cannot write it ({error}); is the disk full?"
            raise OSError(errno.EIO, reason, path) from error
    else:
        store(data, path)


def store(data: xr.Dataset, path: str) -> None:
    """Write a Zarr store, in the format 2, which every reader knows, with text and metadata."""
    data.to_zarr(path, mode="w", zarr_format=2, consolidated=True)


def with_reduced(
    data: xr.Dataset,
    samples: str,
    reduced: Any,
    names: Sequence[str],
    variables: Sequence[Gridded],
    members: Sequence[Sequence[str]],
    units: str | None,
) -> xr.Dataset:
    """Add the reduced features to a data set, and for gridded variables the group of each cell."""
    feature = free_name("reduced_feature", data)
    values = free_name("reduced", data)
    data = data.assign_coords({feature: (feature, np.array(names, dtype=object))})
    data[values] = ((samples, feature), reduced, {"long_name": "means of groups of features"})
    if units is not None:
        data[values].attrs["units"] = units
    for variable in variables:
        numbers = _group_numbers(variable, members)
        if numbers is not None:
            about = {"long_name": f"number of the place along {feature}, from 0; -1 for none"}
            dims = tuple(name for name in variable.dims if name != samples)
            if "grid_mapping" in variable.attrs:
                about["grid_mapping"] = variable.attrs["grid_mapping"]
            place = free_name(f"{variable.name}_group", data)
            data[place] = (dims, numbers, about)
    return data


def _from_grid(
    table: TableFile, grid: Grid, keep: Sequence[str], rows: npt.NDArray[np.intp] | None
) -> xr.Dataset:
    """Take the data set as it was, without what is reduced."""
    kept = set(keep)
    columns = set(table.frame.columns)
    gone = [name for name in grid.others.data_vars if name in columns]
    data = grid.others.drop_vars([name for name in gone if name not in kept])
    if rows is not None and grid.samples in data.dims:
        data = data.isel({grid.samples: rows})
    empty = set(table.empty())
    for variable in grid.variables:
        here = [place for place, name in enumerate(variable.columns) if name in kept]
        whole = len(here) == len(variable.columns)
        if not whole and all(variable.columns[place] in empty for place in here):
            continue  # cells that a mask leaves out, of a variable that is reduced
        dtype = variable.dtype if whole or variable.dtype.kind == "f" else np.dtype(np.float64)
        values = np.full((table.frame.height, len(variable.columns)), 0 if whole else np.nan, dtype)
        for place in here:
            values[:, place] = table.frame.get_column(variable.columns[place]).to_numpy()
        if rows is not None:
            values = values[rows]
        rest = tuple(name for name in variable.dims if name != grid.samples)
        # Where some cells have gone, the settings must have a value for missing.
        lasting = whole or variable.encoding.get("_FillValue") is not None
        full = (
            (grid.samples, *rest),
            values.reshape(len(values), *variable.shape),
            variable.attrs,
            variable.encoding if lasting else {},
        )
        data[variable.name] = full
        data[variable.name] = data[variable.name].transpose(*variable.dims)
    return data


def _from_columns(frame: pl.DataFrame, rows: npt.NDArray[np.intp] | None) -> xr.Dataset:
    """Make a data set of the columns of a flat table; no name in one may hold a slash."""
    import xarray as xr

    data = xr.Dataset()
    for column in frame.iter_columns():
        values = _storable(column if rows is None else column.gather(rows))
        name = free_name(column.name.replace("/", "_"), data)
        about = {} if name == column.name else {"long_name": column.name}
        data[name] = ((SAMPLE,), values, about)
    return data


def _storable(column: pl.Series) -> npt.NDArray[Any]:
    """Give a column in a type that a data set can hold; there is no missing text in one."""
    import polars as pl

    dtype = column.dtype
    if isinstance(dtype, pl.Decimal | pl.Int128) or (dtype.is_integer() and column.null_count()):
        column = column.cast(pl.Float64)
    elif isinstance(dtype, pl.Date | pl.Datetime):
        return column.cast(pl.Datetime("ns")).to_numpy()
    elif isinstance(dtype, pl.Duration):
        return column.cast(pl.Duration("ns")).to_numpy()
    elif not dtype.is_numeric() and not (dtype == pl.Boolean and not column.null_count()):
        return np.array(column.cast(pl.String).fill_null("").to_list(), dtype=object)
    return column.to_numpy()


def _group_numbers(
    variable: Gridded, members: Sequence[Sequence[str]]
) -> npt.NDArray[np.int32] | None:
    """Give the number of the reduced feature of each cell, -1 for none; None if all have none."""
    place = {name: number for number, name in enumerate(variable.columns)}
    result = np.full(len(place), -1, dtype=np.int32)
    for number, group in enumerate(members):
        for name in group:
            if name in place:
                result[place[name]] = number
    return result.reshape(variable.shape) if (result >= 0).any() else None


def settle_encoding(data: xr.Dataset, same_format: bool) -> None:
    """Forget settings that are of the old file: its chunks, its name, its compression."""
    lasting = _LASTING | (_LASTING_NETCDF if same_format else set())
    for variable in data.variables.values():
        variable.encoding = {
            key: value for key, value in variable.encoding.items() if key in lasting
        }
    growing = set(data.encoding.get("unlimited_dims", ())) & set(data.dims)
    data.encoding = {"unlimited_dims": growing} if same_format and growing else {}


def free_name(name: str, data: xr.Dataset) -> str:
    """Give a name that the data set does not have yet."""
    while name in data.variables or name in data.dims:
        if name == SAMPLE and name not in data.variables:
            break  # a column of this name tells the samples apart
        name += "_"
    return name
