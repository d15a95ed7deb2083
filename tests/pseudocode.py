"""Algorithm 1 of the paper, transcribed literally: one least squares fit per pair.

The judge of the library's grouping. Slow on purpose; shares no code with the library.
"""

import numpy as np


def correlation(xi, xj):
    return np.corrcoef(xi, xj)[0, 1]


def threshold(xi, xj, y):
    """Equation 2DasymBuondRed with the estimates of Theorem asymptTeoEmp put in."""
    n = len(y)
    features = np.column_stack([xi, xj])
    weights = np.linalg.lstsq(features, y, rcond=None)[0]
    residual = y - features @ weights
    s2 = residual @ residual / (n - 3)
    difference = weights[0] - weights[1]
    if difference == 0:
        return -np.inf
    return 1 - 2 * s2 / ((n - 1) * difference**2)


def lincfa(X, y, overlapping=False, undecided=None, margin=1e-9):
    """Return the groups.

    ``overlapping=True`` is the pseudo-code as printed, whose inner loop never asks whether j is
    taken already; otherwise the groups are the partition that the text defines. A pair within
    ``margin`` of its threshold is decided by ``undecided(i, j)``, where that is given.
    """
    X = np.asarray(X, dtype=float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    y = np.asarray(y, dtype=float) - np.mean(y)
    D = X.shape[1]
    partition, considered = [], set()
    for i in range(D):
        if i not in considered:
            group = [i]
            considered.add(i)
            for j in range(i + 1, D):
                if j in considered and not overlapping:
                    continue
                c = correlation(X[:, i], X[:, j])
                b = threshold(X[:, i], X[:, j], y)
                close = undecided is not None and abs(c - b) <= margin
                if undecided(i, j) if close else c >= b:
                    group.append(j)
                    considered.add(j)
            partition.append(group)
    return partition
