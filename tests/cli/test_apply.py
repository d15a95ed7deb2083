"""``lincfa apply`` averages new samples by a saved model."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from lincfa import LinCFA

pl = pytest.importorskip("polars")


def table_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))


@pytest.fixture
def model(samples, folder):
    """A saved model of the first forty samples, and the features of all."""
    frame = pl.DataFrame(samples.X, schema=samples.names)
    fitted = LinCFA().fit(frame.head(40), samples.y[:40])
    fitted.save("model.json")
    return fitted, frame


def check(path, model, rows=slice(None)):
    fitted, frame = model
    written = table_of(path)
    means = np.array([written[name] for name in fitted.get_feature_names_out()], dtype=float).T
    assert np.allclose(means, fitted.transform(frame)[rows], rtol=1e-12)
    return written


def test_new_samples(run, data, model, columns, files):
    result = run("apply", "model.json", data)
    assert (result.code, result.err) == (0, "")
    assert result.out == f"60 rows, {model[0].summary().headline}\noutput: data-reduced.csv\n"
    assert files() == ["data-reduced.csv", "data.csv", "model.json"]
    written = check("data-reduced.csv", model)
    assert list(written) == ["id", "word", "y", "day", *model[0].get_feature_names_out()]
    for name in ("id", "word", "y", "day"):
        assert written[name] == columns[name]


@pytest.mark.parametrize("options", [[], ["--units", "original"], ["--tolerance", "0.1"]])
def test_the_same_file_gives_the_same_table(done, data, options):
    done("reduce", data, "--target", "y", "--keep", "id", "--no-report", *options)
    done("apply", "model.json", data, "--output", "again.csv")
    assert Path("again.csv").read_bytes() == Path("data-reduced.csv").read_bytes()


def test_columns_in_another_order_and_without_target(done, save, columns, model):
    names = [name for name in reversed(columns) if name != "y"]
    data = save({name: columns[name] for name in names}, "new.csv")
    done("apply", "model.json", data)
    written = check("new-reduced.csv", model)
    assert list(written)[:3] == ["day", "word", "id"]


def test_nothing_but_features(done, model):
    fitted, frame = model
    frame.write_csv("new.csv")
    done("apply", "model.json", "new.csv")
    assert [*check("new-reduced.csv", model)] == [*fitted.get_feature_names_out()]
    frame.with_columns(a1=pl.when(pl.int_range(60) > 0).then("a1")).write_csv("new.csv")
    done("apply", "model.json", "new.csv", "--missing", "drop", "--force")
    check("new-reduced.csv", model, slice(1, None))


def test_other_columns_may_have_no_value(done, save, columns, model):
    data = save(columns | {"y": [""] * 60, "new": ["1.10", ""] * 30}, "new.csv")
    done("apply", "model.json", data)
    written = check("new-reduced.csv", model)
    assert written["y"] == [""] * 60
    assert written["new"] == ["1.10", ""] * 30


def test_rows_with_missing_values(done, fails, save, columns, model):
    holes = columns | {"b3": [*columns["b3"][:5], "NA", *columns["b3"][6:]]}
    data = save(holes, "new.csv")
    message = fails("apply", "model.json", data)
    assert message.startswith("new.csv: missing values in column 'b3' (1), in 1 of 60 rows")
    assert "a model learned with --missing pairwise takes them" in message
    result = done("apply", "model.json", data, "--missing", "drop")
    assert result.err.startswith("note: 1 of 60 rows left out")
    written = check("new-reduced.csv", model, rows=np.delete(np.arange(60), 5))
    assert written["id"] == columns["id"][:5] + columns["id"][6:]


def test_outcome_for_programs(done, data, model):
    told = json.loads(done("apply", "model.json", data, "--json").out)
    assert told == {
        "headline": model[0].summary().headline,
        "n_samples": 60,
        "n_features": 6,
        "n_groups": model[0].n_groups_,
        "notes": [],
        "written": {"output": "data-reduced.csv"},
    }


def test_drop_leaves_out_what_is_no_feature(done, fails, data, model):
    done("apply", "model.json", data, "--drop", "[iw]*", "--output", "r.csv")
    assert list(table_of("r.csv"))[:2] == ["y", "day"]
    message = fails("apply", "model.json", data, "--drop", "a*", "--output", "s.csv")
    assert message == "column 'a1' is a feature of the model and cannot be dropped"


def test_another_format(done, data, model):
    done("apply", "model.json", data, "--output", "r.parquet")
    written = pl.read_parquet("r.parquet")
    fitted, frame = model
    means = written.select(fitted.get_feature_names_out()).to_numpy()
    assert np.array_equal(means, fitted.transform(frame))


def test_a_single_row(done, save, columns, model):
    data = save({name: values[:1] for name, values in columns.items()}, "new.csv")
    done("apply", "model.json", data)
    check("new-reduced.csv", model, rows=slice(1))


def test_missing_features_are_named(fails, save, columns, model):
    data = save({"B3" if name == "b3" else name: columns[name] for name in columns}, "new.csv")
    message = "new.csv does not have column 'b3', which model.json averages"
    assert fails("apply", "model.json", data) == f"{message}; did you mean 'b3' by 'B3'?"
    data = save({f"{name}nm": columns[name] for name in columns}, "other.csv")
    message = "columns 'a1', 'a2', 'a3' and 3 more, which model.json averages"
    hint = "did you mean 'a1' by 'a1nm'?"
    assert fails("apply", "model.json", data).endswith(f"{message}; {hint}")


def test_text_in_a_feature_is_named(fails, save, columns, model):
    data = save(columns | {"b3": [*columns["b3"][:5], "x", *columns["b3"][6:]]}, "new.csv")
    message = fails("apply", "model.json", data)
    assert message == "new.csv: column 'b3' is not numeric (row 6: 'x')"


@pytest.mark.parametrize("content", ["", "{}", "[1]", "id,a1\n1,2\n", '{"format": "lincfa"}'])
def test_a_model_that_is_none_is_named(fails, data, files, content):
    Path("model.json").write_text(content)
    assert "model.json" in fails("apply", "model.json", data)
    assert files() == ["data.csv", "model.json"]


def test_files_that_are_not_there_are_named(fails, data, model):
    assert fails("apply", "none.json", data) == "none.json: No such file or directory"
    assert fails("apply", "model.json", "n.csv") == "n.csv: No such file or directory"


def test_model_and_data_in_the_wrong_order(call, data, model):
    result = call("apply", data, "model.json")
    assert result.code == 2
    assert "the model comes first, then the data" in result.err
