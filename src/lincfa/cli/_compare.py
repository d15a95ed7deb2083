"""``lincfa compare``: LinCFA against other methods on the user's own data."""

import argparse
from contextlib import nullcontext
from typing import Any

from . import _arguments as arguments
from ._dask import interrupted_by_signals
from ._terminal import Terminal

# Named here so that the help does not import what the methods need; a test compares.
CLASSIFIERS = (
    "LinCFA",
    "LinCFAClassifierCV",
    "logistic regression",
    "PCA + LDA",
    "PLS-DA",
    "most frequent class",
)
METHODS = (
    "LinCFA",
    "LinCFA centroid",
    "LinCFA agglomerative",
    "LinCFA joint",
    "LinCFACV",
    "all features",
    "ridge",
    "PCA",
    "PLS",
    "FeatureAgglomeration",
    "elastic net",
    "SLOPE",
)


def add(commands: Any) -> None:
    parser = arguments.add_command(
        commands,
        "compare",
        run,
        help="compare with ridge, PCA, PLS, FeatureAgglomeration, elastic net and SLOPE",
        description="Scores LinCFA's variants and other methods, tuned by the same inner folds,\n"
        "by repeated cross-validation on the rows of a table.",
        examples="  lincfa compare data.csv --target y\n"
        "  lincfa compare data.csv --target y1 --target y2\n"
        "  lincfa compare field.nc --target rain --connectivity grid --area-weights\n"
        "  lincfa compare data.csv --target y --groups batch\n"
        "  lincfa compare series.parquet --target y --folds blocks --n-folds 10",
    )
    arguments.add_data(
        parser,
        missing="rows with missing values in features: stop with an error (default), or drop them; "
        "pairwise is for reduce, apply and explain",
    )
    parser.add_argument(
        "--method",
        action="append",
        metavar="NAME",
        help=f"compare this one only, of {', '.join(METHODS)}, or for classes of "
        f"{', '.join(CLASSIFIERS)}; may be repeated (default: all that the size of the table "
        "allows; SLOPE only where sortedl1 is installed)",
    )
    arguments.add_signed(parser)
    arguments.add_neighbours(parser)
    arguments.add_area_weights(parser)
    parser.add_argument(
        "--n-folds",
        type=arguments.positive,
        default=5,
        metavar="N",
        help="number of folds (default: 5)",
    )
    parser.add_argument(
        "--repeats",
        type=arguments.positive,
        default=3,
        metavar="N",
        help="number of times to split into folds (default: 3; in blocks and groups always once)",
    )
    parser.add_argument(
        "--seed", type=arguments.natural, default=0, help="seed of the folds (default: 0)"
    )
    parser.add_argument(
        "--workers",
        type=arguments.positive,
        default=1,
        metavar="N",
        help="number of processes (default: 1, for fair times)",
    )
    arguments.add_groups(parser)
    arguments.add_time(parser, "folds of consecutive dates, or of rows at random")
    arguments.add_verbosity(parser)


def run(options: argparse.Namespace) -> int:
    from .._data._names import did_you_mean
    from . import _select as select
    from . import _time as time
    from ._folds import folds_of
    from ._neighbours import structure_of

    if options.missing == "pairwise":
        options.refuse(
            "--missing pairwise is for lincfa reduce; the methods compared need complete rows, "
            "such as --missing drop leaves"
        )
    if options.n_folds < 2:
        options.refuse("--n-folds must be at least 2")
    for name in options.method or ():
        if name not in METHODS + CLASSIFIERS:
            known = dict.fromkeys(METHODS + CLASSIFIERS)
            hint = did_you_mean(name, known)
            options.refuse(f"--method {name!r} is not one of: {', '.join(known)}{hint}")
    arguments.check_neighbours(options)
    arguments.check_options(options)
    terminal = Terminal(quiet=options.quiet, as_json=options.json)
    with terminal.busy(f"reading {options.data}"):
        data, names, unshifted = time.open_with_targets(options, terminal)
    groups = select.read_groups(data, options.groups, names)
    folds = folds_of(options, data, groups, terminal)
    keep = [*unshifted, *folds.columns]
    features, _ = select.assign_roles(data, names, options.drop, keep, terminal, fate="left out")
    data, features, _ = time.with_lags(data, features, [], options, terminal)
    targets = select.read_targets(data, names, options.classes, terminal)
    for name in options.method or ():
        if name not in (CLASSIFIERS if targets.are_classes else METHODS):
            kind = "numbers" if targets.are_classes else "classes"
            raise ValueError(f"--method {name!r} is for {kind}, unlike the target")
    rows = select.usable_rows(
        data, features, options.missing, terminal, targets=targets, fewest=1
    ).known
    if rows.size > 1:
        select.require_variation(data, targets, rows)
    cv, labels = options.n_folds, None if groups is None else groups.of(rows)
    if folds.in_blocks:
        from ..timeseries import BlockKFold

        cv, labels = BlockKFold(options.n_folds, gap=folds.gap), folds.ranks(rows)
    structure = structure_of(data, features, options, terminal)
    X = data.features(features, rows)
    source = data.source
    del data  # its memory is needed for the methods
    from .. import compare

    with (
        interrupted_by_signals() if options.workers > 1 else nullcontext(),
        select.naming(source),
        terminal.warnings_as_notes(),
        terminal.counting("comparing") as progress,
    ):
        comparison = compare(
            X,
            targets.of(rows),
            methods=options.method,
            cv=cv,
            n_repeats=options.repeats,
            ordered=folds.in_blocks,
            groups=labels,
            signed=options.signed,
            feature_weights="area" if options.area_weights else None,
            **structure,
            target="classes" if targets.are_classes else None,
            random_state=options.seed,
            n_jobs=options.workers,
            verbose=False,
            progress=progress,
        )
    terminal.print(str(comparison), lines=True)
    outcome = comparison.to_dict()
    terminal.print_json(outcome | {"notes": [*terminal.notes, *outcome["notes"]]})
    return 0
