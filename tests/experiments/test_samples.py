"""The figure against the number of samples: statements on made-up curves, and the picture."""

import numpy as np
import pytest

from experiments.estimates import Estimate
from experiments.samples import (
    SIZES,
    claims,
    curves,
    simulate_draws,
    split,
    tables,
)
from experiments.simulation import Settings

N = len(SIZES)


def curve(values, margin=0.1):
    return [Estimate(float(value), margin) for value in values]


def fine():
    """Curves for which all seven statements hold."""
    return {
        "d (theoretical)": curve(np.linspace(2, 8, N)),
        "d (empirical)": curve(np.linspace(10, 20, N)),
        "R² full": curve(np.linspace(0.2, 0.9, N)),
        "R² merged (theoretical)": curve(np.linspace(0.88, 0.9, N)),
        "R² merged (empirical)": curve(np.linspace(0.87, 0.9, N)),
        "MSE full": curve(np.linspace(400, 100, N)),
        "MSE merged (theoretical)": curve(np.full(N, 101.0)),
        "MSE merged (empirical)": curve(np.linspace(120, 104, N)),
        "MSE merged / full (theoretical)": curve(np.linspace(0.25, 0.95, N), 0.01),
        "MSE merged / full (empirical)": curve(np.linspace(0.3, 0.98, N), 0.01),
    }


def held(made):
    return [claim.ours for claim in claims(made, fine())]


def changed(name, k, value, margin=0.1):
    made = fine()
    made[name][k] = Estimate(value, margin)
    return made


def test_all_statements_hold_on_curves_that_fulfil_them():
    for claim in claims(fine(), fine()):
        assert claim.ours
        assert claim.as_printed


@pytest.mark.parametrize(
    ("made", "broken"),
    [
        (changed("d (theoretical)", 4, 1.0), [0]),  # a step down beyond its margins
        (changed("d (theoretical)", -1, 2.1), [0]),  # the end is not above the start
        (changed("d (empirical)", 5, 12.0), [1]),
        (changed("d (empirical)", 0, 1.9), [2]),
        (changed("d (empirical)", -1, 50.0), [2]),
        (changed("MSE merged / full (theoretical)", 0, 0.5), [3]),
        (changed("MSE merged / full (empirical)", 0, 0.5), [3]),
        (changed("MSE merged / full (theoretical)", -1, 0.95, 0.06), [4]),  # not surely below 1
        (changed("MSE merged / full (theoretical)", -1, 0.89), [4]),
        (changed("MSE merged / full (empirical)", -1, 1.02, 0.01), [5]),
        (changed("R² merged (theoretical)", 3, 0.83), [6]),
        (changed("R² merged (empirical)", 3, 0.97), [6]),
    ],
)
def test_each_statement_can_fail_alone(made, broken):
    assert held(made) == [k not in broken for k in range(7)]
    assert [claim.as_printed for claim in claims(fine(), made)] == held(made)


def test_steps_within_their_margins_are_chance():
    made = changed("d (theoretical)", 4, fine()["d (theoretical)"][3].value - 0.15)
    assert all(held(made))


def test_statements_say_the_figures_they_rest_on():
    details = [claim.detail for claim in claims(fine(), fine())]
    assert details[0] == "d = 2.0 … 8.0"
    assert details[2] == "d = 8.0 and 20.0 at most"
    assert details[3] == "ratio of errors 0.250 and 0.300"
    assert details[5] == "ratio of errors 0.980 ± 0.010 at n = 3000"
    assert details[6] == "R² varies by 0.020, 0.030; full by 0.70"
    more = claims(changed("d (theoretical)", -1, 9.0), fine())[0].detail
    assert more == "d = 2.0 … 9.0; as printed: d = 2.0 … 8.0"


@pytest.fixture(scope="module")
def outcomes():
    """Made-up values of three draws and two repetitions, in the order of the jobs."""
    rng = np.random.default_rng(0)
    made = fine()

    def values(k, add):
        return {
            name: points[k].value + add + 1e-3 * rng.normal(size=2) for name, points in made.items()
        }

    return [[values(k, add) for _ in range(3)] for add in (0.0, 0.01) for k in range(N)]


def test_outcomes_are_split_by_setting(outcomes):
    ours, as_printed = (curves(part) for part in split(outcomes))
    for name, points in fine().items():
        for k in range(N):
            assert ours[name][k].value == pytest.approx(points[k].value, abs=0.005)
            assert as_printed[name][k].value == pytest.approx(points[k].value + 0.01, abs=0.005)


def test_every_point_is_in_the_table(outcomes):
    (table,) = tables(Settings(), outcomes)
    assert table.columns() == [f"n = {n}" for n in SIZES]
    assert len(table.rows) == N * 10
    assert {row.verdict for row in table.rows} == {"beyond the paper"}
    first = table.rows[0]
    assert first.ours.value == pytest.approx(2, abs=0.005)
    assert first.as_printed.value == pytest.approx(2.01, abs=0.005)
    assert len(table.claims) == 7


def test_picture_has_three_panels_with_the_curves(outcomes):
    figure = tables(Settings(), outcomes)[0].figure
    assert len(figure.axes) == 3
    made = curves(split(outcomes)[0])
    for panel, figure_name, lines in zip(figure.axes, ("d", "R²", "MSE"), (4, 6, 6), strict=True):
        drawn = [line for line in panel.get_lines() if len(line.get_xdata()) == N]
        assert len(drawn) == lines
        assert all(list(line.get_xdata()) == list(SIZES) for line in drawn)
        solid = {tuple(line.get_ydata()) for line in drawn if line.get_linestyle() == "-"}
        names = [n for n in made if n.startswith(figure_name + " ") and "/" not in n]
        assert solid == {tuple(point.value for point in made[name]) for name in names}
        assert panel.get_xscale() == "log"
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert len(labels) == 5
    colors = [
        {line.get_color() for line in panel.get_lines() if len(line.get_xdata()) == N}
        for panel in figure.axes
    ]
    assert colors[0] < colors[1] == colors[2]


def test_simulation_has_the_asked_numbers_of_samples_and_draws(monkeypatch):
    seen = []

    def simulate(draw, as_printed, settings, *, n, repetitions):
        seen.append((draw, as_printed, n, repetitions))

    monkeypatch.setattr("experiments.samples.simulate", simulate)
    simulate_draws(130, True, Settings(40))
    assert seen == [(draw, True, 130, 2) for draw in range(4)]


def test_few_samples_favour_the_reduced_features():
    """Less than half the error at n = 110, in every draw; the ratio is a fifth and less."""
    for part in simulate_draws(110, False, Settings(10)):
        for which in ("theoretical", "empirical"):
            assert part[f"MSE merged ({which})"].mean() < 0.5 * part["MSE full"].mean()
