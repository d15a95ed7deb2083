"""NetCDF files and Zarr stores: cells as columns, and data sets written with all they had."""

import errno
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pl = pytest.importorskip("polars")
xr = pytest.importorskip("xarray")
pytest.importorskip("rich")
pytest.importorskip("netCDF4")
pytest.importorskip("zarr")

from lincfa._data._columns import Columns
from lincfa.cli._files import _fields, format_of, open_data
from lincfa.cli._terminal import Terminal
from lincfa.cli._write import ReducedFeatures, write_reduced

DAYS = np.arange("2020-01-01", "2020-01-06", dtype="M8[D]").astype("M8[ns]")
CELLS = [f"t2m[lat={lat}, lon={lon}]" for lat in (45.0, 45.5) for lon in (7.5, 8.0, 8.5)]
RAIN = ["rain[station=0]", "rain[station=1]"]


def weather():
    rng = np.random.default_rng(1)
    t2m = rng.standard_normal((2, 5, 3)).astype(np.float32)  # the samples in the middle
    t2m[1, :, 2] = np.nan  # the sea
    data = xr.Dataset(
        {
            "t2m": (("lat", "time", "lon"), t2m, {"units": "K"}),
            "y": ("time", rng.standard_normal(5), {"long_name": "target"}),
            "rain": (("time", "station"), rng.integers(0, 100, (5, 2)).astype(np.int32)),
            "station_name": ("station", np.array(["a", "b"], dtype=object)),
            "note": ("time", np.array(["u", "", "w", "x", "NA"], dtype=object)),
            "mask": (("time", "lat"), rng.random((5, 2)) > 0.5),
            "height": (("lat", "lon"), np.ones((2, 3))),
            "crs": ((), np.int32(4326)),
            "lag": ("time", np.arange(5.0), {"units": "days"}),
        },
        coords={
            "time": DAYS,
            "lat": [45.0, 45.5],
            "lon": np.array([7.5, 8.0, 8.5], dtype=np.float32),
            "month": ("time", np.ones(5, dtype=np.int64)),
        },
        attrs={"title": "weather"},
    )
    data["t2m"].encoding = {"zlib": True, "complevel": 3}
    data["height"].encoding = {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -1}
    return data


def stored(data, path):
    if path.suffix == ".zarr":
        for variable in data.variables.values():
            variable.encoding = {}
        data.to_zarr(path, zarr_format=2, consolidated=True)
    else:
        data.to_netcdf(path, engine="netcdf4", unlimited_dims=["time"])
    return str(path)


def loaded(path):
    engine = "zarr" if str(path).endswith(".zarr") else "netcdf4"
    with xr.open_dataset(path, decode_timedelta=False, engine=engine) as data:
        return data.load()


def written(folder, data, keep, name, rows=None, reduced=None):
    """Write columns, and reduced features of a model without a field."""
    rows = np.arange(data.n_rows) if rows is None else np.array(rows)
    reduced = np.empty((rows.size, 0)) if reduced is None else reduced
    groups = {f"m{k}": ["a"] for k in range(reduced.shape[1])}
    model = SimpleNamespace(groups_by_name=lambda: groups, _columns=Columns(len(groups)))
    terminal, path = Terminal(quiet=True), folder / name
    write_reduced(
        path, str(path), data, list(keep), rows, reduced, ReducedFeatures(model), terminal
    )
    return str(path), terminal.notes


@pytest.fixture(params=["in.nc", "in.zarr", "chunks"])
def data(request, tmp_path, monkeypatch):
    """The data set in memory, or read by two samples at once."""
    in_chunks = request.param == "chunks"
    if in_chunks:
        pytest.importorskip("dask")
        monkeypatch.setattr(_fields, "CHUNK_BYTES", 80)
        monkeypatch.setattr(_fields, "_LONGEST", 0)
    path = stored(weather(), tmp_path / ("in.zarr" if in_chunks else request.param))
    opened = open_data(path, targets=["y"], in_chunks=in_chunks)
    assert opened.in_chunks == in_chunks
    if in_chunks:
        assert opened.data["t2m"].chunksizes["time"] == (2, 2, 1)
    return opened


