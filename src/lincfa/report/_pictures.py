"""The pictures of the page, as inline SVG."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..plotting import (
    NAMES_SHOWN,
    draw_coefficients,
    draw_correlation,
    draw_groups,
    draw_path,
    draw_spectrum,
    draw_thresholds,
    draw_weights,
    figure_size,
    new_figure,
    own_style,
    svg,
    weights_on,
)
from ._findings import Findings
from ._mapwords import GROUPS_NUMBERED
from ._wording import alternatives

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SQUARE = ("correlations", "map-", "weights-")


def pictures(findings: Findings) -> dict[str, str]:
    """Draw what there are data for: the name of each picture, and its SVG."""
    texts = alternatives(findings)
    result = {}
    for name, (size, draw) in _drawings(findings).items():
        figure = _figure(*size, square=name.startswith(_SQUARE))
        with own_style():
            draw(figure.subplots())
        result[name] = svg(figure, title=texts[name], salt=name)
    return result


def _drawings(findings: Findings) -> dict[str, tuple[tuple[float, float], Callable[[Any], None]]]:
    """What to draw: the size in inches, and what draws on given axes."""
    matrix, pairs, path = findings.matrix, findings.pairs, findings.path
    coefficients = findings.coefficients
    drawings: dict[str, tuple[tuple[float, float], Callable[[Any], None]]] = {}
    if matrix is not None and matrix.names:
        drawings["correlations"] = (6.5, 5.4), partial(draw_correlation, matrix)
    if pairs.merged.first or (pairs.near is not None and pairs.near.first):
        drawings["thresholds"] = (6.5, 5.0), partial(draw_thresholds, pairs)
    if path is not None:
        drawings["path"] = (7.0, 4.0), partial(draw_path, path)
    weighted = [map for map in findings.maps if map.values is not None]
    # Cells are found on a map, not in the order of the columns.
    if coefficients is not None and coefficients.names and not weighted:
        # Names below the axis take as much room as the picture.
        height = 5.6 if len(coefficients.names) <= NAMES_SHOWN else 3.6
        drawings["coefficients"] = (8.0, height), partial(draw_coefficients, coefficients)
    weights = np.concatenate([weights_on(map) for map in weighted]) if weighted else None
    for k, map in enumerate(findings.maps):
        drawings[f"map-{k}"] = figure_size(map), partial(draw_groups, map, numbers=GROUPS_NUMBERED)
        if weights is not None and map.values is not None:
            draw = partial(draw_weights, map, weights=weights)
            drawings[f"weights-{k}"] = figure_size(map, bar=True), draw
    if findings.spectrum is not None:
        label = "mean of the feature"
        drawings["spectrum"] = (8.0, 3.6), partial(draw_spectrum, findings.spectrum, label=label)
    return drawings


def _figure(width: float, height: float, square: bool) -> "Figure":
    try:
        return new_figure(width, height, square=square)
    except ImportError as error:
        raise ImportError("A report needs matplotlib: pip install 'lincfa[report]'.") from error
