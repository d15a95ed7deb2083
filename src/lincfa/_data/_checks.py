"""What a fit accepts as features, target and weights; errors name the column and the row."""

import numbers
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_array

from ._names import Names, describe_columns, did_you_mean, shown

MIN_SAMPLES = 4
"""The residual variance of a pair's regression has n − 3 degrees of freedom."""

ENOUGH_SAMPLES = MIN_SAMPLES * (1 - 1e-9)
"""Weights may add up to slightly less."""

FLOATS = (np.float64, np.float32)
TABLE = "X must be a table, with a row for each sample and a column for each feature"
_BLOCK_BYTES = 2**24
_LISTED_ROWS = 5
IF_MISSING = (
    'Drop or impute missing values first; LinCFA and LinCFACV accept them with missing="pairwise".'
)


def is_integer(value: Any, least: int) -> bool:
    """Whether the value is an integer of at least so much; True and False are not."""
    return (
        isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= least
    )


def is_dask(values: Any) -> bool:
    dask = sys.modules.get("dask")
    return dask is not None and bool(dask.is_dask_collection(values))


def is_field(X: Any) -> bool:
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(X, xarray.DataArray | xarray.Dataset)


def is_dataset(X: Any) -> bool:
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(X, xarray.Dataset)


def is_pandas(values: Any, *kinds: str) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, tuple(getattr(pandas, k) for k in kinds))


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def column_names(X: Any) -> Names | None:
    """Return what the user calls the columns; None where they have no names."""
    return list(X.columns) if is_frame(X) else None


def column_types(X: Any) -> list[str] | None:
    """Return the types of the columns as given; None for lists, which have none."""
    if is_frame(X):
        return [str(dtype) for dtype in X.dtypes]
    return [str(X.dtype)] * X.shape[1] if getattr(X, "ndim", 0) == 2 else None


def check_same_types(before: list[str] | None, now: list[str] | None, names: Names | None) -> None:
    if before is None or now is None:
        return
    changed = [i for i, (old, new) in enumerate(zip(before, now, strict=True)) if old != new]
    if changed:
        raise ValueError(
            f"The type of {describe_columns(names, changed)} changed between chunks, "
            f"from {before[changed[0]]} to {now[changed[0]]}; convert the chunks to one type "
            "(in pandas with read_csv(dtype=...) or astype)."
        )


def float_type(types: Iterable[npt.DTypeLike]) -> npt.DTypeLike:
    """Return float32 if it holds columns of all these types, else float64."""
    common = np.result_type(*types)
    return common if common in FLOATS else np.dtype(np.float64)


def column_precision(X: Any) -> npt.NDArray[np.float64]:
    """Return the relative precision of the types in which the columns of a table come."""
    if not is_frame(X):
        return np.full(X.shape[1], precision_of_type(X.dtype))
    types = list(X.dtypes)
    known = {dtype: precision_of_type(dtype) for dtype in set(types)}
    return np.array([known[dtype] for dtype in types])


def precision_of_type(dtype: Any) -> float:
    """Return the relative precision of a type; that of float64 if it is converted to that."""
    double = float(np.finfo(np.float64).eps)
    # Types of pandas know that of NumPy; those of polars have names such as "Float32".
    dtype = getattr(dtype, "numpy_dtype", getattr(dtype, "subtype", dtype))
    try:
        own = dtype if isinstance(dtype, np.dtype) else np.dtype(str(dtype).lower())
    except (TypeError, ValueError):  # NumPy does not know it
        return double
    return max(double, float(np.finfo(own).eps)) if own.kind == "f" else double


