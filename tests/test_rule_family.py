"""How the rule relates to others: what docs/targets.md states, computed another way."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from lincfa import LinCFA, theory

N = 80


def data(n_targets=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2)) @ [[1.0, 0.7], [0.0, 0.8]]
    Y = X @ rng.normal(size=(2, n_targets)) + rng.normal(size=(N, n_targets))
    return (X - X.mean(0)) / X.std(0, ddof=1), (Y - Y.mean(0)) / Y.std(0, ddof=1)


def residual_squares(columns, Y):
    design = np.column_stack([np.ones(len(Y)), *columns])
    residual = Y - design @ np.linalg.lstsq(design, Y, rcond=None)[0]
    return (residual**2).sum(axis=0)


def correlations(X, Y):
    matrix = np.corrcoef(X.T, Y.T)
    return matrix[0, 1], matrix[0, 2:], matrix[1, 2:]


def test_f_is_the_ratio_of_summed_squared_errors():
    X, Y = data()
    both, mean = residual_squares(X.T, Y), residual_squares([X.sum(axis=1)], Y)
    expected = (mean - both).sum() / (both.sum() / (N - 3))
    assert theory.f_several_targets(N, *correlations(X, Y)) == pytest.approx(expected, rel=1e-9)
    model = LinCFA(tolerance=1e9).fit(X, Y)
    assert model.evidence_["f"][0] == pytest.approx(expected, rel=1e-9)
    assert theory.f_several_targets(N, *correlations(X, Y[:, :1])) == pytest.approx(
        theory.f_statistic(N, *(float(np.ravel(r)[0]) for r in correlations(X, Y[:, :1])))
    )


def test_with_one_target_it_is_the_mean_of_f_weighted_by_what_is_left():
    """F is the mean of the targets' own F, weighted by what each leaves unexplained."""
    X, Y = data()
    rho, r1, r2 = correlations(X, Y)
    each = [theory.f_statistic(N, rho, a, b) for a, b in zip(r1, r2, strict=True)]
    left = [1 - theory.r_squared(rho, a, b) for a, b in zip(r1, r2, strict=True)]
    expected = np.average(each, weights=left)
    assert theory.f_several_targets(N, rho, r1, r2) == pytest.approx(expected)


def classes(n_classes, seed=1):
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(n_classes, size=N))
    X = rng.normal(size=(n_classes, 2))[labels] + rng.normal(size=(N, 2))
    return (X - X.mean(0)) / X.std(0, ddof=1), labels


def distance(columns, labels):
    """Squared Mahalanobis distance of the means of two classes."""
    values = np.column_stack(columns)
    groups = [values[labels == k] for k in (0, 1)]
    within = sum((g - g.mean(0)).T @ (g - g.mean(0)) for g in groups) / (len(labels) - 2)
    apart = groups[1].mean(0) - groups[0].mean(0)
    return apart @ np.linalg.solve(within, apart)


def test_two_classes_are_fishers_discriminant():
    """F is the test of equal coefficients of a linear discriminant."""
    X, labels = classes(2)
    model = LinCFA(tolerance=1e9, target="classes").fit(X, labels)
    both, mean = distance(X.T, labels), distance([X.sum(axis=1)], labels)
    m = (labels == 0).sum() * (labels == 1).sum() / N
    expected = (N - 3) * m * (both - mean) / (N - 2 + m * mean)
    assert model.evidence_["f"][0] == pytest.approx(expected, rel=1e-9)
    # And the weights of the regression are those of the discriminant, up to a factor.
    slope = np.linalg.lstsq(np.column_stack([X, np.ones(N)]), labels.astype(float), rcond=None)[0]
    direction = LinearDiscriminantAnalysis(solver="lsqr").fit(X, labels).coef_[0]
    np.testing.assert_allclose(slope[0] / slope[1], direction[0] / direction[1])


def test_pillais_trace_weights_classes_by_their_complement():
    """Shares explained of standardised indicators, weighted by 1 − pₖ, add up to Pillai's trace."""
    X, labels = classes(4)
    indicators = np.eye(4)[labels]
    share = indicators.mean(axis=0)
    total = (N - 1) * np.cov(X.T)
    between = sum(
        (labels == k).sum() * np.outer(X[labels == k].mean(0), X[labels == k].mean(0))
        for k in range(4)
    )
    trace = np.trace(np.linalg.solve(total, between))
    squares = N * share * (1 - share)
    r_squared = 1 - residual_squares(X.T, indicators) / squares
    assert trace == pytest.approx((1 - share) @ r_squared)


@pytest.mark.parametrize("size", [1, 4])
def test_nonlincfas_rule_is_a_tolerance(size):
    """For a group of so many members: the loss of R² is at most ε just if F is at most c."""
    X, Y = data(1, seed=2)
    rng = np.random.default_rng(3)
    group = X[:, :1] + 0.5 * rng.normal(size=(N, size))
    group = ((group - group.mean(0)) / group.std(0, ddof=1)).mean(axis=1)
    group /= group.std(ddof=1)
    left = residual_squares([group, X[:, 1]], Y)[0] / (N - 1)
    restricted = residual_squares([size * group + X[:, 1]], Y)[0] / (N - 1)
    loss = restricted - left
    f = (N - 3) * loss / left
    assert theory.tolerance_of_loss(loss, N, 1 - left) == pytest.approx(f)


def test_averaging_targets_halves_the_variance():
    """Of two targets with noise of their own: the error of their mean's regression, in both parts.

    With fixed features and d weights, the mean squared error of the fit to one target's
    expectation is dσ²/n by itself, and dσ²/(2n) + |X(w₁−w₂)|²/(4n) from the mean of both.
    """
    rng = np.random.default_rng(0)
    n, d, sigma, draws = 40, 3, 0.8, 4000
    X = rng.normal(size=(n, d))
    first, second = rng.normal(size=(2, d))
    hat = X @ np.linalg.pinv(X)
    noise = sigma * rng.normal(size=(2, draws, n))
    one, other = X @ first + noise[0], X @ second + noise[1]
    alone = ((one @ hat - X @ first) ** 2).mean(axis=1)
    shared = (((one + other) / 2 @ hat - X @ first) ** 2).mean(axis=1)
    bias = ((X @ (first - second)) ** 2).mean() / 4
    expected = d * sigma**2 / n, d * sigma**2 / (2 * n) + bias
    for errors, value in zip((alone, shared), expected, strict=True):
        # Four standard errors of the mean over the draws.
        assert errors.mean() == pytest.approx(value, abs=4 * errors.std() / np.sqrt(draws))
