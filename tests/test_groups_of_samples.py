"""Samples that belong together are held out together; rows of X, y and weights are the same."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    train_test_split,
)

from lincfa import (
    LinCFA,
    LinCFAClassifierCV,
    LinCFACV,
    compare,
    explain_pair,
    order_sensitivity,
    stability,
)
from lincfa.diagnostics import _compare
from lincfa.report._findings import collect_findings
from lincfa.timeseries import BlockKFold
from reference import assert_raises

QUICK = {"tolerances": [1.0], "min_correlations": [None], "penalties": [1e-3]}
N = 60


@pytest.fixture(scope="module")
def samples():
    """Sixty samples of ten batches, in any order, and a target."""
    rng = np.random.default_rng(3)
    batch = rng.permutation(np.repeat(np.arange(10), 6))
    factors = rng.normal(size=(10, 2))[batch] + rng.normal(size=(N, 2))
    X = np.repeat(factors, 3, axis=1) + 0.3 * rng.normal(size=(N, 6))
    return X, factors @ [1.0, -1.0] + rng.normal(size=N), batch


# Groups


def test_searches_hold_out_whole_groups(samples):
    """The scores are those of a GroupKFold, in five parts or as many as there are groups."""
    X, y, batch = samples
    names = np.array([f"batch {k}" for k in "abcdefghij"])[batch]
    model = LinCFACV(**QUICK).fit(X, y, groups=names)
    own = GroupKFold(5, shuffle=True, random_state=0)
    same = LinCFACV(**QUICK, cv=own).fit(X, y, groups=batch)
    np.testing.assert_equal(model.cv_results_, same.cv_results_)
    assert "5 parts of samples that belong together, held out in turn" in str(model.summary())
    assert LinCFACV(**QUICK).fit(X, y, groups=batch % 3).cv_.n_splits == 3
    assert LinCFACV(**QUICK, cv=4).fit(X, y, groups=batch).cv_.n_splits == 4
    assert isinstance(LinCFACV(**QUICK, cv=4).fit(X, y).cv_, KFold)
    # Samples without weight do not count as groups.
    weights = np.where(batch < 3, 1.0, 0.0)
    weighted = LinCFACV(**QUICK).fit(X, y, groups=batch, sample_weight=weights)
    assert weighted.cv_.n_splits == 3


def test_searches_of_classes_hold_out_whole_groups(samples):
    X, y, batch = samples
    quick = {name: QUICK[name] for name in ("tolerances", "penalties")}
    model = LinCFAClassifierCV(**quick).fit(X, y > 0, groups=batch)
    assert isinstance(model.cv_, StratifiedGroupKFold)
    only = np.where(batch == 4, "rare", np.where(y > 0, "high", "low"))
    message = "class 'rare' is left to learn from when whole groups of"
    assert_raises(message, LinCFAClassifierCV(**quick).fit, X, only, groups=batch)


def test_groups_that_are_dates_are_held_out_in_blocks(samples):
    X, y, batch = samples
    dates = np.datetime64("2000-01") + batch
    found = LinCFACV(**QUICK).fit(X, y, groups=dates)
    assert isinstance(found.cv_, BlockKFold)
    blocks = LinCFACV(**QUICK, cv=BlockKFold(5, n_repeats=2)).fit(X, y, groups=batch)
    np.testing.assert_equal(found.cv_results_, blocks.cv_results_)
    assert LinCFACV(**QUICK, cv=3).fit(X, y, groups=dates).cv_.n_splits == 3


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (lambda batch: batch[1:], "one label for each of 60 samples, got 59"),
        (lambda batch: batch.reshape(6, 10), r"got an array of shape \(6, 10\)"),
        (lambda batch: np.zeros(N), "belong to 1 group, too few for 2 folds"),
        (
            lambda batch: [None if k == 4 else f"b{k}" for k in batch],
            "groups lacks the label of 6 of 60 samples, first at row",
        ),
        (lambda batch: [k if k else "zero" for k in batch.tolist()], "labels of one type"),
    ],
)
def test_groups_that_cannot_be(samples, groups, message):
    X, y, batch = samples
    wrong = groups(batch)
    if isinstance(wrong, list):
        wrong = np.array(wrong, dtype=object)
    assert_raises(message, LinCFACV(**QUICK).fit, X, y, groups=wrong)
    if "1 group" not in message:
        assert_raises(message, compare, X, y, methods=["ridge"], groups=wrong)


def test_more_folds_than_groups(samples):
    X, y, batch = samples
    message = "belong to 10 groups, too few for 12 folds of whole groups"
    assert_raises(message, LinCFACV(**QUICK, cv=12).fit, X, y, groups=batch)
    assert_raises(message, compare, X, y, cv=12, groups=batch)
    few = "samples of one group only are left to learn from: at least 3 groups are needed"
    assert_raises(few, compare, X, y, methods=["ridge"], cv=2, groups=batch % 2)
    assert_raises(message, LinCFACV(**QUICK, cv=GroupKFold(12)).fit, X, y, groups=batch)
    assert_raises(r"cv=GroupKFold\(.*needs groups", LinCFACV(cv=GroupKFold()).fit, X, y)


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize("classes", [False, True])
def test_comparison_holds_out_whole_groups(samples, monkeypatch, dated, classes):
    """So do the folds by which the methods choose, also where the samples have dates."""
    X, y, batch = samples
    planned = []

    def watch(name, values, outcome, fold, part):
        planned.append((fold, part.folds))
        return score(name, values, outcome, fold, part)

    score = _compare._score
    monkeypatch.setattr(_compare, "_score", watch)
    index = pd.date_range("2000", periods=N) if dated else None
    methods = ["logistic regression"] if classes else ["ridge"]
    target = np.where(y > np.median(y), "p", "q") if classes else y
    found = compare(pd.DataFrame(X, index), target, methods=methods, groups=batch)
    assert not found.ordered
    assert "Folds: 5 parts of samples that belong together, held out in turn" in str(found)
    assert len(planned) == 5  # not repeated
    for (train, test), inner in planned:
        assert not {*batch[train]} & {*batch[test]}
        assert len(inner) == 5
        for learned, scored in inner:
            assert not {*batch[train][learned]} & {*batch[train][scored]}


@pytest.mark.parametrize("cv", [None, LeaveOneGroupOut()])
def test_a_report_says_that_rivals_were_tuned_on_other_folds(samples, cv):
    """A report has no groups, unless the command line gives them."""
    X, y, batch = samples
    model = LinCFACV(**QUICK, cv=cv).fit(X[:40], y[:40], groups=batch[:40])
    given = {"X": X[:40], "y": y[:40], "X_test": X[40:], "y_test": y[40:]}
    without = collect_findings(model, **given).scores
    known = collect_findings(model, **given, groups=(batch[:40], batch[40:])).scores
    words = "5 parts of samples that belong together, held out in turn"
    instead = r"\(shuffled folds, as others were not possible: cv=.* needs groups"
    assert re.search(instead, without.how)
    assert words not in without.how
    assert "not possible" not in known.how
    assert (words in known.how) == (cv is None)
    one = collect_findings(LinCFA().fit(X[:40], y[:40]), **given, groups=(np.zeros(40), batch[40:]))
    instead = r"\(shuffled folds, as others were not possible: The samples belong to 1 group"
    assert re.search(instead, one.scores.how)
    plain = collect_findings(LinCFACV(**QUICK).fit(X[:40], y[:40]), **given).scores
    ridge, same = (
        next(row for row in each.rows if row.method == "ridge regression")
        for each in (without, plain)
    )
    assert ridge.r2 == same.r2


# Rows


def frames(samples):
    X, y, batch = samples
    labels = [f"s{k}" for k in range(N)]
    return pd.DataFrame(X, labels).add_prefix("t"), pd.Series(y, labels), pd.Series(batch, labels)


ORDER = np.random.default_rng(0).permutation(N)
PERMUTED = (
    r"y have the same labels in another order than .* row 0 is '?s?{}'? in y and '?s?0'? in X"
)


def uses(X, y):
    """Everything that takes a target."""
    fitted = LinCFACV(**QUICK).fit(X.to_numpy(), y.to_numpy())
    named = LinCFACV(**QUICK).fit(X, y.to_numpy())
    return {
        "LinCFA": lambda y: LinCFA().fit(X, y),
        "partial_fit": lambda y: LinCFA().partial_fit(X, y),
        "LinCFACV": lambda y: LinCFACV(**QUICK).fit(X, y),
        "classes": lambda y: LinCFAClassifierCV().fit(X, y > 0),
        "stability": lambda y: stability(X, y, 2),
        "order_sensitivity": lambda y: order_sensitivity(X, y, 2),
        "compare": lambda y: compare(X, y, methods=["ridge"]),
        "explain_pair": lambda y: explain_pair(X, y, "t0", "t1"),
        "score": lambda y: named.score(X, y),
        "report": lambda y: named.report(None, X=X, y=y),
        "frame": lambda y: LinCFA().fit(X, y.to_frame().assign(other=y**2)),
        "unlabelled": lambda y: fitted.score(X.to_numpy(), y),
    }


def test_a_target_in_another_order_is_refused_everywhere(samples):
    X, y, _ = frames(samples)
    shuffled = y.iloc[ORDER]
    for name, use in uses(X, y).items():
        if name != "unlabelled":
            assert_raises(PERMUTED.format(ORDER[0]), use, shuffled)
            assert_raises(r"y.loc\[X.index\] has the order of X; .* y.to_numpy\(\)", use, shuffled)
    LinCFA().fit(X, shuffled.loc[X.index])
    uses(X, y)["unlabelled"](shuffled)
    counted = X.reset_index(drop=True), y.reset_index(drop=True)
    assert_raises(PERMUTED.format(ORDER[0]), LinCFA().fit, counted[0], counted[1].iloc[ORDER])


def test_weights_and_groups_in_another_order(samples):
    X, y, batch = frames(samples)
    weights = pd.Series(np.arange(1.0, N + 1), X.index).iloc[ORDER]
    assert_raises("The rows of sample_weight have", LinCFA().fit, X, y, sample_weight=weights)
    assert_raises("The rows of groups have", LinCFACV(**QUICK).fit, X, y, groups=batch.iloc[ORDER])
    assert_raises("The rows of groups have", compare, X, y, groups=batch.iloc[ORDER])
    model = LinCFACV(**QUICK).fit(X, y)
    assert_raises("The rows of sample_weight have", model.score, X, y, sample_weight=weights)


def test_other_labels_are_refused_and_numbers_of_rows_are_no_labels(samples):
    X, y, _ = frames(samples)
    others = y.rename(lambda label: f"x{label}")
    assert_raises("have other labels than .* select the same rows", LinCFA().fit, X, others)
    expected = LinCFA().fit(X, y).labels_
    counted = y.reset_index(drop=True)
    for pair in [
        (X, counted),
        (X.reset_index(drop=True), y),
        (X, pl.Series(y.to_numpy())),
        (X.set_axis([0, 1] * 30), y.set_axis([0, 1] * 30)),  # repeated, but the same
        (X.set_axis(range(100, 160)), counted),
        (X.set_axis(np.arange(N, dtype=float)), counted),
    ]:
        np.testing.assert_array_equal(LinCFA().fit(*pair).labels_, expected)
    repeated = X.set_axis([0, 1] * 30), y.set_axis([1, 0] * 30)
    assert_raises("other labels than .* row 0 is 1 in y and 0 in X", LinCFA().fit, *repeated)
    short = "X and y have inconsistent numbers of samples: 60 and 59"
    assert_raises(short, LinCFA().fit, X, y[:-1])


def test_parts_of_a_split_pass(samples):
    X, y, _ = frames(samples)
    X, y = X.reset_index(drop=True), y.reset_index(drop=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    LinCFACV(**QUICK).fit(X_train, y_train).score(X_test, y_test)


def test_dates_are_compared_as_dates(samples):
    X, y, _ = frames(samples)
    months = pd.date_range("2000", periods=N, freq="MS")
    X.index = months
    for same in (months.to_period("M"), months.tz_localize("UTC"), months.astype(object)):
        LinCFA().fit(X, y.set_axis(same))
    later = y.set_axis(months + pd.DateOffset(months=1))
    message = "other labels than .* row 0 is 2000-02-01 00:00:00 in y and 2000-01-01 00:00:00 in X"
    assert_raises(message, LinCFA().fit, X, later)
    assert_raises("in another order", LinCFACV(**QUICK).fit, X, y.set_axis(months[::-1]))


def test_labels_of_any_type(samples):
    """Equal labels are accepted whatever their types, and others refused with a message."""
    X, y, _ = frames(samples)
    text = [None if k == 3 else f"s{k}" for k in range(N)]
    pairs = pd.MultiIndex.from_arrays([np.arange(N) // 4, np.arange(N) % 4])
    for ours, theirs in (
        (pd.Index(range(N), dtype="Int64"), pd.RangeIndex(N)),
        (pd.Index(text, dtype="string"), pd.Index(text, dtype=object)),
        (pairs, pd.RangeIndex(N)),
        (pairs, pd.Index(pairs.tolist(), tupleize_cols=False)),
    ):
        LinCFA().fit(X.set_axis(ours), y.set_axis(theirs))
        LinCFA().fit(X.set_axis(theirs), y.set_axis(ours))
        if ours is not pairs:
            assert_raises(
                "in another order", LinCFA().fit, X.set_axis(ours), y.set_axis(theirs[::-1])
            )
    assert_raises("other labels", LinCFA().fit, X.set_axis(pairs), y.set_axis(pairs.droplevel(1)))
