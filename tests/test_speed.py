"""Threads: errors, settings and forks do not get lost among them."""

import os
import subprocess
import sys
from threading import Barrier

import numpy as np
import pytest

from lincfa._statistics import _speed
from lincfa._statistics._speed import in_threads, split_evenly

PARTS = [slice(k, k + 1) for k in range(4)]


@pytest.fixture(autouse=True)
def four_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setattr(_speed, "_WORTH_THREADS", 0)


def test_parts_are_even_and_complete():
    parts = split_evenly(np.array([5.0, 1, 1, 1, 1, 1]), 6)
    assert [part.stop for part in parts][-1] == 6
    assert [b.start for b in parts[1:]] == [a.stop for a in parts[:-1]]
    assert split_evenly(np.ones(0), 0) == []
    in_threads(pytest.fail, [])


def test_parts_run_at_the_same_time():
    together = Barrier(len(PARTS))
    in_threads(lambda _: together.wait(timeout=60), PARTS)


@pytest.mark.parametrize("failing", range(4))
def test_an_error_in_any_part_is_raised_when_the_others_are_done(failing):
    done = []

    def work(part):
        if part.start == failing:
            raise ValueError("of this part")
        done.append(part.start)

    for _ in range(3):  # the threads go on
        with pytest.raises(ValueError, match="of this part"):
            in_threads(work, PARTS)
    assert sorted(done) == sorted(3 * [k for k in range(4) if k != failing])
    assert _speed._one_blas_thread._inside == 0


def test_work_within_a_part_is_not_divided_further():
    """It would wait for threads that wait for it."""
    inner = []

    def work(part):
        in_threads(lambda own: inner.append((part.start, own.start)), PARTS)

    for _ in range(20):
        in_threads(work, PARTS)
    assert sorted(inner) == sorted(20 * [(a, b) for a in range(4) for b in range(4)])


def test_settings_of_the_caller_stay():
    """Also with NumPy 1, whose settings for errors are remembered by the object that sets them."""
    turns = Barrier(2)

    def work(part):
        turns.wait(timeout=60)
        with np.errstate(divide="ignore"):
            assert np.geterr()["over"] == "ignore"

    with np.errstate(all="raise"):
        for _ in range(20):
            in_threads(work, PARTS)
        assert set(np.geterr().values()) == {"raise"}


FORK = """
import os
import numpy as np
from lincfa import LinCFA
from lincfa._statistics import _speed
_speed._WORTH_THREADS = 0
X = np.random.default_rng(0).normal(size=(50, 40))
LinCFA().fit(X, X[:, 0])
with _speed._one_blas_thread, _speed._one_blas_thread._lock:
    child = os.fork()
    if not child:
        LinCFA().fit(X, X[:, 0])
        os._exit(_speed._one_blas_thread._inside)
    print(os.waitpid(child, 0)[1], flush=True)
    os._exit(0)  # the lock is held
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_child_does_not_wait_for_threads_of_its_parent():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=300)
    assert done.stdout == "0\n", done.stderr
