"""What findings start from: a fitted model and the data given to a report, as the model keeps none.

Nothing else in this room reaches into models or opens data.
"""

from typing import Any

import numpy as np

from .._data._names import shown
from .._data._targets import Targets
from .._model._observations import Observations as Observations
from .._model._observations import field_of as field_of
from .._model._observations import fitted_reducer as fitted_reducer
from .._model._observations import open_features as open_features
from .._model._observations import open_samples
from .._model._observations import share_missing as share_missing
from .._model._rows import SAME_MEAN, other_means

_LONGEST_TARGET = 40


def feature_names(reducer: Any) -> list[str]:
    """Return the names of the features, ``x0``, ``x1``, … where they have none."""
    return [str(name) for name in reducer._columns.labels]


def name_of_target(reducer: Any, number: int) -> str:
    """Return the name of a target and its unit, as far as they are known; of two classes none."""
    return title_of_target(reducer._targets, number)


def title_of_target(targets: Targets, number: int) -> str:
    """Return the name of one of some targets and its unit, as far as they are known."""
    if targets.size > 1 or targets.names is not None:
        name = targets.labels[number]
    else:
        name = (targets.classes is None and targets.title) or ""
    unit = targets.attrs.get("units")
    if not (name or unit):
        return ""
    return shown(name or "target", _LONGEST_TARGET) + (f" ({unit})" if unit else "")


def open_training(
    model: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
) -> Observations | None:
    """Check the training data; None if they are not given."""
    train = open_samples(model, X, y, ("X", "y"), sample_weight, groups)
    if train is not None:
        _check_same(fitted_reducer(model), train)
    return train


def open_test(
    model: Any,
    X: Any,
    y: Any,
    names: tuple[str, str] = ("X_test", "y_test"),
    groups: Any = None,
) -> Observations | None:
    """Check test samples, which messages call by their names; None if there are none."""
    return open_samples(model, X, y, names, groups=groups)


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
