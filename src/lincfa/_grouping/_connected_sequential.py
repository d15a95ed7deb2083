"""Algorithm 1 on a graph: groups that grow from their first feature through neighbours."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._rule._criterion import MARGIN, Criterion
from .._statistics import IndexArray, Statistics, nearby
from ..theory._arrays import FloatArray
from ._neighbours import Neighbours
from ._partition import Partition, partition_of

_SMALLEST_LOOK = 8
_LOOKED_THROUGH = 8
"""Edges that are followed ahead of a group, for each feature to test: more than a grid has. A hub
has so many that following them for each of its neighbours would cost the square of their number."""


def group_sequential_connected(
    statistics: Statistics, criterion: Criterion, graph: sparse.csr_array
) -> Partition:
    """Group by the paper's Algorithm 1, through neighbours only.

    Features in their order: each one that has no group yet seeds one. A feature without a group
    that is a neighbour of a member joins if the pair (seed, feature) passes the criterion, until no
    neighbour passes.
    """
    grown = _Growth(nearby(statistics), criterion, Neighbours(graph))
    roots = np.where(statistics.varying, np.arange(statistics.varying.size), -1)
    seeds, features, correlations = [], [], []
    for seed in np.flatnonzero(statistics.varying).tolist():
        if grown.free[seed]:
            members, rho = grown.grow(seed)
            seeds += [seed] * len(members)
            features += members
            correlations += rho
    order = np.argsort(features)
    second = np.array(features, dtype=np.intp)[order]
    first = np.array(seeds, dtype=np.intp)[order]
    pairs = statistics.pairs(first, second, np.array(correlations, dtype=np.float64)[order])
    roots[second] = first
    return partition_of(roots, criterion.evidence(first, second, pairs))


class _Growth:
    """Groups that take features one after the other."""

    def __init__(
        self, statistics: Statistics, criterion: Criterion, neighbours: Neighbours
    ) -> None:
        self._statistics, self._criterion, self._neighbours = statistics, criterion, neighbours
        self.free = statistics.varying.tolist()
        self._r = statistics.target_correlation.tolist()
        # Columns that differ by rounding only merge whatever the rule says.
        rounding = MARGIN + 4 * float(statistics.rounding.max())
        self._reach = (criterion.reach(statistics.target_correlation) + rounding).tolist()

    def grow(self, seed: int) -> tuple[list[int], list[float]]:
        """Let a group grow; give those that joined the seed, and their correlations with it.

        A feature joins by its own correlation with the seed, whichever member it is a neighbour
        of. So features are tested some steps ahead of the group, as many at once as it has
        members, and the group is what can be reached through those that pass.
        """
        self.free[seed] = False
        joined: list[int] = []
        tested: dict[int, float | None] = {}  # the correlation of those that pass
        edge = [seed]
        while edge:
            unknown: dict[int, None] = {}
            while edge:
                for other in self._neighbours.of(edge.pop()):
                    if not self.free[other]:
                        continue
                    if other not in tested:
                        unknown[other] = None
                    elif tested[other] is not None:
                        self.free[other] = False
                        joined.append(other)
                        edge.append(other)
            looked_at = self._look_ahead(seed, unknown, tested, len(joined))
            tested.update(self._test(seed, looked_at))
            for other in unknown:
                if tested.get(other) is not None:
                    self.free[other] = False
                    joined.append(other)
                    edge.append(other)
        return joined, [tested[feature] for feature in joined]  # type: ignore[misc]

    def _look_ahead(
        self, seed: int, unknown: dict[int, None], tested: dict[int, float | None], size: int
    ) -> list[int]:
        """Name features to test: those asked for, and what lies behind them.

        Those whose correlation with the target is out of reach cannot pass, and need no test.
        """
        center, reach = self._r[seed], self._reach[seed]
        most = len(unknown) + max(_SMALLEST_LOOK, size)
        left = _LOOKED_THROUGH * most
        found: list[int] = []
        waiting = list(unknown)
        seen = set(waiting)
        for feature in waiting:  # which grows on the way
            if abs(self._r[feature] - center) > reach:
                tested[feature] = None
                continue
            found.append(feature)
            if len(found) >= most:
                break
            ahead = self._neighbours.of(feature)[:left]
            left -= len(ahead)
            for other in ahead:
                if self.free[other] and other not in seen and other not in tested:
                    seen.add(other)
                    waiting.append(other)
        return found

    def _test(self, seed: int, features: list[int]) -> dict[int, float | None]:
        """Correlations of the features that pass with the seed; None for those that do not."""
        if not features:
            return {}
        features = sorted(features)  # as they lie in memory
        candidates = np.array(features, dtype=np.intp)
        first = np.array([seed])
        (rho,) = self._statistics.rows(first, [(slice(0, 1), candidates)])
        joins = self._passing(first, candidates, rho[0])
        values = [r if j else None for r, j in zip(rho[0].tolist(), joins.tolist(), strict=True)]
        return dict(zip(features, values, strict=True))

    def _passing(
        self, first: IndexArray, candidates: IndexArray, rho: FloatArray
    ) -> npt.NDArray[np.bool_]:
        r = self._statistics.target_correlation
        passing, doubtful = self._criterion.sift(rho[None], r[first], r[candidates])
        joins = np.asarray(passing[0])
        unsure = np.flatnonzero(doubtful[0])
        if unsure.size:
            seeds = np.repeat(first, unsure.size)
            pairs = self._statistics.pairs(seeds, candidates[unsure], rho[unsure])
            joins[unsure] = self._criterion.passes(pairs)
        return joins
