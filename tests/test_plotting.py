"""Figures of correlations, thresholds, scores and coefficients: what is drawn where.

Within a page text is text, ink has the page's colour, and ids do not collide.
"""

import io
import itertools
import os
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from label_maps import apart, drawn, legend_texts
from lincfa import LinCFA, LinCFACV, load
from lincfa._data._names import cut_in_the_middle
from lincfa._model._observations import Observations
from lincfa.datasets import make_correlated
from lincfa.report._groups import (
    CorrelationMatrix,
    Pairs,
    PairTable,
    collect_pairs,
    correlate_by_group,
)
from lincfa.report._inputs import title_of_target
from lincfa.report._names import display_names_of_groups
from lincfa.report._scores import Coefficients, Curve, ScorePath, score_path
from reference import QUICK, assert_raises

pytest.importorskip("matplotlib")

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb

from lincfa.plotting import (
    _figures,
    default_style,
    draw_coefficients,
    draw_correlation,
    draw_path,
    draw_thresholds,
    new_figure,
    plot_coefficients,
    plot_correlation,
    plot_effect_map,
    plot_map,
    plot_path,
    plot_prediction,
    plot_search,
    plot_spectrum,
    plot_thresholds,
    svg,
)
from lincfa.plotting._figures import BLUE, GREY, RED


def tick_labels(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def segments(ax):
    """Ends of all straight lines of collections."""
    lines = (each for each in ax.collections if isinstance(each, LineCollection))
    return [segment for each in lines for segment in each.get_segments()]


# All figures


@pytest.mark.parametrize(
    "plot", [plot_correlation, plot_thresholds, plot_path, plot_coefficients, plot_spectrum]
)
def test_given_axes_are_used(tree, plot):
    fitted = LinCFACV(**QUICK | {"strategies": ["sequential"]}).fit(*tree)
    left, right = new_figure(8, 4).subplots(1, 2)
    given = tree[:1] if plot is plot_correlation else ()
    assert plot(fitted, *given, ax=right) is right
    assert right.get_xlabel() or right.get_title()
    assert not left.get_xlabel()
    assert not [*left.collections, *left.images, *left.get_lines()]


@pytest.mark.parametrize(
    "plot",
    [
        partial(plot_correlation, LinCFA(), np.eye(3)),
        partial(plot_thresholds, LinCFA()),
        partial(plot_path, LinCFA(strategy="joint")),
        partial(plot_coefficients, LinCFA(), [1.0]),
        partial(plot_spectrum, LinCFA()),
        partial(plot_map, LinCFA()),
        partial(plot_effect_map, LinCFA()),
        partial(plot_search, LinCFACV()),
    ],
)
def test_before_fit(plot):
    with pytest.raises(NotFittedError):
        plot()


def test_named_columns(data):
    pandas = pytest.importorskip("pandas")
    X, y = pandas.DataFrame(data[0], columns=list("abcdefghijkl")), data[1]
    model = LinCFA(strategy="agglomerative").fit(X[:60], y[:60])
    (line,), _ = lines_and_ring(plot_path(model, X[:60], y[:60], X[60:], y[60:]))
    assert line.get_xdata()[-1] == 12
    assert len(plot_thresholds(model, X[:60], y[:60]).collections) == 2


@pytest.mark.parametrize(("count", "expected"), [(1500, False), (1501, True)])
def test_many_marks_become_an_image(count, expected):
    pairs = pairs_of(np.linspace(0, 1, count), np.zeros(count))
    assert {each.get_rasterized() for each in draw_pairs(pairs).collections} == {expected}


def test_without_matplotlib(monkeypatch, search):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'lincfa\[plot\]'"):
        plot_search(search)


def test_no_settings_change_and_matplotlib_comes_late():
    """Reports draw without pyplot, and matplotlib comes only when something is drawn."""
    code = """
import sys
from lincfa import LinCFACV
from lincfa.datasets import make_correlated
from lincfa import plotting
from lincfa.report._findings import collect_findings
from lincfa.report._page import render
assert "matplotlib" not in sys.modules, "matplotlib too early"
X, y = make_correlated(n_samples=30, n_features=5, random_state=0)
search = LinCFACV(tolerances=[1.0], strategies=["sequential"], cv=2).fit(X, y)
import matplotlib
def settings():  # without the backend: to ask for it loads pyplot
    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}
before = settings()
render(collect_findings(search, X=X, y=y))
assert "matplotlib.pyplot" not in sys.modules, "pyplot loaded"
plotting.plot_search(search)
for ax in (plotting.plot_correlation(search, X), plotting.plot_thresholds(search, X, y),
           plotting.plot_coefficients(search), plotting.plot_path(search)):
    plotting.svg(ax.figure, title="", salt="a")
assert settings() == before, "settings changed"
"""
    environment = os.environ | {"MPLBACKEND": "Agg"}
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert run.returncode == 0, run.stderr


PLOTS = {
    "correlation": lambda model, X, y, **ax: plot_correlation(model, X, **ax),
    "thresholds": lambda _, X, y, **ax: plot_thresholds(LinCFA().fit(X, y), **ax),
    "path": lambda model, X, y, **ax: plot_path(model, **ax),
    "coefficients": lambda model, X, y, **ax: plot_coefficients(model, **ax),
    "spectrum": lambda model, X, y, **ax: plot_spectrum(model, **ax),
    "search": lambda model, X, y, **ax: plot_search(model, **ax),
    "prediction": lambda model, X, y, **ax: plot_prediction(model, X, y, **ax),
}


@pytest.mark.parametrize("kind", PLOTS)
def test_without_axes_a_plot_is_the_current_figure_of_pyplot(fitted, tree, kind, tmp_path):
    """As of scikit-learn and xarray: ``plt.savefig`` writes it. With axes pyplot knows nothing."""
    earlier = plt.figure()
    drawn = np.ravel(PLOTS[kind](fitted, *tree))
    assert plt.get_fignums() == [1, 2]
    assert plt.gcf() is drawn[0].figure is not earlier
    plt.savefig(tmp_path / "plot.png")
    plt.figure()
    plt.savefig(tmp_path / "blank.png")
    assert (tmp_path / "plot.png").stat().st_size > 2 * (tmp_path / "blank.png").stat().st_size
    plt.close("all")
    given = new_figure(8, 4).subplots(1, drawn.size)
    again = PLOTS[kind](fitted, *tree, ax=given)
    assert np.ravel(again).tolist() == np.ravel(given).tolist()
    assert plt.get_fignums() == []


# Correlations


def matrix_of(groups, n_features=None, low=-1.0, high=1.0):
    groups = np.asarray(groups)
    values = np.random.default_rng(0).uniform(low, high, size=(groups.size, groups.size))
    np.fill_diagonal(values, 1)
    names = tuple(f"x{i}" for i in range(groups.size))
    blocks = tuple(f"g{k}" for k in dict.fromkeys(groups.tolist()))
    return CorrelationMatrix(names, groups, values, n_features or groups.size, blocks)


def group_lines(ax):
    """Places of the horizontal and of the vertical lines."""
    level = [each[0, 1] for each in segments(ax) if each[0, 1] == each[1, 1]]
    upright = [each[0, 0] for each in segments(ax) if each[0, 0] == each[1, 0]]
    assert len(level) + len(upright) == len(segments(ax))
    return level, upright


def test_the_image_is_the_matrix_of_the_findings(data):
    X, y = data
    model = LinCFA().fit(X, y)
    ax = plot_correlation(model, X)
    expected = correlate_by_group(model, Observations(X, np.zeros(len(X))))
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), expected.values)
    assert expected.blocks == tuple(
        display_names_of_groups(model)[k] for k in dict.fromkeys(expected.groups.tolist())
    )


