"""What a fit needs to know of the data: counts, means, scales and correlations on demand."""

from typing import TYPE_CHECKING

from .._data._training import Training
from ._array import ArrayStatistics as ArrayStatistics
from ._array import standardize_targets as standardize_targets
from ._cache import NearbyCorrelations as NearbyCorrelations
from ._cache import cached as cached
from ._moments import GapMoments as GapMoments
from ._moments import Moments as Moments
from ._moments import MomentStatistics as MomentStatistics
from ._moments import check_range as check_range
from ._protocol import LARGEST_SQUARE as LARGEST_SQUARE
from ._protocol import NEARLY_COLLINEAR as NEARLY_COLLINEAR
from ._protocol import NEARLY_EXPLAINED as NEARLY_EXPLAINED
from ._protocol import RESOLUTION as RESOLUTION
from ._protocol import ColumnSum as ColumnSum
from ._protocol import Comparison as Comparison
from ._protocol import Correlations as Correlations
from ._protocol import Costs as Costs
from ._protocol import GroupSums as GroupSums
from ._protocol import IndexArray as IndexArray
from ._protocol import PairCorrelations as PairCorrelations
from ._protocol import Statistics as Statistics
from ._protocol import coarsest_equality as coarsest_equality
from ._protocol import equal_up_to as equal_up_to
from ._protocol import mean_over_targets as mean_over_targets
from ._protocol import mean_square as mean_square
from ._protocol import most_features as most_features

if TYPE_CHECKING:
    from .._data._dask import ChunkedTraining


_FEW = 2048
"""Features up to which all correlations with missing values are kept: 128 MiB."""


def statistics_of(
    training: "Training | ChunkedTraining",
    *,
    often: bool = False,
    neighbours: bool = False,
    all_pairs: bool = False,
) -> Statistics:
    """Return the statistics of data in memory or in chunks, after one pass over them."""
    # ``often`` and ``neighbours`` announce that correlations with means of groups, or of
    # neighbours, will be needed again and again, which in chunks are then computed all at once; in
    # memory only where values are missing, as also where ``all_pairs`` are needed.
    if isinstance(training, Training):
        statistics = ArrayStatistics.of(training)
        gaps = not statistics.complete and statistics.varying.size <= _FEW
        keep = gaps and (all_pairs or (often and not neighbours))
        return cached(statistics) if keep else statistics
    from ._dask._chunks import Chunks, chunk_statistics

    return chunk_statistics(Chunks.of(training), often=often, neighbours=neighbours)
