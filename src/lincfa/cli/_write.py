"""Output files: checked before the work begins, and written all or none."""

import argparse
import errno
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .._data._names import describe_columns
from .._replacing import (
    Replacement,
    _journal,
    repair,
    repair_beside,
    require_replaceable,
    temporary,
)
from ._files import DataFile
from ._files._csv import write_csv
from ._files._excel import write_sheet
from ._files._fields import FieldFile, dataset_of, reduced_array, with_reduced, with_storable_names
from ._files._formats import (
    COMPRESSED,
    ONLY_READ,
    SUFFIXES,
    Format,
    format_of,
    require_name,
    require_packages,
)
from ._files._tables import Indices, TableFile, beside, named_columns
from ._terminal import Terminal

if TYPE_CHECKING:
    import polars as pl


def output_paths(
    options: argparse.Namespace,
    others: Mapping[str, str],
    inputs: Sequence[str] = (),
    ending: str = "reduced",
) -> dict[str, str]:
    """Return the paths to write, by option; raise if the table cannot be written as asked."""
    if options.data != "-":
        repair_beside(options.data)
    format = format_of(options.data)
    output = options.output or _named_after(options.data, format, ending)
    chunked = format.is_folder or options.dask is not None
    require_packages(format, dask=chunked, scheduler="://" in (options.dask or ""))
    paths = {"--output": output, **others}
    folders = ["--output"] if chunked or is_named_as_store(output) else []
    check_outputs(paths, [*inputs, options.data], options.force, folders)
    if not chunked:
        _format_to_write(output)
        return paths
    suffix = Path(output).suffix.lower()
    if SUFFIXES.get(suffix, "parquet") not in ("parquet", "zarr") or suffix in COMPRESSED:
        raise ValueError(
            f"{output}: data read in chunks are written as a folder of Parquet files, or as .zarr"
        )
    read = os.path.realpath(options.data)
    if os.path.isdir(read) and os.path.realpath(output).startswith(read + os.sep):
        raise ValueError(f"{output} is in the input folder; choose another with --output")
    return paths


def _format_to_write(path: str) -> Format:
    """Return the format that a path means; one that cannot be written is refused."""
    format = format_of(path, writes=True)
    if format.suffix in ONLY_READ:
        raise ValueError(f"{path}: Excel files are written as .xlsx, not as {format.suffix}")
    require_name(path, format)
    require_packages(format, writes=True)
    return format


def _named_after(data: str, format: Format, ending: str) -> str:
    """Name the output after the input, in the current folder."""
    if data == "-":
        return f"{ending}.csv"
    suffix = format.suffix + (f".{format.compression}" if format.compression else "")
    name = Path(os.path.abspath(data)).name
    written = ".xlsx" if format.kind == "excel" else suffix  # .xls and others are only read
    return f"{name[: len(name) - len(suffix)]}-{ending}{written}"


def is_named_as_store(path: str) -> bool:
    return path.lower().endswith(".zarr")


def check_outputs(
    outputs: Mapping[str, str], inputs: Sequence[str], force: bool, folders: Collection[str] = ()
) -> None:
    """Raise, before any work, if an output would replace an input or, without --force, a file."""
    # ``outputs`` are paths by option; ``folders`` the options whose outputs are folders.
    for path in inputs:
        if path != "-" and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    read = {Path(os.path.realpath(path)) for path in inputs if path != "-"}
    places = {
        option: Path(os.path.realpath(path)) for option, path in outputs.items() if path != "-"
    }
    repair({place.parent for place in places.values()})
    seen: dict[Path, str] = {}
    for option, place in places.items():
        path = outputs[option]
        if place in read:
            raise ValueError(f"{path} is an input; choose another file with {option}")
        if place in seen:
            raise ValueError(f"{option} and {seen[place]} are the same file, {path}")
        seen[place] = option
        _require_place(option, path, force, as_folder=option in folders)
    for option in places.keys() & folders:
        for each, what in [*((path, "an input") for path in read), *seen.items()]:
            if places[option] in each.parents:
                raise ValueError(
                    f"{outputs[option]} holds {what}, {each}; choose another folder with {option}"
                )


