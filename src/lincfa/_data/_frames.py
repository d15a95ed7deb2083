"""Data frames: some of their columns, and frames made for the user."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt


def take_columns_of(X: Any, positions: list[int]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, positions]
    return X[:, positions] if hasattr(X, "shape") else np.asarray(X)[:, positions]


def columns_of_records(
    records: npt.NDArray[np.void], targets: list[str]
) -> dict[str, npt.NDArray[Any]]:
    """Columns of records; where a field has a number for each target, one ``f[target]`` each."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for name in records.dtype.names or ():
        if records[name].ndim == 1:
            columns[name] = records[name]
        else:
            each = zip(targets, records[name].T, strict=True)
            columns |= {f"{name}[{target}]": values for target, values in each}
    return columns


def frame_of(columns: dict[str, Any], library: str) -> Any:
    if library not in ("pandas", "polars"):
        raise ValueError(f"library must be 'pandas' or 'polars', got {library!r}")
    try:
        module = import_module(library)
    except ImportError as error:
        raise ImportError(
            f"A {library} data frame needs {library}: pip install 'lincfa[tables]'"
        ) from error
    with naming_text():
        return module.DataFrame(columns)


@contextmanager
def naming_text() -> Iterator[None]:
    """Say which text a data frame cannot hold, such as a name with a lone surrogate."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise ValueError(
            f"A data frame cannot hold {error.object!r}, which is not valid Unicode; rename it."
        ) from None
