"""Columns of a table: nothing of it is lost, whatever the columns are called."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import lincfa
from lincfa import LinCFA

pl = pytest.importorskip("polars")


def table_of(path):
    """Give the columns of a CSV as text."""
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


def written(path, columns):
    """Write columns of any text, quoted where they must be."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    Path(path).write_text(text.getvalue(), encoding="utf-8", newline="\n")
    return path


def features_of(path="model.json"):
    return list(lincfa.load(path)._columns.labels)


def test_other_columns_pass_text_for_text_in_their_order(done, data, columns):
    done("reduce", data, "--target", "y", "--keep", "id", "--no-report")
    passed = table_of("data-reduced.csv")
    names = ["id", "word", "y", "day"]
    assert list(passed)[:4] == names
    assert {name: passed[name] for name in names} == {name: columns[name] for name in names}
    assert not {*passed} & {"a1", "a2", "a3", "b1", "b2", "b3"}
    assert len(passed) == 4 + lincfa.load("model.json").n_groups_
    assert table_of("data-reduced.csv")["id"][:2] == ["00000", "00001"]
    assert "id" not in features_of()


@pytest.mark.parametrize(
    "values",
    [
        ["7.50"] * 60,
        ["007"] * 60,
        ["1e3"] * 30 + ["1000.0"] * 30,
        ["NA"] * 60,
        [""] * 60,
        ["nan"] * 60,
        ["true", "False"] * 30,
        ["1.10"] * 59 + ["?"],
        ["-", "1,5"] * 30,
        ["12:30"] * 60,
    ],
    ids=lambda values: f"{values[0]}..{values[-1]}",
)
def test_whatever_is_no_feature_passes_text_for_text(done, folder, columns, values):
    data = written("data.csv", {"odd": values} | columns)
    result = done("reduce", data, "--target", "y", "--keep", "id", "--no-report")
    assert "'odd'" in result.err
    assert table_of("data-reduced.csv")["odd"] == values
    done("apply", "model.json", data, "--output", "again.csv")
    assert Path("again.csv").read_bytes() == Path("data-reduced.csv").read_bytes()


def test_constant_columns_pass_from_compressed_files_and_standard_input(
    done, folder, columns, monkeypatch
):
    import gzip
    import sys

    data = written("data.csv", columns | {"flat": ["7.50"] * 60})
    content = Path(data).read_bytes()
    Path("data.csv.gz").write_bytes(gzip.compress(content))
    done("reduce", "data.csv.gz", "--target", "y", "--no-report", "--output", "r.csv")
    assert table_of("r.csv")["flat"] == ["7.50"] * 60
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    done("reduce", "-", "--target", "y", "--no-report", "--output", "s.csv", "--model", "g.json")
    assert Path("s.csv").read_bytes() == Path("r.csv").read_bytes()


def test_columns_constant_where_it_is_learned_pass_on(done, folder, columns):
    late = ["1.0"] * 42 + ["1.50"] * 18
    data = written("data.csv", columns | {"late": late})
    told = done("reduce", data, "--target", "y", "--folds", "blocks", "--no-report", "--json")
    assert json.loads(told.out)["constant"] == ["late"]
    assert table_of("data-reduced.csv")["late"] == late


def test_a_value_that_is_no_number_is_named(done, folder, columns):
    data = written("data.csv", columns | {"mixed": ["1.5"] * 40 + ["n/a?"] + ["2"] * 18 + ["x"]})
    noted = done("reduce", data, "--target", "y", "--no-report").err
    assert "'mixed': row 41: 'n/a?'; 1 more" in noted


def test_drop_leaves_out(done, data, samples):
    options = ["--drop", "id", "--drop", "b*", "--test", 0, "--no-report", "--tolerance", 1]
    done("reduce", data, "--target", "y", *options)
    passed = table_of("data-reduced.csv")
    assert features_of() == ["a1", "a2", "a3"]
    assert "id" not in passed
    model = LinCFA().fit(pl.DataFrame(samples.X[:, :3], schema=samples.names[:3]), samples.y)
    assert list(passed)[3:] == list(model.get_feature_names_out())


