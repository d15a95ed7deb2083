"""Groups where their cells are: maps of a field."""

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from .._data._checks import is_integer
from .._data._field import Field
from .._data._places import degrees_between
from .._model._observations import field_of, fitted_reducer
from .._model._parameters import check_choice
from ..report._maps import (
    CONSTANT,
    LABELS,
    LEFT_OUT,
    Map,
    choose_maps,
    effect_of_cells,
)
from ..report._scores import effect_of_features, effect_of_groups, name_of_prediction
from ..theory._arrays import FloatArray
from ._cells import (
    corners,
    distinct_colors,
    grid_neighbors,
    label_position,
    largest_groups,
    point_neighbors,
)
from ._charts import check_coefficients
from ._figures import (
    GREY,
    LETTER,
    SINGLE,
    SYMLOG,
    arguments,
    axes_or_new,
    counted,
    effect,
    given_axes,
    inches,
    label_axes,
    legend_above,
    linear_threshold,
    one_or_several,
    pyplot_figure,
    short_number,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OUTSIDE = "#a8a8a8"  # cells left out: darker than single cells, while white is an effect of zero
_OUTLINED = 150  # rows or columns, up to which groups have outlines
_PALE = 12  # largest effect over the median, beyond which half of the cells look white
_DEEP = 100  # largest effect over the end of the linear range: small ones stay pale
_STEEPEST = 0.2  # cosine of a latitude, below which a map is not stretched further
_LONGEST, _SHORTEST, _AROUND = 8.0, 3.0, 1.2  # inches: sides of a map, and margins
_FLATTEST = 1.0  # inches: height of a map, at least
_HIGHEST = 9.0  # inches: all panels of a figure
_FLAT = 1.0  # height over width, up to which a colour bar is below and panels are stacked
_STACKED = 3  # most panels one below the other
_TITLE = 1.7  # height of a title and its margin over that of its letters
_BAR = 0.7  # inches: height of a colour bar and its label
_BESIDE = 8  # letters from one tick of a colour bar to the next
_LETTERS = 16, 48  # fewest and most in a line of a label: those that fit into a column
# Degrees between ticks.
_STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 180]
_TICKS = 7  # most of an axis of degrees
# Not quite black, which becomes the colour of a page's text: white on dark pages.
_LABEL_INK = "#1b2127"
_NUMBERS, _SMALLEST = 2.5, 5.0  # points: numbers of groups, per inch of width, and at least

_Panels = list[tuple[Map, "Axes"]]


def plot_map(
    model: Any,
    *,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    numbers: int = 0,
    legend: Any = True,
    ax: Any = None,
    **kwargs: Any,
) -> Any:
    """Draw a map of the groups of a field.

    Cells of a group have one colour. Groups that touch, by a side or a corner, have different
    colours, also across the edges of a global map; the same colour elsewhere may be a different
    group. Single cells are light grey. A legend explains single, flipped (dotted), constant
    (hatched) and left-out (dark grey) cells, if there are any.

    There is one panel for each variable of a Dataset, and for each position along dimensions
    beyond two, such as levels or lags.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted to an xarray field.
    variable : str, default=None
        One variable of a Dataset; None for all.
    select : mapping, default=None
        For cells with more than two dimensions: one position along some of the others, such as
        ``{"level": 500}``.
    numbers : int, default=0
        How many of the groups with the most cells on the map are marked with their number, that of
        ``labels_`` and ``label_map``. Single cells are not, nor groups whose number would cover
        that of a larger one.
    legend : bool or mapping, default=True
        Whether there is a legend, or arguments for ``Axes.legend``, such as
        ``{"loc": "lower left"}``.
    ax : matplotlib.axes.Axes, or several, default=None
        Where to draw, one for each panel; None for a new figure of pyplot. Cartopy axes keep their
        limits, labels and aspect, and longitudes and latitudes are put where they belong.
    **kwargs
        For ``Axes.pcolormesh``, which draws grids, or ``Axes.scatter``, which draws points along
        one dimension with latitudes and longitudes.

    Returns
    -------
    matplotlib.axes.Axes
        Or an array of them, if there are several panels.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> from lincfa import LinCFA
    >>> from lincfa.plotting import plot_map
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.normal(size=(100, 2, 1))
    >>> values = signal + 0.1 * rng.normal(size=(100, 2, 3))
    >>> lat, lon = [45.0, 46.0], [7.0, 8.0, 9.0]
    >>> field = xr.DataArray(values, {"time": range(100), "lat": lat, "lon": lon})
    >>> y = signal[:, 0, 0] - signal[:, 1, 0] + rng.normal(size=100)
    >>> ax = plot_map(LinCFA(tolerance=9.0).fit(field, y), numbers=2)
    >>> import matplotlib.pyplot as plt
    >>> plt.savefig("groups.png")  # doctest: +SKIP
    """
    if not is_integer(numbers, 0):
        raise ValueError(f"numbers must be a non-negative integer, got {numbers!r}.")
    reducer = fitted_reducer(model)
    field = _require_field(field_of(reducer), "plot_map")
    chosen = {"signs": reducer.signs_, "variable": variable, "select": select}
    maps = choose_maps(field, reducer.labels_, **chosen)
    return _drawn(draw_groups, maps, ax, numbers=int(numbers), legend=legend, **kwargs)


