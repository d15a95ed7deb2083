"""Maps: groups, weights and stability of the cells of a field."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..report._findings import CONSTANT, LEFT_OUT, Map
from ..theory._arrays import FloatArray
from ._coloring import distinct_colors, grid_neighbors, point_neighbors
from ._corners import corners
from ._figures import GREY, label_axes, legend_above, linear_until, short_number
from ._numbering import write_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SINGLE = "#d9d9d9"
_OUTSIDE = "#c4c4c4"  # cells left out, where white means a weight of zero
_OUTLINED = 150  # cells across or upwards, up to which groups have outlines
_PALE = 12  # the largest weight over the median, beyond which half of the cells look white
_DEEP = 100  # the largest weight over that where colours become logarithmic: small ones stay pale
_STEEPEST = 0.2  # cosine of a latitude, below which a map is not stretched further


def draw_groups(map: Map, ax: "Axes", *, numbers: int = 0, **kwargs: Any) -> None:
    """Draw each group in one colour, and neighbours in different ones; single cells are grey.

    So many of the largest groups have their numbers written on them.
    """
    from matplotlib.colors import ListedColormap

    if map.places.kind == "points":
        pairs = point_neighbors(map.groups, map.places)
    else:
        pairs = grid_neighbors(map.groups, map.places.wraps)
    indices, colors = distinct_colors(map.groups, map.single, pairs)
    style = {
        "cmap": ListedColormap(colors or [SINGLE]),
        "vmin": -0.5,
        "vmax": max(len(colors), 1) - 0.5,
    }
    _paint(ax, map, np.ma.masked_less(indices, 0), style | kwargs)
    if map.places.kind != "points" and max(map.groups.shape) <= _OUTLINED:
        _outline(ax, map, kwargs)
    write_numbers(map, ax, numbers, _placing(kwargs))
    _finish(ax, map, kwargs, single=True)


def weights_on(map: Map) -> FloatArray:
    """Give the weights of the cells that belong to a group."""
    return np.asarray(_values(map)[map.groups >= 0])


def draw_weights(map: Map, ax: "Axes", *, weights: FloatArray, **kwargs: Any) -> None:
    """Draw the weight of each cell in colours that are white at zero.

    ``weights`` are those of all maps that share a scale.
    """
    values = np.ma.masked_where(map.groups < 0, _values(map))
    style = {"cmap": "RdBu_r"} | _diverging(weights, kwargs)
    image = _paint(ax, map, values, style | kwargs)
    label = "rise of the prediction with one\nstandard deviation of the cell"
    if "norm" in style:
        _bar(ax, image, f"{label},\nlogarithmic away from zero", _decades(style["norm"]))
    else:
        _bar(ax, image, label)
    _finish(ax, map, kwargs, outside=_OUTSIDE)


def draw_stability(map: Map, ax: "Axes", **kwargs: Any) -> None:
    """Draw how far each cell stays with its group, from 0 to 1; single cells are grey."""
    from matplotlib.colors import ListedColormap

    values = np.ma.masked_invalid(_values(map))
    style: dict[str, Any] = {"cmap": "viridis"}
    if "norm" not in kwargs:
        style |= {"vmin": 0, "vmax": 1}
    single = np.isin(map.groups, map.single)
    flat = {"cmap": ListedColormap([SINGLE])} | _placing(kwargs)
    _paint(ax, map, np.ma.masked_where(~single, single.astype(float)), flat)
    image = _paint(ax, map, values, style | kwargs)
    _bar(ax, image, "share of the others of its group\nwith which a cell stays together")
    _finish(ax, map, kwargs, single=True)


def _values(map: Map) -> FloatArray:
    assert map.values is not None
    return map.values


def _diverging(values: FloatArray, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Give a scale that is even on both sides of zero; logarithmic where few values are large."""
    from matplotlib.colors import SymLogNorm

    if {"norm", "vmin", "vmax"} & set(kwargs):
        return {}
    top = float(np.abs(values).max(initial=0)) or 1.0
    limits: dict[str, Any] = {"vmin": -top, "vmax": top}
    linear = linear_until(values, _PALE)
    return limits if linear is None else {"norm": SymLogNorm(max(linear, top / _DEEP), **limits)}


def _decades(norm: Any) -> list[float]:
    """Give zero and the powers of ten on both sides of it, where a scale is logarithmic."""
    powers = np.arange(np.ceil(np.log10(norm.linthresh) - 1e-9), np.log10(norm.vmax) + 1e-9)
    sizes = (10.0**powers).tolist()
    return [*(-size for size in reversed(sizes)), 0.0, *sizes]


def _paint(ax: "Axes", map: Map, values: Any, style: dict[str, Any]) -> Any:
    """Give the cells their colours."""
    places = map.places
    if places.kind == "points":
        shown = ~np.ma.getmaskarray(values)
        # A thin edge, for colours as pale as the paper.
        small: dict[str, Any] = {"s": _dot(map), "linewidths": 0.4, "edgecolors": GREY}
        x, y = places.x[shown], places.y[shown]
        return ax.scatter(x, y, c=np.ma.compressed(values), **small | style)
    # As an image within SVG and PDF: small, and without hairlines between cells.
    return ax.pcolormesh(*corners(places), values, **{"rasterized": True} | style)


