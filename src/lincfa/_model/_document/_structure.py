"""Which features may be merged, as a model keeps it in a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..._data._connectivity import WORDS, labels_of
from ._strict import array_of, check_keys, require


def describe_structure(connectivity: Any, blocks: Any) -> dict[str, Any]:
    """Give a connectivity as a word or as pairs of features, and blocks as a list of labels."""
    return {"connectivity": _pairs(connectivity), "blocks": _labels(blocks)}


def restore_structure(structure: Any) -> dict[str, Any]:
    """Give the parameters back that were described."""
    check_keys(structure, ("connectivity", "blocks"), "'structure'")
    connectivity, blocks = structure["connectivity"], structure["blocks"]
    if blocks is not None:
        fitting = isinstance(blocks, list) and all(
            isinstance(label, str | int | float) for label in blocks
        )
        require(fitting, "'blocks' is not a list of labels.")
    if isinstance(connectivity, str):
        require(connectivity in WORDS, f"'connectivity' is {connectivity!r}.")
    elif connectivity is not None:
        connectivity = _graph(connectivity)
    return {"connectivity": connectivity, "blocks": blocks}


def _pairs(connectivity: Any) -> Any:
    if connectivity is None or isinstance(connectivity, str):
        return connectivity
    matrix = sparse.triu(sparse.coo_array(connectivity), 1).tocsr().tocoo()
    kept = matrix.data != 0
    first, second = (ends[kept] for ends in matrix.coords)
    return {"size": matrix.shape[0], "first": first.tolist(), "second": second.tolist()}


def _graph(pairs: Mapping[str, Any]) -> sparse.csr_array:
    check_keys(pairs, ("size", "first", "second"), "'connectivity'")
    (size,) = array_of([pairs["size"]], np.intp, "'size'").tolist()
    first, second = (array_of(pairs[name], np.intp, f"'{name}'") for name in ("first", "second"))
    require(first.size == second.size, "the columns of 'connectivity' differ in length.")
    inside = bool(((first >= 0) & (first < second) & (second < size)).all())
    require(inside, "'connectivity' joins what are no two features.")
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    return sparse.csr_array((np.ones(2 * first.size, dtype=np.bool_), ends), (size, size))


def _labels(blocks: Any) -> list[Any] | None:
    """Give labels that JSON has no type for as text."""
    if blocks is None:
        return None
    return [
        label if isinstance(label, str | int | float) else str(label) for label in labels_of(blocks)
    ]
