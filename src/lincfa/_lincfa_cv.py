"""LinCFACV: how to merge, and how much to shrink, chosen by cross-validation."""

import os
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import check_scoring, r2_score
from sklearn.utils.validation import has_fit_parameter

from ._data._checks import check_total_weight, computed, is_dask, is_field
from ._data._connectivity import read_structure
from ._data._feature_weights import read_feature_weights
from ._data._training import FeatureTable, Training, match_samples, read_training
from ._grouping._constraint import Constraint
from ._lincfa import LinCFA
from ._model._base import GroupModel, forget_fit
from ._model._document import output_of, save_model
from ._model._parameters import (
    check_choosing,
    check_merging,
    check_min_correlation,
    check_penalty,
    check_sample_dim,
    check_strategy,
    check_tolerance,
    listed,
)
from ._model._regression import RidgeRegression, linear_coefficients
from ._rule import tolerance_value
from ._search._choice import choose, tabulate
from ._search._folds import (
    Candidates,
    EstimatorScorer,
    RidgeScorer,
    Scoring,
    fit_weighted,
    samples_of,
    score_folds,
    splits,
)
from ._statistics import standardize_target
from .theory._arrays import FloatArray

STRATEGIES = ("sequential",)
MIN_CORRELATIONS = (None, 0.7, 0.9, 0.98)
TOLERANCES = (0.1, 1.0, 10.0, 100.0)
PENALTIES = (0.0, *np.logspace(-9, 1, 21).tolist())


