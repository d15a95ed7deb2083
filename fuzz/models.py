"""Saved models of every kind, damaged or edited, and loaded in a process with limits.

Whatever the file: either it is refused by a ValueError that names it and says in words what is
wrong, or it is a model that works. What that returns is finite or refused in words, and saved again
it is the same file. Nothing takes more time or memory than a small file may.
"""

import copy
import functools
import hashlib
import json
import re
import tempfile
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

import numpy as np

import lincfa
from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from lincfa.structure import chain_connectivity

from .case import Case, Tried
from .child import PATIENCE, STATM, context, limit_memory, seconds_used
from .mutate import change_bytes, one

SHARE = 1.0
LIMIT = 120.0
NEEDS = ("xarray", "pandas", "polars", STATM)
_OLD = Path(__file__).parents[1] / "tests" / "data"
_MEMORY = 1 << 30  # bytes beyond what the process has when it begins
_CPU_SECONDS = 5.0  # of which a case needs a hundredth
_CASES = 500  # of one process, so that what it leaks stays out of others

_NOT_IN_WORDS = re.compile(
    r"object has no attribute|NoneType|unhashable|not subscriptable|out of range|unpack|arg\d|"
    r"invalid literal|not supported between|unsupported operand|expected at|positional|"
    r"setting an array element|inhomogeneous|broadcast|ufunc|maximum recursion|<class|"
    r"cannot reshape|must be str|argument must be|out of bounds|index can't|too big"
)
"""What Python and NumPy say to programmers."""

Rng = np.random.Generator
_SIZES = (0, 1, -1, 2, 3, 2**16, 2**24, 2**30, 2**31, 2**40, 2**53, 2**62, 2**63, 2**64, 10**30)
_NUMBERS = (0.0, -1.0, 0.5, 1e-310, 5e-324, 1e308, -1e308, 1e-305, 1e305, 1e16)
_WORDS = (
    "", "x", "nan", "inf", "-inf", "\0", "\ud800", "x" * 200_000, "time", "group", "lag", "lat",
    "grid", "chain", "area", "given", "pairwise", "joint", "agglomerative", "centroid", "x0",
    "unbiased", "sequential", "original", "full", "classes", "polars", "now", "2001-01-01T00Z",
)  # fmt: skip
_TYPES = (
    "U999999999", "S999999999", "V9", "f8,f8", ",,", "(99999999,)f8", "object", "str", "float64",
    "int64", "bool", "datetime64[ns]", "datetime64[9999999999D]", "timedelta64[s]", "complex128",
)  # fmt: skip
_OTHERS = (None, True, False, [], {}, [[]], [None])


# Models


_QUICK: dict[str, Any] = {
    "strategies": ["sequential"],
    "tolerances": [1.0],
    "min_correlations": [None],
    "penalties": [0.01],
    "cv": 3,
}


def _table(rng: Rng, n_features: int = 8) -> tuple[Any, Any]:
    factors = rng.normal(size=(40, 3))
    X = np.round(factors[:, np.arange(n_features) % 3] + 0.4 * rng.normal(size=(40, n_features)), 3)
    return X, np.round(factors @ [1.0, -2.0, 0.5] + rng.normal(size=40), 3)


def _named(rng: Rng) -> tuple[Any, Any]:
    import pandas as pd

    X, y = _table(rng)
    names = [f"f{k}" for k in range(8)]
    return pd.DataFrame(X, columns=names), pd.Series(y, name="yield")


def _field(rng: Rng) -> tuple[Any, Any]:
    import xarray as xr

    X, y = _table(rng, 12)
    X[:, 5] = np.nan
    days = np.datetime64("2001-01-01", "ns") + np.arange(40) * np.timedelta64(1, "D")
    coords = {"time": days, "lat": [40.0, 42.0, 44.0], "lon": [5.0, 6.0, 7.0, 8.0]}
    field = xr.DataArray(X.reshape(40, 3, 4), coords, ("time", "lat", "lon"), "t2m")
    stations = np.round(X[:, :2] + rng.normal(size=(40, 2)), 3)
    rain = xr.DataArray(stations, {"time": days, "station": ["a", "bc"]}, ("time", "station"))
    return field.assign_attrs(units="K"), (rain, y)


