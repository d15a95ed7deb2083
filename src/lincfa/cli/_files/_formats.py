"""File formats, known by the suffix of the name, which must fit the content and be harmless."""

import codecs
import errno
import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import product
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from ..._replacing import PARQUET, is_store

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".ipc": "feather",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".nc": "netcdf",
    ".nc4": "netcdf",
    ".cdf": "netcdf",
    ".netcdf": "netcdf",
    ".zarr": "zarr",
}
ONLY_READ = (".xlsm", ".xlsb", ".xls", ".ods")
STANDARD_INPUT = "standard input"
_BEGINNINGS = {
    ".gz": b"\x1f\x8b",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\0",
    ".zst": b"\x28\xb5\x2f\xfd",
}
COMPRESSED = tuple(_BEGINNINGS)  # text only; the other formats compress themselves
_TITLES = {
    "csv": "a CSV file",
    "parquet": "a Parquet file",
    "feather": "a Feather (Arrow) file",
    "excel": "an Excel file",
    "netcdf": "a NetCDF file",
    "zarr": "a Zarr store",
}
# How files begin: what they are, and the suffix that says so.
_CONTENTS = {
    b"PAR1": (_TITLES["parquet"], ".parquet"),
    b"ARROW1": (_TITLES["feather"], ".feather"),
    b"\xff\xff\xff\xff": ("an Arrow stream", ".arrow"),
    b"CDF\x01": (_TITLES["netcdf"], ".nc"),
    b"CDF\x02": (_TITLES["netcdf"], ".nc"),
    b"CDF\x05": (_TITLES["netcdf"], ".nc"),
    b"\x89HDF\r\n\x1a\n": (_TITLES["netcdf"], ".nc"),
    b"\xd0\xcf\x11\xe0": (_TITLES["excel"], ".xls"),
}

# Codecs of numcodecs and zarr that only make values of bytes; others may be anything installed.
_HARMLESS = {"blosc", "bz2", "gzip", "lz4", "lzma", "pcodec", "zfpy", "zlib", "zstd"}
_HARMLESS |= {"astype", "bitround", "delta", "fixedscaleoffset", "packbits", "quantize", "shuffle"}
_HARMLESS |= {"adler32", "crc32", "crc32c", "fletcher32", "jenkins_lookup3"}
_HARMLESS |= {"base64", "bytes", "endian", "sharding_indexed", "transpose"}
_HARMLESS |= {"categorize", "json2", "msgpack2", "vlen-array", "vlen-bytes", "vlen-utf8"}
_EXTRAS = {"pcodec", "zfpy"}  # of numcodecs, and the packages that these need
_ROOT = Path("/")
# The files of a control group that tell its limit and what it uses: of version 2, and of 1.
_CGROUP = {"memory.max": "memory.current", "memory.limit_in_bytes": "memory.usage_in_bytes"}
WORKING = 1.5  # how much memory values take while they are read; measured with Parquet files
_STORE_METADATA = (".zarray", ".zmetadata", "zarr.json")
_OF_DAMAGED = (errno.EINVAL, errno.E2BIG)  # NetCDF also reports these of damaged files
_OF_ARRAYS = ("compressor", "filters", "codecs")


@dataclass(frozen=True)
class Format:
    """What it takes to read a file, or to write one like another; None for what is to be found."""

    kind: str  # csv, parquet, feather, excel, netcdf or zarr
    suffix: str  # without that of the compression
    compression: str = ""  # gz, bz2, xz, zst or none
    separator: str | None = None  # of a CSV file
    decimal: str | None = None  # the sign in its numbers
    comment: str | None = None  # how its lines begin that are to be skipped
    sheet: str | None = None  # of an Excel file
    is_folder: bool = False  # of Parquet files

    @property
    def is_grid(self) -> bool:
        """Whether the format holds gridded variables, not only columns."""
        return self.kind in ("netcdf", "zarr")


