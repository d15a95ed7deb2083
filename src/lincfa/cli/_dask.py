"""Work that dask or other processes do: where, its progress, and its end at a signal."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Any, TypeAlias

from .._replacing import handling_signals
from ._terminal import Terminal

_TIMEOUT = 10  # seconds to wait for the answer of a scheduler
_INTERVAL = 0.5  # seconds between two requests for its progress
_OPEN = ("waiting", "processing", "queued", "no-worker")

Step: TypeAlias = Callable[[str], AbstractContextManager[Any]]


@contextmanager
def computing(where: str | None, terminal: Terminal) -> Iterator[Step]:
    """Let dask compute in threads, in processes, or at the address of a scheduler; None without it.

    Yields a function of a text, which returns a context that shows progress under it. When this
    context ends, no task is running any more.
    """
    if where is None:
        yield terminal.busy
        return
    if "://" in where:
        with _interrupted_by_keyboard(), _connected(where) as client:
            yield lambda what: _counting_tasks_elsewhere(client, terminal, what)
        return
    import dask

    with _interrupted_by_keyboard():
        pool = _pool(where)
        try:
            with dask.config.set(scheduler=where, pool=pool):
                yield lambda what: _counting_tasks(terminal, what)
        finally:
            # A running task may be writing into a folder that is about to be removed.
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt at a signal, where others that work for this process must end too."""

    def interrupt(number: int, _: object) -> None:
        raise KeyboardInterrupt(number)

    with handling_signals(interrupt):
        yield


@contextmanager
def _interrupted_by_keyboard() -> Iterator[None]:
    """Raise KeyboardInterrupt at Ctrl-C, where that does not end the program at once."""
    # The handler that polars installs when it is imported does not wake a waiting scheduler.
    import polars  # noqa: F401

    names = [] if signal.getsignal(signal.SIGINT) is signal.SIG_DFL else ["SIGINT"]
    with handling_signals(signal.default_int_handler, names):
        yield


def _pool(where: str) -> Any:
    from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
    from multiprocessing import get_context

    from dask.system import CPU_COUNT

    if where == "threads":
        return ThreadPoolExecutor(CPU_COUNT)
    # Python starts another process, too, which tidies up if a signal ends this one, and is told
    # here not to say so.
    silence = "ignore:resource_tracker:UserWarning"
    sys.warnoptions.append(silence)
    try:
        return ProcessPoolExecutor(CPU_COUNT, get_context("spawn"), initializer=_depend)
    finally:
        sys.warnoptions.remove(silence)


def _depend() -> None:
    """Let this process end when the one that started it does, in whatever way."""
    from multiprocessing import parent_process

    # Ctrl-C reaches every process, and is left to the one that started them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = parent_process()

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


@contextmanager
def _connected(address: str) -> Iterator[Any]:
    import logging

    import dask
    from distributed import Client

    # The errors say what it logs of connections.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        # Not as the default client: one that failed would stay in the way of others.
        client = Client(address, timeout=_TIMEOUT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(
            f"no dask scheduler answers at {address}; the command dask scheduler starts one and "
            "prints its address"
        ) from error
    with client, dask.config.set(scheduler=client):
        yield client


@contextmanager
def _counting_tasks(terminal: Terminal, what: str) -> Iterator[None]:
    """Count the tasks done in this process, or in others that it started."""
    from dask.callbacks import Callback

    tasks = {"done": 0, "all": 0}

    def start(_: Any, state: Any) -> None:
        tasks["all"] += sum(len(state[name]) for name in ("ready", "waiting", "running"))
        update(tasks["done"], tasks["all"])

    def count(*_: Any) -> None:
        tasks["done"] += 1
        update(tasks["done"], tasks["all"])

    with (
        terminal.counting(what) as update,
        _errors_of_workers(),
        Callback(start_state=start, posttask=count),
    ):
        yield


@contextmanager
def _counting_tasks_elsewhere(client: Any, terminal: Terminal, what: str) -> Iterator[None]:
    """Count the tasks that a scheduler has seen done."""
    over = threading.Event()

    def states(dask_scheduler: Any) -> tuple[int, int]:  # runs there, where lincfa may be missing
        groups = [group.states for group in dask_scheduler.task_groups.values()]
        left = sum(group.get(name, 0) for group in groups for name in _OPEN)
        return left, sum(sum(group.values()) for group in groups)

    def watch() -> None:
        while not over.wait(_INTERVAL):
            with suppress(OSError):  # of a connection that is being closed
                left, total = client.run_on_scheduler(states)
                if total:
                    update(total - left, total)

    with terminal.counting(what) as update, _errors_of_workers():
        watcher = threading.Thread(target=watch, daemon=True)
        if terminal.shows_progress:
            watcher.start()
        try:
            yield
        finally:
            over.set()
            if watcher.is_alive():
                watcher.join()


@contextmanager
def _errors_of_workers() -> Iterator[None]:
    """Raise the error of another process as it was raised there."""
    try:
        yield
    except Exception as error:
        inner = getattr(error, "exception", None)
        if isinstance(inner, Exception):
            raise inner from error
        if type(error) is RuntimeError:  # lost workers, explained
            raise ValueError(str(error)) from error
        raise