def _of_field(rng: Rng) -> LinCFA:
    field, (_, y) = _field(rng)
    return LinCFA(connectivity="grid", feature_weights="area", sample_dim="time").fit(field, y)


def _of_dataset(rng: Rng) -> LinCFA:
    field, (rain, y) = _field(rng)
    return LinCFA(sample_dim="time", strategy="agglomerative").fit(
        field.to_dataset().assign(rain=rain), y
    )


def _of_stacked(rng: Rng) -> LinCFA:
    field, (_, y) = _field(rng)
    return LinCFA(sample_dim="time").fit(field.stack(cell=("lat", "lon")), y)


def _of_lags(rng: Rng) -> LinCFA:
    from lincfa.timeseries import lagged

    field, (_, y) = _field(rng)
    late = lagged(field, [0, 1], dim="time")
    return LinCFA(sample_dim="time").fit(late, y[-late.sizes["time"] :])


def _with_gaps(rng: Rng) -> LinCFACV:
    X, y = _table(rng)
    X[rng.random(X.shape) < 0.1] = np.nan
    return LinCFACV(**_QUICK, missing="pairwise").fit(X, y)


def _weighted(rng: Rng) -> LinCFA:
    X, y = _named(rng)
    weights = np.linspace(1, 2, 8)
    return LinCFA(feature_weights=weights, effective_samples=30, strategy="centroid").fit(X, y)


def _structured(rng: Rng) -> LinCFA:
    X, y = _table(rng)
    neighbours = chain_connectivity(8, reach=3)
    blocks = ["a"] * 5 + [2] * 3
    return LinCFA(connectivity=neighbours, blocks=blocks, strategy="agglomerative").fit(X, y)


def _several(rng: Rng) -> LinCFACV:
    X, y = _named(rng)
    return LinCFACV(**_QUICK | {"strategies": ["agglomerative"]}).fit(
        X, np.column_stack([y, X["f0"] + y])
    )


def _classes(rng: Rng, labels: list[str]) -> LinCFAClassifierCV:
    X, y = _table(rng)
    bounds = np.quantile(y, np.arange(1, len(labels)) / len(labels))
    return LinCFAClassifierCV(**_QUICK).fit(X, np.array(labels)[np.searchsorted(bounds, y)])


def _calibrated(rng: Rng) -> LinCFACV:
    return LinCFACV(**_QUICK).fit(*_table(rng)).calibrate(*_table(rng))


def _signed(rng: Rng) -> LinCFA:
    X, y = _table(rng)
    return LinCFA(signed=True, strategy="agglomerative").fit(X * np.resize([1.0, -1.0], 8), y)


MODELS: dict[str, Callable[[Rng], Any]] = {
    "sequential": lambda rng: LinCFA(units="original").fit(*_table(rng)),
    "agglomerative": lambda rng: LinCFA(strategy="agglomerative").fit(*_named(rng)),
    "joint": lambda rng: LinCFA(strategy="joint", n_groups=4).fit(*_table(rng)),
    "signed": _signed,
    "gaps": _with_gaps,
    "weights": _weighted,
    "structure": _structured,
    "targets": _several,
    "two classes": lambda rng: _classes(rng, ["dry", "wet"]),
    "three classes": lambda rng: _classes(rng, ["low", "mid", "top"]),
    "regression": _calibrated,
    "output": lambda rng: LinCFA().set_output(transform="pandas").fit(*_named(rng)),
    "field": _of_field,
    "dataset": _of_dataset,
    "stacked": _of_stacked,
    "lags": _of_lags,
}
KINDS = [*MODELS, *sorted(path.stem for path in _OLD.glob("saved-version-*.json"))]


