"""Figures with bootstrap intervals: test samples are drawn again and again."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._statistics._series import autocorrelations, choose_block_length, circular_block_rows
from ..theory._arrays import FloatArray

RESAMPLES = 1000
FEWEST_FOR_INTERVALS = 10
LEVEL = 95
_ABOUT_EQUAL = 0.02  # of the variance, or of the samples: no reason to prefer either
_RESAMPLED_VALUES = 2**24  # drawn at once


@dataclass(frozen=True)
class Interval:
    """A figure with its 95 % bootstrap interval; both ends are NaN for too few samples."""

    value: float
    low: float
    high: float


def verdict_on(difference: Interval | None) -> str:
    """Say which is better, given the score of the reduced features minus that of a rival."""
    if difference is None or np.isnan(difference.low):
        return "too few samples to tell"
    if difference.low > 0 or difference.high < 0:
        return "better" if difference.low > 0 else "worse"
    near = difference.low > -_ABOUT_EQUAL and difference.high < _ABOUT_EQUAL
    return "about equal" if near else "not clear"


def interval(values: FloatArray) -> Interval:
    """Return an interval from the value on all samples, followed by those on resamples."""
    tail = (100 - LEVEL) / 2
    resampled = values[1:][np.isfinite(values[1:])]
    low, high = (np.nan, np.nan)
    if resampled.size:
        low, high = np.percentile(resampled, [tail, 100 - tail])
    return Interval(float(values[0]), float(low), float(high))


@dataclass(frozen=True)
class Drawn:
    """What is drawn together: blocks of consecutive samples, or groups, which are adjacent."""

    length: int
    groups: npt.NDArray[np.intp] | None = None

    def units(self, n: int) -> tuple[int, str]:
        """How many of what there are to draw from."""
        if self.groups is None:
            return n, "samples"
        return int(self.groups[-1]) + 1, "groups of samples"

    @property
    def words(self) -> str:
        if self.groups is not None:
            return ", all samples that belong together at a time"
        return f", in blocks of {self.length} consecutive samples" if self.length > 1 else ""


def resampled_sums(columns: FloatArray, drawn: Drawn) -> FloatArray:
    """Sum the columns over all rows, then over bootstrap samples of rows, if these are enough.

    For as many rows, or groups of rows, the same are drawn always.
    """
    length = drawn.length
    if drawn.groups is not None:
        starts = np.flatnonzero(np.diff(drawn.groups, prepend=-1))
        columns, length = np.add.reduceat(columns, starts, axis=0), 1
    n, sums = len(columns), [np.sum(columns, axis=0, keepdims=True)]
    if n < FEWEST_FOR_INTERVALS:
        return np.vstack(sums)
    random = np.random.default_rng(0)
    at_once = max(1, _RESAMPLED_VALUES // columns.size)
    for start in range(0, RESAMPLES, at_once):
        count = min(at_once, RESAMPLES - start)
        first = random.integers(n, size=(count, -(-n // length)))
        sums.append(columns[circular_block_rows(first, length, n)].sum(axis=1))
    return np.vstack(sums)


def length_of_blocks(asked: int | str | None, errors: FloatArray, ordered: bool) -> int:
    """Return how many consecutive samples are drawn together, given their errors."""

    def of_squares() -> float:  # which are averaged: it is the square of that of the errors
        return max(float(autocorrelations(errors).mean()), 0.0) ** 2

    return choose_block_length(asked, len(errors), of_squares, ordered)
