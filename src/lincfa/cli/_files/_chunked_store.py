"""Tables written as Zarr stores in chunks of samples."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._chunks import ChunkedGrid, ChunkedTable, Reader
from ._grids import TEXT, open_grid
from ._grids_write import SAMPLE, free_name, settle_encoding, store, with_reduced
from ._table import Gridded

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr


def write_store(
    folder: str,
    table: ChunkedTable,
    keep: Sequence[str],
    rows: npt.NDArray[np.bool_],
    reduced: Sequence[Any],
    names: Sequence[str],
    members: Sequence[Sequence[str]],
    empty: Collection[str],
    units: str | None,
) -> None:
    """Write a Zarr store; see :func:`write_chunked`."""
    chosen = np.flatnonzero(rows)
    # The chunks of a store are of one length.
    length = min(max(table.lengths), chosen.size)
    means = _joined(reduced, table.lengths, (len(names),), np.dtype(np.float64))
    means = (means if rows.all() else means[chosen]).rechunk({0: length, 1: -1})
    if table.grid is None:
        data = _from_columns(table, keep, chosen, length)
        store(with_reduced(data, SAMPLE, means, names, (), members, units), folder)
        return
    samples, variables = table.grid.samples, table.grid.variables
    with open_grid(os.path.abspath(table.source), table.form) as file:
        if samples in file.dims and not rows.all():
            file = file.isel({samples: chosen})
        data = _in_chunks(file.drop_vars(_gone(file, table, keep, empty)), samples, length)
        data = _without_cells(data, table.grid, keep)
        settle_encoding(data, same_format=False)
        store(with_reduced(data, samples, means, names, variables, members, units), folder)


def _gone(
    file: xr.Dataset, table: ChunkedTable, keep: Sequence[str], empty: Collection[str]
) -> list[str]:
    """Name the variables of which nothing is kept; cells without any value are nothing."""
    kept, columns = set(keep), set(table.names)
    gone = [str(name) for name in file.data_vars if name in columns and name not in kept]
    for variable in table.grid.variables if table.grid is not None else ():
        here = kept.intersection(variable.columns)
        if len(here) < len(variable.columns) and here <= {*empty}:
            gone.append(variable.name)
    return gone


def _in_chunks(data: xr.Dataset, samples: str, length: int) -> xr.Dataset:
    """Let variables be read in chunks; but text at once, for it is looked through anyway."""
    texts = [
        name
        for name, variable in data.variables.items()
        if variable.dtype.kind in TEXT and name not in data.indexes
    ]
    lazy = data.drop_vars(texts).chunk({samples: length}, token=token_hex())
    for name in texts:
        read = {name: data[name].load()}
        lazy = lazy.assign_coords(read) if name in data.coords else lazy.assign(read)
    return lazy


def _without_cells(data: xr.Dataset, grid: ChunkedGrid, keep: Sequence[str]) -> xr.Dataset:
    """Let go of the cells that are reduced, in variables that have others."""
    kept = set(keep)
    for variable in grid.variables:
        here = [name in kept for name in variable.columns]
        if variable.name in data and not all(here):
            data[variable.name] = _masked(data[variable.name], variable, here, grid.samples)
    return data


def _masked(
    values: xr.DataArray, variable: Gridded, here: Sequence[bool], samples: str
) -> xr.DataArray:
    """Give a variable of which some cells have gone."""
    import xarray as xr

    rest = [name for name in variable.dims if name != samples]
    mask = xr.DataArray(np.array(here).reshape(variable.shape), dims=rest)
    whole = values.dtype.kind != "f"
    result = (values.astype(np.float64) if whole else values).where(mask)
    # The settings of the file must have a value for missing.
    lasting = variable.encoding.get("_FillValue") is not None
    result.encoding = dict(variable.encoding) if lasting else {}
    return result


def _from_columns(
    table: ChunkedTable, keep: Sequence[str], rows: npt.NDArray[np.intp], length: int
) -> xr.Dataset:
    """Make a data set of the columns of a flat table; no name in one may hold a slash."""
    import xarray as xr

    schema = table.reader.schema
    whole = [name for name in keep if _may_lack(schema.field(name).type)]
    lacking = table.look(whole).missing if whole else {}
    data = xr.Dataset()
    for name in keep:
        kind = _stored_type(schema.field(name).type, bool(lacking.get(name)))
        values = _column(table, name, kind)
        values = values if rows.size == table.n_rows else values[rows]
        # Text would be looked through first.
        values = values.compute() if kind.kind == "O" else values.rechunk({0: length})
        place = free_name(name.replace("/", "_"), data)
        data[place] = ((SAMPLE,), values, {} if place == name else {"long_name": name})
    return data


def _column(table: ChunkedTable, name: str, kind: np.dtype[Any]) -> Any:
    from dask import delayed

    about = delayed((table.reader, name, kind), traverse=False, pure=False)
    task = delayed(_read_column, pure=False)
    return _joined([task(about, chunk) for chunk in table.chunks], table.lengths, (), kind)


def _joined(
    parts: Sequence[Any], lengths: Sequence[int], rest: tuple[int, ...], kind: np.dtype[Any]
) -> Any:
    """Make an array of dask of delayed parts."""
    import dask.array as da

    pieces = zip(parts, lengths, strict=True)
    return da.concatenate([da.from_delayed(part, (n, *rest), dtype=kind) for part, n in pieces])


def _read_column(about: tuple[Reader, str, np.dtype[Any]], chunk: Any) -> npt.NDArray[Any]:
    import pyarrow as pa

    reader, name, kind = about
    column = reader.table(chunk, [name]).column(0)
    if kind.kind == "O":  # there is no missing text in a data set
        texts = column.cast(pa.string()).fill_null("").to_pylist()
        return np.array(texts, dtype=object)
    if kind.kind == "M":
        column = column.cast(pa.timestamp("ns"))
    elif kind.kind == "f":
        column = column.cast(pa.from_numpy_dtype(kind), safe=False)
    return np.asarray(column.to_numpy()).astype(kind, copy=False)


def _may_lack(kind: pa.DataType) -> bool:
    """Whether a column of a type must be looked through for missing values."""
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _stored_type(kind: pa.DataType, lacking: bool) -> np.dtype[Any]:
    """Give the type in which a data set can hold a column."""
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind) and lacking:
        return np.dtype(object)
    if types.is_decimal(kind) or (types.is_integer(kind) and lacking):
        return np.dtype(np.float64)
    if types.is_date(kind) or types.is_timestamp(kind):
        return np.dtype("M8[ns]")
    if types.is_duration(kind):
        return np.dtype("m8[ns]")
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return np.dtype(str(kind) if not types.is_float16(kind) else "f2")
    return np.dtype(object)
