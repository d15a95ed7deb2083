"""Samples in time, counted in steps: which are so many steps before or after others."""

from collections.abc import Hashable, Sequence
from math import gcd
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._dates import Dates
from ._field import LAG

Integers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

_DAY = 86_400_000_000
"""Microseconds of a day."""

_SAME_DAY = 3
"""By how many days of the month monthly dates may differ: middles and ends of months do."""

_MOST_NAMED = 6
"""Samples that are named of those that lack something."""

_GREGORIAN = {"standard", "gregorian", "proleptic_gregorian"}


class Steps(NamedTuple):
    """Dates in whole numbers of a unit, and the largest step of which all are multiples.

    The step of a single date is 0, of which everything is a multiple.
    """

    unit: str
    numbers: Integers
    step: int

    @property
    def positions(self) -> Integers:
        return np.asarray((self.numbers - self.numbers.min()) // (self.step or 1))

    @property
    def words(self) -> str:
        if not self.step:
            return "a single date"
        name, step = self.unit, self.step
        for larger, size in (("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 10**6)):
            if name.endswith("microsecond") and step % size == 0:
                name, step = name.replace("microsecond", larger), step // size
        return f"in steps of {step} {name}{'s' if step > 1 else ''}"


def time_steps(dates: Dates, what: str) -> Steps:
    """Count dates in years, months, days or microseconds, whichever they are regular in."""
    dates.check_unique(what)
    unit, numbers = _numbered(dates.values, what)
    apart = np.diff(np.sort(numbers))
    step = int(np.gcd.reduce(apart))
    # Years and months are steps that a calendar has; others are known by the dates alone.
    if unit not in ("year", "month") and apart.size and step != apart.min():
        first = int(np.flatnonzero(apart % apart.min())[0])
        near = dates.texts(dates.order[first : first + 2])
        raise ValueError(
            f"The dates of {what} have no regular step: from {near[0]} to {near[1]} is not a "
            "multiple of their shortest distance."
        )
    return Steps(unit, numbers, step)


def _numbered(values: npt.NDArray[Any], what: str) -> tuple[str, Integers]:
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.int64)
        if (numbers != values).any():
            raise ValueError(
                f"The times of {what} are not whole numbers, such as {values[numbers != values][0]}"
                ": convert them to dates, as xarray.decode_cf does."
            )
        return "year", numbers
    calendar = getattr(values.flat[0], "calendar", "standard")
    if calendar in _GREGORIAN:
        if values.dtype.kind == "O":
            values = np.array([value.isoformat() for value in values])
        moments = values.astype("datetime64[us]")
        starts = moments.astype("datetime64[M]")
        months = starts.astype(np.int64) + 12 * 1970
        days = (moments - starts).astype(np.int64) // _DAY
        numbers, calendar = moments.astype(np.int64), ""
    else:
        from cftime import date2num

        months = np.array([12 * value.year + value.month - 1 for value in values])
        days = np.array([value.day for value in values])
        start = "microseconds since 0001-01-01"
        numbers = np.asarray(date2num(values, start, calendar), dtype=np.int64)
        calendar = f"{calendar} "
    if np.unique(months).size == months.size and np.ptp(days) <= _SAME_DAY:
        return "month", months
    if np.ptp(numbers % _DAY) == 0:
        return f"{calendar}day", numbers // _DAY
    return f"{calendar}microsecond", numbers


def common_steps(
    ours: Dates, theirs: Dates, names: Sequence[str] = ("X", "y")
) -> tuple[Integers, Integers]:
    """Count the dates of X and y from the same start, in the same steps."""
    both = [time_steps(dates, name) for dates, name in zip((ours, theirs), names, strict=True)]
    if {one.unit for one in both} == {"year", "month"}:
        both = [
            Steps("year", one.numbers // 12, one.step // 12)
            if one.unit == "month" and one.step % 12 == 0
            else one
            for one in both
        ]
    X, y = both
    step = gcd(X.step, y.step) or 1
    start = X.numbers.min()
    if X.unit != y.unit or (start - y.numbers.min()) % step:
        first = [dates.texts(dates.order[:1])[0] for dates in (ours, theirs)]
        raise ValueError(
            f"The dates of {names[0]} and {names[1]} do not match: {names[0]} is {X.words} from "
            f"{first[0]}, and {names[1]} {y.words} from {first[1]}. Bring both to "
            "the same steps first."
        )
    return (X.numbers - start) // step, (y.numbers - start) // step


def rows_at(positions: Integers, wanted: Integers) -> Rows:
    """Rows at the positions wanted; −1 where there is none."""
    order = np.argsort(positions)
    near = np.searchsorted(positions, wanted, sorter=order).clip(max=positions.size - 1)
    return np.where(positions[order[near]] == wanted, order[near], -1)


def rows_at_lags(positions: Integers, lags: Sequence[int]) -> Rows:
    """Rows that are so many steps before each, a column for each lag; −1 where there is none."""
    return np.column_stack([rows_at(positions, positions - lag) for lag in lags])


def field_at_lags(field: Any, dim: Hashable, lags: Any, rows: Rows) -> Any:
    """Put the values of other rows along a dimension of lags; none where a row is −1."""
    import xarray as xr

    if LAG in field.dims or LAG in field.coords:
        raise ValueError(f"There is a dimension or coordinate {LAG!r} already: rename it first.")
    # Coordinates of the samples would get lags too.
    bare = field.drop_vars(coordinates_along(field, dim))
    named = (LAG, list(lags), {"long_name": "lag in steps"})
    positions = xr.DataArray(np.maximum(rows, 0), {LAG: named}, (dim, LAG))
    taken, there = bare.isel({dim: positions}), rows >= 0
    return taken if there.all() else taken.where(xr.DataArray(there, dims=(dim, LAG)))


def coordinates_along(field: Any, dim: Hashable) -> list[Hashable]:
    return [name for name, values in field.coords.items() if dim in values.dims]


# Words


def lags_in_words(lags: Sequence[int]) -> str:
    """Say what a sample may lack of its lags."""
    earlier = [str(lag) for lag in lags if lag > 0]
    return f"{'some of the lags' if len(earlier) > 1 else 'lag'} {', '.join(earlier)}"


def describe_missing(
    lacking: npt.NDArray[np.bool_], what: str, dates: Dates | None, first_row: int = 0
) -> str:
    """Say which samples lack something; nothing where none does."""
    count = int(lacking.sum())
    if not count:
        return ""
    lack = "lacks" if count == 1 else "lack"
    return f"{count} of {lacking.size} samples {lack} {what}: {named(lacking, dates, first_row)}"


def named(chosen: npt.NDArray[np.bool_], dates: Dates | None, first_row: int = 0) -> str:
    """Name some samples by their dates, or else by their rows, of which the first has a number."""
    rows = np.flatnonzero(chosen)
    names = [f"row {row + first_row}" for row in rows] if dates is None else dates.texts(rows)
    if len(names) > _MOST_NAMED:
        names[_MOST_NAMED - 1 : -1] = ["…"]
    return ", ".join(names)
