"""The command line on large tables: ``python -m benchmarks.tables``.

Generates tables of correlated features in a temporary folder, runs ``lincfa reduce`` on each in a
separate process, and prints seconds and peak memory, compared with reading the file only. What
counts are the ratios, each taken within one run.
"""

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from rich.table import Table

from .bars import new_console, save

# Runs a command and prints its wall time, CPU time and peak resident memory in kilobytes. In a
# separate process, because the system reports the peak over all children.
_MEASURED = """
import resource, subprocess, sys, time
start = time.perf_counter()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(code)
"""
_READ = """
import sys
import polars as pl
read = pl.read_csv if sys.argv[1].endswith(".csv") else pl.read_parquet
read(sys.argv[1]).to_numpy()
"""


@dataclass(frozen=True)
class Size:
    """A table to generate."""

    name: str
    n: int
    D: int


@dataclass(frozen=True)
class Usage:
    """Resources used by a process."""

    seconds: float
    processor: float
    peak_bytes: int


def generate(path: Path, size: Size) -> None:
    """Write correlated features and a target; columns in the same block share a factor."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(size.n, 40))
    target = factors[:, :8].sum(axis=1) + 2 * rng.normal(size=size.n)
    columns = {"y": target}
    for i in range(size.D):
        columns[f"c{i}"] = factors[:, i * 40 // size.D] + 0.5 * rng.normal(size=size.n)
    frame = pl.DataFrame(columns)
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path)


def usage(*command: str) -> Usage:
    """Run a command and return what it used."""
    result = subprocess.run(
        [sys.executable, "-c", _MEASURED, *command], capture_output=True, text=True, check=True
    )
    seconds, processor, peak = result.stdout.split()
    return Usage(float(seconds), float(processor), 1024 * int(peak))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small tables, to check that it runs")
    options = parser.parse_args()
    sizes = [
        Size("wide.parquet", 2_000, 62_500),
        Size("square.parquet", 10_000, 12_500),
        Size("tall.parquet", 500_000, 250),
        Size("square.csv", 5_000, 5_000),
    ]
    if options.quick:
        sizes = [Size("square.csv", 200, 500)]
    console = new_console()
    table = Table(title="lincfa reduce in a separate process")
    for title in ("table", "step", "seconds", "CPU seconds", "peak memory", "peak / data"):
        table.add_column(title, justify="left" if title in ("table", "step") else "right")
    with TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / size.name
            generate(path, size)
            held = 8 * size.n * (size.D + 1)
            megabytes = os.path.getsize(path) / 1e6
            lincfa = (sys.executable, "-m", "lincfa.cli", "reduce", str(path), "--target", "y")
            output = ("--force", "--output", f"{folder}/reduced.parquet", "--model")
            report = (f"{folder}/model.json", "--report", f"{folder}/report.html")
            works = {
                "read only": (sys.executable, "-c", _READ, str(path)),
                "reduce, no report": (*lincfa, *output, report[0], "--no-report", "--quiet"),
                "reduce": (*lincfa, *output, *report, "--quiet"),
            }
            for place, (work, command) in enumerate(works.items()):
                used = usage(*command)
                table.add_row(
                    f"{size.name}, {size.n} × {size.D}, {megabytes:.0f} MB" if not place else "",
                    work,
                    f"{used.seconds:.1f}",
                    f"{used.processor:.1f}",
                    f"{used.peak_bytes / 1e9:.2f} GB",
                    f"{used.peak_bytes / held:.1f}",
                )
            table.add_section()
            path.unlink()
    console.print(table)
    save(console, "tables", options.quick)


if __name__ == "__main__":
    main()
