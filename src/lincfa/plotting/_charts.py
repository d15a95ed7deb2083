"""Figures of coefficients, correlations, thresholds and scores."""

from dataclasses import dataclass
from math import floor, log10
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import r2_score

from .._data._checks import real_numbers
from .._data._dates import Dates
from .._data._names import shown
from .._model._display import decimals
from .._model._inference import Inference
from .._model._observations import (
    Observations,
    fitted_reducer,
    open_features,
    open_samples,
    share_missing,
)
from .._model._parameters import is_count
from .._model._regression import linear_coefficients
from .._search._choice import standard_errors, ways_of_merging
from .._search._estimator import GroupSearch
from ..report._classes import Confusion, Roc, confuse, trace_roc
from ..report._groups import CorrelationMatrix, Pairs, collect_pairs, correlate_by_group
from ..report._inputs import open_training, title_of_target
from ..report._scores import (
    EFFECTS_SHOWN,
    Coefficients,
    Predictions,
    ScorePath,
    describe_coefficients,
    effect_of_groups,
    score_name,
    score_path,
    scored_ways,
)
from ..report._spectra import report_spectrum
from ..theory._arrays import FloatArray
from ._figures import (
    BLUE,
    GREY,
    LETTER,
    MARKS_DRAWN,
    NAMES_SHOWN,
    RED,
    SERIES,
    STRATEGY_COLORS,
    SYMLOG,
    VERMILION,
    abbreviated,
    axes_or_new,
    effect,
    few_ticks,
    given_axes,
    inches,
    ink,
    legend_above,
    linear_threshold,
    mark_size,
    name_ticks,
    one_or_several,
    pyplot_figure,
    score_limits,
    short_number,
)
from ._spectra import draw_band_effects

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROW = 0.21  # inches: height of the bar of a group
_LONGEST_GROUP = 32  # letters of the name of a group
_FLAT = 50  # largest value over the median, beyond which half of the values look like zero
_LONGEST_NAME = 20
_FEWEST = 2  # samples and features with correlations
_LINES = 50  # across the matrix, at most
_STRIP = 0.1  # width of the strip for pairs that need no correlation, as a share of the rest
_NARROWEST = 1e-6
_FEWEST_TICKS, _MOST_TICKS = 3, 8
_MARGIN = 1.15
_DATES = 6  # most ticks at an axis of dates: those that fit into a column
_DECADES = 4  # most powers of ten at an axis of penalties
_DARK = 0.6  # share from which a cell has white numbers
_RING: dict[str, Any] = {"marker": "o", "markersize": 12, "markerfacecolor": "none"}


# Coefficients


