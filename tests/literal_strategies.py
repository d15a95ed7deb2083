"""The strategies, transcribed literally: least squares on actual columns.

The judge of the library's groupings, also with several targets, signs, weights of features and
missing values. Slow on purpose; shares no code with the library. Every result says how clear it
was: the smallest distance at which another figure would have led to another decision, over the
error that the figure may have. Where that is not above 1, rounding may decide, and a test should
take another seed.

``share`` is the part of the samples that counts: in F and in the regression on all groups, n is
replaced by so many, of the samples that two features share 4 at least.

``y`` is one target or a column for each of several, which count equally: they are standardised, and
squares are summed over all of them.
"""

from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

COINCIDE = 1e-13  # 1 − ρ of columns that differ by rounding only
CLEAR = 1.0  # distance of figures, over their error, up to which rounding may decide
NEAR = 1e-6  # relative error that figures may have
EQUAL = 1e-12  # of two F up to this none is the smaller
TIE = 1e-9  # relative distance at which two F count as equal
BEYOND = 1e6  # F of means from averages over pairs that no regression could have
FEWEST_ROWS = 4  # on which two features are compared


class Figure(float):
    """A number, and how far rounding may have moved it."""

    def __new__(cls, value, error):
        self = super().__new__(cls, value)
        self.error = error
        return self

    @classmethod
    def of(cls, value):
        """A figure as the literal strategies know it."""
        return cls(value, max(NEAR * abs(value), EQUAL) if abs(value) < np.inf else EQUAL)


def apart(one, other, *errors):
    """How far two figures are from each other, over the larger of their errors."""
    if one == other or max(errors) == np.inf:
        return 0.0
    return abs(one - other) / max(errors) if max(errors) else np.inf


class Merge(NamedTuple):
    first: int
    second: int
    sign: int  # −1 where the second was flipped
    size: int
    correlation: float
    f: Figure


class Walk(NamedTuple):
    groups: list
    joined: list  # (feature, seed, sign, correlation, F) by group, in the order of joining
    clear: float
    signs: np.ndarray


class Path(NamedTuple):
    merges: list
    clear: float
    sure: int  # merges before the first that is not clear
    free: int = 0  # merges that are made at every tolerance


class Verdict(NamedTuple):
    """A comparison with the sign that it takes; F is infinite where none may merge."""

    sign: int
    correlation: Figure
    f: Figure
    clear: float


# Regressions


def fitted(columns, y):
    """Fitted values of least squares with an intercept."""
    design = np.column_stack([np.ones(len(y)), *columns])
    return design @ np.linalg.lstsq(design, y, rcond=None)[0]


def f_of_fits(full, restricted, y, degrees, noise):
    """(RSS of the restricted model − RSS) / variance of the noise, each summed over the targets.

    The models are nested, so the difference is the squared distance of their fits, which has no
    cancellation. ``noise`` is None for the residual variance of the full model.
    """
    growth = np.sum((full - restricted) ** 2)
    variance = np.sum((y - full) ** 2) / degrees if noise is None else noise
    return growth / variance


def full_noise(X, y):
    """Residual variance of the regression on all features, of each target."""
    design = np.column_stack([np.ones(len(y)), X])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return np.sum(residual**2, axis=0) / (len(y) - np.linalg.matrix_rank(design))


def f_of_pair(first, second, y, noise=None, weights=(1.0, 1.0), counted=None):
    """F for coefficients in the ratio of the weights, in the regression on two columns.

    ``counted`` is the number of samples in place of that of the rows.
    """
    if 1 - correlation(first, second) <= COINCIDE:
        return 0.0
    full = fitted([first, second], y)
    restricted = fitted([weights[0] * first + weights[1] * second], y)
    n = len(y) if counted is None else counted
    noise = None if noise is None else noise * (len(y) - 1) / (n - 1)
    return f_of_fits(full, restricted, y, n - 3, noise)


