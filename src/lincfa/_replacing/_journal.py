"""Files and folders that are moved together, by a journal from which a later process can go on.

This module is also a program, which imports nothing of the package: it waits for the end of another
process, and puts right what that has left behind.
"""

import json
import os
import re
import shutil
import sys
import time
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeAlias

_PREFIX, _JOURNAL = ".lincfa-", ".journal"
_LOCK = f"{_PREFIX}lock"
_ATTEMPTS = 100
_TURNS = 600  # attempts at what another process may be about to finish
_PAUSE = 0.05  # seconds between two attempts
_Identity: TypeAlias = list[int] | None
_own: set[str] = set()  # names of the journals of this process, whose locks do not keep it out


class Journal:
    """What a process is about to move, in a file that it has locked.

    Its first line lists the targets; the second, which files and folders these and the new ones
    are, and from then on they may have been moved; the third says that all have been.
    """

    def __init__(self, path: Path, file: IO[bytes], targets: Sequence[Path]) -> None:
        self.path = path
        self._file = file
        self._unsettled = False  # whether something may be in a place that is not its own
        hidden = [target.parent / f"{path.stem}-{k}" for k, target in enumerate(targets)]
        self.moves = [
            Move(target, Path(f"{name}.part"), Path(f"{name}.old"))
            for target, name in zip(targets, hidden, strict=True)
        ]
        self.folders = {target.parent for target in targets}
        self._links = [folder / path.name for folder in self.folders - {path.parent}]

    @classmethod
    def begin(cls, targets: Sequence[Path]) -> "Journal":
        """Begin a journal beside the first target, with links to it beside the others."""
        while True:
            name = f"{_PREFIX}{os.getpid()}-{token_hex(8)}{_JOURNAL}"
            path = targets[0].parent / name
            _own.add(path.name)
            file = path.open("xb+")
            _lock(file, wait=True)
            if _is_at(file.fileno(), path):  # and nobody thought that a dead process had left it
                break
            file.close()
        journal = cls(path, file, targets)
        try:
            journal._add([os.path.relpath(target, path.parent) for target in targets])
            for link in journal._links:
                with suppress(OSError):  # some systems have no links
                    link.symlink_to(os.path.relpath(path, link.parent))
        except BaseException:
            journal.end()
            raise
        return journal

    def _add(self, line: Any) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()

    @contextmanager
    def alone(self) -> Iterator["FolderLocks"]:
        """Keep other processes from moving files in the same folders, when none does any more."""
        # What is written into a file that is itself hidden is no other's to move.
        targets = [m.target for m in self.moves if not m.target.name.startswith(_PREFIX)]
        folders = {target.parent for target in targets}
        for _ in range(_TURNS):
            with FolderLocks() as locks:
                # Who has moved files there without the locks has died, or puts that right.
                if locks.take(folders) and not _unfinished(folders, locks):
                    yield locks
                    return
            time.sleep(_PAUSE)
        found = [re.match(rf"{re.escape(_PREFIX)}(\d+)-", n) for n in _unfinished(folders)]
        process = next((f" (process {match[1]})" for match in found if match is not None), "")
        raise TimeoutError(
            f"{', '.join(map(str, targets))}: another lincfa command{process} is replacing files "
            "there; try again when it has finished"
        )

    def move_all(self) -> None:
        """Make all moves, or none."""
        if len(self.moves) == 1 and self.moves[0].is_one_step():
            (move,) = self.moves
            move.part.replace(move.target)
            _sync_folder(move.target.parent)
            return
        identities = [move.identities() for move in self.moves]
        self._add(identities)
        self._sync()
        self._unsettled = True
        try:
            for move in self.moves:
                move.make()
            for move in self.moves:
                _sync_folder(move.target.parent)
            self._add("done")
            self._unsettled = False
        except BaseException:
            self.undo(identities)
            raise
        with suppress(OSError):
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        _sync_folder(self.path.parent)

    def undo(self, identities: Sequence[tuple[_Identity, _Identity]]) -> None:
        """Take back all moves, as far as they were made."""
        problems: list[OSError] = []
        for move, (new, before) in reversed(list(zip(self.moves, identities, strict=True))):
            try:
                move.undo(new, before)
            except OSError as problem:
                problems.append(problem)
        self._unsettled = bool(problems)
        if problems:
            raise problems[0]

    def end(self, attempts: int = _ATTEMPTS) -> None:
        """Remove what is left, the journal last; what is unsettled is left to ``repair``."""
        paths = [path for move in self.moves for path in (move.part, move.old)]
        removed = [False] if self._unsettled else [_remove(path, attempts) for path in paths]
        self._file.close()  # first: some systems keep what is open
        if all(removed):
            for name in (*self._links, self.path):
                name.unlink(missing_ok=True)
        _own.discard(self.path.name)

    @classmethod
    def clean_up(
        cls, name: Path, locks: "FolderLocks | None" = None, *, wait: bool = False
    ) -> bool:
        """Put right what a dead process left; whether nobody is moving what the journal lists.

        Nothing is done if the process lives, or is another user's. ``wait`` for the end of one that
        is known to be dying. ``locks`` are those that the caller has.
        """
        path = Path(os.path.realpath(name))
        if path.name in _own:  # merely to open and close it would release the lock on some systems
            return True
        # What is no journal is left alone, whatever its name.
        wrong = (IsADirectoryError, NotADirectoryError, ValueError, TypeError, RecursionError)
        with (
            suppress(FileNotFoundError, PermissionError, *wrong),
            path.open("rb+") as file,
            FolderLocks() as new,
        ):
            own = not hasattr(os, "geteuid") or os.fstat(file.fileno()).st_uid == os.geteuid()
            if not own or path.name != name.name:
                return True
            is_dead = _lock(file, wait=wait)
            if not _is_at(file.fileno(), path):
                return True
            *lines, _ = file.read().split(b"\n")  # the last may have been cut off
            targets, *moved = map(json.loads, lines or [b"[]"])
            is_halfway = len(moved) == 1  # and not done
            if not is_dead:
                return is_dead is None or not is_halfway
            journal = cls(path, file, [path.parent / target for target in targets])
            if is_halfway:
                if not new.take(journal.folders, _TURNS if wait else 1, besides=locks):
                    return False
                journal.undo(moved[0])
                new.release()
            # Processes that worked for one that was dying may be dying, too, and still write.
            journal.end(attempts=_ATTEMPTS if wait else 1)
        return True


