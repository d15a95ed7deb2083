"""Files whose values would not fit into memory are refused before they are unpacked."""

import gzip
from math import inf
from pathlib import Path

import numpy as np
import pytest

pl = pytest.importorskip("polars")

from lincfa.cli._files import _csv, _formats, _tables, open_data

ROWS = 200_000


@pytest.fixture(autouse=True)
def small(monkeypatch, tmp_path):
    """A megabyte of memory."""
    monkeypatch.chdir(tmp_path)
    for module in (_formats, _csv, _tables):
        monkeypatch.setattr(module, "available_memory", lambda: 1e6)


def zeros(rows=ROWS):
    return pl.DataFrame({"a": np.zeros(rows), "b": np.zeros(rows), "y": np.zeros(rows)})


def refused(name, needed, **options):
    assert Path(name).is_dir() or Path(name).stat().st_size < 300_000
    with pytest.raises(ValueError, match=rf"^.*{name}.* needs {needed} of memory ") as raised:
        open_data(name, **options)
    assert " of memory once decompressed, but only 1.0 MB is available; " in str(raised.value)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
def test_compressed_text(suffix):
    text = b"a,b,y\n" + b"0,0,0\n" * ROWS
    name = f"d.csv.{suffix}"
    Path(name).write_bytes(_csv._MODULES[f".{suffix}"].compress(text))
    refused(name, "more than 1.0 MB")


def test_text_that_fits():
    Path("d.csv.gz").write_bytes(gzip.compress(b"a,y\n" + b"0,0\n" * 9000))
    assert open_data("d.csv.gz").n_rows == 9000


@pytest.mark.parametrize("name", ["d.parquet", "d.feather"])
def test_columnar_files(name):
    def write(frame):
        if name == "d.parquet":
            frame.write_parquet(name)
        else:
            frame.write_ipc(name, compression="zstd")

    write(zeros())
    refused(name, "about 7.2 MB")
    write(zeros(10_000))
    assert open_data(name).n_rows == 10_000


LONG = pl.DataFrame({"t": ["a" * 100_000] * 20, "y": range(20)})


@pytest.mark.parametrize("name", ["d.parquet", "d.arrow"])
def test_long_text_of_several_rows(name):
    if name == "d.parquet":
        LONG.write_parquet(name, statistics=False)  # which has it once
    else:
        LONG.write_ipc(name, compression="zstd")
    refused(name, "about 3.0 MB")


@pytest.mark.parametrize(
    "column",
    [
        [letter * 100_000 for letter in "abcdefghijklmnopqrst"],
        [[0.0] * 12_500] * 20,
        [{"a": letter * 100_000} for letter in "abcdefghijklmnopqrst"],
    ],
    ids=["text", "lists", "fields"],
)
def test_text_and_lists_are_not_read(monkeypatch, column):
    pytest.importorskip("pyarrow")  # the footer is read by it
    monkeypatch.setattr(pl, "read_parquet", None)
    pl.DataFrame({"t": column, "y": range(20)}).write_parquet("d.parquet", statistics=False)
    refused("d.parquet", r"about 3\.\d MB")


def test_headers():
    Path("d.csv").write_text(",".join(f"t{i}" for i in range(400)) + "\n" + ",".join("0" * 400))
    refused("d.csv", "about 1.2 MB")
    Path("d.csv").write_text(",".join(f"t{i}" for i in range(300)) + "\n" + ",".join("0" * 300))
    assert open_data("d.csv").n_rows == 1


def test_arrow_streams(monkeypatch):
    zeros().write_ipc_stream("d.arrow", compression="zstd")
    refused("d.arrow", "more than 1.0 MB")
    monkeypatch.setattr(_tables, "available_memory", lambda: 1.5 * 24 * ROWS)
    assert open_data("d.arrow").frame.equals(zeros())
    monkeypatch.setattr(_tables, "available_memory", lambda: 1.5 * 24 * ROWS - 1)
    with pytest.raises(ValueError, match=r"more than 7\.2 MB of memory .* only 7\.2 MB is"):
        open_data("d.arrow")
    monkeypatch.setattr(_tables, "available_memory", lambda: inf)
    pl.DataFrame({"n": [None] * 5}).write_ipc_stream("d.arrow")  # values that take no memory
    assert open_data("d.arrow").n_rows == 5


