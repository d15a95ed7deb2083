"""Merging the two groups with the smallest F, again and again, from correlations alone."""

from abc import ABC, abstractmethod
from copy import deepcopy
from dataclasses import dataclass
from heapq import heappop, heappush
from math import copysign, inf, sqrt
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._rule import (
    Imbalance,
    Rule,
    imbalance_of,
    pair_contrasts,
    pairs_from_correlations,
    put_targets,
    take_as_equal,
)
from .._statistics import (
    LARGEST_SQUARE,
    RESOLUTION,
    Correlations,
    IndexArray,
    Statistics,
    coarsest_equality,
    most_features,
)
from .._statistics._speed import worth_compiling
from .._statistics._tiles import row_slices
from ..theory._arrays import FloatArray
from ._constraint import Constraint
from ._partition import MergePath, merge_record

_TIE, _TINY = 1e-9, 1e-12
"""Relative and absolute difference below which two F count as equal: above their rounding."""

_STRIP_VALUES = 2**14
_COMPACT = 0.6
"""Share of groups left below which the matrices are copied without the others."""

_COINCIDING = -1.0
"""Stands for F where features differ by no more than rounding: before all others."""

_UNKNOWN = -1

_GATHERED_VALUES = 2**18
"""Values of columns gathered at once, so that they stay in the cache: a third of the time."""


def path_agglomerative(statistics: Statistics, rule: Rule, constraint: Constraint) -> MergePath:
    """Merge the two groups with the smallest F until one group is left, or none may merge."""
    # Each group is represented by the mean of its standardised features, standardised again; with
    # signs, each merge takes the sign of the second group with the smaller F. The path does not
    # depend on the order of the features: where several pairs have the same F, the most correlated
    # pair merges first, then the one with the fewest features, and only where these are equal too,
    # the one that comes first.
    groups = single_features(statistics, rule, constraint)
    groups.merge_coinciding()
    groups.merge_down(1)
    return MergePath(statistics.varying, groups.record(), rule.weights)


@dataclass(frozen=True)
class CurrentGroups:
    """Groups at some point of the merging."""

    sums: FloatArray  # of the correlations between the members of two groups
    r: FloatArray  # sums of the members' correlations with each target, by the first axis
    names: IndexArray  # first member of each group
    sizes: IndexArray
    weights: FloatArray  # sums of the members' weights
    allowed: npt.NDArray[np.bool_] | None  # which groups may merge; None where all may


@dataclass
class GapSums:
    """What pairs of groups have of their own where values are missing, summed over their members.

    With factors wᵢsᵢ, weights with signs: sums of the correlations of the members of a group with
    each target, on the samples shared with each member of the other (factors of the group times
    weights of the other), and of the numbers of these samples (weights of both).
    """

    r: FloatArray
    n_samples: FloatArray

    def add(self, first: int, second: int) -> None:
        """Add the second group to the first."""
        for values in (*self.r, self.n_samples):
            values[first] += values[second]
            values[:, first] += values[:, second]

    def flip(self, group: int) -> None:
        self.r[:, group] *= -1

    def take(self, groups: IndexArray) -> "GapSums":
        rows, columns = np.ix_(groups, groups)
        return GapSums(self.r[:, rows, columns], self.n_samples[rows, columns])


