"""Which features may be merged at all: neighbours, and members of the same block."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ._names import Names, describe_columns
from ._statistics import IndexArray

WORDS = ("grid", "chain")
"""Connectivities that are known by a word: cells of a field, and columns in a row."""


@dataclass(frozen=True)
class Constraint:
    """A hard rule on groups, whatever the criterion says.

    Attributes
    ----------
    graph : sparse array of shape (D, D), or None
        Symmetric. Groups are connected by its edges, none of which leads to another block.
    blocks : array of shape (D,), or None
        Number of each feature's block; groups are within one.
    """

    graph: sparse.csr_array | None = None
    blocks: IndexArray | None = None

    def n_components(self, varying: npt.NDArray[np.bool_]) -> int:
        """Give the fewest groups that are possible, of features that are not constant."""
        if self.graph is not None:
            kept = self.graph[varying][:, varying]
            return int(sparse.csgraph.connected_components(kept, directed=False)[0])
        return 1 if self.blocks is None else np.unique(self.blocks[varying]).size


def constraint_of(graph: Any, blocks: Any, names: Names | None, n_features: int) -> Constraint:
    """Check a graph over the features and the labels of their blocks.

    Raises
    ------
    ValueError
        Where one of them does not fit the features, or the graph is not symmetric.
    """
    numbers = None if blocks is None else _numbers(blocks, n_features)
    if graph is None:
        return Constraint(None, numbers)
    edges = _edges(graph, n_features)
    if numbers is not None:
        first, second = edges.nonzero()
        inside = numbers[first] == numbers[second]
        edges = _graph_of(first[inside], second[inside], n_features)
    one_way = (edges > edges.T).nonzero()
    if one_way[0].size:
        pair = sorted(int(ends[0]) for ends in one_way)
        raise ValueError(
            "connectivity must be symmetric, but it joins "
            f"{describe_columns(names, pair)} in one direction only; "
            "take connectivity + connectivity.T."
        )
    return Constraint(edges, numbers)


def _edges(graph: Any, n_features: int) -> sparse.csr_array:
    """Give the entries that are not zero, off the diagonal, as edges."""
    try:
        matrix = sparse.coo_array(graph)
        wrong = matrix.ndim != 2 or matrix.dtype.kind not in "biuf"
    except (TypeError, ValueError):
        wrong = True
    if wrong:
        raise ValueError(
            f"connectivity must be None, one of {list(WORDS)} or a square matrix over the features "
            f"(sparse, or an array), got {type(graph).__name__}"
        )
    if matrix.shape != (n_features, n_features):
        raise ValueError(
            f"connectivity is of shape {matrix.shape}, but there are {n_features} features: it "
            "takes one row and one column per feature."
        )
    if not np.isfinite(matrix.data).all():
        raise ValueError("connectivity must be finite; an entry that is not 0 is an edge.")
    first, second = matrix.coords
    kept = (matrix.data != 0) & (first != second)
    return _graph_of(first[kept], second[kept], n_features)


def _graph_of(first: IndexArray, second: IndexArray, size: int) -> sparse.csr_array:
    edges = sparse.csr_array((np.ones(first.size, dtype=np.int8), (first, second)), (size, size))
    edges.sum_duplicates()
    edges.data[:] = 1
    return edges


def _numbers(blocks: Any, n_features: int) -> IndexArray:
    """Number the blocks by their labels, of any type that can be sorted."""
    labels = np.asarray(blocks)
    if labels.shape != (n_features,):
        raise ValueError(
            f"blocks must have one label per feature, {n_features}, got an array of shape "
            f"{labels.shape}."
        )
    missing = [i for i, label in enumerate(labels.tolist()) if label is None or label != label]
    if missing:
        raise ValueError(f"blocks has no label for feature {missing[0]} (counted from 0).")
    if labels.dtype.kind == "O":
        labels = np.array([f"{type(label).__name__} {label}" for label in labels.tolist()])
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)
