"""Time, memory and error of one piece of work."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Cost:
    """The best time of some repetitions, the peak of memory beyond what was there, the result."""

    seconds: float
    extra_bytes: int | None
    result: Any


def seconds(work: Callable[[], Any], repeat: int) -> float:
    """Best wall time."""
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
    """Peak of newly allocated memory, in a run of its own because tracing takes time."""
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
    """Growth of the peak of resident memory, where the system (Linux) can tell; else None."""
    if not forget_peak():
        return None
    before = status("VmRSS")
    result = work()
    after = status("VmHWM")
    del result
    return max(0, after - before)


def forget_peak(process: int | str = "self") -> bool:
    """Let the peak of resident memory of a process start anew; False where that is not possible."""
    try:
        with open(f"/proc/{process}/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def status(name: str, process: int | str = "self") -> int:
    """Bytes that Linux tells of a process: VmRSS, resident now, or VmHWM, its peak."""
    with open(f"/proc/{process}/status") as file:
        line = next(line for line in file if line.startswith(name + ":"))
    return int(line.split()[1]) * 1024
