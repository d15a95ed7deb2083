"""A plain reference for the grouping, and data and sources to compare it on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lincfa import LinCFA, theory
from lincfa._data._checks import column_precision
from lincfa._data._columns import Columns
from lincfa._data._targets import Targets
from lincfa._data._training import Training
from lincfa._statistics import ArrayStatistics, Moments, MomentStatistics
from lincfa.datasets import make_correlated, make_field

MARGIN = 1e-6  # relative distance of F from the tolerance below which rounding may decide
COINCIDE = 1e-13  # 1 − ρ of copies, as np.corrcoef sees them; those always merge
QUICK = {
    "strategies": ("sequential", "joint"),
    "tolerances": (0.5, 4.0),
    "min_correlations": (None, 0.8),
    "penalties": (0.0, 0.01),
    "cv": 3,
}  # a LinCFACV that does not take long
TOLERANCES = [1e-6, 0.1, 1, 2, 7, 50]


# The reference


def plain_correlations(X, y):
    correlation = np.corrcoef(np.column_stack([X, y]).T)
    return correlation[:-1, :-1], correlation[-1, :-1]


def plain_f(X, y, noise):
    """F and ρ of all pairs from np.corrcoef, and the relative error that F may have."""
    n = len(y)
    rho, r = plain_correlations(X, y)
    below_one = 1 - rho
    left = np.maximum(1 - theory.r_squared(rho, r[:, None], r), 1e-15)
    if noise == "pair":
        f = theory.f_statistic(n, rho, r[:, None], r)
    else:
        share = (r[:, None] - r) ** 2 / (2 * np.maximum(below_one, 1e-16))
        f = (n - 1) * share * y.var(ddof=1) / noise
    f[below_one < COINCIDE] = 0
    # Correlations come with errors of 1e-15 or so, which weigh more where 1 − ρ or 1 − R² is small.
    return f, rho, MARGIN + 1e-14 / np.maximum(below_one, 1e-15) + 1e-14 / left


def reference(X, y, tolerance=1.0, noise="pair"):
    """Labels, F and ρ, feature by feature; refuses data where rounding may decide a pair."""
    f, rho, error = plain_f(X, y, noise)
    doubtful = np.triu((np.abs(f - tolerance) <= error * tolerance) & (1 - rho >= COINCIDE), 1)
    assert not doubtful.any(), "a pair too near to the tolerance to be judged: take another seed"
    passes = (f <= tolerance).tolist()
    labels = [-1] * X.shape[1]
    for seed in range(len(labels)):
        if labels[seed] < 0:
            labels[seed] = max(labels) + 1
            for later in range(seed + 1, len(labels)):
                if labels[later] < 0 and passes[seed][later]:
                    labels[later] = labels[seed]
    return labels, f, rho


def is_clear(X, y, tolerance, noise="pair"):
    try:
        reference(X, y, tolerance, noise)
    except AssertionError:
        return False
    return True


# The data


def noise_only(rng, n, D):
    return rng.normal(size=(n, D)), rng.normal(size=n)


def tree(rng, n, D):
    """The paper's data, strongly correlated."""
    return make_correlated(n, D, noise=3.0, random_state=int(rng.integers(2**31)))


