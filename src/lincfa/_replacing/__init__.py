"""Files and folders that are written whole or not at all."""

import errno
import os
import shutil
import signal
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ._folders import PARQUET as PARQUET
from ._folders import foreign_file
from ._folders import is_store as is_store
from ._journal import Journal, sync
from ._journal import repair as repair

_OF_DISKS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}
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
    """Yield a temporary path for each path; all are replaced when all are complete, or none."""
    with Replacement(paths) as replacement:
        yield replacement.prepare()


class Replacement:
    """Files and folders that take the place of others together, or not at all.

    What is new is written beside the old, under hidden names, which a journal lists; when all of it
    is on the disk, the old is moved aside and the new into its place, and at last the old is
    removed. After an error everything is as it was. Processes that do so in the same folder take
    turns. The journal is locked as long as this process lives, so that any later one knows what
    it left behind, and can put it right: ``repair``.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]], *, force: bool = True) -> None:
        self._paths = [os.fspath(path) for path in paths]
        self._targets = [_target(path) for path in paths]
        self._force = force
        self._journal: Journal | None = None

    def __enter__(self) -> "Replacement":
        return self

    def prepare(self) -> list[Path]:
        """Return temporary paths, at which to write what is new."""
        if not self._targets:
            return []
        with suppress(FileExistsError):
            repair({target.parent for target in self._targets})
        with self._naming_outputs():
            self._journal = Journal.begin(self._targets)
        return [move.part for move in self._journal.moves]

    @property
    def journal(self) -> Path | None:
        """The file that says what is being written, if anything is."""
        return None if self._journal is None else self._journal.path

    def __exit__(self, kind: type[BaseException] | None, error: object, _: object) -> None:
        if self._journal is None:
            return
        try:
            with self._naming_outputs():
                if isinstance(error, OSError):
                    raise error
                if kind is None:
                    self._commit(self._journal)
        finally:
            self._journal.end()

    def _commit(self, journal: Journal) -> None:
        for move in journal.moves:
            sync(move.part)
        with journal.alone() as locks, _signals_deferred():
            for move, path in zip(journal.moves, self._paths, strict=True):
                require_replaceable(path, as_folder=move.part.is_dir())  # it may be another by now
                if move.target.exists():
                    if not self._force:
                        raise FileExistsError(f"{path} exists by now, and is not replaced.")
                    if move.part.is_file():
                        shutil.copymode(move.target, move.part)
            journal.move_all()
            locks.release()  # others need not wait until the old is removed
            journal.end()

    @contextmanager
    def _naming_outputs(self) -> Iterator[None]:
        """Let errors of the system name the output, and not the temporary file."""
        try:
            yield
        except OSError as error:
            name = error.filename
            if error.errno is None or (name is None and error.errno not in _OF_DISKS):
                raise
            outputs = self._paths
            if self._journal is not None and (name is not None or len(outputs) > 1):
                place = Path(os.fsdecode(name or ""))
                parts = zip(self._paths, self._journal.moves, strict=True)
                outputs = [path for path, move in parts if place.is_relative_to(move.part)]
            if not outputs:
                raise
            raise OSError(error.errno, error.strerror, outputs[0]) from error


@contextmanager
def temporary(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield a path for a file that is removed in the end, and that of the journal that says so."""
    journal = Journal.begin([folder / "temporary"])
    try:
        yield journal.moves[0].part, journal.path
    finally:
        journal.end()


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Hold signals back until the block ends, then deliver them."""
    caught: list[int] = []
    try:
        with handling_signals(lambda number, _: caught.append(number)):
            yield
    finally:
        for number in caught:
            signal.raise_signal(number)


@contextmanager
def handling_signals(
    handler: "signal._HANDLER", names: Sequence[str] = ("SIGINT", "SIGTERM", "SIGHUP")
) -> Iterator[None]:
    """Replace the handlers of signals for a while; ignored signals (nohup) stay ignored."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (getattr(signal, name) for name in names if hasattr(signal, name)):
            # None stands for a handler that is not Python's, which could not be put back.
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def repair_beside(path: str | os.PathLike[str]) -> None:
    """Put right what a killed process has left in the folder of a file that is to be read."""
    repair([Path(os.path.abspath(path)).parent])


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
