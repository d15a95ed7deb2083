"""Features that cannot join the mean of a group are left out, and no others."""

import numpy as np
import pandas as pd
import pytest

import literal_strategies as literal
from lincfa import LinCFA
from lincfa._grouping import _centroid
from lincfa._rule import Rule, pair_contrasts
from literal_strategies import CLEAR, NEAR, assert_same_walk
from reference import (
    array_statistics,
    duplicates,
    explained,
    field,
    many_factors,
    mirrored,
    noise_only,
    tree,
)

FAMILIES = [noise_only, tree, field, duplicates, mirrored, explained, many_factors]
RULES = [
    {},
    {"tolerance": 0.1},
    {"tolerance": 30.0},
    {"signed": True, "tolerance": 2.0},
    {"min_correlation": 0.3, "tolerance": 4.0},
    {"signed": True, "min_correlation": 0.2, "tolerance": 4.0},
    {"noise": 0.5},
    {"targets": 3, "tolerance": 2.0},
    {"targets": 2, "signed": True, "noise": 2.0},
    {"weighted": True, "signed": True, "tolerance": 2.0},
]


@pytest.fixture(params=["plain", "compiled"])
def way(request, monkeypatch):
    """Loops in Python and compiled ones, both in small pieces."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        monkeypatch.setattr("lincfa._statistics._speed._WORTH_COMPILING", 0)
    monkeypatch.setattr(_centroid, "_FEWEST_COLUMNS", 2)
    monkeypatch.setattr(_centroid, "_MOST_COLUMNS", 5)
    monkeypatch.setattr(_centroid, "_AHEAD", 11)
    return request.param


def draw(family, rules, seed, n, D):
    """Data, and the parameters for the model and for its judge."""
    rules, rng = dict(rules), np.random.default_rng([seed, FAMILIES.index(family)])
    X, y = family(rng, n, D)
    targets = rules.pop("targets", 1)
    if targets > 1:
        y = y[:, None] + y.std() * rng.normal(size=(n, targets))
    if "noise" in rules:
        rules["noise"] *= y.var()
    judged = dict(rules)
    if rules.pop("weighted", False):
        judged["weights"] = rules["feature_weights"] = rng.uniform(0.3, 2.0, size=X.shape[1])
        del judged["weighted"]
    return X, y, LinCFA(strategy="centroid", **rules), judged


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("family", FAMILIES)
def test_as_literally(way, family, rules):
    """Whatever is left out because it cannot pass."""
    judged = 0
    for seed, n in enumerate((12, 40, 70, 200) * 3):
        X, y, model, parameters = draw(family, rules, seed, n, 18)
        expected = literal.centroid(X, y, **parameters)
        # The mean of a column and its mirror image is rounding.
        vanishes = any(rho < NEAR - 1 for *_, rho, _ in expected.joined)
        if vanishes or expected.clear <= CLEAR:
            continue
        judged += 1
        for order in "CF":
            assert_same_walk(model.fit(np.asarray(X, order=order), y), expected)
        if judged == 4:
            return
    assert judged, "rounding decides in all cases: take other seeds"


# Equal columns


def copies_of(rng, types, signed):
    """Copies in other units, each rounded to its type, and a target that knows them apart."""
    x = rng.normal(size=60)
    factors = rng.uniform(0.3, 3, size=len(types)) * (
        rng.choice([-1, 1], len(types)) if signed else 1
    )
    X = np.outer(x, factors) + rng.uniform(-60, 60, size=len(types))
    frame = pd.DataFrame({str(i): X[:, i].astype(each) for i, each in enumerate(types)})
    Z = literal.standardised(frame.to_numpy(dtype=float)) * np.sign(factors)
    return frame, (Z - x[:, None]) @ rng.normal(size=len(types)) + 1e-12 * rng.normal(size=60)


@pytest.mark.parametrize(
    "structure", [{}, {"connectivity": "chain"}, {"missing": "pairwise"}], ids=str
)
@pytest.mark.parametrize(
    "rules", [{}, {"signed": True}, {"weighted": True}, {"min_correlation": 1}]
)
@pytest.mark.parametrize(
    "types",
    [["f2"] * 12, ["f4"] * 12, ["f8", "f2", "f8", "f4"] * 3, ["f2", "f8", "f8", "f2", "f4"] * 2],
    ids="-".join,
)
def test_copies_join_a_group_of_copies(way, types, rules, structure):
    """Also exact ones after coarse ones, which moved the mean by more than their own rounding."""
    rules = dict(rules)
    weighted = rules.pop("weighted", False)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y = copies_of(rng, types, rules.get("signed"))
        if "missing" in structure:
            X = X.mask(rng.random(X.shape) < 0.02)
        if weighted:
            rules["feature_weights"] = rng.uniform(0.3, 2.0, size=len(types))
        model = LinCFA(strategy="centroid", tolerance=1e-3, **rules, **structure).fit(X, y)
        assert model.n_groups_ == 1
        assert (model.evidence_["f"] == 0).all()
        assert (model.evidence_["correlation"] == 1).all()
        np.testing.assert_array_equal(model.signs_, np.sign(X.astype(float).corr()["0"]))


@pytest.mark.parametrize("units", [2, 4])
def test_columns_that_differ_by_more_than_their_rounding_are_no_copies(way, units):
    """F is that of the sequential strategy, which looks at the columns."""
    rng = np.random.default_rng(6)
    x = (1.6e4 + rng.normal(size=60)).astype(np.float32)
    step = rng.choice([-1, 1], size=60).astype(np.float32)
    X = np.column_stack([x, x + units * np.spacing(x) * step])
    y = rng.normal(size=60) + (X[:, 1].astype(float) - x) / np.spacing(x[0])
    assert LinCFA(strategy="centroid").fit(X, y).n_groups_ == 2
    own, pair = (
        LinCFA(strategy=strategy, tolerance=1e12).fit(X, y).evidence_["f"]
        for strategy in ("centroid", "sequential")
    )
    np.testing.assert_allclose(own, pair, rtol=1e-6)
    assert pair > 1


def test_a_copy_of_one_member_is_compared_with_the_mean(way):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3)).astype(np.float16)
        X[:, 2] = np.float16(1.8) * X[:, 0]
        model = LinCFA(strategy="centroid", tolerance=1e6).fit(X, rng.normal(size=60))
        Z = literal.standardised(X.astype(float))
        rho = literal.correlation(literal.mean_of(Z, [0, 1]), Z[:, 2])
        np.testing.assert_allclose(model.evidence_["correlation"][1], rho, rtol=1e-12)
        assert model.evidence_["f"][1] > 0


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("family", [noise_only, tree, field, many_factors])
def test_compiled_like_plain(family, rules, monkeypatch):
    """Groups of many members, through several selections of candidates."""
    pytest.importorskip("numba")
    monkeypatch.setattr(_centroid, "_AHEAD", 150)
    for order in "CF":
        X, y, model, _ = draw(family, rules, 7, 60, 500)
        X = np.asarray(X, order=order)
        plain = model.fit(X, y)
        labels, evidence = plain.labels_, plain.evidence_
        monkeypatch.setattr("lincfa._statistics._speed._WORTH_COMPILING", 0)
        model.fit(X, y)
        monkeypatch.undo()
        np.testing.assert_array_equal(model.labels_, labels)
        for name in ("feature", "partner", "sign"):
            np.testing.assert_array_equal(model.evidence_[name], evidence[name])
        for name in ("correlation", "f"):
            np.testing.assert_allclose(
                model.evidence_[name], evidence[name], rtol=1e-7, atol=1e-9, err_msg=name
            )


def pairs_near_the_limit(rng, size):
    """Correlations of pairs, many of them as different as ρ allows: the target between them."""
    share = rng.choice([0.0, 1e-9, 1e-4, 0.1, 1.0], size=size)
    angle = np.pi * rng.beta(0.5, 0.5, size=size)
    apart = np.pi * rng.beta(0.5, 0.5, size=size) * rng.choice([1e-3, 0.03, 1.0], size=size)
    # Two features at some angles from the target, whose planes with it are nearly opposite.
    one, other = angle, np.clip(apart - angle, -np.pi, np.pi)
    turn = np.pi * (1 - share * rng.uniform(size=size))
    rho = np.cos(one) * np.cos(other) + np.sin(one) * np.abs(np.sin(other)) * np.cos(turn)
    return np.cos(one), np.cos(other), np.clip(rho, -1, 1)


@pytest.mark.parametrize("n", [8, 30, 1000, 10**6])
@pytest.mark.parametrize("signed", [False, True])
def test_what_passes_is_within_reach(n, signed):
    """And the compiled test of r alone lets it pass."""
    pytest.importorskip("numba")
    from lincfa._grouping._loops import PairRule, can_pass

    rng, passed = np.random.default_rng(n), 0
    statistics = array_statistics(*noise_only(rng, 10, 3))
    for tolerance, lowest in ((1.0, -1.0), (0.1, -1.0), (1.5, 0.3), (5.0, -0.5)):
        rule = Rule(n, tolerance, min_correlation=lowest, signed=signed)
        reach = _centroid._Reach(statistics, rule)
        for r1, r2, rho in np.transpose(pairs_near_the_limit(rng, 3000)).tolist():
            contrasts = pair_contrasts([r1], [r2])
            f, sign = rule.better_sign(rho, contrasts, n, 0.0)
            if f > tolerance:
                continue
            passed += 1
            near = abs(abs(r1) - abs(r2)) if signed else abs(r1 - r2)
            assert near <= reach.of(r1)
            assert near <= reach.of(r2)
            differences, _, totals = contrasts if sign > 0 else contrasts[::-1]
            assert can_pass.py_func(differences, totals, 0.0, PairRule.of(rule))
    assert passed > 100


def test_the_reach_is_tight():
    """Features that are least correlated with each other, as r allows, pass up to it."""
    rule = Rule(1000, 1.0)
    for r in (0.3, 0.9, 0.99):
        other = r - (1 - r) * rule.reach()
        rho = r * other - (997 * (r - other) ** 2) / 4
        f = rule.f_of_pair(rho, pair_contrasts([r], [other]), 1000)
        np.testing.assert_allclose(f, 1.0, rtol=1e-6)


def test_the_reach_of_a_group_that_moves():
    X, y = tree(np.random.default_rng(0), 60, 5)
    for tolerance in (0.1, 1.0, 50.0):
        reach = _centroid._Reach(array_statistics(X, y), Rule(60, tolerance))
        for r in np.linspace(-1, 1, 21):
            for moved in (0.01, 0.3):
                for later in r + moved * np.linspace(-1, 1, 9):
                    assert reach.of(later) + abs(r - later) <= reach.of(r, moved) + 1e-12
