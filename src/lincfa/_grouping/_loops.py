"""Loops of the strategies, compiled: see :mod:`lincfa._statistics._speed`."""

from collections.abc import Sequence
from math import inf, sqrt
from typing import NamedTuple, Self

import numpy as np

from .._rule import MARGIN, Rule
from .._statistics import RESOLUTION, IndexArray
from .._statistics._speed import compiled
from ..theory._arrays import FloatArray

_UNKNOWN = -1


class PairRule(NamedTuple):
    """What F of a pair of means depends on, for data without gaps; see ``Rule``."""

    tolerance: float
    factor: float  # of the growth of bias, over what is left unexplained where noise is not known
    noise_known: bool
    min_correlation: float
    signed: bool

    @classmethod
    def of(cls, rule: Rule) -> Self:
        """Take from a rule what the loops need."""
        factor = float(rule.ratio(1.0, 1.0, rule.n_samples))
        known = rule.noise_ratio is not None
        return cls(rule.tolerance, factor, known, rule.min_correlation, rule.signed)


@compiled
def f_of_pair(
    rho: float, differences: float, cross: float, totals: float, imbalance: float, rule: PairRule
) -> float:
    """F of one pair of means: what ``Rule.f_of_pair`` is."""
    if rho < rule.min_correlation - MARGIN:
        return inf
    below_one, above = 1 - rho, max(1 + rho, RESOLUTION)
    if below_one <= RESOLUTION:
        return 0.0
    share = differences / (2 * below_one)
    left = 1.0 if rule.noise_known else max(1 - share - totals / (2 * above), RESOLUTION)
    if imbalance != 0:
        across = imbalance * below_one
        excess = above * above * differences - 2 * above * across * cross + across * across * totals
        share = max(excess, 0.0) / (2 * above * below_one * (above + imbalance * across))
    return rule.factor * share / left


@compiled
def _better_sign(
    rho: float, differences: float, cross: float, totals: float, imbalance: float, rule: PairRule
) -> tuple[float, float]:
    """F and the sign of the second with which it is that: what ``Rule.better_sign`` is."""
    f = f_of_pair(rho, differences, cross, totals, imbalance, rule)
    if rule.signed:
        mirrored = f_of_pair(-rho, totals, cross, differences, imbalance, rule)
        if mirrored < f or (mirrored == f and rho < 0):
            return mirrored, -1.0
    return f, 1.0


# Through neighbours


class Order(NamedTuple):
    """What the order of pairs depends on; see ``Merging``."""

    most_correlated_up_to: float
    coinciding: float
    relative_tie: float
    absolute_tie: float


class Groups(NamedTuple):
    """Sums of groups, one a row, and what else is known of each; a merge changes all of it."""

    columns: FloatArray
    r: FloatArray
    sizes: IndexArray
    weights: FloatArray
    norms: FloatArray


class Edges(NamedTuple):
    """Pairs of neighbours, and for each group the list of them."""

    # An edge e has two halves, 2e and 2e + 1, each in the list of the group that it leads away
    # from. Where it leads nowhere any more, it is taken out when its list is walked.
    target: IndexArray
    following: IndexArray
    start: IndexArray
    end: IndexArray
    product: FloatArray  # of the sums of the two
    order: FloatArray
    rho: FloatArray
    # For each group the neighbour that is first in order, and a tree of minima that has the order
    # of it as a leaf. Where that neighbour has merged, its former order is a lower bound.
    nearest: IndexArray
    tree: FloatArray
    seen: IndexArray

    @classmethod
    def of(cls, ends: Sequence[IndexArray], product: FloatArray, n_groups: int) -> Self:
        """Prepare pairs of groups for merging."""
        size = product.size
        tree = np.full(2 ** (1 + (n_groups - 1).bit_length()), inf)
        nowhere = [np.full(length, -1) for length in (2 * size, *[n_groups] * 4)]
        following, start, end, nearest, seen = nowhere
        target = np.column_stack(ends[::-1]).ravel()
        order, rho = np.empty(size), np.empty(size)
        product = product.copy()
        return cls(target, following, start, end, product, order, rho, nearest, tree, seen)

    def left(self) -> tuple[IndexArray, IndexArray, FloatArray]:
        """Return the pairs that are left after merging, and their products."""
        ends = np.sort(self.target.reshape(-1, 2), axis=1)
        left = ends[:, 0] >= 0
        return ends[left, 0], ends[left, 1], self.product[left]


