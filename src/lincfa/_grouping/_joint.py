"""Merging by the contrast of two weights in the regression on all groups."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt

from .._rule import MARGIN, Rule, put_targets
from .._statistics import RESOLUTION, Statistics, mean_square
from ..theory._arrays import FloatArray, inverse
from ._agglomerative import CurrentGroups, single_features
from ._constraint import Constraint
from ._partition import MergePath, merge_record


class TooManyGroupsError(ValueError):
    """What may not merge leaves too many groups for a regression on all of them."""


FEW = 0.25
"""Features per sample up to which the regression starts with all of them."""

START_SHARES = (0.6, 0.45, 0.3, 0.2, 0.1, 0.05)
"""Numbers of groups to start the regression with, as shares of the samples, to choose from."""

START_TOLERANCES = (4.0, 1e9)
"""Pairs with an F up to this merge first on the way there, the most correlated before the others.
The better of the two is taken: no difference of the weights at the level of 5 %, or any F."""

_PERFECT = 1e-6
"""Share left of the target below which the fits of two starts count as equally perfect: where sums
of groups depend on each other, what is left is no better known."""

_NOTHING = 1e-11
"""Growth of bias that counts as none where sums of groups depend on each other: it is that of
weights which cannot be estimated, and rounding alone would decide which pair is the first."""

_ROUNDING = 1e-15
_STRIP_VALUES = 2**15
_FLOOR = 1e-200
_TIE = 1e-9
_REFRESH, _REFRESH_SINGULAR = 0.75, 0.97
"""Share of groups left at which the regression is computed anew from the groups' products."""


def path_joint(statistics: Statistics, rule: Rule, constraint: Constraint) -> MergePath:
    """Merge the two groups whose weights in the regression on all groups differ least."""
    # The regression is on the *sums* of the groups, so that a group's coefficient is the weight of
    # each of its features, and merging two groups means equal coefficients. F is the statistic for
    # this contrast, given all other groups. With signs, coefficients may also be opposite: then the
    # sum of the second group is flipped.
    #
    # The regression needs fewer groups than samples, and with noise it takes many fewer to tell
    # weights apart. With more features than a quarter of the samples (``FEW``), means of groups are
    # compared pairwise first: of the pairs with F up to a tolerance the most correlated one merges,
    # which loses the least information; where there is none, the one with the smallest F. The
    # tolerance of this start (``START_TOLERANCES``) and the number of groups at which it ends
    # (``START_SHARES``) are those with the smallest generalised cross-validation error of the
    # regression, RSS/(n−1−d)². The merges up to there come first in the path, with their pairwise F
    # and height 0: they are made at every tolerance.
    if not statistics.complete:
        rule = _rule_of_gaps(statistics, rule)
    groups, start = _start(statistics, rule, constraint)
    start["height"] = 0
    model = Regression(groups, rule)
    names, sizes = groups.names, groups.sizes
    # Sign of each sum relative to the group's first feature: a merged group keeps that of one of
    # the two, whichever has the first feature.
    signs = np.ones(names.size, dtype=np.intp)
    merges, shares = [], []
    height = 0.0
    while model.count > 1:
        closest = model.closest()
        if closest is None:
            break
        i, j, sign, rho, drop, growth = closest
        f = float(growth.mean() / drop.mean())
        height = max(height, f)
        first, second = sorted((int(names[i]), int(names[j])))
        relative = int(sign * signs[i] * signs[j])
        if names[i] != first:
            signs[i] = sign * signs[j]
        sizes[i] += sizes[j]
        names[i] = first
        merges.append((first, second, relative, int(sizes[i]), rho, f, height, False))
        shares.append((drop, growth))
        last = model.count - 1
        for array in (names, sizes, signs):
            array[j] = array[last]
        model.merge(i, j, sign)
    regression = merge_record(len(merges), rule.n_targets)
    for name, values in zip(regression.dtype.names or (), zip(*merges, strict=True), strict=False):
        regression[name] = values
    for name, values in zip(
        ("variance_drop_share", "bias_growth_share"), zip(*shares, strict=True), strict=False
    ):
        put_targets(regression, name, np.array(values).T)
    path = np.concatenate([start, regression])
    return MergePath(statistics.varying, path, rule.weights)


