"""Why two features merge, or why they do not."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from functools import partial
from html import escape
from math import inf, isnan
from typing import Any, Literal

import numpy as np

from .._data._checks import MIN_SAMPLES, check_table, is_field
from .._data._columns import Columns, columns_of
from .._data._feature_weights import read_feature_weights
from .._data._frames import take_columns_of
from .._data._names import shown
from .._data._training import read_in_memory
from .._model._display import Table, decimals, digits, distinguishable
from .._model._parameters import (
    check_effective_samples,
    check_merging,
    check_sample_dim,
    check_target_kind,
    check_tolerance,
)
from .._model._summary import RELATED
from .._rule import Rule, with_gains
from .._statistics import ArrayStatistics
from .._statistics._series import count_effective

_MOST_TARGETS = 6
"""Targets that are listed in words."""


@dataclass(frozen=True)
class PairExplanation:
    """The evidence for two features, merged or not; print it to read it.

    Attributes
    ----------
    names : tuple of str
        The two features.
    merges : bool
        Whether the rule merges them.
    n_samples : float
        Number of samples; with weights, their sum.
    effective_samples : float
        Number of samples that F counts with.
    sign : int
        −1 where the two were compared with the sign of the second flipped. Then the correlation,
        the threshold and F are those of the flipped features.
    correlation : float
        Correlation of the two features.
    target_correlations : tuple of float, or of arrays of shape (n_targets,)
        Correlation of each with the target, or with each of several.
    threshold : float
        Correlation that the two would need to merge, given their effects. Below −1 any will do. NaN
        where they merge at a lower one, as opposite features with unequal weights may.
    f, tolerance : float
        They merge if F is at most the tolerance.
    noise : "pair", "full" or float
        Variance of the noise in F; see :class:`LinCFA`.
    min_correlation : float
        They do not merge below this correlation, whatever F is; −1 for no limit.
    weights : tuple of float
        Weight of each in the mean.
    variance_drop_share, bias_growth_share, gain_share : float or array of shape (n_targets,)
        Estimated effects of replacing both by their mean on the mean squared error of the
        regression, as shares of the target's variance: the drop of variance, the growth of bias,
        and their difference. Of several targets, F is the ratio of the means of the former two.
    variance_drop, bias_growth, gain : float or array of shape (n_targets,)
        The same in the square of the target's unit.
    targets : tuple of str
        Names of the targets.

    Examples
    --------
    >>> from lincfa import explain_pair
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=8, random_state=0)
    >>> pair = explain_pair(X, y, 0, 1)
    >>> pair.merges, round(pair.f, 2), round(pair.correlation, 2)
    (True, 0.0, 0.91)
    """

    names: tuple[str, str]
    merges: bool
    n_samples: float
    sign: int
    correlation: float
    target_correlations: tuple[Any, Any]
    threshold: float
    f: float
    tolerance: float
    noise: str | float
    min_correlation: float
    variance_drop_share: Any
    bias_growth_share: Any
    gain_share: Any
    variance_drop: Any
    bias_growth: Any
    gain: Any
    effective_samples: float
    weights: tuple[float, float] = (1.0, 1.0)
    targets: tuple[str, ...] = ("y",)

    def __str__(self) -> str:
        """Explain the decision in words."""
        cancel = ""
        if self.merges and self.sign > 0 and self.correlation < -RELATED:
            cancel = (
                " But as opposites they cancel in the mean: min_correlation keeps them apart, and "
                "with signed=True may merge them flipped."
            )
        return f"{self._decision()} {self._consequence()}{cancel}"

    @property
    def _ratio(self) -> str:
        """The weights, unless they are equal."""
        first, second = self.weights
        return "" if first == second else f"{first:.3g} : {second:.3g}"

    def _decision(self) -> str:
        pair = f"As a pair, {self.names[0]!r} and {self.names[1]!r}"
        flip = f" once the sign of {self.names[1]!r} is flipped" if self.sign < 0 else ""
        if self.merges and self.f == 0 and self.correlation == 1:
            return f"{pair} merge: they are equal{flip}, up to their units and rounding."
        if self.merges and self.threshold <= -1:
            similar = "close to the ratio of their weights" if self._ratio else "similar"
            return (
                f"{pair} merge: their effects on the {self._noun} are so {similar}{flip} that any "
                f"correlation would do; theirs is {decimals(self.correlation)}."
            )
        if self.merges and isnan(self.threshold):
            return (
                f"{pair} merge: they are so opposite ({decimals(self.correlation)}{flip}) that "
                "their mean is the one with the larger weight, in effect, and the other adds "
                "little."
            )
        if self.f <= self.tolerance and not self.merges:
            rho, needed = distinguishable(decimals, self.correlation, self.min_correlation)
            return (
                f"{pair} stay apart: their correlation is {rho}{flip}, and min_correlation "
                f"requires {needed}."
            )
        if self.f == inf:
            return f"{pair} stay apart: together they explain the {self._noun} completely."
        limit = max(self.threshold, self.min_correlation)
        rho, needed = distinguishable(decimals, self.correlation, limit)
        differ = "how much their effects differ"
        if self._ratio:
            differ = "how far their effects are from the ratio of their weights"
        if self.merges:
            return (
                f"{pair} merge: their correlation is {rho}{flip}, and given {differ}, {needed} "
                "would be enough."
            )
        return (
            f"{pair} stay apart: their correlation is {rho}{flip}, but given {differ}, they would "
            f"need {needed}."
        )

    @property
    def _noun(self) -> str:
        return "target" if len(self.targets) == 1 else "targets"

    def _consequence(self) -> str:
        lower = bool(np.mean(self.gain_share) >= 0)
        mood = "lowers" if lower else "raises"
        if not self.merges:
            mood = "would lower" if lower else "would raise"
        f, _ = distinguishable(digits, self.f, self.tolerance)
        noise = {"pair": "", "full": "; noise from the regression on all features"}.get(
            str(self.noise), "; given noise"
        )
        if self.effective_samples != self.n_samples:
            noise += f"; effective number of samples: {self.effective_samples:.4g}"
        allowed = ""
        if self.merges and not lower:
            allowed = f", which a tolerance of {self.tolerance:g} allows"
        flip = ", after the flip," if self.sign < 0 else ""
        mean, one, same = "mean", "weight", "both get the same weight"
        if self._ratio:
            mean, one = f"mean weighted {self._ratio}", "effect"
            same = "their effects get the ratio of the weights"
        replacing = f"Replacing both by their {mean}{flip} {mood}"
        rule = f"(F = {f}; pairs merge at F ≤ {self.tolerance:g}{noise})"
        if len(self.targets) == 1:
            less, more = distinguishable(digits, self.variance_drop, self.bias_growth)
            return (
                f"{replacing} the mean squared error by an estimated {digits(abs(self.gain))}, or "
                f"{digits(100 * abs(self.gain_share))} % of the target's variance{allowed}: {less} "
                f"less because one {one} is estimated instead of two, {more} more because {same} "
                f"{rule}."
            )
        gain, drop, growth = (
            100 * float(np.mean(shares))
            for shares in (self.gain_share, self.variance_drop_share, self.bias_growth_share)
        )
        less, more = distinguishable(digits, drop, growth)
        order = range(len(self.targets))
        if len(self.targets) > _MOST_TARGETS:
            order = np.argsort(-self.bias_growth_share)[:_MOST_TARGETS].tolist()
        each = [f"{self.targets[k]!r} {digits(100 * self.bias_growth_share[k])} %" for k in order]
        if len(order) < len(self.targets):
            each.append(f"and less for each of {len(self.targets) - len(order)} others")
        return (
            f"{replacing} the mean squared errors by an estimated {digits(abs(gain))} % of the "
            f"targets' variances on average{allowed}: {less} % less because one {one} is estimated "
            f"instead of two, {more} % more because {same} {rule}. The added bias, by target: "
            f"{', '.join(each)}."
        )

    def _repr_html_(self) -> str:
        decision = "merge" if self.merges else "stay apart"
        first, second = (shown(name, 30) for name in self.names)
        flip = f", the sign of {second} flipped" if self.sign < 0 else ""
        one = len(self.targets) == 1
        targets = ["the target"] if one else [shown(target, 30) for target in self.targets]
        with_first, with_second = (
            list(zip(targets, np.ravel(r).tolist(), strict=True)) for r in self.target_correlations
        )
        rows = [
            [f"correlation of the two{flip}", decimals(self.correlation)],
            ["correlation required", _required(self.threshold, self.min_correlation)],
            *([f"correlation of {first} with {target}", decimals(r)] for target, r in with_first),
            *([f"correlation of {second} with {target}", decimals(r)] for target, r in with_second),
            [f"F (pairs merge at F ≤ {self.tolerance:g})", digits(self.f)],
        ]
        if self._ratio:
            rows.insert(0, ["weights in the mean", self._ratio])
        if self.effective_samples != self.n_samples:
            counted = f"{self.effective_samples:.4g} of {self.n_samples:g}"
            rows.append(["effective number of samples", counted])
        for label, value, share in (
            ("variance saved", self.variance_drop, self.variance_drop_share),
            ("squared bias added", self.bias_growth, self.bias_growth_share),
            ("net reduction of the mean squared error", self.gain, self.gain_share),
        ):
            figures = zip(targets, np.ravel(value).tolist(), np.ravel(share).tolist(), strict=True)
            whose = "the target's" if one else "its"
            for target, number, part in figures:
                of_target = "" if one else f", {target}"
                written = f"{digits(100 * part)} % of {whose} variance"
                rows.append([f"{label}{of_target}", f"{digits(number)} ({written})"])
        table = Table(f"{first} and {second} {decision}", ("figure", "value"), rows)
        return f"<p>{escape(str(self))}</p>{table.html()}"


def _required(threshold: float, lowest: float) -> str:
    if isnan(threshold):  # of opposite features with unequal weights
        return "–"
    needed = max(threshold, lowest)
    return "any" if needed <= -1 else decimals(needed)


def explain_pair(
    X: Any,
    y: Any,
    a: Any,
    b: Any,
    *,
    tolerance: float | Literal["unbiased"] = 1.0,
    noise: Literal["pair", "full"] | float = "pair",
    min_correlation: float | None = None,
    effective_samples: float | Literal["auto"] | None = None,
    signed: bool = False,
    missing: Literal["error", "pairwise"] = "error",
    feature_weights: Any = None,
    sample_weight: Any = None,
    sample_dim: Hashable | None = None,
    target: Literal["numbers", "classes"] | None = None,
) -> PairExplanation:
    """Explain why two features merge, or why they do not.

    This applies the rule to the two as a pair, as the ``"sequential"`` strategy does to a candidate
    and the seed of a group. Two features may pass and still be apart, because one had joined
    another group; or fail and still be together, because both passed with the seed of their group,
    or with its mean. Only these two columns are used, except with ``noise="full"`` or
    ``effective_samples="auto"``.

    Parameters
    ----------
    X : array or data frame of shape (n_samples, n_features), or field
        A field in memory.
    y : array of shape (n_samples,) or (n_samples, n_targets), data frame or Dataset
        The target, or several, or labels of classes.
    a, b : str or int
        The two columns: their names, or positions counted from 0. Names take precedence.
    tolerance : float or "unbiased", default=1.0
        As for :class:`LinCFA`.
    noise : "pair", "full" or float, default="pair"
        As for :class:`LinCFA`.
    min_correlation : float, default=None
        As for :class:`LinCFA`.
    effective_samples : float or "auto", default=None
        As for :class:`LinCFA`.
    signed : bool, default=False
        As for :class:`LinCFA`.
    missing : {"error", "pairwise"}, default="error"
        As for :class:`LinCFA`.
    feature_weights : array of shape (n_features,) or "area", default=None
        As for :class:`LinCFA`.
    sample_weight : array of shape (n_samples,), default=None
        As for :meth:`LinCFA.fit`.
    sample_dim : hashable, default=None
        As for :class:`LinCFA`, where X is a field.
    target : {"numbers", "classes"}, default=None
        As for :class:`LinCFA`.

    Examples
    --------
    >>> from lincfa import explain_pair
    >>> from lincfa.datasets import make_correlated
    >>> X, y = make_correlated(n_samples=200, n_features=30, random_state=0)
    >>> print(explain_pair(X, y, 0, 4))
    As a pair, 'x0' and 'x4' merge: their correlation is 0.923, and given how much their effects
    differ, 0.727 would be enough. Replacing both by their mean lowers the mean squared error by an
    estimated 0.412, or 0.173 % of the target's variance: 0.574 less because one weight is estimated
    instead of two, 0.162 more because both get the same weight (F = 0.282; pairs merge at F ≤ 1).
    """
    check_tolerance(tolerance)
    check_merging(noise, min_correlation, signed=signed, missing=missing)
    check_effective_samples(effective_samples)
    check_sample_dim(sample_dim)
    check_target_kind(target)
    if not is_field(X):
        X = check_table(X)
    read = partial(read_in_memory, y=y, sample_weight=sample_weight, kind=target, missing=missing)
    training = read(X, sample_dim=sample_dim) if is_field(X) else None
    known = columns_of(X) if training is None else training.columns
    places = [known.locate(a), known.locate(b)]
    if places[0] == places[1]:
        raise ValueError(f"a and b are the same column, {a!r}; pass two different ones.")
    labels = [str(known.labels[place]) for place in places]
    weights = read_feature_weights(feature_weights, known)
    whole = noise == "full" or effective_samples == "auto"
    if training is None:
        training = read(X if whole else take_columns_of(X, places))
    elif not whole:
        training = training.select(places)
    if not whole:  # messages name columns as they are in X
        names = places if known.names is None else [known.names[place] for place in places]
        training, weights = replace(training, columns=Columns(2, names)), weights[places]
    training = training.counted()
    statistics = ArrayStatistics.of(training)
    first, second = np.array(places if whole else [0, 1])[:, None]
    for place, label in zip((*first, *second), labels, strict=True):
        if not statistics.varying[place]:
            raise ValueError(
                f"Column {label!r} is constant, up to the rounding of its type, and belongs to no "
                "group."
            )
    effective = count_effective(effective_samples, statistics, training)
    rule = Rule.of(
        statistics,
        tolerance,
        noise,
        min_correlation,
        signed=signed,
        weights=weights,
        share=effective / statistics.n_samples,
    )
    figures = statistics.within(np.concatenate([first, second])).at([0], [1])
    if np.isneginf(figures.n_samples).any():
        values = training.values[:, np.concatenate([first, second])]
        shared = int((~np.isnan(values)).all(axis=1).sum())
        raise ValueError(
            f"Columns {labels[0]!r} and {labels[1]!r} cannot be compared: {shared} samples have "
            f"both, and at least {MIN_SAMPLES} are needed in which both and the target vary."
        )
    pairs = statistics.pairs(first, second, figures)
    decision = rule.decide(pairs, rule.imbalance(first, second))
    r_first, r_second = figures.r_first[:, 0], figures.r_second[:, 0]
    (row,) = with_gains(rule.evidence(first, second, decision), statistics.target_scale)
    several, n_samples = training.targets.size > 1, float(np.ravel(figures.n_samples)[0])
    recorded = {
        name: row[name].copy() if np.ndim(row[name]) else row[name].item()
        for name in row.dtype.names
        if name not in ("group", "feature", "partner")
    }
    return PairExplanation(
        names=(labels[0], labels[1]),
        merges=bool(decision.merges[0]),
        n_samples=n_samples,
        effective_samples=float(rule.effective(n_samples)),
        target_correlations=(r_first, r_second) if several else (r_first.item(), r_second.item()),
        noise=noise if isinstance(noise, str) else float(noise),
        min_correlation=rule.min_correlation,
        weights=(float(weights[first[0]]), float(weights[second[0]])),
        targets=tuple(training.targets.labels),
        **recorded,
    )