@compiled
def _compare(
    groups: Groups, first: int, second: int, product: float, rule: PairRule
) -> tuple[float, float, float, float]:
    """F and correlation of two groups with the sign taken, this sign, and their imbalance."""
    norms, weights, sizes = groups.norms, groups.weights, groups.sizes
    rho = min(max(product / (norms[first] * norms[second]), -1.0), 1.0)
    differences = cross = totals = 0.0
    for r in groups.r:
        one, other = r[first] / norms[first], r[second] / norms[second]
        differences += (one - other) * (one - other)
        cross += (one - other) * (one + other)
        totals += (one + other) * (one + other)
    k = len(groups.r)
    differences, cross, totals = differences / k, cross / k, totals / k
    one, other = weights[first] / sizes[first], weights[second] / sizes[second]
    imbalance = (one - other) / (one + other)
    f, sign = _better_sign(rho, differences, cross, totals, imbalance, rule)
    return f, sign * rho, sign, imbalance


@compiled
def _product(columns: FloatArray, first: int, second: int) -> float:
    total = 0.0
    for row in range(columns.shape[1]):
        total += columns[first, row] * columns[second, row]
    return total


@compiled
def _put_in_order(edges: Edges, groups: Groups, edge: int, rule: PairRule, order: Order) -> None:
    """Compute the place of an edge in the order of merging from its product."""
    ends = edges.target[2 * edge], edges.target[2 * edge + 1]
    f, rho, _, _ = _compare(groups, min(ends), max(ends), edges.product[edge], rule)
    limit = order.most_correlated_up_to
    if limit > 0 and f <= limit:
        f = limit * (1 - rho) / 2
    edges.order[edge] = order.coinciding if rho >= 1 - RESOLUTION else f
    edges.rho[edge] = rho


@compiled
def _set_nearest(edges: Edges, group: int, neighbour: int, order: float) -> None:
    edges.nearest[group] = neighbour
    tree = edges.tree
    node = tree.size // 2 + group
    tree[node] = order
    while node > 1:
        node //= 2
        tree[node] = min(tree[2 * node], tree[2 * node + 1])


