"""Comparisons of features and groups in extended precision, and how far rounding may move them.

The strategies themselves are those of ``tests/literal_strategies.py``. What they compare is
computed here, in long double: from the differences and sums of standardised columns where the
library looks at single features, from sums of correlations where it looks at means of groups. Each
F comes with its first-order error, given errors of a few units in the last place of correlations:
a decision within this error is not clear, any other has to be the library's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import literal_strategies as literal
from literal_strategies import Figure, Verdict

Long: TypeAlias = npt.NDArray[np.longdouble]

EPS = float(np.finfo(np.float64).eps)
COMPUTED = 4 * EPS  # what float64 adds to the rounding of standardised values
RESOLUTION = 1e-13  # share of a variance below which sums of products say nothing
CORRELATION = 32 * EPS  # error of a correlation; more where means are larger than scales
COLUMN = 16 * EPS  # error of a standardised column
MARGIN = 1.1e-9  # of the smallest correlation, where means of groups are compared
PERFECT = 1e-6  # share left of the targets below which starts of "joint" fit equally well
REFINED = 1e-5  # 1 − |ρ| and 1 − R² below which columns are looked at, not only correlations


class UnclearError(Exception):
    """Rounding decides what the problem is, such as whether a column is constant."""


@dataclass(frozen=True)
class Problem:
    """What a fit is given, as values that float64 holds exactly, and the rules it follows."""

    X: npt.NDArray[np.float64]
    Y: npt.NDArray[np.float64]  # one target a column
    precision: npt.NDArray[np.float64]  # relative, of the types in which the columns came
    sample_weight: npt.NDArray[np.float64] | None = None
    strategy: str = "sequential"
    tolerance: float = 1.0
    noise: str | float = "pair"
    min_correlation: float | None = None
    signed: bool = False
    weights: npt.NDArray[np.float64] | None = None  # of the features
    effective: float | None = None
    by_sums: bool = False  # of a stream or of chunks, of which no columns are kept
    graph: npt.NDArray[np.bool_] | None = None  # which features may merge directly

    @cached_property
    def moments(self) -> "Moments":
        """Columns, their moments, and which of them vary."""
        return Moments.of(self)

    def result(self) -> Any:
        """Walk or path of the literal strategy."""
        moments = self.moments
        # To the strategies columns only say whether they vary.
        X = np.where(moments.varying, np.arange(2)[:, None], 0.0)
        allowed = literal.everything
        if self.graph is not None:
            graph = self.graph

            def allowed(group: Sequence[int], other: Sequence[int]) -> bool:
                return bool(graph[np.ix_(group, other)].any())

        return literal.literally(
            self.strategy,
            X,
            self.Y,
            self.tolerance,
            allowed=allowed,
            comparisons=lambda *_, **__: Exact(self),
        )

    @property
    def n_samples(self) -> float:
        """Number of samples, or the sum of their weights."""
        weights = self.sample_weight
        return float(len(self.Y) if weights is None else weights.sum())

    @property
    def share(self) -> float:
        """Of the samples, that F counts with."""
        return 1.0 if self.effective is None else self.effective / self.n_samples


@dataclass(frozen=True)
class Moments:
    """Columns of norm 1, and what is known of each."""

    columns: Long  # (n, D) and times the roots of the weights; 0 where constant
    targets: Long  # (n, K)
    n: float
    mean: Long
    scale: Long
    varying: npt.NDArray[np.bool_]
    rounding: npt.NDArray[np.float64]
    error: npt.NDArray[np.float64]  # of correlations of each column
    target_scale: Long
    present: npt.NDArray[np.bool_] | None  # None where nothing is missing
    row_weights: Long
    problem: Problem = field(repr=False)

    @classmethod
    def of(cls, problem: Problem) -> "Moments":
        """Standardise all columns, those with gaps on the samples they have."""
        X, Y = (np.asarray(values, dtype=np.longdouble) for values in (problem.X, problem.Y))
        n_rows = len(X)
        given = problem.sample_weight
        weights = np.ones(n_rows) if given is None else given
        counted = weights > 0
        X, Y, w = X[counted], Y[counted], np.asarray(weights[counted], dtype=np.longdouble)
        missing = np.isnan(X)
        gaps = bool(missing.any())
        each = np.broadcast_to(w[:, None], X.shape) * ~missing if gaps else w[:, None]
        columns, mean, scale, peak, n = standardised(np.where(missing, 0, X), each)
        targets, target_mean, target_scale, _, _ = standardised(Y, w[:, None])
        # A column that varies by no more than the rounding of its type counts as constant.
        limit = np.maximum(problem.precision, COMPUTED) * np.abs(mean)
        if ((np.abs(peak - limit) <= 2 * EPS * np.abs(mean)) & (peak > 0)).any():
            raise UnclearError
        varying = np.asarray((peak > limit) & (n > 1))
        columns = np.where(varying, columns, 0)
        scale = np.where(varying, scale, 1)
        ratio = np.abs(mean / scale).astype(np.float64)
        off = np.minimum(ratio, 1e3)
        if problem.by_sums:  # which keep means as they are
            off = ratio + float(np.abs(target_mean / target_scale).max())
        rounding = problem.precision / 2 * np.hypot(1.0, ratio) + COMPUTED
        if problem.by_sums:
            rounding = np.maximum(rounding, np.sqrt(RESOLUTION / 2))
        return cls(
            *(columns, targets, float(w.sum()), mean, scale, varying, rounding),
            CORRELATION * (1 + off),
            target_scale,
            ~missing if gaps else None,
            w,
            problem,
        )

    def least_left(self, i: int, j: int) -> float:
        """The share of a target below which nothing is known of what two features leave of it."""
        if self.problem.by_sums:
            return RESOLUTION
        ratio = np.abs(self.mean / self.scale).astype(np.float64)[[i, j]]
        return float((EPS / 2 * np.hypot(1.0, ratio) + COMPUTED).sum()) ** 2 / 2

    @cached_property
    def verdicts(self) -> dict[Any, Verdict]:
        """What was compared already."""
        return {}

    @cached_property
    def rho(self) -> Long:
        """Correlations of all pairs."""
        return np.asarray(self.columns.T @ self.columns)

    @cached_property
    def r(self) -> Long:
        """Correlations with the targets, one a row, each on the samples that the column has."""
        products = self.targets.T @ self.columns
        if self.present is None:
            return np.asarray(products)
        weights = self.row_weights[:, None] * self.present
        for k, target in enumerate(self.targets.T):
            values = np.broadcast_to((target / np.sqrt(self.row_weights))[:, None], weights.shape)
            own, *_ = standardised(values, weights)
            products[k] = (own * self.columns).sum(axis=0)
        return np.asarray(products)

    @cached_property
    def noise(self) -> Figure | None:
        """Variance of the noise over those of the targets, on average; None for that of pairs."""
        noise = self.problem.noise
        if noise == "pair":
            return None
        if noise == "full":
            return self.full_noise()
        return Figure(max(float(np.mean(noise / self.target_scale**2)), 1e-290), 0.0)

    def full_noise(self) -> Figure:
        """The same by the regression on all features."""
        features = np.flatnonzero(self.varying)
        n = self.problem.share * self.n
        inverse = inverted(self.rho[np.ix_(features, features)])
        if inverse is None or n <= features.size + 1 or np.diagonal(inverse).max() > 1e9:
            raise UnclearError
        r = self.r[:, features]
        left = float(np.mean(1 - np.einsum("ki,ij,kj->k", r, inverse, r)))
        weights = 1 + np.abs(r @ inverse).sum(axis=1).astype(float)
        error = float(self.error.max() * (np.diagonal(inverse).max() + (weights**2).max()))
        if error > left / 10:
            raise UnclearError
        by = (n - 1) / (n - 1 - features.size)
        return Figure(left * by, 4 * error * by)

    @cached_property
    def pairs(self) -> "dict[tuple[int, int], Pair | None]":
        """All pairs of features that vary; None for two that cannot be compared."""
        return {(i, j): self.pair(i, j) for i, j in combinations(np.flatnonzero(self.varying), 2)}

    def pair(self, i: int, j: int) -> "Pair | None":
        """Compare two columns, on the samples they share."""
        if (i, j) not in self.compared:
            self.compared[i, j] = self._compare(i, j)
        return self.compared[i, j]

    @cached_property
    def compared(self) -> "dict[tuple[int, int], Pair | None]":
        """What was compared already."""
        return {}

    def _compare(self, i: int, j: int) -> "Pair | None":
        if self.present is None:
            columns, targets, n = self.columns[:, [i, j]], self.targets, self.n
        else:
            problem = self.problem
            rows = ~np.isnan(problem.X[:, [i, j]]).any(axis=1)
            weights = problem.sample_weight
            w = np.ones(len(rows)) if weights is None else weights
            rows &= w > 0
            if abs(w[rows].sum() - 4) < 1e-6 and w[rows].sum() != 4:
                raise UnclearError
            if w[rows].sum() < 4:
                return None
            w = np.asarray(w[rows], dtype=np.longdouble)[:, None]
            some = np.asarray(problem.X[rows][:, [i, j]], dtype=np.longdouble)
            own = np.asarray(problem.Y[rows], dtype=np.longdouble)
            (columns, mean, scale, peak, _), (targets, _, _, flat, _) = (
                standardised(values, w) for values in (some, own)
            )
            # As a share of their squares about the mean of all.
            away = np.append(mean - self.mean[[i, j]], 0) / np.append(scale, 1)
            if (peak == 0).any() or (flat == 0).any():
                return None
            if (np.abs(away) > 1e4).any() or (peak <= 1e-5 * self.scale[[i, j]]).any():
                raise UnclearError
            if (flat <= 1e-5 * self.target_scale).any():
                raise UnclearError
            n = float(w.sum())
        return Pair.of(columns, targets, n)


def standardised(X: Long, weights: Long) -> tuple[Long, Long, Long, Long, Long]:
    """Columns of norm 1, times the roots of the weights; means, scales, largest distance, n."""
    n = weights.sum(axis=0)
    safe = np.maximum(n, np.longdouble(1e-300))
    mean = (weights * X).sum(axis=0) / safe
    deviations = X - mean
    correction = (weights * deviations).sum(axis=0) / safe
    deviations = deviations - correction
    peak = np.abs(np.where(weights > 0, deviations, 0)).max(axis=0)
    columns = np.sqrt(weights) * deviations
    square = (columns * columns).sum(axis=0)
    norm = np.sqrt(np.where(square > 0, square, 1))
    degrees = np.where(n > 1, n - 1, 1)
    return columns / norm, mean + correction, norm / np.sqrt(degrees), peak, n


class Pair(NamedTuple):
    """Two columns of norm 1: what their difference and their sum say."""

    n: float
    rho: np.longdouble
    below: np.longdouble  # 1 − ρ
    above: np.longdouble  # 1 + ρ
    r_first: Long  # with each target
    r_second: Long
    difference: Long
    total: Long
    left: Long  # 1 − R² of each target

    @classmethod
    def of(cls, columns: Long, targets: Long, n: float) -> "Pair":
        """Compare two columns, and each with the targets."""
        first, second = columns.T
        apart, together = first - second, first + second
        below, above = (apart @ apart) / 2, (together @ together) / 2
        r_first, r_second, difference, total = (
            targets.T @ each for each in (first, second, apart, together)
        )
        residual = targets.T
        for contrast, gap, covariance in ((together, above, total), (apart, below, difference)):
            if gap > 0:
                residual = residual - np.outer(covariance / (2 * gap), contrast)
        left = (residual * residual).sum(axis=1)
        rho = 1 - below if below < above else above - 1
        return cls(n, rho, below, above, r_first, r_second, difference, total, left)


class Figures(NamedTuple):
    """A comparison, of which F is to be computed: gaps, contrasts and what may be wrong with each.

    ``left`` is of each target.
    """

    n: float
    rho: float
    below: Any
    above: Any
    difference: Long
    total: Long
    left: Long
    error_below: float
    error_above: float
    error_r: float
    error_left: npt.NDArray[np.float64]
    error_rho: float

    def flipped(self) -> "Figures":
        """The same with the sign of the second flipped."""
        return self._replace(
            rho=-self.rho,
            below=self.above,
            above=self.below,
            difference=self.total,
            total=self.difference,
            error_below=self.error_above,
            error_above=self.error_below,
        )


class Mean(NamedTuple):
    """A group, by the sum of its columns."""

    factors: Long
    shares: npt.NDArray[np.float64]  # weights that add up to 1
    products: Long  # of the sum with all columns
    norm: np.longdouble
    r: Long  # with each target
    strain: float  # how much larger errors are for members that cancel each other
    error: float


class Exact(literal.Comparisons):
    """Comparisons as a literal strategy asks for them."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.moments = problem, problem.moments
        D = problem.X.shape[1]
        self.signs = np.ones(D, dtype=int)
        self.weights = np.ones(D) if problem.weights is None else problem.weights
        self.possible = (1, -1) if problem.signed else (1,)
        self.complete = self.moments.present is None
        self.inflation, self.slack = 0.0, np.zeros(D)
        self.single = problem.strategy == "sequential"
        self.verdicts = problem.moments.verdicts
        self.means: dict[Any, Mean] = {}

    def verdict(self, group: Sequence[int], other: Sequence[int]) -> Verdict:
        """The sign with the smaller F, of those that the smallest correlation allows."""
        key = (*group, -1, *other), tuple(self.signs[[*group, *other]])
        if key not in self.verdicts:
            figures, clear = (
                self.of_features(group[0], other[0])
                if self.single
                else self.of_groups(list(group), list(other))
            )
            weights = float(self.weights[group].mean()), float(self.weights[other].mean())
            q = (weights[0] - weights[1]) / (weights[0] + weights[1])
            self.verdicts[key] = self.decided(figures, q, clear)
        return self.verdicts[key]

    def counted(self, n: float) -> float:
        share = self.problem.share
        if share == 1:
            return n
        return share * n if self.complete else max(share * n, 4.0)

    # Single features

    def equality(self, i: int, j: int, pair: Pair) -> tuple[bool, bool, float]:
        """Whether columns are equal, or opposite, up to rounding, and how clearly."""
        rounding = self.moments.rounding
        floor = float(rounding[i] + rounding[j]) ** 2 / 2
        error = float(self.moments.error[i] + self.moments.error[j])
        clear = np.inf
        for gap in (float(pair.below), float(pair.above)):
            if self.problem.by_sums:
                limit = max(floor, RESOLUTION)
                clear = min(clear, abs(gap - limit) / (error + 1e-9 * limit))
            else:
                limit = floor
                clear = min(clear, abs(gap**0.5 - limit**0.5) / (2 * EPS + 1e-9 * limit**0.5))
        return pair.below <= limit, pair.above <= limit, clear

    def of_features(self, i: int, j: int) -> tuple[Figures | None, float]:
        """Two features from their columns, or from sums of products where there are no others."""
        pair = self.moments.pair(i, j)
        if pair is None:
            return None, np.inf
        equal, opposite, clear = self.equality(i, j, pair)
        error = float(self.moments.error[i] + self.moments.error[j])
        by_sums = self.problem.by_sums
        floor = self.moments.least_left(i, j)
        below, above = pair.below, pair.above
        if equal or opposite:
            below, above = (np.longdouble(2 * is_it) for is_it in (opposite, equal))
        gaps = []
        for gap, is_zero in ((below, equal), (above, opposite)):
            off = error
            if not by_sums and gap < 0.999 * REFINED:
                off = float(2 * np.sqrt(2 * gap) * COLUMN + COLUMN**2)
            gaps += [gap, 0.0 if is_zero else off]
        below, error_below, above, error_above = gaps
        refined = not by_sums and min(below, above) < REFINED / 2
        error_r = 2 * COLUMN if refined else error
        difference = pair.difference * (not equal)
        total = pair.total * (not opposite)
        rho = 1.0 if equal else -1.0 if opposite else float(pair.rho)
        figures = Figures(
            *(pair.n, rho, below, above, difference, total, pair.left),
            *(error_below, error_above, error_r, np.zeros(len(pair.left)), error),
        )
        if equal or opposite:  # one of the two contrasts counts for nothing
            kept, gap = (total, above) if equal else (difference, below)
            figures = figures._replace(left=np.maximum(1 - kept**2 / (2 * gap), 0))
        left, off = figures.left, error_of_left(figures)
        mean = float(left.mean())
        if mean < REFINED / 10:
            if by_sums:
                left = np.maximum(left, floor)
            else:
                off = 2 * np.sqrt(left.astype(float)) * COLUMN + COLUMN**2
                if (np.abs(left - floor) <= off + floor / 4).any():
                    clear = 0.0
                left = np.where(left > floor, left, 0)
                # What explains no more than that of a target of which nothing is left, is nothing.
                for name, gap in (("difference", below), ("total", above)):
                    contrast = getattr(figures, name)
                    tiny = (left == 0) & (contrast**2 <= 2 * gap * floor)
                    figures = figures._replace(**{name: np.where(tiny, 0, contrast)})
        return figures._replace(left=left, error_left=off), clear

    # Groups

    @cached_property
    def tables(self) -> tuple[Long, Long, Any, npt.NDArray[np.bool_]]:
        """Correlations of pairs; with the targets as of pairs; n; and which can be compared."""
        moments = self.moments
        D = len(moments.varying)
        if self.complete:
            rho, n = moments.rho.copy(), np.full((D, D), moments.n)
            r = np.broadcast_to(moments.r[:, :, None], (len(moments.r), D, D))
            known = np.ones((D, D), dtype=bool)
        else:
            rho, n = np.eye(D, dtype=np.longdouble), np.zeros((D, D))
            r = np.zeros((moments.targets.shape[1], D, D), dtype=np.longdouble)
            known = np.eye(D, dtype=bool)
            for (i, j), pair in moments.pairs.items():
                if pair is not None:
                    known[i, j] = known[j, i] = True
                    rho[i, j] = rho[j, i] = pair.rho
                    n[i, j] = n[j, i] = pair.n
                    r[:, i, j], r[:, j, i] = pair.r_first, pair.r_second
        np.fill_diagonal(rho, 1)
        if self.problem.strategy in literal.PATHS:  # which take columns as equal from the start
            floors = np.add.outer(moments.rounding, moments.rounding) ** 2 / 2
            if floors.max() > RESOLUTION:
                alike = np.abs(rho) if self.problem.signed else rho
                equal = 1 - alike <= floors
                rho = np.where(equal, np.sign(rho), rho)
                # Where there are fewer samples than features, means are those of the columns.
                np.fill_diagonal(equal, False)
                self.slack = np.where(equal, floors, 0).max(axis=0)
        return rho, r, n, known

    def mean_of(self, members: list[int]) -> "Mean":
        """What concerns one group alone."""
        key = tuple(members), tuple(self.signs[members])
        if key not in self.means:
            rho, *_ = self.tables
            weights = self.weights[members]
            factors = np.asarray(weights * self.signs[members], dtype=np.longdouble)
            products = factors @ rho[members]
            square = products[members] @ factors
            size = float(weights.sum())
            if square < 1e-9 * size**2:
                raise UnclearError  # of mirror images, whose mean has no variance
            norm = np.sqrt(square)
            r = self.moments.r[:, members] @ factors / norm
            error = float(self.moments.error[members].max())
            if len(members) > 1:
                error += float(self.slack[members].max())
            strain = size**2 / float(square)
            self.means[key] = Mean(factors, weights / size, products, norm, r, strain, error)
        return self.means[key]

    def of_groups(self, group: list[int], other: list[int]) -> tuple[Figures | None, float]:
        """Two groups by the averages over their pairs of features."""
        _, r, n, known = self.tables
        one, two = self.mean_of(group), self.mean_of(other)
        error = 2 * max(one.strain, two.strain) * (one.error + two.error)
        product = one.products[other] @ two.factors / (one.norm * two.norm)
        clear = np.inf
        if self.complete:
            r_first, r_second, count = one.r, two.r, self.moments.n
        else:
            if not known[np.ix_(group, other)].all():
                return None, np.inf
            if not (known[np.ix_(group, group)].all() and known[np.ix_(other, other)].all()):
                raise UnclearError
            r_first = (r[:, group][:, :, other] @ two.shares) @ one.factors / one.norm
            r_second = (r[:, other][:, :, group] @ one.shares) @ two.factors / two.norm
            count = float(one.shares @ n[np.ix_(group, other)] @ two.shares)
        product = np.clip(product, -1, 1)  # averages over pairs may be larger
        limit = RESOLUTION
        if self.problem.strategy == "centroid":  # others took columns as equal from the start
            rounding = self.moments.rounding
            limit = float(one.shares @ rounding[group] + two.shares @ rounding[other]) ** 2 / 2
        if limit > RESOLUTION:
            copy = -1.0 if product < 0 and -1 in self.possible else 1.0
            gap = float(1 - copy * product)
            clear = abs(gap - limit) / error
            if gap <= limit:
                product, r_second = np.longdouble(copy), copy * r_first  # their contrast is none
        # Of copies up to the rounding of a coarse type, means of more than two need not be copies.
        doubtful = len(group) + len(other) > 2 and self.slack[[*group, *other]].any()
        gaps, contrasts = [], []
        left, off = np.ones(len(r), dtype=np.longdouble), np.zeros(len(r))
        for gap, contrast in ((1 - product, r_first - r_second), (1 + product, r_first + r_second)):
            if 0 < gap < 1 or (doubtful and gap == 0):
                clear = min(clear, abs(float(gap) - RESOLUTION) / error)
            none = gap <= RESOLUTION
            gaps.append(np.longdouble(0) if none else gap)
            contrasts.append(contrast * (not none))
            if none:  # what it explains is rounding over rounding
                off = off + (contrast**2 / RESOLUTION).astype(float)
            else:
                left = left - contrast**2 / (2 * gap)
        figures = Figures(
            *(count, float(product), *gaps, *contrasts, left),
            *(*(error * (gap > 0) for gap in gaps), error, off),
            max(error, RESOLUTION) if min(gaps) == 0 else error,
        )
        return figures._replace(error_left=off + error_of_left(figures)), clear

    # F

    def decided(self, figures: Figures | None, q: float, clear: float) -> Verdict:
        """Choose the sign and compute F."""
        if figures is None:
            return Verdict(1, Figure(np.nan, 0.0), Figure(np.inf, 0.0), clear)
        lowest = self.problem.min_correlation
        margin = figures.error_rho if self.single else MARGIN
        found = {}
        for sign in self.possible:
            own = figures if sign > 0 else figures.flipped()
            if lowest is not None:
                clear = min(clear, abs(own.rho - lowest) / (margin + figures.error_rho))
                if own.rho < lowest:
                    continue
            found[sign] = (*self.f(own, q), own.rho)
        if not found:
            return Verdict(1, Figure(np.nan, 0.0), Figure(np.inf, 0.0), clear)
        sign = min(found, key=lambda each: found[each][0])
        if len(found) == 2:
            (f, error, _), (other, blur, _) = found[1], found[-1]
            clear = min(clear, literal.apart(f, other, 2 * (error + blur)))
        f, error, rho = found[sign]
        return Verdict(sign, Figure(rho, figures.error_rho), Figure(f, error), clear)

    def f(self, figures: Figures, q: float) -> tuple[float, float]:
        """F, and its error."""
        _, _, below, above, difference, total, left, e_below, e_above, e_r, e_left, _ = figures
        growth, off = np.zeros(len(left)), np.zeros(len(left))
        if below > 0 and q == 0:
            share = difference**2 / (2 * below)
            growth = share
            off = (2 * np.abs(difference) * e_r + e_r**2) / (2 * below) + share * e_below / below
        elif below > 0:
            above = max(above, np.longdouble(RESOLUTION))
            excess = above * difference - q * below * total
            e_excess = above * e_r + np.abs(difference) * e_above
            e_excess = e_excess + abs(q) * (below * e_r + np.abs(total) * e_below)
            variance = above + q**2 * below
            if above <= 1e-9:
                return 0.0, np.inf  # next to nothing is left of the mean
            denominator = 2 * below * above * variance
            growth = excess**2 / denominator
            relative = e_below / below + e_above / above + (e_above + q**2 * e_below) / variance
            off = (2 * np.abs(excess) * e_excess + e_excess**2) / denominator + growth * relative
        growth, off = growth.mean(), float(off.mean())
        n = self.counted(figures.n)
        noise = self.moments.noise
        if noise is not None:
            f = float((n - 1) * growth / noise)
            return f, (n - 1) * off / noise + (1e-12 + noise.error / noise) * f
        remains, e_remains = left.mean(), float(np.mean(e_left))
        if not self.single:
            remains = max(remains, np.longdouble(RESOLUTION))
        if growth == 0:
            return 0.0, float(off / remains * (n - 3)) if remains > 0 and off > 0 else 0.0
        if remains == 0:
            return np.inf, 0.0
        f = float((n - 3) * growth / remains)
        doubt = e_remains / float(remains)
        if doubt > 0.5:
            return f, np.inf
        return f, float((n - 3) * off / remains) * (1 + 2 * doubt) + f * (2 * doubt + 1e-12)

    # The regression on all groups

    @cached_property
    def n_mean(self) -> float:
        """Samples that two features share on average."""
        if self.complete:
            return self.moments.n
        pairs = list(self.moments.pairs.values())
        counts = [pair.n for pair in pairs if pair is not None]
        if len(counts) < len(pairs):
            raise UnclearError
        return float(np.mean(counts)) if counts else self.moments.n

    def n_of_regression(self) -> float:
        return self.counted(self.n_mean)

    def regressed(self, groups: dict[int, list[int]]) -> tuple[Long, Long, Long, float]:
        """Inverse of the products of groups' sums of norm 1, weights, 1 − R², and the error."""
        rho, *_ = self.tables
        D = len(self.signs)
        factors = np.zeros((len(groups), D), dtype=np.longdouble)
        for row, members in zip(factors, groups.values(), strict=True):
            row[members] = (self.weights * self.signs)[members]
        squares = np.einsum("gi,ij,gj->g", factors, rho, factors)
        norms = np.sqrt(np.maximum(squares, 0))
        strain = float((np.abs(factors).sum(axis=1) / np.maximum(norms, 1e-30)).max())
        if not strain <= 1e4:
            raise UnclearError
        units = factors / norms[:, None]
        inverse = inverted(units @ rho @ units.T)
        if inverse is None or np.diagonal(inverse).max() > 1e10:
            raise UnclearError  # nearly dependent, so that the library adds to the diagonal
        # What was lost to nearly dependent groups is not won back when they have merged.
        self.inflation = max(self.inflation, float(np.diagonal(inverse).max()))
        r = self.moments.r @ units.T
        weights = r @ inverse
        left = 1 - np.einsum("ki,ki->k", r, weights)
        error = 4 * strain**2 * float((self.moments.error + self.slack).max())
        return inverse, weights, left, error * (1 + self.inflation / 16)

    def unexplained(self, groups: dict[int, list[int]]) -> Figure:
        """What the regression on all groups leaves of the targets."""
        try:
            inverse, weights, left, error = self.regressed(groups)
        except UnclearError:
            return Figure(1.0, np.inf)
        inflation = float(np.diagonal(inverse).max())
        error *= float((1 + np.abs(weights).sum(axis=1)).max()) ** 2 + inflation
        share = float(left.mean())
        if share + error < PERFECT:
            return Figure(PERFECT, 2e-9 * PERFECT)
        share = max(share, PERFECT)
        return Figure(share, max(error, 2e-9 * share))

    def contrasts(self, groups: dict[int, list[int]], allowed: Any) -> dict[Any, Verdict]:
        """Verdicts on pairs of groups by the regression on all of them."""
        order = sorted(groups)
        try:
            inverse, weights, left, error = self.regressed({name: groups[name] for name in order})
        except UnclearError:
            some = Verdict(1, Figure(0.0, np.inf), Figure(0.0, np.inf), 0.0)
            return dict.fromkeys(combinations(order, 2), some)
        rho, *_ = self.tables
        n, d = self.n_of_regression(), len(order)
        noise, remains = self.moments.noise, max(float(left.mean()), RESOLUTION)
        size = 1 + np.abs(weights).sum(axis=1).astype(float)
        doubt = float((error * (size**2 + np.diagonal(inverse).max())).mean()) / remains
        if noise is not None:
            per, doubt = (n - 1) / noise, noise.error / noise
        else:
            per = (n - 1 - d) / remains
        # Back from columns of norm 1 to sums, whose coefficients are the weights of features.
        norms = []
        for name in order:
            own = np.asarray((self.weights * self.signs)[groups[name]], dtype=np.longdouble)
            norms.append(np.sqrt(own @ rho[np.ix_(groups[name], groups[name])] @ own))
        result = {}
        for (p, i), (q, j) in combinations(enumerate(order), 2):
            if not allowed(groups[i], groups[j]):
                continue
            first, second = (
                np.asarray((self.weights * self.signs)[groups[k]], dtype=np.longdouble)
                for k in (i, j)
            )
            product = float(
                first @ rho[np.ix_(groups[i], groups[j])] @ second / (norms[p] * norms[q])
            )
            lowest, clear, found = self.problem.min_correlation, np.inf, {}
            for sign in self.possible:
                if lowest is not None:
                    clear = min(clear, abs(sign * product - lowest) / (MARGIN + error))
                    if sign * product < lowest:
                        continue
                row = inverse[p] / norms[p] - sign * inverse[q] / norms[q]
                contrast = weights[:, p] / norms[p] - sign * weights[:, q] / norms[q]
                variance = row[p] / norms[p] - sign * row[q] / norms[q]
                spread = float(np.abs(row).sum())
                e_contrast = error * spread * size
                e_variance = error * spread**2 / float(variance)
                growth = float((contrast**2 / variance).mean())
                off = (2 * np.abs(contrast).astype(float) * e_contrast + e_contrast**2).mean()
                off = off / float(variance) + growth * e_variance
                f = per * growth
                blur = per * off + f * (doubt + 1e-12)
                found[sign] = f, float(blur) if doubt < 0.5 and e_variance < 0.5 else np.inf
            if not found:
                result[i, j] = Verdict(1, Figure(np.nan, 0.0), Figure(np.inf, 0.0), clear)
                continue
            sign = min(found, key=lambda each: found[each][0])
            if len(found) == 2:
                (f, one), (other, two) = found[1], found[-1]
                clear = min(clear, literal.apart(f, other, 2 * (one + two)))
            f, blur = found[sign]
            result[i, j] = Verdict(
                sign, Figure(sign * product, error), Figure(f, float(blur)), clear
            )
        return result


def error_of_left(figures: Figures) -> npt.NDArray[np.float64]:
    """Error of 1 − R² of each target, from those of correlations."""
    result = np.full(len(figures.left), 4 * EPS)
    for contrast, gap, error in (
        (figures.difference, figures.below, figures.error_below),
        (figures.total, figures.above, figures.error_above),
    ):
        if gap > 0:
            size = np.abs(contrast) / gap
            result = result + (size * figures.error_r + size**2 / 2 * error).astype(float)
    return result


def inverted(matrix: Long) -> Long | None:
    """Inverse of a positive definite matrix, by elimination in its own precision."""
    size = len(matrix)
    work = np.hstack([matrix, np.eye(size, dtype=np.longdouble)])
    for k in range(size):
        if work[k, k] <= 1e-15:
            return None
        work[k] = work[k] / work[k, k]
        column = work[:, k].copy()
        column[k] = 0
        work -= np.outer(column, work[k])
    return np.asarray(work[:, size:])
