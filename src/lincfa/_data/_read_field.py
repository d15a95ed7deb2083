"""From xarray fields to tables: one row per sample, one column per cell that is not missing."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import IF_MISSING, float_type, is_dask, is_dataset, is_field, is_pandas
from ._columns import Columns
from ._compute import computed
from ._dates import Dates, are_dates, read_dates
from ._field import (
    Coordinate,
    Field,
    Variable,
    axis_of,
    describe_field,
    listed_dims,
    texts,
    variables_of,
)
from ._names import did_you_mean

_TARGET, _WEIGHTS = "the target y", "sample_weight"
_BLOCK_VALUES = 2**20
_CLOSE = 1e-6
"""Relative to the largest coordinate: by how much others may differ, as in single precision."""


def open_field(
    X: Any, y: Any, sample_weight: Any, sample_dim: Hashable | None, known: Columns | None
) -> tuple[Any, Any, Any, Columns, Coordinate, Dates | None]:
    """Open a field for a fit; its cells must be those of ``known`` columns, if there are any."""
    if known is None or known.field is None:
        dim = sample_dimension(X, sample_dim, y)
        _check_not_own_variable(y, X)
        field, table = read_field(X, dim)
        columns = Columns(len(field.names), field.names, field)
    else:
        columns, field = known, known.field
        table, _ = read_known_field(X, field)
        dim = field.sample_dim
    lazy, dates = is_dask(table), read_dates(X, y, dim)
    y = along_samples(y, X, dim, _TARGET, lazy=lazy)
    sample_weight = along_samples(sample_weight, X, dim, _WEIGHTS, lazy=lazy)
    return table, y, sample_weight, columns, _sample_coordinate(X, dim), dates


def read_known_field(X: Any, field: Field) -> tuple[Any, Coordinate]:
    check_same_cells(field, X)
    return _joined(field, _stacked(field, X)), _sample_coordinate(X, field.sample_dim)


def sample_dimension(X: Any, sample_dim: Hashable | None, y: Any) -> Hashable:
    """Return the dimension of the samples: as given, or as the targets imply."""
    if sample_dim is not None:
        if sample_dim not in X.dims:
            raise ValueError(
                f"The field has no dimension {sample_dim!r}; its dimensions are: {listed_dims(X)}"
                f"{did_you_mean(sample_dim, X.dims) or '.'}"
            )
        return sample_dim
    _check_not_a_name(y, X, _TARGET)
    if is_field(y):
        columns = y.data_vars.values() if is_dataset(y) else [y]
        dims = dict.fromkeys(dim for column in columns for dim in column.dims)
        shared: list[Hashable] = [dim for dim in dims if dim in X.dims]
        if len(shared) == 1:
            return shared[0]
        if shared or len(dims) != 1:
            raise ValueError(
                "The target y must share one dimension with the field, that of the samples, unless "
                f"sample_dim is set; its dimensions are: {listed_dims(y)}."
            )
    return _guess(X, _length(y))


def _guess(X: Any, length: int | None) -> Hashable:
    fitting: list[Hashable] = [name for name, size in X.sizes.items() if size == length]
    if length is not None and not fitting:
        raise ValueError(
            f"No dimension of the field is as long as the target, {length}: {listed_dims(X)}. "
            "Select the same samples of both first."
        )
    dated = [name for name in X.dims if name in X.coords and are_dates(X.coords[name].values)]
    if len(fitting) == 1 and (not dated or fitting[0] in dated):
        return fitting[0]
    found = "" if length is None else f"; the target has {length} samples"
    if len(fitting) == 1:
        found += f", as many as {fitting[0]!r}, but the dates are along {dated[0]!r}"
    raise ValueError(
        "It is not clear which dimension the samples are along: set sample_dim to one of the "
        f"dimensions of the field, {listed_dims(X)}{found}."
    )


def _length(y: Any) -> int | None:
    if is_field(y):
        shape: Any = tuple(y.sizes.values())  # along its only dimension
    else:
        shape = getattr(y, "shape", None) if is_dask(y) else np.shape(y)
    return shape[0] if shape and isinstance(shape[0], int) else None


def _check_not_own_variable(y: Any, X: Any) -> None:
    """Raise for a target that is a variable of the Dataset, and so a feature as well."""
    # Dask arrays are not computed: they are the same if their graphs have the same name.
    if is_dataset(X) and (is_pandas(y, "DataFrame") or is_dataset(y)):
        for name, column in y.items():
            if name in X.data_vars:
                _check_not_own_variable(column, X)
        return
    if not is_dataset(X) or not (is_field(y) or is_pandas(y, "Series")):
        return
    # The name of a Series may be a tuple, for which a Dataset has no variable.
    own = dict(X.data_vars).get(y.name)
    if own is None or own.ndim != 1 or own.shape != y.shape:
        return
    ours, theirs = own.variable.data, y.data if is_field(y) else y.to_numpy()
    if is_dask(ours) or is_dask(theirs):
        same = is_dask(ours) and is_dask(theirs) and ours.name == theirs.name
    else:
        same = not differing(np.asarray(ours), np.asarray(theirs)).any()
    if same:
        raise ValueError(
            f"The target y is the variable {y.name!r} of X: drop it from X first, with "
            f"X.drop_vars({y.name!r})."
        )


def along_samples(values: Any, X: Any, sample_dim: Hashable, what: str, *, lazy: bool) -> Any:
    """Return targets or weights; those of xarray must match the samples of a field."""
    # One column of xarray becomes an array. Dask arrays are computed, unless they may be lazy.
    # Pandas objects are returned unchanged; their index is compared with the samples if both are
    # dates.
    _check_not_a_name(values, X, what)
    if not is_field(values):
        _check_index(values, X, sample_dim, what)
        return values
    if is_dataset(values):
        if what != _TARGET:
            raise ValueError(f"{_start(what)} is a Dataset: pass one of its variables.")
        for name in values.data_vars:
            along_samples(values[name], X, sample_dim, f"the target {name!r}", lazy=True)
        return values
    several = what == _TARGET and values.ndim == 2 and sample_dim in values.dims
    if values.dims != (sample_dim,) and not several:
        raise ValueError(
            f"{_start(what)} must have the dimension of the samples, {sample_dim!r}, and no other; "
            f"its dimensions are: {listed_dims(values)}."
        )
    _check_count(values.sizes[sample_dim], X, sample_dim, what)
    if sample_dim in X.coords and sample_dim in values.coords:
        theirs = values.coords[sample_dim].values
        _check_samples(theirs, X, sample_dim, what, "as xarray.align does")
    if several:
        return values.transpose(sample_dim, ...)
    return values.data if lazy else values.values


def _check_index(values: Any, X: Any, sample_dim: Hashable, what: str) -> None:
    """Raise for pandas objects with other dates; dates with a time zone are not compared."""
    if not is_pandas(values, "Series", "DataFrame") or sample_dim not in X.coords:
        return
    dtypes = (X.coords[sample_dim].dtype, values.index.dtype)
    if all(isinstance(dtype, np.dtype) and dtype.kind == "M" for dtype in dtypes):
        _check_count(len(values), X, sample_dim, what)
        remedy = "as reindex does, or pass its to_numpy() if only the dates differ"
        _check_samples(values.index.to_numpy(), X, sample_dim, what, remedy)


def _check_count(count: int, X: Any, sample_dim: Hashable, what: str) -> None:
    n = X.sizes[sample_dim]
    if count != n:
        raise ValueError(f"The field has {n} samples along {sample_dim!r}, but {what} has {count}.")


def _check_samples(
    theirs: npt.NDArray[Any], X: Any, sample_dim: Hashable, what: str, remedy: str
) -> None:
    ours = X.coords[sample_dim].values
    apart = differing(ours, theirs)
    if apart.any():
        row = int(np.flatnonzero(apart)[0])
        here, there = (f"{sample_dim}={texts(side)[row]}" for side in (ours, theirs))
        raise ValueError(
            f"The samples of {what} are not those of the field, or in another order: sample "
            f"{row} is {here} in the field and {there} in {what}. Select the same samples first, "
            f"{remedy}."
        )


def _check_not_a_name(values: Any, X: Any, what: str) -> None:
    """Raise for the name of a variable in place of its values."""
    if isinstance(values, str):
        remedy = "pass its values"
        if values in X.coords:
            remedy = f"pass the variable, X[{values!r}]"
        elif is_dataset(X) and values in X:
            remedy = f"pass the variable, X[{values!r}], and drop it from X, with "
            remedy += f"X.drop_vars({values!r})"
        raise ValueError(f"{_start(what)} is a string, {values!r}: {remedy}.")


def _start(what: str) -> str:
    return what if what == _WEIGHTS else what[0].upper() + what[1:]


def read_field(X: Any, sample_dim: Hashable) -> tuple[Field, Any]:
    """Describe a field and return its table: an array, or a dask array if the field is lazy."""
    # An array in memory is not copied if its cells are contiguous and none is missing.
    field = describe_field(X, sample_dim)
    stacked = _stacked(field, X)
    variables = [
        replace(variable, present=_present(values))
        for variable, values in zip(field.variables, stacked, strict=True)
    ]
    field = replace(field, variables=tuple(variables))
    if not field.names:
        raise ValueError("Every cell of the field is missing at every sample.")
    return field, _joined(field, stacked)


def _stacked(field: Field, X: Any) -> list[Any]:
    """Return each variable with its cells side by side, missing or not."""
    stacked = []
    for variable in field.variables:
        array = X[variable.name] if field.is_dataset else X
        if array.chunks is not None:
            from ._declared import as_declared

            what = f"the variable {array.name!r}" if field.is_dataset else "X"
            array = array.copy(data=as_declared(array.data, what, array.dims))
        data = array.transpose(field.sample_dim, *field.cell_dims(variable)).data  # may read a file
        values = data if is_dask(data) else np.asarray(data)
        if not values.dtype.isnative:
            values = values.astype(values.dtype.newbyteorder("="))
        stacked.append(values.reshape(values.shape[0], prod(variable.shape)))
    return stacked


def _joined(field: Field, stacked: Sequence[Any]) -> Any:
    """Put the variables side by side, without the cells that are missing."""
    masks = [variable.present for variable in field.variables]
    lazy = [values for values in stacked if is_dask(values)]
    if lazy or len(stacked) == 1:
        parts = [
            values if mask.all() else values[:, np.flatnonzero(mask)]
            for values, mask in zip(stacked, masks, strict=True)
        ]
        return _joined_lazily(parts, lazy[0].chunks[0]) if lazy else parts[0]
    dtype = float_type([values.dtype for values in stacked])
    table = np.empty((stacked[0].shape[0], field.variable_of_column.size), dtype=dtype)
    for values, (variable, columns) in zip(stacked, field.parts, strict=True):
        whole = variable.present.all()
        table[:, columns] = values if whole else values[:, variable.present]
    return table


def _joined_lazily(parts: Sequence[Any], rows: tuple[int, ...]) -> Any:
    import dask.array as da

    chunked = [
        part.rechunk({0: rows}) if is_dask(part) else da.from_array(part, chunks=(rows, -1))
        for part in parts
    ]
    return da.concatenate(chunked, axis=1)


def _present(values: Any) -> npt.NDArray[np.bool_]:
    """Which cells have a value at some sample; the pass of the fit finds those with gaps."""
    n, width = values.shape
    if values.dtype.kind != "f" or n == 0:
        return np.ones(width, dtype=np.bool_)
    present = np.asarray(~np.isnan(computed(values[0])))
    cells = np.flatnonzero(~present)
    if not cells.size:
        return present
    if is_dask(values):
        return np.asarray(~computed(np.isnan(values).all(axis=0)))
    step = max(1, _BLOCK_VALUES // cells.size)
    for top in range(0, n, step):
        present[cells] |= ~np.isnan(values[top : top + step][:, cells]).all(axis=0)
    return present


def check_same_cells(field: Field, X: Any) -> None:
    """Raise unless variables, dimensions, units and coordinates are those of the fit."""
    # The order of the dimensions does not matter, nor does the name of a single array; units and
    # coordinates are compared where both fields have them.
    if field.is_dataset != is_dataset(X):
        kinds = ("a DataArray", "a Dataset")
        raise ValueError(
            f"The model was fitted to {kinds[field.is_dataset]}, and this is {kinds[is_dataset(X)]}"
            f"{'' if field.is_dataset else ': pass one of its variables'}."
        )
    found = variables_of(X)
    if field.is_dataset:
        known = [variable.name for variable in field.variables]
        for name in known:
            if name not in found:
                hint = did_you_mean(name, found)
                raise ValueError(f"The Dataset lacks the variable {name!r} of the fit{hint or '.'}")
        for name in found:
            if name not in known:
                raise ValueError(
                    f"The Dataset has the variable {name!r}, which was not in the fit; drop it "
                    f"first, with drop_vars({name!r})."
                )
    for variable in field.variables:
        what = f"The variable {variable.name!r}" if field.is_dataset else "The field"
        array = found[variable.name] if field.is_dataset else X
        _check_variable(variable, array, field.cell_sizes(variable), what)
    for coordinate in field.coordinates:
        if coordinate.dims and coordinate.name in X.coords:
            _check_coordinate(coordinate, X.coords[coordinate.name])


def _check_variable(variable: Variable, array: Any, sizes: dict[Hashable, int], what: str) -> None:
    if set(array.dims) != set(variable.dims):
        expected = ", ".join(map(str, variable.dims))
        raise ValueError(
            f"{what} must have the dimensions of the fit, {expected}; its dimensions are: "
            f"{listed_dims(array)}."
        )
    for name, size in sizes.items():
        if array.sizes[name] != size:
            raise ValueError(
                f"{what} must have the cells of the fit, {size} along {name!r}, but has "
                f"{array.sizes[name]}."
            )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} is not numeric (type {array.dtype}).")
    before, now = (side.get("units") for side in (variable.attrs, array.attrs))
    if before is not None and now is not None and str(before).strip() != str(now).strip():
        raise ValueError(
            f"{what} has the units {str(now)!r} and had {str(before)!r} in the "
            "fit: convert it first, or change the attribute if both mean the same."
        )


def _check_coordinate(known: Coordinate, given: Any) -> None:
    if set(given.dims) != set(known.dims):
        raise ValueError(
            f"The coordinate {known.name!r} must have the dimensions of the fit, "
            f"{', '.join(map(str, known.dims))}; it has {', '.join(map(str, given.dims))}."
        )
    values = np.asarray(given.transpose(*known.dims).values)
    apart = differing(known.values, values, _CLOSE)
    if apart.any():
        first = int(np.flatnonzero(apart)[0])
        place = np.unravel_index(first, apart.shape)
        where = ", ".join(map(str, place))
        before, now = (texts(side.ravel()[[first]])[0] for side in (known.values, values))
        raise ValueError(
            f"The coordinate {known.name!r} is not that of the fit: the first value that differs "
            f"(position {where}) is {now} and was {before}.{_remedy(known, values)}"
        )


def _remedy(known: Coordinate, given: npt.NDArray[Any]) -> str:
    """Return how to sort the values of one dimension, or to count longitudes as in the fit."""
    if len(known.dims) != 1:
        return ""
    if sorting := _sorting(known, given):
        return f" The values are the same in another order: sort them first, with X{sorting}."
    if axis_of(known.name, known.attrs) != "lon" or given.dtype.kind not in "iuf":
        return ""
    for start, formula in ((0, "X[{0!r}] % 360"), (-180, "(X[{0!r}] + 180) % 360 - 180")):
        if sorting := _sorting(known, (given - start) % 360 + start):
            return (
                f" The longitudes are the same, from {start} to {start + 360}: convert them first, "
                f"with X.assign_coords({{{known.name!r}: {formula.format(known.name)}}}){sorting}."
            )
    return ""


def _sorting(known: Coordinate, given: npt.NDArray[Any]) -> str:
    """Return the method that sorts values as in the fit; nothing if more than the order differs."""
    ordered = [side[_order(side)] for side in (known.values, given)]
    if differing(ordered[0], ordered[1], _CLOSE).any():
        return ""
    places = np.arange(given.size)
    if np.array_equal(_order(known.values), places):
        return f".sortby({known.name!r})"
    if np.array_equal(_order(known.values), places[::-1]):
        return f".sortby({known.name!r}, ascending=False)"
    return ".reindex_like(the field of the fit)" if known.name in known.dims else ""


def _order(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the order of coordinate values; text and other objects by their string."""
    comparable = values if values.dtype.kind in "biufMm" else np.array(list(map(str, values)))
    return np.argsort(comparable, kind="stable")


