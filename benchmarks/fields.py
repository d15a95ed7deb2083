"""LinCFACV on generated monthly fields: ``python -m benchmarks.fields``.

Each field has large modes and local structure, both persistent, and a target that follows modes,
areas or both, some months later or not. All methods choose on the same blocks of the first months
and are scored on the ten years that follow, in one thread. Prints, for each field, R² of LinCFACV
with defaults, EOF regression, PLS and ridge, and the time of LinCFACV over that of tuned PLS. The
rivals get standardised cells, or with ``--original`` anomalies in their own units.
"""

import argparse
import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from rich.table import Table
from scipy.ndimage import gaussian_filter
from scipy.signal import lfilter
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFACV
from lincfa.baselines import n_features, pca_regression, pls, ridge
from lincfa.timeseries import BlockKFold

from .bars import Bar, new_console, save, table_of

_TEST_MONTHS = 120
_LARGEST_LOSS, _LARGEST_RATIO = 0.05, 5.0
_NAMES = ("LinCFACV", "EOF regression", "PLS", "ridge")

Floats = NDArray[np.float64]


class Months(NamedTuple):
    """A field and its target."""

    field: xr.DataArray
    target: xr.DataArray

    def split(self) -> tuple["Months", "Months"]:
        """Return the months to learn from and those to predict."""
        parts = slice(None, -_TEST_MONTHS), slice(-_TEST_MONTHS, None)
        past, future = (Months(*(each.isel(time=part) for each in self)) for part in parts)
        return past, future


def persistent(random: np.random.Generator, phi: float, shape: tuple[int, ...]) -> Floats:
    """AR(1) series along the first axis, with unit variance."""
    noise = random.normal(size=shape)
    noise[1:] *= np.sqrt(1 - phi**2)
    return np.asarray(lfilter([1.0], [1.0, -phi], noise, axis=0))


def standardized(values: Floats, axis: Any = None) -> Floats:
    """Return values with mean 0 and variance 1."""
    values = values - values.mean(axis=axis, keepdims=True)
    return np.asarray(values / values.std(axis=axis, keepdims=True))


def make_months(seed: int) -> Months:
    """Generate a field; its size, structure and target depend on the seed."""
    random = np.random.default_rng(seed)
    rows, columns = int(random.integers(10, 41)), int(random.integers(20, 71))
    months, lead = int(random.choice([60, 72, 96, 132, 240, 400])), int(random.choice([0, 0, 1, 3]))
    length = months + _TEST_MONTHS + lead

    n_modes = int(random.integers(2, 9))
    patterns = gaussian_filter(
        random.normal(size=(n_modes, rows, columns)), (0, rows / 5, columns / 7)
    )
    patterns = standardized(patterns, axis=(1, 2))
    memory = random.uniform(0.2, 0.8) if lead == 0 else random.uniform(0.85, 0.95)
    modes = persistent(random, memory, (length, n_modes))
    sizes = random.uniform(0.6, 0.9) ** np.arange(n_modes)
    field = np.tensordot(modes * sizes, patterns, 1)

    width = random.uniform(1.0, 3.0)
    local = persistent(random, random.uniform(0.0, 1.0) * memory, (length, rows, columns))
    local = standardized(gaussian_filter(local, (0, width, width)))
    white = random.normal(size=local.shape)
    field += random.uniform(0.5, 1.5) * local + random.uniform(0.1, 0.5) * white
    field *= np.linspace(1, random.uniform(1, 3), rows)[:, None]  # more variable towards a pole

    signal = np.zeros(length)
    kind = random.choice(["modes", "areas", "both"])
    if kind != "areas":
        some = random.choice(n_modes, size=min(n_modes, 3), replace=False)
        signal += standardized(modes[:, some] @ random.normal(size=some.size))
    if kind != "modes":
        for _ in range(random.integers(2, 5)):
            side = int(random.integers(3, 8))
            top, left = random.integers(rows - side + 1), random.integers(columns - side + 1)
            area = field[:, top : top + side, left : left + side].mean(axis=(1, 2))
            signal += random.normal() * standardized(area)
    share = random.uniform(0.5, 0.95)  # of the variance that is signal
    noise = persistent(random, random.uniform(0.0, 0.6), (length,))
    target = np.sqrt(share) * standardized(signal) + np.sqrt(1 - share) * noise

    land = gaussian_filter(random.normal(size=(rows, columns)), 3)
    field[:, land > np.quantile(land, random.choice([0.7, 1.0]))] = np.nan
    dates = pd.date_range("1950-01-01", periods=months + _TEST_MONTHS, freq="MS")
    places = {"lat": np.linspace(-60, 60, rows), "lon": 5.0 * np.arange(columns)}
    return Months(
        xr.DataArray(field[: len(dates)], {"time": dates} | places, name="sst"),
        xr.DataArray(target[lead:], {"time": dates}, name="target"),
    )


