"""What a fit needs to know of the data: counts, means, scales and correlations on demand."""

from ._array import ArrayStatistics
from ._moments import Moments, MomentStatistics
from ._pairs import PairCorrelations
from ._protocol import IndexArray, Statistics, Task

__all__ = [
    "ArrayStatistics",
    "IndexArray",
    "MomentStatistics",
    "Moments",
    "PairCorrelations",
    "Statistics",
    "Task",
]
