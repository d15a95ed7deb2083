"""Files are written whole or not at all, all of a command or none, and none is replaced unasked."""

import json
import os
import resource
import signal
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from lincfa._replacing import replacing_all, write_atomically
from lincfa._replacing._folders import foreign_file
from lincfa.cli import _write

pl = pytest.importorskip("polars")

OPTIONS = ("--target", "y", "--keep", "id")
# Code in C that holds the lock of Python: no handler that is written in Python runs there.
WAITING = """
import ctypes, sys
import lincfa.cli._files as files
import lincfa.cli._write as output
from lincfa.cli import main

places = {"reading": (files, "open_data"), "writing": (output, "write_frame")}
module, name = places[sys.argv.pop(1)]
function = getattr(module, name)

def and_wait(*arguments, **options):
    result = function(*arguments, **options)
    print("begun", flush=True)
    ctypes.PyDLL(None).pause()
    return result

setattr(module, name, and_wait)
sys.exit(main())
"""
ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL]


@contextmanager
def mounted(folder, *options):
    """Mount a small file system of its own; skip where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "lincfa-test", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a file system of one's own cannot be mounted here: {error}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("name", ["data-reduced.csv", "model.json", "report.html"])
def test_no_file_is_replaced_without_force(fails, done, data, files, name):
    Path(name).write_text("mine")
    message = fails("reduce", data, *OPTIONS)
    option = {"data-reduced.csv": "--output", "model.json": "--model"}.get(name, "--report")
    assert message == f"{name} exists; use --force to replace it, or another {option}"
    assert files() == sorted(["data.csv", name])
    assert Path(name).read_text() == "mine"
    done("reduce", data, *OPTIONS, "--force")
    assert Path(name).read_text() != "mine"


def test_apply_replaces_no_file_without_force(fails, done, data):
    done("reduce", data, *OPTIONS, "--no-report")
    written = Path("data-reduced.csv").read_bytes()
    Path("data-reduced.csv").write_text("mine")
    assert "data-reduced.csv exists" in fails("apply", "model.json", data)
    done("apply", "model.json", data, "--force")
    assert Path("data-reduced.csv").read_bytes() == written


def test_what_is_read_is_never_written_to(fails, data, files):
    before = Path(data).read_bytes()
    Path("link.csv").symlink_to(data)
    for option, path in (("--output", data), ("--output", "link.csv"), ("--model", f"./{data}")):
        message = fails("reduce", data, *OPTIONS, option, path, "--force")
        assert message == f"{path} is an input; choose another file with {option}"
    assert Path(data).read_bytes() == before
    assert files() == ["data.csv", "link.csv"]


def test_apply_does_not_write_to_the_model(fails, done, data):
    done("reduce", data, *OPTIONS, "--no-report", "--model", "g.csv")
    message = fails("apply", "g.csv", data, "--output", "g.csv", "--force")
    assert message == "g.csv is an input; choose another file with --output"


def test_one_file_for_two_purposes(fails, data, files):
    message = fails("reduce", data, *OPTIONS, "--model", "x.json", "--report", "./x.json")
    assert message == "--report and --model are the same file, ./x.json"
    assert files() == ["data.csv"]


def test_folders_that_are_not_there(fails, data):
    assert "does not exist" in fails("reduce", data, *OPTIONS, "--output", "there/r.csv")
    assert "does not exist" in fails("reduce", data, *OPTIONS, "--report", "there/r.html")


def test_a_folder_in_place_of_a_file_stays(fails, data, files):
    Path("model.json").mkdir()
    assert "model.json" in fails("reduce", data, *OPTIONS, "--force")
    assert files() == ["data.csv", "model.json"]


def test_names_given(done, data, files):
    Path("out").mkdir()
    options = ["--output", "out/r.tsv", "--model", "out/g.json", "--report", "out/p.html"]
    done("reduce", data, *OPTIONS, *options)
    assert files() == ["data.csv", "out"]
    assert files("out") == ["g.json", "p.html", "r.tsv"]


def test_outputs_are_where_one_works(done, data, files, monkeypatch):
    Path("here").mkdir()
    monkeypatch.chdir("here")
    done("reduce", f"../{data}", *OPTIONS, "--no-report")
    assert files() == ["data-reduced.csv", "model.json"]
    assert files("..") == ["data.csv", "here"]


def group(folder, version=2):
    folder.mkdir()
    name = ".zgroup" if version == 2 else "zarr.json"
    (folder / name).write_text(json.dumps({"zarr_format": version, "node_type": "group"}))


def array(folder, chunks, version=2):
    folder.mkdir()
    name = ".zarray" if version == 2 else "zarr.json"
    (folder / name).write_text(json.dumps({"zarr_format": version, "node_type": "array"}))
    for chunk in chunks:
        (folder / chunk).parent.mkdir(parents=True, exist_ok=True)
        (folder / chunk).write_text("numbers")


def a_project(folder):
    """What was lost once: a folder of one's own with a file that a store has too."""
    group(folder)
    (folder / "src").mkdir()
    (folder / "src/a.py").write_text("mine")
    return "src/a.py"


