"""Which features may merge: neighbours, as the options say, and those of the same lag."""

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .._data._field import LAG, axis_of, coordinate_of, degrees_of, on_cells
from .._data._names import describe_columns
from ..structure import coordinate_connectivity
from ._files import DataFile, open_data
from ._files._fields import FieldFile
from ._files._tables import TableFile
from ._select import naming
from ._terminal import Terminal
from ._time import LAGGED, blocks_of_lags

Degrees: TypeAlias = npt.NDArray[np.float64]


def structure_of(
    data: DataFile, features: Sequence[str], options: argparse.Namespace, terminal: Terminal
) -> dict[str, Any]:
    """Return parameters that restrict what merges; raise if there are no such neighbours."""
    gridded = data.gridded(features)
    connectivity = options.connectivity
    with naming(data.source):
        _check_cells(gridded, connectivity)
    if connectivity == "stations":
        connectivity = _station_connectivity(data, features, options, terminal)
        if not connectivity.nnz:
            terminal.note(f"no station has a neighbour within {options.radius_km:g} km")
    return {
        "connectivity": connectivity,
        "blocks": None if gridded or not options.lags else blocks_of_lags(features),
        "sample_dim": data.sample_dim if gridded else None,
    }


def _check_cells(gridded: Sequence[Any], connectivity: str | None) -> None:
    if connectivity == "grid" and not gridded:
        raise ValueError(
            "no feature is a cell of a grid, which --connectivity grid needs; for adjacent columns "
            "use --connectivity chain"
        )
    for each in gridded:
        if connectivity == "grid" and each.are_places:
            raise ValueError(
                f"the cells of {each.name!r} are places and no grid; use --connectivity stations "
                "with --radius-km"
            )
        if connectivity == "chain" and len({*each.dims} - {LAG}) > 1:
            raise ValueError(
                f"--connectivity chain is for features in a row, but the cells of {each.name!r} "
                f"have the dimensions {', '.join(each.dims)}; use --connectivity grid"
            )


# Stations


def _station_connectivity(
    data: DataFile, features: Sequence[str], options: argparse.Namespace, terminal: Terminal
) -> Any:
    """Return which features are at most --radius-km apart."""
    source, stations = data.source, list(features)
    if options.stations is not None:
        source = options.stations
        stations = [re.sub(LAGGED, r"\1", name) if options.lags else name for name in stations]
        lat, lon = _from_table(source, stations, terminal)
    elif isinstance(data, FieldFile):
        lat, lon = _from_field(data, features)
    else:
        raise ValueError(
            "--connectivity stations needs --stations FILE, a table with the name, latitude and "
            "longitude of each column"
        )
    wrong = ~((np.abs(lat) <= 90) & np.isfinite(lon))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise ValueError(
            f"{source}: {stations[first]!r} is at latitude {lat[first]:g} and longitude "
            f"{lon[first]:g}; stations need both, in degrees, with latitudes from -90 to 90"
        )
    return coordinate_connectivity(lat, lon, radius_km=options.radius_km)


def _from_table(path: str, stations: Sequence[str], terminal: Terminal) -> tuple[Degrees, Degrees]:
    """Read the latitudes and longitudes of stations from a table with a row for each."""
    table = open_data(path)
    terminal.note_all(table.notes)
    if not isinstance(table, TableFile):
        raise ValueError(f"--stations needs a table, and {path} is none")
    places = {axis: [n for n in table.names if axis_of(n, {}) == axis] for axis in ("lat", "lon")}
    for axis, found in places.items():
        if len(found) != 1:
            raise ValueError(
                f"{path} has {len(found) or 'no'} columns with a name such as {axis!r}; it must "
                "have one"
            )
    wanted = dict.fromkeys(stations)
    others = [name for name in table.names if axis_of(name, {}) is None]
    frame = table.kept_frame(others, np.arange(table.n_rows))  # 00123 as it is written
    columns = [[str(name).strip() for name in column] for column in frame.iter_columns()]
    names = max(columns, key=lambda each: len(wanted.keys() & {*each}), default=[])
    counts = Counter(names)
    lacking = [name for name in wanted if not counts[name]]
    if lacking:
        raise ValueError(
            f"{path} has no row for {describe_columns(lacking, range(len(lacking)), limit=5)}; "
            "--drop COLUMN leaves out what is no station"
        )
    for name in wanted:
        if counts[name] > 1:
            raise ValueError(f"{path} has {counts[name]} rows for the station {name!r}; keep one")
    rows = {name: row for row, name in enumerate(names)}
    chosen = [rows[name] for name in stations]
    lat, lon = (table.target(found[0])[chosen] for found in places.values())
    return lat, lon


def _from_field(data: FieldFile, features: Sequence[str]) -> Degrees:
    """Return the latitudes and longitudes of cells, in two rows."""
    found: dict[str, Any] = {}
    field = data.field
    if field is not None:
        for variable, part in field.parts:
            axes = [coordinate_of(field, variable, axis) for axis in ("lat", "lon")]
            known = [axis for axis in axes if axis is not None]
            degrees = [on_cells(axis.dims, degrees_of(axis), field, variable) for axis in known]
            if len(degrees) == 2:
                found |= zip(field.names[part], zip(*degrees, strict=True), strict=True)
    lacking = [name for name in features if name not in found]
    if lacking:
        raise ValueError(
            f"--connectivity stations needs latitudes and longitudes, which {data.source} does not "
            f"have of {describe_columns(lacking, range(len(lacking)), limit=3)}; --drop it, or "
            "name a table of stations with --stations"
        )
    return np.array([found[name] for name in features]).T