def f_of_correlations(n, rho, r, weights, noise_share=None):
    """The same where there are no columns, only correlations; ``r`` has a row for each feature.

    ``noise_share`` is the variance of the noise over that of the target, summed over the targets.
    What both explain beyond their weighted sum is what the combination explains that is
    uncorrelated with this sum.
    """
    if 1 - rho <= COINCIDE:
        return 0.0
    rho = max(rho, COINCIDE - 1)
    matrix = np.array([[1.0, rho], [rho, 1.0]])
    towards_first, towards_second = matrix @ weights
    other = np.array([towards_second, -towards_first])
    growth = np.sum((other @ r) ** 2) / (other @ matrix @ other)
    if noise_share is not None:
        return (n - 1) * growth / noise_share
    left = np.sum(1 - np.sum(r * np.linalg.solve(matrix, r), axis=0))
    return (n - 3) * growth / max(left, COINCIDE)


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
    """Those whose values differ, of the values that are present."""
    values = [column[~np.isnan(column)] for column in X.T]
    return [i for i, present in enumerate(values) if present.size and np.ptp(present) > 0]


def columns_of(X):
    """Standardised columns, with NaN in place of constant ones, which nobody should touch."""
    Z = np.full(X.shape, np.nan)
    varying = varying_columns(X)
    Z[:, varying] = standardised(X[:, varying])
    return Z


def indicators(labels):
    """A target for each class that is 1 in it; of two classes, for the second in sorted order."""
    columns = [labels == each for each in sorted(set(labels))]
    return np.column_stack(columns[1:] if len(columns) == 2 else columns).astype(float)


# Comparisons


