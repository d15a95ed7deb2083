"""Logistic regression with a penalty, in float64, for all penalties from one decomposition."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..theory._arrays import FloatArray
from ._parameters import check_penalty
from ._regression import Decomposition, predicted

_SEARCHING, _FINAL = 1e-4, 1e-8
"""Slope at which to stop, where the curvature is about 1: to compare penalties, and for the weights
to keep, which :func:`_refine` then makes precise."""

_NO_SLOPE = 1e-15  # rounding
_MAX_STEPS = 1000
_LEAST_CURVATURE = 1e-12
_ABSENT = -50.0
"""Intercept of a class without samples; the largest of the others is at least 0 everywhere."""


def logistic_path(
    X: npt.NDArray[Any],
    codes: npt.NDArray[np.integer],
    n_classes: int,
    penalties: Sequence[float],
    weights: FloatArray | None = None,
    slope: float = _SEARCHING,
) -> tuple[FloatArray, FloatArray]:
    """Fit softmax regressions, one per penalty: weights and intercepts of every class.

    They minimise the mean log loss plus ½ · penalty · total variance of X · sum of all squared
    weights. Classes without samples have a probability of almost 0.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    codes : array of shape (n_samples,)
        Class of each sample, from 0.
    n_classes : int
    penalties : sequence of float
        All above 0.
    weights : array of shape (n_samples,), default=None
    slope : float, default=1e-4
        Largest slope at which to stop.

    Returns
    -------
    coef : ndarray of shape (n_penalties, n_features, n_classes)
    intercept : ndarray of shape (n_penalties, n_classes)
    """
    counts = np.ones(len(X)) if weights is None else weights
    counted = counts > 0
    X, codes, shares = X[counted], codes[counted], counts[counted] / counts.sum()
    present, which = np.unique(codes, return_inverse=True)
    indicators = np.eye(present.size)[which]
    # Rotations do not change the penalty. In the directions of the variance, one unit for each
    # weight makes all of them about as curved, so that few steps are needed.
    fitted = Decomposition.of(X, indicators[:, 0], shares)
    # Of constant features only the rounding of their means varies.
    largest_mean = np.abs(fitted.center).max(initial=0.0)
    rounding = 8 * np.finfo(np.float64).eps * np.sqrt(X.shape[1]) * largest_mean
    varies = fitted.singular > rounding
    singular, directions = fitted.singular[varies], fitted.directions[:, varies]
    largest = singular.max(initial=0.0) or 1.0
    unit = largest * (np.linalg.norm(singular / largest) or 1.0)  # root of total variance
    Z = np.column_stack([(X - fitted.center) / unit @ directions, np.ones(len(X))])
    theta = np.zeros((Z.shape[1], present.size))
    theta[-1] = np.log(shares @ indicators)
    coef = np.zeros((len(penalties), X.shape[1], n_classes))
    intercept = np.full((len(penalties), n_classes), _ABSENT)
    # From the largest penalty on, each solution is where the search for the next one starts.
    for place in np.argsort(penalties)[::-1]:
        theta = _minimize(Z, indicators, shares, float(penalties[place]), theta, slope)
        coef[place][:, present] = directions @ theta[:-1] / unit
        intercept[place, present] = theta[-1] - theta[-1].mean()
    return coef, intercept - fitted.center @ coef


def _minimize(
    Z: FloatArray,
    indicators: FloatArray,
    shares: FloatArray,
    penalty: float,
    start: FloatArray,
    slope: float,
) -> FloatArray:
    """Minimise the penalised loss; the curvature at the start gives the unit of each weight."""
    shrinkage = np.full((len(start), 1), penalty)
    shrinkage[-1] = 0.0
    units = _units(Z, shares, shrinkage, softmax(Z @ start, axis=1))

    def loss(values: FloatArray) -> tuple[float, FloatArray]:
        theta = values.reshape(start.shape) * units
        logs = log_softmax(Z @ theta, axis=1)
        shrunk = shrinkage * theta
        value = 0.5 * (shrunk * theta).sum() - shares @ (indicators * logs).sum(axis=1)
        gradient = Z.T @ (shares[:, None] * (np.exp(logs) - indicators)) + shrunk
        return float(value), (gradient * units).ravel()

    found = minimize(
        loss,
        (start / units).ravel(),
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": _MAX_STEPS, "maxcor": 20, "gtol": slope, "ftol": 0.0},
    )
    theta = np.asarray(found.x.reshape(start.shape) * units)
    return theta if slope > _FINAL else _refine(Z, indicators, shares, shrinkage, theta)


def _units(Z: FloatArray, shares: FloatArray, shrinkage: FloatArray, p: FloatArray) -> FloatArray:
    """Units of the weights in which the loss is about as curved along each."""
    curvature = (Z**2).T @ (shares[:, None] * p * (1 - p)) + shrinkage
    return np.asarray(1 / np.sqrt(np.maximum(curvature, _LEAST_CURVATURE)))


def _refine(
    Z: FloatArray,
    indicators: FloatArray,
    shares: FloatArray,
    shrinkage: FloatArray,
    theta: FloatArray,
) -> FloatArray:
    """Take two steps of Newton's method: near the minimum, where losses no longer differ."""
    for _ in range(2):
        p = softmax(Z @ theta, axis=1)
        gradient = Z.T @ (shares[:, None] * (p - indicators)) + shrinkage * theta
        gradient[-1] -= gradient[-1].mean()  # only differences of intercepts matter
        units = _units(Z, shares, shrinkage, p)
        if np.abs(gradient * units).max() < _NO_SLOPE:
            break

        def curved(values: FloatArray, p: FloatArray = p, units: FloatArray = units) -> FloatArray:
            step = values.reshape(units.shape) * units
            change = p * (Z @ step)
            change -= p * change.sum(axis=1, keepdims=True)
            return ((Z.T @ (shares[:, None] * change) + shrinkage * step) * units).ravel()

        operator = LinearOperator((theta.size, theta.size), matvec=curved)
        step, _ = cg(operator, (gradient * units).ravel(), rtol=1e-6)
        theta = theta - step.reshape(theta.shape) * units
    return theta


