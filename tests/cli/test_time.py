"""Samples in time and places on Earth: dates, targets of another file, lags, blocks, stations."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV, compare, load
from lincfa._data._dates import Dates
from lincfa.cli._files import open_data
from lincfa.cli._folds import Folds
from lincfa.structure import coordinate_connectivity
from lincfa.timeseries import BlockKFold, at_lead, lagged

pl = pytest.importorskip("polars")
xr = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")

MONTHS = np.arange("1990-01", "1998-01", dtype="M8[M]")
N = MONTHS.size  # 96
HELD_OUT = 29  # of 96
LAT, LON = np.array([-40.0, 0.0, 40.0]), np.array([170.0, 190.0, 210.0, 230.0])
STATIONS = [f"00{k}" for k in range(12)]
QUICK = ["--no-report", "--force", "--tolerance", 3]


@pytest.fixture(scope="module")
def series():
    """Persistent factors, twelve features around them, and an index that follows the first."""
    rng = np.random.default_rng(11)
    factors = np.zeros((N + 6, 2))
    for t in range(1, N + 6):
        factors[t] = 0.7 * factors[t - 1] + rng.normal(size=2)
    X = np.repeat(factors[:N], 6, axis=1) + 0.5 * rng.normal(size=(N, 12))
    return SimpleNamespace(X=X, index=factors[:, 0] + 0.3 * rng.normal(size=N + 6))


@pytest.fixture
def world(folder, series):
    """A field along T, an index that runs six months longer, and the field as a table."""
    middle = (MONTHS.astype("M8[D]") + np.timedelta64(14, "D")).astype("M8[ns]")
    coords = {
        "T": ("T", middle, {"axis": "T"}),
        "lat": ("lat", LAT, {"units": "degrees_north"}),
        "lon": ("lon", LON, {"units": "degrees_east"}),
    }
    field = xr.Dataset({"sst": (("T", "lat", "lon"), series.X.reshape(N, 3, 4))}, coords)
    field.to_netcdf("sst.cdf", engine="netcdf4")
    months = np.arange("1990-01", "1998-07", dtype="M8[M]")
    index = pl.DataFrame({"month": months.astype(str).tolist(), "nino": series.index})
    index.write_csv("index.csv")
    table = pl.DataFrame(series.X, schema=STATIONS, orient="row")
    month = pl.Series("month", months[:N].astype(str).tolist())
    table = table.with_columns(month, nino=pl.Series(series.index[:N]))
    table.write_csv("table.csv")
    return SimpleNamespace(field=field, index=index, table=table, y=series.index, X=series.X)


def notes_of(result):
    return [line.removeprefix("note: ") for line in result.err.splitlines()]


@pytest.mark.parametrize(
    ("name", "values", "attrs"),
    [
        ("T", MONTHS.astype("M8[ns]"), {}),
        ("step", np.arange(N), {"axis": "T"}),
        ("when", np.arange(N), {"standard_name": "time"}),
        ("S", np.arange(N), {"units": "days since 2000-01-01"}),
        ("S", np.arange(N) + 0.5, {"units": "months since 1990-01-01", "calendar": "360"}),
        ("S", np.arange(N), {"units": "days since 2000-01-01", "calendar": "360_day"}),
        ("Time", np.arange(N), {}),
        ("year", np.arange(N), {}),
    ],
)
def test_the_samples_are_along_time_whatever_its_name(world, name, values, attrs):
    field = world.field.drop_vars("T").rename(T=name)
    field.assign_coords({name: (name, values, attrs)}).to_netcdf("f.nc", engine="netcdf4")
    opened = open_data("f.nc")
    assert opened.sample_dim == name
    assert opened.dates.ranks.tolist() == list(range(N))
    if "months" in attrs.get("units", ""):
        assert (opened.dates.values.astype("M8[M]") == MONTHS).all()


def test_dates_that_are_not_the_coordinate_of_the_dimension(done, world):
    field = world.field.drop_vars("T").assign(start=("T", MONTHS.astype("M8[ns]")))
    field.rename(T="record").to_netcdf("f.nc", engine="netcdf4")
    notes = notes_of(
        done("reduce", "f.nc", "--target-file", "index.csv", "--target", "nino", *QUICK)
    )
    assert (
        notes[0]
        == "all 96 dates of f.nc have a target in index.csv; 6 of its 102 dates are not used"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda field: field.drop_vars("T"), "there are no times along any; "),
        (
            lambda field: field.assign_coords(run=("lat", MONTHS[:3].astype("M8[ns]"))),
            "there are times along 'T' ('T') and 'lat' ('run'); ",
        ),
    ],
)
def test_samples_that_are_not_clear(fails, done, world, change, said):
    change(world.field).to_netcdf("f.nc", engine="netcdf4")
    options = ["f.nc", "--target-file", "index.csv", "--target", "nino", *QUICK]
    line = fails("reduce", *options)
    asked = "name it with --samples, one of T (96), lat (3), lon (4)"
    assert line.endswith(f"because {said}{asked}")
    if "run" in said:
        done("reduce", *options, "--samples", "T")
    else:
        line = fails("reduce", *options, "--samples", "T")
        assert "f.nc: 'T' has no dates to match" in line


def dates_of(index):
    return index["month"].to_numpy().astype("M8[ns]")


WAYS = {
    "2000-01": lambda index: index.write_csv("other.csv"),
    "2000-01-15": lambda index: index.with_columns(pl.col("month") + "-15").write_csv("other.csv"),
    "the last day": lambda index: index.with_columns(
        (pl.col("month") + "-01").str.to_date().dt.month_end()
    ).write_parquet("other.parquet"),
    "a zone": lambda index: index.with_columns(
        (pl.col("month") + "-01").str.to_datetime(time_zone="Europe/Berlin")
    ).write_parquet("other.parquet"),
    "200001": lambda index: index.with_columns(
        pl.col("month").str.replace("-", "").cast(pl.Int64)
    ).write_csv("other.csv"),
    "year month": lambda index: index.select(
        pl.col("month").str.slice(0, 4).cast(pl.Float64).alias("year"),
        pl.col("month").str.slice(5).cast(pl.Int64),
        "nino",
    ).write_csv("other.csv"),
    "NetCDF": lambda index: (
        xr.Dataset({"nino": ("t", index["nino"])}, {"t": dates_of(index)}).to_netcdf(
            "other.nc", engine="netcdf4"
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_target_of_another_file(done, world, folder, way):
    """The dates of the field are the middles of months."""
    WAYS[way](world.index.sample(fraction=1, shuffle=True, seed=0) if " " in way else world.index)
    (path,) = folder.glob("other.*")
    dates = {"200001": ["--dates", "month"], "year month": ["--dates", "year", "month"]}
    dates["the last day"] = dates["a zone"] = ["--dates", "month"]  # they are not in order
    options = ["--target-file", path.name, "--target", "nino", *dates.get(way, [])]
    notes = notes_of(done("reduce", "sst.cdf", *options, *QUICK))
    assert notes == [
        f"all 96 dates of sst.cdf have a target in {path.name}; 6 of its 102 dates are not used",
        "the rows have dates ('T'), and are held out in blocks; --folds shuffled takes random ones",
    ]
    model = load("model.json")
    train = slice(N - HELD_OUT)
    y = world.y[:N]
    fitted = LinCFA(tolerance=3.0, sample_dim="T").fit(world.field.isel(T=train), y[train])
    assert model.labels_.tolist() == fitted.labels_.tolist()
    assert 1 < model.n_groups_ < 12
    with xr.open_dataset("sst-reduced.cdf", engine="netcdf4") as written:
        assert np.allclose(written["nino"], y)


def test_dates_on_one_side_only_are_counted(done, world):
    world.index.slice(10, 60).write_csv("short.csv")
    options = ["--target-file", "short.csv", "--target", "nino", "--json", *QUICK]
    for path, day in (
        ("sst.cdf", 15),
        ("t.csv", 1),
    ):
        world.table.drop("nino").write_csv("t.csv")
        told = json.loads(done("reduce", path, *options).out)
        assert told["notes"][0] == (
            f"60 of 96 dates of {path} have a target in short.csv, not 1990-01-{day:02}, "
            f"{', '.join(f'1990-{month:02}-{day:02}' for month in range(2, 6))}, …, "
            f"1997-12-{day:02}"
        )
        assert (
            "36 of 96 rows have no target: they are reduced, but not learned from" in told["notes"]
        )
        assert told["n_samples"] == 42


def test_a_target_file_has_a_format_of_its_own(done, fails, world):
    """Options are for the data where they fit, and else for the target; comments for both."""
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    target = ["--target-file", "other.csv", "--target", "nino", *QUICK]
    done("reduce", "sst.cdf", "--target-file", "index.csv", *target[2:])
    groups = load("model.json").labels_.tolist()
    text = world.index.write_csv(separator=";").replace(".", ",")
    world.index.write_excel("index.xlsx", worksheet="Index")
    with open("other.csv", "w") as file:
        file.write(f"# an index, monthly\n{text}")
    assert "--comment '#'" in fails("reduce", "sst.cdf", *target)
    said = done("reduce", "sst.cdf", *target, "--comment", "#")
    assert any(note.startswith("other.csv has decimal commas") for note in notes_of(said))
    assert load("model.json").labels_.tolist() == groups
    given = ["--comment", "#", "--separator", ";", "--decimal", ","]
    done("reduce", "sst.cdf", *target, *given)
    world.table.drop("nino").write_csv("data.csv", separator="|")
    done("reduce", "data.csv", *target, "--comment", "#", "--separator", "|", "--decimal", ".")
    excel = ["--target-file", "index.xlsx", "--target", "nino", *QUICK]
    done("reduce", "data.csv", *excel, "--sheet", "Index", "--separator", "|")
    assert "has no sheet 'Other'" in fails("reduce", "sst.cdf", *excel, "--sheet", "Other")


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_dates_before_the_year_1678(world, suffix):
    """Nanoseconds do not reach so far."""
    days = np.arange("0850-01", "0858-01", dtype="M8[M]").astype("M8[D]")
    table = world.table.with_columns(month=pl.Series(days))
    getattr(table, f"write_{suffix}")(f"old.{suffix}")
    assert open_data(f"old.{suffix}").dates.span == "0850-01-01 to 0857-12-01"


def test_times_that_cannot_be_decoded(fails, world):
    times = ("T", np.arange(N), {"units": "fortnights since 1990-01-01"})
    world.field.assign_coords(T=times).to_netcdf("f.nc", engine="netcdf4")
    line = fails("reduce", "f.nc", "--target-file", "index.csv", "--target", "nino")
    assert line.startswith("f.nc: its times cannot be decoded")


def test_files_that_are_read_are_never_replaced(fails, world, places):
    options = ["--target-file", "index.csv", "--target", "nino", "--force"]
    line = fails("reduce", "sst.cdf", *options, "--output", "index.csv")
    assert line == "index.csv is an input; choose another file with --output"
    options = ["--target", "nino", *NEAR, "--stations", "places.csv", "--force"]
    line = fails("reduce", "table.csv", *options, "--model", "places.csv")
    assert line == "places.csv is an input; choose another file with --model"


def test_labels_of_another_file(done, world):
    warm = world.index.select(
        "month", kind=pl.when(pl.col("nino") > 0).then(pl.lit("warm")).otherwise(pl.lit("cold"))
    )
    warm.write_csv("kinds.csv")
    told = json.loads(
        done(
            "reduce", "sst.cdf", "--target-file", "kinds.csv", "--target", "kind", "--json", *QUICK
        ).out
    )
    assert told["classes"] == ["cold", "warm"]


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (
            lambda index: index.with_columns(month=pl.lit("May")),
            [],
            "other.csv has no column of dates; name the one to match with --dates, or those of the "
            "year and the month",
        ),
        (
            lambda index: index.with_columns(
                month="01.0" + pl.col("month").str.slice(6) + "." + pl.col("month").str.slice(0, 4),
                made=pl.lit("2000-01-01"),
            ),
            [],
            "other.csv has no dates to match: 'month' has 01.01.1990, and dates are such as "
            "2000-01, 2000-01-15 or 2000-01-15T12:00; name the one to match with --dates",
        ),
        (
            lambda index: index.with_columns(pl.col("month").str.replace("199", "186")),
            [],
            "no date of sst.cdf (1990-01-15 to 1997-12-15) has a target in other.csv (1860-01-01 "
            "to 1868-06-01)",
        ),
        (
            lambda index: pl.concat([index[:4], index[3:]]),
            [],
            "other.csv needs one sample for each date, but 1990-04-01 has 2.",
        ),
        (
            lambda index: index[:20].with_columns(
                month=pl.Series([f"1990-01-{day}" for day in range(11, 31)])
            ),
            [],
            "The dates of sst.cdf and other.csv do not match: sst.cdf is in steps of 1 month from "
            "1990-01-15, and other.csv in steps of 1 day from 1990-01-11. Bring both to the "
            "same steps first.",
        ),
        (
            lambda index: index,
            ["--dates", "nino"],
            "dates in 'nino' must be whole numbers, such as 200001, or written as 2000-01, "
            "2000-01-15 or 2000-01-15T12:00; the first that is not: ",
        ),
        (
            lambda index: index,
            ["--dates", "year", "month"],
            "neither sst.cdf nor other.csv is a table with the columns that --dates names: year, "
            "month",
        ),
        (
            lambda index: index.with_columns(pl.col("month").replace("1990-03", None)),
            ["--dates", "month"],
            "other.csv: the date in 'month' is missing in row 3",
        ),
        (
            lambda index: index.rename({"nino": "nina"}),
            [],
            "other.csv has no column 'nino'; did you mean 'nina'?",
        ),
    ],
)  # fmt: skip
def test_targets_that_do_not_match(fails, world, change, options, said):
    change(world.index).write_csv("other.csv")
    line = fails("reduce", "sst.cdf", "--target-file", "other.csv", "--target", "nino", *options)
    assert said in line


def test_the_same_column_in_both_files(fails, world):
    line = fails("reduce", "table.csv", "--target-file", "index.csv", "--target", "nino")
    assert line.startswith("table.csv and index.csv both have a column 'nino'")


# Lags and lead

LAGGED = ["--lags", 0, 2, "--lead", 1]


def test_lags_and_lead_of_a_field(done, world):
    options = ["--target-file", "index.csv", "--target", "nino", *LAGGED, *QUICK]
    told = json.loads(done("reduce", "sst.cdf", *options, "--json", "--connectivity", "grid").out)
    assert told["notes"] == [
        "all 96 dates of sst.cdf have a target 1 step later in index.csv; 6 of its 102 dates "
        "are not used",
        "the rows have dates ('T'), and are held out in blocks, with a gap of 3 on either side; "
        "--folds shuffled takes random ones",
        "left out: 2 of 96 samples lack lag 2: 1990-01-15, 1990-02-15",
    ]
    assert told["targets"] == ["nino lead 1"]
    y = xr.DataArray(world.y, {"T": world.index["month"].to_numpy().astype("M8[ns]")}, "T")
    X, y, _, gap = at_lead(world.field, y, 1, [0, 2], dim="T")
    train = slice(94 - 28 - gap)
    fitted = LinCFA(tolerance=3.0, connectivity="grid", sample_dim="T")
    fitted.fit(X.isel(T=train), y.isel(T=train))
    assert told["n_samples"] == train.stop
    model = load("model.json")
    xr.testing.assert_equal(model.label_map(), fitted.label_map())
    reduced = fitted.transform(X)
    with xr.open_dataset("sst-reduced.cdf", engine="netcdf4") as written:
        assert np.allclose(written["reduced"], reduced)
        assert np.allclose(written["nino lead 1"], y)
    result = done("apply", "model.json", "sst.cdf", "--force")  # which repeats the lags
    assert notes_of(result) == told["notes"][2:]
    with xr.open_dataset("sst-reduced.cdf", engine="netcdf4") as written:
        assert np.allclose(written["reduced"], reduced)
        assert (written["T"] == X["T"]).all()


@pytest.mark.parametrize("suffix", ["csv", "nc"])
def test_lags_and_lead_of_a_table(done, world, suffix):
    path = "table.csv"
    if suffix == "nc":
        path, frame = "table.nc", world.table
        columns = {name: ("time", frame[name].to_numpy()) for name in [*STATIONS, "nino"]}
        xr.Dataset(columns, {"time": MONTHS.astype("M8[ns]")}).to_netcdf(path, engine="netcdf4")
    result = done("reduce", path, "--target", "nino", *LAGGED, *QUICK)
    assert "only columns of the same lag merge (at least 2 groups)" in result.out
    assert "1 of 94 rows has no target: it is reduced, but not learned from" in result.err
    X, y, _, gap = at_lead(world.X, world.y[:N], 1, [0, 2])
    n = len(X) - round(0.3 * len(X)) - gap
    fitted = LinCFA(tolerance=3.0, blocks=np.repeat([0, 2], 12)).fit(X[:n], y[:n])
    model = load("model.json")
    assert model.labels_.tolist() == fitted.labels_.tolist()
    assert model.feature_names_in_[[0, -1]].tolist() == ["000 lag 0", "0011 lag 2"]
    means = fitted.transform(lagged(world.X, [0, 2]))
    check = {"csv": reduced_csv, "nc": reduced_nc}[suffix]
    check("table-reduced", means, world.y)
    done("apply", "model.json", path, "--force")
    check("table-reduced", means, None)


def reduced_csv(name, means, y):
    frame = pl.read_csv(f"{name}.csv")
    assert frame["month"][0] == "1990-03"
    assert np.allclose(frame[:, -means.shape[1] :], means)
    if y is not None:
        assert np.allclose(frame["nino"], y[2:N])  # at its own date
        assert np.allclose(frame["nino lead 1"][:-1], y[3:N])
        assert frame["nino lead 1"][-1] is None


def reduced_nc(name, means, y):
    with xr.open_dataset(f"{name}.nc", engine="netcdf4") as written:
        assert np.allclose(written["reduced"], means)
        if y is not None:
            assert np.allclose(written["nino lead 1"][:-1], y[3:N])


def test_a_missing_month_is_never_bridged(done, world):
    world.table.filter(pl.col("month") != "1992-05").write_csv("table.csv")
    notes = notes_of(done("reduce", "table.csv", "--target", "nino", "--lags", 0, 1, *QUICK))
    assert "left out: 2 of 95 samples lack lag 1: 1990-01-01, 1992-06-01" in notes


def test_rows_without_dates_count_as_consecutive(done, world):
    world.table.drop("month").write_csv("table.csv")
    notes = notes_of(done("reduce", "table.csv", "--target", "nino", "--lags", 1, *QUICK))
    assert "without dates, the rows count as consecutive" in notes
    assert "left out: 1 of 96 samples lacks lag 1: row 1" in notes
    assert (
        "rows are held out in blocks of consecutive ones, with a gap of 1 on either side; --folds "
        "shuffled takes random ones" in notes
    )


def test_lags_that_cannot_be(fails, world):
    options = ["--target-file", "index.csv", "--target", "nino"]
    assert (
        fails("reduce", "sst.cdf", *options, "--lags", 0, 96)
        == "sst.cdf: none of 96 samples has all lags, 0, 96; use smaller ones"
    )
    line = fails("reduce", "table.csv", "--target", "nino", "--lead", 96)
    assert line == "table.csv: none of 96 samples has a target 96 steps later; use a smaller --lead"
    line = fails("reduce", "sst.cdf", *options, "--lags", 1, "--keep", "sst[[]lat=0*")
    assert "--lags takes variables as a whole, and --keep names 'sst[lat=0.0, lon=170.0]'" in line
    line = fails("reduce", "sst.zarr", *options[2:], "--dask", "--lags", 1, code=2)
    assert "--lags is for data in memory, and these are read in chunks" in line
    world.table.with_columns(pl.col("001").alias("000 lag 1")).write_csv("table.csv")
    table = ["reduce", "table.csv", "--target", "nino"]
    already = "table.csv has a column {!r} already; rename it first"
    assert fails(*table, "--lags", 0, 1) == already.format("000 lag 1")
    world.table.with_columns(pl.col("nino").alias("nino lead 2")).write_csv("table.csv")
    assert fails(*table, "--lead", 2) == already.format("nino lead 2")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda table: table.sample(fraction=1, shuffle=True, seed=0), "'month' is not in order"),
        (
            lambda table: table.with_columns(pl.col("month").alias("end")),
            "'month', 'end' are several columns of dates",
        ),
        (
            lambda table: table.with_columns(pl.col("month").replace("1990-03", None)),
            "'month' lacks some dates",
        ),
        (
            lambda table: table.with_columns(pl.col("month").replace("1990-03", "1990-13")),
            "'month' has 1990-13, and dates are such as 2000-01, 2000-01-15 or 2000-01-15T12:00",
        ),
    ],
    ids=["shuffled", "several", "missing", "thirteen"],
)
def test_lags_take_no_rows_for_consecutive_that_have_dates(done, fails, world, change, why):
    done("reduce", "table.csv", "--target", "nino", *LAGGED, *QUICK)
    expected = pl.read_csv("table-reduced.csv")
    change(world.table).write_csv("table.csv")
    for command in (
        ["apply", "model.json", "table.csv"],
        ["reduce", "table.csv", "--target", "nino", "--lags", 1],
        ["reduce", "table.csv", "--target", "nino", "--lead", 1],
    ):
        line = fails(*command, "--force")
        assert line.startswith(f"table.csv: {why}")
        assert line.endswith("; name the date of the rows with --dates")
    if "order" in why or "several" in why:
        done("apply", "model.json", "table.csv", "--force", "--dates", "month")
        found = pl.read_csv("table-reduced.csv").sort("month")
        groups = [name for name in expected.columns if "lag" in name]
        assert groups
        assert np.allclose(found[groups], expected[groups])


def test_a_field_with_a_dimension_of_its_own_that_is_called_lag(done, world):
    field = world.field.rename(lat="lag").assign_coords(lag=["a", "b", "c"])
    field.to_netcdf("own.nc", engine="netcdf4")
    done("reduce", "own.nc", "--target-file", "index.csv", "--target", "nino", *QUICK)
    with xr.open_dataset("own-reduced.nc", engine="netcdf4") as written:
        expected = written.load()
    done("apply", "model.json", "own.nc", "--force")
    with xr.open_dataset("own-reduced.nc", engine="netcdf4") as again:
        for name in again.data_vars:
            np.testing.assert_allclose(again[name], expected[name])


def test_columns_of_dates_that_are_not_there(done, fails, world):
    done("reduce", "table.csv", "--target", "nino", *QUICK)
    for command in (["apply", "model.json"], ["reduce", "--target", "nino"]):
        line = fails(*command, "table.csv", "--dates", "nosuch", "--force")
        assert line == "table.csv has no column 'nosuch', which --dates names"


def test_columns_of_years_and_months_are_pointed_out(done, world):
    month = pl.col("month").str.slice(5).cast(pl.Int64)
    year = pl.col("month").str.slice(0, 4).cast(pl.Int64)
    world.table.with_columns(Year=year, month=month).write_csv("apart.csv")
    notes = notes_of(done("reduce", "apart.csv", "--target", "nino", *QUICK))
    assert (
        "the columns Year month count as features; if they are the dates of the rows, use --dates "
        "Year month" in notes
    )
    dated = ["--dates", "Year", "month", "--target", "nino", *QUICK, "--force"]
    assert "the rows have dates ('Year, month')" in done("reduce", "apart.csv", *dated).err
    assert len(load("model.json").labels_) == 12


def test_a_rare_class_is_no_cause_for_warnings(done, world):
    kinds = np.where(world.y[:N] > 0, "warm", "cold")
    kinds[3] = "rare"
    world.table.with_columns(kind=pl.Series(kinds.tolist())).write_csv("kinds.csv")
    options = ["--target", "kind", "--classes", "--drop", "nino", "--folds", "shuffled"]
    said = done("reduce", "kinds.csv", *options, "--test", 0, "--no-report")
    assert "least populated" not in said.err


def test_a_target_at_a_lead_keeps_its_attributes(done, world):
    attrs = {"units": "K", "long_name": "El Niño"}
    index = xr.Dataset({"nino": ("t", world.y, attrs)}, {"t": dates_of(world.index)})
    index.to_netcdf("index.nc", engine="netcdf4")
    done("reduce", "sst.cdf", "--target-file", "index.nc", "--target", "nino", "--lead", 3, *QUICK)
    with xr.open_dataset("sst-reduced.cdf", engine="netcdf4") as written:
        assert written["nino lead 3"].attrs == attrs


# Folds


@pytest.mark.parametrize("path", ["sst.cdf", "table.csv"])
def test_blocks_of_dates_are_the_default(done, world, path):
    given = ["--target", "nino", "--no-report", "--force", "--json"]
    if path == "sst.cdf":
        given += ["--target-file", "index.csv"]
    train = np.arange(N - HELD_OUT)
    X = world.field if path == "sst.cdf" else world.X
    part = X.isel(T=train) if path == "sst.cdf" else X[train]
    told = json.loads(done("reduce", path, *given).out)
    model = LinCFACV(cv=BlockKFold(5, n_repeats=2)).fit(part, world.y[train])
    assert told["settings"]["chosen penalty"] == model.penalty_
    assert told["n_groups"] == model.n_groups_
    assert told["settings"]["cv"].startswith("5 blocks of samples consecutive in time")
    assert told["data"]["held out for the scores"] == "29 of 96 rows, the last ones"
    told = json.loads(done("reduce", path, *given, "--gap", 4).out)
    assert told["settings"]["cv"].endswith("with a gap of 4 on either side")
    assert told["n_samples"] == N - HELD_OUT - 4
    assert told["data"]["held out for the scores"].endswith("ones, and 4 next to them left out")
    told = json.loads(done("reduce", path, *given, "--folds", "shuffled").out)
    assert told["data"]["held out for the scores"] == "29 of 96 rows, at random, seed 0"
    assert "cv" not in told["settings"] or "blocks" not in str(told["settings"]["cv"])


def test_rows_in_another_order_than_their_dates(done, world):
    given = ["--target", "nino", "--no-report", "--force", "--json"]
    first = json.loads(done("reduce", "table.csv", *given).out)
    world.table.sample(fraction=1, shuffle=True, seed=1).write_csv("table.csv")
    told = json.loads(done("reduce", "table.csv", *given, "--dates", "month").out)
    assert [each["name"] for each in told["groups"]] == [each["name"] for each in first["groups"]]
    for got, wanted in zip(told["scores"]["rows"], first["scores"]["rows"], strict=True):
        assert got["r2"] == pytest.approx(wanted["r2"])  # with intervals, from blocks of errors
    told = json.loads(done("reduce", "table.csv", *given).out)  # no dates in order
    assert "at random" in told["data"]["held out for the scores"]


def test_compare_holds_out_blocks(done, world):
    given = ["--method", "LinCFA", "--method", "ridge", "--n-folds", 4, "--json"]
    told = json.loads(done("compare", "table.csv", "--target", "nino", *given, "--gap", 2).out)
    y = world.y[:N]
    cv, methods = BlockKFold(4, gap=2), ["LinCFA", "ridge"]
    expected = compare(world.X, y, methods=methods, cv=cv, verbose=False).to_dict()
    for got, wanted in zip(told["methods"], expected["methods"], strict=True):
        assert got["r2"] == pytest.approx(wanted["r2"])
    assert told["ordered"]
    later = ["--target-file", "index.csv", "--lags", 0, 1, "--lead", 2]
    told = json.loads(done("compare", "sst.cdf", "--target", "nino", *given, *later).out)
    X, y = lagged(world.X, [0, 1]), world.y[3 : N + 2]
    options = {"methods": methods, "cv": BlockKFold(4, gap=3), "verbose": False}
    apart = np.repeat([0, 1], world.X.shape[1])  # lags never mix
    expected = compare(X, y, blocks=apart, **options).to_dict()
    for got, wanted in zip(told["methods"], expected["methods"], strict=True):
        assert got["r2"] == pytest.approx(wanted["r2"])
    assert not json.loads(
        done("compare", "table.csv", "--target", "nino", *given, "--folds", "shuffled").out
    )["ordered"]


@pytest.mark.parametrize("path", ["table.csv", "sst.cdf"])
def test_rows_of_the_same_date_are_held_out_together(done, world, path):
    """Three rows for each quarter, in any order."""
    quarters, y = np.arange(N) // 3, world.y[:N]
    order = np.random.default_rng(2).permutation(N)
    dates = MONTHS[quarters * 3].astype("M8[ns]")
    if path == "table.csv":
        months = world.table.with_columns(month=pl.Series(MONTHS[quarters * 3].astype(str)))
        months[order].write_csv(path)
    else:
        field = world.field.assign_coords(T=dates).assign(nino=("T", y))
        field.isel(T=order).to_netcdf(path, engine="netcdf4")
    named = ["--dates", "month"] if path == "table.csv" else []
    given = ["--target", "nino", "--gap", 1, "--json", *named]
    methods = ["LinCFA", "ridge"]
    told = json.loads(
        done(
            "compare", path, *given, "--n-folds", 5, "--method", methods[0], "--method", "ridge"
        ).out
    )
    expected = compare(
        world.X, y, methods=methods, cv=BlockKFold(5, gap=1), groups=dates, verbose=False
    ).to_dict()
    for got, wanted in zip(told["methods"], expected["methods"], strict=True):
        assert got["r2"] == pytest.approx(wanted["r2"])
    # 29 rows would be 9 quarters and two months of the tenth.
    told = json.loads(done("reduce", path, *given, "--no-report", "--force", "--tolerance", 3).out)
    held_out = "30 of 96 rows, the last ones, and 3 next to them left out"
    assert told["data"]["held out for the scores"] == held_out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--folds shuffled --gap 2", "--gap is for --folds blocks"),
        ("--gap -1", "'-1' is not a whole number"),
        ("--connectivity stations", "--connectivity stations needs --radius-km"),
        ("--radius-km 5", "--radius-km is for --connectivity stations"),
        ("--lags 0,1,2", "'0,1,2' is not a whole number from 0 to 2147483647; separate lags by sp"),
        ("--lags -1", "'-1' is not a whole number from 0 to 2147483647; the future is for --lead"),
        ("--lags x", "'x' is not a whole number from 0 to 2147483647 ("),
        ("--lags 0 1 0", "--lags must be different numbers"),
        ("--stations s.csv", "--stations is for --connectivity stations"),
        ("--connectivity stations --radius-km 0", "is not a positive number of kilometres"),
        ("--area-weights", "--area-weights is for NetCDF files and Zarr stores"),
    ],
)
def test_wrong_usage(fails, world, arguments, message):
    assert message in fails("reduce", "table.csv", "--target", "nino", *arguments.split(), code=2)
    line = fails("reduce", "sst.cdf", "--target", "nino", "--dates", "T", code=2)
    assert "--dates is for tables" in line


def test_a_gap_that_leaves_nothing(fails, world):
    line = fails("reduce", "table.csv", "--target", "nino", "--gap", 90)
    assert line.endswith(
        "0 rows to learn from are too few; at least 4 are needed, besides the 29 held out (--test "
        "0.3) and the 67 next to them (--gap)"
    )


# Places


@pytest.fixture
def places(world):
    """Stations in two clusters, as a table in another order and as coordinates of a field."""
    lat = np.repeat([45.0, 47.0], 6) + 0.1 * np.arange(12) % 0.6
    lon = np.full(12, 9.0)
    frame = pl.DataFrame({"height": lat, "id": STATIONS, "Latitude": lat, "Longitude": lon})
    frame.reverse().write_csv("places.csv")
    coords = {"time": MONTHS.astype("M8[ns]"), "lat": ("station", lat), "lon": ("station", lon)}
    data = {"t2m": (("time", "station"), world.X), "nino": ("time", world.y[:N])}
    xr.Dataset(data, coords).to_netcdf("stations.nc", engine="netcdf4")
    return SimpleNamespace(lat=lat, lon=lon, frame=frame)


NEAR = ["--connectivity", "stations", "--radius-km", 80]


@pytest.mark.parametrize("path", ["table.csv", "stations.nc"])
def test_stations_within_a_radius(done, world, places, path):
    more = ["--stations", "places.csv"] if path == "table.csv" else []
    options = ["--target", "nino", *NEAR, *more, "--no-report", "--force", "--tolerance", 1e6]
    said = done("reduce", path, *options).out
    assert "merge (at least 2 groups)" in said
    train = slice(N - HELD_OUT)
    near = coordinate_connectivity(places.lat, places.lon, radius_km=80)
    fitted = LinCFA(tolerance=1e6, connectivity=near).fit(world.X[train], world.y[train])
    assert load("model.json").labels_.tolist() == fitted.labels_.tolist()
    assert fitted.n_groups_ == 2
    note = "no station has a neighbour within 0.5 km"
    alone = [0.5 if option == 80 else option for option in options]
    assert note in notes_of(done("reduce", path, *alone))
    assert note not in notes_of(done("reduce", path, *options))
    done("reduce", path, *options, "--lags", 0, 1)  # also at lags, which stay apart
    assert load("model.json").labels_.tolist() == np.repeat([0, 1, 2, 3], 6).tolist()


def test_stations_in_radians(done, world, places):
    options = ["--target", "nino", *NEAR, "--no-report", "--force", "--tolerance", 1e6]
    done("reduce", "stations.nc", *options)
    expected = load("model.json").labels_.tolist()
    with xr.open_dataset("stations.nc", engine="netcdf4") as field:
        turned = {
            name: (field[name].dims, np.deg2rad(field[name].values), {"units": "radian"})
            for name in ("lat", "lon")
        }
        field.assign_coords(turned).to_netcdf("radians.nc", engine="netcdf4")
    said = done("reduce", "radians.nc", *options).out
    assert "only stations at most 80 km apart merge" in said
    assert load("model.json").labels_.tolist() == expected


def test_places_on_a_curvilinear_grid(done, world):
    """Coordinates of two dimensions count, not axes that have a name like theirs."""
    lat, lon = np.meshgrid([45.0, 45.1, 47.0], [9.0, 9.1, 9.2, 9.3], indexing="ij")
    dims = ("lat", "lon")
    field = world.field.assign_coords(lat=range(3), lon=range(4), nav_lat=(dims, lat))
    field = field.assign_coords(nav_lon=(dims, lon))
    # In a file the order of coordinates is that of their names.
    field = field[["nav_lat", "nav_lon", "lat", "lon", "sst"]]
    field.to_netcdf("curved.nc", engine="netcdf4")
    options = ["--target-file", "index.csv", "--target", "nino", *NEAR, "--no-report"]
    done("reduce", "curved.nc", *options, "--tolerance", 1e6)
    assert load("model.json").labels_.tolist() == [0] * 8 + [1] * 4


def test_places_that_are_not_known(fails, world, places):
    table = ["reduce", "table.csv", "--target", "nino", *NEAR]
    assert fails(*table).startswith("--connectivity stations needs --stations FILE")
    places.frame[:10].write_csv("few.csv")
    assert fails(*table, "--stations", "few.csv") == (
        "few.csv has no row for columns '0010', '0011'; --drop COLUMN leaves out what is no station"
    )
    pl.concat([places.frame, places.frame[3:4]]).write_csv("twice.csv")
    line = fails(*table, "--stations", "twice.csv")
    assert line == "twice.csv has 2 rows for the station '003'; keep one"
    north = pl.when(pl.col("id") == "003").then(95).otherwise("Latitude")
    places.frame.with_columns(Latitude=north).write_csv("north.csv")
    line = fails(*table, "--stations", "north.csv")
    assert line.startswith("north.csv: '003' is at latitude 95 and longitude 9; stations need both")
    places.frame.drop("Latitude").write_csv("nowhere.csv")
    line = fails(*table, "--stations", "nowhere.csv")
    assert line == "nowhere.csv has no columns with a name such as 'lat'; it must have one"
    assert (
        fails(*table, "--stations", "stations.nc")
        == "--stations needs a table, and stations.nc is none"
    )
    line = fails("reduce", "stations.nc", "--target", "nino", "--connectivity", "grid")
    assert line.endswith("are places and no grid; use --connectivity stations with --radius-km")
    xr.open_dataset("stations.nc", engine="netcdf4").drop_vars("lat").to_netcdf(
        "lost.nc", engine="netcdf4"
    )
    line = fails("reduce", "lost.nc", "--target", "nino", *NEAR)
    assert "needs latitudes and longitudes, which lost.nc does not have of columns 't2m[" in line


def test_area_weights(done, fails, world, places):
    options = ["--target-file", "index.csv", "--target", "nino"]
    done("reduce", "sst.cdf", *options, *QUICK, "--area-weights", "--units", "original")
    train = slice(N - HELD_OUT)
    weighted = LinCFA(tolerance=3.0, feature_weights="area", units="original", sample_dim="T")
    weighted.fit(world.field.isel(T=train), world.y[train])
    assert load("model.json").feature_weights == "area"
    with xr.open_dataset("sst-reduced.cdf", engine="netcdf4") as written:
        assert np.allclose(written["reduced"], weighted.transform(world.field))
    pair = ["sst[lat=-40.0, lon=170.0]", "sst[lat=0.0, lon=170.0]"]
    said = done("explain", "sst.cdf", *options, *pair, "--area-weights").out
    assert "mean weighted 0.766 : 1" in said  # the cosine of 40°
    given = ["--method", "LinCFA", "--json"]
    told = json.loads(done("compare", "sst.cdf", *options, *given, "--area-weights").out)
    weights = np.repeat(np.cos(np.deg2rad(LAT)), 4)
    expected, plain = (
        compare(
            world.X,
            world.y[:N],
            methods=["LinCFA"],
            ordered=True,
            feature_weights=each,
            verbose=False,
        )
        for each in (weights, None)
    )
    assert told["methods"][0]["r2"] == pytest.approx(expected.to_dict()["methods"][0]["r2"])
    assert told["methods"][0]["r2"] != pytest.approx(plain.to_dict()["methods"][0]["r2"])
    line = fails("compare", "stations.nc", "--target", "nino", "--area-weights", "--drop", "t2m*")
    assert "has no numeric column" in line


def test_rows_are_divided_in_order_of_time():
    dates = Dates("day", np.array([3, 0, 5, 1, 4, 2, 5]))
    train, test = Folds(True, 1, dates).last(np.array([0, 1, 2, 3, 4, 6]), 1)
    assert (train.tolist(), test.tolist()) == ([1, 3, 0], [2, 6])  # the fifth row is in the gap
