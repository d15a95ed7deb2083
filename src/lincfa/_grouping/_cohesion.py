"""How well groups hang together: correlations within a group, and of its mean with the target."""

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

import numpy as np
import numpy.typing as npt

from .._rule import of_targets, put_targets
from .._statistics import RESOLUTION, IndexArray, Statistics
from .._statistics._speed import worth_compiling
from ..theory._arrays import FloatArray
from ._partition import MergePath, Partition


def cohesion_type(n_targets: int) -> np.dtype[np.void]:
    """What is said of each group.

    Mean and minimum of the correlations of its pairs (NaN for a single feature), the correlation of
    its mean with each target, and whether the minimum is that of all pairs or only an upper bound.
    """
    return np.dtype(
        [
            ("mean_correlation", np.float64),
            ("min_correlation", np.float64),
            of_targets("target_correlation", n_targets),
            ("min_is_exact", np.bool_),
        ]
    )


COMPARED = 64
"""Members of a group of which all pairs are compared. The cost grows with the square of the size,
and a group may be all of a million features."""


def correlation_of_sum(covariance: npt.ArrayLike, variance: npt.ArrayLike) -> FloatArray:
    """Correlation of sums with targets; 0 for a sum that does not vary."""
    variance = np.asarray(variance)
    varies = variance > RESOLUTION
    ratio = np.where(varies, covariance, 0.0) / np.sqrt(np.where(varies, variance, 1.0))
    return np.asarray(np.clip(ratio, -1, 1))


def group_cohesion(
    statistics: Statistics, partition: Partition, factors: FloatArray
) -> npt.NDArray[np.void]:
    """Compute the cohesion of groups."""
    # ``factors`` are those by which the standardised features enter the mean of their group, but
    # for their signs: their weights, times their scales for a mean in original units. Correlations
    # are those of the features with their signs.
    #
    # In groups of up to ``COMPARED`` features all pairs are compared. In larger ones the mean
    # follows from the variance of the sum of the group, and the minimum is that of the pairs of so
    # many outlying members: the first, and those least correlated with their partners in the tests.
    sizes = np.array([group.size for group in partition.groups])
    firsts = np.array([group[0] for group in partition.groups])
    result = np.empty(sizes.size, dtype=cohesion_type(statistics.n_targets))
    result["mean_correlation"] = result["min_correlation"] = np.nan
    put_targets(result, "target_correlation", statistics.target_correlation[:, firsts])
    result["min_is_exact"] = sizes <= COMPARED
    compared = _outlying_members(partition)
    merged = np.flatnonzero(sizes > 1).tolist()
    matrices = statistics.squares([compared[number] for number in merged])
    for number, matrix in zip(merged, matrices, strict=True):
        signs = partition.signs[compared[number]]
        result[number] = _compare_in_full(
            matrix * (signs * signs[:, None]),
            signs * statistics.target_correlation[:, compared[number]],
            factors[compared[number]],
        )
    large = np.flatnonzero(sizes > COMPARED)
    if large.size:
        _complete_large(statistics, partition, factors, large, result)
    return result


def _outlying_members(partition: Partition) -> list[IndexArray]:
    """All members of groups that are not too large, and the outlying ones of the others."""
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
    matrix: FloatArray, r: FloatArray, factors: FloatArray
) -> tuple[float, float, float | FloatArray, bool]:
    """Cohesion of one group from the correlations of all its pairs."""
    size = factors.size
    if np.isnan(matrix).any():  # of pairs that share no samples nothing is known
        known = matrix[~np.isnan(matrix) & ~np.eye(size, dtype=np.bool_)]
        matrix = np.where(np.isnan(matrix), known.mean() if known.size else 0.0, matrix)
    weights = factors / factors.max()
    lowest = max(float(matrix.min()), -1.0)
    mean = (float(matrix.sum()) - size) / (size * (size - 1))
    with_targets = correlation_of_sum(r @ weights, weights @ matrix @ weights)
    each = float(with_targets[0]) if len(r) == 1 else with_targets
    return min(max(mean, lowest), 1.0), lowest, each, True


