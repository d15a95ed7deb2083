"""R² and error of predictions, with the uncertainty that comes from the samples scored on."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...theory._arrays import FloatArray

RESAMPLES = 1000
FEWEST = 10
"""Samples below which draws of them tell too little."""
_RESAMPLED_VALUES = 2**22
_LEVEL = 95


@dataclass(frozen=True)
class Interval:
    """A figure, and the interval that holds 95 % of its values on draws of the samples.

    Both ends are NaN where the samples are too few for it.
    """

    value: float
    low: float
    high: float


def score_predictions(
    y: FloatArray, predictions: list[FloatArray], ordered: bool
) -> tuple[FloatArray, FloatArray]:
    """R² and root mean squared error of each prediction; on all samples, then on draws of them.

    All predictions are scored on the same draws, so that their differences can be told as well.
    """
    unit = float(np.abs(y - y.mean()).max())  # squares of extreme numbers would be 0 or infinite
    centered = (y - y.mean()) / unit
    errors = [(y - each) / unit for each in predictions]
    columns = np.column_stack([centered, centered**2, *(error**2 for error in errors)])
    n = len(y)
    draws = _draws(columns, ordered) if n >= FEWEST else ()
    sums = np.vstack([columns.sum(axis=0), *draws])
    around = sums[:, 1] - sums[:, 0] ** 2 / n
    r2 = 1 - sums[:, 2:] / np.where(around > 0, around, np.nan)[:, None]
    return r2, unit * np.sqrt(sums[:, 2:] / n)


def _draws(columns: FloatArray, ordered: bool) -> Iterator[FloatArray]:
    """Sums of the columns over rows drawn with replacement; over runs of rows in order of time."""
    random = np.random.default_rng(0)
    n = len(columns)
    run = block_length(n) if ordered else 1
    at_once = max(1, _RESAMPLED_VALUES // n)
    for start in range(0, RESAMPLES, at_once):
        count = min(at_once, RESAMPLES - start)
        first = random.integers(n, size=(count, -(-n // run)))
        rows = (first[:, :, None] + np.arange(run)) % n
        yield columns[rows.reshape(count, -1)[:, :n]].sum(axis=1)


def block_length(n: int) -> int:
    """Length of the runs of samples drawn together, where neighbours in time depend."""
    return max(1, int(np.cbrt(n).round()))


def interval(values: FloatArray) -> Interval:
    """Make an interval of the value on all samples and those on draws, if there are any."""
    tail = (100 - _LEVEL) / 2
    draws = values[1:][np.isfinite(values[1:])]
    low, high = np.percentile(draws, [tail, 100 - tail]) if draws.size else (np.nan, np.nan)
    return Interval(float(values[0]), float(low), float(high))


def explain_intervals(n: int, ordered: bool) -> str:
    """Say in a sentence what the intervals are."""
    if n < FEWEST:
        return f"{n} samples are too few to tell how uncertain the scores are."
    drawn = f"runs of {block_length(n)} consecutive ones" if ordered else "them"
    return (
        f"In brackets the interval that holds {_LEVEL} % of {RESAMPLES} draws of {drawn} with "
        "replacement: what another set of samples to score on may give."
    )
