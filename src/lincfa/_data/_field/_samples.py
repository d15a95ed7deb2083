"""Along which dimension the samples of a field are, and whether others are the same."""

import sys
from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._cells import texts
from .._input import is_dask
from ._compare import differing
from ._describe import is_dataset, is_field, listed_dims

_TARGET = "the target y"


def sample_dimension(X: Any, sample_dim: Hashable | None, y: Any) -> Hashable:
    """Find the dimension of the samples: as given, or where the target leaves no doubt.

    Raises
    ------
    ValueError
        Where it is none of the field, or there is a doubt.
    """
    if sample_dim is not None:
        if sample_dim not in X.dims:
            raise ValueError(
                f"The field has no dimension {sample_dim!r}; its dimensions are: {listed_dims(X)}."
            )
        return sample_dim
    _refuse_other_kinds(y, X, _TARGET)
    if is_field(y):
        if y.ndim != 1:
            raise ValueError(
                "The target y must be along one dimension, that of the samples of the field; its "
                f"dimensions are: {listed_dims(y)}."
            )
        if y.dims[0] in X.dims:
            dim: Hashable = y.dims[0]
            return dim
    return _guess(X, _length(y))


def _guess(X: Any, length: int | None) -> Hashable:
    """Find the only dimension that is as long as the target."""
    fitting: list[Hashable] = [name for name, size in X.sizes.items() if size == length]
    if length is not None and not fitting:
        raise ValueError(
            f"No dimension of the field is as long as the target, {length}: {listed_dims(X)}. "
            "Select the same samples of both first."
        )
    dated = [name for name in X.dims if _has_dates(X, name)]
    if len(fitting) == 1 and (not dated or fitting[0] in dated):
        return fitting[0]
    found = "" if length is None else f"; the target has {length} samples"
    if len(fitting) == 1:
        found += f", as many as {fitting[0]!r}, but the dates are along {dated[0]!r}"
    raise ValueError(
        "Along which dimension are the samples? Give sample_dim, the name of one of the "
        f"dimensions of the field, which are: {listed_dims(X)}{found}."
    )


def _has_dates(X: Any, dim: Hashable) -> bool:
    """Whether the coordinate of a dimension is dates, also those of other calendars."""
    if dim not in X.coords:
        return False
    coordinate = X.coords[dim]
    if coordinate.dtype.kind != "O" or not coordinate.size:
        return bool(coordinate.dtype.kind == "M")
    return hasattr(coordinate.values[0], "timetuple")


def _length(y: Any) -> int | None:
    """Give the number of samples of a target, if it is known."""
    shape = getattr(y, "shape", None) if is_dask(y) else np.shape(y)
    return shape[0] if shape and isinstance(shape[0], int) else None


def sample_labels(X: Any, sample_dim: Hashable) -> list[str]:
    """Name the samples of a field, by their coordinate if they have one."""
    if sample_dim in X.coords:
        return _labels(sample_dim, X.coords[sample_dim].values)
    return [f"{sample_dim}={value}" for value in range(X.sizes[sample_dim])]


def _labels(sample_dim: Hashable, values: npt.NDArray[Any]) -> list[str]:
    return [f"{sample_dim}={value}" for value in texts(values)]


def refuse_own_variable(y: Any, X: Any) -> None:
    """Refuse a target that is one of the variables of a Dataset, which would be a feature, too.

    Of dask, nothing is computed: two arrays are the same if their graphs have the same name.

    Raises
    ------
    ValueError
        Where the target has the name and the values of a variable.
    """
    if not is_dataset(X) or not (is_field(y) or _is_pandas(y, "Series")):
        return
    # The name of a Series may be a tuple, for which a Dataset has no variable.
    own = dict(X.data_vars).get(y.name)
    if own is None or own.ndim != 1 or own.shape != y.shape:
        return
    ours, theirs = own.variable.data, y.data if is_field(y) else y.to_numpy()
    if is_dask(ours) or is_dask(theirs):
        same = is_dask(ours) and is_dask(theirs) and ours.name == theirs.name
    else:
        same = not differing(np.asarray(ours), np.asarray(theirs)).any()
    if same:
        raise ValueError(
            f"The target y is the variable {y.name!r} of X: leave it out of X, as with "
            f"X.drop_vars({y.name!r})."
        )


