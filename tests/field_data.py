"""Xarray fields, and the tables that they are."""

import numpy as np
import xarray as xr

N, LAT, LON = 120, 4, 6
MISSING = [(1, 2), (3, 0), (3, 1)]
CONSTANT = (2, 5)
STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]
UNITS = ["standardized", "original"]


def signals(seed=0):
    """Four signals, one for each quarter of the grid, and a target of two of them."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(N, 2, 2))
    return base, base[:, 0, 0] - base[:, 1, 1] + rng.normal(size=N), rng


def times():
    return np.datetime64("2001-01-01", "ns") + np.arange(N) * np.timedelta64(1, "D")


def field(missing=True, constant=False):
    """Warmth of 24 cells in four regions, of which three cells are in the sea; and the target."""
    base, y, rng = signals()
    values = np.repeat(np.repeat(base, LAT // 2, axis=1), LON // 2, axis=2)
    values = 280 + values + 0.3 * rng.normal(size=(N, LAT, LON))
    if missing:
        values[:, *np.transpose(MISSING)] = np.nan
    if constant:
        values[:, *CONSTANT] = 273.0
    array = xr.DataArray(
        values,
        dims=("time", "lat", "lon"),
        coords={
            "time": times(),
            "lat": ("lat", np.linspace(40, 46, LAT), {"units": "degrees_north"}),
            "lon": ("lon", np.linspace(5, 10, LON), {"units": "degrees_east"}),
            "height": 2.0,
            "season": ("time", np.arange(N) // 30),
        },
        name="t2m",
        attrs={"units": "K", "long_name": "temperature", "standard_name": "air_temperature"},
    )
    return array, y


def table(array):
    """Rows of samples, columns of the cells that are not missing; written in another way."""
    stacked = array.stack(cell=[dim for dim in array.dims if dim != "time"])
    return stacked.transpose("time", "cell").dropna("cell").values


def dataset():
    """Three variables on grids of their own: cells, stations, and a number for each sample."""
    array, y = field()
    base, _, rng = signals()
    rain = np.repeat(base[:, :, 1], 3, axis=1) + 0.3 * rng.normal(size=(N, 6))
    rain[:, 4] = np.nan
    return xr.Dataset(
        {
            "t2m": array.transpose("lat", "time", "lon"),
            "rain": (("time", "station"), rain, {"units": "mm", "source": "gauges"}),
            "index": ("time", rng.normal(size=N), {"units": "1"}),
        },
        coords={"station": list("abcdef"), "elevation": ("station", np.arange(6.0) * 100)},
        attrs={"title": "a test"},
    ), y


def refuse(*_, **__):
    """Stands for a scheduler of dask where nothing may be computed."""
    raise AssertionError("dask was asked to compute")
