"""Missing values: pairs on their complete rows, means of what is present, and what is refused."""

import pickle
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import literal_strategies as literal
from lincfa import LinCFA, LinCFACV, explain_pair, load
from lincfa._grouping import _cohesion
from lincfa._statistics import _moments
from reference import QUICK, assert_raises, noise_only, stream, table
from signs_gaps_weights import (
    assert_identical,
    assert_same_groups,
    copies,
    every_strategy,
    factors,
    in_float32,
    make,
    reduced_by_definition,
    with_gaps,
)

every_kind = pytest.mark.parametrize("together", [False, True])
ENOUGH = 300  # samples of which the correlations in pairs are those of columns
SEARCH = {**QUICK, "strategies": ("sequential", "agglomerative")}  # which need no more than pairs


def gappy(family=factors, seed=0, n=ENOUGH):
    return make(family, n, gaps=True, seed=seed)


def builder(strategy, weights=None, **parameters):
    """Models with gaps, and with signs and weights where weights are given."""
    together = {} if weights is None else {"signed": True, "feature_weights": weights}
    parameters = {"tolerance": 2.0, "missing": "pairwise", **together, **parameters}
    return partial(LinCFA, strategy=strategy, **parameters)


# Nothing missing


@every_kind
@pytest.mark.parametrize("family", [factors, noise_only, in_float32, copies])
@every_strategy
def test_all_present_is_identical(strategy, family, together):
    X, y, weights = make(family)
    build = builder(strategy, weights if together else None)
    complete, pairwise = (build(missing=how).fit(X, y) for how in ("error", "pairwise"))
    assert_identical(pairwise, complete)
    np.testing.assert_array_equal(pairwise.transform(X), complete.transform(X))


def test_all_present_predicts_the_same():
    X, y, _ = make(factors)
    one, two = (LinCFACV(**QUICK, missing=how).fit(X, y) for how in ("error", "pairwise"))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


# What does not matter


def test_moments_of_a_feature_are_those_of_its_values():
    X, y, _ = gappy(n=50)
    model = LinCFA(missing="pairwise").fit(X, y)
    np.testing.assert_allclose(model.mean_, np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.scale_, np.nanstd(X, axis=0, ddof=1), rtol=1e-12)
    for i, column in enumerate(X.T):
        present = ~np.isnan(column)
        expected = literal.correlation(column[present], y[present])
        assert model.target_correlation_[i] == pytest.approx(expected, abs=1e-12)
    assert model.n_samples_ == 50


@every_kind
@every_strategy
def test_order_of_the_rows(strategy, together):
    X, y, weights = gappy()
    build = builder(strategy, weights if together else None)
    order = np.random.default_rng(1).permutation(len(y))
    assert_same_groups(build().fit(X[order], y[order]), build().fit(X, y))


@every_kind
@every_strategy
def test_repeated_rows_are_sample_weights(strategy, together):
    X, y, weights = gappy()
    counts = np.random.default_rng(3).integers(0, 4, size=len(y))
    build = builder(strategy, weights if together else None)
    weighted = build().fit(X, y, counts)
    repeated = build().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_same_groups(weighted, repeated)
    assert weighted.n_samples_ == repeated.n_samples_


def test_repeated_rows_of_a_pair():
    X, y, weights = gappy(n=40)
    counts = np.random.default_rng(5).integers(0, 4, size=40)
    options = {"signed": True, "missing": "pairwise", "feature_weights": weights}
    one = explain_pair(X, y, 0, 5, **options, sample_weight=counts)
    two = explain_pair(np.repeat(X, counts, axis=0), np.repeat(y, counts), 0, 5, **options)
    both = ~np.isnan(X[:, [0, 5]]).any(axis=1)
    assert one.n_samples == two.n_samples == counts[both].sum()
    for name in ("sign", "f", "correlation", "threshold", "gain"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), rel=1e-9), name


