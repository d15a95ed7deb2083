"""Where each group is, as a tiny picture beside its name: on a map, or along a spectrum."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._findings import Findings
from ._maps import Map
from ._spectra import Spectrum, bands

_WIDTH, _HEIGHT = 120, 24  # pixels
_COLUMNS, _ROWS = 40, 20  # most cells of a map
_POINTS = 60  # of the line of a spectrum
_Mask = npt.NDArray[np.bool_]


def draw_thumbnails(findings: Findings, numbers: Sequence[int]) -> list[str]:
    """Return an SVG element for each of these groups, "" where it is on no map; [] for a table.

    Drawn in the colour of the text, and hidden from screen readers, which have the name.
    """
    if findings.maps:
        shown = [map for map in findings.maps if not map.again]
        return [_on_maps(shown, number) for number in numbers]
    if findings.spectrum is not None:
        line = _line(findings.spectrum)
        return [_on_spectrum(findings.spectrum, line, number) for number in numbers]
    return []


def _on_maps(maps: Sequence[Map], number: int) -> str:
    """Draw a group on the map that has most of its cells."""
    counts = [int((map.groups == number).sum()) for map in maps]
    if not any(counts):
        return ""
    map = maps[int(np.argmax(counts))]
    known, own = (_coarse(map, mask) for mask in (map.groups >= 0, map.groups == number))
    rows, columns = known.shape
    width = round(_HEIGHT * columns / rows)
    return _element(
        min(width, _WIDTH),
        (columns, rows),
        f'<path opacity=".2" d="{_cells(known)}"/><path d="{_cells(own)}"/>',
    )


def _coarse(map: Map, mask: _Mask) -> _Mask:
    """Return a map of few cells, north at the top, with those that hold any of the mask."""
    x, y = map.places.x, map.places.y
    if map.places.kind == "grid":
        columns, rows = (np.arange(axis.size) / axis.size for axis in (x, y))
        across, up = np.meshgrid(columns, rows)
        shape = min(y.size, _ROWS), min(x.size, _COLUMNS)
    else:
        across, up, shape = _share(x), _share(y), (_ROWS, _COLUMNS)
    result = np.zeros(shape, dtype=np.bool_)
    here = mask & np.isfinite(across) & np.isfinite(up)
    result[(up[here] * shape[0]).astype(np.intp), (across[here] * shape[1]).astype(np.intp)] = True
    return result[::-1]


def _share(values: FloatArray) -> FloatArray:
    """Return where numbers are between their ends, from 0 to less than 1."""
    low, high = np.nanmin(values), np.nanmax(values)
    return np.asarray((values - low) / ((high - low) * (1 + 1e-9) or 1.0))


def _cells(mask: _Mask) -> str:
    """Return a path around the cells of a mask, row by row."""
    parts = []
    for y, row in enumerate(mask):
        ends = np.flatnonzero(np.diff(row, prepend=False, append=False)).reshape(-1, 2)
        parts += [f"M{left} {y}h{right - left}v1h{left - right}z" for left, right in ends.tolist()]
    return "".join(parts)


def _on_spectrum(spectrum: Spectrum, line: str, number: int) -> str:
    """Draw the bands of a group behind the line of the mean spectrum."""
    places, x = np.arange(spectrum.x.size), _WIDTH * _share(spectrum.x)
    pieces = bands(spectrum.groups)
    own = pieces[spectrum.groups[pieces[:, 0]] == number]
    ends = np.sort(np.interp(own + np.array([-0.5, 0.5]), places, x), axis=1)
    # At least a pixel, or a single wavelength would not be seen.
    rectangles = [
        f"M{left:.1f} 0h{max(right - left, 1):.1f}v{_HEIGHT}H{left:.1f}z" for left, right in ends
    ]
    body = f'<path opacity=".5" d="{"".join(rectangles)}"/>{line}'
    return _element(_WIDTH, (_WIDTH, _HEIGHT), body)


def _line(spectrum: Spectrum) -> str:
    """Draw the mean spectrum, at few points."""
    size = spectrum.x.size
    some = np.unique(np.linspace(0, size - 1, min(size, _POINTS)).round().astype(np.intp))
    x, y = _WIDTH * _share(spectrum.x), (_HEIGHT - 2) * (1 - _share(spectrum.values)) + 1
    points = " ".join(f"{x[k]:.0f},{y[k]:.1f}" for k in some)
    return f'<polyline fill="none" stroke="currentColor" opacity=".6" points="{points}"/>'


def _element(width: int, box: tuple[int, int], body: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{_HEIGHT}" '
        f'viewBox="0 0 {box[0]} {box[1]}" preserveAspectRatio="none" fill="currentColor" '
        f'aria-hidden="true" focusable="false">{body}</svg>'
    )