def _dot(map: Map) -> float:
    return float(np.clip(12000 / max(map.groups.size, 1), 6, 60))


def _placing(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keep what says where things are drawn, not how they look."""
    return {name: kwargs[name] for name in ("transform", "zorder") if name in kwargs}


def _outline(ax: "Axes", map: Map, kwargs: dict[str, Any]) -> None:
    """Draw thin white lines between groups."""
    from matplotlib.collections import LineCollection

    x, y = corners(map.places)
    points = np.stack([x, y], axis=-1)
    groups = map.groups
    beside = (groups[:, 1:] != groups[:, :-1]) & (groups[:, 1:] >= 0) & (groups[:, :-1] >= 0)
    above = (groups[1:] != groups[:-1]) & (groups[1:] >= 0) & (groups[:-1] >= 0)
    upright = np.stack([points[:-1, 1:-1][beside], points[1:, 1:-1][beside]], axis=1)
    level = np.stack([points[1:-1, :-1][above], points[1:-1, 1:][above]], axis=1)
    width = float(np.clip(40 / max(groups.shape), 0.3, 1.0))
    lines = LineCollection(
        list(np.concatenate([upright, level])),
        colors="white",
        linewidths=width,
        capstyle="round",
        rasterized=True,
        **_placing(kwargs),
    )
    ax.add_collection(lines, autolim=False)


def _finish(
    ax: "Axes", map: Map, kwargs: dict[str, Any], *, single: bool = False, outside: str = "none"
) -> None:
    """Mark cells of no group, tell in a legend what colours do not, and set up plain axes."""
    kinds: list[tuple[Any, str, dict[str, Any], dict[str, Any]]] = [
        (map.groups == CONSTANT, "constant {}", {"hatch": "/////"}, {"marker": "x"}),
        (
            map.groups == LEFT_OUT,
            "{} left out",
            {"facecolor": outside},
            {"markerfacecolor": outside},
        ),
    ]
    noun = "place" if map.places.kind == "points" else "cell"
    handles, labels = [], []
    if single and map.single.size:
        handles.append(_sample(map, {"facecolor": SINGLE}, {"markerfacecolor": SINGLE}))
        labels.append(counted(int(np.isin(map.groups, map.single).sum()), "single {}", noun))
    for cells, words, area, dot in kinds:
        if cells.any():
            area = {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.5} | area
            handles.append(_sample(map, area, dot))
            labels.append(counted(int(cells.sum()), words, noun))
            _mark(ax, map, cells, {**area, "linewidth": 0}, dot, kwargs)
    if handles:
        legend_above(ax, handles, labels)
    if not hasattr(ax, "projection"):  # of cartopy, which has its own idea of axes
        _plain_axes(ax, map)


def counted(count: int, words: str, noun: str) -> str:
    return f"{count} {words.format(noun + 's' * (count != 1))}"


def _sample(map: Map, area: dict[str, Any], dot: dict[str, Any]) -> Any:
    """Give what a legend shows of a kind of cells."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    return Line2D([], [], **_dotted(map, dot)) if map.places.kind == "points" else Patch(**area)


def _dotted(map: Map, dot: dict[str, Any]) -> dict[str, Any]:
    """Say how places without a colour of their own look."""
    return {
        "linestyle": "none",
        "marker": "o",
        "markersize": np.sqrt(_dot(map)),
        "markeredgewidth": 0.8,
        "markeredgecolor": GREY,
        "markerfacecolor": "none",
    } | dot


def _mark(
    ax: "Axes",
    map: Map,
    cells: npt.NDArray[np.bool_],
    area: dict[str, Any],
    dot: dict[str, Any],
    kwargs: dict[str, Any],
) -> None:
    """Hatch or fill cells, or mark places."""
    from matplotlib.colors import ListedColormap

    places = map.places
    if places.kind == "points":
        ax.plot(places.x[cells], places.y[cells], **_dotted(map, dot) | _placing(kwargs))
        return
    marked = np.ma.masked_where(~cells, cells.astype(float))
    if "hatch" in area:
        ax.pcolor(*corners(places), marked, rasterized=True, **area | _placing(kwargs))
    elif area["facecolor"] != "none":
        _paint(ax, map, marked, {"cmap": ListedColormap([area["facecolor"]])} | _placing(kwargs))


def _bar(ax: "Axes", image: Any, label: str, ticks: list[float] | None = None) -> None:
    bar = ax.figure.colorbar(image, ax=ax, label=label, shrink=0.9, ticks=ticks)
    if ticks is not None:
        bar.set_ticks(ticks, labels=[short_number(tick) for tick in ticks])
        bar.minorticks_off()
    bar.outline.set_visible(False)


def _plain_axes(ax: "Axes", map: Map) -> None:
    """Name the axes, and let a kilometre be as long in both directions."""
    places = map.places
    label_axes(ax, places.x_label, places.y_label)
    if places.degrees:
        known = places.y[np.isfinite(places.y)]
        middle = np.cos(np.radians(known.mean())) if known.size else 1.0
        ax.set_aspect(1 / max(float(middle), _STEEPEST))
    elif places.alike:
        ax.set_aspect("equal")
    if places.kind != "points":
        ax.spines[:].set_visible(False)
