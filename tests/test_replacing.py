"""Files and folders are replaced together or not at all, wherever the process that does it ends."""

import errno
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from lincfa import _replacing
from lincfa._replacing import _journal, repair, repair_beside, replacing_all, write_atomically

pytest.importorskip("fcntl")

# A process of its own, which reads this one room: it is fast to start. It ends, or fails, before
# its step of that number; steps are what changes names.
PROGRAM = """
import os, signal, sys
from pathlib import Path

sys.path.append(sys.argv[1])
import _replacing
left, end = int(sys.argv[2]), sys.argv[3]
steps = {"os.rename", "os.link", "os.symlink", "os.remove", "os.rmdir"}

def step(event, arguments):
    global left
    left -= event in steps
    if left == 0 and event in steps:
        if end == "OSError":
            raise OSError(5, "Input/output error")
        os.kill(os.getpid(), getattr(signal, end))

if sys.argv[4] == "repair":
    sys.addaudithook(step)
    _replacing.repair([Path("."), Path("other")])
elif sys.argv[4] == "write":
    sys.addaudithook(step)
    with _replacing.replacing_all(["model.json", "other/report.html", "table.zarr"]) as parts:
        for part in parts[:2]:
            part.write_text("new")
        parts[2].mkdir()
        (parts[2] / ".zgroup").write_text('{"zarr_format": 2, "is": "new"}')
        (parts[2] / "x").mkdir()
        (parts[2] / "x" / ".zattrs").write_text("{}")
    print(-left)
else:
    with _replacing.replacing_all(["model.json", "other/report.html"]) as parts:
        parts[0].write_text("new")
        print("written in part", flush=True)
        signal.pause()
"""


def start(what, step=0, end="SIGKILL"):
    package = str(Path(_replacing.__file__).parents[1])
    command = [sys.executable, "-I", "-c", PROGRAM, package, str(step), end, what]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(*arguments):
    process = start(*arguments)
    out, _ = process.communicate()
    return process.returncode, out


@pytest.fixture
def begin(tmp_path, monkeypatch):
    """Makes a new folder, with old outputs or without any."""
    numbers = count()

    def make(old):
        folder = tmp_path / str(next(numbers))
        (folder / "other").mkdir(parents=True)
        monkeypatch.chdir(folder)
        if old:
            Path("model.json").write_text("old")
            Path("other/report.html").write_text("old")
            Path("table.zarr").mkdir()
            Path("table.zarr/.zgroup").write_text('{"zarr_format": 2, "is": "old"}')

    return make


def outputs():
    """What is in the places of the outputs: old, new or nothing."""
    found = []
    for name in ("model.json", "other/report.html", "table.zarr/.zgroup"):
        text = Path(name).read_text() if Path(name).exists() else None
        found.append(json.loads(text)["is"] if text and text.startswith("{") else text)
    return found


def hidden():
    return [str(path) for path in Path().rglob("*") if path.name.startswith(".lincfa-")]


def all_or_nothing(old):
    """Whether everything is as it was, or new."""
    return outputs() in ([old] * 3, ["new"] * 3)


@pytest.fixture
def steps(begin):
    """Numbers the steps of a whole run."""

    def of(old):
        begin(old)
        code, out = run("write")
        assert code == 0
        assert outputs() == ["new"] * 3
        assert hidden() == []
        return range(1, int(out) + 1)

    return of


@pytest.mark.parametrize("old", [None, "old"])
@pytest.mark.parametrize("end", ["SIGKILL", "SIGTERM", "SIGINT", "OSError"])
def test_a_process_that_ends_at_any_step(begin, steps, old, end):
    states = []
    for step in steps(old):
        begin(old)
        code, _ = run("write", step, end)
        assert code != 0 or end == "OSError"  # where a file cannot be linked, it is renamed
        states.append(outputs())
        assert end == "SIGKILL" or all_or_nothing(old), step
        repair([Path(), Path("other")])
        assert all_or_nothing(old), step
        assert hidden() == []
    assert [old] * 3 in states
    assert ["new"] * 3 in states
    mixed = [state for state in states if state not in ([old] * 3, ["new"] * 3)]
    assert bool(mixed) == (end == "SIGKILL")


@pytest.mark.parametrize("end", ["SIGKILL", "OSError"])
def test_what_repairs_may_end_too(begin, steps, end):
    for step in steps("old"):
        for repairing in (2, 4):
            begin("old")
            run("write", step, "SIGKILL")
            run("repair", repairing, end)
            repair([Path(), Path("other")])
            assert all_or_nothing("old"), (step, repairing)
            assert hidden() == []


def test_what_a_living_process_writes_is_left_alone(begin):
    begin("old")
    process = start("wait")
    assert process.stdout.readline() == b"written in part\n"
    before = sorted(hidden())
    assert len(before) == 3  # the journal, a link to it, and a file
    repair([Path(), Path("other")])
    with replacing_all(["model.json"]) as (part,):
        part.write_text("from another")
    assert sorted(hidden()) == before
    process.kill()
    process.communicate()
    with replacing_all(["other/else.json"]) as (part,):  # which finds the link
        part.write_text("new")
    assert hidden() == []
    assert outputs()[:2] == ["from another", "old"]


