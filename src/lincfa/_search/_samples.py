"""Samples to learn from and to score, in memory or in chunks of dask; cut into folds by rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .._statistics import ArrayStatistics, CachedStatistics, IndexArray, Statistics
from .._statistics._dask._chunks import Chunks, statistics_of
from .._statistics._means import group_means
from ..theory._arrays import FloatArray

Grouping: TypeAlias = tuple[IndexArray, int]
"""Label of each feature, and number of groups."""

_MOST_CACHED = 4096
"""Features up to which all correlations of a fold are computed once and kept: 128 MiB."""

_LARGEST_REDUCED = 2**26
"""Values of reduced features that come back from one pass over chunks, at most: 512 MiB."""


@dataclass(frozen=True)
class Outcomes:
    """The target of samples, and their weights if they have any."""

    y: FloatArray
    weights: FloatArray | None

    def counted(self, rows: IndexArray) -> IndexArray:
        """Leave out rows that have no weight."""
        return rows if self.weights is None else rows[self.weights[rows] > 0]

    def take(self, rows: IndexArray) -> "Outcomes":
        """Take some of the samples."""
        return Outcomes(self.y[rows], None if self.weights is None else self.weights[rows])

    @property
    def count(self) -> float:
        """Number of samples; with weights, their sum."""
        return len(self.y) if self.weights is None else float(self.weights.sum())


class Fold(Protocol):
    """Samples to learn from and samples to score."""

    @property
    def train(self) -> Outcomes:
        """What is learned from."""

    @property
    def test(self) -> Outcomes:
        """What is scored."""

    def statistics(self) -> Statistics:
        """Of the samples to learn from, for many groupings."""

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Reduced features of the samples to learn from and of those to score, by groupings."""


class Samples(Protocol):
    """Samples that can be cut into folds."""

    @property
    def outcomes(self) -> Outcomes:
        """Target and weights."""

    def fold(self, train: IndexArray, test: IndexArray) -> Fold:
        """Take rows to learn from and rows to score."""


@dataclass(frozen=True)
class ArraySamples:
    """Samples in memory."""

    X: npt.NDArray[Any]
    outcomes: Outcomes

    def fold(self, train: IndexArray, test: IndexArray) -> "ArrayFold":
        """Take rows to learn from and rows to score."""
        return ArrayFold(*(self._take(rows) for rows in (train, test)))

    def _take(self, rows: IndexArray) -> "ArraySamples":
        rows = self.outcomes.counted(rows)
        return ArraySamples(self.X[rows], self.outcomes.take(rows))


@dataclass(frozen=True)
class ArrayFold:
    """A fold of samples in memory."""

    _train: ArraySamples
    _test: ArraySamples

    @property
    def train(self) -> Outcomes:
        """What is learned from."""
        return self._train.outcomes

    @property
    def test(self) -> Outcomes:
        """What is scored."""
        return self._test.outcomes

    def statistics(self) -> Statistics:
        """Of the samples to learn from; few features have all their correlations kept."""
        statistics = ArrayStatistics.from_data(
            self._train.X, self.train.y, weights=self.train.weights
        )
        few = statistics.varying.size <= _MOST_CACHED
        return CachedStatistics.of(statistics) if few else statistics

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Reduced features of the samples to learn from and of those to score."""
        for labels, size in groupings:
            train, test = (
                group_means(part.X, labels, size, mean=mean, scale=scale)
                for part in (self._train, self._test)
            )
            yield train, test


@dataclass(frozen=True)
class ChunkSamples:
    """Samples in chunks; target and weights are in memory."""

    chunks: Chunks
    outcomes: Outcomes

    def fold(self, train: IndexArray, test: IndexArray) -> "ChunkFold":
        """Take rows to learn from and rows to score."""
        counted = self.outcomes.counted
        return ChunkFold(self, counted(train), counted(test))


@dataclass(frozen=True)
class ChunkFold:
    """A fold of samples in chunks: rows that are not learned from are given no weight."""

    samples: ChunkSamples
    _train: IndexArray
    _test: IndexArray

    @property
    def train(self) -> Outcomes:
        """What is learned from."""
        return self.samples.outcomes.take(self._train)

    @property
    def test(self) -> Outcomes:
        """What is scored."""
        return self.samples.outcomes.take(self._test)

    def statistics(self) -> Statistics:
        """Of the samples to learn from, by few passes; all correlations are kept if they fit."""
        train = self.train
        weights = np.zeros(len(self.samples.outcomes.y))
        # A row may be drawn several times.
        np.add.at(weights, self._train, 1.0 if train.weights is None else train.weights)
        return statistics_of(self.samples.chunks.weighted(weights), often=True)

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Reduced features of both, of as many groupings from one pass as have room."""
        room = _LARGEST_REDUCED // len(self.samples.outcomes.y)
        batch: list[Grouping] = []
        for grouping in groupings:
            if batch and sum(size for _, size in batch) + grouping[1] > room:
                yield from self._reduced(batch, mean, scale)
                batch = []
            batch.append(grouping)
        if batch:
            yield from self._reduced(batch, mean, scale)

    def _reduced(
        self, batch: list[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        for reduced in self.samples.chunks.reduced(batch, mean, scale):
            yield reduced[self._train], reduced[self._test]
