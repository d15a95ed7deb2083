"""Folders that are one table: Parquet files, or a Zarr store, and nothing else beside them."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PARQUET = (".parquet", ".pq", ".parq")
_BESIDE_PARQUET = ("_metadata", "_common_metadata", "_SUCCESS")
_ZARR_NODES = ("zarr.json", ".zgroup", ".zarray")
_BESIDE_ZARR_NODES = (".zattrs", ".zmetadata")
_CHUNK_OF_ZARR = r"(c[./])?\d+([./]\d+)*|c"


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
            and (entry.name.lower().endswith(PARQUET) or entry.name in _BESIDE_PARQUET)
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
