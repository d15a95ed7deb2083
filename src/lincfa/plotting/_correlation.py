"""The correlations of the features, group after group."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .._data._input import check_finite, validate_new
from .._model._parameters import is_count
from ..report._findings import CorrelationMatrix, Samples, correlate_by_group
from ._figures import NAMES_SHOWN, axes_or_new, name_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEWEST = 2
_LINES = 50  # across the picture, at most


def plot_correlation(model: Any, X: Any, *, limit: int = 240, ax: "Axes | None" = None) -> "Axes":
    """Draw the correlations of the features, ordered by group, the largest group first.

    Lines mark where a group ends, for groups that are large enough to be seen.

    Parameters
    ----------
    model : LinCFA or LinCFACV
        Fitted.
    X : array, data frame or field of shape (n_samples, n_features)
        Samples to correlate: those of the fit, or others.
    limit : int, default=240
        Most features shown; of more, every few-th.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure, which belongs to no window.

    Returns
    -------
    matplotlib.axes.Axes
    """
    model._check_is_fitted()
    if not is_count(limit) or limit < _FEWEST:
        raise ValueError(f"limit must be an integer of at least {_FEWEST}, got {limit!r}")
    with model._known(X) as (table, *_):
        values, columns = validate_new(model, table)
        check_finite(values, columns)
    if len(values) < _FEWEST:
        raise ValueError(f"X has {len(values)} sample; correlations take at least {_FEWEST}.")
    samples = Samples(values, np.zeros(len(values)))
    ax = axes_or_new(ax, 6.2, 5.2, square=True)
    draw_correlation(correlate_by_group(getattr(model, "reducer_", model), samples, limit), ax)
    return ax


def draw_correlation(matrix: CorrelationMatrix, ax: "Axes") -> None:
    """Draw a matrix of correlations."""
    size = len(matrix.names)
    # Without interpolation a page gets one dot per pair, and keeps them sharp.
    image = ax.imshow(matrix.values, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="none")
    bar = ax.figure.colorbar(image, ax=ax, label="correlation", shrink=0.9)
    bar.outline.set_visible(False)
    ends = group_ends(matrix.groups)
    # On the colours of the matrix, not on the page: dark on a dark page too.
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
    ax.set(xlabel=_what_is_shown(matrix), ylabel="the same features")


def group_ends(groups: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """Places between two features where a group ends or begins that is large enough to be seen."""
    if groups.size == 0:
        return np.empty(0)
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    sizes = np.diff(starts, append=groups.size)
    # Between groups of a single feature a line would say nothing, and many would hide the matrix.
    ends = (starts + sizes)[sizes >= max(2, groups.size / _LINES)]
    return np.asarray(ends[ends < groups.size] - 0.5)


def _what_is_shown(matrix: CorrelationMatrix) -> str:
    size, groups = len(matrix.names), len(np.unique(matrix.groups))
    if size < matrix.n_features:
        return f"{size} of {matrix.n_features} features, the largest group first"
    written = f"{size} feature{'s' * (size != 1)} in {groups} group{'s' * (groups != 1)}"
    return f"{written}, the largest first" if groups > 1 else written
