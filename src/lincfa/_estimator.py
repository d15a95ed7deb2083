"""The estimator: validation, wiring and fitted attributes; the arithmetic lives elsewhere."""

import numbers
import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ._criterion import Criterion
from ._grouping import STRATEGIES
from ._input import (
    check_finite,
    check_same_types,
    column_types,
    validate_new,
    validate_training,
)
from ._means import group_means
from ._names import Names, describe_columns, reduced_names
from ._statistics import ArrayStatistics, Moments, MomentStatistics, Statistics

_UNITS = ("standardized", "original")
_STREAMING = ("_moments", "_chunk_types")


class LinCFA(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replace groups of correlated features by their plain means, supervised by a target.

    Two features merge when the estimated drop of variance of the linear regression outweighs the
    estimated growth of its squared bias: when F, the statistic for equal weights in the regression
    on the two, is at most ``tolerance``. With the defaults this is Algorithm 1 of Bonetti, Metelli
    and Restelli, *Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis*.

    Parameters
    ----------
    strategy : {"sequential"}, default="sequential"
        How groups are formed. ``"sequential"``: columns in order, each candidate against the first
        feature (the seed) of the group, disjoint groups.
    tolerance : float, default=1.0
        c in F ≤ c, positive. 1 is the paper's rule; larger values merge more.
    noise : "pair" or float, default="pair"
        Variance of the noise in F: ``"pair"`` is the residual variance of each pair's own
        regression, as in the paper; a positive number is the variance itself, in the square of the
        target's unit, where it is known.
    units : {"standardized", "original"}, default="standardized"
        What is averaged: ``"standardized"`` columns, as in the paper, or the columns in their
        ``"original"`` units, for features that share one, so that a reduced feature reads as "mean
        temperature of this area". The groups are the same.

    Attributes
    ----------
    labels_ : ndarray of shape (n_features_in_,)
        Group of each feature, numbered by first member. −1 for a constant feature: it belongs to no
        group.
    groups_ : list of ndarray
        Indices of the members of each group, by first member.
    n_groups_ : int
        Number of groups, which is the number of reduced features.
    mean_, scale_ : ndarray of shape (n_features_in_,)
        Means and standard deviations (with n − 1) of the training features; the scale of a constant
        feature is 1.
    target_correlation_ : ndarray of shape (n_features_in_,)
        Correlation of each feature with the target; 0 for a constant feature.
    evidence_ : structured ndarray
        One row per merged feature: ``group``, ``feature``, the ``partner`` it was tested against,
        their ``correlation``, the ``threshold`` it had to reach, and ``f``. A threshold below −1
        means that at the estimated weights any correlation would do.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from lincfa import LinCFA
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.normal(size=(200, 2))
    >>> X = np.repeat(signal, 3, axis=1) + 0.1 * rng.normal(size=(200, 6))
    >>> y = signal @ [1.0, -1.0] + rng.normal(size=200)
    >>> model = LinCFA().fit(X, y)
    >>> model.labels_
    array([0, 0, 0, 1, 2, 1])
    >>> model.transform(X).shape
    (200, 3)
    """

    def __init__(
        self,
        *,
        strategy: Literal["sequential"] = "sequential",
        tolerance: float = 1.0,
        noise: Literal["pair"] | float = "pair",
        units: Literal["standardized", "original"] = "standardized",
    ) -> None:
        self.strategy = strategy
        self.tolerance = tolerance
        self.noise = noise
        self.units = units

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the groups.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            At least 4 samples, numeric, no missing values. An array of float64 or float32 is read
            where it is, in memory or mapped to it, and not copied.
        y : array of shape (n_samples,)
            The target, not constant.

        Returns
        -------
        LinCFA
            The estimator itself.
        """
        self._check_parameters()
        self._forget()
        X, y, names = validate_training(self, X, y)
        self._group(ArrayStatistics.from_data(X, y, names), names)
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """Learn the groups of all rows given so far, chunk by chunk.

        After the last chunk the groups are those of :meth:`fit` on all rows (features that differ
        by less than 1e-13 of their variance count as equal). The estimator keeps no rows but the
        comoments of the features: 8·D² bytes, also when it is pickled. Each call groups anew, so
        that chunks of some hundred rows or more are best. As long as there are fewer than 4 rows,
        or the target or all features are constant, it counts as not fitted.

        A chunk that is refused changes nothing. :meth:`fit` forgets the chunks, and after it
        partial_fit starts over.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows to add: numeric, no missing values, the same columns and types in every chunk.
        y : array of shape (n_samples,)
            Their target.

        Returns
        -------
        LinCFA
            The estimator itself.
        """
        self._check_parameters()
        moments: Moments | None = getattr(self, "_moments", None)
        if moments is None:
            self._forget()
        values, y, names = validate_training(self, X, y, reset=moments is None, min_samples=1)
        check_finite(values, names)
        types = column_types(X)
        if moments is None:
            Moments.check_size(self.n_features_in_)
            moments = Moments(self.n_features_in_, float(np.finfo(values.dtype).eps))
            self._chunk_types = types
        check_same_types(self._chunk_types, types, names)
        moments.update(values, y, names)
        self._moments = moments
        if moments.sufficient:
            self._group(MomentStatistics.from_moments(moments), names)
        return self

    def _group(self, statistics: Statistics, names: Names | None) -> None:
        """Partition the features and keep what the fit leaves."""
        varying = statistics.varying
        if not varying.any():
            raise ValueError(
                "Every column of X is constant, up to the rounding of its type: there is nothing "
                "to reduce."
            )
        criterion = Criterion.of(statistics, self.tolerance, self.noise)
        partition = STRATEGIES[self.strategy](statistics, criterion)

        self.labels_ = partition.labels
        self.groups_ = partition.groups
        self.n_groups_ = len(partition.groups)
        self.evidence_ = partition.evidence
        self.mean_ = statistics.mean
        self.scale_ = statistics.scale
        self.target_correlation_ = statistics.target_correlation
        # Last: where warnings are errors, the model and the chunks counted still agree.
        _warn_of_constant(varying, names)

    def transform(self, X: Any) -> Any:
        """Average each group of features.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features_in_)
            The same columns as in fit.

        Returns
        -------
        array of shape (n_samples, n_groups_)
            Or a data frame, as ``set_output`` says.
        """
        self._check_is_fitted()
        X, names = validate_new(self, X)
        standardized = self.units == "standardized"
        return group_means(
            X,
            self.labels_,
            self.n_groups_,
            mean=self.mean_ if standardized else None,
            scale=self.scale_ if standardized else None,
            names=names,
        )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the reduced features.

        A feature alone in its group keeps its name, a group is called ``mean(a, b, c)``, or
        ``mean(a, b, … 17 features)`` when it has more than three members.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the features. By default ``feature_names_in_``, or ``x0``, ``x1``, … where X
            had no names.
        """
        self._check_is_fitted()
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = known if known is not None else [f"x{i}" for i in range(self.n_features_in_)]
        else:
            names = np.asarray(input_features, dtype=object)
            if known is not None and not np.array_equal(known, names):
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(names) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(names)}"
                )
        return reduced_names(names, self.groups_)

    def _check_is_fitted(self) -> None:
        moments: Moments | None = getattr(self, "_moments", None)
        if moments is not None and not moments.sufficient:
            raise NotFittedError(
                f"This LinCFA has seen {moments.n_samples} rows, which is not enough to group: it "
                "needs at least 4 rows, and a target and some feature that vary. Go on with "
                "partial_fit."
            )
        check_is_fitted(self, "labels_")

    def _forget(self) -> None:
        """Drop what an earlier fit left, so that a fit that fails leaves no mixture of two."""
        for name in [name for name in vars(self) if name.endswith("_") or name in _STREAMING]:
            delattr(self, name)

    def _check_parameters(self) -> None:
        for name, allowed in (("strategy", STRATEGIES), ("units", _UNITS)):
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ValueError(f"{name} must be one of {list(allowed)}, got {value!r}")
        if not _is_positive(self.tolerance):
            raise ValueError(f"tolerance must be a positive number, got {self.tolerance!r}")
        known = isinstance(self.noise, str) and self.noise == "pair"
        if not known and not _is_positive(self.noise):
            raise ValueError(f"noise must be 'pair' or a positive number, got {self.noise!r}")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that a target is needed and that the type of X is kept."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _is_positive(value: Any) -> bool:
    return (
        isinstance(value, numbers.Real)
        and not isinstance(value, bool)
        and 0 < float(value) < float("inf")
    )


def _warn_of_constant(varying: npt.NDArray[np.bool_], names: Names | None) -> None:
    constant = np.flatnonzero(~varying)
    if constant.size:
        warnings.warn(
            "LinCFA leaves out constant features, which belong to no group (they vary by no more "
            f"than the rounding of their type): {describe_columns(names, constant.tolist())}.",
            UserWarning,
            stacklevel=4,
        )
