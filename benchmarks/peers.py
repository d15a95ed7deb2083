"""The methods a user could choose instead, each with a fit and a score."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from lincfa import LinCFA

from .data import Data

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from pseudocode import lincfa as pseudocode


@dataclass(frozen=True)
class Peer:
    """A method: how to fit it, given the data and LinCFA's number of groups, and up to which size.

    ``largest`` limits the number of features (time or memory grow with its square), ``values`` the
    number of values, ``largest_drawn`` the number of features in plots.
    """

    name: str
    fit: Callable[[Data, int], Any]
    largest: int = 10**9
    values: int = 10**12
    largest_drawn: int = 10**9
    predicts: bool = True
    repeat: int = 3
    memory: bool = True

    def takes(self, data: Data) -> bool:
        """Whether the data are small enough."""
        return data.X.shape[1] <= self.largest and data.X.size <= self.values

    def score(self, data: Data, fitted: Any) -> float:
        """Return R² on the test rows, from least squares on the reduced features."""
        if isinstance(fitted, PLSRegression):
            return float(r2_score(data.y_test, fitted.predict(data.X_test).ravel()))
        train, test = fitted.transform(data.X), fitted.transform(data.X_test)
        model = LinearRegression().fit(train, data.y)
        return float(r2_score(data.y_test, model.predict(test)))


LINCFA = Peer("LinCFA", lambda data, d: LinCFA().fit(data.X, data.y), repeat=5)
PASS = Peer("one pass X.T @ y", lambda data, d: data.X.T @ data.y, predicts=False, repeat=9)

PEERS = [
    Peer(
        "literal pseudo-code",
        lambda data, d: pseudocode(data.X, data.y),
        largest=2000,
        values=2 * 10**6,
        largest_drawn=0,
        predicts=False,
        repeat=1,
        memory=False,  # tracing it would take minutes
    ),
    Peer(
        "PCA(20, randomized)",
        lambda data, d: PCA(20, svd_solver="randomized", random_state=0).fit(data.X),
    ),
    Peer(
        "FeatureAgglomeration(d)",
        lambda data, d: FeatureAgglomeration(n_clusters=d).fit(data.X),
        largest=10_000,
        largest_drawn=5000,
        repeat=1,
    ),
    Peer("PLSRegression(10)", lambda data, d: PLSRegression(10).fit(data.X, data.y), repeat=2),
    Peer(
        "np.corrcoef",
        lambda data, d: np.corrcoef(data.X, rowvar=False),
        largest=10_000,
        predicts=False,
        repeat=2,
    ),
]
