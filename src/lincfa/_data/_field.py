"""What is kept of an xarray field: its cells and where they are, but no values."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import is_dataset

GROUP = "group"
"""Name of the dimension of reduced features."""

LAG = "lag"
"""Name of the dimension of lags, each of which is a block of features."""

_UNNAMED = "cell"

_UNITS = {
    "lat": {"degrees_north", "degree_north", "degrees_n", "degree_n", "degreesn", "degreen"},
    "lon": {"degrees_east", "degree_east", "degrees_e", "degree_e", "degreese", "degreee"},
}
_NAMES = {
    "lat": {"lat", "latitude", "lats", "latitudes", "nav_lat", "xlat"},
    "lon": {"lon", "longitude", "lons", "longitudes", "long", "nav_lon", "xlong"},
}
_STANDARD = {"latitude": "lat", "longitude": "lon"}


@dataclass(frozen=True, eq=False)
class Coordinate:
    """A coordinate of cells, in plain arrays."""

    name: Hashable
    dims: tuple[Hashable, ...]
    values: npt.NDArray[Any]
    attrs: Mapping[Any, Any]


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable and its cells; the name of an array may be None."""

    name: Hashable
    dims: tuple[Hashable, ...]  # in the order of the field, including that of the samples
    shape: tuple[int, ...]  # without the samples
    present: npt.NDArray[np.bool_]  # in C order; False for cells missing at every sample
    attrs: Mapping[Any, Any]


@dataclass(frozen=True, eq=False)
class Field:
    """An xarray field without its values: which cell each column of its table is.

    The columns are the cells that are not missing at every sample, variable by variable, in the C
    order of the dimensions other than that of the samples.
    """

    sample_dim: Hashable
    variables: tuple[Variable, ...]  # one for a DataArray
    # All that do not run along the samples, including scalar and multi-dimensional ones.
    coordinates: tuple[Coordinate, ...]
    levels: Mapping[Hashable, tuple[Hashable, ...]]  # their names, for dimensions with a MultiIndex
    is_dataset: bool
    attrs: Mapping[Any, Any]  # those of the Dataset

    def cell_dims(self, variable: Variable) -> tuple[Hashable, ...]:
        return tuple(name for name in variable.dims if name != self.sample_dim)

    def cell_sizes(self, variable: Variable) -> dict[Hashable, int]:
        return dict(zip(self.cell_dims(variable), variable.shape, strict=True))

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns, all different, such as ``t2m[lat=45.0, lon=7.5]``."""
        return list(self.each_name())

    def each_name(self) -> Iterator[str]:
        """Yield the names of the columns, each of which may hold a long text of a coordinate."""
        taken = {_label(variable) for variable in self.variables if not variable.shape}
        sizes = {dim: n for each in self.variables for dim, n in self.cell_sizes(each).items()}
        places = {dim: self._places(dim, size) for dim, size in sizes.items()}
        for variable in self.variables:
            if not variable.shape:
                yield from [_label(variable)] * int(variable.present.sum())
                continue
            positions = np.unravel_index(np.flatnonzero(variable.present), variable.shape)
            words = [
                map(places[dim], along.tolist())
                for dim, along in zip(self.cell_dims(variable), positions, strict=True)
            ]
            for cell in zip(*words, strict=True):
                name = f"{_label(variable)}[{', '.join(cell)}]"
                while name in taken:
                    name += "'"
                taken.add(name)
                yield name

    @cached_property
    def variable_of_column(self) -> npt.NDArray[np.intp]:
        counts = [int(variable.present.sum()) for variable in self.variables]
        return np.repeat(np.arange(len(counts)), counts)

    # Lags

    def dims_without_lag(self, variable: Variable) -> tuple[Hashable, ...]:
        """Return the dimensions along which there can be neighbours."""
        return tuple(name for name in self.cell_dims(variable) if name != LAG)

    @property
    def has_lags(self) -> bool:
        return any(LAG in self.cell_dims(variable) for variable in self.variables)

    @cached_property
    def block_of_column(self) -> npt.NDArray[np.intp]:
        """Number of each column's variable and lag, which no group mixes."""
        lags = np.concatenate([positions_along([LAG], self, each)[0] for each in self.variables])
        return np.asarray(self.variable_of_column * (int(lags.max()) + 1) + lags)

    @cached_property
    def cell_of_column(self) -> tuple[npt.NDArray[np.intp], int]:
        """Number of each column's cell, the same at every lag, and how many there are.

        Also those count that are missing at every sample.
        """
        found, count = [], 0
        for variable in self.variables:
            cells, size = positions_along(self.dims_without_lag(variable), self, variable)
            found.append(cells + count)
            count += size
        return np.concatenate(found), count

    @property
    def parts(self) -> list[tuple[Variable, slice]]:
        ends = np.searchsorted(self.variable_of_column, np.arange(len(self.variables) + 1))
        bounds = ends.tolist()
        return [
            (variable, slice(bounds[k], bounds[k + 1])) for k, variable in enumerate(self.variables)
        ]

    def is_circle(self, dimension: Hashable) -> bool:
        """Whether a dimension has evenly spaced longitudes all around the globe."""
        for coordinate in self.coordinates:
            if coordinate.name == dimension and _is_axis(coordinate, "lon"):
                return goes_around(degrees_of(coordinate))
        return False

    def is_list_of_places(self, dimension: Hashable) -> bool:
        """Whether a dimension lists places, whose longitudes are not its own coordinate."""
        return any(
            coordinate.dims == (dimension,)
            and coordinate.name != dimension
            and _is_axis(coordinate, "lon")
            for coordinate in self.coordinates
        )

    def _places(self, dimension: Hashable, size: int) -> Callable[[int], str]:
        """Return what names positions: by the coordinate if its values are unique, or by number."""
        known = {coordinate.name: coordinate.values for coordinate in self.coordinates}
        levels = self.levels.get(dimension)
        if levels is not None:
            named = [(name, [f"{value}" for value in known[name]]) for name in levels]
        else:
            named = [(dimension, texts(known[dimension]))] if dimension in known else []
        if not named or len(set(zip(*(values for _, values in named), strict=True))) < size:
            return cache(lambda position: f"{dimension}={position}")
        return cache(
            lambda position: ", ".join(f"{name}={values[position]}" for name, values in named)
        )