def format_of(
    path: str | os.PathLike[str], like: Format | None = None, *, writes: bool = False
) -> Format:
    """Return the format that a path means; ``-`` means CSV, a folder the Parquet files in it."""
    # A CSV file like another has its decimal sign, and its separator if the suffixes are equal;
    # else a tab for ``.tsv`` and otherwise a comma, or a semicolon beside decimal commas.
    name = os.path.basename(os.fspath(path).rstrip("/" + os.sep)).lower()
    if name == "-":
        if like is None or like.kind != "csv":
            return Format("csv", ".csv")
        return replace(like, compression="", comment=None)
    stem, last = os.path.splitext(name)
    compression = ""
    if last in COMPRESSED and os.path.splitext(stem)[1] in SUFFIXES:
        compression, last = last[1:], os.path.splitext(stem)[1]
    kind = SUFFIXES.get(last, "")
    if kind != "zarr" and os.path.isdir(path) and is_store(Path(path)):
        reason = f"it is a Zarr store; rename it to {_renamed(path, '.zarr')}"
        raise IsADirectoryError(errno.EISDIR, reason, os.fspath(path))
    if kind in ("", "parquet") and os.path.isdir(path):
        if not parquet_files(path):
            reason = "the folder has no Parquet files"
            raise IsADirectoryError(errno.EISDIR, reason, os.fspath(path))
        return Format("parquet", last if kind else "", is_folder=True)
    if not kind or (compression and kind != "csv"):
        listed = ", ".join(each for each in SUFFIXES if not (writes and each in ONLY_READ))
        folder = (
            "" if last or writes else "; and folders of Parquet files, but there is no such folder"
        )
        raise ValueError(
            f"{os.fspath(path)}: unsupported format. Supported are {listed}; .csv, .tsv and .txt "
            f"also with {', '.join(COMPRESSED)}{folder}."
        )
    separator = "\t" if last == ".tsv" else None
    if like is None or kind != "csv":
        return Format(kind, last, compression, separator)
    if like.suffix == last:
        separator = like.separator
    return Format(
        kind,
        last,
        compression,
        separator or (";" if like.decimal == "," else ","),
        like.decimal or ".",
    )


def parquet_files(folder: str | os.PathLike[str]) -> list[str]:
    """Return the Parquet files in a folder and its subfolders, ``part.2`` before ``part.10``."""
    found = [
        os.path.join(place, file)
        for place, _, files in os.walk(folder)
        for file in files
        if os.path.splitext(file)[1].lower() in PARQUET and file[0] not in "._"
    ]
    return sorted(found, key=_natural_order)


def _natural_order(path: str) -> list[tuple[bool, int, str]]:
    pieces = re.split(r"(\d+)", path)
    return [(piece.isdecimal(), int(piece) if piece.isdecimal() else 0, piece) for piece in pieces]


def check_names(names: list[str], source: str, place: str) -> list[str]:
    """Return the names in a header, which must be unique; libraries would rename duplicates."""
    # One column may have no name: the row labels that other programs write first.
    if not any(name.strip() for name in names):
        raise ValueError(f"{source}: {place} is empty; it should hold the column names.")
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in seen:
            what = f"are both named {name!r}" if name else f"have no name in the header ({place})"
            raise ValueError(f"{source}: columns {seen[name]} and {number} {what}.")
        seen[name] = number
    return names


def require_content(source: str, format: Format, file: BinaryIO) -> None:
    """Raise if a file is in another format than its suffix says, with what to rename it to."""
    title, suffix = _content_of(file)
    if not title or SUFFIXES.get(suffix) == format.kind:
        return
    advice = f"rename it to {_renamed(source, suffix)}" if suffix else "unpack it first"
    if suffix.startswith(".csv"):
        advice = f"if it is a table, {advice}"
    if source == STANDARD_INPUT:
        advice = "give the name of the file, as only CSV is read from there"
    raise ValueError(f"{source} is not {_TITLES[format.kind]} but {title}; {advice}")


def _renamed(path: str | os.PathLike[str], suffix: str) -> str:
    name = Path(path).name
    for known in (*COMPRESSED, *SUFFIXES):
        name = name[: -len(known)] if name.lower().endswith(known) else name
    return name + suffix


def compression_of(head: bytes) -> str:
    """Return the suffix of a compressed file that begins so; nothing of others."""
    found = next((suffix for suffix, begin in _BEGINNINGS.items() if head.startswith(begin)), "")
    # A CSV file may well begin with BZh.
    return "" if found == ".bz2" and head[4:10] != b"1AY&SY" else found


