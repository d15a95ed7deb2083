"""Coefficients of the reduced features, spread back to all."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._data._input import real_numbers
from .._data._names import shown
from ..report._findings import Coefficients, linear_weights, spread_back
from ..theory._arrays import FloatArray
from ._figures import (
    BLUE,
    GREEN,
    GREY,
    MARKS_DRAWN,
    NAMES_SHOWN,
    OCHRE,
    PINK,
    PURPLE,
    RED,
    SKY,
    VERMILION,
    axes_or_new,
    ink,
    legend_above,
    linear_until,
    mark_size,
    name_ticks,
    short_number,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Neighbours differ much, and the shapes differ too.
_LOOKS = (
    (BLUE, "o"),
    (VERMILION, "s"),
    (GREEN, "^"),
    (PURPLE, "D"),
    (OCHRE, "v"),
    (SKY, "P"),
    (RED, "X"),
    (PINK, "p"),
)
_STEMS = 60  # features up to which a stem joins each to the line of zero
_FLAT = 50  # the largest value over the median, beyond which half of the values look like zero
_LONGEST_NAME = 20


def plot_coefficients(model: Any, coef: Any = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the coefficients of the reduced features, spread back to all features.

    In the order of the columns, coloured by group for the largest groups. A coefficient says how
    far a prediction rises with one standard deviation of the feature.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    coef : array of shape (n_groups_,), default=None
        Coefficients of a linear model on the reduced features; None for those of the ``estimator_``
        of a LinCFACV.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, which belongs to no window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    reducer, weights = weights_of(model, coef)
    ax = axes_or_new(ax, 9, 4.4)
    draw_coefficients(spread_back(reducer, weights), ax)
    return ax


def weights_of(model: Any, coef: Any) -> tuple[Any, FloatArray]:
    """Give the model that reduces, and the coefficients of its reduced features, checked."""
    model._check_is_fitted()
    reducer = getattr(model, "reducer_", model)
    if coef is None:
        weights = linear_weights(getattr(model, "estimator_", None), reducer.n_groups_)
        if weights is None:
            raise ValueError(
                "coef is needed: the coefficients of a linear model on the reduced features. Only "
                "a LinCFACV with a linear estimator has its own."
            )
    else:
        weights = real_numbers(coef, "coef")
        if weights.shape == (1, reducer.n_groups_):  # a target that is a matrix of one column
            weights = weights[0]
        if weights.shape != (reducer.n_groups_,):
            raise ValueError(
                f"coef must have one coefficient per reduced feature, shape "
                f"({reducer.n_groups_},), got {weights.shape}."
            )
    return reducer, weights


def draw_coefficients(coefficients: Coefficients, ax: "Axes") -> None:
    """Draw a mark per feature, and a stem where there is room."""
    values, groups = coefficients.values, coefficients.groups
    size = len(values)
    few = size <= _STEMS
    ax.axhline(0, color=ink(), linewidth=0.8)
    largest = _largest(groups)
    handles, labels = [], []
    others = np.flatnonzero(~np.isin(groups, largest))
    looks = [(others, GREY if largest else BLUE, "o", "other features")]
    for group, (color, marker) in zip(largest, _LOOKS, strict=False):
        members = np.flatnonzero(groups == group)
        looks.append((members, color, marker, _label(coefficients, members)))
    for members, color, marker, label in looks:
        if members.size == 0:
            continue
        if few:
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
        # The grey ones are drawn first and named last.
        turn = 1 if labels[0] == "other features" else 0
        legend_above(ax, handles[turn:] + handles[:turn], labels[turn:] + labels[:turn])
    if size <= NAMES_SHOWN:
        name_ticks(ax.xaxis, coefficients.names)
    shown_part = f"first {size} of " if size < coefficients.n_features else ""
    ax.set(
        xlim=(-0.02 * size - 0.5, 1.02 * size - 0.5),
        xlabel=f"{shown_part}{coefficients.n_features} features, in the order of the columns",
        ylabel="rise of the prediction with one\nstandard deviation of the feature",
    )
    _scale(ax, values)
    ax.grid(alpha=0.3, axis="y")


def _scale(ax: "Axes", values: FloatArray) -> None:
    """Make room for small values where a few large ones would flatten them: a logarithmic axis."""
    linear = linear_until(values, _FLAT)
    if linear is None:
        return
    ax.set_yscale("symlog", linthresh=linear)
    ax.set_ylim(2 * min(values.min(), -linear), 2 * max(values.max(), linear))
    ax.yaxis.set_major_formatter(lambda value, _: short_number(value))
    ax.set_ylabel(f"{ax.get_ylabel()},\nlogarithmic away from zero")


def _largest(groups: Any) -> list[int]:
    """Give the largest groups of at least two features, as many as there are colours."""
    numbers, sizes = np.unique(groups[groups >= 0], return_counts=True)
    order = np.argsort(-sizes, kind="stable")[: len(_LOOKS)]
    return [int(numbers[k]) for k in order if sizes[k] > 1]


def _label(coefficients: Coefficients, members: Any) -> str:
    name = shown(coefficients.names[members[0]], _LONGEST_NAME)
    if len(coefficients.names) < coefficients.n_features:
        return f"group of {name}"  # it may have more features than are shown
    return f"group of {name} ({members.size} features)"
