"""Which rows are so many steps before or after others, by the dates of one file or of two."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .._data import _steps as steps
from .._data._dates import Dates
from ._files import DataFile
from ._files._fields import FieldFile
from ._files._tables import Indices
from ._terminal import Terminal


def matching_rows(data: DataFile, other: DataFile, lead: int, terminal: Terminal) -> Indices:
    """Return the row of another file that has the date of each row, or one so much later."""
    ours, theirs = (_required(each) for each in (data, other))
    own, others = steps.common_steps(ours, theirs, (data.source, other.source))
    rows = steps.rows_at(others, own + lead)
    found = int((rows >= 0).sum())
    later = f" {lead} {'step' if lead == 1 else 'steps'} later" if lead else ""
    if not found:
        raise ValueError(
            f"no date of {data.source} ({ours.span}) is{later} in {other.source} ({theirs.span})"
        )
    known = f"{found} of" if found < rows.size else "all"
    unused = others.size - found
    are = "is" if unused == 1 else "are"
    terminal.note(
        f"{known} {rows.size} dates of {data.source} have a target{later} in {other.source}"
        + (f", not {steps.named(rows < 0, ours)}" if found < rows.size else "")
        + (f"; {unused} of its {others.size} dates {are} not used" if unused else "")
    )
    return rows


def rows_at_lead(data: DataFile, lead: int, terminal: Terminal) -> Indices:
    """Return the row that is so many steps later than each row; −1 for none."""
    positions = _positions(data, "--lead", terminal)
    return steps.rows_at(positions, positions + lead)


def rows_at_lags(data: DataFile, lags: Sequence[int], terminal: Terminal) -> Indices:
    """Return the row of each row at each lag, −1 for none; say which rows do not have all."""
    positions = _positions(data, "--lags", terminal)
    rows = steps.rows_at_lags(positions, lags)
    without = rows.min(axis=1) < 0
    if without.all():
        raise ValueError(f"{data.source}: no sample has all lags, {', '.join(map(str, lags))}")
    if without.any():
        what = steps.lags_in_words(lags)
        lacking = steps.describe_missing(without, what, data.dates, first_row=1)
        terminal.note(f"left out: {lacking}")
    return rows


def _required(data: DataFile) -> Dates:
    if data.dates is not None:
        return data.dates
    if isinstance(data, FieldFile):
        raise ValueError(
            f"{data.source}: {data.sample_dim!r} has no dates to match those of another file; its "
            "coordinate needs units such as 'days since 1970-01-01'"
        )
    why = data.why_no_dates()
    raise ValueError(
        f"{data.source} has no "
        + (f"dates to match: {why}" if why else "column of dates")
        + "; name the one to match with --dates, or those of the year and the month"
    )


def _positions(data: DataFile, option: str, terminal: Terminal) -> npt.NDArray[np.int64]:
    """Return the place in time of each row, in steps."""
    if data.dates is None:
        why = "" if isinstance(data, FieldFile) else data.why_no_dates()
        if why:
            raise ValueError(f"{data.source}: {why}; name the date of the rows with --dates")
        terminal.note(f"{option}: without dates, the rows count as consecutive")
        return np.arange(data.n_rows)
    return steps.time_steps(data.dates, data.source).positions
