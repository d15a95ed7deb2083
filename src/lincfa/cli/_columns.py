"""Which columns of a table are features, and which of its rows are complete."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._names import describe_columns
from .._tablefiles import TableFile, read_table
from ._talk import Talk

if TYPE_CHECKING:
    import polars as pl

_REMARKS = 5


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
            close = get_close_matches(each, names, n=3)
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise ValueError(f"{source} has no column {each!r}{hint}")
        found.update(dict.fromkeys(matches))
    return list(found)


def assign_roles(
    table: TableFile,
    target: str,
    drop: Sequence[str],
    keep: Sequence[str],
    talk: Talk,
    *,
    fate: str = "passed on untouched",
) -> Roles:
    """Say what each column is for, and note which are no features though nobody said so.

    ``fate`` is what becomes of such a column.
    """
    names = table.frame.columns
    find_columns(names, [target], table.source, patterns=False)
    dropped = set(find_columns(names, drop, table.source))
    kept = set(find_columns(names, keep, table.source))
    for name in sorted(dropped & {target, *kept}):
        role = "the target" if name == target else "to be kept"
        raise ValueError(f"column {name!r} is {role} and cannot be dropped")
    numeric, empty = set(table.numeric()), set(table.empty())
    spoken_for = {target, *dropped, *kept}
    others = [name for name in names if name not in spoken_for]
    without = [name for name in others if name in empty]
    features = [name for name in others if name in numeric]
    text = [name for name in others if name not in empty and name not in numeric]
    if text:
        remarked = [name for name in text if name in table.remarks][:_REMARKS]
        remarks = "; ".join(f"{name!r}: {table.remarks[name]}" for name in remarked)
        talk.note(
            f"not numeric, {fate}: {describe_columns(text, range(len(text)))}"
            + (f" ({remarks})" if remarks else "")
        )
    if without:
        talk.note(f"without any value, {fate}: {describe_columns(without, range(len(without)))}")
    if not features:
        raise ValueError(f"{table.source} has no numeric column besides the target {target!r}")
    gone = {*dropped, *features}
    return Roles(features, [name for name in names if name not in gone])


def complete_rows(
    table: TableFile, names: Sequence[str], missing: str, talk: Talk
) -> npt.NDArray[np.bool_]:
    """Say which rows have a value in each of some columns.

    Refuses missing values, unless such rows are to be dropped.
    """
    complete = np.ones(table.frame.height, dtype=bool)
    count = np.zeros(len(names), dtype=np.intp)
    for place, name in enumerate(names):
        absent = np.isnan(table.column(name))
        count[place] = absent.sum()
        if count[place]:
            complete &= ~absent
    concerned = np.flatnonzero(count)
    if not concerned.size:
        return complete
    worst = concerned[np.argsort(-count[concerned], kind="stable")].tolist()
    where = describe_columns(names, worst, limit=5)
    lost = int((~complete).sum())
    rows = f"{lost} of {complete.size} rows"
    if missing == "error":
        first = int(np.flatnonzero(~complete)[0])
        raise ValueError(
            f"{table.source}: values are missing in {where}, in {rows} (first in row {first + 1}); "
            "--missing drop leaves these rows out, --drop COLUMN a column"
        )
    if lost == complete.size:
        raise ValueError(
            f"{table.source}: every row has a missing value, most in {where}; --drop COLUMN leaves "
            "a column out"
        )
    talk.note(f"{rows} left out, because values are missing in {where}")
    return complete


def refuse_infinite(table: TableFile, names: Sequence[str]) -> None:
    """Refuse infinite values, naming column and row."""
    for name in names:
        infinite = np.isinf(table.column(name))
        if infinite.any():
            row = int(np.flatnonzero(infinite)[0]) + 1
            raise ValueError(f"{table.source}: column {name!r} is infinite in row {row}")


def refuse_constant(
    table: TableFile, target: str, y: npt.NDArray[Any], where: str = "every row"
) -> None:
    """Refuse a target of equal values, naming it."""
    if y.size and (y == y[0]).all():
        raise ValueError(f"{table.source}: the target {target!r} is {y[0]:g} in {where}")


@contextmanager
def naming(source: str) -> Iterator[None]:
    """Let what the library refuses in a table name the file."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from error


@dataclass(frozen=True)
class TableSamples:
    """Complete rows of a table: features with their names, and the target."""

    source: str
    X: "pl.DataFrame"
    y: npt.NDArray[Any]


def read_samples(
    options: argparse.Namespace, talk: Talk, needed: Sequence[str] = (), *, only: bool = False
) -> TableSamples:
    """Read the features of a table, or only those needed, and the target; complete rows alone."""
    with talk.busy(f"reading {options.data}"):
        table = read_table(
            options.data,
            as_text=lambda names: [options.target],
            separator=options.separator,
            samples=options.samples,
        )
    names = table.frame.columns
    features = find_columns(names, [options.target, *needed], table.source, patterns=False)[1:]
    for name in features:
        table.column(name)  # refuses one that is not of numbers
    for name in sorted({*find_columns(names, options.drop, table.source)} & {*features}):
        raise ValueError(f"column {name!r} is to be explained and cannot be dropped")
    if not only:
        features = assign_roles(
            table, options.target, options.drop, [], talk, fate="left out"
        ).features
    used = [options.target, *features]
    rows = np.flatnonzero(complete_rows(table, used, options.missing, talk))
    refuse_infinite(table, used)
    y = table.numbers([options.target], rows)[:, 0]
    if rows.size > 1:
        refuse_constant(table, options.target, y)
    return TableSamples(table.source, frame_of_rows(table, features, rows), y)


def frame_of_rows(table: TableFile, names: list[str], rows: npt.NDArray[np.intp]) -> "pl.DataFrame":
    """Give rows of features with their names.

    Of columns one behind the other in memory polars makes a frame without copying them, and of such
    a frame NumPy an array.
    """
    import polars as pl

    return pl.DataFrame(table.numbers(names, rows), schema=names)
