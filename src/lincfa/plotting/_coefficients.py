"""Coefficients of the reduced features, expanded to all features."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._checks import real_numbers
from .._data._names import shown
from ..report._inputs import fitted_reducer
from ..report._scores import Coefficients, expand_coefficients, linear_coefficients
from ..theory._arrays import FloatArray
from ._figures import (
    BLUE,
    EFFECT,
    GREY,
    MARKS_DRAWN,
    NAMES_SHOWN,
    SERIES,
    SYMLOG,
    axes_or_new,
    ink,
    legend_above,
    linear_threshold,
    mark_size,
    name_ticks,
    short_number,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEMS = 60  # most features that are joined to zero by a stem
_FLAT = 50  # largest value over the median, beyond which half of the values look like zero
_LONGEST_NAME = 20


def plot_coefficients(model: Any, coef: Any = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the coefficients of the reduced features, expanded to all features.

    In column order, coloured by group for the largest groups. A coefficient is the change in the
    prediction per standard deviation of the feature.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    coef : array of shape (n_groups_,), default=None
        Coefficients of a linear model on the reduced features; None for those of the ``estimator_``
        of a LinCFACV.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, without a window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    reducer, coef = check_coefficients(model, coef)
    ax = axes_or_new(ax, 9, 4.4)
    draw_coefficients(expand_coefficients(reducer, coef), ax)
    return ax


def check_coefficients(model: Any, coef: Any) -> tuple[Any, FloatArray]:
    """Return the fitted LinCFA and the checked coefficients of its reduced features."""
    reducer = fitted_reducer(model)
    if coef is None:
        own = linear_coefficients(getattr(model, "estimator_", None), reducer.n_groups_)
        if own is None:
            raise ValueError(
                "coef is required: the coefficients of a linear model on the reduced features. "
                "Only a LinCFACV with a linear estimator has its own."
            )
        return reducer, own
    given = real_numbers(coef, "coef")
    if given.shape == (1, reducer.n_groups_):  # the target was a matrix of one column
        given = given[0]
    if given.shape != (reducer.n_groups_,):
        raise ValueError(
            f"coef must have one coefficient per reduced feature, shape ({reducer.n_groups_},), "
            f"got {given.shape}."
        )
    return reducer, given


def draw_coefficients(coefficients: Coefficients, ax: "Axes") -> None:
    """Draw a mark for each feature, and a stem if there is room."""
    values, groups = coefficients.values, coefficients.groups
    size = len(values)
    ax.axhline(0, color=ink(), linewidth=0.8)
    largest = _largest(groups)
    handles, labels = [], []
    others = np.flatnonzero(~np.isin(groups, largest))
    series = [(others, GREY if largest else BLUE, "o", "other features")]
    for group, (color, marker) in zip(largest, SERIES, strict=False):
        members = np.flatnonzero(groups == group)
        series.append((members, color, marker, _label(coefficients, members)))
    for members, color, marker, label in series:
        if members.size == 0:
            continue
        if size <= _STEMS:
            ax.vlines(members, 0, values[members], colors=color, linewidth=1.5, alpha=0.7)
        marks = ax.scatter(
            members,
            values[members],
            s=mark_size(size) * (0.5 if color == GREY else 1.0),
            color=color,
            marker=marker,
            linewidths=0,
            rasterized=size > MARKS_DRAWN,
            zorder=2.5,
        )
        handles.append(marks)
        labels.append(label)
    if largest:
        turn = int(others.size > 0)  # the grey ones are drawn first and listed last
        legend_above(ax, handles[turn:] + handles[:turn], labels[turn:] + labels[:turn])
    if size <= NAMES_SHOWN:
        name_ticks(ax.xaxis, coefficients.names)
    part = f"first {size} of " if size < coefficients.n_features else ""
    ax.set(
        xlim=(-0.02 * size - 0.5, 1.02 * size - 0.5),
        xlabel=f"{part}{coefficients.n_features} features, in column order",
        ylabel=EFFECT.format("feature"),
    )
    _scale(ax, values)
    ax.grid(alpha=0.3, axis="y")


def _scale(ax: "Axes", values: FloatArray) -> None:
    """Use a logarithmic axis if a few large values would flatten the small ones."""
    linear = linear_threshold(values, _FLAT)
    if linear is None:
        return
    ax.set_yscale("symlog", linthresh=linear)
    ax.set_ylim(2 * min(values.min(), -linear), 2 * max(values.max(), linear))
    ax.yaxis.set_major_formatter(lambda value, _: short_number(value))
    ax.set_ylabel(ax.get_ylabel() + SYMLOG)


def _largest(groups: Any) -> list[int]:
    """Return the largest groups of at least two features, as many as there are colours."""
    numbers, sizes = np.unique(groups[groups >= 0], return_counts=True)
    order = np.argsort(-sizes, kind="stable")[: len(SERIES)]
    return [int(numbers[k]) for k in order if sizes[k] > 1]


def _label(coefficients: Coefficients, members: Any) -> str:
    name = shown(coefficients.names[members[0]], _LONGEST_NAME)
    if len(coefficients.names) < coefficients.n_features:
        return f"group of {name}"  # it may have more features than are shown
    return f"group of {name} ({members.size} features)"