@pytest.mark.parametrize("low", [0.6, 0.0, -0.3])
def test_colours_and_their_bar_have_the_range_of_the_correlations(low):
    matrix = matrix_of([0, 0, 0, 1, 1], low=low, high=0.9)
    ax = drawn(draw_correlation, matrix)
    (image,) = ax.images
    smallest = matrix.values.min()
    colors = [image.cmap(image.norm(value))[:3] for value in (smallest, 0.0, 1.0)]
    bar = ax.figure.axes[1]
    assert bar.get_xlabel() == "correlation"
    assert bar.get_xlim() == (smallest, 1)
    assert colors[2][0] > 3 * colors[2][2]  # dark red
    if low < 0:
        assert image.get_clim() == (-1, 1)
        assert min(colors[1]) > 0.9  # no correlation is white
        assert colors[0][2] > colors[0][0]  # blue
    else:
        assert image.get_clim() == (smallest, 1)
        assert min(colors[0]) > 0.9


def test_correlations_that_are_all_alike():
    matrix = CorrelationMatrix(("a", "b"), np.zeros(2, int), np.ones((2, 2)), 2, ("a, b",))
    ax = drawn(draw_correlation, matrix)
    ax.figure.draw_without_rendering()
    assert ax.images[0].get_clim()[0] < 1


def test_names_beside_blocks_that_have_room():
    """The largest first; a name is beside the middle of its block, and covers no other."""
    sizes = [100, 60, 40, 1, 1, 1, 1]
    ax = drawn(draw_correlation, matrix_of(np.repeat(range(7), sizes)))
    assert tick_labels(ax.yaxis) == ["g0", "g1", "g2"]
    assert ax.get_yticks().tolist() == [49.5, 129.5, 179.5]
    assert ax.get_xticks().size == 0
    ax = drawn(draw_correlation, matrix_of(range(8)))
    assert tick_labels(ax.yaxis) == [f"g{k}" for k in range(8)]
    for groups in (range(60), np.repeat(range(25), [40, *[2] * 24])):
        ax = drawn(draw_correlation, matrix_of(groups))
        ax.figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
        ends = sorted((box.y0, box.y1) for box in boxes)
        assert all(one[1] <= other[0] + 1 for one, other in itertools.pairwise(ends))
    long = replace(matrix_of(np.repeat([0, 1], 6)), blocks=("900–950 nm, 1010–1030 nm", "b" * 70))
    first, second = tick_labels(drawn(draw_correlation, long).yaxis)
    assert first == "900–950 nm,\n1010–1030 nm"
    assert len(second.replace("\n", "")) < 40


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([4, 4, 4, 4, 0, 0, 0, 1, 1, 2, 3], [3.5, 6.5, 8.5]),  # none between single features
        ([0] * 12, []),
        (range(100), []),
        (np.repeat(range(120), 2), []),  # would fill the figure
        (np.repeat(range(3), [150, 70, 20]), [149.5, 219.5]),
        (np.repeat(range(8), [100, 5, 4, 1, 1, 1, 1, 1]), [99.5, 104.5, 108.5]),
    ],
)
def test_lines_where_groups_end(groups, expected):
    ax = drawn(draw_correlation, matrix_of(groups))
    level, upright = group_lines(ax)
    assert level == upright == 2 * expected  # light, and dark on it
    for segment in segments(ax):
        assert sorted(np.ptp(segment, axis=0)) == [0, len(groups)]


@pytest.mark.parametrize(
    ("groups", "n_features", "label"),
    [
        ([0, 0, 1], 3, "3 features in 2 groups, largest first"),
        ([0, 0], 2, "2 features in 1 group"),
        ([0], 1, "1 feature in 1 group"),
        ([0, 0, 1], 20000, "3 of 20000 features, largest group first"),
    ],
)
def test_labels_say_what_is_shown(groups, n_features, label):
    ax = drawn(draw_correlation, matrix_of(groups, n_features))
    assert ax.get_title() == label


def test_limit_and_the_reducer_of_a_search(tree, fitted):
    matrix = correlate_by_group(fitted.reducer_, Observations(*tree))
    ax = plot_correlation(fitted, tree[0])
    np.testing.assert_array_equal(ax.images[0].get_array(), matrix.values)
    ax = plot_correlation(fitted, tree[0], limit=5)
    assert ax.images[0].get_array().shape == (5, 5)
    assert ax.get_title().startswith("5 of 20 features")


def test_wrong_samples_and_limits(data):
    X, y = data
    model = LinCFA().fit(X, y)
    for limit in (1, 0, 2.5, True, "all"):
        assert_raises("integer of at least 2", plot_correlation, model, X, limit=limit)
    assert_raises("X has 1 sample; correlations need at least 2", plot_correlation, model, X[:1])
    assert_raises("X has 11 features", plot_correlation, model, X[:, 1:])
    missing = np.where(X[3, 4] == X, np.nan, X)
    assert_raises("contains NaN in column", plot_correlation, model, missing)


# Thresholds


def pairs_of(correlation, threshold, total=None):
    names = tuple(f"x{i}" for i in range(len(correlation)))
    numbers = (np.array(column, dtype=float) for column in (correlation, threshold))
    return PairTable(names, names, *numbers, np.ones(len(names)), total or len(names))


