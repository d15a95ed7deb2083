"""``lincfa predict``: what a saved model predicts for new samples."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _arguments as arguments
from ._apply import NewSamples, add_new_samples, write_new
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
    from .._model._display import count, decimals

    terminal, model, path, new = write_new(options, "predicted", partial(_predictions, options))
    predictions = Predictions(model, options.interval)
    scores = _score(predictions, new)
    learned = _learned_from(model, new) if scores else 0
    rows, groups = count(new.rows.size, "row"), count(model.n_groups_, "group")
    terminal.print(f"{rows} predicted from {groups} of features")
    if options.interval is not None:
        terminal.print(_about_intervals(model, options.interval), prose=True)
    for name, (score, value, known, inside) in list(scores.items())[:TARGETS_SHOWN]:
        within = "" if inside is None else f"; {100 * inside:.3g} % of them are in their interval"
        where = f"in {count(known, 'row')} where it is known"
        terminal.print(f"{score} {decimals(value)} for {name!r} {where}{within}")
    if learned:
        terminal.print(f"about {learned} of these rows were learned from, and are predicted better")
    terminal.print(f"output: {'standard output' if path == '-' else path}")
    terminal.print_json(
        {
            "targets": model._targets.titles,
            "n_samples": new.rows.size,
            "n_groups": model.n_groups_,
            "interval": predictions.level,
            "scores": {
                name: {
                    score.name: score.value,
                    "inside": score.inside,
                    "n_samples": score.n_samples,
                }
                for name, score in scores.items()
            },
            "n_learned_from": learned,
            "notes": terminal.notes,
            "written": {"output": path},
        }
    )
    return 0


def _predictions(options: argparse.Namespace, model: Any) -> "Predictions":
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
                "lincfa reduce keeps them where it holds out rows (--test SHARE)"
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
        if self.model._targets.classes is not None:
            columns = [predicted, *estimator.predict_proba(means).T]
        else:
            each = predicted.reshape(len(predicted), -1)
            parts = [each]
            if self.level is not None:
                half = self.model._half_width(self.level)
                parts += [each - half, each + half]
            columns = [part[:, k] for k in range(each.shape[1]) for part in parts]
        named = zip(names, columns, strict=True)
        return [pl.Series(name, np.asarray(values).tolist()) for name, values in named]

    def in_dataset(self, kept: Any, reduced: Any, dim: str, terminal: Terminal) -> Any:
        import numpy as np

        from .._data._compute import compute
        from ._files._fields import with_series
        from ._write import distinct

        names = distinct(self.names, {*map(str, kept.variables)}, terminal)
        columns = self.columns(names, np.asarray(compute(reduced)))
        return with_series(kept, columns, dim, self.model._targets.attrs)


def _about_intervals(model: Any, level: float) -> str:
    """Say how intervals are made, and what they promise."""
    from .._model._conformal import rank_of_level

    n_errors = model.errors_.shape[-1]
    width = "± a number for each target"
    if model._targets.size == 1:
        width = f"± {model._half_width(level):.4g}"
    return (
        f"intervals: prediction {width}, which {rank_of_level(n_errors, level)} of {n_errors} "
        "errors on rows held out do not exceed (split conformal); on average they cover "
        f"{100 * level:g} % of new rows that are like the rows held out"
    )


class _Score(NamedTuple):
    """How well a target is predicted where it is known already."""

    name: str
    value: float
    n_samples: int
    inside: float | None = None  # share of the intervals


def _score(predictions: Predictions, new: NewSamples) -> dict[str, _Score]:
    """Score the targets that are among the columns of the new data, in memory."""
    import numpy as np
    import polars as pl
    from sklearn.metrics import r2_score

    targets, data, scores = predictions.model._targets, new.data, {}
    if data.in_chunks:
        return {}
    columns = predictions.columns(predictions.names, np.asarray(new.reduced))
    if targets.classes is not None:
        (name,) = targets.titles
        if name not in data.names:
            return {}
        labels = data.labels(name)[new.rows]
        known, predicted = labels.is_not_null(), columns[0]
        if not known.any():
            return {}
        try:  # a label that is none of the model's type is predicted wrongly
            right = (labels.cast(predicted.dtype, strict=False) == predicted).fill_null(False)
        except pl.exceptions.PolarsError:
            return {}
        return {
            name: _Score("accuracy", float(right.filter(known).to_numpy().mean()), int(known.sum()))
        }
    width = len(columns) // targets.size
    for k, name in enumerate(targets.titles):
        values = data.target(name)[new.rows] if name in data.numeric else np.full(1, np.nan)
        rows = np.flatnonzero(np.isfinite(values))
        if rows.size and np.ptp(values[rows]) > 0:
            own = [column.to_numpy()[rows] for column in columns[k * width : (k + 1) * width]]
            values, inside = values[rows], None
            if predictions.level is not None:
                inside = float(((own[1] <= values) & (values <= own[2])).mean())
            scores[name] = _Score("R²", float(r2_score(values, own[0])), rows.size, inside)
    return scores


def _learned_from(model: Any, new: NewSamples) -> int:
    """Count the rows that the model was fitted to, as far as can be told."""
    import numpy as np

    from .._model._rows import rows_of_fit

    data, targets = new.data, model._targets
    if data.in_chunks or targets.classes is not None or not {*targets.titles} <= {*data.numeric}:
        return 0
    y = np.column_stack([data.target(name)[new.rows] for name in targets.titles])
    X = np.asarray(data.flat_features(data.columns_of(model), new.rows), dtype=np.float64)
    return rows_of_fit(model, X, y)
