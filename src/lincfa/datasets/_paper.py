"""The paper's synthetic data: features correlated with each other, and a weighted sum of them."""

from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import check_random_state

from ..theory._arrays import FloatArray
from ._checks import check_counts


@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    noise: float = ...,
    coef: Literal[False] = ...,
    random_state: Any = ...,
) -> tuple[FloatArray, FloatArray]: ...
@overload
def make_correlated(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    noise: float = ...,
    coef: Literal[True],
    random_state: Any = ...,
) -> tuple[FloatArray, FloatArray, FloatArray]: ...
def make_correlated(
    n_samples: int = 500,
    n_features: int = 100,
    *,
    noise: float = 10.0,
    coef: bool = False,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray] | tuple[FloatArray, FloatArray, FloatArray]:
    """Generate the paper's D-dimensional data: a tree of correlated features.

    The first feature is uniform on [0, 1]; each further one is 0.7 times an earlier one, chosen at
    random, plus 0.3 times a new uniform variable. The features are standardised, and the target is
    their sum with weights uniform on [0, 1] plus Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=500
    n_features : int, default=100
    noise : float, default=10.0
        Standard deviation of the noise.
    coef : bool, default=False
        Whether to return the weights too.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
    weights : ndarray of shape (n_features,)
        Only where ``coef`` is True.

    Examples
    --------
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=50, n_features=10, random_state=0)
    >>> X.shape, y.shape
    ((50, 10), (50,))
    """
    check_counts(n_samples=n_samples, n_features=n_features)
    random = check_random_state(random_state)
    X = np.empty((n_samples, n_features), order="F")
    X[:, 0] = random.uniform(size=n_samples)
    for i in range(1, n_features):
        X[:, i] = 0.7 * X[:, random.randint(i)] + 0.3 * random.uniform(size=n_samples)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    weights = random.uniform(size=n_features)
    y = X @ weights + noise * random.normal(size=n_samples)
    return (X, y, weights) if coef else (X, y)
