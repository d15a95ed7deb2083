"""Where dask computes: threads, processes, a scheduler elsewhere; how far it is, and its end."""

import os
import pty
import re
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from lincfa.cli import _dask, main
from lincfa.cli._files import _tables

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


REPORTS = []


class Listener:
    """A terminal that keeps the reports of progress: what, tasks done, tasks in all."""

    shows_progress = True

    @contextmanager
    def counting(self, what):
        REPORTS.clear()
        yield lambda done, total: REPORTS.append((what, done, total))


def wait_for_report(number, before):
    """Return when so many tasks have been reported to be done."""
    while number and not any(done >= number for _, done, _ in REPORTS):
        threading.Event().wait(0.01)
    return number


def test_processes_give_what_threads_give(done, parts, monkeypatch):
    done("reduce", parts, *OPTIONS, "--quiet")
    expected = pl.read_parquet("data-reduced/*.parquet")
    options = ("--dask", "processes", "--output", "other", "--model", "other.json", "--quiet")
    monkeypatch.setattr("dask.system.CPU_COUNT", 1)  # they take seconds to start
    result = done("reduce", parts, *OPTIONS, *options)
    assert (result.out, result.err) == ("", "")
    assert pl.read_parquet("other/*.parquet").equals(expected)
    assert Path("other.json").read_bytes() == Path("model.json").read_bytes()


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with distributed.LocalCluster(**options, dashboard_address=":0", protocol="tcp://") as here:
        yield here.scheduler_address


def test_a_scheduler_elsewhere(done, parts, cluster):
    done("reduce", parts, *OPTIONS, "--quiet")
    options = ("--output", "other", "--model", "other.json", "--quiet")
    done("reduce", parts, *OPTIONS, "--dask", cluster, *options)
    assert Path("other.json").read_bytes() == Path("model.json").read_bytes()
    expected = pl.read_parquet("data-reduced/*.parquet")
    assert pl.read_parquet("other/*.parquet").equals(expected)


def test_tasks_of_a_scheduler_are_counted(cluster, monkeypatch):
    """Each task ends when the one before it has been reported."""
    from dask import compute, delayed

    monkeypatch.setattr(_dask, "_INTERVAL", 0.01)
    n = 4
    last = None
    for number in range(n):
        last = delayed(wait_for_report)(number, last, dask_key_name=f"task-{number}")
    with _dask.computing(cluster, Listener()) as step, step("waiting"):
        compute(last)
    counts = [done for what, done, total in REPORTS if (what, total) == ("waiting", n)]
    assert counts == sorted(counts)
    assert set(counts) >= set(range(1, n))


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere://127.0.0.1:9"])
def test_no_scheduler(fails, parts, files, monkeypatch, address):
    monkeypatch.setattr(_dask, "_TIMEOUT", 0.5)
    message = fails("reduce", parts, *OPTIONS, "--dask", address)
    assert message.startswith(f"no dask scheduler answers at {address}; ")
    assert files() == ["data"]


def test_tasks_in_threads_are_counted():
    from dask import compute, delayed

    with _dask.computing("threads", Listener()) as step, step("adding"):
        compute(*(delayed(sum)([k, 1]) for k in range(5)))
        compute(delayed(sum)([1, 1]))
    _, *last = REPORTS[-1]
    assert last[0] == last[1] >= 6
    done = [count for _, count, _ in REPORTS]
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
    for what in ("reading data", "merging 6 features", "averaging", "writing"):
        assert re.search(rf"{what} ━+ (\d+)/\1 ", text), what


@pytest.fixture
def _in_the_foreground():
    """Ctrl-C is ignored by what a shell runs in the background, such as all these tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before or signal.SIG_DFL)


@pytest.mark.usefixtures("_in_the_foreground")
def test_an_interruption_leaves_nothing(call, parts, files, monkeypatch):
    """Of a function, which goes on: Ctrl-C while a part is written waits for its end."""
    interrupted, finished = threading.Event(), []
    shutdown = ThreadPoolExecutor.shutdown

    def waiting(file, *arguments):
        Path(file).write_text("half")
        os.kill(os.getpid(), signal.SIGINT)
        while not interrupted.wait(1):  # until the command has noticed it, and stops the workers
            # A signal just before the main thread begins to wait does not wake it.
            frame = sys._current_frames()[threading.main_thread().ident]
            if frame.f_code is threading.Condition.wait.__code__:
                os.kill(os.getpid(), signal.SIGINT)
        Path(file).parent.mkdir(exist_ok=True)  # as stores are written
        Path(file).with_name("late").write_text("half")
        finished.append(file)

    def noticed(pool, *arguments, **options):
        interrupted.set()
        shutdown(pool, *arguments, **options)

    monkeypatch.setattr(_tables, "_write_part", waiting)
    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", noticed)
    result = call("reduce", parts, *OPTIONS)
    assert result.code == 128 + signal.SIGINT
    assert result.err.splitlines()[-1] == "lincfa: interrupted"
    assert finished
    assert files() == ["data"]


WAITING = """
import os, sys, threading
import dask.system
from lincfa.cli import main
from lincfa.cli._files import _tables

def write_for_ever(file, *arguments):
    with open(file, "w") as part:
        part.write("half")
    os.write(1, b"begun\\n")
    threading.Event().wait()

if __name__ == "__main__":
    dask.system.CPU_COUNT = 1
    _tables._write_part = write_for_ever
    sys.exit(main())
"""
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]


@pytest.mark.parametrize(
    ("where", "end"),
    [*(("threads", end) for end in ENDING), *(("processes", end) for end in ENDING[::3])],
)
def test_a_signal_does_not_wait_for_work_that_never_ends(launch, parts, files, where, end):
    arguments = ("reduce", parts, *OPTIONS, "--quiet", "--dask", where)
    process = launch(*arguments, program=("-c", WAITING))
    assert process.stdout.readline() == b"begun\n"
    assert any(name.startswith(".lincfa-") for name in files())
    process.send_signal(end)
    out, err = process.communicate()  # which the processes that work have too, and who cleans up
    assert process.returncode == -end
    assert (out, err) == (b"", b"")
    assert files() == ["data"]


def test_an_error_of_another_process_is_said_as_here(fails, parts, monkeypatch):
    class FromAfarError(Exception):
        exception = ValueError("a short line")

    def fail(*_):
        raise FromAfarError("a long page")

    monkeypatch.setattr(_tables, "_write_part", fail)
    assert fails("reduce", parts, *OPTIONS, "--quiet") == "a short line"
