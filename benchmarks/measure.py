"""Time and memory of a function call."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    """Best time of several repetitions, peak extra memory, and the result."""

    seconds: float
    extra_bytes: int | None
    result: Any


def seconds(work: Callable[[], Any], repeat: int) -> float:
    """Return the best wall time."""
    return _repeat(work, repeat)[0]


def _repeat(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    best, result = float("inf"), None
    for _ in range(repeat):
        result = None
        gc.collect()
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def extra_bytes(work: Callable[[], Any]) -> int:
    """Return the peak of newly allocated memory, in a separate run because tracing is slow."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = work()
        _, peak = tracemalloc.get_traced_memory()
        del result
    finally:
        tracemalloc.stop()
    return max(0, peak - before)


def cost(work: Callable[[], Any], repeat: int, *, memory: bool = True) -> Cost:
    """Measure time, then memory."""
    extra = extra_bytes(work) if memory else None
    best, result = _repeat(work, repeat)
    return Cost(best, extra, result)


def resident_peak(work: Callable[[], Any]) -> int | None:
    """Return the growth of peak resident memory on Linux; elsewhere None."""
    if not forget_peak():
        return None
    before = status("VmRSS")
    result = work()
    after = status("VmHWM")
    del result
    return max(0, after - before)


def forget_peak(process: int | str = "self") -> bool:
    """Reset the peak resident memory of a process; return False if that is not possible."""
    try:
        with open(f"/proc/{process}/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def status(name: str, process: int | str = "self") -> int:
    """Return bytes from /proc: VmRSS, resident memory now, or VmHWM, its peak."""
    with open(f"/proc/{process}/status") as file:
        line = next(line for line in file if line.startswith(name + ":"))
    return int(line.split()[1]) * 1024
