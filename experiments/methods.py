"""What the paper does not compare with: other settings of the library, and what else there is."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV
from lincfa.baselines import RIDGES, n_features, pls

from .estimates import Estimate, Floats, over_repetitions

FOLDS = 5


def folds(ordered: bool = False) -> KFold:
    """Folds by which a method chooses; pieces of time where samples are in its order."""
    return KFold(FOLDS) if ordered else KFold(FOLDS, shuffle=True, random_state=0)


def methods(n: int, D: int, ordered: bool = False) -> dict[str, Any]:
    """Regressors for n samples of D features; whatever they choose, they choose on these."""
    reductions = {
        "LinCFA, disjoint groups": LinCFA(),
        "LinCFA, tolerance 2": LinCFA(tolerance=2.0),
        **{
            f"LinCFA, {strategy}": LinCFA(strategy=strategy)
            for strategy in ("centroid", "agglomerative", "joint")
        },
    }
    return {
        **{name: make_pipeline(step, LinearRegression()) for name, step in reductions.items()},
        "LinCFACV": LinCFACV(cv=folds(ordered)),
        "PLS": make_pipeline(StandardScaler(), pls(n, D, folds(ordered))),
        "ridge": make_pipeline(StandardScaler(), RidgeCV(RIDGES)),
    }


def predict_methods(
    X: npt.NDArray[Any], y: npt.NDArray[Any], X_test: npt.NDArray[Any], ordered: bool = False
) -> Iterator[tuple[str, int, npt.NDArray[Any]]]:
    """Fit every method; give its name, its number of features and its predictions."""
    n, D = X.shape
    for name, method in methods(n, D, ordered).items():
        model = method.fit(X, y)
        yield name, n_features(model), np.ravel(model.predict(X_test))


def score_methods(
    X: npt.NDArray[Any], y: npt.NDArray[Any], X_test: npt.NDArray[Any], y_test: npt.NDArray[Any]
) -> dict[str, float]:
    """Give d, R² and MSE of every method on a test set."""
    scores: dict[str, float] = {}
    for name, d, predicted in predict_methods(X, y, X_test):
        scores[f"d {name}"] = d
        scores[f"R² {name}"] = float(r2_score(y_test, predicted))
        scores[f"MSE {name}"] = float(mean_squared_error(y_test, predicted))
    return scores


def compare_methods(
    make: Callable[..., tuple[Floats, Floats]], repetitions: int, random: np.random.RandomState
) -> dict[str, Estimate]:
    """Means of what every method scores, on training and test sets drawn anew each time."""
    scores = [
        score_methods(*make(random_state=random), *make(random_state=random))
        for _ in range(repetitions)
    ]
    return {name: over_repetitions(values) for name, values in gather(scores).items()}


def gather(scores: list[dict[str, float]]) -> dict[str, npt.NDArray[np.float64]]:
    """Turn one dictionary a repetition into one array a quantity."""
    return {name: np.array([part[name] for part in scores]) for name in scores[0]}
