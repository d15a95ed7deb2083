"""What all figures share: layout, colours, labels, and axes that show what matters."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._names import cut_in_the_middle, shown
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

PAGE_WIDTH = 5.0  # inches: most of a figure on a page, 360 points

NAMES_SHOWN = 20  # most classes whose names are written at the axis
MARKS_DRAWN = 1500  # most marks drawn one by one; more become an image, so that a page stays small
_LONGEST_NAME = 24
_LONGEST_LABEL = 50
_LEGEND_MARK = 24  # square points
_BESIDE_LABEL = 36.0  # points per mark of a legend
_COLUMNS = 5
LETTER = 0.6  # width of a letter over its height
_NARROW = 2.2  # inches: axes with room for few ticks
_DEEPEST = 1e5  # largest value over the end of the linear part of a logarithmic scale


def require_matplotlib() -> None:
    """Say what to install where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise ImportError("Plots need matplotlib: pip install 'lincfa[plot]'.")


def new_figure(width: float, height: float, *, square: bool = False) -> "Figure":
    """Return an empty figure without a window; sizes are in inches, axes square on request."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="compressed" if square else "constrained")


def pyplot_figure(width: float, height: float, *, square: bool = False) -> "Figure":
    """Return an empty figure that is pyplot's current one, as ``plt.savefig`` and others expect."""
    require_matplotlib()
    from matplotlib import pyplot

    layout: Any = "compressed" if square else "constrained"
    return pyplot.figure(figsize=(width, height), layout=layout)


def axes_or_new(ax: "Axes | None", width: float, height: float, *, square: bool = False) -> "Axes":
    """Return the axes, or those of a new figure of pyplot."""
    return pyplot_figure(width, height, square=square).subplots() if ax is None else ax


def given_axes(ax: Any, count: int) -> "list[Axes]":
    """Return axes given for panels, of which there must be as many."""
    axes = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(axes) != count:
        raise ValueError(f"ax must be {count} axes, one for each panel, got {len(axes)}.")
    return axes


def one_or_several(axes: "Sequence[Axes]") -> Any:
    """Return the axes of a picture as ``plt.subplots`` does: themselves, or an array of them."""
    return axes[0] if len(axes) == 1 else np.array(axes, dtype=object)


def arguments(given: Any, name: str) -> dict[str, Any] | None:
    """Return the arguments for a colour bar or legend; None if there is to be none."""
    if isinstance(given, bool):
        return {} if given else None
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{name} must be True, False or a mapping of arguments for matplotlib, got {given!r}."
        )
    return dict(given)


def default_style() -> "AbstractContextManager[None]":
    """Use matplotlib's default style for SVG, where black becomes the colour of the page's text.

    In a figure of ``PAGE_WIDTH`` inches that fills a phone, 360 pixels wide, letters have at least
    9 pixels: those of legends are ``"small"``, which is 9.2 points here.
    """
    from matplotlib import style

    return style.context(["default", {"font.size": 11}])


def ink() -> str:
    """Return the colour of text: black, unless the user has set a dark style."""
    import matplotlib

    return str(matplotlib.rcParams["text.color"])


def mark_size(marks: int) -> float:
    """Return the area of a mark, in square points: the more marks, the smaller."""
    return float(np.clip(3000 / max(marks, 1), 5, 28))


def inches(ax: "Axes") -> tuple[float, float]:
    """Return width and height of axes, also where they are part of a subfigure."""
    box, whole, dpi = ax.get_position(), ax.figure.bbox, ax.figure.dpi
    return float(box.width * whole.width / dpi), float(box.height * whole.height / dpi)


def abbreviated(name: str, longest: int) -> str:
    """Shorten a name at a space: within a number it would become another wavelength or place."""
    if len(name) <= longest:
        return shown(name, longest)
    more = re.search(r" \+ \d+ more$", name)
    end = f" …{more[0] if more else ''}"
    cut = shorten(name, longest, placeholder=end)
    return cut_in_the_middle(name, longest) if cut == end.strip() else cut


