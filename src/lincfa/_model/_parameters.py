"""Checks of parameters; errors name the allowed values."""

import numbers
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from .._data._checks import MIN_SAMPLES, is_integer
from .._data._names import did_you_mean
from .._grouping import PATHS, STRATEGIES

UNITS = ("standardized", "original")
MISSING = ("error", "pairwise")
KINDS = ("numbers", "classes")
RULES = ("best", "near_best", "one_standard_error")
NOISES = ("pair", "full")


def _got(value: Any, words: Iterable[str]) -> str:
    return f"got {value!r}{did_you_mean(value, words)}"


def check_choice(name: str, value: Any, allowed: Iterable[str]) -> None:
    allowed = list(allowed)
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, {_got(value, allowed)}")


def check_tolerance(value: Any, name: str = "tolerance") -> None:
    if not is_word(value, "unbiased") and not is_positive(value):
        raise ValueError(
            f"{name} must be a positive number or 'unbiased', {_got(value, ['unbiased'])}"
        )


def check_merging(
    noise: Any,
    min_correlation: Any = None,
    units: Any = UNITS[0],
    signed: Any = False,
    missing: Any = MISSING[0],
) -> None:
    check_choice("units", units, UNITS)
    check_choice("missing", missing, MISSING)
    if not isinstance(signed, bool | np.bool_):
        raise ValueError(f"signed must be True or False, got {signed!r}")
    if not is_word(noise, *NOISES) and not is_positive(noise):
        got = _got(noise, NOISES)
        raise ValueError(f"noise must be 'pair', 'full' or a positive number, {got}")
    check_min_correlation(min_correlation)


def check_min_correlation(value: Any, name: str = "min_correlation") -> None:
    if value is not None and not (is_real(value) and -1 <= float(value) <= 1):
        raise ValueError(f"{name} must be None or a number from -1 to 1, got {value!r}")


def check_effective_samples(value: Any) -> None:
    number = is_positive(value) and float(value) >= MIN_SAMPLES
    if not (value is None or is_word(value, "auto") or number):
        raise ValueError(
            f"effective_samples must be None, 'auto' or a number of at least {MIN_SAMPLES}, "
            f"{_got(value, ['auto'])}"
        )


def check_block_length(value: Any) -> None:
    if not (value is None or is_word(value, "auto") or is_count(value)):
        got = _got(value, ["auto"])
        raise ValueError(f"block_length must be None, 'auto' or a positive integer, {got}")


def check_penalty(value: Any, name: str = "penalty") -> None:
    if not is_real(value) or not 0 <= float(value) < float("inf"):
        raise ValueError(f"{name} must be a number of at least 0, got {value!r}")


def check_n_groups(strategy: str, tolerance: Any, n_groups: Any) -> None:
    if n_groups is None:
        return
    if not is_count(n_groups):
        raise ValueError(f"n_groups must be None or a positive integer, got {n_groups!r}")
    if strategy not in PATHS:
        raise ValueError(
            f"n_groups needs strategy {' or '.join(map(repr, PATHS))}; {strategy!r} merges as far "
            "as the tolerance allows."
        )
    if tolerance != 1.0:
        raise ValueError(
            f"Set either tolerance or n_groups, not both: got tolerance={tolerance!r} and "
            f"n_groups={n_groups!r}."
        )


def check_strategy(value: Any) -> None:
    check_choice("strategy", value, STRATEGIES)


def check_sample_dim(value: Any) -> None:
    if not isinstance(value, Hashable):
        raise ValueError(f"sample_dim must be None or the name of a dimension, got {value!r}")


def check_target_kind(value: Any) -> None:
    if value is not None:
        check_choice("target", value, KINDS)


def check_choosing(rule: Any, scoring: Any) -> None:
    check_choice("rule", rule, RULES)
    names = []
    if isinstance(scoring, str):
        from sklearn.metrics import get_scorer_names  # which loads much

        names = get_scorer_names()
    if not (scoring is None or scoring in names or callable(scoring)):
        got = _got(scoring, names)
        raise ValueError(
            f"scoring must be the name of a score of scikit-learn or a callable, {got}"
        )


def check_share(name: str, value: Any, what: str) -> None:
    if value is not None and not (is_positive(value) and float(value) <= 1):
        raise ValueError(
            f"{name} must be None or a share of the {what}, above 0 and at most 1, got {value!r}"
        )


def listed(name: str, values: Any) -> list[Any]:
    """Return a sequence as a list; a single word or number is an error."""
    listed = [] if isinstance(values, str) or not np.iterable(values) else list(values)
    if not listed:
        raise ValueError(f"{name} must be a list with at least one entry, got {values!r}")
    return listed


def is_word(value: Any, *words: str) -> bool:
    return isinstance(value, str) and value in words


def is_real(value: Any) -> bool:
    """Whether the value is a number; True and False are not."""
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_positive(value: Any) -> bool:
    return is_real(value) and 0 < float(value) < float("inf")


def is_count(value: Any) -> bool:
    return is_integer(value, 1)
