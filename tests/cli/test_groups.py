"""``--groups``: whole groups of rows are held out."""

import json
from html import unescape

import numpy as np
import pytest

from lincfa import LinCFACV, compare

pl = pytest.importorskip("polars")

QUICK = ["--tolerance", 1, "--force", "--no-report"]


@pytest.fixture
def batches(samples):
    """Twelve batches of unequal sizes, in any order."""
    rng = np.random.default_rng(2)
    return rng.permutation(np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 6, 6, 6, 7, 7, 7]))


@pytest.fixture
def table(folder, samples, batches):
    """The samples with their batches as text, and as numbers."""
    frame = pl.DataFrame(samples.X, schema=samples.names, orient="row").with_columns(
        y=samples.y,
        batch=pl.Series([f"b{k}" for k in batches]),
        number=batches,
        kind=pl.Series(np.where(samples.y > 0, "up", "down")),
        day=pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 2, 29), eager=True),
    )
    frame.write_csv("data.csv")
    return frame


DROP = ["--drop", "kind", "--drop", "day"]
OTHERS = ["--drop", "number", *DROP]


@pytest.fixture
def splits(monkeypatch):
    """The splits that commands make."""
    from lincfa.cli import _select

    found, split_rows = [], _select.split_rows

    def watched(*arguments):
        found.append(split_rows(*arguments))
        return found[-1]

    monkeypatch.setattr(_select, "split_rows", watched)
    return found


def test_scores_are_of_whole_groups(table, batches, samples, done, folder, splits):
    """The rows held out are whole groups, about the share asked for; the column is kept."""
    result = done("reduce", "data.csv", "--target", "y", "--groups", "batch", *OTHERS, "--force")
    (split,) = splits
    assert not {*batches[split.train]} & {*batches[split.test]}
    assert abs(split.test.size - 0.3 * 60) <= 2  # of fifty random splits the closest
    held_out = (
        f"{split.test.size} of 60 rows, those with 4 of 12 values of 'batch', at random, seed 0"
    )
    assert f"held out: {held_out}" in result.out
    assert "chosen by 5 parts of samples that belong together, held out in turn" in result.out
    assert held_out in unescape((folder / "report.html").read_text(encoding="utf-8"))
    kept = pl.read_csv("data-reduced.csv")
    assert kept["batch"].to_list() == table["batch"].to_list()
    outcome = json.loads(
        done("reduce", "data.csv", "--target", "y", "--groups", "number", "--drop", "batch", *DROP,
             "--force", "--json").out
    )  # fmt: skip
    assert outcome["data"]["held out for the scores"] == held_out.replace("batch", "number")
    assert outcome["settings"]["cv"] == "5 parts of samples that belong together, held out in turn"
    assert not any("number" in group["features"] for group in outcome["groups"])
    split = splits[-1]
    model = LinCFACV().fit(
        samples.X[split.train], samples.y[split.train], groups=batches[split.train]
    )
    assert outcome["settings"]["chosen penalty"] == pytest.approx(model.penalty_)


def test_classes(table, batches, done, splits):
    """Each class has about its share among the rows held out."""
    arguments = ["--target", "kind", "--groups", "batch", "--drop", "y", "--drop", "day"]
    outcome = json.loads(done("reduce", "data.csv", *arguments, *QUICK, "--json").out)
    assert "4 of 12 values of 'batch'" in outcome["data"]["held out for the scores"]
    (split,) = splits
    assert not {*batches[split.train]} & {*batches[split.test]}
    for kind in ("up", "down"):
        members = (table["kind"] == kind).to_numpy()
        # Of fifty random splits the closest.
        assert abs(members[split.test].sum() - 0.3 * members.sum()) <= 2


def test_groups_win_over_dates(table, done):
    arguments = ["--target", "y", "--groups", "batch", "--drop", "kind", *QUICK]
    result = done("reduce", "data.csv", *arguments)
    assert (
        "note: rows of the same 'batch' are held out together, and not blocks of time" in result.err
    )
    assert "values of 'batch', at random" in result.out


