"""Signs, gaps and weights of features: ``python -m benchmarks.real_tables``.

Prints the tables of docs/signs.md, docs/missing-values.md and docs/feature-weights.md in Markdown.
All are over random splits: everything is learned, chosen and filled in on the training part alone,
and scored on the rest. R² is the median over the splits; differences are within a split, their
median and quartiles. Numbers of groups are means.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr
from joblib import Parallel, delayed
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV
from lincfa.datasets import _loaders

from .bars import new_console, save
from .sources import APART, CHOSEN_ON, Data, _example

Array = npt.NDArray[Any]
Figures = dict[str, float]  # of one fit: R², groups, …
Found = dict[Any, Figures]  # by model
search = partial(LinCFACV, cv=5)


@dataclass(frozen=True)
class Split:
    """Samples to learn from, and others to score on."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any

    @classmethod
    def of(cls, X: Any, y: Any, size: int | float | None, seed: int) -> "Split":
        """Draw the training samples at random."""
        places = np.arange(len(y))
        train, test = train_test_split(places, train_size=size or 0.67, random_state=seed)
        return cls(X[train], y[train], X[test], y[test])

    def fit(self, *steps: Any) -> Any:
        """Fit some steps, one of which has groups, to the training samples."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # many groups for the samples
            return make_pipeline(*steps).fit(self.X, self.y)

    def score(self, *steps: Any) -> Figures:
        """Fit, and return R² on the test samples, the number of groups and their cohesion."""
        pipeline = self.fit(*steps)
        groups = next(step for step in steps if hasattr(step, "cohesion_"))
        lowest = np.append(groups.cohesion_["min_correlation"], 1.0)
        return {
            "R²": r2_score(self.y_test, pipeline.predict(self.X_test)),
            "groups": groups.n_groups_,
            "lowest": np.nanmin(lowest),
        }


# Signs


def with_transmittance() -> Data:
    """Return absorbance and transmittance of meat at 100 wavelengths each, to predict its fat."""
    meats = CHOSEN_ON["meat-fat"]()
    return Data(np.hstack([meats.X, 10.0**-meats.X]), meats.y, 144)


def with_derivative() -> Data:
    """Return absorbance and its derivative, to predict the fat of meat."""
    meats = CHOSEN_ON["meat-fat"]()
    return Data(np.hstack([meats.X, np.gradient(meats.X, axis=1)]), meats.y, 144)


def atlantic_heights() -> tuple[xr.DataArray, xr.DataArray]:
    """Return 500 hPa heights on a grid of 5° in 65 winters, and their mean over Iceland.

    Cells within 10° of the box of the target are left out: they would give it away.
    """
    path = "examples/example_data/hgt_djf.nc"
    field = _example("pacific").read("eofs", path, "z").squeeze("pressure", drop=True)
    north, east = abs(field["latitude"] - 65), abs(field["longitude"] + 20)
    box = field.where((north <= 5) & (east <= 10))
    target = box.weighted(np.cos(np.radians(field["latitude"]))).mean(["latitude", "longitude"])
    far = field.where((north > 15) | (east > 20))
    return far.isel(latitude=slice(None, None, 2), longitude=slice(None, None, 2)), target


def heights_table() -> Data:
    """Return the heights as a table of cells."""
    field, target = atlantic_heights()
    cells = field.values.reshape(len(target), -1)
    return Data(cells[:, ~np.isnan(cells).any(axis=0)], target.values)


def whole_life() -> Data:
    """Return life expectancy with two thirds of its rows for training."""
    life = CHOSEN_ON["life"]()
    return Data(life.X, life.y)


SIGNED: dict[str, Callable[[], Data]] = {
    "life expectancy": whole_life,
    "financial": CHOSEN_ON["financial"],
    "climatological": CHOSEN_ON["climatological"],
    "absorbance and derivative": with_derivative,
    "absorbance and transmittance": with_transmittance,
    "Atlantic heights": heights_table,
}


def score_signs(data: Data, seed: int) -> Found:
    """Score merging without and with signs on one split."""
    split = Split.of(data.X, data.y, data.n_train, seed)
    found = {}
    for signed in (False, True):
        for name, limit in {"LinCFA": None, "LinCFA, min_correlation=0.5": 0.5}.items():
            model = LinCFA(signed=signed, min_correlation=limit)
            found[name, signed] = split.score(model, LinearRegression())
        found["LinCFACV", signed] = split.score(search(signed=signed))
    return found


# Missing values


def score_gaps(split: Split, gaps: Array | None = None) -> Found:
    """Score ways to learn from samples with gaps; ``gaps`` says which test samples have some."""
    complete = ~np.isnan(split.X).any(axis=1)
    similar = make_pipeline(StandardScaler(), KNNImputer())
    whole = np.ones_like(complete)
    ways: dict[str, tuple[Array, list[Any]]] = {
        "pairwise": (whole, [search(missing="pairwise")]),
        "column means": (whole, [SimpleImputer(), search()]),
        "similar rows": (whole, [similar, search()]),
        "dropped": (complete, [SimpleImputer(), search()]),  # fills gaps in test samples alone
    }
    parts = {"R²": slice(None)} if gaps is None else {"R²": ~gaps, "R² with gaps": gaps}
    found = {}
    for name, (rows, steps) in ways.items():
        found[name] = {"rows": rows.sum(), "groups": np.nan} | dict.fromkeys(parts, np.nan)
        if rows.sum() >= 50:
            kept = Split(split.X[rows], split.y[rows], split.X_test, split.y_test)
            pipeline = kept.fit(*steps)
            predicted = pipeline.predict(split.X_test)
            found[name]["groups"] = steps[-1].n_groups_
            for part, of in parts.items():
                found[name][part] = r2_score(split.y_test[of], predicted[of])
    return found


def life_with_gaps() -> Data:
    """Return life expectancy with all rows that have a target."""
    target = "Life expectancy "
    path, table = _loaders._read(_loaders.LIFE_EXPECTANCY, None, verify=True)
    X, y = _loaders._after(path, table.dropna(subset=[target]), target)
    return Data(X.to_numpy(float), y.to_numpy(float))


def score_real_gaps(data: Data, seed: int) -> Found:
    """Score on a third of the rows, the complete ones and those with gaps apart."""
    split = Split.of(data.X, data.y, None, seed)
    return score_gaps(split, np.isnan(split.X_test).any(axis=1))


PUNCHED: dict[str, Callable[[], Data]] = {
    "life expectancy": whole_life,
    "body measurements": APART["body"],
    "climatological": CHOSEN_ON["climatological"],
    "meat spectra": lambda: Data(CHOSEN_ON["meat-fat"]().X, CHOSEN_ON["meat-fat"]().y, 144),
}


def score_punched(data: Data, share: float, seed: int) -> Found:
    """Score after values of the training samples were made missing at random."""
    split = Split.of(data.X, data.y, data.n_train, seed)
    holes = np.random.default_rng(seed).random(split.X.shape) < share
    punched = Split(np.where(holes, np.nan, split.X), split.y, split.X_test, split.y_test)
    return {"no gaps": split.score(search())} if share == 0 else score_gaps(punched)


# Weights of features


def globe(south: float) -> tuple[xr.DataArray, xr.DataArray]:
    """Generate 200 samples on a grid of 10°, and their area mean from a latitude on with noise.

    The field is a sum of bumps that are spread evenly over the sphere: as smooth at the poles,
    where cells are small, as at the equator. Every cell has noise of its own.
    """
    random = np.random.default_rng(0)
    lat, lon = np.arange(-85.0, 90, 10), np.arange(0.0, 360, 10)
    phi, lam = np.radians(np.meshgrid(lat, lon, indexing="ij")).reshape(2, -1)
    places = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)])
    bumps = random.normal(size=(300, 3))
    bumps /= np.linalg.norm(bumps, axis=1, keepdims=True)
    values = random.normal(size=(200, 300)) @ np.exp((bumps @ places - 1) / 0.1)
    values += 0.2 * values.std() * random.normal(size=values.shape)
    grid = {"lat": lat, "lon": lon}
    field = xr.DataArray(values.reshape(200, 18, 36), grid, ("time", "lat", "lon"), "t2m")
    part = field.sel(lat=slice(south, None))
    mean = part.weighted(np.cos(np.radians(part["lat"]))).mean(["lat", "lon"])
    return field, mean + 0.5 * float(mean.std()) * random.normal(size=200)


def pacific() -> tuple[xr.DataArray, xr.DataArray]:
    """Return sea surface temperatures from 22.5° S to 62.5° N and the Southern Oscillation."""
    example = _example("pacific")
    return example.read_fields()["sst"], example.read_oscillation()


FIELDS: dict[str, Callable[[], tuple[xr.DataArray, xr.DataArray]]] = {
    "globe (generated), mean of the globe": lambda: globe(-90),
    "globe (generated), mean north of 50°": lambda: globe(50),
    "Atlantic heights, 20–90° N": atlantic_heights,
    "Pacific temperatures, 22° S–62° N": pacific,
}


def off_area_mean(model: LinCFA | LinCFACV, field: xr.DataArray) -> float:
    """Return how far the values of the largest group are from the area means of its cells."""
    largest = max(range(model.n_groups_), key=lambda group: len(model.groups_[group]))
    areas = np.cos(np.radians(field[next(dim for dim in field.dims if str(dim).startswith("lat"))]))
    cells = field.where(model.label_map() == largest)
    true = cells.weighted(areas).mean([dim for dim in field.dims if dim != "time"])
    return float(abs(model.transform(field).sel(group=largest) - true).mean())


def score_areas(field: xr.DataArray, target: xr.DataArray, seed: int) -> Found:
    """Score plain means and area means on one split."""
    split = Split.of(field, target, None, seed)
    found = {}
    for weights in (None, "area"):
        given = {"connectivity": "grid", "units": "original", "feature_weights": weights}
        fixed, chosen = LinCFA(tolerance=10, **given), search(**given)
        ways = {"LinCFA, tolerance=10": (fixed, LinearRegression()), "LinCFACV": (chosen,)}
        for name, steps in ways.items():
            figures = split.score(*steps)
            figures["off"] = off_area_mean(steps[0], split.X_test)
            found[name, weights is not None] = figures
    return found


# Tables


def over_splits(score: Callable[..., Found], *given: Any, splits: int) -> dict[Any, Any]:
    """Return the figures of each model, an array over splits for each."""
    found = Parallel(n_jobs=-1)(delayed(score)(*given, seed=seed) for seed in range(splits))
    return {
        model: {name: np.array([of[model][name] for of in found]) for name in figures}
        for model, figures in found[0].items()
    }


def n_train(data: Data) -> int:
    """Return the number of training samples."""
    return data.n_train or int(0.67 * len(data.y))


def minus(text: str) -> str:
    """Return numbers with a proper minus sign."""
    return text.replace("-", "−")


def median(values: Array) -> str:
    """Return the median and half of the distance between the quartiles; empty if none is known."""
    if np.isnan(values).any():
        return "—"
    low, middle, high = np.percentile(values, (25, 50, 75))
    return minus(f"{middle:.3f} ± {(high - low) / 2:.3f}")


def with_and_without(label: str, found: dict[Any, Any], also: str) -> list[list[str]]:
    """Return a row for each model: R² without and with, their difference, groups and one more."""
    rows = []
    for model in dict.fromkeys(name for name, _ in found):
        pair = [found[model, False], found[model, True]]
        low, middle, high = np.percentile(pair[1]["R²"] - pair[0]["R²"], (25, 50, 75))
        cells = [minus(f"{middle:+.3f} ({low:+.3f} to {high:+.3f})")]
        cells.append(" → ".join(f"{of['groups'].mean():.0f}" for of in pair))
        cells.append(minus(" → ".join(f"{np.median(of[also]):.2f}" for of in pair)))
        rows.append([label if not rows else "", model, *(median(of["R²"]) for of in pair), *cells])
    return rows


def signs(splits: int) -> Iterator[list[str]]:
    """Yield the rows of the table of docs/signs.md."""
    yield ["data", "model", "R²", "R², signed", "difference", "groups", "smallest correlation"]
    for name, load in SIGNED.items():
        data = load()
        found = over_splits(score_signs, data, splits=splits)
        yield from with_and_without(f"{name}, {n_train(data)} × {data.X.shape[1]}", found, "lowest")


def real_gaps(splits: int) -> Iterator[list[str]]:
    """Yield the rows of the first table of docs/missing-values.md."""
    yield ["", "training rows", "R², complete rows", "R², rows with gaps", "groups"]
    for way, of in over_splits(score_real_gaps, life_with_gaps(), splits=splits).items():
        scores = (median(of["R²"]), median(of["R² with gaps"]))
        yield [way, f"{of['rows'].mean():.0f}", *scores, f"{of['groups'].mean():.0f}"]


def punched(splits: int) -> Iterator[list[str]]:
    """Yield the rows of the second table of docs/missing-values.md."""
    ways = ("pairwise", "column means", "similar rows", "dropped")
    yield ["data", "no gaps", "missing", *ways]
    for name, load in PUNCHED.items():
        data = load()
        whole = over_splits(score_punched, data, 0, splits=splits)["no gaps"]
        label, known = f"{name}, {n_train(data)} × {data.X.shape[1]}", scored(whole)
        for share in (0.1, 0.3):
            found = over_splits(score_punched, data, share, splits=splits)
            yield [label, known, f"{100 * share:.0f} %", *(scored(found[way]) for way in ways)]
            label = known = ""


def scored(of: dict[str, Array]) -> str:
    """Return R² and the number of groups; without them, the number of rows that are left."""
    if np.isnan(of["R²"]).any():
        return f"{of['rows'].mean():.0f} rows left"
    return f"{median(of['R²'])} ({of['groups'].mean():.0f})"


def areas(splits: int) -> Iterator[list[str]]:
    """Yield the rows of the table of docs/feature-weights.md."""
    yield ["field, target", "model", "R²", "R², area", "difference", "groups", "off area mean"]
    for name, load in FIELDS.items():
        found = over_splits(score_areas, *load(), splits=splits)
        yield from with_and_without(name, found, "off")


TABLES = {
    "docs/signs.md": signs,
    "docs/missing-values.md, real gaps": real_gaps,
    "docs/missing-values.md, gaps punched in": punched,
    "docs/feature-weights.md": areas,
}


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_tables", description=__doc__)
    parser.add_argument("--splits", type=int, default=10, help="splits per data set")
    options = parser.parse_args()
    console = new_console()
    for title, rows in TABLES.items():
        console.print(f"\n{title}, {options.splits} splits\n")
        for number, row in enumerate(rows(options.splits)):
            lines = [f"| {' | '.join(row)} |"] + ["|---" * len(row) + "|"] * (number == 0)
            for line in lines:
                console.print(line, markup=False, highlight=False, soft_wrap=True)
    save(console, "real_tables", options.splits < 10)


if __name__ == "__main__":
    main()
