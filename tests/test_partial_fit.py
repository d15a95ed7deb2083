"""partial_fit: after the last chunk the groups of all rows; a bad chunk leaves no trace."""

import pickle
import tracemalloc

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
from reference import assert_raises, assert_same_fit, clear_of_the_threshold, draw, stream, table

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
def test_every_row_gives_the_groups_of_the_rows_so_far(parameters):
    X, y = draw(2)
    model = LinCFA(**parameters)
    for row in range(60):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        if row >= 5:
            whole = LinCFA(**parameters).fit(X[: row + 1], y[: row + 1])
            assert_same_fit(model, whole)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_frames_and_lists(frame, dtype):
    X, y = draw(3)
    X = (10 * X).astype(dtype)
    table = frame({f"cell {i}": X[:, i] for i in range(15)})
    model, whole = stream(table, y, (20, 21)), LinCFA().fit(table, y)
    assert_same_fit(stream(X.tolist(), y, (20, 21)), LinCFA().fit(X.astype(float), y))
    assert_same_fit(model, whole)
    assert model.feature_names_in_.tolist() == list(table.columns)
    assert model.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()


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
    with pytest.raises(NotFittedError, match="has seen 3 rows, which is not enough"):
        model.transform(X)
    with pytest.raises(NotFittedError, match="Continue with partial_fit"):
        model.get_feature_names_out()
    model.partial_fit(X[3:4], y[3:4])
    assert_same_fit(model, LinCFA().fit(X[:4], y[:4]))
    assert model.transform(X).shape == (60, model.n_groups_)


def test_what_is_constant_at_first():
    """The target, or all columns."""
    X, y = draw(9)
    flat = np.where(np.arange(60)[:, None] < 30, X[0], X)
    for values, target in ((X, np.where(np.arange(60) < 30, 0.1, y)), (flat, y)):
        model = LinCFA()
        for start in range(0, 30, 10):
            model.partial_fit(values[start : start + 10], target[start : start + 10])
            with pytest.raises(NotFittedError):
                model.transform(values)
        model.partial_fit(values[30:], target[30:])
        assert_same_fit(model, LinCFA().fit(values, target))


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


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_in_the_middle(protocol):
    """It continues to the last bit."""
    X, y = draw(33)
    model = LinCFA().partial_fit(X[:30], y[:30])
    assert vars(clone(model)) == vars(LinCFA())  # without chunks
    copy = pickle.loads(pickle.dumps(model, protocol))
    names = ("labels_", "evidence_", "mean_", "scale_", "target_correlation_")
    kept = [getattr(model, name) for name in names]
    copies = [values.copy() for values in kept]
    for one in (model, copy):
        one.partial_fit(X[30:31], y[30:31]).partial_fit(X[31:], y[31:])
    for name in names:
        np.testing.assert_array_equal(getattr(model, name), getattr(copy, name))
    # What a caller has kept of a fit does not change with the next chunk.
    for one, other in zip(kept, copies, strict=True):
        np.testing.assert_array_equal(one, other)
    assert_same_fit(copy, LinCFA().fit(X, y))


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


# Chunks that are refused


def spoil(X, row, column, value):
    X = X.copy()
    X[row, column] = value
    return X


BAD = {
    "nan": (lambda X, y: (table(spoil(X, 4, 7, np.nan)), y), r"NaN in column 't7' .*row 4"),
    "infinity": (lambda X, y: (table(spoil(X, 4, 7, -np.inf)), y), r"infinity in column 't7'"),
    "too large": (
        lambda X, y: (table(spoil(X, 4, 7, 1e200)), y),
        r"too large for sums of squares in column 't7'; rescale",
    ),
    "too large everywhere": (
        lambda X, y: (table(X * np.where(np.arange(15) == 7, 1e200, 1)), y),
        r"too large for sums of squares in column 't7'; rescale",
    ),
    "constant but too large": (
        lambda X, y: (table(np.where(np.arange(15) == 7, 1.7e308, X)), y),
        r"too large .* in column 't7'",
    ),
    "a column less": (lambda X, y: (table(X[:, :14]), y), r"lacks column 't14'|14 features"),
    "a column more": (
        lambda X, y: (table(np.hstack([X, X[:, :1]])), y),
        r"has column 't15' besides",
    ),
    "renamed": (
        lambda X, y: (table(X).rename(columns={"t3": "u"}), y),
        "'t3' and has column 'u' instead",
    ),
    "reordered": (
        lambda X, y: (table(X).iloc[:, ::-1], y),
        "column 0 is t14 and was t0",
    ),
    "another type": (
        lambda X, y: (table(X).astype({"t3": np.float32}), y),
        r"type of column 't3' changed between chunks, from float64 to float32",
    ),
    "text": (lambda X, y: (table(X).astype({"t3": str}), y), "column 't3' is not"),
    "masked target": (
        lambda X, y: (table(X), np.ma.masked_array(y, mask=y > 2)),
        "y has masked values",
    ),
    "short target": (lambda X, y: (table(X), y[:-1]), "numbers of samples: 20 and 19"),
    "nan in the target": (lambda X, y: (table(X), np.where(y > 0, np.nan, y)), "y contains NaN"),
    "large target": (lambda X, y: (table(X), 1e200 * y), "too large .* in the target y"),
    "no target": (lambda X, y: (table(X), None), "requires y"),
    "no rows": (lambda X, y: (table(X)[:0], y[:0]), r"0 sample\(s\)"),
}
BAD_AT_FIRST = [
    "nan",
    "infinity",
    "too large everywhere",
    "constant but too large",
    "text",
    "short target",
    "large target",
]


