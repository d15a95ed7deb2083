"""Missing values, signs and weights of features in chunks of dask: the same as in memory."""

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from field_data import field
from lincfa import LinCFA, LinCFACV
from lincfa.structure import chain_connectivity
from reference import QUICK, assert_raises, noise_only, table
from signs_gaps_weights import copies, factors, in_float32, make, mirror_images, with_gaps

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

from dask_data import (
    BATCH,
    ROUTES,
    Watch,
    answers,
    assert_equal_models,
    counted_chunks,
    fit,
    odd_chunks,
    on_route,
    small_groups,
    small_matrices,
)

pytestmark = pytest.mark.usefixtures("one_thread")

STRATEGIES = ("sequential", "centroid", "agglomerative", "joint")
FIGURES = ("feature", "partner", "sign", "correlation", "threshold", "f")
CUTS = st.lists(st.integers(0, 200), max_size=3)


def options(weights, **others):
    signed = {"signed": True, "feature_weights": weights}
    return {"missing": "pairwise", "tolerance": 2.0, **signed, **others}


def lengths(cuts, total):
    bounds = np.array([0, *sorted(min(cut, total) for cut in cuts), total])
    return tuple(np.diff(bounds).tolist())


# Equality with the fit in memory


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    family=st.sampled_from([factors, noise_only, in_float32]),
    strategy=st.sampled_from(STRATEGIES),
    route=st.sampled_from(ROUTES),
    units=st.sampled_from(["standardized", "original"]),
    signed=st.booleans(),
    weighted=st.booleans(),
    counted=st.booleans(),
    rows=CUTS,
    columns=CUTS,
)
def test_any_chunks_give_the_groups_of_memory(
    family, strategy, route, units, signed, weighted, counted, rows, columns
):
    """Also with rows that do not count, and for groups with more members than are compared."""
    X, y, weights = make(family, 200, 10, gaps=True)
    counts = np.arange(200) % 4 * 0.5 if counted else None
    lazy = da.from_array(X, chunks=X.shape).rechunk((lengths(rows, 200), lengths(columns, 10)))
    parameters = {
        "strategy": strategy,
        "units": units,
        "tolerance": 2.0,
        "signed": signed,
        "feature_weights": weights if weighted else None,
        "missing": "pairwise",
    }
    with small_groups(3):
        whole = LinCFA(**parameters).fit(X, y, counts)
        chunked = fit(lazy, y, counts, route=route, **parameters)
    assert_equal_models(chunked, whole)
    np.testing.assert_array_equal(chunked.signs_, whole.signs_)
    bound = 1e-12 if X.dtype == np.float64 else 1e-5
    reduced = chunked.transform(lazy)
    np.testing.assert_allclose(reduced, whole.transform(X), rtol=bound, atol=bound)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_missing_is_the_fit_without_the_option(strategy, route):
    """Each number, and each chunk is read as often."""
    X, y, _ = make(factors)
    models, read = [], []
    for missing in ("error", "pairwise"):
        lazy, reads = counted_chunks(X, (20, 5))
        models.append(fit(lazy, y, route=route, strategy=strategy, missing=missing))
        read.append(Counter(reads))
    assert read[0] == read[1]
    for name in ("labels_", "mean_", "scale_", "target_correlation_"):
        np.testing.assert_array_equal(*(getattr(model, name) for model in models))
    for name in FIGURES:
        np.testing.assert_array_equal(*(model.evidence_[name] for model in models))


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("family", [copies, mirror_images])
def test_copies_and_mirror_images(family, route):
    """They merge whatever the chunks: on the samples they share, their difference is rounding."""
    X, y, _ = make(family, 200, 12, gaps=True)
    parameters = {"missing": "pairwise", "signed": True}
    model = LinCFA(**parameters).fit(X, y)
    chunked = fit(odd_chunks(X), y, route=route, **parameters)
    np.testing.assert_array_equal(chunked.labels_, model.labels_)
    np.testing.assert_array_equal(chunked.signs_, model.signs_)


STRUCTURES = {
    "none": {},
    "connectivity": {"connectivity": chain_connectivity(12)},
    "blocks": {"blocks": np.arange(12) % 2},
}


@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_structure(strategy, route, structure):
    X, y, weights = make(factors, 200, gaps=True)
    parameters = options(weights, strategy=strategy, **structure)
    model = LinCFA(**parameters).fit(X, y)
    lazy = odd_chunks(X)
    chunked = fit(lazy, y, route=route, **parameters)
    assert_equal_models(chunked, model)
    np.testing.assert_array_equal(chunked.signs_, model.signs_)
    np.testing.assert_allclose(chunked.transform(lazy), model.transform(X), rtol=0, atol=1e-11)


