"""Rivals of a model: regressions on all features, tuned on the same training samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import RidgeCV

from .._model._observations import Observations
from .._search._folds import default_splitter, divide, folds_in_words
from ..baselines import RIDGES, pls, pls_discriminant, ridge
from ..theory._arrays import FloatArray
from ..timeseries import BlockKFold
from ._classes import TunedLogistic

LEAST_SQUARES, RIDGE, PLS = "least squares", "ridge regression", "PLS"
LOGISTIC, PLS_DA = "logistic regression", "PLS-DA"

_LONGEST = 5.0  # seconds that a rival may take, on one core
# As measured, seconds of one fit: for n·D·min(n, D) by singular values, with 23 penalties one by
# one where samples have weights; and for n·D, all components or penalties, of a target or class.
_DECOMPOSED, _WEIGHTED, _ITERATED = 2e-10, 5e-10, 2e-7


@dataclass(frozen=True)
class Rival:
    """A regression on all features, and how to make one that is tuned on given folds."""

    name: str
    make: Callable[[Any], Any]  # None for least squares
    seconds: float = 0.0  # that it takes, about
    takes_weights: bool = True
    scaled: bool = False  # whether it is fitted to targets of standard deviation 1
    probabilities: bool = True  # of classes; else it only predicts which

    @property
    def title(self) -> str:
        """The name, to begin a sentence."""
        return f"{self.name[0].upper()}{self.name[1:]}"


def choose_rivals(
    model: Any, samples: Observations, n: int, width: int, outer: int, inner: int
) -> tuple[list[Rival], list[str]]:
    """Return the rivals of a model, and sentences on those that are left out.

    Each is fitted to n samples of so many features, once or in some outer folds, and before that
    tuned on inner folds.
    """
    own, weighted = getattr(model, "estimator", None), samples.weights is not None
    fits, decomposed = outer * (inner + 1), n * width * min(n, width)
    iterated = _ITERATED * n * width * max(1, samples.targets.size) * fits

    def sized(method: Callable[[int, int, Any], Any]) -> Callable[[Any], Any]:
        """Offer as many components as the smallest training part of any fold allows."""
        return lambda parts: method(5 * min(len(train) for train, _ in parts) // 4, width, parts)

    if samples.targets.classes is not None:
        known = [
            Rival(LOGISTIC, lambda parts: TunedLogistic(cv=parts), iterated),
            Rival(PLS_DA, sized(pls_discriminant), iterated, False, probabilities=False),
        ]
    else:
        make, pace = (_weighted_ridge, _WEIGHTED) if weighted else (ridge, _DECOMPOSED)
        known = [
            Rival(LEAST_SQUARES, lambda _: None, _DECOMPOSED * decomposed * outer),
            Rival(RIDGE, make, pace * decomposed * fits, scaled=True),
            Rival(PLS, sized(pls), iterated, False, scaled=True),
        ]
        if own is not None:
            known[0] = Rival(type(own).__name__, lambda _: own)
    rivals, left_out = [], []
    for rival in known:
        if rival.name == LEAST_SQUARES and width >= n:
            left_out.append(f"{rival.title} needs more samples than features.")
        elif weighted and not rival.takes_weights:
            left_out.append(f"{rival.title} takes no sample weights.")
        elif rival.seconds > _LONGEST:
            left_out.append(f"{rival.title} would take long on {n} samples of {width} features.")
        else:
            rivals.append(rival)
    return rivals, left_out


def _weighted_ridge(parts: Any) -> RidgeCV:
    return RidgeCV(RIDGES, cv=parts, scoring="neg_mean_squared_error")


def tuning_folds(model: Any, samples: Observations, ordered: bool) -> tuple[list[Any], str]:
    """Divide samples as the search did, or as it would by default; also say how."""
    n, classes, dates = len(samples.y), samples.targets.classes, samples.dates
    ranks = np.arange(n * ordered) if dates is None else dates.ranks
    codes = None if classes is None else np.searchsorted(classes, samples.y)
    cv = getattr(model, "cv_", None)  # a model that was loaded from a file has none
    try:
        if cv is None:
            times = ranks if ranks.any() else None  # a single date is no order
            cv = default_splitter(n, codes, dates=times, groups=samples.groups)
        return split_samples(cv, samples), folds_in_words(cv)
    except ValueError as error:  # without the groups that the search was given, or with only one
        if model is None and samples.groups is None:
            raise
        parts, words = tuning_folds(None, replace(samples, groups=None), ordered)
        why = str(error).rstrip(".")
        return parts, f"{words or 'shuffled folds'}, as others were not possible: {why}"


def split_samples(cv: Any, samples: Observations) -> list[Any]:
    """Divide samples into folds, of whole groups, or blocks by their dates."""
    together = samples.groups
    if isinstance(cv, BlockKFold):
        together = None if samples.dates is None else samples.dates.ranks
    return divide(cv, samples.X, samples.y, together)


def fit_scaled(
    estimator: Any, X: npt.NDArray[Any], y: FloatArray, weights: FloatArray | None
) -> Callable[[npt.NDArray[Any]], FloatArray]:
    """Fit a regression to targets in standard deviations; return what predicts the targets."""
    center, largest = y.mean(axis=0), np.abs(y - y.mean(axis=0)).max(axis=0)
    unit = largest * ((y - center) / largest).std(axis=0)  # squares of extreme numbers overflow
    options = {} if weights is None else {"sample_weight": weights}
    estimator.fit(X.astype(np.float64, copy=False), (y - center) / unit, **options)
    return lambda new: np.asarray(
        np.reshape(estimator.predict(new), (len(new), *y.shape[1:])) * unit + center
    )


def describe_rivals(rivals: Sequence[str], left_out: Sequence[str], folds: str) -> str:
    """State how the rivals were tuned, and which are missing."""
    tuned = " and ".join(name for name in rivals if name in (RIDGE, PLS, LOGISTIC, PLS_DA))
    text = f" Not compared: {' '.join(left_out)}" if left_out else ""
    if not tuned:
        return text
    return (
        f" {tuned[0].upper()}{tuned[1:]} {'were' if ' and ' in tuned else 'was'} tuned by "
        f"cross-validation on the training samples alone{f' ({folds})' if folds else ''}.{text}"
    )
