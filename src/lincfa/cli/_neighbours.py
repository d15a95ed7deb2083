"""Which features may merge: neighbours, as the options say, and those of the same lag."""

import argparse
from collections.abc import Sequence
from typing import Any

from ._files import DataFile
from ._select import naming
from ._terminal import Terminal
from ._time import blocks_of_lags


def structure_of(
    data: DataFile, features: Sequence[str], options: argparse.Namespace, terminal: Terminal
) -> dict[str, Any]:
    """Return parameters that restrict what merges; raise if there are no such neighbours."""
    chosen = set(features)
    gridded = [each for each in data.variables if not chosen.isdisjoint(each.columns)]
    connectivity = options.connectivity
    with naming(data.source):
        _check_cells(gridded, connectivity)
    if connectivity == "stations":
        from ._stations import station_connectivity

        connectivity = station_connectivity(data, features, options)
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
        if connectivity == "chain" and len({*each.dims} - {"lag"}) > 1:
            raise ValueError(
                f"--connectivity chain is for features in a row, but the cells of {each.name!r} "
                f"have the dimensions {', '.join(each.dims)}; use --connectivity grid"
            )
