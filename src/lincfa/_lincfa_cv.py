"""LinCFACV: how much to merge, and by which strategy, chosen by cross-validation."""

from collections.abc import Hashable, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.linear_model import LinearRegression
from sklearn.metrics import check_scoring, r2_score
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from ._data._dask._compute import compute
from ._data._field._build import along
from ._data._input import MIN_SAMPLES, check_finite, is_dask, validate_training
from ._data._weights import check_total_weight, validate_weights
from ._lincfa import LinCFA
from ._model._parameters import (
    check_choosing,
    check_merging,
    check_sample_dim,
    check_strategy,
    check_tolerance,
    listed,
)
from ._model._reducer import GroupReducer
from ._rule import tolerance_value
from ._search._choice import choose, tabulate
from ._search._folds import Task, fit_weighted, splits, try_fold
from ._search._samples import ArraySamples, ChunkSamples, Outcomes, Samples
from ._statistics import standardize_target
from ._statistics._dask._input import read_chunks
from ._statistics._dask._lazily import predict_lazily

TOLERANCES = (0.1, 0.3, 0.6, 1.0, 2.0, 4.0, 7.0, 15.0, 40.0, 100.0)


_OF_REDUCER = (
    "labels_",
    "groups_",
    "n_groups_",
    "mean_",
    "scale_",
    "target_correlation_",
    "target_scale_",
    "n_samples_",
    "n_connected_components_",
    "evidence_",
    "cohesion_",
)
"""What the chosen reducer knows and the search shows as its own."""