def along_samples(values: Any, X: Any, sample_dim: Hashable, what: str, *, lazy: bool) -> Any:
    """Give a target or weights that may be of xarray as an array, of the samples of a field.

    What is of dask is computed, unless it may be lazy. What is of pandas is returned as it is; its
    index is compared with the samples where both are dates.

    Raises
    ------
    ValueError
        Where they are of other samples, or in another order.
    """
    _refuse_other_kinds(values, X, what)
    if not is_field(values):
        _check_index(values, X, sample_dim, what)
        return values
    if values.dims != (sample_dim,):
        raise ValueError(
            f"{_start(what)} must be along {sample_dim!r}, as the samples of the field are, and "
            f"along nothing else; its dimensions are: {listed_dims(values)}."
        )
    _check_count(values.sizes[sample_dim], X, sample_dim, what)
    if sample_dim in X.coords and sample_dim in values.coords:
        theirs = values.coords[sample_dim].values
        _check_samples(theirs, X, sample_dim, what, "as xarray.align does")
    return values.data if lazy else values.values


def _check_index(values: Any, X: Any, sample_dim: Hashable, what: str) -> None:
    """Refuse what is of pandas and of other dates; those of a time zone are not compared."""
    if not _is_pandas(values, "Series", "DataFrame") or sample_dim not in X.coords:
        return
    dtypes = (X.coords[sample_dim].dtype, values.index.dtype)
    if all(isinstance(dtype, np.dtype) and dtype.kind == "M" for dtype in dtypes):
        _check_count(len(values), X, sample_dim, what)
        remedy = "as reindex does, or give to_numpy() of it if only its dates are others"
        _check_samples(values.index.to_numpy(), X, sample_dim, what, remedy)


def _check_count(count: int, X: Any, sample_dim: Hashable, what: str) -> None:
    n = X.sizes[sample_dim]
    if count != n:
        raise ValueError(f"The field has {n} samples along {sample_dim!r}, and {what} has {count}.")


def _check_samples(
    theirs: npt.NDArray[Any], X: Any, sample_dim: Hashable, what: str, remedy: str
) -> None:
    ours = X.coords[sample_dim].values
    apart = differing(ours, theirs)
    if apart.any():
        row = int(np.flatnonzero(apart)[0])
        here, there = (_labels(sample_dim, side)[row] for side in (ours, theirs))
        raise ValueError(
            f"{_start(what)} is not of the samples of the field, or in another order: sample "
            f"{row} is {here} in the field and {there} in {what}. Select the same samples first, "
            f"{remedy}."
        )


def _refuse_other_kinds(values: Any, X: Any, what: str) -> None:
    """Refuse a Dataset, and the name of a variable in place of its values."""
    if is_field(values) and is_dataset(values):
        raise ValueError(f"{_start(what)} is a Dataset: give one of its variables.")
    if isinstance(values, str):
        remedy = "give its values"
        if values in X.coords:
            remedy = f"give the variable, X[{values!r}]"
        elif is_dataset(X) and values in X:
            remedy = f"give the variable, X[{values!r}], and leave it out of X, as with "
            remedy += f"X.drop_vars({values!r})"
        raise ValueError(f"{_start(what)} is a text, {values!r}: {remedy}.")


def _is_pandas(values: Any, *kinds: str) -> bool:
    """Whether something is a Series or the like; without pandas nothing is."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, tuple(getattr(pandas, k) for k in kinds))


def _start(what: str) -> str:
    """Begin a sentence."""
    return what if what == "sample_weight" else what[0].upper() + what[1:]
