"""Statistics of an array in memory or memory-mapped, read in tiles and never copied whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._data._targets import Targets
from .._data._training import Training
from ..theory._arrays import FloatArray
from ._gaps import (
    GapStatistics,
    all_pairs_in_strips,
    correlations_of,
    n_prepared,
    n_sums,
    present_means,
    seeds_for_sums,
    shared_sums,
    sums_of_pairs,
    sums_within,
    variances_of_sums,
    zero_missing,
)
from ._means import group_variances
from ._protocol import (
    COMPUTED,
    FLAT,
    ColumnSum,
    Comparison,
    Correlations,
    Costs,
    GroupSums,
    IndexArray,
    PairCorrelations,
    Statistics,
    complete_pairs,
    equal_up_to,
    is_constant,
    raise_if_any,
    resolved_shares,
    rounding_of,
)
from ._speed import in_threads, split_evenly
from ._tiles import (
    add_products,
    add_symmetric,
    column_squares,
    row_slices,
    runs_along_rows,
    suits_loops,
    take_columns,
    tiles,
)

_MODERATE_MEAN, _MODERATE_SCALE = 1e3, 1e100
"""Mean over scale, and scale, up to which products with raw columns keep some thirteen digits."""
_DENSE, _DENSE_FOR_ONE = 0.5, 0.1
"""Share of wanted columns from which it pays to multiply with a whole range of columns in place
instead of copying the wanted ones; for many seeds, and for one."""

_SMALLEST_BLOCK, _LARGEST_BLOCK = 128, 1024
_SQUARE_SHARE = 0.1
_AHEAD = 0.0625
_SEEDS_SHARE = 0.025
_FEWEST_SEEDS, _MOST_SEEDS = 8, 512
_CANDIDATES = 128
_MULTIPLE = 8
_COPIED_WIDTH = 128
_SQUARE_VALUES, _SQUARE_WORK = 2**21, 64
_REFINED_VALUES = 2**19
_SETS_TOGETHER, _SETS_VALUES = 128, 2**19
_WINDOW = 4
_COST_OF_WINDOW, _COST_OF_FEW, _READ, _CONVERTED = 19.0, 2.5, 7.0, 23.0
"""What a candidate costs, in units of one more seed in a product of matrices, as measured with 1000
samples on two cores: a window of seeds in compiled loops; each of few seeds in loops over all
columns; and to read it for a product of matrices, where it is, or converted before."""
_BYTES_OF_PAIR, _PAIRS_SHARE = 80, 0.05
"""Memory for a candidate and a window of seeds, and share of that of X that all may take."""
_EDGE_VALUES, _LONG_COLUMNS, _EDGES_PER_FEATURE = 2**18, 2**13, 8
_COLUMNS = 8
"""Values in a cache line: in a row-major array one of them costs as much as all."""
_COLUMNS_VALUES = 2**21
_SHIFT_ROWS = 8
_MODERATE_OFFSET = 8.0
"""Distance of shift and mean, in scales, up to which the shifted sums keep their digits."""
_TINY_VARIANCE = 1e-280
"""Variance below which squares may have lost digits to underflow."""
_LARGEST_UNIT = 1e304
"""Beyond this, and below its inverse, sums of products would leave the range of float64."""
_DELICATE_VALUES = 2**19
_GAP_VALUES, _GAP_WIDTH = 2**18, 256


@dataclass(frozen=True)
class ArrayStatistics(Statistics):
    """Statistics of an array, not copied but kept for the time of a fit.

    All arithmetic is in float64: float32 columns are converted tile by tile, so that they give what
    the same values in float64 give. The columns marked in ``_raw`` can be multiplied where they
    are, neither centred nor copied. With ``_weights`` a row counts as that many rows.
    """

    _X: npt.NDArray[Any]
    _targets: FloatArray  # standardised, one a column
    _raw: npt.NDArray[np.bool_]
    _weights: FloatArray | None = None

    @classmethod
    def of(cls, training: Training) -> "ArrayStatistics":
        """Compute means, scales and correlations with the targets in one pass over X."""
        X, weights = training.values, training.weights
        targets, target_scale = standardize_targets(training.y, weights, training.targets)
        mean, scale, varying, correlation, gaps = column_moments(training, targets)
        kind = ArrayGapStatistics if gaps else cls
        return kind(
            n_samples=X.shape[0] if weights is None else float(weights.sum()),
            mean=mean,
            scale=scale,
            varying=varying,
            target_correlation=correlation,
            target_scale=target_scale,
            rounding=rounding_of(training.precision, mean, scale),
            costs=_costs_of_gaps(X, targets.shape[1]) if gaps else _costs(X),
            _X=X,
            _targets=targets,
            _raw=(np.abs(mean) <= _MODERATE_MEAN * scale)
            & (scale > 1 / _MODERATE_SCALE)
            & (scale < _MODERATE_SCALE)
            # BLAS can read these in place; NumPy would copy any other array first.
            & (X.dtype == np.float64 and X.itemsize in X.strides),
            _weights=weights,
        )

    @property
    def n_rows(self) -> int:
        return int(self._X.shape[0])

    def _weighted(self, columns: FloatArray) -> FloatArray:
        """Multiply each row by its weight, so that sums of products with others count it."""
        return columns if self._weights is None else columns * self._weights[:, None]

    def columns(self, features: IndexArray) -> FloatArray:
        columns = take_columns(self._X, slice(None), features, self.mean).T
        columns *= 1 / (self.scale[features] * np.sqrt(self.n_samples - 1))[:, None]
        if self._weights is not None:
            columns *= np.sqrt(self._weights)
        return columns

    def along_edges(self, first: IndexArray, second: IndexArray) -> Correlations | None:
        if self.n_rows > _LONG_COLUMNS or first.size > _EDGES_PER_FEATURE * self.varying.size:
            return None  # columns are read again and again
        parts = []
        step = max(1, _EDGE_VALUES // self.n_rows)
        for start in range(0, first.size, step):
            some = slice(start, start + step)
            ends = np.concatenate([first[some], second[some]])
            features, places = np.unique(ends, return_inverse=True)
            parts.append(self._along(features, *np.split(places, 2)))
        sums = np.hstack(parts) if parts else np.empty((n_sums(self.n_targets), 0))
        return self._correlations_along(sums, first, second)

    def _along(self, features: IndexArray, one: IndexArray, other: IndexArray) -> FloatArray:
        """Sums over the samples of pairs of some features, given by their places."""
        columns = self.columns(features)
        return np.asarray(np.einsum("ij,ij->i", columns[one], columns[other]))[None]

    def _correlations_along(
        self, sums: FloatArray, first: IndexArray, second: IndexArray
    ) -> Correlations:
        return self.with_target(sums[0], first, second)

    def square(self, features: IndexArray) -> FloatArray:
        size = features.size
        total = np.zeros((size, size), order="F")
        for rows in row_slices(self.n_rows, size, _SQUARE_VALUES):
            tile = self._standardized_rows(rows, features)
            if size <= _LARGEST_BLOCK:

                def multiply(part: slice) -> None:
                    total.T[part] += tile[:, part].T @ tile  # noqa: B023  called at once

                in_threads(multiply, split_evenly(np.ones(size), tile.size * size // _SQUARE_WORK))
            else:
                add_symmetric(total, tile)
        total /= self.n_samples - 1
        return total.T

    def matrices(self, sets: Sequence[IndexArray]) -> Iterator[FloatArray]:
        for start in range(0, len(sets), _SETS_TOGETHER):
            some = sets[start : start + _SETS_TOGETHER]
            sizes = np.array([features.size for features in some])
            result = [np.zeros((size, size)) for size in sizes.tolist()]
            parts = split_evenly(sizes, self.n_rows * int(sizes.sum()))
            room = _SETS_VALUES // len(parts)

            def add_products(part: slice) -> None:
                # The columns of many sets are read row after row.
                features = np.concatenate(some[part])  # noqa: B023  called at once
                bounds = pairwise([0, *np.cumsum(sizes[part]).tolist()])  # noqa: B023
                places = [slice(*ends) for ends in bounds]
                for rows in row_slices(self.n_rows, features.size, room):  # noqa: B023
                    tile = self._standardized_rows(rows, features)
                    for total, place in zip(result[part], places, strict=True):  # noqa: B023
                        total += tile[:, place].T @ tile[:, place]

            in_threads(add_products, parts)
            for total in result:
                total /= self.n_samples - 1
                np.fill_diagonal(total, 1.0)
                yield total

    def _standardized_rows(self, rows: slice, features: IndexArray) -> FloatArray:
        """Some rows of standardised columns, times the roots of their weights."""
        tile = take_columns(self._X, rows, features, self.mean)
        tile *= 1 / self.scale[features]
        if self._weights is not None:
            tile *= np.sqrt(self._weights[rows])[:, None]
        return tile

    def rows(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        # Zero columns fill up the last few: BLAS is slow at widths that are no multiple of 8.
        columns = np.zeros((self.n_rows, seeds.size + _MULTIPLE), order="F")
        columns[:, : seeds.size] = self._weighted(self._standardized(seeds))
        columns /= self.n_samples - 1
        comparisons = list(comparisons)
        if self._windows_are_cheaper(comparisons):
            yield from self._window_products(columns, comparisons)
            return
        for active, candidates in comparisons:
            yield self._products(columns, candidates, active)

    def _windows_are_cheaper(self, comparisons: list[Comparison]) -> bool:
        """Whether to compare each candidate with a few seeds at a time, in compiled loops."""
        # Not for few columns from here and there: copied, each of them is read faster.
        sizes = [block.size for _, block in comparisons]
        if not suits_loops(self._X) or sum(sizes) < _DENSE_FOR_ONE * self.mean.size:
            return False
        n_pairs, difference = 0, 0.0
        for active, block in comparisons:
            width, span = active.stop - active.start, block[-1] + 1 - block[0]
            if block.size < _DENSE * span:
                together = width + _scattered(self._X)
            else:
                together = min(width + self._cost_of_reading(block), _COST_OF_FEW * (width + 1))
            windows = -(-width // _WINDOW)
            n_pairs += block.size * windows
            difference += block.size * (windows * _COST_OF_WINDOW - together)
        return difference < 0 and _BYTES_OF_PAIR * n_pairs <= _PAIRS_SHARE * self._X.nbytes

    def _cost_of_reading(self, features: slice | IndexArray) -> float:
        return _READ if self._raw[features].all() else _CONVERTED

    def _window_products(
        self, seeds: FloatArray, comparisons: list[Comparison]
    ) -> Iterator[FloatArray]:
        """Products of standardised seeds with the candidates of each comparison.

        A window are four seeds, as many as a candidate is multiplied with at once.
        """
        from . import _loops

        # All pairs of a candidate and a window of seeds, in the order in which memory is read.
        pairs = [
            (block, np.arange(active.start, active.stop, _WINDOW, dtype=np.uintp))
            for active, block in comparisons
        ]
        columns = np.concatenate([np.repeat(block, starts.size) for block, starts in pairs])
        windows = np.concatenate([np.tile(starts, block.size) for block, starts in pairs])
        order = np.argsort(columns)
        columns, windows = columns[order].astype(np.uintp), windows[order]
        result = np.zeros((order.size, _WINDOW))
        by_rows = runs_along_rows(self._X)
        table = np.ascontiguousarray(seeds if by_rows else seeds.T)

        def multiply(part: slice) -> None:
            some = self.mean, table, columns, windows, part.start, part.stop, result
            if by_rows:
                _loops.multiply_windows_along_rows(self._X, *some)
            else:
                _loops.multiply_windows_along_columns(self._X.T, *some)

        in_threads(multiply, split_evenly(np.ones(order.size), self.n_rows * order.size))
        result /= self.scale[columns][:, None]
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        start = 0
        for (active, block), (_, starts) in zip(comparisons, pairs, strict=True):
            stop = start + block.size * starts.size
            products = result[place[start:stop]].reshape(block.size, -1)
            yield products[:, : active.stop - active.start].T
            start = stop

    def sums(self) -> GroupSums:
        degrees = self.n_samples - 1
        weights = np.ones(self.n_rows) if self._weights is None else self._weights

        def summed(features: IndexArray, factors: FloatArray) -> FloatArray:
            return np.asarray(factors @ self.columns(features))

        def products(total: FloatArray, candidates: IndexArray) -> FloatArray:
            seed = np.sqrt(weights) * total
            # Centred to the last digit: candidates need not be.
            seed -= weights * (seed.sum() / self.n_samples)
            return np.asarray(self._products(seed[:, None] / np.sqrt(degrees), candidates)[0])

        return ColumnSum(self, summed, products)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        scale = self.scale / factors
        return group_variances(self._X, labels, n_groups, self.mean, scale, self._weights)

    def pairs(self, first: IndexArray, second: IndexArray, known: Correlations) -> PairCorrelations:
        def contrast(near: IndexArray, sign: int) -> Any:
            compute = partial(self._contrast, sign)
            return self._in_parts(compute, self.rounding.__getitem__, first[near], second[near])

        def residual(near: IndexArray, *gaps: FloatArray) -> Any:
            compute, rounding = self._residual_shares, self._rounding_of_arithmetic
            return self._in_parts(compute, rounding, first[near], second[near], *gaps)

        floor = equal_up_to(self.rounding[first], self.rounding[second])
        return complete_pairs(known, contrast, residual, floor)

    def _standardized(self, features: IndexArray) -> FloatArray:
        columns = take_columns(self._X, slice(None), features)
        return standardize(columns, 0.0, self._weights)[0]

    def _products(
        self, columns: FloatArray, candidates: IndexArray, active: slice = slice(0, 1)
    ) -> FloatArray:
        """Sums of products of some standardised columns with standardised candidates."""
        width = active.stop - active.start
        if candidates.size == 0:
            return np.empty((width, 0))
        filled = 1 if width == 1 else -(-width // _MULTIPLE) * _MULTIPLE
        seeds = columns[:, active.start : active.start + filled]
        first, last = int(candidates.min()), int(candidates.max()) + 1
        span = slice(first, last)
        in_place = candidates.size >= (_DENSE_FOR_ONE if width == 1 else _DENSE) * (last - first)
        few = _COST_OF_FEW * (width + 1) < width + self._cost_of_reading(span)
        if in_place and few and suits_loops(self._X):
            sums = np.zeros((width, self.mean.size))
            _add_moments(self._X, self.mean, seeds.T[:width], np.zeros(self.mean.size), sums, span)
            return sums[:, candidates] / self.scale[candidates]
        if in_place and self._raw[span].all():
            # Only the seed needs centring: its products with a constant mean add up to nothing.
            products = np.empty((filled, last - first))

            def multiply_in_place(part: slice) -> None:
                own = slice(first + part.start, first + part.stop)
                np.matmul(seeds.T, self._X[:, own], out=products[:, part])
                products[:, part] /= self.scale[own]

            work = self.n_rows * (last - first)
            in_threads(multiply_in_place, split_evenly(np.ones(last - first), work))
            products = products[:width]
            return products if candidates.size == last - first else products[:, candidates - first]
        # Copied and centred in tiles; where most columns are wanted, with those between them.
        features = np.arange(first, last) if in_place else candidates
        products = np.zeros((seeds.shape[1], features.size))

        def multiply(part: slice) -> None:
            for left in range(part.start, part.stop, _COPIED_WIDTH):
                block = slice(left, min(left + _COPIED_WIDTH, part.stop))
                for rows in row_slices(self.n_rows, _COPIED_WIDTH):
                    tile = take_columns(self._X, rows, features[block], self.mean)
                    products[:, block] += seeds[rows].T @ tile

        in_threads(multiply, split_evenly(np.ones(features.size), self.n_rows * features.size))
        products = products[:width] / self.scale[features]
        return products if features is candidates else products[:, candidates - first]

    def _in_parts(
        self,
        compute: Callable[..., tuple[FloatArray, ...]],
        rounding: Callable[[IndexArray], FloatArray],
        first: IndexArray,
        second: IndexArray,
        *known: FloatArray,
    ) -> tuple[FloatArray, ...]:
        """Compute pairs from their columns, few enough at a time to bound the memory."""
        size = max(1, _REFINED_VALUES // self.n_rows)
        parts = []
        for start in range(0, first.size, size):
            part = slice(start, start + size)
            parts.append(
                compute(
                    self._columns_of_pairs(first[part], second[part]),
                    equal_up_to(rounding(first[part]), rounding(second[part])),
                    *(value[..., part] for value in known),
                )
            )
        return tuple(np.concatenate(values, axis=-1) for values in zip(*parts, strict=True))

    def _rounding_of_arithmetic(self, features: IndexArray) -> FloatArray:
        # Values of a coarser type may stand for others, but what they explain is known exactly.
        return rounding_of(
            float(np.finfo(np.float64).eps), self.mean[features], self.scale[features]
        )

    def _columns_of_pairs(self, first: IndexArray, second: IndexArray) -> "_PairColumns":
        """Columns of pairs and the target, standardised."""
        seeds, position = np.unique(first, return_inverse=True)
        return _PairColumns(
            self._standardized(seeds)[:, position],
            self._standardized(second),
            self._targets.T[:, :, None],
            self.n_samples - 1,
        )

    def _contrast(
        self, sign: int, columns: "_PairColumns", floor: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """1 ∓ ρ and r₁ ∓ r₂ from the difference (sign 1) or sum (sign −1) of the columns."""
        contrast = columns.first - sign * columns.second
        weighted = self._weighted(contrast)
        gap = np.einsum("ij,ij->j", weighted, contrast) / (2 * columns.degrees)
        covariance = columns.with_targets(weighted)
        distinct = gap > floor
        return np.where(distinct, gap, 0.0), np.where(distinct, covariance, 0.0)

    def _residual_shares(
        self,
        columns: "_PairColumns",
        floor: FloatArray,
        below_one: FloatArray,
        above_minus_one: FloatArray,
        total: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shares of difference and sum, and 1 − R², from what is left of each target itself."""
        first, second, degrees = columns.first, columns.second, columns.degrees

        def weight(covariance: FloatArray, variance: FloatArray) -> FloatArray:
            known = variance > 0
            return np.where(known, covariance, 0.0) / np.where(known, 2 * variance, 1.0)

        contrast = first - second
        weighted = self._weighted(contrast)
        figures = np.empty((3, *total.shape))  # for each target
        for target, covariance, result in zip(
            columns.targets, total, figures.transpose(1, 0, 2), strict=True
        ):
            of_sum = weight(covariance, above_minus_one)
            residual = target - (first + second) * of_sum
            slope = weight(np.einsum("ij,ij->j", weighted, residual) / degrees, below_one)
            residual -= contrast * slope
            result[0], result[1] = 2 * below_one * slope**2, 2 * above_minus_one * of_sum**2
            result[2] = np.einsum("ij,ij->j", self._weighted(residual), residual) / degrees
        of_difference, of_sum, left = figures
        return resolved_shares(of_difference, of_sum, left, floor)