def differing(
    one: npt.NDArray[Any], other: npt.NDArray[Any], close: float = 0.0
) -> npt.NDArray[np.bool_]:
    """Return where two coordinates of the same shape differ; numbers by more than a share."""
    kinds = {one.dtype.kind, other.dtype.kind}
    if kinds <= set("iufb"):
        largest = np.abs(one[np.isfinite(one)]).max(initial=0.0)
        near = np.isclose(other, one, rtol=0.0, atol=close * float(largest), equal_nan=True)
        return np.asarray(~near)
    if len(kinds) == 1 and kinds <= {"M", "m"}:
        return np.asarray((one != other) & ~(np.isnat(one) & np.isnat(other)))
    # Text, dates of other calendars and tuples of stacked coordinates.
    pairs = zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
    return np.array([str(a) != str(b) for a, b in pairs], dtype=bool).reshape(one.shape)


def not_finite_cells(
    values: Any, field: Field, samples: Coordinate | None, allowed: str, *, new: bool
) -> ValueError:
    """Return the error for a table of cells with infinity, or NaN where it is not allowed."""
    missing = False
    if allowed != "pairwise":
        counts = computed(np.isnan(values).sum(axis=0))
        missing = bool(counts.any())
    if not missing:
        counts = computed(np.isinf(values).sum(axis=0))
    wrong = np.flatnonzero(counts)

    def sample(row: int) -> str:
        if samples is None:
            return f"row {row}"
        return f"{samples.name}={texts(samples.values[[row]])[0]}"

    if missing and wrong.size == counts.size > 1:
        rows = np.flatnonzero(computed(np.isnan(values).all(axis=1)))
        if rows.size:
            return ValueError(
                f"All cells are missing at {rows.size} sample{'s' if rows.size > 1 else ''}, first "
                f"{sample(rows[0])}: drop such samples first."
            )
    column = computed(values[:, wrong[0]])
    row = int(np.flatnonzero(np.isnan(column) if missing else np.isinf(column))[0])
    several, first, verb = "A cell of the field", "", "is"
    if wrong.size > 1:
        several, first, verb = f"{wrong.size} cells of the field", "first ", "are"
    first += f"{field.names[wrong[0]]}, at {sample(row)}"
    if not missing:
        return ValueError(f"{several} {verb} infinite: {first}. Replace infinite values first.")
    if new:
        return ValueError(
            f"{several} {verb} missing but had values in the fit: {first}. {IF_MISSING}"
        )
    return ValueError(
        f"{several} {verb} missing at some samples but not at all of them: {first}. Only cells "
        f"that are missing at every sample are left out. {IF_MISSING}"
    )


def _sample_coordinate(X: Any, dim: Hashable) -> Coordinate:
    values = X.coords[dim].values if dim in X.coords else np.arange(X.sizes[dim])
    return Coordinate(dim, (dim,), values, {})
