"""Files that hold no table: a line that names them, exit code 1, and nothing written."""

import gzip
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")


def broken_parquet():
    pl.DataFrame({"a": np.arange(500.0), "y": np.arange(500.0)}).write_parquet("d.parquet")
    content = Path("d.parquet").read_bytes()
    return content[:50] + bytes(200) + content[250:]


BAD = {
    "no such column": ("d.csv", b"a,b,z\n1,2,3\n4,5,6\n", "d.csv has no column 'y'"),
    "empty": ("d.csv", b"", "d.csv is empty."),
    "header alone": ("d.csv", b"a,b,y\n", "d.csv has columns but no rows."),
    "duplicate names": ("d.csv", b"a,a,y\n1,2,3\n", "d.csv: columns 1 and 2 are both named 'a'."),
    "a pattern": ("d.csv", b"*,b,y\n1,2,3\n4,5,6\n", "d.csv: rename the column '*': names such"),
    "a regular expression": ("d.csv", b"a,^b$,y\n1,2,3\n4,5,6\n", "d.csv: rename the column '^b$'"),
    "cut": ("d.csv.gz", gzip.compress(b"a,y\n1,2\n" * 99)[:-9], "d.csv.gz is a damaged compressed"),
    "broken Parquet": (
        "d.parquet",
        broken_parquet,
        "d.parquet is not a Parquet file, or it is damaged",
    ),
    "no NetCDF": (
        "d.nc",
        b"\x89HDF\r\n\x1a\nnonsense",
        "d.nc is not a NetCDF file, or it is damaged.",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_in_a_process_of_its_own(run, folder, files, kind):
    name, content, message = BAD[kind]
    if name.endswith(".nc"):
        pytest.importorskip("netCDF4")
        pytest.importorskip("xarray")
    Path(name).write_bytes(content() if callable(content) else content)
    result = run("reduce", name, "--target", "y")
    assert result.code == 1
    assert result.out == ""
    assert result.err.startswith(f"lincfa: {message}")
    assert result.err.count("\n") == 1
    assert files() == [name]


def test_debug_shows_the_cause_of_what_is_called_damage(call, folder):
    Path("d.parquet").write_bytes(broken_parquet())
    error = call("reduce", "d.parquet", "--target", "y", "--debug").err
    cause, message = error.split("The above exception was the direct cause")
    assert "polars" in cause
    assert message.endswith("d.parquet is not a Parquet file, or it is damaged.\n")


@pytest.mark.parametrize("command", ["reduce", "explain", "compare"])
def test_a_file_that_is_not_there(fails, folder, command):
    pair = ["a", "b"] if command == "explain" else []
    message = fails(command, "none.csv", "--target", "y", *pair)
    assert message == "none.csv: No such file or directory"


@pytest.mark.parametrize("command", ["reduce", "explain", "compare"])
def test_a_single_row(fails, save, columns, command):
    data = save({name: values[:1] for name, values in columns.items()})
    pair = ["a1", "a2"] if command == "explain" else []
    assert fails(command, data, "--target", "y", *pair).startswith("data.csv: ")


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (3, [], "data.csv: 3 rows to learn from are too few; at least 4 are needed"),
        (
            5,
            ["--test", "0.5"],
            "data.csv: 3 rows to learn from are too few; at least 4 are needed, besides",
        ),
        (20, ["--test", "0.01"], "data.csv: --test 0.01 of 20 rows is no row"),
    ],
)
def test_too_few_rows(fails, save, columns, rows, options, message):
    data = save({name: values[:rows] for name, values in columns.items()})
    assert fails("reduce", data, "--target", "y", *options).startswith(message)


def test_rows_that_cannot_be_scored(done, save, columns):
    data = save({name: values[:20] for name, values in columns.items()})
    result = done("reduce", data, "--target", "y", "--test", "0.05", "--no-report")
    assert "note: no scores: the target 'y' is " in result.err
    assert "held-out rows" not in result.out


def test_four_rows_are_enough(done, save, columns):
    data = save({name: values[:4] for name, values in columns.items()})
    done("reduce", data, "--target", "y", "--keep", "id", "--no-report")


