"""The paper's Algorithm 1: each candidate is compared with the first feature of the group."""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._rule import MARGIN, Decision, Rule
from .._statistics import (
    Comparison,
    Correlations,
    IndexArray,
    NearbyCorrelations,
    Statistics,
)
from ..theory._arrays import FloatArray
from ._constraint import Neighbours
from ._partition import Partition, partition_of

_SCREEN_VALUES = 2**16
"""Correlations screened together: 512 KiB, so that the steps on them stay in the cache."""

_SMALLEST_BLOCK, _FEWEST_BLOCKS = 256, 16
"""Candidates that are compared with the same seeds are at least so many; but rather so many blocks
of them than larger ones, as each has fewer seeds within reach."""

_MOSTLY_SEEDS = 0.5

_Figures: TypeAlias = float | list[float]
"""The correlation of a pair; where values are missing, also what else ``Correlations`` has."""

_FEWEST_AHEAD = 8
_EDGES_AHEAD = 8
"""Edges that are followed ahead of a group, for each feature to test: more than a grid has. A hub
has so many that following them for each of its neighbours would cost the square of their number."""


def group_sequential(statistics: Statistics, rule: Rule) -> Partition:
    """Group by the paper's Algorithm 1."""
    # Features in their order: each one that has no group yet seeds one, and every later feature
    # that has none joins it if the pair (seed, feature) passes the rule.
    #
    # The work is done in rounds, on many seeds at once. Which of the next features, a block, are
    # seeds depends on the block alone, all earlier seeds having made their choice: the correlations
    # within the block decide it. Then all seeds of the block choose among the features behind it; a
    # feature that several would take goes to the first of them.
    free = np.flatnonzero(statistics.varying)
    merges = _Merges(statistics)
    _group(statistics, rule, free, statistics.varying.copy(), merges)
    return merges.partition(rule)


