"""What all figures share: layout, colours, labels, and axes that show what matters."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._names import shown
from ..theory._arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The colours of Okabe and Ito, distinct to the colour-blind, with the bright ones darkened: their
# contrast is at least 3 to 1 on white and on a dark page.
BLUE, VERMILION, GREEN, PINK = "#1a7fc4", "#d55e00", "#009e73", "#c873a2"
SKY, OCHRE, PURPLE, RED = "#3a9bd1", "#b07d00", "#8a63d2", "#c8372d"
GREY = "#808080"
SINGLE = "#d9d9d9"  # groups of one feature
# Colours and markers: adjacent ones differ clearly, also in shape.
_HUES = BLUE, VERMILION, GREEN, PURPLE, OCHRE, SKY, RED, PINK
SERIES = tuple(zip(_HUES, "os^DvPXp", strict=True))

STRATEGY_COLORS = {"sequential": GREEN, "centroid": PINK}
STRATEGY_COLORS |= {"agglomerative": BLUE, "joint": VERMILION}

SYMLOG = "\n(logarithmic away from zero)"

NAMES_SHOWN = 25  # most features whose names are written at the axis
MARKS_DRAWN = 1500  # most marks drawn one by one; more become an image, so that a page stays small
_LONGEST_NAME = 24
_LONGEST_LABEL = 50
_LEGEND_MARK = 24  # square points
_LETTER, _BESIDE_LABEL = 5.0, 36.0  # points per letter of a legend, and per mark
_COLUMNS = 5
_DEEPEST = 1e5  # largest value over the end of the linear part of a logarithmic scale


def new_figure(width: float, height: float, *, square: bool = False) -> "Figure":
    """Return an empty figure without a window; sizes are in inches, axes square on request."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'lincfa[plot]'.") from error
    return Figure(figsize=(width, height), layout="compressed" if square else "constrained")


def axes_or_new(ax: "Axes | None", width: float, height: float, *, square: bool = False) -> "Axes":
    """Return the axes, or those of a new figure."""
    return new_figure(width, height, square=square).subplots() if ax is None else ax


def default_style() -> "AbstractContextManager[None]":
    """Use matplotlib's default style for SVG, where black becomes the colour of the page's text."""
    from matplotlib import style

    return style.context("default")


def ink() -> str:
    """Return the colour of text: black, unless the user has set a dark style."""
    import matplotlib

    return str(matplotlib.rcParams["text.color"])


def mark_size(marks: int) -> float:
    """Return the area of a mark, in square points: the more marks, the smaller."""
    return float(np.clip(3000 / max(marks, 1), 5, 28))


def name_ticks(axis: Any, names: Sequence[str]) -> None:
    """Write the names of features at the axis literally: a dollar sign starts no formula."""
    # Anchored at their ends, so that they stay in place with the fonts of another program.
    upright = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
    axis.set_ticks(
        range(len(names)),
        [shown(name, _LONGEST_NAME) for name in names],
        parse_math=False,
        usetex=False,
        **(upright if axis.axis_name == "x" else {}),
    )


def label_axes(ax: "Axes", x: str, y: str) -> None:
    """Label the axes literally, with long labels truncated."""
    ax.set_xlabel(shown(x, _LONGEST_LABEL), parse_math=False, usetex=False)
    ax.set_ylabel(shown(y, _LONGEST_LABEL), parse_math=False, usetex=False)


def legend_above(ax: "Axes", entries: Sequence[tuple[Any, str]]) -> None:
    """Put a legend of handles and literal labels above the axes, where it covers nothing."""
    from matplotlib.collections import PathCollection

    handles, labels = zip(*entries, strict=True)
    # A legend wider than the axes would shrink them.
    width = 72 * ax.get_position().width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    columns = int(width / (_LETTER * max(map(len, labels)) + _BESIDE_LABEL))
    # matplotlib omits labels that start with an underscore: they are set afterwards.
    legend = ax.legend(
        handles,
        ["label"] * len(handles),
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=min(max(columns, 1), _COLUMNS),
        frameon=False,
        fontsize="small",
        borderaxespad=0.2,
        handletextpad=0.4,
        columnspacing=1.2,
    )
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):  # of many points, too small to show their colour
            handle.set_sizes([_LEGEND_MARK])
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(parse_math=False, usetex=False)
        text.set_text(label)


def short_number(value: float) -> str:
    """Format a number for an axis, with a minus sign as in matplotlib."""
    return f"{value:g}".replace("-", "−", 1)


def counted(count: int, words: str, noun: str) -> str:
    """Return ``2 single cells`` for 2, ``single {}`` and ``cell``."""
    return f"{count} {words.format(noun + 's' * (count != 1))}"


def effect(changed: str, noun: str) -> str:
    """Say what a coefficient changes per standard deviation of a feature or cell."""
    return f"change in the {changed} per\nstandard deviation of the {noun}"


def linear_threshold(values: FloatArray, flat: float) -> float | None:
    """Return where a scale becomes logarithmic, if the largest value exceeds ``flat`` medians."""
    sizes = np.abs(values[values != 0])
    if sizes.size == 0 or sizes.max() <= flat * np.median(sizes):
        return None
    least = 10.0 ** np.floor(np.log10(np.quantile(sizes, 0.1)))
    return float(max(least, sizes.max() / _DEEPEST))


def focus(ax: "Axes", score: FloatArray, chosen: float) -> None:
    """Leave out scores so bad that they would flatten all others."""
    top, low = score.max(), min(chosen, np.quantile(score, 0.25))
    margin = 0.3 * (top - low)
    if margin > 0 and score.min() < low - margin:
        ax.set_ylim(low - margin, top + margin)
