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
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO

from ._formats import Format

if TYPE_CHECKING:
    import polars as pl

SEPARATORS = ",;\t|"
_QUICK = 100  # rows from which the types are inferred first
_MAGIC = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ\0": lzma}
_ZSTD = b"\x28\xb5\x2f\xfd"


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose header has been read."""

    source: str
    origin: str | bytes  # the path of a plain file, which polars maps; else the decompressed text
    separator: str
    names: list[str]

    @classmethod
    def open(cls, path: str, format: Format, separator: str | None) -> CsvFile:
        """Read the header of a file, or of standard input (``-``)."""
        source = "standard input" if path == "-" else path
        origin = _plain_text(path, source)
        if separator is None:
            header = _Lines(origin, source)
            separator = "\t" if format.suffix == ".tsv" else _find_separator(header)
        return cls(source, origin, separator, _read_header(origin, separator, source))

    def read(self) -> pl.DataFrame:
        """Read all columns; types are inferred from the first rows, or else from all, or not."""
        import polars as pl

        for rows in (_QUICK, None, 0):  # 0 reads everything as text
            try:
                options: Any = {"separator": self.separator, "glob": False}
                scan = pl.scan_csv(self.origin, infer_schema_length=rows, **options)
                guess = scan.collect_schema()
                if len(guess) != len(self.names):
                    break
                # Booleans as text: there are many ways to write them.
                types = {
                    name: pl.String() if dtype == pl.Boolean else dtype
                    for name, dtype in guess.items()
                }
                frame = pl.read_csv(
                    self.origin, schema_overrides=types, infer_schema_length=0, **options
                )
            except pl.exceptions.PolarsError:
                continue
            frame.columns = self.names
            return self._without_blank_lines(frame)
        raise self._explain_failure()

    def read_text(self, wanted: list[str], n_rows: int) -> pl.DataFrame:
        """Read columns once more as they are written, ``1.10`` and not 1.1."""
        import polars as pl

        places = sorted(self.names.index(name) for name in wanted)
        frame = pl.read_csv(
            self.origin, separator=self.separator, columns=places, infer_schema=False, glob=False
        )
        if frame.height < n_rows:
            raise ValueError(f"{self.source} changed while it was being read.")
        frame.columns = [self.names[place] for place in places]
        return frame.head(n_rows)

    def _without_blank_lines(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Drop the rows that polars makes of blank lines at the end of the file."""
        with _open(self.origin) as file:
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
        lines = _Lines(self.origin, self.source)
        reader = csv.reader(lines, delimiter=self.separator, strict=True)
        width, done = len(self.names), 0
        try:
            for row in reader:
                place = f"{self.source}: line {done + 1}"
                if len(row) > width:
                    return ValueError(f"{place} has {len(row)} fields, but the header has {width}.")
                if any('"' in value for value in row) and '""' not in lines.last:
                    return ValueError(
                        f"{place} has a quotation mark inside a value. Quote the value and double "
                        "the mark."
                    )
                done = reader.line_num
        except csv.Error:
            return ValueError(f"{self.source}: the quotes opened in line {done + 1} do not match.")
        return ValueError(
            f"{self.source} cannot be read as columns separated by {self.separator!r}."
        )


class _Lines:
    """The lines of a text file, checked to be UTF-8; the last one read is kept."""

    def __init__(self, origin: str | bytes, source: str) -> None:
        self.origin, self.source, self.last = origin, source, ""

    def __iter__(self) -> Iterator[str]:
        with _open(self.origin) as file:
            for number, line in enumerate(file, start=1):
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
                yield self.last


def _find_separator(lines: _Lines) -> str:
    """Return the separator that is most frequent in the header outside quotes."""
    header = ""
    for line in lines:
        header += line
        if header.count('"') % 2 == 0:
            break
    bare = re.sub('"[^"]*"', "", header)
    return max(SEPARATORS, key=bare.count)  # the first, a comma, where there is none


def _read_header(origin: str | bytes, separator: str, source: str) -> list[str]:
    """Read the column names, which must be unique; polars would rename duplicates."""
    # One column may have no name: the row labels that other programs write first.
    lines = _Lines(origin, source)
    try:
        names = next(csv.reader(lines, delimiter=separator, strict=True), None)
    except csv.Error as error:
        if str(error).startswith("new-line"):
            raise ValueError(
                f"{source}: line 1 has a carriage return; lines must end with a line feed."
            ) from None
        raise ValueError(f"{source}: the quotes in the header (line 1) do not match.") from None
    if names is None:
        raise ValueError(f"{source} is empty.")
    if not any(name.strip() for name in names):
        raise ValueError(f"{source}: line 1 is empty; it should hold the column names.")
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in seen:
            what = f"are both named {name!r}" if name else "have no name in the header (line 1)"
            raise ValueError(f"{source}: columns {seen[name]} and {place} {what}.")
        seen[name] = place
    return names


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
            head = file.read(8)
            if os.path.isfile(path) and not head.startswith((*_MAGIC, _ZSTD)):
                return path
            data = head + file.read()
    try:
        for magic, module in _MAGIC.items():
            # A CSV file may well begin with BZh.
            if data.startswith(magic) and (magic != b"BZh" or data[4:10] == b"1AY&SY"):
                return bytes(module.decompress(data))
        if data.startswith(_ZSTD):
            with _open_zstd(io.BytesIO(data), "rb") as file:
                return bytes(file.read())
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{source} is a damaged compressed file: {error}.") from None
    return data


def write_csv(path: str, frame: pl.DataFrame, format: Format) -> None:
    """Write a CSV file; durations in ISO form, for which polars has no text of its own."""
    import polars as pl

    header = format.separator.join(_quoted(name) for name in frame.columns)
    spans = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Duration)]
    frame = frame.with_columns(pl.col(name).dt.to_string("iso") for name in spans)
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
        frame.write_csv(file, include_header=False, separator=format.separator, null_value=missing)


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
