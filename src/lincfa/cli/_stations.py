"""Stations within a radius as neighbours: places of columns from a table, or of a field."""

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._field import axis_of, degrees_of
from .._data._names import describe_columns
from ..structure import coordinate_connectivity
from ._files import DataFile, open_data
from ._files._fields import FieldFile
from ._files._tables import TableFile
from ._time import LAG

if TYPE_CHECKING:
    import numpy.typing as npt


def station_connectivity(
    data: DataFile, features: Sequence[str], options: argparse.Namespace
) -> Any:
    """Return which features are at most --radius-km apart."""
    if options.stations is not None:
        lat, lon = _from_table(options.stations, features, options.lags)
    elif isinstance(data, FieldFile):
        lat, lon = _from_field(data, features)
    else:
        raise ValueError(
            "--connectivity stations needs --stations FILE, a table with the name, latitude and "
            "longitude of each column"
        )
    return coordinate_connectivity(lat, lon, radius_km=options.radius_km)


def _from_table(
    path: str, features: Sequence[str], lags: Sequence[int]
) -> "tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]":
    """Find the rows of a table of stations, in the column of which the features are the names."""
    table = open_data(path)
    if not isinstance(table, TableFile):
        raise ValueError(f"{path} is no table, which --stations needs")
    places = {axis: [n for n in table.names if axis_of(n, {}) == axis] for axis in ("lat", "lon")}
    for axis, found in places.items():
        if len(found) != 1:
            raise ValueError(
                f"{path} has {len(found) or 'no'} columns with a name such as {axis!r}; it must "
                "have one"
            )
    stations = [re.sub(LAG, r"\1", name) if lags else name for name in features]
    others = [name for name in table.names if axis_of(name, {}) is None]
    frame = table.kept_frame(others, np.arange(table.n_rows))  # 00123 as it is written
    rows: dict[str, int] = {}
    for column in frame.iter_columns():
        names = [str(name).strip() for name in column.to_list()]
        if len({*names}.intersection(stations)) > len({*rows}.intersection(stations)):
            rows = {name: row for row, name in enumerate(names)}
    lacking = [name for name in dict.fromkeys(stations) if name not in rows]
    if lacking:
        raise ValueError(
            f"{path} has no place of {describe_columns(lacking, range(len(lacking)), limit=5)}; "
            "--drop COLUMN leaves out what is no station"
        )
    chosen = [rows[name] for name in stations]
    lat, lon = (table.target(names[0])[chosen] for names in places.values())
    return lat, lon


def _from_field(data: FieldFile, features: Sequence[str]) -> "npt.NDArray[np.float64]":
    """Return the coordinates of each cell."""
    found: dict[str, tuple[float, float]] = {}
    for variable in data.variables:
        places = {}
        for name, array in data.data.coords.items():
            axis = axis_of(name, array.attrs)
            if axis is not None and array.dims and {*array.dims} <= {*variable.dims}:
                degrees = array.copy(data=degrees_of(array))
                places[axis] = degrees.broadcast_like(variable.mask(()).astype(float))
        if len(places) == 2:
            lat, lon = (variable.by_column(places[axis]) for axis in ("lat", "lon"))
            found |= {name: (lat[name], lon[name]) for name in variable.columns}
    lacking = [name for name in features if name not in found]
    if lacking:
        raise ValueError(
            f"--connectivity stations needs latitudes and longitudes, which {data.source} does not "
            f"have of {describe_columns(lacking, range(len(lacking)), limit=3)}; --drop it, or "
            "name a table of places with --stations"
        )
    return np.array([found[name] for name in features]).T