def plot_effect_map(
    model: Any,
    coef: Any = None,
    *,
    per: Literal["area", "cell"] = "area",
    target: Any = None,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    colorbar: Any = True,
    legend: Any = True,
    ax: Any = None,
    **kwargs: Any,
) -> Any:
    """Draw a map of what each area does to the prediction.

    All cells of a group have one colour: the change in the prediction, for classes in the log odds,
    when the mean of the group rises by one standard deviation of the training samples, and no other
    mean changes. It rises where the map is red and falls where it is blue. Dotted cells enter the
    mean with their sign flipped. With missing values the mean is that of a sample without any. All
    panels share one scale.

    With ``per="cell"`` the colour of a cell is the change per standard deviation of the cell alone:
    :meth:`~lincfa.LinCFA.expand_coefficients` times that standard deviation. Members share the
    coefficient of their group, so that cells of large groups are pale, however large the effect of
    the group. If a few values would make all others pale, the scale is logarithmic away from zero,
    and its label says so.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted to an xarray field.
    coef : array of shape (n_groups_,) or (n_targets, n_groups_), default=None
        Coefficients of a linear model on the reduced features; None for those of the ``estimator_``
        of a search.
    per : {"area", "cell"}, default="area"
        Whether the effect is that of the mean of a group, or of a single cell.
    target : str or int, default=None
        Which of several targets or classes, by name or number; required if there are several.
    variable : str, default=None
        One variable of a Dataset; None for all.
    select : mapping, default=None
        One position along dimensions beyond two, as in :func:`plot_map`.
    colorbar : bool or mapping, default=True
        Whether there is a colour bar, or arguments for ``Figure.colorbar``: ``location``, its
        ``label``, ``cax`` for axes of its own, or ``ax`` for several axes that share it.
    legend : bool or mapping, default=True
        Whether there is a legend, or arguments for ``Axes.legend``.
    ax : matplotlib.axes.Axes, or several, default=None
        Where to draw, as in :func:`plot_map`.
    **kwargs
        As in :func:`plot_map`; ``vmin`` and ``vmax``, or ``norm``, set the scale.

    Returns
    -------
    matplotlib.axes.Axes
        Or an array of them, if there are several panels.

    Examples
    --------
    >>> import numpy as np, xarray as xr
    >>> from lincfa import LinCFACV
    >>> from lincfa.plotting import plot_effect_map
    >>> rng = np.random.default_rng(0)
    >>> signal = rng.normal(size=(100, 2, 1))
    >>> values = signal + 0.1 * rng.normal(size=(100, 2, 3))
    >>> lat, lon = [45.0, 46.0], [7.0, 8.0, 9.0]
    >>> field = xr.DataArray(values, {"time": range(100), "lat": lat, "lon": lon})
    >>> y = signal[:, 0, 0] - signal[:, 1, 0] + rng.normal(size=100)
    >>> model = LinCFACV(tolerances=[9.0], min_correlations=[0.5]).fit(field, y)
    >>> ax = plot_effect_map(model, colorbar={"location": "bottom"})
    >>> np.unique(ax.collections[0].get_array().round(2)).tolist()  # two areas, of one row each
    [-0.84, 1.04]
    """
    check_choice("per", per, ("area", "cell"))
    reducer, coef, name = check_coefficients(model, coef, target)
    field = _require_field(field_of(reducer), "plot_effect_map")
    if per == "area":
        values = effect_of_cells(reducer, effect_of_groups(reducer, coef, None))
    else:
        values = effect_of_features(reducer, coef)
    chosen = {"signs": reducer.signs_, "variable": variable, "select": select}
    maps = choose_maps(field, reducer.labels_, values, **chosen)
    shown: dict[str, Any] = {
        "effects": values[reducer.labels_ >= 0],
        "changed": name_of_prediction(name, reducer._targets.classes is not None),
        "per": per,
    }
    return _drawn(draw_effects, maps, ax, **shown, colorbar=colorbar, legend=legend, **kwargs)


