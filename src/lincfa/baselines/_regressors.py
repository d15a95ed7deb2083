"""The regressions to compare with, tuned by cross-validation, and how many features they use."""

import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.cluster import ward_tree
from sklearn.cross_decomposition import PLSRegression
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path
from sklearn.model_selection import GridSearchCV, check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

from .._model._regression import Decomposition
from .._statistics._means import group_means
from ..theory._arrays import FloatArray

RIDGES = np.logspace(-3, 8, 23)
"""Penalties to choose from in ridge regression on standardised features."""

L1_RATIOS = (0.5, 0.9)
"""Shares of the absolute values in the penalty of the elastic net to choose from."""

_FOLDS = 5
_LARGEST = 20
_CLUSTERS, _COMPONENTS = 14, 30  # lengths of the grids
_PENALTIES, _SMALLEST_SHARE = 20, 1e-3  # penalties from the one that leaves nothing down to this
# Strongly correlated features need many thousands of steps under small penalties. Stopped early, R²
# changed by at most 0.003 on spectra and fields, and one field took 4 s instead of 75.
_STEPS, _TOLERANCE = 300, 1e-2

Path: TypeAlias = Callable[[FloatArray, FloatArray, int], tuple[npt.ArrayLike, FloatArray]]


def _for_each_target(path: Path) -> Path:
    """Compute a path that takes one target for each of several."""

    @wraps(path)
    def paths(X: FloatArray, y: FloatArray, most: int) -> tuple[npt.ArrayLike, FloatArray]:
        if y.ndim == 1:
            return path(X, y, most)
        sizes, coefficients = zip(*(path(X, target, most) for target in y.T), strict=True)
        return np.stack(sizes, axis=-1), np.stack(coefficients, axis=-1)

    return paths


