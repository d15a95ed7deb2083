"""What a fit needs to know of the data: counts, means, scales and correlations on demand."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from . import theory
from ._names import Names, describe_columns
from .theory._arrays import FloatArray

IndexArray: TypeAlias = npt.NDArray[np.intp]

_NEARLY_COLLINEAR = 1e-5
"""Below this 1 − |ρ| a pair is computed from the difference of its columns: subtracting rounded
correlations would leave fewer than some ten digits."""

_NEARLY_EXPLAINED = 1e-6
"""Below this 1 − R² the same is done with the residual of the target."""

_ROUNDING = 4.0
"""Multiple of the machine precision within which values count as equal."""


@dataclass(frozen=True)
class PairCorrelations:
    """The correlations of one feature with several others, in the form the criterion needs.

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


class Statistics(Protocol):
    """What the criterion and the grouping ask of the data."""

    @property
    def n_samples(self) -> int:
        """Number of samples."""

    @property
    def varying(self) -> npt.NDArray[np.bool_]:
        """Which features are not constant."""

    @property
    def target_scale(self) -> float:
        """Standard deviation of the target."""

    def pairs(self, seed: int, candidates: IndexArray) -> PairCorrelations:
        """Correlations of the feature ``seed`` with the features ``candidates``."""


@dataclass(frozen=True)
class ArrayStatistics:
    """Statistics of an array in memory, held as standardised columns for the time of a fit.

    Attributes
    ----------
    mean, scale : array of shape (D,)
        Means and standard deviations (n − 1); the scale of a constant feature is 1.
    varying : array of shape (D,)
        Which features are not constant.
    target_correlation : array of shape (D,)
        Correlation with the target; 0 for a constant feature.
    target_scale : float
        Standard deviation of the target.
    """

    mean: FloatArray
    scale: FloatArray
    varying: npt.NDArray[np.bool_]
    target_correlation: FloatArray
    target_scale: float
    _columns: FloatArray
    _target: FloatArray
    _precision: float

    @classmethod
    def from_data(
        cls, X: npt.NDArray[Any], y: FloatArray, names: Names | None = None
    ) -> "ArrayStatistics":
        """Standardise X and y.

        Raises
        ------
        ValueError
            Where the target is constant, or a column too large for float64.
        """
        n = X.shape[0]
        precision = float(np.finfo(X.dtype).eps)
        target, _, target_scale, target_varies = standardize(
            y.reshape(-1, 1), np.finfo(np.float64).eps
        )
        if not np.isfinite(target_scale[0]):
            raise ValueError("Values too large for float64 in the target y; rescale it first.")
        if not target_varies[0]:
            raise ValueError(
                f"The target y is constant (all values are {y[0]:g}): nothing supervises the merge."
            )
        columns, mean, scale, varying = standardize(X, precision)
        overflow = np.flatnonzero(~np.isfinite(mean + scale))
        if overflow.size:
            raise ValueError(
                f"Values too large for float64 in {describe_columns(names, overflow.tolist())}; "
                "rescale first."
            )
        return cls(
            mean=mean,
            scale=scale,
            varying=varying,
            target_correlation=columns.T @ target[:, 0] / (n - 1),
            target_scale=float(target_scale[0]),
            _columns=columns,
            _target=target[:, 0],
            _precision=precision,
        )

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self._columns.shape[0])

    def pairs(self, seed: int, candidates: IndexArray) -> PairCorrelations:
        """Correlations of the feature ``seed`` with the features ``candidates``."""
        if candidates.size == 0:
            return PairCorrelations(*(np.empty(0) for _ in range(4)))
        first, last = candidates.min(), candidates.max() + 1
        # A slice is a view; the products with columns in between cost less than copying columns.
        products = self._columns[:, first:last].T @ self._columns[:, seed]
        rho = products[candidates - first] / (self.n_samples - 1)
        r_seed, r = self.target_correlation[seed], self.target_correlation[candidates]
        below_one, above_minus_one = 1 - rho, 1 + rho
        difference, total = r_seed - r, r_seed + r

        # This also brings correlations back that rounding has taken past ±1.
        for sign, gap, covariance in ((1, below_one, difference), (-1, above_minus_one, total)):
            near = np.flatnonzero(gap < _NEARLY_COLLINEAR)
            if near.size:
                gap[near], covariance[near] = self._contrast(seed, candidates[near], sign)
                rho[near] = sign * (1 - gap[near])

        share_mean, share = theory.contrast_shares(below_one, above_minus_one, difference, total)
        unexplained = np.maximum(1 - share_mean - share, 0)
        near = np.flatnonzero(unexplained < _NEARLY_EXPLAINED)
        if near.size:
            share[near], unexplained[near] = self._residual_shares(
                seed, candidates[near], below_one[near], above_minus_one[near], total[near]
            )
        return PairCorrelations(rho, below_one, share, unexplained)

    def _contrast(self, seed: int, others: IndexArray, sign: int) -> tuple[FloatArray, FloatArray]:
        """1 ∓ ρ and r₁ ∓ r₂ from the difference (sign 1) or sum (sign −1) of the columns."""
        contrast = self._columns[:, [seed]] - sign * self._columns[:, others]
        gap = np.einsum("ij,ij->j", contrast, contrast) / (2 * (self.n_samples - 1))
        covariance = contrast.T @ self._target / (self.n_samples - 1)
        distinct = gap > self._rounding(seed, others) ** 2
        return np.where(distinct, gap, 0.0), np.where(distinct, covariance, 0.0)

    def _residual_shares(
        self,
        seed: int,
        others: IndexArray,
        below_one: FloatArray,
        above_minus_one: FloatArray,
        total: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Share of the difference and 1 − R², from what is left of the target column by column.

        Both are 0 where they are no larger than the rounding of the data.
        """
        degrees = self.n_samples - 1
        columns, seed_column = self._columns[:, others], self._columns[:, [seed]]

        def weight(covariance: FloatArray, variance: FloatArray) -> FloatArray:
            known = variance > 0
            return np.where(known, covariance, 0.0) / np.where(known, 2 * variance, 1.0)

        residual = self._target[:, None] - (seed_column + columns) * weight(total, above_minus_one)
        contrast = seed_column - columns
        slope = weight(np.einsum("ij,ij->j", contrast, residual) / degrees, below_one)
        residual -= contrast * slope
        share = 2 * below_one * slope**2
        unexplained = np.einsum("ij,ij->j", residual, residual) / degrees
        floor = self._rounding(seed, others) ** 2
        return np.where(share > floor, share, 0.0), np.where(unexplained > floor, unexplained, 0.0)

    def _rounding(self, seed: int, others: IndexArray) -> FloatArray:
        """Size below which a combination of two standardised columns is rounding of the data."""
        size = 1 + np.abs(self.mean) / self.scale
        return np.asarray(_ROUNDING * self._precision * (size[seed] + size[others]))


def standardize(
    values: npt.NDArray[Any], precision: float
) -> tuple[FloatArray, FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Centre and scale columns to unit sample variance.

    The mean is corrected by the mean of what it leaves, and squares are taken of values of at most
    1, so that neither a mean much larger than the scale nor an extreme unit costs digits.

    Returns
    -------
    columns : array of shape (n, D), float64, column-contiguous
    mean, scale : arrays of shape (D,)
        ``scale`` is 1 where the column is constant.
    varying : array of shape (D,)
        Whether the values differ by more than their rounding.
    """
    # Column by column in memory, whatever the order given: the sums do not depend on it.
    columns = np.array(values, dtype=np.float64, order="F")
    with np.errstate(over="ignore", invalid="ignore"):
        mean = columns.mean(axis=0)
        columns -= mean
        correction = columns.mean(axis=0)
        columns -= correction
        mean += correction
        peak = np.abs(columns).max(axis=0)
        varying = ~(peak <= _ROUNDING * precision * np.abs(mean))
        peak[~varying] = 1.0
        columns /= peak
        columns[:, ~varying] = 0.0
        relative = np.sqrt(np.einsum("ij,ij->j", columns, columns) / (columns.shape[0] - 1))
        relative[~varying] = 1.0
        columns /= relative
    return columns, mean, peak * relative, varying
