"""A cluster of two worker processes, monitored from outside."""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import dask
import psutil
from distributed import Client, LocalCluster, SchedulerPlugin

from .measure import forget_peak, status

_EVERY = 0.1  # seconds between samples


@dataclass(frozen=True)
class Usage:
    """Resources used by a function call; memory is the peak of any worker, and of this process."""

    result: Any
    seconds: float
    worker: int
    client: int
    read: int
    spilled: int
    restarts: int
    tasks: int


class Finished(SchedulerPlugin):
    """Counts finished tasks and lost workers."""

    def __init__(self) -> None:
        self.tasks = 0
        self.lost = 0

    def transition(self, key: Any, start: str, finish: str, *args: Any, **kwargs: Any) -> None:
        """Count a finished task."""
        self.tasks += start == "processing" and finish == "memory"

    def remove_worker(self, scheduler: Any, worker: str, **kwargs: Any) -> None:
        """Count a lost worker."""
        self.lost += 1


@dataclass(frozen=True)
class Session:
    """A running cluster and its client."""

    cluster: LocalCluster
    client: Client
    finished: Finished
    limit: int

    def pids(self) -> list[int]:
        """Return the process ids of the workers that are not being restarted."""
        return [nanny.pid for nanny in list(self.cluster.workers.values()) if nanny.pid]

    def measure(self, work: Callable[[], Any]) -> Usage:
        """Call a function and monitor all processes meanwhile."""
        tasks, lost, spilled = self.finished.tasks, self.finished.lost, self._spilled()
        with _Watch(self.pids) as watch:
            start = time.perf_counter()
            result = work()
            taken = time.perf_counter() - start
        return Usage(
            result,
            taken,
            worker=watch.worker,
            client=watch.client,
            read=watch.read,
            spilled=max(0, self._spilled() - spilled),
            restarts=self.finished.lost - lost,
            tasks=self.finished.tasks - tasks,
        )

    def _spilled(self) -> int:
        """Return the bytes that the workers have spilled to disk so far."""

        def written(dask_worker: Any) -> float:
            return dask_worker.data.cumulative_metrics["disk-write", "bytes"]

        # A worker that was just killed does not answer, and its count is lost.
        return int(sum(self.client.run(written, on_error="ignore").values()))

    def kill_one(self) -> None:
        """Kill one worker; its nanny starts another."""
        os.kill(self.pids()[0], signal.SIGKILL)

    def remove_all(self) -> None:
        """Remove all workers for good."""
        self.cluster.scale(0)
        while self.cluster.scheduler.workers:
            time.sleep(0.01)

    def after(self, tasks: int, act: Callable[[], None]) -> "Later":
        """Call ``act`` once this many more tasks are done."""
        return Later(self.finished, tasks, act)


class Later(threading.Thread):
    """Waits for a number of tasks, acts, and records the time."""

    def __init__(self, finished: Finished, tasks: int, act: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self.finished, self.act = finished, act
        self.start_at = finished.tasks
        self.wanted = tasks
        self.done_at: int | None = None
        self.moment = float("nan")
        self.ended = threading.Event()
        self.start()

    def run(self) -> None:
        """Wait and act."""
        while self.finished.tasks - self.start_at < self.wanted:
            if self.ended.wait(0.002):
                return
        self.done_at = self.finished.tasks - self.start_at
        self.act()
        self.moment = time.perf_counter()

    def end(self) -> None:
        """Stop waiting, or wait until the action is over."""
        self.ended.set()
        self.join()


class _Watch:
    """Peak resident memory and bytes read by the workers, and the peak of this process.

    Linux records the exact peak of a process; elsewhere it is the maximum of the samples. Bytes
    read include all read calls on files, whether from disk or from the page cache.
    """

    def __init__(self, pids: Callable[[], list[int]]) -> None:
        self.pids = pids
        self.peaks: dict[int, int] = {}
        self.read_from: dict[int, int] = {}
        self.read_to: dict[int, int] = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "_Watch":
        self.exact = min(map(forget_peak, [*self.pids(), os.getpid()]))
        self._look()
        self.read_from = dict(self.read_to)
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.over.set()
        self.thread.join()
        self._look()

    def _run(self) -> None:
        while not self.over.wait(_EVERY):
            self._look()

    def _look(self) -> None:
        for pid in [*self.pids(), os.getpid()]:
            try:
                process = psutil.Process(pid)
                now = status("VmHWM", pid) if self.exact else process.memory_info().rss
                if hasattr(process, "io_counters"):
                    self.read_to[pid] = getattr(process.io_counters(), "read_chars", 0)
            except (psutil.Error, OSError, StopIteration):
                continue  # the process has just ended
            self.peaks[pid] = max(now, self.peaks.get(pid, 0))

    @property
    def client(self) -> int:
        return self.peaks[os.getpid()]

    @property
    def worker(self) -> int:
        return max(peak for pid, peak in self.peaks.items() if pid != os.getpid())

    @property
    def read(self) -> int:
        return sum(
            end - self.read_from.get(pid, 0)
            for pid, end in self.read_to.items()
            if pid != os.getpid()
        )


def _warm() -> None:
    """Import what tasks need, so that these reads do not count as reads of the store."""
    for name in ("dask.array", "lincfa", "zarr"):
        import_module(name)


@contextmanager
def session(folder: Path, limit: int) -> Iterator[Session]:
    """Start two workers with one thread and ``limit`` bytes of memory each."""
    # Workers are killed on purpose here, which distributed logs as errors; other lost workers are
    # counted and reported.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "100MB"}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=limit,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
            local_directory=str(folder),
        ) as cluster,
        Client(cluster) as client,
    ):
        finished = Finished()
        cluster.scheduler.add_plugin(finished)
        client.run(_warm)
        yield Session(cluster, client, finished, limit)
