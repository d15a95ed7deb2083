"""Whether a field has the cells that a model knows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .._cells import texts
from ._describe import Coordinate, Field, Variable, is_dataset, listed_dims, variables_of

_CLOSE = 1e-6
"""Of the largest coordinate: by how much others may differ, as they do in single precision."""


def check_same_cells(field: Field, X: Any) -> None:
    """Refuse a field whose variables, dimensions, units or coordinates are not those of the fit.

    The order of the dimensions does not matter, nor does the name of a single array; units and
    coordinates are compared where both have them. For that, coordinates of dask are computed, and
    nothing else.
    """
    if field.is_dataset != is_dataset(X):
        kinds = ("a DataArray", "a Dataset")
        raise ValueError(
            f"The model was fitted to {kinds[field.is_dataset]}, and this is {kinds[is_dataset(X)]}"
            f"{'' if field.is_dataset else ': give one of its variables'}."
        )
    found = variables_of(X)
    if field.is_dataset:
        known = [variable.name for variable in field.variables]
        for name in known:
            if name not in found:
                raise ValueError(f"The Dataset lacks the variable {name!r} of the fit.")
        for name in found:
            if name not in known:
                raise ValueError(
                    f"The Dataset has the variable {name!r}, which was not in the fit; drop it "
                    f"first, with drop_vars({name!r})."
                )
    for variable in field.variables:
        array = found[variable.name] if field.is_dataset else X
        _check_dims(field, variable, array)
        _check_units(field, variable, array)
    for coordinate in field.coordinates:
        if coordinate.dims and coordinate.name in X.coords:
            _check_coordinate(coordinate, X.coords[coordinate.name])


def _what(field: Field, variable: Variable) -> str:
    return f"The variable {variable.name!r}" if field.is_dataset else "The field"


def _check_units(field: Field, variable: Variable, array: Any) -> None:
    before, now = (side.get("units") for side in (variable.attrs, array.attrs))
    if before is not None and now is not None and str(before).strip() != str(now).strip():
        raise ValueError(
            f"{_what(field, variable)} has the units {str(now)!r} and had {str(before)!r} in the "
            "fit: convert it first, or change its attribute where both mean the same."
        )


def _check_dims(field: Field, variable: Variable, array: Any) -> None:
    what = _what(field, variable)
    sizes = dict(zip(field.cell_dims(variable), variable.shape, strict=True))
    if set(array.dims) != set(variable.dims):
        expected = ", ".join(map(str, variable.dims))
        raise ValueError(
            f"{what} should have the dimensions of the fit, {expected}; its dimensions are: "
            f"{listed_dims(array)}."
        )
    for name, size in sizes.items():
        if array.sizes[name] != size:
            raise ValueError(
                f"{what} should have the cells of the fit, {size} along {name!r}, and has "
                f"{array.sizes[name]}."
            )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} is not of numbers (type {array.dtype}).")


def _check_coordinate(known: Coordinate, given: Any) -> None:
    if set(given.dims) != set(known.dims):
        raise ValueError(
            f"The coordinate {known.name!r} should be along the dimensions of the fit, "
            f"{', '.join(map(str, known.dims))}; it is along {', '.join(map(str, given.dims))}."
        )
    values = np.asarray(given.transpose(*known.dims).values)
    apart = differing(known.values, values, _CLOSE)
    if apart.any():
        first = int(np.flatnonzero(apart)[0])
        place = np.unravel_index(first, apart.shape)
        where = ", ".join(map(str, place))
        before, now = (texts(side.ravel()[[first]])[0] for side in (known.values, values))
        raise ValueError(
            f"The coordinate {known.name!r} is not that of the fit: its first differing value "
            f"(place {where}) is {now} and was {before}.{_remedy(known, values)}"
        )


def _remedy(known: Coordinate, given: npt.NDArray[Any]) -> str:
    """Say how to bring values of one dimension into their order, if nothing else differs."""
    if len(known.dims) != 1:
        return ""
    ordered = [side[_order(side)] for side in (known.values, given)]
    if differing(ordered[0], ordered[1], _CLOSE).any():
        return ""
    start = " The values are the same in another order: sort them first, as with X."
    places = np.arange(given.size)
    if np.array_equal(_order(known.values), places):
        return f"{start}sortby({known.name!r})."
    if np.array_equal(_order(known.values), places[::-1]):
        return f"{start}sortby({known.name!r}, ascending=False)."
    return f"{start}reindex_like(the field of the fit)." if known.name in known.dims else ""


def _order(values: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Give the order of values of a coordinate, of text and the like by what they look like."""
    comparable = values if values.dtype.kind in "biufMm" else np.array(list(map(str, values)))
    return np.argsort(comparable, kind="stable")


def differing(
    one: npt.NDArray[Any], other: npt.NDArray[Any], close: float = 0.0
) -> npt.NDArray[np.bool_]:
    """Where two coordinates of the same shape differ; numbers by more than a share of them."""
    kinds = {one.dtype.kind, other.dtype.kind}
    if kinds <= set("iufb"):
        largest = np.abs(one[np.isfinite(one)]).max(initial=0.0)
        near = np.isclose(other, one, rtol=0.0, atol=close * float(largest), equal_nan=True)
        return np.asarray(~near)
    if len(kinds) == 1 and kinds <= {"M", "m"}:
        return np.asarray((one != other) & ~(np.isnat(one) & np.isnat(other)))
    # Text, dates of other calendars and tuples of stacked coordinates.
    pairs = zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
    return np.array([str(a) != str(b) for a, b in pairs], dtype=bool).reshape(one.shape)
