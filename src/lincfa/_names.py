"""Names of features and of reduced features."""

from collections.abc import Sequence
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Names: TypeAlias = Sequence[Any] | npt.NDArray[np.object_]

_LISTED_IN_FULL = 3  # a longer group shows its first two members and its size


def describe_columns(names: Names | None, indices: Sequence[int], limit: int = 10) -> str:
    """Name columns in a message, the first ``limit`` of them; by position without names.

    Examples
    --------
    >>> describe_columns(["temperature", "rain"], [0])
    "column 'temperature'"
    >>> describe_columns(None, [3, 4, 5], limit=2)
    'columns 3, 4 and 1 more'
    """
    shown = [str(i) if names is None else repr(names[i]) for i in indices[:limit]]
    more = len(indices) - len(shown)
    noun = "column" if len(indices) == 1 else "columns"
    return f"{noun} {', '.join(shown)}" + (f" and {more} more" if more else "")


def reduced_names(names: Names, groups: Sequence[npt.NDArray[np.intp]]) -> npt.NDArray[np.object_]:
    """Name each reduced feature: its own name for a single feature, else ``mean(a, b, c)``.

    A name that is already taken gets a number behind it, so that all are different.

    Examples
    --------
    >>> groups = [np.array([0]), np.array([1, 2]), np.array([3, 4, 5, 6])]
    >>> reduced_names(list("abcdefg"), groups).tolist()
    ['a', 'mean(b, c)', 'mean(d, e, … 4 features)']
    """
    taken: set[str] = set()
    result = np.empty(len(groups), dtype=object)
    for position, group in enumerate(groups):
        plain = _group_name([str(names[i]) for i in group[:_LISTED_IN_FULL]], len(group))
        numbered = (f"{plain} #{k}" for k in count(2))
        name = plain
        while name in taken:
            name = next(numbered)
        taken.add(name)
        result[position] = name
    return result


def _group_name(first: Sequence[str], size: int) -> str:
    if size == 1:
        return first[0]
    if size <= _LISTED_IN_FULL:
        return f"mean({', '.join(first)})"
    return f"mean({', '.join(first[:2])}, … {size} features)"
