"""Three features: Tables ``3dimSyn`` and ``3dimSynExtended``."""

from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from scipy import stats

from lincfa import theory
from lincfa.datasets import make_trivariate

from . import published
from .methods import compare_methods
from .simulation import (
    DIFFERENCE,
    SAMPLES,
    TEST_SETS,
    Estimates,
    Floats,
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
from .tables import Table, check_claims, judge_column, note_on_size

WEIGHTS, NOISE = (0.4, 0.6, 0.2), 0.5
THIRD_OF_TABLES, THIRD_OF_TEXT = (1.0, 0.0, 0.5), (0.5, 0.5, 0.5)
"""Shares of x₁, x₂ and u in x₃: what the tables come from, and what the text says."""

NOTES = [
    "Settings of the tables: x₃ = x₁ + 0.5u, and “full” is the regression on x₁ and x₂ alone, the "
    "model of the theorem. Settings of the text: x₃ = 0.5x₁ + 0.5x₂ + 0.5u; full is the regression "
    "on all three features (as the caption says), merged that on x₃ and the mean of x₁ and x₂.",
    "Theoretical limits are means over the repetitions of the interval at the correlations with "
    "x₃ in the sample; empirical ones are medians, with estimated weights and s² = RSS/(n − 4).",
    "The empirical rule is a test with the noncentral F(1, n − 4) distribution, so that the "
    "expected number of merges has a closed form.",
    "The paper's ± of ρ̂, σ̂² and ŵ are a sixth of 1.96·sd/√500, as narrow as 3000 samples and "
    "√3000 would make them, but interval, variances and counts are those of 500 samples. The ± of "
    "the variances exceed the variances themselves.",
    "3dimSyn has the two errors interchanged: 3dimSynExtended has 0.285611 (full) and 0.285137 "
    "(merged), in agreement with its R².",
]


def jobs(settings: Settings) -> list[Any]:
    """One simulation with the generator of the tables, one with that of the text."""
    return [delayed(simulate)(third, settings) for third in (THIRD_OF_TABLES, THIRD_OF_TEXT)]


def population_correlations(third: tuple[float, float, float]) -> Floats:
    """Correlation matrix of the three features, combinations of independent uniform variables."""
    x1, x2 = np.array([1, 0, 0.0]), np.array([0.65, 0.35, 0.0])
    features = np.stack([x1, x2, third[0] * x1 + third[1] * x2 + [0, 0, third[2]]])
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features @ features.T)


def merge_probability(corr: Floats, tolerance: float = 1.0) -> float:
    """Probability that estimates in ``eq:bound3D`` decide to merge, at these correlations.

    The growth of bias is (ĉ₁ − ĉ₂)²/(2(1 − ρ)), with ĉ the covariances of features and target,
    and x₁ − x₂ lies in the span of the features: divided by s²/(n−1), it is an F statistic.
    """
    growth = theory.delta_bias_3d(*WEIGHTS, corr[0, 1], corr[0, 2], corr[1, 2])
    noncentrality = growth * (SAMPLES - 1) / NOISE**2
    return float(stats.ncf.cdf(tolerance, 1, SAMPLES - 4, noncentrality))


def simulate(third: tuple[float, float, float], settings: Settings) -> Estimates:
    """Estimate all quantities with one generator."""
    make = partial(make_trivariate, SAMPLES, weights=WEIGHTS, noise=NOISE, third=third)
    random = random_state(settings.seed, "trivariate", third)
    X, y = draw(make, settings.repetitions, random)
    tests = draw(make, TEST_SETS, random)

    all_three = least_squares(X, y)
    w1, w2, w3 = all_three.weights.T
    s2 = all_three.rss / (SAMPLES - 4)
    corr = correlations(X)
    rho12, rho13, rho23 = corr[:, 0, 1], corr[:, 0, 2], corr[:, 1, 2]
    lower, upper = theory.interval_3d(SAMPLES, *WEIGHTS, NOISE**2, rho13, rho23)
    low, high = theory.interval_3d(SAMPLES, w1, w2, w3, s2, rho13, rho23)
    growth = theory.delta_bias_3d(w1, w2, w3, rho12, rho13, rho23)

    mean = X[:, :, :2].mean(axis=2, keepdims=True)
    if third == THIRD_OF_TABLES:
        full, merged = least_squares(X[:, :, :2], y), least_squares(mean, y)
    else:
        full, merged = all_three, least_squares(np.concatenate([mean, X[:, :, 2:]], axis=2), y)
    population = population_correlations(third)
    # An empty interval has NaN for limits, so that no correlation lies in it.
    return {
        "Theoretical ρ̄, lower": mean_of_repetitions(lower),
        "Theoretical ρ̄, upper": mean_of_repetitions(upper),
        "Empirical ρ̄, lower (median)": median(low),
        "Empirical ρ̄, upper (median)": median(high),
        "ρ̂ of x₁, x₂": mean_of_repetitions(rho12),
        "σ̂²": mean_of_repetitions(s2),
        "ŵ₁": mean_of_repetitions(w1),
        "ŵ₂": mean_of_repetitions(w2),
        "ŵ": mean_of_repetitions(merged.weights[:, 0]),
        **score_merging(full, merged, *tests),
        "Merges (theoretical)": certain_count((rho12 >= lower) & (rho12 <= upper)),
        "Merges (empirical)": merge_count(
            (rho12 >= low) & (rho12 <= high), merge_probability(population)
        ),
        "Merges at tolerance 2": merge_count(
            growth <= 2 * s2 / (SAMPLES - 1), merge_probability(population, 2.0)
        ),
        **compare_methods(make, settings.comparisons, random),
    }


def tables(settings: Settings, results: list[Estimates]) -> list[Table]:
    """Compare the results of :func:`jobs` with the two tables."""
    ours, by_text = results
    short, long = (
        judge_column("σ = 0.5", published.with_difference(table), ours, by_text, beyond=beyond)
        for table, beyond in ((published.TRIVARIATE_SHORT, False), (published.TRIVARIATE, True))
    )
    claims = check_claims(
        {"merging does not increase the error by more than its margin": _not_worse}, ours, by_text
    )
    notes = [note_on_size(settings), *NOTES]
    return [
        Table("3dimSyn", "Three features, main numbers", short, notes, claims),
        Table("3dimSynExtended", "Three features", long, notes),
    ]


def _not_worse(estimates: Estimates) -> tuple[bool, str]:
    growth = estimates[DIFFERENCE]
    return growth.value <= growth.margin, f"growth {growth.value:.2g} ± {growth.margin:.2g}"
