"""Dates of samples: from the index of a frame, or the coordinates of a field."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import is_field, is_pandas
from ._compute import computed

_TIMES = {"time", "year"}
"""Names of coordinates whose numbers are dates."""


@dataclass(frozen=True, eq=False)
class Dates:
    """The date of each sample: datetime64, dates of other calendars (cftime) or years."""

    name: Hashable  # None of an index without a name
    values: npt.NDArray[Any]

    @cached_property
    def ranks(self) -> npt.NDArray[np.intp]:
        """Place of each sample in time, from 0; samples of the same date share it."""
        what = "The index" if self.name is None else repr(self.name)
        # NaT and NaN alone differ from themselves.
        missing = np.flatnonzero(self.values != self.values)
        if missing.size:
            raise ValueError(
                f"{what} lacks the date of {missing.size} sample{'s' if missing.size > 1 else ''}, "
                f"first at row {missing[0]}: drop such samples first."
            )
        try:
            return np.unique(self.values, return_inverse=True)[1].astype(np.intp)
        except TypeError as error:
            raise ValueError(
                f"The dates of {what} have no order: they must be of one kind and one calendar."
            ) from error

    @cached_property
    def order(self) -> npt.NDArray[np.intp]:
        """Samples from the first date to the last; those of the same date as they come."""
        return np.argsort(self.ranks, kind="stable")

    def take(self, rows: Any) -> "Dates":
        """Take some samples, by their positions or a mask."""
        return Dates(self.name, self.values[rows])

    def texts(self, rows: Any) -> list[str]:
        """Return the dates of some samples in words."""
        from ._field import texts

        # Of dates of other calendars the time too is written.
        return [text.removesuffix(" 00:00:00") for text in texts(self.values[rows])]

    @property
    def span(self) -> str:
        """The first date and the last."""
        return " to ".join(self.texts(self.order[[0, -1]]))

    def check_unique(self, what: str) -> None:
        """Raise if several samples have the same date."""
        counts = np.bincount(self.ranks)
        if counts.max(initial=0) > 1:
            (date,) = self.texts([np.argmax(self.ranks == counts.argmax())])
            raise ValueError(
                f"{what} needs one sample for each date, but {date} has {counts.max()}."
            )


def read_dates(X: Any, y: Any, sample_dim: Hashable | None = None) -> Dates | None:
    """Return the dates of the samples of X, or else those of y; None if neither has any.

    ``sample_dim`` is the dimension of the samples of a field.
    """
    for container in (X, y):
        if is_field(container):
            found = _of_field(container, sample_dim)
        elif is_pandas(container, "DataFrame", "Series"):
            found = dates_of_index(container.index)
        else:
            found = None
        if found is not None:
            return found
    return None


def dates_of_groups(groups: Any) -> Dates:
    """Dates that are given as groups of samples."""
    values = np.asarray(computed(groups, "groups"))
    if values.ndim != 1:
        raise ValueError(f"groups must be the date of each sample, got shape {values.shape}.")
    return Dates("groups", values)


def _of_field(X: Any, sample_dim: Hashable | None) -> Dates | None:
    """Dates along a dimension of a field: its own coordinate, or else the only one with dates."""
    if sample_dim is None and X.dims:
        sample_dim = next(iter(X.dims))
    along = {name: X.coords[name] for name in X.coords if X.coords[name].dims == (sample_dim,)}
    # Only the index has the time zone. That of stacked dimensions has several levels.
    zoned = {name: index for name, index in X.indexes.items() if getattr(index, "tz", None)}
    found = {name: _as_dates(zoned.get(name, array)) for name, array in along.items()}
    dated = {name: values for name, values in found.items() if values is not None}
    if sample_dim in dated:
        return Dates(sample_dim, dated[sample_dim])
    if len(dated) == 1:
        ((name, values),) = dated.items()
        return Dates(name, values)
    own = along.get(sample_dim)
    if own is not None and is_time(sample_dim, own.attrs) and own.dtype.kind in "iuf":
        return Dates(sample_dim, own.values)
    return None


def dates_of_index(index: Any) -> Dates | None:
    """Dates of an index of pandas, of periods their start; of several levels, the only dates."""
    if is_pandas(index, "MultiIndex"):
        levels = map(dates_of_index, map(index.get_level_values, range(index.nlevels)))
        found = [dates for dates in levels if dates is not None]
        return found[0] if len(found) == 1 else None
    values = _as_dates(index.infer_objects())
    if values is not None:
        return Dates(index.name, values)
    if is_time(index.name, {}) and index.dtype.kind in "iuf":
        return Dates(index.name, index.to_numpy())
    return None


def _as_dates(given: Any) -> npt.NDArray[Any] | None:
    """Return an index or array as datetime64 or dates of another calendar; None if it is none."""
    if is_pandas(given, "PeriodIndex"):
        given = given.to_timestamp()
    if not is_pandas(given, "DatetimeIndex"):
        values = np.asarray(given)
        if not are_dates(values):
            return None
        if values.dtype.kind == "M" or hasattr(values.flat[0], "calendar"):
            return values
        from pandas import DatetimeIndex

        try:
            given = DatetimeIndex(values)
        except (TypeError, ValueError):  # dates and other things
            return None
    local: npt.NDArray[np.datetime64] = given.tz_localize(None).to_numpy()
    return local if given.tz is None else without_zone(local, given.tz_convert(None).to_numpy())


def without_zone(
    local: npt.NDArray[np.datetime64], utc: npt.NDArray[np.datetime64]
) -> npt.NDArray[np.datetime64]:
    """Choose local dates, whose days and months are meant; but UTC where there are hours."""
    # Local hours are left out in spring, and there twice in autumn.
    times = local[~np.isnat(local)]
    return local if np.unique(times - times.astype("M8[D]")).size < 2 else utc


def is_time(name: Hashable, attrs: Mapping[Any, Any]) -> bool:
    """Whether a dimension is time by its name, or by the conventions of CF."""
    by_convention = attrs.get("axis") == "T" or attrs.get("standard_name") == "time"
    return by_convention or str(name).lower() in _TIMES


def are_dates(values: npt.NDArray[Any]) -> bool:
    """Whether values are dates, of any calendar."""
    if values.dtype.kind != "O" or not values.size:
        return values.dtype.kind == "M"
    return hasattr(values.flat[0], "timetuple")
