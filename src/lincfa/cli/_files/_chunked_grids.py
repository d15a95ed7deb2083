"""Zarr stores read in chunks of samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._chunks import CHUNK_BYTES, ChunkedGrid, ChunkedTable, number_type
from ._form import Form
from ._grids import (
    TEXT,
    as_text,
    damaged,
    describe_cells,
    gridded_variables,
    native,
    open_grid,
    plain_variables,
    sample_dimension,
)
from ._table import Gridded

if TYPE_CHECKING:
    import pyarrow as pa
    import xarray as xr

_LONGEST = 4
"""By how much a chunk may be larger than usual, so that no chunk of the store is read twice."""


@dataclass(frozen=True)
class GridReader:
    """Reads samples; see :class:`Reader`. A chunk is a slice of the samples."""

    path: str
    form: Form
    samples: str
    variables: list[Gridded]
    schema: pa.Schema

    def numbers(self, chunk: slice, names: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Give columns of a chunk as numbers, one behind the other in memory; NaN for no value."""
        shape = (chunk.stop - chunk.start, len(names))
        result = np.empty(shape, number_type(self.schema, names), order="F")
        places = {name: place for place, name in enumerate(names)}
        with open_grid(self.path, self.form) as data:
            for variable in self.variables:
                cells = [k for k, name in enumerate(variable.columns) if name in places]
                if cells:
                    to = [places.pop(variable.columns[k]) for k in cells]
                    result[:, to] = self._read_cells(data, variable, cells, chunk)
            for name, place in places.items():
                result[:, place] = self._read(data, name, chunk)[:, 0]
        return result

    def table(self, chunk: slice, names: Sequence[str]) -> pa.Table:
        """Give columns of a chunk as they are."""
        import pyarrow as pa

        wanted = set(names)
        columns: dict[str, Any] = {}
        with open_grid(self.path, self.form) as data:
            for variable in self.variables:
                cells = [k for k, name in enumerate(variable.columns) if name in wanted]
                if cells:
                    block = self._read(data, variable.name, chunk)
                    columns |= {variable.columns[k]: pa.array(block[:, k]) for k in cells}
            for name in wanted.difference(columns):
                values = self._read(data, name, chunk)[:, 0]
                text = values.dtype.kind in TEXT
                columns[name] = (
                    pa.array([as_text(value) for value in values.tolist()], pa.string())
                    if text
                    else pa.array(values)
                )
        return pa.table([columns[name] for name in names], names=list(names))

    def _read_cells(
        self, data: xr.Dataset, variable: Gridded, cells: list[int], chunk: slice
    ) -> npt.NDArray[Any]:
        if len(cells) == 1:  # by which rows are counted: the others need not be read
            rest = [name for name in variable.dims if name != self.samples]
            place = np.unravel_index(cells[0], variable.shape)
            where = dict(zip(rest, map(int, place), strict=True))
            return self._read(data[[variable.name]].isel(where), variable.name, chunk)
        block = self._read(data, variable.name, chunk)
        return block if len(cells) == block.shape[1] else block[:, cells]

    def _read(self, data: xr.Dataset, name: str, chunk: slice) -> npt.NDArray[Any]:
        """Read a variable, its cells side by side."""
        variable = data[name].transpose(self.samples, ...)
        try:
            values = variable.isel({self.samples: chunk}).values
        except (OSError, RuntimeError, KeyError):
            raise damaged(self.path, self.form) from None
        values = values.reshape(len(values), -1)
        return values if values.dtype.kind in TEXT else native(values)


def open_zarr(path: str, form: Form, samples: str | None) -> ChunkedTable:
    """Open a Zarr store along one of its dimensions; its columns are those of ``read_grid``."""
    import pyarrow as pa

    with open_grid(path, form) as data:
        samples = sample_dimension(data, samples, path)
        gridded = gridded_variables(data, samples)
        others = data.drop_vars(gridded)
        plain = plain_variables(others, samples)
        taken = set(plain)
        variables = [
            describe_cells(data[name], samples, taken, _table_type(data[name].dtype))
            for name in gridded
        ]
        n_rows = data.sizes[samples]
        length = _chunk_length(data, gridded or plain, samples)
        fields = [pa.field(name, _arrow_type(data[name].dtype)) for name in plain]
        coordinates = [name for name in plain if name in data.coords]
        numbers = {name for name in plain if data[name].dtype.kind in "iuf"} - {*coordinates}
        apart = [str(name) for name in others.variables if name not in {*plain, *others.dims}]
    for variable in variables:
        fields += [pa.field(name, pa.from_numpy_dtype(variable.dtype)) for name in variable.columns]
    schema = pa.schema(fields)
    cells = [name for variable in variables for name in variable.columns]
    chunks = [
        slice(start, min(start + length, n_rows)) for start in range(0, n_rows, max(length, 1))
    ]
    return ChunkedTable(
        source=path,
        form=form,
        names=schema.names,
        numeric=[name for name in plain if name in numbers] + cells,
        nothing=[],
        reader=GridReader(os.path.abspath(path), form, samples, variables, schema),
        chunks=chunks,
        lengths=[chunk.stop - chunk.start for chunk in chunks],
        grid=ChunkedGrid(samples, variables, coordinates, apart),
    )


def _chunk_length(data: xr.Dataset, names: Sequence[str], samples: str) -> int:
    """Number of samples of a chunk: of whole chunks of the store, unless those are very long."""
    n_rows = data.sizes[samples]
    row = sum(data[name].nbytes for name in names) // max(n_rows, 1)
    length = max(1, CHUNK_BYTES // max(row, 1))
    stored = 1
    for name in names:
        chunks = data[name].encoding.get("chunks")
        if chunks is not None:
            stored = max(stored, int(chunks[data[name].dims.index(samples)]))
    if stored <= _LONGEST * length:
        length = max(stored, length - length % stored)
    return min(length, n_rows)


def _table_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return native(np.empty(0, dtype)).dtype


def _arrow_type(dtype: np.dtype[Any]) -> pa.DataType:
    import pyarrow as pa

    return pa.string() if dtype.kind in TEXT else pa.from_numpy_dtype(_table_type(dtype))
