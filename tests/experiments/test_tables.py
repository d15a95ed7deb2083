"""Verdicts: when a figure of the paper counts as reproduced, and what is said when not."""

import math

import pytest

from experiments.estimates import Estimate
from experiments.outcomes import Outcome, fill
from experiments.published import with_difference
from experiments.tables import (
    BEYOND,
    DIFFERS,
    NOT_RUN,
    REPRODUCED,
    UNEXPLAINED,
    Table,
    compare,
    differences,
)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("beyond", "verdict"), [(-0.001, REPRODUCED), (0.001, DIFFERS)])
def test_agreement_ends_at_four_standard_deviations_and_half_a_digit(sign, beyond, verdict):
    """Of the difference: the spread of one run, and our own error, 3-4-5."""
    ours = Estimate(2.0, 1.959964 * 0.04, 0.03)
    printed = 2.0 + sign * (4 * 0.05 + 0.00005 + beyond)
    assert compare("q", "c", f"{printed:.4f}", ours).verdict == verdict


def test_without_chance_all_printed_digits_must_agree():
    assert compare("q", "c", "0.997217", Estimate(0.9972166)).verdict == REPRODUCED
    assert compare("q", "c", "0.997217", Estimate(0.9972164)).verdict == DIFFERS
    assert compare("q", "c", "14", Estimate(14)).verdict == REPRODUCED
    assert compare("q", "c", "14", Estimate(13)).verdict == DIFFERS
    assert compare("q", "c", "0.605", Estimate(0.6045)).verdict == REPRODUCED  # a tie


def test_what_is_known_exactly_is_judged_by_that():
    """Not by our simulation, whose own error then does not count either."""
    ours = Estimate(300.0, 100.0, 10.0)
    row = compare("q", "c", "372", ours, exact=332.0)
    assert (row.verdict, row.exact) == (REPRODUCED, 332.0)
    assert compare("q", "c", "373", ours, exact=332.0).verdict == DIFFERS
    assert compare("q", "c", "291", ours, exact=332.0).verdict == DIFFERS


def test_reasons_are_those_of_quantity_and_column():
    reasons = {("q", "c"): "a slip"}
    assert compare("q", "c", "1.0", Estimate(2.0), reasons=reasons).reason == "a slip"
    for quantity, column in (("q", "other"), ("other", "c")):
        row = compare(quantity, column, "1.0", Estimate(2.0), reasons=reasons)
        assert (row.verdict, row.reason) == (DIFFERS, UNEXPLAINED)
    assert compare("q", "c", "2.0", Estimate(2.0), reasons=reasons).reason == ""
    assert compare("q", "c", "1.0", Estimate(2.0)).reason == UNEXPLAINED


def test_rows_beyond_the_paper_and_rows_not_run():
    row = compare("q", "c", None, Estimate(2.0), Estimate(3.0), reasons={("q", "c"): "a slip"})
    assert (row.verdict, row.reason, row.paper) == (BEYOND, "", None)
    assert row.as_printed == Estimate(3.0)
    row = compare("q", "c", "1.0", None, reasons={("q", "c"): "a slip"})
    assert (row.verdict, row.reason) == (NOT_RUN, "")


@pytest.mark.parametrize(
    ("quantity", "paper", "digits"),
    [("R²", "0.825±6e-6", 3), ("d", "14", 1), ("d LinCFA", None, 1), ("MSE ridge", None, 3)],
)
def test_digits_to_show(quantity, paper, digits):
    assert compare(quantity, "c", paper, Estimate(1.0)).digits == digits


@pytest.fixture
def table():
    reasons = {("a", "x"): "a slip", ("b", "x"): "a slip", ("a", "y"): "a slip"}
    rows = [
        compare("a", "x", "1.0", Estimate(2.0), reasons=reasons),
        compare("b", "x", "1.0", Estimate(2.0), reasons=reasons),
        compare("c", "x", "1.0", Estimate(1.0)),
        compare("a", "y", "1.0", Estimate(2.0), reasons=reasons),
        compare("c", "y", "1.0", Estimate(2.0)),
        compare("d", "y", "1.0", None),
        compare("e", "y", None, Estimate(2.0)),
    ]
    return Table("name", "title", rows)


def test_columns_keep_their_order_and_verdicts_are_counted(table):
    assert table.columns() == ["x", "y"]
    assert table.counts() == {REPRODUCED: 1, DIFFERS: 4, NOT_RUN: 1, BEYOND: 1}


def test_differences_are_gathered_by_reason(table):
    assert differences(table) == [("x, y", "a, b", "a slip"), ("y", "c", UNEXPLAINED)]


def test_rows_of_a_column():
    ours = Outcome({"a": Estimate(1.0), "more": Estimate(5.0)}, {"a": 1.5})
    as_printed = Outcome({"a": Estimate(9.0)})
    rows = fill("x", {"a": "1.5", "missing": "2.0"}, ours, as_printed)
    assert [row.quantity for row in rows] == ["a", "missing", "more"]
    assert [row.verdict for row in rows] == [REPRODUCED, NOT_RUN, BEYOND]
    assert rows[0].exact == 1.5
    assert math.isnan(rows[2].exact)
    assert (rows[0].as_printed, rows[2].as_printed) == (Estimate(9.0), None)
    short = fill("x", {"a": "1.5"}, ours, as_printed, beyond=False)
    assert [row.quantity for row in short] == ["a"]


def test_difference_of_printed_errors_is_judged_but_not_counted():
    printed = with_difference({"MSE full": "0.275187±6.5e-5", "MSE merged": "0.295489±3.7e-5"})
    assert printed["MSE merged − full"] == "0.295489 − 0.275187"
    printed = with_difference({"MSE full": "103.021±0.027", "MSE merged": "102.977±0.018"})
    assert printed["MSE merged − full"] == "102.977 − 103.021"
    row = compare("q", "c", printed["MSE merged − full"], Estimate(-0.0445))
    assert row.verdict == REPRODUCED  # within the rounding of both
    assert Table("name", "title", [row]).counts()[REPRODUCED] == 0
