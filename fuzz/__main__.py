"""Run the campaigns for some minutes, print what they tried, and save every case that fails."""

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from .case import Case
from .run import Tally, campaign, missing, run

CAMPAIGNS = ["differential", "metamorphic", "chunks", "files", "signals", "models"]


def report(tallies: dict[str, Tally]) -> None:
    """Print a row for each campaign, and every failure."""
    heads = ("cases", "unclear", "failures", "faults")
    print(f"{'campaign':<14}{''.join(f'{head:>10}' for head in heads)}{'per second':>12}")
    for name, tally in tallies.items():
        rate = tally.cases / tally.seconds if tally.seconds else 0.0
        counts = (tally.cases, tally.unclear, len(tally.failures), len(tally.faults))
        print(f"{name:<14}{''.join(f'{count:>10}' for count in counts)}{rate:>12.1f}")
    for name, tally in tallies.items():
        for line in tally.failures:
            print(f"{name}: {line}")
        for line in tally.faults:
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
    shares: dict[str, float] = {}
    for name in options.only:
        if lacks := missing(name):
            print(f"{name} is left out: there is no {', no '.join(lacks)}")
        else:
            shares[name] = campaign(name).SHARE
    tallies: dict[str, Tally] = {}
    try:
        for name, share in shares.items():
            seconds = 60 * options.minutes * share / sum(shares.values())
            tallies[name] = Tally()
            run(name, seconds, options.seed, options.jobs, options.failures, tallies[name])
    except KeyboardInterrupt:
        return 130
    finally:
        report(tallies)
    return int(any(tally.failures for tally in tallies.values()))


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # one process per core
    # Processes that a campaign kills release nothing.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
    sys.exit(main())
