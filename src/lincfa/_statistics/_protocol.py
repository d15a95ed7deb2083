"""What a fit asks of the data: moments of features, correlations on demand, what these cost."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from .. import theory
from .._data._columns import Columns
from .._data._targets import Targets
from ..theory._arrays import FloatArray

IndexArray: TypeAlias = npt.NDArray[np.intp]

Comparison: TypeAlias = tuple[slice, IndexArray]
"""A range of the seeds, and the candidates to correlate with them, in ascending order."""

LARGEST_SQUARE = 4 * 2**30
"""Bytes that a matrix of all pairs of features may take."""

NEARLY_COLLINEAR = 1e-5
"""Below this 1 − |ρ| a pair is computed from the difference of its columns: subtracting rounded
correlations would leave fewer than some ten digits."""

NEARLY_EXPLAINED = 1e-6
"""Below this 1 − R² the same is done with the residual of the target."""

COMPUTED = 4 * float(np.finfo(np.float64).eps)
"""Error of standardised values that computing them in float64 adds to that of the data."""

RESOLUTION = 1e-13
"""Share of variance below which sums of products cannot tell a difference from their rounding."""

Contrast: TypeAlias = Callable[[IndexArray, int], tuple[FloatArray, FloatArray]]
"""1 ∓ ρ and, for each target, r₁ ∓ r₂ of selected pairs, for the sign of ρ; both 0 where there is
no contrast."""

Residual: TypeAlias = Callable[
    [IndexArray, FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]
]
"""For each target the shares of the difference and of the sum, and 1 − R², of selected pairs, given
1 − ρ, 1 + ρ and r₁ + r₂."""

FLAT = 1e-12
"""Share of its squares up to which a column or the target does not vary on some samples: that is
their rounding."""

_STRIP = 512
_GROUPED_ROWS = 256
_SMALL_GROUPS = 64
"""Features of small groups whose correlations are computed at once."""


def most_features(matrices: int = 1) -> int:
    """Largest number of features of which so many matrices of pairs are allowed."""
    return int((LARGEST_SQUARE / (8 * matrices)) ** 0.5)


@dataclass(frozen=True)
class Features:
    """Moments of single features."""

    n_samples: float  # with weights, their sum
    mean: FloatArray
    scale: FloatArray  # standard deviations (n − 1); 1 for a constant feature
    varying: npt.NDArray[np.bool_]  # which features are not constant
    target_correlation: FloatArray  # of shape (targets, features); 0 for a constant feature
    target_scale: FloatArray  # standard deviations of the targets
    rounding: FloatArray  # size below which a standardised value is rounding of the data

    @classmethod
    def from_sums(
        cls,
        n_samples: float,
        mean: FloatArray,
        squares: FloatArray,
        products: FloatArray,
        varying: npt.NDArray[np.bool_],
        precision: FloatArray,
        counts: FloatArray | None = None,
        target_squares: FloatArray | None = None,
    ) -> "Features":
        """Derive the moments from sums over the samples; the targets are the last columns."""
        # ``squares`` are of the distances to the mean, ``products`` with those of each target.
        # Where values are missing, ``counts`` are the samples that each column has, and
        # ``target_squares`` those of each target on them.
        behind = mean.size - len(products)
        degrees = np.where(varying, (n_samples if counts is None else counts) - 1, 1.0)
        scale = np.sqrt(np.where(varying, squares / degrees, 1.0))
        of_targets = scale[behind:, None]
        target = of_targets if target_squares is None else np.sqrt(target_squares / degrees)
        known = varying & (target > np.sqrt(FLAT) * of_targets)
        correlation = np.zeros(products.shape)
        np.divide(products, degrees * target * scale, out=correlation, where=known)
        of_data = rounding_of(precision, mean, scale)
        return Features(
            n_samples=n_samples,
            mean=mean[:behind],
            scale=scale[:behind],
            varying=varying[:behind],
            target_correlation=correlation[:, :behind],
            target_scale=scale[behind:],
            rounding=np.maximum(of_data, np.sqrt(RESOLUTION / 2))[:behind],
        )

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return len(self.target_scale)

    def moments(self) -> dict[str, Any]:
        """Return these attributes, for another source of correlations of the same features."""
        return {field.name: getattr(self, field.name) for field in fields(Features)}


@dataclass(frozen=True)
class Costs:
    """How to ask a source for correlations so that they cost little. No result depends on it."""

    # How many of the remaining features to decide together by :meth:`Statistics.square`, given
    # their number and the share of seeds among the features decided last (0 at the start).
    block_size: Callable[[int, float], int]
    max_seeds: int  # to ask :meth:`Statistics.rows` for at once
    ahead: float = 0.0  # share of the features whose seeds are sought before the rest is compared
    scattered: float = 0.0  # cost of a candidate from anywhere, in correlations of one candidate
    candidates: int = 128  # to test together against a group that grows
    columns: int = 0  # neighbouring columns that are best read together; 0 where there are none


@dataclass(frozen=True)
class Correlations:
    """Correlations of pairs with each other and with the targets, on the samples they share.

    The arrays are broadcast against each other: where no values are missing, a feature has one
    correlation with a target whatever its partner, and there is one number of samples.
    """

    rho: FloatArray
    r_first: FloatArray  # those with the targets have one axis more, the first
    r_second: FloatArray
    n_samples: FloatArray | float  # −inf for a pair that shares too few samples to be compared

    @classmethod
    def of_figures(cls, figures: FloatArray) -> "Correlations":
        """Take apart what :meth:`figures` returned."""
        behind = len(figures) // 2
        return cls(figures[0], figures[1:behind], figures[behind:-1], figures[-1])

    def figures(self) -> FloatArray:
        """Stack all: ρ, r₁ with each target, r₂ with each, and the number of samples."""
        shape = self.rho.shape
        result = np.empty((2 * len(self.r_first) + 2, *shape))
        behind = len(result) // 2
        result[0], result[1:behind] = self.rho, self.r_first
        result[behind:-1], result[-1] = self.r_second, self.n_samples
        return result

    def target_products(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means over the targets of r₁², r₂² and r₁r₂."""
        first, second = self.r_first, self.r_second
        if first.shape[2:] == (1,) and second.shape[1:2] == (1,) and len(first) > 1:
            product = first[:, :, 0].T @ second[:, 0] / len(first)
        else:
            product = mean_over_targets(first * second)
        return mean_over_targets(first**2), mean_over_targets(second**2), product

    def flipped(self) -> "Correlations":
        """Return the correlations with the sign of the second feature flipped."""
        return Correlations(-self.rho, self.r_first, -self.r_second, self.n_samples)

    def at(self, *places: Any) -> "Correlations":
        """Select pairs by their places; by slices, as views."""
        shape = self.rho.shape
        lists = sum(not isinstance(place, slice | int) for place in places)

        def in_common(place: Any) -> Any:
            # What pairs have in common has an axis of length 1: it stays one, unless another list
            # of places is of the same pairs.
            stays = isinstance(place, slice) or (lists == 1 and not isinstance(place, int))
            return slice(None) if stays else 0

        def select(values: Any) -> Any:
            if not np.ndim(values):
                return values
            targets = values.ndim - len(shape)
            axes = zip(places, values.shape[targets:], shape, strict=True)
            index = [place if size == full else in_common(place) for place, size, full in axes]
            return values[(*(slice(None),) * targets, *index)]

        return Correlations(*map(select, (self.rho, self.r_first, self.r_second, self.n_samples)))


