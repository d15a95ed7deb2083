"""What the generators ask of their parameters."""

import numbers
from typing import Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray


def check_counts(*, n_samples: int, **counts: int) -> None:
    """Refuse sizes of which no data can be made."""
    for name, count, least in (
        ("n_samples", n_samples, 2),
        *((name, count, 1) for name, count in counts.items()),
    ):
        if not isinstance(count, numbers.Integral) or isinstance(count, bool):
            raise ValueError(f"{name} must be a whole number, got {count!r}")
        if count < least:
            raise ValueError(f"{name} must be at least {least}, got {count}")


def check_noise(**noises: float) -> None:
    """Refuse standard deviations that are negative or not finite."""
    for name, noise in noises.items():
        if not _is_number(noise) or not 0 <= noise < np.inf:
            raise ValueError(f"{name} must be finite and not negative, got {noise!r}")


def check_share(share: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not _is_number(share) or not 0 < share < 1:
        raise ValueError(f"share must be between 0 and 1, both excluded, got {share!r}")


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def check_numbers(name: str, values: Any, count: int) -> FloatArray:
    """Give values as floats, so many and all finite."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {count} numbers, got {values!r}") from None
    if found.shape != (count,):
        raise ValueError(f"{name} must be {count} numbers, got an array of shape {found.shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite, got {found[~np.isfinite(found)][0]}")
    return found


def check_tree(tree: Any, n_features: int) -> npt.NDArray[np.integer]:
    """Give the parents of the features: integers, from the second on each an earlier feature."""
    parents = np.asarray(tree)
    if parents.shape != (n_features,) or not np.issubdtype(parents.dtype, np.integer):
        raise ValueError(
            f"tree must be {n_features} integers, got an array of shape {parents.shape} and type "
            f"{parents.dtype}"
        )
    for feature in range(1, n_features):
        if not 0 <= parents[feature] < feature:
            raise ValueError(
                f"tree must give each feature an earlier one as parent, got tree[{feature}] = "
                f"{parents[feature]}"
            )
    return parents