def _rule_of_gaps(statistics: Statistics, rule: Rule) -> Rule:
    """Return the rule for the samples that two features share on average, if there is one."""
    # Correlations of pairs with samples of their own need not be those of any data.
    features = np.flatnonzero(statistics.varying)
    known = statistics.within(features)
    above = np.triu_indices(features.size, 1)
    n = np.asarray(known.n_samples)[above]
    matrix = np.eye(features.size + 1)
    matrix[:-1, :-1] += np.triu(known.rho, 1) + np.triu(known.rho, 1).T

    def smallest_variance(r: FloatArray) -> float:
        matrix[-1, :-1] = matrix[:-1, -1] = r
        return float(np.linalg.eigvalsh(matrix)[0])

    smallest = min(map(smallest_variance, statistics.target_correlation[:, features]))
    if np.isneginf(n).any() or smallest <= RESOLUTION:
        raise ValueError(
            "strategy='joint' compares groups in a regression on all of them, and the correlations "
            "of features with missing values, each pair on the samples it shares, do not allow one "
            "(their matrix is not positive definite). Use strategy='agglomerative', or fill in the "
            "missing values first."
        )
    return replace(rule, n_samples=float(n.mean())) if n.size else rule


def _start(
    statistics: Statistics, rule: Rule, constraint: Constraint
) -> tuple[CurrentGroups, npt.NDArray[np.void]]:
    """Return the groups that the regression starts with, and the merges that lead to them."""
    n = rule.effective(rule.n_samples)
    single = single_features(statistics, rule, constraint)
    single.merge_coinciding()
    if single.count <= FEW * n:
        return single.current(), single.record()
    best, smallest = None, np.inf
    for tolerance in START_TOLERANCES:
        groups = single.copy(most_correlated_up_to=tolerance)
        for share in START_SHARES:
            groups.merge_down(max(1, int(share * n)))
            if groups.count > n - 3:
                continue
            found = groups.current()
            inverted, _ = _inverse(found.sums, found.weights / found.sizes)
            explained = np.einsum("ki,ki->k", found.r @ inverted, found.r)
            left = max(1 - float(explained.mean()), _PERFECT)
            error = left / (n - 1 - groups.count) ** 2
            if error < smallest * (1 - _TIE):  # both may come to the same groups
                best, smallest = (found, groups.record()), error
    if best is None:
        samples = "samples" if rule.share == 1 else "effective samples"
        raise TooManyGroupsError(
            "strategy='joint' compares groups in a regression on all of them and needs fewer than "
            f"{n - 2:g} groups to start with for {n:g} {samples}, but "
            f"{_limits(rule, constraint)} {groups.count}. Allow more, or use another strategy."
        )
    return best


def _limits(rule: Rule, constraint: Constraint) -> str:
    """Name what keeps groups from merging."""
    limits = [f"min_correlation={rule.min_correlation:g}"] * (rule.min_correlation > -1)
    limits += ["connectivity"] * (constraint.graph is not None)
    limits += ["blocks"] * (constraint.blocks is not None)
    return " and ".join(limits) + (" leave" if len(limits) > 1 else " leaves")


def _inverse(products: FloatArray, unit: FloatArray) -> tuple[FloatArray, bool]:
    """Invert the products of sums whose members have about these weights."""
    if (unit == 1).all():
        return inverse(products)
    units = unit * unit[:, None]
    inverted, singular = inverse(products / units)
    inverted /= units
    return inverted, singular


