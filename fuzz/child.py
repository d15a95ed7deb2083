"""The command line in a process of its own, with limits on time, memory and size of files.

The process is forked from one that has imported everything and started no thread, so that a case
takes a fraction of a second.
"""

import faulthandler
import json
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEMORY = 3 << 30  # bytes beyond what the process has when it begins
FILE_SIZE = 256 << 20
CPU_SECONDS = 15.0  # of which a case needs less than one
SECONDS = 120.0  # of a process that waits for something
PATIENCE = 10.0  # seconds to end after a signal
STATM = "/proc/self/statm"  # of Linux: pages that a process has

Hook = Callable[[Any], Any]
context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["fuzz.imported"])


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    exit: int  # what the system says; negative for a signal
    code: int | None  # what the command line returned, if it did
    after: Any  # what the last hook returned, if it did
    out: bytes
    err: bytes
    trace: str  # where it was when it crashed, or when its time was over
    stopped: str = ""  # by which signal, when its time was over

    @property
    def place(self) -> str:
        """The innermost line of the trace that is not of Python itself."""
        lines = [line.strip() for line in self.trace.splitlines() if 'File "' in line]
        return next((line for line in lines if "/lib/python3" not in line or "site-p" in line), "")


def execute(
    folder: Path,
    arguments: Sequence[str],
    *,
    before: Hook | None = None,
    after: Hook | None = None,
    given: Any = None,
) -> Ended:
    """Run ``lincfa`` in a folder; hooks run in the same process, and get ``given``."""
    notes = folder.with_name(f"{folder.name}.notes")
    notes.mkdir()
    process = context.Process(
        target=_run, args=(str(folder), str(notes), list(arguments), before, after, given)
    )
    process.start()
    try:
        stopped = _wait(process)
    finally:
        if process.is_alive():
            process.kill()
        process.join()
    read = {name: _read(notes / name) for name in ("out", "err", "trace", "code", "after")}
    scratch = os.listdir(notes / "scratch")
    shutil.rmtree(notes)
    if scratch and process.exitcode == 0:
        raise AssertionError(f"temporary files are left: {scratch}")
    return Ended(
        process.exitcode,
        *(json.loads(read[name]) if read[name] else None for name in ("code", "after")),
        out=read["out"],
        err=read["err"],
        trace=read["trace"].decode(errors="replace"),
        stopped=stopped,
    )


def _wait(process: Any) -> str:
    """Wait for the end; after too long a time, see where it is and ask it to end."""
    start = time.monotonic()
    while True:
        process.join(1.0)
        if not process.is_alive():
            return ""
        if seconds_used(process.pid) > CPU_SECONDS or time.monotonic() - start > SECONDS:
            break
    for name in ("SIGUSR1", "SIGTERM", "SIGKILL"):  # the first is for the trace
        os.kill(process.pid, getattr(signal, name))
        process.join(1.0 if name == "SIGUSR1" else PATIENCE)
        if not process.is_alive():
            return name
    return "nothing"


def limit_memory(size: int) -> None:
    """Let this process have no more than so many bytes beyond what it has."""
    size += int(Path(STATM).read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def seconds_used(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _run(
    folder: str,
    notes: str,
    arguments: list[str],
    before: Hook | None,
    after: Hook | None,
    given: Any,
) -> None:
    os.chdir(folder)
    scratch = os.path.join(notes, "scratch")
    os.mkdir(scratch)
    os.environ["TMPDIR"] = scratch
    trace = open(os.path.join(notes, "trace"), "w")  # noqa: SIM115 - as long as the process lives
    faulthandler.enable(trace, all_threads=False)
    faulthandler.register(signal.SIGUSR1, trace, all_threads=False)
    # If what waits for this process is killed meanwhile, this one ends all the same.
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True, file=trace)
    for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
        number = os.open(os.path.join(notes, name), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.dup2(number, stream.fileno())
        stream.reconfigure(encoding="utf-8")
    limit_memory(MEMORY)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_SIZE, FILE_SIZE))
    from lincfa.cli import main

    if before is not None:
        before(given)
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = ended.code
    sys.stdout.flush()
    sys.stderr.flush()
    _write(notes, "code", code)
    if after is not None:
        for stream in (sys.stdout, sys.stderr):  # what it prints is not of the command
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        _write(notes, "after", after(given))


def _write(folder: str, name: str, value: Any) -> None:
    with open(os.path.join(folder, name), "w") as file:
        json.dump(value, file)
