"""Correlations of the features, in the order of the groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray

FEATURES_SHOWN = 240


@dataclass(frozen=True)
class CorrelationMatrix:
    """Correlations of features, group after group.

    Attributes
    ----------
    names : tuple of str
        Features shown, in their order.
    groups : array of shape (len(names),)
        Group of each.
    values : array of shape (len(names), len(names))
        Their correlations.
    n_features : int
        How many could be shown.
    """

    names: tuple[str, ...]
    groups: npt.NDArray[np.intp]
    values: FloatArray
    n_features: int


def correlate_by_group(
    reducer: Any, X: npt.NDArray[Any], limit: int = FEATURES_SHOWN
) -> CorrelationMatrix:
    """Correlate the features, the largest group first; of many, every few-th in that order."""
    largest_first = sorted(reducer.groups_, key=len, reverse=True)
    order = np.concatenate(largest_first)
    if order.size > limit:
        places = np.linspace(0, order.size - 1, limit).round().astype(np.intp)
        chosen = order[places]
    else:
        chosen = order
    values = np.asarray(X[:, chosen], dtype=np.float64)
    values = values - values.mean(axis=0)
    norms = np.linalg.norm(values, axis=0)
    values /= np.where(norms > 0, norms, 1.0)  # of samples other than those of the fit, perhaps
    names = reducer._names()
    return CorrelationMatrix(
        tuple(str(names[i]) for i in chosen),
        reducer.labels_[chosen],
        np.clip(values.T @ values, -1, 1),
        order.size,
    )
