"""Missing values: codes for them, rows without a target, and values that look like codes."""

import json
from pathlib import Path

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV, load
from lincfa.cli._files import _fields

pl = pytest.importorskip("polars")

CODE = -9999.0
WAYS = ["csv", "csv.gz", "parquet", "feather", "folder", "dask", "nc", "zarr", "chunks"]
ALL = ["--target", "y", "--test", 0, "--tolerance", 1, "--no-report"]


@pytest.fixture
def place(folder, samples, monkeypatch):
    """Writes features and target in a format; gives how a command names them."""

    def write(way, X, y):
        if way in ("folder", "dask", "chunks"):
            pytest.importorskip("dask.dataframe")
        if way in ("nc", "zarr", "chunks"):
            return write_field(way, X, y)
        frame = pl.DataFrame(X, schema=samples.names, orient="row").with_columns(
            pl.Series("y", y), pl.Series("id", [f"s{row}" for row in range(len(y))])
        )
        if way == "folder":
            Path("data").mkdir()
            frame[:20].write_parquet("data/part.0.parquet")
            frame[20:].write_parquet("data/part.1.parquet")
            return ["data"]
        if way.startswith("csv"):
            from lincfa.cli._write import write_table

            write_table(Path(f"data.{way}"), f"data.{way}", frame.fill_nan(None))
            return [f"data.{way}"]
        if way == "feather":
            frame.write_ipc("data.feather")
            return ["data.feather"]
        frame.write_parquet("data.parquet")
        return ["data.parquet", *(["--dask"] if way == "dask" else [])]

    def write_field(way, X, y):
        xr = pytest.importorskip("xarray")
        pytest.importorskip("netCDF4" if way == "nc" else "zarr")
        monkeypatch.setattr(_fields, "CHUNK_BYTES", 25 * 6 * 8)
        cells = X.reshape(-1, 2, 3)
        data = xr.Dataset({"t": (("row", "lat", "lon"), cells), "y": ("row", y)})
        if way == "nc":
            data.to_netcdf("data.nc", engine="netcdf4")
            return ["data.nc"]
        data.to_zarr("data.zarr", zarr_format=2, consolidated=True)
        return ["data.zarr", *(["--dask"] if way == "chunks" else [])]

    return write


def reduced(model, way):
    """The reduced features that a command wrote."""
    if way in ("nc", "zarr", "chunks"):
        import xarray as xr

        path = "data-reduced.nc" if way == "nc" else "data-reduced.zarr"
        with xr.open_dataset(path, engine="netcdf4" if way == "nc" else "zarr") as data:
            return data["reduced"].values
    if way in ("folder", "dask"):
        frame = pl.read_parquet("data-reduced*/*.parquet")
    elif way.startswith("csv"):
        frame = pl.read_csv(f"data-reduced.{way}")
    else:
        read = pl.read_ipc if way == "feather" else pl.read_parquet
        frame = read(f"data-reduced.{way}")
    return frame.select(list(model.get_feature_names_out())).to_numpy()


def with_holes(samples, hole):
    """The samples, with features missing in rows 3 and 50, and the target in rows 7 and 8."""
    X, y = samples.X.copy(), samples.y.copy()
    X[3, 1] = X[3, 3] = X[50, 3] = X[8, 0] = y[7] = y[8] = hole
    return X, y


@pytest.mark.parametrize("code", [None, CODE])
@pytest.mark.parametrize("way", WAYS)
def test_rows_left_out_in_any_format(done, run, place, samples, way, code):
    """Codes are missing values; rows without a target are reduced if they can be."""
    X, y = with_holes(samples, np.nan if code is None else code)
    data = place(way, X, y)
    options = [] if code is None else ["--missing-code", "-9999"]
    failed = run("reduce", *data, *ALL, *options)
    assert (failed.code, "no target" in failed.err) == (1, False)  # nothing is reduced
    message = failed.err
    what = "missing values" if code is None else "missing values (also -9999)"
    second, first, other = [f"({count})" for count in (2, 1, 1)]
    names = samples.names
    if way in ("nc", "zarr", "chunks"):
        names = [f"t[lat={k // 3}, lon={k % 3}]" for k in range(6)]
    told = f"{names[3]!r} {second}, {names[0]!r} {first}, {names[1]!r} {other}"
    assert f": {what} in columns {told}, in 2 of 60 rows (first in row 4); --missing" in message
    result = done("reduce", *data, *ALL, *options, "--missing", "drop")
    notes = [line for line in result.err.splitlines() if " of 60 rows " in line]
    assert notes == [
        "note: 2 of 60 rows have no target: nothing is learned from them, and 1 with all features "
        "is reduced",
        f"note: 2 of 60 rows left out because of {what} in columns {told}",
    ]
    learned = np.setdiff1d(np.arange(60), [3, 7, 8, 50])
    expected = LinCFA().fit(samples.X[learned], samples.y[learned])
    model = load("model.json")
    assert model.labels_.tolist() == expected.labels_.tolist()
    means = expected.transform(samples.X[np.setdiff1d(np.arange(60), [3, 8, 50])])
    np.testing.assert_allclose(reduced(model, way), means, rtol=1e-12, atol=1e-12)
    applied = done("apply", "model.json", *data, *options, "--missing", "drop", "--force")
    assert "note: 3 of 60 rows left out" in applied.err
    np.testing.assert_allclose(reduced(model, way), means, rtol=1e-12, atol=1e-12)


