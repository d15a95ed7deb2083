"""From the user's containers to arrays and names; those of dask are the business of ``_dask``."""

import numbers
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_array, validate_data

from ._names import Names, describe_columns, keep_names, same_names, shown

MIN_SAMPLES = 4
"""The residual variance of a pair's regression has n − 3 degrees of freedom."""

_FLOATS = (np.float64, np.float32)
_BLOCK_BYTES = 2**24


class NotFiniteError(ValueError):
    """Features that are NaN or infinite."""


def validate_training(
    estimator: Any, X: Any, y: Any, *, reset: bool = True, min_samples: int = MIN_SAMPLES
) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64], Names | None]:
    """Check X and y for a fit, and set ``n_features_in_`` and ``feature_names_in_``.

    That the values of X are finite is left to the pass over X that computes with them. Without
    ``reset`` the columns must be those that the estimator knows. Names that are not strings
    (wavelengths, levels), which scikit-learn does not keep, are kept in ``_column_names``.

    Returns
    -------
    X : array of shape (n, D), float64 or float32
        The user's own memory where it has one of these types.
    y : array of shape (n,), float64
    names : sequence or None
        What the user calls the columns, for messages; also where the names are not strings.
    """
    _check_container(X)
    check_target(y)
    names = _names_of(estimator, X)
    with nullcontext() if reset else same_names(estimator, names):
        X, y = validate_data(
            estimator,
            X,
            y,
            reset=reset,
            dtype=_FLOATS,
            ensure_all_finite=False,
            ensure_min_samples=min_samples,
            y_numeric=True,
        )
    if reset:
        keep_names(estimator, names)
    return X, y.astype(np.float64, copy=False), names


def known_columns(estimator: Any, X: Any, *, reset: bool) -> Names | None:
    """Check the columns of a table without looking at its rows, of which it may have none.

    Sets, or compares, what :func:`validate_training` does, and gives the names.
    """
    names = _names_of(estimator, X)
    with nullcontext() if reset else same_names(estimator, names):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    if reset:
        keep_names(estimator, names)
    return names


def _names_of(estimator: Any, X: Any) -> Names | None:
    """Give the names of the columns, or of the cells of the field whose table X is."""
    names = column_names(X)
    field = getattr(estimator, "field_", None)
    return field.names if names is None and field is not None else names


def float_type(types: Iterable[npt.DTypeLike]) -> npt.DTypeLike:
    """Type in which columns of some types are read: float32 if it holds them all, else float64."""
    common = np.result_type(*types)
    return common if common in _FLOATS else np.dtype(np.float64)


def are_enough(samples: float) -> bool:
    """Whether there are samples enough for a fit; weights may add up to slightly less."""
    return bool(samples >= MIN_SAMPLES * (1 - 1e-9))