def draw_pairs(merged, near=None, min_correlation=None):
    return drawn(draw_thresholds, Pairs(1.0, merged, near, "", min_correlation))


def pair_marks(ax):
    return [np.asarray(scatter.get_offsets()) for scatter in ax.collections]


def x_labels(ax):
    return dict(zip(tick_labels(ax.xaxis), ax.get_xticks().tolist(), strict=True))


def test_marks_are_the_pairs():
    merged, near = pairs_of([0.9, 0.8], [0.5, -0.9]), pairs_of([0.3, 0.6, 0.1], [0.7, 0.65, 0.99])
    ax = draw_pairs(merged, near)
    for places, pairs in zip(pair_marks(ax), (merged, near), strict=True):
        np.testing.assert_array_equal(places, np.column_stack([pairs.threshold, pairs.correlation]))
    colors = [to_hex(scatter.get_facecolor()[0]) for scatter in ax.collections]
    assert len(set(colors)) == 2
    named = ["merged (2)", "not merged, closest (3)", "threshold: pairs on or above it pass"]
    assert legend_texts(ax) == named
    assert ax.get_xlabel() == "correlation required to merge"
    assert ax.get_ylabel() == "actual correlation"
    assert "any" not in x_labels(ax)
    assert not ax.patches
    (diagonal,) = ax.get_lines()
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert diagonal.get_xdata()[0] < -0.9
    assert diagonal.get_xdata()[1] == 1


def test_everything_is_within_the_axes():
    ax = draw_pairs(pairs_of([-0.7, 1.0], [-0.99, 1.0]), pairs_of([0.3], [0.7]))
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < -0.99
    assert bottom < -0.7
    assert min(right, top) > 1
    assert x_labels(ax)["−0.5"] == -0.5  # with a minus sign


def test_a_strip_where_any_correlation_would_do():
    merged = pairs_of([0.9, 0.1, 0.2, 0.3, 0.4], [0.5, -np.inf, -3, -1.01, -1])
    ax = draw_pairs(merged)
    (strip,) = ax.patches
    left, right = strip.get_x(), strip.get_x() + strip.get_width()
    assert ax.get_xlim()[0] == pytest.approx(left)
    assert right < -1
    assert left < x_labels(ax)["any"] < right
    (places,) = pair_marks(ax)
    np.testing.assert_array_equal(places[:, 1], merged.correlation)
    np.testing.assert_array_equal(places[[0, 4], 0], [0.5, -1])
    within = places[1:4, 0]
    assert (left < within).all()
    assert (within < right).all()
    assert len(set(within)) == 3  # beside each other

    # Only such pairs:
    ax = draw_pairs(pairs_of([0.9, 0.8], [-np.inf, -np.inf]))
    (strip,) = ax.patches
    assert (pair_marks(ax)[0][:, 0] < strip.get_x() + strip.get_width()).all()
    assert "1.0" in x_labels(ax)


def test_no_pairs_at_all():
    ax = draw_pairs(pairs_of([], []), pairs_of([], []))
    assert [len(each) for each in pair_marks(ax)] == [0, 0]
    assert legend_texts(ax)[:2] == ["merged (0)", "not merged, closest (0)"]


def test_very_close_to_one():
    """Ticks can be told apart, without an offset at the corner."""
    ax = draw_pairs(pairs_of([1 - 1e-5, 1.0], [1 - 3e-5, 1 - 2e-5]))
    labels = [label for label in x_labels(ax) if label]
    assert len(labels) > 2
    assert all(float(label) == pytest.approx(at, abs=1e-9) for label, at in x_labels(ax).items())
    assert draw_pairs(pairs_of([1.0], [1.0])).get_xlim()[0] < 1


def test_min_correlation_and_counts():
    merged, near = pairs_of([0.9], [0.5], 19953), pairs_of([0.8, 0.7], [0.9, 0.9], 300)
    ax = draw_pairs(merged, near, min_correlation=0.25)
    _, line = ax.get_lines()
    assert list(line.get_ydata()) == [0.25, 0.25]
    assert ax.get_ylim()[0] < 0.25
    assert legend_texts(ax)[:2] == ["merged (1 of 19953)", "not merged, closest (2 of 300)"]
    assert legend_texts(ax)[-1] == "min_correlation: no merges below"


@pytest.mark.parametrize("strategy", ["sequential", "centroid", "agglomerative"])
def test_thresholds_of_a_model(data, strategy):
    X, y = data
    model = LinCFA(strategy=strategy, min_correlation=0.2).fit(X, y)
    pairs = collect_pairs(model, Observations(X, y))
    assert len(pairs.merged.first) > 0
    assert len(pairs.near.first) > 0
    ax = plot_thresholds(model, X, y)
    for places, each in zip(pair_marks(ax), (pairs.merged, pairs.near), strict=True):
        np.testing.assert_array_equal(places[:, 1], each.correlation)
    assert legend_texts(ax)[-1] == "min_correlation: no merges below"
    assert len(plot_thresholds(model).collections) == 1  # merged ones, without the data


def test_no_thresholds_and_no_path(data):
    X, y = data
    joint = LinCFA(strategy="joint").fit(X, y)
    assert_raises("joint strategy has no thresholds", plot_thresholds, joint, X, y)
    assert_raises("X was given without y", plot_thresholds, LinCFA().fit(X, y), X)
    for strategy in ("sequential", "centroid"):
        model = LinCFA(strategy=strategy).fit(X, y)
        assert_raises("no path to draw.*'agglomerative'.*LinCFACV", plot_path, model, X, y, X, y)
    model = LinCFA(strategy="joint").fit(X, y)
    for given in ((), (X, y), (None, None, X, y)):
        assert_raises("pass X, y, X_test and y_test", plot_path, model, *given)
    assert_raises("X_test was given without y_test", plot_path, model, X, y, X)


# Scores against the number of groups


def curve(strategy, n_groups, score, error=None):
    numbers = np.array(n_groups, dtype=float), np.array(score, dtype=float)
    error = np.full(len(n_groups), np.nan) if error is None else np.array(error, dtype=float)
    return Curve(strategy, *numbers, error)


def draw_curves(*curves, chosen=None):
    chosen = chosen or (curves[0].n_groups[0], curves[0].score[0])
    return drawn(draw_path, ScorePath(curves, chosen, "this model", "number of groups", "R²", ""))


def lines_and_ring(ax):
    lines = [line for line in ax.get_lines() if line.get_linestyle() == "-"]
    (ring,) = [line for line in ax.get_lines() if line.get_markersize() > 10]
    assert ring.get_markerfacecolor() == "none"
    return lines, (ring.get_xdata()[0], ring.get_ydata()[0])