class PenalizedLogistic(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Logistic regression with a penalty on the weights, in float64 whatever the type of the data.

    Softmax regression: it minimises the mean log loss plus ½ · penalty · total variance of the
    features · sum of the squared weights of all classes. The intercepts are free.

    Parameters
    ----------
    penalty : float, default=0.001
        Above 0. As for :class:`RidgeRegression` it means the same whatever the number of samples
        and the scale of the features.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (n_classes, n_features), or (1, n_features) for two classes
        For two classes, the weights of the second minus those of the first.
    intercept_ : ndarray of shape (n_classes,), or (1,)
    """

    def __init__(self, penalty: float = 1e-3) -> None:
        self.penalty = penalty

    @classmethod
    def of(
        cls, penalty: float, classes: npt.NDArray[Any], coef: FloatArray, intercept: FloatArray
    ) -> "PenalizedLogistic":
        """Return a regression whose weights are known: one of :func:`logistic_path`."""
        return cls(penalty)._take(classes, coef, intercept)

    def _take(self, classes: npt.NDArray[Any], coef: FloatArray, intercept: FloatArray) -> Self:
        if len(classes) == 2:
            coef, intercept = np.diff(coef), np.diff(intercept)
        self.classes_, self.n_features_in_ = classes, len(coef)
        self.coef_, self.intercept_ = coef.T.copy(), intercept
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the weights.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class of each sample.
        sample_weight : array of shape (n_samples,), default=None
        """
        check_penalty(self.penalty)
        if self.penalty == 0:
            raise ValueError("penalty must be above 0: classes that are apart have no finite fit")
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        classes, codes = np.unique(y, return_inverse=True)
        penalties = [float(self.penalty)]
        coef, intercept = logistic_path(X, codes, len(classes), penalties, sample_weight, _FINAL)
        return self._take(classes, coef[0], intercept[0])

    def decision_function(self, X: Any) -> FloatArray:
        """Return the linear scores of the classes; of two, the log odds of the second.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        scores = predicted(X, self.coef_, self.intercept_)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of the probability of each class.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return np.asarray(log_softmax(scores, axis=1))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        likely = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likely])
