"""Merging the two groups with the smallest F, again and again, from the correlations alone."""

from math import inf

import numpy as np

from .._rule._criterion import Criterion
from .._statistics import (
    LARGEST_SQUARE,
    RESOLUTION,
    IndexArray,
    Statistics,
    correlation_matrix,
    most_features,
)
from ..theory._arrays import FloatArray
from ._merging import Merger, Standing, first_of_ties, norms_of, tie

_STRIP_VALUES = 2**18
_COMPACT = 0.6
"""Share of living groups below which the matrices are copied without the others."""


class AllPairs(Merger):
    """Groups of which any two may merge, unless they are of different blocks.

    Keeps sums of the correlations between the members of any two groups: the products of the
    groups' sums of standardised features.
    """

    def __init__(
        self,
        sums: FloatArray,
        r: FloatArray,
        names: IndexArray,
        blocks: IndexArray | None,
        criterion: Criterion,
        most_correlated_up_to: float = 0.0,
    ) -> None:
        super().__init__(criterion, most_correlated_up_to)
        self._sums, self._r, self._names = sums, r.copy(), names.copy()
        self._blocks = np.zeros(names.size, dtype=np.intp) if blocks is None else blocks
        self._of_blocks = blocks is not None
        self._sizes = np.ones(names.size, dtype=np.intp)
        self._alive = np.ones(names.size, dtype=np.bool_)
        self._norms = norms_of(np.diagonal(sums))
        self._matrix = np.empty((0, 0))

    @classmethod
    def of(
        cls, statistics: Statistics, criterion: Criterion, blocks: IndexArray | None
    ) -> "AllPairs":
        """One group per feature that is not constant."""
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
        own = None if blocks is None else blocks[features]
        return cls(sums, r, features, own, criterion)

    def copy(self, most_correlated_up_to: float) -> "AllPairs":
        """Copy the groups as they are now, to merge them on in an order of their own."""
        blocks = self._blocks.copy() if self._of_blocks else None
        kept = AllPairs(
            self._sums.copy(), self._r, self._names, blocks, self._criterion, most_correlated_up_to
        )
        kept._sizes, kept._merges = self._sizes.copy(), list(self._merges)
        return kept

    def standing(self) -> Standing:
        """Give the groups as they are now."""
        self._compact()
        allowed = self._blocks[:, None] == self._blocks if self._of_blocks else None
        return Standing(
            self._sums.copy(), self._r.copy(), self._names.copy(), self._sizes.copy(), allowed
        )

    @property
    def count(self) -> int:
        """Number of groups."""
        return int(self._alive.sum())

    def merge_coinciding(self) -> None:
        """Merge features that differ by no more than rounding: the first of all ties."""
        step = max(1, _STRIP_VALUES // self._names.size)
        for top in range(0, self._names.size, step):
            rows = self._sums[top : top + step]
            # Columns behind a row are of single features yet, so these are their correlations.
            for i, j in np.argwhere(rows >= 1 - RESOLUTION):
                free = self._alive[top + i] and self._alive[j]
                if top + i < j and free and self._blocks[top + i] == self._blocks[j]:
                    self._join(int(top + i), int(j))
        self._compact()

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
                self._compact()

    def _join(self, first: int, second: int) -> None:
        """Put the second group into the first."""
        norms = self._norms[[first, second]]
        rho = float(np.clip(self._sums[first, second] / norms.prod(), -1, 1))
        r_first, r_second = (self._r[[first, second]] / norms).tolist()
        sums = self._sums[first]
        sums += self._sums[second]
        sums[first] += sums[second]
        self._sums[:, first] = sums
        self._r[first] += self._r[second]
        self._sizes[first] += self._sizes[second]
        self._norms[first] = norms_of(sums[first])
        self._alive[second] = False
        names = int(self._names[first]), int(self._names[second])
        self._note(names, int(self._sizes[first]), rho, r_first, r_second)

    def _order_rows(self, rows: slice) -> FloatArray:
        """Give F of some groups with all, or what stands for it in the order of merging."""
        # By the product of the norms, which is the same from both sides, as ties need it.
        rho = self._sums[rows] / (self._norms[rows, None] * self._norms)
        np.clip(rho, -1, 1, out=rho)
        r = self._r / self._norms
        order = self._order(rho, r[rows, None], r)
        if self._of_blocks:
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
            self._scan(rows)

    def _compare(self, merged: int, gone: int) -> None:
        """Compare a merged group with the others, and keep every group's nearest.

        A group whose nearest has changed is searched only when its turn comes: the F of its former
        nearest is a lower bound until then.
        """
        order = self._order_rows(slice(merged, merged + 1))[0]
        order[~self._alive] = inf
        order[merged] = inf
        self._matrix[merged] = order
        self._matrix[:, merged] = order
        self._matrix[:, gone] = inf
        self._smallest[gone] = inf
        self._nearest[(self._nearest == merged) | (self._nearest == gone)] = -1
        closer = np.flatnonzero(order < self._smallest)
        self._nearest[closer] = merged
        self._smallest[closer] = order[closer]
        self._scan(np.array([merged]))

    def _scan(self, rows: IndexArray) -> None:
        self._nearest[rows] = nearest = self._matrix[rows].argmin(axis=1)
        self._smallest[rows] = self._matrix[rows, nearest]

    def _closest(self) -> tuple[int, int] | None:
        """Find the pair with the smallest F, or None where no pair may merge."""
        while True:
            bound = self._smallest.min()
            if bound == inf:
                return None
            bound = tie(bound)
            tied = np.flatnonzero(self._smallest <= bound)
            unknown = tied[self._nearest[tied] < 0]
            if not unknown.size:
                break
            self._scan(unknown)
        if tied.size == 2:
            return int(tied[0]), int(tied[1])
        return self._break_tie(tied, bound)

    def _break_tie(self, tied: IndexArray, bound: float) -> tuple[int, int]:
        first, second = np.nonzero(self._matrix[np.ix_(tied, tied)] <= bound)
        first, second = tied[first], tied[second]
        ordered = first < second
        first, second = first[ordered], second[ordered]
        rho = self._sums[first, second] / (self._norms[first] * self._norms[second])
        sizes = self._sizes[first] + self._sizes[second]
        best = first_of_ties(rho, sizes, first, second)
        return int(first[best]), int(second[best])

    def _compact(self) -> None:
        """Forget the groups that have been merged into others."""
        alive = np.flatnonzero(self._alive)
        if alive.size == self._alive.size:
            return
        place = np.full(self._alive.size + 1, -1)  # the last for those whose nearest is unknown
        place[alive] = np.arange(alive.size)
        self._sums = self._sums[np.ix_(alive, alive)]
        for name in ("_r", "_names", "_sizes", "_blocks", "_norms", "_alive"):
            setattr(self, name, getattr(self, name)[alive])
        if self._matrix.size:
            self._matrix = self._matrix[np.ix_(alive, alive)]
            self._smallest = self._smallest[alive]
            self._nearest = place[self._nearest[alive]]
