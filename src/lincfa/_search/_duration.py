"""How long a choice by cross-validation takes, before it is made."""

_PER_FOLD, _PER_VALUE, _PER_PRODUCT, _PER_PAIR = 0.05, 1.5e-7, 6e-10, 3e-8
"""Seconds on one core, measured on tables of 60 to 20 000 samples and 100 to 10 000 features."""


def estimated_seconds(n_samples: int, n_features: int, n_folds: int) -> float:
    """Estimate the time of ``LinCFACV`` on a table in memory, to a factor of about two."""
    values = n_samples * n_features
    products = values * min(n_samples, n_features)  # of the regressions
    each = _PER_VALUE * values + _PER_PRODUCT * products + _PER_PAIR * n_features**2
    return n_folds * (_PER_FOLD + each)
