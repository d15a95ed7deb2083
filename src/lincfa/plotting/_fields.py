"""Maps of a fitted model."""

from collections.abc import Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._field._describe import Field
from ..report._findings import Map, effect_of_features, map_on
from ._coefficients import weights_of
from ._figures import axes_or_new
from ._maps import draw_groups, draw_stability, draw_weights

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LONGEST, _SHORTEST, _AROUND = 8.0, 3.0, 1.2  # inches: sides of a map, and what is around it


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

    Cells of one group have one colour, and neighbours by sides and corners have different ones,
    also where a map of the globe begins and ends. The same colour may come back further away for
    another group. Single cells are in light greys. A legend says what is single, constant (hatched)
    or left out (blank), if there is any.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted to a field of xarray.
    variable : str, default=None
        Which variable of a Dataset; needed where there are several.
    select : mapping, default=None
        Where cells have more than two dimensions: which place along the others, as
        ``{"level": 500}``.
    numbers : int, default=0
        How many of the groups with the most cells on the map carry their number, that of
        ``labels_`` and ``label_map``. Single cells carry none.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, which belongs to no window. Axes with a projection of
        cartopy keep their limits, labels and aspect; tell them the coordinates of the data, as
        ``transform=cartopy.crs.PlateCarree()``.
    **kwargs
        For ``Axes.pcolormesh``, which draws grids, or ``Axes.scatter``, which draws cells that are
        places along one dimension, with coordinates of latitude and longitude.

    Returns
    -------
    matplotlib.axes.Axes

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
        raise ValueError(f"numbers must be an integer from 0 on, got {numbers!r}.")
    model._check_is_fitted()
    reducer = getattr(model, "reducer_", model)
    field = _field_of(getattr(reducer, "field_", None), "plot_map")
    map = map_on(field, reducer.labels_, variable=variable, select=select)
    ax = _axes(ax, map)
    draw_groups(map, ax, numbers=int(numbers), **kwargs)
    return ax


def plot_coefficient_map(
    model: Any,
    coef: Any = None,
    *,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    ax: "Axes | None" = None,
    **kwargs: Any,
) -> "Axes":
    """Draw a map of the coefficients of the reduced features, spread back to the cells.

    The colour of a cell says how far a prediction rises with one standard deviation of it: red
    where it rises, blue where it falls, white at zero; cells left out are grey. That is what
    :meth:`~lincfa.LinCFA.expand_coefficients` gives, times the standard deviation of the cell, so
    that cells can be compared. The members of a group share its coefficient, so that a cell of a
    large group has a small weight; where a few weights would make all others pale, the scale is
    logarithmic away from zero, and its label says so. All variables and places have one scale.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted to a field of xarray.
    coef : array of shape (n_groups_,), default=None
        Coefficients of a linear model on the reduced features; None for those of the ``estimator_``
        of a LinCFACV.
    variable : str, default=None
        As in :func:`plot_map`.
    select : mapping, default=None
        As in :func:`plot_map`.
    ax : matplotlib.axes.Axes, default=None
        As in :func:`plot_map`.
    **kwargs
        As in :func:`plot_map`; ``vmin`` and ``vmax``, or ``norm``, set the scale.

    Returns
    -------
    matplotlib.axes.Axes
    """
    reducer, weights = weights_of(model, coef)
    field = _field_of(getattr(reducer, "field_", None), "plot_coefficient_map")
    effects = effect_of_features(reducer, weights)
    map = map_on(field, reducer.labels_, effects, variable=variable, select=select)
    ax = _axes(ax, map, bar=True)
    draw_weights(map, ax, weights=effects[reducer.labels_ >= 0], **kwargs)
    return ax


def plot_stability_map(
    stability: Any,
    *,
    variable: Any = None,
    select: Mapping[Any, Any] | None = None,
    ax: "Axes | None" = None,
    **kwargs: Any,
) -> "Axes":
    """Draw a map of how far each cell stays with its group when samples are drawn anew.

    Of the other cells of its group, the share with which a cell stays together, from 0 to 1, as
    ``Stability.to_map`` gives it. Single cells, of which that cannot be said, are grey.

    Parameters
    ----------
    stability : Stability
        What :func:`lincfa.stability` gave for a field of xarray.
    variable : str, default=None
        As in :func:`plot_map`.
    select : mapping, default=None
        As in :func:`plot_map`.
    ax : matplotlib.axes.Axes, default=None
        As in :func:`plot_map`.
    **kwargs
        As in :func:`plot_map`.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if not (hasattr(stability, "field") and hasattr(stability, "features")):
        raise TypeError(
            f"plot_stability_map takes what lincfa.stability(field, y, model=model) gave, got "
            f"{type(stability).__name__}."
        )
    field = _field_of(stability.field, "plot_stability_map")
    map = map_on(field, stability.labels, stability.features, variable=variable, select=select)
    ax = _axes(ax, map, bar=True)
    draw_stability(map, ax, **kwargs)
    return ax


def _field_of(field: Field | None, what: str) -> Field:
    if field is None:
        raise ValueError(
            f"{what} draws what was fitted to a field of xarray; this was fitted to a table. "
            "plot_spectrum draws features in a row."
        )
    return field


def _axes(ax: "Axes | None", map: Map, bar: bool = False) -> "Axes":
    """Give the axes, or those of a figure that has the shape of the map."""
    width, height = figure_size(map, bar)
    return axes_or_new(ax, width, height, square=True)


def figure_size(map: Map, bar: bool = False) -> tuple[float, float]:
    """Give the size of a figure, in inches, for a map and perhaps its bar of colours."""
    places = map.places
    x, y = (each[np.isfinite(each)] for each in (places.x, places.y))
    ratio = 0.7
    if (places.degrees or places.alike) and min(x.size, y.size) > 1:
        stretch = np.cos(np.radians(y.mean())) if places.degrees else 1.0
        ratio = float(np.ptp(y) / max(stretch * np.ptp(x), 1e-9))
    height = np.clip(_LONGEST * ratio, _SHORTEST, 0.8 * _LONGEST)
    width = np.clip(height / ratio, _SHORTEST, _LONGEST)
    return float(width) + (_AROUND if bar else 0), float(height) + _AROUND / 2