def plot_stability_map(
    stability: Any,
    *,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    colorbar: Any = True,
    legend: Any = True,
    ax: Any = None,
    **kwargs: Any,
) -> Any:
    """Draw a map of how often each cell stays with its group in resamples.

    The share of resamples in which a cell is grouped with the other cells of its group, on average
    over these, from 0 to 1, as in ``Stability.to_map``. Single cells have none and are light grey.

    Parameters
    ----------
    stability : Stability
        Result of :func:`lincfa.stability` for an xarray field.
    variable : str, default=None
        One variable of a Dataset; None for all.
    select : mapping, default=None
        One position along dimensions beyond two, as in :func:`plot_map`.
    colorbar : bool or mapping, default=True
        As in :func:`plot_effect_map`.
    legend : bool or mapping, default=True
        Whether there is a legend, or arguments for ``Axes.legend``.
    ax : matplotlib.axes.Axes, or several, default=None
        Where to draw, as in :func:`plot_map`.
    **kwargs
        As in :func:`plot_map`.

    Returns
    -------
    matplotlib.axes.Axes
        Or an array of them, if there are several panels.

    Examples
    --------
    >>> import xarray as xr
    >>> from lincfa import LinCFA, stability
    >>> from lincfa.datasets import make_field
    >>> from lincfa.plotting import plot_stability_map
    >>> values, y, _ = make_field(n_samples=100, shape=(6, 8), random_state=0)
    >>> field = xr.DataArray(values.reshape(100, 6, 8), dims=("time", "lat", "lon"))
    >>> model = LinCFA(connectivity="grid", tolerance=10)
    >>> ax = plot_stability_map(stability(field, y, 5, model=model, random_state=0))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('lon', 'lat')
    """
    if not (hasattr(stability, "field") and hasattr(stability, "features")):
        raise TypeError(
            "plot_stability_map takes the result of lincfa.stability(field, y, model=model), got "
            f"{type(stability).__name__}."
        )
    field = _require_field(stability.field, "plot_stability_map")
    chosen = {"variable": variable, "select": select}
    maps = choose_maps(field, stability.labels, stability.features, **chosen)
    return _drawn(draw_stability, maps, ax, colorbar=colorbar, legend=legend, **kwargs)


def _require_field(field: Field | None, function: str) -> Field:
    if field is None:
        raise ValueError(
            f"{function} needs a fit to an xarray field; this was fitted to a table. plot_spectrum "
            "draws features in a sequence."
        )
    return field


# Panels


def _drawn(draw: Callable[..., None], maps: Sequence[Map], ax: Any, **kwargs: Any) -> Any:
    """Draw maps in the axes given, or in those of a new figure; return the axes."""
    bar = arguments(kwargs.get("colorbar", False), "colorbar") is not None
    axes = _axes_for(maps, ax, bar)
    draw(maps, axes, **kwargs)
    return one_or_several(axes)


