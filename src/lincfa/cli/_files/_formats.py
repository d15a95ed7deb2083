"""File formats, known by the suffix of the name."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module

SUFFIXES = {
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
    ".cdf": "netcdf",
    ".netcdf": "netcdf",
    ".zarr": "zarr",
}
_PARQUET = (".parquet", ".pq", ".parq")
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # text only; the other formats compress themselves
_TITLES = {
    "parquet": "Parquet file",
    "feather": "Feather (Arrow) file",
    "netcdf": "NetCDF file",
    "zarr": "Zarr store",
}


@dataclass(frozen=True)
class Format:
    """What it takes to write a file like another one."""

    kind: str  # csv, parquet, feather, netcdf or zarr
    suffix: str  # without that of the compression
    compression: str = ""  # gz, bz2, xz, zst or none
    separator: str = ","  # of a CSV file
    is_folder: bool = False  # of Parquet files

    @property
    def is_grid(self) -> bool:
        """Whether the format holds gridded variables, not only columns."""
        return self.kind in ("netcdf", "zarr")


def format_of(path: str | os.PathLike[str], like: Format | None = None) -> Format:
    """Return the format that a path means; ``-`` means CSV, a folder the Parquet files in it."""
    # The separator of a CSV file is that of ``like`` if the suffixes are equal, else a tab for
    # ``.tsv`` and a comma otherwise.
    name = os.path.basename(os.fspath(path).rstrip("/" + os.sep)).lower()
    if name == "-":
        is_csv = like is not None and like.kind == "csv"
        return replace(like, compression="") if like and is_csv else Format("csv", ".csv")
    stem, last = os.path.splitext(name)
    compression = ""
    if last in COMPRESSED and os.path.splitext(stem)[1] in SUFFIXES:
        compression, last = last[1:], os.path.splitext(stem)[1]
    kind = SUFFIXES.get(last, "")
    if kind in ("", "parquet") and os.path.isdir(path):
        if not parquet_files(path):
            reason = "the folder has no Parquet files"
            raise IsADirectoryError(errno.EISDIR, reason, os.fspath(path))
        return Format("parquet", last if kind else "", is_folder=True)
    if not kind or (compression and kind != "csv"):
        raise ValueError(
            f"{os.fspath(path)}: unsupported format. Supported are {', '.join(SUFFIXES)}; .csv, "
            f".tsv and .txt also with {', '.join(COMPRESSED)}"
            + ("; and folders of Parquet files, but there is no such folder." if not last else ".")
        )
    separator = "\t" if last == ".tsv" else ","
    if like is not None and (like.kind, like.suffix) == (kind, last):
        separator = like.separator
    return Format(kind, last, compression, separator)


def parquet_files(folder: str | os.PathLike[str]) -> list[str]:
    """Return the Parquet files in a folder and its subfolders, ``part.2`` before ``part.10``."""
    found = [
        os.path.join(place, file)
        for place, _, files in os.walk(folder)
        for file in files
        if os.path.splitext(file)[1].lower() in _PARQUET and file[0] not in "._"
    ]
    return sorted(found, key=_natural_order)


def _natural_order(path: str) -> list[tuple[bool, int, str]]:
    pieces = re.split(r"(\d+)", path)
    return [(piece.isdecimal(), int(piece) if piece.isdecimal() else 0, piece) for piece in pieces]


def damaged(path: str, format: Format) -> ValueError:
    return ValueError(f"{path} is not a {_TITLES[format.kind]}, or it is damaged.")


@contextmanager
def reading(path: str, format: Format) -> Iterator[None]:
    """Report a file that cannot be read as damaged, unless the system reports an error."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":  # of polars
            raise damaged(path, format) from None
        raise


def require_packages(format: Format, *, dask: bool = False, scheduler: bool = False) -> None:
    """Raise if a package for this format is missing, with what to install."""
    needed = [("polars", "cli", "Reading files")]
    if dask:
        packages = ["dask", "pandas", "pyarrow", *(["distributed"] if scheduler else [])]
        needed += [(package, "dask", "Reading in chunks") for package in packages]
    if format.is_grid:
        engine = "netCDF4" if format.kind == "netcdf" else "zarr"
        needed += [(package, "xarray", f"{format.suffix} files") for package in ("xarray", engine)]
    for package, extra, what in needed:
        try:
            import_module(package)
        except ImportError as error:
            verb = "needs" if what.startswith("Reading") else "need"
            raise ImportError(f"{what} {verb} {package}: pip install 'lincfa[{extra}]'") from error
