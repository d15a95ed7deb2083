"""What the correlations between two groups that merge add up to, and the smallest of them."""

from math import sqrt

import numpy as np

from ..._statistics import IndexArray, Statistics, correlation_matrix
from ...theory._arrays import FloatArray
from .. import MergePath
from ._figures import COMPARED


class BetweenPairs:
    """All pairs of features compared.

    With the features in an order in which the members of every group are neighbours, the
    correlations between the two groups of a merge are a block of the matrix; together the blocks
    are half of it, so that all groups of the path cost no more than reading it once.
    """

    def __init__(self, statistics: Statistics, path: MergePath, factors: FloatArray) -> None:
        order = path.neighbours()
        self._place = np.empty(path.varying.size, dtype=np.intp)
        self._place[order] = np.arange(order.size)
        self._factors = factors[order]
        self._matrix = correlation_matrix(statistics, order)
        self._sizes = np.ones(path.varying.size, dtype=np.intp)

    def join(
        self, merge: np.void, unit: float, one: float, other: float
    ) -> tuple[float, float, float]:
        """Give the sum and the minimum of the correlations, and the sum with factors.

        The factors are relative to a unit.
        """
        first, second = int(merge["first"]), int(merge["second"])
        top, left = int(self._place[first]), int(self._place[second])
        rows = slice(top, top + self._sizes[first])
        columns = slice(left, left + self._sizes[second])
        block = self._matrix[rows, columns]
        self._sizes[first] += self._sizes[second]
        cross = (self._factors[rows] / unit) @ block @ (self._factors[columns] / unit)
        return float(block.sum()), float(block.min()), float(cross)


class BetweenColumns:
    """Some members of each group compared: as much work as there are features.

    These are up to ``COMPARED`` of them, of larger groups those that were least correlated with
    what they merged with. The sums follow from the means that merged, and from their columns.
    """

    def __init__(self, statistics: Statistics, path: MergePath, factors: FloatArray) -> None:
        features = np.flatnonzero(path.varying)
        self._columns = np.ascontiguousarray(statistics.columns(features))
        self._place = np.cumsum(path.varying) - 1
        self._squares = np.ones(path.varying.size)  # of the sums of standardised columns
        self._compared: dict[int, IndexArray] = {}
        weights = factors[features]
        self._alike = bool((weights == weights[0]).all())
        self._sums: dict[int, FloatArray] = {}  # with factors relative to the largest

    def join(
        self, merge: np.void, unit: float, one: float, other: float
    ) -> tuple[float, float, float]:
        """Give the sum and the minimum of the correlations, and the sum with factors.

        The factors are relative to a unit, those of a group so far to its own, of which ``one`` and
        ``other`` are the ratios.
        """
        first, second = int(merge["first"]), int(merge["second"])
        squares = self._squares[[first, second]]
        plain = float(merge["correlation"]) * sqrt(squares.prod())
        self._squares[first] = max(squares.sum() + 2 * plain, 0.0)
        cross = plain
        if not self._alike:
            sums = [self._sums.pop(group, self._column(group)) for group in (first, second)]
            sums = [sums[0] * one, sums[1] * other]
            cross = float(sums[0] @ sums[1])
            self._sums[first] = sums[0] + sums[1]
        return plain, self._least(first, second), cross

    def _least(self, first: int, second: int) -> float:
        groups = [
            self._compared.pop(group, np.array([self._place[group]])) for group in (first, second)
        ]
        block = self._columns[groups[0]] @ self._columns[groups[1]].T
        members = np.concatenate(groups)
        if members.size > COMPARED:
            nearness = np.concatenate([block.min(axis=1), block.min(axis=0)])
            members = members[np.argpartition(nearness, COMPARED - 1)[:COMPARED]]
        self._compared[first] = members
        return float(block.min())

    def _column(self, group: int) -> FloatArray:
        return np.asarray(self._columns[self._place[group]])