@functools.cache
def _file_of(kind: str) -> bytes:
    """What the file of a model of some kind holds."""
    if kind not in MODELS:
        return (_OLD / f"{kind}.json").read_bytes()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # there are many groups for few samples
        path = Path(folder) / "model.json"
        MODELS[kind](np.random.default_rng(len(kind))).save(path)
        return path.read_bytes()


# Changes


def draw(rng: Rng) -> Case:
    kind, other = one(rng, KINDS), one(rng, KINDS)
    content = _file_of(kind)
    if rng.random() < 0.25:
        content, changes = change_bytes(content, rng, _file_of(other))
    else:
        content, changes = _edited(content, rng, json.loads(_file_of(other)))
    if rng.random() < 0.03:
        changes = [*changes, "cut"]
        content = content[: int(rng.integers(len(content) + 1))]
    options = {"kind": kind, "changes": changes}
    return Case("models", options, {"content": np.frombuffer(content, np.uint8)})


def _edited(content: bytes, rng: Rng, other: Any) -> tuple[bytes, list[str]]:
    """Change some of the values in a model, with the checksum that belongs to them."""
    document, changes = json.loads(content), []
    if document["model"].get("field") and rng.random() < 0.15:
        changes.append("claim")
        _claim(document["model"]["field"], rng)
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        holder, key, path = _place(document["model"], rng)
        change = one(rng, _CHANGES)
        changes.append(f"{change.__name__.strip('_')} {path}")
        change(holder, key, rng, functools.partial(_like, other["model"], path, rng))
    text = _sealed(document)
    if rng.random() < 0.1:
        changes.append("words")
        text = _reworded(text, rng)
    return text.encode(), changes


def _sealed(document: Any) -> str:
    """Write a document with the checksum of what it holds, however deep that is."""
    compact = json.dumps(document["model"], sort_keys=True, separators=(",", ":"))
    checksum = "sha256:" + hashlib.sha256(_nested(compact).encode("ascii")).hexdigest()
    return _nested(json.dumps(document | {"checksum": checksum}))


def _nested(text: str) -> str:
    return re.sub(r'"@(\d+)"', lambda found: "[" * int(found[1]) + "]" * int(found[1]), text)


def _place(model: Any, rng: Rng) -> tuple[Any, Any, list[Any]]:
    """Return a part of a model: its holder, its key there, and all keys that lead to it.

    Each kind of place is as likely as any other, however long the lists are.
    """
    kinds: dict[tuple[Any, ...], list[list[Any]]] = {}
    for path in _paths(model):
        kinds.setdefault(tuple(key for key in path if isinstance(key, str)), []).append(path)
    path = one(rng, one(rng, list(kinds.values())))
    return functools.reduce(lambda part, key: part[key], path[:-1], model), path[-1], path


_DEEPEST = 20  # levels in which a place is looked for: models have fewer, changed ones thousands


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Any:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield [*path, key]
        if isinstance(inner, dict | list) and len(path) < _DEEPEST:
            yield from _paths(inner, (*path, key))


def _like(other: Any, path: list[Any], rng: Rng) -> Any:
    """Return what another model has at the same place, or anywhere."""
    try:
        return copy.deepcopy(functools.reduce(lambda value, key: value[key], path, other))
    except (LookupError, TypeError):
        holder, key, _ = _place(other, rng)
        return copy.deepcopy(holder[key])


