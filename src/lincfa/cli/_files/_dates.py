"""Dates of the rows of a table: which columns hold them, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from re import fullmatch
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars as pl

    from ..._data._dates import Dates

# 2000-01, 2000-1-15, 2000/01/15, 20000115 (and 200001), 2000-01-15T12:00, 2000-01-15 12:00:00.5Z;
# a year alone is too much like any number to be known as a date by itself.
_DAY = r"(\d{4})[-/.]?(\d{1,2})(?:[-/.]?(\d{1,2}))?"
_DATE = rf"^\s*{_DAY}(?:[T ](\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d+)?)?)Z?)?\s*$"
_EXAMPLES = "2000-01, 2000-01-15 or 2000-01-15T12:00"

# What a date may look like that cannot be read, such as 31.12.2000 or 2000-13.
_LIKE_A_DATE = r"\s*(\d{4}[-/]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}[-/.]\d{4})(\D.*)?"


def find_dates(
    schema: Mapping[str, Any], read: Callable[[str], pl.Series], named: Sequence[str], source: str
) -> Dates | None:
    """Return the dates of rows: of the columns named, or of the only one of dates in order."""
    from ..._data._dates import Dates

    if named:
        columns = [read(name) for name in named]
        return Dates(", ".join(named), _named_dates(columns, source))
    found, _ = _columns_of_dates(schema, read)
    return Dates(*next(iter(found.items()))) if len(found) == 1 else None


def why_no_dates(schema: Mapping[str, Any], read: Callable[[str], pl.Series]) -> str:
    """Say why columns that look like dates are not those of the rows; nothing if none does."""
    found, others = _columns_of_dates(schema, read)
    several = ", ".join(map(repr, found)) + " are several columns of dates" if found else ""
    return "; ".join(filter(None, [several, *others]))


def _columns_of_dates(
    schema: Mapping[str, Any], read: Callable[[str], pl.Series]
) -> tuple[dict[str, npt.NDArray[np.datetime64]], list[str]]:
    """Return the columns of dates in order, and why others that look like dates are none."""
    found, others = {}, []
    for name, dtype in schema.items():
        if not (dtype.is_temporal() or str(dtype) == "String"):
            continue
        column = read(name)
        values = _dates_of(column)
        if values is None:
            known = column.drop_nulls()
            like = len(known) and (
                str(dtype).startswith("Date") or fullmatch(_LIKE_A_DATE, str(known[0]))
            )
            if like and len(known) < len(column):
                others.append(f"{name!r} lacks some dates")
            elif like:
                others.append(
                    f"{name!r} has {_first_bad(column)}, and dates are such as {_EXAMPLES}"
                )
        elif _are_in_order(values):
            found[name] = values
        elif (values != values[0]).any():  # else, say, when the table was made
            others.append(f"{name!r} is not in order")
    return found, others


def _named_dates(columns: Sequence[pl.Series], source: str) -> npt.NDArray[Any]:
    """Return the dates in a column; or in several, such as of years and months."""
    import polars as pl

    listed = " and ".join(repr(column.name) for column in columns)
    if any(column.null_count() for column in columns):
        row = int(np.argmax(np.any([c.is_null().to_numpy() for c in columns], axis=0)))
        raise ValueError(
            f"{source}: the date in {listed} is missing in row {row + 1}; every row needs one"
        )
    first, *more = (_digits(column, source) for column in columns)
    if more:
        parts = [column.cast(pl.String).str.strip_chars() for column in (first, *more)]
        first = pl.DataFrame(parts).select(pl.concat_str(pl.all(), separator="-")).to_series()
    elif columns[0].dtype.is_numeric() and first.str.contains(r"^\d{4}$").all():
        first += "-01"
    values = _dates_of(first)
    if values is None:
        raise ValueError(
            f"{source}: dates in {listed} must be such as {_EXAMPLES}; the first that is not: "
            f"{_first_bad(first)}"
        )
    return values


def _digits(column: pl.Series, source: str) -> pl.Series:
    """Return whole numbers as text; raise for others, as 2000.1 may be October."""
    import polars as pl

    if not column.dtype.is_numeric():
        return column
    broken = column.filter(column % 1 != 0)
    if len(broken):
        raise ValueError(
            f"{source}: dates in {column.name!r} must be whole numbers, such as 200001, or "
            f"written as {_EXAMPLES}; the first that is not: {broken[0]}"
        )
    return column.cast(pl.Int64).cast(pl.String)


def _first_bad(column: pl.Series) -> str:
    import polars as pl

    texts: list[str] = column.cast(pl.String).to_list()
    return next(text for text in texts if _dates_of(pl.Series([text])) is None)


def _dates_of(column: pl.Series) -> npt.NDArray[np.datetime64] | None:
    """Return a column as dates; None if one is missing or is none."""
    import polars as pl

    if column.null_count() or not len(column):
        return None
    if isinstance(column.dtype, pl.Date | pl.Datetime):
        if getattr(column.dtype, "time_zone", None) is None:
            return column.to_numpy()
        from ..._data._dates import without_zone

        local, utc = column, column.dt.convert_time_zone("UTC")
        return without_zone(*(each.dt.replace_time_zone(None).to_numpy() for each in (local, utc)))
    if column.dtype != pl.String or fullmatch(_DATE, column[0]) is None:
        return None
    parts = column.str.extract_groups(_DATE).struct.unnest()
    year, month, day, time = parts.get_columns()
    if year.null_count():
        return None
    text = pl.DataFrame([year, month.str.zfill(2), day.fill_null("1").str.zfill(2)]).select(
        pl.concat_str(pl.all(), separator="-")
    )
    moments = text.to_series() + "T" + time.fill_null("00:00")
    try:
        return moments.to_numpy().astype("M8[us]")
    except ValueError:  # a thirteenth month
        return None


def _are_in_order(values: npt.NDArray[np.datetime64]) -> bool:
    """Whether dates never go back, or never forward; those of birth, say, are in no order."""
    steps = np.diff(values.astype(np.int64))
    return bool((steps >= 0).all() or (steps <= 0).all()) and bool(steps.any())
