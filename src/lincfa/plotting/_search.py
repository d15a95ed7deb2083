"""The scores of a search."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._lincfa_cv import LinCFACV
from .._search._choice import standard_errors
from ._figures import STRATEGY_COLORS, focus, ink, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_search(search: LinCFACV) -> "Figure":
    """Draw the scores of a fitted :class:`LinCFACV` against tolerance and number of groups.

    One line per strategy, with bars of one standard error. A ring marks the choice, hollow points
    the combinations with too many groups to be chosen.

    Parameters
    ----------
    search : LinCFACV
        Fitted.

    Returns
    -------
    matplotlib.figure.Figure
        To show or save; it belongs to no window.
    """
    if not isinstance(search, LinCFACV):
        raise TypeError(f"plot_search draws a LinCFACV, got {type(search).__name__}")
    search._check_is_fitted()
    figure = new_figure(10, 4.2)
    panels = figure.subplots(1, 2, sharey=True)
    results = search.cv_results_
    errors = standard_errors(results)
    for panel, column in zip(panels, ("tolerance", "mean_n_groups"), strict=True):
        for strategy in dict.fromkeys(results["strategy"]):
            rows = np.flatnonzero(results["strategy"] == strategy)
            rows = rows[np.argsort(results[column][rows], kind="stable")]
            _draw_line(panel, results, column, rows, errors, str(strategy))
        best = search.best_index_
        panel.plot(
            results[column][best],
            results["mean_test_score"][best],
            "o",
            markersize=14,
            markerfacecolor="none",
            markeredgecolor=ink(),
            label="chosen",
        )
        panel.set_xscale("log")
        panel.grid(alpha=0.3)
    focus(panels[0], results["mean_test_score"], results["mean_test_score"][best])
    scoring = search.scoring if isinstance(search.scoring, str) else "score"
    panels[0].set(xlabel="tolerance", ylabel=f"{scoring}, mean of the folds")
    panels[1].set(xlabel="mean number of groups")
    if not results["eligible"].all():
        panels[1].plot([], [], "o", mfc="white", mec="gray", label="too many groups")
    panels[1].legend(frameon=False)
    return figure


def _draw_line(
    panel: Any, results: Any, column: str, rows: Any, errors: Any, strategy: str
) -> None:
    color = STRATEGY_COLORS.get(strategy)
    x, score = results[column][rows], results["mean_test_score"][rows]
    panel.errorbar(
        x, score, errors[rows], color=color, linewidth=1.2, elinewidth=0.6, label=strategy
    )
    eligible = results["eligible"][rows]
    panel.plot(x[eligible], score[eligible], "o", color=color, markersize=4)
    panel.plot(
        x[~eligible],
        score[~eligible],
        "o",
        markersize=4,
        markerfacecolor="white",
        markeredgecolor=color,
    )
