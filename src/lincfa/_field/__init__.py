"""Fields of xarray: tables of their cells on the way in, grids on the way out."""

from ._build import along, put, put_samples, reduced_array
from ._describe import GROUP, Coordinate, Field, Variable, is_dataset, is_field
from ._model import FieldReader, map_values

__all__ = [
    "GROUP",
    "Coordinate",
    "Field",
    "FieldReader",
    "Variable",
    "along",
    "is_dataset",
    "is_field",
    "map_values",
    "put",
    "put_samples",
    "reduced_array",
]
