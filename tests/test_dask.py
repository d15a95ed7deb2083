"""Chunks of dask: the same groups as in memory, whatever the chunks, and nothing gathered."""

import pickle
import subprocess
import sys
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline

import lincfa
from lincfa import LinCFA, LinCFACV, baselines, plotting
from lincfa._grouping import _cohesion as _groups
from reference import (
    QUICK,
    assert_same,
    duplicates,
    explained,
    field,
    make,
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
    odd_chunks,
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
    X, y = make(family, 24, 18)
    X = X.astype(dtype)
    counts = np.arange(24) % 4 * 0.5 + 0.5 if weighted else None
    lazy = da.from_array(X, chunks=X.shape).rechunk((lengths(rows, 24), lengths(columns, 18)))

    def cut(values, cuts):
        if values is None or cuts is None:
            return values
        return da.from_array(values, chunks=24).rechunk((lengths(cuts, 24),))

    settings = {"strategy": strategy, "units": units}
    with patch.object(_groups, "COMPARED", 4):  # or no group would be a large one
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
    with patch("lincfa._statistics._dask._chunks.most_features", lambda: 10):
        for chunks in (odd_chunks(X), da.from_array(X, chunks=(25, 14))):
            chunked = fit(chunks, y, route="many passes", strategy="centroid", batch=60)
            assert_equal_models(chunked, model)


@pytest.mark.parametrize("route", ROUTES)
def test_constant_columns(route):
    X, y = data()
    X[:, [0, 7, 20]] = 3.0
    X[:, 24:] = np.arange(4)
    with pytest.warns(UserWarning, match="constant") as told:
        model = LinCFA().fit(X, y)
    with pytest.warns(UserWarning, match="constant") as found:
        chunked = fit(odd_chunks(X), y, route=route)
    assert str(found[0].message) == str(told[0].message)
    assert_equal_models(chunked, model)
    np.testing.assert_allclose(chunked.transform(odd_chunks(X)), model.transform(X), atol=1e-12)
    with pytest.raises(ValueError, match="Every column of X is constant"):
        fit(da.ones((60, 28), chunks=(20, 15)), y, route=route)


def test_a_fit_forgets_the_one_before():
    X, y = data()
    model = LinCFA().fit(table(X), y)
    assert_equal_models(model.fit(odd_chunks(X), y), LinCFA().fit(X, y))
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="constant"):
        model.fit(odd_chunks(X), np.ones(60))
    assert not hasattr(model, "labels_")


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
    again = reducer.transform(restored)
    np.testing.assert_allclose(again, values, rtol=1e-10, atol=1e-10)  # 300 K less 300 K


def test_chunks_of_reduced_features_may_be_cut_anywhere(reducer):
    values = reducer.transform(data()[0])
    cut = da.from_array(values, chunks=(17, 1))
    np.testing.assert_array_equal(reducer.inverse_transform(cut), reducer.inverse_transform(values))


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


def test_unknown_numbers_of_rows(reducer):
    X, _ = data()
    values = dd.from_pandas(table(X), npartitions=3).values
    reduced = reducer.transform(values)
    assert np.isnan(reduced.shape[0])
    np.testing.assert_allclose(reduced.compute(), reducer.transform(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        reducer.inverse_transform(reduced).compute(),
        reducer.inverse_transform(reducer.transform(X)),
        rtol=1e-12,
    )


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


# What would need the data in memory


REFUSALS = {
    "partial_fit": lambda X, y: LinCFA().partial_fit(X, y),
    "stability": lambda X, y: lincfa.stability(X, y, 2, verbose=False),
    "order": lambda X, y: lincfa.order_sensitivity(X, y, 2),
    "explain_pair": lambda X, y: lincfa.explain_pair(X, y, 0, 1),
    "compare": lambda X, y: lincfa.compare(X, y),
    "screening": lambda X, y: baselines.ScreenedPCA().fit(X, y),
    "report": lambda X, y: _fitted(y).report("never.html", X=X, y=y),
    "plot": lambda X, y: plotting.plot_correlation(_fitted(y), X),
    "thresholds": lambda X, y: plotting.plot_thresholds(_fitted(y), X, y),
}


def _fitted(y):
    return LinCFA().fit(data()[0], y)


@pytest.mark.parametrize("kind", ["array", "frame"])
@pytest.mark.parametrize("name", REFUSALS)
def test_nothing_else_gathers_chunks_unasked(name, kind):
    X, y = data()
    lazy, reads = counted_chunks(X, (20, 15))
    lazy = lazy if kind == "array" else dd.from_dask_array(lazy.rechunk({1: -1}))
    with pytest.raises(TypeError, match=r"not gathered unasked.* call its compute\(\) first"):
        REFUSALS[name](lazy, y)
    assert reads == []


# Without dask


def test_dask_is_not_needed():
    """It may be missing, and nobody asks for it: neither the import nor a fit."""
    code = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("dask", "distributed"):
            sys.exit(f"{name} is imported")

sys.meta_path.insert(0, Missing())
import numpy as np, lincfa
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 5)), rng.normal(size=20)
model = lincfa.LinCFA().fit(X, y)
model.inverse_transform(model.transform(X))
"""
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_search_leaves_dask_alone_in_memory():
    X, y = data()
    assert isinstance(LinCFACV(**QUICK).fit(X, y).transform(X), np.ndarray)
