"""What the template shows: the findings, arranged and with sentences around them."""

from datetime import datetime
from math import isfinite, isnan
from typing import Any

from .._data._names import shown
from .._model._display import decimals, digits, distinguishable
from . import _wording
from ._findings import LONGEST_NAME, Findings, Map, PairTable, Scores

_NEAREST_SHOWN = 10


def context(findings: Findings) -> dict[str, Any]:
    """Give the variables of the template."""
    weighted = any(not isnan(group.weight) for group in findings.groups)
    near = findings.pairs.near
    return {
        "findings": findings,
        "created": f"{datetime.fromisoformat(findings.created):%Y-%m-%d %H:%M %Z}",
        "meaning": _wording.meaning(findings),
        "verdict": None if findings.scores is None else _wording.verdict(findings.scores),
        "dots": None if findings.scores is None else dots(findings.scores),
        "weighted": weighted,
        "columns": columns(findings, weighted),
        "cuts": _wording.cuts(findings),
        "constant": _wording.constant(findings),
        "maps": [f"map-{k}" for k in range(len(findings.maps))],
        "weight_maps": [f"weights-{k}" for k, map in enumerate(findings.maps) if _weighted(map)],
        "captions": _wording.captions(findings),
        "nearest": [] if near is None else nearest(near, findings.pairs.tolerance),
        "longest_name": LONGEST_NAME,
    }


def _weighted(map: Map) -> bool:
    return map.values is not None


def columns(findings: Findings, weighted: bool) -> list[list[float | None]]:
    """Give the numbers that the table of groups is sorted by, column by column."""
    wanted = ["size", "mean_correlation", "min_correlation", "target_correlation"]
    wanted += ["weight"] if weighted else []
    return [[_short(float(getattr(group, name))) for group in findings.groups] for name in wanted]


def _short(value: float) -> float | None:
    return float(f"{value:.7g}") if isfinite(value) else None


def nearest(table: PairTable, tolerance: float) -> list[tuple[str, str, str]]:
    """Give the pairs that came closest to merging: two names, and what kept them apart."""
    rows = zip(table.first, table.second, table.correlation, table.threshold, table.f, strict=True)
    result = []
    for first, second, rho, threshold, f in list(rows)[:_NEAREST_SHOWN]:
        ours, needed = distinguishable(decimals, float(rho), float(threshold))
        words = f"correlated by {ours}, it takes {needed} (F = {digits(float(f))})"
        if rho >= threshold:
            written, limit = distinguishable(digits, float(f), tolerance)
            words = (
                f"correlated by {ours}; as a pair they would pass (F = {written}, up to {limit})"
            )
        result.append((shown(first, LONGEST_NAME), shown(second, LONGEST_NAME), words))
    return result


def dots(scores: Scores) -> list[dict[str, float]]:
    """Place the R² of each regression and its interval on a line, in per cent of its length."""
    ends = [end for row in scores.rows for end in (row.r2.low, row.r2.value, row.r2.high)]
    known = [end for end in ends if isfinite(end)]
    if len(known) < len(ends):
        return []
    low, span = min(known), (max(known) - min(known)) or 1.0
    return [
        {
            name: round(3 + 94 * (getattr(row.r2, name) - low) / span, 2)
            for name in ("low", "value", "high")
        }
        for row in scores.rows
    ]


def figure(value: float, kind: str = "decimals") -> str:
    """Write a number for a cell; a dash where there is none."""
    if isnan(value):
        return "–"
    return decimals(value) if kind == "decimals" else digits(value)


def setting(value: Any) -> str:
    """Write a setting, or what describes the data, for a reader."""
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(map(setting, value))
    return f"{value:g}" if isinstance(value, float) else visible(str(value))


def visible(text: str) -> str:
    r"""Spell out the characters that nobody sees, such as those that turn the direction of text.

    Examples
    --------
    >>> print(visible("a\u202eb"))
    a\u202eb
    """
    return "".join(
        letter
        if letter.isprintable() or letter == "\n"
        else letter.encode("unicode_escape").decode()
        for letter in text
    )
