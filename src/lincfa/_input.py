"""From the user's containers to arrays and names; the only module that knows containers."""

import numbers
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from ._names import Names, describe_column, describe_columns

MIN_SAMPLES = 4
"""The residual variance of a pair's regression has n − 3 degrees of freedom."""

_FLOATS = (np.float64, np.float32)
_BLOCK_BYTES = 2**24


def validate_training(
    estimator: Any, X: Any, y: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
    """Check X and y for a fit, and set ``n_features_in_`` and ``feature_names_in_``.

    Returns
    -------
    X : array of shape (n, D), float64 or float32
        The user's own memory where it has one of these types.
    y : array of shape (n,), float64
    """
    _refuse_non_numeric_columns(X)
    X, y = validate_data(
        estimator,
        X,
        y,
        dtype=_FLOATS,
        ensure_all_finite=False,
        ensure_min_samples=MIN_SAMPLES,
        y_numeric=True,
    )
    _refuse_non_finite(X, getattr(estimator, "feature_names_in_", None))
    if y.dtype.kind not in "fiub":
        raise ValueError(f"The target y is not numeric: its values are of type {y.dtype}.")
    return X, y.astype(np.float64, copy=False)


def validate_new(estimator: Any, X: Any) -> npt.NDArray[Any]:
    """Check X for a fitted estimator: same columns as in the fit, numeric and finite."""
    _refuse_non_numeric_columns(X)
    values: npt.NDArray[Any] = validate_data(
        estimator, X, dtype=_FLOATS, ensure_all_finite=False, reset=False
    )
    _refuse_non_finite(values, getattr(estimator, "feature_names_in_", None))
    return values


def _refuse_non_numeric_columns(X: Any) -> None:
    """Raise for columns of a data frame that hold no numbers; scikit-learn would not name them."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "dtypes"):
        return
    wrong = [i for i, dtype in enumerate(X.dtypes) if not _is_numeric(X, i, dtype)]
    if wrong:
        names = [str(column) for column in columns]
        raise ValueError(
            f"Features must be numeric, but {describe_columns(names, wrong)} "
            f"{'is' if len(wrong) == 1 else 'are'} not (type {list(X.dtypes)[wrong[0]]}). "
            "Drop such columns or encode them first."
        )


def _is_numeric(frame: Any, index: int, dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    if str(dtype) == "object":  # numbers kept as Python objects are numbers all the same
        return all(isinstance(value, numbers.Real) for value in frame.iloc[:, index])
    pandas = sys.modules.get("pandas")
    return pandas is None or bool(pandas.api.types.is_numeric_dtype(dtype))


def _refuse_non_finite(X: npt.NDArray[Any], names: Names | None) -> None:
    """Raise for NaN or infinity, naming the first column and row that hold one."""
    step = max(1, _BLOCK_BYTES // max(1, X.shape[1] * X.itemsize))
    for start in range(0, X.shape[0], step):
        finite = np.isfinite(X[start : start + step])
        if finite.all():
            continue
        column = int(np.flatnonzero(~finite.all(axis=0))[0])
        row = int(np.flatnonzero(~finite[:, column])[0])
        value = "NaN" if np.isnan(X[start + row, column]) else "infinity"
        raise ValueError(
            f"Input X contains {value} in {describe_column(names, column)} (first in row "
            f"{start + row}). LinCFA needs complete data: drop or impute missing values first."
        )