class Comparisons:
    """How two groups compare, with the signs that their members have so far."""

    def __init__(
        self, X, y, noise=None, min_correlation=None, signed=False, weights=None, share=1.0
    ):
        self.X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float).reshape(len(y), -1)
        self.y = standardised(y)
        # The variance of the noise in the square of the unit of each target, as a sum of shares.
        self.noise = None if noise is None else np.sum(noise / y.var(axis=0, ddof=1))
        self.lowest = -np.inf if min_correlation is None else min_correlation
        self.possible = (1, -1) if signed else (1,)
        self.weights = np.ones(X.shape[1]) if weights is None else np.asarray(weights, dtype=float)
        self.signs = np.ones(X.shape[1], dtype=int)
        self.complete = not np.isnan(self.X).any()
        self.Z = columns_of(self.X) if self.complete else None
        self.pairs = {}  # what is known of two features with gaps
        self.share = share

    def counted(self, n):
        return max(self.share * n, FEWEST_ROWS) if self.share < 1 else n

    def verdict(self, group, other):
        """The sign with the smaller F, of those that the smallest correlation allows."""
        compare = self.on_columns if self.complete else self.on_pairs
        return self.choose(compare(list(group), list(other)))

    def choose(self, figures):
        """Choose of (F, correlation) by sign."""
        clear = min((abs(rho - self.lowest) / NEAR for _, rho in figures.values()), default=np.inf)
        figures = {sign: pair for sign, pair in figures.items() if pair[1] >= self.lowest}
        if not figures:
            return Verdict(1, Figure.of(np.nan), Figure.of(np.inf), clear)
        sign = min(figures, key=lambda sign: figures[sign][0])
        if len(figures) == 2:
            smaller, larger = sorted(f for f, _ in figures.values())
            if larger <= EQUAL:
                sign = 1 if figures[1][1] >= 0 else -1
            else:
                clear = min(clear, (larger - smaller) / (NEAR * larger))
        f, rho = figures[sign]
        return Verdict(sign, Figure(rho, max(NEAR * (1 - rho), EQUAL)), Figure.of(f), clear)

    def on_columns(self, group, other):
        """F and correlation by sign, of means that are columns."""
        first, second = self.mean(group), self.mean(other)
        weights = self.weights[group].mean(), self.weights[other].mean()
        return {
            sign: (
                f_of_pair(
                    first, sign * second, self.y, self.noise, weights, self.counted(len(self.y))
                ),
                correlation(first, sign * second),
            )
            for sign in self.possible
        }

    def mean(self, members):
        return standardised(self.sum(self.Z, members))

    def sum(self, Z, members):
        return Z[:, members] @ (self.weights * self.signs)[members]

    def on_pairs(self, group, other):
        """The same by averages over pairs of features, each on its own complete rows."""
        between = [[self.pair(i, k) for k in other] for i in group]
        if any(pair is None for row in between for pair in row):
            return {}
        if len(group) == len(other) == 1:
            return self.on_complete_rows(group[0], other[0])
        n, rho, r_group, r_other = (
            np.array([[pair[figure] for pair in row] for row in between]) for figure in range(4)
        )
        weights, factors = self.weights, self.weights * self.signs
        norms = [np.sqrt(self.square(members)) for members in (group, other)]
        n = np.average(n, weights=np.outer(weights[group], weights[other]))
        rho = np.clip(factors[group] @ rho @ factors[other] / np.prod(norms), -1, 1)
        r = np.array(
            [
                factors[group] @ np.average(r_group, axis=1, weights=weights[other]) / norms[0],
                factors[other] @ np.average(r_other, axis=0, weights=weights[group]) / norms[1],
            ]
        )
        both = np.array([weights[group].mean(), weights[other].mean()])
        figures = {}
        for sign in self.possible:
            f = f_of_correlations(self.counted(n), sign * rho, r * [[1], [sign]], both, self.noise)
            figures[sign] = f, sign * rho
        return figures

    def square(self, members):
        """Variance of the weighted sum of a group, from the correlations of its pairs."""
        matrix = [[1.0 if i == k else self.pair(i, k)[1] for k in members] for i in members]
        factors = (self.weights * self.signs)[members]
        return max(factors @ np.array(matrix) @ factors, COINCIDE)

    def pair(self, i, k):
        """n, ρ and the correlations with the targets of two features; None without a verdict."""
        if (i, k) not in self.pairs:
            columns = self.complete_rows(i, k)
            self.pairs[i, k] = None
            if columns is not None:
                first, second, y = columns
                r = ([correlation(feature, target) for target in y.T] for feature in columns[:2])
                self.pairs[i, k] = (len(y), correlation(first, second), *r)
        return self.pairs[i, k]

    def complete_rows(self, i, k):
        """Two features and the targets, standardised on the rows where both features are present.

        None for too few rows, or where one of them is constant.
        """
        present = ~np.isnan(self.X[:, [i, k]]).any(axis=1)
        columns = self.X[present, i], self.X[present, k], self.y[present]
        if present.sum() < FEWEST_ROWS or min(np.ptp(each, axis=0).min() for each in columns) == 0:
            return None
        return [standardised(each) for each in columns]

    def on_complete_rows(self, i, k):
        first, second, y = self.complete_rows(i, k)
        weights = self.weights[[i, k]]
        return {
            sign: (
                f_of_pair(first, sign * second, y, self.noise, weights, self.counted(len(y))),
                correlation(first, sign * second),
            )
            for sign in self.possible
        }

    def contrasts(self, groups, allowed):
        """Verdicts on pairs of groups by the regression on all of them: two fits for each pair."""
        Z, target, n, variance = self.regression
        sums = {i: self.sum(Z, members) for i, members in groups.items()}
        full = fitted(sums.values(), target)
        verdicts = {}
        for i, j in combinations(sorted(groups), 2):
            if not allowed(groups[i], groups[j]):
                continue
            others = [column for k, column in sums.items() if k not in (i, j)]
            figures = {}
            for sign in self.possible:
                restricted = fitted([sums[i] + sign * sums[j], *others], target)
                f = f_of_fits(full, restricted, target, n - 1 - len(groups), variance)
                figures[sign] = f, correlation(sums[i], sign * sums[j])
            verdicts[i, j] = self.choose(figures)
        return verdicts

    def unexplained(self, groups):
        """What the regression on all groups leaves of the targets."""
        Z, target, *_ = self.regression
        sums = [self.sum(Z, members) for members in groups.values()]
        return Figure.of(np.sum((target - fitted(sums, target)) ** 2))

    def n_of_regression(self):
        """Number of samples that it counts with."""
        return self.regression[2]

    @cached_property
    def regression(self):
        """Columns, targets, number of samples and noise for the regression on all groups.

        With gaps there are no such columns, but others have the same correlations with each other
        and with each target as the features have in pairs, if there are any: if their matrix is
        positive definite, and explains no more than all of a target.
        """
        if self.complete:
            n, rows = self.counted(len(self.y)), len(self.y)
            return (
                self.Z,
                self.y,
                n,
                None if self.noise is None else self.noise * (rows - 1) / (n - 1),
            )
        features = varying_columns(self.X)
        size = len(features)
        matrix, counts, r = np.eye(size), [], []
        for (p, i), (q, k) in combinations(enumerate(features), 2):
            n, matrix[p, q], *_ = self.pair(i, k)
            matrix[q, p] = matrix[p, q]
            counts.append(n)
        for i in features:
            present = ~np.isnan(self.X[:, i])
            r.append([correlation(self.X[present, i], target[present]) for target in self.y.T])
        root = np.linalg.cholesky(matrix)  # raises if it is not positive definite
        explained = np.linalg.solve(root, np.array(r))
        left = 1 - np.sum(explained**2, axis=0)
        if left.min() <= 0:
            raise np.linalg.LinAlgError("more than all of a target is explained")
        # How targets go together does not matter: what is left of each has the same direction.
        ones, identity = np.ones(size + 2), np.eye(size + 2)
        centred = np.linalg.qr(np.column_stack([ones, identity[:, :-1]]))[0][:, 1:]
        Z = np.full((size + 2, self.X.shape[1]), np.nan)
        Z[:, features] = centred[:, :-1] @ root.T
        y = centred @ np.vstack([explained, np.sqrt(left)])
        n = self.counted(np.mean(counts))
        return Z, y, n, None if self.noise is None else self.noise / (n - 1)

    def join(self, groups, first, second, verdict):
        """Merge two groups: the second takes the sign of the comparison."""
        self.signs[groups[second]] *= verdict.sign
        groups[first] = sorted(groups[first] + groups.pop(second))
        size = len(groups[first])
        return Merge(first, second, verdict.sign, size, verdict.correlation, verdict.f)


