"""Simulations: random streams, least squares on many data sets at once, means with intervals."""

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]

PAPER_REPETITIONS = 500
SAMPLES = 500
"""Samples of every training set and of every test set in the paper's simulations."""
TEST_SETS = 100
"""Test sets that we score on. The paper has one, and its draw matters more than all else."""
NORMAL = float(stats.norm.ppf(0.975))


@dataclass(frozen=True)
class Settings:
    """Size of a run, its seed, and the folder of the real data."""

    repetitions: int = 500
    seed: int = 0
    data: Path | None = None

    @property
    def draws(self) -> int:
        """Draws of the weights and the test set for a hundred features; the paper has one."""
        return max(4, min(20, self.repetitions // 10))

    @property
    def repetitions_per_draw(self) -> int:
        """Repetitions for each of these draws; together at least as many as asked for."""
        return -(-self.repetitions // self.draws)

    @property
    def comparisons_per_draw(self) -> int:
        """Repetitions for each draw that also fit the methods beyond the paper, which take long."""
        return max(2, min(5, self.repetitions_per_draw // 5))

    @property
    def comparisons(self) -> int:
        """Repetitions of these methods for two and three features."""
        return max(5, min(40, self.repetitions // 10))


def random_state(seed: int, *key: Any) -> np.random.RandomState:
    """Random numbers for one part of the work, the same in whichever process it runs."""
    words = [seed, *(zlib.crc32(repr(part).encode()) for part in key)]
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(words)))


def draw(
    make: Callable[..., tuple[Floats, Floats]], repetitions: int, random: np.random.RandomState
) -> tuple[Floats, Floats]:
    """Data sets of a generator: X of shape (repetitions, n, D), y of shape (repetitions, n)."""
    pairs = [make(random_state=random) for _ in range(repetitions)]
    return np.stack([X for X, _ in pairs]), np.stack([y for _, y in pairs])


def correlations(X: Floats) -> Floats:
    """Correlation matrix of each data set, of shape (repetitions, D, D)."""
    centred = X - X.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).sum(axis=1, keepdims=True))
    return np.asarray(scaled.transpose(0, 2, 1) @ scaled)


@dataclass(frozen=True)
class Fits:
    """Least squares fits with intercept, one for each repetition."""

    weights: Floats
    intercept: Floats
    rss: Floats

    def predict(self, X: Floats) -> Floats:
        """Predictions of every fit, of shape (repetitions, samples)."""
        return np.asarray(self.weights @ X.T + self.intercept[:, None])


def least_squares(X: Floats, y: Floats) -> Fits:
    """Fit every data set by its normal equations.

    The pseudo-inverse gives the minimum-norm weights where features are linearly dependent, as
    the means of overlapping groups can be.
    """
    mean, y_mean = X.mean(axis=1), y.mean(axis=1)
    centred = X - mean[:, None]
    y_centred = (y - y_mean[:, None])[..., None]
    gram = centred.transpose(0, 2, 1) @ centred
    moment = centred.transpose(0, 2, 1) @ y_centred
    weights = np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ moment
    residual = (y_centred - centred @ weights)[..., 0]
    weights = weights[..., 0]
    return Fits(weights, y_mean - (weights * mean).sum(axis=1), (residual**2).sum(axis=1))


@dataclass(frozen=True)
class Scores:
    """Scores of shape (test sets, repetitions); the bias has shape (test sets, 1).

    As in the paper, the bias is the mean squared distance of the mean prediction from the noisy
    target, so that it contains the noise.
    """

    r2: Floats
    mse: Floats
    variance: Floats
    bias: Floats


def score(fits: Fits, X: Floats, y: Floats) -> Scores:
    """Score every fit on every test set."""
    parts: list[tuple[Floats, ...]] = []
    for X_test, y_test in zip(X, y, strict=True):
        predicted = fits.predict(X_test)
        mse = ((predicted - y_test) ** 2).mean(axis=1)
        mean = predicted.mean(axis=0)
        variance = ((predicted - mean) ** 2).mean(axis=1)
        bias = ((mean - y_test) ** 2).mean(keepdims=True)
        parts.append((1 - mse / y_test.var(), mse, variance, bias))
    return Scores(*(np.stack(part) for part in zip(*parts, strict=True)))


# Means with intervals ------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A number of ours and how certain it is.

    ``margin`` is the half width of its 95 % interval, NaN where nothing is random. ``spread`` is
    the standard deviation of the same number from one run of the paper's size: 500 repetitions,
    scored on a single test set. ``expectation`` is its expectation in closed form, if known.
    """

    value: float
    margin: float = math.nan
    spread: float = 0.0
    expectation: float = math.nan

    @property
    def expected(self) -> float:
        """What to expect of a run of the paper's size: the expectation, or our mean."""
        return self.value if math.isnan(self.expectation) else self.expectation

    @property
    def error(self) -> float:
        """Standard deviation of the difference between one run of the paper's size and that."""
        own = self.margin / NORMAL if math.isnan(self.expectation) else 0.0
        return math.hypot(self.spread, 0.0 if math.isnan(own) else own)


Estimates = dict[str, Estimate]
"""Estimates by the names of their rows in the tables."""


def mean_of_repetitions(values: Floats) -> Estimate:
    """Mean of one value per repetition; NaN, an empty interval of correlations, is left out."""
    values = values[~np.isnan(values)]
    sd = float(values.std(ddof=1))
    return Estimate(
        float(values.mean()),
        _quantile(len(values)) * sd / math.sqrt(len(values)),
        sd / math.sqrt(PAPER_REPETITIONS),
    )


def mean_of_draws(values: Floats) -> Estimate:
    """Mean of values of shape (draws, repetitions), where the paper has a single draw.

    A draw is whatever the paper draws only once: the test set, the weights. Each draw has its own
    repetitions, which add a little to the spread.
    """
    draws, repetitions = values.shape
    means = values.mean(axis=1)
    between = float(means.var(ddof=1))
    within = float(values.var(axis=1, ddof=1).mean()) if repetitions > 1 else 0.0
    return Estimate(
        float(means.mean()),
        _quantile(draws) * math.sqrt(between / draws),
        math.sqrt(between + within / PAPER_REPETITIONS),
    )


def mean_of_scores(values: Floats) -> Estimate:
    """Mean of scores of shape (test sets, repetitions), where all test sets score the same fits."""
    test_sets, repetitions = values.shape
    between = float(values.mean(axis=1).var(ddof=1))
    within = float(values.var(axis=1, ddof=1).mean())
    return Estimate(
        float(values.mean()),
        _quantile(min(test_sets, repetitions))
        * math.sqrt(between / test_sets + within / repetitions),
        math.sqrt(between + within / PAPER_REPETITIONS),
    )


def median(values: Floats) -> Estimate:
    """Median of one value per repetition, with an interval between order statistics."""
    values = np.sort(values[~np.isnan(values)])
    n = len(values)
    low, high = (int(stats.binom.ppf(level, n, 0.5)) for level in (0.025, 0.975))
    margin = float(values[min(high, n - 1)] - values[low]) / 2
    spread = margin / NORMAL * math.sqrt(n / PAPER_REPETITIONS)
    return Estimate(float(np.median(values)), margin, spread)


def merge_count(merged: npt.NDArray[np.bool_], probability: float) -> Estimate:
    """Merges per 500 repetitions, a binomial count whose probability is known."""
    sd = math.sqrt(probability * (1 - probability))
    return Estimate(
        PAPER_REPETITIONS * float(merged.mean()),
        NORMAL * PAPER_REPETITIONS * sd / math.sqrt(len(merged)),
        sd * math.sqrt(PAPER_REPETITIONS),
        PAPER_REPETITIONS * probability,
    )


def certain_count(merged: npt.NDArray[np.bool_]) -> Estimate:
    """Merges per 500 repetitions by the true weights, which decide alike in all of them."""
    return Estimate(PAPER_REPETITIONS * float(merged.mean()), 0.0)


def _quantile(n: int) -> float:
    """Half width of a 95 % interval, in standard errors estimated from n values."""
    return float(stats.t.ppf(0.975, n - 1))


DIFFERENCE = "MSE merged − full"


def score_merging(full: Fits, merged: Fits, X: Floats, y: Floats) -> Estimates:
    """Scores on test sets, before and after the first two features are merged.

    The merged fits know the mean of these two and, if they have more weights, the other features;
    the full fits may know only the first features.
    """
    mean = X[:, :, :2].mean(axis=2, keepdims=True)
    reduced = np.concatenate([mean, X[:, :, 2:]], axis=2)
    scores = {
        "full": score(full, X[:, :, : full.weights.shape[1]], y),
        "merged": score(merged, reduced[:, :, : merged.weights.shape[1]], y),
    }
    estimates: Estimates = {}
    for title, attribute in (("R²", "r2"), ("MSE", "mse"), ("Variance", "variance")):
        for model, found in scores.items():
            estimates[f"{title} {model}"] = mean_of_scores(getattr(found, attribute))
    for model, found in scores.items():
        estimates[f"Bias {model}"] = mean_of_draws(found.bias)
    # The noise of the test set, which blurs both errors, cancels in their difference.
    estimates[DIFFERENCE] = mean_of_scores(scores["merged"].mse - scores["full"].mse)
    return estimates
