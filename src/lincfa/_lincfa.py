"""LinCFA: merge features where the drop of variance outweighs the growth of bias."""

import copy
import os
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import NotFittedError

from ._data._checks import (
    check_any_varies,
    check_same_types,
    column_types,
    warn_of_constant,
    warn_of_many,
)
from ._data._columns import check_columns
from ._data._connectivity import read_structure
from ._data._feature_weights import read_feature_weights
from ._data._targets import Targets
from ._data._training import Training, read_in_memory, read_training
from ._grouping import PATHS, MergePath, Partition, partition_in_order
from ._grouping._cohesion import add_path_cohesion, cut_cohesion, group_cohesion
from ._grouping._constraint import Constraint
from ._model._base import GroupModel, forget_fit
from ._model._document import output_of, save_model
from ._model._parameters import (
    check_effective_samples,
    check_merging,
    check_n_groups,
    check_sample_dim,
    check_strategy,
    check_target_kind,
    check_tolerance,
)
from ._model._rows import kept_fingerprints
from ._rule import Rule, tolerance_value, with_gains
from ._statistics import GapMoments, Moments, Statistics, statistics_of
from ._statistics._series import count_effective
from .theory._arrays import FloatArray

if TYPE_CHECKING:  # a fit in memory loads nothing of dask
    from ._data._dask import ChunkedTraining


@dataclass
class _Stream:
    """What an estimator keeps between calls of ``partial_fit``: moments of all rows so far."""

    moments: Moments | GapMoments
    targets: Targets
    types: list[str] | None  # of the columns of the first chunk
    obstacle: str = ""  # why these rows are not enough for the parameters

    @classmethod
    def of(cls, chunk: Training, types: list[str] | None) -> "_Stream":
        """Start a stream; raise if the matrix of moments would be too large."""
        Moments.check_size(chunk.columns.size)
        return cls(Moments(chunk.precision, chunk.targets.size), chunk.targets, types)

    def add(self, chunk: Training, types: list[str] | None) -> None:
        """Add the rows of a chunk; if it raises, nothing changes."""
        check_same_types(self.types, types, chunk.columns.names)
        moments = self.moments
        if isinstance(moments, Moments) and chunk.gaps and np.isnan(chunk.values).any():
            GapMoments.check_size(chunk.columns.size, chunk.targets.size)
            moments = GapMoments.of(moments)
        moments.update(chunk)
        self.moments, self.obstacle = moments, ""

    @property
    def _varying(self) -> str:
        if self.targets.classes is not None and self.targets.size > 1:
            return "with samples of every class and a feature that varies."
        target = "a target" if self.targets.size == 1 else "targets"
        return f"with {target} and a feature that vary."

    @property
    def missing(self) -> str:
        """What is missing for a fit; empty if nothing is."""
        if not self.moments.sufficient:
            return (
                f"has seen {self.moments.n_samples:g} rows, which is not enough: it needs at least "
                f"4 rows, {self._varying} Continue with partial_fit."
            )
        return f"cannot be fitted to the rows seen so far: {self.obstacle}" if self.obstacle else ""