# The strategies


def everything(group, other):
    """Whether two groups may merge, where there is no rule about it."""
    return True


def sequential(X, y, tolerance=1.0, noise=None, allowed=everything, **rules):
    """Algorithm 1, through neighbours of members where ``allowed`` says which are neighbours.

    ``rules`` are ``min_correlation``, ``signed`` and ``weights``, as for all strategies.
    """
    walk = _walk(X, y, tolerance, lambda group: group[:1], allowed, noise=noise, **rules)
    by_group = {seed[0]: number for number, seed in enumerate(walk.groups)}
    walk.joined.sort(key=lambda merge: (by_group[merge[1]], merge[0]))
    return walk


def centroid(X, y, tolerance=1.0, min_correlation=None, noise=None, allowed=everything, **rules):
    rules |= {"min_correlation": min_correlation, "noise": noise}
    return _walk(X, y, tolerance, lambda group: group, allowed, **rules)


def _walk(X, y, tolerance, compared, allowed, comparisons=Comparisons, **rules):
    """Groups one after the other; candidates are compared with some members of the group."""
    table = comparisons(X, y, **rules)
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
                verdict = table.verdict(compared(group), [candidate])
                sign, rho, f, sureness = verdict
                clear = min(clear, apart(f, tolerance, f.error), sureness)
                if f <= tolerance:
                    group.append(candidate)
                    free.remove(candidate)
                    table.signs[candidate] = sign
                    joined.append((candidate, seed, sign, rho, f))
                    grew = True
        groups.append(sorted(group))
    return Walk(groups, joined, clear, table.signs)


def agglomerative(
    X,
    y,
    min_correlation=None,
    noise=None,
    n_groups=1,
    most_correlated_up_to=0,
    allowed=everything,
    comparisons=Comparisons,
    **rules,
):
    """All merges down to a number of groups; copies first, of which any order is as good.

    Pairs with an F of at most ``most_correlated_up_to`` go before others, by their correlation.
    With gaps, averages over pairs may leave nothing of the target, or less: there the path ends.
    """
    table = comparisons(X, y, noise, min_correlation, **rules)
    groups = {i: [i] for i in varying_columns(X)}
    merges, clear = [], np.inf
    verdicts = {}  # of all pairs; those of a merged group are replaced
    for i, j in combinations(list(groups), 2):
        if i in groups and j in groups and allowed(groups[i], groups[j]):
            verdict = verdicts[i, j] = table.verdict(groups[i], groups[j])
            clear = min(clear, verdict.clear)
            if 1 - verdict.correlation <= COINCIDE:
                verdict = verdict._replace(correlation=Figure.of(1.0), f=Figure.of(0.0))
                merges.append(table.join(groups, i, j, verdict))
                verdicts = without(verdicts, (i, j))
    sure = len(merges) if clear > CLEAR else 0
    while len(groups) > n_groups:
        for i, j in combinations(sorted(groups), 2):
            if (i, j) not in verdicts and allowed(groups[i], groups[j]):
                verdicts[i, j] = table.verdict(groups[i], groups[j])
        best, gap = first_in_order(verdicts, most_correlated_up_to)
        if best is None or (verdicts[best].f > BEYOND and not table.complete):
            break
        clear = min(clear, gap)
        merges.append(table.join(groups, *best, verdicts[best]))
        sure += clear > CLEAR
        verdicts = without(verdicts, best)
    return Path(merges, clear, sure)


