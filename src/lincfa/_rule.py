"""F of a pair of features, and the rule F ≤ tolerance.

Replacing x₁ and x₂ by their mean raises the squared bias by what the regression on both explains
beyond the mean, and lowers the variance by the variance of the noise over n − 1. As shares of the
target's variance, estimated from the correlation ρ of the two and theirs with the target, r₁ and
r₂, where the mean is a·x₁ + b·x₂ and q = (a−b)/(a+b):

    Δ = ((1+ρ)(r₁−r₂) − q(1−ρ)(r₁+r₂))² / (2(1−ρ²)((1+ρ) + q²(1−ρ)))      (q = 0: (r₁−r₂)²/(2(1−ρ)))
    1 − R² = 1 − (r₁+r₂)²/(2(1+ρ)) − (r₁−r₂)²/(2(1−ρ))                     F = (n−3) Δ / (1 − R²)

or F = (n−1) Δ / (σ²/σ̂_y²) where the variance σ² of the noise is known. With several targets, F is
the ratio of the means over the targets of these shares. With signs, x₁ may also stand with −x₂,
that is with −ρ and −r₂: the sign with the smaller F is taken. Where samples depend on each other, n
is their effective number (:meth:`Rule.effective`).

The ratio is in one place, ``Rule.ratio``. The shares of pairs of features come from
``Statistics.pairs``, computed with care by :func:`lincfa.theory.contrast_shares`; those of means of
groups, of which only correlations are known, from :func:`pairs_from_correlations`. For speed
:meth:`Rule.f_of_means` and, for one pair, :meth:`Rule.f_of_pair` repeat the latter (forty times as
fast), the compiled loops of ``_grouping`` do so once more, and :meth:`Rule.certain_and_doubtful`
multiplies F ≤ c by its denominators (seven times as fast); tests compare them all with the theory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ._data._checks import MIN_SAMPLES
from ._statistics import (
    NEARLY_COLLINEAR,
    NEARLY_EXPLAINED,
    RESOLUTION,
    Correlations,
    IndexArray,
    PairCorrelations,
    Statistics,
    coarsest_equality,
    equal_up_to,
    mean_over_targets,
    mean_square,
)
from .theory._arrays import FloatArray, contrast_square, divide, inverse

Number = TypeVar("Number", float, FloatArray)
Imbalance: TypeAlias = FloatArray | float
"""q = (a−b)/(a+b) of pairs with the weights a and b; 0 where they count the same."""

UNBIASED = 2.0
"""F − 1 estimates the noncentrality without bias, and merging pays where that is at most 1."""

MARGIN = 1e-9
"""Far above the rounding of correlations and of products of them."""

_SMALLEST_RATIO = 1e-290
"""Ratio of noise to target from which F stays finite, so that pairs can still be ordered by it."""

_DELICATE = max(NEARLY_COLLINEAR, NEARLY_EXPLAINED)
"""1 − |ρ| and 1 − R² up to which correlations do not tell whether a pair passes."""

EvidenceArray: TypeAlias = npt.NDArray[np.void]


def of_targets(name: str, n_targets: int) -> tuple[Any, ...]:
    """A field of a record with a number for each target; of one target just a number."""
    return (name, np.float64) if n_targets == 1 else (name, np.float64, (n_targets,))


def evidence_type(n_targets: int) -> np.dtype[np.void]:
    """What a strategy records of each merged feature.

    What it was compared with, whether with its sign flipped (−1), and the figures of the decision,
    of the features as compared. Shares are of each target's variance.
    """
    return np.dtype(
        [
            ("group", np.intp),
            ("feature", np.intp),
            ("partner", np.intp),
            ("sign", np.int8),
            ("correlation", np.float64),
            ("threshold", np.float64),
            ("f", np.float64),
            ("tolerance", np.float64),
            of_targets("variance_drop_share", n_targets),
            of_targets("bias_growth_share", n_targets),
        ]
    )


def put_targets(
    record: npt.NDArray[np.void], name: str, values: FloatArray, rows: Any = slice(None)
) -> None:
    """Write a number for each target, by the first axis, into a field of some records."""
    record[name][rows] = values[0] if len(values) == 1 else values.T


def imbalance_of(first: Number, second: Number) -> Number:
    """How unevenly two weights enter a mean."""
    return (first - second) / (first + second)


def _rather_flipped(plain: Any, mirrored: Any, rho: Any) -> Any:
    """Whether a pair is compared flipped: the smaller F or growth; of equal ones the sign of ρ."""
    return (mirrored < plain) | ((mirrored == plain) & (rho < 0))


def _uneven(imbalance: Imbalance) -> bool:
    return isinstance(imbalance, np.ndarray) or imbalance != 0


def tolerance_value(tolerance: float | Literal["unbiased"]) -> float:
    """Return the number that a tolerance stands for."""
    return UNBIASED if isinstance(tolerance, str) else float(tolerance)


def pairs_from_correlations(known: Correlations) -> PairCorrelations:
    """Complete correlations of means of groups, of which nothing else is known."""
    # A difference below 1e-13 of the variance cannot be told from rounding and counts as none.
    rho = known.rho
    below_one, above_minus_one = (
        np.where(gap > RESOLUTION, gap, 0.0) for gap in (1 - rho, 1 + rho)
    )
    difference, total = known.r_first - known.r_second, known.r_first + known.r_second
    share, share_sum = (
        contrast_square(difference, below_one),
        contrast_square(total, above_minus_one),
    )
    # From averages over pairs with missing values it may be below 0.
    unexplained = 1 - share - share_sum
    unexplained = np.where(mean_over_targets(unexplained) > RESOLUTION, unexplained, RESOLUTION)
    return PairCorrelations(
        *(rho, below_one, above_minus_one, difference, total, share, share_sum, unexplained),
        known.n_samples,
    )


def take_as_equal(
    products: FloatArray,
    unit: FloatArray,
    first: FloatArray | float,
    second: FloatArray,
    *,
    signed: bool,
) -> None:
    """Make products of columns that differ by no more than their rounding those of copies."""
    # Only of such as may merge: the sum of opposite columns would have no variance and yet the same
    # correlations with other columns, which no data have.
    copies = np.copysign(unit, products) if signed else unit
    equal = 1 - products / copies <= equal_up_to(first, second)
    np.copyto(products, copies, where=equal)


def pair_contrasts(first: Sequence[float], second: Sequence[float]) -> tuple[float, float, float]:
    """Means over the targets of (r₁−r₂)², (r₁−r₂)(r₁+r₂) and (r₁+r₂)², of one pair."""
    differences = cross = totals = 0.0
    for a, b in zip(first, second, strict=True):
        difference, total = a - b, a + b
        differences += difference * difference
        cross += difference * total
        totals += total * total
    k = len(first)
    return (differences, cross, totals) if k == 1 else (differences / k, cross / k, totals / k)


def merge_threshold(
    tolerance: float | FloatArray,
    below_one: FloatArray,
    f: FloatArray,
    imbalance: Imbalance = 0.0,
) -> FloatArray:
    """Correlation above which a pair merges, given its weights in the regression on both.

    ``1 − c(1−ρ)/F``; −inf where F is 0, or any correlation would do.
    """
    if not _uneven(imbalance):
        return 1 - divide(tolerance * below_one, f, zero_by_zero=np.inf)
    # F is proportional to (1−ρ²)/((1+ρ) + q²(1−ρ)): a quadratic equation for u = 1 − ρ.
    above = 2 - below_one
    part = below_one * above / (2 * (above + imbalance**2 * below_one))
    limit = divide(tolerance * part, f, zero_by_zero=np.inf)
    with np.errstate(invalid="ignore", over="ignore"):  # of what is infinite, or has no solution
        half = 1 + limit * (1 - imbalance**2)
        gap = 4 * limit / (half + np.sqrt(half**2 - 4 * limit))
    threshold = np.where(np.isnan(gap), -np.inf, 1 - gap)
    # F is also small where ρ is near −1, and the feature with the larger weight is all that is left
    # of the mean: then no correlation from which on pairs merge says why this one does.
    return np.where((f <= tolerance) & (below_one > gap), np.nan, threshold)


def growth_of_bias(pairs: PairCorrelations, imbalance: Imbalance = 0.0) -> FloatArray:
    """Δ: what the regression on both explains beyond their mean, of each target."""
    if not _uneven(imbalance):
        return pairs.share_difference
    # In terms of the sum and the difference, which are uncorrelated, and the roots of their shares.
    along = np.copysign(np.sqrt(pairs.share_sum), pairs.total)
    across = np.copysign(np.sqrt(pairs.share_difference), pairs.difference)
    variance = pairs.above_minus_one + imbalance**2 * pairs.below_one
    left = np.sqrt(pairs.above_minus_one) * across - imbalance * np.sqrt(pairs.below_one) * along
    # Of mirror images with equal weights the mean has no variance.
    known = variance > 0
    return np.where(known, left**2 / np.where(known, variance, 1.0), pairs.share_difference)


@dataclass(frozen=True)
class Decision:
    """What the rule says of pairs, of the second feature with the sign taken."""

    sign: npt.NDArray[np.int8]
    rho: FloatArray
    below_one: FloatArray
    variance_drop: FloatArray  # as shares of each target's variance, by the first axis
    bias_growth: FloatArray
    f: FloatArray
    merges: npt.NDArray[np.bool_]
    imbalance: Imbalance


@dataclass(frozen=True)
class Rule:
    """The rule F ≤ tolerance."""

    n_samples: float  # with weights, their sum
    tolerance: float = 1.0  # c in F ≤ c; 1 is the paper's rule
    # Variance of the noise over the variance of each target; None for the residual variances of
    # each pair's own regressions.
    noise_ratio: FloatArray | float | None = None
    min_correlation: float = -1.0  # pairs with a lower one never merge; −1 for the rule alone
    signed: bool = False  # whether the second of a pair may be flipped
    weights: FloatArray | None = None  # of the features in means; None where all are the same
    complete: bool = True  # whether no values are missing, so that all pairs have all samples
    share: float = 1.0  # of the samples that counts in F: their effective number over their number
    delicate: float = _DELICATE  # where 1 − |ρ| or 1 − R² may be so small, screens do not decide
    # Along which direction of the targets correlations with them differ most.
    direction: FloatArray = field(default_factory=lambda: np.ones(1))

    @classmethod
    def of(
        cls,
        statistics: Statistics,
        tolerance: float | Literal["unbiased"] = 1.0,
        noise: Literal["pair", "full"] | float = "pair",
        min_correlation: float | None = None,
        *,
        signed: bool = False,
        weights: FloatArray | None = None,
        share: float = 1.0,
    ) -> "Rule":
        """Build the rule for data from the parameters of :class:`lincfa.LinCFA`."""
        ratio = None
        if noise == "full":
            ratio = full_noise_ratio(statistics, share)
        elif not isinstance(noise, str):
            with np.errstate(over="ignore", under="ignore"):  # 0 and inf are its limits
                ratio = (np.sqrt(noise) / statistics.target_scale) ** 2
        return cls(
            statistics.n_samples,
            tolerance_value(tolerance),
            ratio,
            -1.0 if min_correlation is None else float(min_correlation),
            bool(signed),
            # Only their ratios matter.
            None if weights is None or (weights == weights[0]).all() else weights / weights.max(),
            statistics.complete,
            share,
            max(_DELICATE, 2 * coarsest_equality(statistics.rounding, statistics.varying)),
            main_direction(statistics.target_correlation),
        )

    @property
    def n_targets(self) -> int:
        """Number of targets."""
        return self.direction.size

    def no_evidence(self, size: int = 0) -> EvidenceArray:
        """Return a record of merges that is still to be filled."""
        return np.empty(size, dtype=evidence_type(self.n_targets))

    def factors(self, features: IndexArray) -> FloatArray:
        """Weights of features in the mean of a group."""
        return np.ones(features.size) if self.weights is None else self.weights[features]

    def effective(self, n_samples: Any) -> Any:
        """Effective number of samples, the n in F."""
        if self.share == 1:
            return n_samples
        n = self.share * n_samples
        # Of the samples that a pair shares, 4 count at least; −inf stays.
        return n if self.complete else np.maximum(n, np.minimum(n_samples, MIN_SAMPLES))

    def imbalance(self, first: IndexArray | int, second: IndexArray | int) -> Imbalance:
        """How unevenly the weights of two features enter their mean."""
        if self.weights is None:
            return 0.0
        return imbalance_of(self.weights[first], self.weights[second])

    # Pairs of features

    def decide(
        self,
        pairs: PairCorrelations,
        imbalance: Imbalance = 0.0,
        sign: FloatArray | None = None,
    ) -> Decision:
        """Judge pairs by F: growth of bias over drop of variance, both estimated.

        Where the sign was chosen already, it is given, and the pairs are as it makes them.
        """
        growth = growth_of_bias(pairs, imbalance)
        if sign is None and self.signed:
            mirrored = growth_of_bias(pairs.flipped(), imbalance)
            flip = _rather_flipped(
                mean_over_targets(growth), mean_over_targets(mirrored), pairs.rho
            )
            # Where only the correlation of the other sign is allowed, that is taken.
            rho = np.where(flip, -pairs.rho, pairs.rho)
            flip ^= (rho < self.min_correlation) & (-rho >= self.min_correlation)
            growth, pairs = np.where(flip, mirrored, growth), pairs.flipped(flip)
            sign = np.where(flip, -1.0, 1.0)
        # 0 where the mean explains as much, else infinite where the pair explains all.
        total = mean_over_targets(growth)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = mean_over_targets(pairs.unexplained)
            f = np.asarray(self.ratio(total, left, pairs.n_samples))
            f = np.where(total == 0, 0.0, f)
        if not self.complete:
            f = np.where(np.isneginf(pairs.n_samples), inf, f)
        return Decision(
            np.ones(total.shape, np.int8) if sign is None else sign.astype(np.int8),
            pairs.rho,
            pairs.below_one,
            self.variance_drop(np.maximum(pairs.unexplained, 0.0), n_samples=pairs.n_samples),
            growth,
            f,
            np.asarray((f <= self.tolerance) & (pairs.rho >= self.min_correlation)),
            imbalance,
        )

    def ratio(self, growth: Any, unexplained: Any, n_samples: Any) -> Any:
        """F from its parts, means over the targets, of arrays or of one pair."""
        n = self.effective(n_samples)
        if self.noise_ratio is None:
            return (n - 3) * growth / unexplained
        return (n - 1) * growth / max(float(np.mean(self.noise_ratio)), _SMALLEST_RATIO)

    def variance_drop(
        self,
        unexplained: FloatArray,
        n_weights: int = 2,
        n_samples: float | FloatArray | None = None,
    ) -> FloatArray:
        """Variance of the noise over n − 1, as a share of each target's variance."""
        # Without a known noise it is that of a regression with so many weights.
        n = self.effective(self.n_samples if n_samples is None else n_samples)
        if self.noise_ratio is None:
            return np.asarray(unexplained / (n - 1 - n_weights))
        ratios = np.reshape(self.noise_ratio, (-1, *(1,) * (unexplained.ndim - 1)))
        return np.broadcast_to(ratios / (n - 1), unexplained.shape)

    def evidence(
        self, partners: IndexArray, features: IndexArray, decision: Decision
    ) -> EvidenceArray:
        """Evidence of merged pairs; their groups are left open."""
        columns = (
            *(-1, features, partners, decision.sign, decision.rho),
            merge_threshold(self.tolerance, decision.below_one, decision.f, decision.imbalance),
            *(decision.f, self.tolerance),
        )
        evidence = self.no_evidence(features.size)
        for name, values in zip(evidence.dtype.names or (), columns, strict=False):
            evidence[name] = values
        put_targets(evidence, "variance_drop_share", decision.variance_drop)
        put_targets(evidence, "bias_growth_share", decision.bias_growth)
        return evidence

    # Means of groups

    def f_of_means(
        self, known: Correlations, imbalance: Imbalance = 0.0
    ) -> tuple[FloatArray, FloatArray]:
        """F of means of groups, infinite where they may not merge, and their correlations.

        Both are those of the second group with the sign taken.
        """
        f, rho = self._f_of_means(known, imbalance), known.rho
        if self.signed:
            mirrored = self._f_of_means(known.flipped(), imbalance)
            flip = _rather_flipped(f, mirrored, rho)
            f, rho = np.where(flip, mirrored, f), np.where(flip, -rho, rho)
        return f, rho

    def _f_of_means(self, known: Correlations, imbalance: Imbalance) -> FloatArray:
        # As from :func:`pairs_from_correlations`, with fewer arrays.
        rho, below_one = known.rho, 1 - known.rho
        coincide = below_one <= RESOLUTION
        differences = mean_square(known.r_first, known.r_second)
        totals = mean_square(known.r_first, known.r_second, -1)
        share = differences / np.maximum(2 * below_one, RESOLUTION)
        share[coincide] = 0
        unexplained = 1 - share - totals / np.maximum(2 + 2 * rho, RESOLUTION)
        np.maximum(unexplained, RESOLUTION, out=unexplained)
        if _uneven(imbalance):
            above = np.maximum(1 + rho, RESOLUTION)
            cross = mean_over_targets(
                (known.r_first - known.r_second) * (known.r_first + known.r_second)
            )
            left = _squared_excess(above, below_one, differences, cross, totals, imbalance)
            variance = above * np.maximum(below_one, RESOLUTION)
            share = left / (2 * variance * (above + imbalance**2 * below_one))
            share[coincide] = 0
        if self.complete:
            f: FloatArray = self.ratio(share, unexplained, known.n_samples)
        else:
            with np.errstate(invalid="ignore"):
                f = self.ratio(share, unexplained, known.n_samples)
            f[np.isneginf(known.n_samples)] = inf
        if self.min_correlation > -1:
            f[rho < self.min_correlation - MARGIN] = inf
        return f

    def better_sign(
        self, rho: float, contrasts: Sequence[float], n: float, imbalance: float
    ) -> tuple[float, int]:
        """F of one pair of means, and the sign of the second with which it is that."""
        f = self.f_of_pair(rho, contrasts, n, imbalance)
        if self.signed:
            differences, cross, totals = contrasts
            mirrored = self.f_of_pair(-rho, (totals, cross, differences), n, imbalance)
            if _rather_flipped(f, mirrored, rho):
                return mirrored, -1
        return f, 1

    def f_of_pair(
        self, rho: float, contrasts: Sequence[float], n_samples: float, imbalance: float = 0.0
    ) -> float:
        """F of one pair of means as given, of neither flipped: exactly that of the arrays."""
        # Given what :func:`pair_contrasts` says of it.
        if rho < self.min_correlation - MARGIN or n_samples == -inf:
            return inf
        below_one, (differences, cross, totals) = 1 - rho, contrasts
        if below_one <= RESOLUTION:
            return 0.0
        share = differences / (2 * below_one)
        unexplained = 1 - share - totals / max(2 + 2 * rho, RESOLUTION)
        if imbalance:
            above = max(1 + rho, RESOLUTION)
            left = _squared_excess(above, below_one, differences, cross, totals, imbalance)
            share = left / (2 * (above * below_one) * (above + imbalance**2 * below_one))
        return float(self.ratio(share, max(unexplained, RESOLUTION), n_samples))

    # Many pairs at once

    def certain_and_doubtful(
        self, known: Correlations, imbalance: Imbalance = 0.0
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which pairs pass for certain, and which are in doubt."""
        # A screen for large arrays, mostly of shape (seeds, candidates). A pair passes if it does
        # with either sign.
        products = known.target_products()
        certain, doubtful = self._screen(known.rho, *products, known.n_samples, imbalance)
        if self.signed:
            first, second, product = products
            mirrored, in_doubt = self._screen(
                -known.rho, first, second, -product, known.n_samples, imbalance
            )
            certain |= mirrored
            doubtful |= in_doubt
            doubtful &= ~certain
        return certain, doubtful

    def _screen(
        self,
        rho: FloatArray,
        first: FloatArray,
        second: FloatArray,
        product: FloatArray,
        n_samples: FloatArray | float,
        imbalance: Imbalance,
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        # An eighth of the cost of F: F ≤ c multiplied by its denominators, for equal weights
        # (n−3)(r₁−r₂)²(1+ρ) ≤ 2c(1−ρ²)(1−R²), and from means over the targets of r₁², r₂² and r₁r₂,
        # so that several targets cost hardly more than one. In doubt are pairs whose two sides
        # differ by less than a margin above their rounding, and pairs that nearly coincide or
        # explain nearly all: for these :meth:`decide` decides, on more than plain correlations.
        # (1 − ρ²)(1 − R²) = 1 − r₁² − r₂² + (2r₁r₂ − ρ)ρ
        left_over = 2 * product
        excess = second - left_over
        excess += first  # (r₁ − r₂)²
        left_over -= rho
        left_over *= rho
        left_over += 1 - second
        left_over -= first
        doubtful = left_over <= 3 * self.delicate
        n = self.effective(n_samples)
        with np.errstate(over="ignore", invalid="ignore"):  # infinite noise puts all in doubt
            if self.noise_ratio is None:
                factor = 2 * self.tolerance / (n - 3)
            else:
                factor = 2 * self.tolerance * float(np.mean(self.noise_ratio)) / (n - 1)
                left_over = 1 - rho
            if _uneven(imbalance):
                # ((1+ρ)(r₁−r₂) − q(1−ρ)(r₁+r₂))² ≤ factor · ((1+ρ) + q²(1−ρ)) · left over
                totals = first + second + 2 * product
                excess = _squared_excess(
                    1 + rho, 1 - rho, excess, first - second, totals, imbalance
                )
                left_over *= 1 + rho + imbalance**2 * (1 - rho)
                if self.noise_ratio is not None:
                    left_over *= 1 + rho
            elif self.noise_ratio is None:
                excess *= 1 + rho
            left_over *= factor
            excess -= left_over
            margin = MARGIN * (1 + factor)
        passing = (excess < -margin) & ~doubtful
        doubtful |= np.abs(excess, out=excess) <= margin
        if self.min_correlation > -1:
            doubtful |= passing
            passing &= rho > self.min_correlation + MARGIN
            doubtful &= ~passing & (rho > self.min_correlation - MARGIN)
        return passing, doubtful

    def comparable(self, r: FloatArray) -> FloatArray:
        """Return one number for the correlations with the targets, near for pairs that merge."""
        along = self.direction @ r if self.n_targets > 1 else r[0]
        return np.abs(along) if self.signed else along

    def largest_difference(self, r: FloatArray) -> FloatArray:
        """Largest difference of comparable r at which a feature can merge, whatever ρ is."""
        # The difference of two features explains at least (r₁−r₂)²/4 of a target, and what the
        # pair leaves unexplained is at most 1 − r₁². (A margin is added to the latter, of which
        # little but rounding is left where r₁ is near 1.) At a correlation of at least m it
        # explains (r₁−r₂)²/(2(1−m)). With several targets this bounds the sum of the squares of
        # r₁−r₂, and so r₁−r₂ along any direction. With unequal weights, or where a pair has
        # correlations of its own, there is no such bound.
        if self.weights is not None or not self.complete:
            return np.full(r.shape[1:], inf)
        factor = np.sqrt(2 * (1 - self.min_correlation) * self.n_targets)
        unexplained = np.maximum(1 - r**2, 0) + MARGIN
        drop = mean_over_targets(self.variance_drop(unexplained))
        with np.errstate(under="ignore"):
            return np.asarray(factor * np.sqrt(self.tolerance) * np.sqrt(drop))

    def reach(self) -> float:
        """Largest difference of r of one target at which a feature can merge, over 1 − |r|.

        Infinite where there is no such bound.
        """
        # With t = (n−3)(r₁−r₂)²/(4c), F ≤ c is 2t(1+ρ) ≤ (1−ρ²)(1−R²), quadratic in ρ. For r₁ and
        # r₂ of one sign there is such a ρ only if t ≤ (1−|r₁|)(1−|r₂|), and for others t must be
        # smaller still. As 1−|r₂| ≤ 1−|r₁|+|r₁−r₂|, that is quadratic in |r₁−r₂| over 1−|r₁|.
        known = self.noise_ratio is not None or self.weights is not None or not self.complete
        if known or self.n_targets > 1:
            return inf
        k = 4 * self.tolerance / (self.effective(self.n_samples) - 3)
        return float(k + np.sqrt(k**2 + 4 * k)) / 2 if k <= 1 else inf


def main_direction(r: FloatArray) -> FloatArray:
    """Direction of the targets along which correlations with them vary most."""
    if len(r) == 1:
        return np.ones(1)
    centred = r - r.mean(axis=1, keepdims=True)
    _, directions = np.linalg.eigh(centred @ centred.T)
    return np.asarray(directions[:, -1])


def _squared_excess(
    above: Any, below: Any, differences: Any, cross: Any, totals: Any, imbalance: Any
) -> Any:
    """((1+ρ)(r₁−r₂) − q(1−ρ)(r₁+r₂))², its products of r being means over the targets."""
    along, across = above * differences, imbalance * below
    result = above * along - 2 * above * across * cross + across * across * totals
    return np.maximum(result, 0.0) if isinstance(result, np.ndarray) else max(float(result), 0.0)


def full_noise_ratio(statistics: Statistics, share: float) -> FloatArray:
    """Residual variance of the regression on all features, over the variance of each target."""
    # Directions in which the features do not vary count as no features: they neither explain nor
    # cost a degree of freedom.
    if not statistics.complete:
        raise ValueError(
            "noise='full' estimates the noise by a regression on all features and needs complete "
            "data, but X has missing values. Use noise='pair', or give the variance of the noise "
            "as a number, where it is known."
        )
    features = np.flatnonzero(statistics.varying)
    n = share * statistics.n_samples
    if n <= features.size + 1:
        raise ValueError(
            f"noise='full' estimates the noise by a regression on all features and needs more than "
            f"{features.size + 1} {'' if share == 1 else 'effective '}samples for {features.size} "
            f"features, but there are {n:g}. Use "
            "noise='pair', or give the variance of the noise as a number, where it is known."
        )
    matrix = statistics.matrix(features)
    r = statistics.target_correlation[:, features]
    inverted, _ = inverse(matrix)
    unexplained = np.maximum(1 - np.einsum("ki,ki->k", r @ inverted, r), 0.0)
    rank = float(np.einsum("ij,ji->", inverted, matrix))
    return np.asarray(unexplained * (n - 1) / (n - 1 - rank))


def with_gains(evidence: EvidenceArray, target_scale: FloatArray | float) -> EvidenceArray:
    """Add the net gain, and all three estimates in the square of each target's unit."""
    k = np.size(target_scale)
    added = ("gain_share", "variance_drop", "bias_growth", "gain")
    known = [(name, evidence.dtype[name]) for name in evidence.dtype.names or ()]
    dtype = [*known, *(of_targets(name, k) for name in added)]
    result = np.empty(evidence.size, dtype=dtype)
    for name in evidence.dtype.names or ():
        result[name] = evidence[name]
    result["gain_share"] = result["variance_drop_share"] - result["bias_growth_share"]
    for name in ("variance_drop", "bias_growth", "gain"):
        share = result[f"{name}_share"]
        with np.errstate(over="ignore", under="ignore"):  # of extreme units: 0 and inf are limits
            result[name] = np.sign(share) * (np.sqrt(np.abs(share)) * target_scale) ** 2
    return result
