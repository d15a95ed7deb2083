"""
Glucose from infrared spectra of a fermentation
===============================================

A sugar solution ferments in a tank for a day and a half. An infrared spectrum is measured every
75 seconds, the glucose by HPLC about once an hour. A calibration learned from 21 samples that were
mixed in the laboratory is to turn the spectra into a curve of glucose. The data come with the
package chemotools, which also prepares the spectra.
"""

# %%
# The spectra
# -----------
# We keep the wavenumbers at which sugars absorb, subtract a straight baseline and take the first
# derivative: what one would do before PLS. None of it learns from other samples, so it can be done
# before the folds are made. Empty spectra, at the end of the run, are left out. The columns get the
# wavenumbers as names: that is how lincfa knows them.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from chemotools.baseline import LinearCorrection
from chemotools.datasets import load_fermentation_test, load_fermentation_train
from chemotools.derivative import SavitzkyGolay
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GridSearchCV, RepeatedKFold
from sklearn.pipeline import make_pipeline

from lincfa import LinCFACV
from lincfa.plotting import plot_spectrum


def prepare(spectra):
    """Return the first derivative between 950 and 1550 per cm."""
    kept = spectra.loc[:, 950:1550]
    steps = make_pipeline(LinearCorrection(), SavitzkyGolay(window_length=15, polyorder=2, deriv=1))
    return pd.DataFrame(steps.fit_transform(kept.to_numpy()), kept.index, kept.columns.astype(str))


spectra, hplc = load_fermentation_train()
X, y = prepare(spectra), hplc["glucose"]
tank, tank_hplc = load_fermentation_test()
hours = np.arange(len(tank)) * 1.25 / 60
full = (tank.std(axis=1) > 0).to_numpy()
X_tank, hours = prepare(tank[full]), hours[full]
print(f"to learn from: {X.shape[0]} samples × {X.shape[1]} wavenumbers; in the tank: {len(X_tank)}")

# %%
# Calibrate
# ---------
# Only neighbours may merge (``connectivity="chain"``), so that a group is a band. Its mean is taken
# in the units of the spectrum: standardised, wavenumbers at which nothing happens in the laboratory
# would count as much as the sugar peaks. To see what that costs, we fit this model too. With 21
# samples one set of folds depends on chance, so five folds are made twice, the same for
# all models.

cv = RepeatedKFold(n_splits=5, n_repeats=2, random_state=0)
models = {
    "LinCFACV": LinCFACV(connectivity="chain", units="original", cv=cv),
    "LinCFACV, standardised": LinCFACV(connectivity="chain", cv=cv),
    "PLS": GridSearchCV(
        PLSRegression(scale=False),
        {"n_components": range(1, 9)},
        cv=cv,
        scoring="neg_mean_squared_error",
    ),
}
for model in models.values():
    model.fit(X, y)
ours = models["LinCFACV"]
pls = models["PLS"]
for name in ("LinCFACV", "LinCFACV, standardised"):
    print(f"{name}: {models[name].n_groups_} bands, R² in the folds {models[name].best_score_:.3f}")
in_folds = 1 + pls.best_score_ / y.var(ddof=0)
print(f"PLS: {pls.best_params_['n_components']} components, R² in the folds {in_folds:.3f}")

fig, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), layout="constrained")
plot_spectrum(ours, ax=top)
top.set(title="Bands of the derivative", xlabel="")
bottom.plot(X.columns.astype(float), ours.coef_, color="tab:blue")
bottom.axhline(0, color="grey", linewidth=0.8)
bottom.set(title="Weights of the wavenumbers", xlabel="wavenumber (1/cm)", ylabel="g/L per unit")
plt.show()

# %%
# The tank
# --------
# At the time of each HPLC sample we read off the predicted curve. The mean error (bias) and the
# scatter around it are listed apart, as is usual for calibrations. In practice one would correct
# the offset with the first samples from the tank: the last column is the error on the later samples
# after the mean error on the first five has been subtracted. All are in grams per litre.

glucose, when = tank_hplc["glucose"], tank_hplc["time"]
rows, curves = {}, {}
for name, model in models.items():
    curves[name] = np.ravel(model.predict(X_tank))
    error = (np.interp(when, hours, curves[name]) - glucose).to_numpy()
    later = error[5:] - error[:5].mean()
    rows[name] = [np.sqrt((error**2).mean()), error.mean(), error.std(), np.sqrt((later**2).mean())]
columns = ["error (RMS)", "bias", "scatter", "corrected"]
print(pd.DataFrame(rows, columns, dtype=float).T.round(1).to_string())

fig, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name in ("LinCFACV", "PLS"):
    smooth = pd.Series(curves[name]).rolling(9, center=True, min_periods=1).median()
    ax.plot(hours, smooth, label=name)
ax.plot(when, glucose, "ko", markersize=4, label="HPLC")
ax.set(xlabel="hours", ylabel="glucose (g/L)", ylim=(-15, 70))
ax.legend()
plt.show()

# %%
# What came out
# -------------
# Both curves have the right shape, and both are off by several grams per litre: the tank holds more
# than sugar and water, and the laboratory samples do not tell the models so. As it comes, LinCFACV
# is about as far off as PLS; once the offset is corrected, PLS is better. LinCFACV also keeps more
# bands than there were samples to learn from, held in check by its penalty. What its weights show
# is where the calibration looks: at the sugar peaks between 1000 and 1200 per cm.
#
# The standardised model shows how little 21 samples can decide: in the folds it does as well, in
# the tank it is far off. Other preprocessing gives other offsets, for PLS as well. With so few
# samples, keep some from the real process to correct the offset, and to judge the calibration by.
# See :doc:`/spectra`.
