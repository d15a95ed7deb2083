"""Each candidate is compared with the mean of the group so far."""

from heapq import heapify, heappop, heappush
from math import copysign, sqrt
from operator import mul

import numpy as np
from scipy import sparse

from .._rule import (
    MARGIN,
    EvidenceArray,
    Rule,
    imbalance_of,
    pair_contrasts,
    pairs_from_correlations,
    take_as_equal,
)
from .._statistics import (
    RESOLUTION,
    ColumnSum,
    Correlations,
    GroupSums,
    IndexArray,
    NearbyCorrelations,
    Statistics,
    coarsest_equality,
    equal_up_to,
)
from .._statistics._protocol import add_member
from .._statistics._speed import worth_compiling
from ..theory._arrays import FloatArray
from ._constraint import Neighbours
from ._partition import Partition, partition_of

_SLACK = 0.1
"""Share of the largest difference by which the group's correlation with the target may move before
the candidates that can pass are selected again."""

_COINCIDE = MARGIN + np.sqrt(2 * RESOLUTION)
"""Difference of the correlations with the target of features that count as equal, at most."""

_AT_LEAST = 10 * np.sqrt(MARGIN)

_FEWEST, _MOST = 4, 256
"""Candidates whose correlations with a connected group are computed together."""

_FEWEST_COLUMNS, _MOST_COLUMNS = 16, 128
"""Columns that are read together to be tested one after another."""

_COLUMN_VALUES = 2**19
_AHEAD = 2**12
"""Features among which those that can pass are selected together."""


class _Reach:
    """Correlations of features with the targets, as far as they tell which cannot join a group."""

    def __init__(self, statistics: Statistics, rule: Rule) -> None:
        self.r = rule.comparable(statistics.target_correlation)
        # That of a group without correlation with the targets: no other has a larger one.
        none = np.zeros((statistics.n_targets, 1))
        self._largest = float(rule.largest_difference(none)[0])
        self._relative = rule.reach()
        self._rounding, self._root = statistics.rounding, sqrt(statistics.n_targets)
        # Otherwise correlations themselves show which columns count as equal.
        coarsest = coarsest_equality(statistics.rounding, statistics.varying)
        self.rounding_matters = coarsest > RESOLUTION

    def of(self, r: float, moved: float = 0.0, rounding: float = 0.0) -> float:
        """Largest difference of r from that of a group at which a feature can join it.

        Also when the group has moved by so much, and while it has no more than such a rounding.
        """
        # With margins for the rounding of F near ρ = −1, and of features that coincide.
        relative = self._relative * (1.001 * max(1 - abs(r) + moved, 0.0) + _AT_LEAST)
        return float(min(self._largest, relative) + moved + _COINCIDE + self._root * rounding)

    def near(
        self, group: float, distance: float, r: FloatArray, features: slice | IndexArray
    ) -> IndexArray:
        """Places of features whose r is within the distance, or may be without their rounding."""
        # Columns that count as equal differ by the sum of their roundings at most, and so do their
        # correlations with a target; along a direction of K targets it is √K times as much.
        limits: FloatArray | float = distance
        if self.rounding_matters:
            limits = distance + self._root * self._rounding[features]
        return np.flatnonzero(np.abs(r[features] - group) <= limits)


