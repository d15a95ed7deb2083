"""Data sets of NetCDF and Zarr as tables, and back."""

from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")
xr = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
pytest.importorskip("zarr")

from lincfa.cli._files import form_of, left_out, read_table, write_table

DAYS = np.arange("2020-01-01", "2020-01-06", dtype="M8[D]").astype("M8[ns]")
CELLS = [f"t2m[lat={lat}, lon={lon}]" for lat in (45.0, 45.5) for lon in (7.5, 8.0, 8.5)]


def weather():
    rng = np.random.default_rng(1)
    t2m = rng.standard_normal((2, 5, 3)).astype(np.float32)  # the samples in the middle
    t2m[1, :, 2] = np.nan  # the sea
    rain = rng.integers(0, 100, (5, 2)).astype(np.int32)
    data = xr.Dataset(
        {
            "t2m": (("lat", "time", "lon"), t2m, {"units": "K"}),
            "y": ("time", rng.standard_normal(5), {"long_name": "target"}),
            "rain": (("time", "station"), rain),
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


def opened(path):
    options = {"engine": "zarr"} if str(path).endswith(".zarr") else {"engine": "netcdf4"}
    with xr.open_dataset(path, decode_timedelta=False, **options) as data:
        return data.load()


@pytest.fixture(params=["in.nc", "in.zarr"])
def path(request, tmp_path):
    return stored(weather(), tmp_path / request.param)


def test_cells_are_columns(path):
    table = read_table(path)
    plain = ["y", "note", "lag"] if path.endswith(".nc") else ["lag", "note", "y"]
    grids = [CELLS, [f"rain[station={number}]" for number in range(2)]]
    if path.endswith(".zarr"):  # by name
        grids.reverse()
    assert table.frame.columns == ["time", "month", *plain, *grids[0], *grids[1]]
    features = [name for name in table.frame.columns[2:] if name not in ("note", CELLS[-1])]
    assert table.numeric() == features
    assert table.empty() == [CELLS[-1]]
    assert table.numbers(CELLS).dtype == np.float32
    expected = weather()["t2m"].transpose("time", "lat", "lon").values.reshape(5, 6)
    np.testing.assert_array_equal(table.numbers(CELLS), expected)
    np.testing.assert_array_equal(table.numbers(["rain[station=1]"])[:, 0], weather()["rain"][:, 1])
    assert table.frame["time"].to_list()[0].isoformat() == "2020-01-01T00:00:00"
    assert table.frame["note"].to_list() == ["u", "", "w", "x", "NA"]


@pytest.mark.parametrize("suffix", [".nc", ".nc4", ".netcdf", ".zarr"])
def test_what_is_kept_is_untouched(path, tmp_path, suffix):
    table = read_table(path)
    reduced = [CELLS[:2], [CELLS[3]], ["lag"]]
    gone = {*CELLS[:5], "lag"}
    keep = [name for name in table.frame.columns if name not in gone]
    rows = np.array([True, True, False, True, True])
    form = form_of(f"x{suffix}", table.form)
    assert left_out(table, keep, form) == []
    part = tmp_path / ".lincfa-1.part"
    values = np.arange(12.0).reshape(4, 3)
    names = ["mean(a, b)", CELLS[3], "lag"]
    write_table(part, table, keep, rows, values, names, form=form, members=reduced)
    assert part.is_dir() == form.folder
    data = opened(part.rename(tmp_path / f"out{suffix}"))
    before = weather().isel(time=np.flatnonzero(rows))
    xr.testing.assert_identical(
        data.drop_vars(["reduced", "reduced_feature", "t2m_group"]),
        before.drop_vars(["t2m", "lag"]),
    )
    assert data["reduced"].dims == ("time", "reduced_feature")
    np.testing.assert_array_equal(data["reduced"], values)
    assert data["reduced_feature"].values.tolist() == names
    assert data["t2m_group"].dims == ("lat", "lon")
    assert data["t2m_group"].dtype.kind == "i"
    assert data["t2m_group"].values.tolist() == [[0, 0, -1], [1, -1, -1]]
    if path.endswith(".nc") and suffix == ".nc":
        assert data["height"].encoding["scale_factor"] == 0.5
        assert data.encoding["unlimited_dims"] == {"time"}


def test_a_variable_kept_whole_or_in_part(path, tmp_path):
    table = read_table(path)
    form = table.form
    out = tmp_path / f"out{form.suffix}"
    empty = np.empty((5, 0))
    write_table(out, table, table.frame.columns, None, empty, [], form=form)
    data = opened(out).drop_vars(["reduced", "reduced_feature"])
    xr.testing.assert_identical(data, weather())
    assert data["rain"].dtype == np.int32
    out = tmp_path / f"part{form.suffix}"
    write_table(out, table, [CELLS[1], "rain[station=1]"], None, empty, [], form=form)
    data = opened(out)
    assert int(data["t2m"].notnull().sum()) == 5
    xr.testing.assert_equal(data["t2m"].isel(lat=0, lon=1), weather()["t2m"].isel(lat=0, lon=1))
    assert np.isnan(data["rain"].isel(station=0)).all()
    np.testing.assert_array_equal(data["rain"].isel(station=1), weather()["rain"][:, 1])
    assert "y" not in data


def test_grid_to_flat(path, tmp_path):
    table = read_table(path)
    keep = ["time", "month", "note", "y"]
    form = form_of("x.csv", table.form)
    assert sorted(left_out(table, keep, form)) == ["crs", "height", "mask", "station_name"]
    write_table(tmp_path / "o.csv", table, keep, None, np.ones((5, 1)), ["m, n"], form=form)
    again = read_table(tmp_path / "o.csv")
    assert again.frame.columns == [*keep, "m, n"]
    assert again.frame["time"][4].startswith("2020-01-05T00:00:00")
    assert again.frame["note"].to_list() == ["u", "", "w", "x", "NA"]


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_flat_to_grid(tmp_path, suffix):
    text = "id,when,reduced,km/h,n,flag\n01,2020-01-01,1,1.5,1,true\n02,,2,,,\n03,x,3,3,3,false\n"
    (tmp_path / "t.csv").write_text(text)
    table = read_table(tmp_path / "t.csv", as_text=["id"])
    frame = table.frame.with_columns(
        pl.Series("day", [DAYS[0].astype("M8[D]").item(), None, None]),
        pl.Series("list", [[1], [2], [3]]),
        pl.Series("bit", [True, False, True]),
        pl.Series("money", ["1.1", None, "2"]).cast(pl.Decimal(10, 1)),
        pl.Series("kind", ["a", None, "b"]).cast(pl.Categorical),
    )
    frame.write_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    form = form_of(f"x{suffix}", table.form)
    assert left_out(table, frame.columns, form) == ["list"]
    out = tmp_path / f"o{suffix}"
    rows = np.array([True, True, False])
    write_table(out, table, frame.columns, rows, np.ones((2, 1)), ["m"], form=form)
    data = opened(out)
    assert data.sizes == {"sample": 2, "reduced_feature": 1}
    assert data["id"].values.tolist() == ["01", "02"]
    assert data["when"].values.tolist() == ["2020-01-01", ""]
    assert data["reduced"].values.tolist() == [1, 2]
    assert data["reduced_"].dims == ("sample", "reduced_feature")
    assert data["km_h"].attrs == {"long_name": "km/h"}
    np.testing.assert_array_equal(data["km_h"], [1.5, np.nan])
    np.testing.assert_array_equal(data["n"], [1, np.nan])
    np.testing.assert_array_equal(data["money"], [1.1, np.nan])
    assert data["kind"].values.tolist() == ["a", ""]
    assert data["bit"].dtype == bool
    assert data["day"].values[0] == DAYS[0]
    assert np.isnat(data["day"].values[1])


def test_samples_along_another_dimension(tmp_path):
    data = weather().rename(time="day").drop_vars("day")
    path = stored(data, tmp_path / "t.zarr")
    with pytest.raises(ValueError, match=r"along which .* lon \(3\), day \(5\)"):
        read_table(path)
    with pytest.raises(ValueError, match=r"no dimension 'time'; its dimensions are: .*day \(5\)"):
        read_table(path, samples="time")
    assert read_table(path, samples="day").frame.height == 5
    path = stored(data.drop_vars("height"), tmp_path / "u.zarr")
    assert read_table(path).grid.samples == "day"  # the only one that all share
    assert "time" not in read_table(path).frame.columns
    table = read_table(stored(weather(), tmp_path / "v.nc"), samples="lat")
    assert table.frame.columns[:2] == ["lat", "t2m[time=2020-01-01, lon=7.5]"]
    assert "lat" not in table.numeric()


def test_coordinates_that_do_not_tell_cells_apart(tmp_path):
    data = xr.Dataset(
        {"a": (("time", "x"), np.ones((2, 2))), "a[x=0]": ("time", np.ones(2))},
        coords={"x": [3.0, 3.0]},
    )
    table = read_table(stored(data, tmp_path / "t.nc"))
    assert table.frame.columns == ["a[x=0]", "a[x=0]'", "a[x=1]"]


def test_calendars_and_byte_order_of_old_files(tmp_path):
    data = xr.Dataset(
        {"a": (("time", "x"), np.arange(4.0).reshape(2, 2)), "y": ("time", [1, 2])},
        coords={
            "time": ("time", [58, 59], {"units": "days since 2001-01-01", "calendar": "360_day"})
        },
    )
    path = tmp_path / "t.nc"
    data.to_netcdf(path, engine="netcdf4", format="NETCDF3_CLASSIC")
    table = read_table(path)
    assert table.frame["time"].to_list() == ["2001-02-29T00:00:00", "2001-02-30T00:00:00"]
    np.testing.assert_array_equal(table.numbers(["a[x=1]", "y"]), [[1, 1], [3, 2]])
    write_table(tmp_path / "o.nc", table, ["y"], None, np.ones((2, 1)), ["m"], form=table.form)
    again = read_table(tmp_path / "o.nc")
    assert again.frame["time"].equals(table.frame["time"])


@pytest.mark.parametrize("name", ["t.nc", "t.zarr"])
def test_damaged_data_sets(tmp_path, name):
    path = tmp_path / name
    with pytest.raises(FileNotFoundError):
        read_table(path)
    contents = [b"", b"x" * 100]
    if name == "t.nc":
        whole = Path(stored(weather(), tmp_path / "w.nc")).read_bytes()
        contents += [whole[: len(whole) // 2], whole[:100]]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=rf"{name} is not a .*, or a damaged one\.$"):
            read_table(path)
