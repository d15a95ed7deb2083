"""How much groups depend on the samples, by drawing them again, and on the order of columns."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from lincfa import LinCFA, LinCFACV, OrderSensitivity, Stability, order_sensitivity, stability
from lincfa._statistics._series import autocorrelations
from lincfa.datasets import make_correlated
from lincfa.diagnostics import _progress
from reference import assert_raises, draw
from series import persistent

MODELS = [
    LinCFA(),
    LinCFA(strategy="centroid", tolerance=2.0),
    LinCFA(strategy="agglomerative", n_groups=4),
    LinCFA(strategy="joint", units="original"),
    LinCFA(noise=1.0, min_correlation=0.3),
]


def literal(X, y, n_resamples, model, seed, length=1):
    """The same by drawing blocks of rows, fitting, and counting pair by pair."""
    random = check_random_state(seed)
    model = clone(model)
    labels = model.fit(X, y).labels_
    D, n = X.shape[1], len(y)
    together = np.zeros((D, D))
    drawn = []
    for _ in range(n_resamples):
        starts = random.randint(n, size=-(-n // length))
        rows = np.sort([(start + k) % n for start in starts for k in range(length)][:n])
        drawn.append(model.fit(X[rows], y[rows]).labels_)
        together += drawn[-1][:, None] == drawn[-1]
    return labels, np.array(drawn), together / n_resamples


@pytest.mark.parametrize("length", [1, 7])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.strategy)
def test_stability_by_its_definition(model, length):
    """Drawing a row k times is giving it the weight k."""
    X, y = draw(0)
    found = stability(X, y, 12, model=model, block_length=length, random_state=5)
    assert not hasattr(model, "labels_")
    labels, drawn, together = literal(X, y, 12, model, 5, length)
    assert found.block_length == length
    assert ("resamples of blocks of 7 samples" in str(found)) == (length > 1)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.resampled, drawn)
    np.testing.assert_array_equal(found.n_groups, drawn.max(axis=1) + 1)
    np.testing.assert_allclose(found.co_membership(range(15)), together, atol=1e-15)
    np.testing.assert_allclose(
        found.agreement, [adjusted_rand_score(labels, row) for row in drawn], atol=1e-12
    )
    for number in range(labels.max() + 1):
        group = np.flatnonzero(labels == number)
        intact = np.mean([len(set(row[group])) == 1 for row in drawn])
        assert found.intact[number] == pytest.approx(intact)
        if group.size == 1:
            assert np.isnan(found.groups[number])
            assert np.isnan(found.features[group[0]])
            continue
        inside = together[np.ix_(group, group)]
        others = (inside.sum(axis=1) - 1) / (group.size - 1)
        np.testing.assert_allclose(found.features[group], others)
        assert found.groups[number] == pytest.approx(others.mean())


def test_blocks_are_of_neighbours_in_time():
    """In the order of the dates, whatever that of the rows; the length by the formula."""
    X, y = persistent(0.8, n=120)
    dates = pd.date_range("2001-01", periods=120, freq="MS")
    shuffled = np.random.default_rng(0).permutation(120)
    table = pd.DataFrame(X, index=dates).iloc[shuffled]
    found = stability(table, y[shuffled], 10, random_state=0)
    phi = np.median(autocorrelations(X)) * autocorrelations(y[:, None])[0]
    assert found.block_length == round((6 * 120 * phi**2 / (1 - phi**2) ** 2) ** (1 / 3)) > 5
    for given, length in ((X, "auto"), (X, found.block_length), (table.sort_index(), None)):
        same = stability(given, y, 10, block_length=length, random_state=0)
        np.testing.assert_array_equal(same.resampled, found.resampled)
    assert stability(X, y, 2).block_length == 1  # without dates
    independent = np.random.default_rng(1).normal(size=(120, 13))
    assert stability(independent[:, 1:], independent[:, 0], 2, block_length="auto").block_length < 4


def test_blocks_that_cannot_be_drawn():
    X, y = draw(0)
    for length in (0, 2.5, True, "long", -1):
        assert_raises(
            "block_length must be None, 'auto' or a", stability, X, y, block_length=length
        )
    assert_raises("61 is more than .* 60", stability, X, y, block_length=61)


def test_constant_features_are_in_no_group():
    """Also those that are constant only in some resamples, of which nothing is said."""
    X, y = draw(0)
    X[:, 3] = 7.0
    X[:, 5] = 0.0
    X[11, 5] = 1.0
    with pytest.warns(UserWarning, match="column 3") as warned:
        found = stability(X, y, 20, random_state=0)
    assert len(warned) == 1
    assert np.isnan(found.features[3])
    assert (found.resampled[:, 3] == -1).all()
    assert 0 < (found.resampled[:, 5] == -1).sum() < 20
    alone = found.co_membership([3, 5, 6])
    np.testing.assert_array_equal(alone[0], [1, 0, 0])
    np.testing.assert_array_equal(np.diag(alone), 1)


def test_the_same_seed_gives_the_same():
    X, y = draw(1)
    one = stability(X, y, 5, random_state=3)
    assert isinstance(one, Stability)
    for other in (
        stability(X, y, 5, random_state=3, n_jobs=2),
        stability(pd.DataFrame(X), y, 5, random_state=np.random.RandomState(3)),
        stability(np.asfortranarray(X), y, 5, random_state=3),
    ):
        np.testing.assert_array_equal(one.resampled, other.resampled)
    assert (one.resampled != stability(X, y, 5, random_state=4).resampled).any()


def test_many_features_need_no_square():
    """Two thousand features: a matrix of all pairs would be 32 MB, even of bits 0.5."""
    X, y = make_correlated(n_samples=20, n_features=2000, random_state=0)
    tracemalloc.start()
    try:
        stability(X, y, 3, random_state=0)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used < 10 * X.nbytes < 8 * 2000**2 / 8


def test_few_samples():
    """Of four samples some draws have a constant target; these are drawn anew."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4, 3)), np.array([0.0, 0.0, 0.0, 1.0])
    found = stability(X, y, 20, random_state=0)
    assert found.resampled.shape == (20, 3)


