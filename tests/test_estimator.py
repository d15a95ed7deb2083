"""LinCFA as a scikit-learn estimator: attributes, containers, pipelines."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from lincfa import LinCFA, LinCFACV, compare, order_sensitivity, stability
from lincfa.datasets import make_correlated


def test_attributes(data):
    X, y = data
    before = X.copy(), y.copy()
    model = LinCFA().fit(X, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    assert model.n_features_in_ == 12
    assert model.n_groups_ == len(model.groups_) == model.labels_.max() + 1
    assert sorted(np.concatenate(model.groups_)) == list(range(12))
    for number, group in enumerate(model.groups_):
        np.testing.assert_array_equal(group, np.flatnonzero(model.labels_ == number))
    firsts = [group[0] for group in model.groups_]
    assert firsts == sorted(firsts)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=0, atol=1e-15)
    np.testing.assert_allclose(model.scale_, X.std(axis=0, ddof=1), rtol=1e-12)
    expected = [np.corrcoef(X[:, j], y)[0, 1] for j in range(12)]
    np.testing.assert_allclose(model.target_correlation_, expected, rtol=1e-10)


def test_noise_as_a_number_and_what_counts_as_one(data):
    X, y = data
    sigma2 = 0.9
    model = LinCFA(noise=sigma2).fit(X, y)
    # The noise is in the target's unit: a target in another unit with its noise gives the same.
    for unit in (1000, 1e-150, 1e150):
        scaled = LinCFA(noise=sigma2 * unit**2).fit(X, unit * y)
        np.testing.assert_array_equal(model.labels_, scaled.labels_)
    # The limits: without noise nothing but duplicates merges, with all the noise everything does.
    assert LinCFA(noise=1e-320).fit(X, 1e10 * y).n_groups_ == 12
    assert LinCFA(noise=1e300).fit(X, 1e-200 * y).n_groups_ == 1
    counts = np.round(10 * X).astype(int)
    table = pd.DataFrame(counts.astype(object)).add_prefix("c")
    table["flag"] = X[:, 0] > 0
    expected = LinCFA().fit(np.column_stack([counts, X[:, 0] > 0]).astype(float), y)
    np.testing.assert_array_equal(LinCFA().fit(table, y).labels_, expected.labels_)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("units", ["standardized", "original"])
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_transform_works_through_blocks(monkeypatch, data, order, units, threads, offset):
    X, y = data
    X = np.asarray(X + offset, order=order)
    X[:, 3] = 7.0  # constant
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA(units=units).fit(X, y)
    values = (X - model.mean_) / model.scale_ if units == "standardized" else X
    expected = np.column_stack([values[:, group].mean(axis=1) for group in model.groups_])
    monkeypatch.setenv("OMP_NUM_THREADS", str(threads))
    monkeypatch.setattr("lincfa._statistics._speed._WORTH_THREADS", 0)
    for size in (1, 3 * X.shape[1], 5 * X.shape[0], 2**20):
        monkeypatch.setattr("lincfa._statistics._means._ROW_VALUES", size)
        monkeypatch.setattr("lincfa._statistics._means._COLUMN_VALUES", size)
        # Rounding of the values themselves, 1e-16 of the offset, over scales of about 1.
        np.testing.assert_allclose(model.transform(X), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(model.transform(X[:7]), model.transform(X)[:7])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("units", ["standardized", "original"])
def test_transform_is_accurate_when_the_mean_is_much_larger(rng, units, dtype):
    """Pascals: the error is that of the result's own rounding, not of sums of large numbers."""
    ratio = 1e3 if dtype == np.float32 else 1e6
    factor = rng.normal(size=(200, 1))
    X = (ratio + factor + 0.05 * rng.normal(size=(200, 40))).astype(dtype)
    model = LinCFA(units=units).fit(X, factor[:, 0] + rng.normal(size=200))
    exact = X.astype(np.longdouble)
    if units == "standardized":
        exact = exact - exact.mean(axis=0)
        exact /= np.sqrt((exact**2).sum(axis=0) / 199)
    expected = np.column_stack([exact[:, group].mean(axis=1) for group in model.groups_])
    size = np.abs(expected).max()
    # The mean itself is rounded in float64: ratio · 1e-16 of the scale.
    bound = 4 * np.finfo(dtype).eps * size + 4 * ratio * np.finfo(float).eps
    np.testing.assert_allclose(model.transform(X), expected.astype(float), rtol=0, atol=bound)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_float32_stays_float32(data, container, output):
    X, y = data
    model = LinCFA().fit(X, y).set_output(transform=output)
    for dtype in (np.float32, np.float64):
        given = container(X.astype(dtype))
        fitted = clone(model).fit(given, y)
        assert np.asarray(fitted.transform(given)).dtype == dtype
        np.testing.assert_array_equal(fitted.labels_, model.labels_)
    if container is pl.DataFrame:
        mixed = given.with_columns(given.to_series(0).cast(pl.Float32))
        assert np.asarray(clone(model).fit(mixed, y).transform(mixed)).dtype == np.float64


