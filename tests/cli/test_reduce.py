"""``lincfa reduce`` does what LinCFA does on the same rows, and writes all of it."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, root_mean_squared_error

import lincfa
from lincfa import LinCFA, LinCFACV
from lincfa.report._findings import settings_of
from lincfa.timeseries import BlockKFold

pl = pytest.importorskip("polars")

_BY_DEFAULT = "the default for a table of this size; --tolerance 1 is the paper's rule"


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def numbers(path, names):
    """Give columns of a CSV as an array."""
    header, rows = rows_of(path)
    return np.array([[float(row[header.index(name)]) for name in names] for row in rows])


def frame(samples, rows=slice(None)):
    return pl.DataFrame(samples.X[rows], schema=samples.names)


def random_split(n, held_out, seed):
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[: n - held_out]), np.sort(order[n - held_out :])


def check_reduced(model, samples, path="data-reduced.csv"):
    """Assert that the table's reduced features are those of a model."""
    names = list(model.get_feature_names_out())
    header, _ = rows_of(path)
    assert header[-len(names) :] == names
    assert np.allclose(numbers(path, names), model.transform(frame(samples)), rtol=1e-12)


def test_files_written_and_no_progress_in_a_pipe(run, data, files, samples, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("reduce", data, "--target", "y", "--keep", "id", "--tolerance", 1)
    assert result.code == 0, result.err
    assert files() == ["data-reduced.csv", "data.csv", "model.json", "report.html"]
    train, test = random_split(60, 18, seed=0)
    model = LinCFA().fit(frame(samples, train), samples.y[train])
    assert 1 < model.n_groups_ < 6
    check_reduced(model, samples)
    loaded = lincfa.load("model.json")
    assert loaded.groups_by_name() == model.groups_by_name()
    assert np.array_equal(loaded.transform(frame(samples)), model.transform(frame(samples)))
    page = Path("report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "lincfa reduce data.csv --target y --keep id --tolerance 1" in page
    assert result.err == "note: not numeric, kept unchanged: columns 'word', 'day'\n"
    assert result.out.startswith(str(model.summary().headline))
    r2 = (
        LinearRegression()
        .fit(samples.X[train], samples.y[train])
        .score(samples.X[test], samples.y[test])
    )
    told = result.out.split("R² on 18 held-out rows:\n")[1]
    (line,) = (line for line in told.splitlines() if "least squares on all features (6)" in line)
    assert line.startswith(f"  {r2:.3f} (")
    r2 = loaded.score(frame(samples, test), samples.y[test])
    assert told.splitlines()[0].startswith(f"  {r2:.3f} (")
    assert result.out.endswith("output: data-reduced.csv\nmodel: model.json\nreport: report.html\n")


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("--tolerance 1", {}),
        ("--tolerance 0.2", {"tolerance": 0.2}),
        ("--tolerance unbiased", {"tolerance": "unbiased"}),
        ("--tolerance 1 --strategy centroid", {"strategy": "centroid"}),
        ("--strategy joint --tolerance 0.3", {"strategy": "joint", "tolerance": 0.3}),
        ("--n-groups 4", {"strategy": "agglomerative", "n_groups": 4}),
        ("--strategy joint --n-groups 3", {"strategy": "joint", "n_groups": 3}),
        ("--tolerance 1 --min-correlation 0.93", {"min_correlation": 0.93}),
        ("--tolerance 1 --noise full", {"noise": "full"}),
        ("--tolerance 1 --noise 0.01", {"noise": 0.01}),
        ("--tolerance 1 --units original", {"units": "original"}),
    ],
)
def test_options_are_the_parameters(done, data, samples, options, parameters):
    done(
        "reduce",
        data,
        "--target",
        "y",
        "--keep",
        "id",
        "--test",
        0,
        "--no-report",
        *options.split(),
    )
    model = LinCFA(**parameters).fit(frame(samples), samples.y)
    check_reduced(model, samples)
    assert lincfa.load("model.json").reducer_.get_params() == model.get_params()