def test_lines_are_the_curves():
    curves = curve("joint", [1, 5, 20], [0.15, 0.3, 0.2]), curve("centroid", [2, 9], [0.25, 0.28])
    ax = draw_curves(*curves, chosen=(9.0, 0.28))
    lines, ring = lines_and_ring(ax)
    for line, each in zip(lines, curves, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), each.n_groups)
        np.testing.assert_array_equal(line.get_ydata(), each.score)
    assert len({to_hex(line.get_color()) for line in lines}) == 2
    assert ring == (9, 0.28)
    assert legend_texts(ax) == ["joint", "centroid", "this model"]
    assert ax.get_xscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of groups", "R²")
    assert legend_texts(draw_curves(curves[0])) == ["this model"]  # one curve needs no name


def test_bars_where_errors_are_known():
    ax = draw_curves(curve("joint", [1, 5, 20], [0.1, 0.3, 0.2], [0.01, np.nan, 0.03]))
    found = {(each[0, 0], round(float(np.ptp(each[:, 1])), 9)) for each in segments(ax)}
    assert found == {(1, 0.02), (20, 0.06)}
    assert not segments(draw_curves(curve("joint", [1, 5], [0.1, 0.3])))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([1, 100], ["1", "2", "5", "10", "20", "50", "100"]),
        ([30, 12000], ["50", "100", "200", "500", "1000", "2000", "5000", "10000"]),
        ([12, 16], ["12", "14", "16"]),
        ([7, 7], ["7"]),
        ([1, 1], ["1"]),
    ],
)
def test_plain_numbers_at_the_axis(numbers, expected):
    ax = draw_curves(curve("joint", numbers, [0.1] * len(numbers)))
    ticks = tick_labels(ax.xaxis)
    assert set(expected) <= set(ticks)
    assert all(text.isdigit() for text in ticks)
    assert [float(text) for text in ticks] == ax.get_xticks().tolist()
    low, high = ax.get_xlim()
    assert low < min(numbers)
    assert high > max(numbers)
    ax.figure.draw_without_rendering()  # where warnings are errors


def test_ticks_between_two_numbers():
    """Means over folds may be fractions."""
    ticks = tick_labels(draw_curves(curve("joint", [1.4], [0.1])).xaxis)
    assert len(ticks) > 1
    assert all(1.2 < float(text) < 1.7 for text in ticks)


def test_a_path_of_a_search(fitted):
    ax = plot_path(fitted)
    lines, ring = lines_and_ring(ax)
    results, best = fitted.cv_results_, fitted.best_index_
    assert ring == (results["mean_n_groups"][best], results["mean_test_score"][best])
    assert sum(line.get_xdata().size for line in lines) == results["strategy"].size / 2
    shown = np.concatenate([line.get_ydata() for line in lines])
    allowed = np.where(results["eligible"], results["mean_test_score"], -np.inf)
    # Of the two penalties of each way of merging, the better one.
    np.testing.assert_array_equal(np.sort(shown), np.sort(allowed.reshape(-1, 2).max(axis=1)))
    chosen = f"chosen: {ring[0]:.3g} groups on average"
    assert legend_texts(ax) == [*fitted.strategies, chosen]
    assert ax.get_xlabel() == "number of groups, mean over the folds"
    assert ax.get_ylabel() == "R² (errors truncated)"


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_a_path_of_merges(data, strategy):
    X, y = data
    model = LinCFA(strategy=strategy).fit(X[:60], y[:60])
    split = X[:60], y[:60], X[60:], y[60:]
    path = score_path(model, model, Observations(*split[:2]), Observations(*split[2:]))
    ax = plot_path(model, *split)
    (line,), ring = lines_and_ring(ax)
    score = np.maximum(path.curves[0].score, ax.get_ylim()[0])  # that of one group is out of range
    np.testing.assert_array_equal(line.get_ydata(), score)
    assert ring == path.chosen
    assert ring[0] == model.n_groups_


# Searches


@pytest.fixture(scope="module")
def search(tree):
    merging = {"strategies": ["sequential", "joint"], "min_correlations": [None, 0.8]}
    penalties = {"penalties": [0.1, 0.0, 1e-3], "max_groups": 0.2, "rule": "best"}
    return LinCFACV(tolerances=(4.0, 0.3, 1.0), cv=3, **merging, **penalties).fit(*tree)


def invented(scores, eligible=None, chosen=None):
    """A search with results made up: one strategy, one score for each tolerance, three folds."""
    scores = np.array(scores, dtype=float)
    size = len(scores)
    search = LinCFACV(strategies=["joint"], tolerances=tuple(range(1, size + 1)))
    search.labels_ = np.zeros(1, dtype=int)
    search.cv_results_ = {
        "strategy": np.full(size, "joint", dtype=object),
        "tolerance": np.arange(1.0, size + 1),
        "min_correlation": np.full(size, -1.0),
        "mean_n_groups": np.arange(size, 0.0, -1),
        "eligible": np.ones(size, bool) if eligible is None else np.array(eligible),
        "mean_test_score": scores,
        "std_test_score": np.full(size, 0.01),
        "rank_test_score": 1 + (scores[:, None] < scores).sum(axis=1),
    } | {f"split{k}_test_score": scores for k in range(3)}
    search.best_index_ = int(scores.argmax()) if chosen is None else chosen
    return search


def points(panel, face):
    """Places of the small marks whose face is, or is not, white."""
    found = []
    for line in panel.get_lines():
        if line.get_marker() == "o" and line.get_markersize() < 10:
            hollow = to_hex(line.get_markerfacecolor()) == "#ffffff"
            if hollow == (face == "hollow"):
                found += zip(line.get_xdata(), line.get_ydata(), strict=True)
    return sorted(found)


LABELS = ["sequential", "sequential, r ≥ 0.8", "joint", "joint, r ≥ 0.8"]


def test_panels_and_labels(search):
    left, right = plot_search(search)
    assert left.get_xlabel() == "mean number of groups"
    assert right.get_xlabel() == "penalty of the chosen\nway of merging"
    assert left.get_ylabel() == "R² (errors truncated),\nmean over folds"
    assert (left.get_xscale(), right.get_xscale()) == ("log", "symlog")
    assert legend_texts(left) == [*LABELS, "chosen", "too many groups"]
    assert len({to_hex(line.get_color()) for line in lines_and_ring(left)[0]}) == 4
    ticks = right.get_xticks()
    assert ticks[0] == 0
    assert 2 <= ticks.size <= 5