def test_constant_columns_belong_to_no_group(data):
    X, y = data
    X = X.copy()
    X[:, [0, 5]] = [0.1, -3e7]
    with pytest.warns(UserWarning, match=r"constant features.*columns 0, 5\.") as caught:
        model = LinCFA().fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__  # it points at the caller, not into the library
    np.testing.assert_array_equal(np.flatnonzero(model.labels_ == -1), [0, 5])
    assert sorted(np.concatenate(model.groups_)) == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    varying = np.delete(X, [0, 5], axis=1)
    for units in ("standardized", "original"):
        model.set_params(units=units)
        alone = LinCFA(units=units).fit(varying, y)
        np.testing.assert_allclose(model.transform(X), alone.transform(varying), atol=1e-12)


def test_single_column(rng):
    X = rng.normal(size=(10, 1))
    model = LinCFA().fit(X, rng.normal(size=10))
    assert model.n_groups_ == 1
    assert len(model.evidence_) == 0
    assert model.transform(X).std(ddof=1) == pytest.approx(1)


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_in_and_out(data, output, frame):
    X, y = data
    names = [f"cell {i}" for i in range(12)]
    table = frame(dict(zip(names, X.T, strict=True)))
    plain = LinCFA().fit(X, y)
    model = LinCFA().fit(table, y)
    assert model.feature_names_in_.tolist() == names
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.transform(table), plain.transform(X), rtol=0, atol=1e-14)
    reduced = model.set_output(transform=output).transform(table)
    assert isinstance(reduced, frame)
    assert list(reduced.columns) == model.get_feature_names_out().tolist()
    np.testing.assert_allclose(reduced.to_numpy(), plain.transform(X), rtol=0, atol=1e-14)
    if output == "pandas":
        dated = table.set_index(pd.date_range("2001-01-01", periods=100))
        pd.testing.assert_index_equal(model.transform(dated).index, dated.index)


def test_decimal_columns_of_polars_are_numbers(data):
    X, y = data
    frame = pl.DataFrame(np.round(X, 3)).with_columns(pl.all().cast(pl.Decimal(20, 3)))
    model = LinCFA().fit(frame, y)
    assert model.labels_.tolist() == LinCFA().fit(np.round(X, 3), y).labels_.tolist()


def test_feature_names_out_clones_and_pickles(data):
    X, y = data
    model = LinCFA().fit(X, y)
    names = model.get_feature_names_out()
    assert len(names) == model.n_groups_
    for name, group in zip(names, model.groups_, strict=True):
        assert name == f"x{group[0]}" if len(group) == 1 else name.startswith(f"mean(x{group[0]}, ")
    assert model.get_feature_names_out([f"c{i}" for i in range(12)])[0].count("c0") == 1
    with pytest.raises(ValueError, match="length equal to number of features \\(12\\), got 2"):
        model.get_feature_names_out(["a", "b"])
    named = LinCFA().fit(pd.DataFrame(X).add_prefix("c"), y)
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        named.get_feature_names_out([f"d{i}" for i in range(12)])
    model = LinCFA(units="original", tolerance=2.0).fit(X, y)
    assert clone(model).get_params() == model.get_params()
    assert model.__sklearn_tags__().target_tags.required
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.transform(X), model.transform(X))
    assert len(pickle.dumps(LinCFA().fit(np.repeat(X, 50, axis=0), np.repeat(y, 50)))) < X.nbytes


def test_pipeline_and_grid_search():
    X, y = make_correlated(n_samples=200, n_features=40, random_state=1)
    search = GridSearchCV(
        make_pipeline(LinCFA(), LinearRegression()),
        {"lincfa__tolerance": [0.1, 1.0, 4.0], "lincfa__units": ["standardized", "original"]},
    ).fit(X, y)
    best = search.best_estimator_
    assert best.score(X, y) > 0.5
    assert best[-1].n_features_in_ == best[0].n_groups_ < 40


def test_regression_on_the_mean_is_the_regression_with_equal_weights(data):
    """What a merge means: the model with both features and one common weight."""
    X, y = data
    model = LinCFA().fit(X, y)
    Z = (X - model.mean_) / model.scale_
    fitted = LinearRegression().fit(model.transform(X), y)
    sizes = np.bincount(model.labels_)
    weights = fitted.coef_[model.labels_] / sizes[model.labels_]
    np.testing.assert_allclose(fitted.predict(model.transform(X)), Z @ weights + y.mean())


MANY = "LinCFA left 20 groups for 30 samples"


@pytest.fixture
def many(rng):
    """Thirty samples of twenty features that have nothing in common, and a target of all."""
    X = rng.normal(size=(30, 20))
    return X, X @ np.arange(1, 21) + rng.normal(size=30)


def test_many_groups_warn_once_where_the_user_fits(many):
    few = LinCFA(tolerance=1e-6)
    with pytest.warns(UserWarning, match=f"{MANY}.*LinCFACV.*tolerance.*n_groups") as caught:
        few.fit(*many)
    (warning,) = caught
    assert warning.filename == __file__
    with pytest.warns(UserWarning, match="for 30.5 samples"):
        few.fit(*many, sample_weight=np.r_[1.5, np.ones(29)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few.fit(*(np.r_[part, part] for part in many))  # more than half are many, half are not
        few.fit(*many, sample_weight=2.0)


def test_many_groups_warn_of_no_inner_fit(many):
    X, y = many
    few = LinCFA(tolerance=1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LinCFACV(tolerances=[1e-6], max_groups=None, cv=3).fit(X, y)
        few.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
        stability(X, y, 2, model=few, verbose=False)
        order_sensitivity(X, y, 2, model=few)
        compare(X, y, methods=["LinCFA"], cv=3, n_repeats=1, verbose=False)
    assert few.n_groups_ == 20
