"""Files that are written whole or not at all, and JSON that is read strictly."""

import json
import os
import re
import shutil
import signal
import stat
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeAlias

_PREFIX, _JOURNAL = ".lincfa-", ".journal"
_ATTEMPTS = 100
_Identity: TypeAlias = list[int] | None
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
    """Yield a temporary path for each path; all are replaced when all are complete, or none."""
    with Replacement(paths) as replacement:
        yield replacement.prepare()


class Replacement:
    """Files and folders that take the place of others together, or not at all.

    What is new is written beside the old, under hidden names, which a journal lists; when all of it
    is on the disk, the old is moved aside and the new into its place, and at last the old is
    removed. After an error everything is as it was. The journal is locked as long as this process
    lives, so that any later one knows what it left behind, and can put it right: ``repair``.
    """

    def __init__(self, paths: Sequence[str | os.PathLike[str]], *, force: bool = True) -> None:
        self._paths = [os.fspath(path) for path in paths]
        self._targets = [_target(path) for path in paths]
        self._force = force
        self._journal: _Journal | None = None

    def __enter__(self) -> "Replacement":
        return self

    def prepare(self) -> list[Path]:
        """Return temporary paths, at which to write what is new."""
        if not self._targets:
            return []
        with suppress(FileExistsError):
            repair({target.parent for target in self._targets})
        with self._naming_outputs():
            self._journal = _Journal.begin(self._targets)
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

    def _commit(self, journal: "_Journal") -> None:
        for move in journal.moves:
            _sync(move.part)
        with _signals_deferred():
            for move, path in zip(journal.moves, self._paths, strict=True):
                require_replaceable(path, as_folder=move.part.is_dir())  # it may be another by now
                if move.target.exists():
                    if not self._force:
                        raise FileExistsError(f"{path} exists by now, and is not replaced.")
                    if move.part.is_file():
                        shutil.copymode(move.target, move.part)
            if len(journal.moves) == 1 and not journal.moves[0].needs_two_steps():
                journal.moves[0].put()
            else:
                journal.move_all()
            for move in journal.moves:
                _sync_folder(move.target.parent)

    @contextmanager
    def _naming_outputs(self) -> Iterator[None]:
        """Let errors of the system name the output, and not the temporary file."""
        try:
            yield
        except OSError as error:
            if error.errno is None:
                raise
            outputs = self._paths
            if self._journal is not None and (error.filename is not None or len(outputs) > 1):
                name = Path(os.fsdecode(error.filename or ""))
                parts = zip(self._paths, self._journal.moves, strict=True)
                outputs = [path for path, move in parts if name.is_relative_to(move.part)]
            if not outputs:
                raise
            raise OSError(error.errno, error.strerror, outputs[0]) from error


@dataclass(frozen=True)
class _Move:
    """A new file or folder, the place it is to have, and where what is there now waits."""

    target: Path
    part: Path
    old: Path

    def needs_two_steps(self) -> bool:
        return self.part.is_dir() or self.target.is_dir()

    def put(self) -> None:
        self.part.replace(self.target)

    def identities(self) -> tuple[_Identity, _Identity]:
        return _identity(self.part), _identity(self.target)

    def make(self) -> None:
        """Move the old aside, and the new into its place."""
        if self.target.exists():
            _set_aside(self.target, self.old)
        self.put()

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


