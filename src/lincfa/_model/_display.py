"""What is shown to a reader, on a terminal and in a notebook: tables, and where to read more."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

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
        """Return the table as lines of text with aligned columns."""
        table = [list(self.titles), *map(list, self.rows)]
        widths = [max(len(row[i]) for row in table) for i in range(len(self.titles))]
        lines = [
            "  ".join(
                cell.ljust(width) if place == 0 else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        return "\n".join([self.caption, *lines, *filter(None, [self.note])])

    def html(self) -> str:
        """Return the table for a notebook. Whatever comes from the user is escaped."""
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
        foot = f"<p>{escape(self.note)}</p>" if self.note else ""
        return (
            f'<div><table><caption style="text-align:left">{escape(self.caption)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}</div>"
        )


def documentation_link(page: str) -> str:
    """Return the address of a page of the documentation.

    The address that the package declares as its documentation; where it declares none, the page
    that is installed with it, or that of the checkout.
    """
    try:
        declared = metadata("lincfa").get_all("Project-URL") or []
    except PackageNotFoundError:
        declared = []
    for entry in declared:
        label, _, address = entry.partition(",")
        if label.strip().lower() == "documentation":
            return f"{address.strip().rstrip('/')}/{page}"
    for folder in (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs"):
        if (folder / page).is_file():
            return (folder / page).as_uri()
    return ""