def goes_around(longitudes: npt.NDArray[np.float64]) -> bool:
    """Whether evenly spaced longitudes close a circle, eastwards or westwards."""
    steps = np.diff(longitudes)
    ways = (steps % 360, -steps % 360)
    even = (np.allclose(way * longitudes.size, 360, rtol=1e-3) for way in ways)
    return bool(longitudes.size > 2 and any(even))


def _is_axis(coordinate: Coordinate, axis: str) -> bool:
    numbers = coordinate.values.dtype.kind in "iuf"
    return numbers and axis_of(coordinate.name, coordinate.attrs) == axis


def coordinate_of(field: Field, variable: Variable, axis: str) -> Coordinate | None:
    """Return the "lat" or "lon" of the cells of a variable, along some or all their dimensions."""
    dims = field.cell_dims(variable)
    found = [c for c in field.coordinates if _is_axis(c, axis) and set(c.dims) <= set(dims)]
    # On a curvilinear grid those of two dimensions are meant, whatever the axes are called.
    return max(found, key=lambda coordinate: len(coordinate.dims), default=None)


def degrees_of(coordinate: Any) -> npt.NDArray[np.float64]:
    """Return the values of a coordinate, one of ours or of xarray, in degrees."""
    values = coordinate.values.astype(np.float64)
    radians = str(coordinate.attrs.get("units", "")).lower().startswith("rad")
    return np.asarray(np.rad2deg(values) if radians else values)