def test_points_are_the_results_with_bars_of_one_standard_error(search):
    results, best = search.cv_results_, search.best_index_
    figures = np.column_stack([results["mean_n_groups"], results["penalty"]])
    score, eligible = results["mean_test_score"], results["eligible"]
    assert 0 < eligible.sum() < eligible.size  # or this test would see one kind only
    scores = np.array([results[f"split{k}_test_score"] for k in range(3)])
    errors = scores.std(axis=0, ddof=1) / np.sqrt(3)
    # Three penalties of each way of merging: on the left the best that may be chosen, on the right
    # all of the chosen way.
    ways = np.arange(score.size).reshape(-1, 3)
    left = ways[np.arange(len(ways)), np.where(eligible, score, -np.inf)[ways].argmax(axis=1)]
    kinds = left.reshape(4, 3)  # strategies and smallest correlations
    for panel, column, lines in zip(
        plot_search(search), figures.T, (kinds, [ways[best // 3]]), strict=True
    ):
        drawn, bottom = np.concatenate(lines), panel.get_ylim()[0]
        for face, rows in (("full", drawn[eligible[drawn]]), ("hollow", drawn[~eligible[drawn]])):
            rows = rows[score[rows] >= bottom]
            places = zip(column[rows], score[rows], strict=True)
            assert points(panel, face) == sorted(places)
        joined, ring = lines_and_ring(panel)
        assert ring == (column[best], score[best])
        for line, bars, rows in zip(joined, panel.containers, lines, strict=True):
            rows = rows[np.argsort(column[rows], kind="stable")]  # lines run to the right
            np.testing.assert_array_equal(line.get_xdata(), column[rows])
            np.testing.assert_array_equal(line.get_ydata(), np.maximum(score[rows], bottom))
            lengths = [np.ptp(each[:, 1]) for each in bars.lines[2][0].get_segments()]
            np.testing.assert_allclose(lengths, 2 * errors[rows[score[rows] >= bottom]])


def test_a_single_combination():
    X, y = make_correlated(n_samples=40, n_features=6, random_state=0)
    one = {"strategies": ["joint"], "tolerances": [2.0], "min_correlations": [None]}
    for penalty in (0.0, 0.1):
        search = LinCFACV(**one, penalties=[penalty], cv=2).fit(X, y)
        _, right = plot_search(search)
        assert lines_and_ring(right)[1] == (penalty, search.best_score_)
        # Warnings are errors: axes that are a point would warn.
        right.figure.savefig(io.BytesIO())


def test_a_search_without_penalties_or_without_scores(tmp_path, tree):
    search = LinCFACV(estimator=LinearRegression(), tolerances=[1.0, 9.0], cv=3).fit(*tree)
    ax = plot_search(search)
    assert ax.figure.axes == [ax]
    search.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="no scores of its search"):
        plot_search(load(tmp_path / "model.json"))


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_it_can_be_saved(search, kind):
    file = io.BytesIO()
    plot_search(search)[0].figure.savefig(file, format=kind)
    assert file.tell() > 1000


def test_bad_scores_do_not_flatten_the_others():
    """They are arrows at the edge, so that lines stay in the frame."""
    scores = [0.5, 0.55, 0.6, 0.58, -40.0]
    panels = plot_search(invented(scores))
    for panel in (panels, draw_curves(curve("joint", range(5, 0, -1), scores))):
        low, high = panel.get_ylim()
        assert 0 < low < 0.5
        assert 0.6 < high < 1
        (line,), _ = lines_and_ring(panel)
        assert min(line.get_ydata()) == low
        (arrow,) = [each for each in panel.get_lines() if each.get_marker() == "v"]
        assert arrow.get_xydata().tolist() == [[1, low]]


def test_bars_are_in_the_frame():
    low, high = plot_search(invented([0.5, 0.51, 0.52])).get_ylim()
    assert low < 0.5 - 0.01 / np.sqrt(3)
    assert high > 0.52 + 0.01 / np.sqrt(3)


@pytest.mark.parametrize(
    ("scores", "eligible", "chosen"),
    [
        ([0.1, 0.9, 0.91, 0.9, 0.9], [True, False, False, False, False], 0),
        ([0.5, 0.5, 0.5, 0.5, 0.49], None, 4),
    ],
    ids=["others are much better but not allowed", "fewest groups within one standard error"],
)
def test_the_choice_is_in_the_figure(scores, eligible, chosen):
    panels = [plot_search(invented(scores, eligible, chosen))]
    path = draw_curves(curve("joint", range(1, 6), scores), chosen=(chosen + 1.0, scores[chosen]))
    for panel in (*panels, path):
        low, high = panel.get_ylim()
        assert low < scores[chosen] < high
        assert high > max(scores)


def test_many_equal_scores_do_not_shrink_the_figure_to_nothing():
    """Neighbouring tolerances often give the same groups, and so the very same score."""
    low, high = plot_search(invented([0.5, 0.5, 0.5, 0.45, 0.4])).get_ylim()
    assert high - low > 0.01  # the bars have that length


# Predictions


class Dated:
    """Three hundred months, of which the model knows all but those of one decade."""

    def __init__(self, rng):
        months = np.arange("1990-01", "2015-01", dtype="datetime64[M]").astype("datetime64[ns]")
        factors = rng.normal(size=(300, 3))
        X = np.repeat(factors, 4, axis=1) + 0.3 * rng.normal(size=(300, 12))
        y = factors @ [1.0, -2.0, 0.5] + 0.5 * rng.normal(size=300)
        pandas = pytest.importorskip("pandas")
        self.X = pandas.DataFrame(X, index=pandas.DatetimeIndex(months))
        self.y = pandas.Series(y, index=self.X.index)
        self.held_out = (months >= np.datetime64("2000")) & (months < np.datetime64("2010"))
        self.model = LinCFACV(**QUICK).fit(self.X[~self.held_out], self.y[~self.held_out])


@pytest.fixture(scope="module")
def dated():
    return Dated(np.random.default_rng(5))


def test_predicted_against_observed(dated):
    X, y, new = dated.X, dated.y, dated.held_out
    scatter, series = plot_prediction(dated.model, X, y)
    grey, blue = (np.asarray(each.get_offsets()) for each in scatter.collections)
    for places, rows in ((grey, ~new), (blue, new)):
        expected = np.column_stack([y[rows], dated.model.predict(X[rows])])
        np.testing.assert_allclose(places, expected)
    assert to_hex(scatter.collections[0].get_facecolor()[0]) == GREY
    (line,) = scatter.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), line.get_ydata())
    assert scatter.get_xlim() == scatter.get_ylim() == tuple(line.get_xdata())
    assert (scatter.get_xlabel(), scatter.get_ylabel()) == ("observed", "predicted")
    others, training = (dated.model.score(X[rows], y[rows]) for rows in (new, ~new))
    assert scatter.get_title() == f"R² = {others:.2f} (training {training:.2f})"
    observed, predicted = series.get_lines()
    np.testing.assert_allclose(observed.get_ydata(), y)
    np.testing.assert_allclose(predicted.get_ydata(), dated.model.predict(X))
    assert matplotlib.dates.num2date(observed.get_xdata()[0]).strftime("%Y-%m") == "1990-01"


