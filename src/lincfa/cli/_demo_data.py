"""The demonstration: LinCFA against all features and PCA on data it generates."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._lincfa import LinCFA
from ..datasets import make_correlated, make_field
from ..report._findings import Findings, collect_findings
from ..theory._arrays import FloatArray

if TYPE_CHECKING:
    import polars as pl

_SHAPE = (40, 60)


@dataclass(frozen=True)
class Figure:
    """A mean over draws of the data, with its standard error (NaN for a single draw)."""

    mean: float
    error: float

    @classmethod
    def of(cls, values: list[float]) -> "Figure":
        """Summarise one value per draw."""
        n = len(values)
        error = float(np.std(values, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
        return cls(float(np.mean(values)), error)


@dataclass(frozen=True)
class DemoScore:
    """Linear regression on one choice of features, scored on held-out samples."""

    features: str
    count: Figure
    r2: Figure
    mse: Figure


@dataclass(frozen=True)
class Experiment:
    """One kind of data, and what came out on it."""

    title: str
    n_train: int
    n_test: int
    n_features: int
    rows: list[DemoScore]


def _field(seed: int) -> tuple[FloatArray, FloatArray]:
    return make_field(n_samples=600, shape=_SHAPE, random_state=seed)[:2]


def _paper(seed: int) -> tuple[FloatArray, FloatArray]:
    return make_correlated(n_samples=1000, n_features=100, random_state=seed)


SOURCES: list[tuple[str, Callable[[int], tuple[FloatArray, FloatArray]]]] = [
    ("Climate-like field, a target driven by the means of four areas", _field),
    ("The paper's experiment with 100 features", _paper),
]


def run_demo(draws: int, seed: int) -> Iterator[Experiment]:
    """Fit and score on ``draws`` independent draws of each kind of data, half of it held out."""
    for title, draw in SOURCES:
        scores: dict[str, list[tuple[float, float, float]]] = {}
        for repetition in range(draws):
            X, y = draw(seed + repetition)
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, shuffle=False)
            for name, steps in _reductions().items():
                model = make_pipeline(*steps, LinearRegression()).fit(X_train, y_train)
                predicted = model.predict(X_test)
                score = (
                    model[-1].n_features_in_,
                    r2_score(y_test, predicted),
                    mean_squared_error(y_test, predicted),
                )
                scores.setdefault(name, []).append(score)
        rows = [
            DemoScore(name, *(Figure.of(list(values)) for values in zip(*per_draw, strict=True)))
            for name, per_draw in scores.items()
        ]
        yield Experiment(title, len(y_train), len(y_test), X.shape[1], rows)


def _reductions() -> dict[str, list[Any]]:
    return {
        "all features": [],
        "LinCFA": [LinCFA()],
        "LinCFA, agglomerative": [LinCFA(strategy="agglomerative")],
        "PCA, 95 % of variance": [StandardScaler(), PCA(0.95)],
    }


def field_findings(seed: int) -> Findings:
    """Fit the field of one draw, and collect the findings of its report."""
    import polars as pl

    X, y = _field(seed)
    names = [f"cell {row}-{column}" for row in range(_SHAPE[0]) for column in range(_SHAPE[1])]
    field = pl.DataFrame(X, schema=names, orient="row")
    X_train, X_test, y_train, y_test = train_test_split(field, y, test_size=0.5, shuffle=False)
    model = LinCFA(strategy="agglomerative").fit(X_train, y_train)
    return collect_findings(
        model,
        X=X_train,
        y=y_train,
        X_test=X_test,
        y_test=y_test,
        title="A climate-like field",
        data={"source": f"lincfa.datasets.make_field(600, shape={_SHAPE}, random_state={seed})"},
        recipe=f"lincfa demo --seed {seed}",
    )


def paper_table(seed: int) -> "pl.DataFrame":
    """Give one draw of the paper's data as a table, the target last."""
    import polars as pl

    X, y = _paper(seed)
    names = [f"x{i}" for i in range(X.shape[1])]
    return pl.DataFrame(X, schema=names, orient="row").with_columns(y=y)