@compiled
def _search(edges: Edges, group: int) -> None:
    """Search the nearest neighbour of a group."""
    smallest, found = inf, _UNKNOWN
    half = edges.start[group]
    while half >= 0:
        if edges.target[half] >= 0 and edges.order[half // 2] < smallest:
            smallest, found = edges.order[half // 2], edges.target[half]
        half = edges.following[half]
    _set_nearest(edges, group, found, smallest)


@compiled
def _search_up_to(edges: Edges, bound: float, first_only: bool, found: IndexArray) -> int:
    """Find the groups that have a pair up to a bound, and return how many there are."""
    count, waiting = 0, [1]
    while waiting:
        node = waiting.pop()
        if edges.tree[node] > bound:
            continue
        group = node - edges.tree.size // 2
        if group < 0:
            waiting.append(2 * node + 1)
            waiting.append(2 * node)
            continue
        if edges.nearest[group] == _UNKNOWN:
            _search(edges, group)
        if edges.tree[node] <= bound:
            found[count] = group
            count += 1
            if first_only:
                break
    return count


@compiled
def _first_of_ties(edges: Edges, groups: Groups, tied: IndexArray, bound: float) -> int:
    """Choose the most correlated pair, then that with the fewest features, then the first."""
    chosen, best = -1, (inf, 0, 0, 0)
    for group in tied:
        half = edges.start[group]
        while half >= 0:
            other, edge = edges.target[half], half // 2
            if other > group and edges.order[edge] <= bound:
                size = groups.sizes[group] + groups.sizes[other]
                pair = -np.rint(1e9 * edges.rho[edge]), size, group, other
                if pair < best:
                    chosen, best = edge, pair
            half = edges.following[half]
    return chosen


@compiled
def _join(
    groups: Groups, a: int, b: int, product: float, rule: PairRule, figures: FloatArray
) -> None:
    """Merge group b into a, flipped where that is its sign, and note what there is to it."""
    _, rho, sign, imbalance = _compare(groups, a, b, product, rule)
    for number, r in enumerate(groups.r):
        r[b] *= sign
        figures[5 + number] = r[a] / groups.norms[a]
        figures[5 + len(groups.r) + number] = r[b] / groups.norms[b]
        r[a] += r[b]
    groups.sizes[a] += groups.sizes[b]
    groups.weights[a] += groups.weights[b]
    figures[0], figures[1], figures[2], figures[3] = a, b, sign, groups.sizes[a]
    figures[4], figures[-1] = rho, imbalance
    column, added = groups.columns[a], groups.columns[b]
    square = 0.0
    for row in range(column.size):
        column[row] += sign * added[row]
        square += column[row] * column[row]
    # The sum of mirror images has no variance: any scale does for it.
    mean_weight = groups.weights[a] / groups.sizes[a]
    groups.norms[a] = sqrt(max(square, RESOLUTION * mean_weight * mean_weight))


@compiled
def _inherit(edges: Edges, a: int, b: int) -> None:
    """Make the neighbours of group b those of a."""
    target, following = edges.target, edges.following
    edges.seen[a] = a
    half = edges.start[a]
    while half >= 0:
        if target[half] >= 0:
            edges.seen[target[half]] = a
        half = following[half]
    half = edges.start[b]
    while half >= 0:
        if target[half] >= 0:
            if edges.seen[target[half]] == a:
                target[half] = target[half ^ 1] = -1
            else:
                target[half ^ 1] = a
        half = following[half]
    following[edges.end[a]] = edges.start[b]
    edges.end[a], edges.start[b] = edges.end[b], -1
    _set_nearest(edges, b, _UNKNOWN, inf)


@compiled
def _compare_with_neighbours(
    edges: Edges, groups: Groups, a: int, b: int, rule: PairRule, order: Order
) -> None:
    """Compare a group with its neighbours after a merge, and update the nearest of each."""
    leaves = edges.tree.size // 2
    previous, half = -1, edges.start[a]
    while half >= 0:
        other, edge, following = edges.target[half], half // 2, edges.following[half]
        if other >= 0:
            edges.product[edge] = _product(groups.columns, a, other)
            _put_in_order(edges, groups, edge, rule, order)
            if edges.order[edge] < edges.tree[leaves + other]:
                _set_nearest(edges, other, a, edges.order[edge])
            elif edges.nearest[other] == a or edges.nearest[other] == b:
                edges.nearest[other] = _UNKNOWN
            previous = half
        elif previous < 0:
            edges.start[a] = following
        else:
            edges.following[previous] = following
        half = following
    edges.end[a] = previous
    _search(edges, a)


@compiled
def merge_neighbours(
    edges: Edges, groups: Groups, rule: PairRule, order: Order, below: float, made: FloatArray
) -> int:
    """Merge the first pair in order as long as this is below a limit, and count the merges.

    There are at most as many as ``made`` has rows, which take what there is to them.
    """
    for half in range(edges.target.size):
        group = edges.target[half ^ 1]
        if edges.start[group] < 0:
            edges.start[group] = half
        else:
            edges.following[edges.end[group]] = half
        edges.end[group] = half
    for edge in range(edges.order.size):
        _put_in_order(edges, groups, edge, rule, order)
    for group in range(edges.start.size):
        _search(edges, group)
    tied = np.empty_like(edges.start)
    count = 0
    while count < len(made) and edges.tree[1] < below:
        smallest = edges.tree[1]  # or a lower bound
        coinciding = smallest == order.coinciding
        tie = order.relative_tie * smallest + order.absolute_tie
        bound = smallest if coinciding else smallest + tie
        n_tied = _search_up_to(edges, bound, coinciding, tied)
        if edges.tree[1] > smallest:
            continue
        edge = _first_of_ties(edges, groups, tied[:n_tied], bound)
        ends = edges.target[2 * edge], edges.target[2 * edge + 1]
        a, b = min(ends), max(ends)
        _join(groups, a, b, edges.product[edge], rule, made[count])
        _inherit(edges, a, b)
        _compare_with_neighbours(edges, groups, a, b, rule, order)
        count += 1
    return count


# Cohesion along a path


@compiled
def least_correlation(
    columns: FloatArray, top: int, above: int, left: int, below: int, most: int
) -> tuple[float, int]:
    """Do what :func:`lincfa._grouping._cohesion.least_correlation` does."""
    height, count = above - top, above - top + below - left
    nearness = np.full(count, inf)
    least = inf
    for i in range(height):
        for j in range(below - left):
            rho = _product(columns, top + i, left + j)
            nearness[i] = min(nearness[i], rho)
            nearness[height + j] = min(nearness[height + j], rho)
            least = min(least, rho)
    for _ in range(count - most):
        farthest = 0
        for number in range(count):
            if nearness[number] >= nearness[farthest]:
                farthest = number
        nearness[farthest] = -inf
    free = 0
    for number in range(most, count):
        if nearness[number] > -inf:
            while nearness[free] > -inf:
                free += 1
            for row in range(columns.shape[1]):
                columns[top + free, row] = columns[left + number - height, row]
            free += 1
    return least, min(count, most)


# Candidates in order


@compiled
def can_pass(differences: float, totals: float, limit: float, rule: PairRule) -> bool:
    """Whether F can be at most the tolerance at any correlation, where 1 − ρ is 0 up to a limit."""
    # F ≤ c is 2t(1+ρ) ≤ (1−ρ²)(1−R²) = 1 − r₁² − r₂² + (2r₁r₂ − ρ)ρ, with t = factor·(r₁−r₂)²/(4c).
    # The right side minus the left is largest at ρ = r₁r₂ − t.
    # Of columns that count as equal (r₁−r₂)² is at most 2(1−ρ).
    if rule.noise_known or differences <= 10 * max(limit, RESOLUTION):
        return True
    growth = rule.factor * differences
    product = (totals - differences) / 4
    rho = max(-1.0, rule.min_correlation - MARGIN)
    if rule.tolerance > 0:
        rho = max(rho, product - growth / (4 * rule.tolerance))
    left_over = 1 - (totals + differences) / 2 + (2 * product - rho) * rho
    return growth * (1 + rho) <= 2 * rule.tolerance * (left_over + MARGIN) + MARGIN * growth


@compiled
def join_in_order(
    columns: FloatArray,
    r_columns: FloatArray,
    rounding: FloatArray,
    total: FloatArray,
    r_sum: FloatArray,
    direction: FloatArray,
    square: float,
    summed_rounding: tuple[float, int],
    limits: tuple[float, float, float],
    rule: PairRule,
    joined: IndexArray,
    signs: FloatArray,
    figures: FloatArray,
) -> tuple[int, float, bool]:
    """Let standardised columns join a sum of such columns, to whose correlations they are added.

    Returns how many joined, the square of the norm of the sum, and whether the correlation of the
    mean with the targets, or its rounding, came to lie outside the limits, after which no column is
    tested. The rounding of the mean is the mean of those of the members, given as sum and number.
    ``joined``, ``signs`` and ``figures`` are filled with the places of the columns that joined,
    their signs, and ρ and the correlations of mean and column with the targets.
    """
    # As _Group.join does it, for equal weights and without gaps.
    low, high, most = limits
    rounding_sum, size = summed_rounding
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
        limit = (rounding_sum / size + rounding[place]) ** 2 / 2
        possible = can_pass(differences, totals, limit, rule)
        if not (possible or (rule.signed and can_pass(totals, differences, limit, rule))):
            continue
        column = columns[place]
        product = 0.0
        for row in range(total.size):
            product += column[row] * total[row]
        rho = max(-1.0, min(1.0, product / norm))
        copy = -1.0 if rule.signed and rho < 0 else 1.0
        if 1 - rho * copy <= limit:
            rho = copy
        f, sign = _better_sign(rho, differences, 0.0, totals, 0.0, rule)
        if f > rule.tolerance:
            continue
        joined[count], signs[count], figures[count, 0] = place, sign, sign * rho
        for target in range(k):
            figures[count, 1 + target] = r_sum[target] / norm
            figures[count, 1 + k + target] = sign * r_columns[target, place]
        count += 1
        square += 2 * sign * product + 1
        size += 1
        rounding_sum += rounding[place]
        for row in range(total.size):
            total[row] += sign * column[row]
        r_mean = 0.0
        for target in range(k):
            r_sum[target] += sign * r_columns[target, place]
            r_mean += direction[target] * r_sum[target]
        r_mean /= sqrt(max(square, RESOLUTION))
        if rule.signed:
            r_mean = abs(r_mean)
        if r_mean < low or r_mean > high or rounding_sum / size > most:
            moved = True
            break
    return count, square, moved
