"""Features in a row, such as the wavelengths of a spectrum."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..._data._field._describe import Field
from ...theory._arrays import FloatArray
from ._places import is_scale

_FEWEST, _MOST = 20, 20_000  # features of a row in a report


@dataclass(frozen=True)
class Row:
    """Features in a row.

    Attributes
    ----------
    x : array of shape (n_features,)
        Where each is, in ascending or descending order.
    x_label : str
        What that is.
    numbered : bool
        Whether the features have numbers of their own, and not just their positions.
    groups : array of shape (n_features,)
        Group of each; −1 for a constant one.
    values : array of shape (n_features,)
        What a line shows: the means, or a spectrum.
    """

    x: FloatArray
    x_label: str
    numbered: bool
    groups: npt.NDArray[np.intp]
    values: FloatArray


def row_of(reducer: Any, values: FloatArray) -> Row:
    """Put the features in a row, by the numbers in their names where these go one way.

    Of a field with one dimension besides the samples, by its coordinate.
    """
    field: Field | None = getattr(reducer, "field_", None)
    x: FloatArray | None
    if field is None:
        x, label = _numbers(reducer._names()), "number that names the feature"
    else:
        x, label = _coordinate(field)
    positions = np.arange(reducer.n_features_in_, dtype=np.float64)
    if x is None:
        x, label = positions, "feature, in the order of the columns"
    numbered = not any(np.array_equal(x, positions + start) for start in (0, 1))
    return Row(x, label, numbered, reducer.labels_, values)


def spectrum_of(reducer: Any) -> Row | None:
    """Give the means of features in a row for a report; None where they are in no row."""
    if not _FEWEST <= reducer.n_features_in_ <= _MOST:
        return None
    row = row_of(reducer, reducer.mean_)
    return row if row.numbered else None


def _numbers(names: Any) -> FloatArray | None:
    """Read names as numbers that go one way; None where they do not."""
    try:
        return _one_way(np.array([float(name) for name in names]))
    except (TypeError, ValueError):
        return None


def _coordinate(field: Field) -> tuple[FloatArray | None, str]:
    """Read the coordinate of a field of one variable, whose cells have one dimension."""
    variable, *others = field.variables
    if others or len(variable.shape) != 1:
        return None, ""
    (dimension,) = field.cell_dims(variable)
    for coordinate in field.coordinates:
        if coordinate.name == dimension and is_scale(coordinate.values):
            units = coordinate.attrs.get("units")
            label = f"{dimension}, {units}" if units else str(dimension)
            values = np.asarray(coordinate.values, dtype=np.float64)
            return _one_way(values[variable.present]), label
    return None, ""


def _one_way(x: FloatArray) -> FloatArray | None:
    steps = np.diff(x)
    finite = bool(np.isfinite(x).all())
    return x if finite and ((steps > 0).all() or (steps < 0).all()) else None
