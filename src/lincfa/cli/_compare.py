"""``lincfa compare``: LinCFA against other methods on the user's own table."""

import argparse
from typing import Any

from ._arguments import add_command, add_data, add_talk, natural, positive
from ._talk import Talk

# Named here so that the help does not import what the methods need; a test compares.
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
)


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "compare",
        run,
        help="compare with all features, ridge, PCA, PLS and FeatureAgglomeration",
        description="Scores LinCFA's variants and other methods, each with a linear regression\n"
        "behind it, by repeated cross-validation on the rows of a table.",
        examples="  lincfa compare data.csv --target y\n"
        "  lincfa compare series.parquet --target y --split time --folds 10",
    )
    add_data(parser)
    parser.add_argument(
        "--method",
        action="append",
        metavar="NAME",
        help=f"compare this one only, of {', '.join(METHODS)}; may be repeated (default: all that "
        "the size of the table allows)",
    )
    parser.add_argument(
        "--folds", type=positive, default=5, metavar="N", help="number of folds (default: 5)"
    )
    parser.add_argument(
        "--repeats",
        type=positive,
        default=3,
        metavar="N",
        help="how often to split into folds anew (default: 3; once with --split time)",
    )
    parser.add_argument(
        "--split",
        choices=("random", "time"),
        default="random",
        help="folds of rows at random (default), or of neighbours, for rows in the order of time",
    )
    parser.add_argument("--seed", type=natural, default=0, help="seed of the folds (default: 0)")
    parser.add_argument(
        "--workers",
        type=positive,
        default=1,
        metavar="N",
        help="processes to work with (default: 1, which is the fair one for the times)",
    )
    add_talk(parser)


def run(options: argparse.Namespace) -> int:
    """Read, cross-validate, tabulate."""
    from ._reading import naming, read_samples, refuse_foreign_options

    if options.folds < 2:
        options.refuse("--folds takes at least 2")
    for name in options.method or ():
        if name not in METHODS:
            options.refuse(f"--method {name!r} is none of: {', '.join(METHODS)}")
    refuse_foreign_options(options)
    talk = Talk(quiet=options.quiet, as_json=options.json)
    samples = read_samples(options, talk)
    from .. import compare

    with (
        naming(samples.source),
        talk.noting_warnings(),
        talk.counting("comparing") as progress,
    ):
        comparison = compare(
            samples.X,
            samples.y,
            methods=options.method,
            cv=options.folds,
            n_repeats=options.repeats,
            ordered=options.split == "time",
            random_state=options.seed,
            n_jobs=options.workers,
            verbose=False,
            progress=progress,
        )
    talk.say(str(comparison))
    told = comparison.to_dict()
    talk.give(told | {"notes": [*talk.notes, *told["notes"]]})
    return 0
