"""Scores against the number of groups and the tolerance, of a path of merges or of a search."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._lincfa_cv import LinCFACV
from .._search._choice import standard_errors
from ..report._inputs import fitted_reducer, open_test, open_training
from ..report._scores import ScorePath, score_path
from ..theory._arrays import FloatArray
from ._figures import GREY, STRATEGY_COLORS, axes_or_new, focus, ink, legend_above, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FEWEST_TICKS = 3
_MARGIN = 1.15
_RING: dict[str, Any] = {"marker": "o", "markersize": 14, "markerfacecolor": "none"}


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

    For :class:`LinCFACV`, the scores of its search, one line per strategy, with bars of one
    standard error. For :class:`LinCFA` with a merge path (``"agglomerative"`` and ``"joint"``), R²
    of linear regressions on the groups at different cuts of the path.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    X, y : arrays or data frames, default=None
        The training data; not needed for LinCFACV.
    X_test, y_test : arrays or data frames, default=None
        Samples to score on; not needed for LinCFACV.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, without a window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    reducer = fitted_reducer(model)
    train, test = open_training(model, X, y), open_test(model, X_test, y_test)
    path = score_path(model, reducer, train, test)
    if path is None and not hasattr(reducer, "merge_path_"):
        raise ValueError(
            f"strategy={reducer.strategy!r} has no path to draw; use LinCFA with "
            "strategy='agglomerative' or 'joint', or LinCFACV."
        )
    if path is None:
        raise ValueError("To score the path of a LinCFA, pass X, y, X_test and y_test.")
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
        handles, labels = [], []  # nothing to distinguish
    (ring,) = ax.plot(*path.chosen, linestyle="none", markeredgecolor=ink(), **_RING)
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
    """Return round numbers within the limits: 1, 2, 5, 10, …, or others if these are too few."""
    from matplotlib.ticker import MaxNLocator

    tens = 10.0 ** np.arange(0, np.ceil(np.log10(high)) + 1)
    round_numbers = np.sort(np.concatenate([tens, 2 * tens, 5 * tens]))
    within = round_numbers[(round_numbers >= low) & (round_numbers <= high)]
    if within.size < _FEWEST_TICKS:
        even = np.asarray(MaxNLocator(nbins=6, integer=True).tick_values(low, high))
        even = even[(even >= low) & (even <= high)]
        whole = even == even.round()
        within = even[whole] if whole.any() else even  # means over folds may be fractions
    return np.asarray(within)


def plot_search(search: LinCFACV) -> "Figure":
    """Draw the scores of a fitted :class:`LinCFACV` against tolerance and number of groups.

    One line per strategy, with bars of one standard error. A ring marks the choice; hollow points
    have too many groups to be chosen.

    Parameters
    ----------
    search : LinCFACV
        Fitted.

    Returns
    -------
    matplotlib.figure.Figure
        To show or save; it has no window.
    """
    if not isinstance(search, LinCFACV):
        raise TypeError(f"plot_search draws a LinCFACV, got {type(search).__name__}")
    fitted_reducer(search)
    figure = new_figure(10, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    results, best = search.cv_results_, search.best_index_
    score, eligible = results["mean_test_score"], results["eligible"]
    errors = standard_errors(results)
    for panel, column in zip(panels, ("tolerance", "mean_n_groups"), strict=True):
        x = results[column]
        for strategy in dict.fromkeys(results["strategy"]):
            color = STRATEGY_COLORS.get(str(strategy))
            rows = np.flatnonzero(results["strategy"] == strategy)
            rows = rows[np.argsort(x[rows], kind="stable")]
            line = {"linewidth": 1.2, "elinewidth": 0.6, "label": str(strategy)}
            panel.errorbar(x[rows], score[rows], errors[rows], color=color, **line)
            for chosen, face in ((rows[eligible[rows]], color), (rows[~eligible[rows]], "white")):
                points = {"markersize": 4, "markerfacecolor": face, "markeredgecolor": color}
                panel.plot(x[chosen], score[chosen], "o", **points)
        ring = _RING | {"markeredgecolor": ink(), "label": "chosen"}
        panel.plot(x[best], score[best], linestyle="none", **ring)
        panel.set_xscale("log")
        panel.grid(alpha=0.3)
    focus(panels[0], score, score[best])
    scoring = search.scoring if isinstance(search.scoring, str) else "score"
    panels[0].set(xlabel="tolerance", ylabel=f"{scoring}, mean over folds")
    panels[1].set(xlabel="mean number of groups")
    if not eligible.all():
        panels[1].plot([], [], "o", mfc="white", mec="gray", label="too many groups")
    panels[1].legend(frameon=False)
    return figure
