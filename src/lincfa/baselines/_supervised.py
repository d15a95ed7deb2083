"""The supervised linear reductions that the paper compares with, as scikit-learn transformers."""

import numbers
import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.feature_selection import r_regression
from sklearn.utils.validation import check_is_fitted

from .._data._checks import check_any_varies, check_in_memory, stack_level
from .._data._columns import keep_columns
from .._data._training import read_in_memory, read_new
from .._model._base import forget_fit
from .._model._parameters import check_choice, is_count, is_positive, is_real, is_word
from .._statistics import ArrayStatistics, standardize_targets
from .._statistics._tiles import row_slices
from ..theory._arrays import FloatArray
from ._kernels import KERNELS, kernel_directions, make_kernel

_EPS = float(np.finfo(np.float64).eps)
_TIED = 1e-12  # correlations that differ by less are equal up to rounding


class _Projection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that projects centred features onto fitted directions.

    A subclass checks its parameters and computes the directions.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the components.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            At least 2 samples, numeric, no missing values.
        y : array of shape (n_samples,)
            The target, not constant.

        Returns
        -------
        self
            The estimator itself.
        """
        self._check_parameters()
        forget_fit(self)
        training = read_in_memory(X, y, min_samples=2, estimator=type(self).__name__)
        self._columns = training.columns
        keep_columns(self, training.columns)
        statistics = ArrayStatistics.of(training)
        check_any_varies(statistics.varying)
        if training.targets.size > 1:
            raise ValueError(
                f"{type(self).__name__} takes one target, got {training.targets.size}."
            )
        target = standardize_targets(training.y, None, training.targets)[0]
        self._fit(training.values, target[:, 0], statistics)
        return self

    def transform(self, X: Any) -> Any:
        """Project onto the components.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features_in_)
            The same columns as in fit.

        Returns
        -------
        array of shape (n_samples, n_components_)
            Or a data frame, as chosen with ``set_output``.
        """
        check_is_fitted(self, "components_")
        check_in_memory(X)
        table = read_new(X, self._columns, self)
        table.check_finite()
        X = table.values
        result = np.empty((X.shape[0], self.n_components_), dtype=X.dtype)
        for rows in row_slices(*X.shape):
            result[rows] = (X[rows] - self.mean_) @ self.components_.T
        return result

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        """Declare that a target is required and that the type of X is kept."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class SupervisedPCA(_Projection):
    """Directions along which the features depend most on the target, measured by a kernel.

    The components are the leading eigenvectors of XᵀHLHX, where H centres and L is the kernel
    matrix of the centred target. This is one of the methods that the paper compares LinCFA with.
    Standardise features in different units first (``StandardScaler``).

    For a single target the linear kernel gives one component, proportional to Xᵀy, and the
    polynomial kernel at most as many as its degree. The kernel matrix is never formed: a smooth
    kernel is interpolated between a few values of the target, up to rounding.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; there is a warning if the kernel gives fewer. None: all.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, default="linear"
        With s and t values of the centred target: st, (γst + c)ᵏ, exp(−γ(s − t)²) or tanh(γst + c).
    gamma : float or "scale", default="scale"
        γ, positive. ``"scale"`` is 1 over the variance of the target, which makes the result
        independent of the target's unit.
    degree : int, default=3
        k of the polynomial kernel.
    coef0 : float, default=1.0
        c of the polynomial and sigmoid kernels.
    tol : float, default=1e-09
        Eigenvalues up to this share of the largest count as zero. Negative ones, which are
        possible with the sigmoid kernel, give no component.

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features_in_)
        Orthonormal directions, by descending eigenvalue; the largest loading of each is positive.
    eigenvalues_ : ndarray of shape (n_components_,)
        Eigenvalues of XᵀHLHX.
    mean_ : ndarray of shape (n_features_in_,)
        Means of the training features.
    n_components_, n_features_in_ : int
        Numbers of components, and of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if X has names that are all strings.

    References
    ----------
    E. Barshan, A. Ghodsi, Z. Azimifar and M. Zolghadri Jahromi, *Supervised principal component
    analysis: Visualization, classification and regression on subspaces and submanifolds*, Pattern
    Recognition 44 (2011).

    Examples
    --------
    >>> from lincfa.baselines import SupervisedPCA
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=10, random_state=0)
    >>> SupervisedPCA().fit_transform(X, y).shape
    (200, 1)
    >>> SupervisedPCA(2, kernel="rbf").fit(X, y).get_feature_names_out()
    array(['supervisedpca0', 'supervisedpca1'], dtype=object)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Literal["linear", "poly", "rbf", "sigmoid"] = "linear",
        gamma: float | Literal["scale"] = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        tol: float = 1e-9,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.tol = tol

    def _fit(self, X: npt.NDArray[Any], target: FloatArray, statistics: ArrayStatistics) -> None:
        # In units of the largest scale, squares cannot overflow.
        size = statistics.scale[statistics.varying].max()
        n, scale = len(target), float(statistics.target_scale[0])
        # For the standardised target. Its scale divides by n − 1, the variance by n.
        gamma = n / (n - 1) if is_word(self.gamma, "scale") else float(self.gamma) * scale * scale
        kernel = make_kernel(self.kernel, gamma, int(self.degree), float(self.coef0))
        # One value more than its degree determines a polynomial.
        known = {"linear": 2, "poly": int(self.degree) + 1}.get(self.kernel)
        values, vectors, largest = kernel_directions(
            X, statistics.mean, statistics.varying / size, target, kernel, known
        )
        # Eigenvalues are at most n times the largest value of the kernel times the features' sum
        # of squares; a tiny share of that is rounding.
        squares = ((statistics.scale / size)[statistics.varying] ** 2).sum()
        rounding = _EPS * n * n * squares * largest
        if values[0] <= rounding:
            raise ValueError(f"The {self.kernel} kernel has no positive eigenvalue on these data.")
        found = int((values > max(self.tol * values[0], rounding)).sum())
        kept = found if self.n_components is None else min(found, int(self.n_components))
        unit = size * (scale if self.kernel == "linear" else 1.0)
        with np.errstate(over="ignore"):
            self.eigenvalues_ = values[:kept] * unit * unit
        self.components_ = _with_signs(vectors[:, :kept].T)
        self.n_components_ = kept
        self.mean_ = statistics.mean
        if self.n_components is not None and kept < self.n_components:
            warnings.warn(
                f"n_components is {self.n_components}, but for these features and this target the "
                f"{self.kernel} kernel gives only {found} component{'s' if found > 1 else ''}.",
                UserWarning,
                stacklevel=stack_level(),
            )

    def _check_parameters(self) -> None:
        if self.n_components is not None and not is_count(self.n_components):
            raise ValueError(
                f"n_components must be None or a positive integer, got {self.n_components!r}"
            )
        check_choice("kernel", self.kernel, KERNELS)
        if not is_word(self.gamma, "scale") and not is_positive(self.gamma):
            raise ValueError(f"gamma must be 'scale' or a positive number, got {self.gamma!r}")
        if not is_count(self.degree):
            raise ValueError(f"degree must be a positive integer, got {self.degree!r}")
        if not is_real(self.coef0) or not np.isfinite(float(self.coef0)):
            raise ValueError(f"coef0 must be a finite number, got {self.coef0!r}")
        if not is_positive(self.tol) or float(self.tol) >= 1:
            raise ValueError(f"tol must be a number between 0 and 1, got {self.tol!r}")


class ScreenedPCA(_Projection):
    """Principal components of the features that are most correlated with the target.

    Known as supervised principal components; one of the methods that the paper compares LinCFA
    with. Standardise features in different units first (``StandardScaler``): the screening does not
    depend on the units, but the components do.

    Parameters
    ----------
    n_components : int or float, default=1
        Number of components, or the share of the variance of the kept features to explain, below 1.
        None: all.
    keep : int or float, default=0.5
        Number of features to keep, or their share, up to 1.0 (rounded, at least one feature). Among
        features with the same absolute correlation up to rounding, the first columns are kept.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Whether each feature is kept.
    scores_ : ndarray of shape (n_features_in_,)
        Correlation of each feature with the target; 0 for a constant feature.
    components_ : ndarray of shape (n_components_, n_features_in_)
        Principal directions, 0 for features not kept; the largest loading of each is positive.
    explained_variance_ratio_ : ndarray of shape (n_components_,)
        Share of each component in the variance of the kept features.
    mean_ : ndarray of shape (n_features_in_,)
        Means of the training features.
    n_components_, n_features_in_ : int
        Numbers of components, and of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if X has names that are all strings.

    References
    ----------
    E. Bair, T. Hastie, D. Paul and R. Tibshirani, *Prediction by supervised principal components*,
    Journal of the American Statistical Association 101 (2006).

    Examples
    --------
    >>> from lincfa.baselines import ScreenedPCA
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=10, random_state=0)
    >>> model = ScreenedPCA(2, keep=4).fit(X, y)
    >>> int(model.support_.sum()), model.transform(X).shape
    (4, (200, 2))
    """

    def __init__(self, n_components: int | float | None = 1, *, keep: int | float = 0.5) -> None:
        self.n_components = n_components
        self.keep = keep

    def _fit(self, X: npt.NDArray[Any], target: FloatArray, statistics: ArrayStatistics) -> None:
        varying = statistics.varying
        n, D = X.shape
        number = int(self.keep) if is_count(self.keep) else max(1, round(self.keep * D))
        if number > D:
            raise ValueError(f"keep is {number}, but X has only {D} features.")
        if is_count(self.n_components) and int(self.n_components or 0) > min(n, number):
            raise ValueError(
                f"n_components is {self.n_components}, but {n} samples of {number} kept features "
                f"have at most {min(n, number)} components."
            )
        scores = np.zeros(D)
        # Standardised first, because r_regression sums squares before it subtracts the mean.
        scores[varying] = r_regression(
            (X[:, varying] - statistics.mean[varying]) / statistics.scale[varying], target
        )
        support = _strongest(np.where(varying, np.abs(scores), -1.0), number)
        # In units of the largest scale, as above. The full solver has no randomness.
        factor = varying / statistics.scale[varying & support].max()
        kept = (X[:, support] - statistics.mean[support]) * factor[support]
        pca = PCA(self.n_components, svd_solver="full").fit(kept)
        self.components_ = np.zeros((pca.n_components_, D))
        self.components_[:, support] = _with_signs(pca.components_)
        self.explained_variance_ratio_ = pca.explained_variance_ratio_
        self.n_components_ = int(pca.n_components_)
        self.mean_ = statistics.mean
        self.scores_ = scores
        self.support_ = support

    def _check_parameters(self) -> None:
        number, keep = self.n_components, self.keep
        share = is_real(number) and 0 < float(number or 0) < 1
        if number is not None and not is_count(number) and not share:
            raise ValueError(
                "n_components must be None, a positive integer or a share between 0 and 1, "
                f"got {number!r}"
            )
        if not is_count(keep) and not (
            is_real(keep) and not isinstance(keep, numbers.Integral) and 0 < float(keep) <= 1
        ):
            raise ValueError(
                f"keep must be a positive integer or a share above 0 and up to 1.0, got {keep!r}"
            )


def _strongest(strength: FloatArray, number: int) -> npt.NDArray[np.bool_]:
    """Return which values are largest; among those equal up to rounding, the first."""
    last = np.partition(strength, -number)[-number]
    support = strength > last + _TIED
    tied = np.flatnonzero(np.abs(strength - last) <= _TIED)
    support[tied[: number - support.sum()]] = True
    return np.asarray(support)


def _with_signs(components: FloatArray) -> FloatArray:
    """Flip the sign of each row whose largest value (the first, if tied) is negative."""
    sizes = np.abs(components)
    largest = (sizes >= (1 - 1e-9) * sizes.max(axis=1, keepdims=True)).argmax(axis=1)
    signs = np.where(components[np.arange(len(components)), largest] < 0, -1.0, 1.0)
    return signs[:, None] * components
