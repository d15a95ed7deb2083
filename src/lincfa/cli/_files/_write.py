"""A table written to a file of any known format: what is kept, and the reduced features."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._columnar import write_columnar
from ._csv import write_csv
from ._form import Form, need
from ._grids_write import write_grid
from ._table import TableFile

if TYPE_CHECKING:
    import polars as pl


def write_table(
    path: str | os.PathLike[str],
    table: TableFile,
    keep: Sequence[str],
    rows: npt.NDArray[np.bool_] | None,
    reduced: npt.NDArray[Any],
    names: Sequence[str],
    *,
    form: Form,
    members: Sequence[Sequence[str]] = (),
    units: str | None = None,
) -> None:
    """Write columns of a table as they are, in their order, and the reduced features behind them.

    Parameters
    ----------
    path : str or path
        Where to, whatever its suffix. For Zarr a folder, which is replaced.
    table : TableFile
        The table the columns are of.
    keep : sequence of str
        The columns to write; those in `left_out` are not.
    rows : array of bool or None
        The rows to write; None for all.
    reduced : array of shape (number of rows written, number of reduced features)
        The reduced features, without the rows that are not written.
    names : sequence of str
        Their names.
    form : Form
        The format, see `form_of`.
    members : sequence of sequences of str
        The columns behind each reduced feature, for the groups of cells in NetCDF and Zarr.
    units : str or None
        Those of the reduced features, for NetCDF and Zarr.
    """
    need(form)
    chosen = None if rows is None else np.flatnonzero(rows)
    height = table.frame.height if chosen is None else len(chosen)
    if reduced.shape != (height, len(names)):
        raise ValueError(
            f"{len(names)} reduced features of {height} rows are of another shape than "
            f"{reduced.shape}."
        )
    without = set(left_out(table, keep, form))
    columns = [name for name in keep if name not in without]
    if not form.flat:
        write_grid(os.fspath(path), form, table, columns, chosen, reduced, names, members, units)
        return
    double = sorted({*columns} & {*names})
    if double or len({*names}) < len(names):
        raise ValueError(f"A name would be written twice: {(double or ['reduced features'])[0]!r}.")
    frame = _beside(table, columns, chosen, reduced, names)
    with _errors_of_the_disk(os.fspath(path)):
        if form.kind == "csv":
            write_csv(os.fspath(path), frame, form)
        else:
            write_columnar(os.fspath(path), frame, form)


def left_out(table: TableFile, keep: Sequence[str], form: Form) -> list[str]:
    """Name what of the table the format cannot hold: lists in CSV, grids in flat tables."""
    import polars as pl

    cannot: list[str] = []
    if form.kind not in ("parquet", "feather"):
        types = table.frame.schema  # once: it is made anew each time
        for name in keep:
            dtype = types[name]
            if dtype.is_nested() or isinstance(dtype, pl.Binary | pl.Object):
                cannot.append(name)
    if form.flat and table.grid is not None:
        cannot.extend(table.grid.apart)
    return cannot


@contextmanager
def _errors_of_the_disk(path: str) -> Iterator[None]:
    """Tell a full disk as what it is, where polars has but a text for it."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None or getattr(error, "errno", None) is not None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), path) from error


def _beside(
    table: TableFile,
    columns: Sequence[str],
    rows: npt.NDArray[np.intp] | None,
    reduced: npt.NDArray[Any],
    names: Sequence[str],
) -> pl.DataFrame:
    import polars as pl

    kept = table.frame.select(columns)
    if rows is not None:
        kept = kept[rows]
    features = [
        pl.Series(name, np.ascontiguousarray(reduced[:, place])) for place, name in enumerate(names)
    ]
    # A frame made of columns would invent a name for one that has none.
    return kept.hstack(features) if kept.width else pl.DataFrame(features)
