"""``lincfa apply``: a saved model on new samples."""

import argparse
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arguments as arguments
from ._terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._files import DataFile
    from ._files._tables import Indices
    from ._write import Added


def add(commands: Any) -> None:
    parser = arguments.add_command(
        commands,
        "apply",
        run,
        help="reduce new samples by a saved model",
        description="Reads a model that lincfa reduce (or LinCFA.save) wrote and data with the\n"
        "same features, in any order, and writes the data with the mean of each group in\n"
        "place of its features. All other columns are kept unchanged.",
        examples="  lincfa apply model.json new.csv\n"
        "  lincfa apply model.json new.parquet --output reduced.parquet --missing drop",
    )
    add_new_samples(parser)
    arguments.add_output(parser, "reduced data", "reduced")
    arguments.add_verbosity(parser)


def add_new_samples(parser: argparse.ArgumentParser) -> None:
    """Add a saved model and the data to apply it to."""
    parser.add_argument("model", help="model, as lincfa reduce writes it")
    arguments.add_data(
        parser,
        missing="missing values in features: stop with an error, drop the rows that have any, or "
        "average the members that are present (pairwise: the default for models that were learned "
        "so, and only for these)",
        default_missing=None,
        target=False,
    )
    arguments.add_dask(parser)


def run(options: argparse.Namespace) -> int:
    from ._write import ReducedFeatures

    terminal, model, path, new = write_new(options, "reduced", ReducedFeatures)
    terminal.print(f"{new.rows.size} rows, {model.summary().headline}")
    terminal.print(f"output: {'standard output' if path == '-' else path}")
    terminal.print_json(
        {
            "headline": model.summary().headline,
            "n_samples": new.rows.size,
            "n_features": model.n_features_in_,
            "n_groups": model.n_groups_,
            "notes": terminal.notes,
            "written": {"output": path},
        }
    )
    return 0


def write_new(
    options: argparse.Namespace, ending: str, added_by: "Callable[[Any], Added]"
) -> "tuple[Terminal, Any, str, NewSamples]":
    """Reduce new samples by a saved model, and write what is made of their reduced features."""
    check_options(options)
    from .. import load
    from ._dask import computing
    from ._write import output_paths, replacing, write_reduced

    terminal = Terminal(quiet=options.quiet, as_json=options.json, aside=options.output == "-")
    path = output_paths(options, {}, [options.model], ending)["--output"]
    model = load(options.model)
    added, titles = added_by(model), {*model._targets.titles}
    where = arguments.scheduler_of(options)
    with (
        replacing([path], force=options.force) as prepare,
        computing(where, terminal) as step,
    ):
        new = reduce_new(options, model, step, terminal)
        with step("writing"):
            parts = prepare()
            targets = titles & {*new.data.numeric}
            write_reduced(parts.get(path), path, *new, added, terminal, as_numbers=targets)
    return terminal, model, path, new


def check_options(options: argparse.Namespace) -> None:
    if options.data.endswith(".json"):
        options.refuse("the model comes first, then the data")
    arguments.check_options(options)


class NewSamples(NamedTuple):
    """Samples reduced by a saved model, and the columns of their data that are kept."""

    data: "DataFile"
    keep: list[str]
    rows: "Indices"
    reduced: Any


def reduce_new(
    options: argparse.Namespace, model: Any, step: Any, terminal: Terminal
) -> NewSamples:
    """Read new samples and reduce them, lazily where they are read in chunks."""
    from ._select import naming, require_features, select_columns, usable_rows
    from ._time import lag_as_fitted

    missing = options.missing or model.missing
    if missing == "pairwise" != model.missing:
        raise ValueError(
            f"{options.model} was not learned with --missing pairwise, and takes no missing "
            "values; use --missing drop"
        )
    with step(f"reading {options.data}"):
        data = arguments.open_options(options, terminal, model=model)
        data = lag_as_fitted(data, model, terminal)
        features = data.columns_of(model)
        require_features(data, features, options.model)
        dropped = set(select_columns(data, options.drop))
        for name in sorted(dropped.intersection(features)):
            raise ValueError(f"column {name!r} is a feature of the model and cannot be dropped")
        advice = "a model learned with --missing pairwise takes them"
        if model.missing == "pairwise":
            advice = "--missing pairwise averages what is present"
        rows = usable_rows(data, features, missing, terminal, fewest=1, advice=(advice,)).reduced
    with step("averaging"), naming(data.source):
        reduced = data.transform(model, features, rows)
    averaged = {name for name, k in zip(features, model.labels_, strict=True) if k >= 0}
    keep = [name for name in data.names if name not in averaged and name not in dropped]
    return NewSamples(data, keep, rows, reduced)
