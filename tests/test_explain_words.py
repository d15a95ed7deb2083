"""What explain_pair says where the numbers are near each other, odd, or oddly named."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lincfa._model._words import apart, decimals, digits

from lincfa import explain_pair
from lincfa.datasets import make_correlated, make_spectra
from reference import draw

WAVELENGTHS = [900.0 + 0.5 * i for i in range(15)]


def test_numbers_that_decide_are_told_apart():
    """To three digits these would contradict the decision."""
    said = str(explain_pair(*make_correlated(80, 40, random_state=0), 17, 21))
    assert "stay apart" in said
    assert "1.6077 less" in said
    assert "1.6084 more" in said
    assert "F = 1.0004; up to 1 merges" in said
    X, y = make_spectra(80, 40, random_state=0)
    said = str(explain_pair(X, y, 1, 4, tolerance="unbiased"))
    assert "correlated by 0.99248" in said
    assert "it takes 0.99252" in said


def test_the_larger_of_two_limits_is_named():
    X, y = make_correlated(200, 30, random_state=0)
    pair = explain_pair(X, y, 0, 1, min_correlation=0.98)
    assert pair.threshold < 0.98
    assert "it takes 0.980" in str(pair)
    assert ">0.980</td>" in pair._repr_html_()
    allowed = explain_pair(X, y, 0, 4, min_correlation=0.95)
    assert "the smallest correlation allowed is 0.950" in str(allowed)
    assert ">0.950</td>" in allowed._repr_html_()


def test_a_loss_that_the_tolerance_allows_says_so():
    X, y = make_correlated(80, 40, random_state=0)
    said = str(explain_pair(X, y, 17, 21, tolerance=1.1))
    assert "raises the mean squared error" in said
    assert "of the target's variance, which a tolerance of 1.1 allows: " in said
    assert "allows" not in str(explain_pair(X, y, 17, 21))


@pytest.mark.parametrize(
    ("noise", "words"),
    [
        ("pair", "up to 1 merges)."),
        ("full", "up to 1 merges; noise from the regression on all features)."),
        (3.0, "up to 1 merges; noise as given)."),
    ],
)
def test_the_noise_is_named(noise, words):
    pair = explain_pair(*draw(0), 0, 1, noise=noise)
    assert str(pair).endswith(words)
    assert pair.noise == noise


def test_any_correlation():
    X, y = make_correlated(200, 30, random_state=0)
    assert ">any</td>" in explain_pair(X, y, 6, 11)._repr_html_()


# Columns


def test_columns_as_they_are_shown():
    """What the sentences and tables call a column can be asked for."""
    X, y = draw(0)
    frame = pd.DataFrame(X, columns=WAVELENGTHS)
    expected = explain_pair(frame, y, 900.0, 901.5)
    assert expected.names == ("900.0", "901.5")
    for a, b in [("900.0", "901.5"), (0, 3), (900, 901.5)]:
        assert explain_pair(frame, y, a, b) == expected
    assert explain_pair(X, y, "x0", "x3") == explain_pair(X, y, 0, 3)
    with pytest.raises(ValueError, match=r"no column 900.25; did you mean 900.0 or"):
        explain_pair(frame, y, 900.25, 0)


def test_tables_that_are_no_tables():
    X, y = draw(0)
    frame = pd.DataFrame(X, columns=list("abcdefghijklmno"))
    with pytest.raises(TypeError, match=r"lazy frame.*collect\(\)"):
        explain_pair(pl.DataFrame(frame).lazy(), y, "a", "b")
    with pytest.raises(ValueError, match=r"repeats 'a' \(2 times\)"):
        explain_pair(frame.rename(columns={"c": "a"}), y, "a", "b")
    with pytest.raises(ValueError, match="by its name or its position"):
        explain_pair(frame, y, np.array([0, 1]), 1)
    assert explain_pair(X.tolist(), y.tolist(), 0, 1) == explain_pair(X, y, 0, 1)


def test_long_and_empty_names_on_a_page():
    X, y = draw(0)
    frame = pd.DataFrame(X[:, :2], columns=["", "long " * 100])
    page = explain_pair(frame, y, 0, 1)._repr_html_()
    table = page[page.index("<table>") :]
    assert "correlation of &#x27;&#x27; with the target" in table
    assert len(table) < 2000


# Numbers


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
    assert apart(digits, 1.0, 1.0) == ("1.00", "1.00")
    assert apart(digits, 1.0, 1.0 + 1e-12) == ("1.000000000000", "1.000000000001")