def test_patterns_of_columns_to_keep(done, data, columns):
    done("reduce", data, "--target", "y", "--keep", "[ab]2", "--keep", "i?", "--no-report")
    assert features_of() == ["a1", "a3", "b1", "b3"]
    passed = table_of("data-reduced.csv")
    for name in ("a2", "b2", "id"):
        assert passed[name] == columns[name]


def test_a_name_is_no_pattern_where_a_column_has_it(done, folder, columns):
    renamed = {{"a1": "a[23]", "y": "b*"}.get(name, name): columns[name] for name in columns}
    data = written("data.csv", renamed)
    done("reduce", data, "--target", "b*", "--keep", "id", "--keep", "a[23]", "--no-report")
    assert features_of() == ["a2", "a3", "b1", "b2", "b3"]
    passed = table_of("data-reduced.csv")
    assert passed["b*"] == columns["y"]
    assert passed["a[23]"] == columns["a1"]
    done("compare", data, "--target", "b*", "--method", "all features", "--n-folds", 2)
    done("explain", data, "--target", "b*", "b1", "b2")


def test_names_of_all_kinds(done, folder, columns):
    odd = ["-a", "=a+1", "a\nb", 'a "b", c', "é[red]", " a "]
    renamed = dict(zip(["a1", "a2", "a3", "b1", "b2", "b3"], odd, strict=True)) | {"id": "-id"}
    data = written("d.csv", {renamed.get(name, name): columns[name] for name in columns})
    arguments = ["--target", "y", "--keep=-id", "--tolerance", "0.001", "--test", 0]
    result = done("reduce", data, *arguments)
    assert sorted(features_of()) == sorted(odd)
    passed = table_of("d-reduced.csv")
    assert passed["-id"] == columns["id"]
    members = lincfa.load("model.json").groups_by_name()
    assert list(passed)[4:] == list(members)
    assert "[red]" in result.out
    words = done("explain", "--target", "y", data, "--", "-a", "a\nb").out
    assert "'-a' and 'a\\nb'" in words
    done("apply", "model.json", data, "--output", "again.csv", "--drop=-id")
    assert "-id" not in table_of("again.csv")


def test_a_target_that_begins_with_a_dash(done, folder, columns):
    data = written("d.csv", {"-y" if name == "y" else name: columns[name] for name in columns})
    done("reduce", data, "--target=-y", "--no-report")
    assert table_of("d-reduced.csv")["-y"] == columns["y"]


def test_a_column_called_like_a_reduced_feature_stays(done, folder, columns):
    plain = written("plain.csv", columns)
    done("reduce", plain, "--target", "y", "--keep", "id", "--no-report")
    (name, *_) = lincfa.load("model.json").groups_by_name()
    words = [f"w{row}" for row in range(60)]
    data = written("data.csv", columns | {name: words, f"{name} #2": words})
    options = ["--target", "y", "--keep", "id", "--no-report", "--force"]
    result = done("reduce", data, *options)
    passed, expected = table_of("data-reduced.csv"), table_of("plain-reduced.csv")
    assert passed[name] == passed[f"{name} #2"] == words
    assert passed[f"{name} #3"] == expected[name]
    assert f"note: {name!r} is written as '{name} #3'" in result.err
    done("apply", "model.json", data, "--output", "again.csv")
    assert Path("again.csv").read_bytes() == Path("data-reduced.csv").read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--target yy", "data.csv has no column 'yy'"),
        ("--target b", "data.csv has no column 'b'; did you mean 'b"),
        ("--target c*", "data.csv has no column that matches 'c*'"),
        ("--target y --drop x*", "data.csv has no column that matches 'x*'"),
        ("--target y --keep wrd", "data.csv has no column 'wrd'; did you mean 'word'?"),
        ("--target y --drop y", "column 'y' is the target and cannot be dropped"),
        ("--target y --drop i* --keep id", "column 'id' is to be kept and cannot be dropped"),
        ("--target day", "data.csv: column 'day' is not numeric (row 1: '2020-01-01'; 59 more)"),
        ("--target y --drop [ab]? --drop id", "data.csv has no numeric column besides the target"),
        ("--target y --keep *", "data.csv has no numeric column besides the target 'y'"),
    ],
)
def test_columns_that_cannot_be(fails, data, files, options, message):
    assert message in fails("reduce", data, *options.split())
    assert files() == ["data.csv"]


