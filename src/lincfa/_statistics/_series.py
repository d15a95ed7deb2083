"""Samples in time: how much each resembles the one before it, and what follows from that.

Means over samples of products of two series vary as if the products were a series of its own, whose
autocorrelation is the product of theirs. So do the correlations that F is made of, and squared
errors. Two things follow: how many independent samples would vary as much, and how many consecutive
samples a circular block bootstrap must draw together so that its resamples vary as much.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data._training import Training
from ..theory import effective_samples
from ..theory._arrays import FloatArray
from ._protocol import IndexArray, Statistics

if TYPE_CHECKING:
    from .._data._dask import ChunkedTraining

_STRIP_VALUES = 2**20


def autocorrelations(values: npt.NDArray[Any], order: Any = slice(None)) -> FloatArray:
    """Lag-one autocorrelation of each column, with the rows in this order.

    Where values are missing, of those that follow each other. 0 for a constant column, and NaN for
    one in which no two values follow each other.
    """
    result = np.empty(values.shape[1])
    step = max(1, _STRIP_VALUES // len(values))
    for left in range(0, result.size, step):
        columns = np.array(values[:, left : left + step][order], dtype=np.float64)
        present = ~np.isnan(columns)
        pairs = (present[1:] & present[:-1]).sum(axis=0)
        columns[~present] = 0
        counts = np.maximum(present.sum(axis=0), 1)
        columns -= columns.sum(axis=0) / counts
        columns[~present] = 0
        largest = np.abs(columns).max(axis=0)
        columns /= np.where(largest > 0, largest, 1.0)  # squares of extreme numbers would be 0
        square = (columns**2).sum(axis=0) / counts
        product = (columns[1:] * columns[:-1]).sum(axis=0) / np.maximum(pairs, 1)
        found = product / np.where(square > 0, square, 1.0)
        # It is too small by about (1 + 3φ)/n (Kendall 1954), as the mean is estimated as well.
        found += (1 + 3 * found) / np.maximum(pairs, 1)
        found = np.where(square > 0, np.clip(found, -1, 1), 0.0)
        result[left : left + step] = np.where(pairs > 0, found, np.nan)
    return result


def autocorrelation_pair(training: Training, varying: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """Autocorrelation of the features, their median, and of the targets, their mean."""
    order = slice(None) if training.dates is None else training.dates.order
    of_features = autocorrelations(training.values, order)[varying]
    known = of_features[~np.isnan(of_features)]
    if not known.size:
        raise ValueError(
            "No feature has two values one after another, so that none has an autocorrelation: "
            "pass a number instead of 'auto'."
        )
    return float(np.median(known)), float(autocorrelations(training.y, order).mean())


def count_effective(
    asked: float | str | None,
    statistics: Statistics,
    training: "Training | ChunkedTraining | None",
) -> float:
    """Return the number of samples that F counts with, as a parameter asks for it."""
    n = float(statistics.n_samples)
    if asked is None:
        return n
    if asked != "auto":
        if float(asked) > n:
            raise ValueError(
                f"effective_samples={asked:g} is more than the number of samples, {n:g}."
            )
        return float(asked)
    if not isinstance(training, Training):
        raise ValueError(
            "effective_samples='auto' is estimated from samples in memory: pass a number, or call "
            "the compute() of X first, if it fits into memory."
        )
    if training.dates is not None:
        training.dates.check_unique("effective_samples='auto', unlike a number,")
    phi = autocorrelation_pair(training, statistics.varying)
    return float(effective_samples(n, *phi))


# Blocks of consecutive samples


def choose_block_length(
    asked: int | str | None, n: int, autocorrelation: Callable[[], float], in_time: bool
) -> int:
    """Return how many consecutive samples to draw together, as asked or as suits a series' mean.

    None is for "auto" where the samples are in time, and else for 1.

    The best length of circular blocks is (2G²/D)^⅓ n^⅓ with G = Σ|k|R(k), D = (4/3)(ΣR(k))² and
    the autocovariances R(k) (Politis and White 2004, corrected by Patton and others 2009). Where
    these are those of a first-order autoregression, R(k) = φ^|k|, G = 2φ/(1−φ)² and ΣR(k) =
    (1+φ)/(1−φ), so that it is (6nφ²/(1−φ²)²)^⅓. At least 1, and at most a third of the samples.
    """
    if asked is None:
        asked = "auto" if in_time else 1
    if asked != "auto":
        if int(asked) > n:
            raise ValueError(f"block_length={asked} is more than the number of samples, {n}.")
        return int(asked)
    phi = min(max(autocorrelation(), 0.0), 1 - 1e-9)
    best = np.cbrt(6 * n * (phi / (1 - phi**2)) ** 2)
    return max(1, min(int(best.round()), n // 3))


def circular_block_rows(first: npt.NDArray[Any], length: int, n: int) -> IndexArray:
    """Rows of blocks of some length that start at these, by the last axis, n rows in all.

    The first row follows the last.
    """
    rows = (first[..., None] + np.arange(length)) % n
    return rows.reshape(*first.shape[:-1], -1)[..., :n]
