"""Signals while outputs are written: everything is old afterwards, or everything new.

A run is ended by a signal at one of the moments at which it changes the folder: before a file is
opened to be written, renamed, removed or put on the disk. Ctrl-C and SIGTERM leave the old outputs
or the new ones, and nothing else. SIGKILL, or a second Ctrl-C, may leave something to be finished:
then every output is still there, old or new, and the next run finishes it. Other files in the
folder stay as they are.
"""

import os
import re
import shutil
import signal
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from . import formats
from .case import Case, Tried
from .child import Ended, execute
from .mutate import Rng, one

SHARE = 0.5
NEEDS = ("polars", "pyarrow", "dask", "xarray", "netCDF4", "zarr", "rich")
_SIGNALS = ("SIGINT", "SIGTERM", "SIGKILL")
_FOREIGN = {
    "notes.txt": b"mine",
    "old.part": b"mine",
    ".lincfa": b"mine",
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
    ended_by = one(rng, _SIGNALS)
    again = rng.random() < 0.2 and ended_by == "SIGINT"
    return Case(
        "signals",
        {
            "arguments": arguments,
            "files": names,
            "replaces": bool(rng.random() < 0.7),
            "signal": ended_by,
            "moment": float(rng.random()),
            "late": bool(rng.random() < 0.6),  # only moments after everything was computed
            "again": int(rng.integers(1, 5)) if again else 0,
            "forces": bool(rng.random() < 0.7),  # the next run
        },
        arrays,
    )


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
        given = options | {"outputs": outputs}
        new = _run_to_the_end(reference, inputs["new"], force, given)
        events = new.pop("events")
        first = events["last"] if options["late"] else 0
        moment = first + int(options["moment"] * (events["all"] - first))
        _put(folder, inputs["new"])
        given |= {"at": moment, "folder": str(folder)}
        ended = execute(folder, force, before=_watch, given=given)
        states, left = _judge(ended, options, outputs, folder, inputs["new"], old, new)
        again = execute(folder, [*arguments, "--force"] if options["forces"] else arguments)
        _judge_next(again, states, options, outputs, folder, inputs["new"], old, new)
    return Tried(unclear=int(bool(left) and not _is_hard(options)))


def _is_hard(options: dict[str, Any]) -> bool:
    """Whether something may be left for the next run."""
    return options["signal"] == "SIGKILL" or bool(options["again"])


def _run_to_the_end(
    folder: Path, inputs: formats.Files, arguments: list[str], given: Any = None
) -> dict[str, Any]:
    """Run as usual; return all files, and how often the folder was changed."""
    _put(folder, inputs)
    watched = {} if given is None else {"before": _watch, "after": _seen}
    given = None if given is None else given | {"at": -1, "folder": str(folder)}
    ended = execute(folder, arguments, given=given, **watched)
    if ended.code != 0:
        raise AssertionError(f"exit {ended.exit} without a signal: {ended.err.decode()[-300:]}")
    files = formats.read_folder(folder)
    return files if given is None else files | {"events": ended.after}


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


def _judge(
    ended: Ended,
    options: dict[str, Any],
    outputs: list[str],
    folder: Path,
    inputs: formats.Files,
    old: formats.Files,
    new: formats.Files,
) -> tuple[dict[str, str], list[str]]:
    """Raise if something is lost or mixed; return what each output is, and what is left."""
    after = formats.read_folder(folder)
    _same(_FOREIGN | inputs, after)
    states = {output: _state(output, after, old, new) for output in outputs}
    said = f"{states}, {_end_of(ended)}"
    if options["signal"] == "SIGKILL":
        if ended.exit != -signal.SIGKILL and ended.code != 0:
            raise AssertionError(f"ended otherwise: {said}")
    elif ended.code not in (130, 0) or b"Traceback" in ended.err:
        raise AssertionError(f"exit code: {said}")
    left = _left(after, inputs, outputs)
    if not _is_hard(options):
        if len(set(states.values())) > 1 or "other" in states.values():
            raise AssertionError(f"a mixture: {said}")
        if ended.code == 0 and {*states.values()} != {"new"}:
            raise AssertionError(f"exit code 0: {said}")
    for output, state in states.items():
        if state in ("none", "other") and old and not _is_aside(output, after, old, new):
            raise AssertionError(f"{output} is lost: {said}, beside {left}")
    return states, left


def _judge_next(
    ended: Ended,
    states: dict[str, str],
    options: dict[str, Any],
    outputs: list[str],
    folder: Path,
    inputs: formats.Files,
    old: formats.Files,
    new: formats.Files,
) -> None:
    """Raise unless the next run finishes what was left, or says what is."""
    after = formats.read_folder(folder)
    _same(_FOREIGN | inputs, after)
    said = f"{states} before, {_end_of(ended)}"
    if ended.code not in (0, 1) or b"Traceback" in ended.err:
        raise AssertionError(f"the next run: {said}")
    if ended.code == 1 and (options["forces"] or {*states.values()} == {"none"}):
        raise AssertionError(f"the next run refuses: {said}")
    if _tells(ended):
        return
    left = _left(after, inputs, outputs)
    now = {output: _state(output, after, old, new) for output in outputs}
    if left:
        raise AssertionError(f"left {left} after the next run: {said}")
    if (
        len({*now.values()}) > 1
        or "other" in now.values()
        or (ended.code == 0) > (now[outputs[0]] == "new")
    ):
        raise AssertionError(f"after the next run {now}: {said}")


def _tells(ended: Ended) -> bool:
    """Whether a message says what an earlier run has left."""
    return ended.code == 1 and b"had been stopped" in ended.err


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


def _state(output: str, after: formats.Files, old: formats.Files, new: formats.Files) -> str:
    now = _inside(output, after)
    if not now:
        return "none"
    if now == _inside(output, new):
        return "new"
    return "old" if now == _inside(output, old) else "other"


def _is_aside(output: str, after: formats.Files, old: formats.Files, new: formats.Files) -> bool:
    """Whether an output is whole under another name."""
    contents = [_VARYING.sub(b"", content) for content in after.values()]
    return any(
        all(content in contents for content in _inside(output, age).values()) for age in (old, new)
    )


def _left(after: formats.Files, inputs: formats.Files, outputs: list[str]) -> list[str]:
    known = {*inputs, *_FOREIGN}
    ours = tuple(f"{output}/" for output in outputs)
    return [
        name
        for name in after
        if name not in known and name not in outputs and not name.startswith(ours)
    ]


def _end_of(ended: Ended) -> str:
    return f"exit {ended.exit} {ended.code} {ended.err.decode(errors='replace')[-300:]!r}"
