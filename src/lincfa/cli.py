"""The command line; the only module that prints."""

import argparse
import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import __version__

if TYPE_CHECKING:
    from ._demo import Figure

# Named here so that the help does not import what the experiments need; a test compares.
_EXPERIMENTS = ("bivariate", "trivariate", "dimensions", "samples", "real")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command ``lincfa``; returns its exit code."""
    options = _parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal that cannot show R² shows R?
        sys.stdout.reconfigure(errors="replace")
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return _complain("interrupted", 130)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "rich":
            raise
        return _complain("this needs rich; install it with: pip install rich")
    except ImportError as error:  # one of ours, which says what to install
        return _complain(str(error))
    except OSError as error:
        return _complain(f"{error.filename or 'file'}: {error.strerror or error}")


def _complain(message: str, code: int = 1) -> int:
    print(f"lincfa: {message}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="lincfa",
        description="Reduce many correlated features to few plain means, supervised by a target.",
    )
    parser.add_argument("--version", action="version", version=f"lincfa {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="command")
    demo = commands.add_parser(
        "demo",
        help="compare LinCFA with all features and with PCA on generated data",
        description="Generates a climate-like field and the paper's data, fits a linear regression "
        "on all features, on LinCFA's and on PCA's, and scores it on held-out samples.",
    )
    demo.add_argument(
        "--draws",
        type=_positive,
        default=10,
        metavar="N",
        help="independent draws of the data to average over (default: 10)",
    )
    demo.add_argument(
        "--seed", type=_natural, default=0, help="seed of the first draw (default: 0)"
    )
    demo.set_defaults(run=_demo)
    _add_paper(commands)
    return parser


def _add_paper(commands: Any) -> None:
    paper = commands.add_parser(
        "paper",
        help="run the paper's experiments anew and set its figures beside ours",
        description="Runs the experiments of the paper and writes a Markdown and a JSON file per "
        "table, PNG and SVG per figure, and an index page with a verdict on every figure.",
    )
    paper.add_argument(
        "--experiment",
        nargs="+",
        choices=_EXPERIMENTS,
        metavar="NAME",
        help=f"only these of {', '.join(_EXPERIMENTS)} (default: all)",
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
    paper.add_argument("--seed", type=_natural, default=0, help="seed (default: 0)")
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
        type=_positive,
        default=-1,
        metavar="N",
        help="processes to work with (default: one per processor)",
    )
    paper.set_defaults(run=_paper)


def _natural(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2147483647")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


def _enough(text: str) -> int:
    if _positive(text) < 10:
        raise argparse.ArgumentTypeError(f"{text} repetitions are too few: at least 10")
    return int(text)


def _paper(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table

    from .paper import QUICK, differences, reproduce

    console = Console()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=None)
        results = reproduce(
            options.output,
            experiments=options.experiment,
            repetitions=QUICK if options.quick else options.repetitions,
            seed=options.seed,
            workers=options.workers,
            folder=options.data,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    table = Table(title="The paper's figures beside ours", title_justify="left")
    table.add_column("table", no_wrap=True)
    for heading in ("reproduced", "differs", "not run", "beyond", "statements hold"):
        table.add_column(heading, justify="right")
    for each in results.tables:
        held = f"{sum(claim.ours for claim in each.claims)} of {len(each.claims)}"
        counts = each.counts().values()
        table.add_row(each.name, *map(str, counts), held if each.claims else "")
    console.print(table)
    for each in results.tables:
        for column, quantity, reason in differences(each):
            console.print(
                f"{each.name} ({column}), {quantity}: {reason}", style="dim", highlight=False
            )
        for reason in each.missing:
            console.print(f"{each.name}: {reason}", style="dim", highlight=False)
    console.print(f"\nEverything on one page: {results.page}", soft_wrap=True, highlight=False)
    return 0


def _demo(options: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    from ._demo import run_demo

    console = Console()
    draws = f"{options.draws} draws" if options.draws > 1 else "1 draw"
    console.print(
        f"Linear regression on held-out samples: means over {draws} of the data"
        + (" ± standard error.\n" if options.draws > 1 else ".\n")
    )
    experiments = run_demo(options.draws, options.seed)
    while True:
        with console.status("fitting …"):
            experiment = next(experiments, None)
        if experiment is None:
            return 0
        table = Table(
            title=f"{experiment.title}\n{experiment.n_features} features, "
            f"{experiment.n_train} samples to fit, {experiment.n_test} held out",
            title_justify="left",
        )
        table.add_column("regression on")
        for heading in ("features", "R²", "mean squared error"):
            table.add_column(heading, justify="right")
        for row in experiment.rows:
            table.add_row(
                row.features, _figure(row.count, 1), _figure(row.r2, 3), _figure(row.mse, 3)
            )
        console.print(table)
        console.print()


def _figure(figure: "Figure", digits: int) -> str:
    if not figure.error > 0:  # a single draw, or the same in every draw
        return f"{figure.mean:.{digits}f}".removesuffix(".0")
    return f"{figure.mean:.{digits}f} ± {figure.error:.{digits}f}"


if __name__ == "__main__":
    sys.exit(main())
