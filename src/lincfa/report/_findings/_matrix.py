"""Correlations of the features, in the order of the groups."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...theory._arrays import FloatArray
from ._samples import Samples

_SHOWN = 240


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


def correlate_by_group(reducer: Any, samples: Samples, limit: int = _SHOWN) -> CorrelationMatrix:
    """Correlate the features, the largest group first; of many, every few-th in that order."""
    largest_first = sorted(reducer.groups_, key=len, reverse=True)
    order = np.concatenate(largest_first)
    if order.size > limit:
        places = np.linspace(0, order.size - 1, limit).round().astype(np.intp)
        chosen = order[places]
    else:
        chosen = order
    # Divided first: squares of extreme numbers would be 0 or infinite.
    values = np.asarray(samples.X[:, chosen], dtype=np.float64) / reducer.scale_[chosen]
    weights = np.ones(len(values)) if samples.weights is None else samples.weights
    values = values - weights @ values / weights.sum()
    values *= np.sqrt(weights)[:, None]
    norms = np.linalg.norm(values, axis=0)
    values /= np.where(norms > 0, norms, 1.0)  # of samples other than those of the fit, perhaps
    names = reducer._names()
    return CorrelationMatrix(
        tuple(str(names[i]) for i in chosen),
        reducer.labels_[chosen],
        np.clip(values.T @ values, -1, 1),
        order.size,
    )
