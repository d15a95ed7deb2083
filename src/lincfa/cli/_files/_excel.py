"""Excel sheets: read by fastexcel, written by xlsxwriter as plain cells.

``polars.DataFrame.write_excel`` would not do: it makes an Excel table, which loses all rows where
names of columns differ in capitals alone, and renames a column without a name.
"""

from __future__ import annotations

import io
import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from zipfile import ZipFile

from ._formats import Format, check_names, reading, require_memory

if TYPE_CHECKING:
    import polars as pl

_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384  # of a sheet, the first row for the names
_LONGEST_TEXT = 32_767
_LARGEST = 10**15  # from which Excel does not keep all digits
_PASSWORD = "EncryptedPackage".encode("utf-16-le")  # what a protected file holds
_FORMATS = {"date": "yyyy-mm-dd", "datetime": "yyyy-mm-dd hh:mm:ss"}


@dataclass(frozen=True)
class SheetText:
    """Columns of a sheet that are text and hold numbers, as they are written."""

    frame: pl.DataFrame

    @property
    def names(self) -> list[str]:
        return self.frame.columns

    def read_text(self, wanted: list[str], n_rows: int) -> pl.DataFrame:
        return self.frame.select(wanted)


def read_sheet(path: str, format: Format) -> tuple[pl.DataFrame, list[str]]:
    """Read the sheet that is named, or else the first; return also what is to be noted."""
    import fastexcel
    import polars as pl

    for name in ("fastexcel", "calamine"):  # they warn of empty columns, and of charts
        logging.getLogger(name).setLevel(logging.ERROR)
    content = Path(path).read_bytes()  # of which the format is found, whatever the suffix
    if _PASSWORD in content:
        raise ValueError(f"{path} is protected by a password; save it without one")
    if content.startswith(b"PK"):
        with reading(path, format):
            largest = max(each.file_size for each in ZipFile(io.BytesIO(content)).infolist())
        require_memory(path, largest)
    with reading(path, format):
        book = fastexcel.read_excel(content)
        sheets: list[str] = book.sheet_names
        sheet, notes = format.sheet or sheets[0], []
    others = ", ".join(repr(name) for name in sheets if name != sheet)
    if sheet not in sheets:
        raise ValueError(f"{path} has no sheet {sheet!r}; it has {others}")
    advice = f"--sheet takes another one: {others}"
    if format.sheet is None and others:
        notes = [f"{path}: read sheet {sheet!r}, the first; {advice}"]
    source = f"{path}, sheet {sheet!r}"
    with reading(path, format):
        header = book.load_sheet(sheet, header_row=None, n_rows=1, dtypes="string").to_polars()
        is_empty = header.is_empty()
        frame = header if is_empty else book.load_sheet(sheet, schema_sample_rows=None).to_polars()
        frame = _with_all_digits(frame, book, sheet)
    if is_empty or not frame.height:
        what = "is empty" if is_empty else "has columns but no rows"
        raise ValueError(f"{source} {what}" + (f"; {advice}" if others else ""))
    frame.columns = header.columns
    names = {each: name or "" for each, name in header.row(0, named=True).items()}
    # Cells that have a format alone, to the right of a table or below it, do not belong to it.
    used = [each for each in header.columns if names[each] or frame[each].count()]
    frame = frame.select(used)
    filled = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
    frame = frame.head(filled[-1] + 1 if len(filled) else 0)
    frame.columns = check_names([names[each] for each in used], source, "row 1")
    return frame.with_columns(map(_narrowed, frame.iter_columns())), notes


def _with_all_digits(frame: pl.DataFrame, book: Any, sheet: str) -> pl.DataFrame:
    """Return a sheet whose numbers in columns of text are as they are, and not as 0.000001."""
    import polars as pl

    text = {place: "float" for place, dtype in enumerate(frame.dtypes) if dtype == pl.String}
    if not text:
        return frame
    numbers = book.load_sheet(sheet, dtypes=text, schema_sample_rows=None).to_polars()
    changed = []
    for place in text:
        written, number = frame.to_series(place), numbers.to_series(place)
        lost = written.cast(pl.Float64, strict=False) != number
        changed.append(written.zip_with(~lost.fill_null(False), number.cast(pl.String)))
    return frame.with_columns(changed)


def _narrowed(column: pl.Series) -> pl.Series:
    """Return whole numbers as integers, and dates without a time of day as dates."""
    import polars as pl

    if column.dtype.is_float() and (column % 1 == 0).all() and (column.abs() < _LARGEST).all():
        return column.cast(pl.Int64)
    if isinstance(column.dtype, pl.Datetime) and (column == column.dt.truncate("1d")).all():
        return column.cast(pl.Date)
    return column


def write_sheet(file: BinaryIO, frame: pl.DataFrame) -> None:
    """Write a table as the only sheet of a file."""
    from xlsxwriter import Workbook

    if frame.height >= _MOST_ROWS or frame.width > _MOST_COLUMNS:
        raise ValueError(
            f"{frame.height} rows and {frame.width} columns are too many for an Excel sheet, which "
            f"has {_MOST_ROWS - 1} and {_MOST_COLUMNS}; name a .parquet or .csv file with --output"
        )
    buffer = io.BytesIO()  # errors of the disk are then those of the file
    rules = {"in_memory": True, "nan_inf_to_errors": True}
    rules |= {"strings_to_formulas": False, "strings_to_urls": False}
    with Workbook(buffer, rules) as book:
        book.set_properties({"created": datetime(2000, 1, 1)})  # the same file each time
        formats = {kind: book.add_format({"num_format": each}) for kind, each in _FORMATS.items()}
        sheet = book.add_worksheet()
        for place, column in enumerate(map(_for_cells, frame.iter_columns())):
            sheet.write_string(0, place, column.name)
            look = formats.get(column.dtype.base_type().__name__.lower())
            sheet.write_column(1, place, column.to_list(), look)
    file.write(buffer.getbuffer())


def _for_cells(column: pl.Series) -> pl.Series:
    """Return a column in a type that Excel has, or else as text."""
    import polars as pl

    dtype = column.dtype
    if isinstance(dtype, pl.Duration):
        return column.dt.to_string("iso")
    if dtype.is_float():
        return column.fill_nan(None)
    if isinstance(dtype, pl.Date | pl.Datetime):
        early = bool((column.dt.year() <= 1900).any())  # when Excel has a leap day of its own
        as_text = early or getattr(dtype, "time_zone", None) is not None
    else:
        extremes: Any = (column.min(), column.max()) if dtype.is_integer() else ()
        as_text = dtype == pl.Time or any(abs(each or 0) >= _LARGEST for each in extremes)
    column = column.cast(pl.String) if as_text else column
    if column.dtype == pl.String:
        long = (column.str.len_chars() > _LONGEST_TEXT).arg_true()
        if len(long):
            raise ValueError(
                f"the text in column {column.name!r}, row {long[0] + 1}, is too long for a cell of "
                "Excel; name a .parquet or .csv file with --output"
            )
    return column
