"""What all pictures share: figures, colours, names as they are, axes that show what matters."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._names import shown
from ..theory._arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of Okabe and Ito, whom the colour-blind have to thank, with the bright ones darkened: all have a
# contrast of 3 to 1 on white and on a dark page.
BLUE, VERMILION, GREEN, PINK = "#1a7fc4", "#d55e00", "#009e73", "#c873a2"
SKY, OCHRE, PURPLE, RED = "#3a9bd1", "#b07d00", "#8a63d2", "#c8372d"
GREY = "#808080"

STRATEGY_COLORS = {
    "sequential": GREEN,
    "centroid": PINK,
    "agglomerative": BLUE,
    "joint": VERMILION,
}

NAMES_SHOWN = 25
"""Features up to which each has its name at the axis."""
MARKS_DRAWN = 1500
"""Marks up to which each is drawn by itself; more become an image, so that a page stays small."""
_LONGEST_NAME = 24
_LONGEST_LABEL = 50
_LEGEND_MARK = 24  # square points
_LETTER, _BESIDE_LABEL = 5.0, 36.0  # points that a letter of a legend takes, and its mark
_COLUMNS = 5
_DEEPEST = 1e5  # the largest value over that where a scale becomes logarithmic

# What decides how a picture looks; not the backend, which belongs to the user.
_STYLE = (
    "axes.",
    "errorbar.",
    "figure.",
    "font.",
    "grid.",
    "image.",
    "legend.",
    "lines.",
    "mathtext.",
    "patch.",
    "path.",
    "savefig.",
    "scatter.",
    "svg.",
    "text.",
    "xaxis.",
    "xtick.",
    "yaxis.",
    "ytick.",
)


def new_figure(width: float, height: float, *, square: bool = False) -> "Figure":
    """Give an empty figure, in inches, that belongs to no window; for square axes on request."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'lincfa[plot]'.") from error
    return Figure(figsize=(width, height), layout="compressed" if square else "constrained")


def axes_or_new(ax: "Axes | None", width: float, height: float, *, square: bool = False) -> "Axes":
    """Give the axes, or those of a new figure."""
    return new_figure(width, height, square=square).subplots() if ax is None else ax


@contextmanager
def own_style() -> Iterator[None]:
    """Draw as matplotlib does by default, in black ink, whatever style the user has set.

    For pictures that become SVG: there, black becomes the colour of the page's text.
    """
    import matplotlib

    default = matplotlib.rcParamsDefault
    style = {name: default[name] for name in default if name.startswith(_STYLE)}
    with matplotlib.rc_context(style):
        yield


def ink() -> str:
    """Colour of text: black, unless the user has set a dark style."""
    import matplotlib

    return str(matplotlib.rcParams["text.color"])


def mark_size(marks: int) -> float:
    """Area of a mark, in square points: the smaller, the more there are."""
    return float(np.clip(3000 / max(marks, 1), 5, 28))


def name_ticks(axis: Any, names: Sequence[str]) -> None:
    """Write the names of features at the axis, as they are: a dollar is no formula."""
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
    """Write what the axes are; names of the user's stay as they are, if not too long."""
    ax.set_xlabel(shown(x, _LONGEST_LABEL), parse_math=False, usetex=False)
    ax.set_ylabel(shown(y, _LONGEST_LABEL), parse_math=False, usetex=False)


def legend_above(ax: "Axes", handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Put a legend above the axes, where it covers nothing; the labels stay as they are."""
    from matplotlib.collections import PathCollection

    # A legend wider than the axes would make them shrink.
    width = 72 * ax.get_position().width * ax.figure.get_figwidth()  # type: ignore[union-attr]
    columns = int(width / (_LETTER * max(map(len, labels)) + _BESIDE_LABEL))
    # matplotlib leaves out labels that start with an underscore: they are written afterwards.
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
        if isinstance(handle, PathCollection):  # of many points, too small to tell their colour
            handle.set_sizes([_LEGEND_MARK])
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set(parse_math=False, usetex=False)
        text.set_text(label)


def short_number(value: float) -> str:
    """Write a number for an axis, with a minus as matplotlib has it."""
    return f"{value:g}".replace("-", "−", 1)


def linear_until(values: FloatArray, flat: float) -> float | None:
    """Say where a scale becomes logarithmic: if the largest value is that often the median."""
    sizes = np.abs(values[values != 0])
    if sizes.size == 0 or sizes.max() <= flat * np.median(sizes):
        return None
    least = 10.0 ** np.floor(np.log10(np.quantile(sizes, 0.1)))
    return float(max(least, sizes.max() / _DEEPEST))


def focus(ax: "Axes", score: FloatArray, chosen: float) -> None:
    """Leave out scores that are so bad that they would flatten all others."""
    top, low = score.max(), min(chosen, np.quantile(score, 0.25))
    margin = 0.3 * (top - low)
    if margin > 0 and score.min() < low - margin:
        ax.set_ylim(low - margin, top + margin)
