"""What the tests of the theory draw, and the one rule for comparing a simulation."""

import numpy as np


def random_covariance(rng, d, size, unit=0):
    """Covariance matrices of full rank; the first ``unit`` variances are 1."""
    factor = rng.normal(size=(size, d, d + 2)) + rng.normal(size=(size, 1, 1))
    covariance = factor @ np.swapaxes(factor, 1, 2) / (d + 2)
    sd = np.sqrt(np.einsum("kii->ki", covariance)).copy()
    sd[:, unit:] = 1.0
    covariance = covariance / (sd[:, :, None] * sd[:, None, :])
    for i in range(unit):
        covariance[:, i, i] = 1.0
    return covariance


def random_correlations(rng, size):
    """Valid triples (rho, r1, r2), some of them close to the border of the valid set."""
    rho, r1, partial = np.tanh(rng.normal(scale=1.2, size=(3, size)))
    return rho, r1, rho * r1 + partial * np.sqrt((1 - rho**2) * (1 - r1**2))


def design(rng, n, covariance):
    """Centred training features with exactly this sample covariance (n − 1)."""
    covariance = np.asarray(covariance, dtype=float)
    raw = rng.normal(size=(n, len(covariance)))
    basis, _ = np.linalg.qr(raw - raw.mean(axis=0))
    return np.sqrt(n - 1) * basis @ np.linalg.cholesky(covariance).T


def fits(X, targets):
    """Least squares weights of every simulated training set."""
    return np.linalg.lstsq(X, targets.T, rcond=None)[0].T


def agrees(values, stated):
    """Assert that the mean of simulated values is the stated one, within 5 standard errors.

    Under a normal law a correct function fails with probability 6e-7; the seeds are fixed, so a
    test that passed once passes always.
    """
    values = np.asarray(values, dtype=float)
    standard_error = values.std(ddof=1) / np.sqrt(len(values))
    assert abs(values.mean() - float(stated)) <= 5 * standard_error, (
        f"simulated {values.mean():.6g} ± {standard_error:.2g}, stated {float(stated):.6g}"
    )
