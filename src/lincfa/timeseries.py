"""Samples in time: folds of consecutive dates, features at lags, targets at a lead.

Dates are those of a pandas index or of the coordinates of an xarray field. Samples without dates
count as consecutive, in the order of their rows.
"""

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from ._data import _steps as steps
from ._data._checks import (
    check_in_memory,
    check_unique,
    is_dataset,
    is_field,
    is_frame,
    is_integer,
    is_pandas,
)
from ._data._dates import Dates, dates_of_groups, read_dates
from ._data._field import listed_dims
from ._data._names import shifted_name
from ._data._steps import Rows

__all__ = ["Aligned", "BlockKFold", "at_lead", "lagged"]

_MOST = 2**31 - 1
"""Steps, dates or blocks."""

# Folds


class BlockKFold(BaseCrossValidator):  # type: ignore[misc]
    """Folds of consecutive dates: each block is held out in turn.

    Neighbours in time resemble each other, so that a model scored on a month between two that it
    has seen looks better than it is. Here it is scored on whole periods that it has not seen.

    The dates are ``groups`` where these are given, or else those of X, or else those of y; without
    any, samples count as consecutive in the order of the rows. The rows may be in any order, and
    samples of the same date stay together.

    Parameters
    ----------
    n_splits : int, default=5
        Number of blocks, at least 2. All have the same number of dates, or one more.
    gap : int, default=0
        How many dates before and after the block that is held out are left out of the training
        part: as many as the memory of the series, or as :func:`at_lead` says.
    n_repeats : int, default=1
        How many times the dates are divided, each time with blocks that begin elsewhere. Then the
        first dates and the last may be one block. Scores of few samples depend on where the blocks
        happen to begin.

    Examples
    --------
    >>> from lincfa.timeseries import BlockKFold
    >>> for train, test in BlockKFold(3, gap=1).split(range(9)):
    ...     print(train, test)
    [4 5 6 7 8] [0 1 2]
    [0 1 7 8] [3 4 5]
    [0 1 2 3 4] [6 7 8]
    """

    # Where scikit-learn routes metadata, groups are passed on without further request.
    __metadata_request__split: ClassVar[dict[str, bool]] = {"groups": True}

    def __init__(self, n_splits: int = 5, *, gap: int = 0, n_repeats: int = 1) -> None:
        self.n_splits = n_splits
        self.gap = gap
        self.n_repeats = n_repeats

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds; X, y and groups are ignored."""
        return _whole("n_splits", self.n_splits, 2) * _whole("n_repeats", self.n_repeats, 1)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows to learn from and those held out, for each block from first to last.

        Parameters
        ----------
        X : array, data frame or field
            Of a field, the samples are along its first dimension.
        y : array, data frame or field, default=None
            Its dates count where X has none.
        groups : array of shape (n_samples,), default=None
            The date of each sample, or anything else that can be sorted.
        """
        n_folds, n_splits, gap = self.get_n_splits(), self.n_splits, _whole("gap", self.gap, 0)
        dates = read_dates(X, y) if groups is None else dates_of_groups(groups)
        n = _length(y if X is None else X)
        ranks = np.arange(n) if dates is None else dates.ranks
        if len(ranks) != n:
            raise ValueError(f"There are {len(ranks)} dates, but {n} samples.")
        n_dates = int(ranks.max(initial=-1)) + 1
        if n_dates < n_splits:
            what = ("sample" if dates is None else "distinct date") + "s" * (n_dates != 1)
            raise ValueError(
                f"BlockKFold(n_splits={n_splits}) needs at least as many dates as blocks, got "
                f"{n_dates} {what}: use fewer blocks, or another cv."
            )
        places = np.arange(n_dates)
        starts = [repeat * n_dates // n_folds for repeat in range(self.n_repeats)]
        divided = (np.array_split(np.roll(places, -start), n_splits) for start in starts)
        for block in chain.from_iterable(divided):
            held_out = np.isin(places, block)
            before = np.append(0, np.cumsum(held_out))  # how many before each date are held out
            low, high = np.maximum(places - gap, 0), np.minimum(places + gap + 1, n_dates)
            near = before[high] > before[low]
            train = np.flatnonzero(~near[ranks])
            if not train.size:
                raise ValueError(
                    f"With gap={gap}, no samples are left to learn from where a block of "
                    f"{block.size} of {n_dates} dates is held out: use a smaller gap, or more "
                    "blocks."
                )
            yield train, np.flatnonzero(held_out[ranks])


# Lags and lead


def lagged(X: Any, lags: int | Sequence[int], dim: Hashable = "time") -> Any:
    """Put the values of earlier samples beside those of each sample.

    The value at lag k is that of k steps before. Where the samples have dates, these decide: the
    step is inferred (years, quarters, months, days, …), so that a missing month is never bridged.
    Samples that do not have all lags are dropped.

    Pass lags as blocks, so that no group mixes them: of a field with a dimension ``lag`` they are
    blocks by themselves, and for a table there is ``blocks=np.repeat(lags, n_columns)``.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), Series or field
        The dates are in the index of pandas, or in the coordinates of the field; others have none,
        and the rows are consecutive. A field in chunks stays lazy.
    lags : int or sequence of int
        Lags in steps, from 0, which is the sample itself. A single number adds no dimension and
        leaves the names as they are.
    dim : hashable, default="time"
        Dimension of the samples of a field.

    Returns
    -------
    array, data frame or field
        The samples with all lags, in the order of X. Columns are lag by lag, in a data frame named
        ``x lag 1``; a field has a new dimension ``lag`` after that of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from lincfa.timeseries import lagged
    >>> lagged(np.array([[1, 10], [2, 20], [3, 30], [4, 40]]), [0, 2])
    array([[ 3, 30,  1, 10],
           [ 4, 40,  2, 20]])

    March is missing, and so April has no month before:

    >>> import pandas as pd
    >>> months = pd.to_datetime(["2001-01", "2001-02", "2001-04", "2001-05"])
    >>> lagged(pd.DataFrame({"rain": [1, 2, 4, 5]}, months), [0, 1])
                rain lag 0  rain lag 1
    2001-02-01           2           1
    2001-05-01           5           4
    """
    wanted = _checked_lags(lags)
    X, dates = _opened("X", X, dim)
    positions = (
        np.arange(_length(X, dim)) if dates is None else steps.time_steps(dates, "X").positions
    )
    rows = steps.rows_at_lags(positions, wanted)
    kept = np.flatnonzero((rows >= 0).all(axis=1))
    if not kept.size:
        raise ValueError(f"No sample of X has all lags, {wanted}{_span('X', dates)}.")
    features = _at_lags(X, rows[kept], wanted if np.iterable(lags) else None, dim)
    return _labelled(features, X, X, dates, kept, dim)


class Aligned(NamedTuple):
    """Features and a target that belong together, from :func:`at_lead`.

    Examples
    --------
    >>> import pandas as pd
    >>> from lincfa.timeseries import at_lead
    >>> months = pd.date_range("2000-01", periods=5, freq="MS")
    >>> X = pd.DataFrame({"sst": range(5)}, months)
    >>> aligned = at_lead(X, pd.Series(range(5), months, name="rain"), lead=2)
    >>> len(aligned.X), aligned.y.name, aligned.gap
    (3, 'rain lead 2', 2)
    >>> print(aligned.dropped)
    2 of 5 samples lack a target at lead 2: 2000-04-01, 2000-05-01.
    """

    X: Any
    """Features, with their lags."""
    y: Any
    """The target at the lead, with the dates of X; its name then ends in, say, ``lead 3``."""
    dropped: str
    """Which samples of X were dropped and why, a sentence a line; empty if none were."""
    gap: int
    """What :class:`BlockKFold` needs so that held-out targets and lags overlap no others."""


def at_lead(
    X: Any, y: Any, lead: int, lags: int | Sequence[int] = 0, dim: Hashable = "time"
) -> Aligned:
    """Align features at a date with the target some steps later.

    Where X and y have dates, these decide, in whatever containers and calendars: both are counted
    in the same steps (years, quarters, months, days, …), so that the middle of a month matches
    its first day. Where only one has dates, rows belong together, and its dates hold for both.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), Series or field
        Features, see :func:`lagged`.
    y : array, Series, data frame or field
        The target, or several. Missing values are kept.
    lead : int
        Steps from the date of X to that of y, from 0.
    lags : int or sequence of int, default=0
        Lags of X, see :func:`lagged`.
    dim : hashable, default="time"
        Dimension of the samples of fields.

    Returns
    -------
    Aligned
        ``X`` and ``y`` for a fit, both with the dates of X; ``dropped``, which samples of X were
        dropped and why; ``gap`` for :class:`BlockKFold`, the lead and the largest lag together.

    Examples
    --------
    >>> import pandas as pd
    >>> from lincfa.timeseries import at_lead
    >>> months = pd.date_range("2001-01", periods=6, freq="MS", unit="s")
    >>> X = pd.DataFrame({"sst": range(6)}, months)
    >>> X, y, dropped, gap = at_lead(X, X["sst"] * 10, lead=2, lags=[0, 1])
    >>> X.join(y)
                sst lag 0  sst lag 1  sst lead 2
    2001-02-01          1          0          30
    2001-03-01          2          1          40
    2001-04-01          3          2          50
    >>> print(dropped)
    1 of 6 samples lacks lag 1: 2001-01-01.
    2 of 6 samples lack a target at lead 2: 2001-05-01, 2001-06-01.
    >>> gap
    3
    """
    wanted, lead = _checked_lags(lags), _whole("lead", lead, 0)
    X, dates = _opened("X", X, dim)
    y, dates_of_y = _opened("y", y, dim)
    source, own = (y, dates_of_y) if dates is None else (X, dates)
    if dates is not None and dates_of_y is not None:
        ours, theirs = steps.common_steps(dates, dates_of_y)
    elif (n := _length(X, dim)) != (found := _length(y, dim)):
        raise ValueError(
            f"X has {n} samples and y has {found}: unless both have dates, they must have the same "
            "number, row by row."
        )
    else:
        what = "y" if dates is None else "X"
        ours = theirs = np.arange(n) if own is None else steps.time_steps(own, what).positions
    rows, target = steps.rows_at_lags(ours, wanted), steps.rows_at(theirs, ours + lead)
    without_lags = rows.min(axis=1) < 0
    kept = np.flatnonzero(~without_lags & (target >= 0))
    if not kept.size:
        raise ValueError(
            f"No sample of X has all lags, {wanted}, and a target at lead {lead}"
            f"{_span('X', dates)}{_span('y', dates_of_y)}."
        )
    dropped = [
        steps.describe_missing(without_lags, steps.lags_in_words(wanted), own),
        steps.describe_missing(target < 0, f"a target at lead {lead}", own),
    ]
    features = _at_lags(X, rows[kept], wanted if np.iterable(lags) else None, dim)
    later = _taken(y, target[kept], dim)
    later = _renamed(later, "lead", lead) if lead else later
    return Aligned(
        _labelled(features, X, source, own, kept, dim),
        _labelled(later, y, source, own, kept, dim),
        "\n".join(f"{each}." for each in dropped if each),
        lead + max(wanted),
    )


# Containers


def _opened(what: str, given: Any, dim: Hashable) -> tuple[Any, Dates | None]:
    """Return a container of which rows can be taken, and its dates."""
    if is_field(given):
        if dim not in given.dims:
            raise ValueError(
                f"{what} has no dimension {dim!r}, that of the samples (dim); its dimensions are: "
                f"{listed_dims(given)}."
            )
    else:
        check_in_memory(given)
        given = given if hasattr(given, "shape") else np.asarray(given)
        if what == "X" and is_pandas(given, "Series"):
            given = given.to_frame("x" if given.name is None else given.name)
        if what == "X" and len(given.shape) != 2:
            raise ValueError(
                f"X must have two dimensions, samples and features, got {len(given.shape)}: for a "
                "single feature use X.reshape(-1, 1)."
            )
    if not _length(given, dim):
        raise ValueError(f"{what} has no samples.")
    return given, read_dates(given, None, dim)


def _length(given: Any, dim: Hashable | None = None) -> int:
    """Return the number of samples, of a field along its first dimension unless it is given."""
    if is_field(given):
        return int(given.sizes[next(iter(given.dims)) if dim is None else dim])
    return given.shape[0] if hasattr(given, "shape") else len(given)


def _taken(given: Any, rows: Rows, dim: Hashable) -> Any:
    """Take rows of a container; those of a field lose their coordinates."""
    if is_field(given):
        return given.drop_vars(steps.coordinates_along(given, dim)).isel({dim: rows})
    return given.iloc[rows] if is_pandas(given, "DataFrame", "Series") else given[rows]


def _at_lags(X: Any, rows: Rows, lags: Sequence[int] | None, dim: Hashable) -> Any:
    """Take rows of X, one column of them per lag; without ``lags`` the only one, under its name."""
    if lags is None:
        return _taken(X, rows[:, 0], dim)
    if is_field(X):
        return steps.field_at_lags(X, dim, lags, rows)
    parts = [_taken(X, at_lag, dim) for at_lag in rows.T]
    if not is_frame(X):
        return np.concatenate(parts, axis=1)
    check_unique([str(name) for name in X.columns])
    parts = [_renamed(part, "lag", lag) for part, lag in zip(parts, lags, strict=True)]
    if is_pandas(X, "DataFrame"):
        import pandas as pd

        # Rows belong together by their position, but pandas would align them by their labels.
        return pd.concat([part.reset_index(drop=True) for part in parts], axis=1)
    import polars as pl

    return pl.concat(parts, how="horizontal")


def _renamed(given: Any, shift: Literal["lag", "lead"], count: int) -> Any:
    """Name columns or variables, or what has a single name, as being so many steps away."""

    def new(name: Any) -> str:
        return shifted_name(name, shift, count)

    if is_pandas(given, "DataFrame"):
        return given.rename(columns=new, level=-1)
    if is_frame(given):
        return given.rename(new)
    if is_dataset(given):
        return given.rename({name: new(name) for name in given.data_vars})
    name = getattr(given, "name", None)
    return given if name in (None, "") else given.rename(new(name))


def _labelled(
    taken: Any, own: Any, source: Any, dates: Dates | None, kept: Rows, dim: Hashable
) -> Any:
    """Give what was taken the dates of the samples kept, as X has them or else y: the source.

    Without dates, it has the labels of its own samples in these rows.
    """
    if dates is None:
        source = own
    if is_pandas(taken, "DataFrame", "Series"):
        if is_pandas(source, "DataFrame", "Series"):
            return taken.set_axis(source.index[kept], axis=0)
        import pandas as pd

        assert dates is not None
        return taken.set_axis(pd.Index(dates.values[kept], name=dates.name), axis=0)
    if is_field(taken):
        if is_field(source):
            labels = source.coords.to_dataset()[steps.coordinates_along(source, dim)]
            # There are none along some dimensions.
            return taken.assign_coords(labels.isel({dim: kept}, missing_dims="ignore").coords)
        assert dates is not None
        return taken.assign_coords({dim: (dim, dates.values[kept])})
    return taken


# Parameters, and words


def _whole(name: str, value: Any, least: int) -> int:
    if is_integer(value, least) and value <= _MOST:
        return int(value)
    raise ValueError(f"{name} must be an integer from {least} to {_MOST}, got {value!r}")


def _checked_lags(lags: Any) -> list[int]:
    wanted = list(lags) if np.iterable(lags) and not isinstance(lags, str) else [lags]
    if not all(is_integer(lag, 0) and lag <= _MOST for lag in wanted):
        raise ValueError(
            f"lags must be integers from 0 to {_MOST}, steps back in time, got {lags!r}; a target "
            "in the future has a lead, see at_lead."
        )
    if not wanted or len(set(wanted)) < len(wanted):
        raise ValueError(f"lags must be different integers, at least one, got {lags!r}")
    return [int(lag) for lag in wanted]


def _span(what: str, dates: Dates | None) -> str:
    return "" if dates is None else f"; the dates of {what} run from {dates.span}"
