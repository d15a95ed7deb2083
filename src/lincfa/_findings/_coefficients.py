"""The weights of the regression on the reduced features, spread back to all features."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._samples import Samples
from ._scores import fit_linear

FEATURES_SHOWN = 20_000


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


def reduced_weights(model: Any, reducer: Any, train: Samples | None) -> FloatArray | None:
    """Coefficients of the reduced features; None where there is no linear model of them.

    Those of the model's own estimator, or of a regression fitted to the data of the fit.
    """
    fitted = getattr(model, "estimator_", None)
    if fitted is None and train is not None:
        fitted = fit_linear(None, reducer._average(train.X), train.y)
    coef = getattr(fitted, "coef_", None)
    if coef is None or np.size(coef) != reducer.n_groups_:
        return None
    return np.ravel(coef).astype(np.float64)


def spread_back(reducer: Any, coef: FloatArray) -> Coefficients:
    """Spread coefficients of the reduced features to all."""
    expanded, _ = reducer.expand_coefficients(coef)
    names = reducer._names()[:FEATURES_SHOWN]
    return Coefficients(
        tuple(str(name) for name in names),
        reducer.labels_[:FEATURES_SHOWN],
        (expanded * reducer.scale_)[:FEATURES_SHOWN],
        reducer.n_features_in_,
    )


def effect_of_groups(reducer: Any, coef: FloatArray) -> FloatArray | None:
    """How far a prediction rises with one standard deviation of each reduced feature.

    None for original units, in which that deviation is not known without the data.
    """
    if reducer.units != "standardized":
        return None
    sizes = np.array([len(group) for group in reducer.groups_])
    correlation = np.nan_to_num(reducer.cohesion_["mean_correlation"])
    variance = (1 + (sizes - 1) * correlation) / sizes
    return np.asarray(coef * np.sqrt(np.maximum(variance, 0)))
