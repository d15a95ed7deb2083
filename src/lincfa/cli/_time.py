"""Samples in time: targets of another file, or of a later date, and features at lags."""

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data import _steps as steps
from .._data._dates import Dates
from .._data._field import LAG
from .._data._names import shifted_name
from . import _arguments as arguments
from ._files import DataFile, open_data
from ._files._fields import TIME_UNITS, FieldFile
from ._files._tables import Indices, TableFile, take_rows
from ._select import select_targets
from ._terminal import Terminal

if TYPE_CHECKING:
    from .._data._field import Field

LAGGED = r"(.+) lag (\d+)"  # what shifted_name makes of a column at a lag


# Targets


def open_with_targets(
    options: argparse.Namespace, terminal: Terminal
) -> tuple[DataFile, list[str], list[str]]:
    """Open the data, with the target of another file or of a later date beside the features.

    Returns also the names of the targets, and of those that the data have at their own dates too.
    """
    lead = options.lead
    if options.target_file is None:
        data = arguments.open_options(options, terminal, targets=options.target)
        names = select_targets(data, options.target)
        if not lead:
            return data, names, []
        return *_beside(data, data, names, _rows_at_lead(data, lead, terminal), lead), names
    data = arguments.open_options(options, terminal)
    other = open_data(
        options.target_file,
        arguments.format_given(options, options.target_file),
        targets=options.target,
        classes=options.classes,
        codes=options.missing_code,
    )
    terminal.note_all(other.notes)
    data, other = (_with_date_columns(each, options.dates) for each in (data, other))
    if options.dates and not data.date_columns and not other.date_columns:
        raise ValueError(
            f"neither {data.source} nor {other.source} is a table with the columns that --dates "
            f"names: {', '.join(options.dates)}"
        )
    names = select_targets(other, options.target)
    for name in sorted({*names} & {*data.names}):
        raise ValueError(
            f"{data.source} and {other.source} both have a column {name!r}; leave out "
            "--target-file, or rename one of the two"
        )
    return *_beside(data, other, names, _matching_rows(data, other, lead, terminal), lead), []


def _with_date_columns(data: DataFile, columns: Sequence[str]) -> DataFile:
    """Let columns be the dates of a table that has them."""
    if isinstance(data, TableFile) and {*columns} <= {*data.names}:
        return replace(data, date_columns=tuple(columns))
    return data


def _beside(
    data: DataFile, other: DataFile, names: Sequence[str], rows: Indices, lead: int
) -> tuple[DataFile, list[str]]:
    """Add columns of another file, or of later rows of the same; return also their names there."""
    data = _in_memory(data)
    new = [shifted_name(name, "lead", lead) if lead else name for name in names]
    _check_new(data, new)
    columns = [
        take_rows(other._column(name), rows).alias(alias)
        for name, alias in zip(names, new, strict=True)
    ]
    data = data.with_columns(columns)
    if isinstance(data, FieldFile) and isinstance(other, FieldFile):
        for name, alias in zip(names, new, strict=True):
            data.data[alias].attrs.update(other.data[name].attrs)
    return data, new


def _rows_at_lead(data: DataFile, lead: int, terminal: Terminal) -> Indices:
    """Return the row that is so many steps later than each row; −1 for none."""
    positions = _positions(data, terminal)
    rows = steps.rows_at(positions, positions + lead)
    if (rows < 0).all():
        raise ValueError(
            f"{data.source}: none of {rows.size} samples has a target {_later(lead)}; use a "
            "smaller --lead"
        )
    return rows


def _matching_rows(data: DataFile, other: DataFile, lead: int, terminal: Terminal) -> Indices:
    """Return the row of another file that has the date of each row, or one so much later."""
    ours, theirs = (_required_dates(each) for each in (data, other))
    own, others = steps.common_steps(ours, theirs, (data.source, other.source))
    rows = steps.rows_at(others, own + lead)
    found = int((rows >= 0).sum())
    target = f"a target {_later(lead)}" if lead else "a target"
    if not found:
        raise ValueError(
            f"no date of {data.source} ({ours.span}) has {target} in {other.source} ({theirs.span})"
        )
    known = f"{found} of" if found < rows.size else "all"
    unused = others.size - found
    are = "is" if unused == 1 else "are"
    terminal.note(
        f"{known} {rows.size} dates of {data.source} have {target} in {other.source}"
        + (f", not {steps.named(rows < 0, ours)}" if found < rows.size else "")
        + (f"; {unused} of its {others.size} dates {are} not used" if unused else "")
    )
    return rows


def _later(lead: int) -> str:
    return f"{lead} {'step' if lead == 1 else 'steps'} later"