class FolderLocks:
    """Locks of folders, which keep others from moving files there; none where the system has none.

    Each is of a file in the folder, which is removed in the end. A lock of the folder itself would
    need no file, but may be the user's own: ``flock . lincfa reduce ...``.
    """

    def __init__(self) -> None:
        self._open: dict[tuple[int, int], tuple[Path, int]] = {}

    def __enter__(self) -> "FolderLocks":
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def take(
        self, folders: Iterable[Path], attempts: int = 1, besides: "FolderLocks | None" = None
    ) -> bool:
        """Lock folders, ``besides`` those that are; if another process has one, none of these."""
        # Who waits for a lock has none, so that no two wait for each other.
        had = besides._open if besides else {}
        for left in reversed(range(attempts)):
            if all(self._take(folder, had) for folder in folders):
                return True
            self.release()
            time.sleep(_PAUSE if left else 0)
        return False

    def _take(self, folder: Path, had: Collection[tuple[int, int]]) -> bool:
        path = folder / _LOCK
        try:
            status = folder.stat()
            key = status.st_dev, status.st_ino
            if key in self._open or key in had:
                return True
            number = _open(path)
        except OSError:
            return True
        self._open[key] = path, number
        is_locked = _lock(number)
        if is_locked and _is_at(number, path):
            return True
        del self._open[key]
        os.close(number)
        if is_locked is None:
            with suppress(OSError):
                path.unlink()
        return is_locked is None

    def release(self) -> None:
        while self._open:
            _, (path, number) = self._open.popitem()
            with suppress(OSError):
                path.unlink()  # first: nobody else may lock it and find it gone
            os.close(number)


