"""Run the campaigns for some minutes, print what they tried, and save every case that fails."""

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from .case import Case
from .run import Table, campaign, run

CAMPAIGNS = ["differential", "metamorphic", "chunks", "files", "signals", "models"]


def report(tables: dict[str, Table]) -> None:
    """Print a row for each campaign, and every failure."""
    heads = ("cases", "unclear", "failures", "faults")
    print(f"{'campaign':<14}{''.join(f'{head:>10}' for head in heads)}{'per second':>12}")
    for name, table in tables.items():
        rate = table.cases / table.seconds if table.seconds else 0.0
        counts = (table.cases, table.unclear, len(table.failures), len(table.faults))
        print(f"{name:<14}{''.join(f'{count:>10}' for count in counts)}{rate:>12.1f}")
    for name, table in tables.items():
        for line in table.failures:
            print(f"{name}: {line}")
        for line in table.faults:
            print(f"{name}, fault of another library: {line}")


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
    parser.add_argument("--seed", type=int, default=0, help="of the cases that are drawn")
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
    try:
        for name, share in shares.items():
            seconds = 60 * options.minutes * share / sum(shares.values())
            tables[name] = Table()
            run(name, seconds, options.seed, options.jobs, options.failures, tables[name])
    except KeyboardInterrupt:
        report(tables)
        return 130
    report(tables)
    return int(any(table.failures for table in tables.values()))


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # one process per core
    # Processes that a campaign kills release nothing.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
    sys.exit(main())