def cells(field: xr.DataArray) -> Floats:
    """Return the field as a table, without land."""
    values = field.values.reshape(len(field), -1)
    return values[:, ~np.isnan(values[0])]


class Outcome(NamedTuple):
    """R² on later months, number of features, and the shortest time of a fit."""

    score: float
    n_features: int
    seconds: float


Fit = Callable[[], tuple[Any, Any]]


def methods(past: Months, future: Months, standardize: bool) -> dict[str, Fit]:
    """Return functions that fit a model and predict, LinCFACV with its defaults."""
    n, table, later = len(past.target), cells(past.field), cells(future.field)
    cv = BlockKFold(5, n_repeats=2 if n < 200 else 1)
    peers = {
        "EOF regression": pca_regression(cv),
        "PLS": pls(n, table.shape[1], cv),
        "ridge": ridge(cv),
    }

    def own() -> tuple[Any, Any]:
        model = LinCFACV(connectivity="grid").fit(past.field, past.target)
        return model, model.predict(future.field)

    def rival(peer: Any) -> Fit:
        def fit() -> tuple[Any, Any]:
            scalers = [StandardScaler()] if standardize else []
            model = make_pipeline(*scalers, peer).fit(table, past.target.values)
            return model, model.predict(later)

        return fit

    return {"LinCFACV": own} | {name: rival(peer) for name, peer in peers.items()}


def score(months: Months, repeat: int, standardize: bool) -> dict[str, Outcome]:
    """Fit every method in turn, several times."""
    past, future = months.split()
    found: dict[str, Outcome] = {}
    for _ in range(repeat):
        for name, fit in methods(past, future, standardize).items():
            start = time.perf_counter()
            model, predicted = fit()
            spent = time.perf_counter() - start
            spent = min(spent, found[name].seconds if name in found else np.inf)
            r2 = float(r2_score(future.target.values, np.ravel(predicted)))
            found[name] = Outcome(r2, n_features(model), spent)
    return found


def main() -> None:
    """Score all methods on each field."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fields", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="three fields, one repetition")
    parser.add_argument("--first", type=int, default=200, help="seed of the first field")
    parser.add_argument("--fields", type=int, default=24, help="how many fields")
    parser.add_argument("--original", action="store_true", help="rivals on cells in their units")
    given = parser.parse_args()
    console = new_console()
    table = Table(title="R² on later months")
    for title in ("field", "months × cells", *_NAMES, "areas", "difference", "time / PLS"):
        table.add_column(title, justify="right")
    ratios: list[float] = []
    differences: dict[str, list[float]] = {name: [] for name in _NAMES}
    for seed in range(given.first, given.first + (3 if given.quick else given.fields)):
        months = make_months(seed)
        found = score(months, 1 if given.quick else 3, not given.original)
        better = max(found["EOF regression"].score, found["PLS"].score)
        for name in _NAMES:
            differences[name].append(found[name].score - better)
        ratios.append(found["LinCFACV"].seconds / found["PLS"].seconds)
        table.add_row(
            str(seed),
            f"{len(months.target) - _TEST_MONTHS} × {cells(months.field).shape[1]}",
            *(f"{found[name].score:.2f}" for name in _NAMES),
            str(found["LinCFACV"].n_features),
            f"{differences['LinCFACV'][-1]:+.3f}",
            f"{ratios[-1]:.1f}",
        )
    console.print(table, summary(differences))
    bars = [
        Bar.at_least(
            "R² over the better of EOF and PLS", -_LARGEST_LOSS, min(differences["LinCFACV"])
        ),
        Bar.at_most("time over that of PLS, mean", _LARGEST_RATIO, float(np.mean(ratios))),
        Bar.at_most("time over that of PLS, largest", _LARGEST_RATIO, max(ratios)),
    ]
    console.print(table_of(bars, given.quick))
    save(console, "fields", given.quick)


def summary(differences: dict[str, list[float]]) -> Table:
    """Return differences in R² of all methods: the better of two is also better by chance."""
    table = Table(title="R² over the better of EOF regression and PLS")
    for title in ("method", "mean", "median", "worst", f"fields below −{_LARGEST_LOSS}"):
        table.add_column(title, justify="left" if title == "method" else "right")
    for name, values in differences.items():
        figures = (f"{of(values):+.3f}" for of in (np.mean, np.median, np.min))
        below = sum(value < -_LARGEST_LOSS for value in values)
        table.add_row(name, *figures, f"{below} of {len(values)}")
    return table


if __name__ == "__main__":
    main()