def test_rows_without_a_target_are_written_but_not_scored(done, place, samples):
    """Whether features may be missing or not, and in their old order."""
    y = samples.y.copy()
    y[[0, 30, 59]] = np.nan
    data = place("parquet", samples.X, y)
    told = json.loads(done("reduce", *data, "--target", "y", "--tolerance", 1, "--json").out)
    assert told["notes"] == [
        "not numeric, kept unchanged: column 'id'",
        "3 of 60 rows have no target: they are reduced, but not learned from",
    ]
    assert (told["n_samples"], told["scores"]["n_test"]) == (40, 17)
    names = ("rows", "rows without target", "rows left out")
    assert [told["data"][name] for name in names] == [60, 3, 0]
    written = pl.read_parquet("data-reduced.parquet")
    assert written["id"].to_list() == [f"s{row}" for row in range(60)]
    model = load("model.json")
    means = model.transform(pl.DataFrame(samples.X, schema=samples.names))
    np.testing.assert_allclose(reduced(model, "parquet"), means, rtol=1e-12)


def test_a_target_that_is_always_missing(fails, place, samples):
    data = place("parquet", samples.X, np.full(60, CODE))
    message = fails("reduce", *data, "--target", "y", "--missing-code", "-9999")
    assert message == "data.parquet: the target 'y' has no value in any row"


def test_compare_takes_complete_rows(done, fails, place, samples):
    X, y = with_holes(samples, 1e20)
    data = place("csv", X, y)
    options = ["compare", *data, "--target", "y", "--method", "ridge", "--missing-code", "1e20"]
    assert "missing values (also 1e+20) in columns 'b1' (2), 'a1' (1)" in fails(*options)
    told = json.loads(done(*options, "--missing", "drop", "--json").out)
    assert "2 of 60 rows have no target and are left out" in told["notes"]
    assert told["n_samples"] == 56
    message = fails(*options, "--missing", "pairwise", code=2)
    assert "--missing pairwise is for lincfa reduce; the methods compared need complete" in message


def test_codes_of_all_kinds(done, save, columns):
    """Numbers as they are read, several codes, and columns to keep, which are not changed."""
    rows = {"a1": (4, "-9999.0"), "a2": (5, "-1e30"), "b1": (6, "99"), "b2": (9, " -9999 ")}
    holes = {name: [*columns[name]] for name in rows}
    for name, (row, text) in rows.items():
        holes[name][row] = text
    whole = [str(row) for row in range(30)] + ["-9999"] * 30
    data = save(columns | holes | {"id": ["-9999", *columns["id"][1:]], "whole": whole})
    options = ["--missing", "drop", "--missing-code", "-9999", "--missing-code", "-1e30"]
    options += ["--missing-code", "99", "--keep", "id", "--keep", "whole"]
    told = json.loads(done("reduce", data, *ALL, *options, "--json").out)
    assert told["n_samples"] == 56
    assert any(note.startswith("4 of 60 rows left out because") for note in told["notes"])
    written = pl.read_csv("data-reduced.csv", infer_schema=False)
    assert written["id"][0] == "-9999"
    left = [row for row in range(60) if row not in (4, 5, 6, 9)]
    assert written["whole"].to_list() == [whole[row] for row in left]