def a_store_with_notes(folder):
    group(folder)
    array(folder / "x", ["0", "1"])
    (folder / "x/notes.txt").write_text("mine")
    return "x/notes.txt"


def a_store_with_numbers_beside_its_arrays(folder):
    group(folder, 3)
    array(folder / "x", ["c/0/0", "c/0/1"], 3)
    (folder / "2020").write_text("mine")
    return "2020"


def another_settings_file(folder):
    folder.mkdir()
    (folder / "zarr.json").write_text('{"theme": "mine"}')
    return "zarr.json"


def a_table_with_notes(folder):
    folder.mkdir()
    (folder / "part.0.parquet").write_text("rows")
    (folder / "year=2020").mkdir()
    (folder / "year=2020/notes").write_text("mine")
    return "year=2020/notes"


def a_table_with_a_link(folder):
    folder.mkdir()
    Path("elsewhere.parquet").write_text("mine")
    (folder / "more.parquet").symlink_to("../elsewhere.parquet")
    return "more.parquet"


@pytest.mark.parametrize(
    "make",
    [
        a_project,
        a_store_with_notes,
        a_store_with_numbers_beside_its_arrays,
        another_settings_file,
        a_table_with_notes,
        a_table_with_a_link,
    ],
)
def test_a_folder_with_other_files_is_never_replaced(fails, data, files, tmp_path, make):
    foreign = make(tmp_path / "own.zarr")
    before = files(), sorted(Path("own.zarr").rglob("*"))
    message = fails("reduce", data, *OPTIONS, "--output", "own.zarr", "--force")
    assert message == (
        f"own.zarr holds other files too, such as {foreign}; choose a new folder with --output"
    )
    assert (files(), sorted(Path("own.zarr").rglob("*"))) == before
    # Nor when the other files come while a new store is being written.
    with pytest.raises(FileExistsError, match="such as"), replacing_all(["own.zarr"]) as (part,):
        make_store(part, "new")
    assert (files(), sorted(Path("own.zarr").rglob("*"))) == before


@pytest.mark.parametrize("version", [2, 3])
def test_whole_stores_and_tables_are_replaced(tmp_path, version):
    old = tmp_path / "old"
    group(old, version)
    (old / ".zattrs").write_text("{}")
    (old / ".zmetadata").write_text("{}")
    group(old / "g", version)
    chunks = ["0", "1.0", "0/1"] if version == 2 else ["c", "c/0", "c.0.1", "0.2"]
    array(old / "g/x", [chunk for chunk in chunks if chunk not in ("c", "0")], version)
    array(old / "one", chunks[:1], version)
    other = tmp_path / "other"
    (other / "year=2020").mkdir(parents=True)
    for name in ("_SUCCESS", "_metadata", "_common_metadata", "year=2020/part.0.parquet"):
        (other / name).write_text("")
    with replacing_all([old, other]) as parts:
        for part in parts:
            make_store(part, "new")
    assert (text_of(old), text_of(other)) == ("new", "new")


def test_what_xarray_writes_is_a_store(tmp_path):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    written = xr.Dataset({"x": (("t", "u"), np.ones((4, 3))), "one": 1.0}).chunk(t=2)
    for version in (2, 3):
        path = tmp_path / f"{version}.zarr"
        written.to_zarr(path, zarr_format=version, consolidated=version == 2)
        assert foreign_file(path) is None
        written.to_zarr(path / "g/h", zarr_format=version, consolidated=version == 2)
        assert foreign_file(path) is None
        (path / "x" / "mine").write_text("")
        assert foreign_file(path) == "x/mine"


