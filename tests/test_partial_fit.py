"""partial_fit: after the last chunk the groups of all rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from lincfa import LinCFA
from lincfa._statistics import _moments
from lincfa.datasets import make_correlated, make_field
from reference import assert_same_fit, clear_of_the_threshold, draw, stream, table

# The groups of all rows


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    bounds=st.lists(st.integers(1, 59), unique=True, max_size=12).map(sorted),
    tolerance=st.sampled_from([0.1, 1.0, 7.0]),
    dtype=st.sampled_from([np.float64, np.float32]),
    order=st.sampled_from("CF"),
    offset=st.sampled_from([0.0, 300.0]),
)
def test_any_chunks_give_the_groups_of_all_rows(seed, bounds, tolerance, dtype, order, offset):
    X, y = draw(seed)
    X = np.asarray(X + offset, dtype=dtype, order=order)
    if clear_of_the_threshold(X.astype(np.float64), y, tolerance):
        model = stream(X, y, bounds, LinCFA(tolerance=tolerance))
        whole = LinCFA(tolerance=tolerance).fit(X, y)
        assert_same_fit(model, whole)
        # The last digits of values of some units, in the type of X.
        bound = 1e-11 if dtype == np.float64 else 1e-5
        np.testing.assert_allclose(model.transform(X), whole.transform(X), rtol=0, atol=bound)
        assert model.transform(X).dtype == dtype


@pytest.mark.parametrize("parameters", [{}, {"noise": 0.7}, {"tolerance": 0.2}])
def test_one_row_at_a_time(parameters):
    X, y = draw(1)
    model = stream(X, y, range(1, 60), LinCFA(**parameters))
    assert_same_fit(model, LinCFA(**parameters).fit(X, y))


def test_every_step_gives_the_groups_of_the_rows_so_far():
    X, y = draw(2)
    model = LinCFA()
    for start in range(0, 60, 6):
        model.partial_fit(X[start : start + 6], y[start : start + 6])
        assert_same_fit(model, LinCFA().fit(X[: start + 6], y[: start + 6]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_frames(frame, dtype):
    X, y = draw(3)
    table = frame({f"cell {i}": X[:, i].astype(dtype) for i in range(15)})
    model, whole = stream(table, y, (20, 21)), LinCFA().fit(table, y)
    assert_same_fit(model, whole)
    assert model.feature_names_in_.tolist() == list(table.columns)
    assert model.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()


def test_lists_and_integers():
    X, y = draw(4)
    counts = np.round(10 * X).astype(int)
    for chunks in (counts, counts.tolist(), pd.DataFrame(counts).add_prefix("c")):
        assert_same_fit(stream(chunks, y, (30,)), LinCFA().fit(counts.astype(float), y))


def test_more_columns_than_a_head(monkeypatch):
    """So that the comoments are asked for rows of seeds too, in several batches."""
    monkeypatch.setattr(_moments, "_BLOCK", 50)
    X, y = make_correlated(100, 400, random_state=0)
    field, target, _ = make_field(80, (15, 20), random_state=0)
    for values, goal, tolerance in ((X, y, 0.05), (field, target, 1.0)):
        model = stream(values, goal, (33, 34), LinCFA(tolerance=tolerance))
        assert_same_fit(model, LinCFA(tolerance=tolerance).fit(values, goal))


@pytest.mark.parametrize("ratio", [1e3, 1e6])
def test_mean_much_larger_than_the_scale(ratio):
    """Means of columns and target are rounded to 1e-16 of a million scales, and so are the data."""
    X, y = draw(5)
    shift = np.round(ratio * np.linspace(-1, 1, 15))
    model = stream(X + shift, y - ratio, (7, 30, 31))
    # An error of 1e-10 in the columns, seen in F where 1 − ρ and 1 − R² are 0.01 and more.
    assert_same_fit(model, LinCFA().fit(X + shift, y - ratio), rtol=1e-7)


def test_chunks_far_from_each_other():
    """A trend of a thousand scales over the chunks: nearly all variance is between them."""
    X, y = draw(6)
    drift = np.repeat([0.0, 500.0, -1000.0], 20)
    X, y = X + drift[:, None] * np.linspace(0.9, 1.1, 15), y + drift
    model = stream(X, y, (20, 40))
    # 1 − ρ and 1 − R² are as small as 1e-6.
    assert_same_fit(model, LinCFA().fit(X, y), rtol=1e-6)


def test_order_of_the_chunks():
    X, y = draw(7)
    chunks = [slice(0, 10), slice(10, 11), slice(11, 40), slice(40, 60)]
    whole = LinCFA().fit(X, y)
    for seed in range(5):
        model = LinCFA()
        for i in np.random.default_rng(seed).permutation(4):
            model.partial_fit(X[chunks[i]], y[chunks[i]])
        assert_same_fit(model, whole)


# From not enough to enough


def test_few_rows_are_not_yet_a_fit():
    X, y = draw(8)
    model = LinCFA().partial_fit(X[:2], y[:2]).partial_fit(X[2:3], y[2:3])
    for call in (lambda: model.transform(X), model.get_feature_names_out):
        with pytest.raises(NotFittedError):
            call()
    model.partial_fit(X[3:4], y[3:4])
    assert_same_fit(model, LinCFA().fit(X[:4], y[:4]))
    assert model.transform(X).shape == (60, model.n_groups_)


def test_target_that_is_constant_at_first():
    X, y = draw(9)
    y = np.where(np.arange(60) < 30, 0.1, y)
    model = LinCFA()
    for start in range(0, 30, 10):
        model.partial_fit(X[start : start + 10], y[start : start + 10])
        with pytest.raises(NotFittedError):
            model.transform(X)
    model.partial_fit(X[30:], y[30:])
    assert_same_fit(model, LinCFA().fit(X, y))


def test_columns_that_vary_only_later():
    X, y = draw(10)
    X[:40, [2, 5]] = [0.1, -3e7]
    X[:, 9] = 4.0
    model = LinCFA()
    with pytest.warns(UserWarning, match=r"constant features.*columns 2, 5, 9\.") as caught:
        model.partial_fit(X[:40], y[:40])
    assert caught[0].filename == __file__  # it points at the caller, not into the library
    assert np.flatnonzero(model.labels_ == -1).tolist() == [2, 5, 9]
    assert model.scale_[[2, 5, 9]].tolist() == [1, 1, 1]
    assert model.target_correlation_[[2, 5, 9]].tolist() == [0, 0, 0]
    with pytest.warns(UserWarning, match=r"constant features.*column 9\."):
        model.partial_fit(X[40:], y[40:])
    with pytest.warns(UserWarning, match="constant"):
        whole = LinCFA().fit(X, y)
    assert_same_fit(model, whole)


def test_all_columns_constant_at_first():
    X, y = draw(11)
    X[:20] = X[0]
    model = LinCFA().partial_fit(X[:20], y[:20])
    with pytest.raises(NotFittedError):
        model.transform(X)
    assert_same_fit(model.partial_fit(X[20:], y[20:]), LinCFA().fit(X, y))


def test_values_that_only_rounding_varies_are_constant():
    X, y = draw(12)
    X[:, 3] = 0.1
    X[::2, 3] = 0.1 + 1e-17 + 2**-56
    assert (X[:, 3] != X[1, 3]).any()
    with pytest.warns(UserWarning, match=r"column 3\."):
        model = LinCFA().partial_fit(X, y)
    assert model.labels_[3] == -1


def test_copies_merge_over_chunks():
    """Also where the target is explained fully and the rule would forbid any other merge."""
    X = np.random.default_rng(13).normal(size=(40, 3)) + 300
    X = np.hstack([X, X, 1.8 * X - 459.67])
    model = stream(X, X[:, 0], (13, 27))
    labels = model.labels_.reshape(3, 3)
    np.testing.assert_array_equal(labels, np.tile(labels[0], (3, 1)))
    assert labels[0, 0] not in labels[0, 1:]


# Life of the estimator


def test_fit_forgets_the_chunks():
    X, y = draw(30)
    model = LinCFA().partial_fit(X[:30], y[:30]).fit(X[30:], y[30:])
    assert_same_fit(model, LinCFA().fit(X[30:], y[30:]))
    assert sorted(vars(model)) == sorted(vars(LinCFA().fit(X, y)))  # nothing of the chunks is left
    model = LinCFA().partial_fit(X[:30], y[:30]).fit(X[:, :4], y)  # with other columns, too
    assert_same_fit(model, LinCFA().fit(X[:, :4], y))


def test_partial_fit_after_fit_starts_over():
    X, y = draw(31)
    model = LinCFA().fit(table(X[:30]), y[:30])
    model.partial_fit(X[30:, :4], y[30:])
    assert_same_fit(model, LinCFA().fit(X[30:, :4], y[30:]))
    assert not hasattr(model, "feature_names_in_")
    model = LinCFA().fit(X, y).partial_fit(X[:2], y[:2])
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_clone_has_no_chunks():
    X, y = draw(32)
    model = LinCFA(tolerance=2.0).partial_fit(X[:30], y[:30])
    copy = clone(model)
    assert vars(copy) == vars(LinCFA(tolerance=2.0))
    assert_same_fit(copy.partial_fit(X[30:], y[30:]), LinCFA(tolerance=2.0).fit(X[30:], y[30:]))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_in_the_middle(protocol):
    """It continues to the last bit."""
    X, y = draw(33)
    model = LinCFA().partial_fit(X[:30], y[:30])
    copy = pickle.loads(pickle.dumps(model, protocol))
    for one in (model, copy):
        one.partial_fit(X[30:31], y[30:31]).partial_fit(X[31:], y[31:])
    for name in ("labels_", "evidence_", "mean_", "scale_", "target_correlation_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(copy, name))
    assert_same_fit(copy, LinCFA().fit(X, y))


def test_earlier_results_are_left_alone():
    """What a caller has kept of a fit does not change under his hands with the next chunk."""
    X, y = draw(34)
    model = LinCFA().partial_fit(X[:30], y[:30])
    names = ("labels_", "evidence_", "mean_", "scale_", "target_correlation_")
    kept = {name: getattr(model, name) for name in names}
    copies = {name: value.copy() for name, value in kept.items()}
    model.partial_fit(X[30:], y[30:])
    for name in names:
        np.testing.assert_array_equal(kept[name], copies[name])


def test_output_container_survives():
    X, y = draw(35)
    model = LinCFA().set_output(transform="pandas")
    model.partial_fit(table(X[:30]), y[:30]).partial_fit(table(X[30:]), y[30:])
    assert isinstance(model.transform(table(X)), pd.DataFrame)
    assert isinstance(model.fit(table(X), y).transform(table(X)), pd.DataFrame)
    assert isinstance(model.partial_fit(table(X), y).transform(table(X)), pd.DataFrame)


def test_parameters_changed_between_chunks():
    X, y = draw(36)
    model = LinCFA(tolerance=1e-3).partial_fit(X[:30], y[:30])
    for parameters in ({"tolerance": 5.0}, {"noise": 2.0}, {"units": "original"}):
        copy = pickle.loads(pickle.dumps(model)).set_params(**parameters)
        whole = LinCFA(**model.get_params()).set_params(**parameters).fit(X, y)
        assert_same_fit(copy.partial_fit(X[30:], y[30:]), whole)
        np.testing.assert_allclose(copy.transform(X), whole.transform(X), rtol=0, atol=1e-12)


def test_memory_kept():
    """The comoments, 8·D² bytes, and some numbers per column; however many rows there were."""
    D = 300
    X, y = np.random.default_rng(0).normal(size=(3000, D)), np.arange(3000.0)
    small, large = stream(X[:400], y[:400], (200,)), stream(X, y, (200, 1000))
    # Of numbers per column: means, extremes, labels, a name and a type of some bytes.
    assert 8 * D**2 <= len(pickle.dumps(large)) < 8 * D**2 + 400 * D
    assert abs(len(pickle.dumps(large)) - len(pickle.dumps(small))) < 100 * D


def test_too_few_rows_say_so_and_say_how_to_go_on(rng):
    model = LinCFA().partial_fit(rng.normal(size=(3, 2)), rng.normal(size=3))
    with pytest.raises(NotFittedError, match="has seen 3 rows, which is not enough"):
        model.transform(np.ones((1, 2)))
    with pytest.raises(NotFittedError, match="Continue with partial_fit"):
        model.get_feature_names_out()


def test_a_warning_made_an_error_leaves_model_and_chunks_in_agreement(rng):
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    X[:, 2] = 1
    model = LinCFA()
    for rows in (slice(0, 20), slice(20, 40)):
        with pytest.raises(UserWarning, match="constant features"):  # warnings are errors here
            model.partial_fit(X[rows], y[rows])
    with pytest.warns(UserWarning, match="constant features"):
        whole = LinCFA().fit(X, y)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    np.testing.assert_allclose(model.mean_, whole.mean_, rtol=1e-12, atol=1e-15)
