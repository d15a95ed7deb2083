"""The path of merges: cuts, the linkage, n_groups, and how often the rule merges."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, fcluster, is_monotonic, is_valid_linkage
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import literal_strategies
from lincfa import LinCFA, theory
from reference import assert_raises, assert_same_fit, draw, noise_only, stream, tree

PATHS = ["agglomerative", "joint"]
TOLERANCES = [1e-9, 0.01, 0.1, 0.5, 1, 2, 4, 7, 30, 1e9]


def with_constants(X):
    """Constant columns first, in between and last."""
    constant = np.full((X.shape[0], 1), 3.0)
    return np.hstack([constant, X[:, :5], constant, X[:, 5:], constant])


def wide():
    """With so little noise that the regression of "joint" starts with several groups."""
    X, _ = tree(np.random.default_rng(1), 20, 30)
    return X, X[:, :6] @ [1.0, -2, 3, -1, 2, 1] + 0.01 * np.random.default_rng(2).normal(size=20)


DATA = {
    "long": lambda: draw(0),
    "wide": wide,
    "noise": lambda: noise_only(np.random.default_rng(2), 50, 12),
    "copies": lambda: (np.repeat(draw(3, D=6)[0], 2, axis=1), draw(3, D=6)[1]),
}


@pytest.fixture(params=DATA)
def example(request):
    return DATA[request.param]()


@pytest.fixture(params=PATHS)
def strategy(request):
    return request.param


def assert_same_path(model, other):
    assert model.merge_path_.dtype == other.merge_path_.dtype
    np.testing.assert_array_equal(model.merge_path_, other.merge_path_)
    for name in model.evidence_.dtype.names:  # one by one: no threshold, NaN, is equal to none
        np.testing.assert_array_equal(model.evidence_[name], other.evidence_[name])


def is_nested(coarse, fine):
    """Whether every group of the fine partition lies within one of the coarse."""
    return all(np.unique(coarse.labels_[group]).size == 1 for group in fine.groups_)


def partition(labels):
    return {frozenset(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)}


# Cuts


@pytest.mark.parametrize("options", [{}, {"noise": 5.0}, {"min_correlation": 0.2}])
def test_cut_at_a_tolerance_is_a_refit(example, strategy, options):
    X, y = example
    if options and strategy == "joint" and X.shape[1] > len(y):
        options = {"noise": 5.0}  # a smallest correlation leaves too many groups to start with
    model = LinCFA(strategy=strategy, **options).fit(X, y)
    for tolerance in [*TOLERANCES, "unbiased"]:
        cut = model.cut(tolerance=tolerance)
        refit = LinCFA(strategy=strategy, tolerance=tolerance, **options).fit(X, y)
        assert cut.get_params() == refit.get_params()
        assert_same_fit(cut, refit)
        assert_same_path(cut, refit)
        np.testing.assert_array_equal(cut.transform(X), refit.transform(X))


def test_cut_at_a_number_of_groups_is_a_refit(example, strategy):
    X, y = example
    model = LinCFA(strategy=strategy, tolerance=3.0).fit(X, y)
    for n_groups in range(1, X.shape[1] + 1):
        cut = model.cut(n_groups=n_groups)
        refit = LinCFA(strategy=strategy, n_groups=n_groups).fit(X, y)
        assert cut.n_groups_ == len(cut.groups_) == n_groups
        assert cut.get_params() == refit.get_params()
        assert_same_fit(cut, refit)
        assert_same_path(cut, refit)
    models = [LinCFA(strategy=strategy, tolerance=c).fit(X, y) for c in TOLERANCES]
    counts = [model.n_groups_ for model in models]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[4] > counts[-1] == 1
    for fine, coarse in pairwise(models):
        assert is_nested(coarse, fine)


def test_cut_leaves_the_model_alone(strategy):
    X, y = draw(0)
    model = LinCFA(strategy=strategy).fit(X, y)
    labels, parameters = model.labels_.copy(), model.get_params()
    assert model.cut(n_groups=1).cut(n_groups=15).n_groups_ == 15
    assert model.get_params() == parameters
    np.testing.assert_array_equal(model.labels_, labels)
    # A cut is an estimator like any other: it can be fitted again.
    assert clone(model.cut(n_groups=4)).fit(X, y).n_groups_ == 4
    # A cut of a stream is fitted, without its rows: chunks given to it start a new stream.
    model = stream(X, y, (30,), LinCFA(strategy=strategy))
    cut = model.cut(n_groups=3)
    np.testing.assert_array_equal(
        cut.labels_, LinCFA(strategy=strategy, n_groups=3).fit(X, y).labels_
    )
    again = cut.partial_fit(X[:40], y[:40])
    expected = LinCFA(strategy=strategy, n_groups=3).fit(X[:40], y[:40])
    np.testing.assert_array_equal(again.labels_, expected.labels_)
    model.partial_fit(X[:10], y[:10])  # and the first one goes on
    rows = np.r_[0:60, 0:10]
    np.testing.assert_allclose(model.mean_, X[rows].mean(axis=0), rtol=1e-10)


def test_path_and_linkage(example, strategy):
    X, y = example
    path = LinCFA(strategy=strategy).fit(X, y).merge_path_
    assert path.dtype.names[:5] == ("first", "second", "sign", "size", "correlation")
    assert path.size == X.shape[1] - 1
    assert path["size"][-1] == X.shape[1]
    assert (path["first"] < path["second"]).all()
    assert np.unique(path["second"]).size == path.size  # a group that has merged is gone
    assert (path["f"] >= 0).all()
    start = 0
    if strategy == "joint":
        start = len(literal_strategies.start_of_joint(X, y).merges)
    assert (path["height"][:start] == 0).all()
    assert path["pairwise"].sum() == (start if strategy == "joint" else path.size)
    np.testing.assert_array_equal(path["height"][start:], np.maximum.accumulate(path["f"][start:]))
    model = LinCFA(strategy=strategy).fit(X, y)
    linkage, path = model.to_linkage(), model.merge_path_
    assert is_valid_linkage(linkage, throw=True)
    assert is_monotonic(linkage)
    assert len(dendrogram(linkage, no_plot=True)["leaves"]) == X.shape[1]
    np.testing.assert_array_equal(linkage[:, 2], path["height"])
    np.testing.assert_array_equal(linkage[:, 3], path["size"])
    compared = 0
    for n_groups in range(1, X.shape[1]):
        made = X.shape[1] - n_groups
        reached = path["height"][made - 1]
        if made < path.size and path["height"][made] == reached:
            continue  # no tolerance gives this number
        cut = partition(model.cut(n_groups=n_groups).labels_)
        assert partition(fcluster(linkage, reached, criterion="distance")) == cut
        compared += 1
    assert compared >= 4


def test_cuts_where_f_first_exceeds_the_tolerance_and_thresholds():
    """Also where a later F is smaller again."""
    X, y = draw(0)
    model = LinCFA(strategy="agglomerative").fit(X, y)
    f = model.merge_path_["f"]
    falls = np.flatnonzero(np.diff(f) < 0)
    assert falls.size, "take data where F falls somewhere"
    peak = falls[f[falls] == np.maximum.accumulate(f)[falls]][0]
    assert model.cut(tolerance=0.999 * f[peak]).n_groups_ >= 15 - peak
    # At the height itself the merge is made, and those with a smaller F that follow.
    assert model.cut(tolerance=f[peak]).n_groups_ <= 15 - peak - 2
    # The threshold is the correlation at which F would be the tolerance; joint F has none.
    path = model.merge_path_
    last = np.flatnonzero(path["f"] < path["height"])[0]  # where the height is that of another
    cuts = [({"tolerance": 3.0}, 3.0), ({"n_groups": 14 - int(last)}, path["height"][last])]
    for cut, c in cuts:
        evidence = model.cut(**cut).evidence_
        expected = 1 - c * (1 - evidence["correlation"]) / evidence["f"]
        np.testing.assert_allclose(evidence["threshold"], expected, rtol=1e-12)
        assert np.isnan(LinCFA(strategy="joint").fit(X, y).cut(**cut).evidence_["threshold"]).all()
    for name in ["sequential", "centroid", *PATHS]:
        word, number = (LinCFA(strategy=name, tolerance=c).fit(X, y) for c in ["unbiased", 2.0])
        assert_same_fit(word, number)
        assert LinCFA(strategy=name, tolerance=0.1).fit(X, y).n_groups_ > word.n_groups_


# The linkage


def test_constant_columns_are_no_leaves(strategy):
    X, y = draw(0)
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA(strategy=strategy).fit(with_constants(X), y)
    plain = LinCFA(strategy=strategy).fit(X, y)
    np.testing.assert_allclose(model.to_linkage(), plain.to_linkage(), rtol=1e-9)
    varying = np.setdiff1d(np.arange(18), [0, 6, 17])
    for name in ["first", "second"]:
        np.testing.assert_array_equal(model.merge_path_[name], varying[plain.merge_path_[name]])
    cut = model.cut(n_groups=4)
    np.testing.assert_array_equal(cut.labels_[[0, 6, 17]], -1)
    np.testing.assert_array_equal(cut.labels_[varying], plain.cut(n_groups=4).labels_)
    assert_raises("n_groups=16 is not between 1 and 15", model.cut, n_groups=16)


# Refusals


def test_cut_needs_one_of_two(strategy):
    model = LinCFA(strategy=strategy).fit(*draw(0))
    for wrong in [{}, {"tolerance": 1.0, "n_groups": 2}]:
        assert_raises("Pass a tolerance or n_groups", model.cut, **wrong)


@pytest.mark.parametrize("name", ["sequential", "centroid"])
def test_strategies_without_a_path(name):
    X, y = draw(0)
    model = LinCFA(strategy=name).fit(X, y)
    assert not hasattr(model, "merge_path_")
    for call in [lambda: model.cut(tolerance=2.0), model.to_linkage]:
        assert_raises(f"'{name}' has no path.*'agglomerative' or 'joint'", call)
    with pytest.raises(ValueError, match=f"'agglomerative' or 'joint'.*'{name}'"):
        LinCFA(strategy=name, n_groups=3).fit(X, y)
    # Nor is there one left of an earlier fit.
    model = LinCFA(strategy="agglomerative").fit(X, y).set_params(strategy=name).fit(X, y)
    assert not hasattr(model, "merge_path_")
    model = LinCFA(strategy="agglomerative").partial_fit(X[:30], y[:30])
    model.set_params(strategy=name).partial_fit(X[30:], y[30:])
    assert not hasattr(model, "merge_path_")
    assert_raises("has no path", model.cut, tolerance=2.0)


def test_not_fitted(strategy):
    for call in [lambda m: m.cut(tolerance=1.0), lambda m: m.to_linkage()]:
        with pytest.raises(NotFittedError):
            call(LinCFA(strategy=strategy))


@pytest.mark.parametrize("wrong", [0, -1, True, 2.0, "3", np.nan, [2]])
def test_numbers_of_groups_that_are_none(strategy, wrong):
    X, y = draw(0)
    message = "n_groups must be None or a positive integer"
    assert_raises(message, LinCFA(strategy=strategy, n_groups=wrong).fit, X, y)
    assert_raises(message, LinCFA(strategy=strategy).fit(X, y).cut, n_groups=wrong)


@pytest.mark.parametrize("wrong", [0, -1.0, np.inf, np.nan, "biased", True])
def test_tolerances_that_are_none(strategy, wrong):
    with pytest.raises(ValueError, match="tolerance must be a positive number or 'unbiased'"):
        LinCFA(strategy=strategy).fit(*draw(0)).cut(tolerance=wrong)


def test_numbers_of_groups_that_do_not_fit(strategy):
    X, y = draw(0)
    with pytest.raises(ValueError, match="n_groups=16 is not between 1 and 15"):
        LinCFA(strategy=strategy, n_groups=16).fit(X, y)
    with pytest.raises(ValueError, match=r"not both: got tolerance=2.0 and n_groups=3"):
        LinCFA(strategy=strategy, tolerance=2.0, n_groups=3).fit(X, y)
    assert LinCFA(strategy=strategy, n_groups=np.int64(3)).fit(X, y).n_groups_ == 3
    model = LinCFA(strategy=strategy, min_correlation=0.5).fit(X, y)
    fewest = 15 - model.merge_path_.size
    assert fewest > 1
    assert model.cut(tolerance=1e9).n_groups_ == model.cut(n_groups=fewest).n_groups_ == fewest
    assert_raises(f"with min_correlation this one ends at {fewest}", model.to_linkage)
    message = f"is not between {fewest}, the fewest with min_correlation, and 15"
    assert_raises(message, model.cut, n_groups=fewest - 1)
    with pytest.raises(ValueError, match=message):
        LinCFA(strategy=strategy, min_correlation=0.5, n_groups=fewest - 1).fit(X, y)


# How often the rule merges


def simulated(n, n_draws, w1, w2, seed):
    """Two fixed features of unit variance, and many targets with noise of variance 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1)) + 0.7 * rng.normal(size=(n, 2))
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X, X @ [w1, w2] + rng.normal(size=(n_draws, n)), np.corrcoef(X.T)[0, 1]


