"""``lincfa reduce``: from a table to reduced features, a model and a report."""

import argparse
from dataclasses import replace
from typing import Any

from ._arguments import (
    STRATEGIES,
    add_command,
    add_dask,
    add_data,
    add_merging,
    add_output,
    add_split,
    add_talk,
    positive,
    refuse_mixed_output,
)
from ._talk import Talk

_EXAMPLES = """\
  lincfa reduce data.csv --target y
  lincfa reduce field.nc --target rain --strategy agglomerative --n-groups 12 --units original
  lincfa reduce field.nc --target rain --connectivity grid --split time
  lincfa reduce prices.parquet --target return --split time --tolerance cv --keep date
  lincfa reduce folder --target y --dask processes --output reduced
  zcat data.csv.gz | lincfa reduce - --target y --output - --no-report --force > reduced.csv"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "reduce",
        run,
        help="reduce a table: reduced table, model and report",
        description="Learns groups of features from a table and writes the table with the mean of\n"
        "each group in place of its features, the model (for lincfa apply) and a report.\n"
        "Columns that are not numeric, and the target, are passed on as they are.",
        examples=_EXAMPLES,
    )
    add_data(parser)
    add_dask(parser)
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="pass this column on as it is; also a pattern, and the option may be repeated",
    )
    merging = parser.add_argument_group("how to merge")
    merging.add_argument(
        "--strategy",
        choices=STRATEGIES,
        help="how groups are formed (default: sequential, the paper's; with --n-groups "
        "agglomerative; with --tolerance cv all are tried)",
    )
    add_merging(merging)
    merging.add_argument(
        "--connectivity",
        choices=("grid", "chain"),
        help="merge neighbours only: cells side by side on the grid of a NetCDF file or Zarr "
        "store, or columns side by side, as in a spectrum (default: any features may merge)",
    )
    merging.add_argument(
        "--n-groups",
        type=positive,
        metavar="N",
        help="number of groups instead of a tolerance, by --strategy agglomerative or joint",
    )
    merging.add_argument(
        "--units",
        choices=("standardized", "original"),
        default="standardized",
        help="average standardised columns (default), or columns as they are, for like units",
    )
    scores = parser.add_argument_group("rows held out for the scores")
    add_split(scores)
    output = parser.add_argument_group("what to write")
    add_output(output)
    output.add_argument(
        "--groups", default="groups.json", metavar="FILE", help="model (default: groups.json)"
    )
    page = output.add_mutually_exclusive_group()
    page.add_argument(
        "--report",
        default="report.html",
        metavar="FILE",
        help="report; .json for the same as data (default: report.html)",
    )
    page.add_argument("--no-report", action="store_true", help="write no report")
    add_talk(parser)


def run(options: argparse.Namespace) -> int:
    """Read, learn, score, write."""
    from ._columns import assign_roles, meant
    from ._files import form_of
    from ._outputs import check_outputs, named_after
    from ._reading import (
        find_field,
        in_chunks,
        naming,
        of_field,
        open_table,
        refuse_foreign_options,
    )
    from ._rows import Split, complete_rows

    _refuse_options(options)
    refuse_mixed_output(options)
    refuse_foreign_options(options)
    for option, path in (("--groups", options.groups), ("--report", options.report)):
        if path == "-":
            options.refuse(f"{option} takes the name of a file, not standard output")
    if not options.report.lower().endswith((".html", ".htm", ".json")):
        options.refuse(f"--report writes .html or .json, not {options.report!r}")
    if in_chunks(options):
        from ._chunked_reduce import reduce_chunks

        return reduce_chunks(options, _model)
    talk = Talk(quiet=options.quiet, as_json=options.json, aside=options.output == "-")
    paths = {
        "--output": options.output or named_after(options.data, form_of(options.data)),
        "--groups": options.groups,
        "--report": options.report,
    }
    if options.no_report:
        del paths["--report"]
    check_outputs(paths, [options.data], options.force)
    form_of(paths["--output"])  # refuses an unknown suffix before any work

    table = open_table(
        options,
        talk,
        lambda names: {
            options.target,
            *(name for each in options.keep for name in meant(names, each)),
        },
    )
    if table.grid is not None and table.grid.samples == "time" and options.split == "random":
        talk.note("rows are held out at random; --split time holds out the last ones")
    roles = assign_roles(table, options.target, options.drop, options.keep, talk)
    field = find_field(table, roles.features, options)
    used = [options.target, *roles.features]
    with talk.busy("looking for missing values"):
        rows = complete_rows(table, used, options.missing, talk)
        split = Split.of(table, options.target, roles.features, rows, options, talk)
    from ._reduction import Reduction, note_groups, tell

    model = _model(options)
    merging = f"merging {len(roles.features)} features"
    noted = talk.noting_warnings(but="LinCFA leaves out constant")
    with naming(table.source), talk.busy(merging), noted:
        model.fit(of_field(field, split.X), split.y)
    reduction = Reduction(model, options.target, roles, rows, table, split)
    reduction = replace(reduction, table=table.only(reduction.kept))
    del table  # what scores and pictures take has room again
    note_groups(reduction, options, talk)
    with talk.busy("scoring"):
        findings = None if options.no_report else reduction.findings(options, talk)
        scores = reduction.scores(options) if findings is None else findings.scores
    with talk.busy("writing"):
        written = reduction.write(paths, findings, talk)
    tell(reduction, scores, options, written, talk)
    return 0


def _refuse_options(options: argparse.Namespace) -> None:
    """Refuse options that do not go together."""
    from ._files import form_of

    if options.n_groups is not None and options.strategy in ("sequential", "centroid"):
        options.refuse("--n-groups goes with --strategy agglomerative or joint")
    if options.n_groups is not None and options.tolerance != 1.0:
        options.refuse("--n-groups takes the place of --tolerance; give one of the two")
    if options.connectivity == "grid" and form_of(options.data).flat:
        options.refuse(
            "--connectivity grid is for NetCDF files and Zarr stores; --connectivity chain is for "
            "columns in their order"
        )


def _model(options: argparse.Namespace) -> Any:
    """Make the estimator that the options ask for."""
    from .. import LinCFA, LinCFACV

    common = {
        "noise": options.noise,
        "min_correlation": options.min_correlation,
        "connectivity": options.connectivity,
        "units": options.units,
    }
    if options.tolerance == "cv":
        from sklearn.model_selection import KFold

        strategies = STRATEGIES if options.strategy is None else (options.strategy,)
        folds = KFold(5) if options.split == "time" else None
        return LinCFACV(strategies=strategies, cv=folds, **common)
    return LinCFA(
        strategy=options.strategy
        or ("sequential" if options.n_groups is None else "agglomerative"),
        tolerance=options.tolerance,
        n_groups=options.n_groups,
        **common,
    )
