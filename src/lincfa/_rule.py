"""F of a pair of features, and the rule F ≤ tolerance.

Replacing x₁ and x₂ by their mean raises the squared bias by what their difference explains, and
lowers the variance by the variance of the noise over n − 1. As shares of the target's variance,
estimated from the correlation ρ of the two and theirs with the target, r₁ and r₂:

    Δ = (r₁−r₂)²/(2(1−ρ))     1 − R² = 1 − (r₁+r₂)²/(2(1+ρ)) − Δ     F = (n−3) Δ / (1 − R²)

or F = (n−1) Δ / (σ²/σ̂_y²) where the variance σ² of the noise is known. This ratio is in one place,
``Rule._ratio``. The two shares of pairs of features come from ``Statistics.pairs``, computed with
care by :func:`lincfa.theory.contrast_shares`; those of means of groups, of which only correlations
are known, from :func:`pairs_from_correlations`. For speed :meth:`Rule.f_of_pair` repeats the latter
for one pair (forty times as fast) and :meth:`Rule.certain_and_doubtful` multiplies F ≤ c by its
denominators (seven times as fast); tests compare them all with the theory.
"""

from dataclasses import dataclass
from math import inf
from typing import Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ._statistics import (
    NEARLY_COLLINEAR,
    NEARLY_EXPLAINED,
    RESOLUTION,
    IndexArray,
    PairCorrelations,
    Statistics,
)
from .theory._arrays import FloatArray, divide, inverse

Number = TypeVar("Number", float, FloatArray)

UNBIASED = 2.0
"""F − 1 estimates the noncentrality without bias, and merging pays where that is at most 1."""

MARGIN = 1e-9
"""Far above the rounding of correlations and of products of them."""

_SMALLEST_RATIO = 1e-290
"""Ratio of noise to target from which F stays finite, so that pairs can still be ordered by it."""

_DELICATE = 3 * max(NEARLY_COLLINEAR, NEARLY_EXPLAINED)
"""Where (1 − ρ²)(1 − R²) is larger, neither 1 − |ρ| nor 1 − R² is small."""

EvidenceArray: TypeAlias = npt.NDArray[np.void]

EVIDENCE = np.dtype(
    [
        ("group", np.intp),
        ("feature", np.intp),
        ("partner", np.intp),
        ("sign", np.int8),
        ("correlation", np.float64),
        ("threshold", np.float64),
        ("f", np.float64),
        ("tolerance", np.float64),
        ("variance_drop_share", np.float64),
        ("bias_growth_share", np.float64),
    ]
)
"""What a strategy records of each merged feature: what it was compared with, whether with its sign
flipped (−1), and the figures of the decision, of the features as compared. Shares are of the
target's variance."""

COMPLETE_EVIDENCE = np.dtype(
    [
        *((name, EVIDENCE[name]) for name in EVIDENCE.names or ()),
        ("gain_share", np.float64),
        ("variance_drop", np.float64),
        ("bias_growth", np.float64),
        ("gain", np.float64),
    ]
)
"""The same with the net gain, and with all three in the square of the target's unit."""


def tolerance_value(tolerance: float | Literal["unbiased"]) -> float:
    """Return the number that a tolerance stands for."""
    return UNBIASED if isinstance(tolerance, str) else float(tolerance)


def pairs_from_correlations(
    rho: FloatArray, r_first: FloatArray, r_second: FloatArray
) -> PairCorrelations:
    """Δ and 1 − R² of means of groups, of which only correlations are known."""
    # A difference below 1e-13 of the variance cannot be told from rounding and counts as none.
    below_one = 1 - rho
    share = r_first - r_second
    share *= share
    share /= np.maximum(2 * below_one, RESOLUTION)
    share[below_one <= RESOLUTION] = 0
    mean = r_first + r_second
    mean *= mean
    mean /= np.maximum(2 + 2 * rho, RESOLUTION)
    return PairCorrelations(rho, below_one, share, np.maximum(1 - share - mean, RESOLUTION))


def merge_threshold(
    tolerance: float | FloatArray, below_one: FloatArray, f: FloatArray
) -> FloatArray:
    """Correlation above which a pair merges, ``1 − c(1−ρ)/F``; −inf where F is 0."""
    return 1 - divide(tolerance * below_one, f, zero_by_zero=np.inf)