def test_names_and_tables():
    X, y = draw(0)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(15)])
    found = stability(frame, y, 5, random_state=0)
    assert list(found.names) == LinCFA().fit(frame, y).get_feature_names_out().tolist()
    np.testing.assert_array_equal(
        found.co_membership(["f3", "f1", "f7"]), found.co_membership([3, 1, 7])
    )
    mask = np.zeros(15, dtype=bool)
    mask[[1, 3]] = True
    np.testing.assert_array_equal(found.co_membership(mask), found.co_membership([1, 3]))
    table = found.frame()
    assert table["name"].tolist() == list(found.names)
    np.testing.assert_array_equal(table["together"], found.groups)
    np.testing.assert_array_equal(found.frame("polars")["intact"].to_numpy(), found.intact)
    lines = str(found).splitlines()
    assert lines[0].startswith(f"{len(found.names)} groups; {found.n_groups.min()} to ")
    merged = int((table["size"] > 1).sum())
    assert lines[1].split("  ")[0].strip() == "group"
    assert len(lines) == 2 + merged + (merged < len(table))
    assert found.names[int(table["size"].argmax())] in found._repr_html_()
    alone = replace(found, labels=np.array([0, 0, 1]), names=("mean(a, b)", "c"))
    assert str(alone).endswith("\nand 1 single feature")
    frame.columns = [f"<b>{i}" for i in range(15)]
    assert "<b>" not in stability(frame, y, 2)._repr_html_()


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (["x99"], "There is no feature 'x99'"),
        ([15], "are 0 to 14"),
        ([-1], "are 0 to 14"),
        (3, "a list of positions or names, or a mask"),
        ([[0, 1], [2, 3]], "a list of positions or names, or a mask"),
        ([1.5], "a list of positions or names, or a mask"),
        ([True, False], "a list of positions or names, or a mask"),
    ],
)
def test_features_that_are_none_are_refused(features, message):
    found = stability(*draw(0), 2, random_state=0)
    assert_raises(message, found.co_membership, features)


@pytest.mark.parametrize("number", [0, -1, 2.5, "ten", True])
def test_a_wrong_number_of_resamples_is_refused(number):
    assert_raises("n_resamples must be a positive integer", stability, *draw(0), number)


def test_a_fitted_search_is_what_it_has_chosen():
    X, y = draw(0)
    model = LinCFACV(tolerances=[3.0]).fit(X, y)
    found, expected = (
        stability(X, y, 4, model=each, random_state=0) for each in (model, model.reducer_)
    )
    np.testing.assert_array_equal(found.resampled, expected.resampled)
    found, expected = (
        order_sensitivity(X, y, 4, model=each, random_state=0) for each in (model, model.reducer_)
    )
    np.testing.assert_array_equal(found.agreement, expected.agreement)


def test_bad_models_and_data_are_refused():
    X, y = draw(0)
    for measure in (stability, order_sensitivity):
        with pytest.raises(TypeError, match="got LinCFACV, which is not fitted"):
            measure(X, y, 2, model=LinCFACV())
        with pytest.raises(TypeError, match="got str"):
            measure(X, y, 2, model="agglomerative")
    X[2, 9] = np.inf
    assert_raises("infinity in column 9", stability, X, y, 2)


# Progress


def test_short_work_is_silent(capsys, monkeypatch):
    monkeypatch.setattr(_progress.time, "monotonic", lambda: 0.0)
    stability(*draw(0), 3, random_state=0)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("verbose", [True, False])