def test_only_complete_rows_of_a_pair_matter():
    """Neither the values of one where the other is missing, nor other columns, nor their gaps."""
    X, y, _ = gappy(n=40)
    first, second = np.isnan(X[:, 0]), np.isnan(X[:, 5])
    assert (first & ~second).any()
    assert (second & ~first).any()
    expected = explain_pair(X, y, 0, 5, signed=True, missing="pairwise")
    complete = ~(first | second)
    alone = explain_pair(X[complete][:, [0, 5]], y[complete], 0, 1, signed=True)
    changed = X.copy()
    changed[second & ~first, 0] = 1e3
    changed[first & ~second, 5] *= -7
    changed[:, 2] = np.nan
    other = explain_pair(changed, y, 0, 5, signed=True, missing="pairwise")
    for pair in (alone, other):
        assert (pair.sign, pair.merges) == (expected.sign, expected.merges)
        assert pair.n_samples == expected.n_samples == complete.sum()
        for name in ("f", "correlation", "threshold", "gain_share"):
            # The mean and the scale that are removed first may be others.
            assert getattr(pair, name) == pytest.approx(getattr(expected, name), rel=1e-9), name


def test_evidence_is_that_of_explain_pair():
    X, y, weights = gappy(n=60)
    options = {"signed": True, "missing": "pairwise", "feature_weights": weights}
    model = LinCFA(**options).fit(X, y)
    assert model.evidence_.size > 3
    for row in model.evidence_:
        pair = explain_pair(X, y, row["partner"], row["feature"], **options)
        assert pair.merges
        assert pair.sign == row["sign"]
        for name in ("correlation", "f", "threshold", "gain_share", "gain"):
            assert getattr(pair, name) == pytest.approx(row[name], rel=1e-7, abs=1e-10), name


