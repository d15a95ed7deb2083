"""Names of files and columns never command a terminal, nor change the order of text."""

import json
import os
import shutil
import warnings
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")

COMMANDS = "\x1b[31m\x9b2J\x07\u202e\u2066\u200f\u2028\x85\x7f"
ESCAPED = r"\x1b[31m\x9b2J\x07\u202e\u2066\u200f\u2028\x85\x7f"
LINE = "\nnote: all is well"  # a line that lincfa did not print


def harmless(text):
    wrong = {letter for letter in text if not letter.isprintable()} - {"\n"}
    return not wrong and LINE not in text


def all_harmless(result):
    assert harmless(result.out), result.out
    assert harmless(result.err), result.err
    return result


def told(outcome):
    """Yield all texts in an outcome for programs."""
    if isinstance(outcome, dict):
        yield from (text for item in outcome.items() for each in item for text in told(each))
    elif isinstance(outcome, list):
        yield from (text for each in outcome for text in told(each))
    elif isinstance(outcome, str):
        yield outcome


@pytest.fixture
def named(save, columns):
    """A table whose name, columns and words are hostile."""
    renamed = {"a1": f"a{COMMANDS}", "b1": f"b{COMMANDS}", "word": f"w{COMMANDS}"}
    table = {renamed.get(name, name): values for name, values in columns.items()}
    return save(table, f"data{COMMANDS}.csv")


@pytest.mark.parametrize(
    "arguments",
    [
        ("reduce", "--target", f"a{COMMANDS}", "--target", "y", "--no-report"),
        ("reduce", "--target", f"none{COMMANDS}"),
        ("reduce", "--target", f"w{COMMANDS}", "--tolerance", "1", "--no-report"),
        ("explain", "--target", "y", f"a{COMMANDS}", f"b{COMMANDS}"),
        ("compare", "--target", "y", "--method", "ridge", "--n-folds", "2", "--repeats", "1"),
    ],
    ids=["reduce", "no such column", "classes", "explain", "compare"],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_names_of_files_and_columns(call, named, arguments, as_json):
    command, *options = arguments
    result = all_harmless(call(command, named, *options, *["--json"] * as_json))
    if as_json and not result.code and command != "compare":  # which names methods alone
        assert COMMANDS in "".join(told(json.loads(result.out)))


def test_reports(done, named):
    options = ("--target", f"a{COMMANDS}", "--target", "y", "--tolerance", "1", "--force")
    for name in ("r.html", "r.json"):
        done("reduce", named, *options, "--report", name)
        text = Path(name).read_text(encoding="utf-8")
        assert harmless(text)
    assert json.loads(text)["title"].startswith(f"data{COMMANDS}.csv, targets ")


def test_new_samples(call, done, named):
    done("reduce", named, "--target", "y", "--no-report", "--model", f"m{COMMANDS}.json")
    for command in ("apply", "predict"):
        all_harmless(call(command, f"m{COMMANDS}.json", named, "--output", f"{COMMANDS}.csv"))
        all_harmless(call(command, f"m{COMMANDS}.json", named, "--output", f"{COMMANDS}.csv"))


def test_lines_that_are_not_ours(call, save, columns):
    data = save(columns, f"data{LINE}.csv")
    outcome = call("reduce", data, "--target", "y", "--no-report")
    assert outcome.code == 0
    assert r"output: data\nnote: all is well-reduced.csv" in all_harmless(outcome).out
    assert all_harmless(call("reduce", data, "--target", f"none{LINE}")).code == 1


def test_wrong_usage(call, folder):
    result = all_harmless(call("reduce", "data.csv", "--target", "y", f"--{COMMANDS}"))
    assert result.code == 2
    assert ESCAPED in result.err
    assert ESCAPED in call("reduce", "d.csv", "--target", "y", "--report", COMMANDS).err


def test_warnings_of_libraries(call, data, monkeypatch):
    from lincfa.cli import _select

    def warn(*_):
        warnings.warn(f"of {COMMANDS}{LINE}", UserWarning, stacklevel=2)

    monkeypatch.setattr(_select, "note_codes", lambda *_: warn())
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        result = call("reduce", data, "--target", "y", "--no-report")
    assert f"UserWarning: of {ESCAPED}\nnote: all" in result.err


def test_progress(monkeypatch):
    from rich.console import Console

    from lincfa.cli import _terminal

    monkeypatch.setattr(_terminal, "_is_terminal", lambda _: True)
    terminal = _terminal.Terminal()
    environment = {"TERM": "xterm", "COLUMNS": "150"}
    terminal._errors = Console(file=StringIO(), force_terminal=True, _environ=environment)
    with terminal.busy(f"reading {COMMANDS}"):
        pass
    assert f"reading {ESCAPED} …" in terminal._errors.file.getvalue()


def test_parts_of_a_folder(call, folder):
    pytest.importorskip("dask")
    pytest.importorskip("pyarrow")
    place = Path(f"folder{COMMANDS}") / f"k{COMMANDS}=v{COMMANDS}"
    place.mkdir(parents=True)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(30, 3)), schema=["a", "b", "y"])
    frame.write_parquet(place / "1.parquet")
    reduce = ("reduce", place.parent, "--target", "y", "--test", "0", "--force")
    result = all_harmless(call(*reduce, "--output", "new"))
    assert result.code == 0, result.err
    assert rf"note: not numeric, kept unchanged: column 'k{ESCAPED}'" in result.err
    assert harmless(Path("report.html").read_text(encoding="utf-8"))
    (place / f"2{COMMANDS}.parquet").write_bytes(b"PAR1")
    result = all_harmless(call(*reduce, "--output", "newer"))
    assert f"2{ESCAPED}.parquet is not a Parquet file, or it is damaged." in result.err
    frame.rename({"a": f"a{COMMANDS}"}).write_parquet(place / f"2{COMMANDS}.parquet")
    result = all_harmless(call(*reduce, "--output", "newer"))
    assert f"2{ESCAPED}.parquet has no column 'a'" in result.err