class LinCFACV(RegressorMixin, GroupReducer):  # type: ignore[misc]
    """LinCFA with the strategy and the tolerance chosen by cross-validation.

    Every combination is tried on every fold: the groups are learned on the training part of the
    fold alone, an estimator is fitted to the reduced features, and scored on the held-out part. The
    best combination is then fitted to all samples, and the estimator to its reduced features.

    It is a transformer, to put before a regressor of your own in a pipeline, and a regressor,
    complete by itself: ``predict`` reduces X and applies the fitted ``estimator``.

    Parameters
    ----------
    strategies : sequence of str, default=("sequential", "centroid", "agglomerative", "joint")
        Strategies to try; see :class:`LinCFA`.
    tolerances : sequence of float or "unbiased", default=None
        Tolerances to try. None for ten from 0.1 to 100.
    cv : int, splitter or iterable, default=None
        Folds, as anywhere in scikit-learn. None for five shuffled folds (always in the same way; at
        least 6 samples), repeated with small data until at least 200 held-out predictions have been
        scored, at most ten times: few samples make single folds erratic. For samples that depend on
        their neighbours in time, give a splitter that respects it.
    scoring : str or callable, default="neg_mean_absolute_error"
        What is compared, larger is better. Squared errors would leave the choice to the few
        samples that are farthest off, and R² to the fold in which the target varies least.
    estimator : regressor, default=None
        What is fitted to the reduced features, in the folds and at the end. None for
        ``LinearRegression()``.
    rule : {"best", "one_standard_error"}, default="best"
        ``"best"`` takes the best mean score, of several the first tried. ``"one_standard_error"``
        takes the fewest groups (on average over the folds) among those whose mean score is at most
        one standard error of the best worse than the best.
    max_groups : float, default=0.5
        Share of the training samples of a fold. Combinations that leave more groups, on average
        over the folds, are tried but not chosen (unless all do, of which a warning tells): with
        nearly as many groups as samples the regression fits the noise, and with more it fits
        anything. At most 1; None for no limit.
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
        Folds to work on at the same time, as in joblib; in threads where X is of dask.
    verbose : int, default=0
        Above 0, joblib reports the progress.

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
        The chosen combination, fitted to all samples. Its ``cut`` and ``to_linkage`` serve a look
        at other numbers of groups; ``estimator_`` belongs to the chosen one.
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
            A dask array or dataframe is read in its chunks and not gathered. Fields of xarray as
            for :meth:`LinCFA.fit`.
        y : array of shape (n_samples,)
            The target, not constant.
        groups : array of shape (n_samples,), default=None
            Which samples belong together, for a ``cv`` that keeps them together, as
            ``GroupKFold`` does.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for, as for :meth:`LinCFA.fit`; also in the estimator,
            which must take weights, and in the scores.

        Returns
        -------
        LinCFACV
            The estimator itself.
        """
        combinations = self._combinations()
        self._forget()
        with self._opened(X, y, sample_weight) as table:
            self._fit_table(*combinations, groups, *table)
        return self

    def _fit_table(
        self,
        strategies: list[str],
        tolerances: list[float | Literal["unbiased"]],
        groups: Any,
        X: Any,
        y: Any,
        sample_weight: Any,
    ) -> None:
        """Choose and fit for a table."""
        samples = self._samples(X, y, sample_weight)
        target, weights = samples.outcomes.y, samples.outcomes.weights
        check_total_weight(samples.outcomes.count)
        standardize_target(target, weights)  # refuses a constant one before a fold does
        estimator = LinearRegression() if self.estimator is None else self.estimator
        if weights is not None and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(f"The estimator {estimator!r} does not take sample_weight.")
        task = Task(
            strategies,
            [tolerance_value(tolerance) for tolerance in tolerances],
            self.noise,
            self.min_correlation,
            self._constraint(),
            self.units,
            estimator,
            check_scoring(estimator, scoring=self.scoring),
        )
        # Folds of chunks share what is computed of them; their work is done elsewhere.
        shared = {"require": "sharedmem"} if is_dask(X) else {}
        folds = Parallel(n_jobs=self.n_jobs, verbose=self.verbose, **shared)(
            delayed(try_fold)(task, samples, train, test)
            for train, test in splits(self.cv, X, target, groups, sample_weight is not None)
        )
        if not folds:
            raise ValueError(
                f"cv={self.cv!r} gives no folds; an iterator of splits serves one fit only, a list "
                "of them serves any number."
            )
        chosen = [(strategy, value) for strategy in strategies for value in tolerances]
        self.cv_results_ = tabulate(chosen, task.tolerances, folds, self.max_groups)
        self.best_index_ = choose(self.cv_results_, self.rule)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.strategy_, self.tolerance_ = chosen[self.best_index_]

        self.reducer_ = LinCFA(
            strategy=self.strategy_,  # type: ignore[arg-type]
            tolerance=self.tolerance_,
            noise=self.noise,
            min_correlation=self.min_correlation,
            connectivity=self.connectivity,
            blocks=self.blocks,
            units=self.units,
            sample_dim=self.sample_dim,
        )
        if hasattr(self, "field_"):
            self.reducer_.field_ = self.field_
        self.reducer_._fit_table(X, target, weights)
        for name in _OF_REDUCER:
            setattr(self, name, getattr(self.reducer_, name))
        reduced = (
            compute(self._reduce_lazily(X, keep_frame=False)) if is_dask(X) else self._reduce(X)
        )
        self.estimator_ = fit_weighted(estimator, reduced, samples.outcomes)

    def _samples(self, X: Any, y: Any, sample_weight: Any) -> Samples:
        """Check what is given for a fit."""
        if is_dask(X):
            chunks = read_chunks(self, X, y, sample_weight)
            # Refuses what is not finite before a fold does, as in memory: also without weight.
            chunks.weighted(None).column_moments()
            y, sample_weight = chunks.outcomes()
            return ChunkSamples(chunks, Outcomes(y, validate_weights(sample_weight, len(y))))
        fewest = MIN_SAMPLES if sample_weight is None else 1
        values, target, names = validate_training(self, X, y, min_samples=fewest)
        check_finite(values, names)
        weights = validate_weights(sample_weight, len(target))
        return ArraySamples(values, Outcomes(target, weights))

    def predict(self, X: Any) -> Any:
        """Reduce X and apply the fitted estimator.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.

        Returns
        -------
        array of shape (n_samples,)
            Of a collection of dask a dask array, not yet computed. Of a field, a DataArray with the
            coordinates of the samples.
        """
        self._check_is_fitted()
        with self._known(X) as (table, *_):
            predicted = self._predict(table)
        return along(self.field_, X, predicted, "prediction") if table is not X else predicted

    def _predict(self, X: Any) -> Any:
        """Predict the rows of a table."""
        if is_dask(X):
            lazily = self._reduce_lazily(X, keep_frame=False)
            return predict_lazily(self.estimator_, lazily)
        reduced = self._reduce(X)
        return np.asarray(self.estimator_.predict(reduced))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Give R² of :meth:`predict`.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for.
        """
        self._check_is_fitted()
        with self._known(X, y, sample_weight) as (table, y, sample_weight):
            predicted = self._predict(table)
        if is_dask(table):
            # One after the other: dask does not like arrays and dataframes in one graph.
            y, predicted, sample_weight = map(compute, (y, predicted, sample_weight))
        return float(r2_score(y, predicted, sample_weight=sample_weight))

    def _combinations(self) -> tuple[list[str], list[float | Literal["unbiased"]]]:
        """Check the parameters; strategies and tolerances as lists."""
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
