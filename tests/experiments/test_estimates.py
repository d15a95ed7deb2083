"""Intervals cover what they say, and spreads are those of runs of the paper's size.

Coverage is counted in 1000 seeded runs: a share that is 0.95 falls outside 0.95 ± 4·0.0069, four
binomial standard deviations, with probability 6e-5.
"""

import math

import numpy as np
import pytest
from scipy import stats

from experiments.estimates import (
    PAPER_REPETITIONS,
    Estimate,
    Printed,
    count,
    crossed,
    median,
    over_draws,
    over_repetitions,
    over_single_runs,
)

RUNS = 1000
BOUND = 4 * math.sqrt(0.95 * 0.05 / RUNS)


def coverage(estimates, truth):
    return np.mean([abs(e.value - truth) <= e.margin for e in estimates])


@pytest.mark.parametrize(
    ("text", "value", "digits"),
    [
        ("0.997217", 0.997217, 6),
        ("-25.675559", -25.675559, 6),
        ("500", 500, 0),
        ("0.919045±1.78e-4", 0.919045, 6),
        ("103.020861±0.027468", 103.020861, 6),
        ("0.825±6e-6", 0.825, 3),
        ("0.295489 − 0.275187", 0.020302, 6),
        ("102.977 − 103.021", -0.044, 3),
    ],
)
def test_printed_figures_are_read(text, value, digits):
    printed = Printed(text)
    assert (printed.value, printed.digits) == (value, digits)


def test_rounding_moves_a_difference_twice():
    assert Printed("0.286").rounding == pytest.approx(0.0005)
    assert Printed("0.286 − 0.285").rounding == pytest.approx(0.001)


@pytest.mark.parametrize("text", ["1e-3", "about 3", "1."])
def test_what_is_not_a_plain_number_has_no_digits(text):
    with pytest.raises(AssertionError, match=text):
        _ = Printed(text).digits


def test_error_adds_our_own_uncertainty_to_the_spread():
    assert Estimate(1.0, 1.96 * 0.3, 0.4).error == pytest.approx(0.5, abs=1e-5)
    assert Estimate(1.0, math.nan, 0.4).error == 0.4
    assert Estimate(1.0).error == 0


@pytest.mark.parametrize("n", [4, 10, 40])
def test_interval_over_repetitions_covers(n):
    """Exactly 95 % for normal values, however few; 1.96 would cover 85 % with four."""
    values = np.random.default_rng(n).normal(7.0, 3.0, size=(RUNS, n))
    assert coverage(map(over_repetitions, values), 7.0) == pytest.approx(0.95, abs=BOUND)


def test_single_runs_have_the_interval_of_repetitions_and_the_spread_of_one():
    values = np.random.default_rng(0).exponential(size=100)
    found, mean = over_single_runs(values), over_repetitions(values)
    assert (found.value, found.margin) == (mean.value, mean.margin)
    assert found.spread == pytest.approx(values.std(ddof=1))


@pytest.mark.parametrize(("draws", "repetitions"), [(4, 2), (20, 25), (100, 1)])
def test_interval_over_draws_covers(draws, repetitions):
    rng = np.random.default_rng(draws)
    values = rng.normal(2.0, 1.0, size=(RUNS, draws, 1))
    values = values + rng.normal(0, 4.0, size=(RUNS, draws, repetitions))
    assert coverage(map(over_draws, values), 2.0) == pytest.approx(0.95, abs=BOUND)


@pytest.mark.parametrize(
    ("between", "within", "most"),
    [(1.0, 0.0, 0.95), (0.0, 1.0, 0.99), (1.0, 1.0, 0.99), (0.1, 2.0, 0.99)],
)
def test_interval_of_shared_repetitions_covers(between, within, most):
    """At least 95 %: it takes the fewer degrees of freedom of the two, exact where one part rules.

    Ten test sets, and forty repetitions that are scored on all of them.
    """
    rng = np.random.default_rng(int(10 * between + within))
    values = (
        5.0 + between * rng.normal(size=(RUNS, 10, 1)) + within * rng.normal(size=(RUNS, 1, 40))
    )
    share = coverage(map(crossed, values), 5.0)
    assert 0.95 - BOUND <= share <= most + BOUND


def test_shared_repetitions_are_not_independent():
    """With nothing but the repetitions random, many test sets make nothing more certain."""
    values = np.tile(np.random.default_rng(0).normal(size=(1, 50)), (30, 1))
    expected = over_repetitions(values[0])
    found = crossed(values)
    assert found.value == pytest.approx(expected.value)
    assert found.spread == pytest.approx(expected.spread)
    # The quantile is that of 30 values, the fewer of the two.
    ratio = stats.t.ppf(0.975, 29) / stats.t.ppf(0.975, 49)
    assert found.margin == pytest.approx(expected.margin * ratio)


