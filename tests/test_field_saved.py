"""Models of fields in files, and what they give in NetCDF and Zarr."""

import json
import subprocess
import sys
import tracemalloc
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lincfa
from lincfa import LinCFA
from reference import assert_raises
from tampering import (
    FUZZ,
    VALUES,
    assert_refused,
    content_of,
    loaded_or_refused,
    nodes,
    put,
    sealed,
)

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
    return model._read_new(X).values


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


def test_names_and_sizes_that_are_not_saved(file):
    X, y = field()
    assert_raises("The name 3 is not valid text", LinCFA().fit(X.rename(3), y).save, file)
    assert_raises("not valid text", LinCFA().fit(X.rename(lat="\ud83d\ude00"), y).save, file)
    assert not file.exists()
    # A file that could not be loaded is not written.
    model = LinCFA().fit(X, y)
    (variable,) = model.field_.variables
    present = np.concatenate([variable.present, np.zeros(2**24, dtype=bool)])
    larger = replace(variable, shape=present.shape, present=present)
    field_ = replace(model.field_, variables=(larger,))
    model._columns = replace(model._columns, field=field_)
    assert_raises("Select a smaller region", model.save, file)
    assert not file.exists()


def test_xarray_is_needed_for_maps_only(file, monkeypatch):
    X, y = field()
    model = LinCFA().fit(X, y)
    model.save(file)
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    loaded = lincfa.load(file)
    np.testing.assert_array_equal(loaded.transform(table(X)), model.transform(table(X)))
    with pytest.raises(ImportError, match=r"pip install 'lincfa\[xarray\]'"):
        loaded.label_map()


@pytest.fixture(scope="module")
def content():
    """What the file of a model of a field holds."""
    return content_of(LinCFA(sample_dim="time").fit(*dataset()))