def name_ticks(axis: Any, names: Sequence[str], longest: int = _LONGEST_NAME) -> None:
    """Write the names of features at the axis literally: a dollar sign starts no formula."""
    shorter = [abbreviated(name, longest) for name in names]
    sides = dict(zip("xy", inches(axis.axes), strict=True))
    square = axis.axes.get_aspect() == 1
    room = 72 * (min(sides.values()) if square else sides[axis.axis_name]) / max(len(names), 1)
    size = min(float(axis.get_ticklabels()[0].get_fontsize()), room)
    style: dict[str, Any] = {}
    if axis.axis_name == "x" and (max(map(len, shorter), default=0) + 1) * LETTER * size > room:
        # Anchored at their ends, so that they stay in place with the fonts of another program.
        style = {"rotation": 90, "rotation_mode": "anchor", "ha": "right", "va": "center"}
    axis.set_ticks(
        range(len(names)), shorter, parse_math=False, usetex=False, fontsize=size, **style
    )


def label_axes(ax: "Axes", x: str, y: str) -> None:
    """Label the axes literally, with long labels truncated."""
    ax.set_xlabel(shown(x, _LONGEST_LABEL), parse_math=False, usetex=False)
    ax.set_ylabel(shown(y, _LONGEST_LABEL), parse_math=False, usetex=False)


def legend_above(
    ax: "Axes", entries: Sequence[tuple[Any, str]], options: Any = None, *, raised: float = 0.0
) -> None:
    """Put a legend of handles and literal labels above the axes, where it covers nothing.

    ``options`` are those of ``Axes.legend``, such as another place; ``raised`` is in points.
    """
    from matplotlib.collections import PathCollection
    from matplotlib.font_manager import FontProperties
    from matplotlib.transforms import ScaledTranslation

    handles, labels = zip(*entries, strict=True)
    given = dict(options or {})
    # A legend wider than the axes would shrink them.
    width = 72 * inches(ax)[0]
    letter = LETTER * FontProperties(size="small").get_size_in_points()
    columns = int(width / (letter * max(map(len, labels)) + _BESIDE_LABEL))
    above: dict[str, Any] = {}
    if "loc" not in given:
        up = ScaledTranslation(0, raised / 72, ax.figure.dpi_scale_trans)
        above = {"loc": "lower left", "bbox_to_anchor": (0, 1), "bbox_transform": ax.transAxes + up}
        above |= {"ncols": min(max(columns, 1), _COLUMNS), "frameon": False, "borderaxespad": 0.2}
    compact: dict[str, Any] = {"fontsize": "small", "handletextpad": 0.4, "columnspacing": 1.2}
    # matplotlib omits labels that start with an underscore: they are set afterwards.
    legend = ax.legend(handles, ["label"] * len(handles), **compact | above | given)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):  # of many points, too small to show their colour
            handle.set_sizes([_LEGEND_MARK])
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(parse_math=False, usetex=False)
        text.set_text(label)


def few_ticks(ax: "Axes") -> Any:
    """Return what places ticks at round numbers, few enough for labels in a column of a page."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(5 if inches(ax)[0] > _NARROW else 3, steps=[1, 2, 5, 10])


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


def score_limits(score: FloatArray, error: FloatArray, chosen: float) -> tuple[float, float]:
    """Return limits of an axis of scores, without those so bad that they would flatten others."""
    error = np.nan_to_num(error)
    low = min(chosen, np.quantile(score, 0.25))
    margin = score.max() - low
    kept = score >= low - margin if margin > 0 else np.full(score.size, True)
    bottom, top = (score - error)[kept].min(), (score + error)[kept].max()
    if not kept.all():
        bottom = max(bottom, low - margin)
    room = 0.05 * ((top - bottom) or abs(top) or 1.0)
    return float(bottom - room), float(top + room)
