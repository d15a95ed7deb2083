"""What findings start from: names, and the training data, as a model keeps none."""

from typing import Any

import numpy as np

from .._data._names import shown
from .._data._targets import Targets
from .._model._observations import Observations, fitted_reducer, open_samples
from .._model._rows import SAME_MEAN, other_means

LONGEST_TARGET = 40  # characters


def feature_names(reducer: Any) -> list[str]:
    """Return the names of the features, ``x0``, ``x1``, … where they have none."""
    return [str(name) for name in reducer._columns.labels]


def title_of_target(targets: Targets, number: int) -> str:
    """Return the name of a target and its unit, as far as they are known; of two classes none."""
    if targets.size > 1 or targets.names is not None:
        name = targets.labels[number]
    else:
        name = (targets.classes is None and targets.title) or ""
    unit = targets.attrs.get("units")
    if not (name or unit):
        return ""
    return shown(name or "target", LONGEST_TARGET) + (f" ({unit})" if unit else "")


def open_training(
    model: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
) -> Observations | None:
    """Check the training data; None if they are not given."""
    train = open_samples(model, X, y, ("X", "y"), sample_weight, groups)
    if train is not None:
        _check_same(fitted_reducer(model), train)
    return train


def _check_same(reducer: Any, train: Observations) -> None:
    """Raise if the model was fitted to other data: then test scores might be training scores."""
    weights = train.weights
    count = len(train.y) if weights is None else float(weights.sum())
    known = reducer.n_samples_
    if abs(count - known) > SAME_MEAN * known:
        raise ValueError(
            f"X has {count:g} samples, but the model was fitted to {known:g}. X and y must be the "
            "training data, with sample_weight if the fit used it."
        )
    differs = other_means(reducer, train.X, weights)
    if differs.any():
        name = feature_names(reducer)[int(np.flatnonzero(differs)[0])]
        raise ValueError(
            f"X is not the training data: the mean of column {name!r} differs. Pass the training "
            "data as X and y, and other samples as X_test and y_test."
        )