def _require_place(option: str, path: str, force: bool, *, as_folder: bool) -> None:
    """Raise if an output cannot be written to a path, or not without --force."""
    try:
        require_replaceable(path, as_folder=as_folder)
    except OSError as error:
        if error.errno is not None:
            raise
        pipe = "; - is standard output" if option == "--output" and not os.path.isdir(path) else ""
        raise ValueError(f"{error} with {option}{pipe}") from None
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise ValueError(f"{path}: the folder {folder} does not exist")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{path}: the folder {folder} is not writable")
    if os.path.exists(path) and not force:
        raise ValueError(f"{path} exists; use --force to replace it, or another {option}")


@contextmanager
def replacing(paths: Sequence[str], *, force: bool) -> Iterator[Callable[[], dict[str, Path]]]:
    """Replace files, all or none, when the block ends without an error."""
    # Yields a function to call when writing begins, which returns a temporary path for each file;
    # standard output (``-``) has none.
    files = [path for path in paths if path != "-"]
    with ExitStack() as stack, Replacement(files, force=force) as replacement:

        def prepare() -> dict[str, Path]:
            parts = replacement.prepare()
            if replacement.journal is not None:
                stack.enter_context(_cleaning_up(replacement.journal))
            return dict(zip(files, parts, strict=True))

        yield prepare


@contextmanager
def _cleaning_up(journal: Path) -> Iterator[None]:
    """Have another process remove what a journal lists, if a signal ends this one meanwhile."""
    # It waits for the end of its standard input. Who reads our standard error until its end will
    # find everything cleaned up, as the other process has it too.
    command = [sys.executable, "-IS", _journal.__file__, os.fspath(journal)]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    try:
        process = subprocess.Popen(command, stdin=pipe, stdout=null, start_new_session=True)
    except OSError:  # the next command will do it
        yield
        return
    with process:
        try:
            yield
        finally:
            process.kill()


@contextmanager
def naming_file(part: Path) -> Iterator[Path]:
    """Let an error of the disk name the file, which many libraries do not; yields the file."""
    try:
        yield part
    except Exception as error:
        number = getattr(error, "errno", None)
        if number is None:  # polars has only text
            found = re.search(r"\(os error (\d+)\)", str(error))
            number = None if found is None else int(found[1])
            if found is None and "transport error" in str(error):  # at the end of a Parquet file
                number = _error_number(part.parent)
        if number is None or getattr(error, "filename", None) is not None:
            raise
        raise OSError(number, os.strerror(number), os.fspath(part)) from error


_PROBE = 2**20  # bytes for which a disk that is not full has room


def _error_number(folder: Path) -> int:
    """Return why nothing can be written where a library does not say: no room, or EIO."""
    try:
        with TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE))
    except OSError as error:
        return error.errno or errno.EIO
    return errno.EIO


class Added(Protocol):
    """What a file has besides the columns of the data, made of their reduced features."""

    @property
    def names(self) -> list[str]:
        """Names of columns in a table."""

    def columns(self, names: Sequence[str], reduced: Any) -> "list[pl.Series]":
        """Make these columns, under other names if they must have others."""

    def in_dataset(self, kept: Any, reduced: Any, dim: str, terminal: Terminal) -> Any:
        """Add the same to a data set whose samples are along a dimension."""


@dataclass(frozen=True)
class ReducedFeatures:
    """The reduced features themselves."""

    model: Any

    @property
    def names(self) -> list[str]:
        return list(self.model.groups_by_name())

    def columns(self, names: Sequence[str], reduced: Any) -> "list[pl.Series]":
        return named_columns(names, reduced)

    def in_dataset(self, kept: Any, reduced: Any, dim: str, terminal: Terminal) -> Any:
        return with_reduced(kept, reduced_array(reduced, self.model, dim), self.model)


