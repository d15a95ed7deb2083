"""The decision for pairs: F, the threshold on the correlation, and the evidence they make."""

from dataclasses import dataclass
from math import inf
from typing import Literal

import numpy as np
import numpy.typing as npt

from .. import theory
from .._statistics import RESOLUTION, IndexArray, PairCorrelations, Statistics
from .._statistics._pairs import NEARLY_COLLINEAR, NEARLY_EXPLAINED
from ..theory._arrays import FloatArray
from ._evidence import EVIDENCE, EvidenceArray, threshold
from ._noise import full_noise_ratio

UNBIASED = 2.0
"""F − 1 estimates the noncentrality without bias, and merging pays where that is at most 1."""

MARGIN = 1e-9
"""Far above the rounding of correlations and of products of them."""

_SMALLEST_RATIO = 1e-290

_DELICATE = 3 * max(NEARLY_COLLINEAR, NEARLY_EXPLAINED)
"""Where (1 − ρ²)(1 − R²) is larger, neither 1 − |ρ| nor 1 − R² is small."""


def tolerance_value(tolerance: float | Literal["unbiased"]) -> float:
    """Give the number that a tolerance stands for."""
    return UNBIASED if isinstance(tolerance, str) else float(tolerance)


@dataclass(frozen=True)
class Criterion:
    """The rule F ≤ tolerance.

    Attributes
    ----------
    n_samples : float
        Number of samples; with weights, their sum.
    tolerance : float
        c in F ≤ c; 1 is the paper's rule.
    noise_ratio : float or None
        Variance of the noise over the variance of the target; None for the residual variance of
        each pair's own regression.
    min_correlation : float
        Pairs with a lower correlation never merge; −1 for the rule alone.
    """

    n_samples: float
    tolerance: float = 1.0
    noise_ratio: float | None = None
    min_correlation: float = -1.0

    @classmethod
    def of(
        cls,
        statistics: Statistics,
        tolerance: float | Literal["unbiased"] = 1.0,
        noise: Literal["pair", "full"] | float = "pair",
        min_correlation: float | None = None,
    ) -> "Criterion":
        """Build the criterion for data from the parameters of :class:`lincfa.LinCFA`."""
        ratio = None
        if noise == "full":
            ratio = full_noise_ratio(statistics)
        elif not isinstance(noise, str):
            with np.errstate(over="ignore", under="ignore"):  # 0 and inf are fine limits
                ratio = float((np.sqrt(noise) / statistics.target_scale) ** 2)
        return cls(
            statistics.n_samples,
            tolerance_value(tolerance),
            ratio,
            -1.0 if min_correlation is None else float(min_correlation),
        )

    def f(self, pairs: PairCorrelations) -> FloatArray:
        """F of each pair: growth of bias over drop of variance, both estimated."""
        if self.noise_ratio is None:
            return theory.f_from_shares(self.n_samples, pairs.share_difference, pairs.unexplained)
        return theory.f_known_noise(self.n_samples, pairs.share_difference, self.noise_ratio)

    def passes(self, pairs: PairCorrelations) -> npt.NDArray[np.bool_]:
        """Which of the pairs merge."""
        allowed = pairs.rho >= self.min_correlation
        return np.asarray((self.f(pairs) <= self.tolerance) & allowed)

    def plain_f(self, rho: FloatArray, r_first: FloatArray, r_second: FloatArray) -> FloatArray:
        """F from plain correlations, infinite below the smallest correlation allowed.

        For means of groups, of which only correlations are known: a difference of less than 1e-13
        of the variance cannot be told from rounding and counts as none, so that F is 0.
        """
        below_one = 1 - rho
        difference = r_first - r_second
        difference *= difference
        share = difference / np.maximum(2 * below_one, RESOLUTION)
        share[below_one <= RESOLUTION] = 0
        if self.noise_ratio is None:
            left = r_first + r_second
            left *= left
            left /= np.maximum(2 + 2 * rho, RESOLUTION)
            left += share
            np.subtract(1, left, out=left)
            np.maximum(left, RESOLUTION, out=left)
            share *= self.n_samples - 3
            share /= left
        else:
            share *= (self.n_samples - 1) / max(self.noise_ratio, _SMALLEST_RATIO)
        if self.min_correlation > -1:
            share[rho < self.min_correlation - MARGIN] = np.inf
        return share

    def plain_f_of_pair(self, rho: float, r_first: float, r_second: float) -> float:
        """F of one pair as :meth:`plain_f` gives it, much faster than by an array of one."""
        below_one = 1 - rho
        if rho < self.min_correlation - MARGIN:
            return inf
        if below_one <= RESOLUTION:
            return 0.0
        share = (r_first - r_second) ** 2 / (2 * below_one)
        if self.noise_ratio is not None:
            return share * ((self.n_samples - 1) / max(self.noise_ratio, _SMALLEST_RATIO))
        left = 1 - share - (r_first + r_second) ** 2 / max(2 + 2 * rho, RESOLUTION)
        return (self.n_samples - 3) * share / max(left, RESOLUTION)

    def evidence(
        self, first: IndexArray, second: IndexArray, pairs: PairCorrelations
    ) -> EvidenceArray:
        """Evidence of merged pairs (partner, feature); their groups are left open."""
        evidence = np.empty(second.size, dtype=EVIDENCE)
        f = self.f(pairs)
        evidence["group"] = -1
        evidence["feature"] = second
        evidence["partner"] = first
        evidence["correlation"] = pairs.rho
        evidence["threshold"] = threshold(self.tolerance, pairs.below_one, f)
        evidence["f"] = f
        evidence["tolerance"] = self.tolerance
        evidence["variance_drop_share"] = self.variance_drop(pairs.unexplained)
        evidence["bias_growth_share"] = pairs.share_difference
        return evidence

    def variance_drop(self, unexplained: FloatArray) -> FloatArray:
        """Variance of the noise over n − 1, as a share of the target's variance."""
        if self.noise_ratio is None:
            return unexplained / (self.n_samples - 3)
        return np.full(unexplained.shape, self.noise_ratio / (self.n_samples - 1))

    def plain_tradeoff(
        self, rho: FloatArray, r_first: FloatArray, r_second: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Drop of variance and growth of bias, of which :meth:`plain_f` is the ratio."""
        below_one = 1 - rho
        growth = (r_first - r_second) ** 2 / np.maximum(2 * below_one, RESOLUTION)
        growth[below_one <= RESOLUTION] = 0
        left = 1 - growth - (r_first + r_second) ** 2 / np.maximum(2 + 2 * rho, RESOLUTION)
        return self.variance_drop(np.maximum(left, RESOLUTION)), growth

    def reach(self, r: FloatArray) -> FloatArray:
        """Largest difference of the correlations with the target at which a feature can merge.

        The difference of two features explains at least (r₁−r₂)²/4 of the target, and what the
        pair leaves unexplained is at most 1 − r₁², whatever their correlation. (A margin is added
        to the latter, of which little but rounding is left where r₁ is near 1.) At a correlation of
        at least m it explains (r₁−r₂)²/(2(1−m)).
        """
        factor = np.sqrt(2 * (1 - self.min_correlation))
        if self.noise_ratio is None:
            unexplained = np.maximum(1 - r**2, 0) + MARGIN
            reach = factor * np.sqrt(self.tolerance * unexplained / (self.n_samples - 3))
            return np.asarray(reach)
        known = np.sqrt(self.tolerance) * np.sqrt(self.noise_ratio / (self.n_samples - 1))
        return np.full(r.shape, factor * known)

    def sift(
        self, rho: FloatArray, r_seeds: FloatArray, r_candidates: FloatArray
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which pairs (seed, candidate) pass for certain, and which are in doubt.

        Cheap for a large array ``rho`` of plain correlations of shape (seeds, candidates). In doubt
        are pairs whose two sides of the rule differ by less than a margin above their rounding, and
        pairs that nearly coincide or explain nearly all of the target: for these :meth:`passes`
        decides, on more than plain correlations.
        """
        column = r_seeds[:, None]
        # (1 − ρ²)(1 − R²) = 1 − r₁² − r₂² + (2r₁r₂ − ρ)ρ
        left_over = 2 * column * r_candidates
        left_over -= rho
        left_over *= rho
        left_over += 1 - r_candidates**2
        left_over -= column**2
        doubtful = left_over <= _DELICATE
        excess = column - r_candidates
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
