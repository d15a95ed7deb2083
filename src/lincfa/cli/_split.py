"""Rows to learn from, and rows held out to score on."""

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._tablefiles import TableFile
from ._columns import frame_of_rows, refuse_constant
from ._talk import Talk

if TYPE_CHECKING:
    import polars as pl

_USUAL_SHARE = 0.3
_FEWEST_TO_SHARE = 20
_FEWEST = 4


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
        complete = np.flatnonzero(rows)
        held_out = _share(complete.size, options.test, talk)
        count = round(held_out * complete.size)
        if complete.size - count < _FEWEST:
            raise ValueError(
                f"{table.source}: {complete.size - count} rows to learn from are too few; it takes "
                f"{_FEWEST}"
                + (f" besides the {count} held out (--test {held_out:g})" if count else "")
            )
        if options.split == "time":
            order = complete
            how = "the last ones"
        else:
            order = np.random.default_rng(options.seed).permutation(complete)
            how = f"at random, seed {options.seed}"
        train, test = (np.sort(part) for part in np.split(order, [complete.size - count]))
        y = table.numbers([target])[:, 0]
        refuse_constant(table, target, y[train], "every row to learn from")
        refuse_constant(table, target, y[test], f"the {count} rows held out to score on")
        return cls(
            train,
            test,
            frame_of_rows(table, features, train),
            y[train],
            frame_of_rows(table, features, test),
            y[test],
            f"{count} of {complete.size} rows, {how}" if count else "none",
        )


def _share(n: int, asked: float | None, talk: Talk) -> float:
    if asked is not None:
        return asked
    if n >= _FEWEST_TO_SHARE:
        return _USUAL_SHARE
    talk.note(
        f"{n} rows are too few to hold some out for scores; --test SHARE does it all the same"
    )
    return 0.0
