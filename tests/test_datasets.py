"""The generators: they are what their documentation says, and what they refuse."""

import numpy as np
import pytest

from lincfa.datasets import (
    make_bivariate,
    make_correlated,
    make_field,
    make_spectra,
    make_trivariate,
)
from reference import assert_raises


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


def test_draws_of_correlated_stay_those_of_earlier_versions():
    """Recorded values: a random_state gives the same data for ever."""
    X, y, weights = make_correlated(n_samples=5, n_features=4, coef=True, random_state=0)
    recorded = ["0x1.992b4fb3421f2p-1", "0x1.d88e0bc29f018p-2"]
    recorded += ["0x1.8fa1852b72c32p-1", "0x1.e473b970f6c30p-4"]
    assert weights.tolist() == [float.fromhex(number) for number in recorded]
    # Sums and products may be rounded in another way on another machine.
    last = [-1.3579905278521334, -1.653423186378375, -1.6394509717053918, -0.11656304220861152]
    np.testing.assert_allclose(X[-1], last, rtol=1e-13)
    target = [-9.56698942399296, 5.7366741271125115, 0.8184771534462545]
    target += [7.455319686130952, -18.776663082443743]
    np.testing.assert_allclose(y, target, rtol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_draws_of_correlated_spelt_out(seed):
    """On one machine every bit is the same, also in what is drawn after."""
    random, other = np.random.RandomState(seed), np.random.RandomState(seed)
    expected = np.empty((50, 20), order="F")
    expected[:, 0] = random.uniform(size=50)
    for i in range(1, 20):
        expected[:, i] = 0.7 * expected[:, random.randint(i)] + 0.3 * random.uniform(size=50)
    expected = (expected - expected.mean(axis=0)) / expected.std(axis=0, ddof=1)
    expected_weights = random.uniform(size=20)
    target = expected @ expected_weights + 10.0 * random.normal(size=50)
    X, y, weights = make_correlated(50, 20, coef=True, random_state=other)
    np.testing.assert_array_equal(X, expected)
    np.testing.assert_array_equal(weights, expected_weights)
    np.testing.assert_array_equal(y, target)
    assert random.uniform() == other.uniform()


def test_given_weights_change_nothing_but_the_signal():
    X, y, weights = make_correlated(40, 6, coef=True, random_state=5)
    for a, b in zip(
        make_correlated(40, 6, weights=list(weights), coef=True, random_state=5),
        (X, y, weights),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    given = np.arange(6)
    same, other, back = make_correlated(40, 6, weights=given, coef=True, random_state=5)
    np.testing.assert_array_equal(same, X)
    np.testing.assert_array_equal(back, given)
    np.testing.assert_allclose(other - X @ given, y - X @ weights, atol=1e-12)


def test_given_tree():
    """A chain: each step away lowers the correlation; the draws of the features stay the same."""
    n = 20_000
    chain, _, weights = make_correlated(n, 4, tree=[-1, 0, 1, 2], coef=True, random_state=0)
    star, _, drawn = make_correlated(n, 4, tree=[-1, 0, 0, 0], coef=True, random_state=0)
    np.testing.assert_array_equal(weights, drawn)
    np.testing.assert_array_equal(chain[:, :2], star[:, :2])
    parts = np.array(  # of the uniform variables, in the features of the chain and of the star
        [
            [[1, 0, 0, 0], [0.7, 0.3, 0, 0], [0.49, 0.21, 0.3, 0], [0.343, 0.147, 0.21, 0.3]],
            [[1, 0, 0, 0], [0.7, 0.3, 0, 0], [0.7, 0, 0.3, 0], [0.7, 0, 0, 0.3]],
        ]
    )
    for X, rows in zip((chain, star), parts, strict=True):
        assert_correlations(X, rows)
    unsigned = np.array([7, 0, 1, 2], dtype=np.uint8)  # the first is ignored
    np.testing.assert_array_equal(make_correlated(n, 4, tree=unsigned, random_state=0)[0], chain)


def assert_correlations(X, parts):
    """Compare with the correlations of sums of independent uniform variables.

    The standard error is at most (1−ρ²)/√n, that of normal features: light tails lower it, by the
    squares of the variables' parts in the influence on ρ, times their negative excess of −1.2.
    """
    parts = np.asarray(parts, dtype=float)
    parts /= np.linalg.norm(parts, axis=1, keepdims=True)
    expected = parts @ parts.T
    error = np.abs(np.corrcoef(X.T) - expected)
    assert (error <= 5 * (1 - expected**2) / np.sqrt(len(X)) + 1e-12).all()


def pair(share):
    return [[1, 0, 0], [share, 1 - share, 0]]


@pytest.mark.parametrize(("share", "correlation"), [(0.7, 0.919), (0.8, 0.970), (0.3, 0.394)])
def test_bivariate_has_the_stated_correlation(share, correlation):
    X, _ = make_bivariate(n_samples=50_000, share=share, random_state=1)
    assert_correlations(X, pair(share))
    assert np.corrcoef(X.T)[0, 1] == pytest.approx(correlation, abs=0.02)


@pytest.mark.parametrize("third", [(1.0, 0.0, 0.5), (0.5, 0.5, 0.5), (0, -2, 0.1), (0, 0, 3)])
def test_trivariate_has_the_stated_correlations(third):
    X, _ = make_trivariate(n_samples=50_000, third=third, random_state=2)
    first, second = pair(0.65)
    assert_correlations(X, [first, second, np.array(third) @ [first, second, [0, 0, 1]]])


def test_scale_of_the_third_feature_does_not_matter():
    X, y = make_trivariate(random_state=0)
    for scale in (1e300, 1e-310):
        again, target = make_trivariate(third=np.multiply((1, 0, 0.5), scale), random_state=0)
        np.testing.assert_allclose(again, X, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(target, y, atol=1e-9)


def test_the_two_and_the_three_dimensional_data_share_their_first_features():
    two, three = (make(share=0.4, random_state=3)[0] for make in (make_bivariate, make_trivariate))
    np.testing.assert_allclose(three[:, :2], two, rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "weights"),
    [
        (make_bivariate, (0.2, 0.8)),
        (make_bivariate, (-3.0, 0.0)),
        (make_trivariate, (0.4, 0.6, 0.2)),
        (make_trivariate, (1.0, -1.0, 4.0)),
    ],
)
def test_weights_and_noise_of_two_and_three_features(make, weights):
    """Least squares finds the weights within 5 standard errors, exactly where there is no noise."""
    n = 20_000
    for noise in (0.0, 0.5, 7.0):
        X, y = make(n, weights=weights, noise=noise, random_state=4)
        assert X.shape == (n, len(weights))
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(X.std(axis=0, ddof=1), 1, rtol=1e-12)
        found = np.linalg.lstsq(X, y, rcond=None)[0]
        error = noise * np.sqrt(np.diag(np.linalg.inv(X.T @ X)))
        assert (np.abs(found - weights) <= 5 * error + 1e-12).all()
        # A standard deviation has a relative standard error of 1/√(2n).
        spread = (y - X @ weights).std()
        assert spread == pytest.approx(noise, rel=5 / np.sqrt(2 * n), abs=1e-12)


ANY = [make_bivariate, make_correlated, make_field, make_spectra, make_trivariate]


@pytest.mark.parametrize("make", ANY)
@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf])
def test_generators_refuse_an_impossible_noise(make, noise):
    assert_raises(f"^noise must be finite and not negative, got {noise}", make, noise=noise)


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (make_spectra, {"target_noise": -1}, "target_noise must be finite and not negative"),
        (make_bivariate, {"share": 0}, "share must be strictly between 0 and 1, got 0"),
        (make_bivariate, {"share": 1.0}, "share must be .* got 1.0"),
        (make_trivariate, {"share": np.nan}, "share must be .* got nan"),
        (make_bivariate, {"weights": (1, 2, 3)}, r"weights must be 2 numbers, got .* \(3,\)"),
        (make_bivariate, {"weights": 1.0}, r"weights must be 2 numbers, got .* \(\)"),
        (make_trivariate, {"weights": (1, np.nan, 0)}, "weights must be finite, got nan"),
        (make_trivariate, {"third": (1, 2)}, r"third must be 3 numbers, got .* \(2,\)"),
        (make_trivariate, {"third": (1, 2, np.inf)}, "third must be finite, got inf"),
        (make_trivariate, {"third": (0, 0, 0)}, "third must not be all 0: .* constant"),
        (make_correlated, {"weights": np.ones(99)}, r"weights must be 100 .* \(99,\)"),
        (make_correlated, {"weights": np.full(100, -np.inf)}, "weights must be finite, got -inf"),
        (make_correlated, {"tree": [-1, 0]}, r"tree must be 100 integers, got .* \(2,\)"),
        (make_correlated, {"tree": np.zeros(100)}, "tree must be 100 integers, .* float64"),
        (make_correlated, {"tree": [-1, 0, 2], "n_features": 3}, r"earlier .* tree\[2\] = 2"),
        (make_correlated, {"tree": [-1, -1], "n_features": 2}, r"earlier .* tree\[1\] = -1"),
        (make_bivariate, {"n_samples": 1}, "n_samples must be at least 2, got 1"),
        (make_trivariate, {"n_samples": 1}, "n_samples must be at least 2, got 1"),
        (make_correlated, {"n_samples": 1}, "n_samples must be at least 2, got 1"),
        (make_correlated, {"n_features": 0}, "n_features must be at least 1, got 0"),
        (make_field, {"shape": (0, 5)}, "rows must be at least 1, got 0"),
        (make_field, {"n_areas": 0}, "n_areas must be at least 1, got 0"),
        (make_spectra, {"n_samples": 1}, "n_samples must be at least 2, got 1"),
        (make_spectra, {"n_features": 0}, "n_features must be at least 1, got 0"),
        (make_spectra, {"n_components": 0}, "n_components must be at least 1, got 0"),
    ],
)
def test_generators_refuse_what_makes_no_data(make, arguments, message):
    assert_raises(message, make, **arguments)


@pytest.mark.parametrize("generator", ANY)
def test_generators_repeat_with_their_seed(generator):
    first, again, other = (generator(n_samples=10, random_state=s) for s in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(first[0], other[0])


# The climate-like field and the spectra


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


def test_noise_of_spectra_and_target():
    plain, noisy = (make_spectra(n_samples=50, noise=s, random_state=2)[0] for s in (0.0, 0.01))
    assert (noisy - plain).std() == pytest.approx(0.01, rel=5 / np.sqrt(2 * plain.size))
    (_, content), (_, y) = (
        make_spectra(n_samples=4000, n_features=3, target_noise=s, random_state=2)
        for s in (0.0, 0.3)
    )
    # The content is uniform on [0, 1], of variance 1/12.
    assert content.var() == pytest.approx(1 / 12, rel=0.1)
    error = (y - content).std() / content.std()
    assert error == pytest.approx(0.3, rel=5 / np.sqrt(2 * 4000))
    X, y = make_spectra(n_samples=500, random_state=3)  # from which the target can be read
    design = np.column_stack([X[:, ::10], np.ones(500)])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    assert residual.var() / y.var() < 0.1
