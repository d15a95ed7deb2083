"""Candidates that join the mean of a group one after another, compiled."""

from math import inf, sqrt

from .._compiled import compiled
from .._rule import MARGIN
from .._statistics import RESOLUTION, IndexArray
from ..theory._arrays import FloatArray


@compiled
def _f(
    rho: float, differences: float, totals: float, factor: float, noise: float, lowest: float
) -> float:
    """F of a pair of means, as Rule.f_of_pair computes it; a noise of 0 is that of the pair."""
    if rho < lowest - MARGIN:
        return inf
    below_one = 1 - rho
    if below_one <= RESOLUTION:
        return 0.0
    share = differences / (2 * below_one)
    unexplained = 1 - share - totals / max(2 + 2 * rho, RESOLUTION)
    return factor * share / (noise if noise > 0 else max(unexplained, RESOLUTION))


@compiled
def _can_pass(
    differences: float, totals: float, tolerance: float, factor: float, lowest: float
) -> bool:
    """Whether F can be at most the tolerance at any correlation; for the noise of the pair."""
    # F ≤ c is 2t(1+ρ) ≤ (1−ρ²)(1−R²) = 1 − r₁² − r₂² + (2r₁r₂ − ρ)ρ, with t = factor·(r₁−r₂)²/(4c).
    # The right side minus the left is largest at ρ = r₁r₂ − t.
    if differences <= 10 * RESOLUTION:
        return True
    growth = factor * differences
    product = (totals - differences) / 4
    rho = max(-1.0, lowest - MARGIN)
    if tolerance > 0:
        rho = max(rho, product - growth / (4 * tolerance))
    left_over = 1 - (totals + differences) / 2 + (2 * product - rho) * rho
    return growth * (1 + rho) <= 2 * tolerance * (left_over + MARGIN) + MARGIN * growth


@compiled
def join_in_order(
    columns: FloatArray,
    r_columns: FloatArray,
    total: FloatArray,
    r_sum: FloatArray,
    direction: FloatArray,
    square: float,
    limits: tuple[float, float],
    signed: bool,
    test: tuple[float, float, float, float],
    joined: IndexArray,
    signs: FloatArray,
    figures: FloatArray,
) -> tuple[int, float, bool]:
    """Let standardised columns join a sum of such columns, to whose correlations they are added.

    Returns how many joined, the square of the norm of the sum, and whether the correlation of the
    mean with the targets came to lie outside the limits, after which no column is tested.
    ``joined``, ``signs`` and ``figures`` are filled with the places of the columns that joined,
    their signs, and ρ and the correlations of mean and column with the targets.
    """
    # As _Group.join does it, for equal weights and without gaps.
    tolerance, factor, noise, lowest = test
    low, high = limits
    k, count, moved = r_sum.size, 0, False
    for place in range(len(columns)):
        norm = sqrt(max(square, RESOLUTION))
        differences = totals = 0.0
        for target in range(k):
            r, own = r_sum[target] / norm, r_columns[target, place]
            differences += (r - own) * (r - own)
            totals += (r + own) * (r + own)
        differences /= k
        totals /= k
        if noise == 0 and not (
            _can_pass(differences, totals, tolerance, factor, lowest)
            or (signed and _can_pass(totals, differences, tolerance, factor, lowest))
        ):
            continue
        column = columns[place]
        product = 0.0
        for row in range(total.size):
            product += column[row] * total[row]
        rho = max(-1.0, min(1.0, product / norm))
        f, sign = _f(rho, differences, totals, factor, noise, lowest), 1.0
        if signed:
            mirrored = _f(-rho, totals, differences, factor, noise, lowest)
            if mirrored < f or (mirrored == f and rho < 0):
                f, sign = mirrored, -1.0
        if f > tolerance:
            continue
        joined[count], signs[count], figures[count, 0] = place, sign, sign * rho
        for target in range(k):
            figures[count, 1 + target] = r_sum[target] / norm
            figures[count, 1 + k + target] = sign * r_columns[target, place]
        count += 1
        square += 2 * sign * product + 1
        for row in range(total.size):
            total[row] += sign * column[row]
        r_mean = 0.0
        for target in range(k):
            r_sum[target] += sign * r_columns[target, place]
            r_mean += direction[target] * r_sum[target]
        r_mean /= sqrt(max(square, RESOLUTION))
        if signed:
            r_mean = abs(r_mean)
        if r_mean < low or r_mean > high:
            moved = True
            break
    return count, square, moved