@pytest.mark.parametrize("code", ["NA", "nan", "inf", ""])
def test_a_code_is_a_number(fails, data, code):
    message = fails("reduce", data, "--target", "y", f"--missing-code={code}", code=2)
    assert f"argument --missing-code: {code!r} is not a number" in message


def test_codes_from_a_pipe(run, samples, folder):
    X, y = with_holes(samples, CODE)
    frame = pl.DataFrame(X, schema=samples.names, orient="row").with_columns(y=pl.Series(y))
    result = run(
        *("reduce", "-", *ALL, "--missing", "drop", "--missing-code", "-9999", "--output", "-"),
        stdin=frame.write_csv().encode(),
    )
    assert result.code == 0, result.err
    assert len(result.out.splitlines()) == 1 + 57


@pytest.mark.parametrize("way", WAYS)
def test_values_that_look_like_codes_are_noted(done, place, samples, way):
    X = samples.X.copy()
    X[10:13, 1] = X[20:24, 4] = CODE
    X[5:9, 2] = 1e20
    X[0, 0] = CODE  # a single one is an outlier
    data = place(way, X, samples.y)
    result = done("reduce", *data, *ALL)
    applied = done("apply", "model.json", *data, "--force")
    names = samples.names
    if way in ("nc", "zarr", "chunks"):
        names = [f"t[lat={k // 3}, lon={k % 3}]" for k in range(6)]
    notes = [line for line in result.err.splitlines() if "looks like" in line]
    assert notes == [
        f"note: -9999 in columns {names[1]!r}, {names[4]!r} looks like a code for missing values; "
        "--missing-code -9999 counts it as missing",
        f"note: 1e+20 in column {names[2]!r} looks like a code for missing values; --missing-code "
        "1e+20 counts it as missing",
    ]
    assert [line for line in applied.err.splitlines() if "looks like" in line] == notes
    options = ["--missing-code", "-9999", "--missing-code", "1e20", "--missing", "drop"]
    assert "looks like" not in done("reduce", *data, *ALL, *options, "--force").err
    assert "looks like" not in done("apply", "model.json", *data, *options, "--force").err


def test_codes_of_the_two_features_are_noted(done, place, samples):
    X = samples.X.copy()
    X[10:13, 1], X[5:9, 2] = CODE, 1e20
    options = ["explain", *place("csv", X, samples.y), "--target", "y", "a1", "a2"]
    told = "note: -9999 in column 'a2' looks like a code for missing values"
    (note,) = [line for line in done(*options).err.splitlines() if "looks like" in line]
    assert note.startswith(told)
    assert "looks like" not in done(*options, "--missing-code", "-9999").err


def noted(done, columns):
    pl.DataFrame(columns).write_parquet("columns.parquet")
    result = done("reduce", "columns.parquet", *ALL, "--force")
    return [line for line in result.err.splitlines() if "looks like" in line]


def test_ordinary_values_do_not_look_like_codes(done, folder):
    rng = np.random.default_rng(8)
    n = 400
    target = rng.normal(size=n)
    columns = {
        "y": target,
        "zeros": np.where(rng.random(n) < 0.9, 0.0, rng.lognormal(10, 3, n)),
        "far from zero": np.where(rng.random(n) < 0.2, 0.0, rng.normal(1e6, 1, n)),
        "counts": rng.negative_binomial(1, 0.02, n),
        "capped": np.minimum(rng.poisson(90, n), 99),
        "years": rng.integers(98, 100, n),
        "binary": rng.integers(0, 2, n),
        "two values": rng.choice([-1.0, 1.0], n),
        "money": rng.choice([9999.0, 99.99, 999.0], n),
        "heavy": np.exp(rng.standard_cauchy(n).clip(-300, 300)),
        "one outlier": np.where(np.arange(n) == 5, -9999.0, target),
        "times": 1.7e18 + rng.integers(0, 10**9, n),
        "flags": rng.choice([0, 1, 255], n),
    }
    assert noted(done, columns) == []


def test_other_values_that_do_look_like_codes(done, folder):
    n = 300
    rng = np.random.default_rng(2)

    def coded(values, code, count=30):
        return np.where(rng.permutation(n) < count, code, values)

    normal = rng.normal(size=n)
    columns = {
        "y": normal,
        "kelvin": coded(280 + normal, -99),
        "single": coded(normal, -999.9).astype(np.float32),
        "both": coded(coded(normal, 99999.0), -99999.0),
        "whole": np.full(n, -9999),
        "dry": coded(np.zeros(n), -9999.0),
        "few": coded(normal, -9999.0, 2),
    }
    single = float(np.float32(-999.9))
    where = {line.split()[1]: line for line in noted(done, columns)}
    assert {*where} == {"-9999", "-99", "99999", "-99999", repr(single)}
    assert "in columns 'whole', 'dry' looks" in where["-9999"]
    result = done(
        "reduce", "columns.parquet", *ALL, "--missing-code", single, "--missing", "drop", "--force"
    )
    assert "note: 30 of 300 rows left out because of missing values (also -999.9" in result.err