def test_panels_fit_into_a_column_of_a_journal(dated):
    model = LinCFACV(**QUICK | {"penalties": LinCFACV._penalties}).fit(dated.X, dated.y)
    for plot, arguments in ((plot_prediction, (model, dated.X, dated.y)), (plot_search, (model,))):
        figure, axes = plt.subplots(2, figsize=(3.35, 5), layout="constrained")
        plot(*arguments, ax=axes)
        figure.draw_without_rendering()
        for ax in axes:
            assert apart(ax.xaxis)
            label = ax.xaxis.label.get_window_extent()
            assert label.x1 <= figure.bbox.x1


def test_training_periods_are_marked(dated):
    """Two periods, whatever the order of the samples, and not the months between."""
    shuffled = np.random.default_rng(0).permutation(300)
    parts = dated.held_out, ~dated.held_out
    for order in (np.arange(300), shuffled):
        X, y = dated.X.iloc[order], dated.y.iloc[order]
        scatter, series = plot_prediction(dated.model, X, y)
        others, training = (dated.model.score(X[rows[order]], y[rows[order]]) for rows in parts)
        assert scatter.get_title() == f"R² = {others:.2f} (training {training:.2f})"
        for line, values in zip(
            series.get_lines(), (dated.y, dated.model.predict(dated.X)), strict=True
        ):
            np.testing.assert_allclose(line.get_ydata(), values)
        spans = [
            matplotlib.dates.num2date([p.get_x(), p.get_x() + p.get_width()])
            for p in series.patches
        ]
        found = [[f"{end:%Y-%m}" for end in span] for span in spans]
        # Midway between December, which is in, and January, which is not.
        assert found == [["1990-01", "1999-12"], ["2009-12", "2014-12"]]
        assert legend_texts(series) == ["observed", "predicted", "training"]
        assert np.all(np.diff(series.get_lines()[0].get_xdata()) > 0)


def test_predictions_of_other_samples_only_and_without_dates(dated):
    new, X, y = dated.held_out, dated.X, dated.y
    scatter, series = plot_prediction(dated.model, X[new], y[new])
    assert scatter.get_title() == f"R² = {dated.model.score(X[new], y[new]):.2f}"
    assert legend_texts(series) == ["observed", "predicted"]
    scatter, _ = plot_prediction(dated.model, X[~new], y[~new])
    assert scatter.get_title().endswith("in training")
    ax = plot_prediction(dated.model, X.to_numpy(), y.to_numpy())
    assert ax.figure.axes == [ax]
    assert ax.get_title() == f"R² = {dated.model.score(X, y):.2f}"


def test_the_target_of_a_table_is_named(dated):
    """By the name and the unit of a Series, if it has any; a number says nothing."""
    for name, expected in (("rain", "observed rain (mm)"), (0, "observed target (mm)")):
        y = dated.y.rename(name)
        y.attrs["units"] = "mm"
        scatter, _ = plot_prediction(LinCFACV(**QUICK).fit(dated.X, y), dated.X, dated.y)
        assert scatter.get_xlabel() == expected
    chunks = LinCFA().partial_fit(dated.X[:150], dated.y[:150].rename("rain"))
    chunks.partial_fit(dated.X[150:].to_numpy(), dated.y[150:].to_numpy())
    assert title_of_target(chunks._targets, 0) == "rain"


def test_predictions_of_fields_in_other_calendars(rng):
    xarray, cftime = pytest.importorskip("xarray"), pytest.importorskip("cftime")
    time = xarray.date_range("0850-01", periods=60, freq="MS", calendar="noleap", use_cftime=True)
    values = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 6))
    field = xarray.DataArray(values.T, dims=("cell", "time"), coords={"time": time})
    y = xarray.DataArray(values[:, 0], {"time": time}, name="rain")
    model = LinCFACV(**QUICK).fit(field[:, :40], y[:40])
    _, series = plot_prediction(model, field, y)
    line, _ = series.get_lines()
    np.testing.assert_allclose(line.get_xdata()[[0, 12, 59]], [850, 851, 854 + 334 / 366])
    (span,) = series.patches
    assert 853.25 < span.get_x() + span.get_width() < 853.32  # April is in, May is not
    assert isinstance(time[0], cftime.datetime)


@pytest.mark.parametrize("other", ["360_day", "noleap", "dates"])
def test_training_is_known_across_calendars(rng, other):
    """By the text of the dates."""
    xarray, _ = pytest.importorskip("xarray"), pytest.importorskip("cftime")
    time = xarray.date_range("2001-01", periods=60, freq="MS", unit="s")
    if other == "dates":
        own = time.date
    else:
        own = xarray.date_range("2001-01", periods=60, freq="MS", calendar=other, use_cftime=True)
    values = rng.normal(size=(60, 1)) + 0.1 * rng.normal(size=(60, 6))
    fields = [
        xarray.DataArray(values, dims=("time", "cell"), coords={"time": ("time", each)})
        for each in (time, own)
    ]
    for known, new in (fields, fields[::-1]):
        model = LinCFACV(**QUICK).fit(known[:40], values[:40, 0])
        _, series = plot_prediction(model, new, values[:, 0])
        (span,) = series.patches  # the first 40 months
        assert span.get_width() < 0.75 * np.ptp(series.get_lines()[0].get_xdata().astype(float))


