"""The variance of the noise, given or from one regression on all features."""

import numpy as np

from .._statistics import Statistics
from ..theory._arrays import inverse


def known_noise_ratio(noise: float, target_scale: float) -> float:
    """Variance of the noise over the variance of the target; 0 and inf are its limits."""
    with np.errstate(over="ignore", under="ignore"):
        return float((np.sqrt(noise) / target_scale) ** 2)


def full_noise_ratio(statistics: Statistics) -> float:
    """Residual variance of the regression on all features, over the variance of the target.

    Directions in which the features do not vary count as no features: they neither explain nor
    cost a degree of freedom.

    Raises
    ------
    ValueError
        Where there are not more samples than weights to estimate.
    """
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
