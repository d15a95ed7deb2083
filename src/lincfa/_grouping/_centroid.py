"""Each candidate against the mean of the group so far."""

from math import sqrt

import numpy as np

from .._criterion import MARGIN, Criterion
from .._evidence import EVIDENCE, EvidenceArray, threshold
from .._statistics import RESOLUTION, IndexArray, Statistics
from ..theory._arrays import FloatArray
from ._partition import Partition, partition_of

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
        self._figures: list[tuple[float, float, float, float]] = []
        self._sums = statistics.sums()
        self._sums.add(np.array([seed]))
        self._r = float(statistics.target_correlation[seed])
        self._square = 1.0
        # That of a group without correlation with the target: no other has a larger one.
        self._reach = float(criterion.reach(np.zeros(1))[0]) + _COINCIDE

    def _norm(self) -> float:
        # The sum of mirror images has no variance: any scale does for it.
        return sqrt(max(self._square, RESOLUTION))

    def walk(self, candidates: IndexArray) -> bool:
        """Test candidates one after another; say whether any joined.

        Only candidates that are in reach, with some slack, are looked at. When the group has moved
        by more than the slack, it is asked again which of the remaining are in reach.
        """
        before = len(self.members)
        r = self._statistics.target_correlation[candidates]
        start = 0
        while start < candidates.size:
            center = self._r / self._norm()
            near = start + np.flatnonzero(np.abs(r[start:] - center) <= (1 + _SLACK) * self._reach)
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
        norm = self._norm()
        rho = np.clip(self._sums.of(candidates) / norm, -1, 1)
        r = self._statistics.target_correlation[candidates]
        f = self._criterion.plain_f(rho, np.asarray(self._r / norm), r)
        # With a margin: whether a candidate passes is decided when its turn comes.
        passing = np.flatnonzero(f <= self._criterion.tolerance * (1 + MARGIN))
        return int(passing[0]) if passing.size else candidates.size

    def _walk_block(self, block: IndexArray, center: float) -> int | None:
        """Test the candidates of a block; name the place of one that moved the group too far."""
        r = self._statistics.target_correlation[block].tolist()
        sums = self._sums.of(block)
        square: FloatArray | None = None
        joined: list[int] = []
        last: int | None = None
        norm = self._norm()
        for place, (feature, r_feature) in enumerate(zip(block.tolist(), r, strict=True)):
            total = float(sums[place])
            rho = max(-1.0, min(1.0, total / norm))
            r_group = self._r / norm
            f = self._criterion.plain_f_of_pair(rho, r_group, r_feature)
            if f > self._criterion.tolerance:
                continue
            joined.append(feature)
            self._figures.append((f, rho, r_group, r_feature))
            self._square += 2 * total + 1
            self._r += r_feature
            norm = self._norm()
            if abs(self._r / norm - center) > _SLACK * self._reach:
                last = place
                break
            if square is None:
                square = self._statistics.square(block)
            sums[place + 1 :] += square[place, place + 1 :]
        if joined:
            self.members += joined
            self._sums.add(np.array(joined))
        return last

    def evidence(self) -> EvidenceArray:
        """What each member met when it joined; the seed stands for the group."""
        evidence = np.empty(len(self._figures), dtype=EVIDENCE)
        evidence["feature"], evidence["partner"] = self.members[1:], self.members[0]
        f, rho, r_group, r_feature = np.array(self._figures).reshape(-1, 4).T
        tolerance = self._criterion.tolerance
        evidence["correlation"], evidence["f"], evidence["tolerance"] = rho, f, tolerance
        evidence["threshold"] = threshold(tolerance, 1 - rho, f)
        drop, growth = self._criterion.plain_tradeoff(rho, r_group, r_feature)
        evidence["variance_drop_share"], evidence["bias_growth_share"] = drop, growth
        return evidence