class Merging(ABC):
    """Groups of which the best pair merges, again and again, and the record of the merges."""

    def __init__(
        self, rule: Rule, r: FloatArray, names: IndexArray, gaps: GapSums | None = None
    ) -> None:
        # ``r`` are sums of the correlations with the targets, of single features to begin with.
        self._rule, self._r, self._names, self._gaps = rule, r, names, gaps
        self._sizes = np.ones(names.size, dtype=np.intp)
        self._alive = np.ones(names.size, dtype=np.bool_)
        self._weights = rule.factors(names)
        self._norms = self._weights.copy()
        # Pairs merge in the order of F; but as long as some have an F up to this, these come first,
        # the most correlated of them before the others.
        self._most_correlated_up_to = 0.0
        # First members, sign, size and figures of each merge.
        self._merges: list[tuple[float, ...]] = []
        self.count = names.size

    def copy(self, most_correlated_up_to: float) -> Self:
        """Copy the groups as they are now, to continue in another order of merging."""
        other = deepcopy(self)
        other._most_correlated_up_to = most_correlated_up_to
        return other

    @abstractmethod
    def current(self) -> CurrentGroups:
        """Return the groups as they are now."""

    @abstractmethod
    def merge_coinciding(self) -> None:
        """Merge features that differ by no more than rounding: the first of all ties."""

    @abstractmethod
    def merge_down(self, n_groups: int) -> None:
        """Merge the first pair in order until so many groups are left, or none may merge."""

    @abstractmethod
    def _product(self, first: int, second: int) -> float:
        """Product of the sums of two groups."""

    @abstractmethod
    def _flip_sums(self, group: int) -> None:
        """Flip the sign of the sum of a group."""

    @abstractmethod
    def _add_sums(self, first: int, second: int) -> float:
        """Add the sum of a group to another; return the square afterwards."""

    def record(self) -> npt.NDArray[np.void]:
        """Return the merges made so far."""
        made = np.array(self._merges, dtype=np.float64).reshape(-1, 7 + 2 * len(self._r)).T
        record = merge_record(made.shape[1], len(self._r))
        names = ("first", "second", "sign", "size", "correlation")
        for name, values in zip(names, made, strict=False):
            record[name] = values
        decision = self._rule.decide(
            pairs_from_correlations(Correlations.of_figures(made[4:-1])),
            made[-1] if self._rule.weights is not None else 0.0,
            sign=made[2],
        )
        record["f"] = decision.f
        record["height"] = np.maximum.accumulate(record["f"])
        record["pairwise"] = True
        put_targets(record, "variance_drop_share", decision.variance_drop)
        put_targets(record, "bias_growth_share", decision.bias_growth)
        return record

    def _known(
        self, first: IndexArray, second: IndexArray, products: FloatArray
    ) -> tuple[Correlations, Imbalance]:
        """Correlations and imbalance of the means of pairs of groups, given by two indices."""
        # By the product of the norms, which is the same from both sides, as ties need it.
        norms = self._norms[first], self._norms[second]
        rho = products / (norms[0] * norms[1])
        np.clip(rho, -1, 1, out=rho)
        weights, gaps = (self._weights[first], self._weights[second]), self._gaps
        imbalance: Imbalance = 0.0
        if self._rule.weights is not None:
            imbalance = imbalance_of(
                weights[0] / self._sizes[first], weights[1] / self._sizes[second]
            )
        if gaps is None:
            r_first, r_second = self._r[:, first] / norms[0], self._r[:, second] / norms[1]
            return Correlations(rho, r_first, r_second, self._rule.n_samples), imbalance
        r_first = gaps.r[:, first, second] / (weights[1] * norms[0])
        r_second = gaps.r[:, second, first] / (weights[0] * norms[1])
        n = gaps.n_samples[first, second] / (weights[0] * weights[1])
        return Correlations(rho, r_first, r_second, n), imbalance

    def _order(self, known: Correlations, imbalance: Imbalance) -> FloatArray:
        """Return F of pairs of means, or what replaces it in the order of merging."""
        f, rho = self._rule.f_of_means(known, imbalance)
        limit = self._most_correlated_up_to
        return np.where(f <= limit, limit * (1 - rho) / 2, f) if limit > 0 else f

    def _join(self, first: int, second: int) -> None:
        """Merge the second group into the first, flipped where that is its sign."""
        figures, imbalance = self._figures(first, second)
        behind = len(figures) // 2
        products = pair_contrasts(figures[1:behind], figures[behind:-1])
        _, sign = self._rule.better_sign(figures[0], products, figures[-1], imbalance)
        if sign < 0:
            figures[0] *= -1
            figures[behind:-1] = [-r for r in figures[behind:-1]]
            self._r[:, second] *= -1
            self._flip_sums(second)
            if self._gaps is not None:
                self._gaps.flip(second)
        square = self._add_sums(first, second)
        if self._gaps is not None:
            self._gaps.add(first, second)
        for values in (*self._r, self._sizes, self._weights):
            values[first] += values[second]
        # The sum of mirror images has no variance: any scale does for it.
        mean_weight = self._weights.item(first) / self._sizes.item(first)
        self._norms[first] = sqrt(max(square, RESOLUTION * mean_weight**2))
        self._alive[second] = False
        self.count -= 1
        names = int(self._names[first]), int(self._names[second])
        self._merges.append((*names, sign, int(self._sizes[first]), *figures, imbalance))

    def _figures(self, first: int, second: int) -> tuple[list[float], float]:
        """Figures and imbalance of one pair of groups."""
        product = self._product(first, second)
        if self._gaps is None and self._rule.weights is None:  # as below, without arrays
            norms = self._norms.item(first), self._norms.item(second)
            rho = min(max(product / (norms[0] * norms[1]), -1.0), 1.0)
            r_first = [r / norms[0] for r in self._r[:, first].tolist()]
            r_second = [r / norms[1] for r in self._r[:, second].tolist()]
            return [rho, *r_first, *r_second, self._rule.n_samples], 0.0
        pair = np.array([first]), np.array([second])
        known, imbalance = self._known(*pair, np.array([product]))
        return known.figures()[:, 0].tolist(), float(np.ravel(imbalance)[0])

    def _first_of_ties(self, first: IndexArray, second: IndexArray, products: FloatArray) -> int:
        """Choose the most correlated pair, then that with the fewest features, then the first."""
        _, rho = self._rule.f_of_means(*self._known(first, second, products))
        sizes = self._sizes[first] + self._sizes[second]
        return int(np.lexsort((second, first, sizes, -np.round(rho, 9)))[0])