def test_fields_and_folders(table, samples, batches, done, folder):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    outcomes = []

    def reduce(source, *options):
        arguments = ["--target", "y", "--groups", *options, *QUICK, "--json"]
        outcomes.append(json.loads(done("reduce", source, *arguments).out))

    field = xr.Dataset(
        {"t": (("n", "k"), samples.X), "y": ("n", samples.y)},
        {"batch": ("n", table["batch"].to_numpy().astype(str)), "k": np.arange(6)},
    )
    field.to_netcdf("field.nc")
    reduce("field.nc", "batch")
    assert xr.open_dataset("field-reduced.nc")["batch"].values.tolist() == table["batch"].to_list()
    field.reset_coords("batch").to_netcdf("variable.nc")
    reduce("variable.nc", "batch")
    pytest.importorskip("dask")
    (folder / "parts").mkdir()
    for part in range(3):
        table[20 * part : 20 * part + 20].write_parquet(f"parts/{part}.parquet")
    reduce("parts", "batch", *OTHERS)
    reduce("data.csv", "batch", *OTHERS)
    same = [outcome["data"]["held out for the scores"] for outcome in outcomes]
    assert len(same) == 4
    assert len({*same}) == 1
    r2 = [outcome["scores"]["rows"][-1]["r2"]["value"] for outcome in outcomes]
    np.testing.assert_allclose(r2, r2[0], rtol=1e-9)


def test_comparison(table, samples, batches, done):
    result = done("compare", "data.csv", "--target", "y", "--groups", "batch", *OTHERS,
                  "--method", "ridge", "--n-folds", 4, "--json")  # fmt: skip
    found = compare(
        pl.DataFrame(samples.X), samples.y, methods=["ridge"], cv=4,
        groups=table["batch"].to_numpy(), verbose=False,
    )  # fmt: skip
    outcome = json.loads(result.out)
    assert outcome["methods"][0]["r2"] == pytest.approx(found.r2[0])
    assert "4 parts of samples that belong together" in outcome["notes"][-1]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("Batch", "data.csv has no column 'Batch'; did you mean 'batch'?"),
        ("groups.json", "and the file for the model is --model now"),
        ("y", "column 'y' is a target, and cannot name groups of rows"),
        ("a1", "'a1' has numbers with fractions, which name no groups"),
        ("gaps", "column 'gaps' lacks the group of 2 rows, first of row 4"),
        ("same", "all rows are in 1 group of 'same'; at least 2 are needed"),
    ],
)
def test_columns_that_name_no_groups(table, fails, column, message):
    gaps = pl.Series(["a"] * 60).set(pl.Series([3 <= row < 5 for row in range(60)]), None)
    table.with_columns(gaps=gaps, same=pl.lit("x")).write_csv("data.csv")
    for command in (["reduce"], ["compare"]):
        assert message in fails(*command, "data.csv", "--target", "y", "--groups", column)


def test_too_few_groups(table, done, fails):
    two = pl.Series(["a"] * 30 + ["b"] * 30)
    table.with_columns(two=two).write_csv("data.csv")
    arguments = ["data.csv", "--target", "y", "--groups", "two", "--drop", "batch", *OTHERS]
    result = done("reduce", *arguments, "--no-report")
    assert "cross-validation failed: The samples belong to 1 group" in result.err
    message = fails("compare", *arguments, "--method", "ridge")
    assert "belong to 2 groups, too few for 5 folds of whole groups" in message


def test_options_that_do_not_go_together(table, fails):
    for option in (["--folds", "blocks"], ["--folds", "shuffled"], ["--gap", 1]):
        command = ["reduce", "data.csv", "--target", "y", "--groups", "batch"]
        message = fails(*command, *option, code=2)
        assert f"--groups holds out whole groups of rows; leave out {option[0]}" in message
    message = fails("reduce", "data.csv", "--target", "y", "--groups", "batch", "--drop", "batch")
    assert "column 'batch' is to be kept and cannot be dropped" in message


def test_figures_of_the_report_know_the_groups(table, done, folder):
    """Intervals draw whole groups, rivals are tuned and weights inferred by them."""
    options = ["--target", "y", "--groups", "batch", *OTHERS, "--test", 0.5, "--report", "r.json"]
    done("reduce", "data.csv", *options, "--force", "--tolerance", 1)
    found = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    how = found["scores"]["how"]
    assert "groups of samples are too few for intervals" in how  # fewer than ten
    assert "tuned by cross-validation on the training samples alone (5 parts of samples that" in how
    assert found["scores"]["rows"][0]["r2"]["low"] is None
    assert 1 < found["n_test_groups"] < 10
    assert "groups of samples" in found["inference_note"]


@pytest.mark.parametrize("option", [("--lags", 0, 1), ("--lead", 2)])
def test_lags_and_leads_stay_out(table, fails, option):
    """The row before is that of another group where one begins."""
    asked = ["reduce", "data.csv", "--target", "y", "--groups", "batch", *option]
    assert f"{option[0]} would reach from one group of rows into another" in fails(*asked, code=2)
