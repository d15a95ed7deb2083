"""Correlations of candidates with the sum of a group that grows."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from ..theory._arrays import FloatArray
from ._protocol import IndexArray, Statistics

_STRIP = 256


def variances_by_rows(
    statistics: Statistics, labels: IndexArray, n_groups: int, factors: FloatArray
) -> FloatArray:
    """Variance of the weighted sum of each group, from a source whose correlations are at hand."""
    result = np.zeros(n_groups)
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(n_groups + 1))
    for number, (start, stop) in enumerate(pairwise(bounds.tolist())):
        group = order[start:stop]
        for top in range(0, group.size, _STRIP):
            strip = group[top : top + _STRIP]
            (rows,) = statistics.rows(strip, [(slice(0, strip.size), group)])
            result[number] += factors[strip] @ rows @ factors[group]
    return result


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
        n_rows: int,
    ) -> None:
        self._standardized = standardized
        self._products = products
        self._total = np.zeros((n_rows, 1))

    def add(self, features: IndexArray) -> None:
        """Put features into the group."""
        self._total += self._standardized(features).sum(axis=1, keepdims=True)

    def of(self, candidates: IndexArray) -> FloatArray:
        """Sum of the correlations of each candidate with the members of the group."""
        return np.asarray(self._products(self._total, candidates)[0])