@pytest.fixture
def killed_between_renames(begin, steps):
    """Two outputs are new, and the third is moved aside."""
    for step in steps("old"):
        begin("old")
        run("write", step, "SIGKILL")
        if outputs() == ["new", "new", None]:
            return


@pytest.mark.usefixtures("killed_between_renames")
def test_what_was_written_since_is_kept():
    Path("other/report.html").write_text("mine")
    place = os.path.realpath("other")
    for _ in range(2):
        with pytest.raises(FileExistsError, match="was written by another program") as raised:
            repair([Path("other")])
        assert str(raised.value).startswith(f"{place}/report.html was written by another program")
        assert outputs() == ["old", "mine", "old"]
    (kept,) = [path for path in hidden() if path.endswith(".old")]
    assert str(raised.value).count(f"{os.path.realpath(kept)}. Move that") == 1
    assert Path(kept).read_text() == "old"
    with replacing_all(["model.json"]) as (part,):  # nor does it hinder others
        part.write_text("new")
    Path(kept).unlink()
    repair([Path("other")])
    assert outputs() == ["new", "mine", "old"]
    assert hidden() == []


@pytest.mark.usefixtures("killed_between_renames")
def test_a_folder_that_was_moved_is_repaired():
    here = Path().resolve()
    here.rename(here.with_name("elsewhere"))
    os.chdir(here.with_name("elsewhere"))
    repair([Path()])
    assert outputs() == ["old"] * 3
    assert hidden() == []


@pytest.mark.usefixtures("killed_between_renames")
def test_what_this_process_writes_is_left_alone_also_where_locks_are_those_of_a_process(
    monkeypatch,
):
    """As over NFS, where a second lock of the same process is granted."""
    import fcntl

    monkeypatch.setattr(fcntl, "flock", fcntl.lockf)
    with replacing_all(["model.json"]) as (first,):
        first.write_text("first")
        with replacing_all(["other/else.json"]) as (second,):
            second.write_text("second")
        assert first.exists()
        repair([Path(), Path("other")])
        assert first.read_text() == "first"
    assert Path("model.json").read_text() == "first"
    assert hidden() == []


def test_a_signal_during_the_moves_leaves_nothing_hidden(begin):
    """It is delivered when everything is done, and ends a process that cleans up no more."""
    begin("old")
    step = 1
    while run("write", step, "SIGTERM")[0] != 0:
        if outputs() == ["new"] * 3:
            assert hidden() == []
            return
        step += 1
    raise AssertionError("no signal came when all was new")


def replace_table():
    with replacing_all(["table.zarr"]) as (part,):
        part.mkdir()
        (part / ".zgroup").write_text('{"zarr_format": 2, "is": "new"}')


def test_what_cannot_be_removed_is_removed_later(begin, monkeypatch):
    begin("old")
    with monkeypatch.context() as context:
        context.setattr(_journal, "_ATTEMPTS", 1)
        context.setattr(_journal.shutil, "rmtree", lambda *_, **__: None)
        with pytest.warns(UserWarning, match="is of no use any more, but cannot be removed"):
            replace_table()
    assert outputs()[2] == "new"
    assert len(hidden()) == 2  # the old folder, and the journal
    repair([Path()])
    assert hidden() == []
    assert outputs()[2] == "new"


NO_JOURNALS = ["5\n", '["model.json"]\n5\n', "[" * 99_999, "{}\n", '["f/x"]\n[[null,null]]\n']


@pytest.mark.parametrize("content", NO_JOURNALS)
def test_what_is_no_journal_hinders_nothing(begin, content):
    begin("old")
    Path("f").touch()
    Path(".lincfa-a.journal").write_text(content)
    Path(".lincfa-b.journal").mkdir()
    with replacing_all(["model.json"]) as (part,):
        part.write_text("new")
    assert outputs() == ["new", "old", "old"]


@pytest.mark.usefixtures("killed_between_renames")
def test_who_reads_finds_everything_put_right():
    repair_beside("model.json")
    assert outputs() == ["old"] * 3
    assert hidden() == []


def test_errors_that_are_not_of_the_disk_name_no_output(begin):
    begin("old")
    with (
        pytest.raises(ConnectionRefusedError, match=r"^\[Errno 111\] Connection refused$"),
        replacing_all(["model.json"]),
    ):
        raise ConnectionRefusedError(111, "Connection refused")


def test_no_journal_of_another_name_is_followed(begin):
    """A link to a file of one's own says nothing of what to remove."""
    begin("old")
    Path("notes").write_text('["model.json"]\n')
    Path("notes-0.part").write_text("mine")
    Path(".lincfa-0.journal").symlink_to("notes")
    Path(".lincfa-1.journal").write_text("damaged\n\n")
    repair([Path()])
    assert Path("notes-0.part").read_text() == "mine"
    assert outputs() == ["old"] * 3


