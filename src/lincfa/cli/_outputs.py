"""Files to write: named, refused or not before the work begins, and written all or none."""

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data._names import describe_columns
from .._model._files import is_store, is_table, replacing
from ._files import Form, TableFile, form_of, left_out, write_table
from ._talk import Talk

if TYPE_CHECKING:
    import polars as pl


def check_outputs(
    outputs: Mapping[str, str], inputs: Sequence[str], force: bool, *, parts: bool = False
) -> None:
    """Refuse, before any work, to write over what is there or what is read.

    ``outputs`` are paths by the option that names them. With ``parts``, the table is written as a
    folder, which may take the place of a folder of Parquet files.
    """
    for path in inputs:
        if path != "-" and not os.path.exists(path):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    seen: dict[str, str] = {}
    read = {os.path.realpath(path) for path in inputs if path != "-"}
    for option, path in outputs.items():
        if path == "-":
            continue
        place = os.path.realpath(path)
        if place in read:
            raise ValueError(f"{path} is what is read; give another file with {option}")
        if place in seen:
            raise ValueError(f"{option} and {seen[place]} name the same file, {path}")
        seen[place] = option
        folder = Path(place).parent
        if not folder.is_dir():
            raise ValueError(f"{path}: there is no folder {folder} to write into")
        if not os.access(folder, os.W_OK):
            raise ValueError(f"{path}: the folder {folder} cannot be written into")
        in_parts = parts and option == "--output"
        replaceable = is_table if in_parts else is_store
        if Path(place).is_dir() and not replaceable(Path(place)):
            what = "holds more than Parquet files; give a new folder" if in_parts else "is a folder"
            name = "" if in_parts else "; give the name of a file"
            raise ValueError(f"{path} {what}{name} with {option}")
        if Path(place).exists() and not force:
            raise ValueError(f"{path} exists; --force replaces it, or name another with {option}")


@contextmanager
def blaming(part: Path) -> Iterator[None]:
    """Let an error of a disk, which often names no file, name the one that is written."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(part)) from error


def named_after(data: str, form: Form) -> str:
    """Name the reduced table after the table: in the folder where one works."""
    if data == "-":
        return "reduced.csv"
    suffix = form.suffix + (f".{form.compression}" if form.compression else "")
    name = Path(os.path.abspath(data)).name
    return f"{name[: len(name) - len(suffix)]}-reduced{suffix}"


def write_reduced(
    reducer: Any,
    table: TableFile,
    keep: list[str],
    rows: npt.NDArray[np.bool_],
    reduced: npt.NDArray[Any],
    path: str,
    part: Path | None,
    talk: Talk,
) -> None:
    """Write the columns that are kept, and the reduced features behind them."""
    members = reducer.groups_by_name()
    names = unlike(list(members), set(keep), talk)
    form = form_of(path, like=table.form)
    note_lost(left_out(table, keep, form), path, table.source, talk)

    def write(place: Any) -> None:
        write_table(
            place,
            table,
            keep,
            rows,
            reduced,
            names,
            form=form,
            members=list(members.values()),
            units=units_of(reducer),
        )

    if part is None:
        _write_to_stdout(write)
    else:
        with blaming(part):
            write(part)


def units_of(reducer: Any) -> str | None:
    """Give the units of the reduced features of a field, if all of its variables have the same."""
    from .._data._field._build import reduced_attributes

    field = getattr(reducer, "field_", None)
    units = None if field is None else reduced_attributes(field, reducer.units).get("units")
    return None if units is None else str(units)


def write_frame(path: str, frame: "pl.DataFrame") -> None:
    """Write a table of our own, in the format of the suffix."""
    form = form_of(path)
    table = TableFile(path, frame, form)
    nothing = np.empty((frame.height, 0))
    with replacing(path) as part:
        write_table(part, table, frame.columns, None, nothing, [], form=form)


def note_lost(lost: Sequence[str], path: str, source: str, talk: Talk) -> None:
    """Note what the format of a file cannot hold, if there is anything."""
    if lost:
        talk.note(
            f"{path} cannot hold {describe_columns(lost, range(len(lost)))}; a file in the format "
            f"of {source} can"
        )


def tell_applied(model: Any, n_samples: int, path: str, talk: Talk) -> None:
    """Say what a saved model has reduced, for a person or a program."""
    talk.say(f"{n_samples} rows, {model.summary().headline}")
    talk.say(f"output: {path}" if path != "-" else "output: standard output")
    talk.give(
        {
            "headline": model.summary().headline,
            "n_samples": n_samples,
            "n_features": model.n_features_in_,
            "n_groups": model.n_groups_,
            "notes": talk.notes,
            "written": {"output": path},
        }
    )


def unlike(names: list[str], taken: set[str], talk: Talk) -> list[str]:
    """Rename reduced features that are called like a column that is kept."""
    result = []
    used = taken | set(names)
    for name in names:
        if name in taken:
            new = next(f"{name} #{k}" for k in count(2) if f"{name} #{k}" not in used)
            talk.note(f"the reduced feature {name!r} is written as {new!r}: the table has the name")
            used.add(new)
            name = new
        result.append(name)
    return result


def _write_to_stdout(write: Callable[[str], None]) -> None:
    """Let something be written to a file, and pass it on to standard output."""
    if sys.stdout is None:
        raise ValueError("there is no standard output to write to")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        write(os.fspath(path))
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
