"""Findings on features in a sequence, such as the wavelengths of a spectrum."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._data._field import Field
from .._model._observations import field_of
from ..theory._arrays import FloatArray
from ._inputs import feature_names

_SIZE = 20, 20_000  # fewest and most features of a spectrum in a report
_PIECES = 3  # most bands of a group that are named one by one

# What the text around the numbers of a spectrum says of them: pattern, unit and quantity.
_UNITS = [
    ("nm|nanomet(?:er|re)s?", "nm", "wavelength"),
    ("[uµμ]m|microns?|micromet(?:er|re)s?", "µm", "wavelength"),
    (r"cm[\W_]*[1¹]|1/cm", "cm⁻¹", "wavenumber"),
    *((f"{unit.lower()}", unit, "frequency") for unit in ("Hz", "kHz", "MHz", "GHz", "THz")),
    ("wl|wave|wavelengths?|lambda|λ", "", "wavelength"),
    ("wn|wavenumbers?", "", "wavenumber"),
    ("abs|absorbance|refl|reflectance|nir|spc|spec|spectrum", "", ""),
]
_NUMBER = re.compile(r"(?:^[+-])?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE | re.ASCII)
_SMALLEST_OF_A_LETTER = 100  # x100, x102, … are wavelengths; x3, x5, … are columns that were kept


@dataclass(frozen=True)
class Spectrum:
    """Features in a sequence, such as the wavelengths of a spectrum."""

    x: FloatArray  # coordinate of each feature, ascending or descending
    x_label: str
    numbered: bool  # False if x merely counts the features
    groups: npt.NDArray[np.intp]  # −1 for a constant feature
    values: FloatArray  # drawn as a line: means of the features, or a spectrum
    unit: str = ""  # of x


def make_spectrum(reducer: Any, values: FloatArray) -> Spectrum:
    """Order features by name or by the coordinate of a 1-D field; by position if not monotonic."""
    field = field_of(reducer)
    x, label, unit = None, "feature name", ""
    if field is not None:
        x, label, unit = _field_coordinate(field)
    elif (found := read_wavelengths(feature_names(reducer))) is not None:
        x, unit = found.values, found.unit
        label = _with_unit(found.quantity, unit) or label
    positions = np.arange(reducer.n_features_in_, dtype=np.float64)
    steps = np.zeros(1) if x is None else np.diff(x)
    if x is None or not ((steps > 0).all() or (steps < 0).all()):
        x, label, unit = positions, "feature index", ""
    numbered = not any(np.array_equal(x, positions + start) for start in (0, 1))
    return Spectrum(x, label, numbered, reducer.labels_, values, unit)


def report_spectrum(reducer: Any) -> Spectrum | None:
    """Return the means of the features as a spectrum; None if the features are not numbered."""
    fewest, most = _SIZE
    if not fewest <= reducer.n_features_in_ <= most:
        return None
    spectrum = make_spectrum(reducer, reducer.mean_)
    return spectrum if spectrum.numbered else None


def name_bands(spectrum: Spectrum, n_groups: int) -> list[str]:
    """Name groups by where they are: ``900–950 nm, 1010 nm``, or ``900–2100 nm in 7 bands``."""
    names = []
    pieces = bands(spectrum.groups)
    owners = spectrum.groups[pieces[:, 0]]
    for number in range(n_groups):
        own = pieces[owners == number]
        if spectrum.x[0] > spectrum.x[-1]:
            own = own[::-1, ::-1]
        if len(own) > _PIECES:
            text = _band(spectrum, own[0, 0], own[-1, 1])
            names.append(f"{text} in {len(own)} bands")
        else:
            names.append(", ".join(_band(spectrum, first, last) for first, last in own))
    return names


def bands(groups: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """Return the first and last feature of each stretch of one group; shape (n, 2).

    Constant features, which belong to no group, end no stretch.
    """
    known = np.flatnonzero(groups >= 0)
    starts = np.flatnonzero(np.diff(groups[known], prepend=-1))
    ends = np.append(starts[1:], known.size) - 1
    return np.column_stack([known[starts], known[ends]])


def _band(spectrum: Spectrum, first: int, last: int) -> str:
    ends = dict.fromkeys(f"{value:.10g}" for value in spectrum.x[[first, last]])
    return "–".join(ends) + (f" {spectrum.unit}" if spectrum.unit else "")


def _field_coordinate(field: Field) -> tuple[FloatArray | None, str, str]:
    """Return coordinate, label and unit of a field with one variable and one dimension of cells."""
    variable, *others = field.variables
    if others or len(variable.shape) != 1:
        return None, "", ""
    (dimension,) = field.cell_dims(variable)
    if field.is_list_of_places(dimension):  # whose numbers are those of stations
        return None, "", ""
    for coordinate in field.coordinates:
        if coordinate.name == dimension and is_scale(coordinate.values):
            unit = str(coordinate.attrs.get("units") or "")
            values = np.asarray(coordinate.values, dtype=np.float64)[variable.present]
            return values, _with_unit(str(dimension), unit), unit
    return None, "", ""


def _with_unit(text: str, unit: str) -> str:
    return f"{text} ({unit})" if unit else text


def is_scale(values: npt.NDArray[Any]) -> bool:
    """Whether these are distinct finite numbers."""
    if values.dtype.kind not in "iuf":
        return False
    return bool(np.isfinite(values).all() and np.unique(values).size == values.size)


@dataclass(frozen=True, eq=False)
class Wavelengths:
    """Numbers in the names of the features of a spectrum, ascending or descending."""

    values: FloatArray
    quantity: str  # "wavelength", "wavenumber", "frequency" or "" if the names do not say
    unit: str  # "nm", "µm", "cm⁻¹", …, or "" if the names do not say


def read_wavelengths(names: Sequence[str]) -> Wavelengths | None:
    """Read the numbers in names such as ``900``, ``900 nm``, ``X900`` or ``nm_900``.

    All names begin alike and end alike, and their numbers ascend or descend. None for names without
    such numbers, for mere counters (``x0``, ``x1``, …), and for words that say nothing of a
    spectrum (``feature_12``).

    Examples
    --------
    >>> found = read_wavelengths(["900 nm", "902.5 nm", "910 nm"])
    >>> found.values.tolist(), found.quantity, found.unit
    ([900.0, 902.5, 910.0], 'wavelength', 'nm')
    >>> read_wavelengths(["x0", "x1", "x2"])
    """
    if len(names) < 2:
        return None
    for number in _NUMBER.finditer(names[0]):  # several, as in 900 cm-1
        before, after = names[0][: number.start()], names[0][number.end() :]
        alike = all(name.startswith(before) and name.endswith(after) for name in names)
        texts = [name[len(before) : len(name) - len(after)] for name in names]
        if alike and all(map(_NUMBER.fullmatch, texts)):
            values = np.array(texts, dtype=np.float64)
            return _as_wavelengths(values, f"{before} {after}".lower())
    return None


def _as_wavelengths(values: FloatArray, around: str) -> Wavelengths | None:
    """Return numbers as wavelengths if they, and the text around them, look like such."""
    if not np.isfinite(values).all():
        return None
    steps, counted = np.diff(values), values - np.arange(values.size)
    if not ((steps > 0).all() or (steps < 0).all()):
        return None
    if counted[0] in (0, 1) and (counted == counted[0]).all():
        return None
    for pattern, unit, quantity in _UNITS:
        if re.search(rf"(?<![^\W\d_])(?:{pattern})(?![^\W\d_])", around):
            return Wavelengths(values, quantity, unit)
    letters = re.sub(r"[\W_]", "", around)
    large = values.min() >= _SMALLEST_OF_A_LETTER or (values != np.floor(values)).any()
    if not letters or (len(letters) == 1 and large):
        return Wavelengths(values, "", "")
    return None