def test_infinite_values_are_named(fails, folder, columns):
    a2 = [*columns["a2"][:9], "inf", *columns["a2"][10:]]
    data = written("data.csv", columns | {"a2": a2})
    assert (
        fails("reduce", data, "--target", "y") == "data.csv: column 'a2' contains infinity (row 10)"
    )


def test_a_target_without_variation_is_named(fails, folder, columns):
    data = written("data.csv", columns | {"y": ["1"] * 60})
    for command in (["reduce"], ["explain", "a1", "a2"], ["compare"]):
        message = fails(command[0], data, "--target", "y", *command[1:])
        assert message.startswith("data.csv: ")
        assert "'y'" in message


def test_single_precision_stays(done, folder, samples):
    frame = pl.DataFrame(samples.X.astype(np.float32), schema=samples.names)
    frame.with_columns(pl.Series("y", samples.y)).write_parquet("d.parquet")
    done("reduce", "d.parquet", "--target", "y", "--test", 0, "--no-report")
    model = LinCFA().fit(frame, samples.y)
    reduced = pl.read_parquet("d-reduced.parquet").drop("y")
    assert np.allclose(reduced.to_numpy(), model.transform(frame), rtol=1e-6)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "__index_level_0__"])
def test_labels_of_rows_are_no_feature(done, folder, columns, name):
    """What pandas writes in front of a table, or among its columns."""
    labels = [str(row) for row in range(60)]
    data = written("data.csv", {name: labels, **columns})
    result = done("reduce", data, "--target", "y", "--keep", "id", "--no-report")
    assert f"note: row labels, kept unchanged: column {name!r}" in result.err
    assert table_of("data-reduced.csv")[name] == labels
    assert name not in features_of()
    done("apply", "model.json", data, "--output", "again.csv")
    assert table_of("again.csv") == table_of("data-reduced.csv")


def test_names_in_another_case_are_suggested(fails, data):
    assert fails("reduce", data, "--target", "Y").endswith("did you mean 'y'?")


def test_decimal_commas_are_told(fails, folder, columns):
    comma = {name: [value.replace(".", ",") for value in columns[name]] for name in ("a1", "a2")}
    data = written("data.csv", comma | {"y": columns["y"]})
    message = fails("reduce", data, "--target", "y")
    assert message.endswith("numbers must have a decimal point, not a comma")
    (folder / "data.csv").write_text("y;a\n1;0,5\n2;1,5\n")
    message = fails("reduce", data, "--target", "y", "--decimal", ".")
    assert message.endswith("; --decimal , takes the commas in its numbers as decimal ones")


def test_a_time_axis_suggests_the_split_in_time(done, folder, samples):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    cells = ("time", "cell"), samples.X
    xr.Dataset({"t2m": cells, "y": ("time", samples.y)}).to_netcdf("d.nc")
    options = ["reduce", "d.nc", "--target", "y", "--no-report", "--force"]
    hint = "note: rows are held out at random; --folds blocks"
    assert hint in done(*options).err
    assert hint not in done(*options, "--folds", "blocks").err


def test_a_variable_without_any_value_is_kept(done, folder, samples):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    cells = ("time", "cell"), samples.X
    dead = ("time", "cell"), np.full_like(samples.X, np.nan)
    xr.Dataset({"t2m": cells, "dead": dead, "y": ("time", samples.y)}).to_netcdf("d.nc")
    done("reduce", "d.nc", "--target", "y", "--no-report")
    with xr.open_dataset("d-reduced.nc") as reduced:
        assert reduced["dead"].dims == ("time", "cell")
        assert reduced["dead"].isnull().all()
        assert "t2m" not in reduced
