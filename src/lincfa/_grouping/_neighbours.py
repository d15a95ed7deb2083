"""A graph as lists: the neighbours of one feature after another, as growing groups ask for them."""

from scipy import sparse


class Neighbours:
    """The neighbours of each feature."""

    def __init__(self, graph: sparse.csr_array) -> None:
        self._starts = graph.indptr.tolist()
        self._others = graph.indices.tolist()

    def of(self, feature: int) -> list[int]:
        """Give the neighbours of a feature."""
        return self._others[self._starts[feature] : self._starts[feature + 1]]
