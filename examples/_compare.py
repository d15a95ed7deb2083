"""Shared by the examples: the methods, the test on later years, and the table of results."""

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from scipy.sparse import block_diag
from sklearn.cross_decomposition import PLSRegression
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV
from lincfa.baselines import (
    agglomeration,
    elastic_net,
    n_features,
    pca_regression,
    ridge,
    slope,
)
from lincfa.structure import grid_connectivity
from lincfa.timeseries import BlockKFold

Field = xr.DataArray | xr.Dataset
Floats = NDArray[np.float64]

SCORING = "neg_mean_squared_error"
JOBS = 2


@dataclass(frozen=True)
class Part:
    """Some dates of a field, and of the target."""

    field: Field
    target: xr.DataArray
    gap: int = 0  # dates left out around a block that is held out
    area: bool = False  # whether cells count by their area

    def years(self, chosen: slice) -> "Part":
        """Return the given years only."""
        return replace(self, field=self.field.sel(time=chosen), target=self.target.sel(time=chosen))

    def take(self, rows: NDArray[np.intp]) -> "Part":
        """Return the given samples only."""
        return replace(self, field=self.field.isel(time=rows), target=self.target.isel(time=rows))

    @property
    def folds(self) -> BlockKFold:
        """Five blocks of consecutive dates, of fewer than 200 twice, on which all is tuned."""
        return BlockKFold(5, gap=self.gap, n_repeats=2 if len(self.target) < 200 else 1)

    @property
    def cells(self) -> Floats:
        """The field as a table: one row per date, one column per cell that is not missing.

        Cells that count by their area are multiplied by its root, as is usual for EOFs.
        """
        tables = []
        for array in arrays(self.field):
            weighted = (
                array * np.sqrt(np.cos(np.radians(array["latitude"]))) if self.area else array
            )
            table = weighted.values.reshape(len(array), -1)
            tables.append(table[:, ~np.isnan(table).all(axis=0)])
        return np.hstack(tables)


@dataclass(frozen=True)
class Result:
    """Prediction of one method for one test period."""

    truth: Floats
    prediction: Floats
    n_features: int
    seconds: float


def arrays(field: Field) -> list[xr.DataArray]:
    """Return the variables of a field, lag by lag, with time as first dimension."""
    found = [field] if isinstance(field, xr.DataArray) else list(field.data_vars.values())
    if "lag" in field.dims:
        found = [array.sel(lag=lag) for array in found for lag in field["lag"]]
    return [array.transpose("time", ...) for array in found]


def neighbours(field: Field) -> Any:
    """Return which cells are adjacent, for scikit-learn; LinCFA works it out from the field."""
    grids = [(~array.isnull().all("time")).values for array in arrays(field)]
    return block_diag([grid_connectivity(grid.shape, mask=grid) for grid in grids], format="csr")


def peers(train: Part, units: str) -> dict[str, Any]:
    """Return the other methods, which are fitted to the table of cells."""
    cv = train.folds
    shortest = min(len(past) for past, _ in cv.split(train.target))
    components = {"n_components": list(range(1, min(20, shortest - 1) + 1))}
    options: dict[str, Any] = {"cv": cv, "scoring": SCORING, "n_jobs": JOBS}
    methods = {
        "least squares, all cells": LinearRegression(),
        "ridge": ridge(cv),
        "PCA (EOF) regression": pca_regression(cv),
        "PLS": GridSearchCV(PLSRegression(scale=False), components, **options),
        "FeatureAgglomeration": agglomeration(cv, neighbours(train.field)),
        "elastic net": elastic_net(cv),
    }
    if find_spec("sortedl1"):
        methods["SLOPE"] = slope(cv)
    scalers = [StandardScaler()] if units == "standardized" else []
    return {
        "training mean": DummyRegressor(),
        **{name: make_pipeline(*scalers, method) for name, method in methods.items()},
    }


def ours(train: Part, units: Literal["standardized", "original"]) -> dict[str, Any]:
    """Return the variants of LinCFA, fitted to the field; they merge only adjacent cells."""
    weights = "area" if train.area else None
    shared: Any = {"connectivity": "grid", "units": units, "feature_weights": weights}

    def plain(strategy: Any, connectivity: Any = "grid") -> Pipeline:
        reducer = LinCFA(strategy=strategy, **shared | {"connectivity": connectivity})
        return make_pipeline(reducer, LinearRegression())

    def search(**options: Any) -> LinCFACV:
        return LinCFACV(**shared, **options, n_jobs=JOBS)

    # Blocks are what it uses by itself where samples have dates; a gap is to be asked for.
    with_gap = {"LinCFACV, blocks with a gap": search(cv=train.folds)} if train.gap else {}
    return {
        "LinCFA, sequential": plain("sequential"),
        "LinCFA, agglomerative": plain("agglomerative"),
        "LinCFA, joint": plain("joint"),
        "LinCFA, sequential, cells anywhere": plain("sequential", None),
        "LinCFACV": search(),
        **with_gap,
        "LinCFACV, one standard error": search(cv=train.folds, rule="one_standard_error"),
    }


def score(model: Any, train: Part, test: Part, takes_field: bool) -> Result:
    """Fit on the training years and predict the test years."""
    past, future = (part.field if takes_field else part.cells for part in (train, test))
    start = time.perf_counter()
    with warnings.catch_warnings():
        # The number of features beside the score says so too.
        warnings.filterwarnings("ignore", message="LinCFA left .* groups")
        model.fit(past, train.target)
    seconds = time.perf_counter() - start
    prediction = np.ravel(model.predict(future))
    used = 0 if isinstance(model, DummyRegressor) else n_features(model)
    return Result(test.target.values, prediction, used, seconds)


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
