"""Tables to run the commands on, and ways to run them: here, or as a user does."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lincfa.cli import main

pytest.importorskip("polars")
pytest.importorskip("rich")

FEATURES = ["a1", "a2", "a3", "b1", "b2", "b3"]
HEADER = ["id", "a1", "a2", "word", "a3", "b1", "y", "b2", "b3", "day"]


@pytest.fixture(scope="session")
def samples():
    """Sixty samples of six features around two factors, and a target."""
    rng = np.random.default_rng(5)
    factors = rng.normal(size=(60, 2))
    X = np.repeat(factors, 3, axis=1) + 0.3 * rng.normal(size=(60, 6))
    y = np.array([float(f"{v:.12f}") for v in factors @ [1.0, -2.0] + rng.normal(size=60)])
    return SimpleNamespace(X=X, y=y, names=FEATURES)


@pytest.fixture(scope="session")
def columns(samples):
    """The samples as columns of text, between others that are no features."""
    made = {name: [repr(v) for v in samples.X[:, k].tolist()] for k, name in enumerate(FEATURES)}
    made["y"] = [f"{value:.12f}0" for value in samples.y]
    made["id"] = [f"{row:05d}" for row in range(60)]
    made["word"] = [["é", " spaced", "NA", "", "=1+1"][row % 5] for row in range(60)]
    made["day"] = [f"2020-01-{1 + row % 28:02d}" for row in range(60)]
    return {name: made[name] for name in HEADER}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def save(folder):
    """Writes columns of plain text as CSV; gives the file's name."""

    def write(columns, name="data.csv", separator=","):
        lines = [separator.join(line) for line in zip(*columns.values(), strict=True)]
        text = "\n".join([separator.join(columns), *lines, ""])
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
        return name

    return write


@pytest.fixture
def data(save, columns):
    """The table as a file in the folder to work in."""
    return save(columns)


@pytest.fixture
def call(capsys):
    """Runs a command in this process; gives its exit code and what it printed."""

    def command(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        printed = capsys.readouterr()
        return SimpleNamespace(code=code, out=printed.out, err=printed.err)

    return command


@pytest.fixture
def done(call):
    """Runs a command in this process that must succeed."""

    def command(*arguments):
        result = call(*arguments)
        assert result.code == 0, result.err
        return result

    return command


@pytest.fixture
def fails(call):
    """Runs a command in this process that must fail, in a line; gives the line."""

    def command(*arguments, code=1):
        result = call(*arguments)
        assert result.code == code
        assert result.out == ""
        last = result.err.splitlines()[-1]
        assert "Traceback" not in result.err
        if code == 1:
            notes = [line for line in result.err.splitlines() if line.startswith("note: ")]
            assert len(result.err.splitlines()) == len(notes) + 1
            assert last.startswith("lincfa: ")
        return last.removeprefix("lincfa: ")

    return command


@pytest.fixture(scope="session")
def launch():
    """Starts a command as a user does; or a program in its place."""

    def start(*arguments, program=("-m", "lincfa.cli"), **options):
        surroundings = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
        surroundings["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
        pipe = subprocess.PIPE
        streams = {"stdin": subprocess.DEVNULL, "stdout": pipe, "stderr": pipe} | options
        return subprocess.Popen(
            [sys.executable, "-W", "error", *program, *map(str, arguments)],
            env=surroundings,
            **streams,
        )

    return start


@pytest.fixture(scope="session")
def run(launch):
    """Runs a command as a user does, in a process of its own."""

    def command(*arguments, stdin=None, **options):
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        process = launch(*arguments, **options)
        out, err = process.communicate(stdin)
        decoded = [stream.decode() if stream is not None else None for stream in (out, err)]
        return SimpleNamespace(code=process.returncode, out=decoded[0], err=decoded[1])

    return command


@pytest.fixture
def files():
    """Names what is in a folder, hidden files too."""
    return lambda folder=".": sorted(path.name for path in Path(folder).iterdir())


@pytest.fixture
def frame(samples):
    """A table with types."""
    pl = pytest.importorskip("polars")
    table = pl.DataFrame(samples.X, schema=samples.names, orient="row")
    return table.with_columns(
        pl.Series("y", samples.y),
        pl.Series("id", range(60), dtype=pl.Int16),
        pl.Series("day", [date(2020, 1, 1 + row % 28) for row in range(60)]),
        pl.Series("kind", ["a", "b", None] * 20, dtype=pl.Categorical),
        pl.Series("list", [[1, row] for row in range(60)]),
    )
