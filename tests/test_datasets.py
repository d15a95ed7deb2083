"""The generators."""

import numpy as np
import pytest

from lincfa.datasets import make_correlated, make_field


def test_correlated_is_the_papers_tree():
    X, y, weights = make_correlated(n_samples=20_000, n_features=30, coef=True, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0, ddof=1), 1, rtol=1e-12)
    # x₂ = 0.7x₁ + 0.3u has correlation 0.7/√0.58 with x₁; standard error (1−ρ²)/√n.
    rho = 0.7 / 0.58**0.5
    assert np.corrcoef(X[:, 0], X[:, 1])[0, 1] == pytest.approx(rho, abs=5 * (1 - rho**2) / 141)
    assert weights.min() >= 0
    assert weights.max() <= 1
    noise = y - X @ weights
    assert noise.std() == pytest.approx(10, rel=5 / np.sqrt(2 * 20_000))
    assert (np.corrcoef(X.T) > 0).all()


def test_field_has_the_stated_noise_and_areas():
    X, y, areas = make_field(n_samples=4000, shape=(12, 20), noise=0.5, random_state=0)
    assert X.shape == (4000, 240)
    assert areas.shape == (4, 12, 20)
    assert areas.any(axis=(1, 2)).all()
    # The scale of the field depends on the row, so the anomalies do not: take them per cell.
    anomalies = (X - X.mean(axis=0)) / X.std(axis=0)
    series = np.stack([anomalies[:, area.ravel()].mean(axis=1) for area in areas], axis=1)
    design = np.column_stack([series, np.ones(4000)])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    # Noise of half the signal's standard deviation leaves 0.25/1.25 of the variance.
    assert residual.var() / y.var() == pytest.approx(0.2, abs=0.02)


def test_field_is_smooth_and_wraps_around():
    X, _, _ = make_field(n_samples=2000, shape=(10, 30), smoothness=3.0, random_state=1)
    field = X.reshape(2000, 10, 30)

    def correlation(a, b):
        return np.corrcoef(field[:, 5, a], field[:, 5, b])[0, 1]

    # A Gaussian kernel of standard deviation s gives correlation exp(−d²/(4s²)) at distance d.
    for distance in (1, 3, 6):
        expected = np.exp(-(distance**2) / 36)
        assert correlation(10, 10 + distance) == pytest.approx(expected, abs=5 / np.sqrt(2000))
        assert correlation(30 - distance, 0) == pytest.approx(expected, abs=5 / np.sqrt(2000))


@pytest.mark.parametrize("generator", [make_correlated, make_field])
def test_generators_repeat_with_their_seed(generator):
    first, again, other = (generator(n_samples=10, random_state=s) for s in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], other[0])
