"""A table read from a file of any known format."""

import os
from collections.abc import Callable, Container

from ._columnar import read_columnar
from ._csv import read_csv
from ._form import form_of, need
from ._grids import read_grid
from ._table import TableFile


def read_table(
    path: str | os.PathLike[str],
    *,
    as_text: Container[str] | Callable[[list[str]], Container[str]] = (),
    separator: str | None = None,
    samples: str | None = None,
) -> TableFile:
    """Read a table from a file, or CSV from standard input (``-``).

    Parameters
    ----------
    path : str or path
        The suffix tells the format.
    as_text : container of str, or function
        Columns of a CSV file that stay text as it is written there, ``00123`` or ``1.10``; a
        function gives them from the names of all.
    separator : str or None
        Between the fields of a CSV file; None to find it in the header.
    samples : str or None
        The dimension of a NetCDF or Zarr data set along which the samples are; None for ``time``,
        or else the only one that all numeric variables share.

    Raises
    ------
    ValueError
        Where the file holds no table; one line that names the file, and the place in it.
    """
    form = form_of(path)
    need(form)
    name = os.fspath(path)
    if form.parts:
        raise ValueError(
            f"{name} is a folder of Parquet files, which lincfa reduce and lincfa apply read, in "
            "chunks; for anything else give one file."
        )
    if separator is not None and (len(separator.encode()) != 1 or separator in '"\r\n'):
        raise ValueError(f"A separator is one plain character, not {separator!r}.")
    if form.kind == "csv":
        table = read_csv(name, form, as_text, separator)
    elif form.flat:
        table = read_columnar(name, form)
    else:
        table = read_grid(name, form, samples)
    if not table.frame.width:
        raise ValueError(f"{table.source} has no columns.")
    if not table.frame.height:
        raise ValueError(f"{table.source} has columns but no rows.")
    return table
