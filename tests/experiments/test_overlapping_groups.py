"""The two forms of Algorithm 1 against the literal pseudo-code and against LinCFA."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from experiments.pseudocode import form_groups, known_decisions, pair_decisions, reduce
from lincfa import LinCFA, theory
from lincfa.datasets import make_correlated
from pseudocode import lincfa


def groups_of(X, y, overlapping):
    return [g.tolist() for g in form_groups(pair_decisions(X, y), overlapping=overlapping)]


def smooth(seed):
    """A random walk along the columns: features that merge with several seeds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 30)).cumsum(axis=1) + 5 * rng.normal(size=(60, 1))
    return X, X[:, :11].mean(axis=1) + rng.normal(size=60)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [smooth, lambda seed: make_correlated(80, 25, random_state=seed)])
def test_both_forms_are_those_of_the_pseudocode(make, seed):
    X, y = make(seed)
    for overlapping in (True, False):
        assert groups_of(X, y, overlapping) == lincfa(X, y, overlapping=overlapping)
    assert groups_of(X, y, False) == [group.tolist() for group in LinCFA().fit(X, y).groups_]


def test_some_features_are_in_several_groups():
    """Otherwise the test above would say nothing on overlapping."""
    sizes = [sum(map(len, groups_of(*smooth(seed), True))) for seed in range(6)]
    assert min(sizes) > 30


decisions = st.integers(1, 12).flatmap(lambda D: arrays(bool, (D, D)))


@given(decisions)
def test_both_forms_have_the_same_seeds(merge):
    overlapping, disjoint = (form_groups(merge, overlapping=flag) for flag in (True, False))
    assert [group[0] for group in overlapping] == [group[0] for group in disjoint]
    assert sorted(np.concatenate(disjoint)) == list(range(len(merge)))
    for whole, part in zip(overlapping, disjoint, strict=True):
        assert set(part) <= set(whole)


@given(decisions)
def test_a_group_is_its_seed_and_the_later_features_that_merge_with_it(merge):
    for group in form_groups(merge, overlapping=True):
        seed = group[0]
        later = [j for j in range(seed + 1, len(merge)) if merge[seed, j]]
        assert group.tolist() == [seed, *later]


def test_known_decisions_compare_each_pair_with_its_threshold(rng):
    """Among 3540 pairs, some come within a thousandth of their threshold."""
    X, _ = make_correlated(50, 60, random_state=0)
    weights = rng.uniform(size=60)
    corr = np.corrcoef(X, rowvar=False)
    found = known_decisions(X, weights, 4.0)
    margins = []
    for i, j in itertools.permutations(range(60), 2):
        threshold = theory.threshold_asymptotic(50, weights[i], weights[j], 4.0)
        assert found[i, j] == (corr[i, j] >= threshold)
        margins.append(abs(corr[i, j] - threshold))
    assert min(margins) < 1e-3


def test_reduced_features_are_means(rng):
    X = rng.normal(size=(9, 4))
    found = reduce(X, [np.array([0, 2]), np.array([1]), np.array([2, 3])])
    expected = np.column_stack([(X[:, 0] + X[:, 2]) / 2, X[:, 1], (X[:, 2] + X[:, 3]) / 2])
    np.testing.assert_allclose(found, expected)
