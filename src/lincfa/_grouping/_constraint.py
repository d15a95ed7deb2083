"""Which features may be merged at all: neighbours, and members of the same block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .._data._field._describe import Field, Variable, is_field
from .._data._names import Names, describe_columns, shown
from .._statistics import IndexArray
from ..structure import chain_connectivity, grid_connectivity

WORDS = ("grid", "chain")
"""Connectivities that are known by a word: cells of a field, and columns in a row."""


@dataclass(frozen=True)
class Constraint:
    """A hard limit on groups, whatever the rule says.

    Attributes
    ----------
    graph : sparse array of shape (D, D), or None
        Symmetric. Groups are connected by its edges, none of which leads to another block.
    blocks : array of shape (D,), or None
        Number of each feature's block; groups are within one.
    """

    graph: sparse.csr_array | None = None
    blocks: IndexArray | None = None

    @property
    def restricts(self) -> bool:
        """Whether there is any limit."""
        return self.graph is not None or self.blocks is not None

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
        within = _graph_of(first[inside], second[inside], labels.size)
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


def constraint_of(
    connectivity: Any, blocks: Any, names: Names, field: Field | None = None
) -> Constraint:
    """Find out which features may be merged, from the parameters of :class:`lincfa.LinCFA`.

    Raises
    ------
    ValueError
        Where a parameter does not fit the features, or a matrix is not symmetric.
    """
    n_features = len(names)
    numbers = None if blocks is None else _numbers(labels_on(field, blocks), n_features)
    if field is not None and field.is_dataset:
        numbers = _both(numbers, field.variable_of_column)
    if connectivity is None:
        return Constraint(None, numbers)
    edges = _edges(_matrix(connectivity, n_features, field), n_features)
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


def _matrix(connectivity: Any, n_features: int, field: Field | None) -> Any:
    """Turn a word into a matrix; of a matrix over all cells of a field, take those present."""
    in_a_row = field is None or all(len(variable.shape) < 2 for variable in field.variables)
    if _is(connectivity, "chain") and in_a_row:
        return chain_connectivity(n_features)
    if _is(connectivity, "chain"):
        raise ValueError(
            'connectivity="chain" is for features in a row, but the field has cells along several '
            'dimensions: use "grid".'
        )
    if field is None:
        if _is(connectivity, "grid"):
            raise ValueError(
                'connectivity="grid" needs a field of xarray. For a table of the cells of a grid '
                "give lincfa.structure.grid_connectivity(shape)."
            )
        return connectivity
    if _is(connectivity, "grid"):
        return sparse.block_diag([_grid(field, variable) for variable in field.variables])
    present = np.concatenate([variable.present for variable in field.variables])
    if np.shape(connectivity) == (present.size, present.size) and not present.all():
        return sparse.csr_array(connectivity)[present][:, present]
    return connectivity


def labels_on(field: Field | None, blocks: Any) -> Any:
    """Of labels of all cells of a field, or a map of them, take those of the cells present."""
    if field is None:
        return blocks
    if is_field(blocks) and not field.is_dataset:
        dims = field.cell_dims(field.variables[0])
        blocks = blocks.transpose(*dims).values if set(dims) == set(blocks.dims) else blocks.values
    present = np.concatenate([variable.present for variable in field.variables])
    shapes = [(present.size,), *(variable.shape for variable in field.variables)]
    if np.size(blocks) == present.size and np.shape(blocks) in shapes:
        return np.asarray(blocks).ravel()[present]
    return blocks


def _is(connectivity: Any, word: str) -> bool:
    return isinstance(connectivity, str) and connectivity == word


def _grid(field: Field, variable: Variable) -> sparse.csr_array:
    count = int(variable.present.sum())
    if not variable.shape or count == 0:
        return sparse.csr_array((count, count), dtype=np.bool_)
    dims = field.cell_dims(variable)
    if len(dims) == 1 and field.is_list_of_places(dims[0]):
        raise ValueError(
            f'connectivity="grid" makes neighbours of places side by side along {str(dims[0])!r}, '
            "whatever their latitudes and longitudes. Give "
            "lincfa.structure.coordinate_connectivity(lat, lon, radius_km=...), or "
            'connectivity="chain" where they are in a row.'
        )
    wrap = [field.is_circle(name) for name in dims]
    mask = variable.present.reshape(variable.shape)
    return grid_connectivity(variable.shape, mask=mask, wrap=wrap)


def _both(one: IndexArray | None, other: IndexArray) -> IndexArray:
    """Number the pairs of two numbers."""
    if one is None:
        return other
    return np.unique(one * (other.max() + 1) + other, return_inverse=True)[1].astype(np.intp)


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
            f"(sparse, or an array), got {shown(repr(graph))}"
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


def labels_of(blocks: Any) -> list[Any]:
    """Give the labels of blocks one by one; an array of a list would make one text of 1 and "1"."""
    if isinstance(blocks, list | tuple):
        return [label.item() if isinstance(label, np.generic) else label for label in blocks]
    return list(np.asarray(blocks).tolist())


def _numbers(blocks: Any, n_features: int) -> IndexArray:
    """Number the blocks in the order in which their labels come; those may be of any type."""
    shape = np.shape(blocks)
    if shape != (n_features,):
        raise ValueError(
            f"blocks must have one label per feature, {n_features}, got an array of shape {shape}."
        )
    labels = labels_of(blocks)
    missing = [i for i, label in enumerate(labels) if label is None or label != label]
    if missing:
        raise ValueError(f"blocks has no label for feature {missing[0]} (counted from 0).")
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    return np.array([numbers[label] for label in labels], dtype=np.intp)