def _complete_large(
    statistics: Statistics,
    partition: Partition,
    factors: FloatArray,
    large: IndexArray,
    result: npt.NDArray[np.void],
) -> None:
    """Write what concerns all members of large groups into the result."""
    number = np.full(result.size + 1, -1)  # the last for features without a group
    number[large] = np.arange(large.size)
    labels, signs = number[partition.labels], partition.signs.astype(np.float64)
    grouped = labels >= 0
    sizes = np.bincount(labels[grouped])
    variances = statistics.group_variances(labels, large.size, signs)
    mean = (variances - sizes) / (sizes * (sizes - 1.0))
    result["mean_correlation"][large] = np.clip(mean, -1, 1)
    result["min_is_exact"][large] = False
    unit = np.zeros(large.size)
    np.maximum.at(unit, labels[grouped], factors[grouped])
    weights = signs.copy()
    np.divide(signs * factors, unit[labels], out=weights, where=grouped)
    if (np.abs(weights) != 1).any():
        variances = statistics.group_variances(labels, large.size, weights)
    r = np.where(grouped, weights * statistics.target_correlation, 0.0)
    own = labels[grouped]
    covariances = np.array([np.bincount(own, weights=each[grouped]) for each in r])
    put_targets(result, "target_correlation", correlation_of_sum(covariances, variances), large)


# Along a path of merges


def add_path_cohesion(
    statistics: Statistics, path: MergePath, factors: FloatArray, *, neighbours: bool
) -> None:
    """Write the cohesion of each merged group of a path into its record."""
    # ``factors`` are those by which the standardised features enter the mean of their group. Where
    # only ``neighbours`` merge and there are more features than samples, the minimum is that of the
    # pairs of some members; see ``_SomePairs``.
    if not path.merges.size:
        return
    # Last what may read the data.
    wide = neighbours and statistics.costs.columns and statistics.n_rows < path.most_groups
    between = (_SomePairs if wide else _AllPairs)(statistics, path, factors)
    # Of each group, by its first member: size, sum of the correlations of its pairs, their
    # minimum, its largest factor, and, with factors relative to that one, the variance of its
    # weighted sum and the covariance of this sum with the target. Lists: one number at a time is
    # read faster from them than from arrays.
    size = [1] * path.varying.size
    total = [0.0] * path.varying.size
    lowest = [1.0] * path.varying.size
    largest = factors.tolist()
    variance = [1.0] * path.varying.size
    covariance = statistics.target_correlation.tolist()
    merged = []
    # Each group has the sign of its first member; the second of a merge may be flipped.
    names = ("first", "second", "sign", "correlation")
    columns = (path.merges[name].tolist() for name in names)
    for first, second, sign, rho in zip(*columns, strict=True):
        unit = max(largest[first], largest[second])
        one, other = largest[first] / unit, largest[second] / unit
        plain, least, cross = between.join(first, second, rho, unit, one, other)
        total[first] += total[second] + plain
        lowest[first] = min(lowest[first], lowest[second], least)
        variance[first] = variance[first] * one**2 + variance[second] * other**2 + 2 * cross
        for values in covariance:
            values[first] = values[first] * one + sign * values[second] * other
        largest[first] = unit
        size[first] += size[second]
        pairs = size[first] * (size[first] - 1) / 2
        with_target = [values[first] for values in covariance]
        merged.append((total[first] / pairs, lowest[first], variance[first], *with_target))
    mean, least, variances, *covariances = np.array(merged).T
    path.merges["mean_correlation"], path.merges["min_correlation"] = mean, least
    with_targets = correlation_of_sum(np.array(covariances), variances)
    put_targets(path.merges, "target_correlation", with_targets)


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
    result = np.empty(len(groups), dtype=cohesion_type(len(target_correlation)))
    firsts = np.array([group[0] for group in groups], dtype=np.intp)
    merged = last[firsts] >= 0
    sizes = np.array([group.size for group in groups])
    result["min_is_exact"] = sizes <= COMPARED if neighbours else True
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        result[name][merged] = made[last[firsts[merged]]][name]
    result["mean_correlation"][~merged] = result["min_correlation"][~merged] = np.nan
    put_targets(result, "target_correlation", target_correlation[:, firsts[~merged]], ~merged)
    return result


