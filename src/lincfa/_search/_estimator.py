"""What the estimators share that choose their groups by cross-validation."""

import os
from abc import abstractmethod
from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import has_fit_parameter

from .._data._checks import check_any_varies, check_total_weight, float_type, is_dask, is_field
from .._data._connectivity import read_structure
from .._data._feature_weights import read_feature_weights
from .._data._samples import check_same_rows
from .._data._targets import Kind, Targets, read_targets
from .._data._training import FeatureTable, Training, read_training
from .._grouping import PATHS
from .._grouping._constraint import Constraint
from .._lincfa import LinCFA
from .._model._base import GroupModel, forget_fit
from .._model._display import count, decimals
from .._model._document import output_of, save_model
from .._model._parameters import (
    check_choosing,
    check_merging,
    check_min_correlation,
    check_penalty,
    check_sample_dim,
    check_strategy,
    check_tolerance,
    listed,
)
from .._model._regression import linear_coefficients
from .._rule import tolerance_value
from .._statistics import standardize_targets
from ..theory._arrays import FloatArray
from ._choice import choose, tabulate
from ._folds import (
    Candidates,
    Outcomes,
    Samples,
    Scorer,
    fit_weighted,
    folds_in_words,
    samples_of,
    score_folds,
    splits,
)

_FEWEST_GROUPS = 2
"""Groups that no limit forbids: of two features, half is too little."""

_MANY_GROUPS = 0.5
"""Groups as a share of the samples, above which least squares would fit the noise."""