def test_what_is_read_as_parquet_files_may_be_replaced(tmp_path):
    for name in ("a.parquet", "b.PQ", "c.parq", "_SUCCESS"):
        (tmp_path / name).write_text("")
    assert foreign_file(tmp_path) is None
    (tmp_path / "d.csv").write_text("")
    assert foreign_file(tmp_path) == "d.csv"


def special_files(folder):
    os.mkfifo(folder / "pipe")
    address = socket.socket(socket.AF_UNIX)
    address.bind("socket")
    address.close()
    (folder / "folder").mkdir()
    kinds = {"pipe": "a pipe", "socket": "a socket", os.devnull: "a device"}
    links = {}
    for number, (path, kind) in enumerate(kinds.items()):
        (folder / f"link {number}").symlink_to(path)
        links[f"link {number}"] = kind
    (folder / "to a folder").symlink_to("folder")
    return kinds | links


def test_no_device_pipe_or_socket_is_replaced(fails, data, files, folder):
    special = special_files(folder)
    there = files()
    for path, kind in special.items():
        for option in ("--output", "--model"):
            message = fails("reduce", data, *OPTIONS, option, path, "--no-report", "--force")
            advice = f"give another name with {option}"
            advice += "; - is standard output" if option == "--output" else ""
            assert message == f"{path} is {kind}, which no file can replace; {advice}"
        with pytest.raises(FileExistsError, match=f"is {kind}, which no file can replace"):
            write_atomically(path, "text")
    for name in ("folder", "to a folder"):
        with pytest.raises(IsADirectoryError, match=f"{name} is a folder"):
            write_atomically(name, "text")
    assert files() == there
    assert os.stat(os.devnull).st_mode & 0o170000 == 0o020000


def test_a_link_to_a_store_is_not_replaced(fails, data, files, tmp_path):
    make_store(tmp_path / "a.zarr", "old")
    Path("link.zarr").symlink_to("a.zarr")
    message = fails("reduce", data, *OPTIONS, "--output", "link.zarr", "--force")
    assert message == (
        "link.zarr is a link to a folder; give the name of the folder itself with --output"
    )
    assert Path("link.zarr").is_symlink()
    assert text_of(Path("a.zarr")) == "old"


def test_no_file_takes_the_place_of_a_store(fails, data, tmp_path):
    make_store(tmp_path / "a.zarr", "old")
    message = fails("reduce", data, *OPTIONS, "--model", "a.zarr", "--force")
    assert message == "a.zarr is a folder; give the name of a file with --model"
    assert text_of(Path("a.zarr")) == "old"


def test_no_output_lies_in_a_folder_that_is_replaced(fails, data, tmp_path):
    make_store(tmp_path / "a.zarr", "old")
    options = ("--output", "a.zarr", "--model", "a.zarr/x.json", "--force")
    message = fails("reduce", data, *OPTIONS, *options)
    place = os.path.realpath("a.zarr/x.json")
    assert message == f"a.zarr holds --model, {place}; choose another folder with --output"
    Path(data).rename("a.zarr/data.csv")
    message = fails("reduce", "a.zarr/data.csv", *OPTIONS, "--output", "a.zarr", "--force")
    assert message.startswith("a.zarr holds ")
    assert text_of(Path("a.zarr")) == "old"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left"), ValueError()])
def test_an_error_at_the_end_leaves_what_was(call, data, files, monkeypatch, error):
    for name in ("data-reduced.csv", "report.html"):
        Path(name).write_text("mine")

    def fail(place, *arguments, **options):
        Path(place).write_text("half")
        raise error

    monkeypatch.setattr(_write, "write_frame", fail)
    result = call("reduce", data, *OPTIONS, "--force")
    assert result.code == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert files() == ["data-reduced.csv", "data.csv", "report.html"]
    assert {Path(name).read_text() for name in ("data-reduced.csv", "report.html")} == {"mine"}


@pytest.mark.parametrize("end", ENDING)
@pytest.mark.parametrize("during", ["reading", "writing"])
def test_a_signal_ends_the_program_at_once(launch, data, files, during, end):
    Path("report.html").write_text("mine")
    process = launch(during, "reduce", data, *OPTIONS, "--force", program=("-c", WAITING))
    assert process.stdout.readline() == b"begun\n"
    assert any(name.startswith(".lincfa-") for name in files()) == (during == "writing")
    process.send_signal(end)
    _, err = process.communicate()  # whoever cleans up has standard error too
    assert process.returncode == -end  # 128 + end in a shell
    assert b"Traceback" not in err
    assert files() == ["data.csv", "report.html"]
    assert Path("report.html").read_text() == "mine"