def test_a_row_group_of_a_folder(monkeypatch):
    pytest.importorskip("dask")
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(_tables, "CHUNK_BYTES", 2**19)
    Path("folder").mkdir()
    zeros().write_parquet("folder/1.parquet", row_group_size=ROWS)
    refused("folder", "about 7.2 MB", in_chunks=True)
    zeros().write_parquet("folder/1.parquet", row_group_size=10_000)
    assert open_data("folder", in_chunks=True).n_rows == ROWS


def test_excel():
    pytest.importorskip("fastexcel")
    pytest.importorskip("xlsxwriter")
    zeros(20_000).write_excel("d.xlsx")
    refused("d.xlsx", r"about \d\.\d MB")


@pytest.mark.parametrize("in_chunks", [False, True])
@pytest.mark.parametrize("name", ["d.nc", "d.zarr"])
def test_fields(name, in_chunks):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4" if name == "d.nc" else "zarr")
    if in_chunks and name == "d.nc":
        pytest.skip("read into memory")
    data = xr.Dataset({"t": (("n", "x"), np.zeros((500, 400))), "y": ("n", np.arange(500.0))})
    if name == "d.nc":
        data.to_netcdf(name, encoding={"t": {"zlib": True}})
    else:
        data.to_zarr(name, zarr_format=2, encoding={"t": {"chunks": (500, 400)}})
    refused(name, "about 2.4 MB", targets=["y"], in_chunks=in_chunks)
    if in_chunks:
        data.to_zarr("small.zarr", zarr_format=2, encoding={"t": {"chunks": (50, 400)}})
        assert open_data("small.zarr", targets=["y"], in_chunks=True).n_rows == 500


@pytest.fixture
def system(monkeypatch, tmp_path):
    """Writes files of a system; the memory that is available in it is the real one again."""
    monkeypatch.undo()
    assert _formats.available_memory() > 1e6
    monkeypatch.setattr(_formats, "_ROOT", tmp_path)
    monkeypatch.setattr(pytest.importorskip("resource"), "getrlimit", lambda _: (-1, -1))

    def write(**files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)

    return write


def test_memory_of_the_system_and_of_the_process(system, monkeypatch):
    resource = pytest.importorskip("resource")
    assert _formats.available_memory() == inf
    system(**{"proc/meminfo": "MemTotal:  9 kB\nMemAvailable:    12 kB\n"})
    assert _formats.available_memory() == 12 * 1024
    system(**{"proc/self/statm": "3 2 1 0 0 0 0\n"})
    page = resource.getpagesize()
    for limit, available in ((5 * page, 2 * page), (2 * page, 0), (-1, 12 * 1024)):
        monkeypatch.setattr("resource.getrlimit", lambda _, limit=limit: (limit, -1))
        assert _formats.available_memory() == min(available, 12 * 1024)


@pytest.mark.parametrize(
    ("groups", "root", "limit", "used", "none", "total"),
    [
        ("0::", "sys/fs/cgroup", "memory.max", "memory.current", "max", ""),
        (
            "9:name=systemd:/x\n5:cpu,cpuacct:/y\n4:memory:",
            "sys/fs/cgroup/memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            str(2**63 - 4096),
            "total_",
        ),
    ],
    ids=["version 2", "version 1"],
)
def test_limits_of_control_groups(system, groups, root, limit, used, none, total):
    def group(place, largest, taken, cache):
        stat = f"anon 5\nactive_file 0\n{total}inactive_file {cache}\n{total}active_file 3\n"
        files = {limit: f"{largest}\n", used: f"{taken}\n", "memory.stat": stat}
        system(**{f"{root}/{place}/{name}": text for name, text in files.items()})

    system(**{"proc/self/cgroup": f"{groups}/slurm/job:1/task\n"})
    group("slurm/job:1/task", none, 400, 0)
    assert _formats.available_memory() >= 2**62
    group("slurm/job:1", 1000, 400, 50)  # the cache makes way
    assert _formats.available_memory() == 653
    group("slurm/job:1/task", 700, 400, 0)
    assert _formats.available_memory() == 303
    group("slurm", 1000, 1500, 0)
    assert _formats.available_memory() == 0
    system(**{"proc/self/cgroup": f"{groups}/seen/from/outside\n"})
    group("", 90, 10, 0)  # all that a container sees
    assert _formats.available_memory() == 83