def test_more_features_than_have_matrices():
    """Groups that grow ask for their own sums; with a connectivity, the error says what to do."""
    X, y, weights = make(factors, 200, gaps=True)
    parameters = options(weights, strategy="centroid")
    model = LinCFA(**parameters).fit(X, y)
    with small_matrices(20):
        for chunks in (odd_chunks(X), da.from_array(X, chunks=(90, 12))):
            chunked = fit(chunks, y, route="many passes", **parameters)
            assert_equal_models(chunked, model)
        message = r"limit is 10 features, and here are 12\b.*numpy\.memmap"
        near = {**parameters, "connectivity": "chain"}
        assert_raises(message, fit, odd_chunks(X), y, route="many passes", **near)


@pytest.mark.parametrize("route", ROUTES)
def test_columns_without_values(route):
    """In all chunks, in some, and with a single value."""
    X, y, _ = make(factors, 200, gaps=True)
    X[:, 4] = np.nan
    X[:, 7] = np.where(np.isnan(X[:, 7]), np.nan, 3.0)
    X[1:, 9] = np.nan
    X[30:, 10] = np.nan
    with pytest.warns(UserWarning, match="constant") as expected:
        model = LinCFA(missing="pairwise").fit(X, y)
    with pytest.warns(UserWarning, match="constant") as found:
        chunked = fit(odd_chunks(X), y, route=route, missing="pairwise")
    assert str(found[0].message) == str(expected[0].message)
    assert np.flatnonzero(chunked.labels_ < 0).tolist() == [4, 7, 9]
    assert_equal_models(chunked, model)


@pytest.mark.parametrize("route", ROUTES)
def test_means_much_larger_than_the_scale(route):
    X, y, weights = make(factors, 200, gaps=True)
    X, y = X + 1e4, y - 1e4
    parameters = options(weights)
    chunked = fit(odd_chunks(X), y, route=route, **parameters)
    model = LinCFA(**parameters).fit(X, y)
    np.testing.assert_array_equal(chunked.labels_, model.labels_)
    np.testing.assert_allclose(chunked.mean_, model.mean_, rtol=1e-14)
    # Means are rounded to 1e-12 of a unit, and scales are no less than a tenth.
    np.testing.assert_allclose(chunked.scale_, model.scale_, rtol=1e-10)
    np.testing.assert_allclose(chunked.evidence_["f"], model.evidence_["f"], rtol=1e-7, atol=1e-7)


# Containers


def test_frames_and_masked_arrays():
    X, y, weights = make(factors, gaps=True)
    model = LinCFA(**options(weights)).fit(table(X), y)
    nullable = table(X).astype("Float64")
    assert nullable.isna().to_numpy().any()
    frame = dd.from_pandas(nullable, npartitions=3)
    chunked = LinCFA(**options(weights)).fit(frame, y)
    assert_equal_models(chunked, model)
    assert list(chunked.feature_names_in_) == list(model.feature_names_in_)
    reduced = chunked.transform(frame).compute()
    np.testing.assert_allclose(reduced, model.transform(table(X)), rtol=1e-12, atol=1e-12)
    masked = da.from_array(np.ma.masked_invalid(X), chunks=(20, 5))
    assert_equal_models(LinCFA(**options(weights)).fit(masked, y), model)


@pytest.mark.parametrize("strategy", ["sequential", "agglomerative"])
def test_lazy_fields(strategy):
    X, y = field()
    X = X.where(np.random.default_rng(0).random(X.shape) > 0.1)
    parameters = {
        "strategy": strategy,
        "missing": "pairwise",
        "feature_weights": "area",
        "units": "original",
        "connectivity": "grid",
        "sample_dim": "time",
    }
    model = LinCFA(**parameters).fit(X, y)
    lazy = X.chunk(time=50, lon=4)
    chunked = LinCFA(**parameters).fit(lazy, y)
    assert_equal_models(chunked, model)
    assert chunked.n_features_in_ == 21
    reduced = chunked.transform(lazy)
    np.testing.assert_allclose(reduced.compute(), model.transform(X), rtol=1e-12)
    lazy = lazy.where(lazy.time != lazy.time[7], np.inf)
    assert_raises("infinite: first", LinCFA(**parameters).fit, lazy, y)


# Passes, and what comes back