class LinCFA(GroupModel):
    """Replace groups of correlated features by their means, supervised by a target.

    Two features merge when the estimated drop of variance of the linear regression outweighs the
    estimated growth of its squared bias: when F, the statistic for equal weights in the regression
    on the two, is at most ``tolerance``. With the defaults this is Algorithm 1 of Bonetti, Metelli
    and Restelli, *Interpretable Linear Dimensionality Reduction based on Bias-Variance Analysis*.

    Several targets have one partition: drop and growth are then summed over the targets, each
    standardised. Classes count as targets, one for each class: 1 for its samples and 0 for others.

    Parameters
    ----------
    strategy : {"sequential", "centroid", "agglomerative", "joint"}, default="sequential"
        How groups are formed.

        - ``"sequential"``: columns in order, each candidate compared with the first feature of the
          group (the seed). The paper's algorithm.
        - ``"centroid"``: columns in order, each candidate compared with the mean of the group so
          far, repeatedly until none can be added.
        - ``"agglomerative"``: the two groups whose means have the smallest F merge first. Does not
          depend on the order of the columns.
        - ``"joint"``: the two groups whose weights in the regression on *all* groups have the
          smallest F merge first. If there are more features than a quarter of the samples, it
          starts from groups of the most correlated features; generalised cross-validation chooses
          how many.
    tolerance : float or "unbiased", default=1.0
        c in F ≤ c, positive; larger values merge more. 1 is the paper's rule; ``"unbiased"`` is 2,
        because F − 1 is an unbiased estimate of what decides whether merging pays;
        :func:`lincfa.theory.tolerance_at_level` returns c for a significance level.
    n_groups : int, default=None
        Number of groups, instead of a tolerance, for ``"agglomerative"`` and ``"joint"``.
    noise : "pair", "full" or float, default="pair"
        Variance of the noise in F: ``"pair"`` is the residual variance of each pair's own
        regression, as in the paper (for ``"joint"``, that of the regression on all groups);
        ``"full"`` that of one regression on all features, which needs at least two more samples
        than features; a positive number is the variance itself, if it is known, in the square of
        the target's unit (of several targets, for each in the square of its own).
    min_correlation : float, default=None
        Smallest correlation at which two features, or means of groups, may merge. None for no
        limit.
    effective_samples : float or "auto", default=None
        How many independent samples the samples are worth, where they follow each other in time:
        F counts with this number in place of n, so that persistent series merge more. At least 4,
        at most n. ``"auto"`` takes :func:`lincfa.theory.effective_samples` of the lag-one
        autocorrelations of the features (their median) and of the target (of several, their mean),
        in the order of the dates where the samples have dates, one sample per date, else in the
        order of the rows. It needs data in memory. With sample weights it is relative to their sum,
        as n is. With missing values, autocorrelations are those of consecutive values that are both
        present, and of the samples that two features share the same fraction counts, at least 4.
        None for independent samples.
    connectivity : sparse matrix of shape (n_features, n_features), "grid" or "chain", default=None
        Which features are neighbours: the nonzero entries of a symmetric matrix. Every group is
        then connected: it grows only through neighbours of its members, whatever the strategy.
        Parts of the graph without an edge between them stay apart. ``"chain"`` connects adjacent
        columns, ``"grid"`` adjacent cells of a field; :mod:`lincfa.structure` makes other graphs.
        None for no restriction.
    blocks : sequence of shape (n_features,), default=None
        A label for each feature, such as its quantity; features with different labels never merge.
    signed : bool, default=False
        Whether a feature may enter the mean of its group with its sign flipped, so that features
        that measure the same thing with opposite signs can merge. Every comparison takes the sign
        with the smaller F, of those that ``min_correlation`` allows. A group has the sign of its
        first feature.
    missing : {"error", "pairwise"}, default="error"
        What to do with missing values (NaN). ``"error"`` refuses them. With ``"pairwise"`` two
        features are compared on the samples where both are present, at least 4 of them, and
        :meth:`transform` averages the members that are present. The target must be complete.
    feature_weights : array of shape (n_features,) or "area", default=None
        Weight of each feature in the mean of its group, positive; F then compares two features with
        their weighted mean. ``"area"`` weights the cells of a field with latitudes by their area,
        the cosine of the latitude. None for plain means.
    units : {"standardized", "original"}, default="standardized"
        What is averaged: ``"standardized"`` columns, as in the paper, or columns in their
        ``"original"`` units, for features that share a unit, so that a reduced feature is "the mean
        temperature of this area". The groups are the same.
    sample_dim : hashable, default=None
        For an xarray field, the dimension of the samples. None for that of a target with a named
        dimension, or else the only dimension as long as the target. Not used for tables.
    target : {"numbers", "classes"}, default=None
        What y holds: numbers to predict, or labels of classes. None for classes if it holds text,
        categories or booleans, and numbers if it holds numbers; integers that are labels need
        ``"classes"``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_features_in_,)
        Group of each feature, numbered in the order of their first members. −1 for a constant
        feature, which belongs to no group.
    groups_ : list of ndarray
        Indices of the members of each group, in the order of the labels.
    n_groups_ : int
        Number of groups, and so of reduced features.
    signs_ : ndarray of shape (n_features_in_,)
        1 or −1: the sign with which each feature enters the mean of its group, relative to the
        group's first. All 1 unless ``signed``.
    feature_weights_ : ndarray of shape (n_features_in_,)
        Weight of each feature in the mean of its group; all 1 for plain means.
    mean_, scale_ : ndarray of shape (n_features_in_,)
        Means and standard deviations (with n − 1) of the training features; the scale of a constant
        feature is 1.
    target_correlation_ : ndarray of shape (n_features_in_,) or (n_targets, n_features_in_)
        Correlation of each feature with the target, or with each of several; 0 for a constant
        feature.
    evidence_ : structured ndarray
        One row per merged feature; :meth:`evidence_frame` returns it as a data frame. ``group``,
        ``feature``, the ``partner`` it was compared with, the ``sign`` with which it was (all that
        follows is of the feature with this sign), their ``correlation``, the ``threshold`` it had
        to reach, ``f`` and the ``tolerance``. Then the estimates behind F: the drop of
        variance, the growth of bias and the net gain in mean squared error, as shares of the
        target's variance (``variance_drop_share``, ``bias_growth_share``, ``gain_share``) and in
        the square of its unit (``variance_drop``, ``bias_growth``, ``gain``). A threshold below −1
        means that any correlation would do. Where means of groups are compared, each group is
        represented by its first feature. There is no threshold (NaN) where opposite features with
        unequal weights merge, and with ``"joint"``, because its F depends
        on all groups; merges before its regression starts are made whatever their pairwise F, so
        that their tolerance is infinite. Of several targets the six estimates have one number for
        each, shape (n_targets,): F is the ratio of the means of their shares.
    cohesion_ : structured ndarray of shape (n_groups_,)
        For each group the ``mean_correlation`` and ``min_correlation`` of its features with their
        signs (NaN for a single one) and the ``target_correlation`` of its mean, with each of
        several targets; see :meth:`summary`. With ``"sequential"`` and ``"centroid"``, or with a
        connectivity, the minimum in a group of more than 64 features is over the 64 features least
        correlated with their partners: an upper bound, and ``min_is_exact`` is false.
    merge_path_ : structured ndarray
        For ``"agglomerative"`` and ``"joint"``: all merges in order, down to the fewest groups
        allowed, also beyond the tolerance. ``first`` and ``second`` are the first features of the
        two groups, ``sign`` that of the second relative to the first, ``size`` the number of
        features merged, ``correlation`` that of the two means, ``f``, and ``height``, the running
        maximum of F: the smallest tolerance at which the merge is made. ``pairwise`` is true if F
        compares the two means alone; for ``"joint"`` only before its regression starts, with height
        0. Then the estimates behind F and the cohesion of the merged group.
    n_connected_components_ : int
        Fewest groups that ``connectivity`` and ``blocks`` allow: the number of parts that can never
        merge, not counting constant features. 1 without these.
    n_samples_ : float
        Number of samples; with weights, their sum.
    effective_samples_ : float
        Number of samples that F counts with: ``n_samples_``, unless ``effective_samples`` is given.
    training_dates_ : ndarray of shape (n_samples,)
        Dates of the training samples, where they have any; not saved.
    target_scale_ : float or ndarray of shape (n_targets,)
        Standard deviation (with n − 1) of the target, or of each of several.
    target_names_ : list of str
        Names of the targets, ``y0``, ``y1``, … where they have none. Of classes their labels; two
        classes are one target, that of the second.
    classes_ : ndarray of shape (n_classes,)
        The classes, in order; only after a fit to labels.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of features seen in fit, if all are strings. For a field, those of its cells, such as
        ``t2m[lat=45.0, lon=7.5]``.
    field_ : Field
        The cells of the field and their coordinates; only after a fit to a field.

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
        strategy: Literal["sequential", "centroid", "agglomerative", "joint"] = "sequential",
        tolerance: float | Literal["unbiased"] = 1.0,
        n_groups: int | None = None,
        noise: Literal["pair", "full"] | float = "pair",
        min_correlation: float | None = None,
        effective_samples: float | Literal["auto"] | None = None,
        connectivity: Any = None,
        blocks: Any = None,
        signed: bool = False,
        missing: Literal["error", "pairwise"] = "error",
        feature_weights: Any = None,
        units: Literal["standardized", "original"] = "standardized",
        sample_dim: Hashable | None = None,
        target: Literal["numbers", "classes"] | None = None,
    ) -> None:
        self.strategy = strategy
        self.tolerance = tolerance
        self.n_groups = n_groups
        self.noise = noise
        self.min_correlation = min_correlation
        self.effective_samples = effective_samples
        self.connectivity = connectivity
        self.blocks = blocks
        self.signed = signed
        self.missing = missing
        self.feature_weights = feature_weights
        self.units = units
        self.sample_dim = sample_dim
        self.target = target

    @property
    def predict(self) -> NoReturn:
        """Nothing: groups alone do not predict."""
        raise AttributeError(
            "LinCFA reduces features and does not predict; LinCFACV and LinCFAClassifierCV do."
        )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the groups.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), or field
            At least 4 samples, numeric; no missing values, unless ``missing="pairwise"``. An array
            of float64 or float32, in memory or memory-mapped, is not copied; a dask array or
            dataframe is read in chunks and not loaded into memory. The features of a field, an
            xarray DataArray or Dataset, are its cells, without those that are missing at every
            sample.
        y : array of shape (n_samples,) or (n_samples, n_targets), data frame or Dataset
            The target, or several, one a column; or labels of classes. None is constant. Those of
            xarray must have the same samples as the field, in the same order.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for; they add up to the number of samples, at least 4.
            If only their ratios matter, let them add up to the number of rows. If some are 0, the
            other rows are copied.

        Returns
        -------
        LinCFA
            The estimator itself.

        Warns
        -----
        UserWarning
            If there are more than half as many groups as samples, so that a regression on them
            would fit the noise; :class:`LinCFACV` is made for this.
        """
        self._check_parameters()
        forget_fit(self)
        self._fit(
            read_training(
                X,
                y,
                sample_weight,
                sample_dim=self.sample_dim,
                kind=self.target,
                missing=self.missing,
            )
        )
        warn_of_many(self.n_groups_, self.n_samples_)
        return self

    def _fit(self, training: "Training | ChunkedTraining") -> Self:
        if isinstance(training, Training):
            training = training.counted()
        self._keep_columns(training.columns)
        if training.dates is not None:
            self.training_dates_ = training.dates.values
        constraint, weights = self._constraint(), self._weights()
        statistics = statistics_of(
            training,
            # For each group anew, correlations with its mean are needed.
            often=self.strategy == "centroid",
            neighbours=constraint.graph is not None,
            all_pairs=self.strategy in PATHS,
        )
        self._group(statistics, training.targets, constraint, weights, training)
        if isinstance(training, Training):
            rows = kept_fingerprints(training.values, training.y, self.labels_)
            if rows is not None:
                self._rows = rows
        return self

    def _constraint(self) -> Constraint:
        return Constraint(*read_structure(self.connectivity, self.blocks, self._columns))

    def _weights(self) -> FloatArray:
        return read_feature_weights(self.feature_weights, self._columns)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn the groups of all rows seen so far, chunk by chunk.

        After the last chunk the groups are those of :meth:`fit` on all rows (features that differ
        by less than 1e-13 of their variance count as equal). The estimator keeps no rows, only the
        comoments of the features: 8·D² bytes, also when it is pickled, and from the first missing
        value on seven times as many, plus three times as many for each further target. Each call
        groups again, so chunks of a few hundred rows or more are best. It counts as not fitted
        while there are fewer than 4 rows, while a target or all features are constant, or while
        there are too few rows for the parameters (``noise="full"``, ``n_groups``). There is no
        warning of many groups, as more rows may follow.

        A chunk that raises an error changes nothing. :meth:`fit` discards the chunks, and after it
        partial_fit starts over.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features)
            Rows to add: numeric, with the same columns and types in every chunk; no missing values,
            unless ``missing="pairwise"``. A column without values so far counts as constant.
        y : array of shape (n_samples,) or (n_samples, n_targets), or data frame
            Their target, or targets.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for.
        classes : array of shape (n_classes,), default=None
            For a target of labels, all classes; needed in the first call only, if its rows lack
            some of them.

        Returns
        -------
        LinCFA
            The estimator itself.
        """
        self._check_parameters()
        if self.effective_samples == "auto":
            raise ValueError(
                "partial_fit keeps no samples from which effective_samples='auto' could be "
                "estimated: pass a number."
            )
        stream: _Stream | None = getattr(self, "_stream", None)
        if stream is None:
            forget_fit(self)
        chunk = read_in_memory(
            X,
            y,
            sample_weight,
            sample_dim=self.sample_dim,
            known=None if stream is None else self._columns,
            known_targets=None if stream is None else stream.targets,
            classes=classes,
            kind=self.target,
            min_samples=1,
            missing=self.missing,
        )
        if stream is None:
            self._keep_columns(chunk.columns)
        elif chunk.columns is not self._columns:
            check_columns(self, self._columns, chunk.columns)
        constraint, weights = self._constraint(), self._weights()  # what rows would not mend
        chunk = chunk.with_weight()
        chunk.check_finite(new=stream is not None)
        types = column_types(X)
        if stream is None:
            stream = _Stream.of(chunk, types)
        stream.add(chunk, types)
        self._stream = stream
        if stream.moments.sufficient:
            try:
                self._group(stream.moments.statistics, stream.targets, constraint, weights)
            except ValueError as error:
                # The rows are counted; there may be too few yet for what the parameters ask.
                kept = ("_stream", "_columns", "n_features_in_", "feature_names_in_")
                forget_fit(self, kept)
                stream.obstacle = str(error)
        return self

    def _group(
        self,
        statistics: Statistics,
        targets: Targets,
        constraint: Constraint,
        weights: FloatArray,
        training: "Training | ChunkedTraining | None" = None,
    ) -> None:
        """Partition the features and set the fitted attributes."""
        varying = statistics.varying
        check_any_varies(varying)
        effective = count_effective(self.effective_samples, statistics, training)
        share = effective / statistics.n_samples
        partition, path = self._partition(statistics, constraint, weights, share)
        self.feature_weights_ = weights
        self.n_connected_components_ = constraint.n_components(varying)
        self.mean_, self.scale_ = statistics.mean, statistics.scale
        one = statistics.n_targets == 1
        r, scale = statistics.target_correlation, statistics.target_scale
        self.target_correlation_ = r[0] if one else r
        self.target_scale_ = float(scale[0]) if one else scale
        self._keep_targets(targets)
        self.n_samples_, self.effective_samples_ = float(statistics.n_samples), effective
        # Factors of the standardised features in the mean of their group, but for their signs.
        factors = weights * (1.0 if self.units == "standardized" else self.scale_)
        if path is None:
            self.__dict__.pop("merge_path_", None)  # of earlier chunks, by another strategy
            self._keep(partition, group_cohesion(statistics, partition, factors))
        else:
            add_path_cohesion(statistics, path, factors, neighbours=constraint.graph is not None)
            self.merge_path_ = path.merges
            self._keep_cut(path, partition)
        # Last: where warnings are errors, the model and the chunks counted still agree.
        warn_of_constant(varying, self._columns.names)

    def _partition(
        self, statistics: Statistics, constraint: Constraint, weights: FloatArray, share: float
    ) -> tuple[Partition, MergePath | None]:
        """Group by the strategy, which may also return a path of merges."""
        rule = Rule.of(
            statistics,
            self.tolerance,
            self.noise,
            self.min_correlation,
            signed=self.signed,
            weights=weights,
            share=share,
        )
        if self.strategy in PATHS:
            path = PATHS[self.strategy](statistics, rule, constraint)
            return self._cut(path, rule.tolerance), path
        return partition_in_order(self.strategy, statistics, rule, constraint), None

    def cut(
        self, *, tolerance: float | Literal["unbiased"] | None = None, n_groups: int | None = None
    ) -> Self:
        """Merge less or more without a new fit.

        For ``"agglomerative"`` and ``"joint"``, whose path reaches every number of groups down to
        the fewest that ``min_correlation``, ``connectivity`` and ``blocks`` allow.

        Parameters
        ----------
        tolerance : float or "unbiased", optional
            c in F ≤ c.
        n_groups : int, optional
            Number of groups, instead of a tolerance.

        Returns
        -------
        LinCFA
            A new fitted estimator, the same as from a fit with this ``tolerance`` or ``n_groups``.
        """
        path = self._path()
        if tolerance is None and n_groups is None:
            raise ValueError("Pass a tolerance or n_groups.")
        if tolerance is not None and n_groups is not None:
            raise ValueError("Pass a tolerance or n_groups, not both.")
        model = copy.copy(self)
        if hasattr(model, "_stream"):
            del model._stream
        model.tolerance = 1.0 if tolerance is None else tolerance
        model.n_groups = n_groups
        model._check_parameters()
        model._keep_cut(path, model._cut(path, tolerance_value(model.tolerance)))
        return model

    def to_linkage(self) -> FloatArray:
        """Return the path as a SciPy linkage matrix, for a dendrogram.

        For ``"agglomerative"`` and ``"joint"``. The leaves are the features that are not constant,
        in order; the heights are those of ``merge_path_``.
        """
        path = self._path()
        if path.fewest_groups != 1:
            raise ValueError(
                f"A linkage needs a path that ends in one group; with {self._limits()} this one "
                f"ends at {path.fewest_groups}."
            )
        return path.linkage()

    def _limits(self) -> str:
        names = ("min_correlation", "connectivity", "blocks")
        limits = [name for name in names if getattr(self, name) is not None]
        field = self._columns.field
        if field is not None and len(field.variables) > 1:
            limits.append(f"{len(field.variables)} variables")
        if field is not None and field.has_lags:
            limits.append("lags")
        if self.missing == "pairwise":
            limits.append("pairs that share too few samples")
        return " and ".join(limits)

    def _path(self) -> MergePath:
        self._check_is_fitted()
        if not hasattr(self, "merge_path_"):
            raise ValueError(
                f"strategy={self.strategy!r} has no path of merges; fit with strategy="
                f"{' or '.join(map(repr, PATHS))}."
            )
        weights = self.feature_weights_
        plain = (weights == weights[0]).all()
        return MergePath(self.labels_ >= 0, self.merge_path_, None if plain else weights)

    def _keep(self, partition: Partition, cohesion: npt.NDArray[np.void]) -> None:
        self.labels_ = partition.labels
        self.signs_ = partition.signs
        self.groups_ = partition.groups
        self.n_groups_ = len(partition.groups)
        self.evidence_ = with_gains(partition.evidence, self.target_scale_)
        self.cohesion_ = cohesion

    def _keep_cut(self, path: MergePath, partition: Partition) -> None:
        neighbours = self.connectivity is not None
        self._keep(
            partition,
            cut_cohesion(
                path,
                partition.groups,
                np.atleast_2d(self.target_correlation_),
                neighbours=neighbours,
            ),
        )

    def _cut(self, path: MergePath, tolerance: float) -> Partition:
        """Cut the path at the tolerance, or at the requested number of groups."""
        if self.n_groups is None:
            return path.partition(path.n_groups(tolerance), tolerance)
        if not path.fewest_groups <= self.n_groups <= path.most_groups:
            limits = self._limits()
            limit = f", the fewest with {limits}," if path.fewest_groups > 1 else ""
            raise ValueError(
                f"n_groups={self.n_groups} is not between {path.fewest_groups}{limit} and "
                f"{path.most_groups}, the number of features that vary."
            )
        return path.partition(self.n_groups)

    def save(self, path: str | os.PathLike[str], *, rows: bool = True) -> None:
        """Save the fitted model as a JSON file, for :func:`lincfa.load`.

        The file holds everything exactly, except the rows seen by :meth:`partial_fit`, which starts
        over after a load. It is written completely or not at all, so that an interruption leaves an
        older file as it was. ``docs/saved-files.md`` documents its contents.

        Parameters
        ----------
        path : str or path
            An existing file is replaced.
        rows : bool, default=True
            Whether the file has fingerprints of rows of the fit, by which these are refused where
            new samples are needed. Rows of few different values can be guessed from them.
        """
        self._check_saving()
        save_model(self, path, output_of(self), rows=rows)

    def _check_saving(self) -> None:
        self._check_is_fitted()
        self._check_parameters()
        if (self.strategy in PATHS) != hasattr(self, "merge_path_"):
            raise ValueError("The strategy was changed after the fit; fit again before saving.")
        if not self._constraint().allows(self.labels_):
            raise ValueError(
                "connectivity or blocks were changed after the fit; fit again before saving."
            )

    def _check_is_fitted(self) -> None:
        stream: _Stream | None = getattr(self, "_stream", None)
        if stream is not None and stream.missing:
            raise NotFittedError(f"This LinCFA {stream.missing}")
        super()._check_is_fitted()

    def _check_parameters(self) -> None:
        check_strategy(self.strategy)
        check_tolerance(self.tolerance)
        check_n_groups(self.strategy, self.tolerance, self.n_groups)
        check_merging(self.noise, self.min_correlation, self.units, self.signed, self.missing)
        check_effective_samples(self.effective_samples)
        check_sample_dim(self.sample_dim)
        check_target_kind(self.target)