class GroupSearch(GroupModel):
    """Groups, and a linear model on their means, chosen by cross-validation.

    Every combination is tried on every fold, with groups learned from the training part only; the
    best is fitted to all samples.
    """

    _kind: ClassVar[Kind] = "numbers"
    _strategies: ClassVar[Sequence[str]] = ("sequential",)
    _min_correlations: ClassVar[Sequence[float | None]] = (None, 0.7, 0.9, 0.98)
    _tolerances: ClassVar[Sequence[float]] = (0.1, 1.0, 10.0, 100.0)
    _tolerances_of_areas: ClassVar[Sequence[float]] = _tolerances
    _penalties: ClassVar[Sequence[float]]

    # Limits on the number of groups, where an estimator has such a parameter: as a share of the
    # samples, where there is no penalty, and of the features.
    max_groups: float | None = None
    max_share: float | None = None

    penalty_: float | None
    rescaled_: bool
    estimator_: Any
    searched_: bool

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
        self.rule = rule
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

    @abstractmethod
    def _scorer(self, penalties: list[float], scale: FloatArray, areas: bool) -> Scorer:
        """Return what scores the models on the reduced features of a fold.

        ``scale`` is that of the targets; ``areas`` is true where groups are areas of a map.
        """

    @abstractmethod
    def _final(self, constraint: Constraint) -> Any:
        """Return the model to fit to the reduced features, with the shrinkage that was chosen."""

    def _ways(self, strategies: list[str], correlations: list[Any]) -> list[tuple[str, Any]]:
        """Strategies and smallest correlations to try together."""
        return list(product(strategies, correlations))

    def _search(self, X: Any, y: Any, groups: Any, sample_weight: Any) -> Self:
        """Choose how to merge and how much to shrink, then fit the groups and the model."""
        strategies, correlations, tolerances, penalties = self._candidates()
        forget_fit(self)
        check_same_rows(X, groups, "groups")
        training = read_training(
            X,
            y,
            sample_weight,
            sample_dim=self.sample_dim,
            kind=self._kind,
            estimator=type(self).__name__,
            missing=self.missing,
        )
        self._keep_columns(training.columns)
        samples = samples_of(training)
        outcomes = samples.outcomes
        check_total_weight(outcomes.n_samples)
        # Raises if a target is constant, before a fold does.
        _, scale = standardize_targets(outcomes.y, outcomes.weights, outcomes.targets)
        constraint = Constraint(*read_structure(self.connectivity, self.blocks, self._columns))
        scorer = self._scorer(penalties, scale, constraint.makes_areas)
        if outcomes.weights is not None and not has_fit_parameter(scorer.model, "sample_weight"):
            raise ValueError(f"The estimator {scorer.model!r} does not take sample_weight.")
        if self.tolerances is None and constraint.makes_areas:
            tolerances = list(self._tolerances_of_areas)
        ways = self._ways(strategies, correlations)
        candidates = Candidates(
            ways,
            [tolerance_value(tolerance) for tolerance in tolerances],
            self.noise,
            constraint,
            self.signed,
            read_feature_weights(self.feature_weights, self._columns),
            self.units,
        )
        limit = None
        if self.max_share is not None:
            whole = samples.statistics()
            check_any_varies(whole.varying)
            limit = max(_FEWEST_GROUPS, int(self.max_share * whole.varying.size))
            candidates = candidates.limited(whole, limit)
        # Few splitters look at X, and none at chunks.
        in_memory = isinstance(training, Training) and not is_field(X)
        table = X if in_memory else np.zeros((len(outcomes.y), 1))
        self.cv_, parts = splits(self.cv, table, outcomes, groups, training.dates)
        folds = score_folds(candidates, scorer, samples, parts, self.n_jobs, self.verbose)
        if not folds:
            raise ValueError(
                f"cv={self.cv!r} gives no folds; an iterator of splits can be used for one fit "
                "only, a list of them for any number."
            )
        tried = [
            (strategy, tolerance, correlation, shrinkage)
            for (strategy, correlation), tolerance in product(ways, tolerances)
            for shrinkage in scorer.shrinkages
        ]
        self.cv_results_ = tabulate(tried, folds, self.max_groups)
        self.best_index_ = choose(self.cv_results_, folds, self.rule, scorer.scoring.near)
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        strategy, tolerance, correlation, shrinkage = tried[self.best_index_]
        self.penalty_, self.rescaled_ = shrinkage
        own = self.get_params(deep=False)
        chosen = {name: own[name] for name in LinCFA._get_param_names() if name in own}
        chosen |= {"strategy": strategy, "tolerance": tolerance, "min_correlation": correlation}
        chosen["target"] = "classes" if self._kind == "classes" else None
        reducer = LinCFA(**chosen)._fit(samples.data)
        if limit is not None and reducer.n_groups_ > limit and strategy in PATHS:
            reducer = reducer.cut(n_groups=max(limit, reducer._path().fewest_groups))
        self._adopt(reducer, searched=True)
        reduced = self._reduce_samples(samples)
        self.estimator_ = fit_weighted(self._final(constraint), reduced, outcomes)
        return self

    def _reduce_samples(self, samples: Samples) -> npt.NDArray[Any]:
        """Reduce the samples of the fit, also those without weight, in memory."""
        data = samples.data
        if isinstance(data, Training):
            return np.asarray(self._reduce_for_regression(data))
        grouping = self.labels_, self._factors, self.n_groups_
        reduced = data.reduced([grouping], *self._standardization)[0]
        reduced = reduced.astype(float_type([data.values.dtype]), copy=False)
        return np.asarray(self._without_gaps(reduced) if data.gaps else reduced)

    @classmethod
    def _from_reducer(cls, reducer: LinCFA, *, searched: bool) -> Self:
        """Return a model with the groups of another, to be given a regression on their means.

        ``searched`` tells whether cross-validation chose how to merge, or only the penalty.
        """
        own = reducer.get_params(deep=False)
        model = cls(
            strategies=[reducer.strategy],
            tolerances=[reducer.tolerance],
            min_correlations=[reducer.min_correlation],
            **{name: own[name] for name in cls._get_param_names() if name in own},
        )
        model._keep_columns(reducer._columns)
        model._adopt(reducer, searched=searched)
        return model

    @classmethod
    def _with_regression(
        cls,
        reducer: LinCFA,
        means: npt.NDArray[Any],
        y: Any,
        cv: Any = None,
        groups: Any = None,
    ) -> Self:
        """Return a model with the groups of another, and a regression on their means.

        ``means`` are the reduced features of the samples of the fit, without gaps. The groups stay
        as they are while cross-validation chooses the penalty; folds are as for a search.
        """
        model = cls._from_reducer(reducer, searched=False)
        y, targets = read_targets(y, cls._kind, known=reducer._targets)
        outcomes = Outcomes(y, targets, None)
        constraint = reducer._constraint()
        many = reducer.n_groups_ > _MANY_GROUPS * len(y)
        penalties = [penalty for penalty in cls._penalties if penalty or not many]
        _, scale = standardize_targets(y, None, targets)
        scorer = model._scorer(penalties, scale, constraint.makes_areas)
        # As the final regression does: areas are penalised as their cells would be.
        model.penalty_, model.rescaled_ = scorer.shrinkages[0]
        factors = getattr(model._final(constraint), "scale", None)
        X = means if factors is None else means * factors
        model.cv_, parts = splits(cv, X, outcomes, groups, None)
        scores, counts = [], []
        for train, test in parts:
            scores.append(scorer(outcomes.take(train), outcomes.take(test), X[train], X[test]))
            counts.append(test.size)
        best = int(np.average(scores, axis=0, weights=counts).argmax())
        model.penalty_, model.rescaled_ = scorer.shrinkages[best]
        model.estimator_ = fit_weighted(model._final(constraint), means, outcomes)
        return model

    def _adopt(self, reducer: LinCFA, *, searched: bool) -> None:
        """Take over the groups of a model, and all that is known of them."""
        self.reducer_, self.searched_ = reducer, searched
        self.strategy_, self.tolerance_ = reducer.strategy, reducer.tolerance
        self.min_correlation_ = reducer.min_correlation
        self._targets = reducer._targets
        for name, value in vars(reducer).items():
            if name.endswith("_") and name != "merge_path_":
                setattr(self, name, value)

    def _choice_in_words(self) -> tuple[str, ...]:
        if not self.searched_:
            return (f"weights with penalty {self.penalty_:.3g}, chosen by cross-validation",)
        names = ("tolerance", "min_correlation", "penalty")
        chosen = {name: getattr(self, f"{name}_") for name in names}
        # Nothing is known of the scores and folds of a loaded model.
        score = f" ({self._score_in_words(self.best_index_)})" if hasattr(self, "cv_") else ""
        folds = folds_in_words(getattr(self, "cv_", None)) or "cross-validation"
        figures = [
            f"{name} {value if isinstance(value, str) else format(value, '.3g')}"
            for name, value in chosen.items()
            if value is not None
        ]
        figures += ["rescaled"] if self.rescaled_ else []
        words = f"chosen by {folds}: {', '.join([self.strategy_, *figures])}{score}"
        return words, *self._fewer_in_words()

    def _score_in_words(self, row: int) -> str:
        name = self.scoring if isinstance(self.scoring, str) else "score"
        if self.scoring is None:
            name = "negative log loss" if self._kind == "classes" else "R²"
        return f"{name} {decimals(float(self.cv_results_['mean_test_score'][row]))}"

    def _fewer_in_words(self) -> tuple[str, ...]:
        """Say how few groups another rule leaves, where there are many for the samples."""
        rule = "one_standard_error"
        if self.n_groups_ <= self.n_samples_ / 2 or self.rule == rule or not hasattr(self, "cv_"):
            return ()
        if not self.cv_results_["eligible"].any():  # of which the fit has warned
            return ()
        row = choose(self.cv_results_, (), rule)
        fewer = self.cv_results_["mean_n_groups"][row]
        if fewer > self.n_groups_ / 2:
            return ()
        what = f"about {count(round(fewer), 'group')} ({self._score_in_words(row)})"
        return (f'for fewer groups: rule="{rule}" leaves {what}',)

    @property
    def coef_(self) -> FloatArray:
        """Weights of the original features, in their own units."""
        return self._linear_map()[0]

    @property
    def intercept_(self) -> Any:
        """What is predicted where all features are 0."""
        return self._linear_map()[1]

    def _linear_map(self) -> tuple[FloatArray, Any]:
        """Weights and intercept on the original features; AttributeError if there are none."""
        return self.expand_coefficients(*self._weights())

    def _weights(self) -> tuple[FloatArray, Any]:
        """Weights and intercept on the reduced features; AttributeError if there are none."""
        fitted = getattr(self, "estimator_", None)
        weights = None if fitted is None else linear_coefficients(fitted, self.n_groups_)
        if weights is None:
            which = "is not fitted yet" if fitted is None else f"has the estimator {fitted!r}"
            raise AttributeError(
                f"This {type(self).__name__} {which}, and so has no linear weights of the "
                "reduced features."
            )
        return weights

    def save(self, path: str | os.PathLike[str], *, rows: bool = True) -> None:
        """Save groups and regression as a JSON file, for :func:`lincfa.load`.

        The loaded model predicts the same. It has everything that was chosen, but not the scores of
        the search. The regression must be linear, as the one that is fitted by default; save the
        groups of any other with ``reducer_.save``.

        Parameters
        ----------
        path : str or path
            An existing file is replaced.
        rows : bool, default=True
            As of :meth:`LinCFA.save`.
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
        regression = {
            "coef": coef,
            "intercept": intercept,
            "penalty": self.penalty_,
            "rescaled": self.rescaled_,
            "searched": self.searched_,
            "errors": getattr(self, "errors_", None),
        }
        save_model(self.reducer_, path, output_of(self), regression, rows=rows)

    def _apply(self, X: Any, method: str = "predict") -> Any:
        """Reduce X and apply a method of the fitted model, in the container of X."""
        table = self._read_new(X)
        values = self._of_reduced(table, method)
        if table.samples is None:
            return values
        from .._data._write_field import PREDICTION, along

        # Probabilities and the like have neither the name nor the unit of the target.
        targets = self._targets if method == "predict" else Targets()
        name = targets.title or PREDICTION
        return along(self.field_, X, values, name, self._names_of_columns(), targets.attrs)

    def _names_of_columns(self) -> tuple[str, list[Any]]:
        """What the columns of a prediction are, and their names."""
        return "target", self.target_names_

    def _of_reduced(self, table: FeatureTable, method: str) -> Any:
        """Apply a method of the fitted model to the reduced features, lazily if these are lazy."""
        reduced = self._reduce_for_regression(table)
        if is_dask(reduced):
            from .._model._lazy import apply_lazily

            return apply_lazily(self.estimator_, method, reduced)
        return np.asarray(getattr(self.estimator_, method)(reduced))

    def _reduce_for_regression(self, table: FeatureTable) -> Any:
        """Reduce, with the training mean where no member of a group is present."""
        reduced = self._reduce(table)
        return self._without_gaps(reduced) if table.gaps else reduced

    def _candidates(self) -> tuple[list[str], list[Any], list[Any], list[float]]:
        """Check the parameters; return what to try of strategies, correlations, … and penalties."""
        check_merging(self.noise, units=self.units, signed=self.signed, missing=self.missing)
        check_sample_dim(self.sample_dim)
        check_choosing(self.rule, self.scoring)
        given = (self.strategies, self.min_correlations, self.tolerances, self.penalties)
        names = ("strategies", "min_correlations", "tolerances", "penalties")
        defaults = (self._strategies, self._min_correlations, self._tolerances, self._penalties)
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
        return strategies, correlations, tolerances, penalties
