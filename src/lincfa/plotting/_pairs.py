"""Correlations of the features, and pairs of them against the threshold for merging."""

from math import floor, log10
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._model._parameters import is_count
from ..report._groups import CorrelationMatrix, Pairs, collect_pairs, correlate_by_group
from ..report._inputs import Observations, fitted_reducer, open_features, open_training
from ..theory._arrays import FloatArray
from ._figures import (
    BLUE,
    GREY,
    MARKS_DRAWN,
    NAMES_SHOWN,
    VERMILION,
    axes_or_new,
    ink,
    legend_above,
    mark_size,
    name_ticks,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST = 2
_LINES = 50  # across the matrix, at most
_STRIP = 0.1  # width of the strip for pairs that need no correlation, as a share of the rest
_NARROWEST = 1e-6


def plot_correlation(model: Any, X: Any, *, limit: int = 240, ax: "Axes | None" = None) -> "Axes":
    """Draw the correlations of the features, ordered by group, the largest group first.

    Lines mark the ends of groups that are large enough to be seen.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    X : array, data frame or field of shape (n_samples, n_features)
        Samples to correlate: the training data, or others.
    limit : int, default=240
        Most features shown; of more, every k-th.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, without a window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    reducer = fitted_reducer(model)
    if not is_count(limit) or limit < _FEWEST:
        raise ValueError(f"limit must be an integer of at least {_FEWEST}, got {limit!r}")
    values, *_ = open_features(model, X)
    if len(values) < _FEWEST:
        raise ValueError(f"X has {len(values)} sample; correlations need at least {_FEWEST}.")
    samples = Observations(values, np.zeros(len(values)))
    ax = axes_or_new(ax, 6.2, 5.2, square=True)
    draw_correlation(correlate_by_group(reducer, samples, limit), ax)
    return ax


def draw_correlation(matrix: CorrelationMatrix, ax: "Axes") -> None:
    """Draw a correlation matrix."""
    size = len(matrix.names)
    # Without interpolation, SVG stores one pixel per pair and stays sharp.
    image = ax.imshow(matrix.values, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="none")
    bar = ax.figure.colorbar(image, ax=ax, label="correlation", shrink=0.9)
    bar.outline.set_visible(False)
    ends = _group_ends(matrix.groups)
    # Dark on a dark page too: the lines are on the matrix, not on the page.
    line = {"color": "#333333", "linewidth": 0.7}
    ax.hlines(ends, -0.5, size - 0.5, **line)  # type: ignore[arg-type]
    ax.vlines(ends, -0.5, size - 0.5, **line)  # type: ignore[arg-type]
    ax.spines[:].set_visible(False)
    if size <= NAMES_SHOWN:
        name_ticks(ax.xaxis, matrix.names)
        name_ticks(ax.yaxis, matrix.names)
        ax.tick_params(length=0)
    else:
        ax.set(xticks=[], yticks=[])
    groups = len(np.unique(matrix.groups))
    if size < matrix.n_features:
        label = f"{size} of {matrix.n_features} features, largest group first"
    else:
        label = f"{size} feature{'s' * (size != 1)} in {groups} group{'s' * (groups != 1)}"
        label += ", largest first" if groups > 1 else ""
    ax.set(xlabel=label, ylabel="the same features")


def _group_ends(groups: npt.NDArray[np.intp]) -> FloatArray:
    """Return the positions between features where a group ends that is large enough to be seen."""
    if groups.size == 0:
        return np.empty(0)
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    sizes = np.diff(starts, append=groups.size)
    # Lines between single features would mean nothing, and many lines would hide the matrix.
    ends = (starts + sizes)[sizes >= max(2, groups.size / _LINES)]
    return np.asarray(ends[ends < groups.size] - 0.5)


def plot_thresholds(
    model: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the actual correlation of pairs against the correlation required to merge.

    Pairs on or above the diagonal pass, unless their correlation is below ``min_correlation``.
    Pairs that pass at any correlation are in the strip at the left.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted, with a strategy other than ``"joint"``.
    X, y : arrays or data frames, default=None
        The training data, for pairs that nearly merged; None for merged pairs only.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, without a window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    reducer = fitted_reducer(model)
    if reducer.strategy == "joint":
        raise ValueError(
            "The joint strategy has no thresholds to draw: it decides by a regression on all "
            "groups, not pair by pair."
        )
    pairs = collect_pairs(reducer, open_training(model, X, y))
    ax = axes_or_new(ax, 6.4, 5)
    draw_thresholds(pairs, ax)
    return ax


def draw_thresholds(pairs: Pairs, ax: "Axes") -> None:
    """Draw merged pairs, and those that nearly merged."""
    min_correlation = pairs.min_correlation
    tables = [("merged", pairs.merged, BLUE, "o")]
    if pairs.near is not None:
        tables.append(("not merged, closest", pairs.near, VERMILION, "D"))
    threshold = np.concatenate([table.threshold for _, table, _, _ in tables])
    correlation = np.concatenate([table.correlation for _, table, _, _ in tables])
    low = _axis_start(threshold[threshold >= -1])
    reached = correlation if min_correlation is None else np.append(correlation, min_correlation)
    bottom = _axis_start(reached)
    strip = low - _STRIP * (1 - low)
    handles: list[Any] = []
    labels = []
    for what, table, color, marker in tables:
        handles.append(
            ax.scatter(
                _x_positions(table.threshold, strip, low),
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
        size = len(table.first)
        count = f"{size} of {table.total}" if size < table.total else f"{size}"
        labels.append(f"{what} ({count})")
    (diagonal,) = ax.plot([low, 1], [low, 1], "--", color=ink(), linewidth=0.9)
    handles.append(diagonal)
    labels.append("threshold: pairs on or above it pass")
    if min_correlation is not None:
        handles.append(ax.axhline(min_correlation, color=ink(), linestyle=":", linewidth=0.9))
        labels.append("min_correlation: no merges below")
    left, ticks = low, _ticks(low)
    tick_labels = _tick_labels(ticks)
    if (threshold < -1).any():
        left = strip
        ax.axvspan(strip, low, color=GREY, alpha=0.15, linewidth=0)
        ticks, tick_labels = np.append(ticks, (strip + low) / 2), [*tick_labels, "any"]
    ax.set_xticks(ticks, tick_labels)
    heights = _ticks(bottom)
    ax.set_yticks(heights, _tick_labels(heights))
    ax.set(
        xlim=(left, 1 + 0.02 * (1 - low)),
        ylim=(bottom, 1 + 0.02 * (1 - bottom)),
        xlabel="correlation required to merge",
        ylabel="actual correlation",
    )
    ax.grid(alpha=0.3)
    legend_above(ax, handles, labels)


def _axis_start(values: FloatArray) -> float:
    """Return where an axis that ends at 1 begins: a little below all values."""
    reach = max(_NARROWEST, 1 - values.min()) if values.size else 1.0
    return float(1 - 1.06 * reach)


def _x_positions(threshold: FloatArray, strip: float, low: float) -> FloatArray:
    """Return the thresholds, or positions within the strip if any correlation would do."""
    # Spread by the golden ratio, so that pairs in the strip do not hide each other.
    spread = np.arange(threshold.size) * 0.6180339887498949 % 1
    within = strip + (low - strip) * (0.15 + 0.7 * spread)
    return np.asarray(np.where(threshold < -1, within, threshold))


def _ticks(low: float) -> FloatArray:
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]).tick_values(low, 1))
    return np.asarray(ticks[(ticks >= low) & (ticks <= 1 + 1e-12)])


def _tick_labels(ticks: FloatArray) -> list[str]:
    """Format ticks with enough decimals to distinguish them, and without an offset."""
    step = float(np.diff(ticks).min()) if ticks.size > 1 else 1.0
    count = max(1, -floor(log10(step) + 1e-6))
    return [f"{tick:.{count}f}".replace("-", "−") for tick in ticks]