def mean_over_targets(values: FloatArray) -> FloatArray:
    """Mean over the first axis, that of the targets."""
    return values[0] if len(values) == 1 else np.asarray(values.mean(axis=0))


def mean_square(first: FloatArray, second: FloatArray, sign: int = 1) -> FloatArray:
    """Mean over the targets of (r₁ ∓ r₂)², for the sign 1 or −1."""
    # Target by target: all at once would take as many times the memory.
    contrasts = (a - b if sign > 0 else a + b for a, b in zip(first, second, strict=True))
    total = next(contrasts)
    total *= total
    for contrast in contrasts:
        contrast *= contrast
        total += contrast
    return total if len(first) == 1 else np.asarray(total / len(first))


@dataclass(frozen=True)
class PairCorrelations:
    """Correlations of pairs of features in the form the rule needs, without losing digits."""

    rho: FloatArray
    # 1 ∓ ρ, precise also where the columns nearly coincide or are mirror images, and exactly 0
    # where they are that up to the rounding of the data.
    below_one: FloatArray
    above_minus_one: FloatArray
    # Of each target, by the first axis: r₁ ∓ r₂, and the shares of its variance explained by the
    # difference and by the sum; 0 where there is none.
    difference: FloatArray
    total: FloatArray
    share_difference: FloatArray
    share_sum: FloatArray
    # Share that the regression on the pair leaves, 1 − R²; precise also where it is small.
    unexplained: FloatArray
    n_samples: FloatArray | float

    def flipped(self, where: npt.NDArray[np.bool_] | bool = True) -> "PairCorrelations":
        """Flip the sign of the second feature of some pairs: sum and difference change places."""

        def swap(one: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
            return np.where(where, other, one), np.where(where, one, other)

        below_one, above_minus_one = swap(self.below_one, self.above_minus_one)
        difference, total = swap(self.difference, self.total)
        share_difference, share_sum = swap(self.share_difference, self.share_sum)
        return PairCorrelations(
            np.where(where, -self.rho, self.rho),
            *(below_one, above_minus_one, difference, total, share_difference, share_sum),
            *(self.unexplained, self.n_samples),
        )


class GroupSums(ABC):
    """Correlations of candidates with the sum of a group that grows.

    Each member enters the sum of standardised columns with a factor: its weight in the mean, with
    its sign.
    """

    @abstractmethod
    def add(self, features: IndexArray, factors: FloatArray) -> None:
        """Add features to the group."""

    @abstractmethod
    def of(self, candidates: IndexArray) -> FloatArray:
        """For each candidate its product with the sum, and what else :class:`Correlations` has.

        The correlations of the sum and those of the candidate with the targets, and the number of
        samples: an array of shape (2 + 2·targets, candidates).
        """


def add_member(sums: FloatArray, known: Correlations, factor: float, weight: float) -> None:
    """Add a member to what :meth:`GroupSums.of` returned, given its correlations.

    ``factor`` is that of the member, ``weight`` the sum of the weights including its own.
    """
    behind = len(sums) // 2
    sums[0] += factor * known.rho
    sums[1:behind] += factor * known.r_first
    # The others are means over the members, which change only where values are missing.
    if np.ndim(known.n_samples):
        share = abs(factor) / weight
        sums[behind:-1] += share * (known.r_second - sums[behind:-1])
        never = np.isneginf(sums[-1]) | np.isneginf(known.n_samples)
        with np.errstate(invalid="ignore"):
            n_samples = sums[-1] + share * (known.n_samples - sums[-1])
        sums[-1] = np.where(never, -np.inf, n_samples)


class CompleteSums(GroupSums):
    """Sums where no values are missing, so that only the products depend on the candidate."""

    def __init__(self, features: Features) -> None:
        self._features = features
        self._r_sum = np.zeros((features.n_targets, 1))

    def add(self, features: IndexArray, factors: FloatArray) -> None:
        self._r_sum[:, 0] += self._features.target_correlation[:, features] @ factors

    def of(self, candidates: IndexArray) -> FloatArray:
        products, r = self.products(candidates), self._features.target_correlation[:, candidates]
        return Correlations(products, self._r_sum, r, self._features.n_samples).figures()

    @abstractmethod
    def products(self, candidates: IndexArray) -> FloatArray:
        """Product of each candidate with the sum."""


class RowSums(CompleteSums):
    """The products with all features, kept up to date by the correlations of new members."""

    def __init__(
        self, features: Features, summed: Callable[[IndexArray, FloatArray], FloatArray]
    ) -> None:
        super().__init__(features)
        self._summed, self._total = summed, np.zeros(features.mean.size)

    def add(self, features: IndexArray, factors: FloatArray) -> None:
        super().add(features, factors)
        self._total += self._summed(features, factors)

    def products(self, candidates: IndexArray) -> FloatArray:
        return self._total[candidates]


class ColumnSum(CompleteSums):
    """The sum of the members' standardised columns, multiplied with candidates when asked."""

    def __init__(
        self,
        features: "Statistics",
        summed: Callable[[IndexArray, FloatArray], FloatArray],
        products: Callable[[FloatArray, IndexArray], FloatArray],
    ) -> None:
        super().__init__(features)
        self._summed, self._products = summed, products
        self.total: FloatArray = np.zeros(features.n_rows)

    def add(self, features: IndexArray, factors: FloatArray) -> None:
        super().add(features, factors)
        self.total += self._summed(features, factors)

    def note(self, features: IndexArray, factors: FloatArray) -> None:
        """Add features whose columns were added to ``total`` already."""
        super().add(features, factors)

    def products(self, candidates: IndexArray) -> FloatArray:
        return self._products(self.total, candidates)


@dataclass(frozen=True)
class Statistics(Features, ABC):
    """A source of correlations between features.

    They are computed when they are asked for, many seeds at a time, because a pass over the data
    costs nearly the same for one seed as for twenty.
    """

    costs: Costs

    def restricted_to(self, varying: npt.NDArray[np.bool_]) -> Self:
        """Return the same statistics with all other features left out, as if constant."""
        return replace(self, varying=varying)

    @abstractmethod
    def square(self, features: IndexArray) -> FloatArray:
        """Correlations of the features with each other; only above the diagonal."""

    @abstractmethod
    def rows(self, seeds: IndexArray, comparisons: Iterable[Comparison]) -> Iterator[FloatArray]:
        """Correlations of seeds with candidates: an array (seeds, candidates) per comparison."""

    @abstractmethod
    def sums(self) -> GroupSums:
        """Running sums for a group that is still empty."""

    @property
    def complete(self) -> bool:
        """Whether no values are missing."""
        return True

    def within(self, features: IndexArray) -> Correlations:
        """All that F needs of the pairs of some features; only above the diagonal."""
        return self.with_target(self.square(features), features[:, None], features)

    def between(
        self, seeds: IndexArray, comparisons: Iterable[Comparison]
    ) -> Iterator[Correlations]:
        """All that F needs of seeds with candidates: (seeds, candidates) per comparison."""
        comparisons = list(comparisons)
        rows = self.rows(seeds, comparisons)
        for (active, candidates), rho in zip(comparisons, rows, strict=True):
            yield self.with_target(rho, seeds[active, None], candidates)

    def with_target(
        self, rho: FloatArray, first: IndexArray | int, second: IndexArray
    ) -> Correlations:
        """Add the correlations with the targets, where no values are missing."""

        def with_axes(features: IndexArray | int) -> FloatArray:
            shape = np.shape(features)
            places = np.reshape(features, (1,) * (rho.ndim - len(shape)) + shape)
            return np.asarray(self.target_correlation[:, places])

        return Correlations(rho, with_axes(first), with_axes(second), self.n_samples)

    def pairs(self, first: IndexArray, second: IndexArray, known: Correlations) -> PairCorrelations:
        """Complete correlations of pairs of features, precise also where they nearly coincide."""
        # Here from nothing but correlations, to the resolution of sums.
        floor = equal_up_to(self.rounding[first], self.rounding[second])
        r_first, r_second = np.broadcast_arrays(known.r_first, known.r_second)

        def contrast(near: IndexArray, sign: int) -> tuple[FloatArray, FloatArray]:
            gap = 1 - sign * known.rho[near]
            covariance = r_first[:, near] - sign * r_second[:, near]
            distinct = gap > floor[near]
            return np.where(distinct, gap, 0.0), np.where(distinct, covariance, 0.0)

        def residual(
            near: IndexArray, below_one: FloatArray, above_minus_one: FloatArray, total: FloatArray
        ) -> tuple[FloatArray, FloatArray, FloatArray]:
            difference = np.where(below_one > 0, r_first[:, near] - r_second[:, near], 0.0)
            mean, share = theory.contrast_shares(below_one, above_minus_one, difference, total)
            # Of what is left of a target sums say nothing up to this: it may be as much, and F is
            # at least what it is here.
            return share, mean, np.maximum(1 - mean - share, RESOLUTION)

        return complete_pairs(known, contrast, residual, floor)

    def along_edges(self, first: IndexArray, second: IndexArray) -> Correlations | None:
        """Correlations of many pairs, in the order of the first; None where they are not cheap."""
        return None

    def matrix(self, features: IndexArray) -> FloatArray:
        """Full symmetric matrix of the correlations of the features."""
        matrix = self.square(features)
        size = features.size
        for top in range(0, size, _STRIP):
            strip = slice(top, min(top + _STRIP, size))
            corner = matrix[strip, strip]
            corner[...] = np.triu(corner, 1) + np.triu(corner, 1).T
            matrix[strip.stop :, strip] = matrix[strip, strip.stop :].T
        np.fill_diagonal(matrix, 1.0)
        return matrix

    def squares(self, groups: Sequence[IndexArray]) -> Iterator[FloatArray]:
        """Full matrices of the correlations within each of many small groups."""
        # Several groups are computed together: what this computes in vain, correlations between
        # groups, costs less than products of very small matrices.
        bundles: list[list[IndexArray]] = []
        room = 0
        for group in groups:
            if group.size > room:
                bundles.append([])
                room = max(_SMALL_GROUPS, group.size)
            bundles[-1].append(group)
            room -= group.size
        matrices = self.matrices([np.concatenate(bundle) for bundle in bundles])
        for bundle, matrix in zip(bundles, matrices, strict=True):
            left = 0
            for group in bundle:
                part = slice(left, left + group.size)
                yield matrix[part, part]
                left = part.stop

    def matrices(self, sets: Sequence[IndexArray]) -> Iterator[FloatArray]:
        """Full symmetric matrix of the correlations of each of several sets of features."""
        return map(self.matrix, sets)

    def group_variances(self, labels: IndexArray, n_groups: int, factors: FloatArray) -> FloatArray:
        """Variance of the sum of each group's standardised features, multiplied by factors."""
        # Features with label −1 belong to no group.
        result = np.zeros(n_groups)
        order = np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(n_groups + 1))
        for number, (start, stop) in enumerate(pairwise(bounds.tolist())):
            group = order[start:stop]
            for top in range(0, group.size, _GROUPED_ROWS):
                strip = group[top : top + _GROUPED_ROWS]
                (rows,) = self.rows(strip, [(slice(0, strip.size), group)])
                result[number] += factors[strip] @ rows @ factors[group]
        return result

    def prefetch(self, features: IndexArray, others: IndexArray) -> None:
        """Announce that most correlations of the features, and with the others, come next.

        A source for which each pass over the data is expensive computes them together.
        """

    @property
    def n_rows(self) -> int:
        """Length of :meth:`columns`."""
        return 0

    def columns(self, features: IndexArray) -> FloatArray:
        """Standardised columns, one a row, such that their products are correlations."""
        # Only where ``costs.columns`` is not 0.
        raise NotImplementedError


