"""
A field larger than memory, on a dask cluster
=============================================

A daily field of many years does not fit into the memory of one machine. It lies in chunks in a
Zarr store; a dask cluster reads them, and only sums travel to the machine that calls ``fit``.
Here the store is small, so that this page builds within seconds; nothing
in the code depends on its size.
"""

# %%
# A store in chunks
# -----------------
#
# Twelve thousand days of a generated field, 500 at a time, so that no more than one chunk is ever
# in memory. The target is driven by two areas, one with each sign, plus noise.

import tempfile
from pathlib import Path

import dask
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from distributed import Client, LocalCluster
from matplotlib.patches import Rectangle
from scipy.ndimage import gaussian_filter
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score

from lincfa import LinCFA
from lincfa.plotting import plot_effect_map

LATITUDES, LONGITUDES = np.arange(-72.5, 75, 5), np.arange(2.5, 360, 7.5)
DAYS, ROWS = 12_000, 500
SHAPE = (ROWS, len(LATITUDES), len(LONGITUDES))


@dask.delayed
def days(first):
    """Generate the days from the first on: smooth anomalies in kelvin."""
    noise = np.random.default_rng(first).standard_normal(SHAPE, dtype=np.float32)
    smooth = gaussian_filter(noise, (0, 2, 2), mode=("constant", "nearest", "wrap"))
    return 2 * smooth / smooth.std()


folder = tempfile.TemporaryDirectory()
store = str(Path(folder.name) / "t2m.zarr")
chunks = [da.from_delayed(days(k), SHAPE, np.float32) for k in range(0, DAYS, ROWS)]
da.concatenate(chunks).to_zarr(store)

field = xr.DataArray(
    da.from_zarr(store),  # nothing is read yet
    {"lat": LATITUDES, "lon": LONGITUDES},
    ("time", "lat", "lon"),
    "t2m",
    {"units": "K"},
)
north = field.sel(lat=slice(30, 50), lon=slice(60, 110)).mean(["lat", "lon"])
south = field.sel(lat=slice(-40, -20), lon=slice(200, 260)).mean(["lat", "lon"])
signal = (north / north.std() - south / south.std()).values
y = signal + np.random.default_rng(0).normal(size=DAYS)
print(f"{field.nbytes / 1e6:.0f} MB in {field.data.npartitions} chunks of "
      f"{field.data.blocks[0].nbytes / 1e6:.1f} MB")  # fmt: skip

# %%
# The fit
# -------
#
# We learn from the first 9000 days. A ``LocalCluster`` with ``processes=False`` has its workers in
# threads of this process, which starts at once. ``fit`` finds the client by itself. ``transform``
# is lazy: nothing is read until the means of the areas are asked for.

past, future = slice(0, 9000), slice(9000, None)
areas = LinCFA(connectivity="grid", tolerance=10, units="original")
with (
    LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as here,
    Client(here) as client,
):
    print(f"{len(client.scheduler_info()['workers'])} workers")
    areas.fit(field[past], y[past])
    lazy = areas.transform(field)
    print(f"transform: {type(lazy.data).__module__}, {lazy.sizes['group']} areas, "
          f"{lazy.nbytes / 1e6:.0f} MB once computed")  # fmt: skip
    series = lazy.compute()

# %%
# For a real cluster two lines change. The address of its scheduler takes the place of the
# ``LocalCluster``, and the store must be where all workers can read it::
#
#     client = Client("tcp://scheduler:8786")
#     field = xr.open_zarr("s3://bucket/t2m.zarr")["t2m"]
#
# The workers need the same version of lincfa. With worker processes on this machine
# (``LocalCluster(n_workers=4)``) a script needs the guard ``if __name__ == "__main__":``.

# %%
# The same as in memory?
# ----------------------
#
# This store happens to fit, so we can check.

whole = LinCFA(connectivity="grid", tolerance=10, units="original")
whole.fit(field[past].compute(), y[past])
same = np.array_equal(whole.labels_, areas.labels_)
print("the same areas:", same)

# %%
# What the areas do
# -----------------
#
# The series are small, so that any regression of scikit-learn takes them from here. The map shows
# what each area does to the prediction, the boxes are what drives the target.

regression = RidgeCV(np.logspace(-3, 5, 17)).fit(series[past], y[past])
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_effect_map(areas, regression.coef_, ax=ax)
for lon, lat, width, height in ((58.75, 30, 52.5, 20), (201.25, -40, 60, 20)):
    ax.add_patch(Rectangle((lon, lat), width, height, fill=False, linewidth=1.5))
plt.show()

# %%
# What came out
# -------------

best = r2_score(y[future], signal[future])
print(f"{field[0].size} cells became {areas.n_groups_} areas; in memory the same: {same}")
print(f"R² on the last {len(y[future])} days: {regression.score(series[future], y[future]):.3f}")
print(f"R² of the true signal, which nobody knows: {best:.3f}")
folder.cleanup()

# %%
# The chunks and the cluster do not change the result: a lazy fit sums over the chunks what a fit
# in memory sums over the rows. What remains to be decided is the same as for small data. The
# tolerance was set here, not chosen; ``LinCFACV`` takes dask collections as well, at the price of
# some passes over the data for each fold. Dask is for size: data that fit into memory do not need
# it.
#
# Passes, memory and measured times are on the page :doc:`/dask`.
