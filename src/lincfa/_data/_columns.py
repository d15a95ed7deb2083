"""The features of a table: what they are called, and which cells of a field they are."""

import numbers
import warnings
from collections.abc import Hashable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from ._checks import check_unique, column_names
from ._names import Names, default_names, describe_columns, display_names, same_name

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
        close = [known[written.index(name)] for name in get_close_matches(str(column), written)]
        if all(isinstance(name, numbers.Real) for name in (column, *known)):
            close = sorted(known, key=lambda name: abs(name - column))[:2]
        hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "."
        raise ValueError(f"X has no column {column!r}{hint}")


def columns_of(X: Any) -> Columns:
    names, shape = column_names(X), np.shape(X)
    return Columns(shape[1] if len(shape) == 2 else 0, names)


def keep_columns(estimator: Any, columns: Columns) -> None:
    """Set ``n_features_in_`` and, where all names are strings, ``feature_names_in_``."""
    names = columns.names
    estimator.n_features_in_ = columns.size
    if names is not None and all(isinstance(name, str) for name in names):
        estimator.feature_names_in_ = np.array(names, dtype=object)


def check_columns(estimator: Any, known: Columns, X: Any, names: Names | None) -> None:
    """Raise unless the columns of X are those that an estimator was fitted to."""
    # scikit-learn compares strings with strings. It ignores other names, such as wavelengths, and
    # the cells of a field, and would warn that there are no names.
    old, new = (None if _are_positions(one) else one for one in (known.names, names))
    strings = hasattr(estimator, "feature_names_in_") and display_names(new) is None
    quiet = known.field is not None and new is None
    if not (old is None or new is None or strings):
        quiet = True
        for place, (before, now) in enumerate(zip(old, new, strict=False)):
            if not same_name(before, now):
                raise ValueError(
                    "The columns must be those of the fit, in the same order, but column "
                    f"{place} is {now} and was {before}."
                )
    with warnings.catch_warnings() if quiet else nullcontext():
        if quiet:
            names_of_x = "X (has|does not have valid) feature names, but"
            warnings.filterwarnings("ignore", message=names_of_x)
        validate_data(estimator, X, reset=False, skip_check_array=True)


def _are_positions(names: Names | None) -> bool:
    return names is not None and list(names) == list(range(len(names)))
