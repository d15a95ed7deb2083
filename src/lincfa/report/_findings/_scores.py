"""How well all features and the reduced ones predict samples that were not used for fitting."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import KFold

from ...theory._arrays import FloatArray
from ._intervals import Interval, explain_intervals, interval, score_predictions
from ._regression import explain_substitution, fit_linear
from ._samples import Samples

_FOLDS = 5
_FEWEST_FOR_FOLDS = 20


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
        All features, where they are at hand, then the reduced ones.
    r2_difference : Interval or None
        R² on the reduced features minus R² on all; None where only the former are scored.
    n_train, n_test : int
        Samples that the regressions were fitted to, and scored on.
    how : str
        What was done, in a sentence or two.
    """

    rows: tuple[RegressionScore, ...]
    r2_difference: Interval | None
    n_train: int
    n_test: int
    how: str


def score(
    model: Any,
    reducer: Any,
    fitted: Any,
    train: Samples | None,
    test: Samples | None,
    ordered: bool,
) -> Scores | None:
    """Score on the test samples; None where there are none.

    ``fitted`` is the regression on the reduced features that was fitted to the training samples.
    Without training samples the regressions are cross-validated within the test samples: the groups
    have not seen them, and no regression has seen those that it is scored on.
    """
    if test is None:
        return None
    n_test = len(test.y)
    if train is None and n_test < _FEWEST_FOR_FOLDS:
        raise ValueError(
            f"X_test has {n_test} samples; to fit and score regressions within them takes at least "
            f"{_FEWEST_FOR_FOLDS}. Give the data of the fit too, as X and y."
        )
    n_train = n_test - -(-n_test // _FOLDS) if train is None else len(train.y)
    sizes = {
        "all features": int((reducer.labels_ >= 0).sum()),
        "reduced features": int(reducer.n_groups_),
    }
    predictions = [
        _predict_from_all(model, reducer, train, test, ordered),
        _predict_from_reduced(model, reducer, train, fitted, test, ordered),
    ]
    r2, rmse = score_predictions(test.y, predictions, ordered)
    rows = tuple(
        RegressionScore(features, size, interval(r2[:, k]), interval(rmse[:, k]))
        for k, (features, size) in enumerate(sizes.items())
    )
    weighted = train is not None and train.weights is not None
    how = _explain(model, None if train is None else n_train, n_test, ordered, weighted)
    if _estimator(model) is None:
        how += explain_substitution(n_train, sizes["all features"], test.X)
    return Scores(rows, interval(r2[:, 1] - r2[:, 0]), n_train, n_test, how)


def score_reduced(
    model: Any, reducer: Any, fitted: Any, X: npt.NDArray[Any], y: FloatArray, ordered: bool
) -> Scores:
    """Score the reduced features alone: X are those of the test samples."""
    r2, rmse = score_predictions(y, [np.ravel(fitted.predict(X))], ordered)
    n_train, n_test = int(reducer.n_samples_), len(y)
    row = RegressionScore(
        "reduced features", int(reducer.n_groups_), interval(r2[:, 0]), interval(rmse[:, 0])
    )
    return Scores((row,), None, n_train, n_test, _explain(model, n_train, n_test, ordered))


def _predict_from_all(
    model: Any, reducer: Any, train: Samples | None, test: Samples, ordered: bool
) -> FloatArray:
    estimator = _estimator(model)

    def represent(samples: Samples) -> npt.NDArray[Any]:
        # In the units of the reduced features, which a penalty depends on. Least squares do not,
        # but for the weights they call the smallest.
        if estimator is None or reducer.units == "standardized":
            return samples.standardized(reducer)
        return samples.X

    if train is None:
        return _cross_predict(estimator, represent(test), test.y, ordered)
    fitted = fit_linear(estimator, represent(train), train.y, train.weights)
    return np.ravel(fitted.predict(represent(test)))


def _predict_from_reduced(
    model: Any, reducer: Any, train: Samples | None, fitted: Any, test: Samples, ordered: bool
) -> FloatArray:
    X_test = reducer._average(test.X)
    if train is None:
        return _cross_predict(_estimator(model), X_test, test.y, ordered)
    return np.ravel(fitted.predict(X_test))


def _cross_predict(estimator: Any, X: npt.NDArray[Any], y: FloatArray, ordered: bool) -> FloatArray:
    folds = KFold(_FOLDS) if ordered else KFold(_FOLDS, shuffle=True, random_state=0)
    predicted = np.empty(len(y))
    for train, test in folds.split(X):
        predicted[test] = fit_linear(estimator, X[train], y[train]).predict(X[test]).ravel()
    return predicted


def _estimator(model: Any) -> Any:
    return getattr(model, "estimator", None)


def _explain(
    model: Any, n_train: int | None, n_test: int, ordered: bool, weighted: bool = False
) -> str:
    estimator = _estimator(model)
    regression = "Linear regressions" if estimator is None else f"Regressions by {estimator!r},"
    if n_train is None:
        fitted = (
            f"cross-validated in {_FOLDS} folds on {n_test} samples that the groups were not "
            "learned from"
        )
    else:
        fitted = f"fitted to {n_train} samples and scored on {n_test} others"
        fitted += ", with the weights of the fit" if weighted else ""
    return f"{regression} {fitted}. {explain_intervals(n_test, ordered)}"
