"""The parameter ``feature_weights``: how much each feature counts in the mean of its group."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import real_numbers
from ._columns import Columns
from ._connectivity import present_labels


def read_feature_weights(weights: Any, columns: Columns) -> npt.NDArray[np.float64]:
    """Return the weight of each feature; ones where all are the same."""
    if weights is None:
        return np.ones(columns.size)
    values = real_numbers(present_labels(columns.field, weights), "feature_weights")
    if values.shape != (columns.size,):
        raise ValueError(
            f"feature_weights must have one weight per feature, {columns.size}, got an array of "
            f"shape {values.shape}."
        )
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if wrong.size:
        raise ValueError(
            "feature_weights must be finite and positive, but the weight of "
            f"{columns.describe([int(wrong[0])])} is {values[wrong[0]]:g}."
        )
    return np.ones(columns.size) if (values == values[0]).all() else values
