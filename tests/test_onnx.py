"""Models as ONNX graphs predict the same."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsRegressor

import lincfa
from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from lincfa.datasets import make_correlated
from reference import QUICK

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")


def outputs(model, X, dtype=np.float64):
    converted = lincfa.to_onnx(model, dtype)
    onnx.checker.check_model(converted, full_check=True)
    session = runtime.InferenceSession(converted.SerializeToString())
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X.astype(dtype)}), strict=True))


@pytest.fixture(scope="module")
def samples():
    return make_correlated(n_samples=120, n_features=30, random_state=0)


@pytest.mark.parametrize(
    "options",
    [{}, {"units": "original"}, {"signed": True}, {"feature_weights": np.linspace(0.5, 2, 30)}],
    ids=["standardized", "original", "signed", "weighted"],
)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_numbers(samples, options, offset):
    X, y = samples
    X = X + offset
    X[:, 7] = 3.0
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFACV(**QUICK, **options).fit(X, y)
    found = outputs(model, X)["y"]
    assert found.shape == (120, 1)
    # Values around 10⁶ are rounded by 10⁻¹⁰, and 30 weights of up to 10 add up such errors.
    largest = 30 * 10 * 1e-16 * offset
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-11, atol=largest + 1e-9)


def test_several_targets_and_their_names(samples, tmp_path):
    X, y = samples
    frame = pd.DataFrame(X, columns=[f"größe {k}" for k in range(30)])
    Y = pd.DataFrame({"warm": y, "wet": np.cos(y)})
    LinCFACV(**QUICK).fit(frame, Y).save(tmp_path / "model.json")
    model = lincfa.load(tmp_path / "model.json")
    np.testing.assert_allclose(outputs(model, X)["y"], model.predict(frame), rtol=1e-10)
    about = {each.key: each.value for each in lincfa.to_onnx(model).metadata_props}
    assert {key: json.loads(each) for key, each in about.items()} == {
        "features": list(frame.columns),
        "targets": ["warm", "wet"],
    }


@pytest.mark.parametrize("labels", [["no", "äh"], [2, 5, 9], [False, True], [1.0, 2.0, 3.0, 5.0]])
def test_classes(samples, labels):
    X, y = samples
    limits = np.quantile(y, np.linspace(0, 1, len(labels) + 1)[1:-1])
    classes = np.array(labels)[np.searchsorted(limits, y)]
    model = LinCFAClassifierCV(cv=3).fit(X, classes)
    found = outputs(model, X)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-12)


def test_single_precision(samples):
    X, y = samples
    model = LinCFACV(**QUICK).fit(X, y)
    found = outputs(model, X, np.float32)["y"]
    assert found.dtype == np.float32
    # 30 products with 7 digits each, of features and weights of a size that gives y.
    np.testing.assert_allclose(found[:, 0], model.predict(X), atol=1e-5 * np.abs(y).max())


def test_what_has_no_such_form(samples):
    X, y = samples
    for model, message in (
        (LinCFA().fit(X, y), "not this LinCFA"),
        (LinCFACV(), "a fitted LinCFACV .* not this LinCFACV"),
        (LinCFACV(**QUICK, missing="pairwise").fit(X, y), "no linear map"),
        (
            LinCFACV(tolerances=[1.0], estimator=KNeighborsRegressor(), cv=3).fit(X, y),
            "KNeighborsRegressor.*no linear weights",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            lincfa.to_onnx(model)
    for wrong in (np.float16, "foo", None):
        with pytest.raises(ValueError, match="float64 or float32"):
            lincfa.to_onnx(LinCFACV(**QUICK).fit(X, y), wrong)