def test_nothing_stays_of_what_was_for_standard_output(launch, data, files, monkeypatch):
    Path("temporary").mkdir()
    monkeypatch.setenv("TMPDIR", "temporary")
    options = ("--output", "-", "--no-report")
    process = launch("writing", "reduce", data, *OPTIONS, *options, program=("-c", WAITING))
    assert process.stdout.readline() == b"begun\n"
    assert files("temporary")
    process.kill()
    process.communicate()
    assert files("temporary") == []
    assert files() == ["data.csv", "temporary"]


def test_a_signal_that_is_ignored_stays_so(launch, data, files):
    """As with nohup."""

    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    arguments = ("reading", "reduce", data, *OPTIONS, "--no-report")
    process = launch(*arguments, program=("-c", WAITING), preexec_fn=ignore)
    assert process.stdout.readline() == b"begun\n"
    for number in (signal.SIGHUP, signal.SIGINT):
        process.send_signal(number)
    process.terminate()
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert files() == ["data.csv"]


ENDLESS = Path(__file__).parents[3] / "shared" / "faults" / "endless.nc"
OPENING = """
import sys, xarray
from lincfa.cli import main

open_dataset = xarray.open_dataset

def announced(*arguments, **options):
    print("opening", flush=True)
    return open_dataset(*arguments, **options)

xarray.open_dataset = announced
sys.exit(main())
"""


@pytest.mark.skipif(not ENDLESS.exists(), reason=f"{ENDLESS} is not here")
def test_a_file_that_is_never_read_to_its_end(launch, folder, files):
    pytest.importorskip("netCDF4")
    process = launch("reduce", ENDLESS, "--target", "y", program=("-c", OPENING))
    assert process.stdout.readline() == b"opening\n"
    process.terminate()
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert files() == []


@pytest.mark.skipif(not ENDLESS.exists(), reason=f"{ENDLESS} is not here")
@pytest.mark.parametrize(
    ("where", "end"), [*(("threads", end) for end in ENDING), ("processes", signal.SIGTERM)]
)
def test_a_file_beside_chunks_that_is_never_read_to_its_end(
    launch, samples, folder, files, where, end
):
    pytest.importorskip("netCDF4")
    pytest.importorskip("dask.dataframe")
    (folder / "data").mkdir()
    table = pl.DataFrame(samples.X, schema=samples.names).with_columns(y=pl.Series(samples.y))
    table.write_parquet("data/0.parquet")
    stations = ("--connectivity", "stations", "--radius-km", "5", "--stations", ENDLESS)
    arguments = ("reduce", "data", "--target", "y", "--dask", where, *stations)
    process = launch(*arguments, program=("-c", OPENING))
    assert process.stdout.readline() == b"opening\n"
    process.send_signal(end)
    _, err = process.communicate()  # which other processes have too
    assert process.returncode == -end
    assert err == b""
    assert files() == ["data"]


def test_a_read_only_folder(run, data, tmp_path):
    with mounted(tmp_path / "fixed", "size=64k", "ro") as folder:
        result = run("reduce", data, *OPTIONS, "--output", folder / "r.csv")
        assert result.code == 1
        path = folder / "r.csv"
        assert result.err == f"lincfa: {path}: the folder {folder} is not writable\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_a_folder_without_permission(fails, data, tmp_path):
    (tmp_path / "fixed").mkdir(mode=0o500)
    message = fails("reduce", data, *OPTIONS, "--output", "fixed/r.csv")
    assert message.endswith("is not writable")


def test_a_full_disk(run, data, files, tmp_path):
    with mounted(tmp_path / "small", "size=16k") as folder:
        options = ["--output", folder / "r.csv", "--model", folder / "g", "--report"]
        result = run("reduce", data, *OPTIONS, *options, folder / "r.html")
        assert result.code == 1
        assert "No space left on device" in result.err.splitlines()[-1]
        assert f"{folder}/r.html: " in result.err.splitlines()[-1]
        assert "Traceback" not in result.err
        assert files(folder) == []


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet"])
def test_a_file_that_grows_too_large(run, save, columns, files, suffix):
    noise = np.random.default_rng(0)  # which no compression makes small
    data = save(columns | {"long": [noise.bytes(300).hex() for _ in range(60)]})

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    options = ["--output", f"r.{suffix}", "--no-report", "--tolerance", "0.0001"]
    result = run("reduce", data, *OPTIONS, *options, preexec_fn=limit)
    assert result.code == 1
    assert result.err.splitlines()[-1].startswith(f"lincfa: r.{suffix}: ")
    assert "too large" in result.err.splitlines()[-1].lower()
    assert "Traceback" not in result.err
    assert files() == ["data.csv"]


