"""The weights of the regression on the reduced features, spread back to all features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...theory._arrays import FloatArray
from ._samples import Samples

_SHOWN = 20_000


@dataclass(frozen=True)
class Coefficients:
    """Weight of each feature in the regression on the reduced ones.

    Attributes
    ----------
    names : tuple of str
        Features, in the order of the columns.
    groups : array of shape (len(names),)
        Group of each; −1 for a constant one.
    values : array of shape (len(names),)
        How far a prediction rises with one standard deviation of the feature.
    n_features : int
        How many there are, of which these are shown.
    """

    names: tuple[str, ...]
    groups: npt.NDArray[np.intp]
    values: FloatArray
    n_features: int


def spread_back(reducer: Any, coef: FloatArray) -> Coefficients:
    """Spread coefficients of the reduced features to all."""
    names = reducer._names()[:_SHOWN]
    return Coefficients(
        tuple(str(name) for name in names),
        reducer.labels_[:_SHOWN],
        effect_of_features(reducer, coef)[:_SHOWN],
        reducer.n_features_in_,
    )


def effect_of_features(reducer: Any, coef: FloatArray) -> FloatArray:
    """How far a prediction rises with one standard deviation of each feature."""
    expanded, _ = reducer.expand_coefficients(coef)
    return np.asarray(expanded * reducer.scale_)


def effect_of_groups(reducer: Any, coef: FloatArray, train: Samples | None) -> FloatArray | None:
    """How far a prediction rises with one standard deviation of each reduced feature.

    None for original units without the data of the fit, which that deviation then takes.
    """
    if reducer.units != "standardized":
        if train is None:
            return None
        values = reducer._average(train.X).astype(np.float64)
        center = np.average(values, axis=0, weights=train.weights)
        square = np.average((values - center) ** 2, axis=0, weights=train.weights)
        n = reducer.n_samples_
        return np.asarray(coef * np.sqrt(square * n / (n - 1)))
    sizes = np.array([len(group) for group in reducer.groups_])
    correlation = np.nan_to_num(reducer.cohesion_["mean_correlation"])
    variance = (1 + (sizes - 1) * correlation) / sizes
    return np.asarray(coef * np.sqrt(np.maximum(variance, 0)))
