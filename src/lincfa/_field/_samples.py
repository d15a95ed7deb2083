"""Along which dimension the samples of a field are, and whether others are the same."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from .._cells import texts
from .._input import is_dask
from ._compare import differing
from ._describe import is_dataset, is_field, listed_dims


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
    _refuse_dataset(y, "the target y")
    if is_field(y) and y.ndim == 1 and y.dims[0] in X.dims:
        dim: Hashable = y.dims[0]
        return dim
    length = _length(y)
    fitting: list[Hashable] = [name for name, size in X.sizes.items() if size == length]
    if len(fitting) != 1:
        found = "" if length is None else f"; the target has {length} samples"
        raise ValueError(
            "Along which dimension are the samples? Give sample_dim, the name of one of the "
            f"dimensions of the field, which are: {listed_dims(X)}{found}."
        )
    return fitting[0]


def _length(y: Any) -> int | None:
    """Give the number of samples of a target, if it is known."""
    shape = getattr(y, "shape", None) if is_dask(y) else np.shape(y)
    return shape[0] if shape and isinstance(shape[0], int) else None


def sample_labels(X: Any, sample_dim: Hashable) -> list[str]:
    """Name the samples of a field, by their coordinate if they have one."""
    size = X.sizes[sample_dim]
    known = texts(X.coords[sample_dim].values) if sample_dim in X.coords else range(size)
    return [f"{sample_dim}={value}" for value in known]


def along_samples(values: Any, X: Any, sample_dim: Hashable, what: str, *, lazy: bool) -> Any:
    """Give a target or weights that may be of xarray as an array, of the samples of a field.

    What is of dask is computed, unless it may be lazy.

    Raises
    ------
    ValueError
        Where they are of other samples, or in another order.
    """
    if not is_field(values):
        return values
    _refuse_dataset(values, what)
    if values.dims != (sample_dim,):
        raise ValueError(
            f"{_start(what)} must be along {sample_dim!r}, as the samples of the field are, and "
            f"along nothing else; its dimensions are: {listed_dims(values)}."
        )
    n = X.sizes[sample_dim]
    if values.sizes[sample_dim] != n:
        raise ValueError(
            f"The field has {n} samples along {sample_dim!r}, and {what} has "
            f"{values.sizes[sample_dim]}."
        )
    if sample_dim in X.coords and sample_dim in values.coords:
        ours, theirs = sample_labels(X, sample_dim), sample_labels(values, sample_dim)
        apart = differing(X.coords[sample_dim].values, values.coords[sample_dim].values)
        if apart.any():
            row = int(np.flatnonzero(apart)[0])
            raise ValueError(
                f"{_start(what)} is not of the samples of the field, or in another order: sample "
                f"{row} is {ours[row]} in the field and {theirs[row]} in {what}. Select the same "
                "samples first, as xarray.align does."
            )
    return values.data if lazy else values.values


def _refuse_dataset(values: Any, what: str) -> None:
    if is_field(values) and is_dataset(values):
        raise ValueError(f"{_start(what)} is a Dataset: give one of its variables.")


def _start(what: str) -> str:
    """Begin a sentence."""
    return what if what == "sample_weight" else what[0].upper() + what[1:]
