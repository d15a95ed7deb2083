"""Data in files: tables and fields, read by polars and xarray, or in chunks by dask."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from ..._replacing import repair_beside
from ._fields import FieldFile, open_field
from ._formats import Format, format_of, require_content, require_packages
from ._tables import ParquetChunks, TableFile

__all__ = ["DataFile", "Format", "format_of", "open_data"]

DataFile: TypeAlias = TableFile | ParquetChunks | FieldFile


def open_data(
    path: str,
    format: Format | None = None,
    *,
    samples: str | None = None,
    targets: Sequence[str] = (),
    classes: bool = False,
    model: Any = None,
    in_chunks: bool = False,
    scheduler: bool = False,
    codes: Sequence[float] = (),
    dates: Sequence[str] = (),
) -> DataFile:
    """Read a file, or CSV from standard input (``-``), or open it to be read in chunks, by dask."""
    # The format is that of the suffix, with what else is known of it.
    # For NetCDF and Zarr the samples are along the dimension named, or that of the targets, or of
    # the variables of a fitted model. Targets are names or patterns; classes stay as they are, also
    # numbers that are text. A scheduler elsewhere takes another package. Codes are numbers that
    # mean missing. Dates are names of the columns of a table that hold them.
    if path != "-":
        repair_beside(path)
    format = format or format_of(path)
    require_packages(format, dask=in_chunks, scheduler=scheduler)
    if format.is_folder and not in_chunks:
        raise ValueError(
            f"{path} is a folder of Parquet files, which only lincfa reduce, predict and apply "
            "read; give a single file"
        )
    if format.kind != "csv" and os.path.isfile(path):
        with open(path, "rb") as file:
            require_content(path, format, file)
    data: DataFile
    if format.is_grid:
        data = open_field(
            path,
            format,
            in_chunks=in_chunks,
            samples=samples,
            targets=targets,
            model=model,
            codes=tuple(codes),
        )
    elif in_chunks:
        data = ParquetChunks.open(path, format, tuple(codes))
    else:
        numbers = () if classes else targets
        data = TableFile.read(path, format, numbers, tuple(codes))
    if not data.names:
        raise ValueError(f"{data.source} has no columns.")
    if not data.n_rows:
        raise ValueError(f"{data.source} has columns but no rows.")
    if isinstance(data, FieldFile):
        return data
    pattern = next((name for name in data.names if re.fullmatch(r"\*|\^.*\$", name)), None)
    if pattern is not None:
        raise ValueError(
            f"{data.source}: rename the column {pattern!r}: names such as * and ^…$ are patterns "
            "to polars, which reads the file"
        )
    for name in dates:
        if name not in data.schema:
            raise ValueError(f"{data.source} has no column {name!r}, which --dates names")
    return replace(data, date_columns=tuple(dates))
