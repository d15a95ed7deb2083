"""``lincfa explain``: why two features merge, or why they do not."""

import argparse
from dataclasses import asdict
from typing import Any

from . import _arguments as arguments
from ._terminal import Terminal


def add(commands: Any) -> None:
    parser = arguments.add_command(
        commands,
        "explain",
        run,
        help="explain why two features merge, or why they do not",
        description="Compares the linear regression on two features with that on their mean, and\n"
        "explains what the mean costs and what it saves; on the rows that lincfa reduce\n"
        "learns from, if --test, --folds, --groups, --seed, --drop and --missing are the same,\n"
        "and in which both features are present.",
        examples="  lincfa explain data.csv --target y A B\n"
        "  lincfa explain data.csv --target y1 --target y2 A B\n"
        "  lincfa explain data.parquet --target y A B --tolerance unbiased --json\n"
        "  lincfa explain data.csv --target y A B --signed --min-correlation 0.3\n"
        "  lincfa explain stations.csv --target y A B --missing-code -9999",
    )
    arguments.add_data(
        parser,
        missing="rows without a value of the two features are left out (pairwise, the default); "
        "drop leaves out rows that lack any feature, as reduce --missing drop does; error stops if "
        "one of the two lacks a value",
        default_missing="pairwise",
    )
    parser.add_argument("a", metavar="A", help="a feature")
    parser.add_argument("b", metavar="B", help="another feature")
    arguments.add_merging(parser, search=False)
    arguments.add_area_weights(parser)
    rows = parser.add_argument_group("rows, as lincfa reduce learns from them")
    arguments.add_test(rows)
    arguments.add_groups(rows)
    arguments.add_time(parser, "hold out the last rows, or rows at random")
    arguments.add_verbosity(parser)


def run(options: argparse.Namespace) -> int:
    from . import _select as select
    from . import _time as time
    from ._folds import folds_of

    arguments.check_options(options)
    terminal = Terminal(quiet=options.quiet, as_json=options.json)
    pair = [options.a, options.b]
    if options.a == options.b or {*pair} & {*options.target}:
        options.refuse("the two features and the target must be three different columns")
    # The noise "full" depends on all features; so do the rows that are left with "drop".
    is_full = options.noise == "full"
    with terminal.busy(f"reading {options.data}"):
        data, names, unshifted = time.open_with_targets(options, terminal)
        groups = select.read_groups(data, options.groups, names)
        folds = folds_of(options, data, groups, terminal)
    dropped = select.select_columns(data, options.drop)
    shown = terminal if is_full else None
    keep = [*unshifted, *folds.columns]
    features, _ = select.assign_roles(data, names, options.drop, keep, shown, fate="left out")
    data, features, _ = time.with_lags(data, features, [], options, terminal)
    for name in select.select_columns(data, pair, patterns=False):
        if name in names:
            raise ValueError(f"column {name!r} is a target, and so no feature to explain")
    data.require_numeric(pair)
    for name in sorted({*dropped} & {*pair}):
        raise ValueError(f"column {name!r} is to be explained and cannot be dropped")
    targets = select.read_targets(data, names, options.classes, terminal)
    needs_all = is_full or options.missing == "drop"
    gridded = data.gridded(features)
    owners = {next((v.name for v in gridded if name in v.columns), name) for name in pair}
    if gridded and len(owners) > 1:
        terminal.note("the two belong to different variables, which lincfa reduce never merges")
    used = list(dict.fromkeys([*(features if needs_all else ()), *pair]))
    missing = "error" if is_full and options.missing == "pairwise" else options.missing
    pairwise = "--missing pairwise leaves out only those that lack one of the two"
    advice = [] if is_full else [pairwise]
    advice += [select.DROP_COLUMN] if needs_all else []
    complete = select.usable_rows(
        data, used, missing, terminal, targets=targets, advice=advice
    ).known
    rows = select.split_rows(data, complete, targets, options, folds, terminal).train
    if missing == "pairwise":
        rows = select.rows_of_pair(data, pair, rows, terminal)
    select.require_variation(data, targets, rows)
    from .. import explain_pair
    from ..report._findings import plain

    columns = features if is_full else pair
    with select.naming(data.source):
        explanation = explain_pair(
            data.features(columns, rows),
            targets.of(rows),
            *pair,
            tolerance=options.tolerance,
            noise=options.noise,
            min_correlation=options.min_correlation,
            signed=options.signed,
            feature_weights="area" if options.area_weights else None,
            sample_dim=data.sample_dim,
            target="classes" if targets.are_classes else None,
        )
    terminal.print(f"{explanation} This is from {rows.size} rows.", prose=True)
    figures = plain(asdict(explanation))
    if not targets.are_classes:
        figures["targets"] = names
    terminal.print_json(figures | {"words": str(explanation), "notes": terminal.notes})
    return 0
