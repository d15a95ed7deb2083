"""Groups where their features are: maps of the cells of a field, and features in a sequence."""

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data._checks import real_numbers
from .._data._field import Field
from ..report._inputs import field_of, fitted_reducer
from ..report._maps import CONSTANT, LEFT_OUT, Map, Spectrum, make_spectrum, select_map
from ..report._scores import effect_of_features, name_of_prediction
from ..theory._arrays import FloatArray
from ._cells import (
    corners,
    distinct_colors,
    edges,
    grid_neighbors,
    label_position,
    largest_groups,
    point_neighbors,
    sequence_neighbors,
)
from ._charts import check_coefficients
from ._figures import (
    GREY,
    SINGLE,
    SYMLOG,
    axes_or_new,
    counted,
    effect,
    ink,
    label_axes,
    legend_above,
    linear_threshold,
    short_number,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OUTSIDE = "#c4c4c4"  # cells left out, where white means a coefficient of zero
_OUTLINED = 150  # rows or columns, up to which groups have outlines
_PALE = 12  # largest coefficient over the median, beyond which half of the cells look white
_DEEP = 100  # largest coefficient over the end of the linear range: small ones stay pale
_STEEPEST = 0.2  # cosine of a latitude, below which a map is not stretched further
_LONGEST, _SHORTEST, _AROUND = 8.0, 3.0, 1.2  # inches: sides of a map, and margins
# Not quite black, which becomes the colour of a page's text: white on dark pages.
_LABEL_INK = "#1b2127"
_FLIPPED = {"hatch": "...", "facecolor": GREY, "edgecolor": "#ffffffc0"}
_OPACITY = 0.5  # of the bands of a spectrum, on light and on dark pages


def plot_map(
    model: Any,
    *,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    numbers: int = 0,
    ax: "Axes | None" = None,
    **kwargs: Any,
) -> "Axes":
    """Draw a map of the groups of a field.

    Cells of a group have one colour. Groups that touch, by a side or a corner, have different
    colours, also across the edges of a global map; the same colour elsewhere may be a different
    group. Single cells are light grey. A legend explains single, flipped (dotted), constant
    (hatched) and left-out (blank) cells, if there are any.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted to an xarray field.
    variable : str, default=None
        Which variable of a Dataset; required if there are several.
    select : mapping, default=None
        For cells with more than two dimensions: the position along the others, such as
        ``{"level": 500}``.
    numbers : int, default=0
        How many of the groups with the most cells on the map are marked with their number, that of
        ``labels_`` and ``label_map``. Single cells are not.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, without a window. Cartopy axes keep their limits,
        labels and aspect; pass the coordinate system of the data, as in
        ``transform=cartopy.crs.PlateCarree()``.
    **kwargs
        For ``Axes.pcolormesh``, which draws grids, or ``Axes.scatter``, which draws points along
        one dimension with latitudes and longitudes.

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
    >>> ax.figure.savefig("groups.png")  # doctest: +SKIP
    """
    if not (isinstance(numbers, Integral) and not isinstance(numbers, bool) and numbers >= 0):
        raise ValueError(f"numbers must be a non-negative integer, got {numbers!r}.")
    reducer = fitted_reducer(model)
    field = _require_field(field_of(reducer), "plot_map")
    cells = {"signs": reducer.signs_, "variable": variable, "select": select}
    map = select_map(field, reducer.labels_, **cells)
    ax = axes_or_new(ax, *figure_size(map), square=True)
    draw_groups(map, ax, numbers=int(numbers), **kwargs)
    return ax


def plot_coefficient_map(
    model: Any,
    coef: Any = None,
    *,
    target: Any = None,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    ax: "Axes | None" = None,
    **kwargs: Any,
) -> "Axes":
    """Draw a map of the coefficients of the reduced features, expanded to the cells.

    The colour of a cell is the change in the prediction per standard deviation of the cell: red
    where it rises, blue where it falls, white at zero; cells left out are grey. That is
    :meth:`~lincfa.LinCFA.expand_coefficients` times the standard deviation of the cell, so that
    cells are comparable. Members share the coefficient of their group, so cells of large groups
    have small values; if a few values would make all others pale, the scale is logarithmic away
    from zero, and its label says so. All variables and positions share one scale.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted to an xarray field.
    coef : array of shape (n_groups_,) or (n_targets, n_groups_), default=None
        Coefficients of a linear model on the reduced features; None for those of the ``estimator_``
        of a search.
    target : str or int, default=None
        Which of several targets or classes, by name or number; required if there are several.
    variable, select, ax : str, mapping and matplotlib.axes.Axes, default=None
        As in :func:`plot_map`.
    **kwargs
        As in :func:`plot_map`; ``vmin`` and ``vmax``, or ``norm``, set the scale.
    """
    reducer, coef, name = check_coefficients(model, coef, target)
    field = _require_field(field_of(reducer), "plot_coefficient_map")
    effects = effect_of_features(reducer, coef)
    map = select_map(field, reducer.labels_, effects, variable=variable, select=select)
    ax = axes_or_new(ax, *figure_size(map, bar=True), square=True)
    map, classes = replace(map, target=name), reducer._targets.classes is not None
    draw_weights(map, ax, weights=effects[reducer.labels_ >= 0], log_odds=classes, **kwargs)
    return ax


def plot_stability_map(
    stability: Any,
    *,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    ax: "Axes | None" = None,
    **kwargs: Any,
) -> "Axes":
    """Draw a map of how often each cell stays with its group in resamples.

    The share of resamples in which a cell is grouped with the other cells of its group, on average
    over these, from 0 to 1, as in ``Stability.to_map``. Single cells have none and are grey.

    Parameters
    ----------
    stability : Stability
        Result of :func:`lincfa.stability` for an xarray field.
    variable, select, ax : str, mapping and matplotlib.axes.Axes, default=None
        As in :func:`plot_map`.
    **kwargs
        As in :func:`plot_map`.
    """
    if not (hasattr(stability, "field") and hasattr(stability, "features")):
        raise TypeError(
            "plot_stability_map takes the result of lincfa.stability(field, y, model=model), got "
            f"{type(stability).__name__}."
        )
    field = _require_field(stability.field, "plot_stability_map")
    map = select_map(field, stability.labels, stability.features, variable=variable, select=select)
    ax = axes_or_new(ax, *figure_size(map, bar=True), square=True)
    draw_stability(map, ax, **kwargs)
    return ax


def _require_field(field: Field | None, function: str) -> Field:
    if field is None:
        raise ValueError(
            f"{function} needs a fit to an xarray field; this was fitted to a table. plot_spectrum "
            "draws features in a sequence."
        )
    return field


def figure_size(map: Map, bar: bool = False) -> tuple[float, float]:
    """Return the size of a figure, in inches, for a map and perhaps its colour bar."""
    places = map.places
    x, y = (each[np.isfinite(each)] for each in (places.x, places.y))
    ratio = 0.7
    if (places.degrees or places.alike) and min(x.size, y.size) > 1:
        stretch = np.cos(np.radians(y.mean())) if places.degrees else 1.0
        ratio = float(np.ptp(y) / max(stretch * np.ptp(x), 1e-9))
    height = np.clip(_LONGEST * ratio, _SHORTEST, 0.8 * _LONGEST)
    width = np.clip(height / ratio, _SHORTEST, _LONGEST)
    return float(width) + (_AROUND if bar else 0), float(height) + _AROUND / 2


def draw_groups(map: Map, ax: "Axes", *, numbers: int = 0, **kwargs: Any) -> None:
    """Draw each group in one colour, neighbours in different ones, and some numbers of groups."""
    from matplotlib.colors import ListedColormap

    if map.places.kind == "points":
        pairs = point_neighbors(map.groups, map.places)
    else:
        pairs = grid_neighbors(map.groups, map.places.wraps)
    indices, colors = distinct_colors(map.groups, map.single, pairs)
    style: dict[str, Any] = {"cmap": ListedColormap(colors or [SINGLE])}
    style |= {"vmin": -0.5, "vmax": max(len(colors), 1) - 0.5}
    _paint(ax, map, np.ma.masked_less(indices, 0), style | kwargs)
    if map.places.kind != "points" and max(map.groups.shape) <= _OUTLINED:
        _outline(ax, map, kwargs)
    for group in largest_groups(map, numbers):
        text = ax.text(
            *label_position(map, group),
            str(group),
            color=_LABEL_INK,
            fontsize="small",
            horizontalalignment="center",
            verticalalignment="center_baseline",
            bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": "none"},
            clip_on=True,
            **_placement(kwargs),
        )
        text.set_in_layout(False)
    _finish(ax, map, kwargs, single=True, flipped=True)


def weights_on(map: Map) -> FloatArray:
    """Return the values of the cells that belong to a group."""
    return np.asarray(map.values, dtype=np.float64)[map.groups >= 0]


def draw_weights(
    map: Map, ax: "Axes", *, weights: FloatArray, log_odds: bool = False, **kwargs: Any
) -> None:
    """Draw the coefficient of each cell, white at zero; ``weights`` of all maps set the scale."""
    values = np.ma.masked_where(map.groups < 0, np.asarray(map.values))
    style = {"cmap": "RdBu_r"} | _diverging(weights, kwargs)
    image = _paint(ax, map, values, style | kwargs)
    logarithmic = "norm" in style
    changed = name_of_prediction(map.target, log_odds)
    label = effect(changed, "cell") + (SYMLOG if logarithmic else "")
    _bar(ax, image, label, _decades(style["norm"]) if logarithmic else None)
    _finish(ax, map, kwargs, outside=_OUTSIDE)


def draw_stability(map: Map, ax: "Axes", **kwargs: Any) -> None:
    """Draw how often each cell stays with its group, from 0 to 1; single cells are grey."""
    from matplotlib.colors import ListedColormap

    style: dict[str, Any] = {"cmap": "viridis"}
    if "norm" not in kwargs:
        style |= {"vmin": 0, "vmax": 1}
    single = np.isin(map.groups, map.single)
    grey = {"cmap": ListedColormap([SINGLE])} | _placement(kwargs)
    _paint(ax, map, np.ma.masked_where(~single, single.astype(float)), grey)
    image = _paint(ax, map, np.ma.masked_invalid(np.asarray(map.values)), style | kwargs)
    _bar(ax, image, "share of resamples in which\nthe cell stays with its group")
    _finish(ax, map, kwargs, single=True)


def _diverging(values: FloatArray, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a scale symmetric about zero; logarithmic if a few values are very large."""
    from matplotlib.colors import SymLogNorm

    if {"norm", "vmin", "vmax"} & set(kwargs):
        return {}
    top = float(np.abs(values).max(initial=0)) or 1.0
    limits: dict[str, Any] = {"vmin": -top, "vmax": top}
    linear = linear_threshold(values, _PALE)
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


def _outline(ax: "Axes", map: Map, kwargs: dict[str, Any]) -> None:
    """Draw thin white lines between groups."""
    from matplotlib.collections import LineCollection

    points = np.stack(corners(map.places), axis=-1)
    groups = map.groups
    beside = (groups[:, 1:] != groups[:, :-1]) & (groups[:, 1:] >= 0) & (groups[:, :-1] >= 0)
    above = (groups[1:] != groups[:-1]) & (groups[1:] >= 0) & (groups[:-1] >= 0)
    upright = np.stack([points[:-1, 1:-1][beside], points[1:, 1:-1][beside]], axis=1)
    level = np.stack([points[1:-1, :-1][above], points[1:-1, 1:][above]], axis=1)
    lines = LineCollection(
        list(np.concatenate([upright, level])),
        colors="white",
        linewidths=float(np.clip(40 / max(groups.shape), 0.3, 1.0)),
        capstyle="round",
        rasterized=True,
        **_placement(kwargs),
    )
    ax.add_collection(lines, autolim=False)


def _finish(
    ax: "Axes",
    map: Map,
    kwargs: dict[str, Any],
    *,
    single: bool = False,
    flipped: bool = False,
    outside: str = "none",
) -> None:
    """Mark cells without a group, explain in a legend what colours do not, and label the axes."""
    from matplotlib.colors import ListedColormap
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    places = map.places
    noun = "point" if places.kind == "points" else "cell"
    grey = np.isin(map.groups, map.single) & single
    kinds: list[tuple[npt.NDArray[np.bool_], str, dict[str, Any]]] = [
        (grey, "single {}", {"facecolor": SINGLE}),
        (map.flipped & flipped, "{} with the sign flipped", _FLIPPED),
        (map.groups == CONSTANT, "constant {}", {"hatch": "/////", "marker": "x"}),
        (map.groups == LEFT_OUT, "{} left out", {"facecolor": outside}),
    ]
    entries: list[tuple[Any, str]] = []
    for cells, words, look in kinds:
        if not cells.any():
            continue
        label = counted(int(cells.sum()), words, noun)
        marked = np.ma.masked_where(~cells, cells.astype(float))
        if places.kind == "points":
            dots = {
                "linestyle": "none",
                "marker": look.get("marker", "o"),
                "markersize": np.sqrt(_point_size(map)),
                "markeredgewidth": 0.8,
                "markeredgecolor": GREY,
                "markerfacecolor": look.get("facecolor", "none"),
            }
            if look is _FLIPPED:  # a dot on each point
                dots |= {"markerfacecolor": "white", "markersize": dots["markersize"] / 2}
            entries.append((Line2D([], [], **dots), label))
            if cells is not grey:  # which is painted already
                ax.plot(places.x[cells], places.y[cells], **dots | _placement(kwargs))
            continue
        edge: dict[str, Any] = {"facecolor": "none", "edgecolor": GREY, "linewidth": 0.5}
        edge = {} if cells is grey else edge
        look = {name: value for name, value in look.items() if name != "marker"}
        entries.append((Patch(**edge | look), label))
        if "hatch" in look:
            hatching = edge | look | {"facecolor": "none", "linewidth": 0} | _placement(kwargs)
            ax.pcolor(*corners(places), marked, rasterized=True, **hatching)
        elif cells is not grey and outside != "none":
            _paint(ax, map, marked, {"cmap": ListedColormap([outside])} | _placement(kwargs))
    if entries:
        legend_above(ax, entries)
    if hasattr(ax, "projection"):  # of cartopy, which sets up its own axes
        return
    label_axes(ax, places.x_label, places.y_label)
    if places.degrees:  # kilometres are equally long in both directions
        known = places.y[np.isfinite(places.y)]
        middle = np.cos(np.radians(known.mean())) if known.size else 1.0
        ax.set_aspect(1 / max(float(middle), _STEEPEST))
    elif places.alike:
        ax.set_aspect("equal")
    if places.kind != "points":
        ax.spines[:].set_visible(False)


def _bar(ax: "Axes", image: Any, label: str, ticks: list[float] | None = None) -> None:
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, ticks=ticks)
    bar.set_label(label, parse_math=False, usetex=False)
    if ticks is not None:
        bar.set_ticks(ticks, labels=[short_number(tick) for tick in ticks])
        bar.minorticks_off()
    bar.outline.set_visible(False)


# Spectra


def plot_spectrum(
    model: Any, spectrum: Any = None, *, ax: "Axes | None" = None, **kwargs: Any
) -> "Axes":
    """Draw a spectrum, or other features in a sequence, with a band of colour for each group.

    Adjacent bands have different colours. With many groups a colour may be used again elsewhere; a
    group in several pieces has the same colour in all of them. Single features are grey, and
    constant ones have no band.

    Features are placed at the numbers in their names if these are monotonic, as wavelengths are,
    or at the coordinate of a field with one dimension besides the samples; otherwise by position.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted to a table, or to a field with one dimension besides the samples.
    spectrum : array of shape (n_features,), default=None
        The line: for instance a sample, or coefficients. None for the means of the features.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, without a window.
    **kwargs
        For the line, as for ``Axes.plot``.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_spectra
    >>> from lincfa.plotting import plot_spectrum
    >>> X, y = make_spectra(random_state=0)
    >>> ax = plot_spectrum(LinCFA(tolerance=7.0).fit(X, y))
    >>> ax.figure.savefig("spectrum.png")  # doctest: +SKIP
    """
    reducer = fitted_reducer(model)
    field = field_of(reducer)
    if field is not None:
        for variable in field.variables:
            if sum(size > 1 for size in variable.shape) > 1:  # the line would be a zigzag
                dims = zip(field.cell_dims(variable), variable.shape, strict=True)
                listed = ", ".join(f"{name} ({size})" for name, size in dims)
                raise ValueError(
                    "plot_spectrum draws features in a sequence, but these cells have several "
                    f"dimensions: {listed}. plot_map draws them."
                )
    values = reducer.mean_ if spectrum is None else real_numbers(spectrum, "spectrum")
    if values.shape != (reducer.n_features_in_,):
        raise ValueError(
            f"spectrum must have one value per feature, shape ({reducer.n_features_in_},), got "
            f"{values.shape}."
        )
    ax = axes_or_new(ax, 9, 4)
    label = "feature mean" if spectrum is None else "feature value"
    draw_spectrum(make_spectrum(reducer, values), ax, label=label, **kwargs)
    return ax


def draw_spectrum(spectrum: Spectrum, ax: "Axes", *, label: str, **kwargs: Any) -> None:
    """Draw bands, and a line over them."""
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    groups = spectrum.groups
    numbers, sizes = np.unique(groups[groups >= 0], return_counts=True)
    single = numbers[sizes == 1]
    indices, colors = distinct_colors(groups, single, sequence_neighbors(groups))
    # One image behind the line, as high as the axes, whatever their limits.
    ends = edges(spectrum.x, 1.0)
    bands = QuadMesh(
        np.stack(np.meshgrid(ends, [0, 1]), axis=-1),
        array=np.ma.masked_less(indices, 0)[None],
        cmap=ListedColormap(colors or [SINGLE]),
        alpha=_OPACITY,
        linewidth=0,
        rasterized=True,
        transform=ax.get_xaxis_transform(),
    )
    bands.set_clim(-0.5, max(len(colors), 1) - 0.5)
    ax.add_collection(bands, autolim=False)
    ax.update_datalim([(ends[0], 0), (ends[-1], 0)], updatey=False)
    line: dict[str, Any] = {"color": ink(), "linewidth": 1.2}
    ax.plot(spectrum.x, spectrum.values, **line | kwargs)
    ax.margins(x=0)
    constant = int((groups < 0).sum())
    entries = []
    if single.size:
        patch = Patch(facecolor=SINGLE, alpha=_OPACITY)
        entries.append((patch, counted(single.size, "single {}", "feature")))
    if constant:
        patch = Patch(facecolor="none", edgecolor=ink(), linewidth=0.5)
        entries.append((patch, counted(constant, "constant {}", "feature")))
    if entries:
        legend_above(ax, entries)
    label_axes(ax, spectrum.x_label, label)
