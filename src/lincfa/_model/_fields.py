"""What a model does with fields: their tables for its work, and maps of its cells."""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .._data._field._build import put
from .._data._field._compare import check_same_cells
from .._data._field._describe import Field, is_dataset, is_field
from .._data._field._read import read_field, read_known, told_by_cell
from .._data._field._samples import along_samples, refuse_own_variable, sample_dimension
from .._data._input import is_dask, real_numbers


@dataclass(frozen=True)
class CellTable:
    """A table for a fit, of which it is known already that its columns are the cells of a field."""

    field: Field
    table: Any


class FieldReader:
    """A model that can be fitted to fields of xarray, which it takes as tables of their cells."""

    sample_dim: Hashable
    field_: Field

    @contextmanager
    def _opened(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Any, Any, Any]]:
        """Give the table of a field for a fit, with target and weights; tables as they are."""
        if isinstance(X, CellTable):
            self.field_ = X.field
            yield X.table, y, sample_weight
            return
        if not is_field(X):
            yield X, y, sample_weight
            return
        dim = sample_dimension(X, self.sample_dim, y)
        refuse_own_variable(y, X)
        self.field_, table = read_field(X, dim)
        with told_by_cell(self.field_, table, X, new=False):
            yield table, *self._outcomes(X, table, y, sample_weight)

    @contextmanager
    def _known(
        self, X: Any, y: Any = None, sample_weight: Any = None
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Give the table of a field with the cells of the fit; tables as they are."""
        if not self._takes_field(X):
            yield X, y, sample_weight
            return
        check_same_cells(self.field_, X)
        table = read_known(self.field_, X)
        with told_by_cell(self.field_, table, X, new=True):
            yield table, *self._outcomes(X, table, y, sample_weight)

    def _outcomes(self, X: Any, table: Any, y: Any, sample_weight: Any) -> tuple[Any, Any]:
        dim, lazy = self.field_.sample_dim, is_dask(table)
        return (
            along_samples(y, X, dim, "the target y", lazy=lazy),
            along_samples(sample_weight, X, dim, "sample_weight", lazy=lazy),
        )

    def _takes_field(self, X: Any) -> bool:
        """Whether X is a field, and not an array of xarray that is a table to this model."""
        if not is_field(X):
            return False
        if getattr(self, "field_", None) is not None:
            return True
        if is_dataset(X) or X.ndim != 2:
            raise ValueError(
                "The model was fitted to a table, and this is a field of xarray: give it a table "
                "with the same columns, or fit it to a field."
            )
        return False

    def label_map(self) -> Any:
        """Give the group of each cell of the field, on its grid.

        Returns
        -------
        DataArray
            ``labels_`` as float64: NaN for cells that are missing throughout, −1 for constant ones.
            For a model that was fitted to a Dataset, a Dataset of such maps.

        Examples
        --------
        >>> import numpy as np, xarray as xr
        >>> from lincfa import LinCFA
        >>> rng = np.random.default_rng(0)
        >>> signal = rng.normal(size=(100, 2, 1))
        >>> values = signal + 0.1 * rng.normal(size=(100, 2, 3))
        >>> lat, lon = [45.0, 46.0], [7.0, 8.0, 9.0]
        >>> field = xr.DataArray(values, {"time": range(100), "lat": lat, "lon": lon})
        >>> y = signal[:, 0, 0] - signal[:, 1, 0] + rng.normal(size=100)
        >>> LinCFA(sample_dim="time", tolerance=9.0).fit(field, y).label_map().values
        array([[0., 0., 0.],
               [1., 1., 1.]])
        """
        self._check_has_field()
        labels = self.labels_.astype(float)  # type: ignore[attr-defined]
        attrs = {"long_name": "group of the cell, or -1 for a constant one"}
        return put(self.field_, labels, "group", attrs)

    def to_map(self, values: Any, name: Hashable = None) -> Any:
        """Put one number per feature on the grid of the field.

        For instance coefficients, as :meth:`expand_coefficients` gives them, or ``mean_``.

        Parameters
        ----------
        values : array of shape (n_features_in_,)
        name : str, default=None
            Name of the map; of a Dataset, the ``long_name`` of its variables.

        Returns
        -------
        DataArray or Dataset
            As the field of the fit was; NaN for cells that are missing throughout.
        """
        self._check_has_field()
        return map_values(self.field_, values, name)

    def _check_has_field(self) -> None:
        self._check_is_fitted()
        if getattr(self, "field_", None) is None:
            raise ValueError(
                "The model was fitted to a table, whose columns are no cells of a grid; a map "
                "needs a fit to a field of xarray."
            )

    def _check_is_fitted(self) -> None:
        raise NotImplementedError


def map_values(field: Field, values: Any, name: Hashable) -> Any:
    """Put one number per column on the grid of a field."""
    array = real_numbers(values, "values")
    if array.shape != (len(field.names),):
        raise ValueError(
            f"values must have one number per feature, shape ({len(field.names)},), got "
            f"{array.shape}."
        )
    return put(field, array, name, {} if name is None else {"long_name": str(name)})
