"""``lincfa apply``: a saved model on new samples."""

import argparse
from typing import Any

from ._arguments import add_command, add_dask, add_data, add_output, add_talk, refuse_mixed_output
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
    add_dask(parser)
    add_output(parser)
    add_talk(parser)


def run(options: argparse.Namespace) -> int:
    """Read, average, write."""
    import numpy as np

    from .._model._files import replacing_all
    from ._columns import find_features
    from ._files import check_same_field, form_of
    from ._outputs import check_outputs, named_after, tell_applied, write_reduced
    from ._reading import in_chunks, open_table, refuse_foreign_options
    from ._rows import complete_rows, frame_of_rows

    refuse_mixed_output(options)
    if options.data.endswith(".json"):
        options.refuse("the model comes first, then the table")
    refuse_foreign_options(options)
    if in_chunks(options):
        from ._chunked_apply import apply_chunks

        return apply_chunks(options)
    talk = Talk(quiet=options.quiet, as_json=options.json, aside=options.output == "-")
    path = options.output or named_after(options.data, form_of(options.data))
    check_outputs({"--output": path}, [options.groups, options.data], options.force)
    form_of(path)  # refuses an unknown suffix before any work
    from .. import load

    model = load(options.groups)
    features = [str(name) for name in model._names()]
    averaged = {features[i] for i in np.flatnonzero(model.labels_ >= 0)}
    table = open_table(options, talk, lambda names: set(names) - averaged)
    if getattr(model, "field_", None) is not None:
        check_same_field(table, model.field_)
    names = table.names
    dropped = find_features(table, features, options.drop, options.groups)
    rows = complete_rows(table, features, options.missing, talk, advice="")
    with talk.busy("averaging"):
        reduced = model._reduce(frame_of_rows(table, features, np.flatnonzero(rows)))
    keep = [name for name in names if name not in averaged and name not in dropped]
    with replacing_all([path] if path != "-" else []) as parts:
        write_reduced(model, table, keep, rows, reduced, path, parts[0] if parts else None, talk)
    tell_applied(model, len(reduced), path, talk)
    return 0
