"""The picture of the coefficients: what is drawn where, in which colour."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from lincfa import LinCFA, LinCFACV
from lincfa.report._findings import Coefficients, spread_back

pytest.importorskip("matplotlib")

from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex

from lincfa.plotting import draw_coefficients, new_figure, plot_coefficients
from lincfa.plotting._figures import GREY


def coefficients(groups, values=None, n_features=None, names=None):
    groups = np.asarray(groups)
    values = np.linspace(-1, 2, groups.size) if values is None else np.asarray(values, float)
    names = tuple(names or (f"x{i}" for i in range(groups.size)))
    return Coefficients(names, groups, values, n_features or groups.size)


def drawn(*args, **named):
    ax = new_figure(6, 4).subplots()
    draw_coefficients(coefficients(*args, **named), ax)
    return ax


def marks(ax):
    """Places of the marks by colour."""
    return {
        to_hex(each.get_facecolor()[0]): np.asarray(each.get_offsets())
        for each in ax.collections
        if isinstance(each, PathCollection)
    }


def legend(ax):
    """Labels by colour."""
    box = ax.get_legend()
    colors = [to_hex(handle.get_facecolor()[0]) for handle in box.legend_handles]
    return dict(zip(colors, [text.get_text() for text in box.get_texts()], strict=True))


def test_marks_are_the_coefficients_by_group():
    groups = [0, 1, 1, 0, 1, 2, -1]
    values = [1.0, -2, -2, 1, -2, 3, 0]
    ax = drawn(groups, values)
    places = marks(ax)
    names = legend(ax)
    assert list(names.values()) == [
        "group of x1 (3 features)",
        "group of x0 (2 features)",
        "other features",
    ]
    assert names[GREY] == "other features"
    expected = {"group of x1 (3 features)": [1, 2, 4], "group of x0 (2 features)": [0, 3]}
    expected["other features"] = [5, 6]
    for color, members in zip(names, expected.values(), strict=True):
        np.testing.assert_array_equal(places[color][:, 0], members)
        np.testing.assert_array_equal(places[color][:, 1], np.array(values)[members])


def test_stems_go_from_zero_to_the_marks():
    values = [1.0, -2, 3]
    stems = [
        segment
        for each in drawn([0, 0, 1], values).collections
        if isinstance(each, LineCollection)
        for segment in each.get_segments()
    ]
    assert sorted(segment[0].tolist() for segment in stems) == [[0, 0], [1, 0], [2, 0]]
    assert sorted(segment[1].tolist() for segment in stems) == [[0, 1], [1, -2], [2, 3]]
    assert not any(isinstance(each, LineCollection) for each in drawn([0] * 61).collections)


def test_zero_line():
    (line,) = drawn([0, 0]).get_lines()
    assert list(line.get_ydata()) == [0, 0]


def test_eight_colours_for_the_largest_groups():
    sizes = [2, 3, 4, 5, 6, 7, 8, 9, 10, 1]
    ax = drawn(np.repeat(range(10), sizes))
    places = marks(ax)
    assert len(places) == 9
    assert len(places[GREY]) == 2 + 1
    assert sorted(len(each) for each in places.values()) == [3, 3, 4, 5, 6, 7, 8, 9, 10]
    shapes = {each.get_paths()[0].vertices.tobytes() for each in ax.collections}
    assert len(shapes) >= 8  # for eyes that cannot tell colours apart


def test_single_features_have_one_colour_and_no_legend():
    ax = drawn(range(300))
    ((color, places),) = marks(ax).items()
    assert len(places) == 300
    assert color != GREY
    assert ax.get_legend() is None


@pytest.mark.parametrize(("count", "named"), [(25, True), (26, False)])
def test_names_where_they_fit(count, named):
    labels = [label.get_text() for label in drawn([0] * count).get_xticklabels()]
    assert (labels == [f"x{i}" for i in range(count)]) is named


def test_labels():
    ax = drawn([0, 0, 1])
    assert ax.get_xlabel() == "3 features, in the order of the columns"
    assert ax.get_ylabel() == "rise of the prediction with one\nstandard deviation of the feature"
    ax = drawn([0, 0, 1], n_features=30000)
    assert ax.get_xlabel() == "first 3 of 30000 features, in the order of the columns"
    assert "group of x0" in legend(ax).values()  # how many it has is not known


def test_names_in_the_legend_are_as_they_are():
    names = ["_a", "$x^2$", "c" * 50, ""]
    ax = drawn(np.repeat(range(4), 2), names=np.repeat(names, 2).tolist())
    assert list(legend(ax).values()) == [
        "group of _a (2 features)",
        "group of $x^2$ (2 features)",
        f"group of {'c' * 19}… (2 features)",
        "group of '' (2 features)",
    ]
    assert not any(text.get_parse_math() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize("width", [6, 12])
def test_long_names_in_the_legend_leave_room_for_the_axes(width):
    ax = new_figure(width, 5).subplots()
    names = [f"{'temperature of ' * 3}{i}" for i in range(16)]
    draw_coefficients(coefficients(np.repeat(range(8), 2), names=names), ax)
    ax.figure.draw_without_rendering()
    assert ax.get_position().width > 0.6
    rows = {text.get_window_extent().y0 for text in ax.get_legend().get_texts()}
    assert len(rows) == {6: 8, 12: 4}[width]


@pytest.mark.parametrize("values", [[1.0, 2, -3, 4], [0, 0, 0, 0]])
def test_a_plain_axis_where_it_shows_all(values):
    assert drawn([0, 0, 1, 1], values).get_yscale() == "linear"


def test_few_large_values_do_not_flatten_the_others():
    values = np.r_[np.full(50, 1e-3), np.full(49, -2e-3), 10.0]
    ax = drawn(np.repeat(range(3), [50, 49, 1]), values)
    assert ax.get_yscale() == "symlog"
    assert ax.get_ylabel().endswith("logarithmic away from zero")
    heights = ax.transData.transform(np.column_stack([np.zeros(3), [-2e-3, 1e-3, 10.0]]))[:, 1]
    assert np.diff(heights).min() > 0.1 * np.ptp(ax.get_window_extent().intervaly)
    low, high = ax.get_ylim()
    assert low < -2e-3
    assert high > 10
    ax.figure.draw_without_rendering()
    assert {"0", "0.01", "−0.001"} <= {label.get_text() for label in ax.get_yticklabels()}


@pytest.mark.parametrize(("count", "expected"), [(1500, False), (1501, True)])
def test_many_marks_become_an_image(count, expected):
    assert {each.get_rasterized() for each in drawn([0] * count).collections} == {expected}


def test_a_model_with_coefficients(data):
    X, y = data
    model = LinCFA().fit(X, y)
    coef = LinearRegression().fit(model.transform(X), y).coef_
    expected = spread_back(model, coef)
    for given in (coef, coef[None], coef.tolist()):
        places = np.concatenate(list(marks(plot_coefficients(model, given)).values()))
        values = places[np.argsort(places[:, 0]), 1]
        np.testing.assert_array_equal(values, expected.values)
    rise = model.transform(X + model.scale_ * np.eye(12)[4]) @ coef - model.transform(X) @ coef
    np.testing.assert_allclose(rise, values[4])


def test_a_search_has_its_own(fitted):
    expected = spread_back(fitted.reducer_, fitted.estimator_.coef_)
    places = np.concatenate(list(marks(plot_coefficients(fitted)).values()))
    np.testing.assert_array_equal(places[np.argsort(places[:, 0]), 1], expected.values)


def test_given_axes_are_used(fitted):
    left, right = new_figure(8, 4).subplots(1, 2)
    assert plot_coefficients(fitted, ax=right) is right
    assert right.collections
    assert not left.collections


def test_errors(data):
    X, y = data
    model = LinCFA().fit(X, y)
    with pytest.raises(ValueError, match="coef is needed"):
        plot_coefficients(model)
    forest = RandomForestRegressor(2, random_state=0)
    search = LinCFACV(tolerances=[1.0], strategies=["joint"], cv=2, estimator=forest).fit(X, y)
    with pytest.raises(ValueError, match="coef is needed"):
        plot_coefficients(search)
    for wrong in (np.ones(model.n_groups_ + 1), np.ones((2, model.n_groups_)), 1.0):
        with pytest.raises(ValueError, match="one coefficient per reduced feature"):
            plot_coefficients(model, wrong)
    with pytest.raises(ValueError, match="finite"):
        plot_coefficients(model, np.full(model.n_groups_, np.nan))
    with pytest.raises(NotFittedError):
        plot_coefficients(LinCFA(), [1.0])