class _Merges:
    """Pairs that merge, of seed and feature, and what is known of their correlations."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._features: list[tuple[IndexArray, IndexArray]] = []
        self._figures: list[FloatArray] = []

    def add(self, first: IndexArray, second: IndexArray, figures: FloatArray) -> None:
        self._features.append((first, second))
        self._figures.append(figures)

    def partition(self, rule: Rule) -> Partition:
        """Return the groups, and the evidence of all merges, by group and feature."""
        statistics = self._statistics
        if not self._features:
            return partition_of(statistics.varying, rule.no_evidence())
        first, second = np.hstack(self._features)
        figures = np.concatenate(self._figures, axis=-1)
        order = np.argsort(first * statistics.varying.size + second)
        first, second, figures = first[order], second[order], figures[..., order]
        if statistics.complete:
            known = statistics.with_target(figures, first, second)
        else:
            known = Correlations.of_figures(figures)
        decision = _decide(statistics, rule, first, second, known)
        return partition_of(statistics.varying, rule.evidence(first, second, decision))


def _figures(statistics: Statistics, known: Correlations) -> FloatArray:
    """Of pairs their correlation; with missing values all that is known, by the first axis."""
    return known.rho if statistics.complete else known.figures()


def _group(
    statistics: Statistics,
    rule: Rule,
    free: IndexArray,
    is_free: npt.NDArray[np.bool_],
    merges: _Merges,
) -> IndexArray:
    """Group some features, and return the seeds."""
    costs = statistics.costs
    found = []
    seed_share = 0.0
    while free.size:
        size = costs.block_size(free.size, seed_share)
        ahead = int(costs.ahead * free.size)
        if ahead > size and seed_share <= _MOSTLY_SEEDS:
            # The seeds of many features are sought in rounds of their own, which cost little: then
            # the far more features behind them are compared with many seeds at once.
            block, rest = free[:ahead], free[ahead:]
            seeds = _group(statistics, rule, block, is_free, merges)
        else:
            block, rest = free[:size], free[size:]
            if seed_share > _MOSTLY_SEEDS:
                statistics.prefetch(block, rest)
            seeds = _decide_block(statistics, rule, block, merges)
        found.append(seeds)
        seed_share = seeds.size / block.size
        for some in _cut(seeds, costs.max_seeds):
            is_free[_join_first_seed(statistics, rule, some, rest, merges)] = False
            rest = rest[is_free[rest]]
        free = rest
    return np.concatenate(found) if found else free


def _decide_block(
    statistics: Statistics, rule: Rule, block: IndexArray, merges: _Merges
) -> IndexArray:
    """Merge features within a block; return the seeds among them."""
    correlations = statistics.within(block)
    free = np.ones(block.size, dtype=np.bool_)
    seeds, merged = [], []
    strip = max(1, _SCREEN_VALUES // block.size)
    for top in range(0, block.size, strip):
        rows, columns = slice(top, top + strip), slice(top, None)
        certain, doubtful = rule.certain_and_doubtful(
            correlations.at(rows, columns), rule.imbalance(block[rows, None], block[columns])
        )
        for seed in range(top, min(top + strip, block.size)):
            if not free[seed]:
                continue
            seeds.append(seed)
            row, behind = seed - top, slice(seed + 1 - top, None)
            joins = np.asarray(certain[row, behind] & free[seed + 1 :])
            unsure = np.flatnonzero(doubtful[row, behind] & free[seed + 1 :])
            if unsure.size:
                later = seed + 1 + unsure
                first = np.full(later.size, block[seed])
                known = correlations.at(seed, later)
                joins[unsure] = _decide(statistics, rule, first, block[later], known).merges
            joining = seed + 1 + np.flatnonzero(joins)
            free[joining] = False
            merged.append(joining)
    sizes = [joining.size for joining in merged]
    first, second = np.repeat(seeds, sizes), np.concatenate(merged)
    figures = _figures(statistics, correlations.at(first, second))
    merges.add(block[first], block[second], figures)
    return block[seeds]


def _decide(
    statistics: Statistics, rule: Rule, first: IndexArray, second: IndexArray, known: Correlations
) -> Decision:
    """Judge pairs of features with known correlations, without losing digits."""
    pairs = statistics.pairs(first, second, known)
    return rule.decide(pairs, rule.imbalance(first, second))


def _join_first_seed(
    statistics: Statistics, rule: Rule, seeds: IndexArray, candidates: IndexArray, merges: _Merges
) -> IndexArray:
    """Let each candidate join the first of the seeds with which it passes; return those that do."""
    joined = [candidates[:0]]
    if candidates.size == 0:
        return joined[0]
    seeds, comparisons = _comparisons(statistics, rule, seeds, candidates)
    rows = statistics.between(seeds, comparisons)
    for (active, block), correlations in zip(comparisons, rows, strict=True):
        some = seeds[active]
        certain, doubtful = rule.certain_and_doubtful(
            correlations, rule.imbalance(some[:, None], block)
        )
        in_order = np.argsort(some)
        possible = (certain | doubtful)[in_order]
        undecided = np.flatnonzero(possible.any(axis=0))
        while undecided.size:
            earliest = possible[:, undecided].argmax(axis=0)
            row = in_order[earliest]
            joins = certain[row, undecided]
            unsure = np.flatnonzero(~joins)
            if unsure.size:
                first, second = some[row[unsure]], block[undecided[unsure]]
                known = correlations.at(row[unsure], undecided[unsure])
                joins[unsure] = _decide(statistics, rule, first, second, known).merges
            row, joining = row[joins], undecided[joins]
            figures = _figures(statistics, correlations.at(row, joining))
            merges.add(some[row], block[joining], figures)
            joined.append(block[joining])
            # The few that were in doubt and do not join try their next seed.
            possible[earliest[~joins], undecided[~joins]] = False
            undecided = undecided[~joins]
            undecided = undecided[possible[:, undecided].any(axis=0)]
    return np.concatenate(joined)


def _comparisons(
    statistics: Statistics, rule: Rule, seeds: IndexArray, candidates: IndexArray
) -> tuple[IndexArray, list[Comparison]]:
    """Divide seeds × candidates into comparisons, leaving out what cannot pass."""
    # A seed can only merge features whose correlation with the target is near its own; of several
    # targets, those along any direction. Sorted by that, the seeds near a block of candidates are a
    # short range. But then the columns of a block lie scattered in memory; if that costs more than
    # it saves, blocks keep the order of the columns and are compared with all seeds.
    width = max(_SMALLEST_BLOCK, _SCREEN_VALUES // seeds.size)
    r, rounding = rule.comparable(statistics.target_correlation), statistics.rounding
    by_target = seeds[np.argsort(r[seeds])]
    # Columns that differ by rounding only merge whatever the rule says.
    rounded = MARGIN + 2 * (rounding[by_target] + rounding[candidates].max())
    distance = rule.largest_difference(statistics.target_correlation[:, by_target]) + rounded
    low, high = r[by_target] - distance, r[by_target] + distance
    ordered = candidates[np.argsort(r[candidates])]
    near = []
    for block in _cut(ordered, max(_SMALLEST_BLOCK, min(width, candidates.size // _FEWEST_BLOCKS))):
        active = np.flatnonzero((low <= r[block[-1]]) & (high >= r[block[0]]))
        if active.size:
            near.append((slice(int(active[0]), int(active[-1]) + 1), block))
    scattered = statistics.costs.scattered
    cost = sum(block.size * (part.stop - part.start + scattered) for part, block in near)
    if cost < seeds.size * candidates.size:
        return by_target, [(part, np.sort(block)) for part, block in near]
    return seeds, [(slice(0, seeds.size), block) for block in _cut(candidates, width)]


def _cut(features: IndexArray, size: int) -> Iterator[IndexArray]:
    for start in range(0, features.size, size):
        yield features[start : start + size]


# Through neighbours only


def group_sequential_connected(
    statistics: Statistics, rule: Rule, graph: sparse.csr_array
) -> Partition:
    """Group by the paper's Algorithm 1, through neighbours only."""
    # Features in their order: each one that has no group yet seeds one. A feature without a group
    # that is a neighbour of a member joins if the pair (seed, feature) passes the rule, until no
    # neighbour passes.
    groups, merges = _ConnectedGroups(statistics, rule, graph), _Merges(statistics)
    seeds, features, figures = [], [], []
    for seed in np.flatnonzero(statistics.varying).tolist():
        if groups.free[seed]:
            members, correlations = groups.grow(seed)
            seeds += [seed] * len(members)
            features += members
            figures += correlations
    if features:
        merges.add(np.array(seeds), np.array(features), np.array(figures).T)
    return merges.partition(rule)


