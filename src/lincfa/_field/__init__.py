"""Fields of xarray: tables of their cells on the way in, grids on the way out."""

from ._axes import axis_of
from ._build import along, put, put_samples, reduced_array, reduced_attributes
from ._compare import check_same_cells
from ._describe import GROUP, Coordinate, Field, Variable, describe_field, is_dataset, is_field
from ._model import CellTable, FieldReader, map_values

__all__ = [
    "GROUP",
    "CellTable",
    "Coordinate",
    "Field",
    "FieldReader",
    "Variable",
    "along",
    "axis_of",
    "check_same_cells",
    "describe_field",
    "is_dataset",
    "is_field",
    "map_values",
    "put",
    "put_samples",
    "reduced_array",
    "reduced_attributes",
]
