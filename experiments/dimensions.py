"""A hundred features: Table ``NdimSyn``, and Figure ``nSamples`` against the number of samples."""

from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed
from matplotlib.figure import Figure

from lincfa.datasets import make_correlated

from . import published
from .methods import (
    form_groups,
    group_means,
    merges_by_data,
    merges_by_weights,
    score_methods,
    stack,
)
from .simulation import (
    SAMPLES,
    Estimate,
    Estimates,
    Floats,
    Settings,
    least_squares,
    mean_of_draws,
    random_state,
    score,
)
from .tables import Check, Table, check_claims, judge, judge_column

D, NOISE = 100, 10.0
SIZES = (110, 130, 160, 200, 300, 500, 800, 1200, 2000, 3000)
"""Numbers of training samples in the figure."""

Values = dict[str, Floats]
"""One value of each quantity for each repetition of a draw."""
Curves = dict[str, list[Estimate]]
"""Each quantity along the numbers of samples."""


def simulate(
    draw: int,
    by_text: bool,
    settings: Settings,
    *,
    n: int = SAMPLES,
    repetitions: int | None = None,
    comparisons: int = 0,
) -> Values:
    """Draw weights and a test set, and repeat with training sets of n samples.

    The methods beyond the paper are fitted in the first ``comparisons`` repetitions only.
    """
    random = random_state(settings.seed, "dimensions", draw, by_text, n)
    weights = random.uniform(size=D)
    tree = np.array([-1, *(random.randint(i) for i in range(1, D))]) if by_text else None

    def make(samples: int) -> tuple[Floats, Floats]:
        return make_correlated(
            samples, D, noise=NOISE, weights=weights, tree=tree, random_state=random
        )

    X_test, y_test = make(SAMPLES)
    variance = NOISE**2 if by_text else NOISE
    scores, beyond = [], []
    for repetition in range(repetitions or settings.repetitions_per_draw):
        X, y = make(n)
        found = {"full": [np.array([i]) for i in range(D)]}
        for name, merges in (
            ("merged (theoretical)", merges_by_weights(X, weights, variance)),
            ("merged (empirical)", merges_by_data(X, y)),
        ):
            found[name] = form_groups(merges, overlapping=not by_text)
        values: dict[str, float] = {}
        for name, groups in found.items():
            fit = least_squares(group_means(X, groups)[None], y[None])
            result = score(fit, group_means(X_test, groups)[None], y_test[None])
            values[f"R² {name}"] = float(result.r2[0, 0])
            values[f"MSE {name}"] = float(result.mse[0, 0])
            if name != "full":
                which = name.removeprefix("merged ")
                values[f"d {which}"] = len(groups)
                values[f"MSE merged / full {which}"] = values[f"MSE {name}"] / values["MSE full"]
        scores.append(values)
        if repetition < comparisons:
            beyond.append(score_methods(X, y, X_test, y_test))
    return {**stack(scores), **(stack(beyond) if beyond else {})}


def summarize(draws: list[Values]) -> Estimates:
    """Means over draws of every quantity."""
    return {name: mean_of_draws(np.stack([part[name] for part in draws])) for name in draws[0]}


# Table NdimSyn: one number of samples ------------------------------------------------------------

NOTES = [
    "Settings of the tables: the tree of features is drawn anew for every repetition and for the "
    "test set, groups overlap, and the theoretical threshold has σ = 10 where the formula has "
    "σ² = 100. Settings of the text: one tree for training and test, disjoint groups, σ² = 100.",
    "The paper draws weights and test set once. Ours are means over several draws of both; the "
    "column on a single run refers to a single draw.",
    "Overlapping or not, there are as many groups: both have the same first features.",
]


def jobs(settings: Settings) -> list[Any]:
    """One job for each draw of weights and test set, with the settings of tables and text."""
    return [
        delayed(simulate)(draw, by_text, settings, comparisons=settings.comparisons_per_draw)
        for by_text in (False, True)
        for draw in range(settings.draws)
    ]


