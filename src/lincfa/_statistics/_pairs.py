"""From correlations of pairs to what the rule needs, without losing digits on the way."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .. import theory
from ..theory._arrays import FloatArray

NEARLY_COLLINEAR = 1e-5
"""Below this 1 − |ρ| a pair is computed from the difference of its columns: subtracting rounded
correlations would leave fewer than some ten digits."""

NEARLY_EXPLAINED = 1e-6
"""Below this 1 − R² the same is done with the residual of the target."""

ROUNDING = 4.0
"""Multiple of the machine precision within which values count as equal."""

RESOLUTION = 1e-13
"""Share of variance below which sums of products cannot tell a difference from their rounding."""

Selection: TypeAlias = npt.NDArray[np.intp]

Contrast: TypeAlias = Callable[[Selection, int], tuple[FloatArray, FloatArray]]
"""1 ∓ ρ and r₁ ∓ r₂ of selected pairs, for the sign of ρ; both 0 where there is no contrast."""

Residual: TypeAlias = Callable[
    [Selection, FloatArray, FloatArray, FloatArray], tuple[FloatArray, FloatArray]
]
"""Share of the difference and 1 − R² of selected pairs, given 1 − ρ, 1 + ρ and r₁ + r₂."""


@dataclass(frozen=True)
class PairCorrelations:
    """The correlations of pairs of features, in the form the rule needs.

    Attributes
    ----------
    rho : array
        Correlation ρ of the pair.
    below_one : array
        1 − ρ, precise also where the columns nearly coincide, and exactly 0 where they coincide up
        to the rounding of the data.
    share_difference : array
        Share of the target's variance explained by the difference of the pair; 0 where there is no
        difference.
    unexplained : array
        Share that the regression on the pair leaves, 1 − R²; precise also where it is small.
    """

    rho: FloatArray
    below_one: FloatArray
    share_difference: FloatArray
    unexplained: FloatArray


def complete_pairs(
    rho: FloatArray,
    r_first: FloatArray,
    r_second: FloatArray,
    contrast: Contrast,
    residual: Residual,
) -> PairCorrelations:
    """Complete the correlations of pairs.

    Where subtracting rounded correlations would lose digits, ``contrast`` and ``residual`` are
    asked for the precise values.
    """
    rho = rho.copy()
    below_one, above_minus_one = 1 - rho, 1 + rho
    difference, total = r_first - r_second, r_first + r_second

    # This also brings correlations back that rounding has taken past ±1.
    for sign, gap, opposite, covariance in (
        (1, below_one, above_minus_one, difference),
        (-1, above_minus_one, below_one, total),
    ):
        near = np.flatnonzero(gap < NEARLY_COLLINEAR)
        if near.size:
            gap[near], covariance[near] = contrast(near, sign)
            opposite[near] = 2 - gap[near]
            rho[near] = sign * (1 - gap[near])

    share_mean, share = theory.contrast_shares(below_one, above_minus_one, difference, total)
    unexplained = np.maximum(1 - share_mean - share, 0)
    near = np.flatnonzero(unexplained < NEARLY_EXPLAINED)
    if near.size:
        share[near], unexplained[near] = residual(
            near, below_one[near], above_minus_one[near], total[near]
        )
    return PairCorrelations(rho, below_one, share, unexplained)


def is_constant(
    peak: FloatArray, mean: FloatArray, precision: float | FloatArray
) -> npt.NDArray[np.bool_]:
    """Whether a column differs from its mean by no more than ``peak`` because of rounding."""
    return np.asarray(peak <= ROUNDING * precision * np.abs(mean))


def rounding_of_sums(precision: npt.ArrayLike, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """Size below which a standardised value is rounding of the data, or of sums of products."""
    of_data = ROUNDING * np.asarray(precision) * (1 + np.abs(mean) / scale)
    return np.asarray(np.maximum(of_data, np.sqrt(RESOLUTION) / 2))


def resolve_pairs(
    r: FloatArray, rounding: FloatArray, first: Selection, second: Selection, rho: FloatArray
) -> PairCorrelations:
    """Complete correlations of pairs from nothing but correlations, to the resolution of sums.

    ``r`` and ``rounding`` are those of all features, ``rho`` of the pairs.
    """
    floor = (rounding[first] + rounding[second]) ** 2

    def contrast(near: Selection, sign: int) -> tuple[FloatArray, FloatArray]:
        gap = 1 - sign * rho[near]
        covariance = r[first[near]] - sign * r[second[near]]
        distinct = gap > floor[near]
        return np.where(distinct, gap, 0.0), np.where(distinct, covariance, 0.0)

    def residual(
        near: Selection, below_one: FloatArray, above_minus_one: FloatArray, total: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        difference = np.where(below_one > 0, r[first[near]] - r[second[near]], 0.0)
        mean, share = theory.contrast_shares(below_one, above_minus_one, difference, total)
        unexplained = 1 - mean - share
        return (
            np.where(share > floor[near], share, 0.0),
            np.where(unexplained > floor[near], unexplained, 0.0),
        )

    return complete_pairs(rho, r[first], r[second], contrast, residual)
