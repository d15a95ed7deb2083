"""Campaigns run for a time in several processes, with a tally of what they did."""

import importlib
import itertools
import multiprocessing
import signal
import time
import warnings
from dataclasses import dataclass, field
from importlib.util import find_spec
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import cast

import numpy as np

from .case import Campaign, Case

_PATIENCE = 1.0
_LEAVE = 10.0  # seconds for a process to end by itself
_FAILURES_KEPT = 20  # of a campaign in one process: more say nothing new


@dataclass
class Tally:
    """What a campaign did."""

    cases: int = 0
    unclear: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)  # in a line each
    faults: list[str] = field(default_factory=list)  # of other libraries

    def add(self, other: "Tally") -> None:
        """Add what another process did in the same time."""
        self.cases += other.cases
        self.unclear += other.unclear
        self.failures += other.failures
        self.faults += other.faults


def campaign(name: str) -> Campaign:
    """Return the module of a campaign."""
    return cast(Campaign, importlib.import_module(f"{__package__}.{name}"))


def missing(name: str) -> list[str]:
    """Return what a campaign needs and is not here: packages, or files, which have a slash."""
    return [
        need
        for need in campaign(name).NEEDS
        if not (Path(need).exists() if "/" in need else find_spec(need))
    ]


def run(name: str, seconds: float, seed: int, jobs: int, folder: Path, total: Tally) -> None:
    """Run a campaign in several processes, each with seeds of its own, and add up what they did.

    A process that dies, or does not end with a case, is replaced: the case counts as a failure.
    """
    start = time.monotonic()
    workers = [_Worker(name, seconds, seed, job, folder) for job in range(jobs)]
    try:
        while workers:
            wait([worker.connection for worker in workers], timeout=_PATIENCE)
            for worker in list(workers):
                ended = worker.read(campaign(name).LIMIT)
                if ended is None:
                    continue
                workers.remove(worker)
                total.add(worker.tally)
                if not ended:
                    continue
                total.cases += 1
                total.failures.append(f"{worker.keep()}: {ended}")
                left = start + seconds - time.monotonic()
                if worker.tried and left > 0 and len(total.failures) < _FAILURES_KEPT:
                    workers.append(_Worker(name, left, seed, worker.job, folder, worker.number + 1))
    finally:
        for worker in workers:
            worker.stop()
            total.add(worker.tally)
        total.seconds = time.monotonic() - start


class _Worker:
    """A process that tries cases, and what it has said so far."""

    def __init__(
        self, name: str, seconds: float, seed: int, job: int, folder: Path, first: int = 0
    ) -> None:
        context = multiprocessing.get_context("spawn")  # threads do not survive a fork
        self.connection, theirs = context.Pipe(duplex=False)
        self._process = context.Process(
            target=attempts, args=(name, seconds, seed, job, folder, first, theirs)
        )
        self._process.start()
        theirs.close()
        self._drawn, self.job, self.number = (folder, name, seed, job), job, first
        self.tally, self._since, self.tried = Tally(), time.monotonic(), False

    def read(self, limit: float) -> str | None:
        """Take in what there is; return why it ended, empty if as it should, None if it goes on."""
        try:
            while self.connection.poll():
                number, self.tally = self.connection.recv()
                if number is None:
                    self._process.join(_LEAVE)
                    self.stop()
                    return ""
                self.number, self._since, self.tried = number, time.monotonic(), True
        except (EOFError, OSError):
            self._process.join()
            return f"the process ended with code {self._process.exitcode}"
        if time.monotonic() - self._since < limit:
            return None
        self.stop()
        return f"no end within {limit:g} s"

    def keep(self) -> Path:
        """Save the case that it was trying."""
        return keep(*self._drawn, self.number)

    def stop(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()


def attempts(
    name: str,
    seconds: float,
    seed: int,
    job: int,
    folder: Path,
    first: int,
    connection: Connection,
) -> None:
    """Draw cases and check them until the time is over; say before each what came of the others."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent says what was interrupted
    warnings.simplefilter("error")
    module, tally = campaign(name), Tally()
    start = time.monotonic()
    for number in itertools.count(first):
        if time.monotonic() - start >= seconds or len(tally.failures) >= _FAILURES_KEPT:
            break
        connection.send((number, tally))
        try:
            tried = module.check(drawn(name, seed, job, number))
        except Exception as error:
            tally.cases += 1
            kept = keep(folder, name, seed, job, number)
            tally.failures.append(f"{kept}: {describe(error)}")
        else:
            tally.cases += tried.cases
            tally.unclear += tried.unclear
            if tried.fault:
                kept = keep(folder, name, seed, job, number)
                tally.faults.append(f"{kept}: {tried.fault}")
    connection.send((None, tally))


def drawn(name: str, seed: int, job: int, number: int) -> Case:
    """Make a case of one of the processes."""
    return campaign(name).draw(np.random.default_rng([seed, job, number]))


def keep(folder: Path, name: str, seed: int, job: int, number: int) -> Path:
    """Save a case that fails."""
    path = folder / f"{name}-{seed}-{job}-{number}.npz"
    drawn(name, seed, job, number).save(path)
    return path


def describe(error: Exception) -> str:
    """Say in a line what failed."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}"
