"""Compute dask graphs by whichever scheduler dask would use, never waiting without end."""

import sys
import threading
import time
import warnings
from collections.abc import Callable, MutableMapping
from importlib.metadata import version
from typing import Any
from weakref import WeakKeyDictionary

PATIENCE = "30s"
"""How long a cluster may be without workers; one that died is replaced in a few seconds."""

SETTING = "lincfa.no-workers-timeout"

_CHECKED: MutableMapping[Any, set[str]] = WeakKeyDictionary()
"""Addresses of workers that have lincfa, by client."""

_FILTERS = threading.Lock()  # filters of warnings belong to all threads


def compute(graph: Any) -> Any:
    """Compute what may be a list of delayed values, as ``dask.compute`` does."""
    # Raises RuntimeError if a cluster has had no workers for longer than
    # ``lincfa.no-workers-timeout`` in ``dask.config`` (None waits forever), if a task kills its
    # workers again and again, or if the scheduler is gone.
    from dask import compute as compute_all

    client = _client()
    if client is None:
        return compute_all(graph)[0]
    _check_workers(client)
    return compute_all(graph, scheduler=_watched(client))[0]


def computed(values: Any, what: str = "values") -> Any:
    """Return what a dask collection holds, anything else unchanged."""
    from ._checks import is_dask

    if not is_dask(values):
        return values
    from dask.array import Array

    from ._declared import as_declared

    array = getattr(values, "data", values)  # that of xarray
    if isinstance(array, Array):
        checked = as_declared(array, what)
        values = checked if array is values else values.copy(data=checked)
    return compute(values)


def _client() -> Any:
    """The client of a cluster that dask would use; None for its other schedulers."""
    from dask.base import get_scheduler

    distributed = sys.modules.get("distributed")  # there is no client of what was not imported
    if distributed is None:
        return None
    owner = getattr(get_scheduler(), "__self__", None)
    if not isinstance(owner, distributed.Client):
        return None
    try:
        distributed.get_worker()
    except ValueError:
        return owner
    return None  # within a task there is a worker, and its client frees the thread meanwhile


def _check_workers(client: Any) -> None:
    """Raise for workers without this lincfa: tasks they cannot read would kill them in turn."""
    own = version("lincfa")
    checked: set[str] = _CHECKED.setdefault(client, set())
    if checked.issuperset(client.nthreads()):
        return
    for address, found in client.get_versions(packages=["lincfa"])["workers"].items():
        theirs = found["packages"]["lincfa"]
        if theirs != own:
            has = "has no lincfa" if theirs is None else f"has lincfa {theirs}"
            raise RuntimeError(
                f"The worker {address} {has}; install lincfa {own} on all workers of the cluster."
            )
        checked.add(address)


def _watched(client: Any) -> Callable[..., Any]:
    """Let a client compute, watched by a thread that gives up when there are no workers."""
    from dask import config
    from dask.utils import parse_timedelta
    from distributed import CancelledError, KilledWorker, futures_of

    patience = config.get(SETTING, PATIENCE)
    limit = None if patience is None else parse_timedelta(patience, default="s")

    def get(graph: Any, keys: Any, **options: Any) -> Any:
        # Futures instead of results, so that there is something to cancel.
        with _FILTERS, warnings.catch_warnings():
            # Of as many numbers as there are features, or samples of a target that is in memory;
            # the data are not among them.
            warnings.filterwarnings("ignore", message="Sending large graph")
            futures = client.get(graph, keys, **{**options, "sync": False})
        done, deserted = threading.Event(), threading.Event()
        if limit is not None:
            watch = (client, futures, limit, done, deserted)
            threading.Thread(target=_watch, args=watch, daemon=True).start()
        try:
            return client.gather(futures)
        except KilledWorker as error:
            raise RuntimeError(
                f"The workers of the dask cluster died {error.allowed_failures + 1} times over the "
                "same task, most often for lack of memory: use smaller chunks, fewer threads per "
                "worker or more memory."
            ) from error
        except CancelledError as error:
            if deserted.is_set():
                raise RuntimeError(
                    f"The dask cluster has had no workers for {limit:g} seconds: add workers and "
                    "try again. If they take longer to start, raise the limit: "
                    f'dask.config.set({{"{SETTING}": "10 minutes"}}) in Python, or '
                    "DASK_LINCFA__NO_WORKERS_TIMEOUT='10 minutes' in the environment."
                ) from None
            raise RuntimeError(
                "The computation by dask was cancelled, or the connection to its scheduler lost."
            ) from error
        finally:
            done.set()
            for future in futures_of(futures):  # after an error nobody waits for the others
                future.release()

    return get


def _watch(
    client: Any, futures: Any, limit: float, done: threading.Event, deserted: threading.Event
) -> None:
    """Cancel the futures once there have been no workers for so many seconds."""
    since = None
    while not done.wait(min(1.0, max(limit / 10, 0.05))):
        try:
            workers = client.nthreads()
        except Exception:  # if the scheduler is gone, the client itself cancels the futures
            continue
        now = time.monotonic()
        since = None if workers else since or now
        if since is not None and now - since >= limit:
            deserted.set()
            client.cancel(futures)
            return
