"""Loops over large arrays, compiled: each reads its rows or columns once and copies nothing.

Within them single letters are the rows or columns that are read together, their factors, and their
values at one place.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..theory._arrays import FloatArray
from ._protocol import IndexArray
from ._speed import compiled

_WIDTH = 2048
"""Columns whose sums stay in the cache."""


@compiled
def add_moments_along_rows(
    X: npt.NDArray[Any],
    shift: FloatArray,
    factors: FloatArray,
    start: int,
    stop: int,
    squares: FloatArray,
    sums: FloatArray,
) -> None:
    """Add up x − shift times each row of factors, and its squares times the first of them.

    Of the columns from start to stop, of an array whose rows are contiguous.
    """
    n = X.shape[0]
    for left in range(start, stop, _WIDTH):
        right = min(left + _WIDTH, stop)
        zero, square, total = shift[left:right], squares[left:right], sums[0, left:right]
        # Four rows at a time, so that the sums are read and written a quarter as often.
        for top in range(0, n - n % 4, 4):
            a, b = X[top, left:right], X[top + 1, left:right]
            c, d = X[top + 2, left:right], X[top + 3, left:right]
            u, v = factors[0, top], factors[0, top + 1]
            w, z = factors[0, top + 2], factors[0, top + 3]
            for j in range(right - left):
                e, f, g, h = a[j] - zero[j], b[j] - zero[j], c[j] - zero[j], d[j] - zero[j]
                total[j] += (u * e + v * f) + (w * g + z * h)
                square[j] += (u * e * e + v * f * f) + (w * g * g + z * h * h)
            for k in range(1, factors.shape[0]):
                product = sums[k, left:right]
                u, v = factors[k, top], factors[k, top + 1]
                w, z = factors[k, top + 2], factors[k, top + 3]
                for j in range(right - left):
                    e, f, g, h = a[j] - zero[j], b[j] - zero[j], c[j] - zero[j], d[j] - zero[j]
                    product[j] += (u * e + v * f) + (w * g + z * h)
        for row in range(n - n % 4, n):
            a = X[row, left:right]
            u = factors[0, row]
            for j in range(right - left):
                e = a[j] - zero[j]
                square[j] += u * e * e
            for k in range(factors.shape[0]):
                product = sums[k, left:right]
                u = factors[k, row]
                for j in range(right - left):
                    product[j] += u * (a[j] - zero[j])


@compiled
def add_moments_along_columns(
    columns: npt.NDArray[Any],
    shift: FloatArray,
    factors: FloatArray,
    start: int,
    stop: int,
    squares: FloatArray,
    sums: FloatArray,
) -> None:
    """Do the same for an array whose columns are contiguous, given transposed."""
    n = columns.shape[1]
    for j in range(start, stop):
        column, zero = columns[j], shift[j]
        total = square = 0.0
        for i in range(n):
            e = column[i] - zero
            total += factors[0, i] * e
            square += factors[0, i] * e * e
        sums[0, j] += total
        squares[j] += square
        for k in range(1, factors.shape[0]):
            total = 0.0
            for i in range(n):
                total += factors[k, i] * (column[i] - zero)
            sums[k, j] += total


@compiled
def add_groups_along_rows(
    X: npt.NDArray[Any],
    labels: IndexArray,
    offset: FloatArray,
    factor: FloatArray,
    start: int,
    stop: int,
    total: FloatArray,
) -> None:
    """Add up the columns of each group, less an offset and times a factor.

    In the rows from start to stop, of an array whose rows are contiguous; ``total`` has a row for
    each row.
    """
    # Eight rows at a time: their values of a column are added to sums that lie side by side.
    n_groups = total.shape[1]
    sums = np.empty((n_groups, 8))
    for top in range(start, stop - (stop - start) % 8, 8):
        a, b, c, d = X[top], X[top + 1], X[top + 2], X[top + 3]
        e, f, g, h = X[top + 4], X[top + 5], X[top + 6], X[top + 7]
        sums[:] = 0.0
        for j in range(labels.size):
            own, zero, by = sums[labels[j]], offset[j], factor[j]
            own[0] += (a[j] - zero) * by
            own[1] += (b[j] - zero) * by
            own[2] += (c[j] - zero) * by
            own[3] += (d[j] - zero) * by
            own[4] += (e[j] - zero) * by
            own[5] += (f[j] - zero) * by
            own[6] += (g[j] - zero) * by
            own[7] += (h[j] - zero) * by
        for k in range(8):
            for group in range(n_groups):
                total[top + k, group] = sums[group, k]
    for row in range(stop - (stop - start) % 8, stop):
        a = X[row]
        for j in range(labels.size):
            total[row, labels[j]] += (a[j] - offset[j]) * factor[j]


@compiled
def add_groups_along_columns(
    columns: npt.NDArray[Any],
    labels: IndexArray,
    offset: FloatArray,
    factor: FloatArray,
    start: int,
    stop: int,
    total: FloatArray,
) -> None:
    """Do the same for an array whose columns are contiguous, given transposed, as is ``total``."""
    for j in range(labels.size):
        column, sums = columns[j, start:stop], total[labels[j], start:stop]
        zero, by = offset[j], factor[j]
        for i in range(stop - start):
            sums[i] += (column[i] - zero) * by


@compiled
def multiply_windows_along_rows(
    X: npt.NDArray[Any],
    mean: FloatArray,
    table: FloatArray,
    columns: npt.NDArray[np.uintp],
    windows: npt.NDArray[np.uintp],
    start: int,
    stop: int,
    result: FloatArray,
) -> None:
    """Multiply columns, less their means, each with its own four neighbouring columns of a table.

    Of the pairs of column and window from start to stop, in the order of the columns, of an array
    whose rows are contiguous.
    """
    # Without signs, indices need no test whether they count from the end. Sums are stored after all
    # are computed, or each would wait for the one before.
    n = X.shape[0]
    one = np.uintp(1)
    for left in range(start, stop, _WIDTH):
        right = min(left + _WIDTH, stop)
        for top in range(0, n - n % 4, 4):
            x, y, z, w = X[top], X[top + 1], X[top + 2], X[top + 3]
            a, b, c, d = table[top], table[top + 1], table[top + 2], table[top + 3]
            for k in range(left, right):
                j, i, sums = columns[k], windows[k], result[k]
                zero = mean[j]
                e, f, g, h = x[j] - zero, y[j] - zero, z[j] - zero, w[j] - zero
                p = (e * a[i] + f * b[i]) + (g * c[i] + h * d[i])
                i += one
                q = (e * a[i] + f * b[i]) + (g * c[i] + h * d[i])
                i += one
                r = (e * a[i] + f * b[i]) + (g * c[i] + h * d[i])
                i += one
                s = (e * a[i] + f * b[i]) + (g * c[i] + h * d[i])
                p, q, r, s = sums[0] + p, sums[1] + q, sums[2] + r, sums[3] + s
                sums[0], sums[1], sums[2], sums[3] = p, q, r, s
        for row in range(n - n % 4, n):
            for k in range(left, right):
                j, i = columns[k], windows[k]
                e = X[row, j] - mean[j]
                for m in range(4):
                    result[k, m] += e * table[row, i + np.uintp(m)]


@compiled
def multiply_windows_along_columns(
    columns_of_x: npt.NDArray[Any],
    mean: FloatArray,
    table: FloatArray,
    columns: npt.NDArray[np.uintp],
    windows: npt.NDArray[np.uintp],
    start: int,
    stop: int,
    result: FloatArray,
) -> None:
    """Do the same for an array whose columns are contiguous; it and the table are transposed."""
    for k in range(start, stop):
        column, zero, i = columns_of_x[columns[k]], mean[columns[k]], windows[k]
        a, b = table[i], table[i + np.uintp(1)]
        c, d = table[i + np.uintp(2)], table[i + np.uintp(3)]
        p = q = r = s = 0.0
        for row in range(column.size):
            value = column[row] - zero
            p += value * a[row]
            q += value * b[row]
            r += value * c[row]
            s += value * d[row]
        result[k, 0] += p
        result[k, 1] += q
        result[k, 2] += r
        result[k, 3] += s