def tables(settings: Settings, results: list[Values]) -> list[Table]:
    """Compare the results of :func:`jobs` with the table."""
    ours, by_text = results[: settings.draws], results[settings.draws :]
    rows = judge_column("D = 100", published.DIMENSIONS, summarize(ours), summarize(by_text))
    statement = (
        "d (theoretical) < d (empirical), far below D; and error (theoretical) ≤ error (empirical) "
        "< error (full), in every draw of weights and test set"
    )
    size = (
        f"{settings.draws} draws of weights and test set with {settings.repetitions_per_draw} "
        "repetitions each; the methods beyond the paper in the first "
        f"{settings.comparisons_per_draw} of every draw."
    )
    claims = check_claims({statement: _ordered}, ours, by_text)
    return [Table("NdimSyn", "A hundred features", rows, [size, *NOTES], claims)]


def _ordered(draws: list[Values]) -> tuple[bool, str]:
    holds = [
        part["d (theoretical)"].mean() < part["d (empirical)"].mean() < 0.5 * D
        and part["MSE merged (theoretical)"].mean() <= part["MSE merged (empirical)"].mean()
        and part["MSE merged (empirical)"].mean() < part["MSE full"].mean()
        for part in draws
    ]
    return all(holds), f"in {sum(holds)} of {len(holds)} draws"


# Figure nSamples: many numbers of samples --------------------------------------------------------

NOTES_ON_SIZES = [
    "The paper does not print the numbers behind the figure; what can be compared are the claims "
    "of its text. Settings of tables and text are those of NdimSyn; every test set has 500 samples."
]
KINDS = ("theoretical", "empirical")


def jobs_of_sizes(settings: Settings) -> list[Any]:
    """One job for each number of samples, with the settings of tables and text."""
    return [
        delayed(simulate_size)(n, by_text, settings) for by_text in (False, True) for n in SIZES
    ]


def simulate_size(n: int, by_text: bool, settings: Settings) -> list[Values]:
    """Values of every draw, with training sets of n samples."""
    return [
        simulate(draw, by_text, settings, n=n, repetitions=settings.comparisons_per_draw)
        for draw in range(settings.draws)
    ]


def tables_of_sizes(settings: Settings, results: list[list[Values]]) -> list[Table]:
    """Put the points of the figure in a table, draw it, and check the claims of the text."""
    ours, by_text = curves(results[: len(SIZES)]), curves(results[len(SIZES) :])
    rows = [
        judge(name, f"n = {n}", None, ours[name][k], by_text[name][k])
        for k, n in enumerate(SIZES)
        for name in ours
    ]
    size = (
        f"Each point: {settings.draws} draws of weights and test set with "
        f"{settings.comparisons_per_draw} repetitions each."
    )
    claims, figure = check_claims(CLAIMS_ON_SIZES, ours, by_text), draw_figure(ours, by_text)
    notes = [size, *NOTES_ON_SIZES]
    return [Table("nSamples", "From few to many samples", rows, notes, claims, figure=figure)]


def curves(results: list[list[Values]]) -> Curves:
    """Means over draws for each number of samples, by quantity."""
    points = [summarize(draws) for draws in results]
    return {name: [point[name] for point in points] for name in points[0]}


def _d_grows(curves: Curves, kind: str) -> tuple[bool, str]:
    """Whether no step goes down by more than chance, and the last point is above the first."""
    curve = curves[f"d ({kind})"]
    first, last = curve[0], curve[-1]
    steps = [b.value - a.value + a.margin + b.margin >= 0 for a, b in pairwise(curve)]
    above = last.value - last.margin > first.value + first.margin
    return all(steps) and above, f"d = {first.value:.1f} … {last.value:.1f}"


def _d_larger_by_estimates(curves: Curves) -> tuple[bool, str]:
    known, estimated = (np.array([e.value for e in curves[f"d ({kind})"]]) for kind in KINDS)
    holds = bool((known < estimated).all() and (estimated < 0.5 * D).all())
    return holds, f"d at most {known.max():.1f} and {estimated.max():.1f}"


