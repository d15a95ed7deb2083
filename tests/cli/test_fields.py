"""NetCDF files and Zarr stores as fields: neighbours, variables that stay apart, and maps."""

import json
from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest
from sklearn.model_selection import KFold

from lincfa import LinCFA, LinCFACV, compare, load

xr = pytest.importorskip("xarray")
pytest.importorskip("netCDF4")
pytest.importorskip("zarr")

FEATURES = ["index", "msl", "t2m"]
LEARNED = slice(0, 84)  # of 120 samples, with --folds blocks


@pytest.fixture(scope="module")
def weather():
    """Two fields of the same two factors, one with a mask, an index, and a target."""
    rng = np.random.default_rng(3)
    factors = rng.normal(size=(120, 2))
    cells = np.repeat(factors, 6, axis=1).reshape(120, 3, 4)
    t2m = 280 + cells + 0.3 * rng.normal(size=cells.shape)
    t2m[:, 1, 1:] = np.nan
    t2m[:, 1, 0] = 7.0  # constant: nothing joins the first row and the last
    y, x = np.meshgrid(np.arange(3.0), np.arange(4.0), indexing="ij")
    return xr.Dataset(
        {
            "crs": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
            "index": ("time", factors[:, 0] + 0.3 * rng.normal(size=120), {"units": "hPa"}),
            "msl": (
                ("y", "time", "x"),
                (cells + 0.3 * rng.normal(size=cells.shape)).transpose(1, 0, 2),
                {"units": "hPa", "grid_mapping": "crs"},
            ),
            "rain": ("time", factors @ [1.0, -1.0] + rng.normal(size=120), {"units": "mm"}),
            "t2m": (("time", "y", "x"), t2m, {"units": "K"}),
        },
        coords={
            "time": np.arange("2000-01-01", "2000-04-30", dtype="M8[D]").astype("M8[ns]"),
            "lat": (("y", "x"), 45 + y + 0.1 * x, {"units": "degrees_north"}),
            "lon": (("y", "x"), 5 + x, {"units": "degrees_east"}),
            "height": 2.0,
        },
        attrs={"title": "weather"},
    )


def store(data, path):
    if str(path).endswith("zarr"):
        data.to_zarr(path, zarr_format=2, consolidated=True)
    else:
        data.to_netcdf(path, engine="netcdf4")
    return path


@pytest.fixture
def path(folder, weather):
    """The data set as a file in the folder to work in."""
    return store(weather, "field.nc")


def opened(path):
    engine = "zarr" if path.endswith("zarr") else "netcdf4"
    with xr.open_dataset(path, engine=engine) as data:
        return data.load()


OPTIONS = ["--target", "rain", "--folds", "blocks", "--no-report"]
WAYS = {"nc": [], "zarr": [], "chunks": ["--dask"]}


def kept_as(way):
    """Give the suffix of a file that is read in one of these ways."""
    if way == "chunks":
        pytest.importorskip("dask")
    return "nc" if way == "nc" else "zarr"


@pytest.mark.filterwarnings("ignore:LinCFA leaves out constant")
@pytest.mark.parametrize("connectivity", [None, "grid"])
@pytest.mark.parametrize("way", WAYS)
def test_the_groups_are_those_of_the_data_set_in_python(done, folder, weather, way, connectivity):
    path = store(weather, f"field.{kept_as(way)}")
    chosen = [] if connectivity is None else ["--connectivity", connectivity]
    done("reduce", path, *OPTIONS, *WAYS[way], *chosen, "--tolerance", 3)
    model = load("model.json")
    learned = weather.isel(time=LEARNED)
    fitted = LinCFA(tolerance=3.0, connectivity=connectivity, sample_dim="time")
    fitted.fit(learned[FEATURES], learned["rain"])
    assert model.labels_.tolist() == fitted.labels_.tolist()
    assert 3 < model.n_groups_ < 19
    xr.testing.assert_identical(model.label_map(), fitted.label_map())
    assert model.n_connected_components_ == (4 if connectivity else 3)
    written = opened(f"field-reduced.{kept_as(way)}")
    # What is written is what Python gives: the result of transform, and the map of labels.
    reduced = model.transform(weather[FEATURES])
    xr.testing.assert_allclose(written["reduced"], reduced, rtol=1e-10)
    assert written["reduced"].attrs == reduced.attrs
    for name, labels in model.label_map().items():
        xr.testing.assert_equal(
            written[f"{name}_group"].drop_vars("height"), labels.drop_vars("height")
        )


def test_variables_stay_apart(done, path, weather):
    done("reduce", path, *OPTIONS, "--tolerance", 1e6)
    assert load("model.json").n_groups_ == 3
    table = LinCFA(tolerance=1e6).fit(*as_table(weather))
    assert table.n_groups_ == 1  # so nothing else keeps them apart


