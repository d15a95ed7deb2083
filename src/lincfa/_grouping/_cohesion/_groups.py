"""How well groups hang together: correlations within a group, and of its mean with the target."""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..._statistics import IndexArray, Statistics
from ...theory._arrays import FloatArray
from .. import Partition
from ._figures import COHESION, COMPARED, correlation_of_sum


def group_cohesion(
    statistics: Statistics, partition: Partition, factors: FloatArray
) -> npt.NDArray[np.void]:
    """Compute the cohesion of groups.

    ``factors`` are those by which the standardised features enter the mean of their group: ones, or
    their scales for a mean in original units.

    In groups of up to ``COMPARED`` features all pairs are compared. In larger ones the mean follows
    from the variance of the sum of the group, and the minimum is that of the pairs of so many
    outlying members: the first, and those least correlated with what they were tested against.
    """
    sizes = np.array([group.size for group in partition.groups])
    firsts = np.array([group[0] for group in partition.groups])
    result = np.empty(sizes.size, dtype=COHESION)
    result["mean_correlation"] = result["min_correlation"] = np.nan
    result["target_correlation"] = statistics.target_correlation[firsts]
    result["min_is_exact"] = sizes <= COMPARED
    compared = _outlying_members(partition)
    merged = np.flatnonzero(sizes > 1).tolist()
    matrices = statistics.squares([compared[number] for number in merged])
    for number, matrix in zip(merged, matrices, strict=True):
        result[number] = _compare_in_full(
            matrix, statistics.target_correlation, compared[number], factors
        )
    large = np.flatnonzero(sizes > COMPARED)
    if large.size:
        _complete_large(statistics, partition.labels, factors, large, result)
    return result


def _outlying_members(partition: Partition) -> list[IndexArray]:
    """Give all members of groups that are not too large, and the outlying ones of the others."""
    evidence = partition.evidence
    bounds = np.searchsorted(evidence["group"], np.arange(len(partition.groups) + 1))
    chosen = []
    for group, (start, stop) in zip(partition.groups, pairwise(bounds.tolist()), strict=True):
        if group.size <= COMPARED:
            chosen.append(group)
            continue
        order = np.argpartition(evidence["correlation"][start:stop], COMPARED - 1)
        farthest = evidence["feature"][start:stop][order[: COMPARED - 1]]
        chosen.append(np.concatenate([group[:1], np.sort(farthest)]))
    return chosen


def _compare_in_full(
    matrix: FloatArray, target_correlation: FloatArray, group: IndexArray, factors: FloatArray
) -> tuple[float, float, float, bool]:
    """Cohesion of one group from the correlations of all its pairs."""
    weights = factors[group] / factors[group].max()
    lowest = max(float(matrix.min()), -1.0)
    mean = (float(matrix.sum()) - group.size) / (group.size * (group.size - 1))
    covariance, variance = weights @ target_correlation[group], weights @ matrix @ weights
    return (
        min(max(mean, lowest), 1.0),
        lowest,
        float(correlation_of_sum(covariance, variance)),
        True,
    )


def _complete_large(
    statistics: Statistics,
    labels: IndexArray,
    factors: FloatArray,
    large: IndexArray,
    result: npt.NDArray[np.void],
) -> None:
    """Write what concerns all members of large groups into the result."""
    number = np.full(result.size + 1, -1)  # the last for features without a group
    number[large] = np.arange(large.size)
    labels = number[labels]
    grouped = labels >= 0
    sizes = np.bincount(labels[grouped])
    variances = statistics.group_variances(labels, large.size, np.ones(labels.size))
    mean = (variances - sizes) / (sizes * (sizes - 1.0))
    result["mean_correlation"][large] = np.clip(mean, -1, 1)
    result["min_is_exact"][large] = False
    unit = np.zeros(large.size)
    np.maximum.at(unit, labels[grouped], factors[grouped])
    weights = np.ones(labels.size)
    np.divide(factors, unit[labels], out=weights, where=grouped)
    if (weights != 1).any():
        variances = statistics.group_variances(labels, large.size, weights)
    r = np.where(grouped, weights * statistics.target_correlation, 0.0)
    covariances = np.asarray(np.bincount(labels[grouped], weights=r[grouped]), dtype=np.float64)
    result["target_correlation"][large] = correlation_of_sum(covariances, variances)
