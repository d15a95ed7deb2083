"""A fitted model as plain data, and back: the content of a saved file.

``docs/evidence.md`` documents the schema. A reader trusts nothing: every value is checked before a
model is made of it, and a checksum tells a file that was changed.
"""

import hashlib
import json
from collections.abc import Mapping
from math import inf, nan
from typing import Any

import numpy as np
import numpy.typing as npt

from ._cohesion import COHESION
from ._evidence import EVIDENCE, complete
from ._grouping import MERGES, PATHS, MergePath
from ._input import are_enough
from ._names import Names

FORMAT, VERSION = "lincfa-model", 1
PARAMETERS = ("strategy", "tolerance", "n_groups", "noise", "min_correlation", "units")

_NOT_FINITE = {"nan": nan, "inf": inf, "-inf": -inf}
_ROUNDING = 1e-9
_LARGEST = 1e305
_CONTAINERS = (None, "default", "pandas", "polars")


class DocumentError(ValueError):
    """What is wrong with the content of a saved model."""


def envelope(model: Mapping[str, Any]) -> str:
    """Wrap a model with its format, version and checksum, as text."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": _checksum(model),
        "model": model,
    }
    return _layout(document) + "\n"


def _layout(value: Any, indent: str = "") -> str:
    """Objects over several lines, everything in them on one: a column of numbers is a line."""
    if not isinstance(value, Mapping):
        return json.dumps(value, allow_nan=False)
    inner = indent + " "
    lines = [f"{inner}{json.dumps(key)}: {_layout(entry, inner)}" for key, entry in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def opened(document: Any) -> Mapping[str, Any]:
    """Give the model of an envelope, after a look at the format, the version and the checksum."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DocumentError("this is not a saved lincfa model.")
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise DocumentError(
            f"this model has version {version!r} of the format, and this lincfa reads version "
            f"{VERSION}; another lincfa wrote it."
        )
    _check_names(document, ("format", "version", "checksum", "model"), "the file")
    model = document["model"]
    if not isinstance(model, dict):
        raise DocumentError("'model' is not an object.")
    try:
        intact = document["checksum"] == _checksum(model)
    except ValueError:  # a number too large for a float
        intact = False
    if not intact:
        raise DocumentError(
            "its checksum is not that of its content: the file was damaged, or changed by hand."
        )
    return model