def without(verdicts, merged):
    return {pair: value for pair, value in verdicts.items() if not set(pair) & set(merged)}


def joint(
    X,
    y,
    min_correlation=None,
    noise=None,
    start=None,
    n_groups=1,
    allowed=everything,
    comparisons=Comparisons,
    **rules,
):
    """All merges; each pair of each step by a fit of its own. ``start`` skips the first stage."""
    table = comparisons(X, y, noise, min_correlation, **rules)
    if start is None:
        first = start_of_joint(X, y, min_correlation, noise, allowed, comparisons, **rules)
        groups, table.signs = groups_after(X, first.merges), signs_after(X, first.merges)
        merges, clear, sure = list(first.merges), first.clear, first.sure
    else:
        groups, merges, clear, sure = {min(g): sorted(g) for g in start}, [], np.inf, 0
    free = len(merges)
    while len(groups) > n_groups:
        verdicts = table.contrasts(groups, allowed)
        best, gap = smallest(verdicts)
        if best is None:
            break
        clear = min(clear, gap)
        merges.append(table.join(groups, *best, verdicts[best]))
        sure += clear > CLEAR
    return Path(merges, clear, sure, free)


def start_of_joint(
    X,
    y,
    min_correlation=None,
    noise=None,
    allowed=everything,
    comparisons=Comparisons,
    **rules,
):
    """Pairwise merges before the regression; the number by generalised cross-validation."""
    table = comparisons(X, y, noise, **rules)
    n = table.n_of_regression()
    rules |= {"min_correlation": min_correlation, "noise": noise, "allowed": allowed}
    rules["comparisons"] = comparisons
    n_features = len(varying_columns(X))
    copies = agglomerative(X, y, n_groups=n_features, **rules)
    if n_features - len(copies.merges) <= 0.25 * n:
        return copies
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
            table.signs = signs_after(X, merges)
            groups = groups_after(X, merges)
            left, by = table.unexplained(groups), (n - 1 - size) ** 2
            found.append((Figure(left / by, left.error / by), groups, merges))
    if not found:
        raise np.linalg.LinAlgError("too many groups for a regression")
    # Both orders may come to the same groups, and so to the same error: the first counts.
    least = min(error for error, _, _ in found)
    best, kept, merges = next(each for each in found if each[0] <= least * (1 + 1e-9))
    for error, groups, _ in found:
        if groups != kept:
            clear = min(clear, apart(error, best, error.error, best.error))
    return Path(merges, clear, len(merges) if clear > CLEAR else 0)


def smallest(verdicts):
    """Pair with the smallest F, and by what share the next one is larger."""
    nearness = min((verdict.clear for verdict in verdicts.values()), default=np.inf)
    ranked = sorted((v.f, pair) for pair, v in verdicts.items() if v.f < np.inf)
    if not ranked:
        return None, nearness
    return ranked[0][1], min(gap_between(ranked), nearness)


def first_in_order(verdicts, most_correlated_up_to):
    """The most correlated pair of those with a small F; where there is none, the smallest F."""
    possible = {pair: v for pair, v in verdicts.items() if v.f < np.inf}
    small = [(pair, v) for pair, v in possible.items() if v.f <= most_correlated_up_to]
    ranked = sorted((Figure(1 - v.correlation, v.correlation.error), pair) for pair, v in small)
    if not ranked:
        return smallest(verdicts)
    nearness = min(verdict.clear for verdict in verdicts.values())
    limit = most_correlated_up_to
    at_limit = min(apart(v.f, limit, v.f.error) for v in possible.values())
    return ranked[0][1], min(gap_between(ranked), nearness, at_limit)