def as_table(weather):
    learned = weather.isel(time=LEARNED)
    msl = learned["msl"].transpose("time", ...).values.reshape(84, -1)
    return np.column_stack([learned["index"], msl]), learned["rain"].values


def test_groups_by_cross_validation_know_the_field(done, path, weather):
    done("reduce", path, *OPTIONS, "--tolerance", "cv", "--connectivity", "grid")
    learned = weather.isel(time=LEARNED)
    with pytest.warns(UserWarning, match="constant"):
        fitted = LinCFACV(connectivity="grid", cv=KFold(5)).fit(learned[FEATURES], learned["rain"])
    xr.testing.assert_identical(load("model.json").label_map(), fitted.label_map())


def test_cells_that_are_no_features_are_left_out_of_the_field(done, path):
    done("reduce", path, *OPTIONS, "--drop", "index", "--drop", "msl[[]y=0*", "--keep", "t2m*")
    model = load("model.json")
    assert [variable.name for variable in model.field_.variables] == ["msl"]
    labels = model.label_map()["msl"]
    assert np.isnan(labels[0]).all()
    assert not np.isnan(labels[1:]).any()
    assert np.isnan(opened("field-reduced.nc")["msl_group"][0]).all()


@pytest.mark.parametrize("way", WAYS)
def test_what_is_not_reduced_is_written_with_its_coordinates(done, folder, weather, way):
    suffix = kept_as(way)
    store(weather, f"field.{suffix}")
    units = ["--drop", "t2m*", "--units", "original"]
    done("reduce", f"field.{suffix}", *OPTIONS, *WAYS[way], *units)
    written = opened(f"field-reduced.{suffix}")
    for name in ("time", "lat", "lon", "height", "rain", "crs"):
        xr.testing.assert_identical(
            written[name].reset_coords(drop=True), weather[name].reset_coords(drop=True)
        )
    assert written.attrs == weather.attrs
    assert {"lat", "lon", "height"} <= set(written["msl_group"].coords)
    assert written["msl_group"].attrs["grid_mapping"] == "crs"
    assert written["reduced"].attrs["units"] == "hPa"


def test_units_that_differ_are_not_written(done, path):
    done("reduce", path, *OPTIONS, "--units", "original")
    assert "units" not in opened("field-reduced.nc")["reduced"].attrs
    done("reduce", path, *OPTIONS, "--force")
    assert opened("field-reduced.nc")["reduced"].attrs["units"] == "1"


def test_apply_takes_the_same_grid_and_no_other(done, fails, path, folder, weather):
    done("reduce", path, *OPTIONS)
    new = weather.isel(time=slice(84, None))
    store(new.rename(time="draw").assign(other=("draw", np.ones(36))), "new.nc")
    done("apply", "model.json", "new.nc", "--samples", "draw")
    applied, written = opened("new-reduced.nc"), opened("field-reduced.nc")
    assert np.allclose(applied["reduced"], written["reduced"][84:], rtol=1e-12)
    assert applied["reduced"].attrs == written["reduced"].attrs
    store(new.transpose("x", "y", ...), "turned.nc")  # the order of dimensions does not matter
    done("apply", "model.json", "turned.nc")
    assert np.allclose(opened("turned-reduced.nc")["reduced"], applied["reduced"], rtol=1e-12)
    for change, said in {
        "moved": (
            new.assign_coords(lat=new["lat"] + 1),
            "'lat' is not that of the fit: the first value that differs",
        ),
        "small": (new.isel(x=slice(3)), "must have the cells of the fit, 4 along 'x', but has 3"),
        "lacking": (new.drop_vars("msl"), "has no variable 'msl', which the model was fitted to"),
    }.values():
        store(change, "other.nc")
        line = fails("apply", "model.json", "other.nc", "--force")
        assert line.startswith("other.nc")
        assert said in line
        store(change, "other.zarr")
        assert said in fails("apply", "model.json", "other.zarr", "--dask", "--force")
        rmtree("other.zarr")


@pytest.mark.parametrize("way", WAYS)
def test_apply_takes_models_of_a_single_array(done, fails, folder, weather, way):
    msl = weather["msl"].transpose("y", "time", "x")
    model = LinCFA(sample_dim="time").fit(msl, weather["rain"])
    model.save("m.json")
    suffix = kept_as(way)
    store(weather.rename(time="draw"), f"new.{suffix}")
    done("apply", "m.json", f"new.{suffix}", *WAYS[way])
    written = opened(f"new-reduced.{suffix}")
    assert np.allclose(written["reduced"], model.transform(msl), rtol=1e-10)
    assert (written["msl_group"] == model.label_map()).all()
    store(weather.isel(x=slice(3)), f"small.{suffix}")
    line = fails("apply", "m.json", f"small.{suffix}", *WAYS[way])
    assert "4 along 'x', but has 3" in line
    store(weather.drop_vars("msl"), f"other.{suffix}")
    line = fails("apply", "m.json", f"other.{suffix}", *WAYS[way])
    assert line == f"other.{suffix} has no variable 'msl', which the model was fitted to"
    LinCFA(sample_dim="time").fit(msl.rename(None), weather["rain"]).save("unnamed.json")
    line = fails(
        "apply", "unnamed.json", f"new.{suffix}", "--samples", "draw", *WAYS[way], "--force"
    )
    assert "a DataArray without a name" in line


