"""The picture of scores against the number of groups: what is drawn where."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lincfa import LinCFA
from lincfa.report._findings import Curve, Samples, ScorePath, score_path

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex

from lincfa.plotting import draw_path, new_figure, plot_path


def curve(strategy, n_groups, score, error=None):
    numbers = np.array(n_groups, dtype=float), np.array(score, dtype=float)
    error = np.full(len(n_groups), np.nan) if error is None else np.array(error, dtype=float)
    return Curve(strategy, *numbers, error)


def drawn(*curves, chosen=None):
    ax = new_figure(5, 4).subplots()
    chosen = chosen or (curves[0].n_groups[0], curves[0].score[0])
    draw_path(ScorePath(curves, chosen, "the model", "R²", ""), ax)
    return ax


def lines_and_ring(ax):
    lines = [line for line in ax.get_lines() if line.get_linestyle() == "-"]
    (ring,) = [line for line in ax.get_lines() if line.get_markersize() > 10]
    assert ring.get_markerfacecolor() == "none"
    return lines, (ring.get_xdata()[0], ring.get_ydata()[0])


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def bars(ax):
    return [segment for container in ax.collections for segment in container.get_segments()]


def test_lines_are_the_curves():
    curves = curve("joint", [1, 5, 20], [0.1, 0.3, 0.2]), curve("centroid", [2, 9], [0.25, 0.28])
    ax = drawn(*curves, chosen=(9.0, 0.28))
    lines, ring = lines_and_ring(ax)
    for line, each in zip(lines, curves, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), each.n_groups)
        np.testing.assert_array_equal(line.get_ydata(), each.score)
    assert len({to_hex(line.get_color()) for line in lines}) == 2
    assert ring == (9, 0.28)
    assert legend(ax) == ["joint", "centroid", "the model"]
    assert ax.get_xscale() == "log"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("number of groups", "R²")


def test_one_curve_needs_no_name():
    assert legend(drawn(curve("joint", [1, 5], [0.1, 0.3]))) == ["the model"]


def test_bars_where_errors_are_known():
    ax = drawn(curve("joint", [1, 5, 20], [0.1, 0.3, 0.2], [0.01, np.nan, 0.03]))
    found = {(each[0, 0], round(float(np.ptp(each[:, 1])), 9)) for each in bars(ax)}
    assert found == {(1, 0.02), (20, 0.06)}
    assert not bars(drawn(curve("joint", [1, 5], [0.1, 0.3])))


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
    ax = drawn(curve("joint", numbers, [0.1] * len(numbers)))
    assert set(expected) <= set(ticks(ax))
    assert all(text.isdigit() for text in ticks(ax))
    assert [float(text) for text in ticks(ax)] == ax.get_xticks().tolist()
    low, high = ax.get_xlim()
    assert low < min(numbers)
    assert high > max(numbers)
    ax.figure.draw_without_rendering()  # where warnings are errors


def test_means_over_folds_between_two_numbers():
    ax = drawn(curve("joint", [1.4], [0.1]))
    assert len(ticks(ax)) > 1
    assert all(1.2 < float(text) < 1.7 for text in ticks(ax))


def test_bad_scores_do_not_flatten_the_others():
    low, high = drawn(curve("joint", range(1, 6), [0.5, 0.55, 0.6, 0.58, -40.0])).get_ylim()
    assert 0 < low < 0.5
    assert 0.6 < high < 1


def test_the_choice_is_in_the_picture():
    scores = [0.1, 0.9, 0.91, 0.9, 0.9]
    low, high = drawn(curve("joint", range(1, 6), scores), chosen=(1.0, 0.1)).get_ylim()
    assert low < 0.1
    assert high > 0.91


def test_a_search(fitted):
    ax = plot_path(fitted)
    lines, ring = lines_and_ring(ax)
    results, best = fitted.cv_results_, fitted.best_index_
    assert ring == (results["mean_n_groups"][best], results["mean_test_score"][best])
    assert sum(line.get_xdata().size for line in lines) == results["strategy"].size
    marked = f"chosen, {fitted.n_groups_} groups on all samples"
    assert legend(ax) == [*fitted.strategies, marked]
    assert ax.get_ylabel() == "negative mean absolute error"


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_a_path_of_merges(data, strategy):
    X, y = data
    model = LinCFA(strategy=strategy).fit(X[:60], y[:60])
    split = X[:60], y[:60], X[60:], y[60:]
    path = score_path(model, model, Samples(*split[:2]), Samples(*split[2:]))
    (line,), ring = lines_and_ring(plot_path(model, *split))
    np.testing.assert_array_equal(line.get_ydata(), path.curves[0].score)
    assert ring == path.chosen
    assert ring[0] == model.n_groups_


def test_named_columns(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=list("abcdefghijkl"))
    model = LinCFA(strategy="agglomerative").fit(frame[:60], y[:60])
    (line,), _ = lines_and_ring(plot_path(model, frame[:60], y[:60], frame[60:], y[60:]))
    assert line.get_xdata()[-1] == 12


def test_given_axes_are_used(fitted):
    left, right = new_figure(8, 4).subplots(1, 2)
    assert plot_path(fitted, ax=right) is right
    assert right.get_lines()
    assert not left.get_lines()


def test_errors(data):
    X, y = data
    for strategy in ("sequential", "centroid"):
        with pytest.raises(ValueError, match=r"no path to draw.*'agglomerative'.*LinCFACV"):
            plot_path(LinCFA(strategy=strategy).fit(X, y), X, y, X, y)
    model = LinCFA(strategy="joint").fit(X, y)
    for given in ((), (X, y), (None, None, X, y)):
        with pytest.raises(ValueError, match="give X, y, X_test and y_test"):
            plot_path(model, *given)
    with pytest.raises(ValueError, match="X_test is given without y_test"):
        plot_path(model, X, y, X)
    with pytest.raises(NotFittedError):
        plot_path(LinCFA(strategy="joint"))
