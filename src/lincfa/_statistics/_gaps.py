"""Statistics of features with missing values: each pair on the samples that it shares.

Everything follows from ten sums over the samples in which both features of a pair are present: the
number of samples, and the sums, squares and products of the two features and the target. They add
up over rows, so that they can be computed in memory, accumulated, or gathered from chunks. Features
are centred and scaled first, so that no digits are lost, unless a value that a pair does not share
is so far off that the others hardly vary beside it: 1e6 times their scale leaves seven digits.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._data._checks import ENOUGH_SAMPLES
from ..theory._arrays import FloatArray
from ._protocol import (
    FLAT,
    Comparison,
    Correlations,
    GroupSums,
    IndexArray,
    Statistics,
    add_member,
)

N_SUMS = 10
"""n, Σx₁, Σx₂, Σx₁², Σx₂², Σx₁x₂, Σtx₁, Σtx₂, Σt, Σt², of target t, in this order."""

_MEMBERS = 64
"""Members of a group whose correlations with candidates are computed together."""


def seeds_for_sums(columns: FloatArray, target: FloatArray) -> FloatArray:
    """Prepare columns x₁ for :func:`shared_sums`, as x₁, 1, t, x₁², tx₁ and t² side by side.

    Missing values are NaN here and 0 in the result. ``target`` has two columns: the target t, and
    the weights of the rows.
    """
    t, weights = target.T[:, :, None]
    n, size = columns.shape
    result = np.empty((6, size, n))
    values, presence, with_t, squares, products, with_squares = result.transpose(0, 2, 1)
    there = ~np.isnan(columns)
    values[...] = np.where(there, columns, 0.0)
    presence[...] = there * weights
    np.multiply(values, values * weights, out=squares)
    values *= weights
    np.multiply(values, t, out=products)
    np.multiply(presence, t, out=with_t)
    np.multiply(with_t, t, out=with_squares)
    return result.reshape(6 * size, n)


def shared_sums(seeds: FloatArray, columns: FloatArray) -> FloatArray:
    """Sums over the shared samples of all pairs of seeds and columns, of shape (10, …, …).

    Missing values of the columns are NaN; the columns are overwritten.
    """
    size = seeds.shape[0] // 6
    missing = np.isnan(columns)
    zero_missing(columns, missing)
    result = np.empty((N_SUMS, size, columns.shape[1]))
    with_values = (seeds[: 3 * size] @ columns).reshape(3, size, -1)
    with_presence = (seeds @ (~missing).astype(np.float64)).reshape(6, size, -1)
    np.multiply(columns, columns, out=columns)
    result[4] = seeds[size : 2 * size] @ columns
    for place, sums in zip((5, 2, 7), with_values, strict=True):
        result[place] = sums
    for place, sums in zip((1, 0, 8, 3, 6, 9), with_presence, strict=True):
        result[place] = sums
    return result


def sums_within(seeds: FloatArray, columns: FloatArray) -> FloatArray:
    """The same of all pairs of columns which are the seeds themselves, for less."""
    size = columns.shape[1]
    result = np.empty((N_SUMS, size, size))
    missing = np.isnan(columns)
    with_presence = (seeds @ (~missing).astype(np.float64)).reshape(6, size, -1)
    for place, sums in zip((1, 0, 8, 3, 6, 9), with_presence, strict=True):
        result[place] = sums
    for place, mirror in ((2, 1), (4, 3), (7, 6)):
        result[place] = result[mirror].T
    zero_missing(columns, missing)
    result[5] = seeds[:size] @ columns
    return result


def present_means(X: npt.NDArray[Any]) -> FloatArray:
    """Means of the values of each column that are not missing, NaN where there are none."""
    counts = (~np.isnan(X)).sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.nansum(X, axis=0, dtype=np.float64) / counts)


def zero_missing(values: FloatArray, missing: npt.NDArray[np.bool_]) -> None:
    """Replace missing values by 0, by their bits: three times as fast as by assignment."""
    values.view(np.int64)[...] &= missing.astype(np.int64) - 1


def sums_of_pairs(first: FloatArray, second: FloatArray, target: FloatArray) -> FloatArray:
    """The same of pairs of columns side by side, of shape (10, pairs)."""
    t, weights = target.T[:, :, None]
    there = ~(np.isnan(first) | np.isnan(second))
    a, b, counts = np.where(there, first, 0.0), np.where(there, second, 0.0), there * weights
    with_t = t * counts
    products = (counts, a * counts, b * counts, with_t)
    (n, sum_a, sum_b, sum_t), (wa, wb) = (p.sum(axis=0) for p in products), products[1:3]
    squares = (np.einsum("ij,ij->j", *pair) for pair in ((wa, a), (wb, b), (wa, b)))
    with_target = (np.einsum("ij,ij->j", with_t, x) for x in (a, b))
    return np.array([n, sum_a, sum_b, *squares, *with_target, sum_t, (t * with_t).sum(axis=0)])


def present_sums(
    values: FloatArray, labels: IndexArray, n_groups: int, factors: FloatArray
) -> FloatArray:
    """Sums over the columns present in each row, for each group, of shape (4, n, n_groups).

    Of columns times factors, of the squares of these, of the weights (the factors without their
    signs) and of their squares. They add up over columns. Label −1 belongs to no group.
    """
    grouped = np.flatnonzero(labels >= 0)
    place, shape = (np.arange(grouped.size), labels[grouped]), (grouped.size, n_groups)
    own = factors[grouped]
    plain, size, square = (
        sparse.csr_array((f, place), shape=shape) for f in (own, np.abs(own), own**2)
    )
    there = ~np.isnan(values[:, grouped])
    values = np.where(there, values[:, grouped], 0.0)
    there = there.astype(np.float64)
    return np.stack([values @ plain, values**2 @ square, there @ size, there @ square])


def pair_products(sums: FloatArray, weights: FloatArray) -> FloatArray:
    """Products of different members in the same row, and how many there are, over all rows."""
    total, squares, present, present_squares = sums
    return np.stack([weights @ (total**2 - squares), weights @ (present**2 - present_squares)])


def variances_of_sums(
    products: FloatArray, labels: IndexArray, n_groups: int, factors: FloatArray
) -> FloatArray:
    """Variance of the sum of each group, from the products of members present together."""
    own = labels[labels >= 0]
    weights = np.abs(factors[labels >= 0])
    squares = np.bincount(own, weights**2, n_groups)
    pairs = np.bincount(own, weights, n_groups) ** 2 - squares
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nan_to_num(products[0] / (products[1] - pairs))
    return np.asarray(squares + pairs * np.clip(mean, -1, 1))


def correlations_of(sums: FloatArray) -> Correlations:
    """Correlations of pairs from their sums; those of pairs that cannot be judged are 0."""
    n, a, b, aa, bb, ab, ta, tb, t, tt = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = [square - total**2 / n for square, total in ((aa, a), (bb, b), (tt, t))]
        known = n >= ENOUGH_SAMPLES
        for variance, square in zip(variances, (aa, bb, tt), strict=True):
            known &= variance > FLAT * square
        root_a, root_b, root_t = map(np.sqrt, variances)
        rho = (ab - a * b / n) / (root_a * root_b)
        r_first = (ta - t * a / n) / (root_a * root_t)
        r_second = (tb - t * b / n) / (root_b * root_t)
    rho, r_first, r_second = (
        np.clip(np.where(known, r, 0.0), -1, 1) for r in (rho, r_first, r_second)
    )
    return Correlations(rho, r_first, r_second, np.where(known, n, -np.inf))


def mirrored(sums: FloatArray) -> FloatArray:
    """Return the sums of the same pairs with first and second exchanged."""
    return sums[[0, 2, 1, 4, 3, 5, 7, 6, 8, 9]].transpose(0, 2, 1)


def figures(known: Correlations) -> FloatArray:
    """Stack the correlations of pairs and their numbers of samples."""
    return np.stack([known.rho, known.r_first, known.r_second, np.asarray(known.n_samples)])


def all_pairs_in_strips(
    features: IndexArray,
    step: Callable[[int], int],
    known: Callable[[IndexArray, IndexArray], Correlations],
) -> FloatArray:
    """Figures of all pairs of features, some rows at a time, each pair computed once."""
    # ``step`` returns how many features to compare with so many at once.
    size, top = features.size, 0
    result = np.empty((4, size, size))
    while top < size:
        rest = features[top:]
        strip = rest[: step(rest.size)]
        part, bottom = figures(known(strip, rest)), top + strip.size
        result[:, top:bottom, top:] = part
        result[:, top:, top:bottom] = part[[0, 2, 1, 3]].transpose(0, 2, 1)
        top = bottom
    return result


@dataclass(frozen=True)
class GapStatistics(Statistics):
    """Correlations of pairs on the samples they share, whatever they are computed from."""

    @abstractmethod
    def known(self, first: IndexArray, second: IndexArray) -> Correlations:
        """All that F needs of all pairs of two sets of features."""

    @property
    def complete(self) -> bool:
        return False

    def within(self, features: IndexArray) -> Correlations:
        return self.known(features, features)

    def between(
        self, seeds: IndexArray, comparisons: Iterable[Comparison]
    ) -> Iterator[Correlations]:
        for active, candidates in comparisons:
            yield self.known(seeds[active], candidates)

    def square(self, features: IndexArray) -> FloatArray:
        return rho_or_nan(self.known(features, features))

    def rows(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        return map(rho_or_nan, self.between(seeds, comparisons))

    def sums(self) -> "GapGroupSums":
        return GapGroupSums(self)


def rho_or_nan(known: Correlations) -> FloatArray:
    """Correlations, NaN for pairs that share too few samples."""
    return np.where(np.isneginf(known.n_samples), np.nan, known.rho)


class GapGroupSums(GroupSums):
    """Sums over the members of a group, brought up to date for candidates when they are asked."""

    def __init__(self, statistics: GapStatistics) -> None:
        size = statistics.varying.size
        self._statistics = statistics
        self._members: list[int] = []
        self._factors: list[float] = []
        self._sums, self._counted = np.zeros((4, size)), np.zeros(size, dtype=np.intp)

    def add(self, features: IndexArray, factors: FloatArray) -> None:
        self._members += features.tolist()
        self._factors += factors.tolist()

    def of(self, candidates: IndexArray) -> FloatArray:
        for start in np.unique(self._counted[candidates]).tolist():
            behind = candidates[self._counted[candidates] == start]
            sums = self._sums[:, behind]
            weight = float(np.abs(self._factors[:start]).sum())
            for first in range(start, len(self._members), _MEMBERS):
                some = slice(first, first + _MEMBERS)
                known = self._statistics.known(np.array(self._members[some]), behind)
                for place, factor in enumerate(self._factors[some]):
                    weight += abs(factor)
                    add_member(sums, known.at(place, slice(None)), factor, weight)
            self._sums[:, behind] = sums
        self._counted[candidates] = len(self._members)
        return self._sums[:, candidates]