def write_reduced(
    part: Path | None,
    path: str,
    data: DataFile,
    keep: list[str],
    rows: Indices,
    reduced: Any,
    added: Added,
    terminal: Terminal,
    *,
    as_numbers: Collection[str] = (),
) -> None:
    """Write rows of the columns to keep, and what is made of their reduced features."""
    # ``part`` is a temporary path (None for standard output), ``path`` the one it will have. A
    # format with types gets the columns of a CSV as text, but those in ``as_numbers``.
    if data.in_chunks:
        format = Format("zarr" if is_named_as_store(path) else "parquet", "", is_folder=True)
    else:
        format = format_of(path, like=data.format)
    lost = _unsupported(data, keep, format)
    if lost:
        listed = describe_columns(lost, range(len(lost)))
        terminal.note(f"{path} cannot hold {listed}; the format of {data.source} can")
    keep = [name for name in keep if name not in set(lost)]
    if format.kind == "csv":
        as_numbers = ()
    with _standard_output() if part is None else naming_file(part) as place:
        if format.is_grid:
            if isinstance(data, FieldFile):
                kept = data.kept_dataset(keep, rows, format)
            else:
                kept = dataset_of(data.kept_frame(keep, rows, as_numbers))
            _save(added.in_dataset(kept, reduced, data.sample_dim, terminal), place, format)
            return
        columns = partial(added.columns, distinct(added.names, set(keep), terminal))
        if isinstance(data, TableFile) or not data.in_chunks:
            frame = data.kept_frame(keep, rows, as_numbers)
            write_frame(place, beside(frame, columns(np.asarray(reduced))), format)
        else:
            place.mkdir()
            data.write_parts(os.fspath(place), keep, rows, reduced, columns)


@contextmanager
def _standard_output() -> Iterator[Path]:
    """Yield a temporary path, and copy what was written there to standard output."""
    if sys.stdout is None:
        raise ValueError("there is no standard output to write to")
    with temporary(Path(gettempdir())) as (place, journal), _cleaning_up(journal):
        yield place
        with place.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


_CODECS = ("compressors", "filters", "serializer", "shards")
"""How a store in format 3 keeps values, which format 2 does not understand."""


def _save(dataset: Any, part: Path, format: Format) -> None:
    """Write a data set; Zarr in format 2, which every reader knows."""
    dataset = with_storable_names(dataset, format)
    with warnings.catch_warnings():  # finer units than those of the file, where dates need them
        warnings.filterwarnings("ignore", message="Times can't be serialized", category=UserWarning)
        if format.kind == "zarr":
            for variable in dataset.variables.values():
                for name in _CODECS:
                    variable.encoding.pop(name, None)
            dataset.to_zarr(part, mode="w", zarr_format=2, consolidated=True)
            return
        try:
            dataset.to_netcdf(part, engine="netcdf4")
        except RuntimeError as error:  # which is all that the library says, also of a full disk
            number = _error_number(part.parent)
            reason = os.strerror(number)
            if number == errno.EIO:
                reason = f"the NetCDF library cannot write it ({error})"
            raise OSError(number, reason, os.fspath(part)) from error


def write_frame(part: Path, frame: "pl.DataFrame", format: Format) -> None:
    if format.kind == "csv":
        write_csv(os.fspath(part), frame, format)
        return
    with part.open("wb") as file:
        if format.kind == "parquet":
            frame.write_parquet(file)
        elif format.kind == "excel":
            write_sheet(file, frame)
        else:
            frame.write_ipc(file, compression="zstd")


def _unsupported(data: DataFile, keep: Sequence[str], format: Format) -> list[str]:
    """Return what a format cannot hold: lists in CSV and grids, gridded variables in tables."""
    import polars as pl

    if isinstance(data, FieldFile):
        return [] if format.is_grid else data.not_columns
    if format.kind in ("parquet", "feather"):
        return []
    binary = (pl.Binary, pl.Object)
    return [n for n in keep if data.schema[n].is_nested() or isinstance(data.schema[n], binary)]


def distinct(names: Sequence[str], taken: set[str], terminal: Terminal) -> list[str]:
    """Rename new columns that have the name of a column that is kept."""
    result, used = [], taken | set(names)
    for name in names:
        if name in taken:
            new = next(f"{name} #{k}" for k in count(2) if f"{name} #{k}" not in used)
            terminal.note(f"{name!r} is written as {new!r}: there is a column of that name")
            used.add(new)
            name = new
        result.append(name)
    return result


def write_table(part: Path, path: str, frame: "pl.DataFrame") -> None:
    """Write a table to a temporary path, in the format of the one that it will have."""
    format = _format_to_write(path)
    if format.is_grid:
        _save(dataset_of(frame), part, format)
    else:
        write_frame(part, frame, format)
