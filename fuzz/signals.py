"""Signals while outputs are written: everything is old afterwards, or everything new.

A run is ended by a signal at one of the moments at which it changes the folder: before a file is
opened to be written, renamed, removed or put on the disk. When what it started to clean up after it
has ended, the old outputs are there or the new ones, and no mixture. What may be left, hidden, are
files of which a signal came before that had been started; they are gone after the next run. Other
files in the folder stay as they are.
"""

import os
import re
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import formats
from .case import Case, Tried
from .child import STATM, Ended, execute
from .mutate import Rng, one

SHARE = 0.5
LIMIT = 600.0  # its processes have limits of their own
NEEDS = ("polars", "pyarrow", "dask", "xarray", "netCDF4", "zarr", "rich", "xlsxwriter", STATM)
_ATTEMPTS = 4  # of one case
_PATIENCE = 20.0  # seconds
_SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
_FOREIGN = {
    "notes.txt": b"mine",
    "old.part": b"mine",
    ".lincfa": b"mine",
    ".lincfa.journal": b"mine",
    "sub/table.old": b"mine",
    "sub/.hidden": b"mine",
}
_EVENTS = (
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.mkdir",
    "os.link",
    "os.symlink",
    "shutil.rmtree",
)
"""What Python reports of changes of a folder."""
_VARYING = re.compile(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?| --force")
"""What differs between the reports of two equal runs: the time, and the option of one of them."""


def draw(rng: Rng) -> Case:
    kind = one(rng, ["csv", "csv", "parquet", "parts", "netcdf 4", "zarr 2"])
    suffix, make = formats.MAKERS[kind]
    output = {"parts": one(rng, ["out", "out.zarr"])}.get(kind, f"out{suffix}")
    if kind == "csv":
        output = one(rng, ["out.csv", "out.parquet", "out.nc", "out.zarr", "out.xlsx"])
    place = one(rng, ["", "sub/"])
    arguments = ["reduce", f"data{suffix}", "--target", "y", "--tolerance", "1", "--test", "0"]
    arguments += ["--output", place + output, "--model", one(rng, ["", "sub/"]) + "model.json"]
    arguments += ["--folds", "shuffled"] if kind != "parts" else []
    report = one(rng, [None, None, "report.html", "report.json"])
    arguments += ["--report", report] if report else ["--no-report"]
    if rng.random() < 0.5 and kind in ("parquet", "zarr 2"):
        arguments += ["--dask", "threads"]
        arguments[arguments.index("--output") + 1] = place + one(rng, ["out", "out.zarr"])
    names, arrays = [], {}
    for age in ("old", "new"):
        made = make(_columns(rng), rng)
        for inner, content in (made if isinstance(made, dict) else {"": made}).items():
            path = f"data{suffix}/{inner}" if inner else f"data{suffix}"
            arrays[str(len(names))] = np.frombuffer(content, np.uint8)
            names.append([age, path])
    return Case(
        "signals",
        {
            "arguments": arguments,
            "files": names,
            "replaces": bool(rng.random() < 0.7),
            "attempts": [_attempt(rng) for _ in range(_ATTEMPTS)],
        },
        arrays,
    )


def _attempt(rng: Rng) -> dict[str, Any]:
    ended_by = one(rng, _SIGNALS)
    again = rng.random() < 0.2 and ended_by == "SIGINT"
    return {
        "signal": ended_by,
        "moment": float(rng.random()),
        "late": bool(rng.random() < 0.6),  # only when everything is computed
        "again": int(rng.integers(1, 5)) if again else 0,
        "forces": bool(rng.random() < 0.7),  # the next run
    }


def _columns(rng: Rng) -> formats.Columns:
    factors = rng.normal(size=(20, 2))
    features = np.repeat(factors, 2, axis=1) + 0.3 * rng.normal(size=(20, 4))
    columns = {"y": (factors @ [1.0, -2.0] + rng.normal(size=20)).tolist()}
    return columns | {f"a{k}": features[:, k].tolist() for k in range(4)}


def check(case: Case) -> Tried:
    options = case.options
    inputs: dict[str, formats.Files] = {"old": {}, "new": {}}
    for (age, path), array in zip(options["files"], case.arrays.values(), strict=True):
        inputs[age][path] = array.tobytes()
    arguments = options["arguments"]
    written = ("--output", "--model", "--report")
    outputs = [after for option, after in pairwise(arguments) if option in written]
    with tempfile.TemporaryDirectory() as top:
        folder, reference = Path(top) / "work", Path(top) / "reference"
        folder.mkdir()
        formats.write_folder(folder, _FOREIGN)
        old = _run_to_the_end(folder, inputs["old"], arguments) if options["replaces"] else {}
        shutil.copytree(folder, reference)
        force = [*arguments, "--force"] if options["replaces"] else arguments
        given = {"outputs": outputs}
        new = _run_to_the_end(reference, inputs["new"], force, given)
        changes = new.pop("changes")
        _put(folder, inputs["new"])
        left = 0
        for number, attempt in enumerate(options["attempts"]):
            first = changes["last"] if attempt["late"] else 0
            at = first + int(attempt["moment"] * (changes["all"] - first))
            place = shutil.copytree(folder, Path(top) / f"attempt{number}")
            given |= attempt | {"at": at, "folder": str(place)}
            ended = execute(place, force, before=_watch, given=given)
            seen = _Seen(attempt, outputs, inputs["new"], old, new)
            states, leftovers = seen.judge(ended, seen.cleaned_up(place))
            left += bool(leftovers)
            ended = execute(place, [*arguments, "--force"] if attempt["forces"] else arguments)
            seen.judge_next(ended, formats.read_folder(place), states)
    return Tried(len(options["attempts"]), unclear=left)


def _run_to_the_end(
    folder: Path, inputs: formats.Files, arguments: list[str], given: Any = None
) -> dict[str, Any]:
    """Run as usual; return all files, and how often the folder was changed."""
    _put(folder, inputs)
    watched = {} if given is None else {"before": _watch, "after": _seen}
    if given is not None:
        given |= {"at": -1, "folder": str(folder), "signal": "SIGINT", "again": 0}
    ended = execute(folder, arguments, given=given, **watched)
    if ended.code != 0:
        raise AssertionError(f"exit {ended.exit} without a signal: {ended.err.decode()[-300:]}")
    files = formats.read_folder(folder)
    return files if given is None else files | {"changes": ended.after}


def _put(folder: Path, files: formats.Files) -> None:
    """Let these be the data in a folder."""
    for name in {path.split("/")[0] for path in files}:
        shutil.rmtree(folder / name, ignore_errors=True)
    formats.write_folder(folder, files)


_counts = {"all": 0, "last": 0}  # of changes in this process: all, and those before the last phase


def _watch(given: dict[str, Any]) -> None:
    """Send the signal at one of the changes of the folder."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored by jobs in the background
    number, folder = getattr(signal, given["signal"]), given["folder"]
    moments = {given["at"]} | ({given["at"] + given["again"]} if given["again"] else set())
    targets = {os.path.join(folder, output) for output in given["outputs"]}

    def change(path: Any, *, commits: bool = False) -> None:
        where = os.path.abspath(os.fsdecode(path)) if isinstance(path, str | bytes) else folder
        if not (where + os.sep).startswith(folder + os.sep):
            return
        moment = _counts["all"]
        _counts["all"] += 1
        if not _counts["last"] and (commits or where in targets):
            _counts["last"] = moment
        if moment in moments and given["at"] >= 0:
            os.kill(os.getpid(), number)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _EVENTS:
            change(arguments[1 if event == "os.symlink" else 0], commits=event == "os.rename")
        elif event == "open":
            path, _, flags = arguments
            if flags & (os.O_WRONLY | os.O_RDWR) and not isinstance(path, int):
                change(path)

    fsync = os.fsync

    def put_on_disk(number: Any) -> None:
        change(None, commits=True)
        fsync(number)

    os.fsync = put_on_disk
    sys.addaudithook(hook)


def _seen(given: Any) -> dict[str, int]:
    return dict(_counts)


@dataclass(frozen=True)
class _Seen:
    """What an attempt was, and what there was before it and would be after it."""

    attempt: dict[str, Any]
    outputs: list[str]
    inputs: formats.Files
    old: formats.Files
    new: formats.Files

    def cleaned_up(self, folder: Path) -> formats.Files:
        """Read a folder when another process has removed what is hidden there, or seems not to."""
        start = time.monotonic()
        while True:
            after = formats.read_folder(folder)
            mixed = len({*self._states(after).values()}) > 1
            over = time.monotonic() - start > (_PATIENCE if mixed else _PATIENCE / 10)
            if over or not self._left(after):
                return after
            time.sleep(0.05)

    def judge(self, ended: Ended, after: formats.Files) -> tuple[dict[str, str], list[str]]:
        """Raise if something is lost or mixed; return what each output is, and what is left."""
        _same(_FOREIGN | self.inputs, after)
        states, left = self._states(after), self._left(after)
        said = f"{self.attempt}: {states}, {_end_of(ended)}"
        number = getattr(signal, self.attempt["signal"])
        known = ended.code in (0, 128 + number) if ended.code is not None else ended.exit == -number
        if not known or b"Traceback" in ended.err:
            raise AssertionError(f"exit code: {said}")
        if len(set(states.values())) > 1 or "other" in states.values():
            raise AssertionError(f"a mixture: {said}, beside {left}")
        if {*states.values()} == {"none"} and self.old:
            raise AssertionError(f"all is lost: {said}, beside {left}")
        if ended.code == 0 and {*states.values()} != {"new"}:
            raise AssertionError(f"exit code 0: {said}")
        return states, left

    def judge_next(self, ended: Ended, after: formats.Files, before: dict[str, str]) -> None:
        """Raise unless the next run finishes what was left, or says what is."""
        _same(_FOREIGN | self.inputs, after)
        said = f"{self.attempt}: {before} before, {_end_of(ended)}"
        if ended.code not in (0, 1) or b"Traceback" in ended.err:
            raise AssertionError(f"the next run: {said}")
        if ended.code == 1 and (self.attempt["forces"] or {*before.values()} == {"none"}):
            raise AssertionError(f"the next run refuses: {said}")
        if left := self._left(after):
            raise AssertionError(f"left {left} after the next run: {said}")
        now = self._states(after)
        mixed = len({*now.values()}) > 1 or "other" in now.values()
        if mixed or (ended.code == 0 and {*now.values()} != {"new"}):
            raise AssertionError(f"after the next run {now}: {said}")

    def _states(self, after: formats.Files) -> dict[str, str]:
        """Return for each output whether it is old, new, none or other."""
        return {output: self._state(output, after) for output in self.outputs}

    def _state(self, output: str, after: formats.Files) -> str:
        now = _inside(output, after)
        if not now:
            return "none"
        if now == _inside(output, self.new):
            return "new"
        return "old" if now == _inside(output, self.old) else "other"

    def _left(self, after: formats.Files) -> list[str]:
        known = {*self.inputs, *_FOREIGN, *self.outputs}
        ours = tuple(f"{output}/" for output in self.outputs)
        return [name for name in after if name not in known and not name.startswith(ours)]


def _same(expected: formats.Files, after: formats.Files) -> None:
    changed = [name for name in expected if after.get(name) != expected[name]]
    if changed:
        raise AssertionError(f"{changed} are not as they were")


def _inside(output: str, files: formats.Files) -> formats.Files:
    return {
        name: _VARYING.sub(b"", content)
        for name, content in files.items()
        if name == output or name.startswith(f"{output}/")
    }


def _end_of(ended: Ended) -> str:
    return f"exit {ended.exit} {ended.code} {ended.err.decode(errors='replace')[-300:]!r}"
