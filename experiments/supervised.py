"""Supervised PCA as the paper uses it, as its text reads, and chosen without the test set."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lincfa.baselines import SupervisedPCA

from .estimates import Floats
from .methods import folds

Kernel = Literal["linear", "poly", "sigmoid"]
KERNELS: tuple[Kernel, ...] = ("linear", "poly", "sigmoid")
MOST = 50
"""Components up to which the paper looks for the best number on the test set."""


@dataclass(frozen=True)
class Choice:
    """A kernel and a number of components, with what they predict."""

    kernel: Kernel
    d: int
    predicted: Floats


def components(X: Floats, y: Floats, kernel: Kernel) -> Floats:
    """Directions of nonzero eigenvalues, of shape (d, D), at most as many as the paper tries."""
    found: Floats = SupervisedPCA(kernel=kernel).fit(X, y).components_
    return found[:MOST]


def complete(found: Floats, random: np.random.RandomState) -> Floats:
    """Add directions of eigenvalue zero, any of which an eigenvalue solver may return.

    It gives their eigenvalues as rounding errors of either sign; the paper's search goes on while
    they are positive.
    """
    rank, D = found.shape
    positive = random.binomial(D - rank, 0.5)
    free = random.normal(size=(D, min(MOST - rank, positive)))
    free -= found.T @ (found @ free)
    return np.concatenate([found, np.linalg.qr(free)[0].T])


def predictions(X: Floats, y: Floats, X_test: Floats, directions: Floats) -> Floats:
    """Predict by least squares on the first 1, 2, … directions, of shape (d, samples).

    One QR factorisation serves them all: its columns are the components made uncorrelated in turn.
    """
    mean = X.mean(axis=0)
    Q, R = np.linalg.qr((X - mean) @ directions.T)
    test = np.linalg.solve(R.T, ((X_test - mean) @ directions.T).T)
    shares = Q.T @ (y - y.mean())
    return np.asarray(y.mean() + np.cumsum(shares[:, None] * test, axis=0))


def errors(predicted: Floats, y: Floats) -> Floats:
    """Mean squared error of each number of directions."""
    return np.asarray(((predicted - y) ** 2).mean(axis=1))


def best_on_test(
    X: Floats, y: Floats, X_test: Floats, y_test: Floats, found: dict[Kernel, Floats]
) -> Choice:
    """Take kernel and number of components by the error on the test set, as the paper does."""
    choices: list[tuple[float, Choice]] = []
    for kernel, directions in found.items():
        predicted = predictions(X, y, X_test, directions)
        error = errors(predicted, y_test)
        k = int(error.argmin())
        choices.append((float(error[k]), Choice(kernel, k + 1, predicted[k])))
    return min(choices, key=lambda choice: choice[0])[1]


def best_by_folds(X: Floats, y: Floats, X_test: Floats, ordered: bool) -> Choice:
    """Take kernel and number of components by cross-validation."""
    error: dict[tuple[Kernel, int], float] = {}
    for kernel in KERNELS:
        parts = list(_fold_errors(X, y, kernel, ordered))
        shortest = min(len(part) for part in parts)
        for d in range(shortest):
            error[kernel, d + 1] = float(np.mean([part[d] for part in parts]))
    kernel, d = min(error, key=lambda key: error[key])
    directions = components(X, y, kernel)[:d]
    return Choice(kernel, d, predictions(X, y, X_test, directions)[-1])


def _fold_errors(X: Floats, y: Floats, kernel: Kernel, ordered: bool) -> Iterator[Floats]:
    for train, test in folds(ordered).split(X):
        directions = components(X[train], y[train], kernel)
        yield errors(predictions(X[train], y[train], X[test], directions), y[test])
