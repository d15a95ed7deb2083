"""``lincfa demo``: the main job on data it generates."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._arguments import add_command, natural, positive
from ._talk import Talk

if TYPE_CHECKING:
    from ._demo_data import Figure


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "demo",
        run,
        help="compare LinCFA with all features and with PCA on generated data",
        description="Generates a climate-like field and the paper's data, fits linear regressions\n"
        "on all features, on LinCFA's and on PCA's, scores them on held-out samples, and\n"
        "writes a report on the field.",
    )
    parser.add_argument(
        "--draws",
        type=positive,
        default=10,
        metavar="N",
        help="independent draws of the data to average over (default: 10)",
    )
    parser.add_argument(
        "--seed", type=natural, default=0, help="seed of the first draw (default: 0)"
    )
    parser.add_argument(
        "--report",
        default="demo-report.html",
        metavar="FILE",
        help="report on the first draw of the field, agglomerative (default: demo-report.html)",
    )
    parser.add_argument(
        "--table",
        metavar="FILE",
        help="also write the first draw of the paper's data as a table, in the format of the "
        "suffix, to try the other commands on",
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")


def run(options: argparse.Namespace) -> int:
    """Fit, score, tabulate, and write a report."""
    talk = Talk()
    from rich.table import Table

    from ..report._page import write_report
    from ._demo_data import field_findings, paper_table, run_demo
    from ._outputs import check_outputs, write_frame

    outputs = {"--report": options.report}
    if options.table is not None:
        outputs["--table"] = options.table
    check_outputs(outputs, [], options.force)
    draws = f"{options.draws} draws" if options.draws > 1 else "1 draw"
    talk.say(
        f"Linear regression on held-out samples: means over {draws} of the data"
        + (" ± standard error.\n" if options.draws > 1 else ".\n")
    )
    experiments = run_demo(options.draws, options.seed)
    while True:
        with talk.busy("fitting"):
            experiment = next(experiments, None)
        if experiment is None:
            break
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
        talk.say(table)
        talk.say()
    if options.table is not None:
        write_frame(options.table, paper_table(options.seed))
        talk.say(f"The paper's data, target y: {Path(options.table).resolve()}")
    with talk.busy("drawing"):
        write_report(field_findings(options.seed), options.report)
    talk.say(f"Report on the field: {Path(options.report).resolve()}")
    return 0


def _figure(figure: "Figure", digits: int) -> str:
    if not figure.error > 0:  # a single draw, or the same in every draw
        return f"{figure.mean:.{digits}f}".removesuffix(".0")
    return f"{figure.mean:.{digits}f} ± {figure.error:.{digits}f}"
