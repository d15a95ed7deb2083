"""Loops that Numba compiles, where it is installed: ``pip install "lincfa[fast]"``.

They are in modules named ``_loops``, imported only where :func:`worth_compiling` says so, and give
what the same functions in NumPy give, up to the order of summation. ``NUMBA_DISABLE_JIT=1`` in the
environment turns them off.
"""

import os
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])

_REORDERED = {"reassoc", "contract", "nsz"}
"""Sums may be added up in any order, which they have to be for vector instructions; values that are
not finite stay what they are."""

_WORTH_COMPILING = 2**22
"""Values from which on Numba is loaded, which takes half a second, once in a process."""


def worth_compiling(values: int) -> bool:
    """Whether loops over so many values are to be compiled."""
    return values >= _WORTH_COMPILING and _is_usable()


@cache
def _is_usable() -> bool:
    if os.environ.get("NUMBA_DISABLE_JIT", "0") != "0":
        return False
    try:
        import numba  # noqa: F401
    except ImportError:  # also of a version for another NumPy
        return False
    return True


def compiled(function: Function) -> Function:
    """Compile a loop on its first call for each type of its arguments; keep it on disk."""
    from numba import njit

    options: dict[str, Any] = {"nogil": True, "fastmath": _REORDERED}
    try:
        return cast(Function, njit(cache=True, **options)(function))
    except RuntimeError:  # where no folder can be written
        return cast(Function, njit(**options)(function))
