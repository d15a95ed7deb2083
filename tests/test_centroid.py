"""Features that cannot join the mean of a group are left out, and no others."""

import numpy as np
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
            assert can_pass.py_func(differences, totals, PairRule.of(rule))
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
