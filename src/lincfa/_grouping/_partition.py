"""What a strategy gives: disjoint groups of features and the record of the merges."""

from dataclasses import dataclass

import numpy as np

from .._rule._evidence import EvidenceArray
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
        One row per merged feature, by group and then in the order of the merges.
    """

    labels: IndexArray
    groups: list[IndexArray]
    evidence: EvidenceArray


def partition_of(roots: IndexArray, evidence: EvidenceArray) -> Partition:
    """Number the groups by their first members, and sort the evidence by group.

    ``roots`` holds the first member of each feature's group; −1 for a feature that has none.
    """
    labels = np.full(roots.size, -1, dtype=np.intp)
    grouped = roots >= 0
    firsts, labels[grouped] = np.unique(roots[grouped], return_inverse=True)
    evidence["group"] = labels[evidence["feature"]]
    evidence = evidence[np.argsort(evidence["group"], kind="stable")]
    order = np.argsort(labels, kind="stable")[roots.size - int(grouped.sum()) :]
    sizes = np.bincount(labels[grouped], minlength=firsts.size)
    return Partition(labels, np.split(order, np.cumsum(sizes)[:-1]), evidence)
