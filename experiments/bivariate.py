"""Two features: Tables ``bidimSmall``, ``2dimSyn`` and ``2dimSynSmall``."""

from functools import partial
from typing import Any

import numpy as np
from joblib import delayed

from lincfa import theory
from lincfa.datasets import make_bivariate

from . import published
from .methods import compare_methods
from .simulation import (
    DIFFERENCE,
    PAPER_REPETITIONS,
    SAMPLES,
    TEST_SETS,
    Estimate,
    Estimates,
    Settings,
    certain_count,
    correlations,
    draw,
    least_squares,
    mean_of_repetitions,
    median,
    merge_count,
    random_state,
    score_merging,
)
from .tables import Check, Row, Table, check_claims, judge_column, note_on_size

WEIGHTS = {"2dimSyn": (0.2, 0.8), "2dimSynSmall": (0.47, 0.52)}
NOISES = (0.5, 1.0, 10.0)
SHARE_OF_TABLES, SHARE_OF_TEXT = 0.7, 0.8
"""x₂ = share·x₁ + (1 − share)·u: what the tables come from, and what the text says."""

CASES = [
    (table, noise, share)
    for table in WEIGHTS
    for noise in NOISES
    for share in (SHARE_OF_TABLES, SHARE_OF_TEXT)
]

REASONS = {
    "2dimSynSmall": {
        ("Theoretical ρ̄", "σ = 10"): "the formula gives 1 − 200/(499·0.05²) = −159.320641; the "
        "decision, to merge, is the same",
    }
}

NOTES = [
    "Settings of the tables: x₂ = 0.7x₁ + 0.3u, correlation 0.9191; settings of the text: "
    "x₂ = 0.8x₁ + 0.2u, correlation 0.9701. The features of each sample are standardised, then "
    "y = w₁x₁ + w₂x₂ + noise; 500 samples for training, 500 for testing.",
    "The paper scores all repetitions on one test set; ours are means over 100 test sets. Merges "
    "are counts per 500 repetitions.",
    "The ± of the paper's estimates and scores are 1.96·sd/√3000, but there are 500 repetitions: "
    "they are too narrow by a factor of 2.45. The rows “Bias” contain σ², the rows “Variance” the "
    "variance of the intercept.",
    "For two features all strategies of LinCFA decide alike.",
]


def jobs(settings: Settings) -> list[Any]:
    """One simulation for each case."""
    return [delayed(simulate)(*case, settings) for case in CASES]


def population_correlation(share: float) -> float:
    """Correlation of x₁ and x₂ = share·x₁ + (1 − share)·u."""
    return float(share / np.hypot(share, 1 - share))


def simulate(table: str, noise: float, share: float, settings: Settings) -> Estimates:
    """Estimate the quantities of one case."""
    w1, w2 = weights = WEIGHTS[table]
    make = partial(make_bivariate, SAMPLES, weights=weights, noise=noise, share=share)
    random = random_state(settings.seed, "bivariate", table, noise, share)
    X, y = draw(make, settings.repetitions, random)
    tests = draw(make, TEST_SETS, random)

    full = least_squares(X, y)
    merged = least_squares(X.mean(axis=2, keepdims=True), y)
    rho = correlations(X)[:, 0, 1]
    s2 = full.rss / (SAMPLES - 3)
    theoretical = float(theory.threshold_asymptotic(SAMPLES, w1, w2, noise**2))
    empirical = theory.threshold_asymptotic(SAMPLES, full.weights[:, 0], full.weights[:, 1], s2)
    F = (1 - rho) / (1 - empirical)
    once, twice = (
        float(
            theory.merge_probability(
                SAMPLES, population_correlation(share), w1, w2, noise**2, tolerance=tolerance
            )
        )
        for tolerance in (1.0, 2.0)
    )
    return {
        "Theoretical ρ̄": Estimate(theoretical),
        "Empirical ρ̄ (median)": median(empirical),
        "ρ̂ of x₁, x₂": mean_of_repetitions(rho),
        "σ̂²": mean_of_repetitions(s2),
        "ŵ₁": mean_of_repetitions(full.weights[:, 0]),
        "ŵ₂": mean_of_repetitions(full.weights[:, 1]),
        "ŵ": mean_of_repetitions(merged.weights[:, 0]),
        **score_merging(full, merged, *tests),
        "Merges (theoretical)": certain_count(rho >= theoretical),
        "Merges (empirical)": merge_count(rho >= empirical, once),
        "Merges at tolerance 2": merge_count(F <= 2, twice),
        **compare_methods(make, settings.comparisons, random),
    }


