"""Files that were damaged, or are not what one expects: bytes and text changed at random."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Rng = np.random.Generator

ODD_NAMES = (
    "\x1b[31mred", "a\u202eb", "x\x9bm", "a\nb", "a\rb", "a\tb", "%s", "{}", "y ", " ", "", "ü",
    "🐨", "[bold]b[/bold]", "a" * 300, "NA", "#x", "=1+1", "a,b", 'a"b', "group", "time", "lat",
    "samples", "../x", "a/b", ".", "..", "None", "0", "1.5", "a\u2028b", "a\u0000b", "e\u0301",
)  # fmt: skip
ODD_VALUES = (
    "1e999", "-1e999", "inf", "nan", "NA", "", "None", "0x10", "1_000", "١٢", "1,5", "1.234,5",
    "+1", "--1", "1e-400", "1e308", "-0", "9" * 40, "00123", "true", "2020-01-01", "2020-13-45",
    "=1+1", " 1", "1 ", "\u00a01", "−1", "1e", ".", "-", "\x1b]0;x\x07", "a\u202eb", "'", "9" * 20,
)  # fmt: skip
_SIZES = (0, 1, 2, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**24, 2**31 - 1, 2**31, 2**32 - 1, 2**40,
          2**62, 2**63, 2**64 - 1)  # fmt: skip

_JSON_VALUES = (
    None, True, "", "x", -1, 1.5, [], {}, [1], "NaN", "<f8", "|O", "|V0", "<M8[ns]", "pickle",
)  # fmt: skip


def one(rng: Rng, values: Sequence[Any]) -> Any:
    """Return one of some values, as it is."""
    return values[int(rng.integers(len(values)))]


def _flip(content: bytearray, rng: Rng) -> None:
    for _ in range(int(rng.choice([1, 2, 8, 64]))):
        content[_place(content, rng)] ^= 1 << int(rng.integers(8))


def _overwrite(content: bytearray, rng: Rng) -> None:
    place = _place(content, rng)
    content[place : place + int(rng.integers(1, 9))] = rng.bytes(int(rng.integers(1, 9)))


def _number(content: bytearray, rng: Rng) -> None:
    """Put a number where the size of something may be."""
    width = int(rng.choice([1, 2, 4, 8]))
    place = _place(content, rng) // width * width
    size = one(rng, _SIZES) % 256**width
    content[place : place + width] = size.to_bytes(width, str(rng.choice(["little", "big"])))


def _cut(content: bytearray, rng: Rng) -> None:
    del content[int(rng.integers(len(content))) :]


def _cut_a_little(content: bytearray, rng: Rng) -> None:
    del content[-int(rng.integers(1, 9)) :]


def _remove(content: bytearray, rng: Rng) -> None:
    place, length = _block(content, rng)
    del content[place : place + length]


def _double(content: bytearray, rng: Rng) -> None:
    place, length = _block(content, rng)
    content[place:place] = content[place : place + length]


def _zeros(content: bytearray, rng: Rng) -> None:
    place, length = _block(content, rng)
    content[place : place + length] = bytes(length)


def _move(content: bytearray, rng: Rng) -> None:
    place, length = _block(content, rng)
    block = content[place : place + length]
    del content[place : place + length]
    place = int(rng.integers(len(content) + 1))
    content[place:place] = block


def _insert(content: bytearray, rng: Rng) -> None:
    place = int(rng.integers(len(content) + 1))
    content[place:place] = rng.bytes(int(rng.integers(1, 64)))


def _append(content: bytearray, rng: Rng) -> None:
    content += rng.bytes(int(rng.integers(1, 64)))


def _nothing(content: bytearray, rng: Rng) -> None:
    content.clear()


def _place(content: bytearray, rng: Rng) -> int:
    """Return a place, often near the beginning or the end, where the structure is."""
    near = min(len(content), int(rng.choice([64, 1024])))
    where = rng.random()
    if where < 0.3:
        return int(rng.integers(near))
    if where < 0.6:
        return len(content) - 1 - int(rng.integers(near))
    return int(rng.integers(len(content)))


def _block(content: bytearray, rng: Rng) -> tuple[int, int]:
    return _place(content, rng), int(rng.choice([1, 4, 16, 64, 512]))


BYTES: tuple[Callable[[bytearray, Rng], None], ...] = (
    _flip, _flip, _flip, _overwrite, _number, _number, _number, _cut, _cut_a_little, _remove,
    _double, _zeros, _move, _insert, _append, _nothing,
)  # fmt: skip


def change_bytes(content: bytes, rng: Rng, other: bytes = b"") -> tuple[bytes, list[str]]:
    """Change bytes once or a few times; ``other`` is a file to splice with."""
    changed, names = bytearray(content), []
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        if not changed:
            break
        if other and rng.random() < 0.1:
            names.append("splice")
            changed = changed[: _place(changed, rng)] + other[_place(bytearray(other), rng) :]
            continue
        change = one(rng, BYTES)
        names.append(change.__name__.strip("_"))
        change(changed, rng)
    return bytes(changed), names


def rename_inside(content: bytes, rng: Rng, names: list[str]) -> tuple[bytes, list[str]]:
    """Put an odd name of the same length where a name is."""
    old = one(rng, names).encode()
    new = one(rng, ODD_NAMES).encode()
    new = new[: len(old)].ljust(len(old), b"_")
    if rng.random() < 0.3:
        new = b"\xff\xfe\x9b\x1b"[: len(old)].ljust(len(old), b"\xe2")
    return content.replace(old, new), ["odd name inside"]


def change_text(content: bytes, rng: Rng, separator: str) -> tuple[bytes, list[str]]:
    """Change a CSV file as programs and people do."""
    lines = content.decode("utf-8", "surrogatepass").split("\n")
    names = []
    for _ in range(int(rng.choice([1, 1, 2, 3]))):
        change = one(rng, TEXT)
        names.append(change.__name__.strip("_"))
        change(lines, rng, separator)
    content = _ends(rng).join(lines).encode("utf-8", "surrogatepass")
    if rng.random() < 0.15:
        encoding = one(rng, ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "utf-32"])
        names.append(encoding)
        content = content.decode("utf-8", "replace").encode(encoding, "replace")
    return content, names


def _ends(rng: Rng) -> str:
    return str(rng.choice(["\n", "\n", "\n", "\n", "\r\n", "\r", "\n\n"]))


def _cell(lines: list[str], rng: Rng, separator: str, make: Callable[[str], str]) -> None:
    row = int(rng.integers(len(lines)))
    cells = lines[row].split(separator)
    column = int(rng.integers(len(cells)))
    cells[column] = make(cells[column])
    lines[row] = separator.join(cells)


def _odd_value(lines: list[str], rng: Rng, separator: str) -> None:
    _cell(lines, rng, separator, lambda _: one(rng, ODD_VALUES))


def _quote(lines: list[str], rng: Rng, separator: str) -> None:
    def make(cell: str) -> str:
        place = int(rng.integers(len(cell) + 1))
        return cell[:place] + one(rng, ['"', '""', "'", '"\n']) + cell[place:]

    _cell(lines, rng, separator, make)


def _quoted(lines: list[str], rng: Rng, separator: str) -> None:
    inner = one(rng, ["", separator, "\n", '""', "\r\n", "\0"])
    _cell(lines, rng, separator, lambda cell: f'"{cell}{inner}"')


def _odd_header(lines: list[str], rng: Rng, separator: str) -> None:
    cells = lines[0].split(separator)
    cells[int(rng.integers(len(cells)))] = one(rng, ODD_NAMES)
    lines[0] = separator.join(cells)


def _same_name(lines: list[str], rng: Rng, separator: str) -> None:
    cells = lines[0].split(separator)
    cells[int(rng.integers(len(cells)))] = cells[int(rng.integers(len(cells)))]
    lines[0] = separator.join(cells)


def _wide(lines: list[str], rng: Rng, separator: str) -> None:
    row = int(rng.integers(len(lines)))
    lines[row] += (separator + str(rng.choice(["", "1", "x"]))) * int(rng.choice([1, 2, 1000]))


def _short(lines: list[str], rng: Rng, separator: str) -> None:
    row = int(rng.integers(len(lines)))
    lines[row] = separator.join(lines[row].split(separator)[: -int(rng.integers(1, 3))])


def _blank(lines: list[str], rng: Rng, separator: str) -> None:
    place = int(rng.integers(len(lines) + 1))
    lines[place:place] = [one(rng, ["", " ", "\t", "#", "# a comment", separator])]


def _last_cut(lines: list[str], rng: Rng, separator: str) -> None:
    text = "\n".join(lines).rstrip("\n")
    lines[:] = text[: -int(rng.integers(1, 12))].split("\n")


def _cut_text(lines: list[str], rng: Rng, separator: str) -> None:
    text = "\n".join(lines)
    lines[:] = text[: int(rng.integers(len(text) + 1))].split("\n")


def _zero(lines: list[str], rng: Rng, separator: str) -> None:
    _cell(lines, rng, separator, lambda cell: cell + "\0")


def _bytes_inside(lines: list[str], rng: Rng, separator: str) -> None:
    _cell(lines, rng, separator, lambda cell: cell + "\udcff")  # written as three bytes, not UTF-8


def _commas(lines: list[str], rng: Rng, separator: str) -> None:
    lines[1:] = [line.replace(".", ",") for line in lines[1:]]


def _other_separator(lines: list[str], rng: Rng, separator: str) -> None:
    new = str(rng.choice([";", "\t", "|", " ", "::"]))
    rows = range(len(lines)) if rng.random() < 0.5 else [int(rng.integers(len(lines)))]
    for row in rows:
        lines[row] = lines[row].replace(separator, new)


def _constant(lines: list[str], rng: Rng, separator: str) -> None:
    column, value = int(rng.integers(lines[0].count(separator) + 1)), one(rng, ODD_VALUES)
    for row in range(1, len(lines)):
        cells = lines[row].split(separator)
        if column < len(cells) > 1:
            cells[column] = value
            lines[row] = separator.join(cells)


def _few_rows(lines: list[str], rng: Rng, separator: str) -> None:
    del lines[int(rng.integers(0, 6)) :]
    lines[:] = lines or [""]


def _again(lines: list[str], rng: Rng, separator: str) -> None:
    lines.append(lines[0])


TEXT: tuple[Callable[[list[str], Rng, str], None], ...] = (
    _odd_value, _odd_value, _odd_value, _quote, _quote, _quoted, _odd_header, _odd_header,
    _same_name, _wide, _short, _blank, _last_cut, _cut_text, _zero, _bytes_inside, _commas,
    _other_separator, _constant, _few_rows, _again,
)  # fmt: skip


def change_json(content: bytes, rng: Rng) -> tuple[bytes, list[str]]:
    """Change one value in a document: the metadata of a Zarr store."""
    document = json.loads(content)
    places = list(_places(document))
    if not places:
        return content + b"}", ["no JSON"]
    holder, key = places[int(rng.integers(len(places)))]
    kind = str(rng.choice(["size", "value", "remove", "name", "nest"]))
    if kind == "size":
        holder[key] = one(rng, [*_SIZES, -1])
    elif kind == "value":
        holder[key] = one(rng, _JSON_VALUES)
    elif kind == "nest":
        holder[key] = [holder[key]]
    elif kind == "remove" or isinstance(holder, list):
        del holder[key]
    else:
        holder[one(rng, ODD_NAMES)] = holder.pop(key)
    return json.dumps(document).encode(), [f"{kind} of {key}"]


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _places(inner)
