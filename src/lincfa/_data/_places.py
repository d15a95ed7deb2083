"""Where the groups of a field are: centre, extent and area of their cells, and names of places.

Extents are those of the centres of the cells, as coordinates and names of regions have them:
``5°S–5°N 170–120°W`` are the cells with these coordinates. Areas reach to the edges of the cells,
half-way to their neighbours. Longitudes are above −180 and up to 180. An extent goes eastwards from
west to east, so that west is the larger number where it crosses the date line.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isnan
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..structure import EARTH_RADIUS_KM
from ._field import (
    Coordinate,
    Field,
    Variable,
    are_latitudes,
    coordinate_of,
    degrees_of,
    goes_around,
    on_cells,
    positions_along,
    texts,
)
from ._names import group_name

FloatArray = npt.NDArray[np.float64]
IndexArray = npt.NDArray[np.intp]
_Ends: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]

_WIDEST_GAP = 10.0
"""Degrees of longitude up to which scattered cells still go all around the globe."""

_SAME_GAP = 1e-4
"""Degrees that rounding may add to a gap, in single precision too. Of equal gaps the first counts,
so that names are the same for longitudes from 0 to 360 and from −180 to 180."""

_DECIMALS_OF_SCATTERED, _MOST_DECIMALS = 2, 3
_ROUNDING = 0.01  # of the distance of neighbours, by which written degrees may be off

_VERTICAL = {"pa", "hpa", "mb", "mbar", "millibar", "millibars", "m", "km"}
"""Units that say what a number is: ``500 hPa`` needs no "level" before it."""

SUMMARISED = {
    "centre_lat": ("latitude of the centre", "degrees_north"),
    "centre_lon": ("longitude of the centre", "degrees_east"),
    "south": ("southernmost latitude of a cell", "degrees_north"),
    "north": ("northernmost latitude of a cell", "degrees_north"),
    "west": ("longitude of the western end", "degrees_east"),
    "east": ("longitude of the eastern end", "degrees_east"),
    "area_km2": ("area of the cells", "km2"),
}
"""What is known of each place: its meaning and unit. No name is one that a field has itself."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where each group is; NaN for groups of cells without latitudes and longitudes."""

    centre_lat: FloatArray  # mean of the cells, weighted by their areas
    centre_lon: FloatArray  # NaN where a group goes all around
    south: FloatArray
    north: FloatArray
    west: FloatArray  # −180 and 180 where a group goes all around
    east: FloatArray
    area_km2: FloatArray  # NaN for stations and curvilinear grids, whose cells have no known edges
    centres: tuple[str, ...]  # as text, such as ``2.5°S 145°W``

    def columns(self) -> dict[str, FloatArray]:
        """Return all numbers by their names, as in ``SUMMARISED``."""
        return {name: getattr(self, name) for name in SUMMARISED}

    def at(self, number: int) -> dict[str, Any] | None:
        """Return what is known of one group, its centre also as text; None without a place."""
        if not self.centres[number]:
            return None
        figures = {name: float(values[number]) for name, values in self.columns().items()}
        return {"centre": self.centres[number], **figures}

    @property
    def latitude_range(self) -> float:
        """Degrees of latitude over which there are cells of known area; 0 without any."""
        known = np.isfinite(self.area_km2)
        return float(self.north[known].max() - self.south[known].min()) if known.any() else 0.0


def find_places(field: Field, groups: Sequence[IndexArray]) -> Places | None:
    """Find where groups of cells are; None if no cells have latitudes and longitudes."""
    found = {name: np.full(len(groups), np.nan) for name in SUMMARISED}
    centres = np.full(len(groups), "", dtype=object)
    for grid in _grids(field):
        numbers, members, starts = grid.own(groups)
        if not numbers.size:
            continue
        south, north, west, east = grid.extents(members, starts)
        lat, lon = grid.centres(members, starts, around=east - west == 360)
        parts = (lat, lon, south, north, west, east, grid.areas(members, starts))
        for name, values in zip(SUMMARISED, parts, strict=True):
            found[name][numbers] = values
        decimals = [max(1, count) for count in grid.decimals]
        centres[numbers] = _written((lat, lat), (lon, lon), decimals)
    return Places(**found, centres=tuple(centres)) if any(centres) else None


