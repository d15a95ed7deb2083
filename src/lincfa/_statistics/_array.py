"""Statistics of an array in memory (or mapped to memory), read in tiles and never copied whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._training import Training
from ..theory._arrays import FloatArray
from ._columns import column_moments, standardize_target
from ._features import Features
from ._means import group_variances
from ._pairs import ROUNDING, PairCorrelations, complete_pairs
from ._protocol import BLOCK, IndexArray, Task
from ._square import squares_together
from ._standardize import standardize
from ._sums import ColumnSum
from ._tiles import add_symmetric, row_slices, runs_along_rows, take_columns

_MODERATE_MEAN, _MODERATE_SCALE = 1e3, 1e100
"""Mean over scale, and scale, up to which products with raw columns keep some thirteen digits."""
_DENSE, _DENSE_FOR_ONE = 0.5, 0.1
"""Share of wanted columns from which it pays to multiply with a whole range of columns in place
instead of copying the wanted ones; for many seeds, and for one."""

_SMALLEST_HEAD, _LARGEST_HEAD = 128, 1024
_SQUARE_SHARE = 0.1
_SEEDS_SHARE = 0.025
_SMALLEST_LIMIT, _LARGEST_LIMIT = 8, 512
_MULTIPLE = 8
_COPIED_WIDTH = 512
_SQUARE_VALUES = 2**20
_REFINED_VALUES = 2**19
_TOGETHER = 8
"""Values in a line of the cache: in a row-major array one of them costs as much as all."""
_TOGETHER_VALUES = 2**21


@dataclass(frozen=True)
class ArrayStatistics(Features):
    """Statistics of an array, which is kept by reference for the time of a fit.

    All arithmetic is in float64 whatever the type of the array: float32 columns are converted tile
    by tile, so that they give what the same values in float64 give.

    The columns marked in ``_raw`` can be multiplied where they are, neither centred nor copied.
    With ``_weights`` a row counts as that many rows.
    """

    _X: npt.NDArray[Any]
    _target: FloatArray
    _raw: npt.NDArray[np.bool_]
    _weights: FloatArray | None = None
    block_size = BLOCK

    @classmethod
    def of(cls, training: Training) -> "ArrayStatistics":
        """Compute means, scales and correlations with the target in one pass over X.

        Raises
        ------
        ValueError
            If X contains NaN or infinity, the target is constant, or the values of a column are
            too large or too small for float64.
        """
        X, weights = training.values, training.weights
        target, target_scale = standardize_target(training.y, weights)
        mean, scale, varying, correlation = column_moments(training, target)
        precision = float(np.finfo(X.dtype).eps)
        return cls(
            mean=mean,
            scale=scale,
            varying=varying,
            target_correlation=correlation,
            target_scale=target_scale,
            rounding=ROUNDING * precision * (1 + np.abs(mean) / scale),
            _X=X,
            _target=target,
            _raw=(np.abs(mean) <= _MODERATE_MEAN * scale)
            & (scale > 1 / _MODERATE_SCALE)
            & (scale < _MODERATE_SCALE)
            & _suits_blas(X),
            _weights=weights,
        )

    @property
    def n_samples(self) -> float:
        """Number of samples; with weights, their sum."""
        return self.n_rows if self._weights is None else float(self._weights.sum())

    @property
    def n_rows(self) -> int:
        """Number of rows of the array."""
        return int(self._X.shape[0])

    def _weighted(self, columns: FloatArray) -> FloatArray:
        """Multiply each row by its weight, so that sums of products with others count it."""
        return columns if self._weights is None else columns * self._weights[:, None]

    @property
    def seed_limit(self) -> int:
        """As many seeds as fit, standardised, into a fortieth of the memory of X."""
        fitting = int(_SEEDS_SHARE * self._X.nbytes / (8 * self.n_rows))
        return min(max(fitting, _SMALLEST_LIMIT), _LARGEST_LIMIT)

    @property
    def scatter_cost(self) -> float:
        """Measured: a column costs a strided read of one value per row, or one block copy."""
        return 300.0 if runs_along_rows(self._X) else 50.0

    @property
    def columns_together(self) -> int:
        """As many as share lines of the cache; of long columns fewer, which take 16 MiB."""
        return max(1, min(_TOGETHER, _TOGETHER_VALUES // self.n_rows))

    def columns(self, features: IndexArray) -> FloatArray:
        """Standardised columns, one a row, such that their products are correlations."""
        columns = take_columns(self._X, slice(None), features, self.mean).T
        columns *= 1 / (self.scale[features] * np.sqrt(self.n_samples - 1))[:, None]
        if self._weights is not None:
            columns *= np.sqrt(self._weights)
        return columns

    def head_size(self, remaining: int, seed_share: float) -> int:
        """How many features to decide together.

        The square of a head of P features costs n·P² operations, the rows of its seeds against the
        remaining R features 2·n·R per seed. At P² = 8R the square costs as much as four seeds, so
        it never counts for much, while the head holds many seeds where there are many. But where
        most of the last features were seeds, most of the remaining pairs will have to be compared
        anyway, and squares are the cheapest way: n·R² for all of them in one symmetric update,
        each column read once. Then the head is as large as a tenth of the memory of X allows,
        which for tall data is everything that remains.
        """
        size = min(_LARGEST_HEAD, isqrt(8 * remaining))
        if seed_share > 0.5:
            size = max(size, isqrt(int(_SQUARE_SHARE * self._X.nbytes / 8)))
        return min(remaining, max(size, _SMALLEST_HEAD))

    def look_ahead(self, features: IndexArray, others: IndexArray, seed_share: float) -> None:
        """Nothing is gained by it here: data in memory can be looked at again."""

    def square(self, features: IndexArray) -> FloatArray:
        """Correlations of the features with each other; only above the diagonal."""
        size = features.size
        total = np.zeros((size, size), order="F")
        for rows in row_slices(self.n_rows, size, _SQUARE_VALUES):
            tile = take_columns(self._X, rows, features, self.mean)
            tile *= 1 / self.scale[features]
            if self._weights is not None:
                tile *= np.sqrt(self._weights[rows])[:, None]
            if size <= _LARGEST_HEAD:
                # NumPy's own BLAS: the waiting threads of SciPy's would slow down what follows by
                # more than such a small update costs.
                total.T[...] += tile.T @ tile
            else:
                add_symmetric(total, tile)
        total /= self.n_samples - 1
        return total.T

    def squares(self, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
        """Correlations within each of many small groups, as full matrices."""
        return squares_together(self, groups)

    def rows(self, seeds: IndexArray, tasks: Iterable[Task]) -> Iterator[FloatArray]:
        """Correlations of seeds with candidates: one array (seeds, candidates) per task."""
        # Zero columns fill up the last few: BLAS is slow at widths that are no multiple of 8.
        columns = np.zeros((self.n_rows, seeds.size + _MULTIPLE), order="F")
        columns[:, : seeds.size] = self._weighted(self._standardized(seeds))
        columns /= self.n_samples - 1
        for active, candidates in tasks:
            width = active.stop - active.start
            filled = 1 if width == 1 else -(-width // _MULTIPLE) * _MULTIPLE
            padded = columns[:, active.start : active.start + filled]
            yield self._products(padded, candidates)[:width]

    def sums(self) -> ColumnSum:
        """Running sum of the standardised columns of a group."""
        degrees = self.n_samples - 1

        def products(total: FloatArray, candidates: IndexArray) -> FloatArray:
            return self._products(self._weighted(total) / degrees, candidates)

        return ColumnSum(self._standardized, products, self.n_rows)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        """Variance of the sum of each group's standardised features, multiplied by factors."""
        scale = self.scale / factors
        return group_variances(self._X, labels, n_groups, self.mean, scale, self._weights)

    def pairs(self, first: IndexArray, second: IndexArray, rho: FloatArray) -> PairCorrelations:
        """Complete correlations of pairs, from their columns where they nearly coincide."""

        def contrast(near: IndexArray, sign: int) -> tuple[FloatArray, FloatArray]:
            return self._in_parts(partial(self._contrast, sign), first[near], second[near])

        def residual(near: IndexArray, *known: FloatArray) -> tuple[FloatArray, FloatArray]:
            return self._in_parts(self._residual_shares, first[near], second[near], *known)

        r = self.target_correlation
        return complete_pairs(rho, r[first], r[second], contrast, residual)

    def _standardized(self, features: IndexArray) -> FloatArray:
        columns = take_columns(self._X, slice(None), features)
        return standardize(columns, 0.0, self._weights)[0]

    def _products(self, seeds: FloatArray, candidates: IndexArray) -> FloatArray:
        """Sums of products of standardised seeds with standardised candidates."""
        if candidates.size == 0:
            return np.empty((seeds.shape[1], 0))
        first, last = int(candidates.min()), int(candidates.max()) + 1
        span = slice(first, last)
        dense = _DENSE_FOR_ONE if seeds.shape[1] == 1 else _DENSE
        in_place = candidates.size >= dense * (last - first)
        if in_place and self._raw[span].all():
            # Only the seed needs centring: its products with a constant mean add up to nothing.
            products: FloatArray = seeds.T @ self._X[:, span]
            products /= self.scale[span]
            if candidates.size < last - first:
                products = products[:, candidates - first]
            return products
        products = np.zeros((seeds.shape[1], candidates.size))
        for left in range(0, candidates.size, _COPIED_WIDTH):
            block = slice(left, left + _COPIED_WIDTH)
            columns = candidates[block]
            for rows in row_slices(self.n_rows, columns.size):
                tile = take_columns(self._X, rows, columns, self.mean)
                products[:, block] += seeds[rows].T @ tile
        products /= self.scale[candidates]
        return products

    def _in_parts(
        self,
        compute: Callable[..., tuple[FloatArray, FloatArray]],
        first: IndexArray,
        second: IndexArray,
        *known: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Compute pairs from their columns, few enough at a time to bound the memory."""
        size = max(1, _REFINED_VALUES // self.n_rows)
        parts = []
        for start in range(0, first.size, size):
            part = slice(start, start + size)
            seeds, position = np.unique(first[part], return_inverse=True)
            parts.append(
                compute(
                    self._standardized(seeds)[:, position],
                    self._standardized(second[part]),
                    self.rounding[first[part]] + self.rounding[second[part]],
                    *(value[part] for value in known),
                )
            )
        a, b = zip(*parts, strict=True)
        return np.concatenate(a), np.concatenate(b)

    def _contrast(
        self, sign: int, first: FloatArray, second: FloatArray, rounding: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """1 ∓ ρ and r₁ ∓ r₂ from the difference (sign 1) or sum (sign −1) of the columns."""
        degrees = self.n_samples - 1
        contrast = first - sign * second
        weighted = self._weighted(contrast)
        gap = np.einsum("ij,ij->j", weighted, contrast) / (2 * degrees)
        covariance = weighted.T @ self._target / degrees
        distinct = gap > rounding**2
        return np.where(distinct, gap, 0.0), np.where(distinct, covariance, 0.0)

    def _residual_shares(
        self,
        first: FloatArray,
        second: FloatArray,
        rounding: FloatArray,
        below_one: FloatArray,
        above_minus_one: FloatArray,
        total: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Share of the difference and 1 − R², from what is left of the target column by column.

        Both are 0 where they are no larger than the rounding of the data.
        """
        degrees = self.n_samples - 1

        def weight(covariance: FloatArray, variance: FloatArray) -> FloatArray:
            known = variance > 0
            return np.where(known, covariance, 0.0) / np.where(known, 2 * variance, 1.0)

        residual = self._target[:, None] - (first + second) * weight(total, above_minus_one)
        contrast = first - second
        weighted = self._weighted(contrast)
        slope = weight(np.einsum("ij,ij->j", weighted, residual) / degrees, below_one)
        residual -= contrast * slope
        share = 2 * below_one * slope**2
        unexplained = np.einsum("ij,ij->j", self._weighted(residual), residual) / degrees
        floor = rounding**2
        return np.where(share > floor, share, 0.0), np.where(unexplained > floor, unexplained, 0.0)


def _suits_blas(X: npt.NDArray[Any]) -> bool:
    """Whether BLAS can read the array in place; NumPy would copy any other first."""
    return X.dtype == np.float64 and X.itemsize in X.strides