def _content_of(file: BinaryIO) -> tuple[str, str]:
    """Return what a file is by its content, and the suffix for it; nothing where it is unclear."""
    head = file.read(4096)
    for begin, found in _CONTENTS.items():
        if head.startswith(begin):
            return found
    if suffix := compression_of(head):
        return "a compressed file", f".csv{suffix}"
    if head.startswith(b"PK\x03\x04"):
        try:
            names = zipfile.ZipFile(file).namelist()
        except zipfile.BadZipFile:
            return "", ""
        if "content.xml" in names:
            return _TITLES["excel"], ".ods"
        if any(name.startswith("xl/") for name in names):
            return _TITLES["excel"], ".xlsb" if "xl/workbook.bin" in names else ".xlsx"
        return "a ZIP archive", ""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)  # the last may be cut
    except UnicodeDecodeError:
        return "", ""
    return ("text", ".csv") if text and "\0" not in text else ("", "")


def damaged(path: str, format: Format) -> ValueError:
    return ValueError(f"{path} is not {_TITLES[format.kind]}, or it is damaged.")


def require_harmless(path: str, format: Format) -> None:
    """Raise if an array of a store has a codec that may run code or is missing, naming both."""
    # A store names the codecs of its arrays itself, and ``pickle`` runs whatever it holds.
    for name, array in _arrays(path, format):
        with reading(path, format):  # such as of lists nested too deeply
            named = list(_named_in({key: array.get(key) for key in _OF_ARRAYS}))
        for codec in named:
            bare = codec.removeprefix("numcodecs.") if isinstance(codec, str) else ""
            uses = f"{path}: array {name!r} uses the codec {codec!r}, which"
            if bare not in _HARMLESS:
                unknown = "" if bare == "pickle" else "is unknown to lincfa and "
                raise ValueError(
                    f"{uses} {unknown}may execute code; if you trust the store, rewrite the array "
                    "with a standard codec such as zstd"
                )
            if bare in _EXTRAS:
                try:
                    import_module(bare)
                except ImportError as error:
                    needs = f"{uses} needs {bare}: pip install 'numcodecs[{bare}]'"
                    raise ImportError(needs) from error


def _arrays(path: str, format: Format) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the metadata of all arrays that opening a store reads, or that it has a copy of."""
    # xarray opens the arrays of one group, the whole store; arrays of groups in it stay closed.
    for folder in (path, *sorted(entry.path for entry in os.scandir(path) if entry.is_dir())):
        for file in _STORE_METADATA:
            place = os.path.join(folder, file)
            if not os.path.isfile(place):
                continue
            try:
                with open(place, "rb") as opened:
                    metadata = json.load(opened)
            except (ValueError, RecursionError) as error:
                raise damaged(place, format) from error
            if not isinstance(metadata, dict):
                raise damaged(place, format)
            yield os.path.relpath(folder, path), metadata
            yield from _copies(metadata)


def _copies(metadata: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield consolidated metadata: those of format 2, and those in a ``zarr.json``."""
    inline = metadata.get("consolidated_metadata")
    for holder in (metadata, inline):
        copies = holder.get("metadata") if isinstance(holder, dict) else None
        for name, copy in copies.items() if isinstance(copies, dict) else ():
            if isinstance(copy, dict):
                yield str(name).removesuffix("/.zarray"), copy


def _named_in(configured: Any) -> Iterator[Any]:
    """Yield the names of codecs, also of those in the configuration of others."""
    if isinstance(configured, list):
        for each in configured:
            yield from _named_in(each)
    elif isinstance(configured, dict):
        for key, value in configured.items():
            if key in ("id", "name"):
                yield value
            elif key.endswith("codecs") and isinstance(value, list):  # those of a shard
                yield from (each for each in value if isinstance(each, str))
            yield from _named_in(value)


_IN_CHUNKS = (
    "lincfa reduce, predict and apply read Parquet files and .zarr stores in chunks, with --dask"
)


def require_memory(source: str, size: float, advice: str = _IN_CHUNKS) -> None:
    """Raise if the values of a file, which may be small itself, need more memory than there is."""
    needed, available = WORKING * size, available_memory()
    if needed > available:
        raise exceeds_memory(source, f"about {gigabytes(needed)}", available, advice)


