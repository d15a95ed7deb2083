"""Formats of tables, chosen by suffix: the reduced table is in that of the input, or another."""

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from lincfa import LinCFA

pl = pytest.importorskip("polars")


OPTIONS = ("--target", "y", "--test", 0, "--no-report", "--keep", "id")


def expected(samples):
    names = pl.DataFrame(samples.X, schema=samples.names)
    model = LinCFA().fit(names, samples.y)
    return pl.DataFrame(model.transform(names), schema=list(model.get_feature_names_out()))


COMPRESSED = {"gz": gzip, "bz2": bz2, "xz": lzma}


@pytest.mark.parametrize("compression", COMPRESSED)
def test_compressed_csv(done, data, compression):
    module = COMPRESSED[compression]
    done("reduce", data, *OPTIONS)
    name = f"other.csv.{compression}"
    Path(name).write_bytes(module.compress(Path(data).read_bytes()))
    done("reduce", name, *OPTIONS, "--model", "g.json")
    packed = Path(f"other-reduced.csv.{compression}").read_bytes()
    assert module.decompress(packed) == Path("data-reduced.csv").read_bytes()


@pytest.mark.parametrize(("name", "separator"), [("d.tsv", "\t"), ("d.csv", ";"), ("d.txt", "|")])
def test_separators_stay(done, save, columns, name, separator):
    save(columns, name, separator)
    done("reduce", name, *OPTIONS)
    stem, suffix = name.split(".")
    written = Path(f"{stem}-reduced.{suffix}").read_text(encoding="utf-8").splitlines()
    assert written[0].split(separator)[:4] == ["id", "word", "y", "day"]
    assert written[1].split(separator)[0] == "00000"


def test_separator_given(done, fails, save, columns):
    data = save(columns, separator=":")
    message = fails("reduce", data, *OPTIONS)
    told = "data.csv has one column with the separator ','; with ':' it has 10: --separator ':'"
    assert message == told
    done("reduce", data, *OPTIONS, "--separator", ":")
    assert Path("data-reduced.csv").read_text(encoding="utf-8").startswith("id:word:y:day:")


def test_parquet_in_a_process_of_its_own(run, frame, folder, samples):
    frame.write_parquet("d.parquet")
    result = run("reduce", "d.parquet", *OPTIONS)
    assert result.code == 0, result.err
    assert "not numeric, kept unchanged: columns 'day', 'kind', 'list'" in result.err
    written = pl.read_parquet("d-reduced.parquet")
    kept = ["y", "id", "day", "kind", "list"]
    assert written.select(kept).equals(frame.select(kept))
    assert written.drop(kept).equals(expected(samples))


@pytest.mark.parametrize("suffix", ["feather", "arrow"])
def test_feather(done, frame, folder, samples, suffix):
    frame.write_ipc(f"d.{suffix}")
    done("reduce", f"d.{suffix}", *OPTIONS)
    written = pl.read_ipc(f"d-reduced.{suffix}")
    assert written.drop("y", "id", "day", "kind", "list").equals(expected(samples))
    assert written["kind"].to_list() == frame["kind"].to_list()


def test_a_csv_as_parquet_has_a_target_of_numbers(done, data, columns, samples):
    done("reduce", data, *OPTIONS, "--output", "r.parquet")
    written = pl.read_parquet("r.parquet")
    assert written["id"].to_list() == columns["id"]
    assert written["y"].dtype == pl.Float64
    assert written["y"].to_list() == samples.y.tolist()


def test_a_format_that_cannot_hold_lists_says_so(done, frame, folder):
    frame.write_parquet("d.parquet")
    result = done("reduce", "d.parquet", *OPTIONS, "--output", "r.csv.gz")
    assert "note: r.csv.gz cannot hold column 'list'; the format of" in result.err
    with gzip.open("r.csv.gz", "rt") as file:
        assert file.readline().startswith("y,id,day,kind,")


def test_unknown_suffixes_are_refused_before_any_work(fails, data, files, folder):
    (folder / "d.docx").write_text("x")
    assert fails("reduce", "d.docx", *OPTIONS).startswith("d.docx: unsupported format")
    message = fails("reduce", data, *OPTIONS, "--output", "r.docx")
    assert message.startswith("r.docx: unsupported format")
    assert ".xlsx" in message
    assert ".ods" not in message
    assert files() == ["d.docx", "data.csv"]


