"""What a fit needs to know of the data: counts, means, scales and correlations on demand."""

from ._array import ArrayStatistics
from ._columns import standardize_target
from ._moments import Moments, MomentStatistics, check_range
from ._pairs import RESOLUTION, PairCorrelations, resolve_pairs, rounding_of_sums
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
    "check_range",
    "correlation_matrix",
    "most_features",
    "resolve_pairs",
    "rounding_of_sums",
    "standardize_target",
]