def _required_dates(data: DataFile) -> Dates:
    if data.dates is not None:
        return data.dates
    if isinstance(data, FieldFile):
        raise ValueError(
            f"{data.source}: {data.sample_dim!r} has no dates to match those of another file; its "
            f"coordinate needs units such as {TIME_UNITS!r}"
        )
    why = data.why_no_dates()
    raise ValueError(
        f"{data.source} has no "
        + (f"dates to match: {why}" if why else "column of dates")
        + "; name the one to match with --dates, or those of the year and the month"
    )


def _positions(data: DataFile, terminal: Terminal) -> npt.NDArray[np.int64]:
    """Return the place in time of each row, in steps."""
    if data.dates is None:
        why = "" if isinstance(data, FieldFile) else data.why_no_dates()
        if why:
            raise ValueError(f"{data.source}: {why}; name the date of the rows with --dates")
        terminal.note("without dates, the rows count as consecutive")
        return np.arange(data.n_rows)
    return steps.time_steps(data.dates, data.source).positions


def _check_new(data: DataFile, names: Iterable[str]) -> None:
    for name in names:
        if name in data.schema:
            raise ValueError(f"{data.source} has a column {name!r} already; rename it first")


# Lags


def with_lags(
    data: DataFile,
    features: list[str],
    kept: list[str],
    options: argparse.Namespace,
    terminal: Terminal,
) -> tuple[DataFile, list[str], list[str]]:
    """Replace features by their values at lags; return also their names, and what is kept."""
    lags = options.lags
    if lags in ([], [0]):
        return data, features, kept
    data, empty = _in_memory(data), {*data.empty}
    for each in data.gridded(features):
        cells = {*each.columns} - empty
        both = [name for name in kept if name in cells]
        if both:
            raise ValueError(
                f"{data.source}: --lags takes variables as a whole, and --keep names "
                f"{both[0]!r} of {each.name!r}; --drop it, or keep {each.name!r}"
            )
    _check_new(data, (shifted_name(name, "lag", lag) for lag in lags for name in features))
    lagged = data.lagged(features, lags, _rows_at_lags(data, lags, terminal))
    before = {*data.names}
    new = [name for name in lagged.numeric if name not in before]
    return lagged, new, [name for name in kept if name in lagged.schema]


def lag_as_fitted(data: DataFile, model: Any, terminal: Terminal) -> DataFile:
    """Give new data the lags that a model was fitted to, unless they have them already."""
    field = model._columns.field
    if field is not None and isinstance(data, FieldFile):
        return _lag_field(data, field, terminal).as_fitted(field)
    names, known = [str(name) for name in model._columns.labels], {*data.names}
    found = [re.fullmatch(LAGGED, name) for name in names]
    pairs = [(match[1], int(match[2])) for match in found if match is not None]
    columns = [*dict.fromkeys(name for name, _ in pairs)]
    lags = [*dict.fromkeys(lag for _, lag in pairs)]
    lacking = not known.issuperset(names) and len(pairs) == len(names)
    if not lacking or not known.issuperset(columns):
        return data
    data.require_numeric(columns)
    data = _in_memory(data)
    return data.lagged(columns, lags, _rows_at_lags(data, lags, terminal))


def _lag_field(data: FieldFile, field: "Field", terminal: Terminal) -> FieldFile:
    variables = [str(each.name) for each in field.variables if LAG in each.dims]
    if not variables or any(LAG in data.data[name].dims for name in variables):
        return data
    lags = [int(lag) for each in field.coordinates if each.name == LAG for lag in each.values]
    gridded = {each.name: each.columns for each in data.variables}
    names = [column for name in variables for column in gridded.get(name, [name])]
    rows = _rows_at_lags(_in_memory(data), lags, terminal)
    return data.with_lag_dimension(names, lags, rows)


def _rows_at_lags(data: DataFile, lags: Sequence[int], terminal: Terminal) -> Indices:
    """Return the row of each row at each lag, −1 for none; say which rows do not have all."""
    rows = steps.rows_at_lags(_positions(data, terminal), lags)
    without = rows.min(axis=1) < 0
    listed = ", ".join(map(str, lags))
    if without.all():
        raise ValueError(
            f"{data.source}: none of {len(rows)} samples has all lags, {listed}; use smaller ones"
        )
    if without.any():
        what = steps.lags_in_words(lags)
        lacking = steps.describe_missing(without, what, data.dates, first_row=1)
        terminal.note(f"left out: {lacking}")
    return rows


def _in_memory(data: DataFile) -> TableFile | FieldFile:
    if data.in_chunks or not isinstance(data, TableFile | FieldFile):
        raise ValueError(f"{data.source}: lags are for data in memory, not in chunks")
    return data


def blocks_of_lags(features: Sequence[str]) -> list[int] | None:
    """Return the lag of each column of a table, which never mix; None without lags."""
    found = [re.fullmatch(LAGGED, name) for name in features]
    return [int(match[2]) for match in found if match is not None] if all(found) else None
