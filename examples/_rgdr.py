"""Response-guided dimensionality reduction, of the package s2spy: a rival where it is installed."""

import time
import warnings
from itertools import product
from typing import Any

import numpy as np
import xarray as xr
from sklearn.linear_model import LinearRegression

from _compare import Floats, Part, Result

ALPHAS = (1e-6, 1e-3, 0.05)
DISTANCES = (600.0, 1000.0)
"""Significance of a cell, and kilometres up to which cells are neighbours, to choose from."""


def compare_rgdr(parts: list[tuple[Part, Part]]) -> dict[str, list[Result]]:
    """Score it on every split, tuned on the same folds as the other methods."""
    results = []
    for train, test in parts:
        start = time.perf_counter()
        folds = [
            (train.take(rows), train.take(held)) for rows, held in train.folds.split(train.cells)
        ]
        choices = list(product(ALPHAS, DISTANCES))
        errors = [
            np.mean(
                [np.mean((fit(*fold, *choice)[0] - fold[1].target.values) ** 2) for fold in folds]
            )
            for choice in choices
        ]
        prediction, used = fit(train, test, *choices[int(np.argmin(errors))])
        seconds = time.perf_counter() - start
        results.append(Result(test.target.values, prediction, used, seconds))
    return {"RGDR": results}


def fit(train: Part, test: Part, alpha: float, distance: float) -> tuple[Floats, int]:
    """Find areas that go with the target, lag by lag; predict, and count the areas."""
    areas = [clusters(train, test, lag, alpha, distance) for lag in train.field["lag"].values]
    X, X_test = (np.hstack([of[part] for of in areas]) for part in (0, 1))
    if X.shape[1] == 0:
        return np.full(len(X_test), float(train.target.mean())), 0
    return LinearRegression().fit(X, train.target.values).predict(X_test), X.shape[1]


def clusters(
    train: Part, test: Part, lag: int, alpha: float, distance: float
) -> tuple[Floats, Floats]:
    """Return means of the areas at one lag."""
    from s2spy import RGDR

    reducer = RGDR(target_intervals=1, lag=1, eps_km=distance, alpha=alpha)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where no cell is significant
        reducer.fit(_years(train.field.sel(lag=lag), -1), _years(train.target, 1))
        if not np.any(reducer.cluster_map.values != 0):
            return np.empty((len(train.target), 0)), np.empty((len(test.target), 0))
        means = [reducer.transform(_years(part.field.sel(lag=lag), -1)) for part in (train, test)]
    first, second = (each.transpose("anchor_year", ...).values for each in means)
    return first.reshape(len(first), -1), second.reshape(len(second), -1)


def _years(series: xr.DataArray, interval: int) -> Any:
    """Name the dimensions as s2spy wants them: each sample is a year of one interval."""
    numbered = series.drop_vars(["time", "lag"], errors="ignore").rename(time="anchor_year")
    numbered = numbered.assign_coords(anchor_year=np.arange(series.sizes["time"]))
    return numbered.expand_dims(i_interval=[interval], axis=1)
