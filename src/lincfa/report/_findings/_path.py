"""Scores against the number of groups, along a path of merges or of a search."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score

from ..._search._choice import standard_errors
from ...theory._arrays import FloatArray
from ._regression import fit_linear
from ._samples import Samples

_STEPS = 25
_MOST_GROUPS = 500


@dataclass(frozen=True)
class Curve:
    """Scores of one strategy at several numbers of groups; NaN errors where there are none."""

    strategy: str
    n_groups: FloatArray
    score: FloatArray
    error: FloatArray


@dataclass(frozen=True)
class ScorePath:
    """Scores against the number of groups.

    Attributes
    ----------
    curves : tuple of Curve
    chosen : tuple of float
        Number of groups and score of the model; of a search, means over its folds.
    chosen_name : str
        What is marked there.
    score_name : str
        What the score is; larger is better.
    how : str
        What was done, in a sentence.
    """

    curves: tuple[Curve, ...]
    chosen: tuple[float, float]
    chosen_name: str
    score_name: str
    how: str


def score_path(
    model: Any, reducer: Any, train: Samples | None, test: Samples | None
) -> ScorePath | None:
    """Give the scores of a search, or those along the path of merges, if there is either."""
    if hasattr(model, "cv_results_"):
        return _of_search(model)
    if train is None or test is None or not hasattr(reducer, "merge_path_"):
        return None
    return _of_merges(reducer, train, test)


def _of_search(model: Any) -> ScorePath:
    results = model.cv_results_
    errors = standard_errors(results)
    curves = []
    for strategy in dict.fromkeys(results["strategy"]):
        rows = np.flatnonzero(results["strategy"] == strategy)
        rows = rows[np.argsort(results["mean_n_groups"][rows], kind="stable")]
        columns = (results["mean_n_groups"], results["mean_test_score"], errors)
        curves.append(Curve(str(strategy), *(column[rows] for column in columns)))
    best = model.best_index_
    chosen = float(results["mean_n_groups"][best]), float(results["mean_test_score"][best])
    name = model.scoring if isinstance(model.scoring, str) else "score"
    name = name.replace("neg_", "negative ").replace("_", " ")
    return ScorePath(
        tuple(curves),
        chosen,
        f"chosen, {model.n_groups_} groups on all samples",
        name,
        "Means over the folds of the cross-validation within the data of the fit, with bars of one "
        "standard error; the combination marked was chosen.",
    )


def _of_merges(reducer: Any, train: Samples, test: Samples) -> ScorePath:
    merges = reducer.merge_path_
    most = int((reducer.labels_ >= 0).sum())
    fewest = most - merges.size
    finest = max(fewest, min(most, _MOST_GROUPS, max(len(train.y) - 2, 1)))
    finest = max(finest, reducer.n_groups_)
    numbers = np.geomspace(fewest, finest, _STEPS).round().astype(int)
    numbers = np.unique(np.append(numbers, reducer.n_groups_))
    # The mean of a group is the mean of the means of its parts, by their sizes: X is read once.
    fine = reducer.cut(n_groups=finest)
    parts = [fine._average(samples.X) for samples in (train, test)]
    sizes = np.array([len(group) for group in fine.groups_], dtype=np.float64)
    firsts = np.array([group[0] for group in fine.groups_])
    scores = []
    for number in numbers.tolist():
        labels = reducer.cut(n_groups=number).labels_[firsts]
        X, X_test = (_merge_means(part, sizes, labels, number) for part in parts)
        scores.append(r2_score(test.y, fit_linear(None, X, train.y, train.weights).predict(X_test)))
    r2 = np.array(scores)
    chosen = float(r2[numbers == reducer.n_groups_][0])
    return ScorePath(
        (Curve(reducer.strategy, numbers.astype(float), r2, np.full(len(r2), np.nan)),),
        (float(reducer.n_groups_), chosen),
        "the model",
        "R²",
        f"Linear regressions fitted to {len(train.y)} samples and scored on {len(test.y)} others, "
        "for other cuts of the path of merges. The model's own, marked, was not chosen by these "
        "scores.",
    )


def _merge_means(
    means: npt.NDArray[Any], sizes: FloatArray, labels: npt.NDArray[np.intp], number: int
) -> FloatArray:
    """Means of groups of groups."""
    spread = np.zeros((sizes.size, number))
    spread[np.arange(sizes.size), labels] = sizes
    return np.asarray(means @ (spread / spread.sum(axis=0)))
