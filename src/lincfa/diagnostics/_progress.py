"""Progress of long work, on standard error."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

_SILENCE, _PAUSE = 5.0, 5.0  # seconds before the first line, and between two

_KNOWN = 5  # items before the time is estimated: the first may wait for workers to start


def with_progress(
    items: Iterable[T], total: int, what: str, verbose: bool, each: float
) -> Iterator[T]:
    """Yield the items; report progress if they take long, at once if ``each`` item is known to."""
    start = time.monotonic()
    next_line = start + _SILENCE
    reported = verbose and each * total > _SILENCE
    if reported:
        sys.stderr.write(f"{what}: {total} to do, one took {_duration(each)}\n")
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if verbose and now >= next_line and done < total:
            left = (now - start) / done * (total - done)
            estimate = f", about {_duration(left)} left" if done >= _KNOWN else ""
            sys.stderr.write(f"{what}: {done} of {total}{estimate}\n")
            next_line, reported = now + _PAUSE, True
    if reported:
        sys.stderr.write(f"{what}: {total} of {total} in {_duration(time.monotonic() - start)}\n")


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 9.5 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
