"""The figure against the number of samples: ``nSamples``, three panels."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import delayed

from .dimensions import D, Values, simulate, summarize
from .estimates import Estimate
from .pictures import draw_samples
from .simulation import Settings
from .tables import Claim, Finding, Table, claim, compare

Curves = dict[str, list[Estimate]]
_WHICH = ("theoretical", "empirical")

SIZES = (110, 130, 160, 200, 300, 500, 800, 1200, 2000, 3000)

_NOTES = [
    "The paper prints the figure without its figures; what can be compared are the statements of "
    "its text. Setting behind the table and as printed as in NdimSyn; every test set has 500 "
    "samples.",
]


def jobs(settings: Settings) -> list[Any]:
    """One task a number of samples and setting, with all its draws."""
    return [
        delayed(simulate_draws)(n, as_printed, settings)
        for as_printed in (False, True)
        for n in SIZES
    ]


def simulate_draws(n: int, as_printed: bool, settings: Settings) -> list[Values]:
    """Give the values of every draw, with training sets of n samples."""
    return [
        simulate(draw, as_printed, settings, n=n, repetitions=settings.compared)
        for draw in range(settings.draws)
    ]


def curves(outcomes: list[list[Values]]) -> Curves:
    """Each quantity of one setting, along the numbers of samples."""
    points = [summarize(values).estimates for values in outcomes]
    return {name: [point[name] for point in points] for name in points[0]}


def split(outcomes: list[list[Values]]) -> tuple[list[list[Values]], list[list[Values]]]:
    """Outcomes of the setting behind the table, and of that as printed."""
    return outcomes[: len(SIZES)], outcomes[len(SIZES) :]


def tables(settings: Settings, outcomes: list[list[Values]]) -> list[Table]:
    """Put the points of the figure in a table, and check the statements of the text."""
    ours, as_printed = (curves(part) for part in split(outcomes))
    rows = [
        compare(name, f"n = {n}", None, ours[name][k], as_printed[name][k])
        for k, n in enumerate(SIZES)
        for name in ours
    ]
    amount = (
        f"Each point: {settings.draws} draws of weights and test set with {settings.compared} "
        "repetitions each."
    )
    notes, found = [amount, *_NOTES], claims(ours, as_printed)
    figure = draw_samples(SIZES, ours, as_printed)
    return [Table("nSamples", "From few to many samples", rows, notes, found, figure=figure)]


def claims(ours: Curves, as_printed: Curves) -> list[Claim]:
    """Check the statements of the text about the figure."""
    checks: dict[str, Callable[[Curves], Finding]] = {
        **{
            f"fewer samples give fewer reduced features, by {which} quantities": partial(
                _grows, which=which
            )
            for which in _WHICH
        },
        "empirical quantities give more reduced features than theoretical ones, and far fewer than "
        "D, for every n": _more_by_data,
        "with about as many samples as features the reduced features do far better: less than half "
        "the error of all features": _far_better,
        **{
            f"with many samples they do slightly better, by {which} quantities: the ratio of "
            "errors is below 1 by more than its margin, and above 0.9": partial(
                _slightly_better, which=which
            )
            for which in _WHICH
        },
        "the score of the reduced features hardly depends on n: R² varies less than a tenth as "
        "much as that of all features": _stable,
    }
    return [claim(text, check(ours), check(as_printed)) for text, check in checks.items()]


def _grows(curves: Curves, which: str) -> Finding:
    """Whether no step goes down by more than chance, and the last point is above the first."""
    curve = curves[f"d ({which})"]
    first, last = curve[0], curve[-1]
    steps = [b.value - a.value + a.margin + b.margin >= 0 for a, b in pairwise(curve)]
    above = last.value - last.margin > first.value + first.margin
    return all(steps) and above, f"d = {first.value:.1f} … {last.value:.1f}"


def _more_by_data(curves: Curves) -> Finding:
    known, found = (np.array([e.value for e in curves[f"d ({which})"]]) for which in _WHICH)
    holds = bool((known < found).all() and (found < 0.5 * D).all())
    return holds, f"d = {known.max():.1f} and {found.max():.1f} at most"


def _far_better(curves: Curves) -> Finding:
    ratios = [curves[f"MSE merged / full ({which})"][0].value for which in _WHICH]
    return max(ratios) < 0.5, "ratio of errors " + " and ".join(f"{r:.3f}" for r in ratios)


def _slightly_better(curves: Curves, which: str) -> Finding:
    ratio = curves[f"MSE merged / full ({which})"][-1]
    holds = ratio.value > 0.9 and ratio.value + ratio.margin < 1
    return holds, f"ratio of errors {ratio.value:.3f} ± {ratio.margin:.3f} at n = {SIZES[-1]}"


def _stable(curves: Curves) -> Finding:
    merged = [f"R² merged ({which})" for which in _WHICH]
    *reduced, full = (np.ptp([e.value for e in curves[name]]) for name in (*merged, "R² full"))
    figures = ", ".join(f"{reach:.3f}" for reach in reduced)
    return bool(max(reduced) < 0.1 * full), f"R² varies by {figures}; full by {full:.2f}"
