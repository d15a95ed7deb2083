"""The commands that the pages show run, on files of the names that they use."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from lincfa.datasets import make_correlated

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
xr = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
pytest.importorskip("zarr")
pytest.importorskip("distributed")

ROOT = Path(__file__).parents[2]
WRITING = ("reduce", "predict", "apply")


def commands(page):
    """The lines of a page's shell blocks that call lincfa, without comments."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", page.read_text("utf-8"), flags=re.S | re.M)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [line.strip() for line in lines if line.strip().startswith("lincfa ")]


PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if commands(page)
]


def write_tables(folder, rng):
    X, y = make_correlated(n_samples=120, n_features=6, random_state=0)
    names = [f"x{k}" for k in range(6)]
    features = pl.DataFrame(X, names)
    index = pl.Series("y", y)
    plain = features.with_columns(index)
    features[60:].write_csv(folder / "new.csv")
    kinds = pl.Series("species", np.array(["setosa", "virginica"])[(y > y.mean()).astype(int)])
    features.with_columns(kinds).write_csv(folder / "flowers.csv")
    months = pd.date_range("2000-01", periods=120, freq="MS")
    dates = {"year": months.year.to_numpy(), "month": months.month.to_numpy()}
    plain.with_columns(**{k: pl.Series(v) for k, v in dates.items()}).write_csv(
        folder / "series.csv"
    )
    pl.DataFrame({"date": months.strftime("%Y-%m").to_list(), "nino34": y}).write_csv(
        folder / "index.csv"
    )
    features.with_columns(flow=y).write_csv(folder / "rain.csv")
    places = {"station": names, "lat": [45 + 0.1 * k for k in range(6)], "lon": [7.0] * 6}
    pl.DataFrame(places).write_csv(folder / "places.csv")
    (folder / "folder").mkdir()
    plain.write_parquet(folder / "folder" / "part.0.parquet")
    two = plain.with_columns(y1=index, y2=-index + rng.normal(size=120), code=(index > 0).cast(int))
    return plain, two.drop("y")


def write_fields(folder, rng):
    months = pd.date_range("2000-01", periods=120, freq="MS")
    waves = rng.normal(size=(120, 3, 1))
    values = (waves + 0.3 * rng.normal(size=(120, 3, 4))) * [[1.0], [2.0], [1.0]]
    places = {"time": months, "lat": [40.0, 45.0, 50.0], "lon": [0.0, 5.0, 10.0, 15.0]}
    sst = xr.DataArray(values, places, ("time", "lat", "lon"), "sst")
    rain = ("time", waves[:, 0, 0] + rng.normal(size=120))
    sst.to_netcdf(folder / "sst.nc")
    field = sst.to_dataset().assign(rain=rain)
    field.to_netcdf(folder / "field.nc")
    field.to_zarr(folder / "field.zarr", zarr_format=2)
    stations = xr.Dataset(
        {"level": (("time", "station"), values.reshape(120, 12)), "flow": rain},
        {
            "time": months,
            "lat": ("station", 45 + 0.2 * np.arange(12)),
            "lon": ("station", np.full(12, 7.0)),
        },
    )
    stations.to_netcdf(folder / "stations.nc")
    return sst


@pytest.fixture
def files(folder):
    """What the pages reduce; data.csv and new.nc depend on the command."""
    rng = np.random.default_rng(0)
    return *write_tables(folder, rng), write_fields(folder, rng)


@pytest.fixture
def scheduler():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page, files, call, request):
    plain, several, sst = files
    lines = commands(page)
    sst[100:].to_netcdf("new.nc")
    made = any("--table data.csv" in line for line in lines)
    model = ""
    for line in lines:
        words = shlex.split(line, comments=True)[1:]
        if "data.csv" in words and not made:
            table = several if {"y1", "y*", "code"} & set(words) else plain
            table.write_csv("data.csv")
        if words[0] == "apply" and "folder" in words:  # another model than that of a line before
            assert call("reduce", "folder", "--target", "y", "--force").code == 0
        elif words[0] == "apply" and "new.nc" in words and "--area-weights" in model:
            xr.open_dataset("field.nc").isel(time=slice(100, None)).to_netcdf("new.nc")
        if words[0] in WRITING and "--force" not in words:
            words.append("--force")  # pages show alternatives that write to the same files
        if "tcp://host:8786" in words:
            address = request.getfixturevalue("scheduler")
            words[words.index("tcp://host:8786")] = address
        result = call(*words)
        assert result.code == 0, f"{line}\n{result.err}"
        if words[0] == "reduce":
            model = line
