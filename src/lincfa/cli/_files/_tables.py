"""Tables: in memory, or Parquet files in chunks of rows. Rows are counted from 1 in messages."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from secrets import token_hex
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._data._compute import compute
from ..._data._names import shifted_name
from ._csv import MISSING, CsvFile
from ._dates import find_dates, why_no_dates
from ._excel import SheetText, read_sheet
from ._formats import (
    WORKING,
    Format,
    available_memory,
    by_name,
    exceeds_memory,
    gigabytes,
    is_text,
    parquet_files,
    reading,
    require_memory,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from ..._data._dates import Dates

_THOUSANDS = r"^[^,]*$|^\s*[-+]?[1-9]\d{0,2},\d{3}\s*$"  # or no comma: no sign of decimals
Indices: TypeAlias = "npt.NDArray[np.intp]"
_OTHER_BYTES = {"Boolean": 1 / 8, "Null": 0, "Date": 4, "String": 16}  # 8 of all others
CHUNK_BYTES = 2**26  # size of a chunk, about; a row group of a Parquet file is not divided


class ValueCounts(NamedTuple):
    """What is known of the values of each numeric column."""

    missing: dict[str, int]  # how many
    infinite: dict[str, int]  # the first row with infinity, counted from 0
    lowest: dict[str, float]  # of columns with a value
    highest: dict[str, float]


class OtherValues(NamedTuple):
    """How many values of a column are one of two, and the range of all others."""

    at_low: int
    at_high: int
    low: float  # NaN, as the next, if there are no others
    high: float


def matching(names: Sequence[str], wanted: str) -> list[str]:
    """Return the column of this name, or else those that match it as a pattern."""
    return [wanted] if wanted in names else [name for name in names if fnmatchcase(name, wanted)]


class FileColumns:
    """What tables in memory, tables in chunks and fields have in common."""

    source: str
    schema: dict[str, Any]
    n_rows: int
    codes: tuple[float, ...]  # values that mean missing in numeric columns, but where they are kept
    date_columns: tuple[str, ...] = ()  # that are named as such; none where they are to be found
    notes: tuple[str, ...] = ()  # on how the file was read

    variables: ClassVar[list[Any]] = []
    coordinates: ClassVar[frozenset[str]] = frozenset()
    sample_dim: ClassVar[str] = "sample"  # where a table is written as a data set
    has_lags: npt.NDArray[np.bool_] | None = None  # which rows have all lags; None for all rows

    def _each(self, function: Callable[[pl.DataFrame], Any], names: Sequence[str]) -> list[Any]:
        raise NotImplementedError

    def _each_without_codes(
        self, function: Callable[[pl.DataFrame], Any], names: Sequence[str]
    ) -> list[Any]:
        codes = self.codes
        return self._each(lambda frame: function(without_codes(frame, codes)), names)

    @property
    def names(self) -> list[str]:
        return list(self.schema)

    def _is_number(self, name: str) -> bool:
        return bool(self.schema[name].is_numeric())

    @cached_property
    def _counts(self) -> ValueCounts:
        """Counts and extremes of all numeric columns: one pass over the data."""
        names = [name for name in self.names if self._is_number(name)]
        result, start = ValueCounts(dict.fromkeys(names, 0), {}, {}, {}), 0
        for n_rows, counts in self._each_without_codes(_count_values, names):
            for name, count in counts.missing.items():
                result.missing[name] += count
            for name, row in counts.infinite.items():
                result.infinite.setdefault(name, start + row)
            for name, value in counts.lowest.items():
                result.lowest[name] = min(value, result.lowest.get(name, value))
            for name, value in counts.highest.items():
                result.highest[name] = max(value, result.highest.get(name, value))
            start += n_rows
        return result

    @cached_property
    def numeric(self) -> list[str]:
        """Numeric columns that have a value; coordinates are none."""
        missing, others = self._counts.missing, self.coordinates
        values = [n for n in self.names if self._is_number(n) and missing[n] < self.n_rows]
        return [name for name in values if name not in others]

    @cached_property
    def empty(self) -> list[str]:
        missing = self._counts.missing
        return [n for n in self.names if missing.get(n) == self.n_rows or self._is_empty(n)]

    def _is_empty(self, name: str) -> bool:
        """Whether a column that is not numeric has no value."""
        return str(self.schema[name]) == "Null"

    def require_numeric(self, names: Sequence[str]) -> None:
        """Raise if a column has values that are not numbers."""
        for name in names:
            if not (self._is_number(name) or self._is_empty(name)):
                what = self._first_bad(name)
                raise ValueError(f"{self.source}: column {name!r} is not numeric ({what})")

    def _first_bad(self, name: str) -> str:
        return str(self.schema[name]).lower()

    def count_values(self, names: Sequence[str]) -> ValueCounts:
        self.require_numeric(names)
        missing = {name: self._counts.missing.get(name, self.n_rows) for name in names}
        return ValueCounts(missing, *(_of(names, each) for each in self._counts[1:]))

    def other_values(self, pairs: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, OtherValues]:
        """Set two values of some columns, their lowest and highest or NaN, apart from the rest."""
        pairs = dict(pairs)
        parts = self._each_without_codes(lambda frame: _other_values(frame, pairs), list(pairs))
        return {
            name: OtherValues(
                sum(part[name].at_low for part in parts),
                sum(part[name].at_high for part in parts),
                float(np.fmin.reduce([part[name].low for part in parts])),
                float(np.fmax.reduce([part[name].high for part in parts])),
            )
            for name in pairs
        }

    def only(self, names: Collection[str]) -> Self:
        """Release the memory of all columns but some."""
        return self

    def gridded(self, names: Collection[str]) -> list[Any]:
        """Return the variables of a field that have cells among some columns."""
        chosen = set(names)
        return [each for each in self.variables if not chosen.isdisjoint(each.columns)]

    @cached_property
    def dates(self) -> Dates | None:
        """Dates of the rows, where they have any."""
        return find_dates(self._date_types, self._column, self.date_columns, self.source)

    def why_no_dates(self) -> str:
        """Say why columns that look like dates are not those of the rows; nothing if none does."""
        return why_no_dates(self._date_types, self._column)

    @property
    def _date_types(self) -> dict[str, Any]:
        """Types of the columns in which to look for dates, where none is named."""
        return self.schema

    def _column(self, name: str) -> pl.Series:
        import polars as pl

        column: pl.Series = pl.concat(self._each(lambda frame: frame, [name])).to_series()
        return column

    def complete_rows(self, names: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which rows have a value in each of some columns."""
        return np.concatenate(self._each_without_codes(_complete_rows, names))

    def target(self, name: str) -> npt.NDArray[np.float64]:
        """Return a column as numbers, NaN where a value is missing."""
        self.require_numeric([name])
        if not self._is_number(name):
            return np.full(self.n_rows, np.nan)
        values = self._each_without_codes(_to_array, [name])
        return np.concatenate(values)[:, 0].astype(np.float64)

    def holds_labels(self, name: str) -> bool:
        """Whether a column is text, categories or booleans, and has a value."""
        import polars as pl

        kinds = (pl.String, pl.Categorical, pl.Enum, pl.Boolean)
        return isinstance(self.schema[name], kinds) and not self._is_empty(name)

    def labels(self, name: str) -> pl.Series:
        """Return a column as labels of classes, without blanks around text."""
        import polars as pl

        column: pl.Series = pl.concat(self._each_without_codes(_as_labels, [name])).to_series()
        if column.dtype == pl.String:
            column = column.set(column.is_in(self._missing_words), None)
        return column

    _missing_words: ClassVar[Sequence[str]] = [""]

    def features(self, names: Sequence[str], rows: Indices) -> Any:
        raise NotImplementedError

    def flat_features(self, names: Sequence[str], rows: Indices) -> Any:
        return self.features(names, rows)

    def with_values(self, names: Sequence[str], rows: Indices) -> list[str]:
        """Return those of some features that have a value in some rows."""
        # Only where more values are missing than there are other rows may all of these be.
        gaps = self._counts.missing
        doubtful = [name for name in names if gaps[name] >= rows.size]
        if not doubtful:
            return list(names)
        present = self._have_values(doubtful, rows)
        empty = {name for name, here in zip(doubtful, present, strict=True) if not here}
        return [name for name in names if name not in empty]

    def _have_values(self, names: Sequence[str], rows: Indices) -> npt.NDArray[np.bool_]:
        chosen = np.zeros(self.n_rows, dtype=np.bool_)
        chosen[rows] = True
        start, result = 0, np.zeros(len(names), dtype=np.bool_)
        for values in self._each_without_codes(_is_present, names):
            result |= values[chosen[start : start + len(values)]].any(axis=0)
            start += len(values)
        return result

    def columns_of(self, model: Any) -> list[str]:
        return [str(name) for name in model._columns.labels]

    def transform(self, model: Any, names: Sequence[str], rows: Indices) -> Any:
        return model.transform(self.features(names, rows))