def test_pairs_that_cannot_be_judged_do_not_merge():
    """Three common rows, a feature or a target that is constant on the common rows."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=20)
    y = x + rng.normal(size=20)
    X = np.column_stack([x, x, x])
    X[:10, 0], X[13:, 1] = np.nan, np.nan  # columns 0 and 1 share three rows, 2 has all
    for strategy in ("sequential", "centroid", "agglomerative"):
        model = LinCFA(strategy=strategy, tolerance=1e9, missing="pairwise").fit(X[:, :2], y)
        assert model.labels_.tolist() == [0, 1]
        X[13, 1] = x[13]  # a fourth
        model = LinCFA(strategy=strategy, tolerance=1e9, missing="pairwise").fit(X[:, :2], y)
        assert model.labels_.tolist() == [0, 0]
        X[13, 1] = np.nan
    # Copies with a third feature, but means of groups merge only where all pairs can be judged.
    for strategy in ("centroid", "agglomerative"):
        model = LinCFA(strategy=strategy, tolerance=1e9, missing="pairwise").fit(X, y)
        assert model.n_groups_ == 2
        assert model.labels_[0] != model.labels_[1]
    step = np.where(np.arange(20) < 12, 1.0, x)
    X = np.column_stack([step, np.where(np.arange(20) < 12, x, np.nan)])
    for target, data in ((y, X), (step, X + rng.normal(size=X.shape))):
        model = LinCFA(tolerance=1e9, missing="pairwise").fit(data, target)
        assert model.labels_.tolist() == [0, 1]


# Reduced features


@pytest.mark.parametrize("units", ["standardized", "original"])
@every_kind
@every_strategy
def test_transform_averages_what_is_present(strategy, together, units):
    X, y, weights = gappy()
    model = builder(strategy, weights if together else None, units=units)().fit(X, y)
    new = with_gaps(np.random.default_rng(9), X, 0.5)
    new[3] = np.nan
    reduced = model.transform(new)
    np.testing.assert_allclose(reduced, reduced_by_definition(model, new), rtol=1e-12, atol=1e-13)
    assert np.isnan(reduced[3]).all()
    assert np.isnan(np.delete(reduced, 3, axis=0)).any()  # of single features at least


def test_types_and_containers():
    X, y, _ = gappy(in_float32, n=60)
    model = LinCFA(missing="pairwise").fit(X, y)
    assert model.transform(X).dtype == np.float32
    frame = table(X.astype(float)).astype("Float64")
    assert frame.isna().to_numpy().any()
    other = LinCFA(missing="pairwise").fit(frame, y)
    np.testing.assert_array_equal(other.labels_, model.labels_)
    np.testing.assert_allclose(other.transform(frame), model.transform(X), rtol=1e-5, atol=1e-5)


# In pieces


@pytest.mark.filterwarnings("ignore:LinCFA leaves out constant")  # in four rows
@every_kind
@pytest.mark.parametrize("bounds", [(30,), (1, 3, 4, 100), (150, 151, 299)])
@every_strategy
def test_chunks_of_rows(strategy, bounds, together):
    X, y, weights = gappy()
    build = builder(strategy, weights if together else None)
    whole = build().fit(X, y)
    model = stream(X, y, bounds, build())
    # Comoments know 1 − ρ to 1e-15 or so; here it is above 1e-3.
    assert_same_groups(model, whole)
    np.testing.assert_allclose(model.transform(X), whole.transform(X), rtol=0, atol=1e-11)


def test_a_chunk_in_which_a_column_is_missing():
    X, y, _ = gappy()
    X[:100, 4] = np.nan
    model = LinCFA(missing="pairwise")
    with pytest.warns(UserWarning, match=r"constant.*column 4\."):
        model.partial_fit(X[:100], y[:100])
    assert model.labels_[4] == -1
    model.partial_fit(X[100:200], y[100:200]).partial_fit(X[200:], y[200:])
    assert_same_groups(model, LinCFA(missing="pairwise").fit(X, y))


@pytest.mark.parametrize("first", ["complete", "with gaps"])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@every_strategy
def test_chunks_of_weighted_rows(strategy, offset, first):
    """Rows without weight among them; means of the size of the scales, and much larger."""
    X, y, weights = gappy()
    if first == "complete":  # until the first gap, only comoments are kept
        X[:100] = make(factors, ENOUGH)[0][:100]
    X, y = X + offset, y - offset
    counts = np.random.default_rng(3).integers(0, 4, size=len(y)) * 0.5
    build = builder(strategy, weights)
    model = build()
    for start, stop in ((0, 100), (100, 130), (130, 300)):
        rows = slice(start, stop)
        model.partial_fit(X[rows], y[rows], counts[rows])
    # Means of 1e4 scales are rounded to 1e-12 of a scale.
    whole = build().fit(X, y, counts)
    assert_same_groups(model, whole, rtol=1e-7)
    assert model.n_samples_ == whole.n_samples_
    assert model.target_scale_ == pytest.approx(whole.target_scale_, rel=1e-11)
    for name in ("mean_correlation", "min_correlation", "target_correlation"):
        np.testing.assert_allclose(model.cohesion_[name], whole.cohesion_[name], atol=1e-9)


def test_large_groups_of_chunks_of_rows(monkeypatch):
    """Of groups with more members than are compared, the variance of their sum."""
    monkeypatch.setattr(_cohesion, "COMPARED", 2)
    monkeypatch.setattr(_moments, "_STRIP", 3)
    X, y, weights = gappy()
    for units in ("standardized", "original"):
        build = builder("sequential", weights, units=units, tolerance=20.0)
        model, whole = stream(X, y, (50, 200), build()), build().fit(X, y)
        assert max(map(len, whole.groups_)) > 2
        for name in ("mean_correlation", "target_correlation"):
            np.testing.assert_allclose(model.cohesion_[name], whole.cohesion_[name], atol=1e-12)


@every_strategy
def test_strips_of_sums(strategy, monkeypatch):
    """Matrices of pairs are filled and read some rows at a time."""
    monkeypatch.setattr(_moments, "_STRIP", 5)
    X, y, weights = gappy()
    build = builder(strategy, weights)
    assert_same_groups(stream(X, y, (50, 200), build()), build().fit(X, y))


def test_a_stream_of_complete_rows_is_that_without_the_option():
    X, y, _ = make(factors)
    models = [stream(X, y, (20, 30), LinCFA(missing=how)) for how in ("error", "pairwise")]
    one, two = ({**vars(model), "missing": None} for model in models)
    assert pickle.dumps(one) == pickle.dumps(two)
    full = stream(X, y, (20, 30), LinCFA(missing="pairwise", noise="full"))
    np.testing.assert_array_equal(full.labels_, LinCFA(noise="full").fit(X, y).labels_)


@pytest.mark.parametrize("row", [0, 20])
def test_a_bad_chunk_with_gaps_leaves_no_trace(row):
    """Before and after the first gap."""
    X, y, _ = make(factors)
    X[row, 3] = np.nan
    model = LinCFA(missing="pairwise").partial_fit(X[:20], y[:20])
    before = pickle.dumps(vars(model))
    for value, message in ((np.inf, "infinity in column 7"), (1e200, "too large.*column 7")):
        wrong = X[20:40].copy()
        wrong[4, 7] = value
        assert_raises(message, model.partial_fit, wrong, y[20:40])
        assert pickle.dumps(vars(model)) == before
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        one.partial_fit(X[20:], y[20:])
    for name in ("labels_", "evidence_", "mean_", "scale_", "target_correlation_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(again, name))
    assert_same_groups(model, LinCFA(missing="pairwise").fit(X, y))


def test_too_many_columns_for_sums_of_pairs(monkeypatch):
    X, y, _ = make(factors)
    monkeypatch.setattr(_moments, "LARGEST_SQUARE", 7 * 8 * 12**2)
    model = stream(X, y, (20,), LinCFA(missing="pairwise"))
    X[3, 3] = np.nan
    model.partial_fit(X[:20], y[:20])
    monkeypatch.setattr(_moments, "LARGEST_SQUARE", 7 * 8 * 12**2 - 1)
    model = LinCFA(missing="pairwise").partial_fit(X[20:], y[20:])  # as long as nothing is missing
    before = pickle.dumps(vars(model))
    message = r"7 matrices of 12 × 12 sums.*\(11 features\).*numpy\.memmap"
    assert_raises(message, model.partial_fit, X[:20], y[:20])
    assert pickle.dumps(vars(model)) == before


def test_few_rows_with_gaps_are_not_yet_a_fit():
    X, y, _ = make(factors)
    X[::2, 0], X[1::2, 1] = np.nan, np.nan
    model = LinCFA(missing="pairwise").partial_fit(X[:3], y[:3])
    with pytest.raises(NotFittedError, match="has seen 3 rows"):
        model.transform(X)
    nothing = LinCFA(missing="pairwise").partial_fit(np.full((5, 12), np.nan), y[:5])
    with pytest.raises(NotFittedError, match="a feature that vary"):
        nothing.transform(X)
    np.testing.assert_array_equal(
        nothing.partial_fit(X, y).labels_,
        LinCFA(missing="pairwise").fit(X, y).labels_,
    )


# Prediction


@every_kind
def test_predictions_with_gaps(together):
    X, y, weights = gappy()
    options = {"signed": True, "feature_weights": weights} if together else {}
    model = LinCFACV(**SEARCH, missing="pairwise", **options).fit(X[:200], y[:200])
    predicted = model.predict(X[200:])
    assert np.isfinite(predicted).all()
    # Three factors explain 2.25 of 3.25 of the variance, and hardly a row lacks one of them.
    assert model.score(X[200:], y[200:]) > 0.4
    nothing = np.full((1, 12), np.nan)
    at_mean = model.predict(model.mean_[None])
    np.testing.assert_allclose(model.predict(nothing), at_mean, rtol=1e-12)
    # Means of what is present are 0 on average but for the noise of which values are missing.
    assert abs(at_mean[0] - y[:200].mean()) < 0.1 * y.std()


def test_a_row_with_some_values_predicts_with_the_mean_of_the_others():
    X, y, _ = gappy()
    model = LinCFACV(**SEARCH, missing="pairwise").fit(X, y)
    row = np.full((1, 12), np.nan)
    group = model.groups_[0]
    row[0, group] = X[~np.isnan(X[:, group]).any(axis=1)][0, group]
    filled = np.where(np.isnan(row), model.mean_, row)
    np.testing.assert_allclose(model.predict(row), model.predict(filled), rtol=1e-10)


# Refused


def test_missing_values_without_the_option_name_the_column():
    X, y, _ = make(factors)
    X[17, 6] = np.nan
    refused = r"NaN in column {} \(row 17\)"
    for model in (LinCFA(), LinCFACV(**QUICK)):
        assert_raises(refused.format("6"), model.fit, X, y)
        assert_raises(refused.format("'t6'"), model.fit, table(X), y)
    assert_raises(refused.format("6"), explain_pair, X, y, 0, 6)
    complete = LinCFA().fit(X[:17], y[:17])
    assert_raises(refused.format("6"), complete.transform, X)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@every_strategy
def test_infinity_names_the_column(strategy, value):
    X, y, _ = gappy()
    model = LinCFA(strategy=strategy, missing="pairwise").fit(X, y)
    X[17, 6] = value
    message = r"infinity in column {} \(row 17\)\. Replace"
    assert_raises(message.format("'t6'"), LinCFA(missing="pairwise").fit, table(X), y)
    assert_raises(message.format("6"), LinCFA(missing="pairwise").partial_fit, X, y)
    assert_raises(message.format("6"), model.transform, X)
    assert_raises(message.format("6"), explain_pair, X, y, 0, 6, missing="pairwise")


@pytest.mark.parametrize("value", ["drop", True, None, "Pairwise"])
def test_missing_is_one_of_two_words(value):
    X, y, _ = make(factors)
    message = re.escape(f"missing must be one of ['error', 'pairwise'], got {value!r}")
    assert_raises(message, LinCFA(missing=value).fit, X, y)
    assert_raises(message, LinCFACV(**QUICK, missing=value).fit, X, y)
    assert_raises(message, explain_pair, X, y, 0, 1, missing=value)


@every_strategy
def test_a_column_without_values_belongs_to_no_group(strategy):
    X, y, _ = gappy()
    X[:, 4] = np.nan
    X[:, 7] = np.where(np.isnan(X[:, 7]), np.nan, 3.0)  # constant where it is present
    X[1:, 9] = np.nan  # a single value
    build = builder(strategy)
    with pytest.warns(UserWarning, match="'t4', 't7', 't9'"):
        model = build().fit(table(X), y)
    assert np.flatnonzero(model.labels_ < 0).tolist() == [4, 7, 9]
    others = [0, 1, 2, 3, 5, 6, 8, 10, 11]
    alone = build().fit(X[:, others], y)
    np.testing.assert_array_equal(model.labels_[others], alone.labels_)
    np.testing.assert_allclose(model.evidence_["f"], alone.evidence_["f"], rtol=1e-8, atol=1e-9)
    assert model.transform(table(X)).shape[1] == alone.n_groups_


@pytest.mark.parametrize("strategy", ["sequential", "centroid", "agglomerative"])
def test_a_column_with_three_values_stays_alone(strategy):
    X, y, _ = gappy()
    X[:, 4] = np.nan
    X[:3, 4] = [1.0, 2.0, 4.0]
    model = builder(strategy, tolerance=1e9)().fit(X, y)
    own = model.groups_[model.labels_[4]]
    assert own.tolist() == [4]
    assert model.mean_[4] == pytest.approx(7 / 3)


def test_every_column_without_values():
    X, y, _ = make(factors)
    for model in (LinCFA(missing="pairwise"), LinCFA(strategy="joint", missing="pairwise")):
        with pytest.raises(ValueError, match="Every column of X"):
            model.fit(np.full_like(X, np.nan), y)


def not_positive_definite():
    """Three features that agree in two pairs and disagree in the third, each on its own rows."""
    rng = np.random.default_rng(0)
    x, noise = rng.normal(size=(2, 90))
    X = np.column_stack([x, x, x]) + 0.1 * rng.normal(size=(90, 3))
    X[:30, 2], X[30:60, 0], X[60:, 1] = np.nan, np.nan, np.nan
    X[60:, 2] *= -1
    return X, x + noise


def test_joint_needs_correlations_of_columns():
    X, y = not_positive_definite()
    model = LinCFA(strategy="joint", missing="pairwise")
    with pytest.raises(ValueError, match=r"strategy='joint'.*missing values.*[Uu]se"):
        model.fit(X, y)
    with pytest.raises(np.linalg.LinAlgError):
        literal.joint(X, y)
    for strategy in ("sequential", "centroid", "agglomerative"):
        assert LinCFA(strategy=strategy, missing="pairwise").fit(X, y).n_groups_ >= 1


@every_strategy
def test_the_noise_of_all_features_needs_complete_data(strategy):
    X, y, _ = gappy()
    model = LinCFA(strategy=strategy, noise="full", missing="pairwise")
    with pytest.raises(ValueError, match=r"noise='full'.*missing"):
        model.fit(X, y)
    with pytest.raises(ValueError, match=r"noise='full'.*missing"):
        explain_pair(X, y, 0, 1, noise="full", missing="pairwise")
    complete, y, _ = make(factors)
    plain = LinCFA(strategy=strategy, noise="full").fit(complete, y)
    np.testing.assert_array_equal(model.fit(complete, y).labels_, plain.labels_)


def test_explain_pair_with_too_few_common_rows():
    X = pd.DataFrame({"a": [1.0, 2, 3, 5, np.nan, np.nan], "b": [np.nan, 2, 1, 4, 3, 1]})
    with pytest.raises(ValueError, match=r"'a' and 'b' cannot be compared: 3 samples .* 4 are"):
        explain_pair(X, np.arange(6.0) ** 2, "a", "b", tolerance=1e9, missing="pairwise")


def test_neighbours_that_cannot_be_compared_do_not_merge():
    """Though the averages over their other pairs make them coincide."""
    rng = np.random.default_rng(2331)
    t = rng.normal(size=(20, 1))
    X = t + 0.3 * rng.normal(size=(20, 4))
    y = t[:, 0] + rng.normal(size=20)
    X[rng.random(X.shape) < 0.5] = np.nan
    assert (~np.isnan(X[:, [0, 2]])).all(axis=1).sum() == 3
    options = {"strategy": "agglomerative", "missing": "pairwise", "tolerance": 1e8}
    model = LinCFA(connectivity="chain", **options).fit(X, y)
    assert model.labels_.tolist() == LinCFA(**options).fit(X, y).labels_.tolist() == [0, 1, 1, 1]
    assert np.isfinite(model.merge_path_["f"]).all()
    with pytest.raises(ValueError, match="connectivity and pairs that share too few samples"):
        model.cut(n_groups=1)


def test_columns_equal_where_they_overlap_are_not_all_equal():
    """Three columns, of which one has few values: it is a copy of two that are no copies."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 5))
    X[:6, 1] = X[:6, 0]
    few = np.where(np.arange(40) < 6, X[:, 0], np.nan)
    X = np.column_stack([few, X])
    y = 3 * X[:, 1] - 3 * X[:, 2] + rng.normal(size=40)
    model = LinCFA(strategy="agglomerative", missing="pairwise").fit(X, y)
    path = model.merge_path_
    assert path[["first", "second"]][0].tolist() == (0, 1)
    assert path["f"][0] == 0
    # Together the two would have put all later merges beyond any tolerance.
    assert (path["f"][:3] < 1).all()
    assert model.labels_[1] != model.labels_[2]
    assert model.n_groups_ < 5


