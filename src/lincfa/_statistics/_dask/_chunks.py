"""Statistics of the chunks of a dask collection, computed in passes over them.

Each pass is one graph. A task gets one chunk, with the target and the weights of its rows; what the
tasks return is added up in a tree, and the sum comes back. The data are never gathered.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise, repeat
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._checks import check_total_weight
from ..._data._compute import compute
from ..._data._dask import ChunkedTraining, cut_rows
from ...theory._arrays import FloatArray
from .. import (
    LARGEST_SQUARE,
    CachedStatistics,
    Comparison,
    Costs,
    IndexArray,
    Moments,
    MomentStatistics,
    Statistics,
    check_range,
    most_features,
    refuse_constant_target,
)
from .._protocol import Features, RowSums, is_constant
from . import _kernels as kernels

LARGEST_BATCH = 2**24
"""Numbers that one task may return, or hold beside its chunk: 128 MiB."""

_FEWEST = 16
_FAN_IN = 4
_SMALLEST_BLOCK = 1024
_OPERATIONS = 200
"""Operations on a value that cost about as much as reading it."""

_MOSTLY_SEEDS = 0.5


class Chunks(ChunkedTraining):
    """Passes over the rows of a dask collection."""

    @classmethod
    def of(cls, training: ChunkedTraining) -> "Chunks":
        """Open the chunks of a training."""
        return cls(**vars(training))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return sum(self.widths)

    @property
    def in_one_pass(self) -> bool:
        """Whether the comoments of all pairs are few enough to be computed together."""
        fits = len(self.widths) == 1 or max(self.lengths) * self.n_features <= LARGEST_BATCH
        return fits and (self.n_features + 1) ** 2 <= LARGEST_BATCH

    def batch(self, others: int) -> int:
        """Number of features whose correlations with so many others make a batch."""
        longest = 1 if len(self.widths) == 1 else max(self.lengths)
        return max(_FEWEST, LARGEST_BATCH // max(others, longest, 1))

    def weighted(self, weights: FloatArray | None) -> "Chunks":
        """Return the same rows with other weights, or without any."""
        return replace(self, weights=None if weights is None else cut_rows(weights, self.lengths))

    def outcomes(self) -> tuple[FloatArray, FloatArray | None]:
        """Gather target and weights, as float64."""
        y, weights = compute([list(self.y), self.weights])
        return np.concatenate(y).astype(np.float64), (
            None if weights is None else np.concatenate(weights).astype(np.float64)
        )

    def all_moments(self) -> Moments:
        """Comoments of all pairs of columns."""
        tasks = [
            _node(kernels.all_moments)(list(row), y, weights, start, self.precision)
            for row, y, weights, start in self._rows(self.blocks)
        ]
        checked = compute(add_in_tree(tasks))
        self._raise_if_invalid([checked])
        moments: Moments = checked.moments
        return moments

    def column_moments(self) -> list[kernels.ColumnMoments]:
        """Moments of single columns, by column chunks."""
        trees = [
            add_in_tree(
                [
                    _node(kernels.column_moments)(row[j], y, weights, start, left)
                    for row, y, weights, start in self._rows(self.blocks)
                ]
            )
            for j, left in enumerate(self._bounds[:-1])
        ]
        parts = compute(trees)
        self._raise_if_invalid(parts)
        return [part.moments for part in parts]

    def products(
        self,
        left: IndexArray,
        right: IndexArray,
        mean: FloatArray,
        scale: FloatArray,
        *,
        factors: FloatArray | None = None,
    ) -> FloatArray:
        """Sums of products of standardised features with others, in ascending order.

        With factors those of their sum, each feature multiplied by its factor.
        """
        others = self._columns(right, mean, scale)
        summed = factors is not None
        own = self._columns(left, mean, scale if factors is None else scale / factors)
        if len(self.widths) == 1:
            beside = [own[0][1]] * len(self.blocks)  # each chunk takes them itself
        else:
            join = add_in_tree if summed else _node(kernels.side_by_side)
            beside = [join(some) for some in self._pieces(kernels.standardized, own, summed)]
        # First along the rows of chunks: then what stands beside them is not needed for long.
        tasks = [
            _node(kernels.side_by_side)(
                [_node(kernels.products)(some, summed, row[j], spec, weights) for j, spec in others]
            )
            for some, (row, _, weights, _) in zip(beside, self._rows(self.blocks), strict=True)
        ]
        return np.asarray(compute(add_in_tree(tasks)))

    def products_within(
        self, groups: Sequence[IndexArray], mean: FloatArray, scale: FloatArray
    ) -> list[FloatArray]:
        """Sums of products of the standardised features of each group with each other."""
        features, place = np.unique(np.concatenate(groups), return_inverse=True)
        ends = np.cumsum([group.size for group in groups])
        places = _node(np.split(place, ends[:-1]))
        specs = self._columns(features, mean, scale)
        if len(self.widths) == 1:
            total = self._total(kernels.products_within, self.blocks, specs[0][1], places)
        else:
            pieces = self._pieces(kernels.standardized, specs, False)
            total = self._total(kernels.products_within, pieces, None, places)
        cuts = np.cumsum([group.size**2 for group in groups])[:-1]
        return [
            part.reshape(group.size, group.size)
            for group, part in zip(groups, np.split(total, cuts), strict=True)
        ]

    def standardized(self, features: IndexArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
        """Gather the standardised columns of features in ascending order."""
        # Each row is multiplied by the root of its weight; those without weight are left out.
        specs = self._columns(features, mean, scale)
        rows = self._pieces(kernels.standardized, specs, False)
        gathered = np.vstack(compute([_node(kernels.side_by_side)(pieces) for pieces in rows]))
        if self.weights is not None:
            weights = np.concatenate(compute(self.weights))
            gathered *= np.sqrt(weights[weights > 0])[:, None]
        return gathered

    def squares_of_sums(
        self, labels: IndexArray, n_groups: int, mean: FloatArray, scale: FloatArray
    ) -> FloatArray:
        """Sum of the squares of the sum of each group's standardised features."""
        specs = [
            (j, _node((labels[part], mean[part], scale[part])))
            for j, part in enumerate(self._parts)
            if (labels[part] >= 0).any()
        ]
        if len(self.widths) == 1:
            return self._total(kernels.squares_of_sums, self.blocks, specs[0][1], n_groups)
        # Each is as wide as all groups.
        sums = [[add_in_tree(some)] for some in self._pieces(kernels.group_sums, specs, n_groups)]
        return self._total(kernels.squares_of_sums, sums, None, n_groups)

    def reduced(
        self,
        groupings: Sequence[tuple[IndexArray, int]],
        mean: FloatArray | None,
        scale: FloatArray | None,
    ) -> list[FloatArray]:
        """Reduced features of all rows, by groupings of the features."""
        specs = []
        for part in self._parts:
            standard = (None, None) if mean is None or scale is None else (mean[part], scale[part])
            specs.append(_node([((labels[part], *standard), size) for labels, size in groupings]))
        sizes = np.concatenate([np.bincount(labels[labels >= 0]) for labels, _ in groupings])
        rows = [
            add_in_tree([_node(kernels.many_sums)(*pair) for pair in zip(row, specs, strict=True)])
            for row in self.blocks
        ]
        reduced = np.vstack(compute(rows))
        reduced /= sizes
        return np.split(reduced, np.cumsum([size for _, size in groupings])[:-1], axis=1)

    def _total(
        self, kernel: Callable[..., Any], rows: Iterable[Any], spec: Any, option: Any
    ) -> FloatArray:
        """Add up what a kernel makes of whole rows."""
        # From a single column chunk it takes what it needs itself, some rows at a time; for several
        # it is given what each of them contributes, and no specification.
        tasks = [
            _node(kernel)(list(pieces), spec, option, weights)
            for pieces, (_, _, weights, _) in zip(rows, self._rows(self.blocks), strict=True)
        ]
        return np.asarray(compute(add_in_tree(tasks)))

    def _pieces(
        self, kernel: Callable[..., Any], specs: list[tuple[int, Any]], option: Any
    ) -> list[list[Any]]:
        """For each row of chunks, what those of some columns contribute."""
        return [
            [_node(kernel)(row[j], spec, option, weights=weights) for j, spec in specs]
            for row, _, weights, _ in self._rows(self.again)
        ]

    def _columns(
        self, features: IndexArray, mean: FloatArray, scale: FloatArray
    ) -> list[tuple[int, Any]]:
        """Where features in ascending order are: column chunks, and columns in them."""
        cuts = np.searchsorted(features, self._bounds)
        return [
            (j, _node((own - self._bounds[j], mean[own], scale[own])))
            for j, own in enumerate(features[a:b] for a, b in pairwise(cuts.tolist()))
            if own.size
        ]

    @property
    def _bounds(self) -> list[int]:
        return list(accumulate(self.widths, initial=0))

    @property
    def _parts(self) -> list[slice]:
        return [slice(a, b) for a, b in pairwise(self._bounds)]

    def _rows(self, blocks: npt.NDArray[np.object_]) -> Iterator[tuple[Any, Any, Any, int]]:
        """Rows of chunks with their target, their weights and their first row."""
        weights = repeat(None) if self.weights is None else self.weights
        return zip(blocks, self.y, weights, accumulate(self.lengths, initial=0), strict=False)

    def _raise_if_invalid(self, parts: Sequence[kernels.Checked]) -> None:
        fault = kernels.first_fault([part.fault for part in parts])
        if fault is not None:
            raise self.bad_value(fault.what, fault.value, fault.row, fault.column)


