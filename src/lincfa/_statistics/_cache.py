"""Correlations and columns that are kept, for what asks for them again and again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..theory._arrays import FloatArray
from ._gaps import GapStatistics
from ._protocol import (
    ColumnSum,
    Comparison,
    Correlations,
    GroupSums,
    IndexArray,
    PairCorrelations,
    RowSums,
    Statistics,
)

_LARGEST_SHARE = 0.25
"""Share of the kept columns that one question may replace; a larger one is answered by the source,
which is faster for many columns at once."""

_KEPT_SHARE, _FEWEST_VALUES = 0.1, 2**22
"""Memory for columns: a tenth of the array, and at least this many values."""


def cached(source: Statistics) -> Statistics:
    """Compute all correlations once, to serve many groupings of the same data."""
    every = np.arange(source.varying.size)
    costs = replace(source.costs, scattered=0.0, candidates=128, columns=0)
    own = source.moments() | {"costs": costs, "_source": source}
    if not source.complete:
        return CachedGapStatistics(**own, _known=source.within(every))
    with np.errstate(invalid="ignore", divide="ignore"):  # those of constant features
        return CachedStatistics(**own, _matrix=source.matrix(every))


@dataclass(frozen=True)
class _Cached(Statistics):
    _source: Statistics

    def pairs(self, first: IndexArray, second: IndexArray, known: Correlations) -> PairCorrelations:
        return self._source.pairs(first, second, known)


@dataclass(frozen=True)
class CachedStatistics(_Cached):
    """Statistics with the correlations of all pairs, which mean nothing for constant features."""

    _matrix: FloatArray

    def along_edges(self, first: IndexArray, second: IndexArray) -> Correlations:
        return self.with_target(self._matrix[first, second], first, second)

    def square(self, features: IndexArray) -> FloatArray:
        return self._matrix[np.ix_(features, features)]

    def squares(self, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
        return map(self.square, groups)

    def rows(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        for active, candidates in comparisons:
            yield self._matrix[np.ix_(seeds[active], candidates)]

    def sums(self) -> RowSums:
        return RowSums(self, lambda members, factors: factors @ self._matrix[members])


@dataclass(frozen=True)
class CachedGapStatistics(_Cached, GapStatistics):
    """The same where values are missing."""

    _known: Correlations

    def known(self, first: IndexArray, second: IndexArray) -> Correlations:
        return self._known.at(*np.ix_(first, second))

    def along_edges(self, first: IndexArray, second: IndexArray) -> Correlations:
        return self._known.at(first, second)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        return self._source.group_variances(labels, n_groups, factors)


class NearbyCorrelations:
    """Correlations of few features at a time, from the columns used last."""

    def __init__(self, source: Statistics) -> None:
        # A group that grows through neighbours is compared with a handful of features at a time.
        # From the array each of them would cost a read of a cache line per sample. So columns are
        # read in blocks of neighbours, standardised, and kept until others need the space. Where
        # all correlations are at hand, the source is asked.
        self._source = source
        size, self._n_rows = source.varying.size, source.n_rows
        self._width = min(source.costs.columns, size)
        self._all: FloatArray | None = None
        if not self._width:
            return
        n_blocks = -(-size // self._width)
        space = max(_KEPT_SHARE * size * self._n_rows, _FEWEST_VALUES)
        slots = int(min(n_blocks, max(2, space // (self._width * self._n_rows))))
        # Where there is space for all columns, they are read at once and never looked for again.
        if slots == n_blocks:
            self._all = source.columns(np.arange(size))
            return
        self._columns = np.empty((slots * self._width, self._n_rows))
        # One block more than there are, for slots that are empty.
        self._place = np.full((n_blocks + 1) * self._width, -1, dtype=np.intp)
        self._kept = np.full(slots, n_blocks, dtype=np.intp)
        self._next = 0

    def of(self, seed: int, candidates: IndexArray) -> Correlations:
        """Correlations of a feature with candidates in ascending order."""
        if self._all is not None:
            rho = self._all[candidates] @ self._all[seed]
            return self._source.with_target(rho, seed, candidates)
        first, alone = np.array([seed]), [(slice(0, 1), candidates)]
        if not self._source.complete:
            (known,) = self._source.between(first, alone)
            return known.at(0, slice(None))
        if not self._width or self._replaces_too_much(candidates):
            ((rho,),) = self._source.rows(first, alone)
        else:
            rho = self._products(self._standardized(first)[0], candidates)
        return self._source.with_target(rho, seed, candidates)

    def sums(self) -> GroupSums:
        """Running sums for a group that is still empty."""
        if not self._width:
            return self._source.sums()
        every = self._all
        if every is not None:
            return ColumnSum(
                self._source,
                lambda some, factors: factors @ every[some],
                lambda total, some: every[some] @ total,
            )
        return ColumnSum(
            self._source,
            lambda some, factors: factors @ self._standardized(some),
            self._products,
        )

    def _replaces_too_much(self, candidates: IndexArray) -> bool:
        missing = candidates[self._place[candidates] < 0] // self._width
        return self._kept.size > 1 and np.unique(missing).size > _LARGEST_SHARE * self._kept.size

    def _standardized(self, features: IndexArray) -> FloatArray:
        result = np.empty((features.size, self._n_rows))
        for part, places in self._read(features):
            result[part] = self._columns[places]
        return result

    def _products(self, column: FloatArray, candidates: IndexArray) -> FloatArray:
        result = np.empty(candidates.size)
        for part, places in self._read(candidates):
            result[part] = column @ self._columns[places].T
        return result

    def _read(self, features: IndexArray) -> Iterator[tuple[IndexArray | slice, IndexArray]]:
        """Yield parts of the features that fit into the slots, and the places of their columns."""
        places = self._place[features]
        if (places >= 0).all():
            yield slice(None), places
            return
        blocks, own = np.unique(features // self._width, return_inverse=True)
        for start in range(0, blocks.size, self._kept.size):
            stop = start + self._kept.size
            self._fetch(blocks[start:stop])
            part = np.flatnonzero((own >= start) & (own < stop))
            yield part, self._place[features[part]]

    def _fetch(self, blocks: IndexArray) -> None:
        """Read the blocks that are missing, in place of those kept for longest."""
        missing = blocks[self._place[blocks * self._width] < 0]
        if not missing.size:
            return
        turn = np.roll(np.arange(self._kept.size), -self._next)
        slots = turn[~np.isin(self._kept[turn], blocks)][: missing.size]
        self._place[self._columns_of(self._kept[slots])] = -1
        features = self._columns_of(missing)
        self._columns[self._columns_of(slots)] = self._source.columns(
            np.minimum(features, self._source.varying.size - 1)
        )
        self._place[features] = self._columns_of(slots)
        self._kept[slots] = missing
        self._next = (int(slots[-1]) + 1) % self._kept.size

    def _columns_of(self, blocks: IndexArray) -> IndexArray:
        return (blocks[:, None] * self._width + np.arange(self._width)).ravel()
