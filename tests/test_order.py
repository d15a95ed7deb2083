"""How much the order of the columns matters, against a plain loop over permutations."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from lincfa import LinCFA, OrderSensitivity, order_sensitivity
from lincfa.datasets import make_correlated


@pytest.fixture(scope="module")
def tree():
    return make_correlated(n_samples=60, n_features=25, noise=3.0, random_state=5)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"strategy": "centroid", "tolerance": 4.0},
        {"tolerance": "unbiased", "min_correlation": 0.6},
        {"noise": 9.0},
    ],
    ids=str,
)
def test_the_plain_loop_gives_the_same(tree, parameters):
    X, y = tree
    model = LinCFA(**parameters)
    found = order_sensitivity(X, y, 6, model=model, random_state=1)
    given = LinCFA(**parameters).fit(X, y)
    random = np.random.RandomState(1)
    sizes, agreement = [], []
    for _ in range(6):
        order = random.permutation(25)
        permuted = LinCFA(**parameters).fit(X[:, order], y)
        back = np.empty(25, dtype=int)
        back[order] = permuted.labels_  # labels in the order of the columns given
        sizes.append(permuted.n_groups_)
        agreement.append(adjusted_rand_score(given.labels_, back))
    assert isinstance(found, OrderSensitivity)
    assert found.n_groups_given == given.n_groups_
    assert found.n_groups.tolist() == sizes
    np.testing.assert_allclose(found.agreement, agreement)
    assert min(agreement) < 1  # or this test would see nothing


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_best_pairs_first_does_not_depend_on_the_order(tree, strategy):
    """Whatever the tolerance, and also where the number of groups is given."""
    for parameters in ({}, {"tolerance": 7.0}, {"n_groups": 6}):
        model = LinCFA(strategy=strategy, **parameters)
        found = order_sensitivity(*tree, 4, model=model, random_state=0)
        np.testing.assert_array_equal(found.agreement, np.ones(4))
        assert set(found.n_groups) == {found.n_groups_given}


def test_constant_columns_have_no_part(tree):
    X, y = tree
    alone = order_sensitivity(X, y, 5, random_state=2)
    with_constant = np.hstack([X, np.ones((60, 2))])
    with pytest.warns(UserWarning, match=r"constant features.*columns 25, 26\.") as caught:
        found = order_sensitivity(with_constant, y, 5, random_state=2)
    assert len(caught) == 1  # not once for each permutation
    np.testing.assert_array_equal(found.agreement, alone.agreement)
    np.testing.assert_array_equal(found.n_groups, alone.n_groups)


def test_the_seed_decides(tree):
    first, again, other = (order_sensitivity(*tree, 8, random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.agreement, again.agreement)
    assert not np.array_equal(first.agreement, other.agreement)
    frame = pd.DataFrame(tree[0]).add_prefix("t")
    given = order_sensitivity(frame, tree[1], 8, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(first.agreement, given.agreement)
    assert order_sensitivity(*tree).n_groups.shape == (20,)
    alone = order_sensitivity(tree[0][:, :1], tree[1], 2, random_state=0)
    assert alone.n_groups_given == 1
    np.testing.assert_array_equal(alone.agreement, [1, 1])


def test_model_and_data_are_left_alone(tree):
    X, y = tree
    before = X.copy(), y.copy()
    model = LinCFA(tolerance=2.0)
    order_sensitivity(X, y, 2, model=model, random_state=0)
    assert vars(model) == vars(LinCFA(tolerance=2.0))
    fitted = LinCFA(tolerance=2.0).fit(X[:, :10], y)
    order_sensitivity(X, y, 2, model=fitted, random_state=0)
    assert fitted.n_features_in_ == fitted.labels_.size == 10
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "3", None])
def test_bad_number_of_permutations(tree, count):
    with pytest.raises(
        ValueError, match=f"n_permutations must be a positive integer, got {count!r}"
    ):
        order_sensitivity(*tree, count)


def test_bad_data_are_named(tree):
    X, y = tree
    table = pd.DataFrame(X).add_prefix("t")
    table.iloc[4, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 't3' \(row 4\)"):
        order_sensitivity(table, y)
    with pytest.raises(ValueError, match="strategy must be one of"):
        order_sensitivity(X, y, model=LinCFA(strategy="greedy"))
    with pytest.raises(ValueError, match="y is constant"):
        order_sensitivity(X, np.ones(60))
