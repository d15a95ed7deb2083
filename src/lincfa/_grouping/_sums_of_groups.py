"""Products of the sums of groups that merge, from columns or from correlations."""

from typing import Protocol

import numpy as np

from .._statistics import LARGEST_SQUARE, IndexArray, Statistics, correlation_matrix
from ..theory._arrays import FloatArray

_PAIRS = 2**12


class SumsOfGroups(Protocol):
    """Sums of the standardised columns of groups."""

    def join(self, first: int, second: int) -> None:
        """Add the sum of the second group to that of the first."""

    def products(self, group: int, others: list[int]) -> FloatArray:
        """Products of the sum of a group with those of others."""

    def of_pairs(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Products of the sums of pairs of groups."""

    def square(self, groups: IndexArray) -> FloatArray:
        """Products of the sums of all pairs of some groups."""

    def copy(self) -> "SumsOfGroups":
        """Copy them, to merge them in another way."""


def sums_of_groups(statistics: Statistics, features: IndexArray) -> SumsOfGroups:
    """Take each feature as a group: by their columns, or by all correlations if these are fewer.

    Raises
    ------
    ValueError
        Where neither is small enough.
    """
    size, rows = features.size, statistics.n_rows
    if statistics.columns_together and rows < size:
        if 8 * rows * size > LARGEST_SQUARE:
            raise ValueError(
                "With a connectivity, the strategies 'agglomerative' and 'joint' keep a copy of "
                f"the columns: {8e-9 * rows * size:.1f} GB for {rows} samples and {size} features, "
                f"of at most {1e-9 * LARGEST_SQUARE:.1f} GB. Use strategy='sequential' or "
                "'centroid', or reduce by one of these first."
            )
        return _Columns(statistics.columns(features))
    return _Correlations(correlation_matrix(statistics, features))


class _Columns:
    """The sums themselves, one a row."""

    def __init__(self, columns: FloatArray) -> None:
        self._columns = np.ascontiguousarray(columns)

    def join(self, first: int, second: int) -> None:
        """Add the sum of the second group to that of the first."""
        self._columns[first] += self._columns[second]

    def products(self, group: int, others: list[int]) -> FloatArray:
        """Products of the sum of a group with those of others."""
        return np.asarray(self._columns[others] @ self._columns[group])

    def of_pairs(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Products of the sums of pairs of groups."""
        result = np.empty(first.size)
        for start in range(0, first.size, _PAIRS):
            part = slice(start, start + _PAIRS)
            one, other = self._columns[first[part]], self._columns[second[part]]
            result[part] = np.einsum("ij,ij->i", one, other)
        return result

    def square(self, groups: IndexArray) -> FloatArray:
        """Products of the sums of all pairs of some groups."""
        columns = self._columns[groups]
        return np.asarray(columns @ columns.T)

    def copy(self) -> "_Columns":
        """Copy them, to merge them in another way."""
        return _Columns(self._columns.copy())


class _Correlations:
    """Sums of the correlations between the members of two groups."""

    def __init__(self, sums: FloatArray) -> None:
        self._sums = sums

    def join(self, first: int, second: int) -> None:
        """Add the sum of the second group to that of the first."""
        self._sums[first] += self._sums[second]
        self._sums[:, first] += self._sums[:, second]

    def products(self, group: int, others: list[int]) -> FloatArray:
        """Products of the sum of a group with those of others."""
        return np.asarray(self._sums[group, others])

    def of_pairs(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Products of the sums of pairs of groups."""
        return np.asarray(self._sums[first, second])

    def square(self, groups: IndexArray) -> FloatArray:
        """Products of the sums of all pairs of some groups."""
        return np.asarray(self._sums[np.ix_(groups, groups)])

    def copy(self) -> "_Correlations":
        """Copy them, to merge them in another way."""
        return _Correlations(self._sums.copy())
