"""Supervised PCA with a kernel on a single target, without forming the kernel matrix."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.polynomial.chebyshev import chebvander
from scipy.fft import dct
from scipy.linalg import eigh, qr
from scipy.sparse import csr_array

from .._statistics._tiles import row_slices
from ..theory._arrays import FloatArray

KERNELS = ("linear", "poly", "rbf", "sigmoid")

Kernel: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]
"""The kernel matrix between two arrays of values."""

_BLOCK_VALUES = 2**22
_ROUNDING = 32 * float(np.finfo(np.float64).eps)  # error of a kernel relative to its largest value
_FEWEST_NODES = 32


def make_kernel(name: str, gamma: float, degree: int, coef0: float) -> Kernel:
    """Return a kernel as in :mod:`sklearn.metrics.pairwise`; overflow gives infinity or NaN."""

    def kernel(s: FloatArray, t: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            if name == "rbf":
                return np.asarray(np.exp(-gamma * np.subtract.outer(s, t) ** 2))
            product = np.multiply.outer(s, t)
            if name == "linear":
                return product
            product = gamma * product + coef0
            return np.asarray(product**degree if name == "poly" else np.tanh(product))

    return kernel


def kernel_directions(
    X: npt.NDArray[Any],
    mean: FloatArray,
    factor: FloatArray,
    target: FloatArray,
    kernel: Kernel,
    known: int | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    """Eigenvalues and eigenvectors of XᵀHLHX, where H centres and L is the target's kernel matrix.

    The centred columns of X are multiplied by ``factor``; ``known`` is the number of nodes at which
    interpolation of the kernel is exact, if known. The eigenvalues are in descending order, and all
    others are 0. Also returns the largest absolute value of the kernel between the nodes.
    """
    nodes, directions, loadings = _factor(X, mean, factor, target, kernel, known)
    matrix, largest = _quadratic_form(loadings, nodes, kernel)
    if not np.isfinite(largest):
        raise ValueError(
            "The values of the kernel are too large for float64: lower gamma, degree or coef0."
        )
    values, vectors = eigh(matrix)
    vectors = directions @ vectors[:, ::-1]
    vectors[factor == 0] = 0.0  # up to rounding they already are
    return values[::-1], vectors, largest


def _factor(
    X: npt.NDArray[Any],
    mean: FloatArray,
    factor: FloatArray,
    target: FloatArray,
    kernel: Kernel,
    known: int | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Factor XᵀHLHX into Q P K Pᵀ Qᵀ, with K the kernel between k nodes; return nodes, Q and P."""
    # The kernel is interpolated in Chebyshev polynomials between the smallest and the largest
    # target. If that takes as many nodes as the target has distinct values, these are the nodes. Q
    # is orthonormal, of shape (D, r) with r at most D and k; P has shape (r, k).
    n, D = X.shape
    values, index = np.unique(target, return_inverse=True)
    middle, half = (values[-1] + values[0]) / 2, (values[-1] - values[0]) / 2
    count = known or _nodes_needed(
        values.size, lambda s, t: kernel(middle + half * s, middle + half * t)
    )
    interpolated = count <= values.size
    k = count if interpolated else values.size
    sums, total, basis_total = np.zeros((k, D)), np.zeros(D), np.zeros(k)
    for rows in row_slices(n, max(D, count) if interpolated else D, _BLOCK_VALUES):
        part = (X[rows] - mean) * factor
        basis: Any
        if interpolated:
            basis = chebvander(np.clip((target[rows] - middle) / half, -1, 1), count - 1)
        else:
            ones = np.ones(len(part))
            basis = csr_array((ones, index[rows], np.arange(len(part) + 1)), shape=(len(part), k))
        sums += basis.T @ part
        total += part.sum(axis=0)
        basis_total += basis.sum(axis=0)
    sums -= np.multiply.outer(basis_total / n, total)  # rounding errors of the mean
    if not interpolated:
        return values, *_orthogonal(sums.T)
    # Centring removes the constant polynomial. The transform turns coefficients into values.
    directions, loadings = _orthogonal(sums[1:].T)
    loadings = dct(np.pad(loadings, ((0, 0), (1, 0))), type=3, axis=1) / count
    return np.asarray(middle + half * _nodes(count)), directions, loadings


def _orthogonal(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    directions, loadings = qr(matrix, mode="economic")
    return np.asarray(directions, dtype=np.float64), np.asarray(loadings, dtype=np.float64)


def _nodes(count: int) -> FloatArray:
    """Return the zeros of the Chebyshev polynomial of that degree."""
    return np.asarray(np.cos(np.pi * (np.arange(count) + 0.5) / count))


def _nodes_needed(n_values: int, kernel: Kernel) -> int:
    """Return how many nodes interpolate a kernel on [−1, 1] up to rounding."""
    # If that is about ``n_values`` or more, return ``n_values + 1``.
    count = _FEWEST_NODES
    while count < n_values:
        nodes = _nodes(count)
        # Functions of one argument; the other is a node, where a narrow kernel has its peak.
        lines = kernel(nodes, nodes[np.linspace(0, count - 1, 9).astype(np.intp)])
        coefficients = np.abs(dct(lines, axis=0)).max(axis=1) / count
        needed = np.flatnonzero(coefficients > _ROUNDING * np.abs(lines).max())
        if needed.size == 0 or needed[-1] < 0.75 * count:
            return int(needed.max(initial=1)) + 1
        count *= 2
    return n_values + 1


def _quadratic_form(
    loadings: FloatArray, nodes: FloatArray, kernel: Kernel
) -> tuple[FloatArray, float]:
    """Return P K Pᵀ and the largest absolute value in K, which is computed in blocks."""
    result, largest = np.zeros((len(loadings), len(loadings))), np.float64(0)
    with np.errstate(over="ignore", invalid="ignore"):
        for rows in row_slices(nodes.size, nodes.size, _BLOCK_VALUES):
            part = kernel(nodes[rows], nodes)
            largest = np.maximum(largest, np.abs(part).max())
            result += loadings[:, rows] @ (part @ loadings.T)
    return (result + result.T) / 2, float(largest)
