"""The climate-like field and the spectra: they are what their documentation says."""

import numpy as np
import pytest

from lincfa.datasets import make_field, make_spectra


def test_field_has_the_stated_noise_and_areas():
    X, y, areas = make_field(n_samples=4000, shape=(12, 20), noise=0.5, random_state=0)
    assert X.shape == (4000, 240)
    assert areas.shape == (4, 12, 20)
    assert areas.any(axis=(1, 2)).all()
    series = np.stack([X[:, area.ravel()].mean(axis=1) for area in areas], axis=1)
    design = np.column_stack([series / series.std(axis=0), np.ones(4000)])
    weights = np.linalg.lstsq(design, y, rcond=None)[0]
    residual = y - design @ weights
    # Noise of half the signal's standard deviation leaves 0.25/1.25 of the variance; the variance
    # of the residual has a relative standard error of √(2/n).
    assert residual.var() / y.var() == pytest.approx(0.2, rel=5 * np.sqrt(2 / 4000))


def test_weights_of_the_areas():
    """Without noise least squares finds them: of either sign, between 0.5 and 1.5 in size."""
    found = []
    for seed in range(5):
        X, y, areas = make_field(n_samples=200, shape=(12, 20), noise=0.0, random_state=seed)
        series = np.stack([X[:, area.ravel()].mean(axis=1) for area in areas], axis=1)
        series = (series - series.mean(axis=0)) / series.std(axis=0)
        weights, residual, _, _ = np.linalg.lstsq(series, y, rcond=None)
        assert residual < 1e-20 * y.var() * 200
        found.extend(weights)
    sizes = np.abs(found)
    assert sizes.min() >= 0.5 - 1e-9
    assert sizes.max() <= 1.5 + 1e-9
    assert set(np.sign(found)) == {-1, 1}


def test_field_is_colder_and_more_variable_towards_the_poles():
    X, _, _ = make_field(n_samples=500, shape=(21, 40), random_state=2)
    rows = X.reshape(500, 21, 40)
    mean, spread = rows.mean(axis=(0, 2)), rows.std(axis=0).mean(axis=1)
    assert mean[10] == pytest.approx(300, abs=0.5)
    assert mean[[0, 20]] == pytest.approx(255, abs=1)
    assert (np.diff(mean[:11]) > 0).all()
    # The scale is 1 at the equator and 4 at the poles, each known from 500 samples of 40 cells.
    assert spread[[0, 20]].mean() / spread[10] == pytest.approx(4, rel=0.1)


def test_areas_wrap_around():
    """Every area has its full size, also where it crosses the last column."""
    crossing = 0
    for seed in range(20):
        areas = make_field(n_samples=2, shape=(20, 25), smoothness=3.0, random_state=seed)[2]
        assert (areas.sum(axis=(1, 2)) == 36).all()
        crossing += int((areas[:, :, 0] & areas[:, :, -1]).any(axis=1).sum())
    assert crossing > 0


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


@pytest.mark.parametrize("shape", [(2, 1), (30, 120)])
def test_spectra_have_the_shape_asked_for(shape):
    X, y = make_spectra(*shape, random_state=0)
    assert X.shape == shape
    assert y.shape == shape[:1]


@pytest.mark.parametrize("seed", range(3))
def test_spectra_are_smooth(seed):
    """Bands are wide compared with the distance of two wavelengths: neighbours say the same."""
    X, _ = make_spectra(n_samples=200, random_state=seed)
    correlation = np.corrcoef(X.T)
    assert np.diag(correlation, 1).min() > 0.99
    assert correlation.min() < 0.5  # while there is more than one thing to be seen


def test_spectra_are_mixtures():
    """Without noise: components and a baseline of a constant and a slope span all spectra."""
    X, y = make_spectra(
        n_samples=60, n_features=80, n_components=3, noise=0.0, target_noise=0.0, random_state=1
    )
    sizes = np.linalg.svd(X, compute_uv=False)
    assert sizes[4] > 1e-6 * sizes[0]
    assert sizes[5] < 1e-13 * sizes[0]
    assert y.min() >= 0  # the target is a content
    assert y.max() <= 1
    assert np.ptp(y) > 0.8


def test_noise_of_the_spectra():
    plain, noisy = (make_spectra(n_samples=50, noise=s, random_state=2)[0] for s in (0.0, 0.01))
    assert (noisy - plain).std() == pytest.approx(0.01, rel=5 / np.sqrt(2 * plain.size))


def test_noise_of_the_target():
    (_, content), (_, y) = (
        make_spectra(n_samples=4000, n_features=3, target_noise=s, random_state=2)
        for s in (0.0, 0.3)
    )
    # The content is uniform on [0, 1], of variance 1/12.
    assert content.var() == pytest.approx(1 / 12, rel=0.1)
    error = (y - content).std() / content.std()
    assert error == pytest.approx(0.3, rel=5 / np.sqrt(2 * 4000))


def test_the_target_can_be_read_from_the_spectra():
    """The regression of the content on few wavelengths leaves little: there is a signal to find."""
    X, y = make_spectra(n_samples=500, random_state=3)
    design = np.column_stack([X[:, ::10], np.ones(500)])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert residual.var() / y.var() < 0.1
