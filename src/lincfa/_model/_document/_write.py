"""A fitted model as the text of a file."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._connectivity import present_labels
from ..._data._names import display_names
from ..._rule import EVIDENCE
from ._fields import describe_field
from ._strict import listed
from ._structure import describe_structure

FORMAT, VERSION = "lincfa-model", 2
PARAMETERS = (
    "strategy",
    "tolerance",
    "n_groups",
    "noise",
    "min_correlation",
    "units",
    "sample_dim",
)


def envelope(model: Mapping[str, Any]) -> str:
    """Wrap a model with its format, version and checksum, as text."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "checksum": checksum(model),
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


def checksum(model: Mapping[str, Any]) -> str:
    """Give what tells a model from one that was changed, whatever the layout of the file."""
    text = json.dumps(model, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def describe(model: Any) -> dict[str, Any]:
    """Give all that a fitted model knows, in lists, numbers and strings."""
    names, field = getattr(model, "feature_names_in_", None), model._columns.field
    shown = [str(name) for name in model._columns.labels]
    for before, after in zip(shown, json.loads(json.dumps(shown)), strict=True):
        if before != after:  # halves of one character would be read as the character
            raise ValueError(f"The name {before!r} is not valid text and cannot be saved.")
    evidence = {name: model.evidence_[name] for name in EVIDENCE.names or () if name != "group"}
    return {
        "parameters": {name: _plain(getattr(model, name)) for name in PARAMETERS},
        "structure": describe_structure(model.connectivity, present_labels(field, model.blocks)),
        "output": getattr(model, "_sklearn_output_config", {}).get("transform"),
        "n_samples": float(model.n_samples_),
        "target_scale": float(model.target_scale_),
        "feature_names": None if names is None else [str(name) for name in names],
        "column_names": None if names is not None else display_names(model._columns.names),
        "field": describe_field(field),
        "features": {
            "label": listed(model.labels_),
            "mean": listed(model.mean_),
            "scale": listed(model.scale_),
            "target_correlation": listed(model.target_correlation_),
        },
        "groups": _columns(model.cohesion_),
        "evidence": {name: listed(values) for name, values in evidence.items()},
        "merge_path": _columns(model.merge_path_) if hasattr(model, "merge_path_") else None,
    }


def _plain(value: Any) -> Any:
    """A parameter as a string, a number or None."""
    if value is None or isinstance(value, str):
        return str(value) if isinstance(value, str) else None
    number = float(value)
    return int(value) if number.is_integer() and not isinstance(value, float) else number


def _columns(array: npt.NDArray[np.void]) -> dict[str, list[Any]]:
    return {name: listed(array[name]) for name in array.dtype.names or ()}
