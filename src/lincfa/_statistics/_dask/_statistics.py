"""Statistics of chunks that are somewhere else: correlations in batches, each by one pass."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isqrt

import numpy as np

from ..._data._checks import check_total_weight
from ...theory._arrays import FloatArray
from .. import (
    LARGEST_SQUARE,
    CachedStatistics,
    Features,
    IndexArray,
    MomentStatistics,
    PairCorrelations,
    Statistics,
    Task,
    check_range,
    features_from_sums,
    most_features,
    refuse_constant_target,
    resolve_pairs,
    varying_columns,
)
from ._chunks import LARGEST_BATCH, Chunks

_SMALLEST_HEAD = 1024
_OPERATIONS = 200
"""Operations on a value that has been read that cost about as much as reading it."""

_MOSTLY_SEEDS = 0.5


def chunk_statistics(chunks: Chunks, *, often: bool, neighbours: bool = False) -> Statistics:
    """Look at all chunks once: for all comoments, or for what concerns single columns.

    Who will ask for correlations often gets all of them computed at once, as long as they fit; who
    will ask for those of ``neighbours``, where the columns would take more room.

    Raises
    ------
    ValueError
        Where values are refused: not finite, too large, or a constant target.
    """
    if not chunks.in_one_pass:
        statistics = ChunkStatistics.of(chunks)
        asked = sum(chunks.lengths) >= chunks.n_features if neighbours else often
        keep = asked and chunks.n_features <= most_features()
        return CachedStatistics.of(statistics) if keep else statistics
    moments = chunks.all_moments().moments
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

    def hold(self, features: IndexArray, others: IndexArray) -> bool:
        """Whether the correlations of these are among them."""
        return bool(np.isin(features, self.features).all() and np.isin(others, self.others).all())

    def take(self, features: IndexArray, others: IndexArray) -> FloatArray:
        """Correlations of these."""
        rows = np.searchsorted(self.features, features)
        return self.rho[np.ix_(rows, np.searchsorted(self.others, others))]


@dataclass(frozen=True)
class ChunkStatistics(Features):
    """Statistics of more features than all of whose comoments would fit into one process.

    Asked for correlations, it looks at all chunks: at most ``LARGEST_BATCH`` of them come back from
    a pass. Differences of two features that explain less than 1e-13 of a variance count as none.
    """

    n_samples: float
    _chunks: Chunks
    _known: list[_Known] = field(default_factory=list)  # at most one, what was looked ahead for

    scatter_cost = 0.0  # of what comes back from a pass, in any order

    @property
    def columns_together(self) -> int:
        """All of them: each look at some reads every chunk."""
        return self.mean.size

    @property
    def n_rows(self) -> int:
        """Number of rows that count."""
        if self._chunks.weights is None:
            return sum(self._chunks.lengths)
        weights = self._chunks.outcomes()[1]
        return int(np.count_nonzero(np.asarray(weights)))

    def columns(self, features: IndexArray) -> FloatArray:
        """Standardised columns, one a row, gathered as far as they fit."""
        needed = 8 * sum(self._chunks.lengths) * features.size
        if needed > LARGEST_SQUARE:
            raise ValueError(
                "With a connectivity, the columns of a collection of dask are gathered, here "
                f"{needed / 2**30:.1f} GiB as float64; the limit is "
                f"{LARGEST_SQUARE / 2**30:.0f} GiB. An array in memory, or mapped to it "
                "(numpy.memmap), has no such limit."
            )
        columns = self._chunks.standardized(features, self.mean, self.scale)
        columns /= np.sqrt(self.n_samples - 1)
        return columns.T

    @classmethod
    def of(cls, chunks: Chunks) -> "ChunkStatistics":
        """Look at all chunks once, for what concerns single columns."""
        parts = chunks.column_moments()
        mean, square, product, low, high = (
            np.concatenate([*(getattr(p, name)[:-1] for p in parts), getattr(parts[0], name)[-1:]])
            for name in ("mean", "square", "product", "low", "high")
        )
        precision = np.full(mean.size, chunks.precision)
        precision[-1] = np.finfo(np.float64).eps
        n = parts[0].count
        check_total_weight(n)
        check_range(low, high, precision, chunks.columns)
        varying = varying_columns(mean, low, high, precision)
        if not varying[-1]:
            refuse_constant_target(mean[-1])
        features = features_from_sums(n, mean, square, product, varying, precision)
        return cls(**vars(features), n_samples=n, _chunks=chunks)

    @property
    def seed_limit(self) -> int:
        """As many seeds as have a batch of correlations with all features."""
        return self._chunks.batch(self.mean.size)

    @property
    def block_size(self) -> int:
        """As many candidates as have a batch of correlations with each other."""
        return min(isqrt(LARGEST_BATCH), self._chunks.batch(isqrt(LARGEST_BATCH)))

    def head_size(self, remaining: int, seed_share: float) -> int:
        """How many features to decide together.

        A pass reads all D columns whatever it computes. The square of a head of P features takes
        2P²/D operations for each value read, some hundred of which cost no more than the reading;
        the rows of its seeds are a second pass. But where most of the last features were seeds,
        most of the remaining pairs will have to be compared anyway: then as many features as have
        a batch of correlations with all that remain are decided by one pass.
        """
        if seed_share > _MOSTLY_SEEDS:
            size = self._chunks.batch(remaining)
        else:
            size = max(_SMALLEST_HEAD, isqrt(_OPERATIONS * self.mean.size // 2))
            size = min(size, self.block_size)
        return min(remaining, size)

    def look_ahead(self, features: IndexArray, others: IndexArray, seed_share: float) -> None:
        """Compute at once what is asked for next, if most of it will be."""
        self._known.clear()
        fitting = features.size <= self._chunks.batch(features.size + others.size)
        if seed_share > _MOSTLY_SEEDS and fitting:
            features = np.sort(features)
            everything = np.union1d(features, others)
            self._known.append(_Known(features, everything, self._pass(features, everything)))

    def square(self, features: IndexArray) -> FloatArray:
        """Correlations of the features with each other; only above the diagonal."""
        if 8 * features.size**2 > LARGEST_SQUARE:
            raise ValueError(
                f"The correlations of {features.size} features with each other take "
                f"{8 * features.size**2 / 2**30:.1f} GiB in one process; the limit is "
                f"{most_features()} features."
            )
        for known in self._known:
            if known.hold(features, features):
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
        """Correlations within each of many small groups, as full matrices."""
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

    def rows(self, seeds: IndexArray, tasks: Iterable[Task]) -> Iterator[FloatArray]:
        """Correlations of seeds with candidates: one array (seeds, candidates) per task."""
        tasks = list(tasks)
        if not tasks:  # no candidate is in reach of any seed
            return
        wanted = np.unique(np.concatenate([candidates for _, candidates in tasks]))
        known = next((known for known in self._known if known.hold(seeds, wanted)), None)
        if known is None:
            features = np.sort(seeds)
            known = _Known(features, wanted, self._pass(features, wanted))
        for active, candidates in tasks:
            yield known.take(seeds[active], candidates)

    def sums(self) -> "_Sums":
        """Sums of correlations with the members of a group; each time some join is a pass."""
        return _Sums(self)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        """Variance of the sum of each group's standardised features, multiplied by factors."""
        step = self._chunks.batch(1)
        parts = []
        for first in range(0, n_groups, step):
            width = min(step, n_groups - first)
            own = np.where((labels >= first) & (labels < first + width), labels - first, -1)
            scale = self.scale / factors
            parts.append(self._chunks.squares_of_sums(own, width, self.mean, scale))
        return np.concatenate(parts) / (self.n_samples - 1)

    def pairs(self, first: IndexArray, second: IndexArray, rho: FloatArray) -> PairCorrelations:
        """Complete correlations of pairs, to the resolution of sums."""
        return resolve_pairs(self.target_correlation, self.rounding, first, second, rho)

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


class _Sums:
    """Sums of the correlations of all features with the members of a group that grows."""

    def __init__(self, statistics: ChunkStatistics) -> None:
        self._statistics = statistics
        self._features = np.flatnonzero(statistics.varying)
        self._total = np.zeros(statistics.varying.size)

    def add(self, features: IndexArray) -> None:
        """Put features into the group: one pass, however many."""
        known = self._statistics
        products = known._chunks.products(
            np.sort(features), self._features, known.mean, known.scale, summed=True
        )
        self._total[self._features] += products[0] / (known.n_samples - 1)

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""
        return self._total[candidates]
