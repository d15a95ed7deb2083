"""``lincfa explain`` and ``lincfa compare`` say what the functions of the library give."""

import json
import re
import sys
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score

import lincfa
from lincfa import compare, explain_pair
from lincfa.cli import _compare
from lincfa.diagnostics._compare import CLASSIFIERS, METHODS

pl = pytest.importorskip("polars")


@pytest.fixture(scope="module")
def frame(samples, columns):
    return pl.DataFrame(samples.X, schema=samples.names)


def words(frame, y, rows, **parameters):
    told = explain_pair(frame[rows], y[rows], "a1", "a2", **parameters)
    return f"{told} This is from {len(rows)} rows.\n"


def learned_from(n=60, held_out=18, seed=0):
    return np.sort(np.random.default_rng(seed).permutation(n)[: n - held_out])


def test_explain_in_words(run, data, frame, samples, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # colours or not, a pipe is no terminal
    result = run("explain", data, "--target", "y", "a1", "a2")
    assert (result.code, result.err) == (0, "")
    assert result.out == words(frame, samples.y, learned_from())


@pytest.mark.parametrize(
    ("options", "rows"),
    [
        (["--test", 0], np.arange(60)),
        (["--seed", 3], learned_from(seed=3)),
        (["--folds", "blocks", "--test", 0.5], np.arange(30)),
    ],
)
def test_explain_on_the_rows_that_reduce_learns_from(done, data, frame, samples, options, rows):
    result = done("explain", data, "--target", "y", "a1", "a2", *options)
    assert result.out == words(frame, samples.y, rows)


def test_explain_agrees_with_the_report(done, data):
    """The decision in the report's evidence is the one that is explained, with its figures."""
    done("reduce", data, "--target", "y", "--keep", "id", "--no-report", "--tolerance", 1)
    evidence = lincfa.load("model.json").evidence_frame("polars").row(0, named=True)
    pair = evidence["partner"], evidence["feature"]
    told = json.loads(done("explain", data, "--target", "y", *pair, "--json").out)
    assert told["merges"]
    assert told["f"] == pytest.approx(evidence["f"])
    assert told["threshold"] == pytest.approx(evidence["threshold"])


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("", {}),
        ("--tolerance 0.01", {"tolerance": 0.01}),
        ("--tolerance unbiased", {"tolerance": "unbiased"}),
        ("--min-correlation 0.99", {"min_correlation": 0.99}),
        ("--noise 2.5", {"noise": 2.5}),
        ("--signed --min-correlation 0", {"signed": True, "min_correlation": 0.0}),
        ("--noise full --drop id", {"noise": "full"}),
    ],
)
def test_explain_for_programs(done, data, frame, samples, options, parameters):
    told = json.loads(
        done(
            "explain", data, "--target", "y", "b1", "a2", *options.split(), "--json", "--test", 0
        ).out
    )
    explanation = explain_pair(frame, samples.y, "b1", "a2", **parameters)
    assert told.pop("words") == str(explanation)
    told.pop("notes")
    expected = json.loads(json.dumps(asdict(explanation)))
    assert told.pop("names") == expected.pop("names") == ["b1", "a2"]
    assert told.pop("noise") == expected.pop("noise")
    assert told.pop("weights") == expected.pop("weights") == [1, 1]
    assert told.pop("targets") == expected.pop("targets") == ["y"]
    correlations = expected.pop("target_correlations")
    assert told.pop("target_correlations") == pytest.approx(correlations)
    assert told == pytest.approx(expected)


def test_explain_needs_values_of_the_two_and_the_target(done, fails, save, columns, frame, samples):
    holes = {
        "a1": [*columns["a1"][:40], "", *columns["a1"][41:]],
        "b3": ["", *columns["b3"][1:]],
        "y": [columns["y"][0], "NA", *columns["y"][2:]],
    }
    options = ["explain", save(columns | holes), "--target", "y", "a1", "a2"]
    present = np.delete(np.arange(60), 1)
    result = done(*options, "--test", 0)
    assert result.out == words(frame, samples.y, np.delete(present, 39))
    assert result.err.splitlines() == [
        "note: 1 of 60 rows has no target and is left out",
        "note: 1 of 59 rows left out: 'a1' or 'a2' has no value there",
    ]
    # Those that reduce --missing pairwise learns from, where both are present.
    train = np.sort(np.random.default_rng(4).permutation(present)[:41])
    assert 40 in train
    result = done(*options, "--seed", 4)
    assert result.out == words(frame, samples.y, train[train != 40])
    result = done(*options, "--test", 0, "--missing", "drop")
    assert result.out == words(frame, samples.y, np.setdiff1d(present, [0, 40]))
    message = fails(*options, "--missing", "error")
    assert "missing values in column 'a1' (1), in 1 of 60" in message
    assert message.endswith(
        "--missing drop leaves out rows that lack any feature, --missing pairwise leaves out only "
        "those that lack one of the two, or impute them first"
    )
    message = fails(*options, "--noise", "full", "--drop", "id")
    assert (
        "missing values in columns 'a1' (1), 'b3' (1), in 2 of 60 rows (first in row 1)" in message
    )
    assert "pairwise" not in message
    done(*options, "--noise", "full", "--drop", "id", "--missing", "drop")