@pytest.mark.parametrize("n", [40, 101])
@pytest.mark.parametrize("law", [stats.norm(), stats.cauchy()])
def test_interval_of_the_median_covers(law, n):
    """95 %, up to the 2 % that the steps of a binomial distribution make at these n."""
    values = law.rvs(size=(RUNS, n), random_state=n)
    assert coverage(map(median, values), 0.0) == pytest.approx(0.95, abs=BOUND + 0.02)


@pytest.mark.parametrize("share", [0.045, 0.664])
def test_interval_of_a_count_covers(share):
    """95 %, up to the 1 % that the steps of a binomial distribution make at n = 400."""
    merged = np.random.default_rng(0).random((RUNS, 400)) < share
    estimates = [count(part, share) for part in merged]
    expected = PAPER_REPETITIONS * share
    assert coverage(estimates, expected) == pytest.approx(0.95, abs=BOUND + 0.01)


def test_certain_counts_have_no_spread():
    for share in (0.0, 1.0):
        assert count(np.full(20, bool(share)), share) == Estimate(500 * share, 0.0, 0.0)


# Spreads: 3000 runs of the paper's size give a standard deviation to 1.3 %; with 6 % allowed, four
# of its standard errors and a little for the estimate itself, which has many values.
SPREAD = 0.06


def runs_of_500(rng, draw):
    return np.std([draw(rng, PAPER_REPETITIONS) for _ in range(3000)], ddof=1)


def test_spread_over_repetitions_is_that_of_runs_of_500():
    rng = np.random.default_rng(1)
    brute = runs_of_500(rng, lambda rng, n: rng.exponential(3.0, size=n).mean())
    found = over_repetitions(rng.exponential(3.0, size=40_000))
    assert found.spread == pytest.approx(brute, rel=SPREAD)


def test_spread_of_the_median_is_that_of_runs_of_500():
    """The margin of a median is itself a random gap of order statistics: 10 % more allowed."""
    rng = np.random.default_rng(2)
    brute = runs_of_500(rng, lambda rng, n: np.median(rng.normal(size=n)))
    assert median(rng.normal(size=40_000)).spread == pytest.approx(brute, rel=SPREAD + 0.1)


def test_spread_of_a_count_is_that_of_runs_of_500():
    rng = np.random.default_rng(3)
    brute = runs_of_500(rng, lambda rng, n: (rng.random(n) < 0.66).sum())
    assert count(rng.random(300) < 0.66, 0.66).spread == pytest.approx(brute, rel=SPREAD)


def test_spread_of_shared_repetitions_is_that_of_one_test_set_and_500_repetitions():
    """Parts of test sets, of repetitions, and of the two together, all of a like size."""
    rng = np.random.default_rng(4)
    brute = runs_of_500(
        rng,
        lambda rng, n: (0.3 * rng.normal() + rng.normal(0, 6, size=n) + rng.normal(size=n)).mean(),
    )
    values = 0.3 * rng.normal(size=(3000, 1)) + rng.normal(0, 6, size=(1, 1000))
    values = values + rng.normal(size=values.shape)
    assert crossed(values).spread == pytest.approx(brute, rel=SPREAD)


@pytest.mark.parametrize("repetitions", [25, 2000])
def test_spread_over_draws_holds_that_of_one_draw_and_500_repetitions(repetitions):
    """Too large, if anything, by what the repetitions of our own draws scatter."""
    rng = np.random.default_rng(5)
    brute = runs_of_500(rng, lambda rng, n: rng.normal() + rng.normal(0, 15, size=n).mean())
    values = rng.normal(size=(3000, 1)) + rng.normal(0, 15, size=(3000, repetitions))
    most = math.hypot(brute, 15 / math.sqrt(repetitions))
    assert (1 - SPREAD) * brute <= over_draws(values).spread <= (1 + SPREAD) * most


@pytest.mark.parametrize("estimate", [over_repetitions, median])
def test_empty_intervals_are_left_out(estimate, rng):
    values = rng.normal(size=30)
    holed = np.insert(values, [0, 4, 20], np.nan)
    assert estimate(holed) == estimate(values)


def test_one_repetition_a_draw(rng):
    values = rng.normal(size=(12, 1))
    found = over_draws(values)
    assert found.spread == pytest.approx(values.std(ddof=1))
    assert found.margin == pytest.approx(over_repetitions(values[:, 0]).margin)