def test_cells_are_columns(data):
    plain, grids = ["y", "note", "lag"], [CELLS, RAIN]
    if data.format.kind == "zarr":  # by name
        plain, grids = sorted(plain), grids[::-1]
        assert [*data.data.coords] == ["lat", "lon", "month", "time"]
    assert data.names == ["time", "month", *plain, *grids[0], *grids[1]]
    no = {"time", "month", "note", CELLS[-1]}
    assert data.numeric == [name for name in data.names if name not in no]
    assert data.empty == [CELLS[-1]]
    features = data.flat_features(CELLS[:-1], np.arange(5))
    values = features.compute().to_numpy() if data.in_chunks else features.to_numpy()
    assert values.dtype == np.float32
    expected = weather()["t2m"].transpose("time", "lat", "lon").values.reshape(5, 6)
    np.testing.assert_array_equal(values, expected[:, :-1])
    frame = data.kept_frame(["time", "note", RAIN[1]], np.array([0, 4]))
    assert frame["time"].to_list()[0].isoformat() == "2020-01-01T00:00:00"
    assert frame["note"].to_list() == ["u", "NA"]
    assert frame[RAIN[1]].to_list() == weather()["rain"][[0, 4], 1].values.tolist()


def test_missing_and_infinite_values(tmp_path):
    bad = weather()
    bad["t2m"].values[0, 3, 1] = np.nan
    bad["t2m"].values[1, 2:4, 0] = np.inf
    bad["y"].values[4] = np.nan
    for in_chunks in (False, True):
        name = f"bad{in_chunks}.zarr"
        data = open_data(stored(bad, tmp_path / name), targets=["y"], in_chunks=in_chunks)
        counts = data.count_values([*CELLS[:5], "y"])
        assert counts.missing == {**dict.fromkeys(CELLS[:5], 0), CELLS[1]: 1, "y": 1}
        assert counts.infinite == {CELLS[3]: 2}
        assert data.complete_rows([CELLS[1], "y"]).tolist() == [True, True, True, False, False]
        assert data.complete_rows([CELLS[0]]).all()
        assert data.with_values([CELLS[1], "y"], np.array([3])) == ["y"]
        assert data.with_values([CELLS[1], "y"], np.array([4])) == [CELLS[1]]
        code = float(bad["t2m"].values[0, 2, 0])
        options = {"targets": ["y"], "in_chunks": in_chunks, "codes": (code,)}
        coded = open_data(data.source, **options)
        assert coded.complete_rows([CELLS[0]]).tolist() == [True, True, False, True, True]
        kept = coded.kept_dataset([CELLS[0]], np.arange(5), coded.format)["t2m"]
        assert float(kept.values[0, 2, 0]) == code


def test_attributes_of_any_name_are_written(tmp_path):
    named = weather()
    named.attrs = {"[odd/": 1}
    named["y"].attrs["a\nb"] = "text"
    path = stored(named, tmp_path / "in.zarr")
    opened = open_data(path, targets=["y"])
    result = loaded(written(tmp_path, opened, ["time", "y"], "out.nc")[0])
    assert result.attrs == {"_odd_": 1}
    assert result["y"].attrs["a_b"] == "text"


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_dates_between_the_days_of_their_units(tmp_path, suffix):
    hours = np.arange("2020-01-01", "2020-01-01T05", dtype="M8[h]").astype("M8[ns]")
    opened = open_data(stored(weather(), tmp_path / "in.nc"), targets=["y"])
    days = opened.data["time"].encoding
    opened = replace(opened, data=opened.data.assign_coords(time=("time", hours, {}, days)))
    path, _ = written(tmp_path, opened, ["time", "y"], f"out{suffix}")  # warnings are errors
    np.testing.assert_array_equal(loaded(path)["time"], hours)