class _Journal:
    """What a process is about to move, in a file that it has locked.

    Its first line lists the targets; the second, which files and folders these and the new ones
    are, and from then on they may have been moved; the third says that all have been.
    """

    def __init__(self, path: Path, file: IO[bytes], targets: Sequence[Path]) -> None:
        self.path = path
        self._file = file
        self._unsettled = False  # whether something may be in a place that is not its own
        self.moves = [
            _Move(target, _beside(target, path, f"{k}.part"), _beside(target, path, f"{k}.old"))
            for k, target in enumerate(targets)
        ]

    @classmethod
    def begin(cls, targets: Sequence[Path]) -> "_Journal":
        """Begin a journal beside the first target, with links to it beside the others."""
        while True:
            path = targets[0].parent / f"{_PREFIX}{token_hex(8)}{_JOURNAL}"
            file = path.open("xb+")
            _lock(file, wait=True)
            if _is_at(file, path):  # and nobody thought that a dead process had left it
                break
            file.close()
        journal = cls(path, file, targets)
        try:
            journal._add([os.path.relpath(target, path.parent) for target in targets])
            for folder in {move.target.parent for move in journal.moves} - {path.parent}:
                with suppress(OSError):  # some systems have no links
                    (folder / path.name).symlink_to(os.path.relpath(path, folder))
        except BaseException:
            journal.end()
            raise
        return journal

    def _add(self, line: Any) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")
        self._file.flush()

    def move_all(self) -> None:
        """Make all moves, or none."""
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

    def end(self) -> None:
        """Remove what is left, the journal last; what is unsettled is left to ``repair``."""
        if not self._unsettled:
            for move in self.moves:
                _remove(move.part)
                _remove(move.old)
            for folder in {move.target.parent for move in self.moves} - {self.path.parent}:
                (folder / self.path.name).unlink(missing_ok=True)
            self.path.unlink(missing_ok=True)
        self._file.close()

    @classmethod
    def clean_up(cls, name: Path, *, wait: bool = False) -> None:
        """Put right what a dead process left; nothing is done if it lives, or is another user's."""
        # ``wait`` for the end of one that is known to be dying.
        path = Path(os.path.realpath(name))
        with suppress(FileNotFoundError, PermissionError, ValueError), path.open("rb+") as file:
            own = not hasattr(os, "geteuid") or os.fstat(file.fileno()).st_uid == os.geteuid()
            if not (
                own and path.name == name.name and _lock(file, wait=wait) and _is_at(file, path)
            ):
                return
            *lines, _ = file.read().split(b"\n")  # the last may have been cut off
            targets, *moved = map(json.loads, lines or [b"[]"])
            journal = cls(path, file, [path.parent / target for target in targets])
            if len(moved) == 1:  # and not done
                journal.undo(moved[0])
            journal.end()


@contextmanager
def temporary(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield a path for a file that is removed in the end, and that of the journal that says so."""
    journal = _Journal.begin([folder / "temporary"])
    try:
        yield journal.moves[0].part, journal.path
    finally:
        journal.end()


def repair(folders: Iterable[Path]) -> None:
    """Put right what processes that were killed have left in folders; raise if that cannot be."""
    for folder in folders:
        with suppress(FileNotFoundError, PermissionError, NotADirectoryError):
            names = [name for name in os.listdir(folder) if name.startswith(_PREFIX)]
            for name in names:
                if name.endswith(_JOURNAL):
                    _Journal.clean_up(folder / name)


def _beside(target: Path, journal: Path, ending: str) -> Path:
    return target.parent / f"{journal.stem}-{ending}"


def _identity(path: Path) -> _Identity:
    """Return by what to know a file or folder again, whatever its name."""
    try:
        status = path.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    return [status.st_ino, status.st_mtime_ns]


def _set_aside(target: Path, old: Path) -> None:
    # A file keeps its name until the new one has it, where the system knows links.
    if target.is_file():
        with suppress(OSError):
            old.hardlink_to(target)
            return
    target.rename(old)


def _lock(file: IO[bytes], *, wait: bool = False) -> bool:
    """Lock a file as long as this process lives; whether that was possible."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


def _is_at(file: IO[bytes], path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False


@contextmanager
def _signals_deferred() -> Iterator[None]:
    """Let what would end the program wait for a moment."""
    caught: list[int] = []
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has not all
            if number is not None and signal.getsignal(number) is not None:
                before[number] = signal.signal(number, lambda each, _: caught.append(each))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number in caught:
            signal.raise_signal(number)


def _sync(path: Path) -> None:
    """Wait until a file, or a folder with all that it holds, is on the disk."""
    if not path.is_dir():
        with path.open("rb") as file:
            try:
                os.fsync(file.fileno())
            except OSError as error:
                raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        return
    for place, _, names in os.walk(path):
        for name in names:
            _sync(Path(place, name))
        _sync_folder(Path(place))


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not all systems can
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


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


if __name__ == "__main__":  # started by ``cleaning_up`` of the command line
    sys.stdin.buffer.read()
    with suppress(OSError):
        _Journal.clean_up(Path(sys.argv[1]), wait=True)
