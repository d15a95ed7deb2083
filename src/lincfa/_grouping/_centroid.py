"""Each candidate against the mean of the group so far."""

import numpy as np

from .._rule._criterion import MARGIN, Criterion
from .._rule._evidence import EVIDENCE
from .._statistics import IndexArray, Statistics
from ..theory._arrays import FloatArray
from ._growing import GrowingGroup
from ._partition import Partition, partition_of

_SLACK = 0.25
"""Share of the reach by which the group's correlation with the target may move before it is asked
again which candidates are in reach."""


def group_centroid(statistics: Statistics, criterion: Criterion) -> Partition:
    """Let features join the mean of a group.

    Features in their order: each one that has no group yet seeds one. The features behind it that
    have no group are tested one after another against the mean of the group so far, standardised,
    and join if the pair passes. This is repeated until a round adds none.
    """
    free = statistics.varying.copy()
    roots = np.where(free, np.arange(free.size), -1)
    record = [np.empty(0, dtype=EVIDENCE)]
    for seed in range(free.size):
        if not free[seed]:
            continue
        free[seed] = False
        group = _Walk(statistics, criterion, seed)
        while group.walk(seed + 1 + np.flatnonzero(free[seed + 1 :])):
            free[group.members] = False
        roots[group.members] = seed
        record.append(group.evidence())
    return partition_of(roots, np.concatenate(record))


class _Walk(GrowingGroup):
    """A group that walks past all candidates."""

    def walk(self, candidates: IndexArray) -> bool:
        """Test candidates one after another; say whether any joined.

        Only candidates that are in reach, with some slack, are looked at. When the group has moved
        by more than the slack, it is asked again which of the remaining are in reach.
        """
        before = len(self.members)
        r = self._statistics.target_correlation[candidates]
        start = 0
        while start < candidates.size:
            center = self.center
            near = start + np.flatnonzero(np.abs(r[start:] - center) <= (1 + _SLACK) * self.reach)
            if start == 0:
                near = near[self._first_to_pass(candidates[near]) :]
            start = candidates.size
            # Their correlations with the group are computed together, and with each other as soon
            # as one of them joins.
            size = self._statistics.block_size
            for left in range(0, near.size, size):
                block = near[left : left + size]
                last = self._walk_block(candidates[block], center)
                if last is not None:
                    start = int(block[last]) + 1
                    break
        return len(self.members) > before

    def _first_to_pass(self, candidates: IndexArray) -> int:
        """Place of the first candidate that passes with the group as it is.

        One product with all candidates is much faster than many with a block of them.
        """
        rho = np.clip(self.sums.of(candidates) / self.norm, -1, 1)
        r = self._statistics.target_correlation[candidates]
        f = self._criterion.plain_f(rho, np.asarray(self.center), r)
        # With a margin: whether a candidate passes is decided when its turn comes.
        passing = np.flatnonzero(f <= self._criterion.tolerance * (1 + MARGIN))
        return int(passing[0]) if passing.size else candidates.size

    def _walk_block(self, block: IndexArray, center: float) -> int | None:
        """Test the candidates of a block; name the place of one that moved the group too far."""
        r = self._statistics.target_correlation[block].tolist()
        sums = self.sums.of(block)
        square: FloatArray | None = None
        before = len(self.members)
        last: int | None = None
        for place, (feature, r_feature) in enumerate(zip(block.tolist(), r, strict=True)):
            if not self.takes(feature, float(sums[place]), r_feature):
                continue
            if abs(self.center - center) > _SLACK * self.reach:
                last = place
                break
            if square is None:
                square = self._statistics.square(block)
            sums[place + 1 :] += square[place, place + 1 :]
        if len(self.members) > before:
            self.sums.add(np.array(self.members[before:]))
        return last
