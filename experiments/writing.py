"""From tables to files: Markdown and JSON for each, pictures, and one index page."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .estimates import NORMAL, PAPER_REPETITIONS, Estimate
from .tables import BEYOND, DIFFERS, NOT_RUN, REPRODUCED, Claim, Row, Table, differences

_FIGURES = ("d", "R²", "MSE")
_FEW = 200
_WEAK = (
    "- With so few repetitions intervals are wide: a verdict says less than one of 500 repetitions."
)

HEADINGS = (
    "quantity",
    "paper",
    "ours, setting behind the table",
    "another run, 95 %",
    "ours, as printed",
    "verdict",
)


def to_json(table: Table, about: dict[str, Any]) -> str:
    """Everything a table holds; what is not a number becomes null."""
    document = {
        "table": table.name,
        "title": table.title,
        **about,
        "rows": [_row_document(row) for row in table.rows],
        "claims": [asdict(claim) for claim in table.claims],
        "notes": table.notes,
        "missing": table.missing,
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _row_document(row: Row) -> dict[str, Any]:
    return {
        "quantity": row.quantity,
        "column": row.column,
        "paper": None if row.paper is None else row.paper.text,
        "paper_value": None if row.paper is None else row.paper.value,
        "ours": _estimate_document(row.ours),
        "as_printed": _estimate_document(row.as_printed),
        "expectation": _number(row.exact),
        "verdict": row.verdict,
        "reason": row.reason,
    }


def _estimate_document(estimate: Estimate | None) -> dict[str, float | None] | None:
    if estimate is None:
        return None
    return {key: _number(value) for key, value in asdict(estimate).items()}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def to_markdown(table: Table, level: int = 1) -> str:
    """A table as a page, or as a section of one."""
    lines = [f"{'#' * level} {table.title} (`{table.name}`)", ""]
    lines += [f"- {note}" for note in [*table.notes, *table.missing]]
    if table.claims:
        lines += ["", *_claims(table.claims)]
    columns = table.columns()
    if all(row.verdict == BEYOND for row in table.rows):
        lines += _points(table)
        columns = []
    for column in columns:
        rows = [row for row in table.rows if row.column == column]
        if len(columns) > 1:
            lines += ["", f"{'#' * (level + 1)} {column}"]
        compared = [row for row in rows if row.verdict != BEYOND or _method(row) is None]
        lines += ["", *_grid(HEADINGS, [_cells(row) for row in compared])]
        lines += _beyond(row for row in rows if row not in compared)
    return "\n".join(lines) + "\n"


def _method(row: Row) -> tuple[str, str] | None:
    """The figure (d, R² or MSE) and the method of a quantity that is one of these."""
    figure, _, method = row.quantity.partition(" ")
    return (figure, method) if figure in _FIGURES and "(" not in method else None


def _beyond(rows: Iterable[Row]) -> list[str]:
    """Methods that the paper does not compare, one a line; as printed only where it matters."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        figure, method = _method(row) or ("", "")
        found.setdefault(method, {})[figure] = row
    if not found:
        return []
    differ = any(row.ours != row.as_printed for part in found.values() for row in part.values())
    headings = ["beyond the paper", *_FIGURES]
    if differ:
        headings += [f"{figure}, as printed" for figure in _FIGURES]
    cells = []
    for method, part in found.items():
        line = [method, *(shown(part[figure].ours, part[figure].digits) for figure in _FIGURES)]
        if differ:
            line += [shown(part[f].as_printed, part[f].digits) for f in _FIGURES]
        cells.append(line)
    return ["", *_grid(headings, cells)]


def _points(table: Table) -> list[str]:
    """The points of a figure: a line for each column, a column for each quantity."""
    lines: list[str] = []
    quantities = list(dict.fromkeys(row.quantity for row in table.rows))
    for title, attribute in ((HEADINGS[2], "ours"), (HEADINGS[4], "as_printed")):
        cells = [
            [column, *(shown(getattr(row, attribute), row.digits) for row in rows)]
            for column in table.columns()
            if (rows := [row for row in table.rows if row.column == column])
        ]
        lines += ["", *_grid((title, *quantities), cells)]
    return lines


def _claims(claims: Iterable[Claim]) -> list[str]:
    words = {True: "holds", False: "does not hold"}
    headings = ("statement of the text", "setting behind the table", "as printed", "figures")
    cells = [
        (c.statement, words[c.ours], words[c.as_printed], c.detail.replace("-", "−"))
        for c in claims
    ]
    return _grid(headings, cells)


