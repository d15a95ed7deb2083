"""How rows are held out: in blocks of dates, in whole groups, or at random."""

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ._files import DataFile
from ._files._tables import Indices
from ._terminal import Terminal

if TYPE_CHECKING:
    from .._data._dates import Dates


_PARTS_OF_DATES = ("year", "month", "day")


@dataclass(frozen=True)
class RowGroups:
    """Rows that belong together, by the labels in a column."""

    name: str
    numbers: Indices  # of the group of each row of the file

    def of(self, rows: Indices) -> Indices:
        return self.numbers[rows]


@dataclass(frozen=True)
class Folds:
    """How rows are held out: in blocks of dates, with a gap beside them, in groups or at random."""

    in_blocks: bool
    gap: int
    dates: "Dates | None"  # of all rows of the file; None where their order is that of time
    groups: RowGroups | None = None

    @property
    def columns(self) -> list[str]:
        """The column that says which rows belong together, if there is one."""
        return [] if self.groups is None else [self.groups.name]

    def ranks(self, rows: Indices) -> Indices:
        """Place of some rows in time, from 0; rows of the same date share it."""
        return np.arange(rows.size) if self.dates is None else self.dates.take(rows).ranks

    def last(self, rows: Indices, count: int) -> tuple[Indices, Indices]:
        """Divide rows into those to learn from and about so many last ones, in order of time."""
        ranks = self.ranks(rows)
        order = np.argsort(ranks, kind="stable")
        rows, ranks = rows[order], ranks[order]
        first = ranks[rows.size - count] if count else ranks[-1] + 1 + self.gap
        return rows[ranks < first - self.gap], rows[ranks >= first]


def folds_of(
    options: argparse.Namespace, data: DataFile, groups: RowGroups | None, terminal: Terminal
) -> Folds:
    """Decide how rows are held out: as the options say, or in blocks where there are dates."""
    from .._data._dates import is_time

    reach = options.lead + max(options.lags, default=0)
    gap = reach if options.gap is None else options.gap
    in_time = data.dates is not None or reach or options.gap is not None
    if groups is not None:
        if in_time:
            terminal.note(
                f"rows of the same {groups.name!r} are held out together, and not blocks of time"
            )
        return Folds(False, 0, data.dates, groups)
    if options.folds == "shuffled" or (options.folds is None and not in_time):
        if options.folds is None and is_time(data.sample_dim, {}):
            terminal.note("rows are held out at random; --folds blocks holds out the last ones")
        parts = [name for part in _PARTS_OF_DATES for name in data.names if name.lower() == part]
        if options.folds is None and len(parts) > 1:
            listed = " ".join(parts)
            terminal.note(
                f"the columns {listed} count as features; if they are the dates of the rows, use "
                f"--dates {listed}"
            )
        return Folds(False, 0, data.dates)
    if options.folds is None:
        how = "rows are held out in blocks of consecutive ones"
        if data.dates is not None:
            how = f"the rows have dates ({data.dates.name!r}), and are held out in blocks"
        beside = f", with a gap of {gap} on either side" if gap else ""
        terminal.note(f"{how}{beside}; --folds shuffled takes random ones")
    return Folds(True, gap, data.dates)
