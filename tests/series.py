"""Samples in time for the tests."""

import numpy as np
from scipy.signal import lfilter


def autoregression(rng, phi, shape):
    """Series of variance 1 with the autocorrelation φ, by the first axis."""
    shocks = rng.normal(size=shape)
    shocks[1:] *= np.sqrt(1 - phi**2)
    return lfilter([1.0], [1.0, -phi], shocks, axis=0)


def persistent(phi=0.8, n=120, D=12, seed=0):
    """Features of three kinds and a target, all with the same autocorrelation."""
    rng = np.random.default_rng(seed)
    common, own, noise = (autoregression(rng, phi, (n, k)) for k in (3, D, 1))
    X = common[:, np.arange(D) % 3] + 0.5 * own
    return X, common @ [1.0, -0.5, 0.2] + noise[:, 0]