def test_which_of_several_targets_is_drawn(dated):
    Y = np.column_stack([dated.y, -3 * dated.y])
    pandas = sys.modules["pandas"]
    frame = pandas.DataFrame(Y, columns=["rain", "$sun$"], index=dated.X.index)
    model = LinCFACV(**QUICK).fit(dated.X[:200], frame[:200])
    scatter, series = plot_prediction(model, dated.X, frame, target="$sun$")
    np.testing.assert_allclose(series.get_lines()[0].get_ydata(), -3 * dated.y)
    assert scatter.get_xlabel() == "observed $sun$"
    assert not scatter.xaxis.label.get_parse_math()
    assert series.get_ylabel() == "$sun$"
    assert_raises("choose one with target=", plot_prediction, model, dated.X, frame)


def test_what_has_no_predictions_to_draw(dated, tree):
    reducer = LinCFA().fit(dated.X, dated.y)
    for model in (reducer, LinCFA(target="classes").fit(tree[0], tree[1] > 0)):
        with pytest.raises(TypeError, match=r"predictions of a LinCFACV, got a LinCFA;"):
            plot_prediction(model, dated.X, dated.y)
    assert_raises("X was given without y", plot_prediction, dated.model, dated.X, None)
    assert_raises(
        "ax must be 2 axes",
        plot_prediction,
        dated.model,
        dated.X,
        dated.y,
        ax=new_figure(3, 3).subplots(3),
    )


def test_prediction_as_a_scatter_alone(dated):
    ax = new_figure(3, 3).subplots()
    assert plot_prediction(dated.model, dated.X, dated.y, ax=ax) is ax
    assert ax.get_xlabel().startswith("observed")
    np.testing.assert_array_equal(ax.get_xticks(), ax.get_yticks())


@pytest.mark.parametrize("months", [5, 12, 24, 36, 60])
def test_any_number_of_months_has_ticks(dated, months):
    """Warnings are errors: some locators of dates find no ticks for three years."""
    scatter, series = plot_prediction(dated.model, dated.X[-months:], dated.y[-months:])
    scatter.figure.draw_without_rendering()
    assert len(series.get_xticks()) >= 2


# Coefficients


def coefficients(values, names=None, **given):
    names = tuple(names or (f"x{i}" for i in range(len(values))))
    return Coefficients(names, np.asarray(values, dtype=float), len(values), **given)


def draw_values(*args, **named):
    return drawn(draw_coefficients, coefficients(*args, **named))


def bars(ax):
    """Names of groups from the top, the lengths of their bars, and their colours."""
    widths = [bar.get_width() for bar in ax.patches]
    assert ax.get_yticks().tolist() == [bar.get_y() + bar.get_height() / 2 for bar in ax.patches]
    assert ax.yaxis_inverted()
    colors = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    return tick_labels(ax.yaxis), widths, colors


def test_bars_are_the_effects_by_name_the_largest_first():
    ax = draw_values([1.0, -3, 2, 0], ["rain", "sun", "snow", "wind"])
    names, widths, colors = bars(ax)
    assert names == ["sun", "snow", "rain", "wind"]
    assert widths == [-3, 2, 1, 0]
    assert colors[1] == colors[2] == RED
    assert colors[0] == BLUE
    expected = "change in the prediction per\nstandard deviation of the group's mean"
    assert ax.get_xlabel() == expected
    low, high = ax.get_xlim()
    assert low < -3
    assert high > 2


def test_thirty_of_many_groups_have_bars():
    values = np.random.default_rng(0).normal(size=200)
    ax = draw_values(values)
    names, widths, _ = bars(ax)
    order = np.argsort(-np.abs(values))[:30]
    assert names == [f"x{k}" for k in order]
    assert widths == values[order].tolist()


def test_names_of_groups_are_literal_and_keep_their_ends():
    long = ["c" * 60, "rainfall, depth of snow + 12 more", "1533–1542 nm, 1560 nm, 1665–1716 nm"]
    ax = draw_values([5, 4, 3, 2, 1], ["_a", "$x^2$", *long])
    short = [f"{'c' * 15}…{'c' * 16}", "rainfall, depth of … + 12 more", "1533–1542 nm, 1560 nm, …"]
    assert tick_labels(ax.yaxis) == ["_a", "$x^2$", *short]  # no part of a number
    assert not any(text.get_parse_math() for text in ax.get_yticklabels())


def test_few_large_values_do_not_flatten_the_others():
    for plain in ([1.0, 2, -3, 4], [0, 0, 0, 0]):
        assert draw_values(plain).get_xscale() == "linear"
    values = np.r_[np.full(15, 1e-3), np.full(14, -2e-3), 10.0]
    ax = draw_values(values)
    assert ax.get_xscale() == "symlog"
    assert ax.get_xlabel().endswith("(logarithmic away from zero)")
    places = ax.transData.transform(np.column_stack([[-2e-3, 1e-3, 10.0], np.zeros(3)]))[:, 0]
    assert np.diff(places).min() > 0.1 * np.ptp(ax.get_window_extent().intervalx)
    low, high = ax.get_xlim()
    assert low < -2e-3
    assert high > 10


def test_coefficients_of_a_search_and_of_a_model(fitted, data):
    def effects(model, reduced, coef):
        sizes = coef * reduced.std(axis=0, ddof=1)
        return sizes[np.argsort(-np.abs(sizes), kind="stable")]

    X, y = data
    model = LinCFA().fit(X, y)
    reduced = model.transform(X)
    coef = LinearRegression().fit(reduced, y).coef_
    for given in (coef, coef[None], coef.tolist()):
        _, widths, _ = bars(plot_coefficients(model, given))
        np.testing.assert_allclose(widths, effects(model, reduced, coef))
    names, widths, _ = bars(plot_coefficients(fitted))
    assert sorted(names) == sorted(display_names_of_groups(fitted))
    assert len(widths) == fitted.n_groups_


def test_wrong_coefficients(data):
    X, y = data
    model = LinCFA().fit(X, y)
    forest = RandomForestRegressor(2, random_state=0)
    search = LinCFACV(tolerances=[1.0], strategies=["joint"], cv=2, estimator=forest).fit(X, y)
    for other in (model, search):
        assert_raises("coef is required", plot_coefficients, other)
    for wrong in (np.ones(model.n_groups_ + 1), np.ones((2, model.n_groups_)), 1.0):
        assert_raises("one coefficient per reduced feature", plot_coefficients, model, wrong)
    assert_raises("finite", plot_coefficients, model, np.full(model.n_groups_, np.nan))


# Within a page

