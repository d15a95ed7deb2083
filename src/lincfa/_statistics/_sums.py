"""Correlations of candidates with the sum of a group that grows."""

from collections.abc import Callable

import numpy as np

from ..theory._arrays import FloatArray
from ._protocol import IndexArray

_ADDED = 256
"""Features added at a time, which bounds the memory for their columns or rows."""


class RowSums:
    """Sums of rows of a matrix of correlations that is in memory."""

    def __init__(self, rows: Callable[[IndexArray], FloatArray], n_features: int) -> None:
        self._rows = rows
        self._total = np.zeros(n_features)

    def add(self, features: IndexArray, factors: FloatArray | None = None) -> None:
        """Put features into the group, each multiplied by its factor if given."""
        for start in range(0, features.size, _ADDED):
            part = slice(start, start + _ADDED)
            rows = self._rows(features[part])
            self._total += rows.sum(axis=0) if factors is None else factors[part] @ rows

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""
        return self._total[candidates]


class ColumnSum:
    """The sum of the members' standardised columns, multiplied with candidates when asked."""

    def __init__(
        self,
        standardized: Callable[[IndexArray], FloatArray],
        products: Callable[[FloatArray, IndexArray], FloatArray],
        n_rows: int,
    ) -> None:
        self._standardized = standardized
        self._products = products
        self._total = np.zeros((n_rows, 1))

    def add(self, features: IndexArray, factors: FloatArray | None = None) -> None:
        """Put features into the group, each multiplied by its factor if given."""
        for start in range(0, features.size, _ADDED):
            part = slice(start, start + _ADDED)
            columns = self._standardized(features[part])
            ones = np.ones(columns.shape[1])
            self._total[:, 0] += columns @ (ones if factors is None else factors[part])

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""
        return np.asarray(self._products(self._total, candidates)[0])
