"""What a CSV file says of itself before it is read, and what is wrong with one that cannot be."""

import codecs
import csv
import mmap
import re
from collections.abc import Iterator
from typing import TypeAlias

Buffer: TypeAlias = bytes | mmap.mmap

SEPARATORS = ",;\t|"
_BLOCK = 1 << 24
_BOM = "\ufeff"


def check_text(data: Buffer, source: str) -> None:
    """Refuse what is no text in UTF-8; the file is looked at in blocks."""
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise ValueError(f"{source} is text in UTF-16; save it as UTF-8.")
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        zero = block.find(b"\0")
        if zero >= 0:
            line = _line_at(data, start + zero)
            raise ValueError(f"{source} is not a text file: a zero byte in line {line}.")
        if block.isascii() and not decoder.getstate()[0]:
            continue
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(block, final=start + _BLOCK >= len(data))
        except UnicodeDecodeError as error:
            place = start - held + error.start
            raise ValueError(
                f"{source} is not text in UTF-8: byte 0x{data[place]:02x} in line "
                f"{_line_at(data, place)}; save it as UTF-8."
            ) from None


def find_separator(data: Buffer) -> str:
    """Find the separator that is most frequent in the header outside quotes."""
    header, marks = "", 0
    for line in lines(data):
        header += line
        marks += line.count('"')
        if marks % 2 == 0:
            break
    bare = re.sub('"[^"]*"', "", header)
    return max(SEPARATORS, key=bare.count)  # the first, comma, where there is none


def read_header(data: Buffer, separator: str, source: str) -> list[str]:
    """Read the names of the columns; each must be there once.

    One column may have no name: the labels of rows that other programs write in front.
    """
    try:
        names = next(csv.reader(lines(data), delimiter=separator, strict=True), [])
    except csv.Error as error:
        if str(error).startswith("new-line"):
            raise ValueError(
                f"{source}: line 1 holds a carriage return; lines must end with a line feed."
            ) from None
        raise ValueError(f"{source}: the quotes of the header, line 1, do not match.") from None
    if not names or not any(name.strip() for name in names):
        raise ValueError(f"{source}: line 1 is empty; it should name the columns.")
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name in seen:
            what = f"are both named {name!r}" if name else "have no name in the header, line 1"
            raise ValueError(f"{source}: columns {seen[name]} and {place} {what}.")
        seen[name] = place
    return names


def find_fault(data: Buffer, separator: str, width: int, source: str) -> ValueError:
    """Say what is wrong with a file that the reader of tables refused, and in which line."""
    last = [""]

    def watched() -> Iterator[str]:
        for line in lines(data):
            last[0] = line
            yield line

    reader = csv.reader(watched(), delimiter=separator, strict=True)
    done = 0
    try:
        for row in reader:
            if len(row) > width:
                return ValueError(
                    f"{source}: line {done + 1} has {len(row)} fields, but the header {width}."
                )
            if any('"' in value for value in row) and '""' not in last[0]:
                return ValueError(
                    f"{source}: line {done + 1} has a quotation mark within a value; the value "
                    "must stand in quotes, and the mark be doubled."
                )
            done = reader.line_num
    except csv.Error:
        return ValueError(f"{source}: the quotes that open in line {done + 1} do not match.")
    return ValueError(f"{source} cannot be read as a table of columns with {separator!r} between.")


def lines(data: Buffer) -> Iterator[str]:
    """Give the lines of a file with their ends, without the mark that may stand before all."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start) + 1 or len(data)
        line = data[start:end].decode()
        yield line.removeprefix(_BOM) if start == 0 else line
        start = end


def blank_lines_at_end(data: Buffer) -> int:
    """Count the empty lines behind the last one."""
    tail = data[-_BLOCK:]
    return max(0, tail[len(tail.rstrip(b"\r\n")) :].count(b"\n") - 1)


def _line_at(data: Buffer, place: int) -> int:
    return data[:place].count(b"\n") + 1