def field(rng, n, D):
    """A smooth field in kelvin, whose means are some hundred times the scale."""
    seed = int(rng.integers(2**31))
    X, y, _ = make_field(n, (-(-D // 10), 10), smoothness=2.0, random_state=seed)
    return X[:, :D], y


def duplicates(rng, n, D):
    """Exact copies, and copies in another unit, which differ by rounding only."""
    X, y = tree(rng, n, max(1, D // 3))
    return np.hstack([X, 1.8 * X + 32, X])[:, rng.permutation(3 * X.shape[1])], y


def many_factors(rng, n, D):
    common = rng.normal(size=(n, 4))
    X = common @ rng.normal(size=(4, D)) + 0.5 * rng.normal(size=(n, D))
    return X, common @ [1.0, -1.0, 2.0, 0.0] + rng.normal(size=n)


def mirrored(rng, n, D):
    """Mirror images, exact and noisy: the pairs for which the reach of a seed is tight."""
    X, y = tree(rng, n, max(1, D // 3))
    noisy = -X + 0.01 * rng.normal(size=X.shape)
    return np.hstack([X, -2 * X + 1, noisy])[:, rng.permutation(3 * X.shape[1])], y


def explained(rng, n, D):
    """Some pairs leave 10⁻³ to 10⁻⁷ of the target, as much as plain correlations can judge."""
    X, _ = tree(rng, n, D)
    i, j = rng.integers(D, size=2)
    return X, X[:, i] + X[:, j] + 10.0 ** -rng.uniform(1.5, 3.5) * rng.normal(size=n)


FAMILIES = [noise_only, tree, field, duplicates, mirrored, explained]
SIZES = [
    *[(family, 60, 75) for family in FAMILIES],
    *[(family, 4 + i, 40) for i, family in enumerate([noise_only, tree, field, mirrored])],
    (duplicates, 8, 30),
    (noise_only, 30, 1),
    (tree, 30, 2),
    (noise_only, 50, 300),
    (tree, 40, 150),
    (field, 40, 200),
]


def make(family, n, D, seed=0):
    rng = np.random.default_rng([FAMILIES.index(family), n, D, seed])
    return family(rng, n, D)


# What is compared


def with_costs(statistics, block=None, **costs):
    """The same statistics, asked in batches of the test's choosing."""
    if block is not None:
        costs["block_size"] = lambda remaining, seed_share: min(remaining, block)
    return replace(statistics, costs=replace(statistics.costs, **costs))


def training(X, y):
    """Data as a fit reads them."""
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    columns, targets = Columns(X.shape[1]), Targets(y.shape[1])
    return Training(values=X, columns=columns, y=y, targets=targets, precision=column_precision(X))


def array_statistics(X, y):
    return ArrayStatistics.of(training(X, y))


def from_chunks(X, y, *bounds):
    moments = Moments(column_precision(X), 1)
    for start, stop in zip((0, *bounds), (*bounds, len(y)), strict=True):
        moments.update(training(X[start:stop], y[start:stop]))
    return MomentStatistics.from_moments(moments)


def statistics_of(kind, X, y):
    if kind == "moments":
        return from_chunks(X, y, len(y) // 3)
    return array_statistics(np.asarray(X, order=kind), y)


def assert_same(one, other, tolerance=1.0, rtol=1e-8):
    """Same evidence. Plain correlations carry 1e-13 and are used down to 1 − ρ and 1 − R² of 1e-5.

    Errors of F that are small compared with the tolerance do not count either: F is a square.
    """
    for name in ("group", "feature", "partner"):
        np.testing.assert_array_equal(one[name], other[name])
    np.testing.assert_allclose(one["correlation"], other["correlation"], rtol=0, atol=1e-3 * rtol)
    np.testing.assert_allclose(one["f"], other["f"], rtol=rtol, atol=rtol * tolerance)
    # The threshold is 1 − c(1−ρ)/F: it has the relative error of F, so tiny ones are left out.
    sizeable = one["f"] > 1e-3 * tolerance
    one, other = one["threshold"][sizeable], other["threshold"][sizeable]
    np.testing.assert_allclose(one, other, rtol=1e3 * rtol, atol=1e3 * rtol)


def draw(seed, n=60, D=15):
    """Features of three factors, few and simple."""
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(n, 3))
    X = factors @ rng.normal(size=(3, D)) + 0.3 * rng.normal(size=(n, D))
    return X, factors @ [1.0, -1.0, 2.0] + rng.normal(size=n)


def clear_of_the_threshold(X, y, tolerance=1.0, margin=MARGIN):
    """Whether no pair at all has F within the relative margin of the tolerance."""
    rho, r = plain_correlations(X, y)
    f = theory.f_statistic(len(y), rho, r[:, None], r)
    return not np.any(np.abs(f - tolerance) <= margin * tolerance)


def stream(X, y, bounds, model=None):
    """Feed the rows between the bounds, chunk by chunk."""
    model = LinCFA() if model is None else model
    for start, stop in zip((0, *bounds), (*bounds, len(y)), strict=True):
        model.partial_fit(X[start:stop], y[start:stop])
    return model


def assert_same_fit(model, other, rtol=1e-8):
    """Same groups, and figures as near as plain correlations give them at 1 − ρ of 1e-5."""
    np.testing.assert_array_equal(model.labels_, other.labels_)
    assert model.n_groups_ == other.n_groups_
    for one, two in zip(model.groups_, other.groups_, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(model.mean_, other.mean_, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(model.scale_, other.scale_, rtol=1e-10)
    np.testing.assert_allclose(
        model.target_correlation_, other.target_correlation_, rtol=0, atol=1e-10
    )
    one, two = model.evidence_, other.evidence_
    for name in ("group", "feature", "partner"):
        np.testing.assert_array_equal(one[name], two[name])
    np.testing.assert_allclose(one["correlation"], two["correlation"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(one["f"], two["f"], rtol=rtol, atol=rtol)
    # The threshold has the relative error of F, which is large where F is tiny.
    sizeable = two["f"] > 1e-3
    np.testing.assert_allclose(
        one["threshold"][sizeable], two["threshold"][sizeable], rtol=1e3 * rtol, atol=1e3 * rtol
    )


def table(X):
    """A data frame with the columns t0, t1, …"""
    return pd.DataFrame(X, columns=[f"t{i}" for i in range(X.shape[1])])


def assert_same_values(one, other, name=""):
    """Equal arrays, also structured ones; NaN equals NaN."""
    for field in one.dtype.names or [()]:
        np.testing.assert_array_equal(one[field], other[field], err_msg=f"{name} {field}")


def assert_raises(message, function, *args, **kwargs):
    """Check that a call raises a ValueError whose message matches."""
    with pytest.raises(ValueError, match=message):
        function(*args, **kwargs)


def saved(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)