def real_numbers(values: Any, what: str) -> npt.NDArray[np.float64]:
    """Convert real numbers to an array; raise for text, dates and the like."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "biuf" or (array.dtype.kind == "O" and are_numbers(array.flat)):
            return np.asarray(array, dtype=np.float64)
    except OverflowError:
        raise too_large(what) from None
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{what} must be real numbers, got {shown(repr(values))}.")


def too_large(what: str) -> ValueError:
    return ValueError(f"{what} contains a whole number too large for float64.")


def check_in_memory(X: Any) -> None:
    if is_dask(X):
        raise TypeError(
            "X is a dask collection, which is not loaded into memory unasked: fit, transform, "
            "inverse_transform and predict accept it as it is; for anything else call its "
            "compute() first, if it fits into memory."
        )
    if type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame, which holds no data yet; call its collect() first.")


def check_table(X: Any) -> Any:
    """Raise unless X has rows and columns, in memory; return lists and the like as an array."""
    check_in_memory(X)
    if sparse.issparse(X):
        raise TypeError("X is sparse, and must be dense: pass X.toarray(), if memory is enough.")
    if isinstance(X, list | tuple) or (hasattr(X, "__array__") and not hasattr(X, "shape")):
        try:
            X = np.asarray(X)
        except ValueError:
            raise ValueError("The rows of X have different numbers of columns.") from None
    shape = getattr(X, "shape", ())
    if not shape:
        raise ValueError(f"{TABLE}, not {shown(repr(X))}.")
    if len(shape) == 1:
        remedy = "X.to_frame() is one feature"
        if isinstance(X, np.ndarray):
            remedy = "X.reshape(-1, 1) is one feature, X.reshape(1, -1) one sample"
        raise ValueError(f"{TABLE}, and has one dimension. Reshape your data: {remedy}.")
    if len(shape) > 2:
        raise ValueError(f"{TABLE}, and has {len(shape)} dimensions, {_times(shape)}.")
    return X


def _times(shape: Iterable[int]) -> str:
    return " × ".join(map(str, shape))


def as_table(X: Any, min_samples: int = 1, estimator: str = "") -> npt.NDArray[Any]:
    """Convert a table that :func:`check_container` has passed to an array of floats."""
    n_samples, width = X.shape
    if width == 0:
        raise ValueError(
            f"X has no columns: 0 feature(s) (shape=({n_samples}, 0)) while a minimum of 1 is "
            "required."
        )
    if n_samples < min_samples:
        raise too_few_samples(n_samples, min_samples, estimator)
    # scikit-learn does not see the types of polars, and would make float64 of all of them.
    single = is_frame(X) and all(str(dtype) == "Float32" for dtype in X.dtypes)
    dtype = np.float32 if single else FLOATS
    try:
        return np.asarray(check_array(X, dtype=dtype, ensure_all_finite=False, input_name="X"))
    except OverflowError:
        raise too_large("X") from None


def too_few_samples(n_samples: int, least: int, estimator: str) -> ValueError:
    by = f" by {estimator}" if estimator else ""
    return ValueError(f"X has {n_samples} sample(s), while a minimum of {least} is required{by}.")


def check_length(found: int, expected: int, what: str) -> None:
    """Raise unless there are as many targets or weights as rows of X."""
    if found != expected:
        raise ValueError(
            f"X and {what} have inconsistent numbers of samples: {expected} and {found}."
        )


def check_container(X: Any, missing: str = "error") -> Any:
    """Raise for what conversion to an array would lose, or report without naming the column.

    Returns X, lists as an array, with NaN where it is masked if values may be missing.
    """
    X = check_table(X)
    if np.ma.is_masked(X):
        if missing == "pairwise":
            return np.ma.filled(X.astype(float_type([X.dtype])), np.nan)
        column = int(np.flatnonzero(np.ma.getmaskarray(X).any(axis=0))[0])
        raise ValueError(
            f"Input X has masked values in {describe_columns(None, [column])}. {IF_MISSING}"
        )
    if is_frame(X):
        names, dtypes = list(X.columns), list(X.dtypes)
        check_named(names)
        numeric = [_is_numeric(X, i, dtype) for i, dtype in enumerate(dtypes)]
        check_numeric(names, dtypes, numeric)
    elif isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X is of type {X.dtype}.")
    elif isinstance(X, np.ndarray) and X.dtype.kind not in "fiub":
        _check_objects(X)
    return X


def check_named(names: list[Any]) -> None:
    """Raise for a frame without columns, with repeated names, or with names of mixed types."""
    if not names:
        raise ValueError("X has no columns: 0 feature(s), while a minimum of 1 is required.")
    check_unique(names)
    types = sorted({type(name).__name__ for name in names})
    if len(types) > 1 and any(isinstance(name, str) for name in names):
        raise TypeError(
            f"Column names must be all strings or all of another type, got {types}. Convert them, "
            "as with X.columns = X.columns.astype(str)."
        )


def check_unique(names: list[Any], what: str = "Column names", where: str = "X") -> None:
    repeated = [f"{name!r} ({times} times)" for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise ValueError(f"{what} must be unique, but {where} repeats {', '.join(repeated[:10])}.")


def check_numeric(names: list[Any], dtypes: list[Any], numeric: list[bool]) -> None:
    wrong = [i for i, dtype in enumerate(dtypes) if getattr(dtype, "kind", "") == "c"]
    if wrong:
        raise ValueError(f"Complex data not supported: {describe_columns(names, wrong)} of X.")
    wrong = [i for i, good in enumerate(numeric) if not good]
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
        return are_numbers(frame.iloc[:, index])
    pandas = sys.modules.get("pandas")
    return pandas is None or bool(pandas.api.types.is_numeric_dtype(dtype))


def are_numbers(values: Iterable[Any]) -> bool:
    """Whether Python objects are real numbers or missing."""
    # Text that reads as a number is text: converting it silently would hide a broken column.
    return all(value is None or isinstance(value, numbers.Real | Decimal) for value in values)


def _check_objects(X: npt.NDArray[Any]) -> None:
    if X.dtype.kind != "O":
        raise ValueError(f"Features must be numeric, but X is of type {X.dtype}.")
    for index, column in enumerate(X.T):
        if any(isinstance(value, str | bytes) for value in column):
            raise ValueError(
                f"Features must be numeric, but {describe_columns(None, [index])} contains text."
            )
        for value in column:
            if isinstance(value, numbers.Number) and not are_numbers([value]):
                raise ValueError(
                    f"Complex data not supported: {describe_columns(None, [index])} contains "
                    f"{value}."
                )


def not_finite_target(value: float, rows: Sequence[int], target: str = "") -> ValueError:
    """Return the error for a target, one of several if it is named."""
    where = f" in {target}" if target else ""
    if np.isnan(value):
        return missing_target(rows, where)
    return ValueError(f"Input y contains infinity{where} ({rows_listed(rows)}).")


def missing_target(rows: Sequence[int], where: str = "") -> ValueError:
    """Return the error for numbers or labels that are missing, whatever stands for them."""
    return ValueError(f"Input y contains NaN{where}: values are missing ({rows_listed(rows)}).")


def rows_listed(rows: Sequence[int]) -> str:
    """List the first of some rows."""
    shown = [str(row) for row in rows[:_LISTED_ROWS]]
    *others, last = shown if len(rows) == len(shown) else [*shown, f"{len(rows) - len(shown)} more"]
    return f"rows {', '.join(others)} and {last}" if others else f"row {last}"


def not_finite_feature(value: float, column: str, row: int) -> ValueError:
    if np.isnan(value):
        what, remedy = "NaN", IF_MISSING
    else:
        what, remedy = "infinity", "Replace infinite values first."
    return ValueError(f"Input X contains {what} in {column} (row {row}). {remedy}")


def first_not_finite(X: npt.NDArray[Any], missing: str = "error") -> tuple[int, int] | None:
    """Return row and column of a value that is NaN or infinite, the first of its column.

    NaN does not count where values may be missing.
    """
    step = max(1, _BLOCK_BYTES // max(1, X.shape[1] * X.itemsize))
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        finite = ~np.isinf(block) if missing == "pairwise" else np.isfinite(block)
        if not finite.all():
            column = int(np.flatnonzero(~finite.all(axis=0))[0])
            return start + int(np.flatnonzero(~finite[:, column])[0]), column
    return None


def check_finite(X: npt.NDArray[Any], names: Names | None, missing: str = "error") -> None:
    place = first_not_finite(X, missing)
    if place is not None:
        row, column = place
        raise not_finite_feature(X[place], describe_columns(names, [column]), row)


def check_no_overflow(
    values: npt.NDArray[Any], names: Callable[[], Any], missing: str = "error"
) -> None:
    """Raise if numbers that were computed from finite ones are not finite."""
    place = first_not_finite(values, missing)
    if place is None:
        return
    row, column = place
    wider = " Convert X to float64." if values.dtype == np.float32 else ""
    raise ValueError(
        f"In row {row} {names()[column]!r} overflows {values.dtype}: X holds values there that are "
        f"far outside the range of the fit.{wider}"
    )


def check_weights(sample_weight: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Check the weights of samples; None where each counts once."""
    if sample_weight is None:
        return None
    if np.ma.is_masked(sample_weight):
        raise ValueError("sample_weight has masked values: give such rows the weight 0.")
    weights = real_numbers(sample_weight, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have one weight per sample, shape ({n_rows},), "
            f"got {weights.shape}."
        )
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise bad_weight(weights[wrong[0]], int(wrong[0]))
    with np.errstate(over="ignore"):
        _check_finite_total(weights.sum())
    return None if (weights == 1).all() else weights