def plot_coefficients(
    model: Any, coef: Any = None, *, target: Any = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the effects of the groups on the prediction, by name.

    An effect is the change in the prediction, for classes in the log odds, when the mean of the
    group rises by one standard deviation of the training samples and no other mean changes. Bars
    show the 30 groups with the largest effects, the largest first: red where the prediction rises,
    blue where it falls. Of a spectrum, whose features have wavelengths as names, the effects are
    drawn along the wavelengths.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted.
    coef : array of shape (n_groups_,) or (n_targets, n_groups_), default=None
        Coefficients of a linear model on the reduced features; None for those of the ``estimator_``
        of a search.
    target : str or int, default=None
        Which of several targets or classes, by name or number; required if there are several.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.

    Examples
    --------
    >>> import pandas as pd
    >>> from lincfa import LinCFACV
    >>> from lincfa.datasets import make_correlated
    >>> from lincfa.plotting import plot_coefficients
    >>> X, y = make_correlated(n_features=6, random_state=0)
    >>> X = pd.DataFrame(X, columns=["rain", "snow", "heat", "wind", "sun", "fog"])
    >>> model = LinCFACV(min_correlations=[0.8]).fit(X, y)
    >>> ax = plot_coefficients(model)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['rain, snow, heat', 'wind, sun', 'fog']
    """
    reducer, coef, name = check_coefficients(model, coef, target)
    effects = describe_coefficients(reducer, effect_of_groups(reducer, coef, None), name)
    spectrum = report_spectrum(reducer)
    if spectrum is not None:
        ax = axes_or_new(ax, 8, 3)
        draw_band_effects(spectrum, effects, ax)
    else:
        ax = axes_or_new(ax, *coefficients_size(effects, 7))
        draw_coefficients(effects, ax)
    return ax


def check_coefficients(model: Any, coef: Any, target: Any = None) -> tuple[Any, FloatArray, str]:
    """Return the fitted LinCFA, and for one target its coefficients and its name."""
    reducer = fitted_reducer(model)
    if coef is None:
        own = linear_coefficients(getattr(model, "estimator_", None), reducer.n_groups_)
        if own is None:
            raise ValueError(
                "coef is required: the coefficients of a linear model on the reduced features. "
                "Only a search with a linear estimator has its own."
            )
        given = own[0]
    else:
        given = real_numbers(coef, "coef")
        if not np.isfinite(given).all():
            raise ValueError("coef must be finite.")
    if given.shape == (1, reducer.n_groups_):  # the target was a matrix of one column
        given = given[0]
    several = reducer._targets.size > 1
    if several and given.shape == (reducer._targets.size, reducer.n_groups_):
        number = _number(reducer, target)
        return reducer, given[number], title_of_target(reducer._targets, number)
    if given.shape != (reducer.n_groups_,):
        raise ValueError(
            f"coef must have one coefficient per reduced feature, shape ({reducer.n_groups_},), "
            f"got {given.shape}."
        )
    if several and target is None:  # whose coefficients these are is not known
        return reducer, given, ""
    return reducer, given, title_of_target(reducer._targets, _number(reducer, target))


def _number(reducer: Any, target: Any) -> int:
    """Return the number of a target that is given by name or number; of a single one 0."""
    noun = "targets" if reducer._targets.classes is None else "classes"
    return _number_of(reducer.target_names_, target, noun)


def _number_of(names: list[str], target: Any, noun: str = "targets") -> int:
    if len(names) == 1:
        return 0
    listed = ", ".join(map(repr, names[:10])) + (", …" if len(names) > 10 else "")
    if target is None:
        raise ValueError(
            f"There are {len(names)} {noun}: choose one with target=, by name or number, of "
            f"{listed}."
        )
    if str(target) in names:
        return names.index(str(target))
    if target not in range(len(names)) or isinstance(target, bool):
        raise ValueError(f"There is no target {target!r}; the {noun} are {listed}.")
    return int(target)


def coefficients_size(coefficients: Coefficients, width: float) -> tuple[float, float]:
    """Return the size of a figure of the effects of groups, in inches, as high as it takes."""
    return width, 1.0 + _ROW * min(len(coefficients.names), EFFECTS_SHOWN)


def draw_coefficients(coefficients: Coefficients, ax: "Axes") -> None:
    """Draw a bar for each group with a large effect, the largest first."""
    values, rows = largest_effects(coefficients)
    names = [abbreviated(coefficients.names[k], _LONGEST_GROUP) for k in rows]
    colors = np.where(values > 0, RED, BLUE).tolist()
    ax.barh(range(len(rows)), values, height=0.7, color=colors)
    ax.axvline(0, color=ink(), linewidth=0.8)
    ax.set_yticks(range(len(rows)), names, fontsize="small", parse_math=False, usetex=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.spines[["top", "right", "left"]].set_visible(False)
    words = effect(coefficients.changed, "group's mean")
    ax.set_xlabel(words, loc="right", parse_math=False, usetex=False)
    _scale(ax, values)
    ax.grid(alpha=0.3, axis="x")


def largest_effects(coefficients: Coefficients) -> tuple[FloatArray, list[int]]:
    """Return the effects that are drawn, the largest first, and the numbers of their groups."""
    order = np.argsort(-np.abs(coefficients.values), kind="stable")[:EFFECTS_SHOWN]
    return coefficients.values[order], order.tolist()


def _scale(ax: "Axes", values: FloatArray) -> None:
    """Use a logarithmic axis if a few large values would flatten the small ones."""
    linear = linear_threshold(values, _FLAT)
    if linear is None:
        ax.xaxis.set_major_locator(few_ticks(ax))
        return
    ax.set_xscale("symlog", linthresh=linear)
    ax.set_xlim(2 * min(values.min(), -linear), 2 * max(values.max(), linear))
    ax.xaxis.set_major_formatter(lambda value, _: short_number(value))
    ax.set_xlabel(ax.get_xlabel() + SYMLOG)


def plot_inference(
    inference: Inference,
    *,
    model: Any = None,
    target: Any = None,
    limit: int = 60,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the weight of each group with its interval, the largest effects first.

    A weight is the change in the target per standard deviation of the reduced feature. Filled marks
    are clearly not 0: their p-values, adjusted for the number of weights, are below one minus the
    level of the intervals.

    Parameters
    ----------
    inference : Inference
        From the method ``inference`` of a fitted model.
    model : LinCFACV, default=None
        To mark the weights of its own ``estimator_``, too, which are shrunken.
    target : str or int, default=None
        Which of several targets, by name or number; required if there are several.
    limit : int, default=60
        Most weights to draw; a note says how many are left out.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.

    Examples
    --------
    >>> from lincfa import LinCFACV
    >>> from lincfa.datasets import make_correlated
    >>> from lincfa.plotting import plot_inference
    >>> X, y = make_correlated(n_samples=400, n_features=30, random_state=0)
    >>> model = LinCFACV(rule="one_standard_error").fit(X[:200], y[:200])
    >>> ax = plot_inference(model.inference(X[200:], y[200:]), model=model)
    >>> len(ax.get_yticks()) == model.n_groups_
    True
    """
    if not is_count(limit):
        raise ValueError(f"limit must be a positive integer, got {limit!r}.")
    number = _number_of(list(inference.targets), target)
    own = None if model is None else _own_weights(inference, model, number)
    ax = axes_or_new(ax, 9, 1.6 + 0.24 * min(limit, len(inference.names)))
    _draw_inference(inference, ax, number=number, own=own, limit=limit)
    return ax


def _own_weights(inference: Inference, model: Any, number: int) -> FloatArray:
    """Return the weights of a model's own regression for a target, per standard deviation."""
    if tuple(fitted_reducer(model).get_feature_names_out()) != inference.names:
        raise ValueError("model has other groups than those of the inference.")
    _, coef, _ = check_coefficients(model, None, number)
    return coef * inference.scale


def _draw_inference(
    inference: Inference,
    ax: "Axes",
    *,
    number: int = 0,
    own: FloatArray | None = None,
    limit: int = 60,
) -> None:
    """Draw an interval for each weight of a target, with the model's own weights beside it."""
    scaled = inference.per_standard_deviation()
    estimate, low, high, adjusted = (
        np.atleast_2d(getattr(scaled, name))[number]
        for name in ("estimate", "low", "high", "adjusted_p_value")
    )
    known = np.flatnonzero(~np.isnan(estimate))
    order = known[np.argsort(-np.abs(estimate[known]), kind="stable")][:limit]
    places = np.arange(order.size)
    ax.axvline(0, color=ink(), linewidth=0.8)
    clear = adjusted[order] < 1 - inference.level
    interval, rest = f"{100 * inference.level:g} % interval", round(1 - inference.level, 10)
    entries: list[tuple[Any, str]] = []
    for chosen, color, face, label in (
        (clear, BLUE, BLUE, f"{interval}, adjusted p < {rest:g}"),
        (~clear, GREY, ax.get_facecolor(), f"{interval}, adjusted p ≥ {rest:g}"),
    ):
        if not chosen.any():
            continue
        rows = order[chosen]
        lines = ax.hlines(places[chosen], low[rows], high[rows], colors=color, linewidth=2)
        ax.scatter(
            estimate[rows], places[chosen], s=28, facecolors=face, edgecolors=color, zorder=3
        )
        entries.append((lines, label))
    if own is not None:
        marks = ax.scatter(own[order], places, s=70, color=VERMILION, marker="|", zorder=3.5)
        entries.append((marks, "weight in the model"))
    if entries:
        legend_above(ax, entries)
    ax.set_ylim(order.size - 0.5, -0.5)
    name_ticks(ax.yaxis, [inference.names[k] for k in order], _LONGEST_GROUP)
    left_out, lost = known.size - order.size, estimate.size - known.size
    notes = [f"{left_out} smaller weights left out"] * (left_out > 0)
    notes += [f"{lost} unknown"] * (lost > 0)
    several = len(inference.targets) > 1
    changed = shown(inference.targets[number], _LONGEST_NAME) if several else "target"
    label = effect(changed, "mean") + (f"\n({', '.join(notes)})" if notes else "")
    ax.set_xlabel(label, parse_math=False, usetex=False)
    ax.grid(alpha=0.3, axis="x")


# Correlations and thresholds


def plot_correlation(model: Any, X: Any, *, limit: int = 240, ax: "Axes | None" = None) -> "Axes":
    """Draw the correlations of the features, ordered by group, the largest group first.

    Lines mark the ends of groups that are large enough to be seen, and names are beside those with
    room for them. Colours span the range of the correlations, with white at the smallest, or at 0
    if some are negative. Features whose sign the model has flipped are correlated with it flipped.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted.
    X : array, data frame or field of shape (n_samples, n_features)
        Samples to correlate: the training data, or others.
    limit : int, default=240
        Most features shown; of more, every k-th.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_correlated
    >>> from lincfa.plotting import plot_correlation
    >>> X, y = make_correlated(n_samples=200, n_features=20, random_state=0)
    >>> ax = plot_correlation(LinCFA().fit(X, y), X)
    >>> ax.images[0].get_array().shape
    (20, 20)
    """
    reducer = fitted_reducer(model)
    if not is_count(limit) or limit < _FEWEST:
        raise ValueError(f"limit must be an integer of at least {_FEWEST}, got {limit!r}")
    values, *_ = open_features(model, X)
    if len(values) < _FEWEST:
        raise ValueError(f"X has {len(values)} sample; correlations need at least {_FEWEST}.")
    missing = share_missing(model, values)
    samples = Observations(values, np.zeros(len(values)), missing=missing)
    ax = axes_or_new(ax, 6.2, 5.2, square=True)
    draw_correlation(correlate_by_group(reducer, samples, limit), ax)
    return ax


def draw_correlation(matrix: CorrelationMatrix, ax: "Axes") -> None:
    """Draw a correlation matrix in the colours of its range, with the names of large groups."""
    size = len(matrix.names)
    low, high = float(matrix.values.min()), float(matrix.values.max())
    # White is no correlation where some are negative, and else the smallest.
    scale: dict[str, Any] = {"cmap": "Reds", "vmin": min(low, high - _NARROWEST), "vmax": high}
    if low < 0:
        furthest = max(-low, high)
        scale = {"cmap": "RdBu_r", "vmin": -furthest, "vmax": furthest}
    # Without interpolation, SVG stores one pixel per pair and stays sharp.
    image = ax.imshow(matrix.values, interpolation="none", **scale)
    bar = ax.figure.colorbar(
        image, ax=ax, location="bottom", label="correlation", aspect=30, shrink=0.9, pad=0.02
    )
    bar.outline.set_visible(False)
    bar.ax.set_xlim(min(low, high - _NARROWEST), high)
    bar.locator = few_ticks(ax)
    bar.update_ticks()
    starts, sizes = _blocks(matrix.groups)
    ends = _group_ends(starts, sizes)
    for color, width in (("#fdfdfd", 1.8), ("#333333", 0.7)):  # seen on every shade
        line: dict[str, Any] = {"colors": color, "linewidth": width}
        ax.hlines(ends, -0.5, size - 0.5, **line)
        ax.vlines(ends, -0.5, size - 0.5, **line)
    ax.spines[:].set_visible(False)
    middles = starts + (sizes - 1) / 2
    lines = sizes.astype(np.float64) * 72 * min(inches(ax)) / (size * _line_height())
    named = _apart(middles * lines / sizes, lines)
    labels = [_wrapped(matrix.blocks[k], lines[k]) for k in named]
    ax.set_xticks([])
    ax.set_yticks(middles[named], labels, fontsize="small", parse_math=False, usetex=False)
    ax.tick_params(length=0)
    groups = len(matrix.blocks)
    if size < matrix.n_features:
        label = f"{size} of {matrix.n_features} features, largest group first"
    else:
        label = f"{size} feature{'s' * (size != 1)} in {groups} group{'s' * (groups != 1)}"
        label += ", largest first" if groups > 1 else ""
    ax.set_title(label, fontsize="medium")


def _blocks(groups: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where each group starts in the order drawn, and how many features it has there."""
    starts = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1))
    return starts, np.diff(starts, append=groups.size)


def _group_ends(
    starts: npt.NDArray[np.intp], sizes: npt.NDArray[np.intp]
) -> npt.NDArray[np.float64]:
    """Return the positions between features where a group ends that is large enough to be seen."""
    total = sizes.sum()
    # Lines between single features would mean nothing, and many lines would hide the matrix.
    ends = (starts + sizes)[sizes >= max(2, total / _LINES)]
    return np.asarray(ends[ends < total] - 0.5)


def _line_height() -> float:
    from matplotlib.font_manager import FontProperties

    return 1.25 * FontProperties(size="small").get_size_in_points()


def _apart(middles: FloatArray, lines: FloatArray) -> list[int]:
    """Return the blocks beside which a name has room, all in lines of text; large ones first."""
    chosen: list[int] = []
    for block in np.argsort(-lines, kind="stable").tolist():
        distances = np.abs(middles[chosen] - middles[block])
        if lines[block] > 1 / 2 and (distances >= 1).all():
            chosen.append(block)
    return sorted(chosen)


def _wrapped(name: str, lines: float) -> str:
    """Write a name in as many lines as fit, at most two."""
    if lines < 2 or len(name) <= _LONGEST_NAME:
        return abbreviated(name, _LONGEST_NAME)
    return fill(abbreviated(name, 2 * _LONGEST_NAME - 4), _LONGEST_NAME)


def plot_thresholds(
    model: Any, X: Any = None, y: Any = None, *, ax: "Axes | None" = None
) -> "Axes":
    """Draw the actual correlation of pairs against the correlation required to merge.

    Pairs on or above the diagonal pass, unless their correlation is below ``min_correlation``.
    Pairs that pass at any correlation are in the strip at the left.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted, with a strategy other than ``"joint"``.
    X, y : arrays or data frames, default=None
        The training data, for pairs that nearly merged; None for merged pairs only.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_correlated
    >>> from lincfa.plotting import plot_thresholds
    >>> X, y = make_correlated(n_samples=200, n_features=20, random_state=0)
    >>> ax = plot_thresholds(LinCFA().fit(X, y), X, y)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('correlation required to merge', 'actual correlation')
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
    entries: list[tuple[Any, str]] = []
    for what, table, color, marker in tables:
        marks = ax.scatter(
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
        size = len(table.first)
        count = f"{size} of {table.total}" if size < table.total else f"{size}"
        entries.append((marks, f"{what} ({count})"))
    (diagonal,) = ax.plot([low, 1], [low, 1], "--", color=ink(), linewidth=0.9)
    entries.append((diagonal, "threshold: pairs on or above it pass"))
    if min_correlation is not None:
        line = ax.axhline(min_correlation, color=ink(), linestyle=":", linewidth=0.9)
        entries.append((line, "min_correlation: no merges below"))
    left, ticks = low, _correlation_ticks(low)
    tick_labels = _tick_labels(ticks)
    if (threshold < -1).any():
        left = strip
        ax.axvspan(strip, low, color=GREY, alpha=0.15, linewidth=0)
        middle = (strip + low) / 2
        apart = ticks - middle > 1.6 * _STRIP * (1 - low)  # from this label
        tick_labels = [*np.array(tick_labels)[apart].tolist(), "any"]
        ticks = np.append(ticks[apart], middle)
    ax.set_xticks(ticks, tick_labels)
    heights = _correlation_ticks(bottom)
    ax.set_yticks(heights, _tick_labels(heights))
    ax.set(
        xlim=(left, 1 + 0.02 * (1 - low)),
        ylim=(bottom, 1 + 0.02 * (1 - bottom)),
        xlabel="correlation required to merge",
        ylabel="actual correlation",
    )
    ax.grid(alpha=0.3)
    legend_above(ax, entries)


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


def _correlation_ticks(low: float) -> FloatArray:
    from matplotlib.ticker import MaxNLocator

    ticks = np.asarray(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]).tick_values(low, 1))
    return np.asarray(ticks[(ticks >= low) & (ticks <= 1 + 1e-12)])


def _tick_labels(ticks: FloatArray) -> list[str]:
    """Format ticks with enough decimals to distinguish them, and without an offset."""
    step = float(np.diff(ticks).min()) if ticks.size > 1 else 1.0
    count = max(1, -floor(log10(step) + 1e-6))
    return [f"{tick:.{count}f}".replace("-", "−") for tick in ticks]


# Scores


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

    For a search, its scores, one line per strategy, with bars of one standard error. For
    :class:`lincfa.LinCFA` with a merge path (``"agglomerative"`` and ``"joint"``), R² of linear
    regressions on the groups at different cuts of the path, of several targets its mean; for
    classes the accuracy of logistic regressions.

    Parameters
    ----------
    model : LinCFA, LinCFACV or LinCFAClassifierCV
        Fitted.
    X, y : arrays or data frames, default=None
        The training data; not needed for a search.
    X_test, y_test : arrays or data frames, default=None
        Samples to score on; not needed for a search.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.

    Examples
    --------
    >>> from lincfa import LinCFA
    >>> from lincfa.datasets import make_correlated
    >>> from lincfa.plotting import plot_path
    >>> X, y = make_correlated(n_samples=300, n_features=20, random_state=0)
    >>> model = LinCFA(strategy="agglomerative").fit(X[:200], y[:200])
    >>> ax = plot_path(model, X[:200], y[:200], X[200:], y[200:])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('number of groups', 'R²')
    """
    reducer = fitted_reducer(model)
    train = open_training(model, X, y)
    test = open_samples(model, X_test, y_test, ("X_test", "y_test"))
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
    entries = []
    score, error = (
        np.concatenate([getattr(curve, name) for curve in path.curves])
        for name in ("score", "error")
    )
    limits = score_limits(score, error, path.chosen[1])
    for curve in path.curves:
        color = STRATEGY_COLORS.get(curve.strategy, GREY)
        line = _draw_line(ax, limits, curve.n_groups, curve.score, curve.error, color)
        entries.append((line, curve.strategy))
    if len(entries) == 1:
        entries = []  # nothing to distinguish
    (ring,) = ax.plot(*path.chosen, linestyle="none", markeredgecolor=ink(), **_RING)
    legend_above(ax, [*entries, (ring, path.chosen_name)])
    _scale_counts(ax, np.concatenate([curve.n_groups for curve in path.curves]))
    ax.set(xlabel=path.x_name, ylabel=path.score_name, ylim=limits)
    ax.grid(alpha=0.3)


def _draw_line(
    ax: "Axes",
    limits: tuple[float, float],
    x: FloatArray,
    score: FloatArray,
    error: FloatArray,
    color: str,
    hollow: npt.NDArray[np.bool_] | None = None,
) -> Any:
    """Draw scores with bars of one error; those below the frame at its edge, as arrows down."""
    below = score < limits[0]
    hollow = np.zeros(score.size, dtype=np.bool_) if hollow is None else hollow
    (line,) = ax.plot(x, np.maximum(score, limits[0]), color=color, linewidth=1.2)
    known = np.isfinite(error) & ~below
    if known.any():
        bars: dict[str, Any] = {"fmt": "none", "ecolor": color, "elinewidth": 0.7}
        ax.errorbar(x[known], score[known], error[known], **bars)
    for chosen, face in ((~hollow, color), (hollow, "white")):
        points: dict[str, Any] = {"linestyle": "none", "markersize": 4, "mfc": face, "mec": color}
        ax.plot(x[chosen & ~below], score[chosen & ~below], marker="o", **points)
        if (chosen & below).any():
            edge = np.full((chosen & below).sum(), limits[0])
            ax.plot(x[chosen & below], edge, marker="v", clip_on=False, **points)
    return line


def _scale_counts(ax: "Axes", numbers: FloatArray) -> None:
    """Draw numbers of groups on a logarithmic axis, with round numbers as ticks."""
    low, high = float(numbers.min()) / _MARGIN, float(numbers.max()) * _MARGIN
    ax.set_xscale("log")
    ticks = _count_ticks(low, high)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.set_xlim(low, high)


def _count_ticks(low: float, high: float) -> FloatArray:
    """Return round numbers within the limits: 1, 2, 5, 10, …, or others if these are too few."""
    from matplotlib.ticker import MaxNLocator

    tens = 10.0 ** np.arange(0, np.ceil(np.log10(high)) + 1)
    round_numbers = np.sort(np.concatenate([tens, 2 * tens, 5 * tens]))
    within = round_numbers[(round_numbers >= low) & (round_numbers <= high)]
    if within.size > _MOST_TICKS:
        within = np.intersect1d(within, tens)
    if within.size < _FEWEST_TICKS:
        even = np.asarray(MaxNLocator(nbins=6, integer=True).tick_values(low, high))
        even = even[(even >= low) & (even <= high)]
        whole = even == even.round()
        within = even[whole] if whole.any() else even  # means over folds may be fractions
    return np.asarray(within)


def plot_search(search: Any, *, ax: Any = None) -> Any:
    """Draw the scores of a fitted search against number of groups and penalty.

    On the left each way of merging with its best penalty, one line per strategy and smallest
    correlation; on the right the penalties of the chosen one, with weights rescaled only if those
    chosen are. Bars are one standard error, a ring marks the choice, and hollow points have too
    many groups to be chosen without a penalty. Scores so bad that they would flatten the others are
    arrows at the edge. With an ``estimator`` there are no penalties, and one panel. What was left
    out of the search is not drawn.

    Parameters
    ----------
    search : LinCFACV or LinCFAClassifierCV
        Fitted.
    ax : matplotlib.axes.Axes, or two, default=None
        Where to draw, one for each panel; None for a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes
        Or an array of two, one for each panel.

    Examples
    --------
    >>> from lincfa import LinCFACV
    >>> from lincfa.datasets import make_correlated
    >>> from lincfa.plotting import plot_search
    >>> X, y = make_correlated(n_samples=200, n_features=20, random_state=0)
    >>> left, right = plot_search(LinCFACV().fit(X, y))
    >>> left.get_xlabel()
    'mean number of groups'
    """
    if not isinstance(search, GroupSearch):
        raise TypeError(
            f"plot_search draws a LinCFACV or LinCFAClassifierCV, got {type(search).__name__}"
        )
    fitted_reducer(search)
    if not hasattr(search, "cv_results_"):
        raise ValueError("A model that was loaded from a file has no scores of its search to draw.")
    results, best = search.cv_results_, search.best_index_
    ways = scored_ways(results)
    columns = ["mean_n_groups", "penalty"] if "penalty" in results else ["mean_n_groups"]
    kinds = list(zip(results["strategy"], results["min_correlation"], strict=True))
    if ax is None:
        figure = pyplot_figure(4 + 3 * len(columns), 3.8 + 0.2 * len(set(kinds)))
        ax = figure.subplots(1, len(columns), sharey=True)
    panels = given_axes(ax, len(columns))
    score, eligible = results["mean_test_score"], results["eligible"]
    merging = ways_of_merging(results)
    alike = np.array([way == merging[best] for way in merging])
    rescaled = results.get("rescaled", np.zeros(score.size, np.bool_))
    same = np.flatnonzero(alike & (rescaled == rescaled[best]))
    drawn = np.union1d(ways, same)
    errors = standard_errors(results)
    limits = score_limits(score[drawn], errors[drawn], score[best])

    def line(panel: "Axes", column: str, rows: npt.NDArray[np.intp], color: str) -> Any:
        rows = rows[np.argsort(results[column][rows], kind="stable")]
        x = results[column][rows]
        return _draw_line(panel, limits, x, score[rows], errors[rows], color, ~eligible[rows])

    entries: list[tuple[Any, str]] = []
    for number, kind in enumerate(dict.fromkeys(kinds)):
        rows = np.array([row for row in ways if kinds[row] == kind], dtype=np.intp)
        if rows.size:
            color, _ = SERIES[number % len(SERIES)]
            least = "" if kind[1] == -1 else f", r ≥ {kind[1]:g}"
            entries.append((line(panels[0], "mean_n_groups", rows, color), f"{kind[0]}{least}"))
    _scale_counts(panels[0], results["mean_n_groups"][ways])
    if len(columns) > 1:
        line(panels[1], "penalty", same, GREY)
        _scale_penalties(panels[1], results["penalty"])
        panels[1].set(xlabel="penalty of the chosen\nway of merging")
    for panel, column in zip(panels, columns, strict=True):
        ring = _RING | {"markeredgecolor": ink(), "linestyle": "none"}
        (mark,) = panel.plot(results[column][best], score[best], **ring)
        panel.set(ylim=limits)
        panel.grid(alpha=0.3)
    panels[0].set(xlabel="mean number of groups", ylabel=f"{score_name(search)},\nmean over folds")
    entries.append((mark, "chosen"))
    if not eligible[drawn].all():
        (hollow,) = panels[0].plot([], [], "o", markersize=4, mfc="white", mec=GREY)
        entries.append((hollow, "too many groups"))
    legend_above(panels[0], entries)
    return one_or_several(panels)


def _scale_penalties(ax: "Axes", penalties: FloatArray) -> None:
    """Draw penalties on a logarithmic axis that begins with 0, with few ticks."""
    positive = penalties[penalties > 0]
    smallest = positive.min(initial=1.0)
    ax.set_xscale("symlog", linthresh=smallest)
    if positive.size:
        powers = np.arange(np.ceil(np.log10(smallest)), np.floor(np.log10(positive.max())) + 1)
        step = -(-powers.size // _DECADES) or 1
        ax.set_xticks([0.0, *10.0 ** powers[step - 1 :: step]])
    ax.minorticks_off()


# Predictions


def plot_prediction(model: Any, X: Any, y: Any, *, target: Any = None, ax: Any = None) -> Any:
    """Draw predicted against observed values, and both as series where samples have dates.

    On the dashed line both are equal. Samples that the model was fitted to, which it knows by their
    dates, are grey, and the series have a grey background there. The title has R²: of the other
    samples if there are any, and that of training. A model that was loaded from a file does not
    know which samples it was fitted to.

    Parameters
    ----------
    model : LinCFACV
        Fitted.
    X : array, data frame or field of shape (n_samples, n_features)
        Samples to predict.
    y : array of shape (n_samples,) or (n_samples, n_targets), data frame or Dataset
        What was observed.
    target : str or int, default=None
        Which of several targets, by name or number; required if there are several.
    ax : matplotlib.axes.Axes, or two, default=None
        Where to draw, with dates one for the scatter and one for the series, or one for the scatter
        alone; None for a new figure of pyplot.

    Returns
    -------
    matplotlib.axes.Axes
        Or, with dates, an array of two, unless one is given.

    Examples
    --------
    >>> import pandas as pd
    >>> from lincfa import LinCFACV
    >>> from lincfa.datasets import make_correlated
    >>> from lincfa.plotting import plot_prediction
    >>> X, y = make_correlated(n_samples=240, random_state=0)
    >>> months = pd.date_range("2000-01", periods=240, freq="MS")
    >>> X, y = pd.DataFrame(X, months), pd.Series(y, months, name="index")
    >>> model = LinCFACV().fit(X[:"2014"], y[:"2014"])
    >>> scatter, series = plot_prediction(model, X, y)
    >>> scatter.get_title()
    'R² = 0.80 (training 0.87)'
    """
    reducer = fitted_reducer(model)
    if reducer._targets.classes is not None or not hasattr(model, "predict"):
        raise TypeError(
            "plot_prediction draws the predictions of a LinCFACV, got a "
            f"{type(model).__name__}; plot_confusion and plot_roc draw those of classes."
        )
    samples = open_samples(model, X, y, ("X", "y"))
    if samples is None:
        raise ValueError("plot_prediction needs samples X and what was observed, y.")
    number = _number(reducer, target)
    name = title_of_target(reducer._targets, number)
    predicted = np.reshape(model.estimator_.predict(samples.reduced(reducer)), (len(samples.y), -1))
    dates = samples.dates
    ours = getattr(reducer, "training_dates_", None)
    known = None
    if dates is not None and ours is not None:
        # Dates of different calendars cannot be compared, but their texts can.
        known = np.isin(_comparable(dates.values), _comparable(ours))
    values = Predicted(samples.numbers[:, number], predicted[:, number], known, name)
    if ax is None and dates is None:
        ax = axes_or_new(None, 4.4, 4.6)
    elif ax is None:
        ax = pyplot_figure(9, 3.6).subplots(1, 2, width_ratios=[1, 2])
    panels = given_axes(ax, 1 if dates is None or np.size(ax) == 1 else 2)
    _draw_scatter(values, panels[0])
    panels[0].set_title(values.title, fontsize="medium")
    for axis, word in ((panels[0].xaxis, "observed"), (panels[0].yaxis, "predicted")):
        axis.set_label_text(f"{word} {name}".strip(), parse_math=False, usetex=False)
    if len(panels) == 2 and dates is not None:
        _draw_series(values, dates, panels[1])
    return one_or_several(panels)


@dataclass(frozen=True)
class Predicted:
    """Observed and predicted values of a target."""

    observed: FloatArray
    predicted: FloatArray
    trained: npt.NDArray[np.bool_] | None = None  # samples of the fit; None if that is not known
    name: str = ""  # of the target, with its unit

    @property
    def title(self) -> str:
        """R² of samples that are not those of the fit, or of all, and in training."""
        if self.trained is None or not self.trained.any():
            return f"R² = {self._r2(np.full(self.observed.size, True))}"
        if self.trained.all():
            return f"R² = {self._r2(self.trained)} in training"
        return f"R² = {self._r2(~self.trained)} (training {self._r2(self.trained)})"

    def _r2(self, rows: npt.NDArray[np.bool_]) -> str:
        if rows.sum() < _FEWEST:
            return "–"
        return decimals(r2_score(self.observed[rows], self.predicted[rows]), 2)


def _draw_scatter(values: Predicted, ax: "Axes") -> None:
    """Draw predicted against observed values on axes of equal length."""
    x, y = values.observed, values.predicted
    trained = np.zeros(x.size, np.bool_) if values.trained is None else values.trained
    low, high = min(x.min(), y.min()), max(x.max(), y.max())
    margin = 0.05 * (high - low)
    ends = low - margin, high + margin
    ax.plot(ends, ends, color=ink(), linestyle="--", linewidth=0.9, zorder=1)
    series = ((trained, GREY, 0.5, "training"), (~trained, BLUE, 0.8, "other samples"))
    for rows, color, alpha, label in series:
        dots: dict[str, Any] = {"s": mark_size(2 * x.size), "linewidths": 0, "label": label}
        ax.scatter(x[rows], y[rows], color=color, alpha=alpha, **dots)
    if trained.any() and not trained.all():
        ax.legend(loc="upper left", fontsize="small", handletextpad=0.2, borderpad=0.3)
    ticks = few_ticks(ax).tick_values(*ends)
    ax.set(xticks=ticks, yticks=ticks, xlim=ends, ylim=ends, aspect="equal")
    ax.grid(alpha=0.3)


def _draw_series(values: Predicted, dates: Dates, ax: "Axes") -> None:
    """Draw observed and predicted values in time, on grey where the model was trained."""
    x = _on_axis(dates.values, ax)
    entries: list[tuple[Any, str]] = []
    for y, color, label in (
        (values.observed, ink(), "observed"),
        (values.predicted, BLUE, "predicted"),
    ):
        (line,) = ax.plot(x, y, color=color, linewidth=1.2 if x.size < 200 else 0.8)
        entries.append((line, label))
    if values.trained is not None:
        # A period ends midway between two samples, one of which is of the fit.
        between = np.concatenate([x[:1], (x[1:] + x[:-1]) / 2, x[-1:]])
        changes = np.flatnonzero(np.diff(values.trained, prepend=False, append=False))
        for start, stop in changes.reshape(-1, 2):
            span = ax.axvspan(between[start], between[stop], color=GREY, alpha=0.2, linewidth=0)
        entries += [(span, "training")] if changes.size else []
    legend_above(ax, entries)
    ax.margins(x=0.01)
    ax.set_ylabel(values.name or "target", parse_math=False, usetex=False)
    ax.grid(alpha=0.3)


def _comparable(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return numbers as they are, and dates as text to the second."""
    if values.dtype.kind == "M":
        return np.asarray(np.datetime_as_string(values, unit="s", casting="unsafe"))
    if values.dtype.kind == "O":
        return np.array([each.isoformat() for each in values])
    return values


def _on_axis(values: npt.NDArray[Any], ax: "Axes") -> FloatArray:
    """Return dates as numbers of an axis, and label it as dates."""
    from matplotlib import dates
    from matplotlib.ticker import MaxNLocator

    if values.dtype.kind == "M":
        kinds: Any = dates
        locator = kinds.AutoDateLocator(minticks=2, maxticks=_DATES)  # 3 finds none for 36 months
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(kinds.ConciseDateFormatter(locator))
        return np.asarray(kinds.date2num(values), dtype=np.float64)
    ax.xaxis.set_major_locator(MaxNLocator(_DATES - 1, integer=True))
    if values.dtype.kind == "O":  # of another calendar: years, and how far into them
        values = np.array([each.year + (each.dayofyr - 1) / 366 for each in values])
    return np.asarray(values, dtype=np.float64)


def draw_predictions(predictions: Predictions, panels: Any) -> None:
    """Draw predicted against observed values, one panel for each target, with R² in a corner."""
    axes = np.ravel(panels)
    for k, (ax, name) in enumerate(zip(axes, predictions.targets, strict=False)):
        _draw_scatter(Predicted(predictions.measured[:, k], predictions.predicted[:, k]), ax)
        ax.text(0.04, 0.96, f"R² = {decimals(predictions.r2[k])}", va="top", transform=ax.transAxes)
        if len(predictions.targets) > 1:
            title = shown(name, _LONGEST_NAME)
            ax.set_title(title, fontsize="medium", parse_math=False, usetex=False)
    for ax in axes[len(predictions.targets) :]:
        ax.set_visible(False)
    name = predictions.targets[0] if len(predictions.targets) == 1 else ""
    whole = axes[0].figure
    for label, word in ((whole.supxlabel, "observed"), (whole.supylabel, "predicted")):
        label(f"{word} {name}".strip(), fontsize="medium", parse_math=False, usetex=False)


def plot_confusion(model: Any, X: Any, y: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how many samples of each class are predicted to be of which.

    Shades are shares of the samples of a class.

    Parameters
    ----------
    model : LinCFAClassifierCV
        Fitted.
    X : array, data frame or field of shape (n_samples, n_features)
        Samples to classify; best those that the model was not fitted to.
    y : array of shape (n_samples,)
        Their labels.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lincfa import LinCFAClassifierCV
    >>> from lincfa.plotting import plot_confusion
    >>> X, kind = load_wine(return_X_y=True)
    >>> model = LinCFAClassifierCV(cv=3).fit(X[::2], kind[::2])
    >>> ax = plot_confusion(model, X[1::2], kind[1::2])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('predicted class', 'class')
    """
    samples, p = _classified(model, X, y, "plot_confusion")
    classes = model.classes_
    ax = axes_or_new(ax, *confusion_size(len(classes)), square=True)
    draw_confusion(confuse(samples.y, classes[p.argmax(axis=1)], classes), ax)
    return ax


def plot_roc(model: Any, X: Any, y: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the ROC curve of the second of two classes, or of each class against the rest.

    Of more than six classes, those of the most frequent ones. The legend has the areas below.

    Parameters
    ----------
    model : LinCFAClassifierCV
        Fitted.
    X : array, data frame or field of shape (n_samples, n_features)
        Samples to classify; best those that the model was not fitted to.
    y : array of shape (n_samples,)
        Their labels.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None for a new figure of pyplot.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lincfa import LinCFAClassifierCV
    >>> from lincfa.plotting import plot_roc
    >>> X, kind = load_wine(return_X_y=True)
    >>> model = LinCFAClassifierCV(cv=3).fit(X[::2], kind[::2])
    >>> ax = plot_roc(model, X[1::2], kind[1::2])
    >>> len(ax.get_lines())  # three classes and the diagonal
    4
    """
    samples, p = _classified(model, X, y, "plot_roc")
    ax = axes_or_new(ax, 5.4, 5.4)
    draw_roc(trace_roc(samples.y, p, model.classes_), ax)
    return ax


def _classified(model: Any, X: Any, y: Any, function: str) -> tuple[Observations, FloatArray]:
    """Return checked samples, and the probability of each class."""
    reducer = fitted_reducer(model)
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{function} draws the predictions of a LinCFAClassifierCV, and this "
            f"{type(model).__name__} predicts no classes."
        )
    samples = open_samples(model, X, y, ("X", "y"))
    if samples is None:
        raise ValueError(f"{function} needs samples X and their labels y.")
    return samples, np.asarray(model.estimator_.predict_proba(samples.reduced(reducer)))


def confusion_size(n_classes: int, widest: float = 8.0) -> tuple[float, float]:
    """Return the size of a figure of a confusion matrix, in inches."""
    side = float(np.clip(0.7 * n_classes, 2.8, 6.0))
    return min(side + 1.5, widest), min(side + 1.5, widest) + 0.5


def draw_confusion(confusion: Confusion, ax: "Axes") -> None:
    """Draw a confusion matrix, with numbers if there is room."""
    from matplotlib.font_manager import FontProperties

    counts = confusion.counts
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    image = ax.imshow(shares, cmap="Blues", vmin=0, vmax=1, interpolation="none")
    bar = ax.figure.colorbar(
        image, ax=ax, location="bottom", label="share of the class", aspect=30, shrink=0.9
    )
    bar.outline.set_visible(False)
    smallest = FontProperties(size="small").get_size_in_points()
    letters = LETTER * len(str(counts.max()))
    room = 72 * 0.7 * min(inches(ax)) / len(counts) / letters  # names take some of the figure
    if room >= smallest:
        for row, column in np.ndindex(*counts.shape):
            # Not quite black, which becomes the colour of a page's text.
            color = "#ffffff" if shares[row, column] > _DARK else "#1b2127"
            place = {"ha": "center", "va": "center_baseline"}
            place["fontsize"] = "medium" if room > 1.2 * smallest else "small"
            ax.text(column, row, str(counts[row, column]), color=color, **place)  # type: ignore[arg-type]
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    if len(counts) <= NAMES_SHOWN:
        name_ticks(ax.xaxis, confusion.classes)
        name_ticks(ax.yaxis, confusion.classes)
    else:
        ax.set(xticks=[], yticks=[])
    ax.set(xlabel="predicted class", ylabel="class")


def draw_roc(roc: Roc, ax: "Axes") -> None:
    """Draw the curves, and the diagonal of chance."""
    (chance,) = ax.plot([0, 1], [0, 1], "--", color=ink(), linewidth=0.9)
    entries = []
    for curve, (color, _) in zip(roc.curves, SERIES, strict=False):
        (line,) = ax.plot(curve.false_positive, curve.true_positive, color=color, linewidth=1.6)
        name = shown(curve.label, _LONGEST_NAME)
        entries.append((line, f"{name} (area {curve.area:.3f})"))
    legend_above(ax, [*entries, (chance, "chance")])
    ax.set(
        xlabel="share of the other classes taken for it",
        ylabel="share of the class found",
        xlim=(-0.01, 1.01),
        ylim=(-0.01, 1.01),
        aspect="equal",
    )
    ax.grid(alpha=0.3)
