"""F of pairs with three targets, to fifty digits: bounds as for one."""

import numpy as np
import pytest

from fifty_digits import exact_pair
from lincfa import LinCFA
from literal_strategies import f_of_pair, indicators, standardised

GAPS = [10.0**-k for k in range(2, 13, 2)]
WEIGHTS = [(1.0, 1.0), (0.2, 5.0)]
UNITS = np.array([1.0, 1e6, 1e-4])

every_mirror = pytest.mark.parametrize("mirror", [1, -1])
every_weight = pytest.mark.parametrize("weights", WEIGHTS)
with_and_without_gaps = pytest.mark.parametrize("missing", ["error", "pairwise"])


def near_duplicate(gap, mirror, n=60):
    """A column, itself (or its mirror image) at 1 − |ρ| of about the gap, and three targets.

    The difference of the two has an effect on the first target and on the second; the third has
    nothing to do with them.
    """
    rng = np.random.default_rng(20240229)
    x1, noise = rng.normal(size=(2, n))
    X = np.column_stack([x1, mirror * x1 + np.sqrt(2 * gap) * noise])
    Y = np.column_stack([x1 + 0.1 * noise, noise - x1, np.zeros(n)]) + rng.normal(size=(n, 3))
    return X, Y * UNITS + [0.0, 3e6, 1.0]


def with_other_rows(X, Y, n_more=20):
    """Rows in which one of the two is missing, and the other away from its mean."""
    rng = np.random.default_rng(3)
    more = X.mean(axis=0) + X.std(axis=0) * (3 + rng.normal(size=(n_more, 2)))
    more[np.arange(n_more), np.arange(n_more) % 2] = np.nan
    others = Y.mean(axis=0) + Y.std(axis=0) * (rng.normal(size=(n_more, 3)) - 2)
    order = rng.permutation(len(Y) + n_more)
    return np.vstack([X, more])[order], np.vstack([Y, others])[order]


def evidence_of(X, Y, missing, weights=None, signed=False):
    """The row of the two, which merge at any F that is finite."""
    values, targets = with_other_rows(X, Y) if missing == "pairwise" else (X, Y)
    options = {"signed": signed, "missing": missing, "feature_weights": weights}
    (row,) = LinCFA(tolerance=1e30, **options).fit(values, targets).evidence_
    return row


@with_and_without_gaps
@every_weight
@every_mirror
@pytest.mark.parametrize("gap", GAPS)
def test_near_duplicates_and_mirror_images(gap, mirror, weights, missing):
    X, Y = near_duplicate(gap, mirror)
    # Columns carry errors of 1e-16, their difference (or sum) is of the size of √(2·gap).
    # Correlations, which are used down to 1e-5, carry some 1e-16 too.
    bound = 1e-14 / np.sqrt(2 * gap) + 1e-10
    by_sign = {sign: exact_pair(*X.T, Y, sign, weights) for sign in (1, -1)}
    sign = min(by_sign, key=lambda sign: by_sign[sign][0])
    f, below_one, _ = by_sign[sign]
    assert f < (1 - 3 * bound) * by_sign[-sign][0]
    row = evidence_of(X, Y, missing, weights, signed=True)
    assert row["sign"] == sign
    assert row["f"] == pytest.approx(f, rel=bound)
    assert 1 - row["correlation"] == pytest.approx(below_one, abs=2e-15)
    plain = evidence_of(X, Y, missing, weights)
    assert plain["f"] == pytest.approx(by_sign[1][0], rel=bound)


@with_and_without_gaps
@every_weight
@pytest.mark.parametrize("rho", [0.5, 0.99, 1 - 1e-6])
@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6])
def test_nearly_explained_targets(noise, rho, weights, missing):
    """Targets that the weighted sum of the pair explains but for noise of the given size."""
    X, targets, errors = nearly_explained(rho, weights)
    Y = (targets + noise * errors) * UNITS
    f, *_ = exact_pair(*X.T, Y, 1, weights)
    row = evidence_of(X, Y, missing, weights)
    # As for one target: √F is the contrast over what is left, which is noise/size of a target.
    size = np.sqrt((Y / UNITS).var(axis=0).max())
    bound = np.sqrt(57) * 1e-15 * size / (noise * np.sqrt(1 - abs(rho)))
    assert np.sqrt(row["f"]) == pytest.approx(np.sqrt(f), rel=1e-15 / 1e-6, abs=bound)


@with_and_without_gaps
@every_weight
def test_one_explained_target_of_three(weights, missing):
    """What the others leave is all that counts, to nearly all digits."""
    X, targets, errors = nearly_explained(0.8, weights)
    Y = (targets + np.array([1e-7, 1.0, 2.0]) * errors) * UNITS
    f, *_ = exact_pair(*X.T, Y, 1, weights)
    assert evidence_of(X, Y, missing, weights)["f"] == pytest.approx(f, rel=1e-11)


def nearly_explained(rho, weights, n=60):
    """Two columns, targets that their weighted sum explains, and something to add to these."""
    rng = np.random.default_rng(7)
    x1, u = rng.normal(size=(2, n))
    X = np.column_stack([x1, rho * x1 + np.sqrt(1 - rho**2) * u])
    total = standardised(X) @ weights
    return X, np.column_stack([total, 2 - total, 3 * total]), rng.normal(size=(n, 3))


@with_and_without_gaps
@pytest.mark.parametrize("signed", [False, True])
@every_weight
def test_ordinary_pairs(weights, signed, missing):
    """All digits but a few, where nothing is delicate."""
    rng = np.random.default_rng(11)
    for rho in (-0.7, -0.2, 0.3, 0.8):
        x1, u = rng.normal(size=(2, 50))
        X = np.column_stack([x1, rho * x1 + np.sqrt(1 - rho**2) * u]) * [1e-3, 1e5]
        Y = np.column_stack([x1 - 0.5 * u, u, -x1]) + rng.normal(size=(50, 3))
        signs = (1, -1) if signed else (1,)
        f = min(exact_pair(*X.T, Y, sign, weights)[0] for sign in signs)
        row = evidence_of(X, Y * UNITS, missing, weights, signed)
        assert row["f"] == pytest.approx(f, rel=1e-11)


def test_classes():
    X, Y = near_duplicate(1e-6, 1)
    labels = np.array(["b", "c", "a"])[np.digitize(Y[:, 0], [-0.5, 0.5])]
    f, *_ = exact_pair(*X.T, indicators(labels))
    (row,) = LinCFA(tolerance=1e30).fit(X, labels).evidence_
    assert row["f"] == pytest.approx(f, rel=1e-10)


# Fifty digits and least squares


@every_weight
@every_mirror
def test_fifty_digits_and_least_squares(mirror, weights):
    X, Y = near_duplicate(1e-2, mirror)
    Z, targets = standardised(X), standardised(Y)
    for sign in (1, -1):
        f = f_of_pair(Z[:, 0], sign * Z[:, 1], targets, weights=weights)
        assert f == pytest.approx(exact_pair(*X.T, Y, sign, weights)[0], rel=1e-10)
    one = exact_pair(*X.T, Y[:, 0], 1, weights)
    again = exact_pair(*X.T, np.column_stack([Y[:, 0], 5 - Y[:, 0]]), 1, weights)
    assert again[:2] == pytest.approx(one[:2], rel=1e-14)
