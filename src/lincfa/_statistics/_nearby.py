"""Standardised columns kept for a while, for groups that grow through neighbours."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..theory._arrays import FloatArray
from ._protocol import IndexArray, Statistics, Sums, Task

_FLUSHING = 0.25
"""Share of the room that one question may fill; a larger one is answered by the source, which is
faster for many columns at once."""

_SHARE, _LEAST = 0.1, 2**22
"""Memory for columns kept: a tenth of the array, and at least this many values."""


class NearbyStatistics:
    """Statistics that keep the columns asked for lately, to ask often for few correlations.

    A group that grows through neighbours is compared with a handful of features at a time. From the
    array each of them would cost a read of a line of the cache per sample. So the columns are read
    in blocks of neighbours, standardised, and kept until others need the room.
    """

    def __init__(self, source: Statistics) -> None:
        self._source = source
        size = source.varying.size
        self._width = min(source.columns_together, size)
        self._rows = source.n_rows
        blocks = -(-size // self._width)
        room = max(_SHARE * size * self._rows, _LEAST)
        slots = int(min(blocks, max(2, room // (self._width * self._rows))))
        self._columns = np.empty((slots * self._width, self._rows))
        # One block more than there are, for places that are free.
        self._place = np.full((blocks + 1) * self._width, -1, dtype=np.intp)
        self._held = np.full(slots, blocks, dtype=np.intp)
        self._next = 0

    def __getattr__(self, name: str) -> Any:
        """Whatever is not about correlations is the source's."""
        return getattr(self._source, name)

    def rows(self, seeds: IndexArray, tasks: Iterable[Task]) -> Iterator[FloatArray]:
        """Correlations of seeds with candidates: one array (seeds, candidates) per task."""
        for active, candidates in tasks:
            if self._would_flush(candidates):
                yield from self._source.rows(seeds, [(active, candidates)])
            else:
                yield self.products(self.unit(seeds[active]), candidates)

    def _would_flush(self, candidates: IndexArray) -> bool:
        """Whether so many columns are missing that keeping them would leave room for few others."""
        missing = candidates[self._place[candidates] < 0] // self._width
        return self._held.size > 1 and np.unique(missing).size > _FLUSHING * self._held.size

    def sums(self) -> Sums:
        """Running sum of the standardised columns of a group."""
        return _NearbySum(self)

    def unit(self, features: IndexArray) -> FloatArray:
        """Standardised columns, one a row, of length 1."""
        result = np.empty((features.size, self._rows))
        for part, places in self._read(features):
            result[part] = self._columns[places]
        return result

    def products(self, columns: FloatArray, candidates: IndexArray) -> FloatArray:
        """Products of columns, one a row, with those of candidates."""
        result = np.empty((*columns.shape[:-1], candidates.size))
        for part, places in self._read(candidates):
            result[..., part] = columns @ self._columns[places].T
        return result

    def _read(self, features: IndexArray) -> Iterator[tuple[IndexArray | slice, IndexArray]]:
        """Give parts of features for which there is room, and where their columns are."""
        places = self._place[features]
        if (places >= 0).all():
            yield slice(None), places
            return
        blocks, own = np.unique(features // self._width, return_inverse=True)
        for start in range(0, blocks.size, self._held.size):
            stop = start + self._held.size
            self._fetch(blocks[start:stop])
            part = np.flatnonzero((own >= start) & (own < stop))
            yield part, self._place[features[part]]

    def _fetch(self, blocks: IndexArray) -> None:
        """Read the blocks that are missing, in place of others that have been here for longest."""
        missing = blocks[self._place[blocks * self._width] < 0]
        if not missing.size:
            return
        turn = np.roll(np.arange(self._held.size), -self._next)
        slots = turn[~np.isin(self._held[turn], blocks)][: missing.size]
        self._place[self._columns_of(self._held[slots])] = -1
        features = self._columns_of(missing)
        self._columns[self._columns_of(slots)] = self._source.columns(
            np.minimum(features, self._source.varying.size - 1)
        )
        self._place[features] = self._columns_of(slots)
        self._held[slots] = missing
        self._next = (int(slots[-1]) + 1) % self._held.size

    def _columns_of(self, blocks: IndexArray) -> IndexArray:
        return (blocks[:, None] * self._width + np.arange(self._width)).ravel()


class _NearbySum:
    """The sum of the members' standardised columns."""

    def __init__(self, nearby: NearbyStatistics) -> None:
        self._nearby = nearby
        self._total: FloatArray | float = 0.0

    def add(self, features: IndexArray) -> None:
        """Put features into the group."""
        self._total = self._total + self._nearby.unit(features).sum(axis=0)

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""
        return self._nearby.products(np.asarray(self._total), candidates)


def nearby(statistics: Statistics) -> Statistics:
    """Make it cheap to ask often for few correlations; where all are at hand it is already."""
    return NearbyStatistics(statistics) if statistics.columns_together else statistics
