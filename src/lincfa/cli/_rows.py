"""Which rows of a table are complete, and which of those are learned from or scored on."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data._names import describe_columns
from ._files import TableFile
from ._talk import Talk

if TYPE_CHECKING:
    import polars as pl

_USUAL_SHARE = 0.3
_FEWEST_TO_SHARE = 20
_FEWEST = 4
ADVICE = "--drop COLUMN leaves a column out"


@dataclass(frozen=True)
class Split:
    """Samples to learn from and samples to score on; there may be none of the latter.

    Attributes
    ----------
    train, test : array of int
        Rows of the table.
    X, y, X_test, y_test
        Their features, in the memory that a fit reads, and their target.
    how : str
        How the rows were held out.
    """

    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]
    X: "pl.DataFrame"
    y: npt.NDArray[Any]
    X_test: "pl.DataFrame"
    y_test: npt.NDArray[Any]
    how: str

    @classmethod
    def of(
        cls,
        table: TableFile,
        target: str,
        features: list[str],
        rows: npt.NDArray[np.bool_],
        options: argparse.Namespace,
        talk: Talk,
    ) -> "Split":
        """Split the rows of a table that are complete."""
        train, test, how = split_rows(table.source, rows, options, talk)
        y = table.numbers([target])[:, 0]
        refuse_constant(table.source, target, y[train], "every row to learn from")
        note_unscored(target, y[test], talk)
        return cls(
            train,
            test,
            frame_of_rows(table, features, train),
            y[train],
            frame_of_rows(table, features, test),
            y[test],
            how,
        )

    @property
    def scored(self) -> dict[str, Any]:
        """The samples to score on, where they can be."""
        if not self.test.size or np.ptp(self.y_test) == 0:
            return {}
        return {"X_test": self.X_test, "y_test": self.y_test}


def split_rows(
    source: str, rows: npt.NDArray[np.bool_], options: argparse.Namespace, talk: Talk
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], str]:
    """Give rows to learn from and rows held out, both in order, and say how it was done."""
    complete = np.flatnonzero(rows)
    held_out = _share(complete.size, options.test, talk)
    count = round(held_out * complete.size)
    if held_out and not count:
        raise ValueError(f"{source}: --test {held_out:g} of {complete.size} rows is none")
    if complete.size - count < _FEWEST:
        raise ValueError(
            f"{source}: {complete.size - count} rows to learn from are too few; it takes {_FEWEST}"
            + (f" besides the {count} held out (--test {held_out:g})" if count else "")
        )
    if options.split == "time":
        order, how = complete, "the last ones"
    else:
        order = np.random.default_rng(options.seed).permutation(complete)
        how = f"at random, seed {options.seed}"
    train, test = (np.sort(part) for part in np.split(order, [complete.size - count]))
    return train, test, f"{count} of {complete.size} rows, {how}" if count else "none"


def complete_rows(
    table: TableFile,
    names: Sequence[str],
    missing: str,
    talk: Talk,
    *,
    advice: str = ADVICE,
) -> npt.NDArray[np.bool_]:
    """Say which rows have a value in each of some columns.

    Refuses missing values, unless such rows are to be dropped (the advice is what else can be
    done), and infinite ones.
    """
    complete = np.ones(table.frame.height, dtype=bool)
    count = np.zeros(len(names), dtype=np.intp)
    for place, name in enumerate(names):
        values = table.column(name)
        infinite = np.flatnonzero(np.isinf(values))
        if infinite.size:
            raise infinite_value(table.source, name, int(infinite[0]))
        absent = np.isnan(values)
        count[place] = absent.sum()
        if count[place]:
            complete &= ~absent
    settle_missing(table.source, names, count, complete, missing, talk, advice)
    return complete


def settle_missing(
    source: str,
    names: Sequence[str],
    count: npt.NDArray[np.intp],
    complete: npt.NDArray[np.bool_],
    missing: str,
    talk: Talk,
    advice: str = ADVICE,
) -> None:
    """Refuse missing values, of which each column has a count, or note how many rows go."""
    concerned = np.flatnonzero(count)
    if not concerned.size:
        return
    worst = concerned[np.argsort(-count[concerned], kind="stable")].tolist()
    where = describe_columns(names, worst, limit=5)
    lost = int((~complete).sum())
    rows = f"{lost} of {complete.size} {'row' if complete.size == 1 else 'rows'}"
    if missing == "error":
        first = int(np.flatnonzero(~complete)[0])
        raise ValueError(
            f"{source}: values are missing in {where}, in {rows} (row {first + 1}); "
            "--missing drop leaves these rows out" + (f", {advice}" if advice else "")
        )
    if lost == complete.size:
        raise ValueError(
            f"{source}: every row has a missing value, most in {where}"
            + (f"; {advice}" if advice else "")
        )
    talk.note(f"{rows} left out, because values are missing in {where}")


def infinite_value(source: str, name: str, row: int) -> ValueError:
    """Give the error for a value that is infinite, in a row counted from 0."""
    return ValueError(f"{source}: column {name!r} is infinite in row {row + 1}")


def note_unscored(target: str, y: npt.NDArray[Any], talk: Talk) -> None:
    """Note that rows held out give no scores, where their target does not vary."""
    if y.size and np.ptp(y) == 0:
        talk.note(f"no scores: the target {target!r} is {y[0]:g} in all rows held out ({y.size})")


def refuse_constant(
    source: str, target: str, y: npt.NDArray[Any], where: str = "every row"
) -> None:
    """Refuse a target of equal values, naming it."""
    if y.size and (y == y[0]).all():
        raise ValueError(f"{source}: the target {target!r} is {y[0]:g} in {where}")


def frame_of_rows(table: TableFile, names: list[str], rows: npt.NDArray[np.intp]) -> "pl.DataFrame":
    """Give rows of features with their names.

    Of columns one behind the other in memory polars makes a frame without copying them, and of such
    a frame NumPy an array.
    """
    import polars as pl

    # Said, because of a square of numbers polars would take the columns for rows.
    return pl.DataFrame(table.numbers(names, rows), schema=names, orient="row")


def _share(n: int, asked: float | None, talk: Talk) -> float:
    if asked is not None:
        return asked
    if n >= _FEWEST_TO_SHARE:
        return _USUAL_SHARE
    talk.note(
        f"{n} rows are too few to hold some out for scores; --test SHARE does it all the same"
    )
    return 0.0
