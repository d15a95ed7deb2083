"""Which columns of a table are features."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from re import fullmatch
from typing import Any, Protocol

from .._data._names import describe_columns
from ._files import ChunkedGrid, Grid, Gridded
from ._talk import Talk

_REMARKS = 5
_LISTED = 10
_MOST_TO_GUESS = 20_000
_INDEX = r"|Unnamed: \d+|__index_level_\d+__"
"""Names under which pandas writes the labels of rows."""


class Named(Protocol):
    """A table, as far as its columns can be named."""

    @property
    def source(self) -> str:
        """The name of the table."""

    @property
    def names(self) -> list[str]:
        """The names of all columns."""

    @property
    def grid(self) -> Grid | ChunkedGrid | None:
        """What the columns are cells of, for a table that has such."""


class Columns(Named, Protocol):
    """A table, as far as the roles of its columns depend on it."""

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


def find_columns(table: Named, wanted: Sequence[str], *, patterns: bool = True) -> list[str]:
    """Give the columns called so, or matching such patterns; refuse what means none.

    With patterns the name of a gridded variable means all of its cells.
    """
    found: dict[str, None] = {}
    names = table.names
    known = set(names)
    gridded = {variable.name: variable.columns for variable in _gridded(table)}
    for each in wanted:
        if each in known:
            matches = [each]
        elif patterns:
            matches = gridded.get(each) or meant(names, each)
        else:
            matches = []
        if not matches:
            cell = (
                f"; it is gridded: name a cell, such as {gridded[each][0]!r}"
                if each in gridded
                else ""
            )
            raise ValueError(f"{table.source} has no column {each!r}{cell or _hint(names, each)}")
        found.update(dict.fromkeys(matches))
    return list(found)


def check_target(table: Named, target: str) -> None:
    """Refuse a target that is no column; of a grid, say which variables could be one."""
    if table.grid is None or target in table.names:
        find_columns(table, [target], patterns=False)
        return
    samples = table.grid.samples
    cells = {name for variable in _gridded(table) for name in variable.columns}
    none = cells.union(table.grid.coordinates)
    along = [name for name in table.names if name not in none]
    listed = ", ".join(map(repr, along[:_LISTED])) + (", …" if len(along) > _LISTED else "")
    others = f"these do: {listed}" if along else "no variable does"
    for variable in _gridded(table):
        if variable.name == target:
            rest = ", ".join(name for name in variable.dims if name != samples)
            raise ValueError(
                f"{table.source}: {target!r} is gridded, along {rest} too; the target must run "
                f"along the samples ({samples}) alone; {others}"
            )
    if target in table.grid.apart:
        raise ValueError(
            f"{table.source}: {target!r} does not run along {samples} alone, as the target must "
            f"where that is the dimension of the samples; {others}"
        )
    raise ValueError(
        f"{table.source} has no variable {target!r}; the target must run along the samples "
        f"({samples}) alone; {others}"
    )


def _gridded(table: Named) -> Sequence[Gridded]:
    return () if table.grid is None else table.grid.variables


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
    check_target(table, target)
    dropped = set(find_columns(table, drop))
    kept = set(find_columns(table, keep))
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
        coordinates: set[str] = set() if table.grid is None else set(table.grid.coordinates)
        told = [name for name in text if name not in coordinates]
        _note(talk, f"not numeric, {fate}", told, table.remarks)
        if table.grid is not None:  # that the samples have a coordinate goes without saying
            about = [name for name in text if name in coordinates - {table.grid.samples}]
            _note(talk, f"coordinates of the samples, {fate}", about)
        _note(talk, f"without any value, {fate}", _note_masks(table, features, without, talk))
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
    table: Named, features: Sequence[str], drop: Sequence[str], groups: str
) -> set[str]:
    """Refuse a table without all features of a saved model; give the columns to drop."""
    present = set(table.names)
    lacking = [name for name in features if name not in present]
    if lacking:
        raise ValueError(
            f"{table.source} lacks {describe_columns(lacking, range(len(lacking)), limit=3)}, "
            f"which {groups} averages"
        )
    dropped = set(find_columns(table, drop))
    for name in sorted(dropped & set(features)):
        raise ValueError(f"column {name!r} is a feature of {groups} and cannot be dropped")
    return dropped


def _note_masks(
    table: Columns, features: Sequence[str], without: Sequence[str], talk: Talk
) -> list[str]:
    """Note how many cells of variables that are reduced have no value; give the other columns."""
    reduced, empty = set(features), set(without)
    for variable in _gridded(table):
        masked = empty.intersection(variable.columns)
        if masked and not reduced.isdisjoint(variable.columns):
            one = len(masked) == 1
            talk.note(
                f"{len(masked)} of {len(variable.columns)} cells of {variable.name!r} "
                f"{'has' if one else 'have'} no value at any sample and "
                f"{'is' if one else 'are'} left out of the features"
            )
            empty -= masked
    return [name for name in without if name in empty]


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
