"""Data that several test files share."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV
from lincfa.datasets import make_correlated
from lincfa.diagnostics import _compare
from reference import QUICK


def pytest_itemcollected(item):
    """Most tests are of the groups, on few samples; the documentation has no such warning."""
    item.add_marker(pytest.mark.filterwarnings("ignore:LinCFA left .* groups"))


@pytest.fixture(autouse=True)
def no_open_figures():
    """Plots stay open in pyplot, which warns of many."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def rng():
    return np.random.default_rng(20240229)


@pytest.fixture
def data(rng):
    """A hundred samples of twelve features around three factors, and a target."""
    factors = rng.normal(size=(100, 3))
    X = np.repeat(factors, 4, axis=1) + 0.2 * rng.normal(size=(100, 12))
    y = factors @ [1.0, -2.0, 0.5] + rng.normal(size=100)
    return X, y


@pytest.fixture(scope="module")
def tree():
    """The paper's data: the default limit of LinCFACV leaves out some combinations."""
    return make_correlated(n_samples=50, n_features=20, noise=2.0, random_state=3)


@pytest.fixture(scope="module")
def fitted(tree):
    return LinCFACV(**QUICK).fit(*tree)


@pytest.fixture(scope="session")
def load_or_skip():
    """Calls a loader of the paper's data; where their file is missing, the test is skipped."""

    def call(load):
        try:
            return load()
        except FileNotFoundError as missing:
            return pytest.skip(str(missing))

    return call


@pytest.fixture
def planned(monkeypatch):
    """The fits of a comparison that is not carried out."""
    seen = []

    def record(name, X, y, fold, part):
        train, test = fold
        seen.append(SimpleNamespace(name=name, train=train, test=test, **vars(part)))
        return _compare.FoldScore(1.0, 1.0, 1.0, 1.0)

    monkeypatch.setattr(_compare, "_score", record)
    return seen


@pytest.fixture(scope="module")
def halves():
    """Samples to fit, and others to score on, as a report takes them."""
    X, y = make_correlated(n_samples=240, n_features=30, random_state=5)
    return {"X": X[:120], "y": y[:120], "X_test": X[120:], "y_test": y[120:]}


@pytest.fixture(scope="module", params=["sequential", "centroid", "agglomerative", "joint"])
def model(request, halves):
    """One of each strategy, fitted to the first half."""
    return LinCFA(strategy=request.param).fit(halves["X"], halves["y"])


@pytest.fixture(scope="module")
def sequential(halves):
    return LinCFA().fit(halves["X"], halves["y"])


@pytest.fixture
def one_thread():
    """Tasks of dask one after the other, in this thread: so they can be counted and are quick."""
    with pytest.importorskip("dask").config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=["one pass", "many passes"])
def route(request):
    """The ways of a fit on chunks: all comoments at once, or correlations in batches."""
    return request.param