def test_long_work_reports(capsys, monkeypatch, verbose):
    """By a clock that goes 2 seconds per look: known to be long from the fit, a line every 5."""
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr(_progress.time, "monotonic", lambda: next(clock))
    X, y = draw(0)
    stability(X, y, 9, random_state=0, verbose=verbose)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [
        "stability: 9 to do, one took 2 s",
        "stability: 3 of 9",
        "stability: 6 of 9, about 6 s left",
        "stability: 9 of 9 in 20 s",
    ]
    assert err.splitlines() == (lines if verbose else [])


@pytest.mark.parametrize(
    ("seconds", "text"), [(3.4, "3.4 s"), (59, "59 s"), (150, "2 min"), (7300, "2 h 2 min")]
)
def test_durations(seconds, text):
    assert _progress._duration(seconds) == text


# The order of the columns


@pytest.fixture(scope="module")
def columns():
    return make_correlated(n_samples=60, n_features=25, noise=3.0, random_state=5)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"strategy": "centroid", "tolerance": 4.0},
        {"tolerance": "unbiased", "min_correlation": 0.6},
        {"noise": 9.0},
    ],
    ids=str,
)
def test_the_plain_loop_gives_the_same(columns, parameters):
    X, y = columns
    model = LinCFA(**parameters)
    found = order_sensitivity(X, y, 6, model=model, random_state=1)
    given = LinCFA(**parameters).fit(X, y)
    random = np.random.RandomState(1)
    sizes, agreement = [], []
    for _ in range(6):
        order = random.permutation(25)
        permuted = LinCFA(**parameters).fit(X[:, order], y)
        back = np.empty(25, dtype=int)
        back[order] = permuted.labels_  # labels in the order of the columns given
        sizes.append(permuted.n_groups_)
        agreement.append(adjusted_rand_score(given.labels_, back))
    assert isinstance(found, OrderSensitivity)
    assert found.n_groups_given == given.n_groups_
    assert found.n_groups.tolist() == sizes
    np.testing.assert_allclose(found.agreement, agreement)
    assert min(agreement) < 1  # or this test would see nothing


@pytest.mark.parametrize("strategy", ["agglomerative", "joint"])
def test_best_pairs_first_does_not_depend_on_the_order(columns, strategy):
    """Whatever the tolerance, and also where the number of groups is given."""
    for parameters in ({}, {"tolerance": 7.0}, {"n_groups": 6}):
        model = LinCFA(strategy=strategy, **parameters)
        found = order_sensitivity(*columns, 4, model=model, random_state=0)
        np.testing.assert_array_equal(found.agreement, np.ones(4))
        assert set(found.n_groups) == {found.n_groups_given}


def test_constant_columns_data_left_alone_and_bad_ones(columns):
    X, y = columns
    alone = order_sensitivity(X, y, 5, random_state=2)
    with_constant = np.hstack([X, np.ones((60, 2))])
    with pytest.warns(UserWarning, match=r"constant features.*columns 25, 26\.") as caught:
        found = order_sensitivity(with_constant, y, 5, random_state=2)
    assert len(caught) == 1  # not once for each permutation
    np.testing.assert_array_equal(found.agreement, alone.agreement)
    np.testing.assert_array_equal(found.n_groups, alone.n_groups)
    before = X.copy(), y.copy()
    model = LinCFA(tolerance=2.0)
    order_sensitivity(X, y, 2, model=model, random_state=0)
    assert vars(model) == vars(LinCFA(tolerance=2.0))
    fitted = LinCFA(tolerance=2.0).fit(X[:, :10], y)
    order_sensitivity(X, y, 2, model=fitted, random_state=0)
    assert fitted.n_features_in_ == fitted.labels_.size == 10
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])
    table = pd.DataFrame(X).add_prefix("t")
    table.iloc[4, 3] = np.nan
    assert_raises(r"NaN in column 't3' \(row 4\)", order_sensitivity, table, y)
    assert_raises("y is constant", order_sensitivity, X, np.ones(60))
    wrong = LinCFA(strategy="greedy")
    assert_raises("strategy must be one of", order_sensitivity, X, y, model=wrong)


def test_the_seed_decides(columns):
    first, again, other = (order_sensitivity(*columns, 8, random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first.agreement, again.agreement)
    assert not np.array_equal(first.agreement, other.agreement)
    frame = pd.DataFrame(columns[0]).add_prefix("t")
    given = order_sensitivity(frame, columns[1], 8, random_state=np.random.RandomState(3))
    np.testing.assert_array_equal(first.agreement, given.agreement)
    assert order_sensitivity(*columns).n_groups.shape == (20,)
    alone = order_sensitivity(columns[0][:, :1], columns[1], 2, random_state=0)
    assert alone.n_groups_given == 1
    np.testing.assert_array_equal(alone.agreement, [1, 1])


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "3", None])
def test_bad_number_of_permutations(columns, count):
    message = f"n_permutations must be a positive integer, got {count!r}"
    assert_raises(message, order_sensitivity, *columns, count)