def test_passes():
    """Where all sums fit, one that finds gaps, one for the columns, one for all pairs."""
    X, y, _ = make(factors, gaps=True)
    for strategy in STRATEGIES[:3]:
        lazy, reads = counted_chunks(X, (20, 12))
        fit(lazy, y, missing="pairwise", strategy=strategy)
        assert set(Counter(reads).values()) == {3}
    # Once for the columns, then all pairs, ten numbers each: for the groups, and for their path.
    lazy, reads = counted_chunks(X, (20, 12))
    batch = 400
    strips, rest = 0, 12
    while rest > 0:
        rest -= max(1, batch // (10 * rest))
        strips += 1
    parameters = {"missing": "pairwise", "strategy": "agglomerative"}
    with on_route("many passes", batch=batch):
        assert batch >= 13**2  # so that the first pass looks for comoments
        LinCFA(**parameters).fit(lazy, y)
    assert set(Counter(reads).values()) == {1 + 1 + 2 * strips}


@pytest.mark.parametrize("chunks", [(50, 24), (50, 8)])
@pytest.mark.parametrize("strategy", ["sequential", "centroid", "agglomerative"])
def test_no_task_and_no_answer_is_larger_than_a_batch_or_a_chunk(strategy, chunks):
    X, y, _ = make(noise_only, 400, 24, gaps=True)
    batch = 2 * BATCH
    limit = 8 * max(batch, 8 * 25) + 2000  # of eight moments of each column; and its wrapping
    chunk = 8 * chunks[0] * chunks[1] + 1500
    with answers() as found, Watch() as watch, small_groups(2):
        fit(
            da.from_array(X, chunks=chunks),
            y,
            route="many passes",
            batch=batch,
            strategy=strategy,
            missing="pairwise",
            units="original",
        )
    assert len(found) > 3
    assert max(len(pickle.dumps(answer)) for answer in found) <= limit
    assert watch.largest <= max(limit, chunk)
    assert 15 * limit < X.nbytes


# Refused


@pytest.mark.parametrize("route", ROUTES)
def test_infinity_and_gaps_of_the_target(route):
    X, y, _ = make(factors, gaps=True)
    for chunks in ((20, 5), (60, 12)):
        for row, column in ((0, 0), (33, 9), (59, 11)):
            wrong = X.copy()
            wrong[row, column] = -np.inf
            lazy = da.from_array(wrong, chunks=chunks)
            said = rf"infinity in column {column} \(row {row}\)"
            assert_raises(said, fit, lazy, y, route=route, missing="pairwise")
            # In a row that does not count nobody sees it.
            counts = np.where(np.arange(60) == row, 0.0, 1.0)
            fit(lazy, y, counts, route=route, missing="pairwise")
            search = LinCFACV(**SEARCH, missing="pairwise")
            assert_raises(said, search.fit, lazy, y, sample_weight=counts)
        target = np.where(np.arange(60) == 33, np.nan, y)
        lazy = da.from_array(X, chunks=chunks)
        assert_raises(
            r"y contains NaN: values are missing \(row 33\)",
            *(fit, lazy, da.from_array(target, chunks=7)),
            route=route,
            missing="pairwise",
        )
        assert_raises("NaN in column", fit, lazy, y, route=route)
        large = da.from_array(X * np.where(np.arange(12) == 9, 1e200, 1), chunks=chunks)
        assert_raises("too large .*column 9", fit, large, y, route=route, missing="pairwise")
        assert_raises(
            "target y is constant", fit, lazy, np.ones(60), route=route, missing="pairwise"
        )


# The search


SEARCH = {**QUICK, "strategies": ("sequential", "agglomerative")}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("units", ["standardized", "original"])
@pytest.mark.parametrize("route", ROUTES)
def test_choice_is_that_of_memory(route, units, counted, gaps):
    X, y, weights = make(factors, 90, gaps=gaps)
    counts = np.arange(90) % 3 * 0.75 if counted else None
    parameters = {
        **SEARCH,
        "units": units,
        "signed": True,
        "feature_weights": weights,
        "missing": "pairwise" if gaps else "error",
    }
    model = LinCFACV(**parameters).fit(X, y, sample_weight=counts)
    lazy = da.from_array(X, chunks=(40, 7))
    with on_route(route, batch=200):
        chunked = LinCFACV(**parameters).fit(lazy, y, sample_weight=counts)
    # Scores are means of residuals, of some units, of regressions of few reduced features.
    for name, values in model.cv_results_.items():
        if np.asarray(values).dtype.kind == "f":
            found = chunked.cv_results_[name]
            np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(chunked.labels_, model.labels_)
    np.testing.assert_array_equal(chunked.signs_, model.signs_)
    assert (chunked.signs_ < 0).any()
    new = with_gaps(np.random.default_rng(9), X, 0.4) if gaps else X
    if gaps:
        new[3] = np.nan
    expected = model.predict(new)
    assert np.isfinite(expected).all()
    predicted = chunked.predict(da.from_array(new, chunks=(40, 7)))
    np.testing.assert_allclose(predicted.compute(), expected, rtol=1e-9, atol=1e-9)
