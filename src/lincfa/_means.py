"""The reduced features: means of groups of columns."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ._statistics import IndexArray
from .theory._arrays import FloatArray

_BLOCK_VALUES = 2**20


def group_means(
    X: npt.NDArray[Any],
    labels: IndexArray,
    n_groups: int,
    mean: FloatArray | None = None,
    scale: FloatArray | None = None,
) -> npt.NDArray[Any]:
    """Average the columns of each group, standardised by ``mean`` and ``scale`` if given.

    Works through blocks of rows, so that no copy of X is made, and in float64, the type of the
    weights. Columns with label −1 are left out. The result has the type of X.
    """
    members = np.flatnonzero(labels >= 0)
    sizes = np.bincount(labels[members], minlength=n_groups)
    averaging = sparse.csc_array(
        (1.0 / sizes[labels[members]], (members, labels[members])), shape=(X.shape[1], n_groups)
    )
    result = np.empty((X.shape[0], n_groups), dtype=X.dtype)
    step = max(1, _BLOCK_VALUES // max(1, X.shape[1]))
    for start in range(0, X.shape[0], step):
        rows = X[start : start + step]
        if mean is not None and scale is not None:
            rows = (rows - mean) / scale
        result[start : start + step] = rows @ averaging
    return result