# Pairs, without losing digits


def complete_pairs(
    known: Correlations, contrast: Contrast, residual: Residual, floor: FloatArray
) -> PairCorrelations:
    """Complete the correlations of pairs, which up to a floor of 1 − |ρ| may count as equal."""
    # Where subtracting rounded correlations would lose digits, or pairs may be equal, ``contrast``
    # and ``residual`` are asked for the precise values.
    least = np.maximum(NEARLY_COLLINEAR, 2 * floor)
    rho = known.rho.copy()
    below_one, above_minus_one = 1 - rho, 1 + rho
    difference, total = known.r_first - known.r_second, known.r_first + known.r_second

    # This also brings correlations back that rounding has taken past ±1.
    for sign, gap, opposite, covariance in (
        (1, below_one, above_minus_one, difference),
        (-1, above_minus_one, below_one, total),
    ):
        near = np.flatnonzero(gap < least)
        if near.size:
            gap[near], covariance[:, near] = contrast(near, sign)
            opposite[near] = 2 - gap[near]
            rho[near] = sign * (1 - gap[near])

    share_sum, share = theory.contrast_shares(below_one, above_minus_one, difference, total)
    unexplained = np.maximum(1 - share_sum - share, 0)
    near = np.flatnonzero(mean_over_targets(unexplained) < NEARLY_EXPLAINED)
    if near.size:
        share[:, near], share_sum[:, near], unexplained[:, near] = residual(
            near, below_one[near], above_minus_one[near], total[:, near]
        )
    return PairCorrelations(
        *(rho, below_one, above_minus_one, difference, total, share, share_sum, unexplained),
        known.n_samples,
    )


