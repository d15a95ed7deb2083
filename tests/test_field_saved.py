"""Models of fields in files, and what they give in NetCDF and Zarr."""

import json

import numpy as np
import pytest

import lincfa
from lincfa import LinCFA
from lincfa._model._document import envelope
from tampering import assert_refused
from tampering import content as content_of_table

xr = pytest.importorskip("xarray")

from field_data import N, dataset, field, table


@pytest.fixture
def file(tmp_path):
    return tmp_path / "model.json"


def saved(model, file):
    model.save(file)
    return lincfa.load(file)


def fields():
    """Fields of every kind, with their target."""
    X, y = field()
    yield "plain", X, y
    yield "dataset", *dataset()
    yield "stacked", X.stack(cell=("lat", "lon")), y
    lat, lon = np.meshgrid(X.lat, X.lon, indexing="ij")
    lat[0, 0] = np.nan
    curved = X.drop_vars(["lat", "lon"]).rename(None)
    yield "curved", curved.assign_coords(a=(("lat", "lon"), lat), b=(("lat", "lon"), lon)), y
    other = X.assign_coords(
        lat=np.array(["2001-01-01", "2001-01-03", "2001-02-01", "NaT"], dtype="M8[s]"),
        lon=np.arange(6) * np.timedelta64(90, "s"),
        flag=("lat", [True, False, True, True]),
        code=("lon", np.arange(6, dtype="u8") + 2**63),
        small=("lon", np.linspace(0, 1, 6).astype("f4")),
        word="é",
    )
    yield "types", other, y
    yield "turned", X.transpose("lon", "time", "lat").astype("f4"), y
    yield "first cell missing", X.where((X.lat > 40) | (X.lon > 6)), y


@pytest.mark.parametrize(("X", "y"), [case[1:] for case in fields()], ids=[c[0] for c in fields()])
def test_a_model_comes_back(file, X, y):
    model = LinCFA(sample_dim="time").fit(X, y)
    loaded = saved(model, file)
    assert loaded.sample_dim == "time"
    assert loaded.field_.names == model.field_.names == list(loaded.feature_names_in_)
    xr.testing.assert_identical(loaded.label_map(), model.label_map())
    reduced = loaded.transform(X)
    xr.testing.assert_identical(reduced, model.transform(X))
    xr.testing.assert_identical(loaded.inverse_transform(reduced), model.inverse_transform(reduced))
    np.testing.assert_array_equal(loaded.transform(table_of(model, X)), reduced.values)
    again = file.with_name("again.json")
    loaded.save(again)
    assert again.read_bytes() == file.read_bytes()


def table_of(model, X):
    with model._known(X) as (values, *_):
        return values


def test_attributes_as_far_as_json_holds_them(file):
    X, y = field()
    X.attrs = {
        "units": "K",
        "range": np.array([1.5, 2.5], dtype="f4"),
        "count": np.int64(3),
        "fill": np.nan,
        "flags": [True, None],
        "when": np.datetime64("2001-01-01"),
        "bad": "\ud800",
        7: "seven",
    }
    found = saved(LinCFA().fit(X, y), file).field_.variables[0].attrs
    assert found == {
        "units": "K",
        "range": [1.5, 2.5],
        "count": 3,
        "fill": "nan",
        "flags": [True, None],
        "when": "2001-01-01",
        "bad": "?",
        "7": "seven",
    }


def test_dates_of_other_calendars_as_text(file):
    pytest.importorskip("cftime")
    X, y = field()
    dates = xr.date_range("2001-02-29", periods=4, calendar="360_day", use_cftime=True)
    X = X.assign_coords(lat=dates)
    loaded = saved(LinCFA().fit(X, y), file)
    assert loaded.label_map().lat.values[1] == "2001-02-30 00:00:00"
    assert loaded.transform(X).shape[0] == N


