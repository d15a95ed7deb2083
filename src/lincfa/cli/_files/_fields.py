"""The field whose cells are columns of a table."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ._chunks import ChunkedTable
from ._grids import open_grid
from ._table import TableFile

if TYPE_CHECKING:
    from ..._data._field._describe import Field


def field_of(table: TableFile | ChunkedTable, features: Sequence[str]) -> Field | None:
    """Describe the field whose cells some columns are, for a model that is fitted to them.

    All other cells count as missing; a variable along the samples alone is one of a single cell.
    None where no cell of a grid is among the columns.
    """
    from ..._data._field._describe import describe_field

    chosen = set(features)
    gridded = [] if table.grid is None else table.grid.variables
    present = {
        variable.name: np.array([name in chosen for name in variable.columns])
        for variable in gridded
        if not chosen.isdisjoint(variable.columns)
    }
    if table.grid is None or not present:
        return None
    cells = {name for variable in gridded for name in variable.columns}
    plain = [name for name in features if name not in cells]
    with open_grid(os.path.abspath(table.source), table.form) as file:
        field = describe_field(file[[*plain, *present]], table.grid.samples)
    variables = [
        replace(variable, present=present.get(str(variable.name), variable.present))
        for variable in field.variables
    ]
    field = replace(field, variables=tuple(variables))
    for name, column in zip(field.names, features, strict=True):
        if name != column:
            raise ValueError(f"A variable is called {name!r}, like a cell of another: rename it.")
    return field


def block_of(table: TableFile, name: str, features: Sequence[str]) -> str | None:
    """Name the variable outside of which a column merges with none; None if it may with any."""
    chosen = set(features)
    gridded = [] if table.grid is None else table.grid.variables
    if all(chosen.isdisjoint(variable.columns) for variable in gridded):
        return None
    return next((each.name for each in gridded if name in each.columns), name)


def check_same_field(table: TableFile | ChunkedTable, field: Field) -> None:
    """Refuse a data set whose grids are not those of a field; it may have other variables.

    The samples may be along a dimension of another name. The field may be that of a DataArray.
    """
    from ..._data._field._compare import check_same_cells

    if table.grid is None:
        return
    with open_grid(os.path.abspath(table.source), table.form) as file:
        known = [variable.name for variable in field.variables]
        if not field.is_dataset and known[0] not in file.data_vars:
            raise ValueError(_lacking(table, known[0]))
        data = file[[name for name in known if name in file.data_vars]]
        if field.sample_dim not in data.dims and table.grid.samples in data.dims:
            data = data.rename_dims({table.grid.samples: field.sample_dim})
        try:
            check_same_cells(field, data if field.is_dataset else data[known[0]])
        except ValueError as error:
            raise ValueError(f"{table.source}: {error}") from error
    columns = {variable.name: variable.columns for variable in table.grid.variables}
    for variable, part in field.parts:
        here = np.array(columns.get(str(variable.name), [variable.name]), dtype=object)
        for name, column in zip(field.names[part], here[variable.present], strict=True):
            if name != column:
                raise ValueError(
                    f"{table.source}: the cell {name!r} of the fit is {column!r} here; dimensions "
                    "must be in the same order, and their coordinates of the same precision."
                )


def _lacking(table: TableFile | ChunkedTable, name: Hashable) -> str:
    """Say that the one variable of a fit is not there."""
    if name is None:
        return (
            f"{table.source}: the model was fitted to a DataArray without a name, so that its "
            "variable cannot be told; name the array before the fit."
        )
    return f"{table.source} lacks the variable {name!r} of the fit."
