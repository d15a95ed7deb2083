"""What the commands on tables in chunks share: output, complete rows, writing."""

import argparse
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ._files import ChunkedTable, Look, form_of, left_out_of_chunks, write_chunked
from ._outputs import check_outputs, named_after, note_lost, units_of, unlike
from ._rows import ADVICE, infinite_value, settle_missing
from ._talk import Talk


def check_chunked_outputs(
    options: argparse.Namespace, others: dict[str, str], inputs: Sequence[str]
) -> dict[str, str]:
    """Give the paths of all that is written, by option; refuse what cannot be."""
    output = options.output or named_after(options.data, form_of(options.data))
    paths = {"--output": output, **others}
    check_outputs(paths, [*inputs, options.data], options.force, parts=True)
    suffix = Path(output).suffix.lower()
    if suffix and suffix not in (".zarr", ".parquet", ".pq") and _is_known(suffix):
        raise ValueError(
            f"{output}: a table in chunks is written as a folder of Parquet files, or as .zarr"
        )
    read = os.path.realpath(options.data)
    if os.path.isdir(read) and os.path.realpath(output).startswith(read + os.sep):
        raise ValueError(f"{output} is in the folder that is read; give another with --output")
    return paths


def _is_known(suffix: str) -> bool:
    try:
        form_of(f"x{suffix}")
    except ValueError:
        return suffix in (".gz", ".bz2", ".xz", ".zst")
    return True


def is_stored(path: str) -> bool:
    """Whether a table is to be written as a Zarr store."""
    return Path(path).suffix.lower() == ".zarr"


def complete_rows_of(
    look: Look, names: Sequence[str], missing: str, talk: Talk, *, advice: str = ADVICE
) -> npt.NDArray[np.bool_]:
    """Say which rows have a value in each of some columns; see :func:`complete_rows`."""
    for name in names:
        if name in look.infinite:
            raise infinite_value(look.source, name, look.infinite[name])
    count = np.array([look.missing[name] for name in names])
    if not count.any():
        return np.ones(look.table.n_rows, dtype=bool)
    # Rows are looked at once more, now that it is known which columns count.
    complete = look.table.complete_rows([name for name in names if look.missing[name]])
    settle_missing(look.source, names, count, complete, missing, talk, advice)
    return complete


def write_reduced_chunks(
    reducer: Any,
    table: ChunkedTable,
    keep: Sequence[str],
    rows: npt.NDArray[np.bool_],
    reduced: Sequence[Any],
    path: str,
    part: Path,
    talk: Talk,
    *,
    empty: Collection[str] = (),
) -> None:
    """Write the columns that are kept, and the reduced features behind them, by chunks."""
    members = reducer.groups_by_name()
    names = unlike(list(members), set(keep), talk)
    store = is_stored(path)
    lost = left_out_of_chunks(table, keep, store=store)
    note_lost(lost, path, table.source, talk)
    write_chunked(
        part,
        table,
        [name for name in keep if name not in set(lost)],
        rows,
        reduced,
        names,
        members=list(members.values()),
        empty=empty,
        units=units_of(reducer),
        store=store,
    )