@pytest.mark.parametrize("code", [None, CODE])
@pytest.mark.parametrize("way", WAYS)
def test_new_samples_with_gaps(done, fails, place, samples, way, code):
    """A model learned with missing="pairwise" averages what is present, in any format."""
    learned = samples.X
    hole = np.nan if code is None else code
    X = samples.X.copy()
    X[3, 1] = X[3, 3] = X[8] = X[50, 3:] = X[59, 0] = hole
    data = place(way, X, samples.y)
    names = samples.names
    fitted = LinCFA(missing="pairwise", tolerance=9.0)
    if way in ("nc", "zarr", "chunks"):
        import xarray as xr

        fitted.set_params(sample_dim="row")
        cells = xr.DataArray(learned.reshape(-1, 2, 3), dims=("row", "lat", "lon"), name="t")
        fitted.fit(cells, samples.y)
    else:
        fitted.fit(pl.DataFrame(learned, schema=names, orient="row"), samples.y)
    assert fitted.labels_.tolist() == [0, 0, 0, 1, 1, 1]
    fitted.save("model.json")
    options = [] if code is None else ["--missing-code", CODE]
    told = json.loads(done("apply", "model.json", *data, *options, "--json").out)
    assert (told["n_samples"], told["notes"]) == (60, [])
    standardized = (X - fitted.mean_) / fitted.scale_
    standardized[X == CODE] = np.nan
    present = ~np.isnan(standardized)
    means = [
        np.divide(
            np.nansum(standardized[:, part], axis=1),
            present[:, part].sum(axis=1),
            out=np.full(60, np.nan),
            where=present[:, part].any(axis=1),
        )
        for part in (slice(0, 3), slice(3, 6))
    ]
    assert np.isnan(means).sum() == 3
    written = reduced(fitted, way)
    np.testing.assert_allclose(written, np.transpose(means), rtol=1e-12, atol=1e-12)
    message = fails("apply", "model.json", *data, *options, "--missing", "error", "--force")
    assert "in 4 of 60 rows (first in row 4); --missing drop leaves out" in message
    assert "--missing pairwise averages what is present" in message
    done("apply", "model.json", *data, *options, "--missing", "drop", "--force")
    rows = np.delete(np.arange(60), [3, 8, 50, 59])
    kept = np.transpose(means)[rows]
    np.testing.assert_allclose(reduced(fitted, way), kept, rtol=1e-12, atol=1e-12)


def test_a_feature_that_new_samples_lack(done, save, columns, samples):
    frame = pl.DataFrame(samples.X, schema=samples.names, orient="row")
    model = LinCFA(missing="pairwise", tolerance=9.0).fit(frame, samples.y)
    model.save("model.json")
    for word in ("", "NA"):
        done("apply", "model.json", save(columns | {"a1": [word] * 60}), "--force")
        gaps = frame.with_columns(a1=pl.lit(np.nan))
        written = reduced(model, "csv")
        np.testing.assert_allclose(written, model.transform(gaps), rtol=1e-12, atol=1e-12)


def test_a_model_that_takes_no_gaps(done, fails, data):
    done("reduce", data, *ALL)
    message = fails("apply", "model.json", data, "--missing", "pairwise", "--force")
    assert message == (
        "model.json was not learned with --missing pairwise, and takes no missing values; use "
        "--missing drop"
    )


def gappy(samples, hole):
    """The samples, with a tenth of the features missing, all in row 8, and the target in row 7."""
    X, y = samples.X.copy(), samples.y.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = hole
    X[8] = y[7] = hole
    return X, y