class Regression:
    """Least squares on the sums of groups, of which two at a time are given equal weights."""

    def __init__(self, groups: CurrentGroups, rule: Rule) -> None:
        # Only differences of weights matter, so it holds for each target the weights up to a
        # constant, the variance of each difference (up to that of the noise; above the diagonal),
        # and what is left of each target. Giving two weights the same value is a change of rank one
        # of all three.
        # With signs sums of weights matter as well: then it holds the weights themselves, their
        # variances, and the variance of each sum.
        self.count = groups.r.shape[1]
        self._products = groups.sums.copy()
        self._r = groups.r.copy()
        self._unit = groups.weights / groups.sizes
        self._signs = (1, -1) if rule.signed else (1,)
        self._allowed = None if groups.allowed is None else groups.allowed.copy()
        self._rule = rule
        self._limited = rule.min_correlation > -1
        self._solve()

    def _solve(self) -> None:
        """Compute the regression on the current groups from their products."""
        d = self.count
        inverted, self._singular = _inverse(self._products[:d, :d], self._unit[:d])
        self._weights = self._r[:, :d] @ inverted
        self._left = 1 - np.einsum("ki,ki->k", self._r[:, :d], self._weights)
        self._own = own = np.diagonal(inverted).copy()
        self._variances: dict[int, FloatArray] = {}
        for sign in self._signs:
            contrasts = -2 * sign * inverted
            contrasts += own
            contrasts += own[:, None]
            # Of weights that can hardly be estimated, but whose difference can, rounding is left.
            for row, variances in zip(own, contrasts, strict=True):
                np.maximum(variances, _ROUNDING * (row + own), out=variances)
            np.fill_diagonal(contrasts, np.inf)
            self._variances[sign] = contrasts
        self._solve_again_at = int((_REFRESH_SINGULAR if self._singular else _REFRESH) * d)
        self._change: tuple[FloatArray, float] | None = None

    def closest(self) -> tuple[int, int, int, float, FloatArray, FloatArray] | None:
        """Return the pair whose equal weights cost least, or None where no pair may merge."""
        # Their places and sign, their correlation, and for each target the drop of variance and the
        # growth of bias.
        best, place = np.inf, (0, 0, 1)
        for sign, top, cost, _ in self._costs():
            row, column = divmod(int(cost.argmin()), cost.shape[1])
            if cost[row, column] < best:
                best, place = float(cost[row, column]), (top + row, top + column, sign)
        if best == np.inf:
            return None
        if self._singular and best < _NOTHING:
            best, place = 0.0, self._most_correlated_for_nothing()
        i, j, sign = place
        growth = self._growth(i, j, sign) if best else np.zeros(len(self._r))
        rho = self._correlations(slice(i, i + 1), slice(j, j + 1))[0, 0]
        rho = float(np.clip(sign * rho, -1, 1))
        drop = self._rule.variance_drop(np.maximum(self._left, RESOLUTION), self.count)
        return i, j, sign, rho, np.maximum(drop, _FLOOR), growth

    def _growth(self, i: int, j: int, sign: int) -> FloatArray:
        """What equal weights cost a pair, of each target."""
        contrast = self._weights[:, i] - sign * self._weights[:, j]
        return np.asarray(contrast**2 / self._variances[sign][i, j])

    def _costs(self) -> Iterator[tuple[int, int, FloatArray, slice]]:
        """What equal weights cost each pair: sign, first row, rows of a strip, its columns."""
        # Infinite below the diagonal, and for pairs that may not merge.
        d = self.count
        step = max(1, _STRIP_VALUES // d)
        for top, sign in product(range(0, d, step), self._signs):
            rows, columns = slice(top, min(top + step, d)), slice(top, d)
            variances = self._variances[sign][rows, columns]
            if self._change is not None:
                shifts, variance = self._change
                change = shifts[rows, None] - sign * shifts[columns]
                change *= change
                change /= variance
                variances -= change
                np.maximum(variances, _FLOOR, out=variances)
            weights = self._weights[:, rows, None], self._weights[:, None, columns]
            cost = mean_square(*weights, sign)
            cost /= variances
            height = rows.stop - top
            cost[:, :height][np.tri(height, dtype=np.bool_)] = np.inf
            if self._limited:
                rho = sign * self._correlations(rows, columns)
                cost[rho < self._rule.min_correlation - MARGIN] = np.inf
            if self._allowed is not None:
                cost[~self._allowed[rows, columns]] = np.inf
            yield sign, top, cost, columns
        self._change = None

    def _most_correlated_for_nothing(self) -> tuple[int, int, int]:
        """Of the pairs whose equal weights cost nothing, the one with the largest correlation."""
        best, place = -np.inf, (0, 0, 1)
        for sign, top, cost, columns in self._costs():
            rows = slice(top, top + cost.shape[0])
            rho = np.round(sign * self._correlations(rows, columns), 9)
            rho = np.where(cost < _NOTHING, rho, -np.inf)
            row, column = divmod(int(rho.argmax()), rho.shape[1])
            if rho[row, column] > best:
                best, place = float(rho[row, column]), (top + row, top + column, sign)
        return place

    def _correlations(self, rows: slice, columns: slice) -> FloatArray:
        squares = np.diagonal(self._products)[: self.count]
        norms = np.sqrt(np.maximum(squares, RESOLUTION * self._unit[: self.count] ** 2))
        return np.asarray(self._products[rows, columns] / (norms[rows, None] * norms[columns]))

    def merge(self, i: int, j: int, sign: int) -> None:
        """Give groups i < j the same weight, or opposite ones, and let group i stand for both."""
        # The last group takes the place of group j.
        d = self.count
        self._products[i, :d] += sign * self._products[j, :d]
        self._products[i, i] += sign * self._products[i, j]
        self._products[:d, i] = self._products[i, :d]
        self._r[:, i] += sign * self._r[:, j]
        self._unit[i] = (self._unit[i] + self._unit[j]) / 2
        last = d - 1
        self._unit[j] = self._unit[last]
        self._products[j, :d] = self._products[last, :d]
        self._products[:d, j] = self._products[:d, last]
        self._products[j, j] = self._products[last, last]
        self._r[:, j] = self._r[:, last]
        if self._allowed is not None:
            self._allowed[i] |= self._allowed[j]
            self._allowed[:, i] = self._allowed[i]
            self._allowed[j] = self._allowed[last]
            self._allowed[:, j] = self._allowed[j]
        if last <= self._solve_again_at:
            self.count = last
            self._solve()
            return
        to_first, to_second = self._variances_with(i, 1), self._variances_with(j, sign)
        variance = float(to_second[i])
        contrast = self._weights[:, i] - sign * self._weights[:, j]
        # Covariance of each weight with the contrast; of differences it matters up to a constant.
        shifts = (to_second - to_first) / 2
        if len(self._signs) > 1:
            shifts += (self._own[i] - self._own[j]) / 2
            self._own[:d] -= shifts**2 / variance
        self._weights[:, :d] -= shifts * (contrast / variance)[:, None]
        self._left += contrast**2 / variance
        for each, variances in self._variances.items():
            moved = self._variances_with(last, each)
            variances[:j, j] = moved[:j]
            variances[j, j + 1 : last] = moved[j + 1 : last]
        for values in (*self._weights, self._own, shifts):
            values[j] = values[last]
        self.count = last
        self._change = shifts, variance

    def _variances_with(self, i: int, sign: int) -> FloatArray:
        """Variances of the contrasts with one weight, from both sides of the diagonal."""
        d, variances = self.count, self._variances[sign]
        with_itself = 0.0 if sign > 0 else 4 * self._own[i]
        return np.concatenate([variances[:i, i], [with_itself], variances[i, i + 1 : d]])