def _checksum(model: Mapping[str, Any]) -> str:
    text = json.dumps(model, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def describe(model: Any) -> dict[str, Any]:
    """Give all that a fitted model knows, in lists, numbers and strings."""
    names = getattr(model, "feature_names_in_", None)
    for name in model._names():
        if json.loads(json.dumps(str(name))) != str(name):
            raise ValueError(f"The name {name!r} is not valid text and cannot be saved.")
    evidence = {name: model.evidence_[name] for name in EVIDENCE.names or () if name != "group"}
    return {
        "parameters": {name: _plain(getattr(model, name)) for name in PARAMETERS},
        "output": getattr(model, "_sklearn_output_config", {}).get("transform"),
        "n_samples": float(model.n_samples_),
        "target_scale": float(model.target_scale_),
        "feature_names": None if names is None else [str(name) for name in names],
        "column_names": model._column_names,
        "features": {
            "label": _listed(model.labels_),
            "mean": _listed(model.mean_),
            "scale": _listed(model.scale_),
            "target_correlation": _listed(model.target_correlation_),
        },
        "groups": _columns(model.cohesion_),
        "evidence": {name: _listed(values) for name, values in evidence.items()},
        "merge_path": _columns(model.merge_path_) if hasattr(model, "merge_path_") else None,
    }


def _plain(value: Any) -> Any:
    """A parameter as a string, a number or None."""
    if value is None or isinstance(value, str):
        return str(value) if isinstance(value, str) else None
    number = float(value)
    return int(value) if number.is_integer() and not isinstance(value, float) else number


def _columns(array: npt.NDArray[np.void]) -> dict[str, list[Any]]:
    return {name: _listed(array[name]) for name in array.dtype.names or ()}


def _listed(values: npt.NDArray[Any]) -> list[Any]:
    """Numbers as a list; those that JSON has no name for as strings."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [value if np.isfinite(value) else str(value) for value in values.tolist()]


def restore(model: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """Give parameters, fitted attributes and output container of a described model.

    Raises
    ------
    DocumentError
        Where anything is missing, of the wrong type or length, or contradicts the rest.
    """
    fields = (
        "parameters", "output", "n_samples", "target_scale", "feature_names", "column_names",
        "features", "groups", "evidence", "merge_path",
    )  # fmt: skip
    _check_names(model, fields, "'model'")
    parameters = model["parameters"]
    _check_names(parameters, PARAMETERS, "'parameters'")
    for name, value in parameters.items():
        if not (value is None or isinstance(value, str | int | float)):
            raise DocumentError(f"the parameter {name!r} is neither text nor a number.")
    if model["output"] not in _CONTAINERS:
        raise DocumentError(f"'output' is {model['output']!r}.")

    features = _table(model, "features", {"label": np.intp, **dict.fromkeys(
        ("mean", "scale", "target_correlation"), np.float64)})  # fmt: skip
    labels = features["label"]
    groups = _groups(labels)
    for name in ("mean", "scale", "target_correlation"):
        _require(bool(np.isfinite(features[name]).all()), f"'{name}' is not finite throughout.")
    possible = (features["scale"] >= 1 / _LARGEST) & (features["scale"] <= _LARGEST)
    _require(bool(possible.all()), "'scale' has an entry that is no standard deviation.")
    _check_correlations(features["target_correlation"], "'target_correlation'")
    attributes: dict[str, Any] = {
        "n_samples_": _number(model, "n_samples"),
        "target_scale_": _number(model, "target_scale"),
        "n_features_in_": labels.size,
        "labels_": labels,
        "groups_": groups,
        "n_groups_": len(groups),
        "mean_": features["mean"],
        "scale_": features["scale"],
        "target_correlation_": features["target_correlation"],
        "cohesion_": _record(model, "groups", COHESION),
        "_column_names": _names(model, "column_names", labels.size),
    }
    _require(are_enough(attributes["n_samples_"]), "'n_samples' is too small for a fit.")
    cohesion = attributes["cohesion_"]
    _require(cohesion.size == len(groups), "'groups' is of the wrong length.")
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        _check_correlations(cohesion[name][~np.isnan(cohesion[name])], f"'{name}'")
    names = _names(model, "feature_names", labels.size)
    if names is not None:
        _require(model["column_names"] is None, "the features have names twice.")
        _require(len(set(names)) == len(names), "'feature_names' repeats a name.")
        attributes["feature_names_in_"] = np.array(names, dtype=object)
    attributes["evidence_"] = complete(
        _evidence(model, labels, groups), attributes["target_scale_"]
    )
    if parameters["strategy"] in PATHS:
        attributes["merge_path_"] = _merge_path(model, labels, len(groups))
        asked = parameters["n_groups"]
        _require(asked in (None, len(groups)), "'n_groups' is not the number of groups.")
    else:
        _require(model["merge_path"] is None, "'merge_path' does not belong to this strategy.")
    return dict(parameters), attributes, model["output"]


def _groups(labels: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Members of each group; the groups must be numbered by their first members."""
    grouped = np.flatnonzero(labels >= 0)
    _require(bool((labels >= -1).all()) and grouped.size > 0, "'label' is not that of groups.")
    numbers, firsts = np.unique(labels[grouped], return_index=True)
    ordered = bool((numbers == np.arange(numbers.size)).all() and (np.diff(firsts) > 0).all())
    _require(ordered, "'label' does not number the groups by their first members.")
    order = grouped[np.argsort(labels[grouped], kind="stable")]
    return np.split(order, np.cumsum(np.bincount(labels[grouped]))[:-1])


def _evidence(
    model: Mapping[str, Any],
    labels: npt.NDArray[np.intp],
    groups: list[npt.NDArray[np.intp]],
) -> npt.NDArray[np.void]:
    evidence = _record(model, "evidence", EVIDENCE, without=("group",))
    feature, partner = evidence["feature"], evidence["partner"]
    later = np.sort(np.concatenate([group[1:] for group in groups]))
    _require(np.array_equal(np.sort(feature), later), "'evidence' does not cover the features.")
    before = (partner >= 0) & (partner < feature)
    _require(bool(before.all()), "'evidence' has a partner that is no feature before its own.")
    _check_correlations(evidence["correlation"], "'correlation'")
    merging = bool((evidence["f"] * (1 - _ROUNDING) <= evidence["tolerance"]).all())
    _require(merging, "'evidence' has an F above its tolerance.")
    for name in ("f", "variance_drop_share", "bias_growth_share"):
        _require(bool((evidence[name] >= 0).all()), f"'evidence' has a negative '{name}'.")
    finite = bool(np.isfinite(evidence["bias_growth_share"]).all())
    _require(finite, "'bias_growth_share' is not finite throughout.")
    evidence["group"] = labels[feature]
    _require(bool((np.diff(evidence["group"]) >= 0).all()), "'evidence' is not sorted by group.")
    same = bool((labels[partner] == evidence["group"]).all())
    _require(same, "'evidence' has a partner of another group.")
    return evidence


def _merge_path(
    model: Mapping[str, Any], labels: npt.NDArray[np.intp], n_groups: int
) -> npt.NDArray[np.void]:
    merges = _record(model, "merge_path", MERGES)
    alive = dict.fromkeys(np.flatnonzero(labels >= 0).tolist(), 1)
    for first, second, size in merges[["first", "second", "size"]].tolist():
        possible = first in alive and second in alive and first < second
        _require(possible, "'merge_path' merges groups that are none.")
        alive[first] += alive.pop(second)
        _require(alive[first] == size, "'merge_path' has a wrong size.")
    _check_correlations(merges["correlation"], "'correlation'")
    height = merges["height"]
    rising = bool((height >= 0).all() and (height[1:] >= height[:-1]).all())
    _require(rising, "'merge_path' does not rise.")
    path = MergePath(labels >= 0, merges)
    possible = path.fewest_groups <= n_groups
    _require(possible and _agrees(path, n_groups, labels), "'merge_path' leads to other groups.")
    return merges


def _agrees(path: MergePath, n_groups: int, labels: npt.NDArray[np.intp]) -> bool:
    with np.errstate(all="ignore"):  # figures of merges beyond the groups may be anything
        return np.array_equal(path.partition(n_groups).labels, labels)


def _record(
    model: Mapping[str, Any], key: str, dtype: np.dtype[np.void], without: tuple[str, ...] = ()
) -> npt.NDArray[np.void]:
    kinds = {name: dtype[name].type for name in dtype.names or () if name not in without}
    columns = _table(model, key, kinds)
    record = np.zeros(len(next(iter(columns.values()))), dtype=dtype)
    for name, values in columns.items():
        record[name] = values
    return record


def _table(
    model: Mapping[str, Any], key: str, kinds: Mapping[str, Any]
) -> dict[str, npt.NDArray[Any]]:
    """Columns of equal length, each of the type asked for."""
    table = model[key]
    _check_names(table, tuple(kinds), f"'{key}'")
    columns = {name: _array(table[name], kind, f"'{name}'") for name, kind in kinds.items()}
    lengths = {values.size for values in columns.values()}
    _require(len(lengths) == 1, f"the columns of '{key}' differ in length.")
    return columns


def _array(values: Any, kind: Any, what: str) -> npt.NDArray[Any]:
    _require(isinstance(values, list), f"{what} is not a list.")
    allowed: tuple[type, ...] = {np.intp: (int,), np.bool_: (bool,)}.get(kind, (int, float))
    numbers = values
    if kind is np.float64:
        numbers = [
            _NOT_FINITE.get(value, value) if type(value) is str else value for value in values
        ]
    fitting = all(type(number) in allowed for number in numbers)
    _require(fitting, f"{what} has an entry of the wrong type.")
    try:
        return np.array(numbers, dtype=kind)
    except OverflowError:
        raise DocumentError(f"{what} has a number that is too large.") from None


def _number(model: Mapping[str, Any], key: str) -> float:
    (value,) = _array([model[key]], np.float64, f"'{key}'")
    _require(bool(np.isfinite(value) and value > 0), f"'{key}' is not a positive number.")
    return float(value)


def _names(model: Mapping[str, Any], key: str, length: int) -> list[str] | None:
    names: Names | None = model[key]
    if names is None:
        return None
    fitting = isinstance(names, list) and all(isinstance(name, str) for name in names)
    _require(fitting and len(names) == length, f"'{key}' is not a list of {length} names.")
    return list(names)


def _check_correlations(values: npt.NDArray[np.float64], what: str) -> None:
    inside = bool((np.abs(values) <= 1 + _ROUNDING).all())
    _require(inside, f"{what} has an entry that is no correlation.")


def _check_names(found: Any, expected: tuple[str, ...], what: str) -> None:
    _require(isinstance(found, dict), f"{what} is not an object.")
    for name in expected:
        _require(name in found, f"{what} lacks {name!r}.")
    for name in found:
        _require(name in expected, f"{what} has {name!r}, which does not belong there.")


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise DocumentError(otherwise)