def _axes_for(maps: Sequence[Map], ax: Any, bar: bool) -> "list[Axes]":
    """Return the axes given, or those of a new figure: panels of one width, one for each map."""
    if ax is not None:
        return given_axes(ax, len(maps))
    if len(maps) == 1:
        return [axes_or_new(None, *figure_size(maps[0], bar), square=True)]
    ratios = [_ratio(map) for map in maps]
    stacked = _bar_below(ratios)
    columns = 1 + (len(maps) > _STACKED) if stacked else min(len(maps), _STACKED)
    rows = [max(ratios[k : k + columns]) for k in range(0, len(maps), columns)]
    width = min(_LONGEST, _HIGHEST * columns / sum(rows))
    # High enough that the width is the limit, and so the same for all.
    height = (width - _AROUND / 2) / columns * sum(rows) + (1 + len(rows)) * _AROUND / 2
    beside, below = (_AROUND * bar * (not stacked), _AROUND * bar * stacked)
    figure = pyplot_figure(width + beside, height + below, square=True)
    grid = figure.subplots(len(rows), columns, squeeze=False, height_ratios=rows).ravel()
    for spare in grid[len(maps) :]:
        spare.remove()
    return list(grid[: len(maps)])


def figure_size(map: Map, bar: bool = False, longest: float = _LONGEST) -> tuple[float, float]:
    """Return the size of a figure, in inches, for a map and perhaps its colour bar."""
    ratio = _ratio(map)
    below = bar and _bar_below([ratio])
    beside = _AROUND if bar and not below else 0
    longest -= beside if longest < _LONGEST else 0
    height = np.clip(longest * ratio, _SHORTEST, 0.8 * longest)
    width = np.clip(height / ratio, _SHORTEST, longest)
    height = min(height, max(width * ratio, _FLATTEST))  # or there would be blanks around it
    return float(width) + beside, float(height) + _AROUND / 2 * (1 + below)


def _ratio(map: Map) -> float:
    """Return the height of a map over its width."""
    places = map.places
    x, y = (places.x, places.y) if places.kind == "points" else corners(places)
    x, y = x[np.isfinite(x)], y[np.isfinite(y)]
    if not (places.degrees or places.alike) or min(x.size, y.size) <= 1:
        return 0.7
    return float(np.ptp(y) / max(np.ptp(x), 1e-9) * _stretch(map))


def _stretch(map: Map) -> float:
    """Return how much longer a step in y is than one in x, so that kilometres are equally long."""
    known = map.places.y[np.isfinite(map.places.y)]
    if not map.places.degrees or known.size == 0:
        return 1.0
    return 1 / max(float(np.cos(np.radians(known.mean()))), _STEEPEST)


def _bar_below(ratios: Sequence[float]) -> bool:
    """Whether there is more room for a colour bar, and its label, below the maps."""
    return bool(np.mean(ratios) < _FLAT)


def _paired(maps: Map | Sequence[Map], axes: Any) -> _Panels:
    maps = [maps] if isinstance(maps, Map) else maps
    return list(zip(maps, given_axes(axes, len(maps)), strict=True))


