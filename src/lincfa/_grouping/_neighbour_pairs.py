"""Groups that merge with their neighbours only: as many comparisons as there are edges."""

from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy import sparse

from .._criterion import Criterion
from .._statistics import RESOLUTION, IndexArray, Statistics
from ..theory._arrays import FloatArray
from ._merging import Merger, Standing, first_of_ties, norms_of, tie
from ._sums_of_groups import SumsOfGroups, sums_of_groups

Entry: TypeAlias = tuple[float, int, int, int, int, float]
"""A pair that may merge: its place in the order, the two groups, their ages, the correlation of
their means."""

_COINCIDING = -1.0
"""Stands for F where features differ by no more than rounding: before all others."""


class NeighbourPairs(Merger):
    """Groups of which two may merge if a member of one is a neighbour of a member of the other.

    The pairs wait in a heap, by F. A merged group is compared with its neighbours; entries of the
    two groups that it is made of stay in the heap, and are recognised by their age when they come
    up.
    """

    def __init__(
        self,
        sums: SumsOfGroups,
        r: FloatArray,
        names: IndexArray,
        neighbours: list[set[int]],
        criterion: Criterion,
        most_correlated_up_to: float = 0.0,
    ) -> None:
        super().__init__(criterion, most_correlated_up_to)
        self._sums, self._r, self._names = sums, r.copy(), names
        self._neighbours = neighbours
        self._sizes = np.ones(names.size, dtype=np.intp)
        self._alive = np.ones(names.size, dtype=np.bool_)
        self._age = [0] * names.size
        self._norms = np.ones(names.size)
        self.count = names.size
        self._heap: list[Entry] | None = None

    @classmethod
    def of(
        cls, statistics: Statistics, criterion: Criterion, graph: sparse.csr_array
    ) -> "NeighbourPairs":
        """One group per feature that is not constant."""
        features = np.flatnonzero(statistics.varying)
        kept = graph[features][:, features]
        bounds, others = kept.indptr.tolist(), kept.indices.tolist()
        neighbours = [set(others[a:b]) for a, b in pairwise(bounds)]
        r = statistics.target_correlation[features]
        return cls(sums_of_groups(statistics, features), r, features, neighbours, criterion)

    def copy(self, most_correlated_up_to: float) -> "NeighbourPairs":
        """Copy the groups as they are now, to merge them on in an order of their own."""
        neighbours = [set(others) for others in self._neighbours]
        kept = NeighbourPairs(
            self._sums.copy(),
            self._r,
            self._names,
            neighbours,
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
            allowed[number, [place[other] for other in self._neighbours[group]]] = True
        sums = self._sums.square(alive)
        return Standing(sums, self._r[alive], self._names[alive], self._sizes[alive], allowed)

    def merge_coinciding(self) -> None:
        """Merge neighbours that differ by no more than rounding: the first of all ties."""
        self._merge(1, before=0.0)

    def merge_down(self, n_groups: int) -> None:
        """Merge the first pair in order until so many groups are left, or none may merge."""
        self._merge(n_groups, before=np.inf)

    def _merge(self, n_groups: int, before: float) -> None:
        if self._heap is None:
            self._heap = self._compare_all()
        while self.count > n_groups:
            closest = self._closest(self._heap, before)
            if closest is None:
                break
            first, second, rho = closest
            self._join(first, second, rho)
            for entry in self._compare(first, sorted(self._neighbours[first])):
                heappush(self._heap, entry)

    def _compare_all(self) -> list[Entry]:
        pairs = [
            (group, other)
            for group in np.flatnonzero(self._alive).tolist()
            for other in self._neighbours[group]
            if group < other
        ]
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        entries = self._entries(first, second, self._sums.of_pairs(first, second))
        heapify(entries)
        return entries

    def _compare(self, group: int, others: list[int]) -> list[Entry]:
        """Compare a group with others."""
        second = np.array(others, dtype=np.intp)
        first = np.full(second.size, group)
        products = self._sums.products(group, others)
        return self._entries(np.minimum(first, second), np.maximum(first, second), products)

    def _entries(self, first: IndexArray, second: IndexArray, products: FloatArray) -> list[Entry]:
        """Give pairs of groups as entries of the heap, except those that may not merge."""
        # By the product of the norms, which is the same from both sides, as ties need it.
        norms = self._norms[first], self._norms[second]
        rho = np.clip(products / (norms[0] * norms[1]), -1, 1)
        order = self._order(rho, self._r[first] / norms[0], self._r[second] / norms[1])
        order[rho >= 1 - RESOLUTION] = _COINCIDING
        age = self._age
        rows = zip(order.tolist(), first.tolist(), second.tolist(), rho.tolist(), strict=True)
        return [(f, a, b, age[a], age[b], c) for f, a, b, c in rows if f < np.inf]

    def _closest(self, heap: list[Entry], before: float) -> tuple[int, int, float] | None:
        """Find the pair with the smallest F, or None where no pair may merge."""
        tied: list[Entry] = []
        while heap and (not tied or heap[0][0] <= tie(tied[0][0])):
            order, first, second, age_first, age_second, _ = heap[0]
            current = self._age[first] == age_first and self._age[second] == age_second
            if current and order >= before:
                break
            entry = heappop(heap)
            if current:
                tied.append(entry)
        if not tied:
            return None
        best = 0
        if len(tied) > 1:
            one, other = np.array([entry[1:3] for entry in tied]).T
            correlations = np.array([entry[5] for entry in tied])
            best = first_of_ties(correlations, self._sizes[one] + self._sizes[other], one, other)
            for place, entry in enumerate(tied):
                if place != best:
                    heappush(heap, entry)
        _, first, second, _, _, rho = tied[best]
        return first, second, rho

    def _join(self, first: int, second: int, rho: float) -> None:
        """Put the second group into the first, which inherits its neighbours."""
        norms = self._norms[first], self._norms[second]
        r_first, r_second = self._r[first] / norms[0], self._r[second] / norms[1]
        self._sums.join(first, second)
        self._r[first] += self._r[second]
        self._sizes[first] += self._sizes[second]
        self._norms[first] = norms_of(self._sums.products(first, [first]))[0]
        self._alive[second] = False
        self._age[first] += 1
        self._age[second] = -1
        self.count -= 1
        for other in self._neighbours[second]:
            self._neighbours[other].discard(second)
            if other != first:
                self._neighbours[other].add(first)
                self._neighbours[first].add(other)
        self._neighbours[second] = set()
        names = int(self._names[first]), int(self._names[second])
        self._note(names, int(self._sizes[first]), rho, float(r_first), float(r_second))
