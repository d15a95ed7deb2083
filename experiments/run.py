"""Run the experiments and write the results: ``python -m experiments``."""

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from joblib import Parallel, cpu_count
from rich.console import Console
from rich.progress import track
from rich.table import Table as Grid

from lincfa import __version__

from . import bivariate, dimensions, real_data, trivariate
from .pages import write
from .simulation import Settings
from .tables import Table

EXPERIMENTS: dict[str, tuple[Callable[..., list[Any]], Callable[..., list[Table]]]] = {
    "bivariate": (bivariate.jobs, bivariate.tables),
    "trivariate": (trivariate.jobs, trivariate.tables),
    "dimensions": (dimensions.jobs, dimensions.tables),
    "samples": (dimensions.jobs_of_sizes, dimensions.tables_of_sizes),
    "real": (real_data.jobs, real_data.tables),
}
QUICK = 40
"""Repetitions of a quick run."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments asked for, write the pages, and print a summary."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.data is not None and not options.data.is_dir():
        parser.error(f"argument --data: {options.data} is not a folder")
    try:
        options.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"argument --output: {error}")
    repetitions = QUICK if options.quick else options.repetitions
    settings = Settings(repetitions, options.seed, options.data)
    tables = run(options.experiment, settings, options.workers)
    about = {
        "repetitions": repetitions,
        "seed": options.seed,
        "lincfa": __version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    page = write(options.output, tables, about)
    _print_summary(tables, page)


def run(names: Iterable[str], settings: Settings, workers: int = -1) -> list[Table]:
    """Run experiments and compare them with the paper.

    The results depend on the seed and the number of repetitions, not on the number of workers:
    processes, at most one for each processor, or −1 for as many.
    """
    jobs = {name: EXPERIMENTS[name][0](settings) for name in names}
    total = sum(map(len, jobs.values()))
    workers = cpu_count() if workers == -1 else min(workers, cpu_count())
    results = Parallel(n_jobs=workers, return_as="generator")(
        job for part in jobs.values() for job in part
    )
    bar = Console(stderr=True)
    shown = track(
        results, "simulating", total, console=bar, transient=True, disable=not bar.is_terminal
    )
    finished = iter(list(shown))
    return [
        table
        for name, part in jobs.items()
        for table in EXPERIMENTS[name][1](settings, [next(finished) for _ in part])
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Run the experiments of the paper. Writes a Markdown and a JSON file for each "
        "of its tables, its figure, and a page with a verdict on every number.",
    )
    parser.add_argument(
        "--experiment",
        nargs="+",
        choices=EXPERIMENTS,
        default=list(EXPERIMENTS),
        metavar="NAME",
        help=f"only these of {', '.join(EXPERIMENTS)} (default: all)",
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument(
        "--repetitions",
        type=_at_least(10),
        default=500,
        metavar="N",
        help="repetitions of each simulation, at least 10 (default: 500, as in the paper)",
    )
    amount.add_argument(
        "--quick",
        action="store_true",
        help=f"{QUICK} repetitions: done within a minute, with wide intervals",
    )
    parser.add_argument("--seed", type=_at_least(0), default=0, metavar="N", help="(default: 0)")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("paper-results"),
        metavar="FOLDER",
        help="where to write (default: paper-results)",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="where the real data are (default: the variable LINCFA_DATA, then ../shared/data)",
    )
    parser.add_argument(
        "--workers",
        type=_at_least(1),
        default=-1,
        metavar="N",
        help="processes (default: one for each processor)",
    )
    return parser


def _at_least(minimum: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isdecimal() or int(text) < minimum:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a whole number of at least {minimum}"
            )
        return int(text)

    return read


def _print_summary(tables: list[Table], page: Path) -> None:
    """Print how many numbers of each table are reproduced, and why the others are not."""
    console = Console(highlight=False, markup=False, emoji=False)
    grid = Grid(title="The paper's numbers and ours", title_justify="left")
    grid.add_column("table", no_wrap=True)
    for heading in ("reproduced", "differs", "not run", "beyond", "claims that hold"):
        grid.add_column(heading, justify="right")
    for table in tables:
        grid.add_row(table.name, *map(str, table.counts().values()), table.claims_that_hold())
    console.print(grid)
    for table in tables:
        for column, quantity, reason in table.differences():
            console.print(f"{table.name} ({column}), {quantity}: {reason}", soft_wrap=True)
        for reason in table.missing:
            console.print(f"{table.name}: {reason}", soft_wrap=True)
    console.print(f"\nEverything on one page: {page}", soft_wrap=True)