NAMES = ("<script>alert(1)</script>", "a&b", "$x^2$", "cost_$", r"\alpha", "_hidden", "温度")
NAMES += ("\"quoted'", "$$", r"\$", "$\\frac{$", "]]>", "<!--", "&lt;")
SIZE = len(NAMES)
PAIRS = PairTable(NAMES, NAMES, *np.linspace(0.1, 0.9, 3 * SIZE).reshape(3, -1), SIZE)
CURVE = Curve("joint", np.array([1.0, 10.0]), np.array([0.2, 0.4]), np.array([0.1, 0.1]))
PATH = ScorePath((CURVE, CURVE), (1.0, 0.2), "this model", "number of groups", "R²", "")
PICTURES = {
    "correlation": (
        draw_correlation,
        CorrelationMatrix(NAMES, np.arange(SIZE), np.eye(SIZE), SIZE, NAMES),
    ),
    "thresholds": (draw_thresholds, Pairs(1.0, PAIRS, PAIRS, "", None)),
    "path": (draw_path, PATH),
    "coefficients": (draw_coefficients, coefficients(np.arange(SIZE) - 3.0, NAMES)),
}


def figure_of(kind, data=None):
    draw, plain = PICTURES[kind]
    figure = new_figure(6, 4)
    draw(data or plain, figure.subplots())
    return figure


def page_of(kind):
    with default_style():
        return svg(figure_of(kind), title=kind, salt=kind)


def texts(page):
    return [element.text for element in ElementTree.fromstring(page).iter() if element.text]


@pytest.fixture(scope="module")
def pages():
    return {kind: page_of(kind) for kind in PICTURES}


@pytest.mark.parametrize("kind", PICTURES)
def test_an_element_for_a_page_its_ink_and_ids(pages, kind):
    page = pages[kind]
    assert page.startswith("<svg ")
    assert page.endswith("</svg>")
    assert not re.search(r"<\?xml|<!DOCTYPE|<metadata|<style|rdf:|xlink:|ns0:|<script", page)
    root = ElementTree.fromstring(page)
    assert root.attrib["role"] == "img"
    title = root[0]
    assert title.tag.endswith("title")
    assert title.text == kind
    assert title.attrib["id"] == root.attrib["aria-labelledby"]
    assert [float(number) for number in root.attrib["viewBox"].split()] == [0, 0, 432, 288]
    assert root.attrib["width"] == "734"  # at most, by the style of the page
    assert "height" not in root.attrib
    assert not [each for each in root.iter() if "style" in each.attrib]  # a policy may forbid it
    assert page.count('stroke="currentColor"') > 3
    assert not re.search(r"#000000|#000\b|black|rgb\(0", page)
    root = ElementTree.fromstring(page)
    assert root.attrib["fill"] == "currentColor"  # for what is filled and names no colour
    for element in root.iter():
        if element.tag.endswith("}text"):
            assert "fill" not in element.attrib
    assert "#ffffff" not in page  # no background
    assert "sans-serif" in page
    assert "DejaVu" not in page
    assert re.search(r'font-size="(11|9.163)px"', page)
    # Each id is there once, begins with the salt, and is what something refers to.
    assert len(set(ids(page))) == len(ids(page)) > 1
    assert all(each.startswith(f"{kind}-") for each in ids(page))
    references = set(re.findall(r"url\(#([^)]*)\)", page) + re.findall(r'href="#([^"]*)"', page))
    assert references | {f"{kind}-title"} == set(ids(page))
    assert page_of(kind) == page  # the same characters each time


@pytest.mark.parametrize("kind", ["correlation", "coefficients"])
def test_names_are_shown_as_they_are(pages, kind):
    found = texts(pages[kind])
    limit = 20 if kind == "correlation" else 32
    for name in NAMES:
        assert cut_in_the_middle(name, limit) in found
    assert "<script" not in pages[kind]
    assert "&lt;script" in pages[kind]
    assert "a&amp;b" in pages[kind]


def test_labels_that_start_with_an_underscore_are_shown():
    """matplotlib 3.9 would leave them out, with a warning."""
    figure = new_figure(3, 3)
    ax = figure.subplots()
    _figures.legend_above(ax, [(*ax.plot([1, 2]), "_hidden")])
    assert "_hidden" in texts(svg(figure, title="", salt="a"))


def ids(page):
    return re.findall(r'\bid="([^"]*)"', page)


def test_titles_are_escaped_and_a_picture_may_be_twice_on_a_page():
    one, other = (svg(figure_of("path"), title="</title><script>&", salt=salt) for salt in "ab")
    assert '<title id="a-title">&lt;/title&gt;&lt;script&gt;&amp;</title>' in one
    assert set(ids(one)).isdisjoint(ids(other))


@pytest.mark.parametrize("salt", ["", "1a", "a b", 'a"', "a>", "ä"])
def test_wrong_salt(salt):
    with pytest.raises(ValueError, match="salt must be a word"):
        svg(new_figure(1, 1), title="", salt=salt)


def test_many_marks_make_no_large_page():
    size = 20_000
    pairs = pairs_of(*np.random.default_rng(0).uniform(size=(2, size)))
    page = svg(figure_of("thresholds", Pairs(1.0, pairs, None, "", None)), title="", salt="a")
    assert "data:image/png;base64" in page
    assert len(page) < 700_000  # the marks by themselves would take 2 MB
    assert "correlation required to merge" in page  # text stays text


def test_the_style_of_the_user_does_not_matter(pages):
    dark = {"text.color": "white", "axes.edgecolor": "white", "font.size": 20, "lines.linewidth": 9}
    dark |= {"xtick.color": "white", "axes.facecolor": "black", "savefig.facecolor": "black"}
    with matplotlib.rc_context(dark):
        with default_style():
            figure = figure_of("path")
        assert svg(figure, title="path", salt="path") == pages["path"]
        assert matplotlib.rcParams["text.color"] == "white"
        (ring,) = [line for line in figure_of("path").axes[0].get_lines() if line.get_ms() > 10]
        assert ring.get_markeredgecolor() == "white"


def test_colours_are_seen_on_white_and_on_dark():
    def luminance(color):
        channels = np.array(to_rgb(color))
        bright = ((channels + 0.055) / 1.055) ** 2.4
        return np.where(channels <= 0.04045, channels / 12.92, bright) @ [0.2126, 0.7152, 0.0722]

    names = ["BLUE", "VERMILION", "GREEN", "PINK", "SKY", "OCHRE", "PURPLE", "RED", "GREY"]
    colors = [getattr(_figures, name) for name in names]
    assert len(set(colors)) == 9
    for color in colors:
        for page in ("#ffffff", "#14181d"):
            dim, bright = sorted([luminance(color), luminance(page)])
            assert (bright + 0.05) / (dim + 0.05) >= 3, (color, page)
