"""Findings on classes: how often, and how surely, the right one is predicted."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import log_softmax
from sklearn.metrics import auc, confusion_matrix, roc_curve
from sklearn.model_selection import check_cv

from .._data._names import shown
from .._lincfa_classifier_cv import LinCFAClassifierCV
from .._model._logistic import PenalizedLogistic, logistic_path
from .._search._folds import stratified_folds
from ..theory._arrays import FloatArray
from ._intervals import Drawn, Interval, interval, resampled_sums

MOST_FREQUENT = "most frequent class"
CURVES = 6
_POINTS = 200  # of one curve
_LONGEST_LABEL = 40


class TunedLogistic(PenalizedLogistic):
    """Logistic regression with the penalty that predicts held-out samples best, by log loss."""

    def __init__(self, penalty: float = 1e-3, cv: Any = None) -> None:
        super().__init__(penalty)
        self.cv = cv  # as in scikit-learn; None for stratified folds

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose the penalty by cross-validation and fit the weights.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), default=None
        """
        classes, codes = np.unique(y, return_inverse=True)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        penalties = LinCFAClassifierCV._penalties
        total = np.zeros(len(penalties))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="The least populated class")
            folds = stratified_folds(codes) if self.cv is None else check_cv(self.cv)
            parts = list(folds.split(X, codes))
        for train, test in parts:
            found = logistic_path(X[train], codes[train], len(classes), penalties, weights[train])
            for k, (coef, intercept) in enumerate(zip(*found, strict=True)):
                logs = log_softmax(X[test] @ coef + intercept, axis=1)
                total[k] += weights[test] @ logs[np.arange(len(test)), codes[test]]
        self.penalty = float(penalties[int(total.argmax())])
        return super().fit(X, y, sample_weight)


def probabilities(fitted: Any, X: npt.NDArray[Any], classes: npt.NDArray[Any]) -> FloatArray:
    """Return the probability of each class; 0 for those that were not among the labels of a fit."""
    result = np.zeros((len(X), len(classes)))
    result[:, np.searchsorted(classes, fitted.classes_)] = fitted.predict_proba(X)
    return result


@dataclass(frozen=True)
class Predicted:
    """What a method predicts from which features."""

    method: str
    features: str
    n_features: int
    values: FloatArray  # a column for each target, or the probability of each class
    probabilities: bool = True  # False if these are 0 and 1, of a method that has none


@dataclass(frozen=True)
class ClassifierScore:
    """Scores of a classifier on all or on the reduced features, or on none."""

    method: str
    features: str
    n_features: int
    accuracy: Interval
    log_loss: Interval | None  # None for a method without probabilities
    difference: Interval | None  # accuracy of the reduced features minus this; None for these


@dataclass(frozen=True)
class Confusion:
    """How many samples of each class are predicted to be of which."""

    classes: tuple[str, ...]
    counts: npt.NDArray[np.intp]  # one row for each class, one column for each prediction


@dataclass(frozen=True)
class RocCurve:
    """Share of a class that is found, against the share of others that are taken for it."""

    label: str
    false_positive: FloatArray
    true_positive: FloatArray
    area: float


@dataclass(frozen=True)
class Roc:
    """Such a curve for the second of two classes, or for each class against the rest."""

    curves: tuple[RocCurve, ...]  # of the most frequent classes
    n_curves: int  # how many there could be


@dataclass(frozen=True)
class ClassScores:
    """Predictions of classes from all features and from the reduced ones, of unseen samples."""

    rows: tuple[ClassifierScore, ...]  # no features, rivals on all of them, the reduced features
    most_frequent: str  # of the test samples
    n_train: int
    n_test: int
    how: str  # what was done, in a sentence or two
    confusion: Confusion  # of the predictions from the reduced features
    roc: Roc

    @property
    def best_rival(self) -> ClassifierScore | None:
        """The classifier on all features with the largest accuracy; None without any."""
        return max(self.rows[1:-1], key=lambda row: row.accuracy.value, default=None)

    @property
    def no_better_than_most_frequent(self) -> bool:
        """Whether to predict always the same class is right as often."""
        return self.rows[-1].accuracy.value <= self.rows[0].accuracy.value


def score_classes(
    y: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    given: Sequence[Predicted],
    n_train: int,
    how: str,
    drawn: Drawn,
) -> ClassScores:
    """Score probabilities of classes, those from the reduced features last."""
    codes = np.searchsorted(classes, y)
    shares = np.bincount(codes, minlength=len(classes)) / len(codes)
    constant = np.tile(shares, (len(codes), 1))
    given = [Predicted(MOST_FREQUENT, "no features", 0, constant), *given]
    own = np.arange(len(codes)), codes
    tiny = np.finfo(np.float64).eps
    right = [each.values.argmax(axis=1) == codes for each in given]
    losses = [-np.log(np.clip(each.values[own], tiny, 1 - tiny)) for each in given]
    one = np.ones(len(codes))
    sums = resampled_sums(np.column_stack([one, *right, *losses]).astype(float), drawn)
    accuracy, loss = np.hsplit(sums[:, 1:] / sums[:, :1], 2)
    last = len(given) - 1
    rows = tuple(
        ClassifierScore(
            each.method,
            each.features,
            each.n_features,
            interval(accuracy[:, k]),
            interval(loss[:, k]) if each.probabilities else None,
            None if k == last else interval(accuracy[:, last] - accuracy[:, k]),
        )
        for k, each in enumerate(given)
    )
    return ClassScores(
        rows,
        _labels(classes)[int(shares.argmax())],
        n_train,
        len(codes),
        how,
        confuse(y, classes[given[-1].values.argmax(axis=1)], classes),
        trace_roc(y, given[-1].values, classes),
    )


def confuse(
    y: npt.NDArray[Any], predicted: npt.NDArray[Any], classes: npt.NDArray[Any]
) -> Confusion:
    """Count the samples of each class and prediction."""
    return Confusion(_labels(classes), confusion_matrix(y, predicted, labels=classes))


def trace_roc(y: npt.NDArray[Any], p: FloatArray, classes: npt.NDArray[Any]) -> Roc:
    """Trace the curves of the classes that samples are of, given the probability of each class."""
    wanted = [1] if len(classes) == 2 else range(len(classes))
    counts = np.array([int((y == label).sum()) for label in classes])
    there = [k for k in wanted if 0 < counts[k] < len(y)]
    kept = sorted(sorted(there, key=lambda k: -counts[k])[:CURVES])
    curves = []
    for k in kept:
        false, true, _ = roc_curve(y == classes[k], p[:, k])
        some = np.linspace(0, false.size - 1, min(false.size, _POINTS)).round().astype(int)
        area = float(auc(false, true))
        curves.append(RocCurve(_labels(classes)[k], false[some], true[some], area))
    return Roc(tuple(curves), len(there))


def _labels(classes: npt.NDArray[Any]) -> tuple[str, ...]:
    return tuple(shown(str(label), _LONGEST_LABEL) for label in classes.tolist())
