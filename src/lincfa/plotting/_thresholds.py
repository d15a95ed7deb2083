"""Correlation against threshold, for pairs that merged and pairs that nearly did."""

from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from ..report._findings import Pairs, PairTable, Samples, decide_pairs
from ..theory._arrays import FloatArray
from ._figures import BLUE, GREY, MARKS_DRAWN, VERMILION, axes_or_new, ink, legend_above, mark_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STRIP = 0.1
"""Width of the strip for thresholds that any correlation reaches, as a share of the rest."""
_NARROWEST = 1e-6


def plot_thresholds(
    model: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the correlation of pairs against the threshold that it had to reach.

    Pairs above the diagonal merge, unless their correlation is below ``min_correlation``. Where any
    correlation would do, the pair is in the strip at the left.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted, with a strategy other than ``"joint"``.
    X, y : arrays or data frames, default=None
        The data of the fit, for pairs that nearly merged; None for merged pairs alone.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, which belongs to no window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    model._check_is_fitted()
    reducer = getattr(model, "reducer_", model)
    if reducer.strategy == "joint":
        raise ValueError(
            "The joint strategy has no thresholds to draw: it decides in the regression on all "
            "groups, not pair by pair."
        )
    pairs = decide_pairs(reducer, Samples.of_fit(model, X, y))
    ax = axes_or_new(ax, 6.4, 5)
    draw_thresholds(pairs, ax)
    return ax


def draw_thresholds(pairs: Pairs, ax: "Axes") -> None:
    """Draw merged pairs, and those that nearly merged."""
    min_correlation = pairs.min_correlation
    tables = [("merged", pairs.merged, BLUE, "o")]
    if pairs.near is not None:
        tables.append(("kept apart, the nearest", pairs.near, VERMILION, "D"))
    threshold = np.concatenate([table.threshold for _, table, _, _ in tables])
    correlation = np.concatenate([table.correlation for _, table, _, _ in tables])
    low = _lowest(threshold[threshold >= -1])
    reached = correlation if min_correlation is None else np.append(correlation, min_correlation)
    bottom = _lowest(reached)
    strip = low - _STRIP * (1 - low)
    handles: list[Any] = []
    labels = []
    for what, table, color, marker in tables:
        handles.append(
            ax.scatter(
                _places(table.threshold, strip, low),
                table.correlation,
                s=mark_size(correlation.size),
                color=color,
                marker=marker,
                alpha=0.8,
                linewidths=0,
                rasterized=correlation.size > MARKS_DRAWN,
                zorder=2.5,
            )
        )
        labels.append(f"{what} ({_count(table)})")
    (diagonal,) = ax.plot([low, 1], [low, 1], "--", color=ink(), linewidth=0.9)
    handles.append(diagonal)
    labels.append("just enough: above it, pairs merge")
    if min_correlation is not None:
        handles.append(ax.axhline(min_correlation, color=ink(), linestyle=":", linewidth=0.9))
        labels.append("min_correlation: below it, none do")
    left, ticks = low, _ticks(low)
    written = _written(ticks)
    if (threshold < -1).any():
        left = strip
        ax.axvspan(strip, low, color=GREY, alpha=0.15, linewidth=0)
        ticks, written = np.append(ticks, (strip + low) / 2), [*written, "any"]
    ax.set_xticks(ticks, written)
    heights = _ticks(bottom)
    ax.set_yticks(heights, _written(heights))
    ax.set(
        xlim=(left, 1 + 0.02 * (1 - low)),
        ylim=(bottom, 1 + 0.02 * (1 - bottom)),
        xlabel="threshold: the correlation that is enough",
        ylabel="correlation of the pair",
    )
    ax.grid(alpha=0.3)
    legend_above(ax, handles, labels)


def _lowest(values: FloatArray) -> float:
    """Where an axis that ends at 1 begins: a little below all values."""
    reach = max(_NARROWEST, 1 - values.min()) if values.size else 1.0
    return float(1 - 1.06 * reach)


def _places(threshold: FloatArray, strip: float, low: float) -> FloatArray:
    """Places on the axis: the threshold, or anywhere within the strip."""
    # Spread by the golden ratio, so that pairs in the strip do not hide each other.
    spread = np.arange(threshold.size) * 0.6180339887498949 % 1
    within = strip + (low - strip) * (0.15 + 0.7 * spread)
    return np.asarray(np.where(threshold < -1, within, threshold))


def _count(table: PairTable) -> str:
    size = len(table.first)
    return f"{size} of {table.total}" if size < table.total else str(size)


def _ticks(low: float) -> FloatArray:
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]).tick_values(low, 1))
    return np.asarray(ticks[(ticks >= low) & (ticks <= 1 + 1e-12)])


def _written(ticks: FloatArray) -> list[str]:
    """Write ticks with the decimals that tell them apart, and without an offset at the corner."""
    step = float(np.diff(ticks).min()) if ticks.size > 1 else 1.0
    count = max(1, -floor(log10(step) + 1e-6))
    return [f"{tick:.{count}f}".replace("-", "−") for tick in ticks]
