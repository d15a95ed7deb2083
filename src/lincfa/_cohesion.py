"""How well groups hang together: correlations within a group, and of its mean with the target."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ._grouping import MergePath
from ._statistics import RESOLUTION, IndexArray, Statistics, correlation_matrix
from .theory._arrays import FloatArray

COHESION = np.dtype(
    [
        ("mean_correlation", np.float64),
        ("min_correlation", np.float64),
        ("target_correlation", np.float64),
    ]
)
"""Of each group: mean and minimum of the correlations of its pairs (NaN for a single feature), and
the correlation of its mean with the target."""

COMPARED_IN_FULL = 256
"""Members up to which all pairs of a group are compared. The cost of a group grows with the square
of its size, and a group may be all of a million features."""

LEAST_TYPICAL = 16
"""Members of a larger group that are compared with all others: those least correlated with the sum
of the group, of which the pair with the smallest correlation is most likely to have one."""

_TOGETHER = 128
"""Features of small groups whose correlations are computed at once."""


def group_cohesion(
    statistics: Statistics, groups: Sequence[IndexArray], factors: FloatArray
) -> npt.NDArray[np.void]:
    """Compute the cohesion of groups.

    ``factors`` are those by which the standardised features enter the mean of their group: ones, or
    their scales for a mean in original units.
    """
    result = np.empty(len(groups), dtype=COHESION)
    compared = []
    for number, group in enumerate(groups):
        if group.size == 1:
            result[number] = np.nan, np.nan, statistics.target_correlation[group[0]]
        elif group.size > COMPARED_IN_FULL:
            result[number] = _of_large_group(statistics, group, factors[group])
        else:
            compared.append(number)
    for batch in _batches(compared, [groups[number].size for number in compared]):
        features = np.concatenate([groups[number] for number in batch])
        matrix = correlation_matrix(statistics, features)
        start = 0
        for number in batch:
            group = groups[number]
            part = slice(start, start + group.size)
            result[number] = _of_matrix(statistics, group, matrix[part, part], factors[group])
            start = part.stop
    return result


def add_path_cohesion(statistics: Statistics, path: MergePath, factors: FloatArray) -> None:
    """Write the cohesion of each merged group of a path into its record.

    With the features in an order in which the members of every group are neighbours, the
    correlations between the two groups of a merge are a block of the matrix; together the blocks
    are half of it, so that all groups of the path cost no more than reading it once.
    """
    merges = path.merges
    if not merges.size:
        return
    order = path.neighbours()
    place = np.empty(path.varying.size, dtype=np.intp)
    place[order] = np.arange(order.size)
    matrix = correlation_matrix(statistics, order)
    largest = factors[order].max()
    weights = factors / largest
    # Of each group, by its first member: size, sum of the correlations of its pairs, their
    # minimum, variance of its weighted sum, and covariance of this sum with the target.
    size = np.ones(path.varying.size, dtype=np.intp)
    total = np.zeros(path.varying.size)
    lowest = np.ones(path.varying.size)
    variance = weights**2
    covariance = weights * statistics.target_correlation
    for merge in merges:
        first, second = int(merge["first"]), int(merge["second"])
        top, left = int(place[first]), int(place[second])
        rows, columns = slice(top, top + size[first]), slice(left, left + size[second])
        block = matrix[rows, columns]
        total[first] += total[second] + block.sum()
        lowest[first] = min(lowest[first], lowest[second], block.min())
        cross = weights[order[rows]] @ block @ weights[order[columns]]
        variance[first] += variance[second] + 2 * cross
        covariance[first] += covariance[second]
        size[first] += size[second]
        pairs = size[first] * (size[first] - 1) / 2
        merge["mean_correlation"], merge["min_correlation"] = total[first] / pairs, lowest[first]
        merge["target_correlation"] = _ratio(covariance[first], variance[first])


def cut_cohesion(
    path: MergePath, groups: Sequence[IndexArray], target_correlation: FloatArray
) -> npt.NDArray[np.void]:
    """Take the cohesion of the groups of a partition from the record of their path."""
    made = path.merges[: path.most_groups - len(groups)]
    last = np.full(path.varying.size, -1, dtype=np.intp)
    last[made["first"]] = np.arange(made.size)  # of several merges of a group the last one counts
    result = np.empty(len(groups), dtype=COHESION)
    firsts = np.array([group[0] for group in groups], dtype=np.intp)
    merged = last[firsts] >= 0
    for name in COHESION.names or ():
        result[name][merged] = made[last[firsts[merged]]][name]
    result["mean_correlation"][~merged] = result["min_correlation"][~merged] = np.nan
    result["target_correlation"][~merged] = target_correlation[firsts[~merged]]
    return result


def _of_matrix(
    statistics: Statistics, group: IndexArray, matrix: FloatArray, factors: FloatArray
) -> tuple[float, float, float]:
    weights = factors / factors.max()
    pairs = group.size * (group.size - 1)
    variance = float(weights @ matrix @ weights)
    covariance = float(weights @ statistics.target_correlation[group])
    return (matrix.sum() - group.size) / pairs, float(matrix.min()), _ratio(covariance, variance)


def _of_large_group(
    statistics: Statistics, group: IndexArray, factors: FloatArray
) -> tuple[float, float, float]:
    sums = statistics.sums()
    sums.add(group)
    with_sum = sums.of(group)
    weights = factors / factors.max()
    variance = float(with_sum.sum())
    if (weights != 1).any():
        weighted = statistics.sums()
        weighted.add(group, weights)
        variance = float(weights @ weighted.of(group))
    least = np.sort(group[np.argpartition(with_sum, LEAST_TYPICAL)[:LEAST_TYPICAL]])
    (rows,) = statistics.rows(least, [(slice(0, least.size), group)])
    pairs = group.size * (group.size - 1)
    covariance = float(weights @ statistics.target_correlation[group])
    mean = (float(with_sum.sum()) - group.size) / pairs
    return mean, max(float(rows.min()), -1.0), _ratio(covariance, variance)


def _ratio(covariance: float, variance: float) -> float:
    """Give the correlation of a sum with the target; 0 for a sum that does not vary."""
    if variance <= RESOLUTION:
        return 0.0
    return float(np.clip(covariance / np.sqrt(variance), -1, 1))


def _batches(numbers: Sequence[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """Put small groups together, so that not each of them costs a look at the data."""
    batch: list[int] = []
    width = 0
    for number, size in zip(numbers, sizes, strict=True):
        if batch and width + size > _TOGETHER:
            yield batch
            batch, width = [], 0
        batch.append(number)
        width += size
    if batch:
        yield batch
