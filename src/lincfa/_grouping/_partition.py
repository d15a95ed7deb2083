"""What a strategy returns: disjoint groups of features and the record of the merges."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._rule import EVIDENCE, EvidenceArray, Rule
from .._statistics import IndexArray, Statistics


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


def partition_of(varying: npt.NDArray[np.bool_], evidence: EvidenceArray) -> Partition:
    """Number the groups that merges have left by their first members.

    Each row of the evidence merges the group of a feature into that of a partner, which is the
    smaller of the two; ``varying`` are the features that belong to groups.
    """
    roots = np.arange(varying.size)
    roots[evidence["feature"]] = evidence["partner"]
    while (roots[roots] != roots).any():
        roots = roots[roots]
    labels = np.full(varying.size, -1, dtype=np.intp)
    firsts, labels[varying] = np.unique(roots[varying], return_inverse=True)
    evidence["group"] = labels[evidence["feature"]]
    evidence = evidence[np.argsort(evidence["group"], kind="stable")]
    order = np.argsort(labels, kind="stable")[varying.size - int(varying.sum()) :]
    sizes = np.bincount(labels[varying], minlength=firsts.size)
    return Partition(labels, np.split(order, np.cumsum(sizes)[:-1]), evidence)


def group_within_blocks(
    group: Callable[[Statistics, Rule], Partition],
    statistics: Statistics,
    rule: Rule,
    blocks: IndexArray,
) -> Partition:
    """Group each block by itself: features of different blocks have nothing to do with another."""
    varying = statistics.varying
    record = [np.empty(0, dtype=EVIDENCE)]
    for block in np.flatnonzero(np.bincount(blocks[varying]) > 1).tolist():
        inside = statistics.restricted_to(varying & (blocks == block))
        record.append(group(inside, rule).evidence)
    return partition_of(varying, np.concatenate(record))