def assert_probability(count, n_draws, probability):
    """Within four binomial standard errors: by chance outside in one of 16 000."""
    error = np.sqrt(probability * (1 - probability) / n_draws)
    assert abs(count / n_draws - probability) < 4 * error


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.2, 0.7), (1.0, -0.2)])
def test_frequency_of_merges(weights):
    n_draws = 20_000
    X, targets, rho = simulated(30, n_draws, *weights, seed=5)
    targets = targets - targets.mean(axis=1, keepdims=True)
    # F by projections: the part along the difference against what neither explains.
    basis = np.linalg.qr(np.column_stack([X.sum(axis=1), X[:, 0] - X[:, 1]]))[0]
    along = targets @ basis
    left = np.sum(targets**2, axis=1) - np.sum(along**2, axis=1)
    f = along[:, 1] ** 2 / (left / 27)
    for tolerance in [0.5, 1.0, 2.0, 7.0]:
        probability = float(theory.merge_probability(30, rho, *weights, 1.0, tolerance))
        assert 0.01 < probability < 0.999
        assert_probability(np.sum(f <= tolerance), n_draws, probability)


CHOICES = [("sequential", c) for c in [0.5, 1.0, 7.0]]
CHOICES += [(name, "unbiased") for name in ["sequential", "centroid", *PATHS]]


@pytest.mark.parametrize(("name", "tolerance"), CHOICES)
def test_frequency_of_merges_by_the_estimator(name, tolerance):
    X, targets, rho = simulated(25, 300, 0.3, 0.7, seed=6)
    model = LinCFA(strategy=name, tolerance=tolerance)
    merged = sum(model.fit(X, y).n_groups_ == 1 for y in targets)
    c = 2.0 if tolerance == "unbiased" else tolerance
    assert_probability(merged, 300, float(theory.merge_probability(25, rho, 0.3, 0.7, 1.0, c)))
