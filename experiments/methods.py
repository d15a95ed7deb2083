"""Methods: Algorithm 1 as the paper ran it, and regressions that the paper does not compare with.

The pseudo-code of Algorithm 1 never asks whether a feature already has a group, so that its groups
may overlap; the numbers of the paper come from such groups. The text defines a partition, which
:class:`lincfa.LinCFA` makes. Both have the same seeds (first features), hence as many groups.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV, theory
from lincfa.baselines import RIDGES, n_features, pls

from .simulation import Estimates, Floats, correlations, mean_of_repetitions

Groups = list[npt.NDArray[np.intp]]


def merges_by_data(X: Floats, y: Floats) -> npt.NDArray[np.bool_]:
    """Pairs that merge by their estimates, F ≤ 1, as a matrix of shape (D, D)."""
    corr = correlations(np.column_stack([X, y])[None])[0]
    rho, r = corr[:-1, :-1], corr[:-1, -1]
    return np.asarray(theory.f_statistic(len(y), rho, r[:, None], r) <= 1)


def merges_by_weights(X: Floats, weights: Floats, variance: float) -> npt.NDArray[np.bool_]:
    """Pairs that merge by ``eq:2DasymBuondRed`` with the true weights and noise variance."""
    rho = correlations(X[None])[0]
    threshold = theory.threshold_asymptotic(len(X), weights[:, None], weights, variance)
    return np.asarray(rho >= threshold)


def form_groups(merges: npt.NDArray[np.bool_], *, overlapping: bool) -> Groups:
    """Groups of a seed and the later features that merge with it."""
    D = len(merges)
    taken = np.zeros(D, dtype=bool)
    groups = []
    for seed in range(D):
        if taken[seed]:
            continue
        joins = merges[seed] & (np.arange(D) > seed)
        if not overlapping:
            joins &= ~taken
        joins[seed] = True
        taken |= joins
        groups.append(np.flatnonzero(joins))
    return groups


def group_means(X: npt.NDArray[Any], groups: Groups) -> Floats:
    """Mean of the features of each group."""
    return np.column_stack([X[:, group].mean(axis=1) for group in groups])


# Beyond the paper --------------------------------------------------------------------------------

FOLDS = 5


def folds(ordered: bool = False) -> KFold:
    """Folds for cross-validation; contiguous where the samples are ordered in time."""
    return KFold(FOLDS) if ordered else KFold(FOLDS, shuffle=True, random_state=0)


def methods(n: int, D: int, ordered: bool = False) -> dict[str, Any]:
    """Regressors for n samples of D features, which tune themselves by cross-validation."""
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
    """Name, number of features and predictions of every method."""
    n, D = X.shape
    for name, method in methods(n, D, ordered).items():
        model = method.fit(X, y)
        yield name, n_features(model), np.ravel(model.predict(X_test))


def score_methods(
    X: npt.NDArray[Any], y: npt.NDArray[Any], X_test: npt.NDArray[Any], y_test: npt.NDArray[Any]
) -> dict[str, float]:
    """Number of features, R² and MSE of every method on a test set."""
    scores: dict[str, float] = {}
    for name, d, predicted in predict_methods(X, y, X_test):
        scores[f"d {name}"] = d
        scores[f"R² {name}"] = float(r2_score(y_test, predicted))
        scores[f"MSE {name}"] = float(mean_squared_error(y_test, predicted))
    return scores


def compare_methods(
    make: Callable[..., tuple[Floats, Floats]], repetitions: int, random: np.random.RandomState
) -> Estimates:
    """Mean scores of every method, with a new training and test set in each repetition."""
    scores = [
        score_methods(*make(random_state=random), *make(random_state=random))
        for _ in range(repetitions)
    ]
    return {name: mean_of_repetitions(values) for name, values in stack(scores).items()}


def stack(scores: list[dict[str, float]]) -> dict[str, Floats]:
    """Turn a dictionary for each repetition into an array for each quantity."""
    return {name: np.array([part[name] for part in scores]) for name in scores[0]}