@pytest.mark.parametrize("code", [None, CODE])
@pytest.mark.parametrize("way", WAYS)
def test_pairwise_in_any_format(done, place, samples, way, code):
    """The groups are those of LinCFA(missing="pairwise"), and all rows are reduced."""
    data = place(way, *gappy(samples, np.nan if code is None else code))
    options = [] if code is None else ["--missing-code", CODE]
    options += ["--missing", "pairwise", "--target", "y", "--tolerance", 3, "--folds", "blocks"]
    told = json.loads(done("reduce", *data, *options, "--json").out)
    assert "1 of 60 rows has no target: it is reduced, but not learned from" in told["notes"]
    assert (told["n_samples"], told["scores"]["n_test"]) == (41, 18)
    assert told["scores"]["rows"][-1]["r2"]["value"] > 0.5
    X, y = gappy(samples, np.nan)
    learned = np.delete(np.arange(42), 7)
    model = LinCFA(missing="pairwise", tolerance=3.0).fit(X[learned], y[learned])
    assert 1 < model.n_groups_ < 6
    saved = load("model.json")
    assert saved.missing == "pairwise"
    assert saved.labels_.tolist() == model.labels_.tolist()
    means = model.transform(X)
    assert np.isnan(means[8]).all()
    np.testing.assert_allclose(reduced(saved, way), means, rtol=1e-12, atol=1e-12)
    done("apply", "model.json", *data, *options[: 0 if code is None else 2], "--force")
    np.testing.assert_allclose(reduced(saved, way), means, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_a_feature_without_a_value_to_learn_from(done, place, samples, way):
    """It belongs to no group, though it has values in the rows held out."""
    X = samples.X.copy()
    X[:42, 1] = np.nan
    data = place(way, X, samples.y)
    options = ["--missing", "pairwise", "--target", "y", "--tolerance", 3, "--folds", "blocks"]
    result = done("reduce", *data, *options)
    name = "t[lat=0, lon=1]" if way in ("nc", "zarr", "chunks") else "a2"
    told = f"without any value in the rows to learn from, kept unchanged: column {name!r}"
    assert f"note: {told}\n" in result.err
    others = np.delete(np.arange(6), 1)
    model = LinCFA(tolerance=3.0).fit(X[:42][:, others], samples.y[:42])
    saved = load("model.json")
    assert saved.labels_.tolist() == model.labels_.tolist()
    means = model.transform(X[:, others])
    np.testing.assert_allclose(reduced(saved, way), means, rtol=1e-12, atol=1e-12)


def test_pairwise_by_cross_validation(done, place, samples):
    X, y = gappy(samples, np.nan)
    data = place("parquet", X, y)
    options = ["--missing", "pairwise", "--target", "y", "--test", 0]
    told = json.loads(done("reduce", *data, *options, "--json").out)
    assert told["choice"]["by"] == "cross-validation"
    frame = pl.DataFrame(X, schema=samples.names, orient="row")
    rows = np.delete(np.arange(60), 7)
    model = LinCFACV(missing="pairwise").fit(frame[rows], y[rows])
    assert load("model.json").labels_.tolist() == model.labels_.tolist()
    means = model.transform(frame)
    np.testing.assert_allclose(reduced(model, "parquet"), means, rtol=1e-12, atol=1e-12)


def test_a_complete_table_is_the_same_pairwise(done, place, samples):
    data = place("parquet", samples.X, samples.y)
    done("reduce", *data, *ALL)
    expected = pl.read_parquet("data-reduced.parquet")
    result = done("reduce", *data, *ALL, "--missing", "pairwise", "--force")
    assert result.err == "note: not numeric, kept unchanged: column 'id'\n"
    assert pl.read_parquet("data-reduced.parquet").equals(expected)


def test_noise_of_all_features_needs_complete_rows(fails, place, samples):
    data = place("parquet", *gappy(samples, np.nan))
    message = fails("reduce", *data, *ALL, "--missing", "pairwise", "--noise", "full")
    assert message.startswith("data.parquet: ")
    assert "noise" in message
    assert "full" in message


def test_explain_agrees_with_a_pairwise_reduction(done, place, samples):
    data = place("parquet", *gappy(samples, np.nan))
    done("reduce", *data, "--target", "y", "--tolerance", 3, "--missing", "pairwise", "--no-report")
    evidence = load("model.json").evidence_frame("polars")
    row = evidence.filter(pl.col("f") > 0).row(0, named=True)
    pair = row["partner"], row["feature"]
    told = json.loads(
        done("explain", *data, "--target", "y", *pair, "--tolerance", 3, "--json").out
    )
    for name in ("f", "correlation", "threshold"):
        assert told[name] == pytest.approx(row[name]), name
