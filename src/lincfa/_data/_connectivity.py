"""The parameters ``connectivity`` and ``blocks``, as a graph and as block numbers of features."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..structure import chain_connectivity, grid_connectivity
from ._checks import is_dataset, is_field
from ._columns import Columns, check_by_name
from ._names import did_you_mean, shown

if TYPE_CHECKING:  # a fit on a table loads nothing of fields
    from ._field import Field, Variable

IndexArray = npt.NDArray[np.intp]

WORDS = ("grid", "chain")
"""Connectivities that have a name: the cells of a field, and columns in a row."""


def read_structure(
    connectivity: Any, blocks: Any, columns: Columns
) -> tuple[sparse.csr_array | None, IndexArray | None]:
    """Return the graph of neighbours, without edges between blocks, and each feature's block."""
    field, size = columns.field, columns.size
    check_by_name(blocks, columns, "blocks")
    numbers = None if blocks is None else _block_numbers(present_labels(field, blocks), size)
    if field is not None and (field.is_dataset or field.has_lags):
        of = field.block_of_column
        pairs = of if numbers is None else numbers * (of.max() + 1) + of
        numbers = np.unique(pairs, return_inverse=True)[1].astype(np.intp)
    if connectivity is None:
        return None, numbers
    edges = _edges(_matrix(connectivity, size, field), size)
    if numbers is not None:
        first, second = edges.nonzero()
        inside = numbers[first] == numbers[second]
        edges = graph_of(first[inside], second[inside], size)
    one_way = (edges > edges.T).nonzero()
    if one_way[0].size:
        pair = sorted(int(ends[0]) for ends in one_way)
        raise ValueError(
            "connectivity must be symmetric, but it connects "
            f"{columns.describe(pair)} in one direction only; "
            "use connectivity + connectivity.T."
        )
    return edges, numbers


def _matrix(connectivity: Any, n_features: int, field: "Field | None") -> Any:
    """Return the matrix for a word, or that over all cells of a field for those present."""
    in_a_row = field is None or all(
        len(field.dims_without_lag(each)) < 2 for each in field.variables
    )
    word = connectivity if isinstance(connectivity, str) else ""
    if word == "chain" and in_a_row:
        chain = chain_connectivity(n_features)
        if field is None:
            return chain
        order = np.argsort(np.argsort(field.block_of_column, kind="stable"))  # lag by lag
        return chain[order][:, order]
    if word == "chain":
        raise ValueError(
            'connectivity="chain" is for features in a row, but the field has several dimensions: '
            'use "grid".'
        )
    if field is None:
        if word == "grid":
            raise ValueError(
                'connectivity="grid" needs an xarray field. For a table of the cells of a grid '
                "pass lincfa.structure.grid_connectivity(shape)."
            )
        return connectivity
    if word == "grid":
        return sparse.block_diag([_grid(field, variable) for variable in field.variables])
    shape = np.shape(connectivity)
    square = len(shape) == 2 and shape[0] == shape[1] != n_features
    rows = _rows_of_columns(shape[:1], field) if square else None
    return connectivity if rows is None else sparse.csr_array(connectivity)[rows][:, rows]


def present_labels(field: "Field | None", blocks: Any) -> Any:
    """Return one label per column, given those of columns, of all cells, or of a map."""
    if field is None or blocks is None:
        return blocks
    if is_field(blocks) and not is_dataset(blocks) and not field.is_dataset:
        from ._field import on_cells

        sizes = field.cell_sizes(field.variables[0])
        if all(sizes.get(dim) == size for dim, size in blocks.sizes.items()):
            return on_cells(blocks.dims, blocks.values, field, field.variables[0])
    shape = np.shape(blocks)
    rows = None if shape == field.variable_of_column.shape else _rows_of_columns(shape, field)
    return blocks if rows is None else np.asarray(blocks).ravel()[rows]


def _rows_of_columns(shape: tuple[int, ...], field: "Field") -> IndexArray | None:
    """Return the position of each column among all cells, or among those of one lag.

    None if what is given has the shape of neither.
    """
    present = np.concatenate([variable.present for variable in field.variables])
    cells, count = field.cell_of_column
    known, among_known = np.unique(cells, return_inverse=True)
    rows = {(known.size,): among_known, (count,): cells, present.shape: np.flatnonzero(present)}
    if len(field.variables) == 1:
        sizes = field.cell_sizes(field.variables[0])
        shape_at_lag = tuple(sizes[dim] for dim in field.dims_without_lag(field.variables[0]))
        rows |= {shape_at_lag: cells, field.variables[0].shape: rows[present.shape]}
    return rows.get(shape)


def _grid(field: "Field", variable: "Variable") -> sparse.csr_array:
    count = int(variable.present.sum())
    if not variable.shape or count == 0:
        return sparse.csr_array((count, count), dtype=np.bool_)
    dims = field.dims_without_lag(variable)
    if len(dims) == 1 and field.is_list_of_places(dims[0]):
        raise ValueError(
            f'connectivity="grid" makes neighbours of places side by side along {str(dims[0])!r}, '
            "whatever their latitudes and longitudes. Pass "
            "lincfa.structure.coordinate_connectivity(lat, lon, radius_km=...), or "
            'connectivity="chain" where they are in a row.'
        )
    wrap = [field.is_circle(name) for name in field.cell_dims(variable)]
    mask = variable.present.reshape(variable.shape)
    return grid_connectivity(variable.shape, mask=mask, wrap=wrap)


def _edges(graph: Any, n_features: int) -> sparse.csr_array:
    try:
        matrix = sparse.coo_array(graph)
        wrong = matrix.ndim != 2 or matrix.dtype.kind not in "biuf"
    except (TypeError, ValueError):
        wrong = True
    if wrong:
        raise ValueError(
            f"connectivity must be None, one of {list(WORDS)} or a square matrix over the features "
            f"(sparse, or an array), got {shown(repr(graph))}{did_you_mean(graph, WORDS)}"
        )
    if matrix.shape != (n_features, n_features):
        raise ValueError(
            f"connectivity has shape {matrix.shape}, but there are {n_features} features: it needs "
            "one row and one column per feature."
        )
    if not np.isfinite(matrix.data).all():
        raise ValueError("connectivity must be finite; every nonzero entry is an edge.")
    first, second = matrix.coords
    kept = (matrix.data != 0) & (first != second)
    return graph_of(first[kept], second[kept], n_features)


def graph_of(first: IndexArray, second: IndexArray, size: int) -> sparse.csr_array:
    edges = sparse.csr_array((np.ones(first.size, dtype=np.int8), (first, second)), (size, size))
    edges.sum_duplicates()
    edges.data[:] = 1
    return edges


def labels_of(blocks: Any) -> list[Any]:
    """Return the labels of blocks as a list; in an array, 1 and "1" would become the same."""
    if isinstance(blocks, list | tuple):
        return [label.item() if isinstance(label, np.generic) else label for label in blocks]
    return list(np.asarray(blocks).tolist())


def _block_numbers(blocks: Any, n_features: int) -> IndexArray:
    """Number the blocks in the order of their first labels, which may be of any type."""
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
