"""``lincfa predict``: what a saved model predicts for new samples."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arguments as arguments
from ._apply import NewSamples, add_new_samples, check_options, reduce_new
from ._terminal import TARGETS_SHOWN, Terminal

if TYPE_CHECKING:
    import polars as pl


def add(commands: Any) -> None:
    parser = arguments.add_command(
        commands,
        "predict",
        run,
        help="predict the target of new samples by a saved model",
        description="Reads a model that lincfa reduce (or LinCFACV.save) wrote and data with the\n"
        "same features, in any order, and writes the predicted target beside all columns\n"
        "that are not features: NAME_predicted, with --interval also NAME_low and\n"
        "NAME_high; of classes also the probability of each, NAME_probability_LABEL.",
        examples="  lincfa predict model.json new.csv\n"
        "  lincfa predict model.json new.csv --output predictions.csv --interval 0.95\n"
        "  lincfa predict model.json new.nc --drop history",
    )
    add_new_samples(parser)
    parser.add_argument(
        "--interval",
        type=arguments.number("a share between 0 and 1, such as 0.95", lambda v: 0 < v < 1),
        metavar="SHARE",
        help="also write intervals that cover the target of this share of new rows, made from the "
        "errors on the rows that lincfa reduce held out (split conformal)",
    )
    arguments.add_output(parser, "predictions", "predicted")
    arguments.add_verbosity(parser)


def run(options: argparse.Namespace) -> int:
    check_options(options)
    from .. import load
    from ._dask import computing
    from ._write import output_paths, replacing, write_reduced

    terminal = Terminal(quiet=options.quiet, as_json=options.json, aside=options.output == "-")
    path = output_paths(options, {}, [options.model], "predicted")["--output"]
    model: Any = load(options.model)
    predictions = _predictions(model, options)
    with replacing([path]) as parts, computing(arguments.scheduler_of(options), terminal) as step:
        new = reduce_new(options, model, step, terminal)
        with step("writing"):
            write_reduced(parts.get(path), path, *new, predictions, terminal)
            scores = _score(predictions, new)
    terminal.print(f"{new.rows.size} rows predicted from {model.n_groups_} groups of features")
    if predictions.level is not None:
        terminal.print(predictions.about_intervals(), prose=True)
    for name, (score, value, count) in list(scores.items())[:TARGETS_SHOWN]:
        terminal.print(f"{score} {value:.3f} for {name!r}, in {count} rows where it is known")
    terminal.print(f"output: {'standard output' if path == '-' else path}")
    terminal.print_json(
        {
            "targets": model._targets.titles,
            "n_samples": new.rows.size,
            "n_groups": model.n_groups_,
            "interval": predictions.level,
            "scores": {
                name: {score.name: score.value, "n_samples": score.n_samples}
                for name, score in scores.items()
            },
            "notes": terminal.notes,
            "written": {"output": path},
        }
    )
    return 0


def _predictions(model: Any, options: argparse.Namespace) -> "Predictions":
    """Check that a model predicts what is asked for."""
    if not hasattr(model, "estimator_"):
        raise ValueError(
            f"{options.model} holds groups but no regression, so that it reduces samples "
            "(lincfa apply) but does not predict; lincfa reduce and LinCFACV.save write models "
            "that do"
        )
    level = options.interval
    if level is not None:
        if model._targets.classes is not None:
            raise ValueError(
                "--interval is for targets that are numbers; of classes the probabilities are "
                "written"
            )
        if not hasattr(model, "errors_"):
            raise ValueError(
                f"{options.model} has no errors on rows held out to make intervals from; "
                "lincfa reduce keeps them unless it is called with --test 0"
            )
        model._half_width(level)  # raises if the errors are too few
    return Predictions(model, level)


@dataclass(frozen=True)
class Predictions:
    """Columns that are predicted from reduced features."""

    model: Any
    level: float | None

    @property
    def names(self) -> list[str]:
        titles, classes = self.model._targets.titles, self.model._targets.classes
        if classes is not None:
            shares = [f"{titles[0]}_probability_{label}" for label in classes.tolist()]
            return [f"{titles[0]}_predicted", *shares]
        endings = ("predicted",) if self.level is None else ("predicted", "low", "high")
        return [f"{title}_{ending}" for title in titles for ending in endings]

    def columns(self, names: Sequence[str], reduced: Any) -> "list[pl.Series]":
        import numpy as np
        import polars as pl

        estimator, means = self.model.estimator_, self.model._without_gaps(reduced)
        predicted = estimator.predict(means)
        columns = [predicted]
        if self.model._targets.classes is not None:
            columns += [*estimator.predict_proba(means).T]
        else:
            half = None if self.level is None else np.atleast_1d(self.model._half_width(self.level))
            columns = []
            for k, values in enumerate(predicted.reshape(len(predicted), -1).T):
                columns += (
                    [values] if half is None else [values, values - half[k], values + half[k]]
                )
        return [
            pl.Series(name, np.asarray(values).tolist())
            for name, values in zip(names, columns, strict=True)
        ]

    def in_dataset(self, kept: Any, reduced: Any, dim: str) -> Any:
        import numpy as np

        from .._data._compute import compute
        from ._files._fields import with_series

        columns = self.columns(self.names, np.asarray(compute(reduced)))
        return with_series(kept, columns, dim, self.model._targets.attrs)

    def about_intervals(self) -> str:
        """Say how intervals are made, and what they promise."""
        import numpy as np

        from .._model._conformal import rank_of_level

        count = self.model.errors_.shape[-1]
        rank = rank_of_level(count, self.level or 0.0)
        half = np.atleast_1d(self.model._half_width(self.level))
        width = f"± {half[0]:.4g}" if half.size == 1 else "± a number for each target"
        return (
            f"intervals: prediction {width}, which {rank} of {count} errors on rows held out do "
            f"not exceed (split conformal); they cover {100 * (self.level or 0.0):g} % of new rows "
            "if these are like the rows held out"
        )


class _Score(NamedTuple):
    """How well a target is predicted where it is known already."""

    name: str
    value: float
    n_samples: int


def _score(predictions: Predictions, new: NewSamples) -> dict[str, _Score]:
    """Score the targets that are among the columns of the new data, in memory."""
    import numpy as np
    from sklearn.metrics import accuracy_score, r2_score

    targets, data, scores = predictions.model._targets, new.data, {}
    there = data.names if targets.classes is not None else data.numeric
    known = {*targets.titles} & {*there}
    if data.in_chunks or not known:
        return {}
    y: Any
    predicted: Any
    columns = predictions.columns(predictions.names, np.asarray(new.reduced))
    for k, name in enumerate(targets.titles):
        if name not in known:
            continue
        if targets.classes is not None:
            y, predicted = data.labels(name)[new.rows], columns[0]
            rows = y.is_not_null() & y.is_in(targets.classes.tolist())
            title, scorer = "accuracy", accuracy_score
        else:
            y, predicted = data.target(name)[new.rows], columns[k * len(columns) // targets.size]
            rows, title, scorer = ~np.isnan(y), "R²", r2_score
        y, predicted = np.asarray(y)[rows], np.asarray(predicted)[rows]
        if y.size and (y != y[0]).any():
            scores[name] = _Score(title, float(scorer(y, predicted)), y.size)
    return scores
