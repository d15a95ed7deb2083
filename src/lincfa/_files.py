"""Files that are written whole or not at all, and JSON that is read strictly."""

import json
import os
import shutil
from pathlib import Path
from secrets import token_hex
from typing import Any


def write_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file so that an interruption leaves the old file, or none.

    The text goes to a new file in the same folder, which takes the place of the old one when all of
    it is on the disk.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    if not os.fspath(path) or target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; give the name of a file in it.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} into.")
    part = target.parent / f".lincfa-{token_hex(8)}.part"
    try:
        with part.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.errno is None:
            raise
        # In the name of the file that was asked for.
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


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
