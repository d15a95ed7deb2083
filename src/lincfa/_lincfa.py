"""The estimator: validation, wiring and fitted attributes; the arithmetic lives elsewhere."""

import os
from collections.abc import Hashable
from typing import Any, Literal, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from ._data._input import check_finite, column_types, is_dask, validate_training, warn_of_constant
from ._data._names import Names
from ._data._weights import validate_weighted, validate_weights
from ._grouping import PATHS, MergePath, Partition, partition_in_order
from ._grouping._cohesion import add_path_cohesion, group_cohesion
from ._grouping._constraint import Constraint
from ._model._cutting import PathReducer
from ._model._document import save_model
from ._model._parameters import (
    check_merging,
    check_n_groups,
    check_sample_dim,
    check_strategy,
    check_tolerance,
)
from ._model._streaming import Stream
from ._rule._criterion import Criterion
from ._statistics import ArrayStatistics, MomentStatistics, Statistics
from ._statistics._dask._input import read_chunks
from ._statistics._dask._statistics import statistics_of


class LinCFA(PathReducer):
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
    connectivity : sparse matrix of shape (n_features, n_features), "grid" or "chain", default=None
        Which features are neighbours: entries that are not 0, symmetric. Every group is then
        connected: it grows only through neighbours of its members, whatever the strategy. Edges
        are never added, so that parts of the graph without an edge between them stay apart.
        ``"chain"`` makes neighbours of columns that stand side by side, ``"grid"`` of the cells of
        a field; :mod:`lincfa.structure` has more. None for no such rule.
    blocks : sequence of shape (n_features,), default=None
        A label for each feature, such as its quantity; those with different labels never merge.
    units : {"standardized", "original"}, default="standardized"
        What is averaged: ``"standardized"`` columns, as in the paper, or the columns in their
        ``"original"`` units, for features that share one, so that a reduced feature reads as "mean
        temperature of this area". The groups are the same.
    sample_dim : hashable, default=None
        Of a field of xarray, the dimension along which the samples are. None for that of a target
        with one named dimension, or for the only one as long as the target. Tables have none.

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
        One row per merged feature; :meth:`evidence_frame` gives it as a data frame. ``group``,
        ``feature``, the ``partner`` it was tested against, their ``correlation``, the
        ``threshold`` it had to reach, ``f`` and the ``tolerance``. Then the estimates behind F: the
        drop of variance, the growth of bias and the net gain in mean squared error, as shares of
        the target's variance (``variance_drop_share``, ``bias_growth_share``, ``gain_share``) and
        in the square of its unit (``variance_drop``, ``bias_growth``, ``gain``). A threshold below
        −1 means that any correlation would do. Where means of groups are compared, the first
        feature of a group stands for it. ``"joint"`` has no threshold (NaN), because its F depends
        on all groups; merges before its regression starts are made whatever their pairwise F, so
        that their tolerance is infinite.
    cohesion_ : structured ndarray of shape (n_groups_,)
        Of each group the ``mean_correlation`` and ``min_correlation`` of its features (NaN for a
        single one) and the ``target_correlation`` of its mean; see :meth:`summary`. With
        ``"sequential"`` and ``"centroid"``, or with a connectivity, the minimum in a group of more
        than 64 features is that of the pairs of 64 outlying ones (those least correlated with what
        they were tested against): an upper bound, and ``min_is_exact`` is false.
    merge_path_ : structured ndarray
        For ``"agglomerative"`` and ``"joint"``: all merges in their order, down to the fewest
        groups allowed, also beyond the tolerance. ``first`` and ``second`` are the first features
        of the two, ``size`` the number of features merged, ``correlation`` that of the two means,
        ``f``, and ``height``, the running maximum of F: the tolerance from which on the merge is
        made. ``pairwise`` says whether F compares the two means alone; for ``"joint"`` only before
        its regression starts, with height 0. Then the estimates behind F and the cohesion of the
        merged group.
    n_connected_components_ : int
        Number of parts of the features that are not constant between which nothing may merge: the
        fewest groups that ``connectivity`` and ``blocks`` allow. 1 without these.
    n_samples_ : float
        Number of samples; with weights, their sum.
    target_scale_ : float
        Standard deviation (with n − 1) of the target.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, where X has names that are all strings. For a field, those
        of its cells, as in ``t2m[lat=45.0, lon=7.5]``.
    field_ : Field
        After a fit to a field only: its cells, with their coordinates.

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

    _private_state = (*PathReducer._private_state, "_stream")

    def __init__(
        self,
        *,
        strategy: Literal["sequential", "centroid", "agglomerative", "joint"] = "sequential",
        tolerance: float | Literal["unbiased"] = 1.0,
        n_groups: int | None = None,
        noise: Literal["pair", "full"] | float = "pair",
        min_correlation: float | None = None,
        connectivity: Any = None,
        blocks: Any = None,
        units: Literal["standardized", "original"] = "standardized",
        sample_dim: Hashable | None = None,
    ) -> None:
        self.strategy = strategy
        self.tolerance = tolerance
        self.n_groups = n_groups
        self.noise = noise
        self.min_correlation = min_correlation
        self.connectivity = connectivity
        self.blocks = blocks
        self.units = units
        self.sample_dim = sample_dim

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the groups.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), or field
            At least 4 samples, numeric, no missing values. An array of float64 or float32 is read
            where it is, in memory or mapped to it, and not copied; a dask array or dataframe is
            read in its chunks and not gathered. Of a field, a DataArray or Dataset of xarray, the
            features are the cells: all that are not missing at every sample.
        y : array of shape (n_samples,)
            The target, not constant. A DataArray must have the samples of the field in their order.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for; they add up to the number of samples, at least 4.
            Weights that only mean ratios should add up to the number of rows. Where some are 0, the
            other rows are copied.

        Returns
        -------
        LinCFA
            The estimator itself.
        """
        self._check_parameters()
        self._forget()
        with self._opened(X, y, sample_weight) as table:
            self._fit_table(*table)
        return self

    def _fit_table(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn the groups of columns."""
        if is_dask(X):
            chunks = read_chunks(self, X, y, sample_weight)
            constraint = self._constraint()
            # For each group anew, correlations with its mean are asked for.
            often, neighbours = self.strategy == "centroid", constraint.graph is not None
            statistics = statistics_of(chunks, often=often, neighbours=neighbours)
            self._group(statistics, constraint, chunks.names)
            return
        X, y, weights, names = validate_weighted(self, X, y, sample_weight)
        constraint = self._constraint()
        self._group(ArrayStatistics.from_data(X, y, names, weights), constraint, names)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
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
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for.

        Returns
        -------
        LinCFA
            The estimator itself.
        """
        self._check_parameters()
        stream: Stream | None = getattr(self, "_stream", None)
        if stream is None:
            self._forget()
        with (self._opened if stream is None else self._known)(X, y, sample_weight) as chunk:
            self._add_chunk(stream, *chunk)
        return self

    def _add_chunk(self, stream: Stream | None, X: Any, y: Any, sample_weight: Any) -> None:
        """Add rows to a stream, or start one with them, and group anew."""
        values, y, names = validate_training(self, X, y, reset=stream is None, min_samples=1)
        constraint = self._constraint()  # refuses now what more rows would not make any better
        weights = validate_weights(sample_weight, len(y))
        check_finite(values, names)
        types = column_types(X)
        if stream is None:
            stream = Stream.of(self.n_features_in_, values.dtype, types)
        stream.add(values, y, names, types, weights)
        self._stream = stream
        if stream.moments.sufficient:
            try:
                self._group(MomentStatistics.from_moments(stream.moments), constraint, names)
            except ValueError as error:
                # The rows are counted; these may be too few yet for what the parameters ask.
                known = ("n_features_in_", "feature_names_in_", "field_")
                self._forget(keep=(*self._private_state, *known))
                stream.obstacle = str(error)

    def _group(self, statistics: Statistics, constraint: Constraint, names: Names | None) -> None:
        """Partition the features and keep what the fit leaves."""
        varying = statistics.varying
        if not varying.any():
            raise ValueError(
                "Every column of X is constant, up to the rounding of its type: there is nothing "
                "to reduce."
            )
        partition, path = self._partition(statistics, constraint)
        self.n_connected_components_ = constraint.n_components(varying)
        self.mean_, self.scale_ = statistics.mean, statistics.scale
        self.target_correlation_ = statistics.target_correlation
        self.target_scale_ = statistics.target_scale
        self.n_samples_ = float(statistics.n_samples)
        # By what the standardised features are multiplied in the mean of their group.
        factors = np.ones(varying.size) if self.units == "standardized" else self.scale_
        if path is None:
            self.__dict__.pop("merge_path_", None)  # of earlier chunks, by another strategy
            self._keep(partition, group_cohesion(statistics, partition, factors))
        else:
            add_path_cohesion(statistics, path, factors, neighbours=constraint.graph is not None)
            self.merge_path_ = path.merges
            self._keep_cut(path, partition)
        # Last: where warnings are errors, the model and the chunks counted still agree.
        warn_of_constant(varying, names)

    def _partition(
        self, statistics: Statistics, constraint: Constraint
    ) -> tuple[Partition, MergePath | None]:
        """Group by the strategy, which may leave a path of merges."""
        criterion = Criterion.of(statistics, self.tolerance, self.noise, self.min_correlation)
        if self.strategy in PATHS:
            path = PATHS[self.strategy](statistics, criterion, constraint)
            return self._cut(path, criterion.tolerance), path
        return partition_in_order(self.strategy, statistics, criterion, constraint), None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted model as a JSON file, for :func:`lincfa.load`.

        The file holds all that the model knows, exactly, except the rows of a stream: after a load,
        :meth:`partial_fit` starts over. It is written whole or not at all, so that an interruption
        leaves an older file as it was. ``docs/evidence.md`` documents what it contains.

        Parameters
        ----------
        path : str or path
            A file there is replaced.
        """
        self._check_is_fitted()
        self._check_parameters()
        if (self.strategy in PATHS) != hasattr(self, "merge_path_"):
            raise ValueError("The strategy was changed after the fit; fit again before saving.")
        if not self._constraint().allows(self.labels_):
            raise ValueError("connectivity or blocks changed after the fit; fit again to save it.")
        save_model(self, path)

    def _check_is_fitted(self) -> None:
        stream: Stream | None = getattr(self, "_stream", None)
        if stream is not None and stream.missing:
            raise NotFittedError(f"This LinCFA {stream.missing}")
        super()._check_is_fitted()

    def _check_parameters(self) -> None:
        check_strategy(self.strategy)
        check_tolerance(self.tolerance)
        check_n_groups(self.strategy, self.tolerance, self.n_groups)
        check_merging(self.noise, self.min_correlation, self.units)
        check_sample_dim(self.sample_dim)
