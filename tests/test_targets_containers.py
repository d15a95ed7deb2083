"""Several targets and labels of classes in chunks, along fields, and in files."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import lincfa
from lincfa import LinCFA
from reference import assert_raises, draw
from signs_gaps_weights import factors, make, with_gaps
from tampering import assert_refused, content_of, load, put, sealed
from test_saved import bits, state

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
xr = pytest.importorskip("xarray")

import field_data
from dask_data import STRATEGIES, assert_equal_models, fit, lazy_series, odd_chunks
from field_data import times

pytestmark = pytest.mark.usefixtures("one_thread")

NAMES = ["yield", "protein", "rain"]
SEVERAL = ("variance_drop_share", "bias_growth_share", "gain", "gain_share")


def targets_of(y):
    """Three targets in units of their own."""
    noise = np.random.default_rng(1).normal(size=(2, len(y)))
    return np.column_stack([y, 30 + 0.2 * (np.abs(y) + noise[0]), 1e3 * noise[1]])


def labels_of(y, names=("warm", "cold", "mild")):
    return np.array(names)[np.argsort(np.argsort(y)) * len(names) // len(y)]


def drawn(gaps=False):
    X, y = draw(3)
    if gaps:
        X, y, _ = make(factors, 120, 12)
        X = with_gaps(np.random.default_rng(2), X)
    return X, targets_of(y)


def assert_same_targets(model, other):
    assert_equal_models(model, other)
    assert model.target_names_ == other.target_names_
    for name in SEVERAL:
        one, two = model.evidence_[name], other.evidence_[name]
        np.testing.assert_allclose(one, two, rtol=1e-7, atol=1e-9 * np.abs(two).max())


# Chunks


LAZY = {
    "in memory": lambda frame: frame,
    "array": lambda frame: da.from_array(frame.to_numpy(), chunks=(17, 2)),
    "frame": lambda frame: dd.from_pandas(frame, npartitions=3),
    "integers of pandas": lambda frame: dd.from_pandas(frame.astype("Float64"), npartitions=2),
    "dataset": lambda frame: xr.Dataset.from_dataframe(frame).chunk(index=13),
}


@pytest.mark.parametrize("kind", LAZY)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("gaps", [False, True])
def test_chunks_with_several_targets(route, kind, gaps, weighted):
    X, Y = drawn(gaps)
    frame = pd.DataFrame(Y, columns=NAMES)
    weights = np.arange(len(Y)) % 3 * 0.75 if weighted else None
    parameters = {"tolerance": 3.0, "missing": "pairwise" if gaps else "error"}
    expected = LinCFA(**parameters).fit(X, Y if kind == "array" else frame, weights)
    lazy = weights if weights is None else da.from_array(weights, chunks=11)
    for given in (odd_chunks(X), dd.from_pandas(pd.DataFrame(X), npartitions=4)):
        model = fit(given, LAZY[kind](frame), lazy, route=route, **parameters)
        assert_same_targets(model, expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("gaps", [False, True])
def test_chunks_with_every_strategy(route, strategy, gaps):
    X, Y = drawn(gaps)
    parameters = {"strategy": strategy, "tolerance": 3.0, "signed": True, "noise": 0.5}
    parameters["missing"] = "pairwise" if gaps else "error"
    expected = LinCFA(**parameters).fit(X, Y)
    model = fit(odd_chunks(X), da.from_array(Y, chunks=(7, 3)), route=route, **parameters)
    assert_same_targets(model, expected)


def test_a_column_of_chunks_is_one_target(route):
    X, Y = drawn()
    expected = LinCFA().fit(X, Y[:, 0])
    for one in (da.from_array(Y[:, :1], chunks=17), lazy_series(Y[:, 0]).to_frame("yield")):
        assert_equal_models(fit(odd_chunks(X), one, route=route), expected)
    assert fit(odd_chunks(X), lazy_series(Y[:, 0]).to_frame("yield")).target_names_ == ["yield"]


LABELS = {
    "array": lambda y: da.from_array(labels_of(y), chunks=17),
    "series": lambda y: lazy_series(labels_of(y)),
    "categories": lambda y: lazy_series(labels_of(y)).astype("category"),
    "objects": lambda y: da.from_array(labels_of(y).astype(object), chunks=9),
    "in memory": labels_of,
    "integers": lambda y: da.from_array(labels_of(y, [3, 1, 2]), chunks=17),
    "frame": lambda y: lazy_series(labels_of(y, [3, 1, 2])).to_frame(),
    "two": lambda y: lazy_series(labels_of(y, ["b", "a"])),
    "truth": lambda y: da.from_array(y > 0, chunks=17),
}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_in_chunks(route, kind, gaps):
    X, Y = drawn(gaps)
    given = LABELS[kind](Y[:, 0])
    known = np.asarray(given).ravel() if hasattr(given, "dask") else given
    parameters = {"target": "classes" if kind in ("integers", "frame") else None}
    parameters |= {"tolerance": 3.0, "missing": "pairwise" if gaps else "error"}
    expected = LinCFA(**parameters).fit(X, known)
    model = fit(odd_chunks(X), given, route=route, **parameters)
    assert_same_targets(model, expected)
    np.testing.assert_array_equal(model.classes_, expected.classes_)
    assert model.target_correlation_.ndim == (1 if len(model.classes_) == 2 else 2)


def test_integers_in_chunks_are_numbers():
    X, Y = drawn()
    counts = np.rint(Y[:, 0] * 3).astype(int)
    model = fit(odd_chunks(X), da.from_array(counts, chunks=17))
    assert_equal_models(model, LinCFA().fit(X, counts))
    assert not hasattr(model, "classes_")


def test_what_is_wrong_with_a_target_in_chunks(route):
    X, Y = drawn()
    lazy = odd_chunks(X)
    Y[[5, 40], 2] = np.nan
    for given in (Y, da.from_array(Y, chunks=(7, 2))):
        assert_raises(
            r"^Input y contains NaN in target 2: values are missing \(row",
            fit,
            lazy,
            given,
            route=route,
        )
    frame = pd.DataFrame(Y, columns=NAMES)
    message = r"^Input y contains NaN in the target 'rain': values are missing \(row 5\)\.$"
    assert_raises(message, fit, lazy, dd.from_pandas(frame, npartitions=3), route=route)
    weights = np.ones(len(Y))
    weights[[5, 40]] = 0  # rows that do not count may lack targets
    fit(lazy, da.from_array(Y, chunks=(7, 2)), da.from_array(weights, chunks=9), route=route)
    Y[:, 2] = 4.5
    message = r"^Target 2 is constant \(all values are 4\.5\)"
    assert_raises(message, fit, lazy, da.from_array(Y, chunks=17), route=route)
    assert_raises("inconsistent numbers", fit, lazy, da.from_array(Y[1:], chunks=17))
    frame = pd.DataFrame({"a": Y[:, 0], "b": labels_of(Y[:, 1])})
    message = r"^The target 'b' is not numeric\. Labels can be given alone"
    assert_raises(message, fit, lazy, dd.from_pandas(frame, npartitions=3))
    labels = labels_of(Y[:, 0])
    weights = np.where(labels == "mild", 0.0, 1.0)
    message = "There are no samples of the class 'mild'"
    assert_raises(message, fit, lazy, lazy_series(labels), weights, route=route)
    one = lazy_series(["b", "a"] * 30)
    message = "All samples are of one class, 'a'"
    assert_raises(message, fit, lazy, one, np.arange(60) % 2, route=route)


# Fields


def along(Y, kind):
    """Targets of a field in some container."""
    variables = {name: ("time", Y[:, k]) for k, name in enumerate(NAMES)}
    dataset = xr.Dataset(variables, coords={"time": times()})
    array = xr.DataArray(Y.T, coords={"crop": NAMES, "time": times()}, dims=("crop", "time"))
    frame = pd.DataFrame(Y, columns=NAMES, index=times())
    return {"dataset": dataset, "array": array, "transposed": array.T, "frame": frame}[kind]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("kind", ["dataset", "array", "transposed", "frame"])
def test_targets_of_fields(kind, lazy):
    X, y = field_data.field()
    Y = targets_of(y)
    expected = LinCFA(tolerance=3.0).fit(field_data.table(X), pd.DataFrame(Y, columns=NAMES))
    given = along(Y, kind)
    chunked = given if kind == "frame" else given.chunk(time=31)
    for targets in (given, chunked):
        for sample_dim in (None, "time"):
            model = LinCFA(tolerance=3.0, sample_dim=sample_dim)
            model.fit(X.chunk(time=50, lat=3) if lazy else X, targets)
            assert_same_targets(model, expected)
            assert model.field_.sample_dim == "time"


@pytest.mark.parametrize("lazy", [False, True])
def test_labels_of_fields(lazy):
    X, y = field_data.field()
    labels = xr.DataArray(labels_of(y), {"time": times()})
    expected = LinCFA(tolerance=3.0).fit(field_data.table(X), labels.values)
    for given in (labels, labels.chunk(time=31)):
        model = LinCFA(tolerance=3.0).fit(X.chunk(time=50) if lazy else X, given)
        assert_same_targets(model, expected)
        np.testing.assert_array_equal(model.classes_, ["cold", "mild", "warm"])


@pytest.mark.parametrize("lazy", [False, True])
def test_targets_that_do_not_fit_a_field(lazy):
    X, y = field_data.field()
    Y = targets_of(y)
    X = X.chunk(time=50) if lazy else X
    dataset, array = along(Y, "dataset"), along(Y, "array")
    for model in (LinCFA(), LinCFA(sample_dim="time")):
        for late in (dataset.isel(time=slice(None, None, -1)), array[:, ::-1]):
            message = r"^The samples of the target ('yield'|y) are not those of the field"
            assert_raises(message, model.fit, X, late)
        wide = dataset.assign(rain=dataset["rain"].expand_dims(two=2))
        message = r"^The target 'rain' must have the dimension of the samples, 'time', and no"
        assert_raises(message, model.fit, X, wide)
        days = array.rename(time="day")
        message = r"dimensions are: crop \(3\), day \(120\)\.$"
        assert_raises(message, model.fit, X, days)
    assert_raises("without variables", LinCFA(sample_dim="time").fit, X, dataset[[]])
    message = "has 120 samples along 'time', but the target 'yield' has 119"
    assert_raises(message, LinCFA().fit, X, dataset.isel(time=slice(1, None)))
    # One dimension of a field more is that of targets only if it is said which one has the samples.
    zonal = X.mean("lon", skipna=True) + y[:, None]
    zonal = zonal.drop_vars("season")
    assert_raises("share one dimension with the field", LinCFA().fit, X, zonal)
    model = LinCFA(sample_dim="time").fit(X, zonal)
    assert model.target_names_ == ["40.0", "42.0", "44.0", "46.0"]
    for weights in (dataset, array):
        assert_raises("sample_weight", LinCFA().fit, X, y, weights)


def test_targets_that_are_variables():
    X, y = field_data.dataset()
    own = X[["index"]].assign(other=("time", y))
    message = r"^The target y is the variable 'index' of X: drop it from X first"
    for given in (own, own.to_dataframe()[["other", "index"]]):
        assert_raises(message, LinCFA().fit, X, given)
        assert LinCFA().fit(X.drop_vars("index"), given).n_features_in_ == 26
    twice = pd.DataFrame(np.c_[y, -y], columns=["index"] * 2)
    assert_raises("Names of targets must be unique, but y repeats 'index'", LinCFA().fit, X, twice)
    lazy = X.chunk(time=50)
    assert_raises(message, LinCFA().fit, lazy, lazy[["index"]])


# Files


CLASSES = {
    "text": ["warm", "cold", "mild"],
    "letters": ["ä", "b"],
    "objects": np.array(["warm", "cold"], dtype=object),
    "integers": [3, -1, 2],
    "small": np.array([3, 1, 2], dtype=np.uint8),
    "numbers": [1.0, 2.0, 4.0],
    "truth": [True, False],
}


def saved(model, folder):
    model.save(folder / "model.json")
    loaded = lincfa.load(folder / "model.json")
    loaded.save(folder / "again.json")
    assert (folder / "again.json").read_bytes() == (folder / "model.json").read_bytes()
    return loaded


def assert_same_model(loaded, model, X):
    assert state(loaded) == state(model)
    assert bits(loaded.transform(X)) == bits(model.transform(X))
    if hasattr(model, "merge_path_"):
        assert state(loaded.cut(n_groups=4)) == state(model.cut(n_groups=4))


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_several_targets_survive(tmp_path, strategy, named):
    X, Y = drawn()
    Y = pd.DataFrame(Y, columns=NAMES) if named else Y
    for tolerance in (1e-9, 3.0):  # of no merges, and of some
        model = LinCFA(strategy=strategy, tolerance=tolerance, signed=True).fit(X, Y)
        loaded = saved(model, tmp_path)
        assert_same_model(loaded, model, X)
        assert loaded.target_names_ == (NAMES if named else ["y0", "y1", "y2"])
    columns = json.loads((tmp_path / "model.json").read_text())["model"]
    assert np.shape(columns["features"]["target_correlation"]) == (3, 15)
    assert len(columns["evidence"]["bias_growth_share"]) == 3
    again = pickle.loads(pickle.dumps(loaded)).fit(X, Y)
    assert bits(again.labels_) == bits(model.labels_)


def test_names_of_targets_that_are_not_text(tmp_path):
    X, Y = drawn()
    model = LinCFA().fit(X, pd.DataFrame(Y, columns=[1990, (2, "b"), 3.5]))
    loaded = saved(model, tmp_path)
    assert loaded.target_names_ == model.target_names_ == ["1990", "(2, 'b')", "3.5"]


@pytest.mark.parametrize("labels", CLASSES.values(), ids=CLASSES)
def test_classes_survive(tmp_path, labels):
    X, Y = drawn()
    model = LinCFA(strategy="agglomerative", target="classes").fit(X, labels_of(Y[:, 0], labels))
    loaded = saved(model, tmp_path)
    assert_same_model(loaded, model, X)
    assert bits(loaded.classes_) == bits(model.classes_)
    assert list(map(type, loaded.classes_.tolist())) == list(map(type, model.classes_.tolist()))


def test_labels_that_cannot_be_saved(tmp_path):
    X, Y = drawn()
    model = LinCFA().fit(X, labels_of(Y[:, 0]))
    for wrong in (np.array([b"a", b"b", b"c"]), np.array([(1,), (2,), (3,)], dtype="O,")):
        model._targets = type(model._targets)(3, None, wrong)
        with pytest.raises(ValueError, match=r"can be saved if they are text or numbers"):
            model.save(tmp_path / "model.json")
    model._targets = type(model._targets)(3, None, np.arange(3).astype("datetime64[D]"))
    with pytest.raises(ValueError, match=r"is of type datetime64\[D\]"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_targets_changed_after_the_fit(tmp_path):
    X, Y = drawn()
    model = LinCFA().fit(X, Y).set_params(target="classes")
    with pytest.raises(ValueError, match="changed after the fit"):
        model.save(tmp_path / "model.json")


@pytest.fixture(scope="module")
def contents():
    X, Y = draw(3, D=6)
    frame = pd.DataFrame(targets_of(Y), columns=NAMES)
    kinds = {"numbers": frame, "classes": labels_of(Y)}
    models = {
        k: LinCFA(strategy="agglomerative", tolerance=8.0).fit(X, y) for k, y in kinds.items()
    }
    return {kind: content_of(model) for kind, model in models.items()}


OTHERS = "entries are not of|number of targets|is not a|differ in length"
DAMAGED = [
    ("numbers", "targets", [None, {}, [], 3], "is not a description of targets"),
    ("numbers", "targets size", [1, 2, 4, 0, -1, 10**9, 3.0, True, "3", None], "target"),
    ("numbers", "targets names", [NAMES[:2], [1, 2, 3], "abc", {}, [None] * 3], "targets"),
    ("numbers", "targets more", [1], "is not a description of targets"),
    ("numbers", "targets classes", [{"dtype": "str", "values": ["a", "b", "c"]}], "classes"),
    (
        "numbers",
        "target_scale",
        [1.0, [1.0], [1.0, 2.0], [1.0, -2.0, 3.0], []],
        OTHERS + "|positive",
    ),
    ("numbers", "features target_correlation", [[0.0] * 6, [[0.0] * 6]], OTHERS),
    ("numbers", "features target_correlation", [[[0.0] * 6] * 2, [[0.0] * 5] * 3], OTHERS),
    ("numbers", "features target_correlation 1", [[0.0] * 5, 0.0, [2.0] * 6], OTHERS),
    ("numbers", "features mean", [[[0.0] * 6] * 3], "is not a list"),
    ("numbers", "groups target_correlation", [[], [[], [], []]], OTHERS),
    ("numbers", "evidence bias_growth_share", [KeyError, [], [[], [], []]], OTHERS + "|lacks"),
    ("numbers", "evidence bias_growth_share 2", [[], None, 3.0, ["x"]], OTHERS),
    ("numbers", "merge_path target_correlation", [[], [[], [], []]], OTHERS),
    ("numbers", "parameters target", ["classes", "words", 3], "target"),
    ("classes", "parameters target", ["numbers"], "targets are classes"),
    ("classes", "targets names", [NAMES], "classes"),
    ("classes", "targets size", [1, 2, 4], "classes"),
    (
        "classes",
        "targets classes dtype",
        ["int64", "U9", "f8,i4", None, 3, []],
        "targets",
    ),
    ("classes", "targets classes values", [["a"], ["a", "b"], ["b", "a", "c"], "abc"], "targets"),
    ("classes", "targets classes values", [["a", "a", "b"], [1, 2, 3], [["a"]] * 3], "targets"),
    ("classes", "targets classes values", [["a", "b", None], ["a", "b", "c\0"], {}], "targets"),
]


@pytest.mark.parametrize(("kind", "where", "values", "message"), DAMAGED)
def test_damaged_targets(tmp_path, contents, kind, where, values, message):
    file = tmp_path / "model.json"
    keys = [int(key) if key.isdigit() else key for key in where.split()]
    for value in values:
        model = put(json.loads(json.dumps(contents[kind])), value, *keys)
        assert_refused(file, sealed(model), message)


def test_without_classes_the_indicators_are_numbers(tmp_path, contents):
    model = put(json.loads(json.dumps(contents["classes"])), None, "targets", "classes")
    assert load(tmp_path / "model.json", sealed(model)).target_names_ == ["y0", "y1", "y2"]


def test_files_without_targets_are_of_one(tmp_path, contents):
    model = json.loads(json.dumps(contents["numbers"]))
    del model["targets"], model["parameters"]["target"]
    assert_refused(tmp_path / "model.json", sealed(model, version=4), "not of 1 target")
    assert_refused(tmp_path / "model.json", sealed(model), "lacks")


def test_regressions_of_several_targets(tmp_path, contents):
    file = tmp_path / "model.json"
    n_groups = len(contents["numbers"]["groups"]["min_is_exact"])
    coef = np.arange(3.0 * n_groups).reshape(3, n_groups)
    right = {"coef": coef.tolist(), "intercept": [1.0, 2.0, 3.0], "penalty": 0.5}
    right |= {"rescaled": False, "searched": True, "errors": None}

    def with_regression(**changed):
        model = json.loads(json.dumps(contents["numbers"]))
        model["regression"] = right | changed
        return sealed(model)

    for penalty in (None, 0.5):
        loaded = load(file, with_regression(penalty=penalty))
        np.testing.assert_array_equal(loaded.estimator_.coef_, coef)
        np.testing.assert_array_equal(loaded.estimator_.intercept_, [1.0, 2.0, 3.0])
        np.testing.assert_array_equal(loaded.penalty_, penalty)
        assert loaded.penalties == (penalty and [penalty])
    for changed in (
        {"coef": coef[0].tolist()},
        {"coef": coef[:2].tolist()},
        {"coef": coef[:, 1:].tolist()},
        {"intercept": 1.0},
        {"intercept": [1.0, 2.0]},
        {"penalty": [1.0, 2.0]},
        {"errors": [0.5, 1.0]},
    ):
        assert_refused(file, with_regression(**changed), "(not of 3 targets|weights|not a number)")
