"""Prediction intervals by split conformal prediction, from errors on samples that were held out.

If a new sample is exchangeable with m held-out ones, its absolute error is equally likely to have
any rank among the m + 1. So it is at most the k-th smallest of theirs with a probability of at
least k / (m + 1), whatever the distribution and however good the model.
"""

from math import ceil, floor

import numpy as np

from ..theory._arrays import FloatArray
from ._parameters import is_positive

MOST_ERRORS = 1000
_ROUNDING = 1e-9


def keep_errors(errors: FloatArray) -> FloatArray:
    """Return the absolute errors in order, along the last axis; of many, a thousand of them.

    Of n errors those of rank ⌈k (n + 1) / 1001⌉ are kept: the k-th of them is exceeded no more
    often than the k-th of 1000 errors would be.
    """
    ordered = np.sort(np.abs(errors), axis=-1)
    n = ordered.shape[-1]
    if n <= MOST_ERRORS:
        return ordered
    ranks = -(-np.arange(1, MOST_ERRORS + 1) * (n + 1) // (MOST_ERRORS + 1))
    return np.asarray(ordered[..., ranks - 1])


def rank_of_level(n_errors: int, level: float) -> int:
    """Return which of the ordered errors is half the width of an interval, from 1."""
    if not (is_positive(level) and level < 1):
        raise ValueError(f"level must be between 0 and 1, such as 0.95, got {level!r}.")
    rank = ceil((n_errors + 1) * level - _ROUNDING)
    if rank > n_errors:
        needed = ceil(level / (1 - level) - _ROUNDING)
        raise ValueError(
            f"An interval that covers {100 * level:g} % needs the errors of at least {needed} "
            f"held-out samples, and the model has those of {n_errors}: hold out more, or ask for "
            f"at most {floor(1000 * n_errors / (n_errors + 1)) / 10:g} %."
        )
    return rank
