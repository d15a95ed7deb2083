"""``lincfa apply``: a saved model on new samples."""

import argparse
from typing import Any

from ._arguments import add_command, add_data, add_output, add_talk, refuse_mixed_output
from ._talk import Talk


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "apply",
        run,
        help="reduce new samples by a saved model",
        description="Reads a model that lincfa reduce (or LinCFA.save) wrote and a table with the\n"
        "same features, in any order, and writes the table with the mean of each group\n"
        "in place of its features. All other columns are passed on as they are.",
        examples="  lincfa apply groups.json new.csv\n"
        "  lincfa apply groups.json new.parquet --output reduced.parquet --missing drop",
    )
    parser.add_argument("groups", help="model, as lincfa reduce writes it")
    add_data(parser, target=False)
    add_output(parser)
    add_talk(parser)


def run(options: argparse.Namespace) -> int:
    """Read, average, write."""
    import numpy as np

    from .._files import replacing_all
    from .._names import describe_columns
    from .._tablefiles import form_of
    from ._columns import find_columns
    from ._outputs import check_outputs, named_after, write_reduced
    from ._reading import open_table, refuse_foreign_options
    from ._rows import complete_rows, frame_of_rows

    refuse_mixed_output(options)
    if options.data.endswith(".json"):
        options.refuse("the model comes first, then the table")
    refuse_foreign_options(options)
    talk = Talk(quiet=options.quiet, as_json=options.json, aside=options.output == "-")
    path = options.output or named_after(options.data, form_of(options.data))
    check_outputs({"--output": path}, [options.groups, options.data], options.force)
    form_of(path)  # refuses an unknown suffix before any work
    from .. import load  # takes a second, which errors should not

    model = load(options.groups)
    features = [str(name) for name in model._names()]
    averaged = {features[i] for i in np.flatnonzero(model.labels_ >= 0)}
    table = open_table(options, talk, lambda names: set(names) - averaged)
    names = table.frame.columns
    present = set(names)
    lacking = [name for name in features if name not in present]
    if lacking:
        raise ValueError(
            f"{table.source} lacks {describe_columns(lacking, range(len(lacking)), limit=3)}, "
            f"which {options.groups} averages"
        )
    dropped = set(find_columns(names, options.drop, table.source))
    for name in sorted(dropped & set(features)):
        raise ValueError(f"column {name!r} is a feature of {options.groups} and cannot be dropped")
    rows = complete_rows(table, features, options.missing, talk, advice="")
    with talk.busy("averaging"):
        reduced = model._reduce(frame_of_rows(table, features, np.flatnonzero(rows)))
    keep = [name for name in names if name not in averaged and name not in dropped]
    with replacing_all([path] if path != "-" else []) as parts:
        write_reduced(model, table, keep, rows, reduced, path, parts[0] if parts else None, talk)
    talk.say(f"{len(reduced)} rows, {model.summary().headline}")
    talk.say(f"output: {path}" if path != "-" else "output: standard output")
    talk.give(
        {
            "headline": model.summary().headline,
            "n_samples": len(reduced),
            "n_features": model.n_features_in_,
            "n_groups": model.n_groups_,
            "notes": talk.notes,
            "written": {"output": path},
        }
    )
    return 0
