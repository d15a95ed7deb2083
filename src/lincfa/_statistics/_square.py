"""All correlations at once, for what needs them together or again and again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..theory._arrays import FloatArray
from ._pairs import PairCorrelations
from ._protocol import BLOCK, IndexArray, Statistics, Sums, Task
from ._sums import RowSums, variances_by_rows

LARGEST_SQUARE = 4 * 2**30
"""Bytes of a matrix of all pairs of features above which making one is refused."""

_STRIP = 512
_TOGETHER = 64
"""Features of small groups whose correlations are computed at once."""


def most_features() -> int:
    """Number of features whose matrix of pairs is still allowed."""
    return int((LARGEST_SQUARE / 8) ** 0.5)


def correlation_matrix(statistics: Statistics, features: IndexArray) -> FloatArray:
    """Give the full symmetric matrix of correlations of the features."""
    matrix = statistics.square(features)
    size = features.size
    for top in range(0, size, _STRIP):
        strip = slice(top, min(top + _STRIP, size))
        corner = matrix[strip, strip]
        corner[...] = np.triu(corner, 1) + np.triu(corner, 1).T
        matrix[strip.stop :, strip] = matrix[strip, strip.stop :].T
    np.fill_diagonal(matrix, 1.0)
    return matrix


def squares_together(statistics: Statistics, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
    """Give the correlations within each group, of several small groups from one look at the data.

    Those of different groups are computed in vain, which costs less than a look at each.
    """
    start = 0
    while start < len(groups):
        stop, width = start + 1, groups[start].size
        while stop < len(groups) and width + groups[stop].size <= _TOGETHER:
            width += groups[stop].size
            stop += 1
        matrix = correlation_matrix(statistics, np.concatenate(groups[start:stop]))
        left = 0
        for group in groups[start:stop]:
            part = slice(left, left + group.size)
            yield matrix[part, part]
            left = part.stop
        start = stop


@dataclass(frozen=True)
class CachedStatistics:
    """Statistics that compute all correlations once, to serve many groupings of the same data.

    What concerns single features, and the precise figures of pairs, come from the source.
    """

    _source: Statistics
    _matrix: FloatArray
    scatter_cost: float = 0.0
    block_size = BLOCK
    columns_together = 0  # all correlations are at hand

    @classmethod
    def of(cls, source: Statistics) -> "CachedStatistics":
        """Compute the correlations of all features; those of constant ones have no meaning."""
        with np.errstate(invalid="ignore", divide="ignore"):
            matrix = correlation_matrix(source, np.arange(source.varying.size))
        return cls(source, matrix)

    def __getattr__(self, name: str) -> Any:
        """Whatever is not about correlations is the source's."""
        return getattr(self._source, name)

    def look_ahead(self, features: IndexArray, others: IndexArray, seed_share: float) -> None:
        """All correlations are there already."""

    def square(self, features: IndexArray) -> FloatArray:
        """Correlations of the features with each other."""
        return self._matrix[np.ix_(features, features)]

    def squares(self, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
        """Correlations within each of many small groups."""
        for group in groups:
            yield self._matrix[np.ix_(group, group)]

    def rows(self, seeds: IndexArray, tasks: Iterable[Task]) -> Iterator[FloatArray]:
        """Correlations of seeds with candidates: one array (seeds, candidates) per task."""
        for active, candidates in tasks:
            yield self._matrix[np.ix_(seeds[active], candidates)]

    def sums(self) -> Sums:
        """Running sums of the correlations of the members of a group."""
        return RowSums(self._matrix.__getitem__, self._matrix.shape[1])

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        """Variance of the sum of each group's standardised features, multiplied by factors."""
        return variances_by_rows(self, labels, n_groups, factors)

    def pairs(self, first: IndexArray, second: IndexArray, rho: FloatArray) -> PairCorrelations:
        """Complete correlations of pairs of features."""
        return self._source.pairs(first, second, rho)
