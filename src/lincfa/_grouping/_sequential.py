"""The paper's Algorithm 1: each candidate against the first feature of the group."""

from collections.abc import Iterator

import numpy as np

from .._rule._criterion import MARGIN, Criterion
from .._rule._evidence import EVIDENCE, EvidenceArray
from .._statistics import IndexArray, Statistics, Task
from ._partition import Partition, partition_of

_SCREEN_VALUES = 2**16
"""Correlations screened together: 512 KiB, so that the steps on them stay in the cache."""

_SMALLEST_BLOCK = 256


def group_sequential(statistics: Statistics, criterion: Criterion) -> Partition:
    """Group by the paper's Algorithm 1.

    Features in their order: each one that has no group yet seeds one, and every later feature that
    has none joins it if the pair (seed, feature) passes the criterion.

    The work is done in rounds, on many seeds at once. Which of the next features, the head, are
    seeds depends on the head alone, all earlier seeds having made their choice: the correlations
    within the head decide it. Then all seeds of the head choose among the features behind it; a
    feature that several would take goes to the first of them.
    """
    is_free = statistics.varying.copy()
    free = np.flatnonzero(is_free)
    record = [np.empty(0, dtype=EVIDENCE)]
    seed_share = 0.0
    while free.size:
        size = statistics.head_size(free.size, seed_share)
        head, rest = free[:size], free[size:]
        statistics.look_ahead(head, rest, seed_share)
        new, merged = _decide_head(statistics, criterion, head)
        record.append(merged)
        seed_share = new.size / head.size
        for start in range(0, new.size, statistics.seed_limit):
            batch = new[start : start + statistics.seed_limit]
            merged = _offer(statistics, criterion, batch, rest)
            record.append(merged)
            is_free[merged["feature"]] = False
            rest = rest[is_free[rest]]
        free = rest
    evidence = np.concatenate(record)
    evidence = evidence[np.argsort(evidence["feature"])]
    roots = np.where(statistics.varying, np.arange(statistics.varying.size), -1)
    roots[evidence["feature"]] = evidence["partner"]
    return partition_of(roots, evidence)


def _decide_head(
    statistics: Statistics, criterion: Criterion, head: IndexArray
) -> tuple[IndexArray, EvidenceArray]:
    """Find the seeds among the features of the head, and what they merge within it."""
    correlations = statistics.square(head)
    r = statistics.target_correlation[head]
    free = np.ones(head.size, dtype=np.bool_)
    seeds, merged = [], []
    strip = max(1, _SCREEN_VALUES // head.size)
    for top in range(0, head.size, strip):
        rows = slice(top, top + strip)
        passing, doubtful = criterion.sift(correlations[rows, top:], r[rows], r[top:])
        for seed in range(top, min(top + strip, head.size)):
            if not free[seed]:
                continue
            seeds.append(seed)
            row, behind = seed - top, slice(seed + 1 - top, None)
            joins = np.asarray(passing[row, behind] & free[seed + 1 :])
            unsure = np.flatnonzero(doubtful[row, behind] & free[seed + 1 :])
            if unsure.size:
                later = seed + 1 + unsure
                first = np.full(later.size, head[seed])
                pairs = statistics.pairs(first, head[later], correlations[seed, later])
                joins[unsure] = criterion.passes(pairs)
            joining = seed + 1 + np.flatnonzero(joins)
            free[joining] = False
            merged.append(joining)
    sizes = [joining.size for joining in merged]
    first, second = np.repeat(seeds, sizes), np.concatenate(merged)
    pairs = statistics.pairs(head[first], head[second], correlations[first, second])
    return head[seeds], criterion.evidence(head[first], head[second], pairs)


def _offer(
    statistics: Statistics, criterion: Criterion, seeds: IndexArray, candidates: IndexArray
) -> EvidenceArray:
    """Let each candidate join the first of the seeds with which it passes."""
    record = [np.empty(0, dtype=EVIDENCE)]
    if candidates.size == 0:
        return record[0]
    r = statistics.target_correlation
    seeds, tasks = _plan(statistics, criterion, seeds, candidates)
    for (active, block), rho in zip(tasks, statistics.rows(seeds, tasks), strict=True):
        some = seeds[active]
        passing, doubtful = criterion.sift(rho, r[some], r[block])
        in_order = np.argsort(some)
        possible = (passing | doubtful)[in_order]
        undecided = np.flatnonzero(possible.any(axis=0))
        while undecided.size:
            earliest = possible[:, undecided].argmax(axis=0)
            row = in_order[earliest]
            first, second = some[row], block[undecided]
            pairs = statistics.pairs(first, second, rho[row, undecided])
            joins = passing[row, undecided] | criterion.passes(pairs)
            evidence = criterion.evidence(first, second, pairs)
            record.append(evidence[joins])
            # The few that were in doubt and do not join try their next seed.
            possible[earliest[~joins], undecided[~joins]] = False
            undecided = undecided[~joins]
            undecided = undecided[possible[:, undecided].any(axis=0)]
    return np.concatenate(record)


def _plan(
    statistics: Statistics, criterion: Criterion, seeds: IndexArray, candidates: IndexArray
) -> tuple[IndexArray, list[Task]]:
    """Cut the comparison of seeds and candidates into tasks, leaving out what cannot pass.

    A seed can only merge features whose correlation with the target is within reach of its own.
    Sorted by that correlation, the seeds in reach of a block of candidates are a short range. But
    then the columns of a block lie scattered in memory; if that costs more than it saves, blocks
    keep the order of the columns and meet all seeds.
    """
    width = max(_SMALLEST_BLOCK, _SCREEN_VALUES // seeds.size)
    plain = [(slice(0, seeds.size), block) for block in _cut(candidates, width)]

    r, rounding = statistics.target_correlation, statistics.rounding
    by_target = seeds[np.argsort(r[seeds], kind="stable")]
    # Columns that differ by rounding only merge whatever the rule says, so they are in reach too.
    rounded = MARGIN + 2 * (rounding[by_target] + rounding[candidates].max())
    reach = criterion.reach(r[by_target]) + rounded
    low, high = r[by_target] - reach, r[by_target] + reach
    ordered = candidates[np.argsort(r[candidates], kind="stable")]
    pruned = []
    for block in _cut(ordered, width):
        active = np.flatnonzero((low <= r[block[-1]]) & (high >= r[block[0]]))
        if active.size:
            pruned.append((slice(int(active[0]), int(active[-1]) + 1), np.sort(block)))
    scatter = statistics.scatter_cost
    cost = sum(block.size * (part.stop - part.start + scatter) for part, block in pruned)
    return (by_target, pruned) if cost < seeds.size * candidates.size else (seeds, plain)


def _cut(features: IndexArray, size: int) -> Iterator[IndexArray]:
    for start in range(0, features.size, size):
        yield features[start : start + size]
