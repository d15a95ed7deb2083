"""Tables in Parquet and Feather (Arrow) files, with the types they have."""

from __future__ import annotations

import os
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
    # Looked at first, because the reader answers some damage with a panic on standard error.
    whole = begin.startswith(_PARQUET) and end.endswith(_PARQUET)
    if form.kind == "feather":
        whole = not begin.startswith(_ARROW) or end.endswith(_ARROW)
    if not whole:
        raise _damaged(path, form)
    try:
        if form.kind == "parquet":
            frame = pl.read_parquet(path, glob=False, hive_partitioning=False)
        else:
            # From an open file: a path would be mapped, and searched for wildcards.
            with open(path, "rb") as file:
                arrow = begin.startswith(_ARROW)
                frame = pl.read_ipc(file) if arrow else pl.read_ipc_stream(file)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise _damaged(path, form) from None
        raise
    return TableFile(path, frame, form)


def write_columnar(path: str, frame: pl.DataFrame, form: Form) -> None:
    """Write a Parquet or Feather file."""
    with open(path, "wb") as file:
        if form.kind == "parquet":
            frame.write_parquet(file)
        else:
            frame.write_ipc(file, compression="zstd")


def _ends(path: str) -> tuple[bytes, bytes]:
    with open(path, "rb") as file:
        begin = file.read(8)
        file.seek(max(0, os.fstat(file.fileno()).st_size - 8))
        return begin, file.read(8)


def _damaged(path: str, form: Form) -> ValueError:
    what: Any = {"parquet": "Parquet", "feather": "Feather (Arrow)"}[form.kind]
    return ValueError(f"{path} is not a {what} file, or a damaged one.")
