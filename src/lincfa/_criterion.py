"""The decision for pairs: F, the threshold on the correlation, and the evidence they make."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import theory
from ._statistics import IndexArray, PairCorrelations, Statistics
from .theory._arrays import FloatArray, divide

EvidenceArray: TypeAlias = npt.NDArray[np.void]

EVIDENCE = np.dtype(
    [
        ("group", np.intp),
        ("feature", np.intp),
        ("partner", np.intp),
        ("correlation", np.float64),
        ("threshold", np.float64),
        ("f", np.float64),
    ]
)
"""One row per merged feature: what it was tested against, and the figures behind the decision."""


@dataclass(frozen=True)
class Criterion:
    """The rule F ≤ tolerance.

    Attributes
    ----------
    n_samples : int
    tolerance : float
        c in F ≤ c; 1 is the paper's rule.
    noise_ratio : float or None
        Variance of the noise over the variance of the target; None for the residual variance of
        each pair's own regression.
    """

    n_samples: int
    tolerance: float = 1.0
    noise_ratio: float | None = None

    @classmethod
    def of(
        cls, statistics: Statistics, tolerance: float, noise: Literal["pair"] | float
    ) -> "Criterion":
        """Build the criterion for data, with the noise as :class:`lincfa.LinCFA` takes it."""
        ratio = None
        if not isinstance(noise, str):
            with np.errstate(over="ignore", under="ignore"):  # 0 and inf are fine limits
                ratio = float((np.sqrt(noise) / statistics.target_scale) ** 2)
        return cls(statistics.n_samples, tolerance, ratio)

    def f(self, pairs: PairCorrelations) -> FloatArray:
        """F of each pair: growth of bias over drop of variance, both estimated."""
        if self.noise_ratio is None:
            return theory.f_from_shares(self.n_samples, pairs.share_difference, pairs.unexplained)
        return theory.f_known_noise(self.n_samples, pairs.share_difference, self.noise_ratio)

    def threshold(self, pairs: PairCorrelations, f: FloatArray) -> FloatArray:
        """Correlation above which each pair merges, ``1 − c(1−ρ)/F``; −inf where F is 0."""
        return 1 - divide(self.tolerance * pairs.below_one, f, zero_by_zero=np.inf)

    def merged(
        self, group: int, seed: int, candidates: IndexArray, pairs: PairCorrelations
    ) -> EvidenceArray:
        """Evidence of those candidates that merge with the seed."""
        f = self.f(pairs)
        passed = f <= self.tolerance
        evidence = np.empty(int(passed.sum()), dtype=EVIDENCE)
        evidence["group"] = group
        evidence["feature"] = candidates[passed]
        evidence["partner"] = seed
        evidence["correlation"] = pairs.rho[passed]
        evidence["threshold"] = self.threshold(pairs, f)[passed]
        evidence["f"] = f[passed]
        return evidence