def test_names_that_are_no_text(file):
    X, y = field()
    with pytest.raises(ValueError, match="The name 3 in the field is not valid text"):
        LinCFA().fit(X.rename(3), y).save(file)
    with pytest.raises(ValueError, match="not valid text"):
        LinCFA().fit(X.rename(lat="\udc00"), y).save(file)
    assert not file.exists()


def test_xarray_is_needed_for_maps_only(file, monkeypatch):
    X, y = field()
    model = LinCFA().fit(X, y)
    model.save(file)
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    loaded = lincfa.load(file)
    np.testing.assert_array_equal(loaded.transform(table(X)), model._reduce(table(X)))
    with pytest.raises(ImportError, match=r"pip install 'lincfa\[xarray\]'"):
        loaded.label_map()


def test_files_of_the_first_version(file):
    content = content_of_table()
    assert content.pop("field") is None
    assert content.pop("structure") == {"connectivity": None, "blocks": None}
    assert content["parameters"].pop("sample_dim") is None
    text = envelope(content).replace('"version": 2', '"version": 1')
    file.write_text(text)
    model = lincfa.load(file)
    assert model.sample_dim is model.connectivity is model.blocks is None
    assert model.n_connected_components_ == 1
    assert not hasattr(model, "field_")
    model.save(file)
    assert json.loads(file.read_text())["version"] == 2
    for changed in ({**content, "field": None}, {**content, "parameters": 3}):
        text = envelope(changed).replace('"version": 2', '"version": 1')
        assert_refused(file, text, "version 1 has no 'field'|not an object")
    content["parameters"]["sample_dim"] = None
    text = envelope(content).replace('"version": 2', '"version": 1')
    assert_refused(file, text, "version 1 has no 'sample_dim'")
    assert_refused(file, envelope(content), "'model' lacks 'field'")


def document(file, change=None):
    """The content of a saved model of a field; and it, changed, as a text."""
    LinCFA(sample_dim="time").fit(*dataset()).save(file)
    content = json.loads(file.read_text())["model"]
    if change is not None:
        change(content["field"])
    return envelope(content)


def at(*path, value):
    """A change of one place of the field."""

    def change(content):
        for key in path[:-1]:
            content = content[key]
        if value is KeyError:
            del content[path[-1]]
        else:
            content[path[-1]] = value

    return change


