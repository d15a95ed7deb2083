"""Correlations of candidates with the sum of a group that grows."""

from collections.abc import Callable

import numpy as np

from ..theory._arrays import FloatArray
from ._protocol import IndexArray


class RowSums:
    """Sums of rows of a matrix of correlations that is in memory."""

    def __init__(self, rows: Callable[[IndexArray], FloatArray], n_features: int) -> None:
        self._rows = rows
        self._total = np.zeros(n_features)

    def add(self, features: IndexArray) -> None:
        """Put features into the group."""
        self._total += self._rows(features).sum(axis=0)

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""
        return self._total[candidates]


class ColumnSum:
    """The sum of the members' standardised columns, multiplied with candidates when asked."""

    def __init__(
        self,
        standardized: Callable[[IndexArray], FloatArray],
        products: Callable[[FloatArray, IndexArray], FloatArray],
        n_samples: int,
    ) -> None:
        self._standardized = standardized
        self._products = products
        self._total = np.zeros((n_samples, 1))
        self._degrees = n_samples - 1

    def add(self, features: IndexArray) -> None:
        """Put features into the group."""
        columns = self._standardized(features)
        self._total += columns.sum(axis=1, keepdims=True) / self._degrees

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""
        return np.asarray(self._products(self._total, candidates)[0])
