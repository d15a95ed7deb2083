"""Shared by the examples: the methods, the test on later years, and the table of results."""

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.sparse import block_diag
from sklearn.cluster import FeatureAgglomeration
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV
from lincfa.structure import grid_connectivity

Field = xr.DataArray | xr.Dataset
Floats = NDArray[np.float64]

COUNTS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60)
SCORING = "neg_mean_squared_error"
JOBS = 2


@dataclass(frozen=True)
class Part:
    """Some years of a field, and of the target."""

    field: Field
    target: xr.DataArray

    def years(self, chosen: slice) -> "Part":
        """Return the given years only."""
        return Part(self.field.sel(time=chosen), self.target.sel(time=chosen))

    @property
    def cells(self) -> Floats:
        """The field as a table: one row per year, one column per cell that is not missing."""
        tables = [array.values.reshape(len(array), -1) for array in arrays(self.field)]
        return np.hstack([table[:, ~np.isnan(table).all(axis=0)] for table in tables])


@dataclass(frozen=True)
class Result:
    """Prediction of one method for one test period."""

    truth: Floats
    prediction: Floats
    n_features: int
    seconds: float


def arrays(field: Field) -> list[xr.DataArray]:
    """Return the variables of a field, with time as first dimension."""
    found = [field] if isinstance(field, xr.DataArray) else list(field.data_vars.values())
    return [array.transpose("time", ...) for array in found]


def neighbours(field: Field) -> Any:
    """Return which cells are adjacent, for scikit-learn; LinCFA works it out from the field."""
    grids = [(~array.isnull().all("time")).values for array in arrays(field)]
    return block_diag([grid_connectivity(grid.shape, mask=grid) for grid in grids], format="csr")


def blocks_in_time(n_samples: int) -> TimeSeriesSplit:
    """Split the second half of the training years into five blocks, predicted from the past."""
    return TimeSeriesSplit(n_splits=5, test_size=max(2, n_samples // 10))


def peers(train: Part, units: str) -> dict[str, Any]:
    """Return the other methods, which are fitted to the table of cells."""
    cv = blocks_in_time(len(train.target))
    shortest = min(len(past) for past, _ in cv.split(train.target))
    # LinCFACV has the same limit: at most half as many features as samples.
    counts = [count for count in COUNTS if count <= shortest // 2]

    def scaled(*steps: Any) -> Pipeline:
        scalers = [StandardScaler()] if units == "standardized" else []
        return make_pipeline(*scalers, *steps)

    def chosen(grid: dict[str, Any], step: Any, *more: Any) -> GridSearchCV:
        name = type(step).__name__.lower()
        values = {f"{name}__{parameter}": values for parameter, values in grid.items()}
        return GridSearchCV(scaled(step, *more), values, cv=cv, scoring=SCORING, n_jobs=JOBS)

    clusters = FeatureAgglomeration(connectivity=neighbours(train.field))
    return {
        "training mean": DummyRegressor(),
        "least squares, all cells": scaled(LinearRegression()),
        "ridge": chosen({"alpha": np.logspace(-1, 6, 15)}, Ridge()),
        "PCA (EOF) regression": chosen(
            {"n_components": counts}, PCA(svd_solver="full"), LinearRegression()
        ),
        "PLS": chosen({"n_components": counts}, PLSRegression(scale=False)),
        "FeatureAgglomeration": chosen({"n_clusters": counts[1:]}, clusters, LinearRegression()),
    }


def ours(train: Part, units: Literal["standardized", "original"]) -> dict[str, Any]:
    """Return the variants of LinCFA, fitted to the field; they merge only adjacent cells."""

    def plain(strategy: Any, connectivity: Any = "grid") -> Pipeline:
        reducer = LinCFA(strategy=strategy, connectivity=connectivity, units=units)
        return make_pipeline(reducer, LinearRegression())

    return {
        "LinCFA, sequential": plain("sequential"),
        "LinCFA, agglomerative": plain("agglomerative"),
        "LinCFA, joint": plain("joint"),
        "LinCFA, sequential, cells anywhere": plain("sequential", None),
        "LinCFACV": LinCFACV(
            connectivity="grid",
            units=units,
            cv=blocks_in_time(len(train.target)),
            scoring=SCORING,
            n_jobs=JOBS,
        ),
    }


def n_features(model: Any) -> int:
    """Return the number of features that a fitted regression uses."""
    if isinstance(model, DummyRegressor):
        return 0
    model = getattr(model, "best_estimator_", getattr(model, "estimator_", model))
    last = model[-1] if isinstance(model, Pipeline) else model
    return int(last.n_components if isinstance(last, PLSRegression) else last.n_features_in_)


def score(model: Any, train: Part, test: Part, takes_field: bool) -> Result:
    """Fit on the training years and predict the test years."""
    past, future = (part.field if takes_field else part.cells for part in (train, test))
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Seas that are not connected: scikit-learn joins them where they are closest.
        warnings.filterwarnings("ignore", message="the number of connected components")
        # The number of features beside the score says so too.
        warnings.filterwarnings("ignore", message="LinCFA left .* groups")
        model.fit(past, train.target)
    seconds = time.perf_counter() - start
    prediction = np.ravel(model.predict(future))
    return Result(test.target.values, prediction, n_features(model), seconds)


def compare(
    splits: Iterable[tuple[Part, Part]], units: Literal["standardized", "original"]
) -> dict[str, list[Result]]:
    """Score every method on every split, a pair of training years and the years that follow."""
    results: dict[str, list[Result]] = {}
    for train, test in splits:
        methods = [(peers(train, units), False), (ours(train, units), True)]
        for named, takes_field in methods:
            for name, model in named.items():
                results.setdefault(name, []).append(score(model, train, test, takes_field))
    return results


def as_markdown(results: dict[str, list[Result]]) -> str:
    """Return the scores as a Markdown table, methods in the order in which they were run."""
    lines = [
        "| method | mean R² | R² of each split | pooled R² | RMSE | features | seconds |",
        "|---|---:|---|---:|---:|---|---:|",
    ]
    for name, parts in results.items():
        each = [r2_score(part.truth, part.prediction) for part in parts]
        truth = np.concatenate([part.truth for part in parts])
        prediction = np.concatenate([part.prediction for part in parts])
        figures = [
            name,
            f"{np.mean(each):z.2f}",
            ", ".join(f"{value:z.2f}" for value in each),
            f"{r2_score(truth, prediction):z.2f}",
            f"{root_mean_squared_error(truth, prediction):z.2f}",
            ", ".join(str(part.n_features) for part in parts),
            f"{sum(part.seconds for part in parts):.1f}",
        ]
        lines.append(f"| {' | '.join(figures)} |".replace("-", "−"))
    return "\n".join(lines)
