"""Small tables as files of every format that the command line reads, the same bytes each time."""

import bz2
import csv
import gzip
import io
import lzma
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

Columns = dict[str, list[Any]]
Files = dict[str, bytes]  # by their path inside the folder; "" for a single file


def text_of(columns: Columns, separator: str = ",") -> bytes:
    made = io.StringIO()
    writer = csv.writer(made, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return made.getvalue().encode("utf-8", "surrogatepass")


def compressed(content: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(content, mtime=0)
    if suffix == ".zst":
        import pyarrow

        return bytes(pyarrow.Codec("zstd").compress(content, asbytes=True))
    return {".bz2": bz2, ".xz": lzma}[suffix].compress(content)


def parquet(columns: Columns, rng: np.random.Generator) -> bytes:
    made = io.BytesIO()
    codec = str(rng.choice(["zstd", "snappy", "uncompressed", "gzip", "lz4"]))
    rows = int(rng.choice([5, 1000]))
    if rng.random() < 0.5:
        import pyarrow as pa
        import pyarrow.parquet as pq

        options = {"compression": "none" if codec == "uncompressed" else codec}
        if rng.random() < 0.3:
            options["data_page_version"] = "2.0"
        pq.write_table(pa.table(columns), made, row_group_size=rows, **options)
    else:
        import polars as pl

        options = {"compression": codec, "row_group_size": rows}
        pl.DataFrame(columns, strict=False).write_parquet(made, **options)
    return made.getvalue()


def feather(columns: Columns, rng: np.random.Generator) -> bytes:
    made = io.BytesIO()
    codec = str(rng.choice(["zstd", "lz4", "uncompressed"]))
    if rng.random() < 0.5:
        import polars as pl

        pl.DataFrame(columns, strict=False).write_ipc(made, compression=codec)
    else:
        import pyarrow as pa
        import pyarrow.feather as pf

        pf.write_feather(pa.table(columns), made, compression=codec)
    return made.getvalue()


def excel(columns: Columns, rng: np.random.Generator) -> bytes:
    import xlsxwriter

    made = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(made, options) as book:
        book.set_properties({"created": datetime(2020, 1, 1)})
        sheet = book.add_worksheet()
        for number, (name, values) in enumerate(columns.items()):
            sheet.write_column(0, number, [_clean(name), *values])
    return made.getvalue()


def open_document(columns: Columns, rng: np.random.Generator) -> bytes:
    """Return an .ods file, as few tags as there may be."""
    rows = [[*map(_clean, columns)], *zip(*columns.values(), strict=True)]
    cells = "".join(
        f"<table:table-row>{''.join(map(_cell, row))}</table:table-row>" for row in rows
    )
    names = ("office", "table", "text")
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names
    )
    body = f'<office:spreadsheet><table:table table:name="1">{cells}</table:table>'
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {spaces} '
        f'office:version="1.2"><office:body>{body}</office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    kind = b"application/vnd.oasis.opendocument.spreadsheet"
    return zipped({"mimetype": kind, "content.xml": content.encode()})


def _cell(value: Any) -> str:
    kind = f'float" office:value="{value}' if isinstance(value, float) else "string"
    return (
        f'<table:table-cell office:value-type="{kind}"><text:p>{escape(str(value))}</text:p>'
        "</table:table-cell>"
    )


def _clean(name: str) -> str:
    """Drop what XML cannot hold."""
    return "".join(sign for sign in name if sign >= " ")


def zipped(members: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)  # of 1980
    return made.getvalue()


def unzipped(content: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def field(columns: Columns, rng: np.random.Generator) -> Any:
    """Return a data set: the numbers as cells of a grid, the rest along the samples."""
    import xarray as xr

    numbers = {name: values for name, values in columns.items() if isinstance(values[0], float)}
    y = numbers.pop("y")
    cells = np.array(list(numbers.values())).T
    days = np.datetime64("2000-01-01", "ns") + np.arange(len(y)) * np.timedelta64(1, "D")
    shape = (2, -1) if cells.shape[1] % 2 == 0 else (1, -1)
    values = cells.reshape(len(y), *shape).astype(rng.choice(["f4", "f8"]))
    data = xr.Dataset(
        {"t2m": (("time", "lat", "lon"), values, {"units": "K"}), "y": ("time", y)},
        coords={
            "time": days,
            "lat": 45.0 + np.arange(values.shape[1]),
            "lon": 7.5 + np.arange(values.shape[2]),
        },
        attrs={"title": "weather"},
    )
    for name, values in columns.items():
        if isinstance(values[0], str) and name:
            data[name] = ("time", np.array(values, dtype=object))
    if rng.random() < 0.3:
        data["t2m"].encoding = {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -32767}
    return data


def netcdf(columns: Columns, rng: np.random.Generator, format: str) -> bytes:
    data = field(columns, rng)
    if format == "NETCDF4":
        data["t2m"].encoding |= {"zlib": bool(rng.random() < 0.5), "shuffle": True}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.nc"
        unlimited = ["time"] if rng.random() < 0.5 else []
        data.to_netcdf(path, engine="netcdf4", format=format, unlimited_dims=unlimited)
        return path.read_bytes()


def zarr(columns: Columns, rng: np.random.Generator, format: int) -> Files:
    data = field(columns, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.zarr"
        options = {"zarr_format": format, "consolidated": bool(format == 2 and rng.random() < 0.7)}
        if rng.random() < 0.5:
            data = data.chunk({"time": 7}) if format == 2 else data
        data.to_zarr(path, **options)
        return read_folder(path)


def parts(columns: Columns, rng: np.random.Generator) -> Files:
    """Return a folder of Parquet files, at times in folders that are a column too."""
    n_rows = len(columns["y"])
    ends = [0, *np.sort(rng.choice(np.arange(1, n_rows), 2, replace=False)).tolist(), n_rows]
    place = "year={}/part.parquet" if rng.random() < 0.3 else "part.{}.parquet"
    return {
        place.format(k): parquet({n: v[begin:end] for n, v in columns.items()}, rng)
        for k, (begin, end) in enumerate(pairwise(ends))
    }


def read_folder(folder: Path) -> Files:
    """Return all files in a folder and its subfolders, but those that another process removes."""
    files = {}
    # Unlike rglob, os.walk takes it calmly when a folder is gone.
    for path in sorted(Path(place, name) for place, _, names in os.walk(folder) for name in names):
        with suppress(FileNotFoundError, NotADirectoryError):
            if path.is_file():
                files[str(path.relative_to(folder))] = path.read_bytes()
    return files


def write_folder(folder: Path, files: Files) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def _csv(separator: str, suffix: str = "") -> Callable[..., bytes]:
    def make(columns: Columns, rng: np.random.Generator) -> bytes:
        content = text_of(columns, separator)
        return compressed(content, suffix) if suffix else content

    return make


def _with(make: Callable[..., Any], format: Any) -> Callable[..., Any]:
    return lambda columns, rng: make(columns, rng, format)


MAKERS: dict[str, tuple[str, Callable[[Columns, np.random.Generator], bytes | Files]]] = {
    "csv": (".csv", _csv(",")),
    "csv with semicolons": (".csv", _csv(";")),
    "tsv": (".tsv", _csv("\t")),
    "csv gz": (".csv.gz", _csv(",", ".gz")),
    "csv bz2": (".csv.bz2", _csv(",", ".bz2")),
    "csv xz": (".csv.xz", _csv(",", ".xz")),
    "csv zst": (".csv.zst", _csv(",", ".zst")),
    "parquet": (".parquet", parquet),
    "parts": ("", parts),
    "feather": (".feather", feather),
    "xlsx": (".xlsx", excel),
    "ods": (".ods", open_document),
    "netcdf 3": (".nc", _with(netcdf, "NETCDF3_CLASSIC")),
    "netcdf 3 64": (".nc", _with(netcdf, "NETCDF3_64BIT")),
    "netcdf 4": (".nc", _with(netcdf, "NETCDF4")),
    "zarr 2": (".zarr", _with(zarr, 2)),
    "zarr 3": (".zarr", _with(zarr, 3)),
}
"""Suffixes, and functions that make files."""