@dataclass(frozen=True)
class Rule:
    """The rule F ≤ tolerance."""

    n_samples: float  # with weights, their sum
    tolerance: float = 1.0  # c in F ≤ c; 1 is the paper's rule
    # Variance of the noise over the variance of the target; None for the residual variance of each
    # pair's own regression.
    noise_ratio: float | None = None
    min_correlation: float = -1.0  # pairs with a lower one never merge; −1 for the rule alone

    @classmethod
    def of(
        cls,
        statistics: Statistics,
        tolerance: float | Literal["unbiased"] = 1.0,
        noise: Literal["pair", "full"] | float = "pair",
        min_correlation: float | None = None,
    ) -> "Rule":
        """Build the rule for data from the parameters of :class:`lincfa.LinCFA`."""
        ratio = None
        if noise == "full":
            ratio = full_noise_ratio(statistics)
        elif not isinstance(noise, str):
            with np.errstate(over="ignore", under="ignore"):  # 0 and inf are its limits
                ratio = float((np.sqrt(noise) / statistics.target_scale) ** 2)
        return cls(
            statistics.n_samples,
            tolerance_value(tolerance),
            ratio,
            -1.0 if min_correlation is None else float(min_correlation),
        )

    def f(self, pairs: PairCorrelations) -> FloatArray:
        """F of each pair: growth of bias over drop of variance, both estimated."""
        # 0 where the difference explains nothing, else infinite where the pair explains all.
        with np.errstate(divide="ignore", invalid="ignore"):
            f = np.asarray(self._ratio(pairs.share_difference, pairs.unexplained))
        return np.where(pairs.share_difference == 0, 0.0, f)

    def _ratio(self, share: Number, unexplained: Number) -> Number:
        """F from its parts, of arrays or of one pair."""
        if self.noise_ratio is None:
            return (self.n_samples - 3) * share / unexplained
        return (self.n_samples - 1) * share / max(self.noise_ratio, _SMALLEST_RATIO)

    def variance_drop(self, unexplained: FloatArray, n_weights: int = 2) -> FloatArray:
        """Variance of the noise over n − 1, as a share of the target's variance."""
        # Without a known noise it is that of a regression with so many weights.
        if self.noise_ratio is None:
            return unexplained / (self.n_samples - 1 - n_weights)
        return np.full(np.shape(unexplained), self.noise_ratio / (self.n_samples - 1))

    def passes(self, pairs: PairCorrelations) -> npt.NDArray[np.bool_]:
        """Which of the pairs merge."""
        allowed = pairs.rho >= self.min_correlation
        return np.asarray((self.f(pairs) <= self.tolerance) & allowed)

    def f_from_correlations(
        self, rho: FloatArray, r_first: FloatArray, r_second: FloatArray
    ) -> FloatArray:
        """F of means of groups, infinite below the smallest correlation allowed."""
        pairs = pairs_from_correlations(rho, r_first, r_second)
        f = self._ratio(pairs.share_difference, pairs.unexplained)
        if self.min_correlation > -1:
            f[rho < self.min_correlation - MARGIN] = inf
        return f

    def f_of_pair(self, rho: float, r_first: float, r_second: float) -> float:
        """Exactly :meth:`f_from_correlations`, of one pair."""
        if rho < self.min_correlation - MARGIN:
            return inf
        below_one, difference, total = 1 - rho, r_first - r_second, r_first + r_second
        if below_one <= RESOLUTION:
            return 0.0
        share = difference * difference / (2 * below_one)
        unexplained = 1 - share - total * total / max(2 + 2 * rho, RESOLUTION)
        return self._ratio(share, max(unexplained, RESOLUTION))

    def certain_and_doubtful(
        self, rho: FloatArray, r_seeds: FloatArray, r_candidates: FloatArray
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which pairs pass for certain, and which are in doubt; the arrays are broadcast."""
        # A screen for large arrays, mostly of shape (seeds, candidates), an eighth of the cost of
        # F: F ≤ c multiplied by its denominators, (n−3)(r₁−r₂)²(1+ρ) ≤ 2c(1−ρ²)(1−R²). In doubt are
        # pairs whose two sides differ by less than a margin above their rounding, and pairs that
        # nearly coincide or explain nearly all of the target: for these :meth:`passes` decides, on
        # more than plain correlations.
        # (1 − ρ²)(1 − R²) = 1 − r₁² − r₂² + (2r₁r₂ − ρ)ρ
        left_over = 2 * r_seeds * r_candidates
        left_over -= rho
        left_over *= rho
        left_over += 1 - r_candidates**2
        left_over -= r_seeds**2
        doubtful = left_over <= _DELICATE
        excess = r_seeds - r_candidates
        excess *= excess
        with np.errstate(over="ignore", invalid="ignore"):  # infinite noise puts all in doubt
            if self.noise_ratio is None:
                factor = 2 * self.tolerance / (self.n_samples - 3)
                excess *= 1 + rho
                left_over *= factor
                excess -= left_over
            else:
                factor = 2 * self.tolerance * self.noise_ratio / (self.n_samples - 1)
                excess -= factor * (1 - rho)
            margin = MARGIN * (1 + factor)
        passing = (excess < -margin) & ~doubtful
        doubtful |= np.abs(excess, out=excess) <= margin
        if self.min_correlation > -1:
            doubtful |= passing
            passing &= rho > self.min_correlation + MARGIN
            doubtful &= ~passing & (rho > self.min_correlation - MARGIN)
        return passing, doubtful

    def largest_difference(self, r: FloatArray) -> FloatArray:
        """Largest |r₁ − r₂| at which a feature with r₁ = ``r`` can merge, whatever ρ is."""
        # The difference of two features explains at least (r₁−r₂)²/4 of the target, and what the
        # pair leaves unexplained is at most 1 − r₁². (A margin is added to the latter, of which
        # little but rounding is left where r₁ is near 1.) At a correlation of at least m it
        # explains (r₁−r₂)²/(2(1−m)).
        factor = np.sqrt(2 * (1 - self.min_correlation))
        if self.noise_ratio is None:
            unexplained = np.maximum(1 - r**2, 0) + MARGIN
            return np.asarray(factor * np.sqrt(self.tolerance * self.variance_drop(unexplained)))
        known = np.sqrt(self.tolerance) * np.sqrt(self.noise_ratio / (self.n_samples - 1))
        return np.full(r.shape, factor * known)

    def evidence(
        self, partners: IndexArray, features: IndexArray, pairs: PairCorrelations
    ) -> EvidenceArray:
        """Evidence of merged pairs; their groups are left open."""
        f = self.f(pairs)
        columns = (
            *(-1, features, partners, 1, pairs.rho),
            *(merge_threshold(self.tolerance, pairs.below_one, f), f, self.tolerance),
            *(self.variance_drop(pairs.unexplained), pairs.share_difference),
        )
        evidence = np.empty(features.size, dtype=EVIDENCE)
        for name, values in zip(EVIDENCE.names or (), columns, strict=True):
            evidence[name] = values
        return evidence


def full_noise_ratio(statistics: Statistics) -> float:
    """Residual variance of the regression on all features, over the variance of the target."""
    # Directions in which the features do not vary count as no features: they neither explain nor
    # cost a degree of freedom.
    features = np.flatnonzero(statistics.varying)
    n = statistics.n_samples
    if n <= features.size + 1:
        raise ValueError(
            f"noise='full' estimates the noise by a regression on all features and needs more than "
            f"{features.size + 1} samples for {features.size} features, but there are {n:g}. Use "
            "noise='pair', or give the variance of the noise as a number, where it is known."
        )
    matrix = statistics.matrix(features)
    r = statistics.target_correlation[features]
    inverted, _ = inverse(matrix)
    unexplained = max(1 - float(r @ inverted @ r), 0.0)
    rank = float(np.einsum("ij,ji->", inverted, matrix))
    return unexplained * (n - 1) / (n - 1 - rank)


def complete(evidence: EvidenceArray, target_scale: float) -> EvidenceArray:
    """Add what follows from the recorded figures."""
    result = np.empty(evidence.size, dtype=COMPLETE_EVIDENCE)
    for name in EVIDENCE.names or ():
        result[name] = evidence[name]
    result["gain_share"] = result["variance_drop_share"] - result["bias_growth_share"]
    for name in ("variance_drop", "bias_growth", "gain"):
        share = result[f"{name}_share"]
        with np.errstate(over="ignore", under="ignore"):  # of extreme units: 0 and inf are limits
            result[name] = np.sign(share) * (np.sqrt(np.abs(share)) * target_scale) ** 2
    return result
