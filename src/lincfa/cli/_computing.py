"""Where dask computes, and how far it is."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ._talk import Talk

_PATIENCE = 10
"""Seconds to wait for the answer of a scheduler."""
_GLANCE = 0.5
"""Seconds between two looks at a scheduler elsewhere."""
_OPEN = ("waiting", "processing", "queued", "no-worker")

Counting = Callable[[str], Any]


@contextmanager
def computing(where: str, talk: Talk) -> Iterator[Counting]:
    """Let dask compute in threads, in processes, or at the address of a scheduler.

    Gives a function of a text, which returns a context that shows progress under it. When this
    context ends, nothing is running any more.
    """
    if "://" in where:
        with _connected(where) as client:
            yield lambda what: _counting_afar(client, talk, what)
        return
    import dask

    pool = _pool(where)
    try:
        with dask.config.set(scheduler=where, pool=pool):
            yield lambda what: _counting_here(talk, what)
    finally:
        # What runs may be writing into a folder that is about to be removed.
        pool.shutdown(wait=True, cancel_futures=True)


def _pool(where: str) -> Any:
    """Give workers on this machine."""
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    from multiprocessing import get_context

    from dask.system import CPU_COUNT

    if where == "threads":
        return ThreadPoolExecutor(CPU_COUNT)
    return ProcessPoolExecutor(
        CPU_COUNT, mp_context=get_context("spawn"), initializer=_leave_interrupts
    )


def _leave_interrupts() -> None:
    """Leave Ctrl-C, which reaches every process, to the one that started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    """Use a scheduler that runs already."""
    import logging

    import dask
    from distributed import Client

    # What it tells of connections is told by the errors as well.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        # Not for others to use: one that failed would stay in their way.
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"no dask scheduler answers at {address}; dask scheduler starts one and says where"
        ) from error
    with client, dask.config.set(scheduler=client):
        yield client


@contextmanager
def _counting_here(talk: Talk, what: str) -> Iterator[None]:
    """Count the tasks that are done in this process, or in others that it started."""
    from dask.callbacks import Callback

    tasks = {"done": 0, "all": 0}

    def begin(_: Any, state: Any) -> None:
        tasks["all"] += sum(len(state[name]) for name in ("ready", "waiting", "running"))
        update(tasks["done"], tasks["all"])

    def count(*_: Any) -> None:
        tasks["done"] += 1
        update(tasks["done"], tasks["all"])

    with (
        talk.counting(what) as update,
        _own_errors(),
        Callback(start_state=begin, posttask=count),
    ):
        yield


@contextmanager
def _counting_afar(client: Any, talk: Talk, what: str) -> Iterator[None]:
    """Count the tasks that a scheduler elsewhere has seen done."""
    over = threading.Event()

    def states(dask_scheduler: Any) -> tuple[int, int]:  # sent there, where lincfa may be missing
        groups = [group.states for group in dask_scheduler.task_groups.values()]
        left = sum(group.get(name, 0) for group in groups for name in _OPEN)
        return left, sum(sum(group.values()) for group in groups)

    def watch() -> None:
        while not over.wait(_GLANCE):
            with suppress(OSError):  # of a connection that is being closed
                left, total = client.run_on_scheduler(states)
                if total:
                    update(total - left, total)

    with talk.counting(what) as update, _own_errors():
        watcher = threading.Thread(target=watch, daemon=True)
        if talk.shows_progress:
            watcher.start()
        try:
            yield
        finally:
            over.set()
            if watcher.is_alive():
                watcher.join()


@contextmanager
def _own_errors() -> Iterator[None]:
    """Give an error of another process as what it was there."""
    try:
        yield
    except Exception as error:
        inner = getattr(error, "exception", None)
        if isinstance(inner, Exception):
            raise inner from error
        if type(error) is RuntimeError:  # workers that are gone, said in words
            raise ValueError(str(error)) from error
        raise