def _node(value: Any) -> Any:
    """Put a function or value into the graph, once however many tasks need it."""
    from dask import delayed

    return delayed(value, pure=False, traverse=False)


def add_in_tree(tasks: list[Any]) -> Any:
    """Add up what tasks return, few at a time, so that few have to be in memory."""
    while len(tasks) > 1:
        tasks = [
            _node(kernels.merged)(tasks[i : i + _FAN_IN]) for i in range(0, len(tasks), _FAN_IN)
        ]
    return tasks[0]


def chunk_statistics(chunks: Chunks, *, often: bool, neighbours: bool = False) -> Statistics:
    """Read all chunks once: for all comoments, or for what concerns single columns."""
    # All correlations are computed at once, as long as they fit, for a caller who asks for them
    # ``often``; and for those of ``neighbours``, if columns would take more memory.
    if not chunks.in_one_pass:
        statistics = ChunkStatistics.of(chunks)
        asked = sum(chunks.lengths) >= chunks.n_features if neighbours else often
        keep = asked and chunks.n_features <= most_features()
        return CachedStatistics.of(statistics) if keep else statistics
    moments = chunks.all_moments()
    check_total_weight(moments.n_samples)
    check_range(moments.low, moments.high, moments.precision, chunks.columns)
    if not moments.varying[-1]:
        refuse_constant_target(moments.mean[-1])
    return MomentStatistics.from_moments(moments)