def bad_weight(value: float, row: int) -> ValueError:
    return ValueError(
        f"sample_weight must be finite and not negative, but is {value} in row {row}."
    )


def _check_finite_total(total: float) -> None:
    if not np.isfinite(total):
        raise ValueError("sample_weight adds up to more than float64 can hold.")


def check_total_weight(total: float) -> None:
    _check_finite_total(total)
    if total == 0:
        raise ValueError("All of sample_weight is zero: no sample counts.")
    if total < ENOUGH_SAMPLES:
        raise ValueError(
            f"sample_weight counts samples, and adds up to {total:g} of them; a minimum of "
            f"{MIN_SAMPLES} is required. If only the ratios of the weights matter, "
            "multiply them by len(y) / sum(sample_weight)."
        )


def check_reduced(X: Any, reduced_names: Names, missing: str = "error") -> npt.NDArray[Any]:
    """Check reduced features: one column per group, with the names of the groups if named."""
    X = check_container(X, missing)
    names = column_names(X)
    check_reduced_columns(names, None, reduced_names)
    values = as_table(X)
    check_reduced_columns(None, values.shape[1], reduced_names)
    check_finite(values, names, missing)
    return values


def check_reduced_columns(names: Names | None, width: int | None, reduced_names: Names) -> None:
    """Check names and number of the columns of reduced features, as far as they are known."""
    expected = list(reduced_names)
    known = set(expected)
    if names is not None and list(names) != list(range(len(names))):
        given = [str(name) for name in names]
        for name in given:
            if name not in known:
                hint = did_you_mean(name, expected)
                raise ValueError(
                    f"Column {name!r} is not a reduced feature of this model{hint or '.'}"
                )
        found = set(given)
        for name in expected:
            if name not in found:
                raise ValueError(f"X lacks the reduced feature {name!r}.")
        if given != expected:
            raise ValueError("The reduced features are not in the order of the fit.")
    if width is not None and width != len(expected):
        raise ValueError(f"X has {width} columns, but there are {len(expected)} reduced features.")