def test_dimensions(call, folder):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    rng = np.random.default_rng(0)
    dims = (f"time{COMMANDS}", f"place{COMMANDS}")
    data = xr.Dataset(
        {f"t{COMMANDS}": (dims, rng.normal(size=(30, 3))), "y": (dims[0], rng.normal(size=30))}
    )
    data.to_zarr("d.zarr", zarr_format=2, consolidated=False)
    result = all_harmless(call("reduce", "d.zarr", "--target", "y", "--json"))
    assert result.code == 0
    assert COMMANDS in "".join(told(json.loads(result.out)))
    assert harmless(Path("report.html").read_text(encoding="utf-8"))
    result = all_harmless(call("reduce", "d.zarr", "--target", "y", "--samples", "x", "--force"))
    assert f"its dimensions are: time{ESCAPED} (30), place{ESCAPED} (3)" in result.err
    result = all_harmless(call("reduce", "d.zarr", "--target", f"t{COMMANDS}", "--force"))
    assert f"the dimensions of 't{ESCAPED}' are: time{ESCAPED}, place{ESCAPED}" in result.err


@pytest.fixture
def oddly_named(done, save, columns):
    """The table in a format, under a name that is not UTF-8."""

    def make(suffix):
        data, name = save(columns), os.fsdecode(b"d\xff") + suffix
        if suffix == ".csv":
            os.rename(data, name)
            return name
        shutil.copyfile(data, "plain.csv")
        frame = pl.read_csv(data).select("a1", "a2", "a3", "y")
        if suffix == ".xlsx":
            frame.write_excel("plain.xlsx")
        elif suffix in (".nc", ".zarr"):
            xr = pytest.importorskip("xarray")
            pytest.importorskip("netCDF4" if suffix == ".nc" else "zarr")
            made = xr.Dataset({column.name: ("n", column.to_numpy()) for column in frame})
            made.to_netcdf("plain.nc") if suffix == ".nc" else made.to_zarr(
                "plain.zarr", zarr_format=2
            )
        elif suffix == "":
            Path("plain").mkdir()
            frame.write_parquet("plain/1.parquet")
            os.rename("plain/1.parquet", os.fsdecode(b"plain/1\xff.parquet"))
        else:
            frame.write_parquet("plain.parquet")
        os.rename(f"plain{suffix}", name)
        return name

    return make


@pytest.mark.skipif(os.name == "nt", reason="file names are text there")
@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet", "", ".nc", ".zarr"])
def test_file_names_that_are_not_utf_8(call, oddly_named, suffix):
    name = oddly_named(suffix)
    options = ("--target", "y", "--tolerance", "1", "--json")
    result = all_harmless(call("reduce", name, *options))
    if suffix == ".nc":  # the library takes no such names
        told = "names of NetCDF files and of their folders must be UTF-8 text"
        assert result.err == f"lincfa: d\\udcff-reduced.nc: {told}\n"
        result = all_harmless(call("reduce", name, *options, "--output", "new.nc"))
        assert result.err == f"lincfa: d\\udcff.nc: {told}\n"
        return
    assert result.code == 0, result.err
    outcome = json.loads(result.out)
    assert outcome["data"]["file"] == name
    assert Path(outcome["written"]["output"]).exists()
    assert harmless(Path("report.html").read_text(encoding="utf-8"))
    for command in ("apply", "predict"):
        new = os.fsdecode(command.encode() + b"\xff") + suffix
        result = all_harmless(call(command, "model.json", name, "--json", "--output", new))
        assert result.code == 0, result.err
        assert Path(json.loads(result.out)["written"]["output"]).exists()
    if suffix == ".csv":
        report = os.fsdecode(b"r\xff.json")
        result = call(
            "reduce", name, *options, "--model", f"{name}.json", "--report", report, "--force"
        )
        assert all_harmless(result).code == 0, result.err
        assert json.loads(Path(report).read_text(encoding="utf-8"))["data"]["file"] == name
        assert all_harmless(call("explain", name, "--target", "y", "a1", "a2")).code == 0
        message = "lincfa: nod\\udcff.csv: No such file or directory\n"
        assert all_harmless(call("reduce", f"no{name}", "--target", "y")).err == message
    if suffix == "":
        os.renames(os.fsdecode(b"d\xff/1\xff.parquet"), os.fsdecode(b"d\xff/k=\xff/1.parquet"))
        message = all_harmless(
            call("reduce", name, "--target", "y", "--output", "new", "--force")
        ).err
        assert "the names of the folders are not UTF-8 text; rename them" in message
