"""Builders shared by the tests of the theory, and the one rule for comparing a simulation.

A simulated mean is compared with its stated value at 5 standard errors: under a normal law a
correct function fails one such check with probability 6e-7, and the seeds are fixed, so a test
that passed once passes always.
"""

from collections.abc import Callable

import numpy as np
import pytest

STANDARD_ERRORS = 5.0


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)


@pytest.fixture
def random_covariance() -> Callable[..., np.ndarray]:
    """Batch of covariance matrices with full rank, ``unit`` variances (first k) on request."""

    def build(rng: np.random.Generator, d: int, size: int, unit: int = 0) -> np.ndarray:
        factor = rng.normal(size=(size, d, d + 2)) + rng.normal(size=(size, 1, 1))
        covariance = factor @ np.swapaxes(factor, 1, 2) / (d + 2)
        sd = np.sqrt(np.einsum("kii->ki", covariance)).copy()
        sd[:, unit:] = 1.0
        covariance = covariance / (sd[:, :, None] * sd[:, None, :])
        for i in range(unit):
            covariance[:, i, i] = 1.0
        return covariance

    return build


@pytest.fixture
def random_correlations() -> Callable[..., tuple[np.ndarray, ...]]:
    """Valid triples (rho, r1, r2), some of them close to the border of the valid set."""

    def build(rng: np.random.Generator, size: int) -> tuple[np.ndarray, ...]:
        rho, r1, partial = np.tanh(rng.normal(scale=1.2, size=(3, size)))
        return rho, r1, rho * r1 + partial * np.sqrt((1 - rho**2) * (1 - r1**2))

    return build


@pytest.fixture
def design() -> Callable[..., np.ndarray]:
    """Centred training features whose sample covariance (n − 1) is exactly the one asked for."""

    def build(rng: np.random.Generator, n: int, covariance: np.ndarray) -> np.ndarray:
        covariance = np.asarray(covariance, dtype=float)
        raw = rng.normal(size=(n, len(covariance)))
        basis, _ = np.linalg.qr(raw - raw.mean(axis=0))
        return np.sqrt(n - 1) * basis @ np.linalg.cholesky(covariance).T

    return build


@pytest.fixture
def fits() -> Callable[..., np.ndarray]:
    """Least squares weights of every simulated training set, by lstsq."""

    def fit(X: np.ndarray, targets: np.ndarray) -> np.ndarray:
        return np.linalg.lstsq(X, targets.T, rcond=None)[0].T

    return fit


@pytest.fixture
def agrees() -> Callable[..., None]:
    """Assert that the mean of simulated values is the stated one, within 5 standard errors."""

    def check(values: np.ndarray, stated: float) -> None:
        values = np.asarray(values, dtype=float)
        standard_error = values.std(ddof=1) / np.sqrt(len(values))
        distance = abs(values.mean() - float(stated))
        assert distance <= STANDARD_ERRORS * standard_error, (
            f"simulated {values.mean():.6g} ± {standard_error:.2g}, stated {float(stated):.6g}"
        )

    return check
