"""Spectra with bands: what is drawn where."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from label_maps import cell_colors, is_grey, legend_texts

pytest.importorskip("matplotlib")

from lincfa import LinCFA, LinCFACV
from lincfa.datasets import make_spectra
from lincfa.plotting import draw_spectrum, new_figure, plot_spectrum
from lincfa.report._findings import Row
from reference import QUICK

GROUPS = np.array([0, 0, 1, 1, -1, 2, 0, 3, 3])


def drawn(groups=GROUPS, x=None, **kwargs):
    groups = np.asarray(groups)
    x = np.arange(groups.size) * 2.0 if x is None else np.asarray(x)
    ax = new_figure(5, 3).subplots()
    row = Row(x, "wavelength, nm", True, groups, np.arange(groups.size) * 3.0 + 7)
    draw_spectrum(row, ax, label="reflectance", **kwargs)
    return ax


@pytest.fixture(scope="module")
def spectra():
    X, y = make_spectra(n_features=60, random_state=0)
    return X, y


def test_bands_and_line():
    ax = drawn()
    (colors,) = cell_colors(ax)
    assert colors[0] == colors[1] == colors[6]  # one group in two pieces
    assert colors[2] == colors[3]
    assert colors[7] == colors[8]
    assert colors[4] is None
    assert is_grey(colors[5])
    assert len({colors[0], colors[2], colors[5], colors[7]}) == 4
    assert legend_texts(ax) == ["1 single feature", "1 constant feature"]
    edges = ax.collections[0].get_coordinates()[0, :, 0]
    assert edges.tolist() == [-1, 1, 3, 5, 7, 9, 11, 13, 15, 17]
    (line,) = ax.lines
    assert line.get_xdata().tolist() == list(range(0, 18, 2))
    assert line.get_ydata().tolist() == list(range(7, 34, 3))
    assert ax.get_xlim() == (-1, 17)
    low, high = ax.get_ylim()
    assert 4 < low < 7  # by the line alone; the bands fill the height whatever it is
    assert 31 < high < 34
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("wavelength, nm", "reflectance")


def test_descending_numbers():
    ax = drawn(x=np.arange(9)[::-1] * 2.0)
    edges = ax.collections[0].get_coordinates()[0, :, 0]
    assert edges.tolist() == [17, 15, 13, 11, 9, 7, 5, 3, 1, -1]
    assert ax.get_xlim() == (-1, 17)


def test_no_legend_where_every_feature_has_its_group():
    assert drawn([0, 0, 1, 1]).get_legend() is None


def test_one_feature():
    ax = drawn([0])
    assert ax.get_xlim() == (-0.5, 0.5)


def test_the_line_is_as_asked_for():
    (line,) = drawn(color="crimson", linestyle="--").lines
    assert (line.get_color(), line.get_linestyle()) == ("crimson", "--")


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("kind", [float, str])
def test_wavelengths_that_name_the_columns(spectra, turn, kind):
    X, y = spectra
    names = (1100 + 2.5 * np.arange(60))[::turn]
    model = LinCFA().fit(pd.DataFrame(X, columns=[kind(name) for name in names]), y)
    ax = plot_spectrum(model)
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), names)
    np.testing.assert_array_equal(line.get_ydata(), model.mean_)
    assert ax.get_xlabel() == "number that names the feature"
    assert ax.get_ylabel() == "mean of the feature"
    (colors,) = cell_colors(ax)
    for place in np.flatnonzero(np.diff(model.labels_)):
        assert colors[place] != colors[place + 1]


@pytest.mark.parametrize(
    "names", [None, [f"nm{k}" for k in range(60)], [*map(str, range(59)), "7"], ["nan", *"1" * 59]]
)
def test_other_names_leave_positions(spectra, names):
    X, y = spectra
    with pytest.MonkeyPatch.context() as patch:
        model = LinCFA().fit(X, y)
        if names is not None:
            patch.setattr(model, "_names", lambda: names)
        ax = plot_spectrum(model)
    assert ax.lines[0].get_xdata().tolist() == list(range(60))
    assert ax.get_xlabel() == "feature, in the order of the columns"


def test_a_spectrum_of_ones_own(spectra):
    X, y = spectra
    model = LinCFACV(**QUICK).fit(X, y)
    given = new_figure(5, 3).subplots()
    ax = plot_spectrum(model, X[3], ax=given)
    assert ax is given
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), X[3])
    assert ax.get_ylabel() == "value of the feature"


def test_what_cannot_be_drawn(spectra):
    X, y = spectra
    model = LinCFA().fit(X, y)
    with pytest.raises(ValueError, match=r"one number per feature, shape \(60,\), got \(59,\)"):
        plot_spectrum(model, X[0, 1:])
    with pytest.raises(ValueError, match="spectrum"):
        plot_spectrum(model, ["a"] * 60)
    with pytest.raises(NotFittedError):
        plot_spectrum(LinCFA())
