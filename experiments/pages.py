"""Pages: Markdown and JSON for each table, figures, and an index page with everything on it."""

import json
import math
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .simulation import NORMAL, PAPER_REPETITIONS, Estimate
from .tables import BEYOND, DIFFERS, NOT_RUN, REPRODUCED, Claim, Row, Table

OURS, BY_TEXT = "ours, settings of the tables", "ours, settings of the text"
HEADINGS = ("quantity", "paper", OURS, "single run, 95 %", BY_TEXT, "verdict")
SCORES = ("d", "R²", "MSE")
"""What the table of methods beyond the paper has a column for."""
FEW_REPETITIONS = 200


def write(folder: Path, tables: list[Table], about: dict[str, Any]) -> Path:
    """Write all files; returns the path of the index page."""
    for table in tables:
        (folder / f"{table.name}.md").write_text(to_markdown(table), encoding="utf-8")
        (folder / f"{table.name}.json").write_text(to_json(table, about), encoding="utf-8")
        if table.figure is not None:
            table.figure.savefig(folder / f"{table.name}.png", dpi=150)
            table.figure.savefig(folder / f"{table.name}.svg")
    names = {table.name for table in tables}
    both = {path.stem for path in folder.glob("*.json")} & {p.stem for p in folder.glob("*.md")}
    page = folder / "index.md"
    page.write_text(index(tables, about, sorted(both - names)), encoding="utf-8")
    return page


# JSON --------------------------------------------------------------------------------------------


def to_json(table: Table, about: dict[str, Any]) -> str:
    """Everything in a table; NaN and infinity become null."""
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
        "by_text": _estimate_document(row.by_text),
        "expectation": None if row.ours is None else _number(row.ours.expectation),
        "verdict": row.verdict,
        "reason": row.reason,
    }


def _estimate_document(estimate: Estimate | None) -> dict[str, float | None] | None:
    if estimate is None:
        return None
    return {key: _number(getattr(estimate, key)) for key in ("value", "margin", "spread")}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


# Markdown ----------------------------------------------------------------------------------------


def index(tables: list[Table], about: dict[str, Any], earlier: list[str]) -> str:
    """The page with all tables; ``earlier`` are those of earlier runs in the same folder."""
    lines = [
        "# The experiments of the paper, run again",
        "",
        "*Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis* (Bonetti, "
        "Metelli, Restelli). Each number of its tables is compared with ours, once with the "
        "settings that produced the tables and once with those that the text describes, where "
        "they differ.",
        "",
        "- Margins are 95 % intervals. “Single run” is the range in which a run of the paper's "
        "size (500 repetitions, one test set) falls in 95 % of cases, according to our runs.",
        "- A number is *reproduced* if it is within four standard deviations of the difference to "
        "ours (about twice the range of a single run) and what rounding can have moved it; where "
        "nothing is random, if all printed digits agree. Differences of two printed errors are "
        "judged too, but not counted.",
        "- *full* is the regression on all features, *merged* that on means of groups; *d* is the "
        "number of features of a regression. *Theoretical*: decided by the true weights; "
        "*empirical*: by the data. ρ̄ is the correlation from which merging pays, ŵ the weight of "
        "the mean of two features. LinCFA merges up to tolerance 1, or up to 2 in the rows that "
        "say so; centroid, agglomerative and joint are its other strategies, screened PCA is PCA "
        "of the features most correlated with the target.",
    ]
    if about["repetitions"] < FEW_REPETITIONS:
        lines.append(
            "- With so few repetitions the intervals are wide, and a verdict says less than with "
            "500 repetitions."
        )
    headings = ("table", REPRODUCED, DIFFERS, NOT_RUN, BEYOND, "claims that hold")
    summary = [
        (
            f"[`{table.name}`]({table.name}.md) {table.title}",
            *map(str, table.counts().values()),
            table.claims_that_hold(),
        )
        for table in tables
    ]
    lines += ["", ", ".join(f"{key}: {value}" for key, value in about.items()) + ".", ""]
    lines += [*_grid(headings, summary), ""]
    if earlier:
        links = ", ".join(f"[{name}]({name}.md)" for name in earlier)
        lines += [f"From an earlier run: {links}.", ""]
    differing = [(table.name, *entry) for table in tables for entry in table.differences()]
    if differing:
        lines += ["## What differs, and why", ""]
        lines += [*_grid(("table", "column", "quantity", "reason"), differing), ""]
    for table in tables:
        if table.figure is not None:
            lines += [f"![{table.name}]({table.name}.png)", ""]
    return "\n".join(lines) + "\n" + "\n".join(to_markdown(table, 2) for table in tables)


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
        lines += _methods([row for row in rows if row not in compared])
    return "\n".join(lines) + "\n"