@pytest.mark.parametrize("asked", ["", "--tolerance cv"])
@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("", {}),
        ("--folds blocks --gap 2", {"cv": BlockKFold(5, gap=2, n_repeats=2)}),
        ("--min-correlation 0.93 --noise 0.5", {"min_correlations": (0.93,), "noise": 0.5}),
    ],
)
def test_choice_by_cross_validation(done, data, samples, asked, options, parameters):
    """As asked for, and by default, where it is quick."""
    given = ["--target", "y", "--keep", "id", "--test", 0, "--no-report", *asked.split()]
    told = json.loads(done("reduce", data, *given, *options.split(), "--json").out)
    model = LinCFACV(**parameters).fit(frame(samples), samples.y)
    check_reduced(model.reducer_, samples)
    assert told["settings"] == settings_of(model)
    reason = "as --tolerance cv asks" if asked else _BY_DEFAULT
    assert told["choice"] == {"by": "cross-validation", "reason": reason}
    assert told["data"]["merged"] == f"by cross-validation, {reason}"
    said = done("reduce", data, *given, *options.split(), "--force").out
    words = next(line for line in str(model.summary()).splitlines() if line.startswith("chosen by"))
    assert said.startswith(f"merged by cross-validation, {reason}\n{words}\n")


def test_paper_s_rule_where_a_choice_takes_long(monkeypatch, done, data, samples):
    monkeypatch.setattr("lincfa.cli._reduce._LONGEST", 1e-3)
    result = done("reduce", data, "--target", "y", "--keep", "id", "--test", 0)
    why = "because cross-validation would take about 2 minutes; --tolerance cv chooses anyway"
    assert f"note: merged by the paper's rule, {why}\n" in result.err
    assert "chosen" not in result.out
    check_reduced(LinCFA().fit(frame(samples), samples.y), samples)
    assert why in Path("report.html").read_text(encoding="utf-8")


def test_paper_s_rule_where_no_choice_is_possible(done, fails, save, columns):
    nine = save({name: column[:9] for name, column in columns.items()}, "nine.csv")
    told = json.loads(done("reduce", nine, "--target", "y", "--force", "--json").out)
    reason = "because 9 rows are too few for cross-validation"
    assert told["choice"] == {"by": "paper's rule", "reason": reason}
    assert told["settings"]["tolerance"] == 1.0
    once = save(columns | {"y": ["1", *["0"] * 59]}, "once.csv")
    told = json.loads(done("reduce", once, "--target", "y", "--test", 0, "--force", "--json").out)
    assert told["choice"]["by"] == "paper's rule"
    assert told["choice"]["reason"].startswith("because cross-validation failed: In a fold with")
    asked = ["--target", "y", "--test", 0, "--force", "--tolerance", "cv"]
    assert "In a fold with" in fails("reduce", once, *asked)


def test_worse_than_the_mean_is_said_first(done, save, columns, rng):
    """The target has nothing to do with the features."""
    data = save(columns | {"y": [repr(v) for v in rng.normal(size=60).tolist()]})
    options = ["reduce", data, "--target", "y", "--keep", "id", "--force", "--tolerance"]
    for tolerance, advice in (
        (1, "Try LinCFACV, on the command line --tolerance cv"),
        ("cv", "Cross-validation has already chosen"),
    ):
        told = json.loads(done(*options, tolerance, "--json").out)
        r2 = told["scores"]["rows"][-1]["r2"]["value"]
        assert r2 < 0
        assert next(iter(told)) == "worse_than_mean"
        assert told["worse_than_mean"] is True
        said = done(*options, tolerance).out
        text = f"The reduced features predict worse than the mean of the target: R² is −{-r2:.3f}"
        assert said.startswith(f"warning: {text} on 18 held-out samples. {advice}")
        assert told["warnings"][0] == said.splitlines()[0].removeprefix("warning: ")
        page = Path("report.html").read_text(encoding="utf-8")
        assert "their mean alone would come closer" in page
        assert page.index(text) < page.index("</header>")


def test_good_scores_are_no_warning(done, data):
    told = json.loads(done("reduce", data, "--target", "y", "--tolerance", 1, "--json").out)
    assert (told["worse_than_mean"], told["warnings"]) == (False, [])
    assert "warnings" not in Path("report.html").read_text(encoding="utf-8").split("</style>")[1]


def test_without_a_split_there_are_no_scores(done, data):
    told = json.loads(done("reduce", data, "--target", "y", "--test", 0, "--json").out)
    assert told["scores"] is None
    assert told["n_samples"] == 60
    assert told["data"]["held out for the scores"] == "none"


