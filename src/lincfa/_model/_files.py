"""Files that are written whole or not at all, and JSON that is read strictly."""

import json
import os
import re
import shutil
import stat
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
_ZARR_NODES = ("zarr.json", ".zgroup", ".zarray")
_BESIDE_ZARR_NODES = (".zattrs", ".zmetadata")
_CHUNK_OF_ZARR = r"(c[./])?\d+([./]\d+)*|c"
_KINDS = {
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISSOCK: "a socket",
}


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
        for part, path in zip(parts, paths, strict=True):
            require_replaceable(path, as_folder=part.is_dir())  # it may be another by now
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
    if not os.fspath(path):
        raise IsADirectoryError("'' is a folder; give the name of a file in it.")
    if not target.is_dir():
        require_replaceable(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} into.")
    return target


def require_replaceable(path: str | os.PathLike[str], *, as_folder: bool = False) -> None:
    """Raise if what stands in the place of an output is not of the kind that it may replace."""
    # A file replaces a file; a folder one that is a table of Parquet files or a Zarr store.
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    name = os.fspath(path)
    if not stat.S_ISDIR(mode):
        kind = next((kind for is_kind, kind in _KINDS.items() if is_kind(mode)), None)
        if kind is not None:
            raise FileExistsError(f"{name} is {kind}, which no file can replace; give another name")
    elif not as_folder:
        raise IsADirectoryError(f"{name} is a folder; give the name of a file")
    elif Path(path).is_symlink():
        raise FileExistsError(f"{name} is a link to a folder; give the name of the folder itself")
    elif (foreign := foreign_file(Path(path))) is not None:
        raise FileExistsError(
            f"{name} holds other files too, such as {foreign}; choose a new folder"
        )


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


def foreign_file(folder: Path) -> str | None:
    """Return the first file that does not belong to the one table which a folder may be."""
    # That is a Zarr store, or Parquet files and what other programs write beside them.
    found = _foreign_to_store(folder) if is_store(folder) else _foreign_to_parquet(folder)
    return next((os.path.relpath(path, folder) for path in found), None)


def _foreign_to_parquet(folder: Path) -> Iterator[str]:
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _foreign_to_parquet(Path(entry))
        elif not (
            entry.is_file(follow_symlinks=False)
            and (entry.name.endswith(".parquet") or entry.name in _BESIDE_PARQUET)
        ):
            yield entry.path


def _foreign_to_store(folder: Path, array: Path | None = None) -> Iterator[str]:
    """Yield what is neither the description of a group or an array, nor a chunk of an array."""
    if _describes_array(folder):
        array = folder
    for entry in _entries(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _foreign_to_store(Path(entry), array)
            continue
        own = entry.name in _BESIDE_ZARR_NODES
        if entry.name in _ZARR_NODES:
            own = "zarr_format" in _described(entry.path)
        elif array is not None and not own:
            own = bool(re.fullmatch(_CHUNK_OF_ZARR, Path(entry).relative_to(array).as_posix()))
        if not (own and entry.is_file(follow_symlinks=False)):
            yield entry.path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _describes_array(folder: Path) -> bool:
    return (folder / ".zarray").is_file() or (
        _described(folder / "zarr.json").get("node_type") == "array"
    )


def _described(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a file of a Zarr store says of its folder; nothing if it is none."""
    try:
        document = json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


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
