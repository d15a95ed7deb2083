"""explain_pair: its figures, its words, and what it refuses."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lincfa import LinCFA, explain_pair, theory
from lincfa._model._display import decimals, digits, distinguishable
from lincfa.datasets import make_correlated, make_spectra
from literal_strategies import correlation, full_noise, standardised
from reference import assert_raises, draw, table

SIGNS = np.array([[(-1.0) ** (i >> k) for k in range(3)] for i in range(8)])
COSTS = ["variance_drop", "bias_growth", "gain"]
SHARES = [f"{name}_share" for name in COSTS]
FIGURES = ["correlation", "threshold", "f", "tolerance", *COSTS, *SHARES]


def by_hand(b, c=1.0):
    """A pair 3u ± v correlated by 0.8, and a target 2u + bv + cw: F is 5b²/c².

    u, v and w are orthogonal rows of ±1, so that the pair leaves c² of the target and its
    difference explains b².
    """
    u, v, w = SIGNS.T
    return pd.DataFrame({"warm": 3 * u + v, "cold": 3 * u - v}), 2 * u + b * v + c * w


def words(b=0.4, c=1.0, **parameters):
    return str(explain_pair(*by_hand(b, c), "warm", "cold", **parameters))


@pytest.mark.parametrize("noise", ["pair", "full", 0.9])
@pytest.mark.parametrize("tolerance", [0.7, 1.0, "unbiased"])
def test_figures_of_merged_pairs_are_the_evidence(data, noise, tolerance):
    X, y = data
    model = LinCFA(noise=noise, tolerance=tolerance).fit(X, y)
    assert model.evidence_.size > 2
    for row in model.evidence_:
        pair = explain_pair(X, y, row["partner"], row["feature"], noise=noise, tolerance=tolerance)
        assert (pair.merges, pair.n_samples) == (True, 100)
        r = model.target_correlation_[[row["partner"], row["feature"]]]
        np.testing.assert_allclose(pair.target_correlations, r, rtol=1e-12)
        for name in FIGURES:
            assert getattr(pair, name) == pytest.approx(row[name], rel=1e-8, abs=1e-12), name


@pytest.mark.parametrize("noise", ["pair", "full", 0.9])
def test_figures_of_rejected_pairs_are_those_of_the_theory(data, noise):
    X, y = data
    n, variance, Z = len(y), y.var(ddof=1), standardised(X)
    rejected = 0
    for i, j in [(0, 4), (0, 8), (4, 8), (2, 11), (0, 1)]:
        pair = explain_pair(X, y, i, j, noise=noise)
        a, b = Z[:, i], Z[:, j]
        rho, r1, r2 = correlation(a, b), correlation(a, y), correlation(b, y)
        w1, w2 = np.linalg.lstsq(Z[:, [i, j]], y - y.mean(), rcond=None)[0]
        s2 = theory.residual_variance(n, rho, r1, r2, variance)
        s2 = {"pair": s2, "full": full_noise(X, y)}.get(noise, noise)
        drop = theory.variance_drop_asymptotic(n, s2)
        growth = theory.bias_growth_asymptotic(w1, w2, rho)
        expected = {"correlation": rho, "f": growth / drop, "tolerance": 1}
        expected |= {"threshold": 1 - (1 - rho) * drop / growth}
        expected |= {"variance_drop": drop, "bias_growth": growth, "gain": drop - growth}
        expected |= {f"{name}_share": expected[name] / variance for name in COSTS}
        for name, value in expected.items():
            assert getattr(pair, name) == pytest.approx(value, rel=1e-8, abs=1e-12), name
        assert pair.merges == (growth <= drop) == (rho >= pair.threshold)
        np.testing.assert_allclose(pair.target_correlations, [r1, r2], rtol=1e-10)
        rejected += not pair.merges
    assert rejected >= 3


# In words


DECISIONS = {
    "merged": (
        {"b": 0.4},
        "merge: their correlation is 0.800, and given how much their effects differ, "
        "0.750 would be enough. Replacing both by their mean lowers the mean squared error by an "
        "estimated 0.0457, or 0.775 % of the target's variance: 0.229 less because one weight is "
        "estimated instead of two, 0.183 more because both get the same weight (F = 0.800; pairs "
        "merge at F ≤ 1).",
    ),
    "rejected": (
        {"b": 1.0},
        "stay apart: their correlation is 0.800, but given how much their effects differ, "
        "they would need 0.960. Replacing both by their mean would raise the mean squared "
        "error by an estimated 0.914, or 13.3 % of the target's variance: 0.229 less because one "
        "weight is estimated instead of two, 1.14 more because both get the same weight (F = 5.00; "
        "pairs merge at F ≤ 1).",
    ),
    "any correlation": (
        {"b": 0.05},
        "merge: their effects on the target are so similar that any correlation would do; theirs "
        "is 0.800. ",
    ),
    "smallest correlation": (
        {"min_correlation": 0.9},
        "stay apart: their correlation is 0.800, and min_correlation requires 0.900. Replacing "
        "both by their mean would lower the mean squared error by an estimated 0.0457",
    ),
    "just allowed": ({"min_correlation": 0.8 - 1e-9}, "merge: "),
    "no noise": (
        {"c": 0.0},
        "stay apart: together they explain the target completely. Replacing both by their mean "
        "would raise the mean squared error",
    ),
    "a loss that is allowed": (
        {"b": 0.6, "tolerance": "unbiased"},
        "merge: their correlation is 0.800, and given how much their effects differ, "
        "0.778 would be enough. Replacing both by their mean raises the mean squared error by an "
        "estimated 0.183, or 2.99 % of the target's variance, which a tolerance of 2 allows: 0.229 "
        "less because one weight is estimated instead of two, 0.411 more because both get the same "
        "weight (F = 1.80; pairs merge at F ≤ 2).",
    ),
    "a gain that is not enough": (
        {"tolerance": 0.5},
        "stay apart: their correlation is 0.800, but given how much their effects differ, "
        "they would need 0.875. Replacing both by their mean would lower the mean squared",
    ),
}


FLIPPED = {
    "merge: their correlation is 0.800 once the sign of 'b' is flipped, and given": {},
    "merge: they are equal once the sign of 'b' is flipped, up to": {"f": 0.0, "correlation": 1.0},
    "so similar once the sign of 'b' is flipped that any correlation": {"threshold": -2.0},
    "apart: their correlation is 0.800 once the sign of 'b' is flipped, but given": {
        "f": 5.0,
        "merges": False,
    },
    "apart: their correlation is 0.800 once the sign of 'b' is flipped, and min_corr": {
        "min_correlation": 0.9,
        "merges": False,
    },
}


@pytest.mark.parametrize("said", FLIPPED)
def test_a_flip_is_said(said):
    as_it_is = replace(explain_pair(*by_hand(0.4), 0, 1), names=("a", "b"))
    assert as_it_is.sign == 1
    assert "flip" not in as_it_is._repr_html_()
    flipped = replace(as_it_is, sign=-1, **FLIPPED[said])
    assert said in str(flipped)
    assert "Replacing both by their mean, after the flip, " in str(flipped)
    assert ">correlation of the two, the sign of b flipped</td>" in flipped._repr_html_()


WEIGHTED = {
    "0.800, and given how far their effects are from the ratio of their weights, 0.": {},
    "so close to the ratio of their weights that any correlation would do": {"threshold": -2.0},
    "but given how far their effects are from the ratio of their weights, they would need": {
        "f": 5.0,
        "merges": False,
    },
}


@pytest.mark.parametrize("said", WEIGHTED)
def test_unequal_weights_are_said(said):
    """What counts then is the ratio of the effects, not their difference."""
    pair = explain_pair(*by_hand(0.4), 0, 1, feature_weights=[0.5, 0.4])
    assert pair.weights == (0.5, 0.4)
    pair = replace(pair, **WEIGHTED[said])
    text = str(pair)
    assert said in text
    assert "Replacing both by their mean weighted 0.5 : 0.4 " in text
    assert "because one effect is estimated instead of two, " in text
    assert "more because their effects get the ratio of the weights (F" in text
    assert ">weights in the mean</td>" in pair._repr_html_()
    equal = explain_pair(*by_hand(0.4), 0, 1, feature_weights=[3.0, 3.0])
    assert str(equal) == str(explain_pair(*by_hand(0.4), 0, 1))


def test_opposites_that_merge_cancel():
    first, noise, y = np.random.default_rng(0).normal(size=(3, 100))
    X = np.column_stack([first, 0.5 * noise - first])
    said = "But as opposites they cancel in the mean: min_correlation keeps them apart, and"
    pair = explain_pair(X, y, 0, 1, tolerance=50.0)
    assert pair.merges
    assert pair.correlation < -0.3
    assert said in str(pair)
    flipped = explain_pair(X, y, 0, 1, tolerance=50.0, signed=True, min_correlation=0.3)
    assert (flipped.merges, flipped.sign) == (True, -1)
    for other in (flipped, replace(pair, merges=False), replace(pair, correlation=-0.2)):
        assert "cancel" not in str(other)


@pytest.mark.parametrize("case", DECISIONS)
def test_decisions_in_words(case):
    parameters, expected = DECISIONS[case]
    assert words(**parameters).startswith(f"As a pair, 'warm' and 'cold' {expected}")


def test_equal_features_and_known_noise_in_words(data):
    X, y = data
    pair = explain_pair(np.column_stack([X[:, 0], 1.8 * X[:, 0] + 32]), y, 0, 1)
    assert (pair.f, pair.bias_growth, pair.correlation, pair.threshold) == (0, 0, 1, -np.inf)
    start = "As a pair, 'x0' and 'x1' merge: they are equal, up to their units and rounding. "
    assert str(pair).startswith(start + "Replacing both by their mean lowers")
    assert str(pair).endswith(
        "0 more because both get the same weight (F = 0; pairs merge at F ≤ 1)."
    )
    pair = explain_pair(X, y, 0, 4, noise=1e-30)
    assert pair.threshold == 1
    assert "explain the target completely" not in str(pair)


def test_numbers_that_decide_are_told_apart(data):
    """To three digits these would contradict the decision."""
    text = str(explain_pair(*make_correlated(80, 40, random_state=0), 17, 21))
    for part in ("stay apart", "1.6077 less", "1.6084 more", "F = 1.0004; pairs merge at F ≤ 1"):
        assert part in text
    text = str(explain_pair(*make_spectra(80, 40, random_state=0), 1, 4, tolerance="unbiased"))
    assert "correlation is 0.99248," in text
    assert "would need 0.99252" in text
    X, y = data
    twins = np.column_stack([X[:, 0], X[:, 0] + 1e-4 * X[:, 4]])
    pair = explain_pair(twins, y, 0, 1)
    assert f"correlation is {correlation(*twins.T):.10f}," in str(pair)
    assert f"would need {pair.threshold:.12f}. " in str(pair)
    text = str(explain_pair(np.column_stack([X[:, 0], -X[:, 1]]), y, 0, 1))
    assert "correlation is −0.9" in text
    assert "-0." not in text


def test_the_larger_of_two_limits_is_named():
    X, y = make_correlated(200, 30, random_state=0)
    pair = explain_pair(X, y, 0, 1, min_correlation=0.98)
    assert pair.threshold < 0.98
    assert "would need 0.980" in str(pair)
    assert ">0.980</td>" in pair._repr_html_()
    allowed = explain_pair(X, y, 0, 4, min_correlation=0.95)
    assert "min_correlation requires 0.950" in str(allowed)
    assert ">0.950</td>" in allowed._repr_html_()
    assert ">any</td>" in explain_pair(X, y, 6, 11)._repr_html_()


@pytest.mark.parametrize(
    ("noise", "end"),
    [("pair", ""), ("full", "; noise from the regression on all features"), (3.0, "; given noise")],
)
def test_the_noise_is_named(noise, end):
    pair = explain_pair(*draw(0), 0, 1, noise=noise)
    assert str(pair).endswith(f"pairs merge at F ≤ 1{end}).")
    assert pair.noise == noise


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (0.07598, "0.0760"),
        (-0.5, "−0.500"),
        (999.6, "1000"),
        (1234.5, "1234"),
        (0.00123456, "0.00123"),
        (1.5e-7, "1.5e-07"),
        (2.34567e9, "2.35e+09"),
        (np.inf, "inf"),
    ],
)
def test_digits(value, text):
    assert digits(value) == text


def test_correlations_near_one_show_what_is_left():
    assert [decimals(r) for r in (0.5, 0.994, 0.99987, -0.99987, 1.0)] == [
        *("0.500", "0.9940", "0.99987", "−0.99987", "1.00")
    ]


def test_equal_numbers_are_not_told_apart():
    assert distinguishable(digits, 1.0, 1.0) == ("1.00", "1.00")
    assert distinguishable(digits, 1.0, 1.0 + 1e-12) == ("1.000000000000", "1.000000000001")


# Columns


def test_columns_by_name_by_position_and_mixed(data):
    X, y = data
    expected = explain_pair(table(X), y, "t3", "t8")
    assert expected.names == ("t3", "t8")
    assert explain_pair(table(X), y, 3, 8) == expected
    assert explain_pair(table(X), y, "t3", np.int64(8)) == expected
    in_polars = explain_pair(pl.DataFrame(X, schema=list(table(X))), y, "t3", 8)
    assert in_polars.names == expected.names
    assert in_polars.f == pytest.approx(expected.f, rel=1e-12)
    for unnamed in (X, X.tolist(), pd.DataFrame(X)):
        said = explain_pair(unnamed, y, 3, 8)
        assert said.names == ("x3", "x8")
        assert said.f == pytest.approx(expected.f, rel=1e-12)
    said = explain_pair(table(X), y, "t9", "t2", noise="full")
    assert said.names == ("t9", "t2")
    assert said.correlation == pytest.approx(correlation(X[:, 9], X[:, 2]), rel=1e-10)
    assert said.variance_drop == pytest.approx(full_noise(X, y) / 99, rel=1e-10)


def test_names_that_are_numbers(data):
    """A name goes before a position: with wavelengths as names, 2 may be both."""
    X, y = data
    wavelengths = pd.DataFrame(X, columns=1550.5 + 0.5 * np.arange(12))
    said = explain_pair(wavelengths, y, 1552.0, 8)
    assert said.names == ("1552.0", "1554.5")
    assert said.f == pytest.approx(explain_pair(X, y, 3, 8).f, rel=1e-12)
    for a, b in [("1552.0", "1554.5"), (3, 8), (np.float64(1552), 1554.5)]:  # or as displayed
        assert explain_pair(wavelengths, y, a, b) == said
    message = r"no column 1552.25; did you mean 1552.0 or"
    assert_raises(message, explain_pair, wavelengths, y, 1552.25, 0)
    assert explain_pair(X, y, "x0", "x3") == explain_pair(X, y, 0, 3)
    backwards = pd.DataFrame(X, columns=range(11, -1, -1))
    assert explain_pair(backwards, y, 2, 0).names == ("2", "0")
    expected = pytest.approx(explain_pair(X, y, 9, 11).f, rel=1e-12)
    assert explain_pair(backwards, y, 2, 0).f == expected


@pytest.mark.parametrize("noise", ["pair", "full", 0.9])
def test_order_of_the_two_and_constant_columns(data, noise):
    X, y = data
    one, other = explain_pair(X, y, 0, 5, noise=noise), explain_pair(X, y, 5, 0, noise=noise)
    assert one.names == other.names[::-1]
    assert one.target_correlations == pytest.approx(other.target_correlations[::-1], rel=1e-12)
    for name in FIGURES:
        assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-10)
    X[:, 4] = 7.0
    for pair in [("t4", "t1"), ("t1", "t4")]:
        assert_raises("Column 't4' is constant", explain_pair, table(X), y, *pair, noise=noise)
    assert explain_pair(table(X), y, "t5", "t1", noise=noise).names == ("t5", "t1")


def test_page():
    page = explain_pair(*by_hand(1.0), "warm", "cold")._repr_html_()
    assert ">warm and cold stay apart</caption>" in page
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)[1::2]
    assert cells == [
        *("0.800", "0.960", "0.904", "0.645", "5.00"),
        "0.229 (3.33 % of the target&#x27;s variance)",
        "1.14 (16.7 % of the target&#x27;s variance)",
        "−0.914 (−13.3 % of the target&#x27;s variance)",
    ]
    assert "merge</caption>" in explain_pair(*by_hand(0.4), "warm", "cold")._repr_html_()


def test_page_escapes_names():
    X, y = by_hand(1.0)
    X.columns = ["<script>alert(1)</script>", "a & b"]
    page = explain_pair(X, y, 0, 1)._repr_html_()
    assert "<script>" not in page
    assert "a & b" not in page
    assert page.count("&lt;script&gt;") == 3
    X.columns = ["", "long " * 100]
    page = explain_pair(X, y, 0, 1)._repr_html_()
    rows = page[page.index("<table>") :]
    assert "correlation of &#x27;&#x27; with the target" in rows
    assert len(rows) < 2000


def test_wrong_columns(data):
    X, y = data
    for a, b, message in [
        ("t33", "t1", "no column 't33'; did you mean .*'t3'"),
        ("t1", "zzz", r"no column 'zzz'\.$"),
        (0, 12, "There is no column 12: X has 12, counted from 0"),
        (-1, 0, "There is no column -1"),
        (3, 3, "a and b are the same column, 3"),
        (3, "t3", "the same column"),
        (True, 0, "no column True"),
        (1.5, 0, "no column 1.5"),
    ]:
        assert_raises(message, explain_pair, table(X), y, a, b)
    assert_raises("X has no column names; give the position .* 't1'", explain_pair, X, y, 0, "t1")
    with pytest.raises(TypeError, match=r"lazy frame.*collect\(\)"):
        explain_pair(pl.DataFrame(table(X)).lazy(), y, "t1", "t2")
    twice = table(X).rename(columns={"t3": "t1"})
    assert_raises(r"repeats 't1' \(2 times\)", explain_pair, twice, y, "t1", "t2")
    assert_raises("by its name or its position", explain_pair, table(X), y, np.array([0, 1]), 1)


def test_bad_samples_parameters_and_values(data):
    X, y = data
    light = np.full(100, 0.03)
    assert_raises("minimum of 4 is required", explain_pair, X[:3], y[:3], 0, 1)
    assert_raises("adds up to 3 of them", explain_pair, X, y, 0, 1, sample_weight=light)
    assert_raises("more than 13 samples", explain_pair, X[:13], y[:13], 0, 1, noise="full")
    assert_raises("constant", explain_pair, X, np.ones(100), 0, 1)
    for name, value in {"tolerance": 0, "noise": "none", "min_correlation": 1.5}.items():
        assert_raises(f"{name} must be", explain_pair, X, y, 0, 1, **{name: value})
    expected = explain_pair(X, y, 1, 2)
    X[5, 4] = np.nan
    X[6, 7] = np.inf
    assert explain_pair(X, y, 1, 2) == expected
    assert_raises(r"NaN in column 't4' \(row 5\)", explain_pair, table(X), y, "t1", "t4")
    assert_raises(r"NaN in column 4 \(row 5\)", explain_pair, X, y, 4, 1)
    assert_raises("infinity in column 7", explain_pair, X, y, 1, 7)