@pytest.mark.parametrize(
    ("options", "split"),
    [
        (["--seed", 3], lambda: random_split(60, 18, 3)),
        (["--test", 0.25], lambda: random_split(60, 15, 0)),
        (["--folds", "blocks"], lambda: (np.arange(42), np.arange(42, 60))),
        (
            ["--folds", "blocks", "--test", 0.5, "--seed", 3],
            lambda: (np.arange(30), np.arange(30, 60)),
        ),
    ],
)
def test_scores_are_of_the_rows_held_out(done, data, samples, options, split):
    options = [*options, "--tolerance", 1, "--json", "--report", "r.json"]
    told = json.loads(done("reduce", data, "--target", "y", "--keep", "id", *options).out)
    train, test = split()
    model = LinCFA().fit(frame(samples, train), samples.y[train])
    check_reduced(model, samples)
    everything = LinearRegression().fit(samples.X[train], samples.y[train])
    reduced = lincfa.load("model.json")
    scored = told["scores"]["rows"]
    methods = ["least squares", "ridge regression", "PLS", "ridge regression"]
    assert [row["method"] for row in scored] == methods
    for row, predicted, size in (
        (scored[0], everything.predict(samples.X[test]), 6),
        (scored[-1], reduced.predict(frame(samples, test)), model.n_groups_),
    ):
        assert row["n_features"] == size
        assert row["r2"]["value"] == pytest.approx(r2_score(samples.y[test], predicted))
        error = root_mean_squared_error(samples.y[test], predicted)
        assert row["rmse"]["value"] == pytest.approx(error)
        assert row["r2"]["low"] < row["r2"]["value"] < row["r2"]["high"]
    report = json.loads(Path("r.json").read_text(encoding="utf-8"))
    for name in ("scores", "headline", "n_groups", "settings", "data", "notes", "n_samples"):
        assert told[name] == report[name]
    assert "blocks" in options or "consecutive" not in told["scores"]["how"]
    groups = [(group["name"], group["features"]) for group in told["groups"]]
    assert dict(groups) == model.groups_by_name()
    assert told["written"] == {
        "output": "data-reduced.csv",
        "model": "model.json",
        "report": "r.json",
    }


def test_target_correlations_told(done, data, samples):
    told = json.loads(done("reduce", data, "--target", "y", "--test", 0, "--json").out)
    for group in told["groups"]:
        mean = numbers("data-reduced.csv", [group["name"]])[:, 0]
        r = np.corrcoef(mean, samples.y)[0, 1]
        assert group["target_correlation"] == pytest.approx(r)


def test_fingerprint_tells_the_file(done, data):
    import hashlib

    content = Path(data).read_bytes()
    told = json.loads(done("reduce", data, "--target", "y", "--json", "--no-report").out)["data"]
    assert told["SHA-256"] == hashlib.sha256(content).hexdigest()
    assert told["bytes"] == len(content)
    assert told["file"] == data
    assert told["target"] == "y"


def test_few_rows_are_all_learned_from(done, save, columns, samples):
    data = save({name: values[:19] for name, values in columns.items()})
    options = ["--target", "y", "--keep", "id", "--no-report", "--tolerance", 1]
    result = done("reduce", data, *options)
    assert "note: 19 rows are too few to hold some out for scores; --test SHARE" in result.err
    assert "R²" not in result.out
    rows = slice(19)
    model = LinCFA().fit(frame(samples, rows), samples.y[rows])
    names = list(model.get_feature_names_out())
    expected = model.transform(frame(samples, rows))
    assert np.allclose(numbers("data-reduced.csv", names), expected, rtol=1e-12)


def test_twenty_rows_are_shared(done, save, columns):
    data = save({name: values[:20] for name, values in columns.items()})
    told = json.loads(done("reduce", data, "--target", "y", "--json", "--no-report").out)
    assert (told["scores"]["n_train"], told["scores"]["n_test"]) == (14, 6)


@pytest.mark.parametrize("test", [0.2, 0.25])
def test_as_many_rows_as_features(done, folder, rng, test):
    """A square of numbers does not say which way it lies: 12 features, 12 rows in one part."""
    n = round(12 / test) if test == 0.25 else 15
    signal = rng.normal(size=n)
    X = signal[:, None] + 0.1 * rng.normal(size=(n, 12))
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(12)]).assign(y=signal)
    table.to_parquet("square.parquet")
    options = ("--target", "y", "--folds", "blocks", "--test", test, "--no-report", "--json")
    options += ("--tolerance", 1)
    told = json.loads(done("reduce", "square.parquet", *options).out)
    assert 12 in (told["scores"]["n_train"], told["scores"]["n_test"])
    features = table.drop(columns="y")
    train = n - told["scores"]["n_test"]
    model = LinCFA().fit(features[:train], signal[:train])
    reduced = pd.read_parquet("square-reduced.parquet")[list(model.get_feature_names_out())]
    np.testing.assert_allclose(reduced, model.transform(features), rtol=1e-12, atol=1e-12)


