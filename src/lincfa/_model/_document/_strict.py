"""Values of a JSON file turned into arrays, and nothing taken on trust."""

from collections.abc import Mapping
from math import inf, nan
from typing import Any

import numpy as np
import numpy.typing as npt

ROUNDING = 1e-9

_NOT_FINITE = {"nan": nan, "inf": inf, "-inf": -inf}


class DocumentError(ValueError):
    """What is wrong with the content of a saved model."""


def record(
    model: Mapping[str, Any], key: str, dtype: np.dtype[np.void], without: tuple[str, ...] = ()
) -> npt.NDArray[np.void]:
    """Give columns as a structured array, but for the fields that the file does not have."""
    kinds = {name: dtype[name].type for name in dtype.names or () if name not in without}
    columns = table(model, key, kinds)
    filled = np.zeros(len(next(iter(columns.values()))), dtype=dtype)
    for name, values in columns.items():
        filled[name] = values
    return filled


def table(
    model: Mapping[str, Any], key: str, kinds: Mapping[str, Any]
) -> dict[str, npt.NDArray[Any]]:
    """Columns of equal length, each of the type asked for."""
    columns_of = model[key]
    check_keys(columns_of, tuple(kinds), f"'{key}'")
    columns = {name: array_of(columns_of[name], kind, f"'{name}'") for name, kind in kinds.items()}
    lengths = {values.size for values in columns.values()}
    require(len(lengths) == 1, f"the columns of '{key}' differ in length.")
    return columns


def array_of(values: Any, kind: Any, what: str) -> npt.NDArray[Any]:
    """Give a list of numbers of one type as an array."""
    require(isinstance(values, list), f"{what} is not a list.")
    allowed: tuple[type, ...] = {np.intp: (int,), np.uint64: (int,), np.bool_: (bool,)}.get(
        kind, (int, float)
    )
    numbers = values
    if kind is np.float64:
        numbers = [
            _NOT_FINITE.get(value, value) if type(value) is str else value for value in values
        ]
    fitting = all(type(number) in allowed for number in numbers)
    require(fitting, f"{what} has an entry of the wrong type.")
    try:
        return np.array(numbers, dtype=kind)
    except OverflowError:
        raise DocumentError(f"{what} has a number that is too large.") from None


def number(model: Mapping[str, Any], key: str) -> float:
    """Give a positive number."""
    (value,) = array_of([model[key]], np.float64, f"'{key}'")
    require(bool(np.isfinite(value) and value > 0), f"'{key}' is not a positive number.")
    return float(value)


def names_of(model: Mapping[str, Any], key: str, length: int) -> list[str] | None:
    """Give a list of names, of the length asked for, or None."""
    names = model[key]
    if names is None:
        return None
    fitting = isinstance(names, list) and all(isinstance(name, str) for name in names)
    require(fitting and len(names) == length, f"'{key}' is not a list of {length} names.")
    return list(names)


def check_correlations(values: npt.NDArray[np.float64], what: str) -> None:
    """Refuse what is not between −1 and 1."""
    inside = bool((np.abs(values) <= 1 + ROUNDING).all())
    require(inside, f"{what} has an entry that is no correlation.")


def check_keys(found: Any, expected: tuple[str, ...], what: str) -> None:
    """Refuse an object that lacks a key, or has one more."""
    require(isinstance(found, dict), f"{what} is not an object.")
    for name in expected:
        require(name in found, f"{what} lacks {name!r}.")
    for name in found:
        require(name in expected, f"{what} has {name!r}, which does not belong there.")


def require(condition: bool, otherwise: str) -> None:
    """Refuse the file unless a condition holds."""
    if not condition:
        raise DocumentError(otherwise)


def listed(values: npt.NDArray[Any]) -> list[Any]:
    """Numbers as a list; those that JSON has no name for as strings."""
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [value if np.isfinite(value) else str(value) for value in values.tolist()]
