"""The classifiers to compare with, tuned by cross-validation."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..theory._arrays import FloatArray
from ._regressors import _numbers, pls

INVERSE_PENALTIES = np.logspace(-5, 2, 15)
"""``C`` to choose from in logistic regression on standardised features."""

_COMPONENTS = 15  # length of the grid
_STEPS, _TOLERANCE = 300, 1e-3
_LEAST = float(np.finfo(np.float64).eps)  # probability


def minus_log_loss(model: Any, X: Any, y: Any) -> float:
    """Score a fitted classifier, also by samples that lack one of its classes or have another.

    The scorer of scikit-learn fails on these, and a search is then without any score.

    Parameters
    ----------
    model : fitted classifier
        One with probabilities.
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Class of each sample.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lincfa.baselines import logistic_regression, minus_log_loss
    >>> X, kind = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> model = logistic_regression(cv=3).fit(X[::2], kind[::2])
    >>> round(minus_log_loss(model, X[1::2], kind[1::2]), 2)
    -0.06
    """
    own = np.asarray(y)[:, None] == model.classes_
    probabilities = np.where(own, model.predict_proba(X), 0.0).sum(axis=1)
    return float(np.log(np.maximum(probabilities, _LEAST)).mean())


class PLSDA(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Discriminant analysis by partial least squares on the indicators of the classes.

    Predicts the class whose indicator is predicted to be largest. These are no probabilities.

    Parameters
    ----------
    n_components : int, default=2
        Number of components.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    regression_ : PLSRegression
        That of the indicators.

    Examples
    --------
    >>> from lincfa.baselines import PLSDA
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> bool(PLSDA(2).fit(scale(X), y).score(scale(X), y) > 0.95)
    True
    """

    def __init__(self, n_components: int = 2) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the components.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Standardise the features first.
        y : array of shape (n_samples,)
            Class of each sample.
        """
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("PLSDA needs samples of at least two classes, got one class.")
        indicators = np.eye(len(self.classes_))[codes]
        self.regression_ = PLSRegression(self.n_components, scale=False).fit(X, indicators)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the predicted indicators; of two classes, their difference.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        indicators = np.asarray(self.regression_.predict(X))
        return indicators if len(self.classes_) > 2 else indicators[:, 1] - indicators[:, 0]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class with the largest predicted indicator.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        scores = self.decision_function(X)
        likely = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return np.asarray(self.classes_[likely])


def logistic_regression(cv: Any) -> GridSearchCV:
    """Logistic regression with one of the ``INVERSE_PENALTIES``, chosen by the log loss.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    GridSearchCV
        Unfitted. Standardise the features first.

    Examples
    --------
    >>> from lincfa.baselines import logistic_regression
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> bool(logistic_regression(cv=5).fit(scale(X), y).best_estimator_.score(scale(X), y) > 0.95)
    True
    """
    return GridSearchCV(
        LogisticRegression(max_iter=_STEPS, tol=_TOLERANCE),
        {"C": INVERSE_PENALTIES.tolist()},
        cv=cv,
        scoring=minus_log_loss,
    )


def pca_discriminant(n: int, D: int, cv: Any) -> GridSearchCV:
    """Linear discriminant analysis on principal components, their number chosen by the accuracy.

    Not by the log loss, because a few samples of which it is too sure would decide.

    Parameters
    ----------
    n, D : int
        Numbers of samples and features of the fit: there are 15 numbers of components to choose
        from, up to half as many as samples.
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    GridSearchCV
        Unfitted. Standardise the features first.

    Examples
    --------
    >>> from lincfa.baselines import n_features, pca_discriminant
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> n_features(pca_discriminant(*X.shape, cv=5).fit(scale(X), y)) <= 13
    True
    """
    numbers = _numbers(max(1, min(D, n // 2)), _COMPONENTS).tolist()
    return GridSearchCV(
        make_pipeline(PCA(svd_solver="full"), LinearDiscriminantAnalysis()),
        {"pca__n_components": numbers},
        cv=cv,
        scoring="accuracy",
    )


def pls_discriminant(n: int, D: int, cv: Any) -> GridSearchCV:
    """PLS on the indicators of the classes, number of components chosen by the accuracy.

    Parameters
    ----------
    n, D : int
        Numbers of samples and features of the fit: there are as many components to choose from as
        for :func:`pls`.
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    GridSearchCV
        Of :class:`PLSDA`, unfitted. Standardise the features first.

    Examples
    --------
    >>> from lincfa.baselines import n_features, pls_discriminant
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_wine(return_X_y=True)
    >>> n_features(pls_discriminant(*X.shape, cv=5).fit(scale(X), y)) <= 13
    True
    """
    numbers = pls(n, D, cv).param_grid
    return GridSearchCV(PLSDA(), numbers, cv=cv, scoring="accuracy")
