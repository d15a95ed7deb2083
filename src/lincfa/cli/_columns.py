"""Which columns of a table are features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from re import fullmatch
from typing import Any, Protocol

from .._names import describe_columns
from ._talk import Talk

_REMARKS = 5
_MOST_TO_GUESS = 20_000
_INDEX = r"|Unnamed: \d+|__index_level_\d+__"
"""Names under which pandas writes the labels of rows."""


class Columns(Protocol):
    """A table, as far as the roles of its columns depend on it."""

    @property
    def source(self) -> str:
        """The name of the table."""

    @property
    def names(self) -> list[str]:
        """The names of all columns."""

    @property
    def remarks(self) -> dict[str, str]:
        """What there is to say on single columns."""

    def numeric(self) -> list[str]:
        """Name the columns that are numbers, and have at least one value."""

    def empty(self) -> list[str]:
        """Name the columns with no value at all."""

    def first(self, name: str) -> Any:
        """Give the first value of a column, if it is known."""


@dataclass(frozen=True)
class Roles:
    """What each column of a table is for.

    Attributes
    ----------
    features : list of str
        Columns to reduce.
    passed : list of str
        Columns to write as they are, in the order of the table; the target is one of them.
    """

    features: list[str]
    passed: list[str]


def meant(names: Sequence[str], each: str) -> list[str]:
    """Give the column called so; where there is none, those that match it as a pattern."""
    return [each] if each in names else [name for name in names if fnmatchcase(name, each)]


def find_columns(
    names: Sequence[str], wanted: Sequence[str], source: str, *, patterns: bool = True
) -> list[str]:
    """Give the columns called so, or matching such patterns; refuse what means none."""
    found: dict[str, None] = {}
    known = set(names)
    for each in wanted:
        matches = [each] if each in known else meant(names, each) if patterns else []
        if not matches:
            raise ValueError(f"{source} has no column {each!r}{_hint(names, each)}")
        found.update(dict.fromkeys(matches))
    return list(found)


def _hint(names: Sequence[str], wanted: str) -> str:
    """Say which columns may have been meant."""
    if len(names) == 1:
        return f"; it has one column, {names[0]!r}: is it separated by something else?"
    close = [name for name in names if name.strip().lower() == wanted.strip().lower()]
    if not close and len(names) <= _MOST_TO_GUESS:
        close = get_close_matches(wanted, names, n=3)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def assign_roles(
    table: Columns,
    target: str,
    drop: Sequence[str],
    keep: Sequence[str],
    talk: Talk | None,
    *,
    fate: str = "passed on untouched",
) -> Roles:
    """Say what each column is for, and note which are no features though nobody said so.

    ``fate`` is what becomes of such a column. Without ``talk`` nothing is noted.
    """
    names = table.names
    find_columns(names, [target], table.source, patterns=False)
    dropped = set(find_columns(names, drop, table.source))
    kept = set(find_columns(names, keep, table.source))
    for name in sorted(dropped & {target, *kept}):
        role = "the target" if name == target else "to be kept"
        raise ValueError(f"column {name!r} is {role} and cannot be dropped")
    numeric, empty = set(table.numeric()), set(table.empty())
    spoken_for = {target, *dropped, *kept}
    labels = [name for name in names if name not in spoken_for and fullmatch(_INDEX, name)]
    spoken_for |= set(labels)
    others = [name for name in names if name not in spoken_for]
    without = [name for name in others if name in empty]
    features = [name for name in others if name in numeric]
    text = [name for name in others if name not in empty and name not in numeric]
    if talk is not None:
        _note(talk, f"not numeric, {fate}", text, table.remarks)
        _note(talk, f"without any value, {fate}", without)
        _note(talk, f"labels of rows, {fate}", labels)
    if not features:
        comma = any(_has_decimal_comma(table, name) for name in text[:_REMARKS])
        raise ValueError(
            f"{table.source} has no numeric column besides the target {target!r}"
            + ("; numbers must have a decimal point, not a comma" if comma else "")
        )
    gone = {*dropped, *features}
    return Roles(features, [name for name in names if name not in gone])


def find_features(
    names: Sequence[str], features: Sequence[str], drop: Sequence[str], source: str, groups: str
) -> set[str]:
    """Refuse a table without all features of a saved model; give the columns to drop."""
    present = set(names)
    lacking = [name for name in features if name not in present]
    if lacking:
        raise ValueError(
            f"{source} lacks {describe_columns(lacking, range(len(lacking)), limit=3)}, "
            f"which {groups} averages"
        )
    dropped = set(find_columns(names, drop, source))
    for name in sorted(dropped & set(features)):
        raise ValueError(f"column {name!r} is a feature of {groups} and cannot be dropped")
    return dropped


def _note(
    talk: Talk, what: str, names: Sequence[str], remarks: Mapping[str, str] | None = None
) -> None:
    """Name columns in a note, if there are any, with remarks on the first of them."""
    if not names:
        return
    remarked = [name for name in names if name in (remarks or {})][:_REMARKS]
    said = "; ".join(f"{name!r}: {(remarks or {})[name]}" for name in remarked)
    listed = describe_columns(names, range(len(names)))
    talk.note(f"{what}: {listed}" + (f" ({said})" if said else ""))


def _has_decimal_comma(table: Columns, name: str) -> bool:
    value = table.first(name)
    return isinstance(value, str) and fullmatch(r"\s*-?\d+,\d+\s*", value) is not None
