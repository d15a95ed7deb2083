"""``lincfa apply`` on a table in chunks."""

import argparse

import numpy as np

from .._model._files import replacing
from ._chunked import check_chunked_outputs, complete_rows_of, write_reduced_chunks
from ._columns import find_features
from ._computing import computing
from ._files import check_same_field, open_chunked
from ._outputs import tell_applied
from ._talk import Talk


def apply_chunks(options: argparse.Namespace) -> int:
    """Average and write, chunk by chunk."""
    talk = Talk(quiet=options.quiet, as_json=options.json)
    path = check_chunked_outputs(options, {}, [options.groups])["--output"]
    where = options.dask or "threads"
    from .. import load

    model = load(options.groups)
    features = [str(name) for name in model._names()]
    averaged = {features[i] for i in np.flatnonzero(model.labels_ >= 0)}
    table = open_chunked(options.data, samples=options.samples, scheduler="://" in where)
    if getattr(model, "field_", None) is not None:
        check_same_field(table, model.field_)
    dropped = find_features(table, features, options.drop, options.groups)
    table.need_numbers(features)
    keep = [name for name in table.names if name not in averaged and name not in dropped]
    # Of a grid, cells without any value are not written, features or not.
    looked = list(dict.fromkeys([*features, *(table.numeric if table.grid is not None else [])]))
    with replacing(path) as part, computing(where, talk) as counting:
        with counting(f"reading {table.source}"):
            look = table.look(looked)
            empty = [name for name in looked if look.missing[name] == table.n_rows]
            rows = complete_rows_of(look, features, options.missing, talk, advice="")
        with counting("averaging and writing"):
            reduced = table.averages(model, features, fill=not rows.all())
            write_reduced_chunks(model, table, keep, rows, reduced, path, part, talk, empty=empty)
    tell_applied(model, int(rows.sum()), path, talk)
    return 0
