"""The figure against the number of samples: ``nSamples``, three panels."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from joblib import delayed

from ._dimensions import D, Values, simulate, summarize
from ._estimates import Estimate
from ._pictures import draw_samples
from ._simulation import Settings
from ._tables import Claim, Table, compare

Curves = dict[str, list[Estimate]]

SIZES = (110, 130, 160, 200, 300, 500, 800, 1200, 2000, 3000)

_NOTES = [
    "The paper prints the figure without its figures; what can be compared are the statements of "
    "its text. Setting behind the table and as printed as in NdimSyn; every test set has 500 "
    "samples.",
]


def tasks(settings: Settings) -> list[Any]:
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


def tabulate(settings: Settings, outcomes: list[list[Values]]) -> list[Table]:
    """Put the points of the figure in a table, and check the statements of the text."""
    ours, as_printed = (curves(part) for part in split(outcomes))
    rows = [
        compare(name, f"n = {n}", None, ours[name][k], as_printed[name][k])
        for k, n in enumerate(SIZES)
        for name in ours
    ]
    return [Table("nSamples", "From few to many samples", rows, _NOTES, claims(ours, as_printed))]


def claims(ours: Curves, as_printed: Curves) -> list[Claim]:
    """Check the statements of the text about the figure."""
    statements: list[tuple[str, Callable[[Curves], bool], Callable[[Curves], str]]] = [
        (
            "fewer samples give fewer reduced features, by theoretical quantities",
            lambda curves: _grows(curves["d (theoretical)"]),
            lambda curves: _ends(curves["d (theoretical)"], "d"),
        ),
        (
            "fewer samples give fewer reduced features, by empirical quantities",
            lambda curves: _grows(curves["d (empirical)"]),
            lambda curves: _ends(curves["d (empirical)"], "d"),
        ),
        (
            "empirical quantities give more reduced features than theoretical ones, and far "
            "fewer than D, for every n",
            lambda curves: all(
                theoretical.value < empirical.value < 0.5 * D
                for theoretical, empirical in zip(
                    curves["d (theoretical)"], curves["d (empirical)"], strict=True
                )
            ),
            lambda curves: _ends(curves["d (empirical)"], "d (empirical)"),
        ),
        (
            "with about as many samples as features the reduced features do far better: less "
            "than half the error of all features",
            lambda curves: max(_ratios(curves, 0)) < 0.5,
            lambda curves: (
                f"error over that of all features at n = {SIZES[0]}: " + _joined(_ratios(curves, 0))
            ),
        ),
        (
            "with many samples they do about as well: the errors differ by less than a tenth",
            lambda curves: all(0.9 < ratio < 1.1 for ratio in _ratios(curves, -1)),
            lambda curves: (
                f"error over that of all features at n = {SIZES[-1]}: "
                + _joined(_ratios(curves, -1))
            ),
        ),
        (
            "the score of the reduced features hardly depends on n: R² varies less than a "
            "tenth as much as that of all features",
            lambda curves: max(map(_range, _merged(curves))) < 0.1 * _range(curves["R² full"]),
            lambda curves: (
                "range of R² (theoretical, empirical; full): "
                + _joined([*map(_range, _merged(curves)), _range(curves["R² full"])])
            ),
        ),
    ]
    return [
        Claim(statement, holds(ours), holds(as_printed), detail(ours))
        for statement, holds, detail in statements
    ]


def _merged(curves: Curves) -> list[list[Estimate]]:
    return [curves[f"R² merged ({which})"] for which in ("theoretical", "empirical")]


def _ratios(curves: Curves, k: int) -> list[float]:
    full = curves["MSE full"][k].value
    return [curves[f"MSE merged ({w})"][k].value / full for w in ("theoretical", "empirical")]


def _grows(curve: list[Estimate]) -> bool:
    """Whether no step goes down by more than chance, and the last point is above the first."""
    steps = [b.value - a.value + a.margin + b.margin >= 0 for a, b in pairwise(curve)]
    return all(steps) and curve[-1].value - curve[-1].margin > curve[0].value + curve[0].margin


def _range(curve: list[Estimate]) -> float:
    values = [point.value for point in curve]
    return max(values) - min(values)


def _ends(curve: list[Estimate], what: str) -> str:
    first, last = curve[0].value, curve[-1].value
    return f"{what} = {first:.1f} at n = {SIZES[0]}, {last:.1f} at n = {SIZES[-1]}"


def _joined(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


def draw_figures(outcomes: list[list[Values]]) -> dict[str, Any]:
    """Draw the figure, by its name."""
    ours, as_printed = (curves(part) for part in split(outcomes))
    return {"nSamples": draw_samples(SIZES, ours, as_printed)}
