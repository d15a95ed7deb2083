"""How well all features and the reduced ones predict samples that were not used for fitting."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import KFold

from ..theory._arrays import FloatArray
from ._samples import Samples

_RESAMPLES = 1000
_RESAMPLED_VALUES = 2**22
_LEVEL = 95
_FOLDS = 5
_FEWEST_FOR_FOLDS = 20
_LARGEST_PROBLEM = 3e9
"""Samples times features times the smaller of the two, up to which LAPACK's least squares take
seconds."""
_VANISHING = {8: 1e-11, 4: 1e-5}
"""Share of a feature's variance that is above the rounding of sums, by the bytes of a number."""


@dataclass(frozen=True)
class Interval:
    """A figure and the interval that holds its true value in 95 of 100 cases."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class RegressionScore:
    """The scores of a regression on some choice of features."""

    features: str
    n_features: int
    r2: Interval
    rmse: Interval


@dataclass(frozen=True)
class Scores:
    """Regressions on all features and on the reduced ones, on samples that neither has seen.

    Attributes
    ----------
    rows : tuple of RegressionScore
        All features, then the reduced ones.
    r2_difference : Interval
        R² on the reduced features minus R² on all.
    n_train, n_test : int
        Samples that the regressions were fitted to, and scored on.
    how : str
        What was done, in a sentence or two.
    """

    rows: tuple[RegressionScore, ...]
    r2_difference: Interval
    n_train: int
    n_test: int
    how: str


def score(
    model: Any, reducer: Any, train: Samples | None, test: Samples | None, ordered: bool
) -> Scores | None:
    """Score on the test samples; None where there are none.

    Without training samples the regressions are cross-validated within the test samples: the groups
    have not seen them, and no regression has seen those that it is scored on.
    """
    if test is None:
        return None
    estimator = getattr(model, "estimator", None)
    if train is None and len(test.y) < _FEWEST_FOR_FOLDS:
        raise ValueError(
            f"X_test has {len(test.y)} samples; to fit and score regressions within them takes at "
            f"least {_FEWEST_FOR_FOLDS}. Give the data of the fit too, as X and y."
        )
    sizes = {
        "all features": int((reducer.labels_ >= 0).sum()),
        "reduced features": int(reducer.n_groups_),
    }
    n_train = len(test.y) - -(-len(test.y) // _FOLDS) if train is None else len(train.y)
    predictions = [
        _predict(estimator, reducer, features, train, test, ordered) for features in sizes
    ]
    r2, rmse = _resampled(test.y, predictions, ordered)
    rows = tuple(
        RegressionScore(features, size, _interval(r2[:, k]), _interval(rmse[:, k]))
        for k, (features, size) in enumerate(sizes.items())
    )
    how = _method(estimator, n_train, len(test.y), train is None, ordered)
    if is_substituted(estimator, n_train, sizes["all features"]):
        penalty = _VANISHING[test.X.dtype.itemsize]
        how += (
            " Least squares on all features would take long here; they have a vanishing penalty, "
            f"{penalty:g} of a feature's variance, which is much faster and predicts alike, unless "
            "features nearly coincide."
        )
    elif estimator is None and sizes["all features"] >= n_train:
        how += (
            " All features are at least as many as the samples; of the many exact fits the one "
            "with the smallest weights is taken."
        )
    return Scores(rows, _interval(r2[:, 1] - r2[:, 0]), n_train, len(test.y), how)


def fit_linear(estimator: Any, X: npt.NDArray[Any], y: FloatArray) -> Any:
    """Fit a clone of an estimator, by default least squares, to features of about equal scale.

    Least squares write into X, so that there is one copy less.
    """
    if is_substituted(estimator, *X.shape):
        return Ridge(_VANISHING[X.dtype.itemsize] * len(y), solver="cholesky", copy_X=False).fit(
            X, y
        )
    return clone(LinearRegression(copy_X=False) if estimator is None else estimator).fit(X, y)


def is_substituted(estimator: Any, n: int, width: int) -> bool:
    """Whether least squares have a vanishing penalty, because they would take minutes."""
    return estimator is None and n * width * min(n, width) > _LARGEST_PROBLEM


def _predict(
    estimator: Any, reducer: Any, features: str, train: Samples | None, test: Samples, ordered: bool
) -> FloatArray:
    """Predict the test samples from all features or from the reduced ones."""

    def represent(samples: Samples) -> npt.NDArray[Any]:
        if features == "all features":
            return samples.standardized(reducer)
        return np.asarray(reducer._average(samples.X))

    X_test = represent(test)
    if train is None:
        return _cross_predict(estimator, X_test, test.y, ordered)
    return np.ravel(fit_linear(estimator, represent(train), train.y).predict(X_test))


def _cross_predict(estimator: Any, X: npt.NDArray[Any], y: FloatArray, ordered: bool) -> FloatArray:
    folds = KFold(_FOLDS) if ordered else KFold(_FOLDS, shuffle=True, random_state=0)
    predicted = np.empty(len(y))
    for train, test in folds.split(X):
        predicted[test] = fit_linear(estimator, X[train], y[train]).predict(X[test]).ravel()
    return predicted


def _resampled(
    y: FloatArray, predictions: list[FloatArray], ordered: bool
) -> tuple[FloatArray, FloatArray]:
    """R² and root mean squared error of each prediction; on all samples, then on draws of them.

    Both predictions are scored on the same draws, so that their difference can be told as well.
    """
    centered = y - y.mean()
    columns = np.column_stack([centered, centered**2, *((y - each) ** 2 for each in predictions)])
    sums = np.vstack([columns.sum(axis=0), *_draws(columns, ordered)])
    n = len(y)
    around = sums[:, 1] - sums[:, 0] ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):  # a draw of equal values has no R²
        r2 = 1 - sums[:, 2:] / np.where(around > 0, around, np.nan)[:, None]
    return r2, np.sqrt(sums[:, 2:] / n)


def _draws(columns: FloatArray, ordered: bool) -> Iterator[FloatArray]:
    """Sums of the columns over rows drawn with replacement; over runs of rows in order of time."""
    random = np.random.default_rng(0)
    n = len(columns)
    run = block_length(n) if ordered else 1
    at_once = max(1, _RESAMPLED_VALUES // n)
    for start in range(0, _RESAMPLES, at_once):
        count = min(at_once, _RESAMPLES - start)
        first = random.integers(n, size=(count, -(-n // run)))
        rows = (first[:, :, None] + np.arange(run)) % n
        yield columns[rows.reshape(count, -1)[:, :n]].sum(axis=1)


def block_length(n: int) -> int:
    """Length of the runs of samples drawn together, where neighbours in time depend."""
    return max(1, int(np.cbrt(n).round()))


def _interval(values: FloatArray) -> Interval:
    """Interval from the value on all samples and those on draws."""
    tail = (100 - _LEVEL) / 2
    draws = values[1:][np.isfinite(values[1:])]
    low, high = np.percentile(draws, [tail, 100 - tail]) if draws.size else (np.nan, np.nan)
    return Interval(float(values[0]), float(low), float(high))


def _method(estimator: Any, n_train: int, n_test: int, within: bool, ordered: bool) -> str:
    regression = "Linear regressions" if estimator is None else f"Regressions by {estimator!r},"
    drawn = f"runs of {block_length(n_test)} consecutive ones" if ordered else "them"
    fitted = (
        f"cross-validated in {_FOLDS} folds on {n_test} samples that the groups were not learned "
        "from"
        if within
        else f"fitted to {n_train} samples and scored on {n_test} others"
    )
    return (
        f"{regression} {fitted}. In brackets the interval that holds 95 % of {_RESAMPLES} draws of "
        f"{drawn} with replacement: what another set of samples to score on may give."
    )
