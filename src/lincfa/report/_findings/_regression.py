"""The regressions of a report: least squares, unless the model brings an estimator of its own."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge

from ...theory._arrays import FloatArray
from ._samples import Samples

_LARGEST_PROBLEM = 3e9
"""Samples times features times the smaller of the two, up to which LAPACK's least squares take
seconds."""
_VANISHING = {8: 1e-11, 4: 1e-5}
"""Share of a feature's variance that is above the rounding of sums, by the bytes of a number."""


def fit_linear(
    estimator: Any, X: npt.NDArray[Any], y: FloatArray, weights: FloatArray | None = None
) -> Any:
    """Fit a clone of an estimator, by default least squares, which writes into X.

    Where least squares would take minutes, they have a vanishing penalty.
    """
    options = {} if weights is None else {"sample_weight": weights}
    if estimator is not None:
        return clone(estimator).fit(X, y, **options)
    if not is_substituted(*X.shape):
        return LinearRegression(copy_X=False).fit(X, y, **options)
    scale = X.std(axis=0)
    scale[scale == 0] = 1
    X /= scale
    penalty = _VANISHING[X.dtype.itemsize] * len(y)
    fitted = Ridge(penalty, solver="cholesky", copy_X=False).fit(X, y, **options)
    fitted.coef_ = fitted.coef_ / scale
    return fitted


def is_substituted(n: int, width: int) -> bool:
    """Whether least squares have a vanishing penalty."""
    return n * width * min(n, width) > _LARGEST_PROBLEM


def explain_substitution(n: int, width: int, X: npt.NDArray[Any]) -> str:
    """Say in a sentence what is special about least squares of this size; mostly nothing."""
    if is_substituted(n, width):
        return (
            " Least squares on so many features would take long; they have a vanishing penalty, "
            f"{_VANISHING[X.dtype.itemsize]:g} of a feature's variance, which is much faster and "
            "predicts alike, unless features nearly coincide."
        )
    if width >= n:
        return (
            " All features are at least as many as the samples; of the many exact fits the one "
            "with the smallest weights is taken."
        )
    return ""


def fit_reduced(model: Any, reducer: Any, train: Samples | None) -> Any:
    """Give a regression on the reduced features, fitted to the data of the fit; None without them.

    That of a search, which is the model's own, needs no data.
    """
    if hasattr(model, "estimator_"):
        return model.estimator_
    if train is None:
        return None
    return fit_linear(None, reducer._average(train.X), train.y, train.weights)


def linear_weights(fitted: Any, n_groups: int) -> FloatArray | None:
    """Coefficients of a regression on the reduced features; None where it is not linear."""
    if fitted is None or np.size(getattr(fitted, "coef_", ())) != n_groups:
        return None
    coef = np.ravel(fitted.coef_).astype(np.float64)
    # A coefficient may be on another scale than the prediction, as in a Poisson regression.
    probe = np.random.default_rng(0).normal(size=(3, coef.size))
    linear = probe @ coef + np.ravel(fitted.intercept_)
    return coef if np.allclose(np.ravel(fitted.predict(probe)), linear) else None
