"""NetCDF files and Zarr stores, opened by xarray: each cell of a gridded variable is a feature."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self
from unicodedata import normalize

import numpy as np
import numpy.typing as npt

from ..._data._compute import compute
from ._formats import Format, damaged, reading, require_harmless, require_memory, require_name
from ._tables import (
    CHUNK_BYTES,
    FileColumns,
    Indices,
    MakeColumns,
    OtherValues,
    TableFile,
    ValueCounts,
    beside,
    matching,
)

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

    from ..._data._dates import Dates
    from ..._data._field import Field

_NUMBERS, _TEXT = "iuf", "OUST"  # kinds of types
_LISTED = 10
TIME_UNITS = "days since 1970-01-01"  # an example
_LONGEST = 4  # by how much a chunk may exceed the usual size so that none stored is read twice
# Encoding that stays valid in another file and for other samples.
_LASTING = {"dtype", "_FillValue", "missing_value", "scale_factor", "add_offset"}
_LASTING |= {"units", "calendar", "grid_mapping"}
# What a name must not hold or begin or end with. A point begins the metadata of a Zarr store.
_UNSTORABLE = {"netcdf": r"[\x00-\x1f/\x7f]|^[ -/:-@\[-^`{-~]| (?= *$)", "zarr": r"[\x00/\\]|^\."}
_LONGEST_NAME = 240  # bytes; NetCDF takes 256, file systems 255
_ROW_LABELS = "index"  # the name of a column without one, as pandas calls it
_LASTING_NETCDF = {"zlib", "complevel", "shuffle", "fletcher32"}


@dataclass(frozen=True)
class GriddedVariable:
    """A variable with cells, and the names of the cells as features."""

    name: str
    dims: tuple[str, ...]  # without that of the samples
    shape: tuple[int, ...]
    columns: list[str]
    are_places: bool  # and not cells of a grid

    def mask(self, names: Collection[str]) -> xr.DataArray:
        import xarray as xr

        chosen = np.array([name in names for name in self.columns], dtype=np.bool_)
        return xr.DataArray(chosen.reshape(self.shape), dims=self.dims)

    def by_column(self, array: xr.DataArray) -> dict[str, Any]:
        values = array.transpose(*self.dims).values.ravel().tolist()
        return dict(zip(self.columns, values, strict=True))


@dataclass(frozen=True)
class FieldFile(FileColumns):
    """A data set, in memory or opened in chunks of samples.

    A numeric variable along the samples and other dimensions has a column for each of its cells,
    named ``t2m[lat=45.0, lon=7.5]``. A variable along the samples alone is a column itself.
    """

    source: str
    format: Format
    data: xr.Dataset
    in_chunks: bool
    sample_dim: str  # type: ignore[misc]
    codes: tuple[float, ...] = ()
    has_lags: npt.NDArray[np.bool_] | None = None

    comments: ClassVar[dict[str, str]] = {}

    @cached_property
    def dates(self) -> Dates | None:
        from ..._data._dates import read_dates

        try:
            return read_dates(self.data, None, self.sample_dim)
        except ValueError as error:
            raise ValueError(f"{self.source}: {error}") from error

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return int(self.data.sizes[self.sample_dim])

    @cached_property
    def table(self) -> TableFile:
        """The variables along the samples alone, the coordinates first."""
        import polars as pl

        data, dim = self.data, self.sample_dim
        names = dict.fromkeys([dim, *map(str, data.coords), *map(str, data.data_vars)])
        plain = [n for n in names if n in data.variables and data[n].dims == (dim,)]
        known = [n for n in plain if data[n].dtype.kind in _NUMBERS + _TEXT + "bmM"]
        frame = pl.DataFrame([_column(name, data[name].values) for name in known])
        return TableFile(self.source, self.format, frame, codes=self.codes)

    @cached_property
    def values(self) -> xr.Dataset:
        """The data in which codes are missing values."""
        if not self.codes:
            return self.data
        return self.data.map(self._without_codes, keep_attrs=True)

    def _without_codes(self, array: xr.DataArray) -> xr.DataArray:
        if not _is_numeric(array) or self.sample_dim not in array.dims:
            return array
        codes = np.array(self.codes)
        if array.dtype.kind == "f":
            codes = codes[np.abs(codes) <= np.finfo(array.dtype).max].astype(array.dtype)
        found = array.isin(codes)
        return array.where(~found) if self.in_chunks or found.any() else array

    @cached_property
    def field(self) -> Field | None:
        """The numeric variables along the samples, without values; None if none has cells."""
        from ..._data._field import describe_field

        names = [
            name
            for name, variable in self.data.data_vars.items()
            if _is_numeric(variable) and self.sample_dim in variable.dims
        ]
        if all(self.data[name].ndim == 1 for name in names):
            return None
        try:
            return describe_field(self.data[names], self.sample_dim)
        except ValueError as error:
            raise ValueError(f"{self.source}: {error}") from error

    @cached_property
    def variables(self) -> list[GriddedVariable]:  # type: ignore[override]
        field, result = self.field, []
        if field is None:
            return []
        for variable, part in field.parts:
            if variable.shape:
                dims = tuple(map(str, field.cell_dims(variable)))
                name, columns = str(variable.name), field.names[part]
                own = field.dims_without_lag(variable)
                are_places = len(own) == 1 and field.is_list_of_places(own[0])
                result.append(GriddedVariable(name, dims, variable.shape, columns, are_places))
        return result

    @cached_property
    def schema(self) -> dict[str, Any]:  # type: ignore[override]
        import polars as pl

        cells = [name for each in self.variables for name in each.columns]
        return self.table.schema | dict.fromkeys(cells, pl.Float64())

    @cached_property
    def coordinates(self) -> frozenset[str]:  # type: ignore[override]
        """Columns that are coordinates of the samples, and not features."""
        return frozenset(name for name in self.table.names if name in self.data.coords)

    @property
    def not_columns(self) -> list[str]:
        """Variables that a table cannot hold."""
        known = {*self.table.names, *(each.name for each in self.variables), *self.data.dims}
        return [str(name) for name in self.data.variables if name not in known]

    @cached_property
    def _counts(self) -> ValueCounts:
        """Counts and extremes of all columns: one pass over the data."""
        counts = ValueCounts(*(dict[str, Any](each) for each in self.table._counts))
        first = counts.infinite
        if not self.variables:
            return counts
        data: Any = self.values[[each.name for each in self.variables]]
        dim = self.sample_dim
        results = [data.isnull().sum(dim), np.isinf(data).any(dim), data.min(dim), data.max(dim)]
        missing, infinite, low, high = self._compute(results)
        for each in self.variables:
            for figures, known in (
                (missing, counts.missing),
                (low, counts.lowest),
                (high, counts.highest),
            ):
                known.update(each.by_column(figures[each.name]))
            flags = infinite[each.name].transpose(*each.dims).values
            for place in zip(*np.nonzero(flags), strict=True):
                cell = data[each.name].isel(dict(zip(each.dims, place, strict=True)))
                name = each.columns[int(np.ravel_multi_index(place, each.shape))]
                first[name] = int(np.argmax(np.isinf(cell.values)))
        return counts

    def other_values(self, pairs: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, OtherValues]:
        import xarray as xr

        plain = self._plain([*pairs])
        result = super().other_values({name: pairs[name] for name in plain}) if plain else {}
        dim, nothing = self.sample_dim, np.full(2, np.nan)
        chosen, figures = self.gridded(pairs), []
        for each in chosen:
            array = self.values[each.name]
            ends = np.array([pairs.get(name, nothing) for name in each.columns]).T
            low, high = (
                array == xr.DataArray(end.reshape(each.shape), dims=each.dims) for end in ends
            )
            others = array.where(~(low | high))
            figures.append([low.sum(dim), high.sum(dim), others.min(dim), others.max(dim)])
        for each, computed in zip(chosen, self._compute(figures), strict=True):
            columns = [each.by_column(figure) for figure in computed]
            for name in each.columns:
                if name in pairs:
                    result[name] = OtherValues(*(column[name] for column in columns))
        return result

    def _have_values(self, names: Sequence[str], rows: Indices) -> npt.NDArray[np.bool_]:
        plain = self._plain(names)
        found = dict(zip(plain, self.table._have_values(plain, rows), strict=True)) if plain else {}
        chosen = self.gridded(names)
        present = [self._rows(self.values[each.name], rows).notnull() for each in chosen]
        flags = self._compute([each.any(self.sample_dim) for each in present])
        for each, here in zip(chosen, flags, strict=True):
            found |= each.by_column(here)
        return np.array([found[name] for name in names])

    def _each(self, function: Callable[[pl.DataFrame], Any], names: Sequence[str]) -> list[Any]:
        return self.table._each(function, names)

    def _is_empty(self, name: str) -> bool:
        return name in self.table.schema and self.table._is_empty(name)

    def _first_bad(self, name: str) -> str:
        return self.table._first_bad(name)

    def _plain(self, names: Sequence[str]) -> list[str]:
        return [name for name in names if name in self.table.schema]

    def complete_rows(self, names: Sequence[str]) -> npt.NDArray[np.bool_]:
        lacking = [
            (self.values[each.name].isnull() & mask).any(each.dims)
            for each, mask in self._chosen(names)
        ]
        plain = self._plain(names)
        complete = super().complete_rows(plain) if plain else np.ones(self.n_rows, np.bool_)
        for missing in self._compute(lacking):
            complete &= ~missing.values
        return complete

    def _chosen(self, names: Collection[str]) -> Iterator[tuple[GriddedVariable, xr.DataArray]]:
        """Yield the gridded variables that have chosen cells, and which cells these are."""
        names = set(names)
        for each in self.gridded(names):
            yield each, each.mask(names)

    def features(self, names: Sequence[str], rows: Indices) -> Any:
        """Return a Dataset in which all other cells are missing; a table if there are no cells."""
        if self._plain(names) == list(names):
            return self.table.features(names, rows)
        return self._dataset(names, rows)

    def _dataset(self, names: Sequence[str], rows: Indices) -> xr.Dataset:
        plain, chosen = self._plain(names), list(self._chosen(names))
        known = [*plain, *(each.name for each, _ in chosen)]
        data: xr.Dataset = self._rows(self.values[known], rows)
        for each, mask in chosen:
            if (~mask & ~each.mask(set(self.empty))).any():
                data[each.name] = data[each.name].where(mask)
        return data

    def flat_features(self, names: Sequence[str], rows: Indices) -> Any:
        """Return columns as a table, cells or not."""
        import polars as pl

        from ..._data._read_field import read_field

        chosen = self.features(names, rows)
        if isinstance(chosen, pl.DataFrame):
            return chosen
        field, table = read_field(chosen, self.sample_dim)
        if self.in_chunks:
            import dask.dataframe as dd

            return dd.from_dask_array(table, columns=field.names)[list(names)]
        return pl.DataFrame(table, schema=field.names, orient="row").select(names)

    def columns_of(self, model: Any) -> list[str]:
        field = model._columns.field
        if field is None:
            return super().columns_of(model)
        gridded = {each.name: each.columns for each in self.variables}
        names: list[str] = []
        for variable in field.variables:
            columns = gridded.get(str(variable.name), [str(variable.name)])
            names += np.array(columns, dtype=object)[variable.present].tolist()
        return names

    def transform(self, model: Any, names: Sequence[str], rows: Indices) -> Any:
        field = model._columns.field
        if field is None:
            return model.transform(self.flat_features(names, rows))
        data = self._rows(self.values[[variable.name for variable in field.variables]], rows)
        data = data.rename({self.sample_dim: field.sample_dim})
        reduced = model.transform(data if field.is_dataset else data[field.variables[0].name])
        return reduced.rename({field.sample_dim: self.sample_dim})

    def only(self, names: Collection[str]) -> Self:
        """Release the memory of gridded variables without a cell among some columns."""
        kept = {each.name for each in self.gridded(names)}
        gone = [each.name for each in self.variables if each.name not in kept]
        return replace(self, data=self.data.drop_vars(gone))

    def with_columns(self, columns: Sequence[pl.Series]) -> Self:
        new = {column.name: (self.sample_dim, _storable(column)) for column in columns}
        return replace(self, data=self.data.assign(new))

    def lagged(self, names: Sequence[str], lags: Sequence[int], rows: Indices) -> Self:
        """Give variables a dimension of lags; where none has cells, they are ``name lag 1``."""
        # There is a column of rows for each lag. Cells that are not named are missing then.
        if self._plain(names) != list(names):
            return self.with_lag_dimension(names, lags, rows)
        frame = self.table.lagged(names, lags, rows).frame
        new = [column for column in frame.iter_columns() if column.name not in self.names]
        data = self.with_columns(new).data.drop_vars(names)
        return replace(self, data=data, has_lags=np.all(rows >= 0, axis=1))

    def with_lag_dimension(self, names: Sequence[str], lags: Sequence[int], rows: Indices) -> Self:
        from ..._data._steps import field_at_lags

        chosen = self._dataset(names, np.arange(self.n_rows))
        taken = field_at_lags(chosen, self.sample_dim, lags, rows)
        return replace(
            self, data=self.data.assign(taken.data_vars), has_lags=np.all(rows >= 0, axis=1)
        )

    def as_fitted(self, field: Field) -> Self:
        """Return the data with the variables of a fitted field as they were there, checked."""
        from ..._data._read_field import check_same_cells

        known = [variable.name for variable in field.variables]
        chosen = self.data[known].rename({self.sample_dim: field.sample_dim})
        try:
            check_same_cells(field, chosen if field.is_dataset else chosen[known[0]])
        except ValueError as error:
            raise ValueError(f"{self.source}: {error}") from error
        data = self.data.copy()
        for variable in field.variables:
            dims = [self.sample_dim if dim == field.sample_dim else dim for dim in variable.dims]
            data[variable.name] = data[variable.name].transpose(*dims)
        return replace(self, data=data)

    def kept_frame(
        self, names: Sequence[str], rows: Indices, as_numbers: Collection[str] = ()
    ) -> pl.DataFrame:
        frame = self.table.kept_frame(self._plain(names), rows)
        for each, mask in self._chosen(names):
            array = self._rows(self.data[each.name], rows).transpose(self.sample_dim, *each.dims)
            values = array.values.reshape(len(array), -1)
            places = np.flatnonzero(mask.values).tolist()
            frame = frame.hstack([_column(each.columns[k], values[:, k]) for k in places])
        return frame.select(names)

    def write_parts(
        self, folder: str, keep: Sequence[str], rows: Indices, reduced: Any, added: MakeColumns
    ) -> None:
        length = self.data.chunksizes[self.sample_dim][0]
        for start in range(0, rows.size, length):
            frame = self.kept_frame(keep, rows[start : start + length])
            (means,) = self._compute([reduced[start : start + length]])
            file = os.path.join(folder, f"part.{start // length:05d}.parquet")
            beside(frame, added(np.asarray(means))).write_parquet(file)

    def kept_dataset(self, keep: Collection[str], rows: Indices, format: Format) -> xr.Dataset:
        """Return the data set to write: as it is, without the columns that are not kept."""
        kept, empty = set(keep), set(self.empty)
        gone = [n for n in self.table.names if n not in kept and n not in self.data.coords]
        data: xr.Dataset = self._rows(self.data, rows).drop_vars(gone)
        for each in self.variables:
            here = each.mask(kept)
            if here.all():
                continue
            if not (here & ~each.mask(empty)).any():
                data = data.drop_vars(each.name)
                continue
            encoding = data[each.name].encoding
            data[each.name] = data[each.name].where(here)
            # The encoding must have a value for missing, now that some cells are.
            data[each.name].encoding = {} if encoding.get("_FillValue") is None else encoding
        same = format.kind == self.format.kind == "netcdf"
        lasting = _LASTING | (_LASTING_NETCDF if same else set())
        for variable in data.variables.values():
            variable.encoding = {k: v for k, v in variable.encoding.items() if k in lasting}
        growing = set(self.data.encoding.get("unlimited_dims", ())) & set(data.dims)
        data.encoding = {"unlimited_dims": growing} if same and growing else {}
        return data

    def _rows(self, data: Any, rows: Indices) -> Any:
        whole = rows.size == self.n_rows or self.sample_dim not in data.dims
        return data if whole else data.isel({self.sample_dim: rows})

    def _compute(self, values: list[Any]) -> Any:
        return compute(values) if self.in_chunks else values


def open_field(
    path: str,
    format: Format,
    *,
    in_chunks: bool,
    samples: str | None,
    targets: Sequence[str] = (),
    model: Any = None,
    codes: tuple[float, ...] = (),
) -> FieldFile:
    """Open a data set along the dimension of its targets, of the fit of a model, or of time."""
    from ..._data._dates import are_dates

    data = _opened(path, format)
    with data:
        whole = (each.nbytes for each in data.variables.values() if each.ndim == 1 or not in_chunks)
        require_memory(path, sum(whole))
        with reading(path, format):
            for variable in data.variables.values():
                if variable.ndim == 1:
                    variable.load()
        if targets:
            known = list(map(str, data.data_vars))
            names = [name for each in targets for name in matching(known, each) or [each]]
            dims = {name: _dimension_of_target(data, path, samples, name) for name in names}
            dim = dims[names[0]]
            for name in names:
                if dims[name] != dim:
                    raise ValueError(
                        f"{path}: the target {names[0]!r} runs along {dim} and {name!r} along "
                        f"{dims[name]}; several targets must have the same samples"
                    )
        elif model is not None:
            dim = _dimension_of_fit(data, path, samples, model)
        else:
            dim = _checked_dimension(data, path, samples) or _time_dimension(data, path)
        data = data.set_coords(
            [n for n, v in data.data_vars.items() if v.dims == (dim,) and are_dates(v.values[:1])]
        )
        if in_chunks:
            return FieldFile(path, format, _in_chunks(data, dim, path, format), True, dim, codes)
        with reading(path, format):
            data.load()
        return FieldFile(path, format, data, False, dim, codes)


def _opened(path: str, format: Format) -> xr.Dataset:
    """Open a data set, of which no values are read yet."""
    import xarray as xr

    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    require_name(path, format)
    if format.kind == "zarr" and os.path.isdir(path):
        require_harmless(path, format)
    engine: Any = {"netcdf": "netcdf4", "zarr": "zarr"}[format.kind]
    # Consolidated metadata only help over a network, and xarray warns where there are none.
    options: Any = {"consolidated": False} if engine == "zarr" else {}
    options |= {"engine": engine, "cache": False, "decode_timedelta": False}
    times_are_decoded = True
    with reading(path, format), warnings.catch_warnings():
        warnings.simplefilter("ignore", xr.SerializationWarning)  # of dates that NumPy lacks
        try:
            data = xr.open_dataset(path, **options)
        except ValueError:  # such as of times that xarray cannot decode
            data = xr.open_dataset(path, decode_times=False, **options)
            times_are_decoded = False
    if not all(isinstance(name, str) for name in (*data.variables, *data.dims)):
        raise damaged(path, format)
    if not times_are_decoded:
        data = _with_months(data, path)
    # A folder has no order of its own.
    return data[sorted(data.variables, key=str)] if engine == "zarr" else data


def _with_months(data: xr.Dataset, path: str) -> xr.Dataset:
    """Decode whole months since a date, which xarray does for one calendar only."""
    import xarray as xr

    for name, variable in data.variables.items():
        found = re.fullmatch(r"months? since (\d+)-(\d+).*", str(variable.attrs.get("units")))
        if found is not None:
            start = 12 * (int(found[1]) - 1970) + int(found[2]) - 1
            months = np.floor(variable.values).astype(np.int64) + start
            attrs = {k: v for k, v in variable.attrs.items() if k not in ("units", "calendar")}
            data[name] = (variable.dims, months.astype("M8[M]").astype("M8[ns]"), attrs)
    try:
        return xr.decode_cf(data, decode_timedelta=False)
    except ValueError:
        raise ValueError(
            f"{path}: its times cannot be decoded; they need units such as {TIME_UNITS!r}"
        ) from None


def _checked_dimension(data: xr.Dataset, path: str, samples: str | None) -> str | None:
    from ..._data._field import listed_dims

    if samples is not None and samples not in data.dims:
        raise ValueError(
            f"{path} has no dimension {samples!r}; its dimensions are: {listed_dims(data)}"
        )
    return samples


def _time_dimension(data: xr.Dataset, path: str) -> str:
    """Return the only dimension of time, whatever its name."""
    from ..._data._dates import are_dates, is_time
    from ..._data._field import listed_dims

    along: dict[str, list[str]] = {}
    for name, variable in data.variables.items():
        own = name in variable.dims and is_time(name, variable.attrs)
        if variable.ndim == 1 and (own or are_dates(variable.values[:1])):
            along.setdefault(str(variable.dims[0]), []).append(str(name))
    if len(along) == 1:
        return next(iter(along))
    several = " and ".join(f"{dim!r} ({', '.join(map(repr, n))})" for dim, n in along.items())
    raise ValueError(
        f"{path}: it is not clear which dimension the samples are along, because there are "
        + (f"times along {several}" if along else "no times along any")
        + f"; name it with --samples, one of {listed_dims(data)}"
    )


def _dimension_of_target(data: xr.Dataset, path: str, samples: str | None, target: str) -> str:
    """Return the dimension of the samples: that of the target, which must have no other."""
    from ..._data._read_field import sample_dimension

    _checked_dimension(data, path, samples)
    if target in data.variables:
        dims = data[target].dims
        if len(dims) == 1 and samples in (None, dims[0]):
            return str(sample_dimension(data, samples, data[target]))
        has = ", ".join(map(str, dims)) or "none"
        problem = f"{path}: the dimensions of {target!r} are: {has}"
    else:
        problem = f"{path} has no variable {target!r}"
    possible = [
        str(name)
        for name, variable in data.data_vars.items()
        if variable.ndim == 1 and samples in (None, *variable.dims)
        if variable.dtype.kind in _NUMBERS + _TEXT + "b"
    ]
    listed = ", ".join(map(repr, possible[:_LISTED])) + (", …" if len(possible) > _LISTED else "")
    along = "" if samples is None else f" ({samples})"
    raise ValueError(
        f"{problem}; the target must run along the samples{along} alone. Possible targets: "
        f"{listed or 'none'}"
        + ("" if target in data else "; --target-file takes it from another file")
    )


def _dimension_of_fit(data: xr.Dataset, path: str, samples: str | None, model: Any) -> str:
    """Return the dimension of the samples, of data with the variables of a fitted model."""
    field = model._columns.field
    _checked_dimension(data, path, samples)
    if field is None:
        feature = next((name for name in map(str, model._columns.labels) if name in data), None)
        if samples is None and feature is not None:
            samples = str(data[feature].dims[0])
        return samples or _time_dimension(data, path)
    known = [variable.name for variable in field.variables]
    if not field.is_dataset and known[0] is None:
        raise ValueError(
            f"{path}: the model was fitted to a DataArray without a name, so its variable is "
            "unknown. Name the array before the fit."
        )
    for name in known:
        if name not in data.data_vars:
            raise ValueError(f"{path} has no variable {name!r}, which the model was fitted to")
    return samples or _sample_dim_of(data, field) or _time_dimension(data, path)


def _sample_dim_of(data: xr.Dataset, field: Field) -> str | None:
    """Return the sample dimension of the fit, or the one that is not a dimension of its cells."""
    if field.sample_dim in data.dims:
        return str(field.sample_dim)
    cells = {dim for variable in field.variables for dim in field.cell_dims(variable)}
    others: set[Hashable] = set(data[field.variables[0].name].dims) - cells
    return str(others.pop()) if len(others) == 1 else None


@dataclass(frozen=True)
class _Stored:
    """Values of a variable that is read in parts: a part that cannot be read names the file."""

    variable: xr.Variable
    path: str
    format: Format

    @property
    def shape(self) -> tuple[int, ...]:
        return self.variable.shape

    @property
    def ndim(self) -> int:
        return self.variable.ndim

    @property
    def dtype(self) -> Any:
        return self.variable.dtype

    def __getitem__(self, part: Any) -> npt.NDArray[Any]:
        with reading(self.path, self.format):
            return np.asarray(self.variable[part])

    def chunked(self, dim: str, length: int) -> xr.Variable:
        import dask.array as da

        chunks = [length if each == dim else -1 for each in self.variable.dims]
        values = da.from_array(self, chunks, name=False, asarray=False)  # other names read it all
        return self.variable.copy(deep=False, data=values)


def _in_chunks(data: xr.Dataset, dim: str, path: str, format: Format) -> xr.Dataset:
    """Let gridded variables be read in chunks: whole stored chunks, unless those are very long."""
    # What is along the samples alone is read at once, and text, which writing would search anyway.
    large = [
        array
        for array in data.data_vars.values()
        if dim in array.dims and array.ndim > 1 and array.dtype.kind not in _TEXT
    ]
    n_rows = max(data.sizes[dim], 1)
    row = sum(array.nbytes for array in large) // n_rows
    length, stored = max(1, CHUNK_BYTES // max(row, 1)), 1
    for array in large:
        chunks = array.encoding.get("chunks")
        if chunks is not None:
            size = prod(chunks) * array.dtype.itemsize
            require_memory(path, size, "write it with smaller chunks")
            stored = max(stored, int(chunks[array.dims.index(dim)]))
    if stored <= _LONGEST * length:
        length = max(stored, length - length % stored)
    lazy = {
        array.name: _Stored(array.variable, path, format).chunked(dim, min(length, n_rows))
        for array in large
    }
    require_memory(path, data.drop_vars(lazy).nbytes)
    with reading(path, format):
        rest = data.drop_vars(lazy).load()
    return rest.assign(lazy)[list(data.data_vars)]


def with_reduced(data: xr.Dataset, reduced: xr.DataArray, model: Any) -> xr.Dataset:
    """Add what ``transform`` returns to a data set, and for a field what ``label_map`` returns."""
    own = [str(name) for name in reduced.coords if "group" in reduced[name].dims]
    renamed = {name: _free_name(name, data) for name in own}
    reduced = reduced.rename(renamed).rename(_free_name("reduced", data))
    data = data.assign({str(reduced.name): reduced})
    # Chunks of one length, as a Zarr store needs them.
    dim = reduced.dims[0]
    lazy = [n for n in data.variables if data[n].chunks is not None and dim in data[n].dims]
    length = max([1, *(max(data[name].chunksizes[dim]) for name in lazy)])
    data = data.assign({name: data[name].chunk({dim: length}) for name in lazy})
    field = model._columns.field
    if field is None:
        return data
    maps = model.label_map()
    for variable in field.variables:
        labels = maps[variable.name] if field.is_dataset else maps
        attrs = dict(labels.attrs)
        if "grid_mapping" in variable.attrs:
            attrs["grid_mapping"] = variable.attrs["grid_mapping"]
        place = _free_name(f"{variable.name}_group", data)
        data[place] = (labels.dims, labels.values, attrs, labels.encoding)
    return data


def reduced_array(values: Any, model: Any, dim: str) -> Any:
    """Return reduced features of a table in the layout that ``transform`` has for fields."""
    import xarray as xr

    if isinstance(values, xr.DataArray):
        return values
    if hasattr(values, "to_dask_array"):
        values = values.to_dask_array(lengths=True)
    groups = model.groups_by_name()
    sizes = np.array([len(group) for group in groups.values()])
    coords = {
        "group": np.arange(len(groups)),
        "name": ("group", np.array([*groups], dtype=object), {"long_name": "reduced feature"}),
        "size": ("group", sizes, {"long_name": "features"}),
    }
    return xr.DataArray(values, dims=(dim, "group"), coords=coords, name="reduced")


def dataset_of(frame: pl.DataFrame) -> xr.Dataset:
    """Return the columns of a table as a data set."""
    import xarray as xr

    return with_series(xr.Dataset(), frame.iter_columns(), TableFile.sample_dim)


def with_series(
    data: xr.Dataset, columns: Iterable[pl.Series], dim: str, attrs: Mapping[str, str] | None = None
) -> xr.Dataset:
    """Add columns along a dimension to a data set."""
    for column in columns:
        name = _free_name(column.name, data)
        own = {} if name == column.name else {"long_name": column.name}
        data[name] = ((dim,), _storable(column), {**(attrs or {}), **own})
    return data


def _storable(column: pl.Series) -> npt.NDArray[Any]:
    """Return a column in a type that a data set can hold; there is no missing text in one."""
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


def _free_name(name: str, data: xr.Dataset) -> str:
    while name in data.variables or (name in data.dims and name != TableFile.sample_dim):
        name += "_"
    return name


def with_storable_names(data: xr.Dataset, format: Format) -> xr.Dataset:
    """Rename what a file cannot hold under its name, which is then the ``long_name``."""
    renamed: dict[Hashable, str] = {}
    taken = {*map(str, data.variables), *map(str, data.dims)}
    for old in dict.fromkeys([*data.variables, *data.dims]):
        new = _storable_name(str(old), format)
        if new == old:
            continue
        while new in taken:
            new += "_"
        taken.add(new)
        renamed[old] = new
    named = data.rename(renamed)
    for old, new in renamed.items():
        if old and new in named.variables:
            named[new].attrs.setdefault("long_name", str(old))
    if format.kind == "netcdf":
        for attrs in (named.attrs, *(variable.attrs for variable in named.variables.values())):
            for key in [each for each in attrs if _storable_name(each, format) != each]:
                attrs.setdefault(_storable_name(key, format), attrs.pop(key))
    return named


def _storable_name(name: str, format: Format) -> str:
    name = normalize("NFC", name) if format.kind == "netcdf" else name  # as its library does
    short = name.encode()[:_LONGEST_NAME].decode(errors="ignore")
    return re.sub(_UNSTORABLE[format.kind], "_", short) or _ROW_LABELS


def _is_numeric(variable: xr.DataArray) -> bool:
    return variable.dtype.kind in _NUMBERS


def _column(name: str, values: npt.NDArray[Any]) -> pl.Series:
    """Return values as a column, in a byte order and a precision that tables have."""
    import polars as pl

    kind = values.dtype.kind
    if kind in _TEXT:
        return pl.Series(name, [_text(value) for value in values.tolist()], dtype=pl.String)
    if kind == "f":
        values = values.astype(np.float32 if values.dtype.itemsize <= 4 else np.float64, copy=False)
    elif kind in "mM":
        values = values.astype(f"{kind}8[ns]", copy=False)
    else:
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
    return pl.Series(name, np.ascontiguousarray(values))


def _text(value: Any) -> str | None:
    """Return a value as text; dates of the calendars of climate models in ISO form."""
    if value is None or isinstance(value, float):
        return None
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