def resolved_shares(
    difference: FloatArray, total: FloatArray, unexplained: FloatArray, floor: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares of difference and sum, and 1 − R², without what cannot be told from rounding."""
    # Of what is left of a target nothing is known up to the floor. The others are squares, known to
    # far smaller numbers; only where nothing is left they have nothing to be compared with.
    left = unexplained > floor
    one, two = (np.where(left | (share > floor), share, 0.0) for share in (difference, total))
    return one, two, np.where(left, unexplained, 0.0)


# One rule for what is equal: up to the rounding of the type in which the values came


def rounding_of(precision: FloatArray | float, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """Root mean square, in scales, by which values may be off: as they came, and as computed."""
    # Rounding takes a value at most half a unit of its last place away.
    return np.asarray(precision / 2 * np.hypot(1.0, mean / scale) + COMPUTED)


def equal_up_to(first: Any, second: Any) -> Any:
    """1 − ρ up to which columns with such rounding count as equal, of arrays or of one pair."""
    # 1 − ρ is half the mean square of the difference of standardised columns.
    return (first + second) ** 2 / 2


def coarsest_equality(rounding: FloatArray, where: Any = True) -> float:
    """Return the largest 1 − ρ up to which any two of these columns count as equal."""
    largest = rounding.max(initial=0.0, where=where)
    return float(equal_up_to(largest, largest))


def is_constant(
    peak: FloatArray, mean: FloatArray, precision: float | FloatArray
) -> npt.NDArray[np.bool_]:
    """Whether a column differs from its mean by no more than ``peak`` because of rounding."""
    return np.asarray(peak <= np.maximum(precision, COMPUTED) * np.abs(mean))


def raise_if_any(
    kind: str, wrong: npt.NDArray[np.bool_], what: str, columns: Columns, targets: Targets
) -> None:
    """Raise if values of columns are too large or small; behind the columns stand the targets."""
    places = np.flatnonzero(wrong).tolist()
    if places:
        inside = [place for place in places if place < columns.size]
        where = columns.describe(inside) if inside else targets.describe(places[0] - columns.size)
        raise ValueError(f"Values too {kind} for {what} in {where}; rescale first.")