def _grid(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    headings = tuple(headings)
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    return lines + ["| " + " | ".join(cells) + " |" for cells in rows]


def _claims(claims: Iterable[Claim]) -> list[str]:
    words = {True: "holds", False: "does not hold"}
    headings = ("claim of the text", "settings of the tables", "settings of the text", "numbers")
    cells = [
        (c.statement, words[c.ours], words[c.by_text], c.detail.replace("-", "−")) for c in claims
    ]
    return _grid(headings, cells)


def _points(table: Table) -> list[str]:
    """The points of a figure: a line for each column, a column for each quantity."""
    lines: list[str] = []
    quantities = list(dict.fromkeys(row.quantity for row in table.rows))
    for title, attribute in ((OURS, "ours"), (BY_TEXT, "by_text")):
        cells = [
            [
                column,
                *(
                    show(getattr(row, attribute), row.digits)
                    for row in table.rows
                    if row.column == column
                ),
            ]
            for column in table.columns()
        ]
        lines += ["", *_grid((title, *quantities), cells)]
    return lines


def _method(row: Row) -> tuple[str, str] | None:
    """Score (d, R² or MSE) and method of a row, if it has these."""
    score, _, method = row.quantity.partition(" ")
    return (score, method) if score in SCORES and "(" not in method else None


def _methods(rows: list[Row]) -> list[str]:
    """A line for each method beyond the paper; the settings of the text only if they differ."""
    if not rows:
        return []
    by_method: dict[str, dict[str, Row]] = {}
    for row in rows:
        score, method = _method(row) or ("", "")
        by_method.setdefault(method, {})[score] = row
    headings, attributes = [BEYOND, *SCORES], ["ours"]
    if any(row.ours != row.by_text for row in rows):
        headings += [f"{score}, settings of the text" for score in SCORES]
        attributes.append("by_text")
    cells = [
        [method, *(show(getattr(part[s], a), part[s].digits) for a in attributes for s in SCORES)]
        for method, part in by_method.items()
    ]
    return ["", *_grid(headings, cells)]


def _cells(row: Row) -> tuple[str, ...]:
    ours = show(row.ours, row.digits)
    if row.ours is not None and row.ours.spread and not math.isnan(row.ours.expectation):
        ours += f", expected {row.ours.expectation:.1f}"
    return (
        row.quantity,
        "" if row.paper is None else row.paper.text.replace("±", " ± ").replace("-", "−"),
        ours,
        _single_run(row),
        show(row.by_text, row.digits),
        f"{row.verdict}: {row.reason}" if row.reason else row.verdict,
    )


def show(estimate: Estimate | None, digits: int) -> str:
    """Value ± half width of its 95 % interval, to two digits of the latter; else the value alone.

    At least ``digits`` are shown where every run gives the same value, however wide its interval.
    """
    if estimate is None or math.isnan(estimate.value):
        return "–"
    if estimate.margin > 0:
        digits = max(0 if estimate.spread > 0 else digits, _two_digits(estimate.margin))
        text = f"{estimate.value:.{digits}f} ± {estimate.margin:.{digits}f}"
    else:
        whole = estimate.value == round(estimate.value)
        text = f"{estimate.value:.{0 if whole else digits}f}"
    return text.replace("-", "−")


def _two_digits(margin: float) -> int:
    """Digits after the point that show two digits of a margin."""
    return min(6, max(0, 1 - math.floor(math.log10(margin))))


def _single_run(row: Row) -> str:
    """Range of a single run of the paper's size in 95 % of cases."""
    if row.paper is None or row.ours is None or not row.ours.spread > 0:
        return ""
    reach = NORMAL * row.ours.error
    low, high = row.ours.expected - reach, row.ours.expected + reach
    if row.quantity.startswith("Merges"):  # a count
        low, high = max(low, 0), min(high, PAPER_REPETITIONS)
    digits = _two_digits(reach)
    return f"{low:.{digits}f} … {high:.{digits}f}".replace("-", "−")
