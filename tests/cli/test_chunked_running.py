"""Where dask computes: threads, processes, a scheduler elsewhere; how far it is, and its end."""

import os
import pty
import re
import signal
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lincfa.cli import _computing, main
from lincfa.cli._files import _chunked

pl = pytest.importorskip("polars")
pytest.importorskip("dask.dataframe")

OPTIONS = ("--target", "y", "--no-report")


@pytest.fixture
def parts(folder, samples):
    """A table in six files."""
    table = pl.DataFrame(samples.X, schema=samples.names).with_columns(y=pl.Series(samples.y))
    Path("data").mkdir()
    for start in range(0, 60, 10):
        table[start : start + 10].write_parquet(f"data/{start}.parquet")
    return "data"


class Listener:
    """Listens to what is counted."""

    shows_progress = True

    def __init__(self):
        self.told = []

    @contextmanager
    def counting(self, what):
        yield lambda done, total: self.told.append((what, done, total))


def test_processes_give_what_threads_give(done, parts, monkeypatch):
    done("reduce", parts, *OPTIONS, "--quiet")
    expected = pl.read_parquet("data-reduced/*.parquet")
    options = ("--dask", "processes", "--output", "other", "--groups", "other.json", "--quiet")
    monkeypatch.setattr("dask.system.CPU_COUNT", 1)  # they take seconds to start
    result = done("reduce", parts, *OPTIONS, *options)
    assert (result.out, result.err) == ("", "")
    assert pl.read_parquet("other/*.parquet").equals(expected)
    assert Path("other.json").read_bytes() == Path("groups.json").read_bytes()


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(**options, dashboard_address=":0", protocol="tcp://") as here:
        yield here.scheduler_address


def test_a_scheduler_elsewhere(done, parts, cluster):
    done("reduce", parts, *OPTIONS, "--quiet")
    options = ("--output", "other", "--groups", "other.json", "--quiet")
    done("reduce", parts, *OPTIONS, "--dask", cluster, *options)
    assert Path("other.json").read_bytes() == Path("groups.json").read_bytes()
    expected = pl.read_parquet("data-reduced/*.parquet")
    assert pl.read_parquet("other/*.parquet").equals(expected)


def test_tasks_of_a_scheduler_are_counted(cluster, monkeypatch):
    from dask import compute, delayed

    monkeypatch.setattr(_computing, "_GLANCE", 0.02)
    talk = Listener()
    with _computing.computing(cluster, talk) as counting, counting("sleeping"):
        compute(*(delayed(time.sleep)(0.05, dask_key_name=f"nap-{k}") for k in range(8)))
    counts = [done for what, done, total in talk.told if (what, total) == ("sleeping", 8)]
    assert counts == sorted(counts)
    assert len(set(counts)) > 3


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere://127.0.0.1:9"])
def test_no_scheduler(fails, parts, files, monkeypatch, address):
    monkeypatch.setattr(_computing, "_PATIENCE", 0.5)
    begun = time.monotonic()
    message = fails("reduce", parts, *OPTIONS, "--dask", address)
    assert message.startswith(f"no dask scheduler answers at {address}; ")
    assert time.monotonic() - begun < 5
    assert files() == ["data"]


def test_tasks_in_threads_are_counted():
    from dask import compute, delayed

    talk = Listener()
    with _computing.computing("threads", talk) as counting, counting("adding"):
        compute(*(delayed(sum)([k, 1]) for k in range(5)))
        compute(delayed(sum)([1, 1]))
    _, *last = talk.told[-1]
    assert last[0] == last[1] >= 6
    done = [count for _, count, _ in talk.told]
    assert done == sorted(done)


def read_all(terminal, shown):
    with suppress(OSError):  # it is closed
        while piece := os.read(terminal, 4096):
            shown.append(piece)


def test_a_terminal_shows_how_far_it_is(parts, monkeypatch):
    ours, theirs = pty.openpty()
    shown = []
    reader = threading.Thread(target=read_all, args=(ours, shown))
    reader.start()
    with open(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        assert main(["reduce", parts, *OPTIONS]) == 0
    reader.join()
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(shown).decode())
    for what in ("reading data", "merging 6 features", "scoring", "writing"):
        assert re.search(rf"{what} ━+ (\d+)/\1 ", text), what


def test_an_interruption_leaves_nothing(call, parts, files, monkeypatch):
    begun = []

    def slowly(file, *arguments):
        Path(file).write_text("half")
        begun.append(file)
        if file == begun[0]:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)
        Path(file).parent.mkdir(exist_ok=True)  # as stores are written
        Path(file).with_name("late").write_text("half")

    monkeypatch.setattr(_chunked, "_write_part", slowly)
    result = call("reduce", parts, *OPTIONS)
    assert result.code == 130
    assert result.err.splitlines()[-1] == "lincfa: interrupted"
    assert begun
    time.sleep(0.5)
    assert files() == ["data"]


def test_an_error_of_another_process_is_said_as_here(fails, parts, monkeypatch):
    class FromAfarError(Exception):
        exception = ValueError("a short line")

    def fail(*_):
        raise FromAfarError("a long page")

    monkeypatch.setattr(_chunked, "_write_part", fail)
    assert fails("reduce", parts, *OPTIONS, "--quiet") == "a short line"