def _projected(panels: _Panels, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Add the coordinates that longitudes and latitudes are in, for axes of cartopy."""
    map, ax = panels[0]
    if "transform" in kwargs or not map.places.degrees or not hasattr(ax, "projection"):
        return kwargs
    from cartopy import crs  # whose axes these are

    return {"transform": crs.PlateCarree()} | kwargs


# Drawing


def draw_groups(
    maps: Map | Sequence[Map],
    axes: Any,
    *,
    numbers: int | Mapping[int, int] = 0,
    legend: Any = True,
    **kwargs: Any,
) -> None:
    """Draw each group in one colour, neighbours in different ones.

    ``numbers`` are how many of the largest have their number on the map, or numbers of groups.
    """
    from matplotlib.colors import ListedColormap

    panels = _paired(maps, axes)
    kwargs = _projected(panels, kwargs)
    for map, ax in panels:
        if map.places.kind == "points":
            pairs = point_neighbors(map.groups, map.places)
        else:
            pairs = grid_neighbors(map.groups, map.places.wraps)
        indices, colors = distinct_colors(map.groups, map.single, pairs)
        style: dict[str, Any] = {"cmap": ListedColormap(colors or [SINGLE])}
        style |= {"vmin": -0.5, "vmax": max(len(colors), 1) - 0.5}
        _paint(ax, map, np.ma.masked_less(indices, 0), style | kwargs)
        _outline(ax, map, kwargs)
        if isinstance(numbers, Mapping):
            _write_numbers(ax, map, numbers, kwargs)
        else:
            _write_numbers(ax, map, {k: k for k in largest_groups(map, numbers)}, kwargs)
    _finish(panels, kwargs, legend, single=True, flipped=True)


def _write_numbers(
    ax: "Axes", map: Map, numbers: Mapping[int, int], kwargs: dict[str, Any]
) -> None:
    """Write numbers of groups where they are, the first ones first, as far as there is room."""
    from matplotlib.font_manager import FontProperties

    size = FontProperties(size="small").get_size_in_points()
    size = min(size, max(_NUMBERS * inches(ax)[0], _SMALLEST))
    here = [group for group in numbers if (map.groups == group).any()]
    for group, place in _apart(ax, map, here, size):
        text = ax.text(
            *place,
            str(numbers[group]),
            color=_LABEL_INK,
            fontsize=size,
            horizontalalignment="center",
            verticalalignment="center_baseline",
            bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none"},
            clip_on=True,
            **_placement(kwargs),
        )
        text.set_in_layout(False)


def _apart(
    ax: "Axes", map: Map, groups: Sequence[int], size: float
) -> list[tuple[int, tuple[float, float]]]:
    """Return groups and where their numbers go, without those that would cover an earlier one."""
    ax.autoscale_view()  # or the limits are those of empty axes until they are drawn
    places = [label_position(map, group) for group in groups]
    points = [ax.transData.transform(place) * 72 / ax.figure.dpi for place in places]
    kept: list[int] = []
    for k, group in enumerate(groups):
        letters = [(len(str(group)) + len(str(groups[other]))) / 2 for other in kept]
        gaps = [np.abs(points[k] - points[other]) for other in kept]
        if not any(
            across < (LETTER * count + 0.5) * size and up < 1.5 * size
            for (across, up), count in zip(gaps, letters, strict=True)
        ):
            kept.append(k)
    return [(groups[k], places[k]) for k in kept]


def draw_effects(
    maps: Map | Sequence[Map],
    axes: Any,
    *,
    effects: FloatArray,
    changed: str,
    per: Literal["area", "cell"] = "area",
    numbers: Mapping[int, int] | None = None,
    colorbar: Any = True,
    legend: Any = True,
    **kwargs: Any,
) -> None:
    """Draw the effect of each area, or of each cell, white at zero.

    ``effects`` of all maps set the scale. Only those of cells may need a logarithmic one, and only
    areas have outlines, dark ones those with ``numbers``.
    """
    panels = _paired(maps, axes)
    kwargs = _projected(panels, kwargs)
    style = {"cmap": "RdBu_r"} | _diverging(effects, kwargs, logarithmic=per == "cell")
    for map, ax in panels:
        values = np.ma.masked_where(map.groups < 0, np.asarray(map.values))
        image = _paint(ax, map, values, style | kwargs)
        if per == "area":
            _outline(ax, map, kwargs, color=GREY, width=0.5)
        if numbers:
            _outline(ax, map, kwargs, color=_LABEL_INK, width=1.2, only=list(numbers))
            _write_numbers(ax, map, numbers, kwargs)
    noun = "cell"
    if per == "area":
        noun = "group's mean" if panels[0][0].places.kind == "points" else "area's mean"
    label, ticks = effect(changed, noun), None
    if "norm" in style:
        label, ticks = label + SYMLOG, _decades(style["norm"])
    _bar(panels, image, label, colorbar, ticks)
    _finish(panels, kwargs, legend, flipped=per == "area")


def effects_on(map: Map) -> FloatArray:
    """Return the effects of the cells that belong to a group."""
    return np.asarray(map.values, dtype=np.float64)[map.groups >= 0]


def draw_stability(
    maps: Map | Sequence[Map],
    axes: Any,
    *,
    colorbar: Any = True,
    legend: Any = True,
    **kwargs: Any,
) -> None:
    """Draw how often each cell stays with its group, from 0 to 1; single cells are grey."""
    from matplotlib.colors import ListedColormap

    panels = _paired(maps, axes)
    kwargs = _projected(panels, kwargs)
    style: dict[str, Any] = {"cmap": "viridis"}
    if "norm" not in kwargs:
        style |= {"vmin": 0, "vmax": 1}
    for map, ax in panels:
        single = np.isin(map.groups, map.single)
        grey = {"cmap": ListedColormap([SINGLE])} | _placement(kwargs)
        _paint(ax, map, np.ma.masked_where(~single, single.astype(float)), grey)
        image = _paint(ax, map, np.ma.masked_invalid(np.asarray(map.values)), style | kwargs)
    _bar(panels, image, "share of resamples in which the cell stays with its group", colorbar)
    _finish(panels, kwargs, legend, single=True)


def _diverging(values: FloatArray, kwargs: dict[str, Any], logarithmic: bool) -> dict[str, Any]:
    """Return a scale symmetric about zero, perhaps logarithmic if a few are very large."""
    from matplotlib.colors import SymLogNorm

    given = [abs(kwargs[name]) for name in ("vmin", "vmax") if kwargs.get(name) is not None]
    if "norm" in kwargs or len(given) == 2:
        return {}
    if given:  # the other end is as far from zero
        return {"vmin": -given[0], "vmax": given[0]}
    top = float(np.abs(values).max(initial=0)) or 1.0
    limits: dict[str, Any] = {"vmin": -top, "vmax": top}
    linear = linear_threshold(values, _PALE) if logarithmic else None
    return limits if linear is None else {"norm": SymLogNorm(max(linear, top / _DEEP), **limits)}


def _decades(norm: Any) -> list[float]:
    """Return zero and the powers of ten on both sides of it, where a scale is logarithmic."""
    powers = np.arange(np.ceil(np.log10(norm.linthresh) - 1e-9), np.log10(norm.vmax) + 1e-9)
    sizes = (10.0**powers).tolist()
    return [*(-size for size in reversed(sizes)), 0.0, *sizes]


def _paint(ax: "Axes", map: Map, values: Any, style: dict[str, Any]) -> Any:
    """Draw the cells in their colours."""
    places = map.places
    if places.kind == "points":
        known = ~np.ma.getmaskarray(values)
        # A thin edge, for colours as pale as the paper.
        points: dict[str, Any] = {"s": _point_size(map), "linewidths": 0.4, "edgecolors": GREY}
        x, y = places.x[known], places.y[known]
        return ax.scatter(x, y, c=np.ma.compressed(values), **points | style)
    # As an image within SVG and PDF: small, and without hairlines between cells.
    return ax.pcolormesh(*corners(places), values, **{"rasterized": True} | style)


def _point_size(map: Map) -> float:
    return float(np.clip(12000 / max(map.groups.size, 1), 6, 60))


def _placement(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keep what says where things are drawn, not how they look."""
    return {name: kwargs[name] for name in ("transform", "zorder") if name in kwargs}


def _outline(
    ax: "Axes",
    map: Map,
    kwargs: dict[str, Any],
    color: str = "white",
    width: float = 1.0,
    only: Sequence[int] | None = None,
) -> None:
    """Draw thin lines between groups, if there is room; or around some ``only``."""
    from matplotlib.collections import LineCollection

    if map.places.kind == "points" or max(map.groups.shape) > _OUTLINED:
        return

    points = np.stack(corners(map.places), axis=-1)
    groups = map.groups
    known = groups >= 0
    beside = (groups[:, 1:] != groups[:, :-1]) & known[:, 1:] & known[:, :-1]
    above = (groups[1:] != groups[:-1]) & known[1:] & known[:-1]
    if only is not None:
        chosen = np.isin(groups, only)
        beside &= chosen[:, 1:] | chosen[:, :-1]
        above &= chosen[1:] | chosen[:-1]
    upright = np.stack([points[:-1, 1:-1][beside], points[1:, 1:-1][beside]], axis=1)
    level = np.stack([points[1:-1, :-1][above], points[1:-1, 1:][above]], axis=1)
    lines = LineCollection(
        list(np.concatenate([upright, level])),
        colors=color,
        linewidths=width * float(np.clip(40 / max(groups.shape), 0.3, 1.0)),
        capstyle="round",
        rasterized=True,
        **_placement(kwargs),
    )
    ax.add_collection(lines, autolim=False)


def _kinds(map: Map) -> dict[str, npt.NDArray[np.bool_]]:
    """Return which cells are shown by more than their colour."""
    return {
        "single {}": np.isin(map.groups, map.single),
        "{} with the sign flipped": map.flipped,
        "constant {}": map.groups == CONSTANT,
        "{} left out": map.groups == LEFT_OUT,
    }


_LOOKS: dict[str, dict[str, Any]] = {
    "single {}": {"facecolor": SINGLE, "painted": True},
    "{} with the sign flipped": {"facecolor": GREY, "hatch": "...", "edgecolor": "#ffffffc0"},
    "constant {}": {"facecolor": "none", "hatch": "/////", "edgecolor": GREY},
    "{} left out": {"facecolor": _OUTSIDE},
}


def _finish(
    panels: _Panels,
    kwargs: dict[str, Any],
    legend: Any,
    *,
    single: bool = False,
    flipped: bool = False,
) -> None:
    """Mark cells without a group, explain in a legend what colours do not, and label the axes."""
    noun = "point" if all(map.places.kind == "points" for map, _ in panels) else "cell"
    entries: list[tuple[Any, str]] = []
    for words, wanted in zip(_LOOKS, (single, flipped, True, True), strict=True):
        if not wanted:
            continue
        places: dict[Any, npt.NDArray[np.bool_]] = {}
        handle = None
        for map, ax in panels:
            cells = _kinds(map)[words]
            if cells.any():
                # The land of several maps, such as of lags, is counted once.
                places[cells.shape] = places.get(cells.shape, False) | cells
                handle = _mark(ax, map, cells, words, kwargs)
        if handle is not None:
            count = sum(int(cells.sum()) for cells in places.values())
            entries.append((handle, counted(count, words, noun)))
    for map, ax in panels:
        _label(ax, map)
        if len(panels) > 1:
            ax.set_title(map.title, loc="left", fontsize="medium", parse_math=False, usetex=False)
    options = arguments(legend, "legend")
    if entries and options is not None:
        ax = panels[0][1]
        title = _TITLE * float(ax.title.get_fontsize()) if len(panels) > 1 else 0.0
        legend_above(ax, entries, options, raised=title)


def _mark(
    ax: "Axes", map: Map, cells: npt.NDArray[np.bool_], words: str, kwargs: dict[str, Any]
) -> Any:
    """Mark cells of one kind; return what stands for them in the legend."""
    from matplotlib.colors import ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    look = dict(_LOOKS[words])
    painted, hatched = look.pop("painted", False), "hatch" in look
    flipped = words.endswith("flipped")
    if map.places.kind == "points":
        dots = {
            "linestyle": "none",
            "marker": "x" if hatched and not flipped else "o",
            "markersize": np.sqrt(_point_size(map)) / (2 if flipped else 1),
            "markeredgewidth": 0.8,
            "markeredgecolor": GREY,
            "markerfacecolor": "white" if flipped else look["facecolor"],
        }
        if not painted:
            ax.plot(map.places.x[cells], map.places.y[cells], **dots | _placement(kwargs))
        return Line2D([], [], **dots)
    if not painted:
        chosen = np.ma.masked_where(~cells, cells.astype(float))
        if hatched:
            over = look | {"facecolor": "none", "linewidth": 0} | _placement(kwargs)
            ax.pcolor(*corners(map.places), chosen, rasterized=True, **over)
        else:
            flat = {"cmap": ListedColormap([look["facecolor"]])} | _placement(kwargs)
            _paint(ax, map, chosen, flat)
    return Patch(**look, linewidth=0.5 if hatched else 0)


def _label(ax: "Axes", map: Map) -> None:
    """Label the axes of a map, with the directions of longitudes and latitudes at their ticks."""
    if hasattr(ax, "projection"):  # of cartopy, which sets up its own axes
        return
    places = map.places
    label_axes(ax, places.x_label, places.y_label)
    for axis, label in ((ax.xaxis, places.x_label), (ax.yaxis, places.y_label)):
        if label in LABELS.values():
            axis.set_label_text("")
            axis.set_major_locator(_degree_ticks())
            axis.set_major_formatter(_DIRECTIONS[label])
    if places.degrees or places.alike:
        ax.set_aspect(_stretch(map) if places.degrees else "equal")
    if places.kind != "points":
        ax.spines[:].set_visible(False)


_DIRECTIONS: dict[str, Any] = {
    LABELS["lon"]: lambda value, _: degrees(value, "WE"),
    LABELS["lat"]: lambda value, _: degrees(value, "SN"),
}


def _degree_ticks() -> Any:
    """Return what places ticks at round degrees, as many as there is room for."""
    from matplotlib.ticker import Locator

    class DegreeLocator(Locator):
        def __call__(self) -> Any:
            axis: Any = self.axis
            # matplotlib leaves room for three letters; degrees have up to five, and a gap.
            room = int(axis.get_tick_space() * (0.75 if axis.axis_name == "x" else 1.0))
            low, high = sorted(axis.get_view_interval())
            most = min(max(room, 1), _TICKS)
            widest = (high - low) / most  # longitudes of a file may not be degrees
            step = next((each for each in _STEPS if widest <= each), widest)
            return step * np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)

    return DegreeLocator()