def single_features(statistics: Statistics, rule: Rule, constraint: Constraint) -> Merging:
    """One group per feature that is not constant."""
    features = np.flatnonzero(statistics.varying)
    weights = rule.factors(features)
    r = weights * statistics.target_correlation[:, features]
    if constraint.graph is not None:
        graph = constraint.graph[features][:, features]
        sums, gaps = _sums_of_groups(statistics, features, rule)
        rounding = statistics.rounding[features]
        return _NeighbourPairs(rule, r, features, sums, graph, gaps, rounding)
    blocks = None if constraint.blocks is None else constraint.blocks[features]
    matrix, gaps = _correlation_sums(statistics, features, rule)
    return _AllPairs(rule, r, features, matrix, blocks, gaps)


def _correlation_sums(
    statistics: Statistics, features: IndexArray, rule: Rule
) -> tuple[FloatArray, GapSums | None]:
    """Products of weighted features, and what pairs have of their own where values are missing."""
    if 8 * features.size**2 > LARGEST_SQUARE:
        raise ValueError(
            f"The strategies 'agglomerative' and 'joint' keep matrices of all pairs of features, "
            f"for {features.size} features {8e-9 * features.size**2:.1f} GB each; the limit is "
            f"{most_features()} features. Use strategy='sequential' or 'centroid', or reduce by "
            "one of these first."
        )
    rounding, weights = statistics.rounding[features], rule.factors(features)
    if statistics.complete:
        matrix = statistics.matrix(features)
        _take_all_as_equal(matrix, rounding, signed=rule.signed)
        if (weights != 1).any():
            matrix *= weights * weights[:, None]
        return matrix, None
    known = statistics.within(features)
    products = weights * weights[:, None]
    # Exactly the same from both sides, as ties need it.
    rho = np.triu(known.rho, 1)
    rho += rho.T + np.eye(features.size)
    _take_all_as_equal(rho, rounding, signed=rule.signed)
    n_samples = np.maximum(known.n_samples, np.transpose(known.n_samples))
    return rho * products, GapSums(known.r_first * products, n_samples * products)


def _take_all_as_equal(rho: FloatArray, rounding: FloatArray, *, signed: bool) -> None:
    if coarsest_equality(rounding) > RESOLUTION:  # otherwise correlations themselves show it
        for rows in row_slices(len(rho), len(rho), _STRIP_VALUES):
            take_as_equal(rho[rows], np.ones(1), rounding[rows, None], rounding, signed=signed)


def _tie(f: float) -> float:
    """Return the largest F that counts as equal to the smallest."""
    return f + _TIE * f + _TINY


