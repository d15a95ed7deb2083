"""``lincfa paper``: the paper's experiments anew, its figures beside ours."""

import argparse
from typing import Any

from ._arguments import add_command, natural, positive
from ._terminal import Terminal

# Named here so that the help does not import what the experiments need; a test compares.
EXPERIMENTS = ("bivariate", "trivariate", "dimensions", "samples", "real")


def add(commands: Any) -> None:
    """Add the command."""
    paper = add_command(
        commands,
        "paper",
        run,
        help="run the paper's experiments anew and set its figures beside ours",
        description="Runs the experiments of the paper and writes a Markdown and a JSON file per\n"
        "table, PNG and SVG per figure, and an index page with a verdict on every figure.",
        examples="  lincfa paper --quick --experiment bivariate trivariate",
    )
    paper.add_argument(
        "--experiment",
        nargs="+",
        choices=EXPERIMENTS,
        metavar="NAME",
        help=f"only these of {', '.join(EXPERIMENTS)} (default: all)",
    )
    amount = paper.add_mutually_exclusive_group()
    amount.add_argument(
        "--repetitions",
        type=_enough,
        default=500,
        metavar="N",
        help="repetitions of each simulation, at least 10 (default: 500, as in the paper)",
    )
    amount.add_argument(
        "--quick", action="store_true", help="40 repetitions: wide intervals within a minute"
    )
    paper.add_argument("--seed", type=natural, default=0, help="seed (default: 0)")
    paper.add_argument(
        "--output",
        default="paper-results",
        metavar="FOLDER",
        help="where to write (default: paper-results)",
    )
    paper.add_argument(
        "--data",
        metavar="FOLDER",
        help="where the real data are (default: the variable LINCFA_DATA, then ../shared/data)",
    )
    paper.add_argument(
        "--workers",
        type=positive,
        default=-1,
        metavar="N",
        help="processes to work with (default: one per processor)",
    )


def _enough(text: str) -> int:
    if positive(text) < 10:
        raise argparse.ArgumentTypeError(f"{text} repetitions are too few: at least 10")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Run the experiments and say what came out."""
    talk = Terminal()
    from rich.table import Table

    from ..paper import QUICK, differences, reproduce

    with talk.counting("simulating") as progress:
        results = reproduce(
            options.output,
            experiments=options.experiment,
            repetitions=QUICK if options.quick else options.repetitions,
            seed=options.seed,
            workers=options.workers,
            folder=options.data,
            progress=progress,
        )
    table = Table(title="The paper's figures beside ours", title_justify="left")
    table.add_column("table", no_wrap=True)
    for heading in ("reproduced", "differs", "not run", "beyond", "statements hold"):
        table.add_column(heading, justify="right")
    for each in results.tables:
        held = f"{sum(claim.ours for claim in each.claims)} of {len(each.claims)}"
        counts = each.counts().values()
        table.add_row(each.name, *map(str, counts), held if each.claims else "")
    talk.print(table)
    for each in results.tables:
        for column, quantity, reason in differences(each):
            talk.print(f"{each.name} ({column}), {quantity}: {reason}")
        for reason in each.missing:
            talk.print(f"{each.name}: {reason}")
    talk.print(f"\nEverything on one page: {results.page}")
    return 0
