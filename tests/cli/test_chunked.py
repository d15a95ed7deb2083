"""Tables in chunks, by dask: the same groups and the same tables as in memory."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from lincfa import load
from lincfa.cli._files import _fields

pl = pytest.importorskip("polars")
pytest.importorskip("dask.dataframe")

PIECES = ((0, 7), (7, 7), (7, 36), (36, 60))  # one of them empty
OPTIONS = ("--target", "y", "--keep", "id")


@pytest.fixture
def frame(frame):
    """A table with types, and with missing values in two rows."""
    return frame.with_columns(
        pl.Series("still", [2.0] * 60), pl.Series("nothing", [None] * 60, dtype=pl.Float64)
    )


def divide(frame, folder="data"):
    """Write a table as files of differing length, ``part.10`` the last of them."""
    Path(folder).mkdir()
    for (start, stop), number in zip(PIECES, (0, 1, 2, 10), strict=True):
        frame[start:stop].write_parquet(f"{folder}/part.{number}.parquet")
    return folder


@pytest.fixture
def parts(folder, frame):
    """The table as a folder, and as one file for the command in memory."""
    frame.write_parquet("whole.parquet")
    return divide(frame)


def holes(frame):
    """The table with missing values in rows 4 and 50."""
    rows = np.arange(60)
    return frame.with_columns(
        a1=pl.when(pl.Series(rows == 3)).then(None).otherwise(pl.col("a1")),
        b2=pl.when(pl.Series(rows == 49)).then(np.nan).otherwise(pl.col("b2")),
    )


def in_memory(done, *options, data="whole.parquet", output="memory.parquet"):
    names = ("--output", output, "--model", "memory.json", "--report", "memory.json.json")
    result = done("reduce", data, *OPTIONS, *options, *names, "--json")
    return json.loads(result.out)


def same_groups(one, other):
    """Whether two saved models have the same groups, of the same features by the same numbers."""
    first, second = load(one), load(other)
    assert first.labels_.tolist() == second.labels_.tolist()
    assert list(first._columns.labels) == list(second._columns.labels)
    for name in ("mean_", "scale_", "target_correlation_"):
        assert np.allclose(getattr(first, name), getattr(second, name), rtol=1e-10, atol=1e-12)
    return first.n_groups_ > 1


def same_table(one, other):
    """Whether two tables are the same, but for the rounding of the reduced features."""
    assert one.columns == other.columns
    for name in one.columns:
        if name.startswith(("mean(", "a", "b")):
            assert np.allclose(one[name].to_numpy(), other[name].to_numpy(), rtol=1e-9, atol=1e-12)
        else:
            assert one[name].equals(other[name]), name
    return True


SETTINGS = [
    ("--tolerance", 1),
    ("--tolerance", 1, "--folds", "blocks", "--test", 0.2),
    ("--tolerance", 1, "--test", 0, "--strategy", "agglomerative"),
    ("--tolerance", "cv", "--strategy", "sequential"),
]


@pytest.mark.parametrize("options", SETTINGS)
def test_a_folder_gives_what_a_file_gives(done, parts, files, options):
    expected = in_memory(done, *options)
    told = json.loads(done("reduce", parts, *OPTIONS, *options, "--json").out)
    assert same_groups("model.json", "memory.json")
    written = pl.read_parquet("data-reduced/*.parquet")
    assert same_table(written, pl.read_parquet("memory.parquet"))
    assert files("data-reduced") == [f"part.0000{number}.parquet" for number in range(3)]
    for entry in ("headline", "n_samples", "n_features", "n_groups", "notes", "constant"):
        assert told[entry] == expected[entry], entry
    assert told["data"]["held out for the scores"] == expected["data"]["held out for the scores"]
    if expected["scores"] is None:
        assert told["scores"] is None
    else:
        (row,) = told["scores"]["rows"]
        assert row["r2"] == pytest.approx(expected["scores"]["rows"][-1]["r2"])
        assert row["difference"] is None


def test_missing_values(done, fails, folder, frame):
    holes(frame).write_parquet("whole.parquet")
    data = divide(holes(frame))
    message = fails("reduce", data, *OPTIONS)
    told = "missing values in columns 'a1' (1), 'b2' (1), in 2 of 60 rows (first in row 4)"
    assert message.startswith(f"data: {told}; --missing drop leaves out rows that lack any ")
    options = ("--missing", "drop", "--tolerance", 1)
    expected = in_memory(done, *options)
    result = json.loads(done("reduce", data, *OPTIONS, *options, "--json").out)
    assert result["notes"] == expected["notes"]
    assert result["data"]["rows left out"] == 2
    assert same_groups("model.json", "memory.json")
    written = pl.read_parquet("data-reduced/*.parquet")
    assert same_table(written, pl.read_parquet("memory.parquet"))
    assert written["id"].to_list() == [row for row in range(60) if row not in (3, 49)]


def test_new_samples(done, fails, parts):
    done("reduce", parts, *OPTIONS, "--no-report", "--quiet")
    for data, more in ((parts, ()), ("whole.parquet", ("--dask",))):
        done("apply", "model.json", data, "--output", "again", "--force", *more)
        again = pl.read_parquet("again/*.parquet")
        assert again.equals(pl.read_parquet("data-reduced/*.parquet"))
    done("apply", "model.json", "whole.parquet", "--drop", "kind")
    dropped = pl.read_parquet("whole-reduced.parquet")
    assert same_table(again.drop("kind"), dropped)
    message = fails("apply", "model.json", "data-reduced", "--output", "none")
    assert message.startswith("data-reduced does not have columns 'a1', 'a2', 'a3' and 3 more")
    divide(holes(pl.read_parquet("whole.parquet")), "holes")
    assert "in 2 of 60 rows" in fails("apply", "model.json", "holes")
    done("apply", "model.json", "holes", "--missing", "drop")
    assert pl.read_parquet("holes-reduced/*.parquet").height == 58


@pytest.fixture
def field(samples, folder, monkeypatch):
    """The features as cells of a grid along time, read by 25 samples at once."""
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    days = np.arange("2020-01-01", "2020-03-01", dtype="M8[D]").astype("M8[ns]")
    grid = samples.X.reshape(60, 2, 3).transpose(1, 0, 2).copy()
    sea = np.full((60, 1), np.nan)
    data = xr.Dataset(
        {
            "t": (("lat", "time", "lon"), grid, {"units": "K"}),
            "s": (("time", "place"), np.hstack([samples.X[:, :2] ** 2, sea])),
            "y": ("time", samples.y),
            "id": ("time", np.arange(60)),
            "note": ("time", np.array(["u", "w"] * 30, dtype=object)),
            "mask": (("time", "lat"), grid[:, :, 0].T > 0),
        },
        coords={"time": days, "lat": [45.0, 46.0], "lon": [7.0, 7.5, 8.0]},
    )
    data.to_zarr("field.zarr", zarr_format=2, consolidated=True)
    monkeypatch.setattr(_fields, "CHUNK_BYTES", 25 * 9 * 8)
    monkeypatch.setattr(_fields, "_LONGEST", 0)
    return data


def opened(path):
    import xarray as xr

    with xr.open_dataset(path, engine="zarr") as data:
        return data.load()


def test_a_store_gives_what_it_gives_in_memory(done, field):
    import xarray as xr

    options = ("--folds", "blocks", "--keep", "s[[]place=0]", "--tolerance", 1)
    expected = in_memory(done, *options, data="field.zarr", output="memory.zarr")
    told = json.loads(done("reduce", "field.zarr", *OPTIONS, *options, "--dask", "--json").out)
    assert told["notes"] == expected["notes"]
    assert same_groups("model.json", "memory.json")
    xr.testing.assert_allclose(opened("field-reduced.zarr"), opened("memory.zarr"))
    done("apply", "model.json", "field.zarr", "--dask", "--output", "again.zarr", "--quiet")
    xr.testing.assert_equal(opened("again.zarr"), opened("field-reduced.zarr"))


def test_a_store_as_parquet_and_back(done, field):
    done("reduce", "field.zarr", *OPTIONS, "--dask", "--no-report", "--quiet")
    result = done("apply", "model.json", "field.zarr", "--dask", "--output", "flat")
    assert "note: flat cannot hold column 'mask'; the format of field.zarr" in result.err
    written = pl.read_parquet("flat/*.parquet")
    stored = opened("field-reduced.zarr")
    assert np.array_equal(written[:, -stored.sizes["group"] :], stored["reduced"].values)
    assert written["note"].to_list() == ["u", "w"] * 30
    done("reduce", "flat", *OPTIONS, "--no-report", "--output", "back.zarr", "--model", "g.json")
    back = opened("back.zarr")
    assert back["note"].values.tolist() == ["u", "w"] * 30
    assert (back["time"].values == field["time"].values).all()


def test_a_report_without_the_features(done, parts):
    done("reduce", parts, *OPTIONS, "--quiet")
    page = Path("report.html").read_text(encoding="utf-8")
    assert "nothing was compared with them." in page
    assert "Nothing was compared with it, as the full data were not in memory." in page
    assert "Difference" not in page
    done("reduce", parts, *OPTIONS, "--report", "report.json", "--force", "--quiet")
    told = json.loads(Path("report.json").read_text(encoding="utf-8"))
    in_memory(done, "--tolerance", 1)
    expected = json.loads(Path("memory.json.json").read_text(encoding="utf-8"))
    assert told["matrix"] is None
    assert told["coefficients"]["values"] == pytest.approx(expected["coefficients"]["values"])
    for ours, theirs in zip(told["groups"], expected["groups"], strict=True):
        assert ours["name"] == theirs["name"]
        assert ours["weight"] == pytest.approx(theirs["weight"])


def test_what_exists_is_replaced_when_asked(done, fails, parts, files):
    done("reduce", parts, *OPTIONS, "--no-report", "--quiet")
    message = fails("apply", "model.json", parts)
    assert message == "data-reduced exists; use --force to replace it, or another --output"
    done("apply", "model.json", parts, "--force", "--quiet")
    Path("data-reduced/mine.txt").write_text("mine")
    message = fails("apply", "model.json", parts, "--force")
    assert message == (
        "data-reduced holds other files too, such as mine.txt; choose a new folder with --output"
    )
    assert Path("data-reduced/mine.txt").read_text() == "mine"
    message = fails("apply", "model.json", parts, "--output", "data/more")
    assert message == "data/more is in the input folder; choose another with --output"
    message = fails("apply", "model.json", parts, "--output", parts)
    assert message == "data is an input; choose another file with --output"
    message = fails("apply", "model.json", parts, "--output", "r.csv.gz")
    assert message.startswith("r.csv.gz: data read in chunks are written as a folder of Parquet")
    assert files() == ["data", "data-reduced", "model.json", "whole.parquet"]


def test_refusals(fails, parts, data, frame):
    assert "has no column 'Y'; did you mean 'y'?" in fails("reduce", parts, "--target", "Y")
    message = fails("reduce", parts, "--target", "day")
    assert message == "data: column 'day' is not numeric (date)"
    Path("bad").mkdir()
    assert fails("reduce", "bad", *OPTIONS) == "bad: the folder has no Parquet files"
    assert fails("reduce", "none", *OPTIONS).endswith("but there is no such folder.")
    Path("bad/0.parquet").write_bytes(b"PAR1, not")
    assert fails("reduce", "bad", *OPTIONS).startswith("bad/0.parquet is not a Parquet file")
    infinite = frame.with_columns(a2=pl.Series([1.0] * 40 + [np.inf] * 20))
    assert "column 'a2' contains infinity (row 41)" in fails(
        "reduce", divide(infinite, "infinite"), *OPTIONS
    )
    message = fails("reduce", parts, *OPTIONS, "--test", 0.95)
    assert message.startswith("data: 3 rows to learn from are too few")
    usage = {
        (data, "--dask"): "--dask reads Parquet files, folders of them and Zarr stores, not data",
        (parts, "--separator", ";"): "--separator is for CSV files",
        (parts, "--samples", "time"): "--samples is for NetCDF files and Zarr stores",
        (parts, "--output", "-"): "data read in chunks are written into a folder; name it",
        ("--dask", parts): "'data' is not threads, processes or the address of a sched",
    }
    for options, told in usage.items():
        assert told in fails("reduce", *options, *OPTIONS, code=2)
    for command in ("explain", "compare"):
        pair = ("a1", "a2") if command == "explain" else ()
        message = fails(command, parts, "--target", "y", *pair)
        assert message.startswith(
            "data is a folder of Parquet files, which only lincfa reduce, predict and"
        )
        assert message.endswith("give a single file")


def test_without_dask(fails, parts, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    message = fails("reduce", parts, *OPTIONS)
    assert message == "Reading in chunks needs dask: pip install 'lincfa[dask]'"
