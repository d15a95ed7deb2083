"""What a strategy returns: disjoint groups of features, or the path of all its merges."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .._rule import (
    EvidenceArray,
    Rule,
    evidence_type,
    imbalance_of,
    merge_threshold,
    of_targets,
)
from .._statistics import IndexArray, Statistics
from ..theory._arrays import FloatArray


@dataclass(frozen=True)
class Partition:
    """Disjoint groups of features, and the record of the merges that made them."""

    labels: IndexArray  # group of each feature; −1 for a constant one, which belongs to none
    groups: list[IndexArray]  # members in increasing order; groups by their first member
    evidence: EvidenceArray  # a row per merged feature, by group and then in the order of merges
    signs: npt.NDArray[np.int8]  # −1 for a feature that enters the mean with its sign flipped


def partition_of(varying: npt.NDArray[np.bool_], evidence: EvidenceArray) -> Partition:
    """Number the groups that merges have left by their first members."""
    # Each row of the evidence merges the group of a feature into that of a partner, which is the
    # smaller of the two; ``varying`` are the features that belong to groups.
    # Signs are relative to the partner, so that their product along the way is relative to the
    # first member.
    roots = np.arange(varying.size)
    roots[evidence["feature"]] = evidence["partner"]
    signs = np.ones(varying.size, dtype=np.int8)
    signs[evidence["feature"]] = evidence["sign"]
    while (roots[roots] != roots).any():
        signs *= signs[roots]
        roots = roots[roots]
    first = varying & (roots == np.arange(varying.size))
    labels = np.where(varying, (np.cumsum(first) - 1)[roots], -1)
    evidence["group"] = labels[evidence["feature"]]
    if (np.diff(evidence["group"]) < 0).any():
        evidence = evidence[np.argsort(evidence["group"], kind="stable")]
    order = np.argsort(labels, kind="stable")[varying.size - int(varying.sum()) :]
    sizes = np.bincount(labels[varying], minlength=int(first.sum()))
    return Partition(labels, np.split(order, np.cumsum(sizes)[:-1]), evidence, signs)


def group_within_blocks(
    group: Callable[[Statistics, Rule], Partition],
    statistics: Statistics,
    rule: Rule,
    blocks: IndexArray,
) -> Partition:
    """Group each block by itself: features of different blocks have nothing to do with another."""
    varying = statistics.varying
    record = [rule.no_evidence()]
    for block in np.flatnonzero(np.bincount(blocks[varying]) > 1).tolist():
        inside = statistics.restricted_to(varying & (blocks == block))
        record.append(group(inside, rule).evidence)
    return partition_of(varying, np.concatenate(record))


# Every number of groups from all features to one


def merge_type(n_targets: int) -> np.dtype[np.void]:
    """One row per merge, in order.

    A group is named by its first member; the merged one keeps the smaller name of the two. ``sign``
    is −1 where the second was flipped, each group having the sign of its first member. ``size`` is
    its number of features, ``correlation`` that of the two means, ``height`` the running maximum of
    F, ``pairwise`` whether F compares the two means alone. The drop of variance and the growth of
    bias are the estimates of which F is the ratio, as shares of each target's variance. The last
    three are of the merged group: mean and minimum of the correlations of its features, and the
    correlation of its mean with each target; NaN until they are computed.
    """
    return np.dtype(
        [
            ("first", np.intp),
            ("second", np.intp),
            ("sign", np.int8),
            ("size", np.intp),
            ("correlation", np.float64),
            ("f", np.float64),
            ("height", np.float64),
            ("pairwise", np.bool_),
            of_targets("variance_drop_share", n_targets),
            of_targets("bias_growth_share", n_targets),
            ("mean_correlation", np.float64),
            ("min_correlation", np.float64),
            of_targets("target_correlation", n_targets),
        ]
    )


def merge_record(size: int, n_targets: int) -> npt.NDArray[np.void]:
    """Return an empty record of merges."""
    record = np.empty(size, dtype=merge_type(n_targets))
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        record[name] = np.nan
    return record


@dataclass(frozen=True)
class MergePath:
    """Merges in their order, from one group per feature on."""

    varying: npt.NDArray[np.bool_]  # which features take part; constant ones do not
    merges: npt.NDArray[np.void]  # see :func:`merge_type`
    weights: FloatArray | None = None  # of the features in means; None where all are the same

    @property
    def most_groups(self) -> int:
        """Number of groups before the first merge."""
        return int(self.varying.sum())

    @property
    def fewest_groups(self) -> int:
        """Number of groups after the last merge."""
        return self.most_groups - self.merges.size

    def n_groups(self, tolerance: float) -> int:
        """Number of groups at which the smallest F exceeds the tolerance for the first time."""
        made = np.searchsorted(self.merges["height"], tolerance, side="right")
        return self.most_groups - int(made)

    def partition(self, n_groups: int, tolerance: float | None = None) -> Partition:
        """Make the first merges, down to a number of groups."""
        # The tolerance is that of the evidence; by default the smallest at which these merges are
        # made. Merges that are made whatever their F have an infinite one. Where F depends on all
        # groups there is no threshold on the correlation.
        made = self.merges[: self.most_groups - n_groups]
        if tolerance is None:
            tolerance = float(made["height"][-1]) if made.size else 0.0
        n_targets = int(np.prod(made.dtype["target_correlation"].shape))
        evidence = np.empty(made.size, dtype=evidence_type(n_targets))
        evidence["feature"], evidence["partner"] = made["second"], made["first"]
        for name in ("sign", "correlation", "f", "variance_drop_share", "bias_growth_share"):
            evidence[name] = made[name]
        limit = np.where(made["f"] > made["height"], np.inf, tolerance)
        evidence["tolerance"] = limit
        evidence["threshold"] = np.nan
        pairs = made["pairwise"]
        evidence["threshold"][pairs] = merge_threshold(
            limit[pairs],
            1 - made["correlation"][pairs],
            made["f"][pairs],
            0.0 if self.weights is None else self._imbalance(self.weights, made)[pairs],
        )
        return partition_of(self.varying, evidence)

    def _imbalance(self, weights: FloatArray, made: npt.NDArray[np.void]) -> FloatArray:
        """How unevenly the two groups of each merge enter its mean."""
        total, size = weights.copy(), np.ones(weights.size)
        result = np.empty(made.size)
        for step, merge in enumerate(made):
            first, second = merge["first"], merge["second"]
            result[step] = imbalance_of(total[first] / size[first], total[second] / size[second])
            total[first] += total[second]
            size[first] += size[second]
        return result

    def adjacent(self) -> tuple[IndexArray, FloatArray]:
        """Order the features such that the members of every group are adjacent.

        With the sign of each of them relative to the first member of its last group.
        """
        following, last = [-1] * self.varying.size, list(range(self.varying.size))
        names = ("first", "second", "sign")
        merges = list(zip(*(self.merges[name].tolist() for name in names), strict=True))
        for first, second, _ in merges:
            following[last[first]] = second
            last[first] = last[second]
        signs = np.ones(self.varying.size)
        heads = self.varying.copy()
        heads[self.merges["second"]] = False
        for first, second, sign in reversed(merges):
            signs[second] = signs[first] * sign
        order = []
        for feature in np.flatnonzero(heads).tolist():
            while feature >= 0:
                order.append(feature)
                feature = following[feature]
        return np.array(order, dtype=np.intp), signs[order]

    def linkage(self) -> FloatArray:
        """Return the path in the form of SciPy's hierarchical clustering."""
        # The leaves are the varying features, in their order; the path must end in one group.
        leaves = self.most_groups
        current = np.cumsum(self.varying) - 1
        linkage = np.empty((self.merges.size, 4))
        for step, merge in enumerate(self.merges):
            pair = current[merge["first"]], current[merge["second"]]
            linkage[step] = min(pair), max(pair), merge["height"], merge["size"]
            current[merge["first"]] = leaves + step
        return linkage
