"""What a fit needs to know of the data: counts, means, scales and correlations on demand."""

from ._array import ArrayStatistics
from ._columns import standardize_target
from ._moments import Moments, MomentStatistics
from ._pairs import RESOLUTION, PairCorrelations
from ._protocol import IndexArray, Statistics, Sums, Task
from ._square import LARGEST_SQUARE, CachedStatistics, correlation_matrix, most_features

__all__ = [
    "LARGEST_SQUARE",
    "RESOLUTION",
    "ArrayStatistics",
    "CachedStatistics",
    "IndexArray",
    "MomentStatistics",
    "Moments",
    "PairCorrelations",
    "Statistics",
    "Sums",
    "Task",
    "correlation_matrix",
    "most_features",
    "standardize_target",
]
