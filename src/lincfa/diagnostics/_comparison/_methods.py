"""The methods that are compared, and those for which some data are too large."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.cluster import FeatureAgglomeration
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..._lincfa import LinCFA
from ..._lincfa_cv import LinCFACV
from ..._model._parameters import check_strategy, listed
from ..._search._folds import default_folds
from ...baselines import RIDGES, pls

ALL = "all features"
AGGLOMERATION = "FeatureAgglomeration"
SEARCH = "LinCFACV"

MOST_SQUARE = 4000
"""Features up to which methods are compared whose memory grows with their square: 128 MB each."""
MOST_WORK = 2e10
"""Largest n·D·min(n, D) of a fit by singular values: some ten seconds."""
MOST_SEARCHED = 1000
"""Features up to which LinCFACV tries all strategies; the first alone is several times as fast."""

_FOLDS = 5
_STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")
_SQUARE = ("LinCFA agglomerative", "LinCFA joint", AGGLOMERATION)
_WORK = (ALL, "ridge", "PCA")


@dataclass(frozen=True)
class Part:
    """What a method may know of the data beforehand: of the training part of a fold alone.

    ``n_groups`` is the number of groups that LinCFA finds in it.
    """

    n: int
    D: int
    n_groups: int = 1
    ordered: bool = False
    strategies: tuple[str, ...] = _STRATEGIES

    @property
    def folds(self) -> Any:
        """Folds by which a method chooses; pieces of time where samples are in its order."""
        return KFold(min(_FOLDS, self.n)) if self.ordered else default_folds(self.n)


def _grouped(strategy: Any) -> Callable[[Part], Any]:
    return lambda part: make_pipeline(LinCFA(strategy=strategy), LinearRegression())


def _ridge(part: Part) -> Any:
    # Leave-one-out would see the neighbours in time of what it predicts.
    chosen = (
        RidgeCV(RIDGES, cv=part.folds, scoring="neg_mean_squared_error")
        if part.ordered
        else RidgeCV(RIDGES)
    )
    return make_pipeline(StandardScaler(), chosen)


# LinCFA standardises by itself, and so needs no scaler.
METHODS: dict[str, Callable[[Part], Any]] = {
    "LinCFA": _grouped("sequential"),
    "LinCFA centroid": _grouped("centroid"),
    "LinCFA agglomerative": _grouped("agglomerative"),
    "LinCFA joint": _grouped("joint"),
    SEARCH: lambda part: LinCFACV(
        strategies=part.strategies, cv=part.folds if part.ordered else None
    ),
    ALL: lambda part: make_pipeline(StandardScaler(), LinearRegression()),
    "ridge": _ridge,
    "PCA": lambda part: make_pipeline(StandardScaler(), PCA(0.95), LinearRegression()),
    "PLS": lambda part: make_pipeline(StandardScaler(), pls(part.n, part.D, part.folds)),
    AGGLOMERATION: lambda part: make_pipeline(
        StandardScaler(), FeatureAgglomeration(part.n_groups), LinearRegression()
    ),
}


def regressor(name: str, part: Part) -> Any:
    """Return a method, not fitted yet; whatever it chooses, it chooses on its training data."""
    return METHODS[name](part)


def chosen_methods(methods: Any, n: int, D: int) -> tuple[list[str], list[str]]:
    """Return the methods to compare, and notes on those left out because of the size."""
    if methods is not None:
        listed = [methods] if isinstance(methods, str) or not np.iterable(methods) else methods
        names = list(dict.fromkeys(listed))
        unknown = [name for name in names if name not in METHODS]
        if unknown or not names:
            raise ValueError(f"methods must be among {list(METHODS)}, got {methods!r}")
        return names, []
    notes: list[str] = []
    left_out: set[str] = set()
    if D > MOST_SQUARE:
        left_out.update(_SQUARE)
        notes.append(
            f"Left out above {MOST_SQUARE} features, because their memory grows with the square of "
            f"the number: {', '.join(_SQUARE)}."
        )
    if n * D * min(n, D) > MOST_WORK:
        left_out.update(_WORK)
        notes.append(
            f"Left out with {n} training samples of {D} features, because a fit would take longer "
            f"than some ten seconds: {', '.join(_WORK)}."
        )
    return [name for name in METHODS if name not in left_out], notes


def searched_strategies(strategies: Sequence[str] | None, D: int) -> tuple[tuple[str, ...], str]:
    """Return the strategies that LinCFACV tries, and a note if these are not all."""
    if strategies is not None:
        tried = listed("strategies", strategies)
        for strategy in tried:
            check_strategy(strategy)
        return tuple(tried), ""
    if D <= MOST_SEARCHED:
        return _STRATEGIES, ""
    first = _STRATEGIES[0]
    return (first,), f"Above {MOST_SEARCHED} features {SEARCH} tries {first} only, to save time."
