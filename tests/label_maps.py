"""Maps of labels for tests, and what a figure of one shows."""

from itertools import pairwise

import numpy as np

from lincfa.report._maps import make_map


def map_of_labels(labels, values=None, title=""):
    """A map of which all features are on the map."""
    told = np.asarray(labels, dtype=float)
    sizes = np.bincount(told[told >= 0].astype(int))
    return make_map(labels, values, sizes=sizes, title=title)


def drawn(draw, findings, **kwargs):
    """Axes of a new figure on which findings are drawn."""
    from lincfa.plotting import new_figure

    ax = new_figure(5, 4).subplots()
    draw(findings, ax, **kwargs)
    return ax


def cell_colors(ax):
    """Colour of each cell of a mesh, as text; None for a blank one. The lowest row is first."""
    mesh = ax.collections[0]
    values = mesh.get_array()
    return [
        [None if value is np.ma.masked else hex_of(mesh, value) for value in row] for row in values
    ]


def hex_of(mesh, value):
    from matplotlib.colors import to_hex

    return to_hex(mesh.cmap(mesh.norm(value)))


def is_grey(color):
    return color[1:3] == color[3:5] == color[5:7]


def legend_texts(ax):
    legend = ax.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def apart(axis):
    """Whether at least two labels of ticks are within the axis, and none overlap."""
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [tick.label1.get_window_extent() for tick in ticks if tick.label1.get_text()]
    ends = sorted((box.x0, box.x1) for box in boxes)
    return len(ends) >= 2 and all(one[1] < other[0] for one, other in pairwise(ends))