class _Group:
    """A group that takes one feature after the other by its mean."""

    def __init__(
        self, statistics: Statistics, rule: Rule, reach: _Reach, seed: int, sums: GroupSums
    ) -> None:
        # With the sum s of the members' standardised columns, each with its weight and sign, a
        # candidate's correlation with the mean of the group is its product with s over the norm of
        # s, both from correlations.
        self._statistics, self._rule, self._reach, self.sums = statistics, rule, reach, sums
        self.members = [seed]
        self.weight = self._weight_of(seed)  # of all members together
        self.factors = [self.weight]
        self._figures: list[list[float]] = []
        self._direction = rule.direction.tolist()
        self._rounding = self.weight * self._rounding_of(seed)
        self._r = [self.weight * r for r in statistics.target_correlation[:, seed].tolist()]
        self._square = self.weight**2
        self._in_sums = 0
        self._describe()
        self.update_sums()

    def _describe(self) -> None:
        """Compute what candidates are compared with, from the sums over the members."""
        # What the mean of the group counts beside a candidate: equal weights are like none.
        self.mean_weight = self.weight / len(self.members)
        # As far as rounding can take the mean: that of the members, on average.
        self.rounding = self._rounding / self.weight
        # The sum of mirror images has no variance: any norm does for it.
        self.norm = sqrt(max(self._square, RESOLUTION * self.mean_weight**2))
        # Correlation of the mean with the targets, as far as it matters for reach.
        r = sum(map(mul, self._direction, self._r)) / self.norm
        self.r = abs(r) if self._rule.signed else r

    def _weight_of(self, feature: int) -> float:
        return 1.0 if self._rule.weights is None else float(self._rule.weights[feature])

    def _rounding_of(self, feature: int) -> float:
        return float(self._statistics.rounding[feature])

    def join(self, feature: int, figures: list[float]) -> bool:
        """Test a candidate, given what the sums say of it; if it passes, it joins."""
        # The running sums do not include it yet.
        total, *r, n = figures
        weight, imbalance = 1.0, 0.0
        if self._rule.weights is not None:
            weight = self._weight_of(feature)
            imbalance = imbalance_of(self.mean_weight, weight)
        rho, behind = max(-1.0, min(1.0, total / self.norm)), len(self._r)
        rounding = self._rounding_of(feature)
        copy = copysign(1.0, rho) if self._rule.signed else 1.0
        if 1 - rho * copy <= equal_up_to(self.rounding, rounding):
            rho = copy
        r_group, r_feature = [each / self.norm for each in r[:behind]], r[behind:]
        products = pair_contrasts(r_group, r_feature)
        f, sign = self._rule.better_sign(rho, products, n, imbalance)
        if f > self._rule.tolerance:
            return False
        factor = sign * weight
        self.members.append(feature)
        self.factors.append(factor)
        self._figures.append(
            [sign * rho, *r_group, *(sign * each for each in r_feature), n, imbalance]
        )
        self._square += 2 * factor * total + weight**2
        own = self._statistics.target_correlation[:, feature].tolist()
        self._r = [before + factor * each for before, each in zip(self._r, own, strict=True)]
        self.weight += weight
        self._rounding += weight * rounding
        self._describe()
        return True

    def update_sums(self) -> None:
        """Add the members that joined last to the running sums."""
        new = slice(self._in_sums, None)
        self.sums.add(np.array(self.members[new]), np.array(self.factors[new]))
        self._in_sums = len(self.members)

    def evidence(self) -> EvidenceArray:
        """The figures of each member when it joined; the seed stands for the group."""
        *known, imbalance = np.array(self._figures).T
        features = np.array(self.members[1:], dtype=np.intp)
        decision = self._rule.decide(
            pairs_from_correlations(Correlations.of_figures(np.array(known))),
            0.0 if self._rule.weights is None else imbalance,
            sign=np.sign(self.factors[1:]),
        )
        return self._rule.evidence(np.full(features.size, self.members[0]), features, decision)


def group_centroid(statistics: Statistics, rule: Rule) -> Partition:
    """Let features join the mean of a group."""
    # Features in their order: each one that has no group yet seeds one. The features behind it that
    # have no group are tested one after another against the mean of the group so far, standardised,
    # and join if the pair passes. This is repeated until a round adds none.
    reach = _Reach(statistics, rule)
    # NaN, which is near nothing, stands for features that have a group.
    r = np.where(statistics.varying, reach.r, np.nan)
    record = [rule.no_evidence()]
    for seed in range(r.size):
        if np.isnan(r[seed]):
            continue
        group = _FreeGroup(statistics, rule, reach, seed, statistics.sums())
        while group.test_all(r):
            r[group.members] = np.nan
        if len(group.members) > 1:
            record.append(group.evidence())
    return partition_of(statistics.varying, np.concatenate(record))


