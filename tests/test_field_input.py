"""Fields that are refused, and where their samples are."""

import numpy as np
import pytest

from lincfa import LinCFA, LinCFACV

xr = pytest.importorskip("xarray")

from field_data import MISSING, N, dataset, field, refuse, table, times


def holed(*places):
    """A field with some values missing."""
    X, y = field()
    for place in places:
        X[place] = np.nan
    return X, y


ESTIMATORS = [LinCFA(), LinCFACV(strategies=["sequential"], tolerances=[1.0], cv=3)]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("places", "cells", "first", "day"),
    [
        ([(0, 0, 3)], "A cell", "lat=40.0, lon=8.0", "01-01"),
        ([(0, 0, 3), (9, 0, 3)], "A cell", "lat=40.0, lon=8.0", "01-01"),
        ([(7, 0, 3)], "A cell", "lat=40.0, lon=8.0", "01-08"),
        ([(7, 3, 3), (9, 0, 5), (4, 0, 5)], "2 cells", "lat=40.0, lon=10.0", "01-05"),
        ([(0, 3, 3), (9, 0, 5)], "2 cells", "lat=40.0, lon=10.0", "01-10"),
        ([(slice(1, None), 2, 2)], "A cell", "lat=44.0, lon=7.0", "01-02"),
    ],
)
def test_cells_that_are_missing_in_parts(model, places, cells, first, day, lazy):
    X, y = holed(*places)
    if lazy:
        pytest.importorskip("dask")
        X = X.chunk(time=50, lat=2)
    with pytest.raises(ValueError, match=rf"t2m\[{first}\], at time=2001-{day}\.") as caught:
        model.fit(X, y)
    assert str(caught.value).startswith(f"{cells} of the field")
    assert "missing at some samples but not at all" in str(caught.value)


def test_cells_of_several_variables_missing_in_parts():
    X, y = dataset()
    X.rain[0, 5] = X["index"][0] = np.nan
    with pytest.raises(ValueError, match=r"2 cells .* first rain\[station=f\], at time=2001-01-01"):
        LinCFA(sample_dim="time").fit(X, y)


def test_samples_without_coordinate():
    X, y = holed((7, 0, 3))
    with pytest.raises(ValueError, match=r"lon=8.0\], at time=7\."):
        LinCFA().fit(X.drop_vars("time"), y)


def test_values_that_are_not_finite():
    X, y = field()
    X[5, 0, 1] = np.inf
    for wrong in (X, X.chunk(time=50)):
        with pytest.raises(
            ValueError, match=r"A cell of the field holds infinity: t2m\[lat=40.0, "
        ):
            LinCFA().fit(wrong, y)
    model = LinCFA().fit(*field())
    with pytest.raises(ValueError, match=r"holds infinity: .* at time=2001-01-06"):
        model.transform(X)


def test_cells_missing_in_a_transform():
    model = LinCFA().fit(*field())
    X, _ = holed((3, 2, 2), (8, 0, 0))
    message = r"2 cells of the field are missing that held values in the fit: first t2m\[lat=40.0, "
    with pytest.raises(ValueError, match=message + r"lon=5.0\], at time=2001-01-09"):
        model.transform(X)
    filled = field()[0].fillna(np.inf)  # cells that are missing in the fit may hold anything
    xr.testing.assert_identical(model.transform(filled), model.transform(field()[0]))


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([0], "1 sample, first time=2001-01-01"),
        ([7], "1 sample, first time=2001-01-08"),
        ([0, 9, 5], "3 samples, first time=2001-01-01"),
        ([9, 5], "2 samples, first time=2001-01-06"),
    ],
)
def test_samples_at_which_all_cells_are_missing(rows, told, lazy):
    X, y = holed(*rows, (3, 0, 0))
    if lazy:
        pytest.importorskip("dask")
        X = X.chunk(time=50, lat=2)
    message = f"^All cells are missing at {told}: drop such samples first\\.$"
    for model in ESTIMATORS:
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    both = xr.Dataset({"one": X, "other": X[:, 0]})
    with pytest.raises(ValueError, match=message):
        LinCFA().fit(both, y)
    elsewhere = field()[0][:, 0].where(both.time != X.time[20])
    for other in (X[:, 0].fillna(0), elsewhere):
        with pytest.raises(ValueError, match="cells of the field are missing at some samples"):
            LinCFA().fit(both.assign(other=other), y)
    if not lazy:
        with pytest.raises(ValueError, match=message):
            LinCFA().fit(*field()).transform(X)
    with pytest.raises(ValueError, match="A cell of the field is missing at some samples"):
        LinCFA(sample_dim="time").fit(X[:, 0, :1], y)  # of the only cell no more is said


def test_nothing_but_missing_cells():
    X, y = field()
    with pytest.raises(ValueError, match="Every cell of the field is missing"):
        LinCFA().fit(X * np.nan, y)
    with pytest.raises(ValueError, match=r"0 feature|Every cell"):
        LinCFA().fit(X[:, :0], y)


