"""The figures of evidence_, each computed again from the data by the paper's equations."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lincfa import LinCFA, theory
from lincfa._model._display import decimals
from lincfa.datasets import make_correlated
from lincfa.report._groups import describe_merge
from literal_strategies import correlation, fitted, full_noise, mean_of, standardised
from reference import draw

STRATEGIES = ["sequential", "centroid", "agglomerative", "joint"]
PATHS = ["agglomerative", "joint"]
SHARES = ["variance_drop_share", "bias_growth_share", "gain_share"]
IN_UNITS = ["variance_drop", "bias_growth", "gain"]


def figures_of_pair(first, second, y, tolerance=1.0, noise=None):
    """What the paper's equations say of two standardised columns, with weights of a real fit."""
    n, variance = len(y), y.var(ddof=1)
    rho, r1, r2 = correlation(first, second), correlation(first, y), correlation(second, y)
    design = np.column_stack([np.ones(n), first, second])
    _, w1, w2 = np.linalg.lstsq(design, y, rcond=None)[0]
    growth = theory.bias_growth_asymptotic(w1, w2, rho)
    s2 = theory.residual_variance(n, rho, r1, r2, variance) if noise is None else noise
    drop = theory.variance_drop_asymptotic(n, s2)
    if tolerance == 1 and noise is None:
        threshold = theory.threshold_empirical(n, rho, r1, r2)
    else:
        threshold = 1 - tolerance * (1 - rho) / (growth / drop)
    return {
        "correlation": rho,
        "threshold": threshold,
        "f": growth / drop,
        "tolerance": tolerance,
        "variance_drop_share": drop / variance,
        "bias_growth_share": growth / variance,
        "gain_share": (drop - growth) / variance,
        "variance_drop": drop,
        "bias_growth": growth,
        "gain": drop - growth,
    }


def assert_row(row, expected):
    """Differences of correlations lose digits: 1 − ρ is some 1e-2, and F is a square."""
    for name, value in expected.items():
        assert row[name] == pytest.approx(value, rel=1e-7, abs=1e-12), name


def assert_one_row_per_merged_feature(model):
    merged = np.flatnonzero(model.labels_ >= 0)
    merged = np.setdiff1d(merged, [group[0] for group in model.groups_])
    np.testing.assert_array_equal(np.sort(model.evidence_["feature"]), merged)
    np.testing.assert_array_equal(
        model.evidence_["group"], model.labels_[model.evidence_["feature"]]
    )
    assert (np.diff(model.evidence_["group"]) >= 0).all()
    same_group = model.labels_[model.evidence_["partner"]] == model.evidence_["group"]
    assert same_group.all()


def assert_same_evidence(one, other):
    assert one.dtype == other.dtype
    for name in one.dtype.names:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("shape", [(100, 12), (30, 40)])
def test_each_merged_feature_has_one_row_and_no_first_feature_has_any(strategy, shape):
    X, y = draw(5, *shape)
    X[:, 7] = 1.0
    with pytest.warns(UserWarning, match="constant"):
        model = LinCFA(strategy=strategy, tolerance=2.0).fit(X, y)
    assert model.evidence_.size == shape[1] - 1 - model.n_groups_ > 0
    assert_one_row_per_merged_feature(model)


def test_fields_are_those_documented_and_libraries_known(data):
    names = ["group", "feature", "partner", "sign", "correlation", "threshold", "f", "tolerance"]
    assert list(LinCFA().fit(*data).evidence_.dtype.names) == [*names, *SHARES, *IN_UNITS]
    with pytest.raises(ValueError, match="'pandas' or 'polars', got 'arrow'"):
        LinCFA().fit(*data).evidence_frame("arrow")


@pytest.mark.parametrize("tolerance", [0.5, 1.0, 4.0, "unbiased"])
@pytest.mark.parametrize("noise", ["pair", "full", 0.9])
def test_sequential(data, tolerance, noise):
    X, y = data
    model = LinCFA(tolerance=tolerance, noise=noise).fit(X, y)
    variance = {"pair": None, "full": full_noise(X, y)}.get(noise, noise)
    number = 2.0 if tolerance == "unbiased" else tolerance
    Z = standardised(X)
    assert model.evidence_.size > 2
    for row in model.evidence_:
        seed, feature = row["partner"], row["feature"]
        assert seed == model.groups_[row["group"]][0]
        assert_row(row, figures_of_pair(Z[:, seed], Z[:, feature], y, number, variance))
        if variance is not None:
            assert row["variance_drop"] == pytest.approx(variance / (len(y) - 1), rel=1e-9)


@pytest.mark.parametrize("tolerance", [1.0, 4.0])
@pytest.mark.parametrize("noise", ["pair", "full", 0.9])
def test_centroid_tests_against_the_mean_of_the_group_at_that_time(data, tolerance, noise):
    X, y = data
    model = LinCFA(strategy="centroid", tolerance=tolerance, noise=noise).fit(X, y)
    variance = {"pair": None, "full": full_noise(X, y)}.get(noise, noise)
    Z = standardised(X)
    sizes = []
    for number, group in enumerate(model.groups_):
        members = [group[0]]
        for row in model.evidence_[model.evidence_["group"] == number]:
            assert row["partner"] == group[0]
            mean, feature = mean_of(Z, members), Z[:, row["feature"]]
            assert_row(row, figures_of_pair(mean, feature, y, tolerance, variance))
            members.append(row["feature"])
        assert sorted(members) == group.tolist()
        sizes.append(len(members))
    assert max(sizes) > 2


