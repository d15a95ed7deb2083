"""Formats of tables in files, told by the suffix of the name."""

import errno
import os
import re
from dataclasses import dataclass, replace
from importlib import import_module

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".nc": "netcdf",
    ".nc4": "netcdf",
    ".netcdf": "netcdf",
    ".zarr": "zarr",
}
_PARQUET = (".parquet", ".pq", ".parq")
_COMPRESSIONS = ("gz", "bz2", "xz", "zst")  # of text only; the other formats compress themselves
STANDARD_INPUT = "standard input"


@dataclass(frozen=True)
class Form:
    """What it takes to write a table in the format of another one."""

    kind: str  # csv, parquet, feather, netcdf or zarr
    suffix: str  # without that of the compression
    compression: str = ""  # gz, bz2, xz, zst or none
    separator: str = ","  # between the fields of a text file
    parts: bool = False  # whether it is a folder of Parquet files

    @property
    def flat(self) -> bool:
        """Whether the format holds columns only, and no grids."""
        return self.kind not in ("netcdf", "zarr")

    @property
    def folder(self) -> bool:
        """Whether a table is a folder and no file."""
        return self.kind == "zarr" or self.parts


def form_of(path: str | os.PathLike[str], like: Form | None = None) -> Form:
    r"""Tell the format that a path means; ``-`` means CSV.

    The separator of a text file is that of ``like`` where the suffix is the same, else tab for
    ``.tsv`` and comma for the others. A folder that is there means Parquet files in it.

    Examples
    --------
    >>> form_of("data.tsv.gz")
    Form(kind='csv', suffix='.tsv', compression='gz', separator='\t', parts=False)
    """
    name = os.path.basename(os.fspath(path).rstrip("/" + os.sep)).lower()
    if name == "-":
        return replace(like, compression="") if like and like.kind == "csv" else Form("csv", ".csv")
    stem, last = os.path.splitext(name)
    compression = ""
    if last[1:] in _COMPRESSIONS and os.path.splitext(stem)[1] in _SUFFIXES:
        compression, last = last[1:], os.path.splitext(stem)[1]
    kind = _SUFFIXES.get(last, "")
    if kind in ("", "parquet") and os.path.isdir(path):
        if not parquet_files(path):
            reason = "it is a folder without Parquet files"
            raise IsADirectoryError(errno.EISDIR, reason, os.fspath(path))
        return Form("parquet", last if kind else "", parts=True)
    if not kind or (compression and kind != "csv"):
        known = ", ".join(_SUFFIXES)
        raise ValueError(
            f"{os.fspath(path)} is in no format known here: the suffixes are {known}; .csv, .tsv "
            f"and .txt also with {', '.join('.' + name for name in _COMPRESSIONS)}"
            + (". Nor is there a folder of this name." if not last else ".")
        )
    separator = "\t" if last == ".tsv" else ","
    if like is not None and (like.kind, like.suffix) == (kind, last):
        separator = like.separator
    return Form(kind, last, compression, separator)


def parquet_files(folder: str | os.PathLike[str]) -> list[str]:
    """Name the Parquet files in a folder and those in it, ``part.2`` before ``part.10``."""
    found = [
        os.path.join(place, file)
        for place, _, files in os.walk(folder)
        for file in files
        if os.path.splitext(file)[1].lower() in _PARQUET and file[0] not in "._"
    ]
    return sorted(found, key=_natural)


def _natural(path: str) -> list[tuple[bool, int, str]]:
    """Give a key by which numbers in names are ordered as such."""
    pieces = re.split(r"(\d+)", path)
    return [(piece.isdecimal(), int(piece) if piece.isdecimal() else 0, piece) for piece in pieces]


def need_chunks(form: Form, *, scheduler: bool = False) -> None:
    """Refuse to read in chunks where the packages for it are not installed."""
    for package in ("dask", "pandas", "pyarrow", *(["distributed"] if scheduler else [])):
        _need(package, "dask", "Reading in chunks needs")
    if not form.flat:
        need(form)


def need(form: Form) -> None:
    """Refuse a format whose packages are not installed, and say what to install."""
    _need("polars", "cli", "Tables in files need")
    if not form.flat:
        for package in ("xarray", "netCDF4" if form.kind == "netcdf" else "zarr"):
            _need(package, "xarray", f"A {form.suffix} table needs")


def _need(package: str, extra: str, what: str) -> None:
    try:
        import_module(package)
    except ImportError as error:
        raise ImportError(f"{what} {package}: pip install 'lincfa[{extra}]'") from error
