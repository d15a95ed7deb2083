"""Standard input and output: pipes, terminals, closed ones."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("polars")

OPTIONS = ("--target", "y", "--keep", "id", "--no-report")


def test_from_standard_input_to_standard_output(run, done, data, files):
    content = Path(data).read_bytes()
    result = run("reduce", "-", *OPTIONS, "--output", "-", stdin=content)
    assert result.code == 0, result.err
    assert files() == ["data.csv", "model.json"]
    assert "output: standard output" in result.err
    done("reduce", data, *OPTIONS, "--force")
    assert result.out == Path("data-reduced.csv").read_text(encoding="utf-8")


def test_standard_input_has_a_name_of_its_own(run, folder, files):
    result = run("reduce", "-", "--target", "y", stdin=b"a,b\n1,2\n")
    assert (result.code, result.err) == (1, "lincfa: standard input has no column 'y'\n")
    result = run("explain", "-", "--target", "y", "a", "b", stdin=b"")
    assert (result.code, result.err) == (1, "lincfa: standard input is empty.\n")
    assert files() == []


def test_a_table_from_standard_input_is_called_reduced(done, data, files, monkeypatch):
    with open(data, encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        done("reduce", "-", *OPTIONS)
    assert files() == ["data.csv", "model.json", "reduced.csv"]


def test_a_reader_that_has_enough(launch, save, columns):
    data = save({name: values * 300 for name, values in columns.items()})
    process = launch("reduce", data, *OPTIONS, "--output", "-", "--quiet")
    head = subprocess.run(["head", "-1"], stdin=process.stdout, capture_output=True, check=True)
    with process:
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 1
    assert head.stdout.startswith(b"id,word,y,day,")
    assert err == b""


def test_a_reader_that_has_gone(run, data):
    read, write = os.pipe()
    os.close(read)
    result = run("explain", data, "--target", "y", "a1", "a2", "--json", stdout=write)
    os.close(write)
    assert (result.code, result.err) == (1, "")


@pytest.mark.parametrize("number", [0, 1, 2])
def test_closed_streams(run, data, number):
    result = run(
        "explain",
        "-" if number == 0 else data,
        *("--target", "y", "a1", "a2"),
        preexec_fn=lambda: os.close(number),
    )
    if number == 0:
        assert (result.code, result.out) == (1, "")
        assert result.err == "lincfa: There is no standard input to read from.\n"
    else:
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith("As a pair") == (number == 2)


def test_output_that_cannot_be_written(run, data):
    with open("/dev/full", "w") as full:
        result = run("explain", data, "--target", "y", "a1", "a2", stdout=full)
    assert result.code == 1
    assert result.err == "lincfa: No space left on device\n"


def read_terminal(master):
    shown = b""
    while True:
        try:
            block = os.read(master, 4096)
        except OSError:  # nobody writes any more
            break
        if not block:
            break
        shown += block
    os.close(master)
    return shown.decode(errors="replace")


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_on_a_terminal(launch, data, monkeypatch, quiet):
    monkeypatch.setenv("TERM", "xterm")
    master, slave = pty.openpty()
    process = launch("reduce", data, *OPTIONS, *["--quiet"] * quiet, stderr=slave)
    os.close(slave)
    with process:
        shown = read_terminal(master)
        out = process.stdout.read().decode()
    assert process.returncode == 0
    for what in ("reading data.csv …", "merging 6 features …", "scoring …", "writing …"):
        assert (what in shown) != quiet
        assert what not in out
    assert (shown == "") == quiet
    assert ("output: data-reduced.csv" in out) != quiet
