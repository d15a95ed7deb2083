"""The description of a field as plain data, and back."""

import re
from collections.abc import Mapping
from math import isfinite, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._field import GROUP, Coordinate, Field, Variable, texts
from ._strict import DocumentError, array_of, check_keys, listed, require

_TYPES = re.compile(
    r"float(16|32|64)|u?int(8|16|32|64)|bool|str|(datetime64|timedelta64)\[\d*[a-zA-Z]+\]"
)

_MOST_CELLS = 2**30


def describe_field(field: Field | None) -> dict[str, Any] | None:
    """Give a field in lists, numbers and strings; of attributes what JSON can hold."""
    if field is None:
        return None
    return {
        "sample_dim": _name(field.sample_dim),
        "is_dataset": field.is_dataset,
        "attrs": _attributes(field.attrs),
        "variables": [
            {
                "name": None if variable.name is None else _name(variable.name),
                "dims": [_name(dim) for dim in variable.dims],
                "shape": list(variable.shape),
                "cells": _runs(variable.present),
                "attrs": _attributes(variable.attrs),
            }
            for variable in field.variables
        ],
        "coordinates": [
            {
                "name": _name(coordinate.name),
                "dims": [_name(dim) for dim in coordinate.dims],
                **_coded(coordinate.values),
                "attrs": _attributes(coordinate.attrs),
            }
            for coordinate in field.coordinates
        ],
        "levels": {
            _name(dim): [_name(name) for name in names] for dim, names in field.levels.items()
        },
    }


def _name(name: Any) -> str:
    if not isinstance(name, str) or name.encode(errors="ignore").decode() != name:
        raise ValueError(f"The name {name!r} in the field is not valid text and cannot be saved.")
    return str(name)


def _runs(present: npt.NDArray[np.bool_]) -> list[int]:
    """Lengths of runs of cells, in turn present and missing; the first are present."""
    ends = np.flatnonzero(np.diff(present, prepend=True))
    return [int(length) for length in np.diff([0, *ends, present.size])]


def _coded(values: npt.NDArray[Any]) -> dict[str, Any]:
    flat = values.ravel()
    if flat.dtype.kind == "M":
        return {"dtype": flat.dtype.name, "values": np.datetime_as_string(flat).tolist()}
    if flat.dtype.kind == "m":
        return {"dtype": flat.dtype.name, "values": flat.astype(np.int64).tolist()}
    if flat.dtype.kind in "fiub":
        return {"dtype": flat.dtype.name, "values": listed(flat)}
    return {"dtype": "str", "values": [_valid(text) for text in texts(flat)]}


def _valid(text: str) -> str:
    return text.encode(errors="replace").decode()


def _attributes(attrs: Mapping[Any, Any]) -> dict[str, Any]:
    return {_valid(str(key)): _simple(value) for key, value in attrs.items()}