def test_what_is_told(done, path):
    options = [*OPTIONS[:-1], "--report", "report.json", "--force", "--tolerance", 1]
    told = json.loads(done("reduce", path, *options, "--connectivity", "grid", "--json").out)
    assert told["n_connected_components"] == 4
    assert told["settings"]["connectivity"] == "grid"
    assert told["settings"]["blocks"] == "the variables of the field"
    report = json.loads(Path("report.json").read_text(encoding="utf-8"))
    assert report["settings"] == told["settings"]
    assert [each["title"] for each in report["maps"]] == ["msl", "t2m"]
    said = done("reduce", path, *options, "--connectivity", "grid").out
    assert "only neighbouring cells of the same variable merge (at least 4 groups)\n" in said
    assert "only cells of the same variable merge (at least 3" in done("reduce", path, *options).out
    only = ["--drop", "t2m*", "--drop", "index"]
    assert "same variable merge" not in done("reduce", path, *options, *only).out
    alone = done("reduce", path, *options, *only, "--connectivity", "grid").out
    assert "only neighbouring cells merge\n" in alone


def test_a_chain_of_columns(done, save, columns, samples):
    order = [0, 3, 1, 4, 5, 2]
    data = save({name: columns[name] for name in [*np.array(samples.names)[order], "y"]})
    options = ["--target", "y", "--test", 0, "--no-report", "--tolerance", 100]
    said = done("reduce", data, *options, "--connectivity", "chain").out
    assert "only neighbouring columns merge\n" in said
    model = load("model.json")
    fitted = LinCFA(tolerance=100.0, connectivity="chain").fit(samples.X[:, order], samples.y)
    free = LinCFA(tolerance=100.0).fit(samples.X[:, order], samples.y)
    assert model.labels_.tolist() == fitted.labels_.tolist() != free.labels_.tolist()


@pytest.mark.parametrize("way", WAYS)
def test_targets_that_are_none(fails, folder, weather, way, files):
    path = store(weather, f"field.{kept_as(way)}")
    before = files()

    def line(target, *more):
        return fails("reduce", path, "--target", target, *WAYS[way], *more)

    needed = "the target must run along the samples alone. Possible targets: 'index', 'rain'"
    assert line("msl") == f"{path}: the dimensions of 'msl' are: y, time, x; {needed}"
    other = "; --target-file takes it from another file"
    assert line("nino") == f"{path} has no variable 'nino'; {needed}{other}"
    assert line("rain", "--samples", "y") == (
        f"{path}: the dimensions of 'rain' are: time; the target must run along the samples (y) "
        "alone. Possible targets: none"
    )
    assert files() == before


def test_few_of_many_possible_targets_are_listed(fails, folder, weather):
    many = {f"v{k:02d}": ("time", np.arange(120.0)) for k in range(30)}
    store(weather[["msl"]].assign(many), "many.nc")
    line = fails("reduce", "many.nc", "--target", "nino")
    assert "'v08', 'v09', …;" in line


@pytest.mark.parametrize("way", WAYS)
def test_the_name_of_a_variable_means_all_of_its_cells(done, fails, folder, weather, way):
    path = store(weather, f"field.{kept_as(way)}")
    done("reduce", path, *OPTIONS, *WAYS[way], "--drop", "msl", "--keep", "t2m")
    assert not hasattr(load("model.json"), "field_")  # nothing but the index
    written = opened(f"field-reduced.{kept_as(way)}")
    xr.testing.assert_identical(written["t2m"].variable, weather["t2m"].variable)
    assert "msl" not in written
    assert "msl_group" not in written


def test_explain_asks_for_cells(fails, path):
    line = fails("explain", path, "--target", "rain", "msl", "index")
    assert line.startswith(
        "field.nc has no column 'msl'; it is gridded: name a cell, such as 'msl["
    )


