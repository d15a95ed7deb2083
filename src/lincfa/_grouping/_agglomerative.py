"""Merging the two groups with the smallest F, again and again, from the correlations alone."""

from math import inf

import numpy as np
import numpy.typing as npt

from .._criterion import Criterion
from .._statistics import (
    LARGEST_SQUARE,
    RESOLUTION,
    IndexArray,
    Statistics,
    correlation_matrix,
    most_features,
)
from ..theory._arrays import FloatArray
from ._path import MergePath, merge_record

_STRIP_VALUES = 2**18
_COMPACT = 0.6
"""Share of living groups below which the matrices are copied without the others."""

_RECORDED = ("first", "second", "size", "correlation", "f", "height")

_TIE, _TINY = 1e-9, 1e-12
"""Relative and absolute difference below which two F count as equal: above their rounding."""


def path_agglomerative(statistics: Statistics, criterion: Criterion) -> MergePath:
    """Merge the two groups with the smallest F until one group is left.

    Each group stands for itself by the mean of its standardised features, standardised again.
    The path does not depend on the order of the features: where several pairs have the same F, the
    most correlated pair merges first, then the one with the fewest features, and only where these
    are equal too, the one that comes first.
    """
    groups = Groups.of(statistics, criterion)
    groups.merge_coinciding()
    groups.merge_down(1)
    return MergePath(statistics.varying, groups.record())