class _FreeGroup(_Group):
    """A group that any feature may join."""

    def __init__(
        self, statistics: Statistics, rule: Rule, reach: _Reach, seed: int, sums: GroupSums
    ) -> None:
        super().__init__(statistics, rule, reach, seed, sums)
        self._column = sums if isinstance(sums, ColumnSum) else None
        self._compiles = rule.weights is None and worth_compiling(
            statistics.n_rows * statistics.varying.size
        )
        self._together = _FEWEST_COLUMNS

    def test_all(self, r: FloatArray) -> bool:
        """Test the features behind the seed one after another; return whether any joined."""
        # Only those are computed whose correlation with the target is near that of the group, with
        # some slack. They are selected again when the group has moved by more than the slack.
        before = len(self.members)
        ahead = r.size if self._column is None else _AHEAD
        first = self.members[0] + 1
        start, self._failed = first, 0
        while start < r.size:
            slack = _SLACK * self._reach.of(self.r)
            most = (1 + _SLACK) * self.rounding + _COINCIDE
            self._limits = self.r - slack, self.r + slack, most
            distance = self._reach.of(self.r, slack, most)
            some = slice(start, start + ahead)
            near = start + self._reach.near(self.r, distance, r, some)
            if self._column is not None:
                last = self._test_columns(self._column, near)
            else:
                if start == first:
                    # One product with all candidates is faster than many with a block of them.
                    near = near[self._first_to_pass(near) :]
                last = self._test_blocks(near)
            start = start + ahead if last is None else int(near[last]) + 1
        return len(self.members) > before

    def _has_moved(self) -> bool:
        """Whether the group has moved by more than the slack, or is known much less precisely."""
        low, high, most = self._limits
        return not (low <= self.r <= high and self.rounding <= most)

    # From their columns

    def _test_columns(self, sums: ColumnSum, candidates: IndexArray) -> int | None:
        """Test candidates; return the place of one that moved the group too far."""
        most = max(1, min(_MOST_COLUMNS, _COLUMN_VALUES // self._statistics.n_rows))
        left = 0
        while left < candidates.size:
            size = min(self._together, most)
            if self._failed > most:
                # Where none joins, one product with many candidates is faster: as many as were
                # tested in vain, so that not much more is computed than has to be.
                size = min(self._failed, candidates.size - left)
                skipped = self._first_to_pass(candidates[left : left + size])
                left, self._failed = left + skipped, self._failed + skipped
                if skipped == size:
                    continue
                size = 1
            before = len(self.members)
            last = self._join_in_order(sums, candidates[left : left + size])
            if last is not None:
                self._together = _FEWEST_COLUMNS
                self._failed = 0
                return left + last
            self._failed = 0 if len(self.members) > before else self._failed + size
            self._together = max(2 * size, _FEWEST_COLUMNS)
            left += size
        return None

    def _join_in_order(self, sums: ColumnSum, block: IndexArray) -> int | None:
        """Test a block of candidates; return the place of one that moved the group too far."""
        columns = np.ascontiguousarray(self._statistics.columns(block))
        before, last = len(self.members), None
        if self._compiles:
            last = self._join_compiled(sums.total, block, columns)
        else:
            r, n = self._statistics.target_correlation[:, block].T.tolist(), self._rule.n_samples
            for place, (feature, column) in enumerate(zip(block.tolist(), columns, strict=True)):
                product = float(column @ sums.total)
                if self.join(feature, [product, *self._r, *r[place], n]):
                    sums.total += self.factors[-1] * column
                    if self._has_moved():
                        last = place
                        break
        if len(self.members) > before:
            sums.note(np.array(self.members[before:]), np.array(self.factors[before:]))
        return last

    def _join_compiled(
        self, total: FloatArray, block: IndexArray, columns: FloatArray
    ) -> int | None:
        from ._loops import PairRule, join_in_order

        rule, r_sum = self._rule, np.array(self._r)
        rounding = self._statistics.rounding[block]
        joined, signs = np.empty(block.size, dtype=np.intp), np.empty(block.size)
        figures = np.empty((block.size, 2 * r_sum.size + 3))
        figures[:, -2:] = rule.n_samples, 0.0
        count, self._square, moved = join_in_order(
            *(columns, self._statistics.target_correlation[:, block], rounding, total, r_sum),
            *(rule.direction, self._square, (self._rounding, len(self.members)), self._limits),
            *(PairRule.of(rule), joined, signs, figures),
        )
        if not count:
            return None
        self.members += block[joined[:count]].tolist()
        self.factors += signs[:count].tolist()
        self._figures += figures[:count].tolist()
        self._r = r_sum.tolist()
        self.weight += count
        self._rounding += float(rounding[joined[:count]].sum())
        self._describe()
        return int(joined[count - 1]) if moved else None

    # From correlations

    def _first_to_pass(self, candidates: IndexArray) -> int:
        """Place of the first candidate that passes with the group as it is."""
        known = Correlations.of_figures(self.sums.of(candidates))
        rho, r_group = np.clip(known.rho / self.norm, -1, 1), known.r_first / self.norm
        if self._reach.rounding_matters:
            rounding = self._statistics.rounding[candidates]
            take_as_equal(rho, np.ones(1), self.rounding, rounding, signed=self._rule.signed)
        known = Correlations(rho, r_group, known.r_second, known.n_samples)
        weights = self._rule.weights
        own = np.asarray(self.mean_weight)
        imbalance = 0.0 if weights is None else imbalance_of(own, weights[candidates])
        f, _ = self._rule.f_of_means(known, imbalance)
        # With a margin: whether a candidate passes is decided when its turn comes.
        passing = np.flatnonzero(f <= self._rule.tolerance * (1 + MARGIN))
        return int(passing[0]) if passing.size else candidates.size

    def _test_blocks(self, candidates: IndexArray) -> int | None:
        """Test candidates; return the place of one that moved the group too far."""
        # Their correlations with the group are computed together, and with each other as soon as
        # one of them joins.
        size = self._statistics.costs.candidates
        for left in range(0, candidates.size, size):
            last = self._test_block(candidates[left : left + size])
            if last is not None:
                return left + last
        return None

    def _test_block(self, block: IndexArray) -> int | None:
        """Test the candidates of a block; return the place of one that moved the group too far."""
        sums = self.sums.of(block)
        square: Correlations | None = None
        before = len(self.members)
        last: int | None = None
        for place, feature in enumerate(block.tolist()):
            if not self.join(feature, sums[:, place].tolist()):
                continue
            if self._has_moved():
                last = place
                break
            if square is None:
                square = self._statistics.within(block)
            later = slice(place + 1, None)
            factor = self.factors[-1]
            add_member(sums[:, later], square.at(place, later), factor, self.weight)
        if len(self.members) > before:
            self.update_sums()
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
    reach = _Reach(statistics, rule)
    free = statistics.varying.tolist()
    record = [rule.no_evidence()]
    for seed in np.flatnonzero(statistics.varying).tolist():
        if not free[seed]:
            continue
        free[seed] = False
        group = _ConnectedGroup(statistics, rule, reach, seed, correlations.sums())
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
        distance = self._reach.of(self.r, rounding=self.rounding)
        near = self._reach.near(self.r, distance, self._reach.r, candidates)
        figures = self.sums.of(candidates[near]).T.tolist()
        for place, known in zip(near.tolist(), figures, strict=True):
            feature = batch[place]
            if self.join(feature, known):
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
        self.update_sums()
        for other in self._neighbours.of(feature):
            if not self._free[other]:
                continue
            if other < feature:
                self._later.add(other)
            elif other not in self._called:
                self._called.add(other)
                heappush(self._waiting, other)