def place_names(
    field: Field, groups: Sequence[IndexArray], signs: npt.NDArray[np.int8]
) -> list[str]:
    """Name groups by their places: ``t2m 5°S–5°N 170–120°W``; "" for cells without a place.

    Groups may share a name. Stations that have names go by them.
    """
    result = [""] * len(groups)
    for grid in _grids(field):
        numbers, members, starts = grid.own(groups)
        if not numbers.size:
            continue
        own_signs = signs[grid.first : grid.first + grid.lat.size]
        if grid.stations is None:
            south, north, west, east = grid.extents(members, starts)
            places = _written((south, north), (west, east), grid.decimals)
            flipped = np.add.reduceat((own_signs[members] < 0).astype(np.intp), starts)
            sizes = np.diff(starts, append=members.size)
            for k in np.flatnonzero(flipped).tolist():
                places[k] += f" ({flipped[k]} of {sizes[k]} flipped)"
        else:
            own = np.split(members, starts[1:])
            places = [group_name(grid.stations, group, own_signs, "stations") for group in own]
        others = [axis.names(members, starts) for axis in grid.others]
        label = "" if grid.name is None else str(grid.name)
        for number, *words in zip(numbers.tolist(), *others, places, strict=True):
            result[number] = " ".join(filter(None, [label, *words]))
    return result


# Cells


@dataclass(frozen=True, eq=False)
class _Axis:
    """A further dimension of cells, such as levels or lags."""

    name: Hashable
    units: str
    ranks: IndexArray  # of each cell
    labels: list[str]  # by rank

    def names(self, members: IndexArray, starts: IndexArray) -> list[str]:
        """Name the values of groups: ``lag 2``, ``500–850 hPa``."""
        name = "" if self.units.lower() in _VERTICAL else str(self.name)
        ends = (end.tolist() for end in _ends(self.ranks[members], starts))
        found = []
        for low, high in zip(*ends, strict=True):
            values = "–".join(dict.fromkeys((self.labels[low], self.labels[high])))
            found.append(" ".join(filter(None, [name, values, self.units])))
        return found


@dataclass(frozen=True, eq=False)
class _Grid:
    """The cells of a variable, those that are present."""

    name: Hashable
    first: int  # column of the first
    lat: FloatArray
    lon: FloatArray
    area: FloatArray  # km²; NaN where edges are unknown
    decimals: tuple[int, int]  # that latitudes and longitudes need
    widest_gap: float  # in longitudes, for groups that go all around the globe
    positions: IndexArray  # of cells on the map, the same at all levels and lags
    others: list[_Axis]
    stations: list[str] | None  # names, where they have any

    def own(self, groups: Sequence[IndexArray]) -> tuple[IndexArray, IndexArray, IndexArray]:
        """Return which groups are of these cells, all their cells, and where each group starts."""
        firsts = np.array([group[0] for group in groups], dtype=np.intp) - self.first
        numbers = np.flatnonzero((firsts >= 0) & (firsts < self.lat.size))
        own = [groups[k] for k in numbers.tolist()]
        members = np.concatenate([np.zeros(0, dtype=np.intp), *own]) - self.first
        sizes = np.array([len(group) for group in own], dtype=np.intp)
        return numbers, members, np.cumsum(sizes) - sizes

    def extents(self, members: IndexArray, starts: IndexArray) -> tuple[FloatArray, ...]:
        """Return the south, north, west and east of each group."""
        columns = longitude_extents(self.lon[members], starts, self.widest_gap)
        return *_ends(self.lat[members], starts), *columns

    def centres(
        self, members: IndexArray, starts: IndexArray, around: npt.NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray]:
        """Return the mean latitude and the mean direction in longitude, weighted by the areas.

        The latitude is within that of the cells, as that of the mean on the sphere is not. There is
        no longitude for groups that go all ``around`` the globe, or lie evenly on both sides of a
        pole.
        """
        lat, lon, area = self.lat[members], self.lon[members], self.area[members]
        weights = np.where(np.isnan(area), 1.0, area)
        turn = np.exp(1j * np.deg2rad(lon)) * np.cos(np.deg2rad(lat))
        total, degrees, direction = (
            np.add.reduceat(weights * part, starts) for part in (np.ones_like(lat), lat, turn)
        )
        known = ~around & (np.abs(direction) > 1e-9 * total)
        centre = np.where(known, np.rad2deg(np.angle(direction)), np.nan)
        single = np.diff(starts, append=lat.size) == 1  # as they are, without rounding
        with np.errstate(invalid="ignore", divide="ignore"):  # where no cell has an area
            latitude = degrees / total
        return (
            np.where(single, lat[starts], latitude),
            _wrapped(np.where(single, lon[starts], centre)),
        )

    def areas(self, members: IndexArray, starts: IndexArray) -> FloatArray:
        """Return the area of each group, in which a place counts once at all levels and lags."""
        numbers = np.repeat(np.arange(starts.size), np.diff(starts, append=members.size))
        count = int(self.positions.max(initial=0)) + 1
        _, once = np.unique(numbers * count + self.positions[members], return_index=True)
        areas = self.area[members[once]]
        return np.asarray(np.bincount(numbers[once], areas, starts.size), dtype=np.float64)