def test_where_the_samples_are():
    X, y = field()
    assert LinCFA().fit(X, y).field_.sample_dim == "time"
    assert LinCFA().fit(X, y.tolist()).field_.sample_dim == "time"
    square = X[:6]
    target = xr.DataArray(y[:6], dims="time")
    assert LinCFA().fit(square, target).field_.sample_dim == "time"
    along = LinCFA(sample_dim="lon").fit(X[:, 0].fillna(0), np.arange(6.0))
    assert along.label_map().dims == ("time",)
    with pytest.raises(ValueError, match=r"sample_dim.*time \(6\), lat \(4\), lon \(6\)"):
        LinCFA().fit(square, y[:6])
    with pytest.raises(ValueError, match=r"no dimension 'day'.*time \(120\), lat \(4\)"):
        LinCFA(sample_dim="day").fit(X, y)
    for model in (LinCFA(sample_dim=["time"]), LinCFACV(sample_dim=["time"])):
        with pytest.raises(ValueError, match="sample_dim must be None or the name of a dimension"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="Along which dimension"):
        LinCFA().fit(X, None)
    with pytest.raises(ValueError, match=r"called 'group'.*rename"):
        LinCFA().fit(X.rename(time="group"), y)


def test_a_target_of_the_same_samples():
    X, y = field()
    target = xr.DataArray(y, {"time": times()})
    same = LinCFA().fit(X, target)
    np.testing.assert_array_equal(same.labels_, LinCFA().fit(X, y).labels_)
    message = "sample 0 is time=2001-01-01 in the field and time=2001-04-30 in the target y"
    with pytest.raises(ValueError, match=f"^The target y is not of the samples.*{message}"):
        LinCFA().fit(X, target[::-1])
    late = target.assign_coords(time=np.r_[times()[:-1], times()[-1:] + 1])
    with pytest.raises(ValueError, match="sample 119 is time=2001-04-30"):
        LinCFA().fit(X, late)
    with pytest.raises(ValueError, match="The field has 120 samples along 'time', and the target"):
        LinCFA().fit(X, target[:-1])
    with pytest.raises(ValueError, match=r"must be along 'time'.*day \(120\)"):
        LinCFA().fit(X, target.rename(time="day"))
    with pytest.raises(ValueError, match="The target y is a Dataset"):
        LinCFA().fit(X, target.to_dataset(name="y"))
    with pytest.raises(ValueError, match="sample_weight is not of the samples"):
        LinCFA().fit(X, y, xr.ones_like(target)[::-1])
    weighted = LinCFA().fit(X, y, xr.full_like(target, 2.0))
    assert weighted.n_samples_ == 2 * N
    LinCFA().fit(X, target.drop_vars("time"))  # nothing to compare
    LinCFA().fit(X.drop_vars("time"), target)


def test_variables_that_are_none():
    X, y = dataset()
    model = LinCFA(sample_dim="time")
    with pytest.raises(
        ValueError, match=r"'height_m' has no dimension 'time'.*drop_vars\('height_m'"
    ):
        model.fit(X.assign(height_m=("lat", np.ones(4))), y)
    with pytest.raises(ValueError, match=r"'word' is not of numbers.*drop_vars\('word'\)"):
        model.fit(X.assign(word=("time", ["a"] * N)), y)
    with pytest.raises(ValueError, match="no data variables"):
        model.fit(X.drop_vars(list(X)), y)
    with pytest.raises(ValueError, match="The field is not of numbers"):
        model.fit(X.t2m.astype(str), y)


OTHERS = {
    "fewer cells": (lambda X: X[:, 1:], "4 along 'lat', and has 3"),
    "moved": (
        lambda X: X.assign_coords(lon=X.lon + 0.5),
        r"'lon' .* 0\) is 5.5 and was 5.0\.$",
    ),
    "reversed": (lambda X: X[:, ::-1], r"\(place 0\) is 46.0 and was 40.0\."),
    "names of dimensions": (lambda X: X.rename(lat="y"), r"dimensions of the fit, time, lat, lon"),
    "one sample": (lambda X: X[0], r"dimensions of the fit, time, lat, lon.*lat \(4\), lon \(6\)"),
    "text": (lambda X: X.astype(str), "not of numbers"),
    "dataset": (lambda X: X.to_dataset(), "fitted to a DataArray, and this is a Dataset"),
    "dimension": (lambda X: X.expand_dims("member"), "dimensions of the fit"),
}


@pytest.mark.parametrize("change", OTHERS)
def test_other_cells_in_a_transform(change):
    X, y = field()
    model = LinCFA().fit(X, y)
    alter, message = OTHERS[change]
    with pytest.raises(ValueError, match=message):
        model.transform(alter(X))