def state(model):
    return {name: pickle.dumps(value) for name, value in vars(model).items()}


@pytest.mark.parametrize("kind", BAD)
def test_bad_chunk_leaves_no_trace(kind):
    X, y = draw(20)
    spoilt, message = BAD[kind]
    model = LinCFA().partial_fit(table(X[:20]), y[:20])
    before = state(model)
    assert_raises(message, model.partial_fit, *spoilt(X[20:40], y[20:40]))
    assert state(model) == before
    model.partial_fit(table(X[40:]), y[40:])
    never = LinCFA().partial_fit(table(X[:20]), y[:20]).partial_fit(table(X[40:]), y[40:])
    assert state(model) == state(never)


@pytest.mark.parametrize("kind", BAD_AT_FIRST)
def test_bad_first_chunk_leaves_no_trace(kind):
    """Not even its number of columns or their types."""
    X, y = draw(21)
    spoilt, message = BAD[kind]
    for rows in (slice(0, 20), slice(0, 3)):
        model = LinCFA()
        wrong, target = spoilt(X[:20], y[:20])
        assert_raises(message, model.partial_fit, wrong, target)
        with pytest.raises(NotFittedError):
            model.transform(wrong)
        other = X[:, :9].astype(np.float32)
        model.partial_fit(other[rows], y[rows]).partial_fit(other[20:], y[20:])
        never = LinCFA().partial_fit(other[rows], y[rows]).partial_fit(other[20:], y[20:])
        assert state(model) == state(never)


@pytest.mark.parametrize("after", [0, 20])
def test_chunk_of_too_small_values_leaves_no_trace(after):
    """A column that is constant at first and then varies by less than comoments can hold."""
    X, y = draw(22)
    X[:after, 3] = 0.0
    tiny = X[20:40].copy()
    tiny[:, 3] *= 1e-160
    model, never = LinCFA(), LinCFA()
    for one in (model, never) if after else ():
        with pytest.warns(UserWarning, match="constant"):
            one.partial_fit(X[:after], y[:after])
    with pytest.raises(ValueError, match="too small for sums of squares in column 3; rescale"):
        model.partial_fit(tiny, y[20:40])
    model.partial_fit(X[40:], y[40:])
    never.partial_fit(X[40:], y[40:])
    assert_same_fit(model, never)


def test_other_types_and_numbers_of_columns():
    X, y = draw(23)
    frame = pl.DataFrame({f"t{i}": X[:, i] for i in range(15)})
    for first, second, message in (
        (X, X.astype(np.float32), "columns 0, 1, .* from float64 to float32"),
        (X.astype(np.float32), X, "columns 0, 1, .* from float32 to float64"),
        (X, X.astype(np.int64), "columns 0, 1, .* from float64 to int64"),
        (X, X[:, :14], "X has 14 features, but LinCFA is expecting 15"),
        (X, np.hstack([X, X]), "X has 30 features, but LinCFA is expecting 15"),
        (frame, frame.cast({"t3": pl.Float32}), "type of column 't3' changed .* from Float64"),
    ):
        model = LinCFA().partial_fit(first, y)
        before = state(model)
        assert_raises(message, model.partial_fit, second, y)
        assert state(model) == before
    for estimator in (model, LinCFA()):
        with pytest.raises(TypeError, match=r"call its collect\(\) first"):
            estimator.partial_fit(frame.lazy(), y)


def test_bad_parameters_leave_no_trace():
    X, y = draw(26)
    model = LinCFA().partial_fit(X[:20], y[:20])
    with pytest.raises(ValueError, match="tolerance must be a positive number"):
        model.set_params(tolerance=-1.0).partial_fit(X[20:40], y[20:40])
    model.set_params(tolerance=1.0).partial_fit(X[40:], y[40:])
    rows = np.r_[0:20, 40:60]
    assert_same_fit(model, LinCFA().fit(X[rows], y[rows]))


def test_too_many_columns(monkeypatch):
    """The message gives the size and the way out, and a fitting number is taken."""
    X, y = draw(27)
    monkeypatch.setattr(_moments, "LARGEST_SQUARE", 8 * 16**2)
    stream(X, y, (20,))  # 15 columns and the target
    monkeypatch.setattr(_moments, "LARGEST_SQUARE", 8 * 16**2 - 1)
    message = r"15 × 15 comoments.* GiB.*fit needs no.*numpy\.memmap"
    assert_raises(message, LinCFA().partial_fit, X, y)
    stream(X[:, :14], y, (20,))


def test_too_many_columns_are_refused_before_memory_is_taken():
    X = np.zeros((1, 30_000))
    tracemalloc.start()
    try:
        message = r"30000 × 30000.* 6\.7 GiB; the limit is 4 GiB \(23169 features\)"
        assert_raises(message, LinCFA().partial_fit, X, [1.0])
        _moments.Moments.check_size(23169)
        assert_raises("23170 × 23170", LinCFA().partial_fit, X[:, :23170], [1.0])
        assert tracemalloc.get_traced_memory()[1] < 10 * X.nbytes  # some rows, no matrix
    finally:
        tracemalloc.stop()
