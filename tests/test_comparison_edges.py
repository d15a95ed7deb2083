"""A comparison asked for nonsense, of data that some methods cannot take, or of large ones."""

import numpy as np
import pandas as pd
import pytest
from lincfa.diagnostics._comparison import METHODS, _methods
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import ShuffleSplit

from lincfa import compare
from reference import draw

QUICK = ["LinCFA", "all features", "PCA"]


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"methods": ["LinCFA", "lasso"]}, r"methods must be among \['LinCFA', .*'PLS'.*'lasso'"),
        ({"methods": []}, "methods must be among"),
        ({"methods": 3}, "methods must be among"),
        ({"cv": 1}, "cv must be an integer of at least 2"),
        ({"cv": 2.5}, "cv must be an integer of at least 2"),
        ({"cv": True}, "cv must be an integer of at least 2"),
        ({"cv": None}, "cv must be an integer of at least 2"),
        ({"cv": []}, "no folds"),
        ({"cv": 40}, "A fold has .* training and 1 held-out samples"),
        ({"cv": ShuffleSplit(2, train_size=3, random_state=0)}, "3 training and"),
        ({"n_repeats": 0}, "n_repeats must be a positive integer"),
        ({"strategies": ["best"]}, "strategy must be one of"),
        ({"strategies": "joint"}, "strategies must be a list"),
    ],
    ids=str,
)
def test_bad_parameters(arguments, match, planned):
    X, y = draw(0)
    with pytest.raises(ValueError, match=match):
        compare(X, y, **arguments)
    assert planned == []


def test_bad_data_are_refused_at_once(planned):
    X, y = draw(0)
    frame = pd.DataFrame(X).add_prefix("t")
    broken = frame.copy()
    broken.loc[7, "t3"] = np.nan
    for data, target, match in (
        (broken, y, "NaN in column 't3'.*row 7"),
        (frame.assign(t3="a"), y, "column 't3'"),
        (frame.rename(columns={"t1": "t0"}), y, "unique"),
        (frame, np.ones_like(y), "constant"),
        (frame * 0 + 1, y, "Every column"),
        (frame[:3], y[:3], "minimum of 4"),
        (frame[:4], y[:4], "n_splits=5"),
        (frame, np.r_[1.0, np.zeros(len(y) - 1)], "constant in the (training|held-out) part"),
    ):
        with pytest.raises(ValueError, match=match):
            compare(data, target)
    assert planned == []


def test_a_method_that_fails_is_listed_with_the_reason():
    X, y = draw(0)
    found = compare(X[:, :1], y, cv=2, n_repeats=1, methods=["FeatureAgglomeration", *QUICK])
    assert found.failures[0].startswith("in 2 of 2 folds: Found array with 1 feature")
    assert found.failures[1:] == ("", "", "")
    assert np.isnan(found.r2[0])
    assert np.isfinite(found.r2[1:]).all()
    lines = str(found).splitlines()
    assert lines[2].split() == ["FeatureAgglomeration", "failed"]
    assert "FeatureAgglomeration failed in 2 of 2 folds: Found array" in str(found)
    assert found.to_dict()["methods"][0]["failure"] == found.failures[0]


def test_too_few_samples_for_some_methods():
    X, y = draw(0)
    found = compare(X[:10], y[:10], cv=2, n_repeats=1, methods=["LinCFACV", "LinCFA"])
    assert "at least 6 samples, got 5" in found.failures[0]
    assert found.failures[1] == ""


def test_constant_features_are_warned_of_once():
    """Of those that are constant in some fold alone nothing is said."""
    X, y = draw(0)
    X[:, 3] = 7.0
    X[:, 5] = 0.0
    X[11, 5] = 1.0
    with pytest.warns(UserWarning, match="column 3") as warned:
        found = compare(X, y, n_repeats=1, methods=QUICK)
    assert len(warned) == 1
    assert found.notes == ("1 constant feature was left out.",)
    assert found.n_features_in == X.shape[1] - 1
    assert found.n_features[1] == X.shape[1] - 1


def test_warnings_of_methods_become_notes(monkeypatch):
    X, y = draw(0)

    def warn(part):
        np.float64(1) / np.float64(0)  # a RuntimeWarning of numpy
        return LinearRegression()

    monkeypatch.setitem(METHODS, "PCA", warn)
    found = compare(X, y, cv=2, n_repeats=1, methods=["PCA"])
    assert len(found.notes) == 1
    assert found.notes[0].startswith("PCA warned in 2 of 2 folds: divide by zero")


def test_large_data_leave_out_what_would_not_fit():
    assert _methods.chosen_methods(None, 160, 4000) == (list(METHODS), [])
    names, notes = _methods.chosen_methods(None, 160, 20_000)
    assert set(METHODS) - set(names) == set(_methods._SQUARE)
    assert all(name in notes[0] for name in _methods._SQUARE)
    names, notes = _methods.chosen_methods(None, 4000, 3000)
    assert set(METHODS) - set(names) == {"all features", "ridge", "PCA"}
    assert "4000 training samples of 3000 features" in notes[0]
    assert _methods.chosen_methods(["LinCFA joint"], 160, 20_000) == (["LinCFA joint"], [])
    assert len(_methods.searched_strategies(None, 1000)[0]) == 4
    tried, note = _methods.searched_strategies(None, 1001)
    assert tried == ("sequential",)
    assert note == "Above 1000 features LinCFACV tries sequential only, to save time."
    assert _methods.searched_strategies(["joint"], 5000) == (("joint",), "")


def test_what_was_left_out_is_said(monkeypatch, planned):
    X, y = draw(0)
    monkeypatch.setattr(_methods, "MOST_SQUARE", 5)
    monkeypatch.setattr(_methods, "MOST_SEARCHED", 5)
    found = compare(X, y)
    assert "Left out above 5 features" in str(found)
    assert "Above 5 features LinCFACV tries" in str(found)
    assert "Left out above 5 features" in found._repr_html_()
    assert {task.strategies for task in planned} == {("sequential",)}
    assert len(compare(X, y, methods=QUICK).notes) == 0
