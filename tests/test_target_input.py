"""Several targets and labels as they are given: containers, chunks, names, and what is refused."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lincfa import LinCFA, LinCFAClassifierCV, LinCFACV
from reference import assert_raises, stream, table
from several_targets import classes_of, several
from signs_gaps_weights import assert_same_groups, every_strategy, factors

xr = pytest.importorskip("xarray")
dd = pytest.importorskip("dask.dataframe")

import field_data

NAMES = ["yield", "protein", "rain"]


def data(gaps=False):
    """Features, three targets, and labels of three classes."""
    X, Y, _ = several(factors, 60, gaps=gaps)
    return X, Y, classes_of(Y[:, 0])


def fit(X, y, **parameters):
    return LinCFA(**{"tolerance": 2.0, **parameters}).fit(X, y)


# Containers


@pytest.mark.parametrize(
    "container",
    [
        np.asfortranarray,
        lambda Y: Y.tolist(),
        lambda Y: pd.DataFrame(Y, columns=NAMES),
        lambda Y: pd.DataFrame(Y, columns=NAMES).convert_dtypes(),
        lambda Y: pl.DataFrame(Y, schema=NAMES),
    ],
    ids=["F", "lists", "pandas", "nullable", "polars"],
)
@every_strategy
def test_tables_of_targets(strategy, container):
    X, Y, _ = data()
    expected = fit(X, Y, strategy=strategy)
    assert 1 < expected.n_groups_ < 10
    given = container(Y)
    model = fit(X, given, strategy=strategy)
    assert_same_groups(model, expected)
    assert list(expected.target_names_) == ["y0", "y1", "y2"]
    assert list(model.target_names_) == (NAMES if hasattr(given, "columns") else ["y0", "y1", "y2"])
    assert_same_groups(fit(table(X), given, strategy=strategy), expected)


def test_whole_numbers_and_single_precision():
    X, Y, _ = data()
    for kind in (np.float32, np.int32, np.uint8):
        given = (Y + 100).astype(kind)
        assert_same_groups(fit(X, given), fit(X, given.astype(float)))
    mixed = pd.DataFrame({"a": (Y[:, 0] * 10).astype(int), "b": Y[:, 1]})
    assert_same_groups(fit(X, mixed), fit(X, mixed.to_numpy(dtype=float)))


@pytest.mark.parametrize("missing", [True, False])
def test_targets_of_a_field(missing):
    X, y = field_data.field(missing=missing)
    other = np.random.default_rng(5).normal(size=y.size)
    values = {"yield": ("time", y), "rain": ("time", y + 3 * other), "wind": ("time", other)}
    Y = xr.Dataset(values, coords={"time": X.time})
    expected = fit(field_data.table(X), np.column_stack([Y[name].values for name in Y]))
    for model in (fit(X, Y), fit(X, Y.to_array().values.T, sample_dim="time")):
        assert_same_groups(model, expected)
    assert list(fit(X, Y).target_names_) == ["yield", "rain", "wind"]
    later = Y.assign_coords(time=X.time + np.timedelta64(1, "D"))
    assert_raises("time", fit, X, later)


# Labels


@pytest.mark.parametrize(
    "container",
    [
        lambda labels: labels.tolist(),
        lambda labels: labels.astype(object),
        pd.Series,
        lambda labels: pd.Series(labels, dtype="string"),
        lambda labels: pd.Series(labels, dtype="category"),
        lambda labels: pd.Series(pd.Categorical(labels, ["top", "nobody", "middle", "low"])),
        lambda labels: pd.Categorical(labels),
        pl.Series,
    ],
    ids=["list", "object", "Series", "string", "category", "unused", "Categorical", "polars"],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels(n_classes, container):
    X, Y, _ = data()
    labels = classes_of(Y[:, 0], n_classes)
    expected = fit(X, labels)
    model = fit(X, container(labels))
    assert_same_groups(model, expected)
    assert list(model.classes_) == list(expected.classes_) == sorted(set(labels))
    if n_classes == 3:
        assert list(model.target_names_) == sorted(set(labels))
        assert model.target_correlation_.shape == (3, 10)
    else:
        assert model.target_correlation_.shape == (10,)


def test_booleans_and_whole_numbers():
    X, Y, labels = data()
    above = Y[:, 0] > 0
    expected = fit(X, above.astype(float))
    for given in (above, above.tolist(), pd.Series(above), pd.Series(above, dtype="boolean")):
        model = fit(X, given)
        assert_same_groups(model, expected)
        assert list(model.classes_) == [False, True]
    years = 2001 + np.unique(labels, return_inverse=True)[1]
    model = fit(X, years, target="classes")
    assert_same_groups(model, fit(X, labels))
    assert list(model.classes_) == [2001, 2002, 2003]
    assert list(model.target_names_) == ["2001", "2002", "2003"]
    # Whole numbers are a target like others if nothing is said.
    assert_same_groups(fit(X, years), fit(X, years.astype(float)))
    assert not hasattr(fit(X, years), "classes_")


def test_labels_leave_nothing_behind():
    """A fit to numbers after one to labels, and the other way round."""
    X, Y, labels = data()
    model = LinCFA(tolerance=2.0)
    assert_same_groups(model.fit(X, labels).fit(X, Y), fit(X, Y))
    assert not hasattr(model, "classes_")
    assert_same_groups(model.fit(X, labels), fit(X, labels))
    assert_same_groups(model.fit(X, Y[:, 0]), fit(X, Y[:, 0]))


# Chunks


@pytest.mark.parametrize("gaps", [False, True])
@every_strategy
def test_chunks_of_rows(strategy, gaps):
    X, Y, _ = several(factors, 120, gaps=gaps)
    parameters = {
        "strategy": strategy,
        "tolerance": 2.0,
        "missing": "pairwise" if gaps else "error",
    }
    expected = LinCFA(**parameters).fit(X, Y)
    for bounds in ((50,), (40, 41, 90)):
        model = stream(X, Y, bounds, LinCFA(**parameters))
        assert_same_groups(model, expected)
    assert model.target_correlation_.shape == (3, 10)


def test_chunks_have_the_same_targets():
    X, Y, _ = data()
    model = LinCFA().partial_fit(X[:30], Y[:30])
    for wrong in (Y[30:, :2], Y[30:, 0], np.hstack([Y, Y])[30:]):
        assert_raises("target", model.partial_fit, X[30:], wrong)
    assert_same_groups(model.partial_fit(X[30:], Y[30:]), LinCFA().fit(X, Y))


@every_strategy
def test_chunks_of_labels(strategy):
    """In the order of the classes: some chunks have only one of them."""
    X, _, labels = data()
    order = np.argsort(labels)
    X, labels = X[order], labels[order]
    model = LinCFA(strategy=strategy).partial_fit(X[:15], labels[:15], classes=np.unique(labels))
    for start, stop in ((15, 35), (35, 60)):
        model.partial_fit(X[start:stop], labels[start:stop])
    assert_same_groups(model, LinCFA(strategy=strategy).fit(X, labels))
    assert list(model.classes_) == sorted(set(labels))
    model = LinCFA(strategy=strategy).partial_fit(X[10:30], labels[10:30])
    assert_raises(labels[-1], model.partial_fit, X[30:], labels[30:])


def test_chunks_where_a_target_does_not_vary_yet():
    X, Y, _ = data()
    Y[:30, 1] = 4.0
    model = stream(X, Y, (20, 40))
    assert_same_groups(model, LinCFA().fit(X, Y))


# What is refused


def test_a_constant_target_is_named():
    X, Y, _ = data()
    Y[:, 1] = 0.1
    assert_raises("(?i)target 1.*constant", fit, X, Y)
    assert_raises("protein.*constant", fit, X, pd.DataFrame(Y, columns=NAMES))
    assert_raises("protein.*constant", fit, X, pl.DataFrame(Y, schema=NAMES))


def test_a_single_class_is_named():
    X, _, _ = data()
    for labels in (
        ["sunny"] * 60,
        np.full(60, "sunny"),
        pd.Series(["sunny"] * 60, dtype="category"),
    ):
        assert_raises("sunny", fit, X, labels)
    assert_raises("True", fit, X, np.full(60, True))
    assert_raises("2001", fit, X, np.full(60, 2001), target="classes")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_missing_labels(missing):
    X, _, labels = data()
    some = labels.astype(object)
    some[7] = missing
    for given in (some, some.tolist(), pd.Series(some), pd.Series(some, dtype="category")):
        assert_raises("(?i)missing|nan|none", fit, X, given)


def test_missing_values_of_targets():
    X, Y, _ = data()
    Y[3, 2] = np.nan
    for options in ({}, {"missing": "pairwise"}):
        assert_raises("NaN", fit, X, Y, **options)
        assert_raises("NaN", fit, X, pd.DataFrame(Y, columns=NAMES), **options)
    numbers = np.arange(60.0) % 3
    numbers[5] = np.nan
    assert_raises("(?i)missing|nan", fit, X, numbers, target="classes")


MISSING = {
    "list": lambda y: y,
    "objects": lambda y: np.array(y, dtype=object),
    "Series": pd.Series,
    "Series of objects": lambda y: pd.Series(y, dtype=object),
    "frame": lambda y: pd.DataFrame({"a": pd.Series(y, dtype=object)}),
    "nullable": lambda y: pd.Series(y).convert_dtypes(),
    "polars": pl.Series,
    "polars frame": lambda y: pl.DataFrame({"a": y}),
    "dask": lambda y: dd.from_pandas(pd.Series(y), 2),
}


@pytest.mark.parametrize("container", MISSING)
def test_none_is_a_missing_value(container):
    """Of numbers and of labels, in any container."""
    X, Y, labels = data()
    given = MISSING[container]
    said = r"Input y contains NaN: values are missing \(row 0\)"
    for values in (Y[:, 0].tolist(), labels.tolist(), [True, False] * 30):
        y = given([None, *values[1:]])
        assert_raises(said, LinCFA().fit, X, y)
        if not isinstance(values[1], bool):
            assert_raises(said, LinCFA().partial_fit, X, y)
        if not isinstance(values[1], float):
            assert_raises(said, LinCFAClassifierCV().fit, X, y)
        else:
            assert_raises(said, LinCFACV().fit, X, y)
            if "frame" not in container:
                assert_raises("nan in row 0", LinCFA().fit, X, Y, sample_weight=y)


def test_none_among_several_targets():
    X, Y, _ = data()
    rows = [[1.0, None, 2.0], *Y[1:].tolist()]
    said = "NaN in {}: values are missing"
    for given in (rows, np.array(rows, dtype=object)):
        assert_raises(said.format("target 1"), fit, X, given)
    for frame in (pd.DataFrame, pl.DataFrame):
        columns = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
        assert_raises(said.format("the target 'protein'"), fit, X, frame(columns))


def test_values_that_are_no_numbers_among_numbers():
    X, Y, _ = data()
    others = Y[1:, 0].tolist()
    for container in (list, partial(pd.Series, dtype=object), partial(np.array, dtype=object)):
        text = r"all of one type, got float, str \(row 0: 'dry'\)"
        assert_raises(text, fit, X, container(["dry", *others]))
        assert_raises("not numeric", fit, X, container(["dry", *others]), target="numbers")
        large = container([10**400, *others])
        assert_raises("y contains a whole number too large for float64", fit, X, large)
        assert_raises("whole number too large", LinCFA().fit, X, Y, sample_weight=large)
    assert_raises("y is complex", fit, X, np.array([1j, *others], dtype=object))
    for value, said in (
        (10**400, "X contains a whole number too large"),
        (1j, "column 1 contains 1j"),
    ):
        objects = X.astype(object)
        objects[3, 1] = value
        assert_raises(said, fit, objects, Y)


def test_shapes():
    X, Y, labels = data()
    assert_raises("samples", fit, X, Y[:-1])
    assert_raises("target|y", fit, X, Y[:, :0])
    assert_raises("target|y|dim", fit, X, Y[:, :, None])
    assert_raises("samples", fit, X, labels[:-1])
    assert_raises("'classes'", fit, X, labels, target="labels")


def test_categories_are_classes_whatever_they_are():
    X, _, _ = data()
    codes = np.arange(len(X)) % 3
    expected = LinCFA(target="classes").fit(X, codes)
    for y in (
        pd.Series(pd.Categorical(codes)),
        pd.DataFrame({"kind": pd.Categorical(codes)}),
        pd.Categorical(codes),
        pd.Series(pd.Categorical(codes.astype(str))),
        pl.Series(codes.astype(str)).cast(pl.Categorical),
    ):
        found = LinCFA().fit(X, y)
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        assert list(map(int, found.classes_)) == [0, 1, 2]
        with pytest.raises(ValueError, match="not numeric"):
            LinCFACV().fit(X, y)


def test_several_columns_of_which_one_holds_labels():
    X, Y, _ = data()
    objects = Y.astype(object)
    objects[2, 1] = "x"
    frame = pd.DataFrame(Y, columns=list("abc")).assign(b=pd.Categorical(np.arange(len(Y)) % 2))
    for y, name in ((objects, "1"), (frame, "'b'")):
        with pytest.raises(ValueError, match=f"The target {name} is not numeric"):
            LinCFA().fit(X, y)
    # Booleans in several columns are 0 and 1, whatever holds them.
    high = np.median(Y, axis=0) < Y
    array, table = LinCFA().fit(X, high), LinCFA().fit(X, pd.DataFrame(high))
    np.testing.assert_array_equal(array.labels_, table.labels_)
    with pytest.raises(ValueError, match="Names of targets must be unique"):
        LinCFA().fit(X, pd.DataFrame(Y, columns=[1, "1", "a"]))


def test_scores_are_of_the_same_targets():
    X, Y, _ = data()
    frame = pd.DataFrame(Y, columns=list("abc"))
    model = LinCFACV(tolerances=[1.0], min_correlations=[None], cv=3).fit(X, frame)
    assert model.score(X, Y) == model.score(X, frame)
    with pytest.raises(ValueError, match=r"The targets are \['c', 'b', 'a'\]"):
        model.score(X, frame[list("cba")])
    with pytest.raises(ValueError, match="y has 2 targets here and had 3 before"):
        model.score(X, Y[:, :2])
