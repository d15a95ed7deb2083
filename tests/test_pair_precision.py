"""F of pairs with signs, weights and gaps, to fifty digits: bounds as for the plain rule."""

import numpy as np
import pytest

from fifty_digits import exact_pair
from lincfa import LinCFA, explain_pair

GAPS = [10.0**-k for k in range(2, 13)]
WEIGHTS = [(1.0, 1.0), (1.0, 0.3), (0.2, 5.0)]
ROUNDING = {"error": 1e-15, "pairwise": 2e-15}
"""Of 1 − ρ: from columns, or as from chunks of rows, which are not centred at the mean of each."""

every_mirror = pytest.mark.parametrize("mirror", [1, -1])
every_weight = pytest.mark.parametrize("weights", WEIGHTS)


def near_duplicate(gap, mirror, n=80):
    """A column, itself (or its mirror image) at 1 − |ρ| of about the gap, and a target."""
    rng = np.random.default_rng(20240229)
    x1, noise = rng.normal(size=(2, n))
    X = np.column_stack([x1, mirror * x1 + np.sqrt(2 * gap) * noise])
    return X, x1 + 0.1 * noise + rng.normal(size=n)


def with_other_rows(X, y, n_more=20):
    """Rows in which one of the two is missing, and the other away from its mean."""
    rng = np.random.default_rng(3)
    more = X.mean(axis=0) + X.std(axis=0) * (3 + rng.normal(size=(n_more, 2)))
    more[np.arange(n_more), np.arange(n_more) % 2] = np.nan
    order = rng.permutation(len(y) + n_more)
    return np.vstack([X, more])[order], np.append(y, rng.normal(size=n_more) - 7)[order]


def exact_by_sign(X, y, weights, signed=True, bound=1e-11):
    """F and 1 − ρ for the sign with the smaller F, which the bound must leave no doubt about."""
    signs = (1, -1) if signed else (1,)
    figures = {sign: exact_pair(*X.T, y, sign, weights)[:2] for sign in signs}
    sign = min(figures, key=lambda sign: figures[sign][0])
    assert not signed or figures[sign][0] < (1 - 3 * bound) * figures[-sign][0]
    return sign, *figures[sign]


def bound_of(gap):
    """Columns carry errors of 1e-16, their difference (or sum) is of the size of √(2·gap).

    Correlations, which are used down to 1e-5, carry some 1e-16 too.
    """
    return 1e-14 / np.sqrt(2 * gap) + 1e-10


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("signed", [False, True])
@every_weight
@every_mirror
@pytest.mark.parametrize("gap", GAPS)
def test_near_duplicates_and_mirror_images(gap, mirror, weights, signed, missing):
    X, y = near_duplicate(gap, mirror)
    sign, f, below_one = exact_by_sign(X, y, weights, signed, bound_of(gap))
    if signed and weights == (1.0, 1.0):
        assert sign == mirror
    values, target = with_other_rows(X, y) if missing == "pairwise" else (X, y)
    options = {"signed": signed, "missing": missing, "feature_weights": weights}
    pair = explain_pair(values, target, 0, 1, **options)
    assert pair.sign == sign
    assert pair.n_samples == 80
    assert pair.f == pytest.approx(f, rel=bound_of(gap))
    assert 1 - pair.correlation == pytest.approx(below_one, abs=ROUNDING[missing])
    other_way = explain_pair(values, target, 1, 0, **options)
    assert (other_way.sign, other_way.f) == (sign, pytest.approx(f, rel=bound_of(gap)))


@every_weight
@every_mirror
@pytest.mark.parametrize("gap", GAPS)
def test_near_duplicates_through_the_fit(gap, mirror, weights):
    X, y = near_duplicate(gap, mirror)
    sign, f, below_one = exact_by_sign(X, y, weights, bound=bound_of(gap))
    for order in "CF":
        model = LinCFA(tolerance=1e9, signed=True, feature_weights=weights)
        evidence = model.fit(np.asarray(X, order=order), y).evidence_
        assert evidence["sign"] == [sign]
        assert model.signs_.tolist() == [1, sign]
        assert evidence["f"] == pytest.approx([f], rel=bound_of(gap))
        assert 1 - evidence["correlation"] == pytest.approx([below_one], abs=1e-15)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@every_weight
@pytest.mark.parametrize("rho", [0.5, 0.99, -0.99, 1 - 1e-6])
@pytest.mark.parametrize("noise", [1e-2, 1e-4, 1e-6])
def test_nearly_explained_targets(noise, rho, weights, missing):
    """A target that the weighted sum of the pair explains but for noise of the given size."""
    rng = np.random.default_rng(7)
    x1, u = rng.normal(size=(2, 60))
    X = np.column_stack([x1, rho * x1 + np.sqrt(1 - rho**2) * u])
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    # The sum of mirror images with equal weights is next to nothing, and no target.
    sign = -1 if rho < 0 else 1
    y = Z @ np.multiply(weights, [1, sign]) + noise * rng.normal(size=60)
    f, *_ = exact_pair(*X.T, y, sign, weights)
    values, target = with_other_rows(X, y) if missing == "pairwise" else (X, y)
    options = {"signed": rho < 0, "missing": missing, "feature_weights": weights}
    pair = explain_pair(values, target, 0, 1, **options)
    assert pair.sign == sign
    # √F is the contrast over what is left of the target, noise/size of it, times √57. The contrast
    # has an absolute error of some 1e-16, and that over √(1−|ρ|) where it comes from correlations;
    # what is left is known to 1e-16 down to 1e-6, and from the residual below.
    size = np.sqrt(y.var())
    bound = np.sqrt(57) * 1e-15 * size / (noise * np.sqrt(1 - abs(rho)))
    assert np.sqrt(pair.f) == pytest.approx(np.sqrt(f), rel=1e-15 / 1e-6, abs=bound)


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("signed", [False, True])
@every_weight
def test_ordinary_pairs(weights, signed, missing):
    """All digits but a few, where nothing is delicate."""
    rng = np.random.default_rng(11)
    for rho in (-0.7, -0.2, 0.3, 0.8):
        x1, u = rng.normal(size=(2, 50))
        X = np.column_stack([x1, rho * x1 + np.sqrt(1 - rho**2) * u]) * [1e-3, 1e5]
        y = x1 - 0.5 * u + rng.normal(size=50)
        sign, f, below_one = exact_by_sign(X, y, weights, signed)
        values, target = with_other_rows(X, y) if missing == "pairwise" else (X, y)
        options = {"signed": signed, "missing": missing, "feature_weights": weights}
        pair = explain_pair(values, target, 0, 1, **options)
        assert pair.sign == sign
        assert pair.f == pytest.approx(f, rel=1e-11)
        assert 1 - pair.correlation == pytest.approx(below_one, abs=ROUNDING[missing])
