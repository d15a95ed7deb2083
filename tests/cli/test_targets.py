"""Several targets, by name or pattern, and classes: in tables, fields and chunks."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import KFold

from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV, compare, explain_pair, load

pl = pytest.importorskip("polars")

QUICK = ("--no-report", "--test", 0, "--force")


@pytest.fixture(scope="module")
def table():
    """Eighty samples of two factors: features, two targets, and classes in several forms."""
    rng = np.random.default_rng(8)
    factors = rng.normal(size=(80, 2))
    X = np.repeat(factors, 3, axis=1) + 0.3 * rng.normal(size=(80, 6))
    score = factors @ [1.0, 1.0] + 0.3 * rng.normal(size=80)
    kind = np.digitize(score, [-0.8, 0.8])
    return pl.DataFrame(X, schema=["a1", "a2", "a3", "b1", "b2", "b3"]).with_columns(
        y1=factors @ [1.0, -2.0] + rng.normal(size=80),
        y2=factors @ [2.0, 1.0] + rng.normal(size=80),
        kind=pl.Series(np.array(["low", "middle", "high"])[kind]),
        code=pl.Series(kind),
        flag=pl.Series(score > 0),
    )


FEATURES = ["a1", "a2", "a3", "b1", "b2", "b3"]
NUMBERS = [*FEATURES, "y1", "y2"]


@pytest.fixture
def several(folder, table):
    """The features and both targets, as a CSV file."""
    table.select(NUMBERS).write_csv("data.csv")
    return "data.csv"


def saved():
    return load("model.json")


def check_same(model):
    """Assert that the groups saved are those of a model."""
    assert saved().groups_by_name() == model.groups_by_name()
    assert saved().target_names_ == model.target_names_


# Several targets


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
@pytest.mark.parametrize("named", [["y1", "y2"], ["y*"], ["y[12]"], ["y1", "?2"]])
def test_no_target_is_a_feature(done, folder, table, suffix, named):
    chosen = table.select("y1", *FEATURES[:1], "y2", *FEATURES[1:])
    if named[-1] == "?2":
        chosen = chosen.drop("a2", "b2")
    if suffix == "csv":
        chosen.write_csv("data.csv")
    elif suffix == "parquet":
        chosen.write_parquet("data.parquet")
    else:
        chosen.write_ipc("data.feather")
    given = [word for name in named for word in ("--target", name)]
    told = json.loads(done("reduce", f"data.{suffix}", *given, *QUICK, "--json").out)
    X = chosen.drop("y1", "y2")
    assert list(saved().feature_names_in_) == X.columns
    model = LinCFACV().fit(X, chosen.select("y1", "y2"))
    check_same(model)
    assert told["targets"] == ["y1", "y2"]
    assert told["classes"] is None
    assert told["data"]["targets"] == "y1, y2"
    for group, r in zip(told["groups"], model.summary().target_correlation, strict=True):
        assert group["target_correlation"] == pytest.approx({"y1": r[0], "y2": r[1]})


def test_the_paper_s_rule_for_several(done, several, table):
    done("reduce", several, "--target", "y1", "--target", "y2", "--tolerance", 1, *QUICK)
    check_same(LinCFA().fit(table.select(FEATURES), table.select("y1", "y2")))
    written = pl.read_csv("data-reduced.csv")
    assert written.columns[:2] == ["y1", "y2"]
    assert written.select("y1", "y2").equals(table.select("y1", "y2"))


def test_scores_of_each_and_their_mean(done, several, table):
    options = ["reduce", several, "--target", "y*", "--folds", "blocks", "--force"]
    told = json.loads(done(*options, "--json").out)
    X, Y = table.select(FEATURES), table.select("y1", "y2")
    model = LinCFACV(cv=KFold(5)).fit(X[:56], Y[:56])
    r2 = r2_score(Y[56:], model.predict(X[56:]), multioutput="raw_values")
    scores = told["scores"]
    assert scores["rows"][-1]["r2"]["value"] == pytest.approx(r2.mean())
    each = {entry["target"]: entry["rows"][-1]["r2"]["value"] for entry in scores["targets"]}
    assert each == pytest.approx({"y1": r2[0], "y2": r2[1]})
    said = done(*options).out
    _, lines = said.split("R² on 24 held-out rows, the mean of 2 targets:\n")
    first = lines.splitlines()[0]
    assert first.startswith(f"  {r2.mean():.3f} (")
    assert "on reduced features (" in first
    for name, value in zip(("y1", "y2"), r2, strict=True):
        assert f"  {name}: {value:.3f} (" in said
    page = Path("report.html").read_text(encoding="utf-8")
    assert "data.csv, targets y1, y2" in page


def test_a_row_that_lacks_a_target_is_not_learned_from(done, folder, table):
    row = pl.int_range(80)
    holes = table.select(NUMBERS).with_columns(
        y1=pl.when(row > 2).then("y1"), y2=pl.when(row != 2, row != 5).then("y2")
    )
    holes.write_csv("data.csv")
    result = done("reduce", "data.csv", "--target", "y1", "--target", "y2", *QUICK)
    where = "columns 'y1' (3), 'y2' (2)"
    assert (
        f"note: 4 of 80 rows lack a target, {where}: they are reduced, but not learned from"
        in result.err
    )
    complete = holes.drop_nulls()
    check_same(LinCFACV().fit(complete.select(FEATURES), complete.select("y1", "y2")))
    assert pl.read_csv("data-reduced.csv").height == 80
    result = done("explain", "data.csv", "--target", "y*", "a1", "a2", "--test", 0)
    assert result.err == f"note: 4 of 80 rows lack a target, {where}, and are left out\n"


def test_no_row_with_all_targets(fails, folder, table):
    first = pl.int_range(80) < 40
    table.select(NUMBERS).with_columns(
        y1=pl.when(first).then("y1"), y2=pl.when(~first).then("y2")
    ).write_csv("data.csv")
    message = fails("reduce", "data.csv", "--target", "y*")
    assert message == "data.csv: no row has a value of all targets"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--target y1 --target y1", "--target names column 'y1' twice"),
        ("--target y1 --target y*", "--target names column 'y1' twice, by 'y1' and 'y*'"),
        ("--target y1 --target z*", "data.csv has no column that matches 'z*'"),
        ("--target y1 --target Y2", "data.csv has no column 'Y2'; did you mean 'y2'?"),
        ("--target Y*", "data.csv has no column that matches 'Y*'; did you mean 'y1' or 'y2'?"),
        ("--target *", "data.csv has no numeric column besides the targets, columns 'a1', "),
        ("--target y* --drop y2", "column 'y2' is a target and cannot be dropped"),
        ("--target y* --classes", "data.csv: --classes is for one target alone; --target names "),
        (
            "--target y1 --classes",
            "data.csv: 'y1' has numbers with fractions, which are no classes",
        ),
    ],
)
def test_targets_that_cannot_be(fails, several, options, message):
    for command, pair in (("reduce", ()), ("compare", ()), ("explain", ("a1", "a2"))):
        if (command, options) != ("explain", "--target *"):
            assert fails(command, several, *options.split(), *pair).startswith(message)


def test_a_constant_among_several(fails, folder, table):
    table.select(NUMBERS).with_columns(y2=pl.lit(3)).write_csv("data.csv")
    message = fails("reduce", "data.csv", "--target", "y1", "--target", "y2")
    assert message == "data.csv: the target 'y2' is 3 in every row to learn from"


def test_no_scores_of_a_target_that_is_constant_where_held_out(done, folder, table):
    last = pl.int_range(80) >= 50
    table.select(NUMBERS).with_columns(y2=pl.when(last).then(0.5).otherwise("y2")).write_csv(
        "d.csv"
    )
    result = done("reduce", "d.csv", "--target", "y*", "--folds", "blocks", "--json", "--no-report")
    assert "note: no scores: the target 'y2' is 0.5 in all 24 rows held out" in result.err
    assert json.loads(result.out)["scores"] is None


def test_explain_for_several(done, fails, several, table):
    options = ["explain", several, "--target", "y1", "--target", "y2", "--test", 0]
    explanation = explain_pair(table.select("b1", "a2"), table.select("y1", "y2"), "b1", "a2")
    assert done(*options, "b1", "a2").out == f"{explanation} This is from 80 rows.\n"
    told = json.loads(done(*options, "b1", "a2", "--json").out)
    assert told["targets"] == ["y1", "y2"]
    assert told["gain_share"] == pytest.approx(explanation.gain_share.tolist())
    assert "three different columns" in fails(*options, "a1", "y2", code=2)
    message = fails("explain", several, "--target", "y*", "a1", "y2")
    assert message == "column 'y2' is a target, and so no feature to explain"


def test_compare_several(done, several, table):
    methods = ["ridge", "LinCFA"]
    given = [word for name in methods for word in ("--method", name)]
    options = ["--target", "y*", "--n-folds", 3, "--repeats", 1, "--json"]
    told = json.loads(done("compare", several, *options, *given).out)
    expected = compare(
        table.select(FEATURES),
        table.select("y1", "y2"),
        methods=methods,
        cv=3,
        n_repeats=1,
        verbose=False,
    ).to_dict()
    for got, wanted in zip(told["methods"], expected["methods"], strict=True):
        assert got["r2"] == pytest.approx(wanted["r2"])


def test_new_samples_need_no_target_and_keep_it(done, several, table):
    done("reduce", several, "--target", "y*", *QUICK)
    done("apply", "model.json", several, "--output", "with.csv")
    assert pl.read_csv("with.csv").equals(pl.read_csv("data-reduced.csv"))
    table.select(FEATURES).write_csv("new.csv")
    done("apply", "model.json", "new.csv", "--output", "without.csv")
    assert pl.read_csv("without.csv").columns == pl.read_csv("with.csv").columns[2:]


# Fields and chunks


@pytest.fixture
def field(folder, table):
    """A field with cells, two targets and labels along time."""
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    cells = table.select(FEATURES).to_numpy().reshape(80, 2, 3)
    return xr.Dataset(
        {
            "t2m": (("time", "lat", "lon"), cells),
            "y1": ("time", table["y1"].to_numpy()),
            "y2": ("time", table["y2"].to_numpy()),
            "kind": ("time", table["kind"].to_numpy()),
            "flag": ("time", table["flag"].to_numpy()),
            "yearly": ("year", np.arange(5.0)),
        },
        coords={"time": np.arange(80), "lat": [1.0, 2.0], "lon": [1.0, 2.0, 3.0]},
    )


@pytest.mark.parametrize("named", [["y1", "y2"], ["y?"]])
def test_a_field(done, field, named):
    field.to_netcdf("f.nc")
    given = [word for name in named for word in ("--target", name)]
    done("reduce", "f.nc", *given, *QUICK)
    model = LinCFACV(sample_dim="time").fit(field[["t2m"]], field[["y1", "y2"]])
    check_same(model)
    import xarray as xr

    with xr.open_dataset("f-reduced.nc") as reduced:
        assert {"y1", "y2", "kind", "reduced"} <= set(reduced.data_vars)
        assert np.array_equal(reduced["y2"], field["y2"])
        assert "t2m" not in reduced


@pytest.mark.parametrize("target", ["kind", "flag"])
def test_classes_in_a_field(done, field, target):
    field.drop_vars(["y1", "y2"]).to_netcdf("f.nc")
    done("reduce", "f.nc", "--target", target, "--tolerance", 1, *QUICK)
    labels = field[target].values
    check_same(LinCFA(sample_dim="time").fit(field[["t2m"]], labels))


def test_targets_of_a_field_that_cannot_be(fails, field):
    field.to_netcdf("f.nc")
    message = fails("reduce", "f.nc", "--target", "y*")
    assert message == (
        "f.nc: the target 'y1' runs along time and 'yearly' along year; several targets must have "
        "the same samples"
    )
    message = fails("reduce", "f.nc", "--target", "y1", "--target", "t*")
    assert message.startswith("f.nc: the dimensions of 't2m' are: time, lat, lon; the target must")
    message = fails("reduce", "f.nc", "--target", "z*")
    assert message.startswith("f.nc has no variable 'z*'; the target must")


def test_a_folder_in_chunks(done, folder, table):
    pytest.importorskip("dask.dataframe")
    Path("data").mkdir()
    for part in range(4):
        rows = slice(20 * part, 20 * part + 20)
        table.select(*NUMBERS, "kind")[rows].write_parquet(f"data/part.{part}.parquet")
    for target, drop, y in (
        (["--target", "y1", "--target", "y2"], "kind", table.select("y1", "y2")),
        (["--target", "kind"], "y*", table["kind"].to_numpy()),
    ):
        done("reduce", "data", *target, "--drop", drop, *QUICK, "--output", "reduced")
        model = LinCFA().fit(table.select(FEATURES), y)
        check_same(model)
        written = pl.read_parquet("reduced/*.parquet")
        kept = ["kind"] if drop == "y*" else ["y1", "y2"]
        assert written.columns == [*kept, *model.get_feature_names_out()]
        assert written.select(kept).equals(table.select(kept))
        told = json.loads(done("reduce", "data", *target, "--drop", drop, "--force", "--json").out)
        assert told["scores"]["n_test"] == 24


# Classes


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("target", ["kind", "flag", "code", "category"])
def test_classes(done, folder, table, suffix, target):
    data = table.with_columns(category=pl.col("kind").cast(pl.Categorical))
    data = data.select(*FEATURES, target)
    data.write_csv("d.csv") if suffix == "csv" else data.write_parquet("d.parquet")
    options = ["--target", target, *(["--classes"] if target == "code" else [])]
    result = done("reduce", f"d.{suffix}", *options, *QUICK, "--json")
    labels = data[target].to_numpy()
    if target == "flag" and suffix == "csv":
        labels = np.where(labels, "true", "false")
    if target == "category":
        labels = data[target].cast(pl.String).to_numpy()
    model = LinCFAClassifierCV().fit(data.select(FEATURES), labels)
    check_same(model)
    assert saved().classes_.tolist() == np.unique(labels).tolist()
    told = json.loads(result.out)
    assert told["classes"] == np.unique(labels).tolist()
    counts = ", ".join(
        f"{label!r} ({(labels == label).sum()})" for label in np.unique(labels).tolist()
    )
    n_classes = len(told["classes"])
    assert f"note: the target {target!r} is {n_classes} classes: {counts}\n" in result.err
    read = pl.read_csv if suffix == "csv" else pl.read_parquet
    assert read(f"d-reduced.{suffix}")[target].equals(read(f"d.{suffix}")[target])


def test_integers_are_numbers_unless_said(done, folder, table):
    table.select(*FEATURES, "code").write_csv("d.csv")
    told = json.loads(done("reduce", "d.csv", "--target", "code", *QUICK, "--json").out)
    assert told["classes"] is None
    check_same(LinCFACV().fit(table.select(FEATURES), table["code"].to_numpy()))
    done("reduce", "d.csv", "--target", "code", "--classes", "--tolerance", 1, *QUICK)
    check_same(LinCFA(target="classes").fit(table.select(FEATURES), table["code"].to_numpy()))


def test_rows_are_held_out_within_each_class(done, folder, table):
    table.select(*FEATURES, "kind").write_csv("d.csv")
    told = json.loads(done("reduce", "d.csv", "--target", "kind", "--json").out)
    counts = table["kind"].value_counts()["count"].to_list()
    held_out = sum(round(0.3 * count) for count in counts)
    assert (
        told["data"]["held out for the scores"]
        == f"{held_out} of 80 rows, at random within each class, seed 0"
    )
    assert told["n_samples"] == 80 - held_out
    assert told["scores"]["n_test"] == held_out


def test_accuracy_and_log_loss(done, folder, table):
    table.select(*FEATURES, "kind").write_csv("d.csv")
    options = ["reduce", "d.csv", "--target", "kind", "--folds", "blocks", "--force"]
    told = json.loads(done(*options, "--json").out)
    X, labels = table.select(FEATURES), table["kind"].to_numpy()
    model = LinCFAClassifierCV(cv=KFold(5)).fit(X[:56], labels[:56])
    accuracy = accuracy_score(labels[56:], model.predict(X[56:]))
    assert told["scores"]["rows"][-1]["accuracy"]["value"] == pytest.approx(accuracy)
    assert told["no_better_than_most_frequent"] is False
    said = done(*options).out
    _, lines = said.split("accuracy and log loss on 24 held-out rows:\n")
    first = lines.splitlines()[0]
    assert first.startswith(f"  {accuracy:.3f} (")
    assert "logistic regression on reduced features (" in first
    assert "most frequent class\n" in lines


def test_a_class_that_is_only_in_the_rows_held_out(done, folder, table):
    last = pl.int_range(80) >= 70
    data = table.select(*FEATURES, kind=pl.when(last).then(pl.lit("new")).otherwise("kind"))
    data.write_csv("d.csv")
    result = done("reduce", "d.csv", "--target", "kind", "--folds", "blocks", "--no-report")
    assert "note: no scores: the class 'new' is only in the rows held out" in result.err


def test_rows_without_a_label(done, folder, table):
    labels = [*["", "NA", " low "], *table["kind"][3:]]
    table.select(FEATURES).with_columns(kind=pl.Series(labels)).write_csv("d.csv")
    result = done("reduce", "d.csv", "--target", "kind", "--tolerance", 1, *QUICK)
    assert "note: 2 of 80 rows have no target: they are reduced, but not learned" in result.err
    known = np.array(["low", *labels[3:]])
    check_same(LinCFA().fit(table.select(FEATURES)[2:], known))
    assert pl.read_csv("d-reduced.csv", infer_schema=False)["kind"][2] == " low "


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([f"n{k}" for k in range(80)], "(row 1: 'n0'; 79 more) and has 80 different values"),
        (["1,5", "2,5"] * 40, "(row 1: '1,5'; 79 more)"),
        (["1", "2", "three", "4"] * 20, "(row 3: 'three'; 19 more)"),
    ],
)
def test_text_that_is_rather_no_class(done, fails, folder, table, values, problem):
    table.select(FEATURES).with_columns(kind=pl.Series(values)).write_csv("d.csv", separator=";")
    message = fails("reduce", "d.csv", "--target", "kind")
    told = f"d.csv: column 'kind' is not numeric {problem}; --classes takes them as labels of"
    assert message == f"{told} classes"
    if len(set(values)) < 80:
        done("reduce", "d.csv", "--target", "kind", "--classes", "--tolerance", 1, *QUICK)


def test_numbers_written_as_text(done, folder, table):
    """They are numbers, or with --classes labels, which are written as they were."""
    table.select(*FEATURES, pl.col("code").cast(pl.String)).write_parquet("d.parquet")
    options = ["reduce", "d.parquet", "--target", "code", "--tolerance", 1, *QUICK, "--json"]
    assert json.loads(done(*options).out)["classes"] is None
    assert json.loads(done(*options, "--classes").out)["classes"] == ["0", "1", "2"]
    assert pl.read_parquet("d-reduced.parquet")["code"].dtype == pl.String


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_labels_among_several_targets(fails, folder, table, suffix):
    data = table.select(*NUMBERS, "kind", "flag")
    data.write_csv("d.csv") if suffix == "csv" else data.write_parquet("d.parquet")
    for name in ("kind", "flag"):
        message = fails("reduce", f"d.{suffix}", "--target", "y1", "--target", name)
        held = "boolean" if (suffix, name) == ("parquet", "flag") else "string"
        assert message == (
            f"d.{suffix}: {name!r} holds labels of classes ({held}), which are one target alone; "
            f"--target names columns 'y1', {name!r}"
        )


def test_one_class_and_classes_of_one_row_each(fails, folder, table):
    table.select(FEATURES).with_columns(kind=pl.lit("all")).write_csv("d.csv")
    message = fails("reduce", "d.csv", "--target", "kind")
    assert message == "d.csv: the target 'kind' is 'all' in every row to learn from"
    table.select(FEATURES).with_row_index("kind").write_csv("d.csv")
    message = fails("reduce", "d.csv", "--target", "kind", "--classes")
    assert message == "d.csv: --test 0.3 of 80 rows of each class is no row"


def test_explain_for_classes(done, folder, table):
    table.select(*FEATURES, "kind", "code").write_csv("d.csv")
    X = table.select("b1", "a2")
    for target, extra in (("kind", ()), ("code", ("--classes",))):
        labels = table[target].to_numpy()
        explanation = explain_pair(X, labels, "b1", "a2", target="classes")
        options = ["explain", "d.csv", "--target", target, "b1", "a2", *extra, "--test", 0]
        assert done(*options).out == f"{explanation} This is from 80 rows.\n"
        told = json.loads(done(*options, "--json").out)
        assert told["targets"] == [str(label) for label in np.unique(labels)]


def test_compare_classes(done, fails, folder, table):
    table.select(*FEATURES, "kind").write_csv("d.csv")
    options = ["compare", "d.csv", "--target", "kind", "--n-folds", 3, "--repeats", 1]
    told = json.loads(done(*options, "--method", "logistic regression", "--json").out)
    expected = compare(
        table.select(FEATURES),
        table["kind"].to_numpy(),
        methods=["logistic regression"],
        cv=3,
        n_repeats=1,
        verbose=False,
    ).to_dict()
    assert told["methods"][0]["accuracy"] == pytest.approx(expected["methods"][0]["accuracy"])
    assert fails(*options, "--method", "PLS") == "--method 'PLS' is for numbers, unlike the target"


def test_the_choice_takes_longer_for_classes(monkeypatch, done, folder, table):
    table.select(*FEATURES, "kind").write_csv("d.csv")
    monkeypatch.setattr("lincfa.cli._reduce._LONGEST", 1.5)
    result = done("reduce", "d.csv", "--target", "kind", *QUICK)
    assert "note: merged by the paper's rule, because cross-validation would take" in result.err
