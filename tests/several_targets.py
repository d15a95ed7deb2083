"""Several targets and class labels for the data of signs, gaps and weights."""

import numpy as np

from signs_gaps_weights import make, with_gaps

UNITS = np.array([1.0, 20.0, 0.3])
LABELS = np.array(["low", "middle", "top"])[[1, 2, 0]]  # by size, but not in sorted order


def several(family, n=40, D=10, *, gaps=False, seed=0):
    """Data, three targets in units of their own, and weights of the features.

    The first target is that of the family, the second has effects of all features, and the third
    has nothing to do with any.
    """
    X, y, weights = make(family, n, D, seed=seed)
    rng = np.random.default_rng([1, n, D, seed])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    second = Z @ rng.normal(size=Z.shape[1]) + 2 * rng.normal(size=len(y))
    Y = np.column_stack([y, second, rng.normal(size=len(y))]) * UNITS + [0.0, -5.0, 30.0]
    return with_gaps(rng, X) if gaps else X, Y, weights


def classes_of(y, n_classes=3):
    """Labels of a target cut into classes of the same size."""
    ranks = np.argsort(np.argsort(y))
    return LABELS[:n_classes][ranks * n_classes // len(y)]


def shares_of(Y, total):
    """The same variance of noise for each target that adds up to so many of their variances."""
    return total / np.sum(1 / np.atleast_2d(Y.T).var(axis=1, ddof=1))
