"""``lincfa explain``: why two features merge, or why they do not."""

import argparse
from dataclasses import asdict
from math import isfinite
from typing import Any

from ._arguments import add_command, add_data, add_merging, add_split, add_talk
from ._talk import Talk


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "explain",
        run,
        help="say why two features merge, or why they do not",
        description="Compares the linear regression on two features with that on their mean, and\n"
        "says in words what the mean costs and what it saves; on the rows that lincfa reduce\n"
        "learns from, if --test, --split, --seed, --drop and --missing are the same.",
        examples="  lincfa explain data.csv --target y A B\n"
        "  lincfa explain data.parquet --target y A B --tolerance unbiased --json",
    )
    add_data(parser)
    parser.add_argument("a", metavar="A", help="a feature")
    parser.add_argument("b", metavar="B", help="another feature")
    add_merging(parser, search=False)
    add_split(parser.add_argument_group("rows to explain on: those that lincfa reduce learns from"))
    add_talk(parser)


def run(options: argparse.Namespace) -> int:
    """Read, compare, explain."""
    from ._reading import naming, read_pair, refuse_foreign_options

    refuse_foreign_options(options)
    talk = Talk(quiet=options.quiet, as_json=options.json)
    pair = (options.a, options.b)
    if len({*pair, options.target}) < 3:
        options.refuse("the two features and the target must be three different columns")
    # The noise of the regression on all features takes all of them, as a fit does.
    samples = read_pair(options, talk, pair, only=options.noise != "full")
    from .. import explain_pair

    with naming(samples.source):
        explanation = explain_pair(
            samples.X,
            samples.y,
            *pair,
            tolerance=options.tolerance,
            noise=options.noise,
            min_correlation=options.min_correlation,
        )
    talk.say(f"{explanation} This is from {len(samples.y)} rows.", prose=True)
    figures = {
        name: value if not isinstance(value, float) or isfinite(value) else None
        for name, value in asdict(explanation).items()
    }
    talk.give(figures | {"words": str(explanation), "notes": talk.notes})
    return 0
