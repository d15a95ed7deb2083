"""Signs, missing values and weights of features, alone and together, against the literal judge."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import literal_strategies as literal
from graphs import restricted
from lincfa import LinCFA
from literal_strategies import (
    CLEAR,
    PATHS,
    Comparisons,
    assert_as_literally,
    assert_same_path,
    literally,
)
from reference import noise_only
from signs_gaps_weights import (
    copies,
    dependent_target,
    every_strategy,
    factors,
    few_samples,
    in_float32,
    make,
    mirror_images,
)

KINDS = {
    "signed": {"signed"},
    "weights": {"weights"},
    "gaps": {"gaps"},
    "signed gaps": {"signed", "gaps"},
    "weighted gaps": {"weights", "gaps"},
    "all": {"signed", "weights", "gaps"},
}
RULES = [
    {"tolerance": 1.0},
    {"tolerance": 4.0, "min_correlation": 0.3},
    {"tolerance": 0.5, "noise": 0.3},  # of the variance of the target
]
TRIES = 4
"""Seeds that are tried to find one where rounding cannot decide; none needs more than a few."""

ENOUGH = 300
"""Samples of which the correlations in pairs are those of columns, also with gaps."""


def families(strategy, kind, structure):
    """What is compared.

    With gaps "joint" needs a matrix of correlations that is far from singular. Copies that are kept
    apart by a structure give ties. Without signs the mean of mirror images has no variance.
    """
    if strategy == "joint" and "gaps" in kind:
        return [factors, noise_only, in_float32]
    if structure != "free":
        return [factors, few_samples, dependent_target]
    chosen = [factors, noise_only, few_samples, in_float32, dependent_target, copies]
    return [*chosen, mirror_images] if "signed" in kind else chosen


@pytest.mark.parametrize("structure", ["free", "chain", "blocks"])
@pytest.mark.parametrize("kind", KINDS)
@every_strategy
def test_as_literally(strategy, kind, structure):
    """One data set of each family for each of the rules, and never fewer."""
    kind = KINDS[kind]
    n = ENOUGH if strategy == "joint" and "gaps" in kind else 60
    compared = 0
    for family in families(strategy, kind, structure):
        for rule, seed in enumerate(range(0, TRIES * len(RULES), TRIES)):
            for attempt in range(seed, seed + TRIES):
                X, y, weights = make(family, n, gaps="gaps" in kind, seed=attempt)
                structural, allowed = restricted(structure, X.shape[1])
                rules = dict(RULES[rule])
                if "noise" in rules:
                    rules["noise"] *= y.var()
                weights = weights if "weights" in kind else None
                signed = "signed" in kind
                literal_rules = {**rules, "signed": signed, "weights": weights, "allowed": allowed}
                expected = literally(strategy, X, y, **literal_rules)
                if expected.clear > CLEAR:
                    break
            missing = "pairwise" if "gaps" in kind else "error"
            options = {"signed": signed, "feature_weights": weights, "missing": missing}
            model = LinCFA(strategy=strategy, **structural, **rules, **options).fit(X, y)
            assert_as_literally(model, expected, X, y, **literal_rules)
            compared += 1
    assert compared == len(RULES) * len(families(strategy, kind, structure))


@pytest.mark.parametrize("kind", ["signed", "weights", "all"])
def test_joint_from_groups_of_many_features(kind):
    """More features than a quarter of the samples, also with gaps: the start is pairwise."""
    gaps = "gaps" in KINDS[kind]
    compared = 0
    for seed in range(TRIES):
        X, y, weights = make(noise_only, 100, 30, gaps=gaps, seed=seed)
        rules = {
            "signed": "signed" in KINDS[kind],
            "weights": weights if "weights" in KINDS[kind] else None,
        }
        expected = literal.joint(X, y, n_groups=15, **rules)
        if expected.clear <= CLEAR:
            continue
        model = LinCFA(
            strategy="joint",
            signed=rules["signed"],
            feature_weights=rules["weights"],
            missing="pairwise" if gaps else "error",
        ).fit(X, y)
        assert_same_path(model.merge_path_[: len(expected.merges)], expected)
        compared += 1
        break
    assert compared == 1


# The judge itself


def all_verdicts(table, size):
    """Of features, which have their own sign, and of groups of two and three."""
    groups = [[i] for i in range(size) if table.signs[i] > 0] + [[0, 3], [1, 4, 5]]
    return [
        table.verdict(group, other)
        for group, other in combinations(groups, 2)
        if not set(group) & set(other)
    ]


def assert_same_verdicts(some, others):
    for one, two in zip(some, others, strict=True):
        assert one.sign == two.sign
        np.testing.assert_allclose(one[1:3], two[1:3], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("noise", [None, 0.7])
@pytest.mark.parametrize("signed", [False, True])
def test_averages_over_pairs_are_those_of_columns(signed, noise):
    """Where nothing is missing, sums over pairs are what the mean itself gives."""
    X, y, weights = make(factors, 40, 8)
    tables = [Comparisons(X, y, noise, None, signed, weights) for _ in range(2)]
    for table in tables:
        table.signs[[3, 5]] = -1 if signed else 1
    tables[1].complete = False
    assert_same_verdicts(*(all_verdicts(table, 8) for table in tables))


@pytest.mark.parametrize("noise", [None, 0.7])
def test_columns_with_the_same_correlations_give_the_same_joint_merges(noise):
    X, y, weights = make(factors, 60, 8)
    gappy = np.vstack([X, np.full((1, 8), np.nan)])  # a row that no pair has
    target = np.append(y, y.mean())
    scaled = None if noise is None else noise * target.var(ddof=1) / y.var(ddof=1)
    for rules in ({}, {"signed": True}, {"signed": True, "weights": weights}):
        one = literal.joint(X, y, noise=noise, **rules)
        two = literal.joint(gappy, target, noise=scaled, **rules)
        assert [merge[:4] for merge in one.merges] == [merge[:4] for merge in two.merges]
        for column in (4, 5):
            values = [[merge[column] for merge in path.merges] for path in (one, two)]
            np.testing.assert_allclose(*values, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("ratio", [1.0, 0.2, 7.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_least_squares_and_closed_form(ratio, sign):
    """Δ and 1 − R² with q = (a − b)/(a + b), against regressions on columns."""
    X, y, _ = make(factors, 30, 6)
    Z = literal.standardised(X)
    q = (ratio - 1) / (ratio + 1)
    for i, j in combinations(range(6), 2):
        rho = sign * literal.correlation(Z[:, i], Z[:, j])
        r1, r2 = literal.correlation(Z[:, i], y), sign * literal.correlation(Z[:, j], y)
        growth = ((1 + rho) * (r1 - r2) - q * (1 - rho) * (r1 + r2)) ** 2
        growth /= 2 * (1 - rho**2) * ((1 + rho) + q**2 * (1 - rho))
        left = 1 - (r1 + r2) ** 2 / (2 * (1 + rho)) - (r1 - r2) ** 2 / (2 * (1 - rho))
        f = literal.f_of_pair(Z[:, i], sign * Z[:, j], y, weights=(ratio, 1.0))
        assert f == pytest.approx(27 * growth / left, rel=1e-9)
        r = np.array([r1, r2])
        again = literal.f_of_correlations(30, rho, r, np.array([ratio, 1.0]))
        assert f == pytest.approx(again, rel=1e-9)


def contrasts(matrix, r, factors_of_groups, n):
    """F of all pairs of groups by (β_g ∓ β_h)²/(s²·(A_gg + A_hh ∓ 2A_gh)), for both signs."""
    sums = factors_of_groups @ matrix @ factors_of_groups.T
    inverted = np.linalg.inv(sums)
    beta = inverted @ factors_of_groups @ r
    variance = (1 - r @ factors_of_groups.T @ beta) / (n - 1 - len(beta))
    norms = np.sqrt(np.diagonal(sums))
    found = {}
    for g, h in combinations(range(len(beta)), 2):
        for sign in (1, -1):
            width = inverted[g, g] + inverted[h, h] - 2 * sign * inverted[g, h]
            f = (beta[g] - sign * beta[h]) ** 2 / (variance * width)
            found[g, h, sign] = f, sign * sums[g, h] / (norms[g] * norms[h])
    return found


@pytest.mark.parametrize("gaps", [False, True])
def test_first_merges_by_the_formulas_of_regression(gaps):
    """All pairs of a small case by another way: correlations of pandas, and matrices."""
    X, y, weights = make(factors, ENOUGH, 6, gaps=gaps)
    frame = pd.DataFrame(X)
    matrix = frame.corr().to_numpy()
    r = frame.corrwith(pd.Series(y)).to_numpy()
    present = frame.notna().to_numpy().astype(float)
    counts = present.T @ present
    n = counts[np.triu_indices(6, 1)].mean()
    path = literal.joint(X, y, signed=True, weights=weights)
    groups = [[i] for i in range(6)]
    signs = np.ones(6)
    for merge in path.merges[:4]:
        factors_of_groups = np.array([np.isin(range(6), g) * weights * signs for g in groups])
        figures = contrasts(matrix, r, factors_of_groups, n)
        g, h, sign = min(figures, key=lambda key: figures[key][0])
        assert (groups[g][0], groups[h][0], sign) == merge[:3]
        f, rho = figures[g, h, sign]
        assert merge.f == pytest.approx(f, rel=1e-7, abs=1e-12)
        assert merge.correlation == pytest.approx(rho, abs=1e-11)
        signs[groups[h]] *= sign
        groups[g] = sorted(groups[g] + groups.pop(h))


@every_strategy
def test_flipped_columns_do_not_change_the_judgement(strategy):
    X, y, weights = make(factors, ENOUGH, gaps=True)
    flips = np.where(np.arange(12) % 3 == 1, -1, 1)
    rules = {"signed": True, "weights": weights, "tolerance": 2.0, "allowed": literal.everything}
    one, two = (literally(strategy, values, y, **rules) for values in (X, X * flips))
    if strategy in PATHS:
        assert [merge[:2] for merge in one.merges] == [merge[:2] for merge in two.merges]
        signs = [literal.signs_after(X, path.merges) for path in (one, two)]
        groups = literal.groups_after(X, one.merges)
    else:
        assert one.groups == two.groups
        signs, groups = [one.signs, two.signs], {group[0]: group for group in one.groups}
    for first, group in groups.items():
        np.testing.assert_array_equal(
            signs[0][group] * flips[group] * flips[first], signs[1][group]
        )
