"""How long a choice by cross-validation takes, roughly, before it is made."""

_PER_FOLD = 0.15
_PER_VALUE = 6e-7
_PER_PAIR = 1e-6
"""Seconds for each fold, value in it, and pair of features; ``LinCFACV`` on one core."""


def estimated_seconds(n_samples: int, n_features: int, n_folds: int) -> float:
    """Estimate the time of ``LinCFACV`` on a table in memory, to a factor of about three."""
    values, pairs = n_samples * n_features, n_features**2
    return n_folds * (_PER_FOLD + _PER_VALUE * values + _PER_PAIR * pairs)
