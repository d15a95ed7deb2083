"""Least squares and ridge regression in float64, for all penalties from one decomposition."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from .._data._checks import check_no_overflow
from ..theory._arrays import FloatArray
from ._parameters import check_penalty

_WELL_CONDITIONED = 1e-6
"""Smallest share of the variance in a direction up to which products of the features will do, which
take half the time of singular values: eleven digits of the weights remain, and ten of float32."""

_ROWS, _COLUMNS = 256, 4096  # that are looked at for the precision of the values


def precision_of(X: npt.NDArray[Any]) -> float:
    """Relative precision of features: that of their type, or of what they were before.

    A column of float64 that was float32 once, or was written with at most 9 digits, is no more
    precise than that, and one such column is enough.
    """
    single = float(np.finfo(np.float32).eps)
    if X.dtype == np.float32:
        return single
    some = X[:: max(1, X.shape[0] // _ROWS), :: max(1, X.shape[1] // _COLUMNS)]
    with np.errstate(over="ignore", divide="ignore"):
        ninth = 10.0 ** (8 - np.floor(np.log10(np.abs(some))))
        digits = np.where(np.isfinite(ninth) | (some == 0), some, np.nan)
        digits = digits * np.where(np.isfinite(ninth), ninth, 1.0)
        short = (some == some.astype(np.float32)) | (np.abs(digits - np.rint(digits)) < 1e-5)
    exact = (some == np.rint(some)).all(axis=0)  # counts have no rounding
    return single if (short.all(axis=0) & ~exact).any() else float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Decomposition:
    """Centred features X = U diag(s) Vᵀ, and the target, or several, in these directions."""

    center: FloatArray  # means of the features
    target_center: FloatArray
    singular: FloatArray  # s above the rounding of the data, the largest first
    directions: FloatArray  # V
    loadings: FloatArray  # Uᵀy, with an axis of targets if y has one

    @classmethod
    def of(
        cls,
        X: npt.NDArray[Any],
        y: FloatArray,
        weights: FloatArray | None = None,
        precision: float | None = None,
    ) -> "Decomposition":
        """Decompose features with a relative ``precision``, by default that of their type."""
        if precision is None:
            precision = float(np.finfo(X.dtype).eps)
        X = X.astype(np.float64, copy=False)
        center, target_center = (
            np.average(X, axis=0, weights=weights),
            np.average(y, axis=0, weights=weights),
        )
        X, y = X - center, y - target_center
        if weights is not None:
            root = np.sqrt(weights)
            X, y = X * root[:, None], (y.T * root).T
        if X.shape[0] > X.shape[1]:
            unit = np.abs(X).max() or 1.0  # squares of extreme numbers would be 0 or infinite
            squares, V = np.linalg.eigh((X / unit).T @ (X / unit))
            if squares[0] > _WELL_CONDITIONED * squares[-1]:  # no digits that matter are lost
                s, V = np.sqrt(squares)[::-1], V[:, ::-1]
                loadings = ((V.T @ ((X / unit).T @ y)).T / s).T
                return cls(center, target_center, s * unit, V, loadings)
        U, s, Vt = np.linalg.svd(X, full_matrices=False)
        # What is left below is rounding of the data: a weight there would be any number.
        rank = int((s > s.max(initial=0.0) * X.shape[1] * precision).sum())
        return cls(center, target_center, s[:rank], Vt[:rank].T, U[:, :rank].T @ y)

    def coefficients(
        self, penalties: Sequence[float], rescaled: bool | Sequence[bool] = False
    ) -> FloatArray:
        """Coefficients for each penalty, of shape (n_features, n_penalties), or (…, n_targets).

        Where they are ``rescaled``, those of a target are multiplied by what fits it best.
        """
        largest = self.singular.max(initial=0.0) or 1.0
        ratios = self.singular[:, None] / largest
        squares = ratios**2
        shrunk = ratios / (squares + np.asarray(penalties) * squares.sum())
        loadings = self.loadings[:, None] / largest
        found = np.tensordot(self.directions, (shrunk.T * loadings.T).T, 1)
        if not np.any(rescaled):
            return found
        return found * np.where(rescaled, self._fitting(ratios * shrunk).T, 1.0).T

    def _fitting(self, kept: FloatArray) -> FloatArray:
        """Return by what shrunken predictions are multiplied to fit the targets best.

        Of each direction, penalties have ``kept`` some share of what least squares predict.
        """
        most = kept.max(axis=0, initial=np.finfo(np.float64).tiny)
        shares, squares = (kept / most).T, self.loadings**2
        products, lengths = shares @ squares, shares**2 @ squares
        factors = np.divide(products, lengths, out=np.ones_like(products), where=lengths > 0)
        return np.asarray((factors.T / most).T)


class RidgeRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Ridge regression, or least squares, in float64 whatever the type of the data.

    Directions in which the features vary by no more than their rounding have no weight.
    Of several solutions this is the one with the smallest weights.

    Parameters
    ----------
    penalty : float, default=0.0
        What is added to the variance in each direction, as a share of the total variance of the
        features. 0 for least squares.
    precision : float, default=None
        Relative precision of the features. None for that of their type.
    scale : ndarray of shape (n_features,), default=None
        By what the features are multiplied before they are penalised: those that stand for many
        are shrunk less. None for 1.
    rescaled : bool, default=False
        Whether the weights are multiplied, after they were shrunk, by the factor that fits the
        target best. A penalty then evens out the weights, but does not draw predictions to the
        mean: a very large one gives the first component of PLS (Sundberg 1993, JRSS B 55).

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)
    """

    def __init__(
        self,
        penalty: float = 0.0,
        precision: float | None = None,
        scale: FloatArray | None = None,
        rescaled: bool = False,
    ) -> None:
        self.penalty = penalty
        self.precision = precision
        self.scale = scale
        self.rescaled = rescaled

    @classmethod
    def of(cls, penalty: float, coef: FloatArray, intercept: Any) -> "RidgeRegression":
        """Return a regression whose weights are known."""
        model = cls(penalty)
        model.coef_, model.intercept_, model.n_features_in_ = coef, intercept, coef.shape[-1]
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), default=None
        """
        check_penalty(self.penalty)
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], y_numeric=True, multi_output=True
        )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        precision = float(np.finfo(X.dtype).eps) if self.precision is None else self.precision
        X = X if self.scale is None else X * self.scale
        fitted = Decomposition.of(X, y.astype(np.float64), sample_weight, precision)
        coef = fitted.coefficients([float(self.penalty)], self.rescaled)[:, 0].T
        self.coef_ = coef if self.scale is None else coef * self.scale
        intercept = fitted.target_center - coef @ fitted.center
        self.intercept_ = float(intercept) if y.ndim == 1 else intercept
        return self

    def predict(self, X: Any) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return predicted(X, self.coef_, self.intercept_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def predicted(X: npt.NDArray[Any], coef: FloatArray, intercept: Any) -> FloatArray:
    """Return what weights and intercepts make of features; raise if that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.asarray(X.astype(np.float64, copy=False) @ coef.T + intercept)
    check_no_overflow(values.reshape(len(values), -1), lambda: ["prediction"] * values[0].size)
    return values


