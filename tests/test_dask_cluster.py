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


def wait_for(condition):
    """Wait until something holds, on a busy machine too; it fails after ten minutes."""
    for _ in range(60_000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("nothing happened")


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
        client.wait_for_workers(2)
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


@pytest.mark.parametrize("found", ["lincfa 0.0", "no lincfa"])
def test_workers_with_another_version_or_none(client, monkeypatch, found):
    """What they were sent might be read wrong, or end them."""
    versions = client.get_versions(packages=["lincfa"])
    for worker in versions["workers"].values():
        assert worker["packages"]["lincfa"] == lincfa.__version__
        worker["packages"]["lincfa"] = None if found == "no lincfa" else "0.0"
    monkeypatch.setattr(client, "get_versions", lambda packages: versions)
    X, y = data()
    message = f"worker tcp://.* has {found}; install lincfa {lincfa.__version__} on"
    with pytest.raises(RuntimeError, match=message):
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
    wait_for(lambda: set(client.who_has()) == before)


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


class Gate:
    """Chunks of which only so many are read until the gate is opened, by any process."""

    def __init__(self, X, folder, number, rows=5):
        reads, opened = folder / "reads", folder / "opened"
        self.reads, self.opened, self.number = reads, opened, number

        def read(block_info=None):
            top, bottom = block_info[None]["array-location"][0]
            with open(reads, "a") as file:
                file.write(f"{os.getpid()}\n")
            while len(reads.read_text().split()) > number and not opened.exists():
                time.sleep(0.01)
            return X[top:bottom]

        chunks = da.core.normalize_chunks((rows, X.shape[1]), X.shape)
        self.chunks = da.map_blocks(read, chunks=chunks, meta=np.empty((0, 0)))

    @property
    def processes(self):
        """Those that have read chunks, in the order of reading."""
        return [int(process) for process in self.reads.read_text().split()]

    def when_reached(self, action):
        """Start a thread that acts once a read has to wait, and opens the gate."""

        def act():
            wait_for(lambda: self.reads.exists() and len(self.processes) > self.number)
            action()
            self.opened.touch()

        thread = threading.Thread(target=act, daemon=True)
        thread.start()
        return thread


def test_a_worker_killed_in_the_middle_of_a_fit(client, expected, tmp_path):
    """What it had is computed again by the others."""
    X, y = data()
    gate = Gate(X, tmp_path, 16)
    workers = set(client.run(os.getpid).values())
    before = []

    def kill():
        before.extend(gate.processes)
        os.kill(before[-1], signal.SIGKILL)

    thread = gate.when_reached(kill)
    chunked = fit(gate.chunks, y, route="many passes")
    thread.join()
    assert_equal_models(chunked, expected)
    assert before[-1] in workers
    after = gate.processes[len(before) :]
    assert len(after) > 12  # at least a pass was still to come
    assert before[-1] not in after


def test_no_workers_left(client, cluster, tmp_path):
    """A fit gives up when the cluster has had none for a while; the next one can succeed."""
    X, y = data()
    gate = Gate(X, tmp_path, 4)

    def remove():
        cluster.scale(0)
        wait_for(lambda: not client.nthreads())

    thread = gate.when_reached(remove)
    patience = {"lincfa.no-workers-timeout": "1s"}
    with dask.config.set(patience), pytest.raises(RuntimeError, match="no workers for 1 seconds"):
        fit(gate.chunks, y, route="many passes")
    thread.join()
    wait_for(lambda: not client.futures)


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
