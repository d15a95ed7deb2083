"""Chunks of dask: the same groups as in memory, whatever the chunks, and nothing gathered."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

import lincfa
from lincfa import LinCFA, LinCFACV, baselines
from lincfa.structure import grid_connectivity
from reference import (
    QUICK,
    assert_same,
    duplicates,
    explained,
    field,
    make,
    many_factors,
    mirrored,
    noise_only,
    table,
    tree,
)

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask_data import (
    ROUTES,
    STRATEGIES,
    assert_equal_models,
    counted_chunks,
    data,
    fit,
    lazy_series,
    no_matrix,
    odd_chunks,
    on_route,
    small_groups,
    small_matrices,
)

pytestmark = pytest.mark.usefixtures("one_thread")


# Equality with the fit in memory


CUTS = st.lists(st.integers(0, 24), max_size=4)


def lengths(cuts, total):
    """Chunks between cuts; where two are equal, or at an end, a chunk is empty."""
    bounds = [0, *sorted(min(cut, total) for cut in cuts), total]
    return tuple(b - a for a, b in pairwise(bounds))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    family=st.sampled_from([noise_only, tree, field, explained]),
    strategy=st.sampled_from(STRATEGIES),
    route=st.sampled_from(ROUTES),
    units=st.sampled_from(["standardized", "original"]),
    dtype=st.sampled_from([np.float64, np.float32]),
    rows=CUTS,
    columns=CUTS,
    target=st.none() | CUTS,
    weights=st.none() | CUTS,
    weighted=st.booleans(),
)
def test_any_chunks_give_the_groups_of_memory(
    family, strategy, route, units, dtype, rows, columns, target, weights, weighted
):
    """Chunks of rows and columns, also empty ones; target and weights in chunks of their own."""
    # The regression on all groups of a smooth field in float32 is ill-conditioned.
    assume((family, strategy, dtype) != (field, "joint", np.float32))
    X, y = make(family, 24, 18)
    X = X.astype(dtype)
    counts = np.arange(24) % 4 * 0.5 + 0.5 if weighted else None
    lazy = da.from_array(X, chunks=X.shape).rechunk((lengths(rows, 24), lengths(columns, 18)))

    def cut(values, cuts):
        if values is None or cuts is None:
            return values
        return da.from_array(values, chunks=24).rechunk((lengths(cuts, 24),))

    settings = {"strategy": strategy, "units": units}
    with small_groups(4):  # or no group would be a large one
        model = LinCFA(**settings).fit(X, y, counts)
        chunked = fit(
            lazy, cut(y, target), cut(counts, weights), route=route, batch=100, **settings
        )
    assert_equal_models(chunked, model)
    bound = 1e-12 if dtype == np.float64 else 1e-6
    reduced = chunked.transform(lazy)
    assert reduced.dtype == dtype
    np.testing.assert_allclose(reduced, model.transform(X), rtol=bound, atol=bound)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "parameters",
    [
        {"tolerance": 0.1},
        {"tolerance": "unbiased", "noise": "full"},
        {"noise": 3.0, "min_correlation": 0.5},
    ],
)
def test_parameters(strategy, parameters):
    X, y = make(tree, 60, 16)
    model = LinCFA(strategy=strategy, **parameters).fit(X, y)
    assert_equal_models(
        fit(odd_chunks(X), y, route="many passes", strategy=strategy, **parameters), model
    )
    assert 1 < model.n_groups_ < 16


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("family", [duplicates, mirrored])
def test_copies_and_mirror_images(family, route):
    """Exact copies merge, whatever the chunks: their difference is rounding."""
    X, y = make(family, 60, 39)
    model, chunked = LinCFA().fit(X, y), fit(odd_chunks(X), y, route=route)
    np.testing.assert_array_equal(chunked.labels_, model.labels_)
    assert_same(chunked.evidence_, model.evidence_)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("n_groups", [1, 20])
def test_cut_at_a_number_of_groups(route, n_groups):
    X, y = make(tree, 60, 24)
    parameters = {"strategy": "agglomerative", "n_groups": n_groups}
    model = LinCFA(**parameters).fit(X, y)
    chunked = fit(odd_chunks(X), y, route=route, **parameters)
    assert_equal_models(chunked, model)
    assert_equal_models(chunked.cut(n_groups=7), model.cut(n_groups=7))


def test_centroid_of_more_features_than_have_a_matrix():
    """Then each group asks for its own sums, by passes of their own."""
    X, y = data(D=14)
    model = LinCFA(strategy="centroid").fit(X, y)
    with small_matrices(10):
        for chunks in (odd_chunks(X), da.from_array(X, chunks=(25, 14))):
            chunked = fit(chunks, y, route="many passes", strategy="centroid", batch=60)
            assert_equal_models(chunked, model)


STRUCTURES = {
    "connectivity": {"connectivity": grid_connectivity((4, 9))},
    "blocks": {"blocks": np.arange(36) % 2},
    "both": {"connectivity": grid_connectivity((4, 9)), "blocks": np.arange(36) // 18},
}


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [30, 90], ids=["wide", "tall"])
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_structure(strategy, route, n, weighted, structure):
    """By comoments, by all correlations and by gathered columns; rows without weight among them."""
    X, y = many_factors(np.random.default_rng(1), n, 36)
    weights = np.random.default_rng(0).integers(0, 4, size=n).astype(float) if weighted else None
    options = {"strategy": strategy, "tolerance": 2.0, **structure}
    expected = LinCFA(**options).fit(X, y, weights)
    assert_equal_models(fit(odd_chunks(X), y, weights, route=route, **options), expected)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_fewer_samples_than_features_need_no_correlations_of_all_pairs(strategy):
    X, y = many_factors(np.random.default_rng(1), 30, 36)
    options = {"strategy": strategy, "route": "many passes", **STRUCTURES["connectivity"]}
    with no_matrix():
        fit(odd_chunks(X), y, **options)
        if strategy == "sequential":
            X, y = many_factors(np.random.default_rng(1), 90, 36)
            with pytest.raises(AssertionError):
                fit(odd_chunks(X), y, **options)


@pytest.mark.parametrize("route", ROUTES)
def test_constant_columns(route):
    X, y = data()
    X[:, [0, 7, 20]] = 3.0
    X[:, 24:] = np.arange(4)
    with pytest.warns(UserWarning, match="constant") as expected:
        model = LinCFA().fit(X, y)
    with pytest.warns(UserWarning, match="constant") as found:
        chunked = fit(odd_chunks(X), y, route=route)
    assert str(found[0].message) == str(expected[0].message)
    assert_equal_models(chunked, model)
    np.testing.assert_allclose(chunked.transform(odd_chunks(X)), model.transform(X), atol=1e-12)
    with pytest.raises(ValueError, match="Every column of X is constant"):
        fit(da.ones((60, 28), chunks=(20, 15)), y, route=route)


# Transform and back


@pytest.fixture(params=["standardized", "original"])
def reducer(request):
    X, y = data()
    return LinCFA(units=request.param).fit(X, y)


def test_transform_is_lazy_and_keeps_the_chunks_of_rows(reducer):
    """Until the end nothing is read, and then every chunk once."""
    X, _ = data()
    lazy, reads = counted_chunks(X, ((0, 1, 29, 30), (7, 21)))
    reduced = reducer.transform(lazy)
    restored = reducer.inverse_transform(reduced)
    assert reads == []
    assert reduced.chunks == ((0, 1, 29, 30), (reducer.n_groups_,))
    assert restored.chunks == ((0, 1, 29, 30), (28,))
    values = reducer.transform(X)
    np.testing.assert_allclose(reduced.compute(), values, rtol=1e-12, atol=1e-12)
    assert sorted(reads) == sorted((top, left) for top in (0, 0, 1, 30) for left in (0, 7))
    np.testing.assert_allclose(restored, reducer.inverse_transform(values), rtol=1e-12)
    cut = da.from_array(values, chunks=(17, 1))  # groups may be in several chunks
    np.testing.assert_array_equal(reducer.inverse_transform(cut), reducer.inverse_transform(values))
    again = reducer.transform(restored)
    np.testing.assert_allclose(again, values, rtol=1e-10, atol=1e-10)  # 300 K less 300 K
    values = dd.from_pandas(table(X), npartitions=3).values
    reduced = reducer.transform(values)
    assert np.isnan(reduced.shape[0])
    np.testing.assert_allclose(reduced.compute(), reducer.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        reducer.inverse_transform(reduced).compute(),
        reducer.inverse_transform(reducer.transform(X)),
        rtol=1e-12,
    )


def test_frames_keep_index_divisions_and_names(reducer):
    frame = table(data()[0]).set_index(pd.date_range("2020", periods=60, name="when"))
    model = LinCFA(units=reducer.units).fit(frame, data()[1])
    lazy = dd.from_pandas(frame, npartitions=4)
    reduced = model.transform(lazy)
    restored = model.inverse_transform(reduced)
    for result, values in (
        (reduced, model.transform(frame)),
        (restored, model.inverse_transform(model.transform(frame))),
    ):
        assert result.divisions == lazy.divisions
        computed = result.compute()
        pd.testing.assert_frame_equal(result._meta, computed[:0], check_freq=False)
        pd.testing.assert_index_equal(computed.index, frame.index)
        np.testing.assert_allclose(computed, values, rtol=1e-12, atol=1e-12)
    assert list(reduced.columns) == list(model.get_feature_names_out())
    assert list(restored.columns) == list(frame.columns)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_set_output_gathers_nothing(output):
    """It makes containers in memory; a lazy collection stays what it is."""
    X, y = data()
    model = LinCFA().set_output(transform=output).fit(X, y)
    lazy, reads = counted_chunks(X, (20, 15))
    assert isinstance(model.transform(lazy), da.Array)
    with sklearn.config_context(transform_output=output):
        assert isinstance(LinCFA().fit(X, y).transform(lazy), da.Array)
    assert reads == []
    lazy, reads = counted_chunks(X, (20, 28))
    assert isinstance(model.fit_transform(lazy, y), da.Array)
    assert isinstance(make_pipeline(model).fit_transform(lazy, y), da.Array)
    assert len(reads) == 2 * 3  # by the two fits
    assert type(model.fit_transform(X, y)).__module__.startswith(output)


# Models


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_models_are_pickled_saved_and_loaded(tmp_path, strategy):
    """They hold what they learned, and no chunks."""
    X, y = data()
    model = fit(odd_chunks(X), da.from_array(y, chunks=17), strategy=strategy, route="many passes")
    stored = pickle.dumps(model)
    assert b"dask" not in stored
    model.save(tmp_path / "model.json")
    for copy in (pickle.loads(stored), lincfa.load(tmp_path / "model.json")):
        assert_equal_models(copy, model)
        np.testing.assert_array_equal(copy.transform(X), model.transform(X))


# The search


SEARCH = {**QUICK, "strategies": ("sequential", "agglomerative")}


def samples():
    return data(tree, 60, 12)


def search(X, y, route="one pass", sample_weight=None, **parameters):
    with on_route(route, batch=60):
        return LinCFACV(**{**SEARCH, **parameters}).fit(X, y, sample_weight=sample_weight)


def assert_same_search(chunked, model, X):
    """Scores are means of residuals, of some units, of regressions of few reduced features."""
    for name, values in model.cv_results_.items():
        if np.asarray(values).dtype.kind == "f":
            found = chunked.cv_results_[name]
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(chunked.labels_, model.labels_)
    np.testing.assert_allclose(chunked.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weighted", ["no", "in memory", "in chunks"])
@pytest.mark.parametrize("units", ["standardized", "original"])
def test_choice_is_that_of_memory(route, units, weighted):
    X, y = samples()
    weights = None if weighted == "no" else np.arange(60) % 3 * 0.75
    model = LinCFACV(**SEARCH, units=units).fit(X, y, sample_weight=weights)
    lazy, target = da.from_array(X, chunks=(25, 7)), da.from_array(y, chunks=17)
    if weighted == "in chunks":
        weights = da.from_array(weights, chunks=11)
    assert_same_search(search(lazy, target, route, weights, units=units), model, X)


def test_frames_estimators_and_lazy_predictions():
    X, y = samples()
    model = LinCFACV(**SEARCH | {"penalties": None}, estimator=Ridge()).fit(table(X), y)
    frame = dd.from_pandas(table(X), npartitions=3)
    target = lazy_series(y, 2)
    chunked = search(frame, target, estimator=Ridge(), penalties=None, n_jobs=2)
    assert_same_search(chunked, model, table(X))
    assert list(chunked.feature_names_in_) == list(model.feature_names_in_)
    assert isinstance(chunked.transform(frame), dd.DataFrame)
    np.testing.assert_allclose(chunked.predict(frame).compute(), model.predict(table(X)))
    for outcome in (y, target):
        np.testing.assert_allclose(chunked.score(frame, outcome), model.score(table(X), y))
    model = LinCFACV(**SEARCH).fit(X, y)
    lazy, reads = counted_chunks(X, ((0, 20, 40), (5, 7)))
    predicted = model.predict(lazy)
    model.transform(lazy)
    assert reads == []
    assert predicted.chunks == ((0, 20, 40),)
    np.testing.assert_allclose(predicted.compute(), model.predict(X), rtol=1e-11)
    assert len(reads) == lazy.npartitions
    target = da.from_array(y, chunks=7)
    weights = da.from_array(np.arange(60.0), chunks=9)
    expected = model.score(X, y, np.arange(60.0))
    np.testing.assert_allclose(model.score(lazy, target, weights), expected)


def test_folds_with_constant_columns_and_repeated_rows(route):
    X, y = samples()
    X[20:, 4] = 1.0
    parameters = {"cv": [(np.r_[20:60, 30:50], np.arange(20)), (np.arange(40), np.r_[40:60, 40])]}
    model = LinCFACV(**{**SEARCH, **parameters}).fit(X, y)
    chunked = search(da.from_array(X, chunks=(20, 7)), y, route, **parameters)
    assert_same_search(chunked, model, X)


def test_values_that_a_search_refuses():
    """As in memory also in rows that do not count."""
    X, y = samples()
    wrong = [("X", (33, 9)), ("X", (0, 9)), ("y", 33), ("y", 0), ("weights", 33)]
    for what, place in wrong:
        arrays = {"X": X.copy(), "y": y.copy(), "weights": np.arange(60) % 2 * 1.0}
        arrays[what][place] = np.nan
        lazy = {name: da.from_array(values, chunks=7) for name, values in arrays.items()}
        row = place[0] if what == "X" else place
        with pytest.raises(ValueError, match=rf"(NaN|nan).* \(?row {row}\b"):
            search(lazy["X"], lazy["y"], sample_weight=lazy["weights"])
    lazy = da.from_array(X, chunks=(25, 12))
    with pytest.raises(ValueError, match="more than float64 can hold"):
        search(lazy, y, sample_weight=da.full(60, 1e307, chunks=7))
    with pytest.raises(ValueError, match="The target y is constant"):
        search(lazy, da.ones(60, chunks=7))


# What would need the data in memory


REFUSALS = {
    "partial_fit": lambda X, y: LinCFA().partial_fit(X, y),
    "stability": lambda X, y: lincfa.stability(X, y, 2, verbose=False),
    "order": lambda X, y: lincfa.order_sensitivity(X, y, 2),
    "explain_pair": lambda X, y: lincfa.explain_pair(X, y, 0, 1),
    "compare": lambda X, y: lincfa.compare(X, y),
    "screening": lambda X, y: baselines.ScreenedPCA().fit(X, y),
    "report": lambda X, y: _fitted(y).report("never.html", X=X, y=y),
    "plot": lambda X, y: lincfa.plotting.plot_correlation(_fitted(y), X),
    "thresholds": lambda X, y: lincfa.plotting.plot_thresholds(_fitted(y), X, y),
}


def _fitted(y):
    return LinCFA().fit(data()[0], y)


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize("name", REFUSALS)
def test_nothing_else_gathers_chunks_unasked(name, kind):
    X, y = data()
    lazy, reads = counted_chunks(X, (20, 15))
    lazy = lazy if kind == "array" else dd.from_dask_array(lazy.rechunk({1: -1}))
    with pytest.raises(TypeError, match=r"not loaded into memory unasked.* call its compute\(\)"):
        REFUSALS[name](lazy, y)
    assert reads == []
