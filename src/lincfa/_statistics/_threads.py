"""Work that is divided among threads: as many as numerical libraries take."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

_WORTH_THREADS = 2**20
"""Values from which on several threads are faster than one."""


def split_evenly(weights: npt.NDArray[Any], work: int) -> list[slice]:
    """Cut a sequence into one range per thread, of about the same weight."""
    threads = _available_threads() if work >= _WORTH_THREADS else 1
    done = np.cumsum(weights)
    inner = np.searchsorted(done, done[-1] * np.arange(1, threads) / threads)
    bounds = np.unique([0, *inner.tolist(), weights.size])
    return [slice(int(a), int(b)) for a, b in pairwise(bounds)]


def in_threads(function: Callable[[slice], None], parts: Sequence[slice]) -> None:
    """Call a function with each part, each in a thread."""
    # Values that are not finite are found in the result; each thread has its own settings.
    quietly = np.errstate(over="ignore", invalid="ignore")(function)
    if len(parts) == 1:
        quietly(parts[0])
        return
    with ThreadPoolExecutor(len(parts)) as executor:
        list(executor.map(quietly, parts))


def _available_threads() -> int:
    """As many as OMP_NUM_THREADS says, or the cores given to the process."""
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1
