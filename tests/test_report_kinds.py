"""Reports on models of every kind: which pictures there are, and that none of them fails."""

import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge

import lincfa
from lincfa import LinCFA, LinCFACV

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

ALWAYS = ["correlations", "thresholds", "coefficients"]
WITH_PATH = ["correlations", "thresholds", "path", "coefficients"]


@pytest.fixture
def pictures(tmp_path):
    """Names of the pictures in the report on a model."""

    def of(model, **given):
        model.report(tmp_path / "report.html", **given)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        return re.findall(r'<figure id="picture-(\w+)"', page)

    return of


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, ALWAYS),
        ({"min_correlation": np.float64(0.5)}, ALWAYS),
        ({"tolerance": "unbiased", "noise": 3.0}, ALWAYS),
        ({"units": "original", "noise": "full"}, ALWAYS),
        ({"strategy": "centroid"}, ALWAYS),
        ({"strategy": "agglomerative", "n_groups": 1}, WITH_PATH),
        ({"strategy": "agglomerative", "n_groups": 30}, WITH_PATH),
        ({"strategy": "joint"}, ["correlations", "path", "coefficients"]),
    ],
)
def test_settings(pictures, halves, parameters, expected):
    model = LinCFA(**parameters).fit(halves["X"], halves["y"])
    assert pictures(model, **halves) == expected


def test_a_search(pictures, halves):
    model = LinCFACV(estimator=Ridge(), cv=3, strategies=["centroid"]).fit(halves["X"], halves["y"])
    assert pictures(model, **halves) == WITH_PATH
    assert pictures(model) == ["thresholds", "path", "coefficients"]


def test_a_loaded_model(pictures, halves, tmp_path):
    LinCFA().fit(halves["X"], halves["y"]).save(tmp_path / "groups.json")
    model = lincfa.load(tmp_path / "groups.json")
    assert pictures(model, **halves) == ALWAYS
    assert pictures(model) == ["thresholds"]


def test_a_model_fitted_in_chunks(pictures, halves):
    model = LinCFA()
    for rows in (slice(50), slice(50, None)):
        model.partial_fit(halves["X"][rows], halves["y"][rows])
    assert pictures(model, **halves) == ALWAYS


def test_one_feature(pictures, halves):
    one = halves | {name: halves[name][:, :1] for name in ("X", "X_test")}
    model = LinCFA().fit(one["X"], one["y"])
    assert pictures(model, **one) == ["correlations", "coefficients"]


def test_more_features_than_samples(pictures, halves):
    few = halves | {name: halves[name][:20] for name in ("X", "y")}
    model = LinCFA().fit(few["X"], few["y"])
    assert pictures(model, **few, ordered=True) == ALWAYS


def test_single_precision(pictures, halves):
    single = halves | {name: halves[name].astype(np.float32) for name in ("X", "X_test")}
    model = LinCFA().fit(single["X"], single["y"])
    assert pictures(model, **single) == ALWAYS


def test_an_explained_target(pictures, halves):
    exact = halves | {f"y{k}": halves[f"X{k}"][:, :2].sum(axis=1) for k in ("", "_test")}
    model = LinCFA().fit(exact["X"], exact["y"])
    assert pictures(model, **exact) == ALWAYS


def test_copies(pictures, halves):
    X = np.repeat(halves["X"][:, :3], 4, axis=1)
    model = LinCFA().fit(X, halves["y"])
    assert pictures(model, X=X, y=halves["y"]) == ALWAYS