def degrees(value: float, sides: str) -> str:
    """Format a longitude or latitude: ``80°W``."""
    angle = round(float((value + 180) % 360 - 180 if sides == "WE" else value), 6)
    return degrees_between(angle, angle, sides)


def _bar(
    panels: _Panels, image: Any, label: str, colorbar: Any, ticks: list[float] | None = None
) -> None:
    """Draw a colour bar of all panels, with as many lines of text as it takes."""
    from matplotlib.ticker import MaxNLocator

    given = arguments(colorbar, "colorbar")
    if given is None:
        return
    if not {"cax", "location", "orientation"} & set(given):
        flat = _bar_below([_ratio(map) for map, _ in panels]) or hasattr(panels[0][1], "projection")
        given["location"] = "bottom" if flat else "right"
    below = given.get("orientation") == "horizontal" or given.get("location") in ("bottom", "top")
    length, share = _extent(panels, below)
    if "cax" not in given:
        axes = [ax for _, ax in panels]
        own: dict[str, Any] = {"ax": axes, "shrink": 0.9 * share, "aspect": 30 if below else 20}
        given = own | given
    own_label = given.pop("label", None)
    bar = panels[0][1].figure.colorbar(image, **given)
    letters = 72 * 0.9 * length / (LETTER * float(bar.ax.yaxis.label.get_fontsize()))
    if own_label is None:
        own_label = fill(label.replace("\n", " "), int(np.clip(letters, *_LETTERS)))
    bar.set_label(own_label, parse_math=False, usetex=False)
    if "ticks" not in given and ticks is not None:
        bar.set_ticks(ticks, labels=[short_number(tick) for tick in ticks])
        bar.minorticks_off()
    elif "ticks" not in given and below:
        most = min(max(int(letters / _BESIDE), 2), _TICKS)
        bar.locator = MaxNLocator(most, steps=[1, 2, 4, 5, 10])  # 4: few ticks, and not just 0
        bar.update_ticks()
    bar.outline.set_visible(False)


def _extent(panels: _Panels, across: bool) -> tuple[float, float]:
    """Return how long maps are along a colour bar, in inches, and as a share of their axes."""
    axes = [ax for _, ax in panels]
    if len(panels) > 1 or hasattr(axes[0], "projection"):
        whole, boxes = axes[0].figure.bbox, [ax.get_position() for ax in axes]
        if across:
            room = whole.width * (max(box.x1 for box in boxes) - min(box.x0 for box in boxes))
        else:
            room = whole.height * (max(box.y1 for box in boxes) - min(box.y0 for box in boxes))
        return float(room / axes[0].figure.dpi), 1.0
    # A single map keeps its shape.
    width, height = inches(axes[0])
    ratio = _ratio(panels[0][0])
    room, reach = (width, (height - _BAR) / ratio) if across else (height, width * ratio)
    share = float(np.clip(reach / room, 0.3, 1.0))
    return share * room, share
