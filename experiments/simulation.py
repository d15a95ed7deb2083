"""Repetitions of an experiment at once: least squares on stacks of data sets."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .estimates import Estimate, Floats, crossed, over_draws

SAMPLES = 500
"""Samples to fit, and samples of a test set, in all of the paper's simulations."""

TEST_SETS = 100
"""Test sets to score on; the paper has one, and its draw moves the scores more than all else."""


DIFFERENCE = "MSE merged − full"


@dataclass(frozen=True)
class Settings:
    """How much to run: repetitions per table, the seed, and the folder of the real data."""

    repetitions: int = 500
    seed: int = 0
    folder: Path | None = None

    @property
    def draws(self) -> int:
        """Draws of what the paper draws once, for repetitions that are not cheap."""
        return max(4, min(20, self.repetitions // 10))

    @property
    def per_draw(self) -> int:
        """Repetitions in each of these draws; together at least those asked for."""
        return -(-self.repetitions // self.draws)

    @property
    def compared(self) -> int:
        """Repetitions per draw in which methods are compared that take long to fit."""
        return max(2, min(5, self.per_draw // 5))

    @property
    def compared_small(self) -> int:
        """As ``compared``, in all, for two and three features, where little is to be chosen."""
        return max(5, min(40, self.repetitions // 10))


def random_state(seed: int, *key: Any) -> np.random.RandomState:
    """Give each part of the work its own stream of random numbers, whoever does it and when."""
    words = [seed, *(zlib.crc32(repr(part).encode()) for part in key)]
    return np.random.RandomState(np.random.MT19937(np.random.SeedSequence(words)))


def draw(
    make: Callable[..., tuple[Floats, Floats]], repetitions: int, random: np.random.RandomState
) -> tuple[Floats, Floats]:
    """Stack data sets of a generator: X of shape (repetitions, n, D), y of (repetitions, n)."""
    pairs = [make(random_state=random) for _ in range(repetitions)]
    return np.stack([X for X, _ in pairs]), np.stack([y for _, y in pairs])


@dataclass(frozen=True)
class Fits:
    """Least squares fits with intercept, one a repetition."""

    weights: Floats
    intercept: Floats
    rss: Floats

    def predict(self, X: Floats) -> Floats:
        """Predictions of every fit, of shape (repetitions, samples)."""
        return np.asarray(self.weights @ X.T + self.intercept[:, None])


def least_squares(X: Floats, y: Floats) -> Fits:
    """Fit every data set of a stack by its normal equations.

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
    """Scores on test sets, of shape (test sets, repetitions); the bias of (test sets, 1).

    ``bias`` is, as in the paper, the mean squared distance of the mean prediction from the noisy
    target, so that it holds the noise.
    """

    r2: Floats
    mse: Floats
    variance: Floats
    bias: Floats


def score(fits: Fits, X: Floats, y: Floats) -> Scores:
    """Score every fit on every test set of a stack."""
    parts: list[tuple[Floats, ...]] = []
    for X_test, y_test in zip(X, y, strict=True):
        predicted = fits.predict(X_test)
        mse = ((predicted - y_test) ** 2).mean(axis=1)
        mean = predicted.mean(axis=0)
        variance = ((predicted - mean) ** 2).mean(axis=1)
        bias = ((mean - y_test) ** 2).mean(keepdims=True)
        parts.append((1 - mse / y_test.var(), mse, variance, bias))
    return Scores(*(np.stack(part) for part in zip(*parts, strict=True)))


def correlations(X: Floats) -> Floats:
    """Correlation matrices of a stack, of shape (repetitions, D, D)."""
    centred = X - X.mean(axis=1, keepdims=True)
    scaled = centred / np.sqrt((centred**2).sum(axis=1, keepdims=True))
    return np.asarray(scaled.transpose(0, 2, 1) @ scaled)


def score_pair(full: Fits, merged: Fits, X: Floats, y: Floats) -> dict[str, Estimate]:
    """Scores of the regression on all features of the test sets, and of that on merged ones.

    The merged features are the mean of the first two and, where the fits have more weights, the
    further ones; a full fit may know the first features only.
    """
    mean = X[:, :, :2].mean(axis=2, keepdims=True)
    reduced = np.concatenate([mean, X[:, :, 2:]], axis=2)
    estimates: dict[str, Estimate] = {}
    both = score(full, X[:, :, : full.weights.shape[1]], y)
    one = score(merged, reduced[:, :, : merged.weights.shape[1]], y)
    for title, attribute in (("R²", "r2"), ("MSE", "mse"), ("Variance", "variance")):
        for model, scores in (("full", both), ("merged", one)):
            estimates[f"{title} {model}"] = crossed(getattr(scores, attribute))
    for model, scores in (("full", both), ("merged", one)):
        estimates[f"Bias {model}"] = over_draws(scores.bias)
    # The noise of the test set, which blurs both errors, drops out of their difference.
    estimates[DIFFERENCE] = crossed(one.mse - both.mse)
    return estimates
