"""What a strategy gives: disjoint groups of features and the record of the merges."""

from dataclasses import dataclass

import numpy as np

from .._criterion import EvidenceArray
from .._statistics import IndexArray


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
        One row per merged feature, by group.
    """

    labels: IndexArray
    groups: list[IndexArray]
    evidence: EvidenceArray


def partition_of(n_features: int, seeds: IndexArray, evidence: EvidenceArray) -> Partition:
    """Number the groups by their seeds, which are their first members.

    Each row of the evidence puts a feature into the group of its partner, which is a seed.
    """
    evidence["group"] = np.searchsorted(seeds, evidence["partner"])
    evidence = evidence[np.lexsort((evidence["feature"], evidence["group"]))]
    labels = np.full(n_features, -1, dtype=np.intp)
    labels[seeds] = np.arange(seeds.size)
    labels[evidence["feature"]] = evidence["group"]
    return Partition(labels, members(labels, seeds.size), evidence)


def members(labels: IndexArray, n_groups: int) -> list[IndexArray]:
    """Members of each group, in increasing order."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels[labels >= 0], minlength=n_groups)
    grouped = order[labels.size - int(sizes.sum()) :]
    return np.split(grouped, np.cumsum(sizes)[:-1]) if n_groups else []