@pytest.mark.parametrize("output", ["r", "r.zarr"])
@pytest.mark.parametrize("where", ["threads", "processes"])
def test_a_table_in_chunks_too_large_for_the_disk_is_named(
    fails, columns, files, tmp_path, monkeypatch, output, where
):
    pytest.importorskip("dask.dataframe")
    pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dask.system.CPU_COUNT", 1)  # processes take seconds to start
    random = np.random.default_rng(0)
    long = [random.bytes(500).hex() for _ in range(60)]
    numbers = {name: pl.Series(columns[name]).cast(float) for name in ("a1", "a2", "y")}
    table = pl.DataFrame(numbers | {"long": long})
    Path("data").mkdir()
    for start in (0, 30):
        table[start : start + 30].write_parquet(f"data/{start}.parquet")
    with mounted(tmp_path / "small", "size=8k") as folder:
        options = ("--no-report", "--dask", where, "--output", f"small/{output}")
        message = fails("reduce", "data", "--target", "y", *options)
        assert message == (
            f"small/{output}: No space left on device; free some space there, or write elsewhere"
        )
        assert files(folder) == []
    assert files() == ["data", "small"]


@pytest.mark.parametrize("suffix", ["csv", "csv.xz", "parquet", "feather", "nc", "zarr"])
def test_a_table_too_large_for_the_disk_is_named(fails, save, columns, files, tmp_path, suffix):
    if suffix in ("nc", "zarr"):
        pytest.importorskip("xarray")
        pytest.importorskip("netCDF4" if suffix == "nc" else "zarr")
    random = np.random.default_rng(0)
    data = save(columns | {"long": [random.bytes(500).hex() for _ in range(60)]})
    with mounted(tmp_path / "small", "size=8k") as folder:
        message = fails("reduce", data, *OPTIONS, "--no-report", "--output", f"small/r.{suffix}")
        assert message.startswith(f"small/r.{suffix}: ")
        assert "No space left" in message or "disk full" in message
        assert files(folder) == []
    assert files() == ["data.csv", "small"]


def make_store(path, text):
    path.mkdir()
    (path / "zarr.json").write_text(json.dumps({"zarr_format": 3, "attributes": {"is": text}}))


def text_of(store):
    return json.loads((store / "zarr.json").read_text())["attributes"]["is"]


def test_a_folder_takes_the_place_of_a_store(tmp_path):
    old = tmp_path / "a.zarr"
    make_store(old, "old")
    (old / ".zattrs").write_text("gone")
    with replacing_all([old]) as (part,):
        make_store(part, "new")
        assert text_of(old) == "old"
    assert [file.name for file in old.iterdir()] == ["zarr.json"]
    assert text_of(old) == "new"
    assert list(tmp_path.iterdir()) == [old]


def test_a_folder_takes_the_place_of_a_file(tmp_path):
    old = tmp_path / "table"
    old.write_text("old")
    with replacing_all([old]) as (part,):
        make_store(part, "new")
    assert text_of(old) == "new"
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize("error", [ValueError, OSError, KeyboardInterrupt])
def test_an_error_leaves_the_old_store(tmp_path, error):
    old = tmp_path / "a.zarr"
    make_store(old, "old")

    def fail(part):
        make_store(part, "new")
        raise error("in the middle")

    with pytest.raises(error, match="in the middle"), replacing_all([old]) as (part,):
        fail(part)
    assert text_of(old) == "old"
    assert list(tmp_path.iterdir()) == [old]


def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    names = [str(tmp_path / "one"), str(tmp_path / "other")]

    def fail(parts, place):
        parts[0].write_text("whole")
        raise OSError(28, "No space left on device", str(place))

    for place, said in ((None, "other'$"), (tmp_path / "elsewhere", "elsewhere'$")):
        with pytest.raises(OSError, match=said), replacing_all(names) as parts:
            fail(parts, place or parts[1])
    assert list(tmp_path.iterdir()) == []
