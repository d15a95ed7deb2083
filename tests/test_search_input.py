"""Bad input to LinCFACV is refused with a message that names what is wrong and where."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold

from lincfa import LinCFACV
from reference import QUICK


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tolerances": []}, r"tolerances must be a list with at least one entry, got \[\]"),
        ({"tolerances": 1.0}, "tolerances must be a list with at least one entry, got 1.0"),
        ({"tolerances": "unbiased"}, "tolerances must be a list .*, got 'unbiased'"),
        ({"tolerances": [1.0, -2.0]}, "each of tolerances must be a positive number .* got -2.0"),
        ({"tolerances": [None]}, "each of tolerances must be a positive number .* got None"),
        ({"strategies": ()}, r"strategies must be a list with at least one entry, got \(\)"),
        ({"strategies": "joint"}, "strategies must be a list .*, got 'joint'"),
        ({"strategies": ["joint", "greedy"]}, "strategy must be one of .*, got 'greedy'"),
        ({"max_groups": 0}, "max_groups must be None or a share of the samples, .* got 0"),
        ({"max_groups": "few"}, "max_groups must be None or a share of the samples, .* got 'few'"),
        ({"max_groups": 5}, "max_groups must be None or a share of the samples, .* got 5"),
        ({"rule": "1se"}, r"rule must be one of \['best', 'one_standard_error'\], got '1se'"),
        ({"units": "kelvin"}, "units must be one of .*, got 'kelvin'"),
        ({"noise": 0.0}, "noise must be 'pair', 'full' or a positive number, got 0.0"),
        ({"min_correlation": 2}, "min_correlation must be None or a number from -1 to 1, got 2"),
        ({"scoring": "accuraccy"}, "scoring"),
        ({"cv": 1}, "n_splits=2 or more"),
        ({"cv": [(np.arange(3), np.arange(3, 50))]}, "A fold has 3 samples .* at least 4"),
        # The same fold as masks, which scikit-learn's own searches understand too.
        ({"cv": [(np.arange(50) < 3, np.arange(50) >= 3)]}, "A fold has 3 samples .* at least 4"),
        ({"cv": []}, "fold"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_parameters(tree, parameters, message):
    with pytest.raises(ValueError, match=message):
        LinCFACV(**QUICK | parameters).fit(*tree)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series], ids=lambda make: make.__name__)
@pytest.mark.parametrize("length", [1, 2])
def test_any_sequence_will_do(tree, make, length):
    """Also an array with a single entry, as ``np.logspace`` of one or a filtered table gives."""
    strategies, tolerances = ["joint", "centroid"][:length], [1.0, 4.0][:length]
    model = LinCFACV(strategies=make(strategies), tolerances=make(tolerances), cv=2).fit(*tree)
    assert model.cv_results_["strategy"].tolist() == np.repeat(strategies, length).tolist()
    assert model.cv_results_["tolerance"].tolist() == tolerances * length


def test_too_few_samples(tree):
    X, y = tree
    with pytest.raises(ValueError, match=r"3 sample.* minimum of 4 is required by LinCFACV"):
        LinCFACV().fit(X[:3], y[:3])
    with pytest.raises(ValueError, match="Cross-validation needs at least 6 samples, got 5"):
        LinCFACV().fit(X[:5], y[:5])
    with pytest.raises(ValueError, match=r"A fold has 3 samples .*; use fewer or larger folds"):
        LinCFACV(cv=2).fit(X[:6], y[:6])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_columns_that_are_not_finite_are_named(tree, value):
    X, y = tree
    table = pd.DataFrame(X).add_prefix("t")
    table.iloc[41, 7] = value
    with pytest.raises(ValueError, match=r"column 't7' \(row 41\)"):
        LinCFACV(**QUICK).fit(table, y)
    model = LinCFACV(**QUICK).fit(table.replace([value], 0.0), y)
    with pytest.raises(ValueError, match="column 't7'"):
        model.predict(table)


def test_target_constant(tree):
    X, _ = tree
    with pytest.raises(ValueError, match=r"y is constant \(all values are 2\)"):
        LinCFACV(**QUICK).fit(X, np.full(50, 2.0))


def test_target_constant_in_a_fold(tree):
    """The message must speak of folds: the target as a whole does vary."""
    X, _ = tree
    rare = np.where(np.arange(50) < 5, 3.0, 0.0)
    with pytest.raises(ValueError, match="fold"):
        LinCFACV(**QUICK).fit(X, rare)


def test_columns_constant_in_a_fold(tree):
    X, y = tree
    rare = np.where(np.arange(50)[:, None] < 5, X[:, :2], 0.0)
    with pytest.raises(ValueError, match=r"fold with 33 .*: Every column of X is constant"):
        LinCFACV(**QUICK).fit(rare, y)


def test_scores_that_are_not_finite(tree):
    with pytest.raises(ValueError, match="scores are not finite; choose another scoring or larger"):
        LinCFACV(**QUICK, scoring=lambda model, X, y: np.nan).fit(*tree)


def test_before_fit(tree):
    X, y = tree
    for use in (LinCFACV().predict, LinCFACV().transform, lambda X: LinCFACV().score(X, y)):
        with pytest.raises(NotFittedError):
            use(X)
    with pytest.raises(NotFittedError):
        LinCFACV().get_feature_names_out()


def test_other_columns(tree):
    X, y = tree
    model = LinCFACV(**QUICK).fit(X, y)
    for use in (model.predict, model.transform):
        with pytest.raises(ValueError, match="X has 19 features, but LinCFACV is expecting 20"):
            use(X[:, :-1])


@pytest.mark.parametrize("scoring", ["r2", lambda model, X, y: np.nan], ids=["target", "scores"])
def test_after_a_fit_that_failed(tree, scoring):
    """Nothing of an earlier fit is left to be mixed with the columns of the failed one."""
    X, y = tree
    model = LinCFACV(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"constant|finite"):
        model.set_params(scoring=scoring).fit(X[:, :3], np.ones(50) if scoring == "r2" else y)
    for use in (model.transform, model.predict):
        with pytest.raises(NotFittedError):
            use(X[:, :3])


def test_folds_that_are_used_up(tree):
    """A generator of splits is empty at the second fit; that has to be said."""
    X, y = tree
    model = LinCFACV(tolerances=(1.0,), cv=KFold(3).split(X)).fit(X, y)
    with pytest.raises(ValueError, match="fold"):
        model.fit(X, y)