def replace_all(text):
    with replacing_all(["model.json", "other/report.html", "table.zarr"]) as parts:
        for part in parts[:2]:
            part.write_text(text)
        parts[2].mkdir()
        (parts[2] / ".zgroup").write_text(json.dumps({"zarr_format": 2, "is": text}))


def stopped(what, step):
    """A process that has been stopped before a step."""
    process = start(what, step, "SIGSTOP")
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    return process


@pytest.fixture
def when_waiting(monkeypatch):
    """Has a function called when this process begins to wait for another; lists that it did."""
    take = _journal.FolderLocks.take

    def set_up(act):
        def take_or_act(*arguments, **options):
            taken = take(*arguments, **options)
            if not taken and not waits:
                waits.append(True)
                act()
            return taken

        waits = []
        monkeypatch.setattr(_journal.FolderLocks, "take", take_or_act)
        return waits

    return set_up


def end(process, number):
    process.send_signal(number)
    process.communicate()


@pytest.mark.parametrize("number", [signal.SIGCONT, signal.SIGKILL])
def test_two_processes_that_replace_the_same_take_turns(begin, steps, when_waiting, number):
    waited = []
    for step in steps("old"):
        begin("old")
        process = stopped("write", step)
        mixed = outputs() not in (["old"] * 3, ["new"] * 3)
        waits = when_waiting(lambda process=process: end(process, number))
        replace_all("from here")
        if process.poll() is None:  # it had not begun, or was through
            end(process, number)
        assert waits or not mixed
        assert outputs() in (["from here"] * 3, ["new"] * 3), step
        assert outputs() == ["from here"] * 3 or not waits, step
        repair([Path(), Path("other")])
        assert hidden() == []
        waited += waits
    assert waited


@pytest.mark.usefixtures("killed_between_renames")
def test_who_repairs_takes_turns_too(when_waiting):
    process = stopped("repair", 2)
    waits = when_waiting(lambda: end(process, signal.SIGCONT))
    replace_all("from here")
    assert waits
    assert outputs() == ["from here"] * 3
    assert hidden() == []


@pytest.fixture
def stopped_between_renames(begin, steps):
    for step in steps("old"):
        begin("old")
        process = stopped("write", step)
        if outputs() == ["new", "new", None]:
            yield process
            return
        end(process, signal.SIGKILL)


def test_who_waits_too_long_is_told_for_whom(stopped_between_renames, monkeypatch):
    process = stopped_between_renames
    monkeypatch.setattr(_journal, "_TURNS", 1)
    before = sorted(hidden())
    with pytest.raises(TimeoutError) as raised, replacing_all(["model.json"]) as (part,):
        write_atomically(part, "from here")  # which need not wait
    assert str(raised.value) == (
        f"{Path('model.json').resolve()}: another lincfa command (process {process.pid}) is "
        "replacing files there; try again when it has finished"
    )
    assert sorted(hidden()) == before
    end(process, signal.SIGCONT)
    assert outputs() == ["new"] * 3
    assert hidden() == []


@pytest.mark.usefixtures("killed_between_renames")
def test_where_the_system_has_no_locks(monkeypatch):
    import fcntl

    def fail(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", fail)
    with replacing_all(["other/else.json"]) as (part,):
        part.write_text("new")
    assert Path("other/else.json").read_text() == "new"
    assert not Path("other/.lincfa-lock").exists()


@contextmanager
def locked(path):
    """Lock a file as another process would."""
    import fcntl

    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_a_lock_of_another_user_counts(begin, monkeypatch):
    begin("old")
    monkeypatch.setattr(_journal, "_TURNS", 1)
    really = os.open

    def denying(path, flags, *mode, **options):
        if flags & os.O_CREAT and Path(path).name == ".lincfa-lock":
            raise PermissionError(errno.EACCES, "Permission denied")
        return really(path, flags, *mode, **options)

    monkeypatch.setattr(os, "open", denying)
    with locked(".lincfa-lock"), pytest.raises(TimeoutError, match="another lincfa command"):
        replace_all("new")
    assert outputs() == ["old"] * 3


def test_who_wants_more_locks_keeps_those_that_it_has(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    with _journal.FolderLocks() as locks, _journal.FolderLocks() as more:
        assert locks.take(folders[:1])
        with locked(folders[1] / ".lincfa-lock"):
            assert not more.take(folders, besides=locks)
        assert more.take(folders, besides=locks)
        assert not _journal.FolderLocks().take(folders[:1])


def test_a_lock_of_the_user_is_no_hindrance(begin, monkeypatch):
    """As by ``flock . lincfa reduce ...``."""
    import fcntl

    begin("old")
    monkeypatch.setattr(_journal, "_TURNS", 1)
    number = os.open(".", os.O_RDONLY)
    fcntl.flock(number, fcntl.LOCK_EX)
    replace_all("from here")
    os.close(number)
    assert outputs() == ["from here"] * 3
    assert hidden() == []
