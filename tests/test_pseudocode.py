"""The fast fit against the literal pseudo-code."""

import numpy as np
import pytest

from lincfa import LinCFA
from pseudocode import lincfa


def factors(rng, n, D):
    """Several groups of features around common factors, weights all over the place."""
    n_factors = rng.integers(1, 6)
    common = rng.normal(size=(n, n_factors))
    X = common @ rng.normal(size=(n_factors, D)) + rng.uniform(0.01, 1) * rng.normal(size=(n, D))
    return X, X @ rng.normal(size=D) + rng.uniform(0.1, 10) * rng.normal(size=n)


def smooth(rng, n, D):
    """A random walk along the columns: neighbours correlate up to 0.99 and more."""
    X = rng.normal(size=(n, D)).cumsum(axis=1) + 5 * rng.normal(size=(n, 1))
    return X, X[:, : D // 3 + 1].mean(axis=1) + rng.normal(size=n)


def independent(rng, n, D):
    X = rng.normal(size=(n, D))
    return X, X @ rng.normal(size=D) + rng.normal(size=n)


def duplicated(rng, n, D):
    """Copies, and copies in another unit, which differ by rounding only."""
    X, y = factors(rng, n, D)
    copies = rng.integers(D, size=D)
    other_unit = 1.8 * X[:, copies] + 32
    return np.hstack([X, X[:, copies], other_unit])[:, rng.permutation(3 * D)], y


def collinear(rng, n, D):
    """Sums, differences and mirror images of other columns."""
    X, y = factors(rng, n, D)
    mirrored = -2 * X[:, rng.integers(D, size=max(1, D // 2))] + 1
    sums = X + X[:, rng.permutation(D)]
    return np.hstack([X, mirrored, sums]), y


def one_strong(rng, n, D):
    X, _ = factors(rng, n, D)
    return X, 100 * X[:, D // 2] + rng.normal(size=n)


def explained(rng, n, D):
    """A target that a pair of features explains but for one part in 10³ to 10⁸."""
    X, _ = factors(rng, n, D + 1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    i, j = rng.choice(D + 1, size=2, replace=False)
    return X, Z[:, i] + Z[:, j] + 10.0 ** -rng.uniform(3, 8) * rng.normal(size=n)


def wide(rng, n, D):
    return factors(rng, n=int(rng.integers(7, 25)), D=int(rng.integers(80, 160)))


def tiny(rng, n, D):
    return factors(rng, n=int(rng.integers(4, 7)), D=D)


FAMILIES = [factors, smooth, independent, duplicated, collinear, one_strong, explained, wide, tiny]


def make(family, seed, order):
    rng = np.random.default_rng([FAMILIES.index(family), seed, order == "F"])
    X, y = family(rng, n=int(rng.integers(10, 80)), D=int(rng.integers(1, 25)))
    return np.asarray(X, order=order), y


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("family", FAMILIES)
def test_groups_are_those_of_the_pseudocode(family, seed, order):
    X, y = make(family, seed, order)
    model = LinCFA().fit(X, y)
    # Least squares itself is undecided between copies that differ by rounding only, and where the
    # target is explained up to rounding.
    expected = lincfa(X, y, undecided=lambda i, j: model.labels_[i] == model.labels_[j])
    assert [group.tolist() for group in model.groups_] == expected


def test_overlapping_form_differs():
    """The pseudo-code as printed averages some features into several groups; ours never does."""
    rng = np.random.default_rng(3)
    X, y = smooth(rng, 60, 30)
    printed = lincfa(X, y, overlapping=True)
    ours = LinCFA().fit(X, y).groups_
    assert sum(map(len, printed)) > 30
    assert sorted(np.concatenate(ours)) == list(range(30))
