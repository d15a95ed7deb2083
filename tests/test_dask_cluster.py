"""Schedulers: threads, processes, a cluster; workers that die, and a cluster without any."""

import os
import signal
import threading
import time
from functools import partial

import numpy as np
import pytest

import lincfa
from lincfa import LinCFA

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from dask_data import assert_equal_models, data, fit, odd_chunks

PATIENCE = {"lincfa.no-workers-timeout": "1s"}


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client of two workers, however many a test before has left."""
    with distributed.Client(cluster) as client:
        cluster.scale(2)
        client.wait_for_workers(2, timeout=30)
        yield client


@pytest.fixture(scope="module")
def expected():
    X, y = data()
    return LinCFA().fit(X, y)


@pytest.mark.parametrize("scheduler", ["synchronous", "threads", "processes"])
def test_schedulers(scheduler, expected):
    """A process takes a while to start: one, for one pass."""
    X, y = data()
    one = scheduler == "processes"
    with dask.config.set(scheduler=scheduler, num_workers=1 if one else 2):
        route = "one pass" if one else "many passes"
        chunked = fit(odd_chunks(X), da.from_array(y, chunks=17), route=route)
    assert_equal_models(chunked, expected)


# A cluster


def test_workers_of_another_version(client, monkeypatch):
    """What they were sent might be read wrong, or end them."""
    monkeypatch.setattr(lincfa, "__version__", "99.0")
    X, y = data()
    with pytest.raises(
        RuntimeError, match=r"worker tcp://.* has lincfa .*; install lincfa 99\.0 on"
    ):
        LinCFA().fit(odd_chunks(X), y)


@pytest.mark.parametrize("route", ["one pass", "many passes"])
def test_cluster(client, expected, route):
    X, y = data()
    lazy = da.from_array(X, chunks=(30, 15))
    assert_equal_models(fit(lazy, da.from_array(y, chunks=17), route=route), expected)
    reduced = expected.transform(lazy)
    np.testing.assert_allclose(reduced.compute(), expected.transform(X), rtol=1e-11, atol=1e-11)


def test_chunks_that_are_on_the_cluster_already(client, expected):
    """Persisted ones are futures; after a fit only they are left there."""
    X, y = data()
    lazy = da.from_array(X, chunks=(30, 28)).persist()
    distributed.wait(lazy)
    before = set(client.who_has())
    assert_equal_models(fit(lazy, y, route="many passes"), expected)
    deadline = time.monotonic() + 10
    while set(client.who_has()) - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert set(client.who_has()) == before


def test_faults_come_from_the_cluster_as_they_are(client):
    X, y = data()
    X[33, 17] = np.nan
    lazy = da.from_array(X, chunks=(30, 15))
    with pytest.raises(ValueError, match=r"NaN in column 17 \(row 33\)"):
        LinCFA().fit(lazy, y)
    broken = lazy.map_blocks(partial(int, "no number"), meta=np.empty((0, 0)))
    with pytest.raises((ValueError, TypeError)):
        LinCFA().fit(broken, y)


def test_another_scheduler_is_taken_if_asked_for(client, expected):
    """The client is there, but the user says where to compute."""
    X, y = data()
    seen = []
    lazy = da.from_array(X, chunks=(30, 28)).map_blocks(
        lambda chunk: seen.append(os.getpid()) or chunk, meta=np.empty((0, 0))
    )
    with dask.config.set(scheduler="synchronous"):
        assert_equal_models(fit(lazy, y), expected)
    assert seen == [os.getpid()] * 2


# Workers that die


def slow_chunks(X, folder, rows=5):
    """Chunks that take a moment to read, and leave the process that read them in a file."""
    path = str(folder / "reads")

    def read(block_info=None):
        top, bottom = block_info[None]["array-location"][0]
        time.sleep(0.05)
        with open(path, "a") as file:
            file.write(f"{os.getpid()}\n")
        return X[top:bottom]

    chunks = da.core.normalize_chunks((rows, X.shape[1]), X.shape)
    return da.map_blocks(read, chunks=chunks, meta=np.empty((0, 0))), folder / "reads"


def after_reads(path, number, action):
    """Start a thread that acts once so many chunks have been read."""

    def wait():
        while not path.exists() or len(path.read_text().splitlines()) < number:
            time.sleep(0.01)
        action([int(process) for process in path.read_text().split()])

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


def test_a_worker_killed_in_the_middle_of_a_fit(client, expected, tmp_path):
    """What it had is computed again by the others."""
    X, y = data()
    lazy, path = slow_chunks(X, tmp_path)
    workers = set(client.run(os.getpid).values())
    killed = []

    def kill(processes):
        os.kill(processes[-1], signal.SIGKILL)
        killed.extend(processes)

    thread = after_reads(path, 16, kill)
    chunked = fit(lazy, y, route="many passes")
    thread.join(10)
    assert_equal_models(chunked, expected)
    reads = path.read_text().split()
    assert killed[-1] in workers
    assert len(killed) + 12 < len(reads)  # at least a pass was still to come
    assert killed[-1] not in [int(process) for process in reads[len(killed) :]]


def test_no_workers_left(client, cluster, tmp_path):
    """A fit gives up when the cluster has had none for a while; the next one can succeed."""
    X, y = data()
    lazy, path = slow_chunks(X, tmp_path)
    thread = after_reads(path, 4, lambda processes: cluster.scale(0))
    start = time.monotonic()
    with dask.config.set(PATIENCE), pytest.raises(RuntimeError, match="no workers for 1 seconds"):
        fit(lazy, y, route="many passes")
    assert time.monotonic() - start < 20
    thread.join(10)
    assert len(path.read_text().splitlines()) >= 4
    assert client.futures == {}


def test_a_task_that_kills_its_workers(client, cluster):
    """Here the first time is enough; else it is after three times."""
    _, y = data()
    scheduler = cluster.scheduler
    allowed, scheduler.allowed_failures = scheduler.allowed_failures, 0
    lazy = da.map_blocks(
        lambda: os.kill(os.getpid(), signal.SIGKILL), chunks=((60,), (28,)), meta=np.empty((0, 0))
    )
    try:
        with pytest.raises(RuntimeError, match="died 1 times over the same task"):
            LinCFA().fit(lazy, y)
    finally:
        scheduler.allowed_failures = allowed
