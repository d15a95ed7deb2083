"""The strategies: from statistics, a rule and a constraint to a partition of the features."""

from collections.abc import Callable

from .._rule import Rule
from .._statistics import Statistics
from ._agglomerative import path_agglomerative
from ._centroid import group_centroid, group_centroid_connected
from ._constraint import Constraint
from ._joint import path_joint
from ._partition import MergePath as MergePath
from ._partition import Partition as Partition
from ._partition import group_within_blocks
from ._partition import merge_type as merge_type
from ._sequential import group_sequential as group_sequential
from ._sequential import group_sequential_connected

_IN_ORDER = {
    "sequential": (group_sequential, group_sequential_connected),
    "centroid": (group_centroid, group_centroid_connected),
}
"""Strategies that go through the features in their order and return one partition: freely, and
through neighbours."""

PATHS: dict[str, Callable[[Statistics, Rule, Constraint], MergePath]] = {
    "agglomerative": path_agglomerative,
    "joint": path_joint,
}
"""Strategies that merge the best pair first and return every number of groups."""

STRATEGIES = (*_IN_ORDER, *PATHS)


def partition_in_order(
    strategy: str, statistics: Statistics, rule: Rule, constraint: Constraint
) -> Partition:
    """Group by a strategy that leaves no path."""
    freely, connected = _IN_ORDER[strategy]
    if constraint.graph is not None:
        return connected(statistics, rule, constraint.graph)
    if constraint.blocks is not None:
        return group_within_blocks(freely, statistics, rule, constraint.blocks)
    return freely(statistics, rule)
