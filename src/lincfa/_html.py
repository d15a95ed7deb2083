"""Pieces of HTML for notebooks. Whatever comes from the user is escaped."""

from collections.abc import Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def html_table(
    caption: str, titles: Sequence[str], rows: Sequence[Sequence[str]], note: str = ""
) -> str:
    """Make a plain table, whose first column is text and whose others are numbers."""
    left, right = (f'style="text-align:{side};padding:0 0.6em"' for side in ("left", "right"))
    sides = [left] + [right] * (len(titles) - 1)
    head = "".join(
        f'<th scope="col" {side}>{escape(title)}</th>'
        for title, side in zip(titles, sides, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(f"<td {side}>{escape(cell)}</td>" for cell, side in zip(row, sides, strict=True))
        + "</tr>"
        for row in rows
    )
    foot = f"<p>{escape(note)}</p>" if note else ""
    return (
        f'<div><table><caption style="text-align:left">{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}</div>"
    )


def documentation_link(page: str) -> str:
    """Address of a page of the documentation.

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
    for folder in (_HERE / "docs", _HERE.parents[1] / "docs"):
        if (folder / page).is_file():
            return (folder / page).as_uri()
    return ""
