"""The text of a file as what a fitted model is made of."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._checks import are_enough
from ..._data._columns import Columns
from ..._data._connectivity import read_structure
from ..._grouping import MERGES, PATHS, MergePath
from ..._grouping._cohesion import COHESION
from ..._grouping._constraint import Constraint
from ..._rule import EVIDENCE, complete
from ._fields import restore_field
from ._strict import (
    ROUNDING,
    DocumentError,
    check_correlations,
    check_keys,
    names_of,
    number,
    record,
    require,
    table,
)
from ._structure import describe_structure, restore_structure
from ._write import FORMAT, PARAMETERS, VERSION, checksum

_LARGEST = 1e305
_SINCE_VERSION_2 = ("sample_dim",)
"""Parameters that a model of version 1 does not have; None is what it was fitted with."""

_CONTAINERS = (None, "default", "pandas", "polars")


def opened(document: Any) -> Mapping[str, Any]:
    """Give the model of an envelope, after a look at the format, the version and the checksum."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DocumentError("this is not a saved lincfa model.")
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise DocumentError(
            f"this model has version {version!r} of the format, and this lincfa reads versions up "
            f"to {VERSION}; another lincfa wrote it."
        )
    check_keys(document, ("format", "version", "checksum", "model"), "the file")
    model = document["model"]
    if not isinstance(model, dict):
        raise DocumentError("'model' is not an object.")
    try:
        intact = document["checksum"] == checksum(model)
    except ValueError:  # a number too large for a float
        intact = False
    if not intact:
        raise DocumentError(
            "its checksum is not that of its content: the file was damaged, or changed by hand."
        )
    return _upgraded(model) if version == 1 else model