def test_a_target_of_mixed_types(fails, save, columns):
    data = save(columns | {"y": [*columns["y"][:8], "high", *columns["y"][9:]]})
    for command in (["reduce"], ["compare"], ["explain", "a1", "a2"]):
        message = fails(command[0], data, "--target", "y", *command[1:])
        told = (
            "column 'y' is not numeric (row 9: 'high'); --classes takes them as labels of classes"
        )
        assert message == f"data.csv: {told}"


def test_a_target_of_dates(fails, folder):
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0]}).with_columns(
        y=pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 4)).alias("y")
    )
    frame.write_parquet("d.parquet")
    message = fails("reduce", "d.parquet", "--target", "y")
    assert message == "d.parquet: column 'y' is not numeric (row 1: 2020-01-01, date)"


def test_every_row_misses_a_value(fails, save, columns):
    holes = columns | {"a1": ["", "1"] * 30, "a2": ["1", ""] * 30}
    message = fails("reduce", save(holes), "--target", "y", "--missing", "drop")
    told = (
        "--missing drop would leave none of 60 rows; missing values in columns 'a1' (30), 'a2' (30)"
    )
    assert message == f"data.csv: {told}; --missing pairwise uses the values there are; " + (
        "--drop COLUMN leaves out a column"
    )


def test_a_folder_is_no_csv(fails, folder):
    (folder / "d.csv").mkdir()
    assert fails("reduce", "d.csv", "--target", "y") == "d.csv: Is a directory"


def test_all_features_constant(fails, save, columns, files):
    flat = {name: ["1"] * 60 for name in ("a1", "a2")}
    data = save({"y": columns["y"]} | flat)
    assert fails("reduce", data, "--target", "y").startswith("data.csv: ")
    assert files() == ["data.csv"]


@pytest.mark.parametrize("options", [[], ["--dask", "threads"]])
@pytest.mark.parametrize("damaged", ["y", "t2m"])
def test_a_chunk_of_a_store_that_cannot_be_read(fails, folder, files, options, damaged):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    if options:
        pytest.importorskip("dask")
    rng = np.random.default_rng(0)
    values = {
        "t2m": (("time", "lat", "lon"), rng.normal(size=(20, 2, 2))),
        "y": ("time", rng.normal(size=20)),
    }
    xr.Dataset(values).to_zarr("d.zarr", zarr_format=2)
    (chunk,) = (Path("d.zarr") / damaged).glob("[0-9]*")
    chunk.write_bytes(b"")
    message = fails("reduce", "d.zarr", "--target", "y", "--samples", "time", *options)
    assert message == "d.zarr is not a Zarr store, or it is damaged."
    assert files() == ["d.zarr"]


def test_a_store_with_metadata_that_are_none(done, fails, folder):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    rng = np.random.default_rng(0)
    values = {name: ("time", rng.normal(size=20)) for name in ("a", "b", "z", "y")}
    xr.Dataset(values).to_zarr("d.zarr", zarr_format=2, consolidated=False)
    Path("d.zarr/z/.zarray").unlink()
    result = done("reduce", "d.zarr", "--target", "y", "--samples", "time", "--no-report")
    assert "note: Object at z is not recognized" in result.err
    assert "Warning" not in result.err
    Path("d.zarr/a/.zattrs").write_text('{"_ARRAY_DIMENSIONS": [20]}')
    message = fails("reduce", "d.zarr", "--target", "y", "--samples", "time", "--force")
    assert message == "d.zarr is not a Zarr store, or it is damaged."


def test_a_netcdf_file_with_damaged_text(fails, folder):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    names = np.array(["Grosseto", "Firenze!"] * 10, dtype=object)
    values = {"word": ("time", names), "y": ("time", np.arange(20.0)), "a": ("time", np.ones(20))}
    xr.Dataset(values).to_netcdf("d.nc", engine="netcdf4", format="NETCDF3_CLASSIC")
    content = Path("d.nc").read_bytes()
    Path("d.nc").write_bytes(content.replace(b"Grosseto", b"Grosset\xb6"))
    message = fails("reduce", "d.nc", "--target", "y")
    assert message == "d.nc is not a NetCDF file, or it is damaged."
