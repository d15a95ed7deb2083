"""Data of several kinds for fits with signs, gaps and weights of features."""

import numpy as np
import pytest

from reference import noise_only

STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


def factors(rng, n, D):
    """Columns around three factors, with random signs, in different units."""
    common = rng.normal(size=(n, 3))
    X = common[:, rng.integers(3, size=D)] + 0.4 * rng.normal(size=(n, D))
    X = X * rng.choice([-1, 1], size=D) * rng.uniform(0.1, 10, size=D) + rng.normal(size=D)
    return X, common @ [1.0, -1.0, 0.5] + rng.normal(size=n)


def few_samples(rng, n, D):
    return factors(rng, n // 4, D)


def in_float32(rng, n, D):
    X, y = factors(rng, n, D)
    return X.astype(np.float32), y


def dependent_target(rng, n, D):
    """Two columns with opposite effects leave hardly anything of the target."""
    X, _ = factors(rng, n, D)
    Z = X / X.std(axis=0)
    return X, Z[:, 0] - Z[:, D // 2] + 0.03 * rng.normal(size=n)


def copies(rng, n, D):
    """Copies in other units, in any order."""
    X, y = factors(rng, n, D // 3)
    return np.hstack([X, 1.8 * X + 32, X / 7])[:, rng.permutation(3 * (D // 3))], y


def mirror_images(rng, n, D):
    X, y = factors(rng, n, D // 3)
    return np.hstack([X, 1.8 * X + 32, -X / 7])[:, rng.permutation(3 * (D // 3))], y


def with_gaps(rng, X, share=0.12):
    """The same with values missing here and there."""
    return np.where(rng.random(X.shape) < share, np.nan, X).astype(X.dtype)


FAMILIES = [
    factors,
    noise_only,
    few_samples,
    in_float32,
    dependent_target,
    copies,
    mirror_images,
]


def make(family, n=60, D=12, *, gaps=False, seed=0):
    """Data, and weights of the features."""
    rng = np.random.default_rng([FAMILIES.index(family), n, D, seed])
    X, y = family(rng, n, D)
    weights = rng.uniform(0.2, 3.0, size=X.shape[1])
    return with_gaps(rng, X) if gaps else X, y, weights


def assert_identical(model, other):
    """The same fit to the last digit."""
    for name in ("labels_", "signs_", "feature_weights_", "mean_", "scale_", "target_correlation_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(other, name), err_msg=name)
    for record in ("evidence_", "cohesion_", "merge_path_"):
        assert hasattr(model, record) == hasattr(other, record)
        if hasattr(other, record):
            one, two = getattr(model, record), getattr(other, record)
            for name in two.dtype.names:  # one by one: in them NaN is equal to NaN
                np.testing.assert_array_equal(one[name], two[name], err_msg=f"{record} {name}")


def assert_same_groups(model, other, rtol=1e-8):
    """Same groups and figures, of sums of the same values in another order."""
    np.testing.assert_array_equal(model.labels_, other.labels_)
    np.testing.assert_array_equal(model.signs_, other.signs_)
    np.testing.assert_allclose(model.mean_, other.mean_, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(model.scale_, other.scale_, rtol=1e-11)
    np.testing.assert_allclose(model.target_correlation_, other.target_correlation_, atol=1e-11)
    for name in ("feature", "partner", "sign"):
        np.testing.assert_array_equal(model.evidence_[name], other.evidence_[name])
    for name in ("correlation", "f", "variance_drop_share", "bias_growth_share", "gain_share"):
        one, two = model.evidence_[name], other.evidence_[name]
        np.testing.assert_allclose(one, two, rtol=rtol, atol=rtol, err_msg=name)


def means_by_definition(X, labels, n_groups, factors=None, mean=None, scale=None):
    """The weighted mean of the columns present, row by row."""
    factors = np.ones(X.shape[1]) if factors is None else factors
    Z = X.astype(float) if mean is None else (X - mean) / scale
    result = np.full((len(Z), n_groups), np.nan)
    for row, z in enumerate(Z):
        for group in range(n_groups):
            members = [j for j in np.flatnonzero(labels == group) if not np.isnan(z[j])]
            if members:
                total = sum(abs(factors[j]) for j in members)
                result[row, group] = sum(factors[j] * z[j] for j in members) / total
    return result


def reduced_by_definition(model, X):
    """What transform is to return."""
    factors = model.signs_ * model.feature_weights_
    moments = () if model.units == "original" else (model.mean_, model.scale_)
    return means_by_definition(X, model.labels_, model.n_groups_, factors, *moments)
