"""The picture of correlation against threshold: what is drawn where."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lincfa import LinCFA
from lincfa.report._findings import Pairs, PairTable, Samples, decide_pairs

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex

from lincfa.plotting import draw_thresholds, new_figure, plot_thresholds


def table(correlation, threshold, total=None):
    names = tuple(f"x{i}" for i in range(len(correlation)))
    numbers = (np.array(column, dtype=float) for column in (correlation, threshold))
    return PairTable(names, names, *numbers, np.ones(len(names)), total or len(names))


def drawn(merged, near=None, min_correlation=None):
    ax = new_figure(5, 4).subplots()
    draw_thresholds(Pairs(1.0, merged, near, "", min_correlation), ax)
    return ax


def marks(ax):
    return [np.asarray(scatter.get_offsets()) for scatter in ax.collections]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def x_labels(ax):
    return dict(
        zip([t.get_text() for t in ax.get_xticklabels()], ax.get_xticks().tolist(), strict=True)
    )


def test_marks_are_the_pairs():
    merged, near = table([0.9, 0.8], [0.5, -0.9]), table([0.3, 0.6, 0.1], [0.7, 0.65, 0.99])
    ax = drawn(merged, near)
    for places, pairs in zip(marks(ax), (merged, near), strict=True):
        np.testing.assert_array_equal(places, np.column_stack([pairs.threshold, pairs.correlation]))
    colors = [to_hex(scatter.get_facecolor()[0]) for scatter in ax.collections]
    assert len(set(colors)) == 2
    assert legend(ax) == [
        "merged (2)",
        "kept apart, the nearest (3)",
        "just enough: above it, pairs merge",
    ]
    assert ax.get_xlabel() == "threshold: the correlation that is enough"
    assert ax.get_ylabel() == "correlation of the pair"
    assert "any" not in x_labels(ax)
    assert not ax.patches


def test_everything_is_within_the_axes():
    ax = drawn(table([-0.7, 1.0], [-0.99, 1.0]), table([0.3], [0.7]))
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert left < -0.99
    assert bottom < -0.7
    assert right > 1
    assert top > 1


def test_diagonal():
    (line,) = drawn(table([0.9], [0.5])).get_lines()
    np.testing.assert_array_equal(line.get_xdata(), line.get_ydata())
    assert line.get_xdata()[0] < 0.5
    assert line.get_xdata()[1] == 1


def test_a_strip_where_any_correlation_would_do():
    merged = table([0.9, 0.1, 0.2, 0.3, 0.4], [0.5, -np.inf, -3, -1.01, -1])
    ax = drawn(merged)
    (strip,) = ax.patches
    left, right = strip.get_x(), strip.get_x() + strip.get_width()
    assert ax.get_xlim()[0] == pytest.approx(left)
    assert right < -1
    assert left < x_labels(ax)["any"] < right
    (places,) = marks(ax)
    np.testing.assert_array_equal(places[:, 1], merged.correlation)
    np.testing.assert_array_equal(places[[0, 4], 0], [0.5, -1])
    within = places[1:4, 0]
    assert (left < within).all()
    assert (within < right).all()
    assert len(set(within)) == 3  # beside each other


def test_only_pairs_that_any_correlation_would_merge():
    ax = drawn(table([0.9, 0.8], [-np.inf, -np.inf]))
    (strip,) = ax.patches
    assert (marks(ax)[0][:, 0] < strip.get_x() + strip.get_width()).all()
    assert "1.0" in x_labels(ax)


def test_no_pairs_at_all():
    ax = drawn(table([], []), table([], []))
    assert [len(each) for each in marks(ax)] == [0, 0]
    assert legend(ax)[:2] == ["merged (0)", "kept apart, the nearest (0)"]


def test_very_close_to_one():
    """Ticks can be told apart, without an offset at the corner."""
    ax = drawn(table([1 - 1e-5, 1.0], [1 - 3e-5, 1 - 2e-5]))
    labels = [label for label in x_labels(ax) if label]
    assert len(labels) > 2
    assert all(float(label) == pytest.approx(at, abs=1e-9) for label, at in x_labels(ax).items())
    assert drawn(table([1.0], [1.0])).get_xlim()[0] < 1


def test_negative_ticks_have_a_minus():
    labels = x_labels(drawn(table([0.5], [-0.9])))
    assert labels["−0.5"] == -0.5


def test_min_correlation():
    ax = drawn(table([0.9], [0.5]), table([0.8], [0.6]), min_correlation=0.25)
    _, line = ax.get_lines()
    assert list(line.get_ydata()) == [0.25, 0.25]
    assert ax.get_ylim()[0] < 0.25
    assert legend(ax)[-1] == "min_correlation: below it, none do"


def test_of_how_many():
    ax = drawn(table([0.9], [0.5], total=19953), table([0.8, 0.7], [0.9, 0.9], total=300))
    assert legend(ax)[:2] == ["merged (1 of 19953)", "kept apart, the nearest (2 of 300)"]


@pytest.mark.parametrize(("count", "expected"), [(1500, False), (1501, True)])
def test_many_marks_become_an_image(count, expected):
    ax = drawn(table(np.linspace(0, 1, count), np.zeros(count)))
    assert ax.collections[0].get_rasterized() is expected


@pytest.mark.parametrize("strategy", ["sequential", "centroid", "agglomerative"])
def test_a_model(data, strategy):
    X, y = data
    model = LinCFA(strategy=strategy, min_correlation=0.2).fit(X, y)
    pairs = decide_pairs(model, Samples(X, y))
    assert len(pairs.merged.first) > 0
    assert len(pairs.near.first) > 0
    ax = plot_thresholds(model, X, y)
    for places, each in zip(marks(ax), (pairs.merged, pairs.near), strict=True):
        np.testing.assert_array_equal(places[:, 1], each.correlation)
    assert legend(ax)[-1] == "min_correlation: below it, none do"
    assert len(plot_thresholds(model).collections) == 1  # merged ones, without the data


def test_named_columns(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=list("abcdefghijkl"))
    ax = plot_thresholds(LinCFA(strategy="centroid").fit(frame, y), frame, y)
    assert len(ax.collections) == 2


def test_given_axes_are_used(data):
    left, right = new_figure(8, 4).subplots(1, 2)
    assert plot_thresholds(LinCFA().fit(*data), ax=right) is right
    assert right.collections
    assert not left.collections


def test_errors(data):
    X, y = data
    with pytest.raises(ValueError, match="joint strategy has no thresholds"):
        plot_thresholds(LinCFA(strategy="joint").fit(X, y), X, y)
    with pytest.raises(ValueError, match="X is given without y"):
        plot_thresholds(LinCFA().fit(X, y), X)
    with pytest.raises(NotFittedError):
        plot_thresholds(LinCFA())
