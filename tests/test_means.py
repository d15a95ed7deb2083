"""Means with signs, weights and gaps: by their definition, and as a fitted model uses them."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from lincfa import LinCFA, LinCFACV
from lincfa._model import _lazy
from lincfa._model._regression import RidgeRegression
from lincfa._statistics import _means
from lincfa._statistics._means import group_means, partial_sums
from reference import QUICK, assert_raises, draw
from signs_gaps_weights import means_by_definition, reduced_by_definition
from signs_gaps_weights import with_gaps as gaps_in

UNITS = ["standardized", "original"]
FACTORS = {
    "plain": lambda rng, D: None,
    "signs": lambda rng, D: rng.choice([-1.0, 1.0], D),
    "weights": lambda rng, D: rng.uniform(0.1, 4, D),
    "both": lambda rng, D: rng.uniform(0.1, 4, D) * rng.choice([-1, 1], D),
}


def with_gaps(X, share):
    """Gaps at random, and a row that has nothing."""
    X = gaps_in(np.random.default_rng(0), X, share)
    X[2] = np.nan if share > 0 else X[2]
    return X


@pytest.mark.parametrize("share", [0.0, 0.1, 0.8])
@pytest.mark.parametrize("standard", ["no", "near", "far"])
@pytest.mark.parametrize("kind", FACTORS)
@pytest.mark.parametrize("order", "CF")
def test_means_by_their_definition(order, kind, standard, share):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(23, 40)) * rng.uniform(0.1, 10, 40)
    labels = rng.integers(-1, 7, 40)
    factors = FACTORS[kind](rng, 40)
    moments = {}
    if standard != "no":
        X += 1e5 if standard == "far" else 3.0
        moments = {"mean": X.mean(axis=0), "scale": X.std(axis=0)}
    X = with_gaps(np.asarray(X, order=order), share)
    expected = means_by_definition(X, labels, 7, factors, **moments)
    found = group_means(X, labels, 7, factors=factors, gaps=True, **moments)
    # Rounding of values that are up to 100 times, or 1e6 times, as large as the scales.
    rounding = {"no": 1e-14, "near": 1e-13, "far": 1e-9}[standard]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=rounding)
    assert np.isnan(found[2]).all() == (share > 0)
    single = X.astype(np.float32)
    moments = {name: values.astype(np.float32) for name, values in moments.items()}
    expected = means_by_definition(single.astype(float), labels, 7, factors, **moments)
    found = group_means(single, labels, 7, factors=factors, gaps=True, **moments)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("order", "CF")
def test_what_has_no_gaps_is_exactly_as_before(order, monkeypatch):
    """Factors of 1 change no bit, and gaps only the means of the groups that have them."""
    X, _ = draw(0, D=40)
    X = np.asarray(X, order=order)
    labels = np.arange(40) % 6
    moments = {"mean": X.mean(axis=0), "scale": X.std(axis=0)}
    plain = group_means(X, labels, 6, **moments)
    holes = X.copy(order="K")
    holes[5, 8] = np.nan  # of group 2
    found = group_means(holes, labels, 6, gaps=True, **moments)
    same = np.ones(plain.shape, dtype=bool)
    same[5, 2] = False
    np.testing.assert_array_equal(found[same], plain[same])
    assert np.isfinite(found[5, 2])
    assert found[5, 2] != plain[5, 2]
    assert np.isnan(group_means(holes, labels, 6, **moments)[5, 2])

    passes = []
    for name in ("_along_rows", "_along_columns"):
        kernel = getattr(_means, name)
        monkeypatch.setattr(
            _means, name, lambda *given, kernel=kernel: passes.append(1) or kernel(*given)
        )
    found = group_means(X, labels, 6, factors=np.ones(40), gaps=True, **moments)
    np.testing.assert_array_equal(found, plain)
    assert len(passes) == 1


@pytest.mark.parametrize("order", "CF")
def test_large_tables(order, monkeypatch):
    """In several blocks, by several threads: products of matrices say the same."""
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    rng = np.random.default_rng(6)
    X = with_gaps(rng.normal(size=(900, 6000)), 0.1)
    labels, factors = rng.integers(-1, 400, 6000), FACTORS["both"](rng, 6000)
    weights = np.zeros((6000, 401))
    weights[np.arange(6000), labels] = factors
    expected = (np.nan_to_num(X) @ weights)[:, :400]
    with np.errstate(invalid="ignore"):
        expected /= (~np.isnan(X) @ np.abs(weights))[:, :400]
    found = group_means(np.asarray(X, order=order), labels, 400, factors=factors, gaps=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_equal_weights_are_none():
    X, _ = draw(0, D=12)
    labels = np.arange(12) % 5
    found = group_means(X, labels, 5, factors=np.full(12, 4.0))
    np.testing.assert_array_equal(found, group_means(X, labels, 5))


@pytest.mark.parametrize("gaps", ["none", "one", "many"])
def test_parts_add_up(gaps):
    """Sums and weights of some columns, which may lack groups, or rows."""
    rng = np.random.default_rng(3)
    X = with_gaps(rng.normal(size=(20, 30)), 0.4 if gaps == "many" else 0.0)
    X[4, 20] = np.nan if gaps == "one" else X[4, 20]
    labels, factors = np.sort(rng.integers(-1, 6, 30)), FACTORS["both"](rng, 30)
    parts = [slice(0, 11), slice(11, 12), slice(12, 30)]
    sums = sum(partial_sums(X[:, p], labels[p], 6, factors[p], gaps=True) for p in parts)
    with np.errstate(invalid="ignore"):
        found = sums[0] / sums[1]
    np.testing.assert_allclose(found, means_by_definition(X, labels, 6, factors), rtol=1e-12)
    assert partial_sums(X[:0], labels, 6, factors, gaps=True).shape == (2, 0, 6)


# As a fitted model uses them


def signed_model(units, **parameters):
    """A model of several groups with both signs and its data, of which one column is constant."""
    X, y = draw(3)
    rng = np.random.default_rng(4)
    X = X * np.geomspace(0.01, 100, 15) * rng.choice([-1, 1], 15) + np.linspace(-500, 500, 15)
    X[:, 7] = 42.0
    options = {"signed": True, "feature_weights": rng.uniform(0.2, 3, 15), **parameters}
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA(units=units, tolerance=5.0, min_correlation=0.3, **options).fit(X, y)
    assert sum(set(model.signs_[group]) == {-1, 1} for group in model.groups_) > 1
    assert max(map(len, model.groups_)) > 2
    return model, X, y


@pytest.mark.parametrize("units", UNITS)
def test_transform_and_back(units):
    model, X, _ = signed_model(units)
    Z = model.transform(X)
    np.testing.assert_allclose(Z, reduced_by_definition(model, X), rtol=1e-9, atol=1e-11)
    Z = Z + np.random.default_rng(0).normal(size=Z.shape)
    back = model.inverse_transform(Z)
    np.testing.assert_array_equal(back[:, 7], 42.0)
    np.testing.assert_allclose(model.transform(back), Z, rtol=1e-11, atol=1e-11)
    # Members that are flipped go down where the others go up.
    up = model.inverse_transform(Z + 1) - back
    np.testing.assert_array_equal(
        np.sign(up[:, model.labels_ >= 0])[0], model.signs_[np.r_[:7, 8:15]]
    )


@pytest.mark.parametrize("units", UNITS)
def test_coefficients_on_all_features_predict_the_same(units):
    model, X, _ = signed_model(units)
    coef = np.random.default_rng(1).normal(size=(2, model.n_groups_))
    expanded, intercept = model.expand_coefficients(coef, [1.0, -2.0])
    expected = model.transform(X) @ coef.T + [1.0, -2.0]
    np.testing.assert_allclose(X @ expanded.T + intercept, expected, rtol=1e-8, atol=1e-8)
    assert (expanded[:, 7] == 0).all()


def test_names_show_signs():
    model, _, _ = signed_model("standardized")
    names, members = model.get_feature_names_out(), model.groups_by_name()
    assert list(members) == names.tolist()
    for group, listed in zip(model.groups_, members.values(), strict=True):
        assert listed == [f"x{i}" for i in group]  # as the columns are called
    assert any("\u2212x" in name for name in names)


@pytest.mark.parametrize("units", UNITS)
def test_weights_of_pairs_per_standard_deviation(units):
    """Exact for two members: their correlation is the mean correlation."""
    X, y = draw(3, D=4)
    X = X * [1, 5, 0.2, 1]
    options = {"feature_weights": [1.0, 2.0, 5.0, 0.3], "units": units}
    model = LinCFA(strategy="agglomerative", n_groups=2, signed=True, **options).fit(X, y)
    assert set(model.signs_) == {-1, 1}
    assert [len(group) for group in model.groups_] == [2, 2]
    Z = model.transform(X)
    model.estimator_ = RidgeRegression().fit(Z, y)
    expected = model.estimator_.coef_ * Z.std(axis=0, ddof=1) / y.std(ddof=1)
    np.testing.assert_allclose(model._standardized_weights(), expected, rtol=1e-10)


@pytest.mark.parametrize("units", UNITS)
def test_gaps(units):
    model, X, _ = signed_model(units)
    holes = with_gaps(X, 0.3)
    assert_raises('NaN in column .*missing="pairwise"', model.transform, holes)
    assert not model.__sklearn_tags__().input_tags.allow_nan
    model.set_params(missing="pairwise")
    assert model.__sklearn_tags__().input_tags.allow_nan
    Z = model.transform(holes)
    np.testing.assert_allclose(Z, reduced_by_definition(model, holes), rtol=1e-9, atol=1e-11)
    assert np.isnan(Z[2]).all()
    back = model.inverse_transform(Z)
    missing = np.isnan(Z)[:, model.labels_]
    missing[:, 7] = False
    np.testing.assert_array_equal(np.isnan(back), missing)
    filled = model._without_gaps(Z)
    center = model.transform(np.broadcast_to(model.mean_, (1, 15)))
    np.testing.assert_allclose(filled[2], center[0], rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(filled[~np.isnan(Z)], Z[~np.isnan(Z)])
    holes[4, 3] = -np.inf
    assert_raises(r"infinity in column 3 \(row 4\)", model.transform, holes)
    Z[0, 0] = np.inf
    assert_raises("contains infinity in column 0", model.inverse_transform, Z)


CHUNKS = [(20, 15), ((0, 7, 33, 20), 15), (25, (3, 5, 7)), (60, 1)]


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("units", UNITS)
def test_dask_as_in_memory(units, chunks, missing):
    model, X, _ = signed_model(units, missing=missing)
    X = (with_gaps(X, 0.3) if missing == "pairwise" else X)[:60]
    if missing == "pairwise":
        X[:40, 1] = np.nan
    lazy = da.from_array(X, chunks=X.shape).rechunk(chunks)
    expected = model.transform(X)
    found = model.transform(lazy)
    np.testing.assert_allclose(found.compute(), expected, rtol=1e-10, atol=1e-11)
    back = model.inverse_transform(found).compute()
    np.testing.assert_allclose(back, model.inverse_transform(expected), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(
        np.isnan(model._without_gaps(found).compute()), np.zeros_like(expected, dtype=bool)
    )
    X[3, 4] = np.inf
    wrong = da.from_array(X, chunks=X.shape).rechunk(chunks)
    assert_raises(r"rows: Input X contains infinity in column 4", model.transform(wrong).compute)
    wrong = da.from_array(np.where(expected == expected, expected, np.inf), chunks=10)
    if missing == "pairwise":
        assert_raises("contain infinity", model.inverse_transform(wrong).compute)


def test_dask_frames_with_nulls():
    model, X, _ = signed_model("standardized", missing="pairwise")
    X = with_gaps(X, 0.3)
    lazy = dd.from_pandas(pd.DataFrame(X).convert_dtypes(), npartitions=3)
    np.testing.assert_allclose(
        model.transform(lazy).compute().to_numpy(), model.transform(X), rtol=1e-10, atol=1e-11
    )


# Results beyond their type


@pytest.mark.parametrize("missing", ["error", "pairwise"])
@pytest.mark.parametrize(("dtype", "unit"), [(np.float32, 1e-20), (np.float64, 1e-300)])
def test_finite_values_never_become_infinite(data, dtype, unit, missing):
    """Values far from those of the fit, which standardised are beyond the largest number."""
    X, y = data
    X = (X * unit).astype(dtype)
    far = X.copy()
    far[5, 1] = 10 / unit
    said = f"In row 5 .* overflows {np.dtype(dtype)}"
    model = LinCFACV(**QUICK, missing=missing).fit(X, y)
    for order in "CF":
        assert_raises(said, model.transform, np.asarray(far, order=order))
    assert_raises(said, model.predict, far)
    assert np.isfinite(LinCFA(units="original").fit(X, y).transform(far)).all()
    for chunks in ((100, 12), (100, 4)):
        assert_raises(said, model.transform(da.from_array(far, chunks=chunks)).compute)
    if dtype == np.float32:
        assert np.isfinite(model.transform(far.astype(np.float64))).all()


def test_features_beyond_their_type(data, monkeypatch):
    """Single precision does not hold features whose mean it does not hold."""
    X, y = data
    model = LinCFA().fit(X * 1e100, y)
    reduced = model.transform(X * 1e100)
    single = reduced.astype(np.float32)
    assert_raises("In row 0 'x0' overflows float32", model.inverse_transform, single)
    lazy = model.inverse_transform(da.from_array(single, chunks=(100, -1)))
    assert_raises("In row 0 'x0' overflows float32", lazy.compute)
    monkeypatch.setattr(_lazy, "LARGEST_BATCH", 400)  # so that the columns are in several chunks
    lazy = model.inverse_transform(da.from_array(single, chunks=(100, -1)))
    assert len(lazy.chunks[1]) > 1
    assert_raises("In row 0 'x4' overflows float32", lazy.blocks[0, 1].compute)
    assert np.isfinite(model.inverse_transform(reduced)).all()


def test_predictions_beyond_float64(data):
    X, y = data
    model = LinCFACV(**QUICK).fit(X, y * 1e150)
    assert_raises("In row 0 'prediction' overflows", model.predict, X * 1e200)
