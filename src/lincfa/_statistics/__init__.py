"""What a fit needs to know of the data: counts, means, scales and correlations on demand."""

from ._array import ArrayStatistics
from ._columns import refuse_constant_target, standardize_target
from ._features import Features, features_from_sums, varying_columns
from ._moments import Moments, MomentStatistics, check_range
from ._nearby import nearby
from ._pairs import RESOLUTION, PairCorrelations, resolve_pairs
from ._protocol import IndexArray, Statistics, Sums, Task
from ._source import statistics_of
from ._square import LARGEST_SQUARE, CachedStatistics, correlation_matrix, most_features

__all__ = [
    "LARGEST_SQUARE",
    "RESOLUTION",
    "ArrayStatistics",
    "CachedStatistics",
    "Features",
    "IndexArray",
    "MomentStatistics",
    "Moments",
    "PairCorrelations",
    "Statistics",
    "Sums",
    "Task",
    "check_range",
    "correlation_matrix",
    "features_from_sums",
    "most_features",
    "nearby",
    "refuse_constant_target",
    "resolve_pairs",
    "standardize_target",
    "statistics_of",
    "varying_columns",
]