def test_excel(done, fails, run, frame, folder, samples):
    """Every command reads a sheet; dates are dates, and the reduced table is a sheet too."""
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    own = frame.drop("list").with_columns(day=pl.date(2020, 1, 1) + pl.duration(days=pl.col("id")))
    own.write_excel("d.xlsx", worksheet="Data")
    result = run("reduce", "d.xlsx", *OPTIONS)
    assert result.code == 0, result.err
    assert "the rows have dates ('day')" in result.err
    written = pl.read_excel("d-reduced.xlsx")
    for name in ("y", "id", "day"):
        assert np.allclose(*(each[name].to_physical() for each in (written, own)), rtol=1e-15)
    assert written["kind"].to_list() == frame["kind"].to_list()
    means = written.drop("y", "id", "day", "kind")
    # Excel files hold 16 digits.
    assert np.allclose(means.to_numpy(), expected(samples).to_numpy(), rtol=1e-12, atol=1e-14)
    done("apply", "model.json", "d.xlsx", "--output", "again.xlsx", "--sheet", "Data")
    assert pl.read_excel("again.xlsx").equals(written)
    done("explain", "d.xlsx", "--target", "y", "a1", "a2")
    done("compare", "d.xlsx", "--target", "y", "--method", "ridge")
    message = fails("explain", "d.xlsx", "--target", "y", "a1", "a2", "--sheet", "data")
    assert message == "d.xlsx has no sheet 'data'; it has 'Data'"
    message = fails("apply", "model.json", "d.xlsx", "--output", "r.xls")
    assert message == "r.xls: Excel files are written as .xlsx, not as .xls"


def test_excel_of_another_format(done, data, folder, columns):
    """What can only be read is written as .xlsx; a CSV keeps its text."""
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    done("reduce", data, *OPTIONS, "--output", "r.xlsx")
    written = pl.read_excel("r.xlsx", infer_schema_length=None)
    assert written["id"].to_list() == columns["id"]
    assert written["y"].dtype == pl.Float64
    Path("r.xlsx").rename("old.xls")
    done("reduce", "old.xls", *OPTIONS, "--model", "g.json")
    assert "id" in pl.read_excel("old-reduced.xlsx").columns


def test_decimal_commas(done, save, columns, samples):
    """The same numbers as with points, and commas in what is written."""
    with_points = save({name: columns[name] for name in ("id", "y", *samples.names)})
    done("reduce", with_points, *OPTIONS)
    text = Path(with_points).read_text().replace(",", ";").replace(".", ",")
    Path("de.csv").write_text(text)
    result = done("reduce", "de.csv", *OPTIONS, "--model", "g.json")
    assert "note: de.csv has decimal commas, such as " in result.err
    one, other = (Path(name).read_text() for name in ("data-reduced.csv", "de-reduced.csv"))
    lines = one.splitlines()[1:]
    assert other.splitlines()[1:] == [line.replace(",", ";").replace(".", ",") for line in lines]
    pair = ["--target", "y", "a1", "a2"]
    told = done("explain", "de.csv", *pair).out
    assert told == done("explain", "de.csv", *pair, "--decimal", ",").out
    assert told == done("explain", with_points, *pair).out


def test_comments(done, fails, run, data):
    done("reduce", data, *OPTIONS)
    header, *lines = Path(data).read_text().splitlines()
    text = "\n".join(["# made, by hand", "", header, *lines[:9], "# more", *lines[9:], "# end", ""])
    Path("c.csv").write_text(text)
    assert "--comment '#'" in fails("apply", "model.json", "c.csv")
    done("reduce", "c.csv", *OPTIONS, "--comment", "#", "--model", "g.json")
    whole = Path("data-reduced.csv").read_bytes()
    assert Path("c-reduced.csv").read_bytes() == whole
    options = ("--comment", "#", "--output", "-")
    result = run("apply", "g.json", "-", *options, stdin=text.encode())
    assert result.out.encode() == whole


