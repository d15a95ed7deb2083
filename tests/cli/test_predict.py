"""``lincfa predict``: the command line, Python and ONNX predict the same numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

import lincfa
from lincfa import LinCFA, LinCFACV

pl = pytest.importorskip("polars")

REDUCE = ("--target", "y", "--keep", "id", "--no-report")
WAYS = {
    "search": [],
    "rule": ["--tolerance", 1],
    "path": ["--n-groups", 3],
    "original": ["--tolerance", 1, "--units", "original"],
}


@pytest.fixture
def frame(samples):
    return pl.DataFrame(samples.X, schema=samples.names)


@pytest.mark.parametrize("way", WAYS)
def test_the_same_numbers_everywhere(done, data, frame, columns, way):
    done("reduce", data, *REDUCE, *WAYS[way])
    result = done("predict", "model.json", data)
    assert "60 rows predicted from" in result.out
    model = lincfa.load("model.json")
    written = pl.read_csv("data-predicted.csv")
    assert written.columns == ["id", "word", "y", "day", "y_predicted"]
    text = pl.read_csv("data-predicted.csv", infer_schema=False)
    for name in ("id", "y", "day"):  # as they were
        assert text[name].to_list() == columns[name]
    np.testing.assert_array_equal(written["y_predicted"], model.predict(frame))
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(lincfa.to_onnx(model).SerializeToString())
    (found,) = session.run(None, {"X": frame.to_numpy()})
    np.testing.assert_allclose(found[:, 0], written["y_predicted"], rtol=1e-11, atol=1e-12)


def test_a_ridge_on_the_means_predicts_as_one_by_hand(done, data, samples, frame):
    """The penalty is a share of the total variance of the means; see RidgeRegression."""
    done("reduce", data, *REDUCE, "--tolerance", 1, "--test", 0)
    model = lincfa.load("model.json")
    assert type(model) is LinCFACV
    means = LinCFA().fit(frame, samples.y).transform(frame)
    centered, y = means - means.mean(axis=0), samples.y - samples.y.mean()
    penalty = model.penalty_ * (centered**2).sum() * np.eye(means.shape[1])
    coef = np.linalg.solve(centered.T @ centered + penalty, centered.T @ y)
    np.testing.assert_allclose(model.predict(frame), centered @ coef + samples.y.mean())
    assert model._targets.titles == ["y"]
    assert "chosen by cross-validation" in str(model.summary())
    assert "chosen by cross-validation: sequential" not in str(model.summary())


def test_intervals(done, data, frame, samples):
    done("reduce", data, *REDUCE, "--test", 0.5)
    result = done("predict", "model.json", data, "--interval", 0.9, "--output", "p.csv")
    model, written = lincfa.load("model.json"), pl.read_csv("p.csv")
    low, high = model.predict_interval(frame, 0.9)
    np.testing.assert_array_equal(written["y_low"], low)
    np.testing.assert_array_equal(written["y_high"], high)
    assert "which 28 of 30 errors on rows held out do not exceed" in result.out  # ⌈0.9 · 31⌉
    assert "R² " in result.out
    assert "about 30 of these rows were learned from" in result.out
    rng = np.random.default_rng(0).permutation(60)
    test = np.sort(rng[30:])
    errors = np.abs(samples.y[test] - model.predict(frame[test]))
    np.testing.assert_allclose(model.errors_, np.sort(errors))


def test_intervals_that_cannot_be_made(done, fails, data):
    done("reduce", data, *REDUCE)
    assert "at least 99 held-out samples, and the model has those of 18" in fails(
        "predict", "model.json", data, "--interval", 0.99
    )
    assert not Path("data-predicted.csv").exists()
    done("reduce", data, *REDUCE, "--test", 0, "--force")
    assert "where it holds out rows (--test SHARE)" in fails(
        "predict", "model.json", data, "--interval", 0.9
    )
    for wrong in ("0", "1", "95", "x"):
        message = fails("predict", "model.json", data, "--interval", wrong, code=2)
        assert "a share between 0 and 1" in message


def test_several_targets_by_name(done, data, frame, samples):
    options = ("--target", "y", "--target", "b3", "--keep", "id", "--no-report")
    done("reduce", data, *options)
    told = json.loads(done("predict", "model.json", data, "--interval", 0.5, "--json").out)
    written = pl.read_csv("data-predicted.csv")
    model = lincfa.load("model.json")
    predicted = model.predict(frame.drop("b3"))
    for k, name in enumerate(("y", "b3")):
        np.testing.assert_array_equal(written[f"{name}_predicted"], predicted[:, k])
        assert (written[f"{name}_low"] < written[f"{name}_high"]).all()
    assert told["targets"] == ["y", "b3"]
    assert told["interval"] == 0.5
    error = ((samples.y - predicted[:, 0]) ** 2).sum()
    total = ((samples.y - samples.y.mean()) ** 2).sum()
    assert told["scores"]["y"] == {
        "R²": pytest.approx(1 - error / total),
        "inside": pytest.approx(
            (np.abs(samples.y - predicted[:, 0]) <= model._half_width(0.5)[0]).mean()
        ),
        "n_samples": 60,
    }
    assert set(told["scores"]) == {"y", "b3"}


def test_classes_with_their_probabilities(done, fails, save, columns, samples, frame):
    kinds = np.array(["low", "mid", "high"])[np.searchsorted([-1, 1], samples.y)]
    data = save({**columns, "kind": kinds.tolist()})
    done("reduce", data, "--target", "kind", "--drop", "y", "--keep", "id", "--no-report")
    told = json.loads(done("predict", "model.json", data, "--json").out)
    model, written = lincfa.load("model.json"), pl.read_csv("data-predicted.csv")
    assert written["kind_predicted"].to_list() == model.predict(frame).tolist()
    names = [f"kind_probability_{label}" for label in model.classes_]
    np.testing.assert_allclose(written.select(names).to_numpy(), model.predict_proba(frame))
    right = (model.predict(frame) == kinds).mean()
    assert told["scores"]["kind"] == {
        "accuracy": pytest.approx(right),
        "inside": None,
        "n_samples": 60,
    }
    assert "--interval is for targets that are numbers" in fails(
        "predict", "model.json", data, "--interval", 0.9, "--force"
    )


def test_a_column_of_that_name_stays(done, data, save, columns):
    done("reduce", data, *REDUCE)
    again = save({**columns, "y_predicted": ["1"] * 60}, "again.csv")
    result = done("predict", "model.json", again)
    assert "'y_predicted' is written as 'y_predicted #2'" in result.err
    assert pl.read_csv("again-predicted.csv")["y_predicted"].to_list() == [1] * 60


def test_models_that_do_not_predict(fails, done, data, frame, samples):
    LinCFA().fit(frame, samples.y).save("groups.json")
    assert "holds groups but no regression" in fails("predict", "groups.json", data)
    rows = pl.read_csv(data, infer_schema=False).head(4)
    rows.write_csv("few.csv")
    result = done("reduce", "few.csv", *REDUCE)
    assert "reduces, but does not predict: no regression" in result.err
    assert "holds groups but no regression" in fails("predict", "model.json", "few.csv")


def test_order_of_arguments(fails):
    assert "the model comes first" in fails("predict", "data.csv", "model.json", code=2)


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
@pytest.mark.parametrize("chunks", [[], ["--dask"]])
def test_fields(done, folder, samples, suffix, chunks):
    xr = pytest.importorskip("xarray")
    pytest.importorskip("dask.array")
    if suffix == "nc" and chunks:
        pytest.skip("NetCDF is read into memory")
    field = xr.DataArray(
        samples.X.reshape(60, 2, 3),
        {"time": range(60), "lat": [45.0, 46.0], "lon": [7.0, 8.0, 9.0]},
        ("time", "lat", "lon"),
    )
    rain = ("time", samples.y, {"units": "mm"})
    data = xr.Dataset({"t2m": field, "rain": rain, "station": ((), 7)})
    if suffix == "nc":
        data.to_netcdf("field.nc")
    else:
        data.to_zarr("field.zarr", zarr_format=2)
    done("reduce", f"field.{suffix}", "--target", "rain", "--no-report", *chunks)
    done("predict", "model.json", f"field.{suffix}", "--interval", 0.9, *chunks)
    opened = xr.open_dataset if suffix == "nc" else xr.open_zarr
    written = opened(f"field-predicted.{suffix}")
    predicted = lincfa.load("model.json").predict(data[["t2m"]])
    np.testing.assert_allclose(written["rain_predicted"], predicted, rtol=1e-12)
    assert written["rain_predicted"].dims == ("time",)
    assert written["rain_predicted"].attrs["units"] == "mm"
    assert (written["rain_low"] < written["rain_high"]).all()
    assert "t2m" not in written
    np.testing.assert_array_equal(written["rain"], samples.y)


def test_a_folder_of_parquet_files(done, folder, frame, samples):
    pytest.importorskip("dask.dataframe")
    whole = frame.with_columns(y=samples.y, word=pl.Series(["é", "b"] * 30))
    Path("data").mkdir()
    for k in range(3):
        whole[20 * k : 20 * k + 20].write_parquet(f"data/part.{k}.parquet")
    done("reduce", "data", "--target", "y", "--no-report")
    done("predict", "model.json", "data", "--interval", 0.9)
    written = pl.read_parquet("data-predicted/*.parquet")
    assert written.columns == ["y", "word", "y_predicted", "y_low", "y_high"]
    assert written["word"].to_list() == whole["word"].to_list()
    predicted = lincfa.load("model.json").predict(frame)
    np.testing.assert_allclose(written["y_predicted"], predicted, rtol=1e-12)


def test_a_model_made_in_python(done, data, frame, samples):
    model = LinCFACV(cv=3).fit(frame[:30], samples.y[:30])
    model.calibrate(frame[30:], samples.y[30:]).save("mine.json")
    done("predict", "mine.json", data, "--interval", 0.9)
    written = pl.read_csv("data-predicted.csv")
    np.testing.assert_array_equal(written["y_predicted"], model.predict(frame))
    np.testing.assert_array_equal(written["y_high"], model.predict_interval(frame, 0.9)[1])


def test_scores_never_stand_in_the_way(done, save, columns, samples):
    """Targets in new data may be anything: the predictions are what matters."""
    done("reduce", save(columns), *REDUCE)
    for column in (["inf", *columns["y"][1:]], ["?"] * 60, [""] * 60, ["2020-01-01"] * 60):
        done("predict", "model.json", save({**columns, "y": column}, "new.csv"), "--force")
    codes = np.searchsorted([-1, 1], samples.y)
    data = save({**columns, "kind": [str(code) for code in codes]}, "classes.csv")
    options = ("--target", "kind", "--classes", "--drop", "y", "--keep", "id", "--no-report")
    done("reduce", data, *options, "--force")
    right = lincfa.load("model.json").predict(pl.DataFrame(samples.X, schema=samples.names))
    for column, share in (
        ([f"{code}.0" for code in codes], (right == codes).mean()),
        ([""] * 60, None),
        (["other"] * 60, 0.0),
        (["2020-01-01"] * 60, 0.0),
    ):
        data = save({**columns, "kind": column}, "new.csv")
        told = json.loads(done("predict", "model.json", data, "--force", "--json").out)
        found = told["scores"].get("kind", {}).get("accuracy")
        assert found == (None if share is None else pytest.approx(share)), column[0]


def test_the_target_stays_a_number_in_formats_with_types(done, data, samples):
    done("reduce", data, *REDUCE)
    done("predict", "model.json", data, "--output", "p.parquet")
    written = pl.read_parquet("p.parquet")
    np.testing.assert_allclose(written["y"], samples.y)
    assert written["id"].dtype == pl.String


def test_a_variable_of_that_name_stays(done, folder, samples):
    xr = pytest.importorskip("xarray")
    t2m = (("time", "cell"), samples.X)
    data = xr.Dataset({"t2m": t2m, "rain": ("time", samples.y)})
    data.assign(rain_predicted=("time", np.ones(60))).to_netcdf("field.nc")
    drop = ("--drop", "rain_predicted", "--samples", "time")
    done("reduce", "field.nc", "--target", "rain", "--no-report", *drop)
    result = done("predict", "model.json", "field.nc", "--samples", "time")
    assert "'rain_predicted' is written as 'rain_predicted #2'" in result.err
    written = xr.open_dataset("field-predicted.nc")
    assert (written["rain_predicted"] == 1).all()
    assert written["rain_predicted #2"].dims == ("time",)
