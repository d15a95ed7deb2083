"""What a model knows of a field: kept, forgotten, and needed to go back to the grid."""

import numpy as np
import pytest

import lincfa
from lincfa import LinCFA, LinCFACV

xr = pytest.importorskip("xarray")

from field_data import CONSTANT, N, dataset, field, table, times

SEARCH = {"strategies": ["sequential"], "tolerances": [1.0], "cv": 3}
MODELS = [LinCFA(), LinCFACV(**SEARCH)]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", ["array", "dataset", "dataset of a table"])
def test_models_of_tables_take_no_fields(model, kind):
    X, y = field()
    wrong = X if kind == "array" else X.to_dataset()
    if kind == "dataset of a table":
        wrong = xr.Dataset({"t2m": (("time", "cell"), table(X))})
    model.fit(table(X), y)
    calls = [model.transform, *([model.predict] if hasattr(model, "predict") else [])]
    for call in calls:
        with pytest.raises(ValueError, match="fitted to a table, and this is a field of xarray"):
            call(wrong)


def test_reduced_features_of_a_table_may_be_of_xarray():
    X, y = field()
    model = LinCFA().fit(table(X), y)
    reduced = model.transform(table(X))
    found = model.inverse_transform(xr.DataArray(reduced, dims=("time", "group")))
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found, model.inverse_transform(reduced))


@pytest.mark.parametrize("units", ["standardized", "original"])
def test_constant_cells_come_back(units):
    X, y = field(constant=True)
    with pytest.warns(UserWarning, match="constant features"):
        model = LinCFA(units=units).fit(X, y)
    back = model.inverse_transform(model.transform(X))
    assert (back.values[:, *CONSTANT] == 273).all()
    np.testing.assert_array_equal(back.isnull(), X.isnull())


@pytest.mark.parametrize("units", ["standardized", "original"])
@pytest.mark.parametrize("make", [field, dataset])
def test_one_sample_comes_back_as_a_map(make, units):
    X, y = make()
    model = LinCFA(sample_dim="time", units=units).fit(X, y)
    reduced = model.transform(X)
    back = model.inverse_transform(reduced)
    for number in (0, 7):
        xr.testing.assert_allclose(
            model.inverse_transform(reduced[number]), back.isel(time=number), rtol=1e-14
        )
    found = model.inverse_transform(reduced.mean("time"))
    assert found.attrs == X.attrs
    xr.testing.assert_allclose(found, X.mean("time").drop_vars("season", errors="ignore"))
    for name in X if make is dataset else ():
        assert found[name].dims == tuple(dim for dim in X[name].dims if dim != "time")
        assert found[name].attrs == X[name].attrs


def test_one_lazy_sample_of_a_dataset():
    dask = pytest.importorskip("dask")
    X, y = dataset()
    model = LinCFA(sample_dim="time").fit(X, y)
    found = model.inverse_transform(model.transform(X.chunk(time=50))[3])
    assert dask.is_dask_collection(found["index"].data)
    expected = model.inverse_transform(model.transform(X)[3])
    xr.testing.assert_allclose(found.compute(), expected)


def test_a_fit_and_transform_at_once_take_weights():
    X, y = field()
    weights = xr.DataArray(np.arange(N) % 3 + 0.5, {"time": times()})
    model = LinCFA().set_output(transform="pandas")
    found = model.fit_transform(X, y, sample_weight=weights)
    assert model.n_samples_ == weights.sum()
    xr.testing.assert_identical(found, LinCFA().fit(X, y, weights).transform(X))


def test_chunks_that_do_not_suffice_yet_keep_the_field():
    X, y = field()
    model = LinCFA(sample_dim="time", noise="full").partial_fit(X[:10], y[:10])
    with pytest.raises(Exception, match="full"):
        model.label_map()
    model.partial_fit(X[10:], y[10:])
    expected = LinCFA(noise="full").fit(X, y)
    xr.testing.assert_identical(model.label_map(), expected.label_map())


@pytest.mark.parametrize("call", [LinCFA.fit, LinCFA.partial_fit, LinCFACV.fit])
def test_a_later_table_forgets_the_field(call):
    X, y = field()
    model = LinCFACV(**SEARCH) if call is LinCFACV.fit else LinCFA()
    model.fit(X, y)
    call(model, table(X), y)
    for one in (model, getattr(model, "reducer_", model)):
        assert not hasattr(one, "field_")
        assert not hasattr(one, "feature_names_in_")
        assert isinstance(one.transform(table(X)), np.ndarray)
        with pytest.raises(ValueError, match="fitted to a table"):
            one.label_map()


@pytest.mark.parametrize("connectivity", [None, "grid"])
@pytest.mark.parametrize("name", ["t2m", "rain", "index"])
def test_a_variable_that_is_missing_throughout(tmp_path, name, connectivity):
    """It has no columns, and no neighbours; the others are as they are without it."""
    X, y = dataset()
    model = LinCFA(sample_dim="time", tolerance=3.0, connectivity=connectivity)
    names = model.fit(X.drop_vars(name), y).feature_names_in_
    expected = model.labels_
    X[name] = X[name] * np.nan
    model.fit(X, y)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.feature_names_in_, names)
    model.save(tmp_path / "model.json")
    for one in (model, lincfa.load(tmp_path / "model.json")):
        assert one.label_map()[name].isnull().all()
        back = one.inverse_transform(one.transform(X))
        xr.testing.assert_identical(back.isnull(), X.isnull())


def test_nothing_but_a_missing_number():
    _, y = dataset()
    with pytest.raises(ValueError, match="Every cell of the field is missing"):
        LinCFA().fit(xr.DataArray(np.full(N, np.nan), dims="time"), y)
