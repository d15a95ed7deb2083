"""Fits on dask collections in odd chunks; some chunks lie, change, raise or kill their worker."""

import logging
import os
import signal
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import numpy.typing as npt

from lincfa import LinCFA

from .case import Case, Tried
from .differential import judged
from .problems import draw_problem, model_of

SHARE = 2.0
NEEDS = ("dask", "distributed", "pandas", "pyarrow")
LIMIT = 600.0  # seconds for a fit on a cluster, which takes five; on a busy machine some more

Array = npt.NDArray[Any]
Change = Callable[[Array], Any]

_KINDS = {"plain": 0.7, "lies": 0.14, "changes": 0.1, "raises": 0.0593, "kills": 0.0007}
_FRAMES = 0.1  # share of dataframes
_FEWEST = 40  # numbers in a batch: as many as a pair has with three targets
_PATIENCE = "5 minutes"  # for a worker to be replaced, on a busy machine


class BrokenBlockError(Exception):
    """What a block raises that cannot be computed."""


# Drawing


def draw(rng: np.random.Generator) -> Case:
    options, arrays = draw_problem(rng, "dask")
    n, D = arrays["X"].shape
    kind = str(rng.choice(list(_KINDS), p=list(_KINDS.values())))
    frame = kind in ("plain", "changes", "raises") and rng.random() < _FRAMES
    rows, columns = _draw_chunks(rng, n), [D] if frame else _draw_chunks(rng, D)
    options |= {"kind": kind, "frame": bool(frame), "rows": rows, "columns": columns}
    options["target"] = _draw_chunks(rng, n) if rng.random() < 0.5 else None
    options["weights"] = _draw_chunks(rng, n) if rng.random() < 0.5 else None
    # Numbers that come back from a pass, and features in a round; few of them make many passes.
    options["batch"] = None if rng.random() < 0.4 else _FEWEST + int(rng.integers(D * D))
    options["reduce"] = bool(rng.random() < 0.2)
    options["round"] = int(rng.integers(1, 20))
    options["place"] = [int(rng.choice(np.flatnonzero(chunks))) for chunks in (rows, columns)]
    options["after"] = 0  # computations of the block before it does what it does
    if kind == "lies":
        options["what"] = str(rng.choice([*_SHAPES, *_TYPES, *_HARMLESS, *_VALUES]))
    elif kind == "changes":
        options["what"], options["after"] = str(rng.choice(list(_CHANGES))), int(rng.integers(1, 6))
    elif kind == "raises":
        options["after"] = int(rng.integers(0, 6))
    elif kind == "kills":
        options["after"] = int(rng.integers(0, 4))
        options["times"] = int(rng.choice([1, 1, 2, 99]))
    return Case("chunks", options, arrays)


