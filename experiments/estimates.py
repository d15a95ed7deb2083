"""Figures with honest intervals: what a simulation says, and what the paper prints."""

import math
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]

PAPER_REPETITIONS = 500
NORMAL = float(stats.norm.ppf(0.975))


@dataclass(frozen=True)
class Estimate:
    """A figure of ours.

    ``margin`` is the half width of its 95 % interval, NaN where nothing is random. ``spread`` is
    the standard deviation of the same figure from one run of the paper's size: 500 repetitions
    scored on a single test set, whose draw matters more than the repetitions.
    """

    value: float
    margin: float = math.nan
    spread: float = 0.0

    @property
    def error(self) -> float:
        """Standard deviation of the difference to the figure of one run of the paper's size."""
        own = 0.0 if math.isnan(self.margin) else self.margin / NORMAL
        return math.hypot(self.spread, own)


@dataclass(frozen=True)
class Printed:
    """A figure as the paper prints it, or the difference ``a − b`` of two such figures."""

    text: str

    @property
    def terms(self) -> list[str]:
        """The figures it is made of, without their ±: one, or two to subtract."""
        return [term.split("±")[0] for term in self.text.split(" − ")]

    @property
    def value(self) -> float:
        """The figure without its ±."""
        first, *rest = map(float, self.terms)
        return round(first - sum(rest), self.digits)

    @property
    def digits(self) -> int:
        """Digits after the point."""
        found = [re.fullmatch(r"-?\d+(?:\.(\d+))?", term) for term in self.terms]
        assert all(found), self.text
        return max(len(match[1] or "") for match in found if match)

    @property
    def rounding(self) -> float:
        """How far rounding can have moved it."""
        return 0.5 * len(self.terms) * 10.0**-self.digits


def over_repetitions(values: Floats) -> Estimate:
    """Mean of one value per repetition; NaN, an empty interval, is left out."""
    values = values[~np.isnan(values)]
    scatter = float(values.std(ddof=1))
    return Estimate(
        float(values.mean()),
        _quantile(len(values)) * scatter / math.sqrt(len(values)),
        scatter / math.sqrt(PAPER_REPETITIONS),
    )


def over_single_runs(values: Floats) -> Estimate:
    """Mean of one value per draw, where the paper's figure is one such value."""
    scatter = float(values.std(ddof=1))
    margin = _quantile(len(values)) * scatter / math.sqrt(len(values))
    return Estimate(float(values.mean()), margin, scatter)


def over_draws(values: Floats) -> Estimate:
    """Mean of values of shape (draws, repetitions), where the paper has a single draw.

    A draw is whatever the paper draws only once: a test set, the weights. The scatter of the means
    of draws that have repetitions of their own holds a little of theirs, too.
    """
    draws, repetitions = values.shape
    means = values.mean(axis=1)
    between = float(means.var(ddof=1))
    within = float(values.var(axis=1, ddof=1).mean()) if repetitions > 1 else 0.0
    return Estimate(
        float(means.mean()),
        _quantile(draws) * math.sqrt(between / draws),
        math.sqrt(between + within / PAPER_REPETITIONS),
    )


def crossed(values: Floats) -> Estimate:
    """As :func:`over_draws` for draws that share the same repetitions."""
    draws, repetitions = values.shape
    between = float(values.mean(axis=1).var(ddof=1))
    within = float(values.var(axis=1, ddof=1).mean())
    return Estimate(
        float(values.mean()),
        _quantile(min(draws, repetitions)) * math.sqrt(between / draws + within / repetitions),
        math.sqrt(between + within / PAPER_REPETITIONS),
    )


def median(values: Floats) -> Estimate:
    """Median of one value per repetition, NaN left out; its interval is one of order statistics."""
    values = np.sort(values[~np.isnan(values)])
    n = len(values)
    low, high = (int(stats.binom.ppf(level, n, 0.5)) for level in (0.025, 0.975))
    margin = float(values[min(high, n - 1)] - values[low]) / 2
    spread = margin / NORMAL * math.sqrt(n / PAPER_REPETITIONS)
    return Estimate(float(np.median(values)), margin, spread)


def count(merged: npt.NDArray[np.bool_], expected: float) -> Estimate:
    """Merges per 500 repetitions, a binomial count whose expected share is known."""
    scatter = math.sqrt(expected * (1 - expected))
    return Estimate(
        PAPER_REPETITIONS * float(merged.mean()),
        NORMAL * PAPER_REPETITIONS * scatter / math.sqrt(len(merged)),
        scatter * math.sqrt(PAPER_REPETITIONS),
    )


def _quantile(n: int) -> float:
    """Half width of a 95 % interval in standard errors estimated from n values."""
    return float(stats.t.ppf(0.975, n - 1))
