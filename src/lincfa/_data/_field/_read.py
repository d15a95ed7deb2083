"""From fields to tables: a row for each sample, a column for each cell that is not missing."""

from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .._dask._compute import compute
from .._input import NotFiniteError, float_type, is_dask
from ._describe import Field, Variable, describe_field, variables_of
from ._samples import sample_labels

_BLOCK_VALUES = 2**20


def read_field(X: Any, sample_dim: Hashable) -> tuple[Field, Any]:
    """Describe a field, and give its table: an array in memory, or of dask where the field is.

    An array in memory is not copied where its cells lie side by side and none is missing.

    Raises
    ------
    ValueError
        Also where a cell is missing at some samples, but not at all.
    """
    field = describe_field(X, sample_dim)
    stacked = _stacked(field, X)
    masks = [_present(values) for values in stacked]
    for values, mask in zip(stacked, masks, strict=True):
        if not _empty(values, np.flatnonzero(~mask)):
            _refuse_gaps(field, stacked, sample_labels(X, sample_dim))
    variables = [
        replace(variable, present=mask)
        for variable, mask in zip(field.variables, masks, strict=True)
    ]
    field = replace(field, variables=tuple(variables))
    if not field.names:
        raise ValueError("Every cell of the field is missing at every sample.")
    return field, _joined(field, stacked)


def read_known(field: Field, X: Any) -> Any:
    """Give the table of a field whose cells have been found to be those of another."""
    return _joined(field, _stacked(field, X))


def _stacked(field: Field, X: Any) -> list[Any]:
    """Give each variable with its cells side by side, missing or not."""
    arrays = (
        list(variables_of(X).values())
        if not field.is_dataset
        else [X[variable.name] for variable in field.variables]
    )
    return [
        _side_by_side(array.transpose(field.sample_dim, *field.cell_dims(variable)), variable)
        for array, variable in zip(arrays, field.variables, strict=True)
    ]


def _side_by_side(array: Any, variable: Variable) -> Any:
    data = array.data  # once: this may read a file
    values = data if is_dask(data) else np.asarray(data)
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    return values.reshape(values.shape[0], prod(variable.shape))


def _joined(field: Field, stacked: Sequence[Any]) -> Any:
    """Put the variables side by side, without the cells that are missing."""
    masks = [variable.present for variable in field.variables]
    lazy = any(map(is_dask, stacked))
    if lazy or len(stacked) == 1:
        parts = [
            values if mask.all() else values[:, np.flatnonzero(mask)]
            for values, mask in zip(stacked, masks, strict=True)
        ]
        return _joined_lazily(parts) if lazy else parts[0]
    n = stacked[0].shape[0]
    dtype = float_type([values.dtype for values in stacked])
    table = np.empty((n, field.variable_of_column.size), dtype=dtype)
    for values, (variable, columns) in zip(stacked, field.parts, strict=True):
        whole = variable.present.all()
        table[:, columns] = values if whole else values[:, variable.present]
    return table


def _joined_lazily(parts: Sequence[Any]) -> Any:
    import dask.array as da

    first = next(part for part in parts if is_dask(part))
    rows = first.chunks[0]
    return da.concatenate(
        [
            part.rechunk({0: rows}) if is_dask(part) else da.from_array(part, chunks=(rows, -1))
            for part in parts
        ],
        axis=1,
    )


def _present(values: Any) -> npt.NDArray[np.bool_]:
    """Find the cells that are not missing in the first sample.

    No others can be missing throughout; what is missing later, the pass of the fit finds.
    """
    n, width = values.shape
    if values.dtype.kind != "f" or n == 0:
        return np.ones(width, dtype=np.bool_)
    return np.asarray(~np.isnan(_computed(values[0])))


def _empty(values: Any, cells: npt.NDArray[np.intp]) -> bool:
    """Whether some cells are missing at every sample."""
    if not cells.size:
        return True
    if is_dask(values):
        return bool(compute(np.isnan(values).all(axis=0))[cells].all())
    step = max(1, _BLOCK_VALUES // cells.size)
    blocks = (values[top : top + step][:, cells] for top in range(0, values.shape[0], step))
    return all(np.isnan(block).all() for block in blocks)


def _computed(values: Any) -> npt.NDArray[Any]:
    return np.asarray(compute(values) if is_dask(values) else values)


def _refuse_gaps(field: Field, stacked: Sequence[Any], labels: Sequence[str]) -> None:
    """Name the cells that are missing at some samples but not at all."""
    n = len(labels)
    counts = [_computed(np.isnan(values).sum(axis=0)) for values in stacked]
    cells = int(sum(((count > 0) & (count < n)).sum() for count in counts))
    if cells > 1 and all(count.all() for count in counts):
        empty = _empty_samples(stacked, labels)
        if empty:
            raise ValueError(empty)
    for variable, values, count in zip(field.parts, stacked, counts, strict=True):
        partly = np.flatnonzero((count > 0) & (count < n))
        if partly.size:
            column = _computed(values[:, partly[0]])
            place = labels[int(np.flatnonzero(np.isnan(column))[0])]
            name = field.names[variable[1].start + int(partly[0])]
            raise ValueError(_gap(cells, name, place))


def _empty_samples(parts: Sequence[Any], labels: Sequence[str]) -> str:
    """Tell of samples at which all cells are missing, if there are any."""
    empty = [_computed(np.isnan(values).all(axis=1)) for values in parts]
    rows = np.flatnonzero(np.logical_and.reduce(empty))
    if not rows.size:
        return ""
    return (
        f"All cells are missing at {rows.size} sample{'s' if rows.size > 1 else ''}, first "
        f"{labels[rows[0]]}: drop such samples first."
    )


def _gap(cells: int, name: str, place: str) -> str:
    several = f"{cells} cells of the field are" if cells > 1 else "A cell of the field is"
    return (
        f"{several} missing at some samples but not at all: {'first ' if cells > 1 else ''}"
        f"{name}, at {place}. Fill or drop missing values first; only cells that are missing at "
        "every sample are left out."
    )


@contextmanager
def told_by_cell(field: Field, table: Any, X: Any, *, new: bool) -> Iterator[None]:
    """Say of values that are not finite in which cells and at which samples they are."""
    try:
        yield
    except NotFiniteError:
        missing = True
        counts = _computed(np.isnan(table).sum(axis=0))
        if not counts.any():
            missing = False
            counts = _computed(np.isinf(table).sum(axis=0))
        wrong = np.flatnonzero(counts)
        labels = sample_labels(X, field.sample_dim)
        if missing and wrong.size == counts.size > 1:
            empty = _empty_samples([table], labels)
            if empty:
                raise ValueError(empty) from None
        column = _computed(table[:, wrong[0]])
        row = int(np.flatnonzero(~np.isfinite(column))[0])
        place = labels[row]
        name = field.names[wrong[0]]
        several = f"{wrong.size} cells of the field" if wrong.size > 1 else "A cell of the field"
        first = "first " if wrong.size > 1 else ""
        if not missing:
            raise ValueError(
                f"{several} {'hold' if wrong.size > 1 else 'holds'} infinity: {first}{name}, at "
                f"{place}. Finite values are needed."
            ) from None
        if not new:
            raise ValueError(_gap(wrong.size, name, place)) from None
        raise ValueError(
            f"{several} {'are' if wrong.size > 1 else 'is'} missing that held values in the fit: "
            f"{first}{name}, at {place}. Fill or drop missing values first."
        ) from None