class _AllPairs:
    """All pairs of features compared."""

    def __init__(self, statistics: Statistics, path: MergePath, factors: FloatArray) -> None:
        # With the features in an order in which the members of every group are neighbours, the
        # correlations between the two groups of a merge are a block of the matrix; together the
        # blocks are half of it, so that all groups of the path cost no more than reading it once.
        order, signs = path.adjacent()
        self._place = _places(order, path.varying.size)
        self._factors = factors[order]
        self._matrix = statistics.matrix(order)
        if (signs < 0).any():
            self._matrix *= signs
            self._matrix *= signs[:, None]
        self._sizes = [1] * path.varying.size

    def join(
        self, first: int, second: int, rho: float, unit: float, one: float, other: float
    ) -> tuple[float, float, float]:
        """Return the sum and the minimum of the correlations, and the sum with factors."""
        # The factors are relative to a unit, those of a group so far to its own, of which ``one``
        # and ``other`` are the ratios; ``rho`` is the correlation of the two means.
        top, left = self._place[first], self._place[second]
        rows = slice(top, top + self._sizes[first])
        columns = slice(left, left + self._sizes[second])
        block = self._matrix[rows, columns]
        self._sizes[first] += self._sizes[second]
        cross = (self._factors[rows] / unit) @ block @ (self._factors[columns] / unit)
        return float(block.sum()), float(block.min()), float(cross)


class _SomePairs:
    """Some members of each group compared: as much work as there are features."""

    def __init__(self, statistics: Statistics, path: MergePath, factors: FloatArray) -> None:
        # Up to ``COMPARED`` members, of larger groups those that were least correlated with what
        # they merged with. The columns are in an order in which the members of every group are
        # neighbours, those of the compared ones first, so that no columns need to be gathered. The
        # sums follow from the means that merged, and from their columns.
        order, signs = path.adjacent()
        # They are read in the order of the data: chunks hold features in increasing order.
        rank = np.cumsum(path.varying) - 1
        columns = statistics.columns(np.flatnonzero(path.varying))
        self._columns = np.ascontiguousarray(columns[rank[order]])
        self._columns[signs < 0] *= -1
        self._least_correlation = least_correlation
        if worth_compiling(self._columns.size):
            from . import _loops

            self._least_correlation = _loops.least_correlation
        self._place = _places(order, path.varying.size)
        self._compared = [1] * path.varying.size
        self._squares = [1.0] * path.varying.size  # of the sums of standardised columns
        weights = factors[order]
        self._alike = bool((weights == weights[0]).all())
        self._plain = path.weights is None  # whether plain means have been compared
        # Sums of columns, plain and with factors relative to the largest, where they are needed.
        self._sums: dict[int, tuple[FloatArray, FloatArray]] = {}

    def join(
        self, first: int, second: int, rho: float, unit: float, one: float, other: float
    ) -> tuple[float, float, float]:
        squares = self._squares[first], self._squares[second]
        plain = cross = rho * sqrt(squares[0] * squares[1])
        if not self._alike:
            sums = [
                self._sums.pop(group, (self._columns[self._place[group]],) * 2)
                for group in (first, second)
            ]
            scaled = sums[0][1] * one, sums[1][1] * other
            cross = float(scaled[0] @ scaled[1])
            if not self._plain:
                plain = float(sums[0][0] @ sums[1][0])
            self._sums[first] = sums[0][0] + sums[1][0], scaled[0] + scaled[1]
        self._squares[first] = max(squares[0] + squares[1] + 2 * plain, 0.0)
        return plain, self._least(first, second), cross

    def _least(self, first: int, second: int) -> float:
        top, left = self._place[first], self._place[second]
        above, below = top + self._compared[first], left + self._compared[second]
        least, self._compared[first] = self._least_correlation(
            self._columns, top, above, left, below, COMPARED
        )
        return least


def least_correlation(
    columns: FloatArray, top: int, above: int, left: int, below: int, most: int
) -> tuple[float, int]:
    """Compare members of two groups, in adjacent rows, and count those that are kept: a few."""
    # Of more members than that, the ones most correlated with the other group are dropped, of equal
    # ones the last, and those behind move to their rows. (The first group has no more members than
    # are kept, and those of the second follow unless it has as many.)
    block = columns[top:above] @ columns[left:below].T
    height, count = above - top, above - top + below - left
    if count > most:
        nearness = np.concatenate([block.min(axis=1), block.min(axis=0)])
        kept = np.zeros(count, dtype=np.bool_)
        kept[np.argsort(nearness, kind="stable")[:most]] = True
        moved = most + np.flatnonzero(kept[most:])
        columns[top + np.flatnonzero(~kept[:most])] = columns[left + moved - height]
    return float(block.min()), min(count, most)


def _places(order: IndexArray, size: int) -> list[int]:
    """Place of each feature in an order."""
    place = np.empty(size, dtype=np.intp)
    place[order] = np.arange(order.size)
    return place.tolist()
