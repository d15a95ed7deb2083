"""Loops that are fast: in threads, as many as numerical libraries take, or compiled by Numba.

Compiled loops are in modules named ``_loops``, imported only where :func:`worth_compiling` says so.
They give what the same functions in NumPy give, up to the order of summation. Numba is optional,
``pip install "lincfa[fast]"``; ``NUMBA_DISABLE_JIT=1`` in the environment turns it off.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from threading import Lock, local
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

Function = TypeVar("Function", bound=Callable[..., Any])

# Threads

_WORTH_THREADS = 2**20
"""Values from which on several threads are faster than one."""


def split_evenly(weights: npt.NDArray[Any], work: int) -> list[slice]:
    """Cut a sequence into one range per thread, of about the same weight."""
    if weights.size == 0:
        return []
    threads = _available_threads() if work >= _WORTH_THREADS else 1
    done = np.cumsum(weights)
    inner = np.searchsorted(done, done[-1] * np.arange(1, threads) / threads)
    bounds = np.unique([0, *inner.tolist(), weights.size])
    return [slice(int(a), int(b)) for a, b in pairwise(bounds)]


def in_threads(function: Callable[[slice], None], parts: Sequence[slice]) -> None:
    """Call a function with each part, each in a thread, in which BLAS starts no others."""
    # An error of the first part hides those of others.

    def quietly(part: slice) -> None:
        # Values that are not finite are found in the result; each thread has its own settings.
        with np.errstate(over="ignore", invalid="ignore"):
            function(part)

    def call(part: slice) -> None:
        _this_thread.is_busy = True
        try:
            quietly(part)
        finally:
            _this_thread.is_busy = False

    with _one_blas_thread:
        if len(parts) < 2 or getattr(_this_thread, "is_busy", False):
            for part in parts:
                quietly(part)
            return
        others = [_waiting_threads().submit(call, part) for part in parts[1:]]
        try:
            call(parts[0])
        finally:
            wait(others)
        for other in others:
            other.result()


_this_thread = local()
"""Has ``is_busy`` where a thread does a part of some work, which it does not divide further."""


@cache
def _waiting_threads() -> ThreadPoolExecutor:
    # Kept: it can take milliseconds until a new thread runs.
    return ThreadPoolExecutor(thread_name_prefix="lincfa")


class _OneBlasThread:
    """While entered, products of matrices stay in the thread that asks for them.

    Threads of BLAS beside our own would fight for the same cores, also when they are done: they
    wait for more work by turning round and round, for some ten milliseconds. The setting is that of
    the process: the first to enter limits it, the last to leave restores it.
    """

    def __init__(self) -> None:
        self._lock, self._inside = Lock(), 0
        self._controller: ThreadpoolController | None = None  # asks which libraries are loaded

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._controller = self._controller or ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


_one_blas_thread = _OneBlasThread()


def _start_anew() -> None:
    """Forget the threads of a parent process, and what they were doing when it was forked."""
    global _one_blas_thread
    _waiting_threads.cache_clear()
    _one_blas_thread = _OneBlasThread()
    _this_thread.is_busy = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


def _available_threads() -> int:
    """As many as OMP_NUM_THREADS says, or the cores given to the process."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


# Compiled loops

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
    # What is kept is made anew where the module of the loop has changed; who changes a constant
    # that it imports removes __pycache__.
    from numba import njit

    options: dict[str, Any] = {"nogil": True, "fastmath": _REORDERED}
    try:
        return cast(Function, njit(cache=True, **options)(function))
    except RuntimeError:  # where no folder can be written
        return cast(Function, njit(**options)(function))