def _simple(value: Any) -> Any:
    """Give numbers, text and lists of them as they are, anything else as text."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiubU":
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_simple(entry) for entry in value]
    if value is None or isinstance(value, bool | int) or _is_finite(value):
        return value
    return _valid(str(value))


def _is_finite(value: Any) -> bool:
    return isinstance(value, float) and isfinite(value)


def restore_field(content: Any) -> Field | None:
    """Make a field of its description.

    Raises
    ------
    DocumentError
        Where anything is missing, of the wrong type or length, or contradicts the rest.
    """
    if content is None:
        return None
    keys = ("sample_dim", "is_dataset", "attrs", "variables", "coordinates", "levels")
    check_keys(content, keys, "'field'")
    samples = content["sample_dim"]
    possible = isinstance(samples, str) and samples != GROUP
    require(possible, "'sample_dim' of the field is no name of a dimension.")
    require(isinstance(content["is_dataset"], bool), "'is_dataset' is neither true nor false.")
    variables = [_variable(entry, samples) for entry in _list(content, "variables")]
    sizes: dict[Any, int] = {}
    for variable in variables:
        rest = [dim for dim in variable.dims if dim != samples]
        for dim, size in zip(rest, variable.shape, strict=True):
            require(sizes.setdefault(dim, size) == size, f"the dimension {dim!r} has two sizes.")
    coordinates = [_coordinate(entry, sizes, samples) for entry in _list(content, "coordinates")]
    for entries, what in ((variables, "variables"), (coordinates, "coordinates")):
        names = [entry.name for entry in entries]
        require(len(set(names)) == len(names), f"'{what}' repeats a name.")
    named = bool(variables) and all(variable.name is not None for variable in variables)
    require(named if content["is_dataset"] else len(variables) == 1, "'variables' is no field.")
    return Field(
        sample_dim=samples,
        variables=tuple(variables),
        coordinates=tuple(coordinates),
        levels=_levels(content["levels"], coordinates, sizes),
        is_dataset=content["is_dataset"],
        attrs=_checked_attributes(content["attrs"]),
    )


def _list(content: Mapping[str, Any], key: str) -> list[Any]:
    require(isinstance(content[key], list), f"'{key}' is not a list.")
    return list(content[key])


def _names(content: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = tuple(_list(content, key))
    fitting = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    require(fitting, f"'{key}' is not a list of different names.")
    return names


def _variable(content: Any, samples: str) -> Variable:
    check_keys(content, ("name", "dims", "shape", "cells", "attrs"), "a variable of the field")
    require(content["name"] is None or isinstance(content["name"], str), "a variable has no name.")
    dims = _names(content, "dims")
    shape = tuple(array_of(content["shape"], np.intp, "'shape'").tolist())
    require(samples in dims and len(dims) == len(shape) + 1, "'shape' is not that of 'dims'.")
    runs = array_of(content["cells"], np.intp, "'cells'")
    possible = bool((runs >= 0).all()) and all(size >= 0 for size in shape)
    # In Python's numbers, so that no sum is too large for its type.
    possible = possible and sum(runs.tolist()) == prod(shape) <= _MOST_CELLS
    require(possible, "'cells' are not those of the 'shape'.")
    present = np.repeat(np.arange(runs.size) % 2 == 0, runs)
    return Variable(content["name"], dims, shape, present, _checked_attributes(content["attrs"]))


def _coordinate(content: Any, sizes: Mapping[Any, int], samples: str) -> Coordinate:
    keys = ("name", "dims", "dtype", "values", "attrs")
    check_keys(content, keys, "a coordinate of the field")
    require(isinstance(content["name"], str), "a coordinate has no name.")
    dims = _names(content, "dims")
    what = f"the coordinate {content['name']!r}"
    require(all(dim in sizes for dim in dims), f"{what} is along an unknown dimension.")
    own = content["name"] not in sizes or dims == (content["name"],)
    require(own and content["name"] != samples, f"{what} has the name of a dimension.")
    values = _decoded(content["values"], content["dtype"], what)
    shape = tuple(sizes[dim] for dim in dims)
    require(values.size == prod(shape), f"{what} is of the wrong length.")
    attrs = _checked_attributes(content["attrs"])
    return Coordinate(content["name"], dims, values.reshape(shape), attrs)


def _decoded(values: Any, dtype: Any, what: str) -> npt.NDArray[Any]:
    known = isinstance(dtype, str) and _TYPES.fullmatch(dtype) is not None
    require(known, f"{what} is of an unknown type.")
    require(isinstance(values, list), f"{what} is not a list.")
    wrong = f"{what} has an entry that is not of its type."
    if dtype == "str":
        require(all(isinstance(value, str) for value in values), wrong)
        return np.array(values, dtype=str)
    try:
        kind = np.dtype(dtype)
        if kind.kind == "M":
            require(all(isinstance(value, str) for value in values), wrong)
            dates = np.array(values, dtype=kind)
            require(np.datetime_as_string(dates).tolist() == values, wrong)
            return dates
    except (TypeError, ValueError):
        raise DocumentError(wrong) from None
    number: Any = {"f": np.float64, "b": np.bool_}.get(kind.kind, np.intp)
    if kind == np.uint64:
        require(all(isinstance(value, int) and value >= 0 for value in values), wrong)
        number = np.uint64
    plain = array_of(values, number, what)
    with np.errstate(over="ignore"):
        result = plain.astype(kind)
    if kind.kind != "m":
        require(np.array_equal(result, plain, equal_nan=kind.kind == "f"), wrong)
    return result


def _levels(
    content: Any, coordinates: list[Coordinate], sizes: Mapping[Any, int]
) -> dict[Any, tuple[str, ...]]:
    require(isinstance(content, dict), "'levels' is not an object.")
    along = {coordinate.name: coordinate.dims for coordinate in coordinates}
    levels = {dim: _names(content, dim) for dim in content}
    for dim, names in levels.items():
        fitting = dim in sizes and len(names) > 1 and dim not in along
        fitting = fitting and all(along.get(name) == (dim,) for name in names)
        require(fitting, "'levels' are not those of coordinates.")
    return levels


def _checked_attributes(content: Any) -> dict[str, Any]:
    plain = isinstance(content, dict) and _is_plain(list(content.values()))
    require(plain, "'attrs' is not an object of numbers and text.")
    return dict(content)


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or isinstance(value, str | bool | int | float)
