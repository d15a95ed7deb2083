"""partial_fit: a chunk that is refused leaves no trace, and the message names what is wrong."""

import pickle
import tracemalloc
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from lincfa import LinCFA
from lincfa._statistics import _moments
from reference import assert_same_fit, draw, stream, table


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
    "a column less": (lambda X, y: (table(X[:, :14]), y), r"missing:\n- t14|14 features"),
    "a column more": (lambda X, y: (table(np.hstack([X, X[:, :1]])), y), r"unseen .*:\n- t15"),
    "renamed": (lambda X, y: (table(X).rename(columns={"t3": "u"}), y), r"unseen .*:\n- u"),
    "reordered": (lambda X, y: (table(X).iloc[:, ::-1], y), "must be in the same order"),
    "another type": (
        lambda X, y: (table(X).astype({"t3": np.float32}), y),
        r"type of column 't3' changed between chunks, from float64 to float32",
    ),
    "text": (lambda X, y: (table(X).astype({"t3": str}), y), "column 't3' is not"),
    "masked target": (
        lambda X, y: (table(X), np.ma.masked_array(y, mask=y > 2)),
        "y has masked values",
    ),
    "short target": (lambda X, y: (table(X), y[:-1]), r"numbers of samples: \[20, 19\]"),
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
    with pytest.raises(ValueError, match=message):
        model.partial_fit(*spoilt(X[20:40], y[20:40]))
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
        with pytest.raises(ValueError, match=message):
            model.partial_fit(wrong, target)
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of the constant column
        if after:
            model.partial_fit(X[:after], y[:after])
            never.partial_fit(X[:after], y[:after])
    with pytest.raises(ValueError, match="too small for sums of squares in column 3; rescale"):
        model.partial_fit(tiny, y[20:40])
    model.partial_fit(X[40:], y[40:])
    never.partial_fit(X[40:], y[40:])
    assert_same_fit(model, never)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (np.float64, np.float32, "columns 0, 1, .* from float64 to float32"),
        (np.float32, np.float64, "columns 0, 1, .* from float32 to float64"),
        (np.float64, np.int64, "columns 0, 1, .* from float64 to int64"),
    ],
)
def test_type_of_arrays_changed(first, second, message):
    X, y = draw(23)
    model = LinCFA().partial_fit(X.astype(first), y)
    before = state(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(X.astype(second), y)
    assert state(model) == before


def test_number_of_columns_of_arrays_changed():
    X, y = draw(24)
    model = LinCFA().partial_fit(X, y)
    before = state(model)
    for wrong in (X[:, :14], np.hstack([X, X])):
        message = f"X has {wrong.shape[1]} features, but LinCFA is expecting 15"
        with pytest.raises(ValueError, match=message):
            model.partial_fit(wrong, y)
    assert state(model) == before


def test_polars_types_and_lazy_frames():
    X, y = draw(25)
    frame = pl.DataFrame({f"t{i}": X[:, i] for i in range(15)})
    model = LinCFA().partial_fit(frame, y)
    with pytest.raises(
        ValueError, match="type of column 't3' changed between chunks, from Float64"
    ):
        model.partial_fit(frame.cast({"t3": pl.Float32}), y)
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
    with pytest.raises(ValueError, match=r"15 × 15 comoments.* GiB.*fit needs no.*numpy\.memmap"):
        LinCFA().partial_fit(X, y)
    stream(X[:, :14], y, (20,))


def test_too_many_columns_are_refused_before_memory_is_taken():
    X = np.zeros((1, 30_000))
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"30000 × 30000.* 6\.7 GiB; the limit is 4 GiB"):
            LinCFA().partial_fit(X, [1.0])
        assert tracemalloc.get_traced_memory()[1] < 10 * X.nbytes  # some rows, no matrix
    finally:
        tracemalloc.stop()


def test_the_limit_stated_is_the_limit():
    most = int((_moments.LARGEST_SQUARE / 8) ** 0.5) - 1
    with pytest.raises(ValueError, match=rf"\({most} features\)"):
        _moments.Moments.check_size(most + 1)
    _moments.Moments.check_size(most)