def _extreme(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    """Put a value that is likely to be forgotten, most often one of the same type."""
    pools = {int: _SIZES, float: _NUMBERS, str: _WORDS, list: (*_OTHERS, [0, 2**30])}
    pool = _TYPES if key == "dtype" else pools.get(type(holder[key]), _OTHERS)
    holder[key] = one(rng, pool if rng.random() < 0.7 else one(rng, list(pools.values())))


def _of_another(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    holder[key] = like()


def _remove(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    del holder[key]


def _rename(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    if isinstance(holder, dict):
        holder[one(rng, ["", "label", "size", f"{key} "])] = holder.pop(key)


def _nest(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    """Put a value into a list, or lists into each other; :func:`_nested` writes them."""
    depth = int(rng.choice([0, 0, 400, 990, 20_000]))
    holder[key] = f"@{depth}" if depth else [holder[key]]


def _swap(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    second = one(rng, keys)
    holder[key], holder[second] = holder[second], holder[key]


def _number(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    """Change a number a little or a lot, or all numbers in a list, and leave their type."""
    factor = float(rng.choice([-1, 0, 0.5, 1 + 1e-15, 3, 1e3, 1e-300, 1e300]))

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(each) for each in value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if isinstance(value, int):
            return value + int(rng.choice([-1, 0, 1]))
        return value * factor

    holder[key] = changed(holder[key])


def _list(holder: Any, key: Any, rng: Rng, like: Any) -> None:
    """Lengthen, shorten or reorder a list."""
    values = holder[key] if isinstance(holder[key], list) else holder
    if not isinstance(values, list) or not values:
        return
    match int(rng.integers(4)):
        case 0:
            values *= int(rng.choice([0, 2, 1000]))
        case 1:
            values.append(copy.deepcopy(one(rng, values)))
        case 2:
            values.pop()
        case 3:
            values[:] = [values[place] for place in rng.permutation(len(values))]


_CHANGES = (
    _extreme, _extreme, _extreme, _of_another, _of_another, _remove, _rename, _nest, _swap, _number,
    _number, _number, _list, _list,
)  # fmt: skip


def _claim(field: Any, rng: Rng) -> None:
    """Let a field have many cells that are missing, or a dimension of any size beside none."""
    size, variable = one(rng, _SIZES), one(rng, field["variables"])
    if rng.random() < 0.5:
        variable = dict(variable, name="more")
        field["variables"].append(variable)
    present = sum(variable["cells"][::2])
    samples = field["sample_dim"]
    variable["dims"], variable["shape"] = [samples, "many"], [size]
    variable["cells"] = [present, size - present]
    if rng.random() < 0.5:
        variable["dims"] = [samples, one(rng, ["lag", "none"]), "many"]
        variable["shape"], variable["cells"] = [0, size], [0]
    if rng.random() < 0.5:
        field["coordinates"].clear()


def _reworded(text: str, rng: Rng) -> str:
    """Write a number as JSON cannot, or a key twice."""
    numbers = [found.span() for found in re.finditer(r"(?<=[:,] )-?\d[\d.e+-]*", text)]
    keys = list(re.finditer(r'"\w+": (?=[^{\[])[^,}]*,', text))
    if rng.random() < 0.3 and keys:
        found = one(rng, keys)
        return text[: found.end()] + " " + found.group() + text[found.end() :]
    start, end = one(rng, numbers)
    word = one(rng, ["1e400", "-1e999", "NaN", "-Infinity", "9" * 5000, "0" * 9, "1E5", "-0", "1."])
    return text[:start] + word + text[end:]


# The process that loads


class _Child:
    """A process that tries files one after the other, until one of them ends it."""

    def __init__(self) -> None:
        self._pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.tried = 0
        self.end = Finalize(None, self._end, exitpriority=1)  # called once, at exit at the latest

    def try_file(self, content: bytes) -> str:
        """Return what is wrong with how the library treats a file, or nothing."""
        self.tried += 1
        before = seconds_used(self.process.pid)
        try:
            self._pipe.send_bytes(content)
            while not self._pipe.poll(1.0):
                if seconds_used(self.process.pid) - before > _CPU_SECONDS:
                    self.process.kill()
                    self.end()
                    return f"it did not end in {_CPU_SECONDS} seconds"
            return str(self._pipe.recv())
        except (EOFError, OSError):
            self.process.join()
            return f"the process ended with {self.process.exitcode}"

    def _end(self) -> None:
        self._pipe.close()
        self.process.join(PATIENCE)  # it removes its folder
        self.process.kill()
        self.process.join()

    @property
    def lives(self) -> bool:
        return self.process.is_alive()


_children: list[_Child] = []  # one, or none


def check(case: Case) -> Tried:
    if _children and (_children[0].tried >= _CASES or not _children[0].lives):
        _children.pop().end()
    if not _children:
        _children.append(_Child())
    wrong = _children[0].try_file(case.arrays["content"].tobytes())
    assert not wrong, wrong
    return Tried()


def _serve(pipe: Any) -> None:
    limit_memory(_MEMORY)
    warnings.simplefilter("ignore")  # of numbers that no data have
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quokka.json"
        while True:
            try:
                path.write_bytes(pipe.recv_bytes())
            except (EOFError, ConnectionError):
                return
            try:
                _attempt(path)
                wrong = ""
            except BaseException as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                wrong = f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"
            pipe.send(wrong)


def _attempt(path: Path) -> None:
    """Load a file, and use what comes of it."""
    try:
        model = lincfa.load(path)
    except ValueError as error:
        _check_words(error, str(path))
        return
    X = _samples(model)
    first = _used(model, X)
    _used(model, np.where(np.arange(5)[:, None] == 3, 1e300, X))
    again = path.with_name("again.json")
    model.save(again)
    second = _used(lincfa.load(again), X)
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)
    document, written = (json.loads(each.read_text("utf-8")) for each in (path, again))
    if document["version"] == written["version"]:
        assert document["model"] == written["model"], "saved again it is another model"
    again.unlink()


def _check_words(error: ValueError, path: str = "") -> None:
    message = str(error)
    assert type(error) is ValueError, f"{type(error).__name__}: {message}"
    assert path in message, f"the file is not named: {message}"
    found = _NOT_IN_WORDS.search(message)
    assert not found, f"not in words: {message[:300]}"


def _samples(model: Any) -> Any:
    normal = np.random.default_rng(0).normal(size=(5, model.n_features_in_))
    X = np.clip(model.mean_ + model.scale_ * normal, -1e308, 1e308)
    if model.missing == "pairwise":
        X[0, 0] = np.nan
    return X


def _used(model: Any, X: Any) -> dict[str, Any]:
    """Return what the methods of a model give; each result is finite, or refused in words."""
    gaps, results = model.missing == "pairwise", {}

    def keep(name: str, make: Callable[[], Any]) -> Any:
        try:
            results[name] = np.asarray(make())
        except ValueError as error:
            _check_words(error)
            results[name] = np.array(str(error))
        return results[name]

    reduced = keep("transform", lambda: model.transform(X))
    if reduced.dtype.kind != "U":
        assert reduced.shape == (5, model.n_groups_)
        assert (np.isfinite(reduced) | (gaps & np.isnan(reduced))).all(), "not finite"
        features = keep("inverse", lambda: model.inverse_transform(reduced))
        assert features.dtype.kind == "U" or not np.isinf(features).any(), "not finite"
    if hasattr(model, "predict"):
        predicted = keep("predict", lambda: model.predict(X))
        if hasattr(model, "classes_"):
            assert predicted.ndim == 0 or np.isin(predicted, model.classes_).all()
            keep("probabilities", lambda: model.predict_proba(X))
        else:
            assert predicted.ndim == 0 or np.isfinite(predicted).all(), "not finite"
    keep("names", model.get_feature_names_out)
    assert len(model.groups_by_name()) == model.n_groups_
    keep("summary", lambda: str(model.summary()))
    keep("weights", lambda: model.expand_coefficients(np.ones(model.n_groups_))[0])
    model.evidence_frame()
    if hasattr(model, "merge_path_"):
        keep("cut", lambda: model.cut(n_groups=model.n_groups_).labels_)
        keep("linkage", model.to_linkage)
    if model._columns.field is not None:
        keep("map", lambda: str(model.label_map()))
    return results
