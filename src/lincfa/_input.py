"""From the user's containers to arrays and names; the only module that knows containers."""

import numbers
import sys
from collections import Counter
from collections.abc import Iterable
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
    _check_container(X)
    _check_target(y)
    X, y = validate_data(
        estimator,
        X,
        y,
        dtype=_FLOATS,
        ensure_all_finite=False,
        ensure_min_samples=MIN_SAMPLES,
        y_numeric=True,
    )
    _check_finite(X, getattr(estimator, "feature_names_in_", None))
    return X, y.astype(np.float64, copy=False)


def validate_new(estimator: Any, X: Any) -> npt.NDArray[Any]:
    """Check X for a fitted estimator: same columns as in the fit, numeric and finite."""
    _check_container(X)
    values: npt.NDArray[Any] = validate_data(
        estimator, X, dtype=_FLOATS, ensure_all_finite=False, reset=False
    )
    _check_finite(values, getattr(estimator, "feature_names_in_", None))
    return values


def _check_container(X: Any) -> None:
    """Refuse what conversion to an array would lose, or report without naming the column."""
    if np.ma.isMaskedArray(X) and np.ma.is_masked(X):
        column = int(np.flatnonzero(np.ma.getmaskarray(X).any(axis=0))[0])
        raise ValueError(
            f"Input X has masked values in {describe_column(None, column)}. "
            "LinCFA needs complete data: drop or fill masked values first."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        names = [str(column) for column in X.columns]
        _check_unique(names)
        _check_numeric(X, names)


def _check_unique(names: list[str]) -> None:
    repeated = [f"{name!r} ({times} times)" for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"Column names must be unique, but X repeats {', '.join(repeated[:10])}.")


def _check_numeric(frame: Any, names: list[str]) -> None:
    dtypes = list(frame.dtypes)
    wrong = [i for i, dtype in enumerate(dtypes) if not _is_numeric(frame, i, dtype)]
    if wrong:
        raise ValueError(
            f"Features must be numeric, but {describe_columns(names, wrong)} "
            f"{'is' if len(wrong) == 1 else 'are'} not (type {dtypes[wrong[0]]}). "
            "Drop such columns or encode them first."
        )


def _is_numeric(frame: Any, index: int, dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    if str(dtype) == "object":
        return _are_numbers(frame.iloc[:, index])
    pandas = sys.modules.get("pandas")
    return pandas is None or bool(pandas.api.types.is_numeric_dtype(dtype))


def _are_numbers(values: Iterable[Any]) -> bool:
    """Whether Python objects are numbers, or missing: then their value is refused, not their type.

    Text that reads as a number is text: converting it silently would hide a broken column.
    """
    return all(value is None or isinstance(value, numbers.Number) for value in values)


def _check_target(y: Any) -> None:
    kind = np.asarray(y).dtype.kind
    if kind not in "fiubcO" or (kind == "O" and not _are_numbers(np.ravel(y))):
        raise ValueError("The target y is not numeric.")


def _check_finite(X: npt.NDArray[Any], names: Names | None) -> None:
    """Refuse NaN or infinity, naming the first column and row that hold one."""
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
