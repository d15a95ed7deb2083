"""Folds of samples to learn from and to score, in memory or in chunks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

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

Reduced: TypeAlias = Iterator[tuple[npt.NDArray[Any], npt.NDArray[Any]]]
"""Reduced features of the samples to learn from and of those to score, for each grouping."""

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
        return len(self.y) if self.weights is None else float(self.weights.sum())

    def take(self, rows: IndexArray) -> "Outcomes":
        return Outcomes(self.y[rows], None if self.weights is None else self.weights[rows])


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples to be divided into folds, given as rows that all have weight."""

    outcomes: Outcomes
    data: "Training | Chunks"

    def fold(self, train: IndexArray, test: IndexArray) -> "ArrayFold | ChunkFold":
        """Take rows to learn from and rows to score, without those that have no weight."""
        weights = self.outcomes.weights
        if weights is not None:
            train, test = (rows[weights[rows] > 0] for rows in (train, test))
        if isinstance(self.data, Training):
            return ArrayFold(self.data.take(train), self.data.take(test))
        outcomes = self.outcomes.take(train), self.outcomes.take(test)
        return ChunkFold(*outcomes, self.data, train, test)


@dataclass(frozen=True, eq=False)
class ArrayFold:
    """Samples to learn from and samples to score, in memory."""

    train: Training
    test: Training

    def statistics(self) -> Statistics:
        """Return statistics of the samples to learn from; few features keep all correlations."""
        statistics = ArrayStatistics.of(self.train)
        few = statistics.varying.size <= _MOST_CACHED
        return CachedStatistics.of(statistics) if few else statistics

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Reduced:
        for labels, size in groupings:
            train, test = (
                group_means(part.values, labels, size, mean=mean, scale=scale)
                for part in (self.train, self.test)
            )
            yield train, test


@dataclass(frozen=True, eq=False)
class ChunkFold:
    """Samples to learn from and samples to score, as rows of chunks."""

    train: Outcomes
    test: Outcomes
    chunks: "Chunks"
    train_rows: IndexArray
    test_rows: IndexArray

    @property
    def _n_rows(self) -> int:
        return sum(self.chunks.lengths)

    def statistics(self) -> Statistics:
        """Return statistics of the samples to learn from, by giving the others no weight."""
        weights = np.zeros(self._n_rows)
        # A row may be drawn several times.
        counts = 1.0 if self.train.weights is None else self.train.weights
        np.add.at(weights, self.train_rows, counts)
        return statistics_of(self.chunks.weighted(weights), often=True)

    def reduced(
        self, groupings: Iterable[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Reduced:
        """Average the groups of each grouping, of as many per pass as fit."""
        room = _LARGEST_REDUCED // self._n_rows
        batch: list[Grouping] = []
        for grouping in groupings:
            if batch and sum(size for _, size in batch) + grouping[1] > room:
                yield from self._reduce(batch, mean, scale)
                batch = []
            batch.append(grouping)
        if batch:
            yield from self._reduce(batch, mean, scale)

    def _reduce(
        self, batch: list[Grouping], mean: FloatArray | None, scale: FloatArray | None
    ) -> Reduced:
        for reduced in self.chunks.reduced(batch, mean, scale):
            yield reduced[self.train_rows], reduced[self.test_rows]


def samples_of(training: "Training | ChunkedTraining") -> Samples:
    """Check that all values are finite, and prepare the samples for folds."""
    if isinstance(training, Training):
        training.check_finite()
        return Samples(Outcomes(training.y, training.weights), training)
    from .._statistics._dask._chunks import Chunks

    chunks = Chunks.of(training)
    chunks.weighted(None).column_moments()  # checks also rows without weight, as in memory
    y, weights = chunks.outcomes()
    return Samples(Outcomes(y, check_weights(weights, len(y))), chunks)
