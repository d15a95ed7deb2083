"""The source of statistics for whatever a fit was given."""

from typing import TYPE_CHECKING

from .._data._training import Training
from ._array import ArrayStatistics
from ._protocol import Statistics

if TYPE_CHECKING:
    from .._data._dask import ChunkedTraining


def statistics_of(
    training: "Training | ChunkedTraining", *, often: bool = False, neighbours: bool = False
) -> Statistics:
    """Return the statistics of data in memory or in chunks, after one pass over them.

    ``often`` and ``neighbours`` announce that correlations with means of groups, or of neighbours,
    will be needed again and again, which in chunks are then computed all at once.
    """
    if isinstance(training, Training):
        return ArrayStatistics.of(training)
    from ._dask._chunks import Chunks, chunk_statistics

    return chunk_statistics(Chunks.of(training), often=often, neighbours=neighbours)
