"""Columns of the user's tables by name, and tables made for the user."""

import numbers
from collections.abc import Hashable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import numpy as np

from ._input import check_unique, column_names
from ._names import Names, default_names, display_names


def locate_column(X: Any, column: Any, names: Names | None = None) -> int:
    """Give the position of a column by its name, or by the position itself.

    The names are those of X, or others that are given.

    A name that is no string, and ``x3`` of columns without names, may also be written as shown.
    """
    if not isinstance(column, Hashable):
        raise ValueError(f"A column is given by its name or its position, not by {column!r}.")
    names = column_names(X) if names is None else names
    if names is not None:
        check_unique(list(names))
    shape = np.shape(X)
    width = shape[1] if len(shape) == 2 else 0
    known: list[Any] = default_names(width) if names is None else list(names)
    written = [str(name) for name in known]
    for candidates in (known, list[Any](written)):
        if column in candidates:
            return candidates.index(column)
    if isinstance(column, numbers.Integral) and not isinstance(column, bool):
        if 0 <= int(column) < width:
            return int(column)
        raise ValueError(f"There is no column {column}: X has {width}, counted from 0.")
    if names is None:
        raise ValueError(
            f"X has no column names; give the position of the column instead of {column!r}."
        )
    close = [known[written.index(name)] for name in get_close_matches(str(column), written, n=3)]
    if all(isinstance(name, numbers.Real) for name in (column, *known)):
        close = sorted(known, key=lambda name: abs(name - column))[:2]
    hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else "."
    raise ValueError(f"X has no column {column!r}{hint}")


def column_label(X: Any, place: int, names: Names | None = None) -> str:
    """Name a column for a reader; ``x3`` where the columns have no names."""
    names = column_names(X) if names is None else names
    named = names is not None and (isinstance(names[place], str) or display_names(names))
    return str(names[place]) if names is not None and named else default_names(place + 1)[place]


def take_columns_of(X: Any, positions: list[int]) -> Any:
    """Take some columns of an array or data frame, as what it is."""
    if hasattr(X, "iloc"):
        return X.iloc[:, positions]
    return X[:, positions] if hasattr(X, "shape") else np.asarray(X)[:, positions]


def frame_of(columns: dict[str, Any], library: str) -> Any:
    """Make a data frame of pandas or polars."""
    if library not in ("pandas", "polars"):
        raise ValueError(f"library must be 'pandas' or 'polars', got {library!r}")
    try:
        module = import_module(library)
    except ImportError as error:
        raise ImportError(
            f"A {library} data frame needs {library}: pip install 'lincfa[tables]'"
        ) from error
    return module.DataFrame(columns)
