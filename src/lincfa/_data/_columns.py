"""The features of a table: what they are called, and which cells of a field they are."""

import numbers
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._checks import check_unique, column_names, is_pandas, stack_level
from ._names import (
    Names,
    default_names,
    describe_columns,
    did_you_mean,
    display_names,
    name_renamed,
)

if TYPE_CHECKING:  # a fit on a table loads nothing of fields
    from ._field import Field


@dataclass(frozen=True, eq=False)
class Columns:
    """What is known of the columns of X besides their values."""

    size: int
    names: Names | None = None  # as the user writes them, strings or not
    field: "Field | None" = None  # the cells that the columns are, where X is an xarray field

    @property
    def labels(self) -> Names:
        """Names to display: those of X, or ``x0``, ``x1``, … where it has none."""
        if self.names is None or all(isinstance(name, str) for name in self.names):
            return default_names(self.size) if self.names is None else self.names
        return display_names(self.names) or default_names(self.size)

    def describe(self, indices: Sequence[int]) -> str:
        return describe_columns(self.names, indices)

    def locate(self, column: Any) -> int:
        """Return the position of a column given by its name, or by the position itself."""
        # A name that is not a string, and ``x3`` of unnamed columns, may be given as displayed.
        if not isinstance(column, Hashable):
            raise ValueError(f"Give a column by its name or its position, not by {column!r}.")
        known: list[Any] = default_names(self.size) if self.names is None else list(self.names)
        check_unique(known)
        written = [str(name) for name in known]
        for candidates in (known, list[Any](written)):
            if column in candidates:
                return candidates.index(column)
        if isinstance(column, numbers.Integral) and not isinstance(column, bool):
            if 0 <= int(column) < self.size:
                return int(column)
            raise ValueError(f"There is no column {column}: X has {self.size}, counted from 0.")
        if self.names is None:
            raise ValueError(
                f"X has no column names; give the position of the column instead of {column!r}."
            )
        hint = did_you_mean(str(column), known)
        if all(isinstance(name, numbers.Real) for name in (column, *known)):
            close = sorted(known, key=lambda name: abs(name - column))[:2]
            hint = f"; did you mean {' or '.join(map(repr, close))}?"
        raise ValueError(f"X has no column {column!r}{hint or '.'}")


def columns_of(X: Any) -> Columns:
    names, shape = column_names(X), np.shape(X)
    return Columns(shape[1] if len(shape) == 2 else 0, names)


def keep_columns(estimator: Any, columns: Columns) -> None:
    """Set ``n_features_in_`` and, where all names are strings, ``feature_names_in_``."""
    names = columns.names
    estimator.n_features_in_ = columns.size
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)


def check_columns(estimator: Any, known: Columns, columns: Columns) -> None:
    """Raise unless some columns are those that an estimator was fitted to, in the same order."""
    # Names that are not strings may be written in another way: "900" for 900.0.
    old, new = (None if _are_positions(each.names) else each.names for each in (known, columns))
    who = type(estimator).__name__
    if old is not None and new is not None:
        strings = all(isinstance(name, str) for name in (*old, *new))
        _check_names(list(old), list(new), strings)
    elif new is not None and all(isinstance(name, str) for name in new):
        _warn(f"X has column names, but {who} was fitted to a table without: they are not compared")
    elif old is not None and known.field is None and display_names(old) is None:
        _warn(
            f"X has no column names, but {who} was fitted to columns with names: they are taken as "
            f"{describe_columns(old, range(len(old)), limit=3)}, in this order"
        )
    if columns.size != known.size:
        raise ValueError(
            "X must have the columns of the fit, in the same order: "
            f"X has {columns.size} features, but {who} is expecting {known.size} features as input."
        )


def _check_names(old: list[Any], new: list[Any], strings: bool) -> None:
    """Raise unless the names of columns are those of the fit."""
    before, now = (names if strings else [*map(_key, names)] for names in (old, new))
    if before == now:
        return
    problem = "The columns must be those of the fit, in the same order, but "
    known, given = set(before), set(now)
    lacking = [name for name, key in zip(old, before, strict=True) if key not in given]
    unknown = [name for name, key in zip(new, now, strict=True) if key not in known]
    if lacking:
        problem += f"X lacks {describe_columns(lacking, range(len(lacking)), limit=5)}"
        if unknown:
            problem += f" and has {describe_columns(unknown, range(len(unknown)), limit=5)} instead"
        raise ValueError(problem + (name_renamed(unknown, lacking) or "."))
    if unknown:
        problem += f"X has {describe_columns(unknown, range(len(unknown)), limit=5)} besides"
    else:
        place = next(k for k, pair in enumerate(zip(before, now, strict=True)) if len({*pair}) > 1)
        problem += f"column {place} is {new[place]} and was {old[place]}"
    selected = "; X[list(model.feature_names_in_)] selects them" if strings else ""
    raise ValueError(f"{problem}{selected}.")


def _key(name: Any) -> Any:
    """What names of the same column have in common, such as "900" and 900.0."""
    try:
        return float(name)
    except (TypeError, ValueError):
        return str(name)


def _warn(text: str) -> None:
    warnings.warn(f"{text}.", UserWarning, stacklevel=stack_level())


def check_by_name(values: Any, columns: Columns, what: str) -> None:
    """Raise for a Series whose index is neither the columns, in their order, nor positions."""
    if not is_pandas(values, "Series"):
        return
    index, labels = list(values.index), list(columns.labels)
    if index == list(range(len(index))) or index == labels:
        return
    lacking = next((name for name in labels if name not in values.index), None)
    if lacking is not None:
        raise ValueError(
            f"{what} is a Series whose index lacks column {lacking!r} of X"
            f"{did_you_mean(lacking, index) or '.'}"
        )
    raise ValueError(
        f"{what} is a Series whose index is not the columns of X, in their order; use "
        f"{what}.loc[X.columns], or {what}.to_numpy() if it is in order."
    )


def _are_positions(names: Names | None) -> bool:
    return names is not None and list(names) == list(range(len(names)))
