"""Files that are written whole or not at all, and JSON that is read strictly."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

_BESIDE_PARQUET = ("_metadata", "_common_metadata", "_SUCCESS")


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so that an interruption leaves the old file, or none."""
    with replacing(path) as part, part.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new name in the same folder, and what was written there takes the place of ``path``.

    This happens when all of it is on the disk; after an error or an interruption the old file is as
    it was, and the new one is gone. A folder may be written in place of a file.
    """
    with replacing_all([path]) as (part,):
        yield part


@contextmanager
def replacing_all(paths: Sequence[str | os.PathLike[str]]) -> Iterator[list[Path]]:
    """Do the same for several files: none takes its place before all are on the disk."""
    targets = [_place(path) for path in paths]
    parts = [target.parent / f".lincfa-{token_hex(8)}.part" for target in targets]
    try:
        yield parts
        for part in parts:
            _onto_disk(part)
        for part, target in zip(parts, targets, strict=True):
            _take_place(part, target)
    except OSError as error:
        names = [os.fspath(path) for path in paths]
        asked = dict(zip(map(str, parts), names, strict=True))
        name = error.filename
        if name is None and len(parts) == 1:
            name = os.fspath(parts[0])
        if error.errno is None or name not in asked:
            raise
        # In the name of the file that was asked for.
        raise OSError(error.errno, error.strerror, asked[name]) from error
    finally:
        for part in parts:
            remove(part)


def _place(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))  # a link stays a link
    if not os.fspath(path) or (target.is_dir() and not is_table(target)):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} into.")
    return target


def _onto_disk(part: Path) -> None:
    if part.is_file():
        with part.open("rb+") as file:
            os.fsync(file.fileno())


def _take_place(part: Path, target: Path) -> None:
    """Put what was written in the place of the target."""
    if part.is_dir():
        old = part.with_suffix(".old")
        if target.exists():
            target.rename(old)
        try:
            part.rename(target)
        except BaseException:
            if old.exists():
                old.rename(target)
            raise
        remove(old)
        return
    if target.exists():
        shutil.copymode(target, part)
    part.replace(target)


def is_store(path: Path) -> bool:
    """Whether a folder is a Zarr store."""
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup"))


def is_table(path: Path) -> bool:
    """Whether a folder is one table: a Zarr store, or Parquet files and nothing else."""
    if is_store(path):
        return True
    found = False
    for entry in path.rglob("*"):
        if entry.is_dir():
            continue
        if entry.suffix != ".parquet" and entry.name not in _BESIDE_PARQUET:
            return False
        found = True
    return found


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a file of plain JSON: nothing that the standard does not know, no name twice.

    Raises
    ------
    ValueError
        Where the file holds anything else; the message names the file.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(
            f"{os.fspath(path)} is not a JSON file, or a damaged one: {error}."
        ) from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    except RecursionError:
        raise ValueError(f"{os.fspath(path)} is nested too deeply.") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name occurs twice in one object.")
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON.")