@dataclass(frozen=True)
class TableFile(FileColumns):
    """A table in memory."""

    source: str
    format: Format
    frame: pl.DataFrame
    text: CsvFile | SheetText | None = None  # the numbers as they are written
    comments: dict[str, str] = field(default_factory=dict)  # on text that is mostly numbers
    codes: tuple[float, ...] = ()
    date_columns: tuple[str, ...] = ()
    has_lags: npt.NDArray[np.bool_] | None = None
    notes: tuple[str, ...] = ()

    in_chunks: ClassVar[bool] = False

    @classmethod
    def read(
        cls,
        path: str,
        format: Format,
        targets: Sequence[str] = (),
        codes: tuple[float, ...] = (),
    ) -> TableFile:
        """Read a CSV, Excel, Parquet or Feather file, or CSV from standard input (``-``)."""
        # Text that holds only numbers is converted; outside of CSV and Excel if it is a target.
        if format.kind in ("parquet", "feather"):
            frame = _read_columnar(path, format)
            names = dict.fromkeys(n for each in targets for n in matching(frame.columns, each))
            numbers, _ = _numbers_of(map(frame.get_column, names))
            return cls(path, format, frame.with_columns(numbers), codes=codes)
        if format.kind == "excel":
            frame, notes = read_sheet(path, format)
            numbers, comments = _numbers_of(filter(_may_be_numbers, frame.iter_columns()))
            text = SheetText(frame.select(each.name for each in numbers))
            frame = frame.with_columns(numbers)
            return cls(path, format, frame, text, comments, codes, notes=tuple(notes))
        csv, frame, comments, notes = _read_csv(CsvFile.open(path, format))
        return cls(csv.source, csv.format, frame, csv, comments, codes, notes=tuple(notes))

    @cached_property
    def schema(self) -> dict[str, Any]:  # type: ignore[override]
        return dict(self.frame.schema)

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        return self.frame.height

    @property
    def _missing_words(self) -> Sequence[str]:  # type: ignore[override]
        return [""] if self.text is None else MISSING

    def _each(self, function: Callable[[pl.DataFrame], Any], names: Sequence[str]) -> list[Any]:
        return [function(self.frame.select(names))]

    def _is_empty(self, name: str) -> bool:
        return not _has_value(self.frame.get_column(name))

    def _first_bad(self, name: str) -> str:
        import polars as pl

        column = self.frame.get_column(name)
        if isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
            text = column.cast(pl.String)
            bad = _parse_numbers(text, self.format.decimal)[1]
            return _first_of(text, bad) if len(bad) else "text"
        return f"row 1: {column[0]}, {str(column.dtype).lower()}"

    def features(self, names: Sequence[str], rows: Indices) -> pl.DataFrame:
        """Return rows of numeric columns, in memory that a fit does not copy."""
        import polars as pl

        array = _to_array(without_codes(self.frame.select(names), self.codes), rows)
        # The orientation is given because polars would mistake the columns of a square for rows.
        return pl.DataFrame(array, schema=list(names), orient="row")

    def only(self, names: Collection[str]) -> Self:
        kept = [name for name in self.names if name in names]
        return replace(self, frame=self.frame.select(kept))

    def with_columns(self, columns: Sequence[pl.Series]) -> Self:
        return replace(self, frame=self.frame.with_columns(columns))

    def lagged(self, names: Sequence[str], lags: Sequence[int], rows: Indices) -> Self:
        """Replace columns by their values at lags, ``name lag 1``, in so many columns of rows."""
        old = self.frame.select(names)
        parts = [
            take_rows(column, at_lag).alias(shifted_name(column.name, "lag", lag))
            for lag, at_lag in zip(lags, rows.T, strict=True)
            for column in old.iter_columns()
        ]
        frame = self.frame.drop(names).with_columns(parts)
        return replace(self, frame=frame, has_lags=np.all(rows >= 0, axis=1))

    def kept_frame(
        self, names: Sequence[str], rows: Indices, as_numbers: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return rows of columns to write; numbers in text as they are written there, but some."""
        frame = self.frame.select(names)
        own = () if self.text is None else self.text.names
        text = [n for n in names if n in own and self._is_number(n) and n not in as_numbers]
        if self.text is not None and text:
            frame = frame.with_columns(self.text.read_text(text, self.n_rows).get_columns())
        return frame if not names or rows.size == frame.height else frame[rows]


def take_rows(column: pl.Series, rows: Indices) -> pl.Series:
    """Take rows of a column; no value where a row is −1."""
    import polars as pl

    places = pl.Series(rows)
    return column.gather(places.set(places < 0, None))


def _read_columnar(path: str, format: Format) -> pl.DataFrame:
    """Read a Parquet or Feather file, or an Arrow stream, which often has the same suffix."""
    import polars as pl

    is_parquet = format.kind == "parquet"
    # polars would search a path for wildcards; it reads a file from where its descriptor is.
    with open(path, "rb", buffering=0) as file:
        if not is_parquet and file.read(6) != b"ARROW1":
            return _read_stream(path, format, file)
        file.seek(0)
        with reading(path, format):
            scan = pl.scan_parquet(file) if is_parquet else pl.scan_ipc(file)
            n_rows, schema = scan.select(pl.len()).collect().item(), scan.collect_schema()
        size = n_rows * _row_bytes(schema)
        if is_parquet and not all(dtype.is_numeric() for dtype in schema.values()):
            size = max(size, _text_bytes(path, format))
        require_memory(path, size)
        with reading(path, format), by_name(path) as source:
            if is_parquet:
                frame = pl.read_parquet(source, glob=False, hive_partitioning=False)
            else:
                file.seek(0)
                frame = pl.read_ipc(file)
    return _require_text(path, frame)


def _text_bytes(path: str, format: Format) -> int:
    """Return about how much text and nested columns of a Parquet file take, by its footer."""
    try:
        import pyarrow.parquet as pq
    except ImportError:  # polars does not tell
        return 0
    with reading(path, format), by_name(path) as source:
        metadata = pq.read_metadata(source)
        columns = [metadata.schema.column(place) for place in range(metadata.num_columns)]
        places = [
            place
            for place, column in enumerate(columns)
            if column.path != column.name or column.physical_type.endswith("BYTE_ARRAY")
        ]
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        parts = [group.column(place) for group in groups for place in places]
        return sum(max(part.total_uncompressed_size, 8 * part.num_values) for part in parts)


def _require_text(path: str, frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table; raise if text that its rows share would not fit into memory as their own."""
    # A file may hold long text once for many rows; most of what is done with it makes copies.
    import polars as pl
    import polars.selectors as cs

    sizes = frame.select(cs.string().str.len_bytes().cast(pl.UInt64).sum())
    require_memory(path, max(sizes.row(0), default=0) if sizes.width else 0)
    return frame


def _read_stream(path: str, format: Format, file: BinaryIO) -> pl.DataFrame:
    """Read an Arrow stream, which does not tell how long it is, while its rows fit into memory."""
    import polars as pl

    available = available_memory()
    with reading(path, format):
        file.seek(0)
        schema = pl.read_ipc_stream(file, n_rows=0).schema
        file.seek(0)
        most = int(min(available / WORKING / (_row_bytes(schema) or 1), 2**60))
        frame = pl.read_ipc_stream(file, n_rows=most + 1)
    if frame.height > most:
        raise exceeds_memory(path, f"more than {gigabytes(available)}", available)
    return _require_text(path, frame)


def _read_csv(csv: CsvFile) -> tuple[CsvFile, pl.DataFrame, dict[str, str], list[str]]:
    """Read a CSV file, comment on its columns, and note how commas in numbers were taken."""
    import polars as pl

    given = csv.format.decimal
    first = csv, frame, _ = _read_with(csv, given or ".")
    texts = [column for column in frame.iter_columns() if column.dtype == pl.String]
    texts = [column for column in texts if column.str.contains(",", literal=True).any()]
    if given is not None or csv.separator == "," or not texts:
        return *first, []
    # Decimal commas are clear where they make numbers of text, and text of no numbers.
    second = _read_with(csv, ",")
    found = [text for text in texts if second[1].schema[text.name].is_numeric()]
    if not found:
        return *first, []
    example = found[0].filter(found[0].str.contains(",", literal=True))[0].strip()
    where = f"{example!r} in column {found[0].name!r}"
    if all(text.str.contains(_THOUSANDS).all() for text in found) or any(
        old.is_numeric() and not new.is_numeric()
        for old, new in zip(frame.dtypes, second[1].dtypes, strict=True)
    ):
        advice = "--decimal , takes it as a number"
        return *first, [
            f"{csv.source}: {where} is text, as its comma may be no decimal one; {advice}"
        ]
    return *second, [f"{csv.source} has decimal commas, such as {where} (--decimal . for text)"]


def _read_with(csv: CsvFile, decimal: str) -> tuple[CsvFile, pl.DataFrame, dict[str, str]]:
    csv = replace(csv, format=replace(csv.format, decimal=decimal))
    frame = csv.read()
    numbers, comments = _numbers_of(frame.iter_columns(), decimal)
    return csv, frame.with_columns(numbers), comments


def _parse_numbers(text: pl.Series, decimal: str | None = None) -> tuple[pl.Series, Indices]:
    """Parse text as integers, else as numbers; return also the rows where it is neither."""
    import polars as pl

    bare = text.str.strip_chars()
    bare = bare.set(bare.is_in(MISSING), None)
    if decimal == ",":  # and a point makes no number
        bare = bare.str.replace_many([",", "."], [".", ","])
    whole = bare.cast(pl.Int64, strict=False)
    if whole.null_count() == bare.null_count():
        return whole, np.empty(0, dtype=np.intp)
    real = bare.cast(pl.Float64, strict=False)
    return real, np.flatnonzero((real.is_null() & bare.is_not_null()).to_numpy())


def _numbers_of(
    columns: Iterable[pl.Series], decimal: str | None = None
) -> tuple[list[pl.Series], dict[str, str]]:
    """Convert text columns that hold only numbers; comment on those that nearly do."""
    import polars as pl

    comments, converted = {}, []
    for text in columns:
        if text.dtype != pl.String or not _has_value(text):
            continue
        numbers, bad = _parse_numbers(text, decimal)
        if not len(bad):
            converted.append(numbers)
        elif len(numbers) - numbers.null_count() > len(bad):
            comments[text.name] = _first_of(text, bad)
    return converted, comments


def _may_be_numbers(column: pl.Series) -> bool:
    """Whether text in cells with a type is no label such as 00123."""
    return str(column.dtype) != "String" or not column.str.contains(r"^\s*0\d").any()


def _first_of(text: pl.Series, rows: Indices) -> str:
    """Quote the first of some rows, and count the others."""
    value = text[int(rows[0])]
    quoted = repr(value if len(value) <= 40 else f"{value[:39]}…")
    return f"row {rows[0] + 1}: {quoted}" + (f"; {len(rows) - 1} more" if len(rows) > 1 else "")


def _as_labels(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    column = frame.to_series()
    if isinstance(column.dtype, pl.Categorical | pl.Enum | pl.String):
        column = column.cast(pl.String).str.strip_chars()
    elif column.dtype.is_float():
        column = column.fill_nan(None)
    return column.to_frame()


def looks_numeric(column: pl.Series) -> bool:
    """Whether labels are text of which some is a number, also with a decimal comma."""
    import polars as pl

    if column.dtype != pl.String:
        return False
    numbers = column.cast(pl.Float64, strict=False).is_not_null()
    return bool((numbers | column.str.contains(r"^[-+]?\d+,\d+$")).any())


def _has_value(column: pl.Series) -> bool:
    """Whether a column that is not numeric has a value."""
    import polars as pl

    if column.dtype == pl.String:
        return not column.drop_nulls().str.strip_chars().is_in(MISSING).all()
    return column.null_count() < len(column)


def without_codes(frame: pl.DataFrame, codes: Sequence[float]) -> pl.DataFrame:
    """Return a table without the values of numeric columns that mean missing."""
    import polars as pl

    for dtype in set(frame.dtypes) if codes else ():
        own = _codes_as(dtype, codes)
        if len(own):
            names = [name for name, each in frame.schema.items() if each == dtype]
            found = frame.select(pl.col(names).is_in(own.implode()).any()).row(0, named=True)
            frame = frame.with_columns(
                pl.when(~pl.col(name).is_in(own.implode())).then(pl.col(name))
                for name in names
                if found[name]
            )
    return frame


def _codes_as(dtype: Any, codes: Sequence[float]) -> pl.Series:
    """Return codes in the type of a column: 1e20 as it is in single precision."""
    import polars as pl

    held = [code for code in codes if not dtype.is_integer() or code.is_integer()]
    if not dtype.is_numeric() or not held:
        return pl.Series([], dtype=pl.Float64)
    values = pl.Series(held, dtype=pl.Float64).cast(dtype, strict=False).drop_nulls()
    return values.filter(values.is_finite()) if dtype.is_float() else values


def _other_values(
    frame: pl.DataFrame, pairs: Mapping[str, npt.NDArray[np.float64]]
) -> dict[str, OtherValues]:
    result = {}
    for column in frame.iter_columns():
        values = _to_array(column.to_frame())[:, 0].astype(np.float64)
        low, high = (values == value for value in pairs[column.name])
        others = values[~(low | high | np.isnan(values))]
        between = (others.min(), others.max()) if others.size else (np.nan, np.nan)
        result[column.name] = OtherValues(int(low.sum()), int(high.sum()), *map(float, between))
    return result


def _count_values(frame: pl.DataFrame) -> tuple[int, ValueCounts]:
    """Return the number of rows, and what is known of the values of the columns."""
    import polars as pl
    import polars.selectors as cs

    floats = frame.select(cs.float())
    missing = frame.null_count().row(0, named=True) if frame.width else {}
    lowest, highest = (_numbers(each) for each in (frame.min(), frame.max()))
    if not floats.width:
        return frame.height, ValueCounts(missing, {}, lowest, highest)
    for name, count in floats.select(pl.all().is_nan().sum()).row(0, named=True).items():
        missing[name] += count
    flags = floats.select(pl.all().is_infinite().any()).row(0, named=True)
    first = {
        name: floats.get_column(name).is_infinite().fill_null(False).arg_max() or 0
        for name in floats.columns
        if flags[name]
    }
    missing = {name: count for name, count in missing.items() if count}
    return frame.height, ValueCounts(missing, first, lowest, highest)


def _of(names: Sequence[str], figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: figures[name] for name in names if name in figures}


def _numbers(frame: pl.DataFrame) -> dict[str, float]:
    """Return the values in the first row of a table, where there are any."""
    row = frame.row(0, named=True) if frame.height else {}
    return {name: float(v) for name, v in row.items() if v is not None and v == v}


def _is_present(frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    present: npt.NDArray[np.bool_] = ~np.isnan(_to_array(frame))
    return present


def _complete_rows(frame: pl.DataFrame) -> npt.NDArray[np.bool_]:
    import polars as pl

    complete = frame.fill_nan(None).select(pl.all_horizontal(pl.all().is_not_null()))
    return complete.to_series().to_numpy()


def _to_array(
    frame: pl.DataFrame, rows: npt.NDArray[Any] | None = None
) -> npt.NDArray[np.floating[Any]]:
    """Return numeric columns as an array, one behind the other; NaN for no value."""
    import polars as pl

    single = frame.width > 0 and all(dtype == pl.Float32 for dtype in frame.dtypes)
    result: npt.NDArray[np.floating[Any]] = np.empty(
        (frame.height if rows is None else rows.size, frame.width),
        dtype=np.float32 if single else np.float64,
        order="F",
    )
    for place, column in enumerate(frame.iter_columns()):
        if column.null_count() or not isinstance(column.dtype, pl.Float64 | pl.Float32):
            # A column without any value may be text, with words for missing values.
            column = column.cast(pl.Float64, strict=column.dtype.is_numeric())
        values = column.to_numpy()
        result[:, place] = values if rows is None else values[rows]
    return result


@dataclass(frozen=True)
class ParquetChunks(FileColumns):
    """Parquet files as one table, of which only names and types have been read.

    ``dask.dataframe.read_parquet`` would not do: it takes the types of the first file for those of
    all files, also where integers are missing, and cannot write lists.
    """

    source: str
    format: Format
    schema: dict[str, Any]
    chunks: list[Chunk]
    codes: tuple[float, ...] = ()
    date_columns: tuple[str, ...] = ()

    in_chunks: ClassVar[bool] = True
    comments: ClassVar[dict[str, str]] = {}

    @classmethod
    def open(cls, path: str, format: Format, codes: tuple[float, ...] = ()) -> ParquetChunks:
        """Open a Parquet file or a folder of them, with subfolders such as ``year=2020``."""
        files = parquet_files(path) if format.is_folder else [path]
        root = path if format.is_folder else os.path.dirname(path) or "."
        labels = [_folder_labels(os.path.relpath(file, root)) for file in files]
        schema = _common_schema(files, format) | _label_schema(labels)
        row_bytes = _row_bytes(schema)
        chunks = [
            Chunk(os.path.abspath(file), label, start, n_rows)
            for file, label in zip(files, labels, strict=True)
            for start, n_rows in _row_group_runs(file, format, row_bytes)
        ]
        for chunk in chunks:
            require_memory(chunk.file, chunk.n_rows * row_bytes, "write it with shorter row groups")
        return cls(path, format, schema, chunks, codes)

    @cached_property
    def n_rows(self) -> int:  # type: ignore[override]
        return sum(chunk.n_rows for chunk in self.chunks)

    @cached_property
    def _labels(self) -> set[str]:
        return {name for chunk in self.chunks for name in chunk.labels}

    def _is_number(self, name: str) -> bool:
        return super()._is_number(name) and name not in self._labels

    @property
    def _date_types(self) -> dict[str, Any]:
        # Text is not read only to find that it holds no dates.
        return {name: dtype for name, dtype in self.schema.items() if dtype.is_temporal()}

    def _types(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: self.schema[name] for name in names}

    def _each(self, function: Callable[[pl.DataFrame], Any], names: Sequence[str]) -> list[Any]:
        from dask import delayed

        types = delayed(self._types(names), traverse=False, pure=False)
        call = delayed(lambda chunk, types: function(chunk.read(types)), pure=False)
        result: list[Any] = compute([call(chunk, types) for chunk in self.chunks])
        return result

    def features(self, names: Sequence[str], rows: Indices) -> Any:
        """Return rows of numeric columns as a dask data frame with a partition per chunk."""
        import dask.dataframe as dd
        import polars as pl

        make = _MakeFrame(self._types(names), self.codes)
        empty = _to_pandas(pl.DataFrame(schema=make.types))
        return dd.from_map(make, self.chunks, self._split(rows), meta=empty)

    def write_parts(
        self, folder: str, keep: Sequence[str], rows: Indices, reduced: Any, added: MakeColumns
    ) -> None:
        """Write columns, and those made of the reduced features, as a Parquet file per chunk."""
        from dask import delayed

        about = delayed((self._types(keep), added), traverse=False, pure=False)
        write = delayed(_write_part, pure=False)
        tasks: list[Any] = []
        parts = zip(self.chunks, self._split(rows), reduced.to_delayed(), strict=True)
        for chunk, chosen, means in parts:
            if chosen.any():
                file = os.path.join(os.path.abspath(folder), f"part.{len(tasks):05d}.parquet")
                tasks.append(write(file, about, chunk, chosen, means))
        compute(tasks)

    def kept_frame(
        self, names: Sequence[str], rows: Indices, as_numbers: Collection[str] = ()
    ) -> pl.DataFrame:
        """Return rows of columns to write, in memory."""
        import polars as pl

        frame: pl.DataFrame = pl.concat(self._each(lambda frame: frame, names))
        return frame[rows] if names else frame

    def _split(self, rows: Indices) -> list[npt.NDArray[np.bool_]]:
        """Return which rows of each chunk are among some rows."""
        chosen = np.zeros(self.n_rows, dtype=np.bool_)
        chosen[rows] = True
        return np.split(chosen, np.cumsum([chunk.n_rows for chunk in self.chunks])[:-1])


@dataclass(frozen=True)
class Chunk:
    """Some rows of a Parquet file, and the labels of the folders it is in."""

    file: str
    labels: dict[str, Any]
    start: int
    n_rows: int

    def read(
        self, types: dict[Any, Any], rows: npt.NDArray[np.bool_] | None = None
    ) -> pl.DataFrame:
        """Read columns in the types given, all rows or some."""
        import polars as pl

        stored = {name: dtype for name, dtype in types.items() if name not in self.labels}
        with reading(self.file, Format("parquet", "")), by_name(self.file) as source:
            scan = pl.scan_parquet(source, glob=False, hive_partitioning=False)
            frame = scan.slice(self.start, self.n_rows).select([*stored]).collect()
            frame = frame.cast(stored)
        labels = [
            pl.Series(name, [self.labels[name]] * self.n_rows, dtype=types[name], strict=False)
            for name in types
            if name in self.labels
        ]
        frame = frame.hstack(labels) if stored else pl.DataFrame(labels)
        frame = frame.select([*types])
        return frame if rows is None or rows.all() else frame.filter(rows)


def _common_schema(files: Sequence[str], format: Format) -> dict[str, Any]:
    """Return the columns of all files, each in a type that holds its values in all of them."""
    import polars as pl

    common: pl.DataFrame | None = None
    for file in files:
        with reading(file, format), open(file, "rb") as opened:  # a path would be a pattern
            empty = pl.DataFrame(schema=pl.read_parquet_schema(opened))
        if common is None:
            common = empty
        if empty.schema == common.schema:
            continue
        for name in sorted({*empty.columns} ^ {*common.columns}):
            lacks, has = (files[0], file) if name in empty.columns else (file, files[0])
            raise ValueError(f"{lacks} has no column {name!r}, which {has} has.")
        empty = empty.select(common.columns)
        for name, one in common.schema.items():
            other = empty.schema[name]
            if pl.Null not in (one, other) and one.is_numeric() != other.is_numeric():
                raise ValueError(
                    f"Column {name!r} is {str(one).lower()} in {files[0]} and {str(other).lower()} "
                    f"in {file}."
                )
        common = pl.concat([common, empty], how="vertical_relaxed")
    return {} if common is None else dict(common.schema)


def _row_bytes(schema: Mapping[str, Any]) -> float:
    """Return how much memory a row takes at least."""
    return sum(_value_bytes(str(dtype)) for dtype in schema.values())


def _value_bytes(dtype: str) -> float:
    number = re.fullmatch(r"(?:U?Int|Float)(\d+)", dtype)
    return int(number[1]) / 8 if number else _OTHER_BYTES.get(dtype, 8)


def _folder_labels(path: str) -> dict[str, Any]:
    """Return the labels that folders called ``name=value`` give to a file."""
    pairs = [part.split("=", 1) for part in os.path.dirname(path).split(os.sep) if "=" in part]
    if pairs and not is_text(path):
        raise ValueError(f"{path}: the names of the folders are not UTF-8 text; rename them")
    return {name: int(v) if v.isdecimal() and str(int(v)) == v else v for name, v in pairs}


def _label_schema(labels: Sequence[dict[str, Any]]) -> dict[str, Any]:
    import polars as pl

    names = dict.fromkeys(name for label in labels for name in label)
    whole = {n for n in names if all(isinstance(label.get(n), int) for label in labels)}
    return {name: pl.Int64() if name in whole else pl.String() for name in names}


def _row_group_runs(file: str, format: Format, row_bytes: float) -> Iterator[tuple[int, int]]:
    """Divide a file into runs of row groups, each about a chunk: first row and number of rows."""
    import pyarrow.parquet as pq

    with reading(file, format), by_name(file) as source:
        metadata = pq.read_metadata(source)
        groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
        sizes = [(each.num_rows, each.total_byte_size) for each in groups]
    start, n_rows, size = 0, 0, 0.0
    for rows_of_group, stored in sizes:
        size_of_group = max(stored, rows_of_group * row_bytes)  # repeated values take little
        if n_rows and size + size_of_group > CHUNK_BYTES:
            yield start, n_rows
            start, n_rows, size = start + n_rows, 0, 0.0
        n_rows += rows_of_group
        size += size_of_group
    if n_rows:
        yield start, n_rows


@dataclass(frozen=True)
class _MakeFrame:
    """Makes a pandas data frame of a chunk; a task of dask."""

    types: dict[str, Any]
    codes: tuple[float, ...] = ()
    token: str = field(default_factory=token_hex)

    def __dask_tokenize__(self) -> str:
        # dask would hash the names of very many columns again and again.
        return self.token

    def __call__(
        self, chunk: Chunk, rows: npt.NDArray[np.bool_], columns: list[str] | None = None
    ) -> pd.DataFrame:
        # dask asks for some columns only where these are all that it needs.
        names = [*self.types] if columns is None else columns
        frame = chunk.read({name: self.types[name] for name in names}, rows)
        return _to_pandas(without_codes(frame, self.codes))


def _to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    import pandas as pd

    names = pd.Index(frame.columns, dtype=object)
    return pd.DataFrame(_to_array(frame), columns=names, copy=False)


def _write_part(
    file: str,
    about: tuple[dict[str, Any], MakeColumns],
    chunk: Chunk,
    rows: npt.NDArray[np.bool_],
    means: pd.DataFrame,
) -> None:
    types, added = about
    beside(chunk.read(types, rows), added(means.to_numpy())).write_parquet(file)


MakeColumns: TypeAlias = Callable[[Any], "list[pl.Series]"]
"""Makes columns of an array of reduced features, one row for each sample."""


def named_columns(names: Sequence[str], values: npt.NDArray[Any]) -> list[pl.Series]:
    """Return the columns of an array; NaN is no value."""
    import polars as pl

    columns = zip(names, map(np.ascontiguousarray, values.T), strict=True)
    return [pl.Series(name, column, nan_to_null=True) for name, column in columns]


def beside(frame: pl.DataFrame, columns: list[pl.Series]) -> pl.DataFrame:
    """Return a table with further columns at its end."""
    import polars as pl

    # A frame made of columns would invent a name for one that has none.
    return frame.hstack(columns) if frame.width else pl.DataFrame(columns)
