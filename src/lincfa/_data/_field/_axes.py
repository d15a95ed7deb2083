"""Latitudes and longitudes, as the conventions for climate and forecast data write them."""

from collections.abc import Hashable, Mapping
from typing import Any

_UNITS = {
    "lat": {"degrees_north", "degree_north", "degrees_n", "degree_n", "degreesn", "degreen"},
    "lon": {"degrees_east", "degree_east", "degrees_e", "degree_e", "degreese", "degreee"},
}
_NAMES = {
    "lat": {"lat", "latitude", "lats", "latitudes", "nav_lat", "xlat"},
    "lon": {"lon", "longitude", "lons", "longitudes", "long", "nav_lon", "xlong"},
}
_STANDARD = {"latitude": "lat", "longitude": "lon"}


def axis_of(name: Hashable, attrs: Mapping[Any, Any]) -> str | None:
    """Tell whether a coordinate holds latitudes ("lat") or longitudes ("lon"), or neither.

    What its attributes say goes before its name.

    Examples
    --------
    >>> axis_of("nav_lon", {}), axis_of("x", {"units": "degrees_north"}), axis_of("x", {})
    ('lon', 'lat', None)
    """
    standard = _STANDARD.get(str(attrs.get("standard_name", "")).lower())
    if standard is not None:
        return standard
    for known, word in ((_UNITS, attrs.get("units", "")), (_NAMES, name)):
        for axis, words in known.items():
            if str(word).lower() in words:
                return axis
    return None
