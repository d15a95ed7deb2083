"""Tables in CSV files, read and written in columns."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import mmap
import os
import sys
import zlib
from collections.abc import Callable, Container, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from ._csv_checks import (
    SEPARATORS,
    Buffer,
    blank_lines_at_end,
    check_text,
    find_fault,
    find_separator,
    read_header,
)
from ._form import STANDARD_INPUT, Form
from ._table import TableFile, settle_text

if TYPE_CHECKING:
    import polars as pl

_QUICK = 100  # rows that the first guess of the types is made from


def read_csv(
    path: str,
    form: Form,
    as_text: Container[str] | Callable[[list[str]], Container[str]],
    separator: str | None,
) -> TableFile:
    """Read a CSV file, or standard input; text stays as it is, but for columns of numbers."""
    source = STANDARD_INPUT if path == "-" else path
    with ExitStack() as opened:
        data = _load(path, source, opened)
        if not len(data):
            raise ValueError(f"{source} is empty.")
        check_text(data, source)
        if separator is None:
            separator = "\t" if form.suffix == ".tsv" else find_separator(data)
        names = read_header(data, separator, source)
        if callable(as_text):
            as_text = as_text(names)
        # The reader of tables takes a file by its path without a copy in memory.
        origin = path if isinstance(data, mmap.mmap) else data
        frame = _parse(origin, data, names, as_text, separator, source)
        blank = blank_lines_at_end(data)
    if blank and all(column.null_count() == blank for column in frame.tail(blank).iter_columns()):
        frame = frame.head(frame.height - blank)
    frame, remarks = settle_text(frame, as_text)
    held = None if os.path.isfile(path) else data  # what cannot be read twice

    def again(columns: list[str]) -> pl.DataFrame:
        with ExitStack() as opened:
            text = _load(path, source, opened) if held is None else held
            return _texts(path, text, names, columns, separator).head(frame.height)

    return TableFile(source, frame, replace(form, separator=separator), remarks, again=again)


def write_csv(path: str, frame: pl.DataFrame, form: Form) -> None:
    """Write a CSV file; spans of time in ISO form, for which polars has no text of its own."""
    import polars as pl

    header = form.separator.join(_quoted(name) for name in frame.columns)
    spans = [name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Duration)]
    frame = frame.with_columns(pl.col(name).dt.to_string("iso") for name in spans)
    # A missing value of a single column would be an empty line, and lost at the end of the file.
    missing = '""' if frame.width == 1 else None
    with _compressed(path, form.compression) as file:
        file.write(f"{header}\n".encode())
        frame.write_csv(file, include_header=False, separator=form.separator, null_value=missing)


def _quoted(name: str) -> str:
    """Quote a name with any separator in it, so that the one in use is the only one found."""
    if not set(name) & {*SEPARATORS, *'"\r\n'}:
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _parse(
    origin: str | bytes,
    data: Buffer,
    names: list[str],
    as_text: Container[str],
    separator: str,
    source: str,
) -> pl.DataFrame:
    """Read the columns; guess their types from few rows, then from all, then take all as text."""
    import polars as pl

    wanted = {name for name in names if name in as_text}
    for rows in (_QUICK, None, 0):  # 0 takes all as text
        try:
            guess = pl.scan_csv(
                origin, separator=separator, infer_schema_length=rows, glob=False
            ).collect_schema()
            if len(guess) != len(names):
                break
            # As text also booleans, which can be written in many ways.
            types = {
                read_as: pl.String() if name in wanted or dtype == pl.Boolean else dtype
                for name, (read_as, dtype) in zip(names, guess.items(), strict=True)
            }
            frame = pl.read_csv(
                origin,
                separator=separator,
                schema_overrides=types,
                infer_schema_length=0,  # all types are given
                glob=False,
            )
        except pl.exceptions.PolarsError:
            continue
        frame.columns = names
        return frame
    raise find_fault(data, separator, len(names), source)


def _texts(
    path: str, data: Buffer, names: list[str], wanted: list[str], separator: str
) -> pl.DataFrame:
    """Read some columns as they are written."""
    import polars as pl

    places = sorted(names.index(name) for name in wanted)
    frame = pl.read_csv(
        path if isinstance(data, mmap.mmap) else data,
        separator=separator,
        columns=places,
        infer_schema=False,
        glob=False,
    )
    frame.columns = [names[place] for place in places]
    return frame


def _load(path: str, source: str, opened: ExitStack) -> Buffer:
    """Give the text of a file: mapped where it is plain, else read and decompressed."""
    if path == "-" and sys.stdin is None:
        raise ValueError("There is no standard input to read from.")
    if path == "-":
        return _decompress(sys.stdin.buffer.read(), source)
    with open(path, "rb") as file:
        if not os.path.isfile(path) or os.fstat(file.fileno()).st_size == 0:
            return _decompress(file.read(), source)
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        plain = _decompress(mapped, source)
        if plain is mapped:
            opened.enter_context(mapped)
        return plain


def _decompress(data: Buffer, source: str) -> Buffer:
    """Decompress what begins like a compressed file, whatever its name."""
    try:
        if data[:2] == b"\x1f\x8b":
            return gzip.decompress(cast(bytes, data))
        if data[:3] == b"BZh" and data[4:10] == b"1AY&SY":
            return bz2.decompress(cast(bytes, data))
        if data[:6] == b"\xfd7zXZ\0":
            return lzma.decompress(cast(bytes, data))
        if data[:4] == b"\x28\xb5\x2f\xfd":
            with _zstd(io.BytesIO(cast(bytes, data)), "rb") as file:
                return cast(bytes, file.read())
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{source} is a damaged compressed file: {error}.") from None
    return data


@contextmanager
def _compressed(path: str, compression: str) -> Iterator[Any]:
    with ExitStack() as opened:
        if compression == "zst":
            yield opened.enter_context(_zstd(path, "wb"))
            return
        file = opened.enter_context(open(path, "wb"))
        if compression == "gz":
            # Without name and time, which would be those of a temporary file.
            yield opened.enter_context(gzip.GzipFile("", "wb", 6, file, mtime=0))
        elif compression == "bz2":
            yield opened.enter_context(bz2.BZ2File(file, "wb"))
        elif compression == "xz":
            yield opened.enter_context(lzma.LZMAFile(file, "wb"))
        else:
            yield file


def _zstd(file: Any, mode: str) -> Any:
    """Open a file of Zstandard, which Python itself can from 3.14 on."""
    if sys.version_info >= (3, 14):
        return import_module("compression.zstd").open(file, mode)
    try:
        arrow = import_module("pyarrow")
    except ImportError as error:
        raise ImportError(
            "A .zst file needs Python 3.14 or pyarrow: pip install 'lincfa[tables]'"
        ) from error
    if mode == "rb":
        return arrow.input_stream(file, compression="zstd")
    return arrow.output_stream(file, compression="zstd")