@dataclass(frozen=True)
class Move:
    """A new file or folder, the place it is to have, and where what is there now waits."""

    target: Path
    part: Path
    old: Path

    def is_one_step(self) -> bool:
        """Whether the system itself replaces the old by the new."""
        return not (self.part.is_dir() or self.target.is_dir())

    def identities(self) -> tuple[_Identity, _Identity]:
        return _identity(self.part), _identity(self.target)

    def make(self) -> None:
        """Move the old aside, and the new into its place."""
        if self.target.exists():
            self._set_aside()
        self.part.replace(self.target)

    def _set_aside(self) -> None:
        # A file keeps its name until another has it, where the system knows links.
        if self.is_one_step():
            with suppress(OSError):
                self.old.hardlink_to(self.target)
                return
        self.target.rename(self.old)

    def undo(self, new: _Identity, before: _Identity) -> None:
        """Put everything back, whether all of ``make`` was done or some; also more than once."""
        now = _identity(self.target)
        has_old = os.path.lexists(self.old)
        made = now is not None and now == new and not os.path.lexists(self.part)
        if made and (has_old or before is None):
            self.target.rename(self.part)
            now = None
        if has_old:
            if now not in (None, before):
                raise FileExistsError(
                    f"{self.target} was written by another program after lincfa had been stopped "
                    f"while replacing it; what it was before is {self.old}. Move that to a name of "
                    "its own, or remove it."
                )
            self.old.replace(self.target)
            self.old.unlink(missing_ok=True)  # where both were the same file


def repair(folders: Collection[Path]) -> None:
    """Put right what processes that were killed have left in folders; raise if that cannot be."""
    for journal in _journals(folders):
        Journal.clean_up(journal)
    with FolderLocks() as locks:  # which are removed with it, those that were left too
        locks.take([folder for folder in folders if os.path.lexists(folder / _LOCK)])


def _unfinished(folders: Iterable[Path], locks: FolderLocks | None = None) -> list[str]:
    """Put right what can be; return names of journals by which files are still being moved."""
    names = []
    for journal in _journals(folders):
        with suppress(FileExistsError):  # which is for the user to settle, and hinders no others
            if not Journal.clean_up(journal, locks):
                names.append(journal.name)
    return names


def _journals(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        names: list[str] = []
        with suppress(FileNotFoundError, PermissionError, NotADirectoryError):
            names = os.listdir(folder)
        for name in names:
            if name.startswith(_PREFIX) and name.endswith(_JOURNAL):
                yield folder / name


def _identity(path: Path) -> _Identity:
    """Return what identifies a file or folder, whatever its name."""
    try:
        status = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return [status.st_ino, status.st_mtime_ns]


def _lock(file: IO[bytes] | int, *, wait: bool = False) -> bool | None:
    """Lock a file while it is open; False if another process has, None if the system cannot."""
    try:
        import fcntl
    except ImportError:  # Windows
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _open(path: Path) -> int:
    """Open a file to be locked, and make it if need be; another user's only to read."""
    links = getattr(os, "O_NOFOLLOW", 0)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | links, 0o666)
    except PermissionError:
        return os.open(path, os.O_RDONLY | links)


def _is_at(file: int, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.fstat(file), path.stat())
    return False


def sync(path: Path) -> None:
    """Wait until a file, or a folder with all that it holds, is on the disk."""
    if not path.is_dir():
        with path.open("rb+") as file:
            try:
                os.fsync(file.fileno())
            except OSError as error:
                raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        return
    for place, _, names in os.walk(path):
        for name in names:
            sync(Path(place, name))
        _sync_folder(Path(place))


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not all systems can
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _remove(path: Path, attempts: int) -> bool:
    """Remove a file or folder; whether it is gone."""
    if not path.is_dir():
        path.unlink(missing_ok=True)
        return True
    # After an error, threads that write a Zarr store may still be adding files, or the folder.
    for _ in range(attempts):
        shutil.rmtree(path, ignore_errors=True)
        time.sleep(0.05)
        if not path.exists():
            return True
    warnings.warn(f"{os.fspath(path)!r} is of no use any more, but cannot be removed", stacklevel=2)
    return False


if __name__ == "__main__":
    sys.stdin.buffer.read()
    with suppress(OSError):
        Journal.clean_up(Path(sys.argv[1]), wait=True)
