"""Run the campaigns for some minutes, print what they tried, and save every case that fails."""

import argparse
import importlib
import itertools
import multiprocessing
import os
import sys
import time
import traceback
import warnings
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np

from .case import Campaign, Case

CAMPAIGNS: list[str] = []
_FAILURES_KEPT = 20  # of a campaign in one process: more say nothing new


@dataclass
class Table:
    """What a campaign did."""

    cases: int = 0
    unclear: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)  # in a line each

    def add(self, other: "Table") -> None:
        """Add what another process did in the same time."""
        self.cases += other.cases
        self.unclear += other.unclear
        self.seconds = max(self.seconds, other.seconds)
        self.failures += other.failures


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


def report(tables: dict[str, Table]) -> None:
    """Print a row for each campaign, and every failure."""
    print(f"{'campaign':<14}{'cases':>10}{'unclear':>10}{'failures':>10}{'per second':>12}")
    for name, table in tables.items():
        rate = table.cases / table.seconds if table.seconds else 0.0
        counts = f"{table.cases:>10}{table.unclear:>10}{len(table.failures):>10}"
        print(f"{name:<14}{counts}{rate:>12.1f}")
    for name, table in tables.items():
        for line in table.failures:
            print(f"{name}: {line}")


def replay(path: Path) -> int:
    """Check one saved case, and show where it fails."""
    case = Case.load(path)
    warnings.simplefilter("error")
    print(f"{case.campaign} {case.options}")
    try:
        campaign(case.campaign).check(case)
    except Exception:
        traceback.print_exc()
        return 1
    print("passed")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="for all campaigns together")
    parser.add_argument("--seed", type=int, default=0, help="the same seed tries the same cases")
    parser.add_argument("--only", nargs="+", choices=CAMPAIGNS, default=CAMPAIGNS)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"), metavar="FOLDER")
    parser.add_argument("--replay", type=Path, metavar="CASE", help="check one saved case instead")
    options = parser.parse_args(arguments)
    if options.replay is not None:
        return replay(options.replay)
    options.failures.mkdir(parents=True, exist_ok=True)
    shares = {name: campaign(name).SHARE for name in options.only}
    tables: dict[str, Table] = {}
    for name, share in shares.items():
        seconds = 60 * options.minutes * share / sum(shares.values())
        tables[name] = run(name, seconds, options.seed, options.jobs, options.failures)
    report(tables)
    return int(any(table.failures for table in tables.values()))


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # one process per core
    sys.exit(main())
