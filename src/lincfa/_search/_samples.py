"""Folds of samples to learn from and to score, in memory or in chunks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from .._data._checks import check_weights
from .._data._training import Training
from .._statistics import ArrayStatistics, CachedStatistics, IndexArray, Statistics, statistics_of
from .._statistics._means import group_means
from ..theory._arrays import FloatArray

if TYPE_CHECKING:
    from .._data._dask import ChunkedTraining
    from .._statistics._dask._chunks import Chunks

Grouping: TypeAlias = tuple[IndexArray, int]
"""Label of each feature, and number of groups."""

_MOST_CACHED = 4096
"""Features up to which all correlations of a fold are computed once and kept: 128 MiB."""

_LARGEST_REDUCED = 2**26
"""Values of reduced features that come back from one pass over chunks, at most: 512 MiB."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Target and weights of samples, in memory."""

    y: FloatArray
    weights: FloatArray | None

    @property
    def n_samples(self) -> float:
        """Number of samples; with weights, their sum."""
        return len(self.y) if self.weights is None else float(self.weights.sum())

    def counted(self, rows: IndexArray) -> IndexArray:
        """Leave out rows that have no weight."""
        return rows if self.weights is None else rows[self.weights[rows] > 0]

    def take(self, rows: IndexArray) -> "Outcomes":
        """Take some of the rows."""
        return Outcomes(self.y[rows], None if self.weights is None else self.weights[rows])


class Fold(Protocol):
    """Samples to learn from and samples to score."""

    @property
    def train(self) -> Outcomes:
        """Outcomes of the samples to learn from."""

    @property
    def test(self) -> Outcomes:
        """Outcomes of the samples to score."""

    def statistics(self) -> Statistics:
        """Return statistics of the samples to learn from, for many groupings."""

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield the reduced features of both parts for each grouping."""


@dataclass(frozen=True, eq=False)
class ArraySamples:
    """Samples in memory."""

    training: Training

    @property
    def outcomes(self) -> Outcomes:
        """Target and weights."""
        return Outcomes(self.training.y, self.training.weights)

    def fold(self, train: IndexArray, test: IndexArray) -> "ArrayFold":
        """Take rows to learn from and rows to score."""
        return ArrayFold(*(ArraySamples(self.training.take(rows)) for rows in (train, test)))


@dataclass(frozen=True, eq=False)
class ArrayFold:
    """A fold in memory."""

    _train: ArraySamples
    _test: ArraySamples

    @property
    def train(self) -> Outcomes:
        """Outcomes of the samples to learn from."""
        return self._train.outcomes

    @property
    def test(self) -> Outcomes:
        """Outcomes of the samples to score."""
        return self._test.outcomes

    def statistics(self) -> Statistics:
        """Return statistics of the samples to learn from; few features keep all correlations."""
        statistics = ArrayStatistics.of(self._train.training)
        few = statistics.varying.size <= _MOST_CACHED
        return CachedStatistics.of(statistics) if few else statistics

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield the reduced features of both parts for each grouping."""
        for labels, size in groupings:
            train, test = (
                group_means(part.training.values, labels, size, mean=mean, scale=scale)
                for part in (self._train, self._test)
            )
            yield train, test


@dataclass(frozen=True, eq=False)
class ChunkedSamples:
    """Samples in chunks, of which target and weights are in memory."""

    chunks: "Chunks"
    outcomes: Outcomes

    def fold(self, train: IndexArray, test: IndexArray) -> "ChunkFold":
        """Take rows to learn from and rows to score."""
        return ChunkFold(self, self.outcomes.counted(train), self.outcomes.counted(test))


@dataclass(frozen=True, eq=False)
class ChunkFold:
    """A fold in chunks: rows that are not learned from have no weight."""

    samples: ChunkedSamples
    train_rows: IndexArray
    test_rows: IndexArray

    @property
    def train(self) -> Outcomes:
        """Outcomes of the samples to learn from."""
        return self.samples.outcomes.take(self.train_rows)

    @property
    def test(self) -> Outcomes:
        """Outcomes of the samples to score."""
        return self.samples.outcomes.take(self.test_rows)

    def statistics(self) -> Statistics:
        """Return statistics of the samples to learn from; all correlations are kept if they fit."""
        train = self.train
        weights = np.zeros(len(self.samples.outcomes.y))
        # A row may be drawn several times.
        np.add.at(weights, self.train_rows, 1.0 if train.weights is None else train.weights)
        return statistics_of(self.samples.chunks.weighted(weights), often=True)

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
        """Yield the reduced features of both parts, of as many groupings per pass as fit."""
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
            yield reduced[self.train_rows], reduced[self.test_rows]


def samples_of(training: "Training | ChunkedTraining") -> ArraySamples | ChunkedSamples:
    """Check that all values are finite, and prepare the samples for folds."""
    if isinstance(training, Training):
        training.check_finite()
        return ArraySamples(training)
    from .._statistics._dask._chunks import Chunks

    chunks = Chunks.of(training)
    chunks.weighted(None).column_moments()  # checks also rows without weight, as in memory
    y, weights = chunks.outcomes()
    return ChunkedSamples(chunks, Outcomes(y, check_weights(weights, len(y))))