@dataclass(frozen=True)
class _PairColumns:
    """Columns of pairs of features and their targets, standardised on the samples they share.

    A sample that a pair does not share has zeros.
    """

    first: FloatArray
    second: FloatArray
    targets: FloatArray  # by the first axis; of each pair, or those of all
    degrees: FloatArray | float

    def with_targets(self, columns: FloatArray) -> FloatArray:
        """Covariances of columns with the targets."""
        if self.targets.shape[2] == 1:
            return np.asarray(self.targets[:, :, 0] @ columns / self.degrees)
        return np.asarray(np.einsum("ij,kij->kj", columns, self.targets) / self.degrees)


@dataclass(frozen=True)
class ArrayGapStatistics(GapStatistics, ArrayStatistics):
    """Statistics of an array with missing values."""

    def known(self, first: IndexArray, second: IndexArray) -> Correlations:
        if first is second and first.size > _GAP_WIDTH:
            return all_pairs_in_strips(first, lambda _: _GAP_WIDTH, self.known)
        outcomes, k = self._outcomes(), self.n_targets
        result = np.zeros((n_sums(k), first.size, second.size))
        for rows in row_slices(self.n_rows, n_prepared(k) * first.size, _GAP_VALUES):
            columns = self._scaled(rows, first)
            seeds = seeds_for_sums(columns, outcomes[rows])
            if first is second:
                result += sums_within(seeds, columns, k)
                continue
            for left in range(0, second.size, _GAP_WIDTH):
                part = slice(left, left + _GAP_WIDTH)
                result[:, :, part] += shared_sums(seeds, self._scaled(rows, second[part]), k)
        return correlations_of(result)

    def matrices(self, sets: Sequence[IndexArray]) -> Iterator[FloatArray]:
        return Statistics.matrices(self, sets)

    def _along(self, features: IndexArray, one: IndexArray, other: IndexArray) -> FloatArray:
        columns = self._scaled(slice(None), features)
        return sums_of_pairs(columns[:, one], columns[:, other], self._outcomes())

    def _correlations_along(
        self, sums: FloatArray, first: IndexArray, second: IndexArray
    ) -> Correlations:
        return correlations_of(sums)

    def _outcomes(self) -> FloatArray:
        """Targets, and the weights of the rows, side by side."""
        weights = np.ones(self.n_rows) if self._weights is None else self._weights
        return np.column_stack([self._targets, weights])

    def _scaled(self, rows: slice, features: IndexArray) -> FloatArray:
        columns = take_columns(self._X, rows, features, self.mean)
        columns /= self.scale[features]
        return columns

    def pairs(self, first: IndexArray, second: IndexArray, known: Correlations) -> PairCorrelations:
        return ArrayStatistics.pairs(self, first, second, known)

    def _columns_of_pairs(self, first: IndexArray, second: IndexArray) -> _PairColumns:
        columns = [take_columns(self._X, slice(None), some, self.mean) for some in (first, second)]
        shared = ~(np.isnan(columns[0]) | np.isnan(columns[1]))
        counts = shared * self._outcomes()[:, -1:]
        targets = (np.where(shared, target[:, None], np.nan) for target in self._targets.T)
        one, other, *rest = (standardize(values, 0.0, counts)[0] for values in (*columns, *targets))
        return _PairColumns(one, other, np.array(rest), counts.sum(axis=0) - 1)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        """Variance of each group's sum, from the products of members that are present together."""
        grouped = np.flatnonzero(labels >= 0)
        place = (labels[grouped], np.arange(grouped.size))
        own = factors[grouped]
        sign, size, square = (
            sparse.csr_array((values, place), shape=(n_groups, grouped.size))
            for values in (own, np.abs(own), own**2)
        )
        products, counts = np.zeros((2, n_groups))
        weights = self._outcomes()[:, -1]
        for rows in row_slices(self.n_rows, grouped.size, _GAP_VALUES):
            values = self._scaled(rows, grouped).T
            missing = np.isnan(values)
            zero_missing(values, missing)
            products += (sign @ values) ** 2 @ weights[rows]
            values *= values
            products -= square @ (values @ weights[rows])
            there = (~missing).astype(np.float64)
            counts += (size @ there) ** 2 @ weights[rows]
            counts -= square @ (there @ weights[rows])
        return variances_of_sums(np.stack([products, counts]), labels, n_groups, factors)