def _grids(field: Field) -> Iterator[_Grid]:
    """Yield the cells of each variable that has latitudes and longitudes."""
    for variable, columns in field.parts:
        lat, lon = (coordinate_of(field, variable, axis) for axis in ("lat", "lon"))
        if lat is None or lon is None:
            continue
        rows, across = degrees_of(lat), degrees_of(lon)
        lats = on_cells(lat.dims, rows, field, variable)
        lons = on_cells(lon.dims, across, field, variable)
        if not (are_latitudes(lats).all() and np.isfinite(lons).all()):
            continue  # whatever they are, they are not degrees
        area, decimals = np.full(lats.size, np.nan), (_DECIMALS_OF_SCATTERED,) * 2
        if max(rows.ndim, across.ndim) < 2 and lat.dims != lon.dims:
            decimals = _decimals(rows), _decimals(across)
            if rows.ndim and across.ndim:
                areas = cell_areas(rows, across)
                area = on_cells((*lat.dims, *lon.dims), areas, field, variable)
        around = np.unique(np.round(lons % 360, 6))
        on_map = tuple(dict.fromkeys((*lat.dims, *lon.dims)))
        yield _Grid(
            name=variable.name,
            first=columns.start,
            lat=lats,
            lon=lons,
            area=area,
            decimals=decimals,
            widest_gap=360 / around.size * 1.001 if goes_around(around) else _WIDEST_GAP,
            positions=positions_along(on_map, field, variable)[0],
            others=list(_other_axes(field, variable, lat, lon)),
            stations=_station_names(field, variable, on_map),
        )


def _other_axes(
    field: Field, variable: Variable, lat: Coordinate, lon: Coordinate
) -> Iterator[_Axis]:
    known = {c.name: c for c in field.coordinates}
    for dim, size in field.cell_sizes(variable).items():
        stacked = field.levels.get(dim)
        for name in stacked or (dim,):
            if name in (lat.name, lon.name) or (not stacked and dim in (*lat.dims, *lon.dims)):
                continue
            coordinate = known.get(name)
            values = np.arange(size) if coordinate is None else coordinate.values
            if values.dtype.kind in "iufbMm":
                ordered, ranks = np.unique(values, return_inverse=True)
                floats = ordered.dtype.kind == "f"
                labels = [f"{v:g}" for v in ordered.tolist()] if floats else texts(ordered)
            else:  # in the order of their positions
                numbers = {text: k for k, text in enumerate(dict.fromkeys(texts(values)))}
                ranks, labels = np.array([numbers[text] for text in texts(values)]), [*numbers]
            units = "" if coordinate is None else str(coordinate.attrs.get("units", ""))
            on_map = on_cells((dim,), ranks, field, variable)
            yield _Axis(name, "" if units == "1" else units, on_map, labels)


def _station_names(
    field: Field, variable: Variable, dims: tuple[Hashable, ...]
) -> list[str] | None:
    """Return the names of places in a list: its own coordinate, or another, that is text."""
    if len(dims) != 1 or dims[0] in field.levels or not field.is_list_of_places(dims[0]):
        return None
    along = [c for c in field.coordinates if c.dims == dims and c.values.dtype.kind in "OUST"]
    for coordinate in sorted(along, key=lambda c: c.name != dims[0]):
        names = np.array(texts(coordinate.values), dtype=object)
        if len(set(names)) == names.size:
            return list(on_cells(dims, names, field, variable))
    return None


# Arithmetic on the sphere. Groups begin at ``starts``.


def _ends(values: npt.NDArray[Any], starts: IndexArray) -> _Ends:
    """Return the smallest and the largest value of each group."""
    return np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)


def longitude_extents(
    lon: FloatArray, starts: IndexArray, widest_gap: float
) -> tuple[FloatArray, FloatArray]:
    """Return the western and eastern ends of the shortest arcs that hold all longitudes of a group.

    Groups go all around, from −180 to 180, where no two neighbours in longitude are further apart
    than ``widest_gap``.
    """
    numbers = np.repeat(np.arange(starts.size), np.diff(starts, append=lon.size))
    order = np.lexsort((lon % 360, numbers))
    lon = lon[order]
    # What an arc leaves out is the largest gap between two neighbours, around the globe.
    ends = np.append(starts[1:], lon.size) - 1
    following = np.append(lon[1:], 0.0)
    following[ends] = lon[starts]
    gaps = (following - lon) % 360
    gaps[ends] = np.where(lon[ends] % 360 == lon[starts] % 360, 360.0, gaps[ends])
    largest = np.maximum.reduceat(gaps, starts)
    candidates = np.flatnonzero(gaps > largest[numbers] - _SAME_GAP)
    _, first = np.unique(numbers[candidates], return_index=True)
    at = candidates[first]
    around = largest <= widest_gap
    west, east = np.where(around, -180.0, _wrapped(following[at])), _wrapped(lon[at])
    return west, np.where(around, 180.0, east)


