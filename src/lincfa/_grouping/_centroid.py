"""Each candidate against the mean of the group so far."""

import numpy as np

from .._criterion import EVIDENCE, MARGIN, Criterion, EvidenceArray
from .._statistics import RESOLUTION, IndexArray, Statistics
from ..theory._arrays import FloatArray
from ._partition import Partition, partition_of

_BLOCK = 128
"""Candidates whose correlations with the group are computed together, and with each other as soon
as one of them joins."""

_SLACK = 0.25
"""Share of the reach by which the group's correlation with the target may move before it is asked
again which candidates are in reach."""

_COINCIDE = MARGIN + np.sqrt(2 * RESOLUTION)
"""Difference of the correlations with the target that features can have which count as equal."""


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
        group = _Group(statistics, criterion, seed)
        while group.walk(seed + 1 + np.flatnonzero(free[seed + 1 :])):
            free[group.members] = False
        roots[group.members] = seed
        record.append(group.evidence())
    return partition_of(roots, np.concatenate(record))


class _Group:
    """A group that grows, known by running sums of correlations.

    With the sum s of the members' standardised columns, a candidate's correlation with the mean of
    the group is its product with s over the norm of s. Both come from sums of correlations.
    """

    def __init__(self, statistics: Statistics, criterion: Criterion, seed: int) -> None:
        self._statistics, self._criterion = statistics, criterion
        self.members = [seed]
        self._figures: list[tuple[float, float]] = []
        self._sums = statistics.sums()
        self._sums.add(np.array([seed]))
        self._r = float(statistics.target_correlation[seed])
        self._square = 1.0

    @property
    def _norm(self) -> float:
        # The sum of mirror images has no variance: any scale does for it.
        return float(np.sqrt(max(self._square, RESOLUTION)))

    def walk(self, candidates: IndexArray) -> bool:
        """Test candidates one after another; say whether any joined.

        Only candidates that are in reach, with some slack, are looked at. When the group has moved
        by more than the slack, it is asked again which of the remaining are in reach.
        """
        before = len(self.members)
        r = self._statistics.target_correlation[candidates]
        start = 0
        while start < candidates.size:
            center, reach = self._reach()
            near = start + np.flatnonzero(np.abs(r[start:] - center) <= (1 + _SLACK) * reach)
            start = candidates.size
            for left in range(0, near.size, _BLOCK):
                block = near[left : left + _BLOCK]
                last = self._walk_block(candidates[block], center, reach)
                if last is not None:
                    start = int(block[last]) + 1
                    break
        return len(self.members) > before

    def _reach(self) -> tuple[float, float]:
        """Correlation of the mean with the target, and how far off a candidate's may be."""
        center = self._r / self._norm
        reach = self._criterion.reach(np.array([center]))[0]
        return center, float(reach) + _COINCIDE

    def _walk_block(self, block: IndexArray, center: float, reach: float) -> int | None:
        """Test the candidates of a block; name the place of one that moved the group too far."""
        r = self._statistics.target_correlation[block]
        sums = self._sums.of(block)
        square: FloatArray | None = None
        joined: list[int] = []
        tested = 0
        last: int | None = None
        while tested < block.size and last is None:
            rho = np.clip(sums[tested:] / self._norm, -1, 1)
            f = self._criterion.plain_f(rho, np.asarray(self._r / self._norm), r[tested:])
            passing = f <= self._criterion.tolerance
            step = int(passing.argmax())
            if not passing[step]:
                break
            place = tested + step
            joined.append(int(block[place]))
            self._figures.append((float(rho[step]), float(f[step])))
            self._square += 2 * float(sums[place]) + 1
            self._r += float(r[place])
            tested = place + 1
            moved, new_reach = self._reach()
            if abs(moved - center) + max(0.0, new_reach - reach) > _SLACK * reach:
                last = place
            elif tested < block.size:
                if square is None:
                    square = self._statistics.square(block)
                sums[tested:] += square[place, tested:]
        if joined:
            self.members += joined
            self._sums.add(np.array(joined))
        return last

    def evidence(self) -> EvidenceArray:
        """What each member met when it joined; the seed stands for the group."""
        evidence = np.empty(len(self._figures), dtype=EVIDENCE)
        evidence["feature"], evidence["partner"] = self.members[1:], self.members[0]
        if self._figures:
            evidence["correlation"], evidence["f"] = np.transpose(self._figures)
        evidence["threshold"] = self._criterion.threshold(
            1 - evidence["correlation"], evidence["f"]
        )
        return evidence
