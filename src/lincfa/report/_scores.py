"""Findings from regressions: coefficients, scores on held-out samples, scores along a path."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from .._data._names import shown
from .._data._targets import Targets
from .._model._display import count
from .._model._logistic import PenalizedLogistic
from .._model._observations import Observations, fitted_reducer, open_samples
from .._model._regression import RidgeRegression
from .._model._summary import opposite_signs
from .._search._choice import best_penalties, standard_errors
from .._search._folds import folds_in_words
from ..theory._arrays import FloatArray
from ..timeseries import BlockKFold
from ._classes import ClassScores, Predicted, TunedLogistic, probabilities, score_classes
from ._groups import LONGEST_NAME, Opposition
from ._inputs import LONGEST_TARGET, open_training, title_of_target
from ._intervals import (
    FEWEST_FOR_INTERVALS,
    LEVEL,
    RESAMPLES,
    Drawn,
    Interval,
    interval,
    length_of_blocks,
    resampled_sums,
)
from ._names import display_names_of_groups
from ._rivals import (
    LEAST_SQUARES,
    LOGISTIC,
    RIDGE,
    Rival,
    choose_rivals,
    describe_rivals,
    fit_scaled,
    split_samples,
    tuning_folds,
)

_FOLDS = 5
_FEWEST_FOR_FOLDS = 20

_PATH_STEPS = 25
_MOST_GROUPS = 500
_COEFFICIENTS_SHOWN = 20_000
_OPPOSITIONS = 200  # explained by another group, those with the largest weights
EFFECTS_SHOWN = 30  # groups that are drawn, those with the largest
PANELS = 6  # most targets that are drawn one by one
_POINTS_SHOWN = 500

ALL, REDUCED = "all features", "reduced features"
WITHOUT_RIVALS = "Nothing was compared with it, as the full data were not in memory."


# Regressions


def fit_linear(
    estimator: Any,
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    weights: FloatArray | None = None,
    precision: float | None = None,
) -> Any:
    """Fit a clone of an estimator; by default least squares."""
    options = {} if weights is None else {"sample_weight": weights}
    model = RidgeRegression(precision=precision) if estimator is None else clone(estimator)
    return model.fit(X, y, **options)


def fit_on_reduced(
    model: Any,
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    weights: FloatArray | None = None,
    precision: float | None = None,
) -> Any:
    """Return a regression on reduced features X; a search has its own."""
    if hasattr(model, "estimator_"):
        return model.estimator_
    classes = fitted_reducer(model)._targets.classes
    return fit_linear(None if classes is None else TunedLogistic(), X, y, weights, precision)


def fit_regression(model: Any, reducer: Any, train: Observations | None) -> Any:
    """Return a regression on the reduced features; None without training data or a search."""
    if train is None:
        return getattr(model, "estimator_", None)
    return fit_on_reduced(model, train.reduced(reducer), train.y, train.weights, train.precision)


# Coefficients


@dataclass(frozen=True)
class Coefficients:
    """Effects of the groups on the prediction, by the numbers of the groups."""

    names: tuple[str, ...]  # short names of the groups
    values: FloatArray  # change in the prediction per standard deviation of the group's mean
    n_groups: int  # how many groups there are, of which these are the first
    targets: tuple[str, ...] = ()  # of several, which have a row of values each
    log_odds: bool = False  # whether that is what changes, of a class

    @property
    def panels(self) -> "tuple[Coefficients, ...]":
        """The coefficients of each target; of many, the first ones."""
        if self.values.ndim == 1:
            return (self,)
        rows = zip(self.targets, self.values, strict=True)
        return tuple(
            replace(self, values=values, targets=(shown(name, LONGEST_TARGET),))
            for name, values in islice(rows, PANELS)
        )

    @property
    def changed(self) -> str:
        """What changes, of a single target."""
        return name_of_prediction(self.targets[0] if self.targets else "", self.log_odds)


def name_of_prediction(target: str, log_odds: bool) -> str:
    """Name what a coefficient changes, of one of several targets if it is named."""
    what = ("score" if target else "log odds") if log_odds else "prediction"
    return f"{what} of {target}" if target else what


def describe_coefficients(reducer: Any, effects: FloatArray, target: str = "") -> Coefficients:
    """Name the groups that have effects on the only target, on several, or on the one named."""
    names = display_names_of_groups(reducer)[:_COEFFICIENTS_SHOWN]
    return Coefficients(
        tuple(shown(name, LONGEST_NAME) for name in names),
        effects[..., :_COEFFICIENTS_SHOWN],
        int(reducer.n_groups_),
        tuple(reducer.target_names_) if effects.ndim > 1 else (target,) if target else (),
        reducer._targets.classes is not None,
    )


def effect_of_features(reducer: Any, coef: FloatArray) -> FloatArray:
    """Return the change in the prediction per standard deviation of each feature."""
    expanded, _ = reducer.expand_coefficients(coef)
    return np.asarray(expanded * reducer.scale_)


def effect_of_groups(reducer: Any, coef: FloatArray, train: Observations | None) -> FloatArray:
    """Return the change in the prediction per standard deviation of each reduced feature."""
    if train is None or not train.missing:
        return np.asarray(coef * reducer._scale_of_means())
    values = train.reduced(reducer).astype(np.float64)
    center = np.average(values, axis=0, weights=train.weights)
    square = np.average((values - center) ** 2, axis=0, weights=train.weights)
    n = reducer.n_samples_
    return np.asarray(coef * np.sqrt(square * n / (n - 1)))


def find_oppositions(
    reducer: Any, weights: FloatArray, train: Observations | None, target: int = 0
) -> dict[int, Opposition]:
    """Find the groups whose weight and correlation with a target have opposite signs."""
    # A correlation with the target is r_g = Σ_h β_h ρ_gh for least squares: the group's own weight
    # and what others contribute, of which the largest part of the sign of r_g is named.
    r = reducer.cohesion_["target_correlation"].reshape(reducer.n_groups_, -1)[:, target]
    beta = weights / unit_of_targets(reducer)[target]
    opposing = np.flatnonzero(opposite_signs(r, beta, reducer.n_samples_))
    result = {int(number): Opposition(-1, "", np.nan) for number in opposing}
    if train is None or opposing.size == 0:
        return result
    opposing = opposing[np.argsort(-np.abs(beta[opposing]), kind="stable")[:_OPPOSITIONS]]
    values = train.reduced(reducer).astype(np.float64)
    counts = np.ones(len(values)) if train.weights is None else train.weights
    values -= counts @ values / counts.sum()
    norms = np.sqrt(counts @ values**2)
    values /= np.where(norms > 0, norms, 1.0)
    rho = (counts[:, None] * values[:, opposing]).T @ values
    rho[np.arange(opposing.size), opposing] = 0
    largest = (np.sign(r[opposing, None]) * beta * rho).argmax(axis=1)
    names = display_names_of_groups(reducer)
    for k, (number, other) in enumerate(zip(opposing.tolist(), largest.tolist(), strict=True)):
        name = shown(names[other], LONGEST_NAME)
        result[number] = Opposition(other, name, float(rho[k, other]))
    return result


def unit_of_targets(reducer: Any) -> FloatArray:
    """Return the standard deviation of each target; 1 for classes, as log odds have none."""
    scale = np.atleast_1d(np.asarray(reducer.target_scale_, dtype=np.float64))
    return scale if reducer._targets.classes is None else np.ones_like(scale)


# Scores on held-out samples


@dataclass(frozen=True)
class RegressionScore:
    """Scores of a regression on all or on the reduced features."""

    method: str
    features: str
    n_features: int
    r2: Interval
    rmse: Interval | None  # None for the mean over several targets, which differ in unit
    difference: Interval | None  # R² of the reduced features minus this; None for these


@dataclass(frozen=True)
class TargetScores:
    """Scores of the regressions for one of several targets."""

    target: str
    rows: tuple[RegressionScore, ...]


@dataclass(frozen=True)
class Predictions:
    """Predictions from the reduced features, of some test samples and the first targets."""

    targets: tuple[str, ...]  # with their units; "" for a single one without a name
    measured: FloatArray  # of shape (n, len(targets))
    predicted: FloatArray
    n_samples: int  # how many there are, of which these are shown
    n_targets: int
    r2: FloatArray  # of all samples, one per target, as in the scores


@dataclass(frozen=True)
class RegressionScores:
    """Regressions on all features and on the reduced ones, on samples that neither has seen."""

    rows: tuple[RegressionScore, ...]  # rivals on all features, then the reduced features
    n_train: int
    n_test: int
    how: str  # what was done, in a sentence or two
    targets: tuple[TargetScores, ...] = ()  # each of several, of which the rows above are the mean
    predictions: Predictions | None = field(default=None, compare=False)  # as arrays cannot

    @property
    def best_rival(self) -> RegressionScore | None:
        """The regression on all features with the largest R²; None without any."""
        return max(self.rows[:-1], key=lambda row: row.r2.value, default=None)

    @property
    def worse_than_mean(self) -> bool:
        """Whether the mean of the target, or of one of several, predicts better."""
        return bool(self.worse_targets) or self.rows[-1].r2.value < 0

    @property
    def worse_targets(self) -> list[TargetScores]:
        """Those of several whose mean predicts better than the reduced features."""
        return [each for each in self.targets if each.rows[-1].r2.value < 0]


HeldOutScores: TypeAlias = RegressionScores | ClassScores


def score_model(
    model: Any,
    *,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    ordered: bool = False,
    groups: tuple[Any, Any] = (None, None),
) -> HeldOutScores | None:
    """Score a fitted model and nothing else; see :func:`collect_findings`."""
    reducer = fitted_reducer(model)
    train = open_training(model, X, y, groups=groups[0])
    test = open_samples(model, X_test, y_test, ("X_test", "y_test"), groups=groups[1])
    return score(model, reducer, fit_regression(model, reducer, train), train, test, ordered)


def score(
    model: Any,
    reducer: Any,
    regression: Any,
    train: Observations | None,
    test: Observations | None,
    ordered: bool,
    block_length: int | str | None = None,
) -> HeldOutScores | None:
    """Score the model and its rivals on the test samples; None without any.

    Without training data all regressions are cross-validated within the test samples.
    """
    if test is None:
        return None
    n_test, ordered = len(test.y), ordered or test.dates is not None
    if train is None and n_test < _FEWEST_FOR_FOLDS:
        raise ValueError(
            f"X_test has {n_test} samples, but cross-validation needs at least "
            f"{_FEWEST_FOR_FOLDS}. Pass the training data too, as X and y."
        )
    if train is None and test.dates is not None and test.dates.ranks[-1] < _FOLDS - 1:
        raise ValueError(
            f"X_test has {test.dates.ranks[-1] + 1} different dates, but cross-validation needs at "
            f"least {_FOLDS}. Pass the training data too, as X and y."
        )
    n_train = n_test - -(-n_test // _FOLDS) if train is None else len(train.y)
    fitted_to = test if train is None else train
    width = int((reducer.labels_ >= 0).sum())
    # Without training data all is fitted anew in each fold of the test samples.
    outer = [] if train is not None else _outer_folds(test, ordered)
    blocks = ordered or isinstance(getattr(model, "cv_", None), BlockKFold)
    inner, folds = tuning_folds(None if train is None else model, fitted_to, blocks)
    sizes = n_train, width, max(len(outer), 1), len(inner)
    rivals, left_out = choose_rivals(model, fitted_to, *sizes)

    def all_features(samples: Observations) -> npt.NDArray[Any]:
        # In the units of the reduced features, which a penalty of one's own depends on.
        own = getattr(model, "estimator", None)
        standardized = own is None or reducer.units == "standardized"
        return samples.standardized(reducer) if standardized else samples.filled(reducer)

    predictions = []
    for rival in rivals:
        try:
            if train is None:
                values = _cross_predict(rival, all_features(test), test, outer, blocks)
            else:
                values = _fit_predict(rival, all_features(train), train, inner, all_features(test))
        except ValueError as error:  # such as folds of few samples that lack a class
            left_out.append(f"{rival.title} failed: {error}")
            continue
        predictions.append(Predicted(rival.name, ALL, width, values, rival.probabilities))
    on_reduced, reduced = _on_reduced(model, test.targets), test.reduced(reducer)
    if train is None:
        values = _cross_predict(Rival("", lambda _: on_reduced), reduced, test, outer, blocks)
    else:
        values = _predicted(regression, reduced, test.targets)
    n_groups = int(reducer.n_groups_)
    predictions.append(Predicted(method_of(model), REDUCED, n_groups, values))
    weighted = train is not None and train.weights is not None
    length = length_of_blocks(block_length, _errors(test.y, test.targets, values), ordered)
    drawn = Drawn(length, test.groups)
    how = _describe_scoring(model, None if train is None else n_train, n_test, drawn, weighted)
    how += describe_rivals([each.method for each in predictions[:-1]], left_out, folds)
    if any(samples is not None and samples.missing for samples in (train, test)):
        how += (
            " Regressions on all features need complete data: missing values were replaced by "
            "training means, as are reduced features of which all members are missing."
        )
    return _held_out(test.y, test.targets, predictions, n_train, how, drawn)


def method_of(model: Any) -> str:
    """Name the regression on the reduced features."""
    own = getattr(model, "estimator", None)
    if fitted_reducer(model)._targets.classes is not None:
        return LOGISTIC
    if own is not None:
        return type(own).__name__
    return LEAST_SQUARES if getattr(model, "penalty_", None) is None else RIDGE


def _on_reduced(model: Any, targets: Targets) -> Any:
    """Return what to fit to the reduced features; None for least squares."""
    own, penalty = getattr(model, "estimator", None), getattr(model, "penalty_", None)
    if targets.classes is not None:
        return TunedLogistic() if penalty is None else PenalizedLogistic(penalty)
    return own if penalty is None else model._final(fitted_reducer(model)._constraint())


def _fit_predict(
    rival: Rival,
    X: npt.NDArray[Any],
    samples: Observations,
    parts: list[Any],
    new: npt.NDArray[Any],
) -> FloatArray:
    """Fit a rival to features of samples, tuned on parts of these, and predict from new ones."""
    targets, estimator = samples.targets, rival.make(parts)
    with warnings.catch_warnings():
        # Components beyond the last that matters, or too many for a fold.
        for category in (UserWarning, FitFailedWarning):
            warnings.simplefilter("ignore", category)
        if rival.scaled:
            return fit_scaled(estimator, X, samples.y, samples.weights)(new).reshape(len(new), -1)
        fitted = fit_linear(estimator, X, samples.y, samples.weights, samples.precision)
    if not rival.probabilities and targets.classes is not None:
        return np.asarray(fitted.predict(new)[:, None] == targets.classes, dtype=np.float64)
    return _predicted(fitted, new, targets)


def _outer_folds(samples: Observations, ordered: bool) -> list[Any]:
    kind: Callable[..., Any] = KFold if samples.targets.classes is None else StratifiedKFold
    folds = BlockKFold(_FOLDS) if ordered else kind(_FOLDS, shuffle=True, random_state=0)
    return split_samples(folds, samples)


def _cross_predict(
    rival: Rival, X: npt.NDArray[Any], samples: Observations, folds: list[Any], blocks: bool
) -> FloatArray:
    """Predict each sample by a regression fitted to other folds, tuned on parts of these."""
    targets = samples.targets
    width = targets.size if targets.classes is None else targets.classes.size
    predicted = np.empty((len(samples.y), width))
    for train, test in folds:
        own = samples.take(train)
        parts, _ = tuning_folds(None, own, blocks)
        predicted[test] = _fit_predict(rival, X[train], own, parts, X[test])
    return predicted


def _predicted(fitted: Any, X: npt.NDArray[Any], targets: Targets) -> FloatArray:
    """Return predictions, one column for each target, or the probability of each class."""
    if targets.classes is not None:
        return probabilities(fitted, X, targets.classes)
    return np.asarray(fitted.predict(X), dtype=np.float64).reshape(len(X), -1)


def score_on_reduced(
    model: Any,
    regression: Any,
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    *,
    ordered: bool,
    groups: Any = None,
) -> HeldOutScores:
    """Score a regression on the reduced features X of test samples, and on nothing else."""
    reducer = fitted_reducer(model)
    targets = reducer._targets
    if groups is not None:
        order = np.argsort(groups, kind="stable")
        X, y, groups = X[order], y[order], np.unique(groups[order], return_inverse=True)[1]
    values = _predicted(regression, X, targets)
    n_train = int(reducer.n_samples_)
    drawn = Drawn(length_of_blocks(None, _errors(y, targets, values), ordered), groups)
    how = f"{_describe_scoring(model, n_train, len(y), drawn)} {WITHOUT_RIVALS}"
    given = [Predicted(method_of(model), REDUCED, int(reducer.n_groups_), values)]
    return _held_out(y, targets, given, n_train, how, drawn)


def _errors(y: npt.NDArray[Any], targets: Targets, predicted: FloatArray) -> FloatArray:
    """Return the errors of predictions, one column for each target or class."""
    if targets.classes is not None:
        return np.asarray((y[:, None] == targets.classes) - predicted)
    return np.asarray(y.reshape(len(y), -1) - predicted)


def _held_out(
    y: npt.NDArray[Any],
    targets: Targets,
    given: list[Predicted],
    n_train: int,
    how: str,
    drawn: Drawn,
) -> HeldOutScores:
    """Score predictions of rivals from all features, where there are any, and of the model."""
    if targets.classes is not None:
        return score_classes(y, targets.classes, given, n_train, how, drawn)
    y = y.reshape(len(y), -1)
    by_target, r2s = [], []
    for k, target in enumerate(targets.labels):
        r2, rmse = _score_predictions(y[:, k], [each.values[:, k] for each in given], drawn)
        by_target.append(TargetScores(target, _scored(given, r2, rmse)))
        r2s.append(r2)
    some = np.unique(np.linspace(0, len(y) - 1, min(len(y), _POINTS_SHOWN)).round().astype(int))
    first = np.arange(min(targets.size, PANELS))
    shown_part = np.ix_(some, first)
    pictured = Predictions(
        tuple(title_of_target(targets, k) for k in first.tolist()),
        y[shown_part],
        given[-1].values[shown_part],
        len(y),
        targets.size,
        np.array([by_target[k].rows[-1].r2.value for k in first]),
    )
    if targets.size == 1:
        return RegressionScores(by_target[0].rows, n_train, len(y), how, predictions=pictured)
    return RegressionScores(
        _scored(given, np.mean(r2s, axis=0), None),
        n_train,
        len(y),
        how,
        tuple(by_target),
        pictured,
    )


def _scored(
    given: list[Predicted], r2: FloatArray, rmse: FloatArray | None
) -> tuple[RegressionScore, ...]:
    last = len(given) - 1
    return tuple(
        RegressionScore(
            each.method,
            each.features,
            each.n_features,
            interval(r2[:, k]),
            None if rmse is None else interval(rmse[:, k]),
            None if k == last else interval(r2[:, last] - r2[:, k]),
        )
        for k, each in enumerate(given)
    )


def _score_predictions(
    y: FloatArray, predictions: list[FloatArray], drawn: Drawn
) -> tuple[FloatArray, FloatArray]:
    """Return R² and RMSE of predictions: on all samples, then on the same bootstrap samples."""
    unit = float(np.abs(y - y.mean()).max())  # squares of extreme numbers would be 0 or infinite
    centered = (y - y.mean()) / unit
    errors = [(y - each) / unit for each in predictions]
    squares = [error**2 for error in errors]
    sums = resampled_sums(
        np.column_stack([np.ones(len(y)), centered, centered**2, *squares]), drawn
    )
    n = sums[:, :1]  # which differs where groups of different sizes are drawn
    variation = sums[:, 2:3] - sums[:, 1:2] ** 2 / n
    r2 = 1 - sums[:, 3:] / np.where(variation > 0, variation, np.nan)
    return np.asarray(r2), np.asarray(unit * np.sqrt(sums[:, 3:] / n))


def _describe_scoring(
    model: Any, n_train: int | None, n_test: int, drawn: Drawn, weighted: bool = False
) -> str:
    method, own = method_of(model), getattr(model, "estimator", None)
    penalized = method == LOGISTIC or getattr(model, "penalty_", None) is not None
    text = f"This model: {method if own is None else repr(own)} on the reduced features"
    text += ", its penalty chosen by cross-validation. " if penalized else ". "
    if n_train is None:
        text += (
            f"Regressions were cross-validated in {_FOLDS} folds on {n_test} samples not used to "
            "find the groups."
        )
    else:
        text += f"Fitted to {n_train} samples and scored on {n_test} others"
        text += ", with the sample weights of the fit." if weighted else "."
    count, what = drawn.units(n_test)
    if count < FEWEST_FOR_INTERVALS:
        return f"{text} {count} {what} are too few for intervals."
    return (
        f"{text} Brackets: {LEVEL} % bootstrap interval ({RESAMPLES} resamples of the test "
        f"set{drawn.words})."
    )


# Scores along a path


@dataclass(frozen=True)
class Curve:
    """Scores of one strategy at several numbers of groups; errors are NaN where unknown."""

    strategy: str
    n_groups: FloatArray
    score: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class ScorePath:
    """Scores against the number of groups."""

    curves: tuple[Curve, ...]
    chosen: tuple[float, float]  # number of groups and score; of a search, means over its folds
    chosen_name: str  # label of that point
    x_name: str  # what its number of groups is
    score_name: str  # larger is better
    how: str  # what was done, in a sentence or two


def score_path(
    model: Any,
    reducer: Any,
    train: Observations | None,
    test: Observations | None,
    regression: Any = None,
) -> ScorePath | None:
    """Return the scores of a search, or along the path of merges, if there is either."""
    if hasattr(model, "cv_results_"):
        return _search_path(model)
    if train is None or test is None or not hasattr(reducer, "merge_path_"):
        return None
    estimator = None
    if test.targets.classes is not None:  # one penalty for all, that of this model
        regression = regression or fit_regression(model, reducer, train)
        estimator = PenalizedLogistic(regression.penalty)
    return _merge_path(reducer, train, test, estimator)


def _search_path(model: Any) -> ScorePath:
    results = model.cv_results_
    columns = (results["mean_n_groups"], results["mean_test_score"], standard_errors(results))
    ways = scored_ways(results)
    curves = []
    for strategy in dict.fromkeys(results["strategy"]):
        rows = ways[results["strategy"][ways] == strategy]
        rows = rows[np.argsort(results["mean_n_groups"][rows], kind="stable")]
        curves.append(Curve(str(strategy), *(column[rows] for column in columns)))
    best = model.best_index_
    mean = f"{columns[0][best]:.3g}"
    penalty = ", each with its best penalty" if "penalty" in results else ""
    blocks = folds_in_words(getattr(model, "cv_", None))
    return ScorePath(
        tuple(curves),
        (float(columns[0][best]), float(columns[1][best])),
        f"chosen: {mean} group{'s' * (mean != '1')} on average",
        "number of groups, mean over the folds",
        score_name(model),
        f"Ways of merging{penalty}: means over the cross-validation folds of the training data"
        f"{f' ({blocks})' if blocks else ''}; "
        "bars: one standard error. The marked combination was chosen: it has "
        f"{count(model.n_groups_, 'group')} when fitted to all training data, and {mean} on "
        "average over the folds.",
    )


def scored_ways(results: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.intp]:
    """Return the row of the best penalty for each way of merging that was tried."""
    ways = best_penalties(results)
    return np.asarray(ways[np.isfinite(results["mean_test_score"][ways])])


def score_name(model: Any) -> str:
    """Name the score of a search, larger is better."""
    scoring = model.scoring
    if scoring is None:
        return "negative log loss" if model._kind == "classes" else "R² (errors truncated)"
    name = scoring if isinstance(scoring, str) else "score"
    return name.replace("neg_", "negative ").replace("_", " ")


def _merge_path(reducer: Any, train: Observations, test: Observations, estimator: Any) -> ScorePath:
    kind, name, scored = "Linear", "R²", r2_score
    if estimator is not None:
        kind, name, scored = "Logistic", "accuracy", accuracy_score
    if test.targets.size > 1 and estimator is None:
        name = "mean R² of the targets"
    merges = reducer.merge_path_
    most = int((reducer.labels_ >= 0).sum())
    fewest = most - merges.size
    finest = max(fewest, min(most, _MOST_GROUPS, max(len(train.y) - 2, 1)))
    finest = max(finest, reducer.n_groups_)
    numbers = np.geomspace(fewest, finest, _PATH_STEPS).round().astype(int)
    numbers = np.unique(np.append(numbers, reducer.n_groups_))
    # The mean of a group is the weighted mean of its parts' means: X is read only once. Not so with
    # missing values, where it is the mean of the members present.
    gaps = train.missing or test.missing
    fine = reducer.cut(n_groups=finest)
    parts = [] if gaps else [samples.reduced(fine) for samples in (train, test)]
    totals = np.array([reducer.feature_weights_[group].sum() for group in fine.groups_])
    firsts = np.array([group[0] for group in fine.groups_])
    scores = []
    for number in numbers.tolist():
        cut = reducer.cut(n_groups=number)
        if gaps:
            X, X_test = (samples.reduced(cut) for samples in (train, test))
        else:
            membership = np.zeros((totals.size, number))
            membership[np.arange(totals.size), cut.labels_[firsts]] = totals
            membership *= cut.signs_[firsts, None] / membership.sum(axis=0)
            X, X_test = (np.asarray(part @ membership) for part in parts)
        fitted = fit_linear(estimator, X, train.y, train.weights, train.precision)
        scores.append(scored(test.y, fitted.predict(X_test)))
    r2 = np.array(scores)
    return ScorePath(
        (Curve(reducer.strategy, numbers.astype(float), r2, np.full(len(r2), np.nan)),),
        (float(reducer.n_groups_), float(r2[numbers == reducer.n_groups_][0])),
        f"this model: {count(reducer.n_groups_, 'group')}",
        "number of groups",
        name,
        f"{kind} regressions fitted to {len(train.y)} samples and scored on {len(test.y)} others, "
        "for different cuts of the merge path. The marked model was not chosen by these scores.",
    )
