"""The picture of the home page: cells, areas, and the prediction from their means."""

import matplotlib.pyplot as plt
import numpy as np
import xarray as xr
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFACV
from lincfa.baselines import ridge
from lincfa.datasets import make_field
from lincfa.plotting import plot_effect_map

values, y, _ = make_field(n_samples=400, shape=(18, 36), random_state=0)
places = {"lat": np.arange(-85, 95, 10), "lon": np.arange(0, 360, 10)}
field = xr.DataArray(
    values.reshape(400, 18, 36), dims=("time", "lat", "lon"), coords=places, name="temperature"
)
model = LinCFACV(
    connectivity="grid",
    units="original",
    strategies=["joint"],
    min_correlations=[None],
    rule="one_standard_error",
)
model.fit(field[:200], y[:200])

figure, (cells, areas, scores) = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained")
anomaly = field[0] - field.mean("time")
anomaly.plot(ax=cells, cbar_kwargs={"location": "bottom", "label": "one sample, K"})
cells.set(title=f"{values.shape[1]} cells of a field …", xlabel="", ylabel="", aspect="equal")
cells.set(xticks=[], yticks=[])
plot_effect_map(
    model, ax=areas, legend=False, colorbar={"location": "bottom", "label": "effect of an area"}
)
areas.set_title(f"… become {model.n_groups_} areas, each one mean")
scores.plot(y[200:], model.predict(field[200:]), ".", color="tab:blue", alpha=0.5)
scores.axline((y.mean(), y.mean()), slope=1, color="grey", linewidth=0.8)
rival = make_pipeline(StandardScaler(), ridge(5)).fit(values[:200], y[:200])
r2 = f"R² {model.score(field[200:], y[200:]):.2f}"
r2 += f" (ridge on all cells {rival.score(values[200:], y[200:]):.2f})"
scores.set(title="… that predict new samples", xlabel=f"observed; {r2}", ylabel="predicted")
