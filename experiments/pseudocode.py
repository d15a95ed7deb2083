"""Algorithm 1 as its pseudo-code stands: a feature can enter several groups.

The text defines a partition, which :class:`lincfa.LinCFA` makes; the paper's figures come from
groups that overlap. Both forms have the same seeds, hence the same number of groups.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from lincfa import theory

from .estimates import Floats
from .simulation import correlations

Groups = list[npt.NDArray[np.intp]]


def pair_decisions(X: Floats, y: Floats) -> npt.NDArray[np.bool_]:
    """Which pairs merge by the data, F ≤ 1, of shape (D, D)."""
    both = np.column_stack([X, y])
    corr = correlations(both[None])[0]
    rho, r = corr[:-1, :-1], corr[:-1, -1]
    return np.asarray(theory.f_statistic(len(y), rho, r[:, None], r) <= 1)


def known_decisions(X: Floats, weights: Floats, variance: float) -> npt.NDArray[np.bool_]:
    """Which pairs merge by ``eq:2DasymBuondRed`` with the true weights and a noise variance."""
    rho = correlations(X[None])[0]
    threshold = theory.threshold_asymptotic(len(X), weights[:, None], weights, variance)
    return np.asarray(rho >= threshold)


def form_groups(merge: npt.NDArray[np.bool_], *, overlapping: bool) -> Groups:
    """Form groups of each seed and the later features that merge with it."""
    D = len(merge)
    taken = np.zeros(D, dtype=bool)
    groups = []
    for seed in range(D):
        if taken[seed]:
            continue
        joins = merge[seed] & (np.arange(D) > seed)
        if not overlapping:
            joins &= ~taken
        joins[seed] = True
        taken |= joins
        groups.append(np.flatnonzero(joins))
    return groups


def reduce(X: npt.NDArray[Any], groups: Groups) -> Floats:
    """Mean of the features of each group."""
    return np.column_stack([X[:, group].mean(axis=1) for group in groups])
