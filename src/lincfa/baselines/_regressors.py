"""Tuning of the regressions to compare with, and how many features they use."""

from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GridSearchCV

RIDGES = np.logspace(-3, 5, 17)
"""Penalties to choose from in ridge regression on standardised features."""

_FOLDS = 5
_LARGEST = 20


def pls(n: int, D: int, cv: Any) -> GridSearchCV:
    """Partial least squares on standardised features, number of components by cross-validation.

    Parameters
    ----------
    n, D : int
        Numbers of samples and features of the fit. There are at most 20 components, and no more
        than the training part of one of five folds allows.
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    GridSearchCV
        Unfitted.

    Examples
    --------
    >>> from lincfa.baselines import n_features, pls
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=10, random_state=0)
    >>> n_features(pls(200, 10, cv=5).fit(X, y)) <= 10
    True
    """
    smallest = n - -(-n // _FOLDS)  # training samples of a fold
    return GridSearchCV(
        PLSRegression(scale=False),
        {"n_components": list(range(1, min(_LARGEST, D, smallest - 1) + 1))},
        cv=cv,
        scoring="neg_mean_squared_error",
    )


def n_features(model: Any) -> int:
    """Number of features that a fitted regression uses.

    Parameters
    ----------
    model : fitted regressor
        A linear model, a pipeline that ends with one, ``LinCFACV`` or ``pls``.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from lincfa import LinCFA
    >>> from lincfa.baselines import n_features
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> n_features(make_pipeline(LinCFA(), LinearRegression()).fit(X, y))
    8
    """
    if hasattr(model, "n_groups_"):
        return int(model.n_groups_)
    last = model[-1] if hasattr(model, "steps") else model
    if hasattr(last, "best_params_"):
        return int(last.best_params_["n_components"])
    return int(last.n_features_in_)