def test_rows_with_missing_values(done, fails, save, columns, samples):
    holes = dict(columns)
    for name, row in (("a2", 3), ("b1", 3), ("b1", 50)):
        holes[name] = [*holes[name][:row], "NA" if row == 50 else "", *holes[name][row + 1 :]]
    data = save(holes)
    options = ["reduce", data, "--target", "y", "--keep", "id", "--no-report", "--folds", "blocks"]
    options += ["--tolerance", 1]
    message = fails(*options)
    assert message == (
        f"{data}: missing values in columns 'b1' (2), 'a2' (1), in 2 of 60 rows (first in row 4); "
        "--missing drop leaves out rows that lack any feature, --missing pairwise uses the values "
        "there are, --drop COLUMN leaves out a column, or impute them first"
    )
    result = done(*options, "--missing", "drop")
    told = "note: 2 of 60 rows left out because of missing values in columns 'b1' (2), 'a2' (1)\n"
    assert told in result.err
    complete = np.setdiff1d(np.arange(60), [3, 50])
    train = complete[: 58 - 17]
    model = LinCFA().fit(frame(samples, train), samples.y[train])
    names = list(model.get_feature_names_out())
    expected = model.transform(frame(samples, complete))
    assert np.allclose(numbers("data-reduced.csv", names), expected, rtol=1e-12)
    header, rows = rows_of("data-reduced.csv")
    ids = [row[header.index("id")] for row in rows]
    assert ids == [columns["id"][row] for row in complete]


@pytest.mark.parametrize("tolerance", ["1", "cv"])
def test_opposite_signs(done, save, columns, samples, tolerance):
    """Flipped columns change nothing but the signs."""
    flipped = columns | {
        name: [f"-{v}" if v[0] != "-" else v[1:] for v in columns[name]] for name in ("a2", "b3")
    }
    options = ["--target", "y", "--keep", "id", "--no-report", "--tolerance", tolerance, "--force"]
    done("reduce", save(columns), *options, "--signed", "--min-correlation", 0)
    plain = lincfa.load("model.json")
    told = json.loads(
        done("reduce", save(flipped), *options, "--signed", "--min-correlation", 0, "--json").out
    )
    model = lincfa.load("model.json")
    assert told["settings"]["signed"]
    assert model.labels_.tolist() == plain.labels_.tolist()
    assert plain.signs_.tolist() == [1] * 6
    assert {*model.signs_.tolist()} == {1, -1}
    assert any("−" in group["name"] for group in told["groups"])
    done("reduce", save(flipped), *options, "--min-correlation", 0)
    assert lincfa.load("model.json").n_groups_ > model.n_groups_


def test_quiet_says_nothing(done, data, files):
    result = done("reduce", data, "--target", "y", "--quiet")
    assert (result.out, result.err) == ("", "")
    assert len(files()) == 4


def test_json_alone_is_on_standard_output(done, data):
    result = done("reduce", data, "--target", "y", "--json", "--quiet", "--no-report")
    assert result.err == ""
    assert json.loads(result.out)["notes"] == ["not numeric, kept unchanged: columns 'word', 'day'"]


def test_many_groups_for_the_samples_are_noted(done, save, columns):
    few = save({name: column[:16] for name, column in columns.items()}, "few.csv")
    options = ["--target", "y", "--test", 0, "--force", "--tolerance"]
    said = "least squares on them would overfit; for fewer try "
    assert "overfit" not in done("reduce", few, *options, 1e6).err
    fewer = save({name: column[:9] for name, column in columns.items()}, "fewer.csv")
    none = ["--min-correlation", 0.9999]  # so that nothing merges: 6 features and the id
    told = json.loads(done("reduce", fewer, *options, 1, *none, "--json").out)
    assert told["notes"][-1] == (
        f"7 groups are many for 9 samples to learn from: {said}"
        "a larger --tolerance, or --tolerance cv"
    )
    assert f"{said}a larger --tolerance" in Path("report.html").read_text(encoding="utf-8")
    asked = ["--target", "y", "--test", 0, "--force", "--n-groups", 5]
    assert f"{said}a smaller --n-groups" in done("reduce", fewer, *asked).err
    assert "overfit" not in done("reduce", few, *asked).err
    half = save({name: column[:10] for name, column in columns.items()}, "half.csv")
    assert "overfit" not in done("reduce", half, *asked).err  # half of them, and no more