def exceeds_memory(
    source: str, needed: str, available: float, advice: str = _IN_CHUNKS
) -> ValueError:
    return ValueError(
        f"{source} needs {needed} of memory once decompressed, but only {gigabytes(available)} is "
        f"available; {advice}"
    )


def available_memory() -> float:
    """Return how many bytes this process may still take, infinite where nothing tells."""
    available = [inf, *_left_by_cgroups()]
    with suppress(OSError):
        found = re.findall(r"MemAvailable: *(\d+) kB", (_ROOT / "proc/meminfo").read_text())
        available += [1024 * int(each) for each in found]
    with suppress(ImportError, OSError):
        import resource  # not on Windows

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        pages = int((_ROOT / "proc/self/statm").read_text().split()[0])
        if limit != resource.RLIM_INFINITY:
            available.append(limit - pages * resource.getpagesize())
    return max(0, min(available))


def _left_by_cgroups() -> Iterator[int]:
    """Yield what the control groups of this process leave it: its own, and those around it."""
    with suppress(OSError, ValueError):
        for line in (_ROOT / "proc/self/cgroup").read_text().splitlines():
            _, controller, place = line.split(":", 2)  # no controller in version 2
            if controller not in ("", "memory"):
                continue
            own = _ROOT / "sys/fs/cgroup" / controller / place.lstrip("/")
            for folder, (limit, used) in product((own, *own.parents), _CGROUP.items()):
                with suppress(OSError, ValueError):  # no limit there, or the word "max"
                    largest = int((folder / limit).read_text())
                    stat = (folder / "memory.stat").read_text()
                    # Version 1 adds totals that include the groups within; the last count.
                    cache = dict(re.findall(r"^(?:total_)?((?:in)?active_file) (\d+)$", stat, re.M))
                    yield largest - int((folder / used).read_text()) + sum(map(int, cache.values()))


def gigabytes(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:.1f} MB"


def is_text(path: str) -> bool:
    """Whether the name of a file is valid Unicode, as polars, pyarrow and NetCDF need it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def require_name(path: str, format: Format) -> None:
    """Raise if a library cannot open a file because of its name."""
    if format.kind == "netcdf" and not is_text(os.path.abspath(path)):
        raise ValueError(f"{path}: names of NetCDF files and of their folders must be UTF-8 text")


@contextmanager
def by_name(path: str) -> Iterator[Any]:
    """Yield the path of a file, or if its name is not valid Unicode the open file."""
    if is_text(path):
        yield path
        return
    with open(path, "rb") as file:
        yield file


@contextmanager
def reading(path: str, format: Format) -> Iterator[None]:
    """Report a file that cannot be read as damaged, unless the system reports an error."""
    try:
        yield
    except ImportError as error:
        raise ImportError(f"{path} needs a package that is missing: {error}") from error
    except MemoryError:
        raise
    except BaseException as error:
        number = getattr(error, "errno", None)
        of_system = isinstance(number, int) and number > 0 and number not in _OF_DAMAGED
        panic = type(error).__name__ == "PanicException"  # of polars
        if of_system or not (panic or isinstance(error, Exception)):
            raise
        raise damaged(path, format) from error


def require_packages(
    format: Format, *, dask: bool = False, scheduler: bool = False, writes: bool = False
) -> None:
    """Raise if a package for this format is missing, with what to install."""
    needed = [("polars", "cli", "Reading files")]
    if dask:
        packages = ["dask", "pandas", "pyarrow", *(["distributed"] if scheduler else [])]
        needed += [(package, "dask", "Reading in chunks") for package in packages]
    if format.kind == "excel":
        package = "xlsxwriter" if writes else "fastexcel"
        needed.append((package, "cli", f"{format.suffix} files"))
    if format.is_grid:
        engine = "netCDF4" if format.kind == "netcdf" else "zarr"
        needed += [(package, "xarray", f"{format.suffix} files") for package in ("xarray", engine)]
    for package, extra, what in needed:
        try:
            import_module(package)
        except ImportError as error:
            verb = "needs" if what.startswith("Reading") else "need"
            raise ImportError(f"{what} {verb} {package}: pip install 'lincfa[{extra}]'") from error
