"""A table as read from a file, and its columns as numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._form import Form

if TYPE_CHECKING:
    import polars as pl
    import xarray as xr

MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A"]


@dataclass(frozen=True)
class Gridded:
    """A variable of which each cell, its values along the samples, is a column of the table."""

    name: str
    dims: tuple[str, ...]  # in the order of the file, the samples among them
    shape: tuple[int, ...]  # of the other dimensions
    columns: list[str]
    dtype: np.dtype[Any]
    attrs: dict[str, Any]
    encoding: dict[str, Any]


@dataclass(frozen=True)
class Grid:
    """What a data set of NetCDF or Zarr holds beside its columns of numbers."""

    samples: str  # the dimension along which the samples are
    others: xr.Dataset  # all but the gridded variables
    variables: list[Gridded]
    coordinates: list[str]  # columns that tell the samples apart, and are no features
    apart: list[str]  # variables that are no columns


@dataclass(frozen=True)
class TableFile:
    """A table read from a file. Its rows are counted from 1, the header not among them."""

    source: str
    frame: pl.DataFrame
    form: Form
    remarks: dict[str, str] = field(default_factory=dict)
    grid: Grid | None = None
    again: Callable[[list[str]], pl.DataFrame] | None = None  # reads columns as they are written

    @property
    def names(self) -> list[str]:
        """The names of all columns."""
        return self.frame.columns

    def first(self, name: str) -> Any:
        """Give the first value of a column."""
        return self.frame.get_column(name)[0]

    def only(self, names: Collection[str]) -> TableFile:
        """Let go of all columns but some, for the memory; a grid is written from all of them."""
        if self.grid is not None:
            return self
        kept = [name for name in self.frame.columns if name in names]
        return replace(self, frame=self.frame.select(kept))

    def as_written(self, names: Sequence[str]) -> TableFile:
        """Give the table with some columns as they are in the file, ``1.10`` and not 1.1."""
        numbers = [name for name in names if self.frame.schema[name].is_numeric()]
        if self.again is None or not numbers:
            return self
        texts = self.again(numbers)
        if texts.height != self.frame.height:
            raise ValueError(f"{self.source} has changed while it was read.")
        return replace(self, frame=self.frame.with_columns(texts.get_columns()))

    def as_numbers(self, name: str) -> TableFile:
        """Give the table with a column that was read as text as numbers, for formats with types."""
        column = self.frame.get_column(name)
        if self.again is None or column.dtype.is_numeric():
            return self
        return replace(self, frame=self.frame.with_columns(parse_numbers(column)[0]))

    def numeric(self) -> list[str]:
        """Name the columns that are numbers, and have at least one value."""
        return [
            column.name
            for column in self.frame.iter_columns()
            if column.dtype.is_numeric() and self._is_data(column.name) and _has_value(column)
        ]

    def empty(self) -> list[str]:
        """Name the columns with no value at all."""
        return [column.name for column in self.frame.iter_columns() if not _has_value(column)]

    def numbers(
        self, names: Sequence[str], rows: npt.NDArray[np.intp] | None = None
    ) -> npt.NDArray[np.floating[Any]]:
        """Give columns as numbers, one behind the other in memory; NaN where there is no value.

        Of all rows, or of some.

        Raises
        ------
        ValueError
            Where a column is not of numbers; text that can be read as numbers is.
        """
        import polars as pl

        single = len(names) > 0 and all(self._columns[name].dtype == pl.Float32 for name in names)
        result: npt.NDArray[np.floating[Any]] = np.empty(
            (self.frame.height if rows is None else rows.size, len(names)),
            dtype=np.float32 if single else np.float64,
            order="F",
        )
        for place, name in enumerate(names):
            column = self.column(name)
            result[:, place] = column if rows is None else column[rows]
        return result

    def column(self, name: str) -> npt.NDArray[Any]:
        """Give one column as numbers; see :meth:`numbers`."""
        import polars as pl

        column = self._columns[name]
        if isinstance(column.dtype, pl.String | pl.Categorical | pl.Enum):
            text = column.cast(pl.String)
            column, bad = parse_numbers(text)
            if len(bad):
                raise ValueError(
                    f"{self.source}: column {name!r} is not of numbers: {_first(text, bad)}."
                )
        elif not (column.dtype.is_numeric() or column.dtype == pl.Null):
            kind = str(column.dtype).lower()
            raise ValueError(
                f"{self.source}: column {name!r} is not of numbers: row 1 is {column[0]} ({kind})."
            )
        if column.null_count() or not isinstance(column.dtype, pl.Float64 | pl.Float32):
            column = column.cast(pl.Float64)
        return column.to_numpy()

    @cached_property
    def _columns(self) -> dict[str, pl.Series]:
        """The columns by name; a frame looks through all of its names for each."""
        return {column.name: column for column in self.frame.iter_columns()}

    def _is_data(self, name: str) -> bool:
        return self.grid is None or name not in self.grid.coordinates


def parse_numbers(text: pl.Series) -> tuple[pl.Series, npt.NDArray[np.intp]]:
    """Read text as whole numbers, else as numbers; give also the rows where it is no number."""
    import polars as pl

    bare = text.str.strip_chars()
    bare = bare.set(bare.is_in(MISSING), None)
    whole = bare.cast(pl.Int64, strict=False)
    if whole.null_count() == bare.null_count():
        return whole, np.empty(0, dtype=np.intp)
    real = bare.cast(pl.Float64, strict=False)
    return real, np.flatnonzero((real.is_null() & bare.is_not_null()).to_numpy())


def settle_text(frame: pl.DataFrame, leave: Container[str]) -> tuple[pl.DataFrame, dict[str, str]]:
    """Make numbers of the text columns that hold nothing else; remark on those that nearly do.

    A column of words for missing only stays what it is: nothing says that it is of numbers.
    """
    import polars as pl

    remarks, converted = {}, []
    for text in frame.iter_columns():
        if text.dtype != pl.String or text.name in leave or not _has_value(text):
            continue
        numbers, bad = parse_numbers(text)
        if not len(bad):
            converted.append(numbers)
        elif len(numbers) - numbers.null_count() > len(bad):
            remarks[text.name] = _first(text, bad)
    return (frame.with_columns(converted) if converted else frame), remarks


def _first(text: pl.Series, rows: npt.NDArray[np.intp]) -> str:
    value = text[int(rows[0])]
    shown = value if len(value) <= 40 else f"{value[:39]}…"
    more = f", and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"row {rows[0] + 1} is {shown!r}{more}"


def _has_value(column: pl.Series) -> bool:
    """Whether a column has a value; the first rows mostly tell, so that the rest is not read."""
    if column.dtype.is_numeric() and len(column):
        first = column[0]  # many times as fast for very many columns
        if first is not None and first == first:
            return True
    return _any_value(column.head(8)) or _any_value(column)


def _any_value(column: pl.Series) -> bool:
    import polars as pl

    if column.null_count() == len(column):
        return False
    if column.dtype.is_float():
        return bool(column.is_not_nan().any())
    if column.dtype == pl.String:
        return not column.drop_nulls().str.strip_chars().is_in(MISSING).all()
    return True
