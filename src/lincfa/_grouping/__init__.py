"""The strategies: from statistics and a criterion to a partition of the features."""

from collections.abc import Callable

from .._criterion import Criterion
from .._statistics import Statistics
from ._agglomerative import path_agglomerative
from ._centroid import group_centroid
from ._joint import path_joint
from ._partition import Partition
from ._path import MERGES, MergePath
from ._sequential import group_sequential

PARTITIONS: dict[str, Callable[[Statistics, Criterion], Partition]] = {
    "sequential": group_sequential,
    "centroid": group_centroid,
}
"""Strategies that go through the features in their order and give one partition."""

PATHS: dict[str, Callable[[Statistics, Criterion], MergePath]] = {
    "agglomerative": path_agglomerative,
    "joint": path_joint,
}
"""Strategies that merge the best pair first and give every number of groups."""

STRATEGIES = (*PARTITIONS, *PATHS)

__all__ = [
    "MERGES",
    "PARTITIONS",
    "PATHS",
    "STRATEGIES",
    "MergePath",
    "Partition",
    "group_centroid",
    "group_sequential",
    "path_agglomerative",
    "path_joint",
]
