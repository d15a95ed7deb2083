"""What a reader sees on a terminal and in a notebook: tables, numbers, links."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from math import floor, isnan, log10
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Table:
    """A table whose first column is text and whose others are numbers.

    Examples
    --------
    >>> print(Table("2 groups", ("group", "size"), [["a", "1"], ["mean(b, c)", "22"]]))
    2 groups
    group       size
    a              1
    mean(b, c)    22
    """

    caption: str
    titles: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def __str__(self) -> str:
        table = [[visible(cell, "") for cell in row] for row in (self.titles, *self.rows)]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.titles))]
        lines = [
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        note = [visible(self.note)] if self.note else []
        return "\n".join([visible(self.caption), *lines, *note])

    def html(self) -> str:
        left, right = (f'style="text-align:{side};padding:0 0.6em"' for side in ("left", "right"))
        sides = [left] + [right] * (len(self.titles) - 1)
        head = "".join(
            f'<th scope="col" {side}>{escape(title)}</th>'
            for title, side in zip(self.titles, sides, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f"<td {side}>{escape(cell)}</td>" for cell, side in zip(row, sides, strict=True)
            )
            + "</tr>"
            for row in self.rows
        )
        foot = "".join(f"<p>{escape(line)}</p>" for line in self.note.splitlines())
        return (
            f'<div><table><caption style="text-align:left">{escape(self.caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}</div>"
        )


def documentation_link(page: str) -> str:
    """Return the address of a page: on the site that the package declares, or an installed file."""
    try:
        declared = metadata("lincfa").get_all("Project-URL") or []
    except PackageNotFoundError:
        declared = []
    for entry in declared:
        label, _, address = entry.partition(",")
        if label.strip().lower() == "documentation":
            return f"{address.strip().rstrip('/')}/{page.removesuffix('.md')}.html"
    for folder in (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs"):
        if (folder / page).is_file():
            return (folder / page).as_uri()
    return ""


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def visible(text: str, keep: str = "\n") -> str:
    """Escape invisible characters, which could command a terminal or change the order of text."""
    return "".join(
        letter
        if letter.isprintable() or letter in keep
        else letter.encode("unicode_escape").decode()
        for letter in text
    )


def json_text(value: Any) -> str:
    """Write JSON with printable characters as they are, and invisible ones escaped."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, indent=1)

    def legible(found: re.Match[str]) -> str:
        return found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1]

    return re.sub(r"[^ -~\n]", legible, text)


def capitalized(text: str) -> str:
    """Return a text with a capital first letter, and the others as they are."""
    return text[:1].upper() + text[1:]


def digits(value: float, count: int = 3) -> str:
    if value == 0:
        return "0"
    sign, size = "−" if value < 0 else "", abs(value)
    if not 1e-3 <= size < 1e6:
        return f"{sign}{size:.{count}g}"
    places = max(0, count - 1 - floor(log10(size)))
    return f"{sign}{size:.{places}f}"


def square_kilometres(area: float) -> str:
    """Format an area with three digits, from a million on in millions; nothing for NaN."""
    if isnan(area):
        return ""
    area = float(f"{area:.3g}")
    return f"{digits(area / 1e6)} M" if area >= 1e6 else f"{area:.10g}"


def decimals(correlation: float, count: int = 3) -> str:
    """Format a correlation with so many decimals, and more if it is nearly 1 or −1."""
    if not -1 < correlation < 1:
        return digits(correlation, count)
    count = max(count, count - 2 - floor(log10(1 - abs(correlation))))
    rounded = round(correlation, count) + 0.0  # no sign for −0.0
    return f"{rounded:.{count}f}".replace("-", "−")


def distinguishable(
    written: Callable[[float, int], str], one: float, other: float
) -> tuple[str, str]:
    """Format two numbers with enough digits to distinguish them."""
    for count in range(3, 17):
        pair = written(one, count), written(other, count)
        if pair[0] != pair[1] or one == other:
            break
    return pair