def test_options_of_a_format_are_for_it_alone(fails, data, frame, folder):
    frame.write_parquet("d.parquet")
    for option, value in (("--separator", ";"), ("--decimal", ","), ("--comment", "#")):
        message = fails("reduce", "d.parquet", *OPTIONS, option, value, code=2)
        assert f"{option} is for CSV files" in message
    assert "--sheet is for Excel files" in fails("reduce", data, *OPTIONS, "--sheet", "S", code=2)
    both = ("--decimal", ",", "--separator", ",")
    assert "both a comma" in fails("reduce", data, *OPTIONS, *both, code=2)
    assert "'' is not the plain text" in fails("reduce", data, *OPTIONS, "--comment", "", code=2)
    assert "invalid choice: 'x'" in fails("reduce", data, *OPTIONS, "--decimal", "x", code=2)


@pytest.fixture
def field(samples):
    """The features as cells of a grid along time, and the target."""
    xr = pytest.importorskip("xarray")
    days = np.arange("2020-01-01", "2020-03-01", dtype="M8[D]").astype("M8[ns]")
    return xr.Dataset(
        {
            "t": (("time", "lat", "lon"), samples.X.reshape(60, 2, 3), {"units": "K"}),
            "y": ("time", samples.y),
            "note": ("time", np.array(["u", "w"] * 30, dtype=object)),
        },
        coords={"time": days, "lat": [45.0, 46.0], "lon": [7.0, 7.5, 8.0]},
    )


CELLS = [f"t[lat={lat}, lon={lon}]" for lat in (45.0, 46.0) for lon in (7.0, 7.5, 8.0)]


def opened(path):
    import xarray as xr

    engine = "zarr" if path.endswith("zarr") else "netcdf4"
    with xr.open_dataset(path, engine=engine) as data:
        return data.load()


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_grids(done, fails, folder, field, samples, suffix):
    pytest.importorskip("netCDF4" if suffix == "nc" else "zarr")
    path = f"field.{suffix}"
    if suffix == "nc":
        field.to_netcdf(path, engine="netcdf4")
    else:
        field.to_zarr(path, zarr_format=2, consolidated=True)
    done("reduce", path, "--target", "y", "--folds", "blocks", "--no-report", "--tolerance", 1)
    written = opened(f"field-reduced.{suffix}")
    frame = pl.DataFrame(samples.X, schema=CELLS)
    model = LinCFA().fit(frame.head(42), samples.y[:42])
    names = written["name"].values.tolist()
    assert (names[0], len(names)) == ("t 45°N 7°E", model.n_groups_)
    assert np.allclose(written["reduced"].values, model.transform(frame), rtol=1e-12)
    assert written["t_group"].values.ravel().tolist() == model.labels_.tolist()
    assert "t" not in written
    for name in ("time", "lat", "lon", "y", "note"):
        assert (written[name].values == field[name].values).all()
    done("apply", "model.json", path, "--output", f"again.{suffix}")
    assert opened(f"again.{suffix}").equals(written)
    assert "exists; use --force" in fails(
        "apply", "model.json", path, "--output", f"again.{suffix}"
    )
    done("apply", "model.json", path, "--output", f"again.{suffix}", "--force")
    assert opened(f"again.{suffix}").equals(written)


def test_samples_along_another_dimension(done, fails, folder, field):
    pytest.importorskip("netCDF4")
    field.rename(time="draw").to_netcdf("field.nc", engine="netcdf4")
    options = ["--target", "y", "--no-report"]
    assert "has no dimension 'case'" in fails("reduce", "field.nc", *options, "--samples", "case")
    done("reduce", "field.nc", *options)
    assert opened("field-reduced.nc")["reduced"].dims == ("draw", "group")


def test_a_grid_as_csv(done, folder, field, samples):
    pytest.importorskip("netCDF4")
    field.to_netcdf("field.nc", engine="netcdf4")
    done("reduce", "field.nc", "--target", "y", "--test", 0, "--no-report", "--output", "r.csv")
    written = pl.read_csv("r.csv")
    assert written.columns[:3] == ["time", "y", "note"]
    assert np.allclose(written[:, 3:].to_numpy(), expected(samples).to_numpy())
