"""Data for the benchmarks: wide, tall, without merges, and very large."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lincfa.datasets import make_correlated, make_field


@dataclass(frozen=True)
class Data:
    """Training and test rows from the same generator."""

    name: str
    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    X_test: npt.NDArray[np.float64]
    y_test: npt.NDArray[np.float64]

    @property
    def shape(self) -> str:
        """Shape as text."""
        return f"{self.X.shape[0]} × {self.X.shape[1]}"


def _split(name: str, X: npt.NDArray[np.float64], y: npt.NDArray[np.float64], n: int) -> Data:
    # Copies keep the memory order, as in a user's own data.
    order = "C" if X.flags.c_contiguous else "F"
    return Data(name, X[:n].copy(order=order), y[:n].copy(), X[n:].copy(order=order), y[n:].copy())


def tree(n: int, D: int, *, seed: int = 0, n_test: int = 500) -> Data:
    """Draw the paper's data, a tree of correlated features (column-major)."""
    X, y = make_correlated(n + n_test, D, random_state=seed)
    return _split("paper's tree", X, y, n)


def field(n: int, D: int, *, seed: int = 0, n_test: int = 500) -> Data:
    """Draw a smooth field in kelvin on a nearly square grid of D cells (row-major)."""
    rows = next(k for k in range(int(D**0.5), 0, -1) if D % k == 0)
    X, y, _ = make_field(n + n_test, (rows, D // rows), random_state=seed)
    return _split("smooth field", X, y, n)


def independent(n: int, D: int, *, seed: int = 0, n_test: int = 500) -> Data:
    """Draw independent features with distinct, large weights and hardly any noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + n_test, D))
    weights = np.linspace(1, 100, D)
    y = X @ weights + random.normal(size=n + n_test)
    return _split("independent", X, y, n)


def large(n: int, D: int, *, seed: int = 0) -> tuple[npt.NDArray[np.float32], npt.NDArray]:
    """Draw float32 features from sixty smooth patterns and noise, block by block."""
    random = np.random.default_rng(seed)
    factors = random.normal(size=(n, 60)).astype(np.float32)
    X = np.empty((n, D), dtype=np.float32)
    phase, speed = random.uniform(0, 6, size=60), random.uniform(1, 30, size=60)
    for left in range(0, D, 10_000):
        position = np.arange(left, min(left + 10_000, D)) / D
        patterns = np.sin(phase[:, None] + speed[:, None] * position).astype(np.float32)
        block = X[:, left : left + 10_000]
        block[:] = factors @ patterns
        block += random.standard_normal(block.shape, dtype=np.float32)
        block += 280
    y = factors[:, :10].sum(axis=1, dtype=np.float64) + 3 * random.normal(size=n)
    return X, y
