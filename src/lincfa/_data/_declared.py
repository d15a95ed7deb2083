"""What dask collections declare of their blocks and partitions, checked when these are computed."""

from collections.abc import Sequence
from functools import partial
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from ._checks import float_type, is_frame

REMEDY = (
    "correct what was declared where the collection was made (chunks, dtype or meta, as of "
    "map_blocks, from_delayed or map_partitions), or the function that makes its parts, "
    "or persist() what changes from one reading to the next."
)


def as_declared(array: Any, what: str, axes: Sequence[Any] = ("rows", "columns")) -> Any:
    """Return a dask array whose blocks are checked as they are computed; masked values become NaN.

    A shape of which nothing is declared is left unchecked.
    """
    meta = array._meta
    if isinstance(meta, np.ma.MaskedArray) and meta.dtype.kind in "biuf":
        meta = np.empty((0,) * array.ndim, float_type([array.dtype]))
    check = partial(_checked_block, what=what, axes=axes, dtype=array.dtype)
    return array.map_blocks(check, dtype=meta.dtype, meta=meta)


def named_block(
    what: str,
    index: Sequence[int],
    bounds: Sequence[tuple[Any, Any]],
    axes: Sequence[Any] = ("rows", "columns"),
) -> str:
    """Say which block: its index, and from where to where it reaches, as far as that is known."""
    number = f"({', '.join(map(str, index))})" if len(index) > 1 else str(index[0])
    where = [
        f"{axis} {start} to {stop - 1}"
        for axis, (start, stop) in zip(axes, bounds, strict=False)
        if stop > start  # neither empty nor NaN
    ]
    return f"Block {number} of {what}" + (f" ({', '.join(where)})" if where else "")


def _checked_block(
    block: Any, what: str, axes: Sequence[Any], dtype: Any, block_info: Any = None
) -> npt.NDArray[Any]:
    info = block_info[None]
    shape = info["chunk-shape"]

    def error(came: str, declared: str) -> ValueError:
        name = named_block(what, info["chunk-location"], info["array-location"], axes)
        return _not_declared(name, came, declared)

    if not isinstance(block, np.ndarray):
        raise error(f"type {type(block).__name__}", "blocks that are NumPy arrays")
    if block.ndim != len(shape) or any(
        size != known and not isnan(known) for size, known in zip(block.shape, shape, strict=True)
    ):
        raise error(f"shape {block.shape}", f"shape {_shape_text(shape)}")
    if isinstance(block, np.ma.MaskedArray) and block.dtype.kind in "biuf":
        block = np.ma.filled(block.astype(float_type([block.dtype])), np.nan)
    if not _holds(dtype, block.dtype):
        raise error(f"type {block.dtype}", f"{dtype}, which cannot hold its values")
    return np.asarray(block)


def _holds(declared: Any, came: Any) -> bool:
    """Whether values of a type convert unchanged to the one in which another is computed with."""
    if came == declared or (came.kind == declared.kind not in "biuf"):  # text of another length
        return True
    numeric = isinstance(came, np.dtype) and came.kind in "biuf"
    return numeric and bool(np.can_cast(came, float_type([declared]), "safe"))


def _shape_text(shape: Sequence[float]) -> str:
    sizes = ["any" if isnan(size) else str(int(size)) for size in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def partition_values(
    part: Any, dtype: Any, meta: Any, what: str = "X", place: tuple[int, int] | None = None
) -> npt.NDArray[Any]:
    """Return the numbers of a partition, which must have the columns and types of ``meta``.

    ``place`` are its index and its number of rows, where these are known.
    """

    def error(came: str, declared: str) -> ValueError:
        name = f"A partition of {what}" if place is None else f"Partition {place[0]} of {what}"
        return _not_declared(name, came, declared)

    if type(part) is not type(meta):
        raise error(f"type {type(part).__name__}", f"partitions of type {type(meta).__name__}")
    if place is not None and len(part) != place[1]:
        raise error(f"{len(part)} rows", f"{place[1]}, or had so many when they were counted")
    came, declared = (_types_by_column(each) for each in (part, meta))
    if len(came) != len(declared):
        raise error(f"{len(came)} columns", str(len(declared)))
    for number, ((name, own), (known_name, known)) in enumerate(zip(came, declared, strict=True)):
        if name != known_name:
            raise error(f"{name!r} as column {number}", repr(known_name))
        if own != known and not _holds(dtype, numpy_type(own)):
            raise error(f"type {own} in column {name!r}", f"{known}, which cannot hold its values")
    return np.asarray(part.to_numpy(dtype=dtype, na_value=np.nan))


def numpy_type(dtype: Any) -> Any:
    """The NumPy type of a column; pandas has types of its own, which know it."""
    return getattr(dtype, "numpy_dtype", dtype)


def _types_by_column(part: Any) -> list[tuple[Any, Any]]:
    if is_frame(part):
        return list(zip(part.columns, part.dtypes, strict=True))
    return [(part.name, part.dtype)]


def _not_declared(name: str, came: str, declared: str) -> ValueError:
    return ValueError(f"{name} came with {came}, but was declared with {declared}: {REMEDY}")
