"""The strategies: from statistics, a criterion and a constraint to a partition of the features."""

from collections.abc import Callable

from .._rule._criterion import Criterion
from .._statistics import Statistics
from ._agglomerative import path_agglomerative
from ._centroid import group_centroid
from ._connected_centroid import group_centroid_connected
from ._connected_sequential import group_sequential_connected
from ._constraint import Constraint
from ._joint import path_joint
from ._partition import Partition
from ._path import MERGES, MergePath
from ._sequential import group_sequential
from ._within_blocks import group_within_blocks

_IN_ORDER = {
    "sequential": (group_sequential, group_sequential_connected),
    "centroid": (group_centroid, group_centroid_connected),
}
"""Strategies that go through the features in their order and give one partition: freely, and
through neighbours."""

PATHS: dict[str, Callable[[Statistics, Criterion, Constraint], MergePath]] = {
    "agglomerative": path_agglomerative,
    "joint": path_joint,
}
"""Strategies that merge the best pair first and give every number of groups."""

STRATEGIES = (*_IN_ORDER, *PATHS)


def partition_in_order(
    strategy: str, statistics: Statistics, criterion: Criterion, constraint: Constraint
) -> Partition:
    """Group by a strategy that leaves no path."""
    freely, connected = _IN_ORDER[strategy]
    if constraint.graph is not None:
        return connected(statistics, criterion, constraint.graph)
    if constraint.blocks is not None:
        return group_within_blocks(freely, statistics, criterion, constraint.blocks)
    return freely(statistics, criterion)


__all__ = [
    "MERGES",
    "PATHS",
    "STRATEGIES",
    "MergePath",
    "Partition",
    "group_centroid",
    "group_sequential",
    "partition_in_order",
    "path_agglomerative",
    "path_joint",
]