@pytest.mark.parametrize("suffix", [".nc", ".nc4", ".netcdf", ".zarr"])
def test_what_is_kept_is_untouched(data, tmp_path, suffix):
    if data.in_chunks and suffix != ".zarr":
        pytest.skip("data read in chunks are written as Zarr")
    gone = {*CELLS[:5], "lag"}
    keep = [name for name in data.names if name not in gone]
    rows, values = [0, 1, 3, 4], np.arange(12.0).reshape(4, 3)
    path, notes = written(tmp_path, data, keep, f"out{suffix}", rows, values)
    result = loaded(path)
    assert notes == []
    xr.testing.assert_identical(
        result.drop_vars(["reduced", "group", "name", "size"]),
        weather().isel(time=rows).drop_vars(["t2m", "lag"]),
    )
    assert result["reduced"].dims == ("time", "group")
    np.testing.assert_array_equal(result["reduced"], values)
    assert result["name"].values.tolist() == ["m0", "m1", "m2"]
    if data.format.suffix == suffix == ".nc":
        assert result["height"].encoding["scale_factor"] == 0.5
        assert result.encoding["unlimited_dims"] == {"time"}


def test_a_variable_kept_whole_or_in_part(data, tmp_path):
    names = ["reduced", "group", "name", "size"]
    path, _ = written(tmp_path, data, data.names, f"out{data.format.suffix}")
    result = loaded(path).drop_vars(names)
    xr.testing.assert_identical(result, weather())
    assert result["rain"].dtype == np.int32
    path, _ = written(tmp_path, data, [CELLS[1], RAIN[1]], f"part{data.format.suffix}")
    result = loaded(path)
    assert int(result["t2m"].notnull().sum()) == 5
    xr.testing.assert_equal(result["t2m"].isel(lat=0, lon=1), weather()["t2m"].isel(lat=0, lon=1))
    assert np.isnan(result["rain"].isel(station=0)).all()
    np.testing.assert_array_equal(result["rain"].isel(station=1), weather()["rain"][:, 1])
    assert "y" not in result


def test_field_to_table(data, tmp_path):
    keep = ["time", "month", "note", "y", CELLS[1]]
    name = "out" if data.in_chunks else "out.parquet"
    path, (note,) = written(tmp_path, data, keep, name, [0, 2, 4], np.ones((3, 1)))
    lost = {"crs", "height", "mask", "station_name"}
    assert all(repr(name) in note for name in lost)
    files = sorted(Path(path).iterdir()) if data.in_chunks else [path]
    again = pl.concat([pl.read_parquet(file) for file in files])
    assert len(files) == (2 if data.in_chunks else 1)
    assert again.columns == [*keep, "m0"]
    assert again["note"].to_list() == ["u", "w", "NA"]
    assert again[CELLS[1]].to_list() == weather()["t2m"][0, [0, 2, 4], 1].values.tolist()


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
@pytest.mark.parametrize("in_chunks", [False, True])
def test_table_to_field(tmp_path, suffix, in_chunks):
    if in_chunks and suffix == ".nc":
        pytest.skip("data read in chunks are written as Zarr")
    frame = pl.DataFrame(
        {
            "id": ["01", "02", "03"],
            "when": ["2020-01-01", None, "x"],
            "reduced": [1, 2, 3],
            "km/h": [1.5, None, 3.0],
            "n": pl.Series([1, None, 3], dtype=pl.Int16),
            "flag": [True, None, False],
            "day": [DAYS[0].astype("M8[D]").item(), None, None],
            "list": [[1], [2], [3]],
            "bit": [True, False, True],
            "money": pl.Series(["1.1", None, "2"]).cast(pl.Decimal(10, 1)),
            "kind": pl.Series(["a", None, "b"], dtype=pl.Categorical),
        }
    )
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=1)
    data = open_data(str(tmp_path / "t.parquet"), in_chunks=in_chunks)
    path, (note,) = written(tmp_path, data, frame.columns, f"o{suffix}", [0, 1], np.ones((2, 1)))
    assert "cannot hold column 'list'" in note
    result = loaded(path)
    assert result.sizes == {"sample": 2, "group": 1}
    assert result["id"].values.tolist() == ["01", "02"]
    assert result["when"].values.tolist() == ["2020-01-01", ""]
    assert result["reduced"].values.tolist() == [1, 2]
    assert result["reduced_"].dims == ("sample", "group")
    assert result["km_h"].attrs == {"long_name": "km/h"}
    for name, values in {"km_h": [1.5, np.nan], "n": [1, np.nan], "money": [1.1, np.nan]}.items():
        np.testing.assert_array_equal(result[name], values)
    assert result["kind"].values.tolist() == ["a", ""]
    assert result["bit"].dtype == bool
    assert result["day"].values[0] == DAYS[0]
    assert np.isnat(result["day"].values[1])