def gap_between(ranked):
    """How clearly the second is larger than the first."""
    if len(ranked) == 1:
        return np.inf
    (first, _), (second, _) = ranked[:2]
    tie = 2 * (TIE * second + EQUAL)  # of which the library takes the most correlated pair first
    return apart(second, first, first.error, second.error, tie)


WALKS = {"sequential": sequential, "centroid": centroid}
PATHS = {"agglomerative": agglomerative, "joint": joint}


def literally(strategy, X, y, tolerance, allowed=everything, **rules):
    """Any of the strategies, by its name."""
    if strategy in WALKS:
        return WALKS[strategy](X, y, tolerance, allowed=allowed, **rules)
    return PATHS[strategy](X, y, allowed=allowed, **rules)


# Partitions


def groups_after(X, merges):
    """Groups by first member, after some merges."""
    groups = {i: [i] for i in varying_columns(X)}
    for merge in merges:
        groups[merge.first] = sorted(groups[merge.first] + groups.pop(merge.second))
    return groups


def signs_after(X, merges):
    """Signs of the features relative to the first of their group, after some merges."""
    signs = np.ones(X.shape[1], dtype=int)
    groups = {i: [i] for i in varying_columns(X)}
    for merge in merges:
        signs[groups[merge.second]] *= merge.sign
        groups[merge.first] = groups[merge.first] + groups.pop(merge.second)
    return signs


def groups_at(X, merges, tolerance, n_free=0):
    """Groups at which the smallest F exceeds the tolerance for the first time.

    The first ``n_free`` merges are made at every tolerance.
    """
    return sorted(groups_after(X, merges_at(merges, tolerance, n_free)).values())


def merges_at(merges, tolerance, n_free=0):
    made = n_free
    while made < len(merges) and merges[made].f <= tolerance:
        made += 1
    return merges[:made]


# The library's result against the literal one


def assert_same_walk(model, expected, rtol=1e-6):
    assert expected.clear > CLEAR, "too near to the tolerance to be judged: take another seed"
    assert [group.tolist() for group in model.groups_] == expected.groups
    np.testing.assert_array_equal(model.signs_, expected.signs)
    columns = zip(*expected.joined, strict=True) if expected.joined else [()] * 5
    features, seeds, signs, rho, f = columns
    np.testing.assert_array_equal(model.evidence_["feature"], features)
    np.testing.assert_array_equal(model.evidence_["partner"], seeds)
    np.testing.assert_array_equal(model.evidence_["sign"], signs)
    np.testing.assert_allclose(model.evidence_["correlation"], rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.evidence_["f"], f, rtol=rtol, atol=1e-9)


def assert_same_path(merges, expected, rtol=1e-6):
    assert expected.clear > CLEAR, "two pairs too near to each other to be judged"
    expected = np.array(expected.merges, dtype=object).reshape(-1, 6)
    for column, name in enumerate(["first", "second", "sign", "size"]):
        np.testing.assert_array_equal(merges[name], expected[:, column].astype(int), err_msg=name)
    rho, f = expected[:, 4].astype(float), expected[:, 5].astype(float)
    np.testing.assert_allclose(merges["correlation"], rho, rtol=0, atol=1e-10)
    np.testing.assert_allclose(merges["f"], f, rtol=rtol, atol=1e-9)


def assert_as_literally(model, expected, X, y, allowed=everything, **rules):
    """The whole path, and the groups and signs where it is cut."""
    tolerance = rules.pop("tolerance")
    if model.strategy in WALKS:
        assert_same_walk(model, expected)
        return
    merges = model.merge_path_
    if np.isnan(X).any():  # the judge may stop before the end
        merges = merges[: len(expected.merges)]
    assert_same_path(merges, expected)
    made = merges_at(expected.merges, tolerance, expected.free)
    groups = sorted(groups_after(X, made).values())
    assert [group.tolist() for group in model.groups_] == groups
    np.testing.assert_array_equal(model.signs_, signs_after(X, made))
    rows = {(merge.second, merge.first, merge.sign) for merge in made}
    assert {*model.evidence_[["feature", "partner", "sign"]].tolist()} == rows