def _grid(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    headings = tuple(headings)
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return lines + ["| " + " | ".join(cells) + " |" for cells in rows]


def _cells(row: Row) -> tuple[str, ...]:
    verdict = row.verdict
    if row.reason:
        verdict += f": {row.reason}"
    ours = shown(row.ours, row.digits)
    if not math.isnan(row.exact) and row.ours is not None and row.ours.spread:
        ours += f", expected {row.exact:.1f}"
    return (
        row.quantity,
        "" if row.paper is None else row.paper.text.replace("±", " ± ").replace("-", "−"),
        ours,
        _range(row),
        shown(row.as_printed, row.digits),
        verdict,
    )


def shown(estimate: Estimate | None, digits: int) -> str:
    """Value ± half width of its 95 % interval, to two digits of that; else the value alone.

    All ``digits`` are shown where other runs give the same value, however wide its interval is.
    """
    if estimate is None or math.isnan(estimate.value):
        return "–"
    if estimate.margin > 0:
        least = 0 if estimate.spread > 0 else digits
        digits = max(least, _digits(estimate.margin))
        text = f"{estimate.value:.{digits}f} ± {estimate.margin:.{digits}f}"
    else:
        whole = estimate.value == round(estimate.value)
        text = f"{estimate.value:.{0 if whole else digits}f}"
    return text.replace("-", "−")


def _digits(margin: float) -> int:
    """Digits after the point that show two digits of a margin."""
    return min(6, max(0, 1 - math.floor(math.log10(margin))))


def _range(row: Row) -> str:
    """Where the figure of one run of the paper's size falls in 95 % of runs, by what we know."""
    if row.paper is None or row.ours is None or not row.ours.spread > 0:
        return ""
    known = not math.isnan(row.exact)
    middle = row.exact if known else row.ours.value
    reach = NORMAL * (row.ours.spread if known else row.ours.error)
    low, high = middle - reach, middle + reach
    if row.quantity.startswith("Merges"):  # a count
        low, high = max(low, 0), min(high, PAPER_REPETITIONS)
    digits = _digits(reach)
    return f"{low:.{digits}f} … {high:.{digits}f}".replace("-", "−")


def index(tables: list[Table], about: dict[str, Any], others: list[str]) -> str:
    """The page with every figure on it; ``others`` are tables of earlier runs in its folder."""
    lines = [
        "# The paper's experiments, run anew",
        "",
        "*Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis* (Bonetti, "
        "Metelli, Restelli). Each figure of its tables is set beside ours, from the setting that "
        "produced the table and from the one that its text states, where that is another.",
        "",
        "- Margins are 95 % intervals. “Another run” is where the figure of one run of the paper's "
        "size (500 repetitions, one test set) falls in 95 % of cases, by what our runs say.",
        "- A figure is *reproduced* when it is within four standard deviations of its difference "
        "to ours, about twice the reach of “another run”, and what rounding can have moved it; "
        "where nothing is random, when all printed digits agree. Differences of two printed errors "
        "are judged too, but not counted.",
        "- *full* is the regression on all features, *merged* that on means of groups; *d* counts "
        "the features of a regression. *Theoretical*: decided by the true weights; *empirical*: by "
        "the data. ρ̄ is the correlation from which merging pays, ŵ the weight of the mean of two "
        "features. LinCFA merges up to tolerance 1, or up to 2 in the rows that say so; centroid, "
        "agglomerative and joint are its other strategies, screened PCA is PCA of the features "
        "most correlated with the target.",
        *([_WEAK] if about["repetitions"] < _FEW else []),
        "",
        ", ".join(f"{key}: {value}" for key, value in about.items()) + ".",
        "",
        *_grid(
            ("table", REPRODUCED, DIFFERS, NOT_RUN, BEYOND, "statements that hold"),
            [_summary(table) for table in tables],
        ),
        "",
    ]
    if others:
        links = ", ".join(f"[{name}]({name}.md)" for name in others)
        lines += [f"From an earlier run: {links}.", ""]
    differing = [(table.name, *entry) for table in tables for entry in differences(table)]
    if differing:
        lines += ["## What differs, and why", ""]
        lines += [*_grid(("table", "column", "quantity", "why"), differing), ""]
    for table in tables:
        if table.figure is not None:
            lines += [f"![{table.name}]({table.name}.png)", ""]
    return "\n".join(lines) + "\n" + "\n".join(to_markdown(table, 2) for table in tables)


def _summary(table: Table) -> tuple[str, ...]:
    counts = table.counts()
    held = f"{sum(c.ours for c in table.claims)} of {len(table.claims)}" if table.claims else ""
    return (
        f"[`{table.name}`]({table.name}.md) {table.title}",
        *(str(counts[verdict]) for verdict in (REPRODUCED, DIFFERS, NOT_RUN, BEYOND)),
        held,
    )


def write(folder: Path, tables: list[Table], about: dict[str, Any]) -> Path:
    """Write everything; gives the path of the index page."""
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        (folder / f"{table.name}.md").write_text(to_markdown(table), encoding="utf-8")
        (folder / f"{table.name}.json").write_text(to_json(table, about), encoding="utf-8")
        if table.figure is not None:
            table.figure.savefig(folder / f"{table.name}.png", dpi=150)
            table.figure.savefig(folder / f"{table.name}.svg")
    page = folder / "index.md"
    names = {table.name for table in tables}
    both = {path.stem for path in folder.glob("*.json")} & {p.stem for p in folder.glob("*.md")}
    others = sorted(both - names)
    page.write_text(index(tables, about, others), encoding="utf-8")
    return page