def test_names_too_long_for_a_file(tmp_path):
    """Also where what is left of them ends in a space, which NetCDF refuses."""
    names = [f"{'a' * 239} {end}" for end in "bc"]
    frame = pl.DataFrame({name: [1.0, 2.0] for name in names})
    frame.write_parquet(tmp_path / "t.parquet")
    data = open_data(str(tmp_path / "t.parquet"))
    result = loaded(written(tmp_path, data, names, "o.nc")[0])
    assert [
        result[each].attrs["long_name"] for each in result.data_vars if each != "reduced"
    ] == names


def test_samples_are_along_the_target(tmp_path):
    path = stored(weather().rename(time="day").drop_vars("day"), tmp_path / "t.zarr")
    assert open_data(path, targets=["y"]).sample_dim == "day"
    with pytest.raises(ValueError, match=r"no dimension 'time'; its dimensions are: .*day \(5\)"):
        open_data(path, targets=["y"], samples="time")
    series = weather().assign(z=("lat", [1.0, 2.0]))
    data = open_data(stored(series, tmp_path / "v.nc"), targets=["z"])
    assert data.names[:3] == ["lat", "z", "t2m[time=2020-01-01, lon=7.5]"]
    assert "lat" not in data.numeric


def test_coordinates_that_do_not_tell_cells_apart(tmp_path):
    data = xr.Dataset(
        {"a": (("time", "x"), np.ones((2, 2))), "a[x=0]": ("time", np.ones(2))},
        coords={"x": [3.0, 3.0]},
    )
    opened = open_data(stored(data, tmp_path / "t.nc"), targets=["a[x=0]"])
    assert opened.names == ["a[x=0]", "a[x=0]'", "a[x=1]"]


def test_calendars_and_byte_order_of_old_files(tmp_path):
    data = xr.Dataset(
        {"a": (("time", "x"), np.arange(4.0).reshape(2, 2)), "y": ("time", [1, 2])},
        coords={
            "time": ("time", [58, 59], {"units": "days since 2001-01-01", "calendar": "360_day"})
        },
    )
    path = tmp_path / "t.nc"
    data.to_netcdf(path, engine="netcdf4", format="NETCDF3_CLASSIC")
    opened = open_data(str(path), targets=["y"])
    dates = ["2001-02-29T00:00:00", "2001-02-30T00:00:00"]
    assert opened.kept_frame(["time"], np.arange(2))["time"].to_list() == dates
    frame = opened.flat_features(["a[x=1]", "y"], np.arange(2))
    np.testing.assert_array_equal(frame.to_numpy(), [[1, 1], [3, 2]])
    again = open_data(written(tmp_path, opened, ["y"], "o.nc")[0], targets=["y"])
    assert again.kept_frame(["time"], np.arange(2))["time"].to_list() == dates


