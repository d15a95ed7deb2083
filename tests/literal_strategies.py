"""The strategies beyond Algorithm 1, transcribed literally: least squares on actual columns.

The judge of the library's other groupings. Slow on purpose; shares no code with the library. Every
result says how clear it was: the smallest relative distance at which another figure would have led
to another decision. Where that is small, rounding may decide, and a test should take another seed.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

COINCIDE = 1e-13  # 1 − ρ of columns that differ by rounding only
CLEAR = 1e-6  # relative distance of figures below which rounding may decide


class Merge(NamedTuple):
    first: int
    second: int
    size: int
    correlation: float
    f: float


class Walk(NamedTuple):
    groups: list
    joined: list  # (feature, seed, correlation, F) by group, in the order of joining
    clear: float


class Path(NamedTuple):
    merges: list
    clear: float


# Regressions


def fitted(columns, y):
    """Fitted values of least squares with an intercept."""
    design = np.column_stack([np.ones(len(y)), *columns])
    return design @ np.linalg.lstsq(design, y, rcond=None)[0]


def f_of_fits(full, restricted, y, degrees, noise):
    """(RSS of the restricted model − RSS) / variance of the noise.

    The models are nested, so the difference is the squared distance of their fits, which has no
    cancellation. ``noise`` is None for the residual variance of the full model.
    """
    growth = np.sum((full - restricted) ** 2)
    variance = np.sum((y - full) ** 2) / degrees if noise is None else noise
    return growth / variance


def full_noise(X, y):
    """Residual variance of the regression on all features."""
    design = np.column_stack([np.ones(len(y)), X])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return residual @ residual / (len(y) - np.linalg.matrix_rank(design))


def f_of_pair(first, second, y, noise=None):
    """F for equal weights in the regression on two columns."""
    if 1 - correlation(first, second) <= COINCIDE:
        return 0.0
    full, restricted = fitted([first, second], y), fitted([first + second], y)
    return f_of_fits(full, restricted, y, len(y) - 3, noise)


# Columns


def correlation(first, second):
    return np.corrcoef(first, second)[0, 1]


def standardised(X):
    X = X - X.mean(axis=0)
    return X / X.std(axis=0, ddof=1)


def mean_of(Z, members):
    """Mean of standardised features, standardised again."""
    return standardised(Z[:, members].mean(axis=1))


def varying_columns(X):
    return [i for i in range(X.shape[1]) if np.ptp(X[:, i]) > 0]


def columns_of(X):
    """Standardised columns, with NaN in place of constant ones, which nobody should touch."""
    Z = np.full(X.shape, np.nan)
    varying = varying_columns(X)
    Z[:, varying] = standardised(X[:, varying])
    return Z


# The strategies


def everything(group, other):
    """Whether two groups may merge, where there is no rule about it."""
    return True


def sequential(X, y, tolerance=1.0, noise=None, allowed=everything):
    """Algorithm 1, through neighbours of members where ``allowed`` says which are neighbours."""
    Z = columns_of(X)
    free = varying_columns(X)
    groups, joined, clear = [], [], np.inf
    while free:
        seed = free.pop(0)
        group = [seed]
        grew = True
        while grew:
            grew = False
            for candidate in [c for c in free if allowed(group, [c])]:
                f = f_of_pair(Z[:, seed], Z[:, candidate], y, noise)
                clear = min(clear, abs(f - tolerance) / tolerance)
                if f <= tolerance:
                    group.append(candidate)
                    free.remove(candidate)
                    joined.append((candidate, seed, correlation(Z[:, seed], Z[:, candidate]), f))
                    grew = True
        groups.append(sorted(group))
    by_group = {seed[0]: number for number, seed in enumerate(groups)}
    joined.sort(key=lambda merge: (by_group[merge[1]], merge[0]))
    return Walk(groups, joined, clear)


def centroid(X, y, tolerance=1.0, min_correlation=None, noise=None, allowed=everything):
    Z = columns_of(X)
    lowest = -np.inf if min_correlation is None else min_correlation
    free = varying_columns(X)
    groups, joined, clear = [], [], np.inf
    while free:
        seed = free.pop(0)
        group = [seed]
        grew = True
        while grew:
            grew = False
            for candidate in list(free):
                if not allowed(group, [candidate]):
                    continue
                mean = mean_of(Z, group)
                f = f_of_pair(mean, Z[:, candidate], y, noise)
                rho = correlation(mean, Z[:, candidate])
                clear = min(clear, abs(f - tolerance) / tolerance, abs(rho - lowest))
                if f <= tolerance and rho >= lowest:
                    group.append(candidate)
                    free.remove(candidate)
                    joined.append((candidate, seed, rho, f))
                    grew = True
        groups.append(sorted(group))
    return Walk(groups, joined, clear)


def agglomerative(
    X, y, min_correlation=None, noise=None, n_groups=1, most_correlated_up_to=0, allowed=everything
):
    """All merges down to a number of groups; copies first, of which any order is as good.

    Pairs with an F of at most ``most_correlated_up_to`` go before others, by their correlation.
    """
    Z = columns_of(X)
    groups = {i: [i] for i in varying_columns(X)}
    merges, clear = [], np.inf
    for i, j in combinations(list(groups), 2):
        there = i in groups and j in groups and allowed(groups[i], groups[j])
        if there and 1 - correlation(Z[:, i], Z[:, j]) <= COINCIDE:
            merges.append(join(groups, i, j, 1.0, 0.0))
    means = {i: mean_of(Z, members) for i, members in groups.items()}
    figures = {}  # of all pairs; those of a merged group are replaced
    while len(groups) > n_groups:
        for i, j in combinations(sorted(groups), 2):
            if (i, j) not in figures and allowed(groups[i], groups[j]):
                rho = correlation(means[i], means[j])
                figures[i, j] = f_of_pair(means[i], means[j], y, noise), rho
        best, gap = first_in_order(figures, min_correlation, most_correlated_up_to)
        if best is None:
            break
        clear = min(clear, gap)
        f, rho = figures[best]
        merges.append(join(groups, *best, rho, f))
        means[best[0]] = mean_of(Z, groups[best[0]])
        figures = {pair: value for pair, value in figures.items() if not set(pair) & set(best)}
    return Path(merges, clear)


def joint(X, y, min_correlation=None, noise=None, start=None, n_groups=1, allowed=everything):
    """All merges; each pair of each step by a fit of its own. ``start`` skips the first stage."""
    n = len(y)
    Z = columns_of(X)
    if start is None:
        first = start_of_joint(X, y, min_correlation, noise, allowed)
        groups = groups_after(X, first.merges)
        merges, clear = list(first.merges), first.clear
    else:
        groups, merges, clear = {min(g): sorted(g) for g in start}, [], np.inf
    while len(groups) > n_groups:
        sums = {i: Z[:, members].sum(axis=1) for i, members in groups.items()}
        full = fitted(sums.values(), y)
        figures = {}
        for i, j in combinations(sorted(groups), 2):
            if not allowed(groups[i], groups[j]):
                continue
            others = [column for k, column in sums.items() if k not in (i, j)]
            restricted = fitted([sums[i] + sums[j], *others], y)
            f = f_of_fits(full, restricted, y, n - 1 - len(groups), noise)
            figures[i, j] = f, correlation(sums[i], sums[j])
        best, gap = smallest(figures, min_correlation)
        if best is None:
            break
        clear = min(clear, gap)
        f, rho = figures[best]
        merges.append(join(groups, *best, rho, f))
    return Path(merges, clear)


def start_of_joint(X, y, min_correlation=None, noise=None, allowed=everything):
    """Pairwise merges before the regression; the number by generalised cross-validation."""
    n = len(y)
    rules = {"min_correlation": min_correlation, "noise": noise, "allowed": allowed}
    copies = agglomerative(X, y, n_groups=len(varying_columns(X)), **rules)
    n_features = len(varying_columns(X))
    if n_features - len(copies.merges) <= 0.25 * n:
        return copies
    Z = columns_of(X)
    sizes = [max(1, int(share * n)) for share in (0.6, 0.45, 0.3, 0.2, 0.1, 0.05)]
    found, clear = [], np.inf
    for up_to in (4.0, np.inf):
        path = agglomerative(X, y, n_groups=sizes[-1], most_correlated_up_to=up_to, **rules)
        clear = min(clear, path.clear)
        most, fewest = n_features - len(copies.merges), n_features - len(path.merges)
        tried = {max(fewest, min(most, size)) for size in sizes}
        for size in sorted(tried, reverse=True):
            if size > n - 3:
                continue
            merges = path.merges[: n_features - size]
            sums = [Z[:, members].sum(axis=1) for members in groups_after(X, merges).values()]
            error = np.sum((y - fitted(sums, y)) ** 2) / (n - 1 - size) ** 2
            found.append((error, merges))
    # Both orders may come to the same groups, and so to the same error: the first counts.
    least = min(error for error, _ in found)
    merges = next(merges for error, merges in found if error <= least * (1 + 1e-9))
    others = [error for error, _ in found if error > least * (1 + 1e-9)]
    gap = min(others) / least - 1 if others else np.inf
    return Path(merges, min(clear, gap))


def join(groups, first, second, rho, f):
    groups[first] = sorted(groups[first] + groups.pop(second))
    return Merge(first, second, len(groups[first]), rho, f)


def smallest(figures, min_correlation):
    """Pair with the smallest F, and by what share the next one is larger."""
    lowest = -np.inf if min_correlation is None else min_correlation
    nearness = min((abs(rho - lowest) for _, rho in figures.values()), default=np.inf)
    ranked = sorted((f, pair) for pair, (f, rho) in figures.items() if rho >= lowest)
    if not ranked:
        return None, nearness
    gap = np.inf if len(ranked) == 1 else (ranked[1][0] - ranked[0][0]) / ranked[1][0]
    return ranked[0][1], min(gap, nearness)


def first_in_order(figures, min_correlation, most_correlated_up_to):
    """The most correlated pair of those with a small F; where there is none, the smallest F."""
    lowest = -np.inf if min_correlation is None else min_correlation
    small = {pair: rho for pair, (f, rho) in figures.items() if f <= most_correlated_up_to}
    ranked = sorted((1 - rho, pair) for pair, rho in small.items() if rho >= lowest)
    if not ranked:
        return smallest(figures, min_correlation)
    gap = np.inf if len(ranked) == 1 else (ranked[1][0] - ranked[0][0]) / ranked[1][0]
    return ranked[0][1], min(gap, min(abs(f - most_correlated_up_to) for f, _ in figures.values()))


# Partitions


def groups_after(X, merges):
    """Groups by first member, after some merges."""
    groups = {i: [i] for i in varying_columns(X)}
    for merge in merges:
        join(groups, merge.first, merge.second, merge.correlation, merge.f)
    return groups


def groups_at(X, merges, tolerance, n_free=0):
    """Groups at which the smallest F exceeds the tolerance for the first time.

    The first ``n_free`` merges are made at every tolerance.
    """
    made = n_free
    while made < len(merges) and merges[made].f <= tolerance:
        made += 1
    return sorted(groups_after(X, merges[:made]).values())


# The library's result against the literal one


def assert_same_walk(model, expected, rtol=1e-6):
    assert expected.clear > CLEAR, "too near to the tolerance to be judged: take another seed"
    assert [group.tolist() for group in model.groups_] == expected.groups
    features, seeds, rho, f = zip(*expected.joined, strict=True) if expected.joined else [()] * 4
    np.testing.assert_array_equal(model.evidence_["feature"], features)
    np.testing.assert_array_equal(model.evidence_["partner"], seeds)
    np.testing.assert_allclose(model.evidence_["correlation"], rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.evidence_["f"], f, rtol=rtol, atol=1e-9)


def assert_same_path(merges, expected, rtol=1e-6):
    assert expected.clear > CLEAR, "two pairs too near to each other to be judged"
    expected = np.array(expected.merges, dtype=object).reshape(-1, 5)
    for column, name in enumerate(["first", "second", "size"]):
        np.testing.assert_array_equal(merges[name], expected[:, column].astype(int))
    rho, f = expected[:, 3].astype(float), expected[:, 4].astype(float)
    np.testing.assert_allclose(merges["correlation"], rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(merges["f"], f, rtol=rtol, atol=1e-9)