def tables(settings: Settings, results: list[Estimates]) -> list[Table]:
    """Compare the results of :func:`jobs` with the three tables."""
    found = dict(zip(CASES, results, strict=True))
    rows: dict[str, list[Row]] = {"bidimSmall": [], **{name: [] for name in WEIGHTS}}
    for name, (w1, w2) in WEIGHTS.items():
        for k, noise in enumerate(NOISES):
            ours, by_text = (found[name, noise, s] for s in (SHARE_OF_TABLES, SHARE_OF_TEXT))
            column = f"σ = {noise:g}"
            long, short = (
                published.with_difference({row: texts[k] for row, texts in part[name].items()})
                for part in (published.BIVARIATE, published.BIVARIATE_SHORT)
            )
            rows[name] += judge_column(column, long, ours, by_text, REASONS.get(name))
            heading = f"w = {w1:g}, {w2:g}; {column}"
            rows["bidimSmall"] += judge_column(heading, short, ours, by_text, beyond=False)
    claims = check_claims(
        CLAIMS,
        *(
            [found[case] for case in CASES if case[-1] == share]
            for share in (SHARE_OF_TABLES, SHARE_OF_TEXT)
        ),
    )
    notes = [note_on_size(settings), *NOTES]
    titles = {
        "2dimSyn": "Two features of distant weights, 0.2 and 0.8",
        "2dimSynSmall": "Two features of close weights, 0.47 and 0.52",
    }
    return [
        Table("bidimSmall", "Two features, main numbers", rows["bidimSmall"], notes, claims),
        *(Table(name, title, rows[name], notes) for name, title in titles.items()),
    ]


# Claims, on the estimates of the six cases with one share ----------------------------------------


def _merges(cases: list[Estimates], which: str) -> list[float]:
    return [case[f"Merges ({which})"].value for case in cases]


def _same_in_every_repetition(cases: list[Estimates]) -> tuple[bool, str]:
    counts = _merges(cases, "theoretical")
    holds = all(count in (0, PAPER_REPETITIONS) for count in counts)
    return holds, "merges: " + ", ".join(f"{count:.0f}" for count in counts)


def _same_in_most_repetitions(cases: list[Estimates]) -> tuple[bool, str]:
    half = PAPER_REPETITIONS / 2
    known, estimated = (_merges(cases, which) for which in ("theoretical", "empirical"))
    holds = all((a > half) == (b > half) for a, b in zip(known, estimated, strict=True))
    return holds, "merges: " + ", ".join(f"{count:.0f}" for count in estimated)


def _growth_of_error(cases: list[Estimates], *, where_merged: bool) -> tuple[bool, str]:
    """Growth by merging, in the cases that the true weights merge or in those they keep apart.

    It should exceed its margin only in the latter.
    """
    growth = [
        case[DIFFERENCE]
        for case, count in zip(cases, _merges(cases, "theoretical"), strict=True)
        if (count > PAPER_REPETITIONS / 2) == where_merged
    ]
    holds = all((e.value <= e.margin) == where_merged for e in growth)
    return holds, "growth " + ", ".join(f"{e.value:.2g} ± {e.margin:.2g}" for e in growth)


CLAIMS: dict[str, Check] = {
    "with known weights the decision is the same in every repetition": _same_in_every_repetition,
    "with estimated weights most repetitions decide in the same way": _same_in_most_repetitions,
    "where the correlation is above the threshold, merging is statistically not worse: the error "
    "does not grow by more than its margin": partial(_growth_of_error, where_merged=True),
    "where it is below, keeping both is better: by merging, the error grows by more than its "
    "margin": partial(_growth_of_error, where_merged=False),
}
