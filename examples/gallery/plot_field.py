"""
Areas of a temperature field
============================

Which parts of North America tell how warm a year is around the Great Lakes? The field is yearly
mean temperature of a climate model on a grid, 1860 to 2099, from the package iris-sample-data. The
box around the lakes is the target; it and a margin are cut out of the field, so that the cells next
door do not give the answer away. LinCFA makes connected areas of the rest, each with one weight.
"""

# %%
# Read the field, remove the trend
# --------------------------------
# The model warms during the run. Everything warms with it, so we predict deviations from the
# warming: each series without what follows the mean of the last twenty years, by a regression on
# the training years alone. Training ends with 2039; the sixty years after it are held out.

from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from sklearn.metrics import r2_score

from lincfa import LinCFACV
from lincfa.baselines import pca_regression, pls, ridge
from lincfa.plotting import plot_effect_map, plot_map
from lincfa.timeseries import BlockKFold

past, future = slice(None, 2039), slice(2040, None)
path = files("iris_sample_data") / "sample_data" / "E1_north_america.nc"
with xr.open_dataset(str(path)) as data:
    field = data["air_temperature"].load().astype(float)
field = field.assign_coords(time=field["time"].dt.year).reset_coords(drop=True)


def box(south, north, west, east):
    """Return which cells are in a box."""
    lat, lon = field["latitude"], field["longitude"]
    return (lat >= south) & (lat <= north) & (lon >= west) & (lon <= east)


def area_mean(cells):
    """Return the mean over the cells, weighted by their area."""
    return cells.weighted(np.cos(np.radians(cells["latitude"]))).mean(["latitude", "longitude"])


def without_trend(series):
    """Remove what follows the warming, by a regression on the past."""
    known, index = series.sel(time=past), warming.sel(time=past)
    slope = xr.cov(known, index, "time") / index.var("time", ddof=1)
    return series - known.mean("time") - slope * (warming - index.mean("time"))


target = area_mean(field.where(box(41, 49, 267, 284)))
field = field.where(~box(36, 54, 260, 291))
warming = area_mean(field).rolling(time=20, min_periods=1).mean()
X, y = without_trend(field).assign_attrs(units="K"), without_trend(target)
X_past, y_past = X.sel(time=past), y.sel(time=past)
X_future, y_future = X.sel(time=future), y.sel(time=future)

# %%
# Make areas
# ----------
# - ``connectivity="grid"``: only cells that touch merge, so that groups are areas.
# - ``feature_weights="area"``: cells get narrower towards the pole; a mean counts each by its area.
# - ``units="original"``: a reduced feature is the mean temperature of its area, in kelvin.
# - ``min_correlations=[0.5]``: without a smallest correlation, cells may merge because they matter
#   equally little. An area should be one climate.
# - ``rule="one_standard_error"``: the fewest areas that are not clearly worse, for a map to read.
#
# Years in sequence are held out in five blocks, as the years to predict are later ones, too.

cv = BlockKFold(5)
model = LinCFACV(
    connectivity="grid",
    feature_weights="area",
    units="original",
    min_correlations=[0.5],
    rule="one_standard_error",
    cv=cv,
)
model.fit(X_past, y_past)
areas = model.summary().frame()
print(f"{model.n_groups_} areas of {areas['size'].sum()} cells; the largest:")
columns = ["centre_lat", "centre_lon", "area_km2", "size", "mean_correlation", "weight"]
print(areas.nlargest(8, "size")[columns].round(2).to_string())

# %%
# What each area does
# -------------------
# Above the areas, with the numbers of the table; below what each does to the prediction when its
# mean is one standard deviation warmer and all others stay as they are. The grey hole is the lakes
# and their margin.

fig, (top, bottom) = plt.subplots(2, 1, figsize=(7, 8.5), layout="constrained")
plot_map(model, numbers=8, legend=False, ax=top)
plot_effect_map(model, legend=False, colorbar={"label": "change (K)"}, ax=bottom)
top.set_title(f"{model.n_groups_} areas, the largest numbered")
bottom.set_title("What each does to the prediction")
plt.show()

# %%
# Against the usual
# -----------------
# The others see every cell, in kelvin times the root of its area, as is usual for EOFs, and choose
# their penalty or their number of components by the same blocks of the same years.

root = np.sqrt(np.cos(np.radians(X["latitude"])))
cells = (X * root).stack(cell=["latitude", "longitude"]).dropna("cell")
A, B = cells.sel(time=past).values, cells.sel(time=future).values
others = {
    "ridge": ridge(cv),
    "principal components (EOF)": pca_regression(cv),
    "PLS": pls(*A.shape, cv),
}
scores = {f"LinCFACV, {model.n_groups_} areas": model.score(X_future, y_future)}
for name, other in others.items():
    predicted = other.fit(A, y_past.values).predict(B)
    scores[f"{name}, {A.shape[1]} cells"] = r2_score(y_future, predicted)
print(pd.Series(scores, name="R², 2040 to 2099").astype(float).round(3).to_string())

# %%
# What came out
# -------------
# The areas predict the held-out years at least as well as these methods that weigh every cell, and
# they can be named, mapped and measured. The map says where the information is: mostly in areas
# that border on the hole. Read single effects with care. Neighbouring
# areas are correlated, so that a blue one beside a red one is often a contrast between the two;
# ``print(model.summary())`` marks the weights whose sign that has turned.
#
# One period of sixty years of one model run is little to rank methods by. :doc:`/climate-fields`
# compares them on four periods, and on two other fields. There the elastic net and SLOPE, which
# select single cells, predict this series better than all others.