class PathCV(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression chosen from a path of regressions by cross-validation.

    The whole path is computed once per fold, so that each method costs one decomposition, tree or
    descent per fold. The regression with the smallest mean squared error on the held-out samples,
    averaged over the folds, is fitted again to all samples: what ``GridSearchCV`` does with
    ``scoring="neg_mean_squared_error"``, faster. Of several targets each has its own.

    Parameters
    ----------
    path : callable
        ``path(X, y, most)`` takes a centred X and y and the largest number of features that all
        folds allow. It returns, for each of always as many regressions, its number of features,
        and its coefficients as a column; for several targets, with these along one more axis.
    cv : int, splitter or iterable, default=5
        Folds, as in scikit-learn.

    Attributes
    ----------
    best_index_ : int or ndarray of shape (n_targets,)
        Which regression of the path was chosen.
    n_features_ : int
        How many features, components or clusters it has; those of several targets together.
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or ndarray of shape (n_targets,)

    Examples
    --------
    >>> from lincfa.baselines import ridge
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> model = ridge(cv=5).fit(X, y)
    >>> type(model).__name__, int(model.best_index_)
    ('PathCV', 10)
    """

    def __init__(self, path: Path, cv: Any = 5) -> None:
        self.path = path
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Choose a regression and fit it.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets)
        """
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, multi_output=True)
        y = y.astype(np.float64)
        folds = list(check_cv(self.cv).split(X, y))
        most = min(X.shape[1], *(len(train) - 1 for train, _ in folds))
        errors = []
        for train, test in folds:
            _, coefficients, intercepts = self._regressions(X[train], y[train], most)
            missed = y[test, None] - np.tensordot(X[test], coefficients, 1) - intercepts
            errors.append((missed**2).mean(axis=0))
        best = np.mean(errors, axis=0).argmin(axis=0)
        sizes, coefficients, intercepts = self._regressions(X, y, most)
        if y.ndim == 1:
            self.best_index_: Any = int(best)
            self.n_features_ = int(sizes[best])
            self.coef_ = coefficients[:, best].copy()
            self.intercept_: Any = float(intercepts[best])
            return self
        targets = np.arange(y.shape[1])
        chosen = np.broadcast_to(sizes.T, intercepts.T.shape)[targets, best]
        self.best_index_ = best
        self.coef_ = coefficients[:, best, targets].T.copy()
        self.intercept_ = intercepts[best, targets]
        # Components and clusters of one target are among those of another that has more of them,
        # but not the features that a penalty leaves.
        features = np.array_equal(chosen, np.count_nonzero(self.coef_, axis=1))
        self.n_features_ = int(self.coef_.any(axis=0).sum() if features else chosen.max())
        return self

    def _regressions(self, X: FloatArray, y: FloatArray, most: int) -> tuple[Any, ...]:
        center, target_center = X.mean(axis=0), y.mean(axis=0)
        sizes, coefficients = self.path(X - center, y - target_center, most)
        intercepts = target_center - np.tensordot(center, coefficients, 1)
        return np.asarray(sizes), coefficients, intercepts

    def predict(self, X: Any) -> FloatArray:
        """Predict the target.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Declare that there may be several targets."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def ridge(cv: Any) -> PathCV:
    """Ridge regression, with one of the penalties ``RIDGES``.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    PathCV
        Unfitted. Standardise the features first.

    Examples
    --------
    >>> from lincfa.baselines import ridge
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> bool(ridge(cv=5).fit(X, y).score(X, y) > 0.5)
    True
    """
    return PathCV(_ridges, cv)


def pca_regression(cv: Any) -> PathCV:
    """Least squares on principal components: 30 numbers of them, up to what the folds allow.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    PathCV
        Unfitted. Standardise the features first.

    Examples
    --------
    >>> from lincfa.baselines import pca_regression
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> pca_regression(cv=5).fit(X, y).n_features_
    1
    """
    return PathCV(_components, cv)


def agglomeration(cv: Any, connectivity: Any = None) -> PathCV:
    """Least squares on the means of scikit-learn's FeatureAgglomeration, with 14 numbers of them.

    From one cluster up to what the folds allow, all cut from one tree per fold: Ward's, of the
    centred features.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds, as in scikit-learn.
    connectivity : sparse matrix of shape (n_features, n_features), default=None
        Which features are neighbours; only these merge. Areas that are not connected are joined
        where they are closest.

    Returns
    -------
    PathCV
        Unfitted. Standardise the features first.

    Examples
    --------
    >>> from lincfa.baselines import agglomeration
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> agglomeration(cv=5).fit(X, y).n_features_
    1
    """
    return PathCV(partial(_clusters, connectivity=connectivity), cv)


def elastic_net(cv: Any) -> PathCV:
    """Elastic net with one of the ``L1_RATIOS`` and one of 20 penalties.

    From the penalty that leaves no feature down to a thousandth of it.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    PathCV
        Unfitted. Standardise the features first.

    Examples
    --------
    >>> from lincfa.baselines import elastic_net
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> elastic_net(cv=5).fit(X, y).n_features_ < 30
    True
    """
    return PathCV(_elastic_nets, cv)


def slope(cv: Any) -> PathCV:
    """SLOPE, sorted L1 penalties that give correlated features equal weights, with 20 penalties.

    From the penalty that leaves no feature down to a thousandth of it. The package ``sortedl1``
    must be installed.

    Parameters
    ----------
    cv : int, splitter or iterable
        Folds, as in scikit-learn.

    Returns
    -------
    PathCV
        Unfitted. Standardise the features first.

    References
    ----------
    M. Bogdan et al., *SLOPE: adaptive variable selection via convex optimization*, Annals of
    Applied Statistics 9 (2015).

    Examples
    --------
    >>> from lincfa.baselines import slope
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=100, n_features=20, random_state=0)
    >>> model = slope(cv=5).fit(X, y)
    >>> model.n_features_
    8
    """
    try:
        import sortedl1  # noqa: F401
    except ImportError as error:
        raise ImportError("SLOPE needs sortedl1: pip install sortedl1") from error
    return PathCV(_slopes, cv)


def _numbers(most: int, length: int) -> npt.NDArray[np.intp]:
    """Numbers of features from 1 to ``most``, denser among the small ones."""
    return np.unique(np.geomspace(1, most, length).round().astype(np.intp))


def _ridges(X: FloatArray, y: FloatArray, most: int) -> tuple[npt.ArrayLike, FloatArray]:
    found = Decomposition.of(X, y)
    penalties = RIDGES / max((found.singular**2).sum(), np.finfo(float).tiny)
    return np.full(RIDGES.size, X.shape[1]), found.coefficients(penalties)


def _components(X: FloatArray, y: FloatArray, most: int) -> tuple[npt.ArrayLike, FloatArray]:
    found = Decomposition.of(X, y)
    weights = (found.loadings.T / found.singular).T
    numbers = np.minimum(_numbers(most, _COMPONENTS), found.singular.size)
    columns = [found.directions[:, :number] @ weights[:number] for number in numbers]
    return numbers, np.stack(columns, axis=1)


def _clusters(
    X: FloatArray, y: FloatArray, most: int, connectivity: Any
) -> tuple[npt.ArrayLike, FloatArray]:
    D = X.shape[1]
    numbers = _numbers(most, _CLUSTERS)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the number of connected components")
        children = ward_tree(X.T, connectivity=connectivity)[0] if D > 1 else np.empty((0, 2), int)
    columns = []
    for number in numbers:
        merges = children[: D - number]  # the k-th merge makes node D + k
        nodes = D + np.arange(len(merges))
        edges = (merges.ravel(), np.repeat(nodes, 2))
        size = D + len(merges)
        forest = sparse.coo_array((np.ones(2 * len(merges)), edges), shape=(size, size))
        labels = sparse.csgraph.connected_components(forest, directed=False)[1][:D]
        means = group_means(X, labels.astype(np.intp), int(number))
        weights = Decomposition.of(means, y).coefficients([0.0])[:, 0]
        columns.append((weights.T / np.bincount(labels)).T[labels])
    return numbers, np.stack(columns, axis=1)


@_for_each_target
def _elastic_nets(X: FloatArray, y: FloatArray, most: int) -> tuple[npt.ArrayLike, FloatArray]:
    shares = np.geomspace(1, _SMALLEST_SHARE, _PENALTIES)
    unit = np.sqrt(np.mean(y**2)) or 1.0  # on which scikit-learn's stopping rule depends
    y = y / unit
    largest = np.abs(X.T @ y).max() / len(y)  # times the ratio: above it no feature is left
    X = np.asfortranarray(X)
    options = {"max_iter": _STEPS, "tol": _TOLERANCE}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # stopped early on purpose
        coefficients = np.hstack(
            [
                enet_path(X, y, l1_ratio=ratio, alphas=shares * largest / ratio, **options)[1]
                for ratio in L1_RATIOS
            ]
        )
    return np.count_nonzero(coefficients, axis=0), coefficients * unit


@_for_each_target
def _slopes(X: FloatArray, y: FloatArray, most: int) -> tuple[npt.ArrayLike, FloatArray]:
    from sortedl1 import Slope

    path = Slope(fit_intercept=False, tol=_TOLERANCE, max_iter=_STEPS).path(
        X,
        y,
        path_length=_PENALTIES,
        alpha_min_ratio=_SMALLEST_SHARE,
        # The whole path, however well a part of it fits.
        tol_dev_change=0.0,
        tol_dev_ratio=1.0,
        max_clusters=X.shape[1] + 1,
    )
    coefficients = np.asarray(path.coefs)[:, 0]
    return np.count_nonzero(coefficients, axis=0), coefficients


def pls(n: int, D: int, cv: Any) -> GridSearchCV:
    """Partial least squares on standardised features, number of components by cross-validation.

    Several targets have the same components; standardise them too.

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
    """Number of features that a fitted model uses.

    Parameters
    ----------
    model : fitted regressor or classifier
        A linear model, one of :mod:`lincfa.baselines`, a pipeline that ends with one, ``LinCFACV``,
        ``LinCFAClassifierCV``, or scikit-learn's ``DummyClassifier``, which uses none.

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
    if isinstance(last, DummyClassifier):
        return 0
    for name, value in getattr(last, "best_params_", {}).items():
        if name.endswith("n_components"):
            return int(value)
    return int(getattr(last, "n_features_", last.n_features_in_))
