"""Names of the cells of a grid, wherever they become columns."""

from collections.abc import Hashable, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt


def place_names(dimension: Hashable, size: int, values: npt.NDArray[Any] | None) -> list[str]:
    """Name the places along a dimension by its coordinate where that tells them apart.

    Examples
    --------
    >>> place_names("lat", 2, np.array([45.0, 47.5]))
    ['lat=45.0', 'lat=47.5']
    >>> place_names("x", 2, None)
    ['x=0', 'x=1']
    """
    places = [str(place) for place in range(size)]
    if values is not None:
        named = texts(values)
        if len(set(named)) == len(named):
            places = named
    return [f"{dimension}={place}" for place in places]


def cell_names(name: Hashable, places: Sequence[Sequence[str]], taken: set[str]) -> list[str]:
    """Name the cells of a variable, in the order of its dimensions; the names become taken.

    Examples
    --------
    >>> cell_names("t2m", [["lat=45.0"], ["lon=7.5", "lon=8.0"]], set())
    ['t2m[lat=45.0, lon=7.5]', 't2m[lat=45.0, lon=8.0]']
    """
    names = []
    for cell in product(*places):
        label = f"{name}[{', '.join(cell)}]"
        while label in taken:
            label += "'"
        taken.add(label)
        names.append(label)
    return names


def texts(values: npt.NDArray[Any]) -> list[str]:
    """Write the values of a coordinate; dates no longer than they need be."""
    if values.dtype.kind == "M":
        return [str(value) for value in np.datetime_as_string(values, unit="auto")]
    return [str(value) for value in values]