VARIABLE, COORDINATE = ("variables", 0), ("coordinates", 0)  # t2m and lat
NOT_A_FIELD, DO_NOT_MATCH = "field is not a description of a field", "cells do not match"
NAMES, REPEATED = "feature_names differ", "missing, repeated or reserved"
DAMAGE = {
    "no field": (("variables", []), "does not have 27 cells"),
    "array of three": (("is_dataset", False), REPEATED),
    "not a list": (("variables", {}), "does not have 27 cells"),
    "sample_dim": (("sample_dim", 3), NOT_A_FIELD),
    "other samples": (("sample_dim", "lat"), NOT_A_FIELD),
    "is_dataset": (("is_dataset", 1), NOT_A_FIELD),
    "more": (("more", 1), NOT_A_FIELD),
    "less": (("levels", KeyError), NOT_A_FIELD),
    "no name": ((*VARIABLE, "name", None), REPEATED),
    "name": ((*VARIABLE, "name", []), NOT_A_FIELD),
    "same name": ((*VARIABLE, "name", "rain"), REPEATED),
    "other name": ((*VARIABLE, "name", "t3m"), NAMES),
    "dims": ((*VARIABLE, "dims", ["time", "lat"]), NOT_A_FIELD),
    "repeated dims": ((*VARIABLE, "dims", ["time", "lat", "lat"]), DO_NOT_MATCH),
    "dims as text": ((*VARIABLE, "dims", "time"), NOT_A_FIELD),
    "shape": ((*VARIABLE, "shape", [4, 7]), DO_NOT_MATCH),
    "float shape": ((*VARIABLE, "shape", [4.0, 6.0]), NOT_A_FIELD),
    "negative": ((*VARIABLE, "shape", [-4, -6]), DO_NOT_MATCH),
    "two sizes": (("variables", 1, "dims", ["time", "lat"]), DO_NOT_MATCH),
    "cells": ((*VARIABLE, "cells", [24]), "does not have 27 cells"),
    "other cells": ((*VARIABLE, "cells", [9, 1, 9, 2, 3]), NAMES),
    "negative cells": ((*VARIABLE, "cells", [22, 3, -1]), NOT_A_FIELD),
    "half cells": ((*VARIABLE, "cells", [8.0, 1, 9, 2, 4]), NOT_A_FIELD),
    "empty runs": ((*VARIABLE, "cells", [8, 0, 0, 1, 9, 2, 4]), NOT_A_FIELD),
    "attrs": ((*VARIABLE, "attrs", []), NOT_A_FIELD),
    "nested attrs": ((*VARIABLE, "attrs", {"a": [{}]}), NOT_A_FIELD),
    "dtype": ((*COORDINATE, "dtype", "object"), NOT_A_FIELD),
    "no dtype": ((*COORDINATE, "dtype", None), NOT_A_FIELD),
    "strange dtype": ((*COORDINATE, "dtype", "datetime64[q]"), NOT_A_FIELD),
    "dates": ((*COORDINATE, "dtype", "datetime64[ns]"), NOT_A_FIELD),
    "whole": ((*COORDINATE, "dtype", "int64"), NOT_A_FIELD),
    "values": ((*COORDINATE, "values", [40.0]), NOT_A_FIELD),
    "other values": ((*COORDINATE, "values", [40.0, 42.0, 44.0, 47.0]), NAMES),
    "text": ((*COORDINATE, "values", "4"), NOT_A_FIELD),
    "wrong values": ((*COORDINATE, "values", [None] * 4), NOT_A_FIELD),
    "nested values": ((*COORDINATE, "values", [[40.0], [42.0], [44.0], [46.0]]), NOT_A_FIELD),
    "unknown dims": ((*COORDINATE, "dims", ["y"]), "'lat' has dims that do not match"),
    "of a dimension": ((*COORDINATE, "name", "lon"), "'lon' has dims that do not match"),
    "of the samples": ((*COORDINATE, "name", "time"), REPEATED),
    "repeated": ((*COORDINATE, "name", "height"), REPEATED),
    "unnamed": ((*COORDINATE, "name", None), REPEATED),
    "levels": (("levels", {"lat": ["a", "b"]}), "levels refers to coordinates"),
    "unknown levels": (("levels", {"station": ["a", "b"]}), "levels refers to coordinates"),
    "no levels": (("levels", []), NOT_A_FIELD),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_no_field(file, content, damage):
    (*keys, value), message = DAMAGE[damage]
    text = sealed({**content, "field": put(deepcopy(content["field"]), value, *keys)})
    assert_refused(file, text, message)


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
def test_values_beyond_their_type(file, content, dtype, values):
    field = deepcopy(content["field"])
    field["coordinates"][0].update(dtype=dtype, values=values)
    assert_refused(file, sealed({**content, "field": field}), NOT_A_FIELD)


@pytest.mark.parametrize("size", [2**25, 2**30, 2**62, 10**400])
def test_sizes_that_a_small_file_can_only_claim(file, content, size):
    """Nothing of the size that is claimed is made, neither of missing cells nor of present ones."""
    claims = [
        {"dims": ["time", "lat", "lon"], "shape": [4, size // 4], "cells": [22, size - 22]},
        {"dims": ["time", "x"], "shape": [size], "cells": [22, size - 22]},
        {"dims": ["time", "x"], "shape": [size], "cells": [size]},
        {"dims": ["time", "x"], "shape": [21], "cells": [22, -1, size, -size]},
    ]
    wide = {"name": "w", "dims": ["lat"], "dtype": "str", "values": ["x" * 10**6, "", "", ""]}
    for claim in claims:
        field = deepcopy(content["field"])
        field["variables"][0].update(claim)
        field["coordinates"].append({**wide, "attrs": {}})
        tracemalloc.start()
        assert_refused(file, sealed({**content, "field": field}), "cannot be loaded")
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert used < 2**26


LIMITED = """
import resource, sys
from pathlib import Path
import lincfa, lincfa._data._field
size = resource.getpagesize() * int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (size + 2**27, size + 2**27))
for file in sys.argv[1:]:
    try:
        lincfa.load(file)
        print("loaded")
    except ValueError as error:
        print(error)
"""
"""Loads files with at most 128 MB more than the library takes."""

LONG = "x" * 500_000
HUGE = {
    "text": ({(*COORDINATE, "dtype"): "<U500000000"}, "'lat' has the type '<U500000000'"),
    "bytes": ({(*COORDINATE, "dtype"): "S2000000000"}, "'lat' has the type"),
    "array": ({(*COORDINATE, "dtype"): "(1000000000,)f8"}, "'lat' has the type"),
    "no type": ({(*COORDINATE, "dtype"): ",,"}, "'lat' has the type ',,'"),
    "missing": (
        {(*VARIABLE, "shape"): [2, 2**30], (*VARIABLE, "cells"): [1200, 2**31 - 1200]},
        "does not have 1200 cells, or too many missing ones",
    ),
    "empty": (
        {
            (*VARIABLE, "dims"): ["time", "lag", "x"],
            (*VARIABLE, "shape"): [0, 2**40],
            (*VARIABLE, "cells"): [0],
        },
        "does not have 1200 cells, or too many missing ones",
    ),
    "name": ({(*VARIABLE, "name"): LONG}, "feature_names differ"),
    "dimension": (
        {(*VARIABLE, "dims"): ["time", LONG, "lon"], ("coordinates",): []},
        "feature_names differ",
    ),
    "coordinate": (
        {(*COORDINATE, "dtype"): "str", (*COORDINATE, "values"): [LONG, ""]},
        "feature_names differ",
    ),
    "neighbours": (
        {("structure", "connectivity"): {"size": 2**24, "first": [], "second": []}},
        "there are 1200 features",
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
def test_memory_that_a_small_file_asks_for(tmp_path):
    """In a process that has little, each file is refused by an error that says what is wrong."""
    rng = np.random.default_rng(0)
    X = xr.DataArray(rng.normal(size=(20, 2, 600)), {"lat": [40.0, 42.0]}, ("time", "lat", "lon"))
    content = content_of(LinCFA(sample_dim="time").fit(X, rng.normal(size=20)))
    files = [tmp_path / f"{name}.json" for name in HUGE]
    for file, (changes, _) in zip(files, HUGE.values(), strict=True):
        changed = deepcopy(content)
        for keys, value in changes.items():
            part = changed if keys[0] == "structure" else changed["field"]
            put(part, value, *keys)
        file.write_text(sealed(changed))
    command = [sys.executable, "-c", LIMITED, *map(str, files)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = run.stdout.splitlines()
    for file, line, (_, message) in zip(files, lines, HUGE.values(), strict=True):
        assert line.startswith(f"{file} cannot be loaded: ")
        assert message in line


def test_samples_along_a_dimension_called_as_the_groups(file, content):
    text = json.dumps(content)
    file.write_text(sealed(json.loads(text)))
    assert lincfa.load(file).field_.is_dataset
    assert_refused(file, sealed(json.loads(text.replace('"time"', '"group"'))), REPEATED)


@settings(max_examples=200, **FUZZ)
@given(data=st.data())
def test_any_part_of_a_field_replaced(tmp_path_factory, content, data):
    """It is refused, or it works."""
    keys = data.draw(st.sampled_from(list(nodes(content["field"]))[1:]))
    field = put(deepcopy(content["field"]), data.draw(VALUES), *keys)
    file = tmp_path_factory.getbasetemp() / "any field.json"
    loaded = loaded_or_refused(file, sealed({**content, "field": field}))
    if loaded is not None:
        assert set(loaded.label_map()) == {"t2m", "rain", "index"}


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
                assert found[name].attrs.keys() == whole[name].attrs.keys()
                for key, value in whole[name].attrs.items():  # lists in Zarr, arrays in NetCDF
                    np.testing.assert_array_equal(found[name].attrs[key], value)
            if number == 0:  # what was read serves as well
                xr.testing.assert_allclose(model.inverse_transform(found["reduced"].load()), back)


def test_weights_by_area(tmp_path):
    X, y = field()
    model = LinCFA(feature_weights="area", sample_dim="time", units="original", tolerance=9.0)
    model.fit(X, y).save(tmp_path / "model.json")
    loaded = lincfa.load(tmp_path / "model.json")
    assert loaded.feature_weights == "area"
    np.testing.assert_array_equal(loaded.feature_weights_, model.feature_weights_)
    xr.testing.assert_identical(loaded.transform(X), model.transform(X))
    np.testing.assert_array_equal(loaded.fit(X, y).feature_weights_, model.feature_weights_)
    weights = np.cos(np.deg2rad(X.lat)) + 0 * X.lon
    model.set_params(feature_weights=weights).fit(X, y).save(tmp_path / "model.json")
    loaded = lincfa.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.fit(X, y).feature_weights_, model.feature_weights_)
    for changed in ({"feature_weights": None}, {"signed": False}):
        model.signs_[model.groups_[0][1]] = -1 if "signed" in changed else 1
        model.set_params(**changed)
        with pytest.raises(ValueError, match="changed after the fit"):
            model.save(tmp_path / "model.json")
        model.set_params(feature_weights=weights)
