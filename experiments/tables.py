"""Tables: the numbers of the paper beside ours, and a verdict on each."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .simulation import Estimate, Estimates, Settings

REPRODUCED = "reproduced"
DIFFERS = "differs"
NOT_RUN = "not run"
BEYOND = "beyond the paper"
UNEXPLAINED = "not explained"

AGREEMENT = 4.0
"""Standard deviations up to which two numbers agree: of the about 200 that are compared, one is
further away by chance in one run out of a hundred."""


@dataclass(frozen=True)
class Printed:
    """A number as the paper prints it, or the difference ``a − b`` of two of them."""

    text: str

    @property
    def terms(self) -> list[str]:
        """The number without its ±, or the two to subtract."""
        return [term.split("±")[0] for term in self.text.split(" − ")]

    @property
    def value(self) -> float:
        """The number itself."""
        first, *rest = map(float, self.terms)
        return round(first - sum(rest), self.digits)

    @property
    def digits(self) -> int:
        """Digits after the point."""
        found = [re.fullmatch(r"-?\d+(?:\.(\d+))?", term) for term in self.terms]
        assert all(found), self.text
        return max(len(match[1] or "") for match in found if match)

    @property
    def rounding(self) -> float:
        """How far rounding can have moved it."""
        return 0.5 * len(self.terms) * 10.0**-self.digits


@dataclass(frozen=True)
class Row:
    """One quantity in one column of a table.

    ``ours`` comes from the settings that produced the paper's table, ``by_text`` from those that
    the text describes; None where the quantity does not exist or was not computed.
    """

    quantity: str
    column: str
    paper: Printed | None
    ours: Estimate | None
    by_text: Estimate | None
    verdict: str
    reason: str = ""

    @property
    def digits(self) -> int:
        """Digits after the point to show."""
        if self.paper is not None:
            return max(self.paper.digits, 1)
        return 1 if self.quantity.startswith(("d", "Merges")) else 3


def judge(
    quantity: str,
    column: str,
    printed: str | None,
    ours: Estimate | None,
    by_text: Estimate | None = None,
    reasons: Mapping[tuple[str, str], str] | None = None,
) -> Row:
    """Compare a number of the paper with ours.

    They agree if they differ by no more than four standard deviations of their difference plus
    what rounding can have moved the printed one. Where they do not, ``reasons`` may say why, by
    quantity and column.
    """
    if printed is None:
        return Row(quantity, column, None, ours, by_text, BEYOND)
    paper = Printed(printed)
    if ours is None:
        return Row(quantity, column, paper, ours, by_text, NOT_RUN)
    tolerance = AGREEMENT * ours.error + paper.rounding + 1e-12
    if abs(paper.value - ours.expected) <= tolerance:
        return Row(quantity, column, paper, ours, by_text, REPRODUCED)
    reason = (reasons or {}).get((quantity, column), UNEXPLAINED)
    return Row(quantity, column, paper, ours, by_text, DIFFERS, reason)


def judge_column(
    column: str,
    printed: Mapping[str, str],
    ours: Estimates,
    by_text: Estimates,
    reasons: Mapping[tuple[str, str], str] | None = None,
    *,
    beyond: bool = True,
) -> list[Row]:
    """Rows of one column: the quantities of the paper, then those that go beyond it."""
    names = [*printed, *(name for name in ours if beyond and name not in printed)]
    return [
        judge(name, column, printed.get(name), ours.get(name), by_text.get(name), reasons)
        for name in names
    ]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, whether our numbers support it, and which numbers these are."""

    statement: str
    ours: bool
    by_text: bool
    detail: str


Check = Callable[[Any], tuple[bool, str]]
"""Says of results whether a claim holds, and the numbers that decide."""


def check_claims(checks: Mapping[str, Check], ours: Any, by_text: Any) -> list[Claim]:
    """Check claims with the settings of the tables and with those of the text."""
    claims = []
    for statement, check in checks.items():
        (holds, detail), (holds_by_text, other) = check(ours), check(by_text)
        if other != detail:
            detail = f"{detail}; settings of the text: {other}"
        claims.append(Claim(statement, holds, holds_by_text, detail))
    return claims


@dataclass(frozen=True)
class Table:
    """A table of the paper, with rows that go beyond it."""

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
        """Numbers with each verdict; differences of two printed numbers do not count."""
        verdicts = [
            row.verdict for row in self.rows if row.paper is None or len(row.paper.terms) == 1
        ]
        return {v: verdicts.count(v) for v in (REPRODUCED, DIFFERS, NOT_RUN, BEYOND)}

    def claims_that_hold(self) -> str:
        """How many of the claims hold, as text; nothing if there are none."""
        held = sum(claim.ours for claim in self.claims)
        return f"{held} of {len(self.claims)}" if self.claims else ""

    def differences(self) -> list[tuple[str, str, str]]:
        """Columns, quantities and reason of what differs, one entry for each reason."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
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


def note_on_size(settings: Settings) -> str:
    """Note on the number of repetitions for two and three features."""
    return (
        f"{settings.repetitions} repetitions; for the methods beyond the paper "
        f"{settings.comparisons}, each with its own training and test set."
    )