@dataclass(frozen=True)
class _Known:
    """Correlations of some features with others, both in ascending order."""

    features: IndexArray
    others: IndexArray
    rho: FloatArray

    def contains(self, features: IndexArray, others: IndexArray) -> bool:
        """Whether the correlations of these are among them."""
        return bool(np.isin(features, self.features).all() and np.isin(others, self.others).all())

    def take(self, features: IndexArray, others: IndexArray) -> FloatArray:
        """Correlations of these."""
        rows = np.searchsorted(self.features, features)
        return self.rho[np.ix_(rows, np.searchsorted(self.others, others))]


@dataclass(frozen=True)
class ChunkStatistics(Statistics):
    """Statistics of more features than fit into one process with all their comoments.

    Correlations take a pass over all chunks, which returns at most ``LARGEST_BATCH`` of them.
    Differences of two features that explain less than 1e-13 of a variance count as none.
    """

    _chunks: Chunks
    _known: list[_Known] = field(default_factory=list)  # at most one, of the last prefetch

    @classmethod
    def of(cls, chunks: Chunks) -> "ChunkStatistics":
        """Read all chunks once, for what concerns single columns."""
        parts = chunks.column_moments()
        mean, square, product, low, high = (
            np.concatenate([*(getattr(p, name)[:-1] for p in parts), getattr(parts[0], name)[-1:]])
            for name in ("mean", "square", "product", "low", "high")
        )
        precision = np.full(mean.size, chunks.precision)
        precision[-1] = np.finfo(np.float64).eps
        n = parts[0].n_samples
        check_total_weight(n)
        check_range(low, high, precision, chunks.columns)
        varying = ~is_constant(np.maximum(high - mean, mean - low), mean, precision)
        if not varying[-1]:
            refuse_constant_target(mean[-1])
        features = Features.from_sums(n, mean, square, product, varying, precision)
        return cls(**features.moments(), costs=_costs(chunks), _chunks=chunks)

    @property
    def n_rows(self) -> int:
        if self._chunks.weights is None:
            return sum(self._chunks.lengths)
        weights = self._chunks.outcomes()[1]
        return int(np.count_nonzero(np.asarray(weights)))

    def columns(self, features: IndexArray) -> FloatArray:
        """Standardised columns, one a row, gathered as far as they fit."""
        needed = 8 * sum(self._chunks.lengths) * features.size
        if needed > LARGEST_SQUARE:
            raise ValueError(
                "With a connectivity, the columns of a dask collection are gathered, here "
                f"{needed / 2**30:.1f} GiB as float64; the limit is "
                f"{LARGEST_SQUARE / 2**30:.0f} GiB. An array in memory or memory-mapped "
                "(numpy.memmap) has no such limit."
            )
        columns = self._chunks.standardized(features, self.mean, self.scale)
        columns /= np.sqrt(self.n_samples - 1)
        return columns.T

    def prefetch(self, features: IndexArray, others: IndexArray) -> None:
        """Compute the correlations by one pass, if they fit."""
        self._known.clear()
        if features.size <= self._chunks.batch(features.size + others.size):
            features = np.sort(features)
            everything = np.union1d(features, others)
            self._known.append(_Known(features, everything, self._pass(features, everything)))

    def square(self, features: IndexArray) -> FloatArray:
        if 8 * features.size**2 > LARGEST_SQUARE:
            raise ValueError(
                f"The correlations of {features.size} features with each other take "
                f"{8 * features.size**2 / 2**30:.1f} GiB in one process; the limit is "
                f"{most_features()} features."
            )
        for known in self._known:
            if known.contains(features, features):
                return known.take(features, features)
        result = np.zeros((features.size, features.size))
        top = 0
        while top < features.size:
            rest = features[top:]
            strip = rest[: self._chunks.batch(rest.size)]
            result[top : top + strip.size, top:] = self._correlations(strip, rest)
            top += strip.size
        return result

    def squares(self, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
        batch: list[IndexArray] = []
        width = values = 0
        widest = self._chunks.batch(1)
        for group in groups:
            if batch and (width + group.size > widest or values + group.size**2 > LARGEST_BATCH):
                yield from self._within(batch)
                batch, width, values = [], 0, 0
            batch.append(group)
            width += group.size
            values += group.size**2
        if batch:
            yield from self._within(batch)

    def rows(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        comparisons = list(comparisons)
        if not comparisons:
            return
        wanted = np.unique(np.concatenate([candidates for _, candidates in comparisons]))
        known = next((known for known in self._known if known.contains(seeds, wanted)), None)
        if known is None:
            features = np.sort(seeds)
            known = _Known(features, wanted, self._pass(features, wanted))
        for active, candidates in comparisons:
            yield known.take(seeds[active], candidates)

    def sums(self) -> RowSums:
        """Sums of correlations with the members of a group; adding some takes one pass."""
        varying = np.flatnonzero(self.varying)

        def summed(members: IndexArray, factors: FloatArray) -> FloatArray:
            result, every = np.zeros(self.mean.size), np.ones(self.mean.size)
            every[members] = factors
            result[varying] = self._chunks.products(
                np.sort(members), varying, self.mean, self.scale, factors=every
            )[0] / (self.n_samples - 1)
            return result

        return RowSums(self, summed)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        step = self._chunks.batch(1)
        parts = []
        for first in range(0, n_groups, step):
            width = min(step, n_groups - first)
            own = np.where((labels >= first) & (labels < first + width), labels - first, -1)
            scale = self.scale / factors
            parts.append(self._chunks.squares_of_sums(own, width, self.mean, scale))
        return np.concatenate(parts) / (self.n_samples - 1)

    def _correlations(self, features: IndexArray, others: IndexArray) -> FloatArray:
        """Correlations in any order, by one pass."""
        ordered = np.sort(features), np.sort(others)
        return _Known(*ordered, self._pass(*ordered)).take(features, others)

    def _pass(self, features: IndexArray, others: IndexArray) -> FloatArray:
        products = self._chunks.products(features, others, self.mean, self.scale)
        products /= self.n_samples - 1
        return products

    def _within(self, groups: list[IndexArray]) -> Iterator[FloatArray]:
        for matrix in self._chunks.products_within(groups, self.mean, self.scale):
            matrix /= self.n_samples - 1
            np.fill_diagonal(matrix, 1.0)
            yield matrix


def _costs(chunks: Chunks) -> Costs:
    """What correlations of chunks cost: each pass reads them all, whatever it computes."""
    n_features = chunks.n_features
    widest = min(isqrt(LARGEST_BATCH), chunks.batch(isqrt(LARGEST_BATCH)))

    def block_size(remaining: int, seed_share: float) -> int:
        """How many features to decide together."""
        # A pass reads all D columns. The square of a block of P features takes 2P²/D operations for
        # each value read, some hundred of which cost no more than the reading; the rows of its
        # seeds are a second pass. But where most of the last features were seeds, most of the
        # remaining pairs will have to be compared anyway: then as many features as have a batch of
        # correlations with all that remain are decided by one pass.
        if seed_share > _MOSTLY_SEEDS:
            return min(remaining, chunks.batch(remaining))
        size = max(_SMALLEST_BLOCK, isqrt(_OPERATIONS * n_features // 2))
        return min(remaining, size, widest)

    # What comes back from a pass is in any order; reading some columns reads every chunk.
    seeds = chunks.batch(n_features)
    return Costs(block_size, seeds, scattered=0.0, candidates=widest, columns=n_features)