def test_two_features_that_are_hardly_ever_present_together(fails, save, columns):
    holes = {"a1": ["", *columns["a1"][1:31], *[""] * 29], "a2": [*[""] * 28, *columns["a2"][28:]]}
    message = fails("explain", save(columns | holes), "--target", "y", "a1", "a2", "--test", 0)
    told = (
        "'a1' and 'a2' both have a value in 3 of the 60 rows to learn from; at least 4 are needed"
    )
    assert message == f"data.csv: {told}"


def test_explain_quietly(done, data):
    result = done("explain", data, "--target", "y", "a1", "a2", "--quiet")
    assert (result.out, result.err) == ("", "")


@pytest.mark.parametrize("noise", ["pair", "full"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("a1 wor", "data.csv has no column 'wor'; did you mean 'word'?"),
        ("a1 a*", "data.csv has no column 'a*'"),
        ("a1 word", "data.csv: column 'word' is not numeric (row 1: 'é'"),
        ("a1 a2 --drop a?", "column 'a1' is to be explained and cannot be dropped"),
        ("a1 a2 --drop nothing", "data.csv has no column 'nothing'"),
    ],
)
def test_explain_columns_that_cannot_be(fails, data, noise, options, message):
    options = [*options.split(), "--noise", noise]
    assert fails("explain", data, "--target", "y", *options).startswith(message)


def test_explain_a_constant_feature(fails, save, columns):
    data = save(columns | {"flat": ["1"] * 60})
    message = fails("explain", data, "--target", "y", "a1", "flat")
    assert message.startswith("data.csv: ")
    assert "flat" in message


def test_compare(run, data, frame, samples):
    methods = ["all features", "LinCFA"]
    given = [word for name in methods for word in ("--method", name)]
    result = run("compare", data, "--target", "y", "--drop", "id", "--n-folds", 3, *given)
    assert result.code == 0, result.err
    assert result.err == "note: not numeric, left out: columns 'word', 'day'\n"
    expected = compare(frame, samples.y, methods=methods, cv=3, n_repeats=3, verbose=False)
    for method in expected.to_dict()["methods"]:
        (line,) = re.findall(rf"^{method['method']}  .*", result.out, re.MULTILINE)
        assert f" {method['r2']:.3f}" in line


def test_compare_with_all_methods_by_default(done, data, planned, monkeypatch):
    monkeypatch.setattr("lincfa.diagnostics._compare.find_spec", lambda name: True)
    done("compare", data, "--target", "y", "--drop", "id")
    assert {task.name for task in planned} == {*METHODS}
    assert len(planned) == 15 * len(METHODS)


@pytest.mark.parametrize(
    ("options", "folds"),
    [
        ("--n-folds 4 --repeats 1 --seed 2", KFold(4, shuffle=True, random_state=None)),
        ("--folds blocks --n-folds 3", KFold(3)),
    ],
)
def test_compare_for_programs(done, data, frame, samples, options, folds):
    methods = ["--method", "all features", "--method", "LinCFA", "--drop", "id", "--json"]
    told = json.loads(done("compare", data, "--target", "y", *methods, *options.split()).out)
    assert told["notes"][0] == "not numeric, left out: columns 'word', 'day'"
    words = "Folds: 3 blocks of samples consecutive in time, held out in turn; the methods chose by"
    assert told["notes"][1:] == [f"{words} such blocks of the rest."] * told["ordered"]
    full, lincfa = told["methods"]
    assert [full["method"], lincfa["method"]] == ["all features", "LinCFA"]
    assert len(full["folds"]["r2"]) == folds.n_splits
    if told["ordered"]:
        scores = cross_val_score(LinearRegression(), samples.X, samples.y, cv=folds)
        assert np.allclose(full["folds"]["r2"], scores)
    expected = compare(
        frame,
        samples.y,
        methods=["all features", "LinCFA"],
        cv=folds.n_splits,
        n_repeats=1,
        ordered="blocks" in options,
        random_state=2 if "seed" in options else 0,
        verbose=False,
    ).to_dict()
    for got, wanted in zip(told["methods"], expected["methods"], strict=True):
        for name in ("r2", "r2_se", "rmse", "n_features", "difference"):
            assert got[name] == pytest.approx(wanted[name])


def test_compare_with_a_package_that_is_missing(fails, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "sortedl1", None)
    message = fails("compare", data, "--target", "y", "--drop", "id", "--method", "SLOPE")
    assert message == "SLOPE needs sortedl1: pip install sortedl1"


def test_compare_quietly(done, data):
    options = ["--method", "all features", "--n-folds", 2, "--repeats", 1, "--quiet"]
    result = done("compare", data, "--target", "y", *options)
    assert (result.out, result.err) == ("", "")


def test_compare_with_more_folds_than_rows(fails, save, columns):
    data = save({name: values[:8] for name, values in columns.items()})
    assert fails("compare", data, "--target", "y", "--n-folds", 9).startswith("data.csv: ")


def test_methods_named_in_the_help_are_those_of_the_library():
    assert tuple(METHODS) == _compare.METHODS
    assert tuple(CLASSIFIERS) == _compare.CLASSIFIERS