def _costs_of_gaps(X: npt.NDArray[Any], n_targets: int) -> Costs:
    """What correlations of columns with missing values cost."""
    costs = _costs(X)
    # Several columns are made of each seed; and columns cannot be added up or kept. Pairs within a
    # block cost as much as others, so that it is as small as it can be.
    return replace(
        costs,
        block_size=lambda remaining, _: min(remaining, _SMALLEST_BLOCK),
        max_seeds=max(_FEWEST_SEEDS, costs.max_seeds // n_prepared(n_targets)),
        scattered=np.inf,
        columns=0,
    )


def _costs(X: npt.NDArray[Any]) -> Costs:
    """What correlations of the columns of an array cost, as measured."""

    def block_size(remaining: int, seed_share: float) -> int:
        """How many features to decide together."""
        # The square of a block of P features costs n·P² operations, the rows of its seeds against
        # the remaining R features 2·n·R per seed. At P² = 2R the square costs as much as one seed,
        # so it never counts for much, while the block holds many seeds where there are many.
        # But where most of the last features were seeds, most of the remaining pairs will have to
        # be compared anyway, and squares are the cheapest way: n·R² for all of them in one
        # symmetric update, each column read once. Then the block is as large as a tenth of the
        # memory of X allows, which for tall data is everything that remains.
        size = min(_LARGEST_BLOCK, isqrt(2 * remaining))
        if seed_share > 0.5:
            size = max(size, isqrt(int(_SQUARE_SHARE * X.nbytes / 8)))
        return min(remaining, max(size, _SMALLEST_BLOCK))

    n_rows = X.shape[0]
    return Costs(
        block_size,
        # As many seeds as fit, standardised, into a fortieth of the memory of X.
        max_seeds=min(max(int(_SEEDS_SHARE * X.nbytes / (8 * n_rows)), _FEWEST_SEEDS), _MOST_SEEDS),
        ahead=_AHEAD,
        # In compiled loops, what a window costs more than reading the column in any case.
        scattered=_COST_OF_WINDOW - _READ if suits_loops(X) else _scattered(X),
        candidates=_CANDIDATES,
        # As many as share cache lines; of long columns fewer, which take 16 MiB.
        columns=max(1, min(_COLUMNS, _COLUMNS_VALUES // n_rows)),
    )


def _scattered(X: npt.NDArray[Any]) -> float:
    """Cost of copying a candidate from anywhere, in correlations of one candidate."""
    # A column costs a strided read of one value per row, or one block copy.
    return 100.0 if runs_along_rows(X) else 50.0


# Single columns


def standardize_targets(
    y: FloatArray, weights: FloatArray | None, targets: Targets
) -> tuple[FloatArray, FloatArray]:
    """Standardise the targets, one a column; raise if one is constant."""
    values, _, scale, varies = standardize(y, np.finfo(np.float64).eps, weights)
    for place in np.flatnonzero(~np.isfinite(scale)):
        where = targets.describe(int(place))
        raise ValueError(f"Values too large for float64 in {where}; rescale it first.")
    targets.check_varying(varies, y[0] if weights is None else y[weights > 0][0])
    return values, scale


def column_moments(
    training: Training, targets: FloatArray
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_], FloatArray, bool]:
    """Means, scales, which columns vary, and correlations with the targets, in one pass.

    Also whether values are missing; of such columns the moments are those of the values present.
    """
    # Sums are taken of the distance to a shift, the mean of a few rows: then they keep their digits
    # also where the mean is much larger than the scale. The few columns that this does not suit
    # (the shift is far off, the unit extreme, the values constant or not finite) are done once
    # more, with care.
    X, weights = training.values, training.weights
    rows_of_x, D = X.shape
    counts = np.ones(rows_of_x) if weights is None else weights
    factors = np.vstack([counts, counts * targets.T])
    n = counts.sum()
    degrees = n - 1
    squares, sums_and_products = np.zeros(D), np.zeros((len(factors), D))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        some_rows = np.asarray(
            X[:: max(1, rows_of_x // _SHIFT_ROWS)][:_SHIFT_ROWS], dtype=np.float64
        )
        shift: FloatArray = some_rows.mean(axis=0)

        _add_moments(X, shift, factors, squares, sums_and_products, slice(0, D))
        sums, products = sums_and_products[0], sums_and_products[1:]
        offset = sums / n
        mean = shift + offset
        variance = (squares - sums * offset) / degrees
        scale = np.sqrt(variance)
        of_targets = factors[1:].sum(axis=1, keepdims=True)
        correlation = (products - offset * of_targets) / (degrees * scale)
        sound = _are_sound(mean, scale, variance, offset, training.precision)
    varying = np.ones(D, dtype=np.bool_)
    delicate = np.flatnonzero(~sound)
    gaps = False
    if not np.isfinite(squares[delicate]).all():
        gaps = training.gaps and bool(np.isnan(squares).any())
        if gaps:
            mean, scale, correlation, sound = _moments_of_present(training, targets)
            delicate = np.flatnonzero(~sound)
        if not (gaps and np.isfinite(scale[delicate]).all()):
            training.check_finite()
    step = max(1, _DELICATE_VALUES // rows_of_x)
    for start in range(0, delicate.size, step):
        part = delicate[start : start + step]
        values = take_columns(X, slice(None), part)
        if not gaps:
            standard, *moments = standardize(values, training.precision[part], weights)
            correlation[:, part] = factors[1:] @ standard / degrees
        else:
            present = ~np.isnan(values) * counts[:, None]
            standard, *moments = standardize(values, training.precision[part], present)
            correlation[:, part] = correlations_with(standard, present, targets)
        mean[part], scale[part], varying[part] = moments
    too_large = ~(np.abs(mean) + scale < _LARGEST_UNIT)
    too_small = scale < 1 / _LARGEST_UNIT
    raise_if_any("large", too_large, "float64", training.columns, training.targets)
    raise_if_any("small", too_small, "float64", training.columns, training.targets)
    return mean, scale, varying, correlation, gaps


def _add_moments(
    X: npt.NDArray[Any],
    shift: FloatArray,
    factors: FloatArray,
    squares: FloatArray,
    sums: FloatArray,
    columns: slice,
) -> None:
    """Add up x − shift times each row of factors, and its squares times the first of them."""
    if suits_loops(X):
        from . import _loops

        by_rows = runs_along_rows(X)
        add = _loops.add_moments_along_rows if by_rows else _loops.add_moments_along_columns
        values, own = X if by_rows else X.T, np.ascontiguousarray(factors)

        def add_up(part: slice) -> None:
            bounds = columns.start + part.start, columns.start + part.stop
            add(values, shift, own, *bounds, squares, sums)
    else:
        counts = factors[0]
        roots = None if (counts == 1).all() else np.sqrt(counts)[:, None]

        def add_up(part: slice) -> None:
            for rows, some, tile in tiles(X, part):
                np.subtract(X[rows, some], shift[some], out=tile)
                add_products(factors[:, rows], tile, sums[:, some])
                if roots is not None:
                    tile *= roots[rows]
                squares[some] += column_squares(tile)

    width = columns.stop - columns.start
    in_threads(add_up, split_evenly(np.ones(width), len(X) * width))


def _moments_of_present(
    training: Training, targets: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Means, scales and correlations with the targets of values present, and which are sound."""
    X, weights = training.values, training.weights
    rows_of_x, D = X.shape
    weights = np.ones(rows_of_x) if weights is None else weights
    k = targets.shape[1]
    with_presence = np.vstack([weights, weights * targets.T, weights * targets.T**2])
    with_values = with_presence[: k + 1]
    some_rows = np.array(X[:: max(1, rows_of_x // _SHIFT_ROWS)][:_SHIFT_ROWS], dtype=np.float64)
    shift = np.nan_to_num(present_means(some_rows))
    squares, counted, summed = np.zeros(D), np.zeros((1 + 2 * k, D)), np.zeros((1 + k, D))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):

        def add_up(part: slice) -> None:
            for rows, columns, tile in tiles(X, part):
                np.subtract(X[rows, columns], shift[columns], out=tile)
                missing = np.isnan(tile)
                zero_missing(tile, missing)
                present = (~missing).astype(np.float64)
                add_products(with_presence[:, rows], present, counted[:, columns])
                add_products(with_values[:, rows], tile, summed[:, columns])
                tile *= tile
                squares[columns] += weights[rows] @ tile

        in_threads(add_up, split_evenly(np.ones(D), X.size))
        n, t, tt = counted[0], counted[1 : k + 1], counted[k + 1 :]
        sums, products = summed[0], summed[1:]
        offset = np.nan_to_num(sums / n)
        mean = shift + offset
        variance = (squares - sums * offset) / (n - 1)
        scale = np.sqrt(variance)
        of_target = tt - t**2 / n
        correlation = (products - offset * t) / (scale * np.sqrt((n - 1) * of_target))
        sound = _are_sound(mean, scale, variance, offset, training.precision)
        sound &= (n > 1) & (of_target > FLAT * n).all(axis=0)
    return mean, scale, correlation, sound


def _are_sound(
    mean: FloatArray,
    scale: FloatArray,
    variance: FloatArray,
    offset: FloatArray,
    precision: FloatArray,
) -> npt.NDArray[np.bool_]:
    """Which moments from sums of distances to a shift have kept their digits."""
    return np.asarray(
        np.isfinite(variance)
        & (variance > _TINY_VARIANCE)
        & (np.abs(offset) <= _MODERATE_OFFSET * scale)
        & (scale > 2 * np.maximum(precision, COMPUTED) * np.abs(mean))
    )


def correlations_with(columns: FloatArray, counts: FloatArray, targets: FloatArray) -> FloatArray:
    """Correlations of standardised columns with the targets, on the samples they have."""
    n = counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = targets.T**2 @ counts - (targets.T @ counts) ** 2 / n
        product = targets.T @ (counts * columns)
        correlation = product / np.sqrt((n - 1) * variance)
    return np.where((variance > FLAT * n) & (n > 1), correlation, 0.0)


def standardize(
    values: npt.NDArray[Any], precision: float | FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Centre and scale columns to unit sample variance.

    The mean is corrected by the mean of what it leaves, and squares are taken of values of at most
    1, so that neither a mean much larger than the scale nor an extreme unit costs digits. With
    weights, a row counts as that many rows; values of rows without weight do not matter. Each value
    may have a weight of its own, 0 where it is missing; these become 0.

    Returns the columns, contiguous; their means; their scales, 1 where a column is constant; and
    whether the values of each differ by more than their rounding.
    """
    # Column by column in memory, whatever the order given: the sums do not depend on it.
    columns = np.array(values, dtype=np.float64, order="F")
    n = columns.shape[0] if weights is None else weights.sum(axis=0)
    counted = np.True_ if weights is None else (weights > 0).reshape(columns.shape[0], -1)
    missing = np.False_ if np.ndim(n) == 0 else ~counted
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        columns[missing] = 0.0
        mean = _column_means(columns, weights)
        columns -= mean
        correction = _column_means(columns, weights)
        columns -= correction
        columns[missing] = 0.0
        mean += correction
        peak = np.abs(columns).max(axis=0, initial=0.0, where=counted)
        varying = ~is_constant(peak, mean, precision) & (n > 1)
        peak[~varying] = 1.0
        columns /= peak
        columns[:, ~varying] = 0.0
        if weights is None:
            squares = np.einsum("ij,ij->j", columns, columns)
        else:
            each = "i" if weights.ndim == 1 else "ij"
            squares = np.einsum(f"{each},ij,ij->j", weights, columns, columns)
        relative = np.sqrt(squares / (n - 1))
        relative[~varying] = 1.0
        columns /= relative
    return columns, mean, peak * relative, varying


def _column_means(columns: FloatArray, weights: FloatArray | None) -> FloatArray:
    if weights is None:
        return np.asarray(columns.mean(axis=0))
    if weights.ndim == 1:
        return np.asarray(weights @ columns / weights.sum())
    n = np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)
    return np.asarray(np.einsum("ij,ij->j", weights, columns) / n)
