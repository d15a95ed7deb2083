"""Groups that merge with their neighbours only: as many comparisons as there are edges."""

from heapq import heappop, heappush
from itertools import pairwise
from math import inf

import numpy as np
from scipy import sparse

from .._rule._criterion import Criterion
from .._statistics import RESOLUTION, IndexArray, Statistics
from ..theory._arrays import FloatArray
from ._merging import Merger, Standing, first_of_ties, norms_of, tie
from ._sums_of_groups import SumsOfGroups, sums_of_groups

_COINCIDING = -1.0
"""Stands for F where features differ by no more than rounding: before all others."""

_UNKNOWN = -1


class NeighbourPairs(Merger):
    """Groups of which two may merge if a member of one is a neighbour of a member of the other.

    Each group knows the order of its pairs and waits in a heap by the first of them. What stands in
    the heap may be out of date; a group whose nearest neighbour has merged is searched only when
    its turn comes, as the order of the former nearest is a lower bound until then.
    """

    def __init__(
        self,
        sums: SumsOfGroups,
        r: FloatArray,
        names: IndexArray,
        neighbours: list[dict[int, float]],
        criterion: Criterion,
        most_correlated_up_to: float = 0.0,
    ) -> None:
        super().__init__(criterion, most_correlated_up_to)
        self._sums, self._r, self._names = sums, r.copy(), names
        self._near = neighbours  # of each group, the order of its pairs by the other group
        self._sizes = np.ones(names.size, dtype=np.intp)
        self._alive = np.ones(names.size, dtype=np.bool_)
        self._norms = np.ones(names.size)
        self._first = [inf] * names.size
        self._nearest = [_UNKNOWN] * names.size
        self.count = names.size
        self._heap: list[tuple[float, int]] | None = None

    @classmethod
    def of(
        cls, statistics: Statistics, criterion: Criterion, graph: sparse.csr_array
    ) -> "NeighbourPairs":
        """One group per feature that is not constant."""
        features = np.flatnonzero(statistics.varying)
        kept = graph[features][:, features]
        bounds, others = kept.indptr.tolist(), kept.indices.tolist()
        neighbours = [dict.fromkeys(others[a:b], inf) for a, b in pairwise(bounds)]
        r = statistics.target_correlation[features]
        return cls(sums_of_groups(statistics, features), r, features, neighbours, criterion)

    def copy(self, most_correlated_up_to: float) -> "NeighbourPairs":
        """Copy the groups as they are now, to merge them on in an order of their own."""
        kept = NeighbourPairs(
            self._sums.copy(),
            self._r,
            self._names,
            [dict(others) for others in self._near],
            self._criterion,
            most_correlated_up_to,
        )
        kept._sizes, kept._alive = self._sizes.copy(), self._alive.copy()
        kept._norms, kept._merges = self._norms.copy(), list(self._merges)
        kept.count = self.count
        return kept

    def standing(self) -> Standing:
        """Give the groups as they are now."""
        alive = np.flatnonzero(self._alive)
        place = {group: number for number, group in enumerate(alive.tolist())}
        allowed = np.zeros((alive.size, alive.size), dtype=np.bool_)
        for group, number in place.items():
            allowed[number, [place[other] for other in self._near[group]]] = True
        sums = self._sums.square(alive)
        return Standing(sums, self._r[alive], self._names[alive], self._sizes[alive], allowed)

    def merge_coinciding(self) -> None:
        """Merge neighbours that differ by no more than rounding: the first of all ties."""
        self._merge(1, before=0.0)

    def merge_down(self, n_groups: int) -> None:
        """Merge the first pair in order until so many groups are left, or none may merge."""
        self._merge(n_groups, before=inf)

    def _merge(self, n_groups: int, before: float) -> None:
        if self._heap is None:
            self._heap = self._compare_all()
        while self.count > n_groups:
            closest = self._closest(self._heap, before)
            if closest is None:
                break
            self._join(*closest)
            self._compare(self._heap, *closest)

    def _compare_all(self) -> list[tuple[float, int]]:
        """Compare all neighbours; give the groups by the order of their nearest."""
        ends = [(group, other) for group, near in enumerate(self._near) for other in near]
        first, second = np.array(ends, dtype=np.intp).reshape(-1, 2).T
        once = first < second
        products = self._sums.of_pairs(first[once], second[once])
        order = self._order_of(first[once], second[once], products).tolist()
        for a, b, value in zip(first[once].tolist(), second[once].tolist(), order, strict=True):
            self._near[a][b] = self._near[b][a] = value
        heap: list[tuple[float, int]] = []
        for group in np.flatnonzero(self._alive).tolist():
            self._search(heap, group)
        return heap

    def _order_of(self, first: IndexArray, second: IndexArray, products: FloatArray) -> FloatArray:
        """Give the order of pairs of groups, of which the products of the sums are given."""
        # By the product of the norms, which is the same from both sides, as ties need it.
        norms = self._norms[first], self._norms[second]
        rho = np.clip(products / (norms[0] * norms[1]), -1, 1)
        order = self._order(rho, self._r[first] / norms[0], self._r[second] / norms[1])
        order[rho >= 1 - RESOLUTION] = _COINCIDING
        return order

    def _search(self, heap: list[tuple[float, int]], group: int) -> None:
        """Search the nearest neighbour of a group, and let it wait by that."""
        near = self._near[group]
        nearest = min(near, key=near.__getitem__, default=_UNKNOWN)
        self._nearest[group] = nearest
        self._first[group] = inf if nearest == _UNKNOWN else near[nearest]
        if self._first[group] < inf:
            heappush(heap, (self._first[group], group))

    def _closest(self, heap: list[tuple[float, int]], before: float) -> tuple[int, int] | None:
        """Find the pair with the smallest F, or None where no pair may merge."""
        tied: dict[int, float] = {}
        bound = before
        while heap and heap[0][0] <= bound and heap[0][0] < before:
            order, group = heappop(heap)
            if not self._alive[group] or self._first[group] != order:
                continue
            if self._nearest[group] == _UNKNOWN:
                self._search(heap, group)
                continue
            tied[group] = order
            if order == _COINCIDING:
                break
            bound = min(bound, tie(order))
        for one, first in tied.items():
            heappush(heap, (first, one))
        if not tied:
            return None
        group, order = next(iter(tied.items()))
        other = self._nearest[group]
        if order == _COINCIDING or (len(tied) == 2 and other in tied):
            return min(group, other), max(group, other)
        return self._break_tie(sorted(tied), bound)

    def _break_tie(self, groups: list[int], bound: float) -> tuple[int, int]:
        pairs = [
            (group, other)
            for group in groups
            for other, order in self._near[group].items()
            if group < other and order <= bound
        ]
        first, second = np.array(pairs).T
        norms = self._norms[first] * self._norms[second]
        rho = self._sums.of_pairs(first, second) / norms
        return pairs[first_of_ties(rho, self._sizes[first] + self._sizes[second], first, second)]

    def _join(self, first: int, second: int) -> None:
        """Put the second group into the first, which inherits its neighbours."""
        norms = self._norms[[first, second]]
        product = self._sums.products(first, [second])[0]
        rho = float(np.clip(product / norms.prod(), -1, 1))
        r_first, r_second = (self._r[[first, second]] / norms).tolist()
        self._sums.join(first, second)
        self._r[first] += self._r[second]
        self._sizes[first] += self._sizes[second]
        self._norms[first] = norms_of(self._sums.products(first, [first]))[0]
        self._alive[second] = False
        self.count -= 1
        for other in self._near[second]:
            del self._near[other][second]
            if other != first:
                self._near[first][other] = inf
        self._near[second] = {}
        names = int(self._names[first]), int(self._names[second])
        self._note(names, int(self._sizes[first]), rho, r_first, r_second)

    def _compare(self, heap: list[tuple[float, int]], merged: int, gone: int) -> None:
        """Compare a merged group with its neighbours, and keep every group's nearest."""
        others = list(self._near[merged])
        second = np.array(others, dtype=np.intp)
        products = self._sums.products(merged, others)
        order = self._order_of(np.full(second.size, merged), second, products).tolist()
        for other, value in zip(others, order, strict=True):
            self._near[merged][other] = self._near[other][merged] = value
            if value < self._first[other]:
                self._first[other], self._nearest[other] = value, merged
                heappush(heap, (value, other))
            elif self._nearest[other] in (merged, gone):
                self._nearest[other] = _UNKNOWN
        self._search(heap, merged)