def replay(model):
    """Merges made, each with the members of its two groups and its row of the evidence."""
    rows = {row["feature"]: row for row in model.evidence_}
    groups = {i: [i] for i in np.flatnonzero(model.labels_ >= 0)}
    for merge in model.merge_path_[: model.evidence_.size]:
        yield merge, dict(groups), rows[merge["second"]]
        groups[merge["first"]] = groups[merge["first"]] + groups.pop(merge["second"])
    assert sorted(map(sorted, groups.values())) == [group.tolist() for group in model.groups_]


@pytest.mark.parametrize("tolerance", [1.0, 4.0])
@pytest.mark.parametrize("noise", ["pair", "full", 0.9])
def test_agglomerative_compares_means_of_two_groups(data, tolerance, noise):
    X, y = data
    model = LinCFA(strategy="agglomerative", tolerance=tolerance, noise=noise).fit(X, y)
    variance = {"pair": None, "full": full_noise(X, y)}.get(noise, noise)
    Z = standardised(X)
    assert model.evidence_.size >= 4
    for merge, groups, row in replay(model):
        assert row["partner"] == merge["first"]
        first, second = (mean_of(Z, groups[merge[name]]) for name in ("first", "second"))
        assert_row(row, figures_of_pair(first, second, y, tolerance, variance))


def assert_row_of_a_regression(row, groups, Z, y, noise):
    """The growth is the squared distance of two nested fits: their difference of residuals."""
    n, d, variance = len(y), len(groups), y.var(ddof=1)
    sums = {i: Z[:, members].sum(axis=1) for i, members in groups.items()}
    first, second = row["partner"], row["feature"]
    others = [column for i, column in sums.items() if i not in (first, second)]
    full, restricted = fitted(sums.values(), y), fitted([sums[first] + sums[second], *others], y)
    left, more = np.sum((y - full) ** 2), np.sum((y - restricted) ** 2)
    growth = (more - left) / (n - 1)
    drop = (left / (n - 1 - d) if noise is None else noise) / (n - 1)
    assert np.isnan(row["threshold"])
    expected = {
        "correlation": correlation(sums[first], sums[second]),
        "f": growth / drop,
        "variance_drop": drop,
        "bias_growth": growth,
        "gain": drop - growth,
    }
    expected |= {f"{name}_share": expected[name] / variance for name in IN_UNITS}
    for name, value in expected.items():
        # The least growths are differences of residuals ten thousand times as large.
        assert row[name] == pytest.approx(value, rel=1e-6, abs=1e-9), name


@pytest.mark.parametrize("noise", ["pair", "full", 0.9])
def test_joint_compares_weights_in_the_regression_on_all_groups(data, noise):
    X, y = data
    model = LinCFA(strategy="joint", tolerance=4.0, noise=noise).fit(X, y)
    variance = {"pair": None, "full": full_noise(X, y)}.get(noise, noise)
    assert model.evidence_.size > 4
    assert (model.evidence_["f"] <= 4.0).all()
    assert (model.evidence_["tolerance"] == 4.0).all()
    for merge, groups, row in replay(model):
        assert not merge["pairwise"]
        assert_row_of_a_regression(row, groups, standardised(X), y, variance)


def test_merges_before_the_regression_are_marked_as_made_at_any_tolerance():
    X, y = draw(2, 40, 30)
    model = LinCFA(strategy="joint", tolerance=2.0).fit(X, y)
    Z = standardised(X)
    starts = 0
    for merge, groups, row in replay(model):
        if not merge["pairwise"]:
            assert_row_of_a_regression(row, groups, Z, y, None)
            assert row["f"] <= row["tolerance"] == 2.0
            continue
        starts += 1
        first, second = (mean_of(Z, groups[merge[name]]) for name in ("first", "second"))
        expected = figures_of_pair(first, second, y)
        assert row["f"] > 0
        assert (row["tolerance"], row["threshold"]) == (np.inf, -np.inf)
        assert_row(row, {k: v for k, v in expected.items() if k not in ("tolerance", "threshold")})
    assert 0 < starts < model.evidence_.size
    assert model.evidence_["f"].max() > 2.0, "some start merge should be beyond the tolerance"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("factor", "offset"), [(1.0, 0.0), (1.8, 32.0)])