def _far_better_with_few(curves: Curves) -> tuple[bool, str]:
    ratios = [curves[f"MSE merged / full ({kind})"][0].value for kind in KINDS]
    return max(ratios) < 0.5, "ratio of errors " + " and ".join(f"{r:.3f}" for r in ratios)


def _slightly_better_with_many(curves: Curves, kind: str) -> tuple[bool, str]:
    ratio = curves[f"MSE merged / full ({kind})"][-1]
    holds = ratio.value > 0.9 and ratio.value + ratio.margin < 1
    return holds, f"ratio of errors {ratio.value:.3f} ± {ratio.margin:.3f} at n = {SIZES[-1]}"


def _hardly_depends_on_n(curves: Curves) -> tuple[bool, str]:
    merged = [f"R² merged ({kind})" for kind in KINDS]
    *reduced, full = (np.ptp([e.value for e in curves[name]]) for name in (*merged, "R² full"))
    ranges = ", ".join(f"{reach:.3f}" for reach in reduced)
    return bool(max(reduced) < 0.1 * full), f"R² varies by {ranges}; full by {full:.2f}"


CLAIMS_ON_SIZES: dict[str, Check] = {
    **{
        f"fewer samples give fewer reduced features ({kind})": partial(_d_grows, kind=kind)
        for kind in KINDS
    },
    "estimates give more reduced features than the true weights, and far fewer than D, for every "
    "n": _d_larger_by_estimates,
    "with about as many samples as features the reduced features do far better: less than half "
    "the error of all features": _far_better_with_few,
    **{
        f"with many samples they do slightly better ({kind}): the ratio of errors is below 1 by "
        "more than its margin, and above 0.9": partial(_slightly_better_with_many, kind=kind)
        for kind in KINDS
    },
    "the score of the reduced features hardly depends on n: R² varies less than a tenth as much "
    "as that of all features": _hardly_depends_on_n,
}

# The colours of the paper.
LINES = {
    "full": ("all features", "#2166ac"),
    "(theoretical)": ("reduced, theoretical", "#b2182b"),
    "(empirical)": ("reduced, empirical", "#1b7837"),
}


def draw_figure(ours: Curves, by_text: Curves) -> Figure:
    """Draw reduced features, R² and error against the number of samples, in three panels."""
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    panels = figure.subplots(1, 3)
    titles = {
        "d": "(a) reduced features",
        "R²": "(b) R² on the test set",
        "MSE": "(c) mean squared error",
    }
    for panel, (quantity, title) in zip(panels, titles.items(), strict=True):
        for model, (label, color) in LINES.items():
            merged = "" if quantity == "d" or model == "full" else "merged "
            name = f"{quantity} {merged}{model}"
            if name == "d full":
                continue  # D for every n
            for curve, style in ((ours[name], "-"), (by_text[name], "--")):
                values, margins = np.array([(e.value, e.margin) for e in curve]).T
                line = {"color": color, "label": label if style == "-" else None}
                panel.plot(SIZES, values, style, marker="o", markersize=3, **line)
                band = (values - margins, values + margins)
                panel.fill_between(SIZES, *band, color=color, alpha=0.12, linewidth=0)
        panel.set_xscale("log")
        panel.set_xticks([100, 300, 1000, 3000], ["100", "300", "1000", "3000"])
        panel.minorticks_off()
        panel.set(title=title, xlabel="training samples n")
        panel.grid(alpha=0.3)
    panels[0].set_ylim(bottom=0)
    panels[1].set_ylim(0, 1)
    panels[2].set_yscale("log")
    panels[1].plot([], [], "-", color="gray", label="settings of the tables")
    panels[1].plot([], [], "--", color="gray", label="settings of the text")
    panels[1].legend(frameon=False, loc="lower right")
    return figure
