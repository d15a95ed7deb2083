"""Fields in the search, and in what judges or explains groups."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, cross_val_score

from lincfa import LinCFA, LinCFACV, compare, explain_pair, order_sensitivity, stability

xr = pytest.importorskip("xarray")

from field_data import N, dataset, field, refuse, table, times

SETTINGS = {"strategies": ["sequential", "agglomerative"], "tolerances": [0.5, 2.0], "cv": KFold(3)}


def test_a_search():
    X, y = field()
    model = LinCFACV(**SETTINGS).fit(X, y)
    plain = LinCFACV(**SETTINGS).fit(table(X), y)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    predicted = model.predict(X)
    assert (predicted.name, predicted.dims) == ("prediction", ("time",))
    assert set(predicted.coords) == {"time", "season", "height"}
    np.testing.assert_array_equal(predicted.values, plain.predict(table(X)))
    np.testing.assert_array_equal(model.predict(table(X)), predicted.values)
    target = xr.DataArray(y, {"time": times()})
    assert model.score(X, y) == model.score(X, target) == plain.score(table(X), y)
    with pytest.raises(ValueError, match="The target y is not of the samples of the field"):
        model.score(X, target[::-1])
    xr.testing.assert_identical(model.label_map(), model.reducer_.label_map())
    xr.testing.assert_identical(model.transform(X), model.reducer_.transform(X))
    back = model.inverse_transform(model.transform(X))
    xr.testing.assert_identical(back.isnull(), X.isnull())
    assert model.reducer_.feature_names_in_[0] == "t2m[lat=40.0, lon=5.0]"
    assert isinstance(plain.fit(table(X), y).predict(table(X)), np.ndarray)
    with pytest.raises(ValueError, match="fitted to a table"):
        plain.predict(X)


def test_a_search_with_weights_and_dimension():
    X, y = field()
    weights = xr.DataArray(np.arange(N) % 3 + 0.5, {"time": times()})
    model = LinCFACV(sample_dim="time", **SETTINGS).fit(X, y, sample_weight=weights)
    plain = LinCFACV(**SETTINGS).fit(table(X), y, sample_weight=weights.values)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.score(X, y, weights) == plain.score(table(X), y, weights.values)
    assert model.reducer_.sample_dim == "time"


def test_a_lazy_search():
    dask = pytest.importorskip("dask")
    X, y = dataset()
    lazy = X.chunk(time=50).assign_coords(elevation=X.elevation)
    model = LinCFACV(sample_dim="time", **SETTINGS).fit(lazy, y)
    plain = LinCFACV(sample_dim="time", **SETTINGS).fit(X, y)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    with dask.config.set(scheduler=refuse):
        predicted = model.predict(lazy)
    assert dask.is_dask_collection(predicted.data)
    xr.testing.assert_allclose(predicted.compute(), plain.predict(X))
    target = xr.DataArray(y, {"time": times()}).chunk(time=11)
    assert model.score(lazy, target) == pytest.approx(plain.score(X, y))


def test_folds_of_others():
    """Scikit-learn takes samples along the first dimension, which must be theirs."""
    X, y = field()
    model = LinCFACV(sample_dim="time", **SETTINGS)
    found = cross_val_score(model, X, y, cv=KFold(3))
    expected = cross_val_score(model, table(X), y, cv=KFold(3))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_stability_on_the_map():
    X, y = field()
    model = LinCFA(sample_dim="time", tolerance=2.0)
    found = stability(X, y, 8, model=model, random_state=0)
    plain = stability(table(X), y, 8, model=model, random_state=0)
    np.testing.assert_array_equal(found.resampled, plain.resampled)
    on_map = found.to_map()
    assert on_map.name == "stability"
    assert on_map.attrs["units"] == "1"
    assert "stays together" in on_map.attrs["long_name"]
    values = on_map.values[~np.isnan(X.values[0])]
    np.testing.assert_array_equal(values, found.features)
    assert np.isnan(on_map.values[np.isnan(X.values[0])]).all()
    assert found.feature_names[0] == "t2m[lat=40.0, lon=5.0]"
    with pytest.raises(ValueError, match="The samples were a table"):
        plain.to_map()
    whole, y = dataset()
    maps = stability(whole, xr.DataArray(y, {"time": times()}), 2, random_state=0).to_map()
    assert list(maps) == list(whole)


def test_order_and_pairs():
    X, y = field()
    found = order_sensitivity(X, y, 3, random_state=0)
    plain = order_sensitivity(table(X), y, 3, random_state=0)
    np.testing.assert_array_equal(found.agreement, plain.agreement)
    name = "t2m[lat=40.0, lon=6.0]"
    pair = explain_pair(X, y, name, 8)
    assert pair.names == (name, "t2m[lat=42.0, lon=8.0]")  # one cell before it is missing
    assert pair.f == explain_pair(table(X), y, 1, 8).f
    assert explain_pair(X, y, name, 8, noise="full").f != pair.f
    square = X[:6]
    with pytest.raises(ValueError, match="sample_dim"):
        explain_pair(square, y[:6], 0, 1)
    assert explain_pair(square, y[:6], 0, 1, sample_dim="time").n_samples == 6
    with pytest.raises(ValueError, match=r"no column 't2m\[lat=40.0, lon=6.5\]'; did you mean"):
        explain_pair(X, y, "t2m[lat=40.0, lon=6.5]", 0)
    X[5, 0, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 't2m\[lat=40.0, lon=6.0\]'"):
        explain_pair(X, y, name, 0)


@pytest.mark.parametrize("make", [field, dataset])
def test_reports(tmp_path, make):
    X, y = make()
    halves = {"X": X.isel(time=slice(60)), "y": y[:60]}
    halves |= {"X_test": X.isel(time=slice(60, None)), "y_test": y[60:]}
    for model in (LinCFA(sample_dim="time"), LinCFACV(sample_dim="time", **SETTINGS)):
        model.fit(halves["X"], halves["y"])
        model.report(tmp_path / "field.json", **halves)
        assert "t2m[lat=40.0, lon=5.0]" in (tmp_path / "field.json").read_text()
        wrong = halves | {"X": halves["X"].isel(lat=slice(2))}
        with pytest.raises(ValueError, match="cells of the fit, 4 along 'lat', and has 2"):
            model.report(tmp_path / "field.json", **wrong)


def test_samples_that_a_report_refuses(tmp_path):
    X, y = field()
    target = xr.DataArray(y, {"time": times()})
    model = LinCFA().fit(X[:60], target[:60])
    path = tmp_path / "field.json"
    test = {"X_test": X[60:], "y_test": target[60:]}
    model.report(path, X=X[:60], y=target[:60], **test)
    path.unlink()
    with pytest.raises(ValueError, match="sample 0 is time=2001-01-01 in the field and time=2001-"):
        model.report(path, X=X[:60], y=target[59::-1])
    with pytest.raises(ValueError, match="sample 0 is time=2001-03-02 in the field"):
        model.report(path, **test | {"y_test": target[:59:-1]})
    gap = X[60:].where(X.lat + X.lon > 45)
    with pytest.raises(ValueError, match=r"missing that held values in the fit: t2m\[lat=40.0, "):
        model.report(path, **test | {"X_test": gap})
    X[70, 0, 0] = np.inf
    with pytest.raises(ValueError, match=r"holds infinity: .*at time=2001-03-12"):
        model.report(path, **test | {"X_test": X[60:]})
    assert not path.exists()


def test_correlations_of_a_field():
    plotting = pytest.importorskip("lincfa.plotting")
    pytest.importorskip("matplotlib")
    X, y = field()
    model = LinCFA().fit(X, y)
    shown = plotting.plot_correlation(model, X).get_images()[0].get_array()
    other = plotting.plot_correlation(model, table(X)).get_images()[0].get_array()
    np.testing.assert_array_equal(shown, other)


def test_a_comparison():
    X, y = field()
    options = {"methods": ["all features", "LinCFA"], "n_repeats": 1, "verbose": False}
    found, plain = compare(X, y, **options), compare(table(X), y, **options)
    np.testing.assert_array_equal(found.fold_r2, plain.fold_r2)
    assert found.n_features_in == plain.n_features_in