def are_latitudes(degrees: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which numbers can be latitudes, up to rounding in single precision."""
    return np.asarray(np.abs(degrees) <= 90 * (1 + 1e-6))


def on_cells(
    dims: Sequence[Hashable], values: npt.NDArray[Any], field: Field, variable: Variable
) -> npt.NDArray[Any]:
    """Spread values along some dimensions of a variable over its cells that are present."""
    sizes = field.cell_sizes(variable)
    order = sorted(range(len(dims)), key=lambda axis: list(sizes).index(dims[axis]))
    shape = [size if dim in dims else 1 for dim, size in sizes.items()]
    spread = np.broadcast_to(values.transpose(order).reshape(shape), variable.shape)
    return np.asarray(spread.ravel()[variable.present])


def positions_along(
    dims: Sequence[Hashable], field: Field, variable: Variable
) -> tuple[npt.NDArray[np.intp], int]:
    """Number the cells that are present by where they are along some dimensions.

    Also returns how many positions there are. Dimensions that the variable lacks are ignored.
    """
    sizes = {dim: size for dim, size in field.cell_sizes(variable).items() if dim in dims}
    numbers = np.arange(prod(sizes.values()))
    grid = numbers.reshape(tuple(sizes.values()))
    return on_cells(tuple(sizes), grid, field, variable), numbers.size


def _label(variable: Variable) -> str:
    return _UNNAMED if variable.name is None else str(variable.name)


def variables_of(X: Any) -> dict[Hashable, Any]:
    return dict(X.data_vars) if is_dataset(X) else {X.name: X}


def describe_field(X: Any, sample_dim: Hashable) -> Field:
    """Describe a field as if no cell were missing."""
    described = []
    for name, array in variables_of(X).items():
        _check_variable(name, array, sample_dim, drop=is_dataset(X))
        shape = tuple(size for dim, size in array.sizes.items() if dim != sample_dim)
        present = np.ones(prod(shape), dtype=np.bool_)
        described.append(Variable(name, tuple(array.dims), shape, present, dict(array.attrs)))
    if not described:
        raise ValueError("The Dataset has no data variables.")
    if sample_dim == GROUP:
        raise ValueError(
            f"The dimension of the samples is called {GROUP!r}, which is the name of the dimension "
            "of reduced features: rename it first."
        )
    indexes: dict[Hashable, Any] = {
        dim: getattr(X.xindexes.get(dim), "index", None) for dim in X.dims
    }
    levels = {
        dim: tuple(index.names)
        for dim, index in indexes.items()
        if dim != sample_dim and getattr(index, "nlevels", 1) > 1
    }
    used = {dim for variable in described for dim in variable.dims} - {sample_dim}
    return Field(
        sample_dim=sample_dim,
        variables=tuple(described),
        coordinates=tuple(
            Coordinate(name, tuple(array.dims), _values(array), dict(array.attrs))
            for name, array in X.coords.items()
            if used.issuperset(array.dims) and name not in levels
        ),
        levels=levels,
        is_dataset=is_dataset(X),
        attrs=dict(X.attrs) if is_dataset(X) else {},
    )


def _check_variable(name: Hashable, array: Any, sample_dim: Hashable, drop: bool) -> None:
    what = f"The variable {name!r}" if drop else "The field"
    remedy = f" Drop it first, with drop_vars({name!r}), or select others." if drop else ""
    if sample_dim not in array.dims:
        raise ValueError(
            f"{what} lacks the dimension of the samples, {sample_dim!r}; its dimensions are: "
            f"{listed_dims(array)}.{remedy}"
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} is not numeric (type {array.dtype}).{remedy}")


def _values(array: Any) -> npt.NDArray[Any]:
    """Return the values of a coordinate, in double precision at most."""
    values = np.asarray(array.values)
    return values.astype(np.float64) if values.dtype == np.longdouble else values


def listed_dims(X: Any) -> str:
    return ", ".join(f"{name} ({size})" for name, size in X.sizes.items()) or "none"


def axis_of(name: Hashable, attrs: Mapping[Any, Any]) -> str | None:
    """Return "lat" or "lon", by the CF attributes or else by the name; None if neither."""
    standard = _STANDARD.get(str(attrs.get("standard_name", "")).lower())
    if standard is not None:
        return standard
    for known, word in ((_UNITS, attrs.get("units", "")), (_NAMES, name)):
        for axis, words in known.items():
            if str(word).lower() in words:
                return axis
    return None


def texts(values: npt.NDArray[Any]) -> list[str]:
    """Format the values of a coordinate; dates as short as possible."""
    if values.dtype.kind == "M":
        return [str(value) for value in np.datetime_as_string(values, unit="auto")]
    return [str(value) for value in values]
