"""The estimator: validation, wiring and fitted attributes; the arithmetic lives elsewhere."""

import copy
import warnings
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ._criterion import Criterion, tolerance_value
from ._grouping import PARTITIONS, PATHS, MergePath, Partition
from ._input import (
    check_finite,
    check_same_types,
    column_types,
    stack_level,
    validate_training,
)
from ._names import Names, describe_columns
from ._parameters import check_merging, check_n_groups, check_strategy, check_tolerance
from ._reducer import GroupReducer
from ._statistics import ArrayStatistics, Moments, MomentStatistics, Statistics
from .theory._arrays import FloatArray

_STREAMING = ("_moments", "_chunk_types", "_ungrouped")


class LinCFA(GroupReducer):
    """Replace groups of correlated features by their plain means, supervised by a target.

    Two features merge when the estimated drop of variance of the linear regression outweighs the
    estimated growth of its squared bias: when F, the statistic for equal weights in the regression
    on the two, is at most ``tolerance``. With the defaults this is Algorithm 1 of Bonetti, Metelli
    and Restelli, *Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis*.

    Parameters
    ----------
    strategy : {"sequential", "centroid", "agglomerative", "joint"}, default="sequential"
        How groups are formed.

        - ``"sequential"``: columns in order, each candidate against the first feature (the seed)
          of the group. The paper's algorithm.
        - ``"centroid"``: columns in order, each candidate against the mean of the group so far,
          over and over until none can be added.
        - ``"agglomerative"``: the two groups whose means have the smallest F merge first. Does not
          depend on the order of the columns.
        - ``"joint"``: the two groups whose weights in the regression on *all* groups have the
          smallest F merge first. With more features than a quarter of the samples it starts from
          groups of the most correlated features, some tenths of the samples, chosen by generalised
          cross-validation.
    tolerance : float or "unbiased", default=1.0
        c in F ≤ c, positive; larger values merge more. 1 is the paper's rule, ``"unbiased"`` is 2,
        at which F − 1 estimates without bias whether merging pays, and
        :func:`lincfa.theory.tolerance_at_level` gives c for a level of significance.
    n_groups : int, default=None
        Number of groups, instead of a tolerance, for ``"agglomerative"`` and ``"joint"``.
    noise : "pair", "full" or float, default="pair"
        Variance of the noise in F: ``"pair"`` is the residual variance of each pair's own
        regression, as in the paper (for ``"joint"``, that of the regression on all groups);
        ``"full"`` that of one regression on all features, which takes at least two samples more
        than features; a positive number is the variance itself, in the square of the target's unit,
        where it is known.
    min_correlation : float, default=None
        Never merge two features, or means of groups, whose correlation is lower, whatever the rule
        says. None leaves it to the rule.
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
        means that at the estimated weights any correlation would do. Where means of groups are
        compared, the first feature of a group stands for it. ``"joint"`` has no threshold (NaN):
        its F depends on all groups; merges before its regression starts have their pairwise F,
        which may exceed the tolerance.
    merge_path_ : structured ndarray
        For ``"agglomerative"`` and ``"joint"``: all merges in their order, down to one group, also
        those beyond the tolerance. ``first`` and ``second`` are the first features of the two
        groups, ``size`` the number of features merged, ``correlation`` that of the two means,
        ``f``, and ``height``, the running maximum of F: the tolerance from which on the merge is
        made. Merges before the regression of ``"joint"`` can start have their pairwise F and
        height 0.
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

    _private_state = _STREAMING

    def __init__(
        self,
        *,
        strategy: Literal["sequential", "centroid", "agglomerative", "joint"] = "sequential",
        tolerance: float | Literal["unbiased"] = 1.0,
        n_groups: int | None = None,
        noise: Literal["pair", "full"] | float = "pair",
        min_correlation: float | None = None,
        units: Literal["standardized", "original"] = "standardized",
    ) -> None:
        self.strategy = strategy
        self.tolerance = tolerance
        self.n_groups = n_groups
        self.noise = noise
        self.min_correlation = min_correlation
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
        or the target or all features are constant, it counts as not fitted; likewise as long as the
        rows do not suffice for what the parameters ask (``noise="full"``, ``n_groups``).

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
        self._ungrouped = ""
        if moments.sufficient:
            try:
                self._group(MomentStatistics.from_moments(moments), names)
            except ValueError as error:
                # The rows are counted; these may be too few yet for what the parameters ask.
                self._forget(keep=(*_STREAMING, "n_features_in_", "feature_names_in_"))
                self._ungrouped = str(error)
        return self

    def _group(self, statistics: Statistics, names: Names | None) -> None:
        """Partition the features and keep what the fit leaves."""
        varying = statistics.varying
        if not varying.any():
            raise ValueError(
                "Every column of X is constant, up to the rounding of its type: there is nothing "
                "to reduce."
            )
        criterion = Criterion.of(statistics, self.tolerance, self.noise, self.min_correlation)
        if self.strategy in PATHS:
            path = PATHS[self.strategy](statistics, criterion)
            self._keep(self._cut(path, criterion.tolerance))
            self.merge_path_ = path.merges
        else:
            if hasattr(self, "merge_path_"):  # of earlier chunks, by another strategy
                del self.merge_path_
            self._keep(PARTITIONS[self.strategy](statistics, criterion))
        self.mean_ = statistics.mean
        self.scale_ = statistics.scale
        self.target_correlation_ = statistics.target_correlation
        # Last: where warnings are errors, the model and the chunks counted still agree.
        _warn_of_constant(varying, names)

    def _keep(self, partition: Partition) -> None:
        self.labels_ = partition.labels
        self.groups_ = partition.groups
        self.n_groups_ = len(partition.groups)
        self.evidence_ = partition.evidence

    def _cut(self, path: MergePath, tolerance: float) -> Partition:
        """Cut the path at the tolerance, or where it has the number of groups asked for."""
        if self.n_groups is None:
            return path.partition(path.n_groups(tolerance), tolerance)
        if not path.fewest_groups <= self.n_groups <= path.most_groups:
            limit = ", the fewest that min_correlation allows," if path.fewest_groups > 1 else ""
            raise ValueError(
                f"n_groups={self.n_groups} is not between {path.fewest_groups}{limit} and "
                f"{path.most_groups}, the number of features that are not constant."
            )
        return path.partition(self.n_groups)

    def cut(
        self,
        *,
        tolerance: float | Literal["unbiased"] | None = None,
        n_groups: int | None = None,
    ) -> "LinCFA":
        """Merge less or more without a new fit.

        For ``"agglomerative"`` and ``"joint"``, whose path has every number of groups.

        Parameters
        ----------
        tolerance : float or "unbiased", optional
            c in F ≤ c.
        n_groups : int, optional
            Number of groups, instead of a tolerance.

        Returns
        -------
        LinCFA
            A new estimator, fitted: what a fit with this ``tolerance`` or ``n_groups`` gives.
        """
        path = self._path()
        if tolerance is None and n_groups is None:
            raise ValueError("Give a tolerance or n_groups.")
        if tolerance is not None and n_groups is not None:
            raise ValueError("Give a tolerance or n_groups, not both.")
        model = copy.copy(self)
        for name in _STREAMING:
            if hasattr(model, name):
                delattr(model, name)
        model.tolerance = 1.0 if tolerance is None else tolerance
        model.n_groups = n_groups
        model._check_parameters()
        model._keep(model._cut(path, tolerance_value(model.tolerance)))
        return model

    def to_linkage(self) -> FloatArray:
        """Give the path as a linkage matrix of SciPy, for its dendrogram.

        For ``"agglomerative"`` and ``"joint"``. The leaves are the features that are not constant,
        in their order; the heights are those of ``merge_path_``.
        """
        return self._path().linkage()

    def _path(self) -> MergePath:
        self._check_is_fitted()
        if not hasattr(self, "merge_path_"):
            raise ValueError(
                f"strategy={self.strategy!r} leaves no path of merges; fit with strategy="
                f"{' or '.join(map(repr, PATHS))}."
            )
        return MergePath(self.labels_ >= 0, self.merge_path_, self.strategy == "agglomerative")

    def _check_is_fitted(self) -> None:
        moments: Moments | None = getattr(self, "_moments", None)
        if moments is not None and not moments.sufficient:
            raise NotFittedError(
                f"This LinCFA has seen {moments.n_samples} rows, which is not enough to group: it "
                "needs at least 4 rows, and a target and some feature that vary. Go on with "
                "partial_fit."
            )
        if getattr(self, "_ungrouped", ""):
            raise NotFittedError(
                f"This LinCFA could not group the rows seen so far: {self._ungrouped}"
            )
        check_is_fitted(self, "labels_")

    def _check_parameters(self) -> None:
        check_strategy(self.strategy)
        check_tolerance(self.tolerance)
        check_n_groups(self.strategy, self.tolerance, self.n_groups)
        check_merging(self.noise, self.min_correlation, self.units)


def _warn_of_constant(varying: npt.NDArray[np.bool_], names: Names | None) -> None:
    constant = np.flatnonzero(~varying)
    if constant.size:
        warnings.warn(
            "LinCFA leaves out constant features, which belong to no group (they vary by no more "
            f"than the rounding of their type): {describe_columns(names, constant.tolist())}.",
            UserWarning,
            stacklevel=stack_level(),
        )
