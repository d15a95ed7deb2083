"""The command line; the only module that prints."""

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import __version__

if TYPE_CHECKING:
    from ._demo import Figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command ``lincfa``; returns its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "rich":
            raise
        print("lincfa: this needs rich; install it with: pip install rich", file=sys.stderr)
        return 1


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
    return parser


def _natural(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0 to 2147483647")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return int(text)


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
