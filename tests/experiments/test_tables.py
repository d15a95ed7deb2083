"""Verdicts: when a number of the paper counts as reproduced, and what is said when not."""

import pytest

from experiments.published import with_difference
from experiments.simulation import Estimate
from experiments.tables import (
    BEYOND,
    DIFFERS,
    NOT_RUN,
    REPRODUCED,
    UNEXPLAINED,
    Claim,
    Printed,
    Table,
    check_claims,
    judge,
    judge_column,
)


@pytest.mark.parametrize(
    ("text", "value", "digits", "rounding"),
    [
        ("0.997217", 0.997217, 6, 5e-7),
        ("-25.675559", -25.675559, 6, 5e-7),
        ("500", 500, 0, 0.5),
        ("0.919045±1.78e-4", 0.919045, 6, 5e-7),
        ("0.825±6e-6", 0.825, 3, 5e-4),
        ("0.295489 − 0.275187", 0.020302, 6, 1e-6),  # both terms are rounded
        ("102.977 − 103.021", -0.044, 3, 1e-3),
    ],
)
def test_printed_numbers_are_read(text, value, digits, rounding):
    printed = Printed(text)
    assert (printed.value, printed.digits) == (value, digits)
    assert printed.rounding == pytest.approx(rounding)


@pytest.mark.parametrize("text", ["1e-3", "about 3", "1."])
def test_what_is_not_a_plain_number_has_no_digits(text):
    with pytest.raises(AssertionError, match=text):
        _ = Printed(text).digits


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("beyond", "verdict"), [(-0.001, REPRODUCED), (0.001, DIFFERS)])
def test_agreement_ends_at_four_standard_deviations_and_half_a_digit(sign, beyond, verdict):
    """Of the difference: the spread of one run, and our own error, 3-4-5."""
    ours = Estimate(2.0, 1.959964 * 0.04, 0.03)
    printed = 2.0 + sign * (4 * 0.05 + 0.00005 + beyond)
    assert judge("q", "c", f"{printed:.4f}", ours).verdict == verdict


@pytest.mark.parametrize(
    ("printed", "ours", "verdict"),
    [
        # Without chance all printed digits must agree.
        ("0.997217", Estimate(0.9972166), REPRODUCED),
        ("0.997217", Estimate(0.9972164), DIFFERS),
        ("14", Estimate(14), REPRODUCED),
        ("14", Estimate(13), DIFFERS),
        ("0.605", Estimate(0.6045), REPRODUCED),  # a tie
        ("102.977 − 103.021", Estimate(-0.0445), REPRODUCED),  # within the rounding of both
        # A known expectation decides, not our simulation, whose own error does not count either.
        ("372", Estimate(300.0, 100.0, 10.0, 332.0), REPRODUCED),
        ("373", Estimate(300.0, 100.0, 10.0, 332.0), DIFFERS),
        ("291", Estimate(300.0, 100.0, 10.0, 332.0), DIFFERS),
        (None, Estimate(2.0), BEYOND),
        ("1.0", None, NOT_RUN),
    ],
)
def test_verdicts(printed, ours, verdict):
    row = judge("q", "c", printed, ours, Estimate(3.0), {("q", "c"): "a slip"})
    assert (row.verdict, row.ours, row.by_text) == (verdict, ours, Estimate(3.0))
    assert row.reason == ("a slip" if verdict == DIFFERS else "")


def test_reasons_are_those_of_quantity_and_column():
    for quantity, column in (("q", "other"), ("other", "c")):
        row = judge(quantity, column, "1.0", Estimate(2.0), reasons={("q", "c"): "a slip"})
        assert (row.verdict, row.reason) == (DIFFERS, UNEXPLAINED)
    assert judge("q", "c", "1.0", Estimate(2.0)).reason == UNEXPLAINED


@pytest.mark.parametrize(
    ("quantity", "paper", "digits"),
    [("R²", "0.825±6e-6", 3), ("d", "14", 1), ("d LinCFA", None, 1), ("MSE ridge", None, 3)],
)
def test_digits_to_show(quantity, paper, digits):
    assert judge(quantity, "c", paper, Estimate(1.0)).digits == digits


def test_summary_of_a_table():
    """Counts of verdicts, without differences of printed numbers; differences by reason."""
    reasons = dict.fromkeys([("a", "x"), ("b", "x"), ("a", "y")], "a slip")
    numbers = [
        ("a", "x", "1.0", 2.0),
        ("b", "x", "1.0", 2.0),
        ("c", "x", "1.0", 1.0),
        ("difference", "x", "3.0 − 2.0", 1.0),
        ("a", "y", "1.0", 2.0),
        ("c", "y", "1.0", 2.0),
        ("e", "y", None, 2.0),
    ]
    rows = [judge(*row, Estimate(value), reasons=reasons) for *row, value in numbers]
    claims = [Claim("s", held, True, "") for held in (True, False)]
    table = Table("name", "title", [*rows, judge("d", "y", "1.0", None)], claims=claims)
    assert table.columns() == ["x", "y"]
    assert table.counts() == {REPRODUCED: 1, DIFFERS: 4, NOT_RUN: 1, BEYOND: 1}
    assert table.differences() == [("x, y", "a, b", "a slip"), ("y", "c", UNEXPLAINED)]
    assert table.claims_that_hold() == "1 of 2"
    assert Table("name", "title", rows).claims_that_hold() == ""


def test_rows_of_a_column():
    ours = {"a": Estimate(1.0, expectation=1.5), "more": Estimate(5.0)}
    rows = judge_column("x", {"a": "1.5", "missing": "2.0"}, ours, {"a": Estimate(9.0)})
    assert [row.quantity for row in rows] == ["a", "missing", "more"]
    assert [row.verdict for row in rows] == [REPRODUCED, NOT_RUN, BEYOND]
    assert (rows[0].by_text, rows[2].by_text) == (Estimate(9.0), None)
    short = judge_column("x", {"a": "1.5"}, ours, {}, beyond=False)
    assert [row.quantity for row in short] == ["a"]


def test_claims_are_checked_with_both_settings():
    checks = {"it is small": lambda x: (x < 3, f"x = {x}")}
    assert check_claims(checks, 2, 2) == [Claim("it is small", True, True, "x = 2")]
    detail = "x = 2; settings of the text: x = 4"
    assert check_claims(checks, 2, 4) == [Claim("it is small", True, False, detail)]


def test_difference_of_the_printed_errors():
    printed = {"MSE full": "103.021±0.027", "MSE merged": "102.977±0.018"}
    assert with_difference(printed) == {**printed, "MSE merged − full": "102.977 − 103.021"}
