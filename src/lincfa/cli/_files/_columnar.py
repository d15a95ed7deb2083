"""Tables in Parquet and Feather (Arrow) files, with the types they have."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any

from ._form import Form
from ._table import TableFile

if TYPE_CHECKING:
    import polars as pl

_PARQUET, _ARROW = b"PAR1", b"ARROW1"


def read_columnar(path: str, form: Form) -> TableFile:
    """Read a Parquet or Feather file; an Arrow stream too, which often has the same suffix."""
    import polars as pl

    begin, end = _ends(path)
    whole = begin.startswith(_PARQUET) and end.endswith(_PARQUET)
    if form.kind == "feather":
        whole = not begin.startswith(_ARROW) or end.endswith(_ARROW)
    if not whole:
        raise damaged(path, form)
    try:
        with _without_panics(), open(path, "rb") as file:
            if form.kind == "parquet":
                frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
            elif begin.startswith(_ARROW):
                # Not mapped, so that the table stays when the file is written anew; from an open
                # file, because a path is searched for wildcards. Newer versions never map those.
                mapped = "memory_map" in signature(pl.read_ipc).parameters
                options: Any = {"memory_map": False} if mapped else {}
                frame = pl.read_ipc(file, **options)
            else:
                frame = pl.read_ipc_stream(file)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise damaged(path, form) from None
        raise
    return TableFile(path, frame, form)


def write_columnar(path: str, frame: pl.DataFrame, form: Form) -> None:
    """Write a Parquet or Feather file."""
    with open(path, "wb") as file:
        if form.kind == "parquet":
            frame.write_parquet(file)
        else:
            frame.write_ipc(file, compression="zstd")


@contextmanager
def _without_panics() -> Iterator[None]:
    """Keep standard error from the pages that the reader writes there about some damaged files."""
    try:
        stderr = os.dup(2)
    except OSError:  # there is none
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)


def _ends(path: str) -> tuple[bytes, bytes]:
    with open(path, "rb") as file:
        begin = file.read(8)
        file.seek(max(0, os.fstat(file.fileno()).st_size - 8))
        return begin, file.read(8)


def damaged(path: str, form: Form) -> ValueError:
    """Give the error for a file that cannot be read."""
    what: Any = {"parquet": "Parquet", "feather": "Feather (Arrow)"}[form.kind]
    return ValueError(f"{path} is not a {what} file, or a damaged one.")
