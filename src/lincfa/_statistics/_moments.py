"""Statistics of data that arrive in chunks: moments that add up exactly; no rows are kept."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._checks import ENOUGH_SAMPLES
from .._data._columns import Columns
from .._data._targets import Targets
from .._data._training import Training
from ..theory._arrays import FloatArray
from ._gaps import (
    GapStatistics,
    correlations_of,
    mirrored,
    n_sums,
    present_means,
    seeds_for_sums,
    shared_sums,
    variances_of_sums,
)
from ._protocol import (
    COMPUTED,
    LARGEST_SQUARE,
    Comparison,
    Correlations,
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

_STRIP = 256


def _kept(n_targets: int) -> tuple[list[int], list[int], list[int]]:
    """The sums of pairs that are kept; those that are not; and those that they are exchanged."""
    of_targets = range(6, n_sums(n_targets), 4)
    kept = [0, 1, 3, 5, *(place + k for place in of_targets for k in (0, 2, 3))]
    return kept, [2, 4, *(place + 1 for place in of_targets)], [1, 3, *of_targets]


class Moments:
    """Counts, means and comoments of features and targets, updated chunk by chunk.

    The targets are the last columns. Comoments are sums of products of deviations from the mean of
    the rows so far; adding a chunk adds the chunk's own comoments and, for the distance of the two
    means, one outer product, so that no large sums are ever subtracted from each other. With
    weights, a row counts as that many rows.
    """

    def __init__(self, precision: FloatArray, n_targets: int) -> None:
        n_features, size = precision.size, precision.size + n_targets
        self.n_samples, self.n_features = 0.0, n_features
        self.precision = with_targets(precision, n_targets)
        self.mean = np.zeros(size)
        self.low = np.full(size, np.inf)
        self.high = np.full(size, -np.inf)
        # Symmetric; BLAS updates the lower triangle of a column-major matrix.
        self.comoment = np.zeros((size, size), order="F")

    @property
    def statistics(self) -> Statistics:
        """The statistics of the rows so far."""
        return MomentStatistics.from_moments(self)

    @staticmethod
    def check_size(n_features: int) -> None:
        """Raise if the comoments of so many features would not fit into memory."""
        what = f"a matrix of {n_features} × {n_features} comoments, which takes"
        _check_size(8 * (n_features + 1) ** 2, what, most_features() - 1)

    def update(self, chunk: Training) -> None:
        """Add the rows of a chunk; if an error is raised, nothing is changed."""
        X, y, weights = _rows_that_count(chunk)
        if not y.size:
            return
        low = np.append(X.min(axis=0), y.min(axis=0))
        high = np.append(X.max(axis=0), y.max(axis=0))
        low, high = np.minimum(self.low, low), np.maximum(self.high, high)
        check_range(low, high, self.precision, chunk.columns, chunk.targets)
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
        deviations = np.empty((len(y) + 1, self.mean.size))
        values = deviations[:-1]
        values[:, : self.n_features] = X
        values[:, self.n_features :] = y
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
        """Which columns, the targets last, differ by more than their rounding."""
        return varies(self.low, self.high, self.mean, self.precision)

    @property
    def sufficient(self) -> bool:
        """Whether there are enough samples, and variation in the targets and in some feature."""
        return _are_sufficient(self.n_samples, self.varying, self.n_features)


class GapMoments:
    """Sums over the shared samples of all pairs of features, updated chunk by chunk.

    Of the sums of a pair some are kept: the others are those of the pair exchanged.
    They are of columns less a shift that is fixed when a column first has values, so that no digits
    are lost; all sums of a pair begin there.
    """

    def __init__(self, n_features: int, precision: FloatArray) -> None:
        size = precision.size  # with the targets, which are the last
        self.precision, self.n_features = precision, n_features
        self.shift = np.full(size, np.nan)
        self.low = np.full(size, np.inf)
        self.high = np.full(size, -np.inf)
        self.sums = np.zeros((len(_kept(self.n_targets)[0]), n_features, n_features))
        # Of all samples their number, and for each target its sum and its squares.
        self.n_samples, self.target_sums = 0.0, np.zeros((2, self.n_targets))

    @classmethod
    def of(cls, moments: Moments) -> "GapMoments":
        """Continue from moments of rows in which no values were missing."""
        D = moments.n_features
        result = cls(D, moments.precision)
        if moments.n_samples:
            full = np.tril(moments.comoment) + np.tril(moments.comoment, -1).T
            # Less their means all columns add up to 0.
            squares = np.diagonal(full)
            kept: list[FloatArray | float] = [moments.n_samples, 0.0, squares[:D, None]]
            kept.append(full[:D, :D])
            for place in range(D, squares.size):
                kept += [full[:D, place, None], 0.0, squares[place]]
            for sums, values in zip(result.sums, kept, strict=True):
                sums[...] = values
            result.n_samples, result.target_sums[1] = moments.n_samples, squares[D:]
            result.shift, result.low, result.high = moments.mean, moments.low, moments.high
        return result

    @property
    def statistics(self) -> Statistics:
        """The statistics of the rows so far."""
        return MomentGapStatistics.from_moments(self)

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return self.precision.size - self.n_features

    @staticmethod
    def check_size(n_features: int, n_targets: int) -> None:
        """Raise if the sums of so many features would not fit into memory."""
        matrices = len(_kept(n_targets)[0])
        what = (
            f"{matrices} matrices of {n_features} × {n_features} sums where values are missing, "
            "which take"
        )
        most = int((LARGEST_SQUARE / (8 * matrices)) ** 0.5)
        _check_size(8 * matrices * n_features**2, what, most)

    def update(self, chunk: Training) -> None:
        """Add the rows of a chunk; if an error is raised, nothing is changed."""
        X, y, weights = _rows_that_count(chunk)
        if not y.size:
            return
        low = np.fmin(self.low, np.append(np.fmin.reduce(X), y.min(axis=0)))
        high = np.fmax(self.high, np.append(np.fmax.reduce(X), y.max(axis=0)))
        check_range(low, high, self.precision, chunk.columns, chunk.targets)
        # Within their range, and near the values, so that differences to it are small.
        middle = np.append(present_means(X), y.mean(axis=0))
        self.shift = np.where(np.isnan(self.shift), middle, self.shift)
        self.low, self.high = low, high
        shift, of_targets = np.split(self.shift, [self.n_features])
        for rows in row_slices(len(y), self.shift.size, _CHUNK_VALUES):
            self._add(X[rows] - shift, y[rows] - of_targets, weights[rows])

    def _add(self, values: FloatArray, y: FloatArray, weights: FloatArray) -> None:
        self.n_samples += float(weights.sum())
        self.target_sums += weights @ y, weights @ y**2
        outcomes = np.column_stack([y, weights])
        kept, _, _ = _kept(self.n_targets)
        for strip in row_slices(values.shape[1], 1, _STRIP):
            seeds = seeds_for_sums(values[:, strip], outcomes)
            sums = shared_sums(seeds, values[:, strip.start :].copy(), self.n_targets)
            self.sums[:, strip, strip.start :] += sums[kept]
            self.sums[:, strip.stop :, strip] += mirrored(sums)[kept, _STRIP:]

    @property
    def counts(self) -> FloatArray:
        """Samples that each column has, the targets last."""
        return np.append(np.diagonal(self.sums[0]), np.full(self.n_targets, self.n_samples))

    @property
    def mean(self) -> FloatArray:
        """Means of the values present, the targets last; 0 where there are none."""
        sums = np.append(np.diagonal(self.sums[1]), self.target_sums[0])
        return np.asarray(
            np.nan_to_num(self.shift) + sums / np.where(self.counts > 0, self.counts, 1.0)
        )

    @property
    def varying(self) -> npt.NDArray[np.bool_]:
        """Which columns, the targets last, differ by more than their rounding."""
        return varies(self.low, self.high, self.mean, self.precision) & (self.counts > 1)

    @property
    def sufficient(self) -> bool:
        """Whether there are enough samples, and variation in the targets and in some feature."""
        return _are_sufficient(self.n_samples, self.varying, self.n_features)


def _rows_that_count(chunk: Training) -> tuple[npt.NDArray[Any], FloatArray, FloatArray]:
    """Values, targets and weights of the rows with a weight."""
    X, y = chunk.values, chunk.y
    weights = np.ones(len(y)) if chunk.weights is None else chunk.weights
    if not weights.all():
        counted = weights > 0
        X, y, weights = X[counted], y[counted], weights[counted]
    return X, y, weights


def with_targets(precision: FloatArray, n_targets: int) -> FloatArray:
    """Add the precision of the targets, which are float64, to that of the features."""
    return np.append(precision, np.full(n_targets, np.finfo(np.float64).eps))


def varies(
    low: FloatArray, high: FloatArray, mean: FloatArray, precision: FloatArray
) -> npt.NDArray[np.bool_]:
    """Which columns differ by more than their rounding, given their range."""
    return ~is_constant(np.maximum(high - mean, mean - low), mean, precision)


def _are_sufficient(n_samples: float, varying: npt.NDArray[np.bool_], n_features: int) -> bool:
    features, targets = np.split(varying, [n_features])
    return bool(n_samples >= ENOUGH_SAMPLES and targets.all() and features.any())


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
        D = moments.n_features
        features = Features.from_sums(
            moments.n_samples,
            moments.mean,
            np.diagonal(moments.comoment),
            moments.comoment[D:],
            moments.varying,
            moments.precision,
        )
        costs = Costs(lambda remaining, _: min(remaining, _BLOCK), max_seeds=_SEEDS)
        comoment = moments.comoment.T[:D, :D]
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


@dataclass(frozen=True)
class MomentGapStatistics(GapStatistics):
    """Statistics from accumulated sums over shared samples, not copied.

    Differences of two features that explain less than 1e-13 of a variance count as none.
    """

    _sums: FloatArray
    _offset: FloatArray  # of the means from the shifts

    @classmethod
    def from_moments(cls, moments: GapMoments) -> "MomentGapStatistics":
        """Derive what concerns single columns from the diagonals."""
        D, n = moments.n_features, moments.counts
        _, a, aa, _, *of_targets = np.diagonal(moments.sums, axis1=1, axis2=2)
        ta, t, tt = (np.array(of_targets[place::3]) for place in range(3))
        # Behind the features the targets themselves, of which only squares matter.
        sums, squares = moments.target_sums
        a, aa = np.append(a, sums), np.append(aa, squares)
        behind = np.zeros((len(t), len(t)))
        ta, t = np.hstack([ta, behind]), np.hstack([t, behind])
        tt = np.hstack([tt, np.broadcast_to(squares[:, None], behind.shape)])
        counts = np.where(n > 0, n, 1.0)
        features = Features.from_sums(
            moments.n_samples,
            moments.mean,
            np.maximum(aa - a**2 / counts, 0.0),
            ta - t * a / counts,
            moments.varying,
            moments.precision,
            counts=n,
            target_squares=np.maximum(tt - t**2 / counts, 0.0),
        )
        costs = Costs(lambda remaining, _: min(remaining, _BLOCK), max_seeds=_SEEDS)
        return cls(**features.moments(), costs=costs, _sums=moments.sums, _offset=(a / counts)[:D])

    def known(self, first: IndexArray, second: IndexArray) -> Correlations:
        figures = np.empty((2 + 2 * self.n_targets, first.size, second.size))
        for strip in row_slices(first.size, 1, _STRIP):
            figures[:, strip] = correlations_of(self._of(first[strip], second)).figures()
        return Correlations.of_figures(figures)

    def _of(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """All sums."""
        kept, left_out, exchanged = _kept(self.n_targets)
        sums = np.empty((n_sums(self.n_targets), first.size, second.size))
        for place, values in zip(kept, self._sums, strict=True):
            sums[place] = values[np.ix_(first, second)]
        for place, other in zip(left_out, exchanged, strict=True):
            sums[place] = self._sums[kept.index(other)][np.ix_(second, first)].T
        return sums

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        products = np.zeros((2, n_groups))
        for number in range(n_groups):
            group = np.flatnonzero(labels == number)
            mean, size = self._offset[group], np.abs(factors[group])
            own = factors[group] / self.scale[group]
            for strip in row_slices(group.size, 1, _STRIP):
                n, a, b, _, _, ab, *_ = self._of(group[strip], group)
                ab += n * np.outer(mean[strip], mean) - mean[strip, None] * b - mean * a
                for pairs in (n, ab):  # of different members
                    np.fill_diagonal(pairs[:, strip], 0.0)
                products[:, number] += own[strip] @ ab @ own, size[strip] @ n @ size
        return variances_of_sums(products, labels, n_groups, factors)


def _check_size(needed: int, what: str, most: int) -> None:
    if needed > LARGEST_SQUARE:
        raise ValueError(
            f"partial_fit keeps {what} {needed / 2**30:.1f} GiB; the limit is "
            f"{LARGEST_SQUARE / 2**30:.0f} GiB ({most} features). fit needs no such matrix: give "
            "it all rows at once, as a memory-mapped array (numpy.memmap) if they do not fit into "
            "memory."
        )


def check_range(
    low: FloatArray, high: FloatArray, precision: FloatArray, columns: Columns, targets: Targets
) -> None:
    """Raise if float64 could not hold the comoments of a column; the targets are the last."""
    with np.errstate(over="ignore"):
        spread, size = high - low, np.maximum(-low, high)
    too_large = (spread > _LARGEST_SPREAD) | (size > _LARGEST_VALUE)
    raise_if_any("large", too_large, "sums of squares", columns, targets)
    varying = spread > 2 * np.maximum(precision, COMPUTED) * size
    too_small = varying & (spread < 1 / _LARGEST_SPREAD)
    raise_if_any("small", too_small, "sums of squares", columns, targets)