class Groups:
    """Groups that merge, with what their means have to do with each other and the target.

    Attributes
    ----------
    sums : array of shape (d, d)
        Sums of the correlations between the members of two groups: the products of the groups'
        sums of standardised features.
    r : array of shape (d,)
        Sums of the members' correlations with the target.
    names : array of shape (d,)
        First member of each group.
    sizes : array of shape (d,)
        Number of members of each group.
    """

    def __init__(
        self,
        sums: FloatArray,
        r: FloatArray,
        names: IndexArray,
        criterion: Criterion,
        most_correlated_up_to: float,
    ) -> None:
        self.sums, self.r, self.names = sums, r.copy(), names.copy()
        self._up_to = most_correlated_up_to
        self.sizes = np.ones(names.size, dtype=np.intp)
        self._criterion = criterion
        self._alive = np.ones(names.size, dtype=np.bool_)
        self._norms = _norms(np.diagonal(sums))
        self._merges: list[tuple[int, int, int, float, float, float, float, float]] = []
        self._height = 0.0
        self._order = np.empty((0, 0))

    @classmethod
    def of(
        cls, statistics: Statistics, criterion: Criterion, most_correlated_up_to: float = 0.0
    ) -> "Groups":
        """One group per feature that is not constant.

        Pairs merge in the order of F; but as long as some have an F up to
        ``most_correlated_up_to``, these come first, the most correlated of them before the others.
        """
        features = np.flatnonzero(statistics.varying)
        if 8 * features.size**2 > LARGEST_SQUARE:
            raise ValueError(
                f"The strategies 'agglomerative' and 'joint' keep matrices of all pairs of "
                f"features, for {features.size} features {8e-9 * features.size**2:.1f} GB each; "
                f"the limit is {most_features()} features. Use strategy='sequential' or "
                "'centroid', or reduce by one of these first."
            )
        sums = correlation_matrix(statistics, features)
        r = statistics.target_correlation[features]
        return cls(sums, r, features, criterion, most_correlated_up_to)

    def copy(self, most_correlated_up_to: float = 0.0) -> "Groups":
        """Copy the groups as they are now, to merge them on in an order of their own."""
        kept = Groups(self.sums.copy(), self.r, self.names, self._criterion, most_correlated_up_to)
        kept.sizes, kept._merges = self.sizes.copy(), list(self._merges)
        return kept

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self._alive.sum())

    def record(self) -> npt.NDArray[np.void]:
        """Give the merges made so far."""
        made = np.array(self._merges, dtype=np.float64).reshape(-1, 8).T
        record = merge_record(made.shape[1])
        record["pairwise"] = True
        for name, values in zip(_RECORDED, made, strict=False):
            record[name] = values
        drop, growth = self._criterion.plain_tradeoff(record["correlation"], *made[-2:])
        record["variance_drop_share"], record["bias_growth_share"] = drop, growth
        return record

    def merge_coinciding(self) -> None:
        """Merge features that differ by no more than rounding: the first of all ties."""
        step = max(1, _STRIP_VALUES // self.names.size)
        for top in range(0, self.names.size, step):
            rows = self.sums[top : top + step]
            # Columns behind a row are of single features yet, so these are their correlations.
            for i, j in np.argwhere(rows >= 1 - RESOLUTION):
                if top + i < j and self._alive[top + i] and self._alive[j]:
                    self._join(int(top + i), int(j))
        self.compact()

    def merge_down(self, n_groups: int) -> None:
        """Merge the first pair in order until so many groups are left, or none may merge."""
        if self.count <= n_groups:
            return
        self._compare_all()
        while self.count > n_groups:
            closest = self._closest()
            if closest is None:
                break
            first, second = closest
            self._join(first, second)
            self._compare(first, second)
            if self.count < _COMPACT * self._alive.size:
                self.compact()

    def _join(self, first: int, second: int) -> None:
        """Put the second group into the first."""
        norms = self._norms[[first, second]]
        rho = float(np.clip(self.sums[first, second] / norms.prod(), -1, 1))
        r_first, r_second = (self.r[[first, second]] / norms).tolist()
        f = self._criterion.plain_f_of_pair(rho, r_first, r_second)
        sums = self.sums[first]
        sums += self.sums[second]
        sums[first] += sums[second]
        self.sums[:, first] = sums
        self.r[first] += self.r[second]
        self.sizes[first] += self.sizes[second]
        self._norms[first] = _norms(sums[first])
        self._alive[second] = False
        self._height = max(self._height, f)
        names = int(self.names[first]), int(self.names[second])
        size = int(self.sizes[first])
        self._merges.append((*names, size, rho, f, self._height, r_first, r_second))

    def _order_rows(self, rows: slice) -> FloatArray:
        """Give F of some groups with all, or what stands for it in the order of merging."""
        # By the product of the norms, which is the same from both sides, as ties need it.
        rho = self.sums[rows] / (self._norms[rows, None] * self._norms)
        np.clip(rho, -1, 1, out=rho)
        r = self.r / self._norms
        f = self._criterion.plain_f(rho, r[rows, None], r)
        if self._up_to > 0:
            f = np.where(f <= self._up_to, self._up_to * (1 - rho) / 2, f)
        return f

    def _compare_all(self) -> None:
        self.compact()
        size = self.names.size
        self._order = np.empty((size, size))
        self._nearest = np.empty(size, dtype=np.intp)
        self._smallest = np.empty(size)
        step = max(1, _STRIP_VALUES // size)
        for top in range(0, size, step):
            rows = np.arange(top, min(top + step, size))
            self._order[rows] = self._order_rows(slice(top, top + step))
            self._order[rows, rows] = inf
            self._scan(rows)

    def _compare(self, merged: int, gone: int) -> None:
        """Compare a merged group with the others, and keep every group's nearest.

        A group whose nearest has changed is searched only when its turn comes: the F of its former
        nearest is a lower bound until then.
        """
        order = self._order_rows(slice(merged, merged + 1))[0]
        order[~self._alive] = inf
        order[merged] = inf
        self._order[merged] = order
        self._order[:, merged] = order
        self._order[:, gone] = inf
        self._smallest[gone] = inf
        self._nearest[(self._nearest == merged) | (self._nearest == gone)] = -1
        closer = np.flatnonzero(order < self._smallest)
        self._nearest[closer] = merged
        self._smallest[closer] = order[closer]
        self._scan(np.array([merged]))

    def _scan(self, rows: IndexArray) -> None:
        self._nearest[rows] = nearest = self._order[rows].argmin(axis=1)
        self._smallest[rows] = self._order[rows, nearest]

    def _closest(self) -> tuple[int, int] | None:
        """Find the pair with the smallest F, or None where no pair may merge."""
        while True:
            bound = self._smallest.min()
            if bound == inf:
                return None
            bound += _TIE * bound + _TINY
            tied = np.flatnonzero(self._smallest <= bound)
            unknown = tied[self._nearest[tied] < 0]
            if not unknown.size:
                break
            self._scan(unknown)
        if tied.size == 2:
            return int(tied[0]), int(tied[1])
        return self._break_tie(tied, bound)

    def _break_tie(self, tied: IndexArray, bound: float) -> tuple[int, int]:
        first, second = np.nonzero(self._order[np.ix_(tied, tied)] <= bound)
        first, second = tied[first], tied[second]
        ordered = first < second
        first, second = first[ordered], second[ordered]
        rho = self.sums[first, second] / (self._norms[first] * self._norms[second])
        sizes = self.sizes[first] + self.sizes[second]
        best = np.lexsort((second, first, sizes, -np.round(rho, 9)))[0]
        return int(first[best]), int(second[best])

    def compact(self) -> None:
        """Forget the groups that have been merged into others."""
        alive = np.flatnonzero(self._alive)
        if alive.size == self._alive.size:
            return
        place = np.full(self._alive.size + 1, -1)  # the last for those whose nearest is unknown
        place[alive] = np.arange(alive.size)
        self.sums = self.sums[np.ix_(alive, alive)]
        for name in ("r", "names", "sizes", "_norms", "_alive"):
            setattr(self, name, getattr(self, name)[alive])
        if self._order.size:
            self._order = self._order[np.ix_(alive, alive)]
            self._smallest = self._smallest[alive]
            self._nearest = place[self._nearest[alive]]


def _norms(squares: FloatArray) -> FloatArray:
    """Norms of the groups' sums. That of mirror images has no variance: any scale does for it."""
    return np.asarray(np.sqrt(np.maximum(squares, RESOLUTION)))
