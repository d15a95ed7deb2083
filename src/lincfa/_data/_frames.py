"""Data frames: some of their columns, and frames made for the user."""

from importlib import import_module
from typing import Any

import numpy as np


def take_columns_of(X: Any, positions: list[int]) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[:, positions]
    return X[:, positions] if hasattr(X, "shape") else np.asarray(X)[:, positions]


def frame_of(columns: dict[str, Any], library: str) -> Any:
    if library not in ("pandas", "polars"):
        raise ValueError(f"library must be 'pandas' or 'polars', got {library!r}")
    try:
        module = import_module(library)
    except ImportError as error:
        raise ImportError(
            f"A {library} data frame needs {library}: pip install 'lincfa[tables]'"
        ) from error
    return module.DataFrame(columns)
