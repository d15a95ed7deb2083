"""Zarr stores of correlated features, written chunk by chunk, never in memory as a whole."""

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import dask.array as da
import numpy as np
import numpy.typing as npt
import zarr

SIGNALS = 40


@dataclass(frozen=True)
class Shape:
    """Shape and chunks of a store."""

    name: str
    n: int
    D: int
    chunks: tuple[int, int]

    @property
    def nbytes(self) -> int:
        """Size of the features as float64."""
        return 8 * self.n * self.D

    @property
    def title(self) -> str:
        """Name and size as text."""
        return f"{self.name}, {self.n} × {self.D}, {self.nbytes / 1e9:.3g} GB"


@dataclass(frozen=True)
class Store:
    """Features and target on disk."""

    shape: Shape
    path: Path

    def open(self, rows: int | None = None) -> tuple[da.Array, da.Array]:
        """Open features and target, or only their first rows."""
        X, y = da.from_zarr(str(self.path / "X")), da.from_zarr(str(self.path / "y"))
        return X[:rows], y[:rows]

    def read(self, rows: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Read the first rows into this process, not through the workers, whose memory is small."""
        X, y = (zarr.open_array(self.path / name, mode="r")[:rows] for name in ("X", "y"))
        return np.asarray(X), np.asarray(y)

    def forget(self) -> None:
        """Drop the store from the page cache, so that the next pass reads from disk."""
        for path in self.path.rglob("*"):
            if path.is_file() and hasattr(os, "posix_fadvise"):
                with path.open("rb") as file:
                    os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def remove(self) -> None:
        """Delete the store."""
        shutil.rmtree(self.path)


def by_size(gigabytes: float) -> list[Shape]:
    """Return the shapes of a wide and a tall store of about this size, in chunks of 1/160 of it."""
    eighth = max(1, round(gigabytes * 1e9 / 8 / 50_000 / 8))
    part = max(1, round(gigabytes * 1e9 / 8 / 1000 / 160))
    return [
        Shape("wide", 8 * eighth, 50_000, (eighth, 2500)),
        Shape("tall", 160 * part, 1000, (part, 1000)),
    ]


def generate(path: Path, shape: Shape, seed: int = 0) -> Store:
    """Write features and a target with two threads.

    Each feature is one of forty signals plus noise of half its size; adjacent features share a
    signal, and the target weights the signals differently. Uncompressed: noise does not compress.
    """
    settings = {"dtype": "f8", "compressors": None, "overwrite": True}
    X = zarr.create_array(path / "X", shape=(shape.n, shape.D), chunks=shape.chunks, **settings)
    y = zarr.create_array(path / "y", shape=(shape.n,), chunks=shape.chunks[:1], **settings)
    tops = range(0, shape.n, shape.chunks[0])
    lefts = range(0, shape.D, shape.chunks[1])

    def write(corner: tuple[int, int]) -> None:
        top, left = corner
        bottom = min(top + shape.chunks[0], shape.n)
        right = min(left + shape.chunks[1], shape.D)
        signals = _signals(seed, top, bottom)
        random = np.random.default_rng((seed, top, 1 + left))
        block = random.standard_normal((bottom - top, right - left))
        block *= 0.5
        for signal in range(SIGNALS):
            # Features floor(j·40/D) = signal, as columns of this block.
            first = max(0, -(-signal * shape.D // SIGNALS) - left)
            last = max(0, -(-(signal + 1) * shape.D // SIGNALS) - left)
            block[:, first:last] += signals[:, signal, None]
        X[top:bottom, left:right] = block
        if left == 0:
            noise = 2 * random.standard_normal(bottom - top)
            y[top:bottom] = signals @ np.linspace(-2, 2, SIGNALS) + noise

    with ThreadPoolExecutor(2) as pool:
        for _ in pool.map(write, product(tops, lefts)):
            pass
    os.sync()  # otherwise writing would continue during the next measurement
    return Store(shape, path)


def _signals(seed: int, top: int, bottom: int) -> npt.NDArray[np.float64]:
    random = np.random.default_rng((seed, top, 0))
    return random.standard_normal((bottom - top, SIGNALS))