def real_numbers(values: Any, what: str) -> npt.NDArray[np.float64]:
    """Turn what should be real numbers into an array of them; refuse text, dates and the like."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuf" or (array.dtype.kind == "O" and _are_numbers(array.flat)):
            return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{what} must be real numbers, got {shown(repr(values))}.")


def validate_new(estimator: Any, X: Any) -> tuple[npt.NDArray[Any], Names | None]:
    """Check X for a fitted estimator: numeric, and the same columns as in the fit."""
    _check_container(X)
    names = _names_of(estimator, X)
    with same_names(estimator, names):
        values = validate_data(estimator, X, dtype=_FLOATS, ensure_all_finite=False, reset=False)
    return values, names


def validate_reduced(X: Any, reduced_names: Names) -> npt.NDArray[Any]:
    """Check reduced features: as many columns as there are groups, of the same names if named."""
    _check_container(X)
    names = column_names(X)
    check_reduced_columns(names, None, reduced_names)
    values = check_array(X, dtype=_FLOATS, ensure_all_finite=False)
    check_reduced_columns(None, values.shape[1], reduced_names)
    check_finite(values, names)
    return np.asarray(values)


def check_reduced_columns(names: Names | None, width: int | None, reduced_names: Names) -> None:
    """Check names and number of the columns of reduced features, as far as they are known."""
    if names is not None and list(names) != list(range(len(names))):
        _check_reduced_names([str(name) for name in names], list(reduced_names))
    if width is not None and width != len(reduced_names):
        raise ValueError(
            f"X has {width} columns, but there are {len(reduced_names)} reduced features."
        )


def _check_reduced_names(names: list[str], expected: list[str]) -> None:
    found, known = set(names), set(expected)
    for name in names:
        if name not in known:
            raise ValueError(f"The column {name!r} is no reduced feature of this model.")
    for name in expected:
        if name not in found:
            raise ValueError(f"X lacks the reduced feature {name!r}.")
    if names != expected:
        raise ValueError("The reduced features are not in the order of the fit.")


def column_types(X: Any) -> list[str] | None:
    """Types of the columns as the user gives them; None for lists, which have none."""
    if _is_frame(X):
        return [str(dtype) for dtype in X.dtypes]
    return [str(X.dtype)] * X.shape[1] if getattr(X, "ndim", 0) == 2 else None


def check_same_types(before: list[str] | None, now: list[str] | None, names: Names | None) -> None:
    """Refuse a chunk whose columns have other types than those of the first chunk."""
    if before is None or now is None:
        return
    changed = [i for i, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
    if changed:
        raise ValueError(
            f"The type of {describe_columns(names, changed)} changed between chunks, "
            f"from {before[changed[0]]} to {now[changed[0]]}; convert the chunks to one type "
            "(in pandas with read_csv(dtype=...) or astype)."
        )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def column_names(X: Any) -> Names | None:
    """Give what the user calls the columns; None where they have no names."""
    return list(X.columns) if _is_frame(X) else None


def is_dask(values: Any) -> bool:
    """Whether something is a collection of dask; without dask nothing is."""
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(values))


def refuse_lazy(X: Any) -> None:
    """Refuse what has columns but no data."""
    if is_dask(X):
        raise TypeError(
            "X is a collection of dask, which is not gathered unasked: fit, transform, "
            "inverse_transform and predict take it as it is; for anything else call its compute() "
            "first, if it fits into memory."
        )
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame, which holds no data yet; call its collect() first.")


def _check_container(X: Any) -> None:
    """Refuse what conversion to an array would lose, or report without naming the column."""
    refuse_lazy(X)
    if isinstance(X, list | tuple):
        X = np.asarray(X)
    if np.ma.is_masked(X):
        column = int(np.flatnonzero(np.ma.getmaskarray(X).any(axis=0))[0])
        raise ValueError(
            f"Input X has masked values in {describe_columns(None, [column])}. "
            "Drop or fill them first."
        )
    if _is_frame(X):
        names = list(X.columns)
        check_named(names)
        dtypes = list(X.dtypes)
        refuse_other_types(
            names, dtypes, [i for i, t in enumerate(dtypes) if not _is_numeric(X, i, t)]
        )
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind not in "fiubc":
        _check_objects(X)


def check_named(names: list[Any]) -> None:
    """Refuse a frame without columns, or whose names occur twice."""
    if not names:
        raise ValueError("X has no columns: 0 feature(s), while a minimum of 1 is required.")
    check_unique(names)


def check_unique(names: list[Any]) -> None:
    """Refuse names that occur twice."""
    repeated = [f"{name!r} ({times} times)" for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"Column names must be unique, but X repeats {', '.join(repeated[:10])}.")


def refuse_other_types(names: list[Any], dtypes: list[Any], wrong: list[int]) -> None:
    """Name the columns that are not of numbers, if there are any."""
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


def _check_objects(X: npt.NDArray[Any]) -> None:
    if X.dtype.kind != "O":
        raise ValueError(f"Features must be numeric, but X is of type {X.dtype}.")
    for index, column in enumerate(X.T):
        if any(isinstance(value, str | bytes) for value in column):
            raise ValueError(
                f"Features must be numeric, but {describe_columns(None, [index])} holds text."
            )


def check_target(y: Any) -> None:
    """Refuse a target in memory that is not of finite numbers."""
    if np.ma.is_masked(y):
        raise ValueError("The target y has masked values: drop or fill them first.")
    values = np.asarray(y)
    kind = values.dtype.kind
    if kind not in "fiubcO" or (kind == "O" and not _are_numbers(values.flat)):
        raise ValueError("The target y is not numeric.")
    if kind == "f" and values.ndim == 1 and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        what = "NaN" if np.isnan(values[row]) else "infinity"
        raise ValueError(f"Input y contains {what} (first in row {row}).")


def check_finite(X: npt.NDArray[Any], names: Names | None) -> None:
    """Refuse NaN or infinity, naming the first column and row that hold one."""
    step = max(1, _BLOCK_BYTES // max(1, X.shape[1] * X.itemsize))
    for start in range(0, X.shape[0], step):
        finite = np.isfinite(X[start : start + step])
        if finite.all():
            continue
        column = int(np.flatnonzero(~finite.all(axis=0))[0])
        row = int(np.flatnonzero(~finite[:, column])[0])
        missing = np.isnan(X[start + row, column])
        raise NotFiniteError(
            f"Input X contains {'NaN' if missing else 'infinity'} in "
            f"{describe_columns(names, [column])} (first in row {start + row}). "
            + ("Drop or impute missing values first." if missing else "Finite values are needed.")
        )


def stack_level() -> int:
    """Give the ``stacklevel`` at which a warning of the calling function points at the user."""
    package = __name__.split(".")[0]
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level + 1


def warn_of_constant(varying: npt.NDArray[np.bool_], names: Names | None) -> None:
    """Name the features that a fit leaves out."""
    constant = np.flatnonzero(~varying)
    if constant.size:
        warnings.warn(
            "LinCFA leaves out constant features, which belong to no group (they vary by no more "
            f"than the rounding of their type): {describe_columns(names, constant.tolist())}.",
            UserWarning,
            stacklevel=stack_level(),
        )
