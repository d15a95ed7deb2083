"""How well the groups of a path hang together."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..._statistics import IndexArray, Statistics
from ...theory._arrays import FloatArray
from .. import MergePath
from ._between import BetweenColumns, BetweenPairs
from ._figures import COHESION, COMPARED, correlation_of_sum


def add_path_cohesion(
    statistics: Statistics, path: MergePath, factors: FloatArray, *, neighbours: bool
) -> None:
    """Write the cohesion of each merged group of a path into its record.

    ``factors`` are those by which the standardised features enter the mean of their group. Where
    only ``neighbours`` merge and there are more features than samples, the minimum is that of the
    pairs of some members; see ``BetweenColumns``.
    """
    if not path.merges.size:
        return
    # Last what may take a look at the data.
    wide = neighbours and statistics.columns_together and statistics.n_rows < path.most_groups
    between = (BetweenColumns if wide else BetweenPairs)(statistics, path, factors)
    # Of each group, by its first member: size, sum of the correlations of its pairs, their
    # minimum, its largest factor, and, with factors relative to that one, the variance of its
    # weighted sum and the covariance of this sum with the target.
    size = np.ones(path.varying.size, dtype=np.intp)
    total = np.zeros(path.varying.size)
    lowest = np.ones(path.varying.size)
    largest = factors.copy()
    variance = np.ones(path.varying.size)
    covariance = statistics.target_correlation.copy()
    merged = np.empty((path.merges.size, 2))
    for number, merge in enumerate(path.merges):
        first, second = int(merge["first"]), int(merge["second"])
        unit = max(largest[first], largest[second])
        one, other = largest[first] / unit, largest[second] / unit
        plain, least, cross = between.join(merge, unit, one, other)
        total[first] += total[second] + plain
        lowest[first] = min(lowest[first], lowest[second], least)
        variance[first] = variance[first] * one**2 + variance[second] * other**2 + 2 * cross
        covariance[first] = covariance[first] * one + covariance[second] * other
        largest[first] = unit
        size[first] += size[second]
        pairs = size[first] * (size[first] - 1) / 2
        merge["mean_correlation"], merge["min_correlation"] = total[first] / pairs, lowest[first]
        merged[number] = covariance[first], variance[first]
    path.merges["target_correlation"] = correlation_of_sum(*merged.T)


def cut_cohesion(
    path: MergePath,
    groups: Sequence[IndexArray],
    target_correlation: FloatArray,
    *,
    neighbours: bool,
) -> npt.NDArray[np.void]:
    """Take the cohesion of the groups of a partition from the record of their path."""
    made = path.merges[: path.most_groups - len(groups)]
    last = np.full(path.varying.size, -1, dtype=np.intp)
    last[made["first"]] = np.arange(made.size)  # of several merges of a group the last one counts
    result = np.empty(len(groups), dtype=COHESION)
    firsts = np.array([group[0] for group in groups], dtype=np.intp)
    merged = last[firsts] >= 0
    sizes = np.array([group.size for group in groups])
    result["min_is_exact"] = sizes <= COMPARED if neighbours else True
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        result[name][merged] = made[last[firsts[merged]]][name]
    result["mean_correlation"][~merged] = result["min_correlation"][~merged] = np.nan
    result["target_correlation"][~merged] = target_correlation[firsts[~merged]]
    return result
