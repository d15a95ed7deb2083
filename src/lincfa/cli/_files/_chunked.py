"""Tables opened and written in chunks of rows: folders of Parquet files and Zarr stores."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._chunked_grids import open_zarr
from ._chunked_parquet import open_parquet
from ._chunked_store import write_store
from ._chunks import ChunkedTable, Reader, compute_all
from ._form import form_of, need_chunks


def open_chunked(path: str, *, samples: str | None = None, scheduler: bool = False) -> ChunkedTable:
    """Open a table, of which nothing is read but names and types.

    Parameters
    ----------
    path : str
        A Parquet file, a folder of them or a Zarr store.
    samples : str or None
        See :func:`read_table`.
    scheduler : bool
        Whether a scheduler elsewhere is to be used, which takes another package.
    """
    form = form_of(path)
    if form.kind not in ("parquet", "zarr"):
        raise ValueError(
            f"{path} cannot be read in chunks; Parquet files, folders of them and Zarr stores can."
        )
    need_chunks(form, scheduler=scheduler)
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    table = open_parquet(path, form) if form.flat else open_zarr(path, form, samples)
    if not table.names:
        raise ValueError(f"{path} has no columns.")
    if not table.n_rows:
        raise ValueError(f"{path} has columns but no rows.")
    return table


def left_out_of_chunks(table: ChunkedTable, keep: Sequence[str], *, store: bool) -> list[str]:
    """Name what of the table the format cannot hold: grids in Parquet files, lists in Zarr."""
    from pyarrow import types

    if not store:
        return [] if table.grid is None else table.grid.apart
    kinds = {name: table.reader.schema.field(name).type for name in keep}
    return [
        name
        for name, kind in kinds.items()
        if types.is_nested(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    ]


def write_chunked(
    path: str | os.PathLike[str],
    table: ChunkedTable,
    keep: Sequence[str],
    rows: npt.NDArray[np.bool_],
    reduced: Sequence[Any],
    names: Sequence[str],
    *,
    members: Sequence[Sequence[str]] = (),
    empty: Collection[str] = (),
    units: str | None = None,
    store: bool,
) -> None:
    """Write columns of a table as they are, and the reduced features behind them, by chunks.

    Parameters
    ----------
    path : path
        A folder, which is not there yet.
    table : ChunkedTable
        The table the columns are of.
    keep : sequence of str
        The columns to write.
    rows : array of bool
        The rows to write.
    reduced : sequence
        The reduced features of each chunk, delayed.
    names : sequence of str
        Their names.
    members : sequence of sequences of str
        The columns behind each reduced feature, for the groups of cells in Zarr.
    empty : collection of str
        Columns without any value; such cells of a variable that is reduced are not written.
    units : str or None
        Those of the reduced features, for Zarr.
    store : bool
        Whether to write a Zarr store; else Parquet files.
    """
    folder = os.path.abspath(path)
    if store:
        write_store(folder, table, keep, rows, reduced, names, members, empty, units)
    else:
        _write_parts(folder, table, keep, rows, reduced, names)


def _write_parts(
    folder: str,
    table: ChunkedTable,
    keep: Sequence[str],
    rows: npt.NDArray[np.bool_],
    reduced: Sequence[Any],
    names: Sequence[str],
) -> None:
    from dask import delayed

    os.mkdir(folder)
    about = delayed((table.reader, list(keep), list(names)), traverse=False, pure=False)
    task = delayed(_write_part, pure=False)
    tasks: list[Any] = []
    parts = zip(table.chunks, table.split(rows), reduced, strict=True)
    for chunk, chosen, means in parts:
        if chosen.any():
            file = os.path.join(folder, f"part.{len(tasks):05d}.parquet")
            tasks.append(task(file, about, chunk, None if chosen.all() else chosen, means))
    compute_all(tasks)


def _write_part(
    file: str,
    about: tuple[Reader, list[str], list[str]],
    chunk: Any,
    rows: npt.NDArray[np.bool_] | None,
    means: npt.NDArray[np.float64],
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader, keep, names = about
    kept = reader.table(chunk, keep)
    columns = [*kept.itercolumns(), *(pa.chunked_array([column]) for column in means.T)]
    written = pa.table(columns, names=[*keep, *names])
    pq.write_table(written if rows is None else written.filter(pa.array(rows)), file)