VARIABLE, COORDINATE = ("variables", 0), ("coordinates", 0)  # t2m and lat
DAMAGE = {
    "no field": (at("variables", value=[]), "unknown dimension"),
    "array of three": (at("is_dataset", value=False), "no field"),
    "not a list": (at("variables", value={}), "'variables' is not a list"),
    "sample_dim": (at("sample_dim", value=3), "'sample_dim'"),
    "group": (at("sample_dim", value="group"), "'sample_dim'"),
    "other samples": (at("sample_dim", value="lat"), "'shape'|'dims'|two sizes"),
    "is_dataset": (at("is_dataset", value=1), "'is_dataset'"),
    "more": (at("more", value=1), "'more', which does not belong"),
    "less": (at("levels", value=KeyError), "lacks 'levels'"),
    "no name": (at(*VARIABLE, "name", value=None), "no field"),
    "name": (at(*VARIABLE, "name", value=[]), "no name"),
    "same name": (at(*VARIABLE, "name", value="rain"), "repeats"),
    "other name": (at(*VARIABLE, "name", value="t3m"), "'feature_names'"),
    "dims": (at(*VARIABLE, "dims", value=["time", "lat"]), "'shape'"),
    "repeated dims": (at(*VARIABLE, "dims", value=["time", "lat", "lat"]), "different names"),
    "shape": (at(*VARIABLE, "shape", value=[4, 7]), "'cells'"),
    "negative": (at(*VARIABLE, "shape", value=[-4, -6]), "'cells'"),
    "two sizes": (at("variables", 1, "dims", value=["time", "lat"]), "two sizes"),
    "cells": (at(*VARIABLE, "cells", value=[24]), "'feature_names'"),
    "other cells": (at(*VARIABLE, "cells", value=[9, 1, 9, 2, 3]), "'feature_names'"),
    "negative cells": (at(*VARIABLE, "cells", value=[25, -1]), "'cells'"),
    "too many": (at(*VARIABLE, "shape", value=[2**40, 6]), "'cells'"),
    "half cells": (at(*VARIABLE, "cells", value=[24.0]), "'cells'"),
    "attrs": (at(*VARIABLE, "attrs", value=[]), "'attrs'"),
    "nested attrs": (at(*VARIABLE, "attrs", value={"a": [{}]}), "'attrs'"),
    "dtype": (at(*COORDINATE, "dtype", value="object"), "unknown type"),
    "no dtype": (at(*COORDINATE, "dtype", value=None), "unknown type"),
    "strange dtype": (at(*COORDINATE, "dtype", value="datetime64[q]"), "not of its type"),
    "dates": (at(*COORDINATE, "dtype", value="datetime64[ns]"), "not of its type"),
    "whole": (at(*COORDINATE, "dtype", value="int64"), "wrong type"),
    "values": (at(*COORDINATE, "values", value=[40.0]), "wrong length"),
    "other values": (at(*COORDINATE, "values", value=[40.0, 42.0, 44.0, 47.0]), "'feature_names'"),
    "text": (at(*COORDINATE, "values", value="4"), "not a list"),
    "wrong values": (at(*COORDINATE, "values", value=[None] * 4), "wrong type"),
    "unknown dims": (at(*COORDINATE, "dims", value=["y"]), "unknown dimension"),
    "of a dimension": (at(*COORDINATE, "name", value="lon"), "name of a dimension"),
    "of the samples": (at(*COORDINATE, "name", value="time"), "name of a dimension"),
    "unnamed": (at(*COORDINATE, "name", value=None), "no name"),
    "levels": (at("levels", value={"lat": ["a", "b"]}), "'levels'"),
    "no levels": (at("levels", value=[]), "'levels'"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_no_field(file, damage):
    change, message = DAMAGE[damage]
    assert_refused(file, document(file, change), message)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("datetime64[D]", ["now"] * 4),
        ("datetime64[ns]", ["2900-01-01T00:00:00.000000000"] * 4),
        ("float32", [1e300] * 4),
        ("int8", [300] * 4),
        ("uint64", [-1] * 4),
        ("bool", [1] * 4),
        ("str", [1] * 4),
    ],
)
def test_values_beyond_their_type(file, dtype, values):
    def change(content):
        content["coordinates"][0].update(dtype=dtype, values=values)

    assert_refused(file, document(file, change), "type|too large")


def test_a_file_without_changes_is_one(file):
    file.write_text(document(file))
    assert lincfa.load(file).field_.is_dataset


@pytest.mark.parametrize("engine", ["netcdf", "zarr"])
@pytest.mark.parametrize("make", [field, dataset], ids=["array", "dataset"])
def test_results_in_files(tmp_path, make, engine):
    pytest.importorskip("netCDF4" if engine == "netcdf" else "zarr")
    X, y = make()
    model = LinCFA(sample_dim="time").fit(X, y)
    reduced = model.transform(X)
    back = model.inverse_transform(reduced)
    for number, result in enumerate((reduced, model.label_map(), back)):
        path = tmp_path / f"{number}.{engine}"
        whole = result if isinstance(result, xr.Dataset) else result.to_dataset()
        if engine == "netcdf":
            whole.to_netcdf(path)
        else:
            whole.to_zarr(path, consolidated=False, zarr_format=2)
        opened = (
            xr.open_dataset(path)
            if engine == "netcdf"
            else xr.open_zarr(path, consolidated=False, chunks=None)
        )
        with opened as found:
            xr.testing.assert_equal(found, whole)
            for name in whole:
                assert found[name].attrs == whole[name].attrs
            if number == 0:  # what was read serves as well
                xr.testing.assert_allclose(model.inverse_transform(found["reduced"].load()), back)
