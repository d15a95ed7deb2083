"""LinCFACV: how much to merge, and by which strategy, chosen by cross-validation."""

from collections.abc import Hashable, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring, r2_score
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from ._data._checks import check_total_weight, computed, is_dask, is_field
from ._data._connectivity import read_structure
from ._data._training import FeatureTable, Training, match_samples, read_training
from ._grouping._constraint import Constraint
from ._lincfa import LinCFA
from ._model._base import GroupModel, forget_fit
from ._model._parameters import (
    check_choosing,
    check_merging,
    check_sample_dim,
    check_strategy,
    check_tolerance,
    listed,
)
from ._rule import tolerance_value
from ._search._choice import choose, tabulate
from ._search._folds import Candidates, fit_weighted, samples_of, score_fold, splits
from ._statistics import standardize_target

TOLERANCES = (0.1, 0.3, 0.6, 1.0, 2.0, 4.0, 7.0, 15.0, 40.0, 100.0)


class LinCFACV(RegressorMixin, GroupModel):  # type: ignore[misc]
    """LinCFA with the strategy and the tolerance chosen by cross-validation.

    Every combination is tried on every fold: the groups are learned from the training part only, an
    estimator is fitted to the reduced features and scored on the held-out part. The best
    combination is then fitted to all samples, and the estimator to its reduced features.

    It is a transformer, for use before your own regressor in a pipeline, and also a complete
    regressor: ``predict`` reduces X and applies the fitted ``estimator``.

    Parameters
    ----------
    strategies : sequence of str, default=("sequential", "centroid", "agglomerative", "joint")
        Strategies to try; see :class:`LinCFA`.
    tolerances : sequence of float or "unbiased", default=None
        Tolerances to try. None for ten from 0.1 to 100.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn. None for five shuffled folds (always the same; at least 6
        samples), repeated for small data until there are 200 held-out predictions, at most ten
        times, because scores of few samples are noisy. For time series pass a splitter that keeps
        neighbours in time together.
    scoring : str or callable, default="neg_mean_absolute_error"
        Score to compare, larger is better. Squared errors would be dominated by the few samples
        with the largest errors, and R² by the fold in which the target varies least.
    estimator : regressor, default=None
        Fitted to the reduced features, in the folds and at the end. None for
        ``LinearRegression()``.
    rule : {"best", "one_standard_error"}, default="best"
        ``"best"`` takes the best mean score; of equal ones the first tried.
        ``"one_standard_error"`` takes the fewest groups (on average over the folds) among those
        whose mean score is within one standard error of the best.
    max_groups : float, default=0.5
        Limit on the number of groups, as a share of the training samples of a fold, at most 1.
        Combinations with more groups, on average over the folds, are not chosen, unless all have
        more, which raises a warning: with nearly as many groups as samples, the regression fits the
        noise. None for no limit.
    noise : "pair", "full" or float, default="pair"
        As for :class:`LinCFA`.
    min_correlation : float, default=None
        As for :class:`LinCFA`.
    connectivity : sparse matrix of shape (n_features, n_features), "grid" or "chain", default=None
        As for :class:`LinCFA`.
    blocks : sequence of shape (n_features,), default=None
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
    strategy_, tolerance_
        What was chosen.
    cv_results_ : dict of arrays
        One entry per combination, ready for ``pandas.DataFrame``: ``strategy``, ``tolerance``,
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
    """

    def __init__(
        self,
        *,
        strategies: Sequence[str] = ("sequential", "centroid", "agglomerative", "joint"),
        tolerances: Sequence[float | Literal["unbiased"]] | None = None,
        cv: Any = None,
        scoring: Any = "neg_mean_absolute_error",
        estimator: Any = None,
        rule: Literal["best", "one_standard_error"] = "best",
        max_groups: float | None = 0.5,
        noise: Literal["pair", "full"] | float = "pair",
        min_correlation: float | None = None,
        connectivity: Any = None,
        blocks: Any = None,
        units: Literal["standardized", "original"] = "standardized",
        sample_dim: Hashable | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.strategies = strategies
        self.tolerances = tolerances
        self.cv = cv
        self.scoring = scoring
        self.estimator = estimator
        self.rule = rule
        self.max_groups = max_groups
        self.noise = noise
        self.min_correlation = min_correlation
        self.connectivity = connectivity
        self.blocks = blocks
        self.units = units
        self.sample_dim = sample_dim
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose strategy and tolerance, then fit both the groups and the estimator.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), or field
            Numeric, no missing values, with at least 4 samples in the training part of each fold.
            A dask array or dataframe is read in chunks and not loaded into memory. xarray fields as
            for :meth:`LinCFA.fit`.
        y : array of shape (n_samples,)
            The target, not constant.
        groups : array of shape (n_samples,), default=None
            Labels of samples that belong together, for a ``cv`` such as ``GroupKFold``.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for, as for :meth:`LinCFA.fit`; also used by the
            estimator, which must accept weights, and in the scores.

        Returns
        -------
        LinCFACV
            The estimator itself.
        """
        strategies, tolerances = self._combinations()
        forget_fit(self)
        training = read_training(
            X, y, sample_weight, sample_dim=self.sample_dim, estimator="LinCFACV"
        )
        self._keep_columns(training.columns)
        samples = samples_of(training)
        outcomes = samples.outcomes
        check_total_weight(outcomes.n_samples)
        standardize_target(outcomes.y, outcomes.weights)  # raises if constant, before a fold does
        estimator = LinearRegression() if self.estimator is None else self.estimator
        if outcomes.weights is not None and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(f"The estimator {estimator!r} does not take sample_weight.")
        candidates = Candidates(
            strategies,
            [tolerance_value(tolerance) for tolerance in tolerances],
            self.noise,
            self.min_correlation,
            Constraint(*read_structure(self.connectivity, self.blocks, self._columns)),
            self.units,
            estimator,
            check_scoring(estimator, scoring=self.scoring),
        )
        in_memory = isinstance(training, Training)
        # Few splitters look at X, and none at chunks.
        table = X if in_memory and not is_field(X) else np.zeros((len(outcomes.y), 1))
        # Folds of chunks share what is computed of them; their work is done elsewhere.
        threads = {} if in_memory else {"require": "sharedmem"}
        folds = Parallel(n_jobs=self.n_jobs, verbose=self.verbose, **threads)(
            delayed(score_fold)(candidates, samples, train, test)
            for train, test in splits(self.cv, table, outcomes.y, groups, sample_weight is not None)
        )
        if not folds:
            raise ValueError(
                f"cv={self.cv!r} gives no folds; an iterator of splits can be used for one fit "
                "only, a list of them for any number."
            )
        chosen = [(strategy, value) for strategy in strategies for value in tolerances]
        self.cv_results_ = tabulate(chosen, candidates.tolerances, folds, self.max_groups)
        self.best_index_ = choose(self.cv_results_, self.rule)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.strategy_, self.tolerance_ = chosen[self.best_index_]

        own = self.get_params(deep=False)
        shared = {name: own[name] for name in LinCFA._get_param_names() if name in own}
        shared |= {"strategy": self.strategy_, "tolerance": self.tolerance_}
        self.reducer_ = LinCFA(**shared)._fit(training)
        for name, value in vars(self.reducer_).items():
            if name.endswith("_") and name != "merge_path_":
                setattr(self, name, value)
        reduced = computed(self._reduce(self._read_new(X)))
        self.estimator_ = fit_weighted(estimator, reduced, outcomes)
        return self

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

    def _predict(self, table: FeatureTable) -> Any:
        reduced = self._reduce(table)
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

    def _combinations(self) -> tuple[list[str], list[float | Literal["unbiased"]]]:
        check_merging(self.noise, self.min_correlation, self.units)
        check_sample_dim(self.sample_dim)
        check_choosing(self.rule, self.scoring, self.max_groups)
        strategies = listed("strategies", self.strategies)
        tolerances = listed(
            "tolerances", TOLERANCES if self.tolerances is None else self.tolerances
        )
        for strategy in strategies:
            check_strategy(strategy)
        for tolerance in tolerances:
            check_tolerance(tolerance, "each of tolerances")
        return strategies, tolerances