def _wrapped(lon: FloatArray) -> FloatArray:
    """Return longitudes above −180 and up to 180; those that are so already as they are."""
    inside = (lon > -180) & (lon <= 180)
    return np.asarray(np.where(inside, lon, 180 - (180 - lon) % 360))


def cell_areas(lat: FloatArray, lon: FloatArray) -> FloatArray:
    """Return the areas of the cells of a grid in km², of shape (latitudes, longitudes).

    Edges are half-way between neighbours. The outermost row reaches to the pole if there is no room
    for another, as on a Gaussian grid. A column that is there twice, at 0° and at 360°, counts half
    each time. NaN where a single row or column, or an irregular order, leaves the edges unknown.
    """
    widths = np.full(lon.size, 360 / max(lon.size, 1))
    if not goes_around(lon):
        lon = np.unwrap(lon, period=360)
        widths = np.abs(np.diff(_edges(lon)))
        if abs(abs(lon[-1] - lon[0]) - 360) < _SAME_GAP:
            widths[[0, -1]] /= 2
    edges = _edges(lat)
    step = np.abs(np.diff(lat))
    for end in (0, -1):
        if step.size and 90 - abs(lat[end]) < step[end] * (1 - 1e-6):
            edges[end] = np.copysign(90, lat[end])
    heights = np.abs(np.diff(np.sin(np.deg2rad(np.clip(edges, -90, 90)))))
    return np.asarray(EARTH_RADIUS_KM**2 * np.outer(heights, np.deg2rad(widths)))


def _edges(centres: FloatArray) -> FloatArray:
    steps = np.diff(centres)
    if not steps.size or not ((steps > 0).all() or (steps < 0).all()):
        return np.full(centres.size + 1, np.nan)
    inner = centres[:-1] + steps / 2
    return np.concatenate(
        [[centres[0] - steps[0] / 2], inner, [centres[-1] + steps[-1] / 2]], dtype=np.float64
    )


# Text


def _decimals(values: FloatArray) -> int:
    """Return how many decimals tell the coordinates of a grid apart: one for steps of 2.5°."""
    unique = np.unique(values)
    allowed = _ROUNDING * (np.median(np.diff(unique)) if unique.size > 1 else 1e-2)
    for count in range(_MOST_DECIMALS):
        if (np.abs(np.round(unique, count) - unique) <= allowed).all():
            return count
    return _MOST_DECIMALS


def _written(rows: _Ends, columns: _Ends, decimals: Sequence[int]) -> list[str]:
    """Write the extents of groups, ``5°S–5°N 170–120°W``, without longitudes that are NaN."""
    written = []
    for ends, sides, count in zip((rows, columns), ("SN", "WE"), decimals, strict=True):
        low, high = (np.round(end, count).tolist() for end in ends)
        written.append(map(degrees_between, low, high, repeat(sides)))
    return [" ".join(words).rstrip() for words in zip(*written, strict=True)]


def degrees_between(low: float, high: float, sides: str) -> str:
    """Write degrees from one to another: ``5°S–5°N``, ``20–30°N``, or ``45°N`` for a single one.

    Nothing for NaN.
    """
    if isnan(low):
        return ""
    if high - low == 360:
        return "all longitudes"
    first, last = (
        "" if end == 0 or abs(end) == 180 else sides[int(end > 0)] for end in (low, high)
    )
    one, other = f"{abs(low):.10g}", f"{abs(high):.10g}"
    if low == high:
        return f"{one}°{first}"
    # 180° is of the hemisphere that follows or precedes it, and 0° of the one that follows.
    low = -180.0 if abs(low) == 180 else low
    first, last = ("W" if low == -180 else first), ("E" if abs(high) == 180 else last)
    first = last if low == 0 else first
    if first == last and low < high:
        return f"{one}–{other}°{last}"
    if first == last:  # nearly all around, not what is between them
        return f"{one}°{first} east to {other}°{last}"
    return f"{one}°{first}–{other}°{last}"
