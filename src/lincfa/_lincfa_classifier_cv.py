"""LinCFAClassifierCV: for classes, how to merge and how much to shrink, by cross-validation."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score, check_scoring

from ._data._checks import check_length, check_weights
from ._data._compute import computed
from ._data._targets import Kind, read_labels
from ._data._training import match_samples
from ._grouping._constraint import Constraint
from ._model._logistic import PenalizedLogistic
from ._model._parameters import check_share
from ._search._estimator import GroupSearch
from ._search._folds import LogisticScorer, LogLoss, Scorer, Scoring
from .theory._arrays import FloatArray

_MOST_JOINT = 2000
"""Features up to which the regression on all groups is tried by default; beyond it takes long."""


class LinCFAClassifierCV(ClassifierMixin, GroupSearch):  # type: ignore[misc]
    """LinCFA and a logistic regression on the reduced features, both chosen by cross-validation.

    The groups are those of :class:`LinCFA` for classes. Every combination is tried on every fold:
    groups are learned from the training part only, a logistic regression with a penalty is fitted
    to the reduced features and scored on the held-out part. The best combination is then fitted to
    all samples. What is left is plain: the mean of each group, with one weight for each class, or
    just one weight if there are two classes.

    It is a classifier: ``predict`` reduces X and applies the regression. It is also a transformer,
    for use before your own classifier in a pipeline.

    Parameters
    ----------
    strategies : sequence of str, default=None
        Strategies to try; see :class:`LinCFA`. None for ``"sequential"`` and, where there are at
        most 2000 features, no missing values and no ``connectivity`` or ``blocks``, also
        ``"joint"``, by default without a smallest correlation.
    tolerances : sequence of float or "unbiased", default=None
        Tolerances to try. None for 0.1, 1, 10 and 100. There are no ``effective_samples``: in F
        their number and the tolerance are one factor, and held-out samples choose it.
    min_correlations : sequence of float or None, default=None
        Smallest correlations to try, as ``min_correlation`` of :class:`LinCFA`; None among them for
        none. By default none, 0.5, 0.7, 0.9 and 0.98.
    penalties : sequence of float, default=None
        Penalties of the logistic regression to try, above 0: half the sum of the squared weights
        counts this many times the total variance of the reduced features, beside the mean log loss.
        None for 13 numbers from 1e-6 to 1.
    cv : int, splitter or iterable, default=None
        Folds, as in scikit-learn; stratified for a number. None for five shuffled and stratified
        folds (always the same), repeated for small data until there are 200 held-out predictions,
        at most ten times; or for five blocks of consecutive dates where the samples have dates, or
        five folds of whole ``groups``, as alike in the shares of classes as these allow, as for
        :class:`LinCFACV`.
    scoring : str or callable, default=None
        Score to compare, larger is better, such as ``"accuracy"``. It is averaged over the folds
        such that each held-out sample counts the same. None for the log loss, with a minus sign.
    rule : {"near_best", "best", "one_standard_error"}, default="near_best"
        As for :class:`LinCFACV`. Near is a log loss that is larger by at most 0.01 and 10 %, or any
        other score that is lower by at most 1 %.
    max_share : float, default=0.5
        Largest number of groups, as a share of the features, at most 1; two groups are always
        allowed. Combinations that leave more, of all samples, are not tried, unless all do; the
        paths of ``"agglomerative"`` and ``"joint"`` are followed until there are as few. None for
        no limit.
    noise, connectivity, blocks, signed, missing, feature_weights, units, sample_dim
        As for :class:`LinCFA`.
    n_jobs : int, default=None
        Number of folds to process in parallel, as in joblib; in threads for dask collections.
    verbose : int, default=0
        Above 0, joblib reports progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, in order.
    strategy_, tolerance_, min_correlation_, penalty_
        What was chosen. Where a path was followed below the tolerance, its number of groups is
        ``reducer_.n_groups``.
    coef_ : ndarray of shape (n_classes, n_features_in_), or (1, n_features_in_) for two classes
        Weights of the original features, in their own units: the same for all standardised features
        of a group. For two classes they are of the log odds of the second.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Value of :meth:`decision_function` where all original features are 0.
    cv_, cv_results_, best_index_, best_score_, reducer_
        As for :class:`LinCFACV`; the scores of what was not tried are NaN.
    estimator_ : classifier
        The logistic regression on the reduced features of all samples.
    labels_, groups_, n_groups_, mean_, scale_, n_samples_
        Those of ``reducer_``.
    target_correlation_, target_scale_, target_names_
        Those of ``reducer_``, of the indicators of the classes; for two classes, of the second.
    evidence_, cohesion_, n_connected_components_
        Those of ``reducer_``.
    n_features_in_, feature_names_in_, field_
        As for :class:`LinCFA`.

    Examples
    --------
    >>> from lincfa import LinCFAClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = LinCFAClassifierCV().fit(X[:300], y[:300])
    >>> model.n_groups_ <= 15
    True
    >>> bool(model.score(X[300:], y[300:]) > 0.95)
    True
    """

    _kind: ClassVar[Kind] = "classes"
    _strategies: ClassVar[Sequence[str]] = ("sequential", "joint")
    _min_correlations: ClassVar[Sequence[float | None]] = (None, 0.5, 0.7, 0.9, 0.98)
    _penalties: ClassVar[Sequence[float]] = tuple(np.logspace(-6, 0, 13).tolist())

    def __init__(
        self,
        *,
        strategies: Sequence[str] | None = None,
        tolerances: Sequence[float | Literal["unbiased"]] | None = None,
        min_correlations: Sequence[float | None] | None = None,
        penalties: Sequence[float] | None = None,
        cv: Any = None,
        scoring: Any = None,
        rule: Literal["best", "near_best", "one_standard_error"] = "near_best",
        max_share: float | None = 0.5,
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
        self.max_share = max_share

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose how to merge and how much to shrink, then fit the groups and the regression.

        Parameters
        ----------
        X : array or data frame of shape (n_samples, n_features), or field
            As for :meth:`LinCFACV.fit`.
        y : array of shape (n_samples,)
            Labels of at least two classes: text, numbers, categories or booleans.
        groups : array of shape (n_samples,), default=None
            As for :meth:`LinCFACV.fit`.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for, as for :meth:`LinCFA.fit`; also used by the
            regression and in the scores.

        Returns
        -------
        LinCFAClassifierCV
            The estimator itself.
        """
        check_share("max_share", self.max_share, "features")
        return self._search(X, y, groups, sample_weight)

    def _ways(self, strategies: list[str], correlations: list[Any]) -> list[tuple[str, Any]]:
        ways = super()._ways(strategies, correlations)
        if self.strategies is not None:
            return ways
        free = self.connectivity is None and self.blocks is None and self.missing == "error"
        joint = free and self._columns.size <= _MOST_JOINT
        return [
            (strategy, correlation)
            for strategy, correlation in ways
            if strategy != "joint"
            or (joint and (correlation is None or self.min_correlations is not None))
        ]

    def _scorer(self, penalties: list[float], scale: FloatArray, areas: bool) -> Scorer:
        for penalty in penalties:
            if not penalty > 0:
                raise ValueError(f"each of penalties must be above 0 for classes, got {penalty!r}")
        scoring: Scoring = LogLoss()
        if self.scoring not in (None, "neg_log_loss"):
            scoring = Scoring(check_scoring(PenalizedLogistic(), self.scoring))
        return LogisticScorer(penalties, scoring)

    def _final(self, constraint: Constraint) -> Any:
        assert self.penalty_ is not None
        return PenalizedLogistic(self.penalty_)

    def _linear_map(self) -> tuple[FloatArray, Any]:
        coef, intercept = super()._linear_map()
        return np.atleast_2d(coef), np.atleast_1d(intercept)

    def _names_of_columns(self) -> tuple[str, list[Any]]:
        return "class", self.classes_.tolist()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def predict(self, X: Any) -> Any:
        """Reduce X and return the most probable class.

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
        return self._apply(X)

    def predict_proba(self, X: Any) -> Any:
        """Reduce X and return the probability of each class.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of ``classes_``; as of :meth:`predict`.
        """
        return self._apply(X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """Reduce X and return the logarithm of the probability of each class.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.
        """
        return self._apply(X, "predict_log_proba")

    def decision_function(self, X: Any) -> Any:
        """Reduce X and return the linear scores of the classes.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.

        Returns
        -------
        array of shape (n_samples,) for two classes, or (n_samples, n_classes)
            The log odds of the second class, or scores of which the softmax is the probability.
        """
        return self._apply(X, "decision_function")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of :meth:`predict`.

        Parameters
        ----------
        X : array, data frame or field of shape (n_samples, n_features_in_)
            The same columns as in fit, or the same cells.
        y : array of shape (n_samples,)
            The labels.
        sample_weight : array of shape (n_samples,), default=None
            How many samples each row counts for.
        """
        table = self._read_new(X)
        predicted = computed(self._of_reduced(table, "predict"))
        y = read_labels(computed(match_samples(table, X, y, "the target y"), "the target y"))
        sample_weight = computed(
            match_samples(table, X, sample_weight, "sample_weight"), "sample_weight"
        )
        check_length(len(y), len(predicted), "y")
        sample_weight = check_weights(sample_weight, len(y))
        return float(accuracy_score(y, predicted, sample_weight=sample_weight))
