"""Statistics of features with missing values: each pair on the samples that it shares.

Everything follows from sums over the samples in which both features of a pair are present: the
number of samples, and the sums, squares and products of the two features and the targets. They add
up over rows, so that they can be computed in memory, accumulated, or gathered from chunks. Features
are centred and scaled first, so that no digits are lost, unless a value that a pair does not share
is so far off that the others hardly vary beside it: 1e6 times their scale leaves seven digits.

The sums are n, Σx₁, Σx₂, Σx₁², Σx₂², Σx₁x₂, and for each target t Σtx₁, Σtx₂, Σt, Σt², in this
order.
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

_OF_PAIR, _OF_TARGET = 6, 4

_MEMBERS = 64
"""Members of a group whose correlations with candidates are computed together."""


def n_sums(n_targets: int) -> int:
    """Number of sums of a pair."""
    return _OF_PAIR + _OF_TARGET * n_targets


def n_prepared(n_targets: int) -> int:
    """Number of columns that :func:`seeds_for_sums` makes of each."""
    return 3 + 3 * n_targets


def seeds_for_sums(columns: FloatArray, outcomes: FloatArray) -> FloatArray:
    """Prepare columns x₁ for :func:`shared_sums`: x₁, 1, all t, x₁², all tx₁, all t², one a row.

    Missing values are NaN here and 0 in the result. ``outcomes`` are the targets t, and in the last
    column the weights of the rows.
    """
    n, size = columns.shape
    targets, weights = outcomes.T[:-1, :, None], outcomes[:, -1:]
    result = np.empty((n_prepared(len(targets)), size, n))
    values, presence, *others = result.transpose(0, 2, 1)
    k = len(targets)
    with_t, squares, products, with_squares = others[:k], others[k], others[k + 1 : -k], others[-k:]
    there = ~np.isnan(columns)
    values[...] = np.where(there, columns, 0.0)
    presence[...] = there * weights
    np.multiply(values, values * weights, out=squares)
    values *= weights
    for number, t in enumerate(targets):
        np.multiply(values, t, out=products[number])
        np.multiply(presence, t, out=with_t[number])
        np.multiply(with_t[number], t, out=with_squares[number])
    return result.reshape(-1, n)


def shared_sums(seeds: FloatArray, columns: FloatArray, n_targets: int) -> FloatArray:
    """Sums over the shared samples of all pairs of seeds and columns, of shape (sums, …, …).

    Missing values of the columns are NaN; the columns are overwritten.
    """
    size = seeds.shape[0] // n_prepared(n_targets)
    result = np.empty((n_sums(n_targets), size, columns.shape[1]))
    missing = np.isnan(columns)
    zero_missing(columns, missing)
    with_values = (seeds[: (2 + n_targets) * size] @ columns).reshape(2 + n_targets, size, -1)
    result[5], result[2], result[7::_OF_TARGET] = with_values[0], with_values[1], with_values[2:]
    _add_presence(result, seeds, missing, n_targets)
    np.multiply(columns, columns, out=columns)
    result[4] = seeds[size : 2 * size] @ columns
    return result


def sums_within(seeds: FloatArray, columns: FloatArray, n_targets: int) -> FloatArray:
    """The same of all pairs of columns which are the seeds themselves, for less."""
    size = columns.shape[1]
    result = np.empty((n_sums(n_targets), size, size))
    missing = np.isnan(columns)
    _add_presence(result, seeds, missing, n_targets)
    result[[2, 4]] = result[[1, 3]].transpose(0, 2, 1)
    result[7::_OF_TARGET] = result[6::_OF_TARGET].transpose(0, 2, 1)
    zero_missing(columns, missing)
    result[5] = seeds[:size] @ columns
    return result


def _add_presence(
    result: FloatArray, seeds: FloatArray, missing: npt.NDArray[np.bool_], n_targets: int
) -> None:
    """Write the sums of the seeds where the columns are not missing."""
    k = n_targets
    sums = (seeds @ (~missing).astype(np.float64)).reshape(n_prepared(k), *result.shape[1:])
    result[1], result[0], result[3] = sums[0], sums[1], sums[2 + k]
    for first, place in ((2, 8), (3 + k, 6), (3 + 2 * k, 9)):
        result[place::_OF_TARGET] = sums[first : first + k]


def present_means(X: npt.NDArray[Any]) -> FloatArray:
    """Means of the values of each column that are not missing, NaN where there are none."""
    counts = (~np.isnan(X)).sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(np.nansum(X, axis=0, dtype=np.float64) / counts)


def zero_missing(values: FloatArray, missing: npt.NDArray[np.bool_]) -> None:
    """Replace missing values by 0, by their bits: three times as fast as by assignment."""
    values.view(np.int64)[...] &= missing.astype(np.int64) - 1


def sums_of_pairs(first: FloatArray, second: FloatArray, outcomes: FloatArray) -> FloatArray:
    """The same of pairs of columns side by side, of shape (sums, pairs)."""
    targets, weights = outcomes.T[:-1, :, None], outcomes[:, -1:]
    there = ~(np.isnan(first) | np.isnan(second))
    a, b, counts = np.where(there, first, 0.0), np.where(there, second, 0.0), there * weights
    wa, wb = a * counts, b * counts
    sums = [product.sum(axis=0) for product in (counts, wa, wb)]
    sums += [np.einsum("ij,ij->j", *pair) for pair in ((wa, a), (wb, b), (wa, b))]
    for t in targets:
        with_t = t * counts
        sums += [np.einsum("ij,ij->j", with_t, x) for x in (a, b)]
        sums += [with_t.sum(axis=0), (t * with_t).sum(axis=0)]
    return np.array(sums)


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
    n, a, b, aa, bb, ab = sums[:_OF_PAIR]
    ta, tb, t, tt = (sums[_OF_PAIR + place :: _OF_TARGET] for place in range(_OF_TARGET))
    with np.errstate(divide="ignore", invalid="ignore"):
        known = n >= ENOUGH_SAMPLES
        roots = []
        for square, total in ((aa, a), (bb, b), (tt, t)):
            variance = square - total**2 / n
            varies = variance > FLAT * square
            known &= varies if varies.ndim == known.ndim else varies.all(axis=0)
            roots.append(np.sqrt(variance))
        rho = (ab - a * b / n) / (roots[0] * roots[1])
        r_first = (ta - t * a / n) / (roots[0] * roots[2])
        r_second = (tb - t * b / n) / (roots[1] * roots[2])
    rho, r_first, r_second = (
        np.clip(np.where(known, r, 0.0), -1, 1) for r in (rho, r_first, r_second)
    )
    return Correlations(rho, r_first, r_second, np.where(known, n, -np.inf))


def mirrored(sums: FloatArray) -> FloatArray:
    """Return the sums of the same pairs with first and second exchanged."""
    order = [0, 2, 1, 4, 3, 5]
    for first in range(_OF_PAIR, len(sums), _OF_TARGET):
        order += [first + 1, first, first + 2, first + 3]
    return sums[order].transpose(0, 2, 1)


def all_pairs_in_strips(
    features: IndexArray,
    step: Callable[[int], int],
    known: Callable[[IndexArray, IndexArray], Correlations],
) -> Correlations:
    """Correlations of all pairs of features, some rows at a time, each pair computed once."""
    # ``step`` returns how many features to compare with so many at once.
    size, top = features.size, 0
    result: FloatArray | None = None
    while top < size:
        rest = features[top:]
        strip = rest[: step(rest.size)]
        part, bottom = known(strip, rest), top + strip.size
        figures = part.figures()
        if result is None:
            result = np.empty((len(figures), size, size))
        result[:, top:bottom, top:] = figures
        exchanged = Correlations(part.rho, part.r_second, part.r_first, part.n_samples)
        result[:, top:, top:bottom] = exchanged.figures().transpose(0, 2, 1)
        top = bottom
    assert result is not None
    return Correlations.of_figures(result)


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
        self._sums = np.zeros((2 + 2 * statistics.n_targets, size))
        self._counted = np.zeros(size, dtype=np.intp)

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