class _ConnectedGroups:
    """Groups that take one neighbour after the other; ``free`` are the features without one."""

    def __init__(self, statistics: Statistics, rule: Rule, graph: sparse.csr_array) -> None:
        self._statistics, self._rule, self._neighbours = statistics, rule, Neighbours(graph)
        self._correlations = NearbyCorrelations(statistics)
        self.free = statistics.varying.tolist()
        self._r = rule.comparable(statistics.target_correlation).tolist()
        # Columns that differ by rounding only merge whatever the rule says.
        rounding = MARGIN + 4 * float(statistics.rounding.max())
        largest = rule.largest_difference(statistics.target_correlation)
        self._largest_difference = (largest + rounding).tolist()
        self._first_ring = self._passing_neighbours(graph)

    def _passing_neighbours(self, graph: sparse.csr_array) -> list[dict[int, _Figures]] | None:
        """Later neighbours that pass with a feature, of each; None where these are not cheap."""
        # All at once: most seeds take few features, or none, and would be tested with a handful.
        varying, r = self._statistics.varying, np.array(self._r)
        first, second = sparse.triu(graph, 1).tocoo().coords
        order = np.lexsort((second, first))
        order = order[varying[first[order]] & varying[second[order]]]
        first, second = first[order].astype(np.intp), second[order].astype(np.intp)
        # Those whose correlations with the target are too far apart cannot pass.
        near = np.abs(r[first] - r[second]) <= np.array(self._largest_difference)[first]
        first, second = first[near], second[near]
        known = self._statistics.along_edges(first, second)
        if known is None:
            return None
        joins = self._passes(first, second, known)
        rings: list[dict[int, _Figures]] = [{} for _ in range(varying.size)]
        passing = first[joins].tolist(), second[joins].tolist(), self._listed(known, joins)
        for seed, feature, figures in zip(*passing, strict=True):
            rings[seed][feature] = figures
        return rings

    def grow(self, seed: int) -> tuple[list[int], list[_Figures]]:
        """Return the features that join a seed, and their correlations with it."""
        # A feature joins by its own correlation with the seed, whichever member it is a neighbour
        # of. So features are tested some steps ahead of the group, as many at once as it has
        # members, and the group is what can be reached through those that pass.
        self.free[seed] = False
        joined: list[int] = []
        tested: dict[int, _Figures | None] = {}  # the correlations of those that pass
        if self._first_ring is not None:
            # Whatever comes before the seed has its group.
            ring = self._first_ring[seed]
            if not any(self.free[feature] for feature in ring):
                return [], []
            tested = {feature: ring.get(feature) for feature in self._neighbours.of(seed)}
        edge = [seed]
        while edge:
            unknown: dict[int, None] = {}
            while edge:
                for other in self._neighbours.of(edge.pop()):
                    if not self.free[other]:
                        continue
                    if other not in tested:
                        unknown[other] = None
                    elif tested[other] is not None:
                        self.free[other] = False
                        joined.append(other)
                        edge.append(other)
            to_test = self._candidates(seed, unknown, tested, len(joined))
            tested.update(self._test(seed, to_test))
            for other in unknown:
                if tested.get(other) is not None:
                    self.free[other] = False
                    joined.append(other)
                    edge.append(other)
        return joined, [tested[feature] for feature in joined]  # type: ignore[misc]

    def _candidates(
        self, seed: int, unknown: dict[int, None], tested: dict[int, _Figures | None], size: int
    ) -> list[int]:
        """Return features to test: those asked for, and what lies behind them."""
        # Those whose correlation with the target is too far off cannot pass, and need no test.
        r_seed, largest = self._r[seed], self._largest_difference[seed]
        most = len(unknown) + max(_FEWEST_AHEAD, size)
        edges_left = _EDGES_AHEAD * most
        candidates: list[int] = []
        waiting = list(unknown)
        seen = set(waiting)
        for feature in waiting:  # which grows on the way
            if abs(self._r[feature] - r_seed) > largest:
                tested[feature] = None
                continue
            candidates.append(feature)
            if len(candidates) >= most:
                break
            ahead = self._neighbours.of(feature)[:edges_left]
            edges_left -= len(ahead)
            for other in ahead:
                if self.free[other] and other not in seen and other not in tested:
                    seen.add(other)
                    waiting.append(other)
        return candidates

    def _test(self, seed: int, features: list[int]) -> dict[int, _Figures | None]:
        """Correlations of the features that pass with the seed; None for those that do not."""
        if not features:
            return {}
        features = sorted(features)  # as they lie in memory
        candidates = np.array(features, dtype=np.intp)
        known = self._correlations.of(seed, candidates)
        joins = self._passes(seed, candidates, known)
        tested: dict[int, _Figures | None] = dict.fromkeys(features)
        tested.update(zip(candidates[joins].tolist(), self._listed(known, joins), strict=True))
        return tested

    def _passes(
        self, first: IndexArray | int, second: IndexArray, known: Correlations
    ) -> npt.NDArray[np.bool_]:
        """Which pairs with these correlations merge; the first may be the same in all."""
        imbalance = self._rule.imbalance(first, second)
        joins, doubtful = self._rule.certain_and_doubtful(known, imbalance)
        unsure = np.flatnonzero(doubtful)
        if unsure.size:
            partners = np.broadcast_to(first, second.shape)[unsure]
            joins[unsure] = _decide(
                self._statistics, self._rule, partners, second[unsure], known.at(unsure)
            ).merges
        return joins

    def _listed(self, known: Correlations, joins: npt.NDArray[np.bool_]) -> list[_Figures]:
        """Figures of the pairs that join."""
        return _figures(self._statistics, known)[..., joins].T.tolist()  # type: ignore[no-any-return]
