"""The picture of the correlations: what is drawn where."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lincfa import LinCFA, LinCFACV
from lincfa.report._findings import CorrelationMatrix, Samples, correlate_by_group
from reference import QUICK

pytest.importorskip("matplotlib")

from matplotlib.collections import LineCollection

from lincfa.plotting import draw_correlation, new_figure, plot_correlation


def matrix_of(groups, n_features=None, names=None):
    groups = np.asarray(groups)
    values = np.random.default_rng(0).uniform(-1, 1, size=(groups.size, groups.size))
    names = names or [f"x{i}" for i in range(groups.size)]
    return CorrelationMatrix(tuple(names), groups, values, n_features or groups.size)


def drawn(matrix):
    ax = new_figure(4, 4).subplots()
    draw_correlation(matrix, ax)
    return ax


def lines(ax):
    """Places of the horizontal and of the vertical lines."""
    segments = [
        segment
        for collection in ax.collections
        if isinstance(collection, LineCollection)
        for segment in collection.get_segments()
    ]
    level = [each[0, 1] for each in segments if each[0, 1] == each[1, 1]]
    upright = [each[0, 0] for each in segments if each[0, 0] == each[1, 0]]
    assert len(level) + len(upright) == len(segments)
    return level, upright


def tick_names(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_the_image_is_the_matrix_of_the_findings(data):
    X, y = data
    model = LinCFA().fit(X, y)
    ax = plot_correlation(model, X)
    expected = correlate_by_group(model, Samples(X, np.zeros(len(X))))
    (image,) = ax.images
    np.testing.assert_array_equal(image.get_array(), expected.values)
    assert image.get_clim() == (-1, 1)
    low, middle, high = (image.cmap(image.norm(value))[:3] for value in (-1.0, 0.0, 1.0))
    assert low[2] > low[0]  # blue
    assert high[0] > high[2]  # red
    assert min(middle) > 0.9  # white
    assert tick_names(ax.xaxis) == tick_names(ax.yaxis) == list(expected.names)
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "correlation"
    assert bar.get_ylim() == (-1, 1)


def test_lines_where_groups_end():
    ax = drawn(matrix_of([4, 4, 4, 4, 0, 0, 0, 1, 1, 2, 3]))
    level, upright = lines(ax)
    assert level == upright == [3.5, 6.5, 8.5]  # and none between the single features


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([0] * 12, []),
        (range(100), []),
        (np.repeat(range(120), 2), []),  # would fill the picture
        (np.repeat(range(3), [150, 70, 20]), [149.5, 219.5]),
        (np.repeat(range(8), [100, 5, 4, 1, 1, 1, 1, 1]), [99.5, 104.5, 108.5]),
    ],
    ids=["one group", "single features", "pairs", "three groups", "few small ones"],
)
def test_lines_do_not_fill_the_picture(groups, expected):
    level, upright = lines(drawn(matrix_of(groups)))
    assert level == upright == expected


def test_lines_are_as_long_as_the_matrix():
    ax = drawn(matrix_of([0, 0, 1, 1]))
    for collection in ax.collections:
        for segment in collection.get_segments():
            assert sorted(segment.max(axis=0) - segment.min(axis=0)) == [0, 4]


@pytest.mark.parametrize(("count", "named"), [(25, True), (26, False)])
def test_names_where_they_fit(count, named):
    ax = drawn(matrix_of([0] * count))
    expected = [f"x{i}" for i in range(count)] if named else []
    assert tick_names(ax.xaxis) == tick_names(ax.yaxis) == expected
    if named:
        assert ax.get_xticks().tolist() == list(range(count))


@pytest.mark.parametrize(
    ("groups", "n_features", "label"),
    [
        ([0, 0, 1], 3, "3 features in 2 groups, the largest first"),
        ([0, 0], 2, "2 features in 1 group"),
        ([0], 1, "1 feature in 1 group"),
        ([0, 0, 1], 20000, "3 of 20000 features, the largest group first"),
    ],
)
def test_labels_say_what_is_shown(groups, n_features, label):
    ax = drawn(matrix_of(groups, n_features))
    assert (ax.get_xlabel(), ax.get_ylabel()) == (label, "the same features")


def test_limit(data):
    X, y = data
    ax = plot_correlation(LinCFA().fit(X, y), X, limit=5)
    assert ax.images[0].get_array().shape == (5, 5)
    assert ax.get_xlabel().startswith("5 of 12 features")


def test_a_search_draws_its_reducer(tree):
    model = LinCFACV(**QUICK).fit(*tree)
    matrix = correlate_by_group(model.reducer_, Samples(*tree))
    ax = plot_correlation(model, tree[0])
    np.testing.assert_array_equal(ax.images[0].get_array(), matrix.values)


def test_given_axes_are_used(data):
    X, y = data
    left, right = new_figure(8, 4).subplots(1, 2)
    assert plot_correlation(LinCFA().fit(X, y), X, ax=right) is right
    assert right.images
    assert not left.images


@pytest.mark.parametrize("limit", [1, 0, 2.5, True, "all"])
def test_wrong_limit(data, limit):
    X, y = data
    with pytest.raises(ValueError, match="limit must be an integer of at least 2"):
        plot_correlation(LinCFA().fit(X, y), X, limit=limit)


def test_wrong_samples(data):
    X, y = data
    model = LinCFA().fit(X, y)
    with pytest.raises(ValueError, match="X has 1 sample; correlations take at least 2"):
        plot_correlation(model, X[:1])
    with pytest.raises(ValueError, match="X has 11 features"):
        plot_correlation(model, X[:, 1:])
    with pytest.raises(ValueError, match="contains NaN in column"):
        plot_correlation(model, np.where(X[3, 4] == X, np.nan, X))
    with pytest.raises(NotFittedError):
        plot_correlation(LinCFA(), X)
