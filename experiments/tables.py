"""Tables: the paper's figures beside ours, and the verdict on each."""

import math
from dataclasses import dataclass, field
from typing import Any

from .estimates import Estimate, Printed

REPRODUCED = "reproduced"
DIFFERS = "differs"
NOT_RUN = "not run"
BEYOND = "beyond the paper"
UNEXPLAINED = "not explained"

AGREEMENT = 4.0
"""Standard deviations up to which two figures agree: among the some 200 figures compared, one falls
outside by chance in one run of a hundred."""


@dataclass(frozen=True)
class Row:
    """One quantity in one column of a table.

    ``ours`` comes from the setting that produced the paper's table, ``as_printed`` from the
    setting that its text states; None where a quantity has no meaning or was not run. ``exact``
    is the expectation in closed form, where there is one.
    """

    quantity: str
    column: str
    paper: Printed | None
    ours: Estimate | None
    as_printed: Estimate | None
    verdict: str
    reason: str = ""
    exact: float = math.nan

    @property
    def digits(self) -> int:
        """Digits after the point to show."""
        if self.paper is not None:
            return max(self.paper.digits, 1 if self.paper.digits == 0 else 0)
        return 1 if self.quantity.startswith(("d", "Merges")) else 3


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in words, and whether it holds in our figures."""

    statement: str
    ours: bool
    as_printed: bool
    detail: str


Finding = tuple[bool, str]
"""Whether a statement holds, and the figures that say so."""


def claim(statement: str, ours: Finding, as_printed: Finding) -> Claim:
    """Join what was found with either setting."""
    figures = ours[1] if ours[1] == as_printed[1] else f"{ours[1]}; as printed: {as_printed[1]}"
    return Claim(statement, ours[0], as_printed[0], figures)


@dataclass(frozen=True)
class Table:
    """A table of the paper, with the rows that go beyond it."""

    name: str
    title: str
    rows: list[Row]
    notes: list[str] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """What was not run, and why."""
    figure: Any = None
    """The figure of the paper whose points the rows are, drawn with matplotlib."""

    def columns(self) -> list[str]:
        """The columns, in order."""
        return list(dict.fromkeys(row.column for row in self.rows))

    def counts(self) -> dict[str, int]:
        """How many figures got which verdict; differences of printed ones do not count."""
        verdicts = [
            row.verdict for row in self.rows if row.paper is None or len(row.paper.terms) == 1
        ]
        return {v: verdicts.count(v) for v in (REPRODUCED, DIFFERS, NOT_RUN, BEYOND)}


def compare(
    quantity: str,
    column: str,
    paper: str | None,
    ours: Estimate | None,
    as_printed: Estimate | None = None,
    *,
    reasons: dict[tuple[str, str], str] | None = None,
    exact: float = math.nan,
) -> Row:
    """Judge a figure of the paper by ours.

    They agree when they differ by at most four standard deviations of their difference and what
    rounding can have moved the printed one. ``reasons`` says, by quantity and column, why figures
    differ that do.
    """
    printed = None if paper is None else Printed(paper)
    reason = (reasons or {}).get((quantity, column), "")
    if printed is None:
        verdict, reason = BEYOND, ""
    elif ours is None:
        verdict, reason = NOT_RUN, ""
    else:
        expected = ours.value if math.isnan(exact) else exact
        error = ours.error if math.isnan(exact) else ours.spread
        tolerance = AGREEMENT * error + printed.rounding + 1e-12
        agrees = abs(printed.value - expected) <= tolerance
        verdict = REPRODUCED if agrees else DIFFERS
        reason = "" if agrees else reason or UNEXPLAINED
    return Row(quantity, column, printed, ours, as_printed, verdict, reason, exact)


def differences(table: Table) -> list[tuple[str, str, str]]:
    """What differs: columns, quantities and the reason, one entry for each reason."""
    found: dict[str, list[Row]] = {}
    for row in table.rows:
        if row.verdict == DIFFERS:
            found.setdefault(row.reason, []).append(row)
    return [
        (
            ", ".join(dict.fromkeys(row.column for row in rows)),
            ", ".join(dict.fromkeys(row.quantity for row in rows)),
            reason,
        )
        for reason, rows in found.items()
    ]
