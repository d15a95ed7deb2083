"""Files whose values would not fit into memory are refused before they are unpacked."""

import gzip
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
    for module in (_formats, _csv):
        monkeypatch.setattr(module, "available_memory", lambda: 1e6)


def zeros(rows=ROWS):
    return pl.DataFrame({"a": np.zeros(rows), "b": np.zeros(rows), "y": np.zeros(rows)})


def refused(name, needed, **options):
    assert Path(name).is_dir() or Path(name).stat().st_size < 300_000
    with pytest.raises(ValueError, match=rf"^.*{name}.* needs {needed} of memory ") as raised:
        open_data(name, **options)
    assert "1.0 MB are available" in str(raised.value)


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


def test_what_the_system_tells(monkeypatch, tmp_path):
    monkeypatch.undo()
    assert _formats.available_memory() > 1e6
    pattern = _formats._MEMORY["/proc/meminfo"]
    (tmp_path / "meminfo").write_text("MemTotal:  9 kB\nMemAvailable:    12 kB\n")
    (tmp_path / "max").write_text("max\n")
    places = {str(tmp_path / "meminfo"): pattern, str(tmp_path / "max"): r"^(\d+)$"}
    monkeypatch.setattr(_formats, "_MEMORY", places)
    assert _formats.available_memory() == 12 * 1024
    (tmp_path / "max").write_text("77\n")
    assert _formats.available_memory() == 77
