"""The picture of a search: what is drawn where."""

import io
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from lincfa import LinCFACV
from lincfa.datasets import make_correlated

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from lincfa.plotting import plot_search

COLUMNS = ("tolerance", "mean_n_groups")


@pytest.fixture(scope="module")
def search():
    X, y = make_correlated(n_samples=50, n_features=20, noise=2.0, random_state=3)
    return LinCFACV(tolerances=(4.0, 0.3, 1.0), cv=3, max_groups=0.2).fit(X, y)


def invented(scores, eligible=None, chosen=None):
    """A search with results made up: one strategy, one score for each tolerance, three folds."""
    scores = np.array(scores, dtype=float)
    size = len(scores)
    search = LinCFACV(strategies=["joint"], tolerances=tuple(range(1, size + 1)))
    search.labels_ = np.zeros(1, dtype=int)
    search.cv_results_ = {
        "strategy": np.full(size, "joint", dtype=object),
        "tolerance": np.arange(1.0, size + 1),
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


def ring(panel):
    (line,) = [line for line in panel.get_lines() if line.get_label() == "chosen"]
    assert line.get_markerfacecolor() == "none"
    return line.get_xdata()[0], line.get_ydata()[0]


def test_panels_and_labels(search):
    figure = plot_search(search)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 2
    assert [panel.get_xlabel() for panel in figure.axes] == ["tolerance", "mean number of groups"]
    assert figure.axes[0].get_ylabel() == "neg_mean_absolute_error, mean of the folds"
    assert all(panel.get_xscale() == "log" for panel in figure.axes)
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert sorted(labels) == sorted([*search.strategies, "chosen", "too many groups"])


def test_points_are_the_results(search):
    results = search.cv_results_
    eligible = results["eligible"]
    assert 0 < eligible.sum() < eligible.size  # or this test would see one kind only
    for panel, column in zip(plot_search(search).axes, COLUMNS, strict=True):
        places = np.column_stack([results[column], results["mean_test_score"]])
        assert points(panel, "full") == sorted(map(tuple, places[eligible]))
        assert points(panel, "hollow") == sorted(map(tuple, places[~eligible]))
        assert ring(panel) == tuple(places[search.best_index_])


def test_lines_have_bars_of_one_standard_error(search):
    results = search.cv_results_
    scores = np.array([results[f"split{k}_test_score"] for k in range(3)])
    errors = scores.std(axis=0, ddof=1) / np.sqrt(3)
    for panel, column in zip(plot_search(search).axes, COLUMNS, strict=True):
        assert [c.get_label() for c in panel.containers] == list(search.strategies)
        for container in panel.containers:
            rows = np.flatnonzero(results["strategy"] == container.get_label())
            rows = rows[np.argsort(results[column][rows], kind="stable")]  # lines run to the right
            line, _, (bars,) = container.lines
            np.testing.assert_array_equal(line.get_xdata(), results[column][rows])
            np.testing.assert_array_equal(line.get_ydata(), results["mean_test_score"][rows])
            lengths = [np.ptp(segment[:, 1]) for segment in bars.get_segments()]
            np.testing.assert_allclose(lengths, 2 * errors[rows])


def test_strategies_have_colours_of_their_own(search):
    panel = plot_search(search).axes[0]
    assert len({to_hex(c.lines[0].get_color()) for c in panel.containers}) == 4


def test_a_single_combination():
    X, y = make_correlated(n_samples=40, n_features=6, random_state=0)
    search = LinCFACV(strategies=["joint"], tolerances=[2.0], cv=2).fit(X, y)
    figure = plot_search(search)
    assert ring(figure.axes[0]) == (2.0, search.best_score_)
    figure.savefig(io.BytesIO())  # where warnings are errors: axes that are a point would warn


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_it_can_be_saved(search, kind, tmp_path):
    path = tmp_path / f"search.{kind}"
    plot_search(search).savefig(path)
    assert path.stat().st_size > 1000


def test_bad_scores_do_not_flatten_the_others():
    figure = plot_search(invented([0.5, 0.55, 0.6, 0.58, -40.0]))
    for panel in figure.axes:
        low, high = panel.get_ylim()
        assert 0 < low < 0.5
        assert 0.6 < high < 1


@pytest.mark.parametrize(
    ("scores", "eligible", "chosen"),
    [
        ([0.1, 0.9, 0.91, 0.9, 0.9], [True, False, False, False, False], 0),
        ([0.5, 0.5, 0.5, 0.5, 0.49], None, 4),
    ],
    ids=["others are much better but not allowed", "fewest groups within one standard error"],
)
def test_the_choice_is_in_the_picture(scores, eligible, chosen):
    figure = plot_search(invented(scores, eligible, chosen))
    for panel in figure.axes:
        low, high = panel.get_ylim()
        assert low < scores[chosen] < high


def test_many_equal_scores_do_not_shrink_the_picture_to_nothing():
    """Neighbouring tolerances often give the same groups, and so the very same score."""
    figure = plot_search(invented([0.5, 0.5, 0.5, 0.45, 0.4]))
    for panel in figure.axes:
        low, high = panel.get_ylim()
        assert high - low > 0.01  # the bars have that length


def test_before_fit():
    with pytest.raises(NotFittedError):
        plot_search(LinCFACV())


def test_without_matplotlib(monkeypatch, search):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'lincfa\[plot\]'"):
        plot_search(search)


def test_no_window_and_no_global_state():
    """No pyplot, no change of settings, and matplotlib itself only when something is drawn."""
    code = """
import io, sys
from lincfa import LinCFACV
from lincfa.datasets import make_correlated
from lincfa.plotting import plot_search
assert "matplotlib" not in sys.modules, "matplotlib too early"
X, y = make_correlated(n_samples=30, n_features=5, random_state=0)
search = LinCFACV(tolerances=[1.0], cv=2).fit(X, y)
import matplotlib
def settings():  # without the backend: to ask for it loads pyplot
    return {name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}
before = settings()
plot_search(search).savefig(io.BytesIO())
assert settings() == before, "settings changed"
assert "matplotlib.pyplot" not in sys.modules, "pyplot loaded"
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
