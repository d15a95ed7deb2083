"""The strategies: from statistics and a criterion to a partition of the features."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ._criterion import EVIDENCE, Criterion, EvidenceArray
from ._statistics import IndexArray, Statistics


@dataclass(frozen=True)
class Partition:
    """Disjoint groups of features, and the record of the merges that made them.

    Attributes
    ----------
    labels : array of shape (D,)
        Group of each feature; −1 for a constant one, which belongs to none.
    groups : list of arrays
        Members of each group in increasing order; groups in the order of their first member.
    evidence : structured array
        One row per merged feature.
    """

    labels: IndexArray
    groups: list[IndexArray]
    evidence: EvidenceArray


def group_sequential(statistics: Statistics, criterion: Criterion) -> Partition:
    """Group by the paper's Algorithm 1.

    Features in their order: each one that has no group yet seeds one, and every later feature that
    has none joins it if the pair (seed, feature) passes the criterion.
    """
    varying = statistics.varying
    labels = np.full(varying.shape, -1, dtype=np.intp)
    free = varying.copy()
    record = [np.empty(0, dtype=EVIDENCE)]
    n_groups = 0
    for seed in np.flatnonzero(varying):
        if not free[seed]:
            continue
        labels[seed] = n_groups
        free[seed] = False
        candidates = seed + 1 + np.flatnonzero(free[seed + 1 :])
        pairs = statistics.pairs(int(seed), candidates)
        merged = criterion.merged(n_groups, int(seed), candidates, pairs)
        labels[merged["feature"]] = n_groups
        free[merged["feature"]] = False
        record.append(merged)
        n_groups += 1
    return Partition(labels, _members(labels, n_groups), np.concatenate(record))


def _members(labels: IndexArray, n_groups: int) -> list[IndexArray]:
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
    constant = labels.size - int(sizes.sum())
    return np.split(order[constant:], np.cumsum(sizes)[:-1]) if n_groups else []


STRATEGIES: dict[str, Callable[[Statistics, Criterion], Partition]] = {
    "sequential": group_sequential
}