class _AllPairs(Merging):
    """Groups of which any two may merge, unless they are of different blocks."""

    def __init__(
        self,
        rule: Rule,
        r: FloatArray,
        names: IndexArray,
        sums: FloatArray,
        blocks: IndexArray | None,
        gaps: GapSums | None,
    ) -> None:
        super().__init__(rule, r, names, gaps)
        # Sums of the correlations between the members of any two groups: the products of the
        # groups' sums of standardised features.
        self._sums, self._blocks = sums, blocks
        self._matrix = np.empty((0, 0))

    def current(self) -> CurrentGroups:
        self._compact()
        allowed = None if self._blocks is None else self._blocks[:, None] == self._blocks
        return CurrentGroups(
            self._sums.copy(),
            self._r.copy(),
            self._names.copy(),
            self._sizes.copy(),
            self._weights.copy(),
            allowed,
        )

    def merge_coinciding(self) -> None:
        step = max(1, _STRIP_VALUES // self._names.size)
        for top in range(0, self._names.size, step):
            # Columns behind a row are still of single features, so these are their correlations.
            rho = self._sums[top : top + step] / self._weights
            rho /= self._weights[top : top + step, None]
            if self._rule.signed:
                np.abs(rho, out=rho)
            for row, j in np.argwhere(rho >= 1 - RESOLUTION):
                i = top + row
                together = self._blocks is None or self._blocks[i] == self._blocks[j]
                if i < j and self._alive[i] and self._alive[j] and together:
                    self._join_if_equal(int(i), int(j))
        self._compact()

    def _join_if_equal(self, first: int, second: int) -> None:
        """Merge a feature into a group with whose first feature it coincides."""
        # On the samples that they share: there, other members of the group may differ from it.
        if self._gaps is not None:
            rho = self._figures(first, second)[0][0]
            if (abs(rho) if self._rule.signed else rho) < 1 - RESOLUTION:
                return
        self._join(first, second)

    def merge_down(self, n_groups: int) -> None:
        if self.count <= n_groups:
            return
        self._compare_all()
        while self.count > n_groups:
            closest = self._closest()
            if closest is None:
                break
            self._join(*closest)
            self._compare(*closest)
            if self.count < _COMPACT * self._alive.size:
                self._compact()

    def _product(self, first: int, second: int) -> float:
        return float(self._sums[first, second])

    def _flip_sums(self, group: int) -> None:
        self._sums[group] *= -1
        self._sums[:, group] *= -1

    def _add_sums(self, first: int, second: int) -> float:
        sums = self._sums[first]
        sums += self._sums[second]
        sums[first] += sums[second]
        self._sums[:, first] = sums
        return float(sums[first])

    def _order_rows(self, rows: slice) -> FloatArray:
        """Order of the pairs of some groups with all."""
        every = np.arange(self._names.size)
        order = self._order(*self._known(every[rows, None], every[None], self._sums[rows]))
        if self._blocks is not None:
            order[self._blocks[rows, None] != self._blocks] = inf
        return order

    def _compare_all(self) -> None:
        self._compact()
        size = self._names.size
        self._matrix = np.empty((size, size))
        self._nearest = np.empty(size, dtype=np.intp)
        self._smallest = np.empty(size)
        step = max(1, _STRIP_VALUES // size)
        for top in range(0, size, step):
            rows = np.arange(top, min(top + step, size))
            self._matrix[rows] = self._order_rows(slice(top, top + step))
            self._matrix[rows, rows] = inf
            self._search(rows)

    def _compare(self, merged: int, gone: int) -> None:
        """Compare a merged group with the others, and update the nearest group of each."""
        # A group whose nearest has changed is searched only when its turn comes: the F of its
        # former nearest is a lower bound until then.
        order = self._order_rows(slice(merged, merged + 1))[0]
        order[~self._alive] = inf
        order[merged] = inf
        self._matrix[merged] = order
        self._matrix[:, merged] = order
        self._matrix[:, gone] = inf
        self._smallest[gone] = inf
        self._nearest[(self._nearest == merged) | (self._nearest == gone)] = _UNKNOWN
        closer = np.flatnonzero(order < self._smallest)
        self._nearest[closer] = merged
        self._smallest[closer] = order[closer]
        self._search(np.array([merged]))

    def _search(self, rows: IndexArray) -> None:
        """Search the nearest of some groups."""
        self._nearest[rows] = nearest = self._matrix[rows].argmin(axis=1)
        self._smallest[rows] = self._matrix[rows, nearest]

    def _closest(self) -> tuple[int, int] | None:
        """Return the pair with the smallest F, or None where no pair may merge."""
        while True:
            smallest = self._smallest.min()
            if smallest == inf:
                return None
            bound = _tie(smallest)
            tied = np.flatnonzero(self._smallest <= bound)
            unknown = tied[self._nearest[tied] == _UNKNOWN]
            if not unknown.size:
                break
            self._search(unknown)
        if tied.size == 2:
            return int(tied[0]), int(tied[1])
        first, second = np.nonzero(np.triu(self._matrix[np.ix_(tied, tied)] <= bound, 1))
        first, second = tied[first], tied[second]
        best = self._first_of_ties(first, second, self._sums[first, second])
        return int(first[best]), int(second[best])

    def _compact(self) -> None:
        """Drop the groups that have been merged into others."""
        alive = np.flatnonzero(self._alive)
        if alive.size == self._alive.size:
            return
        place = np.full(self._alive.size + 1, _UNKNOWN)  # the last for an unknown nearest
        place[alive] = np.arange(alive.size)
        self._sums = self._sums[np.ix_(alive, alive)]
        self._r = self._r[:, alive]
        self._names, self._sizes = self._names[alive], self._sizes[alive]
        self._norms, self._alive = self._norms[alive], self._alive[alive]
        self._weights = self._weights[alive]
        if self._gaps is not None:
            self._gaps = self._gaps.take(alive)
        if self._blocks is not None:
            self._blocks = self._blocks[alive]
        if self._matrix.size:
            self._matrix = self._matrix[np.ix_(alive, alive)]
            self._smallest = self._smallest[alive]
            self._nearest = place[self._nearest[alive]]


# Neighbours only: as many comparisons as there are edges


class _ColumnSums:
    """Sums of the standardised columns of groups, one a row."""

    def __init__(self, columns: FloatArray) -> None:
        self.columns = np.ascontiguousarray(columns)

    def add(self, first: int, second: int) -> None:
        """Add the sum of the second group to that of the first."""
        self.columns[first] += self.columns[second]

    def flip(self, group: int) -> None:
        """Flip the sign of the sum of a group."""
        self.columns[group] *= -1

    def product(self, first: int, second: int) -> float:
        """Product of the sums of two groups."""
        return float(self.columns[first] @ self.columns[second])

    def products(self, group: int, others: list[int]) -> FloatArray:
        """Products of the sum of a group with those of others."""
        return np.asarray(self.columns[others] @ self.columns[group])

    def of_pairs(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Products of the sums of pairs of groups."""
        result = np.empty(first.size)
        step = max(1, _GATHERED_VALUES // self.columns.shape[1])
        for start in range(0, first.size, step):
            part = slice(start, start + step)
            one, other = self.columns[first[part]], self.columns[second[part]]
            result[part] = np.einsum("ij,ij->i", one, other)
        return result

    def square(self, groups: IndexArray) -> FloatArray:
        """Products of the sums of all pairs of some groups."""
        columns = self.columns[groups]
        return np.asarray(columns @ columns.T)


class _CorrelationSums:
    """The products of these sums: sums of the correlations between the members of two groups."""

    def __init__(self, sums: FloatArray) -> None:
        self._sums = sums

    def add(self, first: int, second: int) -> None:
        self._sums[first] += self._sums[second]
        self._sums[:, first] += self._sums[:, second]

    def flip(self, group: int) -> None:
        self._sums[group] *= -1
        self._sums[:, group] *= -1

    def product(self, first: int, second: int) -> float:
        return self._sums.item(first, second)

    def products(self, group: int, others: list[int]) -> FloatArray:
        return np.asarray(self._sums[group, others])

    def of_pairs(self, first: IndexArray, second: IndexArray) -> FloatArray:
        return np.asarray(self._sums[first, second])

    def square(self, groups: IndexArray) -> FloatArray:
        return np.asarray(self._sums[np.ix_(groups, groups)])


_Sums: TypeAlias = _ColumnSums | _CorrelationSums


def _sums_of_groups(
    statistics: Statistics, features: IndexArray, rule: Rule
) -> tuple[_Sums, GapSums | None]:
    """Take each feature as a group: by their columns, or by all correlations if these are fewer."""
    size, rows = features.size, statistics.n_rows
    if not statistics.costs.columns or rows >= size or not statistics.complete:
        matrix, gaps = _correlation_sums(statistics, features, rule)
        return _CorrelationSums(matrix), gaps
    if 8 * rows * size > LARGEST_SQUARE:
        raise ValueError(
            "With a connectivity, the strategies 'agglomerative' and 'joint' keep a copy of the "
            f"columns: {8e-9 * rows * size:.1f} GB for {rows} samples and {size} features, of at "
            f"most {1e-9 * LARGEST_SQUARE:.1f} GB. Use strategy='sequential' or 'centroid', or "
            "reduce by one of these first."
        )
    columns, weights = statistics.columns(features), rule.factors(features)
    if (weights != 1).any():
        columns *= weights[:, None]
    return _ColumnSums(columns), None


class _NeighbourPairs(Merging):
    """Groups of which two may merge if a member of one is a neighbour of a member of the other."""

    def __init__(
        self,
        rule: Rule,
        r: FloatArray,
        names: IndexArray,
        sums: _Sums,
        graph: sparse.csr_array,
        gaps: GapSums | None,
        rounding: FloatArray,
    ) -> None:
        super().__init__(rule, r, names, gaps)
        self._sums = sums
        ends = [end.astype(np.intp) for end in sparse.triu(graph, 1).tocoo().coords]
        self._keep_edges(*ends)
        unit, products = np.prod([self._weights[end] for end in ends], axis=0), self._edges[2]
        roundings = (rounding[end] for end in ends)
        take_as_equal(products, unit, *roundings, signed=rule.signed)

    def _keep_edges(self, first: IndexArray, second: IndexArray) -> None:
        """Keep which groups are neighbours, and the products of their sums."""
        self._edges = first, second, self._sums.of_pairs(first, second)

    def current(self) -> CurrentGroups:
        alive = np.flatnonzero(self._alive)
        place = np.cumsum(self._alive) - 1
        first, second, _ = self._edges
        allowed = np.zeros((alive.size, alive.size), dtype=np.bool_)
        allowed[place[first], place[second]] = allowed[place[second], place[first]] = True
        return CurrentGroups(
            self._sums.square(alive),
            self._r[:, alive],
            self._names[alive],
            self._sizes[alive],
            self._weights[alive],
            allowed,
        )

    def merge_coinciding(self) -> None:
        self._merge(1, below=0.0)

    def merge_down(self, n_groups: int) -> None:
        self._merge(n_groups, below=inf)

    def _merge(self, n_groups: int, below: float) -> None:
        if isinstance(self._sums, _ColumnSums) and worth_compiling(self._sums.columns.size):
            self._merge_compiled(self._sums.columns, n_groups, below)
            return
        before = self.count
        self._compare_all()
        while self.count > n_groups:
            closest = self._closest(below)
            if closest is None:
                break
            self._join(*closest)
            self._compare(*closest)
        if self.count < before:
            ends = [(one, other) for one, near in enumerate(self._near) for other in near]
            first, second = np.array(ends, dtype=np.intp).reshape(-1, 2).T
            self._keep_edges(first[first < second], second[first < second])

    def _merge_compiled(self, columns: FloatArray, n_groups: int, below: float) -> None:
        from ._loops import Edges, Groups, Order, PairRule, merge_neighbours

        rule, (*ends, products) = self._rule, self._edges
        order = Order(self._most_correlated_up_to, _COINCIDING, _TIE, _TINY)
        self._r = np.ascontiguousarray(self._r)  # one order of memory, compiled once
        groups = Groups(columns, self._r, self._sizes, self._weights, self._norms)
        edges = Edges.of(ends, products, self._names.size)
        made = np.empty((max(self.count - n_groups, 0), 6 + 2 * len(self._r)))
        made = made[: merge_neighbours(edges, groups, PairRule.of(rule), order, below, made)]
        self._edges = edges.left()
        merged = made[:, :2].astype(np.intp)
        self._alive[merged[:, 1]] = False
        self.count -= len(made)
        made[:, :2] = self._names[merged]
        self._merges += map(tuple, np.insert(made, -1, rule.n_samples, axis=1).tolist())

    def _product(self, first: int, second: int) -> float:
        product = self._sums.product(first, second)
        if self._near[first].get(second) == _COINCIDING:  # up to the rounding of the data
            return copysign(self._norms.item(first) * self._norms.item(second), product)
        return product

    def _flip_sums(self, group: int) -> None:
        self._sums.flip(group)

    def _add_sums(self, first: int, second: int) -> float:
        """Add the sum of a group to another, which inherits its neighbours."""
        self._sums.add(first, second)
        for other in self._near[second]:
            del self._near[other][second]
            if other != first:
                self._near[first][other] = inf
        self._near[second] = {}
        return self._product(first, first)

    def _compare_all(self) -> None:
        # Each group knows the order of its pairs, by the other group, and waits in a heap by the
        # first of them. What is in the heap may be out of date; a group whose nearest neighbour has
        # merged is searched only when its turn comes, as the order of the former nearest is a lower
        # bound until then.
        size = self._names.size
        self._near: list[dict[int, float]] = [{} for _ in range(size)]
        self._first, self._nearest = [inf] * size, [_UNKNOWN] * size
        self._heap: list[tuple[float, int]] = []
        order = self._order_of(*self._edges)
        ends = (values.tolist() for values in self._edges[:2])
        for a, b, value in zip(*ends, order.tolist(), strict=True):
            self._near[a][b] = self._near[b][a] = value
        for group in np.flatnonzero(self._alive).tolist():
            self._search(group)

    def _order_of(self, first: IndexArray, second: IndexArray, products: FloatArray) -> FloatArray:
        """Order of pairs of groups, given the products of their sums."""
        known, imbalance = self._known(first, second, products)
        order = self._order(known, imbalance)
        rho = np.abs(known.rho) if self._rule.signed else known.rho
        coincide = rho >= 1 - RESOLUTION
        if not self._rule.complete:
            coincide &= ~np.isneginf(known.n_samples)
        order[coincide] = _COINCIDING
        return order

    def _search(self, group: int) -> None:
        """Search the nearest neighbour of a group, and put the group into the heap by it."""
        near = self._near[group]
        nearest = min(near, key=near.__getitem__, default=_UNKNOWN)
        self._nearest[group] = nearest
        self._first[group] = inf if nearest == _UNKNOWN else near[nearest]
        if self._first[group] < inf:
            heappush(self._heap, (self._first[group], group))

    def _closest(self, below: float) -> tuple[int, int] | None:
        """Return the pair with the smallest F, or None where no pair may merge."""
        heap, bound = self._heap, below
        tied: dict[int, float] = {}
        while heap and heap[0][0] <= bound and heap[0][0] < below:
            order, group = heappop(heap)
            if not self._alive[group] or self._first[group] != order:
                continue
            if self._nearest[group] == _UNKNOWN:
                self._search(group)
                continue
            tied[group] = order
            if order == _COINCIDING:
                bound = order
                break
            bound = min(bound, _tie(order))
        for one, first in tied.items():
            heappush(heap, (first, one))
        if not tied:
            return None
        group = next(iter(tied))
        other = self._nearest[group]
        if len(tied) == 2 and other in tied:
            return min(group, other), max(group, other)
        return self._break_tie(sorted(tied), bound)

    def _break_tie(self, groups: list[int], bound: float) -> tuple[int, int]:
        pairs = [
            (group, other)
            for group in groups
            for other, order in self._near[group].items()
            if group < other and order <= bound
        ]
        first, second = np.array(pairs).T
        return pairs[self._first_of_ties(first, second, self._sums.of_pairs(first, second))]

    def _compare(self, merged: int, gone: int) -> None:
        """Compare a merged group with its neighbours, and update the nearest of each."""
        others = list(self._near[merged])
        second = np.array(others, dtype=np.intp)
        products = self._sums.products(merged, others)
        order = self._order_of(np.full(second.size, merged), second, products).tolist()
        for other, value in zip(others, order, strict=True):
            self._near[merged][other] = self._near[other][merged] = value
            if value < self._first[other]:
                self._first[other], self._nearest[other] = value, merged
                heappush(self._heap, (value, other))
            elif self._nearest[other] in (merged, gone):
                self._nearest[other] = _UNKNOWN
        self._search(merged)
