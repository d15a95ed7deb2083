"""Each candidate is compared with the mean of the group so far."""

from heapq import heapify, heappop, heappush
from math import sqrt

import numpy as np
from scipy import sparse

from .._rule import EVIDENCE, MARGIN, EvidenceArray, Rule, pairs_from_correlations
from .._statistics import RESOLUTION, IndexArray, NearbyCorrelations, Statistics, Sums
from ..theory._arrays import FloatArray
from ._constraint import Neighbours
from ._partition import Partition, partition_of

_SLACK = 0.25
"""Share of the largest difference by which the group's correlation with the target may move before
the candidates that can pass are selected again."""

_COINCIDE = MARGIN + np.sqrt(2 * RESOLUTION)
"""Difference of the correlations with the target of features that count as equal, at most."""

_FEWEST, _MOST = 4, 256
"""Candidates whose correlations with a connected group are computed together."""


class _Group:
    """A group that takes one feature after the other by its mean."""

    def __init__(self, statistics: Statistics, rule: Rule, seed: int, sums: Sums) -> None:
        # With the sum s of the members' standardised columns, a candidate's correlation with the
        # mean of the group is its product with s over the norm of s, both from correlations.
        self._statistics, self._rule, self.sums = statistics, rule, sums
        self.members = [seed]
        self._figures: list[tuple[float, float, float]] = []
        self.sums.add(np.array([seed]))
        self._r = float(statistics.target_correlation[seed])
        self._square = 1.0
        # That of a group without correlation with the target: no other has a larger one.
        self.largest_difference = float(rule.largest_difference(np.zeros(1))[0]) + _COINCIDE

    @property
    def norm(self) -> float:
        """Norm of the sum. That of mirror images has no variance: any scale does for it."""
        return sqrt(max(self._square, RESOLUTION))

    @property
    def r(self) -> float:
        """Correlation of the mean of the group with the target."""
        return self._r / self.norm

    def join(self, feature: int, total: float, r_feature: float) -> bool:
        """Test a candidate, given its product with the sum; if it passes, it joins."""
        # The running sums do not include it yet.
        norm = self.norm
        rho = max(-1.0, min(1.0, total / norm))
        r_group = self._r / norm
        if self._rule.f_of_pair(rho, r_group, r_feature) > self._rule.tolerance:
            return False
        self.members.append(feature)
        self._figures.append((rho, r_group, r_feature))
        self._square += 2 * total + 1
        self._r += r_feature
        return True

    def evidence(self) -> EvidenceArray:
        """The figures of each member when it joined; the seed stands for the group."""
        pairs = pairs_from_correlations(*np.array(self._figures).reshape(-1, 3).T)
        features = np.array(self.members[1:], dtype=np.intp)
        return self._rule.evidence(np.full(features.size, self.members[0]), features, pairs)


def group_centroid(statistics: Statistics, rule: Rule) -> Partition:
    """Let features join the mean of a group."""
    # Features in their order: each one that has no group yet seeds one. The features behind it that
    # have no group are tested one after another against the mean of the group so far, standardised,
    # and join if the pair passes. This is repeated until a round adds none.
    free = statistics.varying.copy()
    record = [np.empty(0, dtype=EVIDENCE)]
    for seed in range(free.size):
        if not free[seed]:
            continue
        free[seed] = False
        group = _FreeGroup(statistics, rule, seed, statistics.sums())
        while group.test_all(seed + 1 + np.flatnonzero(free[seed + 1 :])):
            free[group.members] = False
        if len(group.members) > 1:
            record.append(group.evidence())
    return partition_of(statistics.varying, np.concatenate(record))