def scale_of_areas(
    labels: npt.NDArray[np.intp],
    weights: FloatArray,
    scale: FloatArray | None,
    blocks: npt.NDArray[np.intp] | None,
) -> FloatArray:
    """Return by what the means of areas are multiplied, to penalise them as their cells would be.

    A mean counts for all its cells, by their weights in it. Where the cells were divided by their
    ``scale``, each counts by its variance, relative to the mean variance of its block (a variable).
    """
    grouped = labels >= 0
    labels, weights = labels[grouped], weights[grouped]
    if scale is not None:
        own = np.zeros(labels.size, np.intp) if blocks is None else blocks[grouped]
        largest = np.zeros(own.max() + 1)
        np.maximum.at(largest, own, scale[grouped])
        variances = (scale[grouped] / largest[own]) ** 2
        means = np.bincount(own, variances) / np.maximum(np.bincount(own), 1)
        weights = weights * variances / means[own]
    return np.sqrt(np.bincount(labels, weights))


def linear_coefficients(regression: Any, n_features: int) -> tuple[FloatArray, Any] | None:
    """Return weights and intercept of a fitted regression; None if it is not linear.

    Of several targets the weights have shape (n_targets, n_features), and each its intercept.
    """
    coef = np.asarray(getattr(regression, "coef_", ()))
    if coef.ndim == 0 or coef.shape[-1] != n_features or coef.size == 0 or coef.ndim > 2:
        return None
    coef = coef.astype(np.float64)
    intercept: Any = np.asarray(getattr(regression, "intercept_", 0.0), dtype=np.float64)
    if coef.size == n_features:
        coef, intercept = coef.ravel(), float(intercept.ravel()[0])
    else:
        intercept = np.broadcast_to(intercept, len(coef)).copy()
    # Coefficients may be on another scale than the prediction, as in a Poisson regression. Those of
    # a classifier are of its decision function.
    probe = np.random.default_rng(0).normal(size=(3, n_features))
    expected = probe @ coef.T + intercept
    predicted = getattr(regression, "decision_function", regression.predict)(probe)
    same = np.size(predicted) == expected.size and predicted.dtype.kind == "f"
    same = same and np.allclose(np.reshape(predicted, expected.shape), expected)
    return (coef, intercept) if same else None
