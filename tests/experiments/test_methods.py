"""Algorithm 1 against the literal pseudo-code and LinCFA, and the methods beyond the paper."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from experiments.methods import (
    form_groups,
    group_means,
    merges_by_data,
    merges_by_weights,
    methods,
    predict_methods,
)
from lincfa import LinCFA, theory
from lincfa.datasets import make_correlated
from pseudocode import lincfa


def groups_of(X, y, overlapping):
    return [g.tolist() for g in form_groups(merges_by_data(X, y), overlapping=overlapping)]


def smooth(seed):
    """A random walk along the columns: features that merge with several seeds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 30)).cumsum(axis=1) + 5 * rng.normal(size=(60, 1))
    return X, X[:, :11].mean(axis=1) + rng.normal(size=60)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [smooth, lambda seed: make_correlated(80, 25, random_state=seed)])
def test_groups_are_those_of_the_pseudocode(make, seed):
    X, y = make(seed)
    for overlapping in (True, False):
        assert groups_of(X, y, overlapping) == lincfa(X, y, overlapping=overlapping)
    assert groups_of(X, y, False) == [group.tolist() for group in LinCFA().fit(X, y).groups_]
    if make is smooth:  # otherwise this would say nothing on overlapping
        assert sum(map(len, groups_of(X, y, True))) > 30


@given(st.integers(1, 12).flatmap(lambda D: arrays(bool, (D, D))))
def test_overlapping_and_disjoint_groups_have_the_same_seeds(merges):
    overlapping, disjoint = (form_groups(merges, overlapping=flag) for flag in (True, False))
    assert [group[0] for group in overlapping] == [group[0] for group in disjoint]
    assert sorted(np.concatenate(disjoint)) == list(range(len(merges)))
    for whole, part in zip(overlapping, disjoint, strict=True):
        seed = whole[0]
        later = [j for j in range(seed + 1, len(merges)) if merges[seed, j]]
        assert whole.tolist() == [seed, *later]
        assert set(part) <= set(whole)


def test_true_weights_decide_each_pair_by_its_threshold(rng):
    """Among 3540 pairs, some come within a thousandth of their threshold."""
    X, _ = make_correlated(50, 60, random_state=0)
    weights = rng.uniform(size=60)
    corr = np.corrcoef(X, rowvar=False)
    found = merges_by_weights(X, weights, 4.0)
    margins = []
    for i, j in itertools.permutations(range(60), 2):
        threshold = theory.threshold_asymptotic(50, weights[i], weights[j], 4.0)
        assert found[i, j] == (corr[i, j] >= threshold)
        margins.append(abs(corr[i, j] - threshold))
    assert min(margins) < 1e-3


def test_reduced_features_are_means(rng):
    X = rng.normal(size=(9, 4))
    found = group_means(X, [np.array([0, 2]), np.array([1]), np.array([2, 3])])
    expected = np.column_stack([(X[:, 0] + X[:, 2]) / 2, X[:, 1], (X[:, 2] + X[:, 3]) / 2])
    np.testing.assert_allclose(found, expected)


def test_every_method_predicts_with_some_of_the_features(rng):
    X = rng.normal(size=(60, 1)) + 0.3 * rng.normal(size=(60, 6))
    y = X.sum(axis=1) + rng.normal(size=60)
    found = {name: (d, predicted) for name, d, predicted in predict_methods(X, y, X[:5])}
    assert list(found) == list(methods(60, 6))
    assert len(found) == 8
    for d, predicted in found.values():
        assert predicted.shape == (5,)
        assert 1 <= d <= 6
        assert np.isfinite(predicted).all()
    assert found["ridge"][0] == 6
    components = methods(12, 30)["PLS"][-1].param_grid["n_components"]
    assert components == list(range(1, 9))  # the largest fold leaves nine samples
