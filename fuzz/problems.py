"""Small problems of all kinds, as arrays and options, and the containers they are given in."""

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lincfa import LinCFA

Array = npt.NDArray[Any]
Drawn = tuple[dict[str, Any], dict[str, Array]]

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")
IN_MEMORY = ("C", "F", "strided", "reversed", "big-endian", "memmap", "pandas", "polars", "xarray")
SUMS = ("stream", "dask", "dask chunks")
CONTAINERS = (*IN_MEMORY, *SUMS)
_CHANCES = np.array([8, 5, 3, 2, 2, 0.5, 3, 2, 0.5, 6, 0.15, 0.15])


def by_sums(container: str) -> bool:
    """Whether a fit keeps sums of products, and no columns."""
    return container in SUMS


# Drawing


def draw_problem(rng: np.random.Generator, container: str | None = None) -> Drawn:
    """Draw data, a strategy, its options and a container that may hold the data, if none is set."""
    n = int(rng.integers(4, 13) if rng.random() < 0.3 else rng.integers(8, 61))
    D = int(rng.integers(2, 13) if rng.random() < 0.9 else rng.integers(13, 41))
    strategy = str(rng.choice(STRATEGIES))
    if strategy in ("agglomerative", "joint"):
        D = min(D, 20)
    if container is None:
        container = str(rng.choice(CONTAINERS, p=_CHANCES / _CHANCES.sum()))
    X, types = draw_columns(rng, n, D, container)
    y = draw_target(rng, X.astype(np.float64))
    arrays: dict[str, Array] = {"X": X, "y": y}
    parameters: dict[str, Any] = {}
    options: dict[str, Any] = {
        "strategy": strategy,
        "container": container,
        "types": types,
        "parameters": parameters,
        "tolerance": draw_tolerance(rng),
        "structure": "free",
        "seed": int(rng.integers(2**31)),
    }
    if rng.random() < 0.15:
        parameters["min_correlation"] = round(float(rng.uniform(-0.3, 0.95)), 3)
    if rng.random() < 0.3:
        parameters["signed"] = True
    if rng.random() < 0.2:
        parameters["units"] = "original"
    if rng.random() < 0.2:
        arrays["feature_weights"] = rng.uniform(0.1, 5, D) ** rng.integers(0, 3)
    if rng.random() < 0.2:
        weights = rng.uniform(0.2, 3, n) if rng.random() < 0.5 else rng.integers(0, 4, n)
        varies = weights.any() and np.ptp(y[weights > 0], axis=0).all()
        if np.sum(weights) >= 6 and np.sum(weights > 0) >= 4 and varies:
            arrays["sample_weight"] = np.asarray(weights, dtype=float)
    total = float(np.sum(arrays.get("sample_weight", np.ones(n))))
    if rng.random() < 0.12:
        parameters["effective_samples"] = float(rng.uniform(min(4.5, total), total))
    chance = rng.random()
    counted = parameters.get("effective_samples", total)
    gaps = rng.random() < 0.12 and X.dtype.kind == "f" and "int" not in "".join(types)
    if chance < 0.1:
        variance = np.asarray(y, dtype=float).reshape(n, -1).var(axis=0).max()
        parameters["noise"] = float(max(variance, 1e-290) * 10.0 ** rng.uniform(-3, 1))
    elif chance < 0.2 and counted > D + 2 and not gaps:
        parameters["noise"] = "full"
    if gaps:
        parameters["missing"] = "pairwise"
        X[rng.random(X.shape) < rng.choice([0.03, 0.1, 0.25])] = np.nan
        if container == "xarray":  # of which a cell without any value is no feature
            X[0, np.isnan(X).all(axis=0)] = 0.0
    elif rng.random() < 0.05:
        parameters["missing"] = "pairwise"
    draw_structure(rng, D, options, arrays)
    free = options["structure"] == "free" and "min_correlation" not in parameters and not gaps
    if free and strategy in ("agglomerative", "joint") and rng.random() < 0.2:
        options["tolerance"] = 1.0
        parameters["n_groups"] = int(rng.integers(1, 1 + max(1, D // 3)))
    return options, arrays


def draw_tolerance(rng: np.random.Generator) -> Any:
    """A tolerance that some would choose, or any."""
    common = [1.0, 1.0, "unbiased", 4.0, 0.5, 0.1, 7.0, 50.0]
    if rng.random() < 0.7:
        return common[int(rng.integers(len(common)))]
    return float(10.0 ** rng.uniform(-6, 4))


def draw_columns(
    rng: np.random.Generator, n: int, D: int, container: str
) -> tuple[Array, list[str]]:
    """Columns of several kinds, as the types they come in can hold them; in float64."""
    kind = rng.choice(["plain", "single", "half", "int", "mixed"], p=[0.6, 0.18, 0.05, 0.1, 0.07])
    if kind == "mixed" and container != "pandas":
        kind = "plain"
    if kind == "half" and container in ("polars", "dask", "dask chunks", "xarray"):
        kind = "single"
    name = {"plain": "float64", "single": "float32", "half": "float16", "int": "int32"}
    if kind == "mixed":
        types = [str(each) for each in rng.choice(["float64", "float32", "float16"], size=D)]
    else:
        types = [name[str(kind)]] * D
    if kind == "int":
        most = 3 if rng.random() < 0.6 else 99
        X = rng.integers(1 - most, most, size=(n, D)).astype(float)
    else:
        k = int(rng.integers(1, 4))
        common = rng.normal(size=(n, k))
        X = common[:, rng.integers(k, size=D)] + 10.0 ** rng.uniform(-2, 0.5) * rng.normal(
            size=(n, D)
        )
        if rng.random() < 0.3:
            X *= rng.choice([-1, 1], size=D)
    nearest = 9.0 if rng.random() < 0.4 else 2.5
    for j in range(1, D):  # some are like others
        chance = rng.random()
        if chance > 0.2:
            continue
        i = int(rng.integers(j))
        if chance < 0.05:
            X[:, j] = X[:, i]
        elif chance < 0.08:
            X[:, j] = -X[:, i]
        elif kind != "int":
            X[:, j] = X[:, i] + 10.0 ** -rng.uniform(0.3, nearest) * rng.normal(size=n)
            X[:, j] *= rng.choice([1, 1, 1, -1])
    if kind != "int":
        narrow = kind in ("half", "mixed")
        largest = {"single": 15.0, "plain": 145.0}.get(str(kind), 1.0)
        if container in SUMS:
            largest = min(largest, 60.0)
        chance = rng.random()
        if chance < 0.1:
            X *= 10.0 ** rng.uniform(-largest, largest)
        elif chance < 0.25:
            X *= 10.0 ** rng.uniform(-min(largest, 20), min(largest, 20), size=D)
        if rng.random() < 0.3:
            most = 1 if narrow else 3 if kind == "single" else 6
            far = 10.0 ** rng.uniform(-1, most if rng.random() < 0.3 else 1)
            X += X.std(axis=0) * far * rng.choice([0, 1, -1], size=D)
    if rng.random() < 0.05:
        X[:, int(rng.integers(D))] = rng.choice([0.0, 1.0, 3.0])
    columns = [X[:, j].astype(types[j]) for j in range(D)]
    for j in range(1, D):  # a copy in another unit, rounded in its own type
        if rng.random() < 0.06 and types[j].startswith("float"):
            i = int(rng.integers(j))
            with np.errstate(over="ignore", under="ignore"):
                own = columns[i].astype(types[j])
                copy = (own * own.dtype.type(1.8) + own.dtype.type(0.3) * own[0]).astype(types[j])
            if np.isfinite(copy).all():
                columns[j] = copy
    X = np.column_stack([column.astype(np.float64) for column in columns])
    if not np.ptp(X, axis=0).any():  # one has to vary
        X[:, 0] = np.arange(n)
    return X, types


def draw_target(rng: np.random.Generator, X: Array) -> Array:
    """One target, or up to three; nearly explained by two features now and then."""
    scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    Z = (X - X.mean(axis=0)) / scale
    n, D = Z.shape
    targets = []
    for _ in range(int(rng.choice([1, 1, 1, 1, 2, 3]))):
        chance = rng.random()
        if chance < 0.15:
            y = rng.normal(size=n)
        elif chance < 0.25:
            i, j = rng.integers(D, size=2)
            y = Z[:, i] + Z[:, j] + 10.0 ** -rng.uniform(0, 8) * rng.normal(size=n)
        elif chance < 0.28:
            i, j = rng.integers(D, size=2)
            y = Z[:, i] + rng.choice([1, -1, 0.5]) * Z[:, j]
        elif chance < 0.35:
            y = rng.integers(0, 4, size=n).astype(float)
        else:
            y = Z @ rng.normal(size=D) / np.sqrt(D)
            y += 10.0 ** rng.uniform(-1, 1) * rng.normal(size=n)
        if np.ptp(y) == 0:
            y = np.arange(n, dtype=float)
        if rng.random() < 0.2:
            y = y * 10.0 ** rng.uniform(-60, 60)
        if rng.random() < 0.2:
            y = y + y.std() * 10.0 ** rng.uniform(-1, 5)
        targets.append(y)
    return targets[0] if len(targets) == 1 else np.column_stack(targets)


def draw_structure(
    rng: np.random.Generator, D: int, options: dict[str, Any], arrays: dict[str, Array]
) -> None:
    """Neighbours or blocks, in some cases."""
    chance = rng.random()
    if chance < 0.07:
        options["structure"] = "chain"
    elif chance < 0.14:
        options["structure"] = "graph"
        graph = rng.random((D, D)) < 2.0 / D
        arrays["graph"] = np.triu(graph, 1) | np.triu(graph, 1).T
    elif chance < 0.2:
        options["structure"] = "blocks"
        arrays["blocks"] = rng.integers(0, 3, size=D)


def structure_of(
    options: dict[str, Any], arrays: dict[str, Array]
) -> tuple[dict[str, Any], npt.NDArray[np.bool_] | None]:
    """Parameters of the structure, and which features may merge directly."""
    D = arrays["X"].shape[1]
    if options["structure"] == "chain":
        return {"connectivity": "chain"}, np.eye(D, k=1, dtype=bool) | np.eye(D, k=-1, dtype=bool)
    if options["structure"] == "graph":
        return {"connectivity": arrays["graph"]}, arrays["graph"]
    if options["structure"] == "blocks":
        blocks = arrays["blocks"]
        return {"blocks": blocks}, blocks[:, None] == blocks
    return {}, None


# Containers


def fitted(options: dict[str, Any], arrays: dict[str, Array]) -> LinCFA:
    """Fit a model as the options say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # constant columns, many groups
        return fitted_in(options["container"], model_of(options, arrays), options, arrays)


def model_of(options: dict[str, Any], arrays: dict[str, Array]) -> LinCFA:
    """The model that the options ask for."""
    return LinCFA(
        strategy=options["strategy"],
        tolerance=options["tolerance"],
        **options["parameters"],
        **structure_of(options, arrays)[0],
        feature_weights=arrays.get("feature_weights"),
    )


def fitted_in(
    container: str, model: LinCFA, options: dict[str, Any], arrays: dict[str, Array]
) -> LinCFA:
    """Fit a model to data in some container."""
    X, y, weights = arrays["X"], arrays["y"], arrays.get("sample_weight")
    types = options["types"]
    if container == "stream":
        values = X.astype(types[0])
        rng = np.random.default_rng(options["seed"])
        cuts = np.sort(rng.integers(1, len(y) + 1, size=int(rng.integers(0, 4)))).tolist()
        for start, stop in zip([0, *cuts], [*cuts, len(y)], strict=True):
            if stop > start:
                own = None if weights is None else weights[start:stop]
                model.partial_fit(values[start:stop], y[start:stop], own)
        model.get_feature_names_out()  # raises if the rows did not suffice
        return model
    if container == "memmap":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "X.npy"
            np.save(path, X.astype(types[0]))
            return model.fit(np.load(path, mmap_mode="r"), y, weights)
    if container.startswith("dask"):
        import dask
        import dask.array as da

        rows = max(1, len(y) // 3) if container == "dask chunks" else len(y)
        columns = max(1, X.shape[1] // 2) if container == "dask chunks" else X.shape[1]
        lazy = da.from_array(X.astype(types[0]), chunks=(rows, columns))
        with dask.config.set(scheduler="synchronous"):
            return model.fit(lazy, y, weights)
    if container == "xarray":
        model.sample_dim = "time"
    return model.fit(table(container, X, types), y, weights)


def table(container: str, X: Array, types: list[str]) -> Any:
    """Data in a container in memory."""
    if container == "pandas":
        import pandas as pd

        columns = {f"x{j}": X[:, j].astype(each) for j, each in enumerate(types)}
        return pd.DataFrame(columns)
    if container == "polars":
        import polars as pl

        return pl.DataFrame({f"x{j}": X[:, j].astype(each) for j, each in enumerate(types)})
    values = X.astype(types[0])
    if container == "xarray":
        import xarray as xr

        return xr.DataArray(values, dims=("time", "cell"))
    if container == "F":
        return np.asfortranarray(values)
    if container == "strided":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]), dtype=types[0])
        wide[::2, ::3] = values
        return wide[::2, ::3]
    if container == "reversed":
        return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]
    if container == "big-endian":
        return values.astype(values.dtype.newbyteorder(">"))
    return values
