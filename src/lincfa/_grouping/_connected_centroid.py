"""Each candidate against the mean of the group so far, through neighbours only."""

from heapq import heapify, heappop, heappush

import numpy as np
from scipy import sparse

from .._rule._criterion import Criterion
from .._rule._evidence import EVIDENCE
from .._statistics import Statistics, nearby
from ._growing import GrowingGroup
from ._neighbours import Neighbours
from ._partition import Partition, partition_of

_FEWEST, _MOST = 4, 256
"""Candidates of which the correlations with a group are computed together."""


def group_centroid_connected(
    statistics: Statistics, criterion: Criterion, graph: sparse.csr_array
) -> Partition:
    """Let features join the mean of a group of which they are neighbours.

    Features in their order: each one that has no group yet seeds one. The features without a group
    that are neighbours of a member are tested in their order against the mean of the group so far,
    standardised, and join if the pair passes. This is repeated until a round adds none.
    """
    statistics = nearby(statistics)
    neighbours = Neighbours(graph)
    free = statistics.varying.tolist()
    roots = np.where(statistics.varying, np.arange(len(free)), -1)
    record = [np.empty(0, dtype=EVIDENCE)]
    for seed in np.flatnonzero(statistics.varying).tolist():
        if not free[seed]:
            continue
        free[seed] = False
        group = _Spread(statistics, criterion, seed, neighbours, free)
        group.spread()
        roots[group.members] = seed
        record.append(group.evidence())
    return partition_of(roots, np.concatenate(record))


class _Spread(GrowingGroup):
    """A group that spreads to its neighbours; what it takes is no longer free."""

    def __init__(
        self,
        statistics: Statistics,
        criterion: Criterion,
        seed: int,
        neighbours: Neighbours,
        free: list[bool],
    ) -> None:
        super().__init__(statistics, criterion, seed)
        self._neighbours, self._free = neighbours, free
        self._waiting: list[int] = []  # of this round, a heap
        self._called: set[int] = set()  # those that wait or have waited in it
        self._later: set[int] = set()  # of the next round
        self._together = _FEWEST

    def spread(self) -> None:
        """Go round the neighbours until none joins."""
        self._later.update(o for o in self._neighbours.of(self.members[0]) if self._free[o])
        size = 0
        while size < len(self.members):
            size = len(self.members)
            self._waiting, self._called, self._later = list(self._later), self._later, set()
            heapify(self._waiting)
            while self._waiting:
                self._test_some()

    def _test_some(self) -> None:
        """Test the next candidates in order, up to the first that joins."""
        size = min(self._together, len(self._waiting))
        batch = [heappop(self._waiting) for _ in range(size)]
        candidates = np.array(batch)
        r = self._statistics.target_correlation[candidates]
        near = np.flatnonzero(np.abs(r - self.center) <= self.reach)
        totals = self.sums.of(candidates[near]).tolist()
        for place, total, r_feature in zip(near.tolist(), totals, r[near].tolist(), strict=True):
            feature = batch[place]
            if self.takes(feature, total, r_feature):
                self._later.update(batch[:place])
                for other in batch[place + 1 :]:
                    heappush(self._waiting, other)
                self._welcome(feature)
                self._together = max(_FEWEST, self._together // 2)
                return
        self._later.update(batch)
        self._together = min(_MOST, 2 * self._together)

    def _welcome(self, feature: int) -> None:
        """Let the neighbours of a new member wait: if their turn has passed, for the next round."""
        self._free[feature] = False
        self.sums.add(np.array([feature]))
        for other in self._neighbours.of(feature):
            if not self._free[other]:
                continue
            if other < feature:
                self._later.add(other)
            elif other not in self._called:
                self._called.add(other)
                heappush(self._waiting, other)