def test_duplicates_cost_nothing(data, strategy, factor, offset):
    """Also in another unit, where correlations with the target differ by rounding."""
    X, y = data
    X = np.column_stack([X[:, 0], X[:, 5], factor * X[:, 0] + offset])
    model = LinCFA(strategy=strategy, tolerance=1e-6).fit(X, y)
    (row,) = model.evidence_
    assert (row["partner"], row["feature"]) == (0, 2)
    assert row["correlation"] == pytest.approx(1, abs=1e-13)
    assert (row["f"], row["bias_growth_share"], row["bias_growth"]) == (0, 0, 0)
    assert (row["threshold"], row["tolerance"]) == (-np.inf, 1e-6)
    assert row["gain"] == row["variance_drop"] > 0


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("unit", [1e3, 1e-150, 1e150])
def test_figures_in_the_unit_of_the_target(data, strategy, unit):
    X, y = data
    plain = LinCFA(strategy=strategy).fit(X, y).evidence_
    other = LinCFA(strategy=strategy).fit(X, unit * y).evidence_
    np.testing.assert_array_equal(plain["feature"], other["feature"])
    for name in ("correlation", "f", "threshold", *SHARES):
        np.testing.assert_allclose(other[name], plain[name], rtol=1e-8, atol=1e-12)
    for name in IN_UNITS:
        np.testing.assert_allclose(other[name] / unit / unit, plain[name], rtol=1e-7, atol=1e-12)
        share = plain[f"{name}_share"]
        np.testing.assert_allclose(plain[name], share * y.var(ddof=1), rtol=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(("unit", "limit"), [(1e-170, 0.0), (1e160, np.inf)])
def test_squares_beyond_floating_point_are_limits(data, strategy, unit, limit):
    X, y = data
    evidence = LinCFA(strategy=strategy).fit(X, unit * y).evidence_
    assert (evidence["variance_drop"] == limit).all()
    assert (evidence["gain"] == np.sign(evidence["gain_share"]) * limit).all()
    assert (evidence["gain_share"] > 0).any()


@pytest.mark.parametrize("strategy", PATHS)
@pytest.mark.parametrize("shape", [(100, 12), (40, 30)])
def test_a_cut_gives_the_evidence_of_a_fit(strategy, shape):
    X, y = draw(7, *shape)
    model = LinCFA(strategy=strategy).fit(X, y)
    for tolerance in (0.3, 5.0, "unbiased"):
        fit = LinCFA(strategy=strategy, tolerance=tolerance).fit(X, y)
        assert_same_evidence(model.cut(tolerance=tolerance).evidence_, fit.evidence_)
    for n_groups in (1, 5, shape[1]):
        fit = LinCFA(strategy=strategy, n_groups=n_groups).fit(X, y)
        assert_same_evidence(model.cut(n_groups=n_groups).evidence_, fit.evidence_)


@pytest.mark.parametrize("strategy", PATHS)
def test_a_number_of_groups_stands_for_the_least_tolerance_that_gives_it(data, strategy):
    model = LinCFA(strategy=strategy, n_groups=4).fit(*data)
    tolerance = model.evidence_["f"].max()
    assert (model.evidence_["tolerance"] == tolerance).all()
    assert_same_evidence(model.evidence_, model.cut(tolerance=tolerance).evidence_)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_evidence_frame(data, library):
    X, y = data
    wavelengths = [1550.5 + 0.5 * i for i in range(12)]
    letters = list("abcdefghijkl")
    tables = [
        (X, [f"x{i}" for i in range(12)]),
        (pd.DataFrame(X), [f"x{i}" for i in range(12)]),
        (pd.DataFrame(X, columns=letters), letters),
        (pl.DataFrame(X, schema=letters), letters),
        (pd.DataFrame(X, columns=wavelengths), list(map(str, wavelengths))),
    ]
    for table, names in tables:
        model = LinCFA().fit(table, y)
        frame = model.evidence_frame(library)
        assert type(frame).__module__.split(".")[0] == library
        assert list(frame.columns) == list(model.evidence_.dtype.names)
        for role in ("feature", "partner"):
            assert list(frame[role]) == [names[i] for i in model.evidence_[role]]
        for name in set(frame.columns) - {"feature", "partner"}:
            np.testing.assert_array_equal(frame[name].to_numpy(), model.evidence_[name])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_says_what_to_install(data, monkeypatch, library):
    model = LinCFA().fit(*data)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=rf"needs {library}: pip install 'lincfa\[tables\]'"):
        model.evidence_frame(library)


def test_a_merge_in_words():
    X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    evidence = LinCFA().fit(X, y).evidence_
    assert describe_merge(evidence[0], "x0", "sequential") == (
        "with x0: correlation 0.923, required 0.727; lowers the mean squared error by 0.173 % of "
        "the target's variance (F = 0.282 ≤ 1)"
    )


@pytest.mark.parametrize("n_groups", range(4, 12))
def test_the_last_merge_to_a_number_of_groups_is_exactly_at_its_tolerance(n_groups):
    X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    evidence = LinCFA(strategy="agglomerative", n_groups=n_groups).fit(X, y).evidence_
    last = evidence[(evidence["f"] == evidence["tolerance"]) & (evidence["threshold"] > -1)]
    assert last.size
    for row in last:
        rho = decimals(float(row["correlation"]))
        assert f": correlation {rho}, required {rho};" in describe_merge(row, "x0", "agglomerative")
