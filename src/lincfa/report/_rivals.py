"""Rivals of a model: regressions on all features, tuned on the same training samples."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold

from .._search._folds import default_folds, folds_in_words, ordered_folds, stratified_folds
from ..baselines import RIDGES, pls, pls_discriminant, ridge
from ..theory._arrays import FloatArray
from ..timeseries import BlockKFold
from ._classes import TunedLogistic
from ._inputs import Observations

LEAST_SQUARES, RIDGE, PLS = "least squares", "ridge regression", "PLS"
LOGISTIC, PLS_DA = "logistic regression", "PLS-DA"

# Multiplications that take about five seconds on one core.
_DECOMPOSED = 2.5e10  # n·D·min(n, D) in all folds
_ITERATED = 5e7  # n·D in all folds, for each target or class


@dataclass(frozen=True)
class Rival:
    """A regression on all features, and how to make one that is tuned on given folds."""

    name: str
    make: Callable[[Any], Any] | None  # None for least squares
    scaled: bool = False  # whether it is fitted to targets of standard deviation 1
    probabilities: bool = True  # of classes; else it only predicts which


def choose_rivals(
    model: Any, samples: Observations, n: int, width: int, folds: int
) -> tuple[list[Rival], list[str]]:
    """Return the rivals of a model, and sentences on those that are left out.

    Each is fitted to n samples of so many features in a number of folds, all in all.
    """
    classes, weighted = samples.targets.classes, samples.weights is not None
    own, left_out = getattr(model, "estimator", None), []
    slow = f"would take long on {n} samples of {width} features"
    iterated = n * width * folds * max(1, samples.targets.size)
    if classes is not None:
        rivals = [Rival(LOGISTIC, lambda parts: TunedLogistic(cv=parts))]
        if weighted:
            left_out.append(f"{PLS_DA} takes no sample weights.")
        elif iterated > _ITERATED:
            left_out.append(f"{PLS_DA} {slow}.")
        else:
            rivals.append(Rival(PLS_DA, _sized(pls_discriminant, width), probabilities=False))
        return rivals, left_out
    rivals = []
    decomposed = n * width * min(n, width)
    if own is not None:
        rivals.append(Rival(type(own).__name__, lambda parts: own))
    elif width >= n:
        left_out.append("Least squares needs more samples than features.")
    elif decomposed > _DECOMPOSED / 6:
        left_out.append(f"Least squares {slow}.")
    else:
        rivals.append(Rival(LEAST_SQUARES, None))
    if decomposed * folds > _DECOMPOSED:
        left_out.append(f"Ridge regression {slow}.")
    elif weighted:
        options = {"scoring": "neg_mean_squared_error"}
        rivals.append(Rival(RIDGE, lambda parts: RidgeCV(RIDGES, cv=parts, **options), scaled=True))
    else:
        rivals.append(Rival(RIDGE, ridge, scaled=True))
    if weighted:
        left_out.append(f"{PLS} takes no sample weights.")
    elif iterated > _ITERATED:
        left_out.append(f"{PLS} {slow}.")
    else:
        rivals.append(Rival(PLS, _sized(pls, width), scaled=True))
    return rivals, left_out


def _sized(method: Callable[[int, int, Any], Any], width: int) -> Callable[[Any], Any]:
    """Offer as many components as the smallest training part of any fold allows."""
    return lambda parts: method(5 * min(len(train) for train, _ in parts) // 4, width, parts)


def tuning_folds(model: Any, samples: Observations, ordered: bool) -> Any:
    """Return what divides training samples as the search did, or as it would by default."""
    cv = getattr(model, "cv_", None)  # a model that was loaded from a file has none
    if cv is not None:
        return cv
    classes, dates = samples.targets.classes, samples.dates
    if classes is not None:
        return stratified_folds(np.searchsorted(classes, samples.y))
    if dates is not None:
        return ordered_folds(int(dates.ranks[-1]) + 1)
    return ordered_folds(len(samples.y)) if ordered else default_folds(len(samples.y))


def split_samples(cv: Any, samples: Observations) -> list[Any]:
    """Divide samples into folds, of whole groups, or blocks by their dates."""
    ranks = samples.groups if isinstance(cv, GroupKFold | StratifiedGroupKFold) else None
    if isinstance(cv, BlockKFold) and samples.dates is not None:
        ranks = samples.dates.ranks
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            return list(cv.split(samples.X, samples.y, ranks))
        except ValueError:  # it needs the groups that the search was given
            return list(default_folds(len(samples.y)).split(samples.X))


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


def describe_rivals(rivals: Sequence[str], left_out: Sequence[str], cv: Any) -> str:
    """State how the rivals were tuned, and which are missing."""
    tuned = [name for name in rivals if name in (RIDGE, PLS, LOGISTIC, PLS_DA)]
    text = ""
    if tuned:
        folds = folds_in_words(cv)
        text = (
            f" {' and '.join(tuned)} {'was' if len(tuned) == 1 else 'were'} tuned by "
            f"cross-validation on the training samples alone{f' ({folds})' if folds else ''}."
        )
        text = f" {text[1].upper()}{text[2:]}"
    return text + (f" Not compared: {' '.join(left_out)}" if left_out else "")