@pytest.mark.parametrize("name", ["t.nc", "t.zarr"])
def test_damaged_data_sets(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(FileNotFoundError):
        open_data(str(path), targets=["y"])
    contents = [b"", bytes(100)]
    if name == "t.nc":
        whole = Path(stored(weather(), tmp_path / "w.nc")).read_bytes()
        contents += [whole[: len(whole) // 2], whole[:100]]
        xr.Dataset({"y": ("time", np.arange(5.0))}).to_netcdf(path, format="NETCDF3_CLASSIC")
        whole = path.read_bytes()  # NetCDF reports EINVAL and E2BIG, as the system might
        contents += [whole[:place] + b"\xff" + whole[place + 1 :] for place in (10, 13)]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name} is not a .*, or it is damaged\.$"):
            open_data(str(path), targets=["y"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), ""),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (ImportError("No module named 'x'"), "t.nc needs a package that is missing: No module "),
        (OSError(-101, "NetCDF: HDF error"), "t.nc is not a NetCDF file, or it is damaged."),
        (OSError("not", "a number"), "t.nc is not a NetCDF file, or it is damaged."),
        (KeyError("a fault"), "t.nc is not a NetCDF file, or it is damaged."),
    ],
    ids=lambda each: repr(each) if isinstance(each, BaseException) else "",
)
@pytest.mark.parametrize("place", ["open_dataset", "Dataset.load"])
def test_errors_of_the_system_are_no_damage(tmp_path, monkeypatch, place, error, told):
    def fail(*_, **__):
        raise error

    path = stored(weather(), tmp_path / "t.nc")
    monkeypatch.setattr(f"xarray.{place}", fail)
    with pytest.raises(ValueError if "damaged" in told else type(error)) as raised:
        open_data(str(path), targets=["y"])
    assert told in str(raised.value)
    assert error in (raised.value, raised.value.__cause__)


def test_chunks_are_those_of_the_store(tmp_path, monkeypatch):
    pytest.importorskip("dask")
    path = str(tmp_path / "in.zarr")
    encoding = {"t2m": {"chunks": (2, 2, 3)}}
    data = weather()[["t2m", "y"]]
    data.to_zarr(path, zarr_format=2, consolidated=True, encoding=encoding)
    for size, lengths in ((24, (2, 2, 1)), (24 * 3, (2, 2, 1)), (24 * 4, (4, 1)), (24 * 9, (5,))):
        monkeypatch.setattr(_fields, "CHUNK_BYTES", size)
        opened = open_data(path, targets=["y"], in_chunks=True)
        assert opened.data["t2m"].chunksizes["time"] == lengths
    assert format_of(path).is_grid


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_names_that_the_format_cannot_hold(tmp_path, suffix):
    names = [
        "",
        "index",
        "%s",
        "y ",
        " z",
        "a/b",
        "a\\c",
        "a_b",
        ".",
        "..",
        ".zarray",
        "t\tb",
        "l\n",
    ]
    names += ["é", "e\u0301", "Unnamed: 0", "x" * 300, "x" * 299]
    frame = pl.DataFrame({name: [float(k), 0.5] for k, name in enumerate(names)})
    frame.write_parquet(tmp_path / "t.parquet")
    path, _ = written(tmp_path, open_data(str(tmp_path / "t.parquet")), names, f"o{suffix}")
    result = loaded(path).drop_vars("reduced")
    for k, name in enumerate(names):
        (found,) = [each for each in result if result[each].values[0] == k]
        assert found == name or result[found].attrs.get("long_name", "") == name
    for name in ("index", "a_b", "é", "Unnamed: 0"):
        assert result[name].values[0] == names.index(name)
    assert result["index_"].values[0] == 0


def test_names_of_a_store_that_netcdf_cannot_hold(tmp_path):
    dims = ("time%", " lat")
    data = xr.Dataset({"t ": (dims, np.ones((3, 2))), "y": (dims[0], np.arange(3.0))})
    data = data.assign_coords({" lat": [1.0, 2.0]})
    read = open_data(stored(data, tmp_path / "d.zarr"), targets=["y"])
    path, _ = written(tmp_path, read, read.names, "o.nc")
    result = loaded(path)
    assert result["t_"].dims == ("time%", "_lat")
    assert result["t_"].attrs == {"long_name": "t "}
    assert result["_lat"].attrs == {"long_name": " lat"}
    assert set(loaded(written(tmp_path, read, read.names, "o.zarr")[0]).variables) >= {"t ", "y"}