def test_ties_do_not_depend_on_the_side():
    """Three rows that weigh more than 4 samples are explained completely by any pair."""
    rng = np.random.default_rng(2949)
    X = rng.normal(size=(4, 3))
    X[0, :2] = np.nan
    y = rng.normal(size=4)
    for strategy in ("agglomerative", "centroid", "sequential"):
        LinCFA(strategy=strategy, missing="pairwise").fit(X, y, sample_weight=[1, 1.2, 1.7, 2.2])


def test_a_column_whose_values_count_for_less_than_one_sample(tmp_path):
    X = np.array([[1, 0.3], [2, np.nan], [4, 0.9], [3, np.nan], [7, np.nan], [5, np.nan]])
    with pytest.warns(UserWarning, match="column 1"):
        model = LinCFA(missing="pairwise").fit(
            X, [1.0, 2, 3, 4, 6, 5], sample_weight=[0.4, 1, 0.4, 1, 1, 1]
        )
    assert model.labels_.tolist() == [0, -1]
    assert model.target_correlation_[1] == 0
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").labels_.tolist() == [0, -1]


def test_gaps_in_rows_without_weight_are_no_gaps():
    X, y, _ = gappy()
    X = np.nan_to_num(X)
    weights = np.ones(len(y))
    X[3, 2], weights[3] = np.nan, 0
    whole = LinCFA(missing="pairwise", noise="full").fit(X, y, weights)
    streamed = LinCFA(missing="pairwise", noise="full").partial_fit(X, y, weights)
    np.testing.assert_array_equal(streamed.labels_, whole.labels_)