def _draw_chunks(rng: np.random.Generator, size: int) -> list[int]:
    """Sizes that add up: one chunk, single ones, even ones, or any, some of them empty."""
    chance = rng.random()
    if chance < 0.2:
        return [size]
    if chance < 0.3 and size <= 8:
        return [1] * size
    if chance < 0.4:
        each = int(rng.integers(1 + size // 4, size + 1))
        return [min(each, size - top) for top in range(0, size, each)]
    cuts = np.sort(rng.integers(0, size + 1, size=int(rng.integers(1, 5)))).tolist()
    return [b - a for a, b in pairwise([0, *cuts, size])]


# What is wrong with a block


def _middle(part: Array) -> tuple[int, int]:
    return len(part) // 2, part.shape[1] // 2


def _with_value(part: Array, value: float) -> Array:
    part = part.astype(np.result_type(part.dtype, np.float32))
    part[_middle(part)] = value
    return part


def _with_one_other(part: Array) -> Array:
    part = part.copy()
    row, column = _middle(part)
    size = np.sqrt(np.nan_to_num(part[:, column].astype(float) ** 2).mean())
    part[row, column] += np.ceil(size).astype(part.dtype) if size > 1 else 1
    return part


_SHAPES: dict[str, Change] = {
    "fewer rows": lambda part: part[1:],
    "half of the rows": lambda part: part[: len(part) // 2],
    "more rows": lambda part: np.vstack([part, part[:1]]),
    "fewer columns": lambda part: part[:, 1:],
    "more columns": lambda part: np.hstack([part, part[:, :1]]),
    "flat": lambda part: part.ravel(),
    "deep": lambda part: part[:, :, None],
}
_TYPES: dict[str, Change] = {
    "longer": lambda part: part.astype(np.longdouble),
    "complex": lambda part: part.astype(complex),
    "text": lambda part: part.astype(str),
    "objects": lambda part: part.astype(object),
    "list": lambda part: part.tolist(),
    "nothing": lambda part: None,
}
_HARMLESS: dict[str, Change] = {
    "by columns": np.asfortranarray,
    "big-endian": lambda part: part.astype(part.dtype.newbyteorder(">")),
    "strided": lambda part: np.repeat(part, 2, axis=1)[:, ::2],
}
_VALUES: dict[str, Change] = {
    "NaN": lambda part: _with_value(part, np.nan),
    "infinity": lambda part: _with_value(part, np.inf),
}
_CHANGES: dict[str, Change] = {
    "rows": lambda part: part[::-1],
    "columns": lambda part: part[:, ::-1],
    "signs": lambda part: -part,
    "unit": lambda part: 3 * part,
    "one value": _with_one_other,
}


def _raise(part: Array) -> Array:
    raise BrokenBlockError("this block cannot be computed")


class _Altered:
    """One block of an array, changed from some computation on."""

    def __init__(self, change: Change, place: list[int], after: int) -> None:
        self.change, self.place, self.after, self.computed = change, tuple(place), after, 0

    def __call__(self, part: Array, block_info: Any = None) -> Any:
        return self.of(part, tuple(block_info[None]["chunk-location"]))

    def of(self, part: Array, place: tuple[int, ...]) -> Any:
        """What comes instead of a block, given its place."""
        if place != self.place:
            return part
        self.computed += 1
        return self.change(part) if self.computed > self.after else part


# Collections


def _collections(options: dict[str, Any], arrays: dict[str, Array], altered: Any) -> list[Any]:
    """Features, targets and weights, of which some are lazy."""
    import dask.array as da

    X = arrays["X"].astype(options["types"][0])
    collections = [_frame(X, options["rows"], altered) if options["frame"] else None]
    if not options["frame"]:
        chunks = tuple(options["rows"]), tuple(options["columns"])
        lazy = da.from_array(X, chunks=X.shape).rechunk(chunks)
        meta = np.empty((0, 0), X.dtype)
        collections = [lazy if altered is None else lazy.map_blocks(altered, meta=meta)]
    for name, cut in (("y", options["target"]), ("sample_weight", options["weights"])):
        values = arrays.get(name)
        if cut is not None and values is not None:
            values = da.from_array(values, chunks=values.shape).rechunk({0: tuple(cut)})
        collections.append(values)
    return collections


def _frame(X: Array, rows: list[int], altered: Any) -> Any:
    import dask.dataframe as dd
    import pandas as pd

    names = [f"x{j}" for j in range(X.shape[1])]
    tops = np.cumsum([0, *rows])

    def read(place: int) -> Any:
        part = X[tops[place] : tops[place + 1]]
        if altered is not None:
            part = altered.of(part, (place, 0))
        return pd.DataFrame(part, columns=names)

    # dask would take a living collection of the same name, with what its function remembers.
    meta, label = pd.DataFrame(X[:0], columns=names), token_hex(8)
    return dd.from_map(read, range(len(rows)), meta=meta, label=label)


# Checks


def check(case: Case) -> Tried:
    options, arrays = case.options, case.arrays
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if options["kind"] == "kills":
            return _check_killed(options, arrays)
        what = options.get("what")
        change = {**_SHAPES, **_TYPES, **_HARMLESS, **_VALUES, **_CHANGES}.get(what)
        if options["kind"] == "raises":
            change = _raise
        altered = change and _Altered(change, options["place"], options["after"])
        try:
            model, error = _fitted(options, arrays, altered), None
        except (ValueError, BrokenBlockError) as raised:
            model, error = None, raised
        if options["kind"] == "raises" and altered.computed > options["after"]:
            if isinstance(error, BrokenBlockError):
                return Tried()
            raise AssertionError(f"a block that raises is not reported, but {error!r}")
        if what in _SHAPES or what in _TYPES:
            said = f"Block ({', '.join(map(str, options['place']))}) of X"
            return _expect(error, said, " came with ")
        if what in _VALUES:
            return _judge_values(model, error, options, arrays)
        if options["kind"] == "changes" and altered.computed > options["after"]:
            return _judge_change(model, error, options, arrays)
        return _judge(model, error, options, arrays)


def _fitted(options: dict[str, Any], arrays: dict[str, Array], altered: Any) -> LinCFA:
    import dask

    from dask_data import on_route

    X, y, weights = _collections(options, arrays, altered)
    batch = options["batch"]
    route = "one pass" if batch is None else "many passes"
    with dask.config.set(scheduler="synchronous"), on_route(route, batch, options["round"]):
        model = model_of(options, arrays).fit(X, y, weights)
    if options["reduce"] and altered is None:
        _check_reduced(model, X, options, arrays)
    return model


def _check_reduced(
    model: LinCFA, lazy: Any, options: dict[str, Any], arrays: dict[str, Array]
) -> None:
    """What a model makes of chunks must be what it makes of the same data in memory."""
    X = arrays["X"].astype(options["types"][0])
    expected = model.transform(X)
    found = np.asarray(model.transform(lazy).compute(scheduler="synchronous"))
    # Sums in another order, of values as large as these.
    scale = model.scale_ if model.units == "standardized" else np.ones(X.shape[1])
    largest = np.nanmax(np.abs(X) / np.where(model.labels_ < 0, np.inf, scale), initial=1e-300)
    bound = 64 * np.finfo(expected.dtype).eps * X.shape[1] * largest
    np.testing.assert_allclose(found, expected, rtol=0, atol=bound, err_msg="reduced features")


def _expect(error: Exception | None, *parts: str) -> Tried:
    if isinstance(error, ValueError) and all(part in str(error) for part in parts):
        return Tried()
    raise AssertionError(f"no error with {parts}, but {error!r}")


def _judge(
    model: LinCFA | None, error: Any, options: dict[str, Any], arrays: dict[str, Array]
) -> Tried:
    """Judge groups and figures, or an error."""

    def outcome() -> LinCFA:
        if model is None:
            raise error
        return model

    return judged(outcome, options, arrays)


def _block(options: dict[str, Any]) -> tuple[slice, slice]:
    """Rows and columns of the block in question."""
    i, j = options["place"]
    rows, columns = (np.cumsum([0, *options[name]]) for name in ("rows", "columns"))
    return slice(rows[i], rows[i + 1]), slice(columns[j], columns[j + 1])


def _judge_values(
    model: LinCFA | None, error: Any, options: dict[str, Any], arrays: dict[str, Array]
) -> Tried:
    """A value that is not finite is named, unless it is a missing one or its row has no weight."""
    X, block = arrays["X"].copy(), _block(options)
    row, column = (place.start + k for place, k in zip(block, _middle(X[block]), strict=True))
    X[row, column] = np.nan if options["what"] == "NaN" else np.inf
    if arrays.get("sample_weight", np.ones(len(X)))[row] == 0:
        return _judge(model, error, options, arrays)
    if options["what"] == "NaN" and options["parameters"].get("missing") == "pairwise":
        return _judge(model, error, options, arrays | {"X": X})
    word = "NaN" if options["what"] == "NaN" else "infinity"
    return _expect(error, f"X contains {word} in column {column} (row {row})")


def _judge_change(
    model: LinCFA | None, error: Any, options: dict[str, Any], arrays: dict[str, Array]
) -> Tried:
    """The change is noticed, or the groups are those of what was read before it, or after it."""
    kind = np.dtype(options["types"][0])
    X, block = arrays["X"].astype(kind), _block(options)
    X[block] = _CHANGES[options["what"]](X[block].copy())
    if np.array_equal(X, arrays["X"].astype(kind), equal_nan=True):
        return _judge(model, error, options, arrays)
    if error is not None and "gave other values" in str(error):
        return Tried()
    # Rows of dataframes are counted first; and where values are missing, a pass finds that out and
    # is then forgotten.
    forgotten = options["frame"] + (options["parameters"].get("missing") == "pairwise")
    if options["after"] <= forgotten:
        return _judge(model, error, options, arrays | {"X": X.astype(np.float64)})
    raise AssertionError(f"a change is not noticed; error: {error!r}")


# A cluster


def _deadly(
    part: Array, place: list[int], folder: str, after: int, times: int, block_info: Any = None
) -> Array:
    """End the worker instead of returning a block, some of the times that it is computed."""
    if list(block_info[None]["chunk-location"]) == place:
        number = len(os.listdir(folder))
        (Path(folder) / str(number)).touch()
        if after <= number < after + times:
            os.kill(os.getpid(), signal.SIGKILL)
    return part


def _check_killed(options: dict[str, Any], arrays: dict[str, Array]) -> Tried:
    """A fit recovers, or gives up and says why; and it ends."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        altered = partial(
            _deadly,
            place=options["place"],
            folder=folder,
            after=options["after"],
            times=options["times"],
        )
        model, error = _fitted_on_cluster(options, arrays, altered)
        computed = len(os.listdir(folder))
    if isinstance(error, RuntimeError) and options["times"] > 2:
        return _expect_death(error)
    if options["times"] > 2 and computed > options["after"]:
        raise AssertionError(f"workers die again and again, and the fit gives {error!r}")
    if error is not None and not isinstance(error, ValueError):
        raise error
    return _judge(model, error, options, arrays)


def _expect_death(error: RuntimeError) -> Tried:
    if "workers of the dask cluster died" in str(error):
        return Tried()
    raise error


def _fitted_on_cluster(options: dict[str, Any], arrays: dict[str, Array], altered: Any) -> Any:
    """The model, or what was raised."""
    import dask
    from distributed import Client, LocalCluster

    from dask_data import on_route

    route = "one pass" if options["batch"] is None else "many passes"
    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    try:
        with (
            LocalCluster(n_workers=2, silence_logs=logging.CRITICAL, **settings) as cluster,
            Client(cluster),
            dask.config.set({"lincfa.no-workers-timeout": _PATIENCE}),
            on_route(route, options["batch"], options["round"]),
        ):
            X, y, weights = _collections(options, arrays, altered)
            return model_of(options, arrays).fit(X, y, weights), None
    except Exception as error:
        return None, error