def test_small_differences_in_a_transform():
    X, y = field()
    model = LinCFA().fit(X, y)
    expected = model.transform(X).values
    for same in (
        X.rename("warmth"),
        X.drop_vars(["lat", "lon"]),
        X.assign_coords(lon=X.lon.astype("f4") + np.float32(1e-6), height=10.0),
        X.assign_coords(lat=("lat", np.linspace(40, 46, 4).astype("i8"))),
    ):
        np.testing.assert_array_equal(model.transform(same).values, expected)


def test_other_variables_in_a_transform():
    X, y = dataset()
    model = LinCFA(sample_dim="time").fit(X, y)
    with pytest.raises(ValueError, match="lacks the variable 'rain'"):
        model.transform(X.drop_vars("rain"))
    with pytest.raises(ValueError, match=r"'snow', which was not in the fit.*drop_vars\('snow'\)"):
        model.transform(X.assign(snow=X.rain))
    with pytest.raises(ValueError, match="fitted to a Dataset, and this is a DataArray"):
        model.transform(X.t2m)
    with pytest.raises(ValueError, match="'rain' should have the cells of the fit, 6"):
        model.transform(X.isel(station=slice(3)))
    with pytest.raises(ValueError, match=r"'station' is not that .* is b and was a\..*sortby"):
        model.transform(X.assign_coords(station=list("bacdef")))


def test_a_coordinate_in_the_way():
    X, y = field()
    X = X.assign_coords(size=("time", np.arange(N)))
    model = LinCFA().fit(X, y)
    with pytest.raises(ValueError, match=r"coordinate 'size' along its samples.*rename"):
        model.transform(X)


def test_tables_of_the_wrong_width():
    X, y = field()
    model = LinCFA().fit(X, y)
    with pytest.raises(ValueError, match="X has 24 features"):
        model.transform(X.values.reshape(N, -1))
    assert table(X).shape[1] == 24 - len(MISSING)


def test_a_model_before_its_fit():
    X, _ = field()
    for call in (lambda m: m.transform(X), lambda m: m.label_map(), lambda m: m.to_map([1.0])):
        with pytest.raises(Exception, match="not fitted yet"):
            call(LinCFA())
    with pytest.raises(Exception, match="not fitted yet"):
        LinCFACV().predict(X)


# Dask


CHUNKS = [{"time": 50}, {"time": 50, "lat": 3, "lon": 4}, {"time": -1, "lon": 1}, {"lat": 1}]


@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
@pytest.mark.parametrize("units", ["standardized", "original"])
def test_lazy_fields(chunks, units):
    dask = pytest.importorskip("dask")
    X, y = field()
    lazy = X.chunk(chunks)
    target = xr.DataArray(y, {"time": times()}).chunk(time=17)
    expected = LinCFA(units=units).fit(X, y)
    model = LinCFA(units=units).fit(lazy, target)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    with dask.config.set(scheduler=refuse):
        reduced = model.transform(lazy)
        back = model.inverse_transform(reduced)
        once = model.inverse_transform(reduced.mean("time"))
    for found in (reduced, back, once):
        assert dask.is_dask_collection(found.data)
    xr.testing.assert_allclose(reduced.compute(), expected.transform(X), rtol=1e-11)
    assert reduced.attrs == expected.transform(X).attrs
    xr.testing.assert_allclose(
        back.compute(), expected.inverse_transform(expected.transform(X)), rtol=1e-11
    )
    assert back.attrs == X.attrs
    assert once.dims == ("lat", "lon")
    with model._opened(lazy, target, None) as (_, outcome, _):
        assert dask.is_dask_collection(outcome)
    np.testing.assert_array_equal(LinCFA().fit(X, target).labels_, LinCFA().fit(X, y).labels_)
    xr.testing.assert_identical(model.label_map(), expected.label_map())
    late, _ = holed((3, 0, 0))
    with pytest.raises(ValueError, match=r"NaN in column 't2m\[lat=40.0, lon=5.0\]'"):
        model.transform(late.chunk(chunks)).compute()


def test_lazy_datasets():
    dask = pytest.importorskip("dask")
    X, y = dataset()
    lazy = X.copy()
    lazy["t2m"], lazy["rain"] = X.t2m.chunk(time=50, lon=2), X.rain.chunk(time=33)
    expected = LinCFA(sample_dim="time").fit(X, y)
    model = LinCFA(sample_dim="time").fit(lazy, y)  # of which one variable is in memory
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    with dask.config.set(scheduler=refuse):
        reduced = model.transform(lazy)
        back = model.inverse_transform(reduced)
    assert reduced.chunks[0] == (50, 50, 20)  # those of the first variable
    xr.testing.assert_allclose(reduced.compute(), expected.transform(X), rtol=1e-11)
    assert all(dask.is_dask_collection(back[name].data) for name in back)
    xr.testing.assert_allclose(back.compute(), expected.inverse_transform(expected.transform(X)))
