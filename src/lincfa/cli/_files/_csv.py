"""CSV files: read and written by polars, with checks where it would lose data or name no line."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import io
import lzma
import os
import re
import sys
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from ._formats import (
    STANDARD_INPUT,
    Format,
    available_memory,
    check_names,
    compression_of,
    exceeds_memory,
    gigabytes,
    is_text,
    require_content,
    require_memory,
)

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = ",;\t|"
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "#N/A"]
_NUMBER = r"\s*[-+]?[\d.,]+([eE][-+]?\d+)?\s*"
# Between other separators, such as the name of a wavelength, 900,5.
_DECIMAL_COMMA = r"(?:^|(?<=[;\t|]))[^,;\t|]*\d,\d[^,;\t|]*(?=[;\t|\r\n]|$)"
_BLOCK = 2**20  # bytes read at once
_ENDS = (b",", b";", b"\t", b"|", b"\n")  # of values
_PER_VALUE = 16  # bytes that a number takes besides its text: eight, and as many while it is read
_PER_NAME = 2048  # bytes that a column takes besides its values, at least
_QUICK = 100  # rows from which the types are inferred first
_MODULES = {".gz": gzip, ".bz2": bz2, ".xz": lzma}


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose header has been read."""

    source: str
    origin: str | bytes  # the path of a plain file, which polars maps; else the decompressed text
    text: str | bytes  # the same without comments
    format: Format
    names: list[str]

    @classmethod
    def open(cls, path: str, format: Format) -> CsvFile:
        """Read the header of a file, or of standard input (``-``)."""
        source = STANDARD_INPUT if path == "-" else path
        text = origin = _plain_text(path, source)
        with _open(origin) as file:
            require_content(source, format, file)
        lines = _Lines(origin, source, format.comment)
        separator = format.separator or _find_separator(lines, format.decimal)
        names = _read_header(lines, separator)
        if format.comment != "#" and names[0].startswith("#"):
            _suggest_comment(replace(lines, comment="#"), len(names), format.comment)
        if len(names) == 1:
            _suggest_separator(lines, separator, format.decimal)
        if format.comment:
            with _open(origin) as file:
                text = b"".join(line for _, line in _numbered(file, format.comment))
        return cls(source, origin, text, replace(format, separator=separator), names)

    @property
    def separator(self) -> str:
        return self.format.separator or ","

    def read(self) -> pl.DataFrame:
        """Read all columns; types are inferred from the first rows, or else from all, or not."""
        import polars as pl

        for rows in (_QUICK, None, 0):  # 0 reads everything as text
            try:
                options: Any = {"separator": self.separator, "glob": False}
                options["decimal_comma"] = self.format.decimal == ","
                scan = pl.scan_csv(self.text, infer_schema_length=rows, **options)
                guess = scan.collect_schema()
                if len(guess) != len(self.names):
                    break
                # Booleans as text: there are many ways to write them.
                types = {
                    name: pl.String() if dtype == pl.Boolean else dtype
                    for name, dtype in guess.items()
                }
                frame = pl.read_csv(
                    self.text, schema_overrides=types, infer_schema_length=0, **options
                )
            except pl.exceptions.PolarsError:
                continue
            frame.columns = self.names
            self._require_whole(frame.height)
            return self._without_blank_lines(frame)
        raise self._explain_failure()

    def read_text(self, wanted: list[str], n_rows: int) -> pl.DataFrame:
        """Read columns once more as they are written, ``1.10`` and not 1.1."""
        import polars as pl

        places = sorted(self.names.index(name) for name in wanted)
        scan = pl.scan_csv(self.text, separator=self.separator, infer_schema=False, glob=False)
        frame = scan.select(pl.nth(places)).collect()
        if frame.height < n_rows:
            raise ValueError(f"{self.source} changed while it was being read.")
        frame.columns = [self.names[place] for place in places]
        return frame.head(n_rows)

    def _require_whole(self, n_rows: int) -> None:
        """Raise if the text ends within a row: in quotes, or after too few values."""
        # polars takes the quotes for closed, and the values for missing.
        quotes, last = 0, b""
        with _open(self.text) as file:
            while block := file.read(_BLOCK):
                quotes += block.count(b'"')
                *whole, rest = block.rsplit(b"\n", 1)
                last = rest if whole else last + rest
        width = last.count(self.separator.encode()) + 1
        if quotes % 2 or b'"' in last:
            lines = _Lines(self.origin, self.source, self.format.comment)
            try:
                width = sum(len(row) for _, row in deque(lines.rows(self.separator), 1))
            except csv.Error:
                raise self._unclosed(lines) from None
        if last.strip() and width < len(self.names):
            raise ValueError(
                f"{self.source}: row {n_rows}, the last, has {width} of {len(self.names)} values "
                "and no line break after them: the file seems cut off; complete the row, or end "
                "its line"
            )

    def _unclosed(self, lines: _Lines) -> ValueError:
        return ValueError(f"{self.source}: the quotes opened in line {lines.first} do not match.")

    def _without_blank_lines(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Drop the rows that polars makes of blank lines at the end of the file."""
        with _open(self.text) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 4096))
            tail = file.read()
        blank = max(0, tail[len(tail.rstrip(b"\r\n")) :].count(b"\n") - 1)
        if blank and all(
            column.null_count() == blank for column in frame.tail(blank).iter_columns()
        ):
            return frame.head(frame.height - blank)
        return frame

    def _explain_failure(self) -> ValueError:
        """Return what is wrong with a file that polars cannot parse, and in which line."""
        lines = _Lines(self.origin, self.source, self.format.comment)
        width = len(self.names)
        try:
            for number, row in lines.rows(self.separator):
                place = f"{self.source}: line {number}"
                if len(row) > width:
                    return ValueError(f"{place} has {len(row)} fields, but the header has {width}.")
                if any('"' in value for value in row) and '""' not in lines.last:
                    return ValueError(
                        f"{place} has a quotation mark inside a value. Quote the value and double "
                        "the mark."
                    )
        except csv.Error:
            return self._unclosed(lines)
        return ValueError(
            f"{self.source} cannot be read as columns separated by {self.separator!r}."
        )


@dataclass
class _Lines:
    """The lines of a text file but comments, checked to be UTF-8; the last one read is kept."""

    origin: str | bytes
    source: str
    comment: str | None = None
    last: str = ""
    first: int = 0  # line of the row that is being read

    def __iter__(self) -> Iterator[str]:
        self.first = 0
        with _open(self.origin) as file:
            for number, line in _numbered(file, self.comment):
                if line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and number == 1:
                    raise ValueError(f"{self.source} is UTF-16 text. Save it as UTF-8.")
                if b"\0" in line:
                    raise ValueError(f"{self.source} is not a text file (zero byte, line {number})")
                try:
                    self.last = line.decode("utf-8-sig" if number == 1 else "utf-8")
                except UnicodeDecodeError as error:
                    raise ValueError(
                        f"{self.source} is not UTF-8 text (byte 0x{line[error.start]:02x}, line "
                        f"{number}). Save it as UTF-8."
                    ) from None
                self.first = self.first or number
                yield self.last

    def rows(self, separator: str, *, strict: bool = True) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows, and the line in which each begins."""
        for row in csv.reader(self, delimiter=separator, strict=strict):
            number, self.first = self.first, 0
            yield number, row


def _numbered(file: BinaryIO, comment: str | None) -> Iterator[tuple[int, bytes]]:
    """Yield lines and their numbers; with comments, not these and no blank lines before names."""
    begun, quoted = comment is None, False
    for number, line in enumerate(file, start=1):
        text = line.removeprefix(codecs.BOM_UTF8) if number == 1 else line
        if comment is not None and not quoted and text.startswith(comment.encode()):
            continue
        quoted ^= bool(line.count(b'"') % 2)  # within a text of several lines
        begun = begun or bool(text.strip())
        if begun:
            yield number, line


def _find_separator(lines: _Lines, decimal: str | None = None) -> str:
    header = ""
    for line in lines:
        header += line
        if header.count('"') % 2 == 0:
            break
    bare = re.sub(_DECIMAL_COMMA, "", re.sub('"[^"]*"', "", header))
    possible = SEPARATORS.replace(",", "") if decimal == "," else SEPARATORS
    return max(possible, key=bare.count)  # the first, a comma, where there is none


def _read_header(lines: _Lines, separator: str) -> list[str]:
    source = lines.source
    width = next(iter(lines), "").count(separator) + 1
    require_memory(source, _PER_NAME * width, f"its header has {width} names")
    try:
        number, names = next(lines.rows(separator), (0, []))
    except csv.Error as error:
        if str(error).startswith("new-line"):
            raise ValueError(
                f"{source}: line {lines.first} has a carriage return; lines must end with a line "
                "feed."
            ) from None
        raise ValueError(
            f"{source}: the quotes in the header (line {lines.first}) do not match."
        ) from None
    if not number:
        raise ValueError(f"{source} is empty.")
    return check_names(names, source, f"line {number}")


def _suggest_comment(lines: _Lines, width: int, given: str | None) -> None:
    """Raise if the line below those that begin with # rather holds the names, and is no comment."""
    _, row = next(lines.rows(_find_separator(lines), strict=False), (0, []))
    values = any(re.fullmatch(_NUMBER, value) or value.strip() in MISSING for value in row)
    if given is not None and row and row[0].startswith(given):
        return
    if len(row) > 1 and (len(row) != width or not values):
        listed = ", ".join(map(repr, row[:3])) + (", …" if len(row) > 3 else "")
        raise ValueError(
            f"{lines.source}: the header begins with '#'; if it is a comment, skip it with "
            f"--comment '#'. The columns are then {listed}"
        )


def _suggest_separator(lines: _Lines, separator: str, decimal: str | None) -> None:
    """Raise if another separator divides what would be a single column."""
    for other in SEPARATORS + ": ":
        with suppress(csv.Error):
            widths = {len(row) for _, row in islice(lines.rows(other, strict=False), 2)}
            if len(widths) == 1 and widths != {1}:
                if other == decimal:
                    raise ValueError(
                        f"{lines.source} has one column if its commas are decimal ones, and "
                        f"{widths.pop()} if they are separators: leave out --decimal"
                    )
                raise ValueError(
                    f"{lines.source} has one column with the separator {separator!r}; with "
                    f"{other!r} it has {widths.pop()}: --separator {other!r}"
                )


def _open(origin: str | bytes) -> BinaryIO:
    return open(origin, "rb") if isinstance(origin, str) else io.BytesIO(origin)


def _plain_text(path: str, source: str) -> str | bytes:
    """Return the path of a plain file, else its text; files are compressed if they begin so."""
    if path == "-":
        if sys.stdin is None:
            raise ValueError("There is no standard input to read from.")
        data = sys.stdin.buffer.read()
    else:
        with open(path, "rb") as file:
            head = file.read(10)
            if os.path.isfile(path) and is_text(path) and not compression_of(head):
                return path
            data = head + file.read()
    suffix = compression_of(data)
    if not suffix:
        return data
    text, needed, available = io.BytesIO(), 0, available_memory()
    try:
        open_packed = _MODULES[suffix].open if suffix in _MODULES else _open_zstd
        with open_packed(io.BytesIO(data), "rb") as packed:
            while needed <= available and (block := packed.read(_BLOCK)):
                text.write(block)
                needed += len(block) + _PER_VALUE * sum(map(block.count, _ENDS))
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{source} is a damaged compressed file: {error}.") from None
    if needed > available:
        raise exceeds_memory(source, f"more than {gigabytes(available)}", available)
    return text.getvalue()


def write_csv(path: str, frame: pl.DataFrame, format: Format) -> None:
    """Write a CSV file; durations in ISO form, for which polars has no text of its own."""
    import polars as pl

    separator = format.separator or ","
    header = separator.join(_quoted(name) for name in frame.columns)
    spans = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Duration)]
    frame = frame.with_columns(pl.col(name).dt.to_string("iso") for name in spans)
    if format.decimal == ",":  # an option of write_csv only from polars 1.32 on
        signs = pl.col(pl.Float32, pl.Float64).cast(pl.String).str.replace(".", ",", literal=True)
        frame = frame.with_columns(signs)
    # A missing value in a single column would be a blank line, and lost at the end of the file.
    missing = '""' if frame.width == 1 else None
    with ExitStack() as opened:
        if format.compression == "zst":
            file = opened.enter_context(_open_zstd(path, "wb"))
        else:
            file = opened.enter_context(open(path, "wb"))
            if format.compression == "gz":  # without the name and time of a temporary file
                file = opened.enter_context(gzip.GzipFile("", "wb", 6, file, mtime=0))
            elif format.compression:
                packed = bz2.BZ2File if format.compression == "bz2" else lzma.LZMAFile
                file = opened.enter_context(packed(file, "wb"))
        file.write(f"{header}\n".encode())
        frame.write_csv(file, include_header=False, separator=separator, null_value=missing)


def _quoted(name: str) -> str:
    """Quote a name with any separator in it, so that the right one is found when it is read."""
    if not set(name) & {*SEPARATORS, *'"\r\n'}:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _open_zstd(file: Any, mode: str) -> Any:
    """Open a Zstandard file, which Python itself can do from 3.14 on."""
    if sys.version_info >= (3, 14):
        return import_module("compression.zstd").open(file, mode)
    try:
        arrow = import_module("pyarrow")
    except ImportError as error:
        raise ImportError(
            "A .zst file needs Python 3.14 or pyarrow: pip install 'lincfa[tables]'"
        ) from error
    open_stream = arrow.input_stream if mode == "rb" else arrow.output_stream
    return open_stream(file, compression="zstd")
