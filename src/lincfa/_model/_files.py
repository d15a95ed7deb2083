"""Files that are written whole or not at all, and JSON that is read strictly."""

import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

_ATTEMPTS = 100
_START = 1024  # bytes, in which a saved model begins
_MOST_DIGITS = 4300  # of a whole number, which take long to read: the limit of Python itself
_BESIDE_PARQUET = ("_metadata", "_common_metadata", "_SUCCESS")


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file; after an interruption the old file is unchanged."""
    with replacing_all([path]) as (part,), part.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


@contextmanager
def replacing_all(paths: Sequence[str | os.PathLike[str]]) -> Iterator[list[Path]]:
    """Yield a temporary path for each path; nothing is replaced before all are on the disk."""
    # After an error or an interruption the old files are unchanged and the temporary ones removed.
    targets = [_target(path) for path in paths]
    parts = [target.parent / f".lincfa-{token_hex(8)}.part" for target in targets]
    try:
        yield parts
        for part in filter(Path.is_file, parts):
            with part.open("rb+") as file:
                os.fsync(file.fileno())
        for part, target in zip(parts, targets, strict=True):
            _replace(part, target)
    except OSError as error:
        requested = {str(part): os.fspath(path) for part, path in zip(parts, paths, strict=True)}
        name = str(parts[0]) if error.filename is None and len(parts) == 1 else error.filename
        if error.errno is None or name not in requested:
            raise
        # Report the requested file, not the temporary one.
        raise OSError(error.errno, error.strerror, requested[name]) from error
    finally:
        for part in parts:
            _remove(part)


def _target(path: str | os.PathLike[str]) -> Path:
    target = Path(os.path.realpath(path))  # a link stays a link
    if not os.fspath(path) or (target.is_dir() and not is_table(target)):
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} into.")
    return target


def _replace(part: Path, target: Path) -> None:
    if part.is_file():
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
        return
    # A folder cannot replace another in one step: the old one is moved aside first.
    old = part.with_suffix(".old")
    if target.exists():
        target.rename(old)
    try:
        part.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return
    # After an error, threads that write a Zarr store may still be adding files, or the folder.
    for _ in range(_ATTEMPTS):
        shutil.rmtree(path, ignore_errors=True)
        time.sleep(0.05)
        if not path.exists():
            return


def is_store(path: Path) -> bool:
    return any((path / name).is_file() for name in ("zarr.json", ".zgroup"))


def is_table(path: Path) -> bool:
    """Whether a folder is one table: a Zarr store, or Parquet files and nothing else."""
    files = (entry for entry in path.rglob("*") if not entry.is_dir())
    parquet = (file.suffix == ".parquet" or file.name in _BESIDE_PARQUET for file in files)
    return is_store(path) or (next(parquet, False) and all(parquet))


def read_json(path: str | os.PathLike[str]) -> Any:
    """Read a saved model in standard JSON, without NaN and repeated keys; errors name the file."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a key occurs twice in one object.")
        return dict(pairs)

    def refuse(constant: str) -> float:
        raise ValueError(f"{constant} is not valid JSON.")

    def whole(digits: str) -> int:
        if len(digits) > _MOST_DIGITS:  # the time to read them grows with their square
            raise ValueError(f"a number has {len(digits)} digits.")
        return int(digits)

    try:
        with Path(path).open("rb") as file:
            content = file.read(_START)
            if content.strip()[:1] in (b"", b"{"):  # or it is something else, perhaps large
                content += file.read()
        text = content.decode("utf-8")
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse, parse_int=whole)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        if isinstance(error, UnicodeDecodeError) or not text.lstrip().startswith("{"):
            raise ValueError(f"{os.fspath(path)} is not a saved model (not JSON).") from None
        raise ValueError(f"{os.fspath(path)} is damaged: {error}.") from None
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None
    except RecursionError:
        raise ValueError(f"{os.fspath(path)} is nested too deeply.") from None
