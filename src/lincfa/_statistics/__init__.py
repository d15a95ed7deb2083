"""What a fit needs to know of the data: counts, means, scales and correlations on demand."""

from ._array import ArrayStatistics, refuse_constant_target, standardize_target
from ._cache import CachedStatistics, NearbyCorrelations
from ._moments import Moments, MomentStatistics, check_range
from ._protocol import (
    LARGEST_SQUARE,
    NEARLY_COLLINEAR,
    NEARLY_EXPLAINED,
    RESOLUTION,
    Comparison,
    Costs,
    IndexArray,
    PairCorrelations,
    Statistics,
    Sums,
    most_features,
)
from ._source import statistics_of

__all__ = [
    "LARGEST_SQUARE",
    "NEARLY_COLLINEAR",
    "NEARLY_EXPLAINED",
    "RESOLUTION",
    "ArrayStatistics",
    "CachedStatistics",
    "Comparison",
    "Costs",
    "IndexArray",
    "MomentStatistics",
    "Moments",
    "NearbyCorrelations",
    "PairCorrelations",
    "Statistics",
    "Sums",
    "check_range",
    "most_features",
    "refuse_constant_target",
    "standardize_target",
    "statistics_of",
]