def stack_level() -> int:
    """Return the ``stacklevel`` at which a warning of the calling function points at the user."""
    package = __name__.split(".")[0]
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == package:
        level, frame = level + 1, frame.f_back
    return level + 1


def check_any_varies(varying: npt.NDArray[np.bool_]) -> None:
    if not varying.any():
        raise ValueError(
            "Every column of X is constant, up to the rounding of its type: there is nothing to "
            "reduce."
        )


class ConstantFeaturesWarning(UserWarning):
    """Some features are constant and belong to no group."""


def warn_of_constant(varying: npt.NDArray[np.bool_], names: Names | None) -> None:
    constant = np.flatnonzero(~varying)
    if constant.size:
        warnings.warn(
            "LinCFA leaves out constant features, which belong to no group (they vary by no more "
            f"than the rounding of their type): {describe_columns(names, constant.tolist())}.",
            ConstantFeaturesWarning,
            stacklevel=stack_level(),
        )


class ManyGroupsWarning(UserWarning):
    """There are more than half as many groups as samples."""


def are_many(n_groups: int, n_samples: float) -> bool:
    """Whether a regression on so many reduced features mostly fits the noise."""
    return 2 * n_groups > n_samples


def warn_of_many(n_groups: int, n_samples: float) -> None:
    if are_many(n_groups, n_samples):
        warnings.warn(
            f"LinCFA left {n_groups} groups for {n_samples:g} samples: a regression on so many "
            "reduced features fits the noise too. LinCFACV() in place of LinCFA() chooses "
            "how much to merge and a ridge penalty by cross-validation; a larger tolerance, or "
            "n_groups, merges more.",
            ManyGroupsWarning,
            stacklevel=stack_level(),
        )
