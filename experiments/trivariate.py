"""Three features: Tables ``3dimSyn`` and ``3dimSynExtended``."""

from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from scipy import stats

from lincfa import theory
from lincfa.datasets import make_trivariate

from . import published
from .estimates import PAPER_REPETITIONS, Estimate, Floats, count, median, over_repetitions
from .methods import compare_methods
from .outcomes import Outcome, amount, fill
from .simulation import (
    DIFFERENCE,
    SAMPLES,
    TEST_SETS,
    Settings,
    correlations,
    draw,
    least_squares,
    random_state,
    score_pair,
)
from .tables import Finding, Table, claim

WEIGHTS, NOISE = (0.4, 0.6, 0.2), 0.5
TABLES_THIRD, TEXT_THIRD = (1.0, 0.0, 0.5), (0.5, 0.5, 0.5)
"""Shares of x₁, x₂ and u in x₃: what the tables come from, and what the text says."""

COLUMN = "σ = 0.5"

_NOTES = [
    "The setting behind the table: x₃ = x₁ + 0.5u, and “full” is the regression on x₁ and x₂ "
    "alone, the model of the theorem. As printed: x₃ = 0.5x₁ + 0.5x₂ + 0.5u; full is the "
    "regression on all three features (the caption), merged that on the mean of x₁, x₂ and x₃.",
    "Theoretical limits are the mean over repetitions of the interval at the sample's own "
    "correlations with x₃, empirical ones the median with estimated weights and s² = RSS/(n − 4).",
    "The empirical rule is a noncentral F(1, n − 4) test, so that the count has an expectation in "
    "closed form here too.",
    "The paper's ± of ρ̂, σ̂² and ŵ are a sixth of 1.96·sd/√500: as narrow as 3000 samples and "
    "√3000 would make them, while interval, variances and counts are those of 500 samples. Those "
    "of the variances exceed the variances themselves.",
    "3dimSyn has the two errors interchanged: 3dimSynExtended has 0.285611 (full) and 0.285137 "
    "(merged), in agreement with its R².",
]


def jobs(settings: Settings) -> list[Any]:
    """One simulation with the generator behind the table, one with that of the text."""
    return [delayed(simulate)(third, settings) for third in (TABLES_THIRD, TEXT_THIRD)]


def population(third: tuple[float, float, float]) -> Floats:
    """Correlation matrix of the three features; each is a combination of independent uniforms."""
    x1, x2 = np.array([1, 0, 0.0]), np.array([0.65, 0.35, 0.0])
    features = np.stack([x1, x2, third[0] * x1 + third[1] * x2 + [0, 0, third[2]]])
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    return np.asarray(features @ features.T)


def merge_share(corr: Floats, tolerance: float = 1.0) -> float:
    """Probability that estimates in ``eq:bound3D`` say to merge, at these correlations.

    The growth of bias is (ĉ₁ − ĉ₂)²/(2(1 − ρ)) with the covariances ĉ of features and target, and
    x₁ − x₂ is among what the three features span: over s²/(n−1) it is an F statistic.
    """
    growth = theory.delta_bias_3d(*WEIGHTS, corr[0, 1], corr[0, 2], corr[1, 2])
    noncentrality = growth * (SAMPLES - 1) / NOISE**2
    return float(stats.ncf.cdf(tolerance, 1, SAMPLES - 4, noncentrality))


def simulate(third: tuple[float, float, float], settings: Settings) -> Outcome:
    """Run the experiment with one generator."""
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

    known = population(third)
    pays = float(
        _inside(
            known[0, 1], *theory.interval_3d(SAMPLES, *WEIGHTS, NOISE**2, known[0, 2], known[1, 2])
        )
    )
    expected = {
        "Merges (empirical)": merge_share(known),
        "Merges at tolerance 2": merge_share(known, 2.0),
    }
    theorem = third == TABLES_THIRD
    mean = X[:, :, :2].mean(axis=2, keepdims=True)
    full = least_squares(X[:, :, :2], y) if theorem else all_three
    merged = least_squares(mean if theorem else np.concatenate([mean, X[:, :, 2:]], axis=2), y)
    estimates = {
        "Theoretical ρ̄, lower": over_repetitions(lower),
        "Theoretical ρ̄, upper": over_repetitions(upper),
        "Empirical ρ̄, lower (median)": median(low),
        "Empirical ρ̄, upper (median)": median(high),
        "ρ̂ of x₁, x₂": over_repetitions(rho12),
        "σ̂²": over_repetitions(s2),
        "ŵ₁": over_repetitions(w1),
        "ŵ₂": over_repetitions(w2),
        "ŵ": over_repetitions(merged.weights[:, 0]),
        **score_pair(full, merged, *tests),
        "Merges (theoretical)": count(_inside(rho12, lower, upper), pays),
        "Merges (empirical)": count(_inside(rho12, low, high), expected["Merges (empirical)"]),
        "Merges at tolerance 2": count(
            growth <= 2 * s2 / (SAMPLES - 1), expected["Merges at tolerance 2"]
        ),
    }
    estimates |= compare_methods(make, settings.compared_small, random)
    exact = {name: PAPER_REPETITIONS * share for name, share in expected.items()}
    return Outcome(estimates, exact)


def _inside(rho: Any, lower: Any, upper: Any) -> Any:
    """Whether a correlation lies in an interval; never in an empty one, whose limits are NaN."""
    return (rho >= lower) & (rho <= upper)


def tables(settings: Settings, outcomes: list[Outcome]) -> list[Table]:
    """Set the paper's two tables beside the outcomes of :func:`jobs`."""
    ours, as_printed = outcomes
    tables = [published.TRIVARIATE_SHORT, published.TRIVARIATE]
    short, full = (
        fill(COLUMN, published.with_difference(table), ours, as_printed, beyond=beyond)
        for table, beyond in zip(tables, (False, True), strict=True)
    )
    statement = claim(
        "merging does not worsen the error by more than its margin",
        *(_not_worse(outcome.estimates[DIFFERENCE]) for outcome in outcomes),
    )
    notes = [amount(settings), *_NOTES]
    return [
        Table("3dimSyn", "Three features, main figures", short, notes, [statement]),
        Table("3dimSynExtended", "Three features", full, notes),
    ]


def _not_worse(grown: Estimate) -> Finding:
    return grown.value <= grown.margin, f"error grows by {grown.value:.2g} ± {grown.margin:.2g}"
