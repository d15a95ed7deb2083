"""From what a simulation gives to the rows of a table."""

import math
from dataclasses import dataclass, field

from .estimates import Estimate
from .simulation import Settings
from .tables import Row, compare


@dataclass(frozen=True)
class Outcome:
    """Quantities of one setting by their names in the tables, and expectations in closed form."""

    estimates: dict[str, Estimate]
    exact: dict[str, float] = field(default_factory=dict)


def fill(
    column: str,
    printed: dict[str, str],
    ours: Outcome,
    as_printed: Outcome,
    reasons: dict[tuple[str, str], str] | None = None,
    *,
    beyond: bool = True,
) -> list[Row]:
    """Rows of one column: the paper's quantities, then those that go beyond it."""
    names = list(printed)
    if beyond:
        names += [name for name in ours.estimates if name not in printed]
    return [
        compare(
            name,
            column,
            printed.get(name),
            ours.estimates.get(name),
            as_printed.estimates.get(name),
            reasons=reasons,
            exact=ours.exact.get(name, math.nan),
        )
        for name in names
    ]


def amount(settings: Settings) -> str:
    """Say how much the figures of two and three features rest on."""
    return (
        f"{settings.repetitions} repetitions; methods beyond the paper, where there are any, in "
        f"{settings.compared_small} others, each with a test set of its own."
    )
