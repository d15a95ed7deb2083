"""Samples in time: targets of another file, or of a later date, and features at lags."""

import argparse
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arguments as arguments
from ._files import DataFile, open_data
from ._files._fields import FieldFile
from ._files._tables import Indices, TableFile, take_rows
from ._select import select_targets
from ._terminal import Terminal

if TYPE_CHECKING:
    from .._data._field import Field

LAG = r"(.+) lag (\d+)"  # the name of a column at a lag


class Opened(NamedTuple):
    """Data, the names of the targets in them, and of the same at the dates of the features."""

    data: DataFile
    targets: list[str]
    unshifted: list[str]


def open_with_targets(options: argparse.Namespace, terminal: Terminal) -> Opened:
    """Open the data, with the target of another file or of a later date beside the features."""
    if options.target_file is None:
        data = arguments.open_options(options, targets=options.target)
        names = select_targets(data, options.target)
        if not options.lead:
            return Opened(data, names, [])
        from ._steps import rows_at_lead

        rows = rows_at_lead(data, options.lead, terminal)
        return Opened(*_beside(data, data, names, rows, options.lead), names)
    data = arguments.open_options(options)
    given = {"classes": options.classes, "codes": options.missing_code}
    other = open_data(options.target_file, targets=options.target, **given)
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
    from ._steps import matching_rows

    rows = matching_rows(data, other, options.lead, terminal)
    return Opened(*_beside(data, other, names, rows, options.lead), [])


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
    new = [f"{name} lead {lead}" if lead else name for name in names]
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
    data = _in_memory(data)
    chosen, empty = {*features}, {*data.empty}
    for each in data.variables:
        both = [name for name in kept if name in {*each.columns} - empty]
        if both and not chosen.isdisjoint(each.columns):
            raise ValueError(
                f"{data.source}: --lags takes variables as a whole, and --keep names "
                f"{both[0]!r} of {each.name!r}; --drop it, or keep {each.name!r}"
            )
    _check_new(data, (f"{name} lag {lag}" for lag in lags for name in features))
    from ._steps import rows_at_lags

    lagged = data.lagged(features, lags, rows_at_lags(data, lags, terminal))
    before = {*data.names}
    new = [name for name in lagged.numeric if name not in before]
    return lagged, new, [name for name in kept if name in lagged.schema]


def lag_as_fitted(data: DataFile, model: Any, terminal: Terminal) -> DataFile:
    """Give new data the lags that a model was fitted to, unless they have them already."""
    from ._steps import rows_at_lags

    field = model._columns.field
    if field is not None and isinstance(data, FieldFile):
        return _lag_field(data, field, terminal).as_fitted(model)
    names, known = [str(name) for name in model._columns.labels], {*data.names}
    found = [re.fullmatch(LAG, name) for name in names]
    pairs = [(match[1], int(match[2])) for match in found if match is not None]
    columns = [*dict.fromkeys(name for name, _ in pairs)]
    lags = [*dict.fromkeys(lag for _, lag in pairs)]
    lacking = not known.issuperset(names) and len(pairs) == len(names)
    if not lacking or not known.issuperset(columns):
        return data
    data.require_numeric(columns)
    data = _in_memory(data)
    return data.lagged(columns, lags, rows_at_lags(data, lags, terminal))


def _lag_field(data: FieldFile, field: "Field", terminal: Terminal) -> FieldFile:
    from .._data._field import LAG as DIMENSION
    from ._steps import rows_at_lags

    variables = [str(each.name) for each in field.variables if DIMENSION in each.dims]
    if not variables or any(DIMENSION in data.data[name].dims for name in variables):
        return data
    lags = [int(lag) for each in field.coordinates if each.name == DIMENSION for lag in each.values]
    gridded = {each.name: each.columns for each in data.variables}
    names = [column for name in variables for column in gridded.get(name, [name])]
    rows = rows_at_lags(_in_memory(data), lags, terminal)
    return data.with_lag_dimension(names, lags, rows)


def _in_memory(data: DataFile) -> TableFile | FieldFile:
    if data.in_chunks or not isinstance(data, TableFile | FieldFile):
        raise ValueError(f"{data.source}: lags are for data in memory, not in chunks")
    return data


def blocks_of_lags(features: Sequence[str]) -> list[int] | None:
    """Return the lag of each column of a table, which never mix; None without lags."""
    found = [re.fullmatch(LAG, name) for name in features]
    return [int(match[2]) for match in found if match is not None] if all(found) else None
