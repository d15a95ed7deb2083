"""Checks of what describes a structure, with errors that say what to do."""

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

Connectivity: TypeAlias = sparse.csr_array
Mask: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]


def checked_count(name: str, value: Any, most: int | None = None) -> int:
    """Give a whole number from 1, and up to ``most``."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        count = int(value)
        if 1 <= count <= (most or count):
            return count
    allowed = f"a whole number from 1 to {most}" if most else "a positive whole number"
    raise ValueError(f"{name} must be {allowed}, got {value!r}")


def checked_shape(shape: Any) -> tuple[int, ...]:
    """Give the lengths of the axes of a grid."""
    lengths = np.asarray(shape)
    if lengths.dtype.kind not in "iu" or lengths.ndim > 1 or not lengths.size or lengths.min() < 1:
        raise ValueError(f"shape must be positive whole numbers, one for each axis, got {shape!r}")
    return tuple(np.atleast_1d(lengths).tolist())


def checked_circles(wrap: Any, n_axes: int) -> list[bool]:
    """Say of each axis whether it is a circle."""
    circles = np.asarray(wrap)
    if circles.dtype == bool and circles.ndim == 0:
        return [False] * (n_axes - 1) + [bool(circles)]
    if circles.dtype == bool and circles.shape == (n_axes,):
        return [bool(circle) for circle in circles]
    raise ValueError(
        f"wrap must be True, False or {n_axes} of these, one for each axis, got {wrap!r}"
    )


def checked_mask(mask: npt.ArrayLike | None, shape: tuple[int, ...]) -> Mask:
    """Say of each cell or place whether it takes part; what a masked array hides does not."""
    if mask is None:
        return np.ones(shape, dtype=bool)
    given: np.ma.MaskedArray[Any, Any] = np.ma.asarray(mask)
    if given.dtype != bool:
        raise ValueError(
            f"mask must be of type bool, True for what takes part, got {given.dtype}; compare "
            "numbers with something, as in mask=land > 0.5."
        )
    if given.shape != shape:
        raise ValueError(f"mask must have the shape {shape}, got {given.shape}")
    taken: Mask = np.ma.filled(given, False)
    if not taken.any():
        raise ValueError("mask leaves nothing: it is False throughout.")
    return taken


def checked_coordinates(lat: Any, lon: Any, mask: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """Give the coordinates of the places that take part, in order."""
    lat, lon = _numbers("lat", lat), _numbers("lon", lon)
    if lat.shape != lon.shape:
        raise ValueError(
            f"lat and lon must have the same shape, got {lat.shape} and {lon.shape}; from the axes "
            "of a grid make them by np.meshgrid(lat, lon, indexing='ij')."
        )
    if not lat.size:
        raise ValueError("lat and lon are empty: give at least one place.")
    taken = checked_mask(mask, lat.shape)
    for name, values in (("lat", lat), ("lon", lon)):
        unknown = taken & ~np.isfinite(values)
        if unknown.any():
            raise ValueError(
                f"{name} must be finite, but is {values[unknown][0]} at {_place(unknown)}; leave "
                "such places out by mask."
            )
    beyond = taken & (np.abs(lat) > 90)
    if beyond.any():
        raise ValueError(
            f"lat must be from -90 to 90, but is {lat[beyond][0]} at {_place(beyond)}; check that "
            "lat and lon are not exchanged, or leave such places out by mask."
        )
    return lat[taken], lon[taken]


def _numbers(name: str, values: Any) -> Floats:
    """Numbers as an array; what a masked array hides is unknown."""
    found: np.ma.MaskedArray[Any, Any] = np.ma.asarray(values)
    try:
        if found.dtype.kind not in "iufO":
            raise TypeError
        return np.atleast_1d(np.ma.filled(found.astype(float), np.nan))
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers of degrees, got {found.dtype}") from None


def _place(where: Mask) -> str:
    """Name the first place, by its position, and say how many more there are."""
    first = np.argwhere(where)[0].tolist()
    more = np.count_nonzero(where) - 1
    name = f"place {first[0] if len(first) == 1 else tuple(first)}"
    return f"{name} (and {more} more)" if more else name
