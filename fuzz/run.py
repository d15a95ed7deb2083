"""Campaigns run for a time in several processes, with a table of what they did."""

import importlib
import itertools
import multiprocessing
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np

from .case import Campaign, Case

_FAILURES_KEPT = 20  # of a campaign in one process: more say nothing new


@dataclass
class Table:
    """What a campaign did."""

    cases: int = 0
    unclear: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)  # in a line each
    faults: list[str] = field(default_factory=list)  # of other libraries

    def add(self, other: "Table") -> None:
        """Add what another process did in the same time."""
        self.cases += other.cases
        self.unclear += other.unclear
        self.seconds = max(self.seconds, other.seconds)
        self.failures += other.failures
        self.faults += other.faults


def campaign(name: str) -> Campaign:
    """Return the module of a campaign."""
    return cast(Campaign, importlib.import_module(f"{__package__}.{name}"))


def run(name: str, seconds: float, seed: int, jobs: int, folder: Path) -> Table:
    """Run a campaign in several processes, each with seeds of its own."""
    context = multiprocessing.get_context("spawn")  # threads do not survive a fork
    total = Table()
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        work = [pool.submit(attempts, name, seconds, seed, job, folder) for job in range(jobs)]
        for job, future in enumerate(work):
            try:
                total.add(future.result())
            except BrokenProcessPool:  # which ends the others too
                current = _current(folder, name, job)
                kept = keep(folder, name, seed, job, int(current.read_text()))
                total.failures.append(f"{kept}: this process died, or the one beside it")
    return total


def attempts(name: str, seconds: float, seed: int, job: int, folder: Path) -> Table:
    """Draw cases and check them until the time is over."""
    warnings.simplefilter("error")
    module, table = campaign(name), Table()
    current = _current(folder, name, job)
    start = time.monotonic()
    for number in itertools.count():
        table.seconds = time.monotonic() - start
        if table.seconds >= seconds or len(table.failures) >= _FAILURES_KEPT:
            break
        current.write_text(str(number))
        try:
            tried = module.check(drawn(name, seed, job, number))
        except Exception as error:
            table.cases += 1
            kept = keep(folder, name, seed, job, number)
            table.failures.append(f"{kept}: {describe(error)}")
        else:
            table.cases += tried.cases
            table.unclear += tried.unclear
            if tried.fault:
                kept = keep(folder, name, seed, job, number)
                table.faults.append(f"{kept}: {tried.fault}")
    current.unlink()
    return table


def drawn(name: str, seed: int, job: int, number: int) -> Case:
    """Make a case of one of the processes."""
    return campaign(name).draw(np.random.default_rng([seed, job, number]))


def keep(folder: Path, name: str, seed: int, job: int, number: int) -> Path:
    """Save a case that fails."""
    path = folder / f"{name}-{seed}-{job}-{number}.npz"
    drawn(name, seed, job, number).save(path)
    return path


def _current(folder: Path, name: str, job: int) -> Path:
    """File that holds the number of the case that a process is trying."""
    return folder / f"{name}-process-{job}.number"


def describe(error: Exception) -> str:
    """Say in a line what failed."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:200]}"