@pytest.mark.parametrize("way", WAYS)
def test_notes_on_cells_without_values_and_on_coordinates(done, folder, weather, way):
    nothing = (("time", "x"), np.full((120, 4), np.nan))
    month = ("time", np.arange(120) // 30)
    path = store(weather.assign(bare=nothing).assign_coords(month=month), f"f.{kept_as(way)}")
    notes = json.loads(done("reduce", path, *OPTIONS, *WAYS[way], "--json").out)["notes"]
    assert notes[:3] == [
        "coordinates of the samples, kept unchanged: column 'month'",
        "3 of 12 cells of 't2m' are missing at every sample and are left out of the features",
        "without any value, kept unchanged: columns 'bare[x=0]', 'bare[x=1]', 'bare[x=2]', "
        "'bare[x=3]'",
    ]
    assert not any("'time'" in note for note in notes)


def test_neighbours_that_there_are_not(fails, path, folder, data, weather, files):
    before = files()
    grid, chain = ["--connectivity", "grid"], ["--connectivity", "chain"]
    assert "invalid choice: 'gird'" in fails(
        "reduce", path, *OPTIONS, "--connectivity", "gird", code=2
    )
    line = fails("reduce", data, "--target", "y", *grid, code=2)
    assert "--connectivity grid is for NetCDF files and Zarr stores" in line
    line = fails("reduce", path, *OPTIONS, *chain)
    assert line.startswith("field.nc: --connectivity chain")
    assert "'msl' have the dimensions y, x" in line
    line = fails("reduce", path, *OPTIONS, *grid, "--drop", "*[[]*")
    assert line.startswith("field.nc: no feature is a cell of a grid")
    assert files() == before


@pytest.mark.filterwarnings("ignore::lincfa._data._checks.ConstantFeaturesWarning")
def test_compare_knows_the_field(done, fails, path, data, weather):
    given = ["--target", "rain", "--folds", "shuffled", "--repeats", 1]
    methods = ["LinCFACV", "FeatureAgglomeration"]
    given += [word for name in methods for word in ("--method", name)]
    field, y = weather[FEATURES], weather["rain"].values
    options = {"methods": methods, "n_repeats": 1, "ordered": False, "verbose": False}
    figures = []
    for connectivity in ("grid", None):
        words = [] if connectivity is None else ["--connectivity", connectivity]
        told = json.loads(done("compare", path, *given, *words, "--json").out)
        expected = compare(field, y, connectivity=connectivity, **options)
        assert [each["r2"] for each in told["methods"]] == pytest.approx(expected.r2.tolist())
        assert told["notes"][-1] == expected.notes[-1]
        figures.append(expected.n_features[0])
    assert figures[0] != figures[1]
    line = fails("compare", data, "--target", "y", "--connectivity", "grid", code=2)
    assert "--connectivity grid is for NetCDF files and Zarr stores" in line


def test_variables_without_cells_are_a_table(done, folder, weather):
    series = weather[["index", "rain"]].assign(again=weather["index"] * 2)
    store(series, "series.nc")
    done("reduce", "series.nc", *OPTIONS)
    model = load("model.json")
    assert model.n_groups_ == 1
    assert not hasattr(model, "field_")


def test_names_like_those_of_cells_and_groups(done, fails, folder, weather):
    odd = weather[["msl", "rain"]].rename({"rain": "msl[y=0, x=1]"})
    store(odd, "odd.nc")
    done("reduce", "odd.nc", "--target", "msl[y=0, x=1]", "--no-report")
    written = opened("odd-reduced.nc")
    assert (written["msl[y=0, x=1]"].values == weather["rain"].values).all()
    assert len(load("model.json").labels_) == 12
    store(weather[["msl", "rain"]].rename(time="group"), "group.nc")
    line = fails("reduce", "group.nc", *OPTIONS, "--force")
    assert line.startswith("group.nc: The dimension of the samples is called 'group'")


def test_explain_says_of_variables_that_they_stay_apart(done, path, weather):
    pair = ["msl[y=0, x=0]", "msl[y=0, x=1]"]
    said = done("explain", path, "--target", "rain", *pair).err
    assert "different variables" not in said
    for other in ("index", "t2m[y=0, x=0]"):
        said = done("explain", path, "--target", "rain", pair[0], other).err
        assert "different variables, which lincfa reduce never merges" in said
    rest = ["--drop", "t2m*"]
    assert "different" in done("explain", path, "--target", "rain", pair[0], "index", *rest).err
    series = store(weather[["index", "rain"]].assign(again=weather["index"] ** 2), "series.nc")
    assert "different" not in done("explain", series, "--target", "rain", "index", "again").err


@pytest.mark.parametrize("options", [[], ["--dask"]], ids=["memory", "chunks"])
def test_stores_in_zarr_format_3_are_read_and_written(done, folder, weather, options):
    weather.to_zarr("weather.zarr", zarr_format=3, consolidated=False)
    options = ["--tolerance", "1", "--connectivity", "grid", *options]
    done("reduce", "weather.zarr", "--target", "rain", "--output", "reduced.zarr", *options)
    model = load("model.json")
    found = xr.open_zarr("reduced.zarr")
    assert found["t2m_group"].equals(model.label_map()["t2m"])
