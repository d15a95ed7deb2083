"""LinCFACV: how to merge, and how much to shrink, chosen by cross-validation."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.metrics import check_scoring, r2_score

from ._data._checks import check_length, check_weights, is_dask
from ._data._compute import computed
from ._data._targets import read_targets
from ._data._training import FeatureTable, match_samples
from ._grouping._constraint import Constraint
from ._model._conformal import keep_errors, rank_of_level
from ._model._parameters import check_share
from ._model._regression import RidgeRegression, scale_of_areas
from ._model._rows import check_held_out
from ._search._estimator import GroupSearch
from ._search._folds import (
    R2,
    EstimatorScorer,
    RidgeScorer,
    Scorer,
    Scoring,
    TruncatedR2,
)
from .theory._arrays import FloatArray


class LinCFACV(RegressorMixin, GroupSearch):  # type: ignore[misc]
    """LinCFA and a ridge regression on the reduced features, both chosen by cross-validation.

    Every combination is tried on every fold: the groups are learned from the training part only, a
    ridge regression is fitted to the reduced features and scored on the held-out part. The best
    combination is then fitted to all samples, and the regression to its reduced features. What is
    left is plain: the mean of each group, with one weight.

    It is a regressor: ``predict`` reduces X and applies the regression. It is also a transformer,
    for use before your own regressor in a pipeline. Several targets have the same groups and the
    same penalty, and each its own weights; the scores that choose are means over the targets. For
    classes there is :class:`LinCFAClassifierCV`.

    Parameters
    ----------
    strategies : sequence of str, default=None
        Strategies to try; see :class:`LinCFA`. None for ``"sequential"`` alone.
    tolerances : sequence of float or "unbiased", default=None
        Tolerances to try. None for 0.1, 1, 10 and 100, or for 10 and 100 where groups are areas:
        where the ``connectivity`` gives some feature more than two neighbours, as on a map and
        unlike in a row. There are no ``effective_samples``: in F their number and the tolerance are
        one factor, and held-out samples choose it.
    min_correlations : sequence of float or None, default=None
        Smallest correlations to try, as ``min_correlation`` of :class:`LinCFA`; None among them for
        none. By default none, 0.7, 0.9 and 0.98: the last merges next to nothing and leaves the
        rest to the penalty.
    penalties : sequence of float, default=None
        Penalties of the ridge regression to try, as shares of the total variance of the reduced
        features: 0 for least squares, and 1 shrinks even their main direction at least by half.
        None for 0 and 21 numbers from 1e-9 to 10. An area is penalised as if each of its cells, in
        its own units, had its share of the weight: merging equal cells then changes nothing, and a
        large area is shrunk less than a single cell. For areas each penalty above 0 is also tried
        with rescaled weights: all are multiplied by the factor that fits the training samples best,
        so that much shrinkage evens them out without drawing predictions to the mean.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn. None for five shuffled folds (always the same; at least 6
        samples), repeated for small data until there are 200 held-out predictions, at most ten
        times, because scores of few samples are noisy. Where the samples have dates (in a pandas
        index, or the coordinates of a field; not in a dask dataframe), None is for five blocks of
        consecutive dates, twice with other blocks if there are fewer than 200 dates; shuffled folds
        are then ``KFold(5, shuffle=True, random_state=0)``. For a gap around blocks, and for rows
        in time order without dates, there is :class:`lincfa.timeseries.BlockKFold`. Where ``fit``
        is given ``groups``, None and a number are for so many folds of whole groups, shuffled
        (always the same): None for five, or as many as there are groups.
    scoring : str or callable, default=None
        Score to compare, larger is better. It is averaged over the folds such that each held-out
        sample counts the same. None for R² of all held-out samples, where no error counts for more
        than three standard deviations of the target: a few outliers should not decide.
    estimator : regressor, default=None
        Fitted to the reduced features, in the folds and at the end, instead of a ridge regression.
    rule : {"near_best", "best", "one_standard_error"}, default="near_best"
        ``"best"`` takes the best score. ``"one_standard_error"`` takes the fewest groups (on
        average over the folds) within one standard error of it. ``"near_best"`` trusts what merges
        much only where it proves itself: of the combinations whose R² is at most 0.005 below that
        of the least merging one, with 0.7 standard errors of the difference to spare, it takes
        the fewest groups within 0.005 of the best. (For other scores, 1 % instead of 0.005.)
    max_groups : float, default=0.5
        Limit on the number of groups where there is no penalty, as a share of the training samples
        of a fold, at most 1. Combinations with more groups, on average over the folds, are not
        chosen, unless all have more, which raises a warning: with nearly as many groups as samples,
        least squares fit the noise. None for no limit.
    noise : "pair", "full" or float, default="pair"
        As for :class:`LinCFA`.
    connectivity : sparse matrix of shape (n_features, n_features), "grid" or "chain", default=None
        As for :class:`LinCFA`.
    blocks : sequence of shape (n_features,), default=None
        As for :class:`LinCFA`.
    signed : bool, default=False
        As for :class:`LinCFA`.
    missing : {"error", "pairwise"}, default="error"
        As for :class:`LinCFA`. Where no member of a group is present, the regression takes them to
        be at their means.
    feature_weights : array of shape (n_features,) or "area", default=None
        As for :class:`LinCFA`.
    units : {"standardized", "original"}, default="standardized"
        As for :class:`LinCFA`.
    sample_dim : hashable, default=None
        As for :class:`LinCFA`.
    n_jobs : int, default=None
        Number of folds to process in parallel, as in joblib; in threads for dask collections.
    verbose : int, default=0
        Above 0, joblib reports progress.

    Attributes
    ----------
    strategy_, tolerance_, min_correlation_, penalty_
        What was chosen; the penalty is None where there is an ``estimator``.
    searched_ : bool
        Whether cross-validation chose how to merge; in models that ``lincfa reduce`` wrote by
        other options it chose the penalty alone.
    rescaled_ : bool
        Whether the weights are rescaled after they were shrunk; only where groups are areas.
    coef_ : ndarray of shape (n_features_in_,) or (n_targets, n_features_in_)
        Weights of the original features, in their own units: the same for all standardised features
        of a group. Only where the regression is linear, as ``intercept_``.
    intercept_ : float or ndarray of shape (n_targets,)
        What is predicted where all original features are 0.
    cv_results_ : dict of arrays
        One entry per combination, ready for ``pandas.DataFrame``: ``strategy``, ``tolerance``,
        ``min_correlation`` (−1 for none), ``penalty`` (unless there is an ``estimator``),
        ``rescaled`` (where groups are areas), ``mean_n_groups``, ``eligible``,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score`` (among all, eligible or not)
        and ``split0_test_score``, …
    cv_ : splitter
        What divided the samples into folds; not saved.
    best_index_ : int
        Row of ``cv_results_`` that was chosen.
    best_score_ : float
        Its mean score.
    errors_ : ndarray of shape (n_errors,) or (n_targets, n_errors)
        Absolute errors on the samples given to :meth:`calibrate`, ascending; of more than 1000,
        some of them.
    reducer_ : LinCFA
        The chosen combination, fitted to all samples. Its ``cut`` and ``to_linkage`` show other
        numbers of groups; ``estimator_`` belongs to the chosen one.
    estimator_ : regressor
        Fitted to the reduced features of all samples.
    labels_, groups_, n_groups_, mean_, scale_, n_samples_
        Those of ``reducer_``.
    target_correlation_, target_scale_, target_names_
        Those of ``reducer_``.
    evidence_, cohesion_, n_connected_components_
        Those of ``reducer_``.
    n_features_in_, feature_names_in_, field_
        As for :class:`LinCFA`.

    Examples
    --------
    >>> from lincfa import LinCFACV
    >>> from lincfa.datasets import make_spectra
    >>> X, y = make_spectra(random_state=0)
    >>> model = LinCFACV(cv=5).fit(X[:30], y[:30])
    >>> model.transform(X).shape == (40, model.n_groups_)
    True
    >>> bool(model.score(X[30:], y[30:]) > 0.9)
    True
    >>> bool(abs(X @ model.coef_ + model.intercept_ - model.predict(X)).max() < 1e-9)
    True
    """

    _penalties: ClassVar[Sequence[float]] = (0.0, *np.logspace(-9, 1, 21).tolist())
    # On generated fields half as many ways of merging predicted as well.
    _tolerances_of_areas: ClassVar[Sequence[float]] = (10.0, 100.0)

    def __init__(
        self,
        *,
        strategies: Sequence[str] | None = None,
        tolerances: Sequence[float | Literal["unbiased"]] | None = None,
        min_correlations: Sequence[float | None] | None = None,
        penalties: Sequence[float] | None = None,
        cv: Any = None,
        scoring: Any = None,
        estimator: Any = None,
        rule: Literal["best", "near_best", "one_standard_error"] = "near_best",
        max_groups: float | None = 0.5,
        noise: Literal["pair", "full"] | float = "pair",
        connectivity: Any = None,
        blocks: Any = None,
        signed: bool = False,
        missing: Literal["error", "pairwise"] = "error",
        feature_weights: Any = None,
        units: Literal["standardized", "original"] = "standardized",
        sample_dim: Hashable | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            strategies=strategies,
            tolerances=tolerances,
            min_correlations=min_correlations,
            penalties=penalties,
            cv=cv,
            scoring=scoring,
            rule=rule,
            noise=noise,
            connectivity=connectivity,
            blocks=blocks,
            signed=signed,
            missing=missing,
            feature_weights=feature_weights,
            units=units,
            sample_dim=sample_dim,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.estimator = estimator
        self.max_groups = max_groups

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose how to merge and how much to shrink, then fit the groups and the regression.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), or field
            Numeric, with at least 4 samples in the training part of each fold; no missing values,
            unless ``missing="pairwise"``. A dask array or dataframe is read in chunks and not
            loaded into memory. xarray fields as for :meth:`LinCFA.fit`.
        y : array of shape (n_samples,) or (n_samples, n_targets), data frame or Dataset
            The target, or several, one a column; none is constant.
        groups : array of shape (n_samples,), default=None
            Labels of samples that belong together, such as batches or firms: whole groups are held
            out. If they are dates, or ``cv`` is a ``BlockKFold``, they are the dates for the
            blocks, in place of those of X or y.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for, as for :meth:`LinCFA.fit`; also used by the
            regression, so that an ``estimator`` must accept weights, and in the scores.

        Returns
        -------
        LinCFACV
            The estimator itself.
        """
        if self.estimator is not None and not hasattr(self.estimator, "predict"):
            raise ValueError(
                f"estimator must be a regressor of scikit-learn, such as Ridge(), got "
                f"{self.estimator!r}"
            )
        if self.estimator is not None and is_classifier(self.estimator):
            raise ValueError(
                f"LinCFACV predicts numbers, and {self.estimator!r} is a classifier: for classes "
                "use LinCFAClassifierCV."
            )
        if self.estimator is not None and self.penalties is not None:
            raise ValueError(
                "Give either penalties, for the ridge regression that LinCFACV fits, or an "
                "estimator to fit instead, not both."
            )
        check_share("max_groups", self.max_groups, "samples")
        return self._search(X, y, groups, sample_weight)

    def _scorer(self, penalties: list[float], scale: FloatArray, areas: bool) -> Scorer:
        model = RidgeRegression() if self.estimator is None else self.estimator
        scoring: Scoring = TruncatedR2(target_scale=scale)
        if self.scoring is not None:
            named = check_scoring(model, self.scoring)
            scoring = R2(named) if self.scoring == "r2" else Scoring(named)
        if self.estimator is None:
            return RidgeScorer(penalties, scoring, areas)
        return EstimatorScorer(self.estimator, scoring)

    def _final(self, constraint: Constraint) -> Any:
        if self.penalty_ is None:
            return self.estimator
        scale = None
        if constraint.makes_areas:
            _, own = self._standardization
            scale = scale_of_areas(self.labels_, self.feature_weights_, own, constraint.blocks)
        return RidgeRegression(self.penalty_, scale=scale, rescaled=self.rescaled_)

    def predict(self, X: Any) -> Any:
        """Reduce X and apply the fitted estimator.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
            For a dask collection a dask array, not computed yet. For a field, a DataArray with the
            coordinates of the samples, and the name, ``units`` and ``long_name`` of the target, as
            far as it had them in fit; of several targets their names along ``"target"``.
        """
        return self._apply(X)

    def calibrate(self, X: Any, y: Any) -> Self:
        """Learn from held-out samples how far predictions are off, for prediction intervals.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            Samples that were not used to fit the model: on those that were, errors are too small.
            At least 19 for intervals that cover 95 %.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            The target, or targets.

        Returns
        -------
        LinCFACV
            The estimator itself, with ``errors_``.
        """
        table = self._read_new(X)
        values, predicted, _ = self._compared(table, X, y)
        if not is_dask(table.values):
            why = "Predictions are closer there than on new ones, and intervals would be too narrow"
            check_held_out(self, table.values, values, why)
        return self._keep_errors(values, predicted)

    def _keep_errors(self, y: FloatArray, predicted: FloatArray) -> Self:
        """Keep the errors of held-out samples, of shape (n,) or (n, K)."""
        kept = keep_errors((y - predicted.reshape(y.shape)).reshape(len(y), -1).T)
        self.errors_ = kept[0] if len(kept) == 1 else kept
        return self

    def predict_interval(self, X: Any, level: float = 0.95) -> tuple[Any, Any]:
        """Reduce X, and return intervals that cover the target with a given probability.

        They are split conformal intervals: the prediction plus and minus the error that a share
        ``level`` of the samples given to :meth:`calibrate` did not exceed. If new samples are like
        these, the intervals cover at least that share of them on average, whatever the noise and
        however good the model. They are equally wide for all samples.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.
        level : float, default=0.95
            Probability with which an interval covers the target; of several targets, each of them.

        Returns
        -------
        low, high : array of shape (n_samples,) or (n_samples, n_targets)
            As of :meth:`predict`.

        Examples
        --------
        >>> from lincfa import LinCFACV
        >>> from lincfa.datasets import make_correlated
        >>> X, y = make_correlated(n_samples=1300, n_features=30, random_state=0)
        >>> model = LinCFACV().fit(X[:100], y[:100]).calibrate(X[100:300], y[100:300])
        >>> low, high = model.predict_interval(X[300:], level=0.9)
        >>> print(((low <= y[300:]) & (y[300:] <= high)).mean())
        0.878
        """
        half = self._half_width(level)
        predicted = self.predict(X)
        return predicted - half, predicted + half

    def _half_width(self, level: float) -> Any:
        """Return half the width of intervals, a number or one for each target."""
        self._check_is_fitted()
        if not hasattr(self, "errors_"):
            raise ValueError(
                "Prediction intervals are made from errors on held-out samples, and this model has "
                "none: call calibrate(X, y) with samples that were not used to fit it."
            )
        return self.errors_[..., rank_of_level(self.errors_.shape[-1], level) - 1]

    def _compared(
        self, table: FeatureTable, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[FloatArray, FloatArray, Any]:
        """Return the targets of samples, of shape (n, K), what is predicted, and their weights."""
        predicted = computed(self._of_reduced(table, "predict"))
        # One after the other: dask does not like arrays and dataframes in one graph.
        y = computed(match_samples(table, X, y, "the target y"), "the target y")
        sample_weight = computed(
            match_samples(table, X, sample_weight, "sample_weight"), "sample_weight"
        )
        values, _ = read_targets(y, known=self._targets)
        check_length(len(values), len(predicted), "y")
        sample_weight = check_weights(sample_weight, len(values))
        return values, predicted.reshape(len(predicted), -1), sample_weight

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² of :meth:`predict`, of several targets its mean.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.
        y : array of shape (n_samples,) or (n_samples, n_targets)
            The target, or targets.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for.
        """
        values, predicted, sample_weight = self._compared(self._read_new(X), X, y, sample_weight)
        return float(r2_score(values, predicted, sample_weight=sample_weight))
