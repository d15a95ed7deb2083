"""Merging the two groups with the smallest F, again and again."""

from typing import TypeAlias

from .._rule._criterion import Criterion
from .._statistics import Statistics
from ._all_pairs import AllPairs
from ._constraint import Constraint
from ._neighbour_pairs import NeighbourPairs
from ._path import MergePath

Groups: TypeAlias = AllPairs | NeighbourPairs


def path_agglomerative(
    statistics: Statistics, criterion: Criterion, constraint: Constraint
) -> MergePath:
    """Merge the two groups with the smallest F until one group is left, or none may merge.

    Each group stands for itself by the mean of its standardised features, standardised again.
    The path does not depend on the order of the features: where several pairs have the same F, the
    most correlated pair merges first, then the one with the fewest features, and only where these
    are equal too, the one that comes first.
    """
    groups = single_features(statistics, criterion, constraint)
    groups.merge_coinciding()
    groups.merge_down(1)
    return MergePath(statistics.varying, groups.record())


def single_features(statistics: Statistics, criterion: Criterion, constraint: Constraint) -> Groups:
    """One group per feature that is not constant."""
    if constraint.graph is not None:
        return NeighbourPairs.of(statistics, criterion, constraint.graph)
    return AllPairs.of(statistics, criterion, constraint.blocks)
