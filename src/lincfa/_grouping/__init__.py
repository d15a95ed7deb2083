"""The strategies: from statistics and a criterion to a partition of the features."""

from collections.abc import Callable

from .._criterion import Criterion
from .._statistics import Statistics
from ._partition import Partition
from ._sequential import group_sequential

STRATEGIES: dict[str, Callable[[Statistics, Criterion], Partition]] = {
    "sequential": group_sequential
}

__all__ = ["STRATEGIES", "Partition", "group_sequential"]
