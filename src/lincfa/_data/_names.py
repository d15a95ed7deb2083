"""Names of features and of reduced features."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import count
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

Names: TypeAlias = Sequence[Any] | npt.NDArray[np.object_]

_LISTED_IN_FULL = 3  # a longer group shows its first two members and its size
_MOST_TO_GUESS = 20_000  # names among which to look for similar ones
_MOST_RENAMED = 20  # columns of which one may be another under a new name
_MINUS = "\N{MINUS SIGN}"
_LONGEST = 40  # characters of a member's name within the name of a group


def describe_columns(names: Names | None, indices: Sequence[int], limit: int = 10) -> str:
    """Name columns in a message, the first ``limit`` of them; by position without names."""
    shown = [str(i) if names is None else repr(names[i]) for i in indices[:limit]]
    more = len(indices) - len(shown)
    noun = "column" if len(indices) == 1 else "columns"
    return f"{noun} {', '.join(shown)}" + (f" and {more} more" if more else "")


def did_you_mean(wanted: Any, known: Iterable[Any], most: int = 3) -> str:
    """Name what a mistyped word may mean, ``; did you mean 'a'?``, or nothing if none is close."""
    if not isinstance(wanted, str):
        return ""
    names = {str(name): name for name in known}
    lower, bare = wanted.lower().strip(), _bare(wanted)
    close = [n for n in names if _bare(n) == bare or fnmatchcase(n.lower(), lower)][:most]
    if not close and len(names) <= _MOST_TO_GUESS:
        close = get_close_matches(wanted, names, n=most)
    return f"; did you mean {' or '.join(repr(names[n]) for n in close)}?" if close else ""


def _bare(name: str) -> str:
    return re.sub(r"[\s_]", "", name).lower()


def name_renamed(given: Sequence[Any], lacking: Sequence[Any]) -> str:
    """Name a column that may be a lacking one, ``; did you mean 'a 1' by 'a1'?``, or nothing."""
    for name in given[:_MOST_RENAMED]:
        if hint := did_you_mean(str(name), lacking, most=1):
            return f"{hint[:-1]} by {name!r}?"
    return ""


def display_names(names: Names | None) -> list[str] | None:
    """Return names that are not strings as strings; None for strings, and for mere positions."""
    if names is None or all(isinstance(name, str) for name in names):
        return None
    if all(not isinstance(name, tuple) and name == i for i, name in enumerate(names)):
        return None
    return [str(name) for name in names]


def shown(name: str, limit: int = 60) -> str:
    """Abbreviate a name for a table, and quote one that would be invisible."""
    plain = name and name.isprintable() and name == name.strip()
    text = name if plain else repr(name)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def default_names(n_features: int) -> list[str]:
    return [f"x{i}" for i in range(n_features)]


def with_sign(name: str, sign: int) -> str:
    """Put a minus sign before the name of a feature that is flipped."""
    return name if sign > 0 else f"{_MINUS}{name}"


def shifted_name(name: Any, shift: Literal["lag", "lead"], steps: int) -> str:
    """Name the values of a variable so many steps earlier or later: ``sst lag 1``."""
    return f"{name} {shift} {steps}"


def reduced_names(
    names: Names,
    groups: Sequence[npt.NDArray[np.intp]],
    signs: Sequence[int] | npt.NDArray[np.int8] | None = None,
    places: Sequence[str] | None = None,
) -> npt.NDArray[np.object_]:
    """Name each reduced feature: its own name for a single feature, else ``mean(a, −b, c)``.

    ``places`` are names of groups of cells, empty where a group is named by its members.
    """
    # All are different: a single feature keeps its name, and a group whose name is taken gets a
    # number behind it. Within the name of a group, long names are cut in the middle, and names that
    # could be misread (with commas, spaces at the ends, line breaks) are put in quotes.
    taken: dict[str, int] = {}
    result = np.empty(len(groups), dtype=object)
    singles_first = sorted(range(len(groups)), key=lambda number: len(groups[number]) > 1)
    for number in singles_first:
        place = places[number] if places else ""
        plain = name = place or group_name(names, groups[number], signs)
        if plain in taken:
            # Starting from the last number given keeps many equal names from costing a square.
            for k in count(taken[plain] + 1):
                name = f"{plain} #{k}"
                if name not in taken:
                    taken[plain] = k
                    break
        taken[name] = 1
        result[number] = name
    return result


def group_name(
    names: Names,
    group: npt.NDArray[np.intp],
    signs: Sequence[int] | npt.NDArray[np.int8] | None,
    noun: str = "features",
) -> str:
    """Return the name of a single feature, or ``mean(a, −b, … 17 features)``."""
    if len(group) == 1:
        return str(names[group[0]])
    rest = f", … {len(group)} {noun}" if len(group) > _LISTED_IN_FULL else ""
    return f"mean({first_members(names, group, signs)}{rest})"


def short_group_name(
    names: Names,
    group: npt.NDArray[np.intp],
    signs: Sequence[int] | npt.NDArray[np.int8] | None,
) -> str:
    """Return the name of a single feature, ``a, −b``, or ``a, −b + 15 more``."""
    if len(group) == 1:
        return str(names[group[0]])
    more = f" + {len(group) - 2} more" if len(group) > _LISTED_IN_FULL else ""
    return first_members(names, group, signs) + more


def first_members(
    names: Names,
    group: npt.NDArray[np.intp],
    signs: Sequence[int] | npt.NDArray[np.int8] | None,
) -> str:
    """List the members of a group, ``a, −b``; of more than three the first two."""
    few = group if len(group) <= _LISTED_IN_FULL else group[:2]
    return ", ".join(
        with_sign(_member_name(str(names[i])), 1 if signs is None else signs[i]) for i in few
    )


def cut_in_the_middle(name: str, limit: int) -> str:
    """Abbreviate a name whose end tells more than its middle."""
    half = limit // 2
    return name if len(name) <= limit else f"{name[: limit - half - 1]}…{name[-half:]}"


def _member_name(name: str) -> str:
    name = cut_in_the_middle(name, _LONGEST)
    plain = name and "," not in name and name == name.strip() and name.isprintable()
    return name if plain else repr(name)
