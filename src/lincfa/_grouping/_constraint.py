"""Which features may be merged at all: neighbours, and members of the same block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._data._connectivity import graph_of
from .._statistics import IndexArray


@dataclass(frozen=True)
class Constraint:
    """A hard limit on groups, whatever the rule says."""

    # Symmetric. Groups are connected by its edges, none of which leads to another block.
    graph: sparse.csr_array | None = None
    blocks: IndexArray | None = None  # number of each feature's block; groups are within one

    @property
    def restricts(self) -> bool:
        """Whether there is any limit."""
        return self.graph is not None or self.blocks is not None

    @property
    def makes_areas(self) -> bool:
        """Whether some feature has more than two neighbours: on a map, but not in a row."""
        return self.graph is not None and bool((np.diff(self.graph.indptr) > 2).any())

    def n_components(self, varying: npt.NDArray[np.bool_]) -> int:
        """Smallest possible number of groups of the features that are not constant."""
        if self.graph is not None:
            kept = self.graph[varying][:, varying]
            return int(sparse.csgraph.connected_components(kept, directed=False)[0])
        return 1 if self.blocks is None else np.unique(self.blocks[varying]).size

    def allows(self, labels: IndexArray) -> bool:
        """Whether all groups are within a block, and connected; label −1 belongs to none."""
        varying = labels >= 0
        if self.blocks is not None:
            groups = np.unique(np.column_stack([self.blocks, labels])[varying], axis=0)
            if len(groups) > np.unique(labels[varying]).size:
                return False
        if self.graph is None:
            return True
        first, second = self.graph.nonzero()
        inside = labels[first] == labels[second]
        within = graph_of(first[inside], second[inside], labels.size)
        return Constraint(within).n_components(varying) == np.unique(labels[varying]).size

    def between_groups(self, groups: Sequence[IndexArray]) -> npt.NDArray[np.bool_]:
        """Which of some groups may merge with each other."""
        size = len(groups)
        allowed = np.ones((size, size), dtype=np.bool_)
        if self.blocks is not None:
            own = self.blocks[[group[0] for group in groups]]
            allowed &= own[:, None] == own
        if self.graph is not None:
            members = np.concatenate(groups)
            number = np.repeat(np.arange(size), [group.size for group in groups])
            first, second = self.graph[members][:, members].nonzero()
            edges = np.zeros((size, size), dtype=np.bool_)
            edges[number[first], number[second]] = True
            allowed &= edges
        return allowed

    def taken(self, features: IndexArray) -> dict[str, Any]:
        """Return the parameters of an estimator for some of the features, in the order given."""
        graph, blocks = self.graph, self.blocks
        return {
            "connectivity": None if graph is None else graph[features][:, features],
            "blocks": None if blocks is None else blocks[features],
        }


class Neighbours:
    """The neighbours of each feature in a graph, as lists: fast to read one after the other."""

    def __init__(self, graph: sparse.csr_array) -> None:
        self._starts = graph.indptr.tolist()
        self._others = graph.indices.tolist()

    def of(self, feature: int) -> list[int]:
        """Return the neighbours of a feature."""
        return self._others[self._starts[feature] : self._starts[feature + 1]]
