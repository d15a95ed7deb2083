"""Statistics of data that arrive in chunks: moments that add up exactly; no rows are kept."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._checks import are_enough
from .._data._columns import Columns
from .._data._training import Training
from ..theory._arrays import FloatArray
from ._protocol import (
    LARGEST_SQUARE,
    ROUNDING,
    Comparison,
    Costs,
    Features,
    IndexArray,
    RowSums,
    Statistics,
    is_constant,
    most_features,
    raise_if_any,
)
from ._tiles import add_symmetric, row_slices

_LARGEST_SPREAD, _LARGEST_VALUE = 1e130, 1e300
"""Beyond these, and below the inverse of the first, squares or sums would leave float64."""

_CHUNK_VALUES = 2**22
_BLOCK, _SEEDS = 1024, 512
"""Correlations cost nothing here: as many features as make a square of a few megabytes."""


class Moments:
    """Counts, means and comoments of features and target, updated chunk by chunk.

    The target is the last column. Comoments are sums of products of deviations from the mean of
    the rows so far; adding a chunk adds the chunk's own comoments and, for the distance of the two
    means, one outer product, so that no large sums are ever subtracted from each other. With
    weights, a row counts as that many rows.
    """

    def __init__(self, n_features: int, precision: float) -> None:
        size = n_features + 1
        self.n_samples = 0.0
        self.precision = np.full(size, precision)
        self.precision[-1] = np.finfo(np.float64).eps
        self.mean = np.zeros(size)
        self.low = np.full(size, np.inf)
        self.high = np.full(size, -np.inf)
        # Symmetric; BLAS updates the lower triangle of a column-major matrix.
        self.comoment = np.zeros((size, size), order="F")

    @staticmethod
    def check_size(n_features: int) -> None:
        """Raise if the comoments of so many features would not fit into memory."""
        needed = 8 * (n_features + 1) ** 2
        if needed > LARGEST_SQUARE:
            most = most_features() - 1
            raise ValueError(
                f"partial_fit keeps a matrix of {n_features} × {n_features} comoments, which takes "
                f"{needed / 2**30:.1f} GiB; the limit is {LARGEST_SQUARE / 2**30:.0f} GiB "
                f"({most} features). fit needs no such matrix: give it all rows at once, as a "
                "memory-mapped array (numpy.memmap) if they do not fit into memory."
            )

    def update(self, chunk: Training) -> None:
        """Add the rows of a chunk; if an error is raised, nothing is changed."""
        X, y = chunk.values, chunk.y
        weights = np.ones(y.size) if chunk.weights is None else chunk.weights
        if not weights.all():
            counted = weights > 0
            X, y, weights = X[counted], y[counted], weights[counted]
        if not y.size:
            return
        low, high = np.append(X.min(axis=0), y.min()), np.append(X.max(axis=0), y.max())
        low, high = np.minimum(self.low, low), np.maximum(self.high, high)
        check_range(low, high, self.precision, chunk.columns)
        self.low, self.high = low, high
        self.add(X, y, weights)

    def add(self, X: npt.NDArray[Any], y: FloatArray, weights: FloatArray) -> None:
        """Add checked rows to all but the range."""
        for rows in row_slices(X.shape[0], self.mean.size, _CHUNK_VALUES):
            self._add(X[rows], y[rows], weights[rows])

    def merge(self, other: "Moments") -> None:
        """Add the rows of other moments."""
        if not other.n_samples:
            return
        total = self.n_samples + other.n_samples
        distance = other.mean - self.mean
        self.comoment += other.comoment
        shift = distance * np.sqrt(self.n_samples * other.n_samples / total)
        add_symmetric(self.comoment, shift[None])
        self.mean = self.mean + distance * (other.n_samples / total)
        self.n_samples = total
        self.low = np.minimum(self.low, other.low)
        self.high = np.maximum(self.high, other.high)

    def _add(self, X: npt.NDArray[Any], y: FloatArray, weights: FloatArray) -> None:
        added = float(weights.sum())
        total = self.n_samples + added
        # One row more than the data: for the distance of the means.
        deviations = np.empty((y.size + 1, self.mean.size))
        values = deviations[:-1]
        values[:, :-1] = X
        values[:, -1] = y
        mean = weights @ values / added
        values -= mean
        correction = weights @ values / added
        values -= correction
        mean += correction
        if (weights != 1).any():
            values *= np.sqrt(weights)[:, None]
        distance = mean - self.mean
        deviations[-1] = distance * np.sqrt(self.n_samples * added / total)
        add_symmetric(self.comoment, deviations)
        self.mean = self.mean + distance * (added / total)
        self.n_samples = total

    @property
    def varying(self) -> npt.NDArray[np.bool_]:
        """Which columns, the target last, differ by more than their rounding."""
        peak = np.maximum(self.high - self.mean, self.mean - self.low)
        return ~is_constant(peak, self.mean, self.precision)

    @property
    def sufficient(self) -> bool:
        """Whether there are enough samples, and variation in the target and in some feature."""
        varying = self.varying
        return are_enough(self.n_samples) and bool(varying[-1] and varying[:-1].any())


@dataclass(frozen=True)
class MomentStatistics(Statistics):
    """Statistics from accumulated moments, not copied.

    Differences of two features that explain less than 1e-13 of a variance cannot be told from the
    rounding of the sums and count as none.
    """

    _comoment: FloatArray

    @classmethod
    def from_moments(cls, moments: Moments) -> "MomentStatistics":
        """Derive scales and correlations with the target."""
        features = Features.from_sums(
            moments.n_samples,
            moments.mean,
            np.diagonal(moments.comoment),
            moments.comoment[-1],
            moments.varying,
            moments.precision,
        )
        costs = Costs(lambda remaining, _: min(remaining, _BLOCK), max_seeds=_SEEDS)
        comoment = moments.comoment.T[:-1, :-1]
        return cls(**features.moments(), costs=costs, _comoment=comoment)

    def square(self, features: IndexArray) -> FloatArray:
        return self._correlations(features, features, mirror=bool((np.diff(features) < 0).any()))

    def rows(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        for active, candidates in comparisons:
            yield self._correlations(seeds[active], candidates)

    def sums(self) -> RowSums:
        everything = np.arange(self.mean.size)

        def summed(members: IndexArray, factors: FloatArray) -> FloatArray:
            return np.asarray(factors @ self._correlations(members, everything))

        return RowSums(self, summed)

    def _correlations(
        self, first: IndexArray, second: IndexArray, mirror: bool | None = None
    ) -> FloatArray:
        """Correlations of pairs; ``mirror`` where some first features are behind their second."""
        if mirror is None:
            mirror = bool(first.size and second.size and first.max() > second.min())
        scale = self.scale * np.sqrt(self.n_samples - 1)
        correlations = self._comoment[np.ix_(first, second)]
        if mirror:
            # Only one triangle of the comoments is filled.
            behind = first[:, None] > second
            correlations[behind] = self._comoment[np.ix_(second, first)].T[behind]
        correlations /= scale[first][:, None]
        correlations /= scale[second]
        return correlations


def check_range(low: FloatArray, high: FloatArray, precision: FloatArray, columns: Columns) -> None:
    """Raise if float64 could not hold the comoments of a column; the target is the last."""
    with np.errstate(over="ignore"):
        spread, size = high - low, np.maximum(-low, high)
    too_large = (spread > _LARGEST_SPREAD) | (size > _LARGEST_VALUE)
    raise_if_any("large", too_large, "sums of squares", columns)
    varying = spread > 2 * ROUNDING * precision * size
    too_small = varying & (spread < 1 / _LARGEST_SPREAD)
    raise_if_any("small", too_small, "sums of squares", columns)
