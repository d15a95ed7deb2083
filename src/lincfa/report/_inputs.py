"""What findings start from: a fitted model and the data given to a report, as the model keeps none.

Nothing else in this room reaches into models or opens data.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_consistent_length

from .._data._field._describe import Field
from .._data._input import check_finite, real_numbers, validate_new
from .._data._weights import validate_weights
from ..theory._arrays import FloatArray

_FEWEST = 2
_SAME_MEAN = 1e-6
"""Relative to a feature's scale: how much the mean of the same data may differ."""


@dataclass(frozen=True)
class Observations:
    """Checked features, target and sample weights."""

    X: npt.NDArray[Any]
    y: FloatArray
    weights: FloatArray | None = None

    def reduced(self, reducer: Any) -> npt.NDArray[Any]:
        """Return the reduced features."""
        return np.asarray(reducer._average(self.X))

    def standardized(self, reducer: Any) -> npt.NDArray[Any]:
        """Return a copy of all features, centred and scaled as in the fit."""
        scaled = self.X - reducer.mean_.astype(self.X.dtype)
        scaled /= reducer.scale_.astype(self.X.dtype)
        return np.asarray(scaled)


def fitted_reducer(model: Any) -> Any:
    """Return the LinCFA that averages: of a LinCFACV, the one it chose."""
    model._check_is_fitted()
    return getattr(model, "reducer_", model)


def feature_names(reducer: Any) -> list[str]:
    """Return the names of the features, ``x0``, ``x1``, … where they have none."""
    return [str(name) for name in reducer._names()]


def field_of(reducer: Any) -> Field | None:
    """Return the description of the field that a model was fitted to; None for a table."""
    return getattr(reducer, "field_", None)


def open_features(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None
) -> tuple[npt.NDArray[Any], Any, Any]:
    """Return the values of X in the order of the model's features, with y and weights to match."""
    with model._known(X, y, sample_weight) as (table, y, sample_weight):
        values, columns = validate_new(model, table)
        check_finite(values, columns)
    return values, y, sample_weight


def open_training(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Observations | None:
    """Check the training data; None if they are not given."""
    train = _open(model, X, y, ("X", "y"), sample_weight)
    if train is not None:
        _check_same(fitted_reducer(model), train)
    return train


def open_test(model: Any, X: Any, y: Any) -> Observations | None:
    """Check test samples; None if there are none."""
    return _open(model, X, y, ("X_test", "y_test"))


def _open(
    model: Any, X: Any, y: Any, names: tuple[str, str], sample_weight: Any = None
) -> Observations | None:
    if X is None and y is None:
        return None
    if X is None or y is None:
        given, missing = names if y is None else names[::-1]
        raise ValueError(f"{given} was given without {missing}; pass both or neither.")
    values, y, sample_weight = open_features(model, X, y, sample_weight)
    target = np.ravel(real_numbers(y, names[1]))
    check_consistent_length(values, target)
    if not np.isfinite(target).all():
        raise ValueError(f"Input {names[1]} contains NaN or infinity.")
    if len(target) < _FEWEST or np.ptp(target) == 0:
        raise ValueError(f"{names[1]} must have at least {_FEWEST} distinct values.")
    return Observations(values, target, validate_weights(sample_weight, len(target)))


def _check_same(reducer: Any, train: Observations) -> None:
    """Raise if the model was fitted to other data: then test scores might be training scores."""
    weights = train.weights
    count = len(train.y) if weights is None else float(weights.sum())
    known = reducer.n_samples_
    if abs(count - known) > _SAME_MEAN * known:
        raise ValueError(
            f"X has {count:g} samples, but the model was fitted to {known:g}. X and y must be the "
            "training data, with sample_weight if the fit used it."
        )
    plain = weights is None
    mean = train.X.mean(axis=0, dtype=np.float64) if plain else weights @ train.X / count
    differs = np.abs(mean - reducer.mean_) > _SAME_MEAN * (reducer.scale_ + np.abs(reducer.mean_))
    if differs.any():
        name = feature_names(reducer)[int(np.flatnonzero(differs)[0])]
        raise ValueError(
            f"X is not the training data: the mean of column {name!r} differs. Pass the training "
            "data as X and y, and other samples as X_test and y_test."
        )