class _FreeGroup(_Group):
    """A group that any feature may join."""

    def test_all(self, candidates: IndexArray) -> bool:
        """Test candidates one after another; return whether any joined."""
        # Only those are computed whose correlation with the target is near that of the group, with
        # some slack. They are selected again when the group has moved by more than the slack.
        before = len(self.members)
        r = self._statistics.target_correlation[candidates]
        size = self._statistics.costs.candidates
        start = 0
        while start < candidates.size:
            r_group = self.r
            distance = (1 + _SLACK) * self.largest_difference
            near = start + np.flatnonzero(np.abs(r[start:] - r_group) <= distance)
            if start == 0:
                near = near[self._first_to_pass(candidates[near]) :]
            start = candidates.size
            # Their correlations with the group are computed together, and with each other as soon
            # as one of them joins.
            for left in range(0, near.size, size):
                block = near[left : left + size]
                last = self._test_block(candidates[block], r_group)
                if last is not None:
                    start = int(block[last]) + 1
                    break
        return len(self.members) > before

    def _first_to_pass(self, candidates: IndexArray) -> int:
        """Place of the first candidate that passes with the group as it is."""
        # One product with all candidates is much faster than many with a block of them.
        rho = np.clip(self.sums.of(candidates) / self.norm, -1, 1)
        r = self._statistics.target_correlation[candidates]
        f = self._rule.f_from_correlations(rho, np.asarray(self.r), r)
        # With a margin: whether a candidate passes is decided when its turn comes.
        passing = np.flatnonzero(f <= self._rule.tolerance * (1 + MARGIN))
        return int(passing[0]) if passing.size else candidates.size

    def _test_block(self, block: IndexArray, r_group: float) -> int | None:
        """Test the candidates of a block; return the place of one that moved the group too far."""
        r = self._statistics.target_correlation[block].tolist()
        sums = self.sums.of(block)
        square: FloatArray | None = None
        before = len(self.members)
        last: int | None = None
        for place, (feature, r_feature) in enumerate(zip(block.tolist(), r, strict=True)):
            if not self.join(feature, float(sums[place]), r_feature):
                continue
            if abs(self.r - r_group) > _SLACK * self.largest_difference:
                last = place
                break
            if square is None:
                square = self._statistics.square(block)
            sums[place + 1 :] += square[place, place + 1 :]
        if len(self.members) > before:
            self.sums.add(np.array(self.members[before:]))
        return last


# Through neighbours only


def group_centroid_connected(
    statistics: Statistics, rule: Rule, graph: sparse.csr_array
) -> Partition:
    """Let features join the mean of a group of which they are neighbours."""
    # Features in their order: each one that has no group yet seeds one. The features without a
    # group that are neighbours of a member are tested in their order against the mean of the group
    # so far, standardised, and join if the pair passes. This is repeated until a round adds none.
    correlations, neighbours = NearbyCorrelations(statistics), Neighbours(graph)
    free = statistics.varying.tolist()
    record = [np.empty(0, dtype=EVIDENCE)]
    for seed in np.flatnonzero(statistics.varying).tolist():
        if not free[seed]:
            continue
        free[seed] = False
        group = _ConnectedGroup(statistics, rule, seed, correlations.sums())
        group.grow(neighbours, free)
        if len(group.members) > 1:
            record.append(group.evidence())
    return partition_of(statistics.varying, np.concatenate(record))


class _ConnectedGroup(_Group):
    """A group that grows through neighbours; what joins is no longer free."""

    def grow(self, neighbours: Neighbours, free: list[bool]) -> None:
        """Test the neighbours in rounds until none joins."""
        self._neighbours, self._free = neighbours, free
        self._together = _FEWEST
        self._later = {other for other in neighbours.of(self.members[0]) if free[other]}
        size = 0
        while size < len(self.members):
            size = len(self.members)
            # Those that wait in this round, a heap; those that wait or have waited in it; and
            # those of the next round.
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
        near = np.flatnonzero(np.abs(r - self.r) <= self.largest_difference)
        totals = self.sums.of(candidates[near]).tolist()
        for place, total, r_feature in zip(near.tolist(), totals, r[near].tolist(), strict=True):
            feature = batch[place]
            if self.join(feature, total, r_feature):
                self._later.update(batch[:place])
                for other in batch[place + 1 :]:
                    heappush(self._waiting, other)
                self._add_neighbours(feature)
                self._together = max(_FEWEST, self._together // 2)
                return
        self._later.update(batch)
        self._together = min(_MOST, 2 * self._together)

    def _add_neighbours(self, feature: int) -> None:
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
