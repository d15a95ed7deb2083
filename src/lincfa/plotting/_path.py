"""Scores against the number of groups."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..report._findings import Samples, ScorePath, score_path
from ..theory._arrays import FloatArray
from ._figures import GREY, STRATEGY_COLORS, axes_or_new, focus, ink, legend_above

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST_TICKS = 3
_MARGIN = 1.15


def plot_path(
    model: Any,
    X: Any = None,
    y: Any = None,
    X_test: Any = None,
    y_test: Any = None,
    *,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw scores against the number of groups; a ring marks the model.

    For :class:`LinCFACV` the scores of its search, one line per strategy, with bars of one standard
    error. For :class:`LinCFA` with a path of merges (``"agglomerative"`` and ``"joint"``), R² of
    linear regressions on the groups that other cuts of the path give.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    X, y : arrays or data frames, default=None
        The data of the fit; LinCFACV needs none.
    X_test, y_test : arrays or data frames, default=None
        Samples to score on; LinCFACV needs none.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, which belongs to no window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    model._check_is_fitted()
    reducer = getattr(model, "reducer_", model)
    train = Samples.of_fit(model, X, y)
    test = Samples.of_test(model, X_test, y_test)
    path = score_path(model, reducer, train, test)
    if path is None and not hasattr(reducer, "merge_path_"):
        raise ValueError(
            f"strategy={reducer.strategy!r} leaves no path to draw; LinCFA with strategy="
            "'agglomerative' or 'joint' does, and LinCFACV."
        )
    if path is None:
        raise ValueError(
            "The path of a LinCFA is scored when it is drawn: give X, y, X_test and y_test."
        )
    ax = axes_or_new(ax, 7, 4.4)
    draw_path(path, ax)
    return ax


def draw_path(path: ScorePath, ax: "Axes") -> None:
    """Draw the scores of each strategy, and a ring around the choice."""
    handles, labels = [], []
    for curve in path.curves:
        color = STRATEGY_COLORS.get(curve.strategy, GREY)
        (line,) = ax.plot(
            curve.n_groups, curve.score, "o-", color=color, linewidth=1.2, markersize=4
        )
        known = np.isfinite(curve.error)
        if known.any():
            ax.errorbar(
                curve.n_groups[known],
                curve.score[known],
                curve.error[known],
                fmt="none",
                ecolor=color,
                elinewidth=0.7,
            )
        handles.append(line)
        labels.append(curve.strategy)
    if len(handles) == 1:
        handles, labels = [], []  # nothing to tell apart
    (ring,) = ax.plot(*path.chosen, "o", markersize=14, mfc="none", mec=ink())
    legend_above(ax, [*handles, ring], [*labels, path.chosen_name])
    numbers = np.concatenate([curve.n_groups for curve in path.curves])
    focus(ax, np.concatenate([curve.score for curve in path.curves]), path.chosen[1])
    low, high = float(numbers.min()) / _MARGIN, float(numbers.max()) * _MARGIN
    ax.set_xscale("log")
    ticks = _ticks(low, high)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set(xlim=(low, high), xlabel="number of groups", ylabel=path.score_name)
    ax.grid(alpha=0.3)


def _ticks(low: float, high: float) -> FloatArray:
    """Give round numbers within the limits: 1, 2, 5, 10, …, or others where these are too few."""
    from matplotlib.ticker import MaxNLocator

    tens = 10.0 ** np.arange(0, np.ceil(np.log10(high)) + 1)
    round_numbers = np.sort(np.concatenate([tens, 2 * tens, 5 * tens]))
    within = round_numbers[(round_numbers >= low) & (round_numbers <= high)]
    if within.size < _FEWEST_TICKS:
        even = np.asarray(MaxNLocator(nbins=6, integer=True).tick_values(low, high))
        even = even[(even >= low) & (even <= high)]
        whole = even == even.round()
        within = even[whole] if whole.any() else even  # means over folds may lie between
    return np.asarray(within)