def _upgraded(model: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give a model of version 1 as one of version 2, which knows more."""
    parameters = model.get("parameters")
    if not isinstance(parameters, dict):
        raise DocumentError("'parameters' is not an object.")
    for known, new in ((model, ("field", "structure")), (parameters, _SINCE_VERSION_2)):
        for name in new:
            require(name not in known, f"version 1 has no {name!r}.")
    added = dict.fromkeys(_SINCE_VERSION_2)
    nothing = describe_structure(None, None)
    return {
        **model,
        "field": None,
        "structure": nothing,
        "parameters": {**parameters, **added},
    }


def restore(model: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], str | None]:
    """Give parameters, fitted attributes and output container of a described model.

    Raises
    ------
    DocumentError
        Where anything is missing, of the wrong type or length, or contradicts the rest.
    """
    fields = (
        "parameters", "output", "n_samples", "target_scale", "feature_names", "column_names",
        "field", "structure", "features", "groups", "evidence", "merge_path",
    )  # fmt: skip
    check_keys(model, fields, "'model'")
    parameters = model["parameters"]
    check_keys(parameters, PARAMETERS, "'parameters'")
    for name, value in parameters.items():
        if not (value is None or isinstance(value, str | int | float)):
            raise DocumentError(f"the parameter {name!r} is neither text nor a number.")
    if model["output"] not in _CONTAINERS:
        raise DocumentError(f"'output' is {model['output']!r}.")

    features = table(model, "features", {"label": np.intp, **dict.fromkeys(
        ("mean", "scale", "target_correlation"), np.float64)})  # fmt: skip
    labels = features["label"]
    groups = _groups(labels)
    for name in ("mean", "scale", "target_correlation"):
        require(bool(np.isfinite(features[name]).all()), f"'{name}' is not finite throughout.")
    possible = (features["scale"] >= 1 / _LARGEST) & (features["scale"] <= _LARGEST)
    require(bool(possible.all()), "'scale' has an entry that is no standard deviation.")
    check_correlations(features["target_correlation"], "'target_correlation'")
    attributes: dict[str, Any] = {
        "n_samples_": number(model, "n_samples"),
        "target_scale_": number(model, "target_scale"),
        "n_features_in_": labels.size,
        "labels_": labels,
        "groups_": groups,
        "n_groups_": len(groups),
        "mean_": features["mean"],
        "scale_": features["scale"],
        "target_correlation_": features["target_correlation"],
        "cohesion_": record(model, "groups", COHESION),
    }
    require(are_enough(attributes["n_samples_"]), "'n_samples' is too small for a fit.")
    cohesion = attributes["cohesion_"]
    require(cohesion.size == len(groups), "'groups' is of the wrong length.")
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        check_correlations(cohesion[name][~np.isnan(cohesion[name])], f"'{name}'")
    names = names_of(model, "feature_names", labels.size)
    if names is not None:
        require(model["column_names"] is None, "the features have names twice.")
        require(len(set(names)) == len(names), "'feature_names' repeats a name.")
        attributes["feature_names_in_"] = np.array(names, dtype=object)
    field = restore_field(model["field"])
    if field is not None:
        require(names == field.names, "'feature_names' are not those of the cells of the field.")
    attributes["evidence_"] = complete(
        _evidence(model, labels, groups), attributes["target_scale_"]
    )
    if parameters["strategy"] in PATHS:
        attributes["merge_path_"] = _merge_path(model, labels, len(groups))
        asked = parameters["n_groups"]
        require(asked in (None, len(groups)), "'n_groups' is not the number of groups.")
    else:
        require(model["merge_path"] is None, "'merge_path' does not belong to this strategy.")
    structure = restore_structure(model["structure"])
    given = names_of(model, "column_names", labels.size) if names is None else names
    columns = attributes["_columns"] = Columns(labels.size, given, field)
    constraint = Constraint(*read_structure(**structure, columns=columns))
    allowed = constraint.allows(labels)
    require(allowed, "'label' has a group that 'structure' does not allow.")
    attributes["n_connected_components_"] = constraint.n_components(labels >= 0)
    return {**parameters, **structure}, attributes, model["output"]


def _groups(labels: npt.NDArray[np.intp]) -> list[npt.NDArray[np.intp]]:
    """Members of each group; the groups must be numbered by their first members."""
    grouped = np.flatnonzero(labels >= 0)
    require(bool((labels >= -1).all()) and grouped.size > 0, "'label' is not that of groups.")
    numbers, firsts = np.unique(labels[grouped], return_index=True)
    ordered = bool((numbers == np.arange(numbers.size)).all() and (np.diff(firsts) > 0).all())
    require(ordered, "'label' does not number the groups by their first members.")
    order = grouped[np.argsort(labels[grouped], kind="stable")]
    return np.split(order, np.cumsum(np.bincount(labels[grouped]))[:-1])


def _evidence(
    model: Mapping[str, Any],
    labels: npt.NDArray[np.intp],
    groups: list[npt.NDArray[np.intp]],
) -> npt.NDArray[np.void]:
    evidence = record(model, "evidence", EVIDENCE, without=("group",))
    feature, partner = evidence["feature"], evidence["partner"]
    later = np.sort(np.concatenate([group[1:] for group in groups]))
    require(np.array_equal(np.sort(feature), later), "'evidence' does not cover the features.")
    before = (partner >= 0) & (partner < feature)
    require(bool(before.all()), "'evidence' has a partner that is no feature before its own.")
    check_correlations(evidence["correlation"], "'correlation'")
    merging = bool((evidence["f"] * (1 - ROUNDING) <= evidence["tolerance"]).all())
    require(merging, "'evidence' has an F above its tolerance.")
    for name in ("f", "variance_drop_share", "bias_growth_share"):
        require(bool((evidence[name] >= 0).all()), f"'evidence' has a negative '{name}'.")
    finite = bool(np.isfinite(evidence["bias_growth_share"]).all())
    require(finite, "'bias_growth_share' is not finite throughout.")
    evidence["group"] = labels[feature]
    require(bool((np.diff(evidence["group"]) >= 0).all()), "'evidence' is not sorted by group.")
    same = bool((labels[partner] == evidence["group"]).all())
    require(same, "'evidence' has a partner of another group.")
    return evidence


def _merge_path(
    model: Mapping[str, Any], labels: npt.NDArray[np.intp], n_groups: int
) -> npt.NDArray[np.void]:
    merges = record(model, "merge_path", MERGES)
    alive = dict.fromkeys(np.flatnonzero(labels >= 0).tolist(), 1)
    for first, second, size in merges[["first", "second", "size"]].tolist():
        possible = first in alive and second in alive and first < second
        require(possible, "'merge_path' merges groups that are none.")
        alive[first] += alive.pop(second)
        require(alive[first] == size, "'merge_path' has a wrong size.")
    check_correlations(merges["correlation"], "'correlation'")
    height = merges["height"]
    rising = bool((height >= 0).all() and (height[1:] >= height[:-1]).all())
    require(rising, "'merge_path' does not rise.")
    path = MergePath(labels >= 0, merges)
    possible = path.fewest_groups <= n_groups
    require(possible and _agrees(path, n_groups, labels), "'merge_path' leads to other groups.")
    return merges


def _agrees(path: MergePath, n_groups: int, labels: npt.NDArray[np.intp]) -> bool:
    with np.errstate(all="ignore"):  # figures of merges beyond the groups may be anything
        return np.array_equal(path.partition(n_groups).labels, labels)
