"""The parameter ``feature_weights``: how much each feature counts in the mean of its group."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._checks import is_dataset, is_field, real_numbers
from ._columns import Columns, check_by_name
from ._connectivity import present_labels
from ._names import did_you_mean

if TYPE_CHECKING:  # a fit on a table loads nothing of fields
    from ._field import Field, Variable

AREA = "area"

_LARGEST_RATIO = 1e100
"""Of weights: squares of them are added up."""

_AT_POLE = float(np.cos(np.pi / 2))
"""As rounded, 6e-17: cells at a pole count for nothing, as in any mean weighted by the cosine, but
where they are alone."""


def read_feature_weights(weights: Any, columns: Columns) -> npt.NDArray[np.float64]:
    """Return the weight of each feature; ones where all are the same."""
    if weights is None:
        return np.ones(columns.size)
    if isinstance(weights, str):
        values = _areas(weights, columns)
    elif columns.field is not None and is_field(weights) and not is_dataset(weights):
        values = _on_grid(weights, columns.field)
    else:
        check_by_name(weights, columns, "feature_weights")
        values = real_numbers(present_labels(columns.field, weights), "feature_weights")
    if values.shape != (columns.size,):
        raise ValueError(
            f"feature_weights must have one weight per feature, {columns.size}, got an array of "
            f"shape {values.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if wrong.size:
        raise ValueError(
            "feature_weights must be finite and positive, but the weight of "
            f"{columns.describe([int(wrong[0])])} is {values[wrong[0]]:g}."
        )
    low, high = int(values.argmin()), int(values.argmax())
    if values[high] / _LARGEST_RATIO > values[low]:
        raise ValueError(
            f"feature_weights must not differ by more than a factor of {_LARGEST_RATIO:g}, but "
            f"those of {columns.describe([low, high])} are {values[low]:g} and {values[high]:g}."
        )
    return np.ones(columns.size) if (values == values[0]).all() else values


def _areas(word: str, columns: Columns) -> npt.NDArray[np.float64]:
    """Return the cosine of the latitude of each cell."""
    if word != AREA:
        raise ValueError(
            f'feature_weights must be None, "{AREA}" or one weight per feature, got {word!r}'
            f"{did_you_mean(word, [AREA]) or '.'}"
        )
    if columns.field is None:
        raise ValueError(
            f'feature_weights="{AREA}" needs an xarray field with latitudes. For a table pass one '
            "weight per column."
        )
    from ._field import are_latitudes

    field = columns.field
    degrees = np.concatenate([_latitudes(field, variable) for variable in field.variables])
    wrong = np.flatnonzero(~are_latitudes(degrees))
    if wrong.size:
        raise ValueError(
            f'feature_weights="{AREA}" needs latitudes from -90 to 90 degrees, but that of '
            f"{columns.describe([int(wrong[0])])} is {degrees[wrong[0]]:g}."
        )
    return np.asarray(np.maximum(np.cos(np.deg2rad(degrees)), _AT_POLE))


def _latitudes(field: "Field", variable: "Variable") -> npt.NDArray[np.float64]:
    """Return the latitude of each cell of a variable; 0 for one that has a single cell."""
    from ._field import coordinate_of, degrees_of, on_cells

    found = coordinate_of(field, variable, "lat")
    if found is not None:
        return on_cells(found.dims, degrees_of(found), field, variable)
    if not variable.shape:  # groups do not cross variables
        return np.zeros(int(variable.present.sum()))
    what = f"the variable {variable.name!r}" if field.is_dataset else "the field"
    raise ValueError(
        f'feature_weights="{AREA}" needs latitudes, but {what} has no coordinate with '
        'standard_name "latitude", units "degrees_north" or a name such as "lat" or "latitude" '
        "along the dimensions of its cells. Add one, or pass one weight per cell."
    )


def _on_grid(weights: Any, field: "Field") -> npt.NDArray[np.float64]:
    """Return the weights of cells, given along some or all of their dimensions."""
    from ._field import on_cells

    values = real_numbers(weights.values, "feature_weights")
    parts = []
    for variable in field.variables:
        sizes = field.cell_sizes(variable)
        for dim, size in weights.sizes.items():
            if dim in weights.coords and not _same_coordinates(weights[dim].values, field, dim):
                raise ValueError(
                    f"feature_weights have other coordinates along {dim!r} than the field; select "
                    "those of the field, in the same order."
                )
            if sizes.get(dim) != size:
                raise ValueError(
                    f"feature_weights have {size} values along {dim!r}, but the cells have "
                    f"{sizes.get(dim, 'no such dimension')}."
                )
        parts.append(on_cells(weights.dims, values, field, variable))
    return np.concatenate(parts)


def _same_coordinates(values: npt.NDArray[Any], field: "Field", dim: Hashable) -> bool:
    """Whether these are the coordinates of the field along a dimension, if it has any."""
    known = (c.values for c in field.coordinates if c.name == dim and c.dims == (dim,))
    return all(np.array_equal(values, own) for own in known if own.shape == values.shape)