class LinCFACV(RegressorMixin, GroupModel):  # type: ignore[misc]
    """LinCFA and a ridge regression on the reduced features, both chosen by cross-validation.

    Every combination is tried on every fold: the groups are learned from the training part only, a
    ridge regression is fitted to the reduced features and scored on the held-out part. The best
    combination is then fitted to all samples, and the regression to its reduced features. What is
    left is plain: the mean of each group, with one weight.

    It is a regressor: ``predict`` reduces X and applies the regression. It is also a transformer,
    for use before your own regressor in a pipeline.

    Parameters
    ----------
    strategies : sequence of str, default=None
        Strategies to try; see :class:`LinCFA`. None for ``"sequential"`` alone.
    tolerances : sequence of float or "unbiased", default=None
        Tolerances to try. None for 0.1, 1, 10 and 100.
    min_correlations : sequence of float or None, default=None
        Smallest correlations to try, as ``min_correlation`` of :class:`LinCFA`; None among them for
        none. By default none, 0.7, 0.9 and 0.98: the last merges next to nothing and leaves the
        rest to the penalty.
    penalties : sequence of float, default=None
        Penalties of the ridge regression to try, as shares of the total variance of the reduced
        features: 0 for least squares, and 1 shrinks even their main direction at least by half.
        None for 0 and 21 numbers from 1e-9 to 10.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn. None for five shuffled folds (always the same; at least 6
        samples), repeated for small data until there are 200 held-out predictions, at most ten
        times, because scores of few samples are noisy. For time series pass a splitter that keeps
        neighbours in time together.
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
    coef_ : ndarray of shape (n_features_in_,)
        Weights of the original features, in their own units: the same for all standardised features
        of a group. Only where the regression is linear, as ``intercept_``.
    intercept_ : float
        What is predicted where all original features are 0.
    cv_results_ : dict of arrays
        One entry per combination, ready for ``pandas.DataFrame``: ``strategy``, ``tolerance``,
        ``min_correlation`` (−1 for none), ``penalty`` (unless there is an ``estimator``),
        ``mean_n_groups``, ``eligible``, ``mean_test_score``, ``std_test_score``,
        ``rank_test_score`` (among all, eligible or not) and ``split0_test_score``, …
    best_index_ : int
        Row of ``cv_results_`` that was chosen.
    best_score_ : float
        Its mean score.
    reducer_ : LinCFA
        The chosen combination, fitted to all samples. Its ``cut`` and ``to_linkage`` show other
        numbers of groups; ``estimator_`` belongs to the chosen one.
    estimator_ : regressor
        Fitted to the reduced features of all samples.
    labels_, groups_, n_groups_, mean_, scale_, target_correlation_, target_scale_, n_samples_
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
        self.strategies = strategies
        self.tolerances = tolerances
        self.min_correlations = min_correlations
        self.penalties = penalties
        self.cv = cv
        self.scoring = scoring
        self.estimator = estimator
        self.rule = rule
        self.max_groups = max_groups
        self.noise = noise
        self.connectivity = connectivity
        self.blocks = blocks
        self.signed = signed
        self.missing = missing
        self.feature_weights = feature_weights
        self.units = units
        self.sample_dim = sample_dim
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose how to merge and how much to shrink, then fit the groups and the regression.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), or field
            Numeric, with at least 4 samples in the training part of each fold; no missing values,
            unless ``missing="pairwise"``. A dask array or dataframe is read in chunks and not
            loaded into memory. xarray fields as for :meth:`LinCFA.fit`.
        y : array of shape (n_samples,)
            The target, not constant.
        groups : array of shape (n_samples,), default=None
            Labels of samples that belong together, for a ``cv`` such as ``GroupKFold``.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for, as for :meth:`LinCFA.fit`; also used by the
            regression, so that an ``estimator`` must accept weights, and in the scores.

        Returns
        -------
        LinCFACV
            The estimator itself.
        """
        strategies, correlations, tolerances, penalties = self._candidates()
        forget_fit(self)
        training = read_training(
            X,
            y,
            sample_weight,
            sample_dim=self.sample_dim,
            estimator="LinCFACV",
            missing=self.missing,
        )
        self._keep_columns(training.columns)
        samples = samples_of(training)
        outcomes = samples.outcomes
        check_total_weight(outcomes.n_samples)
        # Raises if the target is constant, before a fold does.
        _, target_scale = standardize_target(outcomes.y, outcomes.weights)
        given = self.estimator
        regression = RidgeRegression() if given is None else given
        if outcomes.weights is not None and not has_fit_parameter(regression, "sample_weight"):
            raise ValueError(f"The estimator {given!r} does not take sample_weight.")
        named = None if self.scoring is None else check_scoring(regression, self.scoring)
        scoring = Scoring(self.scoring, named, target_scale)
        candidates = Candidates(
            strategies,
            correlations,
            [tolerance_value(tolerance) for tolerance in tolerances],
            self.noise,
            Constraint(*read_structure(self.connectivity, self.blocks, self._columns)),
            self.signed,
            read_feature_weights(self.feature_weights, self._columns),
            self.units,
        )
        scorer = (
            RidgeScorer(penalties, scoring) if given is None else EstimatorScorer(given, scoring)
        )
        # Few splitters look at X, and none at chunks.
        in_memory = isinstance(training, Training) and not is_field(X)
        table = X if in_memory else np.zeros((len(outcomes.y), 1))
        parts = splits(self.cv, table, outcomes.y, groups, sample_weight is not None)
        folds = score_folds(candidates, scorer, samples, parts, self.n_jobs, self.verbose)
        if not folds:
            raise ValueError(
                f"cv={self.cv!r} gives no folds; an iterator of splits can be used for one fit "
                "only, a list of them for any number."
            )
        tried = [
            (strategy, tolerance, correlation, penalty)
            for strategy, correlation, tolerance in product(strategies, correlations, tolerances)
            for penalty in (penalties if given is None else [None])
        ]
        self.cv_results_ = tabulate(tried, folds, self.max_groups)
        self.best_index_ = choose(self.cv_results_, folds, self.rule, scoring.near)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        strategy, tolerance, correlation, self.penalty_ = tried[self.best_index_]
        own = self.get_params(deep=False)
        chosen = {name: own[name] for name in LinCFA._get_param_names() if name in own}
        chosen |= {"strategy": strategy, "tolerance": tolerance, "min_correlation": correlation}
        self._adopt(LinCFA(**chosen)._fit(training))
        if self.penalty_ is not None:
            regression = RidgeRegression(self.penalty_)
        reduced = computed(self._reduce_for_regression(self._read_new(X)))
        self.estimator_ = fit_weighted(regression, reduced, outcomes)
        return self

    def _adopt(self, reducer: LinCFA) -> None:
        """Take over what was chosen, and all that is known of its groups."""
        self.reducer_ = reducer
        self.strategy_, self.tolerance_ = reducer.strategy, reducer.tolerance
        self.min_correlation_ = reducer.min_correlation
        for name, value in vars(reducer).items():
            if name.endswith("_") and name != "merge_path_":
                setattr(self, name, value)

    @property
    def coef_(self) -> FloatArray:
        """Weights of the original features, in their own units."""
        return self._linear_map()[0]

    @property
    def intercept_(self) -> float:
        """What is predicted where all features are 0."""
        return self._linear_map()[1]

    def _linear_map(self) -> tuple[FloatArray, float]:
        """Weights and intercept on the original features; AttributeError if there are none."""
        coef, intercept = self.expand_coefficients(*self._weights())
        return coef, float(intercept)

    def _weights(self) -> tuple[FloatArray, float]:
        """Weights and intercept on the reduced features; AttributeError if there are none."""
        fitted = getattr(self, "estimator_", None)
        weights = None if fitted is None else linear_coefficients(fitted, self.n_groups_)
        if weights is None:
            which = "is not fitted yet" if fitted is None else f"has the estimator {fitted!r}"
            raise AttributeError(
                f"This LinCFACV {which}, and so no linear weights of the reduced features."
            )
        return weights

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save groups and regression as a JSON file, for :func:`lincfa.load`.

        The loaded model predicts the same. It has everything that was chosen, but not the scores of
        the search. The regression must be linear, as the one that is fitted by default; save the
        groups of any other with ``reducer_.save``.

        Parameters
        ----------
        path : str or path
            An existing file is replaced.
        """
        self._check_is_fitted()
        self.reducer_._check_saving()
        try:
            coef, intercept = self._weights()
        except AttributeError as error:
            raise ValueError(
                f"{error} A file holds linear models only: save the groups with "
                "model.reducer_.save(path), and the estimator by other means."
            ) from None
        regression = {"coef": coef, "intercept": intercept, "penalty": self.penalty_}
        save_model(self.reducer_, path, output_of(self), regression)

    def predict(self, X: Any) -> Any:
        """Reduce X and apply the fitted estimator.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.

        Returns
        -------
        array of shape (n_samples,)
            For a dask collection a dask array, not computed yet. For a field, a DataArray with the
            coordinates of the samples.
        """
        table = self._read_new(X)
        predicted = self._predict(table)
        if table.samples is None:
            return predicted
        from ._data._write_field import along

        return along(self.field_, X, predicted, "prediction")

    def _reduce_for_regression(self, table: FeatureTable) -> Any:
        """Reduce, with the training mean where no member of a group is present."""
        reduced = self._reduce(table)
        return self._without_gaps(reduced) if table.gaps else reduced

    def _predict(self, table: FeatureTable) -> Any:
        reduced = self._reduce_for_regression(table)
        if is_dask(reduced):
            from ._model._lazy import predict_lazily

            return predict_lazily(self.estimator_, reduced)
        return np.asarray(self.estimator_.predict(reduced))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R² of :meth:`predict`.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for.
        """
        table = self._read_new(X)
        predicted = self._predict(table)
        y = match_samples(table, X, y, "the target y")
        sample_weight = match_samples(table, X, sample_weight, "sample_weight")
        if is_dask(predicted):
            # One after the other: dask does not like arrays and dataframes in one graph.
            y, predicted, sample_weight = map(computed, (y, predicted, sample_weight))
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _candidates(self) -> tuple[list[str], list[Any], list[Any], list[float]]:
        """Check the parameters; return what to try of strategies, correlations, … and penalties."""
        check_merging(self.noise, units=self.units, signed=self.signed, missing=self.missing)
        check_sample_dim(self.sample_dim)
        check_choosing(self.rule, self.scoring, self.max_groups)
        given = (self.strategies, self.min_correlations, self.tolerances, self.penalties)
        names = ("strategies", "min_correlations", "tolerances", "penalties")
        defaults = (STRATEGIES, MIN_CORRELATIONS, TOLERANCES, PENALTIES)
        strategies, correlations, tolerances, penalties = (
            listed(name, default if values is None else values)
            for name, values, default in zip(names, given, defaults, strict=True)
        )
        for strategy in strategies:
            check_strategy(strategy)
        for correlation in correlations:
            check_min_correlation(correlation, "each of min_correlations")
        for tolerance in tolerances:
            check_tolerance(tolerance, "each of tolerances")
        for penalty in penalties:
            check_penalty(penalty, "each of penalties")
        if self.estimator is not None and self.penalties is not None:
            raise ValueError(
                "Give either penalties, for the ridge regression that LinCFACV fits, or an "
                "estimator to fit instead, not both."
            )
        return strategies, correlations, tolerances, penalties
